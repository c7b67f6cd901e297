/*
 * Registers. Operations have an order; values come when an operation needs them and go when no operation needs them.
 * Where there is no room, the value with the latest next use makes room, and is loaded again: nothing is ever spilled.
 * The parts of a value, of 128 bits, have places of their own: a register may hold an old part until the new part is
 * read.
 *
 * Operands of x are seen through ya (xa, xb) or yd (xd, xb) and may wrap around; operands of z are in wc0, wc1 and, if
 * need be, wd0, wd1.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/papers/vyasa/compile/body.h"

enum { NOBODY = -1 };

/* Who has a register: part `part` of an instance. */
struct holder {
    long instance;
    unsigned part;
    long busy_until; /* the last operation that reads the register's present or former part; -1: none */
};

struct uses {
    size_t *mac; /* operations that read a value, in their order */
    size_t n;
};

struct allocation {
    struct vyasa_body *b;
    struct uses *uses; /* [n_values] */
    long *resident;    /* [n_values] instances */
    struct holder holder[AIE_N_V];
    long output_of[AIE_N_ACC],
        acc_free[AIE_N_ACC]; /* the output of each accumulator; the last operation on the accumulator */
    struct exp_why *why;
};

/* A place for a value. */
struct place {
    uint8_t v[VYASA_MOST_V];
    double cost;
};

/* ---- uses ---- */

static void add_use(struct allocation *a, size_t value, size_t mac)
{
    struct uses *u = &a->uses[value];

    if (u->n && u->mac[u->n - 1] == mac)
        return;
    *(size_t *)exp_append(&u->mac, &u->n, sizeof *u->mac) = mac;
}

/* Finds the first and the last use of a part of a value from operation `from` on. */
static bool use_of_part(const struct allocation *a, size_t value, unsigned part, size_t from, size_t *first,
                        size_t *last)
{
    const struct uses *u = &a->uses[value];
    bool any = false;

    for (size_t i = 0; i < u->n; i++) {
        if (u->mac[i] < from || !vyasa_mac_reads(a->b, &a->b->mac[u->mac[i]], value, part))
            continue;
        if (!any)
            *first = u->mac[i];
        *last = u->mac[i];
        any = true;
    }
    return any;
}

static size_t next_use(const struct allocation *a, size_t value, size_t from)
{
    for (size_t i = 0; i < a->uses[value].n; i++) {
        if (a->uses[value].mac[i] >= from)
            return a->uses[value].mac[i];
    }
    return SIZE_MAX;
}

/* ---- views ---- */

/* Returns the place of an instance's first part in a view (ya, yd); -1 if the view does not have all parts in a row. */
static int offset_in(const struct vyasa_body *b, unsigned view, const struct vyasa_instance *x)
{
    const uint8_t *v = aie_registers[view].v;
    const unsigned n = b->value[x->value].n_v;

    for (unsigned at = 0; at < VYASA_MOST_V; at++) {
        unsigned i = 0;

        while (i < n && v[(at + i) % VYASA_MOST_V] == x->v[i])
            i++;
        if (i == n)
            return (int)at;
    }
    return -1;
}

static bool share_view(const struct vyasa_body *b, const struct vyasa_instance *x, const struct vyasa_instance *y)
{
    for (unsigned view = AIE_YA; view <= AIE_YD; view++) {
        if (offset_in(b, view, x) >= 0 && offset_in(b, view, y) >= 0)
            return true;
    }
    return false;
}

/* ---- costs of places ---- */

static bool is_operand(const struct vyasa_mac *m, size_t value)
{
    return m->x_value[0] == value || m->x_value[1] == value || m->z_value == value;
}

