#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "counters/group/ctr_cpu.h"
#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/time/measure.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/replay/replay.h"
#include "experiments/observe/observe.h"
#include "experiments/papers/paper/paper.h"

#define ABOUT_FILE "about.txt" /* a line about how the part was made */
#define KEY_FILE "key.txt" /* everything that the part's numbers depend on: a part is kept while its key is unchanged */

/* A setting of a model: planned, with a key of everything that its numbers depend on, and made. */
struct job {
    struct exp_paper_work *w;
    const struct exp_paper_setting *setting;
    struct exp_setup *setup;
    struct exp_paper_part *part;
    size_t model;
    struct exp_experiment e;
    char *folder, *key;            /* from malloc */
    struct exp_measure_info *info; /* of a timed job; owns the reasons of the cases */
    struct exp_observed *observed; /* of an observed job; owns the reasons of the cases */
    double peak;                   /* multiply-adds per ns of the timed runs; NaN: not known */
    char about[768];               /* about the making of the part */
    struct exp_why *why;
};

static struct exp_rounds rounds_asked(const struct exp_paper_options *o)
{
    return exp_rounds_of(o->reps, 5, 100, o->limit);
}

/* Returns the state of the caches at the begin of the job's layers. */
static enum exp_cache_state caches_of(const struct job *j)
{
    return j->setting->kind == EXP_PAPER_TIMED ? (enum exp_cache_state)j->w->options->cache : j->setting->cache;
}

/* ---- keys ---- */

static void print_case(const struct exp_case *c, FILE *out)
{
    char plan[EXP_PLAN_TEXT_BYTES];

    exp_plan_text(&c->plan, plan);
    fprintf(out, "%u", c->layer->index);
    for (size_t f = 0; f < CONV_N_FIELDS; f++)
        fprintf(out, " %zu", conv_field(&c->layer->problem, f));
    fprintf(out, " %s: %s\n", c->algo->name, plan);
}

/* Prints the dependences of times beside the plans. */
static void print_timing(const struct job *j, FILE *out)
{
    const struct exp_rounds r = rounds_asked(j->w->options);
    char cpu[256];

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    fprintf(out, "cpu: %s\nrounds: %zu to %zu, %.0f s\nclock: %s\nOpenBLAS: %s\n", cpu, r.least, r.most,
            (double)r.limit_ns * 1e-9, exp_clock_name(j->w->options->clock),
            j->setup->blas.handle ? j->setup->blas.config : j->setup->why_no_blas);
}

static void print_observing(const struct job *j, FILE *out)
{
    const struct exp_paper_options *o = j->w->options;

    fprintf(out, "observed: %s, %u s\n", o->observe == EXP_OBSERVE_AUTO ? "within the time" : "each shape",
            o->observe_limit);
}

static int print_key(const struct job *j, FILE *out)
{
    int err;

    fprintf(out, "commit: %s\ncaches: %s\n", j->w->options->commit, exp_cache_state_name(caches_of(j)));
    if (j->setting->kind == EXP_PAPER_TIMED)
        print_timing(j, out);
    if (j->setting->kind == EXP_PAPER_OBSERVED)
        print_observing(j, out);
    err = sim_machine_print(&j->setup->machine, out);
    for (size_t i = 0; i < j->e.n_cases; i++)
        print_case(&j->e.cases[i], out);
    return err;
}

/* Names the folder of a part among the parts of a machine. */
static const char *how_of(const struct job *j)
{
    return j->setting->kind == EXP_PAPER_OBSERVED ? "observed" : exp_cache_state_name(caches_of(j));
}

/* Makes the key, and the name of the folder. */
static int make_key(struct job *j)
{
    size_t bytes = 0;
    FILE *out = exp_memory_open(&j->key, &bytes);
    char *name = exp_results_name(j->w->options->model, j->w->options->layers, j->e.model, 1);
    int err = print_key(j, out);

    if (err)
        exp_fail(j->why, err, "%s", exp_error_text(err));
    fclose(out);
    j->folder = exp_format("%s/%s/paper/parts/%s-%s", j->w->options->results, j->setup->machine.name, how_of(j), name);
    free(name);
    return err;
}

/* Tells whether the folder holds the job's numbers. Numbers of changed sources, or of no commit, are never kept. */
static bool is_kept(const struct job *j)
{
    const char *commit = j->w->options->commit;
    char *there = exp_text_of(j->folder, KEY_FILE);
    const bool kept = *commit && !strstr(commit, "-dirty") && !strcmp(there, j->key);

    free(there);
    return kept;
}

