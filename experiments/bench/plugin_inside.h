/*
 * The plug-in's process from inside (plugin_process.c), and what it looks at when a layer is checked (plugin_check.c).
 */
#ifndef EXPERIMENTS_BENCH_PLUGIN_INSIDE_H
#define EXPERIMENTS_BENCH_PLUGIN_INSIDE_H

#include <signal.h>

#include "experiments/bench/plugin_process.h"
#include "kernels/plugin/conv_plugin.h"

/* Some elements of an output that was compared with plain loops, evenly spaced: timed runs must compute them, too. */
struct plugin_known {
    struct conv_problem problem;
    size_t step, n;
    float largest;
    float *element; /* [n] */
};

/* What a process has that a plug-in could change. */
struct plugin_belongings {
    size_t n_files, bytes, mapped; /* bytes: of malloc; mapped: of all memory */
    sigset_t blocked;
    struct sigaction crash;
};

/* One convolution, and what the plug-in has made of it. */
struct plugin_layer {
    struct conv_problem problem;
    struct conv_plugin_shape shape;
    void *state;
    bool is_open, has_run;
    struct exp_tensors tensors; /* while it is open */
};

struct plugin_inside {
    struct plugin_control *control;
    int fd;    /* of the lent tensors */
    pid_t pid; /* its own: what the plug-in forks has another one */
    const char *object, *symbol;
    struct plugin_belongings had;     /* before it loaded anything */
    struct conv_plugin record;        /* the plug-in's; of a function: what calls it */
    struct conv_plugin_layout layout; /* all NULL: it has none of its own */
    void (*function)(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out);
    /* lent tensors, for a moment */
    unsigned char *guarded; /* NULL: none are */
    size_t guarded_bytes;
    const float *at[3];
    struct plugin_place place[3];
    struct plugin_known *known; /* [n_known] layers that were checked */
    size_t n_known;
    struct plugin_layer checked, *open; /* [n_open] of timed runs */
    size_t n_open;
    struct plugin_layer *layer; /* one of those: that of plugin_get_ready, plugin_run and plugin_give_back */
    bool is_stepping;
    enum conv_plugin_phase phase; /* of a run step by step, since when */
    uint64_t since_ns;
    unsigned char *sweep; /* where memory cannot be flushed: twice the last level */
    size_t sweep_bytes;
};

/* Says to the program why something is not done. */
void plugin_say(struct plugin_inside *p, const char *text);

/*
 * Has the plug-in get ready for the layer; says why it did not. Then runs it, images converted before and behind it
 * where it has a layout of its own; gives back what it took.
 */
bool plugin_get_ready(struct plugin_inside *p, const float *filters);
uint64_t plugin_run(struct plugin_inside *p, const float *in, const float *filters, float *out); /* in ns */
void plugin_give_back(struct plugin_inside *p);

/*
 * Runs a layer that the program lent the tensors of, between pages that nobody may touch, several times: in an output
 * that is no numbers before, on another input whose result is known from the first one's, and again. Says what the
 * plug-in did that it must not. The first run's output is left for the program to compare with plain loops.
 */
void plugin_check(struct plugin_inside *p);

void plugin_look(struct plugin_belongings *b);

/* Says where in the lent tensors an address lies that must not be touched. */
void plugin_say_where(const struct plugin_inside *p, uintptr_t address);

/* Compares the layer's later output with what its check left known; says what differs. */
void plugin_compare_known(struct plugin_inside *p, const float *out);

#endif
