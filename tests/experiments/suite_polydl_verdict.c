/* The verdict on rankings: whether there is a verdict, the layers that count, and the best variants by the clock. */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/papers/polydl/report.h"
#include "tests/suites.h"

enum { N = 12 };

/* Layers with made-up shares of the best speed. */
struct bench {
    struct conv_problem problem;
    struct exp_polydl_layer layer[N];
    struct exp_polydl polydl;
    struct exp_rank_layer judged[N];
    struct exp_rank rank;
    double weight;
};

static void give(struct bench *b, size_t layer, enum exp_ranking ranking, double share)
{
    b->judged[layer].verdict[EXP_POLYDL_ONE][ranking] =
        (struct exp_rank_verdict){ .n = 3, .share = share, .top_share = share, .seconds = (double)NAN };
}

/*
 * Makes n convolutions, of which the first half trained a net; each ranking has a share, and the clock alternates by
 * some noise.
 */
static struct bench *make(size_t n, double polydl, double haystack, double clock, double noise)
{
    struct bench *b = calloc(1, sizeof *b);

    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    for (size_t i = 0; i < n; i++) {
        b->layer[i] = (struct exp_polydl_layer){ .model = "m", .name = "l", .source.problem = &b->problem };
        b->judged[i] =
            (struct exp_rank_layer){ .is_training = i < n / 2, .best_ns = { 100 }, .worst_ns = { i % 3 ? 200 : 104 } };
        give(b, i, EXP_RANKING_POLYDL, polydl);
        give(b, i, EXP_RANKING_HAYSTACK, haystack);
        give(b, i, EXP_RANKING_DEFAULT, 0.5);
        give(b, i, EXP_RANKING_CLOCK, clock + (i % 2 ? noise : -noise));
    }
    b->polydl = (struct exp_polydl){ .layer = b->layer, .n_layers = n };
    b->rank = (struct exp_rank){ .polydl = &b->polydl, .layer = b->judged };
    return b;
}

/* Gives the net shares of seen layers, and of held-out layers. */
static void teach(struct bench *b, double seen, double held_out)
{
    b->rank.learnt[EXP_POLYDL_ONE].net.weight = &b->weight;
    for (size_t i = 0; i < b->polydl.n_layers; i++)
        give(b, i, EXP_RANKING_DNN, b->judged[i].is_training ? seen : held_out);
}

/* Prints by a function. Returns the text, from malloc. */
static char *text_of(const struct bench *b, void (*print)(const struct exp_rank *r, FILE *out))
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    print(&b->rank, out);
    CU_ASSERT_EQUAL_FATAL(fclose(out), 0);
    return text;
}

static void check_says(struct bench *b, const char *wanted, const char *unwanted)
{
    char *text = text_of(b, exp_rank_print_verdict);

    test_check(strstr(text, wanted) && !strstr(text, unwanted), "'%s' or no '%s' is missing in: %s", wanted, unwanted,
               text);
    free(text);
    free(b);
}

static void a_verdict_needs_a_clear_clock(void)
{
    struct bench *b;

    check_says(make(N, 0.96, 0.90, 0.99, 0.005), "Verdict: PolyDL picks best.\n", "No verdict");
    check_says(make(N, 0.96, 0.90, 0.97, 0.04),
               "No verdict: the clock's own repeat is not clearly above it (+1.0 points, standard error 1.2)",
               "Verdict: PolyDL");
    check_says(make(N, 0.99, 0.90, 0.95, 0), "No verdict: the clock's own repeat", "Verdict: PolyDL");
    check_says(make(4, 0.9, 0.8, 1, 0), "wants 5 layers, and 4 have one", "Verdict: PolyDL");
    b = make(N, 0.96, 0.955, 0.99, 0);
    give(b, 0, EXP_RANKING_HAYSTACK, 1);
    check_says(b, "Verdict: PolyDL picks best. Not clearly behind it: HayStack.", "No verdict");
}

