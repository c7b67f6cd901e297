#include "kernels/emit/mlir_source.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "kernels/emit/c_routines.h"
#include "kernels/emit/c_source.h"
#include "kernels/emit/mlir_routines.h"

const char *const conv_mlir_passes[] = {
    "--lower-affine",
    "--convert-scf-to-cf",
    "--convert-vector-to-llvm",
    "--convert-func-to-llvm=use-bare-ptr-memref-call-conv",
    "--finalize-memref-to-llvm",
    "--convert-arith-to-llvm",
    "--convert-cf-to-llvm",
    "--reconcile-unrealized-casts",
    NULL,
};

const char *conv_mlir_why_not(const struct conv_plan *plan)
{
    if (plan->view.stride_w > 2)
        return "MLIR is not written for strides above 2";
    return plan->sconv.options.packs_filters ? "MLIR is written for filters that were packed before" : NULL;
}

/* ---- the loops ---- */

struct nest {
    const struct conv_program *program;
    const char *prefix;
    FILE *out;
    unsigned n_loops;
    size_t n_values;
};

static void indent(const struct nest *n)
{
    fprintf(n->out, "%*s", (int)(2 * (n->n_loops + 1)), "");
}

/* Prints what an operand's index is in the loops around, and gives it a number. */
static size_t print_index(struct nest *n, const struct conv_item *call, int operand)
{
    indent(n);
    fprintf(n->out, "%%a%zu = affine.apply affine_map<(", n->n_values);
    for (unsigned d = 0; d < call->depth; d++)
        fprintf(n->out, "%sd%u", d ? ", " : "", d);
    fprintf(n->out, ") -> (");
    for (unsigned d = 0; d < call->depth; d++) {
        if (call->step[d][operand])
            fprintf(n->out, "d%u * %" PRId64 " + ", d, call->step[d][operand]);
    }
    fprintf(n->out, "%" PRId64 ")>(", call->at[operand]);
    for (unsigned d = 0; d < call->depth; d++)
        fprintf(n->out, "%s%%i%u", d ? ", " : "", n->n_loops - 1 - d);
    fprintf(n->out, ")\n");
    return n->n_values++;
}

static void print_call(struct nest *n, const struct conv_item *item)
{
    const struct conv_routine *r = &n->program->routine[item->routine];
    int n_operands = conv_mlir_operands(r);
    size_t index[CONV_FOLD_OPERANDS];

    for (int o = 0; o < n_operands; o++)
        index[o] = print_index(n, item, o);
    indent(n);
    fprintf(n->out, "func.call @%s_%u(", n->prefix, item->routine);
    for (int o = 0; o < n_operands; o++)
        fprintf(n->out, "%s%%%s, %%a%zu", o ? ", " : "", conv_mlir_tensor(r->tensor[o]), index[o]);
    fprintf(n->out, ") : (");
    for (int o = 0; o < n_operands; o++) {
        fprintf(n->out, "%s", o ? ", " : "");
        conv_mlir_print_type(n->program->plan, r->tensor[o], n->out);
        fprintf(n->out, ", index");
    }
    fprintf(n->out, ") -> ()\n");
}

static void print_items(struct nest *n, const struct conv_item *item, size_t n_items)
{
    for (size_t i = 0; i < n_items; i++) {
        if (!item[i].times) {
            print_call(n, &item[i]);
            continue;
        }
        indent(n);
        fprintf(n->out, "affine.for %%i%u = 0 to %zu {\n", n->n_loops, item[i].times);
        n->n_loops++;
        print_items(n, item[i].body, item[i].n_body);
        n->n_loops--;
        indent(n);
        fprintf(n->out, "}\n");
    }
}

/* ---- functions ---- */

static void print_arguments(const struct conv_plan *plan, const enum conv_tensor *tensor, size_t n, FILE *out)
{
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%s%%%s: ", i ? ", " : "", conv_mlir_tensor(tensor[i]));
        conv_mlir_print_type(plan, tensor[i], out);
    }
}

static void print_function(const struct conv_program *p, const char *name, const char *suffix, const char *prefix,
                           const enum conv_tensor *tensor, size_t n_tensors, FILE *out)
{
    struct nest n = { .program = p, .prefix = prefix, .out = out };

    fprintf(out, "func.func @%s%s(", name, suffix);
    print_arguments(p->plan, tensor, n_tensors, out);
    fprintf(out, ") {\n");
    print_items(&n, p->fold.item, p->fold.n);
    fprintf(out, "  return\n}\n\n");
}

static void print_routines(const struct conv_program *p, const char *prefix, bool has_external_kernels, FILE *out)
{
    for (size_t i = 0; i < p->n_routines; i++)
        conv_mlir_print_routine(p, i, prefix, has_external_kernels, out);
}

void conv_mlir_print_head(const struct conv_plan *plan, FILE *out)
{
    fprintf(out,
            "// Convolutions as SConv plans them. Lower with mlir-opt of LLVM 19, mlir-translate --mlir-to-llvmir and\n"
            "// clang -O3 %s.\n// passes:",
            conv_c_flags(plan));
    for (size_t i = 0; conv_mlir_passes[i]; i++)
        fprintf(out, " %s", conv_mlir_passes[i]);
    fprintf(out, "\n\n");
}

int conv_mlir_print(const struct conv_plan *plan, const char *name, bool has_external_kernels, FILE *out)
{
    static const enum conv_tensor nest[] = { CONV_INPUT, CONV_FILTER, CONV_PACKED_FILTER, CONV_PACKED_INPUT,
                                             CONV_OUTPUT },
                                  filters[] = { CONV_FILTER, CONV_PACKED_FILTER };
    char prefix[CONV_C_NAME_BYTES + 16];
    struct conv_program p;
    int err = conv_program_of_nest(&p, plan);

    if (err)
        return err;
    snprintf(prefix, sizeof prefix, "%s_part", name);
    print_routines(&p, prefix, has_external_kernels, out);
    print_function(&p, name, "", prefix, nest, sizeof nest / sizeof nest[0], out);
    conv_program_release(&p);
    err = conv_program_of_filters(&p, plan);
    if (err)
        return err;
    snprintf(prefix, sizeof prefix, "%s_filters", name);
    print_routines(&p, prefix, false, out);
    print_function(&p, name, "_pack_filters", prefix, filters, sizeof filters / sizeof filters[0], out);
    conv_program_release(&p);
    return 0;
}

int conv_mlir_print_kernels(const struct conv_plan *plan, const char *name, FILE *out)
{
    char prefix[CONV_C_NAME_BYTES + 16], inner[CONV_C_NAME_BYTES + 16];
    struct conv_program p;
    int err = conv_program_of_nest(&p, plan);

    if (err)
        return err;
    snprintf(prefix, sizeof prefix, "%s_part", name);
    snprintf(inner, sizeof inner, "%s_ukr", name);
    for (size_t i = 0; i < p.n_routines; i++) {
        if (p.routine[i].kind != CONV_ROUTINE_UKR)
            continue;
        conv_c_print_routine(&p, i, inner, out);
        fprintf(out,
                "void %s_%zu(const float *in, ptrdiff_t i, const float *filter, ptrdiff_t f, float *out, ptrdiff_t o)\n"
                "{\n    %s_%zu(in + i, filter + f, out + o);\n}\n\n",
                prefix, i, inner, i);
    }
    conv_program_release(&p);
    return 0;
}
