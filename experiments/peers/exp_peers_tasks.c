#include "experiments/peers/exp_peers_tasks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"
#include "experiments/base/exp_text.h"

/* ---- what a task is ---- */

/* Returns a network's layers, from malloc; NULL when out of memory. */
static char *layers_of(const struct exp_model *model)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    for (size_t i = 0; i < model->n_layers && out; i++) {
        const struct conv_problem *p = &model->layer[i].problem;

        fprintf(out, "%s%s:", i ? "\n" : "", model->layer[i].name);
#define FIELD(member, sconv_member, name, ...) fprintf(out, " %s=%zu", name, p->member);
#include "kernels/shape/problem_fields.def"
    }
    if (out && !fclose(out))
        return text;
    free(text);
    return NULL;
}

int exp_peers_tasks_list(struct exp_peers_tasks *t, const char *setting, struct exp_why *why)
{
    const size_t n = t->models->n;
    uint64_t hash = 0;
    int err = exp_hash_file(&hash, "/proc/self/exe");

    if (err)
        return exp_fail(why, err, "cannot read this program: %s", strerror(-err));
    t->setting = exp_format("%s", setting);
    t->program = exp_format("peers %016" PRIx64, hash);
    t->task = calloc(n, sizeof *t->task);
    t->first = calloc(n + 1, sizeof *t->first);
    t->kept = calloc(n, sizeof *t->kept);
    t->is_new = calloc(n, sizeof *t->is_new);
    if (!t->setting || !t->program || !t->task || !t->first || !t->kept || !t->is_new)
        return exp_fail(why, -ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        const struct exp_model *model = &t->models->model[i];

        err = exp_peers_check(&t->of, model, why);
        if (err)
            return err;
        t->first[i + 1] = i + 1;
        t->task[i] = (struct exp_task){ "time", model->name, layers_of(model), t->setting, t->program };
        if (!t->task[i].what)
            return exp_fail(why, -ENOMEM, "out of memory");
    }
    return 0;
}

void exp_peers_tasks_release(struct exp_peers_tasks *t)
{
    for (size_t i = 0; i < t->models->n && t->task && t->kept; i++) {
        free((char *)t->task[i].what);
        exp_result_release(&t->kept[i]);
    }
    free(t->task);
    free(t->first);
    free(t->kept);
    free(t->is_new);
    free(t->setting);
    free(t->program);
}

/* ---- work ---- */

static double seconds_of(const struct exp_peers_tasks *t, enum exp_work work, size_t i)
{
    double macs = 0;

    for (size_t l = 0; l < t->models->model[i].n_layers; l++)
        macs += conv_macs(&t->models->model[i].layer[l].problem);
    return exp_peers_seconds(work, macs, t->times);
}

static double seconds(void *ctx, size_t job)
{
    return seconds_of(ctx, EXP_WORK_ROUNDS, job);
}

/* One network's tensors are in memory at a time. */
static int run(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why)
{
    struct exp_peers_tasks *t = ctx;
    struct exp_peers p = t->of;
    struct exp_peers_origin origin = t->here;
    int err = exp_peers_open(&p, &t->models->model[job], why);

    (void)pool;
    if (err)
        return err;
    if (t->times->rounds.limit_ns)
        exp_progress_limit(t->progress, EXP_WORK_ROUNDS,
                           (double)(t->models->n - job) * (double)t->times->rounds.limit_ns * 1e-9);
    err = exp_peers_verify(&p, t->progress, why);
    if (!err)
        err = exp_peers_measure(&p, t->times, t->progress, why);
    origin.at = (uint64_t)time(NULL);
    if (!err)
        exp_peers_keep(result, &p, &origin);
    t->is_new[job] = !err;
    exp_peers_close(&p);
    return err;
}

static int take(void *ctx, size_t task, const struct exp_result *r)
{
    struct exp_peers_tasks *t = ctx;

    for (size_t i = 0; i < r->n; i++)
        exp_result_put(&t->kept[task], r->name[i], r->value[i]);
    if (!t->is_new[task] && t->progress) {
        exp_progress_drop(t->progress, EXP_WORK_VERIFY, seconds_of(t, EXP_WORK_VERIFY, task));
        exp_progress_drop(t->progress, EXP_WORK_PHASES, seconds_of(t, EXP_WORK_PHASES, task));
    }
    return t->kept[task].err;
}

struct exp_tasks exp_peers_tasks(struct exp_peers_tasks *t)
{
    return (struct exp_tasks){ .task = t->task,
                               .first = t->first,
                               .n_jobs = t->models->n,
                               .work = EXP_WORK_ROUNDS,
                               .doing = "timing",
                               .reports_itself = true,
                               .run = run,
                               .take = take,
                               .seconds = seconds,
                               .ctx = t };
}

/* ---- results ---- */

static int report_one(const struct exp_peers_tasks *t, size_t i, struct exp_peers_report *r, struct exp_why *why)
{
    struct exp_peers p = t->of;
    struct exp_peers_origin o;
    int err = exp_peers_plan(&p, &t->models->model[i], why);

    if (!err) {
        err = exp_peers_recall(&t->kept[i], &p, &o);
        if (err)
            exp_fail(why, err, "%s: its times cannot be read back: %s", t->task[i].name, strerror(-err));
    }
    if (!err)
        err = exp_peers_report_add(r, &p, why);
    exp_peers_close(&p);
    return err;
}

int exp_peers_tasks_report(const struct exp_peers_tasks *t, struct exp_peers_report *r, struct exp_why *why)
{
    int err = 0;

    for (size_t i = 0; i < t->models->n && !err; i++)
        err = report_one(t, i, r, why);
    return err;
}

void exp_peers_tasks_say_kept(const struct exp_peers_tasks *t, FILE *out)
{
    for (size_t i = 0; i < t->models->n; i++) {
        struct exp_peers none = { .n_layers = 0 };
        struct exp_peers_origin o = { .at = 0 };
        time_t at;
        char date[32] = "";

        if (t->is_new[i])
            continue;
        exp_peers_recall(&t->kept[i], &none, &o); /* of no layer: only where it is from */
        at = (time_t)o.at;
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", gmtime(&at));
        fprintf(out, "%s was timed by another process, %s, on core %" PRIu64 " of %s\n", t->task[i].name, date, o.core,
                o.on);
    }
}
