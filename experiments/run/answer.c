#include "experiments/run/run.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_hostinfo.h"
#include "counters/group/ctr_quantity.h"
#include "counters/host/ctr_emulated.h"
#include "experiments/bench/case/published.h"
#include "experiments/choices/choice.h"
#include "experiments/bench/course/question.h"
#include "experiments/bench/course/variables.h"
#include "experiments/show/agreement.h"
#include "kernels/shape/problem.h"

/* Takes a point per case: the counters' numbers, and the numbers of the experiment's own replay. */
static void take_points(struct exp_points *points, const struct exp_experiment *e)
{
    for (size_t i = 0; i < e->n_cases; i++) {
        const struct exp_case *c = &e->cases[i];
        struct exp_point *point = exp_points_add(points, e, c);

        for (size_t q = 0; q < ctr_n_quantities(); q++) {
            const enum exp_count count = EXP_COMMON + (enum exp_count)q;

            point->measured[q] = exp_case_count(c, count);
        }
        exp_point_simulate(point, e->setup, c);
    }
}

int exp_counted_write(const struct exp_counts_source *s, const char *host, const struct exp_outdir *dir, FILE *out,
                      struct exp_why *why)
{
    struct exp_points points = { 0 };
    char what[512];
    const struct exp_agreement_report report = { &points, (const char *const[]){ s->e->model->name }, 1, what };
    int err;

    err = exp_counts_write(s, dir, why);
    if (err || !exp_counts_exist(s->e))
        return err;
    exp_say(what, sizeof what, "counted on %s; replayed on machine %s, %s caches", host, s->e->setup->machine.name,
            exp_cache_state_name(s->cache));
    take_points(&points, s->e);
    err = exp_agreement_write(&report, dir, why);
    if (!err)
        exp_agreement_print(&report, out);
    exp_points_release(&points);
    return err;
}

const char *const *exp_counted_files(void)
{
    static const char *const files[] = { "simulated_vs_measured.csv", "agreement.csv", "counts.csv", NULL };

    return files;
}

/* Published numbers that figures show: the variable's name, and value = scale * printed + offset. */
struct paper_number {
    const char *variable, *figure, *metric;
    double offset, scale;
};

static const struct paper_number paper_numbers[] = {
    { "paper_l1_base", "Figure 11a", "base_l1_hit_percent_of_loads", 100.0, -1.0 },
    { "paper_l1_sconv", "Figure 11a", "sconv_l1_hit_percent_of_loads", 100.0, -1.0 },
    { "paper_l2_ratio", "Figure 11b", "l2_miss_improvement_avg", 0.0, 1.0 },
    { "paper_l3_ratio", "Figure 11c", "l3_miss_improvement_avg", 0.0, 1.0 },
};

enum { N_PAPER_NUMBERS = sizeof paper_numbers / sizeof paper_numbers[0] };

struct drawing {
    const struct exp_figures *f;
    char *folder; /* of the scripts */
    struct exp_variables variables;
};

/* Sets the variables of published numbers, "" without a number. */
static int read_paper(struct drawing *d, struct exp_why *why)
{
    struct exp_published p;
    struct exp_why ignored;
    int err = exp_published_read(&p, d->f->experiments_dir, why);

    if (err)
        return err;
    for (size_t i = 0; i < N_PAPER_NUMBERS; i++) {
        const struct paper_number *n = &paper_numbers[i];
        char text[32] = "";
        double value;

        if (!exp_published_double(&p, n->figure, "all", d->f->arch, n->metric, &value, &ignored))
            snprintf(text, sizeof text, "%g", n->offset + n->scale * value);
        exp_variables_set(&d->variables, n->variable, text);
    }
    exp_published_release(&p);
    return 0;
}

