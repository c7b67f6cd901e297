/*
 * The official tests of ONNX (Debian's libonnx-testdata) as networks: compiled, placed in memory and run, fused and
 * not, the networks make the expected outputs.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/network/net.h"
#include "tests/experiments/onnx_case.h"
#include "tests/experiments/toy.h"
#include "tests/scratch.h"
#include "tests/suites.h"

extern const struct test_suite suite_network_nodes;

#define DATA "/usr/share/libonnx-testdata/data/"

struct trial {
    struct exp_setup setup;
    struct exp_why why;
    const char *name; /* of the case */
    unsigned found, ran;
};

/* Returns false if the files do not have the inputs of the graph. */
static bool fill_inputs(const struct onnx_case *c, const struct net *net)
{
    for (size_t i = 0; i < c->graph->n_inputs; i++) {
        const size_t value = c->graph->input[i];
        const struct onnx_value *given = onnx_case_input(c, c->graph->value[value].name);

        if (!given || !given->data || given->bytes != net->tensor[value].bytes)
            return false;
        memcpy(net_input(net, i), given->data, given->bytes);
    }
    return true;
}

static bool is_near(float got, float want)
{
    return got == want || (isnan(got) && isnan(want)) || fabsf(got - want) <= 1e-5F + 1e-4F * fabsf(want);
}

static void compare(const struct trial *t, const struct onnx_value *want, const struct net *net, size_t i)
{
    const float *x = net_output(net, i), *y = want->data;
    const size_t value = net->graph->output[i];

    if (want->type != net->graph->value[value].type || want->bytes != net->tensor[value].bytes || !y)
        return;
    if (want->type != ONNX_FLOAT) {
        test_check(!memcmp(x, y, want->bytes), "%s: output %zu differs", t->name, i);
        return;
    }
    for (size_t e = 0; e < want->elements; e++)
        if (!test_check(is_near(x[e], y[e]), "%s%s: element %zu of output %zu is %g, not %g", t->name,
                        net->options.fuses ? ", fused" : "", e, i, (double)x[e], (double)y[e]))
            return;
}

static bool run(struct trial *t, const struct onnx_case *c, bool fuses)
{
    const struct net_options o = { .setup = &t->setup,
                                   .algo = exp_algo_find(fuses ? "sconv_tuned" : "sconv"),
                                   .fuses = fuses,
                                   .n_threads = 1 + fuses };
    struct net *net;
    bool runs = !net_plan(&net, c->graph, &o, &t->why) && !net_load(net, &t->why) && fill_inputs(c, net);

    if (runs) {
        runs = !net_run(net, NULL, &t->why);
        for (size_t i = 0; i < c->n_outputs && i < c->graph->n_outputs && runs; i++)
            compare(t, &c->output[i], net, i);
    }
    net_free(net);
    return runs;
}

static bool is_known(const struct onnx_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (g->node[i].why_no_shape)
            return false;
    }
    return true;
}

/*
 * Tells whether the case ran: with all inputs at run time, or, if shapes depend on integers, with integers as
 * constants.
 */
static bool try_case(struct trial *t, const char *folder)
{
    bool ran = false;

    for (enum case_constants k = CASE_NONE; k <= CASE_INTS && !ran; k++) {
        struct onnx_case c;

        if (onnx_case_read(&c, folder, k, &t->why))
            continue;
        ran = is_known(c.graph) && run(t, &c, false) && run(t, &c, true);
        onnx_case_free(&c);
    }
    return ran;
}

/* Windows (Hann, ...) are spelt with a short pi; files of BFLOAT16 hold something else. */
static int is_case(const struct dirent *e)
{
    return !strncmp(e->d_name, "test_", 5) && !strstr(e->d_name, "window") && !strstr(e->d_name, "BFLOAT16");
}

static void try_folder(struct trial *t, const char *folder)
{
    struct dirent **list;
    int n = scandir(folder, &list, is_case, alphasort);

    for (int i = 0; i < n; i++) {
        char *path = exp_format("%s/%s", folder, list[i]->d_name);

        t->name = list[i]->d_name;
        t->found++;
        t->ran += try_case(t, path);
        free(path);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
}

static void networks_of_a_node(void)
{
    static const char *const folders[] = { DATA "node", DATA "pytorch-converted", DATA "pytorch-operator",
                                           DATA "simple" };
    struct trial *t;

    if (access(DATA, R_OK)) {
        test_skip("%s is not there (package libonnx-testdata)", DATA);
        return;
    }
    t = exp_new(1, sizeof *t);
    if (toy_setup(&t->setup, "", "")) {
        for (size_t i = 0; i < COUNT(folders); i++)
            try_folder(t, folders[i]);
        printf("\n    of %u official tests %u ran as networks", t->found, t->ran);
        test_check(t->ran >= 580, "only %u official tests ran as networks", t->ran);
    }
    exp_setup_release(&t->setup);
    free(t);
}

static const struct test_case cases[] = {
    { "official tests, run as networks, make what their outputs say", networks_of_a_node },
    { NULL, NULL },
};

const struct test_suite suite_network_nodes = { "network_nodes", cases };
