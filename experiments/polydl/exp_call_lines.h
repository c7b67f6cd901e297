/*
 * The lines that the calls of a variant's micro-kernel touch in one operand, as runs: lines that are neighbours in the
 * order of their addresses within every call that touches one of them. An operand's calls are told apart by where in
 * the tensor they begin, which is a sum of multiples of the outer iterators.
 */
#ifndef EXPERIMENTS_EXP_CALL_LINES_H
#define EXPERIMENTS_EXP_CALL_LINES_H

#include "experiments/polydl/exp_variant.h"

/* Lines from first on; of runs that are not dense, the first is only a name. */
struct exp_line_run {
    uint64_t first, n_lines;
};

struct exp_call_lines {
    uint64_t step[EXP_AFFINE_MAX_LOOPS]; /* elements from one iteration of each loop to the next */
    uint64_t first_element;              /* of the iteration 0, 0, ... */
    uint64_t unit;                       /* calls begin at multiples of it after the first element */
    uint64_t n_lines;                    /* of the whole tensor */
    size_t *begin;                       /* [calls + 1], by (beginning - first) / unit: the call's runs in run[] */
    struct exp_line_run *run;
};

/*
 * Finds the runs of an access to a tensor; n_outer loops are around the calls. Returns 0 or -ENOMEM. The access's
 * subscripts must use different inner loops, as they do in a GEMM.
 */
int exp_call_lines_find(struct exp_call_lines *c, const struct exp_variant *v, const struct exp_affine_access *a,
                        const struct exp_tensor *t, uint64_t elements_per_line);
void exp_call_lines_release(struct exp_call_lines *c);

#endif
