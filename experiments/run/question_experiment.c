/*
 * The experiment: plan a model's convolutions for a machine, check and time them here, replay them through the
 * simulated caches, and leave CSV files, figures and a table. `experiment --help` lists the options; the Makefile
 * passes the options on.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "counters/host/ctr_emulated.h"
#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/show/page.h"
#include "experiments/show/layers.h"
#include "experiments/show/ways_out.h"
#include "experiments/run/files.h"
#include "experiments/run/run.h"
#include "experiments/run/session.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/plugin/plugin.h"
#include "experiments/bench/case/published.h"
#include "experiments/choices/choice.h"
#include "kernels/ukr/dispatch.h"
#include "sim/cpu.h"

extern const struct exp_question question_experiment;

/*
 * Decides what is observed. Without OBSERVE, an experiment observes if there is a guest, or the reason for a missing
 * guest, or if make can build a guest of which this computer's counters would not count the accesses.
 */
static enum exp_observe_mode observe_mode(const struct exp_run_session *s)
{
    const struct exp_run_options *o = &s->options;
    const enum exp_observe_mode asked = (enum exp_observe_mode)o->observe;
    const bool is_found = o->measures || *o->wisdom || s->setup.type != CONV_F32; /* not in the guest */

    if (is_found || *o->guest || *o->why_no_guest)
        return is_found ? EXP_OBSERVE_NONE : asked;
    if (!*o->make_guest)
        return asked == EXP_OBSERVE_AUTO ? EXP_OBSERVE_NONE : asked;
    return exp_observe_is_wanted(asked, s->setup.ukr, asked == EXP_OBSERVE_AUTO && exp_run_is_counted(s))
               ? asked
               : EXP_OBSERVE_NONE;
}

/* Has layers compiled, if requested. */
static void prepare_coder(struct exp_run_session *s)
{
    if (!exp_algos_need_coder(s->algos))
        return;
    s->coder = exp_emit_coder_new();
    s->setup.coder = &s->coder->base;
}

static enum conv_type type_of(const struct exp_run_options *o)
{
    return o->type < CONV_N_TYPES ? (enum conv_type)o->type : CONV_U8S8;
}

/* Options that only f32 has. */
static int check_type(struct exp_run_session *s)
{
    const struct exp_run_options *o = &s->options;

    s->setup.type = type_of(o);
    if (s->setup.type == CONV_F32)
        return 0;
    if (o->measures || *o->wisdom)
        return exp_fail(&s->why, -EINVAL, "TYPE=%s: plans are found by timing (SCONV_TUNE, SCONV_WISDOM) for f32 alone",
                        conv_types[s->setup.type].name);
    if (o->advice != EXP_ADVICE_KNOWN && o->advice)
        return exp_fail(&s->why, -EINVAL, "TYPE=%s: ADVICE=deep and ADVICE=judge plan f32 alone",
                        conv_types[s->setup.type].name);
    return 0;
}

static int select_algos(struct exp_run_session *s)
{
    const struct exp_run_options *o = &s->options;
    int err;
    const struct exp_plugin_options plugins = { o->plugin_flags,   o->plugin_plan, o->plugin_limit,
                                                o->plugin_threads, o->observer,    false };

    if (o->plugin_threads > 1 && o->timing && o->clock != EXP_CLOCK_WALL)
        return exp_fail(&s->why, -EINVAL, "PLUGIN_THREADS=%u: CLOCK=cpu sees one thread; CLOCK=wall sees all",
                        o->plugin_threads);
    err = exp_plugins_select(o->algos, &plugins, &s->algos, &s->why);
    if (!err && !*o->algos)
        s->algos = exp_algos_of_type(type_of(o));
    return err;
}

static int read_plans(struct exp_run_session *s)
{
    int err = exp_main_plans(&s->setup, s->options.plan, &s->algos, &s->why);

    if (!err && *s->setup.plans.derived_anew)
        fprintf(stderr, "experiment: %s\n", s->setup.plans.derived_anew);
    return err;
}

static void say_unwritten(const struct exp_run_session *s)
{
    char text[512];

    exp_experiment_say_unwritten(&s->experiment, &s->setup, text, sizeof text);
    if (*text)
        fprintf(stderr, "experiment: %s\n", text);
}

