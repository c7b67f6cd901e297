/* The work of the experiment: checks, times, replays, observed accesses, advice. */
#include "experiments/run/session.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_cpu.h"
#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/time/errors.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/options_shared.h"

static struct exp_rounds rounds_of(const struct exp_run_options *o)
{
    return exp_rounds_of(o->reps, 10, 200, o->limit);
}

/* If SConv's kernel is of another CPU family, Base is not timed either. */
const char *exp_run_why_untimed(const struct exp_run_session *s)
{
    if (!s->options.timing)
        return EXP_UNTIMED;
    if (s->setup.ukr->fn)
        return NULL;
    return exp_setup_uses_openblas_ukr(&s->setup) ? s->setup.why_no_openblas_ukr
                                                  : "the machine's micro-kernel is another CPU family's";
}

static struct exp_measure_options measure_options(const struct exp_run_session *s)
{
    return (struct exp_measure_options){
        .rounds = rounds_of(&s->options),
        .n_threads = s->options.jobs,
        .cache = (enum exp_cache_state)s->options.cache,
        .ruler_ns = exp_ruler_limit_ns(s->options.ruler, s->options.limit),
        .keeps_disturbed = true,
        .now_ns = exp_clock_of(s->options.clock),
        .groups_dir = CTR_GROUPS_DIR,
    };
}

bool exp_run_is_counted(const struct exp_run_session *s)
{
    const struct exp_measure_options m = measure_options(s);
    struct exp_why ignored;

    return !exp_run_why_untimed(s) && !exp_machine_why_not_here(&s->setup.machine, &ignored) && exp_measure_counts(&m);
}

/* Tells whether anything is verified: timed algorithms, and plug-ins always. */
static bool verifies(const struct exp_run_session *s)
{
    bool has_plugins = false;

    for (size_t a = 0; a < s->experiment.n_algos; a++)
        has_plugins |= s->experiment.cases[a].algo->plugin != NULL;
    return has_plugins || s->results.is_timed;
}

/* Adds up the announced seconds of a layer, by kind of work. */
static void announce_layer(const struct exp_run_session *s, size_t layer, double seconds[EXP_N_WORKS])
{
    const struct exp_experiment *e = &s->experiment;
    const struct exp_case *first = &e->cases[layer * e->n_algos];
    const size_t most = rounds_of(&s->options).most;

    seconds[EXP_WORK_REPLAY] += exp_replay_seconds(e, (enum exp_cache_state)s->options.cache, s->options.jobs, layer);
    if (s->results.is_timed)
        seconds[EXP_WORK_ROUNDS] += exp_measure_seconds(first, e->n_algos, most);
    if (verifies(s) && first->same_as == layer * e->n_algos)
        seconds[EXP_WORK_VERIFY] += exp_verify_seconds(first, e->n_algos, s->options.jobs);
}

/* Adds up the whole experiment, and prints a forecast of a long experiment. */
static void announce(const struct exp_run_session *s, double seconds[EXP_N_WORKS])
{
    struct exp_forecast f = { 0 };

    for (size_t l = 0; l < s->model.n_layers; l++) {
        double layer[EXP_N_WORKS] = { 0 };

        announce_layer(s, l, layer);
        for (int k = 0; k < EXP_N_WORKS; k++)
            seconds[k] += layer[k];
        layer[EXP_WORK_ROUNDS] = 0; /* the limit decides about rounds */
        exp_forecast_add(&f, s->model.layer[l].name, layer);
    }
    seconds[EXP_WORK_OBSERVE] = exp_observe_seconds(&s->observed, s->options.jobs);
    exp_forecast_print(&f, stderr);
}

