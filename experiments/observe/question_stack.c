/*
 * Finds the accesses of compiled code to its stack: layers run observed, all accesses outside the tensors are counted,
 * and costs of units of work are fitted to the counts. Writes a table of recorded stacks (bench/case/stack.h). `stack
 * --help` lists the options; `make stack` passes the options on.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/outdir.h"
#include "experiments/base/stats.h"
#include "experiments/base/tasks.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/observe/guest.h"
#include "experiments/observe/stack_study.h"
#include "kernels/backend/backend.h"
#include "kernels/ukr/dispatch.h"

/* ---- fitting ---- */

enum { N_SWEEPS = 5000 };

struct exp_stack_error exp_stack_compare(const struct conv_stack *stack, const struct exp_stack_sample *s)
{
    struct exp_stack_error e = { 0 };

    for (unsigned p = 0; p < CONV_N_PHASES; p++) {
        const double *work = s->work[p];

        e.all_loads += work[CONV_WORK_LOAD] + work[CONV_WORK_PLAIN_LOAD] + s->loads[p];
        e.all_stores += work[CONV_WORK_STORE] + work[CONV_WORK_PLAIN_STORE] + s->stores[p];
        e.loads += exp_costs_sum(CONV_N_WORKS, work, stack->phase[p].loads) - s->loads[p];
        e.stores += exp_costs_sum(CONV_N_WORKS, work, stack->phase[p].stores) - s->stores[p];
    }
    return e;
}

/* Costs of work. Each work has a unit of its own, so all costs have equal weight. */
struct fitting {
    struct exp_costs costs;
    double unit[CONV_N_WORKS]; /* the most of a sample; 0: no sample has the work */
};

static struct fitting begin_fitting(const struct exp_stack_sample *const sample[], size_t n, unsigned phase)
{
    struct fitting f = { .costs.n = CONV_N_WORKS };

    for (unsigned w = 0; w < CONV_N_WORKS; w++) {
        for (size_t i = 0; i < n; i++)
            f.unit[w] = fmax(f.unit[w], sample[i]->work[phase][w]);
    }
    return f;
}

/* Returns the place of a work among the costs: the finest work comes first, steps last. */
static unsigned place_of(unsigned work)
{
    return CONV_N_WORKS - 1 - work;
}

/* Adds a sample: `counted` for the work, with errors as shares of `all`. */
static void add_sample(struct fitting *f, const double work[CONV_N_WORKS], double counted, double all)
{
    double amount[CONV_N_WORKS];

    for (unsigned w = 0; w < CONV_N_WORKS; w++)
        amount[place_of(w)] = f->unit[w] > 0 ? work[w] / f->unit[w] : 0;
    exp_costs_add(&f->costs, amount, counted, all, 1);
}

/* Where too few layers separate the costs, costs of fine work hold for further layers, and costs of a step do not. */
static void end_fitting(const struct fitting *f, double found[CONV_N_WORKS])
{
    double cost[CONV_N_WORKS] = { 0 };

    exp_costs_solve(&f->costs, N_SWEEPS, cost);
    for (unsigned w = 0; w < CONV_N_WORKS; w++)
        found[w] = f->unit[w] > 0 ? cost[place_of(w)] / f->unit[w] : 0;
}

static void fit_phase(struct conv_stack_phase *fitted, const struct exp_stack_sample *const sample[], size_t n,
                      unsigned phase)
{
    struct fitting loads = begin_fitting(sample, n, phase), stores = loads, instructions = loads, branches = loads;
    double lines = 0, n_used = 0;

    for (size_t i = 0; i < n; i++) {
        const struct exp_stack_error all = exp_stack_compare(&(struct conv_stack){ 0 }, sample[i]);

        if (sample[i]->work[phase][CONV_WORK_STEP] <= 0)
            continue;
        add_sample(&loads, sample[i]->work[phase], sample[i]->loads[phase], all.all_loads);
        add_sample(&stores, sample[i]->work[phase], sample[i]->stores[phase], all.all_stores);
        add_sample(&instructions, sample[i]->work[phase], sample[i]->instructions[phase], all.all_loads);
        add_sample(&branches, sample[i]->work[phase], sample[i]->branches[phase], all.all_loads);
        lines += sample[i]->lines[phase];
        n_used++;
    }
    end_fitting(&loads, fitted->loads);
    end_fitting(&stores, fitted->stores);
    end_fitting(&instructions, fitted->instructions);
    end_fitting(&branches, fitted->branches);
    fitted->lines = n_used > 0 ? (uint32_t)fmax(1, round(lines / n_used)) : 1;
}

