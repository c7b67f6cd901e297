#include "experiments/paper/exp_paper_answer.h"

#include <math.h>
#include <string.h>

#include "experiments/base/exp_text.h"
#include "experiments/paper/exp_paper_tables.h"

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

/* A part of the claim: what it says, and where our numbers are from. A quotient over 1 is for it. */
static const struct part {
    const char *says, *figure, *model, *metric; /* the last three: the paper's number */
    exp_paper_model_fn of;
    int level;
    const char *view[2];
} parts[] = {
    { "Faster: time of Base / time of SConv",
      "Table 2",
      "GeoMean",
      "conv_speedup",
      exp_paper_speedup,
      0,
      { "here", "zen3" } },
    { "Fewer misses in L1: of Base / of SConv",
      "",
      "all",
      "l1_miss_improvement",
      exp_paper_miss_ratio,
      0,
      { "clx4208_cold", "zen3" } },
    { "Fewer misses in L2: of Base / of SConv",
      "",
      "all",
      "l2_miss_improvement_avg",
      exp_paper_miss_ratio,
      1,
      { "clx4208_cold", "zen3" } },
    { "Fewer misses in L3: of Base / of SConv",
      "",
      "all",
      "l3_miss_improvement_avg",
      exp_paper_miss_ratio,
      2,
      { "clx4208_cold", "zen3" } },
};

static const struct exp_paper_set *set_of(const struct exp_paper_findings *f, const char *view)
{
    return &f->set[exp_paper_view_find(view) - exp_paper_views];
}

static double number_of(const struct exp_paper_set *s, const struct part *p)
{
    return exp_paper_over(s, p->of, EXP_PAPER_GEOMEAN, p->level);
}

struct votes {
    size_t n, n_for;
};

/* Counts the votes of those parts whose numbers are of(). */
static struct votes count_votes(const struct exp_paper_findings *f, exp_paper_model_fn of)
{
    struct votes v = { 0, 0 };

    for (size_t i = 0; i < N_OF(parts) * N_OF(parts[0].view); i++) {
        const struct part *p = &parts[i / N_OF(p->view)];
        double x = p->of == of ? number_of(set_of(f, p->view[i % N_OF(p->view)]), p) : (double)NAN;

        v.n += isnan(x) ? 0 : 1;
        v.n_for += x > 1;
    }
    return v;
}

/* Returns what the paper prints. */
static const char *paper_text(const struct exp_paper_findings *f, const struct part *p)
{
    const struct exp_published *table = &f->published;

    for (size_t r = 0; r < table->table.n_rows; r++) {
        if (!strcmp(exp_paper_field(f, r, table->metric), p->metric) &&
            !strcmp(exp_paper_field(f, r, table->model), p->model) &&
            strcmp(exp_paper_field(f, r, table->arch), "P10") != 0 &&
            (!*p->figure || !strcmp(exp_paper_field(f, r, table->figure), p->figure)))
            return exp_paper_field(f, r, table->value);
    }
    return "-";
}

/* Names a source with its number and of how many models it is, or with why it has none. Returns whether there is either. */
static bool say_source(const struct exp_paper_findings *f, const struct part *p, const struct exp_paper_set *s,
                       const char *before, FILE *out)
{
    const char *why_not = f->part[s->view->setting].why_not;
    double x = number_of(s, p);

    if (isnan(x) && !*why_not)
        return false;
    fprintf(out, "%s%s ", before, s->view->heading);
    if (isnan(x))
        fprintf(out, "has none: %s", why_not);
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

void exp_paper_answer_print(const struct exp_paper_findings *f, FILE *out)
{
    const struct votes time = count_votes(f, exp_paper_speedup), miss = count_votes(f, exp_paper_miss_ratio);
    size_t n = time.n + miss.n, n_for = time.n_for + miss.n_for;

    fprintf(out, "The paper's claim is that SConv is faster than Base because it misses the caches less. ");
    if (!n)
        fprintf(out, "Nothing here can judge it: no source has a time or a count.\n\n");
    else
        fprintf(out,
                "It %s: SConv is faster in %zu of %zu comparisons, and has fewer misses in %zu of %zu (geometric means "
                "over the models; estimates are left out).\n\n",
                n_for == n ? "holds"
                : n_for    ? "holds in part"
                           : "does not hold",
                time.n_for, time.n, miss.n_for, miss.n);
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
