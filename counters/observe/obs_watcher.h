/*
 * Whoever watches a program with markers (obs_marker.h): an emulator's plugin (obs_emulator_watcher.c), or the program
 * itself, whose kernels are instrumented (obs_twin_watcher.c). A program is linked with one of the two.
 */
#ifndef COUNTERS_OBSERVE_OBS_WATCHER_H
#define COUNTERS_OBSERVE_OBS_WATCHER_H

#include <stddef.h>

/*
 * To be called before the first marker.
 *
 *   out      where the watcher leaves its result (obs_result.h)
 *   machine  file of the simulated machine
 *
 * Returns 0, or -errno with one line in why: -ENOTSUP if nobody watches.
 */
int obs_watcher_find(const char *out, const char *machine, char *why, size_t why_bytes);

#endif
