#include "experiments/base/record.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"

static const char not_available[] = EXP_CSV_MISSING;

struct exp_csv_kind rec_kind(const struct exp_csv_column *column)
{
    static const char *const type[] = {
        [REC_NUMBER] = "number", [REC_DOUBLE] = "number", [REC_U64] = "integer", [REC_U32] = "integer",
        [REC_BOOL] = "boolean",  [REC_TEXT] = "string",   [REC_CHARS] = "string"
    };
    const struct rec_field *f = (const void *)column;

    return (struct exp_csv_kind){ f->is_whole ? "integer" : type[f->type], f->missing != REC_NEVER };
}

const struct rec_field *rec_field_at(const struct rec_table *t, size_t i)
{
    assert(t && i < t->file.n_columns);
    return (const void *)((const char *)t->file.column + i * t->file.stride_bytes);
}

const struct rec_field *rec_field_of(const struct rec_table *t, size_t offset)
{
    size_t i = 0;

    while (i < t->file.n_columns && (rec_field_at(t, i)->derive || rec_field_at(t, i)->offset != offset))
        i++;
    assert(i < t->file.n_columns);
    return rec_field_at(t, i);
}

static const void *value_at(const struct rec_field *f, const void *row)
{
    return (const char *)row + f->offset;
}

/* Returns the reason that a row holds for a field, or NULL. */
static const char *reason_of(const struct rec_field *f, const void *row)
{
    const char *slot = (const char *)row + f->why_offset;

    if (f->missing == REC_NEVER || f->missing == REC_IF_NAN_AS)
        return f->why;
    if (!f->why_bytes)
        memcpy(&slot, slot, sizeof slot);
    return slot && *slot ? slot : NULL;
}

/* ---- fields that are known at run time only ---- */

void rec_table_with_texts(struct rec_table *to, const struct rec_table *t, size_t instead, char *const *name, size_t n,
                          const char *meaning)
{
    struct rec_field *field = exp_new(t->file.n_columns + n, sizeof *field);
    size_t n_fields = 0;

    for (size_t i = 0; i < t->file.n_columns; i++) {
        if (rec_field_at(t, i) != rec_field_of(t, instead))
            field[n_fields++] = *rec_field_at(t, i);
        else {
            for (size_t k = 0; k < n; k++)
                field[n_fields++] = (struct rec_field){ .column = { name[k], "", meaning, "" },
                                                        .type = REC_TEXT,
                                                        .offset = t->row_bytes + k * sizeof(char *),
                                                        .bytes = sizeof(char *) };
        }
    }
    to->file = (struct exp_csv_file){ t->file.name, &field->column, n_fields, sizeof *field, rec_kind };
    to->row_bytes = t->row_bytes + n * sizeof(char *);
}

void rec_table_release(struct rec_table *t)
{
    free((void *)t->file.column);
    *t = (struct rec_table){ 0 };
}

/* ---- writing ---- */

static double double_of(const struct rec_field *f, const void *row)
{
    return f->derive ? f->derive(row) : *(const double *)value_at(f, row);
}

static bool is_missing(const struct rec_field *f, const void *row, const char *reason)
{
    return reason && (f->missing == REC_IF_WHY || !isfinite(double_of(f, row)));
}

double rec_number(const struct rec_field *f, const void *row)
{
    const void *at = value_at(f, row);

    if (is_missing(f, row, reason_of(f, row)) || f->type == REC_TEXT || f->type == REC_CHARS)
        return (double)NAN;
    return f->type == REC_U64    ? (double)*(const uint64_t *)at
           : f->type == REC_U32  ? *(const uint32_t *)at
           : f->type == REC_BOOL ? *(const bool *)at
                                 : double_of(f, row);
}

const char *rec_text(const struct rec_field *f, const void *row)
{
    const void *at = value_at(f, row);
    const char *text = f->type == REC_CHARS ? at : f->type == REC_TEXT ? *(const char *const *)at : NULL;

    return text && !is_missing(f, row, reason_of(f, row)) ? text : "-";
}

/* A text may come from a file, and a file may hold any bytes. */
static void put_text(struct exp_csv *csv, const char *text)
{
    char *clean = exp_copy_text(text ? text : "");

    exp_text_clean(clean);
    exp_csv_string(csv, clean);
    free(clean);
}

