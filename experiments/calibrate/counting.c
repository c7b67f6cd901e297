#include "experiments/calibrate/calibrate.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_flush.h"

enum { MAX_ACCESSES = 16384, PLACINGS = 3, MAX_PASSES = 16 };

/* ---- patterns ---- */

/* Every p1 is combined with every p2. A 0 ends a list, except as its first element. */
static const struct plan {
    const char *name;
    long p1[EXP_MOST_LISTED], p2[EXP_MOST_LISTED];
} plans[] = {
    { "sequential", { 1 }, { 0 } },
    { "descending", { 1 }, { 0 } },
    { "random", { 0 }, { 0 } },
    { "random_even_lines", { 2 }, { 0 } },
    { "run_from_line", { 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64 }, { 0, 23 } },
    { "run_down_from_line", { 2, 4, 8, 16 }, { 40 } },
    { "stride_bytes", { 8, 16, 32, 64, 96, 128, 256, 512, 1024, 2048, 4096, 8192 }, { 0 } },
    { "streams", { 2, 4, 8, 16, 32, 64 }, { 0 } },
};

enum { N_PLANS = sizeof plans / sizeof plans[0] };

/* Returns how large a buffer must be to lie at a place and not further in. */
static uint64_t buffer_bytes(const struct sim_machine *m, enum exp_recorded_place place)
{
    enum { MEMORY_BYTES = 64 << 20, TIMES_L2 = 12, OF_L3 = 4, TIMES_LAST = 4 };
    const uint64_t last = sim_level_bytes(&m->level[m->n_levels - 1]);
    const uint64_t l2 = sim_level_bytes(&m->level[1]), l3 = m->n_levels > 2 ? sim_level_bytes(&m->level[2]) : 0;

    if (place == EXP_RECORDED_L2)
        return l2 / 2;
    if (place == EXP_RECORDED_L3)
        return l3 / OF_L3 < TIMES_L2 * l2 ? l3 / OF_L3 : TIMES_L2 * l2;
    return last * TIMES_LAST < MEMORY_BYTES ? last * TIMES_LAST : MEMORY_BYTES; /* flushed */
}

/* Streams of less than a page each are none. */
static bool has_accesses(const struct exp_pattern *p)
{
    size_t n;

    free(exp_pattern_offsets(p, 1, &n));
    return n > 0;
}

static void add_row(struct exp_recorded *r, const struct plan *p, long p1, long p2, enum exp_recorded_place place,
                    uint64_t bytes)
{
    struct exp_recorded_row row = { .p1 = p1, .p2 = p2, .place = place };
    const bool is_known = !exp_pattern_find(&row.pattern, p->name, p1, p2, bytes);

    assert(is_known); /* names in pattern.c */
    exp_say(row.name, sizeof row.name, "%s", p->name);
    if (has_accesses(&row.pattern))
        *(struct exp_recorded_row *)exp_append(&r->row, &r->n, sizeof row) = row;
}

/* A level without room for a larger buffer than the level inside is left out. */
static void list_rows(struct exp_recorded *r, const struct sim_machine *m)
{
    for (int place = EXP_RECORDED_L2; place <= EXP_RECORDED_MEMORY; place++) {
        const uint64_t bytes = buffer_bytes(m, (enum exp_recorded_place)place);
        const uint64_t inside = place == EXP_RECORDED_MEMORY ? 0 : sim_level_bytes(&m->level[place - EXP_RECORDED_L2]);

        for (size_t i = 0; bytes > inside && i < N_PLANS; i++) {
            for (size_t a = 0; exp_list_goes_on(plans[i].p1, a); a++) {
                for (size_t b = 0; exp_list_goes_on(plans[i].p2, b); b++)
                    add_row(r, &plans[i], plans[i].p1[a], plans[i].p2[b], (enum exp_recorded_place)place, bytes);
            }
        }
    }
}

/* ---- a pattern ---- */

struct counting_run {
    const struct exp_counting *how;
    struct ctr_pages buffer;
    uint32_t *list; /* [MAX_ACCESSES] offsets */
    size_t n;
};

static void place(const struct counting_run *r, const struct exp_recorded_row *row)
{
    const size_t n = row->pattern.buffer_bytes / EXP_PATTERN_LINE;
    const volatile unsigned char *buffer = r->buffer.memory;

    if (row->place == EXP_RECORDED_MEMORY)
        ctr_flush(r->buffer.memory, row->pattern.buffer_bytes);
    for (size_t k = 0; k < PLACINGS && row->place != EXP_RECORDED_MEMORY; k++) {
        for (size_t i = 0; i < n; i++)
            (void)buffer[i * 0x9E3779B1u % n * EXP_PATTERN_LINE];
    }
    for (size_t i = 0; i < r->n; i += EXP_PATTERN_LINE / sizeof *r->list)
        (void)*(const volatile uint32_t *)&r->list[i];
}

