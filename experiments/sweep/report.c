#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/cells.h"
#include "experiments/base/measures.h"
#include "experiments/sweep/row.h"
#include "experiments/sweep/sweep.h"

#define ROW struct exp_sweep_row

/* ---- files ---- */

/* clang-format off */
#define FIELD_CONFIG { { "config", "", "number of the configuration, from 1", "" }, REC_AT(ROW, config) }
#define FIELD_KEYS                                                                                                     \
    { { "(a key of VARY)", "",                                                                                         \
        "one column for each key, called like it: its value; empty: as in the machine's file", "" },                   \
      REC_AT(ROW, key) }
#define FIELDS_OF_LAYER                                                                                                \
    { EXP_COLUMN_MODEL, REC_AT(ROW, model) },                                                                          \
    { EXP_COLUMN_LAYER_INDEX, REC_AT(ROW, layer_index) },                                                              \
    { EXP_COLUMN_LAYER, REC_AT(ROW, layer) },                                                                          \
    { EXP_COLUMN_ALGO, REC_AT(ROW, algo) },                                                                            \
    FIELD_CONFIG,                                                                                                      \
    FIELD_KEYS
static const struct rec_field case_fields[] = {
    FIELDS_OF_LAYER,
    { { "chosen", "", "1 for SConv in the schedule that CSA chose for this layer and configuration", "predicted" },
      REC_AT(ROW, is_chosen) },
    { { "csa", "", "1 if the tiles are CSA's own for this layer and configuration", "predicted" },
      REC_AT(ROW, is_own) },
    { { "plan", "", "what was replayed: micro-kernel, schedule, tiles", "" }, REC_AT(ROW, plan) },
#define MEASURE(name, unit, meaning, source, ...) { { #name, unit, meaning, source }, REC_VALUE(ROW, of[SWEEP_##name]) },
#include "experiments/sweep/measures.def"
};

static const struct rec_field sum_fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(ROW, model) },
    { EXP_COLUMN_ALGO, REC_AT(ROW, algo) },
    FIELD_CONFIG,
    FIELD_KEYS,
    { { "cache_bytes", "bytes", "all levels together, of all cores", "" }, REC_AT(ROW, cache_bytes) },
#define MEASURE(name, unit, meaning, source, ...) { { #name, unit, meaning, source }, REC_VALUE(ROW, of[SWEEP_##name]) },
#include "experiments/sweep/measures.def"
    { { "cost_percent", "%", "of the cost of the best configuration, for this model and algorithm", "replay" },
      REC_VALUE(ROW, percent) },
    { { "best", "", "1 for the configuration of least cost; of equal ones, of least cache_bytes", "replay" },
      REC_AT(ROW, is_best) },
    { { "pareto", "", "1 if no configuration of as little cache_bytes costs less, nor a smaller one as little",
        "replay" },
      REC_AT(ROW, is_pareto) },
    { { "csa", "", "1 if the tiles are CSA's own for this configuration in every layer", "predicted" },
      REC_AT(ROW, is_own) },
};

static const struct rec_field best_fields[] = {
    FIELDS_OF_LAYER,
    { { "csa", "", "1 if its tiles are CSA's own", "predicted" }, REC_AT(ROW, is_own) },
    { { "plan", "", "what was replayed", "" }, REC_AT(ROW, plan) },
    { { "cost", "", "of this configuration, the least of all", "replay" }, REC_VALUE(ROW, of[SWEEP_cost]) },
    { { "worst_cost", "", "of the worst configuration", "replay" }, REC_AT(ROW, worst_cost) },
};
/* clang-format on */

const struct rec_table exp_sweep_cases_table = REC_TABLE("sweep.csv", case_fields, ROW);
const struct rec_table exp_sweep_sums_table = REC_TABLE("configs.csv", sum_fields, ROW);
const struct rec_table exp_sweep_best_table = REC_TABLE("best.csv", best_fields, ROW);

