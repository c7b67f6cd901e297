/* A page for each shape: the layer, the plan, and all numbers of the layer. */
#include "experiments/show/page_run.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/algo.h"
#include "experiments/show/layers.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/f32_openblas.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

/* ---- traffic of a layer ---- */

#define AT(count) offsetof(struct sim_level_counts, count)

enum { MOST_LEVELS = SIM_MAX_LEVELS + 1, KEYS = 3, COLUMN_BYTES = 48 };

/* The quantities of each level: the sum of one or two counts. */
static const struct quantity {
    const char *title;
    size_t count, plus; /* of struct sim_level_counts; equal: only one */
    bool first_only;    /* of the innermost level */
    bool memory_only;   /* of memory, behind all levels */
} quantities[] = {
    { "loads and stores", AT(reads), AT(writes), true, false },
    { "missed", AT(read_misses), AT(write_misses), false, false },
    { "compulsory", AT(compulsory_misses), AT(compulsory_misses), false, false },
    { "capacity", AT(capacity_misses), AT(capacity_misses), false, false },
    { "conflict", AT(conflict_misses), AT(conflict_misses), false, false },
    { "fetched", AT(reads), AT(reads), false, true },
    { "written", AT(writes), AT(writes), false, true },
};

enum { MOST_COLUMNS = KEYS + MOST_LEVELS * N(quantities) };

struct pivot {
    const struct exp_traffic_row *row; /* [n] of the layer */
    size_t n;
    const char *level[MOST_LEVELS];
    size_t n_levels;
    struct exp_page_column column[MOST_COLUMNS];
    const struct quantity *quantity[MOST_COLUMNS]; /* NULL: a key */
    size_t level_of[MOST_COLUMNS];
    char title[MOST_COLUMNS][COLUMN_BYTES];
    char value[MOST_COLUMNS][COLUMN_BYTES];
    size_t n_columns;
};

static const char *key_of(const struct exp_traffic_row *row, size_t key)
{
    const char *const keys[KEYS] = { row->algo, row->phase, row->tensor };

    return keys[key];
}

static void find_levels(struct pivot *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const char *level = p->row[i].level;
        size_t k = 0;

        while (k < p->n_levels && strcmp(p->level[k], level) != 0)
            k++;
        if (k == p->n_levels && k < MOST_LEVELS)
            p->level[p->n_levels++] = level;
    }
}

/* Adds a column: a key with a title, or a quantity of a level. */
static void add_column(struct pivot *p, const char *title, size_t level, const struct quantity *q)
{
    const size_t c = p->n_columns++;

    exp_say(p->title[c], COLUMN_BYTES, "%s%s%s", q ? p->level[level] : "", q ? " " : "", title);
    p->column[c] = (struct exp_page_column){ p->title[c], "", NULL, q != NULL };
    p->quantity[c] = q;
    p->level_of[c] = level;
}

static void make_columns(struct pivot *p)
{
    static const char *const titles[KEYS] = { "algorithm", "phase", "tensor" };

    for (size_t k = 0; k < KEYS; k++)
        add_column(p, titles[k], 0, NULL);
    for (size_t l = 0; l < p->n_levels; l++) {
        const bool is_memory = !strcmp(p->level[l], "memory");

        for (size_t i = 0; i < N(quantities); i++) {
            const struct quantity *q = &quantities[i];

            if (q->memory_only == is_memory && (!q->first_only || !l))
                add_column(p, q->title, l, q);
        }
    }
}

static bool is_like(const struct exp_traffic_row *a, const struct exp_traffic_row *b)
{
    return !strcmp(a->algo, b->algo) && !strcmp(a->phase, b->phase) && !strcmp(a->tensor, b->tensor);
}

static double count_at(const struct exp_traffic_row *row, size_t offset)
{
    return (double)*(const uint64_t *)(const void *)((const char *)&row->count + offset);
}

/* Puts a quantity of a level, which n rows may lack. Zero cells stay blank, so that the rest stands out. */
static void put_sum(const struct exp_traffic_row *row, size_t n, const char *level, const struct quantity *q,
                    char *text)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (!strcmp(row[i].level, level))
            sum = count_at(&row[i], q->count) + (q->plus != q->count ? count_at(&row[i], q->plus) : 0);
    }
    *text = '\0';
    if (sum > 0)
        exp_page_print_number(text, COLUMN_BYTES, sum, EXP_PAGE_WHOLE);
}