static void release_job(struct job *j)
{
    exp_experiment_release(&j->e);
    free(j->info);
    if (j->observed)
        exp_observe_release(j->observed);
    free(j->observed);
    free(j->folder);
    free(j->key);
}

/* ---- making a part ---- */

static struct exp_measure_options measuring(const struct job *j)
{
    const struct exp_paper_options *o = j->w->options;

    return (struct exp_measure_options){
        .rounds = rounds_asked(o),
        .n_threads = o->jobs,
        .cache = caches_of(j),
        .ruler_ns = exp_ruler_limit_ns(o->ruler, o->limit),
        .now_ns = exp_clock_of(o->clock),
        .groups_dir = CTR_GROUPS_DIR,
    };
}

static int plan_observing(struct job *j)
{
    const struct exp_paper_options *o = j->w->options;
    unsigned algos;
    int err = exp_algo_select(j->setting->algos, &algos, j->why);

    j->observed = exp_new(1, sizeof *j->observed);
    return err ? err
               : exp_observe_plan(j->observed, j->setup, j->e.model, algos, (enum exp_observe_mode)o->observe, *o->twin,
                                  j->why);
}

static int time_job(struct job *j)
{
    const struct exp_measure_options o = measuring(j);
    char disturbance[320], ruled[160];
    int err = exp_verify_all(&j->e, &o, j->w->progress, j->why);

    j->info = exp_new(1, sizeof *j->info);
    if (!err)
        err = exp_measure_all(&j->e, &o, j->info, j->w->progress, j->why);
    if (err)
        return err;
    exp_disturbance_describe(&j->info->disturbance, disturbance, sizeof disturbance);
    j->peak =
        fmax(j->info->disturbance.peak_before, j->info->disturbance.peak_after) / 2; /* the higher of two samples */
    exp_ruler_say(&j->info->ruler, ruled, sizeof ruled);
    exp_say(j->about, sizeof j->about, "%s: %zu rounds: %s; %s; %s", j->e.model->name, j->info->n_rounds,
            exp_end_text(j->info->end), ruled, disturbance);
    return 0;
}

static int observe_job(struct job *j)
{
    const struct exp_paper_options *options = j->w->options;
    const struct exp_observe_options o = {
        .observer = options->observer,
        .guest = options->guest,
        .twin = options->twin,
        .why_missing = options->why_no_guest,
        .results = options->results,
        .n_threads = options->jobs,
        .limit_s = options->observe_limit,
    };
    char in_short[384] = "";
    int err = plan_observing(j);

    if (!err)
        err = exp_observe_all(j->observed, &o, j->w->progress, j->why);
    if (err)
        return err;
    exp_observe_share(j->observed, &j->e);
    exp_observe_sum_up(j->observed, in_short, sizeof in_short);
    exp_say(j->about, sizeof j->about, "%s: %s", j->e.model->name, in_short);
    return 0;
}

static int print_text(const void *text, FILE *out)
{
    return fputs(text, out) < 0 ? -EIO : 0;
}

/* Writes the folder, which appears complete or not at all: an interruption costs at most the unfinished part. */
static int write_job(const struct job *j)
{
    struct exp_outdir dir;
    int err = exp_outdir_open(&dir, j->folder, exp_paper_cases_table.file.name, j->why);

    if (err)
        return err;
    err = exp_paper_cases_write(&j->e, j->setting->kind, j->peak, &dir, j->about, j->why);
    err = err ? err : exp_outdir_write(&dir, ABOUT_FILE, print_text, j->about, j->why);
    err = err ? err : exp_outdir_write(&dir, KEY_FILE, print_text, j->key, j->why);
    err = err ? err : exp_outdir_commit(&dir, j->why);
    if (err)
        exp_outdir_abort(&dir);
    return err;
}

/* Times or observes, or takes replays, and writes the folder. Returns 0 or -errno with a line in why. */
static int make_job(struct job *j)
{
    int err = 0;

    if (j->setting->kind == EXP_PAPER_TIMED)
        err = time_job(j);
    else if (j->setting->kind == EXP_PAPER_OBSERVED)
        err = observe_job(j);
    else
        exp_say(j->about, sizeof j->about, "replayed with %s caches: %s", exp_cache_state_name(caches_of(j)),
                j->setup->machine.description);
    return err ? err : write_job(j);
}

/* ---- planning ---- */

