#include "experiments/stack/exp_stack_fit.h"

#include <math.h>

enum { N_SWEEPS = 5000 };

/* Normal equations, each unknown in a unit of its own, so that all matter alike. */
struct equations {
    double a[CONV_N_WORKS][CONV_N_WORKS], b[CONV_N_WORKS];
    double unit[CONV_N_WORKS];
};

static double cost(const double each[CONV_N_WORKS], const double work[CONV_N_WORKS])
{
    double sum = 0;

    for (unsigned w = 0; w < CONV_N_WORKS; w++)
        sum += each[w] * work[w];
    return sum;
}

double exp_stack_loads(const struct conv_stack *stack, const struct exp_stack_sample *s, unsigned phase)
{
    return cost(stack->phase[phase].loads, s->work[phase]);
}

double exp_stack_stores(const struct conv_stack *stack, const struct exp_stack_sample *s, unsigned phase)
{
    return cost(stack->phase[phase].stores, s->work[phase]);
}

struct exp_stack_error exp_stack_compare(const struct conv_stack *stack, const struct exp_stack_sample *s)
{
    struct exp_stack_error e = { 0 };

    for (unsigned p = 0; p < CONV_N_PHASES; p++) {
        const double *work = s->work[p];

        e.all_loads += work[CONV_WORK_LOAD] + work[CONV_WORK_PLAIN_LOAD] + s->loads[p];
        e.all_stores += work[CONV_WORK_STORE] + work[CONV_WORK_PLAIN_STORE] + s->stores[p];
        e.loads += exp_stack_loads(stack, s, p) - s->loads[p];
        e.stores += exp_stack_stores(stack, s, p) - s->stores[p];
    }
    return e;
}

static void set_units(struct equations *q, const struct exp_stack_sample *const sample[], size_t n, unsigned phase)
{
    for (unsigned w = 0; w < CONV_N_WORKS; w++) {
        q->unit[w] = 0;
        for (size_t i = 0; i < n; i++)
            q->unit[w] = fmax(q->unit[w], sample[i]->work[phase][w]);
    }
}

/* Adds a sample: so much work was `counted`, errors weigh as shares of `all`. */
static void add_sample(struct equations *q, const double work[CONV_N_WORKS], double counted, double all)
{
    for (unsigned i = 0; i < CONV_N_WORKS; i++) {
        double x = q->unit[i] > 0 ? work[i] / q->unit[i] / all : 0;

        q->b[i] += x * counted / all;
        for (unsigned j = 0; j < CONV_N_WORKS; j++)
            q->a[i][j] += q->unit[j] > 0 ? x * work[j] / q->unit[j] / all : 0;
    }
}

/* Each unknown in turn takes its best value that is not negative. */
static void solve(const struct equations *q, double x[CONV_N_WORKS])
{
    for (unsigned i = 0; i < CONV_N_WORKS; i++)
        x[i] = 0;
    for (int sweep = 0; sweep < N_SWEEPS; sweep++) {
        for (unsigned i = 0; i < CONV_N_WORKS; i++) {
            if (q->a[i][i] > 0)
                x[i] = fmax(0, x[i] + (q->b[i] - cost(q->a[i], x)) / q->a[i][i]);
        }
    }
    for (unsigned i = 0; i < CONV_N_WORKS; i++)
        x[i] = q->unit[i] > 0 ? x[i] / q->unit[i] : 0;
}

static void fit_phase(struct conv_stack_phase *fitted, const struct exp_stack_sample *const sample[], size_t n,
                      unsigned phase)
{
    struct equations loads = { 0 }, stores = { 0 };
    double lines = 0, n_used = 0;

    set_units(&loads, sample, n, phase);
    set_units(&stores, sample, n, phase);
    for (size_t i = 0; i < n; i++) {
        const struct exp_stack_error all = exp_stack_compare(&(struct conv_stack){ 0 }, sample[i]);

        if (sample[i]->work[phase][CONV_WORK_STEP] <= 0)
            continue;
        add_sample(&loads, sample[i]->work[phase], sample[i]->loads[phase], all.all_loads);
        add_sample(&stores, sample[i]->work[phase], sample[i]->stores[phase], all.all_stores);
        lines += sample[i]->lines[phase];
        n_used++;
    }
    solve(&loads, fitted->loads);
    solve(&stores, fitted->stores);
    fitted->lines = n_used > 0 ? (uint32_t)fmax(1, round(lines / n_used)) : 1;
}

void exp_stack_fit(struct conv_stack *stack, const struct exp_stack_sample *const sample[], size_t n)
{
    for (unsigned phase = 0; phase < CONV_N_PHASES; phase++)
        fit_phase(&stack->phase[phase], sample, n, phase);
}
