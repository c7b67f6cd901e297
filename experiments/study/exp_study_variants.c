#include "experiments/study/exp_study_variants.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { ALL = SIM_MAX_LEVELS }; /* levels */

#define VARIANT(name, title, level, ...) { name, title, level, __VA_ARGS__ },
const struct exp_study_variant exp_study_variants[EXP_STUDY_N_VARIANTS] = {
#include "experiments/study/variants.def"
};

const struct exp_study_variant exp_study_left_out[EXP_STUDY_N_LEFT_OUT] = {
#include "experiments/study/left_out.def"
};
#undef VARIANT

/* Gives the first level what follows one instruction, others what follows lines; the last level has none. */
static void add_prefetcher(struct sim_level *l)
{
    if (!strcmp(l->name, "L1"))
        l->prefetch[0] = (struct sim_prefetch){ .kind = SIM_PREFETCH_STRIDE, .degree = 1 };
    else if (!strcmp(l->name, "L2"))
        l->prefetch[0] = (struct sim_prefetch){ .kind = SIM_PREFETCH_STREAM, .degree = 2, .distance = 20 };
}

static void scale(struct sim_level *l, double ways, double sets)
{
    l->n_ways = (uint32_t)((double)l->n_ways * ways);
    l->n_sets = (uint64_t)((double)l->n_sets * sets);
}

/* Changes a level; own: as the file has it. */
static void change(const struct exp_study_variant *v, struct sim_level *l, const struct sim_level *own)
{
    scale(l, v->ways > 0 ? v->ways : 1, v->sets > 0 ? v->sets : 1);
    while (l->n_ways < v->least_ways && l->n_sets % 2 == 0)
        scale(l, 2, 0.5);
    if (v->policy)
        exp_say(l->policy, sizeof l->policy, "%s", v->policy);
    if (v->adds_prefetchers)
        add_prefetcher(l);
    if (v->keeps_prefetchers)
        memcpy(l->prefetch, own->prefetch, sizeof l->prefetch);
    l->no_write_allocate |= v->passes_stores;
}

int exp_study_variant_make(const struct exp_study_variant *v, const struct sim_machine *own, struct sim_machine *m,
                           struct exp_why *why)
{
    char reason[256];

    *m = sim_machine_caches_alone(own);
    m->has_stack = false;
    for (size_t i = 0; i < m->n_levels; i++) {
        if (v->level == ALL || v->level == i)
            change(v, &m->level[i], &own->level[i]);
    }
    if (sim_machine_validate(m, reason, sizeof reason))
        return exp_fail(why, -EINVAL, "%s with %s: %s", m->name, v->title, reason);
    return 0;
}

bool exp_study_has_prefetchers(const struct sim_machine *m)
{
    for (size_t i = 0; i < m->n_levels; i++) {
        if (m->level[i].prefetch[0].kind != SIM_PREFETCH_NONE)
            return true;
    }
    return false;
}

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
    s.regret_percent = 100 * (s.chosen / s.best - 1);
    return s;
}

/* ---- files ---- */

struct row {
    const char *machine, *variant;
    struct exp_study_sensitivity s;
};

#define AT(member) REC_AT(struct row, member)

static const struct rec_field fields[] = {
    { { "machine", "", "whose caches are varied", "" }, AT(machine) },
    { { "variant", "", "experiments/study/variants.def", "" }, AT(variant) },
    { { "layers", "", "of the sample", "" }, AT(s.n) },
    { { "chosen_is", "", "layers for which CSA chose input stationary", "predicted" }, AT(s.n_chosen_is) },
    { { "right", "", "layers where its choice has the fewer cycles by Eq. 6 with simulated counts", "replay" },
      AT(s.n_right) },
    { { "is_cycles", "cycles", "input stationary, by that", "replay" }, AT(s.is) },
    { { "ws_cycles", "cycles", "weight stationary", "replay" }, AT(s.ws) },
    { { "regret_percent", "%", "of CSA's choices over the better ones", "replay" }, AT(s.regret_percent) },
};

const struct rec_table exp_study_sensitivity_table = REC_TABLE("sensitivity.csv", fields, struct row);

int exp_study_sensitivity_write(const struct exp_study_sensitivity s[EXP_STUDY_N_VARIANTS], const char *machine,
                                const struct exp_outdir *dir, const char *what, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_study_sensitivity_table.file, what, why);

    for (size_t i = 0; i < EXP_STUDY_N_VARIANTS && !err; i++)
        rec_put(csv, &exp_study_sensitivity_table, &(struct row){ machine, exp_study_variants[i].name, s[i] });
    return err ? err : exp_csv_close(csv, why);
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
                s[i].n_chosen_is, s[i].n, s[i].n_right, s[i].regret_percent, s[i].is / s[i].ws, s[i].best / s[0].best);
}
