/* The modules of this folder report errors so: by a code to act on, and one line for the reader. */
#ifndef EXPERIMENTS_EXP_ERROR_H
#define EXPERIMENTS_EXP_ERROR_H

#include <stddef.h>

/* One line for the reader: what went wrong, and why. It holds two long paths and what is said of them. */
struct exp_why {
    char text[1024];
};

/* Prints the line into why; of a line that does not fit, the middle is left out; control characters become blanks.
 * why may be NULL. Returns err. */
int exp_fail(struct exp_why *why, int err, const char *line, ...) __attribute__((format(printf, 3, 4)));

/* Prints one line into text[bytes], as exp_fail does: for what is no error. The second appends to what is there. */
void exp_say(char *text, size_t bytes, const char *line, ...) __attribute__((format(printf, 3, 4)));
void exp_say_more(char *text, size_t bytes, const char *line, ...) __attribute__((format(printf, 3, 4)));

/* Returns a string like printf's, from malloc; NULL when out of memory. */
char *exp_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
