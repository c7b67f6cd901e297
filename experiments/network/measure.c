#include "experiments/network/measure.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/published.h"
#include "sim/analysis/estimate.h"

static const struct net_which convolutions = { .only_convolutions = true };

struct net_part net_part_of(const struct net_study *s, const struct net_by_algo *by, const struct net_which *w)
{
    assert(s && by);
    return (struct net_part){ .s = s,
                              .by = by,
                              .view = net_study_view(s, &by->variant[NET_AS_ASKED]),
                              .level = s->setup->machine.n_levels,
                              .which = w };
}

static const struct net_simulated *simulated(const struct net_part *x)
{
    return &x->by->variant[x->variant];
}

/* Returns the part in percent, 0 of nothing; none for a reason, and for the first reason of the two. */
static struct value percent_of(struct value part, struct value whole, const char *why)
{
    const struct value sum = value_sum(part, whole);

    return value_or(whole.number > 0 ? 100 * part.number / whole.number : 0, why ? why : sum.why);
}

/* Returns scale * x / y; none for the reason of y, and for this reason where there is no x or no quotient. */
static struct value ratio_of(struct value x, struct value y, double scale, const char *why)
{
    return value_if_finite(scale * x.number / y.number, y.why ? y.why : why);
}

/* ---- the plan ---- */

#define IF_PLANNED(n) simulated(x)->net ? value_of((double)(n)) : value_none(simulated(x)->missing.text)
#define PLANNED(member) IF_PLANNED(simulated(x)->net->member)

static struct value count_steps(const struct net_part *x, bool only_convolutions)
{
    const struct net *net = simulated(x)->net;
    double n = 0;

    for (size_t i = 0; net && i < net->n_steps; i++)
        n += net_is_asked(&net->step[i], x->which) && (net->step[i].conv || !only_convolutions);
    return IF_PLANNED(n);
}

static struct value macs_of(const struct net_part *x)
{
    const struct net *net = simulated(x)->net;
    double sum = 0;

    for (size_t i = 0; net && i < net->n_steps; i++)
        sum += net_is_asked(&net->step[i], x->which) ? net_step_macs(net, &net->step[i]) : 0;
    return IF_PLANNED(sum);
}

static double bytes_of(const struct net *net, size_t tensor)
{
    return tensor == ONNX_NONE ? 0 : (double)net->tensor[tensor].bytes;
}

/* Returns the bytes of a step's inputs: of the constants, or of all but the constants. */
static double bytes_read(const struct net_part *x, bool constants)
{
    const struct net *net = simulated(x)->net;
    const struct net_step *s = x->which->step;
    double sum = s->conv ? bytes_of(net, constants ? s->conv->filter : s->conv->residual) : 0;

    for (size_t i = 0; i < s->n_in; i++) {
        const bool is_constant = s->in[i] != ONNX_NONE && net->tensor[s->in[i]].place == NET_CONSTANTS;

        sum += is_constant == constants ? bytes_of(net, s->in[i]) : 0;
    }
    return sum;
}

static double bytes_written(const struct net_part *x)
{
    const struct net_step *s = x->which->step;
    double sum = 0;

    for (size_t i = 0; i < s->n_out; i++)
        sum += bytes_of(simulated(x)->net, s->out[i]);
    return sum;
}

/* ---- times ---- */

#define TIMED(value) x->variant == NET_AS_ASKED ? (value) : value_none("FUSE asked for the other kind")

/* Adds up the rounds' times of the steps asked about; from malloc, NULL if there are no rounds. */
static uint64_t *rounds_of(const struct net_timed *t, const struct net_which *w)
{
    uint64_t *sum;

    if (!t->n_rounds)
        return NULL;
    if (!w)
        return exp_copy_bytes(t->whole_ns, t->n_rounds, sizeof *sum);
    sum = exp_new(t->n_rounds, sizeof *sum);
    for (size_t i = 0; i < t->n_rounds * t->net->n_steps; i++) {
        const size_t step = i % t->net->n_steps;

        sum[i / t->net->n_steps] += net_is_asked(&t->net->step[step], w) ? t->step_ns[i] : 0;
    }
    return sum;
}

static struct net_times times_of(const uint64_t *ns, size_t n, const char *refusal)
{
    const struct exp_times t = exp_times_of(ns, n);
    const char *why = *refusal ? refusal : "it was not timed";

