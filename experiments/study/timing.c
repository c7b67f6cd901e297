/* The runs of a sample, timed on this computer. */
#include "experiments/study/study.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "counters/ctr_hostinfo.h"
#include "counters/host/ctr_pin.h"
#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/bench/time/measure.h"
#include "experiments/bench/course/course.h"
#include "kernels/backend/backend.h"
#include "kernels/ukr/dispatch.h"

/* ---- times of layers that were timed before: each layer is a part, named by all that its times depend on ---- */

struct kept_row {
    size_t run;
    double ns, other_ns;
};

static const struct rec_field fields[] = {
    { { "run", "", "of the layer, from 0, in the order of tilings.csv", "" }, REC_AT(struct kept_row, run) },
    { { "time_ns", "ns", "fastest round, caches cold", "clock" }, REC_AT(struct kept_row, ns) },
    { { "median_ns", "ns", "median round", "clock" }, REC_AT(struct kept_row, other_ns) },
};

const struct rec_table exp_study_kept_table = REC_TABLE("times.csv", fields, struct kept_row);

/* A layer's part. */
struct kept {
    char *folder, *key; /* from malloc */
    const char *commit;
    struct exp_study_run *run; /* [n] */
    size_t n;
};

static int print_run(const struct exp_study_run *run, FILE *out)
{
    char text[EXP_PLAN_TEXT_BYTES];
    struct conv_plan plan;
    int err = conv_plan_sconv(&plan, &run->layer->problem, run->ukr, &run->tiling, false);

    if (err)
        return err;
    exp_plan_text(&plan, text);
    fprintf(out, "%s\n", text);
    return 0;
}

static int print_key(const struct exp_study_keeping *keeping, const struct exp_study_runs *r, size_t layer, FILE *out)
{
    const struct exp_study_runs_layer *l = &r->layer[layer];
    const struct exp_rounds *rounds = &keeping->rounds;
    char cpu[256];
    int err;

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    fprintf(out, "commit: %s\ncpu: %s\nrounds: %zu to %zu, %.3f s\nlayer:", keeping->commit, cpu, rounds->least,
            rounds->most, (double)rounds->limit_ns * 1e-9);
    for (size_t f = 0; f < CONV_N_FIELDS; f++)
        fprintf(out, " %zu", conv_field(&l->layer->problem, f));
    fprintf(out, "\n");
    err = sim_machine_print(keeping->machine, out);
    for (size_t i = l->first; i < l->first + l->n && !err; i++)
        err = print_run(&r->run[i], out);
    return err;
}

/* Names a layer's part. Returns 0 or -errno with one line in why; release whatever comes. */
static int kept_name(struct kept *k, const struct exp_study_keeping *keeping, const struct exp_study_runs *r,
                     size_t layer, struct exp_why *why)
{
    const struct exp_study_runs_layer *l = &r->layer[layer];
    size_t bytes;
    FILE *out;
    int err;

    *k = (struct kept){ .commit = keeping->commit, .run = &r->run[l->first], .n = l->n };
    out = exp_memory_open(&k->key, &bytes);
    err = print_key(keeping, r, layer, out);
    fclose(out);
    k->folder = exp_format("%s/host/study/parts/%s-%u", keeping->results, l->model->name, l->layer->index);
    return err ? exp_fail(why, err, "layer '%s': its plans cannot be printed", l->layer->name) : 0;
}

/* Takes a layer's times over, if they are there. Returns whether they are. */
static bool kept_read(const struct kept *k)
{
    char *path = exp_format("%s/%s", k->folder, exp_study_kept_table.file.name);
    struct rec_rows rows = { 0 };
    bool is_there =
        exp_part_is_kept(k->folder, k->commit, k->key) && !rec_read(&rows, &exp_study_kept_table, path, NULL);

    for (size_t i = 0; i < rows.n && is_there; i++) {
        const struct kept_row *row = (const struct kept_row *)rows.row + i;

        is_there = row->run < k->n;
        if (is_there) {
            k->run[row->run].ns = row->ns;
            k->run[row->run].other_ns = row->other_ns;
        }
    }
    rec_release(&rows);
    free(path);
    return is_there;
}

