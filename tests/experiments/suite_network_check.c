/*
 * Faults in a running network, which the check must find, and differences that are no faults: with every algorithm for
 * this computer, with several threads, and with numbers near the limits of floats.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/study.h"
#include "tests/experiments/network_graph.h"
#include "tests/experiments/network_lab.h"
#include "tests/rng.h"
#include "tests/suites.h"

extern const struct test_suite suite_network_check;

/* ---- networks ---- */

struct building {
    struct network_lab *lab;
    struct network_graph *g;
    size_t in; /* [1, 8, 16, 16] */
};

enum { CHANNELS = 8, SIZE = 16 };

static bool begin(struct building *b)
{
    *b = (struct building){ .lab = lab_open() };
    if (!b->lab)
        return false;
    b->g = exp_new(1, sizeof *b->g);
    b->g->opset = 17;
    b->in = network_input(b->g, (const int64_t[]){ 1, CHANNELS, SIZE, SIZE }, 4);
    return true;
}

/* Adds output a, ends the network and reads the network. Returns NULL, and fails the test, on an error. */
static struct onnx_graph *finish(struct building *b, size_t out)
{
    struct onnx_graph *graph = NULL;

    network_output(b->g, out);
    test_check(!network_finish(b->g, &graph, &b->lab->why), "%s", b->lab->why.text);
    free(b->g);
    return graph;
}

static void end(struct building *b, struct onnx_graph *graph)
{
    onnx_free(graph);
    lab_close(b->lab);
}

static size_t grouped_conv(struct building *b, size_t in, int64_t groups)
{
    const int64_t dim[4] = { CHANNELS, CHANNELS / groups, 3, 3 };

    return network_node(b->g, "Conv", NETWORK_IN(in, network_weights(b->g, dim, 4, -0.2, 0.2)),
                        NETWORK_ATTRIBUTES(NETWORK_INT("group", groups), NETWORK_INTS("pads", 4, 1, 1, 1, 1)));
}

static size_t padded_conv(struct building *b, size_t in)
{
    return grouped_conv(b, in, 1);
}

static struct net_options options_of(const struct building *b, const struct exp_algo *a, bool fuses, unsigned threads)
{
    return (struct net_options){ .setup = &b->lab->setup, .algo = a, .fuses = fuses, .n_threads = threads };
}

/* Checks a network, fused and not. */
static void check_both(struct building *b, size_t out)
{
    struct onnx_graph *graph = finish(b, out);

    for (int fuses = 0; fuses < 2 && graph; fuses++) {
        const struct net_options o = options_of(b, exp_algo_find("sconv"), fuses, 1 + (unsigned)fuses);

        lab_check(b->lab, graph, &o);
    }
    end(b, graph);
}

/* ---- threads ---- */

/* The parts of a workspace that each thread uses alone have different addresses. */
static void check_workspaces(const struct net *net)
{
    for (size_t i = 0; i < net->n_steps; i++) {
        const struct net_conv *c = net->step[i].conv;
        const size_t *bytes = c ? c->plan.layout.bytes : NULL;
        const size_t of_thread = c ? bytes[CONV_PACKED_INPUT] + bytes[CONV_IM2COL] : 0;

        if (c && !net_conv_is_apart(c) && of_thread)
            test_check(net->tensor[c->workspace].bytes >= c->n_threads * of_thread,
                       "%s: %zu bytes for %u threads, of which each needs %zu", c->algo->name,
                       net->tensor[c->workspace].bytes, c->n_threads, of_thread);
    }
}

/* Runs a network repeatedly: every run must repeat the outputs of the checked run. */
static void check_runs(struct building *b, const struct net *net)
{
    enum { RUNS = 40 };
    const size_t bytes = net->tensor[net->graph->output[0]].bytes;
    const char *name = net->options.algo->name;
    struct net_checked checked;
    void *first;

    if (!test_check(!net_check(net, &checked, &b->lab->why), "%s, %u threads: %s", name, net->options.n_threads,
                    b->lab->why.text))
        return;
    first = exp_copy_bytes(net_output(net, 0), bytes, 1);
    for (int run = 0; run < RUNS; run++) {
        CU_ASSERT_EQUAL(net_run(net, NULL, &b->lab->why), 0);
        if (!test_check(!memcmp(first, net_output(net, 0), bytes), "%s, %u threads: run %d makes something else", name,
                        net->options.n_threads, run))
            break;
    }
    free(first);
}

