/* Shared by the library's files: machines and plans as structs, checks of arguments, and reasons. */
#ifndef KERNELS_SCONV_INSIDE_H
#define KERNELS_SCONV_INSIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/backend/fused.h"
#include "kernels/lib/sconv.h"
#include "kernels/nest/share.h"
#include "kernels/plan/plan.h"
#include "sim/base/why.h"
#include "sim/machine/machine.h"

struct conv_wisdom;

enum { CONV_WORKSPACE_ALIGN = 64 };

struct sconv_machine {
    struct sim_machine m;
    bool is_assumed, measures; /* the caches are not known; plans are found by timing */
    bool allows_winograd;      /* SCONV_WINOGRAD: yes, or */
    double winograd_error;     /* up to this error (struct conv_winograd_options); 0: any */
    struct conv_wisdom *wisdom;
};

struct sconv_plan {
    struct conv_plan plan;
    float *packed, *bias; /* the plan's own; bias may be NULL */
    bool adds_residual, is_assumed;
    enum conv_activation activation;
    unsigned n_threads;
    enum conv_share_axis axis;
    size_t packed_bytes, thread_bytes; /* of a thread's packed windows; and of Winograd's products behind */
    size_t workspace_bytes;            /* of all threads', with room to align */
};

/* Reads a shape. Returns 0, -EINVAL or -EOVERFLOW with a reason, also where CONV_CPU is no CPU. */
int conv_read_shape(struct conv_problem *p, const struct sconv_shape *s, struct sim_why why);

/* Returns 0, or -EINVAL with a reason for weights that are missing or not aligned. */
int conv_check_weights(const float *weights, struct sim_why why);

/* Sets the plan's activation, residual and threads. Returns 0, or -EINVAL with a reason. */
int conv_read_options(struct sconv_plan *plan, const struct sconv_options *o, struct sim_why why);

/* Returns 0, or what sconv_run returns for these arguments, with a reason. */
int conv_check_run(const struct sconv_plan *plan, const float *src, const float *dst, const float *residual,
                   const void *workspace, size_t workspace_bytes, struct sim_why why);

/* Chooses the machine's plan, tuned or found by timing. Returns 0 or -errno. */
int conv_choose_plan(struct conv_plan *plan, const struct conv_problem *p, const struct sconv_machine *machine);

/* Returns the tensor of the filters that the plan's kernel reads. */
enum conv_tensor conv_filter_tensor(const struct sconv_plan *plan);

#endif
