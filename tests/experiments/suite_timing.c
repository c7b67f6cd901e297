/* Calibration by time: the lines to look for, the verdict of times, and the result; on fake computers. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "counters/group/ctr_cpu.h"
#include "experiments/calibrate/calibrate.h"
#include "experiments/bench/case/machine.h"
#include "sim/machine/machine_folder.h"
#include "sim/machine/machine_here.h"
#include "tests/counters/fake_counters.h"
#include "tests/experiments/fake_computer.h"
#include "tests/scratch.h"
#include "tests/suites.h"

extern const struct test_suite suite_timing;

#define TIMES "results/reference/spr/prefetch/prefetch_by_time.csv"

/* ---- lines to look for ---- */

static const struct exp_timed_row *find_row(const struct exp_timed *t, const struct exp_timed_row *like)
{
    for (size_t i = 0; i < t->n; i++) {
        if (exp_timed_is_same_walk(&t->row[i], like) && t->row[i].probed_line == like->probed_line)
            return &t->row[i];
    }
    return NULL;
}

/* Compares with a record of the lines by a second program, which worked out the patterns' loads by itself. */
static void probes_are_those_that_were_recorded(void)
{
    struct exp_timed here, there;
    struct exp_why why;
    size_t n_unknown = 0, n_other = 0;

    exp_probes_list(&here);
    CU_ASSERT_FATAL(!exp_timed_read(&there, TIMES, &why));
    for (size_t i = 0; i < here.n; i++) {
        const struct exp_timed_row *row = find_row(&there, &here.row[i]);

        n_unknown += !row;
        n_other += row && row->was_accessed != here.row[i].was_accessed;
    }
    test_check(here.n > 5000 && !n_unknown && !n_other, "of %zu probes %zu are not there, %zu differ", here.n,
               n_unknown, n_other);
    exp_timed_release(&here);
    exp_timed_release(&there);
}

/* ---- near and far ---- */

static void thresholds_lie_between(void)
{
    double near[100], far[100], threshold;

    for (size_t i = 0; i < 100; i++) {
        near[i] = i < 20 ? 4000 : 60 + (double)i / 10; /* a fifth is disturbed */
        far[i] = i < 20 ? 5 : 250 + (double)i;
    }
    CU_ASSERT(!exp_threshold_find(near, far, 100, &threshold));
    test_check(threshold > 70 && threshold < 250, "%g", threshold);
    for (size_t i = 0; i < 100; i++)
        near[i] = far[i] = 7;
    CU_ASSERT_EQUAL(exp_threshold_find(near, far, 100, &threshold), -ENODATA);
    for (size_t i = 0; i < 100; i++) {
        near[i] = 100 + (double)(i % 50);
        far[i] = 110 + (double)(i % 50);
    }
    CU_ASSERT_EQUAL(exp_threshold_find(near, far, 100, &threshold), -ENODATA);
}

/* Small caches, which no pattern overflows and sweeps do, with the prefetchers of Sapphire Rapids. */
static struct sim_machine small_machine(void)
{
    struct sim_machine m;
    struct exp_why why;

    CU_ASSERT_FATAL(!exp_machine_find(&m, "spr", NULL, &why));
    m.level[0].n_sets = 64;
    m.level[1].n_sets = 256;
    m.level[2].n_sets = 4096;
    m.level[2].inclusion = SIM_NONINCLUSIVE;
    m.level[0].latency_cycles = 5;
    m.level[1].latency_cycles = 15;
    m.level[2].latency_cycles = 80;
    m.memory_latency_cycles = 250;
    return m;
}

static uint64_t still(void)
{
    return 0;
}

static struct exp_timing timing_of(const struct fake_computer *f, size_t rounds)
{
    return (struct exp_timing){ .computer = &f->computer,
                                .l1_bytes = (size_t)sim_level_bytes(&f->machine.level[0]),
                                .l2_bytes = (size_t)sim_level_bytes(&f->machine.level[1]),
                                .least = rounds,
                                .most = rounds,
                                .now_ns = still };
}

/* Every seventh walk: a computer's whole set takes seconds to simulate. */
static void keep_some(struct exp_timed *t)
{
    size_t n = 0, n_walks = 0;

    for (size_t i = 0; i < t->n; i++) {
        n_walks += i && !exp_timed_is_same_walk(&t->row[i], &t->row[i - 1]);
        if (n_walks % 7 == 3)
            t->row[n++] = t->row[i];
    }
    t->n = n;
}

