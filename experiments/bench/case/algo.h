/*
 * The algorithms under test, as a table: how each is planned for a machine, and how it is run here.
 */
#ifndef EXPERIMENTS_BENCH_CASE_ALGO_H
#define EXPERIMENTS_BENCH_CASE_ALGO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/bench/case/stack.h"
#include "kernels/blas/blas.h"
#include "kernels/ukr/f32_openblas.h"
#include "kernels/emit/layer_plans.h"
#include "kernels/plan/plan.h"
#include "kernels/wisdom/wisdom.h"
#include "sim/machine/machine.h"

/* The code of a plan, compiled from text (experiments/emit); filters are packed already if the plan wants them so. */
typedef void (*exp_code_fn)(const float *input, const float *filter, float *packed_filter, float *packed_input,
                            float *output);

/* Says who compiles generated code. */
struct exp_coder {
    const char *why_not; /* NULL: it can */
    /* Finds the plan's code; the first time, makes it. Thread-safe. Returns 0 or -errno. */
    int (*find)(struct exp_coder *self, const struct conv_plan *plan, exp_code_fn *code);
};

/* Holds what all layers of an experiment share. */
struct exp_setup {
    struct sim_machine machine;    /* the simulated one */
    struct sim_machine classified; /* the same; classifies the misses of every level if classifies_misses */
    struct sim_machine alone;      /* its caches alone, or itself if it is a plain one */
    struct csa_caches caches;      /* the same, as CSA sees it */
    const struct conv_ukr *ukr;    /* SConv's micro-kernel; may be openblas_ukr's */
    /* By the user or the machine; otherwise tuned SConv chooses per layer, among those of ukr's instruction set. */
    bool is_ukr_given;
    const char *ukr_from, *core_from;  /* who chose the two, a clause for exp_setup_describe */
    const struct conv_gemm_core *core; /* the OpenBLAS core that is replayed; NULL if its blocking is not on record */
    char why_no_core[160];
    struct conv_blas blas; /* the library that is run; handle NULL if it is not there */
    char why_no_blas[256];
    struct conv_blas_ukr openblas_ukr; /* the replayed core's own */
    char why_no_openblas_ukr[256];     /* why that cannot be run */
    const char *stack_path;            /* table of recorded stacks; NULL: of this build's code */
    struct exp_stacks stacks;          /* empty where the machine's file asks for none, or there is none: */
    char why_no_stacks[256];           /* for a reason that is no error; "" otherwise */
    char why_no_cycles[256];           /* why the simulated core has no clock; "": it has one */
    double ran_at_ghz;                 /* the core's clock while cases were timed; 0: the machine's file says it */
    struct conv_layer_plans plans;     /* those of PLAN; exp_setup_release gives them back */
    struct conv_wisdom *wisdom;        /* tuned plans that were found by timing; likewise; NULL: none */
    bool measures;                     /* times those that are not known */
    struct exp_coder *coder;           /* NULL: this program compiles no plans */
    bool packs_filters;                /* SConv packs its filters at run time */
    bool classifies_misses;            /* what the machine file says apart: see replay.h */
};

/* Says when an algorithm runs, as algos.def, which has their records, explains. */
enum exp_algo_when { EXP_ALGO_DEFAULT, EXP_ALGO_MEMBER, EXP_ALGO_ON_REQUEST };

enum {
#define ALGO(...) +1
#define GROUP(...)
    EXP_N_ALGOS = 0
#include "experiments/bench/case/algos.def"
    ,
    EXP_MAX_PLUGINS = 16,
    EXP_MAX_ALGOS = EXP_N_ALGOS + EXP_MAX_PLUGINS,
    EXP_MAX_ALGO_RECORDS = EXP_MAX_ALGOS + 1, /* and the group's */
};

/* Why a plug-in loses a layer: the plug-in refuses the shape, its process ended, or the plug-in broke a rule. */
enum exp_plugin_fault { EXP_PLUGIN_REFUSES, EXP_PLUGIN_ENDED, EXP_PLUGIN_IS_WRONG };

struct exp_algo {
    const char *name; /* as in ALGO= and in CSV files */
    enum exp_algo_when when;
    const char *title, *label, *colour; /* in figures; for people; "#rrggbb" */
    const char *members;                /* a group's: what its name stands for; it has nothing of what follows */
    bool is_sconv;                      /* the paper's, or another */
    enum csa_schedule schedule;         /* of a member; others have it in each layer's plan */
    bool has_openblas_ukr;              /* and not SConv's micro-kernel */
    bool packs_one_by_one;              /* windows, without vectors */
    struct conv_sconv_options options;  /* of its plans; filters are packed at run time also where the setup asks */

