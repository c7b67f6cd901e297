#include "experiments/bench/case/case.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/record.h"
#include "kernels/csa/csa2.h"
#include "kernels/emit/program.h"
#include "kernels/ukr/dispatch.h"

uint64_t exp_phases_packing_ns(const struct exp_phases *x)
{
    return x->step_ns[CONV_STEP_PACK_WINDOWS] + x->step_ns[CONV_STEP_PACK_FILTERS] + x->step_ns[CONV_STEP_PACK_MATRIX] +
           x->step_ns[CONV_STEP_WINOGRAD_IN] + x->step_ns[CONV_STEP_WINOGRAD_FILTERS] +
           x->step_ns[CONV_STEP_WINOGRAD_OUT];
}

uint64_t exp_phases_kernel_ns(const struct exp_phases *x)
{
    return x->step_ns[CONV_STEP_UKR] + x->step_ns[CONV_STEP_DIRECT] + x->step_ns[CONV_STEP_PRODUCT];
}

uint64_t exp_phases_other_ns(const struct exp_phases *x)
{
    return x->total_ns - exp_phases_packing_ns(x) - x->step_ns[CONV_STEP_IM2COL] - exp_phases_kernel_ns(x);
}

int exp_phases_find_parts(struct conv_blas_parts *parts, const struct exp_setup *s, struct exp_why *why)
{
    if (!s->core || !conv_gemm_core_find(s->blas.core))
        return exp_fail(why, -ENOENT, "the blocking of OpenBLAS core %s is not on record", s->blas.core);
    if (strcmp(s->core->name, s->blas.core))
        return exp_fail(why, -ENOENT, "OpenBLAS runs core %s and the plan is of core %s; CORE=%s plans for it",
                        s->blas.core, s->core->name, s->blas.core);
    return conv_blas_parts_find(parts, &s->blas, s->blas.core, SIM_WHY(why->text));
}

struct timed {
    struct conv_backend base;
    struct conv_backend *inner;
    struct conv_blas_exec *gathers; /* NULL, or inner, whose gathered micro-kernels run before the kind changes */
    uint64_t (*now_ns)(void);
    struct exp_phases *phases;
    enum conv_step_kind kind; /* CONV_N_STEP_KINDS: none yet */
    uint64_t since_ns;
};

static void change_kind(struct timed *t, enum conv_step_kind kind)
{
    uint64_t now;

    if (t->gathers)
        conv_blas_exec_flush(t->gathers);
    now = t->now_ns();
    if (t->kind < CONV_N_STEP_KINDS)
        t->phases->step_ns[t->kind] += now - t->since_ns;
    t->kind = kind;
    t->since_ns = now;
}

static int step(struct conv_backend *self, const struct conv_step *s)
{
    struct timed *t = (struct timed *)self;

    if (s->kind != t->kind)
        change_kind(t, s->kind);
    return t->inner->step(t->inner, s);
}

static int step_run(struct conv_backend *self, const struct conv_run *r)
{
    struct timed *t = (struct timed *)self;

    if (r->step.kind != t->kind)
        change_kind(t, r->step.kind);
    return conv_backend_run(t->inner, r);
}

static int run(const struct conv_plan *plan, struct timed *t)
{
    uint64_t start = t->now_ns();
    int err;

    *t->phases = (struct exp_phases){ 0 };
    err = conv_nest_run(plan, &t->base);
    change_kind(t, CONV_N_STEP_KINDS);
    t->phases->total_ns = t->since_ns - start;
    return err;
}

int exp_phases_run(const struct conv_plan *plan, const struct conv_binding *bind, uint64_t (*now_ns)(void),
                   struct exp_phases *phases)
{
    struct conv_exec exec;
    struct timed t = {
        .base = { step, step_run }, .inner = &exec.base, .now_ns = now_ns, .phases = phases, .kind = CONV_N_STEP_KINDS
    };

    conv_exec_init(&exec, plan, bind);
    return run(plan, &t);
}

