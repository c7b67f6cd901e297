#include "experiments/report/exp_counts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_text.h"
#include "experiments/report/exp_counts_files.h"
#include "experiments/setup/exp_plan_text.h"

static const char missing_prefix[] = "not available: ";

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
static int sort_rows(const struct exp_table *t, struct exp_counts_row *row, struct exp_why *why)
{
    qsort(row, t->n_rows, sizeof *row, compare_keys);
    for (size_t i = 1; i < t->n_rows; i++) {
        const struct exp_counts_row *a = &row[i - 1], *b = &row[i];

        if (compare_keys(a, b))
            continue;
        return exp_fail(why, -EINVAL, "%s:%u: layer %llu of '%s' with %s is there twice, in line %u too", t->path,
                        t->line[a->row > b->row ? a->row : b->row], (unsigned long long)a->key.layer_index,
                        a->key.model, a->key.algo, t->line[a->row < b->row ? a->row : b->row]);
    }
    return 0;
}

static const struct exp_counts_row *find_row(const struct exp_table *t, const struct exp_counts_row *row,
                                             const struct exp_counts_key *key)
{
    return bsearch(key, row, t->n_rows, sizeof *row, compare_keys);
}

static int open_table(struct exp_table *t, const char *folder, const struct exp_csv_file *file,
                      struct exp_counts_row **row, struct exp_why *why)
{
    char *path = exp_format("%s/%s", folder, file->name);
    int err = path ? exp_table_read(t, path, why) : exp_fail(why, -ENOMEM, "out of memory");

    free(path);
    if (err)
        return err;
    *row = calloc(t->n_rows ? t->n_rows : 1, sizeof **row);
    return *row ? 0 : exp_fail(why, -ENOMEM, "out of memory");
}

static int find_columns(const struct exp_table *t, const struct exp_csv_file *file, size_t *column, struct exp_why *why)
{
    int err = 0;

    for (size_t i = 0; i < file->n_columns && !err; i++)
        err = exp_table_column(t, file->column[i].name, &column[i], why);
    return err;
}

static int read_plans(struct exp_counts *c, struct exp_why *why)
{
    size_t column[EXP_COUNTS_N_PLAN_COLUMNS];
    const struct exp_table *t = &c->plans;
    int err = open_table(&c->plans, c->folder, &exp_counts_plan_file, &c->plan, why);

    if (!err)
        err = find_columns(t, &exp_counts_plan_file, column, why);
    for (size_t i = 0; i < t->n_rows && !err; i++) {
        struct exp_counts_row *row = &c->plan[i];

        row->row = i;
        row->key.model = exp_table_string(t, i, column[EXP_COUNTS_PLAN_MODEL]);
        row->key.algo = exp_table_string(t, i, column[EXP_COUNTS_PLAN_ALGO]);
        err = exp_table_u64(t, i, column[EXP_COUNTS_PLAN_INDEX], &row->key.layer_index, why);
    }
    if (err)
        return err;
    c->column_model = column[EXP_COUNTS_PLAN_MODEL];
    c->column_layer = column[EXP_COUNTS_PLAN_LAYER];
    c->column_macs = column[EXP_COUNTS_PLAN_MACS];
    c->column_plan = column[EXP_COUNTS_PLAN_PLAN];
    return sort_rows(t, c->plan, why);
}

static int read_cache_state(const struct exp_table *t, size_t row, size_t column, enum exp_cache_state *s,
                            struct exp_why *why)
{
    const char *text = exp_table_string(t, row, column);

    for (*s = EXP_COLD; *s <= EXP_NETWORK; ++*s) {
        if (!strcmp(text, exp_cache_state_name(*s)))
            return 0;
    }
    return exp_fail(why, -EINVAL, "%s:%u: caches: must be cold, warm or network, not '%s'", t->path, t->line[row],
                    text);
}

static int read_quantity(const struct exp_table *t, size_t row, size_t column, size_t *q, struct exp_why *why)
{
    const char *text = exp_table_string(t, row, column);

    *q = ctr_quantity_index(text);
    if (*q < ctr_n_quantities())
        return 0;
    return exp_fail(why, -EINVAL, "%s:%u: unknown quantity '%s'; the common ones are in counters/README.md", t->path,
                    t->line[row], text);
}

/* Reads a count; NaN if the cell says why there is none. */
static int read_count(const struct exp_table *t, size_t row, size_t column, double *count, struct exp_why *why)
{
    uint64_t number;
    int err;

    *count = (double)NAN;
    if (!strncmp(exp_table_string(t, row, column), missing_prefix, strlen(missing_prefix)))
        return 0;
    err = exp_table_u64(t, row, column, &number, why);
    if (!err)
        *count = (double)number;
    return err;
}

