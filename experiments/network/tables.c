/*
 * The tables of a network's study: an array has every file's columns, the loops over its rows, and the function for the
 * keys and texts of a row. Numbers are measures (measures.def).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/cells.h"
#include "experiments/network/measure.h"

/* The rows of all tables: keys, texts, and numbers. */
#define ROW struct net_row
ROW
{
    const char *model, *algo, *node, *op, *caches, *level, *tensor, *variant;
    size_t step, number, bytes, offset, first, last;
    bool is_fused;
    const char *source, *waits_for, *refusal, *reason, *done_by, *place, *in;
    char does[256], out[96];
    struct value of[NET_N_MEASURES];
};

/* The place of a row, and, where the file has steps, the step. */
struct row_at {
    struct net_part part;
    size_t step;
};

static const struct net *planned_at(const struct row_at *at)
{
    return at->part.by->variant[at->part.variant].net;
}

/* clang-format off */
#define MODEL { { "model", "", "name of the network", "" }, REC_AT(ROW, model) }
#define ALGO { { "algo", "", "algorithm of the convolutions", "" }, REC_AT(ROW, algo) }
#define FUSED \
    { { "fused", "", "1: batch normalisation folded, activations and additions fused; 0: as in the paper", "" }, \
      REC_AT(ROW, is_fused) }
#define STEP { { "step", "", "position in the order of the run, from 1", "" }, REC_AT(ROW, step) }
#define NODE { { "node", "", "name of the node", "" }, REC_AT(ROW, node) }
#define OP(what) { { "op", "", what, "" }, REC_AT(ROW, op) }
#define CAPS { { "caches", "", "caches alone, or the machine as it is", "" }, REC_AT(ROW, caches) }
#define LEVEL { { "level", "", "of the machine; memory: lines read from there", "" }, REC_AT(ROW, level) }
#define OF(name) MEASURE_FIELD(net_measures, NET_##name, ROW)
#define COUNT(name) { MEASURE_COLUMN(net_measures[NET_##name]), REC_WHOLE(ROW, of[NET_##name]) }
#define LINES OF(sequence_lines), OF(alone_lines), OF(warm_lines)
/* clang-format on */

/* Fills the keys, and finds the numbers of the table's columns. */
static ROW row_of(const struct row_at *at, const struct rec_table *t)
{
    const struct net *net = planned_at(at);
    ROW row = { .model = at->part.s->name,
                .algo = at->part.by->algo->name,
                .is_fused = at->part.by->variant[at->part.variant].is_fused,
                .step = at->step + 1,
                .caches = net_view_name(at->part.view),
                .level = net_level_name(at->part.s, at->part.level) };

    if (net && at->step < net->n_steps) {
        row.node = net->step[at->step].name;
        row.op = net->step[at->step].op;
    }
    for (size_t i = 0; i < t->file.n_columns; i++) {
        const struct rec_field *f = rec_field_at(t, i);
        const size_t m = (f->offset - offsetof(ROW, of)) / sizeof(struct value);

        if (f->type == REC_NUMBER)
            row.of[m] = net_measure(&at->part, (enum net_measure)m);
    }
    return row;
}

/* ---- network.csv ---- */

static const struct rec_field network_fields[] = {
    MODEL,
    ALGO,
    FUSED,
    COUNT(steps),
    COUNT(convolutions),
    OF(macs),
    OF(arena_bytes),
    OF(alive_bytes),
    OF(arena_to_alive),
    OF(weight_bytes),
    OF(measured_time_ns),
    OF(measured_time_min_ns),
    OF(measured_time_median_ns),
    OF(measured_rounds),
    OF(measured_conv_time_ns),
    OF(measured_conv_share_percent),
    OF(measured_speedup_vs_base),
    OF(measured_speedup_low),
    OF(measured_speedup_high),
    OF(measured_conv_speedup_vs_base),
    OF(estimated_issue_cycles),
    OF(estimated_cycles),
    OF(estimated_conv_issue_cycles),
    OF(estimated_conv_cycles),
    OF(estimated_conv_share_percent),
    OF(estimated_conv_share_issue_percent),
    OF(estimated_speedup_vs_base),
    OF(estimated_issue_speedup_vs_base),
    OF(estimated_conv_speedup_vs_base),
    OF(paper_model_speedup),
    OF(paper_conv_speedup),
    OF(paper_conv_time_share),
    OF(apart),
};

