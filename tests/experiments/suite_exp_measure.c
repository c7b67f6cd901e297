/*
 * Measured columns and figures from the counters up, on a fake computer (fake_counters.h): counts stand in the tables,
 * and an unbelieved count has its reason wherever the count would appear.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/host/ctr_emulated.h"
#include "counters/host/ctr_timer.h"
#include "counters/group/ctr_quantity.h"
#include "experiments/base/error.h"
#include "experiments/base/csv.h"
#include "experiments/bench/case/cycles.h"
#include "experiments/bench/time/measure.h"
#include "experiments/bench/replay/replay.h"
#include "experiments/bench/case/estimate.h"
#include "experiments/run/run.h"
#include "experiments/show/report.h"
#include "tests/counters/fake_counters.h"
#include "tests/experiments/fake_ruler.h"
#include "tests/experiments/toy.h"
#include "tests/suites.h"

extern const struct test_suite suite_exp_measure;

extern const struct exp_question question_experiment;

struct fixture {
    struct fake_counters fake;
    struct toy toy;
    struct exp_measure_info info;
    char top[64], path[80];
    struct exp_outdir dir;
    exp_ruler_maker *new_ruler; /* NULL: there is no ruler */
    bool keeps_disturbed;
    size_t n_rounds; /* 0: the usual number */
};

static bool set_up(struct fixture *f)
{
    *f = (struct fixture){ .top = "/tmp/suite_exp_measure.XXXXXX" };
    if (!toy_open(&f->toy, false))
        return false;
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(f->top));
    snprintf(f->path, sizeof f->path, "%s/result", f->top);
    fake_counters_init(&f->fake);
    for (size_t i = 0; i < N_FAKE_EVENTS; i++)
        f->fake.region[i] = 1000;
    f->fake.region[0] = 100000; /* loads */
    f->fake.region[FAKE_PREFETCHES] = 7;
    f->fake.region[FAKE_L1_MISSES] = 500;
    f->fake.region[FAKE_L2_MISSES] = 100;
    f->fake.region[FAKE_L3_MISSES] = 10;
    return true;
}

static void tear_down(struct fixture *f)
{
    exp_outdir_abort(&f->dir);
    rmdir(f->top);
    toy_close(&f->toy);
}

static struct exp_measure_options options_of(const struct fixture *f)
{
    return (struct exp_measure_options){
        .rounds = { f->n_rounds ? f->n_rounds : 2, f->n_rounds ? f->n_rounds : 2, 0 },
        .n_threads = 1,
        .cache = EXP_COLD,
        .now_ns = ctr_now_ns,
        .ruler_ns = f->new_ruler != NULL,
        .new_ruler = f->new_ruler,
        .keeps_disturbed = f->keeps_disturbed,
        .source = &f->fake.source,
        .groups_dir = FAKE_GROUPS_DIR,
        .uarch = "fake",
    };
}

/* Tells whether an algorithm counts, as announced; no counter stays open. */
static bool counts(const struct fixture *f)
{
    const struct exp_measure_options o = options_of(f);
    bool does = exp_measure_counts(&o);

    CU_ASSERT_EQUAL(f->fake.n_open, 0);
    return does;
}

/* Measures on the made-up computer, replays, and writes the tables. */
static bool run(struct fixture *f)
{
    const struct exp_measure_options o = options_of(f);
    const struct exp_report report = {
        .e = &f->toy.experiment,
        .info = &f->info,
        .experiments_dir = "experiments",
        .commit = "",
        .is_timed = true,
        .clock = "the wall clock",
    };
    struct exp_why why = { "" };
    int err = exp_measure_all(&f->toy.experiment, &o, &f->info, f->toy.progress, &why);

    err = err ? err : exp_replay_all(&f->toy.experiment, EXP_COLD, 2, f->toy.progress, &why);
    err = err ? err : exp_outdir_open(&f->dir, f->path, "layers.csv", &why);
    err = err ? err : exp_report_write(&report, &f->dir, &why);
    return test_check(!err, "%s", why.text) && test_check(!f->fake.n_open, "%u sets are still open", f->fake.n_open);
}

/* Tells how often a file of the result contains a text. */
static unsigned n_in_file(const struct fixture *f, const char *name, const char *text)
{
    char *path = exp_outdir_file(&f->dir, name), *line = NULL;
    FILE *in = fopen(path, "r");
    size_t bytes = 0;
    unsigned n = 0;

    if (test_check(in != NULL, "no file '%s'", path)) {
        while (getline(&line, &bytes, in) >= 0)
            for (const char *at = line; (at = strstr(at, text)); at++)
                n++;
        fclose(in);
    }
    free(line);
    free(path);
    return n;
}

