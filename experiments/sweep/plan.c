/* From keys and values to plans. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/plugin/plugin.h"
#include "experiments/bench/replay/quantity.h"
#include "experiments/bench/replay/replay.h"
#include "experiments/sweep/sweep.h"
#include "kernels/csa/csa2.h"

const struct exp_sweep_case *exp_sweep_case_at(const struct exp_sweep *s, size_t layer, size_t config, size_t algo)
{
    assert(layer < s->n_layers && config < s->grids.n_points && algo < s->n_algos);
    return &s->cases[(layer * s->grids.n_points + config) * s->n_algos + algo];
}

/* ---- configurations ---- */

void exp_sweep_say_config(const struct exp_sweep *s, size_t config, char *text, size_t bytes)
{
    assert(config < s->grids.n_points && bytes > 0);
    *text = '\0';
    for (size_t k = 0; k < s->grids.n_keys; k++) {
        const char *value = sim_grids_value(&s->grids, config, k);

        if (value)
            exp_say_more(text, bytes, "%s%s=%s", *text ? " " : "", s->grids.key[k], value);
    }
}

/* Keys that are not keys of a machine: name, kind, and where a number is stored. */
enum own_kind { KERNEL, NUMBER };

static const struct own_key {
    const char *name;
    enum own_kind kind;
    size_t offset; /* of a size_t in the configuration */
} own_keys[] = {
    { "ukr", KERNEL, 0 },
    { "nc", NUMBER, offsetof(struct exp_sweep_config, tile[0]) },
    { "k2", NUMBER, offsetof(struct exp_sweep_config, tile[1]) },
    { "k3", NUMBER, offsetof(struct exp_sweep_config, tile[2]) },
    { "cores", NUMBER, offsetof(struct exp_sweep_config, n_cores) },
};

static const struct own_key *find_own_key(const char *name)
{
    for (size_t i = 0; i < sizeof own_keys / sizeof own_keys[0]; i++) {
        if (!strcmp(own_keys[i].name, name))
            return &own_keys[i];
    }
    return NULL;
}

static int read_number(size_t *to, const char *key, const char *value, struct exp_why *why)
{
    char *end;

    errno = 0;
    *to = strtoull(value, &end, 10);
    if (errno || *value < '0' || *value > '9' || *end || !*to)
        return exp_fail(why, -EINVAL, "VARY: %s: must be a whole number from 1, not '%s'", key, value);
    return 0;
}

/* Applies the keys of a point. *ukr becomes the value of the key ukr, if there is such a key. */
static int apply(struct exp_sweep *s, size_t point, struct exp_sweep_config *c, const char **ukr, struct exp_why *why)
{
    struct sim_setting *setting = exp_new(s->grids.n_keys, sizeof *setting);
    char reason[512];
    size_t n = 0;
    int err = 0;

    for (size_t k = 0; k < s->grids.n_keys && !err; k++) {
        const char *key = s->grids.key[k], *value = sim_grids_value(&s->grids, point, k);
        const struct own_key *own = find_own_key(key);

        if (!value)
            continue;
        if (!own)
            setting[n++] = (struct sim_setting){ key, value };
        else if (own->kind == KERNEL)
            *ukr = value;
        else
            err = read_number((size_t *)(void *)((char *)c + own->offset), key, value, why);
    }
    c->setup.machine = s->base;
    c->has_other_machine = n > 0;
    if (!err && n) {
        err = sim_machine_set(&c->setup.machine, setting, n, reason, sizeof reason);
        if (err)
            exp_fail(why, err, "VARY: %s", reason);
    }
    free(setting);
    return err;
}

static int check_cores(const struct exp_sweep_config *c, struct exp_why *why)
{
    const char *why_not = exp_sweep_has_cores(c) ? sim_cores_why_not(&c->setup.machine) : NULL;

    if (c->n_cores > EXP_SWEEP_MOST_CORES)
        return exp_fail(why, -EINVAL, "VARY: cores: must be at most %d, not %zu", EXP_SWEEP_MOST_CORES, c->n_cores);
    return why_not ? exp_fail(why, -ENOTSUP, "VARY: cores: %s of machine %s", why_not, c->setup.machine.name) : 0;
}

