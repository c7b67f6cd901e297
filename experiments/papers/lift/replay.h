/*
 * Replays the kernels of a point that nobody has run: the text of its OpenCL C is compiled as C (shim.h) with access
 * instrumentation, runs work-item after work-item in PoCL's order, and what it accesses goes through a simulated
 * machine. The same text, compiled as PoCL compiles it, tells the work of its instructions (cost.h), which the clock of
 * the simulated core (sim/core/clock.h) makes cycles of. Values are never looked at: no access depends on them.
 *
 *   build.c    the text as C: compiled, loaded, and run by work-items
 *   replay.c   a part of each kernel's work, simulated, and what all of it costs
 *   rank.c     how well estimates rank the points that were timed
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
    LIFT_COUNTED   /* as PoCL compiles it, with code that counts basic blocks and records what instructions access but
                      for the stack, and never calls full(): x86-64 only */
};

/*
 * Compiles programs, all with the same flags, into one object, in a folder of its own that goes with the build. Returns
 * 0; -ENOTSUP if there is no compiler, or the blocks of this processor's code are not known; -EIO if the text does not
 * compile; another -errno; with a line in why.
 */
int lift_build_new(struct lift_build **b, enum lift_build_kind kind, const struct lift_program *const *program,
                   size_t n, struct exp_why *why);
void lift_build_free(struct lift_build *b); /* NULL is fine */

/* Some work-items of a work-group: ranges of both dimensions. */
struct lift_range {
    size_t group[2], first[2], end[2];
};

/* Buffers of a program in memory that is reserved, and taken where it is touched; all zero. */
struct lift_memory {
    unsigned char *at;
    float *buffer[LIFT_N_ROLES];
};

int lift_memory_new(struct lift_memory *m, struct exp_why *why);
void lift_memory_clear(struct lift_memory *m); /* gives back what was touched */
void lift_memory_free(struct lift_memory *m);  /* { 0 } is fine */

/* Returns which buffer an address of a record belongs to, LIFT_N_ROLES for none, and the place in it. */
enum lift_role lift_memory_find(const struct lift_memory *m, uint64_t address, uint64_t *offset);

/* Runs work-items of kernel k of program i. */
void lift_build_run(struct lift_build *b, size_t i, size_t k, const struct lift_memory *m, size_t band,
                    const struct lift_range *items);

struct lift_recorder *lift_build_recorder(struct lift_build *b);

/* Tells the work of the work-items that ran since the last call. Returns false for a recorded build: it is not known. */
bool lift_build_work(struct lift_build *b, struct sim_work *w);

/* ---- replays (replay.c) ---- */

/* What of a point's work is simulated: at least a single work-item of each kernel, then until there are so many accesses. */
struct lift_part {
    uint64_t warm, counted; /* accesses; those of the first warm caches up */
};

extern const struct lift_part lift_usual_part;

/*
 * What a model cannot know of a core and a device: how much of the latency of a line that nobody asked for in time
 * shows, and what launching a work-group costs, in cycles. The first was chosen with 74 points of VGG-16's
 * conv5_1 and conv3_2 in view, on a Zen 3; the second, on an Emerald Rapids, with 299 points of conv1_1. These points
 * also showed that stores wait.
 */
#define LIFT_WAITING_SHARE 0.025
#define LIFT_GROUP_CYCLES 50.0

/*
 * What all work of a point amounts to, by a part of it. Lines are those that come into a level from the next one
 * out.
 */
struct lift_replayed {
    double share_percent; /* of the partial convolution's work-items that was simulated */
    double loads, stores;
    double lines[SIM_MAX_LEVELS]; /* by level: those that are simulated, the first two */
    double demanded;              /* into the first level, by no prefetcher */
    double written;               /* into the first level, of what the kernel that runs writes */
    double fetched[LIFT_N_ROLES]; /* into the first level, by buffer */
    double core_cycles;           /* of the core's clock, as if all data were at hand; NaN where they are not known */
    double waiting_cycles;        /* for lines */
    double launching_cycles;      /* of work-groups */
    double groups;                /* of all kernels */
    char why[160];                /* why nothing is known; "" if it is */
};

struct lift_replayer;

/* Replays on a machine; its prefetchers take part if it has any. Returns 0 or -errno, with a line in why. */
int lift_replayer_new(struct lift_replayer **r, const struct sim_machine *m, const struct lift_part *part,
                      struct exp_why *why);
void lift_replayer_free(struct lift_replayer *r); /* NULL is fine */

/*
 * Replays points of a layer, [n], into to[n]. What cannot be replayed says why there. Returns 0, or -EINTR.
 */
int lift_replay(struct lift_replayer *r, const struct conv_problem *layer, const struct lift_point *p, size_t n,
                struct lift_replayed *to, struct exp_why *why);

#endif
