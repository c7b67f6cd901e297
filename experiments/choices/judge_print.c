/* The judgement on the terminal: the closing tables, and the answer in sentences. */
#include "experiments/choices/judge.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/bench/course/course.h"

/* ---- numbers of the paper ---- */

static const struct {
    const char *title, *figure, *about, *metric;
} quotes[EXP_N_QUOTES] = {
    { "layers faster than Base, %", "Figure 8", "all", "conv_wins_percent" },
    { "greatest speed-up of a layer", "Figure 8", "all", "max_conv_speedup" },
    { "pointwise layers faster than BLAS, %", "Figure 9", "all", "pointwise_wins_percent" },
    { "greatest speed-up of a pointwise layer", "Figure 9", "all", "max_pointwise_speedup_vs_blas" },
    { "packing's share of Base, %", "Figure 10", "Geo Mean", "base_packing_share_percent_avg" },
    { "packing's share of SConv, %", "Figure 10", "Geo Mean", "sconv_packing_share_percent_avg" },
};

static double published(const struct exp_judge_report *r, bool compares, const char *figure, const char *model,
                        const char *metric)
{
    double value;

    return !compares || exp_published_double(&r->published, figure, model, r->arch, metric, &value, NULL) ? (double)NAN
                                                                                                          : value;
}

double exp_judge_quoted(const struct exp_judge_report *r, enum exp_judge_quote quote)
{
    char figure[16];

    assert(quote < EXP_N_QUOTES);
    exp_say(figure, sizeof figure, "%s%s", quotes[quote].figure, strcmp(r->arch, "P10") ? "a" : "b");
    return published(r, r->has_whole_set, figure, quotes[quote].about, quotes[quote].metric);
}

double exp_judge_paper_speedup(const struct exp_judge_report *r, const struct exp_judge_model *model)
{
    const bool is_all = !strcmp(model->name, "all");

    return published(r, is_all ? r->has_whole_set : r->has_whole_models, "Table 2", is_all ? "GeoMean" : model->name,
                     "conv_speedup");
}

/* ---- tables ---- */

static void print_legend(FILE *out)
{
    fprintf(out, "right: layers where no other schedule is better than CSA's choice; tie: all are the same; regret: "
                 "what the choices\ncost over the better schedules, summed. Lines cross a border in either direction. "
                 "Eq. 6, which CSA minimises: loads\nserved by L2, L3 and memory times their latencies.");
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        fprintf(out, "%s %s: %s", i ? "," : "", exp_variants[i].title, exp_variants[i].what);
    fprintf(out, ".\n");
}

static void print_heading(const struct exp_judge_report *r, FILE *out)
{
    fprintf(out, "\n%-14s %6s %*s |", "", "", 5 * EXP_N_VARIANTS - 1, "CSA chose");
    for (enum exp_yardstick y = 0; y < EXP_N_YARDSTICKS; y++) {
        char label[48];

        exp_yardstick_label(y, r->machine, label, sizeof label);
        fprintf(out, " %19.19s |", label);
    }
    fprintf(out, "\n%-14s %6s", "model", "layers");
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        fprintf(out, " %4s", exp_variants[i].title);
    fprintf(out, " |");
    for (enum exp_yardstick y = 0; y < EXP_N_YARDSTICKS; y++)
        fprintf(out, " %5s %4s %8s |", "right", "tie", "regret %");
    fprintf(out, "\n");
}

static void print_model(const struct exp_judge_model *m, FILE *out)
{
    fprintf(out, "%-14.14s %6zu", m->name, m->n_verdicts);
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        fprintf(out, " %4zu", m->total.sum[EXP_EQ6_CYCLES].n_chosen[i]);
    fprintf(out, " |");
    for (enum exp_yardstick y = 0; y < EXP_N_YARDSTICKS; y++) {
        const struct exp_choice_sum *s = &m->total.sum[y];

        if (s->why)
            fprintf(out, " %5s %4s %8s |", "-", "-", "-");
        else
            fprintf(out, " %5zu %4zu %8.2f |", s->n_right, s->n_tie, exp_judge_regret_percent(s));
    }
    fprintf(out, "\n");
}