int exp_phases_run_base(const struct conv_plan *plan, const struct conv_binding *bind,
                        const struct conv_blas_parts *parts, uint64_t (*now_ns)(void), struct exp_phases *phases)
{
    struct conv_blas_exec exec;
    struct timed t = { .base = { step, step_run },
                       .inner = &exec.base,
                       .gathers = &exec,
                       .now_ns = now_ns,
                       .phases = phases,
                       .kind = CONV_N_STEP_KINDS };

    conv_blas_exec_init(&exec, plan, bind, parts);
    return run(plan, &t);
}

/* ---- tensors ---- */

int exp_tensors_init(struct exp_tensors *t, const struct conv_plan *plan)
{
    const enum conv_type type = (enum conv_type)plan->problem.type;
    struct conv_exec exec;
    int err;

    *t = (struct exp_tensors){ 0 };
    err = posix_memalign(&t->arena, CONV_ARENA_ALIGN, plan->layout.arena_bytes);
    if (err)
        return -err;
    memset(t->arena, 0, plan->layout.arena_bytes);
    t->bind = conv_bind(&plan->layout, (uintptr_t)t->arena);
    exp_elements_fill(conv_out_ptr(t->bind.addr[CONV_INPUT]), plan->layout.bytes[CONV_INPUT], type,
                      EXP_TENSORS_INPUT_SEED);
    exp_elements_fill(conv_out_ptr(t->bind.addr[CONV_FILTER]), plan->layout.bytes[CONV_FILTER], type,
                      EXP_TENSORS_FILTER_SEED);
    conv_exec_init(&exec, plan, &t->bind);
    err = conv_nest_pack_filters(plan, &exec.base);
    if (err)
        exp_tensors_release(t);
    return err;
}

void exp_tensors_release(struct exp_tensors *t)
{
    free(t->arena);
    *t = (struct exp_tensors){ 0 };
}

/* ---- cases ---- */

const char *exp_count_name(enum exp_count c)
{
    static const char *const names[EXP_COMMON] = { "loads",        "l1_load_misses", "l2_load_misses", "l3_load_misses",
                                                   "instructions", "cycles",         "page_faults" };

    assert(c < EXP_COMMON || (size_t)(c - EXP_COMMON) < ctr_n_quantities());
    return c < EXP_COMMON ? names[c] : ctr_quantity_at((size_t)(c - EXP_COMMON))->name;
}

const char *exp_cache_state_name(enum exp_cache_state s)
{
    static const char *const names[] = { "cold", "warm", "network" };

    assert(s <= EXP_NETWORK);
    return names[s];
}

static size_t count_bits(unsigned bits)
{
    return bits ? 1 + count_bits(bits & (bits - 1)) : 0;
}

static size_t first_equal(const struct exp_experiment *e, size_t index)
{
    const struct exp_case *c = &e->cases[index];

    for (size_t i = 0; i < index; i++) {
        if (e->cases[i].algo == c->algo && conv_problem_equal(&e->cases[i].layer->problem, &c->layer->problem))
            return i;
    }
    return index;
}

static int plan_case(struct exp_case *c, const struct exp_setup *s, struct exp_why *why, const char *path)
{
    const struct exp_algo *planned = exp_algo_planned(c->algo, s);
    const struct conv_problem *p = &c->layer->problem;
    int err;

    for (int i = 0; i < CSA_N_SCHEDULES; i++)
        c->tiling[i] = csa_analyse(p, &s->caches, s->ukr->n_win, s->ukr->n_f, (enum csa_schedule)i);
    c->is_chosen = c->algo->when == EXP_ALGO_MEMBER && c->algo->schedule == csa_choose(c->tiling);
    c->measured.why = "not timed yet";
    for (int i = 0; i < EXP_N_COUNTS; i++)
        c->measured.count[i] = value_none("not counted");
    c->simulated.why = "not replayed yet";
    c->observed.why = s->type == CONV_F32 ? "nothing was to be observed" : "the observed programs compute f32 alone";
    c->why_refused = c->algo->why_not_layer ? c->algo->why_not_layer(s, p) : NULL;
    err = planned->plan(s, p, c->tiling, planned, &c->plan);
    if (err == -ENOENT)
        return exp_fail(why, err, "%s:%u: layer '%s' with %s: PLAN has no plan of its shape; LAYERS= chooses others",
                        path, c->layer->line, c->layer->name, c->algo->name);
    if (err)
        return exp_fail(why, err, "%s:%u: layer '%s' with %s: its buffers exceed the address space", path,
                        c->layer->line, c->layer->name, c->algo->name);
    return 0;
}

