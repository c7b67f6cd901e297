/*
 * An experiment as a trace (trace_events.h). An event's `args` first have the keys that ONNX Runtime's profiler gives
 * the events of nodes (onnxruntime/core/framework/sequential_executor.cc: op_name, provider, node_index,
 * activation_size, parameter_size, output_size, input_type_shape, output_type_shape; numbers are texts, as in ONNX
 * Runtime), then the attributes of ONNX's Conv, then further keys.
 */
#include <stdlib.h>

#include "experiments/bench/case/cycles.h"
#include "experiments/show/trace_events.h"
#include "experiments/show/ways_out.h"

/* Numbers of processes, and of rows. For viewers, 0 is the idle thread of an operating system. */
enum process { ESTIMATED = 1, MEASURED, ROWS = 100 };

struct trace {
    struct exp_trace events;
    const struct exp_report *r;
    json_t *missing; /* missing events, with reasons */
};

static json_t *shape(size_t a, size_t b, size_t c, size_t d)
{
    json_t *type = exp_trace_made(json_object());

    exp_trace_set(type, "float", exp_trace_numbers((size_t[]){ a, b, c, d }, 4));
    return type;
}

/* ---- arguments of all events of a case ---- */

static void set_attributes(json_t *args, const struct conv_problem *p)
{
    exp_trace_set(args, "kernel_shape", exp_trace_numbers((size_t[]){ p->r, p->s }, 2));
    exp_trace_set(args, "strides", exp_trace_numbers((size_t[]){ p->stride_h, p->stride_w }, 2));
    exp_trace_set(args, "pads",
                  exp_trace_numbers((size_t[]){ p->pad_top, p->pad_left, p->pad_bottom, p->pad_right }, 4));
    exp_trace_set(args, "dilations", exp_trace_numbers((size_t[]){ p->dilation_h, p->dilation_w }, 2));
    exp_trace_set(args, "group", exp_trace_number(p->groups));
}

/* Sets the tiles, named as in layers.csv. */
static void set_plan(json_t *args, const struct exp_case *c)
{
    const struct conv_gemm_core *core = conv_plan_core(&c->plan);

    exp_trace_set(args, "ukr", exp_trace_text(conv_plan_kernel_name(&c->plan)));
    if (core) {
        exp_trace_set(args, "plan_p", exp_trace_number(core->p));
        exp_trace_set(args, "plan_q", exp_trace_number(core->q));
        exp_trace_set(args, "plan_r", exp_trace_number(core->r));
    }
    if (c->plan.algorithm != CONV_SCONV)
        return;
    exp_trace_set(args, "plan_n_c", exp_trace_number(c->plan.sconv.tiling.n_c));
    exp_trace_set(args, "plan_k2", exp_trace_number(c->plan.sconv.tiling.k2));
    exp_trace_set(args, "plan_k3", exp_trace_number(c->plan.sconv.tiling.k3));
    exp_trace_set(args, "plan_windows", exp_trace_text(conv_plan_windows_name(&c->plan)));
}

static json_t *args_of(const struct exp_case *c, const char *phase)
{
    const struct conv_problem *p = &c->layer->problem;
    const size_t c_of_group = conv_group_channels(p);
    json_t *args = exp_trace_made(json_object()), *in = exp_trace_made(json_array()),
           *out = exp_trace_made(json_array());

    exp_trace_append(in, shape(p->n, p->c, p->h, p->w));
    exp_trace_append(in, shape(p->k, c_of_group, p->r, p->s));
    exp_trace_append(out, shape(p->n, p->k, p->p, p->q));
    exp_trace_set(args, "op_name", exp_trace_text("Conv"));
    exp_trace_set(args, "provider", exp_trace_text(c->algo->name));
    exp_trace_set(args, "node_index", exp_trace_digits(c->layer->index));
    exp_trace_set(args, "activation_size", exp_trace_digits(p->n * p->c * p->h * p->w * sizeof(float)));
    exp_trace_set(args, "parameter_size", exp_trace_digits(p->k * c_of_group * p->r * p->s * sizeof(float)));
    exp_trace_set(args, "output_size", exp_trace_digits(p->n * p->k * p->p * p->q * sizeof(float)));
    exp_trace_set(args, "input_type_shape", in);
    exp_trace_set(args, "output_type_shape", out);
    set_attributes(args, p);
    exp_trace_set(args, "layer", exp_trace_text(c->layer->name));
    exp_trace_set(args, "phase", exp_trace_text(phase));
    set_plan(args, c);
    return args;
}

