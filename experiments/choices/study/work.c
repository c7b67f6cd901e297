/* The work of the study: recorded times are read, plans replayed, a sample timed, and the models fitted. */
#include "experiments/choices/study/study.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/options_shared.h"
#include "kernels/ukr/dispatch.h"
#include "sim/analysis/estimate.h"

/* Shapes of more multiply-adds are left out of a sample: many tilings of each are tried. */
static const double most_macs = 250e6;
static const uint64_t enough_bytes = 64 << 20;

/* CSA's plans of all layers are replayed on the paper's machines and on the recorded computers. */
static const char *const planned[EXP_STUDY_N_PLANNED] = { "clx4208", "power10", "zen3", "spr" };

const char exp_study_varied[] = "clx4208";

static int read_sources(struct exp_study_work *w, struct exp_why *why)
{
    int err = 0;

    for (size_t i = 0; exp_study_recorded(i) && !err; i++)
        err = exp_study_source_read(&w->source[w->n_sources++], exp_study_recorded(i), w->models, why);
    return err;
}

/* A sample leaves large shapes out; SAMPLE=0 has all shapes. */
static struct exp_study_sampling sampling_of(const struct exp_study_work *w, enum exp_study_scope scope)
{
    return (struct exp_study_sampling){ w->options->sample, w->options->sample ? most_macs : (double)INFINITY, scope };
}

/* Begins a part: prints its name above the progress, and finds its machine. */
static int begin(const struct exp_study_work *w, const char *what, const char *name, const char *which,
                 struct sim_machine *m, struct exp_why *why)
{
    fprintf(stderr, "%s: %s\n", name, what);
    return exp_machine_find(m, which, w->options->results, why);
}

/* Returns a machine's caches alone, for replays. */
static struct sim_machine caches_of(const struct sim_machine *m)
{
    struct sim_machine alone = sim_machine_caches_alone(m);

    alone.has_stack = false;
    return alone;
}

/* ---- variants of the caches ---- */

enum { ALL = SIM_MAX_LEVELS }; /* levels */

#define VARIANT(name, title, level, ...) { name, title, level, __VA_ARGS__ },
const struct exp_study_variant exp_study_variants[EXP_STUDY_N_VARIANTS] = {
#include "experiments/choices/study/variants.def"
};

const struct exp_study_variant exp_study_left_out[EXP_STUDY_N_LEFT_OUT] = {
#include "experiments/choices/study/left_out.def"
};
#undef VARIANT

static void scale(struct sim_level *l, double ways, double sets)
{
    l->n_ways = (uint32_t)((double)l->n_ways * ways);
    l->n_sets = (uint64_t)((double)l->n_sets * sets);
}

/*
 * Changes a level; own is the level in the file. A stride prefetcher follows an instruction, a stream prefetcher lines.
 */
static void change(const struct exp_study_variant *v, struct sim_level *l, const struct sim_level *own)
{
    scale(l, v->ways > 0 ? v->ways : 1, v->sets > 0 ? v->sets : 1);
    while (l->n_ways < v->least_ways && l->n_sets % 2 == 0)
        scale(l, 2, 0.5);
    if (v->policy)
        exp_say(l->policy, sizeof l->policy, "%s", v->policy);
    if (v->adds_prefetchers && !strcmp(l->name, "L1"))
        l->prefetch[0] = (struct sim_prefetch){ .kind = SIM_PREFETCH_STRIDE, .degree = 1 };
    if (v->adds_prefetchers && !strcmp(l->name, "L2"))
        l->prefetch[0] = (struct sim_prefetch){ .kind = SIM_PREFETCH_STREAM, .degree = 2, .distance = 20 };
    if (v->keeps_prefetchers)
        memcpy(l->prefetch, own->prefetch, sizeof l->prefetch);
    l->no_write_allocate |= v->passes_stores;
}

/* Makes *m the variant of a machine's caches alone. Returns -EINVAL if the simulator refuses the variant. */
static int make_variant(const struct exp_study_variant *v, const struct sim_machine *own, struct sim_machine *m,
                        struct exp_why *why)
{
    char reason[256];

    *m = caches_of(own);
    for (size_t i = 0; i < m->n_levels; i++) {
        if (v->level == ALL || v->level == i)
            change(v, &m->level[i], &own->level[i]);
    }
    if (sim_machine_validate(m, reason, sizeof reason))
        return exp_fail(why, -EINVAL, "%s with %s: %s", m->name, v->title, reason);
    return 0;
}

