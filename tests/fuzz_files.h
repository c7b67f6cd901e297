/* Files and messages of the fuzz targets. */
#ifndef TESTS_FUZZ_FILES_H
#define TESTS_FUZZ_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Prints a line on stderr. Returns false. */
bool fuzz_complain(const char *what, const char *value);

/* Tells whether a message is a single line that starts with the input's name. */
bool fuzz_is_message(const char *why, const char *name);

/* Returns a file of the bytes, to be read from the start. */
FILE *fuzz_file(const void *data, size_t size);

#endif
