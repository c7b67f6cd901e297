/* A plug-in as the program has it: the record and the tasks (plugin.c), the list of plug-ins (list.c). */
#ifndef EXPERIMENTS_BENCH_PLUGIN_PROGRAM_H
#define EXPERIMENTS_BENCH_PLUGIN_PROGRAM_H

#include <pthread.h>

#include "experiments/bench/plugin/process.h"

/* The program that records the plug-in's accesses: made when first needed. */
struct plugin_recorder {
    const struct exp_recorder_kind *asked; /* NULL: no request yet */
    const struct exp_recorder_kind
        *kind;     /* what there is: an emulator, where code that records itself cannot be made */
    char *program; /* NULL: there is no program */
    struct exp_why why;
};

enum { PLUGIN_MAX_KINDS = 4 };

struct exp_plugin {
    struct exp_plugin *next;
    char *name, *title, *path, *symbol, *flags, *user_plan, *object;
    const char *observer;
    bool calls_libraries; /* or is a library: the C file is only a part of the code */
    uint64_t hash;        /* of the object */
    struct plugin_recorder recorder[PLUGIN_MAX_KINDS];
    const char *why_dead;  /* NULL: the plug-in runs */
    const char *why_ended; /* how the last process ended; valid while no process runs */
    const char *why_hung;  /* reason of the first hang */
    unsigned n_hangs;      /* number of hangs */
    pthread_mutex_t lock;
    struct plugin_channel channel;
    unsigned limit_s, threads;
    double run_s; /* additional limit for a run of the chosen layer */
    char **kept;  /* [n_kept] reasons */
    size_t n_kept;
};

/* Has the process load the object. Returns NULL, or why loading failed. */
const char *plugin_load(struct exp_plugin *p);

/* Ends a plug-in for good, and keeps the reason. */
const char *plugin_bury(struct exp_plugin *p, const char *reason);

/* Returns the plug-in as an algorithm. */
struct exp_algo plugin_algo(struct exp_plugin *p);

#endif
