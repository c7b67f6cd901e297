#define _GNU_SOURCE
#include "counters/perf/ctr_watch.h"

#include <assert.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "counters/perf/ctr_perf.h"

struct ctr_watch {
    struct ctr_perf_set set;
    struct sigaction before; /* the action of SIGTRAP before */
    bool is_catching;
    sig_atomic_t n_stray; /* traps not counted by the kernel */
};

static __thread volatile sig_atomic_t n_traps;

/*
 * Counts a trap that the kernel takes for no breakpoint of its own: the kernel sends a signal, which would end the
 * program. Some virtual machines deliver stray traps (Linux 6.18 as a guest on Intel: 1 in 10,000). The access is lost
 * to the count.
 */
static void note_stray(int signal)
{
    (void)signal;
    n_traps++;
}

static int catch_strays(struct ctr_watch *w)
{
    struct sigaction note = { .sa_handler = note_stray, .sa_flags = SA_RESTART };

    assert(!w->is_catching); /* a second start would lose the action before the first */
    if (sigaction(SIGTRAP, &note, &w->before))
        return -errno;
    w->is_catching = true;
    n_traps = 0;
    return 0;
}

static void release_strays(struct ctr_watch *w)
{
    if (!w->is_catching)
        return;
    w->n_stray = n_traps;
    sigaction(SIGTRAP, &w->before, NULL);
    w->is_catching = false;
}

static int check(const struct ctr_watch_point *p, struct sim_why why)
{
    if (p->bytes != 1 && p->bytes != 2 && p->bytes != 4 && p->bytes != 8)
        return sim_fail(why, -EINVAL, "watched length is not 1, 2, 4 or 8 bytes, %u", p->bytes);
    if ((uintptr_t)p->addr % p->bytes)
        return sim_fail(why, -EINVAL, "watched address is not a multiple of its %u bytes, %p", p->bytes,
                        (const void *)(uintptr_t)p->addr);
    if (p->kind != CTR_WATCH_WRITES && p->kind != CTR_WATCH_READS_AND_WRITES)
        return sim_fail(why, -EINVAL, "unknown kind of watchpoint, %d", (int)p->kind);
    return 0;
}

static int add(struct ctr_watch *w, const struct ctr_watch_point *p, struct sim_why why)
{
    struct ctr_event_code code = {
        .type = PERF_TYPE_BREAKPOINT,
        .bp_type = p->kind == CTR_WATCH_WRITES ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW,
        .config1 = (uintptr_t)p->addr,
        .config2 = p->bytes,
    };
    int err = check(p, why);

    if (err)
        return err;
    err = ctr_perf_add(&w->set, &code);
    return err ? ctr_perf_explain(err, "data breakpoint", why) : 0;
}

int ctr_watch_open(struct ctr_watch **w, const struct ctr_watch_point *point, size_t n_points, struct sim_why why)
{
    int err = 0;

    assert(point || !n_points);
    *w = NULL;
    if (n_points < 1 || n_points > CTR_MAX_WATCHES)
        return sim_fail(why, -EINVAL, "number of watchpoints is not 1 to %d, %zu", CTR_MAX_WATCHES, n_points);
    *w = calloc(1, sizeof **w);
    if (!*w)
        return sim_fail(why, -ENOMEM, "out of memory");
    for (size_t i = 0; !err && i < n_points; i++)
        err = add(*w, &point[i], why);
    if (err) {
        ctr_watch_close(*w);
        *w = NULL;
    }
    return err;
}

void ctr_watch_close(struct ctr_watch *w)
{
    if (w) {
        ctr_perf_close(&w->set);
        release_strays(w);
    }
    free(w);
}

int ctr_watch_probe(struct sim_why why)
{
    static const uint64_t target = 0;
    const struct ctr_watch_point point = { &target, sizeof target, CTR_WATCH_WRITES };
    struct ctr_watch *w;
    int err = ctr_watch_open(&w, &point, 1, why);

    ctr_watch_close(w);
    return err;
}

int ctr_watch_start(struct ctr_watch *w)
{
    int err = catch_strays(w);

    return err ? err : ctr_perf_start(&w->set);
}

int ctr_watch_stop(struct ctr_watch *w)
{
    int err = ctr_perf_stop(&w->set);

    release_strays(w);
    return err;
}

int ctr_watch_read(const struct ctr_watch *w, uint64_t *count)
{
    struct ctr_counts c;
    int err = ctr_perf_read(&w->set, &c);

    if (err)
        return err;
    if (c.time_running_ns != c.time_enabled_ns || w->n_stray)
        return -ENODATA;
    memcpy(count, c.value, w->set.n_events * sizeof *count);
    return 0;
}
