#include "experiments/run/exp_counted.h"

#include <errno.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/exp_error.h"
#include "experiments/report/exp_agreement_report.h"

/* Takes a point per case: what was counted, and what the experiment's own replay counted. */
static int take_points(struct exp_points *points, const struct exp_experiment *e)
{
    for (size_t i = 0; i < e->n_cases; i++) {
        const struct exp_case *c = &e->cases[i];
        struct exp_point *point = exp_points_add(points, e, c);

        if (!point)
            return -ENOMEM;
        for (size_t q = 0; q < ctr_n_quantities(); q++) {
            const enum exp_count count = EXP_COMMON + (enum exp_count)q;

            point->why_not_counted[q] = exp_case_why_no_count(c, count);
            if (!point->why_not_counted[q])
                point->measured[q] = c->measured.count[count];
        }
        exp_point_simulate(point, e->setup, c);
    }
    return 0;
}

int exp_counted_write(const struct exp_counts_source *s, const char *host, const struct exp_outdir *dir, FILE *out,
                      struct exp_why *why)
{
    struct exp_points points = { 0 };
    char what[512];
    const struct exp_agreement_report report = { &points, (const char *const[]){ s->e->model->name }, 1, what };
    int err;

    if (!exp_counts_exist(s->e))
        return 0;
    exp_say(what, sizeof what, "counted on %s; replayed on machine %s, %s caches", host, s->e->setup->machine.name,
            exp_cache_state_name(s->cache));
    err = exp_counts_write(s, dir, why);
    if (!err && take_points(&points, s->e))
        err = exp_fail(why, -ENOMEM, "out of memory");
    if (!err)
        err = exp_agreement_write(&report, dir, why);
    if (!err && exp_agreement_print(&report, out))
        err = exp_fail(why, -ENOMEM, "out of memory");
    exp_points_release(&points);
    return err;
}

const char *const *exp_counted_files(void)
{
    static const char *const files[] = { "simulated_vs_measured.csv", "agreement.csv", "plans.csv", "counts.csv",
                                         NULL };

    return files;
}
