#include "tests/experiments/fake_computer.h"

#include "tests/rng.h"

static const uint64_t room_bytes = (uint64_t)1 << 30;

static void load(struct fake_computer *f, uint64_t addr)
{
    const struct sim_run run = { .addr = addr, .count = 1, .access_bytes = 1, .kind = SIM_LOAD };

    sim_emit(sim_hierarchy_sink(f->h), &run, 1, 1);
}

/* Returns the level that has a line; the number of levels stands for memory. */
static size_t level_of(struct fake_computer *f, uint64_t addr)
{
    struct sim_cell sum;
    size_t k = 0;

    sim_hierarchy_clear_stats(f->h);
    load(f, addr);
    sum = sim_stats_total(sim_hierarchy_stats(f->h));
    while (k < f->machine.n_levels && sum.level[k].load_misses)
        k++;
    return k;
}

static double ticks_of(const struct fake_computer *f, size_t level)
{
    double ticks =
        level < f->machine.n_levels ? f->machine.level[level].latency_cycles : f->machine.memory_latency_cycles;

    ticks += f->noise_ticks * rng_unit();
    if (rng_below(100) < f->disturbed_percent)
        ticks = rng_below(2) ? 10 * ticks : 1;
    if (f->clock_step > 0)
        ticks = (double)(uint64_t)(ticks / f->clock_step) * f->clock_step;
    return f->is_dead ? 7 : ticks;
}

static double look(void *context, const struct exp_look *l)
{
    struct fake_computer *f = context;
    const uint64_t ground = f->room += room_bytes;

    f->n_looks++;
    for (uint64_t i = 0; i < 96; i++) /* different pages, at most one line per page */
        load(f, ground + room_bytes / 2 + (i * 37 % 96) * 8192 + i % 64 * 64);
    for (size_t i = 0; i < l->n; i++)
        load(f, ground + l->offset[i]);
    for (uint64_t i = 0; i < l->sweep_bytes / 64; i++)
        load(f, ground + room_bytes / 4 + i * 64);
    return ticks_of(f, level_of(f, ground + l->probed));
}

static double chase(void *context, const struct exp_ring *r)
{
    const struct fake_computer *f = context;
    size_t level = 0;

    if (r->is_loose)
        return r->is_sorted ? 6 : 16;
    if (r->is_stored || r->is_shared)
        return ticks_of(f, f->machine.n_levels) / (r->is_stored ? 7 : 21);
    while (level < f->machine.n_levels && (r->is_flushed || r->sweep_bytes > sim_level_bytes(&f->machine.level[level])))
        level++;
    return f->is_backwards ? 1000 - ticks_of(f, level) : ticks_of(f, level);
}

static double stream(void *context, const struct ctr_stream *s, size_t bytes, bool flushed)
{
    const struct fake_computer *f = context;
    size_t level = 0;

    while (level < f->machine.n_levels && (flushed || bytes > sim_level_bytes(&f->machine.level[level])))
        level++;
    return s->width_bytes / (double)(level + 1);
}

static double clock_of(void *context)
{
    return ((struct fake_computer *)context)->is_dead ? 0 : 2;
}

int fake_computer_init(struct fake_computer *f, const struct sim_machine *m)
{
    *f = (struct fake_computer){ .computer = { f, look, chase, stream, clock_of }, .machine = *m };
    return sim_hierarchy_new(&f->h, m);
}

void fake_computer_release(struct fake_computer *f)
{
    sim_hierarchy_free(f->h);
}
