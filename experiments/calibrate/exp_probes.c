#include "experiments/calibrate/exp_probes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_LIST = 12 };

/*
 * A pattern with each of its steps, starts and lengths; the lists end at their first 0 that is not their first value.
 * The lines from `from` to `to` are looked for, of strides `ahead` steps more.
 */
struct plan {
    const char *name; /* printf's, of the step in its own unit, or of streams and their length */
    long steps[MAX_LIST];
    long step_bytes; /* of a step of 1 */
    long starts[MAX_LIST];
    long lengths[MAX_LIST];
    long from, to, ahead;
    bool is_from_end; /* from and to count from the pattern's last line, not from its first */
    bool is_streams;  /* as many streams as steps says, each of a length */
};

enum { LINE = EXP_PATTERN_LINE };

static const struct plan plans[] = {
    { .name = "up",
      .steps = { 1 },
      .step_bytes = LINE,
      .starts = { 0, 17 },
      .lengths = { 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32 },
      .from = -4,
      .to = 60 },
    { .name = "down",
      .steps = { -1 },
      .step_bytes = LINE,
      .starts = { 48 },
      .lengths = { 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32 },
      .from = -48,
      .to = 16 },
    { .name = "stride_%ld_lines",
      .steps = { 2, 3, 4, 5, 7, 8, 12, 16, 24, 32 },
      .step_bytes = LINE,
      .starts = { 0 },
      .lengths = { 8 },
      .from = -3,
      .to = 2,
      .ahead = 3,
      .is_from_end = true },
    { .name = "page_end",
      .steps = { 1 },
      .step_bytes = LINE,
      .starts = { 58, 59, 60, 61, 62, 63 },
      .lengths = { 4 },
      .from = -4,
      .to = 20 },
    { .name = "single",
      .steps = { 1 },
      .step_bytes = LINE,
      .starts = { 32, 33 },
      .lengths = { 1 },
      .from = -4,
      .to = 8 },
    { .name = "streams_%ld_of_%ld",
      .steps = { 2, 4, 8 },
      .step_bytes = LINE,
      .starts = { 0 },
      .lengths = { 8, 16, 32 },
      .from = -1,
      .to = 25,
      .is_from_end = true,
      .is_streams = true },
    { .name = "planes_%ld",
      .steps = { 12544 },
      .step_bytes = 1,
      .starts = { 0 },
      .lengths = { 4, 8, 16, 32, 64 },
      .from = 194, /* a step more, 196 lines */
      .to = 198,
      .is_from_end = true },
};

/* Cycles between accesses, for prefetchers that need time. */
static const long gaps[] = { 0, 200 };

static bool goes_on(const long *list, size_t i)
{
    return i < MAX_LIST && (!i || list[i]);
}

/* One pattern's lines are looked for. */
struct one {
    const struct plan *plan;
    long step, start, length, gap;
};

static void bounds(const struct one *o, long *from, long *to)
{
    const long step_bytes = o->plan->is_streams ? LINE : o->step * o->plan->step_bytes;
    const long end = o->plan->is_from_end ? (o->length - 1) * step_bytes / LINE : 0;

    *from = end + o->plan->from;
    *to = end + o->plan->to + o->plan->ahead * step_bytes / LINE;
}

static int mark_accessed(struct exp_timed_row *row, size_t n)
{
    uint64_t *offset;
    size_t n_offsets;
    int err = exp_pattern_offsets(&row->pattern, (size_t)row->accesses, &offset, &n_offsets);

    for (size_t i = 0; !err && i < n; i++) {
        int64_t probed = (int64_t)offset[0] / LINE + row[i].probed_line;

        for (size_t k = 0; k < n_offsets; k++)
            row[i].was_accessed = row[i].was_accessed || (int64_t)offset[k] / LINE == probed;
    }
    if (!err)
        free(offset);
    return err;
}

static int add_one(struct exp_timed *t, const struct one *o)
{
    const long accesses = o->plan->is_streams ? o->step * o->length : o->length;
    struct exp_timed_row *grown;
    long from, to;
    size_t n;

    bounds(o, &from, &to);
    n = (size_t)(to - from + 1);
    grown = realloc(t->row, (t->n + n) * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    t->row = grown;
    for (size_t i = 0; i < n; i++) {
        struct exp_timed_row *row = &t->row[t->n + i];

        *row = (struct exp_timed_row){
            .start_line = o->start, .accesses = accesses, .gap_cycles = o->gap, .probed_line = from + (long)i
        };
        snprintf(row->name, sizeof row->name, o->plan->name, o->step, o->length);
        if (exp_timed_find_pattern(row))
            return -EINVAL; /* a name that exp_pattern.c does not have */
    }
    t->n += n;
    return mark_accessed(&t->row[t->n - n], n);
}

static int add_plan(struct exp_timed *t, const struct plan *p, long gap)
{
    int err = 0;

    for (size_t k = 0; goes_on(p->steps, k); k++) {
        for (size_t s = 0; goes_on(p->starts, s); s++) {
            for (size_t l = 0; goes_on(p->lengths, l) && !err; l++)
                err = add_one(t, &(struct one){ p, p->steps[k], p->starts[s], p->lengths[l], gap });
        }
    }
    return err;
}

int exp_probes_list(struct exp_timed *t)
{
    int err = 0;

    *t = (struct exp_timed){ 0 };
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++) {
        for (size_t i = 0; i < sizeof plans / sizeof plans[0] && !err; i++)
            err = add_plan(t, &plans[i], gaps[g]);
    }
    if (err)
        exp_timed_release(t);
    return err;
}