/* Returns the cost of a register for a part whose first reader is operation `first`. */
static double cost_of_register(const struct allocation *a, uint8_t v, size_t first, size_t at)
{
    const struct holder *h = &a->holder[v];
    const struct vyasa_instance *x = h->instance == NOBODY ? NULL : &a->b->instance[h->instance];
    const double n = (double)a->b->n_macs;
    long busy_until = h->busy_until;

    if (busy_until >= (long)first) /* the owner has not begun: an earlier owner is still read */
        return (double)INFINITY;
    if (x && a->resident[x->value] == h->instance && x->is_read[h->part] && x->last_use[h->part] >= first) {
        const size_t next = next_use(a, x->value, at);

        return is_operand(&a->b->mac[at], x->value) ? (double)INFINITY : 1000 + 1000 * (n - (double)(next - at)) / n;
    }
    if (x && x->is_read[h->part] && (long)x->last_use[h->part] > busy_until)
        busy_until = (long)x->last_use[h->part];
    return 16 / (1 + (double)first - (double)busy_until);
}

/* Returns the cost of the rows of a joined operation that are not in a common view. */
static double cost_of_partners(const struct allocation *a, size_t value, const struct vyasa_instance *x, size_t at)
{
    const struct uses *u = &a->uses[value];
    double cost = 0;
    size_t last = value;

    for (size_t i = 0; i < u->n; i++) {
        const struct vyasa_mac *m = &a->b->mac[u->mac[i]];
        const size_t other = m->x_value[m->x_value[0] == value];

        if (u->mac[i] < at || !m->joins_rows || other == value || other == last)
            continue;
        if (a->resident[other] == NOBODY)
            cost += x->v[0] >= 4 && x->v[0] < 8 ? 0 : 1;
        else if (!share_view(a->b, x, &a->b->instance[a->resident[other]]))
            cost += 300;
        last = other;
    }
    return cost;
}

static double cost_of_place(const struct allocation *a, size_t value, const struct place *p, size_t at)
{
    struct vyasa_instance x = { .value = value };
    double cost = 0;

    for (unsigned i = 0; i < a->b->value[value].n_v; i++) {
        size_t first, last;

        x.v[i] = p->v[i];
        if (use_of_part(a, value, i, at, &first, &last))
            cost += cost_of_register(a, p->v[i], first, at);
    }
    return cost + (a->b->value[value].tensor == VYASA_OF_X ? cost_of_partners(a, value, &x, at) : 0);
}

/* ---- placing ---- */

static void consider(const struct allocation *a, size_t value, struct place *p, double bias, size_t at,
                     struct place *best)
{
    p->cost = cost_of_place(a, value, p, at) + bias;
    if (p->cost < best->cost)
        *best = *p;
}

static struct place best_of_z(const struct allocation *a, size_t value, size_t at)
{
    struct place best = { { 0 }, (double)INFINITY };

    for (unsigned w = 4; w < 8; w++) {
        struct place p = { { (uint8_t)(2 * w), (uint8_t)(2 * w + 1) }, 0 };

        consider(a, value, &p, w > 5 ? 60 : 0, at, &best);
    }
    return best;
}

/* views: the views (ya, yd) that must hold the value, a bit each. */
static struct place best_of_x(const struct allocation *a, size_t value, unsigned views, size_t at)
{
    struct place best = { { 0 }, (double)INFINITY };

    for (unsigned i = 0; i < 8; i++) {
        const uint8_t *v = aie_registers[i < 4 ? AIE_YA : AIE_YD].v;
        struct place p;

        if (!(views >> (i / 4) & 1))
            continue;
        for (unsigned j = 0; j < VYASA_MOST_V; j++)
            p.v[j] = v[(2 * (i % 4) + j) % VYASA_MOST_V];
        consider(a, value, &p, 0, at, &best);
    }
    return best;
}

