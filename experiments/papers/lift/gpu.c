/* The order of a GPU: a model that nothing here can judge (replay.h). */
#include <stdlib.h>
#include <string.h>

#include "experiments/papers/lift/replay.h"
#include "sim/base/record.h"
#include "sim/cores.h"

enum { QUAD = 4, QUADS = 16, ITEMS = QUAD * QUADS, MOST_OF_ITEM = 1 << 14 };

/* What the work-items of some quads access, each by itself. */
struct turns {
    const struct lift_memory *memory;
    const struct sim_machine *machine;
    uint64_t record[ITEMS][MOST_OF_ITEM];
    size_t n[ITEMS];
    size_t item; /* that runs */
    struct lift_gpu *to;
};

/* More of an item than there is room for is counted, and left out. */
static void stop_item(struct lift_recorder *r)
{
    struct turns *t = r->ctx;

    t->to->n_left_out += MOST_OF_ITEM / 2;
    r->next = t->record[t->item] + MOST_OF_ITEM / 2;
}

static void run_item(struct turns *t, struct lift_build *b, size_t i, size_t k, const struct lift_range *items)
{
    struct lift_recorder *r = lift_build_recorder(b);
    uint64_t *first = t->record[t->item];

    *r = (struct lift_recorder){ .next = first, .end = first + MOST_OF_ITEM, .full = stop_item, .ctx = t };
    lift_build_run(b, i, k, t->memory, 0, items);
    t->n[t->item] = (size_t)(r->next - first);
}

/* Emits what a quad does at once: each line that its items touch, once. */
static void emit_request(struct turns *t, size_t quad, size_t access, struct sim_sink *sink)
{
    const uint64_t line_bytes = t->machine->level[0].line_bytes;
    uint64_t line[2 * QUAD], offset;
    size_t n = 0;

    for (size_t item = quad * QUAD; item < (quad + 1) * QUAD; item++) {
        const uint64_t record = access < t->n[item] ? t->record[item][access] : 0;
        const enum lift_role role = lift_memory_find(t->memory, sim_record_addr(record), &offset);
        const uint64_t at = ((uint64_t)role + 1) << 40 | offset;

        if (access >= t->n[item] || role == LIFT_N_ROLES)
            continue;
        t->to->accesses++;
        for (uint64_t l = at / line_bytes; l <= (at + sim_record_bytes(record) - 1) / line_bytes && n < 2 * QUAD; l++) {
            size_t other = 0;

            while (other < n && line[other] != l)
                other++;
            if (other < n)
                continue;
            line[n++] = l;
            sim_emit(sink,
                     &(struct sim_run){ .addr = l * line_bytes,
                                        .count = 1,
                                        .access_bytes = 4,
                                        .kind = (uint8_t)sim_record_kind(record),
                                        .tag = (uint8_t)role },
                     1, 1);
        }
    }
    t->to->requests += (double)n;
}

/* Quads take turns, access by access. */
static void take_turns(struct turns *t, struct sim_sink *sink)
{
    size_t most = 0;

    for (size_t item = 0; item < ITEMS; item++)
        most = t->n[item] > most ? t->n[item] : most;
    for (size_t access = 0; access < most; access++) {
        for (size_t quad = 0; quad < QUADS; quad++)
            emit_request(t, quad, access, sink);
    }
}

/* Runs a work-group on a core, so many quads at a time. Returns the work-items. */
static size_t run_group(struct turns *t, struct lift_build *b, size_t i, const struct lift_kernel *kernel, size_t k,
                        size_t group, struct sim_sink *sink)
{
    const size_t groups0 = kernel->global[0] / kernel->local[0], n = kernel->local[0] * kernel->local[1];

    for (size_t first = 0; first < n; first += ITEMS) {
        memset(t->n, 0, sizeof t->n);
        for (t->item = 0; t->item < ITEMS && first + t->item < n; t->item++) {
            const size_t x = (first + t->item) % kernel->local[0], y = (first + t->item) / kernel->local[0];
            const struct lift_range items = { { group % groups0, group / groups0 }, { x, y }, { x + 1, y + 1 } };

            run_item(t, b, i, k, &items);
        }
        take_turns(t, sink);
    }
    return n;
}

/* Adds the lines of a kernel's part, as many times as there is work like it. */
static void add_lines(struct lift_gpu *to, const struct sim_cores *c, double scale)
{
    for (unsigned core = 0; core < LIFT_GPU_CORES; core++) {
        const struct sim_cell all = sim_stats_total(sim_cores_stats(c, core));

        to->core_lines += scale * (double)all.level[0].lines_in;
        to->shared_lines += scale * (double)all.level[1].lines_in;
    }
}

static int run_kernel(struct turns *t, struct lift_build *b, size_t i, const struct lift_program *g, size_t k,
                      uint64_t enough)
{
    const struct lift_kernel *kernel = &g->kernel[k];
    const size_t groups = kernel->global[0] / kernel->local[0] * (kernel->global[1] / kernel->local[1]);
    const double accesses = t->to->accesses, requests = t->to->requests;
    struct sim_cores *cores;
    size_t n = 0, group = 0;
    double scale;
    const int err = sim_cores_new(&cores, t->machine, LIFT_GPU_CORES);

    if (err)
        return err;
    for (; group < groups && t->to->accesses - accesses < (double)enough; group++)
        n += run_group(t, b, i, kernel, k, group, sim_cores_sink(cores, (unsigned)(group % LIFT_GPU_CORES)));
    scale = (double)(kernel->global[0] * kernel->global[1] * g->n_bands) / (double)n;
    add_lines(t->to, cores, scale);
    t->to->accesses = accesses + scale * (t->to->accesses - accesses);
    t->to->requests = requests + scale * (t->to->requests - requests);
    sim_cores_free(cores);
    return 0;
}

int lift_gpu(struct lift_gpu *to, const struct lift_program *g, const struct sim_machine *m, uint64_t enough,
             struct exp_why *why)
{
    struct turns *t = exp_new(1, sizeof *t);
    struct lift_memory memory = { 0 };
    struct lift_build *b = NULL;
    int err = lift_memory_new(&memory, why);

    *to = (struct lift_gpu){ 0 };
    err = err ? err : lift_build_new(&b, LIFT_RECORDED, &g, 1, NULL, why);
    t->memory = &memory;
    t->machine = m;
    t->to = to;
    for (size_t k = 0; k < g->n_kernels && !err; k++) {
        err = run_kernel(t, b, 0, g, k, enough);
        if (err)
            exp_fail(why, err, "%s: its cores cannot be simulated: %s", m->name, strerror(-err));
    }
    lift_build_free(b);
    lift_memory_free(&memory);
    free(t);
    return err;
}
