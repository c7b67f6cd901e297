#include "tests/kernels/tally.h"

#include <CUnit/CUnit.h>
#include <string.h>

static bool is_inside(const struct tally *t, const struct sim_run *r, uint64_t n_times)
{
    uint64_t first = t->bind.addr[r->tag], end = first + t->plan->layout.bytes[r->tag];

    for (uint64_t corner = 0; corner < 4; corner++) {
        uint64_t addr = r->addr + (corner & 1 ? (n_times - 1) * (uint64_t)r->step_bytes : 0) +
                        (corner & 2 ? (r->count - 1) * (uint64_t)r->stride_bytes : 0);

        if (addr < first || addr + r->access_bytes > end)
            return false;
    }
    return true;
}

/* OpenBLAS's kernels prefetch at distances, past the end of a panel too. */
static bool may_be_anywhere(const struct tally *t, const struct sim_run *r)
{
    return r->kind == SIM_PREFETCH && t->plan->algorithm != CONV_DIRECT && !strncmp(t->plan->ukr->name, "openblas", 8);
}

static void tally_accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct tally *t = (struct tally *)self;

    for (size_t i = 0; i < n_runs; i++) {
        if (!run[i].count || !n_times)
            continue;
        t->n[run[i].tag][run[i].phase][run[i].kind] += run[i].count * n_times;
        t->bytes[run[i].tag][run[i].phase][run[i].kind] += run[i].count * n_times * run[i].access_bytes;
        t->n_outside += !may_be_anywhere(t, &run[i]) && !is_inside(t, &run[i], n_times);
    }
}

struct tally tally_of(const struct conv_plan *plan)
{
    struct tally t = { .sink.accept = tally_accept, .plan = plan, .bind = conv_bind(&plan->layout, CONV_REPLAY_BASE) };
    struct conv_replay r;

    conv_replay_init(&r, plan, &t.sink);
    CU_ASSERT_FATAL(conv_nest_run(plan, &r.base) == 0);
    return t;
}
