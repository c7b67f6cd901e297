/*
 * Networks as they are compiled, placed in memory and run: node by node the same as plain loops, however they are
 * fused.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/network/arena.h"
#include "experiments/network/peer.h"
#include "tests/experiments/network_graph.h"
#include "tests/rng.h"
#include "tests/suites.h"

extern const struct test_suite suite_network;

/* ---- the planner ---- */

static bool overlap(size_t a, size_t a_end, size_t b, size_t b_end)
{
    return a < b_end && b < a_end;
}

static size_t needed_at(const struct net_block *b, size_t n, size_t step)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i++)
        if (b[i].first <= step && step <= b[i].last)
            sum += (b[i].bytes + NET_ARENA_ALIGN - 1) / NET_ARENA_ALIGN * NET_ARENA_ALIGN;
    return sum;
}

static void check_blocks(const struct net_arena *a, const struct net_block *b, size_t n)
{
    size_t most = 0;

    for (size_t i = 0; i < n; i++) {
        CU_ASSERT_EQUAL(b[i].offset % NET_ARENA_ALIGN, 0);
        CU_ASSERT_TRUE(b[i].offset + b[i].bytes <= a->bytes);
        for (size_t k = 0; k < i; k++)
            test_check(!overlap(b[i].first, b[i].last + 1, b[k].first, b[k].last + 1) ||
                           !overlap(b[i].offset, b[i].offset + b[i].bytes, b[k].offset, b[k].offset + b[k].bytes),
                       "blocks %zu and %zu of %zu lie over each other", k, i, n);
        most = needed_at(b, n, b[i].first) > most ? needed_at(b, n, b[i].first) : most;
    }
    CU_ASSERT_EQUAL(a->alive_bytes, most);
    CU_ASSERT_TRUE(a->bytes >= most);
}

static void blocks_do_not_meet(void)
{
    for (unsigned round = 0; round < test_rounds(200); round++) {
        struct net_block b[40];
        const size_t n = rng_below(40), n_steps = 1 + rng_below(30);
        struct net_arena a;

        for (size_t i = 0; i < n; i++) {
            b[i] = (struct net_block){ .bytes = rng_below(rng_below(2) ? 3000 : 100), .first = rng_below(n_steps) };
            b[i].last = b[i].first + rng_below(1 + rng_below(n_steps - b[i].first));
        }
        CU_ASSERT_EQUAL_FATAL(net_arena_plan(&a, b, n), 0);
        check_blocks(&a, b, n);
    }
}

static void chains_need_two_blocks(void)
{
    struct net_block b[50];
    struct net_arena a;

    for (size_t i = 0; i < 50; i++)
        b[i] = (struct net_block){ .bytes = 64 * (1 + rng_below(100)), .first = i, .last = i + 1 };
    CU_ASSERT_EQUAL(net_arena_plan(&a, b, 50), 0);
    CU_ASSERT_EQUAL(a.bytes, a.alive_bytes);
}

static void too_many_bytes_are_refused(void)
{
    struct net_block b[] = { { .bytes = PTRDIFF_MAX / 2 }, { .bytes = PTRDIFF_MAX / 2 }, { .bytes = SIZE_MAX } };
    struct net_arena a;

    CU_ASSERT_EQUAL(net_arena_plan(&a, b, 2), -EOVERFLOW);
    CU_ASSERT_EQUAL(net_arena_plan(&a, b + 2, 1), -EOVERFLOW);
}

/* ---- networks ---- */

/* What all tests of networks share: one set-up for the toy machine. */
struct lab {
    struct exp_setup setup;
    struct exp_why why;
};

static struct lab *open_lab(void)
{
    struct lab *l = exp_new(1, sizeof *l);

    if (access("sim/machines/toy.cfg", R_OK)) {
        test_skip("not started from the top of the repository");
        free(l);
        return NULL;
    }
    CU_ASSERT_EQUAL_FATAL(sim_machine_read(&l->setup.machine, "sim/machines/toy.cfg", l->why.text, sizeof l->why.text),
                          0);
    CU_ASSERT_EQUAL_FATAL(exp_setup_init(&l->setup, "f32_16x24__ref", "", &l->why), 0);
    return l;
}

