#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/stats.h"
#include "experiments/bench/case/published.h"
#include "experiments/papers/paper/paper.h"
#include "kernels/csa/csa.h"

/* ---- facts of the bench beside the paper's facts, and numbers of a machine file ---- */

static double level_bytes(const struct sim_machine *m, int level)
{
    return (double)sim_level_bytes(&m->level[level]);
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

/* ---- claims ---- */

#define COMPARED EXP_PAPER_COMPARED
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
#include "experiments/papers/paper/claims.def"
};

double exp_paper_number(const char *text)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = { { "", 1 }, { " kB", 1024 }, { " MB", 1024 * 1024 } };
    char *end;
    double x = strtod(text, &end);

    assert(text);
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

/* ---- the published numbers ---- */

bool exp_paper_is_of_one_model(const struct exp_paper_published *p)
{
    return *p->model && strcmp(p->model, "all") && strncmp(p->model, "Geo", 3);
}

/* Finds the number of a model, whatever punctuation its name has; NULL if there is none. */
static const struct exp_paper_published *find_published(const struct exp_paper_findings *f, const char *figure,
                                                        const char *metric, const char *arch, const char *model)
{
    for (size_t i = 0; i < f->rows.n; i++) {
        const struct exp_paper_published *p = &f->published[i];

        if (!strcmp(p->figure, figure) && !strcmp(p->metric, metric) && !strcmp(p->arch, arch) &&
            (!strcmp(p->model, model) || exp_published_is_model(p->model, model)))
            return p;
    }
    return NULL;
}

static double published(const struct exp_paper_findings *f, const char *figure, const char *model, const char *arch,
                        const char *metric)
{
    const struct exp_paper_published *p = find_published(f, figure, metric, arch, model);

    return p ? exp_paper_number(p->value) : (double)NAN;
}

double exp_paper_table2(const struct exp_paper_findings *f, const char *metric, size_t model, const char *arch)
{
    assert(metric && arch);
    return published(f, "Table 2", model < f->models->n ? f->models->model[model].name : "GeoMean", arch, metric);
}

double exp_paper_table2_like(const struct exp_paper_findings *f, const char *metric, size_t model, const char *arch,
                             const struct exp_paper_set *like)
{
    double x[EXP_MAX_MODELS];
    size_t n = 0;

    if (model < f->models->n || exp_paper_set_models(like) == f->models->n)
        return exp_paper_table2(f, metric, model, arch);
    for (size_t m = 0; m < f->models->n; m++) {
        if (like->models >> m & 1)
            x[n++] = exp_paper_table2(f, metric, m, arch);
    }
    return exp_stats_geomean(x, n);
}

/* ---- a single number ---- */

static bool takes(const struct exp_paper_claim *c, const struct exp_paper_published *row)
{
    return !strcmp(c->metric, row->metric) && (!*c->figure || !strcmp(c->figure, row->figure));
}

static bool is_of_arch(const struct exp_paper_published *row, const char *arch)
{
    return !*row->arch || !strcmp(row->arch, "both") || !strcmp(row->arch, arch);
}

static double paper_number(const struct exp_paper_claim *c, const struct exp_paper_published *row)
{
    if (c->expected != 0)
        return c->expected;
    if (c->word_for_100 && !strcmp(row->value, c->word_for_100))
        return 100;
    if (c->word_for_0 && !strcmp(row->value, c->word_for_0))
        return 0;
    return exp_paper_number(row->value);
}

/* The model of a row; models->n if the model is not among the models of the page. */
static size_t model_of(const struct exp_paper_findings *f, const char *name)
{
    size_t m;

    for (m = 0; m < f->models->n; m++) {
        if (exp_published_is_model(name, f->models->model[m].name))
            break;
    }
    return m;
}

static double made_of(const struct exp_paper_claim *c, const struct exp_paper_set *s, size_t model)
{
    double x = c->layers             ? exp_paper_of_layers(s, c->layers, c->arg)
               : model < s->n_models ? exp_paper_of_model(s, c->models, model, c->arg)
                                     : exp_paper_over(s, c->models, c->over, c->arg);

    return c->is_percent_faster ? exp_paper_percent_faster(x) : x;
}

static void say_reason(const struct exp_paper_findings *f, const struct exp_paper_view *v, char *text, size_t bytes)
{
    const struct exp_paper_part *part = &f->part[v->setting];
    const char *why = part->why;
    const enum exp_paper_value columns[] = { v->time, v->packing, v->peak, v->spread, v->misses, v->loads };

    for (size_t i = 0; i < sizeof columns / sizeof columns[0] && !*why; i++)
        why = part->reason[columns[i]];
    exp_say(text, bytes, "%s", *why ? why : "this source has no such number or no such convolution");
}

