/*
 * The tables of a network's study: an array has every file's columns, the loops over its rows, and the function for a
 * row.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/cells.h"
#include "experiments/network/study.h"

static const char other_fusion[] = "FUSE asked for the other kind";
static const struct net_which convolutions = { .only_convolutions = true };

/* The place of a row: an algorithm, a variant of the network, and, where the file has them, view, level and step. */
struct row_at {
    const struct net_study *s;
    const struct net_by_algo *by;
    const struct net_simulated *x;
    enum net_variant variant;
    enum net_view view;
    size_t level, step;
    const struct net_published *paper;
};

/* The first columns of all rows. */
struct keys {
    const char *model, *algo, *node, *op, *caches, *level;
    size_t step;
    bool is_fused;
};

static struct keys keys_of(const struct row_at *at)
{
    struct keys k = { .model = at->s->name,
                      .algo = at->by->algo->name,
                      .is_fused = at->x->is_fused,
                      .step = at->step + 1,
                      .caches = net_view_name(at->view),
                      .level = net_level_name(at->s, at->level) };

    if (at->x->net && at->step < at->x->net->n_steps) {
        k.node = at->x->net->step[at->step].name;
        k.op = at->x->net->step[at->step].op;
    }
    return k;
}

/* clang-format off */
#define MODEL(row) { { "model", "", "name of the network", "" }, REC_AT(row, key.model) }
#define ALGO(row) { { "algo", "", "algorithm of the convolutions", "" }, REC_AT(row, key.algo) }
#define FUSED(row) \
    { { "fused", "", "1: batch normalisation folded, activations and additions fused; 0: as in the paper", "" }, \
      REC_AT(row, key.is_fused) }
#define STEP(row) { { "step", "", "position in the order of the run, from 1", "" }, REC_AT(row, key.step) }
#define NODE(row) { { "node", "", "name of the node", "" }, REC_AT(row, key.node) }
#define OP(row, what) { { "op", "", what, "" }, REC_AT(row, key.op) }
#define CAPS(row) { { "caches", "", "caches alone, or the machine as it is", "" }, REC_AT(row, key.caches) }
#define LEVEL(row) { { "level", "", "of the machine; memory: lines read from there", "" }, REC_AT(row, key.level) }

/* Numbers, each a struct value of the row: by the clock, by the simulation, or neither. */
#define NUMBER(row, name, unit, what, source, member) { { name, unit, what, source }, REC_VALUE(row, member) }
#define CLOCKED(row, name, unit, what, member) NUMBER(row, name, unit, what, "clock", member)
#define SIMULATED(row, name, unit, what, member) NUMBER(row, name, unit, what, "simulation", member)
#define CYCLES(row, name, what, member) SIMULATED(row, name, "cycles", what, member)
#define ARENA(row) NUMBER(row, "arena_bytes", "bytes", "memory of the planner for tensors and workspaces", "", arena_bytes)
#define LINES(row) \
    SIMULATED(row, "sequence_lines", "lines", "brought into the level, caches as the steps before left them", \
              lines.in_sequence), \
    SIMULATED(row, "alone_lines", "lines", "the same, each step with empty caches", lines.alone), \
    SIMULATED(row, "warm_lines", "lines", "the same, each step with what it left itself", lines.warm)
/* clang-format on */

/* Returns the part in percent, 0 of nothing; none for a reason, and for the first reason of the two. */
static struct value percent_of(struct value part, struct value whole, const char *why)
{
    const struct value sum = value_sum(part, whole);

    return value_or(whole.number > 0 ? 100 * part.number / whole.number : 0, why ? why : sum.why);
}

/* Returns scale * x / y; none for the reason of y, and for this reason where there is no x or no quotient. */
static struct value ratio_of(struct value x, struct value y, double scale, const char *why)
{
    return value_if_finite(scale * x.number / y.number, y.why ? y.why : why);
}

static const char *or_none(const char *why)
{
    return why && *why ? why : NULL;
}

/* ---- network.csv ---- */

#define NETWORK struct network_row
NETWORK
{
    struct keys key;
    size_t n_steps, n_convolutions;
    double macs;
    struct value arena_bytes, alive_bytes, arena_to_alive, weight_bytes;
    struct net_times times;
    struct value n_rounds, conv_time, conv_share, speedup, low, high, conv_speedup;
    struct net_estimate estimate, conv;
    struct value estimated_share, issue_share, estimated_speedup, issue_speedup, estimated_conv_speedup;
    struct net_published paper;
    struct value apart;
};

