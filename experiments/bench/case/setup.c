#include "experiments/bench/case/setup.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/text.h"
#include "experiments/bench/case/unsupported.h"
#include "kernels/ukr/dispatch.h"

const struct conv_gemm_core *exp_setup_core(const struct exp_setup *s)
{
    return s->core ? s->core : conv_gemm_core_find("Haswell");
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
    const struct conv_gemm_core *core = exp_setup_core(s);
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
    s->onednn = NULL;
    s->why_no_onednn[0] = '\0';
    if (s->type != CONV_F32)
        conv_onednn_load(&s->onednn, s->type, SIM_WHY(s->why_no_onednn));
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

void exp_setup_release(struct exp_setup *s)
{
    conv_blas_unload(&s->blas);
    conv_onednn_unload(s->onednn);
    s->onednn = NULL;
    exp_stacks_release(&s->stacks);
    conv_plans_release(&s->plans);
    conv_wisdom_release(s->wisdom);
}
