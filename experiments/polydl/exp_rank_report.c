#include "experiments/polydl/exp_polydl_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/base/exp_error.h"
#include "experiments/polydl/learn/exp_rank_net.h"

static const struct {
    const struct exp_csv_file *file;
    const char *what;
    void (*write)(struct exp_csv *csv, const struct exp_rank *r);
} files[] = {
    { &exp_best_table.file, "which order and tiles are best, layer by layer", exp_best_write },
    { &exp_rank_layers_table.file, "how fast is what each ranking puts first, layer by layer", exp_rank_layers_write },
    { &exp_rank_totals_table.file, "which analysis picks best, at what cost", exp_rank_totals_write },
    { &exp_rank_picks_table.file, "speeds of what was picked, and of what that is held against", exp_rank_picks_write },
    { &exp_rank_analyses_table.file, "what the analyses say of each variant", exp_rank_analyses_write },
    { &exp_rank_learning_table.file, "the loss of PolyDL's net while it learns", exp_rank_learning_write },
};

enum { N_FILES = sizeof files / sizeof files[0] };

/* ---- files ---- */

static int write_file(const struct exp_rank_results *x, size_t i, const struct exp_outdir *dir, struct exp_why *why)
{
    const struct exp_rank *r = x->rank;
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, files[i].file, files[i].what, why);

    if (err)
        return err;
    exp_csv_header(csv, "run", "%s", x->run);
    exp_csv_header(csv, "machine", "%s: %s", r->polydl->machine->name, r->polydl->machine->description);
    files[i].write(csv, r);
    return exp_csv_close(csv, why);
}

static int write_net(const struct exp_rank *r, size_t threads, const struct exp_outdir *dir, struct exp_why *why)
{
    const struct exp_rank_learnt *l = &r->learnt[threads];
    const unsigned n_threads = exp_polydl_n_threads((enum exp_polydl_threads)threads);
    char name[24], note[160], *path;
    int err;

    if (!l->net.weight)
        return 0;
    exp_say(name, sizeof name, "net_%u.txt", n_threads);
    exp_say(note, sizeof note, "learnt from the times of %zu pairs of variants on %u threads, by the caches of %s",
            l->n_pairs, n_threads, r->polydl->machine->name);
    path = exp_outdir_file(dir, name);
    err = path ? exp_rank_file_write(&l->net, path, note, why) : exp_fail(why, -ENOMEM, "out of memory");
    free(path);
    return err;
}

int exp_rank_write(const struct exp_rank_results *x, const struct exp_outdir *dir, struct exp_why *why)
{
    int err = 0;

    for (size_t i = 0; i < N_FILES && !err; i++)
        err = write_file(x, i, dir, why);
    for (size_t t = 0; t < EXP_N_POLYDL_THREADS && !err; t++)
        err = write_net(x->rank, t, dir, why);
    return err ? err : exp_rank_printed_write(x, dir, why);
}

void exp_rank_document(FILE *out)
{
    for (size_t i = 0; i < N_FILES; i++)
        exp_csv_document(files[i].file, out);
    exp_csv_document(&exp_rank_printed_table.file, out);
}

/* ---- the answer: tables ---- */

static void print_number(FILE *out, const char *format, double x)
{
    if (isfinite(x))
        fprintf(out, format, x);
    else
        fprintf(out, " | -");
}

