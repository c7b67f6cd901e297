/* The tables that a study of a network leaves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/cells.h"
#include "experiments/bench/case/published.h"
#include "experiments/network/study.h"

static const char not_simulated[] = "not simulated in this view", not_alone[] = "not simulated step by step";

/* clang-format off */
#define COLUMN_NETWORK { "model", "", "name of the network", "" }
#define COLUMN_ALGO { "algo", "", "algorithm of the convolutions", "" }
#define COLUMN_FUSED \
    { "fused", "", "1: batch normalisation folded, activations and additions fused; 0: as in the paper", "" }
#define COLUMN_ARENA { "arena_bytes", "bytes", "memory of the planner for tensors and workspaces", "" }
#define COLUMN_STEP { "step", "", "position in the order of the run, from 1", "" }
#define COLUMN_NODE { "node", "", "name of the node", "" }
#define COLUMN_OP { "op", "", "ONNX's operator", "" }
#define COLUMN_CAPS { "caches", "", "caches alone, or the machine as it is", "" }
#define COLUMN_LEVEL { "level", "", "of the machine; memory: lines read from there", "" }
#define COLUMN_LINES \
    { "sequence_lines", "lines", "brought into the level, caches as the steps before left them", "simulation" }
#define COLUMN_ALONE { "alone_lines", "lines", "the same, each step with empty caches", "simulation" }
#define COLUMN_WARM { "warm_lines", "lines", "the same, each step with what it left itself", "simulation" }

/* Fields: what the clock says, what an estimate does, and what the paper prints. */
#define CLOCKED(row, name, unit, what, member, why) { { name, unit, what, "clock" }, REC_NAN_OR(row, member, why) }
#define CYCLES(row, name, what, member) \
    { { name, "cycles", what, "simulation" }, REC_OR(row, member, why_no_estimate) }
#define RATIO(name, what, member) { { name, "", what, "simulation" }, REC_NAN_OR(NETWORK, member, why_no_ratio) }
#define PRINTED(name, what, i) { { name, "", what, "SConv Table 2" }, REC_NAN_OR(NETWORK, paper[i], why_no_paper) }
/* clang-format on */

/* ---- network.csv ---- */

#define NETWORK struct network_row
struct network_row {
    const char *model, *algo, *why_no_time, *why_no_speedup, *why_no_estimate, *why_no_paper, *why_no_plan;
    bool is_fused;
    size_t n_steps, n_convolutions, n_rounds;
    double macs, arena_bytes, alive_bytes, constant_bytes;
    struct exp_times times, conv_times;
    struct exp_ratio speedup, conv_speedup;
    struct net_estimate estimate, conv;
    double estimated_speedup, estimated_conv_speedup, issue_speedup, paper[3], apart;
    const char *why_no_share, *why_not_beside, *why_no_ratio;
};

/* Returns the part in percent; 0 of nothing, which is never shown: those columns have a reason then. */
static double percent_of(double part, double whole)
{
    return whole > 0 && isfinite(part) ? 100 * part / whole : 0;
}

static double share_percent(const void *row)
{
    return percent_of(((const NETWORK *)row)->conv_times.low_mean, ((const NETWORK *)row)->times.low_mean);
}

static double estimated_share_percent(const void *row)
{
    return percent_of(((const NETWORK *)row)->conv.total_cycles, ((const NETWORK *)row)->estimate.total_cycles);
}

static double issue_share_percent(const void *row)
{
    return percent_of(((const NETWORK *)row)->conv.issue_cycles, ((const NETWORK *)row)->estimate.issue_cycles);
}

static double arena_over_alive(const void *row)
{
    const NETWORK *r = row;

    return r->alive_bytes > 0 ? r->arena_bytes / r->alive_bytes : 1;
}

