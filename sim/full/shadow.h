/*
 * What a fully associative LRU cache of n lines would have held, and every line it was ever asked for: the measure for
 * compulsory, capacity and conflict misses (Hill, Smith, IEEE Transactions on Computers 38, 1989). Each use costs O(1).
 */
#ifndef SIM_SHADOW_H
#define SIM_SHADOW_H

#include <stdint.h>

enum sim_shadow_state {
    SIM_SHADOW_HIT,
    SIM_SHADOW_LOST, /* asked for before, but not held any more */
    SIM_SHADOW_NEW,  /* never asked for */
};

enum sim_shadow_use {
    SIM_SHADOW_KEEP,    /* the line becomes the most recently used; brought in if it is missing */
    SIM_SHADOW_REFRESH, /* the same, but not brought in */
    SIM_SHADOW_TAKE,    /* the line is taken out */
};

struct sim_shadow; /* not thread-safe; distinct objects are independent */

int sim_shadow_new(struct sim_shadow **s, uint64_t n_lines); /* 0 or -ENOMEM */
void sim_shadow_free(struct sim_shadow *s);                  /* NULL is fine */
void sim_shadow_clear(struct sim_shadow *s);

/* Uses a line and says how it was found, or returns -ENOMEM with nothing changed. */
int sim_shadow_use(struct sim_shadow *s, uint64_t line, enum sim_shadow_use use);

#endif
