/* The paper's page: formulas and sums against values worked out by hand; every published number has its line. */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/text.h"
#include "experiments/base/stats.h"
#include "experiments/base/csv.h"
#include "experiments/bench/case/machine.h"
#include "experiments/papers/paper/paper.h"
#include "kernels/shape/problem.h"
#include "tests/kernels/shapes.h"
#include "tests/scratch.h"
#include "tests/suites.h"

static void test_formulas(void)
{
    const double two[] = { 1, 4 }, none[] = { 1, 0 };
    const struct conv_problem p = { .n = 1, .c = 64, .h = 224, .w = 224, .k = 64, .r = 3, .s = 3, .p = 224, .q = 224 };

    CU_ASSERT_DOUBLE_EQUAL(exp_paper_amdahl(0.5, 2), 4.0 / 3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_amdahl(0.74, 1.12), 1.0 / (0.26 + 0.74 / 1.12), 1e-12); /* not the printed 1.16 */
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_percent_faster(1.15), 15, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_miss_improvement(83, 90), 1.7, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_stats_geomean(two, 2), 2, 1e-12);
    CU_ASSERT(isnan(exp_stats_geomean(none, 2)) && isnan(exp_stats_geomean(two, 0)));
    CU_ASSERT(exp_paper_im2col_bytes(&p) == 115605504 && exp_paper_input_bytes(&p) == 12845056);
}

static void test_numbers(void)
{
    CU_ASSERT(exp_paper_number("2.11") == 2.11 && exp_paper_number("32 kB") == 32768);
    CU_ASSERT(exp_paper_number("4 MB") == 4194304);
    CU_ASSERT(isnan(exp_paper_number("WS")) && isnan(exp_paper_number("None/AVX-512")) &&
              isnan(exp_paper_number("2/4")) && isnan(exp_paper_number("")));
}

static void test_verdicts(void)
{
    const struct exp_paper_claim ratio = { .tolerance = 0.1, .neutral = 1 };
    const struct exp_paper_claim points = { .tolerance = 5, .in_points = true, .neutral = 50 };
    const struct exp_paper_claim layers_of = { .tolerance = 0.1, .floor = 2 };
    const struct exp_paper_claim most = { .bound = EXP_PAPER_AT_MOST }, exact = { .tolerance = 0 };

    CU_ASSERT(exp_paper_judge(&ratio, 1.2, 1.3) == EXP_PAPER_AGREES);
    CU_ASSERT(exp_paper_judge(&ratio, 1.2, 1.4) == EXP_PAPER_SAME_WAY);
    CU_ASSERT(exp_paper_judge(&ratio, 1.2, 0.9) == EXP_PAPER_DIFFERS);
    CU_ASSERT(exp_paper_judge(&points, 87, 83) == EXP_PAPER_AGREES);
    CU_ASSERT(exp_paper_judge(&points, 87, 60) == EXP_PAPER_SAME_WAY);
    CU_ASSERT(exp_paper_judge(&points, 87, 40) == EXP_PAPER_DIFFERS);
    CU_ASSERT(exp_paper_judge(&layers_of, 246, 270) == EXP_PAPER_AGREES &&
              exp_paper_judge(&layers_of, 246, 271) == EXP_PAPER_DIFFERS);
    CU_ASSERT(exp_paper_judge(&layers_of, 2, 4) == EXP_PAPER_AGREES &&
              exp_paper_judge(&layers_of, 2, 5) == EXP_PAPER_DIFFERS);
    CU_ASSERT(exp_paper_judge(&most, 18, 17) == EXP_PAPER_AGREES &&
              exp_paper_judge(&most, 18, 19) == EXP_PAPER_DIFFERS);
    CU_ASSERT(exp_paper_judge(&exact, 393, 393) == EXP_PAPER_AGREES &&
              exp_paper_judge(&exact, 393, 392) == EXP_PAPER_DIFFERS);
    CU_ASSERT(exp_paper_judge(&ratio, 1.2, (double)NAN) == EXP_PAPER_NOT_JUDGED);
}

/* ---- sums ---- */

enum { N_LAYERS = 3 };

