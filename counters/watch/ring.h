/*
 * Memory shared by a watched process and the reader of its accesses: two blocks of records. The watched process fills a
 * block while the reader reads the second block. A block without records is the last block.
 *
 * A record holds an access: the address, below 2^48; 1 for a store; the width less 1; and the number of the
 * instruction. Many instructions share a number, so a loop repeats its numbers (record.awk). An address that no program
 * has marks the begin of a phase: the lowest bits of the address name the phase.
 *
 * A block also holds the work of each phase since the block before: instructions that the watched process executed.
 */
#ifndef COUNTERS_WATCH_RING_H
#define COUNTERS_WATCH_RING_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

long syscall(long number, ...); /* hidden by strict C */

enum {
    WATCH_RING_BLOCKS = 2,
    WATCH_RING_RECORDS = 1 << 14, /* of a block: both blocks fit a second level */
    WATCH_RECORD_ADDRESS_BITS = 48,
    WATCH_RECORD_MAX_BYTES = 64,
    WATCH_RECORD_SITES = 512,
    WATCH_RECORD_PHASES = 4
};

/* Instructions of a phase, branches left out. */
struct watch_work {
    uint64_t operations; /* vector instructions, and frequent other instructions; the emulator's plugin: all */
    uint64_t serial;     /* rare instructions without vectors: around loops; the emulator's plugin: none */
    uint64_t macs;       /* multiply-adds and multiplications of floating-point numbers, part of the above */
    uint64_t loops;      /* ends of loops of many rounds; the emulator's plugin: none */
};

struct watch_block {
    _Atomic uint32_t is_full; /* a futex: the watched process waits while 1, the reader while 0 */
    uint32_t n;               /* records; 0: no more records follow */
    struct watch_work work[WATCH_RECORD_PHASES];
    uint64_t record[WATCH_RING_RECORDS];
};

struct watch_ring {
    _Atomic uint32_t is_stopped; /* the reader wants no more records */
    struct watch_block block[WATCH_RING_BLOCKS];
};

/* Waits while the word has the value, at most as long as `most` says (NULL: for ever). */
static inline void watch_ring_wait(_Atomic uint32_t *word, uint32_t value, const struct timespec *most)
{
    syscall(SYS_futex, word, FUTEX_WAIT, value, most, NULL, 0);
}

/* Hands a block to the opposite side. */
static inline void watch_ring_hand_over(struct watch_block *b, uint32_t is_full)
{
    atomic_store(&b->is_full, is_full);
    syscall(SYS_futex, &b->is_full, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Returns the watched process's next block, as soon as the reader has read the block; NULL: the reader wants no more. */
static inline struct watch_block *watch_ring_next(struct watch_ring *r, unsigned number)
{
    struct watch_block *b = &r->block[number % WATCH_RING_BLOCKS];

    while (atomic_load(&b->is_full))
        watch_ring_wait(&b->is_full, 1, NULL);
    return atomic_load(&r->is_stopped) ? NULL : b;
}

#define WATCH_RECORD_PHASE ((uint64_t)1 << 47)

/* Returns the record of an access by an instruction whose number is not known. */
static inline uint64_t watch_record(uint64_t address, uint32_t bytes, bool is_store)
{
    return address % WATCH_RECORD_PHASE | (uint64_t)(bytes - 1) << 49 | (uint64_t)is_store << 48;
}

static inline uint64_t watch_record_address(uint64_t record)
{
    return record & (((uint64_t)1 << WATCH_RECORD_ADDRESS_BITS) - 1);
}

static inline bool watch_record_is_store(uint64_t record)
{
    return record >> 48 & 1;
}

static inline uint32_t watch_record_bytes(uint64_t record)
{
    return (uint32_t)(record >> 49 & 63) + 1;
}

static inline uint32_t watch_record_site(uint64_t record)
{
    return (uint32_t)(record >> 55);
}

#endif
