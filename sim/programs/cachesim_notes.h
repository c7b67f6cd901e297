/*
 * Notes of QEMU's tracer for cachesim: a word in memory shared by both processes, so that the traced program cannot
 * close the notes' descriptor. The note explains a trace without an end.
 */
#ifndef SIM_CACHESIM_NOTES_H
#define SIM_CACHESIM_NOTES_H

enum cachesim_note {
    CACHESIM_NOT_LOADED,  /* QEMU did not come to the tracer */
    CACHESIM_NOT_STARTED, /* ... nor to the program's first instruction */
    CACHESIM_RUNS,
    CACHESIM_EXECS, /* the program called exec, and the call has not failed */
};

enum { CACHESIM_NOTES_BYTES = 4096 }; /* size of the mapped file; only the first int is used */

#endif
