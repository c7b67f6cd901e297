/*
 * PolyDL's question: which order of loops, and which tiles? Every variant of every layer is timed and simulated.
 * `polydl --help` lists the options; the Makefile passes them on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/bench/course/course.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/course/output.h"
#include "experiments/papers/polydl/report.h"
#include "experiments/papers/polydl/time/time.h"
#include "kernels/ukr/dispatch.h"

#define XSMM "libxsmm"

struct options {
    const char *model, *layers, *variants, *machine, *ukr, *store, *results, *commit;
    unsigned timing, threads, budget, refine, batch, ruler, jobs, more;
};

struct session {
    struct options options;
    struct exp_models models;
    struct sim_machine machine;
    struct exp_setup here;     /* of runs on this computer */
    struct exp_setup replayed; /* of SConv on the simulated machine */
    struct exp_dnnl *dnnl;
    const struct conv_small *small;
    struct exp_polydl_timing timing;
    struct exp_polydl polydl;
    struct exp_rank rank;
    struct exp_fused fused;
    struct exp_results results;
    struct exp_store *store;
    struct exp_tasks_counts timed, simulated, fused_timed, fused_simulated;
    char untimed[256]; /* why nothing is timed; "" */
    struct exp_why no_dnnl;
    char what[768];
    struct exp_why why;
};

/* ---- preparation ---- */

/* Chooses the micro-kernel: UKR's, the machine's, or the widest here. */
static int choose_kernel(struct session *s)
{
    const char *name = s->options.ukr;
    const struct conv_ukr *hint = conv_ukr_find(s->machine.ukr);
    enum cpu_isa isa;

    s->small = hint ? conv_small_of(hint->isa) : conv_small_best();
    s->timing.uses_xsmm = !strcmp(name, XSMM);
    if (s->timing.uses_xsmm && exp_xsmm_missing())
        return exp_fail(&s->why, -ENOENT, "UKR=%s: %s", name, exp_xsmm_missing());
    if (!*name || s->timing.uses_xsmm)
        return 0;
    if (!sim_cpu_isa_find(name, &isa) || conv_small_of(isa)->isa != isa)
        return exp_fail(&s->why, -EINVAL, "UKR: must be ref, avx2, avx512 or " XSMM ", not '%s'", name);
    s->small = conv_small_of(isa);
    return 0;
}

static void look_here(struct session *s)
{
    struct exp_why why;

    if (!s->options.timing)
        exp_say(s->untimed, sizeof s->untimed, "TIMING=0");
    else if (exp_machine_why_not_here(&s->machine, &why))
        exp_say(s->untimed, sizeof s->untimed, "this computer is not %s: %s", s->machine.name, why.text);
    else if (!conv_small_runs(s->small))
        exp_say(s->untimed, sizeof s->untimed, "this computer cannot execute %s", s->small->name);
}

/* Loads all that is timed beside the variants. */
static int prepare_timing(struct session *s)
{
    int err = exp_machine_find(&s->here.machine, "host", s->options.results, &s->why);

    if (!err)
        err = exp_setup_init(&s->here, "", "", &s->why);
    if (!err && exp_dnnl_load(&s->dnnl, &s->no_dnnl))
        s->dnnl = NULL;
    s->timing = (struct exp_polydl_timing){ .setup = &s->here,
                                            .dnnl = s->dnnl,
                                            .small = s->small,
                                            .uses_xsmm = s->timing.uses_xsmm,
                                            .budget_ns = s->options.budget * (uint64_t)1000000,
                                            .refine_ns = s->options.refine * (uint64_t)1000000,
                                            .n_threads = s->options.threads };
    if (!err && s->options.ruler)
        err = exp_ruler_new(&s->timing.ruler, conv_peak_best());
    return err;
}

/* Names layers without variants, once. */
static void say_left_out(const struct session *s)
{
    for (size_t i = 0; i < s->polydl.n_layers; i++) {
        const struct exp_polydl_layer *l = &s->polydl.layer[i];

        if (*l->why)
            fprintf(stderr, "polydl: %s %s is left out: %s\n", l->model, l->name, l->why);
    }
}

