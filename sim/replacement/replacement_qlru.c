/*
 * Quad-age LRU in the variants and with the names of Abel and Reineke (nanoBench: a low-overhead tool for running
 * microbenchmarks on x86 systems, ISPASS 2020), QLRU_H<xy>_M<m>_R<r>_U<u>[_UMO]. Every way has an age of 0..3; an
 * invalid way has age 3.
 *
 *   H<xy>  a hit changes age 3 to x, 2 to y, 1 and 0 to 0; xy is 21, 20, 11, 10 or 00
 *   M<m>   a fill sets age m
 *   R0     the invalid way of lowest index is filled first, else the lowest way of age 3 (way 0 if a single way has
 *          none); R1: as R0, way 0 if there is none; R2: as R0, but the invalid way of highest index first
 *   U<u>   after every access: 0: all ages grow by the distance of the greatest age to 3. 1: all ages but the age of
 *          the way just used grow by the distance of their greatest to 3. 2: if no way has age 3, all grow by 1. 3: as
 *          2, but the age of the way just used does not grow. 2 and 3 may leave no way of age 3, so they need R1
 *   UMO    the update happens only on a miss, before the victim is sought, and then for all ways
 *
 * The authors report QLRU_H11_M1_R0_U0 for the L3 of Haswell to Coffee Lake (where the L3 is not adaptive) and
 * QLRU_H00_M1_R2_U1 for the L2 of Skylake to Coffee Lake clients; Vila et al. (CacheQuery, PLDI 2020) learned
 * equivalent automata.
 */
#include <string.h>

#include "sim/replacement/replacement.h"

enum { H3, H2, M, R, U }; /* places in param[] */

enum { OLDEST = 3 };

/* Returns a character out of a set of digits, as a number; 0xff: the character is none of the digits. */
static uint8_t digit(char c, const char *digits)
{
    return c && strchr(digits, c) ? (uint8_t)(c - '0') : 0xff;
}

bool sim_replacement_parse_qlru(const char *name, struct sim_replacement_level *l)
{
    static const char form[] = "QLRU_H??_M?_R?_U?";
    static const char *const digits[] = { "012", "01", "0123", "012", "0123" };
    uint8_t param[5];
    size_t n = 0, i;

    for (i = 0; form[i]; i++) {
        if (form[i] != '?' && name[i] != form[i])
            return false;
        if (form[i] != '?')
            continue;
        param[n] = digit(name[i], digits[n]);
        if (param[n++] == 0xff)
            return false;
    }
    if ((name[i] && strcmp(name + i, "_UMO")) || (param[H3] == 0 && param[H2]) || (param[U] > 1 && param[R] != 1))
        return false;
    memcpy(l->param, param, sizeof param);
    l->updates_on_miss_only = name[i];
    return true;
}

static size_t set_words(uint32_t n_ways)
{
    return ((size_t)n_ways + 7) / 8;
}

static void clear(const struct sim_replacement_level *l, uint64_t *set)
{
    memset(set, OLDEST, l->n_ways);
}

/* `used`: the way just used; n_ways if none. */
static void update(const struct sim_replacement_level *l, uint64_t *set, uint32_t used)
{
    uint8_t *age = (uint8_t *)set;
    uint8_t greatest = 0, lacking;
    bool spares_used = l->param[U] % 2;

    for (uint32_t w = 0; w < l->n_ways; w++) {
        if (age[w] > greatest && !(l->param[U] == 1 && w == used))
            greatest = age[w];
    }
    lacking = (uint8_t)(OLDEST - greatest);
    if (!lacking)
        return;
    if (l->param[U] >= 2)
        lacking = 1;
    for (uint32_t w = 0; w < l->n_ways; w++) {
        if (!(spares_used && w == used))
            age[w] = (uint8_t)(age[w] + lacking);
    }
}

static void hit(struct sim_replacement_level *l, uint64_t *set, uint32_t way)
{
    uint8_t *age = (uint8_t *)set;

    age[way] = age[way] == 3 ? l->param[H3] : age[way] == 2 ? l->param[H2] : 0;
    if (!l->updates_on_miss_only)
        update(l, set, way);
}

static void fill(struct sim_replacement_level *l, uint64_t *set, uint64_t set_index, uint32_t way)
{
    (void)set_index;
    ((uint8_t *)set)[way] = l->param[M];
    if (!l->updates_on_miss_only)
        update(l, set, way);
}

static void miss(struct sim_replacement_level *l, uint64_t *set)
{
    if (l->updates_on_miss_only)
        update(l, set, l->n_ways);
}

static uint32_t victim(struct sim_replacement_level *l, uint64_t *set)
{
    const uint8_t *oldest = memchr(set, OLDEST, l->n_ways);

    return oldest ? (uint32_t)(oldest - (const uint8_t *)set) : 0;
}

static void invalidate(struct sim_replacement_level *l, uint64_t *set, uint32_t way)
{
    (void)l;
    ((uint8_t *)set)[way] = OLDEST;
}

const struct sim_replacement sim_replacement_qlru = {
    .set_words = set_words,
    .clear = clear,
    .hit = hit,
    .fill = fill,
    .miss = miss,
    .victim = victim,
    .invalidate = invalidate,
};
