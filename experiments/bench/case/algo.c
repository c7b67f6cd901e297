#include "experiments/bench/case/algo.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/text.h"
#include "experiments/bench/case/unsupported.h"
#include "kernels/backend/backend.h"
#include "kernels/backend/base.h"
#include "kernels/emit/program.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/plan/plan_winograd.h"
#include "kernels/plan/tune.h"

/* The tensors of a baseline run do not depend on the core, so any core will do when the real core is not on record. */
static const struct conv_gemm_core *core_or_any(const struct exp_setup *s)
{
    return s->core ? s->core : conv_gemm_core_find("Haswell");
}

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
        return conv_plan_lowered(plan, p, core_or_any(s), s->ukr, s->packs_filters);
    return conv_plan_gemm(plan, p, core_or_any(s), self->has_openblas_ukr ? &core_or_any(s)->ukr : s->ukr);
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

/* Of types beside f32, tuning is the depth of tiles alone. */
static int plan_tuned(const struct exp_setup *s, const struct conv_problem *p, const struct csa_tiling *tiling,
                      const struct exp_algo *self, struct conv_plan *plan)
{
    struct csa_tiling deep[CSA_N_SCHEDULES];

    (void)tiling;
    (void)self;
    for (int i = 0; i < CSA_N_SCHEDULES && s->type != CONV_F32; i++)
        deep[i] = csa_analyse_deep(p, &s->caches, s->ukr->n_win, s->ukr->n_f, (enum csa_schedule)i);
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
        const bool runs = a->when != EXP_ALGO_ON_REQUEST && (type == CONV_F32 || a->takes_types);

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

/* A requested name, and who requested the name. */
struct wish {
    const char *name, *from;
};

/* Returns the first wish with a name, or the last wish. */
static struct wish first_set(const struct wish *wish, size_t n)
{
    while (n > 1 && !(wish->name && *wish->name)) {
        wish++;
        n--;
    }
    return *wish;
}

static const char from_file[] = "the machine file names it";

/* Chooses the replayed core: the named core, the machine's, the running core, or the core that would run. */
static int choose_core(struct exp_setup *s, const char *override, struct exp_why *why)
{
    const struct wish wishes[] = {
        { override, "CORE asks for it" },
        { s->machine.gemm_core, from_file },
        { s->blas.core, "the machine file names none: OpenBLAS runs it on this computer" },
        { conv_gemm_core_for_host(), "the machine file names none: this computer would run it, were OpenBLAS there" },
        { "Haswell", "nothing names another" },
    };
    const struct wish chosen = first_set(wishes, sizeof wishes / sizeof wishes[0]);

    s->core = conv_gemm_core_find(chosen.name);
    s->core_from = chosen.from;
    if (s->core)
        return 0;
    snprintf(s->why_no_core, sizeof s->why_no_core, "the blocking of OpenBLAS core '%s' is not on record", chosen.name);
    return override && *override ? exp_fail(why, -EINVAL, "%s", s->why_no_core) : 0;
}

/* Tells whether a name means OpenBLAS's own micro-kernel: "openblas", or the micro-kernel's name. */
static bool is_openblas_ukr(const char *name, const struct conv_gemm_core *core)
{
    return !strcmp(name, "openblas") || (core && !strcmp(name, core->ukr.name));
}

static void find_openblas_ukr(struct exp_setup *s)
{
    const struct conv_gemm_core *core = core_or_any(s);
    struct conv_blas_parts parts;
    int err = s->core && s->blas.handle ? 0 : -ENOENT;

    exp_say(s->why_no_openblas_ukr, sizeof s->why_no_openblas_ukr, "%s",
            !s->core ? s->why_no_core
            : err    ? s->why_no_blas
                     : "this computer cannot execute the micro-kernel of the OpenBLAS core");
    if (!err)
        err = conv_blas_parts_find(&parts, &s->blas, core->name, SIM_WHY(s->why_no_openblas_ukr));
    conv_blas_ukr_init(&s->openblas_ukr, &core->ukr, err ? NULL : parts.kernel);
}

bool exp_setup_uses_openblas_ukr(const struct exp_setup *s)
{
    return s->ukr == &s->openblas_ukr.ukr;
}

static int unknown_ukr(const struct exp_setup *s, const char *name, struct exp_why *why)
{
    const char *why_not = exp_unsupported(EXP_UNSUPPORTED_UKR, name);
    char known[512] = "", from[128] = "";

    if (s->ukr_from == from_file)
        exp_say(from, sizeof from, "the key ukr of machine %s: ", s->machine.name);

    if (why_not)
        return exp_fail(why, -EINVAL, "%sunknown micro-kernel '%s': %s", from, name, why_not);
    for (size_t i = 0; i < conv_ukr_count(); i++) {
        size_t used = strlen(known);

        snprintf(known + used, sizeof known - used, "%s, ", conv_ukr_at(i)->name);
    }
    return exp_fail(why, -EINVAL,
                    "%sunknown micro-kernel '%s'; known: %sopenblas; or the best of ref, avx2, avx512, mma", from, name,
                    known);
}

static int choose_ukr(struct exp_setup *s, const char *override, struct exp_why *why)
{
    const struct wish wishes[] = {
        { override, "UKR asks for it" },
        { s->machine.ukr, from_file },
        { conv_ukr_best()->name, "the machine file names none: it is the widest that this computer runs" },
    };
    const struct wish chosen = first_set(wishes, sizeof wishes / sizeof wishes[0]);
    const char *name = chosen.name;
    enum cpu_isa isa;

    s->ukr_from = chosen.from;
    s->is_ukr_given = chosen.from != wishes[2].from;
    if (!is_openblas_ukr(name, s->core)) {
        s->ukr = conv_ukr_find(name);
        s->is_ukr_given &= s->ukr != NULL;
        if (!s->ukr && name == override && sim_cpu_isa_find(name, &isa))
            s->ukr = conv_ukr_of(isa);
        return s->ukr ? 0 : unknown_ukr(s, name, why);
    }
    s->ukr = &s->openblas_ukr.ukr;
    return s->core ? 0 : exp_fail(why, -EINVAL, "UKR=openblas: %s", s->why_no_core);
}

/* Returns the rate of a micro-kernel's multiply-adds on the machine; 0: not stated. */
static double mac_rate(const struct sim_machine *m, const struct conv_ukr *u)
{
    const double rates[CPU_N_EXTENSIONS] = {
        [CPU_EXT_NONE] = m->issue.mac_instructions_per_cycle,
        [CPU_EXT_BF16] = m->issue.mac_bf16_instructions_per_cycle,
        [CPU_EXT_VNNI] = m->issue.mac_vnni_instructions_per_cycle,
        [CPU_EXT_AMX_BF16] = m->issue.mac_amx_bf16_instructions_per_cycle,
        [CPU_EXT_AMX_INT8] = m->issue.mac_amx_int8_instructions_per_cycle,
    };

    return rates[u->extension];
}

static int unknown_typed_ukr(const struct exp_setup *s, const char *name, struct exp_why *why)
{
    const struct conv_type_kernels *k = conv_kernels_of(s->type);

    exp_fail(why, -EINVAL, "unknown micro-kernel '%s' of type %s; known:", name, conv_types[s->type].name);
    for (size_t i = 0; i < k->n_ukrs; i++)
        exp_say_more(why->text, sizeof why->text, " %s%s", k->ukr[i]->name, i + 1 < k->n_ukrs ? "," : "");
    return -EINVAL;
}

/* Finds a micro-kernel of the setup's type by its name; or the last of an instruction set. */
static const struct conv_ukr *find_typed_ukr(const struct exp_setup *s, const char *name)
{
    const struct conv_type_kernels *k = conv_kernels_of(s->type);
    const struct conv_ukr *found = NULL;
    enum cpu_isa isa = CPU_N_ISAS;

    sim_cpu_isa_find(name, &isa);
    for (size_t i = 0; i < k->n_ukrs; i++) {
        if (!strcmp(k->ukr[i]->name, name) || k->ukr[i]->isa == isa)
            found = k->ukr[i];
    }
    return found;
}

/* Returns the last micro-kernel of the type that a machine executes, by its instruction set and extensions. */
static const struct conv_ukr *typed_ukr_of_machine(const struct exp_setup *s, enum cpu_isa isa)
{
    const struct conv_type_kernels *k = conv_kernels_of(s->type);
    size_t i = k->n_ukrs - 1;

    while (i && !(sim_cpu_isa_includes(isa, k->ukr[i]->isa) && mac_rate(&s->machine, k->ukr[i]) > 0))
        i--;
    return k->ukr[i];
}

/* The unit of AMX's rates (struct sim_issue). */
enum { AMX_HALF_STEP_ROWS = 8, AMX_HALF_STEP_COLUMNS = 16 };

/* Chooses the micro-kernel of a type beside f32, and the rate of the machine's multiply-adds. */
static int choose_typed_ukr(struct exp_setup *s, const char *override, struct exp_why *why)
{
    const struct conv_ukr *f32 = conv_ukr_find(s->machine.ukr);

    s->is_ukr_given = override && *override;
    if (s->is_ukr_given) {
        s->ukr_from = "UKR asks for it";
        s->ukr = find_typed_ukr(s, override);
    } else if (f32) {
        s->ukr_from = "the last of its type for the machine file's instruction set and extensions";
        s->ukr = typed_ukr_of_machine(s, f32->isa);
    } else {
        s->ukr_from = "the machine file names none: the last of its type that this computer runs";
        s->ukr = conv_ukr_best_of(s->type);
    }
    if (!s->ukr)
        return unknown_typed_ukr(s, override, why);
    s->machine.issue.mac_instructions_per_cycle = mac_rate(&s->machine, s->ukr);
    if (s->ukr->extension == CPU_EXT_AMX_BF16 || s->ukr->extension == CPU_EXT_AMX_INT8) {
        s->machine.issue.mac_rows = AMX_HALF_STEP_ROWS;
        s->machine.issue.mac_columns = AMX_HALF_STEP_COLUMNS;
    }
    return 0;
}

/* With UKR, SConv's micro-kernel may use narrower vectors of x86 than Base's, or wider vectors. */
static int read_stacks_of_other_vectors(struct exp_setup *s, struct exp_why *why)
{
    enum cpu_isa other = s->ukr->isa == CPU_ISA_AVX512 ? CPU_ISA_AVX2 : CPU_ISA_AVX512;
    char *path = s->ukr->isa == CPU_ISA_MMA ? NULL : exp_stacks_known_path(other);
    int err = path && !access(path, F_OK) ? exp_stacks_read(&s->stacks, path, why) : 0;

    free(path);
    return err;
}

/* A machine that asks for stacks is replayed without stacks if no code was observed. */
static int read_stacks(struct exp_setup *s, struct exp_why *why)
{
    char *path;
    int err;

    s->stacks = (struct exp_stacks){ 0 };
    s->why_no_stacks[0] = '\0';
    if (!s->machine.has_stack && *s->why_no_cycles)
        return 0;
    path = s->stack_path ? exp_format("%s", s->stack_path) : exp_stacks_known_path(s->ukr->isa);
    err = exp_stacks_read(&s->stacks, path, why);
    if (err == -ENOENT && !s->stack_path) {
        exp_say(s->why_no_stacks, sizeof s->why_no_stacks, "there is no %s; make stack observes it", path);
        err = 0;
    } else if (!err && !s->stack_path) {
        err = read_stacks_of_other_vectors(s, why);
    }
    if (!s->machine.has_stack)
        exp_stacks_keep_work(&s->stacks);
    free(path);
    return err;
}

static void find_clock(struct exp_setup *s)
{
    const char *why_not = sim_clock_why_not(&s->machine);

    s->why_no_cycles[0] = '\0';
    if (why_not)
        exp_say(s->why_no_cycles, sizeof s->why_no_cycles, "%s %s", s->machine.name, why_not);
}

int exp_setup_init(struct exp_setup *s, const char *ukr_name, const char *core_name, struct exp_why *why)
{
    int err = s->type == CONV_F32 ? 0 : choose_typed_ukr(s, ukr_name, why);

    s->plans = (struct conv_layer_plans){ 0 };
    s->wisdom = NULL;
    s->measures = false;
    s->coder = NULL;
    s->classified = s->machine;
    for (size_t k = 0; k < s->machine.n_levels && s->classifies_misses; k++)
        s->classified.level[k].is_classified = true;
    s->alone = sim_machine_is_plain(&s->machine) ? s->machine : sim_machine_caches_alone(&s->machine);
    s->caches = csa_caches_of(&s->machine, csa_default_share);
    find_clock(s);
    s->why_no_blas[0] = '\0';
    if (conv_blas_load(&s->blas, SIM_WHY(s->why_no_blas)))
        s->blas = (struct conv_blas){ 0 };
    if (!err)
        err = choose_core(s, core_name, why);
    find_openblas_ukr(s);
    if (!err && s->type == CONV_F32)
        err = choose_ukr(s, ukr_name, why);
    if (!err)
        err = read_stacks(s, why);
    if (err)
        exp_setup_release(s);
    return err;
}

int exp_setup_wisdom(struct exp_setup *s, bool measures, const char *path, struct exp_why *why)
{
    assert(path);
    return conv_wisdom_start(&s->wisdom, measures ? CONV_TUNE_MEASURE : NULL, *path ? path : NULL, &s->measures,
                             SIM_WHY(why->text));
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
            !exp_stacks_have(&s->stacks, exp_algo_at(i)->name))
            fprintf(out, "not replayed: %s's stack; %s has none of it\n", exp_algo_at(i)->name,
                    s->stacks.table[0].path);
    }
}

static bool has_tuned_plans(const struct exp_algo *a)
{
    return a->plan == plan_tuned || a->plan == plan_gen_tuned;
}

void exp_setup_describe(const struct exp_setup *s, unsigned selected, FILE *out)
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

const struct exp_algo *exp_algo_noted(void)
{
    return exp_algo_find(EXP_ALGO_NOTED);
}

void exp_setup_release(struct exp_setup *s)
{
    conv_blas_unload(&s->blas);
    exp_stacks_release(&s->stacks);
    conv_plans_release(&s->plans);
    conv_wisdom_release(s->wisdom);
}
