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
#include "experiments/setup/exp_case.h"

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
static int sort_places(const struct exp_table *t, struct exp_counts_place *place, struct exp_why *why)
{
    qsort(place, t->n_rows, sizeof *place, compare_keys);
    for (size_t i = 1; i < t->n_rows; i++) {
        const struct exp_counts_place *a = &place[i - 1], *b = &place[i];

        if (compare_keys(a, b))
            continue;
        return exp_fail(why, -EINVAL, "%s:%u: layer %llu of '%s' with %s is there twice, in line %u too", t->path,
                        t->line[a->row > b->row ? a->row : b->row], (unsigned long long)a->key.layer_index,
                        a->key.model, a->key.algo, t->line[a->row < b->row ? a->row : b->row]);
    }
    return 0;
}

static const struct exp_plans_row *find_plan(const struct exp_counts *c, const struct exp_counts_key *key, size_t *row)
{
    const struct exp_counts_place *place = bsearch(key, c->plan, c->plans.n, sizeof *place, compare_keys);

    *row = place ? place->row : 0;
    return place ? (const struct exp_plans_row *)c->plans.row + place->row : NULL;
}

static int read_rows(struct rec_rows *rows, const struct rec_table *t, const char *folder,
                     struct exp_counts_place **place, struct exp_why *why)
{
    char *path = exp_format("%s/%s", folder, t->file.name);
    int err = path ? rec_read_some(rows, t, path, NULL, REC_ALL, why) : exp_fail(why, -ENOMEM, "out of memory");

    free(path);
    if (err)
        return err;
    *place = calloc(rows->n + 1, sizeof **place);
    return *place ? 0 : exp_fail(why, -ENOMEM, "out of memory");
}

static int read_plans(struct exp_counts *c, struct exp_why *why)
{
    int err = read_rows(&c->plans, &exp_plans_table, c->folder, &c->plan, why);
    const struct exp_plans_row *row = c->plans.row;

    if (err)
        return err;
    for (size_t i = 0; i < c->plans.n; i++)
        c->plan[i] = (struct exp_counts_place){ { row[i].model, row[i].algo, row[i].layer_index, 0, EXP_COLD }, i };
    return sort_places(&c->plans.table, c->plan, why);
}

static int find_cache_state(const char *text, enum exp_cache_state *s)
{
    for (*s = EXP_COLD; *s <= EXP_NETWORK; ++*s) {
        if (!strcmp(text, exp_cache_state_name(*s)))
            return 0;
    }
    return -EINVAL;
}

/* Makes the key of a row of counts.csv, and checks what the record does not. */
static int take_count(struct exp_counts *c, size_t i, struct exp_why *why)
{
    const struct exp_counts_row *row = (const struct exp_counts_row *)c->counts.row + i;
    const struct exp_counts_key plan = { row->model, row->algo, row->layer_index, 0, EXP_COLD };
    struct exp_counts_key *key = &c->count[i].key;
    const char *path = c->counts.table.path;
    const unsigned line = c->counts.table.line[i];
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
    if (row->why_no_count && !strcmp(row->why_no_count, REC_DOES_NOT_APPLY))
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
    return err ? err : sort_places(&c->counts.table, c->count, why);
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
    rec_release(&c->plans);
    rec_release(&c->counts);
    *c = (struct exp_counts){ 0 };
}

/* ---- asking ---- */

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
    const struct exp_plans_row *row = c->plans.row;
    char *list = strdup("");

    for (size_t i = 0; i < c->plans.n && list; i++) {
        if (exp_counts_has(c, row[i].model, cache) && !exp_names_add(&list, row[i].model))
            break;
    }
    return list;
}

/*
 * Checks that a row is of the layer that today's table has. Another layer is not skipped, as the whole folder may be
 * of another table.
 */
static int check_layer(const struct exp_counts *c, size_t at, const struct exp_model *model,
                       const struct exp_layer *layer, struct exp_why *why)
{
    const struct exp_plans_row *row = (const struct exp_plans_row *)c->plans.row + at;
    const struct exp_table *t = &c->plans.table;

    if (!strcmp(row->layer, layer->name) && row->macs == conv_macs(&layer->problem))
        return 0;
    return exp_fail(why, -EINVAL,
                    "%s:%u: layer %u of '%s' is '%s' with %.0f multiply-adds there, and '%s' with %.0f in %s", t->path,
                    t->line[at], layer->index, model->name, row->layer, row->macs, layer->name,
                    conv_macs(&layer->problem), model->path);
}

int exp_counts_take_plan(const struct exp_counts *c, const struct exp_model *model, struct exp_case *x, bool *is_older,
                         struct exp_why *why)
{
    const struct exp_counts_key key = { model->name, x->algo->name, x->layer->index, 0, EXP_COLD };
    size_t at;
    const struct exp_plans_row *row = find_plan(c, &key, &at);
    char text[EXP_PLAN_TEXT_BYTES];
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
    *is_older = strcmp(text, row->plan) != 0;
    if (!*is_older)
        return 0;
    if (exp_plan_of_text(&plan, &x->plan, row->plan))
        exp_say(why->text, sizeof why->text, "plan differs: counted '%s', planned today '%s'", row->plan, text);
    else
        x->plan = plan;
    return 0;
}

double exp_counts_find(const struct exp_counts *c, const struct exp_counts_key *key, const char **why_not)
{
    const struct exp_counts_place *place = bsearch(key, c->count, c->counts.n, sizeof *place, compare_keys);
    const struct exp_counts_row *row = place ? (const struct exp_counts_row *)c->counts.row + place->row : NULL;

    if (row && !row->why_no_count)
        return (double)row->count;
    *why_not = row ? row->why_no_count : "not counted";
    return (double)NAN;
}
