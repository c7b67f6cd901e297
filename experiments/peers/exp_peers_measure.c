/* Times of all methods: the timing half of exp_peers.h. */
#include <errno.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/peers/exp_peers_timing.h"

/* Tells how far the medians of the sweeps lie above the fastest; NaN if there are none. */
static double median_percent(const struct exp_peers *p)
{
    struct exp_times sum = { 0 };

    for (size_t i = 0; i < p->n_layers; i++) {
        for (int m = 0; m < EXP_N_PEERS; m++) {
            const struct exp_times x = exp_peers_times(&p->layer[i], EXP_PEERS_SWEEP, (enum exp_peer)m);

            if (p->layer[i].times[EXP_PEERS_SWEEP][m].n)
                exp_times_add(&sum, &x);
        }
    }
    return exp_times_median_percent(&sum);
}

/* Judges all timings by the best readings of the whole measurement. */
static struct exp_ruler_report report_ruler(const struct exp_peers *p, enum exp_peers_cache c)
{
    struct exp_ruler_report report = { .limit_ended = p->ruler->kept.limit_ended };

    for (size_t i = 0; i < p->n_layers; i++) {
        for (int m = 0; m < EXP_N_PEERS; m++) {
            const struct exp_peer_times *t = &p->layer[i].times[c][m];

            if (t->n)
                exp_ruler_report_add(&report, &p->ruler->best, t->mark, t->n);
        }
    }
    return report;
}

int exp_peers_measure(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress,
                      struct exp_why *why)
{
    int err = o->ruler_ns ? exp_ruler_new(&p->ruler, p->peak) : 0;

    exp_disturbance_begin(&p->disturbance, "/proc", p->peak);
    err = err ? err : exp_peers_measure_sweeps(p, o, progress);
    exp_disturbance_end(&p->disturbance, "/proc", p->peak);
    p->disturbance.median_percent = median_percent(p);
    if (!err && o->n_hot_reps)
        err = exp_peers_measure_hot(p, o, progress);
    if (!err)
        err = exp_peers_measure_phases(p, o->now_ns, progress);
    for (int c = 0; c < EXP_N_PEERS_CACHES && p->ruler; c++)
        p->ruled[c] = report_ruler(p, (enum exp_peers_cache)c);
    exp_ruler_free(p->ruler);
    p->ruler = NULL;
    return err ? exp_fail(why, err, "%s: %s", p->experiment.model->name,
                          err == -EINTR ? "interrupted while timing" : strerror(-err))
               : 0;
}
