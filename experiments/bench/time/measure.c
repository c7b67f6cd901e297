#include "experiments/bench/time/measure.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "counters/host/ctr_pin.h"
#include "counters/host/ctr_timer.h"
#include "counters/perf/ctr_loop.h"
#include "counters/proof/ctr_counters.h"
#include "experiments/base/program.h"
#include "experiments/base/tasks.h"
#include "experiments/bench/case/elements.h"
#include "experiments/bench/case/estimate.h"
#include "experiments/bench/plugin/plugin.h"

enum { MAX_PHASE_RUNS = 3, ROUNDS_PER_PASS = 5 };

/* A step-by-step run longer than this, in medians of the samples, was disturbed, and is repeated. */
static const double phase_tolerance = 1.2;

static const char counts_group[] = "CACHE"; /* of events: in the folder of the CPU's kind */

/* A group of events, and how the group is opened. */
struct events {
    int (*open)(struct ctr_counters *c, const struct ctr_source *source, const char *groups_dir, const char *uarch,
                const char *group, struct sim_why why);
    const struct ctr_source *source;
    const char *groups_dir, *uarch, *group;
};

/* One event group, and the counts requested from the group. */
struct counting {
    struct events events;
    enum exp_count first, end;
    struct ctr_counters counters;
    const char *why; /* NULL: open */
};

struct measure {
    struct exp_experiment *e;
    const struct exp_measure_options *o;
    struct exp_progress *progress;
    struct counting hardware, common, software;
    struct conv_blas_parts parts; /* base's steps, unless info->why_no_base_steps */
    struct exp_cold cold;         /* unless warm */
    struct exp_ruler *ruler;      /* NULL: none */
    struct exp_measure_info *info;
    uint64_t reading_ns; /* of the samples' clock */
    int err;
};

/* A contender: one case on its tensors. */
struct runner {
    struct measure *m;
    struct exp_case *c;
    struct exp_tensors tensors; /* a plug-in's tensors are in the plug-in's process */
    struct exp_plugin *plugin;  /* NULL: none */
    uint64_t took_ns;           /* by the plug-in's clock */
    uint64_t seed;              /* seed of the last change */
};

static int run(void *ctx)
{
    struct runner *r = ctx;

    if (r->plugin) { /* a failure of a plug-in is a reason in its own columns */
        exp_plugin_run(r->plugin, &r->took_ns);
        return 0;
    }
    return r->c->algo->run(r->m->e->setup, &r->c->plan, &r->tensors.bind);
}

static uint64_t own_time(void *ctx, uint64_t ns)
{
    const struct runner *r = ctx;

    return r->plugin ? r->took_ns : ns;
}

/* Writes the input tensor's values over the tensor. */
static void touch_input(const struct runner *r)
{
    const size_t bytes = r->c->plan.layout.bytes[CONV_INPUT];
    volatile float *in = conv_out_ptr(r->tensors.bind.addr[CONV_INPUT]);
    volatile unsigned char *rest = (volatile unsigned char *)in;

    for (size_t i = 0; i < bytes / sizeof(float); i++)
        in[i] = in[i];
    for (size_t i = bytes - bytes % sizeof(float); i < bytes; i++)
        rest[i] = rest[i];
}

/* Changes some lines as a plug-in's process does: all algorithms then start with equally warm caches. */
static void change_some(struct runner *r)
{
    const size_t *bytes = r->c->plan.layout.bytes;
    void *in = conv_out_ptr(r->tensors.bind.addr[CONV_INPUT]);
    float *out = conv_out_ptr(r->tensors.bind.addr[CONV_OUTPUT]);

    r->seed += 2;
    exp_elements_change(in, bytes[CONV_INPUT], r->m->e->setup->type, r->seed);
    exp_output_spoil_some(out, bytes[CONV_OUTPUT] / sizeof *out, r->seed);
}

/* Brings the caches into the state of exp_cache_state. */
static int prepare(void *ctx)
{
    struct runner *r = ctx;
    int err;

    if (r->plugin) {
        exp_plugin_prepare(r->plugin, r->m->o->cache);
        return 0;
    }
    if (r->m->o->cache == EXP_WARM) {
        err = run(ctx);
        change_some(r);
        return err;
    }
    exp_cold_empty(&r->m->cold, &r->c->plan, &r->tensors);
    if (r->m->o->cache == EXP_NETWORK)
        touch_input(r);
    return 0;
}

