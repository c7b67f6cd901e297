#include "experiments/calibrate/exp_recorded.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_table.h"

#define MISSING "not available" /* exp_csv_missing */

enum { MAX_TERMS = 4 };

const char *const exp_recorded_names[EXP_N_RECORDED] = { "lines into L1", "lines into L1 by demand", "lines into L2" };
const char *const exp_recorded_quantities[EXP_N_RECORDED] = { "l1_lines_in", "l1_lines_in_by_demand", "l2_lines_in" };
const char *const exp_recorded_places[] = { "L2", "L3", "MEM", "cycle", "mixed" };

/* How large the buffer was, by place; of the fourth, by the longest distance that its patterns have. */
static const uint64_t buffer_bytes[] = { 256 << 10, 6 << 20, 256 << 20, 64 << 20, 8 << 20 };

static const struct {
    const char *word;
    uint64_t bytes;
} pages[] = { { "4k", 4 << 10 }, { "2m", 2 << 20 } };

/* Which columns add up to what is compared, where a file does not have it in one (exp_recorded_quantities). */
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
