/*
 * Base, SConv and peers over whole networks: which is faster, by how much, and how far from what the core can do.
 * `peers --help` lists the options; the Makefile's bench-peers passes them on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "counters/host/ctr_pin.h"
#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_machine.h"
#include "experiments/setup/exp_main.h"
#include "experiments/setup/exp_models.h"
#include "experiments/peers/exp_peers_plot.h"
#include "experiments/peers/exp_peers_report.h"
#include "experiments/peers/exp_peers_targets.h"
#include "experiments/base/exp_program.h"
#include "experiments/base/exp_signal.h"
#include "kernels/ukr/dispatch.h"

struct session {
    struct exp_options o;
    struct exp_peers_options times;
    struct exp_setup setup;
    struct exp_dnnl *dnnl;
    char why_no_dnnl[96];
    struct exp_models models;
    struct exp_peers_report report;
    struct exp_results results;
    char what[512];
    char not_pinned[128];
    int core;
    char why[1024];
};

/* ---- preparation ---- */

static int open_results(struct session *s)
{
    int err =
        exp_results_find(&s->results, EXP_PEERS, &s->o, NULL, s->models.model, s->models.n, s->why, sizeof s->why);

    return err ? err : exp_results_open(&s->results, s->why, sizeof s->why);
}

static void describe(struct session *s)
{
    const struct conv_peak *peak = conv_peak_of(s->setup.ukr->isa);

    char cpu[256];

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    exp_say(s->what, sizeof s->what,
            "peers, commit %s; %s; one thread, %s clock, %u hot; OpenBLAS core %s; SConv %s; oneDNN %s; peak by "
            "%s",
            *s->o.commit ? s->o.commit : "unknown", cpu, s->o.clock == EXP_CLOCK_CPU ? "cpu" : "wall",
            s->times.n_hot_reps, s->setup.blas.core, s->setup.ukr->name,
            s->dnnl ? exp_dnnl_version(s->dnnl) : s->why_no_dnnl, peak ? peak->name : "no loop for this CPU");
}

static int prepare(struct session *s)
{
    int err = exp_main_models(&s->models, &s->o, s->why, sizeof s->why);

    s->times = (struct exp_peers_options){ .rounds = exp_options_rounds(&s->o, EXP_PEERS),
                                           .n_hot_reps = s->o.hot_reps,
                                           .now_ns = exp_options_clock(&s->o) };
    if (!err)
        err = exp_machine_find(&s->setup.machine, "host", s->o.results, s->why, sizeof s->why);
    if (!err)
        err = exp_setup_init(&s->setup, s->o.ukr, "", s->why, sizeof s->why);
    if (!err)
        err = exp_setup_wisdom(&s->setup, s->o.measures, s->o.wisdom, s->why, sizeof s->why);
    if (!err && !conv_ukr_runs(s->setup.ukr))
        err = exp_fail(s->why, sizeof s->why, -EINVAL, "UKR: this computer cannot execute %s", s->setup.ukr->name);
    if (!err && exp_dnnl_load(&s->dnnl, s->why_no_dnnl, sizeof s->why_no_dnnl))
        s->dnnl = NULL;
    if (!err)
        err = open_results(s);
    if (!err)
        describe(s);
    if (!err)
        err = exp_peers_report_open(&s->report, &s->results.dir, s->what, s->why, sizeof s->why);
    if (!err && ctr_pin(-1, &s->core, s->not_pinned, sizeof s->not_pinned))
        s->core = -1;
    return err;
}

/* ---- work: one network's tensors at a time ---- */

static int start(struct session *s, struct exp_peers *p, size_t i)
{
    *p = (struct exp_peers){
        .setup = &s->setup, .dnnl = s->dnnl, .why_no_dnnl = s->why_no_dnnl, .peak = conv_peak_of(s->setup.ukr->isa)
    };
    return exp_peers_open(p, &s->models.model[i], s->why, sizeof s->why);
}

static int compare(struct session *s, size_t i, struct exp_progress *progress)
{
    struct exp_peers p;
    int err = start(s, &p, i);

    if (err)
        return err;
    err = exp_peers_verify(&p, progress, s->why, sizeof s->why);
    if (!err)
        err = exp_peers_measure(&p, &s->times, progress, s->why, sizeof s->why);
    if (!err)
        err = exp_peers_report_add(&s->report, &p, s->why, sizeof s->why);
    exp_peers_close(&p);
    return err;
}

