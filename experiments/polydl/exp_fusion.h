/*
 * PolyDL's Algorithm 3: may an element-wise operator be put into the nest before it? It then follows the last iteration
 * of the reduction loops, and what it works on is still in the nearest cache.
 *
 * The paper asks three things: that both operators write the same elements; that the element-wise one writes each once;
 * and that nothing between the two touches them. That is not enough for every nest. y[i] = f(y[i - 1]) passes, but
 * would read an element that is not final, or no longer what it was; so does an operator whose other operands are
 * computed between the two; and out[i + k] += in[i] * filter[k] has no last iteration that all elements wait for. This
 * asks for the rest, too, and fused programs then compute what the others do.
 */
#ifndef EXPERIMENTS_EXP_FUSION_H
#define EXPERIMENTS_EXP_FUSION_H

#include "experiments/polydl/exp_affine.h"

enum exp_fusion_verdict {
    EXP_FUSION_LEGAL,
    EXP_FUSION_OTHER_ELEMENTS, /* they do not write the same elements */
    EXP_FUSION_REDUCTION,      /* the second writes some element more than once: it is not element-wise */
    EXP_FUSION_BETWEEN,        /* something between them touches what they write */
    EXP_FUSION_OPERANDS,       /* something between them writes what the second reads */
    EXP_FUSION_NEIGHBOURS,     /* one of them reads elements that other iterations of it write */
    EXP_FUSION_NO_LAST,        /* elements are final in different iterations of the reduction loops */
    EXP_N_FUSION_VERDICTS,
};

struct exp_fusion {
    enum exp_fusion_verdict verdict;
    bool is_reduction[EXP_AFFINE_MAX_LOOPS]; /* loops of the heavy nest, which the other operator waits for */
};

/* Says what a verdict means, to follow "cannot be fused: " or "fused: ". */
const char *exp_fusion_reason(enum exp_fusion_verdict v);

/*
 * Decides. Arrays are the same if their names are; each nest writes one array by one access. Returns 0, or -EINVAL for
 * a nest that writes none, or several; -ENOMEM.
 */
int exp_fuse(const struct exp_affine_nest *heavy, const struct exp_affine_nest *between, size_t n_between,
             const struct exp_affine_nest *element_wise, struct exp_fusion *f);

#endif
