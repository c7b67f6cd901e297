/* The library's public face: checks, memory, threads. The work is the nests' and back-ends'. */
#include "kernels/lib/sconv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend/backend.h"
#include "kernels/emit/plan_write.h"
#include "kernels/epilogue.h"
#include "kernels/lib/sconv_shape.h"
#include "kernels/lib/team.h"
#include "kernels/nest/share.h"
#include "kernels/sizes.h"
#include "kernels/plan/tune.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/ports.h"
#include "kernels/wisdom/wisdom.h"
#include "sim/cpu.h"

enum { WORKSPACE_ALIGN = 64, PACKED_ALIGN = 4096 };

struct sconv_machine {
    struct sim_machine m;
    bool is_assumed, measures;
    struct conv_wisdom *wisdom;
};

struct sconv_plan {
    struct conv_plan plan;
    float *packed, *bias;
    bool adds_residual, is_assumed;
    enum conv_activation activation;
    unsigned n_threads;
    enum conv_share_axis axis;
    size_t thread_bytes, workspace_bytes;
};

/* ---- what the library says of itself ---- */

const char *sconv_strerror(int err)
{
    static const struct {
        int err;
        const char *text;
    } known[] = {
        { 0, "success" },
        { -EINVAL, "an argument, a file's content, or the environment (CONV_CPU, SCONV_TUNE) is invalid" },
        { -EOVERFLOW, "the convolution exceeds the address space" },
        { -ENOBUFS, "the workspace, or the room for a text, is too small" },
        { -ENOTSUP, "a direct convolution has no tiles" },
        { -ENOMEM, "out of memory" },
        { -ENOENT, "no such machine file" },
        { -EACCES, "the machine file may not be read" },
        { -EISDIR, "the machine file is a folder" },
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].err == err)
            return known[i].text;
    }
    return "an error of the operating system: a negative errno value";
}

/* A caller's text for the reason; bytes may be 0. */
struct reason {
    char *text;
    size_t bytes;
};

static int __attribute__((format(printf, 3, 4))) refuse(int err, struct reason why, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why.text, why.bytes, format, args);
    va_end(args);
    return err;
}

/* ---- machines ---- */

/* What most cores of the last years have at least: for computers that hide their caches. */
static const struct sim_machine typical = {
    .name = "typical",
    .n_levels = 3,
    .level = {
        { .name = "L1", .policy = "lru", .n_sets = 64, .n_ways = 8, .line_bytes = 64, .latency_cycles = 4 },
        { .name = "L2", .policy = "lru", .n_sets = 1024, .n_ways = 8, .line_bytes = 64, .latency_cycles = 14 },
        { .name = "L3", .policy = "lru", .n_sets = 8192, .n_ways = 16, .line_bytes = 64, .latency_cycles = 50 },
    },
    .memory_latency_cycles = 200,
};

/* Adds what the core issues, as far as it can be found. */
static void add_ports(struct sim_issue *issue)
{
    struct conv_ports ports;

    if (!conv_ports_measure(&ports))
        return;
    issue->mac_instructions_per_cycle = ports.macs_per_cycle;
    issue->loads_per_cycle = ports.loads_per_cycle;
}

static int describe_machine(struct sconv_machine *m, const char *path, char *why, size_t why_bytes)
{
    char ignored[160];

    if (path)
        return sim_machine_read(&m->m, path, why_bytes ? why : ignored, why_bytes ? why_bytes : sizeof ignored);
    m->is_assumed = sim_machine_host(&m->m, ignored, sizeof ignored) != 0;
    if (m->is_assumed)
        m->m = typical;
    add_ports(&m->m.issue);
    return 0;
}

int sconv_machine_create(struct sconv_machine **machine, const char *path, char *why, size_t why_bytes)
{
    struct sconv_machine *m;
    int err;

    if (!machine || (why_bytes && !why))
        return -EINVAL;
    *machine = NULL;
    m = calloc(1, sizeof *m);
    if (!m)
        return -ENOMEM;
    err = describe_machine(m, path, why, why_bytes);
    if (!err)
        err = conv_wisdom_start(&m->wisdom, NULL, NULL, &m->measures, why, why_bytes);
    if (err)
        free(m);
    else
        *machine = m;
    return err;
}

