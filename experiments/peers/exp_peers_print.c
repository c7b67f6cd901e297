/* The closing table, and what the figures are told: exp_peers_report.h. */
#include <math.h>

#include "experiments/base/exp_error.h"
#include "experiments/peers/exp_peers_report.h"

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

static void print_cell(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, " %8.2f", x);
    else
        fprintf(out, " %8s", "-");
}

static void print_heads(const char *title, FILE *out)
{
    fprintf(out, "\n%s\n%-16s", title, "");
    for (int m = 0; m < EXP_N_PEERS; m++)
        fprintf(out, " %8s", exp_peer_head((enum exp_peer)m));
    fprintf(out, "\n");
}

static void print_line(const struct exp_peers_report *r, size_t model, FILE *out,
                       double (*of)(const struct exp_peers_report *r, size_t model, enum exp_peer m))
{
    fprintf(out, "%-16.16s", model < r->n_models ? r->model[model].name : r->n_models > 1 ? "all" : "");
    for (int m = 0; m < EXP_N_PEERS; m++)
        print_cell(out, of(r, model, (enum exp_peer)m));
    fprintf(out, "\n");
}

static double network_of(const struct exp_peers_report *r, size_t model, enum exp_peer m)
{
    return exp_peers_total(r, model, EXP_PEERS_SWEEP, m).network_ratio;
}

static double layers_of(const struct exp_peers_report *r, size_t model, enum exp_peer m)
{
    return exp_peers_total(r, model, EXP_PEERS_SWEEP, m).geomean_ratio;
}

static double hot_of(const struct exp_peers_report *r, size_t model, enum exp_peer m)
{
    return exp_peers_total(r, model, EXP_PEERS_HOT, m).network_ratio;
}

static double won_of(const struct exp_peers_report *r, size_t model, enum exp_peer m)
{
    return m == EXP_PEER_BASE ? (double)NAN : exp_peers_total(r, model, EXP_PEERS_SWEEP, m).won_percent;
}

static double pointwise_won_of(const struct exp_peers_report *r, size_t model, enum exp_peer m)
{
    return m == EXP_PEER_BASE ? (double)NAN : exp_peers_total(r, model, EXP_PEERS_SWEEP, m).pointwise_won_percent;
}

static double peak_of(const struct exp_peers_report *r, size_t model, enum exp_peer m)
{
    return exp_peers_total(r, model, EXP_PEERS_SWEEP, m).peak_percent;
}

static void print_sconv_phases(const struct exp_phases *x, FILE *out)
{
    print_cell(out, exp_peers_percent(exp_phases_packing_ns(x), x->total_ns));
    print_cell(out, exp_peers_percent(exp_phases_kernel_ns(x), x->total_ns));
    print_cell(out, exp_peers_percent(exp_phases_other_ns(x), x->total_ns));
}

static void print_phase_heads(FILE *out)
{
    fprintf(out, "\nshares of the time, %%\n%-16s %44s", "", "base, with OpenBLAS's own routines");
    for (int m = EXP_PEER_SCONV; m < EXP_PEER_SCONV + EXP_N_PEERS_SCONVS; m++)
        fprintf(out, "   %26s", exp_peer_name((enum exp_peer)m));
    fprintf(out, "\n%-16s %9s %8s %8s %8s %7s", "", "im2col", "packing", "ukr", "other", "/ call");
    for (int k = 0; k < EXP_N_PEERS_SCONVS; k++)
        fprintf(out, "   %8s %8s %8s", "packing", "ukr", "other");
    fprintf(out, "\n");
}

static void print_phases(const struct exp_peers_report *r, FILE *out)
{
    print_phase_heads(out);
    for (size_t i = 0; i < r->n_models; i++) {
        const struct exp_peers_model *m = &r->model[i];
        const struct exp_phases *b = &m->base;

        fprintf(out, "%-16.16s ", m->name);
        print_cell(out, exp_peers_percent(b->step_ns[CONV_STEP_IM2COL], b->total_ns));
        print_cell(out, exp_peers_percent(exp_phases_packing_ns(b), b->total_ns));
        print_cell(out, exp_peers_percent(b->step_ns[CONV_STEP_UKR], b->total_ns));
        print_cell(out, exp_peers_percent(exp_phases_other_ns(b), b->total_ns));
        fprintf(out, " %7.2f", (double)b->total_ns / exp_peers_base_calls_ns(r, i));
        for (int k = 0; k < EXP_N_PEERS_SCONVS; k++) {
            fprintf(out, "  ");
            print_sconv_phases(&m->sconv[k], out);
        }
        fprintf(out, "\n");
        if (*m->why_no_base_phases)
            fprintf(out, "base's shares not available: %s\n", m->why_no_base_phases);
    }
}

