#include "sim/machine/machine_words.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 64 }; /* compared letters */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns Levenshtein's distance. row[j] is the distance between the read part of a and the first j letters of b. */
static size_t distance(const char *a, const char *b)
{
    size_t row[LONGEST + 1], length = least(strlen(b), LONGEST);

    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (; *a; a++) {
        size_t diagonal = row[0]++;

        for (size_t j = 1; j <= length; j++) {
            size_t before = row[j];

            row[j] = least(least(before, row[j - 1]) + 1,
                           diagonal + (toupper((unsigned char)*a) != toupper((unsigned char)b[j - 1])));
            diagonal = before;
        }
    }
    return row[length];
}

const char *sim_nearest_word(const char *word, const char *const *known, size_t n)
{
    const char *nearest = NULL;
    size_t best = SIZE_MAX;

    assert(word && (known || !n));
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(word, known[i]);

        if (d < best && 2 * d <= strlen(known[i])) {
            best = d;
            nearest = known[i];
        }
    }
    return nearest;
}

uint64_t sim_size_unit(const char *unit)
{
    static const char letters[] = "kmg";
    const char *letter = *unit ? strchr(letters, tolower((unsigned char)*unit)) : NULL;

    assert(unit);
    if (!*unit)
        return 1;
    if (!letter || (unit[1] && strcasecmp(unit + 1, "B") && strcasecmp(unit + 1, "iB")))
        return 0;
    return (uint64_t)1 << 10 * (letter - letters + 1);
}
