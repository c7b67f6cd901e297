/* The study of the cost models: the fit, the statistics. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/host/ctr_emulated.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/model/model.h"
#include "experiments/choices/study/study.h"
#include "kernels/csa/csa2.h"
#include "tests/experiments/fake_ruler.h"
#include "tests/experiments/toy.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* A fit finds the costs of the samples, though one of forty samples is wrong by far; no cost is negative. */
static void test_fit(void)
{
    static const double cost[] = { 2, 0, 7 };
    struct exp_study_sample sample[40] = { 0 };
    double found[3];

    for (size_t i = 0; i < 40; i++) {
        for (size_t k = 0; k < 3; k++)
            sample[i].amount[k] = (double)(rng_below(1000) + 1);
        sample[i].cycles = exp_costs_sum(3, sample[i].amount, cost);
        sample[i].weight = 1;
    }
    sample[7].cycles *= 5;
    exp_study_fit(sample, 40, 3, found);
    CU_ASSERT_DOUBLE_EQUAL(found[0], 2, 0.05);
    CU_ASSERT_DOUBLE_EQUAL(found[1], 0, 0.05);
    CU_ASSERT_DOUBLE_EQUAL(found[2], 7, 0.05);
    for (size_t i = 0; i < 40; i++)
        sample[i].cycles = sample[i].amount[0] * 100 / (1 + sample[i].amount[1] / 100);
    exp_study_fit(sample, 40, 2, found);
    CU_ASSERT(found[0] >= 0 && found[1] >= 0);
}

static struct exp_study_tally held_out(struct exp_study_source *s, enum csa2_state state, double tie)
{
    s->model.tie_share[state] = tie;
    return exp_study_tally_of(s, EXP_STUDY_BY_CSA2, state, EXP_STUDY_HELD_OUT);
}

/*
 * The committed ties follow from the training layers of the recordings. On the held-out layers the ties cost no more
 * time than a common tie for all (5 %, as before) by a twentieth of a percent, and on a Zen 3 with warm caches a fifth
 * of the common tie's time.
 */
static void test_ties(void)
{
    static struct exp_models models;
    struct exp_why why = { "" };

    CU_ASSERT_FATAL(!exp_models_read(&models, "experiments", "all", "", &why));
    for (size_t k = 0; exp_study_recorded(k); k++) {
        struct exp_study_source s = { 0 };

        CU_ASSERT_FATAL(!exp_study_source_read(&s, exp_study_recorded(k), &models, &why));
        for (unsigned i = 0; i < CSA2_N_STATES; i++) {
            double own = s.model.tie_share[i];
            struct exp_study_tally a = held_out(&s, (enum csa2_state)i, 0.05),
                                   b = held_out(&s, (enum csa2_state)i, own);
            bool gains = !strcmp(s.name, "zen3") && i == CSA2_WARM;

            test_check(fabs(exp_study_tie_of(&s, (enum csa2_state)i) - own) < 1e-9, "%s, state %u: tie %g, fitted %g",
                       s.name, i, own, exp_study_tie_of(&s, (enum csa2_state)i));
            test_check(b.regret_percent < a.regret_percent * (gains ? 0.2 : 1) + 0.05,
                       "%s, state %u: regret %g %%, with one tie %g %%", s.name, i, b.regret_percent, a.regret_percent);
        }
        exp_study_source_release(&s);
    }
    exp_models_release(&models);
}

/* The committed costs follow from the committed times; and about half of the shapes are for training. */
static void test_costs(void)
{
    static struct exp_models models;
    struct exp_why why = { "" };

    CU_ASSERT_FATAL(!exp_models_read(&models, "experiments", "all", "", &why));
    for (size_t k = 0; exp_study_recorded(k); k++) {
        struct exp_study_source s = { 0 };
        size_t n_training = 0;

        test_check(!exp_study_source_read(&s, exp_study_recorded(k), &models, &why), "%s", why.text);
        test_check(s.model.is_fitted && s.times.n > 100, "%s: no costs, or no times", s.name);
        for (size_t i = 0; i < CSA2_N_TERMS; i++)
            test_check(fabs(s.fitted[i] - s.model.cycles_of[i]) <= 0.006 * s.fitted[i], "%s: %s costs %g, fitted %g",
                       s.name, csa2_term_at(i)->name, s.model.cycles_of[i], s.fitted[i]);
        for (size_t i = 0; i < s.times.n; i++)
            n_training += s.times.point[i].is_training;
        test_check(n_training * 5 > s.times.n && n_training * 5 < 4 * s.times.n,
                   "%s: %zu of %zu points are for training", s.name, n_training, s.times.n);
        exp_study_source_release(&s);
    }
    exp_models_release(&models);
}

/* Wrong rows of recorded times are refused, with file, line and reason. */
static void test_bad_times(void)
{
    static const char head[] = "model,caches,layer_index,layer,algo,ukr,n_c,k2,k3,fastest_ns,median_ns,cycles\n";
    static const struct {
        const char *row, *word;
    } bad[] = {
        { "vgg16,cold,1,conv1_1,sconf,f32_16x6__avx2,3,1,1,5,,\n", "algo" },
        { "vgg16,tepid,1,conv1_1,base,,,,,5,,\n", "caches" },
        { "vgg16,cold,1,conv1_1,base,,,,,0,,\n", "fastest_ns" },
        { "vgg16,cold,1,conv1_1,sconv_is,f32_16x6__avx2,,1,1,5,,\n", "n_c" },
    };
    static struct exp_models models;
    char path[] = "/tmp/study-times-XXXXXX";
    struct exp_why why = { "" };
    int fd = mkstemp(path);

    CU_ASSERT_FATAL(fd >= 0 && !exp_models_read(&models, "experiments", "vgg16", "", &why));
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct exp_study_times t;
        FILE *out = fopen(path, "w");

        CU_ASSERT_FATAL(out != NULL);
        fprintf(out, "%s%s", head, bad[i].row);
        fclose(out);
        CU_ASSERT(exp_study_times_read(&t, path, &models, 1, &why) == -EINVAL);
        test_check(strstr(why.text, bad[i].word) && strstr(why.text, ":2:") && strstr(why.text, path), "%s", why.text);
        CU_ASSERT(!t.point && !t.n);
    }
    exp_models_release(&models);
    close(fd);
    unlink(path);
}

