#include "experiments/emit/exp_emit_observe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/emit/exp_emit_build.h"
#include "experiments/observe/exp_guest.h"
#include "kernels/backend/backend.h"
#include "kernels/nest/nest.h"
#include "sim/hierarchy.h"

enum { LIMIT_S = 300, LAYOUT_BYTES = CONV_N_TENSORS * 42 + 8 };

/* ---- a folder for machine, result and trace ---- */

enum file { MACHINE, RESULT, TRACE, WATCHED, PARTIAL, N_FILES };

struct folder {
    char dir[256], path[N_FILES][288];
    struct exp_guard guard;
};

static void remove_all(void *folder)
{
    const struct folder *f = folder;

    for (int i = 0; i < N_FILES; i++)
        unlink(f->path[i]);
    rmdir(f->dir);
}

static int make_folder(void *folder)
{
    return mkdtemp(((struct folder *)folder)->dir) ? 0 : -errno;
}

static int write_machine(const struct sim_machine *m, const char *path)
{
    FILE *out = fopen(path, "w");
    int err;

    if (!out)
        return -errno;
    err = sim_machine_print(m, out);
    if (fclose(out) && !err)
        err = -errno;
    return err;
}

static int open_folder(struct folder *f, const struct sim_machine *m, struct exp_why *why)
{
    static const char *const names[N_FILES] = { "machine.cfg", "seen", "trace", "seen.watched", "seen.partial" };
    const char *tmp = getenv("TMPDIR");
    int err;

    *f = (struct folder){ .guard = { .undo = remove_all, .ctx = f } };
    snprintf(f->dir, sizeof f->dir, "%s/sconv-seen-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    err = exp_guard_begin(&f->guard, make_folder, f);
    if (err)
        return exp_fail(why, err, "cannot make a folder '%s': %s", f->dir, strerror(-err));
    for (int i = 0; i < N_FILES; i++)
        snprintf(f->path[i], sizeof f->path[i], "%s/%s", f->dir, names[i]);
    err = write_machine(m, f->path[MACHINE]);
    return err ? exp_fail(why, err, "cannot write '%s': %s", f->path[MACHINE], strerror(-err)) : 0;
}

static void close_folder(struct folder *f)
{
    exp_guard_end(&f->guard, NULL, NULL);
    remove_all(f);
}

/* ---- one run ---- */

struct run {
    const struct exp_emit_watch *watch;
    const struct conv_noted_plan *plan;
    const char *form;
    struct folder folder;
    struct obs_result *seen;
    struct exp_emit_observed *o;
};

static void layout_text(const struct conv_layout *l, char text[LAYOUT_BYTES])
{
    size_t used = (size_t)snprintf(text, LAYOUT_BYTES, "LAYOUT=");

    for (size_t t = 0; t < CONV_N_TENSORS; t++)
        used +=
            (size_t)snprintf(text + used, LAYOUT_BYTES - used, "%s%zu:%zu", t ? "," : "", l->offset[t], l->bytes[t]);
}

static int run_guest(const struct run *r, const char *code, struct exp_why *why)
{
    char layout[LAYOUT_BYTES], path[512], function[CONV_C_NAME_BYTES + 16], name[CONV_C_NAME_BYTES];
    const char *const arguments[] = { path, function, layout, NULL };
    const struct exp_guest_run run = {
        .emulator = exp_emulator_for(r->plan->plan.ukr),
        .observer = r->watch->observer,
        .guest = r->watch->guest,
        .machine_path = r->folder.path[MACHINE],
        .out = r->folder.path[RESULT],
        .trace = r->folder.path[TRACE],
        .masked_phase = EXP_EMIT_MASKED_PHASE,
        .arguments = arguments,
        .problem = &r->plan->plan.problem,
        .algo = r->form,
        .limit_s = LIMIT_S,
    };

    layout_text(&r->plan->plan.layout, layout);
    conv_c_name(name, r->plan->layer, 0);
    snprintf(path, sizeof path, "CODE=%s", code);
    snprintf(function, sizeof function, "FUNCTION=%s", name);
    return exp_guest_run(&run, why);
}

/* The emulator tells of no prefetches. */
static struct sim_machine machine_seen(const struct sim_machine *m)
{
    struct sim_machine seen = *m;

    seen.has_software_prefetch = false;
    return seen;
}

static int replay_into(struct sim_sink *sink, const struct run *r)
{
    struct conv_replay replay;

    conv_replay_init(&replay, &r->plan->plan, sink);
    for (size_t i = 0; i < r->seen->n_buffers; i++) {
        if (r->seen->buffer[i].tag != CONV_IM2COL)
            replay.bind.addr[r->seen->buffer[i].tag] = r->seen->buffer[i].address;
    }
    return conv_nest_run(&r->plan->plan, &replay.base);
}

static struct sim_cell sum_phases(const struct sim_stats *stats, enum conv_tensor t)
{
    struct sim_cell sum = { .loads = 0 };

    for (unsigned p = 0; p < SIM_MAX_PHASES; p++) {
        const struct sim_cell *c = &stats->cell[t][p];

        sum.loads += c->loads;
        sum.stores += c->stores;
        for (size_t l = 0; l < stats->n_levels; l++)
            sum.level[l].load_misses += c->level[l].load_misses;
    }
    return sum;
}

/* Sends a stream through the caches, and takes the counts of each tensor. */
static int simulate(const struct run *r, const struct exp_emit_stream *s, struct sim_cell of[CONV_N_TENSORS])
{
    const struct sim_machine machine = machine_seen(r->watch->machine);
    struct sim_hierarchy *h;
    int err = sim_hierarchy_new(&h, &machine);

    if (err)
        return err;
    exp_emit_stream_emit(s, sim_hierarchy_sink(h));
    err = sim_hierarchy_error(h);
    r->o->n_levels = machine.n_levels;
    for (unsigned t = 0; t < CONV_N_TENSORS; t++)
        of[t] = sum_phases(sim_hierarchy_stats(h), (enum conv_tensor)t);
    sim_hierarchy_free(h);
    return err;
}

static int judge(const struct run *r, struct exp_emit_stream *seen, struct exp_emit_stream *replayed)
{
    struct sim_cell observed[CONV_N_TENSORS], expected[CONV_N_TENSORS];
    int err = replay_into(&replayed->expander.sink, r);

    if (!err && replayed->is_short_of_memory)
        err = -ENOMEM;
    for (unsigned t = 0; t < CONV_N_TENSORS && !err; t++)
        err = exp_emit_stream_compare(seen, replayed, (enum conv_tensor)t, &r->o->of[t].likeness);
    if (!err)
        err = simulate(r, seen, observed);
    if (!err)
        err = simulate(r, replayed, expected);
    for (unsigned t = 0; t < CONV_N_TENSORS && !err; t++) {
        r->o->of[t].observed = observed[t];
        r->o->of[t].replayed = expected[t];
    }
    return err;
}

static int compare(const struct run *r, struct exp_why *why)
{
    struct exp_emit_stream seen, replayed;
    int err;

    exp_emit_stream_init(&seen);
    exp_emit_stream_init(&replayed);
    err = exp_emit_stream_read(&seen, r->folder.path[TRACE], why);
    if (!err) {
        err = judge(r, &seen, &replayed);
        if (err)
            exp_fail(why, err, "streams cannot be compared: %s", strerror(-err));
    }
    exp_emit_stream_release(&seen);
    exp_emit_stream_release(&replayed);
    return err;
}

static int observe_code(void *ctx, const char *code, struct exp_why *why)
{
    struct run *r = ctx;
    int err = open_folder(&r->folder, r->watch->machine, why);

    if (err)
        return err;
    err = run_guest(r, code, why);
    if (!err)
        err = obs_result_read(r->seen, r->folder.path[RESULT], why->text, sizeof why->text);
    if (!err)
        err = compare(r, why);
    close_folder(&r->folder);
    return err;
}

const char *exp_emit_why_not_observed(const struct exp_emit_watch *w, const struct conv_plan *plan)
{
    if (access(w->observer, R_OK) || access(w->guest, X_OK))
        return "the observer and its guest were not built: make streams does that, in the project's folder";
    if (exp_emulator_for(plan->ukr)->isa != plan->ukr->isa)
        return "the emulator runs code for AVX2 only: UKR=avx2";
    return plan->sconv.options.packs_filters ? "filters are packed before: FILTERS=ahead" : NULL;
}

int exp_emit_observe(enum exp_emit_what what, const struct conv_noted_plan *plan, const struct exp_emit_watch *w,
                     struct exp_emit_observed *o, struct exp_why *why)
{
    struct run r = { .watch = w, .plan = plan, .form = exp_emit_name(what), .o = o };
    const char *why_not = exp_emit_why_not_observed(w, &plan->plan);
    int err;

    *o = (struct exp_emit_observed){ .n_levels = 0 };
    if (why_not)
        return exp_fail(why, -ENOTSUP, "%s", why_not);
    r.seen = calloc(1, sizeof *r.seen);
    if (!r.seen)
        return exp_fail(why, -ENOMEM, "out of memory");
    err = exp_emit_compile(what, plan, 1, &(struct conv_fusion){ .adds_bias = false }, false, observe_code, &r, why);
    free(r.seen);
    return err;
}

/* ---- the table ---- */

static const struct exp_csv_column columns[] = {
    { "layer", "", "name of the layer", "" },
    { "code", "", "the form of generated code, as EMIT names it", "" },
    { "tensor", "", "whose accesses; im2col: what the code allocates for itself", "" },
    { "streams", "",
      "in order: address, width and kind of every access are the replay's, one after the other; reordered: as a set; "
      "more: all of the replay's, and others; bytes: each byte is loaded and stored as often, in other widths; other: "
      "not even that",
      "emulation" },
    { "observed_loads", "", "load instructions of the code", "emulation" },
    { "replayed_loads", "", "of its plan's replay", "replay" },
    { "observed_stores", "", "store instructions of the code", "emulation" },
    { "replayed_stores", "", "of its plan's replay", "replay" },
    { "observed_l1_load_misses", "lines", "of the code's stream in the simulated caches, the first level",
      "emulation" },
    { "replayed_l1_load_misses", "lines", "of the replay", "replay" },
    { "observed_l2_load_misses", "lines", "the second level", "emulation" },
    { "replayed_l2_load_misses", "lines", "of the replay", "replay" },
    { "observed_l3_load_misses", "lines", "the third level", "emulation" },
    { "replayed_l3_load_misses", "lines", "of the replay", "replay" },
};

const struct exp_csv_file exp_emit_observe_file = EXP_CSV_FILE("streams.csv", columns);

enum { FIRST_COUNT = 4, FIRST_LEVEL = 8, N_COLUMNS = sizeof columns / sizeof columns[0] };

/* Writes a column's count of both, the observed one first. */
static void write_pair(struct exp_csv *csv, size_t column, uint64_t observed, uint64_t replayed)
{
    exp_csv_u64(csv, columns[column].name, observed);
    exp_csv_u64(csv, columns[column + 1].name, replayed);
}

static void begin_row(struct exp_csv *csv, const struct conv_noted_plan *plan, enum exp_emit_what what,
                      enum conv_tensor t)
{
    exp_csv_string(csv, "layer", plan->layer);
    exp_csv_string(csv, "code", exp_emit_name(what));
    exp_csv_string(csv, "tensor", conv_tensor_name(t));
}

static void write_tensor(struct exp_csv *csv, const struct exp_emit_seen *s, size_t n_levels)
{
    exp_csv_string(csv, "streams", exp_emit_likeness_name(s->likeness));
    write_pair(csv, FIRST_COUNT, s->observed.loads, s->replayed.loads);
    write_pair(csv, FIRST_COUNT + 2, s->observed.stores, s->replayed.stores);
    for (size_t c = FIRST_LEVEL; c < N_COLUMNS; c += 2) {
        size_t level = (c - FIRST_LEVEL) / 2;

        if (level < n_levels) {
            write_pair(csv, c, s->observed.level[level].load_misses, s->replayed.level[level].load_misses);
        } else {
            exp_csv_empty(csv, columns[c].name);
            exp_csv_empty(csv, columns[c + 1].name);
        }
    }
    exp_csv_end_row(csv);
}

static bool is_touched(const struct exp_emit_seen *s)
{
    return s->observed.loads || s->observed.stores || s->replayed.loads || s->replayed.stores;
}

static void write_form(struct exp_csv *csv, const struct conv_noted_plan *plan, enum exp_emit_what what,
                       const struct exp_emit_observed *o)
{
    printf("%-28s %-14s", plan->layer, exp_emit_name(what));
    for (unsigned t = 0; t < CONV_N_TENSORS; t++) {
        if (!is_touched(&o->of[t]))
            continue;
        begin_row(csv, plan, what, (enum conv_tensor)t);
        write_tensor(csv, &o->of[t], o->n_levels);
        printf(" %s %s;", conv_tensor_name((enum conv_tensor)t), exp_emit_likeness_name(o->of[t].likeness));
    }
    printf("\n");
}

/* Says of the first tensor why there is nothing of any. */
static void write_missing(struct exp_csv *csv, const struct conv_noted_plan *plan, enum exp_emit_what what,
                          const char *why)
{
    begin_row(csv, plan, what, CONV_INPUT);
    for (size_t c = FIRST_COUNT - 1; c < N_COLUMNS; c++)
        exp_csv_missing(csv, columns[c].name, why);
    exp_csv_end_row(csv);
    printf("%-28s %-14s not observed: %s\n", plan->layer, exp_emit_name(what), why);
}

int exp_emit_observe_forms(const struct conv_noted_plan *plan, const struct exp_emit_watch *w, struct exp_csv *csv,
                           struct exp_why *why)
{
    for (int what = 0; what < EXP_EMIT_N_FORMS; what++) {
        struct exp_emit_observed o;
        const char *missing = exp_emit_why_no_compiler((enum exp_emit_what)what);
        int err = missing ? exp_fail(why, -ENOENT, "%s", missing)
                          : exp_emit_observe((enum exp_emit_what)what, plan, w, &o, why);

        if (err == -EINTR || err == -ENOMEM)
            return err;
        if (err)
            write_missing(csv, plan, (enum exp_emit_what)what, why->text);
        else
            write_form(csv, plan, (enum exp_emit_what)what, &o);
    }
    return exp_csv_error(csv);
}