/* The buffer holds zeros: adding what was loaded makes the next load wait, and changes nothing. */
__attribute__((noinline)) static void walk(const unsigned char *buffer, const uint32_t *list, size_t n)
{
    uint64_t zero = 0;

    for (size_t i = 0; i < n; i++)
        zero = *(const volatile unsigned char *)(buffer + list[i] + zero);
}

/* A walk for every set of events. */
static int count(const struct counting_run *r, const struct exp_recorded_row *row, struct ctr_reading *reading)
{
    struct ctr_counters *c = r->how->counters;
    int err = 0;

    ctr_session_forget(c->session);
    for (size_t set = 0; set < c->group->n_sets && !err; set++) {
        place(r, row);
        err = ctr_session_start_set(c->session, set);
        if (!err)
            walk(r->buffer.memory, r->list, r->n);
        err = err ? err : ctr_session_stop(c->session);
    }
    return err ? err : ctr_counters_read(c, reading);
}

/* Medians of the counted passes; the first pass only warms up. */
static int count_passes(const struct counting_run *r, struct exp_recorded_row *row)
{
    double sample[EXP_N_RECORDED][MAX_PASSES];
    size_t n[EXP_N_RECORDED] = { 0 };
    int err = 0;

    for (size_t pass = 0; pass <= r->how->n_passes && pass <= MAX_PASSES && !err; pass++) {
        struct ctr_reading reading;

        err = r->how->interrupted && r->how->interrupted() ? -EINTR : count(r, row, &reading);
        for (size_t q = 0; q < EXP_N_RECORDED && !err && pass; q++) {
            double value;

            if (!ctr_reading_metric(&reading, exp_recorded_quantities[q], &value))
                sample[q][n[q]++] = value;
        }
    }
    for (size_t q = 0; q < EXP_N_RECORDED && !err; q++)
        row->counted[q] = exp_spread_of(sample[q], n[q]).median / row->accesses;
    return err;
}

static int count_row(struct counting_run *r, struct exp_recorded_row *row)
{
    uint64_t *offset = exp_pattern_offsets(&row->pattern, MAX_ACCESSES, &r->n);

    for (size_t i = 0; i < r->n; i++)
        r->list[i] = (uint32_t)offset[i];
    free(offset);
    row->accesses = (double)r->n;
    exp_say(row->pages, sizeof row->pages, "%s", r->buffer.large_bytes == r->buffer.bytes ? "2m" : "4k");
    return count_passes(r, row);
}

/* ---- all ---- */

int exp_counting_open(struct ctr_counters *c, const struct ctr_source *source, const char *groups_dir,
                      const char *uarch, struct exp_why *why)
{
    static const char *const needed[] = { "l1_lines_in", "l2_lines_in" };
    int err = ctr_counters_open(c, source ? source : &ctr_source_perf, groups_dir, uarch, "COMMON", SIM_WHY(why->text));

    for (size_t i = 0; i < sizeof needed / sizeof needed[0] && !err; i++) {
        size_t at = 0;

        while (at < c->group->n_metrics && strcmp(c->group->metric[at].name, needed[i]))
            at++;
        if (at < c->group->n_metrics && c->proof.trust.metric[at] != CTR_REFUTED)
            continue;
        if (at < c->group->n_metrics)
            err = exp_fail(why, -ENODATA, "%s", c->proof.trust.why[at]);
        else
            err = exp_fail(why, -ENODATA, "this CPU does not count %s", needed[i]);
        ctr_counters_close(c);
    }
    return err;
}

static int count_rows(struct counting_run *r, struct exp_recorded *recorded)
{
    uint64_t bytes = 0;
    int err;

    list_rows(recorded, r->how->machine);
    for (size_t i = 0; i < recorded->n; i++)
        bytes = recorded->row[i].pattern.buffer_bytes > bytes ? recorded->row[i].pattern.buffer_bytes : bytes;
    err = ctr_pages_init(&r->buffer, (size_t)bytes);
    for (size_t i = 0; i < recorded->n && !err; i++) {
        err = count_row(r, &recorded->row[i]);
        if (r->how->progress)
            r->how->progress(r->how->ctx, (double)(i + 1) / (double)recorded->n);
    }
    ctr_pages_release(&r->buffer);
    return err;
}

int exp_counting_run(const struct exp_counting *how, struct exp_recorded *recorded, struct exp_why *why)
{
    struct counting_run r = { .how = how, .list = exp_new(MAX_ACCESSES, sizeof *r.list) };
    int err;

    assert(how->n_passes);
    *recorded = (struct exp_recorded){ 0 };
    err = count_rows(&r, recorded);
    free(r.list);
    if (!err)
        return 0;
    exp_recorded_release(recorded);
    return exp_fail(why, err, "%s", exp_error_text(err));
}
