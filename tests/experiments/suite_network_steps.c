/* The steps of compiled networks: fused steps, steps without a copy, and refused networks. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/experiments/network_graph.h"
#include "tests/experiments/network_lab.h"
#include "tests/suites.h"

/* A 3x3 convolution of 4 channels that keeps the size. */
static size_t add_conv(struct network_graph *g, size_t in)
{
    return network_node(g, "Conv", NETWORK_IN(in, network_weights(g, (const int64_t[]){ 4, 4, 3, 3 }, 4, -1, 1)),
                        NETWORK_ATTRIBUTES(NETWORK_INTS("pads", 4, 1, 1, 1, 1)));
}

static size_t add_of(struct network_graph *g, const char *op, size_t in)
{
    return network_node(g, op, NETWORK_IN(in), NULL);
}

static size_t add_bnorm(struct network_graph *g, size_t in)
{
    size_t w[4];

    for (int i = 0; i < 4; i++)
        w[i] = network_weights(g, (const int64_t[]){ 4 }, 1, 0.5, 1.5);
    return network_node(g, "BatchNormalization", NETWORK_IN(in, w[0], w[1], w[2], w[3]), NULL);
}

static struct network_graph *begin(size_t *in)
{
    struct network_graph *g = exp_new(1, sizeof *g);

    g->opset = 13;
    *in = network_input(g, (const int64_t[]){ 1, 4, 6, 6 }, 4);
    return g;
}

/*
 * Finishes a network, checks the network fused, and compares the steps with a text, for example "Conv + Relu; Softmax".
 */
static void check_steps(struct network_graph *building, const char *want)
{
    struct network_lab *l = lab_open();
    struct onnx_graph *g;
    char text[512] = "";

    if (l && test_check(!network_finish(building, &g, &l->why), "%s", l->why.text)) {
        const struct net_options o = { .setup = &l->setup, .algo = exp_algo_find("sconv"), .fuses = true };
        struct net *net = lab_plan(l, g, &o);

        for (size_t i = 0; net && i < net->n_steps; i++) {
            char step[128];

            net_step_describe(net, &net->step[i], step, sizeof step);
            exp_say_more(text, sizeof text, "%s%s%s", i ? "; " : "", step, net->step[i].is_in_place ? " in place" : "");
        }
        test_check(!strcmp(text, want), "steps '%s', not '%s'", text, want);
        net_free(net);
        lab_check(l, g, &o);
        onnx_free(g);
    }
    lab_close(l);
    free(building);
}

static void what_follows_is_fused(void)
{
    size_t x;
    struct network_graph *g = begin(&x);
    size_t first = add_of(g, "Relu", add_bnorm(g, add_conv(g, x)));

    x = add_bnorm(g, add_of(g, "Dropout", add_conv(g, first)));
    network_output(g, add_of(g, "Relu", network_node(g, "Add", NETWORK_IN(x, first), NULL)));
    check_steps(g, "Conv + BatchNormalization + Relu; Conv + Dropout + BatchNormalization + Add + Relu");
}

static void what_is_used_twice_is_not_fused(void)
{
    size_t x;
    struct network_graph *g = begin(&x);

    x = add_conv(g, x);
    network_output(g, network_node(g, "Mul", NETWORK_IN(add_of(g, "Relu", x), add_of(g, "Sigmoid", x)), NULL));
    check_steps(g, "Conv; Relu; Sigmoid in place; Mul in place");
}

static void outputs_are_not_fused_away(void)
{
    size_t x;
    struct network_graph *g = begin(&x);

    x = add_conv(g, x);
    network_output(g, x);
    network_output(g, add_of(g, "Relu", x));
    check_steps(g, "Conv; Relu");
}

static void activations_come_last(void)
{
    size_t x;
    struct network_graph *g = begin(&x);

    x = add_of(g, "Relu", add_conv(g, x));
    network_output(g, add_bnorm(g, x));
    check_steps(g, "Conv + Relu; BatchNormalization in place");
}

/* Only the later of the two convolutions can add. */
static void sums_wait_for_the_later_operand(void)
{
    size_t x;
    struct network_graph *g = begin(&x);
    size_t a = add_conv(g, x), b = add_conv(g, x);

    network_output(g, network_node(g, "Add", NETWORK_IN(a, b), NULL));
    check_steps(g, "Conv; Conv + Add");
}

static void padding_is_left_to_the_convolution(void)
{
    size_t x;
    struct network_graph *g = begin(&x);
    size_t pads = network_ints(g, (const int64_t[]){ 0, 0, 1, 2, 0, 0, 0, 1 }, 8);

    x = add_conv(g, network_node(g, "Pad", NETWORK_IN(x, pads), NULL));
    network_output(g, add_of(g, "Relu", x));
    check_steps(g, "Pad + Conv + Relu");
}

static void padding_by_other_numbers_stays(void)
{
    size_t x;
    struct network_graph *g = begin(&x);
    size_t pads = network_ints(g, (const int64_t[]){ 0, 0, 1, 2, 0, 0, 0, 1 }, 8);

    network_output(g, add_conv(g, network_node(g, "Pad", NETWORK_IN(x, pads, network_float(g, 1)), NULL)));
    check_steps(g, "Pad; Conv");
}

static void concatenations_are_written_in_place(void)
{
    size_t x;
    struct network_graph *g = begin(&x);
    size_t a = add_of(g, "Relu", add_conv(g, x)), b = add_conv(g, x);

    x = network_node(g, "Concat", NETWORK_IN(a, b), NETWORK_ATTRIBUTES(NETWORK_INT("axis", 1)));
    network_output(g, add_of(g, "Sigmoid", x));
    check_steps(g, "Conv + Relu; Conv; Sigmoid in place");
}

