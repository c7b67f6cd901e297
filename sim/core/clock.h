/*
 * Computes a core's cycles for a stream of accesses, and the reasons for waits: a clock beside a simulation of caches.
 *
 * The stream comes in steps. Each step states the core's work beside its accesses (struct sim_work). After each step
 * the clock reads how the simulation's counters changed, and adds the step's cycles. The clock is an interval model: a
 * core issues at the rate of the narrowest resource until the core must wait for an event; a wait costs nothing as far
 * as the core's window hides the wait. The model aims at the right order of variants, not at exact cycles.
 *
 *   computing    the slowest of: multiply-adds, loads, operations, each by the core's rate per cycle. Multiply-adds
 *                wait mac_latency_cycles for the sum before, where a loop has few sums; chains of short loops pass side by
 *                side in the window. Narrow loads may have a rate of their own. Where transfers_overlap is no, loads and
 *                the lines between caches take turns: the sum of both counts; where outer, lines into the first level do
 *   storing      the time of stores beyond computing; and missing stores: store_buffers stores leave in order, beside
 *                the step's further work, and further stores wait. At most store_misses lines of stores are in flight.
 *                Calls make most stores in little time. Where a wide store takes more than a cycle, the stores of sums at
 *                the end of a loop stop the multiply-adds
 *   calls        operations that depend on one another, and the mispredicted end of every loop of more than
 *                foreseen_passes; less the multiply-adds that still wait in the window at the end of the loop
 *   waiting      for loads served by a level beyond the first, or by memory. A window of operations, with at most
 *                load_buffers loads, reaches a group of missing loads at once, at most the first level's miss_buffers.
 *                A group waits once: its latency, less the time of the work in the window. A prefetched line on its way
 *                delays a load by the rest of the latency (sim_hierarchy_set_pace); loads in the window wait together
 *   translating  the same rule for page walks: the second level's latency for each table, `walkers` walks at once
 *   lines        between neighbouring levels, and from and to memory, lines pass one after the other. At the end of a
 *                step the core waits for the lines that no miss buffer holds, as for the level that sends the lines.
 *                Lines of tensors that a step only stores to may come slower (memory_store_bandwidth_bytes_per_cycle)
 *   order        a line from memory that is far from all lines read before takes memory_scattered_cycles more, and no
 *                further line passes meanwhile. The core waits for the line, beside any work of the step, unless a
 *                prefetch instruction asked for the line; or, where scattered_stores_overlap is yes, the step only stores
 *                to the line's tensor: memory's time then passes beside the work. Nothing waits for a line that a
 *                prefetcher asked for, where scattered_prefetches_overlap is yes
 *
 * Some choices were made with counts or times in view, which do not test the choices: sim_clock_choice lists each
 * choice, and machines/zen3.cfg gives the evidence. All further rules and values were chosen without counts, or with
 * counts of patterns of known addresses.
 *
 * Left out: dependences between operations except in calls; ports except for loads, stores and multiply-adds; the line
 * of a group that a load really waits for; and other users of shared levels.
 *
 * Sources: interval simulation (Eyerman, Eeckhout and others; Sniper) for groups of misses and for the window; the ECM
 * model (kerncraft) for transfers beside the core's work.
 */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include "sim/hierarchy.h"

/* The work of a step beside its accesses. */
struct sim_work {
    double operations;        /* with the operations that access memory, without the serial operations */
    double serial_operations; /* operations of code that runs once for many accesses: calls, preparation of loops */
    double macs;              /* multiply-add instructions */
    double loops;
    double chained_macs; /* multiply-adds of the longest chain of each loop: each waits for the sum before */
};

/* Where cycles go. */
struct sim_cycles {
    double computing, storing, calls, translating;
    double waiting[SIM_MAX_LEVELS + 1]; /* for the levels beyond the first; memory stands after the last level */
};

struct sim_clock {
    const struct sim_machine *machine;
    struct sim_hierarchy *hierarchy;
    struct sim_cell seen[SIM_USUAL_TAGS][SIM_MAX_PHASES]; /* counts at the clock's last look */
    double owed[SIM_MAX_LEVELS + 1];                      /* cycles that the lines of a level will still take */
    struct sim_cycles phase[SIM_MAX_PHASES];
};

/*
 * Returns why a machine has no cycles, in words that follow the machine's name: "has no [core]"; NULL: the machine has
 * cycles.
 */
const char *sim_clock_why_not(const struct sim_machine *m);

/*
 * Starts at 0. The machine and the hierarchy must outlive the clock. The hierarchy simulates the machine, and all its
 * counts are 0. Only a machine with cycles may be stepped.
 */
void sim_clock_init(struct sim_clock *c, const struct sim_machine *m, struct sim_hierarchy *h);

/* Adds a step. All accesses of the step have one phase and usual tags, and have gone through the hierarchy. */
void sim_clock_step(struct sim_clock *c, unsigned phase, const struct sim_work *w);

/*
 * Adds a part of the stream, with counts of the phase before and after the part. The hierarchy's counts are not
 * read.
 */
void sim_clock_between(struct sim_clock *c, unsigned phase, const struct sim_cell before[SIM_USUAL_TAGS],
                       const struct sim_cell after[SIM_USUAL_TAGS], const struct sim_work *w);

/* Forgets lines still on their way, as after a part of the stream that the clock did not see. */
void sim_clock_resume(struct sim_clock *c);

/* Returns a choice that was made with counts or times in view, in words; NULL after the last choice. */
const char *sim_clock_choice(size_t i);

double sim_cycles_sum(const struct sim_cycles *c);
void sim_cycles_add(struct sim_cycles *sum, const struct sim_cycles *c);

#endif