static void open_counting(struct counting *k, const struct events *e, struct exp_measure_source *s)
{
    k->events = *e;
    if (e->open(&k->counters, e->source, e->groups_dir, e->uarch, e->group, SIM_WHY(s->why))) {
        k->why = s->why;
        return;
    }
    snprintf(s->name, sizeof s->name, "%s %s/%s", e->source->name, k->counters.group->uarch, k->counters.group->name);
    s->why[0] = '\0';
}

/* The first case without a count gives the reason for all cases. */
static const char *why_missing(struct exp_measure_info *info, const struct ctr_reading *reading, enum exp_count c)
{
    const struct sim_why why = SIM_WHY(info->why_not_counted[c]);

    if (!*why.text)
        ctr_reading_explain(reading, exp_count_name(c), why);
    return why.text;
}

static void keep_count(struct counting *k, struct runner *r, const struct ctr_reading *reading, enum exp_count c)
{
    struct exp_measured *m = &r->c->measured;

    double number = 0;
    const char *why = k->why;

    if (!why && ctr_reading_metric(reading, exp_count_name(c), &number))
        why = why_missing(r->m->info, reading, c);
    m->count[c] = value_or(number, why);
}

/* Counts one run per event set, so that no set is scaled. */
static int count_sets(struct ctr_counters *c, const struct exp_runs *runs, struct ctr_reading *reading)
{
    int err = 0;

    for (size_t set = 0; set < c->group->n_sets && !err; set++) {
        err = runs->prepare(runs->ctx);
        err = err ? err : ctr_session_start_set(c->session, set);
        err = err ? err : runs->run(runs->ctx);
        err = err ? err : ctr_session_stop(c->session);
    }
    return err ? err : ctr_counters_read(c, reading);
}

/* The counts of a plug-in's process. */
struct outside_count {
    struct events events;
    enum exp_count first, end;
    bool has[EXP_N_COUNTS];
    double value[EXP_N_COUNTS];
    char why[400]; /* of a missing count */
};

/* Counts in the plug-in's process, with counters of the process. */
static void count_there(void *data, const struct exp_runs *runs)
{
    struct outside_count *x = data;
    const struct events *e = &x->events;
    struct ctr_counters *c = exp_new(1, sizeof *c);
    struct ctr_reading reading;

    if (!e->open(c, e->source, e->groups_dir, e->uarch, e->group, SIM_WHY(x->why))) {
        int err = count_sets(c, runs, &reading);

        if (err)
            exp_say(x->why, sizeof x->why, "counting failed: %s", strerror(-err));
        for (enum exp_count i = x->first; i < x->end && !err; i++) {
            x->has[i] = !ctr_reading_metric(&reading, exp_count_name(i), &x->value[i]);
            if (!x->has[i])
                ctr_reading_explain(&reading, exp_count_name(i), SIM_WHY(x->why));
        }
        ctr_counters_close(c);
    }
    free(c);
}

static void count_outside(const struct counting *k, struct runner *r)
{
    struct exp_measured *m = &r->c->measured;
    struct outside_count x = { .events = k->events, .first = k->first, .end = k->end };
    const char *why = k->why ? k->why : exp_plugin_do(r->plugin, count_there, &x, sizeof x);

    if (!why && *x.why)
        why = exp_plugin_keep(r->plugin, x.why);
    for (enum exp_count c = k->first; c < k->end; c++) {
        m->count[c] = value_or(x.value[c], x.has[c] ? NULL : why ? why : "not counted");
    }
}

static int count(struct counting *k, struct runner *r)
{
    const struct exp_runs runs = { prepare, run, r };
    struct ctr_reading reading;
    int err;

    if (r->plugin) {
        count_outside(k, r);
        return 0;
    }
    err = k->why ? 0 : count_sets(&k->counters, &runs, &reading);
    for (enum exp_count c = k->first; c < k->end && !err; c++)
        keep_count(k, r, &reading, c);
    return err;
}

