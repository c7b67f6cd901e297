/* The steps before an observation: programs are run and ended, and the time for observing is shared out. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/base/program.h"
#include "experiments/observe/observe.h"
#include "kernels/ukr/dispatch.h"
#include "tests/suites.h"

/* ---- started programs ---- */

static bool always(void)
{
    return true;
}

static void programs_are_run_and_killed(void)
{
    const char *const says[] = { "sh", "-c", "echo one >&2; echo ' two' >&2; printf ' ^\n\n' >&2; exit 3", NULL };
    const char *const sleeps[] = { "sleep", "60", NULL };
    const char *const missing[] = { "no-such-program-anywhere", NULL };
    const char *const dies[] = { "sh", "-c", "kill -SEGV $$", NULL };
    char last[64];
    int status = 0;

    CU_ASSERT(exp_process_run(says, 60, NULL, &status, last, sizeof last) == 0);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 3 && !strcmp(last, "two"));
    CU_ASSERT(exp_process_run(dies, 60, NULL, &status, last, sizeof last) == 0);
    CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    CU_ASSERT(exp_process_run(sleeps, 0, NULL, &status, last, sizeof last) == -ETIMEDOUT);
    CU_ASSERT(exp_process_run(sleeps, 60, always, &status, last, sizeof last) == -EINTR);
    CU_ASSERT(exp_process_run(missing, 60, NULL, &status, last, sizeof last) == -ENOENT);
}

static void what_programs_write_is_read(void)
{
    const char *const writes[] = { "sh", "-c", "echo; echo ' a b '; echo c; echo d >&2; exec >&-; echo e >&2", NULL };
    struct exp_process_output output;
    char last[64];
    int status = 0;

    CU_ASSERT(exp_process_ask(writes, 60, NULL, &status, &output, last, sizeof last) == 0);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CU_ASSERT_STRING_EQUAL(output.first, "a b");
    CU_ASSERT_EQUAL(output.n_lines, 2);
    CU_ASSERT_STRING_EQUAL(last, "e");
}

/* A program's children are killed with the program, before they can write. */
static void programs_are_killed_with_what_they_started(void)
{
    const char *const starts[] = { "sh", "-c", "(sleep 20; echo late >&9) & wait", NULL };
    int fd[2], status = 0;
    char last[64], byte;
    pid_t pid;

    CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
    pid = fork();
    if (!pid) {
        dup2(fd[1], 9);
        close(fd[1]);
        _exit(exp_process_run(starts, 1, NULL, &status, last, sizeof last) == -ETIMEDOUT ? 0 : 1);
    }
    close(fd[1]);
    waitpid(pid, &status, 0);
    CU_ASSERT(WIFEXITED(status) && !WEXITSTATUS(status));
    CU_ASSERT_EQUAL(read(fd[0], &byte, 1), 0);
    close(fd[0]);
}

/* ---- whether, and for how long ---- */

static void auto_observes_what_nothing_counts(void)
{
    const struct conv_ukr *avx2 = conv_ukr_find("f32_16x6__avx2"), *mma = conv_ukr_find("f32_16x8__mma");
    const struct conv_ukr *plain = conv_ukr_find("f32_16x24__ref");
    bool is_x86 = avx2->fn != NULL;

    CU_ASSERT(exp_observe_is_wanted(EXP_OBSERVE_AUTO, mma, false));
    CU_ASSERT(exp_observe_is_wanted(EXP_OBSERVE_AUTO, avx2, false) == is_x86);
    CU_ASSERT(exp_observe_is_wanted(EXP_OBSERVE_AUTO, conv_ukr_find("f32_16x24__avx512"), false) == is_x86);
    CU_ASSERT(!exp_observe_is_wanted(EXP_OBSERVE_AUTO, plain, false));
    CU_ASSERT(!exp_observe_is_wanted(EXP_OBSERVE_AUTO, mma, true));
    CU_ASSERT(!exp_observe_is_wanted(EXP_OBSERVE_NONE, mma, false));
    CU_ASSERT(exp_observe_is_wanted(EXP_OBSERVE_SAMPLE, plain, true));
    CU_ASSERT(exp_observe_is_wanted(EXP_OBSERVE_ALL, plain, true));
}

