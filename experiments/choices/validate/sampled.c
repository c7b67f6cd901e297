/* Sampled replays beside exact replays: how far the estimates are, and how often intervals hold the exact count. */
#include "experiments/choices/validate/validate.h"

#include <assert.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/record.h"
#include "experiments/bench/replay/replay.h"
#include "experiments/base/cells.h"

#define ROW struct exp_validate_sampled_row

static const struct rec_field fields[] = {
    { { "machine", "", "the simulated machine", "" }, REC_AT(ROW, machine) },
    { { "model", "", "the model", "" }, REC_AT(ROW, model) },
    { EXP_COLUMN_LAYER, REC_AT(ROW, layer) },
    { EXP_COLUMN_ALGO, REC_AT(ROW, algo) },
    { { "simulation", "", "the machine as it is, or its caches alone", "" }, REC_AT(ROW, view) },
    { { "quantity", "", "what is counted", "" }, REC_AT(ROW, quantity) },
    { { "exact", "", "the count of the exact replay", "replay" }, REC_AT(ROW, exact) },
    { { "sampled", "", "the estimate of the sampled replay", "replay" }, REC_AT(ROW, sampled) },
    { { "pm", "", "half of the estimate's 95 % interval", "replay" }, REC_AT(ROW, pm) },
    { { "share_percent", "%", "of the accesses, those simulated one by one", "replay" }, REC_AT(ROW, share_percent) },
};

const struct rec_table exp_validate_sampled_table = REC_TABLE("sampled.csv", fields, ROW);

/* Errors in % within which the sampled counts are wanted. */
static const double wanted_percent[EXP_N_SAMPLED] = {
    [EXP_SAMPLED_CYCLES] = 1,      [EXP_SAMPLED_L1_LINES] = 1,      [EXP_SAMPLED_DEMAND] = 3,
    [EXP_SAMPLED_L1_MISSES] = 3,   [EXP_SAMPLED_L2_LINES] = 10,     [EXP_SAMPLED_L2_MISSES] = 10,
    [EXP_SAMPLED_L3_MISSES] = 10,  [EXP_SAMPLED_MEMORY_READ] = 0.5, [EXP_SAMPLED_MEMORY_WRITTEN] = 0.5,
    [EXP_SAMPLED_DTLB_MISSES] = 2, [EXP_SAMPLED_L1_BORDER] = 1,     [EXP_SAMPLED_L2_BORDER] = 10,
    [EXP_SAMPLED_EQ6] = 3,
};

static void add_view(struct exp_validate_samples *s, const struct exp_experiment *e, const struct exp_case *c,
                     enum exp_view view, const struct exp_simulated *exact, const struct exp_simulated *sampled)
{
    double was[EXP_N_SAMPLED], is[EXP_N_SAMPLED];
    const struct sim_machine *m = view == EXP_CACHES_ALONE ? &e->setup->alone : &e->setup->machine;

    exp_replay_quantities(was, m, exact, view == EXP_AS_MACHINE);
    exp_replay_quantities(is, m, sampled, view == EXP_AS_MACHINE);
    for (size_t q = 0; q < EXP_N_SAMPLED; q++) {
        if (!(was[q] > 0) && !(is[q] > 0))
            continue;
        *(ROW *)exp_append(&s->row, &s->n, sizeof *s->row) = (ROW){
            .machine = s->machine,
            .model = e->model->name,
            .layer = c->layer->name,
            .algo = c->algo->name,
            .view = exp_view_name(view),
            .quantity = exp_sampled_name((enum exp_sampled)q),
            .q = q,
            .is_machine = view == EXP_AS_MACHINE,
            .exact = was[q],
            .sampled = is[q],
            .pm = sampled->pm[q],
            .share_percent = 100 * sampled->share,
        };
    }
}

int exp_validate_sample(struct exp_validate_samples *s, struct exp_experiment *e, enum exp_cache_state cache,
                        unsigned n_threads, struct exp_progress *progress, struct exp_why *why)
{
    struct exp_case *exact = exp_copy_bytes(e->cases, e->n_cases, sizeof *e->cases);
    int err;

    assert(e->setup->sampling.mode == EXP_SAMPLING_ALWAYS);
    err = exp_replay_all(e, cache, n_threads, progress, why);
    for (size_t i = 0; i < e->n_cases && !err; i++) {
        const struct exp_case *c = &e->cases[i];

        if (c->simulated.why || c->simulated.is_copy)
            continue;
        s->n_streams++;
        if (c->simulated.share < 1) {
            add_view(s, e, c, EXP_AS_MACHINE, &exact[i].simulated, &c->simulated);
            if (exp_replay_alone_differs(e->setup))
                add_view(s, e, c, EXP_CACHES_ALONE, &exact[i].alone, &c->alone);
            s->n_sampled++;
        }
        e->cases[i].simulated = exact[i].simulated;
        e->cases[i].alone = exact[i].alone;
    }
    free(exact);
    return err;
}

