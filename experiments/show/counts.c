#include "experiments/show/counts.h"

#include <errno.h>
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

/* Says what was planned, and so what ran. */
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
    uint64_t count;
    const char *why_no_count;
};

#define COUNT struct counts_row

static const struct rec_field count_fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(COUNT, model) },
    { { "caches", "", "at the start of the layer: cold, warm or network", "" }, REC_AT(COUNT, caches) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(COUNT, layer_index) },
    { EXP_COLUMN_ALGO, REC_AT(COUNT, algo) },
    { { "quantity", "", "one of those that all CPUs share", "" }, REC_AT(COUNT, quantity) },
    { { "count", "", "of one run", "counters" }, REC_OR(COUNT, count, why_no_count) },
};

const struct rec_table exp_counts_table = REC_TABLE("counts.csv", count_fields, COUNT);

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
        const enum exp_count count = EXP_COMMON + (enum exp_count)q;
        const char *why = exp_case_why_no_count(c, count);
        const COUNT row = { .model = s->e->model->name,
                            .caches = exp_cache_state_name(s->cache),
                            .layer_index = c->layer->index,
                            .algo = c->algo->name,
                            .quantity = ctr_quantity_at(q)->name,
                            .count = why ? 0 : (uint64_t)(c->measured.count[count] + 0.5),
                            .why_no_count = why };

        rec_put(csv, &exp_counts_table, &row);
    }
}

int exp_counts_write(const struct exp_counts_source *s, const struct exp_outdir *dir, struct exp_why *why)
{
    static const struct rec_file files[] = { { &exp_plans_table, put_plans, "what was counted (counts.csv)" },
                                             { &exp_counts_table, put_counts, "counts of what plans.csv says" } };

    return rec_write_files(files, 2, s, dir, NULL, why);
}

/* ---- host.txt ---- */

#define FORMAT_KEY "counts format: "
#define COMMIT_KEY "counted at commit: "
#define REPLAY_KEY "replay with: "

enum { FORMAT = 1 };

/* Copies what a key's line says; "" if there is none. */
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

/* Reads what to replay with. A MACHINE that is a file of the folder becomes its path. */
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

/* Reads the whole file, which may be a link to anything. */
static int read_host_text(const char *path, char **text, struct exp_why *why)
{
    struct stat s;
    size_t bytes;

    *text = NULL;
    if (stat(path, &s))
        return exp_fail(why, -errno, "COUNTS: cannot read '%s': %s", path, strerror(errno));
    if (!S_ISREG(s.st_mode))
        return exp_fail(why, -EINVAL, "COUNTS: cannot read '%s': not a regular file", path);
    return exp_text_read(text, &bytes, path, why);
}

static int take_host(struct exp_counts *c, const char *host, const char *path, struct exp_why *why)
{
    char *format = said(host, FORMAT_KEY), *words = said(host, REPLAY_KEY);
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

    fprintf(out, FORMAT_KEY "%d\n", FORMAT);
    fprintf(out, COMMIT_KEY "%s\n", *s->commit ? s->commit : "unknown");
    fprintf(out, REPLAY_KEY "MACHINE=machine.cfg UKR=%s",
            u->is_ukr_given ? u->ukr->name : sim_cpu_isa_suffix(u->ukr->isa));
    if (u->core)
        fprintf(out, " CORE=%s", u->core->name);
    fprintf(out, " FILTERS=%s\n", u->packs_filters ? "run_time" : "ahead");
}

/* ---- reading ---- */

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

static const PLAN *find_plan(const struct exp_counts *c, const struct exp_counts_key *key, size_t *row)
{
    const struct exp_counts_place *place = bsearch(key, c->plan, c->plans.n, sizeof *place, compare_keys);

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
    const COUNT *row = (const COUNT *)c->counts.row + i;
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
    const PLAN *row = c->plans.row;
    char *list = exp_copy_text("");

    for (size_t i = 0; i < c->plans.n; i++) {
        if (exp_counts_has(c, row[i].model, cache))
            exp_names_add(&list, row[i].model);
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
    const PLAN *row = (const PLAN *)c->plans.row + at;
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
    const PLAN *row = find_plan(c, &key, &at);
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
    const COUNT *row = place ? (const COUNT *)c->counts.row + place->row : NULL;

    if (row && !row->why_no_count)
        return (double)row->count;
    *why_not = row ? row->why_no_count : "not counted";
    return (double)NAN;
}