/* Returns the share of lines that were found as the machine has them. */
static double share_found(struct fake_computer *f, size_t rounds, struct exp_timing_result *result)
{
    const struct exp_timing how = timing_of(f, rounds);
    struct exp_timed t;
    struct exp_why why;
    double wrong;

    exp_probes_list(&t);
    keep_some(&t);
    CU_ASSERT_FATAL(!exp_timing_run(&how, &t, result, &why));
    CU_ASSERT_FATAL(!exp_timed_score(&t, &f->machine, &wrong));
    exp_timed_release(&t);
    return 1 - wrong;
}

static void times_show_what_prefetchers_fetched(void)
{
    const struct sim_machine m = small_machine();
    struct exp_timing_result r;
    struct fake_computer f;
    double found;

    CU_ASSERT_FATAL(!fake_computer_init(&f, &m));
    found = share_found(&f, 1, &r);
    test_check(found > 0.995, "quiet: %.4f", found);
    test_check(r.place_ticks[EXP_PLACE_L1] == 5 && r.place_ticks[EXP_PLACE_L2] == 15 &&
                   r.place_ticks[EXP_PLACE_BEYOND] == 80 && r.place_ticks[EXP_PLACE_MEMORY] == 250,
               "places: %g %g %g %g", r.place_ticks[0], r.place_ticks[1], r.place_ticks[2], r.place_ticks[3]);
    CU_ASSERT(r.n_undecided == 0 && r.n_rounds == 1);
    f.noise_ticks = 60;
    f.disturbed_percent = 15;
    found = share_found(&f, 9, &r);
    test_check(found > 0.99, "noisy: %.4f", found);
    f.noise_ticks = 0;
    f.disturbed_percent = 0;
    f.clock_step = 100;
    found = share_found(&f, 1, &r);
    test_check(found > 0.995, "coarse: %.4f", found);
    fake_computer_release(&f);
}

/* A fake computer with the small machine, and walks of the machine's probes. */
struct timing_case {
    struct fake_computer f;
    struct exp_timing how;
    struct exp_timed t;
    struct exp_timing_result r;
    struct exp_why why;
};

static void open_case(struct timing_case *c, size_t rounds)
{
    const struct sim_machine m = small_machine();

    exp_probes_list(&c->t);
    CU_ASSERT_FATAL(!fake_computer_init(&c->f, &m));
    c->how = timing_of(&c->f, rounds);
}

static int run(struct timing_case *c)
{
    c->why.text[0] = '\0';
    return exp_timing_run(&c->how, &c->t, &c->r, &c->why);
}

static void close_case(struct timing_case *c)
{
    exp_timed_release(&c->t);
    fake_computer_release(&c->f);
}

static void clocks_that_tell_nothing_are_refused(void)
{
    struct timing_case c;

    open_case(&c, 1);
    keep_some(&c.t);
    c.f.is_dead = true;
    CU_ASSERT_EQUAL(run(&c), -ENODATA);
    CU_ASSERT(strstr(c.why.text, "L2 takes 7 ticks, one in memory 7") != NULL);
    c.f.is_dead = false;
    c.f.clock_step = 1000; /* too coarse: all are 0 */
    CU_ASSERT_EQUAL(run(&c), -ENODATA);
    close_case(&c);
}

static bool yes(void)
{
    return true;
}

static void interrupted_rounds_end_at_once(void)
{
    struct timing_case c;

    open_case(&c, 1);
    c.how.interrupted = yes;
    CU_ASSERT_EQUAL(run(&c), -EINTR);
    CU_ASSERT(c.f.n_looks < 100);
    close_case(&c);
}

static uint64_t seconds_of_looks;

static uint64_t clock_by_looks(void)
{
    return seconds_of_looks += 1000000000u; /* a second for each look at the clock */
}

/* After the least rounds, no round begins that would end too late. */
static void rounds_end_with_their_time(void)
{
    struct timing_case c;

    open_case(&c, 40);
    c.t.n = 3;
    c.how.least = 2;
    c.how.now_ns = clock_by_looks;
    c.how.limit_ns = 1;
    CU_ASSERT(!run(&c) && c.r.n_rounds == 2);
    c.how.limit_ns = UINT64_C(10000000000);
    CU_ASSERT(!run(&c) && c.r.n_rounds > 2 && c.r.n_rounds < 12);
    close_case(&c);
}

/* ---- the fit ---- */

