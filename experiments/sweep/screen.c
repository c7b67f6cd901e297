/* The screen of a sweep: the configuration with the least cost, and the price of the other configurations. */
#include <math.h>
#include <stdlib.h>

#include "experiments/sweep/row.h"

#define ROW struct exp_sweep_row

enum { CONFIG_BYTES = 256 };

/* Returns the group of the answer: of the first model, the algorithm with the least cost; best NULL: nothing. */
static struct exp_sweep_group chosen(const struct exp_sweep_report *r)
{
    const size_t n = r->sweep->grids.n_points;
    struct exp_sweep_group least = exp_sweep_group_of(r->sum, n);

    for (size_t a = 1; a < r->sweep->n_algos; a++) {
        const struct exp_sweep_group g = exp_sweep_group_of(&r->sum[a * n], n);

        if (g.best && (!least.best || exp_sweep_cost_of(g.best) < exp_sweep_cost_of(least.best)))
            least = g;
    }
    return least;
}

/* Returns the unit of the cost: millions from a million on. */
static double unit_of(double cost)
{
    return cost >= 1e5 ? 1e6 : 1;
}

static void say_cost(const struct exp_sweep_report *r, double cost, char *text, size_t bytes)
{
    const double unit = unit_of(cost), x = cost / unit;

    exp_say_more(text, bytes, "%.*f %s%s", exp_screen_digits(x), x, unit > 1 ? "million " : "", exp_sweep_unit(r));
}

/* Returns how many further configurations may cost as little as the best, by the intervals of samples. */
static size_t count_open(const struct exp_sweep_group *g, size_t n)
{
    size_t n_open = 0;

    for (const ROW *x = g->sum; x < g->sum + n; x++) {
        const double pm = hypot(x->of[SWEEP_cost_pm].number, g->best->of[SWEEP_cost_pm].number);

        n_open += exp_sweep_is_simulated(x) && x != g->best && pm > 0 &&
                  exp_sweep_cost_of(x) - exp_sweep_cost_of(g->best) <= pm;
    }
    return n_open;
}

static void say_headline(const struct exp_sweep_report *r, const struct exp_sweep_group *g, char *text, size_t bytes)
{
    const size_t n = r->sweep->grids.n_points;
    char config[CONFIG_BYTES];
    double more;

    if (!g->best) {
        exp_say(text, bytes, "Nothing was simulated: %s.", g->sum->of[SWEEP_cost].why);
        return;
    }
    more = 100 * (exp_sweep_cost_of(g->worst) / exp_sweep_cost_of(g->best) - 1);
    exp_sweep_say_config(r->sweep, g->best->config - 1, config, sizeof config);
    exp_say(text, bytes, "%s costs least with %s and ", g->sum->model, exp_algo_find(g->sum->algo)->label);
    if (n > 1 && !(more > 0)) {
        exp_say_more(text, bytes, "any of the %zu configurations: ", n);
        say_cost(r, exp_sweep_cost_of(g->best), text, bytes);
        exp_say_more(text, bytes, ". What varies changes nothing.");
        return;
    }
    exp_say_more(text, bytes, "%s: ", config);
    say_cost(r, exp_sweep_cost_of(g->best), text, bytes);
    if (n < 2)
        exp_say_more(text, bytes, ". No other configuration was asked for: VARY=KEY=VALUE,VALUE compares.");
    else
        exp_say_more(text, bytes, "; the worst of %zu configurations costs %.1f %% more.", n, more);
    if (n > 1 && g->small && g->small->cache_bytes < g->best->cache_bytes) {
        exp_sweep_say_config(r->sweep, g->small->config - 1, config, sizeof config);
        exp_say_more(text, bytes, " With %s, %.0f KiB of caches instead of %.0f cost at most 1 %% more.", config,
                     g->small->cache_bytes / 1024, g->best->cache_bytes / 1024);
    }
    if (count_open(g, n))
        exp_say_more(text, bytes,
                     " It is open which costs least: replays are samples (SAMPLE=exact), and the interval "
                     "of the best overlaps with %zu of the others.",
                     count_open(g, n));
}

void exp_sweep_headline(const struct exp_sweep_report *r, char *text, size_t bytes)
{
    const struct exp_sweep_group g = chosen(r);

    say_headline(r, &g, text, bytes);
}

/* ---- the tables ---- */

static int by_cost(const void *a, const void *b)
{
    const ROW *x = *(const ROW *const *)a, *y = *(const ROW *const *)b;
    const double of_x = exp_sweep_is_simulated(x) ? exp_sweep_cost_of(x) : (double)INFINITY,
                 of_y = exp_sweep_is_simulated(y) ? exp_sweep_cost_of(y) : (double)INFINITY;

    return of_x == of_y ? (x->config > y->config) - (x->config < y->config) : (of_x > of_y) - (of_x < of_y);
}