void exp_stack_fit(struct conv_stack *stack, const struct exp_stack_sample *const sample[], size_t n)
{
    for (unsigned phase = 0; phase < CONV_N_PHASES; phase++)
        fit_phase(&stack->phase[phase], sample, n, phase);
}

enum { LIMIT_S = 120, THREADS = 2, MAX_RESULTS = 32 };

/* OpenBLAS's cores with kernels of distinct names, beside the emulator's own core. */
static const struct {
    enum cpu_isa isa;
    const char *core;
} other_cores[] = { { CPU_ISA_AVX2, "Zen" }, { CPU_ISA_AVX512, "Cooperlake" } };

enum { N_OTHER_CORES = sizeof other_cores / sizeof other_cores[0] };

/* ---- one layer ---- */

/* Adds up the work of every step. */
struct measuring {
    struct conv_backend base;
    struct conv_replay replay;
    struct conv_work_meter meter;
    struct exp_stack_sample *sample;
};

static int measure_step(struct conv_backend *self, const struct conv_step *step)
{
    struct measuring *m = (struct measuring *)self;
    double work[CONV_N_WORKS];
    int err = m->replay.base.step(&m->replay.base, step);

    conv_work_meter_take(&m->meter, m->replay.plan, &m->replay.bind, step, work);
    for (unsigned w = 0; w < CONV_N_WORKS; w++)
        m->sample->work[conv_step_phase(step->kind)][w] += work[w];
    return err;
}

void exp_stack_measure_work(struct exp_stack_sample *s, const struct exp_case *c)
{
    struct measuring m = { .base.step = measure_step, .sample = s };

    s->algo = c->algo->name;
    s->ukr = exp_stack_kernel(&c->plan);
    s->layer = c->layer->name;
    conv_work_meter_init(&m.meter, NULL);
    conv_replay_init(&m.replay, &c->plan, &m.meter.sink);
    conv_nest_run(&c->plan, &m.base);
}

/* Tells whether a function runs between the steps only because of the watching. */
static bool is_guests_own(const char *function)
{
    static const char *const own[] = { "step_marked", "run_marked", "mark",     "lower_marked",
                                       "run",         "run_nest",   "run_base", "main" };

    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (!strcmp(own[i], function))
            return true;
    }
    return false;
}

void exp_stack_take_seen(struct exp_stack_sample *s, const struct watch_result *seen)
{
    for (size_t i = 0; i < seen->n_outside; i++) {
        const struct watch_outside *o = &seen->outside[i];

        if (is_guests_own(o->function))
            continue;
        s->loads[o->phase] += (double)o->loads;
        s->stores[o->phase] += (double)o->stores;
    }
    for (unsigned phase = 0; phase < CONV_N_PHASES; phase++) {
        s->lines[phase] = (double)seen->outside_lines[phase];
        for (unsigned c = 0; c < WATCH_N_CLASSES; c++)
            s->instructions[phase] += (double)seen->instructions[phase][c];
        s->branches[phase] = (double)seen->instructions[phase][WATCH_BRANCH];
    }
    s->is_other_work = exp_guest_used_small_kernels(seen);
}

/* ---- all layers ---- */

struct options {
    const char *shapes, *machine, *observer, *guest, *out, *commit;
    bool asks_guest;
};

/*
 * An algorithm with a micro-kernel: the stack, the least and greatest share of a layer's accesses, the greatest error.
 */
