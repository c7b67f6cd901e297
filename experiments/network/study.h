/*
 * The study of a network: plans by several algorithms and in several ways, times, and simulates in sequence. tables.c,
 * verdict.c and trace.c read the results.
 */
#ifndef EXPERIMENTS_NETWORK_STUDY_H
#define EXPERIMENTS_NETWORK_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "counters/perf/ctr_source.h"
#include "experiments/base/error.h"
#include "experiments/base/outdir.h"
#include "experiments/base/progress.h"
#include "experiments/base/record.h"
#include "experiments/base/screen.h"
#include "experiments/base/stats.h"
#include "experiments/base/value.h"
#include "experiments/bench/case/algo.h"
#include "experiments/bench/case/estimate.h"
#include "experiments/network/net.h"
#include "experiments/network/peer_process.h"
#include "experiments/network/sequence.h"
#include "experiments/network/stream.h"

/* The ways of planning a network. */
enum net_variant {
    NET_AS_ASKED,
    NET_OTHER_FUSION, /* unfused, or fused if the request was unfused */
    NET_NO_REUSE,     /* every tensor has memory of its own */
    NET_DEPTH_FIRST,
    NET_WIDTH_FIRST,
    NET_N_VARIANTS
};

/* How much is simulated. */
enum net_scope {
    NET_SCOPE_ALL,      /* every variant in sequence, and the requested variant step by step */
    NET_SCOPE_SEQUENCE, /* the requested variant, in sequence */
    NET_SCOPE_NONE,
};

/* The parts of a machine in a simulation. */
enum net_view { NET_CACHES_ALONE, NET_AS_IT_IS, NET_N_VIEWS };

const char *net_view_name(enum net_view v);

/* A variant: a network by an algorithm, planned in a certain way. */
struct net_simulated {
    struct exp_why missing; /* "": simulated */
    struct onnx_graph reordered;
    bool is_reordered, is_fused;
    struct net *net; /* NULL: the variant cannot be planned */
    struct net_stream stream;
    struct exp_steps steps[NET_N_VIEWS];
    struct exp_sequence in_sequence[NET_N_VIEWS]; /* counts NULL: not simulated in this view */
    struct exp_sequence alone[NET_N_VIEWS];
};

/* The rounds of a network by an algorithm. */
struct net_timed {
    struct exp_why missing;       /* "": timed */
    struct net *net;              /* with the requested threads; maybe the simulated network */
    uint64_t *whole_ns, *step_ns; /* [n_rounds]; [n_rounds][n_steps] */
    size_t n_rounds;
    void **kept; /* outputs of the checked run; every timed run must make equal outputs */
};

enum { NET_N_COUNTED = 3 };

extern const char *const net_counted_names[NET_N_COUNTED]; /* of quantities (counters/group/ctr_quantity.h) */

/* The counters' counts of each step. */
struct net_counted {
    struct exp_why missing; /* "": counted */
    double *value;          /* [n_steps][NET_N_COUNTED]; NaN: not counted */
};

struct net_by_algo {
    const struct exp_algo *algo;
    struct net_simulated variant[NET_N_VARIANTS];
    struct net_timed timed;
    struct net_counted counted;
};

/* Another runtime, timed in turns with the study's networks. */
struct net_peer_timed {
    char name[64];          /* "": nobody asked for a runtime */
    struct exp_why missing; /* "": the runtime was timed */
    struct net_peer_found found;
    bool is_compared; /* found.distance is known: between the runtimes, not fused */
    uint64_t *whole_ns;
    size_t n_rounds;
};

struct net_study {
    const struct onnx_graph *graph;
    const struct exp_setup *setup;
    const char *name;
    bool fuses;
    enum net_scope scope;
    unsigned n_threads;
    uint64_t (*now_ns)(void); /* the clock of timed runs */
    size_t n_algos;
    struct net_by_algo *by; /* Base first, if requested */
    size_t n_views;         /* 1: the machine has caches alone */
    struct net_peer_timed peer;
    const char *clock;
    enum exp_end end;
    size_t n_rounds;
    const char *why_elsewhere; /* why the times are not the simulated machine's; NULL: the machine's */
    char checked[512];         /* checked steps and values, in a sentence */
    char types[256];           /* onnx_say_types of the network */
    char agreement[768];       /* distances from test data and from ONNX Runtime, in sentences */
};

