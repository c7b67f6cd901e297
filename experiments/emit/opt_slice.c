/*
 * Slices a convolution: the text of kernels/emit/linalg_source.h is a module of its own, in which MLIR's transform
 * interpreter slices as planned; then the resulting operations move into the convolution's place. So nothing else of
 * the user's module can change, and nothing at all if a step fails.
 */
#include <errno.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/Transform/Interpreter.h>
#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/emit/opt_conv.h"

/* Makes the module of a plan. */
static MlirModule make_module(struct opt_module *m, const struct opt_conv *c, const struct conv_plan *plan)
{
    const struct conv_linalg_operands operands = { c->is_buffers, !mlirOperationIsNull(c->zeros),
                                                   !mlirAttributeIsNull(opt_filter_constant(c)) };
    const struct conv_linalg_packed packed = conv_linalg_packed(plan, c->layout);
    char *text, *type[3];
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);
    MlirModule made;

    for (intptr_t i = 0; i < 3; i++)
        type[i] = i == 1 && operands.filters_are_packed
                      ? exp_format("%s<%zux%zuxf32>", c->is_buffers ? "memref" : "tensor", packed.rows, packed.width)
                      : opt_text_of_type(mlirValueGetType(mlirOperationGetOperand(c->op, i)));
    conv_linalg_print_bare(plan, c->layout, (const char *const *)type, operands, out);
    fclose(out);
    made = opt_module_parse(m, text);
    for (intptr_t i = 0; i < 3; i++)
        free(type[i]);
    free(text);
    return made;
}

/* Finds an operation of a module by its symbol; null if there is none. */
static MlirOperation find(MlirModule module, const char *symbol)
{
    MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));

    for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
        MlirAttribute name = opt_attribute_of(op, "sym_name");
        MlirStringRef is = mlirAttributeIsNull(name) ? mlirStringRefCreate("", 0) : mlirStringAttrGetValue(name);

        if (is.length == strlen(symbol) && !memcmp(is.data, symbol, is.length))
            break;
    }
    return op;
}

static bool interpret(MlirModule module, const char *script)
{
    MlirTransformOptions options = mlirTransformOptionsCreate();
    MlirOperation all = mlirModuleGetOperation(module);
    MlirLogicalResult done = mlirTransformApplyNamedSequence(all, find(module, script), all, options);

    mlirTransformOptionsDestroy(options);
    return mlirLogicalResultIsSuccess(done);
}

static void ignore(MlirStringRef text, void *nothing)
{
    (void)text;
    (void)nothing;
}

static bool run_passes(const struct opt_module *m, MlirModule module, const char *passes)
{
    MlirPassManager manager = mlirPassManagerCreate(m->context);
    MlirStringRef text = mlirStringRefCreateFromCString(passes);
    MlirLogicalResult done =
        mlirOpPassManagerAddPipeline(mlirPassManagerGetAsOpPassManager(manager), text, ignore, NULL);

    if (mlirLogicalResultIsSuccess(done))
        done = mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module));
    mlirPassManagerDestroy(manager);
    return mlirLogicalResultIsSuccess(done);
}

/* Removes scripts and inlined blocks from a module: the function stays. */
static void clear_but(MlirModule module, MlirOperation function)
{
    MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));

    while (!mlirOperationIsNull(op)) {
        MlirOperation next = mlirOperationGetNextInBlock(op);

        if (!mlirOperationEqual(op, function))
            mlirOperationDestroy(op);
        op = next;
    }
}

/* Frees an operation's allocation at the end of its block. */
static void give_back(MlirOperation op)
{
    MlirOperationState state =
        mlirOperationStateGet(mlirStringRefCreateFromCString("memref.dealloc"), mlirOperationGetLocation(op));
    MlirBlock block = mlirOperationGetBlock(op);
    MlirValue memory = mlirOperationGetResult(op, 0);

    mlirOperationStateAddOperands(&state, 1, &memory);
    mlirBlockInsertOwnedOperationBefore(block, mlirBlockGetTerminator(block), mlirOperationCreate(&state));
}

/*
 * Collects allocations. A loop that hands buffers on has copied outputs, whose memory cannot be freed at the end of a
 * block.
 */
