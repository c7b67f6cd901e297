#include "experiments/emit/build.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/case/case.h"
#include "experiments/emit/options_emit.h"
#include "kernels/emit/linalg_source.h"

enum { LIMIT_S = 600 };

/* ---- the forms ---- */

static int print_linalg(const struct conv_plan *plan, const char *name, const struct conv_c_options *options, FILE *out)
{
    conv_linalg_print(plan, name, options->packed, out);
    return 0;
}

static int print_plain(const struct conv_plan *plan, const char *name, const struct conv_c_options *options, FILE *out)
{
    conv_linalg_print_plain(plan, name, options->packed, out);
    return 0;
}

static void print_plain_tail(const struct conv_layer_plan *plan, size_t n, FILE *out)
{
    (void)plan;
    (void)n;
    fprintf(out, "}\n");
}

static const struct {
    const char *(*why_not)(const struct conv_plan *plan); /* beside conv_program_why_not; NULL: nothing */
    void (*print_head)(const struct conv_plan *plan, FILE *out);
    int (*print)(const struct conv_plan *plan, const char *name, const struct conv_c_options *options, FILE *out);
    void (*print_tail)(const struct conv_layer_plan *plan, size_t n, FILE *out); /* NULL: nothing */
    const char *const *passes;
    bool is_sliced; /* by sconv-opt */
} forms[EXP_EMIT_N_FORMS] = {
    [EXP_EMIT_C] = { NULL, conv_c_print_head, conv_c_print },
    [EXP_EMIT_MLIR_LINALG] = { conv_linalg_why_not, conv_linalg_print_head, print_linalg, conv_linalg_print_tail,
                               .passes = conv_linalg_passes },
    [EXP_EMIT_SCONV_OPT] = { conv_linalg_why_not, conv_linalg_print_plain_head, print_plain, print_plain_tail,
                             .passes = conv_linalg_sliced_passes, .is_sliced = true },
};

const char *exp_emit_name(enum exp_emit_what what)
{
    static const char *const names[] = { EXP_EMIT_NAMES };

    assert(what < EXP_EMIT_N_FORMS);
    return names[what];
}

enum exp_emit_what exp_emit_form(unsigned word)
{
    assert(word <= EXP_EMIT_MLIR);
    return word == EXP_EMIT_MLIR ? EXP_EMIT_MLIR_LINALG : (enum exp_emit_what)word;
}

struct exp_emit_bytes exp_emit_bytes(enum exp_emit_what what, const struct conv_plan *plan)
{
    const struct conv_linalg_packed rows = conv_linalg_packed(plan, CONV_LINALG_NCHW);
    const size_t *bytes = plan->layout.bytes;

    assert(what < EXP_EMIT_N_FORMS);
    if (forms[what].why_not != conv_linalg_why_not)
        return (struct exp_emit_bytes){ bytes[CONV_PACKED_FILTER], bytes[CONV_PACKED_INPUT] };
    return (struct exp_emit_bytes){ rows.rows * rows.width * sizeof(float), conv_linalg_padded_bytes(plan) };
}

/* ---- text ---- */

static const char *why_not(enum exp_emit_what what, const struct conv_plan *plan)
{
    const char *why = conv_program_why_not(plan);

    if (!why && forms[what].passes && plan->ukr->isa == CPU_ISA_NONE)
        why = "MLIR is written for micro-kernels of vectors: UKR=avx2 or UKR=avx512";
    if (!why && forms[what].passes && !conv_program_is_plain(plan))
        why = "MLIR is written for vectors of windows, and without prefetching";
    return why || !forms[what].why_not ? why : forms[what].why_not(plan);
}

