#include "experiments/calibrate/calibrate.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/tasks.h"
#include "sim/hierarchy.h"

const char *const exp_recorded_names[EXP_N_RECORDED] = { "lines into L1", "lines into L1 by demand", "lines into L2" };
const char *const exp_recorded_quantities[EXP_N_RECORDED] = { "l1_lines_in", "l1_lines_in_by_demand", "l2_lines_in" };
const char *const exp_recorded_places[] = { "L2", "L3", "MEM", "cycle", "mixed" };

/* The size of the buffer by place; for the fourth place, by the longest distance of the patterns. */
static const uint64_t buffer_bytes[] = { 256 << 10, 6 << 20, 256 << 20, 64 << 20, 8 << 20 };

static const struct {
    const char *word;
    uint64_t bytes;
} pages[] = { { "4k", 4 << 10 }, { "2m", 2 << 20 } };

/* ---- the file ---- */

enum { MAX_PARTS = 4 };

/* Counts from which lines are computed, in files of further programs. */
enum part { DEMAND_L2, DEMAND_L3, DEMAND_MEM, ANY_L2, ANY_L3, ANY_MEM, L3_HIT, L3_MISS, N_PARTS, NO_MORE = N_PARTS };

struct count_row {
    char pattern[64]; /* with EXP_RECORDED_CHASED */
    double p1, p2, loads, stores;
    char where[8], pages[8];
    uint64_t buffer_bytes;        /* 0: the file does not say */
    double lines[EXP_N_RECORDED]; /* NaN: not counted */
    double part[N_PARTS];
};

#define ROW struct count_row
#define NOT_COUNTED "not counted here"
#define LINES(q) REC_NAN_AS(ROW, lines[q], NOT_COUNTED)
#define PART(name, part_)                                                                                              \
    {                                                                                                                  \
        { name, "lines", "a part of a line's count", "" }, REC_NAN_AS(ROW, part[part_], NOT_COUNTED)                   \
    }

/* clang-format off */
static const struct rec_field fields[] = {
    { { "pattern", "", "which pattern: pattern.c has the table; _chased: each load waits for the one before", "" },
      REC_AT(ROW, pattern) },
    { { "p1", "", "its first number", "" }, REC_AT(ROW, p1) },
    { { "p2", "", "its second number", "" }, REC_AT(ROW, p2) },
    { { "where", "", "where the buffer lay before: L2, L3, MEM", "" }, REC_AT(ROW, where) },
    { { "pages", "", "2m: large pages; 4k: not, or not all", "" }, REC_AT(ROW, pages) },
    { { "buffer_bytes", "bytes", "size of the buffer", "" }, REC_AT(ROW, buffer_bytes) },
    { { "loads", "", "made by one walk", "" }, REC_AT(ROW, loads) },
    { { "stores", "", "none", "" }, REC_AT(ROW, stores) },
    { { "l1_lines_in", "lines", "lines brought into L1, median of the passes", "perf_event" },
      LINES(EXP_RECORDED_L1_LINES) },
    { { "l1_lines_in_by_demand", "lines", "of these, for the loads themselves", "perf_event" },
      LINES(EXP_RECORDED_L1_DEMAND) },
    { { "l2_lines_in", "lines", "lines brought into L2, median of the passes", "perf_event" },
      LINES(EXP_RECORDED_L2_LINES) },
    PART("demand_l2", DEMAND_L2), PART("demand_l3", DEMAND_L3), PART("demand_mem", DEMAND_MEM),
    PART("any_l2", ANY_L2), PART("any_l3", ANY_L3), PART("any_mem", ANY_MEM),
    PART("l2pf_hit_l3_by_l2", L3_HIT), PART("l2pf_miss_l3_by_l2", L3_MISS),
};
/* clang-format on */

/* The parts are read, and never written. */
static const struct rec_table all_columns = REC_TABLE("patterns.csv", fields, ROW);
const struct rec_table exp_counting_table = { { "patterns.csv", &fields[0].column,
                                                sizeof fields / sizeof *fields - N_PARTS, sizeof *fields, rec_kind },
                                              sizeof(ROW) };

/* The parts of a compared quantity, in files without a column for the quantity. */
static const enum part parts_of[EXP_N_RECORDED][MAX_PARTS + 1] = {
    [EXP_RECORDED_L1_LINES] = { ANY_L2, ANY_L3, ANY_MEM, NO_MORE },
    [EXP_RECORDED_L1_DEMAND] = { DEMAND_L2, DEMAND_L3, DEMAND_MEM, NO_MORE },
    [EXP_RECORDED_L2_LINES] = { ANY_L3, ANY_MEM, L3_HIT, L3_MISS, NO_MORE },
};