void sconv_machine_free(struct sconv_machine *machine)
{
    if (machine)
        conv_wisdom_release(machine->wisdom);
    free(machine);
}

static int check_wisdom_call(const struct sconv_machine *machine, const char *path, struct reason why)
{
    if (why.bytes && !why.text)
        return -EINVAL;
    if (!machine)
        return refuse(-EINVAL, why, "machine is NULL");
    return path ? 0 : refuse(-EINVAL, why, "path is NULL");
}

int sconv_wisdom_import(struct sconv_machine *machine, const char *path, char *why, size_t why_bytes)
{
    int err = check_wisdom_call(machine, path, (struct reason){ why, why_bytes });

    return err ? err : conv_wisdom_import(machine->wisdom, path, why, why_bytes);
}

int sconv_wisdom_export(const struct sconv_machine *machine, const char *path, char *why, size_t why_bytes)
{
    int err = check_wisdom_call(machine, path, (struct reason){ why, why_bytes });

    return err ? err : conv_wisdom_export(machine->wisdom, path, why, why_bytes);
}

void sconv_wisdom_forget(struct sconv_machine *machine)
{
    if (machine)
        conv_wisdom_forget(machine->wisdom);
}

/* ---- plans ---- */

static bool is_float_aligned(const void *p)
{
    return (uintptr_t)p % _Alignof(float) == 0;
}

static int read_shape(const struct sconv_shape *s, struct conv_problem *p, struct reason why)
{
    *p = sconv_shape_problem(s);
    return conv_problem_finish(p, why.text, why.bytes);
}

static int read_options(struct sconv_plan *plan, const struct sconv_options *o, struct reason why)
{
    static const enum conv_activation activations[] = {
        [SCONV_NO_ACTIVATION] = CONV_ACTIVATION_NONE,
        [SCONV_RELU] = CONV_ACTIVATION_RELU,
        [SCONV_RELU6] = CONV_ACTIVATION_RELU6,
    };

    if ((size_t)o->activation >= sizeof activations / sizeof activations[0])
        return refuse(-EINVAL, why, "activation %d is unknown", (int)o->activation);
    if (o->threads > SCONV_MAX_THREADS)
        return refuse(-EINVAL, why, "threads is %u, must be at most %d", o->threads, SCONV_MAX_THREADS);
    if (!is_float_aligned(o->bias))
        return refuse(-EINVAL, why, "bias is not aligned to a float");
    plan->activation = activations[o->activation];
    plan->adds_residual = o->adds_residual != 0;
    plan->n_threads = o->threads ? o->threads : 1;
    return 0;
}

/*
 * Checks CONV_CPU, which limits the choice of kernels: a value that means nothing here would silently choose the
 * slowest.
 */
static int check_cpu(struct reason why)
{
    return sim_cpu_check_limit(why.text, why.bytes);
}

static int choose(struct sconv_plan *plan, const struct conv_problem *p, const struct sconv_machine *machine)
{
    const struct csa_caches caches = csa_caches_of(&machine->m, csa_default_share);

    return conv_plan_measured(&plan->plan, p, &caches, &(struct conv_tune_options){ .ukr = NULL }, machine->wisdom,
                              machine->measures);
}

static int size_workspace(struct sconv_plan *plan, struct reason why)
{
    size_t bytes = plan->plan.layout.bytes[CONV_PACKED_INPUT] + WORKSPACE_ALIGN - 1; /* far below the largest size */

    plan->thread_bytes = bytes / WORKSPACE_ALIGN * WORKSPACE_ALIGN;
    if (__builtin_mul_overflow(plan->thread_bytes, plan->n_threads, &bytes) ||
        __builtin_add_overflow(bytes, WORKSPACE_ALIGN, &plan->workspace_bytes) || plan->workspace_bytes > PTRDIFF_MAX)
        return refuse(-EOVERFLOW, why, "the workspace of threads %u, %zu bytes each, exceeds the address space",
                      plan->n_threads, plan->thread_bytes);
    return 0;
}

