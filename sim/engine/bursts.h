/*
 * The state of bursts_tmpl.h, the template that feeds bursts to the engines: the first level's shape, reciprocals, and
 * counts of short cuts. Internal to sim/.
 */
#ifndef SIM_BURSTS_H
#define SIM_BURSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/access.h"
#include "sim/machine/machine.h"
#include "sim/base/stats.h"

enum { SIM_N_RECIPROCALS = 257 };

/*
 * How often each short cut was taken, for tests: the tests must exercise all short cuts. clear_stats keeps these
 * counts. The full engine knows bursts only.
 */
struct sim_paths {
    uint64_t settled_times;      /* repetitions multiplied instead of walked */
    uint64_t quiet_times;        /* repetitions that walked only the moving runs */
    uint64_t moving_times;       /* repetitions of bursts with a run that moves on by lines */
    uint64_t swept_times;        /* repetitions swept, see plain/engine_plain_sweeps_tmpl.h */
    uint64_t walked_times;       /* all further repetitions */
    uint64_t runs_by_line;       /* placements of runs taken line by line */
    uint64_t runs_by_stride;     /* ... access by access, none straddling */
    uint64_t runs_by_access;     /* ... access by access, in general */
    uint64_t merged_blocks;      /* blocks of records with repeats of the record before */
    uint64_t alternating_blocks; /* ... of the record two before, in another set than the record between */
    uint64_t swapping_blocks;    /* ... in the same set, as far as is known */
    uint64_t straddling_records;
    uint64_t lone_accesses; /* bursts of a single access */
    uint64_t lone_records;  /* looked up record by record */
    uint64_t double_misses; /* accesses several of whose lines missed the first level */
    uint64_t widenings;     /* changes from compact to wide words */
};

/*
 * x / d as x * (floor(2^42 / d) + 1) >> 42, exact for x < 2^21 and 1 <= d < 2^21: the factor is (2^42 + e) / d with 0 <
 * e <= d, so the product is too large by x * e / (d * 2^42) < 1 / d, too little to reach the next integer.
 */
enum { SIM_RECIPROCAL_SHIFT = 42 };

_Static_assert(SIM_MAX_LINE_BYTES <= 1 << 21, "reciprocals are exact for lines of up to 2 MiB");

static inline uint64_t sim_reciprocal(uint64_t d)
{
    return ((uint64_t)1 << SIM_RECIPROCAL_SHIFT) / d + 1;
}

struct sim_bursts {
    uint32_t line_bytes;
    unsigned line_shift;
    uint64_t n_sets, set_mask;              /* set_mask: n_sets - 1, if has_mask */
    bool has_mask;                          /* the number of sets is a power of two */
    uint64_t reciprocal[SIM_N_RECIPROCALS]; /* of short distances */
    struct sim_paths paths;
};

/* Sets all members except for the paths. */
void sim_bursts_init(struct sim_bursts *b, const struct sim_level *first);

#endif
