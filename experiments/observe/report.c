/* Reports observations beside the replay: in files, on the terminal and in sentences. */
#include <math.h>
#include <string.h>

#include "experiments/base/cells.h"
#include "experiments/bench/case/estimate.h"
#include "experiments/observe/observe.h"

static const struct sim_machine *machine_of(const struct exp_observed *o)
{
    return &o->way[EXP_WAY_EMULATED].setup.machine;
}

/* ---- load misses ---- */

struct loads {
    double n_accesses, n, misses[EXP_N_NAMED_LEVELS];
};

/* Adds loads and, at each level, the missing loads. */
static void add_loads(struct loads *to, const struct sim_stats *s)
{
    const struct sim_cell sum = sim_stats_total(s);

    to->n_accesses += (double)(sum.loads + sum.stores);
    to->n += (double)sum.loads;
    for (size_t l = 0; l < EXP_N_NAMED_LEVELS; l++)
        to->misses[l] += exp_load_misses(s, &sum, l);
}

static struct loads loads_of(const struct sim_stats *s)
{
    struct loads l = { 0 };

    add_loads(&l, s);
    return l;
}

static bool equals_replay(const struct exp_observed *o, const struct exp_observation *x)
{
    const struct loads a = loads_of(&x->seen->stats), b = loads_of(x->replayed);

    for (size_t l = 0; l < exp_n_level_names(machine_of(o)); l++) {
        if (a.misses[l] != b.misses[l])
            return false;
    }
    return a.n == b.n;
}

/* Returns the reason why an observation must differ from its replay, or NULL without a reason. */
static const char *observe_known_difference(const struct exp_observation *x)
{
    return exp_guest_used_small_kernels(x->seen)
               ? "OpenBLAS used its small-matrix kernel, which packs nothing and is not replayed"
               : NULL;
}

/* Returns the reason why an observation differs from its replay; NULL: both are equal, or the reason is unknown. */
static const char *note_of(const struct exp_observed *o, const struct exp_observation *x)
{
    if (observe_known_difference(x))
        return observe_known_difference(x);
    return x->seen->masked_loads && !equals_replay(o, x)
               ? "the emulator shows masked loads at full width, and hides the mask"
               : NULL;
}

/* ---- the tables ---- */

/* Names a layer and an algorithm. */
struct names {
    uint32_t layer_index;
    const char *layer, *algo;
};

#define FIELDS_NAMES(row)                                                                                              \
    { EXP_COLUMN_LAYER_INDEX, REC_AT(row, of.layer_index) }, { EXP_COLUMN_LAYER, REC_AT(row, of.layer) },              \
    {                                                                                                                  \
        EXP_COLUMN_ALGO, REC_AT(row, of.algo)                                                                          \
    }

/* Counts of one level: at the core, instructions; at memory, lines in both directions. */
struct counts {
    struct value reads, writes, misses, load_misses, load_miss_percent;
};

struct stream {
    struct names of;
    const char *observed_layer, *ukr, *observed_by;
    struct value share_percent;
    const char *level, *tensor, *phase;
    size_t level_index;
    struct counts seen, replayed;
    struct value accesses_difference, misses_difference, points;
    const char *note; /* NULL: no note */
};

