/*
 * columns.json: what the columns of all CSV files of a folder hold, for programs. The file is a Data Package of
 * Frictionless Data: each table is a resource, whose Table Schema has each column's name, type, unit, meaning and
 * source.
 */
#ifndef EXPERIMENTS_BASE_SCHEMA_H
#define EXPERIMENTS_BASE_SCHEMA_H

#include "experiments/base/csv.h"
#include "experiments/base/error.h"

/* The columns as written, why_missing included. */
size_t exp_csv_n_columns(const struct exp_csv_file *file);
const struct exp_csv_column *exp_csv_column_at(const struct exp_csv_file *file, size_t i);

/*
 * Adds a table to the folder's columns.json, in place of an earlier table of the same name. Returns 0, or -errno with
 * one line in why.
 */
int exp_schema_add(const char *folder, const struct exp_csv_file *file, struct exp_why *why);

#endif