/* Whole numbers that a double holds exactly have no exponent. */
static void put_number(struct exp_csv *csv, double x)
{
    const double most = 9007199254740992; /* 2^53 */

    if (x >= 0 && x < most && x == floor(x) && !signbit(x))
        exp_csv_u64(csv, (uint64_t)x);
    else
        exp_csv_double(csv, x);
}

static void put_value(struct exp_csv *csv, const struct rec_field *f, const void *row)
{
    const void *at = value_at(f, row);

    switch (f->type) {
    case REC_NUMBER:
        put_number(csv, *(const double *)at);
        break;
    case REC_DOUBLE:
        exp_csv_double(csv, double_of(f, row));
        break;
    case REC_U64:
        exp_csv_u64(csv, *(const uint64_t *)at);
        break;
    case REC_U32:
        exp_csv_u64(csv, *(const uint32_t *)at);
        break;
    case REC_BOOL:
        exp_csv_u64(csv, *(const bool *)at);
        break;
    case REC_TEXT:
        put_text(csv, *(const char *const *)at);
        break;
    case REC_CHARS:
        put_text(csv, at);
        break;
    }
}

void rec_put(struct exp_csv *csv, const struct rec_table *t, const void *row)
{
    assert(csv && t && row);
    for (size_t i = 0; i < t->file.n_columns; i++) {
        const struct rec_field *f = rec_field_at(t, i);
        const char *reason = reason_of(f, row);

        if (!is_missing(f, row, reason))
            put_value(csv, f, row);
        else if (!strcmp(reason, REC_DOES_NOT_APPLY))
            exp_csv_string(csv, "");
        else
            exp_csv_missing(csv, reason);
    }
    exp_csv_end_row(csv);
}

int rec_write(const struct rec_table *t, const void *rows, size_t n, const struct exp_outdir *dir, const char *what,
              struct exp_why *why)
{
    struct exp_csv *csv = exp_csv_begin(dir, &t->file, what);

    assert(rows || !n);
    for (size_t i = 0; i < n; i++)
        rec_put(csv, t, (const char *)rows + i * t->row_bytes);
    return exp_csv_close(csv, why);
}

int rec_write_files(const struct rec_file *file, size_t n, const void *of, const struct exp_outdir *dir,
                    const char *what, struct exp_why *why)
{
    int err = 0;

    for (size_t i = 0; i < n && !err; i++) {
        struct exp_csv *csv = exp_csv_begin(dir, &file[i].table->file, file[i].what ? file[i].what : what);

        file[i].put(csv, of);
        err = exp_csv_close(csv, why);
    }
    return err;
}

/* ---- reading ---- */

struct reading {
    const struct rec_table *t;
    const struct exp_table *table;
    size_t *column; /* [t->file.n_columns] of the file; SIZE_MAX: no column */
    bool is_strict; /* the file is this version's */
    struct exp_why *why;
};

static int refuse(const struct reading *r, size_t row, size_t i, const char *what)
{
    return exp_fail(r->why, -EINVAL, "%s:%u: %s, '%.60s' %s", r->table->path, r->table->line[row],
                    rec_field_at(r->t, i)->column.name, exp_table_string(r->table, row, r->column[i]), what);
}

/* Returns the reason of a cell without a value, or NULL. Texts may be empty. */
static const char *reason_in(const struct rec_field *f, const char *cell)
{
    if (f->missing == REC_NEVER)
        return NULL;
    if (!strncmp(cell, not_available, strlen(not_available)))
        return cell + strlen(not_available);
    return *cell || f->type == REC_TEXT || f->type == REC_CHARS ? NULL : REC_DOES_NOT_APPLY;
}

static int copy_text(const struct reading *r, size_t row, size_t i, char *to, size_t bytes, const char *text)
{
    if (strlen(text) >= bytes)
        return refuse(r, row, i, "is too long");
    memcpy(to, text, strlen(text) + 1);
    return 0;
}

static bool is_written_as(const char *reason, const char *cell)
{
    while (*reason && exp_csv_plain(*reason) == *cell) {
        reason++;
        cell++;
    }
    return !*reason && !*cell;
}

