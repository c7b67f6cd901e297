#include "experiments/emit/exp_emit_weights.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "kernels/backend/backend.h"
#include "kernels/nest/nest.h"

/* A compiler takes minutes for more. */
enum { MOST_WEIGHTS = 1 << 18 };

static int check(enum exp_emit_constants constants, const struct conv_noted_plans *plans, size_t n, struct exp_why *why)
{
    if (constants == EXP_EMIT_NO_CONSTANTS)
        return exp_fail(why, -EINVAL,
                        "WEIGHTS: filters become constants of C and of linalg only: EMIT=c or EMIT=mlir_linalg");
    if (plans->n != 1)
        return exp_fail(why, -EINVAL, "WEIGHTS: a file is for one layer, these are %zu; LAYER= chooses one", plans->n);
    if (plans->plan[0].plan.sconv.options.packs_filters)
        return exp_fail(why, -EINVAL, "WEIGHTS: layer '%s' packs its filters at run time", plans->plan[0].layer);
    if (n <= MOST_WEIGHTS)
        return 0;
    return exp_fail(why, -EINVAL,
                    "WEIGHTS: layer '%s' has %zu, at most %d become constants; without WEIGHTS a function packs them",
                    plans->plan[0].layer, n, MOST_WEIGHTS);
}

static int read_floats(float *x, size_t n, const char *path, struct exp_why *why)
{
    FILE *in = fopen(path, "rb");
    size_t found;
    int more;

    if (!in)
        return exp_fail(why, -errno, "cannot open '%s': %s", path, strerror(errno));
    found = fread(x, sizeof *x, n, in);
    more = getc(in);
    fclose(in);
    for (size_t i = 0; i < found; i++) {
        if (!isfinite(x[i]))
            return exp_fail(why, -EINVAL, "%s: float %zu is %g, constants must be finite", path, i, (double)x[i]);
    }
    if (found == n && more == EOF)
        return 0;
    return exp_fail(why, -EINVAL, "%s: has %s bytes than the layer's filters, which are %zu", path,
                    found == n ? "more" : "fewer", n * sizeof *x);
}

/* Packs filters as the plan wants them, in their place. */
static int pack(float **filters, const struct conv_plan *plan, struct exp_why *why)
{
    float *packed = calloc(plan->layout.bytes[CONV_FILTER] / sizeof(float), sizeof *packed);
    struct conv_binding bind = { { 0 } };
    struct conv_exec exec;
    int err;

    if (!packed)
        return exp_fail(why, -ENOMEM, "out of memory");
    bind.addr[CONV_FILTER] = (uintptr_t)*filters;
    bind.addr[CONV_PACKED_FILTER] = (uintptr_t)packed;
    conv_exec_init(&exec, plan, &bind);
    err = conv_nest_pack_filters(plan, &exec.base);
    free(*filters);
    *filters = packed;
    return err;
}

int exp_emit_weights_read(float **filters, enum exp_emit_what what, const char *path,
                          const struct conv_noted_plans *plans, struct exp_why *why)
{
    enum exp_emit_constants constants = exp_emit_constants(what);
    const struct conv_plan *plan = &plans->plan[0].plan;
    size_t n = plan->layout.bytes[CONV_FILTER] / sizeof(float);
    int err = check(constants, plans, n, why);

    *filters = NULL;
    if (err)
        return err;
    *filters = calloc(n, sizeof **filters);
    err = *filters ? read_floats(*filters, n, path, why) : exp_fail(why, -ENOMEM, "out of memory");
    if (!err && constants == EXP_EMIT_PACKED_FILTERS)
        err = pack(filters, plan, why);
    if (!err)
        return 0;
    free(*filters);
    *filters = NULL;
    return err;
}
