/*
 * A cycle for everything. Operations keep their order, an operation per cycle if nothing is in the way. A load arrives
 * between the last reader of the old value of its registers and the first reader of the new value. A store reads an
 * accumulator between the last result of an output and the first result of the next output. The schedule repeats after
 * the initiation interval. Within the interval each unit and each part of memory has a single access per cycle; loads
 * together have two.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/papers/vyasa/compile/body.h"

enum { N_PARTS = 8, MOST_STEPS = 4000, MOST_SLACK = 96 };

struct table {
    struct vyasa_body *b;
    unsigned interval;
    uint8_t *loads;    /* [interval] how many are issued */
    uint8_t *parts;    /* [interval] bit of each part with a read */
    uint8_t *stores;   /* [interval] */
    unsigned *bubbles; /* [n_macs] idle cycles before each operation */
};

static unsigned slot(const struct table *t, long time)
{
    const long n = t->interval;

    return (unsigned)((time % n + n) % n);
}

static unsigned part_bit(const struct vyasa_body *b, const struct vyasa_load *l)
{
    const struct vyasa_value *v = &b->value[b->instance[l->instance].value];

    return 1U << (v->tensor == VYASA_OF_Z ? N_PARTS - 1 : v->part);
}

/* ---- windows ---- */

static long time_of(const struct table *t, long mac)
{
    const long n = (long)t->b->n_macs;
    const long wraps = mac < 0 ? (mac - n + 1) / n : mac / n;

    return t->b->mac[mac - wraps * n].time + wraps * (long)t->interval;
}

/* The cycles in which a load may be issued. */
static long earliest_load(const struct table *t, const struct vyasa_load *l)
{
    return time_of(t, l->after) + 1 - (long)t->b->params->load_latency;
}

static long latest_load(const struct table *t, const struct vyasa_load *l)
{
    return time_of(t, (long)l->due) - (long)t->b->params->load_latency;
}

/* ---- an attempt ---- */

static void set_times(struct table *t, bool is_spread)
{
    long last[AIE_N_ACC] = { 0 }, now = 0;

    for (size_t i = 0; i < t->b->n_macs; i++) {
        struct vyasa_mac *m = &t->b->mac[i];
        const long even = (long)(i * t->interval / t->b->n_macs);

        now += t->bubbles[i];
        if (is_spread && now < even)
            now = even;
        if (!m->is_first && now < last[m->acc] + (long)t->b->params->recurrence)
            now = last[m->acc] + (long)t->b->params->recurrence;
        last[m->acc] = m->time = now++;
    }
}

/* Finds the latest cycle for a load. */
static bool put_load(struct table *t, struct vyasa_load *l)
{
    const unsigned bit = part_bit(t->b, l);
    long time = latest_load(t, l), first = earliest_load(t, l);

    if (time - first >= (long)t->interval)
        first = time - (long)t->interval + 1;
    for (; time >= first; time--) {
        const unsigned s = slot(t, time);

        if (t->loads[s] < t->b->params->load_units && !(t->parts[s] & bit)) {
            t->loads[s]++;
            t->parts[s] |= (uint8_t)bit;
            l->time = time;
            return true;
        }
    }
    return false;
}

static bool put_store(struct table *t, struct vyasa_store *s)
{
    const long latency = (long)t->b->params->mac_latency, last = time_of(t, (long)s->next) + latency - 1;
    long time = t->b->mac[s->last].time + latency;

    for (; time <= last; time++) {
        if (!t->stores[slot(t, time)]) {
            t->stores[slot(t, time)] = 1;
            s->time = time;
            return true;
        }
    }
    return false;
}

struct ranked {
    long window;
    size_t load;
};

static int by_window(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    if (a->window != b->window)
        return a->window < b->window ? -1 : 1;
    return a->load < b->load ? -1 : 1;
}

/*
 * Puts all loads, the loads with the least freedom first. Returns the load without a cycle; n_loads: all have cycles.
 */
