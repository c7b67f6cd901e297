#include "experiments/bench/case/algo.h"
#include "experiments/show/page_run.h"
#include "experiments/show/page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

/* Cuts a table's text off behind the leading comment lines. */
static void keep_head(char *text)
{
    while (*text == '#')
        text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
    *text = '\0';
}

int exp_page_csv_read(struct exp_page_csv *csv, const char *folder, const char *file, struct exp_why *why)
{
    char *path = exp_format("%s/%s", folder, file);
    int err;

    *csv = (struct exp_page_csv){ .head = exp_text_of(folder, file) };
    keep_head(csv->head);
    err = exp_table_read(&csv->table, path, why);
    free(path);
    if (!err || err == -ENOENT)
        return 0;
    exp_page_csv_release(csv);
    return err;
}

int exp_page_csv_read_rows(struct exp_page_csv *csv, const char *folder, const struct rec_table *t, struct exp_why *why)
{
    int err = exp_page_csv_read(csv, folder, t->file.name, why);

    if (!err)
        err = rec_rows_of(&csv->row, t, &csv->table, why);
    if (err)
        exp_page_csv_release(csv);
    return err;
}

void exp_page_csv_release(struct exp_page_csv *csv)
{
    exp_table_release(&csv->table);
    free(csv->row);
    free(csv->head);
    *csv = (struct exp_page_csv){ 0 };
}

static bool find(const struct exp_page_csv *csv, const char *column, size_t *at)
{
    return csv->table.n_rows && !exp_table_column(&csv->table, column, at, NULL);
}

const char *exp_page_csv_cell(const struct exp_page_csv *csv, size_t row, const char *column)
{
    size_t at;

    return row < csv->table.n_rows && find(csv, column, &at) ? exp_table_string(&csv->table, row, at) : "";
}

static double number_of(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    return end == text || *end || !isfinite(value) ? (double)NAN : value;
}

bool exp_page_csv_has(const struct exp_page_csv *csv, const char *column)
{
    size_t at;

    return find(csv, column, &at);
}

double exp_page_csv_number(const struct exp_page_csv *csv, size_t row, const char *column)
{
    return number_of(exp_page_csv_cell(csv, row, column));
}

void exp_page_csv_said(const struct exp_page_csv *csv, const char *key, char *text, size_t bytes)
{
    char *line = exp_format("# %s: ", key);
    const char *said = exp_text_after(csv->head, line);

    exp_say(text, bytes, "%.*s", said ? (int)strcspn(said, "\n") : 0, said ? said : "");
    free(line);
}

/* Copies a column's unit and meaning. */
static void describe(const struct exp_page_csv *csv, const char *column, char *unit, size_t unit_bytes, char *meaning,
                     size_t meaning_bytes)
{
    char *line = exp_format("# column %s", column);
    const char *said = exp_text_after(csv->head, line), *colon = said ? strstr(said, ": ") : NULL;
    const char *end = said ? said + strcspn(said, "\n") : NULL;

    free(line);
    *unit = *meaning = '\0';
    if (!colon || colon >= end || (*said != ' ' && *said != ':'))
        return;
    if (!strncmp(said, " [", 2) && colon[-1] == ']')
        exp_say(unit, unit_bytes, "%.*s", (int)(colon - said - 3), said + 2);
    exp_say(meaning, meaning_bytes, "%.*s", (int)(end - colon - 2), colon + 2);
}

/* ---- numbers for people ---- */

#define NARROW_BLANK "\xe2\x80\xaf"

/* Writes digits in groups of three. */
static void group(char *text, size_t bytes, const char *digits)
{
    size_t n = strspn(digits + (*digits == '-'), "0123456789");

    *text = '\0';
    if (*digits == '-')
        exp_say_more(text, bytes, "%s", "\xe2\x88\x92");
    digits += *digits == '-';
    for (size_t i = 0; i < n; i++)
        exp_say_more(text, bytes, "%s%c", i && n > 4 && (n - i) % 3 == 0 ? NARROW_BLANK : "", digits[i]);
    exp_say_more(text, bytes, "%s", digits + n);
}

