/* Compiles plans for those who run them: each once, when it is asked for first. */
#ifndef EXPERIMENTS_EXP_EMIT_CODER_H
#define EXPERIMENTS_EXP_EMIT_CODER_H

#include "experiments/setup/exp_algo.h"

struct exp_emit_coder {
    struct exp_coder base;
    struct exp_emit_coder_part *part;
};

/* Returns 0 or -ENOMEM. Its code lives as long as it does. */
int exp_emit_coder_new(struct exp_emit_coder **coder);
void exp_emit_coder_free(struct exp_emit_coder *coder); /* NULL is fine */

#endif
