#include "experiments/base/exp_guard.h"

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct exp_guard *youngest;

int exp_guard_begin(struct exp_guard *g, int (*begin)(void *arg), void *arg)
{
    int err;

    pthread_mutex_lock(&lock);
    err = begin ? begin(arg) : 0;
    if (!err) {
        g->next = youngest;
        youngest = g;
    }
    pthread_mutex_unlock(&lock);
    return err;
}

static void take_off(const struct exp_guard *g)
{
    for (struct exp_guard **at = &youngest; *at; at = &(*at)->next) {
        if (*at == g) {
            *at = g->next;
            return;
        }
    }
}

int exp_guard_end(struct exp_guard *g, int (*end)(void *arg), void *arg)
{
    int err;

    pthread_mutex_lock(&lock);
    err = end ? end(arg) : 0;
    if (!err)
        take_off(g);
    pthread_mutex_unlock(&lock);
    return err;
}

void exp_guard_undo_all(void)
{
    pthread_mutex_lock(&lock);
    for (struct exp_guard *g = youngest; g; g = g->next)
        g->undo(g->ctx);
}