/* Writes n rows of equal keys as one row. */
static void write_row(struct exp_page_writer *w, struct pivot *p, const struct exp_traffic_row *row, size_t n)
{
    struct exp_page_cell cells[MOST_COLUMNS];

    for (size_t c = 0; c < p->n_columns; c++) {
        const char *key = c < KEYS ? key_of(row, c) : NULL;

        if (!key)
            put_sum(row, n, p->level[p->level_of[c]], p->quantity[c], p->value[c]);
        cells[c] = (struct exp_page_cell){ !key ? p->value[c] : c ? key : exp_page_algo_title(key), NULL };
    }
    exp_page_row(w, cells, p->n_columns);
}

/* Writes the traffic of a layer as one table: a row per algorithm, phase and tensor, the levels side by side. */
static void write_traffic(struct exp_page_writer *w, const struct exp_page_run *r, size_t layer)
{
    struct pivot p = { .n = 0 };
    size_t first;

    p.n = exp_page_rows_of_layer(&r->traffic, &exp_traffic_table, r->layer[layer].index, &first);
    p.row = (const struct exp_traffic_row *)r->traffic.row + first;
    find_levels(&p);
    make_columns(&p);
    if (p.n) {
        exp_page_table_begin(
            w, &(struct exp_page_table){ "Lines of each tensor at each level, simulated, and why they missed", p.column,
                                         p.n_columns, true, false });
        for (size_t i = 0, n; i < p.n; i += n) {
            for (n = 1; i + n < p.n && is_like(&p.row[i], &p.row[i + n]);)
                n++;
            write_row(w, &p, &p.row[i], n);
        }
        exp_page_table_end(w);
    }
}

/* ---- shape and plan ---- */

/* Finds a micro-kernel's tile: of the project, or of an OpenBLAS core. */
static bool find_tile(const char *name, struct csa_tiling *t)
{
    static const char prefix[] = "openblas_";
    const bool is_openblas = !strncmp(name, prefix, strlen(prefix));
    const struct conv_gemm_core *core = is_openblas ? conv_gemm_core_find(name + strlen(prefix)) : NULL;
    const struct conv_ukr *u = conv_ukr_find(name);
    struct conv_blas_ukr blas;

    if (core) {
        conv_blas_ukr_init(&blas, &core->ukr, NULL);
        u = &blas.ukr;
    }
    if (!u)
        return false;
    t->n_win = u->n_win;
    t->n_f = u->n_f;
    return true;
}

/* Returns a whole number of a row; 0 if missing. */
static double known(const struct exp_layers_row *row, enum measure m)
{
    return row->of[m].number > 0 ? row->of[m].number : 0;
}

static bool read_tiling(struct exp_page_plan *plan, const struct exp_layers_row *row)
{
    const struct exp_algo *a = exp_algo_find(row->algo);
    struct csa_tiling t = { .n_c = (size_t)known(row, M_plan_n_c),
                            .k2 = (size_t)known(row, M_plan_k2),
                            .k3 = (size_t)known(row, M_plan_k3),
                            .channel_sets = (size_t)known(row, M_plan_channel_sets),
                            .in_tiles = (size_t)known(row, M_plan_in_tiles),
                            .f_tiles = (size_t)known(row, M_plan_f_tiles) };

    if (!a || a->when != EXP_ALGO_MEMBER || strcmp(row->windows, "packed") != 0 || !find_tile(row->ukr, &t) || !t.n_c ||
        !t.k2 || !t.k3)
        return false;
    t.schedule = a->schedule;
    plan->algo = a->title;
    plan->ukr = row->ukr;
    plan->tiling = t;
    return true;
}

/* Reads the shape and the plan of a layer. Returns false if the table lacks a valid shape. */
/* Returns the type of a micro-kernel by the start of its name; OpenBLAS's are f32's. */
static enum conv_type type_of(const char *ukr)
{
    unsigned type = CONV_F32;

    for (unsigned i = 0; i < CONV_N_TYPES && ukr; i++) {
        const size_t n = strlen(conv_types[i].name);

        type = !strncmp(ukr, conv_types[i].name, n) && ukr[n] == '_' ? i : type;
    }
    return (enum conv_type)type;
}

