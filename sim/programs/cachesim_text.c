#include "sim/programs/cachesim_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int cachesim_complain(char *why, size_t why_bytes, const char *option, const char *what, const char *value)
{
    snprintf(why, why_bytes, "%s%s%s%s%s%s", option ? option : "", option ? ": " : "", what, value ? ", '" : "",
             value ? value : "", value ? "'" : "");
    return -EINVAL;
}

bool cachesim_number(const char *text, bool takes_suffix, uint64_t low, uint64_t high, uint64_t *value)
{
    char *end;
    unsigned shift = 0;

    errno = 0;
    if (*text < '0' || *text > '9')
        return false;
    *value = strtoull(text, &end, 10);
    if (takes_suffix && (*end == 'k' || *end == 'K'))
        shift = 10;
    else if (takes_suffix && (*end == 'm' || *end == 'M'))
        shift = 20;
    if (errno || end[shift ? 1 : 0] || *value > UINT64_MAX >> shift)
        return false;
    *value <<= shift;
    return *value >= low && *value <= high;
}