static const struct rec_field network_fields[] = {
    MODEL(NETWORK),
    ALGO(NETWORK),
    FUSED(NETWORK),
    { { "steps", "", "of the run: nodes that move or compute something, fused ones together", "" },
      REC_AT(NETWORK, n_steps) },
    { { "convolutions", "", "of these", "" }, REC_AT(NETWORK, n_convolutions) },
    { { "macs", "multiply-adds", "of convolutions and matrix products", "" }, REC_AT(NETWORK, macs) },
    ARENA(NETWORK),
    NUMBER(NETWORK, "alive_bytes", "bytes", "the largest set of them that is needed at once", "", alive_bytes),
    NUMBER(NETWORK, "arena_to_alive", "", "the first over the second", "", arena_to_alive),
    NUMBER(NETWORK, "weight_bytes", "bytes", "weights, as the steps read them", "", weight_bytes),
    CLOCKED(NETWORK, "measured_time_ns", "ns", "a run: mean of the fastest quarter of the rounds", times.low_mean),
    CLOCKED(NETWORK, "measured_time_min_ns", "ns", "the fastest round", times.fastest),
    CLOCKED(NETWORK, "measured_time_median_ns", "ns", "the median", times.median),
    NUMBER(NETWORK, "measured_rounds", "", "timed runs", "", n_rounds),
    CLOCKED(NETWORK, "measured_conv_time_ns", "ns", "of its convolutions, with what is fused behind them", conv_time),
    CLOCKED(NETWORK, "measured_conv_share_percent", "%", "of the time; ONNX Runtime's: by its own profile", conv_share),
    CLOCKED(NETWORK, "measured_speedup_vs_base", "", "base's time / this one: the whole network", speedup),
    { EXP_COLUMN_SPEEDUP_LOW, REC_VALUE(NETWORK, low) },
    { EXP_COLUMN_SPEEDUP_HIGH, REC_VALUE(NETWORK, high) },
    CLOCKED(NETWORK, "measured_conv_speedup_vs_base", "", "the same of the convolutions alone", conv_speedup),
    CYCLES(NETWORK, "estimated_issue_cycles", "estimate: if all loads hit the first level", estimate.issue_cycles),
    CYCLES(NETWORK, "estimated_cycles", "estimate: if all loads wait, in sequence", estimate.total_cycles),
    CYCLES(NETWORK, "estimated_conv_issue_cycles", "the first, of the convolutions", conv.issue_cycles),
    CYCLES(NETWORK, "estimated_conv_cycles", "the second, of the convolutions", conv.total_cycles),
    SIMULATED(NETWORK, "estimated_conv_share_percent", "%", "of estimated_cycles", estimated_share),
    SIMULATED(NETWORK, "estimated_conv_share_issue_percent", "%", "of estimated_issue_cycles", issue_share),
    SIMULATED(NETWORK, "estimated_speedup_vs_base", "", "base's estimated_cycles / these", estimated_speedup),
    SIMULATED(NETWORK, "estimated_issue_speedup_vs_base", "", "base's estimated_issue_cycles / these", issue_speedup),
    SIMULATED(NETWORK, "estimated_conv_speedup_vs_base", "", "the first of the two, of the convolutions",
              estimated_conv_speedup),
    NUMBER(NETWORK, "paper_model_speedup", "", "what the paper prints of this network on its machine", "SConv Table 2",
           paper.speedup),
    NUMBER(NETWORK, "paper_conv_speedup", "", "likewise, its convolutions", "SConv Table 2", paper.conv_speedup),
    NUMBER(NETWORK, "paper_conv_time_share", "", "likewise, their share of the time", "SConv Table 2",
           paper.conv_share),
    NUMBER(NETWORK, "apart", "",
           "the largest difference of a tensor, over its largest value, from ONNX Runtime's, both not fused", "",
           apart),
};

const struct rec_table net_network_table = REC_TABLE("network.csv", network_fields, NETWORK);

