/* Reading CSV files: fields, rows, and the reasons of why_missing. */
#include "experiments/base/csv.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"

/* Fields are unquoted in place: `out` never overtakes `in`. */
struct parser {
    struct exp_table *t;
    char *in, *end;
    unsigned line;
    char **field; /* fields of all records so far, header included */
    size_t n_fields;
    struct exp_why *why;
};

static int fail(const struct parser *p, unsigned line, const char *what, const char *value)
{
    return exp_fail(p->why, -EINVAL, "%s:%u: %s, '%.60s'", p->t->path, line, what, value);
}

static bool at_line_end(const struct parser *p)
{
    return p->in == p->end || *p->in == '\n' || *p->in == '\r';
}

static void skip_blanks(struct parser *p)
{
    for (size_t blank = 1; p->in < p->end && blank;) {
        blank = exp_text_blank(p->in);
        p->in += blank;
    }
}

/* A line ends in LF, CR LF or CR. */
static void next_line(struct parser *p)
{
    while (!at_line_end(p))
        p->in++;
    if (p->in < p->end)
        p->in += *p->in == '\r' && p->in[1] == '\n' ? 2 : 1;
    p->line++;
}

/* Skips comments and empty lines. Returns whether a record follows. */
static bool find_record(struct parser *p)
{
    while (p->in < p->end) {
        char *start = p->in;

        skip_blanks(p);
        if (!at_line_end(p) && *p->in != '#') {
            p->in = start;
            return true;
        }
        next_line(p);
    }
    return false;
}

/* Unquotes the field at p->in, which stands on its opening quote. *text_end: where the unquoted text ends. */
static int read_quoted(struct parser *p, char **text_end)
{
    unsigned opened = p->line;
    char *out = ++p->in, *start = out;

    for (; p->in < p->end; p->in++) {
        if (*p->in == '"') {
            if (p->in + 1 == p->end || p->in[1] != '"')
                break;
            p->in++;
        }
        p->line += *p->in == '\n';
        *out++ = *p->in;
    }
    *text_end = out;
    if (p->in == p->end) {
        *out = '\0';
        return fail(p, opened, "a quote is not closed", start);
    }
    p->in++;
    skip_blanks(p);
    if (!at_line_end(p) && *p->in != ',') {
        char text[2] = { *p->in, '\0' };

        return fail(p, p->line, "text after a closing quote", text);
    }
    return 0;
}

static int read_unquoted(struct parser *p, char **text_end)
{
    char *start = p->in;

    for (; !at_line_end(p) && *p->in != ','; p->in++) {
        if (*p->in == '"') {
            *p->in = '\0';
            return fail(p, p->line, "a quote inside an unquoted field, after", start);
        }
    }
    *text_end = start + exp_text_trimmed(start, (size_t)(p->in - start));
    return 0;
}

/* Reads one record's fields and the end of its line. */
static int read_record(struct parser *p)
{
    for (;;) {
        char *start, *text_end = NULL;
        bool is_last;
        int err;

        skip_blanks(p);
        start = p->in;
        if (p->in < p->end && *p->in == '"') {
            err = read_quoted(p, &text_end);
            start++;
        } else {
            err = read_unquoted(p, &text_end);
        }
        if (err)
            return err;
        *(char **)exp_append(&p->field, &p->n_fields, sizeof *p->field) = start;
        is_last = at_line_end(p);
        if (is_last)
            next_line(p); /* before the terminator goes in: it may overwrite the line break */
        else
            p->in++;
        *text_end = '\0';
        if (is_last)
            return 0;
    }
}

static int check_header(const struct parser *p, unsigned line)
{
    for (size_t i = 0; i < p->n_fields; i++) {
        if (!*p->field[i])
            return exp_fail(p->why, -EINVAL, "%s:%u: column %zu has no name, ''", p->t->path, line, i + 1);
        for (size_t j = 0; j < i; j++) {
            if (!strcmp(p->field[i], p->field[j]))
                return fail(p, line, "column named twice", p->field[i]);
        }
    }
    return 0;
}