/* Ends an instance before operation `at`: later readers load the value again. */
static void evict(struct allocation *a, long instance, size_t at)
{
    struct vyasa_instance *x = &a->b->instance[instance];
    const struct uses *u = &a->uses[x->value];

    a->resident[x->value] = NOBODY;
    for (unsigned part = 0; part < a->b->value[x->value].n_v; part++) {
        if (!x->is_read[part] || x->last_use[part] < at)
            continue;
        x->is_read[part] = x->first_use[part] < at;
        for (size_t i = 0; i < u->n && u->mac[i] < at && x->is_read[part]; i++) {
            if (u->mac[i] >= x->first_use[part] && vyasa_mac_reads(a->b, &a->b->mac[u->mac[i]], x->value, part))
                x->last_use[part] = u->mac[i];
        }
    }
}

/*
 * Gives a register to a part of an instance, and evicts other owners. Returns the operation of the last former reader.
 */
static long claim(struct allocation *a, uint8_t v, size_t instance, unsigned part, size_t at)
{
    struct holder *h = &a->holder[v];

    if (h->instance != NOBODY) {
        const struct vyasa_instance *old = &a->b->instance[h->instance];

        if (a->resident[old->value] == h->instance && old->is_read[h->part] &&
            old->last_use[h->part] >= a->b->instance[instance].first_use[part])
            evict(a, h->instance, at);
        if (old->is_read[h->part] && (long)old->last_use[h->part] > h->busy_until)
            h->busy_until = (long)old->last_use[h->part];
    }
    h->instance = (long)instance;
    h->part = part;
    return h->busy_until;
}

static void add_load(struct vyasa_body *b, size_t instance, unsigned at, unsigned n_v, size_t due, long after)
{
    struct vyasa_load *l = exp_append(&b->load, &b->n_loads, sizeof *l);

    *l = (struct vyasa_load){ .instance = instance, .at = at, .n_v = n_v, .due = due, .after = after };
}

/*
 * Adds the loads of the parts that are read: two at once if they are a register of 256 bits, unless a part is needed
 * before the register of the second part is free.
 */
static void add_loads(struct allocation *a, size_t instance, const long *after)
{
    for (unsigned i = 0; i < VYASA_MOST_V; i += 2) {
        const struct vyasa_instance *x = &a->b->instance[instance];
        const bool low = x->is_read[i], high = x->is_read[i + 1];
        const size_t due =
            low && (!high || x->first_use[i] < x->first_use[i + 1]) ? x->first_use[i] : x->first_use[i + 1];
        const long behind = low && (!high || after[i] > after[i + 1]) ? after[i] : after[i + 1];

        if (low && high && behind < (long)due) {
            add_load(a->b, instance, i, 2, due, behind);
            continue;
        }
        for (unsigned j = i; j < i + 2; j++) {
            if (x->is_read[j])
                add_load(a->b, instance, j, 1, x->first_use[j], after[j]);
        }
    }
}

static int place_value(struct allocation *a, size_t value, unsigned views, size_t at)
{
    struct vyasa_body *b = a->b;
    const bool is_z = b->value[value].tensor == VYASA_OF_Z;
    const struct place p = is_z ? best_of_z(a, value, at) : best_of_x(a, value, views, at);
    long after[VYASA_MOST_V] = { 0 };
    struct vyasa_instance *x;

    if (p.cost == (double)INFINITY)
        return exp_fail(a->why, -ENOBUFS,
                        "operation %zu needs more vector registers than there are: nothing is spilled", at);
    x = exp_append(&b->instance, &b->n_instances, sizeof *x);
    *x = (struct vyasa_instance){ .value = value };
    for (unsigned i = 0; i < b->value[value].n_v; i++) {
        x->v[i] = p.v[i];
        x->is_read[i] = use_of_part(a, value, i, at, &x->first_use[i], &x->last_use[i]);
        if (x->is_read[i])
            after[i] = claim(a, p.v[i], b->n_instances - 1, i, at);
    }
    a->resident[value] = (long)b->n_instances - 1;
    add_loads(a, b->n_instances - 1, after);
    return 0;
}

/* Returns the views of an instance, a bit each. */
static unsigned views_of(const struct allocation *a, long instance)
{
    const struct vyasa_instance *x = &a->b->instance[instance];

    return (offset_in(a->b, AIE_YA, x) >= 0 ? 1U : 0U) | (offset_in(a->b, AIE_YD, x) >= 0 ? 2U : 0U);
}

