#include "tests/kernels/shape_check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "kernels/backend/backend.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/blas/gemm_core.h"
#include "kernels/plan/tune.h"
#include "tests/kernels/kcheck.h"

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 wide_signed;

enum {
    N_STEPS = 40,           /* replayed of each plan */
    MAX_STEP_POINTS = 4096, /* of a replayed step */
    MAX_RUN_ELEMENTS = 1 << 14,
    MAX_RUN_POINTS = 1 << 18,
};

static const struct csa_caches tiny = { .l1_bytes = 4096, .l2_bytes = 16384, .l3_bytes = 65536, .line_bytes = 64 };

static bool fail(struct shape_check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct shape_check *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(c->why, sizeof c->why, format, args);
    va_end(args);
    return false;
}

/* ---- shapes that must be refused, in numbers that cannot overflow ---- */

/* Saturates: any number past every limit is as good. */
static wide product(const wide *factor, size_t n)
{
    const wide far = (wide)1 << 63;
    wide x = 1;

    for (size_t i = 0; i < n; i++)
        x = factor[i] && x > far / factor[i] ? far : x * factor[i];
    return x;
}

#define PRODUCT(...) product((const wide[]){ __VA_ARGS__ }, sizeof((const wide[]){ __VA_ARGS__ }) / sizeof(wide))

static wide outputs(wide padded, wide filter, wide dilation, wide stride)
{
    wide last_tap = PRODUCT(filter - 1, dilation);

    return last_tap < padded ? (padded - last_tap - 1) / stride + 1 : 0;
}

static bool has_zero(const struct conv_problem *p)
{
    bool found = false;

    for (size_t i = 0; i < CONV_N_FIELDS; i++)
        found |= conv_field(p, i) == 0 && strncmp(conv_fields[i].name, "pad", 3) != 0;
    return found;
}

static bool fits(const struct conv_problem *p)
{
    const wide room = ((wide)1 << SIM_ADDRESS_BITS) - CONV_REPLAY_BASE, element = sizeof(float);
    wide high = (wide)p->h + p->pad_top + p->pad_bottom, broad = (wide)p->w + p->pad_left + p->pad_right;
    wide channels, reduction, windows, filter;

    if (has_zero(p) || p->c % p->groups || p->k % p->groups)
        return false;
    channels = p->c / p->groups;
    reduction = PRODUCT(channels, p->r, p->s);
    windows =
        PRODUCT(outputs(high, p->r, p->dilation_h, p->stride_h), outputs(broad, p->s, p->dilation_w, p->stride_w));
    filter = PRODUCT(p->k, reduction, element);
    return windows &&
           PRODUCT(high + p->stride_h + p->dilation_h, broad + p->stride_w + p->dilation_w, element) <= room &&
           PRODUCT(p->n, p->c, p->h, p->w, element) + 2 * filter + PRODUCT(p->n, p->k, windows, element) +
                   2 * PRODUCT(reduction, windows, element) + PRODUCT(reduction, CONV_MAX_WIN, element) +
                   CONV_N_TENSORS * CONV_PAGE_BYTES <=
               room;
}

static bool names_a_field(const char *why, const struct conv_problem *p)
{
    for (size_t i = 0; i < CONV_N_FIELDS; i++) {
        char text[2][64];

        snprintf(text[0], sizeof text[0], "%s %zu", conv_fields[i].name, conv_field(p, i));
        snprintf(text[1], sizeof text[1], "%s is %zu", conv_fields[i].name, conv_field(p, i));
        if (strstr(why, text[0]) || strstr(why, text[1]))
            return true;
    }
    return strstr(why, "all tensors together") != NULL;
}

static bool is_refused_well(struct shape_check *c, const struct conv_problem *p, int err, const char *why)
{
    if (fits(p))
        return fail(c, "refused, but everything fits: %s", why);
    if (err != -EINVAL && err != -EOVERFLOW)
        return fail(c, "refused with %d", err);
    return (names_a_field(why, p) && !strchr(why, '\n')) || fail(c, "no reason: '%s'", why);
}