static void close_lab(struct lab *l)
{
    exp_setup_release(&l->setup);
    free(l);
}

static struct net *make(struct lab *l, const struct onnx_graph *g, const struct net_options *o)
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

/* Checks that tensors which are needed at the same time lie apart. */
static void check_places(const struct net *net)
{
    for (size_t i = 0; i < net->n_tensors; i++) {
        const struct net_tensor *a = &net->tensor[i];

        for (size_t k = 0; k < i && a->place == NET_ARENA && a->root == i; k++) {
            const struct net_tensor *b = &net->tensor[k];

            test_check(b->place != NET_ARENA || b->root != k ||
                           !overlap(a->first, a->last + 1, b->first, b->last + 1) ||
                           !overlap(a->offset, a->offset + a->bytes, b->offset, b->offset + b->bytes),
                       "'%s' and '%s' lie over each other", a->name, b->name);
        }
        CU_ASSERT_TRUE(a->place != NET_ARENA || a->offset + a->bytes <= net->place_bytes[NET_ARENA]);
    }
}

static void check_network(struct lab *l, const struct onnx_graph *g, const struct net_options *o)
{
    struct net *net = make(l, g, o);
    struct net_checked checked;

    if (!net)
        return;
    check_places(net);
    test_check(!net_check(net, &checked, &l->why), "%s by %s%s%s, threads %u", l->why.text, o->algo->name,
               o->fuses ? ", fused" : "", o->keeps_all ? ", all kept" : "", o->n_threads);
    CU_ASSERT_EQUAL(checked.n_steps, net->n_steps);
    net_free(net);
}

static const struct exp_algo *random_algorithm(const struct lab *l)
{
    static const char *const names[] = { "sconv", "sconv_tuned", "base", "sconv_run_time", "sconv_ws" };
    const struct exp_algo *a = exp_algo_find(names[rng_below(sizeof names / sizeof names[0])]);

    return a->members || !exp_algo_why_not_run(a, &l->setup) ? a : exp_algo_find("sconv");
}

static void networks_are_plain_loops(void)
{
    struct lab *l = open_lab();

    for (unsigned round = 0; l && round < test_rounds(150); round++) {
        struct onnx_graph *g;

        if (!test_check(!network_random(&g, &l->why), "%s", l->why.text))
            continue;
        for (int fuses = 0; fuses < 2; fuses++)
            check_network(l, g,
                          &(struct net_options){ .setup = &l->setup,
                                                 .algo = random_algorithm(l),
                                                 .fuses = fuses,
                                                 .keeps_all = !rng_below(4),
                                                 .n_threads = (unsigned)rng_range(0, 3) });
        onnx_free(g);
    }
    if (l)
        close_lab(l);
}

static void compare_outputs(const struct net *a, const struct net *b)
{
    for (size_t i = 0; i < a->graph->n_outputs; i++)
        CU_ASSERT_EQUAL(memcmp(net_output(a, i), net_output(b, i), a->tensor[a->graph->output[i]].bytes), 0);
}

/* Runs on memory that is reused, twice, and on memory that is not. */
static void check_reuse(struct lab *l, const struct onnx_graph *g, struct net_options o)
{
    struct net *reuses = make(l, g, &o), *keeps;

    o.keeps_all = true;
    keeps = make(l, g, &o);
    if (reuses && keeps) {
        CU_ASSERT_EQUAL(net_run(reuses, NULL, &l->why), 0);
        CU_ASSERT_EQUAL(net_run(reuses, NULL, &l->why), 0);
        CU_ASSERT_EQUAL(net_run(keeps, NULL, &l->why), 0);
        compare_outputs(reuses, keeps);
        CU_ASSERT_TRUE(reuses->place_bytes[NET_ARENA] <= keeps->place_bytes[NET_ARENA]);
    }
    net_free(reuses);
    net_free(keeps);
}

