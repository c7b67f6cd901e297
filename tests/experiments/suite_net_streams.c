/*
 * The accesses of a network's steps by network/stream.h, for random networks: only tensors of the step, at the
 * planner's places; all of the outputs; and, on small caches, the sums of steps.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/network/stream.h"
#include "experiments/network/study.h"
#include "tests/counters/fake_counters.h"
#include "tests/experiments/network_graph.h"
#include "tests/experiments/toy.h"
#include "tests/rng.h"
#include "tests/suites.h"

extern const struct test_suite suite_net_streams;

/* ---- a random network, planned ---- */

struct fixture {
    struct exp_setup setup;
    struct onnx_graph *graph;
    struct net *net;
    struct net_stream stream;
    struct exp_steps steps;
    struct exp_why why;
};

static bool set_up(struct fixture *f)
{
    *f = (struct fixture){ .graph = NULL };
    return toy_setup(&f->setup, "f32_16x24__ref", "Haswell");
}

static void plan(struct fixture *f, const struct onnx_graph *g)
{
    static const char *const algos[] = { "base", "sconv", "sconv_tuned", "goto" };
    const struct net_options o = { .setup = &f->setup,
                                   .algo = exp_algo_find(algos[rng_below(4)]),
                                   .fuses = rng_below(2),
                                   .keeps_all = !rng_below(4),
                                   .n_threads = 1 };

    if (!test_check(!net_plan(&f->net, g, &o, &f->why), "%s", f->why.text))
        return;
    CU_ASSERT_FATAL(!net_stream_init(&f->stream, f->net, &f->why));
    f->steps = net_stream_steps(&f->stream, false);
}

static void forget(struct fixture *f)
{
    net_stream_release(&f->stream);
    net_free(f->net);
    f->net = NULL;
}

static void tear_down(struct fixture *f)
{
    forget(f);
    onnx_free(f->graph);
    exp_setup_release(&f->setup);
}

/* ---- a step's accesses ---- */

struct range {
    uint64_t begin, bytes;
};

/* The tensors that a step may touch, and the stored floats of the first output. */
struct watch {
    struct sim_sink sink;
    struct range input[80], made[16];
    size_t n_inputs, n_made;
    bool *is_stored;
    struct range out;
    uint64_t far; /* accesses to memory of OpenBLAS and of operators */
    size_t n_lost;
};

static bool is_in(const struct range *r, size_t n, uint64_t addr, uint64_t bytes)
{
    for (size_t i = 0; i < n; i++) {
        if (addr >= r[i].begin && addr + bytes <= r[i].begin + r[i].bytes)
            return true;
    }
    return false;
}

static void look(struct watch *w, uint64_t addr, uint32_t bytes, enum sim_kind kind)
{
    const bool is_made = is_in(w->made, w->n_made, addr, bytes) || addr >= w->far;

    if (kind == SIM_STORE ? !is_made : !is_made && !is_in(w->input, w->n_inputs, addr, bytes))
        w->n_lost++;
    for (uint32_t i = 0; kind == SIM_STORE && i < bytes / sizeof(float); i++) {
        const uint64_t at = addr + i * sizeof(float) - w->out.begin;

        if (at < w->out.bytes)
            w->is_stored[at / sizeof(float)] = true;
    }
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    for (uint64_t t = 0; t < n_times; t++) {
        for (size_t r = 0; r < n_runs; r++) {
            for (uint32_t i = 0; run[r].kind != SIM_PREFETCH && i < run[r].count; i++)
                look((struct watch *)self,
                     run[r].addr + t * (uint64_t)run[r].step_bytes + i * (uint64_t)run[r].stride_bytes,
                     run[r].access_bytes, (enum sim_kind)run[r].kind);
        }
    }
}

static void add_range(const struct fixture *f, struct range *r, size_t *n, size_t tensor)
{
    if (tensor != ONNX_NONE && net_address(f->net, f->stream.base, tensor))
        r[(*n)++] = (struct range){ net_address(f->net, f->stream.base, tensor), f->net->tensor[tensor].bytes };
}

static void open_watch(const struct fixture *f, const struct net_step *s, struct watch *w)
{
    *w = (struct watch){ .sink = { accept }, .far = f->stream.base[NET_NOWHERE] };
    for (size_t i = 0; i < s->n_in; i++)
        add_range(f, w->input, &w->n_inputs, s->in[i]);
    for (size_t i = 0; i < s->n_out; i++)
        add_range(f, w->made, &w->n_made, s->out[i]);
    if (s->conv) {
        add_range(f, w->input, &w->n_inputs, s->conv->filter);
        add_range(f, w->input, &w->n_inputs, s->conv->bias);
        add_range(f, w->input, &w->n_inputs, s->conv->residual);
        add_range(f, w->made, &w->n_made, s->conv->workspace);
    }
    w->out = (struct range){ net_address(f->net, f->stream.base, s->out[0]), f->net->tensor[s->out[0]].bytes };
    w->is_stored = exp_new(w->out.bytes / sizeof(float) + 1, sizeof *w->is_stored);
}

