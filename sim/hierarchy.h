/*
 * A hierarchy of caches that consumes bursts and counts.
 *
 * Semantics. They equal Dinero IV's with demand fetch; the differences are at the end of this comment. Tests compare
 * every count with a naive model and with counts of Dinero.
 *   set index   (address / line_bytes) mod n_sets
 *   lookup      per line, inside out; a line missing in a level is filled into the level (non-inclusive, non-exclusive:
 *               no level's eviction touches another level's copy)
 *   victim      the invalid way of lowest index, else the policy's choice (lru: least recently used; any read or
 *               write of a line makes the line most recently used)
 *   writes      write-back and write-allocate at every level. A store that misses fetches the line (the core's read
 *               for ownership). A write-back that misses further out allocates without a fetch, because the write-back
 *               brings the whole line, unless the outer level's line is larger
 *   order       on a miss: the fetch goes out first, then the write-back of the dirty victim
 *   write-back  an ordinary write at the next level out: the write counts, allocates and becomes most recently used
 *   straddling  an access that covers several lines touches the lines in address order, each line with all consequences
 *               before the next line
 *   line sizes  a request (fetch or write-back) covers one line of the level inside. Where this level's lines are
 *               larger, the request is for the line around the inner line. Where this level's lines are smaller, there
 *               is a request per covered line, in address order, each with all consequences before the next
 *   the end     dirty lines stay until sim_hierarchy_flush()
 *
 * A machine file gets this by default. A machine file can change the following, level by level (machine.h has the
 * keys):
 *
 *   policy      Another choice of victim (replacement.h). The policy sees every read and write, hit or fill.
 *   write = through
 *               A write does not dirty the line: the covered bytes go on as a write to the next level, or to memory,
 *               after the line was fetched and before its victim is written back. A store that reaches memory in this
 *               way counts in memory_stores, a write-back in memory_written_lines (of the last level's size).
 *   allocate = no
 *               A write that misses does not bring the line in; the write goes on in the same way. Reads bring lines
 *               in.
 *   store_fetch = partial
 *               A store of the core that covers a whole line of the level and misses brings the line in without a
 *               fetch.
 *   inclusion = inclusive
 *               A line that this level evicts leaves all levels inside, too (back-invalidation), before anything
 *               else happens. Dirty copies are merged into the victim, and the victim is written back as dirty. The
 *               victim's owner is the owner of the innermost dirty copy; of several copies in a level, the owner of the
 *               copy of highest address. A victim of a level inside that is still on its way out (until its write-back
 *               begins, after the fetch) counts as present. Levels inside must not have larger lines, nor fill without
 *               a fetch (store_fetch = partial).
 *   inclusion = exclusive
 *               This level and the level directly inside never both hold a line; both levels have lines of equal size.
 *               Evictions of the level inside fill this level, and nothing else does: dirty lines as write-backs, clean
 *               lines as clean fills, both after the fetch that caused the eviction. A read that hits takes the line
 *               out. If the line was dirty, the level that receives the line has it dirty, with its owner (under any
 *               write policy). A read that misses goes on. A store, or a write-back that found no room further inside,
 *               changes a line that is here, and goes on otherwise. A level that takes a line without a fetch (or as a
 *               clean fill) drops the line from the exclusive levels directly outside, uncounted: their copy is stale.
 *   indexing = physical, slices = N
 *               The set comes from the physical address (pagemap.h) and from a hash (pagemap.h, too).
 *   prefetch    The prefetchers of prefetch.h. Requested lines wait in a queue of at most 64 lines; a full queue drops
 *               requests. When a line of an access, or a flush, is finished with all consequences, the queued lines
 *               come in, in order, each with all consequences. A line that is already present, or in a combining
 *               buffer, changes nothing. Any further line is brought in like a read of the tag and phase of the
 *               request, but counts as a prefetch fill. The read at the next level is an ordinary read there, and the
 *               next level's prefetchers see the read.
 *   classify = 3c
 *               A fully associative LRU cache with as many lines as the level also gets every read and write. The cache
 *               allocates, and gives lines up, by the level's rules; see stats.h. The cache sees no prefetches and no
 *               invalidations.
 *
 * and for the machine as a whole:
 *
 *   software_prefetch = yes
 *               SIM_PREFETCH reads, line by line, into the first level: a present line is refreshed, an absent line
 *               comes in as a prefetch fill. The instruction is no load and misses nothing at the first level.
 *   combining_buffers = N
 *               SIM_STORE_NT goes past the caches. The unit is the largest line of any level. For every unit that the
 *               store touches, in address order: all lines of the unit leave all levels, uncounted; their dirty bytes
 *               merge into the unit's combining buffer. If the unit has no buffer and N buffers are in use, the oldest
 *               buffer is written to memory first (memory_written_lines, tag of the last store into the buffer). A
 *               load, store or heeded prefetch instruction that touches buffered units has these units written first,
 *               in address order. A flush writes all buffers, oldest first.
 *   [tlb NAME]  Every load, store and heeded prefetch instruction looks up each touched page, in address order, in the
 *               first TLB, and after a miss in the second TLB; afterwards the page is in both TLBs.
 *   page_tables = N
 *               A page that no TLB holds is looked up in N tables, in order, each by a read at the first level of the
 *               line in which the page's entry begins: 8 bytes for each page, in tables that start at address
 *               2^57 + i * 2^54. The read carries the tag and phase of the access, misses as a read, is no load, and
 *               the first level's prefetchers do not see the read. Upper levels of the tables are assumed to be at
 *               hand.
 *   frame = N   Neighbouring pages in a block of N bytes are neighbours in memory, too: the page map moves whole
 *               blocks.
 *
 * Differences to Dinero IV (version 8). In everything else that both can express, all counts agree:
 *   - Dinero never fetches a line that a store covers as a whole: store_fetch = partial
 *   - Dinero writes all dirty lines back at the end, sets in descending order; here only sim_hierarchy_flush() does
 *   - Dinero's fully associative cache for the classes has the level's policy; the cache here is always LRU
 *   - where a last level with larger lines than the level inside passes write-backs on to memory, Dinero counts bytes;
 *     memory_written_lines counts each write-back as one line
 *
 * A load that straddles two lines makes two reads at the first level but at most one load miss per level: the load
 * misses a level if any read made for the load missed there. Fetches caused by a write-back into larger lines are reads
 * of the write-back's tag and never load misses.
 */
