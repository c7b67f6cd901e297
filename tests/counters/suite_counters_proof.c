/*
 * Decides which counters are believed, on a fake computer (fake_counters.h): the census of counters, the sets for the
 * working counters, the proofs, and the readings after a proof. The loops themselves are checked, too, as far as
 * possible without counters.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/proof/ctr_counters.h"
#include "counters/proof/ctr_census.h"
#include "counters/perf/ctr_loop.h"
#include "counters/group/ctr_quantity.h"
#include "counters/perf/ctr_watch.h"
#include "tests/counters/watching.h"
#include "experiments/base/csv.h"
#include "tests/counters/fake_counters.h"
#include "tests/suites.h"

extern const struct test_suite suite_counters_proof;

/* The computer, the opened counters, and the last reading. */
struct counted {
    struct fake_counters fake;
    struct ctr_counters counters;
    struct ctr_reading reading;
};

static bool open_fake(struct counted *t, const char *group)
{
    char why[1024] = "";
    int err = ctr_counters_open(&t->counters, &t->fake.source, FAKE_GROUPS_DIR, "fake", group, SIM_WHY(why));

    return test_check(!err, "error %d, '%s'", err, why);
}

static void close_fake(struct counted *t)
{
    ctr_counters_close(&t->counters);
    test_check(!t->fake.n_open, "%u sets are still open", t->fake.n_open);
}

/* Counts a region once per set; the fake computer takes the region as work. */
static void measure(struct counted *t)
{
    for (size_t set = 0; set < t->counters.group->n_sets; set++) {
        CU_ASSERT_EQUAL(ctr_session_start_set(t->counters.session, set), 0);
        CU_ASSERT_EQUAL(ctr_session_stop(t->counters.session), 0);
    }
    CU_ASSERT_EQUAL(ctr_session_read(t->counters.session, &t->reading), 0);
    CU_ASSERT_EQUAL(ctr_reading_subtract(&t->reading, &t->counters.overhead), 0);
}

static void set_region(struct fake_counters *f)
{
    for (size_t i = 0; i < N_FAKE_EVENTS; i++)
        f->region[i] = 1000.0 * (double)(i + 1);
}

static void init_with_region(struct fake_counters *f)
{
    fake_counters_init(f);
    set_region(f);
}

/* Returns the value of a metric, or -1 with the reason in why. */
static double value_of(const struct ctr_reading *r, const char *metric, struct sim_why why)
{
    double value;

    if (!ctr_reading_metric(r, metric, &value))
        return value;
    CU_ASSERT_EQUAL(ctr_reading_explain(r, metric, why), -ENODATA);
    return -1;
}

static void check_value(const struct ctr_reading *r, const char *metric, double expected)
{
    char why[512] = "";
    double value = value_of(r, metric, SIM_WHY(why));

    test_check(value == expected, "%s is %g, expected %g (%s)", metric, value, expected, why);
}

static void check_missing(const struct ctr_reading *r, const char *metric, const char *part)
{
    char why[512] = "";
    double value = value_of(r, metric, SIM_WHY(why));

    test_check(value == -1 && strstr(why, part), "%s is %g because of '%s', not '%s'", metric, value, why, part);
}

/* Checks all values. Loads come out without the prefetch instructions, which event 0 counts, too. */
static void check_all_values(const struct ctr_reading *r)
{
    check_value(r, "loads", 1000);
    for (size_t i = 1; i < ctr_n_quantities(); i++)
        check_value(r, ctr_quantity_at(i)->name, 1000.0 * (double)(i + 1));
}

static void test_good_counters(void)
{
    struct counted t;

    init_with_region(&t.fake);
    if (!open_fake(&t, "COMMON"))
        return;
    CU_ASSERT(t.counters.census.n_good == 6 && !*t.counters.census.note && t.counters.group->n_sets == 3);
    for (size_t i = 0; i < ctr_n_quantities(); i++) {
        size_t m = ctr_group_metric_index(t.counters.group, ctr_quantity_at(i)->name);

        test_check(t.counters.proof.trust.metric[m] == CTR_PROVEN, "%s is not proven", ctr_quantity_at(i)->name);
    }
    measure(&t);
    check_all_values(&t.reading);
    close_fake(&t);
}

