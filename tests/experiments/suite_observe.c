/*
 * Streams observed under emulation (the places are in observed.h). The observer's parts are tested in
 * suite_observer.c.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/observe/observe.h"
#include "tests/experiments/observed.h"
#include "tests/experiments/toy.h"
#include "tests/kernels/shapes.h"
#include "tests/scratch.h"
#include "tests/suites.h"

static void sconv_streams_equal_their_replay(void)
{
    struct observed_place place[2];
    size_t n = observed_find_places(place);

    if (!n)
        return;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < COUNT(observed_small); k++) {
            observed_check_stream(&place[i], observed_small[k], "sconv_is", k % 2, k > 1);
            observed_check_stream(&place[i], observed_small[k], "sconv_ws", !(k % 2), k < 2);
        }
    }
}

/* More multiply-adds than OpenBLAS gives to its small-matrix kernels; several blocks of the reduction. */
static void base_streams_have_the_replays_totals(void)
{
    static const struct conv_problem problems[] = {
        { IMAGES(1, 64, 16, 16), FILTERS(48, 3, 3), PADDING(1, 1, 1, 1), UNIT_STEPS, .groups = 1 },
        { IMAGES(1, 128, 28, 28), FILTERS(64, 1, 1), UNIT_STEPS, .groups = 1 },
        { IMAGES(1, 64, 24, 24), FILTERS(64, 3, 3), PADDING(1, 1, 1, 1), UNIT_STEPS, .groups = 1 }, /* a half */
    };
    struct observed_place place[2];
    size_t n = observed_find_places(place);
    struct watch_result *r = n ? malloc(sizeof *r) : NULL;

    if (!r)
        return;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < COUNT(problems); k++)
            observed_check_totals(&place[i], problems[k], "base", k == 2, r);
    }
    free(r);
}

/* OpenBLAS has an order of its own inside a step: the sums are compared, not the streams. */
static void openblas_micro_kernels_have_the_replays_totals(void)
{
    struct observed_place place[2];
    size_t n = observed_find_places(place);
    struct watch_result *r = n ? malloc(sizeof *r) : NULL;

    if (!r)
        return;
    for (size_t i = 0; i < n; i++) {
        place[i].ukr = "openblas";
        for (size_t k = 0; k < COUNT(observed_small); k++)
            observed_check_totals(&place[i], observed_small[k], k % 2 ? "sconv_is" : "sconv_ws", false, r);
    }
    free(r);
}

/* A failed run gives a reason of one line, and leaves nothing. */
static void failed_runs_say_why(void)
{
    struct observed_place place[2], wrong;
    struct conv_problem p = { IMAGES(1, 1, 4, 4), FILTERS(1, 1, 1), UNIT_STEPS, .groups = 1 };
    struct exp_emulator emulator;
    struct watch_result *r = malloc(sizeof *r);
    struct observed_layer l;
    struct exp_why why;

    CU_ASSERT_FATAL(r != NULL);
    if (observed_find_places(place)) {
        observed_plan(&l, &place[0], p, "sconv_is", false);
        wrong = place[0];
        wrong.machine = "no/such.cfg";
        CU_ASSERT(observed_run(&l, &wrong, false, r, &why) != 0);
        wrong = place[0];
        wrong.guest = "/no/such/guest";
        CU_ASSERT(observed_run(&l, &wrong, false, r, &why) == -EIO);
        wrong = place[0];
        emulator = *wrong.emulator;
        wrong.emulator = &emulator;
        emulator.program = "qemu-no-such-cpu";
        CU_ASSERT(observed_run(&l, &wrong, false, r, &why) == -ENOENT);
        test_check(strstr(why.text, "qemu-no-such-cpu is missing (package qemu-user)") != NULL, "%s", why.text);
        emulator = *place[0].emulator;
        emulator.cpu = place[0].emulator->isa == CPU_ISA_MMA ? "power9" : "qemu64"; /* no MMA, no AVX2 */
        CU_ASSERT(observed_run(&l, &wrong, false, r, &why) != 0);
        CU_ASSERT(access(scratch_path("r"), F_OK) != 0);
        observed_release(&l);
    }
    free(r);
}

/*
 * Writes the summary of an observation. seen, replayed: misses of three levels among a million loads, observed and
 * replayed.
 */
static void sum_up(const struct toy *t, const uint64_t seen[3], const uint64_t replayed[3], char *text, size_t bytes)
{
    struct watch_result *r = calloc(1, sizeof *r);
    struct sim_stats stats = { .n_levels = 3 };
    struct exp_observation *x = calloc(t->experiment.n_cases, sizeof *x);
    struct exp_observed o = { .experiment = t->experiment, .observation = x, .mode = EXP_OBSERVE_ALL };

    CU_ASSERT_FATAL(r != NULL && x != NULL);
    o.way[EXP_WAY_EMULATED].setup = t->setup;
    r->stats.n_levels = 3;
    r->stats.cell[0][0].loads = stats.cell[0][0].loads = 1000000;
    for (size_t l = 0; l < 3; l++) {
        r->stats.cell[0][0].level[l].load_misses = seen[l];
        stats.cell[0][0].level[l].load_misses = replayed[l];
    }
    for (size_t i = 0; i < t->experiment.n_cases; i++)
        x[i] = (struct exp_observation){ .why = "not asked for", .same_as = i };
    x[0] = (struct exp_observation){ .share = 1, .seen = r, .replayed = &stats };
    exp_observe_sum_up(&o, text, bytes);
    free(x);
    free(r);
}

/* Misses below 0.1 % of all loads are few: their difference is no error of the replay. */
static void few_misses_are_not_compared(void)
{
    static const uint64_t seen[] = { 200000, 30, 900 }, replayed[] = { 160000, 17, 1100 };
    static const uint64_t none[] = { 200000, 0, 0 };
    struct toy t;
    char text[768];

    if (!toy_open(&t, false))
        return;
    sum_up(&t, seen, replayed, text, sizeof text);
    test_check(strstr(text, "differ from those replayed: in L1 by at most 25.00 %, in L2 both are below 0.1 % of all "
                            "loads, in L3 by at most 18.18 %.") != NULL,
               "%s", text);
    sum_up(&t, none, none, text, sizeof text);
    test_check(strstr(text, "in L1 by at most 0.00 %, in L2 both are below 0.1 %") != NULL, "%s", text);
    toy_close(&t);
}

static const struct test_case cases[] = {
    { "SConv's observed stream equals its replay, access for access", sconv_streams_equal_their_replay },
    { "the baseline's observed stream has its replay's totals", base_streams_have_the_replays_totals },
    { "OpenBLAS's micro-kernels in SConv have their replay's totals", openblas_micro_kernels_have_the_replays_totals },
    { "runs that fail say why", failed_runs_say_why },
    { "few misses are not compared", few_misses_are_not_compared },
    { NULL, NULL },
};

const struct test_suite suite_observe = { "observe", cases };
