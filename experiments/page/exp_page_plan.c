#include "experiments/page/exp_page_plan.h"

#include <math.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_algo.h"
#include "kernels/blas/blas_ukr.h"
#include "kernels/ukr/dispatch.h"

static bool read_size(const struct exp_page_run *r, size_t row, const char *column, size_t *size)
{
    double value = exp_page_csv_number(&r->layers, row, column);

    *size = 0;
    if (isnan(value) || value < 0 || value > 1e15)
        return false;
    *size = (size_t)value;
    return true;
}

static bool read_shape(struct conv_problem *p, const struct exp_page_run *r, size_t row)
{
    char ignored[256];

    for (size_t i = 0; i < CONV_N_FIELDS; i++) {
        size_t value;

        if (!read_size(r, row, conv_fields[i].name, &value))
            return false;
        conv_field_set(p, i, value);
    }
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

static bool read_tiling(struct exp_page_plan *plan, const struct exp_page_run *r, size_t row)
{
    const struct exp_algo *a = exp_algo_find(exp_page_csv_cell(&r->layers, row, "algo"));
    struct csa_tiling *t = &plan->tiling;

    if (!a || a->when != EXP_ALGO_MEMBER || strcmp(exp_page_csv_cell(&r->layers, row, "plan_windows"), "packed") != 0)
        return false;
    plan->algo = a->title;
    plan->ukr = exp_page_csv_cell(&r->layers, row, "ukr");
    t->schedule = a->schedule;
    return find_tile(plan->ukr, t) && read_size(r, row, "plan_n_c", &t->n_c) && read_size(r, row, "plan_k2", &t->k2) &&
           read_size(r, row, "plan_k3", &t->k3) && read_size(r, row, "plan_channel_sets", &t->channel_sets) &&
           read_size(r, row, "plan_in_tiles", &t->in_tiles) && read_size(r, row, "plan_f_tiles", &t->f_tiles) &&
           t->n_c && t->k2 && t->k3;
}

bool exp_page_plan_read(struct exp_page_plan *plan, const struct exp_page_run *r, size_t layer)
{
    const struct exp_page_layer *l = &r->layer[layer];
    bool is_chosen = false;

    *plan = (struct exp_page_plan){ 0 };
    if (!read_shape(&plan->problem, r, l->first))
        return false;
    for (size_t row = l->first; row < l->first + l->n; row++) {
        if (!is_chosen) {
            plan->has_tiling = read_tiling(plan, r, row) || plan->has_tiling;
            is_chosen = !strcmp(exp_page_csv_cell(&r->layers, row, "chosen"), "1");
        }
        if (!plan->has_gemm)
            plan->has_gemm = read_size(r, row, "plan_p", &plan->p) && read_size(r, row, "plan_q", &plan->q) &&
                             read_size(r, row, "plan_r", &plan->r);
    }
    return true;
}

void exp_page_plan_summary(const struct exp_page_run *r, size_t layer, char *text, size_t bytes)
{
    const size_t first = r->layer[layer].first;
    struct conv_problem p = { 0 };

    *text = '\0';
    if (!read_shape(&p, r, first))
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