/* Whichever counter is dead, no event is put on the dead counter. */
static void test_dead_counters(void)
{
    for (unsigned dead = 0; dead < 6; dead++) {
        struct counted t;
        char name[64];

        init_with_region(&t.fake);
        t.fake.is_dead[dead] = true;
        if (!open_fake(&t, "COMMON"))
            return;
        snprintf(name, sizeof name, "counter %u counted 41 where 100000 were made and is left out", dead + 1);
        test_check(t.counters.census.n_good == 5 && !strcmp(t.counters.census.note, name), "'%s'",
                   t.counters.census.note);
        measure(&t);
        check_all_values(&t.reading);
        close_fake(&t);
    }
}

static void test_taken_counters(void)
{
    for (unsigned taken = 1; taken < 6; taken++) {
        struct counted t;

        init_with_region(&t.fake);
        t.fake.n_taken = taken;
        if (!open_fake(&t, "COMMON"))
            return;
        test_check(t.counters.census.n_counters == 6 - taken &&
                       strstr(t.counters.census.note, "kernel.nmi_watchdog = 1"),
                   "'%s'", t.counters.census.note);
        measure(&t);
        check_all_values(&t.reading);
        close_fake(&t);
    }
}

static void check_refused(struct fake_counters *f, int expected, const char *part)
{
    struct ctr_counters c;
    char why[1024] = "";
    int err = ctr_counters_open(&c, &f->source, FAKE_GROUPS_DIR, "fake", "COMMON", SIM_WHY(why));

    test_check(err == expected && strstr(why, part) && !strchr(why, '\n') && !c.session && !f->n_open,
               "error %d, '%s', expected %d, '%s'; %u sets open", err, why, expected, part, f->n_open);
}

static void test_no_counters(void)
{
    struct fake_counters f;

    fake_counters_init(&f);
    f.n_taken = 6;
    check_refused(&f, -ENODATA, "no event gets on a counter: other programs hold all of them");
    fake_counters_init(&f);
    for (size_t i = 0; i < 6; i++)
        f.is_dead[i] = true;
    check_refused(&f, -ENODATA, "no counter counts: 'r0x9' counted 41 where 100000 were made");
    fake_counters_init(&f);
    f.factor[9] = 0; /* branches, filtered */
    check_refused(&f, -ENODATA, "counted 0 where 100000 were made; the hypervisor filters it");
    fake_counters_init(&f);
    f.refusal = -ENOENT;
    check_refused(&f, -ENOENT, "no hardware performance counters");
    f.refusal = -EACCES;
    check_refused(&f, -EACCES, "sysctl kernel.perf_event_paranoid=1");
}

/*
 * An event is filtered, or counts a tenth or four times as much: metrics of the event are missing, all further metrics
 * are not.
 */
static void test_liars(void)
{
    static const double lies[] = { 0, 0.1, 4 };

    for (size_t e = 0; e < ctr_n_quantities(); e++) {
        const char *name = ctr_quantity_at(e)->name;

        for (size_t k = 0; k < COUNT(lies) && strcmp(name, "branches"); k++) {
            struct counted t;
            char part[64];

            init_with_region(&t.fake);
            t.fake.factor[e] = lies[k];
            if (!open_fake(&t, "COMMON"))
                return;
            measure(&t);
            snprintf(part, sizeof part, "not available: %s counted ", name);
            check_missing(&t.reading, name, part);
            check_missing(&t.reading, name, " were made (known work: ");
            check_value(&t.reading, "branches", 10000);
            if (e < 2)
                check_missing(&t.reading, "stores_per_load", "does not count what it says");
            close_fake(&t);
        }
    }
}

