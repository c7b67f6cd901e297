#define _GNU_SOURCE /* fopencookie */
#include "experiments/base/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"

/* ---- memory ---- */

static void *or_end(void *memory)
{
    if (!memory)
        exp_program_out_of_memory();
    return memory;
}

void *exp_new(size_t n, size_t bytes)
{
    return or_end(calloc(n ? n : 1, bytes));
}

void *exp_resize(void *memory, size_t n, size_t bytes)
{
    if (n > SIZE_MAX / bytes)
        exp_program_out_of_memory();
    return or_end(realloc(memory, n ? n * bytes : 1));
}

void *exp_copy_bytes(const void *from, size_t n, size_t bytes)
{
    void *copy = exp_new(n, bytes);

    return n ? memcpy(copy, from, n * bytes) : copy;
}

char *exp_copy_text(const char *text)
{
    return exp_copy_bytes(text, strlen(text) + 1, 1);
}

enum { FIRST_ROOM = 16 };

void *exp_append(void *array, size_t *n, size_t bytes)
{
    char *first;

    memcpy(&first, array, sizeof first);
    if (!*n || (*n >= FIRST_ROOM && !(*n & (*n - 1)))) { /* the array is full */
        first = exp_resize(first, *n ? 2 * *n : FIRST_ROOM, bytes);
        memcpy(array, &first, sizeof first);
    }
    return memset(first + (*n)++ * bytes, 0, bytes);
}

/* ---- streams into memory ---- */

struct memory {
    char **text;
    size_t *bytes;
    size_t room; /* of *text */
};

static ssize_t append(void *memory, const char *what, size_t n)
{
    struct memory *m = memory;
    const size_t need = *m->bytes + n + 1;

    if (need > m->room) {
        m->room = need > 2 * m->room ? need : 2 * m->room;
        *m->text = exp_resize(*m->text, m->room, 1);
    }
    memcpy(*m->text + *m->bytes, what, n);
    *m->bytes += n;
    (*m->text)[*m->bytes] = '\0';
    return (ssize_t)n;
}

static int end(void *memory)
{
    free(memory);
    return 0;
}

FILE *exp_memory_open(char **text, size_t *bytes)
{
    static const cookie_io_functions_t how = { .write = append, .close = end };
    struct memory *m = exp_new(1, sizeof *m);

    *m = (struct memory){ text, bytes, 1 };
    *text = exp_new(1, 1);
    *bytes = 0;
    return or_end(fopencookie(m, "w", how));
}

/* ---- texts ---- */

char *exp_format_list(const char *line, va_list args)
{
    va_list again;
    char *text;
    int length;

    va_copy(again, args);
    length = vsnprintf(NULL, 0, line, again);
    va_end(again);
    text = exp_new((size_t)(length < 0 ? 0 : length) + 1, 1);
    if (length >= 0)
        vsnprintf(text, (size_t)length + 1, line, args);
    return text;
}

/* Cuts the middle out of a text that does not fit: the beginning names the failure, the end the cause. */
static void put_ends(char *out, size_t bytes, const char *text)
{
    static const char gap[] = " ... ";
    size_t length = strlen(text), room = bytes - 1, tail;

    if (length <= room || room < 4 * sizeof gap) {
        snprintf(out, bytes, "%s", text);
        return;
    }
    room -= sizeof gap - 1;
    tail = room / 2;
    snprintf(out, bytes, "%.*s%s%s", (int)(room - tail), text, gap, text + length - tail);
}

/* Puts a text like printf's into out[bytes] as one line. */
static void put(char *out, size_t bytes, const char *line, va_list args) __attribute__((format(printf, 3, 0)));

static void put(char *out, size_t bytes, const char *line, va_list args)
{
    char *whole;

    if (!bytes)
        return;
    whole = exp_format_list(line, args);
    put_ends(out, bytes, whole);
    free(whole);
    for (size_t i = 0; i < bytes && out[i]; i++) {
        if (iscntrl((unsigned char)out[i]))
            out[i] = ' '; /* quoted values may hold anything; the report stays one line */
    }
}

int exp_fail(struct exp_why *why, int err, const char *line, ...)
{
    va_list args;

    va_start(args, line);
    if (why)
        put(why->text, sizeof why->text, line, args);
    va_end(args);
    return err;
}

const char *exp_error_text(int err)
{
    return err == -EINTR ? "interrupted" : err == -ENOMEM ? "out of memory" : strerror(-err);
}

void exp_say(char *text, size_t bytes, const char *line, ...)
{
    va_list args;

    va_start(args, line);
    put(text, bytes, line, args);
    va_end(args);
}

void exp_say_more(char *text, size_t bytes, const char *line, ...)
{
    size_t used = bytes ? strlen(text) : 0;
    va_list args;

    va_start(args, line);
    put(text + used, bytes - used, line, args);
    va_end(args);
}

char *exp_format(const char *line, ...)
{
    va_list args;
    char *text;

    va_start(args, line);
    text = exp_format_list(line, args);
    va_end(args);
    return text;
}
