#include "experiments/bench/course/results.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/text.h"
#include "experiments/base/program.h"
#include "experiments/bench/case/machine.h"
#include "sim/machine/machine_here.h"

#define MODELS_FILE "models.txt"

/* ---- the machine ---- */

static const char origin_key[] = "# from: ";

struct machine {
    const struct sim_machine *m;
    const char *origin;
};

static int print_machine(const void *machine, FILE *out)
{
    const struct machine *p = machine;

    fprintf(out, "%s%s\n", origin_key, p->origin);
    return sim_machine_print(p->m, out);
}

int exp_results_write_machine(const struct exp_outdir *dir, const struct sim_machine *m, const char *which,
                              struct exp_why *why)
{
    char *origin = exp_machine_origin(which);
    int err = exp_outdir_write(dir, SIM_MACHINE_FILE, print_machine, &(struct machine){ m, origin }, why);

    free(origin);
    return err;
}

/*
 * Reads the text behind a key in the first line of a folder's file that begins with the key; "" without a line. From
 * malloc.
 */
static char *read_after(const char *folder, const char *file, const char *key)
{
    char *text = exp_text_of(folder, file);
    const char *found = exp_text_after(text, key);
    char *after = found ? exp_format("%.*s", (int)strcspn(found, "\n"), found) : exp_copy_text("");

    free(text);
    return after;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat s, t;

    return !strcmp(a, b) || (!stat(a, &s) && !stat(b, &t) && s.st_dev == t.st_dev && s.st_ino == t.st_ino);
}

/* Returns a machine as text, from malloc; NULL on failure. */
static char *machine_text(const struct sim_machine *m)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = exp_memory_open(&text, &bytes);
    int err = sim_machine_print(m, out);

    fclose(out);
    if (!err)
        return text;
    free(text);
    return NULL;
}

static bool is_equal(const char *cfg, const struct sim_machine *m)
{
    struct sim_machine there;
    char ignored[256];
    char *a = sim_machine_read(&there, cfg, ignored, sizeof ignored) ? NULL : machine_text(&there);
    char *b = machine_text(m);
    bool equal = a && b && !strcmp(a, b);

    free(a);
    free(b);
    return equal;
}

/* Checks whether results of machine m, named by MACHINE=`which`, may stand in a folder. */
static int check_machine(const char *path, const struct sim_machine *m, const char *which, struct exp_why *why)
{
    char *cfg = exp_format("%s/" SIM_MACHINE_FILE, path), *origin = exp_machine_origin(which);
    char *there = read_after(path, SIM_MACHINE_FILE, origin_key);
    int err = 0;

    if (!access(cfg, F_OK) && !is_same_file(there, origin) && !is_equal(cfg, m))
        err = exp_fail(why, -EEXIST,
                       "'%s' holds results of another machine called '%s'%s%s: give one of the two another 'name =', "
                       "set another RESULTS, or remove the folder",
                       path, m->name, *there ? ", of " : "", there);
    free(there);
    free(origin);
    free(cfg);
    return err;
}

/* ---- the layer tables ---- */

static const char layers_key[] = "# layers: ", timed_line[] = "# timed", sample_key[] = "# sample: ";

static int print_models(const void *results, FILE *out)
{
    const struct exp_results *m = results;

    for (size_t i = 0; i < m->n_models; i++)
        fprintf(out, "%s: %s\n", m->model[i].name, m->model[i].path);
    if (*m->layers)
        fprintf(out, "%s%s\n", layers_key, m->layers);
    if (m->is_timed)
        fprintf(out, "%s\n", timed_line);
    if (m->sample)
        fprintf(out, "%s%u\n", sample_key, *m->sample);
    return 0;
}

/* Tells whether two files are readable and equal byte for byte. */
static bool is_same_text(const char *a, const char *b)
{
    FILE *f = fopen(a, "r"), *g = fopen(b, "r");
    bool is_same = f && g;
    int c = 0;

    while (is_same && c != EOF) {
        c = getc(f);
        is_same = c == getc(g);
    }
    if (f)
        fclose(f);
    if (g)
        fclose(g);
    return is_same;
}

/* Checks a layer table: the folder must have no table of this name, this file, or a file of equal content. */
static int check_model(const char *path, const struct exp_model *model, struct exp_why *why)
{
    char *file = exp_format("%s/" MODELS_FILE, path), *key = exp_format("%s: ", model->name);
    char *there = read_after(path, MODELS_FILE, key);
    int err = 0;

    if (!access(file, F_OK) && !is_same_file(there, model->path) && !is_same_text(there, model->path))
        err = exp_fail(why, -EEXIST,
                       "'%s' holds results of another layer table called '%s'%s%s: rename one of the two, set another "
                       "RESULTS, or remove the folder",
                       path, model->name, *there ? ", of " : "", there);
    free(there);
    free(key);
    free(file);
    return err;
}

