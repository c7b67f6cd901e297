/* Words of a command: for a program that is started without a shell. */
#ifndef EXPERIMENTS_EXP_TEXT_H
#define EXPERIMENTS_EXP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/exp_error.h"

struct exp_words {
    char **word; /* [n], and a NULL behind them: as execv takes them. NULL as long as there are none */
    size_t n;
    int err; /* the first error of adding: -ENOMEM. It sticks */
};

/* Adds a word like printf's. Starts from { 0 }. */
void exp_words_add(struct exp_words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Adds the words of a text, split as a shell does: at blanks; what stands in '...' is as it is; in "..." and outside,
 * a backslash takes the next character as it is. Nothing is replaced and nothing executed. Returns 0, or -EINVAL if a
 * quote is not closed.
 */
int exp_words_split(struct exp_words *w, const char *text);

void exp_words_release(struct exp_words *w); /* leaves { 0 } */

/*
 * Sentences for a terminal: lines are broken at blanks where they are too long. A line that begins with EXP_LABEL has a
 * word in front, and its rest stands below its own words.
 */

#define EXP_LABEL "  %-12s " /* for a word of at most 12 letters */

/* Runs say(ctx, text), which returns 0 or -errno, and prints what it wrote. Returns that, or -ENOMEM. */
int exp_wrap_print(int (*say)(const void *ctx, FILE *text), const void *ctx, FILE *out);

/* Names that stand for files (models and machines), and slips in names. */

bool exp_name_ends_in(const char *name, const char *suffix); /* and is not the suffix alone */

struct exp_names {
    const char *what;       /* "model" */
    const char *folder;     /* whose files the names stand for, */
    const char *suffix;     /* with this appended */
    const char *also;       /* a name without a file, after a blank; or "" */
    const char *else_taken; /* "the path of a .cfg file" */
};

/* Writes one line that says that a name is unknown and lists the known ones, as far as they fit. Returns -ENOENT. */
int exp_names_unknown(const struct exp_names *n, const char *name, struct exp_why *why);

/* Finds what somebody may have meant: sim_nearest_word (sim/machine/machine_words.h). */
const char *exp_names_nearest(const char *word, const char *const *known, size_t n);

/*
 * Adds a name to a comma-separated list from malloc, unless it is there. Returns whether it is there now; if not, out
 * of memory, *list is NULL.
 */
bool exp_names_add(char **list, const char *name);

/*
 * A stream into memory, as open_memstream makes one. glibc's does not tell when it cannot grow: what is written then is
 * lost, and neither ferror nor fclose says so. This one says so in both.
 */

/*
 * Opens a stream whose text lies in *text, of *bytes before its '\0', whenever it is flushed, and after it is closed:
 * even if that fails. *text is to be freed afterwards. Returns NULL when out of memory, with *text NULL.
 */
FILE *exp_memory_open(char **text, size_t *bytes);

#endif
