#include "experiments/show/counts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/cells.h"
#include "experiments/base/text.h"

/* ---- plans.csv and counts.csv ---- */

/* The plan of a layer and algorithm, which ran. */
struct plans_row {
    const char *model;
    uint64_t layer_index;
    const char *layer;
    double macs;
    const char *algo, *plan;
};

#define PLAN struct plans_row

static const struct rec_field plan_fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(PLAN, model) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(PLAN, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(PLAN, layer) },
    { EXP_COLUMN_MACS, REC_AT(PLAN, macs) },
    { EXP_COLUMN_ALGO, REC_AT(PLAN, algo) },
    { { "plan", "", "what ran: kernel, schedule and tiles, or blocking, and how windows are read", "" },
      REC_AT(PLAN, plan) },
};

const struct rec_table exp_plans_table = REC_TABLE("plans.csv", plan_fields, PLAN);

struct counts_row {
    const char *model, *caches;
    uint64_t layer_index;
    const char *algo, *quantity;
    struct value count;
};

#define COUNT struct counts_row

static const struct rec_field count_fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(COUNT, model) },
    { { "caches", "", "at the start of the layer: cold, warm or network", "" }, REC_AT(COUNT, caches) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(COUNT, layer_index) },
    { EXP_COLUMN_ALGO, REC_AT(COUNT, algo) },
    { { "quantity", "", "one of those that all CPUs share", "" }, REC_AT(COUNT, quantity) },
    { { "count", "", "of one run", "counters" }, REC_WHOLE(COUNT, count) },
};

const struct rec_table exp_counts_table = REC_TABLE("counts.csv", count_fields, COUNT);

#define TIME(member) REC_AT(struct exp_times_row, member)
#define IF_PLANNED(member) REC_OR(struct exp_times_row, member, why_no_plan)
#define IF_TAKEN(member) REC_NAN_AS(struct exp_times_row, member, REC_DOES_NOT_APPLY)

static const struct rec_field time_fields[] = {
    { { "model", "", "layer table", "" }, TIME(model) },
    { { "caches", "", "cold or warm", "" }, TIME(caches) },
    { { "layer_index", "", "number in the model, from 1", "" }, TIME(layer_index) },
    { { "layer", "", "its name", "" }, TIME(layer) },
    { { "algo", "", "experiments/bench/case/algos.def", "" }, TIME(algo) },
    { { "ukr", "", "micro-kernel", "" }, TIME(ukr) },
    { { "n_c", "", CSA_NC_TEXT, "" }, IF_PLANNED(n_c) },
    { { "k2", "", CSA_K2_TEXT, "" }, IF_PLANNED(k2) },
    { { "k3", "", CSA_K3_TEXT, "" }, IF_PLANNED(k3) },
    { { "fastest_ns", "ns", "fastest run", "clock" }, TIME(fastest_ns) },
    { { "median_ns", "ns", "median run", "clock" }, IF_TAKEN(median_ns) },
    { { "cycles", "cycles", "counted in the fastest run", "perf_event" }, IF_TAKEN(cycles) },
    { { "ghz", "GHz", "the core's clock beside the fastest runs: dependent additions", "clock" }, IF_TAKEN(ghz) },
};

const struct rec_table exp_times_table = REC_TABLE("times.csv", time_fields, struct exp_times_row);

int exp_times_read(struct rec_rows *rows, const char *path, struct exp_why *why)
{
    enum { N_NEEDED = sizeof time_fields / sizeof time_fields[0] - 1 };
    size_t needed[N_NEEDED];

    for (size_t i = 0; i < N_NEEDED; i++)
        needed[i] = time_fields[i].offset;
    return rec_read_some(rows, &exp_times_table, path, needed, N_NEEDED, why);
}

double exp_times_cycles(const struct exp_times_row *row, double ran_at_ghz)
{
    return isnan(row->cycles) ? row->fastest_ns * (isnan(row->ghz) ? ran_at_ghz : row->ghz) : row->cycles;
}

