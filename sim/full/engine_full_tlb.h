/*
 * The full engine's TLBs: set-associative, least recently used; a page that one of them lacks is looked up in the next.
 * If none has it, a page walk reads the page tables through the caches. Internal.
 */
#ifndef SIM_ENGINE_FULL_TLB_H
#define SIM_ENGINE_FULL_TLB_H

#include <stdint.h>

#include "sim/full/engine_full.h"

int sim_full_tlb_init(struct sim_full_tlb *t, const struct sim_tlb *shape); /* 0 or -ENOMEM (release it then) */
void sim_full_tlb_release(struct sim_full_tlb *t);
void sim_full_tlb_clear(struct sim_full_tlb *t);

/* Looks a page up in the machine's TLBs, of which there is at least one. Whoever asks counts the first one's use. */
void sim_full_look_up(struct sim_full *e, uint64_t page, const struct sim_full_request *r);

#endif