static int check_has_plan(const struct exp_counts *c, const struct exp_counts_row *row, struct exp_why *why)
{
    const struct exp_counts_key key = { row->key.model, row->key.algo, row->key.layer_index, 0, EXP_COLD };

    if (find_row(&c->plans, c->plan, &key))
        return 0;
    return exp_fail(why, -EINVAL, "%s:%u: %s has no plan of layer %llu of '%s' with %s", c->counts.path,
                    c->counts.line[row->row], exp_counts_plan_file.name, (unsigned long long)key.layer_index, key.model,
                    key.algo);
}

static int read_count_row(struct exp_counts *c, size_t i, const size_t *column, struct exp_why *why)
{
    const struct exp_table *t = &c->counts;
    struct exp_counts_row *row = &c->count[i];
    int err;

    row->row = i;
    row->key.model = exp_table_string(t, i, column[EXP_COUNTS_MODEL]);
    row->key.algo = exp_table_string(t, i, column[EXP_COUNTS_ALGO]);
    err = exp_table_u64(t, i, column[EXP_COUNTS_INDEX], &row->key.layer_index, why);
    if (!err)
        err = read_cache_state(t, i, column[EXP_COUNTS_CACHES], &row->key.cache, why);
    if (!err)
        err = read_quantity(t, i, column[EXP_COUNTS_QUANTITY], &row->key.quantity, why);
    if (!err)
        err = read_count(t, i, column[EXP_COUNTS_COUNT], &row->count, why);
    return err ? err : check_has_plan(c, row, why);
}

static int read_counts(struct exp_counts *c, struct exp_why *why)
{
    size_t column[EXP_COUNTS_N_COUNT_COLUMNS];
    int err = open_table(&c->counts, c->folder, &exp_counts_count_file, &c->count, why);

    if (!err)
        err = find_columns(&c->counts, &exp_counts_count_file, column, why);
    c->column_count = err ? 0 : column[EXP_COUNTS_COUNT];
    for (size_t i = 0; i < c->counts.n_rows && !err; i++)
        err = read_count_row(c, i, column, why);
    return err ? err : sort_rows(&c->counts, c->count, why);
}

int exp_counts_read(struct exp_counts *c, const char *folder, struct exp_why *why)
{
    int err;

    *c = (struct exp_counts){ .folder = strdup(folder),
                              .cpu = strdup(""),
                              .commit = strdup(""),
                              .machine = strdup(""),
                              .ukr = strdup(""),
                              .core = strdup("") };
    err = c->folder && c->cpu && c->commit && c->machine && c->ukr && c->core ? 0
                                                                              : exp_fail(why, -ENOMEM, "out of memory");
    if (!err)
        err = exp_counts_read_host(c, why);
    if (!err)
        err = read_plans(c, why);
    if (!err)
        err = read_counts(c, why);
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
                       const struct exp_layer *layer, struct exp_why *why)
{
    const struct exp_table *t = &c->plans;
    const char *name = exp_table_string(t, row->row, c->column_layer);
    double macs;
    int err = exp_table_double(t, row->row, c->column_macs, &macs, why);

    if (err || (!strcmp(name, layer->name) && macs == conv_macs(&layer->problem)))
        return err;
    return exp_fail(why, -EINVAL,
                    "%s:%u: layer %u of '%s' is '%s' with %.0f multiply-adds there, and '%s' with %.0f in %s", t->path,
                    t->line[row->row], layer->index, model->name, name, macs, layer->name, conv_macs(&layer->problem),
                    model->path);
}

int exp_counts_take_plan(const struct exp_counts *c, const struct exp_model *model, struct exp_case *x, bool *is_older,
                         struct exp_why *why)
{
    const struct exp_counts_key key = { model->name, x->algo->name, x->layer->index, 0, EXP_COLD };
    const struct exp_counts_row *row = find_row(&c->plans, c->plan, &key);
    char text[EXP_PLAN_TEXT_BYTES];
    const char *recorded;
    struct conv_plan plan;
    int err;

    why->text[0] = '\0';
    *is_older = false;
    if (!row) {
        exp_say(why->text, sizeof why->text, "no counts of this layer and algorithm");
        return 0;
    }
    err = check_layer(c, row, model, x->layer, why);
    if (err)
        return err;
    exp_plan_text(&x->plan, text);
    recorded = exp_table_string(&c->plans, row->row, c->column_plan);
    *is_older = strcmp(text, recorded) != 0;
    if (!*is_older)
        return 0;
    if (exp_plan_of_text(&plan, &x->plan, recorded))
        exp_say(why->text, sizeof why->text, "plan differs: counted '%s', planned today '%s'", recorded, text);
    else
        x->plan = plan;
    return 0;
}

double exp_counts_find(const struct exp_counts *c, const struct exp_counts_key *key, const char **why_not)
{
    const struct exp_counts_row *row = find_row(&c->counts, c->count, key);

    if (row && !isnan(row->count))
        return row->count;
    *why_not = row ? exp_table_string(&c->counts, row->row, c->column_count) + strlen(missing_prefix) : "not counted";
    return (double)NAN;
}