static void threads_disturb_nobody(void)
{
    static const unsigned threads[] = { 1, 2, 3, 5 };
    struct building b;
    struct onnx_graph *graph;

    if (!begin(&b))
        return;
    graph = finish(&b, grouped_conv(&b, grouped_conv(&b, b.in, 2), 4)); /* groups: threads pad different channels */
    for (size_t i = 0; graph && i < exp_algo_record_count() * COUNT(threads); i++) {
        const struct exp_algo *a = exp_algo_record(i / COUNT(threads));
        const struct net_options o = options_of(&b, a, true, threads[i % COUNT(threads)]);
        struct net *net =
            exp_algo_why_not_run(a, &b.lab->setup) || a == exp_algo_noted() ? NULL : lab_plan(b.lab, graph, &o);

        if (net) {
            check_workspaces(net);
            check_runs(&b, net);
        }
        net_free(net);
    }
    end(&b, graph);
}

/* ---- accepted differences ---- */

/* Brings the input to values of a deviation around a mean. */
static size_t far_away(struct building *b, float deviation, float mean)
{
    const size_t x = network_node(b->g, "Mul", NETWORK_IN(b->in, network_float(b->g, deviation)), NULL);

    return network_node(b->g, "Add", NETWORK_IN(x, network_float(b->g, mean)), NULL);
}

static size_t constant(struct building *b, int64_t n, float x)
{
    return network_weights(b->g, &n, 1, (double)x, (double)x);
}

static const float deviations[] = { 0.1F, 0.01F, 0.01F, 0.001F }, means[] = { 10, 10, -100, 1000 };

static void means_may_be_large(void)
{
    static const char *const ops[] = { "BatchNormalization", "InstanceNormalization", "LayerNormalization" };

    for (size_t i = 0; i < COUNT(ops) * COUNT(means); i++) {
        const float d = deviations[i / COUNT(ops)], mean = means[i / COUNT(ops)];
        const char *op = ops[i % COUNT(ops)];
        const int64_t n = *op == 'L' ? SIZE : CHANNELS;
        struct building b;
        size_t in[6];

        if (!begin(&b))
            return;
        in[0] = far_away(&b, d, mean);
        in[1] = constant(&b, n, 1);
        in[2] = constant(&b, n, 0);
        in[3] = *op == 'B' ? constant(&b, n, mean) : ONNX_NONE;
        in[4] = *op == 'B' ? constant(&b, n, d * d / 3) : ONNX_NONE;
        in[5] = ONNX_NONE;
        check_both(&b, network_node(b.g, op, in, NULL));
    }
}

/* Plain loops of 10 +- 0.01, whose deviation is known, say how many digits are left. */
static void normalisation_keeps_digits(void)
{
    struct building b;
    struct onnx_graph *graph;
    struct net *net;
    struct net_options o;

    if (!begin(&b))
        return;
    graph = finish(
        &b, network_node(b.g, "InstanceNormalization",
                         NETWORK_IN(far_away(&b, 0.01F, 10), constant(&b, CHANNELS, 1), constant(&b, CHANNELS, 0)),
                         NETWORK_ATTRIBUTES(NETWORK_FLOAT("epsilon", 0))));
    o = options_of(&b, exp_algo_find("sconv"), false, 1);
    o.keeps_all = true;
    net = graph ? lab_plan(b.lab, graph, &o) : NULL;
    if (net && !net_run(net, NULL, &b.lab->why)) {
        const float *in = net_at(net, net->step[net->n_steps - 1].in[0]), *out = net_output(net, 0);
        double sum = 0, squares = 0;

        for (int i = 0; i < SIZE * SIZE; i++)
            sum += (double)in[i] / (SIZE * SIZE);
        for (int i = 0; i < SIZE * SIZE; i++)
            squares += ((double)in[i] - sum) * ((double)in[i] - sum) / (SIZE * SIZE);
        for (int i = 0; i < SIZE * SIZE; i++)
            test_check(fabs((double)out[i] - ((double)in[i] - sum) / sqrt(squares)) < 4e-6, "element %d is %.9g", i,
                       (double)out[i]);
    }
    net_free(net);
    end(&b, graph);
}

