#include "experiments/base/exp_error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *format(const char *line, va_list args) __attribute__((format(printf, 1, 0)));

/* Returns a text like printf's, from malloc. */
static char *format(const char *line, va_list args)
{
    va_list again;
    char *text = NULL;
    int length;

    va_copy(again, args);
    length = vsnprintf(NULL, 0, line, again);
    va_end(again);
    if (length >= 0)
        text = calloc(1, (size_t)length + 1);
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

/* Puts a text like printf's into out[bytes] as one line. */
static void put(char *out, size_t bytes, const char *line, va_list args) __attribute__((format(printf, 3, 0)));

static void put(char *out, size_t bytes, const char *line, va_list args)
{
    va_list again;
    char *whole;

    if (!bytes)
        return;
    va_copy(again, args);
    whole = format(line, again);
    va_end(again);
    if (whole)
        put_ends(out, bytes, whole);
    else
        vsnprintf(out, bytes, line, args);
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
    text = format(line, args);
    va_end(args);
    return text;
}
