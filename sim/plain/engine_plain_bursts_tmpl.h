/*
 * The plain engine's front-end of bursts: the definitions that sim/engine/bursts_tmpl.h needs for both back-ends. A
 * back-end also defines
 *
 *   can_access(h, addr, bytes), can_run(h, run, n_times)   whether the addresses can be touched; if not, the engine
 *                                           must change to wide words first
 */
#include <assert.h>

#include "sim/plain/engine_plain.h"

#define ENGINE struct sim_plain
#define touch_times(h, who, line, n) touch_line(h, who, line)

enum { MERGES_LINES = 1, HAS_QUIET = 1, SETTLES_AHEAD = 0 };

static inline void count_touches(const struct toucher *who, uint64_t n)
{
    *(who->is_store ? &who->cell->level[0].writes : &who->cell->level[0].reads) += n;
}

static inline bool is_ignored(const struct sim_plain *h, unsigned kind)
{
    (void)h;
    return kind == SIM_PREFETCH;
}

static inline uint64_t changes(const struct sim_plain *h)
{
    return h->n_l1_misses;
}

static inline bool has_settled(const struct sim_plain *h, uint64_t since, uint64_t n_touches)
{
    return h->n_l1_misses == since || n_touches <= h->n_settling;
}

static inline bool can_settle_ahead(const struct sim_plain *h, uint64_t n_touches)
{
    (void)h, (void)n_touches;
    return false;
}

static inline void pass_over(struct sim_plain *h, const struct toucher *who, uint64_t n)
{
    (void)h, (void)who, (void)n;
}

#include "sim/engine/bursts_tmpl.h"
#include "sim/plain/engine_plain_sweeps_tmpl.h"

static bool can_burst(struct sim_plain *h, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    for (const struct sim_run *r = run; r < run + n_runs; r++) {
        assert(r->access_bytes && r->kind < SIM_N_KINDS && r->tag < h->base.n_tags && r->phase < SIM_MAX_PHASES);
        if (r->count && !is_ignored(h, r->kind) && !can_run(h, r, n_times))
            return false;
    }
    return true;
}

/* Makes one access. Returns false if the access needs wide words. */
static inline bool take_lone(struct sim_plain *h, const struct sim_run *r)
{
    assert(r->access_bytes && r->kind < SIM_N_KINDS && r->tag < h->base.n_tags && r->phase < SIM_MAX_PHASES);
    if (!is_ignored(h, r->kind) && !can_access(h, r->addr, r->access_bytes))
        return false;
    h->bursts.paths.lone_accesses++;
    take_access(h, r);
    return true;
}

/* Makes the repetitions of a burst from t on. */
static void take_rest(struct sim_plain *h, const struct sim_run *run, size_t n_runs, uint64_t t, uint64_t n_times)
{
    struct sim_run rest[SIM_MAX_BURST_RUNS];

    if (!t) {
        take_burst(h, run, n_runs, n_times);
        return;
    }
    for (size_t r = 0; r < n_runs; r++) {
        rest[r] = run[r];
        rest[r].addr += t * (uint64_t)run[r].step_bytes;
    }
    take_burst(h, rest, n_runs, n_times - t);
}

static inline bool take_any(struct sim_plain *h, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    uint64_t n_swept;

    if (n_runs == 1 && n_times == 1 && run->count == 1)
        return take_lone(h, run);
    if (!can_burst(h, run, n_runs, n_times))
        return false;
    n_swept = sweep_burst(h, run, n_runs, n_times);
    if (n_swept < n_times)
        take_rest(h, run, n_runs, n_swept, n_times);
    return true;
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct sim_plain *h = (struct sim_plain *)self;

    assert(n_runs <= SIM_MAX_BURST_RUNS);
    if (n_times && !take_any(h, run, n_runs, n_times)) {
        sim_plain_widen(h);
        h->variant->accept(self, run, n_runs, n_times);
    }
}