/* Sets the variables about this run. */
static void set_variables(struct drawing *d)
{
    const struct exp_plot_variable fixed[] = {
        { EXP_PLOT_SCRIPTS_VARIABLE, d->folder },
        { "machine", d->f->machine },
        { "simulator", d->f->simulator },
        { "host", d->f->host },
        { "what", d->f->host },
        { "observed_by", d->f->observed },
        { "levels", d->f->levels },
    };

    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        exp_variables_set(&d->variables, fixed[i].name, fixed[i].value);
    for (size_t i = 0; i < CONV_N_FIELDS; i++)
        exp_variables_add(&d->variables, "shape_columns", "", conv_fields[i].name);
}

int exp_figures_draw(const struct exp_figures *f, exp_plot_report_fn report, void *ctx, struct exp_why *why)
{
    struct drawing d = { .f = f, .folder = exp_format("%s/figures", f->experiments_dir) };
    int err;

    set_variables(&d);
    err = read_paper(&d, why);
    exp_variables_of_algos(&d.variables);
    if (!err) {
        const struct exp_plot_figures figures = {
            .scripts_dir = d.folder,
            .data_dir = f->dir,
            .out_dir = f->dir,
            .figure = f->question->figures,
            .n_figures = exp_question_n_figures(f->question),
            .variable = d.variables.variable,
            .n_variables = d.variables.n,
        };

        err = exp_plot_recipe_draw(&figures, report, ctx, why);
    }
    exp_variables_release(&d.variables);
    free(d.folder);
    return err;
}

enum { MOST_ROWS = 60, MOST_VARIANTS = EXP_MAX_ALGO_RECORDS };

/* A verdict and the texts that the verdict points to. */
struct answer {
    struct exp_verdict v;
    struct exp_verdict_variant variant[MOST_VARIANTS];
    const char **layer;
    char computer[96], where[128], how[512], disturbance[400], planned_levels[200], notes[640], picks[512],
        prefetchers[2048];
    char *elsewhere;
};

/* ---- one layer ---- */

static struct exp_verdict_layer layer_of(const struct exp_report *r, const struct exp_case *c)
{
    struct exp_verdict_layer l = { .speedup = exp_case_speedup(r->e, c) };

    measure_case(l.of, r, c);
    return l;
}

static struct exp_verdict_layer nothing(void)
{
    struct exp_verdict_layer l = { .speedup = exp_ratio_none() };

    for (int m = 0; m < N_MEASURES; m++)
        l.of[m] = value_none("no such layer");
    return l;
}

/* ---- one variant ---- */

enum { MOST_REASONS = 3 };

/*
 * Returns the reasons why layers of a variant were not timed, without duplicates, from malloc; "": all layers were
 * timed.
 */
static char *why_not_others(const struct exp_report *r, const struct exp_total *t)
{
    const char *reason[MOST_REASONS];
    size_t n = 0, n_more = 0, bytes;
    char *text = NULL;
    FILE *out = exp_memory_open(&text, &bytes);

    for (size_t i = 0; i < r->e->n_cases; i++) {
        const char *why = r->e->cases[i].measured.why;
        size_t k = 0;

        if (!exp_case_is_of(&r->e->cases[i], t->algo) || !why)
            continue;
        while (k < n && strcmp(reason[k], why))
            k++;
        n_more += k == MOST_REASONS;
        if (k < n || k == MOST_REASONS)
            continue;
        reason[n++] = why;
        fprintf(out, "%s%s", k ? "; " : "", why);
    }
    if (n_more)
        fprintf(out, "; and %zu other reasons (layers.csv)", n_more);
    fclose(out);
    return text;
}