    return (struct net_times){ value_if_finite(t.low_mean, why), value_if_finite(t.fastest, why),
                               value_if_finite(t.median, why) };
}

static struct net_times step_times(const struct net_part *x, const struct net_which *w)
{
    uint64_t *ns = rounds_of(&x->by->timed, w);
    const struct net_times times = times_of(ns, x->by->timed.n_rounds, x->by->timed.missing.text);

    free(ns);
    return times;
}

struct net_times net_peer_times_of(const struct net_peer_timed *t)
{
    return times_of(t->whole_ns, t->n_rounds, t->missing.text);
}

struct exp_ratio net_speedup(const struct net_study *s, const struct net_by_algo *by, const struct net_which *w)
{
    const struct net_by_algo *base = net_study_base(s);
    uint64_t *own = rounds_of(&by->timed, w), *of_base = base ? rounds_of(&base->timed, w) : NULL;
    struct exp_ratio r = exp_ratio_none();

    assert(by);
    if (own && of_base && base->timed.n_rounds == by->timed.n_rounds)
        r = exp_ratio_of(&(struct exp_pair){ of_base, own, by->timed.n_rounds, 0 }, 1);
    free(own);
    free(of_base);
    return r;
}

static const char *why_untimed(const struct net_part *x)
{
    return *x->by->timed.missing.text ? x->by->timed.missing.text : NULL;
}

static struct value conv_share(const struct net_part *x)
{
    const struct value all = step_times(x, NULL).low_mean;
    const char *why = why_untimed(x);

    return percent_of(step_times(x, &convolutions).low_mean, all,
                      all.number > 0 ? NULL
                      : why          ? why
                                     : "it has nothing to run");
}

static struct value speedup(const struct net_part *x, double ratio)
{
    const char *why = why_untimed(x);

    return value_if_finite(ratio, why                                           ? why
                                  : isnan(net_speedup(x->s, x->by, NULL).value) ? "Base was not timed"
                                                                                : EXP_RATIO_NO_INTERVAL);
}

/* Returns the counters' count of a step. */
static struct value counted(const struct net_part *x, size_t quantity)
{
    const struct net_counted *c = &x->by->counted;
    const size_t step = (size_t)(x->which->step - simulated(x)->net->step);

    return value_if_finite(c->value ? c->value[step * NET_N_COUNTED + quantity] : (double)NAN,
                           *c->missing.text ? c->missing.text : "this CPU's events do not tell");
}

/* ---- simulated ---- */

static const char *why_not_simulated(const struct net_part *x)
{
    const struct net_simulated *v = simulated(x);

    return *v->missing.text ? v->missing.text : v->in_sequence[x->view].counts ? NULL : "it was not simulated";
}

static const char *why_not_alone(const struct net_part *x)
{
    return *simulated(x)->missing.text ? simulated(x)->missing.text : NET_NOT_ALONE;
}

/* Cycles to issue and to wait, by the counts in sequence (bench/case/estimate.h): sums over the steps asked about. */
struct estimate {
    struct value issue_cycles, total_cycles;
    struct value wait_cycles[SIM_MAX_LEVELS]; /* for loads served by level 1, ..., memory being n_levels */
};

static void add_estimate(struct estimate *sum, const struct sim_machine *m, const struct exp_step_counts *c)
{
    const struct exp_estimate e = exp_estimate_phases(m, c->phase, c->mac_instructions);
    const struct sim_cell all = exp_step_total(c);
    struct sim_estimate memory;

    sim_estimate(&memory, m, &all);
    sum->issue_cycles.number += e.issue_cycles;
    sum->total_cycles.number += e.total_cycles;
    for (size_t l = 1; l < memory.n_sources; l++)
        sum->wait_cycles[l - 1].number += memory.source[l].latency_cycles;
}

static const char *why_no_cycles(const struct net_simulated *v, const struct net_which *w)
{
    for (size_t i = 0; i < v->net->n_steps; i++) {
        if (net_is_asked(&v->net->step[i], w) && net_step_is_quantized(&v->net->step[i]))
            return "cycles of quantized convolutions and products are not simulated";
    }
    return NULL;
}

static struct estimate estimate_of(const struct net_part *x, const struct net_which *w)
{
    const char *refusal = why_not_simulated(x), *why = refusal ? refusal : exp_estimate_why_not(&x->s->setup->machine);
    const struct net_simulated *v = simulated(x);
    struct estimate sum;

