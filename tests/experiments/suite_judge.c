/* Judging CSA's choices: sums and regrets of verdicts made by hand, and an estimate worked out by hand; the paper's claim about schedules. */
#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/choices/judge.h"
#include "experiments/bench/model/model.h"
#include "experiments/bench/replay/replay.h"
#include "kernels/ukr/dispatch.h"
#include "tests/suites.h"

enum { IS, WS }; /* variants, in the order of their list */

/*
 * Makes a layer by hand: costs that are equal by every yardstick, the greater of the two costs for all further
 * variants, and a Base three times as slow as the choice.
 */
static struct exp_judgement verdict(double is, double ws, size_t chosen)
{
    struct exp_judgement v = { .is_pointwise = chosen == WS, .speedup = 3, .issue_speedup = 2 };

    v.clock = (struct exp_choice){ .n = EXP_N_VARIANTS, .chosen = chosen };
    for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++) {
        v.choice[y] = v.clock;
        for (size_t i = 0; i < EXP_N_VARIANTS; i++)
            v.choice[y].cost[i] = value_of(i == IS ? is : i == WS ? ws : fmax(is, ws));
    }
    v.estimate.total_cycles = 10;
    v.base.total_cycles = 30;
    return v;
}

/* Three layers: a right choice, a tie, a choice that costs 20 more than 100. */
static void test_sums(void)
{
    const struct exp_judgement v[] = { verdict(10, 20, IS), verdict(40, 40, WS), verdict(120, 100, IS) };
    struct exp_judge_total t = { 0 };

    CU_ASSERT(exp_choice_is_right(&v[0].choice[EXP_EQ6_CYCLES]) && exp_choice_is_right(&v[1].choice[EXP_EQ6_CYCLES]));
    CU_ASSERT(!exp_choice_is_right(&v[2].choice[EXP_EQ6_CYCLES]));
    for (size_t i = 0; i < 3; i++)
        exp_judge_add(&t, &v[i]);
    for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++) {
        const struct exp_choice_sum *s = &t.sum[y];

        CU_ASSERT(exp_choice_best(&v[2].choice[y]) == WS);
        CU_ASSERT(exp_choice_is_tie(&v[1].choice[y]) && !exp_choice_is_tie(&v[2].choice[y]));
        CU_ASSERT(s->n == 3 && s->n_right == 2 && s->n_tie == 1 && s->n_chosen[IS] == 2);
        CU_ASSERT(s->cost[IS] == 170 && s->cost[WS] == 160 && s->chosen == 170 && s->best == 150);
        CU_ASSERT_DOUBLE_EQUAL(exp_judge_regret_percent(s), 100.0 * 20 / 150, 1e-9);
    }
    CU_ASSERT(t.n_pointwise == 1 && t.n_pointwise_won == 1);
    CU_ASSERT(t.base.total_cycles == 90 && t.chosen.total_cycles == 30 && t.max_speedup == 3 && t.n_won == 3);
}

/* Gives a layer times (the slower time for all further variants), and the speed-up of the choice. */
static void time_layer(struct exp_judgement *v, double is, double ws, struct exp_ratio speedup)
{
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        v->clock.cost[i] = value_if_finite(i == IS ? is : i == WS ? ws : fmax(is, ws), "not timed");
    v->measured = speedup;
}

