/*
 * A model: the convolutions of a network in network order, read from a CSV table (experiments/models/README.md).
 *
 * Required columns: name, and the fields of kernels/problem_fields.def that have no fallback. Other columns are
 * ignored. Every error is one line; for what a table says, "path:line: column, value".
 */
#ifndef EXPERIMENTS_EXP_MODEL_H
#define EXPERIMENTS_EXP_MODEL_H

#include <stddef.h>

#include "kernels/problem.h"

struct exp_layer {
    char *name;                  /* printable, not empty; two layers may share one */
    struct conv_problem problem; /* finished: p and q are set */
    unsigned line;               /* of the table */
    unsigned index;              /* in the whole model, from 1; kept by exp_model_filter */
};

struct exp_model {
    char *name;      /* the table's file name without folder and ".csv" */
    char *path;      /* of the table */
    size_t n_layers; /* >= 1 */
    struct exp_layer *layer;
};

/* Reads a table. Returns 0; -errno of reading it; -EINVAL for what is malformed or impossible; -EOVERFLOW; -ENOMEM. */
int exp_model_read(struct exp_model *m, const char *path, char *why, size_t why_bytes);

/*
 * Reads a model by name: "vgg16" is <experiments_dir>/models/vgg16.csv; anything with a '/' or that ends in ".csv" is
 * the path of a table. Returns as exp_model_read; -ENOENT for an unknown name, with the known ones in why.
 */
int exp_model_find(struct exp_model *m, const char *experiments_dir, const char *which, char *why, size_t why_bytes);

/*
 * Keeps the layers whose name matches at least one of the comma-separated shell patterns ("conv1_*,conv5_?"; '*' also
 * matches '/', blanks around a pattern are dropped). Returns 0; -ENOENT if a pattern matches no layer, with some names
 * in why; -EINVAL if there is no pattern; -ENOMEM. On failure the model is unchanged.
 */
int exp_model_filter(struct exp_model *m, const char *patterns, char *why, size_t why_bytes);

void exp_model_release(struct exp_model *m); /* an empty or half-built model is fine */

#endif