#define ROW struct stream
static const struct rec_field stream_fields[] = {
    FIELDS_NAMES(ROW),
    { { "observed_layer", "", "the layer that was run: itself, or but for OBSERVE=all the first of the same shape",
        "" },
      REC_AT(ROW, observed_layer) },
    { { "ukr", "", "SConv's micro-kernel; base: the OpenBLAS core", "" }, REC_AT(ROW, ukr) },
    { { "observed_by", "", "an emulator of the CPU, or the instrumented twin of the kernel", "" },
      REC_AT(ROW, observed_by) },
    { { "observed_share_percent", "%", "of the layer's multiply-adds that were observed and are replayed", "" },
      REC_VALUE(ROW, share_percent) },
    { { "level", "", "core (instructions), a cache level, or memory; why: the reason why nothing was observed", "" },
      REC_AT(ROW, level) },
    { { "level_index", "", "0 for the core, then from the core outwards", "" }, REC_AT(ROW, level_index) },
    { { "tensor", "", "whose memory it is, or all; stack and elsewhere: outside all tensors, counted at the core only",
        "" },
      REC_AT(ROW, tensor) },
    { { "phase", "", "what the algorithm was doing, or all", "" }, REC_AT(ROW, phase) },
    { { "observed_reads", "", "core: load instructions' accesses; levels: line reads arriving; memory: lines fetched",
        "emulation" },
      REC_WHOLE(ROW, seen.reads) },
    { { "replayed_reads", "", "the same", "replay" }, REC_WHOLE(ROW, replayed.reads) },
    { { "observed_writes", "", "core: stores; levels: line writes arriving; memory: lines written", "emulation" },
      REC_WHOLE(ROW, seen.writes) },
    { { "replayed_writes", "", "the same", "replay" }, REC_WHOLE(ROW, replayed.writes) },
    { { "accesses_difference_percent", "%", "observed reads and writes against replayed ones", "" },
      REC_VALUE(ROW, accesses_difference) },
    { { "observed_misses", "lines", "reads and writes that did not find their line", "emulation" },
      REC_WHOLE(ROW, seen.misses) },
    { { "replayed_misses", "lines", "the same", "replay" }, REC_WHOLE(ROW, replayed.misses) },
    { { "misses_difference_percent", "%", "observed against replayed", "" }, REC_VALUE(ROW, misses_difference) },
    { { "observed_load_misses", "loads", "loads not served by this level or further in", "emulation" },
      REC_WHOLE(ROW, seen.load_misses) },
    { { "replayed_load_misses", "loads", "the same", "replay" }, REC_WHOLE(ROW, replayed.load_misses) },
    { { "observed_load_miss_percent", "%", "of all loads of the layer", "emulation" },
      REC_VALUE(ROW, seen.load_miss_percent) },
    { { "replayed_load_miss_percent", "%", "the same", "replay" }, REC_VALUE(ROW, replayed.load_miss_percent) },
    { { "load_miss_difference_points", "points", "observed less replayed", "" }, REC_VALUE(ROW, points) },
    { { "note", "", "why the two must differ, where that is known", "" }, REC_AT(ROW, note) },
};

const struct rec_table exp_observed_table = REC_TABLE("observed.csv", stream_fields, ROW);
#undef ROW

struct instructions {
    struct names of;
    const char *phase, *class;
    uint64_t n;
};

#define ROW struct instructions
static const struct rec_field instruction_fields[] = {
    FIELDS_NAMES(ROW),
    { { "phase", "", "what the algorithm was doing", "" }, REC_AT(ROW, phase) },
    { { "class", "", "of the instruction; counters/watch/watch.h says what belongs to it", "" }, REC_AT(ROW, class) },
    { { "instructions", "instructions", "executed", "emulation" }, REC_AT(ROW, n) },
};

const struct rec_table exp_observed_instructions_table =
    REC_TABLE("observed_instructions.csv", instruction_fields, ROW);
#undef ROW

struct outside {
    struct names of;
    const char *function, *phase, *where;
    uint64_t loads, stores;
};

#define ROW struct outside
static const struct rec_field outside_fields[] = {
    FIELDS_NAMES(ROW),
    { { "function", "", "that made the accesses", "" }, REC_AT(ROW, function) },
    { { "phase", "", "in which it made them", "" }, REC_AT(ROW, phase) },
    { { "where", "", "stack, or elsewhere: constants, other data", "" }, REC_AT(ROW, where) },
    { { "loads", "loads", "accesses that were not simulated", "emulation" }, REC_AT(ROW, loads) },
    { { "stores", "stores", "accesses that were not simulated", "emulation" }, REC_AT(ROW, stores) },
};

const struct rec_table exp_observed_outside_table = REC_TABLE("observed_outside.csv", outside_fields, ROW);
#undef ROW

static const struct exp_observe_file files[] = {
    { &exp_observed_table, "one layer, algorithm, level, tensor and phase, observed and replayed at the same "
                           "addresses; rows of zeros left out" },
    { &exp_observed_instructions_table, "one layer, algorithm, phase and class of instructions" },
    { &exp_observed_outside_table, "one function's accesses outside the tensors, in one layer and algorithm" },
    { NULL, NULL },
};