struct result {
    struct exp_stack_record record;
    size_t n; /* layers */
    double load_share[2], store_share[2];
    double load_error, store_error;
    double tensors, beside; /* accesses of all layers together: to tensors, and beside tensors */
};

struct session {
    struct options options;
    struct sim_machine machine;
    struct exp_model model;
    struct exp_setup setup;
    struct exp_emulator emulator; /* with the present core */
    bool is_other_core;
    struct exp_experiment e; /* with the emulator's setup */
    struct exp_workdir folder;
    char *machine_path;
    size_t n_samples;
    struct exp_stack_sample *sample; /* [n_samples]: the samples of e come last */
    size_t n_results;
    struct result result[MAX_RESULTS];
    struct exp_why why;
};

static int observe_case(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct session *s = ctx;
    struct exp_stack_sample *sample = s->sample + s->n_samples - s->e.n_cases + index;
    const struct exp_case *c = &s->e.cases[index];
    struct watch_result *seen = exp_new(1, sizeof *seen);
    char *out = exp_format("%s/%zu", s->folder.path, index);
    struct exp_why why = { "" };
    const struct exp_guest_run run = {
        .emulator = &s->emulator,
        .observer = s->options.observer,
        .guest = s->options.guest,
        .machine_path = s->machine_path,
        .out = out,
        .problem = &c->layer->problem,
        .algo = c->algo->name,
        .ukr = sim_cpu_isa_suffix(s->setup.ukr->isa),
        .core = s->emulator.core,
        .limit_s = LIMIT_S,
    };
    int err = c->why_refused ? 0 : exp_guest_run(&run, seen, &why);

    (void)thread;
    sample->is_other_work = c->why_refused != NULL;
    if (!err && !c->why_refused) {
        exp_stack_measure_work(sample, c);
        exp_stack_take_seen(sample, seen);
    }
    if (err && !exp_pool_stopped(pool))
        exp_fail(&s->why, err, "%s, %s: %s", c->layer->name, c->algo->name, why.text);
    free(out);
    free(seen);
    return err;
}

/* Returns the algorithms that can be replayed; for a further core only the algorithms that run the core. */
static unsigned algos_of(const struct exp_setup *s, bool is_other_core)
{
    unsigned algos = 0;

    for (unsigned i = 0; i < exp_algo_count(); i++) {
        const struct exp_algo *a = exp_algo_at(i);
        bool runs_core = a == exp_algo_base() || !strcmp(a->name, "sconv_openblas");

        algos |= (unsigned)(!a->why_not_replay(s) && (runs_core || !is_other_core)) << i;
    }
    return algos;
}

/* Tells whether copies of the machine code lie beside the guest. */
static bool has_copies(const char *guest)
{
    char *path = exp_guest_rewritten_path(guest);
    bool has = !*guest || !access(path, R_OK);

    free(path);
    return has;
}

/* Copies see the accesses that an emulator sees, in a tenth of the time. */
static const struct exp_emulator *choose_emulator(const struct sim_machine *m, const char *guest)
{
    const struct conv_ukr *found = conv_ukr_find(m->ukr), *ukr = found ? found : conv_ukr_best();
    const struct exp_emulator *by_copies = exp_emulator_copied(ukr->isa);
    bool is_emulated = exp_emulator_for(ukr)->isa == ukr->isa && !(has_copies(guest) && conv_ukr_runs(ukr));

    return by_copies && !is_emulated ? by_copies : exp_emulator_for(ukr);
}

/*
 * Observes every algorithm with one of OpenBLAS's cores: kernels of the machine's family that the emulator runs,
 * planned for the caches alone, because plans depend on nothing else.
 */