int exp_experiment_plan(struct exp_experiment *e, const struct exp_setup *setup, const struct exp_model *model,
                        unsigned algos, struct exp_why *why)
{
    size_t n = 0;
    int err = 0;

    *e = (struct exp_experiment){ .setup = setup, .model = model, .n_algos = count_bits(algos) };
    e->n_cases = e->n_algos * model->n_layers;
    e->cases = exp_new(e->n_cases, sizeof *e->cases);
    for (size_t l = 0; l < model->n_layers && !err; l++) {
        for (size_t a = 0; a < exp_algo_count() && !err; a++) {
            if (!(algos >> a & 1))
                continue;
            e->cases[n].layer = &model->layer[l];
            e->cases[n].algo = exp_algo_at(a);
            err = plan_case(&e->cases[n], setup, why, model->path);
            e->cases[n].same_as = first_equal(e, n);
            n++;
        }
    }
    if (err)
        exp_experiment_release(e);
    return err;
}

void exp_experiment_release(struct exp_experiment *e)
{
    for (size_t i = 0; i < e->n_cases; i++) {
        free(e->cases[i].measured.sample_ns);
        free(e->cases[i].measured.mark);
    }
    free(e->cases);
    *e = (struct exp_experiment){ 0 };
}

const struct exp_case *exp_case_of(const struct exp_experiment *e, const struct exp_case *c, const char *algo)
{
    const struct exp_case *first = c - (size_t)(c - e->cases) % e->n_algos;

    for (size_t i = 0; i < e->n_algos; i++) {
        if (!strcmp(first[i].algo->name, algo))
            return &first[i];
    }
    return NULL;
}

struct value exp_case_count(const struct exp_case *c, enum exp_count count)
{
    assert(count < EXP_N_COUNTS);
    return c->measured.why ? value_none(c->measured.why) : c->measured.count[count];
}

const char *exp_case_why_not_run(const struct exp_experiment *e, const struct exp_case *c)
{
    const char *refused = e->cases[c->same_as].why_refused;

    return refused ? refused : exp_algo_why_not_run(c->algo, e->setup);
}

const char *exp_algo_tensor_name(const struct exp_algo *a, enum conv_tensor t)
{
    return a->plugin && t == CONV_IM2COL ? "workspace" : conv_tensor_name(t);
}

const struct exp_case *exp_case_base(const struct exp_experiment *e, const struct exp_case *c)
{
    return exp_case_of(e, c, exp_algo_base()->name);
}

struct exp_phases exp_case_phases(const struct exp_case *c)
{
    struct exp_phases x = c->measured.phases;

    x.why = c->measured.why ? c->measured.why : x.why;
    return x;
}

struct exp_times exp_case_times(const struct exp_case *c)
{
    return exp_times_of(c->measured.sample_ns, c->measured.why ? 0 : c->measured.n_samples);
}

double exp_case_ghz(const struct exp_case *c)
{
    const struct exp_measured *k = &c->measured;
    const double slowest = k->why ? 0 : exp_case_times(c).low_mean;
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < k->n_samples && !k->why && k->mark; i++) {
        const bool counts = (double)k->sample_ns[i] <= slowest && k->mark[i].ghz > 0;

        sum += counts ? k->mark[i].ghz : 0;
        n += counts;
    }
    return n ? sum / (double)n : 0;
}

