/*
 * Plug-ins: a user's convolution (kernels/plugin/conv_plugin.h) beside the bench's own algorithms.
 *
 * The code of a plug-in runs in a separate process, a fork of this program. The process gets its tasks and answers
 * through shared memory. A plug-in that crashes, hangs, calls exit, writes to forbidden places or returns wrong values
 * loses only its own columns, which hold the reason. A plug-in that crashes, hangs, exits or refuses in a layer loses
 * the layer, and the process is started again. A plug-in that is wrong in any layer loses all layers
 * (exp_plugin_condemn).
 *
 * A layer is checked first. Its tensors lie in shared memory between inaccessible pages; input and filters are
 * read-only in the first run; the memory around the output is compared afterwards. Timed runs use tensors in the
 * process's own memory, allocated by the function that the built-in algorithms use, and the process times the runs with
 * the bench's clock.
 *
 * No run helps a later run. Before each timed run, outside the clock, the input gets values that no earlier run had,
 * and the output becomes NaN. Afterwards all outputs are proven to belong to the input (proof.c). The caches are
 * emptied after these writes. Where caches are warm, only one line in 16 of the input is changed and of the output
 * spoiled, also for the bench's own algorithms (measure.h).
 */
#ifndef EXPERIMENTS_BENCH_PLUGIN_PLUGIN_H
#define EXPERIMENTS_BENCH_PLUGIN_PLUGIN_H

#include <stdint.h>

#include "experiments/bench/case/algo.h"
#include "experiments/bench/case/case.h"
#include "sim/base/access.h"
#include "sim/core/clock.h"

struct exp_plugin;
struct conv_plugin_shape;

/* Returns a shape as plug-ins know it (kernels/plugin/conv_plugin.h). */
struct conv_plugin_shape exp_plugin_shape(const struct conv_problem *p);

struct exp_plugin_options {
    const char *flags;    /* for the compiler, behind the flags of the file's first comment */
    const char *plan;     /* the user's plan; only plug-ins read it */
    unsigned limit_s;     /* for each task, besides 20 ns for each multiply-add */
    unsigned threads;     /* of checked and timed runs, at least 1; one thread's accesses are recorded */
    const char *observer; /* QEMU's plugin (counters/watch/emulator_plugin.c); "": none. Lives as long as plug-ins */
    bool may_fail;        /* a plug-in that does not compile or load is kept but not run; false: an error */
};

/*
 * Reads ALGO=, which may name plug-ins. An item with a '.' or a '/' is a plug-in: a C file (mine.c), a shared object
 * (./mine.so), or a symbol in a file (mine.c:other). Plug-ins become algorithms of this program under their own names.
 * A C file is compiled for this computer. A name or a title that is taken gets a number; with several threads, the name
 * says how many. Returns 0; -EINTR; or -EINVAL with one line in why: an unknown algorithm, too many plug-ins, more
 * threads than cores, or a plug-in that is missing or fails to compile or load. Call before the program has further
 * threads.
 */
int exp_plugins_select(const char *list, const struct exp_plugin_options *o, unsigned *selected, struct exp_why *why);

/* Finds an unknown name in ALGO=, or a plug-in without a file. Returns 0, -EINVAL or -ENOENT with one line in why. */
int exp_plugins_check(const char *list, struct exp_why *why);

/* Ends all processes and releases everything; the algorithms stay, and run no more. */
void exp_plugins_release(void);

/*
 * Runs a layer on copies of the tensors of bind, and leaves the first run's output in bind. Returns NULL, or why the
 * layer is refused. *doubt is NULL, or a fault of later runs that counts only if the first output is right.
 * Thread-safe; reasons live as long as the plug-in.
 */
const char *exp_plugin_check(struct exp_plugin *p, const struct conv_plan *plan, const struct conv_binding *bind,
                             const char **doubt, enum exp_plugin_fault *fault);

