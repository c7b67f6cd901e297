/* The chapter of an experiment: the answer, how it was made, figures, tables, and a page for each layer. */
#include "experiments/page/exp_page_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/page/exp_page_answer.h"
#include "experiments/page/exp_page_layers.h"
#include "experiments/replay/exp_totals.h"
#include "experiments/report/exp_layers.h"
#include "experiments/report/exp_levels.h"
#include "experiments/setup/exp_algo.h"

/* ---- reading ---- */

static const struct {
    const struct rec_table *table;
    size_t offset;
} tables[] = {
    { &exp_layers_table, offsetof(struct exp_page_run, layers) },
    { &exp_model_table, offsetof(struct exp_page_run, model) },
    { &exp_levels_table, offsetof(struct exp_page_run, levels) },
    { &exp_traffic_table, offsetof(struct exp_page_run, traffic) },
    { &exp_samples_table, offsetof(struct exp_page_run, samples) },
};

enum { N_TABLES = sizeof tables / sizeof tables[0] };

static struct exp_page_csv *table_of(struct exp_page_run *r, size_t i)
{
    return (struct exp_page_csv *)(void *)((char *)r + tables[i].offset);
}

static void release(struct exp_page_run *r)
{
    for (size_t i = 0; i < N_TABLES; i++)
        exp_page_csv_release(table_of(r, i));
    free(r->layer);
}

/* Reads the machine; levels have its names, else those of the columns. */
static int read_machine(struct exp_page_run *r, struct exp_why *why)
{
    static const char *const usual[EXP_PAGE_LEVELS] = { "L1", "L2", "L3" };
    char *path = exp_format("%s/machine.cfg", r->f->path), ignored[256];
    int err = path ? sim_machine_read(&r->machine, path, ignored, sizeof ignored) : -ENOMEM;

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
    int err = 0;

    for (size_t i = 0; i < N_TABLES && !err; i++)
        err = exp_page_csv_read_rows(table_of(r, i), r->f->path, tables[i].table, why);
    if (err)
        return err;
    if (!r->layers.table.n_rows)
        return exp_fail(why, -ENOENT, "%s: no layers.csv, or no row in it: not an experiment's results", r->f->path);
    err = read_machine(r, why);
    if (err)
        return err;
    return exp_page_layers_find(r) ? exp_fail(why, -ENOMEM, "out of memory") : 0;
}

/* The gain in time, else what was simulated: why, and whether the replay is right, is told below. */
static const char *const headlines[] = { "speedup_layers", "miss_rates_model", NULL };

/* ---- parts ---- */

static void write_answer(struct exp_page_writer *w, const struct exp_page_run *r)
{
    exp_page_answer_write(w, r);
    exp_page_folder_figures(w, r->f, headlines, true);
}

static void write_figures(struct exp_page_writer *w, const struct exp_page_run *r)
{
    exp_page_folder_figures(w, r->f, headlines, false);
}

static const struct exp_page_field model_fields[] = {
    { .column = "algo", .title = "algorithm", .say = exp_page_algo_title },
    { .column = "measured_time_ns", .title = "time", .unit = "ms", .format = EXP_PAGE_DECIMAL, .scale = 1e-6 },
    { .column = "measured_speedup_vs_base", .title = "times Base's speed", .format = EXP_PAGE_DECIMAL },
    { .column = "measured_speedup_low", .title = "at least", .format = EXP_PAGE_DECIMAL },
    { .column = "measured_speedup_high", .title = "at most", .format = EXP_PAGE_DECIMAL },
    { .column = "simulated_loads",
      .title = "loads, simulated",
      .unit = "million",
      .format = EXP_PAGE_DECIMAL,
      .scale = 1e-6 },
    { .column = "simulated_l1_miss_percent", .title = "miss @1, simulated", .format = EXP_PAGE_DECIMAL },
    { .column = "simulated_l2_miss_percent", .title = "miss @2, simulated", .format = EXP_PAGE_DECIMAL },
    { .column = "simulated_l3_miss_percent", .title = "miss @3, simulated", .format = EXP_PAGE_DECIMAL },
    { .column = "simulated_alone_l1_miss_percent", .title = "miss @1, caches alone", .format = EXP_PAGE_DECIMAL },
    { .column = "simulated_alone_l2_miss_percent", .title = "miss @2, caches alone", .format = EXP_PAGE_DECIMAL },
    { .column = "simulated_alone_l3_miss_percent", .title = "miss @3, caches alone", .format = EXP_PAGE_DECIMAL },
    { .column = "measured_l1_miss_percent", .title = "miss @1, measured", .format = EXP_PAGE_DECIMAL },
    { .column = "measured_l2_miss_percent", .title = "miss @2, measured", .format = EXP_PAGE_DECIMAL },
    { .column = "measured_l3_miss_percent", .title = "miss @3, measured", .format = EXP_PAGE_DECIMAL },
    { .column = "estimated_issue_speedup",
      .title = "estimate, all loads hit",
      .unit = "\xc3\x97 Base",
      .format = EXP_PAGE_DECIMAL },
    { .column = "estimated_speedup",
      .title = "estimate, all loads wait",
      .unit = "\xc3\x97 Base",
      .format = EXP_PAGE_DECIMAL },
    { .column = "paper_conv_speedup", .title = "the paper's", .unit = "\xc3\x97 Base", .format = EXP_PAGE_DECIMAL },
};