/* Checks that every algorithm of the run has the value in a column. */
static void check_column(const struct fixture *f, const char *file, const char *column, double expected)
{
    char *path = exp_outdir_file(&f->dir, file);
    struct exp_why why = { "" };
    struct exp_table t = { .path = NULL };
    size_t c = 0, n_good = 0;
    double value;

    if (test_check(!exp_table_read(&t, path, &why) && !exp_table_column(&t, column, &c, &why), "%s", why.text)) {
        for (size_t row = 0; row < t.n_rows; row++) {
            if (!strncmp(exp_table_string(&t, row, c), "not available: ", 15))
                continue;
            test_check(!exp_table_double(&t, row, c, &value, &why) && value == expected,
                       "%s, row %zu: %s is %s, not %g", file, row, column, exp_table_string(&t, row, c), expected);
            n_good++;
        }
        test_check(n_good > 0, "%s: nothing in %s", file, column);
    }
    exp_table_release(&t);
    free(path);
}

static void check_counts(const struct fixture *f, enum exp_count count, double expected)
{
    for (size_t i = 0; i < f->toy.experiment.n_cases; i++) {
        const struct exp_case *c = &f->toy.experiment.cases[i];
        const struct value x = exp_case_count(c, count);

        if (!c->measured.why)
            test_check(!x.why && x.number == expected, "%s of %s, %s: %g, not %g (%s)", exp_count_name(count),
                       c->layer->name, c->algo->name, x.number, expected, x.why ? x.why : "");
    }
}

static void check_no_counts(const struct fixture *f, enum exp_count count, const char *part)
{
    for (size_t i = 0; i < f->toy.experiment.n_cases; i++) {
        const struct exp_case *c = &f->toy.experiment.cases[i];
        const char *why = exp_case_count(c, count).why;

        if (!c->measured.why)
            test_check(why && strstr(why, part), "%s of %s, %s: '%s', not '%s'", exp_count_name(count), c->layer->name,
                       c->algo->name, why ? why : "", part);
    }
}

static int print_counts_host(const void *source, FILE *out)
{
    exp_counts_print_host(source, out);
    return 0;
}

static void check_recorded_case(const struct exp_counts *counts, const struct fixture *f, const struct exp_case *c)
{
    struct exp_why why;
    struct exp_case planned = *c;
    bool is_older;

    test_check(!exp_counts_take_plan(counts, &f->toy.model, &planned, &is_older, &why) && !*why.text && !is_older,
               "%s, %s: %s", c->layer->name, c->algo->name, why.text);
    for (size_t q = 0; q < ctr_n_quantities(); q++) {
        const struct exp_counts_key key = { f->toy.model.name, c->algo->name, c->layer->index, q, EXP_COLD };
        const struct value count = exp_case_count(c, EXP_COMMON + (enum exp_count)q);
        const struct value recorded = exp_counts_find(counts, &key);

        test_check(count.why ? recorded.why && !strcmp(recorded.why, count.why) : recorded.number == count.number,
                   "%s of %s, %s: %g (%s)", ctr_quantity_at(q)->name, c->layer->name, c->algo->name, recorded.number,
                   recorded.why ? recorded.why : "");
    }
}

/* Checks that the folder of recorded counts reads back equal, and that the plans are today's. */
static void check_recorded(struct fixture *f)
{
    const struct exp_counts_source source = { &f->toy.experiment, EXP_COLD, "1234567", 0 };
    struct exp_counts counts;
    char *folder = exp_format("%s/counts", f->top);
    struct exp_why why = { "" };
    struct exp_outdir dir;
    int err = exp_outdir_open(&dir, folder, "counts.csv", &why);

    err = err ? err : exp_counted_write(&source, "a fake CPU", &dir, f->toy.log, &why);
    err = err ? err : exp_outdir_write(&dir, EXP_COUNTS_HOST, print_counts_host, &source, &why);
    err = err ? err : exp_outdir_commit(&dir, &why);
    err = err ? err : exp_counts_read(&counts, folder, &why);
    if (test_check(!err, "%s", why.text)) {
        test_check(!strcmp(counts.commit, "1234567") && !strcmp(counts.core, "Haswell"), "commit %s, core %s",
                   counts.commit, counts.core);
        for (size_t i = 0; i < f->toy.experiment.n_cases; i++)
            check_recorded_case(&counts, f, &f->toy.experiment.cases[i]);
        exp_counts_release(&counts);
    }
    free(folder);
}