/* An open file, whose table has a column for each key. */
struct file {
    struct rec_table table;
    struct exp_csv *csv;
    ROW *row; /* followed by the keys' values */
};

static void put_row(struct file *f, const struct exp_sweep_report *r, const ROW *row)
{
    const char **value = (const char **)(void *)(f->row + 1);

    *f->row = *row;
    for (size_t k = 0; k < r->sweep->grids.n_keys; k++)
        value[k] = sim_grids_value(&r->sweep->grids, row->config - 1, k);
    rec_put(f->csv, &f->table, f->row);
}

/* ---- values ---- */

/* Returns the share of all cores' work on the core with most work, for which all cores wait; 1 of a single core. */
static double longest_share(const struct exp_sweep_config *c, const struct exp_sweep_counts *counts)
{
    if (!exp_sweep_has_cores(c))
        return 1;
    return counts->mac_instructions ? (double)counts->longest_mac_instructions / (double)counts->mac_instructions
                                    : 1 / (double)c->n_cores;
}

/* Returns the bytes of all levels, of all cores. */
static double cache_bytes(const struct exp_sweep_config *c)
{
    const struct sim_machine *m = &c->setup.machine;
    double own = 0;

    for (size_t k = 0; k + 1 < m->n_levels; k++)
        own += (double)sim_level_bytes(&m->level[k]);
    return own * (exp_sweep_has_cores(c) ? (double)c->n_cores : 1) +
           (double)sim_level_bytes(&m->level[m->n_levels - 1]);
}

/* A case, and sums, from which the measures are made. */
struct replayed {
    const struct exp_sweep_report *r;
    const struct exp_sweep_case *c;
    struct exp_sweep_counts counts; /* zeros of a case that cannot be replayed */
    struct sim_cell sum;
    struct exp_estimate estimate;
    double share;
};

static double misses(const struct replayed *x, size_t level)
{
    const struct sim_stats levels = { .n_levels = x->c->config->setup.machine.n_levels };

    return (double)x->sum.level[exp_named_level(&levels, level)].load_misses;
}

/* Returns half of the interval of the cost. */
static double cost_pm(const struct replayed *x)
{
    const double *pm = x->counts.pm;

    return x->r->has_cycles        ? pm[EXP_SAMPLED_CYCLES]
           : x->r->why_no_estimate ? hypot(pm[EXP_SAMPLED_MEMORY_READ], pm[EXP_SAMPLED_MEMORY_WRITTEN])
                                   : pm[EXP_SAMPLED_EQ6];
}

#define PM(quantity, reason) IF_REPLAYED(x->counts.pm[EXP_SAMPLED_##quantity], reason)
#define IF_REPLAYED(number, reason) value_or((double)(number), x->c->why ? x->c->why : (reason))
#define MEASURES "experiments/sweep/measures.def"
#define MEASURES_OF struct replayed
#define MEASURES_ARRAY static const struct measure_record measures[SWEEP_N_MEASURES]
#define MEASURE_ID(name) SWEEP_##name
#include "experiments/base/measures_table.h"

static void find_values(const struct exp_sweep_report *r, const struct exp_sweep_case *c, struct value *of)
{
    struct replayed x = { .r = r, .c = c };

    if (!c->why) {
        x.counts = r->sweep->counts[c->task];
        x.estimate = exp_estimate_phases(&c->config->setup.machine, x.counts.phase, x.counts.mac_instructions);
        x.share = longest_share(c->config, &x.counts);
        for (unsigned p = 0; p < CONV_N_PHASES; p++)
            sim_cell_add(&x.sum, &x.counts.phase[p]);
    }
    measures_find(measures, SWEEP_N_MEASURES, &x, of);
}

double exp_sweep_cost(const struct exp_sweep_report *r, const struct exp_sweep_case *x)
{
    struct value of[SWEEP_N_MEASURES];

    assert(!x->why);
    find_values(r, x, of);
    return of[SWEEP_cost].number;
}

