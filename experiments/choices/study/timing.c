/* The runs of a sample, timed on this computer. */
#include "experiments/choices/study/study.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "counters/ctr_hostinfo.h"
#include "counters/host/ctr_pin.h"
#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/base/tasks.h"
#include "experiments/bench/time/measure.h"
#include "experiments/bench/course/course.h"
#include "kernels/backend/backend.h"
#include "kernels/ukr/dispatch.h"

/* ---- a layer's times, kept as a task of the store ---- */

static char *what_of(const struct exp_study_runs *r, const struct exp_study_runs_layer *l)
{
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    exp_problem_print(&l->layer->problem, out);
    for (const struct exp_study_run *run = &r->run[l->first]; run < &r->run[l->first + l->n]; run++)
        fprintf(out, "; %s %s %zu %zu %zu", run->ukr->name, csa_schedule_name(run->tiling.schedule), run->tiling.n_c,
                run->tiling.k2, run->tiling.k3);
    fclose(out);
    return text;
}

/* Prints everything that the times of all layers depend on. */
static char *setting_of(const struct exp_study_keeping *keeping)
{
    const struct exp_rounds *rounds = &keeping->rounds;
    char cpu[256], *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    fprintf(out, "cpu: %s\nrounds: %zu to %zu, %.3f s\n", cpu, rounds->least, rounds->most,
            (double)rounds->limit_ns * 1e-9);
    sim_machine_print(keeping->machine, out);
    fclose(out);
    return text;
}

/* Moves the times of runs to a result or from a result. Twice the median is a whole number of ns. */
static void move_times(struct exp_result_moving *x, struct exp_study_run *run, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t ns = x->to && !isnan(run[i].ns) ? (uint64_t)run[i].ns : 0; /* 0: not run on this computer */
        uint64_t half_ns = ns ? (uint64_t)(2 * run[i].median_ns) : 0;
        char name[48];

        exp_say(name, sizeof name, "%zu fastest_ns", i);
        exp_result_move(x, name, &ns);
        exp_say(name, sizeof name, "%zu median_half_ns", i);
        exp_result_move(x, name, &half_ns);
        if (ns) {
            run[i].ns = (double)ns;
            run[i].median_ns = (double)half_ns / 2;
        }
    }
}

/* ---- timing ---- */

/* Rounds, cold caches and ruler of all layers. */
struct timer {
    const struct exp_rounds *rounds;
    struct exp_cold cold;
    struct exp_ruler *ruler; /* NULL: none */
};

/* A run that is being timed. */
struct timed {
    struct exp_study_run *run;
    struct exp_cold *cold;
    struct conv_plan plan;
    struct exp_tensors tensors;
};

static int execute(void *ctx)
{
    struct timed *t = ctx;
    struct conv_exec exec;

    conv_exec_init(&exec, &t->plan, &t->tensors.bind);
    return conv_nest_run(&t->plan, &exec.base);
}

static int empty(void *ctx)
{
    struct timed *t = ctx;

    exp_cold_empty(t->cold, &t->plan, &t->tensors);
    return 0;
}

/* Times the runs of a layer, and adds the ruler's findings to the report. */
static int take_turns(struct timer *timer, struct timed *timed, size_t n, struct exp_ruler_report *report)
{
    const size_t most = timer->rounds->most;
    const struct exp_watch watch = exp_ruler_watch(timer->ruler);
    struct exp_contender *contender = exp_new(n, sizeof *contender);
    uint64_t *sample = exp_new(n * most, sizeof *sample);
    struct exp_mark *mark = exp_new(n * most, sizeof *mark);
    struct exp_bench protocol = { .n_warmups = 1,
                                  .rounds = *timer->rounds,
                                  .now_ns = ctr_thread_ns,
                                  .wall_ns = ctr_now_ns,
                                  .interrupted = exp_interrupted,
                                  .watch = timer->ruler ? &watch : NULL,
                                  .mark = mark };
    struct exp_bench_result result;
    int err;

    for (size_t i = 0; i < n; i++)
        contender[i] = (struct exp_contender){ timed[i].run->layer->name, execute, empty, &timed[i] };
    err = exp_bench_run(&protocol, contender, n, sample, &result);
    for (size_t i = 0; i < n && !err; i++) {
        timed[i].run->ns = (double)exp_stats_min(sample + i * most, result.n_rounds);
        timed[i].run->median_ns = exp_stats_median(sample + i * most, result.n_rounds);
        if (timer->ruler)
            exp_ruler_report_add(report, &timer->ruler->best, mark + i * most, result.n_rounds);
    }
    free(contender);
    free(sample);
    free(mark);
    return err;
}

