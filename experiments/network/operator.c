#include "experiments/network/operator.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/operators/inside.h"
#include "experiments/network/operators/records.h"

#define ADDRESS(name) &op_##name,
static const struct op *const records[] = { OP_RECORDS(ADDRESS) };

const struct op *op_of(const struct onnx_node *node)
{
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        if (onnx_is(node, records[i]->name))
            return records[i];
    }
    return NULL;
}

int op_prepare(struct op_call *call, const struct op_ask *ask, struct exp_why *why)
{
    int err;

    assert(ask->graph && ask->node);
    *call = (struct op_call){ .op = op_of(ask->node), .ask = *ask };
    if (!call->ask.n_threads)
        call->ask.n_threads = 1;
    if (ask->node->why_unread)
        return op_refuse(call, why, "%s", ask->node->why_unread);
    if (!call->op)
        return op_refuse(call, why, "no such operator is known here%s%.60s%s", *ask->node->domain ? ", of domain " : "",
                         ask->node->domain, onnx_hint(ask->node));
    if (ask->activation != SCONV_NO_ACTIVATION && !(call->op->traits & OP_ACTIVATES))
        return op_refuse(call, why, "no activation can be fused with it");
    err = call->op->prepare(call, why);
    if (err)
        op_release(call);
    return err;
}

void op_release(struct op_call *call)
{
    free(call->own);
    *call = (struct op_call){ 0 };
}

void op_run(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    assert(call->op);
    if (call->op->run)
        call->op->run(call, t, team);
    else
        call->op->reference(call, t);
}

void op_reference(const struct op_call *call, const struct op_tensors *t)
{
    assert(call->op);
    call->op->reference(call, t);
}
