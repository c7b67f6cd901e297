#include "experiments/emit/exp_emit_text.h"

#include <assert.h>
#include <errno.h>

#include "experiments/base/exp_error.h"
#include "experiments/emit/exp_options_emit.h"
#include "kernels/emit/linalg_source.h"
#include "kernels/emit/mlir_source.h"

/* ---- the forms ---- */

static const char *nothing_against_it(const struct conv_plan *plan)
{
    (void)plan;
    return NULL;
}

static int print_mlir(const struct conv_plan *plan, const char *name, const struct conv_c_options *options, FILE *out)
{
    (void)options;
    return conv_mlir_print(plan, name, false, out);
}

static int print_mlir_external(const struct conv_plan *plan, const char *name, const struct conv_c_options *options,
                               FILE *out)
{
    (void)options;
    return conv_mlir_print(plan, name, true, out);
}

static int print_linalg(const struct conv_plan *plan, const char *name, const struct conv_c_options *options, FILE *out)
{
    conv_linalg_print(plan, name, options->packed, out);
    return 0;
}

static const struct {
    const char *(*why_not)(const struct conv_plan *plan); /* beside conv_program_why_not */
    void (*print_head)(const struct conv_plan *plan, FILE *out);
    int (*print)(const struct conv_plan *plan, const char *name, const struct conv_c_options *options, FILE *out);
    void (*print_tail)(const struct conv_noted_plan *plan, size_t n, FILE *out); /* NULL: nothing */
    const char *const *passes;
    enum exp_emit_constants constants;
    bool has_kernels;
} forms[EXP_EMIT_N_FORMS] = {
    [EXP_EMIT_C] = { nothing_against_it, conv_c_print_head, conv_c_print, .constants = EXP_EMIT_PACKED_FILTERS },
    [EXP_EMIT_MLIR] = { conv_mlir_why_not, conv_mlir_print_head, print_mlir, .passes = conv_mlir_passes },
    [EXP_EMIT_MLIR_EXTERNAL] = { conv_mlir_why_not, conv_mlir_print_head, print_mlir_external,
                                 .passes = conv_mlir_passes, .has_kernels = true },
    [EXP_EMIT_MLIR_LINALG] = { conv_linalg_why_not, conv_linalg_print_head, print_linalg, conv_linalg_print_tail,
                               .passes = conv_linalg_passes, .constants = EXP_EMIT_FILTERS },
};

const char *exp_emit_name(enum exp_emit_what what)
{
    static const char *const names[EXP_EMIT_N_FORMS] = { EXP_EMIT_NAMES };

    assert(what < EXP_EMIT_N_FORMS);
    return names[what];
}

enum exp_emit_constants exp_emit_constants(enum exp_emit_what what)
{
    assert(what < EXP_EMIT_N_FORMS);
    return forms[what].constants;
}

const char *const *exp_emit_passes(enum exp_emit_what what)
{
    assert(what < EXP_EMIT_N_FORMS);
    return forms[what].passes;
}

bool exp_emit_has_kernels(enum exp_emit_what what)
{
    assert(what < EXP_EMIT_N_FORMS);
    return forms[what].has_kernels;
}

/* ---- text ---- */

static const char *why_not(enum exp_emit_what what, const struct conv_plan *plan)
{
    const char *why = conv_program_why_not(plan);

    if (!why && forms[what].passes && plan->ukr->isa == CPU_ISA_NONE)
        why = "MLIR is written for micro-kernels of vectors: UKR=avx2 or UKR=avx512";
    if (!why && forms[what].passes && !conv_program_is_plain(plan))
        why = "MLIR is written for vectors of windows, and without prefetching";
    return why ? why : forms[what].why_not(plan);
}

static int check(enum exp_emit_what what, const struct conv_noted_plan *plan, size_t n, struct exp_why *why)
{
    for (size_t i = 0; i < n; i++) {
        const char *reason = why_not(what, &plan[i].plan);

        if (reason)
            return exp_fail(why, -EINVAL, "layer '%s' with %s: its plan cannot be written as code: %s", plan[i].layer,
                            conv_plan_kernel_name(&plan[i].plan), reason);
        if (plan[i].plan.ukr->isa != plan[0].plan.ukr->isa)
            return exp_fail(why, -EINVAL,
                            "layer '%s': its micro-kernel %s needs another instruction set than that of '%s'",
                            plan[i].layer, plan[i].plan.ukr->name, plan[0].layer);
    }
    return 0;
}

static bool is_fused(const struct conv_fusion *after)
{
    return after->adds_bias || after->activation != CONV_ACTIVATION_NONE;
}

int exp_emit_print(enum exp_emit_what what, const struct conv_noted_plan *plan, size_t n,
                   const struct conv_c_options *options, FILE *out, struct exp_why *why)
{
    int err = check(what, plan, n, why);

    if (!err && is_fused(&options->after) && forms[what].passes)
        err = exp_fail(why, -EINVAL, "FUSE: what follows is fused in C only: EMIT=c");
    if (err)
        return err;
    forms[what].print_head(&plan[0].plan, out);
    for (size_t i = 0; i < n && !err; i++) {
        char name[CONV_C_NAME_BYTES];

        conv_c_name(name, plan[i].layer, i);
        err = forms[what].print(&plan[i].plan, name, options, out);
    }
    if (!err && forms[what].print_tail)
        forms[what].print_tail(plan, n, out);
    return err ? exp_fail(why, err, "out of memory") : 0;
}

int exp_emit_print_kernels(const struct conv_noted_plan *plan, size_t n, FILE *out, struct exp_why *why)
{
    int err = 0;

    conv_c_print_head(&plan[0].plan, out);
    for (size_t i = 0; i < n && !err; i++) {
        char name[CONV_C_NAME_BYTES];

        conv_c_name(name, plan[i].layer, i);
        err = conv_mlir_print_kernels(&plan[i].plan, name, out);
    }
    return err ? exp_fail(why, err, "out of memory") : 0;
}
