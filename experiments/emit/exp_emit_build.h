/* Generated code, compiled by this computer's compilers and loaded. */
#ifndef EXPERIMENTS_EXP_EMIT_BUILD_H
#define EXPERIMENTS_EXP_EMIT_BUILD_H

#include "experiments/base/exp_error.h"
#include "experiments/emit/exp_emit_text.h"
#include "experiments/setup/exp_algo.h"

/*
 * These variables of the environment name the compilers; else they are cc, and those of LLVM 19 as Debian calls them.
 */
#define EXP_EMIT_CC_VARIABLE "SCONV_CC"
#define EXP_EMIT_MLIR_OPT_VARIABLE "SCONV_MLIR_OPT"
#define EXP_EMIT_MLIR_TRANSLATE_VARIABLE "SCONV_MLIR_TRANSLATE"
#define EXP_EMIT_CLANG_VARIABLE "SCONV_CLANG"

typedef void (*exp_emit_pack_fn)(const float *filter, float *packed_filter);
typedef void (*exp_fused_fn)(const float *input, const float *filter, float *packed_filter, float *packed_input,
                             float *output, const float *bias);

struct exp_emit_code {
    void *library; /* NULL: none */
};

/*
 * Prints, compiles and loads. If it records (C only), every access to a tensor calls what its
 * variable sconv_access points to.
 * Returns 0, or as exp_emit_print; -ENOENT without a compiler; -EIO if that fails, with its last line in why; -EINTR;
 * -errno of writing. On failure *code is empty.
 */
int exp_emit_build(struct exp_emit_code *code, enum exp_emit_what what, const struct conv_noted_plan *plan, size_t n,
                   bool records, struct exp_why *why);
/* Does something with a shared object, which stays as long as that. Returns 0, or -errno with one line in why. */
typedef int (*exp_emit_use_fn)(void *ctx, const char *path, struct exp_why *why);

/* Prints and compiles, and hands the shared object on. Returns as exp_emit_build, or what `use` returns. */
int exp_emit_compile(enum exp_emit_what what, const struct conv_noted_plan *plan, size_t n,
                     const struct conv_fusion *after, bool records, exp_emit_use_fn use, void *ctx,
                     struct exp_why *why);

/* Does as exp_emit_build, with what follows the convolutions (C only). */
int exp_emit_build_fused(struct exp_emit_code *code, enum exp_emit_what what, const struct conv_noted_plan *plan,
                         size_t n, const struct conv_fusion *after, bool records, struct exp_why *why);
void exp_emit_code_release(struct exp_emit_code *code);

/*
 * Return the function of plan number i, whose layer is called so, and the one that packs its filters; NULL: none does.
 */
exp_code_fn exp_emit_code_function(const struct exp_emit_code *code, const char *layer, size_t i);
exp_fused_fn exp_emit_code_fused(const struct exp_emit_code *code, const char *layer, size_t i); /* with a bias */
exp_emit_pack_fn exp_emit_code_packer(const struct exp_emit_code *code, const char *layer, size_t i);

/* Says why there is no compiler for it here, or returns NULL. */
const char *exp_emit_why_no_compiler(enum exp_emit_what what);

/* ---- plans compiled for those who run them: each once, when it is asked for first ---- */

struct exp_emit_coder {
    struct exp_coder base;
    struct exp_emit_coder_part *part;
};

/* Returns 0 or -ENOMEM. Its code lives as long as it does. */
int exp_emit_coder_new(struct exp_emit_coder **coder);
void exp_emit_coder_free(struct exp_emit_coder *coder); /* NULL is fine */

#endif
