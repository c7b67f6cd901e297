/*
 * Names for memory on the heap of a traced program (--heap): the line that allocated the memory. A library in the
 * program (heap_plugin.c) appends a record for each allocation to a file, and then reads a byte of its page; so the
 * trace says when to take the next record.
 */
#ifndef SIM_CACHESIM_HEAP_H
#define SIM_CACHESIM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CACHESIM_HEAP_VARIABLE "CACHESIM_HEAP"
#define CACHESIM_HEAP_PROGRAM "CACHESIM_HEAP_PROGRAM"
#define CACHESIM_HEAP_PAGE ((uint64_t)0xcac4e51000)

enum {
    CACHESIM_HEAP_PAGE_BYTES = 4096,
    CACHESIM_HEAP_QUIET = 1, /* byte of the page: the next accesses are the library's own */
    CACHESIM_HEAP_READY = 0, /* there is a record more, and the program goes on */
    CACHESIM_HEAP_HERE = 2,  /* the library was loaded */
};

/* A record in the file. */
struct cachesim_heap_record {
    uint64_t at, bytes;
    uint64_t site; /* an address in the instruction that called the allocator */
};

struct cachesim_heap;

/* Makes a file in memory, to which the program appends. Returns 0 or -errno. */
int cachesim_heap_new(struct cachesim_heap **h);
void cachesim_heap_free(struct cachesim_heap *h); /* NULL is fine */

/* Returns the file's path, for the program's environment. The path is valid while this process lives. */
const char *cachesim_heap_path(const struct cachesim_heap *h);

/*
 * Looks at an access before it is simulated. Returns false if the access counts nowhere. Otherwise *site is the site of
 * the allocation that holds the address; 0: no allocation. *err becomes -ENOMEM without memory, and -ENOLINK if the
 * program reports an allocation that is missing in the file.
 */
bool cachesim_heap_take(struct cachesim_heap *h, uint64_t address, uint64_t *site, int *err);

/* Tells whether an access so far shows that the library was loaded into the program. */
bool cachesim_heap_is_heard(const struct cachesim_heap *h);

#endif