const struct exp_observe_file *exp_observe_files(void)
{
    return files;
}

/* ---- rows of observed.csv ---- */

static struct names names_of(const struct exp_case *c)
{
    return (struct names){ c->layer->index, c->layer->name, c->algo->name };
}

static struct value count_of(uint64_t n)
{
    return value_of((double)n);
}

static struct counts no_counts(void)
{
    const struct value none = value_none(REC_DOES_NOT_APPLY);

    return (struct counts){ none, none, none, none, none };
}

/* Returns the counts of a level: 0 is the core, n_levels + 1 is memory. n_loads: all loads of the layer. */
static struct counts level_counts(const struct sim_cell *c, size_t level, size_t n_levels, uint64_t n_loads)
{
    const struct sim_level_counts *k = &c->level[level ? level - 1 : 0];
    struct counts of = no_counts();

    if (level == 0 || level > n_levels) {
        of.reads = count_of(level ? c->memory_read_lines : c->loads);
        of.writes = count_of(level ? c->memory_written_lines + c->memory_stores : c->stores);
        return of;
    }
    return (struct counts){ count_of(k->reads), count_of(k->writes), count_of(k->read_misses + k->write_misses),
                            count_of(k->load_misses),
                            value_of(n_loads ? 100 * (double)k->load_misses / (double)n_loads : 0) };
}

/* Returns by how many % a count differs from the replayed count. */
static struct value difference(struct value observed, struct value replayed)
{
    const double seen = observed.number, known = replayed.number;

    return value_if_finite(seen == known ? 0 : 100 * (seen - known) / known, REC_DOES_NOT_APPLY);
}

/* Makes a row with names only. */
static struct stream stream_of(const struct exp_observed *o, size_t i)
{
    const struct exp_observation *x = &o->observation[i];
    const struct exp_case *c = &o->experiment.cases[i];
    const struct value none = value_none(REC_DOES_NOT_APPLY);

    return (struct stream){
        .of = names_of(c),
        .observed_layer = o->experiment.cases[x->same_as].layer->name,
        .ukr = conv_plan_kernel_name(&c->plan),
        .observed_by = exp_observe_source(o, i),
        .share_percent = *x->why ? none : value_of(100 * x->share),
        .seen = no_counts(),
        .replayed = no_counts(),
        .accesses_difference = none,
        .misses_difference = none,
        .points = none,
    };
}

/* Writes all levels of one cell, from the core to memory. Percentages are of the layer's loads, of both. */
static void put_cell(struct exp_csv *csv, const struct exp_observed *o, struct stream row, const struct sim_cell *seen,
                     const struct sim_cell *replayed, const uint64_t n_loads[2])
{
    const struct sim_machine *m = machine_of(o);

    for (size_t level = 0; level <= m->n_levels + 1; level++) {
        const struct counts a = row.seen = level_counts(seen, level, m->n_levels, n_loads[0]);
        const struct counts b = row.replayed = level_counts(replayed, level, m->n_levels, n_loads[1]);
        const struct value both[] = { value_sum(a.reads, a.writes), value_sum(b.reads, b.writes) };

        if (!(both[0].number > 0) && !(both[1].number > 0))
            continue;
        row.level_index = level;
        row.level = !level ? "core" : level > m->n_levels ? "memory" : m->level[level - 1].name;
        row.accesses_difference = difference(both[0], both[1]);
        row.misses_difference = difference(a.misses, b.misses);
        row.points = value_or(a.load_miss_percent.number - b.load_miss_percent.number, a.load_miss_percent.why);
        rec_put(csv, &exp_observed_table, &row);
    }
}

static void put_outside_sum(struct exp_csv *csv, struct stream row, const struct watch_result *r, bool is_stack)
{
    uint64_t loads = 0, stores = 0;

    for (size_t i = 0; i < r->n_outside; i++) {
        loads += r->outside[i].is_stack == is_stack ? r->outside[i].loads : 0;
        stores += r->outside[i].is_stack == is_stack ? r->outside[i].stores : 0;
    }
    row.level = "core";
    row.tensor = is_stack ? "stack" : "elsewhere";
    row.phase = "all";
    row.seen.reads = count_of(loads);
    row.seen.writes = count_of(stores);
    if (r->n_outside) /* a twin sees no access outside */
        rec_put(csv, &exp_observed_table, &row);
}