static ROW row_of(const struct exp_sweep_report *r, const struct exp_sweep_case *x, size_t config)
{
    ROW row = {
        .model = x->model->name,
        .layer = x->layer->name,
        .algo = x->algo->name,
        .layer_index = x->layer->index,
        .config = config + 1,
        .is_chosen = x->is_chosen,
        .is_own = x->is_own,
        .cache_bytes = cache_bytes(x->config),
    };

    exp_plan_text(&x->plan, row.plan);
    find_values(r, x, row.of);
    return row;
}

/* ---- sums ---- */

/* Returns the sum over the layers of a model; first_layer is the index of the model's first layer among all layers. */
static ROW sum_of(const struct exp_sweep_report *r, const struct exp_model *m, size_t first_layer, size_t config,
                  size_t algo)
{
    ROW sum = row_of(r, exp_sweep_case_at(r->sweep, first_layer, config, algo), config);

    for (size_t l = 1; l < m->n_layers; l++) {
        const ROW row = row_of(r, exp_sweep_case_at(r->sweep, first_layer + l, config, algo), config);

        sum.is_own = sum.is_own && row.is_own;
        measures_add(measures, SWEEP_N_MEASURES, sum.of, row.of);
    }
    return sum;
}

static bool is_better(const ROW *a, const ROW *b)
{
    return exp_sweep_cost_of(a) < exp_sweep_cost_of(b) ||
           (!(exp_sweep_cost_of(a) > exp_sweep_cost_of(b)) && a->cache_bytes < b->cache_bytes);
}

/* Compares the configurations of a model and algorithm, sum[n]. */
static void rank(ROW *sum, size_t n)
{
    size_t best = n;

    for (size_t i = 0; i < n; i++) {
        if (exp_sweep_is_simulated(&sum[i]) && (best == n || is_better(&sum[i], &sum[best])))
            best = i;
        sum[i].is_pareto = exp_sweep_is_simulated(&sum[i]);
        for (const ROW *x = sum; x < sum + n && sum[i].is_pareto; x++)
            sum[i].is_pareto =
                !exp_sweep_is_simulated(x) || exp_sweep_cost_of(x) > exp_sweep_cost_of(&sum[i]) ||
                x->cache_bytes > sum[i].cache_bytes ||
                !(exp_sweep_cost_of(x) < exp_sweep_cost_of(&sum[i]) || x->cache_bytes < sum[i].cache_bytes);
    }
    for (size_t i = 0; i < n; i++) {
        sum[i].is_best = i == best;
        sum[i].percent = best == n ? sum[i].of[SWEEP_cost]
                                   : value_or(100 * exp_sweep_cost_of(&sum[i]) / exp_sweep_cost_of(&sum[best]),
                                              sum[i].of[SWEEP_cost].why);
    }
}

static void add_sums(struct exp_sweep_report *r)
{
    const struct exp_sweep *s = r->sweep;
    size_t first_layer = 0;

    r->sum = exp_new(s->models->n * s->n_algos * s->grids.n_points, sizeof *r->sum);
    for (size_t i = 0; i < s->models->n; i++) {
        const struct exp_model *m = &s->models->model[i];

        for (size_t a = 0; a < s->n_algos; a++) {
            for (size_t c = 0; c < s->grids.n_points; c++)
                r->sum[r->n_sums++] = sum_of(r, m, first_layer, c, a);
            rank(&r->sum[r->n_sums - s->grids.n_points], s->grids.n_points);
        }
        first_layer += m->n_layers;
    }
}

/* ---- writing ---- */

static void put_cases(struct file *f, const struct exp_sweep_report *r)
{
    const struct exp_sweep *s = r->sweep;

    for (size_t i = 0; i < s->n_cases; i++) {
        const ROW row = row_of(r, &s->cases[i], i / s->n_algos % s->grids.n_points);

        put_row(f, r, &row);
    }
}

static void put_sums(struct file *f, const struct exp_sweep_report *r)
{
    for (const ROW *sum = r->sum; sum < r->sum + r->n_sums; sum++)
        put_row(f, r, sum);
}