/* Plans a model in a setting. Whatever is returned, the job is released by the caller. */
static int plan_job(struct job *j, struct exp_paper_work *w, size_t setting, size_t model, struct exp_why *why)
{
    unsigned algos;
    int err;

    *j = (struct job){
        .w = w,
        .setting = &exp_paper_settings[setting],
        .setup = &w->setup[setting],
        .part = &w->part[setting],
        .model = model,
        .peak = (double)NAN,
        .why = why,
    };
    err = exp_interrupted() ? exp_fail(why, -EINTR, "interrupted while planning")
                            : exp_algo_select(j->setting->algos, &algos, why);
    if (!err)
        err = exp_experiment_plan(&j->e, j->setup, &w->models->model[model], algos, why);
    return err ? err : make_key(j);
}

/* Plans each model of each setting, and calls then(). */
static int for_all(struct exp_paper_work *w, int (*then)(struct job *j), struct exp_why *why)
{
    int err = 0;

    for (size_t s = 0; s < EXP_PAPER_N_SETTINGS; s++) {
        for (size_t m = 0; m < w->models->n && !err && w->has_setup[s]; m++) {
            struct job j;

            err = plan_job(&j, w, s, m, why);
            if (!err)
                err = then(&j);
            release_job(&j);
        }
    }
    return err;
}

/*
 * Tells whether earlier experiments' observations are looked up: where this run does not observe, or nothing could be
 * built.
 */
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
            exp_say(w->part[s].why, sizeof w->part[s].why, "%s", EXP_UNTIMED);
        if (setting->kind == EXP_PAPER_RECORDED || setting->kind == EXP_PAPER_NETWORKS || *w->part[s].why ||
            is_looked_up(w, setting))
            continue;
        err = exp_machine_find(&w->setup[s].machine, setting->machine, w->options->results, why);
        if (!err)
            err = exp_setup_init(&w->setup[s], "", "", why);
        w->has_setup[s] = !err;
    }
    return err;
}

/* ---- forecasts ---- */

/* Announces a layer to time or replay. */
static void announce_layer(struct job *j, size_t l)
{
    const struct exp_experiment *e = &j->e;
    const struct exp_case *first = &e->cases[l * e->n_algos];
    double seconds[EXP_N_WORKS] = { 0 };

    if (j->setting->kind == EXP_PAPER_REPLAYED)
        seconds[EXP_WORK_REPLAY] = exp_replay_seconds(e, caches_of(j), j->w->options->jobs, l);
    if (j->setting->kind == EXP_PAPER_TIMED)
        seconds[EXP_WORK_ROUNDS] = exp_measure_seconds(first, e->n_algos, measuring(j).rounds.most);
    if (j->setting->kind == EXP_PAPER_TIMED && first->same_as == l * e->n_algos)
        seconds[EXP_WORK_VERIFY] = exp_verify_seconds(first, e->n_algos, j->w->options->jobs);
    for (int k = 0; k < EXP_N_WORKS; k++)
        j->w->seconds[k] += seconds[k];
    seconds[EXP_WORK_ROUNDS] = 0; /* the limit is theirs */
    exp_forecast_add(&j->w->forecast, e->model->layer[l].name, seconds);
}

static int announce(struct job *j)
{
    int err;

    if (is_kept(j))
        return 0;
    for (size_t l = 0; l < j->e.model->n_layers; l++)
        announce_layer(j, l);
    j->w->n_timed += j->setting->kind == EXP_PAPER_TIMED;
    if (j->setting->kind != EXP_PAPER_OBSERVED)
        return 0;
    err = plan_observing(j);
    if (err)
        return err;
    j->w->seconds[EXP_WORK_OBSERVE] += exp_observe_seconds(j->observed, j->w->options->jobs);
    j->w->n_observed++;
    return 0;
}

static int start_progress(struct exp_paper_work *w, struct exp_why *why)
{
    const struct exp_rounds rounds = rounds_asked(w->options);
    int err = for_all(w, announce, why);

    if (err)
        return err;
    exp_forecast_print(&w->forecast, stderr);
    w->progress = exp_main_progress(w->seconds);
    if (rounds.limit_ns && w->n_timed)
        exp_progress_limit(w->progress, EXP_WORK_ROUNDS, (double)(rounds.limit_ns * w->n_timed) * 1e-9,
                           w->seconds[EXP_WORK_ROUNDS] * exp_rounds_least_share(&rounds));
    if (w->options->observe == EXP_OBSERVE_AUTO && w->n_observed)
        exp_progress_limit(w->progress, EXP_WORK_OBSERVE, w->options->observe_limit * (double)w->n_observed, 0);
    return 0;
}

