#include "experiments/calibrate/exp_recorded.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_pool.h"
#include "experiments/base/exp_table.h"
#include "sim/hierarchy.h"

#define MISSING "not available" /* exp_csv_missing */

enum { MAX_TERMS = 4 };

const char *const exp_recorded_names[EXP_N_RECORDED] = { "lines into L1", "lines into L1 by demand", "lines into L2" };
const char *const exp_recorded_quantities[EXP_N_RECORDED] = { "l1_lines_in", "l1_lines_in_by_demand", "l2_lines_in" };
const char *const exp_recorded_places[] = { "L2", "L3", "MEM", "cycle", "mixed" };

/* The buffer was so large, by place; for the fourth, by the longest distance of its patterns. */
static const uint64_t buffer_bytes[] = { 256 << 10, 6 << 20, 256 << 20, 64 << 20, 8 << 20 };

static const struct {
    const char *word;
    uint64_t bytes;
} pages[] = { { "4k", 4 << 10 }, { "2m", 2 << 20 } };

/* These columns add up to what is compared, where a file does not have it in one (exp_recorded_quantities). */
static const char *const terms[EXP_N_RECORDED][MAX_TERMS + 1] = {
    [EXP_RECORDED_L1_LINES] = { "any_l2", "any_l3", "any_mem" },
    [EXP_RECORDED_L1_DEMAND] = { "demand_l2", "demand_l3", "demand_mem" },
    [EXP_RECORDED_L2_LINES] = { "any_l3", "any_mem", "l2pf_hit_l3_by_l2", "l2pf_miss_l3_by_l2" },
};

struct reader {
    const struct exp_table *t;
    size_t at;
    struct exp_why *why;
    int err;
};

/* A number, counts below 0 (less than the empty walk's) included. The first error sticks. */
static double number(struct reader *r, const char *column)
{
    double value = 0;
    size_t c = 0;

    if (!r->err)
        r->err = exp_table_column(r->t, column, &c, r->why);
    if (!r->err)
        r->err = exp_table_double(r->t, r->at, c, &value, r->why);
    return value;
}

static const char *text(struct reader *r, const char *column)
{
    size_t c = 0;

    if (!r->err)
        r->err = exp_table_column(r->t, column, &c, r->why);
    return r->err ? "" : exp_table_string(r->t, r->at, c);
}

static bool has_column(const struct reader *r, const char *column)
{
    struct exp_why ignored;
    size_t c;

    return !exp_table_column(r->t, column, &c, &ignored);
}

static int find_place(const char *word)
{
    for (int i = 0; i < EXP_N_RECORDED_PLACES; i++) {
        if (!strcmp(exp_recorded_places[i], word))
            return i;
    }
    return -1;
}

/* NAN if the CPU could not count it. */
static double read_quantity(struct reader *r, size_t q)
{
    const char *column = exp_recorded_quantities[q];
    double sum = 0;

    if (has_column(r, column))
        return strncmp(text(r, column), MISSING, strlen(MISSING)) ? number(r, column) : (double)NAN;
    for (size_t i = 0; terms[q][i]; i++)
        sum += number(r, terms[q][i]);
    return sum;
}

static void read_counts(struct reader *r, struct exp_recorded_row *row)
{
    row->accesses = number(r, "loads") + number(r, "stores");
    if (!r->err && !(row->accesses > 0))
        r->err = exp_fail(r->why, -EINVAL, "%s:%u: a pattern without accesses, '%s'", r->t->path, r->t->line[r->at],
                          row->name);
    for (size_t q = 0; q < EXP_N_RECORDED && !r->err; q++)
        row->counted[q] = read_quantity(r, q) / row->accesses;
}

static uint64_t find_page(const char *word)
{
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        if (!strcmp(pages[i].word, word))
            return pages[i].bytes;
    }
    return 0;
}

/* Takes a suffix off a name; false if it has it not. */
static bool cut_suffix(char *name, const char *suffix)
{
    size_t length = strlen(name), cut = strlen(suffix);
    bool has = length > cut && !strcmp(name + length - cut, suffix);

    if (has)
        name[length - cut] = '\0';
    return has;
}

/* Fills a row. Returns false for one that is not compared. */
static bool read_row(struct reader *r, struct exp_recorded_row *row)
{
    int place = find_place(text(r, "where"));
    uint64_t bytes;

    *row = (struct exp_recorded_row){ .place = (enum exp_recorded_place)(place < 0 ? 0 : place) };
    snprintf(row->name, sizeof row->name, "%s", text(r, "pattern"));
    snprintf(row->pages, sizeof row->pages, "%s", text(r, "pages"));
    row->page_bytes = find_page(row->pages);
    row->is_chased = cut_suffix(row->name, EXP_RECORDED_CHASED);
    row->p1 = (long)number(r, "p1");
    row->p2 = (long)number(r, "p2");
    bytes = has_column(r, "buffer_bytes") ? (uint64_t)number(r, "buffer_bytes") : buffer_bytes[place < 0 ? 0 : place];
    if (r->err || place < 0 || !row->page_bytes || exp_pattern_find(&row->pattern, row->name, row->p1, row->p2, bytes))
        return false;
    read_counts(r, row);
    return !r->err;
}

