#include "experiments/paper/exp_paper_page.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "experiments/paper/exp_paper_formulas.h"
#include "experiments/paper/exp_paper_oddities.h"

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

/* ---- numbers ---- */

static void put(double x, FILE *out)
{
    double size = fabs(x);

    if (isnan(x))
        fprintf(out, "-");
    else if (x == floor(x) || size >= 100)
        fprintf(out, "%.0f", x);
    else
        fprintf(out, size >= 10 ? "%.1f" : "%.2f", x);
}

static void put_cell(double x, const char *unit, FILE *out)
{
    fprintf(out, " | ");
    put(x, out);
    if (!isnan(x))
        fprintf(out, "%s", unit);
}

static const char *field(const struct exp_paper_findings *f, const struct exp_paper_result *r, size_t column)
{
    return exp_paper_field(f, r->published, column);
}

/* ---- the summary ---- */

struct tally {
    size_t verdict[EXP_PAPER_NOT_JUDGED + 1], n;
};

static struct tally tally_of(const struct exp_paper_findings *f, const struct exp_paper_view *v)
{
    struct tally t = { { 0 }, 0 };

    for (size_t i = 0; i < f->results.n; i++) {
        const struct exp_paper_result *r = &f->results.result[i];

        if (r->view != v || !r->claim || r->claim->use != EXP_PAPER_COMPARED)
            continue;
        t.verdict[r->verdict]++;
        t.n++;
    }
    return t;
}

/* How many published numbers have a result for which is() holds. */
static size_t count(const struct exp_paper_findings *f, bool (*is)(const struct exp_paper_result *r))
{
    size_t n = 0, last = SIZE_MAX;

    for (size_t i = 0; i < f->results.n; i++) {
        const struct exp_paper_result *r = &f->results.result[i];

        if (is(r) && r->published != last) {
            n++;
            last = r->published;
        }
    }
    return n;
}

static bool is_compared(const struct exp_paper_result *r)
{
    return r->claim && r->claim->use == EXP_PAPER_COMPARED && !isnan(r->ours);
}

static bool is_stated(const struct exp_paper_result *r)
{
    return r->claim && r->claim->use == EXP_PAPER_STATED;
}

static bool is_taken(const struct exp_paper_result *r)
{
    return r->claim && r->claim->use == EXP_PAPER_TAKEN;
}

void exp_paper_page_answer(const struct exp_paper_findings *f, FILE *out)
{
    size_t compared = count(f, is_compared), stated = count(f, is_stated), taken = count(f, is_taken);
    size_t all = f->published.table.n_rows;

    fprintf(
        out,
        "Of the %zu numbers that the paper prints, %zu stand beside a number of ours, %zu are words beside a fact of "
        "ours, %zu are taken over, and %zu are not reproducible here.\n",
        all, compared, stated, taken, all - compared - stated - taken);
}

static void print_summary(const struct exp_paper_page *p, FILE *out)
{
    exp_paper_page_answer(p->f, out);
    fprintf(
        out,
        "\nHow they compare, by the source of our number (agrees: within the tolerance that "
        "`experiments/paper/claims.def` gives it; the same way: more or less of it, but on the same side):\n\n"
        "| source of ours | what it is | agrees | the same way | differs | missing |\n|---|---|---:|---:|---:|---:|\n");
    for (size_t v = 0; v < EXP_PAPER_N_VIEWS; v++) {
        const struct tally t = tally_of(p->f, &exp_paper_views[v]);

        if (t.n)
            fprintf(out, "| %s | %s | %zu | %zu | %zu | %zu |\n", exp_paper_views[v].heading, exp_paper_views[v].what,
                    t.verdict[EXP_PAPER_AGREES], t.verdict[EXP_PAPER_SAME_WAY], t.verdict[EXP_PAPER_DIFFERS],
                    t.verdict[EXP_PAPER_NOT_JUDGED]);
    }
    fprintf(out, "\nWhere the sources come from:\n\n");
    for (size_t s = 0; s < EXP_PAPER_N_SETTINGS; s++) {
        const struct exp_paper_part *part = &p->f->part[s];

        fprintf(out, "- %s: %s\n", part->setting->what, *part->why_not ? part->why_not : part->about);
    }
}

/* ---- sentences ---- */

