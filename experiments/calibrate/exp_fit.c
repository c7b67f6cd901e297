#include "experiments/calibrate/exp_fit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/prefetch/prefetch.h"

static const uint8_t values[] = { 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 31, 32, 36, 40, 48, 64 };

enum { N_VALUES = sizeof values };

#define LEAST_GAIN 0.0005 /* of a step; less is noise: the same counts, made again, differ by 1 to 4 % */

struct climb {
    const struct exp_fit *f;
    struct sim_machine *m;
    double score;
    int err;
};

static double score_of(struct climb *s)
{
    double score = 1;

    if (!s->err)
        s->err = s->f->score(s->f->recorded, s->m, &score);
    return s->err ? 1 : score;
}

/* Tries a value; keeps it if the score falls. */
static bool try_value(struct climb *s, const struct sim_prefetch_param *p, struct sim_prefetch *f, uint8_t value)
{
    uint8_t *at = (uint8_t *)f + p->offset, before = *at;
    double score;

    if (value == before || s->err)
        return false;
    *at = value;
    if (!sim_prefetch_param_fits(p, f)) {
        *at = before;
        return false;
    }
    score = score_of(s);
    if (score > s->score - LEAST_GAIN) {
        *at = before;
        return false;
    }
    s->score = score;
    if (s->f->log && p->word)
        fprintf(s->f->log, "%s %s=%s: %.4f\n", sim_prefetchers[f->kind]->name, p->name, p->word[value - 1], score);
    else if (s->f->log)
        fprintf(s->f->log, "%s %s=%u: %.4f\n", sim_prefetchers[f->kind]->name, p->name, (unsigned)value, score);
    return true;
}

/* Goes on in one direction of the list as long as that helps. */
static bool climb_number(struct climb *s, const struct sim_prefetch_param *p, struct sim_prefetch *f, int direction)
{
    uint8_t now = *sim_prefetch_value(p, f);
    int i = direction > 0 ? 0 : N_VALUES - 1;
    bool moved = false;

    while (i >= 0 && i < N_VALUES && (direction > 0 ? values[i] <= now : values[i] >= now))
        i += direction;
    for (; i >= 0 && i < N_VALUES && try_value(s, p, f, values[i]); i += direction)
        moved = true;
    return moved;
}

static bool climb_param(struct climb *s, const struct sim_prefetch_param *p, struct sim_prefetch *f)
{
    bool moved = false;

    if (!(sim_prefetchers[f->kind]->takes & s->f->params & p->bit))
        return false;
    for (uint8_t i = 1; p->word && i <= p->max; i++)
        moved = try_value(s, p, f, i) || moved;
    return p->word ? moved : climb_number(s, p, f, 1) || climb_number(s, p, f, -1);
}

static bool sweep(struct climb *s)
{
    bool moved = false;

    for (size_t k = 0; k < s->m->n_levels; k++) {
        for (size_t i = 0; i < SIM_MAX_PREFETCHERS && s->m->level[k].prefetch[i].kind; i++) {
            for (const struct sim_prefetch_param *p = sim_prefetch_params; p->name; p++)
                moved = climb_param(s, p, &s->m->level[k].prefetch[i]) || moved;
        }
    }
    return moved;
}

int exp_fit_run(const struct exp_fit *f, struct sim_machine *m, double *score)
{
    struct climb s = { .f = f, .m = m };

    for (size_t k = 0; k < m->n_levels; k++) {
        for (size_t i = 0; i < SIM_MAX_PREFETCHERS && m->level[k].prefetch[i].kind; i++)
            m->level[k].prefetch[i] = sim_prefetch_resolve(&m->level[k].prefetch[i]);
    }
    s.score = score_of(&s);
    for (unsigned i = 0; i < f->max_sweeps && !s.err && sweep(&s); i++)
        ;
    *score = s.score;
    return s.err;
}
