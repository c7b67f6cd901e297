#include "experiments/papers/polydl/report.h"

#include <math.h>
#include <string.h>

/* ---- the best variants ---- */

static void print_layer(const struct exp_rank *r, size_t layer, FILE *out)
{
    const struct exp_best_row x = exp_best_row(r, layer, EXP_POLYDL_ONE);

    fprintf(out, "| %s | %s | ", x.model, x.layer);
    if (x.best.is_timed)
        fprintf(out, "`%s` | %.1f | %zu of %zu | %.2f | `%s` | %.2f | %.2f |\n", x.best_variant, x.best_gflops,
                x.best.n_equals, x.best.n_timed - 1, x.worst_share, x.polydl_variant, x.polydl_share, x.first_share);
    else
        fprintf(out, "not timed | | | | `%s` | | |\n", x.polydl_variant);
}

void exp_best_print(const struct exp_rank *r, FILE *out)
{
    fprintf(
        out,
        "Which loop order and tiles are best? One thread; loops outermost first, a tile after a dot, `*`: parallel\n\n"
        "| model | layer | best variant | GFLOP/s | as fast, by the clock | slowest | PolyDL picks | its share | first "
        "variant's |\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < r->polydl->n_layers; i++) {
        if (r->polydl->layer[i].variants.n)
            print_layer(r, i, out);
    }
    fprintf(out, "\nShares are of the best variant's speed. \"As fast\": the clock cannot tell these other variants "
                 "from the best one.\nbest.csv has this of two threads, too.\n");
}

/* ---- the answer: tables ---- */

static void print_number(FILE *out, const char *format, double x)
{
    if (isfinite(x))
        fprintf(out, format, x);
    else
        fprintf(out, " | -");
}

static void print_total(const struct exp_rank *r, enum exp_polydl_threads threads, enum exp_ranking ranking,
                        enum exp_rank_part part, FILE *out)
{
    const struct exp_rank_total t = exp_rank_total_of(r, threads, ranking, part, NULL);

    if (!t.n)
        return;
    fprintf(out, "| %s", exp_rankings[ranking].title);
    if (ranking == EXP_RANKING_DNN && t.n_seen)
        fprintf(out, " (trained on %zu of these)", t.n_seen);
    fprintf(out, " | %zu | %.3f | %.3f | %.2f | %.0f %%", t.n, t.mean_share, t.geomean_share, t.worst_share,
            t.near_best_percent);
    print_number(out, " | %.0f %%", t.can_fail_percent);
    fprintf(out, " | %.3f", t.geomean_top_share);
    print_number(out, " | %.2f", t.mean_spearman);
    print_number(out, " | %.2f", t.mean_kendall);
    print_number(out, " | %.2g", t.mean_seconds);
    print_number(out, " | %.2g", t.most_seconds);
    fprintf(out, " |\n");
}

static const char *plural(enum exp_polydl_threads threads)
{
    return threads ? "s" : "";
}

static void print_part(const struct exp_rank *r, enum exp_polydl_threads threads, enum exp_rank_part part, FILE *out)
{
    const struct exp_rank_total t = exp_rank_total_of(r, threads, EXP_RANKING_POLYDL, part, NULL);

    if (!t.n)
        return;
    fprintf(out,
            "\n%s, %u thread%s: speed of the pick as a share of the best variant's. A pick can fail on %zu of %zu "
            "layers, where the slowest variant has less than 95 %%\n\n"
            "| ranking | layers | mean | geomean | worst | >= 95 %% | ... where it can fail | best of top 5 %% | "
            "Spearman | Kendall | s/variant | most |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
            exp_rank_parts[part].meaning, exp_polydl_n_threads(threads), plural(threads), t.n_can_fail, t.n);
    for (enum exp_ranking k = 0; k < EXP_N_RANKINGS; k++)
        print_total(r, threads, k, part, out);
}

void exp_rank_print(const struct exp_rank *r, FILE *out)
{
    fprintf(out, "Which analysis picks best, at what cost?\n");
    for (enum exp_polydl_threads t = 0; t < EXP_N_POLYDL_THREADS; t++) {
        const enum exp_rank_part fair = exp_rank_fair_part(r, t);

        print_part(r, t, fair, out);
        if (fair != EXP_RANK_ALL)
            print_part(r, t, EXP_RANK_ALL, out);
        print_part(r, t, EXP_RANK_GEMMS, out);
        if (*r->learnt[t].why)
            fprintf(out, "\nPolyDL-DNN is missing on %u thread%s: %s.\n", exp_polydl_n_threads(t), plural(t),
                    r->learnt[t].why);
    }
    fprintf(out, "\ntotals.csv has these by model, too, and for the layers that the net was trained on.\n");
}

/* ---- the answer: verdicts ---- */

/* Tells whether a ranking analyses, and does not run anything, or nothing at all. */
static bool is_analysis(enum exp_ranking ranking)
{
    return ranking != EXP_RANKING_DEFAULT && ranking != EXP_RANKING_CLOCK;
}

