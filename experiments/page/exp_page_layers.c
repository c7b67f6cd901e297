/* A page for each shape: what a layer is, how it was planned, and everything that is known of it. */
#include "experiments/page/exp_page_layers.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/page/exp_page_drawing.h"
#include "experiments/page/exp_page_nest.h"
#include "experiments/page/exp_page_plan.h"
#include "experiments/page/exp_page_traffic.h"
#include "experiments/report/exp_layers.h"

/* ---- finding ---- */

/* What differs between layers that are the same: their names, and what was measured. */
static bool is_of_shape(const char *column)
{
    static const char *const others[] = { "layer", "measured_", "observed_", "replayed_part" };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (!strncmp(others[i], column, strlen(others[i])))
            return false;
    }
    return true;
}

static bool is_same(const struct exp_table *t, const struct exp_page_layer *a, const struct exp_page_layer *b)
{
    for (size_t c = 0; c < t->n_columns && a->n == b->n; c++) {
        for (size_t i = 0; i < a->n && is_of_shape(t->column[c]); i++) {
            if (strcmp(exp_table_string(t, a->first + i, c), exp_table_string(t, b->first + i, c)) != 0)
                return false;
        }
    }
    return a->n == b->n;
}

static void find_same(struct exp_page_run *r, size_t i)
{
    size_t k = 0;

    while (k < i && (r->layer[k].same_as != k || !is_same(&r->layers.table, &r->layer[k], &r->layer[i])))
        k++;
    r->layer[i].same_as = k;
    exp_say(r->layer[i].id, sizeof r->layer[i].id, "%s-l%zu", r->f->id, k + 1);
}

int exp_page_layers_find(struct exp_page_run *r)
{
    const struct exp_layers_row *row = r->layers.row;
    const size_t n_rows = r->layers.table.n_rows;

    r->layer = calloc(n_rows + 1, sizeof *r->layer);
    if (!r->layer)
        return -ENOMEM;
    for (size_t i = 0; i < n_rows;) {
        struct exp_page_layer *l = &r->layer[r->n_layers++];

        *l = (struct exp_page_layer){ .index = row[i].layer_index, .name = row[i].layer, .first = i };
        while (i < n_rows && row[i].layer_index == l->index)
            i++;
        l->n = i - l->first;
    }
    for (size_t i = 0; i < r->n_layers; i++)
        find_same(r, i);
    return 0;
}

/* ---- tables ---- */

static const struct exp_page_field plan_fields[] = {
    { .column = "algo", .title = "algorithm", .say = exp_page_algo_title },
    { .column = "ukr", .title = "micro-kernel" },
    { .column = "plan_windows", .title = "windows" },
    { .column = "plan_fits", .title = "fits" },
    { .column = "plan_n_c", .title = "Nc", .format = EXP_PAGE_WHOLE },
    { .column = "plan_channel_sets", .title = "channel sets", .format = EXP_PAGE_WHOLE },
    { .column = "plan_in_tiles", .title = "input tiles", .unit = "", .format = EXP_PAGE_WHOLE },
    { .column = "plan_f_tiles", .title = "filter tiles", .unit = "", .format = EXP_PAGE_WHOLE },
    { .column = "plan_k2", .title = "K2", .format = EXP_PAGE_WHOLE },
    { .column = "plan_k3", .title = "K3", .format = EXP_PAGE_WHOLE },
    { .column = "plan_p", .title = "P", .format = EXP_PAGE_WHOLE },
    { .column = "plan_q", .title = "Q", .format = EXP_PAGE_WHOLE },
    { .column = "plan_r", .title = "R", .format = EXP_PAGE_WHOLE },
};