static void put_percent(const ROW *x, struct exp_screen *screen)
{
    if (exp_sweep_is_simulated(x))
        exp_screen_cell(screen, x->is_best ? EXP_GOOD : EXP_PLAIN, "%+.1f %%", x->percent.number - 100);
    else
        exp_screen_cell(screen, EXP_PLAIN, "-");
}

/* Of a single model: a row is a configuration, with the cost of each algorithm over the algorithm's best. */
static void put_configs(const struct exp_sweep_report *r, const struct exp_sweep_group *g, struct exp_screen *screen)
{
    const size_t n = r->sweep->grids.n_points;
    const double unit = unit_of(exp_sweep_cost_of(g->best));
    const ROW **row = exp_new(n, sizeof *row);
    char config[CONFIG_BYTES];

    for (size_t i = 0; i < n; i++)
        row[i] = &g->sum[i];
    qsort(row, n, sizeof(const void *), by_cost);
    exp_screen_row(screen, "configuration");
    exp_screen_cell(screen, EXP_PLAIN, "KiB of caches");
    exp_screen_cell(screen, EXP_PLAIN, "%s%s", unit > 1 ? "million " : "", r->why_no_estimate ? "lines" : "cycles");
    for (size_t a = 0; a < r->sweep->n_algos; a++)
        exp_screen_cell(screen, EXP_PLAIN, "%s", r->sum[a * n].algo);
    for (size_t i = 0; i < n; i++) {
        exp_sweep_say_config(r->sweep, row[i]->config - 1, config, sizeof config);
        exp_screen_row(screen, "%s", config);
        exp_screen_cell(screen, EXP_PLAIN, "%.0f", row[i]->cache_bytes / 1024);
        exp_screen_number(screen, EXP_PLAIN,
                          exp_sweep_is_simulated(row[i]) ? exp_sweep_cost_of(row[i]) / unit : (double)NAN);
        for (size_t a = 0; a < r->sweep->n_algos; a++)
            put_percent(&r->sum[a * n + row[i]->config - 1], screen);
    }
    free(row);
}

/* Of several models: a row is a model and algorithm. */
static void put_models(const struct exp_sweep_report *r, struct exp_screen *screen)
{
    const size_t n = r->sweep->grids.n_points;
    const double unit = unit_of(exp_sweep_cost_of(chosen(r).best));
    char config[CONFIG_BYTES];

    exp_screen_row(screen, "model, algorithm");
    exp_screen_cell(screen, EXP_PLAIN, "%s%s", unit > 1 ? "million " : "", r->why_no_estimate ? "lines" : "cycles");
    exp_screen_cell(screen, EXP_PLAIN, "the worst costs");
    exp_screen_cell(screen, EXP_PLAIN, "best configuration");
    for (size_t i = 0; i < r->n_sums; i += n) {
        const struct exp_sweep_group g = exp_sweep_group_of(&r->sum[i], n);

        if (!g.best)
            continue;
        exp_sweep_say_config(r->sweep, g.best->config - 1, config, sizeof config);
        exp_screen_row(screen, "%s, %s", g.sum->model, g.sum->algo);
        exp_screen_number(screen, EXP_PLAIN, exp_sweep_cost_of(g.best) / unit);
        exp_screen_cell(screen, EXP_PLAIN, "%+.1f %%",
                        100 * (exp_sweep_cost_of(g.worst) / exp_sweep_cost_of(g.best) - 1));
        exp_screen_cell(screen, EXP_PLAIN, "%s", config);
    }
}

void exp_sweep_screen(const struct exp_sweep_report *r, struct exp_screen *screen)
{
    const struct exp_sweep_group g = chosen(r);
    char text[1024];

    exp_screen_title(screen, "%zu model%s, %zu configuration%s of %s, replayed with cold caches", r->sweep->models->n,
                     r->sweep->models->n == 1 ? "" : "s", r->sweep->grids.n_points,
                     r->sweep->grids.n_points == 1 ? "" : "s", r->sweep->base.name);
    say_headline(r, &g, text, sizeof text);
    exp_screen_say(screen, EXP_STRONG, "%s", text);
    if (!r->has_cycles)
        exp_screen_note(screen, "trust", "%s",
                        r->why_no_estimate ? "the machine's file has no latencies: the cost is traffic, not time"
                                           : "an ESTIMATE: the machine's file has no core, so every miss waits");
    if (g.best && r->sweep->models->n == 1)
        put_configs(r, &g, screen);
    else if (g.best)
        put_models(r, screen);
}
