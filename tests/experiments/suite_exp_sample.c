/* Sampled replays: footprints against every access, samples against exact replays, and the intervals. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/case.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/replay/sample.h"
#include "experiments/bench/replay/sample_choice.h"
#include "experiments/bench/replay/sample_forms.h"
#include "experiments/bench/replay/sample_lines.h"
#include "sim/base/footprint.h"
#include "sim/hierarchy.h"
#include "tests/rng.h"
#include "tests/suites.h"

enum { LINE_SHIFT = 6, MOST_LINES = 1 << 16 };

/* ---- footprints ---- */

/* Marks lines from a base on. Returns false if a line is beyond the marks. */
static bool mark_line(uint8_t *marks, uint64_t line, uint64_t base, uint8_t mark)
{
    if (line - base >= MOST_LINES)
        return false;
    marks[line - base] |= mark;
    return true;
}

static bool mark_accesses(uint8_t *marks, const struct sim_run *r, uint64_t n_times, uint64_t base)
{
    bool fits = true;

    for (uint64_t t = 0; t < n_times; t++) {
        for (uint32_t i = 0; i < r->count; i++) {
            const uint64_t addr = r->addr + t * (uint64_t)r->step_bytes + i * (uint64_t)r->stride_bytes;

            for (uint64_t l = addr >> LINE_SHIFT; l <= (addr + r->access_bytes - 1) >> LINE_SHIFT; l++)
                fits &= mark_line(marks, l, base, 1);
        }
    }
    return fits;
}

static bool mark_footprint(uint8_t *marks, const struct sim_run *r, uint64_t n_times, uint64_t base)
{
    const struct sim_lattice l = sim_lattice_of(r, n_times, LINE_SHIFT);
    bool fits = true;

    for (uint64_t i = 0; i < l.n_inner * l.n_outer; i++) {
        const struct sim_lines lines = sim_lattice_lines(&l, i, LINE_SHIFT);

        for (uint64_t k = 0; k < lines.n; k++)
            fits &= mark_line(marks, lines.first + k, base, 2);
    }
    return fits;
}

static int64_t any_stride(void)
{
    static const int64_t most[] = { 1, 16, 64, 300, 5000 };
    const int64_t n = most[rng_below(COUNT(most))];

    return rng_range(-n, n);
}

/* A run's footprint has the lines of the run's accesses, for all strides. */
static void test_lattices(void)
{
    uint8_t *marks = malloc(MOST_LINES);

    CU_ASSERT_FATAL(marks != NULL);
    for (unsigned n = test_rounds(2000); n--;) {
        const struct sim_run r = {
            .addr = ((uint64_t)1 << 40) + rng_below(4096),
            .stride_bytes = any_stride(),
            .step_bytes = any_stride(),
            .count = (uint32_t)(1 + rng_below(20)),
            .access_bytes = (uint32_t)(1 + rng_below(rng_below(2) ? 64 : 300)),
        };
        const uint64_t n_times = 1 + rng_below(20), base = (r.addr >> LINE_SHIFT) - MOST_LINES / 2;
        bool is_equal = true;

        memset(marks, 0, MOST_LINES);
        is_equal &= mark_accesses(marks, &r, n_times, base) && mark_footprint(marks, &r, n_times, base);
        for (size_t i = 0; i < MOST_LINES; i++)
            is_equal &= marks[i] == 0 || marks[i] == 3;
        test_check(is_equal,
                   "%" PRIu32 " accesses of %" PRIu32 " bytes, %" PRId64 " apart, %" PRIu64 " times, %" PRId64 " apart",
                   r.count, r.access_bytes, r.stride_bytes, n_times, r.step_bytes);
    }
    free(marks);
}

/* Marks of a burst's lines. */
struct marks {
    uint8_t *at;
    uint64_t base;
    bool fits;
};

static void mark_box(void *marks, const struct sim_run *lines)
{
    struct marks *m = marks;

    for (uint32_t i = 0; i < lines->count; i++)
        m->fits &= mark_line(m->at, (lines->addr >> LINE_SHIFT) + i, m->base, 2);
}

/* Makes a burst like a loop's body: runs side by side, of two tensors, with a prefetch instruction among the runs. */
static size_t any_burst(struct sim_run *run)
{
    const size_t n = 1 + rng_below(12);
    const int64_t step = any_stride();

    for (size_t i = 0; i < n; i++) {
        run[i] = (struct sim_run){
            .addr = rng_below(1 << 12),
            .stride_bytes = any_stride(),
            .step_bytes = step,
            .count = (uint32_t)(1 + rng_below(6)),
            .access_bytes = (uint32_t)(4 << rng_below(4)),
            .kind = (uint8_t)(rng_below(8) ? rng_below(2) : SIM_PREFETCH),
            .tag = (uint8_t)rng_below(2),
        };
    }
    return n;
}