/* Decides what must be known before anything is packed. */
static int decide(struct sconv_plan *plan, const struct conv_problem *p, const struct sconv_machine *machine,
                  struct reason why)
{
    int err = choose(plan, p, machine);

    if (err)
        return refuse(err, why, "%s", sconv_strerror(err));
    plan->is_assumed = machine->is_assumed;
    plan->axis = conv_share_choose(&plan->plan, plan->n_threads);
    return size_workspace(plan, why);
}

static int decide_for_host(struct sconv_plan *plan, const struct conv_problem *p, struct reason why)
{
    struct sconv_machine *host;
    int err = sconv_machine_create(&host, NULL, why.text, why.bytes);

    if (err == -ENOMEM)
        return refuse(err, why, "%s", sconv_strerror(err));
    if (err)
        return err;
    err = decide(plan, p, host, why);
    sconv_machine_free(host);
    return err;
}

static int prepare(struct sconv_plan *plan, const struct sconv_shape *shape, const struct sconv_machine *machine,
                   const float *weights, const struct sconv_options *options, struct reason why)
{
    static const struct sconv_options none = { .threads = 1 };
    struct conv_problem p;
    int err;

    if (!shape)
        return refuse(-EINVAL, why, "shape is NULL");
    if (!weights)
        return refuse(-EINVAL, why, "weights is NULL");
    if (!is_float_aligned(weights))
        return refuse(-EINVAL, why, "weights is not aligned to a float");
    err = check_cpu(why);
    if (!err)
        err = read_shape(shape, &p, why);
    if (!err)
        err = read_options(plan, options ? options : &none, why);
    if (err)
        return err;
    return machine ? decide(plan, &p, machine, why) : decide_for_host(plan, &p, why);
}

static int copy_bias(struct sconv_plan *plan, const float *bias)
{
    size_t n = plan->plan.problem.k;

    if (!bias)
        return 0;
    plan->bias = calloc(n, sizeof *bias);
    if (!plan->bias)
        return -ENOMEM;
    memcpy(plan->bias, bias, n * sizeof *bias);
    return 0;
}

/* Returns the tensor that a plan's kernel takes its filters from. */
static enum conv_tensor filter_tensor(const struct sconv_plan *plan)
{
    return plan->plan.algorithm == CONV_DIRECT ? CONV_FILTER : CONV_PACKED_FILTER;
}

static int pack(struct sconv_plan *plan, const float *weights)
{
    size_t bytes = plan->plan.layout.bytes[filter_tensor(plan)];
    struct conv_binding bind = { { 0 } };
    struct conv_exec exec;
    void *memory;
    int err = posix_memalign(&memory, PACKED_ALIGN, bytes);

    if (err)
        return -err;
    plan->packed = memory;
    if (filter_tensor(plan) == CONV_FILTER) {
        memcpy(plan->packed, weights, bytes);
        return 0;
    }
    bind.addr[CONV_FILTER] = (uintptr_t)weights;
    bind.addr[CONV_PACKED_FILTER] = (uintptr_t)plan->packed;
    conv_exec_init(&exec, &plan->plan, &bind);
    return conv_nest_pack_filters(&plan->plan, &exec.base);
}

int sconv_plan_check(const struct sconv_shape *shape, const struct sconv_machine *machine, const float *weights,
                     const struct sconv_options *options, char *why, size_t why_bytes)
{
    struct sconv_plan plan = { 0 };

    if (why_bytes && !why)
        return -EINVAL;
    return prepare(&plan, shape, machine, weights, options, (struct reason){ why, why_bytes });
}

