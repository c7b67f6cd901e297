#include "experiments/study/exp_study_base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "kernels/blas/gemm_core.h"

/* Blocks of the reduction where the machine's OpenBLAS core is not on record. */
static const double usual_block = 384;

static double block_of(const struct exp_study_source *s)
{
    const struct conv_gemm_core *core = conv_gemm_core_find(s->machine.gemm_core);

    return core ? (double)core->q : usual_block;
}

double exp_study_lanes(const struct exp_study_source *s)
{
    return s->machine.issue.mac_columns > 0 ? (double)s->machine.issue.mac_columns : 1;
}

void exp_study_base_count(const struct exp_study_source *s, const struct csa2_machine *m, const struct conv_problem *p,
                          enum csa2_state state, double *amount)
{
    const double element = sizeof(float), line = m->line_bytes, times = (double)(p->n * p->groups);
    double windows = (double)conv_windows(p), reduction = (double)conv_reduction(p);
    double filters = (double)conv_group_filters(p), matrix = windows * reduction;
    double lowered = conv_is_pointwise(p) ? 0 : matrix;
    double input = (double)(conv_group_channels(p) * p->h * p->w);
    double tensors = input + filters * reduction + filters * windows;
    double all_bytes = (tensors + lowered) * element;
    double far = state == CSA2_COLD ? 1 : csa2_share_beyond(all_bytes, m->l3_bytes);
    double beyond_l2 = csa2_share_beyond(matrix * element, m->l2_bytes);
    double beyond_l3 = csa2_share_beyond(matrix * element, m->l3_bytes);
    double near = state == CSA2_COLD ? 0 : csa2_share_beyond(all_bytes, m->l2_bytes) - far;

    amount[EXP_STUDY_BASE_ISSUE] = times * matrix * filters / exp_study_lanes(s) / m->slots_per_cycle;
    amount[EXP_STUDY_BASE_LOWERED] = times * lowered;
    amount[EXP_STUDY_BASE_PACKED] = times * (matrix + filters * reduction);
    amount[EXP_STUDY_BASE_OUTPUT] = times * windows * filters * ceil(reduction / block_of(s));
    amount[EXP_STUDY_BASE_L3_LINES] =
        times * element / line * (2 * lowered * (beyond_l2 - beyond_l3) + tensors * fmax(0, near));
    amount[EXP_STUDY_BASE_MEMORY_LINES] =
        times * element / line * (tensors * far + lowered * (far * (1 - beyond_l3) + 2 * beyond_l3));
    amount[EXP_STUDY_BASE_GROUPS] = times;
}

double exp_study_base_cycles(const struct exp_study_base *b, const double *amount)
{
    double sum = 0;

    for (size_t i = 0; i < EXP_STUDY_N_BASE_TERMS; i++)
        sum += amount[i] * b->cost[i];
    return sum;
}

int exp_study_base_fit(struct exp_study_base *b, const struct exp_study_source *s, struct exp_why *why)
{
    struct exp_study_sample *sample = calloc(s->times.n + 1, sizeof *sample);
    size_t n = 0, base = exp_study_algo("base");

    if (!sample)
        return exp_fail(why, -ENOMEM, "out of memory for the fit");
    for (size_t i = 0; i < s->times.n; i++) {
        const struct exp_study_point *p = &s->times.point[i];

        if (!p->is_training || isnan(p->time[base].cycles))
            continue;
        exp_study_base_count(s, &s->model, &p->layer->problem, p->state, sample[n].amount);
        sample[n].cycles = p->time[base].cycles;
        sample[n++].weight = p->weight;
    }
    exp_study_fit(sample, n, EXP_STUDY_N_BASE_TERMS, b->cost);
    free(sample);
    return 0;
}