static void put_streams(struct exp_csv *csv, const struct exp_observed *o, size_t i)
{
    const struct exp_observation *x = &o->observation[i];
    const struct stream names = stream_of(o, i);
    struct stream row = names;
    struct sim_cell seen, replayed;
    uint64_t n_loads[2];

    if (*x->why) {
        row.level = "why";
        row.seen.reads = value_none(x->why);
        rec_put(csv, &exp_observed_table, &row);
        return;
    }
    seen = sim_stats_total(&x->seen->stats);
    replayed = sim_stats_total(x->replayed);
    n_loads[0] = seen.loads;
    n_loads[1] = replayed.loads;
    row.note = note_of(o, x);
    row.tensor = row.phase = "all";
    put_cell(csv, o, row, &seen, &replayed, n_loads);
    for (unsigned t = 0; t < CONV_N_TENSORS; t++) {
        for (unsigned p = 0; p < CONV_N_PHASES; p++) {
            row.tensor = conv_tensor_name((enum conv_tensor)t);
            row.phase = conv_phase_name((enum conv_phase)p);
            put_cell(csv, o, row, &x->seen->stats.cell[t][p], &x->replayed->cell[t][p], n_loads);
        }
    }
    put_outside_sum(csv, names, x->seen, true);
    put_outside_sum(csv, names, x->seen, false);
}

/* ---- the other files ---- */

static void put_instructions(struct exp_csv *csv, const struct exp_observed *o, size_t i)
{
    const struct exp_observation *x = &o->observation[i];

    for (unsigned p = 0; p < CONV_N_PHASES && !*x->why; p++) {
        for (unsigned k = 0; k < WATCH_N_CLASSES; k++) {
            const struct instructions row = { names_of(&o->experiment.cases[i]), conv_phase_name((enum conv_phase)p),
                                              watch_class_name((enum watch_class)k), x->seen->instructions[p][k] };

            if (row.n)
                rec_put(csv, &exp_observed_instructions_table, &row);
        }
    }
}

static void put_outside(struct exp_csv *csv, const struct exp_observed *o, size_t i)
{
    const struct exp_observation *x = &o->observation[i];

    for (size_t k = 0; !*x->why && k < x->seen->n_outside; k++) {
        const struct watch_outside *f = &x->seen->outside[k];
        const struct outside row = {
            names_of(&o->experiment.cases[i]),   f->function, conv_phase_name((enum conv_phase)f->phase),
            f->is_stack ? "stack" : "elsewhere", f->loads,    f->stores
        };

        rec_put(csv, &exp_observed_outside_table, &row);
    }
}

int exp_observe_write(const struct exp_observed *o, const struct exp_report *r, const struct exp_outdir *dir,
                      struct exp_why *why)
{
    static void (*const put[])(struct exp_csv *, const struct exp_observed *, size_t) = { put_streams, put_instructions,
                                                                                          put_outside };
    int err = 0;

    for (size_t f = 0; files[f].table && o->observation && !err; f++) {
        struct exp_csv *csv = exp_report_open(r, dir, &files[f].table->file, files[f].row);
        char how[256];

        exp_observe_describe(o, how, sizeof how);
        exp_csv_header(csv, "observed by", "%s", how);
        for (size_t i = 0; i < o->experiment.n_cases; i++)
            put[f](csv, o, i);
        err = exp_csv_close(csv, why);
    }
    return err;
}

/* ---- in short ---- */

/* Counts distinct shapes (with EXP_OBSERVE_ALL: layers), and the shapes observed by all observable algorithms. */
struct summary {
    size_t n, n_observed, n_parts, n_left_out; /* n_parts: in part, by at least one algorithm */
    double least_share;                        /* of a layer, among layers seen by all algorithms */
    const char *why; /* why an observation is missing in spite of enough time; NULL: none is missing */
    bool is_anything_observed;
};

