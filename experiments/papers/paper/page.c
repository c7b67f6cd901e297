#include <math.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/papers/paper/paper.h"

/* ---- the answer ---- */

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

/* A part of the claim: its sentence, and the sources of our numbers. A quotient over 1 speaks for the part. */
static const struct part {
    const char *says, *figure, *model, *metric; /* the last three: the paper's number */
    enum exp_paper_model_number of;
    int level;
    const char *view[2];
} parts[] = {
#define PART(...) { __VA_ARGS__ },
#include "experiments/papers/paper/parts.def"
};

static const struct exp_paper_set *set_of(const struct exp_paper_findings *f, const char *view)
{
    return &f->set[exp_paper_view_find(view) - exp_paper_views];
}

static double number_of(const struct exp_paper_set *s, const struct part *p)
{
    return exp_paper_over(s, p->of, EXP_PAPER_GEOMEAN, p->level);
}

static const char *paper_text(const struct exp_paper_findings *f, const struct part *p)
{
    for (size_t r = 0; r < f->rows.n; r++) {
        const struct exp_paper_published *x = &f->published[r];

        if (!strcmp(x->metric, p->metric) && !strcmp(x->model, p->model) && strcmp(x->arch, "P10") != 0 &&
            (!*p->figure || !strcmp(x->figure, p->figure)))
            return x->value;
    }
    return "-";
}

/*
 * Names a source with its number and the number of models, or with the reason why there is no number. Returns whether
 * there is a number or a reason.
 */
static bool say_source(const struct exp_paper_findings *f, const struct part *p, const struct exp_paper_set *s,
                       const char *before, FILE *out)
{
    const char *why = f->part[s->view->setting].why;
    double x = number_of(s, p);

    if (isnan(x) && !*why)
        return false;
    fprintf(out, "%s%s ", before, s->view->heading);
    if (isnan(x))
        fprintf(out, "has none: %s", why);
    else
        exp_paper_put(x, out);
    if (!isnan(x) && exp_paper_set_models(s) < f->models->n)
        fprintf(out, " (%zu of the %zu models)", exp_paper_set_models(s), f->models->n);
    return true;
}

static void say_part(const struct exp_paper_findings *f, const struct part *p, FILE *out)
{
    const char *before = "";

    fprintf(out, "- %s: ", p->says);
    for (size_t i = 0; i < N_OF(p->view); i++)
        before = say_source(f, p, set_of(f, p->view[i]), before, out) ? "; " : before;
    fprintf(out, "%sthe paper's Xeon, seven models, %s.\n", before, paper_text(f, p));
}

/* Says the paper's speed-up and ours. */
static void say_speed(const struct exp_paper_findings *f, FILE *out)
{
    const struct part *p = &parts[0];
    const char *before = "; of ours, ";

    fprintf(out, "The paper's SConv is %s times as fast as Base on its Xeon", paper_text(f, p));
    for (size_t i = 0; i < N_OF(p->view); i++) {
        const struct exp_paper_set *s = set_of(f, p->view[i]);
        const double x = number_of(s, p);

        if (isnan(x))
            continue;
        fprintf(out, "%s%s has %.2f", before, s->view->heading, x);
        if (exp_paper_set_models(s) < f->models->n)
            fprintf(out, " over %zu of %zu models", exp_paper_set_models(s), f->models->n);
        before = ", ";
    }
    if (*before == ';')
        fprintf(out, "; ours was not timed: %s", f->part[set_of(f, p->view[0])->view->setting].why);
    fprintf(out, ".");
}

/* Says how much fewer misses SConv has in the paper, and in our simulation of the paper's machine. */
static void say_misses(const struct exp_paper_findings *f, FILE *out)
{
    const struct part *p = &parts[1];
    const size_t n = N_OF(parts) - 1;

    fprintf(out, " In the paper, Base has ");
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%s", i ? i + 1 < n ? ", " : " and " : "", paper_text(f, &p[i]));
    fprintf(out, " times the misses of SConv in L1, L2 and L3");
    for (size_t i = 0; i < n && !isnan(number_of(set_of(f, p[0].view[0]), &p[0])); i++) {
        const double x = number_of(set_of(f, p[i].view[0]), &p[i]);

        fprintf(out, "%s", i ? i + 1 < n ? ", " : " and " : "; by our simulation of this Xeon ");
        exp_paper_put(x, out);
    }
    fprintf(out, ".");
}