static bool has_prefetchers(const struct sim_machine *m)
{
    for (size_t i = 0; i < m->n_levels; i++) {
        if (m->level[i].prefetch[0].kind != SIM_PREFETCH_NONE)
            return true;
    }
    return false;
}

/* ---- CSA's schedules, replayed ---- */

/* Makes runs of CSA's plans for a machine, both schedules, and replays the runs through caches. */
static int replay_schedules(const struct exp_study_work *w, const struct exp_study_sampling *sampling,
                            const struct sim_machine *planned_for, const struct sim_machine *caches,
                            struct exp_study_runs *r, struct exp_why *why)
{
    struct exp_setup setup = { .machine = *caches };
    int err = exp_setup_init(&setup, "", "", why);

    if (!err) {
        exp_study_runs_make(r, w->models, sampling, planned_for, setup.ukr);
        err = exp_study_runs_replay(r, &setup, w->options->jobs, why);
    }
    exp_setup_release(&setup);
    return err;
}

/* Replays CSA's plans for a machine through a variant of the machine's caches. */
static int replay_terms(const struct exp_study_work *w, const struct exp_study_sampling *sampling, const char *name,
                        const struct sim_machine *own, const struct exp_study_variant *v, struct exp_study_terms *t,
                        struct exp_why *why)
{
    struct sim_machine caches;
    const int err = make_variant(v, own, &caches, why);

    *t = (struct exp_study_terms){ .name = name, .caches = csa_caches_of(own, csa_default_share) };
    return err ? err : replay_schedules(w, sampling, own, &caches, &t->runs, why);
}

static int compare_terms(struct exp_study_work *w, struct exp_why *why)
{
    const struct exp_study_sampling all = { 0, (double)INFINITY, EXP_STUDY_SCHEDULES };
    int err = 0;

    for (size_t i = 0; i < EXP_STUDY_N_PLANNED && !err; i++) {
        struct exp_study_terms *t = &w->terms[w->n_terms++];
        struct sim_machine own;

        err = begin(w, "CSA's plans of all layers", planned[i], planned[i], &own, why);
        err = err ? err : replay_terms(w, &all, planned[i], &own, &exp_study_left_out[0], t, why);
        for (size_t k = 0; k < w->n_sources && !err; k++) {
            if (!strcmp(t->name, w->source[k].name))
                exp_study_terms_tell(t, &w->source[k]);
        }
    }
    return err;
}

/* Replays plans for a machine's caches through changed caches. */
static int leave_out(struct exp_study_work *w, struct exp_why *why)
{
    const struct exp_study_sampling sampling = sampling_of(w, EXP_STUDY_SCHEDULES);
    struct sim_machine own;
    int err = 0;

    for (size_t i = 0; i < EXP_STUDY_N_PLANNED && !err; i++) {
        err = begin(w, "what CSA leaves out, one by one", planned[i], planned[i], &own, why);
        for (size_t k = 0; k < EXP_STUDY_N_LEFT_OUT && !err; k++) {
            const struct exp_study_variant *v = &exp_study_left_out[k];

            if (!v->keeps_prefetchers || has_prefetchers(&own))
                err = replay_terms(w, &sampling, planned[i], &own, v, &w->left_out[i][k], why);
        }
    }
    return err;
}

static struct exp_choice_sum sensitivity_of(const struct exp_study_runs *r)
{
    struct exp_choice_sum sum = { 0 };

    for (size_t l = 0; l < r->n_layers; l++) {
        struct exp_choice choice = { .n = CSA_N_SCHEDULES };

        for (enum csa_schedule k = 0; k < CSA_N_SCHEDULES; k++) {
            const struct exp_study_run *run = exp_study_runs_own(r, &r->layer[l], k);

            choice.by[k] = value_of(run->csa_cycles);
            choice.cost[k] = value_of(run->sim_cycles);
        }
        exp_choose(&choice);
        exp_choice_add(&sum, &choice);
    }
    return sum;
}

static int replay_variants(struct exp_study_work *w, struct exp_why *why)
{
    const struct exp_study_sampling sampling = sampling_of(w, EXP_STUDY_SCHEDULES);
    struct sim_machine own, varied;
    int err = begin(w, "both schedules on variants of the caches", exp_study_varied, exp_study_varied, &own, why);

    for (size_t i = 0; i < EXP_STUDY_N_VARIANTS && !err; i++) {
        struct exp_study_runs runs = { 0 };

        err = make_variant(&exp_study_variants[i], &own, &varied, why);
        err = err ? err : replay_schedules(w, &sampling, &varied, &varied, &runs, why);
        w->sensitivity[i] = sensitivity_of(&runs);
        exp_study_runs_release(&runs);
    }
    return err;
}