const struct rec_table net_network_table = REC_TABLE("network.csv", network_fields, ROW);

static void put_network(struct exp_csv *csv, const struct row_at *at)
{
    if (planned_at(at))
        rec_put(csv, &net_network_table, &(ROW[]){ row_of(at, &net_network_table) });
}

/* Puts the row of another runtime. */
static void put_peer(struct exp_csv *csv, const struct net_study *s, const struct net_published *paper)
{
    const struct net_peer_timed *p = &s->peer;
    const struct net_times times = net_peer_times_of(p);
    const char *why = *p->missing.text ? p->missing.text : NULL, *why_share = why ? why
                                                                              : *p->found.missing[1].text
                                                                                  ? p->found.missing[1].text
                                                                                  : NULL;
    ROW row = { .model = s->name, .algo = p->name, .is_fused = s->fuses };

    for (size_t m = 0; m < NET_N_MEASURES; m++)
        row.of[m] = value_none("it is another runtime");
    row.of[NET_steps] = row.of[NET_convolutions] = row.of[NET_macs] = value_of(0);
    row.of[NET_measured_time_ns] = times.low_mean;
    row.of[NET_measured_time_min_ns] = times.fastest;
    row.of[NET_measured_time_median_ns] = times.median;
    row.of[NET_measured_rounds] = value_or((double)p->n_rounds, why);
    row.of[NET_measured_conv_time_ns] = value_or(p->found.conv_share * times.low_mean.number, why_share);
    row.of[NET_measured_conv_share_percent] = value_or(100 * p->found.conv_share, why_share);
    row.of[NET_paper_model_speedup] = paper->speedup;
    row.of[NET_paper_conv_speedup] = paper->conv_speedup;
    row.of[NET_paper_conv_time_share] = paper->conv_share;
    row.of[NET_apart] =
        value_if_finite(p->is_compared && !p->found.distance.has_nan ? p->found.distance.worst : (double)NAN,
                        why ? why : "CHECK=0, or the verdict says why");
    rec_put(csv, &net_network_table, &row);
}

/* ---- nodes.csv ---- */

static const struct rec_field node_fields[] = {
    MODEL,
    ALGO,
    FUSED,
    STEP,
    NODE,
    OP("ONNX's operator of the node that gives the step its kind"),
    { { "does", "", "all that is done in the step", "" }, REC_AT(ROW, does) },
    { { "output", "", "its shape", "" }, REC_AT(ROW, out) },
    OF(macs),
    OF(input_bytes),
    OF(weight_bytes),
    OF(output_bytes),
    OF(measured_time_ns),
    OF(measured_time_percent),
    OF(estimated_issue_cycles),
    OF(estimated_wait_l2_cycles),
    OF(estimated_wait_l3_cycles),
    OF(estimated_wait_memory_cycles),
    OF(estimated_cycles),
    { { "waits_for", "", "the largest part of that: issue, a level or memory", "simulation" },
      REC_OR(ROW, waits_for, of[NET_estimated_cycles].why) },
    OF(counted_l1_lines),
    OF(counted_l2_lines),
    OF(counted_memory_lines),
    { { "accesses", "", "where those of the simulation are from", "" }, REC_OR(ROW, source, refusal) },
};

const struct rec_table net_nodes_table = REC_TABLE("nodes.csv", node_fields, ROW);

static void take_shape(ROW *row, const struct net *net, const struct net_step *s)
{
    const size_t t = s->n_out ? s->out[0] : ONNX_NONE, v = t == ONNX_NONE ? ONNX_NONE : net->tensor[t].value;

    for (size_t d = 0; v != ONNX_NONE && d < net->graph->value[v].n_dims; d++)
        exp_say_more(row->out, sizeof row->out, "%s%lld", d ? "x" : "", (long long)net->graph->value[v].dim[d]);
}

static void put_node(struct exp_csv *csv, const struct row_at *at)
{
    const struct net *net = planned_at(at);
    const struct net_simulated *x = &at->part.by->variant[at->part.variant];
    const struct net_which w = { .step = &net->step[at->step] };
    struct row_at here = *at;
    ROW row;

    here.part.which = &w;
    row = row_of(&here, &net_nodes_table);
    net_step_describe(net, w.step, row.does, sizeof row.does);
    take_shape(&row, net, w.step);
    row.waits_for = net_waits_for(&here.part);
    row.refusal = x->missing.text;
    row.source = *row.refusal ? "" : net_stream_source(&x->stream, at->step);
    rec_put(csv, &net_nodes_table, &row);
}

