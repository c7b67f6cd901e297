/*
 * Errors of the modules of this folder: a code to act on, and one line for the reader. Lack of memory is no error to
 * act on: the program ends.
 */
#ifndef EXPERIMENTS_BASE_ERROR_H
#define EXPERIMENTS_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* One line for the reader: the failure and its cause. The line has room for two long paths and a sentence. */
struct exp_why {
    char text[1024];
};

/*
 * Prints the line into why; a line that is too long loses its middle; control characters become blanks. why may be
 * NULL. Returns err.
 */
int exp_fail(struct exp_why *why, int err, const char *line, ...) __attribute__((format(printf, 3, 4)));

/*
 * Returns the text of an error; err is -errno. Two texts are "interrupted" and "out of memory"; all remaining texts are
 * the system's. The text lasts until the thread's next call.
 */
const char *exp_error_text(int err);

/* Print one line into text[bytes], as exp_fail does, for a text that is no error. The second function appends. */
void exp_say(char *text, size_t bytes, const char *line, ...) __attribute__((format(printf, 3, 4)));
void exp_say_more(char *text, size_t bytes, const char *line, ...) __attribute__((format(printf, 3, 4)));

/*
 * Memory, to be freed by free(). None of the functions returns NULL: for lack of memory, the program ends as
 * exp_program_out_of_memory (program.h) says. Thread-safe.
 */

void *exp_new(size_t n, size_t bytes);                  /* n elements of `bytes` bytes, all zero */
void *exp_resize(void *memory, size_t n, size_t bytes); /* as realloc; new elements are not set */
char *exp_copy_text(const char *text);
void *exp_copy_bytes(const void *from, size_t n, size_t bytes); /* n elements of `bytes` bytes */

/*
 * Appends an element, all zero, to an array that only this function grows, starting from NULL and *n = 0. Returns the
 * new element: struct lake *l = exp_append(&lake, &n_lakes, sizeof *lake), where `lake` is a struct lake *.
 */
void *exp_append(void *array, size_t *n, size_t bytes);

/* Returns a string like printf's. */
char *exp_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *exp_format_list(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/*
 * Opens a stream into memory, like open_memstream, where writing never fails. The text is in *text, with *bytes bytes
 * before the '\0', after each flush and after closing.
 */
FILE *exp_memory_open(char **text, size_t *bytes);

#endif
