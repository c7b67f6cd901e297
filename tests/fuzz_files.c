#include "tests/fuzz_files.h"

#include <stdlib.h>
#include <string.h>

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
