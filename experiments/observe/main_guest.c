/*
 * The watched program: one layer, or a part of a layer, by one algorithm, once, between markers, for the observer
 * plugin of QEMU (counters/watch/emulator_plugin.c). The experiment runs the program under emulation; alone it has no
 * output.
 *
 *     guest SHAPE=... ALGO=sconv_is MACHINE=file.cfg OUT=file [PART=...] [UKR=...] [CORE=...] [FILTERS=ahead|run_time]
 *           [VERIFY=1] [TRACE=file]
 *
 * SHAPE is the user's members of struct conv_problem, in order, separated by commas; PART, for a partial run, images,
 * rows and filters of struct conv_part. The program plans as the experiment does, from the machine file. OUT is the
 * observer's file: the option shows that there is an observer. TRACE is the file of a program that observes itself.
 *
 * Built a second time with instrumented kernels (counters/watch/twin_watcher.c), the program is its own observer.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/watch/marker.h"
#include "counters/watch/watch.h"
#include "experiments/bench/case/case.h"
#include "experiments/base/error.h"
#include "kernels/backend/backend.h"
#include "kernels/backend/base.h"
#include "kernels/conv_naive.h"
#include "kernels/plan/plan_part.h"

enum { EXIT_BAD_INPUT = 2, STACK_BELOW = 8 << 20, STACK_ABOVE = 1 << 16 };

struct options {
    const char *shape, *algo, *machine, *out, *part, *ukr, *core, *filters, *verify, *trace;
};

struct session {
    struct options options;
    struct exp_layer layer;
    struct exp_model model;
    struct exp_setup setup;
    struct exp_experiment experiment;
    struct conv_plan plan; /* of the part to run */
    struct exp_tensors tensors;
    struct exp_why why;
};

#define FAIL(s, ...) exp_fail(&(s)->why, __VA_ARGS__)

static int read_options(struct session *s, int argc, char **argv)
{
    struct options *o = &s->options;
    const struct {
        const char *name;
        const char **value;
    } known[] = {
        { "SHAPE=", &o->shape },   { "ALGO=", &o->algo },   { "MACHINE=", &o->machine }, { "OUT=", &o->out },
        { "PART=", &o->part },     { "UKR=", &o->ukr },     { "CORE=", &o->core },       { "FILTERS=", &o->filters },
        { "VERIFY=", &o->verify }, { "TRACE=", &o->trace },
    };
    size_t n = sizeof known / sizeof known[0];

    for (size_t i = 0; i < n; i++)
        *known[i].value = "";
    for (int i = 1; i < argc; i++) {
        size_t k;

        for (k = 0; k < n && strncmp(argv[i], known[k].name, strlen(known[k].name)) != 0; k++)
            ;
        if (k == n)
            return FAIL(s, -EINVAL, "unknown option '%s'", argv[i]);
        *known[k].value = argv[i] + strlen(known[k].name);
    }
    for (size_t i = 0; i < 4; i++) {
        if (!**known[i].value)
            return FAIL(s, -EINVAL, "%s... is missing", known[i].name);
    }
    return 0;
}

/* Reads n numbers, separated by commas. */
static int read_numbers(struct session *s, const char *option, const char *text, size_t *number, size_t n)
{
    const char *rest = text;

    for (size_t i = 0; i < n; i++) {
        char *end;
        uintmax_t value;

        errno = 0;
        value = strtoumax(rest, &end, 10);
        if (!isdigit((unsigned char)*rest) || *end != (i + 1 < n ? ',' : '\0'))
            return FAIL(s, -EINVAL, "%s: must be %zu numbers, not '%s'", option, n, text);
        if (errno || value > SIZE_MAX)
            return FAIL(s, -EOVERFLOW, "%s: '%.*s' is too large", option, (int)(end - rest), rest);
        number[i] = (size_t)value;
        rest = end + 1;
    }
    return 0;
}

static int read_shape(struct session *s)
{
    size_t field[CONV_N_FIELDS];
    char why[512];
    int err = read_numbers(s, "SHAPE", s->options.shape, field, CONV_N_FIELDS);

    if (err)
        return err;
    for (size_t i = 0; i < CONV_N_FIELDS; i++)
        conv_field_set(&s->layer.problem, i, field[i]);
    err = conv_problem_finish(&s->layer.problem, SIM_WHY(why));
    return err ? FAIL(s, err, "SHAPE: %s", why) : 0;
}

static int plan_part(struct session *s)
{
    const struct conv_problem *p = &s->layer.problem;
    struct conv_part part = conv_part_whole(p), most = part;
    size_t number[3] = { part.images, part.rows, part.filters };
    int err = *s->options.part ? read_numbers(s, "PART", s->options.part, number, 3) : 0;

    if (err)
        return err;
    part = (struct conv_part){ number[0], number[1], number[2] };
    if (!part.images || !part.rows || !part.filters || part.images > most.images || part.rows > most.rows ||
        part.filters > most.filters)
        return FAIL(s, -EINVAL, "PART: must be at most %zu,%zu,%zu, not '%s'", most.images, most.rows, most.filters,
                    s->options.part);
    err = conv_plan_part(&s->plan, &s->experiment.cases[0].plan, &part);
    return err ? FAIL(s, err, "PART: its buffers exceed the address space") : 0;
}