static MlirWalkResult look_after(MlirOperation op, void *hands_on)
{
    bool *handed = hands_on;

    if (opt_is_called(op, "memref.alloc"))
        give_back(op);
    for (intptr_t i = 0; opt_is_called(op, "scf.yield") && i < mlirOperationGetNumOperands(op); i++)
        *handed |= mlirTypeIsAMemRef(mlirValueGetType(mlirOperationGetOperand(op, i)));
    return MlirWalkResultAdvance;
}

/*
 * Adds the operations that free the memory of a module. Returns false, with the reason in m->said, if memory cannot be
 * freed.
 */
static bool free_memory(struct opt_module *m, MlirModule module)
{
    bool hands_on = false;

    mlirOperationWalk(mlirModuleGetOperation(module), look_after, &hands_on, MlirWalkPreOrder);
    if (hands_on)
        exp_say(m->said.text, sizeof m->said.text, "its output would be copied: its rows are not one behind the other");
    return !hands_on;
}

#define FUNCTION "sconv_"

static bool transform(struct opt_module *m, MlirModule module, bool is_buffers)
{
    static const char *const tidy = "canonicalize,cse";
    static const char *const tidy_buffers = "canonicalize,cse,canonicalize,func.func(buffer-loop-hoisting)";

    if (!interpret(module, "__transform_main") || !run_passes(m, module, "inline") || !interpret(module, "vectorize") ||
        (is_buffers && !interpret(module, "bufferize")))
        return false;
    clear_but(module, find(module, FUNCTION));
    if (!run_passes(m, module, is_buffers ? tidy_buffers : tidy))
        return false;
    if (is_buffers && !free_memory(m, module))
        return false;
    return mlirOperationVerify(mlirModuleGetOperation(module));
}

/* Returns the value of the function's argument number i: not zeros that nobody reads, and packed filters. */
static MlirValue operand(const struct opt_module *m, const struct opt_conv *c, const struct conv_plan *plan, intptr_t i)
{
    if (i == 1 && !mlirAttributeIsNull(opt_filter_constant(c)))
        return opt_filter_pack(m, c, plan);
    return i == 2 && !mlirOperationIsNull(c->zeros) ? mlirOperationGetOperand(c->zeros, 1)
                                                    : mlirOperationGetOperand(c->op, i);
}

/* Removes zeros without another reader. */
static void drop_zeros(const struct opt_conv *c)
{
    bool is_used = !c->is_buffers && !mlirOperationIsNull(c->zeros) &&
                   !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(c->zeros, 0)));

    if (!mlirOperationIsNull(c->zeros) && !is_used)
        mlirOperationDestroy(c->zeros);
}

/*
 * Moves the body of a function into the convolution's place. The convolution's operands become the body's arguments;
 * the convolution goes.
 */
static void put_in_place_of(const struct opt_module *m, const struct opt_conv *c, const struct conv_plan *plan,
                            MlirOperation function)
{
    MlirValue filter = mlirOperationGetOperand(c->op, 1);
    bool has_constant = !mlirAttributeIsNull(opt_filter_constant(c));
    MlirBlock from = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)), to = mlirOperationGetBlock(c->op);
    MlirOperation end = mlirBlockGetTerminator(from), o = mlirBlockGetFirstOperation(from);

    for (intptr_t i = 0; i < mlirBlockGetNumArguments(from); i++)
        mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(from, i), operand(m, c, plan, i));
    while (!mlirOperationEqual(o, end)) {
        MlirOperation next = mlirOperationGetNextInBlock(o);

        mlirOperationRemoveFromParent(o);
        mlirBlockInsertOwnedOperationBefore(to, c->op, o);
        o = next;
    }
    if (mlirOperationGetNumResults(c->op))
        mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(c->op, 0), mlirOperationGetOperand(end, 0));
    mlirOperationDestroy(c->op);
    drop_zeros(c);
    if (has_constant)
        opt_filter_drop(mlirOpResultGetOwner(filter));
}

int opt_conv_slice(struct opt_module *m, const struct opt_conv *c, const struct conv_plan *plan, struct exp_why *why)
{
    MlirModule module = make_module(m, c, plan);
    int err = 0;

    if (mlirModuleIsNull(module))
        return exp_fail(why, -EINVAL, "its text is no module: %s", m->said.text);
    if (transform(m, module, c->is_buffers))
        put_in_place_of(m, c, plan, find(module, FUNCTION));
    else
        err = exp_fail(why, -EINVAL, "MLIR does not slice it: %s", m->said.text);
    mlirModuleDestroy(module);
    return err;
}