static void reused_memory_changes_no_bit(void)
{
    struct lab *l = open_lab();

    for (unsigned round = 0; l && round < test_rounds(100); round++) {
        struct onnx_graph *g;

        if (!test_check(!network_random(&g, &l->why), "%s", l->why.text))
            continue;
        check_reuse(l, g,
                    (struct net_options){ .setup = &l->setup,
                                          .algo = exp_algo_find("sconv_tuned"),
                                          .fuses = rng_below(2),
                                          .n_threads = (unsigned)rng_range(1, 2) });
        onnx_free(g);
    }
    if (l)
        close_lab(l);
}

/* Plans a network of the zoo: its arena may exceed what is needed at once by a fiftieth. */
static void plan_file(struct lab *l, const char *path, bool fuses)
{
    const struct net_options o = { .setup = &l->setup, .algo = exp_algo_find("sconv"), .fuses = fuses };
    struct onnx_graph *g;
    struct net *net;

    if (!test_check(!onnx_read(&g, path, &(struct onnx_ask){ 0 }, &l->why), "%s", l->why.text))
        return;
    if (test_check(!net_plan(&net, g, &o, &l->why), "%s", l->why.text)) {
        check_places(net);
        test_check((double)net->place_bytes[NET_ARENA] <= 1.02 * (double)net->alive_bytes,
                   "%s needs %zu bytes for %zu at once", path, net->place_bytes[NET_ARENA], net->alive_bytes);
        for (size_t i = 0; i < g->n_nodes; i++)
            CU_ASSERT_TRUE((net->step_of[i] == ONNX_NONE) == (net->why_no_step[i] != NULL));
        net_free(net);
    }
    onnx_free(g);
}

static void networks_of_the_zoo_fit(void)
{
    struct lab *l = open_lab();
    glob_t found;

    if (!l)
        return;
    if (!glob("experiments/models/onnx/*.onnx", 0, NULL, &found)) {
        for (size_t i = 0; i < 2 * found.gl_pathc; i++)
            plan_file(l, found.gl_pathv[i / 2], i % 2);
        CU_ASSERT_EQUAL(found.gl_pathc, 6);
        globfree(&found);
    }
    close_lab(l);
}

/* ---- what is fused, and what is not ---- */

/* A convolution of 4 channels, 3x3, that keeps the size. */
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