/* A zero is a value only if the event is proven. */
static void test_zeros(void)
{
    struct counted t;

    fake_counters_init(&t.fake);
    if (!open_fake(&t, "COMMON"))
        return;
    measure(&t);
    for (size_t i = 0; i < ctr_n_quantities(); i++)
        check_value(&t.reading, ctr_quantity_at(i)->name, 0);
    check_missing(&t.reading, "other", "it counted nothing and no known work proves 'r0xff'");
    close_fake(&t);
}

/* Further programs use the counters at times, after the proof. */
static void test_multiplexing(void)
{
    struct counted t;

    init_with_region(&t.fake);
    if (!open_fake(&t, "COMMON"))
        return;
    t.fake.running_percent = 50;
    measure(&t);
    check_all_values(&t.reading);
    CU_ASSERT(t.reading.is_scaled && t.reading.max_scale == 2);
    memset(t.fake.region, 0, sizeof t.fake.region);
    measure(&t);
    check_missing(&t.reading, "loads", "counted 0 while on a counter for 500000 of 1000000 ns");
    set_region(&t.fake);
    t.fake.running_percent = 5;
    measure(&t);
    check_missing(&t.reading, "loads", "while on a counter for 50000 of 1000000 ns, too little");
    t.fake.running_percent = 0;
    measure(&t);
    check_missing(&t.reading, "loads", "never got on the counters");
    close_fake(&t);
}

/* Further programs use the counters during the proof: the estimates are good enough. */
static void test_multiplexed_proof(void)
{
    struct counted t;

    init_with_region(&t.fake);
    t.fake.running_percent = 50;
    check_refused(&t.fake, -ENODATA, "other programs hold all of them");
    t.fake.running_percent = 100;
    if (!open_fake(&t, "CACHE"))
        return;
    measure(&t);
    check_value(&t.reading, "l1_load_misses", 15000);
    close_fake(&t);
}

static void test_overflow(void)
{
    struct counted t;

    init_with_region(&t.fake);
    if (!open_fake(&t, "COMMON"))
        return;
    t.fake.n_bits = 32;
    measure(&t);
    check_missing(&t.reading, "stores", "which is impossible: the counter overflowed");
    t.fake.n_bits = 0;
    t.fake.region[1] = 1e9; /* in 1 ms */
    measure(&t);
    check_missing(&t.reading, "stores", "counted 1000000000 in 1000000 ns, which is impossible");
    close_fake(&t);
}

/* An event that cannot be counted during the proof is not believed afterwards, either. */
static void test_uncountable(void)
{
    struct counted t;

    init_with_region(&t.fake);
    t.fake.factor[1] = 1e5;
    if (!open_fake(&t, "COMMON"))
        return;
    t.fake.factor[1] = 1;
    measure(&t);
    check_missing(&t.reading, "stores", "not available: it could not be proven: STORES: counted ");
    check_value(&t.reading, "branches", 10000);
    close_fake(&t);
}

/*
 * Checks a real group on a CPU that counts as documented: all metrics with known work are proven, and are counted as
 * made.
 */
static void check_real_group(const char *uarch, const char *group)
{
    struct counted t;
    char why[1024] = "";

    init_with_region(&t.fake);
    t.fake.n_counters = CTR_MAX_SET_EVENTS;
    if (!test_check(!ctr_counters_open(&t.counters, &t.fake.source, CTR_GROUPS_DIR, uarch, group, SIM_WHY(why)),
                    "%s/%s: %s", uarch, group, why))
        return;
    measure(&t);
    for (size_t m = 0; m < t.counters.group->n_metrics; m++) {
        const struct ctr_metric *metric = &t.counters.group->metric[m];
        size_t q = ctr_quantity_index(metric->name);
        bool is_claimed = false;

        for (size_t i = 0; i < ctr_n_claims(); i++)
            is_claimed |= !strcmp(ctr_claim_at(i)->metric, metric->name);
        test_check(t.counters.proof.trust.metric[m] == (is_claimed ? CTR_PROVEN : CTR_UNPROVEN), "%s: %s: %s",
                   t.counters.group->path, metric->name, t.counters.proof.trust.why[m]);
        /* zen2 adds up l1_lines_in, and both lines_in have parts of different known work */
        if (q < ctr_n_quantities() && !strstr(metric->name, "lines_in"))
            check_value(&t.reading, metric->name, t.fake.region[q]);
    }
    close_fake(&t);
}