int exp_recorded_read(struct exp_recorded *recorded, const char *path, struct exp_why *why)
{
    struct exp_table t;
    struct reader r = { .t = &t, .why = why };

    *recorded = (struct exp_recorded){ 0 };
    r.err = exp_table_read(&t, path, why);
    if (r.err)
        return r.err;
    recorded->row = calloc(t.n_rows + 1, sizeof *recorded->row);
    if (!recorded->row)
        r.err = exp_fail(why, -ENOMEM, "%s: out of memory", path);
    for (; !r.err && r.at < t.n_rows; r.at++)
        recorded->n += read_row(&r, &recorded->row[recorded->n]);
    if (!r.err && !recorded->n)
        r.err = exp_fail(why, -EINVAL, "%s: no pattern in it that is known", path);
    exp_table_release(&t);
    if (r.err)
        exp_recorded_release(recorded);
    return r.err;
}

void exp_recorded_release(struct exp_recorded *r)
{
    free(r->row);
    *r = (struct exp_recorded){ 0 };
}

/* ---- replayed on a simulated machine ---- */

enum { N_LEVELS = 2, PANEL_SHARE = 8 };
enum { LIST, PLACE, WALK }; /* tags */

static const uint64_t list_addr = (uint64_t)1 << 36, buffer_addr = (uint64_t)1 << 37, other_addr = (uint64_t)1 << 38;

static void make(struct sim_hierarchy *h, uint8_t kind, uint64_t addr, uint8_t tag)
{
    const struct sim_run run = { .addr = addr, .count = 1, .access_bytes = 4, .kind = kind, .tag = tag };

    sim_emit(sim_hierarchy_sink(h), &run, 1, 1);
}

static void load(struct sim_hierarchy *h, uint64_t addr, uint8_t tag)
{
    make(h, SIM_LOAD, addr, tag);
}

/* Reads n lines that lie `step` bytes apart, in an order that no prefetcher follows. */
static void read_all(struct sim_hierarchy *h, uint64_t addr, uint64_t n, uint64_t step)
{
    for (uint64_t i = 0; i < n; i++)
        load(h, addr + i * 0x9E3779B1u % n * step, PLACE);
}

/* Brings n lines in that lie `step` bytes apart, and out of level k again. */
static void place_at(struct sim_hierarchy *h, const struct sim_machine *m, size_t k, uint64_t n, uint64_t step)
{
    read_all(h, buffer_addr, n, step);
    read_all(h, other_addr, sim_level_bytes(&m->level[k]) / EXP_PATTERN_LINE, EXP_PATTERN_LINE);
}

/* Brings the buffer to L2, or only its pages into the TLBs if it was in L3; a buffer in memory has been flushed. */
static void place(struct sim_hierarchy *h, const struct exp_recorded_row *row, const struct sim_machine *m)
{
    uint64_t bytes = row->pattern.buffer_bytes;

    if (row->place == EXP_RECORDED_L2)
        place_at(h, m, 0, bytes / EXP_PATTERN_LINE, EXP_PATTERN_LINE);
    else if (row->place == EXP_RECORDED_L3)
        place_at(h, m, 1, bytes / EXP_PATTERN_PAGE, EXP_PATTERN_PAGE);
}

/* Reads the list of offsets as it was before a walk, also what the replay cuts off. */
static void read_list(struct sim_hierarchy *h, const struct exp_recorded_row *row)
{
    for (uint64_t i = 0; i < (uint64_t)row->accesses; i += EXP_PATTERN_LINE / 4)
        load(h, list_addr + 4 * i, LIST);
}

/* Walks the pattern; only what comes from access n_before on is counted. */
static void walk(struct sim_hierarchy *h, const uint64_t *offset, size_t n, size_t n_before)
{
    for (size_t i = 0; i < n; i++) {
        if (i == n_before)
            sim_hierarchy_clear_stats(h);
        load(h, list_addr + 4 * i, LIST);
        make(h, offset[i] & EXP_PATTERN_STORE ? SIM_STORE : SIM_LOAD,
             buffer_addr + (offset[i] & ~(uint64_t)EXP_PATTERN_STORE), WALK);
    }
}

static void take(struct exp_comparison *c, const struct sim_stats *stats, size_t n)
{
    const struct sim_cell sum = sim_stats_total(stats);

    c->simulated[EXP_RECORDED_L1_LINES] = (double)sum.level[0].lines_in / (double)n;
    c->simulated[EXP_RECORDED_L1_DEMAND] = (double)sim_cell_demand_fills(&sum) / (double)n;
    c->simulated[EXP_RECORDED_L2_LINES] = (double)sum.level[1].lines_in / (double)n;
}

