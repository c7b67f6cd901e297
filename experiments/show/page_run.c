/* The chapter of an experiment: the answer, the origin, figures, tables, and a page for each layer. */
#include "experiments/show/page_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/text.h"
#include "experiments/bench/case/algo.h"
#include "experiments/show/layers.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

/* ---- reading ---- */

static void release(struct exp_page_run *r)
{
    exp_page_csv_release(&r->layers);
    exp_page_csv_release(&r->model);
    exp_page_csv_release(&r->levels);
    exp_page_csv_release(&r->traffic);
    exp_page_csv_release(&r->samples);
    free(r->layer);
}

/* Reads the machine for the names of levels; without a machine, the names are the columns'. */
static int read_machine(struct exp_page_run *r, struct exp_why *why)
{
    static const char *const usual[EXP_PAGE_LEVELS] = { "L1", "L2", "L3" };
    char *path = exp_format("%s/machine.cfg", r->f->path), ignored[256];
    int err = sim_machine_read(&r->machine, path, ignored, sizeof ignored);

    free(path);
    if (err == -ENOMEM)
        return exp_fail(why, err, "out of memory");
    if (err)
        r->machine = (struct sim_machine){ 0 };
    for (size_t i = 0; i < EXP_PAGE_LEVELS; i++) {
        if (!r->machine.n_levels)
            r->level[i] = usual[i];
        else
            r->level[i] = i < exp_n_level_names(&r->machine) ? exp_level_name(&r->machine, i) : NULL;
    }
    return 0;
}

static int read_run(struct exp_page_run *r, struct exp_why *why)
{
    const struct {
        struct exp_page_csv *csv;
        const struct rec_table *table;
    } tables[] = { { &r->layers, &exp_layers_table },
                   { &r->model, &exp_model_table },
                   { &r->levels, &exp_levels_table },
                   { &r->traffic, &exp_traffic_table },
                   { &r->samples, &exp_samples_table } };

    for (size_t i = 0; i < N(tables); i++) {
        int err = exp_page_csv_read_rows(tables[i].csv, r->f->path, tables[i].table, why);

        if (err)
            return err;
    }
    if (!r->layers.table.n_rows)
        return exp_fail(why, -ENOENT, "%s: no layers.csv, or no row in it: not an experiment's results", r->f->path);
    for (size_t i = 0; i < r->layers.table.n_rows; i++)
        exp_algo_meet(((const struct exp_layers_row *)r->layers.row)[i].algo);
    exp_page_layers_find(r);
    return read_machine(r, why);
}

/* ---- the answer with numbers ---- */

enum { NOTE_BYTES = 400 };

static void add_card(struct exp_page_writer *w, const char *name, const char *value, const char *note, bool is_faint)
{
    exp_page_fact(w, EXP_PAGE_CARDS, &(struct exp_page_fact){ name, value, note, is_faint, NULL });
}

/* Writes "1.26x". */
static void put_times(char *text, size_t bytes, double value)
{
    exp_page_print_number(text, bytes, value, EXP_PAGE_DECIMAL);
    exp_say_more(text, bytes, "\xc3\x97");
}

/* Tells whether a model's row is neither the reference nor a schedule that CSA chooses from. */
static bool is_contender(const char *name)
{
    const struct exp_algo *a = exp_algo_find(name);

    return !a || (a != exp_algo_base() && a->when != EXP_ALGO_MEMBER);
}

/* Says where a measured speed-up holds: this computer's clock, perhaps with another machine's plans. */
static void say_where(const struct exp_page_run *r, char *text, size_t bytes)
{
    const char *name = r->machine.n_levels ? r->machine.name : "host";
    const bool is_host = !strcmp(name, "host");

    exp_say(text, bytes, "as fast as Base on this computer%s%s", is_host ? "" : ", with plans for ",
            is_host ? "" : name);
}

