/*
 * A table is a record: one array says of every column its meaning and its place in a row struct. The array writes the
 * CSV file, reads the file and documents the file; tests/experiments/suite_record.c tries each table.
 *
 *     struct lake_row {
 *         const char *name;
 *         struct value depth_m; // may be missing: value.h
 *     };
 *
 *     static const struct rec_field fields[] = {
 *         { { "name", "", "name of the lake", "" }, REC_AT(struct lake_row, name) },
 *         { { "depth_m", "m", "at its deepest", "sonar" }, REC_VALUE(struct lake_row, depth_m) },
 *     };
 *
 *     const struct rec_table lakes_table = REC_TABLE("lakes.csv", fields, struct lake_row);
 *
 * The type of a column is the type of the member: struct value, const char *, a char array, uint64_t, size_t, uint32_t,
 * bool (1 or 0) or double. Members of members and elements of arrays are named as in offsetof: plan.tile[1].rows.
 */
#ifndef EXPERIMENTS_BASE_RECORD_H
#define EXPERIMENTS_BASE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/base/csv.h"
#include "experiments/base/error.h"
#include "experiments/base/value.h"

enum rec_type {
    REC_NUMBER /* struct value */,
    REC_DOUBLE,
    REC_U64,
    REC_U32,
    REC_BOOL,
    REC_TEXT /* const char * */,
    REC_CHARS /* char[] */
};

/* Says when a value is missing. */
enum rec_missing {
    REC_NEVER,
    REC_IF_WHY,    /* if there is a reason */
    REC_IF_NAN,    /* if NaN; a reason alone does not make a value missing, as several values may share a reason */
    REC_IF_NAN_AS, /* if NaN, always for one reason */
};

struct rec_field {
    struct exp_csv_column column; /* name, unit, meaning, source */
    enum rec_type type;
    size_t offset, bytes;              /* of the value in the row */
    double (*derive)(const void *row); /* computes the value from the row; the field then has no offset. NULL */
    enum rec_missing missing;
    bool is_whole;                /* a struct value that is a whole number >= 0 */
    size_t why_offset, why_bytes; /* of the reason in the row. 0 bytes: a const char *, otherwise a char array */
    const char *why;              /* the reason of REC_IF_NAN_AS */
};

struct rec_table {
    struct exp_csv_file file; /* the columns of the fields */
    size_t row_bytes;
};

/* The reason of an empty cell that does not apply. */
#define REC_DOES_NOT_APPLY "does not apply"

/* ---- a field and its member of the row struct ---- */

#define REC_MEMBER(row, member) ((row *)0)->member

#define REC_TYPE(row, member)                                                                                          \
    _Generic(REC_MEMBER(row, member),                                                                                  \
        double: REC_DOUBLE,                                                                                            \
        uint64_t: REC_U64,                                                                                             \
        uint32_t: REC_U32,                                                                                             \
        bool: REC_BOOL,                                                                                                \
        const char *: REC_TEXT,                                                                                        \
        char *: REC_CHARS)

#define REC_REASON(row, member)                                                                                        \
    .why_offset = offsetof(row, member),                                                                               \
    .why_bytes = _Generic(REC_MEMBER(row, member), const char *: 0, char *: sizeof REC_MEMBER(row, member))

/* A value that is always known. A NULL text is written as an empty cell. */
#define REC_AT(row, member)                                                                                            \
    .type = REC_TYPE(row, member), .offset = offsetof(row, member), .bytes = sizeof REC_MEMBER(row, member)

/* A struct value: a number, or the reason for its absence. Whole numbers are written without exponent. */
#define REC_VALUE(row, member)                                                                                         \
    .type = _Generic(REC_MEMBER(row, member), struct value                                                             \
                     : REC_NUMBER),                                                                                    \
    .offset = offsetof(row, member), .bytes = sizeof(struct value), .missing = REC_IF_WHY,                             \
    .why_offset = offsetof(row, member) + offsetof(struct value, why)

/* A struct value that is a whole number >= 0: reading refuses other numbers. */
#define REC_WHOLE(row, member) REC_VALUE(row, member), .is_whole = true

/* A value that is missing if why, a const char * or char[] of the row, holds a reason (not NULL, not empty). */
#define REC_OR(row, member, why) REC_AT(row, member), .missing = REC_IF_WHY, REC_REASON(row, why)