static void keep_samples(struct exp_measured *k, const uint64_t *sample, const struct exp_mark *mark, size_t n)
{
    k->sample_ns = exp_resize(k->sample_ns, k->n_samples + n, sizeof *sample);
    k->mark = exp_resize(k->mark, k->n_samples + n, sizeof *mark);
    memcpy(k->sample_ns + k->n_samples, sample, n * sizeof *sample);
    memcpy(k->mark + k->n_samples, mark, n * sizeof *mark);
    k->n_samples += n;
    k->why = NULL;
}

static int run_steps(struct runner *r, struct exp_phases *x)
{
    const struct conv_plan *plan = &r->c->plan;

    if (r->plugin) {
        exp_plugin_steps(r->plugin, x);
        return 0;
    }
    if (plan->algorithm == CONV_GEMM && r->c->algo == exp_algo_base())
        return exp_phases_run_base(plan, &r->tensors.bind, &r->m->parts, r->m->o->now_ns, x);
    return exp_phases_run(plan, &r->tensors.bind, r->m->o->now_ns, x);
}

/*
 * Finds the phases of a run: the fastest of a few runs under the phases' clocks; one run, if about as long as the
 * samples.
 */
static int measure_phases(struct runner *r)
{
    struct exp_measured *k = &r->c->measured;
    double enough_ns = phase_tolerance * exp_case_times(r->c).median;
    int err = 0;

    k->phases.why = r->c->algo->why_no_phases;
    if (r->c->algo == exp_algo_base() && r->c->plan.algorithm == CONV_GEMM && *r->m->info->why_no_base_steps.text)
        k->phases.why = r->m->info->why_no_base_steps.text;
    for (int i = 0; i < MAX_PHASE_RUNS && !err && !k->phases.why; i++) {
        struct exp_phases x;

        err = exp_interrupted() ? -EINTR : prepare(r);
        err = err ? err : run_steps(r, &x);
        if (!err && (!i || x.why || x.total_ns < k->phases.total_ns))
            k->phases = x;
        if (!err && (double)x.total_ns <= enough_ns)
            break;
    }
    return err;
}

/* Takes a runner's counts and phases, once. */
static int count_runner(struct measure *m, struct runner *r)
{
    int err = count(&m->hardware, r);

    err = err ? err : count(&m->common, r);
    err = err ? err : count(&m->software, r);
    return err ? err : measure_phases(r);
}

/* Times the n >= 1 runners of one layer in turns; the first time, counts the runners one by one. */
static int measure_runners(struct measure *m, struct runner *runner, size_t n, size_t n_rounds)
{
    struct exp_contender contender[EXP_MAX_ALGOS];
    const size_t n_before = runner[0].c->measured.n_samples;
    const struct exp_watch watch = exp_ruler_watch(m->ruler);
    uint64_t *sample = exp_new(n * n_rounds, sizeof *sample);
    struct exp_mark *mark = exp_new(n * n_rounds, sizeof *mark);
    const struct exp_bench bench = {
        .n_warmups = 1,
        .first = n_before,
        .rounds = { n_rounds, n_rounds, 0 },
        .now_ns = m->o->now_ns,
        .reading_ns = m->reading_ns,
        .took_ns = own_time,
        .interrupted = exp_interrupted,
        .watch = m->ruler ? &watch : NULL,
        .mark = mark,
    };
    struct exp_bench_result result;
    int err;

    for (size_t i = 0; i < n; i++)
        contender[i] = (struct exp_contender){ runner[i].c->algo->name, run, prepare, &runner[i] };
    err = exp_bench_run(&bench, contender, n, sample, &result);
    for (size_t i = 0; i < n && !err; i++) {
        keep_samples(&runner[i].c->measured, sample + i * n_rounds, mark + i * n_rounds, result.n_rounds);
        if (!n_before)
            err = count_runner(m, &runner[i]);
    }
    free(sample);
    free(mark);
    return err;
}

/* Gives a case its tensors. Returns 0, or -errno; a failing plug-in has a reason in its columns. */
static int begin_runner(struct runner *r)
{
    if (!r->plugin)
        return exp_tensors_init(&r->tensors, &r->c->plan);
    r->c->measured.why = exp_plugin_open(r->plugin, 0, &r->c->plan, r->m->o->now_ns);
    return 0;
}

