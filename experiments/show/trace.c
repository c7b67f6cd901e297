/*
 * Chrome's trace event format: "Trace Event Format" of the Chromium project. An event's `args` have the keys that ONNX
 * Runtime's profiler gives the events of its nodes (onnxruntime/core/framework/sequential_executor.cc: op_name, provider,
 * node_index, activation_size, parameter_size, output_size, input_type_shape, output_type_shape; numbers are texts
 * there, and so here), then the attributes of ONNX's Conv, then our own.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "experiments/show/ways_out.h"

/* Numbers of processes; those of rows are unique as well. 0 is the idle thread of an operating system, to viewers. */
enum process { ESTIMATED = 1, MEASURED, ROWS = 100 };

struct trace {
    const struct exp_report *r;
    FILE *out;
    size_t n; /* events so far */
    bool failed;
    json_t *missing; /* what has no event, and why */
};

/* ---- values ---- */

static json_t *made(json_t *value)
{
    if (!value)
        exp_program_out_of_memory();
    return value;
}

static void set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, made(value)))
        exp_program_out_of_memory();
}

static void append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, made(value)))
        exp_program_out_of_memory();
}

/* Makes a text, in which '?' stands for what is no ASCII if it is not UTF-8. */
static json_t *text(const char *s)
{
    json_t *value = json_string(s);
    char *copy;

    if (value)
        return value;
    copy = exp_copy_text(s);
    for (char *c = copy; *c; c++)
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    value = made(json_string(copy));
    free(copy);
    return value;
}

static json_t *number(uint64_t n)
{
    return json_integer((json_int_t)n);
}

/* Makes a number as ONNX Runtime writes them. */
static json_t *digits(uint64_t n)
{
    char s[24];

    snprintf(s, sizeof s, "%" PRIu64, n);
    return json_string(s);
}

static json_t *numbers(const size_t *n, size_t count)
{
    json_t *list = made(json_array());

    for (size_t i = 0; i < count; i++)
        append(list, number(n[i]));
    return list;
}

static json_t *shape(size_t a, size_t b, size_t c, size_t d)
{
    json_t *type = made(json_object());

    set(type, "float", numbers((size_t[]){ a, b, c, d }, 4));
    return type;
}

static void put(struct trace *t, json_t *event)
{
    fputs(t->n++ ? ",\n" : "\n", t->out);
    t->failed |= json_dumpf(event, t->out, JSON_COMPACT) != 0;
    json_decref(event);
}

/* ---- what all events of a case say ---- */

static void set_attributes(json_t *args, const struct conv_problem *p)
{
    set(args, "kernel_shape", numbers((size_t[]){ p->r, p->s }, 2));
    set(args, "strides", numbers((size_t[]){ p->stride_h, p->stride_w }, 2));
    set(args, "pads", numbers((size_t[]){ p->pad_top, p->pad_left, p->pad_bottom, p->pad_right }, 4));
    set(args, "dilations", numbers((size_t[]){ p->dilation_h, p->dilation_w }, 2));
    set(args, "group", number(p->groups));
}

/* Sets the tiles, by the names of layers.csv. */
static void set_plan(json_t *args, const struct exp_case *c)
{
    const struct conv_gemm_core *core = conv_plan_core(&c->plan);

    set(args, "ukr", text(conv_plan_kernel_name(&c->plan)));
    if (core) {
        set(args, "plan_p", number(core->p));
        set(args, "plan_q", number(core->q));
        set(args, "plan_r", number(core->r));
    }
    if (c->plan.algorithm != CONV_SCONV)
        return;
    set(args, "plan_n_c", number(c->plan.sconv.tiling.n_c));
    set(args, "plan_k2", number(c->plan.sconv.tiling.k2));
    set(args, "plan_k3", number(c->plan.sconv.tiling.k3));
    set(args, "plan_windows", text(conv_plan_windows_name(&c->plan)));
}

static json_t *args_of(const struct exp_case *c, const char *phase)
{
    const struct conv_problem *p = &c->layer->problem;
    const size_t c_of_group = conv_group_channels(p);
    json_t *args = made(json_object()), *in = made(json_array()), *out = made(json_array());

    append(in, shape(p->n, p->c, p->h, p->w));
    append(in, shape(p->k, c_of_group, p->r, p->s));
    append(out, shape(p->n, p->k, p->p, p->q));
    set(args, "op_name", text("Conv"));
    set(args, "provider", text(c->algo->name));
    set(args, "node_index", digits(c->layer->index));
    set(args, "activation_size", digits(p->n * p->c * p->h * p->w * sizeof(float)));
    set(args, "parameter_size", digits(p->k * c_of_group * p->r * p->s * sizeof(float)));
    set(args, "output_size", digits(p->n * p->k * p->p * p->q * sizeof(float)));
    set(args, "input_type_shape", in);
    set(args, "output_type_shape", out);
    set_attributes(args, p);
    set(args, "layer", text(c->layer->name));
    set(args, "phase", text(phase));
    set_plan(args, c);
    return args;
}

