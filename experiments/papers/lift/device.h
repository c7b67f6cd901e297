/*
 * An OpenCL device that runs programs of a layer: in a process of its own, which may crash or hang. libOpenCL.so.1 is
 * loaded at run time. Built without OpenCL's header (package opencl-headers), all functions here say so.
 */
#ifndef EXPERIMENTS_PAPERS_LIFT_DEVICE_H
#define EXPERIMENTS_PAPERS_LIFT_DEVICE_H

#include "experiments/papers/lift/lift.h"

/* A layer with tensors and the right output. */
struct lift_task {
    struct conv_problem layer;
    float *input, *filters; /* [c][h][w], [k][c][r][s] */
    float *want;            /* [k][p][q] */
    float *bound;           /* [k][p][q]: how far off each may be; NULL: not at all */
};

/*
 * Fills the tensors with small integers, whose sums are exact, or, if the sums would be too large, or `is_real`, with
 * numbers between -1 and 1; computes the right output, on this many threads. Returns 0 or -EINTR.
 */
int lift_task_init(struct lift_task *t, const struct conv_problem *layer, bool is_real, unsigned n_threads);
void lift_task_release(struct lift_task *t);

struct lift_about {
    char name[128], platform[128], version[128];
    bool is_cpu;
    uint32_t units;
    struct lift_limits limits;
};

/* The end of a program. */
enum lift_end {
    LIFT_RAN,
    LIFT_REFUSED,   /* the program does not build, or the device refuses the work-group */
    LIFT_NO_MEMORY, /* a buffer cannot be had */
    LIFT_WRONG,     /* another output */
    LIFT_HUNG,      /* the program ran longer than allowed */
    LIFT_CRASHED,   /* the process ended */
    LIFT_N_ENDS
};

extern const char *const lift_ends[LIFT_N_ENDS]; /* in words; of the first, "" */

struct lift_run {
    enum lift_end end;
    uint32_t n_rounds;
    uint64_t build_ns, first_ns; /* of the wall's clock: the text and the kernels; the first round */
    uint64_t cpu_ns;             /* shortest round: of the process, including all the device's threads on a CPU */
    uint64_t event_ns;           /* shortest round: the sum of all kernels, by the device's events */
    uint64_t kernel_ns[LIFT_MOST_KERNELS]; /* of the shortest round */
    char why[256];                         /* a line; "" if the program ran */
};

struct lift_device;

/*
 * Starts a process with a device: number `which` of clinfo's list, over all platforms. Threads: of a CPU device of
 * PoCL; 0: PoCL's choice. Returns 0; -ENOENT if there is no OpenCL or no such device, with the packages to install in
 * why.
 */
int lift_device_open(struct lift_device **d, unsigned which, unsigned n_threads, struct exp_why *why);
void lift_device_close(struct lift_device *d); /* NULL is fine */
const struct lift_about *lift_device_about(const struct lift_device *d);

/* Says the layer of all later runs. The task must outlive the device's use. */
void lift_device_take(struct lift_device *d, const struct lift_task *task);

/*
 * Runs a point, or, for NULL, the text with a single output for each work-item: compares the output of the first round,
 * and continues until `ms` have passed or `rounds` have run. Ends the process after limit_s seconds; the next run
 * starts another. A slot from 1 to LIFT_MOST_SLOTS keeps the point loaded, and checked, for the next time; 0 does not.
 */
enum { LIFT_MOST_SLOTS = 4 };

void lift_device_run(struct lift_device *d, const struct lift_point *p, unsigned flags, unsigned rounds, unsigned ms,
                     unsigned limit_s, unsigned slot, struct lift_run *run);

/*
 * Has the builder build a point that is to be run, beside running points, on a free processor. Returns false if the
 * builder takes no point: LIFT_MOST_AHEAD points wait, or the device has no builder (PoCL has). lift_device_built takes
 * the next of these points, and tells its tag; false: the point is not ready, and no point will be ready if limit_s,
 * the seconds for the build, is not 0. A point that could not be built is ready, too: the run says why.
 */
enum { LIFT_MOST_AHEAD = 2 };

bool lift_device_ahead(struct lift_device *d, const struct lift_point *p, size_t tag);
bool lift_device_built(struct lift_device *d, unsigned limit_s, size_t *tag);

#endif