static const struct rec_field network_fields[] = {
    { COLUMN_NETWORK, REC_AT(NETWORK, model) },
    { COLUMN_ALGO, REC_AT(NETWORK, algo) },
    { COLUMN_FUSED, REC_AT(NETWORK, is_fused) },
    { { "steps", "", "of the run: nodes that move or compute something, fused ones together", "" },
      REC_AT(NETWORK, n_steps) },
    { { "convolutions", "", "of these", "" }, REC_AT(NETWORK, n_convolutions) },
    { { "macs", "multiply-adds", "of convolutions and matrix products", "" }, REC_AT(NETWORK, macs) },
    { COLUMN_ARENA, REC_OR(NETWORK, arena_bytes, why_no_plan) },
    { { "alive_bytes", "bytes", "the largest set of them that is needed at once", "" },
      REC_OR(NETWORK, alive_bytes, why_no_plan) },
    { { "arena_to_alive", "", "the first over the second", "" },
      REC_DERIVED_OR(NETWORK, arena_over_alive, why_no_plan) },
    { { "weight_bytes", "bytes", "weights, as the steps read them", "" },
      REC_OR(NETWORK, constant_bytes, why_no_plan) },
    CLOCKED(NETWORK, "measured_time_ns", "ns", "a run: mean of the fastest quarter of the rounds", times.low_mean,
            why_no_time),
    CLOCKED(NETWORK, "measured_time_min_ns", "ns", "the fastest round", times.fastest, why_no_time),
    CLOCKED(NETWORK, "measured_time_median_ns", "ns", "the median", times.median, why_no_time),
    { { "measured_rounds", "", "timed runs", "" }, REC_OR(NETWORK, n_rounds, why_no_time) },
    CLOCKED(NETWORK, "measured_conv_time_ns", "ns", "of its convolutions, with what is fused behind them",
            conv_times.low_mean, why_no_share),
    { { "measured_conv_share_percent", "%", "of the time; ONNX Runtime's: by its own profile", "clock" },
      REC_DERIVED_OR(NETWORK, share_percent, why_no_share) },
    CLOCKED(NETWORK, "measured_speedup_vs_base", "", "base's time / this one: the whole network", speedup.value,
            why_no_speedup),
    { EXP_COLUMN_SPEEDUP_LOW, REC_NAN_OR(NETWORK, speedup.low, why_no_speedup) },
    { EXP_COLUMN_SPEEDUP_HIGH, REC_NAN_OR(NETWORK, speedup.high, why_no_speedup) },
    CLOCKED(NETWORK, "measured_conv_speedup_vs_base", "", "the same of the convolutions alone", conv_speedup.value,
            why_no_speedup),
    CYCLES(NETWORK, "estimated_issue_cycles", "estimate: if all loads hit the first level", estimate.issue_cycles),
    CYCLES(NETWORK, "estimated_cycles", "estimate: if all loads wait, in sequence", estimate.total_cycles),
    CYCLES(NETWORK, "estimated_conv_issue_cycles", "the first, of the convolutions", conv.issue_cycles),
    CYCLES(NETWORK, "estimated_conv_cycles", "the second, of the convolutions", conv.total_cycles),
    { { "estimated_conv_share_percent", "%", "of estimated_cycles", "simulation" },
      REC_DERIVED_OR(NETWORK, estimated_share_percent, why_no_estimate) },
    { { "estimated_conv_share_issue_percent", "%", "of estimated_issue_cycles", "simulation" },
      REC_DERIVED_OR(NETWORK, issue_share_percent, why_no_estimate) },
    RATIO("estimated_speedup_vs_base", "base's estimated_cycles / these", estimated_speedup),
    RATIO("estimated_issue_speedup_vs_base", "base's estimated_issue_cycles / these", issue_speedup),
    RATIO("estimated_conv_speedup_vs_base", "the first of the two, of the convolutions", estimated_conv_speedup),
    PRINTED("paper_model_speedup", "what the paper prints of this network on its machine", 0),
    PRINTED("paper_conv_speedup", "likewise, its convolutions", 1),
    PRINTED("paper_conv_time_share", "likewise, their share of the time", 2),
    { { "apart", "", "the largest difference of a tensor, over its largest value, from ONNX Runtime's, both not fused",
        "" },
      REC_NAN_OR(NETWORK, apart, why_not_beside) },
};

const struct rec_table net_network_table = REC_TABLE("network.csv", network_fields, NETWORK);

static const struct net_which convolutions = { .only_convolutions = true };

/* Returns the variant of an algorithm that is fused, or is not. */
static const struct net_simulated *fused_or_not(const struct net_by_algo *by, bool is_fused)
{
    const struct net_simulated *x = &by->variant[NET_AS_ASKED];

    return x->is_fused == is_fused ? x : &by->variant[NET_OTHER_FUSION];
}

static const char *either(const char *why, const char *otherwise)
{
    return why && *why ? why : otherwise;
}

static void take_times(NETWORK *row, const struct net_study *s, const struct net_by_algo *by)
{
    row->times = net_times_of(&by->timed, NULL);
    row->conv_times = net_times_of(&by->timed, &convolutions);
    row->n_rounds = by->timed.n_rounds;
    row->speedup = net_speedup(s, by, NULL);
    row->conv_speedup = net_speedup(s, by, &convolutions);
    row->why_no_time = *by->timed.why_not ? by->timed.why_not : NULL;
    row->why_no_share = row->why_no_time || row->times.low_mean > 0 ? row->why_no_time : "it has nothing to run";
    row->why_no_speedup =
        either(row->why_no_time, isnan(row->speedup.value) ? "Base was not timed" : EXP_RATIO_NO_INTERVAL);
}

static void take_no_times(NETWORK *row)
{
    row->times = row->conv_times = exp_times_of(NULL, 0);
    row->speedup = row->conv_speedup = exp_ratio_none();
    row->why_no_time = row->why_no_share = row->why_no_speedup = "FUSE asked for the other kind";
}

