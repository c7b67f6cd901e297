/*
 * Constant filters, of a tensor (arith.constant) or of a buffer (memref.global): they are packed here, so that the
 * program does not pack them, and become a memref.global. The old constant goes if nobody reads it.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/emit/opt_conv.h"

static MlirStringRef text_of(const char *text)
{
    return mlirStringRefCreateFromCString(text);
}

/* Returns the name of a symbol's attribute, from malloc. */
static char *symbol_of(MlirOperation op, const char *attribute)
{
    MlirAttribute name = opt_attribute_of(op, attribute);
    MlirStringRef is =
        mlirAttributeIsAFlatSymbolRef(name) ? mlirFlatSymbolRefAttrGetValue(name) : mlirStringAttrGetValue(name);

    return exp_format("%.*s", (int)is.length, is.data);
}

/* ---- the old constant ---- */

/* Finds the memref.global of a memref.get_global, and the operation with its symbol table. */
static MlirOperation global_of(MlirOperation get, MlirOperation *holder)
{
    char *name = symbol_of(get, "name");
    MlirOperation found = { NULL };

    *holder = mlirOperationGetParentOperation(get);
    while (mlirOperationIsNull(found) && !mlirOperationIsNull(*holder)) {
        MlirSymbolTable symbols = mlirSymbolTableCreate(*holder);

        if (!mlirSymbolTableIsNull(symbols)) {
            found = mlirSymbolTableLookup(symbols, text_of(name));
            mlirSymbolTableDestroy(symbols);
        }
        if (mlirOperationIsNull(found))
            *holder = mlirOperationGetParentOperation(*holder);
    }
    free(name);
    return found;
}

static MlirOperation maker_of(const struct opt_conv *c)
{
    MlirValue filter = mlirOperationGetOperand(c->op, 1);

    return mlirValueIsAOpResult(filter) ? mlirOpResultGetOwner(filter) : (MlirOperation){ NULL };
}

MlirAttribute opt_filter_constant(const struct opt_conv *c)
{
    MlirOperation maker = maker_of(c), holder, global;
    MlirAttribute value = { NULL };

    if (mlirOperationIsNull(maker))
        return value;
    if (opt_is_called(maker, "arith.constant"))
        value = opt_attribute_of(maker, "value");
    if (opt_is_called(maker, "memref.get_global")) {
        global = global_of(maker, &holder);
        if (!mlirOperationIsNull(global) && !mlirAttributeIsNull(opt_attribute_of(global, "constant")))
            value = opt_attribute_of(global, "initial_value");
    }
    return !mlirAttributeIsNull(value) && mlirAttributeIsADenseElements(value) ? value : (MlirAttribute){ NULL };
}

/* ---- the new constant ---- */

/* Returns their values, from malloc, in the order of their shape. */
static float *values_of(MlirAttribute constant, size_t n)
{
    float *x = exp_new(n, sizeof *x);
    bool is_splat = mlirDenseElementsAttrIsSplat(constant);

    for (size_t i = 0; i < n; i++)
        x[i] = is_splat ? mlirDenseElementsAttrGetFloatSplatValue(constant)
                        : mlirDenseElementsAttrGetFloatValue(constant, (intptr_t)i);
    return x;
}

/* Returns the packed filters as bytes: LLVM reads a text of bytes ten times as fast as a text of floats. */
static MlirAttribute pack(const struct opt_conv *c, const struct conv_plan *plan, MlirContext context)
{
    const struct conv_problem *p = &c->problem;
    const struct conv_linalg_packed is = conv_linalg_packed(plan, c->layout);
    const int64_t bytes = (int64_t)(is.rows * is.width * sizeof(float));
    MlirType type = mlirRankedTensorTypeGet(1, &bytes, mlirIntegerTypeGet(context, 8), (MlirAttribute){ NULL });
    float *packed = exp_new(is.rows * is.width, sizeof *packed);
    float *filter = values_of(opt_filter_constant(c), p->k * p->c * p->r * p->s);
    MlirAttribute made;

    conv_linalg_pack(plan, c->layout, filter, packed);
    made = mlirDenseElementsAttrRawBufferGet(type, (size_t)bytes, packed);
    free(filter);
    free(packed);
    return made;
}

static MlirNamedAttribute named(MlirContext context, const char *name, MlirAttribute a)
{
    return mlirNamedAttributeGet(mlirIdentifierGet(context, text_of(name)), a);
}

static MlirType buffer(MlirType element, intptr_t rank, const int64_t *shape)
{
    return mlirMemRefTypeContiguousGet(element, rank, shape, (MlirAttribute){ NULL });
}