    why = why ? why : why_no_cycles(v, w);

    sum.issue_cycles = sum.total_cycles = value_or(0, why);
    for (size_t l = 0; l < SIM_MAX_LEVELS; l++)
        sum.wait_cycles[l] = sum.total_cycles;
    for (size_t i = 0; !why && i < v->net->n_steps; i++) {
        if (net_is_asked(&v->net->step[i], w))
            add_estimate(&sum, net_study_machine(x->s, x->view), &v->in_sequence[x->view].counts[i]);
    }
    return sum;
}

static struct estimate base_estimate(const struct net_part *x, const struct net_which *w)
{
    const struct value none = value_none("Base was not asked for");
    struct net_part base = *x;

    base.by = net_study_base(x->s);
    if (!base.by)
        return (struct estimate){ .issue_cycles = none, .total_cycles = none };
    base.view = net_study_view(x->s, simulated(&base));
    return estimate_of(&base, w);
}

static struct value over(struct value base, struct value own)
{
    return ratio_of(base, own, 1, "Base was not simulated, or has nothing to run");
}

/* Returns the cycles of waiting for the second level (0), for the levels further out (1), for memory (2). */
static struct value wait_for(const struct net_part *x, size_t source)
{
    const struct estimate e = estimate_of(x, x->which);
    const size_t n = x->s->setup->machine.n_levels;
    double sum = 0;

    for (size_t l = 0; l < n; l++)
        sum += (l + 1 == n ? 2u : l > 0) == source ? e.wait_cycles[l].number : 0;
    return value_or(sum, e.total_cycles.why);
}

const char *net_waits_for(const struct net_part *x)
{
    const struct estimate e = estimate_of(x, x->which);
    const char *name = "issue";
    double most = e.issue_cycles.number;

    for (size_t l = 0; l < x->s->setup->machine.n_levels; l++) {
        if (e.wait_cycles[l].number > most) {
            most = e.wait_cycles[l].number;
            name = net_level_name(x->s, l + 1);
        }
    }
    return name;
}

/* Sums up the lines of counts[n_steps]; none for the reason if counts is NULL. */
static struct value lines_of(const struct net_part *x, const struct exp_step_counts *counts, const char *why)
{
    const struct net *net = simulated(x)->net;
    double sum = 0;

    assert(x->level <= x->s->setup->machine.n_levels);
    for (size_t i = 0; counts && i < net->n_steps; i++) {
        const struct sim_cell cell = exp_step_total(&counts[i]);

        sum += net_is_asked(&net->step[i], x->which)
                   ? (double)exp_lines_into(&cell, net_study_machine(x->s, x->view), x->level)
                   : 0;
    }
    return value_or(sum, counts ? NULL : why);
}

/* ---- the table ---- */

#define MEASURES "experiments/network/measures.def"
#define MEASURES_OF struct net_part
#define MEASURES_ARRAY const struct measure_record net_measures[NET_N_MEASURES]
#define MEASURE_ID(name) NET_##name
#include "experiments/base/measures_table.h"

struct value net_measure(const struct net_part *x, enum net_measure m)
{
    assert(x && m < NET_N_MEASURES);
    return net_measures[m].find(x, 0);
}

/* ---- the paper ---- */

int net_published_of(const struct net_study *s, struct net_published *p, struct exp_why *why)
{
    static const char *const metric[] = { "model_speedup", "conv_speedup", "conv_time_share" };
    struct value *const to[] = { &p->speedup, &p->conv_speedup, &p->conv_share };
    const char *of_machine = exp_published_arch_of_machine(s->setup->machine.name, false);
    const char *arch = *of_machine ? of_machine : "x86";
    struct exp_published published;
    struct exp_why unused;
    int err = exp_published_read(&published, "experiments", why);

    p->computer = strcmp(arch, "x86") ? "POWER10" : "Xeon";
    for (size_t i = 0; i < sizeof to / sizeof to[0]; i++) {
        double x = (double)NAN;

        if (!err)
            exp_published_double(&published, "Table 2", s->name, arch, metric[i], &x, &unused);
        *to[i] = value_if_finite(x, "the paper has no such network or machine");
    }
    exp_published_release(&published);
    return err;
}
