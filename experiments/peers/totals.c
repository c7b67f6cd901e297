/* Totals of networks. */
#include <assert.h>
#include <math.h>

#include "experiments/peers/peers.h"

/* Adds a network to what a total is made of. */
static void add_network(const struct exp_peers *p, enum exp_peers_cache c, size_t m, struct exp_peers_total *t,
                        double *base_ns)
{
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct conv_problem *problem = &exp_peers_case(p, i, m)->layer->problem;
        const struct exp_times times = exp_peers_times(p, c, i, m);
        const double base = exp_peers_times(p, c, i, 0).low_mean, ratio = base / times.low_mean;
        const bool is_pointwise = conv_is_pointwise(problem);

        if (!isfinite(ratio))
            continue;
        t->n_layers++;
        t->n_pointwise += is_pointwise;
        t->won_percent += ratio > 1;
        t->pointwise_won_percent += is_pointwise && ratio > 1;
        t->geomean_ratio += log(ratio);
        t->peak_percent += 2 * conv_macs(problem);
        *base_ns += base;
        exp_times_add(&t->times, &times);
    }
}

/* Totals some networks as if they were one. */
static struct exp_peers_total total_of(const struct exp_peers *network, size_t n, enum exp_peers_cache c, size_t m)
{
    struct exp_peers_total t = { 0 };
    double base_ns = 0;

    for (size_t i = 0; i < n; i++)
        add_network(&network[i], c, m, &t, &base_ns);
    if (!t.n_layers)
        t.times = exp_times_of(NULL, 0);
    t.network_ratio = base_ns / t.times.low_mean;
    t.geomean_ratio = exp(t.geomean_ratio / (double)t.n_layers);
    t.won_percent *= 100 / (double)t.n_layers;
    t.pointwise_won_percent *= 100 / (double)t.n_pointwise;
    t.peak_percent *=
        100 / t.times.low_mean / (network->found.peak_gflops > 0 ? network->found.peak_gflops : (double)NAN);
    return t;
}

struct exp_peers_total exp_peers_total(const struct exp_peers_report *r, size_t network, enum exp_peers_cache c,
                                       size_t m)
{
    struct exp_peers_total all;
    const double share = 1 / (double)r->n;

    assert(c < EXP_N_PEERS_CACHES && m < r->methods->n && network <= r->n);
    if (network < r->n)
        return total_of(&r->network[network], 1, c, m);
    all = total_of(r->network, r->n, c, m);
    all.network_ratio = all.geomean_ratio = all.peak_percent = 1;
    for (size_t i = 0; i < r->n; i++) {
        const struct exp_peers_total t = total_of(&r->network[i], 1, c, m);

        all.network_ratio *= pow(t.network_ratio, share);
        all.geomean_ratio *= pow(t.geomean_ratio, share);
        all.peak_percent *= pow(t.peak_percent, share);
    }
    return all;
}

void exp_peers_print_number(double x, FILE *out)
{
    if (isfinite(x))
        fprintf(out, " %9.2f", x);
    else
        fprintf(out, " %9s", "-");
}
