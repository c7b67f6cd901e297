/*
 * The observer inside the program: its kernels are compiled with the compiler's access instrumentation, and their hooks
 * feed the simulator. So every load and store of the kernels' own code is seen, on the CPU that it was written for, at
 * the speed of that CPU; spilled registers, calls and code without instrumentation (libraries) are not.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "counters/observe/obs_marker.h"
#include "counters/observe/obs_stream.h"
#include "counters/observe/obs_watcher.h"
#include "sim/machine/machine.h"

enum { N_SITES = 256 };

/* The hooks have no argument for it. One thread. */
static struct {
    struct obs_stream *stream;
    struct obs_site *site[N_SITES];
    uint64_t *executed;
    const char *out;
} watcher;

int obs_watcher_find(const char *out, const char *machine, char *why, size_t why_bytes)
{
    struct sim_machine m;
    int err = sim_machine_read(&m, machine, why, why_bytes);

    if (!err)
        err = obs_stream_new(&watcher.stream, &m, NULL, 0, NULL);
    for (size_t i = 0; i < N_SITES && !err; i++) {
        watcher.site[i] = obs_stream_site(watcher.stream, "instrumented_kernels");
        err = watcher.site[i] ? 0 : -ENOMEM;
    }
    if (err == -ENOMEM)
        snprintf(why, why_bytes, "out of memory");
    if (err)
        return err;
    watcher.executed = obs_stream_executed(watcher.stream);
    watcher.out = out;
    return 0;
}

static int write_result(char *why, size_t why_bytes)
{
    struct obs_result *r = malloc(sizeof *r);
    int err = r ? obs_stream_result(watcher.stream, r) : -ENOMEM;

    snprintf(why, why_bytes, "out of memory");
    if (!err) {
        r->n_outside = 0; /* what is seen there is a part: no spills, no calls */
        err = obs_result_write(r, watcher.out, why, why_bytes);
    }
    free(r);
    return err;
}

/* Nothing that comes after an error means anything: the program is ended, as the emulator's observer ends it. */
void obs_mark(enum obs_mark mark, uint64_t a, uint64_t b, uint64_t c)
{
    char why[4400] = "";

    obs_stream_mark(watcher.stream, mark, a, b, c);
    if (obs_stream_error(watcher.stream)) {
        fprintf(stderr, "observer: %s\n", obs_stream_error(watcher.stream));
        exit(EXIT_FAILURE);
    }
    if (mark == OBS_MARK_END && write_result(why, sizeof why)) {
        fprintf(stderr, "observer: %s\n", why);
        exit(EXIT_FAILURE);
    }
}

/* One access, whole as the compiler has it; its place in the program is a hint where its buffer was found last. */
static void record(const void *p, size_t bytes, enum sim_kind kind, const void *caller)
{
    if (!watcher.stream || kind == SIM_PREFETCH)
        return;
    ++*watcher.executed;
    obs_stream_access(watcher.site[(uintptr_t)caller % N_SITES], (uintptr_t)p, (uint32_t)bytes, kind == SIM_STORE);
}

#define RECORD(p, bytes, kind) record(p, bytes, kind, __builtin_return_address(0))
#include "counters/observe/obs_hooks.def"