/* A double that is missing if NaN; `why` holds the reason. */
#define REC_NAN_OR(row, member, why) REC_AT(row, member), .missing = REC_IF_NAN, REC_REASON(row, why)

/* A double that is missing if NaN, with a literal as the reason. */
#define REC_NAN_AS(row, member, reason) REC_AT(row, member), .missing = REC_IF_NAN_AS, .why = (reason)

/* A double computed from the row: written and documented, and skipped on reading. */
#define REC_DERIVED(function) .type = REC_DOUBLE, .derive = (function)

/* A table whose fields are an array. */
#define REC_TABLE(name, fields, row)                                                                                   \
    {                                                                                                                  \
        { name, &(fields)[0].column, sizeof(fields) / sizeof(fields)[0], sizeof(fields)[0], rec_kind }, sizeof(row)    \
    }

/* Returns what a column holds that is part of a struct rec_field. */
struct exp_csv_kind rec_kind(const struct exp_csv_column *column);

/* Returns field i of the table's file.n_columns; the field of the member at an offset, which the table must have. */
const struct rec_field *rec_field_at(const struct rec_table *t, size_t i);
const struct rec_field *rec_field_of(const struct rec_table *t, size_t offset);

/* Returns a row's value of any type as a number; NaN if it is missing or a text. */
double rec_number(const struct rec_field *f, const void *row);

/* Returns a row's text; "-" if it is missing or a number. */
const char *rec_text(const struct rec_field *f, const void *row);

/*
 * Makes a table with columns that are known at run time only: the columns of t, but n text columns of the given names
 * replace the column whose member is at `instead`. The texts, const char *s, lie behind the row struct. t and the names
 * must outlive the table.
 */
void rec_table_with_texts(struct rec_table *to, const struct rec_table *t, size_t instead, char *const *name, size_t n,
                          const char *meaning);
void rec_table_release(struct rec_table *t);

/* ---- writing: exp_csv_begin(..., &table.file, ...), rec_put() for each row, exp_csv_close() ---- */

/*
 * Writes a row. Texts are cleaned (exp_text_clean): a control character becomes a blank, invalid UTF-8 becomes '?'. A
 * double must be finite or missing; exp_csv_close() reports any further value.
 */
void rec_put(struct exp_csv *csv, const struct rec_table *t, const void *row);

/* Writes a whole file into a folder, `what` being its first line. Returns 0 or -errno with one line in why. */
int rec_write(const struct rec_table *t, const void *rows, size_t n, const struct exp_outdir *dir, const char *what,
              struct exp_why *why);

/* One file of several about one subject: put() writes further lines of the head, if any, and all rows. */
struct rec_file {
    const struct rec_table *table;
    void (*put)(struct exp_csv *csv, const void *of);
    const char *what; /* NULL: the `what` of all files */
};

/* Writes n files into a folder. Returns as rec_write. */
int rec_write_files(const struct rec_file *file, size_t n, const void *of, const struct exp_outdir *dir,
                    const char *what, struct exp_why *why);

/* ---- reading ---- */

struct rec_rows {
    struct exp_table table; /* the rows' texts point into this table */
    void *row;              /* [n] structs of the table's row */
    size_t n;
};

/*
 * Reads a file that has exactly the table's columns. Returns 0 or -errno as exp_table_read; -EINVAL for wrong columns
 * or a cell that rec_put cannot have written, with file, line, column and value in why.
 */
int rec_read(struct rec_rows *rows, const struct rec_table *t, const char *path, struct exp_why *why);

/*
 * Reads a file of any version. The file must have the columns whose members are at needed[n_needed] (offsetof), or all
 * columns if n_needed is REC_ALL, in any order; unknown columns are skipped. Without its column, a struct value gets a
 * reason, a double is NaN, a text "", any further type 0. Where values share a reason, the first reason in the file is
 * kept.
 */
int rec_read_some(struct rec_rows *rows, const struct rec_table *t, const char *path, const size_t *needed,
                  size_t n_needed, struct exp_why *why);

/*
 * Makes rows from a table that has been read, and needs no column: *rows is an array of table->n_rows structs, from
 * malloc; NULL on failure.
 */
int rec_rows_of(void **rows, const struct rec_table *t, const struct exp_table *table, struct exp_why *why);

#define REC_ALL SIZE_MAX

/* Tells whether a read file has a field's column. */
bool rec_has(const struct exp_table *table, const struct rec_field *f);

void rec_release(struct rec_rows *rows); /* leaves { 0 } */

#endif