struct exp_pair exp_cases_pair(const struct exp_case *base, const struct exp_case *c)
{
    return (struct exp_pair){ base->measured.sample_ns, c->measured.sample_ns, c->measured.n_samples,
                              fmax(base->measured.slowed, c->measured.slowed) };
}

struct exp_pair exp_case_pair(const struct exp_experiment *e, const struct exp_case *c)
{
    const struct exp_case *base = exp_case_base(e, c);

    if (c->measured.why)
        return (struct exp_pair){ .n_rounds = 0 };
    if (base && !base->measured.why)
        return exp_cases_pair(base, c);
    return (struct exp_pair){ NULL, c->measured.sample_ns, c->measured.n_samples, c->measured.slowed };
}

struct exp_ratio exp_case_speedup(const struct exp_experiment *e, const struct exp_case *c)
{
    struct exp_pair pair = exp_case_pair(e, c);

    return pair.base_ns ? exp_ratio_of(&pair, 1) : exp_ratio_none();
}

bool exp_case_is_of(const struct exp_case *c, const char *algo)
{
    return strcmp(algo, exp_algo_chosen()->name) ? !strcmp(c->algo->name, algo) : c->is_chosen;
}

/* Returns the ratio of an algorithm's cases; on an undisturbed computer, as if no neighbour had slowed any round. */
static struct exp_ratio ratio_of(const struct exp_experiment *e, const char *algo, bool is_undisturbed)
{
    struct exp_pair *pair = exp_new(e->model->n_layers, sizeof *pair);
    struct exp_ratio ratio;
    size_t n = 0;

    for (size_t i = 0; i < e->n_cases; i++) {
        if (exp_case_is_of(&e->cases[i], algo) && !e->cases[i].measured.why && n < e->model->n_layers)
            pair[n++] = exp_case_pair(e, &e->cases[i]);
    }
    for (size_t i = 0; i < n && is_undisturbed; i++)
        pair[i].slowed = 0;
    ratio = exp_ratio_of(pair, n);
    free(pair);
    return ratio;
}

struct exp_ratio exp_cases_ratio(const struct exp_experiment *e, const char *algo)
{
    return ratio_of(e, algo, false);
}

bool exp_cases_stand(const struct exp_experiment *e)
{
    for (size_t i = 0; i < e->n_algos; i++) {
        const struct exp_ratio ratio = ratio_of(e, e->cases[i].algo->name, true);

        if (isfinite(ratio.value) && !exp_ratio_stands(&ratio))
            return false;
    }
    return true;
}

/* ---- plans that are not written as code ---- */

void exp_experiment_say_unwritten(const struct exp_experiment *e, const struct exp_setup *s, char *text, size_t bytes)
{
    const struct exp_algo *gen = exp_algo_find("sconv_gen_tuned"), *tuned = exp_algo_find("sconv_tuned");
    const char *first = NULL, *kernel = NULL, *why = NULL;
    size_t n = 0, n_all = 0;

    snprintf(text, bytes, "%s", "");
    for (size_t i = 0; i < e->n_cases; i++) {
        const struct exp_case *c = &e->cases[i];
        struct conv_plan plan;
        const char *reason;

        if (c->algo != gen || tuned->plan(s, &c->layer->problem, c->tiling, tuned, &plan))
            continue;
        n_all++;
        reason = conv_program_why_not(&plan);
        n += reason != NULL;
        if (!reason || first)
            continue;
        first = c->layer->name;
        kernel = conv_plan_kernel_name(&plan);
        why = reason;
    }
    if (n)
        snprintf(text, bytes,
                 "%s: the paper's plan, not libsconv's, on %zu of %zu layers, of which the first is '%s' with %s: %s",
                 gen->name, n, n_all, first, kernel, why);
}