/*
 * Where a source lacks some of the models, the paper's geometric mean is taken over the models of our number, if the
 * paper prints the number of each. Says so, or says that our number is of fewer models.
 */
static void take_same_models(const struct exp_paper_findings *f, const struct exp_paper_set *s,
                             struct exp_paper_result *r)
{
    const struct exp_paper_published *row = &r->published;
    const struct exp_paper_claim *c = r->claim;
    double x[EXP_MAX_MODELS];
    size_t n = 0;

    for (size_t m = 0; m < f->models->n; m++) {
        if (s->models >> m & 1)
            x[n++] = c->models && c->over == EXP_PAPER_GEOMEAN
                         ? published(f, row->figure, f->models->model[m].name, row->arch, row->metric)
                         : (double)NAN;
    }
    if (n == f->models->n)
        return;
    exp_say(r->says, sizeof r->says, "ours is of %zu of the %zu models", n, f->models->n);
    if (isnan(exp_stats_geomean(x, n)))
        return;
    r->paper = exp_stats_geomean(x, n);
    exp_say_more(r->says, sizeof r->says, "; beside the paper's of the same ones");
}

static void compare(const struct exp_paper_findings *f, const struct exp_paper_view *v, struct exp_paper_result *r)
{
    const struct exp_paper_published *row = &r->published;
    const bool is_of_one = exp_paper_is_of_one_model(row);
    const size_t model = is_of_one ? model_of(f, row->model) : f->models->n;
    const struct exp_paper_set *s = &f->set[v - exp_paper_views];

    r->view = v;
    if (is_of_one && (model == f->models->n || !f->has_whole_models)) {
        exp_say(r->says, sizeof r->says, "%s",
                model == f->models->n ? "the model was not asked for (MODEL)"
                                      : "some of its layers were left out (LAYERS)");
        return;
    }
    r->ours = made_of(r->claim, s, model);
    if (!isnan(r->ours) && !is_of_one)
        take_same_models(f, s, r);
    if (isnan(r->ours))
        say_reason(f, v, r->says, sizeof r->says);
    else if (!is_of_one && !f->has_whole_set)
        exp_say(r->says, sizeof r->says, "the paper's number is of its seven models");
    else
        r->verdict = exp_paper_judge(r->claim, r->paper, r->ours);
}

/* ---- all ---- */

static struct exp_paper_result *add(struct exp_paper_findings *f, size_t index, const struct exp_paper_claim *c)
{
    struct exp_paper_result *r = exp_append(&f->result, &f->n, sizeof *r);

    r->published = f->published[index];
    r->index = index;
    r->claim = c;
    r->paper = c ? paper_number(c, &r->published) : (double)NAN;
    r->ours = (double)NAN;
    r->verdict = EXP_PAPER_NOT_JUDGED;
    return r;
}

/* A claim without views: a fact of the machine file or of the bench. */
static void add_fact(struct exp_paper_findings *f, size_t index, const struct exp_paper_claim *c)
{
    struct exp_paper_result *r = add(f, index, c);
    const struct sim_machine *m = strcmp(r->published.arch, "P10") ? f->x86 : f->p10;

    if (c->machine) {
        r->ours = c->machine(m, c->arg);
        r->verdict = exp_paper_judge(c, r->paper, r->ours);
    }
    if (c->says)
        c->says(m, r->says, sizeof r->says);
    else if (c->why)
        exp_say(r->says, sizeof r->says, "%s", c->why);
}

static void add_views(struct exp_paper_findings *f, size_t index, const struct exp_paper_claim *c)
{
    char *ids = exp_copy_text(c->views), *rest = ids;

    for (char *id = strtok_r(ids, " ", &rest); id; id = strtok_r(NULL, " ", &rest)) {
        const struct exp_paper_view *v = exp_paper_view_find(id);

        if (is_of_arch(&f->published[index], exp_paper_view_arch(v)))
            compare(f, v, add(f, index, c));
    }
    free(ids);
}

static void add_row(struct exp_paper_findings *f, size_t index)
{
    const size_t before = f->n;

    for (size_t i = 0; i < EXP_PAPER_N_CLAIMS; i++) {
        const struct exp_paper_claim *c = &exp_paper_claims[i];

        if (takes(c, &f->published[index]))
            c->views ? add_views(f, index, c) : add_fact(f, index, c);
    }
    if (f->n == before)
        exp_say(add(f, index, NULL)->says, sizeof f->result->says,
                "claims.def has no line for it, or none of a source of this architecture");
}