/* Keeps the shortest times of a plug-in's conversions. Refuses the case if its times are invalid. */
static void end_plugin(struct runner *r)
{
    struct exp_measured *k = &r->c->measured;
    struct exp_plugin_closed closed;
    const char *why = exp_plugin_close(r->plugin, &closed);

    for (size_t i = 0; i < 2; i++) {
        const double ns = (double)closed.convert_ns[i];

        k->convert_ns[i] = k->convert_ns[i] > 0 && k->convert_ns[i] < ns ? k->convert_ns[i] : ns;
    }
    if (why)
        exp_case_refuse(&r->m->e->cases[r->c->same_as], why, closed.fault);
}

static void end_runner(struct runner *r)
{
    if (r->plugin)
        end_plugin(r);
    else
        exp_tensors_release(&r->tensors);
}

static int measure_layer(struct measure *m, struct exp_case *first, size_t n_rounds)
{
    struct runner runner[EXP_MAX_ALGOS];
    size_t n = 0;
    int err = 0;

    for (size_t a = 0; a < m->e->n_algos && !err; a++) {
        first[a].measured.why = exp_case_why_not_run(m->e, &first[a]);
        if (first[a].measured.why)
            continue;
        runner[n] = (struct runner){ .m = m, .c = &first[a], .plugin = first[a].algo->plugin };
        err = begin_runner(&runner[n]);
        n += !first[a].measured.why;
    }
    if (!err && n)
        err = measure_runners(m, runner, n, n_rounds);
    while (n)
        end_runner(&runner[--n]);
    exp_experiment_condemn(m->e);
    return err;
}

/*
 * Estimates the timing of a layer. Every run is prepared, by flushing or sweeping; a pass begins with an untimed round.
 */
double exp_measure_seconds(const struct exp_case *first, size_t n_algos, size_t n_rounds)
{
    double run = 0;

    for (size_t a = 0; a < n_algos; a++)
        run += 2e-11 * conv_macs(&first[a].layer->problem) + 1e-10 * (double)first[a].plan.layout.arena_bytes;
    return run * (double)n_rounds * (1 + 1.0 / ROUNDS_PER_PASS);
}

static const struct ctr_source *source_of(const struct exp_measure_options *o)
{
    return o->source ? o->source : &ctr_source_perf;
}

bool exp_measure_counts(const struct exp_measure_options *o)
{
    struct ctr_counters *c = exp_new(1, sizeof *c);
    char why[400];
    bool counts = !ctr_counters_open(c, source_of(o), o->groups_dir, o->uarch, counts_group, SIM_WHY(why));

    if (counts)
        ctr_counters_close(c);
    free(c);
    return counts;
}

static void open_all(struct measure *m, struct exp_measure_info *info)
{
    const struct exp_measure_options *o = m->o;
    const struct events hardware = { ctr_counters_open, source_of(o), o->groups_dir, o->uarch, counts_group };
    const struct events common = { ctr_counters_open, source_of(o), o->groups_dir, o->uarch, "COMMON" };
    const struct events software = { ctr_counters_open_plain, &ctr_source_perf, CTR_GROUPS_DIR, "software",
                                     "SOFTWARE" };

    if (m->o->cache != EXP_WARM) {
        exp_cold_init(&m->cold, m->e->setup);
        exp_cold_describe(&m->cold, info->emptied, sizeof info->emptied);
    }
    exp_phases_find_parts(&m->parts, m->e->setup, &info->why_no_base_steps);
    open_counting(&m->hardware, &hardware, &info->hardware);
    open_counting(&m->common, &common, &info->common);
    open_counting(&m->software, &software, &info->software);
    snprintf(info->counter_note, sizeof info->counter_note, "%s", m->hardware.counters.census.note);
}

/* Returns the number of rounds of the layer with the fewest, among timed layers; 0 without a timed layer. */
static size_t fewest_rounds(const struct exp_experiment *e)
{
    size_t fewest = SIZE_MAX;

    for (size_t i = 0; i < e->n_cases; i++) {
        const struct exp_measured *k = &e->cases[i].measured;

        if (!exp_case_why_not_run(e, &e->cases[i]) && k->n_samples < fewest)
            fewest = k->n_samples;
    }
    return fewest < SIZE_MAX ? fewest : 0;
}

static bool stands(void *experiment)
{
    return exp_cases_stand(experiment);
}