static void add_layer(struct summary *s, const struct exp_observed *o, size_t first)
{
    bool is_observed = true, is_left_out = false;
    double share = 1;

    for (size_t i = first; i < first + o->experiment.n_algos; i++) {
        const struct exp_observation *x = &o->observation[i];
        const bool is_meant = exp_observe_is_meant(o, i), is_missing = is_meant && *x->why;

        is_observed &= !is_missing;
        is_left_out |= x->is_left_out;
        share = is_meant ? fmin(share, is_missing ? 0 : x->share) : share;
        s->is_anything_observed |= !*x->why;
        if (is_missing && !x->is_left_out && !s->why)
            s->why = x->why;
    }
    s->n++;
    s->n_observed += is_observed;
    s->n_left_out += is_left_out;
    s->n_parts += share > 0 && share < 1;
    s->least_share = share > 0 ? fmin(s->least_share, share) : s->least_share;
}

static struct summary summary_of(const struct exp_observed *o)
{
    struct summary s = { .least_share = 1 };

    for (size_t i = 0; i < o->experiment.n_cases && o->observation; i += o->experiment.n_algos) {
        if (o->observation[i].same_as == i)
            add_layer(&s, o, i);
    }
    return s;
}

void exp_observe_describe(const struct exp_observed *o, char *text, size_t bytes)
{
    const struct exp_way *emulated = &o->way[EXP_WAY_EMULATED], *twin = &o->way[EXP_WAY_TWIN];
    const struct conv_ukr *own = o->unobserved_ukr;
    const struct summary s = summary_of(o);

    exp_say(text, bytes, "%s", o->observation ? "SConv " : "nothing");
    if (!o->observation)
        return;
    if (o->rewritten_core)
        exp_say_more(text, bytes, "%s and OpenBLAS %s as %ss", own->name, o->rewritten_core, twin->emulator->source);
    else if (twin->emulator)
        exp_say_more(text, bytes, "%s as %s, OpenBLAS %s %s", own->name, twin->emulator->source,
                     emulated->setup.core->name, emulated->emulator->source);
    else
        exp_say_more(text, bytes, "%s%s%s%s and OpenBLAS %s %s", emulated->setup.ukr->name, own ? " (for " : "",
                     own ? own->name : "", own ? ", which is not emulated)" : "", emulated->setup.core->name,
                     emulated->emulator->source);
    if (s.n_observed < s.n)
        exp_say_more(text, bytes, "; %zu of %zu shapes", s.n_observed, s.n);
    else if (o->mode != EXP_OBSERVE_ALL)
        exp_say_more(text, bytes, "; one of each shape");
    if (s.n_parts)
        exp_say_more(text, bytes, ", of large ones a part");
}

/* ---- the table ---- */

/* Tells whether an observation and its replay have too few misses at a level for a comparison. */
static bool miss_rarely(const struct loads *seen, const struct loads *replayed, size_t level)
{
    return exp_misses_are_few(seen->n > 0 ? 100 * seen->misses[level] / seen->n : 0,
                              replayed->n > 0 ? 100 * replayed->misses[level] / replayed->n : 0);
}

static bool are_apart(double a, double b)
{
    return a > b || a < b;
}

/* Returns the distance of an observed count from the replayed count, in % of the replayed count. */
static double distance_percent(double observed, double replayed)
{
    if (!are_apart(observed, replayed))
        return 0;
    return replayed > 0 ? 100 * fabs(observed - replayed) / replayed : (double)INFINITY;
}