static void print_yardsticks(const struct exp_judge_report *r, FILE *out)
{
    const struct exp_judge_model *last =
        &r->model[r->n_models > 2 ? r->n_models - 1 : 0]; /* a single model needs no sum */

    print_heading(r, out);
    for (const struct exp_judge_model *m = r->model; m <= last; m++)
        print_model(m, out);
    print_legend(out);
}

static void print_paper(FILE *out, double value)
{
    if (isnan(value))
        fprintf(out, " %8s", "-");
    else
        fprintf(out, " %8.2f", value);
}

/* Prints lines about all layers: estimated, measured here, published. */
static void print_quotes(const struct exp_judge_report *r, FILE *out)
{
    const struct exp_judge_model *all = &r->model[r->n_models - 1];
    const struct exp_judge_clock *c = &all->clock;

    fprintf(out, "\n%-44s %8s %8s %8s\n", "all layers", "estimate", "measured", "paper");
    for (enum exp_judge_quote q = 0; q < EXP_N_QUOTES; q++) {
        if (all->quote[q].why)
            continue;
        fprintf(out, "%-44s %8.2f", quotes[q].title, all->quote[q].number);
        print_paper(out, q == EXP_QUOTE_WON_PERCENT ? 100.0 * (double)c->n_pays / (double)c->sum.n : (double)NAN);
        print_paper(out, exp_judge_quoted(r, q));
        fprintf(out, "\n");
    }
}

static void print_speedups(const struct exp_judge_report *r, FILE *out)
{
    const char *no = r->model[0].total.base.why;

    if (no) {
        fprintf(out, "\nestimated speed-ups not available: %s\n", no);
        return;
    }
    fprintf(out, "\nSConv's speed-up over Base: measured by make experiment on this machine, ESTIMATED if all loads "
                 "hit the first level\nand if all wait for theirs, and measured in the paper\n");
    fprintf(out, "%-14s %8s %8s %10s %10s %8s\n", "model", "timed", "measured", "est. hit", "est. wait", "Table 2");
    for (size_t i = 0; i < r->n_models - (r->n_models == 2); i++) {
        const struct exp_judge_model *m = &r->model[i];

        fprintf(out, "%-14.14s %8zu", strcmp(m->name, "all") ? m->name : "all, geomean", m->clock.sum.n);
        print_paper(out, m->clock.speedup.value);
        fprintf(out, " %10.2f %10.2f", m->issue_speedup, m->speedup);
        print_paper(out, exp_judge_paper_speedup(r, m));
        fprintf(out, "\n");
    }
    print_quotes(r, out);
}

void exp_judge_report_print(const struct exp_judge_report *r, FILE *out)
{
    print_yardsticks(r, out);
    print_speedups(r, out);
}

/* ---- the answer ---- */

/* Prints a regret, in as many digits as mean something. */
static void say_percent(double percent, FILE *out)
{
    if (!isfinite(percent))
        fprintf(out, "infinitely many %%");
    else if (percent > 0 && percent < 0.01)
        fprintf(out, "below 0.01 %%");
    else
        fprintf(out, percent < 10 ? "%.2g %%" : "%.0f %%", percent);
}

static void say_choice(const struct exp_judge_report *r, const struct exp_judge_model *m, FILE *out)
{
    char headline[512];

    exp_judge_say_headline(r, headline, sizeof headline);
    fprintf(out, "%s\n" EXP_LABEL "CSA's choices cost ", headline, "cost");
    say_percent(exp_judge_regret_percent(&m->total.sum[EXP_EQ6_CYCLES]), out);
    fprintf(out, " more by Eq. 6 than the better schedules\n");
    fprintf(out,
            EXP_LABEL "Eq. 6 with simulated loads: the cycles that loads wait, each served by L2, L3 or memory times "
                      "its latency; stores and prefetchers do not count\n",
            "its measure");
    if (r->is_sampled)
        fprintf(out,
                EXP_LABEL
                "the replays are samples: the columns _pm hold half of the 95 %% intervals, and a layer is open "
                "where the intervals of schedules overlap; SAMPLE=exact simulates all accesses\n",
                "samples");
}