bool exp_counts_exist(const struct exp_experiment *e)
{
    for (size_t i = 0; i < e->n_cases; i++) {
        for (size_t q = 0; q < ctr_n_quantities(); q++) {
            if (value_is_known(exp_case_count(&e->cases[i], EXP_COMMON + (enum exp_count)q)))
                return true;
        }
    }
    return false;
}

static void put_plans(struct exp_csv *csv, const void *source)
{
    const struct exp_counts_source *s = source;

    for (size_t i = 0; i < s->e->n_cases; i++) {
        const struct exp_case *c = &s->e->cases[i];
        const struct exp_layer *layer = c->layer;
        char text[EXP_PLAN_TEXT_BYTES];
        const PLAN row = {
            s->e->model->name, layer->index, layer->name, conv_macs(&layer->problem), c->algo->name, text
        };

        exp_plan_text(&c->plan, text);
        rec_put(csv, &exp_plans_table, &row);
    }
}

static void put_counts(struct exp_csv *csv, const void *source)
{
    const struct exp_counts_source *s = source;

    for (size_t i = 0; i < s->e->n_cases * ctr_n_quantities(); i++) {
        const struct exp_case *c = &s->e->cases[i / ctr_n_quantities()];
        const size_t q = i % ctr_n_quantities();
        const struct value count = exp_case_count(c, EXP_COMMON + (enum exp_count)q);
        const COUNT row = { .model = s->e->model->name,
                            .caches = exp_cache_state_name(s->cache),
                            .layer_index = c->layer->index,
                            .algo = c->algo->name,
                            .quantity = ctr_quantity_at(q)->name,
                            .count = value_or(floor(count.number + 0.5), count.why) };

        rec_put(csv, &exp_counts_table, &row);
    }
}

/* The reason for tiles missing in a plan without tiles. */
static void put_times(struct exp_csv *csv, const void *source)
{
    const struct exp_counts_source *s = source;

    for (size_t i = 0; i < s->e->n_cases; i++) {
        const struct exp_case *c = &s->e->cases[i];
        const struct exp_times t = exp_case_times(c);
        const bool is_tiled = c->plan.algorithm == CONV_SCONV;
        const struct exp_times_row row = {
            .model = s->e->model->name,
            .caches = exp_cache_state_name(s->cache),
            .layer_index = c->layer->index,
            .layer = c->layer->name,
            .algo = c->algo->name,
            .ukr = conv_plan_kernel_name(&c->plan),
            .n_c = is_tiled ? c->plan.sconv.tiling.n_c : 0,
            .k2 = is_tiled ? c->plan.sconv.tiling.k2 : 0,
            .k3 = is_tiled ? c->plan.sconv.tiling.k3 : 0,
            .fastest_ns = t.fastest,
            .median_ns = t.median,
            .cycles = (double)NAN,
            .ghz = exp_case_ghz(c) > 0 ? exp_case_ghz(c) : (double)NAN,
            .why_no_plan = is_tiled ? NULL : REC_DOES_NOT_APPLY,
        };

        if (!c->measured.why)
            rec_put(csv, &exp_times_table, &row);
    }
}

int exp_counts_write(const struct exp_counts_source *s, const struct exp_outdir *dir, struct exp_why *why)
{
    static const struct rec_file plans = { &exp_plans_table, put_plans, "what ran" };
    static const struct rec_file counts = { &exp_counts_table, put_counts, "counts of what plans.csv says" };
    static const struct rec_file times = { &exp_times_table, put_times, "times of what plans.csv says" };
    int err = exp_counts_exist(s->e) || s->ran_at_ghz > 0 ? rec_write_files(&plans, 1, s, dir, NULL, why) : 0;

    if (!err && exp_counts_exist(s->e))
        err = rec_write_files(&counts, 1, s, dir, NULL, why);
    if (!err && s->ran_at_ghz > 0)
        err = rec_write_files(&times, 1, s, dir, NULL, why);
    return err;
}

/* ---- host.txt ---- */

#define FORMAT_KEY "counts format: "
#define COMMIT_KEY "counted at commit: "
#define REPLAY_KEY "replay with: "
#define CLOCK_KEY "ran at GHz: "