/* Writes the best configuration of each layer and replayed algorithm. */
static void put_bests(struct file *f, const struct exp_sweep_report *r)
{
    const struct exp_sweep *s = r->sweep;

    for (size_t i = 0; i < s->n_layers * s->n_algos; i++) {
        ROW best = { .of[SWEEP_cost] = { (double)NAN, "none yet" } };
        double worst = 0;

        for (size_t c = 0; c < s->grids.n_points; c++) {
            const ROW now = row_of(r, exp_sweep_case_at(s, i / s->n_algos, c, i % s->n_algos), c);

            if (!exp_sweep_is_simulated(&now))
                continue;
            worst = fmax(worst, exp_sweep_cost_of(&now));
            best = !exp_sweep_is_simulated(&best) || is_better(&now, &best) ? now : best;
        }
        best.worst_cost = worst;
        if (exp_sweep_is_simulated(&best))
            put_row(f, r, &best);
    }
}

int exp_sweep_report_write(struct exp_sweep_report *r, const struct exp_sweep *s, const struct exp_outdir *dir,
                           const char *what, struct exp_why *why)
{
    static const struct {
        const struct rec_table *table;
        void (*put)(struct file *f, const struct exp_sweep_report *r);
    } files[] = {
        { &exp_sweep_cases_table, put_cases },
        { &exp_sweep_sums_table, put_sums },
        { &exp_sweep_best_table, put_bests },
    };
    char text[4096];
    int err = 0;

    assert(s->counts && !r->sum);
    exp_say(text, sizeof text, "%s; VARY=%s", what, s->options->vary);
    r->sweep = s;
    r->why_no_estimate = exp_estimate_why_not(&s->base);
    r->has_cycles = true;
    for (size_t i = 0; i < s->n_cases && r->has_cycles; i++)
        r->has_cycles = s->cases[i].why || !exp_sweep_why_no_cycles(&s->cases[i]);
    add_sums(r);
    for (size_t i = 0; i < sizeof files / sizeof files[0] && !err; i++) {
        struct file f;

        rec_table_with_texts(&f.table, files[i].table, offsetof(ROW, key), s->grids.key, s->grids.n_keys,
                             "what VARY gives this key");
        f.row = exp_new(1, f.table.row_bytes);
        f.csv = exp_csv_begin(dir, &f.table.file, text);
        files[i].put(&f, r);
        err = exp_csv_close(f.csv, why);
        rec_table_release(&f.table);
        free(f.row);
    }
    return err;
}

/* ---- the answer ---- */

/* Names the configuration with CSA's own tiles, where tiles were varied. */
static void say_own(const struct exp_sweep_report *r, const ROW *sum, FILE *out)
{
    const struct exp_sweep *s = r->sweep;
    const ROW *own = NULL;
    const struct exp_algo *algo = exp_algo_find(sum->algo);
    const bool is_sconv = algo->is_sconv && algo != exp_algo_noted();
    bool is_varied = false;
    char text[512];

    for (size_t i = 0; i < s->grids.n_points; i++) {
        const struct exp_sweep_config *c = s->config[i];

        for (size_t k = 0; k < EXP_SWEEP_N_TILES; k++)
            is_varied = is_varied || (is_sconv && c->tile[k]);
        own = sum[i].is_own && exp_sweep_is_simulated(&sum[i]) && (!own || sum[i].percent.number < own->percent.number)
                  ? &sum[i]
                  : own;
    }
    if (!is_varied)
        return;
    if (!own) {
        fprintf(out, " None of them has CSA's own tiles in every layer.");
        return;
    }
    exp_sweep_say_config(s, own->config - 1, text, sizeof text);
    fprintf(out, " CSA's own tiles are those of %s, which costs %.1f %% more than the best.", text,
            own->percent.number - 100);
}

const char *exp_sweep_unit(const struct exp_sweep_report *r)
{
    return r->has_cycles ? "simulated cycles" : r->why_no_estimate ? "lines from and to memory" : "ESTIMATED cycles";
}

