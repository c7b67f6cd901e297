/*
 * LIFT's question: does a random search of valid points make a direct convolution as fast as a GEMM, in less memory?
 * `lift --help` lists the options; the Makefile passes them on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/course/course.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/course/output.h"
#include "experiments/papers/lift/rank.h"
#include "experiments/papers/lift/study.h"
#include "experiments/show/page.h"

struct options {
    const char *model, *layers, *only, *machine, *store, *results, *commit;
    unsigned points, near, memory, seed, limit, clock, device, threads, replay, jobs, more;
};

struct session {
    struct options options;
    struct exp_model model;
    struct exp_setup setup;
    struct lift_work work;
    struct sim_machine machine;
    struct lift_ranking_work ranking;
    struct exp_results results;
    struct exp_store *store;
    char what[768];
    struct exp_why why;
};

static void describe(struct session *s)
{
    const struct lift_about *a = lift_device_about(s->work.device);

    exp_say(s->work.setting, sizeof s->work.setting, "%s; %s; %s; %u threads; clock %s; limit %u s", a->name,
            a->platform, a->version, s->options.threads, exp_clock_name(s->options.clock), s->options.limit);
    exp_say(s->what, sizeof s->what, "LIFT's points on %s (%s, %s), %u thread%s, clock %s, commit %s", a->name,
            a->platform, a->version, s->options.threads, s->options.threads == 1 ? "" : "s",
            exp_clock_name(s->options.clock), *s->options.commit ? s->options.commit : "unknown");
}

static int prepare(void *session)
{
    struct session *s = session;
    const struct options *o = &s->options;
    int err = exp_main_model(&s->model, o->model, &(struct exp_model_ask){ .layers = o->layers, .batch = 1 }, &s->why);

    s->work = (struct lift_work){ .model = &s->model, .setup = &s->setup };
    s->work.options = (struct lift_options){ o->points, o->near,    o->seed,   o->limit, o->clock,
                                             o->device, o->threads, o->memory, o->only };
    err = err ? err : lift_device_open(&s->work.device, o->device, o->threads, &s->why);
    err = err ? err : exp_machine_find(&s->machine, o->machine, o->results, &s->why);
    err = err ? err : exp_machine_find(&s->setup.machine, "host", o->results, &s->why);
    if (err == -ENOENT && s->machine.n_levels) { /* hwloc shows no cache: plan for MACHINE instead of the host */
        s->setup.machine = s->machine;
        err = 0;
    }
    err = err ? err : exp_setup_init(&s->setup, "", "", &s->why);
    err = err ? err : lift_list(&s->work, EXP_EXPERIMENTS_DIR, &s->why);
    if (!err)
        describe(s);
    return err;
}

static int rank_points(struct session *s)
{
    s->ranking = (struct lift_ranking_work){ .study = &s->work, .machine = &s->machine, .n_threads = s->options.jobs };
    return lift_rank(&s->ranking, &s->why);
}

/* Fails if no layer has a point: with the reason of the first. */
static int check_points(struct session *s)
{
    const struct lift_layer_row *first = &s->work.layer[0];

    return s->work.n_points ? 0 : exp_fail(&s->why, -EINVAL, "%s: %s", first->layer, first->why);
}

static int work(void *session)
{
    struct session *s = session;
    double seconds[EXP_N_WORKS] = { 0 };
    int err = exp_store_asked(&s->store, s->options.store, s->options.results, NULL, &s->why);

    for (size_t i = 0; i < s->work.n_layers; i++)
        seconds[EXP_WORK_ROUNDS] += lift_seconds(&s->work, i);
    if (s->options.replay)
        seconds[EXP_WORK_REPLAY] =
            lift_rank_seconds(s->work.n_layers * (s->options.points + s->options.near)) / s->options.jobs;
    s->work.store = s->store;
    s->work.progress = exp_main_progress(seconds);
    for (size_t i = 0; i < s->work.n_layers && !err; i++)
        err = lift_search(&s->work, i, &s->why);
    err = err ? err : check_points(s);
    if (!err && s->options.replay)
        err = rank_points(s);
    err = err ? err : lift_add_up_memory(&s->work, EXP_EXPERIMENTS_DIR, &s->why);
    exp_progress_free(s->work.progress);
    return err ? err : lift_compare(&s->work, &s->why);
}

