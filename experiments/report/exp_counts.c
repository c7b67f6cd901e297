#include "experiments/report/exp_counts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/exp_error.h"
#include "experiments/report/exp_cells.h"
#include "experiments/base/exp_names.h"
#include "experiments/setup/exp_plan_text.h"

#define PLANS "plans.csv"
#define COUNTS "counts.csv"

static const char missing_prefix[] = "not available: ";

/* ---- the computer ---- */

static int set_text(char **field, const char *value, size_t length)
{
    free(*field);
    *field = strndup(value, length);
    return *field ? 0 : -ENOMEM;
}

/* Reads one NAME=VALUE of "replay with". */
static int read_setting(struct exp_counts *c, const char *word, size_t length, char *why, size_t why_bytes)
{
    const struct {
        const char *name;
        char **field;
    } settings[] = { { "MACHINE=", &c->machine }, { "UKR=", &c->ukr }, { "CORE=", &c->core } };

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        size_t prefix = strlen(settings[i].name);

        if (length >= prefix && !strncmp(word, settings[i].name, prefix))
            return set_text(settings[i].field, word + prefix, length - prefix);
    }
    c->packs_filters = length == strlen("FILTERS=run_time") && !strncmp(word, "FILTERS=run_time", length);
    if (c->packs_filters || (length == strlen("FILTERS=ahead") && !strncmp(word, "FILTERS=ahead", length)))
        return 0;
    return exp_fail(why, why_bytes, -EINVAL, "%s/" EXP_COUNTS_HOST ": replay with: unknown setting '%.*s'", c->folder,
                    (int)length, word);
}

static int read_settings(struct exp_counts *c, const char *words, char *why, size_t why_bytes)
{
    int err = 0;

    for (words += strspn(words, " "); *words && !err; words += strspn(words, " ")) {
        size_t length = strcspn(words, " ");

        err = read_setting(c, words, length, why, why_bytes);
        words += length;
    }
    return err;
}

/* Replaces a MACHINE that is a file of the folder by its path. */
static int place_machine(struct exp_counts *c)
{
    size_t length = strlen(c->machine), suffix = strlen(".cfg");
    char *path;

    if (length < suffix || strcmp(c->machine + length - suffix, ".cfg") != 0 || strchr(c->machine, '/'))
        return 0;
    path = exp_format("%s/%s", c->folder, c->machine);
    free(c->machine);
    c->machine = path;
    return path ? 0 : -ENOMEM;
}

static int check_format(const struct exp_counts *c, const char *format, char *why, size_t why_bytes)
{
    if (atoi(format) == EXP_COUNTS_FORMAT)
        return 0;
    return exp_fail(why, why_bytes, -EINVAL, "%s/" EXP_COUNTS_HOST ": counts format: '%s'; this program reads %d",
                    c->folder, format, EXP_COUNTS_FORMAT);
}

static bool has_key(const char *line, const char *key, const char **value)
{
    size_t length = strlen(key);

    *value = line + length;
    return !strncmp(line, key, length);
}

static int read_host_line(struct exp_counts *c, const char *line, bool *has_format, char *why, size_t why_bytes)
{
    const char *value;

    if (has_key(line, "cpu: ", &value))
        return set_text(&c->cpu, value, strlen(value));
    if (has_key(line, "counted at commit: ", &value))
        return set_text(&c->commit, value, strlen(value));
    if (has_key(line, "replay with: ", &value))
        return read_settings(c, value, why, why_bytes);
    if (!has_key(line, "counts format: ", &value))
        return 0;
    *has_format = true;
    return check_format(c, value, why, why_bytes);
}

static int read_host(struct exp_counts *c, char *why, size_t why_bytes)
{
    char *path = exp_format("%s/" EXP_COUNTS_HOST, c->folder);
    FILE *in = path ? fopen(path, "r") : NULL;
    int err = in ? 0 : path ? -errno : -ENOMEM;
    bool has_format = false;
    char line[1024];

    if (err)
        exp_fail(why, why_bytes, err, "COUNTS: cannot read '%s': %s", path ? path : c->folder, strerror(-err));
    while (!err && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\r\n")] = '\0';
        err = read_host_line(c, line, &has_format, why, why_bytes);
    }
    if (!err && !has_format)
        err = exp_fail(why, why_bytes, -EINVAL,
                       "%s: no line 'counts format: %d': the folder holds no recorded counts; make experiment leaves "
                       "some on a computer with counters",
                       path, EXP_COUNTS_FORMAT);
    if (!err)
        err = place_machine(c);
    if (in)
        fclose(in);
    free(path);
    return err;
}