/* The lines of bursts are the lines of all accesses, wherever equal bursts lie, and the accesses are counted. */
static void test_bursts(void)
{
    struct marks m = { .at = malloc(MOST_LINES) };
    struct exp_sample_lines l;

    CU_ASSERT_FATAL(m.at != NULL);
    exp_sample_lines_init(&l, LINE_SHIFT, 512, mark_box, &m);
    for (unsigned n = test_rounds(1000); n--;) {
        struct sim_run run[SIM_MAX_BURST_RUNS];
        const size_t n_runs = any_burst(run);
        const uint64_t n_times = 1 + rng_below(9);

        for (unsigned place = 0; place < 3; place++) {
            const uint64_t at = ((uint64_t)1 << 40) + rng_below(1 << 20);
            struct sim_cell cell[SIM_USUAL_TAGS * SIM_MAX_PHASES] = { 0 }, sum = { 0 };
            uint64_t n_loads = 0, n_stores = 0;
            bool is_equal;

            memset(m.at, 0, MOST_LINES);
            m.base = (at >> LINE_SHIFT) - MOST_LINES / 2;
            m.fits = true;
            for (size_t i = 0; i < n_runs; i++) {
                struct sim_run r = run[i];

                r.addr = run[i].addr += at;
                m.fits &= r.kind == SIM_PREFETCH || mark_accesses(m.at, &r, n_times, m.base);
                n_loads += r.kind == SIM_LOAD ? r.count * n_times : 0;
                n_stores += r.kind == SIM_STORE ? r.count * n_times : 0;
            }
            exp_sample_lines_clear(&l);
            exp_sample_lines_add(&l, run, n_runs, n_times, cell);
            exp_sample_lines_end(&l);
            for (size_t i = 0; i < n_runs; i++)
                run[i].addr -= at;
            for (size_t i = 0; i < COUNT(cell); i++)
                sim_cell_add(&sum, &cell[i]);
            is_equal = m.fits && sum.loads == n_loads && sum.stores == n_stores;
            for (size_t i = 0; i < MOST_LINES; i++)
                is_equal &= m.at[i] == 0 || m.at[i] == 3;
            test_check(is_equal, "%zu runs, %" PRIu64 " times, place %u: other lines or accesses", n_runs, n_times,
                       place);
        }
    }
    exp_sample_lines_release(&l);
    free(m.at);
}

/*
 * Touched lines come from memory once, are in the caches afterwards, and stored lines go back to memory: lines near the
 * next simulated access, and lines far from it.
 */
static void test_touch(void)
{
    static const char *const names[] = { "zen3", "spr", "gnr", "clx4208", "power10-victim", "apple-m1" };

    for (size_t k = 0; k < 2 * COUNT(names); k++) {
        void (*const touch)(struct sim_hierarchy *, const struct sim_run *) =
            k % 2 ? sim_hierarchy_touch_far : sim_hierarchy_touch;
        const size_t i = k / 2;
        const struct sim_run load = { 1 << 20, 64, 0, 500, 1, SIM_LOAD, 1, 0 };
        const struct sim_run store = { 1 << 22, 64, 0, 300, 1, SIM_STORE, 2, 0 };
        struct sim_machine m;
        struct sim_hierarchy *h = NULL;
        struct exp_why why = { "" };
        struct sim_cell sum;
        uint64_t lines, size;

        CU_ASSERT_FATAL(!exp_machine_find(&m, names[i], "results", &why) && !sim_hierarchy_new(&h, &m));
        size = m.level[m.n_levels - 1].line_bytes;
        lines = (500 + 300) * 64 / size;
        for (unsigned again = 0; again < 3; again++) {
            struct sim_run r = store;

            touch(h, &load);
            r.kind = again ? SIM_STORE : SIM_LOAD; /* the lines are there before the stores */
            touch(h, &r);
        }
        sum = sim_stats_total(sim_hierarchy_stats(h));
        test_check(sum.memory_read_lines >= lines && sum.memory_read_lines <= lines + lines / 4,
                   "%s: %" PRIu64 " lines came from memory, not %" PRIu64, names[i], sum.memory_read_lines, lines);
        sim_hierarchy_flush(h, 0);
        sum = sim_stats_total(sim_hierarchy_stats(h));
        test_check(sum.memory_written_lines >= 300 * 64 / size, "%s: %" PRIu64 " lines went back", names[i],
                   sum.memory_written_lines);
        sim_hierarchy_free(h);
    }
}

/* Returns how many lines come into the second level by accesses. */
static uint64_t second_lines_by(struct sim_hierarchy *h, const struct sim_run *run)
{
    sim_hierarchy_clear_stats(h);
    sim_emit(sim_hierarchy_sink(h), run, 1, 1);
    return sim_stats_total(sim_hierarchy_stats(h)).level[1].lines_in;
}

