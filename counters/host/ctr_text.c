#include "counters/host/ctr_text.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static char *trim(char *text)
{
    size_t n = strlen(text);

    while (n && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

int ctr_text_first_line(const char *path, char *value, size_t value_bytes)
{
    FILE *in = fopen(path, "r");
    char line[512];
    int err = 0;

    assert(value && value_bytes);
    if (!in)
        return -errno;
    errno = 0;
    if (fgets(line, sizeof line, in))
        snprintf(value, value_bytes, "%s", trim(line));
    else
        err = errno ? -errno : -ENODATA;
    fclose(in);
    return err;
}

/* NULL unless the line is `key : value`. The pieces of a line longer than the buffer do not look like `key : value`. */
static const char *value_of(char *line, const char *key)
{
    char *colon = strchr(line, ':');

    if (!colon)
        return NULL;
    *colon = '\0';
    return strcmp(trim(line), key) ? NULL : trim(colon + 1);
}

int ctr_text_key(const char *path, const char *key, char *value, size_t value_bytes)
{
    FILE *in = fopen(path, "r");
    const char *found = NULL;
    char line[512];

    assert(key && value && value_bytes);
    if (!in)
        return -errno;
    while (!found && fgets(line, sizeof line, in))
        found = value_of(line, key);
    if (found)
        snprintf(value, value_bytes, "%s", found);
    fclose(in);
    return found ? 0 : -ENODATA;
}
