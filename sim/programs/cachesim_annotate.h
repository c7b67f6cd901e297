/*
 * Counts by source line (--annotate, --callgrind): a file in cachegrind's or callgrind's format, which cg_annotate,
 * callgrind_annotate and KCachegrind read. It has
 * what each instruction's accesses did to the caches of the machine, added up by line and function.
 *
 * The trace says before the accesses of an instruction where it is, as a fetch. All that an access causes is counted
 * where the access is, also the write-back of a line that another instruction made dirty. Names come from addr2line
 * (binutils), which reads a file's debugging information; of code without any, the function alone is known, or nothing.
 */
#ifndef SIM_CACHESIM_ANNOTATE_H
#define SIM_CACHESIM_ANNOTATE_H

#include "sim/hierarchy.h"
#include "sim/programs/cachesim_options.h"
#include "sim/base/why.h"

struct cachesim_annotate;

/*
 * Makes the caches of a machine that is one, and what counts by instruction. Returns 0 or -errno as sim_hierarchy_new,
 * with nothing to release.
 */
int cachesim_annotate_new(struct cachesim_annotate **a, const struct sim_machine *m, const struct cachesim_options *o);
void cachesim_annotate_free(struct cachesim_annotate *a); /* NULL is fine */

struct sim_sink *cachesim_annotate_sink(struct cachesim_annotate *a);
struct sim_hierarchy *cachesim_annotate_hierarchy(struct cachesim_annotate *a);

/* Returns the address of the error that stops reading: 0, -ENOMEM, or -ENOLINK (cachesim_heap_take). */
const int *cachesim_annotate_error(const struct cachesim_annotate *a);

/* Returns where the program is to tell of its allocations; NULL: nowhere. */
const char *cachesim_annotate_heap(const struct cachesim_annotate *a);

/*
 * Tells whether the program's allocations were reported, because heap.so was loaded into the program; true without
 * --heap.
 */
bool cachesim_annotate_is_heard(const struct cachesim_annotate *a);

/* Returns how many of the accesses that it was given it did not simulate: fetches, and what tells of allocations. */
uint64_t cachesim_annotate_n_fetches(const struct cachesim_annotate *a);

/*
 * Writes the files of --annotate, --callgrind and --heap. maps: where the traced program's files were in memory, as
 * /proc/<pid>/maps says it; NULL: not known. Returns 0, or -errno with one line in why.
 */
int cachesim_annotate_write(struct cachesim_annotate *a, FILE *maps, struct sim_why why);

#endif
