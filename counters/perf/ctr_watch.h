/*
 * Hardware data breakpoints as counters: how often the running code touches an element, exactly, without any
 * performance counter. Breakpoints work in most virtual machines: where counters are refused, breakpoints are the
 * ground truth for "how often does the real kernel access this address".
 *
 * Counted on x86: instructions of the calling thread in user mode that access at least one watched byte, once per
 * instruction, whatever the width (a 64-byte load over a watched float counts once; a read-modify-write counts once).
 * Only `rep` string instructions count per iteration, so memcpy may count an element several times. Masked-off lanes of
 * a vector access, prefetches and the kernel's accesses in a system call do not count. x86 has no breakpoint for reads
 * alone: watch the address twice, and reads are READS_AND_WRITES less WRITES (a read-modify-write is in both). Every
 * counted access is a trap of some microseconds: watched code is slow and its timing worthless.
 */
#ifndef CTR_WATCH_H
#define CTR_WATCH_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/why.h"

enum { CTR_MAX_WATCHES = 4 }; /* the debug registers of x86; CPUs of further families may have fewer */

enum ctr_watch_kind {
    CTR_WATCH_WRITES,
    CTR_WATCH_READS_AND_WRITES,
};

struct ctr_watch_point {
    const volatile void *addr; /* a multiple of bytes */
    unsigned bytes;            /* 1, 2, 4 or 8 */
    enum ctr_watch_kind kind;
};

struct ctr_watch;

/*
 * Watches n_points (1 .. CTR_MAX_WATCHES) for the calling thread, all at a time. Returns 0 or -errno with a sentence in
 * why: -EINVAL for bad points, -ENOSPC if the debug registers do not suffice, or as perf_event_open.
 */
int ctr_watch_open(struct ctr_watch **w, const struct ctr_watch_point *point, size_t n_points, struct sim_why why);
void ctr_watch_close(struct ctr_watch *w); /* NULL is fine */

/* Returns 0 if a data breakpoint opens here, else -errno with the reason. */
int ctr_watch_probe(struct sim_why why);

/*
 * Count from zero; stop. Return 0 or -errno. SIGTRAP is caught in between: some virtual machines have traps that the
 * kernel does not recognise. Some traps are lost without a signal, so an important count is taken twice.
 */
int ctr_watch_start(struct ctr_watch *w);
int ctr_watch_stop(struct ctr_watch *w);

/*
 * Reads count[n_points]: the accesses between the last start and stop. Returns 0, -errno, or -ENODATA if accesses were
 * lost: try again.
 */
int ctr_watch_read(const struct ctr_watch *w, uint64_t *count);

#endif
