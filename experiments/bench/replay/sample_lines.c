#include "experiments/bench/replay/sample_lines.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/error.h"

enum { MOST_BOX_LINES = 1 << 14 };

void exp_sample_lines_init(struct exp_sample_lines *l, unsigned line_shift, uint64_t level_lines,
                           void (*touch)(void *ctx, const struct sim_run *lines), void *ctx)
{
    assert(touch && level_lines);
    *l = (struct exp_sample_lines){ .touch = touch, .ctx = ctx, .line_shift = line_shift, .recent = level_lines };
    l->box = exp_new(EXP_SAMPLE_BOX_SETS, sizeof *l->box);
    l->shape = exp_new(EXP_SAMPLE_SHAPES, sizeof *l->shape);
    l->lasting = UINT64_MAX;
}

void exp_sample_lines_release(struct exp_sample_lines *l)
{
    free(l->box);
    free(l->shape);
}

void exp_sample_lines_clear(struct exp_sample_lines *l)
{
    memset(l->box, 0, EXP_SAMPLE_BOX_SETS * sizeof *l->box);
}

/* ---- touched boxes ---- */

enum { TIME_SHIFT = 6, ORDER_PARTS = 4 };

/* Returns the box's place, or the place of the set's box touched longest ago. */
static struct exp_sample_box *find_box(const struct exp_sample_lines *l, uint64_t key)
{
    struct exp_sample_box *set = l->box[key >> 32 & (EXP_SAMPLE_BOX_SETS - 1)], *oldest = set;
    const uint32_t now = (uint32_t)l->touched;

    for (struct exp_sample_box *b = set; b < set + EXP_SAMPLE_BOX_WAYS; b++) {
        if (b->key == key)
            return b;
        oldest = now - b->touched > now - oldest->touched ? b : oldest;
    }
    return oldest;
}

/*
 * Tells whether the caches may lack the box, or may hold the box's lines too far back in the order of uses. The first level
 * hides touches of present lines from the caches. Otherwise, lines shall be old by a quarter of the accesses left until
 * the order matters.
 */
static bool is_stale(const struct exp_sample_lines *l, const struct exp_sample_box *b)
{
    const uint64_t lines = (uint32_t)l->touched - b->touched;
    const uint64_t accesses = (uint64_t)((uint32_t)(l->accesses >> TIME_SHIFT) - b->time) << TIME_SHIFT;

    return lines > l->lasting || (lines > l->recent && accesses > l->accesses_left / ORDER_PARTS);
}

bool exp_sample_lines_wants(struct exp_sample_lines *l, uint64_t first, uint64_t n, bool is_store)
{
    const uint64_t key = (first * 0x9e3779b97f4a7c15u ^ (n << 1 | is_store)) * 0xc2b2ae3d27d4eb4fu | 1;
    struct exp_sample_box *b = find_box(l, key);

    if (b->key == key && !is_stale(l, b))
        return false;
    l->touched += n;
    *b = (struct exp_sample_box){ key, (uint32_t)l->touched, (uint32_t)(l->accesses >> TIME_SHIFT) };
    return true;
}

/* ---- gathered lines ---- */

static void touch(struct exp_sample_lines *l, const struct exp_sample_open *b)
{
    const struct sim_run all = {
        .addr = b->first << l->line_shift,
        .stride_bytes = (int64_t)1 << l->line_shift,
        .count = (uint32_t)(b->end - b->first),
        .access_bytes = 1,
        .kind = b->kind,
        .tag = b->tag,
        .phase = b->phase,
    };

    if (l->is_long)
        l->touched += all.count;
    if (l->is_long || exp_sample_lines_wants(l, b->first, b->end - b->first, b->kind == SIM_STORE))
        l->touch(l->ctx, &all);
}

void exp_sample_lines_end(struct exp_sample_lines *l)
{
    for (size_t i = 0; i < l->n_open; i++)
        touch(l, &l->open[i]);
    l->n_open = 0;
}

