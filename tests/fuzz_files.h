/* Files and messages of the fuzz targets. */
#ifndef TESTS_FUZZ_FILES_H
#define TESTS_FUZZ_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Prints a line on stderr. Returns false. */
bool fuzz_complain(const char *what, const char *value);

/* Tells whether a message is a single line that starts with the input's name. */
bool fuzz_is_message(const char *why, const char *name);

/* Returns a file of the bytes, to be read from the start. */
FILE *fuzz_file(const void *data, size_t size);

/*
 * Writes the files of an input into a folder, which the program removes at the end: the parts of the bytes between
 * lines "====", in the order of the names. A missing part is no file. Returns the folder.
 */
const char *fuzz_folder(const char *const *name, size_t n, const uint8_t *data, size_t size);

#endif