/* Where e to the power of -x is beyond a float, a sigmoid is not yet nothing. */
static void sigmoids_may_be_tiny(void)
{
    for (int x = -104; x <= 104; x += 13) {
        struct building b;

        if (!begin(&b))
            return;
        check_both(&b, network_node(b.g, "Sigmoid", NETWORK_IN(far_away(&b, 1, (float)x)), NULL));
    }
}

static void sums_may_have_thousands(void)
{
    enum { MANY = 20000 };
    static const char *const ops[] = { "Sum", "Mean" };

    for (size_t i = 0; i < COUNT(ops); i++) {
        size_t *in = exp_new(MANY + 1, sizeof *in), x;
        struct building b;

        if (!begin(&b)) {
            free(in);
            return;
        }
        x = network_node(b.g, "GlobalAveragePool", NETWORK_IN(b.in), NULL);
        for (size_t k = 0; k < MANY; k++)
            in[k] = x;
        in[MANY] = ONNX_NONE;
        check_both(&b, network_node(b.g, ops[i], in, NULL));
        free(in);
    }
}

/* Values and their negatives: the sum is only rounding errors. */
static void sums_may_cancel(void)
{
    static const char *const ops[] = { "ReduceSum", "ReduceMean", "GlobalAveragePool" };

    for (size_t i = 0; i < COUNT(ops); i++) {
        struct building b;
        size_t x;

        if (!begin(&b))
            return;
        x = far_away(&b, 1000, 0);
        x = network_node(b.g, "Concat", NETWORK_IN(x, network_node(b.g, "Neg", NETWORK_IN(x), NULL)),
                         NETWORK_ATTRIBUTES(NETWORK_INT("axis", 2)));
        check_both(&b, network_node(b.g, ops[i], NETWORK_IN(x), NULL));
    }
}

/* Multiplies matrices with values between -by and by; adds a bias unless bias is 0. */
static void multiply(float by, float alpha, float bias)
{
    const int64_t dim[2] = { SIZE, SIZE };
    struct building b;
    size_t in[4] = { 0, 0, ONNX_NONE, ONNX_NONE };

    if (!begin(&b))
        return;
    in[0] = network_node(b.g, "Reshape",
                         NETWORK_IN(far_away(&b, by, 0), network_ints(b.g, (const int64_t[]){ -1, SIZE }, 2)), NULL);
    in[1] = network_weights(b.g, dim, 2, -(double)by, (double)by);
    if (bias > 0)
        in[2] = constant(&b, SIZE, bias);
    check_both(&b, network_node(b.g, "Gemm", in, NETWORK_ATTRIBUTES(NETWORK_FLOAT("alpha", alpha))));
}

static void numbers_may_be_at_the_ends(void)
{
    multiply(1e-22F, 1, 0);
    multiply(3e-20F, 1, 0);
    multiply(5e18F, 1, 0);
    multiply(1.2e19F, 1, 0);
    multiply(3e19F, 1, 0);
    multiply(1.2e19F, -2, 1);
}

/* Error bounds are positive even where a factor is negative. */
static void factors_may_be_negative(void)
{
    for (int i = 1; i < 8; i++)
        multiply(1, -1, 0.4F * (float)i);
}

