/*
 * What the tracer in QEMU tells cachesim beside the trace: one word in memory that both have mapped, which holds however
 * the traced program treats its descriptors. A trace without an end is explained by it.
 */
#ifndef SIM_CACHESIM_NOTES_H
#define SIM_CACHESIM_NOTES_H

enum cachesim_note {
    CACHESIM_NOT_LOADED,  /* QEMU did not come to the tracer */
    CACHESIM_NOT_STARTED, /* ... nor to the program's first instruction */
    CACHESIM_RUNS,
    CACHESIM_EXECS, /* the program asked to become another one, and that did not fail */
};

enum { CACHESIM_NOTES_BYTES = 4096 }; /* of the file that is mapped: one int, the rest is not used */

#endif
