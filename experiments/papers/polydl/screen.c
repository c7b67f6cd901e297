/* The screen of PolyDL's question: loop order and tiles of each layer, and the gain. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/stats.h"
#include "experiments/papers/polydl/report.h"

double exp_best_over(const struct exp_rank *r, enum exp_polydl_baseline baseline, size_t *n)
{
    const struct exp_polydl *p = r->polydl;
    double *ratio = exp_new(p->n_layers, sizeof *ratio), mean;

    *n = 0;
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct exp_polydl_layer *l = &p->layer[i];

        if (l->variants.n && l->baseline[baseline].n_rounds && l->of[0].time[EXP_POLYDL_ONE].n_rounds)
            ratio[(*n)++] = l->baseline[baseline].fastest_ns / r->layer[i].best_ns[EXP_POLYDL_ONE];
    }
    mean = exp_stats_geomean(ratio, *n);
    free(ratio);
    return mean;
}

static size_t count_timed(const struct exp_rank *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->polydl->n_layers; i++)
        n += r->polydl->layer[i].variants.n && exp_best_row(r, i, EXP_POLYDL_ONE).best.is_timed;
    return n;
}

void exp_best_headline(const struct exp_rank *r, const char *untimed, char *text, size_t bytes)
{
    static const struct {
        enum exp_polydl_baseline baseline;
        const char *name;
    } baselines[] = { { EXP_POLYDL_BASE, "im2col + OpenBLAS" },
                      { EXP_POLYDL_ONEDNN, "oneDNN" },
                      { EXP_POLYDL_MICRO, "PolyDL's Figure 8 with a micro-kernel" } };
    const size_t n_timed = count_timed(r);
    const char *before = "are ";

    if (!n_timed) {
        exp_say(text, bytes, "Nothing was timed (%s), so that no variant is known to be the best.",
                *untimed ? untimed : "no layer has variants");
        return;
    }
    exp_say(text, bytes, "The best loop orders and tiles of %zu layer%s ", n_timed, n_timed == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof baselines / sizeof baselines[0]; i++) {
        size_t n;
        const double ratio = exp_best_over(r, baselines[i].baseline, &n);

        if (!n)
            continue;
        exp_say_more(text, bytes, "%s%.2f times as fast as %s", before, ratio, baselines[i].name);
        before = ", ";
    }
    exp_say_more(text, bytes, "%s (geometric mean, one thread).", *before == 'a' ? "were timed" : "");
}

/* ---- the table ---- */

/* Returns the time saved by the choice, in percent of the first variant's time. */
static double saves_of(const struct exp_best_row *x)
{
    return 100 * (1 - x->first_share);
}

static int by_savings(const void *a, const void *b)
{
    const struct exp_best_row *x = a, *y = b;

    return (saves_of(x) < saves_of(y)) - (saves_of(x) > saves_of(y));
}

static void put_head(bool is_timed, struct exp_screen *screen)
{
    static const char *const timed[] = { "saves of first", "GFLOP/s", "slowest has", "PolyDL's has", "best variant" };

    exp_screen_row(screen, "layer");
    for (size_t i = 0; is_timed && i < sizeof timed / sizeof timed[0]; i++)
        exp_screen_cell(screen, EXP_PLAIN, "%s", timed[i]);
    if (!is_timed)
        exp_screen_cell(screen, EXP_PLAIN, "PolyDL's analysis picks");
}

static void put_row(const struct exp_best_row *x, bool is_timed, struct exp_screen *screen)
{
    exp_screen_row(screen, "%s", x->layer);
    if (!is_timed) {
        exp_screen_cell(screen, EXP_PLAIN, "%s", x->polydl_variant);
        return;
    }
    exp_screen_cell(screen, saves_of(x) >= 5 ? EXP_GOOD : EXP_PLAIN, "%.0f %%", saves_of(x));
    exp_screen_number(screen, EXP_PLAIN, x->best_gflops);
    exp_screen_cell(screen, EXP_PLAIN, "%.0f %%", 100 * x->worst_share);
    exp_screen_cell(screen, EXP_PLAIN, "%.0f %%", 100 * x->polydl_share);
    exp_screen_cell(screen, EXP_PLAIN, "%s", x->best_variant);
}

static void put_table(const struct exp_rank *r, bool is_timed, struct exp_screen *screen)
{
    struct exp_best_row *row = exp_new(r->polydl->n_layers, sizeof *row);
    size_t n = 0;

    for (size_t i = 0; i < r->polydl->n_layers; i++) {
        if (!r->polydl->layer[i].variants.n)
            continue;
        row[n] = exp_best_row(r, i, EXP_POLYDL_ONE);
        n += !is_timed || row[n].best.is_timed;
    }
    if (is_timed)
        qsort(row, n, sizeof *row, by_savings);
    put_head(is_timed, screen);
    for (size_t i = 0; i < n; i++)
        put_row(&row[i], is_timed, screen);
    free(row);
}

void exp_best_screen(const struct exp_rank *r, const char *untimed, struct exp_screen *screen)
{
    const bool is_timed = count_timed(r) > 0;
    char *verdict = exp_rank_verdict(r), text[1024];

    exp_screen_title(screen, "PolyDL's question: %zu variants of %zu layer%s, %s %s", exp_polydl_n_variants(r->polydl),
                     r->polydl->n_layers, r->polydl->n_layers == 1 ? "" : "s",
                     is_timed ? "timed on this computer, simulated on" : "simulated on", r->polydl->machine->name);
    exp_best_headline(r, untimed, text, sizeof text);
    exp_screen_say(screen, EXP_STRONG, "%s", text);
    exp_screen_note(screen, "analysis", "%s", verdict);
    put_table(r, is_timed, screen);
    free(verdict);
}