/* A computer with the prefetchers of the file; the fit starts from a machine without prefetchers, and finds them. */
static void fits_find_the_prefetchers(void)
{
    struct sim_machine m = small_machine();
    struct exp_evidence e = { .is_timed = true };
    struct exp_timing_result r;
    struct exp_timing how;
    struct fake_computer f;
    struct exp_why why = { "" };
    double wrong;
    FILE *log = tmpfile();

    exp_probes_list(&e.times);
    CU_ASSERT_FATAL(log && !fake_computer_init(&f, &m));
    keep_some(&e.times);
    how = timing_of(&f, 1);
    CU_ASSERT_FATAL(!exp_timing_run(&how, &e.times, &r, &why));
    sim_machine_strip_prefetch(&m);
    CU_ASSERT(!exp_timed_score(&e.times, &m, &wrong) && wrong > 0.05);
    CU_ASSERT(!exp_evidence_fit(&e, &m, EXP_MACHINES_DIR, 1, NULL, log, &why));
    CU_ASSERT(!exp_timed_score(&e.times, &m, &wrong));
    test_check(wrong < 0.005, "%.4f of the lines are not as they were", wrong);
    CU_ASSERT_EQUAL(exp_evidence_fit(&e, &m, NULL, 1, yes, log, &why), -EINTR);
    fclose(log);
    exp_evidence_release(&e);
    fake_computer_release(&f);
}

/* Counts of large pages alone, as a calibration leaves them, are fitted, too. */
static void counts_of_large_pages_are_fitted(void)
{
    struct exp_evidence e;
    struct sim_machine m;
    FILE *log = tmpfile();
    struct exp_why why = { "" };
    size_t n = 0;

    CU_ASSERT_FATAL(log && !exp_machine_find(&m, "zen3", NULL, &why));
    CU_ASSERT_FATAL(!exp_evidence_read(&e, "results/reference/zen3/patterns/patterns.csv", &why));
    for (size_t i = 0; i < e.counts.n; i++) {
        if (e.counts.row[i].is_chased && e.counts.row[i].place == EXP_RECORDED_MEMORY &&
            !strcmp(e.counts.row[i].pages, "2m") && i % 3 == 0)
            e.counts.row[n++] = e.counts.row[i];
    }
    e.counts.n = n;
    sim_machine_strip_prefetch(&m);
    CU_ASSERT(n > 10 && !exp_evidence_fit(&e, &m, EXP_MACHINES_DIR, 0, NULL, log, &why));
    CU_ASSERT(m.level[0].prefetch[0].kind == SIM_PREFETCH_STREAM); /* as on Zen */
    fclose(log);
    exp_evidence_release(&e);
}

/* Begins a table in the scratch folder. */
static struct exp_csv *begin_csv(const struct exp_csv_file *file)
{
    return exp_csv_begin(&(struct exp_outdir){ .path = (char *)(uintptr_t)scratch_path(".") }, file, NULL);
}

/* The written file is read back: equal lines, equally near. */
static void times_are_read_back(void)
{
    struct timing_case c;
    const struct exp_timed *t = &c.t;
    struct exp_timed back;
    struct exp_csv *csv;
    size_t n_other = 0;

    open_case(&c, 3);
    c.t.n = 200;
    CU_ASSERT_FATAL(!run(&c));
    t->row[7].near_share = 0.4;
    t->row[7].ticks = 1; /* the share counts, not the median */
    t->row[7].was_near = false;
    csv = begin_csv(&exp_timing_table.file);
    for (size_t i = 0; i < t->n; i++)
        rec_put(csv, &exp_timing_table, &t->row[i]);
    CU_ASSERT(!exp_csv_close(csv, &c.why));
    CU_ASSERT_FATAL(!exp_timed_read(&back, scratch_path(exp_timing_table.file.name), &c.why));
    CU_ASSERT_EQUAL_FATAL(back.n, t->n);
    for (size_t i = 0; i < t->n; i++)
        n_other += !exp_timed_is_same_walk(&t->row[i], &back.row[i]) || t->row[i].was_near != back.row[i].was_near ||
                   t->row[i].probed_line != back.row[i].probed_line ||
                   t->row[i].was_accessed != back.row[i].was_accessed;
    CU_ASSERT_EQUAL(n_other, 0);
    exp_timed_release(&back);
    close_case(&c);
}

/* ---- by counters ---- */

enum { L1_LINES = 2, DEMAND_LINES, L2_LINES = 6 }; /* places of common quantities, as in region[] */