/* ---- events ---- */

static json_t *event_of(const char *ph, json_t *name, enum process process, size_t row, json_t *args)
{
    json_t *event = made(json_object());

    set(event, "ph", text(ph));
    set(event, "name", name);
    set(event, "pid", number(process));
    set(event, "tid", number(row));
    set(event, "args", args);
    return event;
}

static void put_name(struct trace *t, const char *kind, const char *name, enum process process, size_t row)
{
    json_t *args = made(json_object());

    set(args, "name", text(name));
    put(t, event_of("M", text(kind), process, row, args));
}

/* Puts an event, and moves the time behind it. The name is the layer's and the phase's. */
static void put_time(struct trace *t, enum process process, size_t row, double *at_us, double us, json_t *args)
{
    char *name = exp_format("%s %s", json_string_value(json_object_get(args, "layer")),
                            json_string_value(json_object_get(args, "phase")));
    json_t *event = event_of("X", text(name), process, row, args);

    set(event, "cat", text("Node"));
    set(event, "ts", json_real(*at_us));
    set(event, "dur", json_real(us));
    *at_us += us;
    put(t, event);
    free(name);
}

static void put_counter(struct trace *t, size_t row, const char *algo, const char *what, double at_us, json_t *args)
{
    char *name = exp_format("%s: %s", algo, what);
    json_t *event = event_of("C", text(name), ESTIMATED, row, args);

    set(event, "ts", json_real(at_us));
    put(t, event);
    free(name);
}

static void put_missing(struct trace *t, const char *process, const struct exp_case *c, const char *why)
{
    json_t *row = made(json_object());

    set(row, "process", text(process));
    set(row, "provider", text(c->algo->name));
    set(row, "layer", text(c->layer->name));
    set(row, "node_index", digits(c->layer->index));
    set(row, "why", text(why));
    append(t->missing, row);
}

/* ---- what is estimated ---- */

static const char *why_not_estimated(const struct exp_report *r)
{
    const struct sim_machine *m = &r->e->setup->machine;
    const char *why = exp_estimate_why_not(m);

    return why ? why : m->issue.clock_ghz > 0 ? NULL : "the machine's file does not state clock_ghz";
}

/* Puts load misses of the machine's levels, and the lines of its memory. */
static void put_counts(struct trace *t, size_t row, const char *algo, double at_us, const struct sim_cell *sum)
{
    const struct sim_machine *m = &t->r->e->setup->machine;
    json_t *misses = made(json_object()), *lines = made(json_object());

    for (size_t l = 0; l < m->n_levels; l++)
        set(misses, m->level[l].name, number(sum->level[l].load_misses));
    set(lines, "read", number(sum->memory_read_lines));
    set(lines, "written", number(sum->memory_written_lines));
    put_counter(t, row, algo, "load misses", at_us, misses);
    put_counter(t, row, algo, "memory lines", at_us, lines);
}

/* Estimates one phase of a case; those of all phases add up to the case's. */
static struct exp_estimate estimate_of(const struct trace *t, const struct exp_case *c, unsigned phase)
{
    struct sim_cell alone[CONV_N_PHASES] = { 0 };

    alone[phase] = sim_stats_phase(&c->simulated.stats, phase);
    return exp_estimate_phases(&t->r->e->setup->machine, alone,
                               phase == CONV_PHASE_UKR ? c->simulated.mac_instructions : 0);
}

static void put_estimated(struct trace *t, size_t row, double *at_us, const struct exp_case *c)
{
    const double cycles_per_us = t->r->e->setup->machine.issue.clock_ghz * 1e3;
    const struct sim_cell sum = sim_stats_total(&c->simulated.stats);

    put_counts(t, row, c->algo->name, *at_us, &sum);
    for (unsigned p = 0; p < CONV_N_PHASES; p++) {
        const struct exp_estimate e = estimate_of(t, c, p);
        json_t *args;

        if (!(e.total_cycles > 0))
            continue;
        args = args_of(c, conv_phase_name((enum conv_phase)p));
        set(args, "estimated_cycles", json_real(e.total_cycles));
        set(args, "estimated_issue_cycles", json_real(e.issue_cycles));
        put_time(t, ESTIMATED, row, at_us, e.total_cycles / cycles_per_us, args);
    }
}

/* ---- what is measured ---- */

/*
 * Divides a layer's time as its run step by step was divided: that run's own time is longer, by the readings of the
 * clock.
 */