/* Makes a memref.global of bytes in the nearest symbol table around an operation. Returns its symbol. */
static MlirAttribute add_global(MlirContext context, MlirOperation op, MlirType type, MlirAttribute value)
{
    const MlirNamedAttribute attributes[] = {
        named(context, "sym_name", mlirStringAttrGet(context, text_of("sconv_filters"))),
        named(context, "sym_visibility", mlirStringAttrGet(context, text_of("private"))),
        named(context, "type", mlirTypeAttrGet(type)),
        named(context, "initial_value", value),
        named(context, "constant", mlirUnitAttrGet(context)),
        named(context, "alignment", mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), 64)),
    };
    MlirOperationState state = mlirOperationStateGet(text_of("memref.global"), mlirOperationGetLocation(op));
    MlirSymbolTable symbols = mlirSymbolTableCreate(op);
    MlirOperation global;
    MlirAttribute name;

    while (mlirSymbolTableIsNull(symbols)) {
        op = mlirOperationGetParentOperation(op);
        symbols = mlirSymbolTableCreate(op);
    }
    mlirOperationStateAddAttributes(&state, sizeof attributes / sizeof attributes[0], attributes);
    global = mlirOperationCreate(&state);
    mlirBlockInsertOwnedOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)), 0, global);
    name = mlirSymbolTableInsert(symbols, global); /* another name if the name is taken */
    mlirSymbolTableDestroy(symbols);
    return mlirFlatSymbolRefAttrGet(context, mlirStringAttrGetValue(name));
}

/* Makes an operation with a single result in front of a convolution. Returns the result. */
static MlirValue add(const struct opt_conv *c, const char *name, const MlirNamedAttribute *attribute, MlirType type,
                     intptr_t n_operands, const MlirValue *operands)
{
    MlirOperationState state = mlirOperationStateGet(text_of(name), mlirOperationGetLocation(c->op));
    MlirOperation made;

    mlirOperationStateAddAttributes(&state, !!attribute, attribute);
    mlirOperationStateAddOperands(&state, n_operands, operands);
    mlirOperationStateAddResults(&state, 1, &type);
    made = mlirOperationCreate(&state);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(c->op), c->op, made);
    return mlirOperationGetResult(made, 0);
}

MlirValue opt_filter_pack(const struct opt_module *m, const struct opt_conv *c, const struct conv_plan *plan)
{
    MlirContext context = m->context;
    const struct conv_linalg_packed is = conv_linalg_packed(plan, c->layout);
    const int64_t shape[] = { (int64_t)is.rows, (int64_t)is.width };
    MlirAttribute bytes = pack(c, plan, context);
    const int64_t n_bytes = mlirShapedTypeGetDimSize(mlirAttributeGetType(bytes), 0);
    MlirType flat = buffer(mlirIntegerTypeGet(context, 8), 1, &n_bytes), index = mlirIndexTypeGet(context);
    MlirNamedAttribute symbol = named(context, "name", add_global(context, c->op, flat, bytes));
    MlirNamedAttribute zero = named(context, "value", mlirIntegerAttrGet(index, 0));
    MlirNamedAttribute is_restrict = named(context, "restrict", mlirUnitAttrGet(context));
    const MlirValue from[] = { add(c, "memref.get_global", &symbol, flat, 0, NULL),
                               add(c, "arith.constant", &zero, index, 0, NULL) };
    MlirValue rows = add(c, "memref.view", NULL, buffer(mlirF32TypeGet(context), 2, shape), 2, from);

    if (c->is_buffers)
        return rows;
    return add(c, "bufferization.to_tensor", &is_restrict,
               mlirRankedTensorTypeGet(2, shape, mlirF32TypeGet(context), (MlirAttribute){ NULL }), 1, &rows);
}

/* ---- removing the old constant ---- */

struct uses {
    const char *symbol;
    size_t n;
};

static MlirWalkResult count_uses(MlirOperation op, void *uses)
{
    struct uses *u = uses;

    if (opt_is_called(op, "memref.get_global")) {
        char *name = symbol_of(op, "name");

        u->n += !strcmp(name, u->symbol);
        free(name);
    }
    return MlirWalkResultAdvance;
}

static bool is_private(MlirOperation op)
{
    MlirAttribute a = opt_attribute_of(op, "sym_visibility");

    return !mlirAttributeIsNull(a) && mlirStringRefEqual(mlirStringAttrGetValue(a), text_of("private"));
}

void opt_filter_drop(MlirOperation maker)
{
    bool is_global = opt_is_called(maker, "memref.get_global");
    MlirOperation holder, global;

    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(maker, 0))))
        return;
    if (is_global) {
        char *name = symbol_of(maker, "name");
        struct uses uses = { name, 0 };

        global = global_of(maker, &holder);
        mlirOperationWalk(holder, count_uses, &uses, MlirWalkPreOrder);
        if (uses.n == 1 && is_private(global))
            mlirOperationDestroy(global);
        free(name);
    }
    mlirOperationDestroy(maker);
}
