/*
 * Whoever watches a program with markers (obs_marker.h): an emulator's plugin (obs_emulator_watcher.c), or the program
 * itself, whose kernels are instrumented (obs_twin_watcher.c). A program is linked with one of the two.
 */
#ifndef COUNTERS_OBSERVE_OBS_WATCHER_H
#define COUNTERS_OBSERVE_OBS_WATCHER_H

#include <stddef.h>

/* Paths of what a watcher reads and writes. */
struct obs_watched {
    const char *out;     /* gets the result (obs_result.h) */
    const char *machine; /* the simulated machine's file */
    const char *trace;   /* gets every access to a buffer, as a binary trace; "": none. A plugin has its own option */
};

/* To be called before the first marker. Returns 0, or -errno with one line in why: -ENOTSUP if nobody watches. */
int obs_watcher_find(const struct obs_watched *w, char *why, size_t why_bytes);

#endif
