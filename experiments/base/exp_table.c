#include "experiments/base/exp_table.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"

/* Fields are unquoted in place: `out` never overtakes `in`. */
struct parser {
    struct exp_table *t;
    char *in, *end;
    unsigned line;
    char **field; /* fields of all records so far, header included */
    size_t n_fields, max_fields;
    size_t max_rows;
    struct exp_why *why;
};

static int fail(const struct parser *p, unsigned line, const char *what, const char *value)
{
    return exp_fail(p->why, -EINVAL, "%s:%u: %s, '%.60s'", p->t->path, line, what, value);
}

static bool at_line_end(const struct parser *p)
{
    return p->in == p->end || *p->in == '\n' || (*p->in == '\r' && (p->in + 1 == p->end || p->in[1] == '\n'));
}

static void skip_blanks(struct parser *p)
{
    while (p->in < p->end && (*p->in == ' ' || *p->in == '\t'))
        p->in++;
}

static void next_line(struct parser *p)
{
    while (p->in < p->end && *p->in != '\n')
        p->in++;
    if (p->in < p->end)
        p->in++;
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
        if (*p->in == '"' || *p->in == '\r') {
            *p->in = '\0';
            return fail(p, p->line, "a quote or carriage return inside an unquoted field, after", start);
        }
    }
    *text_end = p->in;
    while (*text_end > start && ((*text_end)[-1] == ' ' || (*text_end)[-1] == '\t'))
        --*text_end;
    return 0;
}

static int add_field(struct parser *p, char *text)
{
    if (p->n_fields == p->max_fields) {
        size_t max = p->max_fields ? 2 * p->max_fields : 256;
        char **field = realloc(p->field, max * sizeof *field);

        if (!field)
            return exp_fail(p->why, -ENOMEM, "%s: out of memory", p->t->path);
        p->field = field;
        p->max_fields = max;
    }
    p->field[p->n_fields++] = text;
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
        if (!err)
            err = add_field(p, start);
        if (err)
            return err;
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
    p->n_fields = p->max_fields = 0;
    return 0;
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

static int add_row(struct parser *p, unsigned line)
{
    struct exp_table *t = p->t;

    if (t->n_rows == p->max_rows) {
        size_t max = p->max_rows ? 2 * p->max_rows : 64;
        unsigned *lines = realloc(t->line, max * sizeof *lines);

        if (!lines)
            return exp_fail(p->why, -ENOMEM, "%s: out of memory", t->path);
        t->line = lines;
        p->max_rows = max;
    }
    t->line[t->n_rows++] = line;
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
        if (!err)
            err = add_row(p, line);
        if (err)
            return err;
    }
    return 0;
}

static int check_nul(const struct parser *p)
{
    unsigned line = 1;
    const char *nul = memchr(p->in, '\0', (size_t)(p->end - p->in));

    if (!nul)
        return 0;
    for (const char *c = p->in; c < nul; c++)
        line += *c == '\n';
    return exp_fail(p->why, -EINVAL, "%s:%u: a NUL byte, this is no text file", p->t->path, line);
}

/* Takes over t->path and t->text, which holds text_bytes and a terminating NUL. */
static int parse(struct exp_table *t, size_t text_bytes, struct exp_why *why)
{
    struct parser p = { .t = t, .in = t->text, .end = t->text + text_bytes, .line = 1, .why = why };
    int err = check_nul(&p);

    if (text_bytes >= 3 && !memcmp(t->text, "\xef\xbb\xbf", 3))
        p.in += 3;
    if (!err)
        err = read_header(&p);
    if (!err)
        err = read_rows(&p);
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

    *t = (struct exp_table){ .path = strdup(path) };
    err = t->path ? exp_text_read(&t->text, &bytes, path, why) : exp_fail(why, -ENOMEM, "out of memory");
    if (!err)
        err = parse(t, bytes, why);
    if (err)
        exp_table_release(t);
    return err;
}

int exp_table_parse(struct exp_table *t, const char *path, const char *text, size_t text_bytes, struct exp_why *why)
{
    int err;

    *t = (struct exp_table){ .path = strdup(path), .text = malloc(text_bytes + 1) };
    if (t->path && t->text) {
        memcpy(t->text, text, text_bytes);
        t->text[text_bytes] = '\0';
        err = parse(t, text_bytes, why);
    } else {
        err = exp_fail(why, -ENOMEM, "%s: out of memory", path);
    }
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
    *t = (struct exp_table){ 0 };
}

int exp_table_column(const struct exp_table *t, const char *name, size_t *column, struct exp_why *why)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        if (!strcmp(t->column[i], name)) {
            *column = i;
            return 0;
        }
    }
    return exp_fail(why, -ENOENT, "%s:%u: column missing, '%s'", t->path, t->header_line, name);
}

const char *exp_table_string(const struct exp_table *t, size_t row, size_t column)
{
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
