/*
 * An OpenCL device that runs programs of a layer: in a process of its own, which may crash or hang. libOpenCL.so.1 is
 * loaded at run time; built without its header (package opencl-headers), everything here says so.
 */
#ifndef EXPERIMENTS_PAPERS_LIFT_DEVICE_H
#define EXPERIMENTS_PAPERS_LIFT_DEVICE_H

#include "experiments/papers/lift/lift.h"

/* A layer with tensors, and what must come out. */
struct lift_task {
    struct conv_problem layer;
    float *input, *filters; /* [c][h][w], [k][c][r][s] */
    float *want;            /* [k][p][q] */
    float *bound;           /* [k][p][q]: how far off each may be; NULL: not at all */
};

/*
 * Fills the tensors with small integers, whose sums are exact, or, if those would be too large, or `is_real`, with
 * numbers between -1 and 1; and computes what must come out, on so many threads. Returns 0 or -EINTR.
 */
int lift_task_init(struct lift_task *t, const struct conv_problem *layer, bool is_real, unsigned n_threads);
void lift_task_release(struct lift_task *t);

struct lift_about {
    char name[128], platform[128], version[128];
    bool is_cpu;
    uint32_t units;
    struct lift_limits limits;
};

/* What became of a program. */
enum lift_end {
    LIFT_RAN,
    LIFT_REFUSED,   /* it does not build, or the device takes no such work-group */
    LIFT_NO_MEMORY, /* a buffer cannot be had */
    LIFT_WRONG,     /* another output */
    LIFT_HUNG,      /* it took longer than it may */
    LIFT_CRASHED,   /* the process ended */
    LIFT_N_ENDS
};

extern const char *const lift_ends[LIFT_N_ENDS]; /* in words; of the first, "" */

struct lift_run {
    enum lift_end end;
    uint32_t n_rounds;
    uint64_t build_ns, first_ns; /* of the wall's clock: the text and its kernels; the first round */
    uint64_t cpu_ns;             /* shortest round: of the process, and so of all the device's threads on a CPU */
    uint64_t event_ns;           /* shortest round: the sum of all kernels, by the device's events */
    uint64_t kernel_ns[LIFT_MOST_KERNELS]; /* of that round */
    char why[256];                         /* a line; "" if it ran */
};

struct lift_device;

/*
 * Starts a process with a device: number `which` of those that clinfo lists, over all platforms. Threads: of a CPU
 * device of PoCL; 0: its own choice. Returns 0; -ENOENT if there is no OpenCL or no such device, which says what to
 * install; with a line in why.
 */
int lift_device_open(struct lift_device **d, unsigned which, unsigned n_threads, struct exp_why *why);
void lift_device_close(struct lift_device *d); /* NULL is fine */
const struct lift_about *lift_device_about(const struct lift_device *d);

/* Says which layer is run from now on. The task must outlive it. */
void lift_device_take(struct lift_device *d, const struct lift_task *task);

/*
 * Runs a point, or, if it is NULL, a single output of each work-item: compares the output of the first round, and goes on
 * until `ms` have passed or there are as many `rounds`. Ends the process after limit_s seconds; the next run starts
 * another. A slot from 1 to LIFT_MOST_SLOTS keeps the point loaded, and checked, for the next time; 0 does not.
 */
enum { LIFT_MOST_SLOTS = 4 };

void lift_device_run(struct lift_device *d, const struct lift_point *p, unsigned flags, unsigned rounds, unsigned ms,
                     unsigned limit_s, unsigned slot, struct lift_run *run);

/*
 * Has another process build a point that is to be run, beside those that run, on a processor that they leave free.
 * Returns false if it takes none: it has LIFT_MOST_AHEAD of them, or this device has no such process (PoCL has).
 * lift_device_built takes the next one of these, and tells its tag; false: it is not ready, and none will be if
 * limit_s, the seconds that it may take, is not 0. What could not be built is ready, too: whoever runs it finds out.
 */
enum { LIFT_MOST_AHEAD = 2 };

bool lift_device_ahead(struct lift_device *d, const struct lift_point *p, size_t tag);
bool lift_device_built(struct lift_device *d, unsigned limit_s, size_t *tag);

#endif
