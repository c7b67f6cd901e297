/* Writing CSV files: cells, and the reasons of why_missing. */
#include "experiments/base/csv.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/schema.h"
#include "experiments/base/text.h"

/* A cell of the row that is being written. */
struct cell {
    bool is_empty;
    size_t reason; /* the number of the reason, from 1 on; 0: none */
};

struct exp_csv {
    FILE *out;
    char *folder, *path;
    struct exp_csv_file file;
    struct cell *cell; /* [file.n_columns]; NULL: the file has no column of reasons */
    char **reason;     /* [n_reasons] the different reasons of the row */
    size_t n_reasons;
    size_t next; /* the column of the next cell */
    uint64_t n_rows;
    bool has_names; /* the line of column names is out */
    int err;
    struct exp_why why;
};

struct exp_csv *exp_csv_begin(const struct exp_outdir *dir, const struct exp_csv_file *file, const char *what)
{
    struct exp_csv *c = exp_new(1, sizeof *c);

    c->folder = exp_copy_text(dir->path);
    c->path = exp_outdir_file(dir, file->name);
    c->file = *file;
    c->cell = exp_csv_n_columns(file) > file->n_columns ? exp_new(file->n_columns, sizeof *c->cell) : NULL;
    errno = 0;
    c->out = file->n_columns ? fopen(c->path, "w") : NULL;
    if (!file->n_columns)
        c->err = exp_fail(&c->why, -EINVAL, "cannot write '%s': no columns", c->path);
    else if (!c->out)
        c->err =
            exp_fail(&c->why, errno ? -errno : -EIO, "cannot create '%s': %s", c->path, strerror(errno ? errno : EIO));
    if (what)
        exp_csv_header(c, "what", "%s", what);
    return c;
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

/* Quotes what a reader would otherwise take for something else: see csv.h. To pandas, any '#' begins a comment. */
static bool needs_quotes(const char *text)
{
    size_t length = strlen(text);

    return strpbrk(text, ",\"\r\n#") || exp_text_blank(text) || exp_text_trimmed(text, length) < length;
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
    const size_t n = exp_csv_n_columns(&c->file);

    for (size_t i = 0; i < n; i++) {
        const struct exp_csv_column *k = exp_csv_column_at(&c->file, i);

        put(c, "# column %s%s%s%s: ", k->name, *k->unit ? " [" : "", k->unit, *k->unit ? "]" : "");
        put_one_line(c, k->description);
        put(c, *k->source ? " (" : "");
        put_one_line(c, k->source);
        put(c, *k->source ? ")\n" : "\n");
    }
    for (size_t i = 0; i < n; i++) {
        put(c, i ? "," : "");
        put_field(c, exp_csv_column_at(&c->file, i)->name);
    }
    put(c, "\n");
    c->has_names = true;
}

void exp_csv_header(struct exp_csv *csv, const char *key, const char *value, ...)
{
    va_list args;
    char text[1024];

    assert(csv && key && value);
    if (csv->has_names && !csv->err)
        slip(csv, "a header line after the first row", key);
    va_start(args, value);
    vsnprintf(text, sizeof text, value, args);
    va_end(args);
    exp_text_clean(text);
    put(csv, "# %s: ", key);
    put_one_line(csv, text);
    put(csv, "\n");
}

/* Writes what stands between two cells. Returns whether to write the cell. */
static bool begin_cell(struct exp_csv *c)
{
    assert(c->next < c->file.n_columns);
    if (!c->has_names)
        put_names(c);
    put(c, c->next++ ? "," : "");
    return !c->err;
}

void exp_csv_string(struct exp_csv *csv, const char *value)
{
    assert(csv);
    if (!begin_cell(csv))
        return;
    if (csv->cell)
        csv->cell[csv->next - 1].is_empty = !*value;
    if (csv->file.n_columns == 1 && !*value)
        put(csv, "\"\""); /* a lone empty field would read as an empty line */
    else
        put_field(csv, value);
}

void exp_csv_u64(struct exp_csv *csv, uint64_t value)
{
    assert(csv);
    if (begin_cell(csv))
        put(csv, "%" PRIu64, value);
}

void exp_csv_double(struct exp_csv *csv, double value)
{
    char text[40];

    assert(csv);
    if (!begin_cell(csv))
        return;
    if (!isfinite(value)) {
        slip(csv, "not a finite number", exp_csv_column_at(&csv->file, csv->next - 1)->name);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    put(csv, "%s", text);
}

/* ---- reasons at the end of a row ---- */

char exp_csv_plain(char c)
{
    static const char marks[] = ",\"|\n\r\t", plain[] = ";'/   ";
    const char *mark = c ? strchr(marks, c) : NULL;

    return mark ? plain[mark - marks] : c;
}

/* Returns the number of a reason of the row, from 1 on. Takes over the text. */
static size_t reason_number(struct exp_csv *c, char *text)
{
    for (size_t i = 0; i < c->n_reasons; i++) {
        if (!strcmp(c->reason[i], text)) {
            free(text);
            return i + 1;
        }
    }
    *(char **)exp_append(&c->reason, &c->n_reasons, sizeof *c->reason) = text;
    return c->n_reasons;
}

void exp_csv_missing(struct exp_csv *csv, const char *reason)
{
    char *text = exp_copy_text(*reason ? reason : "no reason given");

    assert(csv->cell);
    for (char *c = text; *c; c++)
        *c = exp_csv_plain(*c);
    exp_text_clean(text);
    exp_csv_string(csv, "");
    csv->cell[csv->next - 1] = (struct cell){ true, reason_number(csv, text) };
}

static bool begins_so(const struct exp_csv *c, size_t i, const char *begin, size_t length)
{
    return !strncmp(exp_csv_column_at(&c->file, i)->name, begin, length);
}

/* Tells whether at least two cells are empty in columns whose names begin so, all of them for this reason. */
static bool stands_for_all(const struct exp_csv *c, const char *begin, size_t length, size_t reason)
{
    size_t n = 0;

    for (size_t i = 0; i < c->file.n_columns; i++) {
        if (!c->cell[i].is_empty || !begins_so(c, i, begin, length))
            continue;
        if (c->cell[i].reason != reason)
            return false;
        n++;
    }
    return n > 1;
}

/* Returns the length of the shortest beginning of a column's name that stands for columns; 0: none does. */
static size_t shortest_beginning(const struct exp_csv *c, const char *name, size_t reason)
{
    for (const char *mark = strchr(name, '_'); mark; mark = strchr(mark + 1, '_')) {
        const size_t length = (size_t)(mark + 1 - name);

        if (stands_for_all(c, name, length, reason))
            return length;
    }
    return 0;
}

/* Prints the columns that are empty for a reason, joined by '+'. */
static void print_columns(const struct exp_csv *c, size_t reason, FILE *out)
{
    const char *name = "", *mark = "";
    size_t length = 0;

    for (size_t i = 0; i < c->file.n_columns; i++) {
        if (c->cell[i].reason != reason || (length && begins_so(c, i, name, length)))
            continue;
        name = exp_csv_column_at(&c->file, i)->name;
        length = shortest_beginning(c, name, reason);
        fprintf(out, "%s%.*s%s", mark, (int)(length ? length : strlen(name)), name, length ? "*" : "");
        mark = "+";
    }
}

/* Puts the last cell of a row. */
static void put_reasons(struct exp_csv *c)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = c->n_reasons ? exp_memory_open(&text, &bytes) : NULL;

    put(c, ",");
    for (size_t r = 0; r < c->n_reasons; r++) {
        fputs(r ? EXP_CSV_BETWEEN : "", out);
        print_columns(c, r + 1, out);
        fprintf(out, ": %s", c->reason[r]);
        free(c->reason[r]);
    }
    c->n_reasons = 0;
    if (!out)
        return;
    fclose(out);
    put_field(c, text);
    free(text);
}

void exp_csv_end_row(struct exp_csv *csv)
{
    assert(csv->next == csv->file.n_columns);
    if (csv->cell) {
        put_reasons(csv);
        memset(csv->cell, 0, csv->file.n_columns * sizeof *csv->cell);
    }
    put(csv, "\n");
    csv->next = 0;
    csv->n_rows += !csv->err;
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
    assert(!csv->next);
    if (!csv->has_names)
        put_names(csv);
    flush(csv);
    errno = 0;
    if (csv->out && fclose(csv->out) && !csv->err)
        failed_write(csv);
    err = csv->err ? exp_fail(why, csv->err, "%s", csv->why.text) : exp_schema_add(csv->folder, &csv->file, why);
    free(csv->folder);
    free(csv->path);
    free(csv->cell);
    free(csv->reason);
    free(csv);
    return err;
}

void exp_csv_document(const struct exp_csv_file *file, FILE *out)
{
    assert(file && out);
    fprintf(out, "\n#### %s\n\n| column | unit | meaning | source |\n|---|---|---|---|\n", file->name);
    for (size_t i = 0; i < exp_csv_n_columns(file); i++) {
        const struct exp_csv_column *c = exp_csv_column_at(file, i);

        fprintf(out, "| `%s` | %s | %s | %s |\n", c->name, c->unit, c->description, c->source);
    }
}
