/*
 * The counts of a simulation. All counts are exact integers.
 *
 * Terms
 *   load, store      the access of a load or store instruction as the access reached the first level, of any width
 *   read, write      a line request arriving at a level. At the first level: one per line that a load or store touches
 *                    (a straddling access makes two). Further out: line fetches and write-backs from the level inside.
 *   load miss        of a level: a load with at least one line that was in neither this level nor any level inside, in
 *                    other words, a read for the load missed here (hierarchy.h has the rule for lines of different
 *                    sizes). Counted once per load, as MEM_LOAD_RETIRED:Lx_MISS does, so load_misses / loads is the
 *                    paper's miss rate.
 *   write-back       a dirty victim leaving this level for the next level out
 *   prefetch fill    a line that a prefetcher of this level, or a software prefetch at the first level, brought in. The
 *                    requests further out are ordinary reads there. Never a read, write or load miss here
 *   useful, useless  a prefetched line that is read or written here; a line that left before
 *   late             useful lines whose first use, by anything but a prefetch, came before the line did: fewer requests
 *                    of the core (lines that its loads and stores touch) after the prefetch than the prefetcher's
 *                    `late`. There is no other notion of time. Hardware counts a late line among the lines of demand,
 *                    but not the lines that page walks bring in: see sim_cell_demand_fills
 *   lines in         lines put into this level: by reads and writes that missed, by prefetches, by evictions of the
 *                    level inside
 *   software fills   the prefetch fills by prefetch instructions
 *   asked for        lines that a prefetcher asked for, without lines beyond the prefetcher's block and lines that a
 *                    full queue dropped. Lines not brought were present, or in a combining buffer
 *   compulsory, capacity, conflict
 *                    every miss (read or write) of a level with classify = 3c is one of the three. Compulsory: the
 *                    level was never asked for the line before. Capacity: a fully associative LRU cache of as many
 *                    lines, with the same requests, misses the line, too. Conflict: all further misses, the cost of
 *                    sets, policy and invalidations
 *
 * Each count is kept per tag and phase. Requests carry the tag and phase of the access that caused the request. A
 * write-back carries the tag of the last store to the line and the phase of the eviction. A useful or useless prefetch
 * carries the tag of the access that caused the prefetch and the phase in which the prefetch was used, or the line
 * left.
 */
#ifndef SIM_STATS_H
#define SIM_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/access.h"
#include "sim/base/levels.h"

struct sim_level_counts {
    uint64_t reads;        /* line reads arriving */
    uint64_t read_misses;  /* reads of absent lines */
    uint64_t ahead_misses; /* read_misses for prefetches and page walks */
    uint64_t writes;       /* line writes arriving */
    uint64_t write_misses;
    uint64_t load_misses; /* load instructions served neither by this level nor by a level inside */
    uint64_t write_backs; /* dirty lines sent outwards */
    uint64_t clean_fills; /* of an exclusive level: clean lines taken over from the level inside; not reads or writes */
    uint64_t back_invalidations; /* lines lost because an inclusive level further out evicted theirs */
    uint64_t lines_in;           /* from any source */
    uint64_t prefetch_fills;
    uint64_t software_fills; /* prefetch_fills by prefetch instructions */
    uint64_t useful_prefetches;
    uint64_t late_prefetches; /* useful_prefetches used before the line came */
    uint64_t late_cycles;     /* waits of loads for prefetched lines from further out: sim_hierarchy_set_pace() */
    uint64_t useless_prefetches;
    uint64_t compulsory_misses; /* 0 without classify = 3c, like the next two */
    uint64_t capacity_misses;
    uint64_t conflict_misses;
};

struct sim_tlb_counts {
    uint64_t uses; /* pages touched by accesses; of the second TLB: misses of the first */
    uint64_t misses;
    uint64_t walk_fills; /* of the last TLB: lines that page walks bring into the first level */
};

/*
 * A line read from memory is scattered if it is more than SIM_NEAR_LINES away from each of the lines read before, by
 * virtual address, and no prefetch instruction asked for the line. Of the lines read before, the last
 * memory_recent_lines of the machine count (sim_machine_recent_lines).
 */
enum { SIM_NEAR_LINES = 2 };

