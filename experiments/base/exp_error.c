#include "experiments/base/exp_error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *format(const char *line, va_list args) __attribute__((format(printf, 1, 0)));

/* A text like printf's, from malloc. */
static char *format(const char *line, va_list args)
{
    va_list again;
    char *text = NULL;
    int length;

    va_copy(again, args);
    length = vsnprintf(NULL, 0, line, again);
    va_end(again);
    if (length >= 0)
        text = malloc((size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, line, args);
    return text;
}

/* Cuts the middle out of a text that does not fit: its beginning says what failed, its end why. */
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

int exp_fail(char *why, size_t why_bytes, int err, const char *line, ...)
{
    va_list args;
    char *whole;

    if (!why_bytes)
        return err;
    va_start(args, line);
    whole = format(line, args);
    va_end(args);
    va_start(args, line);
    if (whole)
        put_ends(why, why_bytes, whole);
    else
        vsnprintf(why, why_bytes, line, args);
    va_end(args);
    free(whole);
    for (size_t i = 0; i < why_bytes && why[i]; i++) {
        if (iscntrl((unsigned char)why[i]))
            why[i] = ' '; /* quoted values may hold anything; the report stays one line */
    }
    return err;
}

char *exp_format(const char *line, ...)
{
    va_list args;
    char *text;

    va_start(args, line);
    text = format(line, args);
    va_end(args);
    return text;
}
