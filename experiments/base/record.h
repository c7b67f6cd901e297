/*
 * A table is a record: one array says of every column what it is and where in a row struct it stands. The CSV file is
 * written from it, read with it and documented by it, and tests/experiments/suite_record.c tries each one.
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
 * The type of a column is that of its member: struct value, const char *, a char array, uint64_t, size_t, uint32_t, bool
 * (1 or 0) or double. Members of members and elements of arrays are named as in offsetof: plan.tile[1].rows.
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
    REC_IF_NAN,    /* if it is NaN; a reason alone does not make it missing, as several values may share one */
    REC_IF_NAN_AS, /* if it is NaN, always for the same reason */
};

struct rec_field {
    struct exp_csv_column column; /* name, unit, meaning, source */
    enum rec_type type;
    size_t offset, bytes;              /* of the value in the row */
    double (*derive)(const void *row); /* makes the value of others of the row; then it has no offset. NULL */
    enum rec_missing missing;
    bool is_whole;                /* a struct value that is a whole number >= 0 */
    size_t why_offset, why_bytes; /* of the reason in the row. 0 bytes: it is a const char *, otherwise a char array */
    const char *why;              /* the reason of REC_IF_NAN_AS */
};

struct rec_table {
    struct exp_csv_file file; /* its columns are those of the fields */
    size_t row_bytes;
};

/* The reason of a cell that does not apply, and is empty. */
#define REC_DOES_NOT_APPLY "does not apply"

/* ---- a field: how its row struct has it ---- */

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

/* A value that is always there. A text that is NULL is empty. */
#define REC_AT(row, member)                                                                                            \
    .type = REC_TYPE(row, member), .offset = offsetof(row, member), .bytes = sizeof REC_MEMBER(row, member)

/* A struct value: a number, or the reason why there is none. Whole numbers are written without exponent. */
#define REC_VALUE(row, member)                                                                                         \
    .type = _Generic(REC_MEMBER(row, member), struct value                                                             \
                     : REC_NUMBER),                                                                                    \
    .offset = offsetof(row, member), .bytes = sizeof(struct value), .missing = REC_IF_WHY,                             \
    .why_offset = offsetof(row, member) + offsetof(struct value, why)

/* A struct value that is a whole number >= 0: reading refuses other numbers. */
#define REC_WHOLE(row, member) REC_VALUE(row, member), .is_whole = true

/* A value that is missing if why, a const char * or char[] of the row, holds a reason (not NULL, not empty). */
#define REC_OR(row, member, why) REC_AT(row, member), .missing = REC_IF_WHY, REC_REASON(row, why)

/* A double that is missing if it is NaN, for the reason that why holds. */
#define REC_NAN_OR(row, member, why) REC_AT(row, member), .missing = REC_IF_NAN, REC_REASON(row, why)

/* A double that is missing if it is NaN, for this reason, a literal. */
#define REC_NAN_AS(row, member, reason) REC_AT(row, member), .missing = REC_IF_NAN_AS, .why = (reason)

/* A double that follows from the rest of the row: it is written and documented, and skipped on reading. */
#define REC_DERIVED(function) .type = REC_DOUBLE, .derive = (function)
#define REC_DERIVED_OR(row, function, why) REC_DERIVED(function), .missing = REC_IF_WHY, REC_REASON(row, why)

/* A table whose fields are an array. */
#define REC_TABLE(name, fields, row)                                                                                   \
    {                                                                                                                  \
        { name, &(fields)[0].column, sizeof(fields) / sizeof(fields)[0], sizeof(fields)[0] }, sizeof(row)              \
    }

/* Returns field i of the table's file.n_columns; the one of the member at that offset, which must be in the table. */
const struct rec_field *rec_field_at(const struct rec_table *t, size_t i);
const struct rec_field *rec_field_of(const struct rec_table *t, size_t offset);

/* Returns a row's value of any type as a number; NaN if it is missing or a text. */
double rec_number(const struct rec_field *f, const void *row);

/* Returns a row's text; "-" if it is missing or a number. */
const char *rec_text(const struct rec_field *f, const void *row);

/*
 * Makes a table with columns that are known at run time only: those of t, but for the one whose member is at `instead`,
 * in whose place stand n texts of these names. Their values, const char *s, lie behind the row struct. t and the names
 * must outlive it.
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

/* One file of several about the same thing, of which put() writes further lines of the head, if any, and all rows. */
struct rec_file {
    const struct rec_table *table;
    void (*put)(struct exp_csv *csv, const void *of);
    const char *what; /* NULL: that of all files */
};

/* Writes such files [n] into a folder. Returns as rec_write. */
int rec_write_files(const struct rec_file *file, size_t n, const void *of, const struct exp_outdir *dir,
                    const char *what, struct exp_why *why);

/* ---- reading ---- */

struct rec_rows {
    struct exp_table table; /* texts of the rows point into it */
    void *row;              /* [n] structs of the table's row */
    size_t n;
};

/*
 * Reads a file that has exactly the table's columns. Returns 0 or -errno as exp_table_read; -EINVAL with a line that
 * names file, line, column and value, for other columns or a cell that is not what rec_put writes.
 */
int rec_read(struct rec_rows *rows, const struct rec_table *t, const char *path, struct exp_why *why);

/*
 * Does the same for a file of any version: it must have the columns whose members are at needed[n_needed] (offsetof),
 * or all of them if n_needed is REC_ALL, in any order; columns that the table does not know are skipped. Where a column
 * is not there, a struct value has that reason, doubles are NaN, texts "" and all else is 0; where values share a
 * reason, the first in the file is kept.
 */
int rec_read_some(struct rec_rows *rows, const struct rec_table *t, const char *path, const size_t *needed,
                  size_t n_needed, struct exp_why *why);

/*
 * Does the same with a table that has been read, which needs no column: *rows is an array of table->n_rows structs,
 * from malloc; NULL on failure.
 */
int rec_rows_of(void **rows, const struct rec_table *t, const struct exp_table *table, struct exp_why *why);

#define REC_ALL SIZE_MAX

/* Tells whether a file that was read has a field's column. */
bool rec_has(const struct exp_table *table, const struct rec_field *f);

void rec_release(struct rec_rows *rows); /* leaves { 0 } */

#endif
