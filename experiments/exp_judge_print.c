#include <math.h>
#include <string.h>

#include "experiments/exp_judge_paper.h"
#include "experiments/exp_judge_report.h"

static void print_yardsticks(const struct exp_judge_report *r, FILE *out)
{
    const struct exp_judge_model *last = &r->model[r->n_models > 2 ? r->n_models - 1 : 0]; /* one model needs no sum */

    fprintf(out, "\n%-14s %6s %9s |", "", "", "CSA chose");
    for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++) {
        char label[48];

        exp_yardstick_label((enum exp_yardstick)y, r->machine, label, sizeof label);
        fprintf(out, " %19.19s |", label);
    }
    fprintf(out, "\n%-14s %6s %4s %4s |", "model", "layers", "IS", "WS");
    for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++)
        fprintf(out, " %5s %4s %8s |", "right", "tie", "regret %");
    fprintf(out, "\n");
    for (const struct exp_judge_model *m = r->model; m <= last; m++) {
        fprintf(out, "%-14.14s %6zu %4zu %4zu |", m->name, m->total.n_layers, m->total.n_chosen[CSA_IS],
                m->total.n_chosen[CSA_WS]);
        for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++) {
            const struct exp_judge_sum *s = &m->total.sum[y];

            if (exp_judge_why_not(r, (enum exp_yardstick)y))
                fprintf(out, " %5s %4s %8s |", "-", "-", "-");
            else
                fprintf(out, " %5zu %4zu %8.2f |", s->n_right, s->n_equal, exp_judge_regret_percent(s));
        }
        fprintf(out, "\n");
    }
    fprintf(
        out,
        "right: layers where CSA's choice is not worse than the other schedule; tie: both are the same; regret: what\n"
        "the choices cost over the better schedules, summed. Lines cross a border in either direction.\n");
}

static void print_paper(FILE *out, double value)
{
    if (isnan(value))
        fprintf(out, " %8s", "-");
    else
        fprintf(out, " %8.2f", value);
}

static void print_quotes(const struct exp_judge_report *r, FILE *out)
{
    const struct exp_judge_total *t = &r->model[r->n_models - 1].total;
    const char *letter = strcmp(r->arch, "P10") ? "a" : "b";
    char figure[3][16];

    for (int i = 0; i < 3; i++)
        snprintf(figure[i], sizeof figure[i], "Figure %d%s", 8 + i, letter);
    fprintf(out, "%-44s %8s %8s\n", "", "estimate", "paper");
    fprintf(out, "%-44s %8.1f", "layers faster than Base, %", exp_judge_percent(t->n_won, t->n_layers));
    print_paper(out, exp_judge_published(r, figure[0], "all", "conv_wins_percent"));
    fprintf(out, "\n%-44s %8.2f", "greatest speed-up of a layer", t->max_speedup);
    print_paper(out, exp_judge_published(r, figure[0], "all", "max_conv_speedup"));
    if (t->n_pointwise) {
        fprintf(out, "\n%-44s %8.1f", "pointwise layers faster than BLAS, %",
                exp_judge_percent(t->n_pointwise_won, t->n_pointwise));
        print_paper(out, exp_judge_published(r, figure[1], "all", "pointwise_wins_percent"));
        fprintf(out, "\n%-44s %8.2f", "greatest speed-up of a pointwise layer", t->max_pointwise_speedup);
        print_paper(out, exp_judge_published(r, figure[1], "all", "max_pointwise_speedup_vs_blas"));
    }
    fprintf(out, "\n%-44s %8.1f", "packing's share of Base, %", 100 * t->base.packing_cycles / t->base.total_cycles);
    print_paper(out, exp_judge_published(r, figure[2], "Geo Mean", "base_packing_share_percent_avg"));
    fprintf(out, "\n%-44s %8.1f", "packing's share of SConv, %",
            100 * t->chosen.packing_cycles / t->chosen.total_cycles);
    print_paper(out, exp_judge_published(r, figure[2], "Geo Mean", "sconv_packing_share_percent_avg"));
    fprintf(out, "\n");
}

static void print_speedups(const struct exp_judge_report *r, FILE *out)
{
    const char *no = exp_judge_why_no_comparison(r);

    if (no) {
        fprintf(out, "\nestimated speed-ups not available: %s\n", no);
        return;
    }
    fprintf(out, "\nESTIMATES of SConv's speed-up over Base (not measured; issue-limited, then with loads that wait "
                 "for their level)\n");
    fprintf(out, "%-14s %10s %13s %8s\n", "model", "all hit L1", "loads waiting", "Table 2");
    for (size_t i = 0; i < r->n_models - (r->n_models == 2); i++) {
        fprintf(out, "%-14.14s %10.2f %13.2f", strcmp(r->model[i].name, "all") ? r->model[i].name : "geomean",
                r->model[i].issue_speedup, r->model[i].speedup);
        print_paper(out, exp_judge_paper_speedup(r, &r->model[i]));
        fprintf(out, "\n");
    }
    print_quotes(r, out);
}

void exp_judge_report_print(const struct exp_judge_report *r, FILE *out)
{
    print_yardsticks(r, out);
    print_speedups(r, out);
}