/* Notes a reason in the row. Values that share a member for the reason are missing for one reason. */
static int take_reason(const struct reading *r, size_t row, size_t i, const char *reason, char *to)
{
    const struct rec_field *f = rec_field_at(r->t, i);
    const char *noted = reason_of(f, to);
    char *slot = to + f->why_offset;

    if (noted && r->is_strict && !is_written_as(noted, reason))
        return refuse(r, row, i, "is missing for another reason than its row gives");
    if (noted)
        return 0;
    if (f->why_bytes)
        return copy_text(r, row, i, slot, f->why_bytes, reason);
    memcpy(slot, &reason, sizeof reason);
    return 0;
}

static int take_whole(const struct reading *r, size_t row, size_t i, void *at)
{
    const enum rec_type type = rec_field_at(r->t, i)->type;
    const uint64_t most = type == REC_BOOL ? 1 : type == REC_U32 ? UINT32_MAX : UINT64_MAX;
    uint64_t value = 0;
    int err = exp_table_u64(r->table, row, r->column[i], &value, r->why);

    if (!err && value > most)
        err = refuse(r, row, i, type == REC_BOOL ? "is neither 0 nor 1" : "is too large");
    if (type == REC_BOOL)
        *(bool *)at = value;
    else if (type == REC_U32)
        *(uint32_t *)at = (uint32_t)value;
    else
        *(uint64_t *)at = value;
    return err;
}

static int take_number(const struct reading *r, size_t row, size_t i, double *at)
{
    int err = exp_table_double(r->table, row, r->column[i], at, r->why);

    if (!err && rec_field_at(r->t, i)->is_whole && (*at < 0 || *at != floor(*at)))
        err = refuse(r, row, i, "is no whole number");
    return err;
}

static int take_value(const struct reading *r, size_t row, size_t i, char *to)
{
    const struct rec_field *f = rec_field_at(r->t, i);
    const char *cell = exp_table_string(r->table, row, r->column[i]);
    void *at = to + f->offset;

    switch (f->type) {
    case REC_TEXT:
        *(const char **)at = cell;
        return 0;
    case REC_CHARS:
        return copy_text(r, row, i, at, f->bytes, cell);
    case REC_NUMBER:
        return take_number(r, row, i, at);
    case REC_DOUBLE:
        return exp_table_double(r->table, row, r->column[i], at, r->why);
    default:
        return take_whole(r, row, i, at);
    }
}

static bool is_there(const struct reading *r, size_t i)
{
    return r->column[i] != SIZE_MAX;
}

/* Sets a value for a cell without a value, or a file without the column. */
static void clear(const struct rec_field *f, char *to, bool has_column)
{
    const double nan = (double)NAN;
    const char *empty = "";

    const struct value none = { nan, has_column ? NULL : "the file has no such column" };

    if (f->type == REC_NUMBER)
        memcpy(to + f->offset, &none, sizeof none);
    else if (f->type == REC_DOUBLE && !f->derive)
        memcpy(to + f->offset, &nan, sizeof nan);
    else if (f->type == REC_TEXT)
        memcpy(to + f->offset, &empty, sizeof empty);
}

static int take_cell(const struct reading *r, size_t row, size_t i, char *to)
{
    const struct rec_field *f = rec_field_at(r->t, i);
    const char *reason;

    clear(f, to, is_there(r, i));
    if (!is_there(r, i))
        return 0;
    reason = reason_in(f, exp_table_string(r->table, row, r->column[i]));
    if (reason)
        return take_reason(r, row, i, reason, to);
    return f->derive ? 0 : take_value(r, row, i, to);
}

/* Tells whether a cell gives this reason for a missing value. */
static bool says(const char *cell, const char *reason)
{
    return strcmp(reason, REC_DOES_NOT_APPLY) ? !strncmp(cell, not_available, strlen(not_available)) : !*cell;
}

/* Looks for values that are missing by the row's reasons. */
static int check_row(const struct reading *r, size_t row, const char *to)
{
    for (size_t i = 0; i < r->t->file.n_columns; i++) {
        const struct rec_field *f = rec_field_at(r->t, i);
        const char *reason = reason_of(f, to);

        if (f->missing == REC_IF_WHY && reason && !says(exp_table_string(r->table, row, r->column[i]), reason))
            return refuse(r, row, i, "stands beside a reason why it is missing");
    }
    return 0;
}

