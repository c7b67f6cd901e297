#include "experiments/bench/case/algo.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "kernels/backend/backend.h"
#include "kernels/backend/base.h"
#include "kernels/emit/program.h"
#include "kernels/plan/plan_winograd.h"
#include "kernels/plan/tune.h"
#include "kernels/ukr/dispatch.h"

/*
 * Plans lowering and a GEMM with OpenBLAS's blocking and OpenBLAS's or SConv's micro-kernel. OpenBLAS multiplies f32
 * alone here: the GEMM of other types is SConv's nest on the matrix, in OpenBLAS's blocks, with filters packed when SConv
 * packs them.
 */
static int plan_gemm(const struct exp_setup *s, const struct conv_problem *p, const struct csa_tiling *tiling,
                     const struct exp_algo *self, struct conv_plan *plan)
{
    (void)tiling;
    if (s->type != CONV_F32)
        return conv_plan_lowered(plan, p, exp_setup_core(s), s->ukr, s->packs_filters);
    return conv_plan_gemm(plan, p, exp_setup_core(s), self->has_openblas_ukr ? &exp_setup_core(s)->ukr : s->ukr);
}

/* Plans the paper's SConv with the options of the record: in a member's schedule, or in CSA's choice. */
static int plan_sconv(const struct exp_setup *s, const struct conv_problem *p, const struct csa_tiling *tiling,
                      const struct exp_algo *self, struct conv_plan *plan)
{
    const struct conv_ukr *u = self->has_openblas_ukr ? &s->openblas_ukr.ukr : s->ukr;
    struct conv_sconv_options options = self->options;
    struct csa_tiling own[CSA_N_SCHEDULES];
    enum csa_schedule schedule;
    int err;

    for (int i = 0; i < CSA_N_SCHEDULES && self->has_openblas_ukr; i++)
        own[i] = csa_analyse(p, &s->caches, u->n_win, u->n_f, (enum csa_schedule)i);
    if (self->has_openblas_ukr)
        tiling = own;
    schedule = self->when == EXP_ALGO_MEMBER ? self->schedule : csa_choose(tiling);
    options.packs_filters = options.packs_filters || s->packs_filters;
    err = conv_plan_sconv_with(plan, p, u, &tiling[schedule], &options);
    if (self->packs_one_by_one)
        plan->sconv.pack_windows = conv_pack_windows_at(0); /* the portable function packs every shape */
    return err;
}

/* Of types beside f32, tuning is the depth of tiles alone. Kernels of blocks (AMX) lose by depth: 0.91 to 1.02 was timed. */
static int plan_tuned(const struct exp_setup *s, const struct conv_problem *p, const struct csa_tiling *tiling,
                      const struct exp_algo *self, struct conv_plan *plan)
{
    struct csa_tiling deep[CSA_N_SCHEDULES];

    (void)tiling;
    (void)self;
    for (int i = 0; i < CSA_N_SCHEDULES && s->type != CONV_F32; i++)
        deep[i] = (s->ukr->k_block ? csa_analyse : csa_analyse_deep)(p, &s->caches, s->ukr->n_win, s->ukr->n_f,
                                                                     (enum csa_schedule)i);
    if (s->type != CONV_F32)
        return conv_plan_sconv(plan, p, s->ukr, &deep[csa_choose(deep)], s->packs_filters);
    return conv_plan_measured(
        plan, p, &s->caches,
        &(struct conv_tune_options){ .ukr = s->ukr, .keeps_ukr = s->is_ukr_given, .packs_filters = s->packs_filters },
        s->wisdom, s->measures);
}

/* A layer that Winograd does not compute has the plan of tuned SConv, and is not run. */
static int plan_winograd(const struct exp_setup *s, const struct conv_problem *p, const struct csa_tiling *tiling,
                         const struct exp_algo *self, struct conv_plan *plan)
{
    const struct conv_winograd_options options = { .ukr = s->ukr,
                                                   .keeps_ukr = s->is_ukr_given,
                                                   .packs_filters = s->packs_filters };

    if (self->why_not_layer(s, p))
        return plan_tuned(s, p, tiling, self, plan);
    return conv_plan_winograd_tuned(plan, p, &s->caches, &options);
}

/* Plans as a file says. */
static int plan_noted(const struct exp_setup *s, const struct conv_problem *p, const struct csa_tiling *tiling,
                      const struct exp_algo *self, struct conv_plan *plan)
{
    const struct conv_layer_plan *n = conv_plans_find(&s->plans, p);

    (void)tiling;
    (void)self;
    if (n)
        *plan = n->plan;
    return n ? 0 : -ENOENT;
}