/* One view's number and what to think of it. */
static void say_result(const struct exp_paper_result *r, FILE *out)
{
    fprintf(out, "%s ", r->view ? r->view->heading : "ours");
    if (isnan(r->ours)) {
        fprintf(out, "has no number (%s)", r->says);
        return;
    }
    put(r->ours, out);
    if (*exp_paper_verdict_name(r->verdict))
        fprintf(out, " (%s)", exp_paper_verdict_name(r->verdict));
}

/* Whether a result is worth words: a source that is missing as a whole has its line among the sources. */
static bool is_silent(const struct exp_paper_findings *f, const struct exp_paper_result *r)
{
    return r->view && isnan(r->ours) && *f->part[r->view->setting].why_not;
}

static void say_ours(const struct exp_paper_result *r, FILE *out)
{
    static const char *const before[] = { "", "taken over: ", "here: " };

    if (r->claim->use == EXP_PAPER_COMPARED)
        say_result(r, out);
    else
        fprintf(out, "%s%s", before[r->claim->use], r->says);
}

/* A published number and all that ours say of it: results [first, end). */
static void say_number(const struct exp_paper_findings *f, size_t first, size_t end, FILE *out)
{
    const struct exp_paper_result *r = &f->results.result[first];
    const struct exp_published *p = &f->published;
    const char *arch = field(f, r, p->arch), *separator = "; ";

    fprintf(out, "- %s (%s%s%s%s): the paper has ", r->claim->label, field(f, r, p->figure), *arch ? ", " : "", arch,
            *r->claim->unit == '%' ? ", in %" : "");
    if (r->claim->expected != 0)
        put(r->claim->expected, out);
    else
        fprintf(out, "%s", field(f, r, p->value));
    for (size_t i = first; i < end; i++) {
        if (is_silent(f, &f->results.result[i]))
            continue;
        fprintf(out, "%s", separator);
        separator = ", ";
        say_ours(&f->results.result[i], out);
    }
    if (*separator == ';')
        fprintf(out, "; there is no number of ours: %s", r->says);
    fprintf(out, ".\n");
}

static bool is_one_model(const struct exp_paper_findings *f, const struct exp_paper_result *r)
{
    const char *model = field(f, r, f->published.model);

    return *model && strcmp(model, "all") && strncmp(model, "Geo", 3);
}

/* All numbers of a section that are not of one model, whose numbers are in tables. */
static void say_numbers(const struct exp_paper_findings *f, enum exp_paper_section section, FILE *out)
{
    for (size_t i = 0, end; i < f->results.n; i = end) {
        const struct exp_paper_result *r = &f->results.result[i];

        for (end = i + 1; end < f->results.n && f->results.result[end].published == r->published &&
                          f->results.result[end].claim == r->claim;)
            end++;
        if (r->claim && r->claim->section == section && !is_one_model(f, r))
            say_number(f, i, end, out);
    }
}

/* ---- tables ---- */

/* A table with a row per model and a column per view that has the number. */
struct model_table {
    const char *title, *unit;
    exp_paper_model_fn of;
    int arg;
    const char *paper; /* metric of Table 2, or NULL */
    const char *arch, *algo;
};

enum { MAX_COLUMNS = EXP_PAPER_N_VIEWS };

static size_t find_columns(const struct exp_paper_findings *f, const struct model_table *t,
                           struct exp_paper_set set[MAX_COLUMNS])
{
    size_t n = 0;

    for (size_t v = 0; v < EXP_PAPER_N_VIEWS; v++) {
        if (strcmp(exp_paper_view_arch(&exp_paper_views[v]), t->arch) != 0)
            continue;
        if (exp_paper_findings_set(f, &exp_paper_views[v], t->algo, &set[n]))
            continue;
        if (isnan(exp_paper_over(&set[n], t->of, EXP_PAPER_GEOMEAN, t->arg)))
            exp_paper_set_release(&set[n]);
        else
            n++;
    }
    return n;
}

/* What the paper prints for a model, the last one for all. */
static double paper_number_of(const struct exp_paper_findings *f, const struct model_table *t, size_t model)
{
    const struct exp_published *p = &f->published;

    for (size_t r = 0; r < p->table.n_rows; r++) {
        const char *name = exp_paper_field(f, r, p->model);
        bool fits = model < f->models->n ? exp_published_is_model(name, f->models->model[model].name)
                                         : !strcmp(name, "GeoMean");

        if (fits && !strcmp(exp_paper_field(f, r, p->metric), t->paper) &&
            !strcmp(exp_paper_field(f, r, p->arch), t->arch))
            return exp_paper_number(exp_paper_field(f, r, p->value));
    }
    return (double)NAN;
}