static void print_case(const struct exp_observed *o, size_t i, FILE *out)
{
    const struct exp_observation *x = &o->observation[i];
    const struct exp_case *c = &o->experiment.cases[i];
    const size_t n_levels = exp_n_level_names(machine_of(o));
    struct loads a, b;

    fprintf(out, "%-24.24s %-14s", c->layer->name, c->algo->name);
    if (*x->why) {
        fprintf(out, " not available: %s\n", x->why);
        return;
    }
    a = loads_of(&x->seen->stats);
    b = loads_of(x->replayed);
    fprintf(out, " %6.1f %11.4g %+7.2f", 100 * x->share, a.n_accesses,
            100 * (a.n_accesses - b.n_accesses) / b.n_accesses);
    for (size_t l = 0; l < n_levels; l++) {
        fprintf(out, " %8.3f", a.n > 0 ? 100 * a.misses[l] / a.n : 0);
        if (miss_rarely(&a, &b, l) && are_apart(a.misses[l], b.misses[l]))
            fprintf(out, " %7s", "few");
        else if (b.misses[l] > 0)
            fprintf(out, " %+7.2f", 100 * (a.misses[l] - b.misses[l]) / b.misses[l]);
        else
            fprintf(out, " %7s", a.misses[l] > 0 ? "-" : "+0.00");
    }
    if (note_of(o, x))
        fprintf(out, "  (%s)", note_of(o, x));
    fprintf(out, "\n");
}

/* ---- algorithm by algorithm ---- */

/* Sums up the observed layers of an algorithm. */
struct sums {
    double macs, observed_macs;
    struct loads seen, replayed;
    struct loads whole; /* the whole layers, simulated; of the algorithm's own kernel, or zero */
};

static struct sums sum_algo(const struct exp_observed *o, const struct exp_experiment *e, size_t algo)
{
    struct sums s = { 0 };

    for (size_t i = algo; i < o->experiment.n_cases; i += o->experiment.n_algos) {
        const struct exp_observation *x = &o->observation[i];
        double macs = conv_macs(&e->cases[i].layer->problem);

        s.macs += macs;
        if (*x->why)
            continue;
        s.observed_macs += x->share * macs;
        add_loads(&s.seen, &x->seen->stats);
        add_loads(&s.replayed, x->replayed);
        if (!e->cases[i].observed.why && !e->cases[i].simulated.why)
            add_loads(&s.whole, &e->cases[i].simulated.stats);
    }
    return s;
}

static void print_rate(const struct loads *l, size_t level, FILE *out)
{
    if (l->n > 0)
        fprintf(out, " %8.3f", 100 * l->misses[level] / l->n);
    else
        fprintf(out, " %8s", "-");
}

static void print_algo(const struct exp_observed *o, const struct exp_experiment *e, size_t algo, FILE *out)
{
    const struct exp_case *c = &o->experiment.cases[algo];
    const struct sums s = sum_algo(o, e, algo);

    fprintf(out, "%-15s %-34.34s %6.1f", c->algo->name,
            conv_plan_is_base(&c->plan) ? conv_plan_core(&c->plan)->name : conv_plan_kernel_name(&c->plan),
            100 * s.observed_macs / s.macs);
    for (size_t l = 0; l < exp_n_level_names(machine_of(o)); l++) {
        print_rate(&s.seen, l, out);
        print_rate(&s.replayed, l, out);
        print_rate(&s.whole, l, out);
    }
    fprintf(out, "\n");
}

static void print_algos(const struct exp_observed *o, const struct exp_experiment *e, FILE *out)
{
    const struct sim_machine *m = machine_of(o);

    fprintf(out, "\nthe observed layers together: load misses as %% of loads: observed; in the replay of what was "
                 "observed; and\n"
                 "simulated, of these layers as a whole (-: that is with another kernel)\n");
    fprintf(out, "%-15s %-34s %6s", "", "", "");
    for (size_t l = 0; l < exp_n_level_names(m); l++)
        fprintf(out, " %8.8s %8s %8s", exp_level_name(m, l), "", "");
    fprintf(out, "\n%-15s %-34s %6s", "algo", "kernel", "part %");
    for (size_t l = 0; l < exp_n_level_names(m); l++)
        fprintf(out, " %8s %8s %8s", "observed", "replayed", "whole");
    fprintf(out, "\n");
    for (size_t a = 0; a < o->experiment.n_algos; a++)
        print_algo(o, e, a, out);
}

/*
 * Returns the largest difference between observed and replayed load misses of a level, in % of the replayed misses,
 * over cases without a known difference. NaN: every layer has too few misses.
 */
