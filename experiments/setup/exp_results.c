#include "experiments/setup/exp_results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_signal.h"
#include "experiments/setup/exp_host.h"

/* ---- the path ---- */

/* Folders below <RESULTS>/<machine>. */
static const struct layout {
    const char *folder; /* "": the models' own folders; NULL: a program without results of its own */
    bool has_sums;      /* results may be of more than one model: they are not in a model's folder */
    const char *marker; /* a file that these results always have */
} layouts[EXP_N_PROGRAMS] = {
    [EXP_EXPERIMENT] = { "", false, "layers.csv" },
    [EXP_JUDGE] = { "/judgement", true, "layers.csv" },
    [EXP_PEERS] = { "/peers", true, "layers.csv" },
    [EXP_CALIBRATE] = { "/calibration", false, EXP_MACHINE_FILE },
    [EXP_VALIDATE] = { "/validation", true, "simulated_vs_measured.csv" },
    [EXP_PAPER] = { "/paper", true, "numbers.csv" },
    [EXP_STUDY] = { "/study", true, "choices.csv" },
    [EXP_COMPARE] = { "/compare", false, "compare.csv" },
    [EXP_SWEEP] = { "/sweep", true, "sweep.csv" },
    [EXP_GEN] = { "/emit", false, "code.csv" },
    [EXP_STREAMS] = { "/streams", false, "streams.csv" },
    [EXP_POLYDL] = { "/polydl", true, "variants.csv" },
};

static const char all_models[] = "all", some_models[] = "some", parts[] = "parts"; /* parts: of paper */

/* Tells whether a program's results lie in a folder of that name. */
static bool is_taken(enum exp_program program, const char *name)
{
    const struct layout *own = &layouts[program];

    for (unsigned p = 0; p < EXP_N_PROGRAMS && !*own->folder; p++) {
        if (layouts[p].folder && *layouts[p].folder && !strcmp(layouts[p].folder + 1, name))
            return true;
    }
    return own->has_sums && (!strcmp(all_models, name) || !strcmp(some_models, name) || !strcmp(parts, name));
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

    if (!n)
        *path = exp_format("%s/%s%s", o->results, machine, layout->folder);
    else
        *path = err ? NULL : exp_format("%s/%s%s/%s", o->results, machine, layout->folder, name);
    return err || *path ? err : exp_fail(why, why_bytes, -ENOMEM, "out of memory");
}

/* ---- the results of a run ---- */

int exp_results_find(struct exp_results *r, enum exp_program program, const struct exp_options *o,
                     const struct sim_machine *m, const struct exp_model *model, size_t n, char *why, size_t why_bytes)
{
    int err = exp_results_path(&r->path, program, o, m ? m->name : "host", model, n, why, why_bytes);

    r->marker = layouts[program].marker;
    r->model = model;
    r->n_models = n;
    if (!err && n == 1)
        err = exp_results_check_model(r->path, model, why, why_bytes);
    return err || !m ? err : exp_results_check_machine(r->path, m, o->machine, why, why_bytes);
}

int exp_results_open(struct exp_results *r, char *why, size_t why_bytes)
{
    int err = exp_outdir_open(&r->dir, r->path, r->marker, why, why_bytes);

    r->is_open = !err;
    return err || !r->n_models ? err : exp_results_write_models(&r->dir, r->model, r->n_models, why, why_bytes);
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
