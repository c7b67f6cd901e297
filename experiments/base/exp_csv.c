#include "experiments/base/exp_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"

struct exp_csv {
    FILE *out;
    char *path;
    struct exp_csv_file file;
    size_t next; /* the column that the next cell must name */
    uint64_t n_rows;
    bool has_names; /* the line of column names is out */
    int err;
    struct exp_why why;
};

static const struct exp_csv_column *column_at(const struct exp_csv_file *file, size_t i)
{
    return (const void *)((const char *)file->column + i * file->stride_bytes);
}

int exp_csv_open(struct exp_csv **csv, const char *path, const struct exp_csv_file *file, struct exp_why *why)
{
    struct exp_csv *c;
    int err = -ENOMEM;

    *csv = NULL;
    if (!file->n_columns)
        return exp_fail(why, -EINVAL, "cannot write '%s': no columns", path);
    c = calloc(1, sizeof *c);
    if (!c)
        goto fail;
    c->path = strdup(path);
    if (!c->path)
        goto fail;
    c->file = *file;
    errno = 0;
    c->out = fopen(path, "w");
    if (!c->out) {
        err = errno ? -errno : -EIO;
        goto fail;
    }
    *csv = c;
    return 0;
fail:
    if (c)
        free(c->path);
    free(c);
    return exp_fail(why, err, "cannot create '%s': %s", path, strerror(-err));
}

int exp_csv_create(struct exp_csv **csv, const struct exp_outdir *dir, const struct exp_csv_file *file,
                   const char *what, struct exp_why *why)
{
    char *path = exp_outdir_file(dir, file->name);
    int err;

    *csv = NULL;
    if (!path)
        return exp_fail(why, -ENOMEM, "out of memory");
    err = exp_csv_open(csv, path, file, why);
    free(path);
    if (!err && what)
        exp_csv_header(*csv, "what", "%s", what);
    return err;
}

static void slip(struct exp_csv *c, const char *what, const char *value)
{
    c->err = exp_fail(&c->why, -EINVAL, "%s: row %" PRIu64 ": %s, '%.60s'", c->path, c->n_rows + 1, what, value);
}

static void failed_write(struct exp_csv *c)
{
    int err = errno ? -errno : -EIO;

    c->err = exp_fail(&c->why, err, "cannot write '%s': %s", c->path, strerror(-err));
}

/* Prints to the file. Every byte goes out through here. */
static void put(struct exp_csv *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct exp_csv *c, const char *format, ...)
{
    va_list args;

    if (c->err)
        return;
    errno = 0;
    va_start(args, format);
    if (vfprintf(c->out, format, args) < 0)
        failed_write(c);
    va_end(args);
}

static void put_one_line(struct exp_csv *c, const char *text)
{
    for (; *text; text++)
        put(c, "%c", *text == '\n' || *text == '\r' ? ' ' : *text);
}

/* Quotes what the reader would otherwise take for something else: see exp_table.h. */
static bool needs_quotes(const char *text)
{
    size_t length = strlen(text);

    return strpbrk(text, ",\"\r\n") || *text == '#' || *text == ' ' || *text == '\t' ||
           (length && (text[length - 1] == ' ' || text[length - 1] == '\t'));
}

static void put_field(struct exp_csv *c, const char *text)
{
    if (!needs_quotes(text)) {
        put(c, "%s", text);
        return;
    }
    put(c, "\"");
    for (; *text; text++)
        put(c, "%s%c", *text == '"' ? "\"" : "", *text);
    put(c, "\"");
}

static void put_names(struct exp_csv *c)
{
    for (size_t i = 0; i < c->file.n_columns; i++) {
        const struct exp_csv_column *k = column_at(&c->file, i);

        put(c, "# column %s%s%s%s: ", k->name, *k->unit ? " [" : "", k->unit, *k->unit ? "]" : "");
        put_one_line(c, k->description);
        put(c, *k->source ? " (" : "");
        put_one_line(c, k->source);
        put(c, *k->source ? ")\n" : "\n");
    }
    for (size_t i = 0; i < c->file.n_columns; i++) {
        put(c, i ? "," : "");
        put_field(c, column_at(&c->file, i)->name);
    }
    put(c, "\n");
    c->has_names = true;
}

void exp_csv_header(struct exp_csv *csv, const char *key, const char *value, ...)
{
    va_list args;
    char text[1024];

    if (csv->has_names && !csv->err)
        slip(csv, "a header line after the first row", key);
    va_start(args, value);
    vsnprintf(text, sizeof text, value, args);
    va_end(args);
    put(csv, "# %s: ", key);
    put_one_line(csv, text);
    put(csv, "\n");
}