void exp_counting_put(const struct exp_recorded *r, struct exp_csv *csv)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct exp_recorded_row *from = &r->row[i];
        ROW row = { .p1 = (double)from->p1,
                    .p2 = (double)from->p2,
                    .loads = from->accesses,
                    .buffer_bytes = from->pattern.buffer_bytes };

        exp_say(row.pattern, sizeof row.pattern, "%s" EXP_RECORDED_CHASED, from->name);
        exp_say(row.where, sizeof row.where, "%s", exp_recorded_places[from->place]);
        exp_say(row.pages, sizeof row.pages, "%s", from->pages);
        for (size_t q = 0; q < EXP_N_RECORDED; q++)
            row.lines[q] = from->counted[q] * from->accesses;
        rec_put(csv, &exp_counting_table, &row);
    }
}

static int find_place(const char *word)
{
    for (int i = 0; i < EXP_N_RECORDED_PLACES; i++) {
        if (!strcmp(exp_recorded_places[i], word))
            return i;
    }
    return -1;
}

static uint64_t find_page(const char *word)
{
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        if (!strcmp(pages[i].word, word))
            return pages[i].bytes;
    }
    return 0;
}

/* Removes a suffix from a name; false if the name lacks the suffix. */
static bool cut_suffix(char *name, const char *suffix)
{
    size_t length = strlen(name), cut = strlen(suffix);
    bool has = length > cut && !strcmp(name + length - cut, suffix);

    if (has)
        name[length - cut] = '\0';
    return has;
}

/* Checks that a file has every quantity, or all parts of the quantity. */
static int check_columns(const struct exp_table *t, struct exp_why *why)
{
    const size_t first_part = exp_counting_table.file.n_columns;
    int err = 0;

    for (size_t q = 0; q < EXP_N_RECORDED && !err; q++) {
        size_t column;

        if (!exp_table_column(t, exp_recorded_quantities[q], &column, NULL))
            continue;
        for (const enum part *part = parts_of[q]; *part != NO_MORE && !err; part++)
            err = exp_table_column(t, fields[first_part + *part].column.name, &column, why);
    }
    return err;
}

/* Returns how many lines were counted; NaN: not counted. */
static double lines_of(const struct count_row *from, const struct exp_table *t, size_t q)
{
    double sum = 0;
    size_t column;

    if (!exp_table_column(t, exp_recorded_quantities[q], &column, NULL))
        return from->lines[q];
    for (const enum part *part = parts_of[q]; *part != NO_MORE; part++)
        sum += from->part[*part];
    return sum;
}

/* Makes a row. Returns false for a row without a comparison. */
static bool make_row(struct exp_recorded_row *row, const struct count_row *from, const struct exp_table *t)
{
    int place = find_place(from->where);
    uint64_t bytes = from->buffer_bytes ? from->buffer_bytes : buffer_bytes[place < 0 ? 0 : place];

    *row = (struct exp_recorded_row){ .p1 = (long)from->p1,
                                      .p2 = (long)from->p2,
                                      .place = (enum exp_recorded_place)(place < 0 ? 0 : place),
                                      .page_bytes = find_page(from->pages),
                                      .accesses = from->loads + from->stores };
    exp_say(row->name, sizeof row->name, "%s", from->pattern);
    exp_say(row->pages, sizeof row->pages, "%s", from->pages);
    row->is_chased = cut_suffix(row->name, EXP_RECORDED_CHASED);
    for (size_t q = 0; q < EXP_N_RECORDED; q++)
        row->counted[q] = lines_of(from, t, q) / row->accesses;
    return place >= 0 && row->page_bytes && !exp_pattern_find(&row->pattern, row->name, row->p1, row->p2, bytes);
}

static int make_rows(struct exp_recorded *r, const struct rec_rows *rows, struct exp_why *why)
{
    const struct count_row *from = rows->row;

    for (size_t i = 0; i < rows->n; i++) {
        r->n += make_row(&r->row[r->n], &from[i], &rows->table);
        if (r->n && !(r->row[r->n - 1].accesses > 0))
            return exp_fail(why, -EINVAL, "%s:%u: a pattern without accesses, '%s'", rows->table.path,
                            rows->table.line[i], r->row[r->n - 1].name);
    }
    return r->n ? 0 : exp_fail(why, -EINVAL, "%s: no pattern in it that is known", rows->table.path);
}