static const char *say_chosen(const char *text)
{
    return !strcmp(text, "1") ? "CSA's choice" : "";
}

static const struct exp_page_field layer_fields[] = {
    { .column = "layer", .is_link = true },
    { .column = "algo", .title = "algorithm", .say = exp_page_algo_title },
    { .column = "chosen", .title = "chosen", .say = say_chosen },
    { .column = "macs", .title = "work", .unit = "million multiply-adds", .format = EXP_PAGE_DECIMAL, .scale = 1e-6 },
    { .column = "measured_time_ns", .title = "time", .unit = "ms", .format = EXP_PAGE_DECIMAL, .scale = 1e-6 },
    { .column = "measured_speedup_vs_base", .title = "times Base's speed", .format = EXP_PAGE_DECIMAL },
    { .column = "measured_speedup_low", .title = "at least", .format = EXP_PAGE_DECIMAL },
    { .column = "measured_speedup_high", .title = "at most", .format = EXP_PAGE_DECIMAL },
    { .column = "measured_gflops", .title = "speed", .format = EXP_PAGE_DECIMAL },
    { .column = "simulated_l1_miss_percent", .title = "miss @1, simulated", .format = EXP_PAGE_DECIMAL },
    { .column = "simulated_l2_miss_percent", .title = "miss @2", .format = EXP_PAGE_DECIMAL },
    { .column = "simulated_l3_miss_percent", .title = "miss @3", .format = EXP_PAGE_DECIMAL },
    { .column = "estimated_speedup",
      .title = "estimate, all loads wait",
      .unit = "\xc3\x97 Base",
      .format = EXP_PAGE_DECIMAL },
};

static size_t *all_rows(const struct exp_page_csv *csv)
{
    size_t *row = malloc((csv->table.n_rows + 1) * sizeof *row);

    for (size_t i = 0; row && i < csv->table.n_rows; i++)
        row[i] = i;
    return row;
}

static const char *page_of_row(const void *ctx, size_t row)
{
    const struct exp_page_run *r = ctx;

    for (size_t i = 0; i < r->n_layers; i++) {
        if (row - r->layer[i].first < r->layer[i].n)
            return r->layer[i].id;
    }
    return NULL;
}

