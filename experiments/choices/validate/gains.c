/* Simulated gains beside real gains: the bound of each pair of algorithms, over the layers with both. */
#include "experiments/choices/validate/validate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/choices/advice/advice.h"
#include "kernels/csa/csa.h"

/* Returns the point of the algorithm in p's layer, or NULL; points of a layer follow each other. */
static const struct exp_point *of_layer(const struct exp_points *points, const struct exp_point *p,
                                        const struct exp_algo *algo)
{
    const struct exp_point *first = p;

    while (first > points->point && first[-1].layer == p->layer && first[-1].model == p->model)
        first--;
    for (; first < points->point + points->n && first->layer == p->layer && first->model == p->model; first++) {
        if (first->algo == algo)
            return first;
    }
    return NULL;
}

/*
 * Fills ratio[] with simulated and real ratios of cycles, from over to, of all models but `without` (NULL: of all).
 * Returns the number of ratios.
 */
static size_t find_ratios(const struct exp_points *points, const char *without, const struct exp_algo *from,
                          const struct exp_algo *to, struct exp_gain_pair *ratio)
{
    size_t n = 0;

    for (const struct exp_point *p = points->point; p < points->point + points->n; p++) {
        const struct exp_cycles_pair a = exp_validate_cycles_of_point(p),
                                     b = exp_validate_cycles_of_point(p->algo == from ? of_layer(points, p, to) : NULL);

        ratio[n] = (struct exp_gain_pair){ a.simulated / b.simulated, a.taken / b.taken };
        n += isfinite(ratio[n].simulated) && isfinite(ratio[n].real) && !(without && !strcmp(p->model, without));
    }
    return n;
}

static void put(struct exp_csv *csv, const void *of)
{
    const struct exp_validate_gains *g = of;
    struct exp_gain_pair *ratio = exp_new(g->points->n + 1, sizeof *ratio);

    for (size_t a = 0; a < exp_algo_count(); a++) {
        for (size_t b = 0; b < exp_algo_count(); b++) {
            struct exp_gain row = { .machine = g->machine, .from = exp_algo_at(a)->name, .to = exp_algo_at(b)->name };
            const size_t n = a == b ? 0 : find_ratios(g->points, NULL, exp_algo_at(a), exp_algo_at(b), ratio);

            if (!n)
                continue;
            exp_gain_fill(&row, ratio, n);
            rec_put(csv, &exp_gains_table, &row);
        }
    }
    free(ratio);
}

int exp_validate_gains_write(const struct exp_validate_gains *g, const char *what, const struct exp_outdir *dir,
                             struct exp_why *why)
{
    const struct rec_file file = { &exp_gains_table, put, NULL };

    assert(g && g->points && g->machine);
    return rec_write_files(&file, 1, g, dir, what, why);
}

/* ---- advice by recorded cycles ---- */

static struct exp_advice_way way_of(const struct exp_point *of, const struct exp_point *by)
{
    const struct exp_cycles_pair a = exp_validate_cycles_of_point(of), b = exp_validate_cycles_of_point(by);
    const double real = a.taken / b.taken, simulated = a.simulated / b.simulated;
    const struct value none = value_none("the layer has this algorithm, or no cycles");
    struct exp_advice_way x = { none, none, exp_ratio_none(), none.why };

    if (of == by || !isfinite(real) || !isfinite(simulated))
        return x;
    x.measured.value = real;
    x.measured_percent = value_of(100 * (1 - 1 / real));
    x.promised_percent = value_of(100 * (1 - 1 / simulated));
    return x;
}

/* Takes the algorithm of the largest expected gain above the errors in the other models. ratio: room for all points. */
static struct exp_advice_way advise(const struct exp_points *points, const struct exp_point *of,
                                    struct exp_gain_pair *ratio)
{
    struct exp_advice_way best = way_of(of, of);
    double most = 0;

    for (size_t i = 0; i < exp_algo_count(); i++) {
        const struct exp_algo *to = exp_algo_at(i);
        const struct exp_advice_way x = way_of(of, of_layer(points, of, to));
        const size_t n = x.promised_percent.why ? 0 : find_ratios(points, of->model, of->algo, to, ratio);
        struct exp_gain error = { .machine = "" };
        double simulated, expected;

        if (!n)
            continue;
        exp_gain_fill(&error, ratio, n);
        simulated = 1 / (1 - x.promised_percent.number / 100);
        expected = exp_gain_expected(&error, "", simulated);
        if (!(simulated > 1 && simulated > exp_gain_bound(&error) && expected > most))
            continue;
        most = expected;
        best = x;
        best.promised_percent = value_of(100 * (1 - 1 / expected));
    }
    return best;
}

/* Tells whether a point is of SConv as CSA chooses. */
static bool is_chosen(const struct exp_setup *s, const struct exp_point *p)
{
    struct csa_tiling tiling[CSA_N_SCHEDULES];

    for (enum csa_schedule k = 0; k < CSA_N_SCHEDULES; k++)
        tiling[k] = csa_analyse(&p->layer->problem, &s->caches, s->ukr->n_win, s->ukr->n_f, k);
    return p->algo->when == EXP_ALGO_MEMBER && p->algo->schedule == csa_choose(tiling);
}

void exp_validate_advice_print(const struct exp_points *points, const struct exp_setup *setup, FILE *out)
{
    const struct exp_algo *tuned = exp_algo_find("sconv_tuned"), *ws = exp_algo_find("sconv_ws");
    struct exp_advice_judgement j = { 0 };
    struct exp_gain_pair *ratio = exp_new(points->n + 1, sizeof *ratio);

    for (const struct exp_point *p = points->point; p < points->point + points->n; p++) {
        const struct exp_cycles_pair cycles = exp_validate_cycles_of_point(p);
        struct exp_advice_judged *row;

        if (!is_chosen(setup, p) || isnan(cycles.taken) || isnan(cycles.simulated))
            continue;
        row = exp_append(&j.row, &j.n, sizeof *row);
        *row = (struct exp_advice_judged){ .before_ns = value_of(cycles.taken) };
        row->by[EXP_BY_ADVICE] = advise(points, p, ratio);
        row->by[EXP_BY_TUNED] = way_of(p, of_layer(points, p, tuned));
        row->by[EXP_BY_WS] = way_of(p, of_layer(points, p, ws));
    }
    exp_advice_judgement_print(&j, "by recorded cycles, with the errors of the other models", out);
    exp_advice_judgement_release(&j);
    free(ratio);
}