#ifndef SIM_HIERARCHY_H
#define SIM_HIERARCHY_H

#include "sim/base/access.h"
#include "sim/machine/machine.h"
#include "sim/base/stats.h"

struct sim_hierarchy; /* a simulation; not thread-safe, but distinct objects are independent */

/* Builds an empty hierarchy. Returns 0, -EINVAL if the machine does not validate, -ENOMEM. */
int sim_hierarchy_new(struct sim_hierarchy **h, const struct sim_machine *m);
void sim_hierarchy_free(struct sim_hierarchy *h); /* NULL is fine */

/*
 * Does the same as sim_hierarchy_new() for tags below n_tags, at most SIM_MAX_TAGS; sim_hierarchy_new() is for
 * SIM_USUAL_TAGS. More tags cost time: the machines with the fastest simulation take about twice as long, other
 * machines hardly longer. -EINVAL also for 0 or too many tags.
 */
int sim_hierarchy_new_tags(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_tags);

/*
 * Simulates on up to n_threads threads at once, the caller's thread included, with equal counts. The number of threads
 * is a power of two, and each thread has its own sets. Machines whose levels cannot be split by sets get one thread:
 * machines with a policy other than LRU, with inclusion, prefetchers or TLBs, with lines of several sizes, with few
 * sets, or with numbers of sets without a common power of two. Also -EAGAIN if the system has no more threads. Threads
 * pay off for streams of millions of accesses; several hierarchies at once, one per thread, are more efficient.
 */
int sim_hierarchy_new_threads(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_threads);

