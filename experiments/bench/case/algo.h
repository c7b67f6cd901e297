/* The algorithms under test, as a table: how each algorithm is planned for a machine, and how it runs here. */
#ifndef EXPERIMENTS_BENCH_CASE_ALGO_H
#define EXPERIMENTS_BENCH_CASE_ALGO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/bench/case/sampled.h"
#include "experiments/bench/case/stack.h"
#include "kernels/blas/blas.h"
#include "kernels/ukr/f32_openblas.h"
#include "kernels/emit/layer_plans.h"
#include "kernels/plan/plan.h"
#include "kernels/wisdom/wisdom.h"
#include "sim/machine/machine.h"

/* A plan's code, compiled from text (experiments/emit); filters are packed before if the plan packs filters ahead. */
typedef void (*exp_code_fn)(const float *input, const float *filter, float *packed_filter, float *packed_input,
                            float *output);

/* The compiler of generated code. */
struct exp_coder {
    const char *why; /* NULL: the coder can compile */
    /* Finds the plan's code; compiles the code the first time. Thread-safe. Returns 0 or -errno. */
    int (*find)(struct exp_coder *self, const struct conv_plan *plan, exp_code_fn *code);
};

/* Data shared by all layers of an experiment. */
struct exp_setup {
    struct sim_machine machine;    /* the simulated machine */
    struct sim_machine classified; /* the machine, with classified misses if classifies_misses */
    struct sim_machine alone;      /* the machine's caches alone; the machine if its caches are plain */
    struct csa_caches caches;      /* the machine's caches, as CSA sees them */
    enum conv_type type;           /* of all layers */
    const struct conv_ukr *ukr;    /* SConv's micro-kernel, of this type; may be openblas_ukr's */
    /* Given by the user or the machine; otherwise tuned SConv chooses per layer within ukr's instruction set. */
    bool is_ukr_given;
    const char *ukr_from, *core_from;  /* who chose ukr and core, a clause for exp_setup_describe */
    const struct conv_gemm_core *core; /* the replayed OpenBLAS core; NULL if its blocking is not on record */
    char why_no_core[160];
    struct conv_blas blas; /* the library that runs; handle NULL without a library */
    char why_no_blas[256];
    struct conv_blas_ukr openblas_ukr; /* the replayed core's micro-kernel */
    char why_no_openblas_ukr[256];     /* why openblas_ukr cannot run */
    const char *stack_path;            /* table of recorded stacks; NULL: of this build's code */
    struct exp_stacks stacks;          /* empty where the machine's file asks for no stacks, or without a table */
    char why_no_stacks[256];           /* why stacks is empty, if not by an error; "" otherwise */
    char why_no_cycles[256];           /* why the simulated core has no clock; "": there is a clock */
    double ran_at_ghz;                 /* the core's clock while cases were timed; 0: see the machine's file */
    struct conv_layer_plans plans;     /* plans of PLAN; exp_setup_release releases plans and wisdom */
    struct conv_wisdom *wisdom;        /* tuned plans found by timing; NULL: none */
    bool measures;                     /* times tuned plans that are not known */
    struct exp_coder *coder;           /* NULL: this program compiles no plans */
    bool packs_filters;                /* SConv packs its filters at run time */
    bool classifies_misses;            /* apart from the machine's file: see replay.h */
    struct exp_sampling sampling;      /* of replays; zeroed: exact */
};

/* When an algorithm runs; algos.def explains. */
enum exp_algo_when { EXP_ALGO_DEFAULT, EXP_ALGO_MEMBER, EXP_ALGO_ON_REQUEST };

enum {
#define ALGO(...) +1
#define GROUP(...)
    EXP_N_ALGOS = 0
#include "experiments/bench/case/algos.def"
    ,
    EXP_MAX_PLUGINS = 16,
    EXP_MAX_ALGOS = EXP_N_ALGOS + EXP_MAX_PLUGINS,
    EXP_MAX_ALGO_RECORDS = EXP_MAX_ALGOS + 1, /* and the group */
};

/* Why a plug-in loses a layer: the plug-in refuses the shape, its process ended, or the plug-in broke a rule. */
enum exp_plugin_fault { EXP_PLUGIN_REFUSES, EXP_PLUGIN_ENDED, EXP_PLUGIN_IS_WRONG };

struct exp_algo {
    const char *name; /* as in ALGO= and in CSV files */
    enum exp_algo_when when;
    const char *title, *label, *colour; /* in figures; for people; "#rrggbb" */
    const char *members;                /* of a group: the meaning of its name; a group has no member below */
    bool is_sconv;                      /* the paper's SConv, or a variant */
    enum csa_schedule schedule;         /* of a member; otherwise in each layer's plan */
    bool has_openblas_ukr;              /* in place of SConv's micro-kernel */
    bool packs_one_by_one;              /* windows, without vectors */
    bool takes_types;                   /* computes every element type; else f32 alone */
    struct conv_sconv_options options;  /* of the plans; the setup, too, may ask for packing filters at run time */

