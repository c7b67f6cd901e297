#include "experiments/calibrate/exp_comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hierarchy.h"

enum { LIST, PLACE, WALK }; /* tags */

static const uint64_t list_addr = (uint64_t)1 << 36, buffer_addr = (uint64_t)1 << 37, other_addr = (uint64_t)1 << 38;

static void load(struct sim_hierarchy *h, uint64_t addr, uint8_t tag)
{
    const struct sim_run run = { .addr = addr, .count = 1, .access_bytes = 4, .kind = SIM_LOAD, .tag = tag };

    sim_emit(sim_hierarchy_sink(h), &run, 1, 1);
}

/* Reads n lines in an order that no prefetcher follows. */
static void read_all(struct sim_hierarchy *h, uint64_t addr, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        load(h, addr + i * 0x9E3779B1u % n * EXP_PATTERN_LINE, PLACE);
}

/* Brings the buffer to where it is to be, and out of the levels inside. */
static void place(struct sim_hierarchy *h, const struct exp_recorded_row *row, const struct sim_machine *m)
{
    size_t level = row->place == EXP_RECORDED_L2 ? 1 : row->place == EXP_RECORDED_L3 ? 2 : 0;

    if (!level)
        return;
    read_all(h, buffer_addr, row->pattern.buffer_bytes / EXP_PATTERN_LINE);
    read_all(h, other_addr, sim_level_bytes(&m->level[level - 1]) / EXP_PATTERN_LINE);
}

static void walk(struct sim_hierarchy *h, const uint64_t *offset, size_t n)
{
    for (size_t i = 0; i < n; i += EXP_PATTERN_LINE / 4)
        load(h, list_addr + 4 * i, LIST);
    sim_hierarchy_clear_stats(h);
    for (size_t i = 0; i < n; i++) {
        load(h, list_addr + 4 * i, LIST);
        load(h, buffer_addr + offset[i], WALK);
    }
}

static void take(struct exp_comparison *c, const struct sim_stats *stats, size_t n)
{
    const struct sim_cell sum = sim_stats_total(stats);
    const struct sim_level_counts *l1 = &sum.level[0];

    c->simulated[EXP_RECORDED_L1_LINES] = (double)l1->lines_in / (double)n;
    c->simulated[EXP_RECORDED_L1_DEMAND] =
        (double)(l1->lines_in - l1->prefetch_fills + l1->late_prefetches) / (double)n;
    c->simulated[EXP_RECORDED_L2_LINES] = (double)sum.level[1].lines_in / (double)n;
}

static int replay(struct exp_comparison *c, const struct exp_recorded_row *row, struct sim_hierarchy *h,
                  const struct sim_machine *m, size_t max)
{
    size_t asked = row->accesses < (double)max ? (size_t)row->accesses : max, n;
    uint64_t *offset;
    int err = exp_pattern_offsets(&row->pattern, asked, &offset, &n);

    if (err)
        return err;
    sim_hierarchy_clear(h);
    place(h, row, m);
    walk(h, offset, n);
    take(c, sim_hierarchy_stats(h), n);
    free(offset);
    return 0;
}

/* Whether a row says something about a quantity: what is in L2 need not come in. */
static bool is_compared(const struct exp_recorded_row *row, size_t q)
{
    return row->counted[q] >= EXP_COMPARISON_FLOOR && !(q == EXP_RECORDED_L2_LINES && row->place == EXP_RECORDED_L2);
}

static void judge(struct exp_comparison *c, const struct exp_recorded_row *row)
{
    for (size_t q = 0; q < EXP_N_RECORDED; q++)
        c->error[q] = is_compared(row, q) ? fabs(c->simulated[q] / row->counted[q] - 1) : (double)NAN;
}

static bool walk_the_same(const struct exp_recorded_row *a, const struct exp_recorded_row *b)
{
    return !strcmp(a->name, b->name) && a->p1 == b->p1 && a->p2 == b->p2 && a->place == b->place;
}

/* What was simulated for a row before i that walks the same, with pages of another size; NULL if none does. */
static const struct exp_comparison *find_same(const struct exp_comparison *c, const struct exp_recorded *r, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (walk_the_same(&r->row[j], &r->row[i]))
            return &c[j];
    }
    return NULL;
}

static struct sim_machine in_time(const struct sim_machine *m)
{
    struct sim_machine punctual = *m;

    for (size_t k = 0; k < m->n_levels; k++) {
        for (size_t i = 0; i < SIM_MAX_PREFETCHERS; i++)
            punctual.level[k].prefetch[i].late = 0;
    }
    return punctual;
}

int exp_compare(struct exp_comparison *c, const struct exp_recorded *r, const struct sim_machine *m,
                size_t max_accesses)
{
    const struct sim_machine punctual = in_time(m);
    struct sim_hierarchy *h;
    int err = sim_hierarchy_new(&h, &punctual);

    for (size_t i = 0; !err && i < r->n; i++) {
        const struct exp_comparison *same = find_same(c, r, i);

        if (same)
            c[i] = *same;
        else
            err = replay(&c[i], &r->row[i], h, &punctual, max_accesses);
        judge(&c[i], &r->row[i]);
    }
    sim_hierarchy_free(h);
    return err;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double exp_comparison_quantile(const struct exp_comparison *c, size_t n, enum exp_recorded_quantity q, double share,
                               size_t *n_compared)
{
    double *error = calloc(n + 1, sizeof *error);
    double result = (double)NAN;

    *n_compared = 0;
    for (size_t i = 0; error && i < n; i++) {
        if (!isnan(c[i].error[q]))
            error[(*n_compared)++] = c[i].error[q];
    }
    if (*n_compared) {
        qsort(error, *n_compared, sizeof *error, by_size);
        result = error[(size_t)(share * (double)(*n_compared - 1))];
    }
    free(error);
    return result;
}

double exp_comparison_score(const struct exp_comparison *c, size_t n)
{
    double sum = 0;
    size_t n_errors = 0;

    for (size_t i = 0; i < n; i++) {
        for (size_t q = 0; q < EXP_N_RECORDED; q++) {
            if (isnan(c[i].error[q]))
                continue;
            sum += c[i].error[q] < 1 ? c[i].error[q] : 1;
            n_errors++;
        }
    }
    return n_errors ? sum / (double)n_errors : 0;
}
