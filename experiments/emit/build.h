/* The code of plans in each form: as text, compiled by this computer's compilers, and loaded. */
#ifndef EXPERIMENTS_EMIT_BUILD_H
#define EXPERIMENTS_EMIT_BUILD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/workdir.h"
#include "experiments/bench/case/algo.h"
#include "kernels/emit/c_source.h"
#include "kernels/emit/layer_plans.h"

/* Lists the forms of generated code, in the order of EXP_EMIT_NAMES. */
enum exp_emit_what {
    EXP_EMIT_C,
    EXP_EMIT_MLIR_LINALG, /* linalg, and a script for tiling the convolution */
    EXP_EMIT_SCONV_OPT,   /* linalg, sliced by sconv-opt after a plan of sconv-opt; with constant filters */
    EXP_EMIT_N_FORMS,
    EXP_EMIT_MLIR = EXP_EMIT_N_FORMS, /* another word for EXP_EMIT_MLIR_LINALG, and no form */
};

/* Returns the form of a word of EMIT. */
enum exp_emit_what exp_emit_form(unsigned word);

const char *exp_emit_name(enum exp_emit_what what); /* a word of EMIT */
/* Says how much memory code needs for packed filters and for packed, or padded, inputs. */
struct exp_emit_bytes {
    size_t filters, inputs;
};
struct exp_emit_bytes exp_emit_bytes(enum exp_emit_what what, const struct conv_plan *plan);

/*
 * Prints the code of plans of one instruction set; conv_c_name makes the name of function number i of its layer and i.
 * options are C's; `packed` there are the only plan's filters, packed for C, and unpacked for MLIR. Returns 0; -EINVAL
 * for a plan or options that cannot be written, or -ENOMEM, with one line in why.
 */
int exp_emit_print(enum exp_emit_what what, const struct conv_layer_plan *plan, size_t n,
                   const struct conv_c_options *options, FILE *out, struct exp_why *why);

/* Environment variables for the compilers; default: cc, and Debian's names of LLVM 19's. */
#define EXP_EMIT_CC_VARIABLE "SCONV_CC"
#define EXP_EMIT_MLIR_OPT_VARIABLE "SCONV_MLIR_OPT"
#define EXP_EMIT_MLIR_TRANSLATE_VARIABLE "SCONV_MLIR_TRANSLATE"
#define EXP_EMIT_CLANG_VARIABLE "SCONV_CLANG"
#define EXP_EMIT_SCONV_OPT_VARIABLE "SCONV_OPT" /* default: the sconv-opt beside this program */

/* Says why there is no compiler of the form here, or returns NULL. */
const char *exp_emit_why_no_compiler(enum exp_emit_what what);

/*
 * Prints and compiles, with fused work behind the convolutions (C only; NULL: nothing), into an open folder, where the
 * shared object is then called EXP_EMIT_OBJECT. If it records (C only), every access to a tensor calls the function
 * that the object's variable sconv_access points to. Returns 0, or as exp_emit_print; -ENOENT without a compiler; -EIO
 * if the compiler fails, with its last line in why; -EINTR; -errno of writing.
 */
int exp_emit_compile(const struct exp_workdir *folder, enum exp_emit_what what, const struct conv_layer_plan *plan,
                     size_t n, const struct conv_fusion *after, bool records, struct exp_why *why);

#define EXP_EMIT_OBJECT "code.so"

typedef void (*exp_emit_pack_fn)(const float *filter, float *packed_filter);
typedef void (*exp_fused_fn)(const float *input, const float *filter, float *packed_filter, float *packed_input,
                             float *output, const float *bias);

struct exp_emit_code {
    void *library; /* NULL: none */
};

/* Prints and compiles in a temporary folder, and loads the object. On failure *code is empty. */
int exp_emit_build(struct exp_emit_code *code, enum exp_emit_what what, const struct conv_layer_plan *plan, size_t n,
                   const struct conv_fusion *after, bool records, struct exp_why *why);
void exp_emit_code_release(struct exp_emit_code *code);

/* Return the function of plan number i and of its layer's name, and the function that packs its filters; NULL: none. */
exp_code_fn exp_emit_code_function(const struct exp_emit_code *code, const char *layer, size_t i);
exp_fused_fn exp_emit_code_fused(const struct exp_emit_code *code, const char *layer, size_t i); /* with a bias */
exp_emit_pack_fn exp_emit_code_packer(const struct exp_emit_code *code, const char *layer, size_t i);

/* ---- plans compiled on demand, each once ---- */

struct exp_emit_coder {
    struct exp_coder base;
    pthread_mutex_t lock;
    struct exp_emit_coded *first; /* compiled so far */
};

/* The coder's code lives as long as the coder. */
struct exp_emit_coder *exp_emit_coder_new(void);
void exp_emit_coder_free(struct exp_emit_coder *coder); /* NULL is fine */

#endif