/* Takes the times of the runs, or one reason for all. */
static void take_times(NETWORK *row, const struct row_at *at)
{
    const struct net_timed *t = &at->by->timed;
    const struct exp_ratio whole = net_speedup(at->s, at->by, NULL), conv = net_speedup(at->s, at->by, &convolutions);
    const char *why = or_none(t->missing.text),
               *otherwise = isnan(whole.value) ? "Base was not timed" : EXP_RATIO_NO_INTERVAL;

    row->times = net_times_of(t, NULL);
    row->n_rounds = value_or((double)t->n_rounds, why);
    row->conv_time = net_times_of(t, &convolutions).low_mean;
    row->conv_share = percent_of(row->conv_time, row->times.low_mean,
                                 row->times.low_mean.number > 0 ? NULL
                                 : why                          ? why
                                                                : "it has nothing to run");
    otherwise = why ? why : otherwise;
    row->speedup = value_if_finite(whole.value, otherwise);
    row->low = value_if_finite(whole.low, otherwise);
    row->high = value_if_finite(whole.high, otherwise);
    row->conv_speedup = value_if_finite(conv.value, otherwise);
}

static void take_no_speedup(NETWORK *row, const char *why)
{
    row->speedup = row->low = row->high = row->conv_speedup = value_none(why);
}

static void take_no_times(NETWORK *row)
{
    take_no_speedup(row, other_fusion);
    row->times.low_mean = row->times.fastest = row->times.median = row->speedup;
    row->n_rounds = row->conv_time = row->conv_share = row->speedup;
}

/* Returns an algorithm's estimate of the variant; none of no algorithm. */
static struct net_estimate estimate_of(const struct row_at *at, const struct net_by_algo *by, const struct net_which *w)
{
    const struct value none = value_none("Base was not asked for");
    const struct net_simulated *x = by ? &by->variant[at->variant] : NULL;

    return x ? net_estimate_of(at->s, x, net_study_view(at->s, x), w)
             : (struct net_estimate){ .issue_cycles = none, .total_cycles = none };
}

static void take_estimates(NETWORK *row, const struct row_at *at)
{
    static const char no_base[] = "Base was not simulated, or has nothing to run";
    const struct net_by_algo *b = net_study_base(at->s);
    const struct net_estimate base = estimate_of(at, b, NULL), base_conv = estimate_of(at, b, &convolutions);
    const struct net_estimate all = estimate_of(at, at->by, NULL), conv = estimate_of(at, at->by, &convolutions);

    row->estimate = all;
    row->conv = conv;
    row->estimated_share = percent_of(conv.total_cycles, all.total_cycles, NULL);
    row->issue_share = percent_of(conv.issue_cycles, all.issue_cycles, NULL);
    row->estimated_speedup = ratio_of(base.total_cycles, all.total_cycles, 1, no_base);
    row->issue_speedup = ratio_of(base.issue_cycles, all.issue_cycles, 1, no_base);
    row->estimated_conv_speedup = ratio_of(base_conv.total_cycles, conv.total_cycles, 1, no_base);
}

static void take_plan(NETWORK *row, const struct net *net)
{
    const size_t arena = net->place_bytes[NET_ARENA], alive = net->alive_bytes;

    row->n_steps = net->n_steps;
    for (size_t i = 0; i < net->n_steps; i++)
        row->n_convolutions += net->step[i].conv != NULL;
    row->macs = net_macs(net);
    row->arena_bytes = value_of((double)arena);
    row->alive_bytes = value_of((double)alive);
    row->arena_to_alive = value_of(alive ? (double)arena / (double)alive : 1);
    row->weight_bytes = value_of((double)net->place_bytes[NET_CONSTANTS]);
}

static void put_network(struct exp_csv *csv, const struct row_at *at)
{
    NETWORK row = { .key = keys_of(at), .paper = *at->paper, .apart = value_none("ONNX Runtime's row has it") };

    if (!at->x->net)
        return;
    take_plan(&row, at->x->net);
    if (at->variant == NET_AS_ASKED)
        take_times(&row, at);
    else
        take_no_times(&row);
    take_estimates(&row, at);
    rec_put(csv, &net_network_table, &row);
}