static void add_speedup(struct exp_page_writer *w, const struct exp_page_run *r, const struct exp_model_row *row)
{
    char value[48], low[32], high[32], note[NOTE_BYTES];
    const struct exp_ratio speedup = measure_speedup(row->of);

    if (isnan(speedup.value))
        return;
    put_times(value, sizeof value, speedup.value);
    exp_page_print_number(low, sizeof low, speedup.low, EXP_PAGE_DECIMAL);
    exp_page_print_number(high, sizeof high, speedup.high, EXP_PAGE_DECIMAL);
    say_where(r, note, sizeof note);
    if (*low && *high)
        exp_say_more(note, sizeof note, ", 95 %% within [%s, %s]", low, high);
    add_card(w, exp_page_algo_title(row->algo), value, note, false);
}

/* Tells whether the simulated machine was timed. Only its times can check simulated cycles. */
static bool is_machine_timed(const struct exp_page_run *r)
{
    const struct exp_layers_row *row = r->layers.row;
    bool is_timed = false;

    for (size_t i = 0; i < r->layers.table.n_rows; i++)
        is_timed = is_timed || row[i].of[M_measured_is_machine].number > 0;
    return is_timed;
}

/*
 * Adds an algorithm's simulated speed-up, if known. The card withdraws the value if the measured speed-up is on the
 * other side of 1.
 */
static void add_cycles(struct exp_page_writer *w, const struct exp_page_run *r, const struct exp_model_row *row)
{
    const struct exp_ratio measured = measure_speedup(row->of);
    const double speedup = row->of[M_simulated_speedup].number;
    const int side = is_machine_timed(r) ? exp_ratio_side(&measured) : 0;
    char name[NOTE_BYTES], value[48], note[NOTE_BYTES];
    bool is_withdrawn;

    if (!(speedup > 0))
        return;
    is_withdrawn = (side > 0 && speedup < 1) || (side < 0 && speedup > 1);
    exp_say(name, sizeof name, "%s, by simulated cycles", exp_page_algo_title(row->algo));
    put_times(value, sizeof value, speedup);
    exp_say(note, sizeof note, "%s%sas fast as Base%s", is_withdrawn ? value : "", is_withdrawn ? " " : "",
            is_withdrawn ? ", which is measured on the other side of 1" : "");
    add_card(w, name, is_withdrawn ? "withdrawn" : value, note, is_withdrawn);
}

/* Adds whether the computer was quiet, beside the speed-ups. */
static void add_disturbance(struct exp_page_writer *w, const struct exp_page_run *r)
{
    enum { SHOWN_DISTURBANCES = 2 }; /* the last part of the chapter says all */
    char text[NOTE_BYTES], *note;

    exp_page_csv_said(&r->layers, "disturbance", text, sizeof text);
    note = strstr(text, ": ");
    if (!note || !w->has_facts)
        return;
    *note = '\0';
    note += 2;
    for (size_t i = 0, n = 0; note[i]; i++) {
        n += note[i] == ',';
        if (n == SHOWN_DISTURBANCES)
            note[i] = '\0';
    }
    add_card(w, "the computer, meanwhile", text, note, false);
}

static void add_speedups(struct exp_page_writer *w, const struct exp_page_run *r)
{
    const struct exp_model_row *row = r->model.row;

    for (size_t i = 0; i < r->model.table.n_rows; i++) {
        if (is_contender(row[i].algo))
            add_speedup(w, r, &row[i]);
    }
    for (size_t i = 0; i < r->model.table.n_rows; i++) {
        if (is_contender(row[i].algo))
            add_cycles(w, r, &row[i]);
    }
    add_disturbance(w, r);
}

/* An algorithm's misses in a level; NaN: unknown. */
struct missed {
    double percent, misses;
};

/* Tells whether all levels are known: from levels.csv; model.csv of an older version has three levels. */
static bool has_all(const struct exp_page_run *r)
{
    return r->machine.n_levels && r->levels.table.n_rows;
}

