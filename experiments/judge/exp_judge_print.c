#include <math.h>
#include <string.h>

#include "experiments/judge/exp_judge_paper.h"
#include "experiments/judge/exp_judge_report.h"

static void print_legend(FILE *out)
{
    fprintf(
        out,
        "right: layers where no other schedule is better than CSA's choice; tie: all are the same; regret: what the "
        "choices\ncost over the better schedules, summed. Lines cross a border in either direction. Eq. 6, which "
        "CSA minimises: loads\nserved by L2, L3 and memory times their latencies.");
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        fprintf(out, "%s %s: %s", i ? "," : "", exp_variant_at(i)->title, exp_variant_at(i)->what);
    fprintf(out, ".\n");
}

static void print_heading(const struct exp_judge_report *r, FILE *out)
{
    fprintf(out, "\n%-14s %6s %*s |", "", "", 5 * EXP_N_VARIANTS - 1, "CSA chose");
    for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++) {
        char label[48];

        exp_yardstick_label((enum exp_yardstick)y, r->machine, label, sizeof label);
        fprintf(out, " %19.19s |", label);
    }
    fprintf(out, "\n%-14s %6s", "model", "layers");
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        fprintf(out, " %4s", exp_variant_at(i)->title);
    fprintf(out, " |");
    for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++)
        fprintf(out, " %5s %4s %8s |", "right", "tie", "regret %");
    fprintf(out, "\n");
}

static void print_model(const struct exp_judge_report *r, const struct exp_judge_model *m, FILE *out)
{
    fprintf(out, "%-14.14s %6zu", m->name, m->total.n_layers);
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        fprintf(out, " %4zu", m->total.n_chosen[i]);
    fprintf(out, " |");
    for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++) {
        const struct exp_judge_sum *s = &m->total.sum[y];

        if (exp_judge_why_not(r, (enum exp_yardstick)y))
            fprintf(out, " %5s %4s %8s |", "-", "-", "-");
        else
            fprintf(out, " %5zu %4zu %8.2f |", s->n_right, s->n_equal, exp_judge_regret_percent(s));
    }
    fprintf(out, "\n");
}

static void print_yardsticks(const struct exp_judge_report *r, FILE *out)
{
    const struct exp_judge_model *last = &r->model[r->n_models > 2 ? r->n_models - 1 : 0]; /* one model needs no sum */

    print_heading(r, out);
    for (const struct exp_judge_model *m = r->model; m <= last; m++)
        print_model(r, m, out);
    print_legend(out);
}

static void print_paper(FILE *out, double value)
{
    if (isnan(value))
        fprintf(out, " %8s", "-");
    else
        fprintf(out, " %8.2f", value);
}

/* Prints one line about all layers: what was estimated, measured here (NaN: not) and published. */
static void print_quote(FILE *out, const char *what, double estimate, double measured, double paper)
{
    fprintf(out, "%-44s %8.2f", what, estimate);
    print_paper(out, measured);
    print_paper(out, paper);
    fprintf(out, "\n");
}

static void print_quotes(const struct exp_judge_report *r, FILE *out)
{
    const struct exp_judge_model *all = &r->model[r->n_models - 1];
    const struct exp_judge_total *t = &all->total;
    const char *letter = strcmp(r->arch, "P10") ? "a" : "b";
    char figure[3][16];

    for (int i = 0; i < 3; i++)
        snprintf(figure[i], sizeof figure[i], "Figure %d%s", 8 + i, letter);
    fprintf(out, "\n%-44s %8s %8s %8s\n", "all layers", "estimate", "measured", "paper");
    print_quote(out, "layers faster than Base, %", exp_judge_percent(t->n_won, t->n_layers),
                exp_judge_percent(all->clock.n_pays, all->clock.n_timed),
                exp_judge_published(r, figure[0], "all", "conv_wins_percent"));
    print_quote(out, "greatest speed-up of a layer", t->max_speedup, (double)NAN,
                exp_judge_published(r, figure[0], "all", "max_conv_speedup"));
    if (t->n_pointwise) {
        print_quote(out, "pointwise layers faster than BLAS, %", exp_judge_percent(t->n_pointwise_won, t->n_pointwise),
                    (double)NAN, exp_judge_published(r, figure[1], "all", "pointwise_wins_percent"));
        print_quote(out, "greatest speed-up of a pointwise layer", t->max_pointwise_speedup, (double)NAN,
                    exp_judge_published(r, figure[1], "all", "max_pointwise_speedup_vs_blas"));
    }
    print_quote(out, "packing's share of Base, %", 100 * t->base.packing_cycles / t->base.total_cycles, (double)NAN,
                exp_judge_published(r, figure[2], "Geo Mean", "base_packing_share_percent_avg"));
    print_quote(out, "packing's share of SConv, %", 100 * t->chosen.packing_cycles / t->chosen.total_cycles,
                (double)NAN, exp_judge_published(r, figure[2], "Geo Mean", "sconv_packing_share_percent_avg"));
}

static void print_speedups(const struct exp_judge_report *r, FILE *out)
{
    const char *no = exp_judge_why_no_comparison(r);

    if (no) {
        fprintf(out, "\nestimated speed-ups not available: %s\n", no);
        return;
    }
    fprintf(out,
            "\nSConv's speed-up over Base: measured by make experiment on this machine, ESTIMATED if all loads hit the "
            "first level\nand if all wait for theirs, and measured in the paper\n");
    fprintf(out, "%-14s %8s %8s %10s %10s %8s\n", "model", "timed", "measured", "est. hit", "est. wait", "Table 2");
    for (size_t i = 0; i < r->n_models - (r->n_models == 2); i++) {
        const struct exp_judge_model *m = &r->model[i];

        fprintf(out, "%-14.14s %8zu", strcmp(m->name, "all") ? m->name : "all, geomean", m->clock.n_timed);
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