struct exp_report exp_run_report(const struct exp_run_session *s)
{
    return (struct exp_report){
        .e = &s->experiment,
        .info = &s->info,
        .experiments_dir = EXP_EXPERIMENTS_DIR,
        .commit = s->options.commit,
        .cache = (enum exp_cache_state)s->options.cache,
        .is_timed = s->results.is_timed,
        .clock = exp_clock_name(s->options.clock),
        .why_elsewhere = *s->why_elsewhere.text ? s->why_elsewhere.text : NULL,
        .observed = s->observed_in_short,
    };
}

/* A timed session, and the progress of its rounds. */
struct timing {
    const struct exp_run_session *s;
    struct exp_progress *progress;
    struct exp_ratio said; /* the last answer */
};

/*
 * Says the measured answer above the progress of the next work, unless the interval of the last answer holds the answer.
 * Few rounds have no interval.
 */
static void say_measured(struct timing *t, const char *when, size_t n_rounds)
{
    const struct exp_report report = exp_run_report(t->s);
    struct exp_total total[EXP_MAX_ALGO_RECORDS];
    char interval[40] = "";
    const size_t n = exp_totals(&report, total);
    const struct exp_total *best = NULL;

    for (size_t i = 0; i < n; i++) {
        if (strcmp(total[i].algo, exp_algo_base()->name) != 0 && !isnan(total[i].speedup.value) &&
            (!best || total[i].speedup.value > best->speedup.value))
            best = &total[i];
    }
    if (!best || (t->said.low <= best->speedup.value && best->speedup.value <= t->said.high))
        return;
    t->said = best->speedup;
    if (!isnan(best->speedup.low))
        exp_say(interval, sizeof interval, " [%.2f, %.2f]", best->speedup.low, best->speedup.high);
    exp_progress_note(t->progress, "%s %zu rounds: %s is %.2f times as fast as %s%s", when, n_rounds,
                      exp_algo_label(exp_algo_find(best->algo), t->s->setup.type), best->speedup.value,
                      exp_algo_label(exp_algo_base(), t->s->setup.type), interval);
}

/* Says the answer of the first few rounds. */
static void say_first(void *timing, size_t n_rounds)
{
    enum { FEW_ROUNDS = 5 };

    if (n_rounds <= FEW_ROUNDS)
        say_measured(timing, "after", n_rounds);
}

static int measure(struct exp_run_session *s, struct exp_progress *progress)
{
    struct exp_measure_options m = measure_options(s);
    struct timing timing = { .s = s, .progress = progress };
    int err;

    m.plugins_only = !s->results.is_timed; /* a simulated plug-in must compute right values, too */
    err = verifies(s) ? exp_verify_all(&s->experiment, &m, progress, &s->why) : 0;
    if (!err && s->results.is_timed && exp_errors_note(&s->experiment, progress))
        err = exp_fail(&s->why, -ENOMEM,
                       "out of memory for the tensors of a layer; LAYERS= narrows, TIMING=0 needs none");
    for (size_t i = 0; i < s->experiment.n_cases && !s->results.is_timed; i++)
        s->experiment.cases[i].measured.why = s->results.why_untimed;
    if (err || !s->results.is_timed)
        return err;
    m.passed = say_first;
    m.ctx = &timing;
    err = exp_measure_all(&s->experiment, &m, &s->info, progress, &s->why);
    if (!err)
        say_measured(&timing, "measured in", s->info.n_rounds);
    s->setup.ran_at_ghz = s->info.ran_at_ghz;
    return err;
}

static int observe(struct exp_run_session *s, struct exp_progress *progress)
{
    struct exp_observe_options o = {
        .observer = s->options.observer,
        .guest = s->options.guest,
        .twin = s->options.twin,
        .why_missing = s->options.why_no_guest,
        .results = s->options.results,
        .n_threads = s->options.jobs,
        .limit_s = s->options.observe_limit,
    };

    struct exp_guest_made made = { 0 };
    int err = 0;

    if (s->observed.observation && *s->options.make_guest) {
        exp_progress_begin(progress, EXP_WORK_OBSERVE, "the programs that are observed", "building");
        err = exp_guest_make(&made, exp_emulator_for(s->setup.ukr)->arch, s->options.make_guest, &s->why);
        o.guest = made.guest;
        o.twin = made.twin;
        o.why_missing = made.why.text;
    }
    if (!err && s->observed.observation)
        err = exp_store_asked(&o.store, s->options.store, s->options.results, s->options.known, &s->why);

    if (!err)
        err = exp_observe_all(&s->observed, &o, progress, &s->why);
    exp_store_close(o.store);
    exp_guest_made_release(&made);
    return err;
}