static void counted_like(struct fake_counters *fake, double l1, double demand, double l2)
{
    fake_counters_init(fake);
    fake->region[L1_LINES] = l1;
    fake->region[DEMAND_LINES] = demand;
    fake->region[L2_LINES] = l2;
}

static bool is_row_right(const struct exp_recorded_row *row, double l1, double demand, double l2)
{
    return fabs(row->counted[EXP_RECORDED_L1_LINES] * row->accesses - l1) < 1e-6 &&
           fabs(row->counted[EXP_RECORDED_L2_LINES] * row->accesses - l2) < 1e-6 &&
           (isnan(demand) ? isnan(row->counted[EXP_RECORDED_L1_DEMAND])
                          : fabs(row->counted[EXP_RECORDED_L1_DEMAND] * row->accesses - demand) < 1e-6);
}

/* Written and read back; returns how many rows are not as counted. */
static size_t n_wrong_rows(struct ctr_counters *c, double l1, double demand, double l2, size_t *n_rows)
{
    struct sim_machine m = small_machine();
    const struct exp_counting how = { .counters = c, .machine = &m, .n_passes = 1 };
    struct exp_recorded r, back;
    struct exp_csv *csv;
    struct exp_why why = { "" };
    size_t n_wrong = 0;

    CU_ASSERT_FATAL(!exp_counting_run(&how, &r, &why));
    csv = begin_csv(&exp_counting_table.file);
    exp_counting_put(&r, csv);
    CU_ASSERT(!exp_csv_close(csv, &why));
    test_check(!exp_recorded_read(&back, scratch_path(exp_counting_table.file.name), &why), "%s", why.text);
    scratch_clear();
    CU_ASSERT_EQUAL_FATAL(back.n, r.n);
    for (size_t i = 0; i < r.n; i++) {
        n_wrong += !is_row_right(&r.row[i], l1, demand, l2) || !is_row_right(&back.row[i], l1, demand, l2) ||
                   back.row[i].p1 != r.row[i].p1 || back.row[i].place != r.row[i].place ||
                   back.row[i].pattern.buffer_bytes != r.row[i].pattern.buffer_bytes;
        CU_ASSERT(r.row[i].place != EXP_RECORDED_L2 ||
                  r.row[i].pattern.buffer_bytes == sim_level_bytes(&m.level[1]) / 2);
    }
    *n_rows = r.n;
    exp_recorded_release(&r);
    exp_recorded_release(&back);
    return n_wrong;
}

static void counters_count_patterns(void)
{
    struct fake_counters fake;
    struct ctr_counters *c = calloc(1, sizeof *c);
    struct exp_why why = { "" };
    size_t n_rows;

    counted_like(&fake, 7000, 300, 5000);
    CU_ASSERT_FATAL(c && !exp_counting_open(c, &fake.source, FAKE_GROUPS_DIR, "fake", &why));
    CU_ASSERT_EQUAL(n_wrong_rows(c, 7000, 300, 5000, &n_rows), 0);
    CU_ASSERT(n_rows > 100);
    ctr_counters_close(c);
    fake.factor[DEMAND_LINES] = 3; /* the event lies: only the event's quantity is missing */
    CU_ASSERT_FATAL(!exp_counting_open(c, &fake.source, FAKE_GROUPS_DIR, "fake", &why));
    CU_ASSERT_EQUAL(n_wrong_rows(c, 7000, (double)NAN, 5000, &n_rows), 0);
    ctr_counters_close(c);
    CU_ASSERT_EQUAL(fake.n_open, 0);
    free(c);
}

static void counters_that_lie_are_not_used(void)
{
    struct fake_counters fake;
    struct ctr_counters *c = calloc(1, sizeof *c);
    struct exp_why why = { "" };

    counted_like(&fake, 7000, 300, 5000);
    fake.factor[L1_LINES] = 2;
    CU_ASSERT_FATAL(c != NULL);
    CU_ASSERT_EQUAL(exp_counting_open(c, &fake.source, FAKE_GROUPS_DIR, "fake", &why), -ENODATA);
    test_check(strstr(why.text, "l1_lines_in counted 262144 where 131072 were made") != NULL, "%s", why.text);
    fake.refusal = -EACCES;
    CU_ASSERT(exp_counting_open(c, &fake.source, FAKE_GROUPS_DIR, "fake", &why) < 0);
    CU_ASSERT_EQUAL(fake.n_open, 0);
    free(c);
}

/* ---- latencies ---- */

