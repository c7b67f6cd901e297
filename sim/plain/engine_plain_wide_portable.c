/* The plain engine with wide words, in portable C. Searching and moving are a single pass. */
#include "sim/plain/engine_plain.h"
#include "sim/plain/records_portable.h"

static inline __attribute__((always_inline)) struct sim_plain_use use_ways(uint64_t *set, const uint32_t n_ways,
                                                                           uint64_t line, uint64_t keep, uint64_t put)
{
    uint64_t moved = set[0];

    if (sim_word_line(moved) == line) {
        set[0] = (moved & keep) | put;
        return (struct sim_plain_use){ moved, true };
    }
#pragma GCC unroll 16
    for (uint32_t i = 1; i < n_ways; i++) {
        uint64_t word = set[i];

        set[i] = moved;
        if (sim_word_line(word) == line) {
            set[0] = (word & keep) | put;
            return (struct sim_plain_use){ word, true };
        }
        moved = word;
    }
    set[0] = (sim_word_clean(line) & keep) | put;
    return (struct sim_plain_use){ moved, false };
}

static struct sim_plain_use use_line(const struct sim_plain_level *c, uint64_t *set, uint64_t line, uint64_t keep,
                                     uint64_t put)
{
    switch (c->n_ways) {
    case 8:
        return use_ways(set, 8, line, keep, put);
    case 16:
        return use_ways(set, 16, line, keep, put);
    default:
        return use_ways(set, c->n_ways, line, keep, put);
    }
}

#include "sim/plain/engine_plain_wide_tmpl.h"
#include "sim/plain/engine_plain_bursts_tmpl.h"
#include "sim/plain/engine_plain_records_tmpl.h"

const struct sim_plain_variant sim_plain_wide_portable = {
    .name = "wide",
    .isa = CPU_ISA_NONE,
    .accept = accept,
    .records = records,
    .touch_listed = touch_listed,
    .settle = settle,
    .flush = flush,
};
