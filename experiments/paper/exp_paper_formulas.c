#include "experiments/paper/exp_paper_formulas.h"

#include <math.h>
#include <string.h>

#include "kernels/shape/problem.h"

double exp_paper_amdahl(double share, double speedup)
{
    return 1 / (1 - share + share / speedup);
}

double exp_paper_percent_faster(double speedup)
{
    return 100 * (speedup - 1);
}

double exp_paper_miss_improvement(double base_hit_percent, double own_hit_percent)
{
    return (100 - base_hit_percent) / (100 - own_hit_percent);
}

double exp_paper_im2col_bytes(const struct conv_problem *p)
{
    return 4.0 * (double)p->c * (double)p->r * (double)p->s * (double)p->p * (double)p->q;
}

double exp_paper_input_bytes(const struct conv_problem *p)
{
    return 4.0 * (double)p->c * (double)p->h * (double)p->w;
}

/* ---- the paper's numbers against each other ---- */

struct number {
    const char *figure, *model, *arch, *metric;
};

double exp_paper_published(const struct exp_published *p, const char *figure, const char *model, const char *arch,
                           const char *metric)
{
    struct exp_why ignored;
    double x;

    return exp_published_double(p, figure, model, arch, metric, &x, &ignored) ? (double)NAN : x;
}

static double published(const struct exp_published *p, const struct number *n)
{
    return exp_paper_published(p, n->figure, n->model, n->arch, n->metric);
}

/* ---- formulas of two numbers ---- */

static double percent_of(const struct exp_published *p, double part, double whole)
{
    (void)p;
    return 100 * part / whole;
}

static double miss_improvement(const struct exp_published *p, double base_hit, double own_hit)
{
    (void)p;
    return exp_paper_miss_improvement(base_hit, own_hit);
}

static double amdahl(const struct exp_published *p, double share, double speedup)
{
    (void)p;
    return exp_paper_amdahl(share, speedup);
}

static double share_ratio(const struct exp_published *p, double base, double own)
{
    return base / own * exp_paper_published(p, "Table 2", "GeoMean", "x86", "conv_speedup");
}

static double share_ratio_p10(const struct exp_published *p, double base, double own)
{
    return base / own * exp_paper_published(p, "Table 2", "GeoMean", "P10", "conv_speedup");
}

static const struct {
    const char *what;
    double (*formula)(const struct exp_published *p, double a, double b);
    const char *text;
    struct number printed, a, b;
    const char *remark;
} oddities[] = {
#define ODDITY(what_, formula_, text_, ...) { what_, formula_, text_, __VA_ARGS__ },
#include "experiments/paper/oddities.def"
};

/* ---- Table 2 ---- */

/* Two-digit numbers: each is off by at most half a hundredth. */
static bool rounding_explains(double share, double speedup, double printed)
{
    static const double half = 0.005;

    return exp_paper_amdahl(share - half, speedup - half) <= printed + half &&
           printed - half <= exp_paper_amdahl(share + half, speedup + half);
}

static void print_model(const struct exp_published *p, size_t row, FILE *out)
{
    const char *model = exp_table_string(&p->table, row, p->model), *arch = exp_table_string(&p->table, row, p->arch);
    double printed = exp_paper_published(p, "Table 2", model, arch, "model_speedup");
    double conv = exp_paper_published(p, "Table 2", model, arch, "conv_speedup");
    double share = exp_paper_published(p, "Table 2", model, arch, "conv_time_share");

    fprintf(out, "| %s | %s | %.2f | %.2f | %.2f | %.2f | %s |\n", model, arch, conv, share, printed,
            exp_paper_amdahl(share, conv),
            rounding_explains(share, conv, printed)   ? "yes"
            : printed > exp_paper_amdahl(share, conv) ? "no, more was gained"
                                                      : "no, less was gained");
}

void exp_paper_oddities_print(const struct exp_published *p, FILE *out)
{
    for (size_t i = 0; i < sizeof oddities / sizeof oddities[0]; i++) {
        double a = published(p, &oddities[i].a), b = published(p, &oddities[i].b);

        fprintf(out, "- %s: printed %.4g. %s with a = %.4g and b = %.4g is %.3g%s%s.\n", oddities[i].what,
                published(p, &oddities[i].printed), oddities[i].text, a, b, oddities[i].formula(p, a, b),
                *oddities[i].remark ? ": " : "", oddities[i].remark);
    }
    fprintf(out, "\nTable 2 by Amdahl's law, from the paper's own convolution speed-up and share:\n\n"
                 "| model | machine | convolutions | share | whole, printed | whole, by Amdahl | within rounding |\n"
                 "|---|---|---:|---:|---:|---:|---|\n");
    for (size_t r = 0; r < p->table.n_rows; r++) {
        if (!strcmp(exp_table_string(&p->table, r, p->metric), "model_speedup") &&
            strncmp(exp_table_string(&p->table, r, p->model), "Geo", 3))
            print_model(p, r, out);
    }
}
