/* Columns of layers.csv by name, as a table on the terminal. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/show/layers.h"

#define TABLE (&exp_layers_table)

/* Calls back with the index of each named column. Returns 0, or what the first call that fails returns. */
static int each_column(const char *list, int (*call)(void *ctx, const char *name, size_t length), void *ctx)
{
    int err = 0;

    while (*list && !err) {
        const size_t length = strcspn(list, ",");

        err = call(ctx, list, length);
        list += length + (list[length] == ',');
    }
    return err;
}

/* Returns the index of a column; n_columns for an unknown name. */
static size_t find(const char *name, size_t length)
{
    size_t i = 0;

    while (i < TABLE->file.n_columns && (strncmp(rec_field_at(TABLE, i)->column.name, name, length) != 0 ||
                                         rec_field_at(TABLE, i)->column.name[length]))
        i++;
    return i;
}

static int check_name(void *why, const char *name, size_t length)
{
    const size_t n = TABLE->file.n_columns;
    const char **known;
    char *word;

    if (find(name, length) < n)
        return 0;
    known = exp_new(n, sizeof *known);
    word = exp_format("%.*s", (int)length, name);
    for (size_t i = 0; i < n; i++)
        known[i] = rec_field_at(TABLE, i)->column.name;
    exp_fail(why, -EINVAL, "COLUMNS: layers.csv has no column '%s'", word);
    exp_say_meant(why, word, known, n);
    exp_say_more(((struct exp_why *)why)->text, sizeof((struct exp_why *)why)->text,
                 " results/columns.md lists the columns");
    free(word);
    free(known);
    return -EINVAL;
}

int exp_columns_check(const char *list, struct exp_why *why)
{
    return each_column(list, check_name, why);
}

/* ---- printing ---- */

struct printing {
    struct exp_layers_row *row;
    size_t n;
    FILE *out;
    size_t line; /* 0: names; else row line - 1 */
};

static void print_cell(const struct rec_field *f, const struct exp_layers_row *row, char *text, size_t bytes)
{
    const double number = rec_number(f, row);

    if (f->type == REC_TEXT || f->type == REC_CHARS)
        exp_say(text, bytes, "%s", rec_text(f, row));
    else if (isnan(number))
        exp_say(text, bytes, "-");
    else
        exp_say(text, bytes, "%.7g", number);
}

/* Prints a line's cell, as wide as the widest of the column. */
static int put_cell(void *ctx, const char *name, size_t length)
{
    struct printing *p = ctx;
    const struct rec_field *f = rec_field_at(TABLE, find(name, length));
    const bool is_text = f->type == REC_TEXT || f->type == REC_CHARS;
    int width = (int)length;
    char text[256];

    for (size_t i = 0; i < p->n; i++) {
        print_cell(f, &p->row[i], text, sizeof text);
        width = (int)strlen(text) > width ? (int)strlen(text) : width;
    }
    if (p->line)
        print_cell(f, &p->row[p->line - 1], text, sizeof text);
    else
        exp_say(text, sizeof text, "%.*s", (int)length, name);
    fprintf(p->out, is_text ? "%-*s  " : "%*s  ", width, text);
    return 0;
}

void exp_columns_print(const char *list, const struct exp_report *r, FILE *out)
{
    struct printing p = { .row = exp_new(r->e->n_cases, sizeof *p.row), .n = r->e->n_cases, .out = out };

    for (size_t i = 0; i < p.n; i++)
        exp_layers_fill(&p.row[i], r, &r->e->cases[i]);
    for (p.line = 0; *list && p.line <= p.n; p.line++) {
        each_column(list, put_cell, &p);
        fputc('\n', out);
    }
    free(p.row);
}