static void print_sweeps(const struct exp_peers_report *r, FILE *out)
{
    char text[640];

    fprintf(out, "\n");
    for (size_t i = 0; i < r->n_models; i++) {
        exp_peers_describe_sweeps(&r->model[i], text, sizeof text);
        fprintf(out, "%s: %s\n", r->model[i].name, text);
    }
}

void exp_peers_report_print(const struct exp_peers_report *r, FILE *out)
{
    static const struct {
        const char *title;
        double (*of)(const struct exp_peers_report *r, size_t model, enum exp_peer m);
    } parts[] = {
        { "speed-up over base, sum over the network (all: geometric mean)", network_of },
        { "speed-up over base, geometric mean over the layers", layers_of },
        { "the same sums, hot", hot_of },
        { "layers faster than base, %", won_of },
        { "pointwise layers faster than BLAS's GEMM, %", pointwise_won_of },
        { "share of the FMA peak, % of nominal flop", peak_of },
    };

    for (size_t i = 0; i < N_OF(parts); i++) {
        print_heads(parts[i].title, out);
        for (size_t k = 0; k < r->n_models + (r->n_models > 1); k++)
            print_line(r, k, out, parts[i].of);
    }
    print_phases(r, out);
    print_sweeps(r, out);
    for (int m = 0; m < EXP_N_PEERS; m++) {
        for (size_t i = 0; i < r->n_models; i++) {
            if (*r->model[i].why_not[m])
                fprintf(out, "%s, %s: not available: %s\n", exp_peer_name((enum exp_peer)m), r->model[i].name,
                        r->model[i].why_not[m]);
        }
    }
}

/* ---- what the figures are told ---- */

static bool is_any(enum exp_peer m)
{
    return m < EXP_N_PEERS;
}

static bool is_other(enum exp_peer m)
{
    return m != EXP_PEER_BASE && !exp_peer_is_sconv(m);
}

static const struct {
    const char *name, *quote;
    const char *(*text_of)(enum exp_peer m);
    bool (*is_in)(enum exp_peer m);
} lists[] = {
    { "peer_names", "", exp_peer_name, is_any },     { "peer_titles", "\"", exp_peer_title, is_any },
    { "peer_colours", "", exp_peer_colour, is_any }, { "sconv_peers", "", exp_peer_name, exp_peer_is_sconv },
    { "other_peers", "", exp_peer_name, is_other },
};

enum { N_LISTS = sizeof lists / sizeof lists[0], PEAK = N_LISTS, READ };

_Static_assert(READ + 1 == EXP_N_PEERS_VARIABLES, "the lists and the roof");

static void put_list(struct exp_peers_plot *p, size_t i)
{
    char *text = p->text[i];

    for (int m = 0; m < EXP_N_PEERS; m++) {
        if (lists[i].is_in((enum exp_peer)m))
            exp_say_more(text, sizeof p->text[i], "%s%s%s%s", *text ? " " : "", lists[i].quote,
                         lists[i].text_of((enum exp_peer)m), lists[i].quote);
    }
    p->variable[i] = (struct exp_plot_variable){ lists[i].name, text };
}

static void put_number(struct exp_peers_plot *p, size_t i, const char *name, double value)
{
    exp_say(p->text[i], sizeof p->text[i], "%g", value);
    p->variable[i] = (struct exp_plot_variable){ name, p->text[i] };
}

void exp_peers_plot_init(struct exp_peers_plot *p, const struct exp_peers_report *r)
{
    double peak = 0, read = 0;

    *p = (struct exp_peers_plot){ 0 };
    for (size_t i = 0; i < N_LISTS; i++)
        put_list(p, i);
    for (size_t i = 0; i < r->n_models; i++) {
        peak += r->model[i].peak_gflops / (double)r->n_models;
        read += r->model[i].read_gbytes / (double)r->n_models;
    }
    put_number(p, PEAK, "peak_gflops", peak);
    put_number(p, READ, "read_gbytes", read);
}
