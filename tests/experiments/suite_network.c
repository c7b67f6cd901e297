/* Networks, compiled, placed in memory and run: node by node equal to plain loops, fused or not. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/arena.h"
#include "experiments/network/peer.h"
#include "tests/experiments/network_graph.h"
#include "tests/experiments/network_lab.h"
#include "tests/rng.h"
#include "tests/suites.h"

extern const struct test_suite suite_network;

/* ---- the planner ---- */

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
            test_check(!lab_overlap(b[i].first, b[i].last + 1, b[k].first, b[k].last + 1) ||
                           !lab_overlap(b[i].offset, b[i].offset + b[i].bytes, b[k].offset, b[k].offset + b[k].bytes),
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

/* Returns a random algorithm for this computer. */
static const struct exp_algo *random_algorithm(const struct network_lab *l)
{
    for (;;) {
        const struct exp_algo *a = exp_algo_record(rng_below(exp_algo_record_count()));

        if (a != exp_algo_noted() && !exp_algo_why_not_run(a, &l->setup))
            return a;
    }
}

static unsigned random_threads(void)
{
    return (const unsigned[]){ 0, 1, 2, 3, 5 }[rng_below(5)];
}

static void networks_are_plain_loops(void)
{
    struct network_lab *l = lab_open();

    for (unsigned round = 0; l && round < test_rounds(150); round++) {
        struct onnx_graph *g;

        if (!test_check(!network_random(&g, &l->why), "%s", l->why.text))
            continue;
        for (int fuses = 0; fuses < 2; fuses++)
            lab_check(l, g,
                      &(struct net_options){ .setup = &l->setup,
                                             .algo = random_algorithm(l),
                                             .fuses = fuses,
                                             .keeps_all = !rng_below(4),
                                             .n_threads = random_threads() });
        onnx_free(g);
    }
    lab_close(l);
}

static void compare_outputs(const struct net *a, const struct net *b)
{
    for (size_t i = 0; i < a->graph->n_outputs; i++)
        CU_ASSERT_EQUAL(memcmp(net_output(a, i), net_output(b, i), a->tensor[a->graph->output[i]].bytes), 0);
}

/* Runs on reused memory, twice, and on fresh memory. */
static void check_reuse(struct network_lab *l, const struct onnx_graph *g, struct net_options o)
{
    struct net *reuses = lab_plan(l, g, &o), *keeps;

    o.keeps_all = true;
    keeps = lab_plan(l, g, &o);
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
    struct network_lab *l = lab_open();

    for (unsigned round = 0; l && round < test_rounds(100); round++) {
        struct onnx_graph *g;

        if (!test_check(!network_random(&g, &l->why), "%s", l->why.text))
            continue;
        check_reuse(l, g,
                    (struct net_options){ .setup = &l->setup,
                                          .algo = random_algorithm(l),
                                          .fuses = rng_below(2),
                                          .n_threads = random_threads() });
        onnx_free(g);
    }
    lab_close(l);
}

/* Plans a network of the zoo: the arena may exceed the largest need by a fiftieth. */
static void plan_file(struct network_lab *l, const char *path, bool fuses)
{
    const struct net_options o = { .setup = &l->setup, .algo = exp_algo_find("sconv"), .fuses = fuses };
    struct onnx_graph *g;
    struct net *net;

    if (!test_check(!onnx_read(&g, path, &(struct onnx_ask){ 0 }, &l->why), "%s", l->why.text))
        return;
    if (test_check(!net_plan(&net, g, &o, &l->why), "%s", l->why.text)) {
        lab_check_places(net);
        test_check((double)net->place_bytes[NET_ARENA] <= 1.02 * (double)net->alive_bytes,
                   "%s needs %zu bytes for %zu at once", path, net->place_bytes[NET_ARENA], net->alive_bytes);
        for (size_t i = 0; i < g->n_nodes; i++)
            CU_ASSERT_TRUE((net->step_of[i] == ONNX_NONE) == (net->no_step[i] != NULL));
        net_free(net);
    }
    onnx_free(g);
}

static void networks_of_the_zoo_fit(void)
{
    struct network_lab *l = lab_open();
    glob_t found;

    if (!l)
        return;
    if (!glob("experiments/models/onnx/*.onnx", 0, NULL, &found)) {
        for (size_t i = 0; i < 2 * found.gl_pathc; i++)
            plan_file(l, found.gl_pathv[i / 2], i % 2);
        CU_ASSERT_EQUAL(found.gl_pathc, 6);
        globfree(&found);
    }
    lab_close(l);
}

/* ---- given inputs ---- */

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
static struct net *make_difference(struct network_lab *l, struct onnx_graph **g)
{
    struct network_graph *building = exp_new(1, sizeof *building);
    struct net *net = NULL;
    size_t a, b;

    building->opset = 13;
    a = network_input(building, (const int64_t[]){ 2, 2 }, 2);
    b = network_input(building, (const int64_t[]){ 2, 2 }, 2);
    network_output(building, network_node(building, "Sub", NETWORK_IN(a, b), NULL));
    if (test_check(!network_finish(building, g, &l->why), "%s", l->why.text))
        net = lab_plan(l, *g, &(struct net_options){ .setup = &l->setup, .algo = exp_algo_find("sconv") });
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
    struct network_lab *l = lab_open();
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
        set_given(&given, second, first); /* each tensor has the name of the second input */
        for (size_t k = 0; k < 4; k++)
            given.data[2][k] = -10;
        test_check(!try_given(net, &given, &l->why), "by their names: %s", l->why.text);
        given.value[0].dim[1] = 3;
        CU_ASSERT_EQUAL(try_given(net, &given, &l->why), -EINVAL);
    }
    net_free(net);
    onnx_free(g);
    lab_close(l);
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

/* An average of whole planes may come near to 0: the error is relative to the summed numbers. */
static double allowed(const struct onnx_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (onnx_is(&g->node[i], "GlobalAveragePool"))
            return 1e-2;
    }
    return 1e-4;
}

static void check_against_peer(struct network_lab *l, const struct net_peer *p, const struct onnx_graph *g)
{
    const struct net_options o = {
        .setup = &l->setup, .algo = random_algorithm(l), .fuses = rng_below(2), .keeps_all = true
    };
    struct net *net = lab_plan(l, g, &o);
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
    struct network_lab *l = lab_open();
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
    lab_close(l);
}

static const struct test_case cases[] = {
    { "tensors that are given go in, and must come out", what_is_given_must_come_out },
    { "blocks that are needed at once lie apart", blocks_do_not_meet },
    { "a chain needs no more than its two largest neighbours", chains_need_two_blocks },
    { "blocks that fit no address space are refused", too_many_bytes_are_refused },
    { "random networks, fused or not, are what plain loops make of them", networks_are_plain_loops },
    { "memory that is reused changes no bit of a result", reused_memory_changes_no_bit },
    { "networks of the zoo need no more memory than their largest set", networks_of_the_zoo_fit },
    { "a peer that is missing is said", a_missing_peer_is_said },
    { "values are those of ONNX Runtime, where that is", values_are_the_peers },
    { NULL, NULL },
};

const struct test_suite suite_network = { "network", cases };