/* ---- the results ---- */

/* A layer's best point. */
struct best {
    const struct lift_layer_row *layer;
    struct lift_point point;
    struct lift_program program;
};

/* Prints the text, and before it what a program needs that launches its kernels (kernels/plugin/lift.c). */
static int print_text(const void *best, FILE *out)
{
    const struct best *b = best;
    const struct conv_problem *p = &b->layer->problem;
    const struct lift_program *g = &b->program;
    const uint32_t *v = b->point.value;

    fprintf(out,
            "/* %s of `make lift`: for each band all kernels, with the buffers that they name and the band's number\n",
            b->layer->layer);
    fprintf(out, "layer %zu %zu %zu %zu %zu %zu %zu %zu %zu %zu %zu %zu\n", p->c, p->h, p->w, p->k, p->r, p->s,
            p->stride_h, p->stride_w, p->pad_top, p->pad_left, p->pad_bottom, p->pad_right);
    fprintf(out, "point %s\n", b->layer->best);
    fprintf(out, "filters %u %u %u\n", v[LIFT_KERNELS], v[LIFT_LANES], v[LIFT_VECTOR]);
    fprintf(out, "flags %s\n", g->flags);
    fprintf(out, "bands %zu\n", g->n_bands);
    for (size_t i = LIFT_PADDED; i < LIFT_OUTPUT; i++)
        fprintf(out, "buffer %s %zu\n", lift_roles[i], g->bytes[i]);
    for (size_t i = 0; i < g->n_kernels; i++) {
        const struct lift_kernel *k = &g->kernel[i];

        fprintf(out, "kernel %s %zu %zu %zu %zu", k->name, k->global[0], k->global[1], k->local[0], k->local[1]);
        for (size_t a = 0; a < k->n_args; a++)
            fprintf(out, " %s", lift_roles[k->arg[a]]);
        fputc('\n', out);
    }
    fprintf(out, "*/\n%s", g->text);
    return 0;
}

/* Writes the text of a layer's best point. A slash in the layer's name is '_' in the file's. */
static int write_text(struct session *s, const struct lift_layer_row *l)
{
    char *file = exp_format("%s.cl", l->layer);
    struct best b = { .layer = l };
    int err = lift_point_parse(&b.point, l->best, &s->why);

    for (char *slash = file; (slash = strchr(slash, '/'));)
        *slash = '_';
    if (!err) {
        lift_program_make(&b.program, &l->problem, &b.point);
        err = exp_outdir_write(&s->results.dir, file, print_text, &b, &s->why);
        lift_program_release(&b.program);
    }
    free(file);
    return err;
}

static int write_tables(void *session)
{
    struct session *s = session;
    const struct lift_work *w = &s->work;
    const struct exp_outdir *dir = &s->results.dir;
    int err = rec_write(&lift_layers_table, w->layer, w->n_layers, dir, s->what, &s->why);

    err = err ? err : rec_write(&lift_points_table, w->point, w->n_points, dir, s->what, &s->why);
    err = err ? err : rec_write(&lift_numbers_table, w->claims.claim, w->claims.n, dir, s->what, &s->why);
    err = err ? err : rec_write(&lift_memory_table, w->memory, w->n_memory, dir, s->what, &s->why);
    if (!err && s->options.replay)
        err = rec_write(&lift_replay_table, s->ranking.row, w->n_points, dir, s->what, &s->why);
    if (!err && s->options.replay)
        err = rec_write(&lift_ranks_table, s->ranking.rank, s->ranking.n_ranks, dir, s->what, &s->why);
    for (size_t i = 0; i < w->n_layers && !err; i++)
        err = *w->layer[i].best ? write_text(s, &w->layer[i]) : 0;
    return err;
}

static int print_verdict(const void *session, FILE *out)
{
    const struct session *s = session;
    const int err = lift_verdict_print(&s->work, out);

    return err || !s->options.replay ? err : lift_rank_print(&s->ranking, out);
}

