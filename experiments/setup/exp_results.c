#include "experiments/setup/exp_results.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/base/exp_text.h"
#include "sim/machine/machine_here.h"

/* ---- the path ---- */

/* Prints what somebody asked for so that no shell takes any of it for its own, and no folder is hidden. */
static void print_asked(const char *text, size_t length, FILE *out)
{
    static const char kept[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,-";

    for (size_t i = 0; i < length; i++)
        fputc(strchr(kept, text[i]) && (i || *text != '.') ? text[i] : '~', out);
}

void exp_results_print_path(const char *path, FILE *out)
{
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    print_asked(path, length, out);
}

static void print_layers(const char *layers, FILE *out)
{
    if (*layers)
        fputc(',', out);
    print_asked(layers, strlen(layers), out);
}

void exp_results_print_models(const char *model, const char *layers, FILE *out)
{
    exp_results_print_path(*model ? model : "default", out);
    print_layers(layers, out);
}

const struct exp_results_layout exp_results_of_models = { "", false, "layers.csv", NULL };

static const char all_models[] = "all", parts[] = "parts"; /* parts: of paper */

/* Tells whether a question's results lie in a folder of that name. */
static bool is_taken(const struct exp_results_layout *own, const char *name)
{
    for (const struct exp_question *const *q = exp_questions; *q && !*own->folder; q++) {
        const struct exp_results_layout *place = (*q)->place;

        if (place && *place->folder && !strcmp(place->folder + 1, name))
            return true;
    }
    return own->has_sums && (!strcmp(all_models, name) || !strcmp(parts, name));
}

static int check_name(const struct exp_results_layout *layout, const struct exp_model *model, struct exp_why *why)
{
    if (*model->name == '.')
        return exp_fail(why, -EINVAL, "%s: results in '%s' would be hidden: the table's name must not begin with a dot",
                        model->path, model->name);
    if (is_taken(layout, model->name))
        return exp_fail(why, -EINVAL,
                        "%s: the folder '%s' is for other results than one model's: the table needs another name",
                        model->path, model->name);
    return 0;
}

/* File systems take names of 255 bytes; hidden siblings (exp_outdir.h) need some of them. */
enum { LONGEST_NAME = 200 };

/* Shortens a name that no file system would take; what tells it from others is kept as a number (FNV-1a). */
static void shorten(char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;

    if (strlen(name) <= LONGEST_NAME)
        return;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    snprintf(name + LONGEST_NAME - 17, 18, "~%016" PRIx64, hash);
}

static void print_models(const char *asked, const char *layers, const struct exp_model *model, size_t n, FILE *out)
{
    const bool is_all = n > 1 && !strcmp(asked, all_models);

    if (is_all)
        fputs(all_models, out);
    for (size_t i = 0; i < n && !is_all; i++)
        fprintf(out, "%s%s", i ? "+" : "", model[i].name);
    print_layers(layers, out);
}

/* Returns what results are called; of no model, what was asked for. From malloc; NULL when out of memory. */
static char *name_of(const struct exp_results_place *p, const struct exp_model *model, size_t n)
{
    char *name = NULL;
    size_t bytes = 0;
    FILE *out = exp_memory_open(&name, &bytes);

    if (!out)
        return NULL;
    if (n)
        print_models(p->model, p->layers, model, n, out);
    else if (p->layout->print)
        p->layout->print(p->options, out);
    if (fclose(out)) {
        free(name);
        return NULL;
    }
    if (n != 1 || *p->layers)
        shorten(name);
    return name;
}

char *exp_results_name(const char *asked, const char *layers, const struct exp_model *model, size_t n)
{
    const struct exp_results_place p = { .layout = &exp_results_of_models, .model = asked, .layers = layers };

    assert(n);
    return name_of(&p, model, n);
}

/* Names of files that lie where the folders of machines do. */
static const char *const files_of_results[] = { "store.sqlite", "store.sqlite-journal", "store.sqlite.parts",
                                                "report.html" };

static int check_machine_name(const char *name, struct exp_why *why)
{
    for (size_t i = 0; i < sizeof files_of_results / sizeof files_of_results[0]; i++) {
        if (!strcmp(files_of_results[i], name))
            return exp_fail(why, -EINVAL,
                            "the machine is called '%s', as a file of results: its 'name =' must be another", name);
    }
    return 0;
}

int exp_results_path(char **path, const struct exp_results_place *p, const char *machine, const struct exp_model *model,
                     size_t n, struct exp_why *why)
{
    char *name = name_of(p, model, n);
    int err = check_machine_name(machine, why);

    if (!err && n == 1)
        err = check_name(p->layout, model, why);
    *path =
        err || !name ? NULL : exp_format("%s/%s%s%s%s", p->results, machine, p->layout->folder, *name ? "/" : "", name);
    free(name);
    return err || *path ? err : exp_fail(why, -ENOMEM, "out of memory");
}

/* ---- the results of a run ---- */

int exp_results_find(struct exp_results *r, struct exp_results_place p, const struct sim_machine *m,
                     const struct exp_model *model, size_t n, struct exp_why *why)
{
    int err = exp_results_path(&r->path, &p, m ? m->name : "host", model, n, why);

    r->marker = p.layout->marker;
    r->model = model;
    r->n_models = n;
    r->layers = p.layers;
    if (!err && n == 1)
        err = exp_results_check_model(r->path, model, why);
    if (!err && n)
        err = exp_results_check_layers(r->path, p.layers, why);
    return err || !m ? err : exp_results_check_machine(r->path, m, p.machine, why);
}

void exp_results_time(struct exp_results *r, const char *why_not)
{
    r->why_untimed = why_not;
    r->is_timed = !why_not;
}

int exp_results_open(struct exp_results *r, struct exp_why *why)
{
    const struct exp_results_models models = { r->model, r->n_models, r->layers, r->is_timed, r->sample };
    int err = r->why_untimed ? exp_results_check_times(r->path, r->why_untimed, why) : 0;

    if (!err && r->sample)
        err = exp_results_check_sample(r->path, *r->sample, why);
    if (err)
        return err;
    err = exp_outdir_open(&r->dir, r->path, r->marker, why);
    r->is_open = !err;
    return err || !r->n_models ? err : exp_results_write_models(&r->dir, &models, why);
}

int exp_results_commit(struct exp_results *r, struct exp_why *why)
{
    int err = exp_interrupted() ? exp_fail(why, -EINTR, "interrupted while drawing") : exp_outdir_commit(&r->dir, why);

    r->is_open = err != 0;
    return err;
}

void exp_results_release(struct exp_results *r)
{
    if (r->is_open)
        exp_outdir_abort(&r->dir);
    free(r->path);
    *r = (struct exp_results){ 0 };
}