static const struct exp_page_field time_fields[] = {
    { .column = "layer" },
    { .column = "algo", .title = "algorithm", .say = exp_page_algo_title },
    { .column = "measured_time_ns",
      .title = "fastest quarter",
      .unit = "ms",
      .format = EXP_PAGE_DECIMAL,
      .scale = 1e-6 },
    { .column = "measured_time_min_ns", .title = "fastest", .unit = "ms", .format = EXP_PAGE_DECIMAL, .scale = 1e-6 },
    { .column = "measured_time_median_ns", .title = "median", .unit = "ms", .format = EXP_PAGE_DECIMAL, .scale = 1e-6 },
    { .column = "measured_time_max_ns", .title = "slowest", .unit = "ms", .format = EXP_PAGE_DECIMAL, .scale = 1e-6 },
    { .column = "measured_speedup_vs_base", .title = "times Base's speed", .format = EXP_PAGE_DECIMAL },
    { .column = "measured_speedup_low", .title = "at least", .format = EXP_PAGE_DECIMAL },
    { .column = "measured_speedup_high", .title = "at most", .format = EXP_PAGE_DECIMAL },
    { .column = "measured_gflops", .title = "speed", .format = EXP_PAGE_DECIMAL },
};

static const struct exp_page_field miss_fields[] = {
    { .column = "algo", .title = "algorithm", .say = exp_page_algo_title },
    { .column = "simulated_loads", .title = "loads", .unit = "thousand", .format = EXP_PAGE_DECIMAL, .scale = 1e-3 },
    { .column = "simulated_l1_miss_percent", .title = "miss @1", .format = EXP_PAGE_DECIMAL },
    { .column = "simulated_l2_miss_percent", .title = "miss @2", .format = EXP_PAGE_DECIMAL },
    { .column = "simulated_l3_miss_percent", .title = "miss @3", .format = EXP_PAGE_DECIMAL },
    { .column = "observed_l1_miss_percent", .title = "observed @1", .format = EXP_PAGE_DECIMAL },
    { .column = "observed_l2_miss_percent", .title = "observed @2", .format = EXP_PAGE_DECIMAL },
    { .column = "observed_l3_miss_percent", .title = "observed @3", .format = EXP_PAGE_DECIMAL },
    { .column = "measured_l1_load_misses", .title = "measured, not in @1", .format = EXP_PAGE_WHOLE },
    { .column = "measured_l2_load_misses", .title = "measured, not in @2", .format = EXP_PAGE_WHOLE },
    { .column = "predicted_l2_lines", .title = "from @2, predicted", .format = EXP_PAGE_WHOLE },
    { .column = "simulated_tile_l2_lines", .title = "simulated", .format = EXP_PAGE_WHOLE },
    { .column = "predicted_l3_lines", .title = "from @3, predicted", .format = EXP_PAGE_WHOLE },
    { .column = "simulated_tile_l3_lines", .title = "simulated", .format = EXP_PAGE_WHOLE },
    { .column = "predicted_dram_lines", .title = "from memory, predicted", .format = EXP_PAGE_WHOLE },
    { .column = "simulated_tile_dram_lines", .title = "simulated", .format = EXP_PAGE_WHOLE },
    { .column = "predicted_cycles",
      .title = "waiting, predicted",
      .unit = "thousand cycles",
      .format = EXP_PAGE_DECIMAL,
      .scale = 1e-3 },
    { .column = "simulated_cycles",
      .title = "simulated",
      .unit = "thousand cycles",
      .format = EXP_PAGE_DECIMAL,
      .scale = 1e-3 },
};

enum { MOST_ROWS = 256 };

/* Writes an extract of a table's rows first .. first + n. */
static void write_rows(struct exp_page_writer *w, const struct exp_page_run *r, const struct exp_page_csv *csv,
                       const char *caption, const struct exp_page_field *field, size_t n_fields, const size_t *row,
                       size_t n)
{
    struct exp_page_extract x = {
        .csv = csv, .caption = caption, .field = field, .n_fields = n_fields, .row = row, .n_rows = n, .is_brief = true
    };

    memcpy(x.level, r->level, sizeof x.level);
    exp_page_extract_write(w, &x);
}

#define WRITE_ROWS(w, r, csv, caption, fields, row, n)                                                                 \
    write_rows(w, r, csv, caption, fields, sizeof(fields) / sizeof(fields)[0], row, n)

static size_t put_rows(size_t *row, size_t n_rows, size_t first, size_t n)
{
    for (size_t i = 0; i < n && n_rows < MOST_ROWS; i++)
        row[n_rows++] = first + i;
    return n_rows;
}

/* ---- a page ---- */