/* ---- the tables ---- */

static int compare_keys(const void *a, const void *b)
{
    const struct exp_counts_key *x = a, *y = b; /* first of a row */
    int order = strcmp(x->model, y->model);

    if (!order)
        order = (x->layer_index > y->layer_index) - (x->layer_index < y->layer_index);
    if (!order)
        order = strcmp(x->algo, y->algo);
    if (!order)
        order = (int)x->cache - (int)y->cache;
    return order ? order : (x->quantity > y->quantity) - (x->quantity < y->quantity);
}

/* Sorts; two rows about the same are an error. */
static int sort_rows(const struct exp_table *t, struct exp_counts_row *row, char *why, size_t why_bytes)
{
    qsort(row, t->n_rows, sizeof *row, compare_keys);
    for (size_t i = 1; i < t->n_rows; i++) {
        const struct exp_counts_row *a = &row[i - 1], *b = &row[i];

        if (compare_keys(a, b))
            continue;
        return exp_fail(why, why_bytes, -EINVAL, "%s:%u: layer %llu of '%s' with %s is there twice, in line %u too",
                        t->path, t->line[a->row > b->row ? a->row : b->row], (unsigned long long)a->key.layer_index,
                        a->key.model, a->key.algo, t->line[a->row < b->row ? a->row : b->row]);
    }
    return 0;
}

static const struct exp_counts_row *find_row(const struct exp_table *t, const struct exp_counts_row *row,
                                             const struct exp_counts_key *key)
{
    return bsearch(key, row, t->n_rows, sizeof *row, compare_keys);
}

static int open_table(struct exp_table *t, const char *folder, const char *name, struct exp_counts_row **row, char *why,
                      size_t why_bytes)
{
    char *path = exp_format("%s/%s", folder, name);
    int err = path ? exp_table_read(t, path, why, why_bytes) : exp_fail(why, why_bytes, -ENOMEM, "out of memory");

    free(path);
    if (err)
        return err;
    *row = calloc(t->n_rows ? t->n_rows : 1, sizeof **row);
    return *row ? 0 : exp_fail(why, why_bytes, -ENOMEM, "out of memory");
}

static int find_columns(const struct exp_table *t, const struct exp_csv_column *named, size_t n, size_t *column,
                        char *why, size_t why_bytes)
{
    int err = 0;

    for (size_t i = 0; i < n && !err; i++)
        err = exp_table_column(t, named[i].name, &column[i], why, why_bytes);
    return err;
}

enum { PLAN_MODEL, PLAN_INDEX, PLAN_LAYER, PLAN_MACS, PLAN_ALGO, PLAN_PLAN, N_PLAN_COLUMNS };
enum { MODEL, CACHES, INDEX, ALGO, QUANTITY, COUNT, N_COUNT_COLUMNS };

static const struct exp_csv_column plan_columns[N_PLAN_COLUMNS] = {
    [PLAN_MODEL] = EXP_COLUMN_MODEL,
    [PLAN_INDEX] = EXP_COLUMN_LAYER_INDEX,
    [PLAN_LAYER] = EXP_COLUMN_LAYER,
    [PLAN_MACS] = EXP_COLUMN_MACS,
    [PLAN_ALGO] = EXP_COLUMN_ALGO,
    [PLAN_PLAN] = { "plan", "", "what ran: kernel, schedule and tiles, or blocking, and how windows are read", "" },
};

static const struct exp_csv_file plan_file = EXP_CSV_FILE(PLANS, plan_columns);

static const struct exp_csv_column count_columns[N_COUNT_COLUMNS] = {
    [MODEL] = EXP_COLUMN_MODEL,
    [CACHES] = { "caches", "", "at the start of the layer: cold, warm or network", "" },
    [INDEX] = EXP_COLUMN_LAYER_INDEX,
    [ALGO] = EXP_COLUMN_ALGO,
    [QUANTITY] = { "quantity", "", "one of those that all CPUs share", "" },
    [COUNT] = { "count", "", "of one run", "counters" },
};

