#include "tests/experiments/network_lab.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>

#include "tests/experiments/toy.h"
#include "tests/suites.h"

struct network_lab *lab_open(void)
{
    struct network_lab *l = exp_new(1, sizeof *l);

    if (toy_setup(&l->setup, "f32_16x24__ref", ""))
        return l;
    free(l);
    return NULL;
}

void lab_close(struct network_lab *l)
{
    if (l)
        exp_setup_release(&l->setup);
    free(l);
}

bool lab_overlap(size_t a, size_t a_end, size_t b, size_t b_end)
{
    return a < b_end && b < a_end;
}

struct net *lab_plan(struct network_lab *l, const struct onnx_graph *g, const struct net_options *o)
{
    struct net *net;

    if (!test_check(!net_plan(&net, g, o, &l->why), "%s", l->why.text))
        return NULL;
    if (!test_check(!net_load(net, &l->why), "%s", l->why.text)) {
        net_free(net);
        return NULL;
    }
    net_fill_inputs(net, 5);
    return net;
}

void lab_check_places(const struct net *net)
{
    for (size_t i = 0; i < net->n_tensors; i++) {
        const struct net_tensor *a = &net->tensor[i];

        for (size_t k = 0; k < i && a->place == NET_ARENA && a->root == i; k++) {
            const struct net_tensor *b = &net->tensor[k];

            test_check(b->place != NET_ARENA || b->root != k ||
                           !lab_overlap(a->first, a->last + 1, b->first, b->last + 1) ||
                           !lab_overlap(a->offset, a->offset + a->bytes, b->offset, b->offset + b->bytes),
                       "'%s' and '%s' lie over each other", a->name, b->name);
        }
        CU_ASSERT_TRUE(a->place != NET_ARENA || a->offset + a->bytes <= net->place_bytes[NET_ARENA]);
    }
}

void lab_check(struct network_lab *l, const struct onnx_graph *g, const struct net_options *o)
{
    struct net *net = lab_plan(l, g, o);
    struct net_checked checked;

    if (!net)
        return;
    lab_check_places(net);
    test_check(!net_check(net, &checked, &l->why), "%s by %s%s%s, threads %u", l->why.text, o->algo->name,
               o->fuses ? ", fused" : "", o->keeps_all ? ", all kept" : "", o->n_threads);
    CU_ASSERT_EQUAL(checked.n_steps, net->n_steps);
    net_free(net);
}