static int say_headline(const void *findings, FILE *out)
{
    say_speed(findings, out);
    say_misses(findings, out);
    return 0;
}

char *exp_paper_headline(const struct exp_paper_findings *f)
{
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    say_headline(f, out);
    fclose(out);
    return text;
}

void exp_paper_answer_print(const struct exp_paper_findings *f, FILE *out)
{
    say_headline(f, out);
    fprintf(out, "\n\n");
    for (size_t i = 0; i < N_OF(parts); i++)
        say_part(f, &parts[i], out);
}

static int say_answer(const void *findings, FILE *out)
{
    exp_paper_answer_print(findings, out);
    return 0;
}

int exp_paper_verdict_print(const void *findings, FILE *out)
{
    return exp_wrap_print(say_answer, findings, out);
}

/* ---- the summary ---- */

struct tally {
    size_t verdict[EXP_PAPER_NOT_JUDGED + 1], n;
};

/* Counts verdicts of a view, or of a section (the other is NULL, or EXP_PAPER_N_SECTIONS). */
static struct tally tally_of(const struct exp_paper_findings *f, const struct exp_paper_view *v,
                             enum exp_paper_section section)
{
    struct tally t = { { 0 }, 0 };

    for (size_t i = 0; i < f->n; i++) {
        const struct exp_paper_result *r = &f->result[i];

        if (!r->claim || r->claim->use != EXP_PAPER_COMPARED || (v ? r->view != v : r->claim->section != section))
            continue;
        t.verdict[r->verdict]++;
        t.n++;
    }
    return t;
}

/* Returns the end of the results of a published number; `first` is the first result of the number. */
static size_t end_of(const struct exp_paper_findings *f, size_t first)
{
    size_t end = first;

    while (end < f->n && f->result[end].index == f->result[first].index)
        end++;
    return end;
}

/* Counts the results of a published number, or describes a single result. */
struct kinds {
    bool is_compared, is_stated, is_estimate, is_measured;
};

/* An estimate was neither counted nor timed, though it stands beside a time. */
static struct kinds kinds_of(const struct exp_paper_findings *f, size_t first, size_t end)
{
    struct kinds k = { false };

    for (size_t i = first; i < end; i++) {
        const struct exp_paper_result *r = &f->result[i];
        const bool is_compared = r->claim && r->claim->use == EXP_PAPER_COMPARED && !isnan(r->ours);
        const enum exp_paper_value time = is_compared && r->view ? r->view->time : EXP_PAPER_NONE;

        k.is_compared |= is_compared;
        k.is_stated |= r->claim && r->claim->use == EXP_PAPER_STATED;
        k.is_estimate |= time == EXP_PAPER_ISSUE_CYCLES || time == EXP_PAPER_WAITING_CYCLES;
        k.is_measured |= time == EXP_PAPER_TIME || time == EXP_PAPER_CYCLES;
    }
    return k;
}

void exp_paper_page_numbers(const struct exp_paper_findings *f, FILE *out)
{
    size_t compared = 0, estimates = 0, stated = 0, all = f->rows.n;

    for (size_t i = 0; i < f->n; i = end_of(f, i)) {
        const struct kinds k = kinds_of(f, i, end_of(f, i));

        compared += k.is_compared;
        estimates += k.is_estimate && !k.is_measured;
        stated += k.is_stated;
    }
    fprintf(out,
            "Of the %zu numbers that the paper prints, %zu stand beside a number of ours, %zu of them beside estimates "
            "only; %zu are words beside a fact of ours; none is taken over; %zu have no number of ours.\n",
            all, compared, estimates, stated, all - compared - stated);
}

