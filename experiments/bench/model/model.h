/*
 * A model: the convolutions of a network in network order, read from an ONNX network (experiments/onnx), from a CSV
 * table (experiments/models/README.md), from a batch file of oneDNN's benchdnn or from a log of ONEDNN_VERBOSE=1
 * (formats.h).
 *
 * Every error is one line; an error in a file has the form "path:line: column, value".
 */
#ifndef EXPERIMENTS_BENCH_MODEL_MODEL_H
#define EXPERIMENTS_BENCH_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "kernels/shape/problem.h"

struct exp_layer {
    char *name;                  /* printable, not empty, unique in the model */
    struct conv_problem problem; /* finished: p and q are set */
    unsigned line;               /* of the table; the node's number in a network */
    unsigned index;              /* in the whole model, from 1; kept by exp_model_filter */
    double given_ns;             /* time of a run, as a log says; of several runs the median; 0: not known */
};

enum { EXP_SKIPPED_LINES = 8 };

/* Entries of a file that were left out, for one reason. */
struct exp_skipped {
    char *path, *reason;
    size_t times;
    unsigned line[EXP_SKIPPED_LINES]; /* of the first entries; 0: the reason says where */
};

struct exp_model {
    char *name;      /* the file's name without folder and ".csv", ".txt", ".log" or ".onnx" */
    char *path;      /* of the file; of a descriptor: the descriptor */
    size_t n_layers; /* >= 1 */
    struct exp_layer *layer;
    size_t repeats;   /* how often a log repeats all layers; else 0 */
    char *others;     /* nodes of a network beside its convolutions; NULL */
    char *notes;      /* sentences on the reading of the file, one per line; NULL: none */
    size_t n_untyped; /* convolutions of a log without types; read as fp32 */
    char *types;      /* a sentence: types of a network that run as another type; NULL: none */
    size_t n_smaller; /* layers that exp_model_limit made smaller */
    double most_macs; /* the limit of exp_model_limit */
    size_t n_skipped;
    struct exp_skipped *skipped; /* exp_model_print_notes() prints them */
};

/* The requested part of a model, and values that the file leaves open. */
struct exp_model_ask {
    const char *layers; /* as patterns of exp_model_filter; "" or NULL: all */
    unsigned batch;     /* images at once, of every layer; 0: as the file says */
    const char *input;  /* of a network: struct onnx_ask; "" or NULL: as the file says */
    bool links;         /* of a network: struct onnx_ask */
    bool is_of_several; /* patterns may match layers of another model only */
};

/* Builds a struct exp_model_ask from a struct with the members layers, batch, input and links. */
#define EXP_MODEL_ASK(o)                                                                                               \
    (&(struct exp_model_ask){ .layers = (o)->layers, .batch = (o)->batch, .input = (o)->input, .links = (o)->links })

/*
 * Reads a file: .csv is a table, .onnx a network; the content decides about any further file. Returns 0; -errno of
 * reading; -EINVAL for a malformed or impossible value; -EOVERFLOW.
 */
int exp_model_read(struct exp_model *m, const char *path, struct exp_why *why);

/*
 * Reads a model by name: "vgg16" is <experiments_dir>/models/vgg16.csv; a name with a '/' or the ending ".csv", ".txt",
 * ".log" or ".onnx" is a path; a name that begins like a descriptor (formats.h) is a descriptor. Returns as
 * exp_model_read; -ENOENT for an unknown name, with known names in why.
 */
int exp_model_find(struct exp_model *m, const char *experiments_dir, const char *which, struct exp_why *why);

/* Reads the requested part of a model. Returns as exp_model_find, and as exp_model_filter. */
int exp_model_find_as(struct exp_model *m, const char *experiments_dir, const char *which,
                      const struct exp_model_ask *ask, struct exp_why *why);

/* Checks a model's name, and reads no file. Returns 0, -EINVAL or -ENOENT with one line in why. */
int exp_model_check(const char *experiments_dir, const char *which, struct exp_why *why);

/* Returns the name of the first model in experiments_dir/models with a layer of this name, from malloc; NULL: none. */
char *exp_model_with_layer(const char *experiments_dir, const char *layer);

/*
 * Keeps the layers whose name matches at least one of the comma-separated shell patterns ("conv1_*,conv5_?"; '*' also
 * matches '/', blanks around a pattern are dropped). Returns 0; -ENOENT if all_must is set and a pattern matches no
 * layer, with some names in why; -EINVAL if there is no pattern. On failure the model is unchanged.
 */
int exp_model_filter(struct exp_model *m, const char *patterns, bool all_must, struct exp_why *why);

/*
 * Makes each layer with more than most_macs multiply-adds smaller, for a program that can neither look at the whole
 * layer nor stop half-way. Images are halved, then the larger of rows and filters of a group, while a few of both are
 * left; a layer with only a few stays larger. Widths, channels, windows and padding do not change. If a layer became
 * smaller, the model's name says so ("vgg16_to_200M").
 */
void exp_model_limit(struct exp_model *m, double most_macs);

/*
 * Gives all layers an element type; except of f32, the model's name says so ("vgg16_bf16"). Returns 0, or -EOVERFLOW with
 * the table's line in why: a layer's sums of bytes may exceed 32 bits.
 */
int exp_model_set_type(struct exp_model *m, enum conv_type type, struct exp_why *why);

/* Says in a sentence which layers were made smaller; "" for none. */
void exp_model_say_smaller(const struct exp_model *m, char *text, size_t bytes);

/*
 * Prints notes on the reading of a model: left-out entries, a line for each reason with the first few line numbers; how
 * often a log repeats the model; layers with equal names and their new names.
 */
void exp_model_print_notes(const struct exp_model *m, FILE *out);

void exp_model_release(struct exp_model *m); /* an empty or half-built model is fine */

/* Prints a shape: the fields of a layer table, in order, with a blank behind each. */
void exp_problem_print(const struct conv_problem *p, FILE *out);

/* ---- several models at once, as a command line names them ---- */

enum { EXP_MAX_MODELS = 64 };

struct exp_models {
    struct exp_model model[EXP_MAX_MODELS];
    size_t n;       /* >= 1 once read */
    char *left_out; /* names of models without a requested layer; NULL: none */
};

/*
 * Reads comma-separated models (exp_model_find), without the blanks around their names; "all" or "": the paper's seven
 * models. The path of an existing file may hold commas. Keeps the layers of each model that match the patterns
 * (exp_model_filter); "": all layers. Each pattern must match a layer of some model; a model without a matching layer
 * is left out. Returns 0, or the error of exp_model_find or exp_model_filter with one line in why; -EINVAL for too many
 * models, or for two of equal name. On failure *m is empty.
 */
int exp_models_read(struct exp_models *m, const char *experiments_dir, const char *list, const char *patterns,
                    struct exp_why *why);

/* Reads the requested parts of several models. Returns as exp_models_read. */
int exp_models_read_as(struct exp_models *m, const char *experiments_dir, const char *list,
                       const struct exp_model_ask *ask, struct exp_why *why);

/* Returns the length of the first name or path in a comma-separated list, with the blanks around the name. */
size_t exp_models_next(const char *list);

/* Print the names of the left-out models in a line; exp_models_print_notes first prints the notes of each model. */
void exp_models_print_left_out(const struct exp_models *m, FILE *out);
void exp_models_print_notes(const struct exp_models *m, FILE *out);

void exp_models_release(struct exp_models *m);

/* Counts the layers of all tables in experiments_dir/models that match a pattern; NaN if there is none. */
double exp_models_rows(const char *experiments_dir, const char *pattern);

#endif
