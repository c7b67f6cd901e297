#include "experiments/paper/exp_paper_work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/paper/exp_paper_job.h"
#include "experiments/paper/exp_paper_recorded.h"
#include "experiments/replay/exp_replay.h"
#include "experiments/setup/exp_machine.h"
#include "experiments/setup/exp_main.h"
#include "experiments/setup/exp_results.h"

struct exp_rounds exp_paper_rounds_asked(const struct exp_paper_options *o)
{
    return exp_rounds_of(o->reps, 5, 100, o->limit);
}

/* ---- planning ---- */

/* Plans a model in a setting. Whatever is returned, the job is released by the caller. */
static int plan_job(struct exp_paper_job *j, struct exp_paper_work *w, size_t setting, size_t model,
                    struct exp_why *why)
{
    unsigned algos;
    int err;

    *j = (struct exp_paper_job){
        .w = w,
        .setting = &exp_paper_settings[setting],
        .setup = &w->setup[setting],
        .part = &w->part[setting],
        .model = model,
        .why = why,
    };
    err = exp_interrupted() ? exp_fail(why, -EINTR, "interrupted while planning")
                            : exp_algo_select(j->setting->algos, &algos, why);
    if (!err)
        err = exp_experiment_plan(&j->e, j->setup, &w->models->model[model], algos, why);
    return err ? err : exp_paper_job_key(j);
}

/* Plans each model of each setting and does something with it. */
static int for_all(struct exp_paper_work *w, int (*then)(struct exp_paper_job *j), struct exp_why *why)
{
    int err = 0;

    for (size_t s = 0; s < EXP_PAPER_N_SETTINGS; s++) {
        for (size_t m = 0; m < w->models->n && !err && w->has_setup[s]; m++) {
            struct exp_paper_job j;

            err = plan_job(&j, w, s, m, why);
            if (!err)
                err = then(&j);
            exp_paper_job_release(&j);
        }
    }
    return err;
}

/* What earlier experiments observed is looked up where this run is not to observe, and where nothing could be built. */
static bool is_looked_up(const struct exp_paper_work *w, const struct exp_paper_setting *setting)
{
    return setting->kind == EXP_PAPER_OBSERVED && (w->options->observe == EXP_OBSERVE_NONE || !*w->options->guest);
}

static int set_up(struct exp_paper_work *w, struct exp_why *why)
{
    int err = 0;

    for (size_t s = 0; s < EXP_PAPER_N_SETTINGS && !err; s++) {
        const struct exp_paper_setting *setting = &exp_paper_settings[s];

        w->part[s].setting = setting;
        if (setting->kind == EXP_PAPER_TIMED && !w->options->timing)
            exp_say(w->part[s].why_not, sizeof w->part[s].why_not, "%s", EXP_UNTIMED);
        if (setting->kind == EXP_PAPER_RECORDED || *w->part[s].why_not || is_looked_up(w, setting))
            continue;
        err = exp_machine_find(&w->setup[s].machine, setting->machine, w->options->results, why);
        if (!err)
            err = exp_setup_init(&w->setup[s], "", "", why);
        w->has_setup[s] = !err;
    }
    return err;
}

/* ---- forecasts ---- */

static void announce_layer(const struct exp_paper_job *j, size_t layer, double seconds[EXP_N_WORKS])
{
    const struct exp_experiment *e = &j->e;
    const struct exp_case *first = &e->cases[layer * e->n_algos];

    if (j->setting->kind == EXP_PAPER_REPLAYED) {
        seconds[EXP_WORK_REPLAY] = exp_replay_seconds(e, exp_paper_job_caches(j), j->w->options->jobs, layer);
        return;
    }
    if (j->setting->kind == EXP_PAPER_OBSERVED)
        return;
    seconds[EXP_WORK_ROUNDS] = exp_measure_seconds(first, e->n_algos, exp_paper_job_measuring(j).rounds.most);
    if (first->same_as == layer * e->n_algos)
        seconds[EXP_WORK_VERIFY] = exp_verify_seconds(first, j->w->options->jobs);
}

