/* The plug-in's process from inside (process.c), one layer (layer.c), and the checks of a layer (check.c). */
#ifndef EXPERIMENTS_BENCH_PLUGIN_INSIDE_H
#define EXPERIMENTS_BENCH_PLUGIN_INSIDE_H

#include <signal.h>
#include <sys/types.h>

#include "experiments/bench/plugin/process.h"
#include "kernels/plugin/conv_plugin.h"

/* The tensors of a convolution. */
struct plugin_images {
    const float *in, *filters, *out;
};

/* Belongings of a process that a plug-in could change. */
struct plugin_belongings {
    sigset_t blocked;
    struct sigaction crash;
};

/* One convolution, and the plug-in's state for the convolution. */
struct plugin_layer {
    struct conv_problem problem;
    struct conv_plugin_shape shape;
    void *state;
    bool is_open;
    struct exp_tensors tensors; /* while the layer is open */
    float *in, *filters;        /* while the layer is open: expected input and filters */
    uint64_t seed;              /* seed of the input (case.h) */
    bool is_changed;            /* some input lines were changed after renewal */
    bool is_unproven;           /* the output of the last run is not checked yet */
    uint64_t convert_ns[2];     /* shortest times of convert_in and convert_out */
    char *wrong;                /* first fault in a timed run, from malloc; NULL: none known */
};

struct plugin_inside {
    struct plugin_control *control;
    int fd;    /* of the lent tensors */
    pid_t pid; /* of this process: a fork of the plug-in has a different number */
    const char *object, *symbol;
    struct plugin_belongings had;     /* before the plug-in was loaded */
    struct conv_plugin record;        /* the plug-in's record; for a plain function, a record that calls the function */
    struct conv_plugin_layout layout; /* all NULL: the plug-in has no layout of its own */
    void (*function)(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out);
    /* lent tensors, during a check */
    unsigned char *guarded; /* NULL: no lent tensors */
    size_t guarded_bytes;
    const float *at[3];
    struct plugin_place place[3];
    uint64_t n_seeds;                   /* number of seeds used: every run has a new seed */
    struct plugin_layer checked, *open; /* [n_open] of timed runs */
    size_t n_open;
    unsigned char *network;    /* memory lent to layers of a network; NULL: none */
    struct plugin_layer *lent; /* [n_lent] layers of a network, with tensors in `network` */
    size_t n_lent;
    struct plugin_layer *layer; /* the layer of plugin_get_ready, plugin_run and plugin_give_back */
    bool is_stepping;
    enum conv_plugin_phase phase; /* of a run step by step, and its start */
    uint64_t since_ns;
    unsigned char *sweep; /* twice the last level, if memory cannot be flushed */
    size_t sweep_bytes;
};

/*
 * Report to the program why a task failed. plugin_say_wrong also says that the plug-in is wrong: none of the plug-in's
 * layers count.
 */
void plugin_say(struct plugin_inside *p, const char *text);
void plugin_say_wrong(struct plugin_inside *p, const char *text);

/* Asks the plug-in whether the plug-in accepts the shape of the task; reports a refusal. */
bool plugin_does_shape(struct plugin_inside *p);

/* Ends a phase of a run step by step, and begins the next phase. */
void plugin_change_phase(struct plugin_inside *p, int phase);

uint64_t plugin_own_now(const struct plugin_inside *p); /* by the clock of the task */

/* Convert the images before and after a run, for a plug-in with a layout of its own. */
void plugin_convert_in(const struct plugin_inside *p, const float *in);
void plugin_convert_out(const struct plugin_inside *p, float *out);

/* Runs the layer without conversions. Returns the time in ns. */
uint64_t plugin_run_alone(const struct plugin_inside *p, const float *in, const float *filters, float *out);

/*
 * Has the plug-in prepare for the layer, and reports a failure; runs the layer, with conversions of the images before
 * and after for a plug-in with a layout of its own; releases the plug-in's state.
 */
bool plugin_get_ready(struct plugin_inside *p, const float *filters);
uint64_t plugin_run(struct plugin_inside *p, const float *in, const float *filters, float *out); /* in ns */
void plugin_give_back(struct plugin_inside *p);

/*
 * Runs a layer several times on tensors lent by the program, between inaccessible pages: into an output of NaN, on
 * another input whose result is known from the first result, and again. Reports forbidden actions of the plug-in. The
 * first run's output stays for the program's comparison with plain loops.
 */
void plugin_check(struct plugin_inside *p);

void plugin_look(struct plugin_belongings *b);

/* Reports a forbidden access to an address in the lent tensors; access is "write to" or similar. */
void plugin_say_where(struct plugin_inside *p, uintptr_t address, const char *access);

/* Writes to text which threads, processes or signal handlers the plug-in left behind. Returns whether there are any. */
bool plugin_find_remains(const struct plugin_inside *p, char *text, size_t bytes);

/*
 * Checks all outputs of a convolution by weighted sums over planes, and some outputs by plain loops. Returns whether
 * they are right; else text names a wrong output. are_integers: exact sums of products are integers. The seed selects
 * weights and samples.
 */
bool plugin_prove(const struct conv_problem *p, const struct plugin_images *images, bool are_integers, uint64_t seed,
                  char *text, size_t bytes);

/* Ends this process, and writes coverage data where coverage is measured. */
void plugin_leave(int status) __attribute__((noreturn));

#endif