/* Two layers of a first model, the second pointwise; a pointwise layer of a second model. */
static struct exp_layer layers[N_LAYERS] = {
    { .problem = { IMAGES(1, 1, 8, 8), FILTERS(1, 3, 3), STRIDES(1, 1), .groups = 1, .p = 6, .q = 6 } },
    { .problem = { IMAGES(1, 2, 56, 56), FILTERS(4, 1, 1), STRIDES(1, 1), .groups = 1, .p = 56, .q = 56 } },
    { .problem = { IMAGES(1, 2, 7, 7), FILTERS(4, 1, 1), STRIDES(1, 1), .groups = 1, .p = 7, .q = 7 } },
};

static const struct exp_paper_view view = {
    .time = EXP_PAPER_TIME,
    .whole = EXP_PAPER_WHOLE,
    .packing = EXP_PAPER_PACKING,
    .steps = EXP_PAPER_STEPS,
    .loads = EXP_PAPER_LOADS,
    .misses = EXP_PAPER_MISSES_1,
    .peak = EXP_PAPER_PEAK,
    .spread = EXP_PAPER_SPREAD,
};

/* A row of each layer and side: time, packing, steps, loads, misses of L1. */
static void add(struct exp_paper_part *part, size_t model, size_t layer, const char *algo, const double x[5])
{
    static const enum exp_paper_value column[] = { EXP_PAPER_TIME, EXP_PAPER_PACKING, EXP_PAPER_STEPS, EXP_PAPER_LOADS,
                                                   EXP_PAPER_MISSES_1 };
    struct exp_paper_row *row = exp_paper_part_add(part, model, &layers[layer], exp_algo_find(algo));

    for (size_t i = 0; i < 5; i++)
        row->value[column[i]] = x[i];
}

static void make_set(struct exp_paper_part *part, struct exp_paper_set *s)
{
    add(part, 0, 0, "base", (double[]){ 300, 90, 300, 1000, 100 });
    add(part, 0, 0, "sconv_openblas", (double[]){ 100, 10, 100, 900, 50 });
    add(part, 0, 1, "base", (double[]){ 100, 10, 100, 1000, 100 });
    add(part, 0, 1, "sconv_openblas", (double[]){ 200, 15, 200, 1100, 150 });
    add(part, 1, 2, "base", (double[]){ 90, 9, 100, 1000, 40 });
    add(part, 1, 2, "sconv_openblas", (double[]){ 30, 3, 30, 1000, 10 });
    exp_paper_set_of(s, &view, part, "sconv_openblas", 2);
    CU_ASSERT_FATAL(s->n == N_LAYERS);
}

static void test_models(void)
{
    struct exp_paper_part part = { .n_rows = 0 };
    struct exp_paper_set s;

    make_set(&part, &s);
    part.row[4].value[EXP_PAPER_WHOLE] = 120;
    part.row[5].value[EXP_PAPER_WHOLE] = 60;
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_model(&s, EXP_PAPER_OF_SPEEDUP, 0, 0), 400.0 / 300, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_model(&s, EXP_PAPER_OF_SPEEDUP, 1, 0), 3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_over(&s, EXP_PAPER_OF_SPEEDUP, EXP_PAPER_GEOMEAN, 0), 2, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_over(&s, EXP_PAPER_OF_SPEEDUP, EXP_PAPER_LEAST, 0), 4.0 / 3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_over(&s, EXP_PAPER_OF_SPEEDUP, EXP_PAPER_MOST, 0), 3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_model(&s, EXP_PAPER_OF_MODEL_SPEEDUP, 1, 0), 2, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_model(&s, EXP_PAPER_OF_CONV_SHARE, 1, 0), 0.75, 1e-12);
    CU_ASSERT(isnan(exp_paper_of_model(&s, EXP_PAPER_OF_MODEL_SPEEDUP, 0, 0))); /* no whole network */
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_model(&s, EXP_PAPER_OF_BASE_PACKING_PERCENT, 0, 0), 25, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_model(&s, EXP_PAPER_OF_OWN_PACKING_PERCENT, 1, 0), 10, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_model(&s, EXP_PAPER_OF_PACKING_REDUCTION, 0, 0), 4,
                           1e-12); /* (90 + 10) / (10 + 15) */
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_over(&s, EXP_PAPER_OF_PACKING_REDUCTION, EXP_PAPER_MEAN, 0), 3.5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_model(&s, EXP_PAPER_OF_BASE_MISS_PERCENT, 0, 0), 10, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_model(&s, EXP_PAPER_OF_MISS_RATIO, 1, 0), 4, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_OWN_HIT_PERCENT, 0), 100 - sqrt(10 * 1), 1e-12);
    CU_ASSERT(isnan(exp_paper_of_model(&s, EXP_PAPER_OF_MISS_RATIO, 0, 1))); /* nobody counted L2 */
    exp_paper_set_release(&s);
    exp_paper_part_release(&part);
}

