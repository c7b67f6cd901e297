#include "experiments/judge/exp_judge_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/judge/exp_judge_files.h"

int exp_judge_report_open(struct exp_judge_report *r, const struct exp_outdir *dir, const char *experiments_dir,
                          const char *what, struct exp_why *why)
{
    int err = exp_published_read(&r->published, experiments_dir, why);

    r->dir = dir;
    r->experiments_dir = experiments_dir;
    return err ? err : exp_csv_create(&r->layers, dir, &exp_judge_layers_table.file, what, why);
}

void exp_judge_report_release(struct exp_judge_report *r)
{
    exp_csv_close(r->layers, NULL);
    exp_published_release(&r->published);
    free(r->model);
    free(r->verdict);
    *r = (struct exp_judge_report){ 0 };
}

/* ---- one model ---- */

/* Makes room for one more element of an array that grows. */
static int grow(void **array, size_t n, size_t *max, size_t element_bytes, struct exp_why *why)
{
    size_t more = *max ? 2 * *max : 16;
    void *larger;

    if (n < *max)
        return 0;
    larger = realloc(*array, more * element_bytes);
    if (!larger)
        return exp_fail(why, -ENOMEM, "out of memory");
    *array = larger;
    *max = more;
    return 0;
}

/* Appends a model without layers. */
static int add_model(struct exp_judge_report *r, const char *name, struct exp_why *why)
{
    void *model = r->model;
    int err = grow(&model, r->n_models, &r->max_models, sizeof *r->model, why);

    r->model = model;
    if (!err)
        r->model[r->n_models++] = (struct exp_judge_model){ .name = name };
    return err;
}

/* Judges one layer, with its times if there are any. */
static int add_layer(struct exp_judge_report *r, const struct exp_experiment *e, size_t layer,
                     const struct rec_rows *times, enum exp_cache_state caches, struct exp_why *why)
{
    void *verdict = r->verdict;
    int err = grow(&verdict, r->n_verdicts, &r->max_verdicts, sizeof *r->verdict, why);
    struct exp_judgement *v;

    r->verdict = verdict;
    if (err)
        return err;
    v = &r->verdict[r->n_verdicts++];
    exp_judge(v, e, layer);
    exp_judge_look_up(v, e, layer, times, caches);
    return 0;
}

/* Sums up the layers that a model has, from first_verdict on. */
static int sum_up(struct exp_judge_report *r, struct exp_judge_model *model, struct exp_why *why)
{
    const struct exp_judgement *v = &r->verdict[model->first_verdict];
    int err;

    model->n_verdicts = r->n_verdicts - model->first_verdict;
    for (size_t i = 0; i < model->n_verdicts; i++)
        exp_judge_add(&model->total, &v[i]);
    err = exp_judge_clock_of(&model->clock, v, model->n_verdicts);
    if (!err && model->clock.n_timed < model->n_verdicts && !*model->why_not_timed)
        exp_say(model->why_not_timed, sizeof model->why_not_timed,
                "make experiment left no times for %zu of %zu layers with this machine's caches and micro-kernel",
                model->n_verdicts - model->clock.n_timed, model->n_verdicts);
    return err ? exp_fail(why, err, "out of memory") : 0;
}

int exp_judge_report_model(struct exp_judge_report *r, const struct exp_experiment *e, enum exp_cache_state caches,
                           const char *times_path, const char *why_no_times, struct exp_why *why)
{
    struct rec_rows times = { 0 };
    int err = add_model(r, e->model->name, why);
    struct exp_judge_model *model = err ? NULL : &r->model[r->n_models - 1];
    struct exp_why unread = { "" };

    if (err)
        return err;
    model->first_verdict = r->n_verdicts;
    if (times_path)
        exp_judge_measured_read(&times, times_path, &unread);
    exp_say(model->why_not_timed, sizeof model->why_not_timed, "%s", times_path ? unread.text : why_no_times);
    for (size_t l = 0; l < e->model->n_layers && !err; l++)
        err = add_layer(r, e, l, &times, caches, why);
    rec_release(&times);
    if (!err)
        err = sum_up(r, model, why);
    if (err)
        return err;
    for (size_t i = 0; i < model->n_verdicts; i++)
        exp_judge_put_layer(r, model, &r->verdict[model->first_verdict + i]);
    model->speedup = model->total.base.total_cycles / model->total.chosen.total_cycles;
    model->issue_speedup = model->total.base.issue_cycles / model->total.chosen.issue_cycles;
    return 0;
}

/* ---- all models ---- */

/* Adds the model "all", with geometric means of the models' speed-ups, as the paper's Table 2 has them. */
static int add_all(struct exp_judge_report *r, struct exp_why *why)
{
    double logs = 0, issue_logs = 0;
    size_t n = r->n_models;
    int err = add_model(r, "all", why);

    if (err)
        return err;
    if (!r->model[0].clock.n_timed)
        memcpy(r->model[n].why_not_timed, r->model[0].why_not_timed, sizeof r->model[n].why_not_timed);
    err = sum_up(r, &r->model[n], why);
    for (size_t i = 0; i < n && !err; i++) {
        logs += log(r->model[i].speedup);
        issue_logs += log(r->model[i].issue_speedup);
    }
    r->model[n].speedup = exp(logs / (double)n);
    r->model[n].issue_speedup = exp(issue_logs / (double)n);
    return err;
}

int exp_judge_report_finish(struct exp_judge_report *r, const char *what, struct exp_why *why)
{
    int err = add_all(r, why);

    if (!err)
        err = exp_judge_write_models(r, what, why);
    if (!err)
        err = exp_judge_write_ratios(r, what, why);
    if (!err)
        err = exp_judge_write_speedups(r, what, why);
    if (err)
        return err;
    err = exp_csv_close(r->layers, why);
    r->layers = NULL;
    return err;
}

void exp_judge_report_document(FILE *out)
{
    const struct rec_table *const tables[] = { &exp_judge_layers_table, &exp_judge_models_table,
                                               &exp_judge_ratios_table, &exp_judge_speedups_table };

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        exp_csv_document(&tables[i]->file, out);
}