static uint64_t budget_clock_ns;

static uint64_t budget_now(void)
{
    return budget_clock_ns;
}

static void a_budget_learns_what_fits(void)
{
    struct exp_budget b;

    budget_clock_ns = 5000000000;
    exp_budget_init(&b, 60, budget_now);
    CU_ASSERT(exp_budget_allows(&b, 59) && !exp_budget_allows(&b, 61));
    for (int i = 0; i < 20; i++) /* four times as slow as guessed */
        exp_budget_learn(&b, 1, 4);
    CU_ASSERT(exp_budget_allows(&b, 14) && !exp_budget_allows(&b, 17));
    budget_clock_ns += 50000000000;
    CU_ASSERT_DOUBLE_EQUAL(exp_budget_spent(&b), 50, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(exp_budget_left(&b), 10, 1e-6);
    CU_ASSERT(exp_budget_allows(&b, 2) && !exp_budget_allows(&b, 3));
    budget_clock_ns += 50000000000;
    CU_ASSERT(exp_budget_left(&b) == 0 && !exp_budget_allows(&b, 1e-9));
    exp_budget_release(&b);
    exp_budget_init(&b, 0, budget_now);
    CU_ASSERT(exp_budget_allows(&b, 1e9));
    exp_budget_release(&b);
}

/* Equal shares; long jobs get the time that short jobs do not need. */
static void a_quota_shares_what_is_left(void)
{
    struct exp_budget b;

    budget_clock_ns = 0;
    exp_budget_init(&b, 60, budget_now);
    CU_ASSERT_DOUBLE_EQUAL(exp_budget_quota(&b, 10, 1), 0.8 * 6, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(exp_budget_quota(&b, 9, 2), 0.8 * 2 * 60 / 10, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(exp_budget_quota(&b, 1, 2), 0.8 * 60, 1e-6);
    budget_clock_ns += 30000000000;
    for (int i = 0; i < 99; i++) /* ten times as slow as guessed */
        exp_budget_learn(&b, 1, 10);
    CU_ASSERT_DOUBLE_EQUAL(exp_budget_quota(&b, 1, 1), 0.8 * 30 / 10, 0.05);
    budget_clock_ns += 40000000000;
    CU_ASSERT(exp_budget_quota(&b, 1, 1) == 0);
    exp_budget_release(&b);
    exp_budget_init(&b, 0, budget_now);
    CU_ASSERT(exp_budget_quota(&b, 3, 2) > 1e18);
    exp_budget_release(&b);
}

/*
 * A hundred jobs of 0.1 to 99.1 guessed seconds in a minute, on a computer three times as slow as guessed: each job
 * takes as much of its work as its quota allows, and the last job ends in time, with little left.
 */
static void a_budget_is_used_up_and_kept(void)
{
    enum { N = 100 };
    struct exp_budget b;
    double least_share = 1;

    budget_clock_ns = 0;
    exp_budget_init(&b, 60, budget_now);
    for (size_t i = 0; i < N; i++) {
        double work = 0.1 + (double)i, quota = exp_budget_quota(&b, N - i, 1), taken = work < quota ? work : quota;

        CU_ASSERT(exp_budget_allows(&b, taken));
        budget_clock_ns += (uint64_t)(3e9 * taken);
        exp_budget_learn(&b, taken, 3 * taken);
        least_share = taken / work < least_share ? taken / work : least_share;
    }
    CU_ASSERT(exp_budget_left(&b) > 0 && exp_budget_left(&b) < 25 && least_share > 0);
    exp_budget_release(&b);
}

static const struct test_case cases[] = {
    { "programs are run, and killed at their limit", programs_are_run_and_killed },
    { "what programs write is read", what_programs_write_is_read },
    { "programs are killed with what they started", programs_are_killed_with_what_they_started },
    { "without counters, what can be observed is", auto_observes_what_nothing_counts },
    { "a budget of time learns what fits", a_budget_learns_what_fits },
    { "a quota is an equal share of what is left", a_quota_shares_what_is_left },
    { "a budget is used up, and kept", a_budget_is_used_up_and_kept },
    { NULL, NULL },
};

const struct test_suite suite_budget = { "budget", cases };
