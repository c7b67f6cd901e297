#define _GNU_SOURCE /* fopencookie */
#include "experiments/base/exp_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct memory {
    char **text;
    size_t *bytes;
    size_t room; /* of *text */
    bool failed;
};

/* Makes room for so many bytes more, and a '\0'. */
static bool grow(struct memory *m, size_t more)
{
    const size_t need = *m->bytes + more + 1, twice = 2 * m->room, room = need > twice ? need : twice;
    char *grown;

    if (need <= m->room)
        return true;
    grown = calloc(1, room);
    if (!grown)
        return false;
    memcpy(grown, *m->text, *m->bytes);
    free(*m->text);
    m->room = room;
    *m->text = grown;
    return true;
}

/* Returns how much was written: all or nothing. */
static ssize_t append(void *memory, const char *what, size_t n)
{
    struct memory *m = memory;

    if (m->failed || !grow(m, n)) {
        m->failed = true;
        errno = ENOMEM;
        return 0;
    }
    memcpy(*m->text + *m->bytes, what, n);
    *m->bytes += n;
    (*m->text)[*m->bytes] = '\0';
    return (ssize_t)n;
}

static int end(void *memory)
{
    struct memory *m = memory;
    const bool failed = m->failed;

    free(m);
    errno = failed ? ENOMEM : errno;
    return failed ? -1 : 0;
}

FILE *exp_memory_open(char **text, size_t *bytes)
{
    static const cookie_io_functions_t how = { .write = append, .close = end };
    struct memory *m = calloc(1, sizeof *m);
    FILE *out;

    *text = calloc(1, 1);
    *bytes = 0;
    out = m && *text ? fopencookie(m, "w", how) : NULL;
    if (out) {
        *m = (struct memory){ text, bytes, 1, false };
        return out;
    }
    free(m);
    free(*text);
    *text = NULL;
    return NULL;
}
