#include "kernels/wisdom/choice.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/backend/backend.h"
#include "kernels/nest/nest.h"
#include "kernels/shape/sizes.h"

enum {
    ROUNDS = 3,
    MAX_SETS = 64,         /* of tensors, used in turns */
    MAX_BYTES = 512 << 20, /* of all sets */
};
static const double slower = 1.25;       /* than the best in the first round: not tried again */
static const double gain = 1 + 1.0 / 40; /* the least gain of a choice over the first choice */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Tensors in several sets: twice L2 together, and two at least. */
struct sets {
    char *memory;
    size_t n, bytes_each;
};

static int allocate(struct sets *s, const struct csa_caches *caches, size_t arena_bytes)
{
    void *memory;

    s->bytes_each = round_up(arena_bytes + CONV_PAGE_BYTES, CONV_PAGE_BYTES);
    s->n = min_size(MAX_SETS, (size_t)(2 * caches->l2_bytes) / s->bytes_each + 2);
    s->n = max_size(1, min_size(s->n, MAX_BYTES / s->bytes_each));
    if (posix_memalign(&memory, CONV_PAGE_BYTES, s->n * s->bytes_each))
        return -ENOMEM;
    memset(memory, 0, s->n * s->bytes_each);
    s->memory = memory;
    return 0;
}

/* Returns the fastest of a run on each set, but for the first, in seconds. */
static double time_plan(const struct conv_plan *plan, const struct sets *s)
{
    double fastest = (double)INFINITY;

    for (size_t i = 0; i <= s->n; i++) {
        const struct conv_binding bind = conv_bind(&plan->layout, (uintptr_t)s->memory + i % s->n * s->bytes_each);
        struct conv_exec exec;
        double start;

        conv_exec_init(&exec, plan, &bind);
        start = now();
        conv_nest_run(plan, &exec.base);
        if (i)
            fastest = fmin(fastest, now() - start);
    }
    return fastest;
}

/* Makes the plans. Returns the bytes of the largest plan, or 0 if a plan cannot be made. */
static size_t plan_all(const struct conv_problem *p, const struct conv_choice *choice, size_t n, struct conv_plan *plan)
{
    size_t bytes = 1;

    for (size_t i = 0; i < n; i++) {
        if (conv_choice_plan(&choice[i], p, false, &plan[i]))
            return 0;
        bytes = max_size(bytes, plan[i].layout.arena_bytes);
    }
    return bytes;
}

static void time_all(const struct conv_plan *plan, size_t n, const struct sets *s, double *fastest)
{
    double best = (double)INFINITY;

    for (size_t i = 0; i < n; i++)
        fastest[i] = (double)INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < n; i++) {
            if (round && fastest[i] > best * slower)
                continue;
            fastest[i] = fmin(fastest[i], time_plan(&plan[i], s));
            best = fmin(best, fastest[i]);
        }
    }
}

int conv_choice_measure(const struct conv_problem *p, const struct csa_caches *caches, const struct conv_choice *choice,
                        size_t n, struct conv_choice *best)
{
    struct conv_plan *plan = calloc(n, sizeof *plan);
    double *fastest = calloc(n, sizeof *fastest);
    size_t bytes = plan && fastest ? plan_all(p, choice, n, plan) : 0, winner = 0;
    struct sets s;
    int err = bytes ? allocate(&s, caches, bytes) : -ENOMEM;

    assert(n >= 1);
    if (!err) {
        time_all(plan, n, &s, fastest);
        for (size_t i = 1; i < n; i++)
            winner = fastest[i] < fastest[winner] ? i : winner;
        *best = choice[fastest[winner] * gain < fastest[0] ? winner : 0];
        free(s.memory);
    }
    free(fastest);
    free(plan);
    return err;
}
