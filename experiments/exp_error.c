#include "experiments/exp_error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int exp_fail(char *why, size_t why_bytes, int err, const char *line, ...)
{
    va_list args;

    va_start(args, line);
    vsnprintf(why, why_bytes, line, args);
    va_end(args);
    for (size_t i = 0; i < why_bytes && why[i]; i++) {
        if (iscntrl((unsigned char)why[i]))
            why[i] = ' '; /* quoted values may hold anything; the report stays one line */
    }
    return err;
}

char *exp_format(const char *format, ...)
{
    va_list args;
    char *text = NULL;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length >= 0)
        text = malloc((size_t)length + 1);
    if (!text)
        return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}
