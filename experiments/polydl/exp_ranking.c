#include "experiments/polydl/exp_ranking.h"

#include <math.h>

#include "experiments/base/exp_error.h"

typedef double (*value_fn)(const struct exp_ranking_case *c, size_t variant);

static double or_nan(double x)
{
    return x > 0 ? x : (double)NAN;
}

/* ---- times ---- */

static double fastest(const struct exp_ranking_case *c, size_t variant)
{
    return or_nan(c->layer->of[variant].time[c->threads].fastest_ns);
}

static double first_half(const struct exp_ranking_case *c, size_t variant)
{
    return or_nan(c->layer->of[variant].time[c->threads].half_ns[0]);
}

static double second_half(const struct exp_ranking_case *c, size_t variant)
{
    return or_nan(c->layer->of[variant].time[c->threads].half_ns[1]);
}

/* ---- costs and what they took ---- */

static double nothing(const struct exp_ranking_case *c, size_t variant)
{
    (void)c;
    (void)variant;
    return 0;
}

static double polydl(const struct exp_ranking_case *c, size_t variant)
{
    return c->analysis[variant].polydl[c->threads].cost;
}

static double polydl_seconds(const struct exp_ranking_case *c, size_t variant)
{
    return c->analysis[variant].polydl[c->threads].seconds;
}

static double dnn(const struct exp_ranking_case *c, size_t variant)
{
    return c->wins ? -(double)c->wins[variant] : (double)NAN;
}

static double haystack(const struct exp_ranking_case *c, size_t variant)
{
    return c->analysis[variant].haystack_cycles;
}

static double haystack_seconds(const struct exp_ranking_case *c, size_t variant)
{
    return c->analysis[variant].haystack_seconds;
}

static double simulated(const struct exp_ranking_case *c, size_t variant, enum exp_polydl_replay replay)
{
    const struct exp_polydl_simulated *s = &c->layer->of[variant].simulated[replay];

    return s->is_known ? s->cycles : (double)NAN;
}

static double alone(const struct exp_ranking_case *c, size_t variant)
{
    return simulated(c, variant, EXP_POLYDL_ALONE);
}

static double whole(const struct exp_ranking_case *c, size_t variant)
{
    return simulated(c, variant, EXP_POLYDL_WHOLE);
}

static double traffic(const struct exp_ranking_case *c, size_t variant)
{
    const struct exp_polydl_simulated *s = &c->layer->of[variant].simulated[EXP_POLYDL_ALONE];

    return s->is_known ? s->traffic_cycles : (double)NAN;
}

static double alone_seconds(const struct exp_ranking_case *c, size_t variant)
{
    return or_nan(c->layer->of[variant].simulated[EXP_POLYDL_ALONE].seconds);
}

static double whole_seconds(const struct exp_ranking_case *c, size_t variant)
{
    return or_nan(c->layer->of[variant].simulated[EXP_POLYDL_WHOLE].seconds);
}

static double first_only(const struct exp_ranking_case *c, size_t variant)
{
    (void)c;
    return variant ? (double)NAN : 0;
}

/* Returns what running all the rounds took, which is what this ranking costs. */
static double clock_seconds(const struct exp_ranking_case *c, size_t variant)
{
    const struct exp_polydl_time *t = &c->layer->of[variant].time[c->threads];

    return or_nan(t->median_ns * (double)t->n_rounds * 1e-9);
}

/* ---- the table ---- */

static const struct {
    value_fn score, time, seconds;
} functions[EXP_N_RANKINGS] = {
    [EXP_RANKING_POLYDL] = { polydl, fastest, polydl_seconds },
    [EXP_RANKING_DNN] = { dnn, fastest, polydl_seconds },
    [EXP_RANKING_HAYSTACK] = { haystack, fastest, haystack_seconds },
    [EXP_RANKING_ALONE] = { alone, fastest, alone_seconds },
    [EXP_RANKING_WHOLE] = { whole, fastest, whole_seconds },
    [EXP_RANKING_TRAFFIC] = { traffic, fastest, alone_seconds },
    [EXP_RANKING_DEFAULT] = { first_only, fastest, nothing },
    [EXP_RANKING_CLOCK] = { first_half, second_half, clock_seconds },
};

static const struct {
    const char *name, *title, *meaning;
} words[EXP_N_RANKINGS] = {
#define WORDS(number, name, title, meaning) [number] = { name, title, meaning },
    EXP_EACH_RANKING(WORDS)
#undef WORDS
};

const char *exp_ranking_name(enum exp_ranking r)
{
    return words[r].name;
}

const char *exp_ranking_title(enum exp_ranking r)
{
    return words[r].title;
}

const char *exp_ranking_meaning(enum exp_ranking r)
{
    return words[r].meaning;
}

double exp_ranking_score(enum exp_ranking r, const struct exp_ranking_case *c, size_t variant)
{
    return functions[r].score(c, variant);
}

double exp_ranking_time(enum exp_ranking r, const struct exp_ranking_case *c, size_t variant)
{
    return functions[r].time(c, variant);
}

double exp_ranking_seconds(enum exp_ranking r, const struct exp_ranking_case *c, size_t variant)
{
    return functions[r].seconds(c, variant);
}

/* ---- for figures ---- */

void exp_rank_plot_init(struct exp_rank_plot *p)
{
    *p = (struct exp_rank_plot){ .names = "" };
    for (size_t r = 0; r < EXP_N_RANKINGS; r++) {
        const char *blank = r ? " " : "";

        exp_say_more(p->names, sizeof p->names, "%s%s", blank, exp_ranking_name((enum exp_ranking)r));
        exp_say_more(p->titles, sizeof p->titles, "%s\"%s\"", blank, exp_ranking_title((enum exp_ranking)r));
    }
    p->variable[0] = (struct exp_plot_variable){ "ranking_names", p->names };
    p->variable[1] = (struct exp_plot_variable){ "ranking_titles", p->titles };
}