static void describe(struct session *s)
{
    exp_say(s->what, sizeof s->what,
            "PolyDL's variants, commit %s; micro-kernel %s, replayed as %s on %s, cold caches, one image; ",
            *s->options.commit ? s->options.commit : "unknown", s->timing.uses_xsmm ? XSMM : s->small->name,
            s->small->name, *s->machine.description ? s->machine.description : s->machine.name);
    if (*s->untimed)
        exp_say_more(s->what, sizeof s->what, "not timed: %s", s->untimed);
    else
        exp_say_more(s->what, sizeof s->what,
                     "an image per thread, %u threads at most (PolyDL: 28 images on 28 cores); oneDNN %s; LIBXSMM %s",
                     s->timing.n_threads, s->dnnl ? exp_dnnl_version(s->dnnl) : s->no_dnnl.text, exp_xsmm_version());
}

/* Returns half of this computer's memory. */
static uint64_t usable_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);

    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes / 2 : UINT64_MAX;
}

static int prepare(void *session)
{
    struct session *s = session;
    const struct options *o = &s->options;
    int err = exp_polydl_models(&s->models, o->model, o->layers, &s->why);

    if (!err)
        exp_models_print_notes(&s->models, stderr);
    if (!err)
        err = exp_machine_find(&s->machine, o->machine, o->results, &s->why);
    if (!err)
        err = choose_kernel(s);
    if (!err)
        look_here(s);
    if (!err && !*s->untimed)
        err = prepare_timing(s);
    if (!err)
        err = exp_polydl_plan(&s->polydl, &s->models, &s->machine, o->variants, &s->why);
    if (err)
        return err;
    exp_fused_plan(&s->fused, &s->polydl, o->batch, usable_bytes());
    s->replayed.machine = s->machine;
    exp_results_time(&s->results, *s->untimed ? s->untimed : NULL);
    describe(s);
    return exp_setup_init(&s->replayed, "", "", &s->why);
}

/* ---- the work ---- */

static int look_for_failures(struct session *s)
{
    const struct exp_tasks_counts *const all[] = { &s->timed, &s->simulated, &s->fused_timed, &s->fused_simulated };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i]->n_failed)
            return exp_fail(&s->why, -EIO, "failed, such as %s", all[i]->failure);
    }
    return 0;
}

/* Returns how fused operators are timed: as variants, with half of their budget. */
static struct exp_polydl_timing fused_timing(const struct session *s)
{
    struct exp_polydl_timing t = s->timing;

    t.budget_ns /= 2;
    return t;
}

static int work(void *session)
{
    struct session *s = session;
    const struct exp_polydl_timing fused = fused_timing(s);
    struct exp_tasks_options o = { .n_threads = s->options.jobs, .rules.retries_failed = true };
    const double seconds[EXP_N_WORKS] = {
        [EXP_WORK_ROUNDS] =
            *s->untimed ? 0 : exp_polydl_seconds(&s->polydl, &s->timing) + exp_fused_seconds(&s->fused, &fused),
        [EXP_WORK_REPLAY] = exp_polydl_seconds(&s->polydl, NULL) + exp_fused_seconds(&s->fused, NULL),
        [EXP_WORK_ANALYSE] = exp_analyses_seconds(&s->polydl, s->options.jobs),
    };
    int err;

    say_left_out(s);
    err = exp_store_asked(&s->store, s->options.store, s->options.results, NULL, &s->why);
    o.store = s->store;
    o.progress = exp_main_progress(seconds);
    if (!err && !*s->untimed)
        err = exp_polydl_measure(&s->polydl, &s->timing, &o, &s->timed, &s->why);
    if (!err && !*s->untimed)
        err = exp_fused_measure(&s->fused, &fused, &o, &s->fused_timed, &s->why);
    if (!err)
        err = exp_polydl_simulate(&s->polydl, s->small, &o, &s->simulated, &s->why);
    if (!err)
        err = exp_fused_simulate(&s->fused, &s->replayed, &o, &s->fused_simulated, &s->why);
    if (!err)
        err = look_for_failures(s);
    if (!err)
        err = exp_rank_make(&s->rank, &s->polydl, s->options.jobs, o.progress, &s->why);
    exp_progress_free(o.progress);
    return err;
}

/* ---- the results ---- */

/* Prints how many times as fast as each baseline the best variant is, over the layers with both times. */
static void print_baselines(const struct session *s, FILE *out)
{
    const struct exp_polydl *p = &s->polydl;

    fprintf(out, "\n%zu variants of %zu layers\n", exp_polydl_n_variants(p), p->n_layers);
    for (enum exp_polydl_baseline b = 0; b < EXP_N_POLYDL_BASELINES; b++) {
        size_t n;
        const double ratio = exp_best_over(&s->rank, b, &n);

        if (n)
            fprintf(out, "the best variant is %.2f times as fast as %s (geometric mean of %zu layers, one thread)\n",
                    ratio, exp_polydl_baseline_names[b], n);
    }
}