static int place_x_operands(struct allocation *a, const struct vyasa_mac *m, size_t at)
{
    unsigned views = 3;
    int err = 0;

    for (unsigned c = 0; c < 2 && !err; c++) {
        const size_t value = m->x_value[c];

        if (a->resident[value] != NOBODY && !(views_of(a, a->resident[value]) & views))
            evict(a, a->resident[value], at);
        if (a->resident[value] == NOBODY && c == 0 && a->resident[m->x_value[1]] != NOBODY)
            views = views_of(a, a->resident[m->x_value[1]]);
        if (a->resident[value] == NOBODY)
            err = place_value(a, value, views, at);
        if (!err)
            views &= views_of(a, a->resident[value]);
    }
    return err;
}

/* ---- accumulators ---- */

static int place_output(struct allocation *a, struct vyasa_mac *m, size_t at)
{
    unsigned best = AIE_N_ACC;

    for (unsigned i = 0; i < AIE_N_ACC; i++) {
        if (a->output_of[i] == (long)m->output)
            best = i;
    }
    for (unsigned i = 0; i < AIE_N_ACC && m->is_first; i++) {
        if (a->output_of[i] == NOBODY && (best == AIE_N_ACC || a->acc_free[i] < a->acc_free[best]))
            best = i;
    }
    if (best == AIE_N_ACC)
        return exp_fail(a->why, -ENOBUFS, "operation %zu begins a fifth sum: there are four accumulators", at);
    m->acc = best;
    a->output_of[best] = m->is_last ? NOBODY : (long)m->output;
    a->acc_free[best] = (long)at;
    return 0;
}

/* Lists the stores, and for each the operation that next overwrites the accumulator. */
static void add_stores(struct vyasa_body *b)
{
    for (size_t i = 0; i < b->n_macs; i++) {
        struct vyasa_store *s;
        size_t next = i + 1;

        if (!b->mac[i].is_last)
            continue;
        while (b->mac[next % b->n_macs].acc != b->mac[i].acc || !b->mac[next % b->n_macs].is_first)
            next++;
        s = exp_append(&b->store, &b->n_stores, sizeof *s);
        *s = (struct vyasa_store){ .output = b->mac[i].output, .last = i, .next = next };
    }
}

/* ---- permutations ---- */

static int permute_x(const struct vyasa_body *b, struct vyasa_mac *m)
{
    const unsigned n = VYASA_MOST_V * b->shape->per_v;

    for (unsigned view = AIE_YA; view <= AIE_YD; view++) {
        int need[2][AIE_LANES], at[2];

        for (unsigned c = 0; c < 2; c++)
            at[c] = offset_in(b, view, &b->instance[m->x_instance[c]]);
        if (at[0] < 0 || at[1] < 0)
            continue;
        for (unsigned i = 0; i < 2 * b->shape->lanes; i++) {
            const unsigned c = i / b->shape->lanes, l = i % b->shape->lanes;
            const long in_value = m->x[c] - b->value[m->x_value[c]].first + (long)(l * m->lane_stride);

            need[c][l] = (int)(((unsigned)at[c] * b->shape->per_v + (unsigned)in_value) % n);
        }
        m->x_register = (uint8_t)view;
        if (!aie_solve_x(&m->permute.x, b->shape->mac, need, n))
            return 0;
    }
    return -ERANGE;
}

static int permute_z(const struct vyasa_body *b, struct vyasa_mac *m)
{
    const long at = m->z - b->value[m->z_value].first;
    int need[2][AIE_LANES];

    for (unsigned l = 0; l < AIE_LANES; l++) {
        need[0][l] = (int)at;
        need[1][l] = (int)at + 1;
    }
    m->z_register = (uint8_t)(AIE_W + b->instance[m->z_instance].v[0] / 2);
    return aie_solve_z(&m->permute.z, b->shape->mac, need, 2 * b->shape->per_v);
}

