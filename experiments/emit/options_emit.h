/* Shared by the questions plan, gen and streams: groups of options, which the questions' tables name, and plans. */
#ifndef EXPERIMENTS_EMIT_OPTIONS_EMIT_H
#define EXPERIMENTS_EMIT_OPTIONS_EMIT_H

#include <stdbool.h>

#include "experiments/bench/case/algo.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/course/question.h"
#include "kernels/emit/layer_plans.h"

#define EXP_EMIT_LAYER_OPTION                                                                                          \
    EXP_NAMES("LAYER",                                                                                                 \
              "one convolution: a descriptor such as mb1ic64ih56oc64kh3ph1, or MODEL:NAME such as vgg16:conv3_1",      \
              layer, "")

#define EXP_EMIT_PLAN_OPTION EXP_PATH("PLAN", "in place of LAYER and MODEL: a file of plans as JSON", plan, "")

#define EXP_EMIT_MODELS_OPTIONS                                                                                        \
    EXP_EMIT_LAYER_OPTION,                                                                                             \
        EXP_NAMES("MODEL",                                                                                             \
                  "in place of LAYER: names, layer tables, or what else experiment takes "                             \
                  "(experiments/models/README.md), comma-separated; all: the paper's seven",                           \
                  model, "none"),                                                                                      \
        EXP_ASK_OPTIONS

#define EXP_EMIT_ALGO_OPTION EXP_TEXT("ALGO", "one SConv of @algos@ (default sconv)", algos, "")

#define EXP_EMIT_RESULTS_OPTION                                                                                        \
    EXP_FOLDER("RESULTS",                                                                                              \
               "folder of results (default results), where make calibrate left what it measured of this computer",     \
               results, "results")

#define EXP_EMIT_OUT_OPTIONS                                                                                           \
    EXP_TEXT("SET",                                                                                                    \
             "decisions of your own in place of CSA's, the rest derived from them: SET=n_c=32,k2=5; also k3, "         \
             "schedule (is, ws) and the options of --schema",                                                          \
             set, ""),                                                                                                 \
        EXP_PATH("OUT", "file that is written (default: standard output)", out, "")

/* The words of EMIT, in the order of enum exp_emit_what (build.h). */
#define EXP_EMIT_NAMES "c", "mlir_linalg", "sconv_opt", "mlir"

/* The user's options. Options that a program lacks are NULL, or 0. */
struct exp_emit_options {
    const char *layer; /* one layer, by a descriptor or as model:layer; "": the layers of model and layers */
    const char *model, *layers, *input;
    const char *plan; /* file of plans */
    const char *set;  /* decisions in place of CSA's; "": none */
    const char *machine, *algos, *ukr, *core, *results;
    const char *out;     /* file of the output; "": standard output */
    const char *weights; /* file of a layer's filters; "": none */
    const char *observer, *guest;
    unsigned packs_filters, batch, links;
    unsigned emit;   /* a word of EMIT: exp_emit_form */
    unsigned fuse;   /* activation, and 3 more with a bias: enum conv_activation */
    unsigned check;  /* 0 or 1: generated code is compiled and run */
    unsigned time;   /* rounds; 0: none */
    unsigned format; /* of plans; 0: text, 1: JSON */
    bool is_json;    /* format 1 */
    bool describes;  /* print the schema and stop */
};

/* The plans of a program of this room: of the layers that LAYER or MODEL name, or of PLAN's file. */
struct exp_emit_plans {
    struct exp_setup setup;
    struct conv_layer_plans list;
};

/*
 * Plans, or reads, as the options ask. Returns 0, or -errno with one line in why. Empty plans, filled with zeros, may
 * be released; the setup must not move.
 */
int exp_emit_plans_make(struct exp_emit_plans *p, const struct exp_emit_options *o, struct exp_why *why);
void exp_emit_plans_release(struct exp_emit_plans *p);

/* Tells whether an earlier plan has an equal shape: layers of equal shapes have equal code. */
bool exp_emit_is_repeated(const struct exp_emit_plans *p, size_t i);

/* Prints the folder name of results, from LAYER, PLAN or MODEL: exp_results_layout. */
void exp_emit_print_code(const void *options, FILE *out);

#endif
