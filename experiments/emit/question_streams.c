/*
 * Compares the accesses of generated code to the tensors, seen under an emulator, with the replay of its plan: each
 * form of the code of some layers. `make streams` builds its programs and runs it; `sconv-streams --help` lists the
 * options.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/record.h"
#include "experiments/bench/course/course.h"
#include "experiments/emit/observe.h"
#include "experiments/emit/options_emit.h"
#include "experiments/observe/guest.h"
#include "kernels/backend/backend.h"
#include "kernels/nest/nest.h"
#include "sim/hierarchy.h"

enum { LIMIT_S = 300, N_TABLE_LEVELS = 3 };

/* ---- one run ---- */

struct observation {
    const struct exp_emit_watch *watch;
    const struct conv_layer_plan *plan;
    enum exp_emit_what what;
    struct exp_workdir folder;
    struct watch_result *seen;
    struct exp_emit_seen *seen_of; /* [CONV_N_TENSORS] */
};

/* Moves a tensor behind all tensors if the code needs more memory for it than the plan has. */
static void place(struct conv_layout *l, enum conv_tensor t, size_t bytes)
{
    if (bytes > l->bytes[t]) {
        l->offset[t] = round_up(l->arena_bytes, CONV_ARENA_ALIGN);
        l->arena_bytes = l->offset[t] + bytes;
    }
    l->bytes[t] = bytes;
}

static char *layout_text(enum exp_emit_what what, const struct conv_plan *plan)
{
    const struct exp_emit_bytes needs = exp_emit_bytes(what, plan);
    struct conv_layout l = plan->layout;
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    place(&l, CONV_PACKED_FILTER, needs.filters);
    place(&l, CONV_PACKED_INPUT, needs.inputs);
    for (size_t t = 0; t < CONV_N_TENSORS; t++)
        fprintf(out, "%s%zu:%zu", t ? "," : "LAYOUT=", l.offset[t], l.bytes[t]);
    fclose(out);
    return text;
}

static char *path_of(const struct observation *r, const char *file)
{
    return exp_format("%s/%s", r->folder.path, file);
}

static int run_guest(const struct observation *r, const char *trace, struct exp_why *why)
{
    char *machine = path_of(r, "machine.cfg"), *result = path_of(r, "seen"),
         *layout = layout_text(r->what, &r->plan->plan);
    char *code = exp_format("CODE=%s/" EXP_EMIT_OBJECT, r->folder.path), function[CONV_C_NAME_BYTES + 16] = "FUNCTION=";
    const char *const arguments[] = { code, function, layout, NULL };
    const struct exp_guest_run run = {
        .emulator = exp_emulator_for(r->plan->plan.ukr),
        .observer = r->watch->observer,
        .guest = r->watch->guest,
        .machine_path = machine,
        .out = result,
        .trace = trace,
        .masked_phase = EXP_EMIT_MASKED_PHASE,
        .arguments = arguments,
        .problem = &r->plan->plan.problem,
        .algo = exp_emit_name(r->what),
        .limit_s = LIMIT_S,
    };
    int err = exp_workdir_write_machine(machine, r->watch->machine, why);

    conv_c_name(function + strlen(function), r->plan->layer, 0);
    if (!err)
        err = exp_guest_run(&run, r->seen, why);
    free(machine);
    free(result);
    free(layout);
    free(code);
    return err;
}

static int replay_into(struct sim_sink *sink, const struct observation *r)
{
    struct conv_replay replay;

    conv_replay_init(&replay, &r->plan->plan, sink);
    for (size_t i = 0; i < r->seen->n_buffers; i++) {
        if (r->seen->buffer[i].tag != CONV_IM2COL)
            replay.bind.addr[r->seen->buffer[i].tag] = r->seen->buffer[i].address;
    }
    return conv_nest_run(&r->plan->plan, &replay.base);
}

/* Sends a stream through the caches, and takes the counts of each tensor. The emulator tells of no prefetches. */
static int simulate(const struct observation *r, const struct watch_list *s, bool is_replay)
{
    struct sim_machine machine = *r->watch->machine;
    struct sim_hierarchy *h;
    int err;

    machine.has_software_prefetch = false;
    err = sim_hierarchy_new(&h, &machine);
    if (err)
        return err;
    exp_emit_stream_emit(s, sim_hierarchy_sink(h));
    err = sim_hierarchy_error(h);
    for (unsigned t = 0; t < CONV_N_TENSORS; t++)
        *(is_replay ? &r->seen_of[t].replayed : &r->seen_of[t].observed) = sim_stats_tag(sim_hierarchy_stats(h), t);
    sim_hierarchy_free(h);
    return err;
}