/* ---- faster micro-kernels ---- */

const struct exp_study_rate exp_study_rates[EXP_STUDY_N_RATES] = {
#define RATE(what_, rows, columns, per_cycle, ukr_, core_, type_)                                                      \
    { what_,                                                                                                           \
      { .mac_rows = rows, .mac_columns = columns, .mac_instructions_per_cycle = per_cycle },                           \
      ukr_,                                                                                                            \
      core_,                                                                                                           \
      type_ },
#include "experiments/choices/study/rates.def"
#undef RATE
};

double exp_study_macs(const struct exp_study_rate *r)
{
    assert(r->issue.mac_instructions_per_cycle > 0);
    return r->issue.mac_rows * r->issue.mac_columns * r->issue.mac_instructions_per_cycle *
           (double)conv_types[r->type].lane_channels;
}

static void finish(struct exp_study_both *c)
{
    c->base_packing_percent = 100 * c->base_packing / c->base;
    c->sconv_packing_percent = 100 * c->sconv_packing / c->sconv;
    c->speedup = c->base / c->sconv;
}

struct exp_study_both exp_study_rate_of(const struct exp_study_source *s, double macs_per_cycle)
{
    static const size_t sconv_packs[] = { CSA2_PIECES, CSA2_STRIDED, CSA2_PANEL_LINES };
    static const size_t base_packs[] = { EXP_STUDY_BASE_LOWERED, EXP_STUDY_BASE_PACKED, EXP_STUDY_BASE_L3_LINES };
    struct exp_study_both r = { 0 };
    struct csa2_machine m = s->model;

    m.slots_per_cycle = macs_per_cycle / exp_study_lanes(s);
    for (size_t i = 0; i < s->times.n; i++) {
        const struct exp_study_point *p = &s->times.point[i];
        double base_packing = 0, sconv_packing = 0;
        struct exp_study_sample base;
        struct csa2_work sconv;

        if (p->state != CSA2_COLD || !exp_study_has_schedules(p) || isnan(exp_study_base_time(p)->cycles))
            continue;
        base = exp_study_base_work(s, &m, p);
        sconv = exp_study_csa2_work(&m, p, exp_study_csa2_choice(s, i));
        r.base += exp_costs_sum(EXP_STUDY_N_BASE_TERMS, base.amount, s->base_cost);
        r.sconv += csa2_cycles(&sconv, &m);
        for (size_t k = 0; k < 3; k++) {
            base_packing += base.amount[base_packs[k]] * s->base_cost[base_packs[k]];
            sconv_packing += sconv.amount[sconv_packs[k]] * m.cycles_of[sconv_packs[k]];
        }
        r.base_packing += base_packing;
        r.sconv_packing += sconv_packing;
    }
    finish(&r);
    return r;
}

static double issue_cycles(const struct sim_issue *i, const struct sim_cell *phase, bool is_ukr, uint64_t instructions)
{
    if (is_ukr)
        return (double)instructions / i->mac_instructions_per_cycle;
    return fmax((double)phase->loads / i->loads_per_cycle, (double)phase->stores / i->stores_per_cycle);
}

static void add_case(struct exp_study_micro *micro, const struct sim_machine *m, const struct exp_case *c)
{
    bool is_base = c->algo == exp_algo_base();

    for (unsigned p = 0; p < CONV_N_PHASES; p++) {
        struct sim_cell phase = sim_stats_phase(&c->simulated.stats, p);
        bool packs = p == CONV_PHASE_IM2COL || p == CONV_PHASE_PACK;
        struct sim_estimate memory;

        sim_estimate(&memory, m, &phase);
        for (unsigned i = 0; i < EXP_STUDY_N_MISSES; i++) {
            struct exp_study_both *to = &micro->cycles[i];
            double cycles = issue_cycles(&m->issue, &phase, p == CONV_PHASE_UKR, c->simulated.mac_instructions) +
                            (i == EXP_STUDY_WAIT ? memory.sconv_eq6_cycles : 0);

            *(is_base ? &to->base : &to->sconv) += cycles;
            *(is_base ? &to->base_packing : &to->sconv_packing) += packs ? cycles : 0;
        }
    }
}