static int observe_core(struct session *s)
{
    int err;

    exp_setup_release(&s->setup);
    s->setup = (struct exp_setup){ .machine = sim_machine_caches_alone(&s->machine) };
    err = exp_setup_init(&s->setup, sim_cpu_isa_suffix(s->emulator.isa), s->emulator.core, &s->why);
    if (!err)
        err = exp_workdir_write_machine(s->machine_path, &s->setup.machine, &s->why);
    if (!err)
        err = exp_experiment_plan(&s->e, &s->setup, &s->model, algos_of(&s->setup, s->is_other_core), &s->why);
    if (err)
        return err;
    s->sample = exp_resize(s->sample, s->n_samples + s->e.n_cases, sizeof *s->sample);
    memset(s->sample + s->n_samples, 0, s->e.n_cases * sizeof *s->sample);
    s->n_samples += s->e.n_cases;
    err = exp_pool_run(s->e.n_cases, THREADS, observe_case, s, exp_interrupted, NULL);
    exp_experiment_release(&s->e);
    return err;
}

static int observe(struct session *s)
{
    int err = exp_workdir_open(&s->folder, exp_workdir_temporary(), &s->why);

    if (err)
        return err;
    s->machine_path = exp_format("%s/machine.cfg", s->folder.path);
    err = observe_core(s);
    s->is_other_core = true;
    for (size_t i = 0; i < N_OTHER_CORES && !err; i++) {
        if (other_cores[i].isa != s->emulator.isa)
            continue;
        s->emulator.core = other_cores[i].core;
        s->emulator.coretype = s->emulator.coretype ? other_cores[i].core : NULL;
        err = observe_core(s);
    }
    exp_workdir_close(&s->folder);
    return err;
}

/* ---- results ---- */

static void widen(double range[2], double share)
{
    range[0] = fmin(range[0], share);
    range[1] = fmax(range[1], share);
}

static void add_error(struct result *r, const struct exp_stack_sample *s)
{
    struct exp_stack_error none = exp_stack_compare(&(struct conv_stack){ 0 }, s);
    struct exp_stack_error e = exp_stack_compare(&r->record.stack, s);

    widen(r->load_share, -none.loads / none.all_loads);
    widen(r->store_share, -none.stores / none.all_stores);
    r->load_error = fmax(r->load_error, fabs(e.loads) / e.all_loads);
    r->store_error = fmax(r->store_error, fabs(e.stores) / e.all_stores);
    r->beside -= none.loads + none.stores;
    r->tensors += none.all_loads + none.all_stores + none.loads + none.stores;
}

/* Returns the useful samples of sample i's algorithm and micro-kernel; 0 if an earlier sample was the first. */
static size_t alike(const struct session *session, size_t i, const struct exp_stack_sample **of)
{
    const struct exp_stack_sample *s = session->sample;
    size_t n = 0;

    for (size_t k = 0; k < session->n_samples && !s[i].is_other_work; k++) {
        if (s[k].is_other_work || strcmp(s[k].algo, s[i].algo) || strcmp(s[k].ukr, s[i].ukr))
            continue;
        if (k < i)
            return 0;
        of[n++] = &s[k];
    }
    return n;
}

static void fit(struct session *s)
{
    const struct exp_stack_sample **of = exp_new(s->n_samples + 1, sizeof *of);

    for (size_t i = 0; i < s->n_samples && s->n_results < MAX_RESULTS; i++) {
        struct result *r = &s->result[s->n_results];
        size_t n = alike(s, i, of);

        if (!n)
            continue;
        *r = (struct result){ .record = { .algo = of[0]->algo, .ukr = of[0]->ukr },
                              .n = n,
                              .load_share = { 1, 0 },
                              .store_share = { 1, 0 } };
        exp_stack_fit(&r->record.stack, of, n);
        for (size_t k = 0; k < n; k++)
            add_error(r, of[k]);
        s->n_results++;
    }
    free(of);
}

/* ---- the table ---- */

static void print_errors(const struct result *r, FILE *out, const char *before)
{
    fprintf(out, "%s%-15s %-18s %2zu layers; of all loads the stack is %2.0f to %2.0f %%, off by %.1f %% at most; ",
            before, r->record.algo, r->record.ukr, r->n, 100 * r->load_share[0], 100 * r->load_share[1],
            100 * r->load_error);
    fprintf(out, "of stores %2.0f to %2.0f %%, off by %.1f %%; all layers: %.1f %% beside the tensors' accesses\n",
            100 * r->store_share[0], 100 * r->store_share[1], 100 * r->store_error, 100 * r->beside / r->tensors);
}