static void release_columns(struct exp_paper_set *set, size_t n)
{
    for (size_t c = 0; c < n; c++)
        exp_paper_set_release(&set[c]);
}

static void print_heading(const struct model_table *t, const struct exp_paper_set *set, size_t n, FILE *out)
{
    fprintf(out, "\n| model%s", t->paper ? " | paper" : "");
    for (size_t c = 0; c < n; c++)
        fprintf(out, " | %s", set[c].view->heading);
    fprintf(out, " |\n|---");
    for (size_t c = 0; c < n + (t->paper != NULL); c++)
        fprintf(out, "|---:");
    fprintf(out, "|\n");
}

static void print_row(const struct exp_paper_findings *f, const struct model_table *t, const struct exp_paper_set *set,
                      size_t n, size_t model, FILE *out)
{
    bool is_all = model == f->models->n;

    fprintf(out, "| %s", is_all ? "geometric mean" : f->models->model[model].name);
    if (t->paper)
        put_cell(paper_number_of(f, t, model), t->unit, out);
    for (size_t c = 0; c < n; c++)
        put_cell(is_all ? exp_paper_over(&set[c], t->of, EXP_PAPER_GEOMEAN, t->arg) : t->of(&set[c], model, t->arg),
                 t->unit, out);
    fprintf(out, " |\n");
}

static void print_model_table(const struct exp_paper_findings *f, const struct model_table *t, FILE *out)
{
    struct exp_paper_set set[MAX_COLUMNS];
    size_t n = find_columns(f, t, set);

    if (n) {
        fprintf(out, "\n%s\n", t->title);
        print_heading(t, set, n, out);
    }
    for (size_t m = 0; m <= f->models->n && n; m++)
        print_row(f, t, set, n, m, out);
    release_columns(set, n);
}

static void print_table1(const struct exp_paper_page *p, FILE *out)
{
    (void)p;
    fprintf(out,
            "Ours are the machine files in `sim/machines`; they say where ways, latencies and issue rates are from.\n");
}

static void print_table2(const struct exp_paper_page *p, FILE *out)
{
    static const struct model_table tables[] = {
        { "Convolutions, x86: `sconv_openblas`, which is the paper's algorithm, over Base", "", exp_paper_speedup, 0,
          "conv_speedup", "x86", EXP_PAPER_ALGO },
        { "Whole model, x86, by Amdahl's law", "", exp_paper_model_speedup, 0, "model_speedup", "x86", EXP_PAPER_ALGO },
        { "Convolutions, POWER10", "", exp_paper_speedup, 0, "conv_speedup", "P10", EXP_PAPER_ALGO },
        { "Whole model, POWER10, by Amdahl's law", "", exp_paper_model_speedup, 0, "model_speedup", "P10",
          EXP_PAPER_ALGO },
        { "SConv with our own micro-kernel (not the paper's), x86", "", exp_paper_speedup, 0, NULL, "x86", "sconv" },
        { "SConv tuned for speed (not the paper's), x86", "", exp_paper_speedup, 0, NULL, "x86", "sconv_tuned" },
        { "SConv with our own micro-kernel (not the paper's), POWER10", "", exp_paper_speedup, 0, NULL, "P10",
          "sconv" },
        { "SConv tuned for speed (not the paper's), POWER10", "", exp_paper_speedup, 0, NULL, "P10", "sconv_tuned" },
    };

    for (size_t i = 0; i < N_OF(tables); i++)
        print_model_table(p->f, &tables[i], out);
}

static void print_nothing(const struct exp_paper_page *p, FILE *out)
{
    (void)p;
    (void)out;
}