static int announce_observing(struct exp_paper_job *j)
{
    int err = exp_paper_job_plan_observing(j);

    if (err)
        return err;
    j->w->seconds[EXP_WORK_OBSERVE] += exp_observe_seconds(j->observed, j->w->options->jobs);
    j->w->n_observed++;
    return 0;
}

static int announce(struct exp_paper_job *j)
{
    if (exp_paper_job_is_kept(j))
        return 0;
    for (size_t l = 0; l < j->e.model->n_layers; l++) {
        double layer[EXP_N_WORKS] = { 0 };

        announce_layer(j, l, layer);
        for (int k = 0; k < EXP_N_WORKS; k++)
            j->w->seconds[k] += layer[k];
        layer[EXP_WORK_ROUNDS] = 0; /* the limit is theirs */
        exp_forecast_add(&j->w->forecast, j->e.model->layer[l].name, layer);
    }
    j->w->n_timed += j->setting->kind == EXP_PAPER_TIMED;
    if (j->setting->kind == EXP_PAPER_OBSERVED)
        return announce_observing(j);
    return 0;
}

static int start_progress(struct exp_paper_work *w, struct exp_why *why)
{
    const struct exp_rounds rounds = exp_paper_rounds_asked(w->options);
    int err = for_all(w, announce, why);

    if (err)
        return err;
    exp_forecast_print(&w->forecast, stderr);
    err = exp_main_progress(&w->progress, w->seconds, why);
    if (err)
        return err;
    if (rounds.limit_ns && w->n_timed)
        exp_progress_limit(w->progress, EXP_WORK_ROUNDS, (double)(rounds.limit_ns * w->n_timed) * 1e-9);
    if (w->options->observe == EXP_OBSERVE_AUTO && w->n_observed)
        exp_progress_limit(w->progress, EXP_WORK_OBSERVE, w->options->observe_limit * (double)w->n_observed);
    return 0;
}

/* ---- the work ---- */

/* Takes over what a part's folder says. */
static int read_part(struct exp_paper_job *j)
{
    char *about = exp_part_text(j->folder, EXP_PAPER_ABOUT_FILE);
    int err = exp_paper_cases_read(j->part, j->folder, j->e.model, j->model, j->why);

    if (!err && about && !strstr(j->part->about, about)) /* replays of all models are made alike */
        exp_say_more(j->part->about, sizeof j->part->about, "%s%s", *j->part->about ? ". " : "", about);
    free(about);
    return err;
}

static int make_if_missing(struct exp_paper_job *j)
{
    bool kept = exp_paper_job_is_kept(j);
    int err = 0;

    if (j->setting->kind == EXP_PAPER_REPLAYED) /* they are there */
        return read_part(j);
    j->w->n_kept += kept;
    if (!kept)
        err = exp_paper_job_make(j);
    j->w->n_made += !kept && !err;
    return err ? err : read_part(j);
}

/* Writes a part as soon as it is replayed: an interruption later does not cost it. */
static int write_replayed(void *ctx, size_t index, struct exp_why *why)
{
    struct exp_paper_job *j = ((struct exp_paper_job **)ctx)[index];
    int err = exp_paper_job_write_replay(j);

    (void)why; /* the job's own */
    exp_experiment_release(&j->e);
    return err;
}

/* Replays the models of a setting that are missing, all together. */
static int replay_jobs(struct exp_paper_work *w, struct exp_paper_job *job, size_t n, struct exp_why *why)
{
    struct exp_experiment *experiment[EXP_MAX_MODELS];
    struct exp_paper_job *missing[EXP_MAX_MODELS];
    struct exp_replay_batch batch = {
        .experiment = experiment,
        .n_threads = w->options->jobs,
        .progress = w->progress,
        .done = write_replayed,
        .ctx = missing,
    };

    for (size_t m = 0; m < n; m++) {
        if (exp_paper_job_is_kept(&job[m]))
            continue;
        batch.cache = exp_paper_job_caches(&job[m]);
        missing[batch.n] = &job[m];
        experiment[batch.n++] = &job[m].e;
    }
    w->n_kept += n - batch.n;
    w->n_made += batch.n;
    return exp_replay_batch(&batch, why);
}

