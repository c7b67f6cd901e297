/*
 * Places where streams can be observed: QEMU with the plugin and a guest program, or programs that watch themselves.
 * make test and make test-power10 set the paths: OBSERVER, GUEST_x86_64, GUEST_ppc64le, TWIN, COPIED.
 */
#ifndef TESTS_EXPERIMENTS_OBSERVED_PLACE_H
#define TESTS_EXPERIMENTS_OBSERVED_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/observe/guest.h"

/* A guest to test with. */
struct observed_place {
    const struct exp_emulator *emulator;
    const char *observer, *guest, *machine, *ukr;
    const char *core; /* OpenBLAS's; NULL: the emulator's, or any */
};

/* Finds every emulator with a guest, and returns how many; the test is skipped if there is none. */
size_t observed_find_places(struct observed_place place[2]);

/* Finds the instrumented twin, of any micro-kernel; the test is skipped if there is none. */
bool observed_find_twin(struct observed_place *p);

/* Finds the program whose machine code is copied, with a micro-kernel that must run here, or skips the test. */
bool observed_find_copied(struct observed_place *p, const char *ukr, const char *machine);

#endif