static void print_summary(const struct exp_paper_findings *f, FILE *out)
{
    exp_paper_answer_print(f, out);
    fprintf(out, "\n");
    exp_paper_page_numbers(f, out);
    fprintf(
        out,
        "\nHow they compare, by the source of our number (agrees: within the tolerance that "
        "`experiments/papers/paper/claims.def` gives it; the same way: more or less of it, but on the same side):\n\n"
        "| source of ours | what it is | agrees | the same way | differs | not judged "
        "|\n|---|---|---:|---:|---:|---:|\n");
    for (size_t v = 0; v < EXP_PAPER_N_VIEWS; v++) {
        const struct tally t = tally_of(f, &exp_paper_views[v], EXP_PAPER_N_SECTIONS);

        if (t.n)
            fprintf(out, "| %s | %s | %zu | %zu | %zu | %zu |\n", exp_paper_views[v].heading, exp_paper_views[v].what,
                    t.verdict[EXP_PAPER_AGREES], t.verdict[EXP_PAPER_SAME_WAY], t.verdict[EXP_PAPER_DIFFERS],
                    t.verdict[EXP_PAPER_NOT_JUDGED]);
    }
    fprintf(out, "\nWhere the sources come from. %s.\n\n", f->what);
    for (size_t s = 0; s < EXP_PAPER_N_SETTINGS; s++) {
        const struct exp_paper_part *part = &f->part[s];

        fprintf(out, "- %s: %s\n", part->setting->what, *part->why ? part->why : part->about);
    }
}

/* ---- sentences ---- */

/* Tells whether a result has a number and that verdict. Where there is no number, numbers.csv has the reason. */
static bool has_verdict(const struct exp_paper_result *r, enum exp_paper_verdict v)
{
    return r->verdict == v && !isnan(r->ours);
}

/* Names the sources whose numbers have a verdict, with the numbers; results [first, end). Returns how many. */
static size_t say_verdict(const struct exp_paper_findings *f, size_t first, size_t end, enum exp_paper_verdict v,
                          FILE *out)
{
    static const char *const words[] = { "agrees", "the same way", "differs", "ours" };
    size_t n = 0;

    for (size_t i = first; i < end; i++) {
        const struct exp_paper_result *r = &f->result[i];

        if (!has_verdict(r, v))
            continue;
        if (!n++)
            fprintf(out, "; %s: ", words[v]);
        else
            fprintf(out, ", ");
        if (r->view)
            fprintf(out, "%s ", r->view->heading);
        exp_paper_put_unit(r->ours, r->claim->unit, out);
        if (r->view && *r->says)
            fprintf(out, " (%s)", r->says);
    }
    return n;
}

/* Says the published number. */
static void say_published(const struct exp_paper_result *r, FILE *out)
{
    const struct exp_paper_published *p = &r->published;

    fprintf(out, "- %s (%s%s%s): the paper has ", r->claim->label, p->figure, *p->arch ? ", " : "", p->arch);
    if (r->claim->expected != 0)
        exp_paper_put_unit(r->claim->expected, r->claim->unit, out);
    else
        exp_paper_put_published(p->value, r->claim->unit, out);
}

/* Says a published number and all our numbers of it in a sentence: results [first, end). */
static void say_number(const struct exp_paper_findings *f, size_t first, size_t end, FILE *out)
{
    static const char *const before[] = { "there is no number of ours: ", "here: " };
    const struct exp_paper_result *r = &f->result[first];
    size_t n = 0;

    say_published(r, out);
    for (int v = 0; v <= EXP_PAPER_NOT_JUDGED; v++)
        n += say_verdict(f, first, end, (enum exp_paper_verdict)v, out);
    if (!n)
        fprintf(out, "; %s%s", before[r->claim->use], r->says);
    fprintf(out, ".\n");
}

/* Says all numbers of a section but the numbers of single models, which are in tables. */
static void say_numbers(const struct exp_paper_findings *f, enum exp_paper_section section, FILE *out)
{
    for (size_t i = 0, end; i < f->n; i = end) {
        const struct exp_paper_result *r = &f->result[i];

        for (end = i + 1; end < f->n && f->result[end].index == r->index && f->result[end].claim == r->claim;)
            end++;
        if (r->claim && r->claim->section == section && !exp_paper_is_of_one_model(&r->published))
            say_number(f, i, end, out);
    }
}

/* ---- sections ---- */