static const struct exp_csv_file count_file = EXP_CSV_FILE(COUNTS, count_columns);

void exp_counts_document(FILE *out)
{
    exp_csv_document(&plan_file, out);
    exp_csv_document(&count_file, out);
}

static int read_plans(struct exp_counts *c, char *why, size_t why_bytes)
{
    size_t column[N_PLAN_COLUMNS];
    const struct exp_table *t = &c->plans;
    int err = open_table(&c->plans, c->folder, PLANS, &c->plan, why, why_bytes);

    if (!err)
        err = find_columns(t, plan_columns, N_PLAN_COLUMNS, column, why, why_bytes);
    for (size_t i = 0; i < t->n_rows && !err; i++) {
        struct exp_counts_row *row = &c->plan[i];

        row->row = i;
        row->key.model = exp_table_string(t, i, column[PLAN_MODEL]);
        row->key.algo = exp_table_string(t, i, column[PLAN_ALGO]);
        err = exp_table_u64(t, i, column[PLAN_INDEX], &row->key.layer_index, why, why_bytes);
    }
    if (err)
        return err;
    c->column_model = column[PLAN_MODEL];
    c->column_layer = column[PLAN_LAYER];
    c->column_macs = column[PLAN_MACS];
    c->column_plan = column[PLAN_PLAN];
    return sort_rows(t, c->plan, why, why_bytes);
}

static int read_cache_state(const struct exp_table *t, size_t row, size_t column, enum exp_cache_state *s, char *why,
                            size_t why_bytes)
{
    const char *text = exp_table_string(t, row, column);

    for (*s = EXP_COLD; *s <= EXP_NETWORK; ++*s) {
        if (!strcmp(text, exp_cache_state_name(*s)))
            return 0;
    }
    return exp_fail(why, why_bytes, -EINVAL, "%s:%u: caches: must be cold, warm or network, not '%s'", t->path,
                    t->line[row], text);
}

static int read_quantity(const struct exp_table *t, size_t row, size_t column, size_t *q, char *why, size_t why_bytes)
{
    const char *text = exp_table_string(t, row, column);

    *q = ctr_quantity_index(text);
    if (*q < ctr_n_quantities())
        return 0;
    return exp_fail(why, why_bytes, -EINVAL, "%s:%u: unknown quantity '%s'; the common ones are in counters/README.md",
                    t->path, t->line[row], text);
}

/* Reads a count; NaN if the cell says why there is none. */
static int read_count(const struct exp_table *t, size_t row, size_t column, double *count, char *why, size_t why_bytes)
{
    uint64_t number;
    int err;

    *count = (double)NAN;
    if (!strncmp(exp_table_string(t, row, column), missing_prefix, strlen(missing_prefix)))
        return 0;
    err = exp_table_u64(t, row, column, &number, why, why_bytes);
    if (!err)
        *count = (double)number;
    return err;
}

static int check_has_plan(const struct exp_counts *c, const struct exp_counts_row *row, char *why, size_t why_bytes)
{
    const struct exp_counts_key key = { row->key.model, row->key.algo, row->key.layer_index, 0, EXP_COLD };

    if (find_row(&c->plans, c->plan, &key))
        return 0;
    return exp_fail(why, why_bytes, -EINVAL, "%s:%u: " PLANS " has no plan of layer %llu of '%s' with %s",
                    c->counts.path, c->counts.line[row->row], (unsigned long long)key.layer_index, key.model, key.algo);
}

static int read_count_row(struct exp_counts *c, size_t i, const size_t *column, char *why, size_t why_bytes)
{
    const struct exp_table *t = &c->counts;
    struct exp_counts_row *row = &c->count[i];
    int err;

    row->row = i;
    row->key.model = exp_table_string(t, i, column[MODEL]);
    row->key.algo = exp_table_string(t, i, column[ALGO]);
    err = exp_table_u64(t, i, column[INDEX], &row->key.layer_index, why, why_bytes);
    if (!err)
        err = read_cache_state(t, i, column[CACHES], &row->key.cache, why, why_bytes);
    if (!err)
        err = read_quantity(t, i, column[QUANTITY], &row->key.quantity, why, why_bytes);
    if (!err)
        err = read_count(t, i, column[COUNT], &row->count, why, why_bytes);
    return err ? err : check_has_plan(c, row, why, why_bytes);
}