static void sum_up_rate(struct exp_study_micro *micro, const struct exp_experiment *e, const struct sim_issue *speed)
{
    struct sim_machine m = e->setup->machine;

    *micro = (struct exp_study_micro){ .n = e->model->n_layers };
    m.issue.mac_instructions_per_cycle = speed->mac_instructions_per_cycle;
    for (size_t i = 0; i < e->n_cases; i++) {
        if (e->cases[i].algo == exp_algo_base() || e->cases[i].is_chosen)
            add_case(micro, &m, &e->cases[i]);
    }
    for (unsigned i = 0; i < EXP_STUDY_N_MISSES; i++)
        finish(&micro->cycles[i]);
}

static bool has_equal_replay(const struct exp_study_rate *a, const struct exp_study_rate *b)
{
    return a->issue.mac_rows == b->issue.mac_rows && a->issue.mac_columns == b->issue.mac_columns &&
           a->type == b->type && !strcmp(a->ukr, b->ukr) && !strcmp(a->core, b->core);
}

/* Replays record *n, sums up the records that the replay serves, and sets *n to the next record. */
static int replay_rate(struct exp_study_work *w, size_t *n, const struct sim_machine *m, struct exp_model *sample,
                       struct exp_why *why)
{
    const struct exp_study_rate *first = &exp_study_rates[*n];
    struct exp_setup setup = { .machine = caches_of(m), .type = first->type };
    struct exp_experiment e = { 0 };
    unsigned algos;
    int err = exp_algo_select("base,sconv", &algos, why);

    for (size_t i = 0; i < sample->n_layers; i++)
        sample->layer[i].problem.type = first->type; /* models have no sums too long for bytes */
    setup.machine.issue.mac_rows = first->issue.mac_rows;
    setup.machine.issue.mac_columns = first->issue.mac_columns;
    err = err ? err : exp_setup_init(&setup, first->ukr, first->core, why);
    err = err ? err : exp_experiment_plan(&e, &setup, sample, algos, why);
    err = err ? err : exp_study_replay(&e, w->options->jobs, why);
    for (; !err && *n < EXP_STUDY_N_RATES && has_equal_replay(first, &exp_study_rates[*n]); ++*n)
        sum_up_rate(&w->micro[*n], &e, &exp_study_rates[*n].issue);
    exp_experiment_release(&e);
    exp_setup_release(&setup);
    return err;
}

static int replay_micro_kernels(struct exp_study_work *w, struct exp_why *why)
{
    const struct exp_study_sampling sampling = sampling_of(w, EXP_STUDY_SCHEDULES);
    struct exp_study_runs runs;
    struct sim_machine machine;
    char name[] = "sample";
    struct exp_model sample = { .name = name, .path = name };
    int err =
        begin(w, "Base and SConv with micro-kernels of all speeds", exp_study_varied, exp_study_varied, &machine, why);

    if (err)
        return err;
    exp_study_runs_make(&runs, w->models, &sampling, &machine, conv_ukr_at(0));
    sample.layer = exp_new(runs.n_layers, sizeof *sample.layer);
    for (size_t i = 0; i < runs.n_layers; i++)
        sample.layer[sample.n_layers++] = *runs.layer[i].layer;
    for (size_t n = 0; n < EXP_STUDY_N_RATES && !err;)
        err = replay_rate(w, &n, &machine, &sample, why);
    free(sample.layer);
    exp_study_runs_release(&runs);
    return err;
}

/* ---- tilings ---- */

/*
 * Takes sets off a last level that is larger than the tensors of the sampled shapes: a simulation of many short runs
 * would spend most time on emptying the level.
 */
static void shrink_last_level(struct sim_machine *m)
{
    struct sim_level *last = &m->level[m->n_levels - 1];

    while (sim_level_bytes(last) > enough_bytes && last->n_sets % 2 == 0)
        last->n_sets /= 2;
}

/* Makes the runs of a sample, planned for a machine's caches, and replays the runs. */
static int replay_tiling(struct exp_study_work *w, const char *name, const char *which, bool is_timed,
                         struct exp_why *why)
{
    const struct exp_study_sampling sampling = sampling_of(w, is_timed ? EXP_STUDY_SEARCH_UKRS : EXP_STUDY_SEARCH);
    struct exp_study_tilings *t = &w->tilings[w->n_tilings++];
    int err = begin(w, "tilings of the sample", name, which, &t->machine, why);

