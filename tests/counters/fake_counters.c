#include "tests/counters/fake_counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_loop.h"
#include "counters/ctr_proof.h"
#include "counters/ctr_quantity.h"
#include "counters/ctr_timer.h"

enum { WORK_NS = 2000, SET_NS = 100000 }; /* a region is work if it takes so long; what every set is enabled for */

struct fake_set {
    struct fake_counters *f;
    size_t n;
    uint64_t code[CTR_MAX_SET_EVENTS];
    uint64_t start_ns;
    struct ctr_counts counts;
};

static const struct {
    const char *name;
    size_t event;
} other_metrics[] = {
    { "prefetch_instructions", FAKE_PREFETCHES },
    { "l1_load_misses", FAKE_L1_MISSES },
    { "l2_load_misses", FAKE_L2_MISSES },
    { "l3_load_misses", FAKE_L3_MISSES },
};

static size_t event_of(const char *metric)
{
    for (size_t i = 0; i < sizeof other_metrics / sizeof other_metrics[0]; i++)
        if (!strcmp(other_metrics[i].name, metric))
            return other_metrics[i].event;
    return ctr_quantity_index(metric);
}

/* Prefetch instructions, of which the claims speak only as loads that are none. */
static double prefetches_per_turn(const struct ctr_loop *loop)
{
    return strcmp(loop->name, "prefetches") ? 0 : CTR_LOOP_UNROLL;
}

static void run(void *context, const struct ctr_loop *loop, struct ctr_ground *ground)
{
    struct fake_counters *f = context;
    double n = (double)ground->n_turns;

    for (size_t i = 0; i < ctr_n_claims(); i++) {
        const struct ctr_claim *c = ctr_claim_at(i);

        if (!strcmp(c->loop, loop->name))
            f->made[event_of(c->metric)] += c->made * n;
    }
    f->made[FAKE_PREFETCHES] += prefetches_per_turn(loop) * n;
    f->ran_loop = true;
}

static int open_set(void *context, const struct ctr_event_code *code, size_t n, void **set, size_t *refused)
{
    struct fake_counters *f = context;
    struct fake_set *s;

    *refused = n - 1;
    *set = NULL;
    if (f->refusal)
        return f->refusal;
    if (n > f->n_counters)
        return -EINVAL;
    s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->f = f;
    s->n = n;
    for (size_t i = 0; i < n; i++)
        s->code[i] = code[i].config;
    f->n_open++;
    *set = s;
    return 0;
}

static void close_set(void *set)
{
    struct fake_set *s = set;

    if (s)
        s->f->n_open--;
    free(s);
}

static int start(void *set)
{
    struct fake_set *s = set;

    memset(s->f->made, 0, sizeof s->f->made);
    s->f->ran_loop = false;
    s->start_ns = ctr_thread_ns();
    return 0;
}

/* Loads are counted together with prefetch instructions. */
static double made(const struct fake_counters *f, uint64_t code)
{
    if (code >= N_FAKE_EVENTS)
        return 0;
    return (f->made[code] + (code ? 0 : f->made[FAKE_PREFETCHES])) * f->factor[code];
}

/* A counter of few bits starts just below its end, and the kernel takes the difference. */
static uint64_t overflowed(const struct fake_counters *f, uint64_t count)
{
    uint64_t end, first;

    if (!f->n_bits)
        return count;
    end = UINT64_C(1) << f->n_bits;
    first = end - 1000;
    return (first + count) % end - first;
}

static uint64_t counted(const struct fake_counters *f, size_t counter, uint64_t code)
{
    double value = made(f, code) * f->running_percent / 100;

    return f->is_dead[counter] ? 41 : overflowed(f, (uint64_t)(value + 0.5));
}

static int stop(void *set)
{
    struct fake_set *s = set;
    struct fake_counters *f = s->f;
    bool is_taken = s->n > f->n_counters - f->n_taken;

    if (!f->ran_loop && ctr_thread_ns() - s->start_ns > WORK_NS)
        memcpy(f->made, f->region, sizeof f->made);
    s->counts = (struct ctr_counts){ .time_enabled_ns = SET_NS, .time_running_ns = SET_NS * f->running_percent / 100 };
    if (is_taken)
        s->counts.time_running_ns = 0;
    for (size_t i = 0; i < s->n && !is_taken; i++)
        s->counts.value[i] = counted(f, i, s->code[i]);
    return 0;
}

static int read_set(void *set, struct ctr_counts *counts)
{
    *counts = ((struct fake_set *)set)->counts;
    return 0;
}

void fake_counters_init(struct fake_counters *f)
{
    *f = (struct fake_counters){ .n_counters = 6, .running_percent = 100 };
    for (size_t i = 0; i < N_FAKE_EVENTS; i++)
        f->factor[i] = 1;
    f->source = (struct ctr_source){
        .name = "made up",
        .context = f,
        .open = open_set,
        .close = close_set,
        .start = start,
        .stop = stop,
        .read = read_set,
        .run = run,
    };
}
