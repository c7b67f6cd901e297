/* The progress line: the texts for a log and for a terminal, and the estimate. */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/tasks.h"
#include "experiments/base/progress.h"
#include "tests/suites.h"

static const uint64_t second_ns = 1000000000;

static uint64_t fake_ns;

static uint64_t fake_now(void)
{
    return fake_ns;
}

/* Reads the printed text back; the caller frees the text. */
static char *read_back(FILE *out)
{
    char *text = calloc(1, 4096);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    rewind(out);
    CU_ASSERT(fread(text, 1, 4095, out) < 4095);
    fclose(out);
    return text;
}

/* First results stand in the line of a terminal in place of object and step, and nowhere else. */
static void test_first_results(void)
{
    static const double seconds[EXP_N_WORKS] = { [EXP_WORK_REPLAY] = 40 };

    for (int is_terminal = 0; is_terminal < 2; is_terminal++) {
        FILE *out = tmpfile();
        struct exp_progress *p;
        char *text;

        CU_ASSERT_PTR_NOT_NULL_FATAL(out);
        fake_ns = 7;
        p = exp_progress_new(out, is_terminal, seconds, fake_now);
        exp_progress_begin(p, EXP_WORK_REPLAY, "conv1_1", "replaying");
        fake_ns += 10 * second_ns;
        exp_progress_so_far(p, "half of base's cycles");
        exp_progress_so_far(p, "");
        exp_progress_so_far(NULL, "nothing");
        exp_progress_free(p);
        text = read_back(out);
        CU_ASSERT_EQUAL(strstr(text, "] half of base's cycles  10 s") != NULL, is_terminal);
        CU_ASSERT_EQUAL(strstr(text, "half") != NULL, is_terminal);
        free(text);
    }
}

static void test_progress_plain(void)
{
    static const double seconds[EXP_N_WORKS] = { [EXP_WORK_VERIFY] = 30, [EXP_WORK_REPLAY] = 70 };
    FILE *out = tmpfile();
    struct exp_progress *p;
    char *text;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fake_ns = 7;
    p = exp_progress_new(out, false, seconds, fake_now);
    exp_progress_step(p, EXP_WORK_VERIFY, 0); /* nothing has begun */
    exp_progress_begin(p, EXP_WORK_VERIFY, "conv1_1", "verifying");
    fake_ns += 19 * second_ns;
    exp_progress_step(p, EXP_WORK_VERIFY, 20);
    exp_progress_begin(p, EXP_WORK_VERIFY, "conv1_2", "verifying"); /* not twenty seconds yet */
    fake_ns += second_ns;
    exp_progress_step(p, EXP_WORK_VERIFY, 0);
    exp_progress_step(p, EXP_WORK_VERIFY, 0);
    fake_ns += 10 * second_ns;
    exp_progress_step(p, EXP_WORK_VERIFY, 10);                      /* as long as announced: the rest will be, too */
    exp_progress_begin(p, EXP_WORK_REPLAY, "conv1_1", "replaying"); /* ten seconds after the last line */
    exp_progress_note(p, "note %d", 1);
    fake_ns += 39 * second_ns;
    exp_progress_step(p, EXP_WORK_REPLAY, 39); /* lines are rarer now */
    fake_ns += 21 * second_ns;
    exp_progress_step(p, EXP_WORK_REPLAY, 21);
    fake_ns += 500 * second_ns;
    exp_progress_step(p, EXP_WORK_REPLAY, 9.99); /* nearly done: no line */
    exp_progress_free(p);
    text = read_back(out);
    CU_ASSERT_STRING_EQUAL(text, "[  0 %] conv1_1  verifying  0 s elapsed\n"
                                 "[ 20 %] conv1_2  verifying  20 s elapsed, about 1 min 20 s left\n"
                                 "note 1\n"
                                 "[ 90 %] conv1_1  replaying  1 min 30 s elapsed, about 10 s left\n");
    free(text);
}

