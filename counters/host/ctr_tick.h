/*
 * The finest clock that a program may read, and what one load costs by it: the time stamp counter of x86, the timer
 * registers of 64-bit Arm and POWER. Ticks are no cycles of the core.
 */
#ifndef CTR_TICK_H
#define CTR_TICK_H

#include <stdint.h>

/* Returns what is read, such as "time stamp counter"; NULL: nothing here, and the functions below return 0. */
const char *ctr_tick_name(void);

uint64_t ctr_tick(void);

/*
 * Returns the ticks that one load of the byte at p takes, what was before it being done; with those of the reading
 * itself.
 */
uint64_t ctr_tick_load(const void *p);

/* Waits, at least so many ticks. */
void ctr_tick_wait(uint64_t ticks);

#endif