static void latencies_come_from_their_levels(void)
{
    const struct exp_rounds rounds = { 50, 50, 0 };
    struct sim_machine m = small_machine();
    struct exp_speeds s;
    struct fake_computer f;
    struct exp_why why = { "" };

    CU_ASSERT_FATAL(!fake_computer_init(&f, &m));
    f.noise_ticks = 20;
    exp_speeds_plan(&s, &m);
    CU_ASSERT_EQUAL_FATAL(s.n, 4);
    for (size_t i = 0; i < m.n_levels; i++)
        test_check(s.level[i].set_bytes < sim_level_bytes(&m.level[i]) &&
                       s.level[i].ring.n_lines * 64 < sim_level_bytes(&m.level[i]) / 2,
                   "%s: %zu bytes, %zu lines", m.level[i].name, s.level[i].set_bytes, s.level[i].ring.n_lines);
    CU_ASSERT_FATAL(!exp_speeds_measure(&s, &f.computer, &rounds, NULL, &why));
    m.level[0].miss_buffers = 16;
    m.level[1].miss_buffers = 1;
    m.level[2].miss_buffers = 0; /* not stated, and not changed */
    exp_speeds_apply(&s, &m);
    CU_ASSERT(m.level[1].miss_buffers * 64.0 >= m.level[2].bandwidth_bytes_per_cycle * m.level[2].latency_cycles &&
              m.level[1].miss_buffers > 1 && m.level[0].miss_buffers == 21 && m.core.store_misses == 7 &&
              m.level[2].miss_buffers == 0);
    test_check(fabs(m.level[0].latency_cycles - 2 * 5) < 4 && fabs(m.level[1].latency_cycles - 2 * 15) < 4 &&
                   fabs(m.level[2].latency_cycles - 2 * 80) < 4 && fabs(m.memory_latency_cycles - 2 * 250) < 4,
               "%g %g %g %g", m.level[0].latency_cycles, m.level[1].latency_cycles, m.level[2].latency_cycles,
               m.memory_latency_cycles);
    CU_ASSERT(m.memory_scattered_cycles == 2 * (16 - 6));
    CU_ASSERT(m.level[0].bandwidth_bytes_per_cycle >= 4 && m.issue.clock_ghz == 2);
    CU_ASSERT(m.level[1].bandwidth_bytes_per_cycle * 2 == m.level[0].bandwidth_bytes_per_cycle);
    fake_computer_release(&f);
}

static void latencies_that_do_not_rise_are_refused(void)
{
    const struct exp_rounds rounds = { 3, 3, 0 };
    const struct sim_machine m = small_machine();
    struct exp_speeds s;
    struct fake_computer f;
    struct exp_why why = { "" };

    CU_ASSERT_FATAL(!fake_computer_init(&f, &m));
    exp_speeds_plan(&s, &m);
    f.is_backwards = true;
    CU_ASSERT_EQUAL(exp_speeds_measure(&s, &f.computer, &rounds, NULL, &why), -ENODATA);
    CU_ASSERT(strstr(why.text, "a load from L2 took 985.00 ns") != NULL);
    f.is_backwards = false;
    f.is_dead = true;
    CU_ASSERT_EQUAL(exp_speeds_measure(&s, &f.computer, &rounds, NULL, &why), -ENODATA);
    CU_ASSERT_EQUAL(exp_speeds_measure(&s, &f.computer, &rounds, yes, &why), -EINTR);
    fake_computer_release(&f);
}

static void small_pages_are_named(void)
{
    struct exp_native n = { .ground = { .bytes = 2 << 20, .large_bytes = 2 << 20 } };
    char text[128];

    exp_native_describe_pages(&n, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "2 MiB pages");
    n.set.bytes = 4 << 20;
    exp_native_describe_pages(&n, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "too few 2 MiB pages (2 of 6 MiB): times include page walks");
    n.ground.large_bytes = 0;
    exp_native_describe_pages(&n, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "no 2 MiB pages (0 of 6 MiB): times include page walks");
}

/* ---- machine files ---- */

static char *noted(const struct sim_machine *m, const struct exp_note *note, size_t n)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    CU_ASSERT_FATAL(out && !exp_print_machine_with_sources(m, "a\n# header", note, n, out) && !fclose(out));
    return text;
}