/* Checks that `column` is next and writes what stands between two cells. Returns whether to write the cell. */
static bool begin_cell(struct exp_csv *c, const char *column)
{
    if (!c->has_names)
        put_names(c);
    if (c->err)
        return false;
    if (c->next == c->file.n_columns) {
        slip(c, "a cell after the last column", column);
        return false;
    }
    if (strcmp(column_at(&c->file, c->next)->name, column) != 0) {
        char what[128];

        snprintf(what, sizeof what, "cell out of order: '%.60s' is next", column_at(&c->file, c->next)->name);
        slip(c, what, column);
        return false;
    }
    put(c, c->next ? "," : "");
    c->next++;
    return !c->err;
}

void exp_csv_string(struct exp_csv *csv, const char *column, const char *value)
{
    if (!begin_cell(csv, column))
        return;
    if (csv->file.n_columns == 1 && !*value)
        put(csv, "\"\""); /* a lone empty field would read as an empty line */
    else
        put_field(csv, value);
}

void exp_csv_u64(struct exp_csv *csv, const char *column, uint64_t value)
{
    if (begin_cell(csv, column))
        put(csv, "%" PRIu64, value);
}

void exp_csv_double(struct exp_csv *csv, const char *column, double value)
{
    char text[40];

    if (!begin_cell(csv, column))
        return;
    if (!isfinite(value)) {
        slip(csv, "not a finite number", column);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    put(csv, "%s", text);
}

void exp_csv_empty(struct exp_csv *csv, const char *column)
{
    exp_csv_string(csv, column, "");
}

char exp_csv_plain(char c)
{
    static const char marks[] = ",\"\n\r\t", plain[] = ";'   ";
    const char *mark = c ? strchr(marks, c) : NULL;

    return mark ? plain[mark - marks] : c;
}

/* Replaces what would put a reason into quotes, which tools such as cut and awk do not know. */
static void make_plain(char *reason)
{
    for (; *reason; reason++)
        *reason = exp_csv_plain(*reason);
}

void exp_csv_missing(struct exp_csv *csv, const char *column, const char *reason)
{
    char *text = exp_format("not available: %s", *reason ? reason : "no reason given");

    if (text)
        make_plain(text);
    if (text)
        exp_csv_string(csv, column, text);
    else if (!csv->err)
        csv->err = exp_fail(&csv->why, -ENOMEM, "cannot write '%s': out of memory", csv->path);
    free(text);
}

void exp_csv_number(struct exp_csv *csv, const char *column, double value, const char *why_not)
{
    if (isfinite(value))
        exp_csv_double(csv, column, value);
    else
        exp_csv_missing(csv, column, why_not);
}

void exp_csv_end_row(struct exp_csv *csv)
{
    if (csv->err)
        return;
    if (csv->next < csv->file.n_columns) {
        slip(csv, "the row ends before column", column_at(&csv->file, csv->next)->name);
        return;
    }
    put(csv, "\n");
    csv->next = 0;
    csv->n_rows++;
}

int exp_csv_error(const struct exp_csv *csv)
{
    return csv->err;
}

static void flush(struct exp_csv *c)
{
    errno = 0;
    if (!c->err && fflush(c->out))
        failed_write(c);
    /* Some file systems find out about a full disk only here. Pipes and devices cannot be synchronised: EINVAL. */
    if (!c->err && fsync(fileno(c->out)) && errno != EINVAL && errno != ENOTSUP)
        failed_write(c);
}

int exp_csv_close(struct exp_csv *csv, struct exp_why *why)
{
    int err;

    if (!csv)
        return 0;
    if (!csv->err && csv->next)
        slip(csv, "the file ends inside a row, before column",
             csv->next < csv->file.n_columns ? column_at(&csv->file, csv->next)->name : "end of row");
    if (!csv->has_names)
        put_names(csv);
    flush(csv);
    errno = 0;
    if (fclose(csv->out) && !csv->err)
        failed_write(csv);
    err = csv->err ? exp_fail(why, csv->err, "%s", csv->why.text) : 0;
    free(csv->path);
    free(csv);
    return err;
}

void exp_csv_document(const struct exp_csv_file *file, FILE *out)
{
    fprintf(out, "\n#### %s\n\n| column | unit | meaning | source |\n|---|---|---|---|\n", file->name);
    for (size_t i = 0; i < file->n_columns; i++) {
        const struct exp_csv_column *c = column_at(file, i);

        fprintf(out, "| `%s` | %s | %s | %s |\n", c->name, c->unit, c->description, c->source);
    }
}