static int judge(const struct observation *r, struct watch_list *seen, struct watch_list *replayed)
{
    int err = replay_into(&replayed->expander.sink, r);

    for (unsigned t = 0; t < CONV_N_TENSORS && !err; t++)
        r->seen_of[t].likeness = exp_emit_stream_compare(seen, replayed, (enum conv_tensor)t);
    if (!err)
        err = simulate(r, seen, false);
    return err ? err : simulate(r, replayed, true);
}

static int compare(const struct observation *r, const char *trace, struct exp_why *why)
{
    struct watch_list seen, replayed;
    int err, judged = 0;

    watch_list_init(&seen, false);
    watch_list_init(&replayed, false);
    err = watch_list_read(&seen, trace, SIM_WHY(why->text));
    if (!err)
        judged = judge(r, &seen, &replayed);
    watch_list_release(&seen);
    watch_list_release(&replayed);
    return judged ? exp_fail(why, judged, "streams cannot be compared: %s", strerror(-judged)) : err;
}

/* Checks that a plan's code can be observed here. Returns 0, or -ENOTSUP with one line in why. */
static int check_observable(const struct exp_emit_watch *w, const struct conv_plan *plan, struct exp_why *why)
{
    if (access(w->observer, R_OK) || access(w->guest, X_OK))
        return exp_fail(why, -ENOTSUP,
                        "the observer and its guest were not built: make streams does that, in the project's folder");
    if (exp_emulator_for(plan->ukr)->isa != plan->ukr->isa)
        return exp_fail(why, -ENOTSUP, "the emulator runs code for AVX2 only: UKR=avx2");
    return plan->sconv.options.packs_filters ? exp_fail(why, -ENOTSUP, "filters are packed before: FILTERS=ahead") : 0;
}

int exp_emit_observe(enum exp_emit_what what, const struct conv_layer_plan *plan, const struct exp_emit_watch *w,
                     struct exp_emit_seen of[CONV_N_TENSORS], struct exp_why *why)
{
    struct observation r = { .watch = w, .plan = plan, .what = what, .seen_of = of };
    int err = check_observable(w, &plan->plan, why);
    char *trace;

    if (!err)
        err = exp_workdir_open(&r.folder, exp_workdir_temporary(), why);
    if (err)
        return err;
    r.seen = exp_new(1, sizeof *r.seen);
    trace = path_of(&r, "trace");
    err = exp_emit_compile(&r.folder, what, plan, 1, NULL, false, why);
    if (!err)
        err = run_guest(&r, trace, why);
    if (!err)
        err = compare(&r, trace, why);
    exp_workdir_close(&r.folder);
    free(trace);
    free(r.seen);
    return err;
}

/* ---- the table ---- */

enum { LOADS, STORES, MISSES, N_NUMBERS = MISSES + N_TABLE_LEVELS };

struct row {
    const char *layer, *code, *tensor, *likeness;
    struct value observed[N_NUMBERS], replayed[N_NUMBERS];
};

