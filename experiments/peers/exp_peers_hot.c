/* Each layer again and again by each method: exp_peers_timing.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_program.h"
#include "experiments/peers/exp_peers_run.h"
#include "experiments/peers/exp_peers_timing.h"

struct hot_runner {
    const struct exp_peers *p;
    const struct exp_peers_layer *l;
    enum exp_peer m;
};

static int run_hot(void *ctx)
{
    const struct hot_runner *r = ctx;

    return exp_peers_run(r->p, r->l, r->m);
}

static int measure_hot_layer(struct exp_peers *p, struct exp_peers_layer *l, const struct exp_peers_options *o,
                             uint64_t *sample, struct exp_mark *mark)
{
    const unsigned n_reps = o->n_hot_reps;
    const struct exp_watch watch = exp_ruler_watch(p->ruler);
    const struct exp_bench protocol = { .rounds = { n_reps, n_reps, 0 },
                                        .now_ns = o->now_ns,
                                        .interrupted = exp_interrupted,
                                        .watch = p->ruler ? &watch : NULL,
                                        .mark = mark };
    struct hot_runner runner[EXP_N_PEERS];
    struct exp_contender contender[EXP_N_PEERS];
    struct exp_bench_result result;
    size_t n = 0;
    int err;

    for (int m = 0; m < EXP_N_PEERS; m++) {
        if (*l->why_not[m])
            continue;
        runner[n] = (struct hot_runner){ p, l, (enum exp_peer)m };
        contender[n] = (struct exp_contender){ exp_peer_name((enum exp_peer)m), run_hot, run_hot, &runner[n] };
        n++;
    }
    err = exp_bench_run(&protocol, contender, n, sample, &result);
    for (size_t i = 0; i < n && !err; i++) {
        struct exp_peer_times *t = &l->times[EXP_PEERS_HOT][runner[i].m];

        memcpy(t->sample_ns, sample + i * n_reps, result.n_rounds * sizeof *sample);
        memcpy(t->mark, mark + i * n_reps, result.n_rounds * sizeof *mark);
        t->n = result.n_rounds;
    }
    return err;
}

int exp_peers_measure_hot(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress)
{
    const unsigned n_reps = o->n_hot_reps;
    uint64_t *sample = calloc((size_t)n_reps * EXP_N_PEERS, sizeof *sample);
    struct exp_mark *mark = calloc((size_t)n_reps * EXP_N_PEERS, sizeof *mark);
    int err = sample && mark ? exp_peers_make_samples(p, EXP_PEERS_HOT, n_reps) : -ENOMEM;

    exp_ruler_limit(p->ruler, o->ruler_ns);
    exp_progress_begin(progress, EXP_WORK_PHASES, p->experiment.model->name, "hot runs");
    for (size_t i = 0; i < p->n_layers && !err; i++) {
        err = measure_hot_layer(p, &p->layer[i], o, sample, mark);
        exp_progress_step(progress, EXP_WORK_PHASES,
                          exp_peers_hot_seconds(conv_macs(exp_peers_problem(&p->layer[i])), o));
    }
    free(sample);
    free(mark);
    return err;
}
