#include "experiments/page/exp_page_traffic.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/report/exp_report.h"

#define AT(count) offsetof(struct sim_level_counts, count)

enum { MOST_LEVELS = SIM_MAX_LEVELS + 1, KEYS = 3, COLUMN_BYTES = 48 };

/* What is said of each level: the sum of one or two counts. */
static const struct quantity {
    const char *title;
    size_t count, plus; /* of struct sim_level_counts; equal: there is one */
    bool first_only;    /* of the innermost level */
    bool memory_only;   /* of what is behind all levels */
} quantities[] = {
    { "loads and stores", AT(reads), AT(writes), true, false },
    { "missed", AT(read_misses), AT(write_misses), false, false },
    { "compulsory", AT(compulsory_misses), AT(compulsory_misses), false, false },
    { "capacity", AT(capacity_misses), AT(capacity_misses), false, false },
    { "conflict", AT(conflict_misses), AT(conflict_misses), false, false },
    { "fetched", AT(reads), AT(reads), false, true },
    { "written", AT(writes), AT(writes), false, true },
};

enum { N_QUANTITIES = sizeof quantities / sizeof quantities[0], MOST_COLUMNS = KEYS + MOST_LEVELS * N_QUANTITIES };

struct pivot {
    const struct exp_traffic_row *row; /* [n] of the layer */
    size_t n;
    const char *level[MOST_LEVELS];
    size_t n_levels;
    struct exp_page_column column[MOST_COLUMNS];
    char title[MOST_COLUMNS][COLUMN_BYTES];
    char value[MOST_COLUMNS][COLUMN_BYTES];
    size_t n_columns;
};

static const char *key_of(const struct exp_traffic_row *row, size_t key)
{
    const char *const keys[KEYS] = { row->algo, row->phase, row->tensor };

    return keys[key];
}

static void find_levels(struct pivot *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const char *level = p->row[i].level;
        size_t k = 0;

        while (k < p->n_levels && strcmp(p->level[k], level) != 0)
            k++;
        if (k == p->n_levels && k < MOST_LEVELS)
            p->level[p->n_levels++] = level;
    }
}

static bool is_said(const struct pivot *p, size_t level, const struct quantity *q)
{
    const bool is_memory = !strcmp(p->level[level], "memory");

    return q->memory_only == is_memory && (!q->first_only || !level);
}

static void add_column(struct pivot *p, const char *level, const char *title, bool is_number)
{
    exp_say(p->title[p->n_columns], COLUMN_BYTES, "%s%s%s", level, *level ? " " : "", title);
    p->column[p->n_columns] = (struct exp_page_column){ p->title[p->n_columns], "", NULL, is_number };
    p->n_columns++;
}

static void make_columns(struct pivot *p)
{
    static const char *const titles[KEYS] = { "algorithm", "phase", "tensor" };

    for (size_t k = 0; k < KEYS; k++)
        add_column(p, "", titles[k], false);
    for (size_t l = 0; l < p->n_levels; l++) {
        for (size_t q = 0; q < N_QUANTITIES; q++) {
            if (is_said(p, l, &quantities[q]))
                add_column(p, p->level[l], quantities[q].title, true);
        }
    }
}

static bool is_like(const struct exp_traffic_row *a, const struct exp_traffic_row *b)
{
    for (size_t k = 0; k < KEYS; k++) {
        if (strcmp(key_of(a, k), key_of(b, k)) != 0)
            return false;
    }
    return true;
}

/* Finds the row of a level that has the keys of another row; NULL: there is none. */
static const struct exp_traffic_row *find_row(const struct pivot *p, const struct exp_traffic_row *like,
                                              const char *level)
{
    for (size_t i = 0; i < p->n; i++) {
        if (is_like(&p->row[i], like) && !strcmp(p->row[i].level, level))
            return &p->row[i];
    }
    return NULL;
}

static double count_at(const struct exp_traffic_row *row, size_t offset)
{
    return (double)*(const uint64_t *)(const void *)((const char *)&row->count + offset);
}

/* Zeros stay empty: what is there is to be seen. */
static void put_sum(const struct exp_traffic_row *row, const struct quantity *q, char *text)
{
    const double more = row && q->plus != q->count ? count_at(row, q->plus) : 0;
    const double sum = row ? count_at(row, q->count) + more : 0;

    *text = '\0';
    if (sum > 0)
        exp_page_print_number(text, COLUMN_BYTES, sum, EXP_PAGE_WHOLE);
}

static void write_row(struct exp_page_writer *w, struct pivot *p, const struct exp_traffic_row *row)
{
    struct exp_page_cell cells[MOST_COLUMNS];
    size_t n = 0;

    for (size_t k = 0; k < KEYS; k++) {
        const char *text = key_of(row, k);

        cells[n++] = (struct exp_page_cell){ k ? text : exp_page_algo_title(text), NULL };
    }
    for (size_t l = 0; l < p->n_levels; l++) {
        const struct exp_traffic_row *at = find_row(p, row, p->level[l]);

        for (size_t q = 0; q < N_QUANTITIES; q++) {
            if (!is_said(p, l, &quantities[q]))
                continue;
            put_sum(at, &quantities[q], p->value[n]);
            cells[n] = (struct exp_page_cell){ p->value[n], NULL };
            n++;
        }
    }
    exp_page_row(w, cells, n);
}

/* Tells whether a row is the first one of its keys. */
static bool is_first(const struct pivot *p, size_t row)
{
    for (size_t i = 0; i < row; i++) {
        if (is_like(&p->row[i], &p->row[row]))
            return false;
    }
    return true;
}

void exp_page_traffic_write(struct exp_page_writer *w, const struct exp_page_run *r, size_t layer)
{
    struct pivot *p = calloc(1, sizeof *p);
    size_t first;

    if (!p) {
        exp_page_lacks(w);
        return;
    }
    p->n = exp_page_rows_of_layer(&r->traffic, &exp_traffic_table, r->layer[layer].index, &first);
    p->row = (const struct exp_traffic_row *)r->traffic.row + first;
    find_levels(p);
    make_columns(p);
    if (p->n) {
        exp_page_table_begin(
            w, &(struct exp_page_table){ "Lines of each tensor at each level, simulated, and why they missed",
                                         p->column, p->n_columns, true });
        for (size_t i = 0; i < p->n; i++) {
            if (is_first(p, i))
                write_row(w, p, &p->row[i]);
        }
        exp_page_table_end(w);
    }
    free(p);
}
