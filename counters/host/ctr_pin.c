#define _GNU_SOURCE
#include "counters/host/ctr_pin.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

enum { FIRST_CORES = 1024, MAX_CORES = 1 << 20 };

/*
 * Gets the thread's allowed cores, in a set large enough for this kernel; the caller calls CPU_FREE. Returns 0 or
 * -errno.
 */
static int get_allowed(cpu_set_t **allowed, size_t *n_cores)
{
    for (*n_cores = FIRST_CORES; *n_cores <= MAX_CORES; *n_cores *= 2) {
        *allowed = CPU_ALLOC(*n_cores);
        if (!*allowed)
            return -ENOMEM;
        if (!sched_getaffinity(0, CPU_ALLOC_SIZE(*n_cores), *allowed))
            return 0;
        CPU_FREE(*allowed);
        if (errno != EINVAL) /* EINVAL: the kernel knows more cores than fit */
            return -errno;
    }
    return -E2BIG;
}

static int pin_within(cpu_set_t *set, size_t n_cores, int core)
{
    size_t bytes = CPU_ALLOC_SIZE(n_cores);

    if (core < 0 || (size_t)core >= n_cores || !CPU_ISSET_S((size_t)core, bytes, set))
        return -EINVAL;
    CPU_ZERO_S(bytes, set);
    CPU_SET_S((size_t)core, bytes, set);
    return sched_setaffinity(0, bytes, set) ? -errno : 0;
}

int ctr_pin(int wanted, int *core, struct sim_why why)
{
    int target = wanted == -1 ? sched_getcpu() : wanted;
    cpu_set_t *set;
    size_t n_cores;
    int err = get_allowed(&set, &n_cores);

    if (!err) {
        err = pin_within(set, n_cores, target);
        CPU_FREE(set);
    }
    if (err == -EINVAL)
        return sim_fail(why, err, "this thread is not allowed on core %d", target);
    if (err)
        return sim_fail(why, err, "cannot pin to core %d: %s", target, strerror(-err));
    if (core)
        *core = target;
    return 0;
}

int ctr_pin_state(struct ctr_pin *p)
{
    cpu_set_t *set;
    size_t n_cores, first = 0;
    int err = get_allowed(&set, &n_cores);

    if (err)
        return err;
    while (first < n_cores && !CPU_ISSET_S(first, CPU_ALLOC_SIZE(n_cores), set))
        first++;
    *p = (struct ctr_pin){
        .core = sched_getcpu(),
        .n_allowed = (size_t)CPU_COUNT_S(CPU_ALLOC_SIZE(n_cores), set),
        .first_allowed = (int)first,
    };
    CPU_FREE(set);
    return p->core < 0 ? -ENOSYS : 0;
}