/* Sets the texts that numbers.csv has in place of pointers. */
static void name_parts(struct exp_paper_result *r)
{
    static const char *const verdicts[] = { "agrees", "points the same way", "differs", "" };
    static const char *const uses[] = { "compared", "stated" };

    r->use_name = r->claim ? uses[r->claim->use] : "unused";
    r->view_id = r->view ? r->view->id : "";
    r->verdict_name = verdicts[r->verdict];
}

/* ---- findings ---- */

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

void exp_paper_findings_set(const struct exp_paper_findings *f, const struct exp_paper_view *v, const char *algo,
                            struct exp_paper_set *s)
{
    exp_paper_set_of(s, v, &f->part[v->setting], algo, f->models->n);
}

#define PUBLISHED struct exp_paper_published

static const struct rec_field published_fields[] = {
    { { "figure_or_table", "", "", "" }, REC_AT(PUBLISHED, figure) },
    { { "model", "", "", "" }, REC_AT(PUBLISHED, model) },
    { { "arch", "", "", "" }, REC_AT(PUBLISHED, arch) },
    { { "metric", "", "", "" }, REC_AT(PUBLISHED, metric) },
    { { "value", "", "", "" }, REC_AT(PUBLISHED, value) },
};

static const struct rec_table published_table = REC_TABLE("sconv.csv", published_fields, PUBLISHED);

int exp_paper_findings_read(struct exp_paper_findings *f, const char *experiments_dir, struct exp_why *why)
{
    char *path = exp_format("%s/published/%s", experiments_dir, published_table.file.name);
    const int err = rec_read_some(&f->rows, &published_table, path, NULL, REC_ALL, why);

    free(path);
    f->experiments_dir = experiments_dir;
    f->published = f->rows.row;
    return err ? err : claims_read(&f->others, experiments_dir, NULL, why);
}

void exp_paper_findings_of(struct exp_paper_findings *f)
{
    assert(f->models && f->part && f->x86 && f->p10);
    for (size_t v = 0; v < EXP_PAPER_N_VIEWS; v++)
        exp_paper_findings_set(f, &exp_paper_views[v], EXP_PAPER_ALGO, &f->set[v]);
    for (size_t i = 0; i < f->rows.n; i++)
        add_row(f, i);
    for (size_t i = 0; i < f->n; i++)
        name_parts(&f->result[i]);
}

void exp_paper_findings_release(struct exp_paper_findings *f)
{
    rec_release(&f->rows);
    claims_release(&f->others);
    for (size_t v = 0; v < EXP_PAPER_N_VIEWS; v++)
        exp_paper_set_release(&f->set[v]);
    free(f->result);
}

/* ---- the paper's numbers against each other ---- */

static double percent_of(double part, double whole)
{
    return 100 * part / whole;
}

/* Is to be multiplied by the speed-up of the convolutions on the machine. */
static double share_ratio(double base, double own)
{
    return base / own;
}

static const struct oddity {
    const char *what;
    double (*formula)(double a, double b);
    const char *text;
    struct number {
        const char *figure, *model, *arch, *metric;
    } printed, a, b;
    const char *remark;
} oddities[] = {
#define ODDITY(what_, formula_, text_, ...) { what_, formula_, text_, __VA_ARGS__ },
#include "experiments/papers/paper/oddities.def"
};

static double number_of(const struct exp_paper_findings *f, const struct number *n)
{
    return published(f, n->figure, n->model, n->arch, n->metric);
}

/* Two-digit numbers: each is off by at most half a hundredth. */
static bool rounding_explains(double share, double speedup, double printed)
{
    static const double half = 0.005;

    return exp_paper_amdahl(share - half, speedup - half) <= printed + half &&
           printed - half <= exp_paper_amdahl(share + half, speedup + half);
}

static void print_model(const struct exp_paper_findings *f, const struct exp_paper_published *p, FILE *out)
{
    const double printed = exp_paper_number(p->value);
    const double conv = published(f, "Table 2", p->model, p->arch, "conv_speedup");
    const double share = published(f, "Table 2", p->model, p->arch, "conv_time_share");

    fprintf(out, "| %s | %s | %.2f | %.2f | %.2f | %.2f | %s |\n", p->model, p->arch, conv, share, printed,
            exp_paper_amdahl(share, conv),
            rounding_explains(share, conv, printed)   ? "yes"
            : printed > exp_paper_amdahl(share, conv) ? "no, more was gained"
                                                      : "no, less was gained");
}

