/* Words that people type for something that is not here: unsupported.def. */
#ifndef EXPERIMENTS_BENCH_UNSUPPORTED_H
#define EXPERIMENTS_BENCH_UNSUPPORTED_H

#include <stddef.h>

enum exp_unsupported { EXP_UNSUPPORTED_VARIABLE, EXP_UNSUPPORTED_MACHINE, EXP_UNSUPPORTED_UKR };

/* Returns what is to be said of a word that is not known: a static text; NULL: nothing. Capitals mean nothing. */
const char *exp_unsupported(enum exp_unsupported kind, const char *word);

#endif