static void test_progress_terminal(void)
{
    static const double seconds[EXP_N_WORKS] = { [EXP_WORK_ROUNDS] = 10 };
    FILE *out = tmpfile();
    struct exp_progress *p;
    char *text, name[120];

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fake_ns = second_ns;
    p = exp_progress_new(out, true, seconds, fake_now);
    exp_progress_begin(p, EXP_WORK_ROUNDS, "a", "x");
    exp_progress_begin(p, EXP_WORK_ROUNDS, "a", "y"); /* too soon after the line before */
    fake_ns += second_ns;
    exp_progress_step(p, EXP_WORK_ROUNDS, 0.1); /* one hundredth after one second: no estimate yet */
    fake_ns += second_ns;
    exp_progress_step(p, EXP_WORK_ROUNDS, 0.1); /* two seconds: an estimate */
    exp_progress_note(p, "note");
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    fake_ns += second_ns;
    exp_progress_begin(p, EXP_WORK_ROUNDS, name, "z");
    exp_progress_free(p);
    text = read_back(out);
    CU_ASSERT_STRING_EQUAL(text,
                           "\r\033[K[  0 %] a  x  0 s elapsed"
                           "\r\033[K[  0 %] a  y  1 s elapsed"
                           "\r\033[K[  2 %] a  y  2 s elapsed, about 1 min 38 s left"
                           "\r\033[Knote\n\r\033[K[  2 %] a  y  2 s elapsed, about 1 min 38 s left"
                           "\r\033[K[  2 %] nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
                           "\r\033[K");
    free(text);
}

/* Work of more than two minutes names the time of day of the end; the time depends on when the test runs. */
static void test_progress_end(void)
{
    static const double seconds[EXP_N_WORKS] = { [EXP_WORK_ROUNDS] = 1000 };
    FILE *out = tmpfile();
    struct exp_progress *p;
    const char *until;
    char *text;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fake_ns = second_ns;
    p = exp_progress_new(out, false, seconds, fake_now);
    exp_progress_begin(p, EXP_WORK_ROUNDS, "a", "x");
    fake_ns += 20 * second_ns;
    exp_progress_step(p, EXP_WORK_ROUNDS, 20);
    exp_progress_free(p);
    text = read_back(out);
    until = strstr(text, "20 s elapsed, about 16 min 20 s left, until ");
    test_check(until && strspn(strrchr(text, ' ') + 1, "0123456789:") == strlen("23:59"), "'%s'", text);
    free(text);
}

/* The case of VGG-16: verifying goes at the announced pace, replaying takes five times as long. */
static void test_progress_learns(void)
{
    static const double seconds[EXP_N_WORKS] = { [EXP_WORK_VERIFY] = 10, [EXP_WORK_REPLAY] = 20 };
    FILE *out = tmpfile();
    struct exp_progress *p;
    double before;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fake_ns = 0;
    p = exp_progress_new(out, false, seconds, fake_now);
    CU_ASSERT(exp_progress_left(p) < 0);
    exp_progress_begin(p, EXP_WORK_VERIFY, "a", "verifying");
    fake_ns += 20 * second_ns;
    exp_progress_step(p, EXP_WORK_VERIFY, 10); /* a computer half as fast */
    test_check(fabs(exp_progress_left(p) - 40) < 1e-6, "%g s left, not 40", exp_progress_left(p));
    exp_progress_begin(p, EXP_WORK_REPLAY, "a", "replaying");
    before = exp_progress_left(p);
    for (int i = 0; i < 20; i++) { /* each announced second takes five */
        double left;

        fake_ns += 5 * second_ns;
        exp_progress_step(p, EXP_WORK_REPLAY, 1);
        left = exp_progress_left(p);
        test_check(i < 1 || fabs(left - 5.0 * (19 - i)) < 0.25 * 5 * (19 - i) + 1e-6, "%g s left after %d of 20", left,
                   i + 1);
        test_check(i < 3 || left < before, "from %g to %g s left", before, left);
        before = left;
    }
    CU_ASSERT_EQUAL(exp_progress_left(p), 0);
    exp_progress_free(p);
    fclose(out);
}

