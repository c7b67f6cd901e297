#include "experiments/paper/exp_paper_claims.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"
#include "experiments/paper/exp_paper_formulas.h"
#include "kernels/csa/csa.h"

/* ---- facts of the bench beside what the paper says of its own, and numbers of a machine file ---- */

static double level_bytes(const struct sim_machine *m, int level)
{
    return (double)(m->level[level].n_sets * m->level[level].n_ways * m->level[level].line_bytes);
}

static double clock_ghz(const struct sim_machine *m, int arg)
{
    (void)arg;
    return m->issue.clock_ghz;
}

static double peak_gflops(const struct sim_machine *m, int arg)
{
    (void)arg;
    return 2 * m->issue.mac_rows * m->issue.mac_columns * m->issue.mac_instructions_per_cycle * m->issue.clock_ghz;
}

static void machine_text(const struct sim_machine *m, char *text, size_t bytes)
{
    exp_say(text, bytes, "simulated as `%s`: %s", m->name, m->description);
}

static void kernel_text(const struct sim_machine *m, char *text, size_t bytes)
{
    exp_say(text, bytes, "replayed with OpenBLAS's core %s; our own micro-kernel is %s", m->gemm_core, m->ukr);
}

static void units_text(const struct sim_machine *m, char *text, size_t bytes)
{
    exp_say(text, bytes, "%.3g multiply-add instructions of %u x %u per cycle", m->issue.mac_instructions_per_cycle,
            (unsigned)m->issue.mac_rows, (unsigned)m->issue.mac_columns);
}

static void cache_share_text(const struct sim_machine *m, char *text, size_t bytes)
{
    (void)m;
    exp_say(text, bytes, "%.2g, all three", csa_default_share);
}

static void threads_text(const struct sim_machine *m, char *text, size_t bytes)
{
    (void)m;
    exp_say(text, bytes, "1, pinned to a core");
}

static void dtype_text(const struct sim_machine *m, char *text, size_t bytes)
{
    (void)m;
    exp_say(text, bytes, "float32 (C's float)");
}

static void compiler_text(const struct sim_machine *m, char *text, size_t bytes)
{
    (void)m;
    exp_say(text, bytes, "%s; OpenBLAS as the distribution compiled it", __VERSION__);
}

static void counter_text(const struct sim_machine *m, char *text, size_t bytes)
{
    (void)m;
    exp_say(text, bytes, "Linux perf events, where there are counters; recorded on a Zen 3; else none");
}

static void baseline_text(const struct sim_machine *m, char *text, size_t bytes)
{
    (void)m;
    exp_say(text, bytes, "Caffe's im2col and OpenBLAS's sgemm; `sconv_openblas` runs OpenBLAS's micro-kernel");
}

static void definition_text(const struct sim_machine *m, char *text, size_t bytes)
{
    (void)m;
    exp_say(text, bytes, "load misses of each level, of all loads");
}

/* ---- claims ---- */

#define COMPARED EXP_PAPER_COMPARED
#define TAKEN EXP_PAPER_TAKEN
#define STATED EXP_PAPER_STATED
#define AT_MOST EXP_PAPER_AT_MOST
#define AT_LEAST EXP_PAPER_AT_LEAST

const struct exp_paper_claim exp_paper_claims[EXP_PAPER_N_CLAIMS] = {
#define CLAIM(section_, figure_, metric_, label_, unit_, ...)                                                          \
    { .section = EXP_PAPER_##section_,                                                                                 \
      .figure = figure_,                                                                                               \
      .metric = metric_,                                                                                               \
      .label = label_,                                                                                                 \
      .unit = unit_,                                                                                                   \
      __VA_ARGS__ },
#include "experiments/paper/claims.def"
};

const char *exp_paper_verdict_name(enum exp_paper_verdict v)
{
    static const char *const names[] = { "agrees", "points the same way", "differs", "" };

    return names[v];
}

double exp_paper_number(const char *text)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = { { "", 1 }, { " kB", 1024 }, { " MB", 1024 * 1024 } };
    char *end;
    double x = strtod(text, &end);

    for (size_t i = 0; end != text && i < sizeof units / sizeof units[0]; i++) {
        if (!strcmp(end, units[i].unit))
            return x * units[i].factor;
    }
    return (double)NAN;
}

enum exp_paper_verdict exp_paper_judge(const struct exp_paper_claim *c, double paper, double ours)
{
    double points = fabs(ours - paper), off = c->in_points ? points : fabs(ours / paper - 1);
    bool has_neutral = c->neutral != 0 || c->is_percent_faster;