/*
 * Announces the work. The multiply-adds are known from the tables alone; distinct shapes are not, so checking is
 * announced as if all were.
 */
static void announce(const struct session *s, double seconds[EXP_N_WORKS])
{
    for (size_t i = 0; i < s->models.n; i++) {
        for (size_t l = 0; l < s->models.model[i].n_layers; l++) {
            for (int k = 0; k < EXP_N_WORKS; k++)
                seconds[k] +=
                    exp_peers_seconds((enum exp_work)k, conv_macs(&s->models.model[i].layer[l].problem), &s->times);
        }
    }
}

static int work(struct session *s)
{
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_progress *progress;
    int err;

    announce(s, seconds);
    err = exp_main_progress(&progress, seconds, s->why, sizeof s->why);
    for (size_t i = 0; i < s->models.n && !err; i++) {
        if (s->times.rounds.limit_ns)
            exp_progress_limit(progress, EXP_WORK_ROUNDS,
                               (double)(s->models.n - i) * (double)s->times.rounds.limit_ns * 1e-9);
        err = compare(s, i, progress);
    }
    exp_progress_free(progress);
    return err;
}

/* ---- results ---- */

static int print_host(const void *session, FILE *out)
{
    const struct session *s = session;
    int err = ctr_hostinfo_print(out);

    fprintf(out, "%s\n", s->what);
    fprintf(out, "OpenBLAS: %s\n", s->setup.blas.config);
    if (s->core >= 0)
        fprintf(out, "timed on core: %d (pinned)\n", s->core);
    else
        fprintf(out, "timed on core: not pinned (%s)\n", s->not_pinned);
    return err;
}

static int draw(struct session *s)
{
    static const char *const names[] = { "peers_speedups", "peers_speedups_pointwise", "peers_phases",
                                         "peers_roofline" };
    struct exp_peers_plot plot;
    const struct exp_main_figures figures = {
        .program = EXP_PEERS,
        .results = &s->results,
        .figure = names,
        .n_figures = sizeof names / sizeof names[0],
        .what = s->what,
        .variable = plot.variable,
        .n_variables = EXP_N_PEERS_VARIABLES,
    };

    exp_peers_plot_init(&plot, &s->report);
    return exp_main_draw(&figures, s->why, sizeof s->why);
}

static int finish(struct session *s)
{
    int err = exp_peers_report_finish(&s->report, s->what, s->why, sizeof s->why), drawn;

    if (!err)
        err = exp_peers_targets_write(&s->report, s->what, s->why, sizeof s->why);
    if (!err)
        err = exp_outdir_write(&s->results.dir, "host.txt", print_host, s, s->why, sizeof s->why);
    if (err)
        return err;
    exp_peers_report_print(&s->report, stdout);
    exp_peers_targets_print(&s->report, stdout);
    drawn = draw(s);
    err = exp_results_commit(&s->results, s->why, sizeof s->why);
    if (err)
        return err;
    printf("\n%s\ntables: %s/\n", s->what, s->results.path);
    return exp_program_drawn(drawn, s->why, sizeof s->why);
}

static void document(FILE *out)
{
    exp_peers_report_document(out);
    exp_peers_targets_document(out);
}

static int run(void *session)
{
    struct session *s = session;
    int err = prepare(s);

    if (!err)
        err = work(s);
    return err ? err : finish(s);
}

static void release(void *session)
{
    struct session *s = session;

    exp_peers_report_release(&s->report);
    exp_results_release(&s->results);
    exp_models_release(&s->models);
    exp_dnnl_unload(s->dnnl);
    exp_setup_release(&s->setup);
}

int main(int argc, char **argv)
{
    struct session s = { .core = -1 };
    const struct exp_main course = {
        .program = EXP_PEERS,
        .options = &s.o,
        .document = document,
        .run = run,
        .release = release,
        .session = &s,
        .why = s.why,
        .why_bytes = sizeof s.why,
    };

    return exp_main(&course, argc, argv);
}
