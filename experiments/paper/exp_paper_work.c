#include "experiments/paper/exp_paper_work.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "counters/group/ctr_cpu.h"
#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/base/exp_signal.h"
#include "experiments/measure/exp_measure.h"
#include "experiments/paper/exp_paper_observed.h"
#include "experiments/paper/exp_paper_recorded.h"
#include "experiments/replay/exp_replay.h"
#include "experiments/setup/exp_machine.h"
#include "experiments/setup/exp_main.h"
#include "experiments/setup/exp_plan_text.h"

#define KEY_FILE "key.txt"
#define ABOUT_FILE "about.txt"

/* A setting of one model, planned. */
struct job {
    struct exp_paper_work *w;
    const struct exp_paper_setting *setting;
    struct exp_setup *setup;
    struct exp_paper_part *part;
    size_t model;
    struct exp_experiment e;
    char *folder, *key;            /* from malloc */
    struct exp_measure_info *info; /* of what was timed: its reasons are those of the cases */
    char *why;
    size_t why_bytes;
};

static enum exp_cache_state caches_of(const struct job *j)
{
    return j->setting->kind == EXP_PAPER_TIMED ? (enum exp_cache_state)j->w->options->cache : j->setting->cache;
}

static struct exp_measure_options measure_options(const struct job *j)
{
    const struct exp_options *o = j->w->options;

