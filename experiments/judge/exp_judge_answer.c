/* The answer of a judgement in sentences: half of exp_judge_report.h. */
#include <math.h>

#include "experiments/base/exp_text.h"
#include "experiments/judge/exp_judge_paper.h"
#include "experiments/judge/exp_judge_report.h"
#include "experiments/replay/exp_estimate.h"

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

static void say_choice(const struct exp_judge_model *m, FILE *out)
{
    const struct exp_judge_sum *eq6 = &m->total.sum[EXP_EQ6_CYCLES];

    fprintf(out, "CSA's choice is right in %zu of %zu layers by its own measure and costs ", eq6->n_right,
            m->total.n_layers);
    say_percent(exp_judge_regret_percent(eq6), out);
    fprintf(out, " over the better schedules\n");
    fprintf(out,
            EXP_LABEL "Eq. 6 with simulated loads: the cycles that loads wait, each served by L2, L3 or memory "
                      "times its latency; stores and prefetchers do not count\n",
            "its measure");
}

static void say_lines(const struct exp_judge_report *r, const struct exp_judge_model *m, FILE *out)
{
    fprintf(out, EXP_LABEL, "traffic");
    for (unsigned y = 0; y < EXP_EQ6_CYCLES; y++) {
        const struct exp_judge_sum *s = &m->total.sum[y];
        char label[64];

        exp_yardstick_label((enum exp_yardstick)y, r->machine, label, sizeof label);
        fprintf(out, "%s%s: right in %zu, ", y ? "; " : "", label, s->n_right);
        say_percent(exp_judge_regret_percent(s), out);
        fprintf(out, " too many");
    }
    fprintf(out, "\n");
}

static void say_clock(const struct exp_judge_report *r, const struct exp_judge_model *m, FILE *out)
{
    const struct exp_judge_clock *c = &m->clock;

    if (!c->n_timed) {
        fprintf(out, EXP_LABEL "nothing was measured on %s: %s\n", "time", r->machine->name, m->why_not_timed);
        return;
    }
    fprintf(out,
            EXP_LABEL "measured on %s: SConv as CSA chose pays in %zu of %zu layers, loses in %zu; %.2fx for all of "
                      "them; the schedule that CSA chose is the faster one in %zu, and costs %.1f %%\n",
            "time", r->machine->name, c->n_pays, c->n_timed, c->n_loses, c->speedup.value, c->n_right,
            100 * (c->chosen_ns / c->best_ns - 1));
    if (*m->why_not_timed)
        fprintf(out, EXP_LABEL "%s\n", "", m->why_not_timed);
}

static void say_one(const struct exp_accuracy *a, double estimate, const char *assumption, struct exp_ratio measured,
                    FILE *out)
{
    fprintf(out, EXP_LABEL, "estimated");
    exp_accuracy_say(a, estimate, assumption, measured, out);
    fprintf(out, "\n");
}

static void say_estimates(const struct exp_judge_report *r, const struct exp_judge_model *m, FILE *out)
{
    const struct exp_judge_clock *c = &m->clock;
    const char *no = exp_judge_why_no_comparison(r);

    if (no) {
        fprintf(out, EXP_LABEL "no speed-up: %s\n", "estimated", no);
    } else if (c->n_timed) {
        say_one(&c->issue_accuracy, c->estimated_issue_speedup, EXP_IF_ALL_HIT, c->speedup, out);
        say_one(&c->accuracy, c->estimated_speedup, EXP_IF_ALL_WAIT, c->speedup, out);
    } else {
        fprintf(out, EXP_LABEL "%.2fx over Base %s, %.2fx %s: a model that no time has confirmed on %s\n", "estimated",
                m->issue_speedup, EXP_IF_ALL_HIT, m->speedup, EXP_IF_ALL_WAIT, r->machine->name);
        fprintf(out, EXP_LABEL, "elsewhere");
        exp_known_errors_say(r->experiments_dir, out);
        fprintf(out, "\n");
    }
}

/* Says which models it is about: all seven, or their names, of many the first. */
static void say_models(const struct exp_judge_report *r, size_t n, FILE *out)
{
    enum { MOST = 7 };
    size_t shown = n <= MOST ? n : MOST;

    if (r->has_whole_set)
        fprintf(out, "all %zu models", n);
    for (size_t i = 0; i < shown && !r->has_whole_set; i++)
        fprintf(out, "%s%s", !i ? "" : i + 1 == n ? " and " : ", ", r->model[i].name);
    if (n > shown && !r->has_whole_set)
        fprintf(out, " and %zu others", n - shown);
    fprintf(out, ": ");
}

static int say(const void *report, FILE *out)
{
    const struct exp_judge_report *r = report;
    const struct exp_judge_model *all = &r->model[r->n_models - 1];
    size_t n = r->n_models - 1;

    fprintf(out, "VERDICT for %s, ", r->machine->name);
    say_models(r, n, out);
    say_choice(all, out);
    say_lines(r, all, out);
    say_clock(r, all, out);
    say_estimates(r, all, out);
    return 0;
}

int exp_judge_report_answer(const struct exp_judge_report *r, FILE *out)
{
    return exp_wrap_print(say, r, out);
}
