#include "kernels/emit/plan_facts.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernels/shape/sizes.h"
#include "kernels/ukr/dispatch.h"

#define IS_DECIDED 1
#define IS_DERIVED 0

static const struct conv_plan_key keys[] = {
#define KEY(section_, key_, type_, role_, meaning_)                                                                    \
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
    return &keys[i];
}

union conv_fact_place conv_fact_place(struct conv_plan_facts *f, const struct conv_plan_key *k)
{
    void *at = (char *)f + k->offset;

    switch (k->type) {
    case CONV_FACT_IS_TEXT:
        return (union conv_fact_place){ .text = at };
    case CONV_FACT_IS_SIZE:
        return (union conv_fact_place){ .size = at };
    case CONV_FACT_IS_REAL:
        return (union conv_fact_place){ .real = at };
    default:
        return (union conv_fact_place){ .flag = at };
    }
}

/* ---- from a plan to facts ---- */

static void state_machine(struct conv_plan_facts *f, const struct csa_caches *caches, const char *machine)
{
    f->machine_name = machine;
    f->machine_l1_bytes = caches->l1_bytes;
    f->machine_l2_bytes = caches->l2_bytes;
    f->machine_l3_bytes = caches->l3_bytes;
    f->machine_line_bytes = caches->line_bytes;
    f->machine_l2_cycles = caches->l2_cycles;
    f->machine_l3_cycles = caches->l3_cycles;
    f->machine_dram_cycles = caches->dram_cycles;
}

static void state_tiling(struct conv_plan_facts *f, const struct conv_plan *plan, const struct csa_caches *caches)
{
    const struct csa_tiling *t = &plan->sconv.tiling;
    unsigned fits = csa_fits_of(&plan->problem, caches, t);

    f->tiling_schedule = csa_schedule_name(t->schedule);
    f->tiling_n_c = t->n_c;
    f->tiling_k2 = t->k2;
    f->tiling_k3 = t->k3;
    f->tiling_channel_sets = t->channel_sets;
    f->tiling_in_tiles = t->in_tiles;
    f->tiling_f_tiles = t->f_tiles;
    f->tiling_fits_l1 = fits & CSA_FITS_L1;
    f->tiling_fits_l2 = fits & CSA_FITS_L2;
    f->tiling_fits_l3 = fits & CSA_FITS_L3;
}

static void state_options(struct conv_plan_facts *f, const struct conv_sconv_options *o)
{
    f->options_packs_filters = o->packs_filters;
    f->options_reads_in_place = o->reads_in_place;
    f->options_prefetches = o->prefetches;
    f->options_skips_padding = o->skips_padding;
    f->options_pads_first = o->pads_first;
}

static void state_packed(struct conv_plan_facts *f, const struct conv_plan *plan)
{
    const struct csa_tiling *t = &plan->sconv.tiling;
    size_t depth = t->n_c * plan->problem.r * plan->problem.s;
    bool is_packed = !plan->sconv.options.reads_in_place, by_rows = plan->sconv.options.skips_padding;

    f->packed_windows = conv_plan_windows_name(plan);
    f->packed_input_layout = !is_packed ? ""
                             : by_rows  ? "[slot][k_h][channel][k_w][window]"
                                        : "[slot][channel][k_h][k_w][window]";
    f->packed_input_tile_floats = is_packed ? depth * conv_ukr_in_width(plan->ukr, plan->ukr->n_win) : 0;
    f->packed_input_slots = !is_packed ? 0 : t->schedule == CSA_IS ? 1 : t->k2;
    f->packed_input_bytes = plan->layout.bytes[CONV_PACKED_INPUT];
    f->packed_filter_layout = by_rows ? "[group][channel set][filter tile][k_h][channel][k_w][filter]"
                                      : "[group][channel set][filter tile][channel][k_h][k_w][filter]";
    f->packed_filter_tile_floats = depth * plan->ukr->n_f;
    f->packed_filter_bytes = plan->layout.bytes[CONV_PACKED_FILTER];
}