enum { FORMAT = 1, MOST_GHZ = 10 };

/* Copies the text behind a key; "" without the key. */
static char *said(const char *host, const char *key)
{
    const char *value = exp_text_after(host, key);

    return exp_format("%.*s", value ? (int)strcspn(value, "\r\n") : 0, value ? value : "");
}

/* Reads one NAME=VALUE of "replay with". */
static int read_setting(struct exp_counts *c, const char *word, struct exp_why *why)
{
    const struct {
        const char *name;
        char **field;
    } settings[] = { { "MACHINE=", &c->machine }, { "UKR=", &c->ukr }, { "CORE=", &c->core } };

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const size_t prefix = strlen(settings[i].name);

        if (!strncmp(word, settings[i].name, prefix)) {
            free(*settings[i].field);
            *settings[i].field = exp_copy_text(word + prefix);
            return 0;
        }
    }
    c->packs_filters = !strcmp(word, "FILTERS=run_time");
    if (c->packs_filters || !strcmp(word, "FILTERS=ahead"))
        return 0;
    return exp_fail(why, -EINVAL, "%s/" EXP_COUNTS_HOST ": replay with: unknown setting '%s'", c->folder, word);
}

/* Reads the settings of the replay. A MACHINE that names a file of the folder becomes a path. */
static int read_settings(struct exp_counts *c, char *words, struct exp_why *why)
{
    char *rest = NULL, *name;
    int err = 0;

    for (char *word = strtok_r(words, " ", &rest); word && !err; word = strtok_r(NULL, " ", &rest))
        err = read_setting(c, word, why);
    if (exp_name_ends_in(c->machine, ".cfg") && !strchr(c->machine, '/')) {
        name = c->machine;
        c->machine = exp_format("%s/%s", c->folder, name);
        free(name);
    }
    return err;
}

/* Reads the whole file, perhaps through a link. */
static int read_host_text(const char *path, char **text, struct exp_why *why)
{
    struct stat s;
    size_t bytes;

    *text = NULL;
    if (stat(path, &s))
        return exp_fail(why, -errno, "COUNTS: cannot read '%s': %s", path, strerror(errno));
    if (!S_ISREG(s.st_mode))
        return exp_fail(why, -EINVAL, "COUNTS: cannot read '%s': not a regular file", path);
    return exp_text_read_plain(text, &bytes, path, why);
}

static int take_host(struct exp_counts *c, const char *host, const char *path, struct exp_why *why)
{
    char *format = said(host, FORMAT_KEY), *words = said(host, REPLAY_KEY), *clock = said(host, CLOCK_KEY);
    int err = 0;

    c->cpu = said(host, "cpu: ");
    c->commit = said(host, COMMIT_KEY);
    if (!*format)
        err = exp_fail(why, -EINVAL,
                       "%s: no line 'counts format: %d': the folder holds no recorded counts; make experiment leaves "
                       "some on a computer with counters",
                       path, FORMAT);
    else if (atoi(format) != FORMAT)
        err = exp_fail(why, -EINVAL, "%s: counts format: '%s'; this program reads %d", path, format, FORMAT);
    if (!err)
        err = read_settings(c, words, why);
    c->ran_at_ghz = strtod(clock, NULL);
    if (!err && *clock && !(c->ran_at_ghz > 0 && c->ran_at_ghz < MOST_GHZ))
        err = exp_fail(why, -EINVAL, "%s: " CLOCK_KEY "'%s'; expected a number above 0 and below 10", path, clock);
    free(clock);
    free(words);
    free(format);
    return err;
}

static int read_host(struct exp_counts *c, struct exp_why *why)
{
    char *path = exp_format("%s/" EXP_COUNTS_HOST, c->folder), *text;
    int err = read_host_text(path, &text, why);

    if (!err)
        err = take_host(c, text, path, why);
    free(text);
    free(path);
    return err;
}