int sconv_plan_create(struct sconv_plan **plan, const struct sconv_shape *shape, const struct sconv_machine *machine,
                      const float *weights, const struct sconv_options *options)
{
    struct sconv_plan *p;
    int err;

    if (!plan)
        return -EINVAL;
    *plan = NULL;
    p = calloc(1, sizeof *p);
    if (!p)
        return -ENOMEM;
    err = prepare(p, shape, machine, weights, options, (struct reason){ NULL, 0 });
    if (!err)
        err = copy_bias(p, options ? options->bias : NULL);
    if (!err)
        err = pack(p, weights);
    if (err)
        sconv_plan_free(p);
    else
        *plan = p;
    return err;
}

void sconv_plan_free(struct sconv_plan *plan)
{
    if (!plan)
        return;
    free(plan->packed);
    free(plan->bias);
    free(plan);
}

/* ---- plans for others ---- */

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
    struct conv_noted_plan n = { .layer = "conv", .machine = machine->m.name };
    struct sconv_plan tuned = { 0 };
    int err;

    n.caches = csa_caches_of(&machine->m, csa_default_share);
    if (planner == SCONV_TUNED)
        err = choose(&tuned, p, machine);
    else
        err = plan_as_published(&tuned.plan, p, &n.caches);
    if (err)
        return err;
    if (tuned.plan.algorithm != CONV_SCONV)
        return -ENOTSUP;
    n.plan = tuned.plan;
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
    const struct reason none = { NULL, 0 };
    size_t ignored, *n = length ? length : &ignored;
    struct conv_problem p;
    int err;

    *n = 0;
    if (text_bytes && text)
        *text = '\0';
    if (!shape || (text_bytes && !text) || (planner != SCONV_PAPER && planner != SCONV_TUNED))
        return -EINVAL;
    err = check_cpu(none);
    if (!err)
        err = read_shape(shape, &p, none);
    if (err)
        return err;
    err = machine ? write_plan(&p, machine, planner, text, text_bytes, n)
                  : write_plan_for_host(&p, planner, text, text_bytes, n);
    if (err && text_bytes)
        *text = '\0';
    return err;
}

/* ---- questions ---- */

size_t sconv_workspace_bytes(const struct sconv_plan *plan)
{
    return plan ? plan->workspace_bytes : 0;
}

int sconv_output_size(const struct sconv_plan *plan, size_t *out_h, size_t *out_w)
{
    if (!plan || !out_h || !out_w)
        return -EINVAL;
    *out_h = plan->plan.problem.p;
    *out_w = plan->plan.problem.q;
    return 0;
}

/* Tells how the work is cut. */
static int describe_cut(const struct conv_plan *p, char *text, size_t bytes)
{
    const struct csa_tiling *t = &p->sconv.tiling;

    if (p->algorithm == CONV_DIRECT)
        return snprintf(text, bytes, "schedule=direct ukr=%s rows=%zu groups=%zu windows=in_place",
                        conv_plan_kernel_name(p), p->direct.rows, p->direct.groups);
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

/* ---- running ---- */

/* What a run's parts have in common, and what became of each. */
struct run {
    const struct sconv_plan *plan;
    struct conv_binding bind;
    uint64_t residual;
    int err[SCONV_MAX_THREADS];
};

static void run_part(void *ctx, unsigned number)
{
    struct run *r = ctx;
    const struct sconv_plan *plan = r->plan;
    bool is_fused = plan->bias || plan->adds_residual || plan->activation != CONV_ACTIVATION_NONE;
    struct conv_binding bind = r->bind;
    const struct conv_after after = {
        .out = bind.addr[CONV_OUTPUT],
        .bias = (uintptr_t)plan->bias,
        .residual = r->residual,
        .activation = plan->activation,
    };
    struct conv_exec exec;
    struct conv_fused fused;
    struct conv_share share;

    bind.addr[CONV_PACKED_INPUT] += number * plan->thread_bytes;
    conv_exec_init(&exec, &plan->plan, &bind);
    conv_fused_init(&fused, &exec.base, &plan->plan, &after, NULL);
    conv_share_init(&share, is_fused ? &fused.base : &exec.base, &plan->plan, plan->axis, number, plan->n_threads);
    r->err[number] = conv_nest_run(&plan->plan, plan->n_threads > 1 ? &share.base
                                                : is_fused          ? &fused.base
                                                                    : &exec.base);
}

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

    return a && b && x < y + b_bytes && y < x + a_bytes;
}

