#include "experiments/study/exp_study_sensitivity.h"

#include <errno.h>
#include <math.h>

#include "experiments/record/record.h"

/* ---- sums ---- */

struct exp_study_sensitivity exp_study_sensitivity_of(const struct exp_study_runs *r)
{
    struct exp_study_sensitivity s = { .n = r->n_layers };

    for (size_t l = 0; l < r->n_layers; l++) {
        const struct exp_study_run *is = &r->run[r->layer[l].of_method[EXP_STUDY_HALVING_IS]];
        const struct exp_study_run *ws = &r->run[r->layer[l].of_method[EXP_STUDY_HALVING_WS]];
        const struct exp_study_run *chosen = ws->csa_cycles < is->csa_cycles ? ws : is;
        double best = fmin(is->sim_cycles, ws->sim_cycles);

        s.n_chosen_is += chosen == is;
        s.n_right += chosen->sim_cycles <= best;
        s.is += is->sim_cycles;
        s.ws += ws->sim_cycles;
        s.chosen += chosen->sim_cycles;
        s.best += best;
    }
    return s;
}

/* ---- files ---- */

struct sensitivity_row {
    const char *machine, *variant;
    uint64_t layers, chosen_is, right;
    double is_cycles, ws_cycles, regret_percent;
};

#define SENSITIVITY struct sensitivity_row

static const struct rec_field columns[] = {
    { { "machine", "", "whose caches are varied", "" }, REC_AT(SENSITIVITY, machine) },
    { { "variant", "", "experiments/study/variants.def", "" }, REC_AT(SENSITIVITY, variant) },
    { { "layers", "", "of the sample", "" }, REC_AT(SENSITIVITY, layers) },
    { { "chosen_is", "", "layers for which CSA chose input stationary", "predicted" }, REC_AT(SENSITIVITY, chosen_is) },
    { { "right", "", "layers where its choice has the fewer cycles by Eq. 6 with simulated counts", "replay" },
      REC_AT(SENSITIVITY, right) },
    { { "is_cycles", "cycles", "input stationary, by that", "replay" }, REC_AT(SENSITIVITY, is_cycles) },
    { { "ws_cycles", "cycles", "weight stationary", "replay" }, REC_AT(SENSITIVITY, ws_cycles) },
    { { "regret_percent", "%", "of CSA's choices over the better ones", "replay" },
      REC_AT(SENSITIVITY, regret_percent) },
};

const struct rec_table exp_study_sensitivity_table = REC_TABLE("sensitivity.csv", columns, SENSITIVITY);

static double regret_percent(const struct exp_study_sensitivity *s)
{
    return 100 * (s->chosen / s->best - 1);
}

int exp_study_sensitivity_write(const struct exp_study_sensitivity s[EXP_STUDY_N_VARIANTS], const char *machine,
                                const struct exp_outdir *dir, const char *what, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_study_sensitivity_table.file, what, why);

    if (err)
        return err;
    for (size_t i = 0; i < EXP_STUDY_N_VARIANTS; i++) {
        const struct sensitivity_row row = {
            .machine = machine,
            .variant = exp_study_variants[i].name,
            .layers = s[i].n,
            .chosen_is = s[i].n_chosen_is,
            .right = s[i].n_right,
            .is_cycles = s[i].is,
            .ws_cycles = s[i].ws,
            .regret_percent = regret_percent(&s[i]),
        };

        rec_put(csv, &exp_study_sensitivity_table, &row);
    }
    return exp_csv_close(csv, why);
}

void exp_study_sensitivity_document(FILE *out)
{
    exp_csv_document(&exp_study_sensitivity_table.file, out);
}

void exp_study_sensitivity_print(const struct exp_study_sensitivity s[EXP_STUDY_N_VARIANTS], const char *machine,
                                 FILE *out)
{
    fprintf(out,
            "Both schedules on variants of %s, CSA planning for each; by Eq. 6 with simulated counts.\n\n"
            "| caches | CSA chose IS | right | regret | IS / WS | cycles of the better one, as it is = 1 |\n"
            "|---|---:|---:|---:|---:|---:|\n",
            machine);
    for (size_t i = 0; i < EXP_STUDY_N_VARIANTS; i++)
        fprintf(out, "| %s | %zu of %zu | %zu | %.2f %% | %.2f | %.2f |\n", exp_study_variants[i].title,
                s[i].n_chosen_is, s[i].n, s[i].n_right, regret_percent(&s[i]), s[i].is / s[i].ws,
                s[i].best / s[0].best);
}
