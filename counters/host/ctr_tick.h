/*
 * The finest clock that a program may read, and the time of a load by the clock: the time stamp counter of x86, the
 * timer registers of 64-bit Arm and POWER. Ticks are no cycles of the core.
 */
#ifndef CTR_TICK_H
#define CTR_TICK_H

#include <stdint.h>

/* Returns the clock's name, for example "time stamp counter"; NULL: no clock here, and the functions below return 0. */
const char *ctr_tick_name(void);

uint64_t ctr_tick(void);

/* Returns the ticks of a load of the byte at p, with the ticks of reading the clock. Earlier work is done before. */
uint64_t ctr_tick_load(const void *p);

/* Waits for at least `ticks`. */
void ctr_tick_wait(uint64_t ticks);

#endif