static size_t put_loads(struct table *t)
{
    struct vyasa_body *b = t->b;
    struct ranked *order = exp_new(b->n_loads, sizeof *order);
    size_t failed = b->n_loads;

    for (size_t i = 0; i < b->n_loads; i++)
        order[i] = (struct ranked){ latest_load(t, &b->load[i]) - earliest_load(t, &b->load[i]), i };
    qsort(order, b->n_loads, sizeof *order, by_window);
    for (size_t i = 0; i < b->n_loads && failed == b->n_loads; i++) {
        if (!put_load(t, &b->load[order[i].load]))
            failed = order[i].load;
    }
    free(order);
    return failed;
}

/* Returns the operation that has to wait, so that a store gets a cycle; n_macs: none, SIZE_MAX: a wait is no help. */
static size_t put_stores(struct table *t)
{
    for (size_t i = 0; i < t->b->n_stores; i++) {
        if (!put_store(t, &t->b->store[i]))
            return t->b->store[i].next < t->b->n_macs ? t->b->store[i].next : SIZE_MAX;
    }
    return t->b->n_macs;
}

/* Tries an interval. An operation whose load comes too late waits a cycle, as long as all fit into the interval. */
static bool try_interval(struct table *t, bool is_spread)
{
    struct vyasa_body *b = t->b;

    memset(t->bubbles, 0, b->n_macs * sizeof *t->bubbles);
    for (unsigned step = 0; step < MOST_STEPS; step++) {
        size_t waits;

        set_times(t, is_spread);
        if (b->mac[b->n_macs - 1].time >= (long)t->interval)
            return false;
        memset(t->loads, 0, t->interval);
        memset(t->parts, 0, t->interval);
        memset(t->stores, 0, t->interval);
        waits = put_loads(t);
        if (waits < b->n_loads)
            waits = b->load[waits].due;
        else
            waits = put_stores(t);
        if (waits == b->n_macs)
            return true;
        if (waits == SIZE_MAX)
            return false;
        t->bubbles[waits]++;
    }
    return false;
}

/* ---- the schedule ---- */

static void find_bounds(struct vyasa_body *b)
{
    unsigned per_part[N_PARTS] = { 0 };

    for (size_t i = 0; i < b->n_loads; i++) {
        unsigned bit = part_bit(b, &b->load[i]), part = 0;

        while (bit >>= 1)
            part++;
        per_part[part]++;
    }
    b->bound_macs = (unsigned)b->n_macs;
    b->bound_stores = (unsigned)b->n_stores;
    b->bound_loads = ((unsigned)b->n_loads + b->params->load_units - 1) / b->params->load_units;
    for (unsigned p = 0; p < N_PARTS; p++)
        b->bound_loads = per_part[p] > b->bound_loads ? per_part[p] : b->bound_loads;
}

/* Makes all times start from 0, and counts the intervals of an iteration. */
static void number_stages(struct vyasa_body *b)
{
    long first = b->mac[0].time, last = b->mac[b->n_macs - 1].time;

    for (size_t i = 0; i < b->n_loads; i++)
        first = b->load[i].time < first ? b->load[i].time : first;
    for (size_t i = 0; i < b->n_stores; i++)
        last = b->store[i].time > last ? b->store[i].time : last;
    b->shift_time = -first;
    b->n_stages = (unsigned)((last - first) / (long)b->interval) + 1;
}

static unsigned largest(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

int vyasa_body_schedule(struct vyasa_body *b, unsigned least_interval, struct exp_why *why)
{
    struct table t = { .b = b };
    unsigned bound;
    bool is_found = false;

    find_bounds(b);
    t.bubbles = exp_new(b->n_macs, sizeof *t.bubbles);
    set_times(&t, false);
    bound = largest(largest((unsigned)b->mac[b->n_macs - 1].time + 1, b->bound_loads),
                    largest(b->bound_stores, least_interval));
    t.loads = exp_new(bound + MOST_SLACK, 1);
    t.parts = exp_new(bound + MOST_SLACK, 1);
    t.stores = exp_new(bound + MOST_SLACK, 1);
    for (t.interval = bound; t.interval < bound + MOST_SLACK && !is_found; t.interval++)
        is_found = try_interval(&t, false) || try_interval(&t, true);
    b->interval = t.interval - 1;
    free(t.loads);
    free(t.parts);
    free(t.stores);
    free(t.bubbles);
    if (!is_found)
        return exp_fail(why, -ERANGE, "no schedule of %u cycles or a few more was found", bound);
    number_stages(b);
    return 0;
}
