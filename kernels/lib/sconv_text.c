/* Texts: the version; plans as one line for people and as JSON for compilers. */
#include "kernels/lib/sconv_inside.h"

#include <errno.h>
#include <stdio.h>

#include "kernels/emit/plan_json.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/wisdom/wisdom.h"

const char *sconv_version(void)
{
    return wisdom_version();
}

static int describe_cut(const struct conv_plan *p, char *text, size_t bytes)
{
    const struct csa_tiling *t = &p->sconv.tiling;

    if (p->algorithm == CONV_DIRECT)
        return snprintf(text, bytes, "schedule=direct ukr=%s rows=%zu groups=%zu windows=in_place",
                        conv_plan_kernel_name(p), p->direct.rows, p->direct.groups);
    if (p->algorithm == CONV_WINOGRAD)
        return snprintf(text, bytes, "schedule=winograd ukr=%s m=%zu block=%zu windows=transformed",
                        conv_plan_kernel_name(p), p->winograd.kernel->m, p->winograd.block);
    return snprintf(text, bytes,
                    "schedule=%s ukr=%s nc=%zu k2=%zu k3=%zu channel_sets=%zu in_tiles=%zu f_tiles=%zu windows=%s",
                    csa_schedule_name(t->schedule), conv_plan_kernel_name(p), t->n_c, t->k2, t->k3, t->channel_sets,
                    t->in_tiles, t->f_tiles, p->sconv.options.reads_in_place ? "in_place" : "packed");
}

size_t sconv_plan_describe(const struct sconv_plan *plan, char *text, size_t text_bytes)
{
    static const char *const activation[CONV_N_ACTIVATIONS] = { "", " relu", " relu6" };
    char cut[256];
    int n;

    if (!plan || (text_bytes && !text))
        return 0;
    n = describe_cut(&plan->plan, cut, sizeof cut);
    if (n < 0)
        return 0;
    n = snprintf(text, text_bytes, "%s threads=%u over=%s%s%s%s%s%s", cut, plan->n_threads,
                 conv_share_axis_name(plan->axis), conv_plan_skips_padding(&plan->plan) ? " padding=skipped" : "",
                 plan->bias ? " bias" : "", plan->adds_residual ? " residual" : "", activation[plan->activation],
                 plan->is_assumed ? " caches=assumed" : "");
    return n < 0 ? 0 : (size_t)n;
}

static int plan_as_published(struct conv_plan *plan, const struct conv_problem *p, const struct csa_caches *caches)
{
    const struct conv_ukr *ukr = conv_ukr_best();
    struct csa_tiling tiling[CSA_N_SCHEDULES];

    for (int s = 0; s < CSA_N_SCHEDULES; s++)
        tiling[s] = csa_analyse(p, caches, ukr->n_win, ukr->n_f, (enum csa_schedule)s);
    return conv_plan_sconv(plan, p, ukr, &tiling[csa_choose(tiling)], false);
}

static int write_plan(const struct conv_problem *p, const struct sconv_machine *machine, enum sconv_planner planner,
                      char *text, size_t text_bytes, size_t *length)
{
    struct conv_layer_plan n = { .layer = "conv", .machine = machine->m.name };
    int err;

    n.caches = csa_caches_of(&machine->m, csa_default_share);
    if (planner == SCONV_TUNED)
        err = conv_choose_plan(&n.plan, p, machine);
    else
        err = plan_as_published(&n.plan, p, &n.caches);
    if (err)
        return err;
    if (n.plan.algorithm != CONV_SCONV)
        return -ENOTSUP;
    *length = conv_plans_write(&n, 1, text, text_bytes);
    return *length < text_bytes ? 0 : -ENOBUFS;
}

static int write_plan_for_host(const struct conv_problem *p, enum sconv_planner planner, char *text, size_t text_bytes,
                               size_t *length)
{
    struct sconv_machine *host;
    int err = sconv_machine_create(&host, NULL, NULL, 0);

    if (err)
        return err;
    err = write_plan(p, host, planner, text, text_bytes, length);
    sconv_machine_free(host);
    return err;
}

int sconv_plan_json(const struct sconv_shape *shape, const struct sconv_machine *machine, enum sconv_planner planner,
                    char *text, size_t text_bytes, size_t *length)
{
    const struct sim_why none = { NULL, 0 };
    size_t ignored, *n = length ? length : &ignored;
    struct conv_problem p;
    int err;

    *n = 0;
    if (text_bytes && text)
        *text = '\0';
    if (!shape || (text_bytes && !text) || (planner != SCONV_PAPER && planner != SCONV_TUNED))
        return -EINVAL;
    err = conv_read_shape(&p, shape, none);
    if (err)
        return err;
    err = machine ? write_plan(&p, machine, planner, text, text_bytes, n)
                  : write_plan_for_host(&p, planner, text, text_bytes, n);
    if (err && text_bytes)
        *text = '\0';
    return err;
}