static void test_layers(void)
{
    struct exp_paper_part part = { .n_rows = 0 };
    struct exp_paper_set s;

    make_set(&part, &s);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_WON_PERCENT, 0), 200.0 / 3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_POINTWISE_WON_PERCENT, 0), 50, 1e-9);
    CU_ASSERT(exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_LOST_POINTWISE_PERCENT, 0) == 100 &&
              exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_LARGE_POINTWISE_LOST_PERCENT, 56) == 100);
    CU_ASSERT(isnan(exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_LARGE_POINTWISE_LOST_PERCENT, 112)));
    CU_ASSERT(exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_MOST_SPEEDUP, 0) == 3 &&
              exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_LARGEST_POINTWISE, 0) == 56);
    CU_ASSERT(exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_POINTWISE, 0) == 2 &&
              exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_LAYERS, 0) == 3 &&
              exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_MOST_BATCH, 0) == 1);
    CU_ASSERT(exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_FEWER_LOADS, 0) == 1 &&
              exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_MORE_LOADS, 0) == 1); /* and a layer with as many */
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_FEWER_LOADS_PERCENT, 0), 100.0 / 3, 1e-9);
    CU_ASSERT(exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_MORE_MISSES, 0) == 1 &&
              isnan(exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_MORE_MISSES, 2)));
    part.row[1].value[EXP_PAPER_PEAK] = 9 * 36 / 100.0 * 2; /* the first layer does half of the work */
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_BEST_PEAK_PERCENT, 0), 50, 1e-9);
    part.row[1].value[EXP_PAPER_SPREAD] = 4;
    part.row[3].value[EXP_PAPER_SPREAD] = 6;
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_layers(&s, EXP_PAPER_OF_ALL_CALM_PERCENT, 5), 50, 1e-9);
    exp_paper_set_release(&s);
    exp_paper_part_release(&part);
}

/* ---- every published number ---- */

/* With nothing to compare, as many results as a page can have. */
static void test_every_number(void)
{
    static struct exp_models models;
    static struct exp_paper_part part[EXP_PAPER_N_SETTINGS];
    static struct exp_paper_findings f;
    struct sim_machine x86, p10;
    bool used[EXP_PAPER_N_CLAIMS] = { false };
    struct exp_why why;
    size_t n = 0;

    f = (struct exp_paper_findings){
        .models = &models, .part = part, .x86 = &x86, .p10 = &p10, .has_whole_models = true, .has_whole_set = true
    };
    CU_ASSERT_FATAL(!exp_models_read(&models, "experiments", "all", "", &why));
    CU_ASSERT_FATAL(!exp_machine_find(&x86, "clx4208", "results", &why) &&
                    !exp_machine_find(&p10, "power10", "results", &why));
    CU_ASSERT_FATAL(!exp_paper_findings_read(&f, "experiments", &why));
    exp_paper_findings_of(&f);
    for (size_t i = 0; i < f.n; i++) {
        n += !i || f.result[i].index != f.result[i - 1].index;
        CU_ASSERT(f.result[i].claim != NULL);
        CU_ASSERT(!isnan(f.result[i].ours) || *f.result[i].says);
        if (f.result[i].claim)
            used[f.result[i].claim - exp_paper_claims] = true;
    }
    CU_ASSERT_EQUAL(n, 157);
    CU_ASSERT_EQUAL(f.rows.n, 157);
    for (size_t i = 0; i < EXP_PAPER_N_CLAIMS; i++)
        CU_ASSERT(used[i]);
    exp_paper_findings_release(&f);
    exp_models_release(&models);
}

