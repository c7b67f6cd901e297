#include "tests/experiments/observed_stream.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/backend/backend.h"
#include "sim/trace/trace.h"
#include "sim/trace/trace_reader.h"
#include "tests/scratch.h"
#include "tests/suites.h"

/* Feeds the reader's bursts into a list: traces are small here. */
struct list {
    struct sim_expander expander; /* first */
    struct sim_access *access;
    size_t n, room;
    bool has_prefetches; /* false: prefetches are left out, because QEMU shows none */
};

static void append(void *ctx, const struct sim_access *a)
{
    struct list *l = ctx;

    if (a->kind == SIM_PREFETCH && !l->has_prefetches)
        return;
    if (a->phase == CONV_PHASE_ZERO) /* left to the C library, which clears in pieces of its own */
        return;
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 1 << 16;
        struct sim_access *access = realloc(l->access, room * sizeof *access);

        CU_ASSERT_FATAL(access != NULL);
        l->access = access;
        l->room = room;
    }
    l->access[l->n++] = *a;
}

/* Tells whether an emulated masked load covers the real load, and is at most a vector long, cut to the buffer. */
static bool is_covered(const struct sim_access *seen, const struct sim_access *replayed)
{
    return seen->kind == SIM_LOAD && replayed->kind == SIM_LOAD && seen->phase == CONV_PHASE_PACK &&
           seen->tag == CONV_INPUT && seen->bytes <= 32 && seen->addr <= replayed->addr &&
           replayed->addr + replayed->bytes <= seen->addr + seen->bytes;
}

/* The observer takes a prefetch behind the end of a tensor for a prefetch of the next tensor. */
static bool is_equal(const struct sim_access *a, const struct sim_access *b)
{
    return a->addr == b->addr && a->bytes == b->bytes && a->kind == b->kind && a->phase == b->phase &&
           (a->tag == b->tag || a->kind == SIM_PREFETCH);
}

static void compare_streams(const char *what, const struct list *seen, const struct list *replayed, bool has_masks)
{
    size_t n = seen->n < replayed->n ? seen->n : replayed->n, i, n_covered = 0;

    for (i = 0; i < n; i++) {
        if (is_equal(&seen->access[i], &replayed->access[i]))
            continue;
        if (!has_masks || !is_covered(&seen->access[i], &replayed->access[i]))
            break;
        n_covered++;
    }
    test_check(i == n && seen->n == replayed->n && n > 0 && (n_covered == 0 || has_masks),
               "%s: %zu accesses observed, %zu replayed; they part at %zu (tag %u, phase %u)", what, seen->n,
               replayed->n, i, i < n ? (unsigned)seen->access[i].tag : 0u,
               i < n ? (unsigned)seen->access[i].phase : 0u);
}

static void read_trace(const char *path, struct list *l)
{
    const struct sim_trace_options options = { .format = SIM_TRACE_BINARY };
    struct sim_run run[SIM_MAX_BURST_RUNS];
    struct sim_trace_reader *reader;
    char why[256] = "";
    size_t n = 0;
    FILE *in = fopen(path, "rb");

    CU_ASSERT_FATAL(in != NULL);
    CU_ASSERT_FATAL(sim_trace_reader_new(&reader, in, path, &options) == 0);
    while (test_check(sim_trace_reader_next(reader, run, COUNT(run), &n, why, sizeof why) == 0, "%s", why) && n)
        sim_emit(&l->expander.sink, run, n, 1);
    sim_trace_reader_free(reader);
    fclose(in);
}

/* Tells whether OpenBLAS refused the core's name: 0.3.21 takes Cooperlake only if it finds bfloat16 itself. */
static bool is_unknown_core(const struct observed_place *p, const struct exp_why *why)
{
    return p->core && !strcmp(p->core, "Cooperlake") && strstr(why->text, "OpenBLAS runs its SkylakeX kernels here");
}

void observed_check_stream(const struct observed_place *p, struct conv_problem problem, const char *algo,
                           bool packs_filters, bool is_part)
{
    struct watch_result *r = malloc(sizeof *r);
    const bool is_twin = !p->emulator->program;
    struct list seen = { .has_prefetches = is_twin }, replayed = seen;
    struct conv_replay replay;
    struct observed_layer l;
    struct exp_why why = { "" };
    int err;

    CU_ASSERT_FATAL(r != NULL);
    sim_expander_init(&seen.expander, append, &seen);
    sim_expander_init(&replayed.expander, append, &replayed);
    observed_plan(&l, p, problem, algo, packs_filters);
    if (is_part)
        observed_take_part(&l);
    err = observed_run(&l, p, true, r, &why);
    if (err && is_unknown_core(p, &why)) {
        test_skip("%s", why.text);
    } else if (test_check(err == 0, "%s", why.text)) {
        read_trace(scratch_path("t"), &seen);
        conv_replay_init(&replay, &l.plan, &replayed.expander.sink);
        replay.bind = observed_binding(&l.plan, r);
        CU_ASSERT(conv_nest_run(&l.plan, &replay.base) == 0);
        compare_streams(algo, &seen, &replayed, p->emulator->isa == CPU_ISA_AVX2);
    }
    free(seen.access);
    free(replayed.access);
    observed_release(&l);
    free(r);
}
