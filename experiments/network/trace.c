/*
 * A run of a network as a trace (show/trace_events.h): a process for the estimates in sequence, a process for the
 * clock, a thread for each algorithm, an event for each step, and the lines into each level as counters.
 */
#include <stdlib.h>

#include "experiments/network/measure.h"
#include "experiments/show/trace_events.h"
#include "experiments/show/ways_out.h"

enum process { ESTIMATED = 1, MEASURED, ROWS = 100 };

struct trace {
    struct exp_trace events;
    const struct net_study *s;
    const char *commit;
};

/* ---- the arguments of a step's events ---- */

static json_t *shapes_of(const struct net *net, const size_t *tensor, size_t n)
{
    json_t *list = exp_trace_made(json_array());

    for (size_t i = 0; i < n; i++) {
        const size_t v = tensor[i] == ONNX_NONE ? ONNX_NONE : net->tensor[tensor[i]].value;
        json_t *type = exp_trace_made(json_object()), *dims = exp_trace_made(json_array());

        for (size_t d = 0; v != ONNX_NONE && d < net->graph->value[v].n_dims; d++)
            exp_trace_append(dims, json_integer(net->graph->value[v].dim[d]));
        exp_trace_set(type, v == ONNX_NONE ? "none" : onnx_type_name(net->graph->value[v].type), dims);
        exp_trace_append(list, type);
    }
    return list;
}

static json_t *args_of(const struct net_by_algo *by, const struct net *net, size_t step)
{
    const struct net_step *s = &net->step[step];
    json_t *args = exp_trace_made(json_object());
    char does[256] = "";

    net_step_describe(net, s, does, sizeof does);
    exp_trace_set(args, "op_name", exp_trace_text(s->op));
    exp_trace_set(args, "provider", exp_trace_text(s->conv ? by->algo->name : "operators"));
    exp_trace_set(args, "node_index", exp_trace_digits(step));
    exp_trace_set(args, "input_type_shape", shapes_of(net, s->in, s->n_in));
    exp_trace_set(args, "output_type_shape", shapes_of(net, s->out, s->n_out));
    exp_trace_set(args, "node", exp_trace_text(s->name));
    exp_trace_set(args, "does", exp_trace_text(does));
    return args;
}

/* ---- estimates ---- */

static void put_lines(struct trace *t, size_t thread, const struct net_by_algo *by, size_t step, double at_us)
{
    const struct net_simulated *x = &by->variant[NET_AS_ASKED];
    const enum net_view v = net_study_view(t->s, x);
    const struct sim_machine *m = net_study_machine(t->s, v);
    const struct sim_cell sum = exp_step_total(&x->in_sequence[v].counts[step]);
    json_t *lines = exp_trace_made(json_object());

    for (size_t l = 0; l <= m->n_levels; l++)
        exp_trace_set(lines, net_level_name(t->s, l), exp_trace_number(exp_lines_into(&sum, m, l)));
    exp_trace_put_counter(&t->events, (struct exp_trace_row){ ESTIMATED, thread }, by->algo->name, "lines into", at_us,
                          lines);
}

/* Puts a step under the operator and the name: names alone often say nothing. */
static void put_step(struct trace *t, struct exp_trace_row row, const struct net_step *s, double *at_us, double us,
                     json_t *args)
{
    char *name = exp_format("%s %s", s->op, s->name);

    exp_trace_put_time(&t->events, name, row, at_us, us, args);
    free(name);
}

static void put_estimated(struct trace *t, size_t thread, const struct net_by_algo *by, double *at_us, size_t step)
{
    const struct net_simulated *x = &by->variant[NET_AS_ASKED];
    const struct net_which w = { .step = &x->net->step[step] };
    const struct net_part part = net_part_of(t->s, by, &w);
    const double cycles = net_measure(&part, NET_estimated_cycles).number;
    json_t *args = args_of(by, x->net, step);

    put_lines(t, thread, by, step, *at_us);
    exp_trace_set(args, "estimated_cycles", json_real(cycles));
    exp_trace_set(args, "estimated_issue_cycles", json_real(net_measure(&part, NET_estimated_issue_cycles).number));
    exp_trace_set(args, "waits_for", exp_trace_text(net_waits_for(&part)));
    put_step(t, (struct exp_trace_row){ ESTIMATED, thread }, w.step, at_us,
             cycles / (t->s->setup->machine.issue.clock_ghz * 1e3), args);
}

static void put_measured(struct trace *t, size_t thread, const struct net_by_algo *by, double *at_us, size_t step)
{
    const struct net *net = by->timed.net;
    const struct net_which w = { .step = &net->step[step] };
    const struct net_part part = net_part_of(t->s, by, &w);

    put_step(t, (struct exp_trace_row){ MEASURED, thread }, w.step, at_us,
             net_measure(&part, NET_measured_time_ns).number * 1e-3, args_of(by, net, step));
}

/* ---- the whole ---- */

static const char *refusal(const struct trace *t, enum process process, const struct net_by_algo *by)
{
    const struct net_part part = net_part_of(t->s, by, NULL);
    const char *why = process == MEASURED ? by->timed.missing.text : net_measure(&part, NET_estimated_cycles).why;

    if (process == ESTIMATED && !why && !(t->s->setup->machine.issue.clock_ghz > 0))
        return "the machine's file does not state clock_ghz";
    return why && *why ? why : NULL;
}

static void put_process(struct trace *t, enum process process, const char *name, json_t *missing)
{
    exp_trace_put_name(&t->events, "process_name", name, (struct exp_trace_row){ process, process * ROWS });
    for (size_t a = 0; a < t->s->n_algos; a++) {
        const struct net_by_algo *by = &t->s->by[a];
        const struct net *net = process == MEASURED ? by->timed.net : by->variant[NET_AS_ASKED].net;
        const struct exp_trace_row row = { process, process * ROWS + a };
        const char *why = refusal(t, process, by);
        double at_us = 0;

        if (why) {
            char *text = exp_format("%s, %s: %s", name, by->algo->name, why);

            exp_trace_append(missing, exp_trace_text(text));
            free(text);
            continue;
        }
        exp_trace_put_name(&t->events, "thread_name", by->algo->name, row);
        for (size_t i = 0; i < net->n_steps; i++)
            (process == MEASURED ? put_measured : put_estimated)(t, row.thread, by, &at_us, i);
    }
}

static int print_trace(const void *ctx, FILE *out)
{
    struct trace t = *(const struct trace *)ctx;
    const struct sim_machine *m = &t.s->setup->machine;
    json_t *other = exp_trace_made(json_object()), *missing = exp_trace_made(json_array());
    char *name = exp_format("estimated on %s at %g GHz, in sequence, all loads wait", m->name, m->issue.clock_ghz);

    exp_trace_begin(&t.events, out);
    put_process(&t, ESTIMATED, name, missing);
    free(name);
    name = exp_format("measured by %s", t.s->clock);
    put_process(&t, MEASURED, name, missing);
    free(name);
    exp_trace_set(other, "model", exp_trace_text(t.s->name));
    exp_trace_set(other, "machine", exp_trace_text(m->description));
    exp_trace_set(other, "commit", exp_trace_text(*t.commit ? t.commit : "unknown"));
    exp_trace_set(other, "missing", missing);
    return exp_trace_end(&t.events, other);
}

int net_trace_write(const struct net_study *s, const struct exp_outdir *dir, const char *commit, struct exp_why *why)
{
    const struct trace t = { .s = s, .commit = commit };

    return exp_outdir_write(dir, EXP_TRACE_FILE, print_trace, &t, why);
}