/* Says the effect of a micro-kernel in UKR that this CPU family does not have. */
static void say_foreign(const struct exp_run_session *s)
{
    const struct exp_run_options *o = &s->options;

    if (!*o->ukr || s->setup.ukr->fn || exp_setup_uses_openblas_ukr(&s->setup) ||
        (!o->timing && !s->observed.observation))
        return;
    fprintf(stderr, "experiment: UKR=%s is a micro-kernel of another CPU family, so nothing is timed here", o->ukr);
    if (s->observed.observation)
        fprintf(stderr,
                "; programs for %s are built and observed under emulation, for minutes: OBSERVE=0 leaves that out",
                exp_emulator_for(s->setup.ukr)->arch);
    fputc('\n', stderr);
}

static void limit_layers(struct exp_run_session *s)
{
    if (s->options.most_macs)
        exp_model_limit(&s->model, 1e6 * s->options.most_macs);
}

/*
 * Prepares a run on a node of a cluster: errors in the input that do not depend on the node are found here, before a
 * job waits for its turn.
 */
static int prepare_job(struct exp_run_session *s)
{
    const struct exp_run_options *o = &s->options;
    struct exp_models models;
    int err = exp_columns_check(o->columns, &s->why);

    if (!err)
        err = check_type(s);
    if (!err)
        err = select_algos(s);
    if (!err)
        err = exp_main_models(&models, o->model, EXP_MODEL_ASK(o), &s->why);
    if (err)
        return err;
    s->model = models.model[0]; /* the first of several models names the folder */
    limit_layers(s);
    models.model[0] = (struct exp_model){ 0 };
    exp_models_release(&models);
    err = exp_model_set_type(&s->model, s->setup.type, &s->why);
    if (err)
        return err;
    exp_results_time(&s->results, s->options.timing ? NULL : EXP_UNTIMED);
    return exp_machine_find(&s->setup.machine, o->machine, o->results, &s->why);
}

/* Chooses between exact and sampled replays, and classes of misses or none. */
static int settle_sampling(struct exp_run_session *s)
{
    const struct exp_run_options *o = &s->options;
    const struct exp_sampling *how = &s->setup.sampling;
    int err =
        exp_replay_settle_sampling(&s->setup, o->sample, &s->model, 1, s->algos, o->classes == CLASSES_3C, &s->why);

    if (!err && how->mode == EXP_SAMPLING_ALWAYS && o->classes == CLASSES_3C)
        return exp_fail(&s->why, -EINVAL,
                        "CLASSES=3c needs every access, and SAMPLE=%s leaves accesses out: use SAMPLE=exact",
                        o->sample);
    s->setup.classifies_misses =
        o->classes == CLASSES_3C ||
        (o->classes == CLASSES_AUTO && exp_replay_classifies_soon(&s->setup, &s->model, s->algos));
    return err;
}

/* Prepares everything. Errors in the input are found here, before any work. */
static int prepare(void *session)
{
    struct exp_run_session *s = session;
    const struct exp_run_options *o = &s->options;
    struct exp_model_ask ask = *EXP_MODEL_ASK(o);
    int err;

    ask.is_of_several = s->is_of_several;
    s->info.core = -1;
    if (o->launcher == EXP_LAUNCH_SLURM)
        return prepare_job(s);
    err = exp_columns_check(o->columns, &s->why);
    if (!err)
        err = check_type(s);
    if (!err)
        err = select_algos(s);
    if (!err)
        err = exp_main_model(&s->model, o->model, &ask, &s->why);
    limit_layers(s);
    if (!err)
        err = exp_model_set_type(&s->model, s->setup.type, &s->why);
    if (!err)
        err = exp_machine_find(&s->setup.machine, o->machine, o->results, &s->why);
    s->setup.packs_filters = o->packs_filters != 0;
    if (!err)
        err = settle_sampling(s);
    if (!err)
        err = exp_setup_init(&s->setup, o->ukr, o->core, &s->why);
    if (!err)
        err = exp_setup_wisdom(&s->setup, o->measures, o->wisdom, &s->why);
    if (!err)
        err = read_plans(s);
    if (!err)
        prepare_coder(s);
    if (!err)
        err = exp_experiment_plan(&s->experiment, &s->setup, &s->model, s->algos, &s->why);
    if (!err)
        err = exp_observe_plan(&s->observed, &s->setup, &s->model, s->algos, observe_mode(s),
                               *o->twin || *o->make_guest, &s->why);
    if (err)
        return err;
    say_unwritten(s);
    say_foreign(s);
    exp_results_time(&s->results, exp_run_why_untimed(s));
    if (s->results.is_timed)
        exp_machine_why_not_here(&s->setup.machine, &s->why_elsewhere);
    return 0;
}