/* Fills a variant of the verdict. A total has one case in every layer, or none at all. */
static void fill_variant(const struct exp_report *r, const struct exp_total *t, struct exp_verdict_variant *x)
{
    size_t n = 0;

    *x = (struct exp_verdict_variant){ .name = t->algo,
                                       .label = exp_algo_label(exp_algo_find(t->algo), r->e->setup->type),
                                       .why_not_timed = t->of[M_measured_time_ns].why,
                                       .why_not_simulated = t->of[M_simulated_loads].why,
                                       .why_no_cycles = t->of[M_simulated_cycles].why,
                                       .speedup = t->speedup,
                                       .part = t->part,
                                       .is_plugin = exp_algo_find(t->algo)->plugin,
                                       .why_not_others = why_not_others(r, t),
                                       .layer = exp_new(r->e->model->n_layers, sizeof *x->layer) };
    for (size_t i = 0; i < r->e->n_cases; i++) {
        const struct exp_case *c = &r->e->cases[i];

        if (!exp_case_is_of(c, t->algo))
            continue;
        x->layer[n++] = layer_of(r, c);
        for (size_t k = 0; k < 2; k++)
            x->convert_ns[k] += c->measured.why ? 0 : c->measured.convert_ns[k];
    }
    while (n < r->e->model->n_layers)
        x->layer[n++] = nothing();
}

/* ---- the whole ---- */

static void name_levels(struct answer *a, const struct sim_machine *m)
{
    a->v.n_levels = m->n_levels;
    for (size_t i = 0; i < m->n_levels; i++)
        a->v.level[i] = m->level[i].name;
    exp_say_planned_levels(m, a->planned_levels, sizeof a->planned_levels);
    a->v.planned_levels = a->planned_levels;
    a->v.has_two_views = !sim_machine_is_plain(m);
}

/* Says where a measured speed-up holds: this computer's clock, perhaps with another machine's plans. */
static void say_where(struct answer *a, const struct sim_machine *m)
{
    const bool is_host = !strcmp(m->name, "host");

    exp_say(a->where, sizeof a->where, "%s%s%s", ctr_is_emulated() ? "by an emulator's clock" : "on this computer",
            is_host ? "" : ", with plans for ", is_host ? "" : m->name);
    a->v.where = a->where;
}

static void describe(struct answer *a, const struct exp_report *r)
{
    char ruled[160] = "";
    const char *cpu = a->computer;

    ctr_hostinfo_cpu(a->computer, sizeof a->computer);
    a->v.computer = a->computer;
    a->v.cache = exp_cache_state_name(r->cache);
    a->v.n_rounds = r->info->n_rounds;
    a->v.ended = r->info->end == EXP_END_STOOD ? NULL : exp_end_text(r->info->end);
    exp_say(a->how, sizeof a->how, "Measured on %s%s: one thread, %s caches, the fastest quarter of %zu rounds; %s.",
            ctr_is_emulated() ? "an emulator, whose times say nothing about the CPU that it imitates, " : "", cpu,
            exp_cache_state_name(r->cache), r->info->n_rounds, exp_end_text(r->info->end));
    if (r->info->ruler.n_timings)
        exp_ruler_say(&r->info->ruler, ruled, sizeof ruled);
    if (*ruled)
        exp_say_more(a->how, sizeof a->how, " %s.", ruled);
    a->v.how = a->how;
    exp_disturbance_describe(&r->info->disturbance, a->disturbance, sizeof a->disturbance);
    a->v.disturbance = r->is_timed ? a->disturbance : NULL;
    a->v.observed = r->observed;
    a->v.why_no_check = r->why_elsewhere;
    a->v.why_no_cycles = exp_cycles(r->e->setup, &r->e->cases[0]).why;
    a->v.is_never_timed = !a->v.why_no_cycles && r->e->setup->machine.core.never_timed;
}

/* Keeps the known errors of the estimates as a text. */
static void find_errors(struct answer *a, const struct exp_report *r)
{
    size_t bytes;
    FILE *text = exp_memory_open(&a->elsewhere, &bytes);

    exp_known_errors_say(r->experiments_dir, text);
    fclose(text);
    a->v.estimates_elsewhere = a->elsewhere;
}

