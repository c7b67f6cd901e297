#include "experiments/papers/polydl/polydl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/bench/course/course.h"
#include "experiments/bench/model/formats.h"
#include "sim/machine/machine_words.h"

/* PolyDL's networks, and PolyDL's matrix multiplications. */
static const char *const known[] = { "alexnet",  "fastrcnn", "googlenetv1", "googlenetv3", "maskrcnn", "mobilenet",
                                     "overfeat", "resnet",   "xception",    "yolov2",      "gemm" };

enum { N_KNOWN = sizeof known / sizeof known[0], NAME_BYTES = 64 };

#define GEMM_TABLE EXP_EXPERIMENTS_DIR "/papers/polydl/gemm.csv"

#define NAME(number, name, meaning) name,
const char *const exp_polydl_baseline_names[EXP_N_POLYDL_BASELINES] = { EXP_EACH_POLYDL_BASELINE(NAME) };

size_t exp_polydl_n_variants(const struct exp_polydl *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n_layers; i++)
        n += p->layer[i].variants.n;
    return n;
}

/* ---- models ---- */

/* Tells whether a folder of layer tables has a table of that name, and the path of the table; from malloc. */
static bool is_table(char **path, const char *folder, const char *name, size_t length)
{
    *path = exp_format(EXP_EXPERIMENTS_DIR "/models/%s%.*s.csv", folder, (int)length, name);
    return length && !memchr(name, '/', length) && !access(*path, R_OK);
}

/* Returns the table of a model: PolyDL's table of that name, or the name. From malloc. */
static char *table_of(const char *name, size_t length)
{
    char *path;

    if (is_table(&path, "polydl/", name, length))
        return path;
    free(path);
    if (length == strlen("gemm") && !strncmp(name, "gemm", length))
        return exp_copy_text(GEMM_TABLE);
    return exp_format("%.*s", (int)length, name);
}

static bool is_table_of_experiment(const char *name)
{
    char *path;
    const bool is_there = is_table(&path, "", name, strlen(name));

    free(path);
    return is_there;
}

/* Refuses a name that is neither a file nor known here. */
static int check_name(const char *table, struct exp_why *why)
{
    const char *nearest;

    if (strpbrk(table, "/.") || exp_descriptor_begins(table) || is_table_of_experiment(table))
        return 0;
    exp_say(why->text, sizeof why->text, "MODEL: unknown model '%.*s'", NAME_BYTES, table);
    nearest = sim_nearest_word(table, known, N_KNOWN);
    if (nearest)
        exp_say_more(why->text, sizeof why->text, ": did you mean %s?", nearest);
    exp_say_more(why->text, sizeof why->text, "%s PolyDL's are", nearest ? "" : ";");
    for (size_t i = 0; i < N_KNOWN; i++)
        exp_say_more(why->text, sizeof why->text, "%s %s", i ? "," : "", known[i]);
    exp_say_more(why->text, sizeof why->text, "; layer tables of experiment may be named, too");
    return -ENOENT;
}

/* Adds a model's table to a comma-separated list from malloc. */
static int add_table(char **tables, const char *name, size_t length, struct exp_why *why)
{
    char *table = table_of(name, length);
    char *more = exp_format("%s%s%s", *tables, **tables ? "," : "", table);
    int err = check_name(table, why);

    free(table);
    free(*tables);
    *tables = more;
    return err;
}

int exp_polydl_models(struct exp_models *m, const char *list, const char *patterns, struct exp_why *why)
{
    const bool is_all = !*list || !strcmp(list, "all");
    char *tables = exp_copy_text("");
    int err = 0;

    for (size_t i = 0; i < N_KNOWN && is_all && !err; i++)
        err = add_table(&tables, known[i], strlen(known[i]), why);
    while (*list && !is_all && !err) {
        const size_t length = strcspn(list, ",");

        err = add_table(&tables, list, length, why);
        list += length + (list[length] == ',');
    }
    if (!err)
        err = exp_models_read(m, EXP_EXPERIMENTS_DIR, tables, patterns, why);
    free(tables);
    return err;
}

/* ---- layers ---- */

/* A GEMM is a 1x1 convolution in the table: of K channels, N filters and M windows. */
static struct exp_variant_source gemm_of(const struct exp_layer *layer)
{
    const struct conv_problem *p = &layer->problem;
    struct exp_variant_source s = { .gemm = { .m = p->h, .n = p->k, .k = p->c }, .n_images = 1 };

    exp_say(s.gemm.name, sizeof s.gemm.name, "%s", layer->name);
    return s;
}

static int plan_layer(struct exp_polydl_layer *l, const struct exp_model *model, const struct exp_layer *layer,
                      const char *variants, struct exp_why *why)
{
    struct exp_why what = { "" };
    int err;

    *l = (struct exp_polydl_layer){
        .model = model->name, .name = layer->name, .shape = &layer->problem, .flops = 2 * conv_macs(&layer->problem)
    };
    l->flops /= (double)layer->problem.n;
    if (!strcmp(model->path, GEMM_TABLE))
        l->source = gemm_of(layer);
    else
        l->source = (struct exp_variant_source){
            .problem = &layer->problem,
            .block = exp_variant_block(&layer->problem, &what),
            .n_images = 1,
        };
    exp_say(l->why, sizeof l->why, "%s", what.text);
    if (*l->why)
        return 0;
    err = exp_variants_make(&l->variants, &l->source, variants, &what);
    l->of = exp_new(l->variants.n + 1, sizeof *l->of);
    for (size_t i = 0; i < l->variants.n && !err; i++)
        l->of[i].variant = &l->variants.variant[i];
    return err ? exp_fail(why, err, "%s: %s", layer->name, what.text) : 0;
}

int exp_polydl_plan(struct exp_polydl *p, const struct exp_models *m, const struct sim_machine *machine,
                    const char *variants, struct exp_why *why)
{
    size_t n = 0;
    int err = 0;

    for (size_t i = 0; i < m->n; i++)
        n += m->model[i].n_layers;
    *p = (struct exp_polydl){ .machine = machine, .layer = exp_new(n, sizeof *p->layer) };
    for (size_t i = 0; i < m->n && !err; i++) {
        for (size_t k = 0; k < m->model[i].n_layers && !err; k++)
            err = plan_layer(&p->layer[p->n_layers++], &m->model[i], &m->model[i].layer[k], variants, why);
    }
    if (err || exp_polydl_n_variants(p))
        return err;
    return exp_fail(why, -EINVAL, "no layer has variants; %s: %s", p->layer[0].name, p->layer[0].why);
}

void exp_polydl_release(struct exp_polydl *p)
{
    for (size_t i = 0; i < p->n_layers; i++) {
        exp_variants_release(&p->layer[i].variants);
        free(p->layer[i].of);
    }
    free(p->layer);
    *p = (struct exp_polydl){ .machine = NULL };
}