/* ---- plans ---- */

static bool layout_holds(struct shape_check *c, const struct conv_plan *plan)
{
    wide end = 0;

    for (int t = 0; t < CONV_N_TENSORS; t++) {
        if (plan->layout.offset[t] < end)
            return fail(c, "tensor %d overlaps the one before", t);
        end = (wide)plan->layout.offset[t] + plan->layout.bytes[t];
    }
    return CONV_REPLAY_BASE + end <= (wide)1 << SIM_ADDRESS_BITS || fail(c, "the tensors exceed the address space");
}

/* ---- replaying: every load and store lies in its tensor ---- */

struct bounds {
    struct sim_sink sink;
    const struct conv_plan *plan;
    struct shape_check *check;
};

static wide_signed least(wide_signed x)
{
    return x < 0 ? x : 0;
}

static void check_run(struct bounds *b, const struct sim_run *run, uint64_t n_times)
{
    uint64_t start = CONV_REPLAY_BASE + b->plan->layout.offset[run->tag];
    wide_signed across = (wide_signed)run->stride_bytes * ((wide_signed)run->count - 1);
    wide_signed along = (wide_signed)run->step_bytes * ((wide_signed)n_times - 1);
    wide_signed low = (wide_signed)run->addr + least(across) + least(along);
    wide_signed high = (wide_signed)run->addr + across - least(across) + along - least(along) + run->access_bytes;

    if (low < (wide_signed)start || high > (wide_signed)start + (wide_signed)b->plan->layout.bytes[run->tag])
        fail(b->check, "an access of phase %d at %#llx lies outside tensor %d", run->phase,
             (unsigned long long)run->addr, run->tag);
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    for (size_t i = 0; i < n_runs; i++) {
        if (run[i].count && n_times && run[i].kind != SIM_PREFETCH)
            check_run((struct bounds *)(void *)self, &run[i], n_times);
    }
}

/* The first steps of a nest, without the large steps. */
struct beginning {
    struct conv_backend base;
    struct conv_replay replay;
    size_t n_steps;
};

static bool is_small(const struct conv_plan *plan, const struct conv_step *s)
{
    const struct conv_problem *p = &plan->problem;

    if (s->kind == CONV_STEP_IM2COL)
        return PRODUCT(conv_windows(p), conv_reduction(p)) <= MAX_STEP_POINTS;
    return PRODUCT(s->n_win ? s->n_win : 1, s->n_f ? s->n_f : 1, s->n_k ? s->n_k : 1) <= MAX_STEP_POINTS;
}

static int step(struct conv_backend *self, const struct conv_step *s)
{
    struct beginning *b = (struct beginning *)(void *)self;

    if (b->n_steps++ == N_STEPS)
        return -ECANCELED;
    return is_small(b->replay.plan, s) ? b->replay.base.step(&b->replay.base, s) : 0;
}

/* Returns the last step of a plan: last windows of the last row of the last image, last filter and channel. */
static struct conv_step last_step(const struct conv_plan *plan, enum conv_step_kind kind)
{
    const struct conv_problem *p = &plan->problem;
    bool is_direct = plan->algorithm == CONV_DIRECT; /* direct steps are whole rows of whole groups */
    size_t tile = is_direct || plan->view.q < plan->ukr->n_win ? plan->view.q : plan->ukr->n_win;

    if (is_direct)
        return (struct conv_step){
            .kind = CONV_STEP_DIRECT,
            .image = p->n - 1,
            .group = p->groups - 1,
            .win0 = conv_windows(p) - tile,
            .n_win = tile,
            .n_f = conv_group_filters(p),
            .n_k = conv_reduction(p),
        };
    return (struct conv_step){
        .kind = kind,
        .image = p->n - 1,
        .group = p->groups - 1,
        .win0 = conv_windows(p) - tile,
        .n_win = tile,
        .f0 = conv_group_filters(p) - 1,
        .n_f = 1,
        .k0 = conv_reduction(p) - p->r * p->s,
        .n_k = p->r * p->s,
    };
}

