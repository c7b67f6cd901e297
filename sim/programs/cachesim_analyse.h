/* The analyses without a machine: reuse distances, miss-ratio curves, working sets. */
#ifndef SIM_CACHESIM_ANALYSE_H
#define SIM_CACHESIM_ANALYSE_H

#include "sim/programs/cachesim_session.h"

/* Each prints to standard output. Returns 0, or -errno with s->why and s->exit_status set. */
int cachesim_analyse_reuse(struct cachesim_session *s);
int cachesim_analyse_mrc(struct cachesim_session *s);
int cachesim_analyse_wss(struct cachesim_session *s);

#endif