    /*
     * Plans a layer; tiling is CSA's analysis of both schedules. Returns 0; -EOVERFLOW; -ENOENT: PLAN lacks the layer.
     */
    int (*plan)(const struct exp_setup *s, const struct conv_problem *p,
                const struct csa_tiling tiling[CSA_N_SCHEDULES], const struct exp_algo *self, struct conv_plan *plan);
    /* Runs a plan on tensors in memory, with packed filters if the plan packs ahead. Returns 0 or -errno. */
    int (*run)(const struct exp_setup *s, const struct conv_plan *plan, const struct conv_binding *bind);
    /* Say why the algorithm cannot run or be replayed here, or NULL. */
    const char *(*why_not_run)(const struct exp_setup *s);
    const char *(*why_not_replay)(const struct exp_setup *s);
    /* Says why the algorithm does not compute a layer, in whose plan another algorithm stands, or NULL; NULL: never. */
    const char *(*why_not_layer)(const struct exp_setup *s, const struct conv_problem *p);
    bool is_generated;            /* setup.coder compiles the plans */
    const char *why_no_phases;    /* why the run cannot be timed step by step; NULL: possible */
    const char *why_not_observed; /* why accesses are never observed; NULL: accesses are observed */
    struct exp_plugin *plugin;    /* NULL: the bench's own algorithm (plugin.h) */
    const char *const *why_dead;  /* of a plug-in: points to the reason of its end, or to NULL */
};

/* EXP_N_ALGOS algorithms stand in algos.def; plug-ins follow while the program runs. */
size_t exp_algo_count(void);
size_t exp_algo_record_count(void);
const struct exp_algo *exp_algo_at(size_t i);     /* i < exp_algo_count() */
const struct exp_algo *exp_algo_record(size_t i); /* i < exp_algo_record_count(): groups, too */

/*
 * Adds a copy of an algorithm to the program's list, before any thread starts. An algorithm without a colour gets a
 * colour. Returns the copy; NULL beyond EXP_MAX_PLUGINS.
 */
const struct exp_algo *exp_algo_add(const struct exp_algo *a);
/* Adds an unknown algorithm that a table of results names, for display; ignored when the list is full. */
void exp_algo_meet(const char *name);
unsigned exp_algo_bit(const struct exp_algo *a); /* the bit of exp_algo_select; 0: a group */

/* Say why the algorithm does not run, or is not replayed, here, or NULL: among others, if it lacks the setup's type. */
const char *exp_algo_why_not_run(const struct exp_algo *a, const struct exp_setup *s);
const char *exp_algo_why_not_replay(const struct exp_algo *a, const struct exp_setup *s);

/* Returns the algorithm whose plan stands for a layer: a itself; of an algorithm without the setup's type, another. */
const struct exp_algo *exp_algo_planned(const struct exp_algo *a, const struct exp_setup *s);

/* Returns the label; Base of other types than f32 multiplies without OpenBLAS. */
const char *exp_algo_label(const struct exp_algo *a, enum conv_type type);

/* Returns the default algorithms of a type, a bit each: for ALGO= without a value. */
unsigned exp_algos_of_type(enum conv_type type);

bool exp_algos_need_coder(unsigned algos);              /* bits: some are generated */
const struct exp_algo *exp_algo_base(void);             /* what others are compared with: the first */
const struct exp_algo *exp_algo_chosen(void);           /* the group: of its members, what CSA chose */
#define EXP_ALGO_NOTED "sconv_plan"                     /* does what the plans of PLAN= say */
const struct exp_algo *exp_algo_find(const char *name); /* a record, or NULL */

/* Append the names that ALGO= knows, as a sentence, and the default value of ALGO=. */
void exp_algo_say_known(char *text, size_t bytes);
void exp_algo_say_default(char *text, size_t bytes);

/* Prints a line "algorithm<TAB>name" for each name that ALGO= knows. */
void exp_algo_tell(FILE *out);

/*
 * Reads a comma-separated list of names (a group stands for its members) into a bit per algorithm; NULL or "": the
 * defaults. Returns 0, or -EINVAL with one line in why.
 */
int exp_algo_select(const char *list, unsigned *selected, struct exp_why *why);

/*
 * Chooses micro-kernel and OpenBLAS core for the machine in s (set before, like type, packs_filters, classifies_misses
 * and stack_path), loads OpenBLAS, fills the rest of s. ukr_name (a micro-kernel, an instruction set known to cpu_isa_find,
 * or "openblas": the OpenBLAS core's micro-kernel) and core_name override the machine's hints; NULL or "": no override.
 * A missing library is no error, only a reason. Returns 0, or -EINVAL with one line in why for an unknown name. s must
 * stay at its address.
 */
int exp_setup_init(struct exp_setup *s, const char *ukr_name, const char *core_name, struct exp_why *why);

/*
 * Lets tuned SConv take plans found by timing (kernels/wisdom/wisdom.h), from the file `path` unless "", and time
 * missing plans if measures is set. Returns 0, or the error of conv_wisdom_start.
 */
int exp_setup_wisdom(struct exp_setup *s, bool measures, const char *path, struct exp_why *why);
const struct exp_algo *exp_algo_noted(void); /* sconv_plan */
void exp_setup_release(struct exp_setup *s);

/*
 * Writes which kernels of the selected algorithms are replayed, and who chose the kernels: a machine's file may ask for
 * kernels that this computer does not run.
 */
void exp_setup_describe(const struct exp_setup *s, unsigned selected, FILE *out);

/* Tells whether SConv's micro-kernel is OpenBLAS's own. */
bool exp_setup_uses_openblas_ukr(const struct exp_setup *s);

#endif