static void noted_machines_are_read_back(void)
{
    static const struct exp_note notes[] = { { "machine", "name", "" },
                                             { "cache", "latency_cycles", "measured" },
                                             { "", "", "elsewhere" } };
    const struct sim_machine m = small_machine();
    struct sim_machine back;
    char *text = noted(&m, notes, 3), why[256];

    CU_ASSERT_FATAL(!sim_machine_read(&back, scratch_text("noted.cfg", text), why, sizeof why));
    CU_ASSERT(back.n_levels == 3 && back.level[2].latency_cycles == 80 && back.level[1].prefetch[0].distance == 32);
    CU_ASSERT_STRING_EQUAL(back.name, "spr");
    CU_ASSERT(strstr(text, "latency_cycles = 80            # measured\n") != NULL);
    CU_ASSERT(strstr(text, "\nname = spr\n") != NULL && strstr(text, "ways = 12                      # elsewhere\n"));
    CU_ASSERT(strstr(text, "memory_latency_cycles = 250    # elsewhere\n") != NULL);
    free(text);
}

/* ---- the file of a computer ---- */

struct served {
    const struct sim_host_cpu *cpu;
    const char *file;
    size_t n;
};

static int count_file(void *ctx, const char *path, const struct sim_machine *m)
{
    struct served *s = ctx;

    if (!sim_host_cpu_is(s->cpu, m->cpus))
        return 0;
    s->n++;
    test_check(strstr(path, s->file) != NULL, "%s serves %s %u %u, not %s", path, s->cpu->vendor, s->cpu->family,
               s->cpu->model, s->file);
    return 0;
}

/* The files serve the models of the CPUs' event groups, each model by one file. */
static void every_cpu_has_one_file(void)
{
    static const struct {
        const char *group, *file;
    } pairs[] = { { "icx", "/icx.cfg" },
                  { "skx", "/skx.cfg" },
                  { "clx", "/skx.cfg" },
                  { "spr", "/spr.cfg" },
                  { "zen3", "/zen3.cfg" },
                  { "zen4", "/zen4.cfg" },
                  { "power10", "/power10-victim.cfg" } };
    struct exp_why why = { "" };

    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct ctr_cpu group;

        CU_ASSERT_FATAL(!ctr_cpu_read(&group, CTR_GROUPS_DIR, pairs[i].group, SIM_WHY(why.text)));
        for (size_t k = 0; k < group.n_models; k++) {
            const struct ctr_models *m = &group.model[k];
            struct sim_host_cpu cpu = { .family = m->family, .model = m->last, .stepping = m->first_stepping };
            struct served s = { &cpu, pairs[i].file, 0 };

            snprintf(cpu.vendor, sizeof cpu.vendor, "%s", m->vendor);
            CU_ASSERT(!sim_machines_each(EXP_MACHINES_DIR, count_file, &s, SIM_WHY(why.text)));
            test_check(s.n == 1, "%zu files serve the CPUs of %s", s.n, pairs[i].group);
        }
    }
    CU_ASSERT(exp_machines_each("no/such", count_file, NULL, &why) < 0 && strstr(why.text, "no/such"));
}

/* Results name the CPU as calibrations do. */
static void the_cpu_has_one_name(void)
{
    struct sim_host_cpu cpu;
    char name[sizeof cpu.name];

    sim_host_cpu_look(&cpu);
    ctr_hostinfo_cpu(name, sizeof name);
    CU_ASSERT_STRING_EQUAL(cpu.name, name);
}

static const struct test_case cases[] = {
    { "probes are those that were recorded", probes_are_those_that_were_recorded },
    { "thresholds lie between near and far", thresholds_lie_between },
    { "times show what prefetchers fetched", times_show_what_prefetchers_fetched },
    { "clocks that tell nothing are refused", clocks_that_tell_nothing_are_refused },
    { "interrupted rounds end at once", interrupted_rounds_end_at_once },
    { "rounds end with their time", rounds_end_with_their_time },
    { "fits find the prefetchers", fits_find_the_prefetchers },
    { "counts of large pages are fitted", counts_of_large_pages_are_fitted },
    { "times are read back", times_are_read_back },
    { "counters count patterns", counters_count_patterns },
    { "counters that lie are not used", counters_that_lie_are_not_used },
    { "latencies come from their levels", latencies_come_from_their_levels },
    { "latencies that do not rise are refused", latencies_that_do_not_rise_are_refused },
    { "small pages are named", small_pages_are_named },
    { "noted machines are read back", noted_machines_are_read_back },
    { "every CPU has one file", every_cpu_has_one_file },
    { "the CPU has one name", the_cpu_has_one_name },
    { NULL, NULL },
};

const struct test_suite suite_timing = { "timing", cases };
