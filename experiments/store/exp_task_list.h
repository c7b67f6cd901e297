/* A list of tasks, each a job of its own: what exp_tasks_run wants where no pass answers several. */
#ifndef EXPERIMENTS_EXP_TASK_LIST_H
#define EXPERIMENTS_EXP_TASK_LIST_H

#include <stddef.h>

#include "experiments/store/exp_store.h"

struct exp_task_list {
    struct exp_task *task; /* [n] */
    size_t *first;         /* [n + 1], of struct exp_tasks */
    size_t n;
};

/* Makes an empty list with room for so many. Returns 0 or -ENOMEM. */
int exp_task_list_init(struct exp_task_list *l, size_t most);

/* Adds a task; name and what, from malloc, are the list's then. Returns 0, or -ENOMEM if one of them is NULL. */
int exp_task_list_add(struct exp_task_list *l, const struct exp_task *t);

void exp_task_list_release(struct exp_task_list *l); /* a half-made one is fine */

#endif
