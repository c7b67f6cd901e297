/* A folder for the files of the running test, one folder at a time. Any error here fails the test at once. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <stddef.h>

/* Makes the folder; removes the folder of a failed test first. */
void scratch_open(void);

/* Removes the folder with all files. */
void scratch_close(void);

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