/* Checks the patterns of LAYERS=: two patterns may make one name. */
static int check_layers(const char *path, const char *layers, struct exp_why *why)
{
    char *there = read_after(path, MODELS_FILE, layers_key);
    int err = 0;

    if (*layers && *there && strcmp(there, layers) != 0)
        err = exp_fail(why, -EEXIST, "'%s' holds results of LAYERS='%s': set another RESULTS, or remove the folder",
                       path, there);
    free(there);
    return err;
}

/* Checks that results of `sample` layers (0: all) do not replace results of more layers. */
static int check_sample(const char *path, unsigned sample, struct exp_why *why)
{
    char *there = read_after(path, MODELS_FILE, sample_key);
    int err = 0;

    if (*there && sample && (!strcmp(there, "0") || strtoul(there, NULL, 10) > sample))
        err = exp_fail(why, -EEXIST,
                       "'%s' holds results of SAMPLE=%s, and this run would replace them by SAMPLE=%u: set another "
                       "RESULTS, or remove the folder",
                       path, there, sample);
    free(there);
    return err;
}

/* ---- times ---- */

/* Tells whether a table's text has a row below the comments and the header. */
static bool has_rows(const char *text)
{
    size_t n = 0;

    for (const char *line = text; n < 2 && *line; line += strcspn(line, "\n"), line += *line == '\n')
        n += *line != '#';
    return n == 2;
}

/*
 * Checks whether a run without times may replace a folder's results. Results older than the note in models.txt have
 * their timed repetitions in samples.csv.
 */
static int check_times(const char *path, const char *untimed, struct exp_why *why)
{
    char *models = exp_text_of(path, MODELS_FILE), *samples = exp_text_of(path, "samples.csv");
    int err = 0;

    if (exp_text_after(models, timed_line) || has_rows(samples))
        err = exp_fail(
            why, -EEXIST,
            "'%s' holds times, and this run would replace them by none (%s): set another RESULTS, or remove the folder",
            path, untimed);
    free(samples);
    free(models);
    return err;
}

/* ---- the path ---- */

/* Prints a user's text without characters special to a shell, never as the name of a hidden folder. */
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

/* Tells whether a question's results lie in a folder of this name. */
static bool is_taken(const struct exp_results_layout *own, const char *name)
{
    for (const struct exp_question *const *q = exp_questions; *q && !*own->folder; q++) {
        const struct exp_results_layout *place = (*q)->place;

        if (place && *place->folder && !strcmp(place->folder + 1, name))
            return true;
    }
    for (const char *const *other = exp_elsewhere; *other && !*own->folder; other++) {
        if (!strcmp(*other, name))
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

/* File systems take names of 255 bytes; hidden siblings (base/outdir.h) need a part of the length. */
enum { LONGEST_NAME = 200 };

/* Shortens a name that is too long for a file system; a hash of the whole name (FNV-1a) keeps names distinct. */
static void shorten(char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;

    if (strlen(name) <= LONGEST_NAME)
        return;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    snprintf(name + LONGEST_NAME - 17, 18, "~%016" PRIx64, hash);
}

static void print_chosen(const char *asked, const char *layers, const struct exp_model *model, size_t n, FILE *out)
{
    const bool is_all = n > 1 && !strcmp(asked, all_models);

    if (is_all)
        fputs(all_models, out);
    for (size_t i = 0; i < n && !is_all; i++)
        fprintf(out, "%s%s", i ? "+" : "", model[i].name);
    print_layers(layers, out);
}

/* Returns the name of results; without models, the user's text. From malloc. */
static char *name_of(const struct exp_results_place *p, const struct exp_model *model, size_t n)
{
    char *name = NULL;
    size_t bytes = 0;
    FILE *out = exp_memory_open(&name, &bytes);

    if (n)
        print_chosen(p->model, p->layers, model, n, out);
    else if (p->layout->print)
        p->layout->print(p->options, out);
    fclose(out);
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

/* Names of files beside the folders of machines. */
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

    assert(path && p->layout && machine);
    if (!err && n == 1)
        err = check_name(p->layout, model, why);
    *path = err ? NULL : exp_format("%s/%s%s%s%s", p->results, machine, p->layout->folder, *name ? "/" : "", name);
    free(name);
    return err;
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
        err = check_model(r->path, model, why);
    if (!err && n)
        err = check_layers(r->path, p.layers, why);
    return err || !m ? err : check_machine(r->path, m, p.machine, why);
}

void exp_results_time(struct exp_results *r, const char *why_not)
{
    r->why_untimed = why_not;
    r->is_timed = !why_not;
}

int exp_results_open(struct exp_results *r, struct exp_why *why)
{
    int err = r->why_untimed ? check_times(r->path, r->why_untimed, why) : 0;

    assert(r && r->path);
    if (!err && r->sample)
        err = check_sample(r->path, *r->sample, why);
    if (err)
        return err;
    err = exp_outdir_open(&r->dir, r->path, r->marker, why);
    r->is_open = !err;
    return err || !r->n_models ? err : exp_outdir_write(&r->dir, MODELS_FILE, print_models, r, why);
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