/* ---- the allocation ---- */

static int allocate(struct allocation *a)
{
    struct vyasa_body *b = a->b;
    int err = 0;

    for (size_t i = 0; i < b->n_macs && !err; i++) {
        struct vyasa_mac *m = &b->mac[i];

        err = place_x_operands(a, m, i);
        if (!err && a->resident[m->z_value] == NOBODY)
            err = place_value(a, m->z_value, 0, i);
        err = err ? err : place_output(a, m, i);
        if (err)
            break;
        m->x_instance[0] = (size_t)a->resident[m->x_value[0]];
        m->x_instance[1] = (size_t)a->resident[m->x_value[1]];
        m->z_instance = (size_t)a->resident[m->z_value];
        if (permute_x(b, m) || permute_z(b, m))
            err = exp_fail(a->why, -ERANGE, "operation %zu: the network cannot select its operands", i);
    }
    return err;
}

/* An evicted instance has parts without a reader: these parts are not loaded. */
static void drop_idle_loads(struct vyasa_body *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n_loads; i++) {
        struct vyasa_load *l = &b->load[i];
        const struct vyasa_instance *x = &b->instance[l->instance];
        const bool low = x->is_read[l->at], high = l->n_v == 2 && x->is_read[l->at + 1];

        if (!low && !high)
            continue;
        if (l->n_v == 2 && low != high) {
            l->at += high;
            l->n_v = 1;
            l->due = x->first_use[l->at];
        }
        b->load[n++] = *l;
    }
    b->n_loads = n;
}

/* The first loads into a register come behind the register's last readers of the iteration before. */
static void wrap_around(struct allocation *a)
{
    struct vyasa_body *b = a->b;
    long last[AIE_N_V];

    for (unsigned v = 0; v < AIE_N_V; v++) {
        const struct holder *h = &a->holder[v];

        last[v] = h->busy_until;
        if (h->instance != NOBODY && b->instance[h->instance].is_read[h->part] &&
            (long)b->instance[h->instance].last_use[h->part] > last[v])
            last[v] = (long)b->instance[h->instance].last_use[h->part];
    }
    for (size_t i = 0; i < b->n_loads; i++) {
        struct vyasa_load *l = &b->load[i];
        long after = NOBODY;

        for (unsigned part = l->at; part < l->at + l->n_v && l->after == NOBODY; part++) {
            const uint8_t v = b->instance[l->instance].v[part];

            after = last[v] > after ? last[v] : after;
        }
        if (l->after == NOBODY)
            l->after = after - (long)b->n_macs;
    }
}

int vyasa_body_allocate(struct vyasa_body *b, struct exp_why *why)
{
    struct allocation a = { .b = b, .why = why };
    int err;

    a.uses = exp_new(b->n_values, sizeof *a.uses);
    a.resident = exp_new(b->n_values, sizeof *a.resident);
    for (size_t v = 0; v < b->n_values; v++)
        a.resident[v] = NOBODY;
    for (unsigned v = 0; v < AIE_N_V; v++)
        a.holder[v] = (struct holder){ NOBODY, 0, NOBODY };
    for (unsigned i = 0; i < AIE_N_ACC; i++)
        a.output_of[i] = a.acc_free[i] = NOBODY;
    for (size_t i = 0; i < b->n_macs; i++) {
        add_use(&a, b->mac[i].x_value[0], i);
        add_use(&a, b->mac[i].x_value[1], i);
        add_use(&a, b->mac[i].z_value, i);
    }
    err = allocate(&a);
    if (!err) {
        drop_idle_loads(b);
        wrap_around(&a);
        add_stores(b);
        b->reloads = (unsigned)(b->n_instances - b->n_values);
    }
    for (size_t v = 0; v < b->n_values; v++)
        free(a.uses[v].mac);
    free(a.uses);
    free(a.resident);
    return err;
}
