/* Finds which rows of two runs belong together, and what does not. */
#include "experiments/compare/exp_compare_pairs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/shape/problem.h"

const struct exp_layers_row *exp_compare_row(const struct exp_compare_side *s, size_t row)
{
    return (const struct exp_layers_row *)s->layers.row + row;
}

/* ---- notes ---- */

static int note(struct exp_two_runs *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int note(struct exp_two_runs *c, const char *format, ...)
{
    char **more = realloc(c->note, (c->n_notes + 1) * sizeof *more);
    char text[640];
    va_list args;

    if (!more)
        return -ENOMEM;
    c->note = more;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    c->note[c->n_notes] = strdup(text);
    return c->note[c->n_notes] ? (c->n_notes++, 0) : -ENOMEM;
}

/* Notes what the heads of both tables say of how they were made. */
int exp_compare_note_heads(struct exp_two_runs *c)
{
    static const char *const keys[] = { "commit", "simulated machine", "caches at the start of a layer", "filters",
                                        "OpenBLAS that ran" };
    int err = 0;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && !err; i++) {
        char a[240], b[240];

        exp_page_csv_said(&c->a.layers, keys[i], a, sizeof a);
        exp_page_csv_said(&c->b.layers, keys[i], b, sizeof b);
        if (strcmp(a, b) != 0)
            err = note(c, "%s differs: A has %s, B has %s", keys[i], *a ? a : "none", *b ? b : "none");
    }
    return err;
}

/* Other versions of the program write other columns. */
int exp_compare_note_columns(struct exp_two_runs *c)
{
    int err = 0;

    for (size_t i = 0; i < exp_compare_n_metrics() && !err; i++) {
        const struct rec_field *f = exp_compare_field(exp_compare_metric_at(i));
        bool in_a = rec_has(&c->a.layers.table, f), in_b = rec_has(&c->b.layers.table, f);

        if (!in_a || !in_b)
            err = note(c, "%s is not compared: %s has no column %s, another version made it",
                       exp_compare_metric_at(i)->name,
                       in_a   ? "B"
                       : in_b ? "A"
                              : "neither",
                       f->column.name);
    }
    return err;
}

/* ---- pairs ---- */

static bool is_alike(const struct exp_compare_side *s, size_t row, const struct exp_compare_side *other, size_t of)
{
    const struct exp_layers_row *x = exp_compare_row(s, row), *y = exp_compare_row(other, of);

    return !strcmp(x->layer, y->layer) && !strcmp(x->algo, y->algo);
}

/* Counts the rows before one that have its layer's name and its algorithm. */
static size_t count_before(const struct exp_compare_side *s, size_t row)
{
    size_t n = 0;

    for (size_t i = 0; i < row; i++)
        n += is_alike(s, i, s, row);
    return n;
}

/* Finds a row's partner: the same name and algorithm, for the same time. Returns the number of rows if there is none. */
static size_t find_partner(const struct exp_compare_side *s, size_t row, const struct exp_compare_side *other)
{
    size_t before = count_before(s, row), i = 0;

    for (; i < other->layers.table.n_rows; i++) {
        if (is_alike(other, i, s, row) && !before--)
            break;
    }
    return i;
}

static bool is_same_shape(const struct exp_two_runs *c, const struct exp_compare_pair *p)
{
    return conv_problem_equal(&exp_compare_row(&c->a, p->a)->problem, &exp_compare_row(&c->b, p->b)->problem);
}

static int note_alone(struct exp_two_runs *c, const struct exp_compare_side *s, const struct exp_compare_side *other,
                      const char *name)
{
    size_t n = 0, first = 0;

    for (size_t i = 0; i < s->layers.table.n_rows; i++) {
        if (find_partner(s, i, other) < other->layers.table.n_rows)
            continue;
        first = n++ ? first : i;
    }
    return n ? note(c, "%zu row%s only in %s: the first is %s with %s", n, n == 1 ? " is" : "s are", name,
                    exp_compare_row(s, first)->layer, exp_compare_row(s, first)->algo)
             : 0;
}

/* Finds all pairs of equal shape; from malloc. */
int exp_compare_find_pairs(struct exp_two_runs *c, struct exp_compare_pair **pairs)
{
    size_t n_others = 0, first = 0;
    int err;

    *pairs = calloc(c->a.layers.table.n_rows + 1, sizeof **pairs);
    if (!*pairs)
        return -ENOMEM;
    for (size_t i = 0; i < c->a.layers.table.n_rows; i++) {
        struct exp_compare_pair p = { i, find_partner(&c->a, i, &c->b) };

        if (p.b == c->b.layers.table.n_rows)
            continue;
        if (is_same_shape(c, &p))
            (*pairs)[c->n_pairs++] = p;
        else
            first = n_others++ ? first : i;
    }
    err = n_others ? note(c, "%zu row%s of other shapes in A and B and not compared: the first is %s", n_others,
                          n_others == 1 ? " is" : "s are", exp_compare_row(&c->a, first)->layer)
                   : 0;
    err = err ? err : note_alone(c, &c->a, &c->b, "A");
    return err ? err : note_alone(c, &c->b, &c->a, "B");
}
