#include "experiments/page/exp_page_traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"

enum { MOST_LEVELS = SIM_MAX_LEVELS + 1, KEYS = 3, COLUMN_BYTES = 48 };

static const char *const keys[KEYS] = { "algo", "phase", "tensor" };

/* What is said of each level: the sum of one or two columns. */
static const struct quantity {
    const char *title, *column, *plus;
    bool first_only;  /* of the innermost level */
    bool memory_only; /* of what is behind all levels */
} quantities[] = {
    { "loads and stores", "reads", "writes", true, false },
    { "missed", "read_misses", "write_misses", false, false },
    { "compulsory", "compulsory_misses", NULL, false, false },
    { "capacity", "capacity_misses", NULL, false, false },
    { "conflict", "conflict_misses", NULL, false, false },
    { "fetched", "reads", NULL, false, true },
    { "written", "writes", NULL, false, true },
};

enum { N_QUANTITIES = sizeof quantities / sizeof quantities[0], MOST_COLUMNS = KEYS + MOST_LEVELS * N_QUANTITIES };

struct pivot {
    const struct exp_page_csv *csv;
    size_t first, n; /* the layer's rows */
    const char *level[MOST_LEVELS];
    size_t n_levels;
    struct exp_page_column column[MOST_COLUMNS];
    char title[MOST_COLUMNS][COLUMN_BYTES];
    char value[MOST_COLUMNS][COLUMN_BYTES];
    size_t n_columns;
};

static const char *cell(const struct pivot *p, size_t row, const char *column)
{
    return exp_page_csv_cell(p->csv, row, column);
}

static void find_levels(struct pivot *p)
{
    for (size_t i = p->first; i < p->first + p->n; i++) {
        const char *level = cell(p, i, "level");
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
    for (size_t k = 0; k < KEYS; k++)
        add_column(p, "", k ? keys[k] : "algorithm", false);
    for (size_t l = 0; l < p->n_levels; l++) {
        for (size_t q = 0; q < N_QUANTITIES; q++) {
            if (is_said(p, l, &quantities[q]))
                add_column(p, p->level[l], quantities[q].title, true);
        }
    }
}

static bool is_like(const struct pivot *p, size_t a, size_t b)
{
    for (size_t k = 0; k < KEYS; k++) {
        if (strcmp(cell(p, a, keys[k]), cell(p, b, keys[k])) != 0)
            return false;
    }
    return true;
}

/* Finds the row of a level that has the keys of another row. */
static size_t find_row(const struct pivot *p, size_t like, const char *level)
{
    size_t i = p->first;

    while (i < p->first + p->n && (!is_like(p, i, like) || strcmp(cell(p, i, "level"), level) != 0))
        i++;
    return i < p->first + p->n ? i : p->csv->table.n_rows;
}

/* Zeros stay empty: what is there is to be seen. */
static void put_sum(const struct pivot *p, size_t row, const struct quantity *q, char *text)
{
    double sum = exp_page_csv_number(p->csv, row, q->column),
           more = q->plus ? exp_page_csv_number(p->csv, row, q->plus) : 0;

    *text = '\0';
    sum += isnan(more) ? 0 : more;
    if (sum > 0)
        exp_page_print_number(text, COLUMN_BYTES, sum, EXP_PAGE_WHOLE);
}

static void write_row(struct exp_page_writer *w, struct pivot *p, size_t row)
{
    struct exp_page_cell cells[MOST_COLUMNS];
    size_t n = 0;

    for (size_t k = 0; k < KEYS; k++) {
        const char *text = cell(p, row, keys[k]);

        cells[n++] = (struct exp_page_cell){ k ? text : exp_page_algo_title(text), NULL };
    }
    for (size_t l = 0; l < p->n_levels; l++) {
        size_t at = find_row(p, row, p->level[l]);

        for (size_t q = 0; q < N_QUANTITIES; q++) {
            if (!is_said(p, l, &quantities[q]))
                continue;
            put_sum(p, at, &quantities[q], p->value[n]);
            cells[n] = (struct exp_page_cell){ p->value[n], NULL };
            n++;
        }
    }
    exp_page_row(w, cells, n);
}

/* Tells whether a row is the first one of its keys. */
static bool is_first(const struct pivot *p, size_t row)
{
    for (size_t i = p->first; i < row; i++) {
        if (is_like(p, i, row))
            return false;
    }
    return true;
}

void exp_page_traffic_write(struct exp_page_writer *w, const struct exp_page_run *r, size_t layer)
{
    struct pivot *p = calloc(1, sizeof *p);

    if (!p) {
        exp_page_lacks(w);
        return;
    }
    p->csv = &r->traffic;
    p->n = exp_page_rows_of_layer(&r->traffic, r->layer[layer].index, &p->first);
    find_levels(p);
    make_columns(p);
    if (p->n) {
        exp_page_table_begin(
            w, &(struct exp_page_table){ "Lines of each tensor at each level, simulated, and why they missed",
                                         p->column, p->n_columns, true });
        for (size_t i = p->first; i < p->first + p->n; i++) {
            if (is_first(p, i))
                write_row(w, p, i);
        }
        exp_page_table_end(w);
    }
    free(p);
}