static void say_kept(const void *session, FILE *out)
{
    const struct session *s = session;

    if (s->work.n_stored)
        fprintf(out, "%zu points were in the store\n", s->work.n_stored);
}

static void fill_screen(const void *session, struct exp_screen *screen)
{
    const struct session *s = session;

    lift_screen(&s->work, screen);
    exp_screen_open(screen, "%s/report.html", s->results.path);
    exp_screen_next(screen, "make lift LAYERS='*' POINTS=1000", "all nine layers, for hours");
    exp_screen_next(screen, "MORE=1 behind this command", "everything: " EXP_OUTPUT_FILE);
}

static void release(void *session)
{
    struct session *s = session;

    lift_device_close(s->work.device);
    lift_rank_release(&s->ranking);
    lift_work_release(&s->work);
    exp_setup_release(&s->setup);
    exp_model_release(&s->model);
    exp_store_close(s->store);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_NAMES("MODEL", "network whose layers are searched: a name, a layer table or an .onnx file (default vgg16)",
              model, "vgg16"),
    EXP_TEXT("LAYERS", "its layers, as comma-separated patterns (default conv1_2, the paper's layer 2); '*': all",
             layers, "conv1_2"),
    EXP_NUMBER("POINTS", "random points of each layer (default 80; the paper: 1000)", points, 80, 1, 100000),
    EXP_NUMBER("NEAR", "points that are then drawn near the best one so far (default 40)", near, 40, 0, 100000),
    EXP_TEXT(
        "ONLY",
        "values that parameters may have, such as ONLY='lanes=8,windows=4+6' (columns of points.csv); others are free",
        only, ""),
    EXP_NUMBER("MEMORY",
               "most memory of a point, in percent of input, filters and output (default 140); 0: all that the device "
               "has",
               memory, 140, 0, 1000000),
    EXP_NUMBER("SEED", "of the random points (default 1)", seed, 1, 0, 1000000),
    EXP_NUMBER("DEVICE", "OpenCL device, as clinfo lists them (default 0, the first)", device, 0, 0, 1000),
    EXP_NUMBER("THREADS", "of a CPU device (default 1); 0: its own choice", threads, 1, 0, 4096),
    EXP_NUMBER("LIMIT", "seconds that a point may take, with its compilation (default 60)", limit, 60, 1, 100000),
    EXP_CLOCK_OPTION,
    EXP_WORD("REPLAY", "1 (default): replay all points, and rank them by that; 0: not", replay, 1, "0", "1"),
    EXP_MACHINE_OPTION,
    EXP_REPLAY_JOBS_OPTION,
    EXP_STORE_OPTION,
    EXP_MORE_OPTION,
    EXP_FOLDER("RESULTS", "folder for results (default results); this goes to RESULTS/host/lift/", results, "results"),
    EXP_COMMIT_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_lift = {
    .name = "lift",
    .asks = "LIFT's direct convolutions in OpenCL: random valid points, against a GEMM",
    .wants = { "papers: search OpenCL kernels that need less memory than a GEMM|make lift" },
    .takes = "Five minutes on an idle computer; all nine layers with 1,000 points hours, and what was stopped goes on.",
    .examples = { "make lift LAYERS='*' POINTS=1000", "make lift LAYERS=conv5_1 ONLY='lanes=8,windows=7'" },
    .libraries = "blas",
    .installs = "opencl",
    .keeps = true,
    .figures = { "lift_front", "lift_layers", "lift_memory", "lift_ranks" },
    .options = options,
    .place = &(const struct exp_results_layout){ "/lift", false, "layers.csv", NULL },
    .chapter = { "points.csv", "direct convolutions in OpenCL", NULL },
    EXP_SESSION(struct session),
    EXP_RESULTS(struct session),
    .tables = { &lift_layers_table, &lift_points_table, &lift_numbers_table, &lift_memory_table, &lift_replay_table,
                &lift_ranks_table },
    .about_tables = "Times are of the device that the first line names, with one thread unless THREADS says otherwise.",
    .prepare = prepare,
    .work = work,
    .write = write_tables,
    .verdict = print_verdict,
    .add_page = exp_page_add,
    .say_kept = say_kept,
    .screen = fill_screen,
    .release = release,
};