static void check_step(const struct fixture *f, size_t step)
{
    const struct net_step *s = &f->net->step[step];
    uint64_t mac_instructions;
    size_t n_left = 0;
    struct watch w;

    open_watch(f, s, &w);
    CU_ASSERT(!f->steps.emit(f->steps.ctx, step, NULL, &w.sink, &mac_instructions));
    for (size_t i = 0; i < w.out.bytes / sizeof(float); i++)
        n_left += !w.is_stored[i];
    test_check(!w.n_lost, "%s (%s, %s): %zu accesses are to no tensor of it", s->name, s->op,
               net_stream_source(&f->stream, step), w.n_lost);
    test_check(!n_left, "%s (%s, %s): %zu of %" PRIu64 " floats are not written", s->name, s->op,
               net_stream_source(&f->stream, step), n_left, w.out.bytes / sizeof(float));
    free(w.is_stored);
}

/* Does something with each step of random networks. */
static void each_step(void (*check)(const struct fixture *f, size_t step))
{
    struct fixture f;

    for (unsigned round = 0; round < test_rounds(40); round++) {
        if (!set_up(&f))
            return;
        CU_ASSERT_FATAL(!network_random(&f.graph, &f.why));
        plan(&f, f.graph);
        for (size_t i = 0; f.net && i < f.net->n_steps; i++)
            check(&f, i);
        tear_down(&f);
    }
}

static void test_steps(void)
{
    each_step(check_step);
}

/* ---- operators ---- */

/* All operators of the test's networks emit the accesses of their own code; only MaxPool with indices is a model. */
static void check_source(const struct fixture *f, size_t step)
{
    const char *source = net_stream_source(&f->stream, step);
    const bool finds_indices = !strcmp(f->net->step[step].op, "MaxPool") && f->net->step[step].n_out > 1;

    test_check(!strstr(source, "model") || finds_indices, "%s is %s", f->net->step[step].op, source);
}

static void test_sources(void)
{
    each_step(check_source);
}

/* ---- orders ---- */

/* Tells whether each node of a graph comes behind the makers of its inputs. */
static bool is_in_order(const struct onnx_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        for (size_t k = 0; k < g->node[i].n_in; k++) {
            const size_t v = g->node[i].in[k];

            if (v != ONNX_NONE && g->value[v].producer != ONNX_NONE && g->value[v].producer >= i)
                return false;
        }
    }
    return true;
}

static void test_orders(void)
{
    unsigned n_others = 0;
    struct fixture f;

    for (unsigned round = 0; round < test_rounds_all(60); round++) {
        if (!set_up(&f))
            return;
        CU_ASSERT_FATAL(!network_random(&f.graph, &f.why));
        for (int o = 0; o < NET_N_ORDERS; o++) {
            struct onnx_graph copy;
            const bool differs = net_order_make(&copy, f.graph, (enum net_order)o);

            n_others += differs;
            CU_ASSERT(is_in_order(&copy) && (o != NET_ORDER_OF_FILE || !differs));
            plan(&f, &copy);
            forget(&f);
            net_order_release(&copy);
        }
        tear_down(&f);
    }
    test_check(n_others > 5, "%u orders are others", n_others);
}

/* ---- counters ---- */

/* Counters with a fixed answer for each step of two microseconds or more; refused counters say why. */
static void test_counters(void)
{
    struct net_by_algo by = { .algo = exp_algo_find("sconv") };
    struct net_study s = { .by = &by, .n_algos = 1, .n_threads = 1 };
    struct fake_counters fake;
    const struct net_counting o = { &fake.source, FAKE_GROUPS_DIR, "fake" };
    struct fixture f;
    size_t n_counted = 0;

    if (!set_up(&f))
        return;
    fake_counters_init(&fake);
    for (size_t q = 0; q < NET_N_COUNTED; q++)
        fake.region[ctr_quantity_index(net_counted_names[q])] = 1000.0 * (double)(q + 1);
    do {
        forget(&f);
        onnx_free(f.graph);
        CU_ASSERT_FATAL(!network_random(&f.graph, &f.why));
        plan(&f, f.graph);
    } while (f.net && f.net->n_steps < 8); /* some steps take long enough */
    by.timed.net = f.net;
    CU_ASSERT_FATAL(!net_load(f.net, &f.why));
    net_fill_inputs(f.net, 1);
    test_check(!net_study_count(&s, &o, &f.why) && !*by.counted.missing.text, "%s%s", f.why.text,
               by.counted.missing.text);
    for (size_t i = 0; by.counted.value && i < f.net->n_steps * NET_N_COUNTED; i++) {
        const double x = by.counted.value[i];

        n_counted += x > 0;
        test_check(x == 0 || x == 1000.0 * (double)(i % NET_N_COUNTED + 1), "step %zu: %g %s", i / NET_N_COUNTED, x,
                   net_counted_names[i % NET_N_COUNTED]);
    }
    test_check(n_counted >= NET_N_COUNTED, "%zu values were counted", n_counted);
    free(by.counted.value);
    by.counted = (struct net_counted){ .value = NULL };
    fake.refusal = -EACCES;
    CU_ASSERT(!net_study_count(&s, &o, &f.why) && *by.counted.missing.text && !by.counted.value);
    CU_ASSERT_EQUAL(fake.n_open, 0);
    tear_down(&f);
}

static const struct test_case cases[] = {
    { "steps touch their tensors, and write all that they make", test_steps },
    { "operators are what their code does", test_sources },
    { "other orders are orders, and can be planned", test_orders },
    { "counters count each step", test_counters },
    { NULL, NULL },
};

const struct test_suite suite_net_streams = { "net_streams", cases };