void exp_counts_print_host(const struct exp_counts_source *s, FILE *out)
{
    const struct exp_setup *u = s->e->setup;

    if (!exp_counts_exist(s->e) && !(s->ran_at_ghz > 0))
        return;
    fprintf(out, FORMAT_KEY "%d\n", FORMAT);
    fprintf(out, COMMIT_KEY "%s\n", *s->commit ? s->commit : "unknown");
    fprintf(out, REPLAY_KEY "MACHINE=machine.cfg UKR=%s",
            u->is_ukr_given ? u->ukr->name : sim_cpu_isa_suffix(u->ukr->isa));
    if (u->core)
        fprintf(out, " CORE=%s", u->core->name);
    fprintf(out, " FILTERS=%s\n", u->packs_filters ? "run_time" : "ahead");
    if (s->ran_at_ghz > 0)
        fprintf(out, CLOCK_KEY "%.9g\n", s->ran_at_ghz);
}

/* ---- reading ---- */

/* Returns the table of the rows; rows made from times have the table of times.csv. */
static const struct exp_table *table_of(const struct exp_counts *c, const struct rec_rows *rows)
{
    return rows->table.path ? &rows->table : &c->times.table;
}

static int compare_keys(const void *a, const void *b)
{
    const struct exp_counts_key *x = a, *y = b; /* first member of a row */
    int order = strcmp(x->model, y->model);

    if (!order)
        order = (x->layer_index > y->layer_index) - (x->layer_index < y->layer_index);
    if (!order)
        order = strcmp(x->algo, y->algo);
    if (!order)
        order = (int)x->cache - (int)y->cache;
    return order ? order : (x->quantity > y->quantity) - (x->quantity < y->quantity);
}

/* Sorts rows; two rows with one key are an error. */
static int sort_places(const struct exp_table *t, struct exp_counts_place *place, size_t n, struct exp_why *why)
{
    qsort(place, n, sizeof *place, compare_keys);
    for (size_t i = 1; i < n; i++) {
        const struct exp_counts_place *a = &place[i - 1], *b = &place[i];

        if (compare_keys(a, b))
            continue;
        return exp_fail(why, -EINVAL, "%s:%u: layer %llu of '%s' with %s is there twice, in line %u too", t->path,
                        t->line[a->row > b->row ? a->row : b->row], (unsigned long long)a->key.layer_index,
                        a->key.model, a->key.algo, t->line[a->row < b->row ? a->row : b->row]);
    }
    return 0;
}

static const PLAN *find_plan(const struct exp_counts *c, const struct exp_counts_key *key, size_t *row)
{
    const struct exp_counts_place *place = bsearch(key, c->plan, c->n_plans, sizeof *place, compare_keys);

    *row = place ? place->row : 0;
    return place ? (const PLAN *)c->plans.row + place->row : NULL;
}

static int read_rows(struct rec_rows *rows, const struct rec_table *t, const char *folder,
                     struct exp_counts_place **place, struct exp_why *why)
{
    char *path = exp_format("%s/%s", folder, t->file.name);
    int err = rec_read_some(rows, t, path, NULL, REC_ALL, why);

    free(path);
    *place = exp_new(rows->n, sizeof **place);
    return err;
}

static int read_plans(struct exp_counts *c, struct exp_why *why)
{
    int err = read_rows(&c->plans, &exp_plans_table, c->folder, &c->plan, why);
    const PLAN *row = c->plans.row;

    if (err)
        return err;
    for (size_t i = 0; i < c->plans.n; i++)
        c->plan[i] = (struct exp_counts_place){ { row[i].model, row[i].algo, row[i].layer_index, 0, EXP_COLD }, i };
    c->n_plans = c->plans.n;
    return sort_places(&c->plans.table, c->plan, c->n_plans, why);
}

static int find_cache_state(const char *text, enum exp_cache_state *s)
{
    for (*s = EXP_COLD; *s <= EXP_NETWORK; ++*s) {
        if (!strcmp(text, exp_cache_state_name(*s)))
            return 0;
    }
    return -EINVAL;
}