static int make_config(struct exp_sweep *s, size_t point, struct exp_why *why)
{
    struct exp_sweep_config *c = exp_new(1, sizeof *c);
    const char *ukr = s->options->ukr;
    int err;

    s->config[point] = c;
    err = apply(s, point, c, &ukr, why);
    c->setup.packs_filters = s->options->packs_filters != 0;
    err = err ? err : check_cores(c, why);
    err = err ? err : exp_setup_init(&c->setup, ukr, s->options->core, why);
    err = err ? err : exp_main_plans(&c->setup, s->options->plan, &s->algos, why);
    if (!err) {
        c->setting = exp_kept_counts_setting(&c->setup.machine);
        c->counting = exp_kept_counts_alone(&c->setup.machine);
    }
    return err;
}

/* ---- plans ---- */

/* Gives an SConv plan the tiles' numbers of VARY, and tells whether CSA chose the same numbers. */
static int retile(struct exp_sweep_config *c, struct conv_plan *plan, bool *is_own)
{
    const struct csa_tiling own = plan->sconv.tiling;
    const struct conv_sconv_options options = plan->sconv.options;
    const struct conv_problem p = plan->problem;
    const size_t *asked = c->tile;
    const struct csa_tiling t = csa2_tiling(&p, plan->ukr, own.schedule, asked[0] ? asked[0] : own.n_c,
                                            asked[1] ? asked[1] : own.k2, asked[2] ? asked[2] : own.k3);
    const size_t given[EXP_SWEEP_N_TILES] = { t.n_c, t.k2, t.k3 };

    for (size_t k = 0; k < EXP_SWEEP_N_TILES; k++) {
        c->cut[k].n += asked[k] > 0;
        c->cut[k].n_cut += given[k] < asked[k];
        c->cut[k].most = given[k] > c->cut[k].most ? given[k] : c->cut[k].most;
    }
    *is_own = t.n_c == own.n_c && t.k2 == own.k2 && t.k3 == own.k3;
    return conv_plan_sconv_with(plan, &p, plan->ukr, &t, &options);
}

static int plan_case(struct exp_sweep_case *x, struct exp_why *why)
{
    struct exp_sweep_config *c = x->config;
    const struct exp_setup *s = &c->setup;
    const struct conv_problem *p = &x->layer->problem;
    struct csa_tiling tiling[CSA_N_SCHEDULES];
    int err;

    for (int i = 0; i < CSA_N_SCHEDULES; i++)
        tiling[i] = csa_analyse(p, &s->caches, s->ukr->n_win, s->ukr->n_f, (enum csa_schedule)i);
    x->is_chosen = x->algo->when == EXP_ALGO_MEMBER && x->algo->schedule == csa_choose(tiling);
    x->why = x->algo->why_not_replay(s);
    err = x->algo->plan(s, p, tiling, x->algo, &x->plan);
    if (!err && !x->why && exp_sweep_has_cores(c))
        x->why = exp_replay_cores_why_not(&x->plan);
    if (!err && !x->why && x->algo->plugin)
        x->why = exp_plugin_why_not(x->algo->plugin, &x->plan);
    if (err == -ENOENT)
        return exp_fail(why, err, "%s:%u: layer '%s': PLAN has no plan of its shape; LAYERS= chooses others",
                        x->model->path, x->layer->line, x->layer->name);
    x->is_own = !err && x->plan.algorithm == CONV_SCONV && x->algo != exp_algo_noted();
    if (x->is_own && (c->tile[0] || c->tile[1] || c->tile[2]))
        err = retile(c, &x->plan, &x->is_own);
    if (err)
        return exp_fail(why, err, "%s:%u: layer '%s' with %s: its buffers exceed the address space", x->model->path,
                        x->layer->line, x->layer->name, x->algo->name);
    return exp_interrupted() ? exp_fail(why, -EINTR, "interrupted while planning") : 0;
}

static int plan_layer(struct exp_sweep *s, const struct exp_model *m, const struct exp_layer *l, struct exp_why *why)
{
    int err = 0;

    for (size_t c = 0; c < s->grids.n_points && !err; c++) {
        for (size_t a = 0; a < exp_algo_count() && !err; a++) {
            struct exp_sweep_case *x = &s->cases[s->n_cases];

            if (!(s->algos >> a & 1))
                continue;
            *x = (struct exp_sweep_case){ .model = m, .layer = l, .algo = exp_algo_at(a), .config = s->config[c] };
            err = plan_case(x, why);
            s->n_cases += !err;
        }
    }
    return err;
}

/* ---- tiles larger than layers ---- */

static const char *const tile_keys[EXP_SWEEP_N_TILES] = { "nc", "k2", "k3" };

