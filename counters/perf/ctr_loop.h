/*
 * Loops whose work is known in advance, on which counters are proven (ctr_proof.h).
 *
 * The loops of instructions are written in assembly, so that no compiler adds or drops any: eight of the same in each
 * turn, and what ends the turn. The loops over lines and pages follow pointers; what else they load is no claim.
 */
#ifndef CTR_LOOP_H
#define CTR_LOOP_H

#include <stdbool.h>
#include <stddef.h>

enum {
    CTR_LOOP_UNROLL = 8, /* instructions under test in each turn */
#if defined(__powerpc64__)
    CTR_LOOP_TURN_INSTRUCTIONS = CTR_LOOP_UNROLL + 1, /* bdnz */
    CTR_LOOP_MULTIPLY_CYCLES = 5,                     /* until the next one can use it */
#else
    CTR_LOOP_TURN_INSTRUCTIONS = CTR_LOOP_UNROLL + 2, /* dec, jnz; subs, b.ne */
    CTR_LOOP_MULTIPLY_CYCLES = 3,
#endif
};

/* Memory to work on; the caller's is zero before ctr_ground_init. */
struct ctr_ground {
    unsigned char *memory;
    size_t bytes, line_bytes, page_bytes;
    const void *start; /* of the pointers to follow */
    size_t n_turns;    /* of the loop: set by its prepare */
};

struct ctr_loop {
    const char *name;
    const char *about; /* what one turn does */
    bool (*can_run)(void);
    void (*prepare)(struct ctr_ground *g); /* before each run; what it does is not counted */
    void (*run)(const struct ctr_ground *g);
};

size_t ctr_n_loops(void);
const struct ctr_loop *ctr_loop_at(size_t i);
const struct ctr_loop *ctr_loop_named(const char *name); /* NULL if there is none, here */

/* Times multiplications, each of which waits for the one before: the core's clock in GHz, now; 0 if none are here. */
double ctr_core_ghz(void);

/* Returns 0 or -ENOMEM; release accepts both. */
int ctr_ground_init(struct ctr_ground *g);
void ctr_ground_release(struct ctr_ground *g);

#endif
