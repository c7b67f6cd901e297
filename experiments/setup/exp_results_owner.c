#include "experiments/setup/exp_results_owner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"
#include "experiments/base/exp_text.h"
#include "experiments/setup/exp_machine.h"
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
    int err = origin ? exp_outdir_write(dir, SIM_MACHINE_FILE, print_machine, &(struct machine){ m, origin }, why)
                     : exp_fail(why, -ENOMEM, "out of memory");

    free(origin);
    return err;
}

/* Reads what follows a key in the first line of a folder's file that begins with it; "" if there is none. From malloc. */
static char *read_after(const char *folder, const char *file, const char *key)
{
    char *text = exp_text_of(folder, file);
    const char *found = text ? exp_text_after(text, key) : NULL;
    char *after = !text ? NULL : found ? strndup(found, strcspn(found, "\n")) : strdup("");

    free(text);
    return after;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat s, t;

    return !strcmp(a, b) || (!stat(a, &s) && !stat(b, &t) && s.st_dev == t.st_dev && s.st_ino == t.st_ino);
}

/* Returns a machine as text; NULL if it cannot be had. From malloc. */
static char *machine_text(const struct sim_machine *m)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = exp_memory_open(&text, &bytes);
    bool failed = !out || sim_machine_print(m, out);

    if ((out && fclose(out)) || failed) {
        free(text);
        return NULL;
    }
    return text;
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

int exp_results_check_machine(const char *path, const struct sim_machine *m, const char *which, struct exp_why *why)
{
    char *cfg = exp_format("%s/" SIM_MACHINE_FILE, path), *origin = exp_machine_origin(which);
    char *there = cfg ? read_after(path, SIM_MACHINE_FILE, origin_key) : NULL;
    int err = 0;

    if (!origin || !there)
        err = exp_fail(why, -ENOMEM, "out of memory");
    else if (!access(cfg, F_OK) && !is_same_file(there, origin) && !is_equal(cfg, m))
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

static int print_models(const void *models, FILE *out)
{
    const struct exp_results_models *m = models;

    for (size_t i = 0; i < m->n; i++)
        fprintf(out, "%s: %s\n", m->model[i].name, m->model[i].path);
    if (*m->layers)
        fprintf(out, "%s%s\n", layers_key, m->layers);
    if (m->is_timed)
        fprintf(out, "%s\n", timed_line);
    if (m->sample)
        fprintf(out, "%s%u\n", sample_key, *m->sample);
    return 0;
}

int exp_results_write_models(const struct exp_outdir *dir, const struct exp_results_models *m, struct exp_why *why)
{
    return exp_outdir_write(dir, MODELS_FILE, print_models, m, why);
}

/* Tells whether two files can be read and hold the same bytes. */
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

int exp_results_check_model(const char *path, const struct exp_model *model, struct exp_why *why)
{
    char *file = exp_format("%s/" MODELS_FILE, path), *key = exp_format("%s: ", model->name);
    char *there = file && key ? read_after(path, MODELS_FILE, key) : NULL;
    int err = 0;

    if (!there)
        err = exp_fail(why, -ENOMEM, "out of memory");
    else if (!access(file, F_OK) && !is_same_file(there, model->path) && !is_same_text(there, model->path))
        err = exp_fail(why, -EEXIST,
                       "'%s' holds results of another layer table called '%s'%s%s: rename one of the two, set another "
                       "RESULTS, or remove the folder",
                       path, model->name, *there ? ", of " : "", there);
    free(there);
    free(key);
    free(file);
    return err;
}

int exp_results_check_layers(const char *path, const char *layers, struct exp_why *why)
{
    char *there = read_after(path, MODELS_FILE, layers_key);
    int err = 0;

    if (!there)
        err = exp_fail(why, -ENOMEM, "out of memory");
    else if (*layers && *there && strcmp(there, layers) != 0)
        err = exp_fail(why, -EEXIST, "'%s' holds results of LAYERS='%s': set another RESULTS, or remove the folder",
                       path, there);
    free(there);
    return err;
}

int exp_results_check_sample(const char *path, unsigned sample, struct exp_why *why)
{
    char *there = read_after(path, MODELS_FILE, sample_key);
    int err = 0;

    if (!there)
        err = exp_fail(why, -ENOMEM, "out of memory");
    else if (*there && sample && (!strcmp(there, "0") || strtoul(there, NULL, 10) > sample))
        err = exp_fail(why, -EEXIST,
                       "'%s' holds results of SAMPLE=%s, and this run would replace them by SAMPLE=%u: set another "
                       "RESULTS, or remove the folder",
                       path, there, sample);
    free(there);
    return err;
}

/* ---- times ---- */

/* Tells whether a table's text has a row below its comments and the names of its columns. */
static bool has_rows(const char *text)
{
    size_t n = 0;

    for (const char *line = text; n < 2 && *line; line += strcspn(line, "\n"), line += *line == '\n')
        n += *line != '#';
    return n == 2;
}

/* Results from before models.txt said so have timed repetitions in samples.csv. */
int exp_results_check_times(const char *path, const char *untimed, struct exp_why *why)
{
    char *models = exp_text_of(path, MODELS_FILE), *samples = exp_text_of(path, "samples.csv");
    int err = 0;

    if (!models || !samples)
        err = exp_fail(why, -ENOMEM, "out of memory");
    else if (exp_text_after(models, timed_line) || has_rows(samples))
        err = exp_fail(why, -EEXIST,
                       "'%s' holds times, and this run would replace them by none (%s): set another RESULTS, or remove "
                       "the folder",
                       path, untimed);
    free(samples);
    free(models);
    return err;
}