/* ---- events ---- */

/* Puts an event, whose name is the layer's and the phase's. */
static void put_time(struct trace *t, enum process process, size_t row, double *at_us, double us, json_t *args)
{
    char *name = exp_format("%s %s", json_string_value(json_object_get(args, "layer")),
                            json_string_value(json_object_get(args, "phase")));

    exp_trace_put_time(&t->events, name, (struct exp_trace_row){ process, row }, at_us, us, args);
    free(name);
}

static void put_missing(struct trace *t, const char *process, const struct exp_case *c, const char *why)
{
    json_t *row = exp_trace_made(json_object());

    exp_trace_set(row, "process", exp_trace_text(process));
    exp_trace_set(row, "provider", exp_trace_text(c->algo->name));
    exp_trace_set(row, "layer", exp_trace_text(c->layer->name));
    exp_trace_set(row, "node_index", exp_trace_digits(c->layer->index));
    exp_trace_set(row, "why", exp_trace_text(why));
    exp_trace_append(t->missing, row);
}

/* ---- estimates ---- */

static const char *why_not_estimated(const struct exp_report *r)
{
    const struct sim_machine *m = &r->e->setup->machine;
    const char *why = exp_estimate_why_not(m);

    return why ? why : m->issue.clock_ghz > 0 ? NULL : "the machine's file does not state clock_ghz";
}

/* Puts load misses of the machine's levels, and the lines of memory. */
static void put_counts(struct trace *t, size_t row, const char *algo, double at_us, const struct sim_cell *sum)
{
    const struct sim_machine *m = &t->r->e->setup->machine;
    const struct exp_trace_row at = { ESTIMATED, row };
    json_t *misses = exp_trace_made(json_object()), *lines = exp_trace_made(json_object());

    for (size_t l = 0; l < m->n_levels; l++)
        exp_trace_set(misses, m->level[l].name, exp_trace_number(sum->level[l].load_misses));
    exp_trace_set(lines, "read", exp_trace_number(sum->memory_read_lines));
    exp_trace_set(lines, "written", exp_trace_number(sum->memory_written_lines));
    exp_trace_put_counter(&t->events, at, algo, "load misses", at_us, misses);
    exp_trace_put_counter(&t->events, at, algo, "memory lines", at_us, lines);
}

/* Estimates one phase of a case; the estimates of all phases add up to the case's. */
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
    const bool has_clock = !*t->r->e->setup->why_no_cycles;

    put_counts(t, row, c->algo->name, *at_us, &sum);
    for (unsigned p = 0; p < CONV_N_PHASES; p++) {
        const struct exp_estimate e = estimate_of(t, c, p);
        const double cycles = has_clock ? sim_cycles_sum(&c->simulated.cycles[p]) : e.total_cycles;
        json_t *args;

        if (!(cycles > 0))
            continue;
        args = args_of(c, conv_phase_name((enum conv_phase)p));
        exp_trace_set(args, has_clock ? "simulated_cycles" : "estimated_cycles", json_real(cycles));
        if (!has_clock)
            exp_trace_set(args, "estimated_issue_cycles", json_real(e.issue_cycles));
        put_time(t, ESTIMATED, row, at_us, cycles / cycles_per_us, args);
    }
}

/* ---- measured times ---- */

/*
 * Divides a layer's time in the proportions of the step-by-step run, whose total is longer because of the clock
 * readings.
 */
static void put_parts(struct trace *t, size_t row, double *at_us, const struct exp_case *c, const struct exp_phases *x,
                      double time_ns)
{
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
        exp_trace_set(args, "measured_step_by_step_ns", exp_trace_number(part[i].ns));
        put_time(t, MEASURED, row, at_us, time_ns * (double)part[i].ns / sum_ns * 1e-3, args);
    }
}

