/*
 * The lines of skipped pieces (sample.h): bursts become boxes of neighbouring lines. A box goes to the caches when the
 * caches may lack the box, or may hold the box too far back in their order for the accesses left until a simulated
 * piece.
 */
#ifndef EXPERIMENTS_BENCH_REPLAY_SAMPLE_LINES_H
#define EXPERIMENTS_BENCH_REPLAY_SAMPLE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/access.h"
#include "sim/base/footprint.h"
#include "sim/base/stats.h"

enum { EXP_SAMPLE_BOX_WAYS = 4, EXP_SAMPLE_BOX_SETS = 1 << 14 };

/* A touched box of lines. A forgotten box is touched again: closer to all accesses. */
struct exp_sample_box {
    uint64_t key;           /* of the lines and the kind of access; 0: none */
    uint32_t touched, time; /* of the touch, modulo 2^32 */
};

/* Neighbouring lines of the current piece, gathered. */
struct exp_sample_open {
    uint64_t first, end;
    uint8_t kind, tag, phase;
};

/* Accesses of a burst by kind, tag and phase. */
struct exp_sample_accesses {
    uint64_t n, bytes;
    uint8_t kind, tag, phase;
};

/*
 * A burst without its place: addresses are relative to the first run with the run's tag. Bursts of equal micro-kernel
 * calls differ in their places alone, so their intervals of lines are found once.
 */
struct exp_sample_shape {
    size_t n_runs; /* 0: no shape */
    uint64_t n_times;
    struct sim_run run[SIM_MAX_BURST_RUNS];
    size_t n_lattices; /* of all runs, joined */
    struct sim_lattice lattice[SIM_MAX_BURST_RUNS];
    uint8_t of[SIM_MAX_BURST_RUNS]; /* the first run of each lattice */
    size_t n_accesses;
    struct exp_sample_accesses accesses[SIM_MAX_BURST_RUNS];
};

enum { EXP_SAMPLE_SHAPES = 64, EXP_SAMPLE_OPEN = 24 };

struct exp_sample_lines {
    void (*touch)(void *ctx, const struct sim_run *lines); /* takes a box: an access of a byte for each line */
    void *ctx;
    unsigned line_shift;
    uint64_t recent, lasting; /* lines kept by the first level, and lines kept by the last level at least */
    uint64_t accesses;        /* of the stream until now */
    uint64_t accesses_left;   /* until the order of lines matters */
    bool is_long;             /* a long step, which touches no box twice */
    bool is_far;              /* for touch: no simulated piece follows soon */
    struct exp_sample_box (*box)[EXP_SAMPLE_BOX_WAYS]; /* [EXP_SAMPLE_BOX_SETS], owned */
    uint64_t touched;                                  /* lines */
    struct exp_sample_open open[EXP_SAMPLE_OPEN];
    size_t n_open;
    struct exp_sample_shape *shape; /* [EXP_SAMPLE_SHAPES], owned */
};

void exp_sample_lines_init(struct exp_sample_lines *l, unsigned line_shift, uint64_t level_lines,
                           void (*touch)(void *ctx, const struct sim_run *lines), void *ctx);
void exp_sample_lines_release(struct exp_sample_lines *l);

/* Forgets all boxes: the caches are empty. */
void exp_sample_lines_clear(struct exp_sample_lines *l);

/*
 * Takes a burst of a skipped piece, and adds the burst's accesses to cells ([tag * SIM_MAX_PHASES + phase]). Stores that
 * pass the caches (SIM_STORE_NT) and prefetch instructions are counted, and leave no lines.
 */
void exp_sample_lines_add(struct exp_sample_lines *l, const struct sim_run *run, size_t n_runs, uint64_t n_times,
                          struct sim_cell *cell);

/* Tells whether a box has to go to the caches, and notes the answer. */
bool exp_sample_lines_wants(struct exp_sample_lines *l, uint64_t first, uint64_t n, bool is_store);

/* Ends a piece: gathered lines go to the caches. */
void exp_sample_lines_end(struct exp_sample_lines *l);

#endif