/* Ends a plug-in for good: exp_algo_why_not_run returns the reason from now on. Thread-safe. */
void exp_plugin_condemn(struct exp_plugin *p, const char *reason);

/*
 * Returns the allowed distance of a plug-in's output from plain loops; magnitude is the sum of its products'
 * magnitudes. The bound allows for the roundings of Winograd's and Fourier's transforms.
 */
double exp_plugin_error_bound(double magnitude);

/* Says why a plug-in refuses a planned layer; NULL: the plug-in accepts the layer. Thread-safe. */
const char *exp_plugin_why_not(struct exp_plugin *p, const struct conv_plan *plan);

/* Keeps a reason as long as the plug-in. Thread-safe. */
const char *exp_plugin_keep(struct exp_plugin *p, const char *reason);

/*
 * Timed runs of layers that are open together (0, 1, ...), on the core of the calling thread. exp_plugin_open opens a
 * layer and chooses it. exp_plugin_prepare gives the layer a new input, and empties or fills the caches as `cache`
 * says. exp_plugin_run runs the layer; took_ns is by now_ns, in the plug-in's process. exp_plugin_close closes all
 * layers. Each returns NULL, or why the process has ended; opening a layer starts a new process.
 */
const char *exp_plugin_open(struct exp_plugin *p, size_t layer, const struct conv_plan *plan, uint64_t (*now_ns)(void));
const char *exp_plugin_prepare(struct exp_plugin *p, enum exp_cache_state cache);
const char *exp_plugin_run(struct exp_plugin *p, uint64_t *took_ns);

/* Runs the chosen layer once under the clock that the plug-in's marks read. */
void exp_plugin_steps(struct exp_plugin *p, struct exp_phases *phases);

/* Runs of the chosen layer, for a function in the plug-in's process. They return 0 or -errno. */
struct exp_runs {
    int (*prepare)(void *ctx); /* the caches, as the last exp_plugin_prepare did */
    int (*run)(void *ctx);
    void *ctx;
};

/*
 * Runs fn(copy of data, runs) in the plug-in's process, where counters see the runs; data receives the copy afterwards.
 */
const char *exp_plugin_do(struct exp_plugin *p, void (*fn)(void *data, const struct exp_runs *runs), void *data,
                          size_t bytes);

struct exp_plugin_closed {
    enum exp_plugin_fault fault;
    uint64_t convert_ns[2]; /* shortest convert_in and convert_out, not in the time of any run; 0: no conversion */
};

/* Closes the layers. Returns NULL, or why their times are invalid. */
const char *exp_plugin_close(struct exp_plugin *p, struct exp_plugin_closed *closed);

/* Limits and directs a compiler. After the limit, the compiler is killed with all processes that it started. */
struct exp_plugin_limits {
    unsigned limit_s;
    const char *flags; /* added behind the flags of the file's first comment */
};

/*
 * Layers of a network (0, 1, ...), whose tensors lie in memory shared by the program and the process. A stray write of
 * the plug-in into this memory is not noticed; the caller compares the network's output.
 *
 * exp_plugin_lend lends `bytes` zero bytes, aligned to a page; NULL: no memory, or memory is lent already.
 * exp_plugin_take_back closes all layers and takes the memory back. exp_plugin_open_lent opens a layer with tensors in
 * the memory; its filters must not change. exp_plugin_run_lent runs the layer on the core of the calling thread;
 * took_ns is by now_ns, in the plug-in's process, and includes image conversions of a plug-in with its own layout. Both
 * return NULL, or why they failed.
 */
void *exp_plugin_lend(struct exp_plugin *p, size_t bytes);
void exp_plugin_take_back(struct exp_plugin *p);
const char *exp_plugin_open_lent(struct exp_plugin *p, size_t layer, const struct conv_plan *plan,
                                 const struct conv_binding *bind, uint64_t (*now_ns)(void));
const char *exp_plugin_run_lent(struct exp_plugin *p, size_t layer, const struct conv_plan *plan, uint64_t *took_ns);

