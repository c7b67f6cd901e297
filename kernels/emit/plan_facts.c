#include "kernels/emit/plan_facts.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "sim/base/why.h"
#include "kernels/shape/sizes.h"
#include "kernels/ukr/dispatch.h"

#define IS_DECIDED 1
#define IS_DERIVED 0

static const struct conv_plan_key keys[] = {
#define KEY(section_, key_, type_, role_, value_, meaning_)                                                            \
    {                                                                                                                  \
        #section_,  #key_,                                                                                             \
        meaning_,   CONV_FACT_IS_##type_,                                                                              \
        IS_##role_, offsetof(struct conv_plan_facts, section_##_##key_)                                                \
    },
#include "kernels/emit/plan_keys.def"
};

size_t conv_plan_key_count(void)
{
    return sizeof keys / sizeof keys[0];
}

const struct conv_plan_key *conv_plan_key_at(size_t i)
{
    assert(i < conv_plan_key_count());
    return &keys[i];
}

/* ---- from a plan to facts ---- */

static const char *input_layout(const struct conv_sconv_options *o)
{
    if (o->reads_in_place)
        return "";
    return o->skips_padding ? "[slot][k_h][channel][k_w][window]" : "[slot][channel][k_h][k_w][window]";
}

static const char *filter_layout(const struct conv_sconv_options *o)
{
    return o->skips_padding ? "[group][channel set][filter tile][k_h][channel][k_w][filter]"
                            : "[group][channel set][filter tile][channel][k_h][k_w][filter]";
}

struct conv_plan_facts conv_plan_facts_of(const struct conv_plan *plan, const struct csa_caches *caches,
                                          const char *layer, const char *machine)
{
    const struct csa_tiling *t = &plan->sconv.tiling;
    const struct conv_sconv_options *o = &plan->sconv.options;
    const struct csa_lines lines = csa_lines_of(&plan->problem, caches, t);
    const unsigned fits = csa_fits_of(&plan->problem, caches, t);
    const size_t depth = t->n_c * plan->problem.r * plan->problem.s;

    assert(plan->algorithm == CONV_SCONV && plan->problem.type == CONV_F32);
    return (struct conv_plan_facts){
        .problem = plan->problem,
#define KEY(section, key, type, role, value, meaning) .section##_##key = value,
#include "kernels/emit/plan_keys.def"
    };
}

struct csa_caches conv_plan_facts_caches(const struct conv_plan_facts *f)
{
    return (struct csa_caches){
        .l1_bytes = f->machine_l1_bytes,
        .l2_bytes = f->machine_l2_bytes,
        .l3_bytes = f->machine_l3_bytes,
        .line_bytes = f->machine_line_bytes,
        .l2_cycles = f->machine_l2_cycles,
        .l3_cycles = f->machine_l3_cycles,
        .dram_cycles = f->machine_dram_cycles,
    };
}

/* ---- and back ---- */

static int read_schedule(const struct conv_plan_facts *f, enum csa_schedule *schedule, struct sim_why why)
{
    for (int i = 0; i < CSA_N_SCHEDULES; i++) {
        *schedule = (enum csa_schedule)i;
        if (!strcmp(f->tiling_schedule, csa_schedule_name(*schedule)))
            return 0;
    }
    return sim_fail(why, -EINVAL, "tiling.schedule is '%s', must be is or ws", f->tiling_schedule);
}

struct bound {
    const char *key;
    size_t value, most;
    const char *what;
};

static int check_bounds(const struct bound *b, size_t n, struct sim_why why)
{
    for (size_t i = 0; i < n; i++) {
        if (b[i].value < 1 || b[i].value > b[i].most)
            return sim_fail(why, -EINVAL, "tiling.%s is %zu, must be from 1 to %zu: %s", b[i].key, b[i].value,
                            b[i].most, b[i].what);
    }
    return 0;
}

static int read_tiling(const struct conv_plan_facts *f, const struct conv_ukr *ukr, struct csa_tiling *t,
                       struct sim_why why)
{
    const struct conv_problem *p = &f->problem;
    int err = read_schedule(f, &t->schedule, why);

    t->n_win = ukr->n_win;
    t->n_f = ukr->n_f;
    t->n_c = f->tiling_n_c;
    t->k2 = f->tiling_k2;
    t->k3 = f->tiling_k3;
    t->in_tiles = ceil_div(conv_windows(p), ukr->n_win);
    t->f_tiles = ceil_div(conv_group_filters(p), ukr->n_f);
    if (!err) {
        bool is = t->schedule == CSA_IS;
        const struct bound bounds[] = {
            { "n_c", t->n_c, conv_group_channels(p), "a group's channels" },
            { "k2", t->k2, is ? t->f_tiles : t->in_tiles, is ? "tiles of filters" : "tiles of the input" },
            { "k3", t->k3, is ? t->in_tiles : t->f_tiles, is ? "tiles of the input" : "tiles of filters" },
        };

        err = check_bounds(bounds, sizeof bounds / sizeof bounds[0], why);
    }
    if (!err)
        t->channel_sets = ceil_div(conv_group_channels(p), t->n_c);
    return err;
}

static int read_options(const struct conv_plan_facts *f, struct conv_sconv_options *o, struct sim_why why)
{
    *o = (struct conv_sconv_options){
        .packs_filters = f->options_packs_filters,
        .reads_in_place = f->options_reads_in_place,
        .prefetches = f->options_prefetches,
        .skips_padding = f->options_skips_padding,
        .pads_first = f->options_pads_first,
    };
    if (!o->pads_first || !(o->reads_in_place || o->prefetches || o->skips_padding))
        return 0;
    return sim_fail(why, -EINVAL,
                    "options.pads_first is true, which excludes reads_in_place, prefetches and "
                    "skips_padding: set it to false, or those");
}

int conv_plan_of_facts(struct conv_plan *plan, const struct conv_plan_facts *f, const struct conv_ukr *other,
                       struct sim_why why)
{
    const bool is_other = other && !strcmp(f->micro_kernel_name, other->name);
    const struct conv_ukr *ukr = is_other ? other : conv_ukr_find(f->micro_kernel_name);
    struct conv_sconv_options options;
    struct csa_tiling tiling = { 0 };
    struct csa_lines lines;
    int err;

    assert(f->micro_kernel_name && f->tiling_schedule);
    if (!ukr)
        return sim_fail(why, -EINVAL, "micro_kernel.name is '%s', which is no micro-kernel of this build",
                        f->micro_kernel_name);
    err = read_tiling(f, ukr, &tiling, why);
    if (!err)
        err = read_options(f, &options, why);
    if (err)
        return err;
    lines = csa_lines_of(&f->problem, &(struct csa_caches){ .line_bytes = f->machine_line_bytes }, &tiling);
    tiling.dram_lines = lines.cold + lines.reloads;
    tiling.l3_lines = lines.l3;
    tiling.l2_lines = lines.l2;
    tiling.total_cycles = csa_cycles_of(&lines, &(struct csa_caches){ .l2_cycles = f->machine_l2_cycles,
                                                                      .l3_cycles = f->machine_l3_cycles,
                                                                      .dram_cycles = f->machine_dram_cycles });
    err = conv_plan_sconv_with(plan, &f->problem, ukr, &tiling, &options);
    return err ? sim_fail(why, err, "the buffers of these tiles exceed the address space") : 0;
}
