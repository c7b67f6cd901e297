/* Threads that share out work, and stay between calls: they look for work for 0.1 ms at most, and then sleep. */
#ifndef KERNELS_TEAM_H
#define KERNELS_TEAM_H

#include "kernels/lib/sconv.h"

/* The work that is shared out: work(ctx, i) for each share i, each called once. */
struct conv_team_job {
    void (*work)(void *ctx, unsigned share);
    void *ctx;
};

/*
 * Does n_shares <= SCONV_MAX_THREADS shares; returns when all are done. Thread i begins with share i, and then takes
 * shares that no thread has begun: the caller waits only for threads that have begun a share. While another call uses
 * the team, and in a child process, the caller does all shares alone, in order. team NULL: a team of n_shares threads,
 * for this call.
 */
void conv_team_run(struct sconv_team *team, unsigned n_shares, const struct conv_team_job *job);

#endif