/* Refuses a tile count that every layer would cut: a smaller count would be simulated under the larger name. */
static int check_cut(const struct exp_sweep *s, struct exp_why *why)
{
    for (size_t i = 0; i < s->grids.n_points; i++) {
        for (size_t k = 0; k < EXP_SWEEP_N_TILES; k++) {
            const struct exp_sweep_cut *cut = &s->config[i]->cut[k];

            if (cut->n && cut->n_cut == cut->n)
                return exp_fail(why, -EINVAL, "VARY: %s: must be from 1 to %zu for these layers, not %zu", tile_keys[k],
                                cut->most, s->config[i]->tile[k]);
        }
    }
    return 0;
}

/* Tells whether an earlier configuration has cut the same count. */
static bool was_said(const struct exp_sweep *s, size_t config, size_t tile)
{
    for (size_t i = 0; i < config; i++) {
        if (s->config[i]->tile[tile] == s->config[config]->tile[tile] && s->config[i]->cut[tile].n_cut)
            return true;
    }
    return false;
}

void exp_sweep_say_cut(const struct exp_sweep *s, FILE *out)
{
    for (size_t k = 0; k < EXP_SWEEP_N_TILES; k++) {
        for (size_t i = 0; i < s->grids.n_points; i++) {
            const struct exp_sweep_cut *cut = &s->config[i]->cut[k];

            if (cut->n_cut && !was_said(s, i, k))
                fprintf(out, "VARY: %s=%zu is more than %zu of %zu plans have: they take all that they have\n",
                        tile_keys[k], s->config[i]->tile[k], cut->n_cut, cut->n);
        }
    }
}

int exp_sweep_plan(struct exp_sweep *s, const struct exp_sweep_options *o, const struct exp_models *models,
                   const struct sim_machine *machine, struct exp_why *why)
{
    char reason[512];
    double n;
    int err = sim_grids_read(&s->grids, o->vary, EXP_SWEEP_MOST_CONFIGS, reason, sizeof reason);

    assert(models->n > 0 && !s->cases);

    if (err)
        return exp_fail(why, err, "VARY: %s", reason);
    s->options = o;
    s->models = models;
    s->base = *machine;
    for (size_t i = 0; i < models->n; i++)
        s->n_layers += models->model[i].n_layers;
    err = exp_plugins_select(
        *o->algos ? o->algos : EXP_SWEEP_ALGOS,
        &(struct exp_plugin_options){ o->plugin_flags, o->plugin_plan, o->plugin_limit, 1, "", false }, &s->algos, why);
    s->config = exp_new(s->grids.n_points, sizeof(struct exp_sweep_config *));
    for (size_t i = 0; i < s->grids.n_points && !err; i++)
        err = make_config(s, i, why);
    for (unsigned bits = s->algos; bits; bits &= bits - 1)
        s->n_algos++;
    n = (double)s->n_layers * (double)s->grids.n_points * (double)s->n_algos;
    if (!err && n > EXP_SWEEP_MOST_CASES)
        err = exp_fail(why, -EINVAL,
                       "VARY: %zu configurations of %zu layers and %zu algorithms are %.0f simulations; at most %d",
                       s->grids.n_points, s->n_layers, s->n_algos, n, EXP_SWEEP_MOST_CASES);
    if (err)
        return err;
    s->cases = exp_new(s->n_layers * s->grids.n_points * s->n_algos, sizeof *s->cases);
    for (size_t i = 0; i < models->n && !err; i++) {
        for (size_t l = 0; l < models->model[i].n_layers && !err; l++)
            err = plan_layer(s, &models->model[i], &models->model[i].layer[l], why);
    }
    return err ? err : check_cut(s, why);
}

void exp_sweep_forget_tasks(struct exp_sweep *s)
{
    for (size_t i = 0; i < s->n_tasks; i++) {
        free((char *)s->task[i].name);
        free((char *)s->task[i].what);
    }
    free(s->task);
    free(s->first);
    free(s->case_of);
    free(s->counts);
    s->n_tasks = s->n_jobs = 0;
}

void exp_sweep_release(struct exp_sweep *s)
{
    for (size_t i = 0; i < s->grids.n_points && s->config; i++) {
        if (s->config[i]) {
            exp_setup_release(&s->config[i]->setup);
            free(s->config[i]->setting);
            free(s->config[i]->counting);
        }
        free(s->config[i]);
    }
    exp_sweep_forget_tasks(s);
    free(s->config);
    free(s->cases);
    sim_grids_release(&s->grids);
    *s = (struct exp_sweep){ 0 };
}