/*
 * Returns a ranking's total; nothing, if the ranking takes no part in a comparison: a net that has seen times of these
 * layers.
 */
static struct exp_rank_total candidate(const struct exp_rank *r, enum exp_polydl_threads threads,
                                       enum exp_ranking ranking, enum exp_rank_part part)
{
    const struct exp_rank_total t = exp_rank_total_of(r, threads, ranking, part, NULL);
    const bool is_fair = is_analysis(ranking) && !(ranking == EXP_RANKING_DNN && t.n_seen);

    return is_fair ? t : (struct exp_rank_total){ 0 };
}

/* Finds the analysis whose picks are fastest. Returns EXP_N_RANKINGS if there is none. */
static enum exp_ranking find_best(const struct exp_rank *r, enum exp_polydl_threads threads, enum exp_rank_part part)
{
    double most = 0;
    enum exp_ranking best = EXP_N_RANKINGS;

    for (enum exp_ranking k = 0; k < EXP_N_RANKINGS; k++) {
        const struct exp_rank_total t = candidate(r, threads, k, part);

        if (!t.n || t.mean_share <= most)
            continue;
        most = t.mean_share;
        best = k;
    }
    return best;
}

/* Names the analyses that are as good as the best analysis, as far as the layers tell. */
static void print_equals(const struct exp_rank *r, enum exp_polydl_threads threads, enum exp_rank_part part,
                         enum exp_ranking best, FILE *out)
{
    const char *before = " Not clearly behind it:";

    for (enum exp_ranking k = 0; k < EXP_N_RANKINGS; k++) {
        if (k == best || !candidate(r, threads, k, part).n || exp_rank_lead_of(r, threads, best, k, part).is_clear)
            continue;
        fprintf(out, "%s %s", before, exp_rankings[k].title);
        before = ",";
    }
    fprintf(out, "%s\n", *before == ',' ? "." : "");
}

/* Says how far the clock's own repeat is above the best analysis: too little for a verdict. */
static void print_no_verdict(const struct exp_rank_lead *lead, FILE *out)
{
    if (lead->n < EXP_RANK_LEAST_LAYERS)
        fprintf(out, " No verdict: a comparison with the clock's own repeat wants %d layers, and %zu have one.\n",
                EXP_RANK_LEAST_LAYERS, lead->n);
    else
        fprintf(out,
                " No verdict: the clock's own repeat is not clearly above it (%+.1f points, standard error %.1f), so "
                "these times cannot tell analyses apart. More rounds may: REFINE=, on a quiet computer.\n",
                100 * lead->mean, 100 * lead->error);
}

static void print_verdict(const struct exp_rank *r, enum exp_polydl_threads threads, enum exp_rank_part part, FILE *out)
{
    const enum exp_ranking best = find_best(r, threads, part);
    const struct exp_rank_total clock = exp_rank_total_of(r, threads, EXP_RANKING_CLOCK, part, NULL),
                                none = exp_rank_total_of(r, threads, EXP_RANKING_DEFAULT, part, NULL);
    struct exp_rank_total t;
    struct exp_rank_lead lead;

    if (best == EXP_N_RANKINGS)
        return;
    t = candidate(r, threads, best, part);
    lead = exp_rank_lead_of(r, threads, EXP_RANKING_CLOCK, best, part);
    fprintf(out,
            "%s, %u thread%s: the picks of %s have %.1f %% of the fastest variant's speed (mean of %zu), the first "
            "variant, without analysis, %.1f %%",
            exp_rank_parts[part].meaning, exp_polydl_n_threads(threads), plural(threads), exp_rankings[best].title,
            100 * t.mean_share, t.n, 100 * none.mean_share);
    if (clock.n)
        fprintf(out, ", the clock itself %.1f %%", 100 * clock.mean_share);
    fprintf(out, ".");
    if (!lead.is_clear) {
        print_no_verdict(&lead, out);
        return;
    }
    fprintf(out, " Verdict: %s picks best.", exp_rankings[best].title);
    print_equals(r, threads, part, best, out);
}

void exp_rank_print_verdict(const struct exp_rank *r, FILE *out)
{
    fprintf(out, "VERDICT: which analysis picks best?\n");
    for (enum exp_polydl_threads t = 0; t < EXP_N_POLYDL_THREADS; t++) {
        print_verdict(r, t, exp_rank_fair_part(r, t), out);
        print_verdict(r, t, EXP_RANK_GEMMS, out);
    }
}

char *exp_rank_verdict(const struct exp_rank *r)
{
    const enum exp_rank_part fair = exp_rank_fair_part(r, EXP_POLYDL_ONE);
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    print_verdict(r, EXP_POLYDL_ONE, find_best(r, EXP_POLYDL_ONE, fair) == EXP_N_RANKINGS ? EXP_RANK_GEMMS : fair, out);
    fclose(out);
    text[strcspn(text, "\n")] = '\0';
    return text;
}
