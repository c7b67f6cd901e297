#include "experiments/emit/opt_conv.h"

#include <errno.h>
#include <inttypes.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/plan/plan.h"
#include "kernels/ukr/dispatch.h"

/* ---- which operations are convolutions ---- */

enum { IMAGE, FILTER, OUTPUT, N_OPERANDS };

static const struct {
    const char *name;
    enum conv_linalg_layout layout;
    /* Where n, c, h, w are in the image's shape; k, c, r, s in the filter's; n, k, p, q in the output's. */
    int at[N_OPERANDS][4];
} kinds[] = {
    { "linalg.conv_2d_nchw_fchw", CONV_LINALG_NCHW, { { 0, 1, 2, 3 }, { 0, 1, 2, 3 }, { 0, 1, 2, 3 } } },
    { "linalg.conv_2d_nhwc_hwcf", CONV_LINALG_NHWC, { { 0, 3, 1, 2 }, { 3, 2, 0, 1 }, { 0, 3, 1, 2 } } },
};

static const size_t n_kinds = sizeof kinds / sizeof kinds[0];

/* Says why the type of an operand is refused, or returns NULL. */
static const char *why_no_type(MlirType t)
{
    int64_t strides[8], offset;

    if (!mlirTypeIsARankedTensor(t) && !mlirTypeIsAMemRef(t))
        return "is neither a tensor nor a memref of known rank";
    if (!mlirShapedTypeHasStaticShape(t))
        return "has a dynamic shape";
    if (!mlirTypeIsAF32(mlirShapedTypeGetElementType(t)))
        return "has elements that are not f32";
    if (mlirTypeIsARankedTensor(t))
        return mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(t)) ? NULL : "has an encoding";
    if (mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(t, strides, &offset)) ||
        strides[mlirShapedTypeGetRank(t) - 1] != 1)
        return "has a layout whose rows are not contiguous";
    return NULL;
}

static int check_types(const struct opt_conv *c, struct exp_why *why)
{
    static const char *const what[] = { "its input", "its filter", "its output" };

    for (intptr_t i = 0; i < N_OPERANDS; i++) {
        MlirType t = mlirValueGetType(mlirOperationGetOperand(c->op, i));
        const char *reason = why_no_type(t);
        char *text;

        if (!reason)
            continue;
        text = opt_text_of_type(t);
        exp_fail(why, 0, "%s %s: %s", what[i], reason, text);
        free(text);
        return -EINVAL;
    }
    return 0;
}

/* Buffers are read and written side by side. */
static int check_buffers(const struct opt_conv *c, struct exp_why *why)
{
    MlirValue out = mlirOperationGetOperand(c->op, OUTPUT);

    for (intptr_t i = 0; i < OUTPUT; i++) {
        if (c->is_buffers && mlirValueEqual(mlirOperationGetOperand(c->op, i), out))
            return exp_fail(why, -EINVAL, "its output is its input, too");
    }
    return 0;
}

/* Returns element i of an attribute such as strides; 1 without the attribute. */
static size_t element(MlirOperation op, const char *name, intptr_t i)
{
    MlirAttribute a = opt_attribute_of(op, name);

    return mlirAttributeIsNull(a) ? 1 : (size_t)mlirDenseElementsAttrGetInt64Value(a, i);
}

static size_t extent(const struct opt_conv *c, const int at[4], int operand, int i)
{
    return (size_t)mlirShapedTypeGetDimSize(mlirValueGetType(mlirOperationGetOperand(c->op, operand)), at[i]);
}

static int read_shape(struct opt_conv *c, size_t kind, struct exp_why *why)
{
    const int(*at)[4] = kinds[kind].at;
    struct conv_problem *p = &c->problem;
    char text[256];

    *p = (struct conv_problem){
        .n = extent(c, at[IMAGE], IMAGE, 0),
        .c = extent(c, at[IMAGE], IMAGE, 1),
        .h = extent(c, at[IMAGE], IMAGE, 2),
        .w = extent(c, at[IMAGE], IMAGE, 3),
        .k = extent(c, at[FILTER], FILTER, 0),
        .r = extent(c, at[FILTER], FILTER, 2),
        .s = extent(c, at[FILTER], FILTER, 3),
        .stride_h = element(c->op, "strides", 0),
        .stride_w = element(c->op, "strides", 1),
        .dilation_h = element(c->op, "dilations", 0),
        .dilation_w = element(c->op, "dilations", 1),
        .groups = 1,
    };
    if (conv_problem_finish(p, SIM_WHY(text)))
        return exp_fail(why, -EINVAL, "%s", text);
    if (p->p != extent(c, at[OUTPUT], OUTPUT, 2) || p->q != extent(c, at[OUTPUT], OUTPUT, 3))
        return exp_fail(why, -EINVAL, "its output is not as high or wide as its windows are many: %zux%zu", p->p, p->q);
    return 0;
}

