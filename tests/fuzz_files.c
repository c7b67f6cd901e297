#define _XOPEN_SOURCE 700 /* nftw */
#include "tests/fuzz_files.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool fuzz_complain(const char *what, const char *value)
{
    fprintf(stderr, "fuzz: %s, '%s'\n", what, value);
    return false;
}

bool fuzz_is_message(const char *why, const char *name)
{
    return !strncmp(why, name, strlen(name)) && why[strlen(name)] == ':' && !strchr(why, '\n');
}

FILE *fuzz_file(const void *data, size_t size)
{
    FILE *f = tmpfile();

    if (!f || fwrite(data, 1, size, f) != size || fflush(f) || fseek(f, 0, SEEK_SET)) {
        perror("fuzz: cannot write a temporary file");
        exit(1);
    }
    return f;
}

/* ---- folders ---- */

static char folder[] = "/tmp/fuzz-XXXXXX"; /* X until the first input */

static int remove_entry(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s;
    (void)kind;
    (void)at;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_folder(void)
{
    if (!strstr(folder, "XXXXXX"))
        return;
    if (!mkdtemp(folder) || atexit(remove_folder)) {
        perror("fuzz: cannot make a folder");
        exit(1);
    }
}

/* Returns the length of the first part of the bytes. */
static size_t first_part(const uint8_t *data, size_t size, const char *end)
{
    size_t n = 0;

    while (n < size && (size - n < strlen(end) || memcmp(data + n, end, strlen(end)) != 0))
        n++;
    return n;
}

static void write_file(const char *name, const uint8_t *data, size_t size)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "w");
    if (!f || (size && fwrite(data, 1, size, f) != size) || fclose(f)) {
        perror("fuzz: cannot write a file");
        exit(1);
    }
}

const char *fuzz_folder(const char *const *name, size_t n, const uint8_t *data, size_t size)
{
    static const char end[] = "====\n";
    const uint8_t *at = data, *last = data + size;

    make_folder();
    for (size_t i = 0; i < n; i++) {
        const size_t length = at ? first_part(at, (size_t)(last - at), end) : 0;
        char path[128];

        snprintf(path, sizeof path, "%s/%s", folder, name[i]);
        unlink(path);
        if (at)
            write_file(name[i], at, length);
        at = at && (size_t)(last - at) > length ? at + length + strlen(end) : NULL;
    }
    return folder;
}