/* Finishes a network, checks it fused, and tells what its steps do, such as "Conv + Relu; Softmax". */
static void check_steps(struct network_graph *building, const char *want)
{
    struct lab *l = open_lab();
    struct onnx_graph *g;
    char text[512] = "";

    if (l && test_check(!network_finish(building, &g, &l->why), "%s", l->why.text)) {
        const struct net_options o = { .setup = &l->setup, .algo = exp_algo_find("sconv"), .fuses = true };
        struct net *net = make(l, g, &o);

        for (size_t i = 0; net && i < net->n_steps; i++) {
            char step[128];

            net_step_describe(net, &net->step[i], step, sizeof step);
            exp_say_more(text, sizeof text, "%s%s%s", i ? "; " : "", step, net->step[i].is_in_place ? " in place" : "");
        }
        test_check(!strcmp(text, want), "steps '%s', not '%s'", text, want);
        net_free(net);
        check_network(l, g, &o);
        onnx_free(g);
    }
    if (l)
        close_lab(l);
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

/* The sum can only be made by the later one of the two convolutions. */
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

/* DenseNet's way: each layer reads all that was made before it. */
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

static void unknown_operators_are_named(void)
{
    struct lab *l = open_lab();
    struct network_graph *building;
    struct onnx_graph *g;
    struct net *net;
    size_t x;

    if (!l)
        return;
    building = begin(&x);
    network_output(building, add_of(building, "Frobnicate", x));
    if (test_check(!network_finish(building, &g, &l->why), "%s", l->why.text)) {
        CU_ASSERT_EQUAL(
            net_plan(&net, g, &(struct net_options){ .setup = &l->setup, .algo = exp_algo_find("sconv") }, &l->why),
            -ENOTSUP);
        CU_ASSERT_PTR_NULL(net);
        CU_ASSERT_PTR_NOT_NULL(strstr(l->why.text, "Frobnicate"));
        onnx_free(g);
    }
    free(building);
    close_lab(l);
}

/* A file may ask for what no computer has. */
static void more_than_the_memory_is_refused(void)
{
    struct lab *l = open_lab();
    struct network_graph *building;
    struct onnx_graph *g;
    struct net *net;
    size_t x;

    if (!l)
        return;
    building = begin(&x);
    building->value[x].dim[0] = (int64_t)1 << 40;
    network_output(building, add_of(building, "Sigmoid", x));
    if (test_check(!network_finish(building, &g, &l->why), "%s", l->why.text)) {
        const struct net_options o = { .setup = &l->setup, .algo = exp_algo_find("sconv") };

        CU_ASSERT_EQUAL_FATAL(net_plan(&net, g, &o, &l->why), 0);
        CU_ASSERT_EQUAL(net_load(net, &l->why), -ENOMEM);
        CU_ASSERT_PTR_NOT_NULL(strstr(l->why.text, "no memory for"));
        net_free(net);
        onnx_free(g);
    }
    free(building);
    close_lab(l);
}

/* ---- what is given ---- */

/* Tensors of two inputs and an output, as files have them. */
struct given {
    struct onnx_graph graph;
    struct onnx_value value[3];
    size_t list[3];
    float data[3][4];
};

static void set_given(struct given *g, const char *first, const char *second)
{
    const char *const names[] = { first, second, "" };

    *g = (struct given){ .graph = { .path = "beside" }, .list = { 0, 1, 2 } };
    g->graph.value = g->value;
    g->graph.n_values = 3;
    g->graph.input = g->list;
    g->graph.n_inputs = 2;
    g->graph.output = g->list + 2;
    g->graph.n_outputs = 1;
    for (size_t i = 0; i < 3; i++) {
        g->value[i] = (struct onnx_value){ .name = names[i], .type = ONNX_FLOAT, .stored = ONNX_FLOAT, .n_dims = 2 };
        g->value[i].has_shape = true;
        g->value[i].dim[0] = g->value[i].dim[1] = 2;
        g->value[i].elements = 4;
        g->value[i].data = g->data[i];
        g->value[i].bytes = sizeof g->data[i];
        for (size_t k = 0; k < 4; k++)
            g->data[i][k] = (float)(i == 0 ? 10 + k : k);
    }
}

/* Subtracts the second of two inputs from the first. */
static struct net *make_difference(struct lab *l, struct onnx_graph **g)
{
    struct network_graph *building = exp_new(1, sizeof *building);
    struct net *net = NULL;
    size_t a, b;

    building->opset = 13;
    a = network_input(building, (const int64_t[]){ 2, 2 }, 2);
    b = network_input(building, (const int64_t[]){ 2, 2 }, 2);
    network_output(building, network_node(building, "Sub", NETWORK_IN(a, b), NULL));
    if (test_check(!network_finish(building, g, &l->why), "%s", l->why.text))
        net = make(l, *g, &(struct net_options){ .setup = &l->setup, .algo = exp_algo_find("sconv") });
    free(building);
    return net;
}

static int try_given(const struct net *net, const struct given *given, struct exp_why *why)
{
    struct net_distance d;
    int err = net_take_inputs(net, &given->graph, why);

    if (!err)
        err = net_run(net, NULL, why);
    return err ? err : net_compare_given(net, &given->graph, &d, why);
}

static void what_is_given_must_come_out(void)
{
    struct lab *l = open_lab();
    struct onnx_graph *g = NULL;
    struct net *net = l ? make_difference(l, &g) : NULL;
    struct given given;

    if (net) {
        const char *first = g->value[g->input[0]].name, *second = g->value[g->input[1]].name;

        set_given(&given, "", "");
        for (size_t k = 0; k < 4; k++)
            given.data[2][k] = 10;
        test_check(!try_given(net, &given, &l->why), "in their order: %s", l->why.text);
        given.data[2][3] = 10.1f;
        CU_ASSERT_EQUAL(try_given(net, &given, &l->why), -EILSEQ);
        CU_ASSERT_PTR_NOT_NULL(strstr(l->why.text, "beside"));
        set_given(&given, second, first); /* what is called so is the other one */
        for (size_t k = 0; k < 4; k++)
            given.data[2][k] = -10;
        test_check(!try_given(net, &given, &l->why), "by their names: %s", l->why.text);
        given.value[0].dim[1] = 3;
        CU_ASSERT_EQUAL(try_given(net, &given, &l->why), -EINVAL);
    }
    net_free(net);
    onnx_free(g);
    if (l)
        close_lab(l);
}

/* ---- the peer ---- */

static void a_missing_peer_is_said(void)
{
    struct net_peer *p;
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL(net_peer_open(&p, "/nowhere/libonnxruntime.so.1", &why), -ENOENT);
    CU_ASSERT_PTR_NULL(p);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "/nowhere"));
    CU_ASSERT_EQUAL(net_peer_open(&p, "libm.so.6", &why), -EINVAL);
}