/* Twice as many layers as the paper's never agree, whatever the number: counts of layers are not judged by points. */
static void test_counts_of_layers(void)
{
    size_t n = 0;

    for (size_t i = 0; i < EXP_PAPER_N_CLAIMS; i++) {
        const struct exp_paper_claim *c = &exp_paper_claims[i];

        if (strncmp(c->metric, "convs_with_", strlen("convs_with_")) != 0)
            continue;
        CU_ASSERT(exp_paper_judge(c, 20, 40) == EXP_PAPER_DIFFERS && exp_paper_judge(c, 15, 26) == EXP_PAPER_DIFFERS);
        CU_ASSERT(exp_paper_judge(c, 5, 10.2) == EXP_PAPER_DIFFERS && exp_paper_judge(c, 20, 21) == EXP_PAPER_AGREES);
        n++;
    }
    CU_ASSERT_EQUAL(n, 10);
}

static void test_views(void)
{
    for (size_t i = 0; i < EXP_PAPER_N_CLAIMS; i++) {
        char ids[256], *rest = ids;

        if (!exp_paper_claims[i].views)
            continue;
        snprintf(ids, sizeof ids, "%s", exp_paper_claims[i].views);
        for (char *id = strtok_r(ids, " ", &rest); id; id = strtok_r(NULL, " ", &rest))
            CU_ASSERT(exp_paper_view_find(id) != NULL);
        CU_ASSERT((exp_paper_claims[i].models != EXP_PAPER_OF_NOTHING) !=
                  (exp_paper_claims[i].layers != EXP_PAPER_OF_NO_LAYERS));
    }
}

static void test_other_papers(void)
{
    static struct exp_paper_findings f;
    struct exp_paper_others o;
    char *text = NULL;
    struct exp_why why;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    CU_ASSERT_FATAL(out && !exp_paper_findings_read(&f, "experiments", &why));
    o = exp_paper_others_print(&f, out);
    fclose(out);
    CU_ASSERT(f.others.n == 105 && o.n_unused == 0 && o.n_checked == 4 && o.n_agree == 4);
    CU_ASSERT(strstr(text, "printed 116 MB, ours 115.6 MB") && strstr(text, "printed 13 MB, ours 12.85 MB"));
    free(text);
    exp_paper_findings_release(&f);
}

/* Recordings have the following first numbers, as printed in the files. */
static const struct exp_paper_setting *setting_of(enum exp_paper_kind kind)
{
    const struct exp_paper_setting *s = exp_paper_settings;

    while (s->kind != kind)
        s++;
    return s;
}

static void test_recorded(void)
{
    struct exp_paper_part counted = { .setting = setting_of(EXP_PAPER_RECORDED) };
    const struct exp_paper_options options = { .results = "no/such/results", .layers = "" };
    struct exp_paper_part observed = { .setting = setting_of(EXP_PAPER_OBSERVED) };
    struct exp_models models;
    struct exp_why why;

    CU_ASSERT_FATAL(!exp_models_read(&models, "experiments", "vgg16,resnet18", "", &why));
    CU_ASSERT_FATAL(!exp_paper_recorded_read(&counted, "results/reference/zen3/counts", &models, &why));
    CU_ASSERT_FATAL(!exp_paper_observed_read(&observed, &options, &models, &why));
    CU_ASSERT_FATAL(counted.n_rows == (13 + 20) * 5 && observed.n_rows >= 20 * 2 && observed.n_rows % 20 == 0);
    CU_ASSERT(counted.row[0].algo == exp_algo_base() && counted.row[0].value[EXP_PAPER_LOADS] == 9575324);
    CU_ASSERT(counted.row[0].value[EXP_PAPER_MISSES_1] == 442975 && isnan(counted.row[0].value[EXP_PAPER_MISSES_2]));
    CU_ASSERT(observed.row[0].model == 1 && observed.row[0].algo == exp_algo_base());
    for (size_t i = 0; i < observed.n_rows; i++) {
        const double *x = observed.row[i].value;

        CU_ASSERT(x[EXP_PAPER_LOADS] > x[EXP_PAPER_MISSES_1] && x[EXP_PAPER_MISSES_1] > x[EXP_PAPER_MISSES_2]);
        CU_ASSERT(x[EXP_PAPER_MISSES_2] >= x[EXP_PAPER_MISSES_3] && x[EXP_PAPER_MISSES_3] > 0);
    }
    CU_ASSERT(!*observed.why && strstr(observed.about, "resnet18/observed.csv"));
    exp_paper_part_release(&counted);
    exp_paper_part_release(&observed);
    exp_models_release(&models);
}