/* ---- outputs that are zeros before: they need not be read ---- */

/* Returns the operation that makes a value; null: the value is an argument. */
static MlirOperation maker_of(MlirValue v)
{
    return mlirValueIsAOpResult(v) ? mlirOpResultGetOwner(v) : (MlirOperation){ NULL };
}

/* Tells whether an operation fills something with zeros. */
static bool fills_with_zeros(MlirOperation op)
{
    MlirOperation constant;
    MlirAttribute value;

    if (mlirOperationIsNull(op) || !opt_is_called(op, "linalg.fill"))
        return false;
    constant = maker_of(mlirOperationGetOperand(op, 0));
    if (mlirOperationIsNull(constant) || !opt_is_called(constant, "arith.constant"))
        return false;
    value = opt_attribute_of(constant, "value");
    return mlirAttributeIsAFloat(value) && mlirFloatAttrGetValueDouble(value) == 0;
}

/* Finds the operation before another in its block, without constants; null if there is none. */
static MlirOperation before(MlirOperation op)
{
    MlirOperation o = mlirBlockGetFirstOperation(mlirOperationGetBlock(op)), last = { NULL };

    for (; !mlirOperationEqual(o, op); o = mlirOperationGetNextInBlock(o)) {
        if (!opt_is_called(o, "arith.constant"))
            last = o;
    }
    return last;
}

static MlirOperation zeros_of(const struct opt_conv *c)
{
    MlirValue out = mlirOperationGetOperand(c->op, OUTPUT);
    MlirOperation fill = c->is_buffers ? before(c->op) : maker_of(out);

    if (!fills_with_zeros(fill) || (c->is_buffers && !mlirValueEqual(mlirOperationGetOperand(fill, 1), out)))
        return (MlirOperation){ NULL };
    return fill;
}

static void read_conv(struct opt_conv *c, size_t kind)
{
    int err;

    c->layout = kinds[kind].layout;
    err = check_types(c, &c->why);
    if (err)
        return;
    c->is_buffers = mlirOperationGetNumResults(c->op) == 0;
    c->zeros = zeros_of(c);
    if (!check_buffers(c, &c->why))
        read_shape(c, kind, &c->why);
}

/* Tells whether a map has a result beside dimensions and constants: h * 2 + r. */
static bool slides(MlirAttribute map)
{
    char *text = opt_text_of_attribute(map), *results = strstr(text, "->");
    bool is_sum = results && strpbrk(results + 2, "+*");

    free(text);
    return is_sum;
}

/* Tells whether a generic operation multiplies the elements of windows. */
static bool is_generic_convolution(MlirOperation op, const char *name)
{
    MlirAttribute maps = opt_attribute_of(op, "indexing_maps");
    bool has_window = false, multiplies = false;

    if (strcmp(name, "linalg.generic") != 0 || mlirAttributeIsNull(maps))
        return false;
    for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(maps); i++)
        has_window |= slides(mlirArrayAttrGetElement(maps, i));
    for (MlirOperation o = mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
         has_window && !mlirOperationIsNull(o); o = mlirOperationGetNextInBlock(o)) {
        char *inner = opt_name_of(o);

        multiplies |= !strcmp(inner, "arith.mulf") || !strcmp(inner, "arith.muli");
        free(inner);
    }
    return multiplies;
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static MlirWalkResult look_at(MlirOperation op, void *found)
{
    struct opt_convs *f = found;
    char *name = opt_name_of(op);
    bool is_named = begins(name, "linalg.conv_") || begins(name, "linalg.depthwise_conv_");
    size_t kind = 0;

    while (kind < n_kinds && strcmp(name, kinds[kind].name) != 0)
        kind++;
    if (is_named || is_generic_convolution(op, name)) {
        struct opt_conv *c = exp_append(&f->conv, &f->n, sizeof *f->conv);

        c->op = op;
        if (kind < n_kinds)
            read_conv(c, kind);
        else
            exp_fail(&c->why, 0, "%s",
                     is_named ? "SConv slices conv_2d_nchw_fchw and conv_2d_nhwc_hwcf"
                              : "it convolves as a generic operation; named ones are sliced");
    }
    free(name);
    return MlirWalkResultAdvance;
}

struct opt_convs opt_convs_find(const struct opt_module *m)
{
    struct opt_convs found = { 0 };

    mlirOperationWalk(mlirModuleGetOperation(m->module), look_at, &found, MlirWalkPreOrder);
    return found;
}

/* ---- plans ---- */

