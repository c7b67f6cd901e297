/*
 * A folder for the files of the running test: the first use makes the folder, and the end of the test removes the
 * folder. Any error here fails the test at once.
 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <stddef.h>

/* Removes the folder with all files: the next use finds an empty folder. */
void scratch_clear(void);

/* Returns the path of a file in the folder, from a ring of four: valid until the fourth call from now. */
const char *scratch_path(const char *name);

/* Makes a file of the bytes, or of a text, and returns the file's path as scratch_path does. */
const char *scratch_write(const char *name, const void *content, size_t bytes);
const char *scratch_text(const char *name, const char *text);

/*
 * Runs SQL statements on a database in the folder. Returns the first value of the first row as a number, -1 without
 * rows.
 */
long long scratch_sql(const char *name, const char *sql);

#endif