/* Plans all variants of all algorithms. Returns 0 or -errno with a line in why. To be released in any case. */
int net_study_plan(struct net_study *s, unsigned algos, struct exp_why *why);
void net_study_release(struct net_study *s);

/* Simulates all variants, side by side. Returns as exp_sequence_run. */
int net_study_simulate(struct net_study *s, unsigned n_threads, struct exp_progress *progress, struct exp_why *why);
double net_study_seconds(const struct net_study *s); /* announced to exp_progress */

/* The machine of a view. */
const struct sim_machine *net_study_machine(const struct net_study *s, enum net_view v);

/* The view of a machine's results: as it is, if prefetchers and the like were simulated; else caches alone. */
enum net_view net_study_view(const struct net_study *s, const struct net_simulated *x);

/*
 * Returns the algorithm to show where there is room for one algorithm: the last simulated algorithm, else the last
 * algorithm.
 */
const struct net_by_algo *net_study_shown(const struct net_study *s);

/* Returns Base; NULL: not requested. */
const struct net_by_algo *net_study_base(const struct net_study *s);

/* ---- numbers ---- */

/* Selects steps: every set member must agree. A NULL pointer selects all steps. */
struct net_which {
    bool only_convolutions;
    const char *op;              /* NULL: any operator */
    const struct net_step *step; /* NULL: any step */
};

bool net_is_asked(const struct net_step *s, const struct net_which *w);

/* Tells whether a step is the first of its operator. */
bool net_is_first_of_op(const struct net *net, size_t step);

#define NET_NOT_ALONE "not simulated step by step"

const char *net_level_name(const struct net_study *s, size_t level);

/* Times of the rounds. */
struct net_times {
    struct value low_mean, fastest, median; /* ns, as in struct exp_times */
};

struct net_times net_peer_times_of(const struct net_peer_timed *t);

/* How many times as fast as Base: sums over the steps asked about. All NaN if there are not times of both. */
struct exp_ratio net_speedup(const struct net_study *s, const struct net_by_algo *by, const struct net_which *w);

/* A network's numbers in the paper's Table 2. */
struct net_published {
    const char *computer; /* the paper's: "POWER10" or "Xeon" */
    struct value speedup, conv_speedup, conv_share;
};

/* Takes the numbers of the machine simulated; of the Xeon for machines outside of the paper. Returns 0 or -errno. */
int net_published_of(const struct net_study *s, struct net_published *p, struct exp_why *why);

/* ---- timing (timing.c) ---- */

struct net_timing {
    struct exp_rounds rounds;
    uint64_t (*now_ns)(void); /* the study's */
    uint64_t seed;
    bool checks;
    const struct onnx_graph *given; /* inputs and expected outputs (onnx_read_tensors); NULL: none */
    const char *peer;               /* path of ONNX Runtime; "": the usual places; EXP_NO_FILE: without */
    unsigned peer_limit_s;          /* as in net_peer_ask */
};

/*
 * Loads and checks every network with code for this CPU, and times the networks in turns. Compares the outputs of each
 * timed run with the checked run's. Returns 0, -EINTR, -EILSEQ or -errno.
 */
int net_study_time(struct net_study *s, const struct net_timing *o, struct exp_progress *progress, struct exp_why *why);

/* ---- counting (counting.c) ---- */

struct net_counting {
    const struct ctr_source *source; /* NULL: this computer's counters */
    const char *groups_dir, *uarch;  /* NULL: this computer's */
};

/* Counts the steps of every timed network. Returns 0, or as net_run_step. */
int net_study_count(struct net_study *s, const struct net_counting *o, struct exp_why *why);

/* ---- tables, verdict, page, trace ---- */

extern const struct rec_table net_network_table, net_nodes_table, net_sequence_table, net_variants_table,
    net_kinds_table, net_skipped_table, net_memory_table;

/* Writes all tables. Returns 0 or -errno with a line in why. */
int net_tables_write(const struct net_study *s, const struct exp_outdir *dir, const char *what, struct exp_why *why);

int net_verdict_print(const struct net_study *s, FILE *out);

/* Names the step to optimise first, in a sentence or two. */
void net_headline(const struct net_study *s, char *text, size_t bytes);

/* Fills the screen but for its end. */
void net_screen(const struct net_study *s, struct exp_screen *screen);

/* Writes trace.json (show/ways_out.h describes the file). Returns 0 or -errno with a line in why. */
int net_trace_write(const struct net_study *s, const struct exp_outdir *dir, const char *commit, struct exp_why *why);

#endif