void exp_page_print_number(char *text, size_t bytes, double value, enum exp_page_format format)
{
    double size = fabs(value);
    int after = format == EXP_PAGE_WHOLE ? 0 : size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 || size <= 0 ? 2 : 3;
    char digits[64];

    *text = '\0';
    if (!isfinite(value))
        return;
    if (format != EXP_PAGE_WHOLE && size > 0 && size < 0.0005)
        snprintf(digits, sizeof digits, "%.1e", value);
    else
        snprintf(digits, sizeof digits, "%.*f", size > 1e15 ? 0 : after, value);
    group(text, bytes, digits);
}

void exp_page_print_bytes(char *text, size_t bytes, double value)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
    size_t u = 0;
    char number[64];

    while (value >= 1024 && u + 1 < sizeof units / sizeof units[0]) {
        value /= 1024;
        u++;
    }
    exp_page_print_number(number, sizeof number, value, u ? EXP_PAGE_DECIMAL : EXP_PAGE_WHOLE);
    exp_say(text, bytes, "%s %s", number, units[u]);
}

/* ---- extracts ---- */

static const char *column_of(const struct exp_page_field *f)
{
    return f->column ? f->column : measure_at(f->measure)->name;
}

/* Returns the file's row number of row i of the extract. */
static size_t row_of(const struct exp_page_extract *x, size_t i)
{
    return x->row ? x->row[i] : i;
}

static const char missing[] = "not available: ";

static bool is_missing(const char *cell)
{
    return !strncmp(cell, missing, strlen(missing));
}

/*
 * Tells whether any row has a value. *reason: why the first row without a value has none; NULL: no row lacks a value.
 */
static bool has_values(const struct exp_page_extract *x, const struct exp_page_field *f, const char **reason)
{
    bool any = false;

    *reason = NULL;
    for (size_t i = 0; i < x->n_rows; i++) {
        const char *cell = exp_page_csv_cell(x->csv, row_of(x, i), column_of(f));

        if (is_missing(cell) && !*reason)
            *reason = cell + strlen(missing);
        any |= *cell && !is_missing(cell);
    }
    return any;
}

/* Writes a title with the names of levels in it. Returns whether the machine has them. */
static bool put_title(char *text, size_t bytes, const struct exp_page_extract *x, const char *title)
{
    *text = '\0';
    for (; *title; title++) {
        size_t level = title[0] == '@' ? (size_t)(title[1] - '1') : EXP_PAGE_LEVELS;

        if (level >= EXP_PAGE_LEVELS) {
            exp_say_more(text, bytes, "%c", *title);
            continue;
        }
        if (!x->level[level])
            return false;
        exp_say_more(text, bytes, "%s", x->level[level]);
        title++;
    }
    return true;
}

struct prepared {
    struct exp_page_column column[EXP_PAGE_FIELDS];
    const struct exp_page_field *field[EXP_PAGE_FIELDS];
    char title[EXP_PAGE_FIELDS][80], unit[EXP_PAGE_FIELDS][40], meaning[EXP_PAGE_FIELDS][320];
    size_t n, n_reasons;
    struct {
        const char *text;
        char
            columns[512]; /* titles left out with this reason; "": some rows of the shown columns do not have a value */
    } reason[EXP_PAGE_FIELDS];
};

/* Notes why a column is left out. An empty title: why a row of a shown column has no value. */
static void note_reason(struct prepared *p, const char *reason, const char *title)
{
    size_t i = 0;

    while (i < p->n_reasons && (strcmp(p->reason[i].text, reason) != 0 || !*p->reason[i].columns != !*title))
        i++;
    if (i == EXP_PAGE_FIELDS)
        return;
    if (i == p->n_reasons)
        p->reason[p->n_reasons++].text = reason;
    exp_say_more(p->reason[i].columns, sizeof p->reason[i].columns, "%s%s", *p->reason[i].columns ? "; " : "", title);
}