static void test_real_groups(void)
{
#if defined(__x86_64__)
    static const char *const uarchs[] = { "hsw", "skl",  "skx",  "clx",  "icl",  "icx",    "spr",
                                          "adl", "zen2", "zen3", "zen4", "zen5", "power10" };

    for (size_t i = 0; i < COUNT(uarchs); i++) {
        check_real_group(uarchs[i], "COMMON");
        check_real_group(uarchs[i], "CACHE");
    }
#else
    (void)check_real_group;
    test_skip("libpfm4 knows the events of x86 on x86 only");
#endif
}

/* Checks real groups on working counters of any number: every event is on a counter, and no event on a bad counter. */
static void check_fit(const char *uarch, const char *group, unsigned n_counters, unsigned bad)
{
    struct fake_counters f;
    struct ctr_census census = { .n_counters = n_counters, .n_good = n_counters - (bad < n_counters) };
    struct ctr_group *g;
    struct ctr_cpu cpu;
    char why[1024] = "";
    bool is_used[CTR_MAX_SETS][CTR_MAX_SET_EVENTS] = { { false } };

    fake_counters_init(&f);
    f.n_counters = n_counters;
    if (bad < n_counters)
        census.is_bad[bad] = true;
    if (!test_check(!ctr_cpu_read(&cpu, CTR_GROUPS_DIR, uarch, SIM_WHY(why)) &&
                        !ctr_group_find(&g, CTR_GROUPS_DIR, uarch, group, SIM_WHY(why)),
                    "%s", why))
        return;
    test_check(!ctr_fit(g, &f.source, &cpu, &census, SIM_WHY(why)), "%s/%s: %s", uarch, group, why);
    for (size_t i = 0; i < g->n_events; i++) {
        const struct ctr_event *e = &g->event[i];

        if (test_check(e->set < g->n_sets && e->position < n_counters && e->position != bad &&
                           !is_used[e->set][e->position],
                       "%s/%s with %u counters: %s in set %zu at %zu", uarch, group, n_counters, e->label, e->set,
                       e->position))
            is_used[e->set][e->position] = true;
    }
    test_check(g->n_sets <= (g->n_events + census.n_good - 1) / census.n_good, "%s/%s: %zu sets of %u", uarch, group,
               g->n_sets, census.n_good);
    ctr_group_free(g);
}

static void test_fit(void)
{
#if defined(__x86_64__)
    static const char *const groups[] = { "COMMON", "CACHE" };

    for (unsigned n = 1; n <= 6; n++)
        for (unsigned bad = 0; bad <= n; bad++)
            for (size_t i = 0; i < 2 && (n > 1 || bad); i++)
                check_fit("zen3", groups[i], n, bad);
#else
    (void)check_fit;
    test_skip("libpfm4 knows AMD's events on x86 only");
#endif
}

/* Instructions and cycles take no programmable counter on Intel: four counters hold six events. */
static void test_fit_fixed(void)
{
#if defined(__x86_64__)
    struct fake_counters f;
    const struct ctr_census census = { .n_counters = 4, .n_good = 4 };
    struct ctr_group *g;
    struct ctr_cpu cpu;
    char why[1024] = "";

    fake_counters_init(&f);
    if (!test_check(!ctr_cpu_read(&cpu, CTR_GROUPS_DIR, "icl", SIM_WHY(why)) &&
                        !ctr_group_find(&g, CTR_GROUPS_DIR, "icl", "CACHE", SIM_WHY(why)) &&
                        !ctr_fit(g, &f.source, &cpu, &census, SIM_WHY(why)),
                    "%s", why))
        return;
    CU_ASSERT_STRING_EQUAL(g->uarch, "icl");
    CU_ASSERT_EQUAL(g->n_sets, 2); /* five programmable events are too many for four counters */
    for (size_t i = 0; i < g->n_events; i++)
        CU_ASSERT_EQUAL(g->event[i].set, !strcmp(g->event[i].label, "PREFETCHES"));
    ctr_group_free(g);
#else
    test_skip("libpfm4 knows Intel's events on x86 only");
#endif
}

