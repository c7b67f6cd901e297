#include "experiments/run/exp_titles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"

#define TITLES_FILE "titles.txt"

#define LINE(member)                                                                                                   \
    {                                                                                                                  \
#member, offsetof(struct exp_titles, member), sizeof(((struct exp_titles *)NULL)->member)                      \
    }

static const struct {
    const char *key;
    size_t offset, bytes;
} lines[] = { LINE(machine), LINE(simulator), LINE(host), LINE(arch), LINE(levels), LINE(observed) };

enum { N_LINES = sizeof lines / sizeof lines[0] };

static int print(const void *titles, FILE *out)
{
    for (size_t i = 0; i < N_LINES; i++)
        fprintf(out, "%s: %s\n", lines[i].key, (const char *)titles + lines[i].offset);
    return 0;
}

int exp_titles_write(const struct exp_titles *t, const struct exp_outdir *dir, char *why, size_t why_bytes)
{
    return exp_outdir_write(dir, TITLES_FILE, print, t, why, why_bytes);
}

/* Takes over a line that has one of the keys. */
static void take_line(struct exp_titles *t, const char *line)
{
    for (size_t i = 0; i < N_LINES; i++) {
        size_t length = strlen(lines[i].key);

        if (!strncmp(line, lines[i].key, length) && !strncmp(line + length, ": ", 2))
            exp_say((char *)t + lines[i].offset, lines[i].bytes, "%s", line + length + 2);
    }
}

static int read_lines(struct exp_titles *t, const char *path, char *why, size_t why_bytes)
{
    FILE *in = fopen(path, "r");
    char line[640];

    if (!in)
        return exp_fail(why, why_bytes, -errno, "no results to draw: cannot open '%s': %s", path, strerror(errno));
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        take_line(t, line);
    }
    fclose(in);
    return 0;
}

int exp_titles_read(struct exp_titles *t, const char *folder, char *why, size_t why_bytes)
{
    char *path = exp_format("%s/" TITLES_FILE, folder);
    int err = path ? 0 : exp_fail(why, why_bytes, -ENOMEM, "out of memory");

    *t = (struct exp_titles){ 0 };
    if (!err)
        err = read_lines(t, path, why, why_bytes);
    free(path);
    return err;
}
