/*
 * Samples a replay: most steps of a nest are skipped, and the counts of a whole replay are estimated from the rest.
 * Internal to this room, apart from the options and the quantities with intervals.
 *
 * Pieces   A piece is a step of the nest, or a part of a long step. A class holds pieces of equal kind, size and part
 *          in their pass over the packed set. Pieces of a long step that read new elements are a class of their own:
 *          few pieces have all waits for memory, where an im2col reads each plane many times. A unit is a row of
 *          neighbouring pieces, some hundred thousand accesses. Units with equal sets of classes are a stratum.
 * Choice   The nest runs once without a simulation: all pieces and their accesses are known before anything is
 *          simulated. A stratum of which n units are wanted has n equal parts, and a random unit of each part is drawn.
 *          Units at equal distances would follow the rows of windows.
 * Modes    A drawn unit is simulated exactly, after pieces that warm up the first level and the prefetchers. Of skipped
 *          pieces, the lines alone go through TLBs and the caches behind the first: their footprint. A box of lines
 *          goes when the caches may lack the lines. In front of a drawn unit, a box goes whenever the first level would
 *          have lost the box, until the second level has forgotten all boxes before. Micro-kernel steps leave
 *          footprints by forms (sample_forms.h), without accesses. Packing steps that read from memory are accesses
 *          where there are prefetchers, which run ahead of each row into the rows of later steps; the last packing
 *          steps before a drawn unit are simulated, too; long steps are sampled piece by piece. The first level is
 *          after a skipped part as before: a working set as large as the first level needs some thirty passes until
 *          tree-plru is in the steady state, and a warm-up has ten.
 * Estimate Accesses are counted in all pieces. Lines from and to memory are counted in all pieces, too: as simulated,
 *          or by the footprint. Each further count of a class and stratum is the drawn pieces' count per access times
 *          all accesses of the class in the stratum. Then the weights of drawn units change until the drawn pieces add up
 *          to the counted lines from memory, and the rest of the difference passes the levels behind the first.
 * Interval The drawn units are clusters: the variance is the variance of a ratio estimate with strata (Cochran, Sampling
 *          Techniques, 3rd ed., 6.13, 9A), with t-quantiles by Satterthwaite's degrees of freedom, and with a bias of
 *          each quantity that validation sets. Where the intervals of cycles or of lines into the first level are wider
 *          than wanted, a second run simulates further units (Neyman's allocation).
 *
 * Sources: SMARTS (Wunderlich and others, ISCA 2003) for samples with functional warming; here the nest's own
 * steps are the strata, and the footprint takes the place of warming access by access.
 */
#ifndef EXPERIMENTS_BENCH_REPLAY_SAMPLE_H
#define EXPERIMENTS_BENCH_REPLAY_SAMPLE_H

#include "experiments/bench/replay/replay.h"

enum { EXP_SAMPLE_VIEWS = 2 }; /* the machine, and its caches alone */

/* One simulation of a stream. */
struct exp_sample_view {
    struct sim_hierarchy *h;
    const struct sim_machine *machine;
    bool has_stack;          /* the stack's accesses are a part of the stream */
    struct sim_clock *clock; /* NULL: no cycles */
    /* The results. */
    struct sim_stats stats;
    struct sim_cycles cycles[CONV_N_PHASES];
    double pm[EXP_N_SAMPLED]; /* half of the 95 % interval of each quantity */
};

struct exp_sample {
    const struct exp_sampling *how;
    struct exp_sample_view view[EXP_SAMPLE_VIEWS];
    size_t n_views;
    bool is_warming; /* the run only fills the caches: all pieces are skipped, and there are no results */
    bool draws_all;  /* all units are drawn: for tests */
    bool may_repeat; /* the caches may be emptied for a second run */
    double share;    /* of the accesses, the simulated share, warm-ups included */
};

/* Takes the quantities from counts. */
void exp_sample_quantities(double of[EXP_N_SAMPLED], const struct sim_machine *m, const struct sim_cell *sum,
                           double cycles);

/*
 * Replays a plan's nest through all views, sampled. Returns as exp_replay_plan; -ERANGE without results if the stream is
 * too short to be sampled: more than half would have to be simulated.
 */
int exp_sample_plan(const struct exp_replay_plan *r, struct exp_sample *s, uint64_t *mac_instructions);

#endif