/* Puts the row of another runtime. */
static void put_peer(struct exp_csv *csv, const struct net_study *s, const struct net_published *paper)
{
    const struct net_peer_timed *p = &s->peer;
    const struct value none = value_none("it is another runtime");
    const char *why = or_none(p->missing.text), *why_share = why ? why : or_none(p->found.missing[1].text);
    NETWORK row = { .key = { .model = s->name, .algo = p->name, .is_fused = s->fuses }, .paper = *paper };

    row.times = net_peer_times_of(p);
    row.n_rounds = value_or((double)p->n_rounds, why);
    row.conv_time = value_or(p->found.conv_share * row.times.low_mean.number, why_share);
    row.conv_share = percent_of(row.conv_time, row.times.low_mean, NULL);
    row.arena_bytes = row.alive_bytes = row.arena_to_alive = row.weight_bytes = none;
    take_no_speedup(&row, none.why);
    row.estimate.issue_cycles = row.estimate.total_cycles = row.conv.issue_cycles = row.conv.total_cycles = none;
    row.estimated_share = row.issue_share = none;
    row.estimated_speedup = row.issue_speedup = row.estimated_conv_speedup = none;
    row.apart = value_if_finite(p->is_compared && !p->found.distance.has_nan ? p->found.distance.worst : (double)NAN,
                                why ? why : "CHECK=0, or the verdict says why");
    rec_put(csv, &net_network_table, &row);
}

/* ---- nodes.csv ---- */

#define STEPS struct node_row
STEPS
{
    struct keys key;
    const char *source, *waits_for, *refusal;
    char does[256], out[96];
    double macs, in_bytes, weight_bytes, out_bytes;
    struct value time, percent, wait[3], counted[NET_N_COUNTED];
    struct net_estimate estimate;
};

static const struct rec_field node_fields[] = {
    MODEL(STEPS),
    ALGO(STEPS),
    FUSED(STEPS),
    STEP(STEPS),
    NODE(STEPS),
    OP(STEPS, "ONNX's operator of the node that gives the step its kind"),
    { { "does", "", "all that is done in the step", "" }, REC_AT(STEPS, does) },
    { { "output", "", "its shape", "" }, REC_AT(STEPS, out) },
    { { "macs", "multiply-adds", "of a convolution or a matrix product", "" }, REC_AT(STEPS, macs) },
    { { "input_bytes", "bytes", "of its inputs that are no constants", "" }, REC_AT(STEPS, in_bytes) },
    { { "weight_bytes", "bytes", "of those that are", "" }, REC_AT(STEPS, weight_bytes) },
    { { "output_bytes", "bytes", "", "" }, REC_AT(STEPS, out_bytes) },
    CLOCKED(STEPS, "measured_time_ns", "ns", "mean of the fastest quarter of the rounds", time),
    CLOCKED(STEPS, "measured_time_percent", "%", "of the network's", percent),
    CYCLES(STEPS, "estimated_issue_cycles", "estimate: if all loads hit the first level", estimate.issue_cycles),
    CYCLES(STEPS, "estimated_wait_l2_cycles", "estimate: waits for loads that the second level serves, in sequence",
           wait[0]),
    CYCLES(STEPS, "estimated_wait_l3_cycles", "for those that levels further out serve", wait[1]),
    CYCLES(STEPS, "estimated_wait_memory_cycles", "for those that memory serves", wait[2]),
    CYCLES(STEPS, "estimated_cycles", "the sum", estimate.total_cycles),
    { { "waits_for", "", "the largest part of that: issue, a level or memory", "simulation" },
      REC_OR(STEPS, waits_for, estimate.total_cycles.why) },
    NUMBER(STEPS, "counted_l1_lines", "lines", "brought into L1, whatever brought them", "perf_event", counted[0]),
    NUMBER(STEPS, "counted_l2_lines", "lines", "likewise into L2", "perf_event", counted[1]),
    NUMBER(STEPS, "counted_memory_lines", "lines", "read from memory", "perf_event", counted[2]),
    { { "accesses", "", "where those of the simulation are from", "" }, REC_OR(STEPS, source, refusal) },
};

const struct rec_table net_nodes_table = REC_TABLE("nodes.csv", node_fields, STEPS);

static void take_shape(STEPS *row, const struct net *net, const struct net_step *s)
{
    const size_t t = s->n_out ? s->out[0] : ONNX_NONE, v = t == ONNX_NONE ? ONNX_NONE : net->tensor[t].value;

    for (size_t d = 0; v != ONNX_NONE && d < net->graph->value[v].n_dims; d++)
        exp_say_more(row->out, sizeof row->out, "%s%lld", d ? "x" : "", (long long)net->graph->value[v].dim[d]);
}

