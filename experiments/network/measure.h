/* The numbers of a network, or of some of its steps: each number is one line of measures.def. */
#ifndef EXPERIMENTS_NETWORK_MEASURE_H
#define EXPERIMENTS_NETWORK_MEASURE_H

#include "experiments/base/measures.h"
#include "experiments/network/study.h"

/* NET_<name> for each line. */
enum net_measure {
#define MEASURE(name, ...) NET_##name,
#include "experiments/network/measures.def"
    NET_N_MEASURES
};

extern const struct measure_record net_measures[NET_N_MEASURES];

/* The subject of a number: an algorithm's variant of the network, or some of its steps. */
struct net_part {
    const struct net_study *s;
    const struct net_by_algo *by;
    enum net_variant variant;
    enum net_view view;
    size_t level;                      /* of lines: into this level; n_levels stands for lines read from memory */
    const struct net_which *which;     /* NULL: all steps */
    const struct net_published *paper; /* NULL: nobody asks for the paper's numbers */
};

/* Returns the part of the network as asked, in the view of net_study_view, with lines from memory. */
struct net_part net_part_of(const struct net_study *s, const struct net_by_algo *by, const struct net_which *w);

struct value net_measure(const struct net_part *x, enum net_measure m);

/* Names the largest part of the estimated cycles: "issue", a level or "memory". */
const char *net_waits_for(const struct net_part *x);

#endif
