/*
 * Rows of numbers under named columns, as CSV or as JSON: the output of the analyses.
 *
 *   CSV    a '#' line with the trace and the meaning of the rows, the names, then a line for each row; last, a '#' line
 *          if the trace was not read to its end
 *   JSON   an object: the analysis, and "rows", an array of objects with the columns as members; last, "partial": true
 *          if the trace was not read to its end
 */
#ifndef SIM_CACHESIM_ROWS_H
#define SIM_CACHESIM_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CACHESIM_MAX_COLUMNS = 96 };

struct cachesim_rows {
    FILE *out;
    bool is_json;
    char column[CACHESIM_MAX_COLUMNS][64];
    size_t n_columns;
    size_t next; /* the column whose value comes next */
    uint64_t n_rows;
};

/* Starts: columns are added before the head, rows come after it, and the end last. */
void cachesim_rows_init(struct cachesim_rows *r, FILE *out, bool is_json);
void cachesim_rows_column(struct cachesim_rows *r, const char *name);
void cachesim_rows_tag_column(struct cachesim_rows *r, const char *what, unsigned tag);
void cachesim_rows_head(struct cachesim_rows *r, const char *trace, const char *analysis, uint32_t line_bytes,
                        const char *note);
void cachesim_rows_end(struct cachesim_rows *r, bool is_partial); /* the trace was not read to its end */

/* The values of a row, column by column; the last value ends the row. */
void cachesim_rows_count(struct cachesim_rows *r, uint64_t value);
void cachesim_rows_ratio(struct cachesim_rows *r, double value);
void cachesim_rows_text(struct cachesim_rows *r, const char *value);

#endif