static double bytes_of(const struct net *net, size_t tensor)
{
    return tensor == ONNX_NONE ? 0 : (double)net->tensor[tensor].bytes;
}

static void take_bytes(STEPS *row, const struct net *net, const struct net_step *s)
{
    for (size_t i = 0; i < s->n_in; i++) {
        const bool is_constant = s->in[i] != ONNX_NONE && net->tensor[s->in[i]].place == NET_CONSTANTS;

        *(is_constant ? &row->weight_bytes : &row->in_bytes) += bytes_of(net, s->in[i]);
    }
    if (s->conv) {
        row->weight_bytes += bytes_of(net, s->conv->filter);
        row->in_bytes += bytes_of(net, s->conv->residual);
    }
    for (size_t i = 0; i < s->n_out; i++)
        row->out_bytes += bytes_of(net, s->out[i]);
}

static void take_waits(STEPS *row, const struct row_at *at, const struct net_which *w)
{
    const size_t n = at->s->setup->machine.n_levels;

    row->estimate = net_estimate_of(at->s, at->x, net_study_view(at->s, at->x), w);
    row->waits_for = net_waits_for(at->s, &row->estimate);
    for (size_t l = 0; l < n; l++) {
        struct value *wait = &row->wait[l + 1 == n ? 2 : l ? 1 : 0];

        *wait = value_sum(*wait, row->estimate.wait_cycles[l]);
    }
    for (size_t i = 0; i < 3; i++)
        row->wait[i] = value_or(row->wait[i].number, row->estimate.total_cycles.why);
}

static void put_node(struct exp_csv *csv, const struct row_at *at)
{
    const struct net *net = at->x->net;
    const struct net_step *step = &net->step[at->step];
    const struct net_which w = { .step = step };
    const struct net_counted *counted = &at->by->counted;
    STEPS row = { .key = keys_of(at), .macs = net_step_macs(net, step), .refusal = or_none(at->x->missing.text) };

    net_step_describe(net, step, row.does, sizeof row.does);
    take_shape(&row, net, step);
    take_bytes(&row, net, step);
    row.time = net_times_of(&at->by->timed, &w).low_mean;
    row.percent = ratio_of(row.time, net_times_of(&at->by->timed, NULL).low_mean, 100, "it has nothing to run");
    take_waits(&row, at, &w);
    for (size_t q = 0; q < NET_N_COUNTED; q++)
        row.counted[q] =
            value_if_finite(counted->value ? counted->value[at->step * NET_N_COUNTED + q] : (double)NAN,
                            *counted->missing.text ? counted->missing.text : "this CPU's events do not tell");
    row.source = row.refusal ? "" : net_stream_source(&at->x->stream, at->step);
    rec_put(csv, &net_nodes_table, &row);
}

/* ---- sequence.csv ---- */

#define SEQUENCE struct sequence_row
SEQUENCE
{
    struct keys key;
    const char *tensor;
    struct net_lines lines;
};

static const struct rec_field sequence_fields[] = {
    MODEL(SEQUENCE),
    ALGO(SEQUENCE),
    STEP(SEQUENCE),
    NODE(SEQUENCE),
    OP(SEQUENCE, "ONNX's operator"),
    CAPS(SEQUENCE),
    LEVEL(SEQUENCE),
    { { "tensor", "", "input, other input, weights, output, workspace, stack; all: their sum", "" },
      REC_AT(SEQUENCE, tensor) },
    LINES(SEQUENCE),
};

const struct rec_table net_sequence_table = REC_TABLE("sequence.csv", sequence_fields, SEQUENCE);

/* Returns the lines of a tensor, of all tensors for EXP_N_TOUCHED; counts: of all steps, NULL: not simulated. */
static struct value tensor_lines(const struct row_at *at, const struct exp_step_counts *counts, int tensor)
{
    struct sim_cell sum;

    if (!counts)
        return value_none(NET_NOT_ALONE);
    sum = tensor == EXP_N_TOUCHED ? exp_step_total(&counts[at->step]) : counts[at->step].touched[tensor];
    return value_of((double)exp_lines_into(&sum, net_study_machine(at->s, at->view), at->level));
}