static int check(enum exp_emit_what what, const struct conv_layer_plan *plan, size_t n, struct exp_why *why)
{
    for (size_t i = 0; i < n; i++) {
        const char *reason = why_not(what, &plan[i].plan);

        if (reason)
            return exp_fail(why, -EINVAL, "layer '%s' with %s: its plan cannot be written as code: %s", plan[i].layer,
                            conv_plan_kernel_name(&plan[i].plan), reason);
        if (plan[i].plan.ukr->isa != plan[0].plan.ukr->isa)
            return exp_fail(why, -EINVAL,
                            "layer '%s': its micro-kernel %s needs another instruction set than that of '%s'",
                            plan[i].layer, plan[i].plan.ukr->name, plan[0].layer);
    }
    return 0;
}

static bool is_fused(const struct conv_fusion *after)
{
    return after->adds_bias || after->activation != CONV_ACTIVATION_NONE;
}

int exp_emit_print(enum exp_emit_what what, const struct conv_layer_plan *plan, size_t n,
                   const struct conv_c_options *options, FILE *out, struct exp_why *why)
{
    int err = check(what, plan, n, why);

    assert(what < EXP_EMIT_N_FORMS && n >= 1);
    if (!err && is_fused(&options->after) && forms[what].passes)
        err = exp_fail(why, -EINVAL, "FUSE: what follows is fused in C only: EMIT=c");
    if (err)
        return err;
    forms[what].print_head(&plan[0].plan, out);
    for (size_t i = 0; i < n && !err; i++) {
        char name[CONV_C_NAME_BYTES];

        conv_c_name(name, plan[i].layer, i);
        err = forms[what].print(&plan[i].plan, name, options, out);
    }
    if (!err && forms[what].print_tail)
        forms[what].print_tail(plan, n, out);
    return err ? exp_fail(why, err, "%s", exp_error_text(err)) : 0;
}

/* ---- compilers ---- */

static const char *named(const char *variable, const char *otherwise)
{
    const char *name = getenv(variable);

    return name && *name ? name : otherwise;
}

static struct exp_words begin_command(const char *variable, const char *otherwise)
{
    struct exp_words command = { 0 };

    exp_words_add(&command, "%s", named(variable, otherwise));
    return command;
}

/* Runs a command, and releases the command. */
static int run_tool(struct exp_words *command, const char *variable, struct exp_why *why)
{
    const char *const *argv = (const char *const *)command->word;
    char last[512] = "";
    int status, err = exp_process_run(argv, LIMIT_S, exp_interrupted, &status, last, sizeof last);

    if (err == -ENOENT)
        exp_fail(why, err, "there is no '%s'; %s names another", argv[0], variable);
    else if (err == -EINTR)
        exp_fail(why, err, "interrupted while %s compiled", argv[0]);
    else if (err)
        exp_fail(why, err, "%s: %s", argv[0], strerror(-err));
    else if (status)
        err = exp_fail(why, -EIO, "%s fails: %s", argv[0], last);
    exp_words_release(command);
    return err;
}

/* Compilers' name of this program's CPU family. */
#if defined(__x86_64__)
#define FAMILY "x86_64"
#elif defined(__powerpc64__)
#define FAMILY "powerpc64le"
#elif defined(__aarch64__)
#define FAMILY "aarch64"
#else
#define FAMILY ""
#endif

/* Tells whether a tool's answer to an option has a line with the pattern. */
static bool says(const char *tool, const char *option, const char *pattern)
{
    const char *const argv[] = { "sh", "-c", "\"$0\" \"$1\" | grep -q \"$2\"", tool, option, pattern, NULL };
    char last[8];
    int status = 0;

    return !exp_process_run(argv, LIMIT_S, NULL, &status, last, sizeof last) && !status;
}

