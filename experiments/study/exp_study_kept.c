#include "experiments/study/exp_study_kept.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "counters/ctr_hostinfo.h"
#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_table.h"
#include "experiments/base/exp_text.h"
#include "experiments/setup/exp_part.h"
#include "experiments/setup/exp_plan_text.h"
#include "kernels/ukr/dispatch.h"

static const struct exp_csv_column columns[] = {
    { "run", "", "of the layer, from 0, in the order of tilings.csv", "" },
    { "time_ns", "ns", "fastest round, caches cold", "clock" },
    { "median_ns", "ns", "median round", "clock" },
};

static const struct exp_csv_file file = EXP_CSV_FILE("times.csv", columns);

void exp_study_kept_document(FILE *out)
{
    exp_csv_document(&file, out);
}

/* ---- names ---- */

static int print_run(const struct exp_study_run *run, FILE *out)
{
    char text[EXP_PLAN_TEXT_BYTES];
    struct conv_plan plan;
    int err = conv_plan_sconv(&plan, &run->layer->problem, run->ukr, &run->tiling, false);

    if (err)
        return err;
    exp_plan_text(&plan, text);
    fprintf(out, "%s\n", text);
    return 0;
}

static int print_key(const struct exp_study_keeping *keeping, const struct exp_study_runs *r, size_t layer, FILE *out)
{
    const struct exp_study_runs_layer *l = &r->layer[layer];
    const struct exp_rounds *rounds = &keeping->rounds;
    char cpu[256];
    int err;

    ctr_hostinfo_cpu(cpu, sizeof cpu);
    fprintf(out, "commit: %s\ncpu: %s\nrounds: %zu to %zu, %.3f s\nlayer:", keeping->commit, cpu, rounds->least,
            rounds->most, (double)rounds->limit_ns * 1e-9);
    for (size_t f = 0; f < CONV_N_FIELDS; f++)
        fprintf(out, " %zu", conv_field(&l->layer->problem, f));
    fprintf(out, "\n");
    err = sim_machine_print(keeping->machine, out);
    for (size_t i = l->first; i < l->first + l->n && !err; i++)
        err = print_run(&r->run[i], out);
    return err;
}

int exp_study_kept_name(struct exp_study_kept *k, const struct exp_study_keeping *keeping,
                        const struct exp_study_runs *r, size_t layer, struct exp_why *why)
{
    const struct exp_study_runs_layer *l = &r->layer[layer];
    size_t bytes = 0;
    FILE *out;
    int err;

    *k = (struct exp_study_kept){ .commit = keeping->commit };
    out = exp_memory_open(&k->key, &bytes);
    err = out ? print_key(keeping, r, layer, out) : -ENOMEM;
    if (out && fclose(out))
        err = -ENOMEM;
    k->folder = exp_format("%s/host/study/parts/%s-%u", keeping->results, l->model->name, l->layer->index);
    return err || !k->folder
               ? exp_fail(why, err ? err : -ENOMEM, "layer '%s': out of memory for its key", l->layer->name)
               : 0;
}

void exp_study_kept_release(struct exp_study_kept *k)
{
    free(k->folder);
    free(k->key);
}

/* ---- reading and writing ---- */

static int read_rows(const struct exp_table *t, struct exp_study_run *run, size_t n, struct exp_why *why)
{
    size_t column[3];
    int err = 0;

    for (size_t i = 0; i < 3 && !err; i++)
        err = exp_table_column(t, columns[i].name, &column[i], why);
    for (size_t row = 0; row < t->n_rows && !err; row++) {
        double value[3] = { 0 };

        for (size_t i = 0; i < 3 && !err; i++)
            err = exp_table_double(t, row, column[i], &value[i], why);
        if (!err && !(value[0] >= 0 && value[0] < (double)n))
            err = -EINVAL;
        if (!err) {
            run[(size_t)value[0]].ns = value[1];
            run[(size_t)value[0]].other_ns = value[2];
        }
    }
    return err;
}

bool exp_study_kept_read(const struct exp_study_kept *k, struct exp_study_runs *r, size_t layer)
{
    const struct exp_study_runs_layer *l = &r->layer[layer];
    char *path = exp_format("%s/%s", k->folder, file.name);
    struct exp_why ignored;
    struct exp_table table = { 0 };
    bool is_there = path && exp_part_is_kept(k->folder, k->commit, k->key) && !exp_table_read(&table, path, &ignored);

    if (is_there)
        is_there = !read_rows(&table, &r->run[l->first], l->n, &ignored);
    exp_table_release(&table);
    free(path);
    return is_there;
}

struct times {
    const struct exp_study_run *run;
    size_t n;
};

static int write_times(const void *ctx, const struct exp_outdir *dir, struct exp_why *why)
{
    const struct times *times = ctx;
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &file, "times of a layer's runs", why);

    for (size_t i = 0; i < times->n && !err; i++) {
        if (isnan(times->run[i].ns)) /* this computer cannot run it */
            continue;
        exp_csv_u64(csv, "run", i);
        exp_csv_double(csv, "time_ns", times->run[i].ns);
        exp_csv_double(csv, "median_ns", times->run[i].other_ns);
        exp_csv_end_row(csv);
    }
    return err ? err : exp_csv_close(csv, why);
}

int exp_study_kept_write(const struct exp_study_kept *k, const struct exp_study_runs *r, size_t layer,
                         struct exp_why *why)
{
    const struct times times = { &r->run[r->layer[layer].first], r->layer[layer].n };

    return exp_part_write(k->folder, file.name, k->key, write_times, &times, why);
}