const char *exp_validate_keep(struct exp_validate_samples *s, char *text)
{
    return *(char **)exp_append(&s->text, &s->n_texts, sizeof *s->text) = text;
}

void exp_validate_samples_release(struct exp_validate_samples *s)
{
    for (size_t i = 0; i < s->n_texts; i++)
        free(s->text[i]);
    free(s->text);
    free(s->row);
}

int exp_validate_sampled_write(const struct exp_validate_samples *s, const struct exp_outdir *dir, struct exp_why *why)
{
    return rec_write(&exp_validate_sampled_table, s->row, s->n, dir, "sampled replays beside exact replays", why);
}

/* ---- the table ---- */

struct quality {
    size_t n;
    double median, p90, worst, within, hold, width; /* percent */
};

/* Of a machine; machine NULL: of all. */
static struct quality quality_of(const struct exp_validate_samples *s, const char *machine, size_t q, bool is_machine)
{
    double *error = exp_new(s->n + 1, sizeof *error), *width = exp_new(s->n + 1, sizeof *width);
    struct quality x = { 0 };
    size_t n_within = 0, n_hold = 0;

    for (size_t i = 0; i < s->n; i++) {
        const ROW *r = &s->row[i];

        if (r->q != q || r->is_machine != is_machine || (machine && strcmp(r->machine, machine) != 0))
            continue;
        error[x.n] = 100 * fabs(r->sampled - r->exact) / fmax(1, r->exact);
        width[x.n] = 100 * r->pm / fmax(1, r->exact);
        n_within += error[x.n] <= wanted_percent[q];
        n_hold += fabs(r->sampled - r->exact) <= r->pm + 1;
        x.n++;
    }
    gsl_sort(error, 1, x.n);
    gsl_sort(width, 1, x.n);
    if (x.n) {
        x.median = gsl_stats_median_from_sorted_data(error, 1, x.n);
        x.p90 = gsl_stats_quantile_from_sorted_data(error, 1, x.n, 0.9);
        x.worst = error[x.n - 1];
        x.width = gsl_stats_median_from_sorted_data(width, 1, x.n);
        x.within = 100 * (double)n_within / (double)x.n;
        x.hold = 100 * (double)n_hold / (double)x.n;
    }
    free(error);
    free(width);
    return x;
}

static void print_machine(const struct exp_validate_samples *s, const char *machine, FILE *out)
{
    fprintf(out, "%-14s %-28s %5s %8s %8s %8s %9s %18s %13s\n", "simulation", "quantity", "rows", "median %", "p90 %",
            "worst %", "+- %", "within the target", "interval holds");
    for (int alone = 0; alone < 2; alone++) {
        for (size_t q = 0; q < EXP_N_SAMPLED; q++) {
            const struct quality x = quality_of(s, machine, q, !alone);

            if (x.n)
                fprintf(out, "%-14s %-28s %5zu %8.2f %8.2f %8.1f %9.2f %8.1f %% of %3.3g %% %12.1f %%\n",
                        exp_view_name(alone ? EXP_CACHES_ALONE : EXP_AS_MACHINE), exp_sampled_name((enum exp_sampled)q),
                        x.n, x.median, x.p90, x.worst, x.width, x.within, wanted_percent[q], x.hold);
        }
    }
}

void exp_validate_sampled_print(const struct exp_validate_samples *s, const char *machines, FILE *out)
{
    fprintf(out, "\nSampled replays beside exact replays: %zu of %zu streams are long enough for a sample.\n\n",
            s->n_sampled, s->n_streams);
    print_machine(s, NULL, out);
    while (*machines) {
        char *name = exp_format("%.*s", (int)strcspn(machines, ","), machines);

        fprintf(out, "\n%s:\n\n", name);
        print_machine(s, name, out);
        free(name);
        machines += strcspn(machines, ",");
        machines += *machines == ',';
    }
}

void exp_validate_sampled_note(const struct exp_validate_samples *s, struct exp_screen *screen)
{
    const struct quality x = quality_of(s, NULL, EXP_SAMPLED_CYCLES, true);

    if (x.n)
        exp_screen_note(
            screen, "samples",
            "cycles of sampled replays differ from exact replays by %.2f %% in the median of %zu streams (nine of ten "
            "within %.2f %%); intervals hold %.0f %%",
            x.median, x.n, x.p90, x.hold);
}
