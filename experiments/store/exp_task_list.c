#include "experiments/store/exp_task_list.h"

#include <errno.h>
#include <stdlib.h>

int exp_task_list_init(struct exp_task_list *l, size_t most)
{
    l->n = 0;
    l->task = calloc(most + 1, sizeof *l->task);
    l->first = calloc(most + 1, sizeof *l->first);
    return l->task && l->first ? 0 : -ENOMEM;
}

int exp_task_list_add(struct exp_task_list *l, const struct exp_task *t)
{
    l->task[l->n++] = *t;
    l->first[l->n] = l->n;
    return t->name && t->what ? 0 : -ENOMEM;
}

void exp_task_list_release(struct exp_task_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free((char *)l->task[i].name);
        free((char *)l->task[i].what);
    }
    free(l->task);
    free(l->first);
    *l = (struct exp_task_list){ 0 };
}
