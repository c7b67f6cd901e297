#include "experiments/sweep/exp_sweep_plot.h"

#include <stdbool.h>
#include <string.h>

#include "experiments/base/exp_error.h"

enum { MACHINE, COST_LABEL, X_KEY, Y_KEY, X_VALUES, Y_VALUES, ALGOS };

static const char *const names[EXP_N_SWEEP_VARIABLES] = {
    [MACHINE] = "machine",   [COST_LABEL] = "cost_label", [X_KEY] = "x_key",       [Y_KEY] = "y_key",
    [X_VALUES] = "x_values", [Y_VALUES] = "y_values",     [ALGOS] = "shown_algos",
};

/* Tells whether a value came before, at an earlier point. */
static bool is_known(const struct sim_grids *g, size_t point, size_t key)
{
    const char *value = sim_grids_value(g, point, key);

    for (size_t p = 0; p < point; p++) {
        const char *other = sim_grids_value(g, p, key);

        if (!value || (other && !strcmp(other, value)))
            return true;
    }
    return !value;
}

/* Lists the values of a key, each in quotes. Returns how many there are. */
static size_t list_values(const struct sim_grids *g, size_t key, char *text, size_t bytes)
{
    size_t n = 0;

    text[0] = '\0';
    for (size_t p = 0; p < g->n_points; p++) {
        if (is_known(g, p, key))
            continue;
        exp_say_more(text, bytes, "%s\"%s\"", n ? " " : "", sim_grids_value(g, p, key));
        n++;
    }
    return n;
}

void exp_sweep_plot_init(struct exp_sweep_plot *p, const struct exp_sweep_report *r)
{
    const struct exp_sweep *s = r->sweep;
    const size_t bytes = sizeof p->text[0];
    int axis = 0;

    *p = (struct exp_sweep_plot){ 0 };
    exp_say(p->text[MACHINE], bytes, "%s", s->base.name);
    exp_say(p->text[COST_LABEL], bytes, "%s", r->why_no_estimate ? "lines from and to memory" : "estimated cycles");
    for (size_t k = 0; k < s->grids.n_keys && axis < 2; k++) {
        if (list_values(&s->grids, k, p->text[X_VALUES + axis], bytes) < 2)
            continue;
        exp_say(p->text[X_KEY + axis], bytes, "%s", s->grids.key[k]);
        axis++;
    }
    for (size_t a = 0; a < exp_sweep_n_algos(s); a++) {
        const struct exp_sweep_case *x = exp_sweep_case_at(s, 0, 0, a);

        if (!x->why_not)
            exp_say_more(p->text[ALGOS], bytes, "%s%s", *p->text[ALGOS] ? " " : "", x->algo->name);
    }
    for (int i = 0; i < EXP_N_SWEEP_VARIABLES; i++)
        p->variable[i] = (struct exp_plot_variable){ names[i], p->text[i] };
}