static bool read_plan(struct exp_page_plan *plan, const struct exp_page_run *r, size_t layer)
{
    const struct exp_page_layer *l = &r->layer[layer];
    const struct exp_layers_row *row = r->layers.row;
    bool is_chosen = false;
    char ignored[256];

    *plan = (struct exp_page_plan){ .problem = row[l->first].problem };
    if (conv_problem_finish(&plan->problem, SIM_WHY(ignored)))
        return false;
    for (size_t i = l->first; i < l->first + l->n; i++) {
        if (!is_chosen)
            plan->has_tiling = read_tiling(plan, &row[i]) || plan->has_tiling;
        is_chosen = is_chosen || row[i].is_chosen;
        if (!plan->p) {
            plan->p = (size_t)known(&row[i], M_plan_p);
            plan->q = (size_t)known(&row[i], M_plan_q);
            plan->r = (size_t)known(&row[i], M_plan_r);
        }
    }
    plan->problem.type = type_of(plan->ukr);
    return true;
}

/* Says a shape in a few words. */
static void summarise_shape(const struct conv_problem *p, char *text, size_t bytes)
{
    exp_say(text, bytes, "%zu to %zu channels, %zu\xc3\x97%zu, filters %zu\xc3\x97%zu", p->c, p->k, p->h, p->w, p->r,
            p->s);
    if (p->stride_h != 1 || p->stride_w != 1)
        exp_say_more(text, bytes, ", stride %zu", p->stride_h);
    if (p->groups > 1)
        exp_say_more(text, bytes, ", %zu groups", p->groups);
}

/* ---- finding ---- */

/* Tells whether a column belongs to the shape. Layers of one shape differ in names and measurements. */
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
    if (a->work < b->work || a->work > b->work)
        return false;
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

/* Returns the work of the first layer behind the n layers with the most work; -1: there is no such layer. */
static double work_behind(const struct exp_page_run *r, size_t n, bool is_by_shape)
{
    double *work = exp_new(r->n_layers + 1, sizeof *work), limit = -1;
    size_t all = 0;

    for (size_t i = 0; i < r->n_layers; i++) {
        if (!is_by_shape || r->layer[i].same_as == i)
            work[all++] = r->layer[i].work;
    }
    exp_stats_sort_up(work, all);
    if (all > n)
        limit = work[all - n - 1];
    free(work);
    return limit;
}

/* Chooses the layers and shapes of a page: those with the most work, in the order of the file where work is equal. */
static void choose_shown(struct exp_page_run *r)
{
    const double layers = work_behind(r, EXP_PAGE_LAYERS, false), shapes = work_behind(r, EXP_PAGE_SHAPES, true);
    size_t n_layers = 0, n_shapes = 0;

    for (size_t i = 0; i < r->n_layers; i++) {
        struct exp_page_layer *l = &r->layer[i];

        n_layers += l->is_shown = l->work > layers;
        n_shapes += l->has_page = l->same_as == i && l->work > shapes;
    }
    for (size_t i = 0; i < r->n_layers; i++) {
        struct exp_page_layer *l = &r->layer[i];

        if (!l->is_shown && n_layers < EXP_PAGE_LAYERS)
            n_layers += l->is_shown = true;
        if (l->same_as == i && !l->has_page && n_shapes < EXP_PAGE_SHAPES)
            n_shapes += l->has_page = true;
    }
}

const char *exp_page_of_layer(const struct exp_page_run *r, size_t layer)
{
    return r->layer[r->layer[layer].same_as].has_page ? r->layer[layer].id : NULL;
}

void exp_page_layers_find(struct exp_page_run *r)
{
    const struct exp_layers_row *row = r->layers.row;
    const size_t n_rows = r->layers.table.n_rows;

    r->layer = exp_new(n_rows, sizeof *r->layer);
    for (size_t i = 0; i < n_rows;) {
        struct exp_page_layer *l = &r->layer[r->n_layers++];

        *l = (struct exp_page_layer){ .index = row[i].layer_index, .name = row[i].layer, .first = i };
        while (i < n_rows && row[i].layer_index == l->index)
            i++;
        l->n = i - l->first;
    }
    for (size_t i = 0; i < r->n_layers; i++) {
        const double macs = row[r->layer[i].first].of[M_macs].number;

        r->layer[i].work = macs > 0 ? macs : 0;
        find_same(r, i);
    }
    choose_shown(r);
}

/* ---- tables ---- */

