#include "experiments/bench/course/variables.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/algo.h"

/* Finds the variable of a name, or appends a new variable. */
static struct exp_plot_variable *variable_of(struct exp_variables *v, const char *name)
{
    for (size_t i = 0; i < v->n; i++) {
        if (!strcmp(v->variable[i].name, name))
            return &v->variable[i];
    }
    assert(v->n < EXP_MOST_VARIABLES);
    v->variable[v->n].name = name;
    return &v->variable[v->n++];
}

/* Takes over a value from malloc. */
static void put(struct exp_plot_variable *variable, char *value)
{
    free((char *)variable->value);
    variable->value = value;
}

void exp_variables_set(struct exp_variables *v, const char *name, const char *value)
{
    assert(v && name && value);
    put(variable_of(v, name), exp_format("%s", value));
}

void exp_variables_add(struct exp_variables *v, const char *name, const char *quote, const char *word)
{
    struct exp_plot_variable *list = variable_of(v, name);
    const char *before = list->value ? list->value : "";

    assert(quote && word);
    put(list, exp_format("%s%s%s%s%s", before, *before ? " " : "", quote, word, quote));
}

void exp_variables_release(struct exp_variables *v)
{
    for (size_t i = 0; i < v->n; i++)
        free((char *)v->variable[i].value);
    *v = (struct exp_variables){ 0 };
}

/* ---- algorithms ---- */

enum list { NAMES, TITLES, COLOURS, DEFAULTS, TOTALS, SCONVS, MEMBERS, PLAIN, N_LISTS };

static const struct {
    const char *name, *quote;
    size_t text; /* in the record */
} lists[N_LISTS] = {
#define LIST(name_, quote_, member_)                                                                                   \
    {                                                                                                                  \
        name_, quote_, offsetof(struct exp_algo, member_)                                                              \
    }
    [NAMES] = LIST("algo_names", "", name),       [TITLES] = LIST("algo_titles", "\"", title),
    [COLOURS] = LIST("algo_colours", "", colour), [DEFAULTS] = LIST("default_algos", "", name),
    [TOTALS] = LIST("total_algos", "", name),     [SCONVS] = LIST("sconv_algos", "", name),
    [MEMBERS] = LIST("member_algos", "", name),   [PLAIN] = LIST("plain_algos", "", name),
#undef LIST
};

static bool is_in(enum list list, const struct exp_algo *a)
{
    const bool is_member = a->when == EXP_ALGO_MEMBER;
    const bool is[N_LISTS] = {
        [NAMES] = true,        [TITLES] = true,
        [COLOURS] = true,      [DEFAULTS] = !a->members && a->when != EXP_ALGO_ON_REQUEST,
        [TOTALS] = !is_member, [SCONVS] = a->is_sconv || a->plugin,
        [MEMBERS] = is_member, [PLAIN] = !a->members && (!a->is_sconv || is_member),
    };

    return is[list];
}

void exp_variables_of_algos(struct exp_variables *v)
{
    for (enum list l = 0; l < N_LISTS; l++) {
        for (size_t i = 0; i < exp_algo_record_count(); i++) {
            const char *text;

            memcpy(&text, (const char *)exp_algo_record(i) + lists[l].text, sizeof text);
            if (is_in(l, exp_algo_record(i)))
                exp_variables_add(v, lists[l].name, lists[l].quote, text);
        }
    }
}