/* Makes the key of a row of counts.csv, with checks that the record lacks. */
static int take_count(struct exp_counts *c, size_t i, struct exp_why *why)
{
    const COUNT *row = (const COUNT *)c->counts.row + i;
    const struct exp_counts_key plan = { row->model, row->algo, row->layer_index, 0, EXP_COLD };
    struct exp_counts_key *key = &c->count[i].key;
    const struct exp_table *table = table_of(c, &c->counts);
    const char *path = table->path;
    const unsigned line = table->line[i];
    size_t at;

    *key = plan;
    key->quantity = ctr_quantity_index(row->quantity);
    c->count[i].row = i;
    if (find_cache_state(row->caches, &key->cache))
        return exp_fail(why, -EINVAL, "%s:%u: caches: must be cold, warm or network, not '%s'", path, line,
                        row->caches);
    if (key->quantity == ctr_n_quantities())
        return exp_fail(why, -EINVAL, "%s:%u: unknown quantity '%s'; the common ones are in counters/README.md", path,
                        line, row->quantity);
    if (row->count.why && !strcmp(row->count.why, REC_DOES_NOT_APPLY))
        return exp_fail(why, -EINVAL, "%s:%u: count, '' is empty", path, line);
    if (find_plan(c, &plan, &at))
        return 0;
    return exp_fail(why, -EINVAL, "%s:%u: %s has no plan of layer %llu of '%s' with %s", path, line,
                    exp_plans_table.file.name, (unsigned long long)plan.layer_index, plan.model, plan.algo);
}

static int read_counts(struct exp_counts *c, struct exp_why *why)
{
    int err = read_rows(&c->counts, &exp_counts_table, c->folder, &c->count, why);

    for (size_t i = 0; i < c->counts.n && !err; i++)
        err = take_count(c, i, why);
    return err ? err : sort_places(&c->counts.table, c->count, c->counts.n, why);
}

static const char *why_not_time(const struct exp_counts *c, const struct exp_times_row *t)
{
    if (!(t->fastest_ns > 0))
        return "fastest_ns: must be above 0";
    if (!isnan(t->ghz) && !(t->ghz > 0 && t->ghz < MOST_GHZ))
        return "ghz: must be above 0 and below 10";
    return isnan(t->cycles) && isnan(t->ghz) && !(c->ran_at_ghz > 0) ? "no cycles, and " EXP_COUNTS_HOST
                                                                       " has no line '" CLOCK_KEY "...'"
                                                                     : NULL;
}

/* Makes plans from the rows of times.csv. Cold and warm runs share one plan, which is kept once. */
static int take_plans_of_times(struct exp_counts *c, struct exp_why *why)
{
    const struct exp_times_row *t = c->times.row;
    PLAN *plan = c->plans.row = exp_new(c->times.n, sizeof *plan);

    c->plan = exp_new(c->times.n, sizeof *c->plan);
    c->plans.n = c->times.n;
    for (size_t i = 0; i < c->times.n; i++) {
        const struct exp_counts_key key = { t[i].model, t[i].algo, t[i].layer_index, 0, EXP_COLD };
        bool is_known = false;

        plan[i] = (PLAN){ t[i].model, t[i].layer_index, t[i].layer, 0, t[i].algo, t[i].ukr };
        for (size_t k = 0; k < c->n_plans && !is_known; k++)
            is_known = !compare_keys(&c->plan[k].key, &key);
        if (!is_known)
            c->plan[c->n_plans++] = (struct exp_counts_place){ key, i };
    }
    return sort_places(&c->times.table, c->plan, c->n_plans, why);
}

