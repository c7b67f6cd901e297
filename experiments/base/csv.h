/*
 * CSV files as results: comment lines that describe the file, then named columns, then rows.
 *
 *     # experiment: vgg16 on clx4208          exp_csv_header(), any number, before the first row
 *     # column time_ns [ns]: median ...       one per column, from the table of columns
 *     model,layer,time_ns,why_missing
 *     vgg16,conv1_1,123456,                   rec_put() of record.h, which writes a cell for each column
 *     vgg16,conv1_2,,time_ns: TIMING=0 was asked for
 *
 * A number column holds numbers or nothing. The last column, why_missing, says why cells of the row are empty: "columns:
 * reason | columns: reason". Columns are joined by '+'; "measured_*" stands for all empty cells of columns whose names
 * begin with measured_. A file without columns that may be missing has no such column. exp_table_read() puts the
 * reasons back into the cells. columns.json beside the files describes all columns for programs.
 *
 * The first failed write or slip (a NaN, a header behind a row) makes every later call do nothing; exp_csv_close()
 * reports the slip. The file is written in place: write inside an exp_outdir, so that no half-written file is ever
 * taken for a result.
 */
#ifndef EXPERIMENTS_BASE_CSV_H
#define EXPERIMENTS_BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/outdir.h"

/* The column of reasons, and the description of all files of a folder. */
#define EXP_CSV_WHY "why_missing"
#define EXP_CSV_SCHEMA "columns.json"

#define EXP_CSV_BETWEEN " | " /* stands between two reasons */

/* The beginning of a cell that exp_table_read() fills with a reason; earlier versions wrote such cells. */
#define EXP_CSV_MISSING "not available: "

struct exp_csv_column {
    const char *name;
    const char *unit;        /* "ns", "lines", "%"; "" without a unit */
    const char *description; /* one line */
    const char *source;      /* origin of the numbers; "" if obvious */
};

/* What the cells of a column hold. */
struct exp_csv_kind {
    const char *type; /* Table Schema's word: string, number, integer or boolean (0 or 1) */
    bool may_be_missing;
};

/* A file of a result directory and its columns: this one record writes and documents the file. */
struct exp_csv_file {
    const char *name;
    const struct exp_csv_column *column; /* the first column */
    size_t n_columns;
    size_t stride_bytes; /* from one column to the next: columns may be parts of larger structs */
    struct exp_csv_kind (*kind)(const struct exp_csv_column *column); /* NULL: strings that are never missing */
};

struct exp_csv;

/*
 * Creates a file of a result directory, with a first header line "what", unless NULL. The columns are not copied and
 * must outlive the writer. Never returns NULL: exp_csv_close() reports a file that cannot be created, or a file without
 * columns (-EINVAL).
 */
struct exp_csv *exp_csv_begin(const struct exp_outdir *dir, const struct exp_csv_file *file, const char *what);

/* Writes one "# key: value" line. Line breaks in the value become blanks. */
void exp_csv_header(struct exp_csv *csv, const char *key, const char *value, ...) __attribute__((format(printf, 3, 4)));

/* The cells of a row, one for each column, in the order of the columns; and the end of the row. */
void exp_csv_string(struct exp_csv *csv, const char *value);
void exp_csv_u64(struct exp_csv *csv, uint64_t value);
void exp_csv_double(struct exp_csv *csv, double value); /* finite; reads back as the same double */
/*
 * Writes an empty cell, and notes the reason for the end of the row. Commas become semicolons, double quotes single
 * quotes, bars slashes and line breaks blanks: every comma of the line ends a field, every bar ends a reason. The
 * column may be missing (struct exp_csv_kind).
 */
char exp_csv_plain(char c); /* the replacement of a character */
void exp_csv_missing(struct exp_csv *csv, const char *reason);
void exp_csv_end_row(struct exp_csv *csv);

/*
 * Writes all buffered data to the disk, adds the file to columns.json, closes and frees. Returns 0; -ENOSPC, -EIO, ... of the first failed write;
 * -EINVAL for the first slip of the caller. why gets one line. csv may be NULL.
 */
int exp_csv_close(struct exp_csv *csv, struct exp_why *why);

/* Prints a Markdown section with the meaning of a file's columns. */
void exp_csv_document(const struct exp_csv_file *file, FILE *out);

/*
 * Tables in CSV files: a header of named columns, then rows with a field per column.
 *
 * The dialect is RFC 4180 with these additions. A line whose first non-blank character is `#` is a comment. Empty lines
 * are skipped. A line ends in LF, CR LF or CR. A UTF-8 byte order mark is skipped. Blanks (exp_text_blank) around an
 * unquoted field are dropped. A quoted field may contain commas, doubled quotes and line breaks. Refused: a column
 * without a name or named twice, a row with more or fewer fields than the header, text after a closing quote, a quote
 * inside an unquoted field, a quote left open, NUL bytes, UTF-16.
 *
 * A last column why_missing is taken off: each empty cell with a reason holds "not available: <reason>".
 *
 * Every error is one line "path:line: problem, value". Rows and columns are numbered from 0, lines from 1.
 */

struct exp_table {
    char *path; /* as given, for messages */
    char *text; /* the file; fields point into it */
    size_t n_columns, n_rows;
    char **column;  /* [n_columns] names */
    char **field;   /* [n_rows][n_columns], never NULL */
    unsigned *line; /* [n_rows] where each row starts */
    unsigned header_line;
    char **reason; /* [n_reasons] the texts of cells that were empty */
    size_t n_reasons;
};

/*
 * Reads a file of at most 64 MiB. Returns 0; -errno of opening or reading; -EFBIG; -EINVAL for a malformed file or a
 * file without a header. On failure *t is empty and why holds the line.
 */
int exp_table_read(struct exp_table *t, const char *path, struct exp_why *why);

/* Reads a table from memory; text is copied, path only serves the messages. */
int exp_table_parse(struct exp_table *t, const char *path, const char *text, size_t text_bytes, struct exp_why *why);

void exp_table_release(struct exp_table *t); /* an empty or half-built table is fine */

/* Finds a column by name. Returns 0, or -ENOENT with a line that names the file and the column. */
int exp_table_column(const struct exp_table *t, const char *name, size_t *column, struct exp_why *why);

/* Returns one field as text, owned by t. */
const char *exp_table_string(const struct exp_table *t, size_t row, size_t column);

/*
 * Reads one field as a whole number >= 0 in decimal, or as a finite real number. Returns 0; -EINVAL if the field is
 * empty or no number of this kind; -ERANGE if the number does not fit. *value is set only on success.
 */
int exp_table_u64(const struct exp_table *t, size_t row, size_t column, uint64_t *value, struct exp_why *why);
int exp_table_double(const struct exp_table *t, size_t row, size_t column, double *value, struct exp_why *why);

#endif