static int check_pointers(const struct sconv_plan *plan, const float *src, const float *dst, const float *residual,
                          const void *workspace, struct reason why)
{
    const struct {
        bool is_wrong;
        const char *text;
    } rules[] = {
        { !plan, "plan is NULL" },
        { !src, "src is NULL" },
        { !dst, "dst is NULL" },
        { !workspace, "workspace is NULL" },
        { !is_float_aligned(src), "src is not aligned to a float" },
        { !is_float_aligned(dst), "dst is not aligned to a float" },
        { !is_float_aligned(residual), "residual is not aligned to a float" },
        { plan && plan->adds_residual && !residual, "residual is NULL, but the plan adds one" },
        { plan && !plan->adds_residual && residual, "residual is not NULL, but the plan adds none" },
    };

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].is_wrong)
            return refuse(-EINVAL, why, "%s", rules[i].text);
    }
    return 0;
}

static int check_run(const struct sconv_plan *plan, const float *src, const float *dst, const float *residual,
                     const void *workspace, size_t workspace_bytes, struct reason why)
{
    int err = check_pointers(plan, src, dst, residual, workspace, why);
    size_t in, out, own;

    if (err)
        return err;
    in = plan->plan.layout.bytes[CONV_INPUT];
    out = plan->plan.layout.bytes[CONV_OUTPUT];
    own = plan->workspace_bytes;
    if (workspace_bytes < own)
        return refuse(-ENOBUFS, why, "workspace_bytes is %zu, must be at least %zu", workspace_bytes, own);
    if (overlap(dst, out, src, in))
        return refuse(-EINVAL, why, "dst overlaps src");
    if (overlap(dst, out, residual, out))
        return refuse(-EINVAL, why, "dst overlaps residual");
    if (overlap(dst, out, workspace, own))
        return refuse(-EINVAL, why, "dst overlaps workspace");
    if (overlap(src, in, workspace, own))
        return refuse(-EINVAL, why, "src overlaps workspace");
    if (overlap(residual, out, workspace, own))
        return refuse(-EINVAL, why, "residual overlaps workspace");
    return 0;
}

int sconv_run_check(const struct sconv_plan *plan, const float *src, const float *dst, const float *residual,
                    const void *workspace, size_t workspace_bytes, char *why, size_t why_bytes)
{
    if (why_bytes && !why)
        return -EINVAL;
    return check_run(plan, src, dst, residual, workspace, workspace_bytes, (struct reason){ why, why_bytes });
}

int sconv_team_run(struct sconv_team *team, const struct sconv_plan *plan, const float *src, float *dst,
                   const float *residual, void *workspace, size_t workspace_bytes)
{
    struct run r = { .plan = plan, .residual = (uintptr_t)residual };
    int err = check_run(plan, src, dst, residual, workspace, workspace_bytes, (struct reason){ NULL, 0 });

    if (err)
        return err;
    r.bind.addr[CONV_INPUT] = (uintptr_t)src;
    r.bind.addr[CONV_OUTPUT] = (uintptr_t)dst;
    r.bind.addr[filter_tensor(plan)] = (uintptr_t)plan->packed;
    r.bind.addr[CONV_PACKED_INPUT] = round_up((uintptr_t)workspace, WORKSPACE_ALIGN);
    conv_team_run(team, plan->n_threads, &(struct conv_team_job){ run_part, &r });
    for (unsigned i = 0; i < plan->n_threads && !err; i++)
        err = r.err[i];
    return err;
}

int sconv_run(const struct sconv_plan *plan, const float *src, float *dst, const float *residual, void *workspace,
              size_t workspace_bytes)
{
    return sconv_team_run(NULL, plan, src, dst, residual, workspace, workspace_bytes);
}