/* Loops run, and the rings go through every place once. */
static void test_loops(void)
{
    struct ctr_ground g = { 0 };

    CU_ASSERT_EQUAL_FATAL(ctr_ground_init(&g), 0);
    for (size_t i = 0; i < ctr_n_loops(); i++) {
        const struct ctr_loop *loop = ctr_loop_at(i);
        const void *const *at;
        size_t n = 0;

        if (!loop->can_run())
            continue;
        g.start = NULL;
        loop->prepare(&g);
        CU_ASSERT(g.n_turns > 0);
        loop->run(&g);
        at = g.start;
        if (!at || strstr(loop->name, "_lines_prefetched") || !strstr(loop->name, "_at_random"))
            continue;
        do {
            at = *(const void *const *)at;
            n++;
        } while (at != g.start && n <= g.n_turns);
        test_check(g.n_turns % n == 0 && n >= 1024, "%s: a ring of %zu places, %zu turns", loop->name, n, g.n_turns);
    }
    ctr_ground_release(&g);
}

enum { N_WATCHED_TURNS = 50 };

/* A loop, and the claims about a turn of the loop. */
struct claimed_loop {
    const char *name;
    struct ctr_ground *g;
    double loads, stores;
};

static void run_loop(void *claimed_loop)
{
    const struct claimed_loop *l = claimed_loop;

    ctr_loop_named(l->name)->run(l->g);
}

static bool is_as_claimed(const void *claimed_loop, const uint64_t *n)
{
    const struct claimed_loop *l = claimed_loop;

    return (double)(n[0] + n[2]) == (l->loads + l->stores) * N_WATCHED_TURNS &&
           (double)(n[1] + n[3]) == l->stores * N_WATCHED_TURNS;
}

/* Checks a loop of instructions by data breakpoints, which count every access to the watched elements. */
static void check_accesses(struct ctr_watch *watch, struct claimed_loop l)
{
    uint64_t n[4] = { 0 };

    l.g->n_turns = N_WATCHED_TURNS;
    CU_ASSERT_EQUAL(watch_until(watch, run_loop, &l, is_as_claimed, &l, n), 0);
    test_check(is_as_claimed(&l, n), "%s: %g accesses, %g of them stores; claimed %g loads and %g stores a turn",
               l.name, (double)(n[0] + n[2]), (double)(n[1] + n[3]), l.loads, l.stores);
}

/* Returns the number that a claim says of a loop, or 0. */
static double claimed(const char *loop, const char *metric)
{
    for (size_t i = 0; i < ctr_n_claims(); i++)
        if (!strcmp(ctr_claim_at(i)->loop, loop) && !strcmp(ctr_claim_at(i)->metric, metric))
            return ctr_claim_at(i)->made;
    return 0;
}

/* The loops touch one of two elements, and the fewest breakpoints tell loads from stores. */
static void test_accesses(void)
{
    static const char *const names[] = { "loads", "broadcasts", "fmas", "unaligned", "prefetches", "stores" };
    struct ctr_ground g = { 0 };
    struct ctr_watch *watch;
    char why[512] = "";

    CU_ASSERT_EQUAL_FATAL(ctr_ground_init(&g), 0);
    const struct ctr_watch_point points[] = {
        { g.memory + 4, 4, CTR_WATCH_READS_AND_WRITES },
        { g.memory + 4, 4, CTR_WATCH_WRITES },
        { g.memory + 60, 4, CTR_WATCH_READS_AND_WRITES },
        { g.memory + 60, 4, CTR_WATCH_WRITES },
    };

    if (ctr_watch_open(&watch, points, 4, SIM_WHY(why))) {
        test_skip("%s", why);
    } else {
        for (size_t i = 0; i < COUNT(names); i++) {
            const struct ctr_loop *loop = ctr_loop_named(names[i]);

            if (loop && loop->can_run())
                check_accesses(watch, (struct claimed_loop){ names[i], &g, claimed(names[i], "loads"),
                                                             claimed(names[i], "stores") });
        }
        ctr_watch_close(watch);
    }
    ctr_ground_release(&g);
}