static bool replays(struct shape_check *c, const struct conv_plan *plan)
{
    struct bounds bounds = { .sink.accept = accept, .plan = plan, .check = c };
    struct beginning b = { .base.step = step };
    bool packs = plan->algorithm == CONV_SCONV && !plan->sconv.options.reads_in_place;
    struct conv_step last = last_step(plan, packs ? CONV_STEP_PACK_WINDOWS : CONV_STEP_UKR);

    conv_replay_init(&b.replay, plan, &bounds.sink);
    conv_nest_pack_filters(plan, &b.base);
    b.n_steps = 0;
    conv_nest_run(plan, &b.base);
    if (plan->algorithm != CONV_GEMM && is_small(plan, &last))
        b.replay.base.step(&b.replay.base, &last);
    return !*c->why;
}

/* ---- running ---- */

static bool is_worth_running(const struct conv_problem *p)
{
    wide in = PRODUCT(p->n, p->c, p->h, p->w), filter = PRODUCT(p->k, conv_reduction(p));
    wide out = PRODUCT(p->n, p->k, conv_windows(p));

    return in + filter + out <= MAX_RUN_ELEMENTS && PRODUCT(out, conv_reduction(p)) <= MAX_RUN_POINTS;
}

static bool runs(struct shape_check *c, const struct conv_plan *plan)
{
    struct conv_mismatch where;
    struct kcheck k;
    int err = kcheck_init(&k, &plan->problem, true);

    if (err)
        return fail(c, "no memory to run");
    err = kcheck_run(&k, plan, &where);
    kcheck_release(&k);
    c->is_run = true;
    return !err || fail(c, "%s: error %d at %zu, %g instead of %g", conv_plan_kernel_name(plan), err, where.index,
                        where.got, where.want);
}

static bool plan_holds(struct shape_check *c, const struct conv_plan *plan, int err)
{
    if (err)
        return fail(c, "no plan: %d", err);
    if (!layout_holds(c, plan) || !replays(c, plan))
        return false;
    return !conv_plan_runs(plan) || !is_worth_running(&plan->problem) || runs(c, plan);
}

static bool accepted_holds(struct shape_check *c, const struct conv_problem *p, size_t variant)
{
    const struct conv_ukr *ukr = conv_ukr_at(variant % conv_ukr_count());
    const struct conv_gemm_core *core = conv_gemm_core_at(variant % conv_gemm_core_count());
    const struct conv_tune_options tune = { .ukr = ukr, .keeps_ukr = variant / 2 % 2 };
    struct csa_tiling tiling = csa_analyse(p, &tiny, ukr->n_win, ukr->n_f, (enum csa_schedule)(variant / 4 % 2));
    struct conv_plan plan;
    int err = conv_plan_sconv(&plan, p, ukr, &tiling, variant / 8 % 2);

    if (!plan_holds(c, &plan, err))
        return false;
    err = conv_plan_tuned(&plan, p, &tiny, &tune);
    if (!plan_holds(c, &plan, err))
        return false;
    err = conv_plan_gemm(&plan, p, core, variant / 8 % 2 ? ukr : &core->ukr);
    return plan_holds(c, &plan, err);
}

bool shape_check(struct shape_check *check, const struct conv_problem *fields, size_t variant)
{
    struct conv_problem p = *fields;
    char why[512] = "";
    int err = conv_problem_finish(&p, SIM_WHY(why));

    *check = (struct shape_check){ .is_accepted = !err };
    if (err)
        return is_refused_well(check, fields, err, why);
    if (!fits(&p))
        return fail(check, "accepted, but something does not fit");
    return accepted_holds(check, &p, variant);
}
