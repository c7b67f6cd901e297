#include "experiments/paper/exp_paper_job.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "counters/group/ctr_cpu.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/base/exp_text.h"
#include "experiments/observe/exp_observe.h"
#include "experiments/setup/exp_case.h"
#include "experiments/setup/exp_results.h"

enum exp_cache_state exp_paper_job_caches(const struct exp_paper_job *j)
{
    return j->setting->kind == EXP_PAPER_TIMED ? (enum exp_cache_state)j->w->options->cache : j->setting->cache;
}

static void print_case(const struct exp_case *c, FILE *out)
{
    char plan[EXP_PLAN_TEXT_BYTES];

    exp_plan_text(&c->plan, plan);
    fprintf(out, "%u", c->layer->index);
    for (size_t f = 0; f < CONV_N_FIELDS; f++)
        fprintf(out, " %zu", conv_field(&c->layer->problem, f));
    fprintf(out, " %s: %s\n", c->algo->name, plan);
}

/* Prints what times depend on beside the plans. */
static void print_timing(const struct exp_paper_job *j, FILE *out)
{
    const struct exp_rounds r = exp_paper_rounds_asked(j->w->options);
    char cpu[256];

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    fprintf(out, "cpu: %s\nrounds: %zu to %zu, %.0f s\nclock: %s\nOpenBLAS: %s\n", cpu, r.least, r.most,
            (double)r.limit_ns * 1e-9, exp_clock_name(j->w->options->clock),
            j->setup->blas.handle ? j->setup->blas.config : j->setup->why_no_blas);
}

static void print_observing(const struct exp_paper_job *j, FILE *out)
{
    const struct exp_paper_options *o = j->w->options;

    fprintf(out, "observed: %s, %u s\n", o->observe == EXP_OBSERVE_AUTO ? "within the time" : "each shape",
            o->observe_limit);
}

static int print_key(const struct exp_paper_job *j, FILE *out)
{
    int err;

    fprintf(out, "commit: %s\ncaches: %s\n", j->w->options->commit, exp_cache_state_name(exp_paper_job_caches(j)));
    if (j->setting->kind == EXP_PAPER_TIMED)
        print_timing(j, out);
    if (j->setting->kind == EXP_PAPER_OBSERVED)
        print_observing(j, out);
    err = sim_machine_print(&j->setup->machine, out);
    for (size_t i = 0; i < j->e.n_cases; i++)
        print_case(&j->e.cases[i], out);
    return err;
}

/* Tells the parts of one machine apart. */
static const char *how_of(const struct exp_paper_job *j)
{
    return j->setting->kind == EXP_PAPER_OBSERVED ? "observed" : exp_cache_state_name(exp_paper_job_caches(j));
}

int exp_paper_job_key(struct exp_paper_job *j)
{
    size_t bytes = 0;
    FILE *out = exp_memory_open(&j->key, &bytes);
    char *name = exp_results_name(j->w->options->model, j->w->options->layers, j->e.model, 1);
    int err = out ? print_key(j, out) : -ENOMEM;

    if (out && fclose(out))
        err = -ENOMEM;
    j->folder =
        name ? exp_format("%s/%s/paper/parts/%s-%s", j->w->options->results, j->setup->machine.name, how_of(j), name)
             : NULL;
    free(name);
    return err || !j->folder ? exp_fail(j->why, -ENOMEM, "out of memory") : 0;
}

bool exp_paper_job_is_kept(const struct exp_paper_job *j)
{
    return exp_part_is_kept(j->folder, j->w->options->commit, j->key);
}

void exp_paper_job_release(struct exp_paper_job *j)
{
    exp_experiment_release(&j->e);
    free(j->info);
    if (j->observed)
        exp_observe_release(j->observed);
    free(j->observed);
    free(j->folder);
    free(j->key);
}

/* ---- making it ---- */

struct exp_measure_options exp_paper_job_measuring(const struct exp_paper_job *j)
{
    const struct exp_paper_options *o = j->w->options;

    return (struct exp_measure_options){
        .rounds = exp_paper_rounds_asked(o),
        .n_threads = o->jobs,
        .cache = exp_paper_job_caches(j),
        .ruler_ns = exp_ruler_limit_ns(o->ruler, o->limit),
        .now_ns = exp_clock_of(o->clock),
        .groups_dir = CTR_GROUPS_DIR,
    };
}