static int write_tables(void *session)
{
    return exp_run_write(session);
}

static int draw(void *session)
{
    return exp_run_draw(session, &question_experiment);
}

/* Tells whether the models and their layers can be read. */
static bool has_models(struct exp_run_session *s)
{
    struct exp_models models = { 0 };
    const int err =
        exp_models_read_as(&models, EXP_EXPERIMENTS_DIR, s->options.model, EXP_MODEL_ASK(&s->options), &s->why);

    exp_models_release(&models);
    return !err;
}

/*
 * Prints the architecture of the guest that the Makefile must build. Prints nothing if the input is wrong, for example
 * if a plug-in is missing or does not compile; the experiment itself reports the error.
 */
static int print_guest(void *session)
{
    struct exp_run_session *s = session;

    if (has_models(s) && !select_algos(s) &&
        !exp_machine_find(&s->setup.machine, s->options.machine, s->options.results, &s->why) &&
        !exp_setup_init(&s->setup, s->options.ukr, "", &s->why) &&
        exp_observe_is_wanted((enum exp_observe_mode)s->options.observe, s->setup.ukr,
                              s->options.observe == EXP_OBSERVE_AUTO && exp_run_is_counted(s)))
        puts(exp_emulator_for(s->setup.ukr)->arch);
    return 0;
}

static void describe_setup(const struct exp_run_session *s)
{
    char source[1024];

    exp_algos_describe(s->algos, &s->setup, stdout);
    exp_machine_say_source(s->options.machine, s->options.results, source, sizeof source);
    printf("machine %s: %s\n", s->setup.machine.name, source);
}

/* One node of a cluster runs the whole experiment: the times of one table are of one computer without further work. */
static const struct exp_question_jobs jobs = { .needs = "--exclusive", .has_threads = true };

static int work(void *session)
{
    struct exp_run_session *s = session;

    describe_setup(s);
    return exp_run_all(s);
}

enum { MOST_ADVICE = 12 }; /* sentences */

static const char judged_how[] = "by the clock, in turns, distinct shapes";

static int print_verdict(const void *session, FILE *out)
{
    const struct exp_run_session *s = session;
    const struct exp_report report = exp_run_report(s);

    exp_answer_print(&report, out);
    exp_advices_print(&s->advices, MOST_ADVICE, out);
    exp_advice_judgement_print(&s->judged, judged_how, out);
    return 0;
}

static int answer(void *session)
{
    struct exp_run_session *s = session;
    const struct exp_report report = exp_run_report(s);

    exp_run_list_tables(s);
    exp_replay_say_kept(s->options.store, &s->replayed, stdout);
    printf("\n");
    exp_columns_print(s->options.columns, &report, stdout);
    exp_advices_print(&s->advices, MOST_ADVICE, stdout);
    exp_advice_judgement_print(&s->judged, judged_how, stdout);
    exp_answer_print_last(&report, stdout);
    return 0;
}

/* Proposes the first advice, or another machine; and a kernel of the user's. */
static void screen_next(const struct exp_run_session *s, struct exp_screen *screen)
{
    const struct exp_advice *first = exp_advices_first(&s->advices);
    const char *type = conv_types[s->setup.type].name;
    char *machine = exp_format("make experiment MODEL=%s MACHINE=clx4208%s%s", s->options.model,
                               s->setup.type == CONV_F32 ? "" : " TYPE=", s->setup.type == CONV_F32 ? "" : type);
    bool has_plugins = false;

    for (size_t a = 0; a < s->experiment.n_algos; a++)
        has_plugins |= s->experiment.cases[a].algo->plugin != NULL;
    if (first && !(s->model.n_layers == 1 && isfinite(first->measured.value))) /* else the command was this run's */
        exp_screen_next(screen, first->command, "the first advice");
    if (!first && !strcmp(s->setup.machine.name, "host"))
        exp_screen_next(screen, machine, "the paper's Xeon");
    if (!has_plugins)
        exp_screen_next(screen, "make plugin NAME=mine", "your own kernel beside it");
    exp_screen_next(screen, "MORE=1 behind this command", "everything: " EXP_OUTPUT_FILE);
    free(machine);
}