static void check_good_counts(struct fixture *f)
{
    struct exp_total total[EXP_MAX_ALGOS + 1];
    const struct exp_report report = { .e = &f->toy.experiment };
    size_t n = exp_totals(&report, total);

    check_counts(f, EXP_LOADS, 100000);
    check_counts(f, EXP_L1_LOAD_MISSES, 500);
    check_counts(f, EXP_L2_LOAD_MISSES, 100);
    check_counts(f, EXP_L3_LOAD_MISSES, 10);
    check_counts(f, EXP_CYCLES, 1000);
    check_recorded(f);
    for (size_t i = 0; i < n; i++)
        if (!total[i].of[M_measured_time_ns].why)
            test_check(total[i].of[M_measured_loads].number == 300000 &&
                           total[i].of[M_measured_l1_load_misses].number == 1500 &&
                           total[i].of[M_measured_l1_miss_percent].number == 0.5,
                       "%s: %g loads, %g misses", total[i].algo, total[i].of[M_measured_loads].number,
                       total[i].of[M_measured_l1_load_misses].number);
}

/* Checks a figure. Some have no data here: nothing was observed. */
static void check_figure(void *ctx, const char *file, int err, const char *why)
{
    (void)ctx;
    test_check(!err || err == -ENODATA || err == -ENOENT, "%s: %s", file, why);
}

static void check_figures(struct fixture *f)
{
    const struct exp_figures figures = {
        .question = &question_experiment,
        .experiments_dir = "experiments",
        .dir = f->dir.path,
        .machine = "toy",
        .simulator = "caches alone",
        .host = "made up",
        .observed = "",
        .arch = "",
        .levels = "L1 L2 L3",
    };
    const struct exp_experiment *e = &f->toy.experiment;
    bool is_any_missing = false; /* a CPU may lack OpenBLAS's micro-kernel */
    struct exp_why why = { "" };
    int err = exp_figures_draw(&figures, check_figure, NULL, &why);

    if (err == -ENOENT) {
        test_skip("%s", why.text);
        return;
    }
    test_check(!err, "%s", why.text);
    CU_ASSERT(n_in_file(f, "miss_rates_model.svg", "; measured ") > 0);
    for (size_t i = 0; i < e->n_cases; i++)
        is_any_missing |= e->cases[i].measured.why != NULL;
    CU_ASSERT((n_in_file(f, "miss_rates_model.svg", "not available") > 0) == is_any_missing);
}

static void test_measured(void)
{
    struct fixture f;

    if (!set_up(&f))
        return;
    if (run(&f)) {
        CU_ASSERT(!*f.info.counter_note && !strcmp(f.info.hardware.name, "made up fake/CACHE"));
        check_good_counts(&f);
        check_column(&f, "layers.csv", "measured_loads", 100000);
        check_column(&f, "layers.csv", "measured_l1_load_misses", 500);
        check_column(&f, "layers.csv", "measured_cycles", 1000);
        check_column(&f, "model.csv", "measured_loads", 300000);
        check_column(&f, "model.csv", "measured_l1_miss_percent", 0.5);
        check_column(&f, "model.csv", "measured_l3_miss_percent", 0.01);
        check_figures(&f);
    }
    tear_down(&f);
}

/* A dead counter and a counter held by a watchdog cost nothing but runs. */
static void test_fewer_counters(void)
{
    struct fixture f;

    if (!set_up(&f))
        return;
    f.fake.is_dead[1] = true;
    f.fake.n_taken = 1;
    if (run(&f)) {
        test_check(strstr(f.info.counter_note, "counter 2 counted 41 where") &&
                       strstr(f.info.counter_note, "5 of 6 counters can be had"),
                   "'%s'", f.info.counter_note);
        check_good_counts(&f);
    }
    tear_down(&f);
}

/* A lying event is missing with its reason in every table; all further events are there. */
static void test_liar(void)
{
    static const char reason[] = "not available: l1_load_misses counted 0 where 65536 were made";
    struct fixture f;

    if (!set_up(&f))
        return;
    f.fake.factor[FAKE_L1_MISSES] = 0;
    if (run(&f)) {
        check_no_counts(&f, EXP_L1_LOAD_MISSES, reason);
        check_counts(&f, EXP_LOADS, 100000);
        check_counts(&f, EXP_L2_LOAD_MISSES, 100);
        CU_ASSERT(n_in_file(&f, "layers.csv", reason) > 0 && n_in_file(&f, "model.csv", reason) > 0);
    }
    tear_down(&f);
}

