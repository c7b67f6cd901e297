#include "tests/counters/fake_counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counters/perf/ctr_loop.h"
#include "counters/proof/ctr_proof.h"
#include "counters/group/ctr_quantity.h"

enum { SET_NS = 1000000 }; /* the enabled time of every set */

struct fake_set {
    struct fake_counters *f;
    size_t n;
    uint64_t code[CTR_MAX_SET_EVENTS];
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

/* Prefetch instructions: the claims name them only as 0 loads. */
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
    f->has_proven = true;
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
    f->has_proven = false;
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
    return 0;
}

/* In the order of the common quantities. */
enum {
    LOADS,
    STORES,
    L1_LINES,
    DEMAND_LINES,
    HARDWARE_LINES,
    SOFTWARE_LINES,
    L2_LINES,
    MEMORY_LINES,
    DTLB_MISSES,
    BRANCHES,
    MISPREDICTIONS,
    INSTRUCTIONS,
    CYCLES
};

/*
 * Each line: a part of the count of a real CPU's code; two lines for a code that counts two quantities. Where a group
 * adds events up, the parts add up to 1.
 */
static const struct {
    uint64_t code;
    unsigned event;
    double part;
} real_codes[] = {
    /* AMD; the unit masks of Zen 4, Zen 3, Zen 2 */
    { 0x529, LOADS, 1 },
    { 0x529, FAKE_PREFETCHES, 1 },
    { 0x74b, FAKE_PREFETCHES, 1 },
    { 0x629, STORES, 1 },
    { 0xdf44, L1_LINES, 1 },
    { 0x5f44, L1_LINES, 1 },
    { 0xdf43, DEMAND_LINES, 1 },
    { 0x5f43, DEMAND_LINES, 1 },
    { 0x5b43, DEMAND_LINES, 1 },
    { 0xde43, FAKE_L2_MISSES, 1 },
    { 0x5e43, FAKE_L2_MISSES, 1 },
    { 0x5a43, FAKE_L2_MISSES, 1 },
    { 0xdc43, FAKE_L3_MISSES, 1 },
    { 0x5c43, FAKE_L3_MISSES, 1 },
    { 0x4843, FAKE_L3_MISSES, 1 },
    { 0x4843, MEMORY_LINES, 0.5 },
    { 0xdf5a, HARDWARE_LINES, 1 },
    { 0x5f5a, HARDWARE_LINES, 1 },
    { 0x5b5a, HARDWARE_LINES, 1 },
    { 0x485a, MEMORY_LINES, 0.3 },
    { 0xdf59, SOFTWARE_LINES, 1 },
    { 0x5f59, SOFTWARE_LINES, 1 },
    { 0x5b59, SOFTWARE_LINES, 1 },
    { 0x4859, MEMORY_LINES, 0.2 },
    { 0xdc44, MEMORY_LINES, 1 },
    { 0x5c44, MEMORY_LINES, 1 },
    { 0x864, L2_LINES, 0.5 },
    { 0xde44, L2_LINES, 0.5 },
    { 0x5e44, L2_LINES, 0.5 },
    { 0x1f71, L2_LINES, 0.5 },
    { 0xff45, DTLB_MISSES, 1 },
    { 0xc2, BRANCHES, 1 },
    { 0xc3, MISPREDICTIONS, 1 },
    { 0x76, CYCLES, 1 },
    /* Intel; last the codes that differ: Golden Cove, Haswell */
    { 0x81d0, LOADS, 1 },
    { 0x81d0, FAKE_PREFETCHES, 1 },
    { 0xf32, FAKE_PREFETCHES, 1 },
    { 0xf40, FAKE_PREFETCHES, 1 },
    { 0x82d0, STORES, 1 },
    { 0x8d1, FAKE_L1_MISSES, 1 },
    { 0x10d1, FAKE_L2_MISSES, 1 },
    { 0x20d1, FAKE_L3_MISSES, 1 },
    { 0x151, L1_LINES, 1 },
    { 0x1ff1, L2_LINES, 1 },
    { 0x1f25, L2_LINES, 1 },
    { 0x7f1, L2_LINES, 1 },
    { 0x412e, MEMORY_LINES, 1 },
    { 0x2008, DTLB_MISSES, 0.4 },
    { 0x2012, DTLB_MISSES, 0.4 },
    { 0x6008, DTLB_MISSES, 0.4 },
    { 0xe08, DTLB_MISSES, 0.3 },
    { 0xe12, DTLB_MISSES, 0.3 },
    { 0x2049, DTLB_MISSES, 0.2 },
    { 0x2013, DTLB_MISSES, 0.2 },
    { 0x6049, DTLB_MISSES, 0.2 },
    { 0xe49, DTLB_MISSES, 0.1 },
    { 0xe13, DTLB_MISSES, 0.1 },
    { 0xc4, BRANCHES, 1 },
    { 0xc5, MISPREDICTIONS, 1 },
    { 0x3c, CYCLES, 1 },
    /* both */
    { 0xc0, INSTRUCTIONS, 1 },
    /* POWER10 */
    { 0x4003e, LOADS, 1 },
    { 0x200f0, STORES, 1 },
    { 0x300f6, DEMAND_LINES, 1 },
    { 0x200fe, FAKE_L2_MISSES, 1 },
    { 0x300fe, FAKE_L3_MISSES, 1 },
    { 0x300fc, DTLB_MISSES, 1 },
    { 0x4d05e, BRANCHES, 1 },
    { 0x400f6, MISPREDICTIONS, 1 },
    { 0x500fa, INSTRUCTIONS, 1 },
    { 0x600f4, CYCLES, 1 },
};

static double made_for_real(const struct fake_counters *f, uint64_t code)
{
    double sum = 0;

    for (size_t i = 0; i < sizeof real_codes / sizeof real_codes[0]; i++)
        if (real_codes[i].code == code)
            sum += real_codes[i].part * f->made[real_codes[i].event] * f->factor[real_codes[i].event];
    return sum;
}

/* Returns the number made of an event. Loads are counted together with prefetch instructions. */
static double made(const struct fake_counters *f, uint64_t code)
{
    if (code >= N_FAKE_EVENTS)
        return made_for_real(f, code);
    return (f->made[code] + (code ? 0 : f->made[FAKE_PREFETCHES])) * f->factor[code];
}

/* Overflows a count: a counter of few bits starts just below the end, and the kernel takes the difference. */
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

    if (!f->ran_loop && f->has_proven)
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