static const struct {
    const char *heading, *intro, *figure; /* figure: NULL: none */
} sections[EXP_PAPER_N_SECTIONS] = {
    [EXP_PAPER_TABLE1] = { "Table 1: the machines",
                           "Ours are the machine files in `sim/machines`; they say where ways, latencies and issue "
                           "rates are from.\n",
                           NULL },
    [EXP_PAPER_SETUP] = { "Setup (sections 5, 7.1, 7.2)", "", NULL },
    [EXP_PAPER_TABLE2] = { "Table 2: speed-ups",
                           "Whole models are those that `make network` ran (timed here) or simulated in sequence "
                           "(estimated, on Table 1's machines), built from our layer tables by `make models` and run "
                           "without fusion, as in the paper: convolutions by Base and by `sconv_openblas`, all else by "
                           "the same operators. Their share of the time depends on how good those are. The paper's "
                           "compiler was ONNX-MLIR, and it names no files: the model zoo's differ from the tables in "
                           "places (`experiments/network/README.md`). Estimates are bounds, not times.\n\n",
                           NULL },
    [EXP_PAPER_FIGURE8] = { "Figure 8: all convolutions", "", "paper_figure8" },
    [EXP_PAPER_FIGURE9] = { "Figure 9: pointwise convolutions", "", "paper_figure9" },
    [EXP_PAPER_FIGURE10] = { "Figure 10: packing", "Im2col counts as packing, as in the paper.\n\n", "paper_figure10" },
    [EXP_PAPER_FIGURE11] = { "Figure 11 and section 7.6: cache misses",
                             "The paper counted with perf events on the Xeon, inside whole inference. Ours are "
                             "replays, and what a Zen 3 counted of L1.\n\n",
                             "paper_figure11" },
};

/* Says how many numbers of a section agree, before the sentences about each number. */
static void say_tally(const struct exp_paper_findings *f, enum exp_paper_section section, FILE *out)
{
    const struct tally t = tally_of(f, NULL, section);

    fprintf(out,
            "\nWhat agrees and what does not: of %zu comparisons, by number and source, %zu agree, %zu point the same "
            "way, and %zu differ.\n\n",
            t.n - t.verdict[EXP_PAPER_NOT_JUDGED], t.verdict[EXP_PAPER_AGREES], t.verdict[EXP_PAPER_SAME_WAY],
            t.verdict[EXP_PAPER_DIFFERS]);
}

static void print_section(const struct exp_paper_findings *f, enum exp_paper_section s, FILE *out)
{
    fprintf(out, "\n## %s\n\n", sections[s].heading);
    fputs(sections[s].intro, out);
    if (sections[s].figure)
        fprintf(out, "![%s](%s.png)\n\n", sections[s].heading, sections[s].figure);
    exp_paper_print_tables(f, s, out);
    say_tally(f, s, out);
    say_numbers(f, s, out);
}

/* ---- the end of the page ---- */

static void print_missing(const struct exp_paper_findings *f, FILE *out)
{
    fprintf(out, "\n## Not reproducible here\n\nPublished numbers without a number of ours, and why:\n\n"
                 "| where | model | machine | number | printed | why |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < f->n; i = end_of(f, i)) {
        const struct exp_paper_published *p = &f->result[i].published;
        const struct kinds k = kinds_of(f, i, end_of(f, i));

        if (!k.is_compared && !k.is_stated)
            fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", p->figure, p->model, p->arch, p->metric, p->value,
                    f->result[i].says);
    }
}

int exp_paper_page_print(const void *findings, FILE *out)
{
    const struct exp_paper_findings *f = findings;

    fprintf(out, "# The SConv paper, regenerated\n\n");
    print_summary(f, out);
    for (int s = 0; s < EXP_PAPER_N_SECTIONS; s++)
        print_section(f, (enum exp_paper_section)s, out);
    fprintf(out, "\n## The paper against itself\n\n");
    exp_paper_oddities_print(f, out);
    print_missing(f, out);
    fprintf(out, "\n## Other papers\n\n");
    exp_paper_others_print(f, out);
    fprintf(out, "\nEvery number is in `numbers.csv`; tables and figures are of `models.csv` and `speedups.csv`.\n");
    return 0;
}
