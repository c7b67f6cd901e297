/*
 * Contenders that take turns (exp_bench.h), and more rounds for those that lead.
 *
 * The fastest of a few rounds is noisy, and the noise matters only among contenders that are about as fast as the
 * fastest one. So all of them run some rounds first. Then the leaders run on, two rounds at a time, until the clock
 * repeats itself:
 *
 *   a leader                  its fastest round has EXP_TURNS_LEAD of the speed of the fastest round of all
 *   the clock repeats itself  every other round is a half of the rounds. What either half finds fastest has
 *                             EXP_TURNS_REPEAT of the best speed by the other half. Leaders have EXP_TURNS_LEAST rounds
 *                             at least
 *
 * A contender that falls behind runs no more, and a single leader needs no telling apart.
 */
#ifndef EXPERIMENTS_EXP_TURNS_H
#define EXPERIMENTS_EXP_TURNS_H

#include "experiments/base/exp_bench.h"

#define EXP_TURNS_LEAD 0.9
#define EXP_TURNS_REPEAT 0.99

enum { EXP_TURNS_LEAST = 8 };

struct exp_turns {
    struct exp_bench protocol; /* of the first rounds */
    size_t n_ranked;           /* the first so many contenders may lead */
    size_t most;               /* rounds of a contender in all, at least those of the protocol */
    uint64_t refine_ns;        /* leaders begin no more rounds once this much time has gone; 0: nobody runs on */
};

/*
 * Runs n contenders. sample_ns[i * most + k] gets the time of contender i in its round k, and n_rounds[i] how many it
 * has. Returns as exp_bench_run, or -ENOMEM.
 */
int exp_turns_run(const struct exp_turns *t, const struct exp_contender *contender, size_t n, uint64_t *sample_ns,
                  size_t *n_rounds);

#endif
