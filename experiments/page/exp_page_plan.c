#include "experiments/page/exp_page_plan.h"

#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/report/exp_layers.h"
#include "experiments/setup/exp_algo.h"
#include "kernels/blas/blas_ukr.h"
#include "kernels/ukr/dispatch.h"

static bool read_shape(struct conv_problem *p, const struct exp_layers_row *row)
{
    char ignored[256];

    *p = row->problem;
    return !conv_problem_finish(p, ignored, sizeof ignored);
}

/* Finds a micro-kernel's tile: one of ours, or an OpenBLAS core's. */
static bool find_tile(const char *name, struct csa_tiling *t)
{
    static const char prefix[] = "openblas_";
    const bool is_openblas = !strncmp(name, prefix, strlen(prefix));
    const struct conv_gemm_core *core = is_openblas ? conv_gemm_core_find(name + strlen(prefix)) : NULL;
    const struct conv_ukr *u = conv_ukr_find(name);
    struct conv_blas_ukr blas;

    if (core) {
        conv_blas_ukr_init(&blas, core, NULL);
        u = &blas.ukr;
    }
    if (!u)
        return false;
    t->n_win = u->n_win;
    t->n_f = u->n_f;
    return true;
}

static bool read_tiling(struct exp_page_plan *plan, const struct exp_layers_row *row)
{
    const struct exp_algo *a = exp_algo_find(row->algo);
    struct csa_tiling t = row->tiling;

    if (!a || a->when != EXP_ALGO_MEMBER || strcmp(row->windows, "packed") != 0 || !find_tile(row->ukr, &t) || !t.n_c ||
        !t.k2 || !t.k3)
        return false;
    t.schedule = a->schedule;
    plan->algo = a->title;
    plan->ukr = row->ukr;
    plan->tiling = t;
    return true;
}

bool exp_page_plan_read(struct exp_page_plan *plan, const struct exp_page_run *r, size_t layer)
{
    const struct exp_page_layer *l = &r->layer[layer];
    const struct exp_layers_row *row = r->layers.row;
    bool is_chosen = false;

    *plan = (struct exp_page_plan){ 0 };
    if (!read_shape(&plan->problem, &row[l->first]))
        return false;
    for (size_t i = l->first; i < l->first + l->n; i++) {
        if (!is_chosen)
            plan->has_tiling = read_tiling(plan, &row[i]) || plan->has_tiling;
        is_chosen = is_chosen || row[i].is_chosen;
        if (!plan->has_gemm && row[i].core.p && row[i].core.q && row[i].core.r) {
            plan->has_gemm = true;
            plan->p = row[i].core.p;
            plan->q = row[i].core.q;
            plan->r = row[i].core.r;
        }
    }
    return true;
}

void exp_page_plan_summary(const struct exp_page_run *r, size_t layer, char *text, size_t bytes)
{
    const struct exp_layers_row *row = r->layers.row;
    struct conv_problem p;

    *text = '\0';
    if (!read_shape(&p, &row[r->layer[layer].first]))
        return;
    exp_say(text, bytes, "%zu to %zu channels, %zu\xc3\x97%zu, filters %zu\xc3\x97%zu", p.c, p.k, p.h, p.w, p.r, p.s);
    if (p.stride_h != 1 || p.stride_w != 1)
        exp_say_more(text, bytes, ", stride %zu", p.stride_h);
    if (p.groups > 1)
        exp_say_more(text, bytes, ", %zu groups", p.groups);
}

struct exp_page_tiles exp_page_plan_tiles(const struct exp_page_plan *plan)
{
    const struct csa_tiling *t = &plan->tiling;
    const double deep = (double)(t->n_c * plan->problem.r * plan->problem.s * sizeof(float));

    return (struct exp_page_tiles){ deep * (double)t->n_win, deep * (double)t->n_f,
                                    (double)(t->n_win * t->n_f * sizeof(float)) };
}
