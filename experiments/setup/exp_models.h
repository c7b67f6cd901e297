/* Several models at once, as a command line names them. */
#ifndef EXPERIMENTS_EXP_MODELS_H
#define EXPERIMENTS_EXP_MODELS_H

#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_model.h"

enum { EXP_MAX_MODELS = 64 };

struct exp_models {
    struct exp_model model[EXP_MAX_MODELS];
    size_t n; /* >= 1 once read */
};

/*
 * Reads comma-separated models (exp_model_find), without the blanks around their names; "all" or "": the paper's seven.
 * Of each, keeps the layers that match patterns (exp_model_filter), or all if that is "". Returns 0, or as those two
 * with one line in why; -EINVAL for too many, or for two of the same name. On failure *m is empty.
 */
int exp_models_read(struct exp_models *m, const char *experiments_dir, const char *list, const char *patterns,
                    struct exp_why *why);

void exp_models_release(struct exp_models *m);

/* Counts the layers of all tables in experiments_dir/models that match a pattern; NaN if there is none. */
double exp_models_rows(const char *experiments_dir, const char *pattern);

#endif
