#include "experiments/show/layers.h"

#include <math.h>
#include <stdio.h>

#include "counters/host/ctr_emulated.h"
#include "experiments/base/cells.h"
#include "sim/analysis/estimate.h"

#define ROW struct exp_layers_row

static const struct rec_field fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(ROW, model) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(ROW, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(ROW, layer) },
#define ALGO(name, ...) " " name
#define GROUP(...)
    { { "algo", "", "one of"
#include "experiments/bench/case/algos.def"
        ,
        "" },
      REC_AT(ROW, algo) },
    { { "chosen", "", "1 for SConv in the schedule that CSA chose for this layer and machine", "predicted" },
      REC_AT(ROW, is_chosen) },
#define FIELD(member, shape_member, name, what, ...) { { name, "", what, "" }, REC_AT(ROW, problem.member) },
#include "kernels/shape/problem_fields.def"
    { { "out_h", "", "output height", "" }, REC_AT(ROW, problem.p) },
    { { "out_w", "", "output width", "" }, REC_AT(ROW, problem.q) },
#define MEASURE(name, unit, meaning, source, ...) { { #name, unit, meaning, source }, REC_VALUE(ROW, of[M_##name]) },
#define RATIO MEASURE
#define TEXT(name, meaning, source, ...) { { name, "", meaning, source }, __VA_ARGS__ },
#include "experiments/bench/measure/measures.def"
};

const struct rec_table exp_layers_table = REC_TABLE("layers.csv", fields, ROW);

/* ---- filling a row ---- */

/* Prints the levels, by the machine file's names, whose equation holds for the plan: "L1+L2". */
static void print_fits(const struct sim_machine *m, unsigned fits, char *text, size_t bytes)
{
    size_t used = 0;

    snprintf(text, bytes, "none");
    for (size_t l = 0; l < EXP_N_NAMED_LEVELS; l++) {
        if (fits & (1u << l))
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? "+" : "", exp_level_name(m, l));
    }
}

static void fill_plan(ROW *row, const struct exp_case *c, const struct sim_machine *m)
{
    const struct conv_gemm_core *core = conv_plan_core(&c->plan);

    row->ukr = conv_plan_kernel_name(&c->plan);
    row->core = core ? core->name : "";
    row->windows = c->algo->is_sconv ? conv_plan_windows_name(&c->plan) : "";
    if (!row->of[M_plan_n_c].why)
        print_fits(m, c->plan.sconv.tiling.fits, row->fits, sizeof row->fits);
}

static void fill_source(ROW *row, const struct exp_report *r, const struct exp_case *c)
{
    const struct exp_measure_info *info = r->info;
    const bool is_base = c->algo == exp_algo_base() && c->plan.algorithm == CONV_GEMM;

    snprintf(row->source, sizeof row->source, "%s%s; time: %s%s; %s caches; counts: %s",
             is_base ? "OpenBLAS core " : "own nest", is_base ? r->e->setup->blas.core : "", r->clock,
             ctr_is_emulated() ? " of an emulator" : "", exp_cache_state_name(r->cache),
             *info->hardware.name   ? info->hardware.name
             : *info->software.name ? info->software.name
                                    : "none");
}

void exp_layers_fill(struct exp_layers_row *row, const struct exp_report *r, const struct exp_case *c)
{
    const struct sim_machine *m = &r->e->setup->machine;

    *row = (ROW){ .model = r->e->model->name,
                  .layer_index = c->layer->index,
                  .layer = c->layer->name,
                  .algo = c->algo->name,
                  .is_chosen = c->is_chosen,
                  .problem = c->layer->problem,
                  .machine = m->name,
                  .type = conv_types[c->layer->problem.type].name,
                  .caches = exp_cache_state_name(r->cache),
                  .observed_source = c->observed.source };
    measure_case(row->of, r, c);
    fill_plan(row, c, m);
    if (!row->of[M_measured_time_ns].why)
        fill_source(row, r, c);
}
