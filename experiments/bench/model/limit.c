/* Makes layers smaller, or layers of another element type: part of model.h. */
#include <errno.h>
#include <stdlib.h>

#include "experiments/bench/model/model.h"

enum { FEW_ROWS = 4, FEW_FILTERS = 32 };

static size_t half(size_t n)
{
    return (n + 1) / 2;
}

static void take_rows(struct conv_problem *p, size_t rows)
{
    p->h -= (p->p - rows) * p->stride_h;
    p->p = rows;
}

/* Halves the largest size. Returns false if only a few of each are left. */
static bool halve(struct conv_problem *p)
{
    const size_t filters = p->k / p->groups;
    const bool has_rows = half(p->p) >= FEW_ROWS && p->h > (p->p - half(p->p)) * p->stride_h;
    const bool has_filters = half(filters) >= FEW_FILTERS;

    if (p->n > 1)
        p->n = half(p->n);
    else if (has_rows && (conv_windows(p) >= filters || !has_filters))
        take_rows(p, half(p->p));
    else if (has_filters)
        p->k = half(filters) * p->groups;
    else
        return false;
    return true;
}

void exp_model_limit(struct exp_model *m, double most_macs)
{
    char *name;

    m->most_macs = most_macs;
    for (size_t i = 0; i < m->n_layers; i++) {
        struct conv_problem *p = &m->layer[i].problem;
        bool is_smaller = false;

        while (conv_macs(p) > most_macs && halve(p))
            is_smaller = true;
        m->n_smaller += is_smaller;
        m->layer[i].given_ns = is_smaller ? 0 : m->layer[i].given_ns;
    }
    if (!m->n_smaller)
        return;
    name = exp_format("%s_to_%.4gM", m->name, most_macs / 1e6);
    free(m->name);
    m->name = name;
}

void exp_model_say_smaller(const struct exp_model *m, char *text, size_t bytes)
{
    text[0] = '\0';
    if (m->n_smaller)
        exp_say(text, bytes,
                "%zu of %zu layers are smaller ones of the same kind, with fewer images, rows or filters: at most %.4g "
                "million multiply-adds were asked for. Their counts and times are their own, not those of the whole "
                "layers.",
                m->n_smaller, m->n_layers, m->most_macs / 1e6);
}

int exp_model_set_type(struct exp_model *m, enum conv_type type, struct exp_why *why)
{
    char *name, reason[256];

    if (type == CONV_F32)
        return 0;
    for (size_t i = 0; i < m->n_layers; i++) {
        struct conv_problem *p = &m->layer[i].problem;

        p->type = type;
        m->layer[i].given_ns = 0;
        if (conv_problem_finish(p, SIM_WHY(reason)))
            return exp_fail(why, -EOVERFLOW, "%s:%u: layer '%s': %s", m->path, m->layer[i].line, m->layer[i].name,
                            reason);
    }
    name = exp_format("%s_%s", m->name, conv_types[type].name);
    free(m->name);
    m->name = name;
    return 0;
}