static struct exp_replay_asked replay_asked(const struct exp_run_options *o)
{
    return (struct exp_replay_asked){ .cache = (enum exp_cache_state)o->cache,
                                      .n_threads = o->jobs,
                                      .store = o->store,
                                      .results = o->results,
                                      .known = o->known };
}

/* Returns the plug-ins of ALGO=: items with a '.' or a '/'. From malloc. */
static char *plugins_of(const char *algos)
{
    char *list = exp_copy_text(algos), *plugins = exp_copy_text("");

    for (char *rest = list, *item; (item = strtok_r(rest, ",", &rest));) {
        if (strpbrk(item, "./"))
            exp_names_add(&plugins, item);
    }
    free(list);
    return plugins;
}

/* Finds the advice; the knobs' commands repeat the user's words. */
static int advise(struct exp_run_session *s)
{
    const struct exp_run_options *o = &s->options;
    const struct exp_report report = exp_run_report(s);
    char kind[64];
    char *ukr = *o->ukr ? exp_format(" UKR=%s", o->ukr) : exp_copy_text("");
    char *more = exp_format("%s%s%s", o->packs_filters ? " FILTERS=run_time" : "", *o->core ? " CORE=" : "", o->core);
    char *plugins = plugins_of(o->algos);
    const struct exp_advice_asked asked = { .model = o->model,
                                            .machine = o->machine,
                                            .kind = kind,
                                            .ukr = ukr,
                                            .more = more,
                                            .plugins = plugins,
                                            .depth = (enum exp_advice_depth)o->advice,
                                            .replay = replay_asked(o) };
    const struct exp_measure_options m = measure_options(s);
    int err;

    exp_machine_say_kind(o->machine, &s->setup.machine, kind, sizeof kind);
    err = exp_advise(&s->advices, &report, EXP_EXPERIMENTS_DIR, &asked, &s->why);

    if (!err && asked.depth == EXP_ADVICE_JUDGE)
        err = exp_advices_judge(&s->judged, &s->advices, &report, &m, &s->why);
    free(ukr);
    free(more);
    free(plugins);
    return err;
}

int exp_run_all(struct exp_run_session *s)
{
    const struct exp_run_options *o = &s->options;
    const struct exp_replay_asked asked = replay_asked(o);
    const struct exp_rounds rounds = rounds_of(&s->options);
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_progress *progress;
    int err;

    announce(s, seconds);
    progress = exp_main_progress(seconds);
    if (rounds.limit_ns)
        exp_progress_limit(progress, EXP_WORK_ROUNDS, (double)rounds.limit_ns * 1e-9,
                           seconds[EXP_WORK_ROUNDS] * exp_rounds_least_share(&rounds));
    if (s->observed.mode == EXP_OBSERVE_AUTO)
        exp_progress_limit(progress, EXP_WORK_OBSERVE, s->options.observe_limit, 0);
    err = measure(s, progress);
    if (!err)
        err = exp_replay_as_asked(&s->experiment, &asked, progress, &s->replayed, &s->why);
    if (!err)
        err = observe(s, progress);
    exp_progress_free(progress);
    if (!err)
        err = advise(s);
    if (!err) {
        exp_observe_share(&s->observed, &s->experiment);
        exp_observe_sum_up(&s->observed, s->observed_in_short, sizeof s->observed_in_short);
    }
    return err;
}
