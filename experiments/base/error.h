/*
 * The modules of this folder report errors so: by a code to act on, and one line for the reader. That memory has ended
 * is no error that anybody acts on: it ends the program.
 */
#ifndef EXPERIMENTS_BASE_ERROR_H
#define EXPERIMENTS_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* One line for the reader: what went wrong, and why. It holds two long paths and what is said of them. */
struct exp_why {
    char text[1024];
};

/* Prints the line into why; of a line that does not fit, the middle is left out; control characters become blanks.
 * why may be NULL. Returns err. */
int exp_fail(struct exp_why *why, int err, const char *line, ...) __attribute__((format(printf, 3, 4)));

/*
 * Returns the text of an error; err is -errno. Two texts are "interrupted" and "out of memory"; all remaining texts are
 * the system's. The text lasts until the thread's next call.
 */
const char *exp_error_text(int err);

/* Prints one line into text[bytes], as exp_fail does: for what is no error. The second appends to what is there. */
void exp_say(char *text, size_t bytes, const char *line, ...) __attribute__((format(printf, 3, 4)));
void exp_say_more(char *text, size_t bytes, const char *line, ...) __attribute__((format(printf, 3, 4)));

/*
 * Memory, to be freed by free(). None of these functions returns NULL: where there is no memory, the program ends as
 * exp_program_out_of_memory (program.h) says. Thread-safe.
 */

void *exp_new(size_t n, size_t bytes);                  /* n elements of so many bytes, all zero */
void *exp_resize(void *memory, size_t n, size_t bytes); /* as realloc; what is new is not set */
char *exp_copy_text(const char *text);
void *exp_copy_bytes(const void *from, size_t n, size_t bytes); /* n elements of so many bytes */

/*
 * Appends an element, all zero, to an array that only this function grows; it starts from NULL and *n = 0. Returns it:
 * struct lake *l = exp_append(&lake, &n_lakes, sizeof *lake), where `lake` is a struct lake *.
 */
void *exp_append(void *array, size_t *n, size_t bytes);

/* Returns a string like printf's. */
char *exp_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *exp_format_list(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/*
 * Opens a stream into memory, as open_memstream does, to which writing never fails. The text lies in *text, of *bytes
 * before its '\0', whenever the stream is flushed, and after it is closed.
 */
FILE *exp_memory_open(char **text, size_t *bytes);

#endif