static int read_header(struct parser *p)
{
    unsigned line;
    int err;

    if (!find_record(p))
        return exp_fail(p->why, -EINVAL, "%s:%u: no header line, the file has no content", p->t->path, p->line);
    line = p->line;
    err = read_record(p);
    if (!err)
        err = check_header(p, line);
    if (err)
        return err;
    p->t->column = p->field;
    p->t->n_columns = p->n_fields;
    p->t->header_line = line;
    p->field = NULL;
    p->n_fields = 0;
    return 0;
}

/* Reports a likely separator character if the table has a single column. Returns whether a character was found. */
static bool say_separator(const struct exp_table *t, struct exp_why *why)
{
    const char *other = t->n_columns == 1 ? strpbrk(t->column[0], ";\t|") : NULL;

    if (other)
        exp_fail(why, -EINVAL, "%s:%u: columns are separated by commas, is '%s' a separator here?", t->path,
                 t->header_line, *other == '\t' ? "tab" : (char[]){ *other, '\0' });
    return other != NULL;
}

static int check_row(const struct parser *p, unsigned line, size_t n)
{
    const struct exp_table *t = p->t;

    if (n < t->n_columns)
        return exp_fail(p->why, -EINVAL, "%s:%u: %s, missing (the row has %zu fields, the header %zu)", t->path, line,
                        t->column[n], n, t->n_columns);
    if (n > t->n_columns)
        return exp_fail(p->why, -EINVAL, "%s:%u: a field too many, '%.60s' (the row has %zu, the header %zu)", t->path,
                        line, p->field[p->n_fields - n + t->n_columns], n, t->n_columns);
    return 0;
}

static int read_rows(struct parser *p)
{
    while (find_record(p)) {
        unsigned line = p->line;
        size_t before = p->n_fields;
        int err = read_record(p);

        if (!err)
            err = check_row(p, line, p->n_fields - before);
        if (err) {
            say_separator(p->t, p->why);
            return err;
        }
        *(unsigned *)exp_append(&p->t->line, &p->t->n_rows, sizeof line) = line;
    }
    return 0;
}

/* ---- the column of reasons ---- */

/* Fills the empty cells that a word names: a column, or the beginning of columns and '*'. */
static void fill_cells(struct exp_table *t, char **field, const char *word, size_t length, char *said)
{
    const bool is_begin = length && word[length - 1] == '*';

    for (size_t i = 0; i < t->n_columns; i++) {
        if (!*field[i] && !strncmp(t->column[i], word, length - is_begin) && (is_begin || !t->column[i][length]))
            field[i] = said;
    }
}

/* Fills the empty cells of a row with the reasons of a text. Returns whether the text is one of reasons. */
static bool fill_row(struct exp_table *t, char **field, const char *text)
{
    while (*text) {
        const char *reason = strstr(text, ": "), *end;
        char *said;

        if (!reason)
            return false;
        end = strstr(reason + 2, EXP_CSV_BETWEEN);
        end = end ? end : reason + strlen(reason);
        said = exp_format(EXP_CSV_MISSING "%.*s", (int)(end - reason - 2), reason + 2);
        *(char **)exp_append(&t->reason, &t->n_reasons, sizeof *t->reason) = said;
        for (const char *word = text; word < reason; word++) {
            size_t length = strcspn(word, "+:");

            fill_cells(t, field, word, length, said);
            word += length;
        }
        text = end + (*end ? strlen(EXP_CSV_BETWEEN) : 0);
    }
    return true;
}

/* Takes the column of reasons off, if the file has one. p->field: the fields of all rows. */
static int take_reasons(struct parser *p)
{
    struct exp_table *t = p->t;
    const size_t n = t->n_columns;

    if (strcmp(t->column[n - 1], EXP_CSV_WHY) != 0 || n == 1)
        return 0;
    t->n_columns--;
    for (size_t row = 0; row < t->n_rows; row++) {
        char **field = p->field + row * t->n_columns, *text = p->field[row * n + n - 1];

        memmove(field, p->field + row * n, t->n_columns * sizeof *field);
        if (!fill_row(t, field, text))
            return fail(p, t->line[row], EXP_CSV_WHY " does not read 'columns: reason'", text);
    }
    return 0;
}

