/*
 * Loops of known work, by which counters are proven (ctr_proof.h).
 *
 * The loops of instructions are written in assembly, so that no compiler adds or drops any: each turn is eight copies
 * of an instruction, and the instructions that end the turn. The loops over lines and pages follow pointers; no claim
 * is made about their further loads.
 */
#ifndef CTR_LOOP_H
#define CTR_LOOP_H

#include <stdbool.h>
#include <stddef.h>

enum {
    CTR_LOOP_UNROLL = 8, /* instructions under test in each turn */
#if defined(__powerpc64__)
    CTR_LOOP_TURN_INSTRUCTIONS = CTR_LOOP_UNROLL + 1, /* bdnz */
    CTR_LOOP_MULTIPLY_CYCLES = 5,                     /* latency */
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
    size_t n_turns;    /* of the loop: set by the loop's prepare */
};

struct ctr_loop {
    const char *name;
    const char *about; /* the work of a turn */
    bool (*can_run)(void);
    void (*prepare)(struct ctr_ground *g); /* before each run; not counted */
    void (*run)(const struct ctr_ground *g);
};

size_t ctr_n_loops(void);
const struct ctr_loop *ctr_loop_at(size_t i);
const struct ctr_loop *ctr_loop_named(const char *name); /* NULL if there is none, here */

/* Times a chain of dependent additions, else multiplications: the core's clock in GHz; 0 without loops for the CPU. */
double ctr_core_ghz(void);

/*
 * The clock in some 15 us, to stand beside a short timing: a chain of dependent additions, each of a cycle. The time of
 * a short chain is subtracted, so readings of the timer cost nothing. 0 where an addition is not known to take a cycle.
 */
double ctr_core_ghz_now(void);

/* Returns 0 or -ENOMEM; release accepts both. */
int ctr_ground_init(struct ctr_ground *g);
void ctr_ground_release(struct ctr_ground *g);

#endif