static struct missed missed_in(const struct exp_page_run *r, const char *algo, size_t level, bool is_alone)
{
    const struct exp_levels_row *row = r->levels.row;
    const struct exp_model_row *model = r->model.row;
    struct missed m = { (double)NAN, (double)NAN };

    for (size_t i = 0; has_all(r) && i < r->levels.table.n_rows; i++) {
        const struct exp_levels_view *of = is_alone ? &row[i].alone : &row[i].as_it_is;

        if (!strcmp(row[i].algo, algo) && !strcmp(row[i].level, r->machine.level[level].name))
            m = (struct missed){ of->percent.number, of->misses.number };
    }
    for (size_t i = 0; !has_all(r) && i < r->model.table.n_rows; i++) {
        const struct value *of = model[i].of;
        const double percent =
            of[(is_alone ? M_simulated_alone_l1_miss_percent : M_simulated_l1_miss_percent) + level].number;
        const double loads = of[is_alone ? M_simulated_alone_loads : M_simulated_loads].number;

        if (!strcmp(model[i].algo, algo))
            return (struct missed){ percent, percent / 100 * loads };
    }
    return m;
}

static void add_misses_card(struct exp_page_writer *w, const char *level, const struct missed *own,
                            const struct missed *base, const char *alone)
{
    const bool is_few = exp_misses_are_few(own->percent, base->percent);
    char name[96], times[48], rate[48], its[48], note[NOTE_BYTES];

    if (isnan(own->misses / base->misses))
        return;
    exp_say(name, sizeof name, "misses in %s", level);
    put_times(times, sizeof times, own->misses / base->misses);
    exp_page_print_number(rate, sizeof rate, own->percent, EXP_PAGE_DECIMAL);
    exp_page_print_number(its, sizeof its, base->percent, EXP_PAGE_DECIMAL);
    if (is_few)
        exp_say(note, sizeof note,
                "of all loads: SConv as CSA chose %s %%, Base %s %%. Too few to compare (%s), simulated%s", rate, its,
                times, alone);
    else
        exp_say(note, sizeof note, "of Base's, SConv as CSA chose: %s %% of its loads, Base %s %%, simulated%s", rate,
                its, alone);
    if (is_few)
        exp_say(times, sizeof times, "< %g %%", EXP_FEW_PERCENT);
    add_card(w, name, times, note, is_few);
}

/* Says the quotient by caches alone, where the machine has more than caches. */
static void say_alone(const struct exp_page_run *r, size_t level, char *text, size_t bytes)
{
    const struct missed own = missed_in(r, exp_algo_chosen()->name, level, true);
    const struct missed its = missed_in(r, exp_algo_base()->name, level, true);
    char times[48];

    *text = '\0';
    if (!r->machine.n_levels || sim_machine_is_plain(&r->machine) || isnan(own.misses / its.misses))
        return;
    put_times(times, sizeof times, own.misses / its.misses);
    exp_say(text, bytes, "; by caches alone %s", times);
}

/* Tells whether make sweep left a table of this model on this machine, and sets its folder (from malloc). */
static bool has_sweep(const struct exp_page_run *r, char **folder)
{
    char *file;
    bool has;

    *folder = exp_format("%s/../sweep/%s", r->f->path, exp_last_part(r->f->name));
    file = exp_format("%s/sweep.csv", *folder);
    has = !access(file, R_OK);
    free(file);
    return has;
}

/* Draws the sweep, or says how to make a sweep. */
static void write_sizes(struct exp_page_writer *w, const struct exp_page_run *r)
{
    struct exp_why why = { "" };
    char *folder;

    if (has_sweep(r, &folder)) {
        exp_page_say(w, EXP_PAGE_NOTE,
                     "What if the caches were others? The next figure is of make sweep, from the folder sweep/%s.",
                     exp_last_part(r->f->name));
        if (exp_page_sweep_chart(w, folder, &why))
            exp_page_say(w, EXP_PAGE_NOTE, "The sweep could not be read: %s", why.text);
    } else if (r->machine.n_levels) {
        exp_page_say(w, EXP_PAGE_NOTE,
                     "Other sizes and ways: make sweep MODEL=%s MACHINE=%s VARY='L1.size=16K,32K,64K L1.ways=4,8,16' "
                     "simulates them, and make report then shows a slider for each here. They are not part of a run: "
                     "counting all ways of L1 in one pass would add 31 to 65 %% to a run's simulation.",
                     ((const struct exp_layers_row *)r->layers.row)->model, r->machine.name);
    }
    free(folder);
}

