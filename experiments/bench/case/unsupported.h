/* Words that users type for unsupported things: unsupported.def. */
#ifndef EXPERIMENTS_BENCH_CASE_UNSUPPORTED_H
#define EXPERIMENTS_BENCH_CASE_UNSUPPORTED_H

#include <stdio.h>

enum exp_unsupported { EXP_UNSUPPORTED_VARIABLE, EXP_UNSUPPORTED_MACHINE, EXP_UNSUPPORTED_UKR };

/* Returns the advice for an unknown word, a static text; NULL: no advice. Upper and lower case are equal. */
const char *exp_unsupported(enum exp_unsupported kind, const char *word);

/* Prints a line "unsupported<TAB>kind<TAB>pattern<TAB>advice" for each pattern. */
void exp_unsupported_tell(FILE *out);

#endif
