#include "kernels/shape/reason.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int conv_refuse(int err, struct conv_reason why, const char *format, ...)
{
    va_list args;

    assert(err < 0 && (why.text || !why.bytes));
    va_start(args, format);
    vsnprintf(why.text, why.bytes, format, args);
    va_end(args);
    return err;
}

void conv_reason_add(struct conv_reason why, const char *format, ...)
{
    const size_t used = why.bytes ? strlen(why.text) : 0;
    va_list args;

    assert(used < why.bytes || !why.bytes);
    va_start(args, format);
    vsnprintf(why.bytes ? why.text + used : NULL, why.bytes - used, format, args);
    va_end(args);
}