/* Puts a row for each tensor of a step that has lines, and for all tensors. */
static void put_sequence(struct exp_csv *csv, const struct row_at *at)
{
    const struct exp_sequence *alone = &at->x->alone[at->view];
    SEQUENCE row = { .key = keys_of(at) };

    for (int t = 0; t <= EXP_N_TOUCHED && at->x->in_sequence[at->view].counts; t++) {
        row.tensor = t == EXP_N_TOUCHED ? "all" : exp_touched_name((enum exp_touched)t);
        row.lines = (struct net_lines){ tensor_lines(at, at->x->in_sequence[at->view].counts, t),
                                        tensor_lines(at, alone->counts, t), tensor_lines(at, alone->warm, t) };
        if (t == EXP_N_TOUCHED || row.lines.in_sequence.number > 0 || row.lines.alone.number > 0 ||
            row.lines.warm.number > 0)
            rec_put(csv, &net_sequence_table, &row);
    }
}

/* ---- variants.csv ---- */

#define VARIANT struct variant_row
VARIANT
{
    struct keys key;
    const char *variant;
    struct value n_steps, arena_bytes, found_percent, cycles;
    struct net_lines lines;
};

static const struct rec_field variant_fields[] = {
    MODEL(VARIANT),
    ALGO(VARIANT),
    { { "variant", "", "how the network was planned", "" }, REC_AT(VARIANT, variant) },
    FUSED(VARIANT),
    NUMBER(VARIANT, "steps", "", "", "", n_steps),
    ARENA(VARIANT),
    CAPS(VARIANT),
    LEVEL(VARIANT),
    LINES(VARIANT),
    SIMULATED(VARIANT, "found_percent", "%", "of alone_lines: what steps find that others left", found_percent),
    CYCLES(VARIANT, "estimated_cycles", "estimate: if all loads wait, in sequence, by this view", cycles),
};

const struct rec_table net_variants_table = REC_TABLE("variants.csv", variant_fields, VARIANT);

static const char *variant_name(const struct net_simulated *x, enum net_variant v)
{
    static const char *const names[NET_N_VARIANTS] = {
        [NET_AS_ASKED] = "as asked",
        [NET_NO_REUSE] = "no memory is reused",
        [NET_DEPTH_FIRST] = "a branch to its end",
        [NET_WIDTH_FIRST] = "branches side by side",
    };

    return v != NET_OTHER_FUSION ? names[v] : x->is_fused ? "fused" : "not fused";
}

static void put_variant(struct exp_csv *csv, const struct row_at *at)
{
    const struct net_simulated *x = at->x;
    const char *why = x->net ? NULL : x->missing.text;
    VARIANT row = { .key = keys_of(at), .variant = variant_name(x, at->variant) };

    /* A variant without a simulation has a single row, with the reason. */
    if (!x->in_sequence[at->view].counts && (!*x->missing.text || at->view != NET_CACHES_ALONE || at->level))
        return;
    row.n_steps = value_or(x->net ? (double)x->net->n_steps : 0, why);
    row.arena_bytes = value_or(x->net ? (double)x->net->place_bytes[NET_ARENA] : 0, why);
    row.lines = net_lines_of(at->s, x, at->view, at->level, NULL);
    row.found_percent =
        value_if_finite(100 * (1 - row.lines.in_sequence.number / row.lines.alone.number), NET_NOT_ALONE);
    row.cycles = net_estimate_of(at->s, x, at->view, NULL).total_cycles;
    rec_put(csv, &net_variants_table, &row);
}

/* ---- kinds.csv ---- */

#define KIND struct kind_row
KIND
{
    struct keys key;
    struct value n_steps, time, time_percent, cycles, cycles_percent;
    struct net_lines lines;
};

/* Values of a whole kind stand in the kind's first row only, for correct sums over rows. */
#define ONCE "; only in the first row of a kind, for all its levels"

static const struct rec_field kind_fields[] = {
    MODEL(KIND),
    ALGO(KIND),
    FUSED(KIND),
    OP(KIND, "ONNX's operator"),
    NUMBER(KIND, "steps", "", "of this kind" ONCE, "", n_steps),
    CLOCKED(KIND, "measured_time_ns", "ns", "their sum: mean of the fastest quarter of the rounds" ONCE, time),
    CLOCKED(KIND, "measured_time_percent", "%", "of the network's" ONCE, time_percent),
    CYCLES(KIND, "estimated_cycles", "estimate: if all loads wait, in sequence" ONCE, cycles),
    SIMULATED(KIND, "estimated_percent", "%", "of the network's" ONCE, cycles_percent),
    LEVEL(KIND),
    LINES(KIND),
};