static void write_sconv(const struct conv_plan *plan, char *text)
{
    const struct csa_tiling *t = &plan->sconv.tiling;
    const struct conv_pack_windows *usual =
        conv_pack_windows_for(&plan->view, plan->ukr, plan->sconv.options.prefetches);

    snprintf(text, EXP_PLAN_TEXT_BYTES, "%s %s nc=%zu k2=%zu k3=%zu %s%s%s%s", conv_plan_kernel_name(plan),
             t->schedule == CSA_IS ? "is" : "ws", t->n_c, t->k2, t->k3, conv_plan_windows_name(plan),
             plan->sconv.options.packs_filters ? ", filters too" : "",
             plan->sconv.options.prefetches ? ", prefetching" : "",
             plan->sconv.pack_windows == usual ? "" : ", one by one");
}

static void write_gemm(const struct conv_plan *plan, char *text)
{
    snprintf(text, EXP_PLAN_TEXT_BYTES, "%s gemm p=%zu q=%zu r=%zu %s", conv_plan_kernel_name(plan), plan->gemm.core->p,
             plan->gemm.core->q, plan->gemm.core->r, plan->gemm.needs_im2col ? "lowered" : "in place");
}

static void write_direct(const struct conv_plan *plan, char *text)
{
    snprintf(text, EXP_PLAN_TEXT_BYTES, "%s direct rows=%zu groups=%zu", conv_plan_kernel_name(plan), plan->direct.rows,
             plan->direct.groups);
}

static void write_winograd(const struct conv_plan *plan, char *text)
{
    const size_t m = plan->winograd.kernel->m;

    snprintf(text, EXP_PLAN_TEXT_BYTES, "%s winograd m=%zu block=%zu %s%s", conv_plan_kernel_name(plan), m,
             plan->winograd.block, conv_plan_windows_name(plan), plan->winograd.packs_filters ? ", filters too" : "");
}

static void write_outside(const struct conv_plan *plan, char *text)
{
    snprintf(text, EXP_PLAN_TEXT_BYTES, "plug-in %s %016" PRIx64, plan->plugin.name, plan->plugin.hash);
}

void exp_plan_text(const struct conv_plan *plan, char text[EXP_PLAN_TEXT_BYTES])
{
    static void (*const writers[])(const struct conv_plan *, char *) = {
        [CONV_SCONV] = write_sconv,       [CONV_GEMM] = write_gemm,      [CONV_DIRECT] = write_direct,
        [CONV_WINOGRAD] = write_winograd, [CONV_PLUGIN] = write_outside,
    };

    assert(plan && (size_t)plan->algorithm < sizeof writers / sizeof *writers);
    writers[plan->algorithm](plan, text);
}

static const struct conv_ukr *find_ukr(const struct conv_plan *other, const char *name)
{
    return !strcmp(conv_plan_kernel_name(other), name) ? other->ukr : conv_ukr_find(name);
}

int exp_plan_of_text(struct conv_plan *plan, const struct conv_plan *other, const char *text)
{
    char name[64], schedule[4], made[EXP_PLAN_TEXT_BYTES];
    size_t n_c, k2, k3;
    const struct conv_ukr *ukr;
    struct conv_sconv_options options;
    struct csa_tiling tiling;

    if (sscanf(text, "%63s %3s nc=%zu k2=%zu k3=%zu", name, schedule, &n_c, &k2, &k3) != 5)
        return -EINVAL;
    ukr = find_ukr(other, name);
    if (!ukr)
        return -EINVAL;
    tiling = csa2_tiling(&other->problem, ukr, strcmp(schedule, "is") ? CSA_WS : CSA_IS, n_c, k2, k3);
    options = (struct conv_sconv_options){
        .packs_filters = strstr(text, ", filters too") != NULL,
        .reads_in_place = strstr(text, " in place") != NULL,
        .prefetches = strstr(text, ", prefetching") != NULL,
        .skips_padding = strstr(text, " without rows of padding") != NULL,
    };
    if (conv_plan_sconv_with(plan, &other->problem, ukr, &tiling, &options))
        return -EINVAL;
    exp_plan_text(plan, made);
    return strcmp(made, text) ? -EINVAL : 0;
}