static void test_progress_ends_early(void)
{
    static const double seconds[EXP_N_WORKS] = { [EXP_WORK_ROUNDS] = 100, [EXP_WORK_REPLAY] = 10 };
    FILE *out = tmpfile();
    struct exp_progress *p;
    char *text;
    unsigned last = 0, percent, n_lines = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fake_ns = 0;
    p = exp_progress_new(out, false, seconds, fake_now);
    exp_progress_begin(p, EXP_WORK_ROUNDS, "a", "timing");
    exp_progress_limit(p, EXP_WORK_ROUNDS, 1, 50);
    fake_ns += 2 * second_ns;
    exp_progress_step(p, EXP_WORK_ROUNDS, 2);
    CU_ASSERT(fabs(exp_progress_left(p) - (48 + 10)) < 1e-6); /* what is done in any case, then the replay */
    exp_progress_limit(p, EXP_WORK_ROUNDS, 28, 20);
    fake_ns += 8 * second_ns;
    exp_progress_step(p, EXP_WORK_ROUNDS, 8);
    CU_ASSERT(fabs(exp_progress_left(p) - (20 + 10)) < 1e-6); /* the limit, then the replay */
    fake_ns += 10 * second_ns;
    exp_progress_step(p, EXP_WORK_ROUNDS, 10);
    exp_progress_drop(p, EXP_WORK_ROUNDS, 80); /* the ratios stand */
    CU_ASSERT(fabs(exp_progress_left(p) - 10) < 1e-6);
    exp_progress_begin(p, EXP_WORK_REPLAY, "a", "replaying");
    for (int i = 0; i < 10; i++) { /* slower and slower */
        fake_ns += (uint64_t)(1000 * (i + 1)) * second_ns;
        exp_progress_step(p, EXP_WORK_REPLAY, 1);
    }
    exp_progress_free(p);
    text = read_back(out);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        test_check(sscanf(line, "[%u %%]", &percent) == 1 && percent >= last, "after %u %%: %s", last, line);
        last = percent;
        n_lines++;
    }
    CU_ASSERT(n_lines >= 12 && last == 100);
    free(text);
}

static void test_forecast(void)
{
    static const double brief[EXP_N_WORKS] = { 100, 100 }, endless[EXP_N_WORKS] = { 3600, 0, 0, 7200 };
    struct exp_forecast f = { 0 };
    FILE *out = tmpfile();
    char *text;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    exp_forecast_add(&f, "brief", brief);
    exp_forecast_print(&f, out); /* nothing */
    exp_forecast_add(&f, "huge", endless);
    exp_forecast_add(&f, "last", brief);
    exp_forecast_print(&f, out);
    text = read_back(out);
    CU_ASSERT_STRING_EQUAL(text, "This will take about 3 h 6 min, by a first estimate; layer 'huge' alone 3 h 0 min. "
                                 "LAYERS= narrows, Ctrl-C ends it.\n");
    free(text);
}

static int progress_job(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct exp_progress *p = ctx;
    char name[16];

    (void)thread;
    (void)pool;
    snprintf(name, sizeof name, "l%zu", index);
    exp_progress_begin(p, index % 2 ? EXP_WORK_VERIFY : EXP_WORK_REPLAY, name, "step");
    exp_progress_step(p, EXP_WORK_VERIFY, 1.0);
    return 0;
}

static void test_progress_threads(void)
{
    static const double seconds[EXP_N_WORKS] = { 50 };
    FILE *out = tmpfile();
    struct exp_progress *p;
    char *text;

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_FALSE(exp_progress_is_terminal(out));
    fake_ns = 0;
    p = exp_progress_new(out, false, seconds, fake_now);
    exp_progress_live(p);
    CU_ASSERT_EQUAL(exp_pool_run(50, 4, progress_job, p, NULL, NULL), 0);
    CU_ASSERT_EQUAL(exp_progress_left(p), 0);
    exp_progress_free(p);
    text = read_back(out);
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        test_check(*line == '[' && strchr(line, '\n'), "%s", line);
    free(text);
}

static const struct test_case cases[] = {
    { "progress is a plain line every ten seconds in a log", test_progress_plain },
    { "first results stand in the line of a terminal", test_first_results },
    { "progress learns how long each kind of work takes", test_progress_learns },
    { "progress knows limits and work that is dropped, and never falls", test_progress_ends_early },
    { "long work is announced, with its longest layer", test_forecast },
    { "progress rewrites one line on a terminal", test_progress_terminal },
    { "progress says when long work ends", test_progress_end },
    { "progress takes steps from several threads", test_progress_threads },
    { NULL, NULL },
};

const struct test_suite suite_exp_progress = { "exp_progress", cases };