/* Plans as libsconv for generated code; a plan that the generator cannot write is planned as CSA chooses. */
static int plan_gen_tuned(const struct exp_setup *s, const struct conv_problem *p, const struct csa_tiling *tiling,
                          const struct exp_algo *self, struct conv_plan *plan)
{
    int err = plan_tuned(s, p, tiling, self, plan);

    return err || !conv_program_why_not(plan) ? err : plan_sconv(s, p, tiling, self, plan);
}

static int run_nest(const struct exp_setup *s, const struct conv_plan *plan, const struct conv_binding *bind)
{
    struct conv_exec exec;

    (void)s;
    conv_exec_init(&exec, plan, bind);
    return conv_nest_run(plan, &exec.base);
}

static int run_base(const struct exp_setup *s, const struct conv_plan *plan, const struct conv_binding *bind)
{
    return plan->algorithm == CONV_GEMM ? conv_base_run(plan, bind, &s->blas) : run_nest(s, plan, bind);
}

/* oneDNN packs by itself: the plan, which nobody replays, keeps filters as they are. */
static int plan_onednn(const struct exp_setup *s, const struct conv_problem *p, const struct csa_tiling *tiling,
                       const struct exp_algo *self, struct conv_plan *plan)
{
    if (s->type == CONV_F32)
        return plan_gemm(s, p, tiling, self, plan);
    return conv_plan_lowered(plan, p, exp_setup_core(s), s->ukr, true);
}

static int run_onednn(const struct exp_setup *s, const struct conv_plan *plan, const struct conv_binding *bind)
{
    const struct conv_problem *p = &plan->problem;
    const size_t *bytes = plan->layout.element, plane = p->h * p->w;
    struct conv_onednn_product m = { conv_group_filters(p), conv_windows(p), conv_reduction(p), NULL, NULL, NULL };
    int err = 0;

    for (size_t i = 0; i < p->n * p->groups && !err; i++) {
        const uint64_t in = bind->addr[CONV_INPUT] + i * conv_group_channels(p) * plane * bytes[CONV_INPUT];

        if (!conv_is_pointwise(p))
            conv_im2col_narrow(&(struct conv_im2col_args){ p, in, bind->addr[CONV_IM2COL] });
        m.matrix = conv_in_ptr(conv_is_pointwise(p) ? in : bind->addr[CONV_IM2COL]);
        m.filter = conv_in_ptr(bind->addr[CONV_FILTER] + i % p->groups * m.n_f * m.n_k * bytes[CONV_FILTER]);
        m.out = conv_out_ptr(bind->addr[CONV_OUTPUT] + i * m.n_f * m.n_win * bytes[CONV_OUTPUT]);
        err = conv_onednn_multiply(s->onednn, &m);
    }
    return err;
}

static int run_gen(const struct exp_setup *s, const struct conv_plan *plan, const struct conv_binding *bind)
{
    exp_code_fn code;
    int err = s->coder->find(s->coder, plan, &code);

    if (err)
        return err;
    code(conv_in_ptr(bind->addr[CONV_INPUT]), conv_in_ptr(bind->addr[CONV_FILTER]),
         conv_out_ptr(bind->addr[CONV_PACKED_FILTER]), conv_out_ptr(bind->addr[CONV_PACKED_INPUT]),
         conv_out_ptr(bind->addr[CONV_OUTPUT]));
    return 0;
}

static const char *why_no_blas(const struct exp_setup *s)
{
    return s->blas.handle ? NULL : s->why_no_blas;
}

static const char *why_no_core(const struct exp_setup *s)
{
    return s->core ? NULL : s->why_no_core;
}

static const char *why_no_openblas_ukr(const struct exp_setup *s)
{
    return conv_ukr_runs(&s->openblas_ukr.ukr) ? NULL : s->why_no_openblas_ukr;
}

static const char *why_no_ukr(const struct exp_setup *s)
{
    if (exp_setup_uses_openblas_ukr(s))
        return why_no_openblas_ukr(s);
    return conv_ukr_runs(s->ukr) ? NULL : "this computer cannot execute the machine's micro-kernel";
}

static const char *why_no_plans(const struct exp_setup *s)
{
    return s->plans.n ? NULL : "PLAN names no file of plans";
}

static const char *why_no_coder(const struct exp_setup *s)
{
    return s->coder ? NULL : "this program compiles no plans";
}

static const char *why_no_onednn(const struct exp_setup *s)
{
    return s->type == CONV_F32 ? "Base of f32 has OpenBLAS's GEMM" : s->onednn ? NULL : s->why_no_onednn;
}

