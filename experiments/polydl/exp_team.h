/* Threads that start together and wait for each other, without going to sleep between: for work of microseconds. */
#ifndef EXPERIMENTS_EXP_TEAM_H
#define EXPERIMENTS_EXP_TEAM_H

#include <stddef.h>

struct exp_team;

/* Starts n_threads - 1 threads; the caller is the first one. Returns 0, -ENOMEM or -EAGAIN. */
int exp_team_new(struct exp_team **t, size_t n_threads);
void exp_team_free(struct exp_team *t); /* NULL is fine */

/* Has every thread call work(ctx, its number, their number); returns when all have. */
void exp_team_run(struct exp_team *t, void (*work)(void *ctx, size_t thread, size_t n_threads), void *ctx);

#endif
