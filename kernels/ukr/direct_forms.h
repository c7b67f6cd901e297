/* The forms of direct kernels: a form's kernels differ in their vectors only. Internal to kernels/. */
#ifndef KERNELS_UKR_DIRECT_FORMS_H
#define KERNELS_UKR_DIRECT_FORMS_H

#include "kernels/shape/tensor.h"
#include "kernels/ukr/direct.h"

struct conv_direct_form {
    bool (*suits)(const struct conv_direct *d, const struct conv_problem *p);
    double (*slots)(const struct conv_direct *d, const struct conv_problem *p); /* of an image and a group */
    /* Multiply-adds of n_rows output rows of n_f filters of an image. */
    uint64_t (*fmas)(const struct conv_direct *d, const struct conv_problem *p, size_t n_rows, size_t n_f);
    double (*reread_bytes)(const struct conv_direct *d, const struct conv_problem *p);
    size_t tile_rows;     /* output rows of a tile, at most */
    size_t least_windows; /* of a call that pays */
    bool takes_batch;     /* calls take several images, and parts of a group's filters */
};

/* Where a form emits, and the elements of the kernel's vectors. */
struct conv_direct_emission {
    struct sim_sink *sink;
    size_t lanes;
};

/* Returns the run of one access of a tensor. */
static inline struct sim_run conv_direct_run(enum sim_kind kind, enum conv_tensor tag, uint64_t addr, size_t bytes)
{
    return (struct sim_run){ .addr = addr,
                             .count = 1,
                             .access_bytes = (uint32_t)bytes,
                             .kind = (uint8_t)kind,
                             .tag = (uint8_t)tag,
                             .phase = CONV_PHASE_UKR };
}

extern const struct conv_direct_form conv_direct_columns_form, conv_direct_pointwise_form, conv_direct_dot_form;

void conv_direct_emit_columns(const struct conv_direct *d, const struct conv_direct_args *a, struct sim_sink *sink);
void conv_direct_emit_pointwise(const struct conv_direct *d, const struct conv_direct_args *a, struct sim_sink *sink);
void conv_direct_emit_dot(const struct conv_direct *d, const struct conv_direct_args *a, struct sim_sink *sink);

#endif
