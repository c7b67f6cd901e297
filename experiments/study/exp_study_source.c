#include "experiments/study/exp_study_source.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_machine.h"

#define REFERENCE "results/reference/"

static const struct recorded {
    const char *name, *other;
} recorded[] = { { "zen3", "fastest run" }, { "spr", "median run" } };

enum { N_RECORDED = sizeof recorded / sizeof recorded[0] };

static const char *const schedule_algos[CSA_N_SCHEDULES] = { [CSA_IS] = "sconv_is", [CSA_WS] = "sconv_ws" };

const char *exp_study_recorded(size_t i)
{
    return i < N_RECORDED ? recorded[i].name : NULL;
}

const struct exp_study_time *exp_study_schedule_time(const struct exp_study_point *p, enum csa_schedule schedule)
{
    return &p->time[exp_study_algo(schedule_algos[schedule])];
}

struct csa_tiling exp_study_schedule_tiling(const struct exp_study_point *p, enum csa_schedule schedule)
{
    return exp_study_tiling(p, exp_study_algo(schedule_algos[schedule]));
}

bool exp_study_decides(const struct exp_study_point *p)
{
    const struct exp_study_time *is = exp_study_schedule_time(p, CSA_IS), *ws = exp_study_schedule_time(p, CSA_WS);

    return (is->cycles < ws->cycles && is->other_cycles < ws->other_cycles) ||
           (is->cycles > ws->cycles && is->other_cycles > ws->other_cycles);
}

static const char *other_of(const char *name)
{
    for (size_t i = 0; i < N_RECORDED; i++) {
        if (recorded[i].name == name)
            return recorded[i].other;
    }
    return "";
}

int exp_study_source_read(struct exp_study_source *s, const char *name, const struct exp_models *models,
                          struct exp_why *why)
{
    char *path = exp_format(REFERENCE "%s/times/times.csv", name);
    int err = path ? exp_machine_find(&s->machine, name, "results", why) : exp_fail(why, -ENOMEM, "out of memory");

    s->name = name;
    s->other = other_of(name);
    s->model = csa2_machine_of(&s->machine);
    if (!err)
        err = exp_study_times_read(&s->times, path, models, s->machine.issue.clock_ghz, why);
    free(path);
    return err ? err : exp_study_source_finish(s, why);
}

static void fill_view(const struct exp_study_source *s, const struct exp_study_point *p, struct exp_study_view *view)
{
    for (int i = 0; i < CSA_N_SCHEDULES; i++) {
        enum csa_schedule schedule = (enum csa_schedule)i;
        struct csa_tiling t = exp_study_schedule_tiling(p, schedule);
        const struct conv_ukr *ukr = exp_study_schedule_time(p, schedule)->ukr;

        view[i].csa_cycles = csa_analyse(&p->layer->problem, &s->caches, t.n_win, t.n_f, schedule).total_cycles;
        view[i].csa2_cycles = csa2_predict(&p->layer->problem, &t, ukr, &s->model, p->state);
        view[i].lines = view[i].sim_cycles = (double)NAN;
    }
}

/*
 * Makes the sample of a point's schedule. One micro-kernel ran: its loads are as many per multiply-add in all layers, and
 * their cost cannot be told from that of the multiply-adds, which is what it is counted as.
 */
static struct exp_study_sample sample_of(const struct exp_study_source *s, const struct exp_study_point *p,
                                         enum csa_schedule schedule)
{
    struct csa_tiling t = exp_study_schedule_tiling(p, schedule);
    const struct exp_study_time *time = exp_study_schedule_time(p, schedule);
    struct csa2_work work = csa2_count(&p->layer->problem, &t, time->ukr, &s->model, p->state);
    struct exp_study_sample sample = { .cycles = time->cycles, .weight = p->weight };

    for (size_t i = 0; i < CSA2_N_TERMS; i++)
        sample.amount[i] = i == CSA2_LOADS ? 0 : work.amount[i];
    return sample;
}

static int fit(struct exp_study_source *s, struct exp_why *why)
{
    struct exp_study_sample *sample = calloc(CSA_N_SCHEDULES * s->times.n + 1, sizeof *sample);
    size_t n = 0;

    if (!sample)
        return exp_fail(why, -ENOMEM, "out of memory for the fit");
    for (size_t i = 0; i < s->times.n; i++) {
        const struct exp_study_point *p = &s->times.point[i];

        if (!p->is_training || !exp_study_has_schedules(p))
            continue;
        sample[n++] = sample_of(s, p, CSA_IS);
        sample[n++] = sample_of(s, p, CSA_WS);
    }
    exp_study_fit(sample, n, CSA2_N_TERMS, s->fitted);
    free(sample);
    return 0;
}

int exp_study_source_finish(struct exp_study_source *s, struct exp_why *why)
{
    s->caches = csa_caches_of(&s->machine, csa_default_share);
    s->view = calloc(s->times.n + 1, sizeof *s->view);
    if (!s->view)
        return exp_fail(why, -ENOMEM, "out of memory for what models say");
    for (size_t i = 0; i < s->times.n; i++) {
        if (exp_study_has_schedules(&s->times.point[i]))
            fill_view(s, &s->times.point[i], s->view[i]);
    }
    return fit(s, why);
}

void exp_study_source_release(struct exp_study_source *s)
{
    exp_study_times_release(&s->times);
    free(s->view);
    *s = (struct exp_study_source){ 0 };
}
