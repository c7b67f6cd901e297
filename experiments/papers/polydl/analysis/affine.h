/*
 * A loop nest as data, in the polyhedral model's terms: a box of iterations in the order of its loops, and accesses
 * whose subscripts are sums of multiples of the iterators. Tiled loops are loops like others: i = it * tile + ii has
 * two.
 *
 * The dependences that isl (the Integer Set Library) finds in it, and whether two nests may be fused.
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

/* One subscript of an array: first + sum of step[l] * iterator l; none is negative. */
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
    struct exp_affine_access access[EXP_AFFINE_MAX_ACCESSES]; /* of one innermost iteration, in their order */
};

/* Returns the first access to the array of an access. */
size_t exp_affine_first_access(const struct exp_affine_nest *n, size_t access);

/* A single iteration of a nest. */
struct exp_affine_point {
    uint64_t at[EXP_AFFINE_MAX_LOOPS];
};

/* Names what two accesses of the same element are, by what they do to it. */
enum exp_dependence_kind {
    EXP_READ_AFTER_READ = 1,
    EXP_READ_AFTER_WRITE = 2,
    EXP_WRITE_AFTER_READ = 4,
    EXP_WRITE_AFTER_WRITE = 8,
    EXP_ORDERED = EXP_READ_AFTER_WRITE | EXP_WRITE_AFTER_READ | EXP_WRITE_AFTER_WRITE, /* must keep their order */
};

/*
 * The pairs of iterations that access the same element and differ first in a single loop, which carries the dependence.
 * Accesses of equal subscripts have the same pairs and are one dependence.
 */
struct exp_dependence {
    const struct exp_affine_access *from, *to;
    const char *array;                    /* of both, in the nest */
    unsigned kinds;                       /* enum exp_dependence_kind, or-ed */
    size_t carrier;                       /* the loop */
    bool spans_parallel;                  /* in some pairs a parallel iterator differs */
    struct exp_affine_point source;       /* the lexicographically first source, */
    struct exp_affine_point first_target; /* and the first and the last iteration that depends on it */
    struct exp_affine_point last_target;
};

enum { EXP_MAX_DEPENDENCES = EXP_AFFINE_MAX_ACCESSES * EXP_AFFINE_MAX_ACCESSES * EXP_AFFINE_MAX_LOOPS };

/* Finds the dependences of a nest, which has loops. Returns how many there are. */
size_t exp_affine_dependences(const struct exp_affine_nest *n, struct exp_dependence d[EXP_MAX_DEPENDENCES]);

/*
 * ---- fusing ----
 *
 * PolyDL's Algorithm 3: may an element-wise operator be put into the nest before it? It then follows the last iteration
 * of the reduction loops, and what it works on is still in the nearest cache.
 *
 * The paper asks three things: that both operators write the same elements; that the element-wise one writes each once;
 * and that nothing between the two touches them. That is not enough for every nest. y[i] = f(y[i - 1]) passes, but
 * would read an element that is not final, or no longer what it was; so does an operator whose other operands are
 * computed between the two; and out[i + k] += in[i] * filter[k] has no last iteration that all elements wait for. This
 * asks for the rest, too, and fused programs then compute what the others do.
 */

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

/* They say what verdicts mean, to follow "cannot be fused: " or "fused: ". */
extern const char *const exp_fusion_reasons[EXP_N_FUSION_VERDICTS];

/*
 * Decides. Arrays are the same if their names are; each nest writes one array by a single access. Returns 0, or -EINVAL for
 * a nest that writes none, or several.
 */
int exp_fuse(const struct exp_affine_nest *heavy, const struct exp_affine_nest *between, size_t n_between,
             const struct exp_affine_nest *element_wise, struct exp_fusion *f);

#endif