/* Takes over t->path and t->text, which holds text_bytes and a terminating NUL. */
static int parse(struct exp_table *t, size_t text_bytes, struct exp_why *why)
{
    struct parser p = { .t = t, .in = t->text, .line = 1, .why = why };
    int err = exp_text_check(t->text, &text_bytes, t->path, why);

    p.end = t->text + text_bytes;
    if (!err)
        err = read_header(&p);
    if (!err)
        err = read_rows(&p);
    if (!err)
        err = take_reasons(&p);
    if (err)
        free(p.field);
    else
        t->field = p.field;
    return err;
}

int exp_table_read(struct exp_table *t, const char *path, struct exp_why *why)
{
    size_t bytes;
    int err;

    assert(t && path);
    *t = (struct exp_table){ .path = exp_copy_text(path) };
    err = exp_text_read(&t->text, &bytes, path, why);
    if (!err)
        err = parse(t, bytes, why);
    if (err)
        exp_table_release(t);
    return err;
}

int exp_table_parse(struct exp_table *t, const char *path, const char *text, size_t text_bytes, struct exp_why *why)
{
    int err;

    assert(text || !text_bytes);
    *t = (struct exp_table){ .path = exp_copy_text(path), .text = exp_new(text_bytes + 1, 1) };
    memcpy(t->text, text, text_bytes);
    err = parse(t, text_bytes, why);
    if (err)
        exp_table_release(t);
    return err;
}

void exp_table_release(struct exp_table *t)
{
    free(t->path);
    free(t->text);
    free(t->column);
    free(t->field);
    free(t->line);
    for (size_t i = 0; i < t->n_reasons; i++)
        free(t->reason[i]);
    free(t->reason);
    *t = (struct exp_table){ 0 };
}

int exp_table_column(const struct exp_table *t, const char *name, size_t *column, struct exp_why *why)
{
    assert(t && name && column);
    for (size_t i = 0; i < t->n_columns; i++) {
        if (!strcmp(t->column[i], name)) {
            *column = i;
            return 0;
        }
    }
    if (!say_separator(t, why))
        exp_fail(why, -ENOENT, "%s:%u: column missing, '%s'", t->path, t->header_line, name);
    return -ENOENT;
}

const char *exp_table_string(const struct exp_table *t, size_t row, size_t column)
{
    assert(row < t->n_rows && column < t->n_columns);
    return t->field[row * t->n_columns + column];
}

static int bad_field(const struct exp_table *t, size_t row, size_t column, int err, const char *what,
                     struct exp_why *why)
{
    return exp_fail(why, err, "%s:%u: %s, '%.60s' %s", t->path, t->line[row], t->column[column],
                    exp_table_string(t, row, column), what);
}

int exp_table_u64(const struct exp_table *t, size_t row, size_t column, uint64_t *value, struct exp_why *why)
{
    const char *text = exp_table_string(t, row, column);
    unsigned long long number;

    if (!*text || text[strspn(text, "0123456789")])
        return bad_field(t, row, column, -EINVAL, *text ? "is not a whole number >= 0" : "is empty", why);
    errno = 0;
    number = strtoull(text, NULL, 10);
    if (errno)
        return bad_field(t, row, column, -ERANGE, "is too large", why);
    *value = number;
    return 0;
}

int exp_table_double(const struct exp_table *t, size_t row, size_t column, double *value, struct exp_why *why)
{
    const char *text = exp_table_string(t, row, column);
    char *end;
    double number;

    /* strtod alone would take leading blanks, hexadecimal, infinities and NaN. */
    if (!*text || text[strspn(text, "+-.0123456789eE")])
        return bad_field(t, row, column, -EINVAL, *text ? "is not a number" : "is empty", why);
    number = strtod(text, &end);
    if (end == text || *end)
        return bad_field(t, row, column, -EINVAL, "is not a number", why);
    if (!isfinite(number))
        return bad_field(t, row, column, -ERANGE, "is too large", why);
    *value = number;
    return 0;
}