/* Adds lines to an open box, if the lines overlap or continue the box; else opens a box in place of the oldest. */
static void gather(struct exp_sample_lines *l, const struct sim_run *run, struct sim_lines lines)
{
    const uint64_t end = lines.first + lines.n;

    for (size_t i = l->n_open; i-- > 0;) {
        struct exp_sample_open *b = &l->open[i];

        if (b->tag == run->tag && b->kind == run->kind && lines.first <= b->end && end >= b->first &&
            b->end - b->first + lines.n < MOST_BOX_LINES) {
            b->first = lines.first < b->first ? lines.first : b->first;
            b->end = end > b->end ? end : b->end;
            return;
        }
    }
    if (l->n_open == EXP_SAMPLE_OPEN) {
        touch(l, &l->open[0]);
        memmove(l->open, l->open + 1, --l->n_open * sizeof *l->open);
    }
    l->open[l->n_open++] = (struct exp_sample_open){ lines.first, end, run->kind, run->tag, run->phase };
}

static void gather_lattice(struct exp_sample_lines *l, const struct sim_run *run, const struct sim_lattice *at)
{
    for (uint64_t i = 0; i < at->n_inner * at->n_outer; i++)
        gather(l, run, sim_lattice_lines(at, i, l->line_shift));
}

/* ---- shapes ---- */

static bool leaves_lines(const struct sim_run *r)
{
    return r->count && r->kind <= SIM_STORE;
}

/* Finds the address of each tag's first run that leaves lines. */
static void find_bases(uint64_t base[SIM_USUAL_TAGS], const struct sim_run *run, size_t n_runs)
{
    for (size_t i = n_runs; i-- > 0;) {
        if (leaves_lines(&run[i]))
            base[run[i].tag % SIM_USUAL_TAGS] = run[i].addr;
    }
}

static bool is_shape(const struct exp_sample_shape *s, const struct sim_run *run, size_t n_runs, uint64_t n_times,
                     const uint64_t base[SIM_USUAL_TAGS])
{
    bool is_equal = s->n_runs == n_runs && s->n_times == n_times;

    for (size_t i = 0; i < n_runs && is_equal; i++) {
        const struct sim_run *a = &s->run[i], *b = &run[i];

        is_equal = (!leaves_lines(b) || a->addr == b->addr - base[b->tag % SIM_USUAL_TAGS]) &&
                   a->stride_bytes == b->stride_bytes && a->step_bytes == b->step_bytes && a->count == b->count &&
                   a->access_bytes == b->access_bytes && a->kind == b->kind && a->tag == b->tag && a->phase == b->phase;
    }
    return is_equal;
}

/* Runs of a burst, joined. */
struct joined {
    struct sim_run run[SIM_MAX_BURST_RUNS];
    uint8_t of[SIM_MAX_BURST_RUNS]; /* the first run of each */
    size_t n;
    size_t next; /* where the search begins: bodies of loops repeat the order of their runs */
};

/* Joins a run's first repetition to an earlier run, if the repetition overlaps or continues the run; or adds the run. */
static void join(struct joined *j, const struct sim_run *run, size_t of)
{
    const uint64_t own_end = run->addr + run->access_bytes;

    for (size_t k = 0, i = j->next; k < j->n; k++, i++) {
        struct sim_run *r = &j->run[i = i < j->n ? i : 0];
        const uint64_t end = r->addr + r->access_bytes;

        if (r->tag != run->tag || r->kind != run->kind || r->step_bytes != run->step_bytes || run->addr > end ||
            own_end < r->addr)
            continue;
        r->addr = run->addr < r->addr ? run->addr : r->addr;
        r->access_bytes = (uint32_t)((own_end > end ? own_end : end) - r->addr);
        j->next = i + 1;
        return;
    }
    j->of[j->n] = (uint8_t)of;
    j->run[j->n++] = *run;
}

/*
 * Joins all runs. The repetitions of a run may have gaps that the burst's further runs fill. Returns false if there are
 * too many parts.
 */