/* Announces the end of the rounds. */
static void drop_rounds(struct measure *m)
{
    for (size_t l = 0; l < m->e->model->n_layers; l++) {
        const struct exp_case *first = &m->e->cases[l * m->e->n_algos];
        size_t left = m->o->rounds.most - first->measured.n_samples;

        exp_progress_drop(m->progress, EXP_WORK_ROUNDS, exp_measure_seconds(first, m->e->n_algos, left));
    }
}

/* Gives each layer some more rounds, unless the time is over. */
static int measure_pass(struct measure *m, size_t n_rounds, uint64_t start_ns)
{
    const size_t n_before = fewest_rounds(m->e);
    char step[64];
    int err = 0;

    exp_say(step, sizeof step, "timing rounds %zu to %zu", n_before + 1, n_before + n_rounds);

    for (size_t l = 0; l < m->e->model->n_layers && !err; l++) {
        struct exp_case *first = &m->e->cases[l * m->e->n_algos];

        if (exp_rounds_end(&m->o->rounds, n_before, ctr_now_ns() - start_ns, NULL, NULL) != EXP_GOES_ON)
            break;
        exp_progress_begin(m->progress, EXP_WORK_ROUNDS, first->layer->name, step);
        err = measure_layer(m, first, n_rounds);
        exp_progress_step(m->progress, EXP_WORK_ROUNDS, exp_measure_seconds(first, m->e->n_algos, n_rounds));
    }
    return err;
}

/* Notes for each case how slow the ruler was beside the rounds that count. */
static void note_slowed(const struct measure *m)
{
    for (size_t i = 0; i < m->e->n_cases && m->ruler; i++) {
        struct exp_measured *k = &m->e->cases[i].measured;

        if (k->n_samples)
            k->slowed = exp_ruler_slowed(&m->ruler->best, k->sample_ns, k->mark, k->n_samples);
    }
}

static int measure_layers(struct measure *m)
{
    const struct exp_rounds *rounds = &m->o->rounds;
    const uint64_t start_ns = ctr_now_ns();
    int err = 0;

    exp_ruler_limit(m->ruler, m->o->ruler_ns);
    while (!err && m->info->end == EXP_GOES_ON) {
        size_t left = rounds->most - m->info->n_rounds;

        err = measure_pass(m, left < ROUNDS_PER_PASS ? left : ROUNDS_PER_PASS, start_ns);
        m->info->n_rounds = fewest_rounds(m->e);
        if (!err && !m->info->n_rounds) /* nothing runs here */
            break;
        if (!err && m->info->n_rounds <= ROUNDS_PER_PASS) /* of the first answer */
            note_slowed(m);
        if (!err && m->o->passed)
            m->o->passed(m->o->ctx, m->info->n_rounds);
        if (!err)
            m->info->end = exp_rounds_end(rounds, m->info->n_rounds, ctr_now_ns() - start_ns, stands, m->e);
    }
    drop_rounds(m);
    return err;
}

/* Returns how far the medians of all cases lie above the fastest rounds; NaN if nothing was timed. */
static double median_percent(const struct exp_experiment *e)
{
    struct exp_times sum = { 0 };

    for (size_t i = 0; i < e->n_cases; i++) {
        const struct exp_times x = exp_case_times(&e->cases[i]);

        if (e->cases[i].measured.n_samples)
            exp_times_add(&sum, &x);
    }
    return exp_times_median_percent(&sum);
}

/* Judges all timings by the best readings of the whole run. */
static struct exp_ruler_report report_ruler(const struct measure *m)
{
    struct exp_ruler_report report = { .limit_ended = m->ruler && m->ruler->kept.limit_ended };

    for (size_t i = 0; i < m->e->n_cases && m->ruler; i++) {
        const struct exp_measured *k = &m->e->cases[i].measured;

        if (k->n_samples)
            exp_ruler_report_add(&report, &m->ruler->best, k->mark, k->n_samples);
    }
    return report;
}

/*
 * If too many timings were disturbed, tells how many; or, without rounds enough for an interval or without
 * keeps_disturbed, withdraws all times. The samples stay, with their marks.
 */