/* Returns the path of sconv-opt, from malloc. */
static char *sconv_opt(void)
{
    static const char file[] = "/sconv-opt";
    char folder[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    char *slash;

    folder[length > 0 ? length : 0] = '\0';
    slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    return exp_format("%s%s", folder, file);
}

static bool has_sconv_opt(void)
{
    char *path = sconv_opt();
    bool is_there = access(named(EXP_EMIT_SCONV_OPT_VARIABLE, path), X_OK) == 0;

    free(path);
    return is_there;
}

const char *exp_emit_why_no_compiler(enum exp_emit_what what)
{
    const char *is_19 = "version 19\\.";

    assert(what < EXP_EMIT_N_FORMS);
    if (!says(named(EXP_EMIT_CC_VARIABLE, "cc"), "-dumpmachine", "^" FAMILY))
        return "there is no C compiler for " FAMILY ": cc, or what " EXP_EMIT_CC_VARIABLE " names";
    if (what == EXP_EMIT_C)
        return NULL;
    if (forms[what].is_sliced && !has_sconv_opt())
        return "there is no sconv-opt beside this program (it needs libmlir-19-dev), and " EXP_EMIT_SCONV_OPT_VARIABLE
               " names none";
    if (!says(named(EXP_EMIT_MLIR_OPT_VARIABLE, "mlir-opt-19"), "--version", is_19))
        return "there is no mlir-opt of LLVM 19: mlir-opt-19 (Debian's mlir-19-tools), or "
               "what " EXP_EMIT_MLIR_OPT_VARIABLE " names";
    return says(named(EXP_EMIT_CLANG_VARIABLE, "clang-19"), "--version", is_19)
               ? NULL
               : "there is no clang of LLVM 19: clang-19, or what " EXP_EMIT_CLANG_VARIABLE " names";
}

/* ---- building ---- */

struct work {
    const char *folder;
    enum exp_emit_what what;
    const struct conv_layer_plan *plan;
    size_t n;
    struct conv_c_options options;
    bool records;
    struct exp_why *why;
};

/* Adds the path of a file in the folder. */
static void add_file(struct exp_words *command, const struct work *w, const char *file)
{
    exp_words_add(command, "%s/%s", w->folder, file);
}

static int write_file(const struct work *w, const char *file)
{
    char *path = exp_format("%s/%s", w->folder, file);
    FILE *out = fopen(path, "w");
    int err = out ? 0 : exp_fail(w->why, -errno, "cannot write '%s': %s", path, strerror(errno));

    if (!err)
        err = exp_emit_print(w->what, w->plan, w->n, &w->options, out, w->why);
    if (out && fclose(out) && !err)
        err = exp_fail(w->why, -EIO, "cannot write '%s': %s", path, strerror(errno));
    free(path);
    return err;
}

static int build_c(const struct work *w)
{
    struct exp_words cc = begin_command(EXP_EMIT_CC_VARIABLE, "cc");

    exp_words_split(&cc, "-O3 -std=c99 -ffp-contract=off -fno-math-errno -shared -fPIC");
    exp_words_split(&cc, conv_c_flags(&w->plan[0].plan));
    exp_words_split(&cc, w->records ? "-DSCONV_RECORD -o" : "-o");
    add_file(&cc, w, EXP_EMIT_OBJECT);
    add_file(&cc, w, "code.c");
    return run_tool(&cc, EXP_EMIT_CC_VARIABLE, w->why);
}

static int slice(const struct work *w)
{
    char *path = sconv_opt();
    struct exp_words opt = begin_command(EXP_EMIT_SCONV_OPT_VARIABLE, path);

    free(path);
    add_file(&opt, w, "code.mlir");
    exp_words_add(&opt, "MACHINE=%s", w->plan[0].machine);
    exp_words_add(&opt, "UKR=%s", w->plan[0].plan.ukr->name);
    exp_words_add(&opt, "-o");
    add_file(&opt, w, "sliced.mlir");
    return run_tool(&opt, EXP_EMIT_SCONV_OPT_VARIABLE, w->why);
}

static int lower(const struct work *w)
{
    struct exp_words opt = begin_command(EXP_EMIT_MLIR_OPT_VARIABLE, "mlir-opt-19");

    add_file(&opt, w, forms[w->what].is_sliced ? "sliced.mlir" : "code.mlir");
    exp_words_add(&opt, "-o");
    add_file(&opt, w, "llvm.mlir");
    for (const char *const *pass = forms[w->what].passes; *pass; pass++)
        exp_words_add(&opt, "%s", *pass);
    return run_tool(&opt, EXP_EMIT_MLIR_OPT_VARIABLE, w->why);
}

static int translate(const struct work *w)
{
    struct exp_words to_llvm = begin_command(EXP_EMIT_MLIR_TRANSLATE_VARIABLE, "mlir-translate-19");

    exp_words_add(&to_llvm, "--mlir-to-llvmir");
    add_file(&to_llvm, w, "llvm.mlir");
    exp_words_add(&to_llvm, "-o");
    add_file(&to_llvm, w, "code.ll");
    return run_tool(&to_llvm, EXP_EMIT_MLIR_TRANSLATE_VARIABLE, w->why);
}

static int build_ll(const struct work *w)
{
    const char *isa_flags = conv_c_flags(&w->plan[0].plan);
    struct exp_words clang = begin_command(EXP_EMIT_CLANG_VARIABLE, "clang-19");

    exp_words_split(&clang, "-O3 -ffp-contract=off -shared -fPIC -Wno-override-module");
    exp_words_split(&clang, isa_flags);
    exp_words_split(&clang, strstr(isa_flags, "512") ? "-mprefer-vector-width=512 -o" : "-o");
    add_file(&clang, w, EXP_EMIT_OBJECT);
    add_file(&clang, w, "code.ll");
    return run_tool(&clang, EXP_EMIT_CLANG_VARIABLE, w->why);
}

/* Returns the filters of exp_tensors_init. A network's filters are constants, and sconv-opt gets constants. */
static float *new_filter(const struct conv_plan *plan)
{
    size_t bytes = plan->layout.bytes[CONV_FILTER];
    float *filter = exp_new(bytes / sizeof *filter, sizeof *filter);

    exp_tensors_fill(filter, bytes, EXP_TENSORS_FILTER_SEED);
    return filter;
}

int exp_emit_compile(const struct exp_workdir *folder, enum exp_emit_what what, const struct conv_layer_plan *plan,
                     size_t n, const struct conv_fusion *after, bool records, struct exp_why *why)
{
    const struct conv_fusion nothing = { .adds_bias = false };
    float *filter = forms[what].is_sliced ? new_filter(&plan[0].plan) : NULL;
    const struct work w = { folder->path, what, plan, n, { filter, after ? *after : nothing }, records, why };
    bool is_c = what == EXP_EMIT_C;
    int err = write_file(&w, is_c ? "code.c" : "code.mlir");

    assert(what < EXP_EMIT_N_FORMS && n >= 1);
    free(filter);
    if (!err && forms[what].is_sliced)
        err = slice(&w);
    if (!err && !is_c)
        err = lower(&w);
    if (!err && !is_c)
        err = translate(&w);
    return err ? err : is_c ? build_c(&w) : build_ll(&w);
}

int exp_emit_build(struct exp_emit_code *code, enum exp_emit_what what, const struct conv_layer_plan *plan, size_t n,
                   const struct conv_fusion *after, bool records, struct exp_why *why)
{
    struct exp_workdir folder;
    int err = exp_workdir_open(&folder, exp_workdir_temporary(), why);

    code->library = NULL;
    if (!err)
        err = exp_emit_compile(&folder, what, plan, n, after, records, why);
    if (!err) {
        char *path = exp_format("%s/" EXP_EMIT_OBJECT, folder.path);

        code->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        err = code->library ? 0 : exp_fail(why, -EIO, "cannot load generated code: %s", dlerror());
        free(path);
    }
    exp_workdir_close(&folder);
    return err;
}

void exp_emit_code_release(struct exp_emit_code *code)
{
    if (code->library)
        dlclose(code->library);
    code->library = NULL;
}

/* ---- functions ---- */

/* Stores a pointer to a plan's function whose name ends with the suffix. */
static void find_function(void *fn, const struct exp_emit_code *code, const char *layer, size_t i, const char *suffix)
{
    char name[CONV_C_NAME_BYTES], whole[CONV_C_NAME_BYTES + 16];
    void *found;

    conv_c_name(name, layer, i);
    snprintf(whole, sizeof whole, "%s%s", name, suffix);
    found = dlsym(code->library, whole);
    memcpy(fn, &found, sizeof found);
}

exp_code_fn exp_emit_code_function(const struct exp_emit_code *code, const char *layer, size_t i)
{
    exp_code_fn fn;

    find_function(&fn, code, layer, i, "");
    return fn;
}

exp_fused_fn exp_emit_code_fused(const struct exp_emit_code *code, const char *layer, size_t i)
{
    exp_fused_fn fn;

    find_function(&fn, code, layer, i, "");
    return fn;
}

exp_emit_pack_fn exp_emit_code_packer(const struct exp_emit_code *code, const char *layer, size_t i)
{
    exp_emit_pack_fn fn;

    find_function(&fn, code, layer, i, "_pack_filters");
    return fn;
}

/* ---- the coder ---- */

/* A compiled plan. A run compiles few plans: a list will do. */
struct exp_emit_coded {
    struct conv_plan plan;
    struct exp_emit_code code;
    exp_code_fn fn;
    struct exp_emit_coded *next;
};

static bool is_of(const struct exp_emit_coded *e, const struct conv_plan *p)
{
    const struct csa_tiling *a = &e->plan.sconv.tiling, *b = &p->sconv.tiling;

    return e->plan.ukr == p->ukr && conv_problem_equal(&e->plan.problem, &p->problem) && a->schedule == b->schedule &&
           a->n_c == b->n_c && a->k2 == b->k2 && a->k3 == b->k3 &&
           !memcmp(&e->plan.sconv.options, &p->sconv.options, sizeof p->sconv.options);
}

static int make(const struct conv_plan *plan, struct exp_emit_coded **made)
{
    static const char name[] = "layer";
    const struct conv_layer_plan layer = { .layer = name, .machine = "", .plan = *plan };
    struct exp_emit_code code;
    struct exp_why why;
    int err = exp_emit_build(&code, EXP_EMIT_C, &layer, 1, NULL, false, &why);

    if (err)
        return err;
    *made = exp_new(1, sizeof **made);
    **made = (struct exp_emit_coded){ .plan = *plan, .code = code, .fn = exp_emit_code_function(&code, name, 0) };
    return 0;
}

static int find(struct exp_coder *self, const struct conv_plan *plan, exp_code_fn *code)
{
    struct exp_emit_coder *coder = (struct exp_emit_coder *)self;
    struct exp_emit_coded *e;
    int err = 0;

    pthread_mutex_lock(&coder->lock);
    for (e = coder->first; e && !is_of(e, plan); e = e->next)
        ;
    if (!e) {
        err = make(plan, &e);
        if (!err) {
            e->next = coder->first;
            coder->first = e;
        }
    }
    pthread_mutex_unlock(&coder->lock);
    if (!err)
        *code = e->fn;
    return err;
}

struct exp_emit_coder *exp_emit_coder_new(void)
{
    struct exp_emit_coder *c = exp_new(1, sizeof *c);

    c->base = (struct exp_coder){ exp_emit_why_no_compiler(EXP_EMIT_C), find };
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void exp_emit_coder_free(struct exp_emit_coder *coder)
{
    if (!coder)
        return;
    for (struct exp_emit_coded *e = coder->first, *next; e; e = next) {
        next = e->next;
        exp_emit_code_release(&e->code);
        free(e);
    }
    pthread_mutex_destroy(&coder->lock);
    free(coder);
}
