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

static void print_path(const char *path, FILE *out)
{
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    print_asked(path, length, out);
}

/* Two folders that are compared. */
static void print_pair(const struct exp_options *o, FILE *out)
{
    print_path(o->run_a, out);
    fputs("..", out);
    print_path(o->run_b, out);
}

static void print_layers(const struct exp_options *o, FILE *out)
{
    if (*o->layers)
        fputc(',', out);
    print_asked(o->layers, strlen(o->layers), out);
}

/* Layers whose code is made. */
static void print_code(const struct exp_options *o, FILE *out)
{
    print_path(*o->layer ? o->layer : *o->plan ? o->plan : *o->model ? o->model : "default", out);
    if (!*o->layer && !*o->plan)
        print_layers(o, out);
}

/* Folders below <RESULTS>/<machine>. */
static const struct layout {
    const char *folder; /* "": the models' own folders; NULL: a program without results of its own */
    bool has_sums;      /* results may be of more than one model: they are not in a model's folder */
    const char *marker; /* a file that these results always have */
    void (*print)(const struct exp_options *o, FILE *out); /* what names results that are of no model; NULL: nothing */
} layouts[EXP_N_PROGRAMS] = {
    [EXP_EXPERIMENT] = { "", false, "layers.csv", NULL },
    [EXP_JUDGE] = { "/judgement", true, "layers.csv", NULL },
    [EXP_PEERS] = { "/peers", true, "layers.csv", NULL },
    [EXP_CALIBRATE] = { "/calibration", false, SIM_MACHINE_FILE, NULL },
    [EXP_VALIDATE] = { "/validation", true, "simulated_vs_measured.csv", NULL },
    [EXP_PAPER] = { "/paper", true, "numbers.csv", NULL },
    [EXP_STUDY] = { "/study", true, "choices.csv", NULL },
    [EXP_COMPARE] = { "/compare", false, "compare.csv", print_pair },
    [EXP_SWEEP] = { "/sweep", true, "sweep.csv", NULL },
    [EXP_GEN] = { "/emit", false, "code.csv", print_code },
    [EXP_STREAMS] = { "/streams", false, "streams.csv", print_code },
    [EXP_POLYDL] = { "/polydl", true, "variants.csv", NULL },
};

static const char all_models[] = "all", parts[] = "parts"; /* parts: of paper */

/* Tells whether a program's results lie in a folder of that name. */
static bool is_taken(enum exp_program program, const char *name)
{
    const struct layout *own = &layouts[program];

    for (unsigned p = 0; p < EXP_N_PROGRAMS && !*own->folder; p++) {
        if (layouts[p].folder && *layouts[p].folder && !strcmp(layouts[p].folder + 1, name))
            return true;
    }
    return own->has_sums && (!strcmp(all_models, name) || !strcmp(parts, name));
}

static int check_name(enum exp_program program, const struct exp_model *model, struct exp_why *why)
{
    if (*model->name == '.')
        return exp_fail(why, -EINVAL, "%s: results in '%s' would be hidden: the table's name must not begin with a dot",
                        model->path, model->name);
    if (is_taken(program, model->name))
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

static void print_models(const struct exp_options *o, const struct exp_model *model, size_t n, FILE *out)
{
    const bool is_all = n > 1 && !strcmp(o->model, all_models);

    if (is_all)
        fputs(all_models, out);
    for (size_t i = 0; i < n && !is_all; i++)
        fprintf(out, "%s%s", i ? "+" : "", model[i].name);
    print_layers(o, out);
}

/* Returns what results are called; of no model, what was asked for. From malloc; NULL when out of memory. */
static char *name_of(const struct layout *layout, const struct exp_options *o, const struct exp_model *model, size_t n)
{
    char *name = NULL;
    size_t bytes = 0;
    FILE *out = exp_memory_open(&name, &bytes);

    if (!out)
        return NULL;
    if (n)
        print_models(o, model, n, out);
    else if (layout->print)
        layout->print(o, out);
    if (fclose(out)) {
        free(name);
        return NULL;
    }
    if (n != 1 || *o->layers)
        shorten(name);
    return name;
}

char *exp_results_name(const struct exp_options *o, const struct exp_model *model, size_t n)
{
    assert(n);
    return name_of(&layouts[EXP_EXPERIMENT], o, model, n);
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

int exp_results_path(char **path, enum exp_program program, const struct exp_options *o, const char *machine,
                     const struct exp_model *model, size_t n, struct exp_why *why)
{
    const struct layout *layout = &layouts[program];
    char *name = name_of(layout, o, model, n);
    int err = check_machine_name(machine, why);

    if (!err && n == 1)
        err = check_name(program, model, why);
    *path =
        err || !name ? NULL : exp_format("%s/%s%s%s%s", o->results, machine, layout->folder, *name ? "/" : "", name);
    free(name);
    return err || *path ? err : exp_fail(why, -ENOMEM, "out of memory");
}

/* ---- the results of a run ---- */

int exp_results_find(struct exp_results *r, enum exp_program program, const struct exp_options *o,
                     const struct sim_machine *m, const struct exp_model *model, size_t n, struct exp_why *why)
{
    int err = exp_results_path(&r->path, program, o, m ? m->name : "host", model, n, why);

    r->marker = layouts[program].marker;
    r->model = model;
    r->n_models = n;
    r->layers = o->layers;
    if (!err && n == 1)
        err = exp_results_check_model(r->path, model, why);
    if (!err && n)
        err = exp_results_check_layers(r->path, o->layers, why);
    return err || !m ? err : exp_results_check_machine(r->path, m, o->machine, why);
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