/* Plans the layer as the experiment does. */
static int plan(struct session *s)
{
    static char name[] = "SHAPE"; /* the name of layer, model and table in messages */
    unsigned algos;
    int err = exp_algo_select(s->options.algo, &algos, &s->why);

    if (!err && (algos & (algos - 1)))
        err = FAIL(s, -EINVAL, "ALGO: one algorithm, not '%s'", s->options.algo);
    if (!err)
        err = sim_machine_read(&s->setup.machine, s->options.machine, s->why.text, sizeof s->why.text);
    s->setup.packs_filters = !strcmp(s->options.filters, "run_time");
    if (!err)
        err = exp_setup_init(&s->setup, s->options.ukr, s->options.core, &s->why);
    s->layer.name = s->model.name = s->model.path = name;
    s->model.n_layers = 1;
    s->model.layer = &s->layer;
    if (!err)
        err = exp_experiment_plan(&s->experiment, &s->setup, &s->model, algos, &s->why);
    if (!err && exp_algo_why_not_run(s->experiment.cases[0].algo, &s->setup))
        err = FAIL(s, -ENOTSUP, "%s", exp_algo_why_not_run(s->experiment.cases[0].algo, &s->setup));
    if (!err && s->options.core[0] && !s->experiment.cases[0].algo->is_sconv &&
        strcmp(s->setup.blas.core, s->options.core) != 0)
        err = FAIL(s, -ENOTSUP, "OpenBLAS runs its %s kernels here, not %s", s->setup.blas.core, s->options.core);
    return err ? err : plan_part(s);
}

/* ---- running, with the phases marked ---- */

/* Executes, and marks the phase where the kind of step changes. */
struct marking {
    struct conv_backend base;
    struct conv_exec exec;
    enum conv_step_kind kind;
};

static void mark(struct marking *m, enum conv_step_kind kind)
{
    if (kind != m->kind)
        watch_mark_phase(conv_step_phase(kind));
    m->kind = kind;
}

static int step_marked(struct conv_backend *self, const struct conv_step *step)
{
    struct marking *m = (struct marking *)self;

    mark(m, step->kind);
    return m->exec.base.step(&m->exec.base, step);
}

static int run_marked(struct conv_backend *self, const struct conv_run *r)
{
    struct marking *m = (struct marking *)self;

    mark(m, r->step.kind);
    return conv_backend_run(&m->exec.base, r);
}

static int run_nest(struct session *s, const struct conv_plan *p)
{
    struct marking m = { .base = { step_marked, run_marked }, .kind = CONV_N_STEP_KINDS };

    conv_exec_init(&m.exec, p, &s->tensors.bind);
    return conv_nest_run(p, &m.base);
}

static void lower_marked(const struct conv_im2col_args *a)
{
    watch_mark_phase(CONV_PHASE_IM2COL);
    conv_im2col(a);
    watch_mark_phase(CONV_PHASE_UKR);
}

/* The observer tells phases of sgemm apart by rules for names of functions. */
static int run_base(struct session *s, const struct conv_plan *p)
{
    return conv_base_run_with(p, &s->tensors.bind, &s->setup.blas, lower_marked);
}

static void mark_memory(const struct session *s, const struct conv_plan *p)
{
    uint64_t here = (uintptr_t)__builtin_frame_address(0);

    for (unsigned t = 0; t < CONV_N_TENSORS; t++) {
        if (p->layout.bytes[t])
            watch_mark_buffer(t, s->tensors.bind.addr[t], p->layout.bytes[t]);
    }
    watch_mark_stack(here - STACK_BELOW, STACK_BELOW + STACK_ABOVE);
}

static int run(struct session *s)
{
    bool is_base = conv_plan_is_base(&s->plan);
    int err;

    mark_memory(s, &s->plan);
    watch_mark_begin(CONV_PHASE_UKR);
    err = is_base ? run_base(s, &s->plan) : run_nest(s, &s->plan);
    watch_mark_end();
    return err ? FAIL(s, err, "the layer cannot be run: %s", strerror(-err)) : 0;
}

/* ---- verifying ---- */

static int verify(struct session *s)
{
    const struct conv_problem *p = &s->plan.problem;
    const float *out = conv_in_ptr(s->tensors.bind.addr[CONV_OUTPUT]);
    size_t n_windows = conv_windows(p), n_computed = conv_plan_part_windows(&s->plan);
    double *plane = calloc(n_windows, sizeof *plane);
    int err = plane ? 0 : FAIL(s, -ENOMEM, "out of memory");

    for (size_t i = 0; i < p->n * p->k && !err; i++) {
        if (i % conv_group_filters(p) >= conv_plan_part_filters(&s->plan))
            continue;
        conv_naive_plane(p, conv_in_ptr(s->tensors.bind.addr[CONV_INPUT]),
                         conv_in_ptr(s->tensors.bind.addr[CONV_FILTER]), i / p->k, i % p->k, plane, NULL);
        for (size_t w = 0; w < n_computed && !err; w++) {
            if ((double)out[i * n_windows + w] != plane[w])
                err = FAIL(s, -EILSEQ, "wrong result: output element %zu is %.9g, must be %.9g", i * n_windows + w,
                           (double)out[i * n_windows + w], plane[w]);
        }
    }
    free(plane);
    return err;
}

int main(int argc, char **argv)
{
    static struct session s;
    int err = read_options(&s, argc, argv);
    const struct watch_files watched = { s.options.out, s.options.machine, s.options.trace };

    if (!err)
        err = watch_find(&watched, SIM_WHY(s.why.text));
    if (!err)
        err = read_shape(&s);
    if (!err)
        err = plan(&s);
    if (!err && exp_tensors_init(&s.tensors, &s.plan))
        err = FAIL(&s, -ENOMEM, "out of memory for the tensors");
    if (!err)
        err = run(&s);
    if (!err && !strcmp(s.options.verify, "1") && exp_tensors_exact(&s.layer.problem))
        err = verify(&s);
    if (err)
        fprintf(stderr, "guest: %s\n", s.why.text);
    exp_tensors_release(&s.tensors);
    exp_experiment_release(&s.experiment);
    exp_setup_release(&s.setup);
    return err ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}
