/*
 * The memory side of a machine: its cache levels from the core outwards, and the memory behind the caches.
 *
 * A machine comes from a text file (sim_machine_read), or from this computer through hwloc (sim_machine_host). The file
 * is a list of `key = value` lines under [machine] and a [cache NAME] section for each of up to eight levels, ordered
 * from the core outwards; `#` starts a comment. Sizes take k, m, g or KiB, MiB, GiB. See machines/clx4208.cfg.
 *
 *   [machine]     name, memory_latency_cycles; may be left out: description, ukr, gemm_core, cpus, calibrated,
 *                 memory_bandwidth_bytes_per_cycle, memory_store_bandwidth_bytes_per_cycle (of lines for stores
 *                 alone, for core/clock.h), memory_scattered_cycles and memory_recent_lines (for lines
 *                 far from all lines read lately: stats.h; for core/clock.h), page, frame, page_seed, page_tables, combining_buffers,
 *                 software_prefetch, stack, and the core's issue rates per cycle, for estimates: clock_ghz, mac_rows,
 *                 mac_columns, mac_instructions_per_cycle, loads_per_cycle, stores_per_cycle (struct sim_issue); and, of
 *                 machines with multiply-adds of narrow elements:
 *                 mac_bf16_instructions_per_cycle (vdpbf16ps), mac_vnni_instructions_per_cycle (vpdpbusd),
 *                 mac_amx_bf16_instructions_per_cycle and mac_amx_int8_instructions_per_cycle (half steps of tiles)
 *   [cache NAME]  size or sets, ways, line, latency_cycles; optional, with defaults in parentheses:
 *                 policy              see replacement.h (lru)
 *                 seed                of policy random, any 64-bit number (0)
 *                 inclusion           noninclusive | inclusive | exclusive of the levels inside (noninclusive)
 *                 write               back | through (back)
 *                 allocate            yes | no: whether a write that misses brings the line in (yes)
 *                 store_fetch         always | partial: whether a store that covers a whole line, misses and
 *                                     allocates still fetches the line (always)
 *                 prefetch            a list, see prefetch.h: `next_line degree=1, stream degree=2 distance=8` (none)
 *                 indexing            virtual | physical: the kind of address that chooses the set (virtual)
 *                 slices              equal parts, a power of two, chosen by a hash of the line number (1)
 *                 hash                xor-fold, the only hash (xor-fold)
 *                 classify            none | 3c (none)
 *                 bandwidth_bytes_per_cycle  for estimate.h and core/clock.h (not stated)
 *                 miss_buffers        lines waited for at once, for core/clock.h (not stated)
 *   [tlb NAME]    at most two, the TLB nearest the core first: entries; may be left out: ways (as many as entries)
 *   [core]        may be left out; for core/clock.h, all of: width, window, load_buffers, store_buffers, walkers,
 *                 misprediction_cycles, sustained_operations_per_cycle, serial_operations_per_cycle (struct sim_core);
 *                 store_misses (as the first level's miss_buffers); foreseen_passes (0); narrow_loads_per_cycle and
 *                 narrow_stores_per_cycle (as of [machine]); mac_latency_cycles (not stated);
 *                 scattered_stores_overlap yes | no: whether nothing waits for memory_scattered_cycles of a line that
 *                 a step only stores to (no); scattered_prefetches_overlap yes | no: likewise of a line that a
 *                 prefetcher asked for (no); timed yes | no: whether simulated cycles were ever compared with a time
 *                 (yes); and transfers_overlap yes | no | outer: whether lines pass between caches beside loads (yes);
 *                 outer: lines into the first level do not, all further lines do. Then no level, and no memory, may
 *                 take less than the level inside
 *
 * hierarchy.h describes how the keys change a simulation.
 *
 * NAME is up to 15 letters, digits, '_' or '-', and not core, memory, estimate, tag or phase: reports use these words.
 * Names may repeat only between caches and TLBs. The machine's name also names a folder of results: up to 63 letters,
 * digits, '_', '-', '.' and '+', a letter or digit first. A key or section may come once; a value may not be empty.
 */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/base/levels.h"

/*
 * Tells whether all of m is the plain engine's default: LRU, non-inclusive, write-back, write-allocate, virtual
 * indexing, and no prefetch, slices, classes, TLBs or combining buffers.
 */
bool sim_machine_is_plain(const struct sim_machine *m);

/*
 * Returns the machine with its caches alone, the paper's view: LRU caches of equal sizes, ways and lines, without
 * prefetching. Of exclusive levels nothing but their sizes is left.
 */
struct sim_machine sim_machine_caches_alone(const struct sim_machine *m);

/* Returns the machine without its levels behind the first n. The bandwidth behind these levels is then unknown. */
struct sim_machine sim_machine_first_levels(const struct sim_machine *m, size_t n);

/* Removes the prefetchers and software_prefetch from m. */
void sim_machine_strip_prefetch(struct sim_machine *m);

/*
 * Reads and checks a machine file. Returns 0, or -errno with a line "path:line: what, value" in why[why_bytes] (-EINVAL
 * for malformed or contradictory content; the error of open or read, as "path: what, reason", otherwise). On failure *m
 * is zeroed.
 */
int sim_machine_read(struct sim_machine *m, const char *path, char *why, size_t why_bytes);

/* Does the same from an open file; path only serves the messages. */
int sim_machine_parse(struct sim_machine *m, FILE *in, const char *path, char *why, size_t why_bytes);

/* A key of a machine file and its value: "L1.size" and "16K", "L2.prefetch", "memory_latency_cycles". */
struct sim_setting {
    const char *key;   /* of [machine]; or NAME.KEY of a cache or TLB. A cache hides a TLB of equal name */
    const char *value; /* as in the file; K and M stand for KiB and MiB, too. "none" as a prefetch: no prefetcher */
};

/*
 * Changes keys of a machine, all at once. All further keys stay: after a change of ways a level keeps its size, unless
 * its sets are set. Returns 0; -EINVAL with a line in why that names the settings, and *m unchanged: for unknown or
 * contradictory keys and values, and for a machine that sim_machine_print refuses; -ENOMEM.
 */
int sim_machine_set(struct sim_machine *m, const struct sim_setting *setting, size_t n, char *why, size_t why_bytes);

/*
 * Describes this computer, as seen by its first allowed core: data and unified caches from hwloc. hwloc knows no
 * latencies; machine_host.c documents the assumed latencies. Returns 0, or -errno with a line in why and *m zeroed
 * (-ENOENT if hwloc reports no cache that can be simulated). If the firmware hides a level's ways or line size, the
 * value is guessed, and m->description names the guess; a size is cut to whole sets.
 */
int sim_machine_host(struct sim_machine *m, char *why, size_t why_bytes);

/*
 * Finds reasons against a simulation: no levels, zero sizes, line not a power of two, unknown policy, more lines than
 * SIM_MAX_LEVEL_LINES, latencies that are negative or not finite, and contradictions by hierarchy.h. Returns 0, or
 * -EINVAL with a line in why.
 */
int sim_machine_validate(const struct sim_machine *m, char *why, size_t why_bytes);

/*
 * Writes m in the format of sim_machine_read. Returns 0, -EIO, or -EINVAL, with nothing written, if m does not validate
 * or has texts that cannot be read back (an empty name, '#', control characters, blanks at the ends).
 */
int sim_machine_print(const struct sim_machine *m, FILE *out);

#endif
