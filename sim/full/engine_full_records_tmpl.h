/*
 * Records: single accesses. Part of engine_full_tmpl.h.
 *
 * If records repeat earlier records, line by line, and the earlier records changed nothing that equal touches in equal
 * order would not leave again, then the repeats are counted and not made. bursts_tmpl.h does this for settled
 * repetitions; here a look back at a few records finds the periods.
 */
#include "sim/base/record.h"

enum { MOST_PERIODIC = 4 };

/* Returns the mask of the bits that equal lines, kinds, tags, phases and widths have in common. */
static inline uint64_t same_mask(const struct sim_full *e)
{
    return UINT64_MAX << (SIM_RECORD_ADDRESS_SHIFT + e->bursts.line_shift) |
           (((uint64_t)1 << SIM_RECORD_ADDRESS_SHIFT) - 1);
}

static inline bool is_in_one_line(const struct sim_full *e, uint64_t record)
{
    const uint32_t line_bytes = e->bursts.line_bytes;

    return (sim_record_addr(record) & (line_bytes - 1)) + sim_record_bytes(record) <= line_bytes;
}

/* Returns how many records from `at` on, in whole periods, equal the records a period before, each within a line. */
static inline size_t count_periodic(const struct sim_full *e, const uint64_t *at, const uint64_t *end, size_t period)
{
    const uint64_t mask = same_mask(e);
    const uint64_t *r = at;

    while (r < end && !((*r ^ *(r - period)) & mask) && is_in_one_line(e, *r))
        r++;
    return (size_t)(r - at) / period * period;
}

/* Counts n accesses with the effect of the record, which touched a single line or was ignored. */
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

/* Counts repeats of records; the n_quiet records before changed nothing. Returns the number of repeats. */
static inline size_t pass_repeats(struct sim_full *e, const uint64_t *at, const uint64_t *end, size_t n_quiet)
{
    const size_t most = n_quiet < MOST_PERIODIC ? n_quiet : MOST_PERIODIC;

    for (size_t period = 1; period <= most; period++) {
        size_t n = count_periodic(e, at, end, period);

        if (!n)
            continue;
        for (const uint64_t *r = at - period; r < at; r++)
            count_again(e, *r, n / period);
        e->bursts.paths.settled_times += n / period;
        return n;
    }
    return 0;
}

/* Makes the access. Returns whether an equal access would leave the same state. */
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