struct exp_sweep_group exp_sweep_group_of(const ROW *sum, size_t n)
{
    struct exp_sweep_group g = { .sum = sum };

    for (const ROW *x = sum; x < sum + n; x++) {
        if (!exp_sweep_is_simulated(x))
            continue;
        g.best = x->is_best ? x : g.best;
        g.worst = !g.worst || exp_sweep_cost_of(x) > exp_sweep_cost_of(g.worst) ? x : g.worst;
        if (x->percent.number <= 101 && (!g.small || x->cache_bytes < g.small->cache_bytes))
            g.small = x;
    }
    return g;
}

static void say_answer(const struct exp_sweep_report *r, const ROW *sum, FILE *out)
{
    const char *label = exp_algo_find(sum->algo)->label;
    const char *unit = exp_sweep_unit(r);
    size_t n = r->sweep->grids.n_points;
    const struct exp_sweep_group g = exp_sweep_group_of(sum, n);
    const ROW *best = g.best, *small = g.small;
    const double worst = g.worst ? g.worst->percent.number : 0;
    char text[512];

    if (!best) {
        fprintf(out, "%s, %s: not simulated: %s\n", sum->model, label, sum->of[SWEEP_cost].why);
        return;
    }
    if (n > 1 && worst <= 100) {
        fprintf(out, "%s, %s: %.4g %s in all %zu.\n", sum->model, label, exp_sweep_cost_of(best), unit, n);
        return;
    }
    exp_sweep_say_config(r->sweep, best->config - 1, text, sizeof text);
    if (n == 1) {
        fprintf(out, "%s, %s: %.4g %s with %s, the only one: VARY=KEY=VALUE,VALUE compares.\n", sum->model, label,
                exp_sweep_cost_of(best), unit, text);
        return;
    }
    fprintf(out, "%s, %s: best of %zu is %s, %.4g %s; the worst costs %.1f %% more.", sum->model, label, n, text,
            exp_sweep_cost_of(best), unit, worst - 100);
    if (small->cache_bytes < best->cache_bytes) {
        exp_sweep_say_config(r->sweep, small->config - 1, text, sizeof text);
        fprintf(out, " The smallest within 1 %% of it is %s, with %.0f KiB of caches and not %.0f.", text,
                small->cache_bytes / 1024, best->cache_bytes / 1024);
    }
    say_own(r, sum, out);
    fputc('\n', out);
}

/* Returns the best sum of a model: of PLAN's plans, or of SConv's algorithms; NULL: nothing was simulated. */
static const ROW *best_sum(const struct exp_sweep_report *r, const char *model, bool is_noted)
{
    const ROW *best = NULL;

    for (size_t i = 0; i < r->n_sums; i++) {
        const ROW *sum = &r->sum[i];
        const struct exp_algo *algo = exp_algo_find(sum->algo);

        if (!strcmp(sum->model, model) && algo->is_sconv && (algo == exp_algo_noted()) == is_noted &&
            exp_sweep_is_simulated(sum) && (!best || is_better(sum, best)))
            best = sum;
    }
    return best;
}

/* Says how far the plans of PLAN are from the best of the sweep. */
static void say_noted(const struct exp_sweep_report *r, const char *model, FILE *out)
{
    const ROW *noted = best_sum(r, model, true), *best = best_sum(r, model, false);
    char text[512];

    if (!noted || !best)
        return;
    exp_sweep_say_config(r->sweep, best->config - 1, text, sizeof text);
    fprintf(out, "%s: what PLAN says costs %.2f times what the best of SConv costs: %s, %s.\n", model,
            exp_sweep_cost_of(noted) / exp_sweep_cost_of(best), exp_algo_find(best->algo)->label, text);
}