/* Makes counts of cycles from the rows of times.csv. */
static int take_times(struct exp_counts *c, struct exp_why *why)
{
    const struct exp_times_row *t = c->times.row;
    const struct exp_table *table = &c->times.table;
    COUNT *count = c->counts.row = exp_new(c->times.n, sizeof *count);
    int err = 0;

    c->count = exp_new(c->times.n, sizeof *c->count);
    c->counts.n = c->times.n;
    for (size_t i = 0; i < c->times.n && !err; i++) {
        const char *wrong = why_not_time(c, &t[i]);

        count[i] = (COUNT){ t[i].model, t[i].caches, t[i].layer_index, t[i].algo, "cycles", value_of(0) };
        if (wrong)
            return exp_fail(why, -EINVAL, "%s:%u: %s", table->path, table->line[i], wrong);
        c->is_by_clock = c->is_by_clock || isnan(t[i].cycles);
        count[i].count = value_of(floor(exp_times_cycles(&t[i], c->ran_at_ghz)));
        err = take_count(c, i, why);
    }
    return err ? err : sort_places(table, c->count, c->counts.n, why);
}

static bool has_file(const char *folder, const struct rec_table *t)
{
    char *path = exp_format("%s/%s", folder, t->file.name);
    bool has = !access(path, F_OK);

    free(path);
    return has;
}

/* Reads plans and counts; of a folder without counts the times, which also tell the plans. */
static int read_tables(struct exp_counts *c, struct exp_why *why)
{
    const bool has_times = has_file(c->folder, &exp_times_table) && !has_file(c->folder, &exp_counts_table);
    const bool has_plans = !has_times || has_file(c->folder, &exp_plans_table);
    char *path = exp_format("%s/%s", c->folder, exp_times_table.file.name);
    int err = has_times ? exp_times_read(&c->times, path, why) : 0;

    free(path);
    if (!err)
        err = has_plans ? read_plans(c, why) : take_plans_of_times(c, why);
    if (!err)
        err = has_times ? take_times(c, why) : read_counts(c, why);
    return err;
}

int exp_counts_read(struct exp_counts *c, const char *folder, struct exp_why *why)
{
    char *stack = exp_format("%s/stack.csv", folder);
    int err;

    *c = (struct exp_counts){ .folder = exp_copy_text(folder),
                              .machine = exp_copy_text(""),
                              .ukr = exp_copy_text(""),
                              .core = exp_copy_text("") };
    if (access(stack, F_OK))
        free(stack);
    else
        c->stack = stack;
    err = read_host(c, why);
    if (!err)
        err = read_tables(c, why);
    if (err)
        exp_counts_release(c);
    return err;
}

void exp_counts_release(struct exp_counts *c)
{
    free(c->folder);
    free(c->cpu);
    free(c->commit);
    free(c->machine);
    free(c->ukr);
    free(c->core);
    free(c->stack);
    free(c->plan);
    free(c->count);
    rec_release(&c->plans);
    rec_release(&c->counts);
    rec_release(&c->times);
    *c = (struct exp_counts){ 0 };
}

/* ---- queries ---- */

bool exp_counts_has(const struct exp_counts *c, const char *model, enum exp_cache_state cache)
{
    for (size_t i = 0; i < c->counts.n; i++) {
        if (c->count[i].key.cache == cache && !strcmp(c->count[i].key.model, model))
            return true;
    }
    return false;
}

char *exp_counts_models(const struct exp_counts *c, enum exp_cache_state cache)
{
    const PLAN *row = c->plans.row;
    char *list = exp_copy_text("");

    for (size_t i = 0; i < c->plans.n; i++) {
        if (i && !strcmp(row[i].model, row[i - 1].model))
            continue;
        if (exp_counts_has(c, row[i].model, cache))
            exp_names_add(&list, row[i].model);
    }
    return list;
}

/*
 * Checks that a row's layer is the layer of today's table. A different layer is an error, because the whole folder may
 * belong to another table.
 */
static int check_layer(const struct exp_counts *c, size_t at, const struct exp_model *model,
                       const struct exp_layer *layer, struct exp_why *why)
{
    const PLAN *row = (const PLAN *)c->plans.row + at;
    const struct exp_table *t = table_of(c, &c->plans);

    if (!strcmp(row->layer, layer->name) && (t != &c->plans.table || row->macs == conv_macs(&layer->problem)))
        return 0;
    if (t != &c->plans.table)
        return exp_fail(why, -EINVAL, "%s:%u: layer %u of '%s' is '%s' there, and '%s' in %s", t->path, t->line[at],
                        layer->index, model->name, row->layer, layer->name, model->path);
    return exp_fail(why, -EINVAL,
                    "%s:%u: layer %u of '%s' is '%s' with %.0f multiply-adds there, and '%s' with %.0f in %s", t->path,
                    t->line[at], layer->index, model->name, row->layer, row->macs, layer->name,
                    conv_macs(&layer->problem), model->path);
}