static void put_measured(struct trace *t, size_t row, double *at_us, const struct exp_case *c)
{
    const struct exp_phases x = exp_case_phases(c);
    const double time_ns = exp_case_times(c).low_mean;
    json_t *args;

    if (!x.why && x.total_ns) {
        put_parts(t, row, at_us, c, &x, time_ns);
        return;
    }
    args = args_of(c, "all");
    if (x.why)
        exp_trace_set(args, "why_no_phases", exp_trace_text(x.why));
    put_time(t, MEASURED, row, at_us, time_ns * 1e-3, args);
}

/* ---- rows, processes, the whole ---- */

static const char *why_no_events(const struct trace *t, enum process process, const struct exp_case *c)
{
    const struct exp_setup *s = t->r->e->setup;

    if (process == MEASURED)
        return c->measured.why;
    return *s->why_no_cycles ? c->simulated.why : exp_cycles(s, c).why;
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
        const char *why = why_no_events(t, process, c);

        if (why) {
            put_missing(t, process == ESTIMATED ? "estimated" : "measured", c, why);
            continue;
        }
        if (at_us == 0)
            exp_trace_put_name(&t->events, "thread_name", name, (struct exp_trace_row){ process, row });
        (process == ESTIMATED ? put_estimated : put_measured)(t, row, &at_us, c);
    }
    if (process == ESTIMATED && at_us > 0)
        put_counts(t, row, name, at_us, &(struct sim_cell){ 0 }); /* the last layer's counts end here */
}

static void put_process(struct trace *t, enum process process, const char *name)
{
    exp_trace_put_name(&t->events, "process_name", name, (struct exp_trace_row){ process, process * ROWS });
    for (size_t a = 0; a < t->r->e->n_algos; a++)
        put_row(t, process, a);
}

static json_t *other_of(const struct trace *t, const char *why_not_estimated, const char *why_not_measured)
{
    const struct exp_report *r = t->r;
    const struct sim_machine *m = &r->e->setup->machine;
    json_t *other = exp_trace_made(json_object());

    exp_trace_set(other, "model", exp_trace_text(r->e->model->name));
    exp_trace_set(other, "machine", exp_trace_text(m->description));
    if (m->issue.clock_ghz > 0)
        exp_trace_set(other, "clock_ghz", json_real(m->issue.clock_ghz));
    exp_trace_set(other, "caches", exp_trace_text(exp_cache_state_name(r->cache)));
    exp_trace_set(other, "commit", exp_trace_text(*r->commit ? r->commit : "unknown"));
    if (why_not_estimated)
        exp_trace_set(other, "why_not_estimated", exp_trace_text(why_not_estimated));
    if (why_not_measured)
        exp_trace_set(other, "why_not_measured", exp_trace_text(why_not_measured));
    exp_trace_set(other, "missing", json_incref(t->missing));
    return other;
}

static int print_trace(const void *ctx, FILE *out)
{
    const struct exp_report *r = ctx;
    const struct sim_machine *m = &r->e->setup->machine;
    const char *why_not = why_not_estimated(r);
    struct trace t = { .r = r, .missing = exp_trace_made(json_array()) };
    char *name = exp_format(*r->e->setup->why_no_cycles ? "estimated on %s at %g GHz, all loads wait"
                                                        : "simulated cycles of %s at %g GHz",
                            m->name, m->issue.clock_ghz);
    int err;

    exp_trace_begin(&t.events, out);
    if (!why_not)
        put_process(&t, ESTIMATED, name);
    free(name);
    name = exp_format("measured by %s", r->clock);
    if (r->is_timed)
        put_process(&t, MEASURED, name);
    free(name);
    err = exp_trace_end(&t.events, other_of(&t, why_not, r->is_timed ? NULL : r->e->cases[0].measured.why));
    json_decref(t.missing);
    return err;
}

int exp_trace_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    return exp_outdir_write(dir, EXP_TRACE_FILE, print_trace, r, why);
}