static int write_times(const void *kept, const struct exp_outdir *dir, struct exp_why *why)
{
    const struct kept *k = kept;
    struct exp_csv *csv = exp_csv_begin(dir, &exp_study_kept_table.file, "times of a layer's runs");

    for (size_t i = 0; i < k->n; i++) {
        if (!isnan(k->run[i].ns)) /* else this computer cannot run it */
            rec_put(csv, &exp_study_kept_table, &(struct kept_row){ i, k->run[i].ns, k->run[i].other_ns });
    }
    return exp_csv_close(csv, why);
}

/* ---- timing ---- */

/* Holds what all layers are timed with. */
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

/* Times the runs of a layer, and adds what the ruler found to the report. */
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
        timed[i].run->other_ns = exp_stats_median(sample + i * most, result.n_rounds);
        if (timer->ruler)
            exp_ruler_report_add(report, &timer->ruler->best, mark + i * most, result.n_rounds);
    }
    free(contender);
    free(sample);
    free(mark);
    return err;
}

static int time_layer(const struct kept *k, struct timer *timer, struct exp_ruler_report *report)
{
    struct timed *timed = exp_new(k->n, sizeof *timed);
    size_t n = 0;
    int err = 0;

    for (size_t i = 0; i < k->n && !err; i++) {
        struct exp_study_run *run = &k->run[i];
        struct timed *t = &timed[n];

        if (!conv_ukr_runs(run->ukr))
            continue;
        *t = (struct timed){ .run = run, .cold = &timer->cold };
        n++;
        err = conv_plan_sconv(&t->plan, &run->layer->problem, run->ukr, &run->tiling, false);
        err = err ? err : exp_tensors_init(&t->tensors, &t->plan);
    }
    if (!err && n)
        err = take_turns(timer, timed, n, report);
    for (size_t i = 0; i < n; i++)
        exp_tensors_release(&timed[i].tensors);
    free(timed);
    return err;
}

/* Times a layer, unless its times are kept from an earlier run. What was disturbed is not kept for a later one. */
static int time_or_take(struct exp_study_runs *r, size_t layer, struct timer *timer,
                        const struct exp_study_keeping *keeping, struct exp_study_timed *timed, struct exp_why *why)
{
    struct exp_ruler_report report = { 0 };
    struct kept kept;
    int err = kept_name(&kept, keeping, r, layer, why);

    if (!err && kept_read(&kept)) {
        timed->n_kept++;
    } else if (!err) {
        err = time_layer(&kept, timer, &report);
        if (err)
            exp_fail(why, err, "%s while timing", exp_error_text(err));
        else if (exp_ruler_is_measured(&report))
            err = exp_part_write(kept.folder, exp_study_kept_table.file.name, kept.key, write_times, &kept, why);
    }
    free(kept.folder);
    free(kept.key);
    exp_ruler_report_sum(&timed->ruled, &report);
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
    *timed = (struct exp_study_timed){ 0 };
    each.rounds.limit_ns /= r->n_layers ? r->n_layers : 1;
    ctr_pin(-1, &core, ignored, sizeof ignored);
    if (keeping->ruler_ns && (keeping->new_ruler ? keeping->new_ruler : exp_ruler_new)(&timer.ruler, conv_peak_best()))
        err = exp_fail(why, -ENOMEM, "out of memory while timing");
    exp_ruler_limit(timer.ruler, keeping->ruler_ns);
    for (size_t i = 0; i < r->n_layers && !err; i++) {
        exp_progress_begin(progress, EXP_WORK_ROUNDS, r->layer[i].layer->name, "timing");
        err = time_or_take(r, i, &timer, &each, timed, why);
        exp_progress_step(progress, EXP_WORK_ROUNDS, 1);
    }
    exp_progress_free(progress);
    exp_cold_release(&timer.cold);
    timed->ruled.limit_ended = timer.ruler && timer.ruler->kept.limit_ended;
    exp_ruler_free(timer.ruler);
    return err ? err : refuse_disturbed(&timed->ruled, why);
}