/* Says the first advice, and how advice stood the clock if that was asked. */
static void screen_advice(const struct exp_run_session *s, struct exp_screen *screen)
{
    const struct exp_advice *first = exp_advices_first(&s->advices);
    const struct exp_advice_score by_advice = exp_advice_score(&s->judged, EXP_BY_ADVICE),
                                  tuned = exp_advice_score(&s->judged, EXP_BY_TUNED);

    if (first && !first->gain_percent.why)
        exp_screen_note(screen, "advice", "%s: %s in place of %s should save %.0f %% of the cycles",
                        first->of->layer->name, first->knob, first->of->algo->name, first->gain_percent.number);
    if (s->judged.n)
        exp_screen_note(screen, "judged",
                        "the first advice is never slower in %zu of %zu layers, always sconv_tuned in %zu of %zu; the "
                        "median layer keeps %.2f of the promise",
                        by_advice.n_never_slower, by_advice.n, tuned.n_never_slower, tuned.n, by_advice.kept);
}

static void fill_screen(const void *session, struct exp_screen *screen)
{
    const struct exp_run_session *s = session;
    const struct exp_report report = exp_run_report(s);

    const struct exp_observe_agreement replay = exp_observe_agreement(&s->observed);

    char reason[64] = "";

    if (replay.n_noted)
        exp_say(reason, sizeof reason, "; observed.csv says why %zu differ", replay.n_noted);
    exp_answer_screen(&report, screen);
    if (replay.n_observed)
        exp_screen_note(screen, "replay",
                        "the observed accesses of the real code are those of the replay in %zu of %zu runs%s",
                        replay.n_equal, replay.n_observed, reason);
    screen_advice(s, screen);
    screen->is_brief = s->is_of_several;
    if (*s->options.columns) {
        char *lines;
        size_t bytes;
        FILE *out = exp_memory_open(&lines, &bytes);

        exp_columns_print(s->options.columns, &report, out);
        fclose(out);
        exp_screen_block(screen, lines);
    }
    exp_screen_open(screen, "%s/report.html", s->results.path);
    if (!s->is_of_several)
        screen_next(s, screen);
}

static void release(void *session)
{
    struct exp_run_session *s = session;

    exp_observe_release(&s->observed);
    exp_advices_release(&s->advices);
    exp_advice_judgement_release(&s->judged);
    exp_experiment_release(&s->experiment);
    exp_emit_coder_free(s->coder);
    exp_setup_release(&s->setup);
    exp_plugins_release();
}

/* ---- several models, one after the other ---- */

static bool are_several(const char *models)
{
    return models[exp_models_next(models)] || !strcmp(models, "all");
}

/* Runs the experiment on one model, in a session of its own. */
static int run_one_of(struct exp_run_session *all, const char *model)
{
    struct exp_run_session *s = exp_new(1, sizeof *s);
    int err;

    s->options = all->options;
    s->options.model = model;
    s->is_of_several = true;
    err = exp_main_follow(&question_experiment, s);
    exp_advice_judgement_add(&all->judged, &s->judged);
    if (err)
        exp_fail(&all->why, err, "%s", *s->why.text ? s->why.text : strerror(-err));
    exp_main_release(&question_experiment, s);
    free(s);
    return err;
}

