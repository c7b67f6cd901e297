#include "tests/sim/sim_naive_policy.h"

#include <string.h>

static bool is(const struct naive_policy *p, const char *name)
{
    return !strcmp(p->shape.policy, name);
}

static bool is_rrip(const struct naive_policy *p)
{
    return is(p, "srrip") || is(p, "brrip") || is(p, "drrip");
}

static bool is_qlru(const struct naive_policy *p)
{
    return !strncmp(p->shape.policy, "QLRU", 4);
}

/* QLRU_H<6><7>_M<10>_R<13>_U<16>_UMO: the digit at a place of the name. */
static int digit(const struct naive_policy *p, size_t place)
{
    return p->shape.policy[place] - '0';
}

static bool is_umo(const struct naive_policy *p)
{
    return is_qlru(p) && strstr(p->shape.policy, "_UMO");
}

void naive_policy_init(struct naive_policy *p, const struct sim_level *shape)
{
    *p = (struct naive_policy){ .shape = *shape, .random = shape->seed, .selector = 511 };
}

void naive_policy_empty(struct naive_policy *p, struct naive_way *set)
{
    for (uint32_t w = 0; w < p->shape.n_ways; w++)
        set[w] = (struct naive_way){ .value = 3 };
}

/* Points the nodes above a way away from the way: [low, low + n) is the half whose root is node. */
static void point_away(struct naive_way *set, uint32_t node, uint32_t low, uint32_t n, uint32_t way)
{
    bool is_upper = way >= low + n / 2;

    if (n == 1)
        return;
    set[node].points_up = !is_upper;
    point_away(set, 2 * node + is_upper, is_upper ? low + n / 2 : low, n / 2, way);
}

static uint32_t pointed_at(const struct naive_way *set, uint32_t node, uint32_t low, uint32_t n)
{
    if (n == 1)
        return low;
    return set[node].points_up ? pointed_at(set, 2 * node + 1, low + n / 2, n / 2)
                               : pointed_at(set, 2 * node, low, n / 2);
}

static void set_bit(struct naive_way *set, uint32_t n, uint32_t way)
{
    bool all = true;

    set[way].bit = true;
    for (uint32_t w = 0; w < n; w++)
        all = all && set[w].bit;
    for (uint32_t w = 0; all && w < n; w++)
        set[w].bit = w == way;
}

static bool any_of_age_3(const struct naive_way *set, uint32_t n)
{
    for (uint32_t w = 0; w < n; w++) {
        if (set[w].value == 3)
            return true;
    }
    return false;
}

/* U of qlru; used: the way just used, or n_ways. Adds 1 at a time. */
static void age(const struct naive_policy *p, struct naive_way *set, uint32_t used)
{
    uint32_t n = p->shape.n_ways;
    int u = digit(p, 16);

    if (u >= 2) {
        bool ages = !any_of_age_3(set, n);

        for (uint32_t w = 0; ages && w < n; w++)
            set[w].value += u == 2 || w != used;
        return;
    }
    if (u == 1 && n == 1 && used == 0)
        return; /* no way left to age */
    for (;;) {
        for (uint32_t w = 0; w < n; w++) {
            if (set[w].value == 3 && !(u == 1 && w == used))
                return;
        }
        for (uint32_t w = 0; w < n; w++)
            set[w].value += !(u == 1 && w == used);
    }
}

void naive_policy_hit(struct naive_policy *p, struct naive_way *set, uint32_t way)
{
    struct naive_way *w = &set[way];

    w->last_use = ++p->time;
    if (is(p, "tree-plru"))
        point_away(set, 1, 0, p->shape.n_ways, way);
    if (is(p, "bit-plru"))
        set_bit(set, p->shape.n_ways, way);
    if (is_rrip(p))
        w->value = 0;
    if (is_qlru(p)) {
        w->value = w->value == 3 ? digit(p, 6) : w->value == 2 ? digit(p, 7) : 0;
        if (!is_umo(p))
            age(p, set, way);
    }
}

void naive_policy_miss(struct naive_policy *p, struct naive_way *set)
{
    if (is_umo(p))
        age(p, set, p->shape.n_ways);
}

static uint64_t next_random(struct naive_policy *p)
{
    uint64_t z;

    p->random += 0x9e3779b97f4a7c15;
    z = p->random;
    z ^= z >> 30;
    z *= 0xbf58476d1ce4e5b9;
    z ^= z >> 27;
    z *= 0x94d049bb133111eb;
    z ^= z >> 31;
    return z;
}

static uint32_t first_of_value_3(struct naive_way *set, uint32_t n)
{
    for (uint32_t w = 0; w < n; w++) {
        if (set[w].value == 3)
            return w;
    }
    return n;
}

static uint32_t choose_victim(struct naive_policy *p, struct naive_way *set)
{
    uint32_t n = p->shape.n_ways;
    uint32_t best = 0;

    if (is(p, "random"))
        return (uint32_t)(next_random(p) % n);
    if (is(p, "tree-plru"))
        return pointed_at(set, 1, 0, n);
    if (is_qlru(p))
        return first_of_value_3(set, n) % n;
    if (is_rrip(p)) {
        while (first_of_value_3(set, n) == n) {
            for (uint32_t w = 0; w < n; w++)
                set[w].value++;
        }
        return first_of_value_3(set, n);
    }
    for (uint32_t w = 0; w < n; w++) {
        if (is(p, "bit-plru") && !set[w].bit)
            return w;
        if (is(p, "lru") && set[w].last_use < set[best].last_use)
            best = w;
        if (is(p, "fifo") && set[w].filled < set[best].filled)
            best = w;
    }
    return best;
}

uint32_t naive_policy_choose(struct naive_policy *p, struct naive_way *set)
{
    uint32_t n = p->shape.n_ways;
    uint32_t last = n;

    for (uint32_t w = 0; w < n; w++) {
        if (set[w].is_valid)
            continue;
        if (!is_qlru(p) || digit(p, 13) != 2)
            return w;
        last = w;
    }
    return last < n ? last : choose_victim(p, set);
}

static int brrip_value(struct naive_policy *p)
{
    return ++p->brrip_fills % 32 == 0 ? 2 : 3;
}

static int drrip_value(struct naive_policy *p, uint64_t set_index)
{
    uint64_t period = p->shape.n_sets / 32;

    if (period < 2)
        period = 2;
    if (set_index % period == 0) {
        p->selector += p->selector < 1023;
        return 2;
    }
    if (set_index % period == 1) {
        p->selector -= p->selector > 0;
        return brrip_value(p);
    }
    return p->selector > 511 ? brrip_value(p) : 2;
}

void naive_policy_fill(struct naive_policy *p, struct naive_way *set, uint64_t set_index, uint32_t way)
{
    struct naive_way *w = &set[way];

    w->last_use = w->filled = ++p->time;
    if (is(p, "tree-plru"))
        point_away(set, 1, 0, p->shape.n_ways, way);
    if (is(p, "bit-plru"))
        set_bit(set, p->shape.n_ways, way);
    if (is(p, "srrip"))
        w->value = 2;
    if (is(p, "brrip"))
        w->value = brrip_value(p);
    if (is(p, "drrip"))
        w->value = drrip_value(p, set_index);
    if (is_qlru(p)) {
        w->value = digit(p, 10);
        if (!is_umo(p))
            age(p, set, way);
    }
}

void naive_policy_drop(struct naive_policy *p, struct naive_way *set, uint32_t way)
{
    set[way].is_valid = false;
    if (is_qlru(p))
        set[way].value = 3;
}
