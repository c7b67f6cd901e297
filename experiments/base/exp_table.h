/*
 * Tables in CSV files: a header of named columns, then rows of as many fields.
 *
 * The dialect is RFC 4180 with these additions: lines whose first non-blank is `#` are comments, empty lines are
 * skipped, lines end in LF or CRLF, a UTF-8 byte order mark is skipped, blanks around an unquoted field are dropped. A
 * quoted field may contain commas, doubled quotes and line breaks. Refused: a column without a name or named twice, a
 * row with more or fewer fields than the header, text after a closing quote, a quote inside an unquoted field, a quote
 * left open, NUL bytes.
 *
 * Every error is one line "path:line: what, value". Rows and columns are numbered from 0, lines from 1.
 */
#ifndef EXPERIMENTS_EXP_TABLE_H
#define EXPERIMENTS_EXP_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "experiments/base/exp_error.h"

struct exp_table {
    char *path; /* as given, for messages */
    char *text; /* the file; fields point into it */
    size_t n_columns, n_rows;
    char **column;  /* [n_columns] names */
    char **field;   /* [n_rows][n_columns], never NULL */
    unsigned *line; /* [n_rows] where each row starts */
    unsigned header_line;
};

/*
 * Reads a file of at most 64 MiB. Returns 0; -errno of opening or reading; -EFBIG; -EINVAL if it is malformed or has no
 * header; -ENOMEM. On failure *t is empty and why holds the line.
 */
int exp_table_read(struct exp_table *t, const char *path, struct exp_why *why);

/* Does the same from memory; text is copied, path only serves the messages. */
int exp_table_parse(struct exp_table *t, const char *path, const char *text, size_t text_bytes, struct exp_why *why);

void exp_table_release(struct exp_table *t); /* an empty or half-built table is fine */

/* Finds a column by name. Returns 0, or -ENOENT with a line that names the file and the column. */
int exp_table_column(const struct exp_table *t, const char *name, size_t *column, struct exp_why *why);

/* Returns one field as text, owned by t. */
const char *exp_table_string(const struct exp_table *t, size_t row, size_t column);

/*
 * Reads one field as a whole number >= 0 in decimal, or as a finite real number. Returns 0; -EINVAL if it is empty or
 * not such a number; -ERANGE if it does not fit. *value is set only on success.
 */
int exp_table_u64(const struct exp_table *t, size_t row, size_t column, uint64_t *value, struct exp_why *why);
int exp_table_double(const struct exp_table *t, size_t row, size_t column, double *value, struct exp_why *why);

#endif
