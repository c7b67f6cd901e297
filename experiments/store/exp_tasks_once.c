#define _GNU_SOURCE /* sched_getcpu */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/store/exp_tasks.h"

int exp_tasks_find(struct exp_store *s, const struct exp_task *task, struct exp_result *r, struct exp_why *why)
{
    int64_t id;
    int err = s ? exp_store_find(s, task, &id, why) : -ENOENT;

    *r = (struct exp_result){ 0 };
    if (!err)
        err = exp_store_read(s, id, task, r, why);
    if (err != -EBADMSG)
        return err;
    fprintf(stderr, "%s; it is made again\n", why->text);
    err = exp_store_discard(s, id, why);
    return err ? err : -ENOENT;
}

int exp_tasks_keep(struct exp_store *s, const struct exp_task *task, const struct exp_result *r, double seconds,
                   struct exp_why *why)
{
    struct exp_outcome o = { .task = task, .result = *r, .seconds = seconds, .cpu = sched_getcpu() };
    int err = r->err;

    if (!s)
        return 0;
    if (err)
        return exp_fail(why, err, "%s: its result cannot be kept: %s", task->name, strerror(-err));
    err = exp_store_add(s, task, 1, &o.id, why);
    return err ? err : exp_store_finish(s, &o, 1, why);
}
