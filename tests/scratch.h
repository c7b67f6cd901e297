/* A folder for the files of the running test, one at a time. What goes wrong here fails the test at once. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <stddef.h>

/* Makes the folder; one that a failed test left is removed first. */
void scratch_open(void);

/* Removes the folder and the files in it. */
void scratch_close(void);

/* Returns the path of a file in the folder, from a ring of four: valid until the fourth call after this one. */
const char *scratch_path(const char *name);

/* Makes a file of these bytes, or of a text, and returns its path as above. */
const char *scratch_write(const char *name, const void *content, size_t bytes);
const char *scratch_text(const char *name, const char *text);

/* Does statements of SQL on a database in it. Returns the first value of the first row as a number, -1 without rows. */
long long scratch_sql(const char *name, const char *sql);

#endif