static int take_row(const struct reading *r, size_t row, char *to)
{
    int err = 0;

    for (size_t i = 0; i < r->t->file.n_columns && !err; i++)
        err = take_cell(r, row, i, to);
    return err || !r->is_strict ? err : check_row(r, row, to);
}

/* Checks that the file has exactly the table's columns, in order. */
static int match_columns(const struct reading *r)
{
    const struct exp_table *t = r->table;
    const size_t n = r->t->file.n_columns;

    for (size_t i = 0; i < n; i++) {
        const char *name = rec_field_at(r->t, i)->column.name;

        if (i >= t->n_columns || strcmp(t->column[i], name) != 0)
            return exp_fail(r->why, -EINVAL, "%s:%u: column %zu must be '%s', not '%.60s'", t->path, t->header_line,
                            i + 1, name, i < t->n_columns ? t->column[i] : "");
        r->column[i] = i;
    }
    if (t->n_columns == n)
        return 0;
    return exp_fail(r->why, -EINVAL, "%s:%u: unknown column, '%.60s'", t->path, t->header_line, t->column[n]);
}

static bool is_needed(const struct rec_field *f, const size_t *needed, size_t n_needed)
{
    bool is = n_needed == REC_ALL;

    for (size_t i = 0; !is && i < n_needed && !f->derive; i++)
        is = needed[i] == f->offset;
    return is;
}

/* Finds the columns that the file has. */
static int find_columns(const struct reading *r, const size_t *needed, size_t n_needed)
{
    for (size_t i = 0; i < r->t->file.n_columns; i++) {
        const struct rec_field *f = rec_field_at(r->t, i);
        int err;

        r->column[i] = SIZE_MAX;
        err = exp_table_column(r->table, f->column.name, &r->column[i], r->why);
        if (err && is_needed(f, needed, n_needed))
            return -EINVAL;
    }
    return 0;
}

/* Makes the rows, from malloc. */
static int make_rows(struct reading *r, const size_t *needed, size_t n_needed, void **rows)
{
    const size_t n = r->table->n_rows, bytes = r->t->row_bytes;
    char *row = exp_new(n, bytes);
    int err;

    r->column = exp_new(r->t->file.n_columns, sizeof *r->column);
    err = r->is_strict ? match_columns(r) : find_columns(r, needed, n_needed);
    for (size_t i = 0; i < n && !err; i++)
        err = take_row(r, i, row + i * bytes);
    free(r->column);
    *rows = err ? NULL : row;
    if (err)
        free(row);
    return err;
}

static int read_rows(struct rec_rows *rows, struct reading *r, const char *path, const size_t *needed, size_t n_needed)
{
    int err;

    *rows = (struct rec_rows){ 0 };
    err = exp_table_read(&rows->table, path, r->why);
    if (err)
        return err;
    r->table = &rows->table;
    rows->n = rows->table.n_rows;
    err = make_rows(r, needed, n_needed, &rows->row);
    if (err)
        rec_release(rows);
    return err;
}

int rec_read(struct rec_rows *rows, const struct rec_table *t, const char *path, struct exp_why *why)
{
    struct reading r = { .t = t, .is_strict = true, .why = why };

    return read_rows(rows, &r, path, NULL, 0);
}

int rec_read_some(struct rec_rows *rows, const struct rec_table *t, const char *path, const size_t *needed,
                  size_t n_needed, struct exp_why *why)
{
    struct reading r = { .t = t, .why = why };

    assert(needed || !n_needed || n_needed == REC_ALL);
    return read_rows(rows, &r, path, needed, n_needed);
}

int rec_rows_of(void **rows, const struct rec_table *t, const struct exp_table *table, struct exp_why *why)
{
    struct reading r = { .t = t, .table = table, .why = why };

    return make_rows(&r, NULL, 0, rows);
}

bool rec_has(const struct exp_table *table, const struct rec_field *f)
{
    size_t column;

    return !exp_table_column(table, f->column.name, &column, NULL);
}

void rec_release(struct rec_rows *rows)
{
    exp_table_release(&rows->table);
    free(rows->row);
    *rows = (struct rec_rows){ 0 };
}
