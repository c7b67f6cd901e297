#include "sim/programs/cachesim_text.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/machine_words.h"

int cachesim_complain(struct sim_why why, const char *option, const char *what, const char *value)
{
    return sim_fail(why, -EINVAL, "%s%s%s%s%s%s", option ? option : "", option ? ": " : "", what, value ? ", '" : "",
                    value ? value : "", value ? "'" : "");
}

bool cachesim_number(const char *text, bool takes_suffix, uint64_t low, uint64_t high, uint64_t *value)
{
    uint64_t factor;
    char *end;

    assert(low <= high);
    errno = 0;
    if (*text < '0' || *text > '9')
        return false;
    *value = strtoull(text, &end, 10);
    factor = takes_suffix ? sim_size_unit(end + strspn(end, " ")) : !*end;
    if (errno || !factor || *value > UINT64_MAX / factor)
        return false;
    *value *= factor;
    return *value >= low && *value <= high;
}

bool cachesim_address(const char *text, uint64_t *value)
{
    char *end;

    if (*text < '0' || *text > '9' || (*text == '0' && text[1] >= '0' && text[1] <= '9'))
        return false;
    errno = 0;
    *value = strtoull(text, &end, 0);
    return !errno && !*end;
}
