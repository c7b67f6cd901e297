#include "experiments/sweep/exp_sweep_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/replay/exp_totals.h"
#include "experiments/report/exp_cells.h"
#include "experiments/setup/exp_case.h"

/* ---- columns ---- */

/* clang-format off */
#define COLUMN_CONFIG { "config", "", "number of the configuration, from 1", "" }
/* Stands for as many columns as VARY has keys. */
#define COLUMN_KEYS   { "(a key of VARY)", "", "one column for each key, called like it: its value; empty: as in the machine's file", "" }
#define COLUMNS_VALUES                                                                                                 \
    EXP_COLUMN_MACS,                                                                                                   \
    { "loads", "", "load instructions", "replay" },                                                                    \
    { "l1_load_misses", "", "loads that the first level did not serve", "replay" },                                    \
    { "l2_load_misses", "", "... nor the second", "replay" },                                                          \
    { "l3_load_misses", "", "... nor the last", "replay" },                                                            \
    { "memory_read_lines", "lines", "fetched from memory", "replay" },                                                 \
    { "memory_written_lines", "lines", "written back to memory", "replay" },                                           \
    { "issue_cycles", "cycles", "estimate: instructions issued without waiting", "replay" },                           \
    { "memory_cycles", "cycles", "estimate: Eq. 6 with simulated loads", "replay" },                                   \
    { "cost", "", "issue_cycles + memory_cycles; without an estimate, memory_read_lines + memory_written_lines", "replay" }

static const struct exp_csv_column case_columns[] = {
    EXP_COLUMN_MODEL,
    EXP_COLUMN_LAYER_INDEX,
    EXP_COLUMN_LAYER,
    EXP_COLUMN_ALGO,
    COLUMN_CONFIG,
    COLUMN_KEYS,
    { "chosen", "", "1 for SConv in the schedule that CSA chose for this layer and configuration", "predicted" },
    { "csa", "", "1 if the tiles are CSA's own for this layer and configuration", "predicted" },
    { "plan", "", "what was replayed: micro-kernel, schedule, tiles", "" },
    COLUMNS_VALUES,
};

static const struct exp_csv_column sum_columns[] = {
    EXP_COLUMN_MODEL,
    EXP_COLUMN_ALGO,
    COLUMN_CONFIG,
    COLUMN_KEYS,
    { "cache_bytes", "bytes", "all levels together, of all cores", "" },
    COLUMNS_VALUES,
    { "cost_percent", "%", "of the cost of the best configuration, for this model and algorithm", "replay" },
    { "best", "", "1 for the configuration of least cost; of equal ones, of least cache_bytes", "replay" },
    { "pareto", "", "1 if no configuration of as little cache_bytes costs less, nor a smaller one as little", "replay" },
    { "csa", "", "1 if the tiles are CSA's own for this configuration in every layer", "predicted" },
};

static const struct exp_csv_column best_columns[] = {
    EXP_COLUMN_MODEL,
    EXP_COLUMN_LAYER_INDEX,
    EXP_COLUMN_LAYER,
    EXP_COLUMN_ALGO,
    COLUMN_CONFIG,
    COLUMN_KEYS,
    { "csa", "", "1 if its tiles are CSA's own", "predicted" },
    { "plan", "", "what was replayed", "" },
    { "cost", "", "of this configuration, the least of all", "replay" },
    { "worst_cost", "", "of the worst configuration", "replay" },
};
/* clang-format on */

static const struct exp_csv_file files[] = {
    EXP_CSV_FILE("sweep.csv", case_columns),
    EXP_CSV_FILE("configs.csv", sum_columns),
    EXP_CSV_FILE("best.csv", best_columns),
};

enum { CASES, SUMS, BEST, N_FILES };

_Static_assert(N_FILES == sizeof files / sizeof files[0], "a file without a name");

void exp_sweep_report_document(FILE *out)
{
    for (size_t i = 0; i < N_FILES; i++)
        exp_csv_document(&files[i], out);
}

