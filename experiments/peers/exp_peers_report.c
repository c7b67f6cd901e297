#include "experiments/peers/exp_peers_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/peers/exp_peers_targets.h"

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

int exp_peers_report_open(struct exp_peers_report *r, const struct exp_outdir *dir, const char *what,
                          struct exp_why *why)
{
    int err;

    *r = (struct exp_peers_report){ .dir = dir };
    err = exp_csv_create(&r->layers, dir, &exp_peers_layers_table.file, what, why);
    if (!err)
        err = exp_csv_create(&r->samples, dir, &exp_peers_samples_table.file, what, why);
    return err;
}

/* ---- one model ---- */

struct exp_peers_row exp_peers_make_row(const struct exp_peers_layer *l, size_t model, const struct exp_peers_model *of)
{
    const struct conv_problem *p = &l->base->layer->problem;
    const size_t *bytes = l->sconv[0].c->plan.layout.bytes;
    struct exp_peers_row row = { .model = model, .is_pointwise = conv_is_pointwise(p), .flop = 2 * conv_macs(p) };

    row.intensity = row.flop / (double)(bytes[CONV_INPUT] + bytes[CONV_FILTER] + bytes[CONV_OUTPUT]);
    for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
        for (int m = 0; m < EXP_N_PEERS; m++)
            row.times[c][m] = *of->why_disturbed[c] ? exp_times_of(NULL, 0)
                                                    : exp_peers_times(l, (enum exp_peers_cache)c, (enum exp_peer)m);
    }
    return row;
}

static int grow(struct exp_peers_report *r, size_t n)
{
    struct exp_peers_row *row = realloc(r->row, (r->n_rows + n) * sizeof *row);
    struct exp_peers_model *model;

    if (!row)
        return -ENOMEM;
    r->row = row;
    model = realloc(r->model, (r->n_models + 1) * sizeof *model);
    if (!model)
        return -ENOMEM;
    r->model = model;
    return 0;
}

static void add_layer(struct exp_peers_report *r, const struct exp_peers *p, const struct exp_peers_layer *l,
                      struct exp_peers_model *model)
{
    struct exp_peers_row *row = &r->row[r->n_rows++];

    *row = exp_peers_make_row(l, r->n_models, model);
    for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
        for (int m = 0; m < EXP_N_PEERS; m++) {
            exp_peers_put_layer(r, p, l, row, (enum exp_peers_cache)c, (enum exp_peer)m);
            exp_peers_put_samples(r, p, l, (enum exp_peers_cache)c, (enum exp_peer)m);
        }
    }
    for (int m = 0; m < EXP_N_PEERS; m++) {
        if (!*model->why_not[m])
            memcpy(model->why_not[m], l->why_not[m], sizeof model->why_not[m]);
    }
    for (int m = 0; m < EXP_N_PEERS_SCONVS; m++)
        exp_phases_add(&model->sconv[m], &l->sconv[m].phases);
    exp_phases_add(&model->base, &l->base_phases);
}

void exp_peers_model_judge(struct exp_peers_model *model, const struct exp_peers *p)
{
    char said[128];

    for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
        model->ruled[c] = p->ruled[c];
        exp_ruler_say(&p->ruled[c], said, sizeof said);
        if (!exp_ruler_is_measured(&p->ruled[c]))
            exp_say(model->why_disturbed[c], sizeof model->why_disturbed[c], "not measured: disturbed: %s", said);
    }
}

static void add_certainty(const struct exp_peers *p, struct exp_peers_model *model)
{
    model->end = p->sweeps.end;
    model->disturbance = p->disturbance;
    exp_peers_model_judge(model, p);
    for (int c = 0; c < EXP_N_PEERS_CACHES; c++) {
        model->n_rounds[c] = p->layer[0].times[c][EXP_PEER_BASE].n;
        for (int m = 0; m < EXP_N_PEERS; m++)
            model->speedup[c][m] = *model->why_disturbed[c]
                                       ? exp_ratio_none()
                                       : exp_peers_speedup(p, (enum exp_peers_cache)c, (enum exp_peer)m);
    }
}

int exp_peers_report_add(struct exp_peers_report *r, const struct exp_peers *p, struct exp_why *why)
{
    struct exp_peers_model *model;
    int err = grow(r, p->n_layers);

    if (err)
        return exp_fail(why, err, "out of memory");
    model = &r->model[r->n_models];
    *model = (struct exp_peers_model){ .peak_gflops = p->peak_gflops, .read_gbytes = p->read_gbytes };
    exp_say(model->name, sizeof model->name, "%s", p->experiment.model->name);
    memcpy(model->why_no_base_phases, p->why_no_parts, sizeof model->why_no_base_phases);
    add_certainty(p, model);
    for (size_t i = 0; i < p->n_layers; i++)
        add_layer(r, p, &p->layer[i], model);
    r->n_models++;
    err = exp_csv_error(r->layers) ? exp_csv_error(r->layers) : exp_csv_error(r->samples);
    return err ? exp_fail(why, err, "cannot write to '%s': %s", r->dir->path, strerror(-err)) : 0;
}

/* ---- all models ---- */

int exp_peers_report_finish(struct exp_peers_report *r, const char *what, struct exp_why *why)
{
    int err = exp_csv_close(r->layers, why), closed;

    r->layers = NULL;
    closed = exp_csv_close(r->samples, err ? NULL : why);
    r->samples = NULL;
    err = err ? err : closed;
    if (!err)
        err = exp_peers_write_totals(r, what, why);
    if (!err)
        err = exp_peers_write_phases(r, what, why);
    if (!err)
        err = exp_peers_write_curves(r, false, what, why);
    if (!err)
        err = exp_peers_write_curves(r, true, what, why);
    return err;
}

void exp_peers_report_release(struct exp_peers_report *r)
{
    exp_csv_close(r->layers, NULL);
    exp_csv_close(r->samples, NULL);
    free(r->row);
    free(r->model);
    *r = (struct exp_peers_report){ 0 };
}

void exp_peers_report_document(FILE *out)
{
    static const struct rec_table *const tables[] = { &exp_peers_layers_table,   &exp_peers_samples_table,
                                                      &exp_peers_model_table,    &exp_peers_phases_table,
                                                      &exp_peers_speedups_table, &exp_peers_pointwise_table,
                                                      &exp_peers_targets_table };

    for (size_t i = 0; i < N_OF(tables); i++)
        exp_csv_document(&tables[i]->file, out);
}