/* The costs of gnr in the machine's file are the costs of a recorded run on a gnr, in nanoseconds there. */
static void test_timed_costs(void)
{
    const struct exp_study_cost *row;
    struct rec_rows t;
    struct sim_machine machine;
    struct csa2_machine m;
    size_t n = 0;
    struct exp_why why = { "" };

    CU_ASSERT_FATAL(!exp_machine_find(&machine, "gnr", "results", &why));
    CU_ASSERT_FATAL(!rec_read(&t, &exp_study_costs_table, "results/reference/gnr/study/costs.csv", &why));
    row = t.row;
    m = csa2_machine_of(&machine);
    CU_ASSERT(m.is_fitted);
    for (size_t i = 0; i < t.n; i++) {
        const double ns = row[i].cycles;

        if (strcmp(row[i].machine, "here") != 0)
            continue;
        CU_ASSERT_FATAL(n < CSA2_N_TERMS);
        test_check(fabs(m.cycles_of[n] - ns * machine.issue.clock_ghz) <= 0.006 * m.cycles_of[n], "%s: %g, %g ns",
                   csa2_term_at(n)->name, m.cycles_of[n], ns);
        n++;
    }
    CU_ASSERT(n == CSA2_N_TERMS);
    rec_release(&t);
}

/* The answer has a row for every timed micro-kernel, not only for the chosen micro-kernel. */
static void test_answer_has_all_tiles(void)
{
    static struct exp_models models;
    static struct exp_study_work w;
    char *text = NULL;
    struct exp_why why = { "" };
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    CU_ASSERT_FATAL(out && !exp_models_read(&models, "experiments", "all", "", &why));
    for (size_t i = 0; i < 2; i++)
        CU_ASSERT_FATAL(!exp_study_source_read(&w.source[i], "spr", &models, &why));
    w.n_sources = 2;
    w.source[1].name = "here 48x8";
    w.source[1].is_other_tile = true;
    exp_study_answer_print(&w, out);
    fclose(out);
    CU_ASSERT(strstr(text, "\n| here 48x8, cold | 86 % (0.8 %)") && strstr(text, "\n| here 48x8, warm | 73 %"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n| here 48x8, cold | 278 | 87 % (0.54 %) | 87 %"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "faster than always weight stationary by more than 0.1 % in 0 of 4"));
    free(text);
    for (size_t i = 0; i < w.n_sources; i++)
        exp_study_source_release(&w.source[i]);
    exp_models_release(&models);
}

struct timing {
    struct exp_study_runs runs;
    struct exp_setup setup;
    struct exp_study_keeping keeping;
    int err;
    struct exp_why why;
};

/* Pins its thread. */
static void *time_runs(void *timing)
{
    struct timing *t = timing;
    struct exp_study_timed timed;

    t->err = exp_study_time_runs(&t->runs, &t->setup, &t->keeping, &timed, &t->why);
    return NULL;
}

/* Disturbed times end the study, and are kept for no later study. */
static void test_disturbed(void)
{
    static const struct exp_study_sampling sampling = { .n = 1, .most_macs = 1e7, .scope = EXP_STUDY_SCHEDULES };
    static struct exp_models models;
    static struct timing t;
    char folder[] = "/tmp/suite_study.XXXXXX", path[64];
    pthread_t thread;

    if (ctr_is_emulated()) {
        test_skip("no ruler under emulation");
        return;
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    t.keeping = (struct exp_study_keeping){ .commit = "abc",
                                            .machine = &t.setup.machine,
                                            .rounds = { 1, 1, 0 },
                                            .ruler_ns = 1,
                                            .new_ruler = fake_ruler_disturbed };
    snprintf(path, sizeof path, "%s/store.sqlite", folder);
    CU_ASSERT_FATAL(!exp_store_open(&t.keeping.store, path, &t.why));
    CU_ASSERT_FATAL(!exp_models_read(&models, "experiments", "tests/data/three.csv", "", &t.why));
    if (toy_setup(&t.setup, "f32_16x24__ref", "Haswell")) {
        exp_study_runs_make(&t.runs, &models, &sampling, &t.setup.machine, t.setup.ukr);
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, time_runs, &t), 0);
        pthread_join(thread, NULL);
        test_check(t.err == -EAGAIN && !strncmp(t.why.text, "not measured: disturbed: 0 of ", 30), "%d: %s", t.err,
                   t.why.text);
    }
    exp_store_withdraw(t.keeping.store); /* removes the file if no task is in it */
    exp_store_close(t.keeping.store);
    test_check(!rmdir(folder), "%s: something was kept", folder);
    exp_study_runs_release(&t.runs);
    exp_setup_release(&t.setup);
    exp_models_release(&models);
}

static const struct test_case cases[] = {
    { "recorded times that are no good are refused", test_bad_times },
    { "a fit finds the costs, and no negative ones", test_fit },
    { "the ties are what the recordings give", test_ties },
    { "the answer has all tiles", test_answer_has_all_tiles },
    { "the committed costs are what the recorded times give", test_costs },
    { "and what was timed on gnr", test_timed_costs },
    { "disturbed times end the study", test_disturbed },
    { NULL, NULL },
};

const struct test_suite suite_study = { "study", cases };