/* Adds misses of the chosen SConv against Base's: a card for each level of the machine as it is. */
static void add_misses(struct exp_page_writer *w, const struct exp_page_run *r)
{
    const size_t n = has_all(r) ? r->machine.n_levels : EXP_PAGE_LEVELS;

    for (size_t l = 0; l < n && (has_all(r) || r->level[l]); l++) {
        const struct missed own = missed_in(r, exp_algo_chosen()->name, l, false);
        const struct missed its = missed_in(r, exp_algo_base()->name, l, false);
        char alone[96];

        say_alone(r, l, alone, sizeof alone);
        add_misses_card(w, has_all(r) ? r->machine.level[l].name : r->level[l], &own, &its, alone);
    }
}

static void write_question(struct exp_page_writer *w, const struct exp_page_run *r)
{
    char machine[512], caches[64];

    exp_page_csv_said(&r->layers, "simulated machine", machine, sizeof machine);
    exp_page_csv_said(&r->layers, "caches at the start of a layer", caches, sizeof caches);
    exp_page_say(w, EXP_PAGE_PARAGRAPH,
                 "Asked: is direct convolution, sliced for the caches by CSA (SConv), better than im2col + GEMM (Base) "
                 "for the %zu convolution%s of %s? Simulated machine: %s.%s%s%s",
                 r->n_layers, r->n_layers == 1 ? "" : "s", ((const struct exp_layers_row *)r->layers.row)->model,
                 *machine ? machine : r->machine.description, *caches ? " Caches at the start of a layer: " : "",
                 caches, *caches ? "." : "");
}

/*
 * Without times and cycles, the first figure is a picture. The picture of cycles in parts of Base's simulated cycles is
 * never shown: the first figure shows the cycles of all algorithms.
 */
static const char *const headlines[] = { "speedup_layers", "miss_rates_model", NULL };

/* Writes the first screen: the question, the verdict's first paragraph, and the main numbers. */
static void write_answer(struct exp_page_writer *w, struct exp_page_run *r)
{
    write_question(w, r);
    exp_page_verdict_begins(w, r->f, &r->model);
    add_speedups(w, r);
    exp_page_facts_end(w);
    exp_page_why_write(w, r);
    r->has_chart = exp_page_times_write(w, r);
    if (!r->has_chart)
        exp_page_folder_figures(w, r->f, headlines, true);
    add_misses(w, r);
    exp_page_facts_end(w);
    write_sizes(w, r);
}

/* ---- figures and tables ---- */

static void write_figures(struct exp_page_writer *w, const struct exp_page_run *r)
{
    static const char *const never[] = { "simulated_cycles", NULL };

    exp_page_folder_figures(w, r->f, r->has_chart ? never : headlines, false);
}

static const struct exp_page_field model_fields[] = {
    { .column = "algo", .title = "algorithm", .say = exp_page_algo_title },
    EXP_PAGE_SCALED(measured_time_ns, "time", "ms", 1e-6),
    EXP_PAGE_SPEEDUP,
    EXP_PAGE_SCALED(simulated_loads, "loads, simulated", "million", 1e-6),
    EXP_PAGE_MISSES(simulated, "miss", ", simulated"),
    EXP_PAGE_MISSES(simulated_alone, "miss", ", caches alone"),
    EXP_PAGE_MISSES(measured, "miss", ", measured"),
    EXP_PAGE_SCALED(simulated_cycles, "cycles, simulated", "million", 1e-6),
    EXP_PAGE_SCALED(simulated_speedup, "by these", "\xc3\x97 Base", 1),
    { .column = "paper_conv_speedup", .title = "the paper's", .unit = "\xc3\x97 Base", .format = EXP_PAGE_DECIMAL },
    EXP_PAGE_SCALED(estimated_issue_speedup, "estimate, all loads hit", "\xc3\x97 Base", 1),
    EXP_PAGE_SCALED(estimated_speedup, "estimate, all loads wait", "\xc3\x97 Base", 1),
};