static void weights_may_be_infinite(void)
{
    struct building b;
    struct onnx_graph *graph;
    struct net *net;
    size_t x;

    if (!begin(&b))
        return;
    x = padded_conv(&b, b.in);
    ((float *)(uintptr_t)b.g->value[b.g->node[0].in[1]].data)[4] = INFINITY;
    x = network_node(b.g, "Relu", NETWORK_IN(padded_conv(&b, x)), NULL);
    graph = finish(&b, x);
    for (int fuses = 0; fuses < 2 && graph; fuses++) {
        const struct net_options o = options_of(&b, exp_algo_find(fuses ? "sconv" : "sconv_ws"), fuses, 1);

        lab_check(b.lab, graph, &o);
        net = lab_plan(b.lab, graph, &o);
        CU_ASSERT(net && net->n_not_finite == 1 && net->not_finite);
        net_free(net);
    }
    end(&b, graph);
}

/* A variance of 0, and infinite factors and divisors: folded nodes compute the results of the separate nodes. */
static void what_is_not_finite_is_not_folded(void)
{
    static const char *const ops[] = { "BatchNormalization", "Mul", "Div", "Add" };

    for (size_t i = 0; i < COUNT(ops); i++) {
        const float odd[] = { 0, INFINITY, 0, -INFINITY };
        struct building b;
        size_t x;

        if (!begin(&b))
            return;
        x = padded_conv(&b, b.in);
        if (*ops[i] == 'B')
            x = network_node(b.g, ops[i],
                             NETWORK_IN(x, constant(&b, CHANNELS, 1), constant(&b, CHANNELS, 0),
                                        constant(&b, CHANNELS, 0), constant(&b, CHANNELS, 0)),
                             NETWORK_ATTRIBUTES(NETWORK_FLOAT("epsilon", 0)));
        else
            x = network_node(b.g, ops[i], NETWORK_IN(x, network_float(b.g, odd[i])), NULL);
        check_both(&b, x);
    }
}

/* ---- faults ---- */

/* An operator with a small error in an element. */
static const struct op *right_op;

static void run_wrongly(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    right_op->run(call, t, team);
    ((float *)t->out[0])[3] += 1e-3F;
}

/* Adds a node of an operator, with inputs of 10 +- 0.1; Sum and Mean get three inputs, MatMul the network's input. */
static size_t add_op(struct building *b, const char *op)
{
    const size_t x = far_away(b, 0.1F, 10), one = constant(b, CHANNELS, 1), none = constant(b, CHANNELS, 0);
    const size_t row = constant(b, SIZE, 1);

    if (!strcmp(op, "BatchNormalization"))
        return network_node(b->g, op, NETWORK_IN(x, one, none, constant(b, CHANNELS, 10), one), NULL);
    if (!strcmp(op, "InstanceNormalization"))
        return network_node(b->g, op, NETWORK_IN(x, one, none), NULL);
    if (!strcmp(op, "LayerNormalization"))
        return network_node(b->g, op, NETWORK_IN(x, row), NULL);
    if (!strcmp(op, "AveragePool"))
        return network_node(b->g, op, NETWORK_IN(x), NETWORK_ATTRIBUTES(NETWORK_INTS("kernel_shape", 2, 3, 3)));
    if (!strcmp(op, "MatMul"))
        return network_node(
            b->g, op, NETWORK_IN(b->in, network_weights(b->g, (const int64_t[]){ SIZE, SIZE }, 2, -0.1, 0.1)), NULL);
    return network_node(b->g, op,
                        !strcmp(op, "Sum") || !strcmp(op, "Mean") ? NETWORK_IN(x, b->in, b->in) : NETWORK_IN(x), NULL);
}

static void find_wrong(const char *op)
{
    struct building b;
    struct onnx_graph *graph;
    struct net_options o;
    struct net *net;
    struct net_checked checked;
    struct op wrong;

    if (!begin(&b))
        return;
    graph = finish(&b, add_op(&b, op));
    o = options_of(&b, exp_algo_find("sconv"), false, 1);
    net = graph ? lab_plan(b.lab, graph, &o) : NULL;
    if (net) {
        struct op_call *call = &net->step[net->n_steps - 1].call;

        right_op = call->op;
        wrong = *call->op;
        wrong.run = run_wrongly;
        call->op = &wrong;
        test_check(net_check(net, &checked, &b.lab->why) == -EILSEQ && strstr(b.lab->why.text, "element 3 "),
                   "%s is wrong, and said is '%s'", op, b.lab->why.text);
    }
    net_free(net);
    end(&b, graph);
}