static const char *onednn_is_closed(const struct exp_setup *s)
{
    (void)s;
    return "oneDNN makes its code at run time: the nest of its GEMM is not known here";
}

static const char *why_no_base(const struct exp_setup *s)
{
    return s->type == CONV_F32 ? why_no_blas(s) : why_no_ukr(s);
}

static const char *why_no_base_core(const struct exp_setup *s)
{
    return s->type == CONV_F32 ? why_no_core(s) : NULL;
}

static const char *why_no_code(const struct exp_setup *s)
{
    const char *why = why_no_ukr(s);

    if (why)
        return why;
    if (!conv_emitted_lanes(s->ukr))
        return "code is not written for SConv's micro-kernel (kernels/emit/emitted.def)";
    return s->coder ? s->coder->why : why_no_coder(s);
}

static const char *why_no_noted_ukr(const struct exp_setup *s)
{
    for (size_t i = 0; i < s->plans.n; i++) {
        if (!conv_plan_runs(&s->plans.plan[i].plan))
            return "this computer cannot execute a micro-kernel of PLAN's file";
    }
    return NULL;
}

static const char *why_no_winograd(const struct exp_setup *s, const struct conv_problem *p)
{
    if (!conv_winograd_takes_ukr(s->ukr))
        return "Winograd takes SConv's own micro-kernels only";
    return conv_winograd_why_not(p);
}

static const char *nothing_against_it(const struct exp_setup *s)
{
    (void)s;
    return NULL;
}

/* Reasons for features that generated code lacks. */
static const char not_stepped[] = "generated code is not run step by step";
static const char not_in_the_guest[] =
    "generated code is compiled outside the guest; tests hold its accesses against the replay's";

static const char onednn_is_one_call[] = "oneDNN's GEMM packs and multiplies in one call";
static const char not_emulated[] = "the observer does not run oneDNN";
static const char held_by_tests[] = "the observer does not run Winograd; tests hold its accesses against the replay's";

enum { N_RECORDS = EXP_N_ALGOS + 1 };

static const struct exp_algo records[N_RECORDS] = {
#define RECORD(name_, when_, title_, label_, colour_, ...)                                                             \
    { .name = name_, .when = EXP_ALGO_##when_, .title = title_, .label = label_, .colour = colour_, __VA_ARGS__ },
#define ALGO(...) RECORD(__VA_ARGS__)
#define GROUP(name_, when_, title_, label_, colour_, members_)                                                         \
    RECORD(name_, when_, title_, label_, colour_, .members = members_)
#include "experiments/bench/case/algos.def"
};

/* The plug-ins of this process: options name plug-ins before the work begins. */
static struct exp_algo added[EXP_MAX_PLUGINS];
static size_t n_added;

size_t exp_algo_count(void)
{
    return EXP_N_ALGOS + n_added;
}

size_t exp_algo_record_count(void)
{
    return N_RECORDS + n_added;
}

const struct exp_algo *exp_algo_record(size_t i)
{
    assert(i < exp_algo_record_count());
    return i < N_RECORDS ? &records[i] : &added[i - N_RECORDS];
}

const struct exp_algo *exp_algo_at(size_t i)
{
    const struct exp_algo *a = records;

    assert(i < exp_algo_count());
    if (i >= EXP_N_ALGOS)
        return exp_algo_record(i + 1);
    while (a->members || i--)
        a++;
    return a;
}

const struct exp_algo *exp_algo_add(const struct exp_algo *a)
{
    static const char *const colours[EXP_MAX_PLUGINS] = { "#d55e00", "#332288", "#a0522d", "#4b6fff",
                                                          "#b8860b", "#008080", "#c71585", "#556b2f",
                                                          "#e07b39", "#5d3fd3", "#7b3f00", "#1e90ff",
                                                          "#daa520", "#20b2aa", "#ff69b4", "#6b8e23" };

    if (n_added == EXP_MAX_PLUGINS)
        return NULL;
    added[n_added] = *a;
    if (!a->colour)
        added[n_added].colour = colours[n_added];
    return &added[n_added++];
}

static const char *is_unknown(const struct exp_setup *s)
{
    (void)s;
    return "this program knows no such algorithm";
}

static int plan_unknown(const struct exp_setup *s, const struct conv_problem *p, const struct csa_tiling *tiling,
                        const struct exp_algo *self, struct conv_plan *plan)
{
    (void)s, (void)tiling;
    return conv_plan_plugin(plan, p, self->name, NULL);
}

void exp_algo_meet(const char *name)
{
    const char *kept = exp_algo_find(name) ? NULL : exp_copy_text(name);
    const struct exp_algo unknown = { .name = kept,
                                      .when = EXP_ALGO_ON_REQUEST,
                                      .title = kept,
                                      .label = kept,
                                      .plan = plan_unknown,
                                      .why_not_run = is_unknown,
                                      .why_not_replay = is_unknown };

    if (kept)
        exp_algo_add(&unknown);
}

static const struct exp_algo *first_member(void)
{
    const struct exp_algo *a = records;

    while (a->when != EXP_ALGO_MEMBER)
        a++;
    return a;
}

static const char *why_no_type(const struct exp_algo *a, const struct exp_setup *s)
{
    return s->type == CONV_F32 || a->takes_types ? NULL : "it computes f32 alone (TYPE=f32)";
}

const char *exp_algo_why_not_run(const struct exp_algo *a, const struct exp_setup *s)
{
    const struct exp_algo *first = a->members ? first_member() : a; /* first_member speaks for the group */

    if (why_no_type(first, s))
        return why_no_type(first, s);
    return first->why_dead && *first->why_dead ? *first->why_dead : first->why_not_run(s);
}

const char *exp_algo_why_not_replay(const struct exp_algo *a, const struct exp_setup *s)
{
    return why_no_type(a, s) ? why_no_type(a, s) : a->why_not_replay(s);
}

const struct exp_algo *exp_algo_planned(const struct exp_algo *a, const struct exp_setup *s)
{
    return why_no_type(a, s) ? first_member() : a;
}

const char *exp_algo_label(const struct exp_algo *a, enum conv_type type)
{
    return type != CONV_F32 && a == exp_algo_base() ? "im2col + our GEMM" : a->label;
}

unsigned exp_algos_of_type(enum conv_type type)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < EXP_N_ALGOS; i++) {
        const struct exp_algo *a = exp_algo_at(i);
        const bool runs = type == CONV_F32 ? a->when != EXP_ALGO_ON_REQUEST
                                           : a->is_of_types || (a->when != EXP_ALGO_ON_REQUEST && a->takes_types);

        bits |= (unsigned)runs << i;
    }
    return bits;
}

