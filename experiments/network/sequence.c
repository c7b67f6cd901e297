#include "experiments/network/sequence.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "sim/hierarchy.h"

const char *exp_touched_name(enum exp_touched t)
{
    static const char *const names[EXP_N_TOUCHED] = {
        "input", "other input", "weights", "output", "workspace", "stack"
    };

    assert(t < EXP_N_TOUCHED);
    return names[t];
}

/* Returns a simulation's time, relative to plain caches. */
static double slowness(const struct sim_machine *m)
{
    return sim_machine_is_plain(m) ? 1 : 11;
}

double exp_sequence_seconds(const struct exp_sequence *s)
{
    double sum = 0;

    for (size_t i = 0; i < s->steps->n; i++)
        sum += s->steps->seconds(s->steps->ctx, i);
    return sum * slowness(s->machine) * (s->is_alone ? 2 : 1);
}

struct sim_cell exp_step_total(const struct exp_step_counts *c)
{
    struct sim_cell sum = { 0 };

    for (int t = 0; t < EXP_N_TOUCHED; t++)
        sim_cell_add(&sum, &c->touched[t]);
    return sum;
}

uint64_t exp_lines_into(const struct sim_cell *c, const struct sim_machine *m, size_t level)
{
    assert(level <= m->n_levels);
    return level < m->n_levels ? c->level[level].lines_in : c->memory_read_lines;
}

/* ---- jobs ---- */

/* Steps first .. end - 1 of a simulation, in sequence. */
struct job {
    struct exp_sequence *s;
    size_t first, end;
    double seconds; /* announced */
};

struct running {
    struct job *job;
    size_t n;
    struct exp_progress *progress;
    pthread_mutex_t lock; /* guards seconds and is_refused of the simulations */
};

static void take(struct exp_step_counts *to, const struct exp_steps *steps, size_t step, const struct sim_stats *stats)
{
    for (unsigned tag = 0; tag < SIM_USUAL_TAGS; tag++) {
        struct sim_cell *touched = &to->touched[steps->touched(steps->ctx, step, tag)];

        for (unsigned p = 0; p < CONV_N_PHASES; p++) {
            sim_cell_add(touched, &stats->cell[tag][p]);
            sim_cell_add(&to->phase[p], &stats->cell[tag][p]);
        }
    }
}

/* Emits a step's accesses, and adds the counts to *to. */
static int simulate(const struct exp_steps *steps, size_t step, struct sim_hierarchy *h, const struct exp_pool *pool,
                    struct exp_step_counts *to)
{
    int err;

    sim_hierarchy_clear_stats(h);
    err = steps->emit(steps->ctx, step, pool, sim_hierarchy_sink(h), &to->mac_instructions);
    if (!err)
        err = sim_hierarchy_error(h);
    if (!err)
        take(to, steps, step, sim_hierarchy_stats(h));
    return err;
}

static int run_steps(const struct running *r, const struct job *j, struct sim_hierarchy *h, const struct exp_pool *pool,
                     double *seconds)
{
    const struct exp_sequence *s = j->s;
    int err = 0;

    for (size_t i = j->first; i < j->end && !err; i++) {
        const uint64_t start = ctr_thread_ns();

        err = simulate(s->steps, i, h, pool, &s->counts[i]);
        *seconds += (double)(ctr_thread_ns() - start) * 1e-9;
        if (!err && s->is_alone)
            err = simulate(s->steps, i, h, pool, &s->warm[i]);
        if (r->progress)
            exp_progress_step(r->progress, EXP_WORK_REPLAY, j->seconds / (double)(j->end - j->first));
    }
    return err;
}

static int run_job(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct running *r = ctx;
    const struct job *j = &r->job[index];
    struct sim_hierarchy *h;
    double seconds = 0;
    int err = sim_hierarchy_new(&h, j->s->machine);

    (void)thread;
    if (err)
        return err;
    err = run_steps(r, j, h, pool, &seconds);
    sim_hierarchy_free(h);
    pthread_mutex_lock(&r->lock);
    j->s->seconds += seconds;
    j->s->is_refused |= err == -ENOTSUP;
    pthread_mutex_unlock(&r->lock);
    return err == -ENOTSUP ? 0 : err;
}

/* The longest work begins first: whole sequences, and the longest steps. */
static int by_seconds(const void *a, const void *b)
{
    const double x = ((const struct job *)a)->seconds, y = ((const struct job *)b)->seconds;

    return (x < y) - (x > y);
}

static void add_jobs(struct running *r, struct exp_sequence *s)
{
    const struct exp_steps *steps = s->steps;

    s->counts = exp_new(steps->n, sizeof *s->counts);
    s->warm = s->is_alone ? exp_new(steps->n, sizeof *s->warm) : NULL;
    if (!s->is_alone)
        *(struct job *)exp_append(&r->job, &r->n, sizeof *r->job) =
            (struct job){ s, 0, steps->n, exp_sequence_seconds(s) };
    for (size_t i = 0; i < steps->n && s->is_alone; i++)
        *(struct job *)exp_append(&r->job, &r->n, sizeof *r->job) =
            (struct job){ s, i, i + 1, 2 * slowness(s->machine) * steps->seconds(steps->ctx, i) };
}

int exp_sequence_run(struct exp_sequence *s, size_t n, unsigned n_threads, struct exp_progress *progress,
                     struct exp_why *why)
{
    struct running r = { .progress = progress };
    int err;

    assert((s || !n) && n_threads);
    for (size_t i = 0; i < n; i++)
        add_jobs(&r, &s[i]);
    if (r.n)
        qsort(r.job, r.n, sizeof *r.job, by_seconds);
    pthread_mutex_init(&r.lock, NULL);
    err = exp_pool_run(r.n, n_threads, run_job, &r, exp_interrupted, NULL);
    pthread_mutex_destroy(&r.lock);
    free(r.job);
    for (size_t i = 0; i < n; i++) {
        if (s[i].is_refused)
            exp_sequence_release(&s[i]);
    }
    if (err)
        exp_fail(why, err, "%s while simulating", exp_error_text(err));
    return err;
}

void exp_sequence_release(struct exp_sequence *s)
{
    free(s->counts);
    free(s->warm);
    s->counts = s->warm = NULL;
}