static const struct exp_page_field plan_fields[] = {
    { .column = "algo", .title = "algorithm", .say = exp_page_algo_title },
    { .column = "ukr", .title = "micro-kernel" },
    { .column = "plan_windows", .title = "windows" },
    { .column = "plan_fits", .title = "fits" },
    EXP_PAGE_COUNT(plan_n_c, "Nc"),
    EXP_PAGE_COUNT(plan_channel_sets, "channel sets"),
    { .measure = M_plan_in_tiles, .title = "input tiles", .unit = "", .format = EXP_PAGE_WHOLE },
    { .measure = M_plan_f_tiles, .title = "filter tiles", .unit = "", .format = EXP_PAGE_WHOLE },
    EXP_PAGE_COUNT(plan_k2, "K2"),
    EXP_PAGE_COUNT(plan_k3, "K3"),
    EXP_PAGE_COUNT(plan_p, "P"),
    EXP_PAGE_COUNT(plan_q, "Q"),
    EXP_PAGE_COUNT(plan_r, "R"),
};

static const struct exp_page_field time_fields[] = {
    { .column = "layer" },
    { .column = "algo", .title = "algorithm", .say = exp_page_algo_title },
    EXP_PAGE_SCALED(measured_time_ns, "fastest quarter", "ms", 1e-6),
    EXP_PAGE_SCALED(measured_time_min_ns, "fastest", "ms", 1e-6),
    EXP_PAGE_SCALED(measured_time_median_ns, "median", "ms", 1e-6),
    EXP_PAGE_SCALED(measured_time_max_ns, "slowest", "ms", 1e-6),
    EXP_PAGE_SPEEDUP,
    EXP_PAGE_NUMBER(measured_gflops, "speed"),
};

static const struct exp_page_field miss_fields[] = {
    { .column = "algo", .title = "algorithm", .say = exp_page_algo_title },
    EXP_PAGE_SCALED(simulated_loads, "loads", "thousand", 1e-3),
    EXP_PAGE_MISSES(simulated, "miss", ""),
    EXP_PAGE_MISSES(observed, "observed", ""),
    EXP_PAGE_COUNT(measured_l1_load_misses, "measured, not in @1"),
    EXP_PAGE_COUNT(measured_l2_load_misses, "measured, not in @2"),
    EXP_PAGE_COUNT(predicted_l2_lines, "from @2, predicted"),
    EXP_PAGE_COUNT(simulated_tile_l2_lines, "simulated"),
    EXP_PAGE_COUNT(predicted_l3_lines, "from @3, predicted"),
    EXP_PAGE_COUNT(simulated_tile_l3_lines, "simulated"),
    EXP_PAGE_COUNT(predicted_dram_lines, "from memory, predicted"),
    EXP_PAGE_COUNT(simulated_tile_dram_lines, "simulated"),
    EXP_PAGE_SCALED(predicted_cycles, "waiting, predicted", "thousand cycles", 1e-3),
    EXP_PAGE_SCALED(simulated_eq6_cycles, "simulated", "thousand cycles", 1e-3),
#define SUMMED(name, ...) EXP_PAGE_NUMBER(name, #name),
#include "experiments/bench/measure/measures.def"
};

#define THOUSANDS(column, title) EXP_PAGE_SCALED(column, title, "thousand cycles", 1e-3)

static const struct exp_page_field cycle_fields[] = {
    { .column = "algo", .title = "algorithm", .say = exp_page_algo_title },
    THOUSANDS(taken_cycles, "measured"),
    THOUSANDS(simulated_cycles, "simulated"),
    THOUSANDS(simulated_computing_cycles, "computing"),
    THOUSANDS(simulated_packing_cycles, "packing instructions"),
    THOUSANDS(simulated_calls_cycles, "calls"),
    THOUSANDS(simulated_wait_l2_cycles, "waiting for @2"),
    THOUSANDS(simulated_wait_l3_cycles, "for @3"),
    THOUSANDS(simulated_wait_memory_cycles, "for memory"),
    THOUSANDS(simulated_wait_tlb_cycles, "for TLB"),
    THOUSANDS(simulated_wait_stores_cycles, "for stores"),
};