/* Prints the tables behind the answers. */
static int print_tables(const struct session *s, FILE *out)
{
    struct exp_why why;

    exp_rank_print(&s->rank, out);
    print_baselines(s, out);
    return exp_fused_print(&s->fused, EXP_EXPERIMENTS_DIR, out, &why);
}

/*
 * Prints which analysis knows, and how disturbed this run's timings were. Timings in the store were also taken again,
 * but are not counted.
 */
static void print_verdict(const struct session *s, FILE *out)
{
    const struct exp_ruler_report *r = s->timing.ruler ? &s->timing.ruler->kept : NULL;
    const bool is_new = r && r->n_timings;
    char said[160] = "";

    if (is_new)
        exp_ruler_say(r, said, sizeof said);
    if (is_new && 4 * (r->n_timings - r->n_disturbed) < r->n_timings) {
        fprintf(out, "VERDICT: not measured: disturbed: %s.\n", said);
        return;
    }
    exp_rank_print_verdict(&s->rank, out);
    if (is_new)
        fprintf(out, "Of this run, with one thread, %s.\n", said);
}

/* Prints the answers: which orders and tiles are best, and which analysis knows. */
static void print_answers(const struct session *s, FILE *out)
{
    exp_best_print(&s->rank, out);
    fputc('\n', out);
    print_verdict(s, out);
}

/* Fills verdict.txt. The terminal has the tables first, as readers see the last lines first. */
static int print_all(const void *session, FILE *out)
{
    const struct session *s = session;
    char headline[1024];

    exp_best_headline(&s->rank, s->untimed, headline, sizeof headline);
    fprintf(out, "%s\n\n%s\n\n", headline, s->what);
    print_answers(s, out);
    fputc('\n', out);
    return print_tables(s, out);
}

/* Tells figures that need times the rankings; titles are in quotes. */
static bool set_variables(const void *session, struct exp_variables *v)
{
    for (size_t r = 0; r < EXP_N_RANKINGS; r++)
        exp_variables_add(v, "ranking_names", "", exp_rankings[r].name);
    for (size_t r = 0; r < EXP_N_RANKINGS; r++)
        exp_variables_add(v, "ranking_titles", "\"", exp_rankings[r].title);
    return !*((const struct session *)session)->untimed;
}

static void say_counts(const char *what, const struct exp_tasks_counts *c)
{
    printf("%zu of %zu %s from the store\n", c->n_stored, c->n_tasks, what);
}

static int write_tables(void *session)
{
    struct session *s = session;
    const struct exp_rank_results ranked = {
        .rank = &s->rank,
        .fused = &s->fused,
        .run = s->what,
        .experiments_dir = EXP_EXPERIMENTS_DIR,
        .untimed = *s->untimed ? s->untimed : "not measured",
    };
    int err = exp_rank_write(&ranked, &s->results.dir, &s->why);

    return err ? err : exp_fused_write(&s->fused, &s->results.dir, s->what, s->untimed, &s->why);
}

static int answer(void *session)
{
    const struct session *s = session;
    int err;

    printf("\n%s\ntables: %s/\n", s->what, s->results.path);
    say_counts("layers' times", &s->timed);
    say_counts("simulations", &s->simulated);
    fputc('\n', stdout);
    err = print_tables(s, stdout);
    fputc('\n', stdout);
    print_answers(s, stdout);
    return err;
}

static void fill_screen(const void *session, struct exp_screen *screen)
{
    const struct session *s = session;
    char *report = exp_format("make report RESULTS=%s", s->results.path);

    exp_best_screen(&s->rank, s->untimed, screen);
    exp_screen_open(screen, "%s/best.csv", s->results.path);
    exp_screen_next(screen, report, "a page with the figures");
    exp_screen_next(screen, "VARIANTS=all behind this command", "every order of the loops");
    exp_screen_next(screen, "MORE=1 behind this command", "everything: " EXP_OUTPUT_FILE);
    free(report);
}

