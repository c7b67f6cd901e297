/*
 * A hierarchy of caches that consumes bursts and counts.
 *
 * Semantics (those of Dinero IV with demand fetch; what differs is at the end of this comment; held by tests against a
 * naive model, and against counts that Dinero made)
 *   set index   (address / line_bytes) mod n_sets
 *   lookup      per line, inside out; a line missing in a level is filled into it (non-inclusive, non-exclusive: no
 *               level's eviction touches another level's copy)
 *   victim      the invalid way of lowest index, else the policy's choice (lru: least recently used; any read or
 *               write of a line makes it most recently used)
 *   writes      write-back and write-allocate at every level. A store that misses fetches the line (the core's read
 *               for ownership); a write-back that misses further out allocates without fetching, because it brings the
 *               whole line, unless that level's line is larger
 *   order       on a miss: the fetch goes out first, then the write-back of the dirty victim
 *   write-back  an ordinary write at the next level out: it counts, allocates and becomes most recently used
 *   straddling  an access that covers several lines touches them in address order, each with all its consequences
 *               before the next
 *   line sizes  a request (fetch or write-back) covers one line of the level inside. Where this level's lines are
 *               larger it is a request for the one line around it; where they are smaller it is one request per line
 *               covered, in address order, each with its consequences before the next
 *   the end     dirty lines stay until sim_hierarchy_flush()
 *
 * That is what a machine file gets by default. What it can ask for instead, level by level (the keys are in machine.h):
 *
 *   policy      Another choice of victim (replacement.h), which is told of every read or write: hit or fill.
 *   write = through
 *               A write does not dirty the line: what the write covers of it goes on as a write to the next level, or
 *               to memory, after the line was fetched and before its victim is dealt with. A store that comes to memory
 *               so counts as one of memory_stores, a write-back as memory_written_lines (of the last level's size).
 *   allocate = no
 *               A write that misses does not bring the line in; it goes on in the same way. Reads always bring it in.
 *   store_fetch = partial
 *               A store of the core that covers a whole line of the level and misses brings the line in unfetched.
 *   inclusion = inclusive
 *               Whatever line this level evicts leaves all levels inside, too (back-invalidation), before anything
 *               else happens. Dirty copies are merged into the victim, which is then written back as dirty; its owner
 *               is that of the innermost dirty copy, of several in one level the one of highest address. A victim of a
 *               level inside that is still on its way out (until its write-back begins, after the fetch) counts as
 *               being there. Levels inside must not have larger lines, nor fill unfetched (store_fetch = partial).
 *   inclusion = exclusive
 *               This level and the one directly inside never both hold a line; their lines are of one size. It is
 *               filled by what the level inside evicts and by nothing else: dirty lines as write-backs, clean ones
 *               as clean fills, both after the fetch that caused the eviction. A read that hits takes the line out,
 *               and, if it was dirty, the level that the line goes to has it dirty, with its owner (whatever its write
 *               policy). A read that misses goes on; a store, or a write-back that did not fit further inside, changes
 *               a line that is here and else goes on. A level that takes a line unfetched (or as a clean fill) drops it
 *               from the exclusive levels directly outside, uncounted: their copy is out of date.
 *   indexing = physical, slices = N
 *               The set comes from the physical address (pagemap.h) and from a hash (also there).
 *   prefetch    The prefetchers of prefetch.h. The lines asked for wait in a queue, 64 at most (what finds it full is
 *               dropped). When one line of an access, or a flush, has been dealt with, with all consequences, they
 *               come in, in order, each with all its consequences: a line that is already there, or in a combining
 *               buffer, changes nothing; any other is brought in as by a read of the tag and phase that asked, but
 *               counted as a prefetch fill. Its read at the next level is an ordinary one there, which that level's
 *               prefetchers see.
 *   classify = 3c
 *               Every read and write is also shown to a fully associative LRU cache with as many lines as the level,
 *               which allocates, or gives lines up, by the level's rules; see stats.h. It knows nothing of prefetches
 *               or invalidations.
 *
 * and for the machine as a whole:
 *
 *   software_prefetch = yes
 *               SIM_PREFETCH reads, line by line, into the first level: a line that is there is refreshed, any other
 *               comes in as a prefetch fill. It is no load and misses nothing at the first level.
 *   combining_buffers = N
 *               SIM_STORE_NT goes past the caches. The unit is the largest line of any level. For every unit that the
 *               store touches, in address order: all its lines leave all levels, uncounted, their dirty bytes merging
 *               into the unit's combining buffer. If it has none and there are N, the one in use longest is written to
 *               memory first (memory_written_lines, tag of the last store into it). A load, store or heeded prefetch
 *               instruction that touches buffered units first has these written, in address order; a flush writes all,
 *               oldest first.
 *   [tlb NAME]  Every load, store and heeded prefetch instruction looks up each page that it touches, in address order,
 *               in the first TLB, and if it misses there in the second; the page is then in both.
 *   page_tables = N
 *               A page that no TLB has is looked up in N tables, one after the other, each by a read at the first level
 *               of the line in which the page's entry begins: 8 bytes for each page, in tables that start at address
 *               2^57 + i * 2^54. It carries the tag and phase of the access, misses as a read, is no load, and the
 *               first level's prefetchers do not see it. Upper levels of the tables are taken to be at hand.
 *   frame = N   Pages next to each other in a block of N bytes are so in memory, too: the page map moves whole blocks.
 *
 * Where Dinero IV (version 8) differs; in everything that both can express the two agree in every count:
 *   - it never fetches a line that a store covers as a whole: store_fetch = partial
 *   - it writes all dirty lines back at the end, sets in descending order; here sim_hierarchy_flush() does, if called
 *   - its fully associative cache for the classes has the level's own policy, the one here is always LRU
 *   - where a last level with larger lines than the one inside passes write-backs on to memory, it counts their bytes;
 *     memory_written_lines counts each as one line
 *
 * A load that straddles two lines makes two reads at the first level but at most one load miss per level: it misses a
 * level if any read made on its behalf missed there. Fetches caused by a write-back into larger lines are reads of the
 * write-back's tag and never load misses.
 */