static int read_counts(struct exp_counts *c, char *why, size_t why_bytes)
{
    size_t column[N_COUNT_COLUMNS];
    int err = open_table(&c->counts, c->folder, COUNTS, &c->count, why, why_bytes);

    if (!err)
        err = find_columns(&c->counts, count_columns, N_COUNT_COLUMNS, column, why, why_bytes);
    for (size_t i = 0; i < c->counts.n_rows && !err; i++)
        err = read_count_row(c, i, column, why, why_bytes);
    return err ? err : sort_rows(&c->counts, c->count, why, why_bytes);
}

int exp_counts_read(struct exp_counts *c, const char *folder, char *why, size_t why_bytes)
{
    int err;

    *c = (struct exp_counts){ .folder = strdup(folder),
                              .cpu = strdup(""),
                              .commit = strdup(""),
                              .machine = strdup(""),
                              .ukr = strdup(""),
                              .core = strdup("") };
    err = c->folder && c->cpu && c->commit && c->machine && c->ukr && c->core
              ? 0
              : exp_fail(why, why_bytes, -ENOMEM, "out of memory");
    if (!err)
        err = read_host(c, why, why_bytes);
    if (!err)
        err = read_plans(c, why, why_bytes);
    if (!err)
        err = read_counts(c, why, why_bytes);
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
    free(c->plan);
    free(c->count);
    exp_table_release(&c->plans);
    exp_table_release(&c->counts);
    *c = (struct exp_counts){ 0 };
}

/* ---- asking ---- */

bool exp_counts_has(const struct exp_counts *c, const char *model, enum exp_cache_state cache)
{
    for (size_t i = 0; i < c->counts.n_rows; i++) {
        if (c->count[i].key.cache == cache && !strcmp(c->count[i].key.model, model))
            return true;
    }
    return false;
}

char *exp_counts_models(const struct exp_counts *c, enum exp_cache_state cache)
{
    char *list = strdup("");

    for (size_t i = 0; i < c->plans.n_rows && list; i++) {
        const char *model = exp_table_string(&c->plans, i, c->column_model);

        if (exp_counts_has(c, model, cache) && !exp_names_add(&list, model))
            break;
    }
    return list;
}

/*
 * Checks that a row is of the layer that today's table has. Another layer is not skipped, as the whole folder may be
 * of another table.
 */
static int check_layer(const struct exp_counts *c, const struct exp_counts_row *row, const struct exp_model *model,
                       const struct exp_layer *layer, char *why, size_t why_bytes)
{
    const struct exp_table *t = &c->plans;
    const char *name = exp_table_string(t, row->row, c->column_layer);
    double macs;
    int err = exp_table_double(t, row->row, c->column_macs, &macs, why, why_bytes);

    if (err || (!strcmp(name, layer->name) && macs == conv_macs(&layer->problem)))
        return err;
    return exp_fail(why, why_bytes, -EINVAL,
                    "%s:%u: layer %u of '%s' is '%s' with %.0f multiply-adds there, and '%s' with %.0f in %s", t->path,
                    t->line[row->row], layer->index, model->name, name, macs, layer->name, conv_macs(&layer->problem),
                    model->path);
}

int exp_counts_compare(const struct exp_counts *c, const struct exp_model *model, const struct exp_case *today,
                       char *why, size_t why_bytes)
{
    const struct exp_counts_key key = { model->name, today->algo->name, today->layer->index, 0, EXP_COLD };
    const struct exp_counts_row *row = find_row(&c->plans, c->plan, &key);
    char text[EXP_PLAN_TEXT_BYTES];
    const char *recorded;
    int err;

    why[0] = '\0';
    if (!row) {
        exp_say(why, why_bytes, "no counts of this layer and algorithm");
        return 0;
    }
    err = check_layer(c, row, model, today->layer, why, why_bytes);
    if (err)
        return err;
    exp_plan_text(&today->plan, text);
    recorded = exp_table_string(&c->plans, row->row, c->column_plan);
    if (strcmp(text, recorded) != 0)
        exp_say(why, why_bytes, "plan differs: counted '%s', planned today '%s'", recorded, text);
    return 0;
}