static void release(void *session)
{
    struct session *s = session;

    exp_store_close(s->store);
    exp_rank_release(&s->rank);
    exp_fused_release(&s->fused);
    exp_polydl_release(&s->polydl);
    exp_ruler_free(s->timing.ruler);
    exp_dnnl_unload(s->dnnl);
    exp_setup_release(&s->here);
    exp_setup_release(&s->replayed);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_NAMES("MODEL",
              "models of PolyDL (experiments/models/polydl), gemm: its matrix multiplications, or names and layer "
              "tables as experiment takes them, comma-separated; all (default): the ten with its 201 layers, and gemm",
              model, "all"),
    EXP_LAYERS_OPTION,
    EXP_TEXT("VARIANTS",
             "of each layer: paper (default): 5 to 21 as PolyDL's generator makes them; all: all orders of its loops, "
             "all tile sizes of a GEMM; a number; or loops, outermost first, tiles after a dot, a star after the "
             "parallel one, comma-separated: VARIANTS='ofm* ifm oj.8 oj kj ki,oj ofm ifm kj ki'",
             variants, ""),
    EXP_MACHINE_OPTION,
    EXP_TEXT("UKR",
             "micro-kernel of the variants: ref, avx2, avx512 (default: the machine's, else the widest this CPU runs); "
             "or libxsmm, whose accesses are taken to be those of ours",
             ukr, ""),
    EXP_TIMING_OPTION,
    EXP_NUMBER("THREADS", "1: times of one thread only; 2 (default): of two as well, with an image each", threads, 2, 1,
               2),
    EXP_NUMBER(
        "BUDGET",
        "milliseconds of timing for each variant, half of it for two threads (default 30); long runs take longer",
        budget, 30, 1, 100000),
    EXP_NUMBER("REFINE",
               "milliseconds for each variant of a layer that its leading variants share afterwards, until the clock "
               "repeats itself; half of it for two threads (default 300; 0: none)",
               refine, 300, 0, 100000),
    EXP_NUMBER("BATCH",
               "images of fused operators (default 1; PolyDL has 28: all layers then take half an hour more, and "
               "layers of more than half of the memory are not timed)",
               batch, 1, 1, 1024),
    EXP_RULER_OPTION,
    EXP_REPLAY_JOBS_OPTION,
    EXP_PATH("STORE",
             "file that keeps what was timed and simulated, so that a stopped run goes on; make uses "
             "RESULTS/store.sqlite; no: nothing is kept, and all is timed again",
             store, ""),
    EXP_MORE_OPTION,
    EXP_RESULTS_OPTIONS("<machine>/polydl"),
    EXP_OPTIONS_END,
};

/* MODEL names PolyDL's own tables, too. */
static int check(const struct exp_question *q, const void *asked, struct exp_why *why)
{
    const struct options *o = asked;
    struct exp_models models;
    int err = exp_polydl_models(&models, o->model, o->layers, why);

    if (!err)
        exp_models_release(&models);
    return err ? err : exp_check_names(q, asked, "MODEL", why);
}

const struct exp_question question_polydl = {
    .name = "polydl",
    .asks = "Which loop order and tiles are best? PolyDL's question",
    .takes =
        "All variants of its 201 layers are timed and simulated: an hour. A run that was stopped goes on where it was.",
    .wants = { "papers: know which loop order and tiles are best|make polydl MODEL=alexnet" },
    .examples = { "make polydl MODEL=alexnet" },
    .libraries = "blas dnnl",
    .installs = "peers",
    .keeps = true,
    .figures = { "polydl_rankings", "polydl_speeds", "polydl_spread", "polydl_haystack", "polydl_gemm_speeds",
                 "polydl_gemm_spread", "polydl_learning", "polydl_fusion" },
    .options = options,
    .place = &(const struct exp_results_layout){ "/polydl", true, "variants.csv", NULL },
    .chapter = { "picks.csv", "loop orders and tilings ranked", NULL },
    EXP_SESSION(struct session),
    EXP_RESULTS(struct session),
    .models_at = offsetof(struct session, models),
    .machine_at = offsetof(struct session, machine),
    .tables = { &exp_polydl_variants_table, &exp_polydl_baselines_table, &exp_best_table, &exp_rank_layers_table,
                &exp_rank_totals_table, &exp_rank_picks_table, &exp_rank_analyses_table, &exp_rank_learning_table,
                &exp_rank_printed_table, &exp_fused_table },
    .check = check,
    .prepare = prepare,
    .work = work,
    .write = write_tables,
    .verdict = print_all,
    .variables = set_variables,
    .answer = answer,
    .screen = fill_screen,
    .release = release,
};