/* Makes the columns of a file for this sweep's keys. */
static int settle_columns(struct exp_sweep_report *r, size_t which, struct exp_csv_file *file)
{
    const struct sim_grids *g = &r->sweep->grids;
    const struct exp_csv_column *from = files[which].column;
    struct exp_csv_column *to = calloc(files[which].n_columns + g->n_keys, sizeof *to);

    r->column[which] = to;
    if (!to)
        return -ENOMEM;
    *file = (struct exp_csv_file){ files[which].name, to, files[which].n_columns - 1 + g->n_keys, sizeof *to };
    for (size_t i = 0; i < files[which].n_columns; i++) {
        if (*from[i].name != '(') {
            *to++ = from[i];
            continue;
        }
        for (size_t k = 0; k < g->n_keys; k++)
            *to++ = (struct exp_csv_column){ g->key[k], "", "what VARY gives this key", "" };
    }
    return 0;
}

static int open_file(struct exp_sweep_report *r, size_t which, const struct exp_outdir *dir, const char *what,
                     struct exp_csv **csv, struct exp_why *why)
{
    struct exp_csv_file file;
    char text[4096];
    int err = settle_columns(r, which, &file);

    *csv = NULL;
    if (err)
        return exp_fail(why, err, "out of memory");
    exp_say(text, sizeof text, "%s; VARY=%s", what, r->sweep->options->vary);
    return exp_csv_create(csv, dir, &file, text, why);
}

/* ---- values ---- */

void exp_sweep_say_config(const struct exp_sweep *s, size_t config, char *text, size_t bytes)
{
    text[0] = '\0';
    for (size_t k = 0; k < s->grids.n_keys; k++) {
        const char *value = sim_grids_value(&s->grids, config, k);

        if (value)
            exp_say_more(text, bytes, "%s%s=%s", *text ? " " : "", s->grids.key[k], value);
    }
}

static double cost_of(const struct exp_sweep_report *r, const struct exp_sweep_value *v)
{
    return r->why_no_estimate ? v->memory_read_lines + v->memory_written_lines : v->issue_cycles + v->memory_cycles;
}

/* Returns the share of all cores' work that the longest core has, which the others wait for; 1 of one core. */
static double longest_share(const struct exp_sweep_config *c, const struct exp_sweep_counts *counts)
{
    if (!exp_sweep_has_cores(c))
        return 1;
    return counts->mac_instructions ? (double)counts->longest_mac_instructions / (double)counts->mac_instructions
                                    : 1 / (double)c->n_cores;
}

static struct exp_sweep_value value_of(const struct exp_sweep_report *r, const struct exp_sweep_case *x)
{
    const struct sim_machine *m = &x->config->setup.machine;
    const struct exp_sweep_counts *c = &r->sweep->counts[x->task];
    const struct exp_estimate e = exp_estimate_phases(m, c->phase, c->mac_instructions);
    const double share = longest_share(x->config, c);
    const struct sim_stats levels = { .n_levels = m->n_levels };
    struct exp_sweep_value v = { .macs = conv_macs(&x->layer->problem) };
    struct sim_cell sum = { 0 };

    for (unsigned p = 0; p < CONV_N_PHASES; p++)
        sim_cell_add(&sum, &c->phase[p]);
    v.loads = (double)sum.loads;
    for (size_t i = 0; i < EXP_N_NAMED_LEVELS; i++)
        v.load_misses[i] = (double)sum.level[exp_named_level(&levels, i)].load_misses;
    v.memory_read_lines = (double)sum.memory_read_lines;
    v.memory_written_lines = (double)sum.memory_written_lines;
    v.issue_cycles = r->why_no_estimate ? (double)NAN : e.issue_cycles * share;
    v.memory_cycles = r->why_no_estimate ? (double)NAN : e.memory_cycles * share;
    v.cost = cost_of(r, &v);
    return v;
}

