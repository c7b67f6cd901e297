/* Pins the calling thread to a core: a thread that moves leaves its caches behind. */
#ifndef CTR_PIN_H
#define CTR_PIN_H

#include <stddef.h>

#include "sim/base/why.h"

struct ctr_pin {
    int core;         /* where the thread is at this moment */
    size_t n_allowed; /* cores allowed to the thread; 1: pinned */
    int first_allowed;
};

/*
 * Pins to wanted, or with wanted = -1 to the thread's present core. *core (may be NULL) is the thread's core after the
 * call. Returns 0, or -errno with the reason; -EINVAL if the thread is not allowed there: the thread is not moved.
 */
int ctr_pin(int wanted, int *core, struct sim_why why);

/* Reports the calling thread's placement. Returns 0 or -errno. */
int ctr_pin_state(struct ctr_pin *p);

#endif