/* Four layers: pays by 2 with the faster schedule, loses by half with the slower schedule, open, and untimed. */
static void test_clock(void)
{
    struct exp_judgement v[] = { verdict(1, 2, IS), verdict(1, 2, IS), verdict(1, 2, WS), verdict(1, 2, IS) };
    struct exp_judge_clock c;

    time_layer(&v[0], 100, 150, (struct exp_ratio){ 2, 1.9, 2.1, 2 });
    time_layer(&v[1], 200, 50, (struct exp_ratio){ 0.5, 0.4, 0.6, 0.5 });
    time_layer(&v[2], 100, 100, (struct exp_ratio){ 1, 0.9, 1.1, 1 });
    time_layer(&v[3], (double)NAN, (double)NAN, exp_ratio_none());
    exp_judge_clock_of(&c, v, 4);
    CU_ASSERT(c.sum.n == 3 && c.n_pays == 1 && c.n_loses == 1 && c.sum.n_right == 2);
    CU_ASSERT(c.sum.chosen == 400 && c.sum.best == 250);
    CU_ASSERT_DOUBLE_EQUAL(c.speedup.value, (200 + 100 + 100) / 400.0, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(c.estimated_speedup, 3, 1e-9);
    CU_ASSERT(c.accuracy.n == 3 && c.accuracy.n_sided == 2 && c.accuracy.n_right == 1);
    CU_ASSERT_DOUBLE_EQUAL(c.accuracy.median, 3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(c.issue_accuracy.median, 2, 1e-9);
    exp_judge_clock_of(&c, v, 1);
    CU_ASSERT(c.n_pays == 1 && c.n_loses == 0); /* the layer that pays */
    exp_judge_clock_of(&c, v, 0);
    CU_ASSERT(c.sum.n == 0 && isnan(c.speedup.value));
}

/* Every record names a member of the group or a further algorithm, and CSA chooses among the members. */
static void test_variants(void)
{
    unsigned algos = 0, of_one;
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL(exp_variants_select(&algos, &why), 0);
    for (size_t i = 0; i < EXP_N_VARIANTS; i++) {
        const struct exp_variant *x = &exp_variants[i];

        CU_ASSERT_EQUAL_FATAL(exp_algo_select(x->algo, &of_one, &why), 0);
        test_check((algos & of_one) == of_one, "%s is not selected", x->name);
        for (size_t k = 0; k < i; k++)
            test_check(strcmp(x->name, exp_variants[k].name) != 0, "two variants are called %s", x->name);
    }
    CU_ASSERT_EQUAL(exp_algo_select(exp_algo_chosen()->name, &of_one, &why), 0);
    test_check((algos & of_one) == of_one, "CSA could choose what is not judged: %x of %x", algos, of_one);
}

/* The first of equal numbers is chosen; a missing number has a reason; costs must differ by more than a factor. */
static void test_choice(void)
{
    struct exp_choice c = { .n = 2, .by = { { 5, NULL }, { 5, NULL } }, .cost = { { 103, NULL }, { 100, NULL } } };
    struct exp_choice_sum sum = { 0 };

    exp_choose(&c);
    CU_ASSERT(c.chosen == 0 && exp_choice_best(&c) == 1 && !exp_choice_lacks_cost(&c));
    CU_ASSERT(exp_choice_matters(&c, 1.02) && !exp_choice_matters(&c, 1.04));
    exp_choice_add(&sum, &c);
    c.by[1] = value_of(4);
    exp_choose(&c);
    exp_choice_add(&sum, &c);
    CU_ASSERT(sum.n == 2 && sum.n_right == 1 && sum.n_chosen[0] == 1 && sum.n_chosen[1] == 1 && sum.n_tie == 0);
    CU_ASSERT(sum.n_best[0] == 0 && sum.n_best[1] == 2);
    CU_ASSERT_DOUBLE_EQUAL(exp_choice_right_percent(&sum), 50, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(exp_choice_regret_percent(&sum), 1.5, 1e-9);
    c.cost[0] = value_none("not timed");
    exp_choice_add(&sum, &c);
    CU_ASSERT(sum.n == 2 && !exp_choice_lacks_number(&c) && !exp_choice_matters(&c, 1));
    CU_ASSERT_STRING_EQUAL(exp_choice_lacks_cost(&c), "not timed");
    c.by[0] = value_none("not planned");
    CU_ASSERT_STRING_EQUAL(exp_choice_lacks_number(&c), "not planned");
    CU_ASSERT_STRING_EQUAL(exp_choice_lacks_cost(&c), "not planned");
}

static void test_nothing_moves(void)
{
    struct exp_judgement none = verdict(0, 0, IS), wrong = verdict(5, 0, IS);
    struct exp_judge_total t = { 0 };

    exp_judge_add(&t, &none);
    CU_ASSERT(exp_judge_regret_percent(&t.sum[0]) == 0);
    exp_judge_add(&t, &wrong);
    CU_ASSERT(isinf(exp_judge_regret_percent(&t.sum[0])));
}

/*
 * Two cycles per load issued, one per store, three per multiply-add; of the micro-kernel's 10 loads 2 come from memory
 * (100 cycles), of the packing's 6 all hit.
 */
static void test_estimate(void)
{
    struct sim_machine m = { .n_levels = 1, .level = { { .latency_cycles = 4, .line_bytes = 64 } } };
    struct exp_case c = { .algo = exp_algo_base(), .simulated.mac_instructions = 8 };
    struct exp_estimate e;
    struct sim_cell *ukr = &c.simulated.stats.cell[CONV_PACKED_INPUT][CONV_PHASE_UKR];
    struct sim_cell *pack = &c.simulated.stats.cell[CONV_INPUT][CONV_PHASE_PACK];

    m.memory_latency_cycles = 100;
    CU_ASSERT_PTR_NOT_NULL(exp_estimate_why_not(&m));
    m.issue = (struct sim_issue){ .mac_rows = 4, .mac_columns = 4, .mac_instructions_per_cycle = 1 / 3.0 };
    CU_ASSERT_PTR_NOT_NULL(exp_estimate_why_not(&m));
    m.issue.loads_per_cycle = 0.5;
    m.issue.stores_per_cycle = 1;
    CU_ASSERT_PTR_NULL(exp_estimate_why_not(&m));
    ukr->loads = 10;
    ukr->level[0].load_misses = 2;
    pack->loads = 6;
    pack->stores = 13;
    e = exp_estimate(&m, &c);
    CU_ASSERT_DOUBLE_EQUAL(e.issue_cycles, 24 + 13, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(e.memory_cycles, 200, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(e.total_cycles, 237, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(e.packing_cycles, 13, 1e-9);
}

/*
 * POWER10's outer products are 4 x 4. All three layers have 256 windows, so 64 columns of four, whatever the tiles: 30
 * filters are 8 rows of four (a tile of 6 filters takes two, like OpenBLAS's 4 and 2), reduction 147; 48 filters are 12
 * rows, reduction 30; 48 groups of one filter, reduction 9.
 */
static const uint64_t counted[] = { 64 * 8 * 147, 64 * 12 * 30, 64 * 48 * 9 };

static void test_instructions(void)
{
    struct exp_setup setup = { .packs_filters = false };
    struct exp_model model = { 0 };
    struct exp_experiment e = { 0 };
    struct exp_progress *progress = NULL;
    FILE *log = tmpfile();
    unsigned algos;
    struct exp_why why = { "" };
    int err;

    if (access("sim/machines/power10.cfg", R_OK) || !log) {
        test_skip("not started from the top of the repository");
        return;
    }
    err = sim_machine_read(&setup.machine, "sim/machines/power10.cfg", why.text, sizeof why.text);
    err = err ? err : exp_setup_init(&setup, "", "", &why);
    err = err ? err : exp_model_find(&model, "experiments", "tests/data/three.csv", &why);
    err = err ? err : exp_algo_select("", &algos, &why);
    err = err ? err : exp_experiment_plan(&e, &setup, &model, algos, &why);
    progress = exp_progress_new(log, false, NULL, ctr_now_ns);
    err = err ? err : exp_replay_all(&e, EXP_COLD, 1, progress, &why);
    test_check(!err, "%s", why.text);
    for (size_t i = 0; i < e.n_cases && !err; i++) {
        uint64_t n = e.cases[i].simulated.mac_instructions, want = counted[e.cases[i].layer->index - 1];

        test_check(n == want, "%s %s: %" PRIu64 " instructions, not %" PRIu64, e.cases[i].layer->name,
                   e.cases[i].algo->name, n, want);
    }
    exp_progress_free(progress);
    exp_experiment_release(&e);
    exp_model_release(&model);
    exp_setup_release(&setup);
    fclose(log);
}

/* ---- the paper's choices ---- */

struct claim {
    const char *machine;
    enum csa_schedule schedule;
};

/* Counts over all layers how often CSA picks the claimed schedule. */
static void count_choices(const struct claim *claim, size_t *n_layers, size_t *n_agree)
{
    static const char *const models[] = { "googlenet", "inceptionv2", "resnet18", "resnet50",
                                          "resnet152", "squeezenet",  "vgg16" };
    struct sim_machine m;
    char path[128];
    struct exp_why why;

    snprintf(path, sizeof path, "sim/machines/%s.cfg", claim->machine);
    CU_ASSERT_FATAL(sim_machine_read(&m, path, why.text, sizeof why.text) == 0);
    for (size_t i = 0; i < COUNT(models); i++) {
        struct csa_caches caches = csa_caches_of(&m, csa_default_share);
        const struct conv_ukr *u = conv_ukr_find(m.ukr);
        struct exp_model model;

        CU_ASSERT_FATAL(u != NULL);
        CU_ASSERT_FATAL(exp_model_find(&model, "experiments", models[i], &why) == 0);
        for (size_t l = 0; l < model.n_layers; l++) {
            struct csa_tiling t[CSA_N_SCHEDULES];

            for (int s = 0; s < CSA_N_SCHEDULES; s++)
                t[s] = csa_analyse(&model.layer[l].problem, &caches, u->n_win, u->n_f, (enum csa_schedule)s);
            *n_agree += csa_choose(t) == claim->schedule;
            ++*n_layers;
        }
        exp_model_release(&model);
    }
}

static void the_papers_schedules_are_chosen(void)
{
    static const struct claim claims[] = { { "clx4208", CSA_WS }, { "power10", CSA_IS } };

    for (size_t i = 0; i < 2; i++) {
        size_t n_layers = 0, n_agree = 0;

        count_choices(&claims[i], &n_layers, &n_agree);
        test_check(n_layers == 393 && n_agree == 393, "%s: %s for %zu of %zu layers", claims[i].machine,
                   csa_schedule_name(claims[i].schedule), n_agree, n_layers);
    }
}

static const struct test_case cases[] = {
    { "choices: the least number, reasons, and what matters", test_choice },
    { "verdicts add up, and regret is what the choices cost", test_sums },
    { "times beside estimates: who pays, who is right, how far off", test_clock },
    { "all that CSA chooses from is compared, under names of its own", test_variants },
    { "a regret over nothing is infinite", test_nothing_moves },
    { "an estimate is the slowest issue of each phase plus what loads wait", test_estimate },
    { "a replay counts the machine's multiply-add instructions", test_instructions },
    { "x86's micro-kernel selects WS and POWER10's IS for all 393 layers", the_papers_schedules_are_chosen },
    { NULL, NULL },
};

const struct test_suite suite_judge = { "judge", cases };