int exp_recorded_read(struct exp_recorded *r, const char *path, struct exp_why *why)
{
    static const size_t needed[] = { offsetof(ROW, pattern), offsetof(ROW, p1),    offsetof(ROW, p2),
                                     offsetof(ROW, where),   offsetof(ROW, pages), offsetof(ROW, loads),
                                     offsetof(ROW, stores) };
    struct rec_rows rows;
    int err = rec_read_some(&rows, &all_columns, path, needed, sizeof needed / sizeof needed[0], why);

    *r = (struct exp_recorded){ 0 };
    if (err)
        return err;
    r->row = exp_new(rows.n + 1, sizeof *r->row);
    err = check_columns(&rows.table, why);
    if (!err)
        err = make_rows(r, &rows, why);
    rec_release(&rows);
    if (err)
        exp_recorded_release(r);
    return err;
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

/* Reads n lines, `step` bytes apart, in an order unknown to prefetchers. */
static void read_all(struct sim_hierarchy *h, uint64_t addr, uint64_t n, uint64_t step)
{
    for (uint64_t i = 0; i < n; i++)
        load(h, addr + i * 0x9E3779B1u % n * step, PLACE);
}

/* Loads n lines, `step` bytes apart, and evicts the lines from level k. */
static void place_at(struct sim_hierarchy *h, const struct sim_machine *m, size_t k, uint64_t n, uint64_t step)
{
    read_all(h, buffer_addr, n, step);
    read_all(h, other_addr, sim_level_bytes(&m->level[k]) / EXP_PATTERN_LINE, EXP_PATTERN_LINE);
}

/* Brings the buffer to L2; for a buffer in L3 only the pages into the TLBs; a buffer in memory has been flushed. */
static void place(struct sim_hierarchy *h, const struct exp_recorded_row *row, const struct sim_machine *m)
{
    uint64_t bytes = row->pattern.buffer_bytes;

    if (row->place == EXP_RECORDED_L2)
        place_at(h, m, 0, bytes / EXP_PATTERN_LINE, EXP_PATTERN_LINE);
    else if (row->place == EXP_RECORDED_L3)
        place_at(h, m, 1, bytes / EXP_PATTERN_PAGE, EXP_PATTERN_PAGE);
}

/* Reads the list of offsets, as before a walk, with the part that the replay leaves out. */
static void read_list(struct sim_hierarchy *h, const struct exp_recorded_row *row)
{
    for (uint64_t i = 0; i < (uint64_t)row->accesses; i += EXP_PATTERN_LINE / 4)
        load(h, list_addr + 4 * i, LIST);
}

/* Walks the pattern; counts from access n_before on. */
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

static void replay(struct exp_comparison *c, const struct exp_recorded_row *row, struct sim_hierarchy *h,
                   const struct sim_machine *m, size_t max)
{
    size_t cut = row->place == EXP_RECORDED_MIXED ? PANEL_SHARE * max : max;
    size_t asked = row->accesses < (double)cut ? (size_t)row->accesses : cut, n, n_before;
    uint64_t *offset = exp_pattern_offsets(&row->pattern, asked, &n);

    sim_hierarchy_clear(h);
    place(h, row, m);
    read_list(h, row);
    n_before = row->place == EXP_RECORDED_MIXED ? n / 2 : 0;
    walk(h, offset, n, n_before);
    take(c, sim_hierarchy_stats(h), n - n_before);
    free(offset);
}

/* Tells whether a row is evidence for a quantity: lines in L2 need not come in. */
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
 * The machine of a row: L3 and memory are both beyond L2; dependent loads wait for every prefetch. Large pages keep
 * their part of the memory together, and need a level less of page tables; the host of a virtual machine still has
 * small pages.
 */
static struct sim_machine machine_of(const struct sim_machine *m, uint64_t page_bytes, bool is_chased)
{
    struct sim_machine of = sim_machine_first_levels(m, N_LEVELS);

    of.frame_bytes = page_bytes > sim_machine_page_bytes(m) ? page_bytes : sim_machine_page_bytes(m);
    of.page_tables -= page_bytes > sim_machine_page_bytes(m) && of.page_tables;
    for (size_t k = 0; k < of.n_levels; k++) {
        for (size_t i = 0; is_chased && i < SIM_MAX_PREFETCHERS; i++)
            of.level[k].prefetch[i].late = 0;
    }
    return of;
}

enum { N_KINDS = 4 }; /* of machine_of(), for the rows */

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
        replay(&all->c[i], row, *h, &m, all->max_accesses);
    judge(&all->c[i], row);
    return err;
}

int exp_compare(struct exp_comparison *c, const struct exp_recorded *r, const struct sim_machine *m,
                size_t max_accesses, size_t n_threads)
{
    struct rows rows = { c, r, m, max_accesses, exp_new(n_threads, sizeof *rows.h) };
    int err = exp_pool_run(r->n, n_threads, compare_row, &rows, NULL, NULL);

    assert(c && r && m);
    for (size_t i = 0; i < n_threads * N_KINDS; i++)
        sim_hierarchy_free(rows.h[i / N_KINDS][i % N_KINDS]);
    free(rows.h);
    return err;
}

struct exp_spread exp_comparison_errors(const struct exp_comparison_choice *of)
{
    double *error = exp_new(of->r->n + 1, sizeof *error);
    struct exp_spread spread;
    size_t n = 0;

    for (size_t i = 0; i < of->r->n; i++) {
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

    assert(quantities);
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