static void take_estimates(NETWORK *row, const struct net_study *s, const struct net_simulated *x)
{
    const struct net_simulated *base = fused_or_not(&s->by[0], x->is_fused);
    const bool has_base = s->by[0].algo == exp_algo_base() && !net_why_no_estimate(s, base);

    row->why_no_estimate = net_why_no_estimate(s, x);
    row->why_no_ratio = either(row->why_no_estimate, "Base was not simulated, or has nothing to run");
    row->estimated_speedup = row->estimated_conv_speedup = row->issue_speedup = (double)NAN;
    if (row->why_no_estimate)
        return;
    row->estimate = net_estimate_of(s, x, NULL);
    row->conv = net_estimate_of(s, x, &convolutions);
    if (!has_base)
        return;
    row->estimated_speedup = net_estimate_of(s, base, NULL).total_cycles / row->estimate.total_cycles;
    row->issue_speedup = net_estimate_of(s, base, NULL).issue_cycles / row->estimate.issue_cycles;
    row->estimated_conv_speedup = net_estimate_of(s, base, &convolutions).total_cycles / row->conv.total_cycles;
}

static void take_plan(NETWORK *row, const struct net *net)
{
    row->n_steps = net->n_steps;
    for (size_t i = 0; i < net->n_steps; i++) {
        row->n_convolutions += net->step[i].conv != NULL;
        row->macs += net_step_macs(net, &net->step[i]);
    }
    row->arena_bytes = (double)net->place_bytes[NET_ARENA];
    row->alive_bytes = (double)net->alive_bytes;
    row->constant_bytes = (double)net->place_bytes[NET_CONSTANTS];
}

/* Takes what the paper prints: of the machine simulated, if nothing was timed, else of this kind of CPU. */
static void take_paper(NETWORK *row, const struct net_study *s, const struct exp_published *p)
{
    static const char *const metric[] = { "model_speedup", "conv_speedup", "conv_time_share" };
    const char *arch = exp_published_arch_of_machine(s->setup->machine.name, false);
    struct exp_why why;

    row->why_no_paper = "the paper has no such network or machine";
    for (size_t i = 0; i < 3; i++) {
        row->paper[i] = (double)NAN;
        exp_published_double(p, "Table 2", s->name, *arch ? arch : "x86", metric[i], &row->paper[i], &why);
    }
}

static NETWORK network_row(const struct net_study *s, const struct net_by_algo *by, bool is_fused,
                           const struct exp_published *p)
{
    const struct net_simulated *x = fused_or_not(by, is_fused);
    NETWORK row = { .model = s->name,
                    .algo = by->algo->name,
                    .is_fused = is_fused,
                    .apart = (double)NAN,
                    .why_not_beside = "ONNX Runtime's row has it" };

    take_plan(&row, x->net);
    if (is_fused == s->fuses)
        take_times(&row, s, by);
    else
        take_no_times(&row);
    take_estimates(&row, s, x);
    take_paper(&row, s, p);
    return row;
}

static NETWORK peer_row(const struct net_study *s, const struct exp_published *p)
{
    NETWORK row = { .model = s->name, .algo = s->peer.name, .is_fused = s->fuses, .apart = s->peer.apart };

    row.times = exp_times_of(s->peer.whole_ns, s->peer.n_rounds);
    row.n_rounds = s->peer.n_rounds;
    row.conv_times = exp_times_of(NULL, 0);
    row.conv_times.low_mean = s->peer.conv_share * row.times.low_mean;
    row.speedup = row.conv_speedup = exp_ratio_none();
    row.why_no_time = *s->peer.why_not ? s->peer.why_not : NULL;
    row.why_no_share = either(row.why_no_time, s->peer.why_no_share);
    row.why_not_beside = either(row.why_no_time, "CHECK=0, or the verdict says why");
    row.why_no_plan = row.why_no_speedup = row.why_no_estimate = row.why_no_ratio = "it is another runtime";
    row.estimated_speedup = row.estimated_conv_speedup = row.issue_speedup = (double)NAN;
    take_paper(&row, s, p);
    return row;
}

static int write_network(const struct net_study *s, const struct exp_outdir *dir, const char *what, struct exp_why *why)
{
    NETWORK *rows = exp_new(2 * s->n_algos + 1, sizeof *rows);
    struct exp_published p;
    size_t n = 0;
    int err = exp_published_read(&p, "experiments", why);

    for (size_t i = 0; i < 2 * s->n_algos && !err; i++) {
        const bool is_fused = (i % 2 == 0) == s->fuses;

        if (fused_or_not(&s->by[i / 2], is_fused)->net)
            rows[n++] = network_row(s, &s->by[i / 2], is_fused, &p);
    }
    if (!err && *s->peer.name)
        rows[n++] = peer_row(s, &p);
    if (!err)
        err = rec_write(&net_network_table, rows, n, dir, what, why);
    exp_published_release(&p);
    free(rows);
    return err;
}