static void write_extract(struct exp_page_writer *w, const struct exp_page_run *r, const struct exp_page_csv *csv,
                          const char *caption, const struct exp_page_field *field, size_t n_fields)
{
    size_t *row = all_rows(csv);
    struct exp_page_extract x = { .csv = csv,
                                  .caption = caption,
                                  .field = field,
                                  .n_fields = n_fields,
                                  .row = row,
                                  .n_rows = row ? csv->table.n_rows : 0,
                                  .target = page_of_row,
                                  .ctx = r,
                                  .is_long = csv->table.n_rows > 12 };

    memcpy(x.level, r->level, sizeof x.level);
    exp_page_extract_write(w, &x);
    free(row);
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

/* Shows all levels where the tables' three are not all of them. */
static void write_levels(struct exp_page_writer *w, const struct exp_page_run *r)
{
    char text[200] = "";

    if (r->machine.n_levels)
        exp_say_planned_levels(&r->machine, text, sizeof text);
    if (!*text)
        return;
    exp_page_text(w, EXP_PAGE_PARAGRAPH, text);
    write_extract(w, r, &r->levels, "All levels of the machine.", level_fields,
                  sizeof level_fields / sizeof level_fields[0]);
}

static void write_model(struct exp_page_writer *w, const struct exp_page_run *r)
{
    write_extract(w, r, &r->model,
                  "All layers together, by algorithm. SConv is CSA's choice of schedule in each layer.", model_fields,
                  sizeof model_fields / sizeof model_fields[0]);
    write_levels(w, r);
}

static void write_layer_table(struct exp_page_writer *w, const struct exp_page_run *r)
{
    write_extract(w, r, &r->layers, "Layer by layer and algorithm. A layer's name leads to its page.", layer_fields,
                  sizeof layer_fields / sizeof layer_fields[0]);
}

static void write_verdict(struct exp_page_writer *w, const struct exp_page_run *r)
{
    char *verdict = exp_page_folder_text(r->f, "verdict.txt");

    if (!verdict)
        exp_page_lacks(w);
    else if (*verdict)
        exp_page_text(w, EXP_PAGE_CODE, verdict);
    free(verdict);
}

static void write_origin(struct exp_page_writer *w, const struct exp_page_run *r)
{
    char *machine = exp_page_folder_text(r->f, "machine.cfg");

    exp_page_text(
        w, EXP_PAGE_PARAGRAPH,
        "Predicted: CSA's equations. Simulated: the kernels' access streams, replayed through the machine below; "
        "caches alone: the same without prefetchers and TLBs, LRU. Observed: every access of the real binaries. "
        "Measured: this computer's clock and counters. Estimated: cycles computed from simulated counts. "
        "The word stands beside every number.");
    exp_page_folder_origin(w, r->f, &r->layers);
    if (!machine) {
        exp_page_lacks(w);
    } else if (*machine) {
        exp_page_text(w, EXP_PAGE_PARAGRAPH, "The simulated machine (machine.cfg):");
        exp_page_text(w, EXP_PAGE_CODE, machine);
    }
    free(machine);
}

static const struct {
    const char *id, *title; /* "": the chapter's own */
    void (*write)(struct exp_page_writer *w, const struct exp_page_run *r);
} parts[] = {
    { "", "", write_answer },
    { "model", "The whole model", write_model },
    { "figures", "Figures", write_figures },
    { "layers", "Layer by layer", write_layer_table },
    { "pages", "A page for each layer", exp_page_layers_write },
    { "verdict", "The verdict in full", write_verdict },
    { "made", "How it was made", write_origin },
};

static void write_part(struct exp_page_writer *w, const struct exp_page_run *r, size_t i)
{
    char id[80];

    exp_page_folder_id(r->f, parts[i].id, id, sizeof id);
    if (*parts[i].id)
        exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_PART, id, parts[i].title, NULL });
    parts[i].write(w, r);
    if (*parts[i].id)
        exp_page_close(w);
}

int exp_page_run_write(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why)
{
    struct exp_page_run r = { .f = f };
    int err = read_run(&r, why);

    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && !err; i++)
        write_part(w, &r, i);
    release(&r);
    return err;
}

/* ---- names, and rows of a layer ---- */

const char *exp_page_algo_title(const char *name)
{
    const struct exp_algo *a = exp_algo_find(name);

    return a ? a->title : name;
}

const char *exp_page_algo_colour(const char *name)
{
    const struct exp_algo *a = exp_algo_find(name);

    return a ? a->colour : "#7f7f7f";
}

size_t exp_page_rows_of_layer(const struct exp_page_csv *csv, const struct rec_table *t, size_t index, size_t *first)
{
    const char *row = csv->row;
    size_t n = 0;

    for (*first = 0; *first < csv->table.n_rows; ++*first, row += t->row_bytes) {
        if (*(const size_t *)(const void *)row == index)
            break;
    }
    for (; *first + n < csv->table.n_rows && *(const size_t *)(const void *)row == index; n++)
        row += t->row_bytes;
    return n;
}
