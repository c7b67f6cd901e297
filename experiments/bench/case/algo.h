/* The algorithms under test, as a table: how each algorithm is planned for a machine, and how it runs here. */
#ifndef EXPERIMENTS_BENCH_CASE_ALGO_H
#define EXPERIMENTS_BENCH_CASE_ALGO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/bench/case/setup.h"
#include "kernels/plan/plan.h"

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
    bool is_of_types;                   /* runs by default where the type is not f32, and never with f32 */
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

const struct exp_algo *exp_algo_noted(void); /* sconv_plan */

/*
 * Writes which kernels of the selected algorithms are replayed, and who chose the kernels: a machine's file may ask for
 * kernels that this computer does not run.
 */
void exp_algos_describe(unsigned selected, const struct exp_setup *s, FILE *out);

#endif