static int replay(struct exp_comparison *c, const struct exp_recorded_row *row, struct sim_hierarchy *h,
                  const struct sim_machine *m, size_t max)
{
    size_t cut = row->place == EXP_RECORDED_MIXED ? PANEL_SHARE * max : max;
    size_t asked = row->accesses < (double)cut ? (size_t)row->accesses : cut, n, n_before;
    uint64_t *offset;
    int err = exp_pattern_offsets(&row->pattern, asked, &offset, &n);

    if (err)
        return err;
    sim_hierarchy_clear(h);
    place(h, row, m);
    read_list(h, row);
    n_before = row->place == EXP_RECORDED_MIXED ? n / 2 : 0;
    walk(h, offset, n, n_before);
    take(c, sim_hierarchy_stats(h), n - n_before);
    free(offset);
    return 0;
}

/* Tells whether a row says something about a quantity: what is in L2 need not come in. */
static bool is_compared(const struct exp_recorded_row *row, size_t q)
{
    return row->counted[q] >= EXP_COMPARISON_FLOOR && !(q == EXP_RECORDED_L2_LINES && row->place == EXP_RECORDED_L2);
}

static void judge(struct exp_comparison *c, const struct exp_recorded_row *row)
{
    for (size_t q = 0; q < EXP_N_RECORDED; q++)
        c->error[q] = is_compared(row, q) ? fabs(c->simulated[q] / row->counted[q] - 1) : (double)NAN;
}

/*
 * The machine as a row had it: L3 and memory are both beyond L2; dependent loads wait for every prefetch. Large pages
 * keep their part of the memory together. Of page tables they need one less; the host of a virtual machine has small
 * pages still.
 */
static struct sim_machine machine_of(const struct sim_machine *m, uint64_t page_bytes, bool is_chased)
{
    struct sim_machine of = *m;

    of.n_levels = N_LEVELS;
    of.frame_bytes = page_bytes;
    of.page_tables -= page_bytes > sim_machine_page_bytes(m) && of.page_tables;
    for (size_t k = 0; k < of.n_levels; k++) {
        for (size_t i = 0; is_chased && i < SIM_MAX_PREFETCHERS; i++)
            of.level[k].prefetch[i].late = 0;
    }
    return of;
}

enum { N_KINDS = 4 }; /* of machine_of() that the rows need */

struct rows {
    struct exp_comparison *c;
    const struct exp_recorded *r;
    const struct sim_machine *m;
    size_t max_accesses;
    struct sim_hierarchy *(*h)[N_KINDS]; /* of each thread, built when first needed */
};

static size_t kind_of(const struct exp_recorded_row *row)
{
    return (row->is_chased ? 2u : 0u) + (row->page_bytes > EXP_PATTERN_PAGE ? 1u : 0u);
}

static int compare_row(void *rows, size_t i, size_t thread, const struct exp_pool *pool)
{
    const struct rows *all = rows;
    const struct exp_recorded_row *row = &all->r->row[i];
    const struct sim_machine m = machine_of(all->m, row->page_bytes, row->is_chased);
    struct sim_hierarchy **h = &all->h[thread][kind_of(row)];
    int err = *h ? 0 : sim_hierarchy_new(h, &m);

    (void)pool;
    if (!err)
        err = replay(&all->c[i], row, *h, &m, all->max_accesses);
    judge(&all->c[i], row);
    return err;
}

int exp_compare(struct exp_comparison *c, const struct exp_recorded *r, const struct sim_machine *m,
                size_t max_accesses, size_t n_threads)
{
    struct rows rows = { c, r, m, max_accesses, calloc(n_threads, sizeof *rows.h) };
    int err = rows.h ? exp_pool_run(r->n, n_threads, compare_row, &rows, NULL, NULL) : -ENOMEM;

    for (size_t i = 0; rows.h && i < n_threads * N_KINDS; i++)
        sim_hierarchy_free(rows.h[i / N_KINDS][i % N_KINDS]);
    free(rows.h);
    return err;
}

struct exp_spread exp_comparison_errors(const struct exp_comparison_choice *of)
{
    double *error = calloc(of->r->n + 1, sizeof *error);
    struct exp_spread spread;
    size_t n = 0;

    for (size_t i = 0; error && i < of->r->n; i++) {
        if (of->r->row[i].is_chased == of->is_chased)
            error[n++] = of->c[i].error[of->q];
    }
    spread = exp_spread_of(error, n);
    free(error);
    return spread;
}

/* NAN as the error is. */
static double share_wrong(const struct exp_comparison *c, const struct exp_recorded_row *row, size_t q)
{
    const size_t of = q == EXP_RECORDED_L1_DEMAND ? EXP_RECORDED_L1_LINES : q;

    return c->error[q] * (row->counted[q] / row->counted[of]);
}

double exp_comparison_score(const struct exp_comparison *c, const struct exp_recorded *r, unsigned quantities)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        for (size_t q = 0; q < EXP_N_RECORDED; q++) {
            double wrong = share_wrong(&c[i], &r->row[i], q);

            if (!(quantities >> q & 1) || isnan(wrong))
                continue;
            sum += wrong < 1 ? wrong : 1;
            n++;
        }
    }
    return n ? sum / (double)n : 0;
}