/* What averages whole planes may come near to nothing: its error is of what it summed. */
static double allowed(const struct onnx_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (onnx_is(&g->node[i], "GlobalAveragePool"))
            return 1e-2;
    }
    return 1e-4;
}

static void check_against_peer(struct lab *l, const struct net_peer *p, const struct onnx_graph *g)
{
    const struct net_options o = {
        .setup = &l->setup, .algo = random_algorithm(l), .fuses = rng_below(2), .keeps_all = true
    };
    struct net *net = make(l, g, &o);
    struct net_session *s;
    struct net_distance d;

    if (!net)
        return;
    if (test_check(!net_session_open(&s, p, g, &(struct net_session_ask){ .keeps_all = true }, &l->why), "%s",
                   l->why.text)) {
        CU_ASSERT_EQUAL(net_run(net, NULL, &l->why), 0);
        CU_ASSERT_EQUAL(net_session_run(s, (const void *[]){ net_input(net, 0) }, NULL, &l->why), 0);
        d = net_session_compare(s, net);
        test_check(d.worst < allowed(g) && !d.has_nan && d.n_values, "%s (%s)%s is %g from ONNX Runtime's",
                   net->tensor[d.worst_value].name, g->node[g->value[d.worst_value].producer].op,
                   o.fuses ? ", fused," : "", d.worst);
        net_session_close(s, NULL);
    }
    net_free(net);
}

static void values_are_the_peers(void)
{
    struct lab *l = open_lab();
    struct net_peer *p;

    if (!l)
        return;
    if (net_peer_open(&p, getenv("ORT"), &l->why)) {
        test_skip("%s", l->why.text);
    } else {
        for (unsigned round = 0; round < test_rounds(50); round++) {
            struct onnx_graph *g;

            if (!test_check(!network_random(&g, &l->why), "%s", l->why.text))
                continue;
            check_against_peer(l, p, g);
            onnx_free(g);
        }
        net_peer_close(p);
    }
    close_lab(l);
}

static const struct test_case cases[] = {
    { "tensors that are given go in, and must come out", what_is_given_must_come_out },
    { "blocks that are needed at once lie apart", blocks_do_not_meet },
    { "a chain needs no more than its two largest neighbours", chains_need_two_blocks },
    { "blocks that fit no address space are refused", too_many_bytes_are_refused },
    { "random networks, fused or not, are what plain loops make of them", networks_are_plain_loops },
    { "memory that is reused changes no bit of a result", reused_memory_changes_no_bit },
    { "networks of the zoo need no more memory than their largest set", networks_of_the_zoo_fit },
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
    { "a peer that is missing is said", a_missing_peer_is_said },
    { "values are those of ONNX Runtime, where that is", values_are_the_peers },
    { NULL, NULL },
};

const struct test_suite suite_network = { "network", cases };