static int print_table(void *session, FILE *out)
{
    const struct session *s = session;

    fprintf(out, "# What compiled code does on its stack (kernels/backend/stack.h), observed by make stack.\n");
    fprintf(out, "# commit: %s; compiler: %s\n", *s->options.commit ? s->options.commit : "unknown", __VERSION__);
    fprintf(out, "# observed: %zu layers of %s, %s, planned for %s\n", s->model.n_layers, s->options.shapes,
            s->emulator.source, s->machine.name);
    for (size_t i = 0; i < s->n_results; i++)
        print_errors(&s->result[i], out, "# ");
    exp_stack_print_header(out);
    for (size_t i = 0; i < s->n_results; i++)
        exp_stack_print(&s->result[i].record, out);
    return 0;
}

static int write_table(struct session *s)
{
    char *path = *s->options.out ? exp_copy_text(s->options.out) : exp_stacks_path(s->setup.ukr->isa);
    int err;

    fit(s);
    for (size_t i = 0; i < s->n_results; i++)
        print_errors(&s->result[i], stdout, "");
    err = exp_file_write(path, print_table, s, &s->why);
    if (!err)
        printf("table: %s\n", path);
    free(path);
    return err;
}

/* ---- the course ---- */

static int find_machine(struct session *s)
{
    int err = exp_machine_find(&s->machine, s->options.machine, "results", &s->why);

    if (!err)
        s->emulator = *choose_emulator(&s->machine, s->options.guest);
    return err;
}

static int print_guest(void *session)
{
    struct session *s = session;
    int err = find_machine(s);

    if (!err)
        puts(s->emulator.arch);
    return err;
}

static int prepare(void *session)
{
    struct session *s = session;
    int err = find_machine(s);

    if (!err && (!*s->options.guest || !*s->options.observer))
        err = exp_fail(&s->why, -EINVAL,
                       "GUEST and OBSERVER are wanted; make stack builds them, in the project's folder");
    if (!err)
        err = exp_model_read(&s->model, s->options.shapes, &s->why);
    if (!err && !s->emulator.program && !has_copies(s->options.guest))
        err = exp_fail(&s->why, -ENOTSUP,
                       "GUEST: no emulator runs %s, and there is no '%s.rewritten', copies of its machine code",
                       sim_cpu_isa_name(s->emulator.isa), s->options.guest);
    return err;
}

static int work(void *session)
{
    int err = observe(session);

    return err ? err : write_table(session);
}

static void release(void *session)
{
    struct session *s = session;

    exp_workdir_close(&s->folder);
    free(s->machine_path);
    free(s->sample);
    exp_model_release(&s->model);
    exp_setup_release(&s->setup);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_NAMES("MACHINE", "whose kernels are observed, and planned for (default zen3; spr: AVX-512; power10)", machine,
              "zen3"),
    EXP_PATH("SHAPES", "table of the layers that are run (default experiments/stack/shapes.csv)", shapes,
             "experiments/stack/shapes.csv"),
    EXP_PATH("GUEST", "the program that is observed, of another commit (default: today's)", guest, ""),
    EXP_PATH("OUT", "the table that is written (default experiments/stack/<CPU family>-<compiler>.csv)", out, ""),
    EXP_MADE_PATH("OBSERVER", "path of the emulator's plugin (the Makefile knows)", observer),
    EXP_COMMIT_OPTION,
    EXP_QUERY("--guest", "print the CPU family of the program that is to be observed, and stop", asks_guest),
    EXP_OPTIONS_END,
};

const struct exp_question question_stack = {
    .name = "stack",
    .is_for_developers = true,
    .asks = "Observe what compiled code does on its stack",
    .takes = "Replays of machines as they are need it. 15 seconds; 3 minutes for power10.",
    .examples = { "make stack MACHINE=spr" },
    .watches = "stack",
    .options = options,
    EXP_SESSION(struct session),
    .prepare = prepare,
    .work = work,
    .query = print_guest,
    .release = release,
};
