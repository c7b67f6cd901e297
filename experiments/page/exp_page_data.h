/*
 * A table of a result folder with what its head says: "# key: value" lines, and a "# column name [unit]: meaning" line
 * for each column (exp_csv.h writes them).
 */
#ifndef EXPERIMENTS_EXP_PAGE_DATA_H
#define EXPERIMENTS_EXP_PAGE_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_table.h"
#include "experiments/record/record.h"
#include "experiments/page/exp_page_writer.h"

struct exp_page_csv {
    struct exp_table table; /* without rows if there is no file */
    void *row;              /* [table.n_rows] structs of the record that it was read with; NULL */
    char *head;             /* its lines, each ended by a line feed; "" */
};

/* Reads <folder>/<file>. Returns 0, also if there is no such file; -errno with one line in why. */
int exp_page_csv_read(struct exp_page_csv *csv, const char *folder, const char *file, struct exp_why *why);

/* Does the same with a file that is a record, of any version. */
int exp_page_csv_read_rows(struct exp_page_csv *csv, const char *folder, const struct rec_table *t,
                           struct exp_why *why);
void exp_page_csv_release(struct exp_page_csv *csv);

/* Returns a cell; "" if there is no such row or column. */
const char *exp_page_csv_cell(const struct exp_page_csv *csv, size_t row, const char *column);

/* Returns a cell's number; NaN if it has none. */
double exp_page_csv_number(const struct exp_page_csv *csv, size_t row, const char *column);

/* Finds the first row that has a value in a column; the number of rows if there is none. */
size_t exp_page_csv_find(const struct exp_page_csv *csv, const char *column, const char *value);

/* Copies what the head says of a key, such as "commit"; "" if nothing. */
void exp_page_csv_said(const struct exp_page_csv *csv, const char *key, char *text, size_t bytes);

/* ---- parts of such tables on a page ---- */

enum exp_page_format {
    EXP_PAGE_TEXT,
    EXP_PAGE_WHOLE,   /* 1 234 567 */
    EXP_PAGE_DECIMAL, /* three digits that matter at least */
};

/* A column of a page's table, made of one of the CSV file's. */
struct exp_page_field {
    const char *column;
    const char *title; /* "@1" to "@3" stand for the names of levels; NULL: the column's name */
    const char *unit;  /* NULL: the column's */
    enum exp_page_format format;
    double scale;                         /* of numbers; 0 is 1 */
    const char *(*say)(const char *text); /* what people call a value; NULL */
    bool is_link;                         /* to what target says of the row */
};

enum { EXP_PAGE_FIELDS = 32, EXP_PAGE_LEVELS = 3 };

struct exp_page_extract {
    const struct exp_page_csv *csv;
    const char *caption;
    const struct exp_page_field *field; /* first texts, then numbers */
    size_t n_fields;
    const size_t *row; /* [n_rows] */
    size_t n_rows;
    const char *level[EXP_PAGE_LEVELS];                 /* names */
    const char *(*target)(const void *ctx, size_t row); /* id of a section, or NULL */
    const void *ctx;
    bool is_long;
    bool is_brief; /* what columns mean, and why some are not there, is said elsewhere */
};

/*
 * Writes such a table. Columns without a single value are left out; of those that could not be had a line below says
 * why. Writes nothing if no column is left.
 */
void exp_page_extract_write(struct exp_page_writer *w, const struct exp_page_extract *x);

/* Writes a number with enough digits for a reader, thousands apart by narrow blanks; "" for NaN. */
void exp_page_print_number(char *text, size_t bytes, double value, enum exp_page_format format);

/* Writes bytes as "4.5 KiB". */
void exp_page_print_bytes(char *text, size_t bytes, double value);

#endif
