/* The forms of direct kernels: a form's kernels differ in their vectors only. Internal to kernels/. */
#ifndef KERNELS_UKR_DIRECT_FORMS_H
#define KERNELS_UKR_DIRECT_FORMS_H

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

extern const struct conv_direct_form conv_direct_columns_form, conv_direct_pointwise_form, conv_direct_dot_form;

void conv_direct_emit_columns(const struct conv_direct *d, const struct conv_direct_args *a, struct sim_sink *sink);
void conv_direct_emit_pointwise(const struct conv_direct *d, const struct conv_direct_args *a, struct sim_sink *sink);
void conv_direct_emit_dot(const struct conv_direct *d, const struct conv_direct_args *a, struct sim_sink *sink);

#endif
