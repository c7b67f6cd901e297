#include "experiments/base/exp_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"

enum { MAX_FILE_BYTES = 64 << 20 };

static int read_all(char **text, size_t *bytes, FILE *in, const char *path, struct exp_why *why)
{
    for (size_t max = 1 << 16;; max *= 2) {
        char *larger = realloc(*text, max + 1);

        if (!larger)
            return exp_fail(why, -ENOMEM, "%s: out of memory", path);
        *text = larger;
        errno = 0;
        *bytes += fread(*text + *bytes, 1, max - *bytes, in);
        if (ferror(in)) {
            int err = errno ? -errno : -EIO;

            return exp_fail(why, err, "cannot read '%s': %s", path, strerror(-err));
        }
        if (*bytes < max)
            break;
        if (max >= MAX_FILE_BYTES)
            return exp_fail(why, -EFBIG, "%s: larger than %d MiB", path, MAX_FILE_BYTES >> 20);
    }
    (*text)[*bytes] = '\0';
    return 0;
}

int exp_text_read(char **text, size_t *bytes, const char *path, struct exp_why *why)
{
    FILE *in = fopen(path, "rb");
    int err;

    *text = NULL;
    *bytes = 0;
    if (!in) {
        err = -errno;
        return exp_fail(why, err, "cannot open '%s': %s", path, strerror(-err));
    }
    err = read_all(text, bytes, in, path, why);
    fclose(in);
    if (err) {
        free(*text);
        *text = NULL;
    }
    return err;
}

char *exp_text_of(const char *folder, const char *file)
{
    char *path = exp_format("%s/%s", folder, file), *text = NULL;
    size_t bytes;
    int err = path ? exp_text_read(&text, &bytes, path, NULL) : -ENOMEM;

    free(path);
    return err && err != -ENOMEM ? strdup("") : text;
}

const char *exp_text_after(const char *text, const char *key)
{
    const size_t length = strlen(key);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, key, length))
            return line + length;
    }
    return NULL;
}