/* A network's results: the time of the convolutions and of the whole network, without fusion. */
static void test_networks(void)
{
    static const char text[] =
        "model,algo,fused,measured_time_ns,measured_conv_time_ns,estimated_issue_cycles,estimated_cycles,"
        "estimated_conv_issue_cycles,estimated_conv_cycles\n"
        "vgg16,base,0,200,150,20,40,18,30\n"
        "vgg16,base,1,1,1,1,1,1,1\n"
        "vgg16,sconv_openblas,0,100,80,not available: no clock,20,9,18\n"
        "vgg16,onnxruntime,0,50,40,1,1,1,1\n";
    static const char *const folders[] = { "host", "host/network", "host/network/vgg16" };
    struct exp_paper_part part = { .setting = setting_of(EXP_PAPER_NETWORKS) };
    struct exp_paper_options options = { .layers = "" };
    const struct exp_paper_view *v = exp_paper_view_find("network");
    struct exp_models models;
    struct exp_paper_set s;
    struct exp_why why;

    for (size_t i = 0; i < 3; i++)
        CU_ASSERT_FATAL(!mkdir(scratch_path(folders[i]), 0700));
    scratch_text("host/network/vgg16/network.csv", text);
    options.results = scratch_path(".");
    CU_ASSERT_FATAL(!exp_models_read(&models, "experiments", "vgg16,resnet18", "", &why));
    test_check(!exp_paper_networks_read(&part, &options, &models, &why), "%s", why.text);
    unlink(scratch_path("host/network/vgg16/network.csv"));
    for (size_t i = 3; i-- > 0;)
        rmdir(scratch_path(folders[i]));
    CU_ASSERT_EQUAL_FATAL(part.n_rows, 2);
    CU_ASSERT(part.row[1].value[EXP_PAPER_WHOLE] == 100 && part.row[1].value[EXP_PAPER_WAITING_CYCLES] == 18);
    CU_ASSERT(isnan(part.row[1].value[EXP_PAPER_WHOLE_ISSUE]));
    CU_ASSERT_STRING_EQUAL(part.reason[EXP_PAPER_WHOLE_ISSUE], "no clock");
    CU_ASSERT(strstr(part.why, "no results of resnet18: make models; ") == part.why);
    exp_paper_set_of(&s, v, &part, EXP_PAPER_ALGO, 2);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_model(&s, EXP_PAPER_OF_MODEL_SPEEDUP, 0, 0), 2, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_paper_of_model(&s, EXP_PAPER_OF_CONV_SHARE, 0, 0), 0.75, 1e-12);
    CU_ASSERT(isnan(exp_paper_of_model(&s, EXP_PAPER_OF_CONV_SHARE, 1, 0)));
    exp_paper_set_release(&s);
    exp_paper_part_release(&part);
    exp_models_release(&models);
}