const struct rec_table net_kinds_table = REC_TABLE("kinds.csv", kind_fields, KIND);

static void take_kind(KIND *row, const struct row_at *at, enum net_view v, const struct net_which *w)
{
    double n_steps = 0;

    for (size_t i = 0; i < at->x->net->n_steps; i++)
        n_steps += net_is_asked(&at->x->net->step[i], w);
    row->n_steps = value_of(n_steps);
    row->time = row->time_percent = value_none(other_fusion);
    if (at->variant == NET_AS_ASKED) {
        row->time = net_times_of(&at->by->timed, w).low_mean;
        row->time_percent =
            ratio_of(row->time, net_times_of(&at->by->timed, NULL).low_mean, 100, "it has nothing to run");
    }
    row->cycles = net_estimate_of(at->s, at->x, v, w).total_cycles;
    row->cycles_percent = percent_of(row->cycles, net_estimate_of(at->s, at->x, v, NULL).total_cycles, NULL);
}

static void put_kind(struct exp_csv *csv, const struct row_at *at)
{
    const struct net_which w = { .op = at->x->net->step[at->step].op };
    const enum net_view v = net_study_view(at->s, at->x);
    KIND row = { .key = keys_of(at) };

    if (!net_is_first_of_op(at->x->net, at->step))
        return;
    row.n_steps = row.time = row.time_percent = row.cycles = row.cycles_percent = value_none(REC_DOES_NOT_APPLY);
    if (!at->level)
        take_kind(&row, at, v, &w);
    row.lines = net_lines_of(at->s, at->x, v, at->level, &w);
    row.lines.alone = value_if_finite(row.lines.alone.number, NET_NOT_ALONE);
    row.lines.warm = value_if_finite(row.lines.warm.number, NET_NOT_ALONE);
    rec_put(csv, &net_kinds_table, &row);
}

/* ---- skipped.csv ---- */

#define SKIPPED struct skipped_row
SKIPPED
{
    struct keys key;
    const char *reason, *step;
    size_t number;
};

static const struct rec_field skipped_fields[] = {
    MODEL(SKIPPED),
    { { "number", "", "of the node in the file, from 1", "" }, REC_AT(SKIPPED, number) },
    NODE(SKIPPED),
    OP(SKIPPED, "ONNX's operator"),
    { { "reason", "", "why it is no step of its own", "" }, REC_AT(SKIPPED, reason) },
    { { "done_by", "", "the step that does it, if one does", "" }, REC_AT(SKIPPED, step) },
};

const struct rec_table net_skipped_table = REC_TABLE("skipped.csv", skipped_fields, SKIPPED);

static void put_skipped(struct exp_csv *csv, const struct row_at *at)
{
    const struct net *net = at->by == at->s->by ? at->x->net : NULL;

    for (size_t i = 0; net && i < net->graph->n_nodes; i++) {
        const struct onnx_node *n = &net->graph->node[i];
        const struct net_step *step = net->step_of[i] == ONNX_NONE ? NULL : &net->step[net->step_of[i]];
        const SKIPPED row = { .key = { .model = at->s->name, .node = n->name, .op = n->op },
                              .reason = step ? "a part of another step" : net->no_step[i],
                              .step = step ? step->name : "",
                              .number = n->number };

        if (strncmp(n->op, "Constant", 8) != 0 && (!step || strcmp(step->name, n->name) != 0))
            rec_put(csv, &net_skipped_table, &row);
    }
}

/* ---- memory.csv ---- */

#define MEMORY struct memory_row
MEMORY
{
    struct keys key;
    const char *tensor, *place, *in;
    size_t bytes, offset, first, last;
};

static const struct rec_field memory_fields[] = {
    MODEL(MEMORY),
    ALGO(MEMORY),
    { { "tensor", "", "its name", "" }, REC_AT(MEMORY, tensor) },
    { { "place", "", "arena: planned and reused; inputs; weights", "" }, REC_AT(MEMORY, place) },
    { { "offset_bytes", "bytes", "of its first byte in its place", "" }, REC_AT(MEMORY, offset) },
    { { "bytes", "bytes", "", "" }, REC_AT(MEMORY, bytes) },
    { { "first_step", "", "that needs it, from 1", "" }, REC_AT(MEMORY, first) },
    { { "last_step", "", "", "" }, REC_AT(MEMORY, last) },
    { { "lies_in", "", "the tensor whose memory it shares: a view, or a part of a concatenation", "" },
      REC_AT(MEMORY, in) },
};