static void judge_disturbed(struct measure *m)
{
    const struct exp_ruler_report *r = &m->info->ruler;
    char said[128];

    if (exp_ruler_is_measured(r))
        return;
    if (m->o->keeps_disturbed && m->info->n_rounds >= EXP_RATIO_LEAST_ROUNDS) {
        exp_say(m->info->busy, sizeof m->info->busy,
                "on a busy computer: %zu of %zu timings were disturbed, and the intervals are wider for them",
                r->n_disturbed, r->n_timings);
        return;
    }
    exp_ruler_say(&m->info->ruler, said, sizeof said);
    exp_say(m->info->why_disturbed, sizeof m->info->why_disturbed, "disturbed: %s", said);
    for (size_t i = 0; i < m->e->n_cases; i++) {
        struct exp_measured *k = &m->e->cases[i].measured;

        if (k->n_samples)
            k->why = m->info->why_disturbed;
    }
}

/* Withdraws the times of plug-ins that ended before the last round. */
static void refuse_dead(struct measure *m)
{
    for (size_t i = 0; i < m->e->n_cases; i++) {
        struct exp_case *c = &m->e->cases[i];

        if (c->algo->plugin && exp_case_why_not_run(m->e, c))
            c->measured.why = exp_case_why_not_run(m->e, c);
    }
}

/* Runs on a thread of its own: threads started later must not inherit the pin. */
static void *measure_thread(void *ctx)
{
    struct measure *m = ctx;
    const struct conv_peak *peak = conv_peak_of(m->e->setup->ukr->isa);

    if (ctr_pin(-1, &m->info->core, SIM_WHY(m->info->why_not_pinned)))
        m->info->core = -1;
    open_all(m, m->info);
    m->reading_ns = ctr_reading_ns(m->o->now_ns);
    if (m->o->ruler_ns)
        m->err = (m->o->new_ruler ? m->o->new_ruler : exp_ruler_new)(&m->ruler, peak);
    exp_disturbance_begin(&m->info->disturbance, "/proc", peak);
    m->info->ran_at_ghz = ctr_core_ghz();
    if (!m->err)
        m->err = measure_layers(m);
    m->info->ran_at_ghz = fmax(m->info->ran_at_ghz, ctr_core_ghz());
    exp_disturbance_end(&m->info->disturbance, "/proc", peak);
    m->info->disturbance.median_percent = median_percent(m->e);
    m->info->ruler = report_ruler(m);
    note_slowed(m);
    judge_disturbed(m);
    refuse_dead(m);
    exp_ruler_free(m->ruler);
    ctr_counters_close(&m->hardware.counters);
    ctr_counters_close(&m->common.counters);
    ctr_counters_close(&m->software.counters);
    exp_cold_release(&m->cold);
    return NULL;
}

int exp_measure_all(struct exp_experiment *e, const struct exp_measure_options *o, struct exp_measure_info *info,
                    struct exp_progress *progress, struct exp_why *why)
{
    struct measure m = {
        .e = e,
        .o = o,
        .hardware = { .first = EXP_LOADS, .end = EXP_PAGE_FAULTS },
        .common = { .first = EXP_COMMON, .end = EXP_COMMON + (enum exp_count)ctr_n_quantities() },
        .software = { .first = EXP_PAGE_FAULTS, .end = EXP_COMMON },
        .progress = progress,
        .info = info,
    };
    pthread_t thread;
    int err;

    *info = (struct exp_measure_info){ .core = -1 };
    err = -pthread_create(&thread, NULL, measure_thread, &m);
    if (!err) {
        pthread_join(thread, NULL);
        err = m.err;
    }
    if (err == -ENOMEM)
        return exp_fail(why, err, "out of memory for the tensors of a layer; LAYERS= narrows, TIMING=0 needs none");
    if (err == -EINTR)
        return exp_fail(why, err, "interrupted while timing");
    return err ? exp_fail(why, err, "timing failed: %s", strerror(-err)) : 0;
}

void exp_measure_say_rounds(const struct exp_measure_info *info, char *text, size_t bytes)
{
    char disturbance[400], ruled[160];

    exp_disturbance_describe(&info->disturbance, disturbance, sizeof disturbance);
    exp_ruler_say(&info->ruler, ruled, sizeof ruled);
    exp_say(text, bytes, "%zu rounds: %s; %s; %s", info->n_rounds, exp_end_text(info->end), ruled, disturbance);
}