static void print_total(const struct exp_rank *r, enum exp_polydl_threads threads, size_t ranking, size_t part,
                        FILE *out)
{
    const struct exp_rank_total t =
        exp_rank_total_of(r, threads, (enum exp_ranking)ranking, (enum exp_rank_part)part, NULL);

    if (!t.n)
        return;
    fprintf(out, "| %s", exp_ranking_title((enum exp_ranking)ranking));
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

static const char *plural(size_t threads)
{
    return threads ? "s" : "";
}

static void print_part(const struct exp_rank *r, size_t threads, enum exp_rank_part part, FILE *out)
{
    const struct exp_rank_total t =
        exp_rank_total_of(r, (enum exp_polydl_threads)threads, EXP_RANKING_POLYDL, part, NULL);

    if (!t.n)
        return;
    fprintf(out,
            "\n%s, %u thread%s: speed of the pick as a share of the best variant's. A pick can fail on %zu of %zu "
            "layers, where the slowest variant has less than 95 %%\n\n"
            "| ranking | layers | mean | geomean | worst | >= 95 %% | ... where it can fail | best of top 5 %% | "
            "Spearman | Kendall | s/variant | most |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
            exp_rank_part_meaning(part), exp_polydl_n_threads((enum exp_polydl_threads)threads), plural(threads),
            t.n_can_fail, t.n);
    for (size_t k = 0; k < EXP_N_RANKINGS; k++)
        print_total(r, (enum exp_polydl_threads)threads, k, part, out);
}

void exp_rank_print(const struct exp_rank *r, FILE *out)
{
    fprintf(out, "Which analysis picks best, at what cost?\n");
    for (size_t t = 0; t < EXP_N_POLYDL_THREADS; t++) {
        const enum exp_rank_part fair = exp_rank_fair_part(r, (enum exp_polydl_threads)t);

        print_part(r, t, fair, out);
        if (fair != EXP_RANK_ALL)
            print_part(r, t, EXP_RANK_ALL, out);
        print_part(r, t, EXP_RANK_GEMMS, out);
        if (*r->learnt[t].why_not)
            fprintf(out, "\nPolyDL-DNN is missing on %u thread%s: %s.\n",
                    exp_polydl_n_threads((enum exp_polydl_threads)t), plural(t), r->learnt[t].why_not);
    }
    fprintf(out, "\ntotals.csv has these by model, too, and for the layers that the net was trained on.\n");
}

/* ---- the answer: verdicts ---- */

/* Tells whether a ranking analyses, and does not run anything, or nothing at all. */
static bool is_analysis(size_t ranking)
{
    return ranking != EXP_RANKING_DEFAULT && ranking != EXP_RANKING_CLOCK;
}

/* Returns what a ranking is worth; nothing, if it takes no part in a comparison: a net that has seen times of these layers. */
static struct exp_rank_total candidate(const struct exp_rank *r, enum exp_polydl_threads threads, size_t ranking,
                                       enum exp_rank_part part)
{
    const struct exp_rank_total t = exp_rank_total_of(r, threads, (enum exp_ranking)ranking, part, NULL);
    const bool is_fair = is_analysis(ranking) && !(ranking == EXP_RANKING_DNN && t.n_seen);

    return is_fair ? t : (struct exp_rank_total){ 0 };
}

/* Finds the analysis whose picks are fastest. Returns EXP_N_RANKINGS if there is none. */
static size_t find_best(const struct exp_rank *r, enum exp_polydl_threads threads, enum exp_rank_part part)
{
    double most = 0;
    size_t best = EXP_N_RANKINGS;

    for (size_t k = 0; k < EXP_N_RANKINGS; k++) {
        const struct exp_rank_total t = candidate(r, threads, k, part);

        if (!t.n || t.mean_share <= most)
            continue;
        most = t.mean_share;
        best = k;
    }
    return best;
}

/* Says which other analyses are as good as the best one, as far as the layers tell. */
static void print_equals(const struct exp_rank *r, enum exp_polydl_threads threads, enum exp_rank_part part,
                         size_t best, FILE *out)
{
    const char *before = " Not clearly behind it:";

    for (size_t k = 0; k < EXP_N_RANKINGS; k++) {
        if (k == best || !candidate(r, threads, k, part).n ||
            exp_rank_lead_of(r, threads, (enum exp_ranking)best, (enum exp_ranking)k, part).is_clear)
            continue;
        fprintf(out, "%s %s", before, exp_ranking_title((enum exp_ranking)k));
        before = ",";
    }
    fprintf(out, "%s\n", *before == ',' ? "." : "");
}

/* Says how far the clock's own repeat is above the best analysis, and that this is too little for a verdict. */
static void print_no_verdict(const struct exp_rank_lead *lead, FILE *out)
{
    if (lead->n < EXP_RANK_LEAST_LAYERS)
        fprintf(out, " No verdict: a comparison with the clock's own repeat wants %d layers, and %zu have one.\n",
                EXP_RANK_LEAST_LAYERS, lead->n);
    else
        fprintf(
            out,
            " No verdict: the clock's own repeat is not clearly above it (%+.1f points, standard error %.1f), so these "
            "times cannot tell analyses apart. More rounds may: REFINE=, on a quiet computer.\n",
            100 * lead->mean, 100 * lead->error);
}

static void print_verdict(const struct exp_rank *r, enum exp_polydl_threads threads, enum exp_rank_part part, FILE *out)
{
    const size_t best = find_best(r, threads, part);
    const struct exp_rank_total clock = exp_rank_total_of(r, threads, EXP_RANKING_CLOCK, part, NULL),
                                none = exp_rank_total_of(r, threads, EXP_RANKING_DEFAULT, part, NULL);
    struct exp_rank_total t;
    struct exp_rank_lead lead;

    if (best == EXP_N_RANKINGS)
        return;
    t = candidate(r, threads, best, part);
    lead = exp_rank_lead_of(r, threads, EXP_RANKING_CLOCK, (enum exp_ranking)best, part);
    fprintf(out,
            "%s, %u thread%s: the picks of %s have %.1f %% of the fastest variant's speed (mean of %zu), the first "
            "variant, without analysis, %.1f %%",
            exp_rank_part_meaning(part), exp_polydl_n_threads(threads), plural(threads),
            exp_ranking_title((enum exp_ranking)best), 100 * t.mean_share, t.n, 100 * none.mean_share);
    if (clock.n)
        fprintf(out, ", the clock itself %.1f %%", 100 * clock.mean_share);
    fprintf(out, ".");
    if (!lead.is_clear) {
        print_no_verdict(&lead, out);
        return;
    }
    fprintf(out, " Verdict: %s picks best.", exp_ranking_title((enum exp_ranking)best));
    print_equals(r, threads, part, best, out);
}

void exp_rank_print_verdict(const struct exp_rank *r, FILE *out)
{
    fprintf(out, "VERDICT: which analysis picks best?\n");
    for (size_t t = 0; t < EXP_N_POLYDL_THREADS; t++) {
        print_verdict(r, (enum exp_polydl_threads)t, exp_rank_fair_part(r, (enum exp_polydl_threads)t), out);
        print_verdict(r, (enum exp_polydl_threads)t, EXP_RANK_GEMMS, out);
    }
}