    /*
     * Plans a layer; tiling is CSA's analysis of both schedules. Returns 0; -EOVERFLOW; -ENOENT: PLAN has none for it.
     */
    int (*plan)(const struct exp_setup *s, const struct conv_problem *p,
                const struct csa_tiling tiling[CSA_N_SCHEDULES], const struct exp_algo *self, struct conv_plan *plan);
    /* Runs a plan on tensors in memory, filters already packed if the plan wants them so. Returns 0 or -errno. */
    int (*run)(const struct exp_setup *s, const struct conv_plan *plan, const struct conv_binding *bind);
    /* Say why it cannot be run or replayed here, or NULL. */
    const char *(*why_not_run)(const struct exp_setup *s);
    const char *(*why_not_replay)(const struct exp_setup *s);
    bool is_generated;            /* setup.coder compiles its plans */
    const char *why_no_phases;    /* why it cannot be run step by step; NULL: it can */
    const char *why_not_observed; /* why its accesses are not observed, wherever it runs; NULL: they are */
    struct exp_plugin *plugin;    /* NULL: it is the bench's own (plugin.h) */
    const char *const *why_dead;  /* a plug-in's: points to why it runs no more, or to NULL */
};

/* EXP_N_ALGOS algorithms stand in algos.def; plug-ins come after them while the program runs. */
size_t exp_algo_count(void);
size_t exp_algo_record_count(void);
const struct exp_algo *exp_algo_at(size_t i);     /* i < exp_algo_count() */
const struct exp_algo *exp_algo_record(size_t i); /* i < exp_algo_record_count(): groups are among them */

/*
 * Adds an algorithm to the program's list, which keeps a copy: before other threads start. Without a colour it gets
 * one. Returns the copy; NULL if there are EXP_MAX_PLUGINS of them.
 */
const struct exp_algo *exp_algo_add(const struct exp_algo *a);
/* Adds what a table of results names and this program does not know, to be shown; unless there are too many. */
void exp_algo_meet(const char *name);
unsigned exp_algo_bit(const struct exp_algo *a); /* that exp_algo_select has for it; 0: it is a group */

/* Says why it does not run here, or NULL. */
const char *exp_algo_why_not_run(const struct exp_algo *a, const struct exp_setup *s);

bool exp_algos_need_coder(unsigned algos);              /* bits: some are generated */
const struct exp_algo *exp_algo_base(void);             /* what others are compared with: the first */
const struct exp_algo *exp_algo_chosen(void);           /* the group: of its members, what CSA chose */
#define EXP_ALGO_NOTED "sconv_plan"                     /* does what the plans of PLAN= say */
const struct exp_algo *exp_algo_find(const char *name); /* a record, or NULL */

/* Appends what ALGO= knows, as a sentence has it, or what it is by default, as ALGO= takes it. */
void exp_algo_say_known(char *text, size_t bytes);
void exp_algo_say_default(char *text, size_t bytes);

/* Prints a line "algorithm<TAB>name" for each name that ALGO= knows. */
void exp_algo_tell(FILE *out);

/*
 * Reads a comma-separated list of names (a group's stands for its members) into a bit per algorithm; NULL or "" are the
 * default ones. Returns 0, or -EINVAL with one line in why.
 */
int exp_algo_select(const char *list, unsigned *selected, struct exp_why *why);

/*
 * Chooses micro-kernel and OpenBLAS core for the machine in s (already set, like packs_filters, classifies_misses and
 * stack_path),
 * loads OpenBLAS, fills the rest of s.
 * ukr_name (a micro-kernel, an instruction set as cpu_isa_find knows it, or "openblas": that of the OpenBLAS core) and
 * core_name override the machine's hints; NULL or "" to leave the choice. A missing library is not an error, only a
 * reason. Returns 0, or -EINVAL with one line in why for a name that does not exist. s must stay where it is.
 */
int exp_setup_init(struct exp_setup *s, const char *ukr_name, const char *core_name, struct exp_why *why);

/*
 * Lets tuned SConv take plans that were found by timing (kernels/wisdom/wisdom.h), from the file `path` if that is not
 * "", and times those that are missing if measures is set. Returns 0, or what conv_wisdom_start does.
 */
int exp_setup_wisdom(struct exp_setup *s, bool measures, const char *path, struct exp_why *why);
const struct exp_algo *exp_algo_noted(void); /* sconv_plan */
void exp_setup_release(struct exp_setup *s);

/*
 * Writes lines that say which kernels of the selected algorithms are replayed and who chose them: a machine's file may
 * ask for other kernels than this computer runs.
 */
void exp_setup_describe(const struct exp_setup *s, unsigned selected, FILE *out);

/* Tells whether SConv's micro-kernel is OpenBLAS's own. */
bool exp_setup_uses_openblas_ukr(const struct exp_setup *s);

#endif