/* What each of SConv's ways of packing contributes: vector-based packing, filters ahead. */
static void print_ablation(const struct exp_paper_findings *f, FILE *out)
{
    static const struct {
        const char *algo, *what;
    } rows[] = {
        { EXP_PAPER_ALGO, "as in the paper" },
        { "sconv_no_vbp", "without vector-based packing: element by element" },
        { "sconv_run_time", "filters packed at run time" },
    };

    fprintf(out,
            "\nWhat the ways of packing contribute (geometric means over the models; speed-up over Base, packing's "
            "share, Base's packing time over it):\n\n| source | SConv | speed-up | packing | reduction |\n"
            "|---|---|---:|---:|---:|\n");
    for (size_t v = 0; v < EXP_PAPER_N_VIEWS; v++) {
        for (size_t i = 0; i < N_OF(rows); i++) {
            struct exp_paper_set s;

            if (!exp_paper_views[v].packing || exp_paper_findings_set(f, &exp_paper_views[v], rows[i].algo, &s))
                continue;
            if (s.n && !isnan(exp_paper_over(&s, exp_paper_packing_reduction, EXP_PAPER_GEOMEAN, 0))) {
                fprintf(out, "| %s | %s", exp_paper_views[v].heading, rows[i].what);
                put_cell(exp_paper_over(&s, exp_paper_speedup, EXP_PAPER_GEOMEAN, 0), "", out);
                put_cell(exp_paper_over(&s, exp_paper_own_packing_percent, EXP_PAPER_GEOMEAN, 0), " %", out);
                put_cell(exp_paper_over(&s, exp_paper_packing_reduction, EXP_PAPER_GEOMEAN, 0), "", out);
                fprintf(out, " |\n");
            }
            exp_paper_set_release(&s);
        }
    }
    fprintf(out,
            "\nPadding: the paper pads the input up front, as loads and stores of its own; ours is padded while it is "
            "packed. There is no nest that pads up front, so that part of the paper's 'others' is missing.\n");
}

static void print_figure10(const struct exp_paper_page *p, FILE *out)
{
    static const struct model_table tables[] = {
        { "Base: im2col and packing, x86", " %", exp_paper_base_packing_percent, 0, NULL, "x86", EXP_PAPER_ALGO },
        { "SConv: packing, x86", " %", exp_paper_own_packing_percent, 0, NULL, "x86", EXP_PAPER_ALGO },
        { "Packing time, Base over SConv, x86", "", exp_paper_packing_reduction, 0, NULL, "x86", EXP_PAPER_ALGO },
        { "Base: im2col and packing, POWER10", " %", exp_paper_base_packing_percent, 0, NULL, "P10", EXP_PAPER_ALGO },
        { "SConv: packing, POWER10", " %", exp_paper_own_packing_percent, 0, NULL, "P10", EXP_PAPER_ALGO },
        { "Packing time, Base over SConv, POWER10", "", exp_paper_packing_reduction, 0, NULL, "P10", EXP_PAPER_ALGO },
    };

    for (size_t i = 0; i < N_OF(tables); i++)
        print_model_table(p->f, &tables[i], out);
    print_ablation(p->f, out);
}

/* A level's misses: of Base, of SConv, and how many times as many Base has. */
static void put_misses(const struct exp_paper_set *s, size_t model, int level, FILE *out)
{
    static const exp_paper_model_fn of[] = { exp_paper_base_miss_percent, exp_paper_own_miss_percent,
                                             exp_paper_miss_ratio };
    double x[N_OF(of)];

    for (size_t i = 0; i < N_OF(of); i++)
        x[i] = model < s->n_models ? of[i](s, model, level) : exp_paper_over(s, of[i], EXP_PAPER_GEOMEAN, level);
    if (isnan(x[0]))
        fprintf(out, " | -");
    else
        fprintf(out, " | %.2g / %.2g %%; %.2f", x[0], x[1], x[2]);
}

static void print_level(const struct exp_paper_findings *f, const char *arch, int level, FILE *out)
{
    const struct model_table t = { .of = exp_paper_miss_ratio, .arg = level, .arch = arch, .algo = EXP_PAPER_ALGO };
    struct exp_paper_set set[MAX_COLUMNS];
    size_t n = find_columns(f, &t, set);

    for (size_t m = 0; m <= f->models->n && n; m++) {
        if (!m)
            print_heading(&t, set, n, out);
        fprintf(out, "| %s", m < f->models->n ? f->models->model[m].name : "geometric mean");
        for (size_t c = 0; c < n; c++)
            put_misses(&set[c], m, level, out);
        fprintf(out, " |\n");
    }
    release_columns(set, n);
}

