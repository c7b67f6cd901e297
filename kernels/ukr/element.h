/* Runs of single floats, and the clipping of a row of windows against the padding. Internal to kernels/ukr. */
#ifndef KERNELS_UKR_ELEMENT_H
#define KERNELS_UKR_ELEMENT_H

#include "kernels/ukr/pack.h"

/* Returns a run of count floats, stride_elems apart, at a fixed place in all repetitions. */
struct sim_run element_run(enum sim_kind kind, enum conv_tensor tag, enum conv_phase phase, uint64_t addr,
                           int64_t stride_elems, size_t count);

/* Emits an element-wise copy of n elements: load, store, load, store. */
void element_emit_copy(struct sim_run load, struct sim_run store, size_t n, struct sim_sink *sink);

/* Emits n stores in a row. */
void element_emit_stores(struct sim_run store, size_t n, struct sim_sink *sink);

/* A segment at a filter position: `before` zeros, `inside` elements from column `column` on, `after` zeros. */
struct element_clip {
    size_t before, inside, after;
    size_t row, column;
};

/* Clips the segment at filter position (fh, fw). */
struct element_clip element_clip(const struct conv_problem *p, const struct conv_segment *s, size_t fh, size_t fw);

#endif
