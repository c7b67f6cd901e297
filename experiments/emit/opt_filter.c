/*
 * Filters that are constants, of a tensor (arith.constant) or of a buffer (memref.global): they are packed here, so that
 * nothing in the program does it. What they were before goes where nobody else reads it.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/emit/opt_conv.h"

static MlirStringRef text_of(const char *text)
{
    return mlirStringRefCreateFromCString(text);
}

/* Returns the text of an attribute that names a symbol, from malloc. */
static char *symbol_of(MlirOperation op, const char *attribute)
{
    MlirAttribute name = opt_attribute_of(op, attribute);
    MlirStringRef is =
        mlirAttributeIsAFlatSymbolRef(name) ? mlirFlatSymbolRefAttrGetValue(name) : mlirStringAttrGetValue(name);

    return exp_format("%.*s", (int)is.length, is.data);
}

/* ---- what they are ---- */

/* Finds the memref.global that a memref.get_global names, and the operation whose symbols have it. */
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

/* ---- what they become ---- */

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

static MlirAttribute pack(const struct opt_conv *c, const struct conv_plan *plan, MlirContext context)
{
    const struct conv_problem *p = &c->problem;
    const struct conv_linalg_packed is = conv_linalg_packed(plan, c->layout);
    const int64_t shape[] = { (int64_t)is.rows, (int64_t)is.width };
    MlirType type = mlirRankedTensorTypeGet(2, shape, mlirF32TypeGet(context), (MlirAttribute){ NULL });
    float *packed = exp_new(is.rows * is.width, sizeof *packed);
    float *filter = values_of(opt_filter_constant(c), p->k * p->c * p->r * p->s);
    MlirAttribute made;

    conv_linalg_pack(plan, c->layout, filter, packed);
    made = mlirDenseElementsAttrFloatGet(type, (intptr_t)(is.rows * is.width), packed);
    free(filter);
    free(packed);
    return made;
}

static MlirNamedAttribute named(MlirContext context, const char *name, MlirAttribute a)
{
    return mlirNamedAttributeGet(mlirIdentifierGet(context, text_of(name)), a);
}

/* Makes a memref.global beside the one that is packed. Returns the symbol that it is given. */
static MlirAttribute add_global(MlirContext context, MlirOperation beside, MlirOperation holder, MlirType type,
                                MlirAttribute value)
{
    const MlirNamedAttribute attributes[] = {
        named(context, "sym_name", mlirStringAttrGet(context, text_of("sconv_filters"))),
        named(context, "sym_visibility", mlirStringAttrGet(context, text_of("private"))),
        named(context, "type", mlirTypeAttrGet(type)),
        named(context, "initial_value", value),
        named(context, "constant", mlirUnitAttrGet(context)),
        named(context, "alignment", mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), 64)),
    };
    MlirOperationState state = mlirOperationStateGet(text_of("memref.global"), mlirOperationGetLocation(beside));
    MlirSymbolTable symbols = mlirSymbolTableCreate(holder);
    MlirOperation global;
    MlirAttribute name;

    mlirOperationStateAddAttributes(&state, sizeof attributes / sizeof attributes[0], attributes);
    global = mlirOperationCreate(&state);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(beside), beside, global);
    name = mlirSymbolTableInsert(symbols, global); /* another one where it is taken */
    mlirSymbolTableDestroy(symbols);
    return mlirFlatSymbolRefAttrGet(context, mlirStringAttrGetValue(name));
}

MlirValue opt_filter_pack(const struct opt_module *m, const struct opt_conv *c, const struct conv_plan *plan)
{
    MlirOperation holder, global, made;
    MlirAttribute value = pack(c, plan, m->context);
    MlirType type = mlirAttributeGetType(value);
    MlirOperationState state = mlirOperationStateGet(text_of(c->is_buffers ? "memref.get_global" : "arith.constant"),
                                                     mlirOperationGetLocation(c->op));
    MlirNamedAttribute attribute = named(m->context, "value", value);

    if (c->is_buffers) {
        const int64_t shape[] = { mlirShapedTypeGetDimSize(type, 0), mlirShapedTypeGetDimSize(type, 1) };

        type = mlirMemRefTypeContiguousGet(mlirF32TypeGet(m->context), 2, shape, (MlirAttribute){ NULL });
        global = global_of(maker_of(c), &holder);
        attribute = named(m->context, "name", add_global(m->context, global, holder, type, value));
    }
    mlirOperationStateAddAttributes(&state, 1, &attribute);
    mlirOperationStateAddResults(&state, 1, &type);
    made = mlirOperationCreate(&state);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(c->op), c->op, made);
    return mlirOperationGetResult(made, 0);
}

/* ---- what they were ---- */

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