double exp_counts_find(const struct exp_counts *c, const struct exp_counts_key *key, char *why, size_t why_bytes)
{
    const struct exp_counts_row *row = find_row(&c->counts, c->count, key);
    size_t column;

    if (row && !isnan(row->count))
        return row->count;
    if (row && !exp_table_column(&c->counts, count_columns[COUNT].name, &column, why, why_bytes))
        exp_say(why, why_bytes, "%s", exp_table_string(&c->counts, row->row, column) + strlen(missing_prefix));
    else
        exp_say(why, why_bytes, "not counted");
    return (double)NAN;
}

/* ---- writing ---- */

static int write_plans(const struct exp_counts_source *s, const struct exp_outdir *dir, char *why, size_t why_bytes)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &plan_file, "what was counted (counts.csv)", why, why_bytes);

    if (err)
        return err;
    for (size_t i = 0; i < s->e->n_cases; i++) {
        const struct exp_case *c = &s->e->cases[i];
        char text[EXP_PLAN_TEXT_BYTES];

        exp_plan_text(&c->plan, text);
        exp_csv_string(csv, "model", s->e->model->name);
        exp_csv_u64(csv, "layer_index", c->layer->index);
        exp_csv_string(csv, "layer", c->layer->name);
        exp_csv_double(csv, "macs", conv_macs(&c->layer->problem));
        exp_csv_string(csv, "algo", c->algo->name);
        exp_csv_string(csv, "plan", text);
        exp_csv_end_row(csv);
    }
    return exp_csv_close(csv, why, why_bytes);
}

static void put_count(const struct exp_counts_source *s, struct exp_csv *csv, const struct exp_case *c, size_t q)
{
    const enum exp_count count = EXP_COMMON + (enum exp_count)q;
    const char *why = exp_case_why_no_count(c, count);

    exp_csv_string(csv, "model", s->e->model->name);
    exp_csv_string(csv, "caches", exp_cache_state_name(s->cache));
    exp_csv_u64(csv, "layer_index", c->layer->index);
    exp_csv_string(csv, "algo", c->algo->name);
    exp_csv_string(csv, "quantity", ctr_quantity_at(q)->name);
    if (why)
        exp_csv_missing(csv, "count", why);
    else
        exp_csv_u64(csv, "count", (uint64_t)(c->measured.count[count] + 0.5));
    exp_csv_end_row(csv);
}

static int write_counts(const struct exp_counts_source *s, const struct exp_outdir *dir, char *why, size_t why_bytes)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &count_file, "counts of what plans.csv says", why, why_bytes);

    if (err)
        return err;
    for (size_t i = 0; i < s->e->n_cases; i++) {
        for (size_t q = 0; q < ctr_n_quantities(); q++)
            put_count(s, csv, &s->e->cases[i], q);
    }
    return exp_csv_close(csv, why, why_bytes);
}

bool exp_counts_exist(const struct exp_experiment *e)
{
    for (size_t i = 0; i < e->n_cases; i++) {
        for (size_t q = 0; q < ctr_n_quantities(); q++) {
            if (!exp_case_why_no_count(&e->cases[i], EXP_COMMON + (enum exp_count)q))
                return true;
        }
    }
    return false;
}

int exp_counts_write(const struct exp_counts_source *s, const struct exp_outdir *dir, char *why, size_t why_bytes)
{
    int err = write_plans(s, dir, why, why_bytes);

    return err ? err : write_counts(s, dir, why, why_bytes);
}

void exp_counts_print_host(const struct exp_counts_source *s, FILE *out)
{
    const struct exp_setup *u = s->e->setup;

    fprintf(out, "counts format: %d\n", EXP_COUNTS_FORMAT);
    fprintf(out, "counted at commit: %s\n", *s->commit ? s->commit : "unknown");
    fprintf(out, "replay with: MACHINE=machine.cfg UKR=%s",
            u->is_ukr_given ? u->ukr->name : sim_cpu_isa_suffix(u->ukr->isa));
    if (u->core)
        fprintf(out, " CORE=%s", u->core->name);
    fprintf(out, " FILTERS=%s\n", u->packs_filters ? "run_time" : "ahead");
}
