#include "experiments/polydl/exp_rank_facts.h"

#include <inttypes.h>
#include <math.h>

#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_fused_report.h"
#include "experiments/setup/exp_models.h"

/* ---- the machine ---- */

static void say_level(const struct exp_rank_results *x, size_t level, char *text, size_t bytes)
{
    const struct sim_machine *m = x->rank->polydl->machine;

    if (level < m->n_levels)
        exp_say(text, bytes, "%" PRIu64 " KiB", sim_level_bytes(&m->level[level]) / 1024);
}

void exp_rank_fact_l1(const struct exp_rank_results *x, char *text, size_t bytes)
{
    say_level(x, 0, text, bytes);
}

void exp_rank_fact_l2(const struct exp_rank_results *x, char *text, size_t bytes)
{
    say_level(x, 1, text, bytes);
}

void exp_rank_fact_l3(const struct exp_rank_results *x, char *text, size_t bytes)
{
    say_level(x, 2, text, bytes);
}

/* ---- what was run ---- */

/* A range of numbers and their mean. */
struct range {
    double least, most, sum;
    size_t n;
};

static void add(struct range *r, double x)
{
    if (!isfinite(x))
        return;
    r->least = r->n ? fmin(r->least, x) : x;
    r->most = r->n ? fmax(r->most, x) : x;
    r->sum += x;
    r->n++;
}

static bool is_convolution(const struct exp_polydl_layer *l)
{
    return l->source.problem && l->variants.n;
}

void exp_rank_fact_images(const struct exp_rank_results *x, char *text, size_t bytes)
{
    exp_say(text, bytes, "1 per thread; %zu of fused operators", x->fused->n_images);
}

void exp_rank_fact_layers(const struct exp_rank_results *x, char *text, size_t bytes)
{
    const struct exp_polydl *p = x->rank->polydl;
    size_t n = 0;

    for (size_t i = 0; i < p->n_layers; i++)
        n += is_convolution(&p->layer[i]);
    exp_say(text, bytes, "%zu", n);
}

void exp_rank_fact_variants(const struct exp_rank_results *x, char *text, size_t bytes)
{
    const struct exp_polydl *p = x->rank->polydl;
    struct range r = { .n = 0 };

    for (size_t i = 0; i < p->n_layers; i++)
        add(&r, is_convolution(&p->layer[i]) ? (double)p->layer[i].variants.n : (double)NAN);
    if (r.n)
        exp_say(text, bytes, "%.0f-%.0f; avg %.1f", r.least, r.most, r.sum / (double)r.n);
}

void exp_rank_fact_rounds(const struct exp_rank_results *x, char *text, size_t bytes)
{
    const struct exp_polydl *p = x->rank->polydl;
    struct range r = { .n = 0 };

    for (size_t i = 0; i < p->n_layers; i++) {
        for (size_t v = 0; v < p->layer[i].variants.n; v++) {
            const size_t n = p->layer[i].of[v].time[EXP_POLYDL_ONE].n_rounds;

            add(&r, n ? (double)n : (double)NAN);
        }
    }
    if (r.n)
        exp_say(text, bytes, "the fastest of %.0f-%.0f; avg %.0f", r.least, r.most, r.sum / (double)r.n);
}

void exp_rank_fact_blocked(const struct exp_rank_results *x, char *text, size_t bytes)
{
    const double all = exp_models_rows(x->experiments_dir, "polydl/*.csv"),
                 excluded = exp_models_rows(x->experiments_dir, "polydl/excluded.csv");

    if (all > 0)
        exp_say(text, bytes, "%.0f", 100 * (all - excluded) / all);
}

void exp_rank_fact_training(const struct exp_rank_results *x, char *text, size_t bytes)
{
    const struct exp_rank *r = x->rank;
    size_t n = 0, n_training = 0;

    for (size_t i = 0; i < r->polydl->n_layers; i++) {
        n += r->polydl->layer[i].variants.n > 0;
        n_training += r->polydl->layer[i].variants.n && r->layer[i].is_training;
    }
    if (r->learnt[EXP_POLYDL_ONE].net.weight)
        exp_say(text, bytes, "%.0f (of layers)", 100 * (double)n_training / (double)n);
}

/* ---- what analyses take ---- */

static double polydl_seconds(const struct exp_analysis *a)
{
    return a->polydl[EXP_POLYDL_ONE].seconds;
}

static double haystack_seconds(const struct exp_analysis *a)
{
    return a->haystack_seconds;
}

static void say_seconds(const struct exp_rank_results *x, double (*seconds)(const struct exp_analysis *a), char *text,
                        size_t bytes)
{
    const struct exp_polydl *p = x->rank->polydl;
    struct range r = { .n = 0 };

    for (size_t i = 0; i < p->n_layers; i++) {
        for (size_t v = 0; v < p->layer[i].variants.n; v++)
            add(&r, seconds(&x->rank->analyses.of[i][v]));
    }
    if (r.n)
        exp_say(text, bytes, "%.2g-%.2g s; avg %.2g s", r.least, r.most, r.sum / (double)r.n);
}

void exp_rank_fact_polydl_seconds(const struct exp_rank_results *x, char *text, size_t bytes)
{
    say_seconds(x, polydl_seconds, text, bytes);
}

void exp_rank_fact_haystack_seconds(const struct exp_rank_results *x, char *text, size_t bytes)
{
    say_seconds(x, haystack_seconds, text, bytes);
}

/* ---- what fusing brings ---- */

static void say_fused(const struct exp_rank_results *x, enum exp_fused_pair pair, enum exp_fused_way over, char *text,
                      size_t bytes)
{
    const double speedup = exp_fused_speedup(x->fused, pair, over);

    if (isfinite(speedup))
        exp_say(text, bytes, "%.2f", speedup);
}

void exp_rank_fact_bnorm(const struct exp_rank_results *x, char *text, size_t bytes)
{
    say_fused(x, EXP_FUSED_BNORM, EXP_FUSED_APART, text, bytes);
}

void exp_rank_fact_bnorm_onednn(const struct exp_rank_results *x, char *text, size_t bytes)
{
    say_fused(x, EXP_FUSED_BNORM, EXP_FUSED_ONEDNN, text, bytes);
}

void exp_rank_fact_conv(const struct exp_rank_results *x, char *text, size_t bytes)
{
    say_fused(x, EXP_FUSED_CONV, EXP_FUSED_APART, text, bytes);
}