/* Finds a number after a key of a target spec, as "L1_cache_size_in_bytes", 32768 : i32. Returns 0 if there is none. */
static double entry(const char *spec, const char *key)
{
    char *quoted = exp_format("\"%s\"", key);
    const char *at = strstr(spec, quoted);

    if (at)
        at += strlen(quoted) + strspn(at + strlen(quoted), " ,=");
    free(quoted);
    return at ? strtod(at, NULL) : 0;
}

/* Returns the text of the nearest target spec around an operation, from malloc; NULL: there is none. */
static char *spec_of(MlirOperation op)
{
    for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op)) {
        MlirAttribute spec = opt_attribute_of(op, "dlti.target_system_spec");

        if (!mlirAttributeIsNull(spec))
            return opt_text_of_attribute(spec);
    }
    return NULL;
}

/* A level in a target spec; what the spec leaves open is taken from most machines: the latencies are assumed. */
static const struct {
    const char *size, *ways, *line;
    double cycles;
} levels[] = {
    { "L1_cache_size_in_bytes", "L1_cache_ways", "L1_cache_line_size_in_bytes", 4 },
    { "L2_cache_size_in_bytes", "L2_cache_ways", "L2_cache_line_size_in_bytes", 14 },
    { "L3_cache_size_in_bytes", "L3_cache_ways", "L3_cache_line_size_in_bytes", 50 },
};

enum { N_LEVELS = sizeof levels / sizeof levels[0] };

static void print_level(const char *spec, size_t i, FILE *out)
{
    double size = entry(spec, levels[i].size), ways = entry(spec, levels[i].ways), line = entry(spec, levels[i].line);

    if (size > 0)
        fprintf(out, "[cache L%zu]\nsize = %.0f\nways = %.0f\nline = %.0f\nlatency_cycles = %g\n", i + 1, size,
                ways > 0 ? ways : 8, line > 0 ? line : 64, levels[i].cycles);
}

/* Reads the machine of a target spec. */
static int read_spec(struct sim_machine *m, const char *spec, struct exp_why *why)
{
    const char *name = "the module's target spec";
    char *text;
    size_t bytes;
    FILE *file = exp_memory_open(&text, &bytes);
    int err;

    fprintf(file, "[machine]\nname = dlti\nmemory_latency_cycles = 200\n");
    for (size_t i = 0; i < N_LEVELS; i++)
        print_level(spec, i, file);
    fclose(file);
    if (!entry(spec, levels[0].size)) {
        free(text);
        return exp_fail(why, -EINVAL, "%s has no L1_cache_size_in_bytes", name);
    }
    file = fmemopen(text, bytes, "r");
    err = sim_machine_parse(m, file, name, why->text, sizeof why->text);
    fclose(file);
    free(text);
    return err;
}

static const struct conv_ukr *ukr_of(const struct opt_planner *by, const struct sim_machine *m, double vector_bits)
{
    if (by->ukr)
        return by->ukr;
    if (vector_bits >= 512)
        return conv_ukr_of(CPU_ISA_AVX512);
    if (vector_bits >= 256)
        return conv_ukr_of(CPU_ISA_AVX2);
    return *m->ukr && conv_ukr_find(m->ukr) ? conv_ukr_find(m->ukr) : conv_ukr_best();
}

/* Finds the machine of a convolution, and the width of its vectors, if known. */
static int find_machine(const struct opt_conv *c, const struct opt_planner *by, struct sim_machine *m,
                        double *vector_bits, struct exp_why *why)
{
    char *spec;
    int err;

    *vector_bits = 0;
    *m = by->machine;
    if (by->has_machine)
        return 0;
    spec = spec_of(c->op);
    if (!spec)
        return exp_fail(why, -ENOENT, "its module has no dlti.target_system_spec, and there is no MACHINE=");
    *vector_bits = entry(spec, "max_vector_op_width");
    err = read_spec(m, spec, why);
    free(spec);
    return err;
}

int opt_conv_plan(const struct opt_conv *c, const struct opt_planner *by, struct conv_layer_plan *plan,
                  struct exp_why *why)
{
    struct csa_tiling tiling[CSA_N_SCHEDULES];
    struct sim_machine m;
    const struct conv_ukr *ukr;
    double vector_bits;
    int err = find_machine(c, by, &m, &vector_bits, why);

    if (err)
        return err;
    ukr = ukr_of(by, &m, vector_bits);
    plan->caches = csa_caches_of(&m, csa_default_share);
    for (int s = 0; s < CSA_N_SCHEDULES; s++)
        tiling[s] = csa_analyse(&c->problem, &plan->caches, ukr->n_win, ukr->n_f, (enum csa_schedule)s);
    err = conv_plan_sconv(&plan->plan, &c->problem, ukr, &tiling[csa_choose(tiling)], false);
    if (err)
        return exp_fail(why, err, "its tensors do not fit an address space");
    plan->machine = exp_copy_text(m.name);
    return 0;
}