    t->name = name;
    t->is_timed = is_timed;
    t->measure = is_timed ? "clock" : "replay";
    t->cost = is_timed ? offsetof(struct exp_study_run, ns) : offsetof(struct exp_study_run, sim_cycles);
    t->setup.machine = caches_of(&t->machine);
    err = err ? err : exp_setup_init(&t->setup, "", "", why);
    if (err)
        return err;
    shrink_last_level(&t->setup.alone);
    shrink_last_level(&t->setup.machine);
    t->setup.classified = t->setup.machine;
    t->model = csa2_machine_of(&t->machine);
    exp_study_runs_make(&t->runs, w->models, &sampling, &t->machine, t->setup.ukr);
    return exp_study_runs_replay(&t->runs, &t->setup, w->options->jobs, why);
}

/* Tilings are replayed on the paper's two machines. */
static int replay_tilings(struct exp_study_work *w, struct exp_why *why)
{
    const int err = replay_tiling(w, "clx4208", "clx4208", false, why);

    return err ? err : replay_tiling(w, "power10", "power10", false, why);
}

/* Makes a source of CSA's plans for each micro-kernel that was timed: the square micro-kernel comes last. */
static void take_sources(struct exp_study_work *w, const struct exp_study_tilings *t)
{
    const struct conv_ukr *own = t->setup.ukr;

    exp_study_tilings_source(t, NULL, &w->source[w->n_sources++]);
    for (size_t i = 0; i <= conv_ukr_count() && w->n_sources < EXP_STUDY_MAX_SOURCES; i++) {
        const struct conv_ukr *ukr = i < conv_ukr_count() ? conv_ukr_at(i) : &t->runs.square;
        bool is_own_tile = ukr->n_win == own->n_win && ukr->n_f == own->n_f;

        if (!is_own_tile && exp_study_runs_planned(&t->runs, 0, ukr, CSA_IS))
            exp_study_tilings_source(t, ukr, &w->source[w->n_sources++]);
    }
}

/* Tells whether a commit names the sources that were timed: without a commit or with changes, nothing does. */
static bool has_name(const char *commit)
{
    return *commit && !strstr(commit, "-dirty");
}

/* Times tilings here, and fits csa2 to the times. */
static int time_tilings(struct exp_study_work *w, struct exp_why *why)
{
    struct exp_study_tilings *t = &w->tilings[w->n_tilings];
    struct exp_study_keeping keeping = {
        .commit = w->options->commit,
        .machine = &t->machine,
        .rounds = exp_rounds_of(0, 3, 9, w->options->limit),
        .ruler_ns = exp_ruler_limit_ns(w->options->ruler, w->options->limit),
    };
    struct exp_study_timed timed;
    char ruled[160];
    int err;

    if (!w->options->timing)
        return 0;
    err = replay_tiling(w, "here", "host", true, why);
    if (!err && has_name(w->options->commit))
        err = exp_store_asked(&keeping.store, "", w->options->results, NULL, why);
    err = err ? err : exp_study_time_runs(&t->runs, &t->setup, &keeping, &timed, why);
    exp_store_close(keeping.store);
    if (err)
        return err;
    exp_ruler_say(&timed.ruled, ruled, sizeof ruled);
    printf("%zu layers timed, %zu kept from earlier runs; %s\n", t->runs.n_layers - timed.n_kept, timed.n_kept, ruled);
    exp_study_tilings_fit(t);
    take_sources(w, t);
    return 0;
}

int exp_study_work(struct exp_study_work *w, struct exp_why *why)
{
    int (*const steps[])(struct exp_study_work *,
                         struct exp_why *) = { read_sources,         compare_terms,  leave_out,   replay_variants,
                                               replay_micro_kernels, replay_tilings, time_tilings };
    int err = 0;

    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !err; i++)
        err = steps[i](w, why);
    return err;
}

void exp_study_work_release(struct exp_study_work *w)
{
    for (size_t i = 0; i < w->n_sources; i++)
        exp_study_source_release(&w->source[i]);
    for (size_t i = 0; i < w->n_terms; i++)
        exp_study_runs_release(&w->terms[i].runs);
    for (size_t i = 0; i < EXP_STUDY_N_PLANNED * EXP_STUDY_N_LEFT_OUT; i++)
        exp_study_runs_release(&w->left_out[i / EXP_STUDY_N_LEFT_OUT][i % EXP_STUDY_N_LEFT_OUT].runs);
    for (size_t i = 0; i < w->n_tilings; i++) {
        exp_study_runs_release(&w->tilings[i].runs);
        exp_setup_release(&w->tilings[i].setup);
    }
}