/* ---- nodes.csv ---- */

#define NODE struct node_row
struct node_row {
    const char *model, *algo, *node, *op, *source, *waits_for, *why_no_time, *why_no_estimate, *why_not;
    char does[256], out[96];
    bool is_fused;
    size_t step;
    double macs, in_bytes, weight_bytes, out_bytes, time_percent;
    struct exp_times times;
    struct net_estimate estimate;
    double wait[4], counted[NET_N_COUNTED];
    const char *why_not_counted;
};

static const struct rec_field node_fields[] = {
    { COLUMN_NETWORK, REC_AT(NODE, model) },
    { COLUMN_ALGO, REC_AT(NODE, algo) },
    { COLUMN_FUSED, REC_AT(NODE, is_fused) },
    { COLUMN_STEP, REC_AT(NODE, step) },
    { COLUMN_NODE, REC_AT(NODE, node) },
    { { "op", "", "ONNX's operator of the node that gives the step its kind", "" }, REC_AT(NODE, op) },
    { { "does", "", "all that is done in the step", "" }, REC_AT(NODE, does) },
    { { "output", "", "its shape", "" }, REC_AT(NODE, out) },
    { { "macs", "multiply-adds", "of a convolution or a matrix product", "" }, REC_AT(NODE, macs) },
    { { "input_bytes", "bytes", "of its inputs that are no constants", "" }, REC_AT(NODE, in_bytes) },
    { { "weight_bytes", "bytes", "of those that are", "" }, REC_AT(NODE, weight_bytes) },
    { { "output_bytes", "bytes", "", "" }, REC_AT(NODE, out_bytes) },
    CLOCKED(NODE, "measured_time_ns", "ns", "mean of the fastest quarter of the rounds", times.low_mean, why_no_time),
    CLOCKED(NODE, "measured_time_percent", "%", "of the network's", time_percent, why_no_time),
    CYCLES(NODE, "estimated_issue_cycles", "estimate: if all loads hit the first level", estimate.issue_cycles),
    CYCLES(NODE, "estimated_wait_l2_cycles", "estimate: waits for loads that the second level serves, in sequence",
           wait[0]),
    CYCLES(NODE, "estimated_wait_l3_cycles", "for those that levels further out serve", wait[1]),
    CYCLES(NODE, "estimated_wait_memory_cycles", "for those that memory serves", wait[2]),
    CYCLES(NODE, "estimated_cycles", "the sum", estimate.total_cycles),
    { { "waits_for", "", "the largest part of that: issue, a level or memory", "simulation" },
      REC_OR(NODE, waits_for, why_no_estimate) },
    { { "counted_l1_lines", "lines", "brought into L1, whatever brought them", "perf_event" },
      REC_NAN_OR(NODE, counted[0], why_not_counted) },
    { { "counted_l2_lines", "lines", "likewise into L2", "perf_event" },
      REC_NAN_OR(NODE, counted[1], why_not_counted) },
    { { "counted_memory_lines", "lines", "read from memory", "perf_event" },
      REC_NAN_OR(NODE, counted[2], why_not_counted) },
    { { "accesses", "", "where those of the simulation are from", "" }, REC_OR(NODE, source, why_not) },
};

const struct rec_table net_nodes_table = REC_TABLE("nodes.csv", node_fields, NODE);

static void say_shape(const struct net *net, const struct net_step *s, char *text, size_t bytes)
{
    const size_t t = s->n_out ? s->out[0] : ONNX_NONE, v = t == ONNX_NONE ? ONNX_NONE : net->tensor[t].value;

    for (size_t d = 0; v != ONNX_NONE && d < net->graph->value[v].n_dims; d++)
        exp_say_more(text, bytes, "%s%lld", d ? "x" : "", (long long)net->graph->value[v].dim[d]);
}

static void take_bytes(NODE *row, const struct net *net, const struct net_step *s)
{
    for (size_t i = 0; i < s->n_in; i++) {
        const struct net_tensor *t = s->in[i] == ONNX_NONE ? NULL : &net->tensor[s->in[i]];

        if (t)
            *(t->place == NET_CONSTANTS ? &row->weight_bytes : &row->in_bytes) += (double)t->bytes;
    }
    if (s->conv && s->conv->filter != ONNX_NONE)
        row->weight_bytes += (double)net->tensor[s->conv->filter].bytes;
    if (s->conv && s->conv->residual != ONNX_NONE)
        row->in_bytes += (double)net->tensor[s->conv->residual].bytes;
    for (size_t i = 0; i < s->n_out; i++)
        row->out_bytes += s->out[i] == ONNX_NONE ? 0 : (double)net->tensor[s->out[i]].bytes;
}