static bool join_all(struct joined *j, const struct sim_run *run, size_t n_runs, unsigned line_shift)
{
    j->n = j->next = 0;
    for (size_t i = 0; i < n_runs; i++) {
        const struct sim_lattice row = sim_lattice_of(&run[i], 1, line_shift);
        const uint64_t n_parts = row.n_inner * row.n_outer;
        struct sim_run part = run[i];

        if (!leaves_lines(&run[i]))
            continue;
        if (j->n + n_parts > SIM_MAX_BURST_RUNS)
            return false;
        part.count = 1;
        part.access_bytes = (uint32_t)row.bytes;
        for (uint64_t k = 0; k < n_parts; k++) {
            part.addr = sim_lattice_addr(&row, k);
            join(j, &part, i);
        }
    }
    return true;
}

static void count_run(struct exp_sample_shape *s, const struct sim_run *r)
{
    const uint64_t n = r->count * s->n_times;
    struct exp_sample_accesses *a = s->accesses;

    while (a < s->accesses + s->n_accesses && (a->kind != r->kind || a->tag != r->tag || a->phase != r->phase))
        a++;
    if (a == s->accesses + s->n_accesses)
        s->accesses[s->n_accesses++] =
            (struct exp_sample_accesses){ .kind = r->kind, .tag = r->tag, .phase = r->phase };
    a->n += n;
    a->bytes += n * r->access_bytes;
}

/* Finds out a burst's shape. The shape of a burst of many parts has no lattices, and is_shape() never finds the shape. */
static void make_shape(struct exp_sample_lines *l, struct exp_sample_shape *s, const struct sim_run *run, size_t n_runs,
                       uint64_t n_times, const uint64_t base[SIM_USUAL_TAGS])
{
    struct joined j;

    s->n_times = n_times;
    s->n_accesses = s->n_lattices = 0;
    for (size_t i = 0; i < n_runs; i++)
        count_run(s, &run[i]);
    if (!join_all(&j, run, n_runs, l->line_shift)) {
        s->n_runs = 0;
        return;
    }
    s->n_runs = n_runs;
    for (size_t i = 0; i < n_runs; i++) {
        s->run[i] = run[i];
        if (leaves_lines(&run[i]))
            s->run[i].addr -= base[run[i].tag % SIM_USUAL_TAGS];
    }
    for (size_t i = 0; i < j.n; i++) {
        s->of[i] = j.of[i];
        s->lattice[i] = sim_lattice_of(&j.run[i], n_times, l->line_shift);
        s->lattice[i].addr -= base[j.run[i].tag % SIM_USUAL_TAGS];
    }
    s->n_lattices = j.n;
}

static void add_counts(struct sim_cell *cell, const struct exp_sample_shape *s)
{
    for (const struct exp_sample_accesses *a = s->accesses; a < s->accesses + s->n_accesses; a++)
        sim_count_accesses(&cell[a->tag % SIM_USUAL_TAGS * SIM_MAX_PHASES + a->phase], a->kind, a->n, a->bytes);
}

void exp_sample_lines_add(struct exp_sample_lines *l, const struct sim_run *run, size_t n_runs, uint64_t n_times,
                          struct sim_cell *cell)
{
    const size_t slot = n_runs * 7 + n_times * 31 + run[n_runs - 1].count * 3 + run[0].phase + run[n_runs - 1].tag * 5;
    struct exp_sample_shape *s = &l->shape[slot % EXP_SAMPLE_SHAPES];
    uint64_t base[SIM_USUAL_TAGS];

    find_bases(base, run, n_runs);
    if (!is_shape(s, run, n_runs, n_times, base))
        make_shape(l, s, run, n_runs, n_times, base);
    add_counts(cell, s);
    for (size_t i = 0; i < s->n_lattices; i++) {
        struct sim_lattice at = s->lattice[i];

        at.addr += base[run[s->of[i]].tag % SIM_USUAL_TAGS];
        gather_lattice(l, &run[s->of[i]], &at);
    }
    for (size_t i = 0; i < n_runs && !s->n_runs; i++) {
        const struct sim_lattice at = sim_lattice_of(&run[i], n_times, l->line_shift);

        if (leaves_lines(&run[i]))
            gather_lattice(l, &run[i], &at);
    }
}
