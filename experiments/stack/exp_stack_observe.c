#include "experiments/stack/exp_stack_observe.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_pool.h"
#include "experiments/base/exp_program.h"
#include "kernels/backend/backend.h"
#include "kernels/ukr/dispatch.h"

enum { LIMIT_S = 120 };

/* OpenBLAS's cores whose kernels are told apart by name, beside the emulator's own. */
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

/* Tells whether a function runs between the steps only because they are watched. */
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

void exp_stack_take_seen(struct exp_stack_sample *s, const struct obs_result *seen)
{
    for (size_t i = 0; i < seen->n_outside; i++) {
        const struct obs_outside *o = &seen->outside[i];

        if (is_guests_own(o->function))
            continue;
        s->loads[o->phase] += (double)o->loads;
        s->stores[o->phase] += (double)o->stores;
    }
    for (unsigned phase = 0; phase < CONV_N_PHASES; phase++)
        s->lines[phase] = (double)seen->outside_lines[phase];
    s->is_other_work = exp_guest_used_small_kernels(seen);
}

/* ---- all layers ---- */

struct observing {
    struct exp_stack_study *study;
    struct exp_emulator emulator; /* with the core in turn */
    struct exp_experiment e;
    bool is_other_core;
    char folder[64], *machine_path;
    struct exp_stack_sample *sample; /* [e.n_cases] */
    struct exp_why *why;
};

/* The result, and what an observer leaves of a guest that failed. */
static void remove_files(const char *out)
{
    char *watched = out ? exp_format("%s.watched", out) : NULL;

    if (out)
        remove(out);
    if (watched)
        remove(watched);
    free(watched);
}

static int observe_case(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct observing *ob = ctx;
    const struct exp_case *c = &ob->e.cases[index];
    struct obs_result *seen = calloc(1, sizeof *seen);
    char *out = exp_format("%s/%zu", ob->folder, index);
    struct exp_why why = { "out of memory" };
    struct exp_guest_run run = {
        .emulator = &ob->emulator,
        .observer = ob->study->observer,
        .guest = ob->study->guest,
        .machine_path = ob->machine_path,
        .out = out,
        .problem = &c->layer->problem,
        .algo = c->algo->name,
        .ukr = sim_cpu_isa_suffix(ob->study->setup.ukr->isa),
        .core = ob->emulator.core,
        .limit_s = LIMIT_S,
    };
    int err = seen && out ? 0 : -ENOMEM;

    (void)thread;
    if (!err)
        err = exp_guest_run(&run, &why);
    if (!err)
        err = obs_result_read(seen, out, why.text, sizeof why.text);
    if (!err) {
        exp_stack_measure_work(&ob->sample[index], c);
        exp_stack_take_seen(&ob->sample[index], seen);
    }
    if (err && !exp_pool_stopped(pool))
        exp_say(ob->why->text, sizeof ob->why->text, "%s, %s: %s", c->layer->name, c->algo->name, why.text);
    remove_files(out);
    free(out);
    free(seen);
    return err;
}

/* Algorithms that can be replayed; with another core only those that run it. */
static unsigned algos_of(const struct exp_setup *s, bool is_other_core)
{
    unsigned algos = 0;

    for (unsigned i = 0; i < EXP_N_ALGOS; i++) {
        const struct exp_algo *a = exp_algo_at(i);
        bool runs_core = a == exp_algo_base() || !strcmp(a->name, "sconv_openblas");

        algos |= (unsigned)(!a->why_not_replay(s) && (runs_core || !is_other_core)) << i;
    }
    return algos;
}

static int observe_core(struct observing *ob, unsigned n_threads)
{
    struct exp_stack_study *study = ob->study;
    struct exp_stack_sample *more;
    int err =
        exp_experiment_plan(&ob->e, &study->setup, &study->model, algos_of(&study->setup, ob->is_other_core), ob->why);

    more = err ? NULL : realloc(study->sample, (study->n_samples + ob->e.n_cases) * sizeof *more);
    if (!err && !more)
        err = exp_fail(ob->why, -ENOMEM, "out of memory");
    if (!err) {
        study->sample = more;
        ob->sample = more + study->n_samples;
        memset(ob->sample, 0, ob->e.n_cases * sizeof *ob->sample);
        study->n_samples += ob->e.n_cases;
        err = exp_pool_run(ob->e.n_cases, n_threads, observe_case, ob, exp_interrupted, NULL);
    }
    exp_experiment_release(&ob->e);
    return err;
}

/* Today's program has copies of its machine code beside it. */
static bool has_copies(const char *guest)
{
    char *path = exp_guest_rewritten_path(guest);
    bool has = !*guest || (path && !access(path, R_OK));

    free(path);
    return has;
}

/* Copies show what an emulator does, and take a tenth of the time. */
const struct exp_emulator *exp_stack_emulator(const struct sim_machine *m, const char *guest)
{
    const struct conv_ukr *found = conv_ukr_find(m->ukr), *ukr = found ? found : conv_ukr_best();
    const struct exp_emulator *by_copies = exp_emulator_copied(ukr->isa);
    bool is_emulated = exp_emulator_for(ukr)->isa == ukr->isa && !(has_copies(guest) && conv_ukr_runs(ukr));

    return by_copies && !is_emulated ? by_copies : exp_emulator_for(ukr);
}