static void put_title(char *text, size_t bytes, const struct exp_page_run *r, size_t page)
{
    size_t n = 0;

    *text = '\0';
    for (size_t i = page; i < r->n_layers; i++) {
        if (r->layer[i].same_as != page)
            continue;
        if (n < 3)
            exp_say_more(text, bytes, "%s%s", n ? ", " : "", r->layer[i].name);
        n++;
    }
    if (n > 3)
        exp_say_more(text, bytes, " and %zu more", n - 3);
}

static void write_times(struct exp_page_writer *w, const struct exp_page_run *r, size_t page)
{
    size_t row[MOST_ROWS], n = 0;

    for (size_t i = page; i < r->n_layers; i++) {
        if (r->layer[i].same_as == page)
            n = put_rows(row, n, r->layer[i].first, r->layer[i].n);
    }
    WRITE_ROWS(w, r, &r->layers, "Times, measured", time_fields, row, n);
    exp_page_drawing_of_samples(w, r, page);
}

enum { MOST_FACTS = 8 };

struct facts {
    struct exp_page_fact fact[MOST_FACTS];
    char value[MOST_FACTS][96];
    size_t n;
};

static void add_fact(struct facts *f, const char *name, const char *note, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void add_fact(struct facts *f, const char *name, const char *note, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(f->value[f->n], sizeof f->value[0], format, args);
    va_end(args);
    f->fact[f->n] = (struct exp_page_fact){ name, f->value[f->n], note, false };
    f->n++;
}

#define TIMES " \xc3\x97 "

static void write_shape(struct exp_page_writer *w, const struct exp_page_plan *p)
{
    const struct conv_problem *s = &p->problem;
    struct facts f = { .n = 0 };
    char macs[48];

    exp_page_print_number(macs, sizeof macs, conv_macs(s) * 1e-6, EXP_PAGE_DECIMAL);
    add_fact(&f, "input", "images" TIMES "channels" TIMES "height" TIMES "width",
             "%zu" TIMES "%zu" TIMES "%zu" TIMES "%zu", s->n, s->c, s->h, s->w);
    add_fact(&f, "filters", "number" TIMES "channels" TIMES "height" TIMES "width",
             "%zu" TIMES "%zu" TIMES "%zu" TIMES "%zu", s->k, conv_group_channels(s), s->r, s->s);
    add_fact(&f, "output", "", "%zu" TIMES "%zu" TIMES "%zu" TIMES "%zu", s->n, s->k, s->p, s->q);
    add_fact(&f, "stride", "down, across", "%zu, %zu", s->stride_h, s->stride_w);
    add_fact(&f, "padding", "top, left, bottom, right", "%zu, %zu, %zu, %zu", s->pad_top, s->pad_left, s->pad_bottom,
             s->pad_right);
    add_fact(&f, "dilation; groups", "", "%zu, %zu; %zu", s->dilation_h, s->dilation_w, s->groups);
    add_fact(&f, "work", "million multiply-adds", "%s", macs);
    exp_page_facts(w, EXP_PAGE_LIST, f.fact, f.n);
}

static void write_page(struct exp_page_writer *w, const struct exp_page_run *r, size_t page)
{
    const struct exp_page_layer *l = &r->layer[page];
    size_t row[MOST_ROWS], n = put_rows(row, 0, l->first, l->n);
    struct exp_page_plan plan;
    bool is_known = exp_page_plan_read(&plan, r, page);

    if (is_known)
        write_shape(w, &plan);
    WRITE_ROWS(w, r, &r->layers, "Plans", plan_fields, row, n);
    if (is_known) {
        exp_page_drawing_of_tiles(w, &plan, r);
        exp_page_nest_write(w, &plan);
    }
    write_times(w, r, page);
    WRITE_ROWS(w, r, &r->layers,
               "Load misses of all loads, and the lines that loads bring, without those of the output", miss_fields,
               row, n);
    exp_page_traffic_write(w, r, page);
}

void exp_page_layers_write(struct exp_page_writer *w, const struct exp_page_run *r)
{
    for (size_t i = 0; i < r->n_layers; i++) {
        char title[320], summary[160];

        if (r->layer[i].same_as != i)
            continue;
        put_title(title, sizeof title, r, i);
        exp_page_plan_summary(r, i, summary, sizeof summary);
        exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_DETAIL, r->layer[i].id, title, summary });
        write_page(w, r, i);
        exp_page_close(w);
    }
}
