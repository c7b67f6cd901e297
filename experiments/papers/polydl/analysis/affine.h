/*
 * A loop nest as data, in the polyhedral model's terms: a box of iterations in the order of the loops, and accesses
 * whose subscripts are sums of multiples of the iterators. A tiled loop is two loops: i = it * tile + ii.
 *
 * isl (the Integer Set Library) finds the dependences of a nest, and whether two nests may be fused.
 */
#ifndef EXPERIMENTS_PAPERS_POLYDL_ANALYSIS_AFFINE_H
#define EXPERIMENTS_PAPERS_POLYDL_ANALYSIS_AFFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXP_AFFINE_MAX_LOOPS = 13, EXP_AFFINE_MAX_DIMS = 6, EXP_AFFINE_MAX_ACCESSES = 8 };

struct exp_affine_loop {
    char name[16];   /* letters and digits */
    uint64_t extent; /* iterations, at least 1: from 0 in steps of 1 */
    bool is_parallel;
};

/* A subscript of an array: first + sum of step[l] * iterator l; none is negative. */
struct exp_affine_subscript {
    uint64_t first;
    uint64_t step[EXP_AFFINE_MAX_LOOPS];
};

struct exp_affine_access {
    char array[16];
    bool is_write;
    size_t n_dims;
    struct exp_affine_subscript dim[EXP_AFFINE_MAX_DIMS];
};

struct exp_affine_nest {
    size_t n_loops; /* outermost first */
    struct exp_affine_loop loop[EXP_AFFINE_MAX_LOOPS];
    size_t n_accesses;
    struct exp_affine_access access[EXP_AFFINE_MAX_ACCESSES]; /* of an innermost iteration, in their order */
};

/* Returns the first access to the array of an access. */
size_t exp_affine_first_access(const struct exp_affine_nest *n, size_t access);

/* A single iteration of a nest. */
struct exp_affine_point {
    uint64_t at[EXP_AFFINE_MAX_LOOPS];
};

/* Names the accesses of an element, by reading and writing. */
enum exp_dependence_kind {
    EXP_READ_AFTER_READ = 1,
    EXP_READ_AFTER_WRITE = 2,
    EXP_WRITE_AFTER_READ = 4,
    EXP_WRITE_AFTER_WRITE = 8,
    EXP_ORDERED = EXP_READ_AFTER_WRITE | EXP_WRITE_AFTER_READ | EXP_WRITE_AFTER_WRITE, /* must keep their order */
};

/*
 * The pairs of iterations that access the same element and differ first in a loop, which carries the dependence.
 * Accesses with equal subscripts have equal pairs and are a single dependence.
 */
struct exp_dependence {
    const struct exp_affine_access *from, *to;
    const char *array;                    /* of both, in the nest */
    unsigned kinds;                       /* enum exp_dependence_kind, or-ed */
    size_t carrier;                       /* the loop */
    bool spans_parallel;                  /* in some pairs a parallel iterator differs */
    struct exp_affine_point source;       /* the lexicographically first source, */
    struct exp_affine_point first_target; /* and the first and the last iteration that depends on the source */
    struct exp_affine_point last_target;
};

enum { EXP_MAX_DEPENDENCES = EXP_AFFINE_MAX_ACCESSES * EXP_AFFINE_MAX_ACCESSES * EXP_AFFINE_MAX_LOOPS };

/* Finds the dependences of a nest with loops. Returns the number of dependences. */
size_t exp_affine_dependences(const struct exp_affine_nest *n, struct exp_dependence d[EXP_MAX_DEPENDENCES]);

/*
 * ---- fusing ----
 *
 * PolyDL's Algorithm 3: may an element-wise operator be put into the nest before? The operator then follows the last
 * iteration of the reduction loops, and its operand is still in the nearest cache.
 *
 * The paper asks three things: both operators write the same elements; the element-wise operator writes each element
 * once; and no statement between the two touches the elements. Some nests need more. y[i] = f(y[i - 1]) passes, but
 * would read an element that is not final or has changed; so does an operator with further operands that are computed
 * between the two; and out[i + k] += in[i] * filter[k] has no last iteration that all elements wait for. This function
 * asks for the rest, too, so fused programs compute the results of unfused programs.
 */

enum exp_fusion_verdict {
    EXP_FUSION_LEGAL,
    EXP_FUSION_OTHER_ELEMENTS, /* the operators write different elements */
    EXP_FUSION_REDUCTION,      /* the second writes some element more than once: not element-wise */
    EXP_FUSION_BETWEEN,        /* a statement in between touches the elements */
    EXP_FUSION_OPERANDS,       /* a statement in between writes an operand of the second */
    EXP_FUSION_NEIGHBOURS,     /* an operator reads elements of its other iterations */
    EXP_FUSION_NO_LAST,        /* elements are final in different iterations of the reduction loops */
    EXP_N_FUSION_VERDICTS,
};

struct exp_fusion {
    enum exp_fusion_verdict verdict;
    bool is_reduction[EXP_AFFINE_MAX_LOOPS]; /* loops of the heavy nest that the element-wise operator waits for */
};

/* The meanings of the verdicts, to follow "cannot be fused: " or "fused: ". */
extern const char *const exp_fusion_reasons[EXP_N_FUSION_VERDICTS];

/*
 * Decides. Equal names mean equal arrays; each nest writes a single array by a single access. Returns 0, or -EINVAL for
 * a nest that writes none, or several.
 */
int exp_fuse(const struct exp_affine_nest *heavy, const struct exp_affine_nest *between, size_t n_between,
             const struct exp_affine_nest *element_wise, struct exp_fusion *f);

#endif