/*
 * Compiles a C file into a shared object. The object is kept by text, flags and compiler. A path of another kind is an
 * object already. The compiler's messages go to standard error. Returns 0 and the object's path, to be freed, or -errno
 * with one line in why.
 */
int exp_plugin_compile(const char *path, const struct exp_plugin_limits *limits, char **object, struct exp_why *why);
bool exp_plugin_is_source(const char *path); /* a C or a C++ file */

/* ---- recording accesses ---- */

/* A way to compile and run the program that records a plug-in's accesses (counters/watch/plugin_watcher.c). */
struct exp_recorder_kind {
    enum cpu_isa isa; /* of the simulated machine's kernels; CPU_ISA_NONE: of any kernels */
    const char *compiler, *flags;
    const char *emulator; /* command before the program's, which sees all accesses; "": the program records itself */
    const char *what;     /* " for POWER10" in a reason */
};

const struct exp_recorder_kind *exp_recorder_kind(enum cpu_isa isa);

/* Returns the kind for code that calls libraries, or is a library: emulated. NULL: none on this computer. */
const struct exp_recorder_kind *exp_recorder_kind_of_libraries(void);

/*
 * Makes a recording program of a C file or a shared object; programs are kept as objects are. Returns as
 * exp_plugin_compile; -ENOTSUP for a shared object without an emulator.
 */
int exp_plugin_compile_recorder(const char *path, const struct exp_plugin_limits *limits, const char *symbol,
                                bool is_function, const struct exp_recorder_kind *kind, char **program,
                                struct exp_why *why);

/* Gets the work of the plug-in's code, piece by piece, each piece after the piece's accesses. */
struct exp_plugin_clock {
    void (*step)(void *ctx, unsigned phase, const struct sim_work *w);
    void *ctx;
};

/*
 * Makes a program that runs a layer of a plug-in's C file once (kernels/plugin/drive.c), without AVX-512, and ends after
 * `seconds` (0: never). Returns as exp_plugin_compile; -ENOTSUP for a shared object, or on a further CPU family.
 */
int exp_plugin_compile_driver(const char *path, const struct exp_plugin_limits *limits, unsigned seconds,
                              char **program, struct exp_why *why);

struct exp_recording {
    const struct exp_recorder_kind *kind;
    const char *program, *observer, *user_plan;
    const struct conv_plan *plan;
    const struct conv_binding *bind; /* addresses of the tensors */
    unsigned limit_s;
    bool (*is_stopped)(const void *ctx); /* asked now and then; true: -ECANCELED or -EINTR */
    const void *ctx;
    const struct exp_plugin_clock *clock; /* may be NULL */
};

/*
 * Runs a layer once and hands all accesses, in order, to a sink. Accesses to tensors have the tensors' tags and
 * addresses; memory that the plug-in calls "packed input" or "packed filters" has that tag; all remaining memory
 * (allocated memory and local arrays) is the workspace, CONV_IM2COL, whose pages lie in the order of the first
 * accesses. Marks tell the phase; without marks, the code's stores (stream.h). Equal plans and equal plug-ins give equal
 * accesses. Returns 0, or with one line in why: -ENOTSUP if the plug-in refuses the layer, or does not end; -ENODATA if
 * the plug-in does something unseen; -EINTR; -ECANCELED; -ENOMEM.
 */
int exp_plugin_record(const struct exp_recording *r, struct sim_sink *sink, struct exp_why *why);

/*
 * Records a plan of a plug-in. Returns as exp_plugin_record, but -ENOTSUP for -ENODATA, with *why, which lives as long
 * as the plug-in. Thread-safe.
 */
int exp_plugin_replay(const struct conv_plan *plan, const struct conv_binding *bind,
                      bool (*is_stopped)(const void *ctx), const void *ctx, const struct exp_plugin_clock *clock,
                      struct sim_sink *sink, const char **why);

#endif