const struct rec_table net_memory_table = REC_TABLE("memory.csv", memory_fields, MEMORY);

static void put_memory(struct exp_csv *csv, const struct row_at *at)
{
    static const char *const places[NET_N_PLACES] = { "nowhere", "arena", "inputs", "weights" };
    const struct net *net = at->x->net;

    for (size_t i = 0; net && i < net->n_tensors; i++) {
        const struct net_tensor *t = &net->tensor[i];
        const MEMORY row = { .key = keys_of(at),
                             .tensor = t->name,
                             .place = places[t->place],
                             .in = t->root == i ? "" : net->tensor[t->root].name,
                             .bytes = t->bytes,
                             .offset = t->offset,
                             .first = t->first + 1,
                             .last = t->last + 1 };

        if (t->place != NET_NOWHERE)
            rec_put(csv, &net_memory_table, &row);
    }
}

/* ---- all of them ---- */

/* A file: the loops over rows, within the loop over algorithms. */
struct file {
    const struct rec_table *table;
    const char *row; /* the meaning of one row */
    void (*put)(struct exp_csv *csv, const struct row_at *at);
    int n_variants; /* the first n_variants variants */
    bool views, steps, levels;
};

static const struct file files[] = {
    { &net_network_table, "one algorithm, the whole network, fused or not", put_network, 2, false, false, false },
    { &net_nodes_table, "one step, with one algorithm", put_node, 1, false, true, false },
    { &net_sequence_table, "lines of one tensor, or of all, into one level, in one step with one algorithm",
      put_sequence, 1, true, true, true },
    { &net_variants_table, "lines of the whole network into one level, in one variant with one algorithm", put_variant,
      NET_N_VARIANTS, true, false, true },
    { &net_kinds_table,
      "one operator at one level, with one algorithm; numbers of the operator, not of a level, stand in its first row "
      "only",
      put_kind, 2, false, true, true },
    { &net_skipped_table, "one node that is no step of its own", put_skipped, 1, false, false, false },
    { &net_memory_table, "one tensor, with one algorithm", put_memory, 1, false, false, false },
};

/* Goes over the views, steps and levels of a variant. */
static void put_all(struct exp_csv *csv, const struct file *f, struct row_at at)
{
    const size_t n_views = f->views ? at.s->n_views : 1, n_levels = f->levels ? at.s->setup->machine.n_levels + 1 : 1;
    const size_t n_steps = !f->steps ? 1 : at.x->net ? at.x->net->n_steps : 0;

    for (size_t i = 0; i < n_views * n_steps * n_levels; i++) {
        at.view = (enum net_view)(i / n_levels / n_steps);
        at.step = i / n_levels % n_steps;
        at.level = i % n_levels;
        f->put(csv, &at);
    }
}

static int write_file(const struct file *f, const struct net_study *s, const struct net_published *paper,
                      const struct exp_outdir *dir, const char *what, struct exp_why *why)
{
    struct exp_csv *csv = exp_csv_begin(dir, &f->table->file, what);

    exp_csv_header(csv, "one row", "%s", f->row);
    for (size_t a = 0; a < s->n_algos; a++) {
        for (int v = 0; v < f->n_variants; v++)
            put_all(csv, f,
                    (struct row_at){ .s = s,
                                     .by = &s->by[a],
                                     .x = &s->by[a].variant[v],
                                     .variant = (enum net_variant)v,
                                     .paper = paper });
    }
    if (f->table == &net_network_table && *s->peer.name)
        put_peer(csv, s, paper);
    return exp_csv_close(csv, why);
}

int net_tables_write(const struct net_study *s, const struct exp_outdir *dir, const char *what, struct exp_why *why)
{
    struct net_published paper;
    int err = net_published_of(s, &paper, why);

    for (size_t i = 0; i < sizeof files / sizeof files[0] && !err; i++)
        err = write_file(&files[i], s, &paper, dir, what, why);
    return err;
}