    if (isnan(paper) || isnan(ours))
        return EXP_PAPER_NOT_JUDGED;
    if (c->bound == EXP_PAPER_AT_MOST    ? ours <= paper
        : c->bound == EXP_PAPER_AT_LEAST ? ours >= paper
                                         : off <= c->tolerance || (c->floor > 0 && points <= c->floor))
        return EXP_PAPER_AGREES;
    return has_neutral && (ours - c->neutral) * (paper - c->neutral) > 0 ? EXP_PAPER_SAME_WAY : EXP_PAPER_DIFFERS;
}

/* ---- one number ---- */

/* Holds what a published row says, and what it is about. */
struct row {
    const char *figure, *model, *arch, *metric, *value;
};

static struct row row_of(const struct exp_published *p, size_t r)
{
    return (struct row){ exp_table_string(&p->table, r, p->figure), exp_table_string(&p->table, r, p->model),
                         exp_table_string(&p->table, r, p->arch), exp_table_string(&p->table, r, p->metric),
                         exp_table_string(&p->table, r, p->value) };
}

static bool is_about_one_model(const struct row *row)
{
    return *row->model && strcmp(row->model, "all") && strncmp(row->model, "Geo", 3);
}

static bool takes(const struct exp_paper_claim *c, const struct row *row)
{
    return !strcmp(c->metric, row->metric) && (!*c->figure || !strcmp(c->figure, row->figure));
}

static bool is_of_arch(const struct row *row, const char *arch)
{
    return !*row->arch || !strcmp(row->arch, "both") || !strcmp(row->arch, arch);
}

static double paper_number(const struct exp_paper_claim *c, const struct row *row)
{
    if (c->expected != 0)
        return c->expected;
    if (c->word_for_100 && !strcmp(row->value, c->word_for_100))
        return 100;
    if (c->word_for_0 && !strcmp(row->value, c->word_for_0))
        return 0;
    return exp_paper_number(row->value);
}

/* The model that a row names; models->n if it is not among them. */
static size_t model_of(const struct exp_paper_evidence *e, const char *name)
{
    size_t m;

    for (m = 0; m < e->models->n; m++) {
        if (exp_published_is_model(name, e->models->model[m].name))
            break;
    }
    return m;
}

static double made_of(const struct exp_paper_claim *c, const struct exp_paper_set *s, size_t model)
{
    double x = c->layers             ? c->layers(s, c->arg)
               : model < s->n_models ? c->models(s, model, c->arg)
                                     : exp_paper_over(s, c->models, c->over, c->arg);

    return c->is_percent_faster ? exp_paper_percent_faster(x) : x;
}

/* Says why a view has no such number. */
static void say_why_not(const struct exp_paper_evidence *e, const struct exp_paper_view *v, char *text, size_t bytes)
{
    const struct exp_paper_part *part = &e->part[v->setting];
    const char *why = part->why_not;
    const enum exp_paper_value columns[] = { v->time, v->packing, v->peak, v->spread, v->misses, v->loads };

    for (size_t i = 0; i < sizeof columns / sizeof columns[0] && !*why; i++)
        why = part->why_no_value[columns[i]];
    exp_say(text, bytes, "%s", *why ? why : "this source has no such number or no such convolution");
}

static double published_of(const struct exp_paper_evidence *e, const struct row *row, size_t model)
{
    for (size_t i = 0; i < e->published->table.n_rows; i++) {
        const struct row other = row_of(e->published, i);

        if (!strcmp(other.figure, row->figure) && !strcmp(other.metric, row->metric) &&
            !strcmp(other.arch, row->arch) && exp_published_is_model(other.model, e->models->model[model].name))
            return exp_paper_number(other.value);
    }
    return (double)NAN;
}

/*
 * Where a source lacks some of the models, the paper's geometric mean is taken over the same models as ours, if the paper
 * prints the number of each. Says so, or that ours is of fewer models.
 */
static void take_same_models(const struct exp_paper_evidence *e, const struct row *row, const struct exp_paper_set *s,
                             struct exp_paper_result *r)
{
    const struct exp_paper_claim *c = r->claim;
    double x[EXP_MAX_MODELS];
    size_t n = 0;

    for (size_t m = 0; m < e->models->n; m++) {
        if (exp_paper_set_has(s, m))
            x[n++] = c->models && c->over == EXP_PAPER_GEOMEAN ? published_of(e, row, m) : (double)NAN;
    }
    if (n == e->models->n)
        return;
    exp_say(r->says, sizeof r->says, "ours is of %zu of the %zu models", n, e->models->n);
    if (isnan(exp_stats_geomean(x, n)))
        return;
    r->paper = exp_stats_geomean(x, n);
    exp_say_more(r->says, sizeof r->says, "; beside the paper's of the same ones");
}