bool exp_algos_need_coder(unsigned algos)
{
    for (unsigned i = 0; i < exp_algo_count(); i++) {
        if ((algos >> i & 1) && exp_algo_at(i)->is_generated)
            return true;
    }
    return false;
}

const struct exp_algo *exp_algo_base(void)
{
    return exp_algo_at(0);
}

const struct exp_algo *exp_algo_chosen(void)
{
    const struct exp_algo *a = records;

    while (!a->members)
        a++;
    return a;
}

static const struct exp_algo *find(const char *name, size_t length)
{
    for (size_t i = 0; i < exp_algo_record_count(); i++) {
        const struct exp_algo *a = exp_algo_record(i);

        if (strlen(a->name) == length && !strncmp(name, a->name, length))
            return a;
    }
    return NULL;
}

const struct exp_algo *exp_algo_find(const char *name)
{
    assert(name);
    return find(name, strlen(name));
}

#define ALGO(...)
#define GROUP(...)
#define AUTO(name, more) static const char auto_algos[] = name, auto_adds[] = more;
#include "experiments/bench/case/algos.def"

void exp_algo_say_known(char *text, size_t bytes)
{
    for (size_t i = 0; i < N_RECORDS; i++) {
        exp_say_more(text, bytes, "%s%s", i ? ", " : "", records[i].name);
        if (records[i].members)
            exp_say_more(text, bytes, " (%s)", records[i].members);
    }
    exp_say_more(text, bytes, ", %s (those by default and %s)", auto_algos, auto_adds);
}

void exp_algo_say_default(char *text, size_t bytes)
{
    for (size_t i = 0; i < N_RECORDS; i++) {
        if (records[i].when == EXP_ALGO_DEFAULT)
            exp_say_more(text, bytes, "%s%s", i ? "," : "", records[i].name);
    }
}

void exp_algo_tell(FILE *out)
{
    for (size_t i = 0; i < N_RECORDS; i++)
        fprintf(out, "algorithm\t%s\n", records[i].name);
    fprintf(out, "algorithm\t%s\n", auto_algos);
}

/* Returns the algorithms of a record, a bit each. */
static unsigned bits_of(const struct exp_algo *a)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < exp_algo_count(); i++) {
        if (exp_algo_at(i) == a || (a->members && exp_algo_at(i)->when == EXP_ALGO_MEMBER))
            bits |= 1u << i;
    }
    return bits;
}

unsigned exp_algo_bit(const struct exp_algo *a)
{
    assert(a);
    return a->members ? 0 : bits_of(a);
}

