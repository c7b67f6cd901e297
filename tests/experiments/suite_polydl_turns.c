/* Which contenders have more rounds, and how many, by a clock that tests set. */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/papers/polydl/time/time.h"
#include "tests/suites.h"

enum { N = 4, MOST = 60, FIRST = 2 };

static uint64_t clock_ns; /* set by contenders alone */

static uint64_t now(void)
{
    return clock_ns;
}

/* A contender with a time of ns per round, and noise_ns more in the first n_noisy rounds. */
struct contender {
    uint64_t ns, noise_ns;
    size_t n_noisy, n_runs;
};

static int run(void *ctx)
{
    struct contender *c = ctx;

    clock_ns += c->ns + (c->n_runs < c->n_noisy ? c->noise_ns : 0);
    c->n_runs++;
    return 0;
}

static int run_all(struct contender of[N], size_t n_ranked, uint64_t refine_ns, uint64_t sample[N * MOST],
                   size_t n_rounds[N])
{
    const struct exp_turns t = {
        .protocol = { .rounds = { FIRST, FIRST, 0 }, .now_ns = now, .wall_ns = now },
        .n_ranked = n_ranked,
        .most = MOST,
        .refine_ns = refine_ns,
    };
    struct exp_contender contender[N];

    for (size_t i = 0; i < N; i++)
        contender[i] = (struct exp_contender){ "", run, NULL, &of[i] };
    return exp_turns_run(&t, contender, N, sample, n_rounds);
}

/*
 * Contenders within a tenth of the fastest run on until the clock repeats itself; slow and unranked contenders do not.
 */
static void leaders_run_on(void)
{
    struct contender of[N] = { { 1000, 0, 0, 0 }, { 1005, 0, 0, 0 }, { 1200, 0, 0, 0 }, { 1000, 0, 0, 0 } };
    uint64_t sample[N * MOST];
    size_t n_rounds[N];

    CU_ASSERT_EQUAL_FATAL(run_all(of, 3, UINT64_MAX, sample, n_rounds), 0);
    test_check(n_rounds[0] == EXP_TURNS_LEAST && n_rounds[1] == EXP_TURNS_LEAST, "leaders have %zu and %zu rounds",
               n_rounds[0], n_rounds[1]);
    test_check(n_rounds[2] == FIRST && n_rounds[3] == FIRST, "the others have %zu and %zu rounds", n_rounds[2],
               n_rounds[3]);
    for (size_t i = 0; i < N; i++) {
        CU_ASSERT_EQUAL(of[i].n_runs, n_rounds[i]);
        for (size_t k = 0; k < n_rounds[i]; k++)
            CU_ASSERT_EQUAL(sample[i * MOST + k], of[i].ns);
    }
}

/* Times that never agree end with the budget, or with the greatest number of rounds. */
static void budgets_end_it(void)
{
    struct contender of[N] = { { 1000, 0, 0, 0 }, { 1001, 0, 0, 0 }, { 1002, 0, 0, 0 }, { 1003, 0, 0, 0 } };
    uint64_t sample[N * MOST];
    size_t n_rounds[N];

    CU_ASSERT_EQUAL_FATAL(run_all(of, N, 0, sample, n_rounds), 0);
    CU_ASSERT_EQUAL(n_rounds[0], FIRST);
    CU_ASSERT_EQUAL_FATAL(run_all(of, N, 1, sample, n_rounds), 0);
    CU_ASSERT_EQUAL(n_rounds[0], FIRST + 2);
    CU_ASSERT_EQUAL_FATAL(run_all(of, N, 9000, sample, n_rounds), 0);
    CU_ASSERT_EQUAL(n_rounds[0], FIRST + 4);
}

/*
 * Two contenders, disturbed in turns in the first n_noisy rounds: the first in even rounds, the second in odd rounds.
 */
static int run_in_turns(void *ctx)
{
    struct contender *c = ctx;
    const bool is_disturbed = c->n_runs < c->n_noisy && c->n_runs % 2 == c->noise_ns;

    clock_ns += c->ns + (is_disturbed ? 50 : 0);
    c->n_runs++;
    return 0;
}

static void check_disturbed(size_t n_disturbed, size_t n_wanted)
{
    struct contender of[2] = { { 1000, 0, n_disturbed, 0 }, { 1020, 1, n_disturbed, 0 } };
    const struct exp_contender contender[2] = { { "", run_in_turns, NULL, &of[0] },
                                                { "", run_in_turns, NULL, &of[1] } };
    const struct exp_turns t = {
        .protocol = { .rounds = { FIRST, FIRST, 0 }, .now_ns = now, .wall_ns = now },
        .n_ranked = 2,
        .most = MOST,
        .refine_ns = UINT64_MAX,
    };
    uint64_t sample[2 * MOST];
    size_t n_rounds[2];

    CU_ASSERT_EQUAL_FATAL(exp_turns_run(&t, contender, 2, sample, n_rounds), 0);
    test_check(n_rounds[0] == n_wanted && n_rounds[1] == n_wanted, "disturbed for %zu: %zu and %zu rounds", n_disturbed,
               n_rounds[0], n_rounds[1]);
}

/* As long as the halves disagree, there are more rounds: until the first undisturbed rounds. */
static void noise_is_waited_for(void)
{
    check_disturbed(0, EXP_TURNS_LEAST);
    check_disturbed(20, 22);
    check_disturbed(SIZE_MAX, MOST);
}

static const struct test_case cases[] = {
    { "leaders run on until the clock repeats itself", leaders_run_on },
    { "rounds that were disturbed are waited for", noise_is_waited_for },
    { "a budget ends it", budgets_end_it },
    { NULL, NULL },
};

const struct test_suite suite_polydl_turns = { "polydl_turns", cases };
