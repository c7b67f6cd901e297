#include "experiments/polydl/exp_rank_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_rank_file.h"
#include "experiments/polydl/exp_rank_files.h"
#include "experiments/polydl/exp_rank_printed.h"

static const struct {
    const struct exp_csv_file *file;
    const char *what;
    void (*write)(struct exp_csv *csv, const struct exp_rank *r);
} files[] = {
    { &exp_rank_layers_file, "how fast is what each ranking puts first, layer by layer", exp_rank_layers_write },
    { &exp_rank_totals_file, "which analysis picks best, at what cost", exp_rank_totals_write },
    { &exp_rank_picks_file, "speeds of what was picked, and of what that is held against", exp_rank_picks_write },
    { &exp_rank_analyses_file, "what the analyses say of each variant", exp_rank_analyses_write },
    { &exp_rank_learning_file, "the loss of PolyDL's net while it learns", exp_rank_learning_write },
};

enum { N_FILES = sizeof files / sizeof files[0] };

/* ---- files ---- */

static int write_file(const struct exp_rank *r, size_t i, const struct exp_outdir *dir, char *why, size_t why_bytes)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, files[i].file, files[i].what, why, why_bytes);

    if (err)
        return err;
    exp_csv_header(csv, "machine", "%s: %s", r->polydl->machine->name, r->polydl->machine->description);
    files[i].write(csv, r);
    return exp_csv_close(csv, why, why_bytes);
}

static int write_net(const struct exp_rank *r, size_t threads, const struct exp_outdir *dir, char *why,
                     size_t why_bytes)
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
    err = path ? exp_rank_file_write(&l->net, path, note, why, why_bytes)
               : exp_fail(why, why_bytes, -ENOMEM, "out of memory");
    free(path);
    return err;
}

int exp_rank_write(const struct exp_rank *r, const char *experiments_dir, const struct exp_outdir *dir, char *why,
                   size_t why_bytes)
{
    int err = 0;

    for (size_t i = 0; i < N_FILES && !err; i++)
        err = write_file(r, i, dir, why, why_bytes);
    for (size_t t = 0; t < EXP_N_POLYDL_THREADS && !err; t++)
        err = write_net(r, t, dir, why, why_bytes);
    return err ? err : exp_rank_printed_write(r, experiments_dir, dir, why, why_bytes);
}

void exp_rank_document(FILE *out)
{
    for (size_t i = 0; i < N_FILES; i++)
        exp_csv_document(files[i].file, out);
    exp_csv_document(&exp_rank_printed_file, out);
}

/* ---- the answer ---- */

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
    fprintf(out, "| %s | %zu | %.3f | %.3f | %.2f | %.0f %% | %.3f", exp_ranking_title((enum exp_ranking)ranking), t.n,
            t.mean_share, t.geomean_share, t.worst_share, t.near_best_percent, t.geomean_top_share);
    print_number(out, " | %.2f", t.mean_spearman);
    print_number(out, " | %.2f", t.mean_kendall);
    print_number(out, " | %.2g", t.mean_seconds);
    print_number(out, " | %.2g", t.most_seconds);
    fprintf(out, " |\n");
}

static bool has_verdicts(const struct exp_rank *r, size_t threads, size_t part)
{
    return exp_rank_total_of(r, (enum exp_polydl_threads)threads, EXP_RANKING_POLYDL, (enum exp_rank_part)part, NULL)
               .n > 0;
}

static void print_part(const struct exp_rank *r, size_t threads, size_t part, FILE *out)
{
    if (!has_verdicts(r, threads, part))
        return;
    fprintf(
        out,
        "\n%s, %u thread%s: speed of the pick as a share of the best variant's\n\n"
        "| ranking | layers | mean | geomean | worst | >= 95 %% | best of top 5 %% | Spearman | Kendall | s/variant | "
        "most |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
        exp_rank_part_meaning((enum exp_rank_part)part), exp_polydl_n_threads((enum exp_polydl_threads)threads),
        threads ? "s" : "");
    for (size_t k = 0; k < EXP_N_RANKINGS; k++)
        print_total(r, (enum exp_polydl_threads)threads, k, part, out);
}

/* Tells whether a ranking analyses, and does not run anything, or nothing at all. */
static bool is_analysis(size_t ranking)
{
    return ranking != EXP_RANKING_DEFAULT && ranking != EXP_RANKING_CLOCK;
}

/* Says in a sentence which analysis picks best on one thread. */
static void print_best(const struct exp_rank *r, FILE *out)
{
    struct exp_rank_total best = { .n = 0 };
    size_t which = 0;

    for (size_t k = 0; k < EXP_N_RANKINGS; k++) {
        const struct exp_rank_total t = exp_rank_total_of(r, EXP_POLYDL_ONE, (enum exp_ranking)k, EXP_RANK_ALL, NULL);

        if (is_analysis(k) && t.n && (!best.n || t.geomean_share > best.geomean_share)) {
            best = t;
            which = k;
        }
    }
    if (best.n)
        fprintf(out,
                "Best pick: %s, whose first variant has %.1f %% of the fastest one's speed (geometric mean of %zu "
                "convolutions, one thread).\n",
                exp_ranking_title((enum exp_ranking)which), 100 * best.geomean_share, best.n);
}

void exp_rank_print(const struct exp_rank *r, FILE *out)
{
    fprintf(out, "Which analysis picks best, at what cost?\n");
    print_best(r, out);
    for (size_t t = 0; t < EXP_N_POLYDL_THREADS; t++) {
        print_part(r, t, EXP_RANK_ALL, out);
        if (r->learnt[t].net.weight)
            print_part(r, t, EXP_RANK_HELD_OUT, out);
        print_part(r, t, EXP_RANK_GEMMS, out);
        if (*r->learnt[t].why_not)
            fprintf(out, "\nPolyDL-DNN is missing on %u thread%s: %s.\n",
                    exp_polydl_n_threads((enum exp_polydl_threads)t), t ? "s" : "", r->learnt[t].why_not);
    }
    fprintf(out, "\ntotals.csv has these by model, too, and for the layers that the net was trained on.\n");
}