/* Writes an extract of layers.csv. */
static void write_rows(struct exp_page_writer *w, const struct exp_page_run *r, const char *caption,
                       const struct exp_page_field *field, size_t n_fields, const size_t *row, size_t n)
{
    struct exp_page_extract x = { .csv = &r->layers,
                                  .caption = caption,
                                  .field = field,
                                  .n_fields = n_fields,
                                  .row = row,
                                  .n_rows = n,
                                  .level = r->level,
                                  .is_brief = true };

    exp_page_extract_write(w, &x);
}

enum { MOST_ROWS = 256 };

static size_t put_rows(size_t *row, size_t n_rows, const struct exp_page_layer *l)
{
    for (size_t i = 0; i < l->n && n_rows < MOST_ROWS; i++)
        row[n_rows++] = l->first + i;
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
            n = put_rows(row, n, &r->layer[i]);
    }
    write_rows(w, r, "Times, measured", time_fields, N(time_fields), row, n);
    exp_page_drawing_of_samples(w, r, page);
}

static void add_fact(struct exp_page_writer *w, const char *name, const char *note, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void add_fact(struct exp_page_writer *w, const char *name, const char *note, const char *format, ...)
{
    char value[96];
    va_list args;

    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    exp_page_fact(w, EXP_PAGE_LIST, &(struct exp_page_fact){ name, value, note, false, NULL });
}

#define TIMES " \xc3\x97 "

static void write_shape(struct exp_page_writer *w, const struct conv_problem *s)
{
    char macs[48];

    exp_page_print_number(macs, sizeof macs, conv_macs(s) * 1e-6, EXP_PAGE_DECIMAL);
    add_fact(w, "input", "images" TIMES "channels" TIMES "height" TIMES "width",
             "%zu" TIMES "%zu" TIMES "%zu" TIMES "%zu", s->n, s->c, s->h, s->w);
    add_fact(w, "filters", "number" TIMES "channels" TIMES "height" TIMES "width",
             "%zu" TIMES "%zu" TIMES "%zu" TIMES "%zu", s->k, conv_group_channels(s), s->r, s->s);
    add_fact(w, "output", "", "%zu" TIMES "%zu" TIMES "%zu" TIMES "%zu", s->n, s->k, s->p, s->q);
    add_fact(w, "stride", "down, across", "%zu, %zu", s->stride_h, s->stride_w);
    add_fact(w, "padding", "top, left, bottom, right", "%zu, %zu, %zu, %zu", s->pad_top, s->pad_left, s->pad_bottom,
             s->pad_right);
    add_fact(w, "dilation; groups", "", "%zu, %zu; %zu", s->dilation_h, s->dilation_w, s->groups);
    add_fact(w, "work", "million multiply-adds", "%s", macs);
    exp_page_facts_end(w);
}

/* Writes the cycles; a machine without a core has no cycles. */
static void write_cycles(struct exp_page_writer *w, const struct exp_page_run *r, const size_t *row, size_t n)
{
    const struct exp_layers_row *layers = r->layers.row;
    bool has_cycles = false;

    for (size_t i = 0; i < n; i++)
        has_cycles = has_cycles || layers[row[i]].of[M_simulated_cycles].number > 0;
    if (has_cycles)
        write_rows(w, r, "Cycles, and what they go to by the simulated core's clock", cycle_fields, N(cycle_fields),
                   row, n);
}

/* Writes the page of a layer; plan: NULL if unknown. */
static void write_page(struct exp_page_writer *w, const struct exp_page_run *r, size_t page,
                       const struct exp_page_plan *plan)
{
    size_t row[MOST_ROWS], n = put_rows(row, 0, &r->layer[page]);

    if (plan)
        write_shape(w, &plan->problem);
    write_rows(w, r, "Plans", plan_fields, N(plan_fields), row, n);
    if (plan) {
        exp_page_drawing_of_tiles(w, plan, r);
        exp_page_nest_write(w, plan);
    }
    write_times(w, r, page);
    write_rows(w, r, "Load misses of all loads, and the lines that loads bring, without those of the output",
               miss_fields, N(miss_fields), row, n);
    write_cycles(w, r, row, n);
    write_traffic(w, r, page);
}

/* Returns the sum of a measure over a page's layers, of an algorithm (NULL: of CSA's choice); NaN: not known. */
static double sum_of(const struct exp_page_run *r, size_t page, const char *algo, enum measure m)
{
    const struct exp_layers_row *row = r->layers.row;
    double sum = 0;

    for (size_t i = page; i < r->n_layers; i++) {
        const struct exp_page_layer *l = &r->layer[i];
        double its = (double)NAN;

        for (size_t k = l->first; k < l->first + l->n; k++) {
            if (algo ? !strcmp(row[k].algo, algo) : row[k].is_chosen)
                its = row[k].of[m].number;
        }
        sum += l->same_as == page ? its : 0;
    }
    return sum;
}

/* Says how fast an algorithm is on a page's layers. */
static void say_speed(const struct exp_page_run *r, size_t page, const char *algo, enum measure m, char *text,
                      size_t bytes)
{
    const double base = sum_of(r, page, exp_algo_base()->name, m), its = sum_of(r, page, algo, m);
    char times[48];

    if (!(base / its > 0))
        return;
    exp_page_print_number(times, sizeof times, base / its, EXP_PAGE_DECIMAL);
    exp_say_more(text, bytes, "; %s %s\xc3\x97", exp_page_algo_title(algo ? algo : exp_algo_chosen()->name), times);
}

/* Says the largest kind of waiting in the simulated cycles of CSA's choice. */
static void say_waiting(const struct exp_page_run *r, size_t page, char *text, size_t bytes)
{
    const struct {
        enum measure m;
        const char *title, *level;
    } parts[] = {
        { M_simulated_wait_l2_cycles, "", r->level[1] },    { M_simulated_wait_l3_cycles, "", r->level[2] },
        { M_simulated_wait_memory_cycles, "memory", NULL }, { M_simulated_wait_tlb_cycles, "TLBs", NULL },
        { M_simulated_wait_stores_cycles, "stores", NULL },
    };
    const double all = sum_of(r, page, NULL, M_simulated_cycles);
    size_t most = 0;
    double share;

    for (size_t i = 1; i < N(parts); i++) {
        if (sum_of(r, page, NULL, parts[i].m) > sum_of(r, page, NULL, parts[most].m))
            most = i;
    }
    share = 100 * sum_of(r, page, NULL, parts[most].m) / all;
    if (share >= 1)
        exp_say_more(text, bytes, "; waits most for %s: %.0f %%",
                     parts[most].level ? parts[most].level : parts[most].title, share);
}

/* Says a page's numbers in a line: Base's time, or simulated cycles, all speed-ups, and the waiting. */
static void say_numbers(const struct exp_page_run *r, size_t page, char *text, size_t bytes)
{
    const struct exp_page_layer *l = &r->layer[page];
    const struct exp_layers_row *row = r->layers.row;
    const bool is_timed = sum_of(r, page, exp_algo_base()->name, M_measured_time_ns) > 0;
    const enum measure m = is_timed ? M_measured_time_ns : M_simulated_cycles;
    const double base = sum_of(r, page, exp_algo_base()->name, m);
    char number[48];

    if (base > 0) {
        exp_page_print_number(number, sizeof number, base * 1e-6, EXP_PAGE_DECIMAL);
        exp_say_more(text, bytes, "%sBase %s %s", *text ? "; " : "", number, is_timed ? "ms" : "million cycles");
    }
    say_speed(r, page, NULL, m, text, bytes);
    for (size_t i = l->first; i < l->first + l->n; i++) {
        const struct exp_algo *a = exp_algo_find(row[i].algo);

        if (a && a != exp_algo_base() && a->when != EXP_ALGO_MEMBER)
            say_speed(r, page, row[i].algo, m, text, bytes);
    }
    say_waiting(r, page, text, bytes);
}

void exp_page_layers_write(struct exp_page_writer *w, const struct exp_page_run *r)
{
    size_t n_left_out = 0;

    for (size_t i = 0; i < r->n_layers; i++) {
        char title[320], summary[640] = "";
        struct exp_page_plan plan;
        bool is_known;

        n_left_out += r->layer[i].same_as == i && !r->layer[i].has_page;
        if (!r->layer[i].has_page)
            continue;
        is_known = read_plan(&plan, r, i);
        put_title(title, sizeof title, r, i);
        if (is_known)
            summarise_shape(&plan.problem, summary, sizeof summary);
        say_numbers(r, i, summary, sizeof summary);
        exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_DETAIL, r->layer[i].id, title, summary });
        write_page(w, r, i, is_known ? &plan : NULL);
        exp_page_close(w);
    }
    if (n_left_out)
        exp_page_say(w, EXP_PAGE_NOTE, "%zu more shapes, with less work, have no page here: the tables have them.",
                     n_left_out);
}
