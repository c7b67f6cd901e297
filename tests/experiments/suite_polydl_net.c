/* PolyDL's neural ranking: the gradient, the training, and the net's file. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/papers/polydl/learn/rank_net.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

enum { N_STATISTICS = 4, N_PAIRS = 600 };

/* Returns the true cost of a variant, which the net has to learn from pairs: the farther a source, the higher. */
static double cost(const double *statistics)
{
    double c = 0;

    for (size_t i = 0; i < N_STATISTICS; i++)
        c += statistics[i] * (double)(1 << (3 * i));
    return c;
}

static void random_pair(struct exp_rank_pair *p)
{
    double a[N_STATISTICS], b[N_STATISTICS];

    for (size_t i = 0; i < N_STATISTICS; i++) {
        a[i] = rng_unit();
        b[i] = rng_unit();
    }
    exp_rank_net_input(p->input, a, b, N_STATISTICS);
    p->winner = cost(b) < cost(a);
}

static void test_input(void)
{
    const double a[2] = { 1, 2 }, b[2] = { 5, 0 }, nothing[2] = { 0, 0 };
    double input[4];

    exp_rank_net_input(input, a, b, 2);
    CU_ASSERT_DOUBLE_EQUAL(input[0], 1. / 8, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(input[1], 2. / 8, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(input[2], 5. / 8, 1e-15);
    exp_rank_net_input(input, nothing, nothing, 2);
    CU_ASSERT_EQUAL(input[3], 0);
}

/* Each weight of every layer in turn, a little up and down. */
static void test_gradient(void)
{
    enum { N = 5 };
    struct exp_rank_pair pair[N];
    const struct exp_rank_pair *list[N];
    struct exp_rank_net net;
    double *gradient;
    unsigned n_wrong = 0;

    exp_rank_net_new(&net, N_STATISTICS, rng_u64());
    gradient = malloc(net.n_weights * sizeof *gradient);
    CU_ASSERT_PTR_NOT_NULL_FATAL(gradient);
    for (size_t i = 0; i < N; i++) {
        random_pair(&pair[i]);
        list[i] = &pair[i];
    }
    for (size_t i = 0; i < net.n_weights; i++)
        net.weight[i] += 0.1 * (rng_unit() - 0.5);
    CU_ASSERT_DOUBLE_EQUAL(exp_rank_net_gradient(&net, list, N, gradient), exp_rank_net_loss(&net, pair, N), 1e-12);
    for (size_t i = 0; i < net.n_weights; i++) {
        const double kept = net.weight[i], by = 1e-6;
        double up, down;

        net.weight[i] = kept + by;
        up = exp_rank_net_loss(&net, pair, N);
        net.weight[i] = kept - by;
        down = exp_rank_net_loss(&net, pair, N);
        net.weight[i] = kept;
        n_wrong += fabs((up - down) / (2 * by) - gradient[i]) > 1e-6 + 1e-4 * fabs(gradient[i]);
    }
    /* Where a relu's sum is within 1e-6 of 0, the two differ rightly. */
    test_check(n_wrong <= net.n_weights / 1000, "%u of %zu weights change the loss in another way", n_wrong,
               net.n_weights);
    free(gradient);
    exp_rank_net_release(&net);
}

static int note_loss(void *ctx, size_t epoch, double loss)
{
    double *losses = ctx;

    losses[epoch > 0] = loss;
    return 0;
}

static double share_right(const struct exp_rank_net *net)
{
    double output[EXP_RANK_OUTPUTS];
    unsigned n_right = 0;

    for (unsigned i = 0; i < N_PAIRS; i++) {
        struct exp_rank_pair p;

        random_pair(&p);
        exp_rank_net_output(net, p.input, output);
        CU_ASSERT_DOUBLE_EQUAL(output[0] + output[1], 1, 1e-12);
        n_right += output[p.winner] > 0.5;
    }
    return (double)n_right / N_PAIRS;
}

static void test_training(void)
{
    static struct exp_rank_pair pair[N_PAIRS];
    const struct exp_rank_training how = { .n_epochs = 15, .batch = 16, .rate = 2e-3 };
    struct exp_rank_net one, again, other;
    double losses[2] = { 0, 0 };

    for (size_t i = 0; i < N_PAIRS; i++)
        random_pair(&pair[i]);
    exp_rank_net_new(&one, N_STATISTICS, 1);
    exp_rank_net_new(&again, N_STATISTICS, 1);
    exp_rank_net_new(&other, N_STATISTICS, 2);
    CU_ASSERT_TRUE(memcmp(one.weight, other.weight, one.n_weights * sizeof *one.weight) != 0);
    CU_ASSERT_EQUAL(exp_rank_net_train(&one, pair, N_PAIRS, &how, note_loss, losses), 0);
    CU_ASSERT_EQUAL(exp_rank_net_train(&again, pair, N_PAIRS, &how, NULL, NULL), 0);
    CU_ASSERT_EQUAL(exp_rank_net_train(&other, pair, 0, &how, NULL, NULL), -EINVAL);
    CU_ASSERT_EQUAL(memcmp(one.weight, again.weight, one.n_weights * sizeof *one.weight), 0);
    test_check(losses[1] < losses[0] / 2, "the loss went from %g to %g", losses[0], losses[1]);
    test_check(share_right(&one) > 0.9, "%g of the pairs it has not seen are right", share_right(&one));
    test_check(share_right(&other) < 0.8, "%g are right by chance", share_right(&other));
    exp_rank_net_release(&one);
    exp_rank_net_release(&again);
    exp_rank_net_release(&other);
}

/* Makes a net whose answer is the bias of the first output: the winner is always the first. */
static void test_tournament(void)
{
    const double statistics[3 * N_STATISTICS] = { 1, 2, 3, 4, 0, 1, 0, 1, 9, 9, 9, 9 };
    unsigned wins[3];
    struct exp_rank_net net;

    exp_rank_net_new(&net, N_STATISTICS, 1);
    memset(net.weight, 0, net.n_weights * sizeof *net.weight);
    exp_rank_net_tournament(&net, statistics, 3, wins);
    CU_ASSERT_TRUE(!wins[0] && !wins[1] && !wins[2]); /* 0.5 and 0.5: draws */
    net.weight[net.n_weights - 2] = 0.4;
    exp_rank_net_tournament(&net, statistics, 3, wins);
    CU_ASSERT_TRUE(!wins[0] && !wins[1] && !wins[2]); /* 0.599 */
    net.weight[net.n_weights - 2] = 0.41;
    exp_rank_net_tournament(&net, statistics, 3, wins);
    CU_ASSERT_TRUE(wins[0] == 2 && wins[1] == 2 && wins[2] == 2); /* 0.601 */
    exp_rank_net_release(&net);
}

/* Returns the checksum promised by the file's header, FNV-1a of the text before. */
static uint64_t sum_of(const char *text, const char *end)
{
    uint64_t sum = 0xcbf29ce484222325u;

    while (text < end)
        sum = (sum ^ (unsigned char)*text++) * 0x100000001b3u;
    return sum;
}

/* Compares a file's text with its net: the head, each weight to the last bit, and the checksum at the end. */
static void check_text(const char *text, const struct exp_rank_net *net)
{
    const char *at = strstr(text, "\nweights ");
    char head[160], *end;

    snprintf(head, sizeof head, "# what it was trained on\nformat polydl-rank-net 1\nstatistics %d\nlayers",
             N_STATISTICS);
    test_check(!strncmp(text, head, strlen(head)) && strstr(text, "\nseed 1\nweights "), "the head is '%.160s'", text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    CU_ASSERT_EQUAL(strtoull(at + strlen("\nweights "), &end, 10), net->n_weights);
    for (size_t i = 0; i < net->n_weights; i++) {
        const double weight = strtod(at = end, &end);

        CU_ASSERT_FATAL(end > at && *end == '\n');
        CU_ASSERT_EQUAL(memcmp(&weight, &net->weight[i], sizeof weight), 0);
    }
    CU_ASSERT_FATAL(!strncmp(end, "\nsum ", strlen("\nsum ")));
    CU_ASSERT_EQUAL(strtoull(end + strlen("\nsum "), &end, 16), sum_of(text, strstr(text, "\nsum ") + 1));
    CU_ASSERT_STRING_EQUAL(end, "\n");
}

static void test_file(void)
{
    struct exp_rank_net net;
    char *text;
    struct exp_why why;
    const char *path;
    size_t bytes;

    path = scratch_path("net.txt");
    exp_rank_net_new(&net, N_STATISTICS, 1);
    CU_ASSERT_EQUAL_FATAL(exp_rank_file_write(&net, path, "what it was trained on", &why), 0);
    CU_ASSERT_EQUAL_FATAL(exp_text_read(&text, &bytes, path, &why), 0);
    check_text(text, &net);
    CU_ASSERT_EQUAL(exp_rank_file_write(&net, "/no/such/folder/net", "", &why), -ENOENT);
    exp_rank_net_release(&net);
    free(text);
}

static const struct test_case cases[] = {
    { "statistics are divided by the sum of both", test_input },
    { "the gradient is what the loss changes by", test_gradient },
    { "equal pairs and seeds train equal nets, which learn", test_training },
    { "a variant wins above the threshold, and else nobody", test_tournament },
    { "a net's file has its weights to the last bit, and their sum", test_file },
    { NULL, NULL },
};

const struct test_suite suite_polydl_net = { "polydl_net", cases };