static void take_waits(NODE *row, const struct net_study *s, const struct net_simulated *x, size_t step)
{
    const size_t n = s->setup->machine.n_levels;

    row->why_no_estimate = net_why_no_estimate(s, x);
    if (row->why_no_estimate)
        return;
    row->estimate = net_estimate_step(s, x, step);
    row->waits_for = net_waits_for(s, &row->estimate);
    for (size_t l = 0; l < n; l++)
        row->wait[l + 1 == n ? 2 : l ? 1 : 0] += row->estimate.wait_cycles[l];
}

static NODE node_row(const struct net_study *s, const struct net_by_algo *by, size_t step)
{
    const struct net_simulated *x = &by->variant[NET_AS_ASKED];
    const struct net_step *st = &x->net->step[step];
    NODE row = { .model = s->name,
                 .algo = by->algo->name,
                 .is_fused = x->is_fused,
                 .step = step + 1,
                 .node = st->name,
                 .op = st->op,
                 .macs = net_step_macs(x->net, st),
                 .why_no_time = *by->timed.why_not ? by->timed.why_not : NULL };

    net_step_describe(x->net, st, row.does, sizeof row.does);
    say_shape(x->net, st, row.out, sizeof row.out);
    take_bytes(&row, x->net, st);
    row.times = net_step_times(&by->timed, step);
    row.time_percent = 100 * row.times.low_mean / net_times_of(&by->timed, NULL).low_mean;
    take_waits(&row, s, x, step);
    for (size_t q = 0; q < NET_N_COUNTED; q++)
        row.counted[q] = by->counted.value ? by->counted.value[step * NET_N_COUNTED + q] : (double)NAN;
    row.why_not_counted = either(by->counted.why_not, "this CPU's events do not tell");
    row.why_not = *x->why_not ? x->why_not : NULL;
    row.source = row.why_not ? "" : net_stream_source(&x->stream, step);
    return row;
}

static void put_nodes(struct exp_csv *csv, const void *study)
{
    const struct net_study *s = study;

    for (size_t a = 0; a < s->n_algos; a++) {
        const struct net *net = s->by[a].variant[NET_AS_ASKED].net;

        for (size_t i = 0; net && i < net->n_steps; i++) {
            const NODE row = node_row(s, &s->by[a], i);

            rec_put(csv, &net_nodes_table, &row);
        }
    }
}

/* ---- sequence.csv ---- */

#define SEQUENCE struct sequence_row
struct sequence_row {
    const char *model, *algo, *node, *op, *caches, *level, *tensor, *why_not;
    size_t step;
    uint64_t in_sequence, alone, warm;
};

static const struct rec_field sequence_fields[] = {
    { COLUMN_NETWORK, REC_AT(SEQUENCE, model) },
    { COLUMN_ALGO, REC_AT(SEQUENCE, algo) },
    { COLUMN_STEP, REC_AT(SEQUENCE, step) },
    { COLUMN_NODE, REC_AT(SEQUENCE, node) },
    { COLUMN_OP, REC_AT(SEQUENCE, op) },
    { COLUMN_CAPS, REC_AT(SEQUENCE, caches) },
    { COLUMN_LEVEL, REC_AT(SEQUENCE, level) },
    { { "tensor", "", "input, other input, weights, output, workspace, stack; all: their sum", "" },
      REC_AT(SEQUENCE, tensor) },
    { COLUMN_LINES, REC_AT(SEQUENCE, in_sequence) },
    { COLUMN_ALONE, REC_OR(SEQUENCE, alone, why_not) },
    { COLUMN_WARM, REC_OR(SEQUENCE, warm, why_not) },
};

const struct rec_table net_sequence_table = REC_TABLE("sequence.csv", sequence_fields, SEQUENCE);

/* One view of one algorithm. */
struct looked_at {
    const struct net_study *s;
    const struct net_by_algo *by;
    enum net_view view;
};

