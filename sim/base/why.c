#include "sim/base/why.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int sim_fail(struct sim_why why, int err, const char *format, ...)
{
    va_list args;

    assert(why.text || !why.bytes);
    va_start(args, format);
    vsnprintf(why.text, why.bytes, format, args);
    va_end(args);
    return err;
}

void sim_why_add(struct sim_why why, const char *format, ...)
{
    const size_t used = why.bytes ? strlen(why.text) : 0;
    va_list args;

    assert(used < why.bytes || !why.bytes);
    va_start(args, format);
    vsnprintf(why.text ? why.text + used : NULL, why.bytes - used, format, args);
    va_end(args);
}