static void prepare(struct prepared *p, const struct exp_page_extract *x)
{
    for (size_t i = 0; i < x->n_fields && p->n < EXP_PAGE_FIELDS; i++) {
        const struct exp_page_field *f = &x->field[i];
        char *title = p->title[p->n], *unit = p->unit[p->n], *meaning = p->meaning[p->n];
        const char *reason;
        bool has;

        if (!put_title(title, sizeof p->title[0], x, f->title ? f->title : column_of(f)))
            continue;
        has = has_values(x, f, &reason);
        if (reason)
            note_reason(p, reason, has ? "" : title);
        if (!has)
            continue;
        describe(x->csv, column_of(f), unit, sizeof p->unit[0], meaning, sizeof p->meaning[0]);
        p->column[p->n] =
            (struct exp_page_column){ title, f->unit ? f->unit : unit, *meaning && !x->is_brief ? meaning : NULL,
                                      f->format != EXP_PAGE_TEXT };
        p->field[p->n++] = f;
    }
}

static void put_cell(char *text, size_t bytes, const struct exp_page_field *f, const char *cell)
{
    double value = f->format == EXP_PAGE_TEXT ? (double)NAN : number_of(cell);

    if (is_missing(cell))
        exp_say(text, bytes, "\xe2\x80\x93");
    else if (f->format == EXP_PAGE_TEXT || isnan(value))
        exp_say(text, bytes, "%s", f->say ? f->say(cell) : cell);
    else
        exp_page_print_number(text, bytes, value * (f->scale > 0 ? f->scale : 1), f->format);
}

static void write_rows(struct exp_page_writer *w, const struct exp_page_extract *x, const struct prepared *p)
{
    enum { CELL_BYTES = 320 };
    char text[EXP_PAGE_FIELDS][CELL_BYTES];
    struct exp_page_cell cell[EXP_PAGE_FIELDS];

    for (size_t r = 0; r < x->n_rows; r++) {
        for (size_t i = 0; i < p->n; i++) {
            put_cell(text[i], CELL_BYTES, p->field[i], exp_page_csv_cell(x->csv, row_of(x, r), column_of(p->field[i])));
            cell[i] = (struct exp_page_cell){ text[i], NULL };
            if (p->field[i]->is_link && x->target)
                cell[i].target = x->target(x->ctx, row_of(x, r));
        }
        exp_page_row(w, cell, p->n);
    }
}

void exp_page_extract_write(struct exp_page_writer *w, const struct exp_page_extract *x)
{
    struct prepared p = { .n = 0 };

    prepare(&p, x);
    if (p.n && x->n_rows) {
        exp_page_table_begin(w, &(struct exp_page_table){ x->caption, p.column, p.n, x->is_long, false });
        write_rows(w, x, &p);
        exp_page_table_end(w);
    }
    for (size_t i = 0; i < p.n_reasons && p.n && !x->is_brief; i++)
        exp_page_say(w, EXP_PAGE_NOTE, "%s \xe2\x80\x93 not available: %s",
                     *p.reason[i].columns ? p.reason[i].columns : "Rows without a value", p.reason[i].text);
}

/* Returns the first row whose layer has at least this index. */
static size_t first_of(const struct exp_page_csv *csv, const struct rec_table *t, size_t index)
{
    size_t low = 0, high = csv->table.n_rows;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (*(const size_t *)(const void *)((const char *)csv->row + middle * t->row_bytes) < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t exp_page_rows_of_layer(const struct exp_page_csv *csv, const struct rec_table *t, size_t index, size_t *first)
{
    *first = first_of(csv, t, index);
    return first_of(csv, t, index + 1) - *first;
}

const char *exp_page_algo_title(const char *name)
{
    const struct exp_algo *a = exp_algo_find(name);

    return a ? a->title : name;
}