static void compare(const struct exp_paper_evidence *e, const struct row *row, const struct exp_paper_view *v,
                    struct exp_paper_result *r)
{
    size_t model = is_about_one_model(row) ? model_of(e, row->model) : e->models->n;
    const struct exp_paper_set *s = &e->set[v - exp_paper_views];

    r->view = v;
    if (is_about_one_model(row) && (model == e->models->n || !e->has_whole_models)) {
        exp_say(r->says, sizeof r->says, "%s",
                model == e->models->n ? "the model was not asked for (MODEL)"
                                      : "some of its layers were left out (LAYERS)");
        return;
    }
    r->ours = made_of(r->claim, s, model);
    if (!isnan(r->ours) && !is_about_one_model(row))
        take_same_models(e, row, s, r);
    if (isnan(r->ours))
        say_why_not(e, v, r->says, sizeof r->says);
    else if (!is_about_one_model(row) && !e->has_whole_set)
        exp_say(r->says, sizeof r->says, "the paper's number is of its seven models");
    else
        r->verdict = exp_paper_judge(r->claim, r->paper, r->ours);
}

/* ---- all ---- */

static struct exp_paper_result *add(struct exp_paper_results *r, size_t published, const struct exp_paper_claim *c)
{
    struct exp_paper_result *more = realloc(r->result, (r->n + 1) * sizeof *more);

    if (!more)
        return NULL;
    r->result = more;
    more += r->n++;
    *more = (struct exp_paper_result){
        .published = published, .claim = c, .paper = (double)NAN, .ours = (double)NAN, .verdict = EXP_PAPER_NOT_JUDGED
    };
    return more;
}

static const struct sim_machine *machine_of(const struct exp_paper_evidence *e, const struct row *row)
{
    return strcmp(row->arch, "P10") ? e->x86 : e->p10;
}

/* A claim without views: a fact of the machine file, of the bench, or what the paper's number is taken for. */
static int add_fact(struct exp_paper_results *all, size_t published, const struct exp_paper_claim *c,
                    const struct exp_paper_evidence *e, const struct row *row)
{
    struct exp_paper_result *r = add(all, published, c);

    if (!r)
        return -ENOMEM;
    r->paper = paper_number(c, row);
    if (c->machine) {
        r->ours = c->machine(machine_of(e, row), c->arg);
        r->verdict = exp_paper_judge(c, r->paper, r->ours);
    }
    if (c->says)
        c->says(machine_of(e, row), r->says, sizeof r->says);
    else if (c->why)
        exp_say(r->says, sizeof r->says, "%s", c->why);
    return 0;
}

static int add_views(struct exp_paper_results *all, size_t published, const struct exp_paper_claim *c,
                     const struct exp_paper_evidence *e, const struct row *row)
{
    char *ids = strdup(c->views), *rest = ids;
    int err = ids ? 0 : -ENOMEM;

    for (char *id = ids ? strtok_r(ids, " ", &rest) : NULL; id && !err; id = strtok_r(NULL, " ", &rest)) {
        const struct exp_paper_view *v = exp_paper_view_find(id);
        struct exp_paper_result *r;

        if (!is_of_arch(row, exp_paper_view_arch(v)))
            continue;
        r = add(all, published, c);
        err = r ? 0 : -ENOMEM;
        if (!err) {
            r->paper = paper_number(c, row);
            compare(e, row, v, r);
        }
    }
    free(ids);
    return err;
}

static int add_row(struct exp_paper_results *all, size_t published, const struct exp_paper_evidence *e)
{
    const struct row row = row_of(e->published, published);
    const size_t before = all->n;
    struct exp_paper_result *r;
    int err = 0;

    for (size_t i = 0; i < EXP_PAPER_N_CLAIMS && !err; i++) {
        const struct exp_paper_claim *c = &exp_paper_claims[i];

        if (takes(c, &row))
            err = c->views ? add_views(all, published, c, e, &row) : add_fact(all, published, c, e, &row);
    }
    if (err || all->n > before)
        return err;
    r = add(all, published, NULL);
    if (r)
        exp_say(r->says, sizeof r->says, "claims.def has no line for it, or none of a source of this architecture");
    return r ? 0 : -ENOMEM;
}

int exp_paper_results_of(struct exp_paper_results *r, const struct exp_paper_evidence *e)
{
    int err = 0;

    *r = (struct exp_paper_results){ 0 };
    for (size_t i = 0; i < e->published->table.n_rows && !err; i++)
        err = add_row(r, i, e);
    if (err)
        exp_paper_results_release(r);
    return err;
}

void exp_paper_results_release(struct exp_paper_results *r)
{
    free(r->result);
    *r = (struct exp_paper_results){ 0 };
}
