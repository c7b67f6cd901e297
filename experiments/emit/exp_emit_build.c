#include "experiments/emit/exp_emit_build.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_process.h"
#include "experiments/base/exp_program.h"

enum { LIMIT_S = 600, MOST_ARGUMENTS = 40, FLAG_BYTES = 128 };

/* ---- a folder of its own ---- */

enum file { CODE_C, CODE_MLIR, CODE_LLVM, CODE_LL, CODE_SO, N_FILES };

struct place {
    char dir[256], path[N_FILES][288];
    struct exp_guard guard;
};

static void remove_all(void *place)
{
    const struct place *p = place;

    for (int i = 0; i < N_FILES; i++)
        unlink(p->path[i]);
    rmdir(p->dir);
}

static int make_folder(void *place)
{
    struct place *p = place;

    return mkdtemp(p->dir) ? 0 : -errno;
}

static int open_place(struct place *p, struct exp_why *why)
{
    static const char *const names[N_FILES] = { "code.c", "code.mlir", "llvm.mlir", "code.ll", "code.so" };
    const char *tmp = getenv("TMPDIR");
    int err;

    *p = (struct place){ .guard = { .undo = remove_all, .ctx = p } };
    snprintf(p->dir, sizeof p->dir, "%s/sconv-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    err = exp_guard_begin(&p->guard, make_folder, p);
    if (err)
        return exp_fail(why, err, "cannot make a folder '%s': %s", p->dir, strerror(-err));
    for (int i = 0; i < N_FILES; i++)
        snprintf(p->path[i], sizeof p->path[i], "%s/%s", p->dir, names[i]);
    return 0;
}

static void close_place(struct place *p)
{
    exp_guard_end(&p->guard, NULL, NULL);
    remove_all(p);
}

/* ---- compilers ---- */

static const char *named(const char *variable, const char *otherwise)
{
    const char *name = getenv(variable);

    return name && *name ? name : otherwise;
}

static int run_tool(const char *const argv[], const char *variable, struct exp_why *why)
{
    char last[512] = "";
    int status, err = exp_process_run(argv, LIMIT_S, exp_interrupted, &status, last, sizeof last);

    if (err == -ENOENT)
        return exp_fail(why, err, "there is no '%s'; %s names another", argv[0], variable);
    if (err == -EINTR)
        return exp_fail(why, err, "interrupted while %s compiled", argv[0]);
    if (err)
        return exp_fail(why, err, "%s: %s", argv[0], strerror(-err));
    return status ? exp_fail(why, -EIO, "%s fails: %s", argv[0], last) : 0;
}

/* Compilers call this program's CPU family so. */
#if defined(__x86_64__)
#define FAMILY "x86_64"
#elif defined(__powerpc64__)
#define FAMILY "powerpc64le"
#elif defined(__aarch64__)
#define FAMILY "aarch64"
#else
#define FAMILY ""
#endif

/* Tells whether what a tool prints, asked by an option, has a line with the pattern. */
static bool says(const char *tool, const char *option, const char *pattern)
{
    const char *const argv[] = { "sh", "-c", "\"$0\" \"$1\" | grep -q \"$2\"", tool, option, pattern, NULL };
    char last[8];
    int status = 0;

    return !exp_process_run(argv, LIMIT_S, NULL, &status, last, sizeof last) && !status;
}

const char *exp_emit_why_no_compiler(enum exp_emit_what what)
{
    const char *is_19 = "version 19\\.";

    if (!says(named(EXP_EMIT_CC_VARIABLE, "cc"), "-dumpmachine", "^" FAMILY))
        return "there is no C compiler for " FAMILY ": cc, or what " EXP_EMIT_CC_VARIABLE " names";
    if (what == EXP_EMIT_C)
        return NULL;
    if (!says(named(EXP_EMIT_MLIR_OPT_VARIABLE, "mlir-opt-19"), "--version", is_19))
        return "there is no mlir-opt of LLVM 19: mlir-opt-19 (Debian's mlir-19-tools), or "
               "what " EXP_EMIT_MLIR_OPT_VARIABLE " names";
    return says(named(EXP_EMIT_CLANG_VARIABLE, "clang-19"), "--version", is_19)
               ? NULL
               : "there is no clang of LLVM 19: clang-19, or what " EXP_EMIT_CLANG_VARIABLE " names";
}

/* Cuts flags at their blanks, into argv from n on. Returns the new n. */
static size_t split(char *flags, const char **argv, size_t n)
{
    char *rest = flags;

    for (char *at = strtok_r(rest, " ", &rest); at && n < MOST_ARGUMENTS - 8; at = strtok_r(NULL, " ", &rest))
        argv[n++] = at;
    return n;
}

static int compile_c(const struct place *p, const char *isa_flags, bool records, struct exp_why *why)
{
    const char *argv[MOST_ARGUMENTS] = {
        named(EXP_EMIT_CC_VARIABLE, "cc"), "-O3", "-std=c99", "-ffp-contract=off", "-fno-math-errno", "-shared", "-fPIC"
    };
    char flags[FLAG_BYTES];
    size_t n;

    snprintf(flags, sizeof flags, "%s", isa_flags);
    n = split(flags, argv, 7);
    if (records)
        argv[n++] = "-DSCONV_RECORD";
    argv[n++] = "-o";
    argv[n++] = p->path[CODE_SO];
    argv[n++] = p->path[CODE_C];
    return run_tool(argv, EXP_EMIT_CC_VARIABLE, why);
}

static int lower(const struct place *p, const char *const *passes, struct exp_why *why)
{
    const char *opt[MOST_ARGUMENTS] = { named(EXP_EMIT_MLIR_OPT_VARIABLE, "mlir-opt-19"), p->path[CODE_MLIR], "-o",
                                        p->path[CODE_LLVM] };
    const char *const translate[] = { named(EXP_EMIT_MLIR_TRANSLATE_VARIABLE, "mlir-translate-19"),
                                      "--mlir-to-llvmir",
                                      p->path[CODE_LLVM],
                                      "-o",
                                      p->path[CODE_LL],
                                      NULL };
    int err;

    for (size_t i = 0; passes[i]; i++)
        opt[4 + i] = passes[i];
    err = run_tool(opt, EXP_EMIT_MLIR_OPT_VARIABLE, why);
    return err ? err : run_tool(translate, EXP_EMIT_MLIR_TRANSLATE_VARIABLE, why);
}

/* Compiles what was lowered, with the micro-kernels in C if there are any. */
static int compile_ll(const struct place *p, const char *isa_flags, bool has_kernels, struct exp_why *why)
{
    const char *argv[MOST_ARGUMENTS] = { named(EXP_EMIT_CLANG_VARIABLE, "clang-19"),
                                         "-O3",
                                         "-ffp-contract=off",
                                         "-shared",
                                         "-fPIC",
                                         "-Wno-override-module" };
    char flags[FLAG_BYTES];
    size_t n;

    snprintf(flags, sizeof flags, "%s%s", isa_flags, strstr(isa_flags, "512") ? " -mprefer-vector-width=512" : "");
    n = split(flags, argv, 6);
    argv[n++] = "-o";
    argv[n++] = p->path[CODE_SO];
    argv[n++] = p->path[CODE_LL];
    if (has_kernels)
        argv[n++] = p->path[CODE_C];
    return run_tool(argv, EXP_EMIT_CLANG_VARIABLE, why);
}

/* ---- building ---- */

struct work {
    const struct place *place;
    enum exp_emit_what what;
    const struct conv_noted_plan *plan;
    size_t n;
    struct conv_c_options options;
    struct exp_why *why;
};

static int write_file(const struct work *w, enum file file, bool kernels)
{
    const char *path = w->place->path[file];
    FILE *out = fopen(path, "w");
    int err;

    if (!out)
        return exp_fail(w->why, -errno, "cannot write '%s': %s", path, strerror(errno));
    err = kernels ? exp_emit_print_kernels(w->plan, w->n, out, w->why)
                  : exp_emit_print(w->what, w->plan, w->n, &w->options, out, w->why);
    if (fclose(out) && !err)
        err = exp_fail(w->why, -EIO, "cannot write '%s': %s", path, strerror(errno));
    return err;
}

static int build_mlir(const struct work *w)
{
    bool has_kernels = exp_emit_has_kernels(w->what);
    int err = write_file(w, CODE_MLIR, false);

    if (!err && has_kernels)
        err = write_file(w, CODE_C, true);
    if (!err)
        err = lower(w->place, exp_emit_passes(w->what), w->why);
    return err ? err : compile_ll(w->place, conv_c_flags(&w->plan[0].plan), has_kernels, w->why);
}

static int build_c(const struct work *w, bool records)
{
    int err = write_file(w, CODE_C, false);

    return err ? err : compile_c(w->place, conv_c_flags(&w->plan[0].plan), records, w->why);
}

int exp_emit_compile(enum exp_emit_what what, const struct conv_noted_plan *plan, size_t n,
                     const struct conv_fusion *after, bool records, exp_emit_use_fn use, void *ctx, struct exp_why *why)
{
    struct place place;
    const struct work w = { &place, what, plan, n, { NULL, *after }, why };
    int err = open_place(&place, why);

    if (err)
        return err;
    err = what == EXP_EMIT_C ? build_c(&w, records) : build_mlir(&w);
    if (!err)
        err = use(ctx, place.path[CODE_SO], why);
    close_place(&place);
    return err;
}

static int load(void *code, const char *path, struct exp_why *why)
{
    struct exp_emit_code *c = code;

    c->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return c->library ? 0 : exp_fail(why, -EIO, "cannot load generated code: %s", dlerror());
}

int exp_emit_build(struct exp_emit_code *code, enum exp_emit_what what, const struct conv_noted_plan *plan, size_t n,
                   bool records, struct exp_why *why)
{
    return exp_emit_build_fused(code, what, plan, n, &(struct conv_fusion){ .adds_bias = false }, records, why);
}

int exp_emit_build_fused(struct exp_emit_code *code, enum exp_emit_what what, const struct conv_noted_plan *plan,
                         size_t n, const struct conv_fusion *after, bool records, struct exp_why *why)
{
    code->library = NULL;
    return exp_emit_compile(what, plan, n, after, records, load, code, why);
}

void exp_emit_code_release(struct exp_emit_code *code)
{
    if (code->library)
        dlclose(code->library);
    code->library = NULL;
}

/* ---- functions ---- */

static void *symbol(const struct exp_emit_code *code, const char *layer, size_t i, const char *suffix)
{
    char name[CONV_C_NAME_BYTES], whole[CONV_C_NAME_BYTES + 16];

    conv_c_name(name, layer, i);
    snprintf(whole, sizeof whole, "%s%s", name, suffix);
    return dlsym(code->library, whole);
}

exp_code_fn exp_emit_code_function(const struct exp_emit_code *code, const char *layer, size_t i)
{
    void *found = symbol(code, layer, i, "");
    exp_code_fn fn;

    memcpy(&fn, &found, sizeof fn);
    return fn;
}

exp_fused_fn exp_emit_code_fused(const struct exp_emit_code *code, const char *layer, size_t i)
{
    void *found = symbol(code, layer, i, "");
    exp_fused_fn fn;

    memcpy(&fn, &found, sizeof fn);
    return fn;
}

exp_emit_pack_fn exp_emit_code_packer(const struct exp_emit_code *code, const char *layer, size_t i)
{
    void *found = symbol(code, layer, i, "_pack_filters");
    exp_emit_pack_fn fn;

    memcpy(&fn, &found, sizeof fn);
    return fn;
}

enum { N_BUCKETS = 1024 };

/* Tells plans of this coder apart. */
struct key {
    struct conv_problem problem;
    struct csa_tiling tiling;
    struct conv_sconv_options options;
    const struct conv_ukr *ukr;
};

struct entry {
    struct key key;
    struct exp_emit_code code;
    exp_code_fn fn;
    struct entry *next;
};

struct exp_emit_coder_part {
    pthread_mutex_t lock;
    struct entry *bucket[N_BUCKETS];
};

static bool same_tiling(const struct csa_tiling *a, const struct csa_tiling *b)
{
    return a->schedule == b->schedule && a->n_c == b->n_c && a->k2 == b->k2 && a->k3 == b->k3;
}

static bool is_of(const struct entry *e, const struct conv_plan *p)
{
    return e->key.ukr == p->ukr && conv_problem_equal(&e->key.problem, &p->problem) &&
           same_tiling(&e->key.tiling, &p->sconv.tiling) &&
           !memcmp(&e->key.options, &p->sconv.options, sizeof e->key.options);
}

static size_t bucket_of(const struct conv_plan *p)
{
    const struct csa_tiling *t = &p->sconv.tiling;
    const size_t parts[] = { p->problem.c, p->problem.h, p->problem.k, p->problem.r,       p->problem.w,
                             t->n_c,       t->k2,        t->k3,        (size_t)t->schedule };
    size_t hash = 0;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash = hash * 31 + parts[i];
    return hash % N_BUCKETS;
}

static int make(const struct conv_plan *plan, struct entry **made)
{
    static const char name[] = "layer";
    const struct conv_noted_plan noted = { .layer = name, .machine = "", .plan = *plan };
    struct entry *e = calloc(1, sizeof *e);
    struct exp_why why;
    int err = e ? exp_emit_build(&e->code, EXP_EMIT_C, &noted, 1, false, &why) : -ENOMEM;

    if (err) {
        free(e);
        return err;
    }
    e->key = (struct key){ plan->problem, plan->sconv.tiling, plan->sconv.options, plan->ukr };
    e->fn = exp_emit_code_function(&e->code, name, 0);
    *made = e;
    return 0;
}

static int find(struct exp_coder *self, const struct conv_plan *plan, exp_code_fn *code)
{
    struct exp_emit_coder_part *part = ((struct exp_emit_coder *)self)->part;
    struct entry **bucket = &part->bucket[bucket_of(plan)], *e;
    int err = 0;

    pthread_mutex_lock(&part->lock);
    for (e = *bucket; e && !is_of(e, plan); e = e->next)
        ;
    if (!e) {
        err = make(plan, &e);
        if (!err) {
            e->next = *bucket;
            *bucket = e;
        }
    }
    pthread_mutex_unlock(&part->lock);
    if (!err)
        *code = e->fn;
    return err;
}

int exp_emit_coder_new(struct exp_emit_coder **coder)
{
    struct exp_emit_coder *c = calloc(1, sizeof *c);

    *coder = NULL;
    if (c)
        c->part = calloc(1, sizeof *c->part);
    if (!c || !c->part) {
        free(c);
        return -ENOMEM;
    }
    c->base.find = find;
    c->base.why_not = exp_emit_why_no_compiler(EXP_EMIT_C);
    pthread_mutex_init(&c->part->lock, NULL);
    *coder = c;
    return 0;
}

void exp_emit_coder_free(struct exp_emit_coder *coder)
{
    if (!coder)
        return;
    for (size_t i = 0; i < N_BUCKETS; i++) {
        for (struct entry *e = coder->part->bucket[i], *next; e; e = next) {
            next = e->next;
            exp_emit_code_release(&e->code);
            free(e);
        }
    }
    pthread_mutex_destroy(&coder->part->lock);
    free(coder->part);
    free(coder);
}