static int replay_setting(struct exp_paper_work *w, size_t setting, struct exp_why *why)
{
    struct exp_paper_job job[EXP_MAX_MODELS];
    size_t n = 0;
    int err = 0;

    while (n < w->models->n && !err) {
        err = plan_job(&job[n], w, setting, n, why);
        n++;
    }
    if (!err)
        err = replay_jobs(w, job, n, why);
    while (n)
        exp_paper_job_release(&job[--n]);
    return err;
}

static int replay_all(struct exp_paper_work *w, struct exp_why *why)
{
    int err = 0;

    for (size_t s = 0; s < EXP_PAPER_N_SETTINGS && !err; s++) {
        if (w->has_setup[s] && exp_paper_settings[s].kind == EXP_PAPER_REPLAYED)
            err = replay_setting(w, s, why);
    }
    return err;
}

static void say_why_no_guest(const struct exp_paper_work *w, struct exp_paper_part *p)
{
    char *text = *p->why_not ? p->why_not : p->about;
    size_t bytes = *p->why_not ? sizeof p->why_not : sizeof p->about;

    if (*w->options->why_no_guest)
        exp_say_more(text, bytes, "%snothing was observed now: %s", *text ? "; " : "", w->options->why_no_guest);
}

static int look_up(struct exp_paper_work *w, struct exp_why *why)
{
    int err = 0;

    for (size_t s = 0; s < EXP_PAPER_N_SETTINGS && !err; s++) {
        if (exp_paper_settings[s].kind == EXP_PAPER_RECORDED)
            err = exp_paper_recorded_read(&w->part[s], w->options->counts, w->models, why);
        if (is_looked_up(w, &exp_paper_settings[s]))
            err = exp_paper_observed_read(&w->part[s], w->options, w->models, why);
        if (exp_paper_settings[s].kind == EXP_PAPER_OBSERVED)
            say_why_no_guest(w, &w->part[s]);
    }
    return err;
}

int exp_paper_work(struct exp_paper_work *w, struct exp_why *why)
{
    int err = set_up(w, why);

    if (!err)
        err = look_up(w, why);
    if (!err)
        err = start_progress(w, why);
    if (!err)
        err = replay_all(w, why);
    if (!err)
        err = for_all(w, make_if_missing, why);
    exp_progress_free(w->progress);
    w->progress = NULL;
    return err;
}

void exp_paper_work_release(struct exp_paper_work *w)
{
    for (size_t s = 0; s < EXP_PAPER_N_SETTINGS; s++) {
        exp_paper_part_release(&w->part[s]);
        if (w->has_setup[s])
            exp_setup_release(&w->setup[s]);
        w->has_setup[s] = false;
    }
}

int exp_paper_print_guests(const struct exp_paper_options *o, FILE *out, struct exp_why *why)
{
    int err = 0;

    for (size_t s = 0; s < EXP_PAPER_N_SETTINGS && !err && o->observe != EXP_OBSERVE_NONE; s++) {
        struct exp_setup setup = { 0 };

        if (exp_paper_settings[s].kind != EXP_PAPER_OBSERVED)
            continue;
        err = exp_machine_find(&setup.machine, exp_paper_settings[s].machine, o->results, why);
        if (!err)
            err = exp_setup_init(&setup, "", "", why);
        if (!err)
            fprintf(out, "%s\n", exp_emulator_for(setup.ukr)->arch);
        exp_setup_release(&setup);
    }
    return err;
}