#ifndef SIM_HIERARCHY_H
#define SIM_HIERARCHY_H

#include "sim/base/access.h"
#include "sim/machine/machine.h"
#include "sim/base/stats.h"

struct sim_hierarchy; /* one simulation; not thread-safe, but distinct objects are independent */

/* Builds an empty hierarchy. Returns 0, -EINVAL if the machine does not validate, -ENOMEM. */
int sim_hierarchy_new(struct sim_hierarchy **h, const struct sim_machine *m);
void sim_hierarchy_free(struct sim_hierarchy *h); /* NULL is fine */

/*
 * The same for tags below n_tags, at most SIM_MAX_TAGS; sim_hierarchy_new() is for SIM_USUAL_TAGS. More than those cost
 * time: the machines that are simulated fastest take about twice as long, others hardly longer. -EINVAL also for 0 or
 * too many.
 */
int sim_hierarchy_new_tags(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_tags);

/*
 * The same, simulated by up to n_threads threads at once, one of them the caller's, with equal counts: by a power of
 * two of them, of which each has its own sets. Machines whose levels can't be shared out that way (all but least
 * recently used, non-inclusive and without prefetchers and TLBs; lines of several sizes; few sets, or numbers of sets
 * that have no power of two in common) get one. Also -EAGAIN if the system has no more threads. Worth it for streams of
 * millions of accesses; several hierarchies at once, one per thread, are worth more.
 */
int sim_hierarchy_new_threads(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_threads);

/*
 * Machines whose first levels are the same simulate them once. No level of a machine that is least recently used,
 * non-inclusive and without prefetchers and TLBs can tell what is further out, so what leaves the first levels of one
 * hierarchy, the leader, goes on to the rest of others, its followers. All count what each would count alone. Other
 * machines share their first level, if it sees nothing of those behind it: none of these is inclusive and the second not
 * exclusive, stores wait in no buffers, lines are of one size, all levels write back, the first allocates what is stored,
 * and prefetchers ask for so few lines at once that none is dropped.
 *
 * sim_machine_shared_levels() says how many levels from the core on are the same and can be shared; fewer than all of
 * the follower's. sim_hierarchy_follow() makes one hierarchy follow another on so many; both are new and for as many
 * tags. From then on only the leader is fed, flushed and cleared, which does it to all; counts are asked of each. A
 * leader has any number of followers and is no follower itself; it is freed last. Returns 0 or -ENOTSUP: both are as
 * they were.
 */
size_t sim_machine_shared_levels(const struct sim_machine *leader, const struct sim_machine *follower);
int sim_hierarchy_follow(struct sim_hierarchy *follower, struct sim_hierarchy *leader, size_t n_levels);

/* Returns where the accesses go; owned by h. */
struct sim_sink *sim_hierarchy_sink(struct sim_hierarchy *h);

/*
 * Makes n accesses, in order, as records (record.h), which belong to the caller. Every 64-bit value is a valid record.
 */
void sim_hierarchy_records(struct sim_hierarchy *h, const uint64_t *record, size_t n);

/*
 * Counts so far; owned by h, valid until the next accesses or call on h. As many in a row as all tags need (stats.h).
 */
const struct sim_stats *sim_hierarchy_stats(const struct sim_hierarchy *h);

/*
 * 0, or -ENOMEM if there was not enough memory to classify misses (classify = 3c): their classes are then incomplete,
 * everything else is right. sim_hierarchy_clear() resets it.
 */
int sim_hierarchy_error(const struct sim_hierarchy *h);

void sim_hierarchy_clear_stats(struct sim_hierarchy *h); /* keeps the caches' contents: a warm start */
void sim_hierarchy_clear(struct sim_hierarchy *h);       /* empties the caches and the counts: a cold start */

/*
 * Writes every dirty line back, level by level from the core outwards, counted in the given phase; lines become clean
 * and stay. Exclusive levels are passed by. Within a level: sets in ascending order, in each the least recently used
 * line first; under policies other than lru, in order of the ways.
 */
void sim_hierarchy_flush(struct sim_hierarchy *h, unsigned phase);

#endif
