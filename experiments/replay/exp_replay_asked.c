/* Replaying as the options of a program say: part of exp_replay.h. */
#include "experiments/replay/exp_replay.h"
#include "experiments/setup/exp_main.h"

int exp_replay_as_asked(struct exp_experiment *e, const struct exp_options *o, struct exp_progress *progress,
                        struct exp_tasks_counts *counts, struct exp_why *why)
{
    struct exp_tasks_counts now = { 0 };
    struct exp_replay_batch b = { .experiment = &e,
                                  .n = 1,
                                  .cache = (enum exp_cache_state)o->cache,
                                  .n_threads = o->jobs,
                                  .progress = progress,
                                  .counts = &now };
    int err = 0;

    if (*o->store && exp_replay_is_worth_keeping(e->setup))
        err = exp_main_store(&b.store, o, why);
    if (!err)
        err = exp_replay_batch(&b, why);
    exp_store_close(b.store);
    counts->n_tasks += now.n_tasks;
    counts->n_stored += now.n_stored;
    return err;
}

void exp_replay_say_kept(const struct exp_options *o, const struct exp_tasks_counts *counts, FILE *out)
{
    if (counts->n_tasks)
        fprintf(out, "%zu of %zu simulations from the store (STORE=%s)\n", counts->n_stored, counts->n_tasks, o->store);
}