    return (struct exp_measure_options){
        .rounds = exp_options_rounds(o, EXP_PAPER),
        .n_threads = o->jobs,
        .cache = caches_of(j),
        .now_ns = exp_options_clock(o),
        .groups_dir = CTR_GROUPS_DIR,
    };
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

/* What times depend on beside the plans. */
static void print_timing(const struct job *j, FILE *out)
{
    const struct exp_rounds r = exp_options_rounds(j->w->options, EXP_PAPER);
    char cpu[256];

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    fprintf(out, "cpu: %s\nrounds: %zu to %zu, %.0f s\nclock: %s\nOpenBLAS: %s\n", cpu, r.least, r.most,
            (double)r.limit_ns * 1e-9, exp_options_clock_name(j->w->options),
            j->setup->blas.handle ? j->setup->blas.config : j->setup->why_no_blas);
}

static int print_key(const struct job *j, FILE *out)
{
    int err;

    fprintf(out, "commit: %s\ncaches: %s\n", j->w->options->commit, exp_cache_state_name(caches_of(j)));
    if (j->setting->kind == EXP_PAPER_TIMED)
        print_timing(j, out);
    err = sim_machine_print(&j->setup->machine, out);
    for (size_t i = 0; i < j->e.n_cases; i++)
        print_case(&j->e.cases[i], out);
    return err;
}

static int make_key(struct job *j)
{
    size_t bytes = 0;
    FILE *out = open_memstream(&j->key, &bytes);
    int err = out ? print_key(j, out) : -ENOMEM;

    if (out && fclose(out))
        err = -ENOMEM;
    j->folder = exp_format("%s/%s/paper/parts/%s-%s", j->w->options->results, j->setup->machine.name,
                           exp_cache_state_name(caches_of(j)), j->e.model->name);
    return err || !j->folder ? exp_fail(j->why, j->why_bytes, -ENOMEM, "out of memory") : 0;
}

/* The text of a file in the job's folder, "" if there is none; from malloc. */
static char *read_text(const struct job *j, const char *file)
{
    char *path = exp_format("%s/%s", j->folder, file), *text = NULL;
    FILE *in = path ? fopen(path, "r") : NULL;
    size_t bytes = 0;

    if (!in || getdelim(&text, &bytes, '\0', in) < 0) {
        free(text);
        text = strdup("");
    }
    if (in)
        fclose(in);
    free(path);
    return text;
}

/* Whether the sources are those of a commit: what was changed since has no name. */
static bool is_named(const char *commit)
{
    const char *dirty = strstr(commit, "-dirty");

    return *commit && !dirty;
}

static bool is_kept(const struct job *j)
{
    char *there = read_text(j, KEY_FILE);
    bool kept = there && is_named(j->w->options->commit) && !strcmp(there, j->key);

    free(there);
    return kept;
}

/* ---- planning ---- */

static void release_job(struct job *j)
{
    exp_experiment_release(&j->e);
    free(j->info);
    free(j->folder);
    free(j->key);
}

/* Plans a model in a setting and does something with it. */
static int with_job(struct exp_paper_work *w, size_t setting, size_t model, int (*then)(struct job *j), char *why,
                    size_t why_bytes)
{
    struct job j = {
        .w = w,
        .setting = &exp_paper_settings[setting],
        .setup = &w->setup[setting],
        .part = &w->part[setting],
        .model = model,
        .why = why,
        .why_bytes = why_bytes,
    };
    unsigned algos;
    int err = exp_algo_select(j.setting->algos, &algos, why, why_bytes);

    if (!err)
        err = exp_experiment_plan(&j.e, j.setup, &w->models->model[model], algos, why, why_bytes);
    if (!err)
        err = make_key(&j);
    if (!err)
        err = then(&j);
    release_job(&j);
    return err;
}

static int for_all(struct exp_paper_work *w, int (*then)(struct job *j), char *why, size_t why_bytes)
{
    int err = 0;

    for (size_t s = 0; s < EXP_PAPER_N_SETTINGS; s++) {
        for (size_t m = 0; m < w->models->n && !err && w->has_setup[s]; m++)
            err = exp_interrupted() ? exp_fail(why, why_bytes, -EINTR, "interrupted while planning")
                                    : with_job(w, s, m, then, why, why_bytes);
    }
    return err;
}

static int set_up(struct exp_paper_work *w, char *why, size_t why_bytes)
{
    int err = 0;

    for (size_t s = 0; s < EXP_PAPER_N_SETTINGS && !err; s++) {
        const struct exp_paper_setting *setting = &exp_paper_settings[s];

        w->part[s].setting = setting;
        if (setting->kind == EXP_PAPER_TIMED && !w->options->timing)
            exp_say(w->part[s].why_not, sizeof w->part[s].why_not, "TIMING=0 was asked for");
        if (setting->kind == EXP_PAPER_RECORDED || setting->kind == EXP_PAPER_OBSERVED || *w->part[s].why_not)
            continue;
        err = exp_machine_find(&w->setup[s].machine, setting->machine, w->options->results, why, why_bytes);
        if (!err)
            err = exp_setup_init(&w->setup[s], "", "", why, why_bytes);
        w->has_setup[s] = !err;
    }
    return err;
}

/* ---- forecasts ---- */

static void announce_layer(const struct job *j, size_t layer, double seconds[EXP_N_WORKS])
{
    const struct exp_experiment *e = &j->e;
    const struct exp_case *first = &e->cases[layer * e->n_algos];

    if (j->setting->kind == EXP_PAPER_REPLAYED) {
        seconds[EXP_WORK_REPLAY] = exp_replay_seconds(e, caches_of(j), j->w->options->jobs, layer);
        return;
    }
    seconds[EXP_WORK_ROUNDS] = exp_measure_seconds(first, e->n_algos, measure_options(j).rounds.most);
    if (first->same_as == layer * e->n_algos)
        seconds[EXP_WORK_VERIFY] = exp_verify_seconds(first, j->w->options->jobs);
}

static int announce(struct job *j)
{
    if (is_kept(j))
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
    return 0;
}

static int start_progress(struct exp_paper_work *w, char *why, size_t why_bytes)
{
    const struct exp_rounds rounds = exp_options_rounds(w->options, EXP_PAPER);
    int err = for_all(w, announce, why, why_bytes);

    if (err)
        return err;
    exp_forecast_print(&w->forecast, stderr);
    err = exp_main_progress(&w->progress, w->seconds, why, why_bytes);
    if (err)
        return err;
    if (rounds.limit_ns && w->n_timed)
        exp_progress_limit(w->progress, EXP_WORK_ROUNDS, (double)(rounds.limit_ns * w->n_timed) * 1e-9);
    return 0;
}

/* ---- the work ---- */

/* The higher of two samples of the core's peak, as multiply-adds per ns. */
static double peak_of(const struct exp_disturbance *d)
{
    return fmax(d->peak_before, d->peak_after) / 2;
}

static int time_job(struct job *j, struct exp_paper_source *source, char *about, size_t bytes)
{
    const struct exp_measure_options o = measure_options(j);
    char disturbance[320];
    int err = exp_verify_all(&j->e, &o, j->w->progress, j->why, j->why_bytes);

    j->info = calloc(1, sizeof *j->info);
    if (!err && !j->info)
        err = exp_fail(j->why, j->why_bytes, -ENOMEM, "out of memory");
    if (!err)
        err = exp_measure_all(&j->e, &o, j->info, j->w->progress, j->why, j->why_bytes);
    if (err)
        return err;
    exp_disturbance_describe(&j->info->disturbance, disturbance, sizeof disturbance);
    source->peak = peak_of(&j->info->disturbance);
    exp_say(about, bytes, "%s: %zu rounds: %s; %s", j->e.model->name, j->info->n_rounds, exp_end_text(j->info->end),
            disturbance);
    return 0;
}

static int replay_job(struct job *j, struct exp_paper_source *source, char *about, size_t bytes)
{
    (void)source;
    exp_say(about, bytes, "replayed with %s caches: %s", exp_cache_state_name(caches_of(j)),
            j->setup->machine.description);
    return exp_replay_all(&j->e, caches_of(j), j->w->options->jobs, j->w->progress, j->why, j->why_bytes);
}

static int print_text(const void *text, FILE *out)
{
    return fputs(text, out) < 0 ? -EIO : 0;
}

static int write_job(struct job *j, const struct exp_paper_source *source, const char *about)
{
    struct exp_outdir dir;
    int err = exp_outdir_open(&dir, j->folder, exp_paper_cases_file.name, j->why, j->why_bytes);

    if (err)
        return err;
    err = exp_paper_cases_write(source, &dir, about, j->why, j->why_bytes);
    if (!err)
        err = exp_outdir_write(&dir, KEY_FILE, print_text, j->key, j->why, j->why_bytes);
    if (!err)
        err = exp_outdir_write(&dir, ABOUT_FILE, print_text, about, j->why, j->why_bytes);
    if (!err)
        err = exp_outdir_commit(&dir, j->why, j->why_bytes);
    if (err)
        exp_outdir_abort(&dir);
    return err;
}

static int make_job(struct job *j)
{
    struct exp_paper_source source = { .e = &j->e, .kind = j->setting->kind, .peak = (double)NAN };
    char about[512] = "";
    int err = j->setting->kind == EXP_PAPER_TIMED ? time_job(j, &source, about, sizeof about)
                                                  : replay_job(j, &source, about, sizeof about);

    return err ? err : write_job(j, &source, about);
}

static int make_if_missing(struct job *j)
{
    bool kept = is_kept(j);
    int err = kept ? 0 : make_job(j);
    char *about = err ? NULL : read_text(j, ABOUT_FILE);

    j->w->n_kept += kept;
    j->w->n_made += !kept && !err;
    if (!err)
        err = exp_paper_cases_read(j->part, j->folder, j->e.model, j->model, j->why, j->why_bytes);
    if (!err && about && !strstr(j->part->about, about)) /* replays of all models are made alike */
        exp_say_more(j->part->about, sizeof j->part->about, "%s%s", *j->part->about ? ". " : "", about);
    free(about);
    return err;
}

static int look_up(struct exp_paper_work *w, char *why, size_t why_bytes)
{
    int err = 0;

    for (size_t s = 0; s < EXP_PAPER_N_SETTINGS && !err; s++) {
        if (exp_paper_settings[s].kind == EXP_PAPER_RECORDED)
            err = exp_paper_recorded_read(&w->part[s], w->options->counts, w->models, why, why_bytes);
        if (exp_paper_settings[s].kind == EXP_PAPER_OBSERVED)
            err = exp_paper_observed_read(&w->part[s], w->options->results, w->models, why, why_bytes);
    }
    return err;
}

int exp_paper_work(struct exp_paper_work *w, char *why, size_t why_bytes)
{
    int err = set_up(w, why, why_bytes);

    if (!err)
        err = look_up(w, why, why_bytes);
    if (!err)
        err = start_progress(w, why, why_bytes);
    if (!err)
        err = for_all(w, make_if_missing, why, why_bytes);
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