/*
 * Ways to read a row of times, which lacks schedule and reading of windows: as planned today, or another fitting plan.
 */
enum { OTHER_SCHEDULE = 1, KEEPS_PADDING = 2, N_READINGS = 4 };

/*
 * Writes the plan that ran: the text of the row; of times, whose rows have only a kernel and an SConv plan's tiles,
 * today's plan with this kernel and these tiles.
 */
static void write_plan(const struct exp_counts *c, size_t at, const char *today, int reading,
                       char text[EXP_PLAN_TEXT_BYTES])
{
    static const char skips[] = " without rows of padding";
    const struct exp_times_row *t = c->plans.table.path ? NULL : (const struct exp_times_row *)c->times.row + at;
    const char *schedule = strchr(today, ' '), *rest = strstr(today, " k3=");
    const bool is_is = schedule && !strncmp(schedule, " is ", 4);
    char *skipping;

    if (!t) {
        exp_say(text, EXP_PLAN_TEXT_BYTES, "%s", ((const PLAN *)c->plans.row)[at].plan);
    } else if (t->n_c && rest) {
        exp_say(text, EXP_PLAN_TEXT_BYTES, "%s %s nc=%" PRIu64 " k2=%" PRIu64 " k3=%" PRIu64 "%s", t->ukr,
                is_is != (bool)(reading & OTHER_SCHEDULE) ? "is" : "ws", t->n_c, t->k2, t->k3,
                rest + 4 + strcspn(rest + 4, " "));
        skipping = reading & KEEPS_PADDING ? strstr(text, skips) : NULL;
        if (skipping)
            memmove(skipping, skipping + sizeof skips - 1, strlen(skipping + sizeof skips - 1) + 1);
    } else {
        exp_say(text, EXP_PLAN_TEXT_BYTES, "%s%s", t->ukr, schedule ? schedule : "");
    }
}

int exp_counts_take_plan(const struct exp_counts *c, const struct exp_model *model, struct exp_case *x, bool *is_older,
                         struct exp_why *why)
{
    const struct exp_counts_key key = { model->name, x->algo->name, x->layer->index, 0, EXP_COLD };
    size_t at;
    const PLAN *row = find_plan(c, &key, &at);
    char text[EXP_PLAN_TEXT_BYTES], ran[EXP_PLAN_TEXT_BYTES];
    struct conv_plan plan;
    int err;

    why->text[0] = '\0';
    *is_older = false;
    if (!row) {
        exp_say(why->text, sizeof why->text, "no counts of this layer and algorithm");
        return 0;
    }
    err = check_layer(c, at, model, x->layer, why);
    if (err)
        return err;
    exp_plan_text(&x->plan, text);
    write_plan(c, at, text, 0, ran);
    *is_older = strcmp(text, ran) != 0;
    if (!*is_older)
        return 0;
    err = exp_plan_of_text(&plan, &x->plan, ran);
    for (int reading = 1; err && reading < N_READINGS && !c->plans.table.path; reading++) {
        write_plan(c, at, text, reading, ran);
        err = exp_plan_of_text(&plan, &x->plan, ran);
    }
    if (err)
        exp_say(why->text, sizeof why->text, "plan differs: counted '%s', planned today '%s'", ran, text);
    else
        x->plan = plan;
    return 0;
}

struct value exp_counts_find(const struct exp_counts *c, const struct exp_counts_key *key)
{
    const struct exp_counts_place *place = bsearch(key, c->count, c->counts.n, sizeof *place, compare_keys);

    return place ? ((const COUNT *)c->counts.row)[place->row].count : value_none("not counted");
}