/* Lines of the third level that are touched far from the next access leave the second level as it is, and stay. */
static void test_touch_far(void)
{
    static const char *const names[] = { "zen3", "spr", "gnr", "clx4208-real" };

    for (size_t i = 0; i < COUNT(names); i++) {
        struct sim_machine m;
        struct sim_hierarchy *h = NULL;
        struct exp_why why = { "" };
        struct sim_run hot = { 1 << 20, 64, 0, 0, 4, SIM_LOAD, 1, 0 }, all = { 1 << 26, 64, 0, 0, 4, SIM_LOAD, 2, 0 };
        struct sim_run inner;
        uint64_t kept, lost, read;

        CU_ASSERT_FATAL(!exp_machine_find(&m, names[i], "results", &why) && !sim_hierarchy_new(&h, &m));
        hot.count = (uint32_t)(m.level[1].n_sets * m.level[1].n_ways / 4);
        all.count = 16 * hot.count;
        inner = all; /* the lines around the box are in a cache, too */
        inner.addr += 6400;
        inner.count -= 200;
        sim_emit(sim_hierarchy_sink(h), &all, 1, 1);
        for (unsigned n = 0; n < 8; n++)
            sim_emit(sim_hierarchy_sink(h), &hot, 1, 1);
        sim_hierarchy_clear_stats(h);
        sim_hierarchy_touch_far(h, &inner);
        read = sim_stats_total(sim_hierarchy_stats(h)).memory_read_lines;
        kept = second_lines_by(h, &hot);
        sim_hierarchy_touch(h, &inner);
        lost = second_lines_by(h, &hot);
        test_check(kept < hot.count / 50 && lost > hot.count / 2 && read < inner.count / 50,
                   "%s: of %u lines %" PRIu64 " come into the second level, and %" PRIu64 " after near lines; %" PRIu64
                   " of %u come from memory",
                   names[i], hot.count, kept, lost, read, inner.count);
        inner.count = hot.count; /* long gone from the second level */
        inner.kind = SIM_STORE;
        sim_hierarchy_touch_far(h, &inner);
        sim_hierarchy_flush(h, 0);
        CU_ASSERT(sim_stats_total(sim_hierarchy_stats(h)).memory_written_lines >= hot.count);
        sim_hierarchy_free(h);
    }
}

/* Prefetchers read ahead at lines that no cache has, and behind the last line that a cache has. */
static void test_reads_ahead(void)
{
    static const struct {
        const char *name;
        bool touches; /* lines may come into the second level without accesses */
    } machines[] = { { "zen3", true }, { "spr", true }, { "gnr", true }, { "clx4208", false } };

    for (size_t i = 0; i < COUNT(machines); i++) {
        const struct sim_run all = { 1 << 20, 64, 0, 500, 1, SIM_LOAD, 1, 0 };
        const struct sim_run inner = { (1 << 20) + 6400, 64, 0, 100, 1, SIM_LOAD, 1, 0 };
        const struct sim_run before = { (1 << 20) - 64, 64, 0, 10, 1, SIM_LOAD, 1, 0 };
        const struct sim_run behind = { (1 << 20) + 25600, 64, 0, 1000, 1, SIM_LOAD, 1, 0 };
        const bool touches = machines[i].touches;
        struct sim_machine m;
        struct sim_hierarchy *h = NULL;
        struct exp_why why = { "" };

        CU_ASSERT_FATAL(!exp_machine_find(&m, machines[i].name, "results", &why) && !sim_hierarchy_new(&h, &m));
        CU_ASSERT_EQUAL(sim_hierarchy_reads_ahead(h, &inner), touches);
        sim_emit(sim_hierarchy_sink(h), &all, 1, 1);
        CU_ASSERT(!sim_hierarchy_reads_ahead(h, &inner));
        CU_ASSERT_EQUAL(sim_hierarchy_reads_ahead(h, &before), touches);
        CU_ASSERT_EQUAL(sim_hierarchy_reads_ahead(h, &behind), touches);
        sim_hierarchy_free(h);
    }
}

static uint64_t lines_in_by(struct sim_hierarchy *h, const struct sim_run *run)
{
    sim_hierarchy_clear_stats(h);
    sim_emit(sim_hierarchy_sink(h), run, 1, 1);
    return sim_stats_total(sim_hierarchy_stats(h)).level[0].lines_in;
}