static void concatenations_of_inputs_are_copied(void)
{
    size_t x;
    struct network_graph *g = begin(&x);

    x = network_node(g, "Concat", NETWORK_IN(x, add_conv(g, x)), NETWORK_ATTRIBUTES(NETWORK_INT("axis", 1)));
    network_output(g, x);
    check_steps(g, "Conv; Concat");
}

static void concatenations_of_the_same_are_copied(void)
{
    size_t x;
    struct network_graph *g = begin(&x);

    x = add_conv(g, x);
    network_output(g, network_node(g, "Concat", NETWORK_IN(x, x), NETWORK_ATTRIBUTES(NETWORK_INT("axis", 1))));
    check_steps(g, "Conv; Concat");
}

/* DenseNet's way: each layer reads the outputs of all layers before. */
static void dense_blocks_grow_in_place(void)
{
    size_t x, all;
    struct network_graph *g = begin(&x);

    all = add_conv(g, x);
    for (int64_t layer = 1; layer < 4; layer++) {
        const int64_t c = 4 * layer;
        const size_t weights = network_weights(g, (const int64_t[]){ 4, c, 1, 1 }, 4, -1, 1);

        x = network_node(g, "Conv", NETWORK_IN(add_of(g, "Relu", all), weights), NULL);
        all = network_node(g, "Concat", NETWORK_IN(all, x), NETWORK_ATTRIBUTES(NETWORK_INT("axis", 1)));
    }
    network_output(g, add_of(g, "GlobalAveragePool", all));
    check_steps(g, "Conv; Relu; Conv; Relu; Conv; Relu; Conv; GlobalAveragePool");
}

/* ShuffleNet's way: channels of groups change their places. */
static void channels_are_shuffled(void)
{
    size_t x;
    struct network_graph *g = begin(&x);
    const size_t apart = network_ints(g, (const int64_t[]){ 1, 2, 2, 6, 6 }, 5),
                 together = network_ints(g, (const int64_t[]){ 1, 4, 6, 6 }, 4);
    const size_t weights = network_weights(g, (const int64_t[]){ 4, 2, 3, 3 }, 4, -1, 1);

    x = network_node(g, "Conv", NETWORK_IN(x, weights),
                     NETWORK_ATTRIBUTES(NETWORK_INT("group", 2), NETWORK_INTS("pads", 4, 1, 1, 1, 1)));
    x = network_node(g, "Reshape", NETWORK_IN(x, apart), NULL);
    x = network_node(g, "Transpose", NETWORK_IN(x), NETWORK_ATTRIBUTES(NETWORK_INTS("perm", 5, 0, 2, 1, 3, 4)));
    x = network_node(g, "Reshape", NETWORK_IN(x, together), NULL);
    network_output(g, add_of(g, "Relu", x));
    check_steps(g, "Conv; Transpose; Relu in place");
}

static void who_is_not_needed_does_not_run(void)
{
    size_t x;
    struct network_graph *g = begin(&x);

    add_of(g, "Sigmoid", add_conv(g, x));
    network_output(g, add_conv(g, x));
    check_steps(g, "Conv");
}

/* Finishes a network that cannot be planned, or be planned but not loaded, and checks the message. */
static void check_refused(struct network_graph *building, bool is_planned, int want, const char *what)
{
    struct network_lab *l = lab_open();
    struct onnx_graph *g;
    struct net *net;

    if (l && test_check(!network_finish(building, &g, &l->why), "%s", l->why.text)) {
        int err =
            net_plan(&net, g, &(struct net_options){ .setup = &l->setup, .algo = exp_algo_find("sconv") }, &l->why);

        CU_ASSERT_EQUAL(net != NULL, is_planned);
        if (net)
            err = net_load(net, &l->why);
        test_check(err == want && strstr(l->why.text, what), "error %d, '%s'", err, l->why.text);
        net_free(net);
        onnx_free(g);
    }
    lab_close(l);
    free(building);
}

static void unknown_operators_are_named(void)
{
    size_t x;
    struct network_graph *g = begin(&x);

    network_output(g, add_of(g, "Frobnicate", x));
    check_refused(g, false, -ENOTSUP, "Frobnicate");
}

/* A file may ask for more memory than any computer has. */
static void more_than_the_memory_is_refused(void)
{
    size_t x;
    struct network_graph *g = begin(&x);

    g->value[x].dim[0] = (int64_t)1 << 40;
    network_output(g, add_of(g, "Sigmoid", x));
    check_refused(g, true, -ENOMEM, "no memory for");
}

static const struct test_case cases[] = {
    { "normalisation, additions and activations are fused", what_follows_is_fused },
    { "what two nodes use is not fused", what_is_used_twice_is_not_fused },
    { "outputs of the network are not fused away", outputs_are_not_fused_away },
    { "nothing is fused behind an activation", activations_come_last },
    { "a sum is made by the later one of its operands", sums_wait_for_the_later_operand },
    { "padding by zeros is left to the convolution", padding_is_left_to_the_convolution },
    { "padding by other numbers stays", padding_by_other_numbers_stays },
    { "concatenations are written in place", concatenations_are_written_in_place },
    { "concatenations of the network's inputs are copied", concatenations_of_inputs_are_copied },
    { "concatenations of the same are copied", concatenations_of_the_same_are_copied },
    { "dense blocks grow in place", dense_blocks_grow_in_place },
    { "channels of groups are shuffled", channels_are_shuffled },
    { "a node that nobody needs does not run", who_is_not_needed_does_not_run },
    { "an unknown operator is named", unknown_operators_are_named },
    { "more than the computer's memory is refused", more_than_the_memory_is_refused },
    { NULL, NULL },
};

const struct test_suite suite_network_steps = { "network_steps", cases };