static int time_layer(struct exp_study_run *run, size_t n_runs, struct timer *timer, struct exp_ruler_report *report)
{
    struct timed *timed = exp_new(n_runs, sizeof *timed);
    size_t n = 0;
    int err = 0;

    for (size_t i = 0; i < n_runs && !err; i++) {
        struct timed *t = &timed[n];

        if (!conv_ukr_runs(run[i].ukr))
            continue;
        *t = (struct timed){ .run = &run[i], .cold = &timer->cold };
        n++;
        err = conv_plan_sconv(&t->plan, &run[i].layer->problem, run[i].ukr, &run[i].tiling, false);
        err = err ? err : exp_tensors_init(&t->tensors, &t->plan);
    }
    if (!err && n)
        err = take_turns(timer, timed, n, report);
    for (size_t i = 0; i < n; i++)
        exp_tensors_release(&timed[i].tensors);
    free(timed);
    return err;
}

/* Times a layer, and keeps the times unless the ruler says "disturbed". */
static int time_and_keep(struct exp_study_run *run, size_t n, struct timer *timer, struct exp_store *store,
                         const struct exp_task *task, struct exp_study_timed *timed, struct exp_why *why)
{
    const uint64_t begin = ctr_now_ns();
    struct exp_ruler_report report = { 0 };
    struct exp_result result = { 0 };
    int err = time_layer(run, n, timer, &report);

    if (err) {
        exp_fail(why, err, "%s while timing", exp_error_text(err));
    } else if (exp_ruler_is_measured(&report)) {
        move_times(&(struct exp_result_moving){ .to = &result }, run, n);
        err = exp_tasks_keep(store, task, &result, (double)(ctr_now_ns() - begin) * 1e-9, why);
    }
    exp_result_release(&result);
    exp_ruler_report_sum(&timed->ruled, &report);
    return err;
}

/* Takes the times of a layer from the store, or times the layer. */
static int time_or_take(struct exp_study_runs *r, const struct exp_study_runs_layer *l, struct timer *timer,
                        const struct exp_study_keeping *keeping, struct exp_study_timed *timed, struct exp_why *why)
{
    struct exp_study_run *run = &r->run[l->first];
    char *what = what_of(r, l), *setting = setting_of(keeping);
    const struct exp_task task = { "time", l->layer->name, what, setting, keeping->commit };
    struct exp_result kept;
    int err = exp_tasks_find(keeping->store, &task, &kept, why);

    if (!err) {
        move_times(&(struct exp_result_moving){ .from = &kept }, run, l->n);
        timed->n_kept++;
    } else if (err == -ENOENT) {
        err = time_and_keep(run, l->n, timer, keeping->store, &task, timed, why);
    }
    exp_result_release(&kept);
    free(what);
    free(setting);
    return err;
}

static int refuse_disturbed(const struct exp_ruler_report *report, struct exp_why *why)
{
    char said[160];

    if (exp_ruler_is_measured(report))
        return 0;
    exp_ruler_say(report, said, sizeof said);
    return exp_fail(
        why, -EAGAIN,
        "not measured: disturbed: %s (undisturbed layers are kept for the next run; RULER=0 takes times as they come)",
        said);
}

int exp_study_time_runs(struct exp_study_runs *r, const struct exp_setup *setup,
                        const struct exp_study_keeping *keeping, struct exp_study_timed *timed, struct exp_why *why)
{
    double seconds[EXP_N_WORKS] = { [EXP_WORK_ROUNDS] = (double)r->n_layers };
    struct exp_study_keeping each = *keeping;
    struct exp_progress *progress = exp_main_progress(seconds);
    struct timer timer = { .rounds = &each.rounds };
    char ignored[256];
    int err = 0, core;

    exp_cold_init(&timer.cold, setup);
    assert(keeping->commit && keeping->machine);
    *timed = (struct exp_study_timed){ 0 };
    each.rounds.limit_ns /= r->n_layers ? r->n_layers : 1;
    ctr_pin(-1, &core, SIM_WHY(ignored));
    if (keeping->ruler_ns && (keeping->new_ruler ? keeping->new_ruler : exp_ruler_new)(&timer.ruler, conv_peak_best()))
        err = exp_fail(why, -ENOMEM, "out of memory while timing");
    exp_ruler_limit(timer.ruler, keeping->ruler_ns);
    for (size_t i = 0; i < r->n_layers && !err; i++) {
        exp_progress_begin(progress, EXP_WORK_ROUNDS, r->layer[i].layer->name, "timing");
        err = time_or_take(r, &r->layer[i], &timer, &each, timed, why);
        exp_progress_step(progress, EXP_WORK_ROUNDS, 1);
    }
    exp_progress_free(progress);
    exp_cold_release(&timer.cold);
    timed->ruled.limit_ended = timer.ruler && timer.ruler->kept.limit_ended;
    exp_ruler_free(timer.ruler);
    return err ? err : refuse_disturbed(&timed->ruled, why);
}