static void state_costs(struct conv_plan_facts *f, const struct conv_plan *plan, const struct csa_caches *caches)
{
    const struct csa_lines lines = csa_lines_of(&plan->problem, caches, &plan->sconv.tiling);

    f->costs_cold_lines = lines.cold;
    f->costs_reload_lines = lines.reloads;
    f->costs_l3_lines = lines.l3;
    f->costs_l2_lines = lines.l2;
    f->costs_cycles = csa_cycles_of(&lines, caches);
}

struct conv_plan_facts conv_plan_facts_of(const struct conv_plan *plan, const struct csa_caches *caches,
                                          const char *layer, const char *machine)
{
    struct conv_plan_facts f = {
        .problem = plan->problem,
        .layer_name = layer,
        .layer_out_h = plan->problem.p,
        .layer_out_w = plan->problem.q,
        .micro_kernel_name = plan->ukr->name,
        .micro_kernel_isa = sim_cpu_isa_suffix(plan->ukr->isa),
        .micro_kernel_n_win = plan->ukr->n_win,
        .micro_kernel_n_f = plan->ukr->n_f,
    };

    assert(plan->algorithm == CONV_SCONV);
    state_machine(&f, caches, machine);
    state_tiling(&f, plan, caches);
    state_options(&f, &plan->sconv.options);
    state_packed(&f, plan);
    state_costs(&f, plan, caches);
    return f;
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

struct reason {
    char *text;
    size_t bytes;
};

static const struct conv_ukr *find_ukr(const char *name, const struct conv_ukr *other)
{
    return other && !strcmp(name, other->name) ? other : conv_ukr_find(name);
}

static int read_schedule(const struct conv_plan_facts *f, enum csa_schedule *schedule, struct reason why)
{
    for (int i = 0; i < CSA_N_SCHEDULES; i++) {
        *schedule = (enum csa_schedule)i;
        if (!strcmp(f->tiling_schedule, csa_schedule_name(*schedule)))
            return 0;
    }
    snprintf(why.text, why.bytes, "tiling.schedule is '%s', must be is or ws", f->tiling_schedule);
    return -EINVAL;
}

/* A number of the tiling, and what it may be at most. */
struct bound {
    const char *key;
    size_t value, most;
    const char *what;
};

static int check_bounds(const struct bound *b, size_t n, struct reason why)
{
    for (size_t i = 0; i < n; i++) {
        if (b[i].value >= 1 && b[i].value <= b[i].most)
            continue;
        snprintf(why.text, why.bytes, "tiling.%s is %zu, must be from 1 to %zu: %s", b[i].key, b[i].value, b[i].most,
                 b[i].what);
        return -EINVAL;
    }
    return 0;
}

/* Makes a tiling for the micro-kernel. */
static int read_tiling(const struct conv_plan_facts *f, const struct conv_ukr *ukr, struct csa_tiling *t,
                       struct reason why)
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

static int read_options(const struct conv_plan_facts *f, struct conv_sconv_options *o, struct reason why)
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
    snprintf(why.text, why.bytes,
             "options.pads_first is true, which excludes reads_in_place, prefetches and "
             "skips_padding: set it to false, or those");
    return -EINVAL;
}

int conv_plan_of_facts(struct conv_plan *plan, const struct conv_plan_facts *f, const struct conv_ukr *other, char *why,
                       size_t why_bytes)
{
    const struct conv_ukr *ukr = find_ukr(f->micro_kernel_name, other);
    struct reason reason = { why, why_bytes };
    struct conv_sconv_options options;
    struct csa_tiling tiling = { 0 };
    struct csa_lines lines;
    int err;

    if (!ukr) {
        snprintf(why, why_bytes, "micro_kernel.name is '%s', which is no micro-kernel of this build",
                 f->micro_kernel_name);
        return -EINVAL;
    }
    err = read_tiling(f, ukr, &tiling, reason);
    if (!err)
        err = read_options(f, &options, reason);
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
    if (err)
        snprintf(why, why_bytes, "the buffers of these tiles exceed the address space");
    return err;
}