static void test_refused(void)
{
    struct fixture f;

    if (!set_up(&f))
        return;
    CU_ASSERT(counts(&f));
    f.fake.refusal = -EACCES;
    CU_ASSERT(!counts(&f));
    if (run(&f)) {
        check_no_counts(&f, EXP_LOADS, "sysctl kernel.perf_event_paranoid=1");
        check_no_counts(&f, EXP_CYCLES, "sysctl kernel.perf_event_paranoid=1");
        CU_ASSERT(n_in_file(&f, "model.csv", "kernel.perf_event_paranoid") > 0);
    }
    tear_down(&f);
}

/* Sets up with a ruler whose best is far from this computer's readings: all timings are disturbed. */
static bool set_up_busy(struct fixture *f)
{
    if (ctr_is_emulated()) {
        test_skip("no ruler under emulation");
        return false;
    }
    if (!set_up(f))
        return false;
    f->new_ruler = fake_ruler_disturbed;
    return true;
}

/* Disturbed times are not the core's own: the reason stands in place of the time, and the samples stay. */
static void test_disturbed(void)
{
    struct fixture f;

    if (!set_up_busy(&f))
        return;
    if (run(&f)) {
        const char *said = f.info.why_disturbed;

        test_check(!strncmp(said, "disturbed: 0 of ", 16) && strstr(said, "kept because the limit ended"), "%s", said);
        for (size_t i = 0; i < f.toy.experiment.n_cases; i++) {
            const struct exp_measured *m = &f.toy.experiment.cases[i].measured;

            CU_ASSERT(m->n_samples ? m->why == said : m->why != NULL);
        }
        CU_ASSERT(n_in_file(&f, "model.csv", "disturbed: 0 of ") > 0);
    }
    tear_down(&f);
}

/* On a busy computer, enough rounds make times whose speed-ups have wide intervals. */
static void test_busy(void)
{
    struct fixture f;

    if (!set_up_busy(&f))
        return;
    f.keeps_disturbed = true;
    f.n_rounds = EXP_RATIO_LEAST_ROUNDS;
    if (run(&f)) {
        const struct exp_case *c = &f.toy.experiment.cases[1];
        const struct exp_ratio r = exp_case_speedup(&f.toy.experiment, c);

        test_check(strstr(f.info.busy, " timings were disturbed, and the intervals are wider") &&
                       !*f.info.why_disturbed,
                   "'%s', '%s'", f.info.busy, f.info.why_disturbed);
        CU_ASSERT(!c->measured.why && c->measured.slowed > 1);
        CU_ASSERT(r.low < 0.8 * r.value && r.high > 1.2 * r.value);
        CU_ASSERT_EQUAL(n_in_file(&f, "model.csv", "disturbed: 0 of "), 0);
    }
    tear_down(&f);
}

/* An uncounted layer takes its time at the clock that the core had then, not at the clock of the machine's file. */
static void test_clock(void)
{
    struct fixture f;

    if (ctr_is_emulated()) {
        test_skip("no clock of a core under emulation");
        return;
    }
    if (!set_up(&f))
        return;
    f.fake.refusal = -EACCES;
    if (run(&f)) {
        const struct exp_case *c = &f.toy.experiment.cases[0];
        double by_file;

        CU_ASSERT(f.info.ran_at_ghz > 0.2 && f.info.ran_at_ghz < 10);
        f.toy.setup.machine.issue.clock_ghz = 2;
        by_file = exp_cycles_taken(&f.toy.setup, c, NULL).number;
        f.toy.setup.ran_at_ghz = 3;
        CU_ASSERT(by_file > 0 && fabs(exp_cycles_taken(&f.toy.setup, c, NULL).number / by_file - 1.5) < 1e-9);
    }
    tear_down(&f);
}

static const struct test_case cases[] = {
    { "counts go into the tables and figures", test_measured },
    { "fewer counters give the same counts", test_fewer_counters },
    { "a count that is no truth is missing with its reason", test_liar },
    { "refused counters have their reason everywhere", test_refused },
    { "disturbed times are none", test_disturbed },
    { "times of a busy computer have wide intervals, if the question takes them", test_busy },
    { "times are cycles at the clock that was measured", test_clock },
    { NULL, NULL },
};

const struct test_suite suite_exp_measure = { "exp_measure", cases };