/* Headings name the kind of a view's numbers: estimates, which are not times, stand before all. */
static void test_headings(void)
{
    for (size_t i = 0; i < EXP_PAPER_N_VIEWS; i++) {
        const struct exp_paper_view *v = &exp_paper_views[i];
        const char *kind = v->time == EXP_PAPER_ISSUE_CYCLES || v->time == EXP_PAPER_WAITING_CYCLES ? "(estimated"
                           : exp_paper_settings[v->setting].kind == EXP_PAPER_TIMED                 ? "(timed"
                           : exp_paper_settings[v->setting].kind == EXP_PAPER_NETWORKS              ? "(timed"
                           : exp_paper_settings[v->setting].kind == EXP_PAPER_RECORDED              ? "(counted"
                           : exp_paper_settings[v->setting].kind == EXP_PAPER_OBSERVED              ? "(observed"
                                                                                                    : "(simulated";

        test_check(strstr(v->heading, kind) != NULL, "%s: '%s' lacks %s", v->id, v->heading, kind);
    }
}

static void expect_text(void (*put)(FILE *out), const char *expected)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    CU_ASSERT_FATAL(out != NULL);
    put(out);
    fclose(out);
    test_check(!strcmp(text, expected), "'%s', not '%s'", text, expected);
    free(text);
}

static void put_units(FILE *out)
{
    static const struct {
        double x;
        const char *unit;
    } ours[] = { { 32768, "bytes" },  { 4194304, "bytes" },   { 1000, "bytes" },    { 2.1, "GHz" },
                 { 67.2, "GFLOP/s" }, { 4.7312, "% faster" }, { -6.9, "% faster" }, { 17.07, "%" },
                 { 1.186, "" },       { (double)NAN, "%" },   { 256, "GFLOP/s" } };

    for (size_t i = 0; i < COUNT(ours); i++) {
        exp_paper_put_unit(ours[i].x, ours[i].unit, out);
        fprintf(out, "; ");
    }
}

static void put_published(FILE *out)
{
    exp_paper_put_published("32 kB", "bytes", out);
    exp_paper_put_published(" 4", "GHz", out);
    exp_paper_put_published(" WS", "%", out);
    exp_paper_put_published(" 1.19", "", out);
}

static void test_units(void)
{
    expect_text(put_units,
                "32 KiB; 4 MiB; 1000 bytes; 2.10 GHz; 67.2 GFLOP/s; 4.7 % faster; 6.9 % slower; 17.1 %; 1.19; "
                "-; 256 GFLOP/s; ");
    expect_text(put_published, "32 kB 4 GHz WS 1.19");
}

/* ---- a source with some of the models ---- */

static const struct exp_paper_result *find_result(const struct exp_paper_findings *f, const char *metric,
                                                  const char *model, const char *id)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct exp_paper_result *r = &f->result[i];

        if (r->view && !strcmp(r->view->id, id) && !strcmp(r->published.metric, metric) &&
            !strcmp(r->published.model, model))
            return r;
    }
    return NULL;
}

/*
 * A Zen 3 counted five models: beside the five models' mean stands the paper's mean of the five, and the page says so.
 */
static void test_same_models(void)
{
    static struct exp_models models;
    static struct exp_paper_part part[EXP_PAPER_N_SETTINGS];
    static struct exp_paper_findings f;
    static const double same[] = { 1.18, 1.26, 1.13, 1.12, 1.27 };
    const struct exp_paper_view *zen3 = exp_paper_view_find("zen3");
    const struct exp_paper_result *r;
    struct sim_machine x86, p10;
    char *text = NULL;
    struct exp_why why;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    for (size_t s = 0; s < EXP_PAPER_N_SETTINGS; s++)
        part[s].setting = &exp_paper_settings[s];
    CU_ASSERT_FATAL(out && !exp_models_read(&models, "experiments", "all", "", &why));
    CU_ASSERT_FATAL(!exp_machine_find(&x86, "clx4208", "results", &why) &&
                    !exp_machine_find(&p10, "power10", "results", &why));
    CU_ASSERT_FATAL(!exp_paper_recorded_read(&part[zen3->setting], "results/reference/zen3/counts", &models, &why));
    f = (struct exp_paper_findings){ .models = &models,
                                     .part = part,
                                     .what = "made",
                                     .x86 = &x86,
                                     .p10 = &p10,
                                     .has_whole_models = true,
                                     .has_whole_set = true };
    CU_ASSERT_FATAL(!exp_paper_findings_read(&f, "experiments", &why));
    exp_paper_findings_of(&f);
    CU_ASSERT(exp_paper_set_models(&f.set[zen3 - exp_paper_views]) == 5);
    r = find_result(&f, "conv_speedup", "GeoMean", "zen3");
    CU_ASSERT_FATAL(r != NULL);
    CU_ASSERT_DOUBLE_EQUAL(r->paper, exp_stats_geomean(same, 5), 1e-12);
    CU_ASSERT_STRING_EQUAL(r->says, "ours is of 5 of the 7 models; beside the paper's of the same ones");
    r = find_result(&f, "base_l1_hit_percent_of_loads", "all", "zen3");
    CU_ASSERT(r && r->paper == 83 && !strcmp(r->says, "ours is of 5 of the 7 models"));
    exp_paper_print_tables(&f, EXP_PAPER_TABLE2, out);
    exp_paper_answer_print(&f, out);
    fclose(out);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "| geometric mean of 5 | 1.19 | 0.96 |"));
    CU_ASSERT_PTR_NULL(strstr(text, "| geometric mean of 7 |"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text,
                                  "of ours, Zen 3 (counted) has 0.96 over 5 of 7 models. In the paper, Base has 1.9, "
                                  "5.9 and 9.9 times the misses of SConv in L1, L2 and L3."));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "Zen 3 (counted) 0.96 (5 of the 7 models); the paper's Xeon, seven models, 1.19."));
    free(text);
    exp_paper_findings_release(&f);
    exp_paper_part_release(&part[zen3->setting]);
    exp_models_release(&models);
}

