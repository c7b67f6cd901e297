/* Words of a command: for a program that is started without a shell. */
#ifndef EXPERIMENTS_EXP_WORDS_H
#define EXPERIMENTS_EXP_WORDS_H

#include <stddef.h>

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

#endif
