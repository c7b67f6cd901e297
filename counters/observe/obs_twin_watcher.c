/*
 * The observer inside the program: its kernels are compiled with the compiler's access instrumentation, and their hooks
 * feed the simulator. So every load and store of the kernels' own code is seen, on the CPU that it was written for, at
 * the speed of that CPU; spilled registers and calls are not. Of OpenBLAS, copies of the machine code are watched
 * (obs_rewritten.h), if there are any beside the program.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/observe/obs_marker.h"
#include "counters/observe/obs_rewritten.h"
#include "counters/observe/obs_stream.h"
#include "counters/observe/obs_watcher.h"
#include "sim/machine/machine.h"
#include "sim/trace/trace.h"

enum { N_SITES = 256, CLEARED_BYTES = 64 };

/* "-" is no memory. */
#define RULE(pattern, phase, tag) { #pattern, phase, #tag[0] == '-' ? -1 : #tag[0] - '0' },
static const struct obs_rule rules[] = {
#include "counters/observe/obs_openblas_rules.def"
};

/* The hooks have no argument for it. One thread. */
static struct {
    struct obs_stream *stream;
    struct obs_site *site[N_SITES], *clearing;
    uint64_t *executed;
    const char *out;
    FILE *trace_file;
    struct sim_trace trace;
} watcher;

/* The copies lie beside the program; without them, OpenBLAS goes unseen, and the result says so by what it lacks. */
static int load_copies(char *why, size_t why_bytes)
{
    static const char suffix[] = ".rewritten";
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - sizeof suffix);
    int err;

    if (n < 0)
        return -errno;
    memcpy(path + n, suffix, sizeof suffix);
    err = obs_rewritten_load(path, watcher.stream, why, why_bytes);
    return err == -ENOENT ? 0 : err;
}

static int open_trace(const char *path, char *why, size_t why_bytes)
{
    if (!*path)
        return 0;
    watcher.trace_file = fopen(path, "wb");
    if (!watcher.trace_file) {
        snprintf(why, why_bytes, "%s: %s", path, strerror(errno));
        return -EINVAL;
    }
    sim_trace_init_as(&watcher.trace, watcher.trace_file, SIM_TRACE_BINARY);
    return 0;
}

static int close_trace(char *why, size_t why_bytes)
{
    int err = watcher.trace_file ? sim_trace_close(&watcher.trace) : 0;

    if (watcher.trace_file && fclose(watcher.trace_file) && !err)
        err = -errno;
    if (err)
        snprintf(why, why_bytes, "cannot write the trace: %s", strerror(-err));
    return err;
}

int obs_watcher_find(const struct obs_watched *w, char *why, size_t why_bytes)
{
    struct sim_machine m;
    int err = sim_machine_read(&m, w->machine, why, why_bytes);

    if (!err)
        err = open_trace(w->trace, why, why_bytes);
    if (err)
        return err;
    err = obs_stream_new(&watcher.stream, &m, rules, sizeof rules / sizeof rules[0],
                         watcher.trace_file ? sim_trace_sink(&watcher.trace) : NULL);
    for (size_t i = 0; i < N_SITES && !err; i++) {
        watcher.site[i] = obs_stream_site(watcher.stream, "instrumented_kernels");
        err = watcher.site[i] ? 0 : -ENOMEM;
    }
    watcher.clearing = err ? NULL : obs_stream_site(watcher.stream, "memset");
    if (err || !watcher.clearing) {
        snprintf(why, why_bytes, "out of memory");
        return -ENOMEM;
    }
    watcher.executed = obs_stream_executed(watcher.stream);
    watcher.out = w->out;
    return load_copies(why, why_bytes);
}

static int write_result(char *why, size_t why_bytes)
{
    struct obs_result *r = malloc(sizeof *r);
    int err = r ? obs_stream_result(watcher.stream, r) : -ENOMEM;

    snprintf(why, why_bytes, "out of memory");
    if (!err) {
        if (!obs_rewritten_is_whole())
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

    obs_rewritten_drain();
    obs_rewritten_take_counts();
    obs_stream_mark(watcher.stream, mark, a, b, c);
    if (obs_stream_error(watcher.stream)) {
        fprintf(stderr, "observer: %s\n", obs_stream_error(watcher.stream));
        exit(EXIT_FAILURE);
    }
    if (mark == OBS_MARK_END && (write_result(why, sizeof why) || close_trace(why, sizeof why))) {
        fprintf(stderr, "observer: %s\n", why);
        exit(EXIT_FAILURE);
    }
}

/* One access, whole as the compiler has it; its place in the program is a hint where its buffer was found last. */
static void record(const void *p, size_t bytes, enum sim_kind kind, const void *caller)
{
    struct obs_site *site = watcher.site[(uintptr_t)caller % N_SITES];

    if (!watcher.stream)
        return;
    obs_rewritten_drain();
    ++*watcher.executed;
    if (kind == SIM_PREFETCH)
        obs_stream_prefetch(site, (uintptr_t)p);
    else
        obs_stream_access(site, (uintptr_t)p, (uint32_t)bytes, kind == SIM_STORE);
}

/* The linker sends calls of memset here. What OpenBLAS clears counts as the vectors that the C library stores. */
void *__wrap_memset(void *to, int byte, size_t bytes);
void *__real_memset(void *to, int byte, size_t bytes);

void *__wrap_memset(void *to, int byte, size_t bytes)
{
    if (obs_rewritten_holds(__builtin_return_address(0))) {
        obs_rewritten_drain();
        for (size_t i = 0, n; i < bytes; i += n) {
            n = bytes - i < CLEARED_BYTES ? bytes - i : CLEARED_BYTES;
            ++*watcher.executed;
            obs_stream_access(watcher.clearing, (uintptr_t)to + i, (uint32_t)n, true);
        }
    }
    return __real_memset(to, byte, bytes);
}

#define RECORD(p, bytes, kind) record(p, bytes, kind, __builtin_return_address(0))
#include "counters/observe/obs_hooks.def"