/* The first level is after a skipped part as before, and lines stored in the part go back to memory once. */
static void test_skipped_part(void)
{
    static const char *const names[] = { "zen3", "spr", "gnr", "clx4208-real" };

    for (size_t i = 0; i < COUNT(names); i++) {
        const struct sim_run hot = { 1 << 20, 64, 0, 400, 4, SIM_LOAD, 1, 0 };
        const struct sim_run stored = { 1 << 22, 64, 0, 3000, 1, SIM_STORE, 2, 0 };
        const struct sim_run loaded = { 1 << 23, 64, 0, 3000, 1, SIM_LOAD, 2, 0 };
        struct sim_machine m;
        struct sim_hierarchy *h = NULL;
        struct exp_why why = { "" };
        uint64_t kept, lost;

        CU_ASSERT_FATAL(!exp_machine_find(&m, names[i], "results", &why) && !sim_hierarchy_new(&h, &m));
        for (unsigned n = 0; n < 4; n++)
            sim_emit(sim_hierarchy_sink(h), &hot, 1, 1);
        sim_hierarchy_begin_skip(h);
        sim_hierarchy_touch(h, &stored);
        sim_hierarchy_end_skip(h);
        kept = lines_in_by(h, &hot);
        sim_hierarchy_touch(h, &loaded);
        lost = lines_in_by(h, &hot);
        test_check(kept <= 8 && lost > 200, "%s: %" PRIu64 " lines come after a skipped part, %" PRIu64 " without",
                   names[i], kept, lost);
        sim_hierarchy_flush(h, 0);
        kept = sim_stats_total(sim_hierarchy_stats(h)).memory_written_lines;
        test_check(kept >= 3000 && kept <= 3010, "%s: %" PRIu64 " lines went back", names[i], kept);
        sim_hierarchy_free(h);
    }
}

/* ---- samples ---- */

/* A layer on a machine with prefetchers and a clock. */
struct bench {
    struct exp_setup setup;
    struct exp_models models;
    struct exp_experiment e;
};

static bool open_bench(struct bench *b, const char *layer, const char *algos)
{
    struct exp_why why = { "" };
    unsigned chosen;
    int err;

    *b = (struct bench){ 0 };
    err = exp_machine_find(&b->setup.machine, "zen3", "results", &why);
    err = err ? err : exp_setup_init(&b->setup, "", "", &why);
    err = err ? err : exp_models_read(&b->models, "experiments", "resnet18", layer, &why);
    err = err ? err : exp_algo_select(algos, &chosen, &why);
    err = err ? err : exp_experiment_plan(&b->e, &b->setup, &b->models.model[0], chosen, &why);
    return test_check(!err, "%s", why.text);
}

static void close_bench(struct bench *b)
{
    exp_experiment_release(&b->e);
    exp_models_release(&b->models);
    exp_setup_release(&b->setup);
}

struct run {
    struct sim_hierarchy *h;
    struct sim_clock clock;
    uint64_t mac_instructions;
    struct exp_sample sample;
};

static struct exp_replay_plan plan_of(struct bench *b, size_t i, struct run *r)
{
    const struct exp_case *c = &b->e.cases[i];

    return (struct exp_replay_plan){
        .plan = &c->plan,
        .issue = &b->setup.machine.issue,
        .stack = exp_stacks_find(&b->setup.stacks, c->algo->name, &c->plan),
        .clock = &r->clock,
        .n_clocks = 1,
    };
}

static bool start(struct run *r, struct bench *b)
{
    if (sim_hierarchy_new(&r->h, &b->setup.machine)) {
        CU_FAIL("no simulation");
        return false;
    }
    sim_clock_init(&r->clock, &b->setup.machine, r->h);
    return true;
}

/* Replays a case sampled. Returns the error of exp_sample_plan. */
static int sample(struct run *r, struct bench *b, size_t i, const struct exp_sampling *how, bool draws_all)
{
    const struct exp_replay_plan plan = plan_of(b, i, r);
    int err;

    memset(r, 0, sizeof *r);
    if (!start(r, b))
        return -ENOMEM;
    r->sample = (struct exp_sample){ .how = how, .n_views = 1, .draws_all = draws_all };
    r->sample.view[0] =
        (struct exp_sample_view){ .h = r->h, .machine = &b->setup.machine, .has_stack = true, .clock = &r->clock };
    err = exp_sample_plan(&plan, &r->sample, &r->mac_instructions);
    sim_hierarchy_free(r->h);
    return err;
}

/* Replays a case exactly; the counts are in the sample's view. */
static void replay(struct run *r, struct bench *b, size_t i)
{
    const struct exp_replay_plan plan = plan_of(b, i, r);

    memset(r, 0, sizeof *r);
    if (!start(r, b))
        return;
    CU_ASSERT(!exp_replay_plan(&plan, sim_hierarchy_sink(r->h), &r->mac_instructions));
    r->sample.view[0].stats = *sim_hierarchy_stats(r->h);
    exp_replay_cycles(r->sample.view[0].cycles, &r->clock);
    sim_hierarchy_free(r->h);
}

static double cycles_of(const struct run *r)
{
    double sum = 0;

    for (unsigned p = 0; p < CONV_N_PHASES; p++)
        sum += sim_cycles_sum(&r->sample.view[0].cycles[p]);
    return sum;
}