static void what_is_wrong_by_a_little_is_found(void)
{
    static const char *const ops[] = { "BatchNormalization",
                                       "InstanceNormalization",
                                       "LayerNormalization",
                                       "AveragePool",
                                       "MatMul",
                                       "Sum",
                                       "Mean",
                                       "Sigmoid",
                                       "Softmax",
                                       "Sqrt",
                                       "GlobalAveragePool" };

    for (size_t i = 0; i < COUNT(ops); i++)
        find_wrong(ops[i]);
}

/* ---- timed runs ---- */

/* A clock that changes a filter of the network at the call number changes_at. */
static struct {
    const struct net_study *study;
    unsigned asked, changes_at;
} change;

static uint64_t changing_now_ns(void)
{
    const struct net *net = change.study->by[0].timed.net;

    if (++change.asked == change.changes_at)
        *(float *)net_at(net, net->step[0].conv->filter) += 1;
    return 1000 * (uint64_t)change.asked;
}

static int time_it(struct building *b, const struct onnx_graph *graph, const char *algo, unsigned changes_at)
{
    struct net_study s = { .graph = graph,
                           .setup = &b->lab->setup,
                           .name = "test",
                           .fuses = true,
                           .scope = NET_SCOPE_NONE,
                           .n_threads = 1,
                           .now_ns = changing_now_ns };
    const struct net_timing o = {
        .rounds = { .least = 3, .most = 3 }, .now_ns = changing_now_ns, .checks = true, .peer = "no"
    };
    unsigned algos;
    int err = exp_algo_select(algo, &algos, &b->lab->why);

    change.study = &s;
    change.asked = 0;
    change.changes_at = changes_at;
    if (!err)
        err = net_study_plan(&s, algos, &b->lab->why);
    if (!err)
        err = net_study_time(&s, &o, NULL, &b->lab->why);
    net_study_release(&s);
    return err;
}

/* Every timed run is checked: the first, the middle and the last run. A group is timed as each member is. */
static void timed_runs_are_compared(void)
{
    struct building b;
    struct onnx_graph *graph;

    if (!begin(&b))
        return;
    graph = finish(&b, padded_conv(&b, padded_conv(&b, b.in)));
    if (graph) {
        test_check(!time_it(&b, graph, "sconv", 0), "%s", b.lab->why.text);
        test_check(!time_it(&b, graph, "sconv_is", 0), "%s", b.lab->why.text);
        for (unsigned at = 1; at < 8; at += 3)
            test_check(time_it(&b, graph, "sconv_ws", at) == -EILSEQ &&
                           strstr(b.lab->why.text, "a timed run made another"),
                       "a change at %u is '%s'", at, b.lab->why.text);
    }
    end(&b, graph);
}

static const struct test_case cases[] = {
    { "threads of every algorithm disturb nobody, run after run", threads_disturb_nobody },
    { "means may be large beside what is normalised", means_may_be_large },
    { "normalisation keeps the digits that there are", normalisation_keeps_digits },
    { "a sigmoid may be tiny", sigmoids_may_be_tiny },
    { "sums may have thousands of terms", sums_may_have_thousands },
    { "sums may cancel", sums_may_cancel },
    { "products may be as small and as large as floats are", numbers_may_be_at_the_ends },
    { "factors of products may be negative", factors_may_be_negative },
    { "a convolution whose weights are not finite is what plain loops make", weights_may_be_infinite },
    { "what is not finite is not folded", what_is_not_finite_is_not_folded },
    { "an element that is wrong by a little is found", what_is_wrong_by_a_little_is_found },
    { "what timed runs make is compared", timed_runs_are_compared },
    { NULL, NULL },
};

const struct test_suite suite_network_check = { "network_check", cases };
