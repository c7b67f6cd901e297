/* Rankings of PolyDL's variants, judged: held against plain sorting, on layers with made-up times. */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/csv.h"
#include "experiments/papers/polydl/report.h"
#include "experiments/bench/case/machine.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

/* ---- a single layer ---- */

enum { MAX_VARIANTS = 60 };

struct ranked {
    double cost, time;
    size_t variant;
};

static int by_cost(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->cost < y->cost || x->cost > y->cost)
        return x->cost < y->cost ? -1 : 1;
    return x->variant < y->variant ? -1 : 1;
}

static void test_verdicts(void)
{
    for (unsigned r = 0; r < test_rounds(200); r++) {
        const size_t n = (size_t)rng_below(MAX_VARIANTS);
        double cost[MAX_VARIANTS], time[MAX_VARIANTS], best = INFINITY, top = INFINITY;
        struct ranked list[MAX_VARIANTS];
        struct exp_rank_verdict v;
        size_t n_listed = 0;

        for (size_t i = 0; i < n; i++) {
            cost[i] = rng_below(5) ? (double)rng_below(20) : (double)NAN;
            time[i] = rng_below(9) ? 1 + (double)rng_below(1000) : (double)NAN;
            if (time[i] < best)
                best = time[i];
            if (isfinite(cost[i]) && isfinite(time[i]))
                list[n_listed++] = (struct ranked){ cost[i], time[i], i };
        }
        v = exp_rank_judge(cost, time, n);
        CU_ASSERT_EQUAL_FATAL(v.n, n_listed);
        if (!n_listed)
            continue;
        qsort(list, n_listed, sizeof *list, by_cost);
        for (size_t i = 0; i < (n_listed > 40 ? 3 : n_listed > 20 ? 2 : 1); i++)
            top = list[i].time < top ? list[i].time : top;
        test_check(v.picked == list[0].variant, "round %u: %zu is picked, not %zu", r, v.picked, list[0].variant);
        CU_ASSERT_DOUBLE_EQUAL(v.share, best / list[0].time, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(v.top_share, best / top, 1e-12);
    }
}

/* ---- many layers ---- */

enum { N_LAYERS = 16 };

struct bench {
    struct sim_machine machine;
    struct conv_problem problem[N_LAYERS];
    struct exp_polydl_layer layer[N_LAYERS + 1];
    char name[N_LAYERS][16];
    struct exp_polydl polydl;
};

/* Makes two layers of each shape, and a GEMM. */
static void make_layers(struct bench *b)
{
    struct exp_why why;

    for (size_t i = 0; i < N_LAYERS; i++) {
        struct conv_problem *p = &b->problem[i];
        const size_t shape = i / 2;

        *p = (struct conv_problem){ .n = 1, .c = 16 + 16 * (shape % 4), .h = 4 + shape, .w = 4 + shape, .k = 32 };
        p->r = p->s = 1 + 2 * (shape % 2);
        p->stride_h = p->stride_w = p->dilation_h = p->dilation_w = p->groups = 1;
        CU_ASSERT_EQUAL_FATAL(conv_problem_finish(p, SIM_WHY(why.text)), 0);
        snprintf(b->name[i], sizeof b->name[i], "layer_%02zu", i);
        b->layer[i] = (struct exp_polydl_layer){ .model = i < 10 ? "one" : "two", .name = b->name[i], .flops = 1e6 };
        b->layer[i].source = (struct exp_variant_source){ .problem = p, .n_images = 1 };
        b->layer[i].source.block = exp_variant_block(p, &why);
    }
    b->layer[N_LAYERS] = (struct exp_polydl_layer){ .model = "gemm", .name = "128_128_128", .flops = 1e6 };
    b->layer[N_LAYERS].source.gemm = (struct exp_gemm){ "128_128_128", 128, 128, 128 };
    b->polydl = (struct exp_polydl){ &b->machine, b->layer, N_LAYERS + 1 };
}

/* Makes three variants with known times; the simulator is wrong about the variants. */
static void make_variants(struct exp_polydl_layer *l)
{
    struct exp_why why = { "" };

    test_check(!exp_variants_make(&l->variants, &l->source, "3", &why), "%s: %s", l->name, why.text);
    l->of = calloc(l->variants.n + 1, sizeof *l->of);
    CU_ASSERT_PTR_NOT_NULL_FATAL(l->of);
    for (size_t i = 0; i < l->variants.n; i++) {
        const double ns = 100 + (double)((i * 7 + 3) % l->variants.n);

        l->of[i].variant = &l->variants.variant[i];
        l->of[i].simulated[EXP_POLYDL_ALONE] = (struct exp_polydl_simulated){ true, .cycles = -ns, .seconds = 1 };
        for (size_t t = 0; t < EXP_N_POLYDL_THREADS; t++)
            l->of[i].time[t] = (struct exp_polydl_time){ 2, ns, ns, { ns, ns } };
    }
}

static struct bench *make_bench(void)
{
    struct bench *b = calloc(1, sizeof *b);
    struct exp_why why;

    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    CU_ASSERT_EQUAL_FATAL(exp_machine_find(&b->machine, "gnr", "", &why), 0);
    make_layers(b);
    for (size_t i = 0; i < b->polydl.n_layers; i++)
        make_variants(&b->layer[i]);
    return b;
}

static void release(struct bench *b)
{
    for (size_t i = 0; i < b->polydl.n_layers; i++) {
        exp_variants_release(&b->layer[i].variants);
        free(b->layer[i].of);
    }
    free(b);
}

static void check_split(const struct exp_rank *r)
{
    size_t n_training = 0;

    for (size_t i = 0; i < N_LAYERS; i++) {
        CU_ASSERT_EQUAL(r->layer[i].is_training, r->layer[i ^ 1].is_training);
        n_training += r->layer[i].is_training;
    }
    test_check(n_training >= N_LAYERS / 2 && n_training <= N_LAYERS * 3 / 4, "%zu layers of %d", n_training, N_LAYERS);
}

/* Reads a file of the results. Returns its number of rows. */
static size_t read_rows(const struct exp_outdir *dir, const char *file)
{
    char *path = exp_outdir_file(dir, file);
    struct exp_why why = { "" };
    struct exp_table t;
    size_t n;

    test_check(!exp_table_read(&t, path, &why), "%s", why.text);
    n = t.n_rows;
    exp_table_release(&t);
    free(path);
    return n;
}

/* Returns the mean of PolyDL-DNN's pick and HayStack's, over layers that the net has not seen. */
static double figure15(const struct exp_rank *r)
{
    double sum = 0, n = 0;

    for (size_t i = 0; i < N_LAYERS; i++) {
        const struct exp_rank_verdict *v = r->layer[i].verdict[EXP_POLYDL_ONE];

        if (r->layer[i].is_training)
            continue;
        sum += v[EXP_RANKING_HAYSTACK].time_ns / v[EXP_RANKING_DNN].time_ns;
        n++;
    }
    return sum / n;
}

/* Returns a cell of printed.csv, from malloc. */
static char *printed(const struct exp_outdir *dir, const char *metric, const char *column)
{
    char *path = exp_outdir_file(dir, "printed.csv"), *cell = NULL;
    struct exp_why why = { "" };
    size_t metrics, wanted;
    struct exp_table t;

    CU_ASSERT_EQUAL_FATAL(exp_table_read(&t, path, &why), 0);
    CU_ASSERT_EQUAL_FATAL(exp_table_column(&t, "metric", &metrics, &why), 0);
    CU_ASSERT_EQUAL_FATAL(exp_table_column(&t, column, &wanted, &why), 0);
    for (size_t row = 0; row < t.n_rows && !cell; row++) {
        if (!strcmp(exp_table_string(&t, row, metrics), metric))
            cell = strdup(exp_table_string(&t, row, wanted));
    }
    exp_table_release(&t);
    free(path);
    CU_ASSERT_PTR_NOT_NULL_FATAL(cell);
    return cell;
}

static void check_printed(const struct exp_outdir *dir, const char *metric, const char *column, const char *want)
{
    char *is = printed(dir, metric, column);

    test_check(!strcmp(is, want), "%s, %s: '%s', not '%s'", metric, column, is, want);
    free(is);
}

/* Numbers that are no speeds of picks are in the file, too. */
static void check_numbers(const struct exp_rank *r, const struct exp_outdir *dir)
{
    char want[32], *blocked = printed(dir, "percent_with_channels_multiple_of_16", "ours");

    snprintf(want, sizeof want, "%.3g", figure15(r));
    check_printed(dir, "polydl_dnn_vs_haystack", "ours_held_out", want);
    check_printed(dir, "layers_evaluated", "ours", "16");
    check_printed(dir, "variants_per_layer", "ours", "3-3; avg 3.0");
    check_printed(dir, "runs_averaged", "ours", "the fastest of 2-2; avg 2");
    check_printed(dir, "fused_over_unfused", "ours", "2.00");
    check_printed(dir, "fused_over_onednn", "ours", "1.50");
    check_printed(dir, "gflops_geomean_pluto", "ours", "-");
    test_check(strtol(blocked, NULL, 10) == 86, "%s %% of the layers have blocks", blocked);
    free(blocked);
}

static void check_files(const struct exp_rank *r)
{
    struct exp_fused_layer layer = { .time = { [EXP_FUSED_BNORM] = { { .n_rounds = 1, .fastest_ns = 20 },
                                                                     { .n_rounds = 1, .fastest_ns = 10 },
                                                                     { .n_rounds = 1, .fastest_ns = 15 } } } };
    const struct exp_fused fused = { .layer = &layer, .n_layers = 1, .n_images = 28 };
    const struct exp_rank_results x = { r, &fused, "a test, commit 1234567", "experiments", "not timed" };
    struct exp_outdir dir;
    char *net;
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL_FATAL(exp_outdir_open(&dir, scratch_path("polydl"), "totals.csv", &why), 0);
    test_check(!exp_rank_write(&x, &dir, &why), "%s", why.text);
    CU_ASSERT_EQUAL(read_rows(&dir, "analyses.csv"), (N_LAYERS + 1) * 3 * EXP_N_POLYDL_THREADS);
    CU_ASSERT_EQUAL(read_rows(&dir, "picks.csv"), (N_LAYERS + 1) * EXP_N_POLYDL_THREADS);
    /* Nothing was simulated with prefetchers. */
    CU_ASSERT_EQUAL(read_rows(&dir, "rankings.csv"), (N_LAYERS + 1) * EXP_N_POLYDL_THREADS * (EXP_N_RANKINGS - 1));
    CU_ASSERT_EQUAL(read_rows(&dir, "learning.csv"), EXP_RANK_EPOCHS * EXP_N_POLYDL_THREADS);
    CU_ASSERT(read_rows(&dir, "printed.csv") > 40);
    CU_ASSERT_EQUAL(read_rows(&dir, "best.csv"), (N_LAYERS + 1) * EXP_N_POLYDL_THREADS);
    check_numbers(r, &dir);
    net = exp_outdir_file(&dir, "net_1.txt");
    CU_ASSERT_EQUAL(access(net, R_OK), 0);
    free(net);
    exp_outdir_abort(&dir);
    scratch_clear();
}

static void test_rankings(void)
{
    struct bench *b = make_bench();
    struct exp_rank r;
    struct exp_rank_total t;
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL_FATAL(exp_rank_make(&r, &b->polydl, 2, NULL, &why), 0);
    check_split(&r);
    t = exp_rank_total_of(&r, EXP_POLYDL_ONE, EXP_RANKING_CLOCK, EXP_RANK_ALL, NULL);
    CU_ASSERT_EQUAL(t.n, N_LAYERS);
    CU_ASSERT_DOUBLE_EQUAL(t.mean_share, 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(t.near_best_percent, 100, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(t.mean_spearman, 1, 1e-12);
    t = exp_rank_total_of(&r, EXP_POLYDL_ONE, EXP_RANKING_ALONE, EXP_RANK_ALL, "two");
    CU_ASSERT_EQUAL(t.n, N_LAYERS - 10);
    CU_ASSERT_DOUBLE_EQUAL(t.mean_kendall, -1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(t.worst_share, 100. / 102, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(t.mean_seconds, 1, 1e-12);
    t = exp_rank_total_of(&r, EXP_POLYDL_TWO, EXP_RANKING_WHOLE, EXP_RANK_ALL, NULL);
    CU_ASSERT_EQUAL(t.n, 0);
    t = exp_rank_total_of(&r, EXP_POLYDL_TWO, EXP_RANKING_ALONE, EXP_RANK_GEMMS, NULL);
    CU_ASSERT_EQUAL(t.n, 1);
    CU_ASSERT_PTR_NOT_NULL(r.learnt[EXP_POLYDL_ONE].net.weight);
    CU_ASSERT_EQUAL(r.layer[0].verdict[EXP_POLYDL_ONE][EXP_RANKING_DNN].n, 3);
    check_files(&r);
    exp_rank_release(&r);
    b->polydl.n_layers = 2;
    CU_ASSERT_EQUAL_FATAL(exp_rank_make(&r, &b->polydl, 1, NULL, &why), 0);
    CU_ASSERT(!r.learnt[EXP_POLYDL_ONE].net.weight && strstr(r.learnt[EXP_POLYDL_ONE].why, "10 layers"));
    CU_ASSERT_EQUAL(r.layer[0].verdict[EXP_POLYDL_ONE][EXP_RANKING_DNN].n, 0);
    exp_rank_release(&r);
    b->polydl.n_layers = N_LAYERS + 1;
    release(b);
}

/* Fused operators have the requested number of images, and layers that take too much memory have no times. */
static void test_batches(void)
{
    struct bench *b = make_bench();
    struct exp_fused f;
    uint64_t most = 0;
    size_t n_left_out = 0;

    exp_fused_plan(&f, &b->polydl, 28, UINT64_MAX);
    CU_ASSERT_EQUAL(f.n_layers, N_LAYERS);
    for (size_t i = 0; i < f.n_layers; i++) {
        const struct conv_problem *p = &b->problem[i];

        CU_ASSERT_EQUAL(f.layer[i].shape.n, 28);
        CU_ASSERT_EQUAL(f.layer[i].output_bytes, 28 * p->k * conv_windows(p) * sizeof(float));
        CU_ASSERT_DOUBLE_EQUAL(f.layer[i].flops, 28 * b->layer[i].flops, 1);
        CU_ASSERT_STRING_EQUAL(f.layer[i].why, "");
        most = exp_fused_bytes(&f.layer[i]) > most ? exp_fused_bytes(&f.layer[i]) : most;
    }
    exp_fused_release(&f);
    exp_fused_plan(&f, &b->polydl, 28, most - 1);
    for (size_t i = 0; i < f.n_layers; i++) {
        CU_ASSERT_EQUAL(*f.layer[i].why != 0, exp_fused_bytes(&f.layer[i]) == most);
        n_left_out += *f.layer[i].why != 0;
    }
    CU_ASSERT(n_left_out > 0 && n_left_out < N_LAYERS);
    exp_fused_release(&f);
    release(b);
}

static const struct test_case cases[] = {
    { "a verdict is that of sorting by cost", test_verdicts },
    { "rankings that are right or wrong are found so, and written", test_rankings },
    { "fused operators have so many images, unless memory is too small", test_batches },
    { NULL, NULL },
};

const struct test_suite suite_polydl_judge = { "polydl_judge", cases };