#define ROW struct row
#define FIELDS_LEVEL(l, of_seen, of_replayed)                                                                          \
    { { "observed_l" #l "_load_misses", "lines", of_seen, "emulation" }, REC_WHOLE(ROW, observed[MISSES + l - 1]) },   \
    {                                                                                                                  \
        { "replayed_l" #l "_load_misses", "lines", of_replayed, "replay" }, REC_WHOLE(ROW, replayed[MISSES + l - 1])   \
    }

static const struct rec_field fields[] = {
    { { "layer", "", "name of the layer", "" }, REC_AT(ROW, layer) },
    { { "code", "", "the form of generated code, as EMIT names it", "" }, REC_AT(ROW, code) },
    { { "tensor", "", "whose accesses; im2col: what the code allocates for itself", "" }, REC_AT(ROW, tensor) },
    { { "streams", "",
        "in order: address, width and kind of every access are the replay's, one after the other; reordered: as a set; "
        "more: all of the replay's, and others; bytes: each byte is loaded and stored as often, in other widths; "
        "other: not even that",
        "emulation" },
      REC_OR(ROW, likeness, observed[LOADS].why) },
    { { "observed_loads", "", "load instructions of the code", "emulation" }, REC_WHOLE(ROW, observed[LOADS]) },
    { { "replayed_loads", "", "of its plan's replay", "replay" }, REC_WHOLE(ROW, replayed[LOADS]) },
    { { "observed_stores", "", "store instructions of the code", "emulation" }, REC_WHOLE(ROW, observed[STORES]) },
    { { "replayed_stores", "", "of its plan's replay", "replay" }, REC_WHOLE(ROW, replayed[STORES]) },
    FIELDS_LEVEL(1, "of the code's stream in the simulated caches, the first level", "of the replay"),
    FIELDS_LEVEL(2, "the second level", "of the replay"),
    FIELDS_LEVEL(3, "the third level", "of the replay"),
};

const struct rec_table exp_emit_streams_table = REC_TABLE("streams.csv", fields, ROW);

struct session {
    struct exp_emit_options options;
    struct exp_emit_plans plans;
    struct row *row;
    size_t n_rows;
    struct exp_results results;
    char what[96];
    struct exp_why why;
};

static struct row *add_row(struct session *s, const struct conv_layer_plan *plan, enum exp_emit_what what,
                           enum conv_tensor t)
{
    struct row *row = exp_append(&s->row, &s->n_rows, sizeof *row);

    row->layer = plan->layer;
    row->code = exp_emit_name(what);
    row->tensor = conv_tensor_name(t);
    return row;
}

static bool is_touched(const struct exp_emit_seen *s)
{
    return s->observed.loads || s->observed.stores || s->replayed.loads || s->replayed.stores;
}

/* Takes the counts of a tensor; of levels, the machine's n_levels. */
static void take_cell(struct value to[N_NUMBERS], const struct sim_cell *cell, size_t n_levels)
{
    to[LOADS] = value_of((double)cell->loads);
    to[STORES] = value_of((double)cell->stores);
    for (size_t l = 0; l < N_TABLE_LEVELS; l++)
        to[MISSES + l] = value_or((double)cell->level[l].load_misses, l < n_levels ? NULL : REC_DOES_NOT_APPLY);
}

/* Notes a form's tensors. */
static void add_form(struct session *s, const struct conv_layer_plan *plan, enum exp_emit_what what,
                     const struct exp_emit_seen of[CONV_N_TENSORS])
{
    for (unsigned t = 0; t < CONV_N_TENSORS; t++) {
        struct row *row;

        if (!is_touched(&of[t]))
            continue;
        row = add_row(s, plan, what, (enum conv_tensor)t);
        take_cell(row->observed, &of[t].observed, s->plans.setup.machine.n_levels);
        take_cell(row->replayed, &of[t].replayed, s->plans.setup.machine.n_levels);
        row->likeness = exp_emit_likeness_name(of[t].likeness);
        printf(" %s %s;", row->tensor, row->likeness);
    }
}

/* Says of the first tensor why there is nothing of any. */
static void add_missing(struct session *s, const struct conv_layer_plan *plan, enum exp_emit_what what, const char *why)
{
    struct row *row = add_row(s, plan, what, CONV_INPUT);

    row->observed[LOADS] = value_none(exp_copy_text(why));
    for (size_t i = 0; i < N_NUMBERS; i++)
        row->observed[i] = row->replayed[i] = row->observed[LOADS];
    printf(" not observed: %s", why);
}

/* Observes a layer's code in all forms. */
static int observe_forms(struct session *s, const struct conv_layer_plan *plan, const struct exp_emit_watch *w)
{
    for (int i = 0; i <= EXP_EMIT_MLIR_LINALG; i++) {
        enum exp_emit_what what = (enum exp_emit_what)i;
        struct exp_emit_seen of[CONV_N_TENSORS];
        const char *missing = exp_emit_why_no_compiler(what);
        int err = missing ? exp_fail(&s->why, -ENOENT, "%s", missing) : exp_emit_observe(what, plan, w, of, &s->why);

        if (err == -EINTR || err == -ENOMEM)
            return err;
        printf("%-28s %-14s", plan->layer, exp_emit_name(what));
        if (err)
            add_missing(s, plan, what, s->why.text);
        else
            add_form(s, plan, what, of);
        printf("\n");
    }
    return 0;
}

/* ---- the course ---- */

static const struct exp_results_layout layout = { "/streams", false, "streams.csv", exp_emit_print_code };

static struct exp_emit_watch watch_of(const struct session *s)
{
    return (struct exp_emit_watch){ s->options.observer, s->options.guest, &s->plans.setup.machine };
}

static int prepare(void *session)
{
    struct session *s = session;
    const struct exp_emit_watch watch = watch_of(s);
    int err;

    if (!*s->options.ukr)
        s->options.ukr = "f32_16x6__avx2"; /* the widest vectors that the emulator runs */
    err = exp_emit_plans_make(&s->plans, &s->options, &s->why);
    if (err)
        return err;
    for (size_t i = 0; i < s->plans.list.n && !err; i++)
        err = check_observable(&watch, &s->plans.list.plan[i].plan, &s->why);
    exp_say(s->what, sizeof s->what, "what generated code does to the tensors, beside the replay of its plan");
    return err;
}

static int work(void *session)
{
    struct session *s = session;
    const struct exp_emit_watch watch = watch_of(s);
    int err = 0;

    for (size_t i = 0; i < s->plans.list.n && !err; i++) {
        if (!exp_emit_is_repeated(&s->plans, i))
            err = observe_forms(s, &s->plans.list.plan[i], &watch);
        if (exp_interrupted())
            err = exp_fail(&s->why, -EINTR, "interrupted");
    }
    return err;
}

static int write_streams(void *session)
{
    struct session *s = session;
    struct exp_csv *csv = exp_csv_begin(&s->results.dir, &exp_emit_streams_table.file, s->what);

    exp_csv_header(csv, "planned for, and simulated", "%s", s->plans.setup.machine.name);
    exp_csv_header(csv, "observed", "%s", exp_emulator_for(s->plans.list.plan[0].plan.ukr)->source);
    for (size_t i = 0; i < s->n_rows; i++)
        rec_put(csv, &exp_emit_streams_table, &s->row[i]);
    return exp_csv_close(csv, &s->why);
}

static void release(void *session)
{
    struct session *s = session;

    for (size_t i = 0; i < s->n_rows; i++)
        free((char *)(uintptr_t)s->row[i].observed[LOADS].why);
    free(s->row);
    exp_emit_plans_release(&s->plans);
}

#define OPTIONS struct exp_emit_options

static const struct exp_option options[] = {
    EXP_EMIT_LAYER_OPTION,
    EXP_NAMES("MODEL",
              "in place of LAYER: names, layer tables, or what else experiment takes (experiments/models/README.md), "
              "comma-separated (default: some short layers, experiments/emit/streams.csv)",
              model, "experiments/emit/streams.csv"),
    EXP_LAYERS_OPTION,
    EXP_EMIT_PLAN_OPTION,
    EXP_NAMES("MACHINE",
              "machine that is planned for and simulated: clx4208 (default), host, another name in sim/machines, or "
              "the path of a .cfg file",
              machine, "clx4208"),
    EXP_EMIT_ALGO_OPTION,
    EXP_TEXT("UKR",
             "SConv's micro-kernel, or an instruction set (default f32_16x6__avx2: the emulator runs no wider vectors)",
             ukr, ""),
    EXP_CORE_OPTION,
    EXP_EMIT_RESULTS_OPTION,
    EXP_GUEST_OPTIONS,
    EXP_OPTIONS_END,
};

const struct exp_question question_streams = {
    .name = "streams",
    .program = "sconv-streams",
    .is_for_developers = true,
    .asks = "What generated code does to the tensors, beside the replay of its plan",
    .takes = "The code is observed under an emulator: 1 minute.",
    .examples = { "make streams MODEL=squeezenet LAYERS='fire2/*'" },
    .installs = "emulation",
    .watches = "code",
    .options = options,
    .place = &layout,
    EXP_SESSION(struct session),
    EXP_RESULTS(struct session),
    .machine_at = offsetof(struct session, plans.setup.machine),
    .tables = { &exp_emit_streams_table },
    .prepare = prepare,
    .work = work,
    .write = write_streams,
    .release = release,
};