/* ---- sequence.csv ---- */

static const struct rec_field sequence_fields[] = {
    MODEL,
    ALGO,
    STEP,
    NODE,
    OP("ONNX's operator"),
    CAPS,
    LEVEL,
    { { "tensor", "", "input, other input, weights, output, workspace, stack; all: their sum", "" },
      REC_AT(ROW, tensor) },
    LINES,
};

const struct rec_table net_sequence_table = REC_TABLE("sequence.csv", sequence_fields, ROW);

/* Returns the lines of a tensor; counts: of all steps, NULL: not simulated. */
static struct value tensor_lines(const struct row_at *at, const struct exp_step_counts *counts, int tensor)
{
    const struct net_part *p = &at->part;

    return counts ? value_of((double)exp_lines_into(&counts[at->step].touched[tensor], net_study_machine(p->s, p->view),
                                                    p->level))
                  : value_none(NET_NOT_ALONE);
}

/* Puts a row for each tensor of a step that has lines, and for all tensors. */
static void put_sequence(struct exp_csv *csv, const struct row_at *at)
{
    const struct net_simulated *x = &at->part.by->variant[at->part.variant];
    const struct exp_sequence *alone = &x->alone[at->part.view], *sequence = &x->in_sequence[at->part.view];
    const struct net_which w = { .step = &planned_at(at)->step[at->step] };
    struct row_at here = *at;
    ROW all, row;

    if (!sequence->counts)
        return;
    here.part.which = &w;
    row = all = row_of(&here, &net_sequence_table);
    all.tensor = "all";
    for (int t = 0; t < EXP_N_TOUCHED; t++) {
        row.tensor = exp_touched_name((enum exp_touched)t);
        row.of[NET_sequence_lines] = tensor_lines(at, sequence->counts, t);
        row.of[NET_alone_lines] = tensor_lines(at, alone->counts, t);
        row.of[NET_warm_lines] = tensor_lines(at, alone->warm, t);
        if (row.of[NET_sequence_lines].number > 0 || row.of[NET_alone_lines].number > 0 ||
            row.of[NET_warm_lines].number > 0)
            rec_put(csv, &net_sequence_table, &row);
    }
    rec_put(csv, &net_sequence_table, &all);
}

/* ---- variants.csv ---- */

static const struct rec_field variant_fields[] = {
    MODEL,
    ALGO,
    { { "variant", "", "how the network was planned", "" }, REC_AT(ROW, variant) },
    FUSED,
    OF(steps),
    OF(arena_bytes),
    CAPS,
    LEVEL,
    LINES,
    OF(found_percent),
    OF(estimated_cycles),
};

const struct rec_table net_variants_table = REC_TABLE("variants.csv", variant_fields, ROW);

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
    const struct net_simulated *x = &at->part.by->variant[at->part.variant];
    ROW row;

    /* A variant without a simulation has a single row, with the reason. */
    if (!x->in_sequence[at->part.view].counts &&
        (!*x->missing.text || at->part.view != NET_CACHES_ALONE || at->part.level))
        return;
    row = row_of(at, &net_variants_table);
    row.variant = variant_name(x, at->part.variant);
    rec_put(csv, &net_variants_table, &row);
}

/* ---- kinds.csv ---- */

static const struct rec_field kind_fields[] = {
    MODEL,
    ALGO,
    FUSED,
    OP("ONNX's operator"),
    OF(steps),
    OF(measured_time_ns),
    OF(measured_time_percent),
    OF(estimated_cycles),
    OF(estimated_percent),
    LEVEL,
    LINES,
};

const struct rec_table net_kinds_table = REC_TABLE("kinds.csv", kind_fields, ROW);