/* The counts of a step in a row: of a tensor, or of all. */
static void put_tensor(struct exp_csv *csv, const struct looked_at *at, size_t step, size_t level, int tensor)
{
    const struct net_simulated *x = &at->by->variant[NET_AS_ASKED];
    const struct sim_machine *m = net_study_machine(at->s, at->view);
    const bool is_alone = x->alone[at->view].counts;
    const struct exp_step_counts *c[3] = { &x->in_sequence[at->view].counts[step],
                                           is_alone ? &x->alone[at->view].counts[step] : NULL,
                                           is_alone ? &x->alone[at->view].warm[step] : NULL };
    uint64_t lines[3] = { 0 };
    SEQUENCE row;

    for (size_t i = 0; i < 3 && c[i]; i++) {
        const struct sim_cell sum = tensor == EXP_N_TOUCHED ? exp_step_total(c[i]) : c[i]->touched[tensor];

        lines[i] = exp_lines_into(&sum, m, level);
    }
    if (tensor != EXP_N_TOUCHED && !lines[0] && !lines[1] && !lines[2])
        return;
    row = (SEQUENCE){ .model = at->s->name,
                      .algo = at->by->algo->name,
                      .node = x->net->step[step].name,
                      .op = x->net->step[step].op,
                      .caches = net_view_name(at->view),
                      .level = net_level_name(at->s, level),
                      .tensor = tensor == EXP_N_TOUCHED ? "all" : exp_touched_name((enum exp_touched)tensor),
                      .step = step + 1,
                      .in_sequence = lines[0],
                      .alone = lines[1],
                      .warm = lines[2],
                      .why_not = is_alone ? NULL : not_alone };
    rec_put(csv, &net_sequence_table, &row);
}

static void put_sequence(struct exp_csv *csv, const struct looked_at *at)
{
    const struct net_simulated *x = &at->by->variant[NET_AS_ASKED];
    const size_t n_levels = at->s->setup->machine.n_levels + 1;

    if (!x->in_sequence[at->view].counts)
        return;
    for (size_t i = 0; i < x->net->n_steps * n_levels; i++) {
        for (int t = 0; t <= EXP_N_TOUCHED; t++)
            put_tensor(csv, at, i / n_levels, i % n_levels, t);
    }
}

static void put_all_sequences(struct exp_csv *csv, const void *study)
{
    const struct net_study *s = study;

    for (size_t i = 0; i < s->n_algos * s->n_views; i++)
        put_sequence(csv, &(struct looked_at){ s, &s->by[i / s->n_views], (enum net_view)(i % s->n_views) });
}

/* ---- variants.csv ---- */

#define VARIANT struct variant_row
struct variant_row {
    const char *model, *algo, *variant, *caches, *level, *why_not, *why_not_alone, *why_no_plan, *why_no_estimate;
    bool is_fused;
    size_t n_steps;
    double arena_bytes, cycles;
    struct net_lines lines;
};

static double saved_percent(const void *row)
{
    const VARIANT *r = row;

    return r->lines.alone > 0 ? 100 * (1 - r->lines.in_sequence / r->lines.alone) : (double)NAN;
}