void exp_paper_oddities_print(const struct exp_paper_findings *f, FILE *out)
{
    for (size_t i = 0; i < N_OF(oddities); i++) {
        const struct oddity *o = &oddities[i];
        const double a = number_of(f, &o->a), b = number_of(f, &o->b);
        const double speedup =
            o->formula == share_ratio ? exp_paper_table2(f, "conv_speedup", f->models->n, o->printed.arch) : 1;

        fprintf(out, "- %s: printed %.4g. %s with a = %.4g and b = %.4g is %.3g%s%s.\n", o->what,
                number_of(f, &o->printed), o->text, a, b, o->formula(a, b) * speedup, *o->remark ? ": " : "",
                o->remark);
    }
    fprintf(out, "\nTable 2 by Amdahl's law, from the paper's own convolution speed-up and share:\n\n"
                 "| model | machine | convolutions | share | whole, printed | whole, by Amdahl | within rounding |\n"
                 "|---|---|---:|---:|---:|---:|---|\n");
    for (size_t r = 0; r < f->rows.n; r++) {
        const struct exp_paper_published *p = &f->published[r];

        if (!strcmp(p->metric, "model_speedup") && strncmp(p->model, "Geo", 3) != 0)
            print_model(f, p, out);
    }
}

/* ---- other papers ---- */

/* Returns of() of a layer of a model; NaN if there is no layer of that name. */
static double of_layer(const char *dir, const char *model, const char *layer, double (*of)(const struct conv_problem *))
{
    struct exp_model m;
    struct exp_why ignored;
    double x = (double)NAN;

    if (exp_model_find(&m, dir, model, &ignored))
        return x;
    for (size_t l = 0; l < m.n_layers; l++) {
        if (!strcmp(m.layer[l].name, layer))
            x = of(&m.layer[l].problem);
    }
    exp_model_release(&m);
    return x;
}

static double lift_gemm_mb(const char *dir)
{
    return of_layer(dir, "vgg16", "conv1_2", exp_paper_im2col_bytes) / 1e6;
}

static double lift_direct_mb(const char *dir)
{
    return of_layer(dir, "vgg16", "conv1_2", exp_paper_input_bytes) / 1e6;
}

static double polydl_layers(const char *dir)
{
    return exp_models_rows(dir, "polydl/*.csv") - exp_models_rows(dir, "polydl/excluded.csv");
}

static double polydl_percent(const char *dir)
{
    return 100 * polydl_layers(dir) / exp_models_rows(dir, "polydl/*.csv");
}

static const struct other {
    const char *paper, *metric;
    double (*ours)(const char *experiments_dir);
    const char *unit;
    double tolerance;
    const char *why;
} others[] = {
#define OTHER(...) { __VA_ARGS__ },
#include "experiments/papers/paper/other_papers.def"
};

static bool fits(const char *wanted, const char *there)
{
    return !*wanted || !strcmp(wanted, there);
}

static const struct other *other_of(const struct claim_printed *x)
{
    for (size_t i = 0; i < N_OF(others); i++) {
        if (fits(others[i].paper, x->paper) && fits(others[i].metric, x->metric))
            return &others[i];
    }
    return NULL;
}

/* Returns whether the two agree. */
static bool print_checked(const struct claim_printed *theirs, const struct other *x, const char *dir, FILE *out)
{
    const double ours = x->ours(dir), paper = strtod(theirs->value, NULL);
    const bool agrees = fabs(ours / paper - 1) <= x->tolerance;

    fprintf(out, "- %s, %s, %s: printed %s%s%s, ours %.4g%s%s (%s): %s.\n", theirs->paper, theirs->workload,
            theirs->metric, theirs->value, *x->unit ? " " : "", x->unit, ours, *x->unit ? " " : "", x->unit, x->why,
            agrees ? "agrees" : "differs");
    return agrees;
}

struct exp_paper_others exp_paper_others_print(const struct exp_paper_findings *f, FILE *out)
{
    struct exp_paper_others counts = { 0 };
    size_t n[N_OF(others)] = { 0 };

    for (size_t r = 0; r < f->others.n; r++) {
        const struct claim_printed *theirs = &f->others.claim[r].printed;
        const struct other *x = other_of(theirs);

        counts.n_unused += !x;
        if (x)
            n[x - others]++;
        if (x && x->ours) {
            counts.n_checked++;
            counts.n_agree += print_checked(theirs, x, f->experiments_dir, out);
        }
    }
    fprintf(out, "\nNot reproducible here:\n\n");
    for (size_t i = 0; i < N_OF(others); i++) {
        if (!others[i].ours && n[i])
            fprintf(out, "- %s, %zu numbers: %s.\n", others[i].paper, n[i], others[i].why);
    }
    return counts;
}