static double largest_difference(const struct exp_observed *o, size_t named)
{
    double largest = (double)NAN;

    for (size_t i = 0; i < o->experiment.n_cases; i++) {
        const struct exp_observation *x = &o->observation[i];
        struct loads a, b;

        if (*x->why || x->same_as != i || observe_known_difference(x))
            continue;
        a = loads_of(&x->seen->stats);
        b = loads_of(x->replayed);
        if (!miss_rarely(&a, &b, named))
            largest = fmax(largest, distance_percent(a.misses[named], b.misses[named]));
    }
    return largest;
}

static void say_differences(const struct exp_observed *o, char *text, size_t bytes)
{
    const struct sim_machine *m = machine_of(o);

    exp_say_more(text, bytes, ". Load misses observed differ from those replayed:");
    for (size_t l = 0; l < exp_n_level_names(m); l++) {
        const double largest = largest_difference(o, l);

        if (isnan(largest))
            exp_say_more(text, bytes, "%s in %s both are below %g %% of all loads", l ? "," : "", exp_level_name(m, l),
                         EXP_FEW_PERCENT);
        else
            exp_say_more(text, bytes, "%s in %s by at most %.2f %%", l ? "," : "", exp_level_name(m, l), largest);
    }
    exp_say_more(text, bytes, ".");
}

struct exp_observe_agreement exp_observe_agreement(const struct exp_observed *o)
{
    struct exp_observe_agreement a = { 0 };

    for (size_t i = 0; o->observation && i < o->experiment.n_cases; i++) {
        const struct exp_observation *x = &o->observation[i];

        if (*x->why || x->same_as != i)
            continue;
        a.n_observed++;
        a.n_equal += equals_replay(o, x);
        a.n_noted += !equals_replay(o, x) && note_of(o, x);
    }
    return a;
}

void exp_observe_sum_up(const struct exp_observed *o, char *text, size_t bytes)
{
    const struct summary s = summary_of(o);

    *text = '\0';
    if (!o->observation)
        return;
    exp_say_more(text, bytes, "observed %zu of %zu %s in %.0f s", s.n_observed, s.n,
                 o->mode == EXP_OBSERVE_ALL ? "layers" : "shapes", o->spent_s);
    if (s.n_parts)
        exp_say_more(text, bytes, ", %zu of them in part, %.1f %% or more of each", s.n_parts, 100 * s.least_share);
    if (s.n_left_out)
        exp_say_more(text, bytes,
                     "; %zu left out, the time for observing was over (OBSERVE_LIMIT=%u; another run goes on from "
                     "here, OBSERVE=sample observes all of every shape)",
                     s.n_left_out, o->limit_s);
    if (s.why)
        exp_say_more(text, bytes, "; not available: %s", s.why);
    if (s.is_anything_observed)
        say_differences(o, text, bytes);
}

static void print_heading(const struct exp_observed *o, FILE *out)
{
    const struct sim_machine *m = machine_of(o);
    char how[320];

    exp_observe_describe(o, how, sizeof how);
    fprintf(out, "\nobserved (%s), simulated on %s\n", how, m->name);
    fprintf(out,
            "%% of the layer that was observed; accesses to tensors; load misses as %% of loads; each beside what it\n"
            "differs by from the replay of the same, in %% (few: both are below %g %% of all loads)\n",
            EXP_FEW_PERCENT);
    fprintf(out, "%-24s %-14s %6s %11s %7s", "layer", "algo", "part %", "accesses", "diff");
    for (size_t l = 0; l < exp_n_level_names(m); l++)
        fprintf(out, " %8.8s %7s", exp_level_name(m, l), "diff");
    fprintf(out, "\n");
}

void exp_observe_print(const struct exp_observed *o, const struct exp_experiment *e, FILE *out)
{
    char sum[768];

    if (!o->observation)
        return;
    exp_observe_sum_up(o, sum, sizeof sum);
    if (summary_of(o).is_anything_observed) {
        print_heading(o, out);
        for (size_t i = 0; i < o->experiment.n_cases; i++) {
            if (o->observation[i].same_as == i && !o->observation[i].is_left_out)
                print_case(o, i, out);
        }
        print_algos(o, e, out);
    } else {
        fprintf(out, "\n");
    }
    fprintf(out, "%s\n", sum);
}
