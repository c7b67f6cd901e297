/* The verdict of an experiment on hand-made rows, and the summary of an estimate's error. */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/bench/case/estimate.h"
#include "experiments/run/run.h"
#include "tests/suites.h"

static const double unknown = (double)NAN;

static void test_sides(void)
{
    const struct {
        struct exp_ratio ratio;
        int side;
    } cases[] = {
        { { 1.2, 1.1, 1.3, unknown }, 1 },
        { { 0.8, 0.7, 0.9, unknown }, -1 },
        { { 1.2, 0.9, 1.3, unknown }, 0 },
        { { 1, unknown, unknown, unknown }, 0 },
        { { 1.01, unknown, unknown, unknown }, 1 },
        { { 0.99, unknown, unknown, unknown }, -1 },
        { { unknown, unknown, unknown, unknown }, 0 },
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        test_check(exp_ratio_side(&cases[i].ratio) == cases[i].side, "case %zu", i);
}

/*
 * Eleven layers are estimated at 1.0, 1.1, ... 2.0 times the time: the clock leaves one layer open and contradicts two.
 */
static void test_accuracy(void)
{
    struct exp_accuracy_pair pair[13];
    struct exp_accuracy a;

    for (int i = 0; i < 11; i++) {
        double measured = i < 2 ? 0.9 : 1.5, estimated = measured * (1 + 0.1 * ((i + 5) % 11));

        pair[i] = (struct exp_accuracy_pair){ estimated, { measured, measured - 0.05, measured + 0.05, unknown } };
    }
    pair[10].measured.low = 0.5;
    pair[11] = (struct exp_accuracy_pair){ unknown, { 2, 2, 2, 2 } };
    pair[12] = (struct exp_accuracy_pair){ 2, exp_ratio_none() };
    a = exp_accuracy_of(pair, 13);
    CU_ASSERT_EQUAL(a.n, 11);
    CU_ASSERT_DOUBLE_EQUAL(a.p10, 1.1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(a.median, 1.5, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(a.p90, 1.9, 1e-9);
    CU_ASSERT_EQUAL(a.n_sided, 10);
    CU_ASSERT_EQUAL(a.n_right, 8);
    a = exp_accuracy_of(pair, 0);
    CU_ASSERT(a.n == 0 && isnan(a.median));
}

/* ---- sentences ---- */

enum { N_LAYERS = 3, N_VARIANTS = 3 };

/*
 * Base takes 100 ns a layer, 30 for packing, 60 for micro-kernels; 1000, 100, 9 of 10000 loads miss, with caches alone
 * 4000, 300, 20 of 20000; every value is known.
 */
struct rows {
    struct exp_verdict v;
    struct exp_verdict_layer base[N_LAYERS], layer[N_VARIANTS][N_LAYERS];
    struct exp_verdict_variant variant[N_VARIANTS];
};

static struct exp_verdict_layer layer_of(double speedup, double spread)
{
    double time = 100 / speedup;

    return (struct exp_verdict_layer){
        .of = { [M_measured_time_ns] = { time, NULL },
                [M_measured_steps_ns] = { time, NULL },
                [M_measured_lowering_ns] = { 0.3 * time, NULL },
                [M_measured_kernel_ns] = { 0.6 * time, NULL },
                [M_simulated_loads] = { 10000, NULL },
                [M_simulated_alone_loads] = { 20000, NULL },
                [M_simulated_misses_at] = { 1000 / speedup, NULL },
                [M_simulated_misses_at + 1] = { 100, NULL },
                [M_simulated_misses_at + 2] = { 9 / speedup, NULL },
                [M_alone_misses_at] = { 4000 / speedup, NULL },
                [M_alone_misses_at + 1] = { 300, NULL },
                [M_alone_misses_at + 2] = { 20, NULL },
                [M_issue_cycles] = { unknown, NULL },
                [M_waiting_cycles] = { unknown, NULL },
                [M_simulated_cycles] = { unknown, NULL },
                [M_taken_cycles] = { unknown, NULL } },
        .speedup = { speedup, speedup - spread, speedup + spread, unknown },
    };
}

static void fill(struct rows *r)
{
    static const char *const names[N_LAYERS] = { "conv1", "dw3x3", "conv3" };
    static const char *const variants[N_VARIANTS] = { "sconv", "sconv_openblas", "winograd" };
    static const double speedups[N_VARIANTS][N_LAYERS] = { { 1.25, 0.5, 1 }, { 2, 2, 2 }, { 0.8, 0.5, 0.4 } };

    *r = (struct rows){ .v = { .model = "three",
                               .machine = "toy",
                               .where = "on this computer, with plans for toy",
                               .how = "Timed here.",
                               .disturbance = "quiet: steal 0.0 %",
                               .planned_levels = "",
                               .estimates_elsewhere = "",
                               .n_levels = 3,
                               .level = { "L1", "L2", "SLC" },
                               .n_layers = N_LAYERS,
                               .layer = names,
                               .reference = { .name = "base", .label = "im2col + GEMM", .speedup = { 1, 1, 1, 1 } },
                               .n_variants = N_VARIANTS } };
    r->v.reference.layer = r->base;
    r->v.variant = r->variant;
    for (size_t l = 0; l < N_LAYERS; l++) {
        r->base[l] = layer_of(1, 0);
        for (size_t i = 0; i < N_VARIANTS; i++)
            r->layer[i][l] = layer_of(speedups[i][l], 0.01);
    }
    for (size_t i = 0; i < N_VARIANTS; i++)
        r->variant[i] = (struct exp_verdict_variant){ .name = variants[i],
                                                      .label = "Variant",
                                                      .speedup = exp_ratio_none(),
                                                      .part = exp_ratio_none(),
                                                      .layer = r->layer[i] };
    r->variant[0].speedup = (struct exp_ratio){ 0.79, 0.77, 0.81, unknown };
    r->variant[1].speedup = (struct exp_ratio){ 2, 1.9, 2.1, unknown };
    r->variant[2].speedup = (struct exp_ratio){ 0.5, 0.5, 0.5, unknown };
}

/* Returns the verdict as one line, from malloc: line breaks are a matter of width. */
static char *verdict_text(const struct exp_verdict *v, size_t most_rows)
{
    char *text = NULL;
    size_t bytes, n = 0;
    FILE *out = open_memstream(&text, &bytes);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    exp_verdict_print(v, most_rows, out);
    fclose(out);
    for (const char *c = text; *c; c++) {
        bool is_blank = *c == ' ' || *c == '\n';

        if (!is_blank || !n || text[n - 1] != ' ')
            text[n++] = is_blank ? ' ' : *c;
    }
    text[n] = '\0';
    return text;
}

/* Checks that the verdict has all phrases; the list ends with NULL. */
static void says(const struct exp_verdict *v, size_t most_rows, ...)
{
    char *text = verdict_text(v, most_rows);
    const char *phrase;
    va_list phrases;

    va_start(phrases, most_rows);
    while ((phrase = va_arg(phrases, const char *)))
        test_check(strstr(text, phrase) != NULL, "'%s' is not in: %s", phrase, text);
    va_end(phrases);
    free(text);
}

static void says_not(const struct exp_verdict *v, const char *phrase)
{
    char *text = verdict_text(v, 100);

    test_check(!strstr(text, phrase), "'%s' is in: %s", phrase, text);
    free(text);
}

static void test_timed(void)
{
    struct rows r;

    fill(&r);
    says(&r.v, 100,
         "VERDICT for three (3 convolutions): on this computer, with plans for toy: Variant is faster than im2col + "
         "GEMM: "
         "2.00x [1.90, 2.10]; the computer was quiet Timed here. While it was timed, the computer was quiet: steal 0.0 "
         "%.",
         "(sconv) is faster in 1 of 3 layers, slower in 1, open in 1 (the spread holds 1), 0.79x [0.77, 0.81] for the "
         "model: "
         "slower than base",
         "slowest against base: dw3x3 0.50, packing 30 % of it; fastest: conv1 1.25, packing 30 % of it",
         "(sconv_openblas) is faster in 3 of 3 layers, 2.00x", "(winograd) is faster in 0 of 3 layers, slower in 3,",
         "packing 30 %, micro-kernels 60 % (base: im2col and packing 30 %, micro-kernels 60 %); its micro-kernels take "
         "0.50 times as long as base's",
         "misses simulated on toy: L1 5.00 % of its loads, base 10.0 %: 0.50 times as many as base; L2 1.00 % of its "
         "loads, "
         "base 1.00 %: 1.00 times as many as base; SLC almost none in either (0.045 % of its loads, base 0.09 %)",
         "conv1 0.000 sconv 1.25 [1.24, 1.26] faster 30 60 0.80 0.80 1.00 few",
         "dw3x3 0.000 sconv 0.50 [0.49, 0.51] slower 30 60 2.00 2.00 1.00 2.00",
         "few: both miss in less than 0.1 % of their loads", NULL);
    says(&r.v, 8, "Layer by layer: 9 rows, in verdict.txt", NULL);
    says_not(&r.v, "Under emulation");
    says_not(&r.v, "alone");
    r.v.observed = "observed 6 of 13 shapes in 60 s.";
    says(&r.v, 8, "Access by access: observed 6 of 13 shapes in 60 s.", NULL);
    says_not(&r.v, "stimate");
    says_not(&r.v, "nan");
}

static void test_nothing_pays(void)
{
    struct rows r;

    fill(&r);
    r.v.n_variants = 1;
    says(&r.v, 100, "nothing is as fast as im2col + GEMM; the best is Variant: 0.79x", NULL);
    r.variant[0].speedup = (struct exp_ratio){ 1.01, 0.98, 1.03, unknown };
    says(&r.v, 100, "nothing is certainly faster than im2col + GEMM",
         "neither faster nor slower, within the spread, than base", NULL);
}

static void test_missing(void)
{
    struct rows r;

    fill(&r);
    r.variant[1].why_not_timed = "no such kernel";
    r.variant[1].speedup.value = unknown;
    for (size_t l = 0; l < N_LAYERS; l++) {
        r.layer[1][l].speedup = (struct exp_ratio){ unknown, unknown, unknown, unknown };
        r.layer[0][l].of[M_measured_lowering_ns].number = unknown;
        r.layer[0][l].of[M_simulated_misses_at].number = unknown;
        r.layer[0][l].speedup.low = r.layer[0][l].speedup.high = unknown;
    }
    r.variant[0].speedup.low = r.variant[0].speedup.high = unknown;
    r.v.n_variants = 2;
    says(&r.v, 100, "(sconv_openblas) was not timed against base: no such kernel", "0.79x for the model",
         "slowest against base: dw3x3 0.50;", "conv3 0.000 sconv 1.00 open - 60", NULL);
    says_not(&r.v, "nan");
}

static void test_one_layer(void)
{
    struct rows r;

    fill(&r);
    r.v.n_layers = 1;
    says(&r.v, 100, "three (1 convolution):", "is faster in 1 of 1 layer,", NULL);
    says_not(&r.v, "slowest");
}

static void test_nothing_timed(void)
{
    struct rows r;

    fill(&r);
    r.v.why_not_timed = "TIMING=0 was asked for";
    r.v.disturbance = NULL;
    for (size_t i = 0; i < N_VARIANTS; i++) {
        r.variant[i].speedup.value = unknown;
        for (size_t l = 0; l < N_LAYERS; l++)
            r.layer[i][l].speedup.value = r.layer[i][l].of[M_measured_steps_ns].number = unknown;
    }
    says(&r.v, 100, "whether anything is faster than im2col + GEMM was not measured: TIMING=0 was asked for",
         "By simulated misses alone, on toy: the best is Variant, L1 10.0 % of its loads, base 20.0 %: 0.50 times "
         "as many as base. Fewer misses need not be less time.",
         NULL);
    says_not(&r.v, "computer was");
    says_not(&r.v, "is faster in");
    says_not(&r.v, "nan");
    says(&r.v, 100, "dw3x3", NULL);
    r.v.reference.why_not_timed = "not selected";
    for (size_t l = 0; l < N_LAYERS; l++)
        r.base[l].of[M_simulated_misses_at].number = unknown;
    says_not(&r.v, "dw3x3");
    says_not(&r.v, "misses");
}

/* Caches alone, the paper's view, stand before the whole machine: a level may be comparable in a single view. */
static void test_two_views(void)
{
    struct rows r;

    fill(&r);
    r.v.has_two_views = true;
    says(
        &r.v, 100,
        "misses simulated, caches of toy alone: L1 10.0 % of its loads, base 20.0 %: 0.50 times as many as base; L2 "
        "1.50 % "
        "of its loads, base 1.50 %: 1.00 times as many as base; SLC 0.1 % of its loads, base 0.1 %: 1.00 times as "
        "many as base",
        "misses simulated, toy as it is: L1 5.00 % of its loads, base 10.0 %: 0.50 times as many as base; L2 1.00 % of "
        "its loads, base 1.00 %: 1.00 times as many as base; SLC almost none in either (0.045 % of its loads, base "
        "0.09 %)",
        NULL);
    for (size_t l = 0; l < N_LAYERS; l++)
        r.base[l].of[M_simulated_misses_at + 2].number = 200;
    says(&r.v, 100, "SLC 0.045 % of its loads, base 2.00 %: 0.02 times as many as base", NULL);
}

/* A machine of four levels: all levels are shown, with the names of CSA's levels. */
static void test_four_levels(void)
{
    struct rows r;

    fill(&r);
    r.v.n_levels = 4;
    r.v.level[3] = "L4";
    r.v.planned_levels = "CSA plans for three.";
    for (size_t l = 0; l < N_LAYERS; l++) {
        r.base[l].of[M_simulated_misses_at + 3].number = 100;
        for (size_t i = 0; i < N_VARIANTS; i++)
            r.layer[i][l].of[M_simulated_misses_at + 3].number = 60;
    }
    says(&r.v, 100, "base 0.09 %); L4 0.6 % of its loads, base 1.00 %: 0.60 times as many as base", "L1 L2 SLC L4",
         "faster 30 60 0.80 0.80 1.00 few 0.60", "CSA plans for three.", NULL);
}

/* On a terminal, where the last lines are in view, the answer follows the rows. */
static void test_answer_last(void)
{
    struct rows r;
    char *text = NULL;
    const char *answer, *row;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fill(&r);
    exp_verdict_print_last(&r.v, 100, out);
    fclose(out);
    answer = strstr(text, "VERDICT for");
    row = strstr(text, "\ndw3x3 ");
    test_check(answer && row && row < answer, "the answer is not last: %s", text);
    free(text);
}

static void test_disturbed(void)
{
    struct rows r;

    fill(&r);
    r.v.disturbance = "disturbed: steal 0.1 %, 88.7 % of the time waiting for the core";
    says(&r.v, 100, "2.00x [1.90, 2.10]; the computer was disturbed ",
         "the computer was disturbed: steal 0.1 %, 88.7 % of the time waiting for the core.", NULL);
    says_not(&r.v, "busy");
    r.v.busy = "";
    says_not(&r.v, "Timed .");
    r.v.busy = "on a busy computer: 300 of 520 timings were disturbed";
    says(&r.v, 100, "Timed on a busy computer: 300 of 520 timings were disturbed.", NULL);
}

/* Checks the first headline of a screen, and the note on trust. */
static void screen_says(const struct exp_verdict *v, const char *headline, const char *trust)
{
    struct exp_screen s = { NULL };
    const char *said = "";

    exp_verdict_screen(v, &s);
    for (size_t i = 0; i < s.n_lines; i++)
        said = strcmp(s.line[i].label, "trust") ? said : s.line[i].text;
    test_check(s.n_lines && strstr(s.line[0].text, headline), "'%s' is not in: %s", headline, s.line[0].text);
    test_check(strstr(said, trust) != NULL, "'%s' is not in: %s", trust, said);
    exp_screen_release(&s);
}

/* The headline of a busy computer has its interval; with 1 in the interval, nothing is decided. */
static void test_busy_screen(void)
{
    struct rows r;

    fill(&r);
    screen_says(&r.v, "Variant is 2.00 times as fast as im2col + GEMM: ", "the computer was quiet; ");
    r.v.busy = "on a busy computer: 300 of 520 timings were disturbed";
    screen_says(&r.v, "Variant is 2.00 [1.90, 2.10] times as fast as im2col + GEMM: ",
                "on a busy computer: 300 of 520 timings were disturbed; ");
    r.variant[1].speedup = (struct exp_ratio){ 1.5, 0.98, 2.3, unknown };
    screen_says(&r.v, "is 1.50 [0.98, 2.30] times as fast as im2col + GEMM: ", "on a busy computer");
    screen_says(&r.v, "The spread of the times holds 1: the difference is not certain.", "on a busy computer");
}

/* Cycles that estimate a speed-up of 1.5 for every variant and layer. */
static void test_estimates(void)
{
    struct rows r;

    fill(&r);
    for (int q = M_issue_cycles; q <= M_waiting_cycles; q++) {
        for (size_t l = 0; l < N_LAYERS; l++) {
            r.base[l].of[q].number = 150;
            for (size_t i = 0; i < N_VARIANTS; i++)
                r.layer[i][l].of[q].number = 100;
        }
    }
    says(&r.v, 100,
         "withdrawn: 1.50 if all loads wait, but 0.79 measured, on the other side of 1; estimated / measured 1.26, "
         "1.50, 2.70 (p10, median, "
         "p90 "
         "of 3 layers), on the right side of 1 in 1 of 2",
         "estimated 1.50 if all loads wait, measured 2.00;", NULL);
    says_not(&r.v, "no time has confirmed");
    r.v.why_no_check = "another computer was timed";
    r.v.estimates_elsewhere = "Elsewhere it was wrong.";
    says(&r.v, 100, "1.50 if all loads hit the first level, 1.50 if all loads wait; unproven, see below",
         "Estimates come from a model that no time has confirmed on toy: another computer was timed. Elsewhere it was "
         "wrong.",
         NULL);
    says_not(&r.v, "withdrawn");
    says_not(&r.v, "Simulated cycles are not available");
    r.v.why_no_cycles = "toy has no [core]";
    says(&r.v, 100, "Simulated cycles are not available: toy has no [core].", NULL);
    r.v.why_no_cycles = NULL;
    r.v.is_never_timed = true;
    says(&r.v, 100, "were never timed: no such machine has confirmed them.", NULL);
    r.v.is_never_timed = false;
}

/* The clock of a simulated core takes the brackets' place, and names the waits. */
static void test_why(void)
{
    struct rows r;

    fill(&r);
    for (size_t l = 0; l < N_LAYERS; l++) {
        struct value *base = r.base[l].of, *sconv = r.layer[1][l].of;

        base[M_issue_cycles].number = base[M_waiting_cycles].number = sconv[M_issue_cycles].number =
            sconv[M_waiting_cycles].number = 1;
        for (size_t i = 0; i < EXP_N_CLOCK_PARTS; i++)
            base[M_simulated_computing_cycles + i].number = sconv[M_simulated_computing_cycles + i].number = 0;
        base[M_simulated_cycles].number = 200;
        base[M_simulated_around_cycles].number = 50;
        base[M_simulated_around_memory_cycles].number = 20;
        base[M_simulated_computing_cycles + EXP_PART_COMPUTING].number = 150;
        base[M_simulated_computing_cycles + EXP_PART_MEMORY].number = 20;
        base[M_simulated_computing_cycles + EXP_PART_PACKING].number = 30;
        sconv[M_simulated_cycles].number = 100;
        sconv[M_simulated_around_cycles].number = 10;
        sconv[M_simulated_around_memory_cycles].number = 0;
        sconv[M_simulated_computing_cycles + EXP_PART_COMPUTING].number = 60;
        sconv[M_simulated_computing_cycles + EXP_PART_STORES].number = 39.5;
        sconv[M_simulated_computing_cycles + EXP_PART_TLB].number = 0.5;
    }
    r.base[0].of[M_taken_cycles].number = 250; /* simulated: 200 */
    r.base[1].of[M_taken_cycles].number = 200;
    r.layer[1][0].of[M_taken_cycles].number = 100;
    r.layer[1][1].of[M_taken_cycles].number = 220; /* simulated: 100, and faster than base */
    r.base[2].of[M_taken_cycles].number = 250;
    r.layer[1][2].of[M_taken_cycles].number = 120;
    r.v.variant = &r.variant[1];
    r.v.n_variants = 1;
    r.v.picks = "What is picked.";
    r.v.prefetchers = "What was prefetched.";
    says(&r.v, 100,
         "Simulated over measured cycles, 6 layers and algorithms: 0.82 in the median; half of them are off by at most "
         "18.3 %, nine of ten by at most 37.3 %; on the right side of base in 2 of 3 that differ by over 3 %. What is "
         "picked. What was prefetched.",
         "simulated layer", "kernels L1 L2 SLC x conv1", "0.50 0.50 1.00 few 2.00 dw3x3", NULL);
    says_not(&r.v, "all wait");
    says(
        &r.v, 100, "simulated 2.00 by simulated cycles, measured 2.00; simulated / measured ",
        "why sconv_openblas takes 50 % fewer simulated cycles than base: less for computing 45 %, packing instructions "
        "15 %, waiting for memory 10 %; more for waiting for stores 20 %. 25 % of base's cycles are im2col, packing "
        "and clearing, of which it waits for memory 40 %; 10 % of sconv_openblas's. base: computing 75 %, packing "
        "instructions 15 %, waiting for memory 10 %; sconv_openblas: computing 60 %, waiting for stores 40 %",
        NULL);
    says_not(&r.v, "if all loads");
    says_not(&r.v, "TLB");
    r.variant[1].speedup.value = unknown;
    says(&r.v, 100, "By simulated cycles alone, on toy: Variant is 2.00 times as fast as im2col + GEMM. No time has",
         NULL);
    says_not(&r.v, "By simulated misses");
    r.layer[1][0].of[M_simulated_cycles].number = 1000;
    says(&r.v, 100, "on toy: nothing is as fast as im2col + GEMM; the best is Variant, 0.50 times as fast. No", NULL);
    r.layer[1][0].of[M_simulated_cycles].number = 100;
    r.variant[1].speedup.value = 2;
    r.v.why_no_check = "another computer was timed";
    says(&r.v, 100, "2.00 by simulated cycles; unproven", "computing 75 %",
         "No time has confirmed these simulated cycles: another computer was timed.", NULL);
    r.layer[1][0].of[M_simulated_cycles].number = unknown;
    r.variant[1].why_no_cycles = "nobody counted its instructions";
    says(&r.v, 100, "2.00 by simulated cycles, in 2 of 3 layers; unproven",
         "simulated the others have no cycles: nobody counted its instructions", "computing 75 %", NULL);
    for (size_t l = 1; l < 3; l++)
        r.layer[1][l].of[M_simulated_cycles].number = unknown;
    says(&r.v, 100, "simulated not available: nobody counted its instructions", NULL);
    r.base[0].of[M_simulated_cycles].number = unknown;
    says(&r.v, 100, "1.00 if all loads hit the first level", NULL);
    says_not(&r.v, "simulated core");
}

/* ---- lines ---- */

/* Returns the next line of *rest, and cuts the line off; NULL at the end. */
static char *next_line(char **rest)
{
    char *line = *rest, *end = strchr(line, '\n');

    if (!end)
        return NULL;
    *end = '\0';
    *rest = end + 1;
    return line;
}

static int say_words(const void *words, FILE *text)
{
    fprintf(text, "first\n");
    fprintf(text, EXP_LABEL, "label");
    for (int i = 0; i < 60; i++)
        fprintf(text, "%s ", (const char *)words);
    fprintf(text, "\nlast\n");
    return 0;
}

static void test_lines(void)
{
    char *text = NULL, *rest;
    size_t bytes, n_words = 0, n_lines = 0;
    FILE *out = open_memstream(&text, &bytes);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_EQUAL(exp_wrap_print(say_words, "word", out), 0);
    fclose(out);
    rest = text;
    for (char *line = next_line(&rest); line; line = next_line(&rest)) {
        test_check(strlen(line) <= 112, "too long: %s", line);
        for (char *w = strstr(line, "word"); w; w = strstr(w + 1, "word"))
            n_words++;
        if (n_lines++ > 1 && strstr(line, "word"))
            test_check(strspn(line, " ") == 15, "not below its words: %s", line);
    }
    CU_ASSERT(n_words == 60 && n_lines == 2 + 4);
    free(text);
}

/* ---- known errors of estimates ---- */

static char *known_errors(const char *dir)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    exp_known_errors_say(dir, out);
    fclose(out);
    return text;
}

/* The project's own table: a sentence for each machine, with all of the machine's numbers. */
static void test_known_errors(void)
{
    char *text = known_errors("experiments");

    test_check(strstr(text, "On zen3 (timed at commit ") && strstr(text, " On spr (timed at commit "), "%s", text);
    test_check(strstr(text, ", the fastest of 2 rounds): estimated / measured ") != NULL, "%s", text);
    test_check(!strstr(text, "nan") && !strstr(text, "Nothing"), "%s", text);
    free(text);
    text = known_errors("no/such/folder");
    test_check(strstr(text, "Nothing is known of its error: ") != NULL, "%s", text);
    free(text);
}

/* A plug-in that runs only the last layer: fast there, with conversions of images outside the times. */
static void test_some_layers(void)
{
    struct exp_verdict_layer none = { .speedup = exp_ratio_none() };
    struct rows r;

    for (int q = 0; q < N_MEASURES; q++)
        none.of[q].number = unknown;
    fill(&r);
    r.v.n_variants = 2;
    r.layer[1][0] = r.layer[1][1] = none;
    r.base[2].of[M_simulated_misses_at].number = 500; /* misses differ from the layers that the plug-in left out */
    r.variant[1].speedup = exp_ratio_none();
    r.variant[1].part = (struct exp_ratio){ 2, 1.9, 2.1, unknown };
    r.variant[1].why_not_timed = r.variant[1].why_not_simulated = "the filters are not 3x3";
    r.variant[1].why_not_others = "the filters are not 3x3; it crashed in layer 'dw3x3'";
    says(
        &r.v, 100, "is Variant: 0.79x", /* who did all is the best */
        "(sconv_openblas) does 1 of 3 layers, there 2.00x [1.90, 2.10]: faster than base; not the others: the filters "
        "are not 3x3; it crashed in layer 'dw3x3' misses simulated on toy, 1 of 3 layers: L1 5.00 % of its loads, base "
        "5.00 %: 1.00 times",
        "conv3 0.000 sconv", NULL);
    says_not(&r.v, "sconv_openblas) was not timed");
    says_not(&r.v, "not simulated");
    says_not(&r.v, "conversions");
    r.v.why_not_timed = "not asked for"; /* not the plug-in's reason: missing simulations have a reason of their own */
    says(&r.v, 100, "misses the others are not simulated: the filters are not 3x3", NULL);
    r.v.why_not_timed = NULL;
    r.variant[1].convert_ns[0] = 30;
    r.variant[1].convert_ns[1] = 120;
    says(&r.v, 100,
         "conversions images are converted outside of its times: 0.000 ms before, 0.000 ms behind; its times: "
         "0.000 ms; 0.50x with its conversions of images",
         NULL);
    r.variant[1].speedup = r.variant[1].part;
    says(&r.v, 100, "Variant is faster than im2col + GEMM: 2.00x [1.90, 2.10]; 0.50x with its conversions of images",
         NULL);
}

static const struct test_case cases[] = {
    { "a ratio takes a side of 1 only as a whole", test_sides },
    { "an estimate's error: quantiles, and the right side", test_accuracy },
    { "timed variants: the answer, the layers, the reasons", test_timed },
    { "nothing pays, or the spread leaves it open", test_nothing_pays },
    { "what is missing is said, and is no number", test_missing },
    { "one layer is not compared with itself", test_one_layer },
    { "nothing timed: simulated misses speak, and say so", test_nothing_timed },
    { "caches alone and the machine as it is, with rates", test_two_views },
    { "a fourth level is a level", test_four_levels },
    { "the answer comes last on a terminal", test_answer_last },
    { "a disturbed computer stands beside the result", test_disturbed },
    { "the headline of a busy computer has its interval", test_busy_screen },
    { "estimates beside times, withdrawn on the wrong side", test_estimates },
    { "why: what the simulated cycles go to", test_why },
    { "long lines are broken, and stand below their label", test_lines },
    { "what is known of estimates elsewhere, or that nothing is", test_known_errors },
    { "what did some layers is told by these, and with its conversions", test_some_layers },
    { NULL, NULL },
};

const struct test_suite suite_verdict = { "verdict", cases };
