/*
 * A model: the convolutions of a network in network order, read from an ONNX network (experiments/onnx), from a CSV
 * table (experiments/models/README.md), from a batch file of oneDNN's benchdnn or from a log of ONEDNN_VERBOSE=1
 * (model_formats.h).
 *
 * Every error is one line; for what a file says, "path:line: column, value".
 */
#ifndef EXPERIMENTS_BENCH_MODEL_H
#define EXPERIMENTS_BENCH_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "kernels/shape/problem.h"

struct exp_layer {
    char *name;                  /* printable, not empty; no other layer of the model has it */
    struct conv_problem problem; /* finished: p and q are set */
    unsigned line;               /* of the table; the node's number in a network */
    unsigned index;              /* in the whole model, from 1; kept by exp_model_filter */
};

enum { EXP_SKIPPED_LINES = 8 };

/* Says what was left out of a file, for one reason. */
struct exp_skipped {
    char *path, *reason;
    size_t times;
    unsigned line[EXP_SKIPPED_LINES]; /* of the first; 0: the reason says where */
};

struct exp_model {
    char *name;      /* the file's name without folder and ".csv", ".txt", ".log" or ".onnx" */
    char *path;      /* of the file; of a descriptor: itself */
    size_t n_layers; /* >= 1 */
    struct exp_layer *layer;
    size_t repeats;   /* how often a log has them all; else 0 */
    char *others;     /* which nodes a network has beside its convolutions; NULL */
    char *notes;      /* sentences, each in a line of its own, of how it was read; NULL */
    size_t n_untyped; /* convolutions of a log that names no types; read as fp32 */
    char *types;      /* a sentence: which types a network has that run as another; NULL */
    size_t n_smaller; /* layers that exp_model_limit made smaller */
    double most_macs; /* and what it was asked for */
    size_t n_skipped;
    struct exp_skipped *skipped; /* exp_model_print_notes() prints them */
};

/* Says which part of a model is meant, and what its file leaves open. */
struct exp_model_ask {
    const char *layers; /* as patterns of exp_model_filter; "" or NULL: all */
    unsigned batch;     /* images at once, of every layer; 0: as the file says */
    const char *input;  /* of a network: struct onnx_ask; "" or NULL: as the file says */
    bool links;         /* of a network: struct onnx_ask */
    bool is_of_several; /* patterns that match no layer of this model match some of another one */
};

/* Makes it of options that have such fields. */
#define EXP_MODEL_ASK(o)                                                                                               \
    (&(struct exp_model_ask){ .layers = (o)->layers, .batch = (o)->batch, .input = (o)->input, .links = (o)->links })

/*
 * Reads a file: one that is called .csv is a table, one that is called .onnx a network; of others, what they say tells
 * which they are. Returns 0; -errno of reading it; -EINVAL for what is malformed or impossible; -EOVERFLOW.
 */
int exp_model_read(struct exp_model *m, const char *path, struct exp_why *why);

/*
 * Reads a model by name: "vgg16" is <experiments_dir>/models/vgg16.csv; anything with a '/' or that ends in ".csv",
 * ".txt", ".log" or ".onnx" is a path; what begins as a descriptor does (model_formats.h) is one. Returns as
 * exp_model_read;
 * -ENOENT for an unknown name, with the known ones in why.
 */
int exp_model_find(struct exp_model *m, const char *experiments_dir, const char *which, struct exp_why *why);

/* Does the same as asked. Returns as exp_model_find, and as exp_model_filter. */
int exp_model_find_as(struct exp_model *m, const char *experiments_dir, const char *which,
                      const struct exp_model_ask *ask, struct exp_why *why);

/* Returns the name of the first model of experiments_dir/models that has such a layer, from malloc; NULL: none has. */
char *exp_model_with_layer(const char *experiments_dir, const char *layer);

/*
 * Keeps the layers whose name matches at least one of the comma-separated shell patterns ("conv1_*,conv5_?"; '*' also
 * matches '/', blanks around a pattern are dropped). Returns 0; -ENOENT if a pattern matches no layer, with some names
 * in why; -EINVAL if there is no pattern. On failure the model is unchanged.
 */
int exp_model_filter(struct exp_model *m, const char *patterns, struct exp_why *why);

/*
 * Makes each layer of more multiply-adds than that a smaller one of the same kind: for whoever cannot look at all of
 * it, nor leave it half-way. Images are halved, then rows or filters of a group, whichever are more, while a few of
 * both are left; a layer that has only a few stays larger. All else - widths, channels, windows, padding - is the
 * layer's own. Where a layer became smaller, the model's name says so ("vgg16_to_200M").
 */
void exp_model_limit(struct exp_model *m, double most_macs);

/* Says which of a model's layers were made smaller, in a sentence; "" if none were. */
void exp_model_say_smaller(const struct exp_model *m, char *text, size_t bytes);

/*
 * Prints what a reader should know of how the model was read: what was left out, a line for each reason, with the first
 * few lines of the file; how often a log repeats the model; which layers shared a name, and what they are called now.
 */
void exp_model_print_notes(const struct exp_model *m, FILE *out);

void exp_model_release(struct exp_model *m); /* an empty or half-built model is fine */

/* Prints a shape: the fields that a layer table has, in its order, with a blank behind each. */
void exp_problem_print(const struct conv_problem *p, FILE *out);

/* ---- several models at once, as a command line names them ---- */

enum { EXP_MAX_MODELS = 64 };

struct exp_models {
    struct exp_model model[EXP_MAX_MODELS];
    size_t n;       /* >= 1 once read */
    char *left_out; /* names of models without a layer that was asked for; NULL: none */
};

/*
 * Reads comma-separated models (exp_model_find), without the blanks around their names; "all" or "": the paper's seven.
 * A path may hold commas, if there is such a file. Of each, keeps the layers that match patterns (exp_model_filter), or
 * all if that is ""; each pattern must match a layer of some model, and a model without any is left out. Returns 0, or
 * as those two with one line in why; -EINVAL for too many, or for two of the same name. On failure *m is empty.
 */
int exp_models_read(struct exp_models *m, const char *experiments_dir, const char *list, const char *patterns,
                    struct exp_why *why);

/* Does the same as asked. */
int exp_models_read_as(struct exp_models *m, const char *experiments_dir, const char *list,
                       const struct exp_model_ask *ask, struct exp_why *why);

/* Returns how long the first name or path of a comma-separated list is, blanks around it included. */
size_t exp_models_next(const char *list);

/* Prints which models were left out, in a line; the other one, before it what exp_model_print_notes prints of each. */
void exp_models_print_left_out(const struct exp_models *m, FILE *out);
void exp_models_print_notes(const struct exp_models *m, FILE *out);

void exp_models_release(struct exp_models *m);

/* Counts the layers of all tables in experiments_dir/models that match a pattern; NaN if there is none. */
double exp_models_rows(const char *experiments_dir, const char *pattern);

#endif
