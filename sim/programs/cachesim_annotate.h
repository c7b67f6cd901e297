/*
 * Counts by source line (--annotate, --callgrind): a file in cachegrind's or callgrind's format, for cg_annotate,
 * callgrind_annotate and KCachegrind. The file has the effects of each instruction's accesses on the caches of the
 * machine, added up by line and function.
 *
 * The trace gives an instruction's address as a fetch before its accesses. All consequences of an access are counted at
 * the access, also the write-back of a line that another instruction made dirty. Names come from addr2line (binutils),
 * which reads a file's debugging information; without this information only the function is known, or nothing.
 */
#ifndef SIM_CACHESIM_ANNOTATE_H
#define SIM_CACHESIM_ANNOTATE_H

#include "sim/hierarchy.h"
#include "sim/programs/cachesim_options.h"
#include "sim/base/why.h"

struct cachesim_annotate;

/*
 * Makes the caches of a valid machine, and the counts by instruction. Returns 0 or -errno as sim_hierarchy_new, with
 * nothing to release.
 */
int cachesim_annotate_new(struct cachesim_annotate **a, const struct sim_machine *m, const struct cachesim_options *o);
void cachesim_annotate_free(struct cachesim_annotate *a); /* NULL is fine */

struct sim_sink *cachesim_annotate_sink(struct cachesim_annotate *a);
struct sim_hierarchy *cachesim_annotate_hierarchy(struct cachesim_annotate *a);

/* Returns the address of the error that stops reading: 0, -ENOMEM, or -ENOLINK (cachesim_heap_take). */
const int *cachesim_annotate_error(const struct cachesim_annotate *a);

/* Returns the path of the file in which the program reports its allocations; NULL: none. */
const char *cachesim_annotate_heap(const struct cachesim_annotate *a);

/*
 * Tells whether the program's allocations were reported, because heap.so was loaded into the program; true without
 * --heap.
 */
bool cachesim_annotate_is_heard(const struct cachesim_annotate *a);

/* Returns how many given accesses were not simulated: fetches, and reports of allocations. */
uint64_t cachesim_annotate_n_fetches(const struct cachesim_annotate *a);

/*
 * Writes the files of --annotate, --callgrind and --heap. maps: the mappings of the traced program's files, as in
 * /proc/<pid>/maps; NULL: unknown. Returns 0, or -errno with a line in why.
 */
int cachesim_annotate_write(struct cachesim_annotate *a, FILE *maps, struct sim_why why);

#endif