static void values_of(double of[EXP_N_SAMPLED], const struct run *r, const struct bench *b)
{
    const struct sim_cell sum = sim_stats_total(&r->sample.view[0].stats);

    exp_sample_quantities(of, &b->setup.machine, &sum, cycles_of(r));
}

/* ---- forms ---- */

struct line_list {
    uint64_t *line;
    size_t n, room;
};

static void add_line(struct line_list *l, uint64_t line)
{
    if (l->n && l->line[l->n - 1] == line)
        return;
    if (l->n == l->room) {
        l->room = 2 * l->room + 1024;
        l->line = realloc(l->line, l->room * sizeof *l->line);
    }
    if (l->line)
        l->line[l->n++] = line;
}

static int by_line(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void sort_lines(struct line_list *l)
{
    size_t n = 0;

    qsort(l->line, l->n, sizeof *l->line, by_line);
    for (size_t i = 0; i < l->n; i++) {
        if (!n || l->line[n - 1] != l->line[i])
            l->line[n++] = l->line[i];
    }
    l->n = n;
}

static bool are_equal(struct line_list *a, struct line_list *b)
{
    sort_lines(a);
    sort_lines(b);
    return a->n == b->n && (!a->n || !memcmp(a->line, b->line, a->n * sizeof *a->line));
}

/* Compares the forms of a nest's micro-kernel steps with the steps' accesses. */
struct form_check {
    struct conv_backend base; /* first */
    struct sim_sink sink;
    struct conv_replay replay;
    const struct conv_plan *plan;
    struct exp_forms forms;
    struct exp_sample_lines lines;
    struct line_list real, formed;
    struct line_list real_ahead, formed_ahead; /* of the input and of filters, by prefetch instructions */
    uint64_t n_accesses;
    size_t n_steps, n_compared, n_ahead;
    bool is_equal;
};

static void take_real(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct form_check *c = (struct form_check *)((char *)self - offsetof(struct form_check, sink));

    for (size_t r = 0; r < n_runs; r++) {
        const bool is_ahead = run[r].kind == SIM_PREFETCH;

        c->n_accesses += run[r].count * n_times;
        for (uint64_t i = 0; i < run[r].count * n_times && !(is_ahead && run[r].tag == CONV_OUTPUT); i++) {
            const uint64_t addr = run[r].addr + i / run[r].count * (uint64_t)run[r].step_bytes +
                                  i % run[r].count * (uint64_t)run[r].stride_bytes;

            for (uint64_t l = addr >> LINE_SHIFT; l <= (addr + run[r].access_bytes - 1) >> LINE_SHIFT; l++)
                add_line(is_ahead ? &c->real_ahead : &c->real, l);
        }
    }
}

static void ignore_lines(void *ctx, const struct sim_run *lines)
{
    (void)ctx;
    (void)lines;
}

static void compare_form(struct form_check *c, const struct conv_step *s, const struct exp_form *f,
                         const uint64_t place[EXP_FORM_PARTS])
{
    c->real.n = c->formed.n = c->real_ahead.n = c->formed_ahead.n = c->n_accesses = 0;
    c->replay.base.step(&c->replay.base, s);
    for (size_t p = 0; p < EXP_FORM_PARTS; p++) {
        for (size_t i = 0; i < f->part[p].n; i++) {
            for (uint32_t k = 0; k < f->part[p].box[i].n; k++)
                add_line(p < EXP_FORM_INPUT_AHEAD ? &c->formed : &c->formed_ahead,
                         place[p] + (uint64_t)f->part[p].box[i].first + k);
        }
    }
    c->is_equal &= c->n_accesses == f->n_accesses && are_equal(&c->real, &c->formed);
    if (s->ahead.is_on) { /* further prefetch instructions are for the call's own panels */
        c->is_equal &= are_equal(&c->real_ahead, &c->formed_ahead);
        c->n_ahead += c->real_ahead.n;
    }
    c->n_compared++;
}

static int check_form(struct conv_backend *self, const struct conv_step *s)
{
    struct form_check *c = (struct form_check *)self;
    uint64_t place[EXP_FORM_PARTS];
    const struct exp_form *f;

    if (s->kind != CONV_STEP_UKR)
        return 0;
    f = exp_forms_find(&c->forms, c->plan, &c->replay.bind, s, &c->lines, place);
    if (f && c->n_steps++ % 31 == 0)
        compare_form(c, s, f, place);
    return 0;
}

/* A form has the lines, the lines prefetched for later steps, and the number of accesses of each step of the form. */
static void test_forms(void)
{
    static const char *const layers[] = { "conv0", "stage2_block0_conv0", "stage4_block0_conv1" };

    for (size_t l = 0; l < COUNT(layers); l++) {
        struct bench b;

        if (!open_bench(&b, layers[l], "base,sconv_is,sconv_ws,sconv_tuned,sconv_openblas"))
            return;
        for (size_t i = 0; i < b.e.n_cases; i++) {
            struct form_check c = { .base.step = check_form, .sink.accept = take_real, .is_equal = true };

            c.plan = &b.e.cases[i].plan;
            conv_replay_init(&c.replay, c.plan, &c.sink);
            exp_forms_init(&c.forms, 512, 8192, true);
            exp_sample_lines_init(&c.lines, LINE_SHIFT, 512, ignore_lines, NULL);
            CU_ASSERT(!conv_nest_run(c.plan, &c.base));
            CU_ASSERT(c.n_ahead || strcmp(b.e.cases[i].algo->name, "sconv_tuned") != 0);
            test_check(c.is_equal && c.n_compared > 0, "%s %s: a form has other lines or accesses (%zu steps)",
                       layers[l], b.e.cases[i].algo->name, c.n_compared);
            exp_sample_lines_release(&c.lines);
            exp_forms_release(&c.forms);
            free(c.real.line);
            free(c.formed.line);
            free(c.real_ahead.line);
            free(c.formed_ahead.line);
        }
        close_bench(&b);
    }
}

static const struct exp_sampling usual = { EXP_SAMPLING_ALWAYS, 0.01, 1, 0.3 };

/* If every unit is drawn, all counts are the exact replay's counts. */
static void test_whole(void)
{
    struct bench b;
    struct run whole, exact;

    if (!open_bench(&b, "stage4_block0_down", "base,sconv_is,sconv_ws,sconv_tuned"))
        return;
    for (size_t i = 0; i < b.e.n_cases; i++) {
        const char *algo = b.e.cases[i].algo->name;

        replay(&exact, &b, i);
        CU_ASSERT(!sample(&whole, &b, i, &usual, true));
        test_check(!memcmp(&whole.sample.view[0].stats, &exact.sample.view[0].stats, sizeof(struct sim_stats)),
                   "%s: the counts differ", algo);
        CU_ASSERT_EQUAL(whole.mac_instructions, exact.mac_instructions);
        test_check(fabs(cycles_of(&whole) / cycles_of(&exact) - 1) < 1e-4, "%s: %.0f cycles are not %.0f", algo,
                   cycles_of(&whole), cycles_of(&exact));
        test_check(fabs(whole.sample.share - 1) < 1e-9, "%s: the share is %g", algo, whole.sample.share);
    }
    close_bench(&b);
}

/* A sample has all accesses, and counts near the exact replay's counts; equal seeds give equal samples. */
static void test_samples(void)
{
    static const double within[EXP_N_SAMPLED] = {
        [EXP_SAMPLED_CYCLES] = 0.02,      [EXP_SAMPLED_L1_LINES] = 0.03,    [EXP_SAMPLED_DEMAND] = 0.06,
        [EXP_SAMPLED_L1_MISSES] = 0.1,    [EXP_SAMPLED_L2_LINES] = 0.35,    [EXP_SAMPLED_L2_MISSES] = 0.5,
        [EXP_SAMPLED_L3_MISSES] = 2,      [EXP_SAMPLED_MEMORY_READ] = 0.01, [EXP_SAMPLED_MEMORY_WRITTEN] = 0.05,
        [EXP_SAMPLED_DTLB_MISSES] = 0.03, [EXP_SAMPLED_L1_BORDER] = 0.05,   [EXP_SAMPLED_L2_BORDER] = 0.35,
        [EXP_SAMPLED_EQ6] = 0.4, /* a rare miss of the last level has the largest latency */
    };
    struct bench b;
    struct run exact, one, again;

    if (!open_bench(&b, "conv0", "base,sconv_is,sconv_ws,sconv_tuned"))
        return;
    for (size_t i = 0; i < b.e.n_cases; i++) {
        const char *algo = b.e.cases[i].algo->name;
        double a[EXP_N_SAMPLED], e[EXP_N_SAMPLED];
        struct sim_cell all, some;

        replay(&exact, &b, i);
        test_check(!sample(&one, &b, i, &usual, false), "%s is not sampled", algo);
        CU_ASSERT(!sample(&again, &b, i, &usual, false));
        CU_ASSERT(!memcmp(&one.sample.view[0], &again.sample.view[0], offsetof(struct exp_sample_view, h)));
        CU_ASSERT(!memcmp(&one.sample.view[0].stats, &again.sample.view[0].stats, sizeof(struct sim_stats)));
        CU_ASSERT(!memcmp(one.sample.view[0].pm, again.sample.view[0].pm, sizeof one.sample.view[0].pm));
        all = sim_stats_total(&exact.sample.view[0].stats);
        some = sim_stats_total(&one.sample.view[0].stats);
        test_check(all.loads == some.loads && all.stores == some.stores && all.load_bytes == some.load_bytes &&
                       all.store_bytes == some.store_bytes && all.software_prefetches == some.software_prefetches,
                   "%s: accesses are not all counted", algo);
        CU_ASSERT_EQUAL(one.mac_instructions, exact.mac_instructions);
        test_check(one.sample.share > 0 && one.sample.share < 0.6, "%s: a share of %g", algo, one.sample.share);
        values_of(a, &one, &b);
        values_of(e, &exact, &b);
        for (size_t q = 0; q < EXP_N_SAMPLED; q++)
            test_check(fabs(a[q] - e[q]) <= within[q] * e[q] + 1e-4 * (double)all.loads, "%s, %s: %.0f is not %.0f",
                       algo, exp_sampled_name((enum exp_sampled)q), a[q], e[q]);
        test_check(one.sample.view[0].pm[EXP_SAMPLED_CYCLES] > 0 &&
                       one.sample.view[0].pm[EXP_SAMPLED_CYCLES] < 0.1 * a[0],
                   "%s: cycles +- %g", algo, one.sample.view[0].pm[EXP_SAMPLED_CYCLES]);
    }
    close_bench(&b);
}

/*
 * Rare waits for memory. Skipped packing steps of filters read ahead as packing does: a footprint that reads ahead less
 * had 25 to 41 % too few load misses. The few pieces of im2col that read new elements are drawn: without them, im2col's
 * waits were 60 to 98 % too few.
 */
static void test_waits(void)
{
    static const struct {
        const char *layer;
        enum conv_phase phase;
    } traps[] = { { "conv0", CONV_PHASE_IM2COL }, { "stage3_block0_conv1", CONV_PHASE_PACK } };

    for (size_t i = 0; i < COUNT(traps); i++) {
        struct bench b;
        struct run exact, some;
        double was, is;

        if (!open_bench(&b, traps[i].layer, "base"))
            return;
        replay(&exact, &b, 0);
        CU_ASSERT(!sample(&some, &b, 0, &usual, false));
        was = exact.sample.view[0].cycles[traps[i].phase].waiting[b.setup.machine.n_levels];
        is = some.sample.view[0].cycles[traps[i].phase].waiting[b.setup.machine.n_levels];
        test_check(was > 0 && fabs(is / was - 1) < 0.2, "%s: %.0f cycles of waiting for memory are not %.0f",
                   traps[i].layer, is, was);
        was = (double)sim_stats_phase(&exact.sample.view[0].stats, traps[i].phase).level[2].load_misses;
        is = (double)sim_stats_phase(&some.sample.view[0].stats, traps[i].phase).level[2].load_misses;
        test_check(was > 0 && fabs(is / was - 1) < 0.1, "%s: %.0f load misses are not %.0f", traps[i].layer, is, was);
        close_bench(&b);
    }
}

/* Caches alone do not heed prefetch instructions: a skipped step's prefetched filters come with their first use. */
static void test_alone(void)
{
    struct bench b;
    struct run r = { 0 };
    struct sim_hierarchy *alone = NULL;
    struct exp_replay_plan plan;
    struct sim_cell was, is;

    if (!open_bench(&b, "stage3_block0_conv1", "sconv_tuned"))
        return;
    if (!start(&r, &b) || sim_hierarchy_new(&alone, &b.setup.alone)) {
        CU_FAIL("no simulation");
        return;
    }
    plan = plan_of(&b, 0, &r);
    r.sample = (struct exp_sample){ .how = &usual, .n_views = 2 };
    r.sample.view[0] =
        (struct exp_sample_view){ .h = r.h, .machine = &b.setup.machine, .has_stack = true, .clock = &r.clock };
    r.sample.view[1] = (struct exp_sample_view){ .h = alone, .machine = &b.setup.alone };
    CU_ASSERT(!exp_sample_plan(&plan, &r.sample, &r.mac_instructions));
    is = sim_stats_total(&r.sample.view[1].stats);
    sim_hierarchy_clear(alone);
    plan.stack = NULL;
    plan.n_clocks = 0;
    CU_ASSERT(!exp_replay_plan(&plan, sim_hierarchy_sink(alone), &r.mac_instructions));
    was = sim_stats_total(sim_hierarchy_stats(alone));
    test_check(fabs((double)is.level[1].load_misses / (double)was.level[1].load_misses - 1) < 0.02,
               "%" PRIu64 " load misses of L2 are not %" PRIu64, is.level[1].load_misses, was.level[1].load_misses);
    sim_hierarchy_free(alone);
    sim_hierarchy_free(r.h);
    close_bench(&b);
}

/* A stream is left to the exact replay if a sample would be the larger part of the stream. */
static void test_short(void)
{
    struct bench b;
    struct run r;

    if (!open_bench(&b, "stage4_block0_down", "sconv_ws"))
        return;
    CU_ASSERT_EQUAL(sample(&r, &b, 0, &usual, false), -ERANGE);
    close_bench(&b);
}

/* ---- the choice ---- */

/* Lists a nest's steps as pieces of equal size. */
struct lister {
    struct conv_backend base;
    const struct conv_plan *plan;
    struct exp_pieces pieces;
};

static int list(struct conv_backend *self, const struct conv_step *s)
{
    struct lister *l = (struct lister *)self;

    exp_pieces_add(&l->pieces, l->plan, s, s->n_win * s->n_k + 1, false, false);
    return 0;
}

/* Every class is drawn, rare classes too. As many units are drawn as wanted, and no unit twice. */
static void test_choice(void)
{
    struct bench b;

    if (!open_bench(&b, "stage3_block0_conv1", "base,sconv_is,sconv_ws,sconv_tuned"))
        return;
    for (size_t i = 0; i < b.e.n_cases; i++) {
        struct lister l = { .base.step = list, .plan = &b.e.cases[i].plan, .pieces.unit_accesses = 30000 };
        size_t wanted[512], n_drawn = 0;
        bool *has = calloc(4096, sizeof *has);

        CU_ASSERT_FATAL(has != NULL);
        CU_ASSERT(!conv_nest_run(l.plan, &l.base));
        exp_pieces_end(&l.pieces, rng_u64());
        CU_ASSERT_FATAL(l.pieces.n_strata <= COUNT(wanted) && l.pieces.n_groups <= 4096);
        for (size_t s = 0; s < l.pieces.n_strata; s++)
            wanted[s] = 1 + rng_below(3);
        CU_ASSERT(exp_pieces_draw(&l.pieces, wanted) <= l.pieces.accesses);
        for (size_t s = 0; s < l.pieces.n_strata; s++) {
            const size_t n = l.pieces.stratum[s].n_units;

            test_check(l.pieces.stratum[s].n_drawn == (wanted[s] < n ? wanted[s] : n), "stratum %zu", s);
            wanted[s] = n;
        }
        for (size_t k = 0; k < l.pieces.n; k++)
            has[l.pieces.piece[k].class] |= l.pieces.piece[k].mode == EXP_PIECE_DRAWN;
        for (size_t g = 0; g < l.pieces.n_groups; g++)
            test_check(has[g], "%s: group %zu is not drawn", b.e.cases[i].algo->name, g);
        for (size_t u = 0; u < l.pieces.n_units; u++)
            n_drawn += l.pieces.drawn[u];
        exp_pieces_draw(&l.pieces, wanted);
        for (size_t u = 0; u < l.pieces.n_units; u++) {
            CU_ASSERT(l.pieces.drawn[u] != l.pieces.used[u]);
            n_drawn += l.pieces.drawn[u];
        }
        CU_ASSERT_EQUAL(n_drawn, l.pieces.n_units);
        exp_pieces_release(&l.pieces);
        free(has);
    }
    close_bench(&b);
}

/* ---- the option ---- */

static void test_option(void)
{
    static const char *const bad[] = { "", "0", "x", "0%", "200%", "1", "1%%", "-1%", "nan%", "0.001%", "1 %" };
    struct exp_sampling s;
    struct exp_why why;

    CU_ASSERT(!exp_sampling_read(&s, "exact", &why) && s.mode == EXP_SAMPLING_EXACT);
    CU_ASSERT(!exp_sampling_read(&s, "auto", &why) && s.mode == EXP_SAMPLING_AUTO && s.target == 0.01);
    CU_ASSERT(!exp_sampling_read(&s, "0.5%", &why) && s.mode == EXP_SAMPLING_ALWAYS && s.target == 0.005);
    for (size_t i = 0; i < COUNT(bad); i++) {
        test_check(exp_sampling_read(&s, bad[i], &why) == -EINVAL, "SAMPLE='%s' is taken", bad[i]);
        test_check(strstr(why.text, "SAMPLE=") && !strchr(why.text, '\n'), "%s", why.text);
    }
}

static const struct test_case cases[] = {
    { "footprints are the lines of all accesses", test_lattices },
    { "bursts leave the lines of all accesses, at any place", test_bursts },
    { "touched lines come from memory once, and go back if stored", test_touch },
    { "touched lines far from the next access leave the second level as it is", test_touch_far },
    { "prefetchers read ahead at lines that no cache has", test_reads_ahead },
    { "the first level is after a skipped part as before", test_skipped_part },
    { "a form has the lines of all accesses", test_forms },
    { "a sample of everything is the exact replay", test_whole },
    { "samples have all accesses, and counts near the exact counts", test_samples },
    { "rare waits for memory are found", test_waits },
    { "caches alone do not heed prefetch instructions", test_alone },
    { "short streams are not sampled", test_short },
    { "every class of steps is drawn, and no unit twice", test_choice },
    { "SAMPLE takes auto, exact and targets", test_option },
    { NULL, NULL },
};

const struct test_suite suite_exp_sample = { "exp_sample", cases };