static void say_lines(const struct exp_judge_report *r, const struct exp_judge_model *m, FILE *out)
{
    fprintf(out, EXP_LABEL, "traffic");
    for (enum exp_yardstick y = 0; y < EXP_EQ6_CYCLES; y++) {
        const struct exp_choice_sum *s = &m->total.sum[y];
        char label[64];

        exp_yardstick_label(y, r->machine, label, sizeof label);
        fprintf(out, "%s%s: right in %zu, ", y ? "; " : "", label, s->n_right);
        if (s->n_open)
            fprintf(out, "open in %zu, ", s->n_open);
        say_percent(exp_judge_regret_percent(s), out);
        fprintf(out, " too many");
    }
    fprintf(out, "\n");
}

static void say_clock(const struct exp_judge_report *r, const struct exp_judge_model *m, FILE *out)
{
    const struct exp_judge_clock *c = &m->clock;

    if (!c->sum.n) {
        fprintf(out, EXP_LABEL "nothing was measured on %s: %s\n", "time", r->machine->name, m->why_not_timed);
        return;
    }
    fprintf(out,
            EXP_LABEL
            "measured on %s: SConv as CSA chose is faster in %zu of %zu layers, slower in %zu; %.2fx for all of "
            "them; the schedule that CSA chose is the faster one in %zu, and costs %.1f %%\n",
            "time", r->machine->name, c->n_pays, c->sum.n, c->n_loses, c->speedup.value, c->sum.n_right,
            exp_choice_regret_percent(&c->sum));
    if (*m->why_not_timed)
        fprintf(out, EXP_LABEL "%s\n", "", m->why_not_timed);
}

static void say_one(const struct exp_accuracy *a, double estimate, const char *assumption, struct exp_ratio measured,
                    FILE *out)
{
    fprintf(out, EXP_LABEL, "estimated");
    exp_accuracy_say(a, "estimated", estimate, assumption, measured, out);
    fprintf(out, "\n");
}

static void say_estimates(const struct exp_judge_report *r, const struct exp_judge_model *m, FILE *out)
{
    const struct exp_judge_clock *c = &m->clock;
    const char *no = m->total.base.why;

    if (no) {
        fprintf(out, EXP_LABEL "no speed-up: %s\n", "estimated", no);
    } else if (c->sum.n) {
        say_one(&c->issue_accuracy, c->estimated_issue_speedup, EXP_IF_ALL_HIT, c->speedup, out);
        say_one(&c->accuracy, c->estimated_speedup, EXP_IF_ALL_WAIT, c->speedup, out);
    } else {
        fprintf(out, EXP_LABEL "%.2fx over Base %s, %.2fx %s: a model that no time has confirmed on %s\n", "estimated",
                m->issue_speedup, EXP_IF_ALL_HIT, m->speedup, EXP_IF_ALL_WAIT, r->machine->name);
        fprintf(out, EXP_LABEL, "elsewhere");
        exp_known_errors_say(EXP_EXPERIMENTS_DIR, out);
        fprintf(out, "\n");
    }
}

static int say(const void *report, FILE *out)
{
    const struct exp_judge_report *r = report;
    const struct exp_judge_model *all = &r->model[r->n_models - 1];

    fprintf(out, "VERDICT for %s, ", r->machine->name);
    exp_judge_say_models(r, out);
    fprintf(out, ": ");
    say_choice(r, all, out);
    say_lines(r, all, out);
    say_clock(r, all, out);
    say_estimates(r, all, out);
    return 0;
}

int exp_judge_report_answer(const struct exp_judge_report *r, FILE *out)
{
    return exp_wrap_print(say, r, out);
}
