/*
 * Plug-ins: somebody's convolution (kernels/plugin/conv_plugin.h) beside the bench's own algorithms.
 *
 * The code of a plug-in is loaded and run in a process of its own, a fork of this one, which is told what to do and
 * answers through shared memory. Whatever the code does - it crashes, hangs, calls exit, writes where it must not,
 * returns wrong values - costs its own columns, with the reason in them.
 *
 * A layer is checked first: the tensors lie in shared memory between pages that nobody may touch, input and filters are
 * read-only, and what the output's neighbourhood holds is compared afterwards. Timed runs have tensors of the process's
 * own, made by the same function as those of the other algorithms, and are timed there by the same clock.
 */
#ifndef EXPERIMENTS_BENCH_PLUGIN_H
#define EXPERIMENTS_BENCH_PLUGIN_H

#include <stdint.h>

#include "experiments/bench/algo.h"
#include "experiments/bench/case.h"
#include "sim/base/access.h"

struct exp_plugin;
struct conv_plugin_shape;

/* Returns a shape as plug-ins know it (kernels/plugin/conv_plugin.h). */
struct conv_plugin_shape exp_plugin_shape(const struct conv_problem *p);

struct exp_plugin_options {
    const char *flags; /* for the compiler, behind those of the file's first comment */
    const char *plan;  /* the user's, for plug-ins alone */
    unsigned limit_s;  /* for each thing that is asked of it, besides 20 ns for each multiply-add */
    unsigned threads;  /* that its checked and timed runs may use, 1 at least; accesses are recorded of one */
    const char
        *observer; /* QEMU's plugin (counters/observe/obs_plugin.c); "": there is none. Lives as long as plug-ins */
};

/*
 * Reads ALGO= where plug-ins may stand in it: an item with a '.' or a '/' is one, as a C file (mine.c), a shared object
 * (./mine.so), or something in it (mine.c:other). They become algorithms of this program, called by their own names. A
 * C file is compiled for this computer. What is wrong with a plug-in is the reason why it does not run. Returns 0, or
 * -EINVAL with one line in why: for an unknown algorithm, too many plug-ins, more threads than cores. A name that is
 * taken gets a number; names say how many threads there are, if they are several.
 */
int exp_plugins_select(const char *list, const struct exp_plugin_options *o, unsigned *selected, struct exp_why *why);

/* Ends all processes and gives back what there is; the algorithms stay, and run no more. */
void exp_plugins_release(void);

/*
 * Runs a layer on tensors like those of bind, and leaves the first run's output there. Returns NULL, or why not: it
 * cannot do such a layer, or did what it must not. *doubt is NULL, or what is wrong with later runs if the first one's
 * output is right. Thread-safe; reasons live as long as the plug-in.
 */
const char *exp_plugin_check(struct exp_plugin *p, const struct conv_plan *plan, const struct conv_binding *bind,
                             const char **doubt);

/* Says why a plug-in does not do a planned layer; NULL: it says that it does. Thread-safe. */
const char *exp_plugin_why_not(struct exp_plugin *p, const struct conv_plan *plan);

/* Keeps a reason as long as the plug-in. Thread-safe. */
const char *exp_plugin_keep(struct exp_plugin *p, const char *reason);

/*
 * Timed runs of layers that are open together (0, 1, ...), on the core of the calling thread: opens one and chooses it;
 * empties caches or fills them as `cache` says, runs; closes all. These return NULL, or why the plug-in runs no more;
 * took_ns is by now_ns, in its process. A layer has the values that exp_tensors_init gives it.
 */
const char *exp_plugin_open(struct exp_plugin *p, size_t layer, const struct conv_plan *plan, uint64_t (*now_ns)(void));
const char *exp_plugin_prepare(struct exp_plugin *p, enum exp_cache_state cache);
const char *exp_plugin_run(struct exp_plugin *p, uint64_t *took_ns);

