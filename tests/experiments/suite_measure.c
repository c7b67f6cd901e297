/* The numbers of layers (experiments/bench/measure): of each case, and summed over a model. */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/replay/replay.h"
#include "experiments/bench/measure/measure.h"
#include "tests/experiments/toy.h"
#include "tests/suites.h"

struct lab {
    struct toy toy;
    struct exp_report report;
};

/* Replays the toy; every case of Base took 30, 10 and 20 ns times the number of the layer. Returns as toy_open. */
static bool open_lab(struct lab *l)
{
    struct exp_why why = { "" };

    if (!toy_open(&l->toy, false))
        return false;
    l->report = (struct exp_report){ .e = &l->toy.experiment };
    test_check(!exp_replay_all(&l->toy.experiment, EXP_COLD, 1, l->toy.progress, &why), "%s", why.text);
    for (size_t i = 0; i < l->toy.experiment.n_cases; i++) {
        struct exp_case *c = &l->toy.experiment.cases[i];
        const uint64_t ns[] = { 30 * c->layer->index, 10 * c->layer->index, 20 * c->layer->index };

        if (c->algo != exp_algo_base())
            continue;
        c->measured.why = NULL;
        c->measured.n_samples = COUNT(ns);
        c->measured.sample_ns = malloc(sizeof ns);
        CU_ASSERT_PTR_NOT_NULL_FATAL(c->measured.sample_ns);
        memcpy(c->measured.sample_ns, ns, sizeof ns);
    }
    return true;
}

static void check(struct value v, double want, const char *what)
{
    test_check(!v.why && v.number == want, "%s: %.17g (%s), not %.17g", what, v.number, v.why ? v.why : "", want);
}

static void check_none(struct value v, const char *want, const char *what)
{
    test_check(v.why && !strcmp(v.why, want), "%s: %g (%s)", what, v.number, v.why ? v.why : "");
}

/* A quarter of a layer was observed: the observed loads and load misses stand for four times as many. */
static void check_whole(const struct lab *lab, struct exp_case *c, double loads, double misses)
{
    const struct exp_watched before = c->observed;
    struct value of[N_MEASURES];

    c->observed = (struct exp_watched){ .share = 0.25, .seen = &c->simulated.stats, .replayed = &c->simulated.stats };
    measure_case(of, &lab->report, c);
    check(of[M_observed_whole_loads], 4 * loads, "loads of the whole layer");
    check(of[M_observed_whole_l1_load_misses], 4 * misses, "misses of the whole layer");
    c->observed = before;
}

static void test_case(void)
{
    struct lab lab;

    if (!open_lab(&lab))
        return;
    for (size_t i = 0; i < lab.toy.experiment.n_cases; i++) {
        struct exp_case *c = &lab.toy.experiment.cases[i];
        const struct sim_cell sum = sim_stats_total(&c->simulated.stats);
        const double misses = (double)sum.level[0].load_misses, loads = (double)sum.loads;
        struct value of[N_MEASURES];

        measure_case(of, &lab.report, c);
        check(of[M_macs], conv_macs(&c->layer->problem), "macs");
        check(of[M_simulated_loads], loads, "loads");
        check(of[M_simulated_l1_load_misses], misses, "misses");
        check(of[M_simulated_l1_miss_percent], 100 * misses / loads, "percent");
        for (size_t l = 0; l < c->simulated.stats.n_levels; l++)
            check(of[M_simulated_misses_at + l], (double)sum.level[l].load_misses, "misses of a level");
        if (c->algo == exp_algo_base()) {
            check(of[M_measured_time_min_ns], 10 * (double)c->layer->index, "fastest");
            check(of[M_measured_time_median_ns], 20 * (double)c->layer->index, "median");
            check(of[M_measured_time_max_ns], 30 * (double)c->layer->index, "slowest");
            check_none(of[M_measured_speedup_low], EXP_RATIO_NO_INTERVAL, "interval");
            check_none(of[M_plan_k2], "does not apply", "Base's plan");
        } else {
            check_none(of[M_measured_time_ns], "not timed yet", "time");
            check_none(of[M_plan_p], "does not apply", "SConv's blocking");
        }
        check_none(of[M_observed_whole_loads], c->observed.why, "loads of the whole layer");
        check_whole(&lab, c, loads, misses);
    }
    toy_close(&lab.toy);
}

static void test_total(void)
{
    struct exp_total total[EXP_MAX_ALGO_RECORDS];
    double misses = 0, loads = 0, ns = 0;
    const struct exp_total *base;
    struct exp_case *last = NULL;
    struct lab lab;
    size_t n;

    if (!open_lab(&lab))
        return;
    for (size_t i = 0; i < lab.toy.experiment.n_cases; i++) {
        struct exp_case *c = &lab.toy.experiment.cases[i];
        struct value of[N_MEASURES];

        if (c->algo != exp_algo_base())
            continue;
        measure_case(of, &lab.report, c);
        misses += of[M_simulated_l2_load_misses].number;
        loads += of[M_simulated_loads].number;
        ns += of[M_measured_time_min_ns].number;
        last = c;
    }
    n = exp_totals(&lab.report, total);
    base = exp_total_find(total, n, exp_algo_base());
    CU_ASSERT_PTR_NOT_NULL_FATAL(base);
    check(base->of[M_simulated_l2_load_misses], misses, "misses");
    check(base->of[M_simulated_l2_miss_percent], 100 * misses / loads, "percent");
    check(base->of[M_measured_time_min_ns], ns, "fastest");
    CU_ASSERT_PTR_NOT_NULL(base->of[M_measured_gflops].why);
    last->measured.why = "it was late";
    exp_totals(&lab.report, total);
    check_none(base->of[M_measured_time_min_ns], "it was late", "a layer without a time");
    check(base->of[M_simulated_loads], loads, "loads");
    toy_close(&lab.toy);
}

static const struct test_case cases[] = {
    { "a case has its numbers, or why not", test_case },
    { "layers add up, ratios are of sums, a missing one is missing", test_total },
    { NULL, NULL },
};

const struct test_suite suite_measure = { "measure", cases };