static void put_parts(struct trace *t, size_t row, double *at_us, const struct exp_case *c, double time_ns)
{
    const struct exp_phases *x = &c->measured.phases;
    const struct {
        const char *name;
        uint64_t ns;
    } part[] = {
        { conv_phase_name(CONV_PHASE_IM2COL), x->step_ns[CONV_STEP_IM2COL] },
        { conv_phase_name(CONV_PHASE_PACK), exp_phases_packing_ns(x) },
        { conv_phase_name(CONV_PHASE_UKR), exp_phases_kernel_ns(x) },
        { "other", exp_phases_other_ns(x) },
    };
    double sum_ns = 0;

    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        sum_ns += (double)part[i].ns;
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        json_t *args;

        if (!part[i].ns)
            continue;
        args = args_of(c, part[i].name);
        set(args, "measured_step_by_step_ns", number(part[i].ns));
        put_time(t, MEASURED, row, at_us, time_ns * (double)part[i].ns / sum_ns * 1e-3, args);
    }
}

static void put_measured(struct trace *t, size_t row, double *at_us, const struct exp_case *c)
{
    const char *why_no_phases = exp_case_why_no_phases(c);
    const double time_ns = exp_case_times(c).low_mean;
    json_t *args;

    if (!why_no_phases && c->measured.phases.total_ns) {
        put_parts(t, row, at_us, c, time_ns);
        return;
    }
    args = args_of(c, "all");
    if (why_no_phases)
        set(args, "why_no_phases", text(why_no_phases));
    put_time(t, MEASURED, row, at_us, time_ns * 1e-3, args);
}

/* ---- rows, processes, the whole ---- */

static const char *why_no_events(enum process process, const struct exp_case *c)
{
    return process == ESTIMATED ? c->simulated.why_not : c->measured.why_no_time;
}

/* Puts the layers of an algorithm one after the other. */
static void put_row(struct trace *t, enum process process, size_t algo)
{
    const struct exp_experiment *e = t->r->e;
    const char *name = e->cases[algo].algo->name;
    const size_t row = process * ROWS + algo;
    double at_us = 0;

    for (size_t i = algo; i < e->n_cases; i += e->n_algos) {
        const struct exp_case *c = &e->cases[i];
        const char *why = why_no_events(process, c);

        if (why) {
            put_missing(t, process == ESTIMATED ? "estimated" : "measured", c, why);
            continue;
        }
        if (at_us == 0)
            put_name(t, "thread_name", name, process, row);
        (process == ESTIMATED ? put_estimated : put_measured)(t, row, &at_us, c);
    }
    if (process == ESTIMATED && at_us > 0)
        put_counts(t, row, name, at_us, &(struct sim_cell){ 0 }); /* what the last layer counted ends with it */
}

static void put_process(struct trace *t, enum process process, const char *name)
{
    put_name(t, "process_name", name, process, process * ROWS);
    for (size_t a = 0; a < t->r->e->n_algos; a++)
        put_row(t, process, a);
}

static json_t *other_of(const struct trace *t, const char *why_not_estimated, const char *why_not_measured)
{
    const struct exp_report *r = t->r;
    const struct sim_machine *m = &r->e->setup->machine;
    json_t *other = made(json_object());

    set(other, "model", text(r->e->model->name));
    set(other, "machine", text(m->description));
    if (m->issue.clock_ghz > 0)
        set(other, "clock_ghz", json_real(m->issue.clock_ghz));
    set(other, "caches", text(exp_cache_state_name(r->cache)));
    set(other, "commit", text(*r->commit ? r->commit : "unknown"));
    if (why_not_estimated)
        set(other, "why_not_estimated", text(why_not_estimated));
    if (why_not_measured)
        set(other, "why_not_measured", text(why_not_measured));
    set(other, "missing", json_incref(t->missing));
    return other;
}

static int print_trace(const void *ctx, FILE *out)
{
    const struct exp_report *r = ctx;
    const struct sim_machine *m = &r->e->setup->machine;
    const char *why_not = why_not_estimated(r);
    struct trace t = { .r = r, .out = out, .missing = made(json_array()) };
    char *name = exp_format("estimated on %s at %g GHz, all loads wait", m->name, m->issue.clock_ghz);
    json_t *other;

    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
    if (!why_not)
        put_process(&t, ESTIMATED, name);
    free(name);
    name = exp_format("measured by %s", r->clock);
    if (r->is_timed)
        put_process(&t, MEASURED, name);
    free(name);
    fputs("\n],\n\"otherData\":", out);
    other = other_of(&t, why_not, r->is_timed ? NULL : r->e->cases[0].measured.why_no_time);
    t.failed |= json_dumpf(other, out, JSON_COMPACT) != 0;
    fputs("}\n", out);
    json_decref(other);
    json_decref(t.missing);
    return t.failed ? -EIO : 0;
}

int exp_trace_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    return exp_outdir_write(dir, EXP_TRACE_FILE, print_trace, r, why);
}