/* Runs one model after another; the run continues after a failure, and ends after an interruption. */
static int run_each(struct exp_run_session *s, const struct exp_models *models)
{
    const char *program = "experiment";
    char failed[512] = "";
    int err = 0;

    for (size_t i = 0; i < models->n && !exp_interrupted(); i++) {
        int one;

        if (s->options.more)
            printf("%s==== model %zu of %zu: %s\n\n", i ? "\n" : "", i + 1, models->n, models->model[i].name);
        one = run_one_of(s, models->model[i].path);
        if (one && exp_interrupted())
            return one;
        if (one) {
            fprintf(stderr, "%s: %s: %s\n", program, models->model[i].name, s->why.text);
            exp_say_more(failed, sizeof failed, "%s %s", *failed ? "," : "", models->model[i].name);
            err = err ? err : one;
        }
    }
    exp_advice_judgement_print(&s->judged, judged_how, stdout);
    return err ? exp_fail(&s->why, err, "of %zu models, these are not complete:%s", models->n, failed) : 0;
}

/* Checks all models before the first model runs. */
static int run_several(struct exp_run_session *s)
{
    const struct exp_run_options *o = &s->options;
    struct exp_models models;
    int err = exp_models_read_as(&models, EXP_EXPERIMENTS_DIR, o->model, EXP_MODEL_ASK(o), &s->why);

    if (!err)
        exp_models_print_left_out(&models, stderr);
    if (!err)
        err = run_each(s, &models);
    exp_models_release(&models);
    return err;
}

static int run(void *session)
{
    struct exp_run_session *s = session;

    if (are_several(s->options.model) && s->options.launcher != EXP_LAUNCH_SLURM)
        return run_several(s);
    return exp_main_follow(&question_experiment, s);
}

#define OPTIONS struct exp_run_options

static const struct exp_option options[] = {
    EXP_NAMES("MODEL",
              "names in experiments/models, comma-separated (all: the paper's seven), which run one after the other; "
              "or the path of a network (.onnx), of a layer table (.csv), of a batch file of oneDNN's benchdnn or of a "
              "log of ONEDNN_VERBOSE=1, or a descriptor such as mb1ic64ih56oc64kh3ph1 (experiments/models/README.md)",
              model, ""),
    EXP_ASK_OPTIONS,
    EXP_NUMBER(
        "SMALLER",
        "layers of more than so many million multiply-adds become smaller ones of the same kind, with fewer rows "
        "and filters: for plug-ins that take long to be observed, and cannot be left half-way (default: whole layers)",
        most_macs, 0, 1, 1000000),
    EXP_WORD("TYPE",
             "elements: f32 (default); bf16, with sums and outputs of f32; u8s8 (or int8), bytes without sign by bytes "
             "with sign, or s8s8, with sums and outputs of 32 bits. Base multiplies by this project's own GEMM, "
             "base_onednn by oneDNN's; what computes f32 alone says so",
             type, CONV_F32, "f32", "bf16", "u8s8", "s8s8", "int8"),
    EXP_PLAN_OPTION,
    EXP_MACHINE_OPTION,
    EXP_NAMES(
        "ALGO",
        "of @algos@; and plug-ins of your own (PLUGIN_CFLAGS); comma-separated (default @default_algos@). picks.csv "
        "says which of them simulated cycles choose",
        algos, ""),
    EXP_PLUGIN_OPTIONS,
    EXP_NUMBER("PLUGIN_THREADS",
               "threads that a plug-in may use where it is checked and timed (default 1); needs "
               "CLOCK=wall. All else has one thread, and accesses are those of one thread",
               plugin_threads, 1, 1, 1024),
    EXP_NUMBER("REPS", "timed rounds of each layer (default: 10 to 200, until all speed-ups stand)", reps, 0, 1,
               1000000),
    EXP_NUMBER("LIMIT", "seconds of timing after which rounds end though a speed-up does not stand (default 30)", limit,
               30, 1, 1000000),
    EXP_CLOCK_OPTION,
    EXP_RULER_OPTION,
    EXP_RUN_JOBS_OPTION,
    EXP_TIMING_OPTION,
    EXP_CACHE_OPTION,
    EXP_KERNEL_OPTIONS,
    EXP_WORD("CLASSES",
             "misses classified as compulsory, capacity, conflict: 3c; machine: as its file says (faster); or auto "
             "(default): 3c, unless the replay is sampled or classes take longer than 20 s",
             classes, CLASSES_AUTO, "auto", "3c", "machine"),
    EXP_SAMPLE_OPTION,
    EXP_TUNE_OPTIONS,
    EXP_WORD("ADVICE",
             "advice.json, what to change in each layer: 0: nothing; known (default): among the simulated algorithms; "
             "deep: further tiles, micro-kernels and tuned SConv are simulated, too; judge: deep, and the first advice "
             "of each layer is timed beside the layer's SConv",
             advice, EXP_ADVICE_KNOWN, "0", "known", "deep", "judge"),
    EXP_WORD("OBSERVE",
             "run layers with every access observed, under emulation or as instrumented twins: auto (default): where "
             "no counters count the machine, each shape, or as much of it as OBSERVE_LIMIT allows; 0; sample: each "
             "shape, all of it; all: each layer",
             observe, EXP_OBSERVE_AUTO, "0", "sample", "all", "auto"),
    EXP_NUMBER("OBSERVE_LIMIT", "seconds after which OBSERVE=auto observes no more (default 20)", observe_limit, 20, 1,
               1000000),
    EXP_TEXT("COLUMNS",
             "columns of layers.csv to print for each layer and algorithm, such as layer,algo,simulated_cycles "
             "(results/columns.md lists the columns; default: none)",
             columns, ""),
    EXP_MORE_OPTION,
    EXP_STORE_OPTION,
    EXP_CLUSTER_OPTIONS,
    EXP_FOLDER("RESULTS",
               "folder for results (default results); this goes to RESULTS/<machine>/<model>/, or <model>,<LAYERS>/",
               results, "results"),
    EXP_GUEST_OPTIONS,
    EXP_TWIN_OPTIONS,
    EXP_MADE_PATH("MAKE_GUEST", "log of building these two, after the times (the Makefile knows)", make_guest),
    EXP_COMMIT_OPTION,
    EXP_OPTIONS_END,
};

