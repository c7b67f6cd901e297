/*
 * Records: accesses that come one by one. Part of engine_full_tmpl.h.
 *
 * Where records repeat the ones before them, line by line, and those changed nothing that the same touches in the same
 * order would not leave again, the repeats are counted and not made: what bursts_tmpl.h does with settled repetitions,
 * whose periods are found here by looking back a few records.
 */
#include "sim/base/record.h"

enum { MOST_PERIODIC = 4 };

/* The bits of records that are the same in accesses of the same kind, tag, phase and width to the same line. */
static inline uint64_t alike_mask(const struct sim_full *e)
{
    return UINT64_MAX << (SIM_RECORD_ADDRESS_SHIFT + e->bursts.line_shift) |
           (((uint64_t)1 << SIM_RECORD_ADDRESS_SHIFT) - 1);
}

static inline bool is_in_one_line(const struct sim_full *e, uint64_t record)
{
    const uint32_t line_bytes = e->bursts.line_bytes;

    return (sim_record_addr(record) & (line_bytes - 1)) + sim_record_bytes(record) <= line_bytes;
}

/* Returns how many records from `at` on, in whole periods, are like those a period before, and in one line each. */
static inline size_t count_alike(const struct sim_full *e, const uint64_t *at, const uint64_t *end, size_t period)
{
    const uint64_t mask = alike_mask(e);
    const uint64_t *r = at;

    while (r < end && !((*r ^ *(r - period)) & mask) && is_in_one_line(e, *r))
        r++;
    return (size_t)(r - at) / period * period;
}

/* Counts accesses that do what the record's did, which touched one line or was ignored. */
static void count_again(struct sim_full *e, uint64_t record, uint64_t n)
{
    const struct sim_run run = sim_record_run(record);
    struct sim_cell *cell = sim_hierarchy_cell(&e->base, run.tag, run.phase);

    sim_count_accesses(cell, run.kind, n, n * run.access_bytes);
    if (is_ignored(e, run.kind))
        return;
    cell->tlb[0].uses += e->machine.n_tlbs ? n : 0;
    cell->level[0].reads += run.kind == SIM_LOAD ? n : 0;
    cell->level[0].writes += run.kind != SIM_LOAD && run.kind != SIM_PREFETCH ? n : 0;
    e->n_requests += run.kind != SIM_PREFETCH ? n : 0;
}

/* Counts repeats of records, of which so many before these changed nothing. Returns how many those were. */
static inline size_t pass_repeats(struct sim_full *e, const uint64_t *at, const uint64_t *end, size_t n_quiet)
{
    const size_t most = n_quiet < MOST_PERIODIC ? n_quiet : MOST_PERIODIC;

    for (size_t period = 1; period <= most; period++) {
        size_t n = count_alike(e, at, end, period);

        if (!n)
            continue;
        for (const uint64_t *r = at - period; r < at; r++)
            count_again(e, *r, n / period);
        e->bursts.paths.settled_times += n / period;
        return n;
    }
    return 0;
}

/* Makes the access. Returns whether it changed nothing that it would not leave again. */
static inline bool take_record(struct sim_full *e, uint64_t record)
{
    const struct sim_run run = sim_record_run(record);
    const uint64_t before = e->n_changes;

    if (!walk_lone(e, &run)) {
        make_run(e, &run, 0, run.addr);
        return false;
    }
    return e->n_changes == before && is_in_one_line(e, record);
}

static void take_records(struct sim_hierarchy *h, const uint64_t *record, size_t n)
{
    struct sim_full *e = (struct sim_full *)h;
    const uint64_t *end = record + n;
    size_t n_quiet = 0;

    while (record < end) {
        size_t n_repeats = n_quiet ? pass_repeats(e, record, end, n_quiet) : 0;

        if (!n_repeats)
            n_quiet = take_record(e, *record) ? n_quiet + 1 : 0;
        record += n_repeats ? n_repeats : 1;
    }
}