/* On layers that trained the net, the net knows the times. */
static void the_net_is_judged_on_held_out_layers(void)
{
    struct bench *b = make(N, 0.96, 0.90, 0.99, 0);
    struct exp_rank_total t;
    char *text;

    teach(b, 1, 0.8);
    CU_ASSERT_EQUAL(exp_rank_fair_part(&b->rank, EXP_POLYDL_ONE), EXP_RANK_HELD_OUT);
    CU_ASSERT_EQUAL(exp_rank_fair_part(&b->rank, EXP_POLYDL_TWO), EXP_RANK_ALL);
    t = exp_rank_total_of(&b->rank, EXP_POLYDL_ONE, EXP_RANKING_DNN, EXP_RANK_ALL, NULL);
    CU_ASSERT_EQUAL(t.n_seen, N / 2);
    text = text_of(b, exp_rank_print);
    test_check(strstr(text, "trained on 6 of these") && strstr(text, "not trained on") &&
                   strstr(text, "not trained on") < strstr(text, "all convolutions"),
               "held-out layers do not come first in: %s", text);
    free(text);
    check_says(b, "convolutions that the net was not trained on, 1 thread: the picks of PolyDL have 96.0 %",
               "DNN picks");
    b = make(N, 0.96, 0.90, 0.99, 0);
    teach(b, 0.8, 0.98);
    check_says(b, "the picks of PolyDL-DNN have 98.0 % of the fastest variant's speed (mean of 6)", "No verdict");
    /* The net has seen a GEMM of the bench, and takes no part. */
    b = make(N, 0.96, 0.90, 0.99, 0);
    teach(b, 1, 1);
    for (size_t i = 0; i < N; i++)
        b->layer[i].source.problem = NULL;
    check_says(b, "matrix multiplications, 1 thread: the picks of PolyDL have 96.0 %", "DNN");
}

/* In a third of the layers the slowest variant has 96 % of the best speed. */
static void layers_where_nothing_fails_are_told_apart(void)
{
    struct bench *b = make(N, 0.96, 0.90, 0.99, 0);
    struct exp_rank_total t;

    for (size_t i = 0; i < N; i += 2)
        give(b, i, EXP_RANKING_POLYDL, 0.7);
    t = exp_rank_total_of(&b->rank, EXP_POLYDL_ONE, EXP_RANKING_POLYDL, EXP_RANK_ALL, NULL);
    CU_ASSERT_EQUAL(t.n_can_fail, N - N / 3);
    CU_ASSERT_DOUBLE_EQUAL(t.near_best_percent, 50, 1e-9);
    give(b, 1, EXP_RANKING_POLYDL, 0.7);
    t = exp_rank_total_of(&b->rank, EXP_POLYDL_ONE, EXP_RANKING_POLYDL, EXP_RANK_ALL, NULL);
    CU_ASSERT_DOUBLE_EQUAL(t.can_fail_percent, 100 * 3. / 8, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(t.near_best_percent, 100 * 5. / 12, 1e-9);
    free(b);
}

static void the_best_is_found_with_its_equals(void)
{
    struct exp_polydl_variant of[] = {
        { .time[0] = { 4, 102, 103, { 102, 103 } } }, /* a half is as fast as the best one's slower half */
        { .time[0] = { 4, 100, 101, { 100, 102.5 } } },
        { .time[0] = { 2, 110, 111, { 110, 111 } } },
        { .time[0] = { 1, 102.5, 102.5, { 102.5, 0 } } }, /* one round, one half */
        { .time[0] = { 0 } },
    };
    struct exp_polydl_layer l = { .of = of, .variants.n = COUNT(of) };
    struct exp_best b = exp_best_of(&l, EXP_POLYDL_ONE);

    CU_ASSERT(b.is_timed);
    CU_ASSERT_EQUAL(b.variant, 1);
    CU_ASSERT_EQUAL(b.n_timed, 4);
    CU_ASSERT_EQUAL(b.n_equals, 2);
    CU_ASSERT(!exp_best_of(&l, EXP_POLYDL_TWO).is_timed);
}

static const struct test_case cases[] = {
    { "there is no verdict unless the clock's own repeat is clearly above", a_verdict_needs_a_clear_clock },
    { "the net is compared on layers that it has not seen", the_net_is_judged_on_held_out_layers },
    { "layers where a pick can fail are counted", layers_where_nothing_fails_are_told_apart },
    { "the best variant is found, with those the clock cannot tell from it", the_best_is_found_with_its_equals },
    { NULL, NULL },
};

const struct test_suite suite_polydl_verdict = { "polydl_verdict", cases };
