#include "experiments/setup/exp_results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_signal.h"
#include "experiments/setup/exp_machine.h"

#define MACHINE_FILE "machine.cfg"

/* ---- the path ---- */

/* Folders below <RESULTS>/<machine>. */
static const struct layout {
    const char *folder; /* "": the models' own folders */
    bool has_sums;      /* results may be of more than one model: they are not in a model's folder */
    const char *marker; /* a file that these results always have */
} layouts[EXP_N_PROGRAMS] = {
    [EXP_EXPERIMENT] = { "", false, "layers.csv" },
    [EXP_JUDGE] = { "/judgement", true, "layers.csv" },
    [EXP_PEERS] = { "/peers", true, "layers.csv" },
    [EXP_VALIDATE] = { "/validation", true, "simulated_vs_measured.csv" },
};

static const char all_models[] = "all", some_models[] = "some";

/* Whether a program's results lie in a folder of that name. */
static bool is_taken(enum exp_program program, const char *name)
{
    const struct layout *own = &layouts[program];

    for (unsigned p = 0; p < EXP_N_PROGRAMS && !*own->folder; p++) {
        if (*layouts[p].folder && !strcmp(layouts[p].folder + 1, name))
            return true;
    }
    return own->has_sums && (!strcmp(all_models, name) || !strcmp(some_models, name));
}

static int check_name(enum exp_program program, const struct exp_model *model, char *why, size_t why_bytes)
{
    if (*model->name == '.')
        return exp_fail(why, why_bytes, -EINVAL,
                        "%s: results in '%s' would be hidden: the table's name must not begin with a dot", model->path,
                        model->name);
    if (is_taken(program, model->name))
        return exp_fail(why, why_bytes, -EINVAL,
                        "%s: the folder '%s' is for other results than one model's: the table needs another name",
                        model->path, model->name);
    return 0;
}

int exp_results_path(char **path, enum exp_program program, const struct exp_options *o, const char *machine,
                     const struct exp_model *model, size_t n, char *why, size_t why_bytes)
{
    const struct layout *layout = &layouts[program];
    const char *name = n == 1 ? model->name : strcmp(o->model, "all") ? some_models : all_models;
    int err = n == 1 ? check_name(program, model, why, why_bytes) : 0;

    *path = err ? NULL : exp_format("%s/%s%s/%s", o->results, machine, layout->folder, name);
    return err || *path ? err : exp_fail(why, why_bytes, -ENOMEM, "out of memory");
}

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

int exp_results_write_machine(const struct exp_outdir *dir, const struct sim_machine *m, const char *which, char *why,
                              size_t why_bytes)
{
    char *origin = exp_machine_origin(which);
    int err = origin
                  ? exp_outdir_write(dir, MACHINE_FILE, print_machine, &(struct machine){ m, origin }, why, why_bytes)
                  : exp_fail(why, why_bytes, -ENOMEM, "out of memory");

    free(origin);
    return err;
}

/* Where the machine of a folder is from; "" if its file does not say so. From malloc. */
static char *read_origin(const char *cfg)
{
    FILE *in = fopen(cfg, "r");
    char *line = NULL, *origin;
    size_t bytes = 0;
    bool is_said = in && getline(&line, &bytes, in) > 0 && !strncmp(line, origin_key, strlen(origin_key));

    origin = is_said ? exp_format("%.*s", (int)strcspn(line, "\n") - (int)strlen(origin_key), line + strlen(origin_key))
                     : strdup("");
    free(line);
    if (in)
        fclose(in);
    return origin;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat s, t;

    return !strcmp(a, b) || (!stat(a, &s) && !stat(b, &t) && s.st_dev == t.st_dev && s.st_ino == t.st_ino);
}

/* A machine as text; NULL if it cannot be had. From malloc. */
static char *machine_text(const struct sim_machine *m)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
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

int exp_results_check_machine(const char *path, const struct sim_machine *m, const char *which, char *why,
                              size_t why_bytes)
{
    char *cfg = exp_format("%s/" MACHINE_FILE, path), *origin = exp_machine_origin(which);
    char *there = cfg ? read_origin(cfg) : NULL;
    int err = 0;

    if (!origin || !there)
        err = exp_fail(why, why_bytes, -ENOMEM, "out of memory");
    else if (!access(cfg, F_OK) && !is_same_file(there, origin) && !is_equal(cfg, m))
        err = exp_fail(why, why_bytes, -EEXIST,
                       "'%s' holds results of another machine called '%s'%s%s: give one of the two another 'name =', "
                       "set another RESULTS, or remove the folder",
                       path, m->name, *there ? ", of " : "", there);
    free(there);
    free(origin);
    free(cfg);
    return err;
}

/* ---- the results of a run ---- */

int exp_results_find(struct exp_results *r, enum exp_program program, const struct exp_options *o,
                     const struct sim_machine *m, const struct exp_model *model, size_t n, char *why, size_t why_bytes)
{
    int err = exp_results_path(&r->path, program, o, m ? m->name : "host", model, n, why, why_bytes);

    r->marker = layouts[program].marker;
    return err || !m ? err : exp_results_check_machine(r->path, m, o->machine, why, why_bytes);
}

int exp_results_open(struct exp_results *r, char *why, size_t why_bytes)
{
    int err = exp_outdir_open(&r->dir, r->path, r->marker, why, why_bytes);

    r->is_open = !err;
    return err;
}

int exp_results_commit(struct exp_results *r, char *why, size_t why_bytes)
{
    int err = exp_interrupted() ? exp_fail(why, why_bytes, -EINTR, "interrupted while drawing")
                                : exp_outdir_commit(&r->dir, why, why_bytes);

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