/* Kernels of the machine's family that its emulator runs, planned for its caches alone: all that plans depend on. */
static int set_up(struct exp_stack_study *study, const struct exp_emulator *e, struct exp_why *why)
{
    exp_setup_release(&study->setup);
    study->setup = (struct exp_setup){ .machine = sim_machine_caches_alone(&study->machine) };
    return exp_setup_init(&study->setup, sim_cpu_isa_suffix(e->isa), e->core, why);
}

static int write_machine(const struct observing *ob)
{
    FILE *out = fopen(ob->machine_path, "w");
    int err = out ? sim_machine_print(&ob->study->setup.machine, out) : -errno;

    if (out && fclose(out) && !err)
        err = -errno;
    return err ? exp_fail(ob->why, err, "cannot write '%s': %s", ob->machine_path, strerror(-err)) : 0;
}

/* Every algorithm with one of OpenBLAS's cores. */
static int observe_with(struct observing *ob, unsigned n_threads)
{
    int err = set_up(ob->study, &ob->emulator, ob->why);

    if (!err)
        err = write_machine(ob);
    return err ? err : observe_core(ob, n_threads);
}

static int observe_cores(struct observing *ob, unsigned n_threads)
{
    int err = observe_with(ob, n_threads);

    ob->is_other_core = true;
    for (size_t i = 0; i < N_OTHER_CORES && !err; i++) {
        if (other_cores[i].isa != ob->emulator.isa)
            continue;
        ob->emulator.core = other_cores[i].core;
        ob->emulator.coretype = ob->emulator.coretype ? other_cores[i].core : NULL;
        err = observe_with(ob, n_threads);
    }
    return err;
}

static int observe(struct exp_stack_study *study, unsigned n_threads, struct exp_why *why)
{
    struct observing ob = { .study = study, .folder = "/tmp/stack-XXXXXX", .why = why };
    int err;

    study->emulator = exp_stack_emulator(&study->machine, study->guest);
    if (!study->emulator->program && !has_copies(study->guest))
        return exp_fail(why, -ENOTSUP,
                        "GUEST: no emulator runs %s, and there is no '%s.rewritten', copies of its machine code",
                        sim_cpu_isa_name(study->emulator->isa), study->guest);
    err = mkdtemp(ob.folder) ? 0 : exp_fail(why, -errno, "cannot make '%s'", ob.folder);
    if (err)
        return err;
    ob.emulator = *study->emulator;
    ob.machine_path = exp_format("%s/machine.cfg", ob.folder);
    err = ob.machine_path ? observe_cores(&ob, n_threads) : exp_fail(why, -ENOMEM, "out of memory");
    if (ob.machine_path)
        remove(ob.machine_path);
    rmdir(ob.folder);
    free(ob.machine_path);
    return err;
}

/* ---- fitting ---- */

static void widen(double range[2], double share)
{
    range[0] = fmin(range[0], share);
    range[1] = fmax(range[1], share);
}

static void add_error(struct exp_stack_result *r, const struct exp_stack_sample *s)
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

/* Those of use of the same algorithm and micro-kernel as sample i; 0 if an earlier one was the first of them. */
static size_t alike(const struct exp_stack_study *study, size_t i, const struct exp_stack_sample **of)
{
    const struct exp_stack_sample *s = study->sample;
    size_t n = 0;

    for (size_t k = 0; k < study->n_samples && !s[i].is_other_work; k++) {
        if (s[k].is_other_work || strcmp(s[k].algo, s[i].algo) || strcmp(s[k].ukr, s[i].ukr))
            continue;
        if (k < i)
            return 0;
        of[n++] = &s[k];
    }
    return n;
}

static int fit(struct exp_stack_study *study, struct exp_why *why)
{
    const struct exp_stack_sample **of = calloc(study->n_samples + 1, sizeof *of);

    if (!of)
        return exp_fail(why, -ENOMEM, "out of memory");
    for (size_t i = 0; i < study->n_samples && study->n_results < EXP_STACK_MAX_RESULTS; i++) {
        struct exp_stack_result *r = &study->result[study->n_results];
        size_t n = alike(study, i, of);

        if (!n)
            continue;
        *r = (struct exp_stack_result){ .record = { .algo = of[0]->algo, .ukr = of[0]->ukr },
                                        .n = n,
                                        .load_share = { 1, 0 },
                                        .store_share = { 1, 0 } };
        exp_stack_fit(&r->record.stack, of, n);
        for (size_t k = 0; k < n; k++)
            add_error(r, of[k]);
        study->n_results++;
    }
    free(of);
    return 0;
}

int exp_stack_study(struct exp_stack_study *study, unsigned n_threads, struct exp_why *why)
{
    int err = observe(study, n_threads, why);

    return err ? err : fit(study, why);
}

void exp_stack_study_release(struct exp_stack_study *study)
{
    free(study->sample);
    exp_model_release(&study->model);
    exp_setup_release(&study->setup);
}