/* README.md says of Figure 11 what the committed page has. */
static void test_readme(void)
{
    static const char *const column[] = { "base_l1_miss_percent", "l1_miss_percent", "l2_miss_ratio", "l3_miss_ratio" };
    struct exp_table t;
    size_t at[4], source, model, algo, bytes;
    double x[4] = { 0 };
    char *readme, said[4][16];
    struct exp_why why;

    CU_ASSERT_FATAL(!exp_table_read(&t, "results/reference/clx4208/paper/models.csv", &why));
    CU_ASSERT_FATAL(!exp_text_read(&readme, &bytes, "README.md", &why));
    CU_ASSERT_FATAL(!exp_table_column(&t, "view", &source, &why) && !exp_table_column(&t, "model", &model, &why) &&
                    !exp_table_column(&t, "algo", &algo, &why));
    for (size_t i = 0; i < 4; i++)
        CU_ASSERT_FATAL(!exp_table_column(&t, column[i], &at[i], &why));
    for (size_t r = 0; r < t.n_rows; r++) {
        bool is_it = !strcmp(exp_table_string(&t, r, source), "clx4208_cold") &&
                     !strcmp(exp_table_string(&t, r, model), "Geo Mean") &&
                     !strcmp(exp_table_string(&t, r, algo), EXP_PAPER_ALGO);

        for (size_t i = 0; i < 4 && is_it; i++)
            CU_ASSERT_FATAL(!exp_table_double(&t, r, at[i], &x[i], &why));
    }
    for (size_t i = 0; i < 4; i++) {
        snprintf(said[i], sizeof said[i], i < 2 ? "%.1f" : "%.2f", x[i]);
        test_check(strstr(readme, said[i]) != NULL, "README.md does not say %s, %s", said[i], column[i]);
    }
    free(readme);
    exp_table_release(&t);
}

static const struct test_case cases[] = {
    { "formulas", test_formulas },
    { "published values as numbers", test_numbers },
    { "verdicts", test_verdicts },
    { "numbers of models", test_models },
    { "numbers of layers", test_layers },
    { "every published number has a line, every line a number", test_every_number },
    { "counts of layers agree by their ratio", test_counts_of_layers },
    { "lines name views and one formula", test_views },
    { "the other papers", test_other_papers },
    { "recorded counts and observations", test_recorded },
    { "whole networks are read from their results", test_networks },
    { "headings say what kind of number it is", test_headings },
    { "numbers have units", test_units },
    { "beside some models stand the paper's same ones", test_same_models },
    { "README.md says what the committed page has", test_readme },
    { NULL, NULL },
};

const struct test_suite suite_paper = { "paper", cases };