static unsigned default_bits(void)
{
    unsigned bits = 0;

    for (size_t i = 0; i < N_RECORDS; i++)
        bits |= records[i].when == EXP_ALGO_DEFAULT ? bits_of(&records[i]) : 0;
    return bits;
}

static int say_unknown(const char *list, size_t length, struct exp_why *why)
{
    const size_t n = exp_algo_record_count();
    const char **known = exp_new(n + 1, sizeof *known);
    char *name = exp_format("%.*s", (int)length, list);

    for (size_t i = 0; i < n; i++)
        known[i] = exp_algo_record(i)->name;
    known[n] = auto_algos;
    exp_fail(why, 0, "ALGO: unknown algorithm '%s'", name);
    exp_say_meant(why, name, known, n + 1);
    exp_say_more(why->text, sizeof why->text, " known: ");
    exp_algo_say_known(why->text, sizeof why->text);
    free(known);
    free(name);
    return -EINVAL;
}

int exp_algo_select(const char *list, unsigned *selected, struct exp_why *why)
{
    assert(selected);
    *selected = list && *list ? 0 : default_bits();
    while (list && *list) {
        size_t length = strcspn(list, ",");
        const struct exp_algo *found = find(list, length);

        if (length == strlen(auto_algos) && !strncmp(list, auto_algos, length)) {
            *selected |= default_bits() | bits_of(exp_algo_find(auto_adds));
        } else if (!found) {
            return say_unknown(list, length, why);
        } else {
            *selected |= bits_of(found);
        }
        list += length + (list[length] == ',');
    }
    return 0;
}

const struct exp_algo *exp_algo_noted(void)
{
    return exp_algo_find(EXP_ALGO_NOTED);
}

/* Says how tuned SConv chooses the micro-kernel. */
static void describe_tuned(const struct exp_setup *s, FILE *out)
{
    if (s->is_ukr_given)
        fprintf(out, "; sconv_tuned keeps it: UKR=%s lets it choose one for each layer",
                sim_cpu_isa_suffix(s->ukr->isa));
    else
        fprintf(out, "; sconv_tuned chooses one of %s for each layer%s", sim_cpu_isa_name(s->ukr->isa),
                s->measures ? ", by timing" : "");
}

/* Says where gcc 12's code stands for code of a compiler without a table. */
static void describe_compiler(const struct exp_setup *s, FILE *out)
{
    char *own = exp_stacks_path(s->ukr->isa);

    if (s->stacks.n && !s->stack_path && strcmp(own, s->stacks.table[0].path) != 0)
        fprintf(out, "replayed: the stack of %s; there is no %s\n", s->stacks.table[0].path, own);
    free(own);
}

/* Says for which algorithms the stack of compiled code is replayed, if the machine asks for stacks. */
static void describe_stacks(const struct exp_setup *s, unsigned selected, FILE *out)
{
    if (*s->why_no_stacks)
        fprintf(out, "not replayed: what compiled code does on its stack; %s\n", s->why_no_stacks);
    describe_compiler(s, out);
    for (unsigned i = 0; i < exp_algo_count() && s->stacks.n; i++) {
        if ((selected >> i & 1) && !exp_algo_at(i)->plugin && exp_algo_at(i) != exp_algo_noted() &&
            !exp_algo_at(i)->is_of_types && !exp_stacks_have(&s->stacks, exp_algo_at(i)->name))
            fprintf(out, "not replayed: %s's stack; %s has none of it\n", exp_algo_at(i)->name,
                    s->stacks.table[0].path);
    }
}

static bool has_tuned_plans(const struct exp_algo *a)
{
    return a->plan == plan_tuned || a->plan == plan_gen_tuned;
}

void exp_algos_describe(unsigned selected, const struct exp_setup *s, FILE *out)
{
    bool is_foreign = !exp_setup_uses_openblas_ukr(s) && !conv_ukr_runs(s->ukr), has_tuned = false;

    for (unsigned i = 0; i < exp_algo_count(); i++)
        has_tuned |= (selected >> i & 1) && has_tuned_plans(exp_algo_at(i));
    fprintf(out, "replayed: SConv's micro-kernel %s (%s%s)", s->ukr->name, s->ukr_from,
            is_foreign ? "; this CPU cannot run it" : "");
    if (has_tuned)
        describe_tuned(s, out);
    fprintf(out, "\n");
    if (s->core)
        fprintf(out, "replayed: Base as OpenBLAS's core %s (%s)\n", s->core->name, s->core_from);
    else
        fprintf(out, "not replayed: Base; %s (%s); CORE=Haswell replays another\n", s->why_no_core, s->core_from);
    describe_stacks(s, selected, out);
}