/* Runs it once under the clock that its marks read. Returns NULL, or why there are no phases. */
const char *exp_plugin_steps(struct exp_plugin *p, struct exp_phases *phases);

/* Runs of the chosen layer, as who does something with them sees them. They return 0 or -errno. */
struct exp_runs {
    int (*prepare)(void *ctx); /* the caches, as the last exp_plugin_prepare did */
    int (*run)(void *ctx);
    void *ctx;
};

/*
 * Has fn(copy of data, runs) done in the plug-in's process, where counters see its runs; data gets back what the copy
 * is then.
 */
const char *exp_plugin_do(struct exp_plugin *p, void (*fn)(void *data, const struct exp_runs *runs), void *data,
                          size_t bytes);

/* Closes the layer. Returns NULL, or why its times are worth nothing: the last run's output is not the check's. */
const char *exp_plugin_close(struct exp_plugin *p);

/*
 * Compiles a C file into a shared object, which is kept by its content: text, flags, compiler. A path of another kind
 * is its own object. What the compiler says goes to standard error. Returns 0 and the object's path, to be freed, or
 * -errno with one line in why.
 */
int exp_plugin_compile(const char *path, const char *flags, char **object, struct exp_why *why);
bool exp_plugin_is_source(const char *path); /* a C or a C++ file */

/* ---- what it accesses ---- */

/* A way to compile and run the program that records a plug-in's accesses (kernels/plugin/recorder.c). */
struct exp_recorder_kind {
    enum cpu_isa isa; /* of the simulated machine's kernels; CPU_ISA_NONE: of any */
    const char *compiler, *flags;
    const char
        *emulator;    /* command before the program's, which sees all that it does; "": the program records itself */
    const char *what; /* " for POWER10" in a reason */
};

const struct exp_recorder_kind *exp_recorder_kind(enum cpu_isa isa);

/* Returns the kind for code that calls libraries, or is one: emulated. NULL: there is none on this computer. */
const struct exp_recorder_kind *exp_recorder_kind_of_libraries(void);

/*
 * Makes such a program of a C file or a shared object, kept as objects are. Returns as exp_plugin_compile; -ENOTSUP for
 * a shared object where no emulator sees what it does.
 */
int exp_plugin_compile_recorder(const char *path, const char *flags, const char *symbol, bool is_function,
                                const struct exp_recorder_kind *kind, char **program, struct exp_why *why);

struct exp_recording {
    const struct exp_recorder_kind *kind;
    const char *program, *observer, *user_plan;
    const struct conv_plan *plan;
    const struct conv_binding *bind; /* where tensors are */
    unsigned limit_s;
    bool (*is_stopped)(const void *ctx); /* asked now and then; true: -ECANCELED or -EINTR */
    const void *ctx;
};

/*
 * Runs a layer once and hands all its accesses, in their order, to a sink: those to tensors as their tags, at their
 * addresses; memory that the plug-in calls "packed input" or "packed filters" as that; all else as CONV_IM2COL, the
 * workspace: allocated memory and local arrays. Pages of this lie in the order in which they are first touched. What
 * the plug-in does not mark is of the phase CONV_PHASE_UKR. The same plan gives the same accesses each time, if the
 * plug-in is the same each time. Returns 0, or with one line in why: -ENOTSUP if the plug-in does not do such a layer,
 * or does not end; -ENODATA if it does something that is not seen; -EINTR; -ECANCELED; -ENOMEM.
 */
int exp_plugin_record(const struct exp_recording *r, struct sim_sink *sink, struct exp_why *why);

/*
 * Does that for a plan of a plug-in's. Returns the same, but -ENOTSUP for -ENODATA, with *why, which lives as long as
 * the plug-in. Thread-safe.
 */
int exp_plugin_replay(const struct conv_plan *plan, const struct conv_binding *bind,
                      bool (*is_stopped)(const void *ctx), const void *ctx, struct sim_sink *sink, const char **why);

#endif