/* Puts the row of a kind and level. Values of a whole kind stand in the first row only, for correct sums over rows. */
static void put_kind(struct exp_csv *csv, const struct row_at *at)
{
    const struct net *net = planned_at(at);
    const struct net_which w = { .op = net->step[at->step].op };
    struct row_at here = *at;
    ROW row;

    if (!net_is_first_of_op(net, at->step))
        return;
    here.part.which = &w;
    row = row_of(&here, &net_kinds_table);
    if (at->part.level)
        row.of[NET_steps] = row.of[NET_measured_time_ns] = row.of[NET_measured_time_percent] =
            row.of[NET_estimated_cycles] = row.of[NET_estimated_percent] = value_none(REC_DOES_NOT_APPLY);
    rec_put(csv, &net_kinds_table, &row);
}

/* ---- skipped.csv ---- */

static const struct rec_field skipped_fields[] = {
    MODEL,
    { { "number", "", "of the node in the file, from 1", "" }, REC_AT(ROW, number) },
    NODE,
    OP("ONNX's operator"),
    { { "reason", "", "why it is no step of its own", "" }, REC_AT(ROW, reason) },
    { { "done_by", "", "the step that does it, if one does", "" }, REC_AT(ROW, done_by) },
};

const struct rec_table net_skipped_table = REC_TABLE("skipped.csv", skipped_fields, ROW);

static void put_skipped(struct exp_csv *csv, const struct row_at *at)
{
    const struct net *net = at->part.by == at->part.s->by ? planned_at(at) : NULL;

    for (size_t i = 0; net && i < net->graph->n_nodes; i++) {
        const struct onnx_node *n = &net->graph->node[i];
        const struct net_step *step = net->step_of[i] == ONNX_NONE ? NULL : &net->step[net->step_of[i]];
        const ROW row = { .model = at->part.s->name,
                          .node = n->name,
                          .op = n->op,
                          .reason = step ? "a part of another step" : net->no_step[i],
                          .done_by = step ? step->name : "",
                          .number = n->number };

        if (strncmp(n->op, "Constant", 8) != 0 && (!step || strcmp(step->name, n->name) != 0))
            rec_put(csv, &net_skipped_table, &row);
    }
}

/* ---- memory.csv ---- */

static const struct rec_field memory_fields[] = {
    MODEL,
    ALGO,
    { { "tensor", "", "its name", "" }, REC_AT(ROW, tensor) },
    { { "place", "", "arena: planned and reused; inputs; weights", "" }, REC_AT(ROW, place) },
    { { "offset_bytes", "bytes", "of its first byte in its place", "" }, REC_AT(ROW, offset) },
    { { "bytes", "bytes", "", "" }, REC_AT(ROW, bytes) },
    { { "first_step", "", "that needs it, from 1", "" }, REC_AT(ROW, first) },
    { { "last_step", "", "", "" }, REC_AT(ROW, last) },
    { { "lies_in", "", "the tensor whose memory it shares: a view, or a part of a concatenation", "" },
      REC_AT(ROW, in) },
};

const struct rec_table net_memory_table = REC_TABLE("memory.csv", memory_fields, ROW);

static void put_memory(struct exp_csv *csv, const struct row_at *at)
{
    static const char *const places[NET_N_PLACES] = { "nowhere", "arena", "inputs", "weights" };
    const struct net *net = planned_at(at);

    for (size_t i = 0; net && i < net->n_tensors; i++) {
        const struct net_tensor *t = &net->tensor[i];
        const ROW row = { .model = at->part.s->name,
                          .algo = at->part.by->algo->name,
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

/* Goes over the views, steps and levels of a variant. A file without views has the view of net_study_view. */
static void put_all(struct exp_csv *csv, const struct file *f, struct row_at at)
{
    const struct net_study *s = at.part.s;
    const size_t n_views = f->views ? s->n_views : 1, n_levels = f->levels ? s->setup->machine.n_levels + 1 : 1;
    const size_t n_steps = !f->steps ? 1 : planned_at(&at) ? planned_at(&at)->n_steps : 0;

    for (size_t i = 0; i < n_views * n_steps * n_levels; i++) {
        at.part.view = f->views ? (enum net_view)(i / n_levels / n_steps)
                                : net_study_view(s, &at.part.by->variant[at.part.variant]);
        at.step = i / n_levels % n_steps;
        at.part.level = i % n_levels;
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
            put_all(
                csv, f,
                (struct row_at){ .part = { .s = s, .by = &s->by[a], .variant = (enum net_variant)v, .paper = paper } });
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