/* Each claim is about a metric, and the tolerance holds the number made. */
static void test_claims(void)
{
    for (size_t i = 0; i < ctr_n_claims(); i++) {
        const struct ctr_claim *c = ctr_claim_at(i);

        test_check(c->at_least <= c->made && c->made <= c->at_most && c->at_most < 2 * c->made + 0.2 && *c->reason,
                   "%s of %s: %g to %g of %g", c->metric, c->loop, c->at_least, c->at_most, c->made);
    }
    for (size_t q = 0; q < ctr_n_quantities(); q++) {
        size_t n = 0;

        for (size_t i = 0; i < ctr_n_claims(); i++)
            n += !strcmp(ctr_claim_at(i)->metric, ctr_quantity_at(q)->name);
        test_check(n > 0, "no known work for %s", ctr_quantity_at(q)->name);
    }
}

enum { MAX_PARTS = 4 };

/* Patterns counted by a Zen 3, and the loops like each pattern. */
static const struct recorded {
    const char *loop, *metric, *pattern, *where, *part[MAX_PARTS];
} recorded[] = {
    { "l2_lines_in_turn", "l1_lines_in", "sequential_chased", "L2", { "any_l2", "any_l3", "any_mem" } },
    { "l2_lines_in_turn", "l1_lines_in", "sequential_4_per_line", "L2", { "any_l2", "any_l3", "any_mem" } },
    { "l2_lines_in_turn",
      "l1_lines_in_by_hardware_prefetch",
      "sequential_chased",
      "L2",
      { "hwpf_l2", "hwpf_beyond_l2" } },
    { "l2_lines_at_random",
      "l1_lines_in_by_demand",
      "random_even_lines_chased",
      "L2",
      { "demand_l2", "demand_l3", "demand_mem" } },
    { "l2_lines_at_random",
      "l1_load_misses",
      "random_even_lines_chased",
      "L2",
      { "demand_l2", "demand_l3", "demand_mem" } },
    { "l3_lines_in_turn",
      "l2_lines_in",
      "sequential_chased",
      "L3",
      { "any_l3", "any_mem", "l2pf_hit_l3_by_l2", "l2pf_miss_l3_by_l2" } },
    { "l3_lines_in_turn",
      "l2_lines_in",
      "sequential_4_per_line",
      "L3",
      { "any_l3", "any_mem", "l2pf_hit_l3_by_l2", "l2pf_miss_l3_by_l2" } },
    { "memory_lines_in_turn", "memory_lines_in", "sequential_chased", "MEM", { "any_mem", "l2pf_miss_l3_by_l2" } },
    { "memory_lines_in_turn", "memory_lines_in", "sequential_4_per_line", "MEM", { "any_mem", "l2pf_miss_l3_by_l2" } },
    { "memory_lines_at_random", "l2_load_misses", "random_even_lines_chased", "MEM", { "demand_l3", "demand_mem" } },
    { "memory_lines_at_random", "l3_load_misses", "random_even_lines_chased", "MEM", { "demand_mem" } },
    { "pages_at_random", "dtlb_misses", "random_chased", "L3", { "dtlb_miss" } },
};

static const char *text_at(const struct exp_table *t, size_t row, const char *column)
{
    size_t c;

    return exp_table_column(t, column, &c, NULL) ? "" : exp_table_string(t, row, c);
}

static double number_at(const struct exp_table *t, size_t row, const char *column)
{
    return strtod(text_at(t, row, column), NULL);
}