/* Number of fields for estimates at the end of the tables, replaced by simulated cycles. */
enum { MODEL_ESTIMATES = 2, LAYER_ESTIMATES = 1 };

static bool has_cycles(const struct exp_page_run *r)
{
    const struct exp_model_row *row = r->model.row;

    return r->model.table.n_rows && row->of[M_simulated_cycles].number > 0;
}

static const char *say_chosen(const char *text)
{
    return !strcmp(text, "1") ? "CSA's choice" : "";
}

static const struct exp_page_field layer_fields[] = {
    { .column = "layer", .is_link = true },
    { .column = "algo", .title = "algorithm", .say = exp_page_algo_title },
    { .column = "chosen", .title = "chosen", .say = say_chosen },
    EXP_PAGE_SCALED(macs, "work", "million multiply-adds", 1e-6),
    EXP_PAGE_SCALED(measured_time_ns, "time", "ms", 1e-6),
    EXP_PAGE_SPEEDUP,
    EXP_PAGE_NUMBER(measured_gflops, "speed"),
    EXP_PAGE_SCALED(given_time_ns, "oneDNN's, in the log", "ms", 1e-6),
    EXP_PAGE_NUMBER(simulated_l1_miss_percent, "miss @1, simulated"),
    EXP_PAGE_NUMBER(simulated_l2_miss_percent, "miss @2"),
    EXP_PAGE_NUMBER(simulated_l3_miss_percent, "miss @3"),
    EXP_PAGE_SCALED(simulated_cycles, "cycles, simulated", "million", 1e-6),
    EXP_PAGE_SCALED(simulated_speedup, "by these", "\xc3\x97 Base", 1),
    EXP_PAGE_SCALED(estimated_speedup, "estimate, all loads wait", "\xc3\x97 Base", 1),
};

static const char *page_of_row(const void *ctx, size_t row)
{
    const struct exp_page_run *r = ctx;

    for (size_t i = 0; i < r->n_layers; i++) {
        if (row - r->layer[i].first < r->layer[i].n)
            return exp_page_of_layer(r, i);
    }
    return NULL;
}

static void write_extract(struct exp_page_writer *w, const struct exp_page_run *r, const struct exp_page_csv *csv,
                          const char *caption, const struct exp_page_field *field, size_t n_fields, const size_t *row,
                          size_t n_rows)
{
    struct exp_page_extract x = { .csv = csv,
                                  .caption = caption,
                                  .field = field,
                                  .n_fields = n_fields,
                                  .row = row,
                                  .n_rows = n_rows,
                                  .level = r->level,
                                  .target = page_of_row,
                                  .ctx = r,
                                  .is_long = n_rows > 12 };

    exp_page_extract_write(w, &x);
}

static const struct exp_page_field level_fields[] = {
    { .column = "algo", .title = "algorithm", .say = exp_page_algo_title },
    { .column = "level" },
    { .column = "stands_for", .title = "CSA's" },
    { .column = "simulated_miss_percent", .title = "misses, simulated", .format = EXP_PAGE_DECIMAL },
    { .column = "simulated_misses_per_1000_macs", .title = "per 1000 multiply-adds", .format = EXP_PAGE_DECIMAL },
    { .column = "simulated_alone_miss_percent", .title = "misses, caches alone", .format = EXP_PAGE_DECIMAL },
    { .column = "simulated_alone_misses_per_1000_macs", .title = "per 1000 multiply-adds", .format = EXP_PAGE_DECIMAL },
};

