/*
 * Holds what a simulation counted. All counts are exact integers.
 *
 * Terms
 *   load, store      one load or store instruction's access as it reached the first level, whatever its width
 *   read, write      a line request arriving at a level. At the first level: one per line that a load or store touches
 *                    (a straddling access makes two). Further out: line fetches and write-backs from the level inside.
 *   load miss        of a level: a load at least one of whose lines was in neither this level nor any inside it, that
 *                    is, on whose behalf a read missed here (hierarchy.h says how lines of different sizes count).
 *                    Counted once per load, as MEM_LOAD_RETIRED:Lx_MISS does, so load_misses / loads is the
 *                    paper's miss rate.
 *   write-back       a dirty victim leaving this level for the next one out
 *   prefetch fill    a line that a prefetcher of this level, or a software prefetch at the first level, brought in; the
 *                    requests it makes further out are ordinary reads there. Never a read, write or load miss here
 *   useful, useless  a prefetched line met by its first read or write here; one that left before that
 *   late             of the useful ones, those met before they had come, by anything but a prefetch: fewer requests of
 *                    the core (lines that its loads and stores touch) after they were asked for than the prefetcher's
 *                    `late`. There is no other notion of time. Hardware counts such a line among those in by demand,
 *                    but not what page walks bring in: see sim_cell_demand_fills
 *   lines in         lines put into this level: by reads and writes that missed, by prefetches, by evictions of the
 *                    level inside
 *   software fills   of the prefetch fills, those by prefetch instructions
 *   asked for    by a prefetcher, but for lines beyond the block that it stays in and those that a full queue drops: what
 *                was not brought was there, or in a combining buffer
 *   compulsory, capacity, conflict
 *                    every miss (read or write) of a level with classify = 3c is one of the three: the level was never
 *                    asked for the line before; or a fully associative LRU cache of as many lines, asked the same,
 *                    misses it too; or neither. So conflict is whatever sets, policy and invalidations cost
 *
 * Each count is kept per tag and phase. Requests carry the tag and phase of the access that caused them; a write-back
 * carries the tag of the store that last dirtied the line and the phase in which it is evicted. A useful or useless
 * prefetch carries the tag of the access that caused the prefetch and the phase in which it turned out so.
 */
#ifndef SIM_STATS_H
#define SIM_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/access.h"
#include "sim/base/levels.h"

struct sim_level_counts {
    uint64_t reads;       /* line reads arriving */
    uint64_t read_misses; /* of those, not present */
    uint64_t writes;      /* line writes arriving */
    uint64_t write_misses;
    uint64_t load_misses; /* load instructions not served by this level or any inside it */
    uint64_t write_backs; /* dirty lines sent outwards */
    uint64_t clean_fills; /* of an exclusive level: clean lines taken over from the level inside; not reads or writes */
    uint64_t back_invalidations; /* lines lost because an inclusive level further out evicted theirs */
    uint64_t lines_in;           /* whatever brought them */
    uint64_t prefetch_fills;
    uint64_t software_fills; /* of these, by prefetch instructions */
    uint64_t useful_prefetches;
    uint64_t late_prefetches; /* of these, not there yet */
    uint64_t useless_prefetches;
    uint64_t compulsory_misses; /* these three are 0 without classify = 3c */
    uint64_t capacity_misses;
    uint64_t conflict_misses;
};

struct sim_tlb_counts {
    uint64_t uses; /* pages touched by accesses; of the second TLB: misses of the first */
    uint64_t misses;
    uint64_t walk_fills; /* of the last TLB: lines that page walks brought into the first level */
};

enum { SIM_NEAR_LINES = 2, SIM_READ_LATELY = 16 };

struct sim_cell { /* everything that is counted for one (tag, phase) */
    uint64_t loads;
    uint64_t stores;
    uint64_t load_bytes;
    uint64_t store_bytes;
    struct sim_level_counts level[SIM_MAX_LEVELS];
    uint64_t memory_read_lines;      /* lines of the last level's size, fetched from memory */
    uint64_t memory_scattered_lines; /* of these, all that no prefetch instruction asked for and that are more than
                                        SIM_NEAR_LINES away from each of the SIM_READ_LATELY read before, by virtual
                                        address; 0 without memory_scattered_cycles */
    uint64_t memory_written_lines;   /* write-backs that reached memory, and combined non-temporal stores */
    uint64_t memory_stores;          /* stores that reached memory one by one, through write-through levels */
    uint64_t memory_store_bytes;
    uint64_t nt_stores;           /* of the stores: non-temporal ones, however the machine treats them */
    uint64_t software_prefetches; /* prefetch instructions, whether or not the machine heeds them */
    struct sim_tlb_counts tlb[SIM_MAX_TLBS];
};

/* What one prefetcher of a level did, over all tags and phases; its level counts the same of all of them. */
struct sim_prefetch_counts {
    uint64_t asked, brought, useful, late, useless;
};

/*
 * The counts of as many tags as usual. Of more tags there are several of these in a row: tag t is in the one of number
 * t / SIM_USUAL_TAGS, which sim_stats_cell() finds.
 */
struct sim_stats {
    size_t n_levels;
    struct sim_cell cell[SIM_USUAL_TAGS][SIM_MAX_PHASES];
    struct sim_prefetch_counts prefetcher[SIM_MAX_LEVELS][SIM_N_PREFETCHERS]; /* of all tags, in the first of a row */
};

/* Returns how many of them hold so many tags. */
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

/* Lines that loads and stores brought into the first level: all but those of prefetches in time and of page walks. */
uint64_t sim_cell_demand_fills(const struct sim_cell *cell);

/*
 * The sum over all tags and phases, of the usual tags or of so many; over one tag (all its phases); over one phase (the
 * usual tags).
 */
struct sim_cell sim_stats_total(const struct sim_stats *s);
struct sim_cell sim_stats_total_of(const struct sim_stats *s, unsigned n_tags);
struct sim_cell sim_stats_tag(const struct sim_stats *s, unsigned tag);
struct sim_cell sim_stats_phase(const struct sim_stats *s, unsigned phase);

/*
 * What a prefetcher of a level did, by its place in the machine, with the usual tags. SIM_SOFTWARE_PREFETCHER of the
 * first level: instructions, of which each is taken to ask for a line.
 */
struct sim_prefetch_counts sim_stats_prefetcher(const struct sim_stats *s, size_t level, size_t prefetcher);

#endif
