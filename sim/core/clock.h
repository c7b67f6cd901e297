/*
 * Says how long a core takes for a stream of accesses, and what it waits for: a clock beside a simulation of caches.
 *
 * The stream comes in steps, each with what the core does beside its accesses (struct sim_work). After each step the
 * clock looks at what the simulation counted meanwhile, and adds the step's cycles. It is an interval model: a core
 * issues as fast as its narrowest resource lets it, until it meets what it has to wait for; what its window hides of
 * that is not waited for. Exact order, not exact cycles.
 *
 *   computing    the slowest of: multiply-adds, loads, operations, each by what the core does of them in a cycle
 *   storing      what stores take longer than that; and stores that miss: as many as the store_buffers hold leave, in
 *                order, beside all else of the step, the others make those behind them wait. At most store_misses of
 *                their lines are on their way. Calls make most stores in little time
 *   calls        operations that wait for one another, and the mispredicted end of every loop; less the multiply-adds
 *                that are still waiting in the window then
 *   waiting      for loads that a level beyond the first, or memory, serves. A window of operations, with no more loads
 *                than load_buffers, reaches so many of them at once, at most the first level's miss_buffers: such a
 *                group waits once, its latency less the time that the work in the window takes
 *   translating  likewise, for page walks: the second level's latency for each table, walkers at once
 *   lines        between neighbouring levels, and from and to memory, lines pass one after the other. Those that no
 *                miss buffer holds at the end of a step are waited for, as for the level that they come from
 *   order        a line from memory that is near none of those read before takes memory_scattered_cycles more, and no
 *                other line passes meanwhile: it is waited for, whatever else the step does, unless a prefetch
 *                instruction asked for it
 *
 * Eight choices were made with counts in view, so that these counts do not test them. Seven were made with what a Zen 3
 * counted of five models; machines/zen3.cfg says of each what speaks for it:
 *
 *   rules    how stores that miss wait; which lines from memory are out of order (one of five rules)
 *   values   4 bytes a cycle from memory; 4.3 operations a cycle in loops; 1.7 operations a cycle in serial code
 *   the prefetcher of L1's streams sees all accesses, not misses alone; it asks 8 lines ahead, not 7
 *
 * The eighth was made with times of a Sapphire Rapids in view: a prefetch instruction does not pay for a line out of
 * order. The other rules and values were chosen without counts, or with counts of patterns of known addresses.
 *
 * Left out: dependences between operations but those of calls, ports beside those of loads, stores and multiply-adds,
 * which lines of a group a load really waits for, when a prefetched line comes, and other users of shared levels.
 *
 * Sources: interval simulation (Eyerman, Eeckhout and others; Sniper) for groups of misses and what a window hides; the
 * ECM model (kerncraft) for transfers beside the core's work.
 */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include "sim/hierarchy.h"

/* What a step does beside its accesses. */
struct sim_work {
    double operations;        /* with those that access memory, without the serial ones */
    double serial_operations; /* of code that runs once for many accesses: calls, what prepares loops */
    double macs;              /* multiply-add instructions */
    double loops;
};

/* Where cycles go. */
struct sim_cycles {
    double computing, storing, calls, translating;
    double waiting[SIM_MAX_LEVELS + 1]; /* for the levels beyond the first; memory is the one after the last */
};

struct sim_clock {
    const struct sim_machine *machine;
    const struct sim_hierarchy *hierarchy;
    struct sim_cell seen[SIM_USUAL_TAGS][SIM_MAX_PHASES]; /* what was counted when the clock last looked */
    double owed[SIM_MAX_LEVELS + 1];                      /* cycles that lines of a level will still take */
    struct sim_cycles phase[SIM_MAX_PHASES];
};

/* Says why there are no cycles of a machine, as words that follow its name: "has no [core]". NULL if there are. */
const char *sim_clock_why_not(const struct sim_machine *m);

/* Starts at 0. Both must outlive it; the machine has cycles, and the hierarchy, whose counts are 0, simulates it. */
void sim_clock_init(struct sim_clock *c, const struct sim_machine *m, const struct sim_hierarchy *h);

/* Adds a step whose accesses, all of one phase and with usual tags, have gone through the hierarchy. */
void sim_clock_step(struct sim_clock *c, unsigned phase, const struct sim_work *w);

double sim_cycles_sum(const struct sim_cycles *c);
void sim_cycles_add(struct sim_cycles *sum, const struct sim_cycles *c);

#endif