/* Says which GEMM Base has of a type beside f32, and which GEMM base_onednn has. */
static void say_type(const struct exp_report *r, char *text, size_t bytes)
{
    const struct exp_setup *s = r->e->setup;

    if (s->type == CONV_F32)
        return;
    exp_say_more(
        text, bytes,
        "%sElements are %s. Base is im2col of %s and this project's own GEMM with SConv's micro-kernel %s%s, in "
        "OpenBLAS's blocks, its filters packed %s like SConv's; what is simulated is what runs.",
        *text ? " " : "", conv_types[s->type].name, conv_types[s->type].name, s->ukr->name,
        s->ukr->isa == CPU_ISA_NONE ? " (portable: no other of this type is known for the machine)" : "",
        s->packs_filters ? "at run time" : "ahead");
    if (s->onednn)
        exp_say_more(text, bytes, " base_onednn has the GEMM of oneDNN %s behind Base's im2col: timed, not simulated.",
                     conv_onednn_version(s->onednn));
}

static void fill(struct answer *a, const struct exp_report *r)
{
    struct exp_total total[EXP_MAX_ALGO_RECORDS];
    size_t n = exp_totals(r, total);
    const struct exp_total *base = exp_total_find(total, n, exp_algo_base());
    const bool has_group = exp_total_find(total, n, exp_algo_chosen()) != NULL;
    const struct exp_total no_base = { .algo = exp_algo_base()->name,
                                       .of = { [M_measured_time_ns] = value_none("base was not selected") },
                                       .speedup = exp_ratio_none() };

    *a = (struct answer){ .v = { .model = r->e->model->name,
                                 .machine = r->e->setup->machine.name,
                                 .n_layers = r->e->model->n_layers,
                                 .variant = a->variant },
                          .layer = exp_new(r->e->model->n_layers, sizeof *a->layer) };
    a->v.layer = a->layer;
    for (size_t l = 0; l < a->v.n_layers; l++)
        a->layer[l] = r->e->model->layer[l].name;
    if (!r->is_timed)
        a->v.why_not_timed = r->e->cases[0].measured.why;
    else if (*r->info->why_disturbed)
        a->v.why_not_timed = r->info->why_disturbed;
    a->v.busy = r->info->busy;
    if (*r->info->why_no_base_steps.text && r->e->setup->type == CONV_F32)
        a->v.why_no_parts = r->info->why_no_base_steps.text;
    exp_model_say_smaller(r->e->model, a->notes, sizeof a->notes);
    say_type(r, a->notes, sizeof a->notes);
    if (r->e->model->types)
        exp_say_more(a->notes, sizeof a->notes, "%s%s", *a->notes ? " " : "", r->e->model->types);
    a->v.notes = a->notes;
    exp_picks_say(r, a->picks, sizeof a->picks);
    a->v.picks = a->picks;
    exp_prefetchers_say(r, a->prefetchers, sizeof a->prefetchers);
    a->v.prefetchers = a->prefetchers;
    name_levels(a, &r->e->setup->machine);
    say_where(a, &r->e->setup->machine);
    describe(a, r);
    find_errors(a, r);
    fill_variant(r, base ? base : &no_base, &a->v.reference);
    for (size_t i = 0; i < n; i++) {
        if (&total[i] != base && !(has_group && exp_algo_find(total[i].algo)->when == EXP_ALGO_MEMBER))
            fill_variant(r, &total[i], &a->variant[a->v.n_variants++]);
    }
}

static void release(struct answer *a)
{
    for (size_t i = 0; i < a->v.n_variants; i++) {
        free(a->variant[i].layer);
        free((char *)(uintptr_t)a->variant[i].why_not_others);
    }
    free(a->v.reference.layer);
    free((char *)(uintptr_t)a->v.reference.why_not_others);
    free(a->layer);
    free(a->elsewhere);
}

void exp_answer_print(const struct exp_report *r, FILE *out)
{
    struct answer a;

    fill(&a, r);
    exp_verdict_print(&a.v, SIZE_MAX, out);
    release(&a);
}

void exp_answer_print_last(const struct exp_report *r, FILE *out)
{
    struct answer a;

    fill(&a, r);
    exp_verdict_print_last(&a.v, MOST_ROWS, out);
    release(&a);
}

void exp_answer_screen(const struct exp_report *r, struct exp_screen *s)
{
    struct answer a;

    fill(&a, r);
    exp_verdict_screen(&a.v, s);
    release(&a);
}