/* Returns the place of the algorithm with the fewest simulated cycles in a configuration; n_algos: no cycles. */
static size_t fastest_in(const struct exp_sweep_report *r, size_t model, size_t config)
{
    const size_t n_algos = r->sweep->n_algos, n = r->sweep->grids.n_points;
    const ROW *sum = &r->sum[model * n_algos * n + config];
    size_t fastest = n_algos;

    for (size_t a = 0; a < n_algos; a++) {
        const struct value *cycles = &sum[a * n].of[SWEEP_simulated_cycles];

        if (!cycles->why && (fastest == n_algos || cycles->number < sum[fastest * n].of[SWEEP_simulated_cycles].number))
            fastest = a;
    }
    return fastest;
}

/* Prints the algorithms that simulated cycles choose, and in how many configurations. */
static void say_algorithms(const struct exp_sweep_report *r, size_t model, FILE *out)
{
    const size_t n = r->sweep->grids.n_points;
    bool is_begun = false;

    for (size_t a = 0; a < r->sweep->n_algos && r->has_cycles && r->sweep->n_algos > 1; a++) {
        size_t n_first = 0;

        for (size_t p = 0; p < n; p++)
            n_first += fastest_in(r, model, p) == a;
        if (!n_first)
            continue;
        if (!is_begun)
            fprintf(out, "%s: by simulated cycles, the fastest algorithm is", r->sweep->models->model[model].name);
        fprintf(out, "%s %s in %zu", is_begun ? "," : "", exp_sweep_case_at(r->sweep, 0, 0, a)->algo->name, n_first);
        is_begun = true;
    }
    if (is_begun)
        fprintf(out, " of %zu configuration%s.\n", n, n == 1 ? "" : "s");
}

void exp_sweep_report_answer(const struct exp_sweep_report *r, FILE *out)
{
    for (size_t i = 0; i < r->n_sums; i += r->sweep->grids.n_points)
        say_answer(r, &r->sum[i], out);
    for (size_t i = 0; i < r->sweep->models->n; i++)
        say_noted(r, r->sweep->models->model[i].name, out);
    for (size_t i = 0; i < r->sweep->models->n; i++)
        say_algorithms(r, i, out);
}

/* ---- figures ---- */

/* Lists the different values of a key, in their order; returns how many. value[] has room for all points. */
static size_t values_of(const struct sim_grids *g, size_t key, const char **value)
{
    size_t n = 0;

    for (size_t p = 0; p < g->n_points; p++) {
        const char *here = sim_grids_value(g, p, key);
        size_t i = 0;

        while (here && i < n && strcmp(value[i], here))
            i++;
        if (here && i == n)
            value[n++] = here;
    }
    return n;
}

void exp_sweep_set_variables(const struct exp_sweep_report *r, struct exp_variables *v)
{
    enum { N_AXES = 2 };
    static const char *const axes[] = { "x_key", "y_key", "x_values", "y_values" };
    const struct exp_sweep *s = r->sweep;
    const char **value = exp_new(s->grids.n_points, sizeof *value);
    size_t axis = 0;

    exp_variables_set(v, "machine", s->base.name);
    exp_variables_set(v, "cost_label",
                      r->has_cycles        ? "simulated cycles"
                      : r->why_no_estimate ? "lines from and to memory"
                                           : "estimated cycles");
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++)
        exp_variables_set(v, axes[i], "");
    for (size_t k = 0; k < s->grids.n_keys && axis < N_AXES; k++) {
        const size_t n = values_of(&s->grids, k, value);

        if (n < 2)
            continue;
        exp_variables_set(v, axes[axis], s->grids.key[k]);
        for (size_t i = 0; i < n; i++)
            exp_variables_add(v, axes[N_AXES + axis], "\"", value[i]);
        axis++;
    }
    free(value);
    exp_variables_set(v, "shown_algos", "");
    for (size_t a = 0; a < s->n_algos; a++) {
        const struct exp_sweep_case *x = exp_sweep_case_at(s, 0, 0, a);

        if (!x->why)
            exp_variables_add(v, "shown_algos", "", x->algo->name);
    }
}
