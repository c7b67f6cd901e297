/*
 * Compares kernels with plain loops: random shapes with forced edges, buffers that end where a guard page begins and
 * start off alignment, poisoned outputs, error bounds from the arithmetic.
 */
#ifndef TESTS_KCHECK_H
#define TESTS_KCHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/backend/base.h"
#include "kernels/blas/blas.h"
#include "kernels/ukr/f32_openblas.h"
#include "kernels/conv_naive.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/plan/plan.h"
#include "kernels/shape/problem.h"

/*
 * Returns a valid random shape, small, biased to edges: 1, tile and tile +- 1, stride, padding, dilation, groups,
 * batch.
 */
struct conv_problem kcheck_random_problem(void);

/* Returns a random shape with a wide stride along rows, without padding. */
struct conv_problem kcheck_random_patches(void);

/* Returns a random shape that a direct kernel takes. */
struct conv_problem kcheck_random_direct(const struct conv_direct *d);

/* Any of SConv's options. */
struct conv_sconv_options kcheck_random_options(void);

/* conv_dead_rows by definition, window by window and tap by tap. A row is left even if all rows are dead. */
struct conv_dead_rows kcheck_dead_rows(const struct conv_problem *p, size_t win0, size_t n_win);

/* Returns the shape in one line, for messages; valid until the next call. */
const char *kcheck_describe(const struct conv_problem *p);

/* Every micro-kernel for SConv's plans: ours, and the micro-kernels of OpenBLAS's cores, runnable here or not. */
struct kcheck_ukrs {
    size_t n;
    const struct conv_ukr *ukr[32];
    struct conv_blas_ukr openblas[8];
};

/* Loads OpenBLAS for good, if OpenBLAS is installed. The tables are never freed. */
const struct kcheck_ukrs *kcheck_ukrs(void);

/* Returns a random micro-kernel. */
const struct conv_ukr *kcheck_random_ukr(void);

/* An array that ends right before an unmapped page. */
struct kbuffer {
    void *map;
    size_t map_bytes;
    float *data; /* 4-byte aligned, usually no more */
};

int kbuffer_init(struct kbuffer *b, size_t n_floats);
void kbuffer_release(struct kbuffer *b);

struct kcheck {
    struct conv_problem p;
    bool exact; /* inputs are small integers: results must be equal, not close */
    struct kbuffer buffer[2];
    float *in, *filter;
};

int kcheck_init(struct kcheck *k, const struct conv_problem *p, bool exact);
void kcheck_release(struct kcheck *k);

/*
 * Executes the plan (packs filters first if the plan expects packed filters) and compares. 0, -EILSEQ with the place,
 * or -errno.
 */
int kcheck_run(struct kcheck *k, const struct conv_plan *plan, struct conv_mismatch *where);
/* Executes by run() with equal tensors: filters are not packed before. */
int kcheck_run_with(struct kcheck *k, const struct conv_plan *plan,
                    int (*run)(const struct conv_plan *plan, const struct conv_binding *bind),
                    struct conv_mismatch *where);
int kcheck_run_base(struct kcheck *k, const struct conv_plan *plan, const struct conv_blas *blas,
                    struct conv_mismatch *where);

/* Random tiles packed and compared element by element with the definition; 0, or -EILSEQ with the index. */
int kcheck_pack_windows(const struct conv_pack_windows *pack, const struct conv_problem *p, size_t width,
                        size_t *index);

/* Returns a panel width that the routine writes; and windows per micro-kernel tile of panels by rows, or 0. */
size_t kcheck_random_width(const struct conv_pack_windows *pack);
size_t kcheck_random_live(size_t width);

/* A micro-kernel call, overwriting and accumulating, against the definition; the outputs' surroundings must survive. */
int kcheck_ukr(const struct conv_ukr *u, size_t n_win, size_t n_f, size_t k);

#endif