static const struct ctr_claim *claim_of(const char *loop, const char *metric)
{
    for (size_t i = 0; i < ctr_n_claims(); i++)
        if (!strcmp(ctr_claim_at(i)->loop, loop) && !strcmp(ctr_claim_at(i)->metric, metric))
            return ctr_claim_at(i);
    return NULL;
}

/* Returns how many rows are of the pattern. */
static unsigned check_recorded(const struct exp_table *t, const struct recorded *r)
{
    const struct ctr_claim *c = claim_of(r->loop, r->metric);
    unsigned n_rows = 0;

    if (!test_check(c != NULL, "no claim about %s of %s", r->metric, r->loop))
        return 1;
    for (size_t row = 0; row < t->n_rows; row++) {
        double counted = 0, made = number_at(t, row, "lines");

        if (strcmp(text_at(t, row, "pattern"), r->pattern) || strcmp(text_at(t, row, "where"), r->where) ||
            strcmp(text_at(t, row, "pages"), "4k"))
            continue;
        for (size_t i = 0; i < MAX_PARTS && r->part[i]; i++)
            counted += number_at(t, row, r->part[i]);
        test_check(counted >= c->at_least * made && counted <= c->at_most * made,
                   "%s in %s: %s is %.2f a line, not %g to %g", r->pattern, r->where, r->metric, counted / made,
                   c->at_least, c->at_most);
        n_rows++;
    }
    return n_rows;
}

/* A proof must not refute the counts of a good computer. */
static void test_recorded(void)
{
    static const char path[] = "results/reference/zen3/patterns/patterns.csv";
    struct exp_table t;
    struct exp_why why = { "" };

    if (!test_check(!exp_table_read(&t, path, &why), "%s", why.text))
        return;
    for (size_t i = 0; i < COUNT(recorded); i++)
        test_check(check_recorded(&t, &recorded[i]) > 0, "no pattern %s in %s", recorded[i].pattern, recorded[i].where);
    exp_table_release(&t);
}

static void test_print(void)
{
    struct counted t;
    char text[16384] = "";
    FILE *out = tmpfile();
    size_t n;

    fake_counters_init(&t.fake);
    t.fake.factor[8] = 0;
    if (!test_check(out != NULL, "no temporary file") || !open_fake(&t, "COMMON"))
        return;
    ctr_counters_print(&t.counters, out);
    rewind(out);
    n = fread(text, 1, sizeof text - 1, out);
    text[n] = '\0';
    fclose(out);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "counters: 6 of 6"));
    test_check(strstr(text, "dtlb_misses                       not available\n") &&
                   strstr(text, "     65536 made          0 counted  REFUTED") &&
                   strstr(text, "loads                             proven\n"),
               "%s", text);
    close_fake(&t);
}

static const struct test_case cases[] = {
    { "good counters are proven and count", test_good_counters },
    { "a dead counter is named and left out, wherever it is", test_dead_counters },
    { "counters that others hold make the sets smaller", test_taken_counters },
    { "no counters at all have a reason", test_no_counters },
    { "an event that lies is missing with what it counted", test_liars },
    { "a zero needs a proof", test_zeros },
    { "counts of sets that shared their counters are scaled or missing", test_multiplexing },
    { "counters that others use cannot be proven", test_multiplexed_proof },
    { "a counter that overflows is missing", test_overflow },
    { "what cannot be counted in its proof is missing", test_uncountable },
    { "real groups prove what their makers say", test_real_groups },
    { "events are dealt out to the counters that work", test_fit },
    { "events with a counter of their own take no other", test_fit_fixed },
    { "loops of known work run", test_loops },
    { "loops load and store as often as they claim", test_accesses },
    { "every common metric has known work, with a tolerance", test_claims },
    { "what a Zen 3 counted would have been believed", test_recorded },
    { "the verdicts are printed", test_print },
    { NULL, NULL },
};

const struct test_suite suite_counters_proof = { "counters_proof", cases };