/* Shows all levels if the machine has more than the tables' three levels. */
static void write_levels(struct exp_page_writer *w, const struct exp_page_run *r)
{
    char text[200] = "";

    if (r->machine.n_levels)
        exp_say_planned_levels(&r->machine, text, sizeof text);
    if (!*text)
        return;
    exp_page_text(w, EXP_PAGE_PARAGRAPH, text);
    write_extract(w, r, &r->levels, "All levels of the machine.", level_fields, N(level_fields), NULL,
                  r->levels.table.n_rows);
}

static void write_model(struct exp_page_writer *w, const struct exp_page_run *r)
{
    write_extract(w, r, &r->model,
                  "All layers together, by algorithm. SConv is CSA's choice of schedule in each layer.", model_fields,
                  N(model_fields) - (has_cycles(r) ? MODEL_ESTIMATES : 0), NULL, r->model.table.n_rows);
    write_levels(w, r);
}

/* Writes the rows of the shown layers. */
static void write_layer_table(struct exp_page_writer *w, const struct exp_page_run *r)
{
    size_t *row = exp_new(r->layers.table.n_rows, sizeof *row), n = 0;

    for (size_t i = 0; i < r->n_layers; i++) {
        for (size_t k = 0; k < r->layer[i].n && r->layer[i].is_shown; k++)
            row[n++] = r->layer[i].first + k;
    }
    write_extract(w, r, &r->layers, "Layer by layer and algorithm. A layer's name leads to its page.", layer_fields,
                  N(layer_fields) - (has_cycles(r) ? LAYER_ESTIMATES : 0), row, n);
    if (n < r->layers.table.n_rows)
        exp_page_say(w, EXP_PAGE_NOTE, "These are the %d layers with the most work; layers.csv has all %zu.",
                     EXP_PAGE_LAYERS, r->n_layers);
    free(row);
}

static void write_file(struct exp_page_writer *w, const struct exp_page_run *r, const char *file, const char *title)
{
    char *text = exp_text_of(r->f->path, file);

    if (*text && *title)
        exp_page_text(w, EXP_PAGE_PARAGRAPH, title);
    if (*text)
        exp_page_text(w, EXP_PAGE_CODE, text);
    free(text);
}

static void write_verdict(struct exp_page_writer *w, const struct exp_page_run *r)
{
    write_file(w, r, "verdict.txt", "");
}

static void write_origin(struct exp_page_writer *w, const struct exp_page_run *r)
{
    exp_page_text(w, EXP_PAGE_PARAGRAPH,
                  "Predicted: CSA's equations. Simulated: the kernels' access streams, replayed through the machine "
                  "below; caches alone: the same without prefetchers and TLBs, LRU. Observed: every access of the real "
                  "binaries. Measured: this computer's clock and counters. Estimated: cycles computed from simulated "
                  "counts. The word stands beside every number.");
    exp_page_folder_origin(w, r->f, &r->layers);
    write_file(w, r, "machine.cfg", "The simulated machine (machine.cfg):");
}

static const struct {
    const char *id, *title;
    void (*write)(struct exp_page_writer *w, const struct exp_page_run *r);
} parts[] = {
    { "model", "The whole model", write_model },         { "figures", "Figures", write_figures },
    { "layers", "Layer by layer", write_layer_table },   { "pages", "A page for each layer", exp_page_layers_write },
    { "verdict", "The verdict in full", write_verdict }, { "made", "How it was made", write_origin },
};

int exp_page_run_write(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why)
{
    struct exp_page_run r = { .f = f };
    int err = read_run(&r, why);

    if (!err)
        write_answer(w, &r);
    for (size_t i = 0; i < N(parts) && !err; i++) {
        exp_page_part(w, f, parts[i].id, parts[i].title);
        parts[i].write(w, &r);
        exp_page_close(w);
    }
    release(&r);
    return err;
}

/* ---- a title, and rows of a layer ---- */