/* ---- the work ---- */

/* Reads a part's folder. */
static int read_part(struct job *j)
{
    char *about = exp_text_of(j->folder, ABOUT_FILE);
    int err = exp_paper_cases_read(j->part, j->folder, j->e.model, j->model, j->why);

    if (!err && about && !strstr(j->part->about, about)) /* replays of all models are made alike */
        exp_say_more(j->part->about, sizeof j->part->about, "%s%s", *j->part->about ? ". " : "", about);
    free(about);
    return err;
}

static int make_if_missing(struct job *j)
{
    bool kept = is_kept(j);
    int err = 0;

    if (j->setting->kind == EXP_PAPER_REPLAYED) /* replay_all() has made all */
        return read_part(j);
    j->w->n_kept += kept;
    if (!kept)
        err = make_job(j);
    j->w->n_made += !kept && !err;
    return err ? err : read_part(j);
}

/* Writes a part as soon as the part is replayed: an interruption later does not cost the part. */
static int write_replayed(void *ctx, size_t index, struct exp_why *why)
{
    struct job *j = ((struct job **)ctx)[index];
    int err = make_job(j);

    (void)why; /* the job's own */
    exp_experiment_release(&j->e);
    return err;
}

/* Replays the missing models of a setting, all together. */
static int replay_jobs(struct exp_paper_work *w, struct job *job, size_t n, struct exp_why *why)
{
    struct exp_experiment *experiment[EXP_MAX_MODELS];
    struct job *missing[EXP_MAX_MODELS];
    struct exp_replay_batch batch = {
        .experiment = experiment,
        .n_threads = w->options->jobs,
        .progress = w->progress,
        .done = write_replayed,
        .ctx = missing,
    };

    for (size_t m = 0; m < n; m++) {
        if (is_kept(&job[m]))
            continue;
        batch.cache = caches_of(&job[m]);
        missing[batch.n] = &job[m];
        experiment[batch.n++] = &job[m].e;
    }
    w->n_kept += n - batch.n;
    w->n_made += batch.n;
    return exp_replay_batch(&batch, why);
}

static int replay_all(struct exp_paper_work *w, struct exp_why *why)
{
    struct job *job = exp_new(w->models->n, sizeof *job);
    int err = 0;

    for (size_t s = 0; s < EXP_PAPER_N_SETTINGS && !err; s++) {
        size_t n = 0;

        if (!w->has_setup[s] || exp_paper_settings[s].kind != EXP_PAPER_REPLAYED)
            continue;
        while (n < w->models->n && !err) {
            err = plan_job(&job[n], w, s, n, why);
            n++;
        }
        if (!err)
            err = replay_jobs(w, job, n, why);
        while (n)
            release_job(&job[--n]);
    }
    free(job);
    return err;
}

static void say_no_guest(const struct exp_paper_work *w, struct exp_paper_part *p)
{
    char *text = *p->why ? p->why : p->about;
    size_t bytes = *p->why ? sizeof p->why : sizeof p->about;

    if (*w->options->why_no_guest)
        exp_say_more(text, bytes, "%snothing was observed now: %s", *text ? "; " : "", w->options->why_no_guest);
}

static int look_up(struct exp_paper_work *w, struct exp_why *why)
{
    int err = 0;

    for (size_t s = 0; s < EXP_PAPER_N_SETTINGS && !err; s++) {
        if (exp_paper_settings[s].kind == EXP_PAPER_RECORDED)
            err = exp_paper_recorded_read(&w->part[s], w->options->counts, w->models, why);
        if (exp_paper_settings[s].kind == EXP_PAPER_NETWORKS)
            err = exp_paper_networks_read(&w->part[s], w->options, w->models, why);
        if (!err && is_looked_up(w, &exp_paper_settings[s]))
            err = exp_paper_observed_read(&w->part[s], w->options, w->models, why);
        if (exp_paper_settings[s].kind == EXP_PAPER_OBSERVED)
            say_no_guest(w, &w->part[s]);
    }
    return err;
}

int exp_paper_work(struct exp_paper_work *w, struct exp_why *why)
{
    int err = set_up(w, why);

    assert(w->options && w->models);
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
    struct exp_models models = { 0 };
    int err = exp_models_read_as(&models, EXP_EXPERIMENTS_DIR, o->model, EXP_MODEL_ASK(o), why);

    exp_models_release(&models);
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
