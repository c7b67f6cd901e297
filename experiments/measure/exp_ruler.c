/* The loops of the ruler, and when they are run: exp_ruler.h. */
#include "experiments/measure/exp_ruler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_emulated.h"
#include "counters/host/ctr_timer.h"

enum {
    ALIGN = 4096,
    CLOCK_STEPS = 1200, /* of 4 to 5 ns each: some 5 us, as the others */
    N_FMAS = 33600,
    LOAD_PASSES = 7,
    PORTABLE_CHAINS = 8,
};

/* ---- the loops ---- */

/* Divides again and again. No compiler may fold this: rounding makes each step's result its own. */
static double divide(size_t n_steps, double x, double by)
{
    for (; n_steps; n_steps--)
        x = by / x;
    return x;
}

/* Multiplies and adds, where there is no loop for this CPU's vectors. */
static float portable_fma(size_t n_steps, float a, float b)
{
    float chain[PORTABLE_CHAINS], sum = 0;

    for (int i = 0; i < PORTABLE_CHAINS; i++)
        chain[i] = (float)i;
    for (; n_steps; n_steps--) {
        for (int i = 0; i < PORTABLE_CHAINS; i++)
            chain[i] = chain[i] * a + b;
    }
    for (int i = 0; i < PORTABLE_CHAINS; i++)
        sum += chain[i];
    return sum;
}

static float portable_read(const float *x, size_t n)
{
    float chain[PORTABLE_CHAINS] = { 0 }, sum = 0;

    for (size_t at = 0; at < n; at += PORTABLE_CHAINS) {
        for (size_t i = 0; i < PORTABLE_CHAINS; i++)
            chain[i] += x[at + i];
    }
    for (int i = 0; i < PORTABLE_CHAINS; i++)
        sum += chain[i];
    return sum;
}

/* What comes out of a loop goes into sink, which is volatile, and what goes into it comes from there: it must be run. */
static void run_clock(struct exp_ruler *r)
{
    const double one = 1 + (double)r->sink * 0;

    r->sink = (float)divide(CLOCK_STEPS, 1.1 * one, 1.5 * one);
}

static void run_fma(struct exp_ruler *r)
{
    const size_t n_steps = N_FMAS / (r->peak ? r->peak->n_chains : PORTABLE_CHAINS);
    const float zero = r->sink * 0;

    r->sink = r->peak ? r->peak->fma(n_steps) : portable_fma(n_steps, 0.5f + zero, 1 + zero);
}

static void run_loads(struct exp_ruler *r)
{
    const size_t n = EXP_RULER_BYTES / sizeof(float);

    for (int i = 0; i < LOAD_PASSES; i++)
        r->sink = r->peak ? r->peak->read(r->data, n) : portable_read(r->data, n);
}

/* A piece of a loop, and of the clock beside it. */
struct piece {
    uint32_t clock_ns, ns;
};

/* Runs a piece of a loop and returns its time, 1 ns at least. */
static uint32_t time_piece(struct exp_ruler *r, void (*loop)(struct exp_ruler *r))
{
    const uint64_t start = ctr_now_ns();
    uint64_t took;

    loop(r);
    took = ctr_now_ns() - start;
    return took < UINT32_MAX ? (uint32_t)(took + !took) : UINT32_MAX;
}

/*
 * Reads pieces in turns, each of the loop between two of the clock, the faster of which is its own. Returns the piece that
 * took the least in units of its clock.
 */
static struct piece read_pieces(struct exp_ruler *r, void (*loop)(struct exp_ruler *r))
{
    struct piece best = { 0 };
    uint32_t before = time_piece(r, run_clock);

    for (int i = 0; i < EXP_RULER_PIECES; i++) {
        const uint32_t ns = time_piece(r, loop), after = time_piece(r, run_clock);
        const struct piece p = { before < after ? before : after, ns };

        if (!i || (double)p.ns * best.clock_ns < (double)best.ns * p.clock_ns)
            best = p;
        before = after;
    }
    return best;
}

void exp_ruler_read_core(struct exp_ruler *r, struct exp_mark *m)
{
    struct piece p;

    if (!r)
        return;
    p = read_pieces(r, run_fma);
    m->clock_ns = p.clock_ns;
    m->fma_ns = p.ns;
}

void exp_ruler_read_loads(struct exp_ruler *r, struct exp_mark *m)
{
    struct piece p;

    if (!r)
        return;
    p = read_pieces(r, run_loads);
    m->loads_clock_ns = p.clock_ns;
    m->loads_ns = p.ns;
}

int exp_ruler_new(struct exp_ruler **r, const struct conv_peak *peak)
{
    void *data;

    *r = NULL;
    if (ctr_is_emulated())
        return 0;
    *r = calloc(1, sizeof **r);
    if (!*r)
        return -ENOMEM;
    (*r)->peak = peak;
    if (posix_memalign(&data, ALIGN, EXP_RULER_BYTES)) {
        exp_ruler_free(*r);
        *r = NULL;
        return -ENOMEM;
    }
    (*r)->data = memset(data, 0, EXP_RULER_BYTES);
    return 0;
}

void exp_ruler_free(struct exp_ruler *r)
{
    if (r)
        free(r->data);
    free(r);
}

/* ---- beside turns ---- */

static void read_before(void *ruler)
{
    struct exp_ruler *r = ruler;

    exp_ruler_read_loads(r, &r->before);
}

static void read_begin(void *ruler)
{
    struct exp_ruler *r = ruler;
    exp_ruler_read_core(r, &r->before);
}

static double read_end(void *ruler, struct exp_mark *m)
{
    struct exp_ruler *r = ruler;
    struct exp_mark after = { 0 };

    exp_ruler_read_core(r, &after);
    exp_ruler_read_loads(r, &after);
    exp_ruler_best_add(&r->best, &r->before);
    exp_ruler_best_add(&r->best, &after);
    *m = exp_ruler_worse(r->before, after);
    return exp_ruler_off(&r->best, m);
}

void exp_ruler_limit(struct exp_ruler *r, uint64_t limit_ns)
{
    if (r)
        r->until_ns = ctr_now_ns() + limit_ns;
}

/* Reads until nothing is off. These readings are no timing's: the best is not found among them. */
static void wait_for_quiet(struct exp_ruler *r)
{
    const uint64_t until_ns = ctr_now_ns() + EXP_RULER_WAIT_MS * 1000000;
    struct exp_mark m = { 0 };

    do {
        exp_ruler_read_core(r, &m);
        exp_ruler_read_loads(r, &m);
    } while (exp_ruler_off(&r->best, &m) > 0 && ctr_now_ns() < until_ns);
}

bool exp_ruler_goes_on(struct exp_ruler *r, unsigned n_again)
{
    const bool is_over = ctr_now_ns() >= r->until_ns;

    r->kept.limit_ended = r->kept.limit_ended || is_over;
    if (is_over || n_again >= EXP_RULER_MOST_AGAIN)
        return false;
    wait_for_quiet(r);
    return true;
}

static bool goes_on(void *ruler, unsigned n_again)
{
    return exp_ruler_goes_on(ruler, n_again);
}

static void keep(void *ruler, const struct exp_mark *m)
{
    struct exp_ruler *r = ruler;

    exp_ruler_report_add(&r->kept, &r->best, m, 1);
}

struct exp_watch exp_ruler_watch(struct exp_ruler *r)
{
    return (struct exp_watch){
        .before = read_before, .begin = read_begin, .end = read_end, .goes_on = goes_on, .keep = keep, .ctx = r
    };
}