static void print_figure11(const struct exp_paper_page *p, FILE *out)
{
    static const struct {
        const char *arch, *name;
    } machines[] = { { "x86", "x86" }, { "P10", "POWER10, which the paper does not show" } };

    for (size_t a = 0; a < N_OF(machines); a++) {
        for (int level = 0; level < 3; level++) {
            fprintf(out, "\nL%d, %s: misses of all loads, Base / SConv; then how many times as many misses Base has\n",
                    level + 1, machines[a].name);
            print_level(p->f, machines[a].arch, level, out);
        }
    }
}

/* ---- sections ---- */

const char *const exp_paper_figures[] = { "paper_figure8", "paper_figure9", "paper_figure10", "paper_figure11" };
const size_t exp_paper_n_figures = N_OF(exp_paper_figures);

static const struct {
    const char *heading, *intro, *figure; /* figure: NULL: none */
    void (*tables)(const struct exp_paper_page *p, FILE *out);
} sections[EXP_PAPER_N_SECTIONS] = {
    [EXP_PAPER_TABLE1] = { "Table 1: the machines", "", NULL, print_table1 },
    [EXP_PAPER_SETUP] = { "Setup (sections 5, 7.1, 7.2)", "", NULL, print_nothing },
    [EXP_PAPER_TABLE2] = { "Table 2: speed-ups",
                           "A whole model is not run here. Its speed-up follows from our convolutions and the share of "
                           "the "
                           "time that the paper gives them. Estimates are bounds, not times.",
                           NULL, print_table2 },
    [EXP_PAPER_FIGURE8] = { "Figure 8: all convolutions", "", "paper_figure8", print_nothing },
    [EXP_PAPER_FIGURE9] = { "Figure 9: pointwise convolutions", "", "paper_figure9", print_nothing },
    [EXP_PAPER_FIGURE10] = { "Figure 10: packing", "Im2col counts as packing, as in the paper.", "paper_figure10",
                             print_figure10 },
    [EXP_PAPER_FIGURE11] = { "Figure 11 and section 7.6: cache misses",
                             "The paper counted with perf events on the Xeon, inside whole inference. Ours are "
                             "replays, "
                             "and what a Zen 3 counted of L1.",
                             "paper_figure11", print_figure11 },
};

static void print_section(const struct exp_paper_page *p, enum exp_paper_section s, FILE *out)
{
    fprintf(out, "\n## %s\n\n", sections[s].heading);
    if (*sections[s].intro)
        fprintf(out, "%s\n\n", sections[s].intro);
    if (sections[s].figure)
        fprintf(out, "![%s](%s.png)\n\n", sections[s].heading, sections[s].figure);
    sections[s].tables(p, out);
    fprintf(out, "\nWhat agrees and what does not:\n\n");
    say_numbers(p->f, s, out);
}

/* ---- the end of the page ---- */

static void print_missing(const struct exp_paper_findings *f, FILE *out)
{
    const struct exp_published *p = &f->published;

    fprintf(out, "\n## Not reproducible here\n\nPublished numbers without a number of ours, and why:\n\n"
                 "| where | model | machine | number | printed | why |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0, end; i < f->results.n; i = end) {
        const struct exp_paper_result *r = &f->results.result[i];
        bool has_number = false;

        for (end = i; end < f->results.n && f->results.result[end].published == r->published; end++)
            has_number |= is_compared(&f->results.result[end]) || is_stated(&f->results.result[end]);
        if (!has_number)
            fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", field(f, r, p->figure), field(f, r, p->model),
                    field(f, r, p->arch), field(f, r, p->metric), field(f, r, p->value), r->says);
    }
}

int exp_paper_page_print(const void *page, FILE *out)
{
    const struct exp_paper_page *p = page;
    char why[256];
    int err;

    fprintf(out, "# The SConv paper, regenerated\n\n%s\n\n", p->f->what);
    print_summary(p, out);
    for (int s = 0; s < EXP_PAPER_N_SECTIONS; s++)
        print_section(p, (enum exp_paper_section)s, out);
    fprintf(out, "\n## The paper against itself\n\n");
    exp_paper_oddities_print(&p->f->published, out);
    print_missing(p->f, out);
    fprintf(out, "\n## Other papers\n\n");
    err = exp_paper_others_print(p->others, p->experiments_dir, out, why, sizeof why);
    fprintf(out, "\nEvery number is in `numbers.csv`; tables and figures are of `models.csv` and `speedups.csv`.\n");
    return err;
}