struct sim_cell { /* all counts of a (tag, phase) */
    uint64_t loads;
    uint64_t stores;
    uint64_t load_bytes;
    uint64_t store_bytes;
    struct sim_level_counts level[SIM_MAX_LEVELS];
    uint64_t memory_read_lines;      /* lines of the last level's size, fetched from memory */
    uint64_t memory_scattered_lines; /* see SIM_NEAR_LINES; 0 without memory_scattered_cycles */
    uint64_t memory_scattered_ahead; /* scattered lines for prefetchers */
    uint64_t memory_written_lines;   /* write-backs to memory, and combined non-temporal stores */
    uint64_t memory_stores;          /* single stores to memory, through write-through levels */
    uint64_t memory_store_bytes;
    uint64_t nt_stores;           /* non-temporal stores, under any machine */
    uint64_t software_prefetches; /* prefetch instructions, heeded by the machine or not */
    struct sim_tlb_counts tlb[SIM_MAX_TLBS];
};

/* Counts of a prefetcher of a level, over all tags and phases; the level's counts are the sums over its prefetchers. */
struct sim_prefetch_counts {
    uint64_t asked, brought, useful, late, useless;
};

/*
 * The counts of SIM_USUAL_TAGS tags. Simulations of more tags have an array of sim_stats: element t / SIM_USUAL_TAGS
 * has tag t; sim_stats_cell() finds the cell.
 */
struct sim_stats {
    size_t n_levels;
    struct sim_cell cell[SIM_USUAL_TAGS][SIM_MAX_PHASES];
    struct sim_prefetch_counts prefetcher[SIM_MAX_LEVELS][SIM_N_PREFETCHERS]; /* of all tags, in the first of a row */
};

/* Returns how many sim_stats hold n_tags tags. */
static inline size_t sim_stats_rows(unsigned n_tags)
{
    return (n_tags + SIM_USUAL_TAGS - 1) / SIM_USUAL_TAGS;
}

static inline const struct sim_cell *sim_stats_cell(const struct sim_stats *s, unsigned tag, unsigned phase)
{
    return &s[tag / SIM_USUAL_TAGS].cell[tag % SIM_USUAL_TAGS][phase];
}

/* Adds src to dst, count by count. */
void sim_cell_add(struct sim_cell *dst, const struct sim_cell *src);

/*
 * Returns the lines that loads and stores brought into the first level: all lines but timely prefetches and page walks.
 */
uint64_t sim_cell_demand_fills(const struct sim_cell *cell);

/*
 * The sum over all tags and phases, of the usual tags or of n_tags; over a tag (all its phases); over a phase (the
 * usual tags).
 */
struct sim_cell sim_stats_total(const struct sim_stats *s);
struct sim_cell sim_stats_total_of(const struct sim_stats *s, unsigned n_tags);

/* Takes the counts that a sample knows of all accesses: accesses from `exact`, lines from and to memory from `counted`. */
void sim_cell_take_known(struct sim_cell *to, const struct sim_cell *exact, const struct sim_cell *counted);
struct sim_cell sim_stats_tag(const struct sim_stats *s, unsigned tag);
struct sim_cell sim_stats_phase(const struct sim_stats *s, unsigned phase);

/*
 * Returns the counts of a level's prefetcher, by its index in the machine, with the usual tags. SIM_SOFTWARE_PREFETCHER
 * of the first level: prefetch instructions; each instruction counts as a request for a line.
 */
struct sim_prefetch_counts sim_stats_prefetcher(const struct sim_stats *s, size_t level, size_t prefetcher);

/* Counts n accesses of `bytes` bytes in all. Instructions and bytes do not depend on the lines. */
static inline void sim_count_accesses(struct sim_cell *cell, unsigned kind, uint64_t n, uint64_t bytes)
{
    if (kind == SIM_LOAD) {
        cell->loads += n;
        cell->load_bytes += bytes;
    } else if (kind == SIM_PREFETCH) {
        cell->software_prefetches += n;
    } else {
        cell->stores += n;
        cell->store_bytes += bytes;
        cell->nt_stores += kind == SIM_STORE_NT ? n : 0;
    }
}

#endif
