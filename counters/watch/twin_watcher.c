/*
 * The watcher inside the program: the kernels are compiled with the compiler's access instrumentation, and the hooks
 * feed the stream. So every load and store of the kernels' own code is seen, on the CPU of the code, at the CPU's
 * speed; spilled registers and calls are not. Of OpenBLAS, copies of the machine code are watched (copies.h), if there
 * are any beside the program.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/watch/marker.h"
#include "counters/watch/copies.h"
#include "counters/watch/watch.h"

enum { N_SITES = 256, CLEARED_BYTES = 64 };

/* "-" is no memory. */
#define RULE(pattern, phase, tag) { #pattern, phase, #tag[0] == '-' ? -1 : #tag[0] - '0' },
static const struct watch_rule rules[] = {
#include "counters/watch/openblas_rules.def"
};

/* Global: the hooks have no argument for a context. One thread. */
static struct {
    struct watch_region region;
    struct watch_site *site[N_SITES], *clearing;
    uint64_t *executed;
} watcher;

/* The copies lie beside the program. Without copies, OpenBLAS goes unseen, and the result lacks OpenBLAS's buffers. */
static int load_copies(char *why, size_t why_bytes)
{
    static const char suffix[] = ".rewritten";
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - sizeof suffix);
    int err;

    if (n < 0)
        return -errno;
    memcpy(path + n, suffix, sizeof suffix);
    err = watch_copies_load(path, watcher.region.stream, why, why_bytes);
    return err == -ENOENT ? 0 : err;
}

int watch_find(const struct watch_files *f, char *why, size_t why_bytes)
{
    int err = watch_region_open(&watcher.region, f, rules, sizeof rules / sizeof rules[0], why, why_bytes);

    if (err)
        return err;
    for (size_t i = 0; i < N_SITES && !err; i++) {
        watcher.site[i] = watch_stream_site(watcher.region.stream, "instrumented_kernels");
        err = watcher.site[i] ? 0 : -ENOMEM;
    }
    watcher.clearing = err ? NULL : watch_stream_site(watcher.region.stream, "memset");
    if (err || !watcher.clearing) {
        snprintf(why, why_bytes, "out of memory");
        return -ENOMEM;
    }
    watcher.executed = watch_stream_executed(watcher.region.stream);
    return load_copies(why, why_bytes);
}

/* After an error nothing has a meaning: the program is ended, as the emulator's observer ends the program. */
void watch_mark(enum watch_mark mark, uint64_t a, uint64_t b, uint64_t c)
{
    const char *error;
    char why[4400];

    watch_copies_drain();
    watch_copies_take_counts();
    watch_stream_mark(watcher.region.stream, mark, a, b, c);
    error = watch_stream_error(watcher.region.stream);
    /* Without copies of the whole program, only a part of the accesses outside the buffers is seen: no spills. */
    if (!error && mark == WATCH_MARK_END &&
        watch_region_close(&watcher.region, watch_copies_are_whole(), why, sizeof why))
        error = why;
    if (error) {
        fprintf(stderr, "observer: %s\n", error);
        exit(EXIT_FAILURE);
    }
}

/* A whole access, as the compiler has the access; `caller` is a hint for the access's buffer. */
static void record(const void *p, size_t bytes, enum sim_kind kind, const void *caller)
{
    struct watch_site *site = watcher.site[(uintptr_t)caller % N_SITES];

    if (!watcher.region.stream)
        return;
    watch_copies_drain();
    ++*watcher.executed;
    watch_stream_take(&(struct watch_access){ site, (uintptr_t)p, (uint32_t)bytes, kind });
}

/* The linker sends calls of memset here. Memory cleared by OpenBLAS counts as vectors stored by the C library. */
void *__wrap_memset(void *to, int byte, size_t bytes);
void *__real_memset(void *to, int byte, size_t bytes);

void *__wrap_memset(void *to, int byte, size_t bytes)
{
    if (watch_copies_holds(__builtin_return_address(0))) {
        watch_copies_drain();
        for (size_t i = 0, n; i < bytes; i += n) {
            n = bytes - i < CLEARED_BYTES ? bytes - i : CLEARED_BYTES;
            ++*watcher.executed;
            watch_stream_take(&(struct watch_access){ watcher.clearing, (uintptr_t)to + i, (uint32_t)n, SIM_STORE });
        }
    }
    return __real_memset(to, byte, bytes);
}

#define RECORD(p, bytes, kind) record(p, bytes, kind, __builtin_return_address(0))
#include "counters/watch/hooks.def"
