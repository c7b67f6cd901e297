/* The chapter of an experiment: the answer, how it was made, figures, tables, and a page for each layer. */
#include "experiments/page/exp_page_run.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/replay/exp_totals.h"
#include "experiments/setup/exp_algo.h"

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

/* ---- reading ---- */

static const struct {
    const char *file;
    size_t offset;
} tables[] = {
    { "layers.csv", offsetof(struct exp_page_run, layers) },
    { "model.csv", offsetof(struct exp_page_run, model) },
    { "traffic.csv", offsetof(struct exp_page_run, traffic) },
    { "classes.csv", offsetof(struct exp_page_run, classes) },
    { "samples.csv", offsetof(struct exp_page_run, samples) },
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
static void read_machine(struct exp_page_run *r)
{
    static const char *const usual[EXP_PAGE_LEVELS] = { "L1", "L2", "L3" };
    char *path = exp_format("%s/machine.cfg", r->f->path), ignored[256];

    if (!path || sim_machine_read(&r->machine, path, ignored, sizeof ignored))
        r->machine = (struct sim_machine){ 0 };
    for (size_t i = 0; i < EXP_PAGE_LEVELS; i++) {
        if (!r->machine.n_levels)
            r->level[i] = usual[i];
        else
            r->level[i] = i < exp_n_level_names(&r->machine) ? exp_level_name(&r->machine, i) : NULL;
    }
    free(path);
}

static int read_run(struct exp_page_run *r, char *why, size_t why_bytes)
{
    int err = 0;

    for (size_t i = 0; i < N_TABLES && !err; i++)
        err = exp_page_csv_read(table_of(r, i), r->f->path, tables[i].file, why, why_bytes);
    if (err)
        return err;
    if (!r->layers.table.n_rows)
        return exp_fail(why, why_bytes, -ENOENT, "%s: no layers.csv, or no row in it: not an experiment's results",
                        r->f->path);
    read_machine(r);
    return exp_page_layers_find(r) ? exp_fail(why, why_bytes, -ENOMEM, "out of memory") : 0;
}

/* ---- the answer ---- */

/* Joins a sentence's lines: those that begin with blanks go on. Returns where the next one begins. */
static const char *take_sentence(const char *text, FILE *out)
{
    for (bool is_first = true; *text && *text != '\n'; is_first = false) {
        size_t length = strcspn(text, "\n");

        if (!is_first && *text != ' ')
            return text;
        text += strspn(text, " ");
        length = strcspn(text, "\n");
        fprintf(out, "%s%.*s", is_first ? "" : " ", (int)length, text);
        text += length + (text[length] == '\n');
    }
    return text;
}

static void say_sentence(struct exp_page_writer *w, enum exp_page_text kind, const char **text)
{
    char *sentence = NULL, *said;
    size_t bytes = 0;
    FILE *out = open_memstream(&sentence, &bytes);

    if (!out)
        return;
    *text = take_sentence(*text, out);
    if (!fclose(out) && *sentence) {
        said = strncmp(sentence, "VERDICT for ", 12) ? NULL : strstr(sentence, "): ");
        said = said ? said + 3 : sentence;
        *said = (char)toupper((unsigned char)*said);
        w->ops->say(w, kind, said);
    }
    free(sentence);
}

/* Says the verdict's first paragraph: the answer, and how it was found. */
static void say_answer(struct exp_page_writer *w, const char *verdict)
{
    enum exp_page_text kind = EXP_PAGE_ANSWER;

    if (!*verdict)
        w->ops->say(w, EXP_PAGE_PARAGRAPH, "There is no verdict.txt in this folder: an older version made it.");
    while (*verdict && *verdict != '\n') {
        say_sentence(w, kind, &verdict);
        kind = EXP_PAGE_PARAGRAPH;
    }
}

static size_t row_of_algo(const struct exp_page_csv *csv, const char *algo)
{
    size_t row = 0;

    while (row < csv->table.n_rows && strcmp(exp_page_csv_cell(csv, row, "algo"), algo) != 0)
        row++;
    return row;
}

enum { MOST_CARDS = 8, CARD_BYTES = 96 };

struct cards {
    struct exp_page_fact fact[MOST_CARDS];
    char name[MOST_CARDS][CARD_BYTES], value[MOST_CARDS][CARD_BYTES], note[MOST_CARDS][2 * CARD_BYTES];
    size_t n;
};

/* Adds a card; the value is NaN where it is not known, and then there is no card. */
static void add_card(struct cards *c, const char *name, double value, const char *unit, const char *note)
{
    char number[48];

    if (isnan(value) || c->n == MOST_CARDS)
        return;
    exp_page_print_number(number, sizeof number, value, EXP_PAGE_DECIMAL);
    exp_say(c->name[c->n], CARD_BYTES, "%s", name);
    exp_say(c->value[c->n], CARD_BYTES, "%s%s", number, unit);
    exp_say(c->note[c->n], 2 * CARD_BYTES, "%s", note);
    c->fact[c->n] = (struct exp_page_fact){ c->name[c->n], c->value[c->n], c->note[c->n] };
    c->n++;
}

/* Tells whether a model's row is more than the reference or one of the schedules that CSA chose from. */
static bool is_contender(const char *name)
{
    const struct exp_algo *a = exp_algo_find(name);

    return a && a != exp_algo_base() && a->when != EXP_ALGO_MEMBER;
}

static void add_speedups(struct cards *c, const struct exp_page_run *r)
{
    for (size_t row = 0; row < r->model.table.n_rows; row++) {
        const char *algo = exp_page_csv_cell(&r->model, row, "algo");
        char low[32], high[32], note[128];

        if (!is_contender(algo))
            continue;
        exp_page_print_number(low, sizeof low, exp_page_csv_number(&r->model, row, "measured_speedup_low"),
                              EXP_PAGE_DECIMAL);
        exp_page_print_number(high, sizeof high, exp_page_csv_number(&r->model, row, "measured_speedup_high"),
                              EXP_PAGE_DECIMAL);
        exp_say(note, sizeof note, "as fast as Base%s%s%s%s%s", *low ? ", 95 % within [" : "", low, *low ? ", " : "",
                high, *low ? "]" : "");
        add_card(c, exp_page_algo_title(algo), exp_page_csv_number(&r->model, row, "measured_speedup_vs_base"),
                 "\xc3\x97", note);
    }
}

/* Misses of the chosen SConv against Base's. */
static void add_misses(struct cards *c, const struct exp_page_run *r)
{
    size_t base = row_of_algo(&r->model, exp_algo_base()->name),
           sconv = row_of_algo(&r->model, exp_algo_chosen()->name);

    for (size_t l = 0; l < EXP_PAGE_LEVELS && r->level[l]; l++) {
        char column[64], name[64];

        exp_say(column, sizeof column, "simulated_l%zu_misses_per_1000_macs", l + 1);
        exp_say(name, sizeof name, "misses in %s", r->level[l]);
        add_card(c, name, exp_page_csv_number(&r->model, sconv, column) / exp_page_csv_number(&r->model, base, column),
                 "\xc3\x97", "of Base's, SConv as CSA chose, simulated");
    }
}

static void say_question(struct exp_page_writer *w, const struct exp_page_run *r)
{
    char machine[512], caches[64];

    exp_page_csv_said(&r->layers, "simulated machine", machine, sizeof machine);
    exp_page_csv_said(&r->layers, "caches at the start of a layer", caches, sizeof caches);
    exp_page_say(
        w, EXP_PAGE_PARAGRAPH,
        "Asked: is direct convolution, sliced for the caches by CSA (SConv), better than im2col + GEMM (Base) for "
        "the %zu convolution%s of %s? Simulated machine: %s.%s%s%s",
        r->n_layers, r->n_layers == 1 ? "" : "s", exp_page_csv_cell(&r->layers, 0, "model"),
        *machine ? machine : r->machine.description, *caches ? " Caches at the start of a layer: " : "", caches,
        *caches ? "." : "");
}

static const char *const headlines[] = { "simulated_vs_measured", "observed_vs_replayed", "predicted_vs_simulated",
                                         NULL };

static void write_answer(struct exp_page_writer *w, const struct exp_page_run *r)
{
    struct cards *c = calloc(1, sizeof *c);
    char *verdict = exp_page_folder_text(r->f, "verdict.txt");

    say_question(w, r);
    if (verdict)
        say_answer(w, verdict);
    if (c) {
        add_speedups(c, r);
        add_misses(c, r);
        if (c->n)
            w->ops->facts(w, EXP_PAGE_CARDS, c->fact, c->n);
    }
    exp_page_folder_figures(w, r->f, headlines, true);
    free(verdict);
    free(c);
}

/* ---- parts ---- */

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

static void write_model(struct exp_page_writer *w, const struct exp_page_run *r)
{
    write_extract(w, r, &r->model,
                  "All layers together, by algorithm. SConv is CSA's choice of schedule in each layer.", model_fields,
                  sizeof model_fields / sizeof model_fields[0]);
}

static void write_layer_table(struct exp_page_writer *w, const struct exp_page_run *r)
{
    write_extract(w, r, &r->layers, "Layer by layer and algorithm. A layer's name leads to its page.", layer_fields,
                  sizeof layer_fields / sizeof layer_fields[0]);
}

static void write_verdict(struct exp_page_writer *w, const struct exp_page_run *r)
{
    char *verdict = exp_page_folder_text(r->f, "verdict.txt");

    if (verdict && *verdict)
        w->ops->say(w, EXP_PAGE_CODE, verdict);
    free(verdict);
}

static void write_origin(struct exp_page_writer *w, const struct exp_page_run *r)
{
    char *machine = exp_page_folder_text(r->f, "machine.cfg");

    w->ops->say(
        w, EXP_PAGE_PARAGRAPH,
        "Predicted: CSA's equations. Simulated: the kernels' access streams, replayed through the machine below; "
        "caches alone: the same without prefetchers and TLBs, LRU. Observed: every access of the real binaries. "
        "Measured: this computer's clock and counters. Estimated: cycles computed from simulated counts. "
        "The word stands beside every number.");
    exp_page_folder_origin(w, r->f, &r->layers);
    if (machine && *machine) {
        w->ops->say(w, EXP_PAGE_PARAGRAPH, "The simulated machine (machine.cfg):");
        w->ops->say(w, EXP_PAGE_CODE, machine);
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
        w->ops->open(w, &(struct exp_page_section){ EXP_PAGE_PART, id, parts[i].title, NULL });
    parts[i].write(w, r);
    if (*parts[i].id)
        w->ops->close(w);
}

int exp_page_run_write(struct exp_page_writer *w, const struct exp_page_folder *f, char *why, size_t why_bytes)
{
    struct exp_page_run r = { .f = f };
    int err = read_run(&r, why, why_bytes);

    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && !err; i++)
        write_part(w, &r, i);
    release(&r);
    return err;
}