/*
 * Machines with equal first levels simulate these levels once. In a machine with LRU, without inclusion, prefetchers
 * and TLBs, no level depends on the levels further out. So requests that leave the first levels of a hierarchy, the
 * leader, go on to the outer levels of further hierarchies, the followers. Each hierarchy counts as if it were alone.
 * Other machines share the first level if the first level sees nothing of the levels behind: none of these is inclusive
 * and the second is not exclusive, stores wait in no buffers, lines have one size, all levels write back, the first
 * level allocates stored lines, and prefetchers ask for so few lines at once that the queue drops none.
 *
 * sim_machine_shared_levels() returns how many levels, from the core outwards, are equal and can be shared; always
 * fewer than all levels of the follower. sim_hierarchy_follow() makes a hierarchy follow another hierarchy on n_levels;
 * both are new and made for equally many tags. Afterwards only the leader is fed, flushed and cleared, for all; each
 * hierarchy returns its own counts. A leader has any number of followers and is no follower itself. The leader is freed
 * last. Returns 0, or -ENOTSUP with both unchanged.
 */
size_t sim_machine_shared_levels(const struct sim_machine *leader, const struct sim_machine *follower);
int sim_hierarchy_follow(struct sim_hierarchy *follower, struct sim_hierarchy *leader, size_t n_levels);

/* Returns where the accesses go; owned by h. */
struct sim_sink *sim_hierarchy_sink(struct sim_hierarchy *h);

/*
 * Makes n accesses, in order, as records (record.h). The records belong to the caller. Every 64-bit value is a valid
 * record.
 */
void sim_hierarchy_records(struct sim_hierarchy *h, const uint64_t *record, size_t n);

/*
 * Returns the counts so far; owned by h, valid until the next accesses or call on h. An array with room for all tags
 * (stats.h).
 */
const struct sim_stats *sim_hierarchy_stats(const struct sim_hierarchy *h);

/*
 * Returns 0, or -ENOMEM if the memory did not suffice to classify misses (classify = 3c): then the classes are
 * incomplete, and all further counts are right. sim_hierarchy_clear() resets the error.
 */
int sim_hierarchy_error(const struct sim_hierarchy *h);

/*
 * Makes the lines of a skipped part of a stream known to the caches: an access of a byte in each line, a load or a store.
 * Where the machine allows, the lines come into the levels behind the first and into the TLBs alone, without the first
 * level's prefetchers: several times as fast as accesses. Lines whose neighbours prefetchers would bring from memory are
 * accesses. Counts for memory are as of accesses; other counts are not.
 */
void sim_hierarchy_touch(struct sim_hierarchy *h, const struct sim_run *lines);

/*
 * Does the same for lines far from the next simulated access. Where the machine has three levels, lines that the second
 * level lacks come into the third level alone: the second level keeps the lines of the last simulated accesses, and with
 * these lines the steady state of a policy for lines that come back.
 */
void sim_hierarchy_touch_far(struct sim_hierarchy *h, const struct sim_run *lines);

/*
 * Tells whether prefetchers may bring lines from memory for an access to lines: the first line, or the line behind the
 * last, is in no cache. false where sim_hierarchy_touch() makes accesses of all lines.
 */
bool sim_hierarchy_reads_ahead(struct sim_hierarchy *h, const struct sim_run *lines);

/*
 * Stand around a skipped part of a stream. The first level of a machine whose lines can be touched without accesses is at
 * the end as at the beginning, as far as inclusive levels behind still have the lines; the lines are clean. All prefetched
 * lines have come.
 */
void sim_hierarchy_begin_skip(struct sim_hierarchy *h);
void sim_hierarchy_end_skip(struct sim_hierarchy *h);

/*
 * Says how fast the core works in a phase from now on: cycles for each request, a line touched by a load or store, and the
 * number of requests in the core's window. Prefetched lines then come after the latency of their level, or of memory, and
 * late_cycles (stats.h) count the waits of loads. With 0 cycles, as at first, no load waits. No other count depends on the
 * pace.
 */
void sim_hierarchy_set_pace(struct sim_hierarchy *h, unsigned phase, double request_cycles, double window_requests);

void sim_hierarchy_clear_stats(struct sim_hierarchy *h); /* keeps the caches' contents: a warm start */
void sim_hierarchy_clear(struct sim_hierarchy *h);       /* empties the caches and the counts: a cold start */

/*
 * Writes every dirty line back, level by level from the core outwards, counted in the given phase. Lines become clean
 * and stay. The flush passes exclusive levels by. Within a level: sets in ascending order, in each set the least
 * recently used line first; under policies other than lru, in order of the ways.
 */
void sim_hierarchy_flush(struct sim_hierarchy *h, unsigned phase);

#endif