int exp_paper_job_plan_observing(struct exp_paper_job *j)
{
    const struct exp_paper_options *o = j->w->options;
    unsigned algos;
    int err = exp_algo_select(j->setting->algos, &algos, j->why);

    j->observed = calloc(1, sizeof *j->observed);
    if (!err && !j->observed)
        err = exp_fail(j->why, -ENOMEM, "out of memory");
    return err ? err
               : exp_observe_plan(j->observed, j->setup, j->e.model, algos, (enum exp_observe_mode)o->observe, *o->twin,
                                  j->why);
}

/* The higher of two samples of the core's peak, as multiply-adds per ns. */
static double peak_of(const struct exp_disturbance *d)
{
    return fmax(d->peak_before, d->peak_after) / 2;
}

static int time_job(struct exp_paper_job *j, struct exp_paper_source *source, char *about, size_t bytes)
{
    const struct exp_measure_options o = exp_paper_job_measuring(j);
    char disturbance[320], ruled[160];
    int err = exp_verify_all(&j->e, &o, j->w->progress, j->why);

    j->info = calloc(1, sizeof *j->info);
    if (!err && !j->info)
        err = exp_fail(j->why, -ENOMEM, "out of memory");
    if (!err)
        err = exp_measure_all(&j->e, &o, j->info, j->w->progress, j->why);
    if (err)
        return err;
    exp_disturbance_describe(&j->info->disturbance, disturbance, sizeof disturbance);
    source->peak = peak_of(&j->info->disturbance);
    exp_ruler_say(&j->info->ruler, ruled, sizeof ruled);
    exp_say(about, bytes, "%s: %zu rounds: %s; %s; %s", j->e.model->name, j->info->n_rounds, exp_end_text(j->info->end),
            ruled, disturbance);
    return 0;
}

static int observe_job(struct exp_paper_job *j, struct exp_paper_source *source, char *about, size_t bytes)
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
    int err = exp_paper_job_plan_observing(j);

    (void)source;
    if (!err)
        err = exp_observe_all(j->observed, &o, j->w->progress, j->why);
    if (err)
        return err;
    exp_observe_share(j->observed, &j->e);
    exp_observe_sum_up(j->observed, in_short, sizeof in_short);
    exp_say(about, bytes, "%s: %s", j->e.model->name, in_short);
    return 0;
}

static int print_text(const void *text, FILE *out)
{
    return fputs(text, out) < 0 ? -EIO : 0;
}

struct made {
    const struct exp_paper_source *source;
    const char *about;
};

static int write_made(const void *ctx, const struct exp_outdir *dir, struct exp_why *why)
{
    const struct made *made = ctx;
    int err = exp_paper_cases_write(made->source, dir, made->about, why);

    return err ? err : exp_outdir_write(dir, EXP_PAPER_ABOUT_FILE, print_text, made->about, why);
}

static int write_job(struct exp_paper_job *j, const struct exp_paper_source *source, const char *about)
{
    const struct made made = { source, about };

    return exp_part_write(j->folder, exp_paper_cases_table.file.name, j->key, write_made, &made, j->why);
}

int exp_paper_job_make(struct exp_paper_job *j)
{
    struct exp_paper_source source = { .e = &j->e, .kind = j->setting->kind, .peak = (double)NAN };
    char about[768] = "";
    int (*const make[])(struct exp_paper_job *, struct exp_paper_source *, char *, size_t) = {
        [EXP_PAPER_TIMED] = time_job,
        [EXP_PAPER_OBSERVED] = observe_job,
    };
    int err = make[j->setting->kind](j, &source, about, sizeof about);

    return err ? err : write_job(j, &source, about);
}

int exp_paper_job_write_replay(struct exp_paper_job *j)
{
    const struct exp_paper_source source = { .e = &j->e, .kind = j->setting->kind, .peak = (double)NAN };
    char about[768];

    exp_say(about, sizeof about, "replayed with %s caches: %s", exp_cache_state_name(exp_paper_job_caches(j)),
            j->setup->machine.description);
    return write_job(j, &source, about);
}