static void add_value(struct exp_sweep_value *sum, const struct exp_sweep_value *v)
{
    sum->macs += v->macs;
    sum->loads += v->loads;
    for (size_t i = 0; i < EXP_N_NAMED_LEVELS; i++)
        sum->load_misses[i] += v->load_misses[i];
    sum->memory_read_lines += v->memory_read_lines;
    sum->memory_written_lines += v->memory_written_lines;
    sum->issue_cycles += v->issue_cycles;
    sum->memory_cycles += v->memory_cycles;
    sum->cost += v->cost;
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

/* ---- sums ---- */

/* Sums up the layers of a model, the first of which has that index among all. */
static void sum_up(struct exp_sweep_report *r, const struct exp_model *m, size_t first_layer, size_t algo)
{
    const struct exp_sweep *s = r->sweep;

    for (size_t c = 0; c < s->grids.n_points; c++) {
        struct exp_sweep_sum *sum = &r->sum[r->n_sums++];

        *sum = (struct exp_sweep_sum){ .model = m,
                                       .algo = exp_sweep_case_at(s, first_layer, c, algo)->algo,
                                       .config = c,
                                       .is_own = true,
                                       .cache_bytes = cache_bytes(s->config[c]) };
        for (size_t l = 0; l < m->n_layers; l++) {
            const struct exp_sweep_case *x = exp_sweep_case_at(s, first_layer + l, c, algo);
            struct exp_sweep_value v;

            sum->is_own = sum->is_own && x->is_own;
            if (x->why_not)
                sum->why_not = x->why_not;
            if (sum->why_not)
                continue;
            v = value_of(r, x);
            add_value(&sum->value, &v);
        }
    }
}

static bool is_better(const struct exp_sweep_sum *a, const struct exp_sweep_sum *b)
{
    return a->value.cost < b->value.cost || (!(a->value.cost > b->value.cost) && a->cache_bytes < b->cache_bytes);
}

static bool is_beaten_by(const struct exp_sweep_sum *a, const struct exp_sweep_sum *b)
{
    return b->value.cost <= a->value.cost && b->cache_bytes <= a->cache_bytes &&
           (b->value.cost < a->value.cost || b->cache_bytes < a->cache_bytes);
}

/* Compares the configurations of a model and algorithm, sum[n]. */
static void rank(struct exp_sweep_sum *sum, size_t n)
{
    size_t best = n;

    for (size_t i = 0; i < n; i++) {
        if (!sum[i].why_not && (best == n || is_better(&sum[i], &sum[best])))
            best = i;
        sum[i].is_pareto = !sum[i].why_not;
        for (size_t j = 0; j < n && sum[i].is_pareto; j++)
            sum[i].is_pareto = sum[j].why_not || !is_beaten_by(&sum[i], &sum[j]);
    }
    if (best == n)
        return;
    sum[best].is_best = true;
    for (size_t i = 0; i < n; i++)
        sum[i].percent = 100 * sum[i].value.cost / sum[best].value.cost;
}

static int add_sums(struct exp_sweep_report *r)
{
    const struct exp_sweep *s = r->sweep;
    size_t n = s->models->n * exp_sweep_n_algos(s) * s->grids.n_points, first_layer = 0;

    r->sum = calloc(n, sizeof *r->sum);
    if (!r->sum)
        return -ENOMEM;
    for (size_t i = 0; i < s->models->n; i++) {
        for (size_t a = 0; a < exp_sweep_n_algos(s); a++) {
            sum_up(r, &s->models->model[i], first_layer, a);
            rank(&r->sum[r->n_sums - s->grids.n_points], s->grids.n_points);
        }
        first_layer += s->models->model[i].n_layers;
    }
    return 0;
}

/* ---- rows ---- */

static void put_config(const struct exp_sweep_report *r, struct exp_csv *csv, size_t config)
{
    exp_csv_u64(csv, "config", config + 1);
    for (size_t k = 0; k < r->sweep->grids.n_keys; k++) {
        const char *value = sim_grids_value(&r->sweep->grids, config, k);

        if (value)
            exp_csv_string(csv, r->sweep->grids.key[k], value);
        else
            exp_csv_empty(csv, r->sweep->grids.key[k]);
    }
}

static void put_value(const struct exp_sweep_report *r, struct exp_csv *csv, const struct exp_sweep_value *v,
                      const char *why_not)
{
    const char *no_estimate = why_not ? why_not : r->why_no_estimate;
    double nan = (double)NAN;

    exp_csv_double(csv, "macs", v->macs);
    exp_csv_number(csv, "loads", why_not ? nan : v->loads, why_not);
    exp_csv_number(csv, "l1_load_misses", why_not ? nan : v->load_misses[0], why_not);
    exp_csv_number(csv, "l2_load_misses", why_not ? nan : v->load_misses[1], why_not);
    exp_csv_number(csv, "l3_load_misses", why_not ? nan : v->load_misses[2], why_not);
    exp_csv_number(csv, "memory_read_lines", why_not ? nan : v->memory_read_lines, why_not);
    exp_csv_number(csv, "memory_written_lines", why_not ? nan : v->memory_written_lines, why_not);
    exp_csv_number(csv, "issue_cycles", no_estimate ? nan : v->issue_cycles, no_estimate);
    exp_csv_number(csv, "memory_cycles", no_estimate ? nan : v->memory_cycles, no_estimate);
    exp_csv_number(csv, "cost", why_not ? nan : v->cost, why_not);
}

static void put_plan(struct exp_csv *csv, const struct exp_sweep_case *x)
{
    char plan[EXP_PLAN_TEXT_BYTES];

    exp_plan_text(&x->plan, plan);
    exp_csv_string(csv, "plan", plan);
}

static void put_layer(struct exp_csv *csv, const struct exp_sweep_case *x)
{
    exp_csv_string(csv, "model", x->model->name);
    exp_csv_u64(csv, "layer_index", x->layer->index);
    exp_csv_string(csv, "layer", x->layer->name);
    exp_csv_string(csv, "algo", x->algo->name);
}

static void put_cases(const struct exp_sweep_report *r, struct exp_csv *csv)
{
    const struct exp_sweep *s = r->sweep;
    size_t n_algos = exp_sweep_n_algos(s);

    for (size_t i = 0; i < s->n_cases; i++) {
        const struct exp_sweep_case *x = &s->cases[i];
        struct exp_sweep_value v = { .macs = conv_macs(&x->layer->problem) };

        if (!x->why_not)
            v = value_of(r, x);
        put_layer(csv, x);
        put_config(r, csv, i / n_algos % s->grids.n_points);
        exp_csv_u64(csv, "chosen", x->is_chosen);
        exp_csv_u64(csv, "csa", x->is_own);
        put_plan(csv, x);
        put_value(r, csv, &v, x->why_not);
        exp_csv_end_row(csv);
    }
}

static void put_sums(const struct exp_sweep_report *r, struct exp_csv *csv)
{
    for (size_t i = 0; i < r->n_sums; i++) {
        const struct exp_sweep_sum *sum = &r->sum[i];

        exp_csv_string(csv, "model", sum->model->name);
        exp_csv_string(csv, "algo", sum->algo->name);
        put_config(r, csv, sum->config);
        exp_csv_double(csv, "cache_bytes", sum->cache_bytes);
        put_value(r, csv, &sum->value, sum->why_not);
        exp_csv_number(csv, "cost_percent", sum->why_not ? (double)NAN : sum->percent, sum->why_not);
        exp_csv_u64(csv, "best", sum->is_best);
        exp_csv_u64(csv, "pareto", sum->is_pareto);
        exp_csv_u64(csv, "csa", sum->is_own);
        exp_csv_end_row(csv);
    }
}

/* Writes the best configuration of a layer and algorithm, if it was replayed. */
static void put_best(const struct exp_sweep_report *r, struct exp_csv *csv, size_t layer, size_t algo)
{
    const struct exp_sweep *s = r->sweep;
    struct exp_sweep_sum best = { .why_not = "" };
    double worst = 0;

    for (size_t c = 0; c < s->grids.n_points; c++) {
        const struct exp_sweep_case *x = exp_sweep_case_at(s, layer, c, algo);
        struct exp_sweep_sum now = { .config = c, .cache_bytes = cache_bytes(s->config[c]) };

        if (x->why_not)
            continue;
        now.value = value_of(r, x);
        worst = fmax(worst, now.value.cost);
        best = best.why_not || is_better(&now, &best) ? now : best;
    }
    if (best.why_not)
        return;
    put_layer(csv, exp_sweep_case_at(s, layer, best.config, algo));
    put_config(r, csv, best.config);
    exp_csv_u64(csv, "csa", exp_sweep_case_at(s, layer, best.config, algo)->is_own);
    put_plan(csv, exp_sweep_case_at(s, layer, best.config, algo));
    exp_csv_double(csv, "cost", best.value.cost);
    exp_csv_double(csv, "worst_cost", worst);
    exp_csv_end_row(csv);
}

static void put_bests(const struct exp_sweep_report *r, struct exp_csv *csv)
{
    for (size_t l = 0; l < exp_sweep_n_layers(r->sweep); l++) {
        for (size_t a = 0; a < exp_sweep_n_algos(r->sweep); a++)
            put_best(r, csv, l, a);
    }
}

int exp_sweep_report_write(struct exp_sweep_report *r, const struct exp_sweep *s, const struct exp_outdir *dir,
                           const char *what, struct exp_why *why)
{
    static void (*const put[N_FILES])(const struct exp_sweep_report *, struct exp_csv *) = { put_cases, put_sums,
                                                                                             put_bests };
    int err;

    r->sweep = s;
    r->why_no_estimate = exp_estimate_why_not(&s->base);
    err = add_sums(r) ? exp_fail(why, -ENOMEM, "out of memory") : 0;
    for (size_t i = 0; i < N_FILES && !err; i++) {
        struct exp_csv *csv;

        err = open_file(r, i, dir, what, &csv, why);
        if (err)
            return err;
        put[i](r, csv);
        err = exp_csv_close(csv, why);
    }
    return err;
}

/* ---- the answer ---- */

/* Finds the smallest configuration within a percent of the best one. */
static const struct exp_sweep_sum *smallest_good(const struct exp_sweep_sum *sum, size_t n)
{
    const struct exp_sweep_sum *found = NULL;

    for (size_t i = 0; i < n; i++) {
        if (!sum[i].why_not && sum[i].percent <= 101 && (!found || sum[i].cache_bytes < found->cache_bytes))
            found = &sum[i];
    }
    return found;
}

/* Says which configuration has CSA's own tiles, where tiles were varied. */
static void say_own(const struct exp_sweep_report *r, const struct exp_sweep_sum *sum, FILE *out)
{
    const struct exp_sweep *s = r->sweep;
    const struct exp_sweep_sum *own = NULL;
    bool is_varied = false;
    char text[512];

    for (size_t i = 0; i < s->grids.n_points; i++) {
        const struct exp_sweep_config *c = s->config[i];

        is_varied = is_varied || (sum->algo->is_sconv && (c->n_c || c->k2 || c->k3));
        own = sum[i].is_own && !sum[i].why_not && (!own || sum[i].percent < own->percent) ? &sum[i] : own;
    }
    if (!is_varied)
        return;
    if (!own) {
        fprintf(out, " None of them has CSA's own tiles in every layer.");
        return;
    }
    exp_sweep_say_config(s, own->config, text, sizeof text);
    fprintf(out, " CSA's own tiles are those of %s, which costs %.1f %% more than the best.", text, own->percent - 100);
}

static void say_answer(const struct exp_sweep_report *r, const struct exp_sweep_sum *sum, FILE *out)
{
    size_t n = r->sweep->grids.n_points;
    const struct exp_sweep_sum *best = NULL, *small = smallest_good(sum, n);
    char text[512];
    double worst = 0;

    for (size_t i = 0; i < n; i++) {
        best = sum[i].is_best ? &sum[i] : best;
        worst = fmax(worst, sum[i].percent);
    }
    if (!best) {
        fprintf(out, "%s, %s: not simulated: %s\n", sum->model->name, sum->algo->label, sum->why_not);
        return;
    }
    exp_sweep_say_config(r->sweep, best->config, text, sizeof text);
    fprintf(out, "%s, %s: best of %zu is %s, %.4g %s; the worst costs %.1f %% more.", sum->model->name,
            sum->algo->label, n, text, best->value.cost,
            r->why_no_estimate ? "lines from and to memory" : "ESTIMATED cycles", worst - 100);
    if (small && small->cache_bytes < best->cache_bytes) {
        exp_sweep_say_config(r->sweep, small->config, text, sizeof text);
        fprintf(out, " The smallest within 1 %% of it is %s, with %.0f KiB of caches and not %.0f.", text,
                small->cache_bytes / 1024, best->cache_bytes / 1024);
    }
    say_own(r, sum, out);
    fputc('\n', out);
}

int exp_sweep_report_answer(const struct exp_sweep_report *r, FILE *out)
{
    for (size_t i = 0; i < r->n_sums; i += r->sweep->grids.n_points)
        say_answer(r, &r->sum[i], out);
    return 0;
}

void exp_sweep_report_release(struct exp_sweep_report *r)
{
    for (size_t i = 0; i < N_FILES; i++)
        free(r->column[i]);
    free(r->sum);
    *r = (struct exp_sweep_report){ 0 };
}
