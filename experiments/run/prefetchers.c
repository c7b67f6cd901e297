/*
 * Each prefetcher of the simulated machine in each layer: prefetchers.csv. The sum over a level's prefetchers equals
 * the sum in traffic.csv over tensors and phases, plus the stack of compiled code, which traffic.csv leaves out.
 */
#include "experiments/run/run.h"

#include "experiments/base/cells.h"
#include "experiments/base/record.h"
#include "sim/prefetch/prefetch.h"

struct did {
    uint64_t layer_index;
    const char *layer, *algo, *level, *prefetcher;
    struct sim_prefetch_counts count;
};

#define ROW struct did

static double there(const void *row)
{
    const ROW *d = row;

    return d->count.asked > d->count.brought ? (double)(d->count.asked - d->count.brought) : 0;
}

static double covered(const void *row)
{
    const ROW *d = row;

    return (double)(d->count.useful - d->count.late);
}

/* clang-format off */
static const struct rec_field fields[] = {
    { EXP_COLUMN_LAYER_INDEX, REC_AT(ROW, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(ROW, layer) },
    { EXP_COLUMN_ALGO, REC_AT(ROW, algo) },
    { { "level", "", "cache level of the machine file", "" }, REC_AT(ROW, level) },
    { { "prefetcher", "", "its word in the machine file; software: prefetch instructions", "" }, REC_AT(ROW, prefetcher) },
    { { "asked", "lines", "asked for; of software, instructions", "replay" }, REC_AT(ROW, count.asked) },
    { { "there", "lines", "of those, dropped because the level had them", "replay" }, REC_DERIVED(there) },
    { { "brought", "lines", "the others, brought into the level", "replay" }, REC_AT(ROW, count.brought) },
    { { "covered", "lines", "of those, first used after they had come", "replay" }, REC_DERIVED(covered) },
    { { "late", "lines", "of those, asked for before they had come", "replay" }, REC_AT(ROW, count.late) },
    { { "useless", "lines", "of those, evicted without having been used; the rest is still there", "replay" },
      REC_AT(ROW, count.useless) },
};
/* clang-format on */

const struct rec_table exp_prefetchers_table = REC_TABLE("prefetchers.csv", fields, ROW);

/* Returns the name of a level's prefetcher; NULL for an empty place. */
static const char *name_of(const struct sim_machine *m, size_t level, size_t place)
{
    if (place == SIM_SOFTWARE_PREFETCHER)
        return !level && m->has_software_prefetch ? "software" : NULL;
    return m->level[level].prefetch[place].kind ? sim_prefetchers[m->level[level].prefetch[place].kind]->name : NULL;
}

static void put_case(struct exp_csv *csv, const struct sim_machine *m, const struct exp_case *c)
{
    for (size_t i = 0; i < m->n_levels * SIM_N_PREFETCHERS; i++) {
        const size_t level = i / SIM_N_PREFETCHERS, place = i % SIM_N_PREFETCHERS;
        const ROW row = {
            .layer_index = c->layer->index,
            .layer = c->layer->name,
            .algo = c->algo->name,
            .level = m->level[level].name,
            .prefetcher = name_of(m, level, place),
            .count = sim_stats_prefetcher(&c->simulated.stats, level, place),
        };

        if (row.prefetcher)
            rec_put(csv, &exp_prefetchers_table, &row);
    }
}

int exp_prefetchers_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    struct exp_csv *csv =
        exp_report_open(r, dir, &exp_prefetchers_table.file, "one prefetcher, in one layer with one algorithm");

    for (size_t i = 0; i < r->e->n_cases; i++) {
        if (!r->e->cases[i].simulated.why)
            put_case(csv, &r->e->setup->machine, &r->e->cases[i]);
    }
    return exp_csv_close(csv, why);
}

/* Lines that an algorithm's loads and stores need from beyond the first level. */
struct wanted {
    double demand; /* not covered, including late lines */
    struct sim_prefetch_counts by[SIM_N_PREFETCHERS];
};

static struct wanted wanted_by(const struct exp_experiment *e, size_t algo)
{
    struct wanted w = { 0 };

    for (size_t i = algo; i < e->n_cases; i += e->n_algos) {
        const struct sim_stats *s = &e->cases[i].simulated.stats;
        const struct sim_cell sum = sim_stats_total(s);

        w.demand += (double)sim_cell_demand_fills(&sum);
        for (size_t p = 0; p < SIM_N_PREFETCHERS; p++) {
            w.by[p].brought += s->prefetcher[0][p].brought;
            w.by[p].useful += s->prefetcher[0][p].useful;
            w.by[p].late += s->prefetcher[0][p].late;
            w.by[p].useless += s->prefetcher[0][p].useless;
        }
    }
    return w;
}

static void say_algo(const struct sim_machine *m, const char *algo, const struct wanted *w, char *text, size_t bytes)
{
    double covered_by[SIM_N_PREFETCHERS], all = 0, late = 0, brought = 0, useless = 0;

    for (size_t p = 0; p < SIM_N_PREFETCHERS; p++) {
        covered_by[p] = (double)(w->by[p].useful - w->by[p].late);
        all += covered_by[p];
        late += (double)w->by[p].late;
        brought += (double)w->by[p].brought;
        useless += (double)w->by[p].useless;
    }
    if (!(brought > 0))
        return;
    exp_say_more(text, bytes, "%s %s %.0f %% (", *text ? ";" : "", algo, 100 * all / (all + w->demand));
    for (size_t p = 0; p < SIM_N_PREFETCHERS; p++) {
        if (w->by[p].brought)
            exp_say_more(text, bytes, "%s %.0f, ", name_of(m, 0, p), 100 * covered_by[p] / (all + w->demand));
    }
    exp_say_more(text, bytes, "late %.0f; useless %.0f %% of those brought)", 100 * late / (all + w->demand),
                 100 * useless / brought);
}

void exp_prefetchers_say(const struct exp_report *r, char *text, size_t bytes)
{
    const struct exp_experiment *e = r->e;
    char by_algo[1536] = "";

    for (size_t a = 0; a < e->n_algos; a++) {
        const struct wanted w = wanted_by(e, a);

        say_algo(&e->setup->machine, e->cases[a].algo->name, &w, by_algo, sizeof by_algo);
    }
    *text = '\0';
    if (*by_algo)
        exp_say(text, bytes,
                "Of the lines that loads and stores ask for, and that %s does not have from before, prefetches bring "
                "so many in time (prefetchers.csv):%s.",
                e->setup->machine.level[0].name, by_algo);
}
