#include "experiments/paper/exp_paper_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_text.h"
#include "experiments/setup/exp_part.h"
#include "experiments/setup/exp_plan_text.h"
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