static const struct rec_field variant_fields[] = {
    { COLUMN_NETWORK, REC_AT(VARIANT, model) },
    { COLUMN_ALGO, REC_AT(VARIANT, algo) },
    { { "variant", "", "how the network was planned", "" }, REC_AT(VARIANT, variant) },
    { COLUMN_FUSED, REC_AT(VARIANT, is_fused) },
    { { "steps", "", "", "" }, REC_OR(VARIANT, n_steps, why_no_plan) },
    { COLUMN_ARENA, REC_OR(VARIANT, arena_bytes, why_no_plan) },
    { COLUMN_CAPS, REC_AT(VARIANT, caches) },
    { COLUMN_LEVEL, REC_AT(VARIANT, level) },
    { COLUMN_LINES, REC_NAN_OR(VARIANT, lines.in_sequence, why_not) },
    { COLUMN_ALONE, REC_NAN_OR(VARIANT, lines.alone, why_not_alone) },
    { COLUMN_WARM, REC_NAN_OR(VARIANT, lines.warm, why_not_alone) },
    { { "found_percent", "%", "of alone_lines: what steps find that others left", "simulation" },
      REC_DERIVED(saved_percent),
      .missing = REC_IF_NAN_AS,
      .why = "not simulated step by step" },
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

static VARIANT variant_row(const struct net_study *s, const struct net_by_algo *by, enum net_variant v,
                           enum net_view view, size_t level)
{
    const struct net_simulated *x = &by->variant[v];
    VARIANT row = { .model = s->name,
                    .algo = by->algo->name,
                    .variant = variant_name(x, v),
                    .caches = net_view_name(view),
                    .level = net_level_name(s, level),
                    .is_fused = x->is_fused,
                    .why_not = *x->why_not ? x->why_not : not_simulated,
                    .why_no_plan = x->net ? NULL : x->why_not };

    row.why_not_alone = *x->why_not ? x->why_not : not_alone;
    row.lines = (struct net_lines){ (double)NAN, (double)NAN, (double)NAN };
    row.why_no_estimate = x->in_sequence[view].counts ? exp_estimate_why_not(&s->setup->machine) : row.why_not;
    if (x->net) {
        row.lines = net_lines_of(s, x, view, level, NULL);
        row.n_steps = x->net->n_steps;
        row.arena_bytes = (double)x->net->place_bytes[NET_ARENA];
    }
    if (!isnan(row.lines.alone))
        row.why_not_alone = NULL;
    if (!row.why_no_estimate)
        row.cycles = net_estimate_in(s, x, view, NULL).total_cycles;
    return row;
}

/* Of a variant that was not simulated, one row has the reason. */
static bool is_told(const struct net_simulated *x, const char *caches, size_t level)
{
    const enum net_view v = strcmp(caches, net_view_name(NET_AS_IT_IS)) ? NET_CACHES_ALONE : NET_AS_IT_IS;

    return x->in_sequence[v].counts || (*x->why_not && v == NET_CACHES_ALONE && !level);
}

static void put_variants(struct exp_csv *csv, const void *study)
{
    const struct net_study *s = study;
    const size_t n_levels = s->setup->machine.n_levels + 1;

    for (size_t i = 0; i < s->n_algos * NET_N_VARIANTS * s->n_views * n_levels; i++) {
        const size_t rest = i / n_levels / s->n_views;
        const VARIANT row = variant_row(s, &s->by[rest / NET_N_VARIANTS], (enum net_variant)(rest % NET_N_VARIANTS),
                                        (enum net_view)(i / n_levels % s->n_views), i % n_levels);

        if (is_told(&s->by[rest / NET_N_VARIANTS].variant[rest % NET_N_VARIANTS], row.caches, i % n_levels))
            rec_put(csv, &net_variants_table, &row);
    }
}

/* ---- kinds.csv ---- */

#define KIND struct kind_row
struct kind_row {
    const char *model, *algo, *op, *level, *why_no_time, *why_no_estimate, *why_no_cycles, *why_not_alone;
    const char *why_no_steps; /* said by the kind's first row */
    bool is_fused;
    size_t n_steps;
    double time_ns, time_percent, cycles, cycles_percent;
    struct net_lines lines;
};

/* Values of a whole kind stand in the kind's first row only, so that sums over rows are right. */
#define ONCE "; only in the first row of a kind, for all its levels"

static const struct rec_field kind_fields[] = {
    { COLUMN_NETWORK, REC_AT(KIND, model) },
    { COLUMN_ALGO, REC_AT(KIND, algo) },
    { COLUMN_FUSED, REC_AT(KIND, is_fused) },
    { COLUMN_OP, REC_AT(KIND, op) },
    { { "steps", "", "of this kind" ONCE, "" }, REC_OR(KIND, n_steps, why_no_steps) },
    CLOCKED(KIND, "measured_time_ns", "ns", "their sum: mean of the fastest quarter of the rounds" ONCE, time_ns,
            why_no_time),
    CLOCKED(KIND, "measured_time_percent", "%", "of the network's" ONCE, time_percent, why_no_time),
    { { "estimated_cycles", "cycles", "estimate: if all loads wait, in sequence" ONCE, "simulation" },
      REC_OR(KIND, cycles, why_no_cycles) },
    { { "estimated_percent", "%", "of the network's" ONCE, "simulation" },
      REC_OR(KIND, cycles_percent, why_no_cycles) },
    { COLUMN_LEVEL, REC_AT(KIND, level) },
    { COLUMN_LINES, REC_NAN_OR(KIND, lines.in_sequence, why_no_estimate) },
    { COLUMN_ALONE, REC_NAN_OR(KIND, lines.alone, why_not_alone) },
    { COLUMN_WARM, REC_NAN_OR(KIND, lines.warm, why_not_alone) },
};

const struct rec_table net_kinds_table = REC_TABLE("kinds.csv", kind_fields, KIND);

static KIND kind_row(const struct net_study *s, const struct net_by_algo *by, bool is_fused, const char *op,
                     size_t level)
{
    const struct net_simulated *x = fused_or_not(by, is_fused);
    const struct net_which w = { .op = op };
    const enum net_view v = net_study_view(s, x);
    KIND row = { .model = s->name,
                 .algo = by->algo->name,
                 .is_fused = is_fused,
                 .op = op,
                 .level = net_level_name(s, level),
                 .time_ns = (double)NAN,
                 .time_percent = (double)NAN,
                 .why_no_time = is_fused == s->fuses ? by->timed.why_not : "FUSE asked for the other kind",
                 .why_no_estimate = net_why_no_estimate(s, x),
                 .why_not_alone = not_alone };

    for (size_t i = 0; i < x->net->n_steps; i++)
        row.n_steps += net_is_asked(&x->net->step[i], &w);
    if (is_fused == s->fuses) {
        row.time_ns = net_times_of(&by->timed, &w).low_mean;
        row.time_percent = 100 * row.time_ns / net_times_of(&by->timed, NULL).low_mean;
    }
    if (!row.why_no_estimate) {
        row.cycles = net_estimate_of(s, x, &w).total_cycles;
        row.cycles_percent = row.cycles > 0 ? 100 * row.cycles / net_estimate_of(s, x, NULL).total_cycles : 0;
    }
    row.why_no_cycles = row.why_no_estimate;
    if (level) {
        row.time_ns = row.time_percent = (double)NAN;
        row.why_no_steps = row.why_no_time = row.why_no_cycles = REC_DOES_NOT_APPLY;
    }
    row.lines = net_lines_of(s, x, v, level, &w);
    return row;
}

/* Tells whether no step before this one is of its kind. */
static bool is_first_of_kind(const struct net *net, size_t step)
{
    for (size_t i = 0; i < step; i++) {
        if (!strcmp(net->step[i].op, net->step[step].op))
            return false;
    }
    return true;
}

static void put_kinds(struct exp_csv *csv, const struct net_study *s, const struct net_by_algo *by, bool is_fused)
{
    const struct net *net = fused_or_not(by, is_fused)->net;
    const size_t n_levels = s->setup->machine.n_levels + 1;

    for (size_t i = 0; net && i < net->n_steps * n_levels; i++) {
        KIND row;

        if (!is_first_of_kind(net, i / n_levels))
            continue;
        row = kind_row(s, by, is_fused, net->step[i / n_levels].op, i % n_levels);
        rec_put(csv, &net_kinds_table, &row);
    }
}

static void put_all_kinds(struct exp_csv *csv, const void *study)
{
    const struct net_study *s = study;

    for (size_t i = 0; i < 2 * s->n_algos; i++)
        put_kinds(csv, s, &s->by[i / 2], (i % 2 == 0) == s->fuses);
}

/* ---- skipped.csv ---- */

#define SKIPPED struct skipped_row
struct skipped_row {
    const char *model, *node, *op, *reason, *step;
    size_t number;
};

static const struct rec_field skipped_fields[] = {
    { COLUMN_NETWORK, REC_AT(SKIPPED, model) },
    { { "number", "", "of the node in the file, from 1", "" }, REC_AT(SKIPPED, number) },
    { COLUMN_NODE, REC_AT(SKIPPED, node) },
    { COLUMN_OP, REC_AT(SKIPPED, op) },
    { { "reason", "", "why it is no step of its own", "" }, REC_AT(SKIPPED, reason) },
    { { "done_by", "", "the step that does it, if one does", "" }, REC_AT(SKIPPED, step) },
};

const struct rec_table net_skipped_table = REC_TABLE("skipped.csv", skipped_fields, SKIPPED);

static void put_skipped(struct exp_csv *csv, const void *study)
{
    const struct net_study *s = study;
    const struct net *net = s->n_algos ? s->by[0].variant[NET_AS_ASKED].net : NULL;

    for (size_t i = 0; net && i < net->graph->n_nodes; i++) {
        const struct onnx_node *n = &net->graph->node[i];
        const struct net_step *step = net->step_of[i] == ONNX_NONE ? NULL : &net->step[net->step_of[i]];
        const char *reason = step ? "a part of another step" : net->why_no_step[i];
        const SKIPPED row = { s->name, n->name, n->op, reason, step ? step->name : "", n->number };

        if (strncmp(n->op, "Constant", 8) != 0 && (!step || strcmp(step->name, n->name) != 0))
            rec_put(csv, &net_skipped_table, &row);
    }
}

/* ---- memory.csv ---- */

#define MEMORY struct memory_row
struct memory_row {
    const char *model, *algo, *tensor, *place, *in;
    size_t bytes, offset, first, last;
};

static const struct rec_field memory_fields[] = {
    { COLUMN_NETWORK, REC_AT(MEMORY, model) },
    { COLUMN_ALGO, REC_AT(MEMORY, algo) },
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

static void put_memory(struct exp_csv *csv, const void *study)
{
    const struct net_study *s = study;
    static const char *const places[NET_N_PLACES] = { "nowhere", "arena", "inputs", "weights" };

    for (size_t a = 0; a < s->n_algos; a++) {
        const struct net *net = s->by[a].variant[NET_AS_ASKED].net;

        for (size_t i = 0; net && i < net->n_tensors; i++) {
            const struct net_tensor *t = &net->tensor[i];
            const MEMORY row = { .model = s->name,
                                 .algo = s->by[a].algo->name,
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
}

int net_tables_write(const struct net_study *s, const struct exp_outdir *dir, const char *what, struct exp_why *why)
{
    static const struct rec_file files[] = {
        { &net_nodes_table, put_nodes, NULL },       { &net_sequence_table, put_all_sequences, NULL },
        { &net_variants_table, put_variants, NULL }, { &net_kinds_table, put_all_kinds, NULL },
        { &net_skipped_table, put_skipped, NULL },   { &net_memory_table, put_memory, NULL },
    };
    int err = write_network(s, dir, what, why);

    return err ? err : rec_write_files(files, sizeof files / sizeof files[0], s, dir, what, why);
}
