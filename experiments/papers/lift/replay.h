/*
 * Replays the kernels of a point without running the point: the text of the OpenCL C is compiled as C (shim.h) with
 * access instrumentation, runs work-item after work-item in PoCL's order, and the accesses go through a simulated
 * machine. The same text, compiled as PoCL compiles the text, gives the work of the instructions (count.awk); the clock of
 * the simulated core (sim/core/clock.h) makes cycles of the work. Values are never looked at: no access depends on
 * values.
 *
 *   build.c    the text as C: compiled, loaded, and run by work-items
 *   replay.c   a part of each kernel's work, simulated, and the cost of all work
 *   rank.c     how well estimates rank the timed points
 */
#ifndef EXPERIMENTS_PAPERS_LIFT_REPLAY_H
#define EXPERIMENTS_PAPERS_LIFT_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "experiments/papers/lift/lift.h"
#include "experiments/papers/lift/recorder.h"
#include "sim/core/clock.h"

/* ---- the text, compiled (build.c) ---- */

struct lift_build; /* several programs; not thread-safe, distinct ones are independent */

enum lift_build_kind {
    LIFT_RECORDED, /* with access instrumentation */
    LIFT_COUNTED   /* as PoCL compiles it, with code that counts basic blocks and records accesses but
                      to the stack, and never calls full(): x86-64 only */
};

/*
 * Compiles programs, all with the same flags, into an object, in a folder of its own, which lives as long as the build.
 * Returns 0; -ENOTSUP if there is no compiler, or the blocks of this processor's code are not known; -EIO if the text
 * does not compile; another -errno; with a line in why.
 */
int lift_build_new(struct lift_build **b, enum lift_build_kind kind, const struct lift_program *const *program,
                   size_t n, struct exp_why *why);
void lift_build_free(struct lift_build *b); /* NULL is fine */

/* Some work-items of a work-group: ranges of both dimensions. */
struct lift_range {
    size_t group[2], first[2], end[2];
};

/* Buffers of a program in reserved memory, which is taken where memory is touched; all zero. */
struct lift_memory {
    unsigned char *at;
    float *buffer[LIFT_N_ROLES];
};

int lift_memory_new(struct lift_memory *m, struct exp_why *why);
void lift_memory_clear(struct lift_memory *m); /* gives touched memory back */
void lift_memory_free(struct lift_memory *m);  /* { 0 } is fine */

/* Returns the buffer of a record's address, LIFT_N_ROLES for none, and the place in the buffer. */
enum lift_role lift_memory_find(const struct lift_memory *m, uint64_t address, uint64_t *offset);

/* Runs work-items of kernel k of program i. */
void lift_build_run(struct lift_build *b, size_t i, size_t k, const struct lift_memory *m, size_t band,
                    const struct lift_range *items);

struct lift_recorder *lift_build_recorder(struct lift_build *b);

/*
 * Tells the work of the work-items that ran since the last call. Returns false for a recorded build, whose work is not
 * known.
 */
bool lift_build_work(struct lift_build *b, struct sim_work *w);

/* ---- replays (replay.c) ---- */

/*
 * The simulated part of a point's work: at least a single work-item of each kernel, then until there are this many
 * accesses.
 */
struct lift_part {
    uint64_t warm, counted; /* accesses; the first `warm` accesses warm the caches up */
};

extern const struct lift_part lift_usual_part;

/*
 * Two properties of a core and a device: the share of a line's latency that the core waits for, where no prefetcher
 * asked in time; and the cycles to launch a work-group. The first was chosen with 74 points of VGG-16's conv5_1 and
 * conv3_2 in view, on a Zen 3; the second, on an Emerald Rapids, with 299 points of conv1_1. These points also showed
 * that stores wait.
 */
#define LIFT_WAITING_SHARE 0.025
#define LIFT_GROUP_CYCLES 50.0

/* The sums over all work of a point, estimated from a part. Lines are lines into a level from the next level out. */
struct lift_replayed {
    double share_percent; /* of the partial convolution's work-items in the simulated part */
    double loads, stores;
    double lines[SIM_MAX_LEVELS]; /* by simulated level, the first two */
    double demanded;              /* into the first level, by no prefetcher */
    double written;               /* into the first level, of the buffer that the running kernel writes */
    double fetched[LIFT_N_ROLES]; /* into the first level, by buffer */
    double core_cycles;      /* of the core's clock, as if all data were at hand; NaN where the cycles are not known */
    double waiting_cycles;   /* for lines */
    double launching_cycles; /* of work-groups */
    double groups;           /* of all kernels */
    char why[160];           /* the reason for a missing replay; "" if there is a replay */
};

struct lift_replayer;

/* Makes a replayer for a machine; prefetchers of the machine take part. Returns 0 or -errno, with a line in why. */
int lift_replayer_new(struct lift_replayer **r, const struct sim_machine *m, const struct lift_part *part,
                      struct exp_why *why);
void lift_replayer_free(struct lift_replayer *r); /* NULL is fine */

/* Replays points of a layer, [n], into to[n]. A point without a replay has the reason there. Returns 0, or -EINTR. */
int lift_replay(struct lift_replayer *r, const struct conv_problem *layer, const struct lift_point *p, size_t n,
                struct lift_replayed *to, struct exp_why *why);

#endif