const struct exp_question question_experiment = {
    .name = "experiment",
    .asks = "SConv and Base on a model: run, counted, replayed, with a verdict",
    .wants = { "machines: replay on another machine|make experiment MODEL=resnet50 MACHINE=clx4208",
               "networks: try your own layers|make experiment MODEL=path/to/own.csv LAYERS='conv3*'|models",
               "kernels: put a convolution of your own there|make plugin NAME=mine && make experiment MODEL=vgg16 "
               "ALGO=base,sconv,mine.c|kernels/plugin",
               "machines: simulate only|make experiment MODEL=vgg16 TIMING=0",
               "machines: watch real POWER10 binaries|make experiment MODEL=resnet18 MACHINE=power10|observe" },
    .takes = "One to three minutes; seconds with TIMING=0 OBSERVE=0. Results go to RESULTS/<machine>/<model>; "
             "report.html there is the page to open first.",
    .examples = { "make experiment MODEL=vgg16", "make experiment MODEL=resnet50 MACHINE=clx4208 TIMING=0" },
    .needs = { "MODEL=vgg16" },
    .libraries = "blas",
    .watches = "later",
    .keeps = true,
    .figures = { "miss_rates_model", "miss_rates_layers", "misses_tensors", "misses_layers", "predicted_vs_simulated",
                 "speedup_layers", "simulated_cycles", "observed_vs_replayed", "simulated_vs_measured" },
    .options = options,
    .place = &exp_results_of_models,
    .chapter = { "traffic.csv", "experiment", exp_page_run_write },
    EXP_SESSION_WITH_ARGV(struct exp_run_session),
    .results_at = offsetof(struct exp_run_session, results),
    .model_at = offsetof(struct exp_run_session, model),
    .machine_at = offsetof(struct exp_run_session, setup.machine),
    .jobs = &jobs,
    .crew_at = offsetof(struct exp_run_session, crew),
    .tables = { &exp_layers_table, &exp_model_table, &exp_levels_table, &exp_traffic_table, &exp_classes_table,
                &exp_samples_table, &exp_picks_table, &exp_prefetchers_table, &exp_plans_table, &exp_times_table,
                &exp_observed_table, &exp_observed_instructions_table, &exp_observed_outside_table, &exp_facts_table,
                &exp_advice_judged_table },
    .prepare = prepare,
    .work = work,
    .write = write_tables,
    .verdict = print_verdict,
    .draw = draw,
    .add_page = exp_page_add,
    .answer = answer,
    .screen = fill_screen,
    .query = print_guest,
    .run = run,
    .release = release,
};
