#include "kernels/wisdom/choice.h"

#include <assert.h>
#include <math.h>

#include "kernels/csa/csa2.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/slots.h"

static const double most_slots = 1.5;

struct conv_choice conv_choice_of(const struct conv_plan *plan)
{
    const struct csa_tiling *t = &plan->sconv.tiling;

    assert(plan->algorithm == CONV_SCONV);
    return (struct conv_choice){
        .ukr = plan->ukr,
        .reads_in_place = plan->sconv.options.reads_in_place,
        .schedule = t->schedule,
        .n_c = t->n_c,
        .k2 = t->k2,
        .k3 = t->k3,
    };
}

bool conv_choice_equal(const struct conv_choice *a, const struct conv_choice *b)
{
    return a->ukr == b->ukr && a->reads_in_place == b->reads_in_place && a->schedule == b->schedule &&
           a->n_c == b->n_c && a->k2 == b->k2 && a->k3 == b->k3;
}

int conv_choice_plan(const struct conv_choice *c, const struct conv_problem *p, bool packs_filters,
                     struct conv_plan *plan)
{
    const struct csa_tiling t = csa2_tiling(p, c->ukr, c->schedule, c->n_c, c->k2, c->k3);
    const struct conv_sconv_options options = {
        .packs_filters = packs_filters,
        .reads_in_place = c->reads_in_place,
        .prefetches = true,
        .skips_padding = true,
    };

    assert(c->ukr);
    return conv_plan_sconv_with(plan, p, c->ukr, &t, &options);
}

struct list {
    const struct conv_problem *p;
    const struct csa_caches *caches;
    size_t n;
    struct conv_choice *choice;
};

/* Adds a choice as its plan has it, if the plan is new. */
static void add(struct list *l, const struct conv_choice *c)
{
    struct conv_plan plan;
    struct conv_choice made;

    if (l->n == CONV_MAX_CHOICES || conv_choice_plan(c, l->p, false, &plan))
        return;
    made = conv_choice_of(&plan);
    for (size_t i = 0; i < l->n; i++) {
        if (conv_choice_equal(&l->choice[i], &made))
            return;
    }
    l->choice[l->n++] = made;
}

static void add_tilings(struct list *l, const struct conv_ukr *u, bool reads_in_place)
{
    static struct csa_tiling (*const depths[])(const struct conv_problem *, const struct csa_caches *, size_t, size_t,
                                               enum csa_schedule) = { csa_analyse_in_l1, csa_analyse_deep,
                                                                      csa_analyse_in_place };

    for (size_t d = 0; d < sizeof depths / sizeof depths[0]; d++) {
        for (int s = 0; s < CSA_N_SCHEDULES; s++) {
            const struct csa_tiling t = depths[d](l->p, l->caches, u->n_win, u->n_f, (enum csa_schedule)s);

            add(l, &(struct conv_choice){ u, reads_in_place, t.schedule, t.n_c, t.k2, t.k3 });
        }
    }
}

static double fewest_slots(const struct conv_problem *p, enum cpu_isa isa)
{
    double fewest = (double)INFINITY;

    for (size_t i = 0; i < conv_ukr_count(); i++) {
        if (conv_ukr_at(i)->isa == isa)
            fewest = fmin(fewest, conv_ukr_slots(conv_ukr_at(i), p));
    }
    return fewest;
}

size_t conv_choices(const struct conv_problem *p, const struct csa_caches *caches, enum cpu_isa isa,
                    struct conv_choice *choice)
{
    struct list l = { .p = p, .caches = caches, .choice = choice };
    const double most = fewest_slots(p, isa) * most_slots;

    for (size_t i = 0; i < conv_ukr_count(); i++) {
        const struct conv_ukr *u = conv_ukr_at(i);

        if (u->isa != isa || !conv_ukr_runs(u) || conv_ukr_slots(u, p) > most)
            continue;
        add_tilings(&l, u, true);
        add_tilings(&l, u, false);
    }
    return l.n;
}
