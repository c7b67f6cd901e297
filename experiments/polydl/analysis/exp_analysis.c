#include "experiments/polydl/analysis/exp_analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_pool.h"
#include "experiments/base/exp_program.h"

unsigned exp_polydl_n_threads(enum exp_polydl_threads threads)
{
    return threads == EXP_POLYDL_ONE ? 1 : 2;
}

/* Returns the CPU time of this thread. */
static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Makes the variant as several threads run it: with an image for each, around all of its loops. */
static int variant_of_team(struct exp_variant *v, const struct exp_polydl_layer *l, const char *name,
                           unsigned n_threads, struct exp_why *why)
{
    struct exp_variant_source source = l->source;
    char text[sizeof v->name + 8];

    source.n_images = n_threads;
    exp_say(text, sizeof text, "%s%s", source.problem ? "img* " : "", name);
    return exp_variant_read(v, &source, text, why);
}

/* Makes the variant as so many threads run it. One runs every loop in sequence. */
static int variant_of_threads(struct exp_variant *v, const struct exp_polydl_layer *l, size_t variant,
                              enum exp_polydl_threads threads, struct exp_why *why)
{
    *v = l->variants.variant[variant];
    if (threads != EXP_POLYDL_ONE)
        return variant_of_team(v, l, l->variants.variant[variant].name, exp_polydl_n_threads(threads), why);
    for (size_t i = 0; i < v->nest.n_loops; i++)
        v->nest.loop[i].is_parallel = false;
    return 0;
}

static int analyse_polydl(struct exp_analysis *a, const struct exp_sources *s, const struct exp_polydl_layer *l,
                          size_t variant, enum exp_polydl_threads threads, struct exp_why *why)
{
    struct exp_working_sets *w = malloc(sizeof *w);
    struct exp_variant *v = malloc(sizeof *v);
    int err = w && v ? 0 : exp_fail(why, -ENOMEM, "out of memory");

    if (!err)
        err = variant_of_threads(v, l, variant, threads, why);
    if (!err) {
        const double begin = seconds_now();

        err = exp_working_sets_find(w, &v->nest);
        a->polydl[threads].resident = exp_working_sets_place(w, sizeof(float), s);
        a->polydl[threads].cost = exp_working_sets_cost(&a->polydl[threads].resident, s);
        a->polydl[threads].seconds = seconds_now() - begin;
        if (err)
            exp_fail(why, err, "%s, %s: no working sets: %s", l->name, v->name, strerror(-err));
    }
    free(v);
    free(w);
    return err;
}

static int analyse_haystack(struct exp_analysis *a, const struct exp_sources *s, const struct exp_variant *v)
{
    const double begin = seconds_now();
    const int err = exp_haystack_count(&a->haystack, v, s);

    a->haystack_cycles = exp_haystack_cycles(&a->haystack, s);
    a->haystack_seconds = seconds_now() - begin;
    return err;
}

/* ---- all of them ---- */

static const double variant_seconds = 0.03; /* of a usual computer, both numbers of threads */

struct job {
    size_t layer, variant;
};

struct work {
    struct exp_analyses *analyses;
    const struct exp_polydl *polydl;
    struct job *job;
    struct exp_progress *progress;
    double job_seconds;
    struct exp_why *why;
};

static int analyse(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    const struct work *w = ctx;
    const struct job *j = &w->job[index];
    const struct exp_polydl_layer *l = &w->polydl->layer[j->layer];
    struct exp_analysis *a = &w->analyses->of[j->layer][j->variant];
    struct exp_why why = { "" };
    int err = 0;

    (void)thread;
    if (w->progress)
        exp_progress_begin(w->progress, EXP_WORK_ANALYSE, l->name, "analysing");
    for (size_t t = 0; t < EXP_N_POLYDL_THREADS && !err; t++)
        err = analyse_polydl(a, &w->analyses->sources[t], l, j->variant, (enum exp_polydl_threads)t, &why);
    if (!err) {
        err = analyse_haystack(a, &w->analyses->sources[EXP_POLYDL_ONE], &l->variants.variant[j->variant]);
        if (err)
            exp_say(why.text, sizeof why.text, "%s: misses cannot be counted: %s", l->name, strerror(-err));
    }
    if (w->progress)
        exp_progress_step(w->progress, EXP_WORK_ANALYSE, w->job_seconds);
    if (err && !exp_pool_stopped(pool))
        exp_fail(w->why, err, "%s", why.text);
    return err;
}

static size_t count_variants(const struct exp_polydl *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n_layers; i++)
        n += p->layer[i].variants.n;
    return n;
}

double exp_analyses_seconds(const struct exp_polydl *p, size_t n_jobs)
{
    return variant_seconds * (double)count_variants(p) / (double)n_jobs;
}

int exp_analyses_make(struct exp_analyses *a, const struct exp_polydl *p, size_t n_jobs, struct exp_progress *progress,
                      struct exp_why *why)
{
    struct work w = {
        .analyses = a,
        .polydl = p,
        .job = calloc(count_variants(p) + 1, sizeof *w.job),
        .progress = progress,
        .job_seconds = variant_seconds / (double)n_jobs,
        .why = why,
    };
    size_t n = 0;
    int err = w.job ? 0 : -ENOMEM;

    *a = (struct exp_analyses){ .n_layers = p->n_layers, .of = calloc(p->n_layers + 1, sizeof *a->of) };
    for (size_t t = 0; t < EXP_N_POLYDL_THREADS; t++)
        a->sources[t] = exp_sources_of(p->machine, exp_polydl_n_threads((enum exp_polydl_threads)t));
    if (!a->of)
        err = -ENOMEM;
    for (size_t i = 0; i < p->n_layers && !err; i++) {
        a->of[i] = calloc(p->layer[i].variants.n + 1, sizeof *a->of[i]);
        if (!a->of[i])
            err = -ENOMEM;
        for (size_t v = 0; v < p->layer[i].variants.n; v++)
            w.job[n++] = (struct job){ i, v };
    }
    if (err)
        exp_fail(why, err, "out of memory");
    else
        err = exp_pool_run(n, n_jobs, analyse, &w, exp_interrupted, NULL);
    free(w.job);
    if (err)
        exp_analyses_release(a);
    return err;
}

void exp_analyses_release(struct exp_analyses *a)
{
    for (size_t i = 0; i < a->n_layers && a->of; i++)
        free(a->of[i]);
    free(a->of);
    *a = (struct exp_analyses){ 0 };
}
