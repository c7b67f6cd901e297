#include "experiments/papers/polydl/analysis/walk.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "experiments/bench/case/case.h"
#include "kernels/shape/sizes.h"

/* ---- from the nest ---- */

/* Returns how many elements an iteration of a loop moves an operand by. */
static uint64_t elements(const struct exp_variant *v, size_t operand, size_t loop)
{
    const struct exp_affine_access *a = v->nest.access;

    while (strcmp(a->array, v->tensor[operand].name) != 0)
        a++;
    return exp_tensor_step(&v->tensor[operand], a, loop);
}

void exp_walk_init(struct exp_walk *w, const struct exp_variant *v, const uint64_t base[EXP_N_OPERANDS])
{
    const size_t n = v->n_outer, m = n + 1, k = n + 2;

    *w = (struct exp_walk){
        .first = { .a = base[EXP_OPERAND_A],
                   .b = base[EXP_OPERAND_B],
                   .c = base[EXP_OPERAND_C],
                   .n = v->nest.loop[n].extent,
                   .m = v->nest.loop[m].extent,
                   .k = v->nest.loop[k].extent,
                   .lda = elements(v, EXP_OPERAND_A, k),
                   .ldb = elements(v, EXP_OPERAND_B, n),
                   .ldc = elements(v, EXP_OPERAND_C, n) },
        .n_loops = v->n_outer,
        .parallel = v->n_outer,
    };
    assert(elements(v, EXP_OPERAND_A, m) == 1 && elements(v, EXP_OPERAND_B, k) == 1 &&
           elements(v, EXP_OPERAND_C, m) == 1);
    for (size_t l = 0; l < w->n_loops; l++) {
        w->loop[l].extent = v->nest.loop[l].extent;
        for (size_t i = 0; i < EXP_N_OPERANDS; i++)
            w->loop[l].bytes[i] = elements(v, i, l) * sizeof(float);
        if (v->nest.loop[l].is_parallel)
            w->parallel = l;
    }
}

uint64_t exp_walk_calls(const struct exp_walk *w)
{
    uint64_t calls = 1;

    for (size_t l = 0; l < w->n_loops; l++)
        calls *= w->loop[l].extent;
    return calls;
}

/* ---- the walk ---- */

struct walker {
    const struct exp_walk *w;
    uint64_t begin, end; /* of the parallel loop */
    exp_walk_fn call;
    void *ctx;
};

static void move(struct conv_small_args *at, const uint64_t bytes[EXP_N_OPERANDS], uint64_t times)
{
    at->a += times * bytes[EXP_OPERAND_A];
    at->b += times * bytes[EXP_OPERAND_B];
    at->c += times * bytes[EXP_OPERAND_C];
}

static void walk(const struct walker *x, size_t loop, struct conv_small_args at)
{
    uint64_t begin = 0, end;

    if (loop == x->w->n_loops) {
        x->call(x->ctx, &at);
        return;
    }
    end = x->w->loop[loop].extent;
    if (loop == x->w->parallel) {
        begin = x->begin;
        end = x->end;
    }
    move(&at, x->w->loop[loop].bytes, begin);
    for (uint64_t i = begin; i < end; i++, move(&at, x->w->loop[loop].bytes, 1))
        walk(x, loop + 1, at);
}

void exp_walk(const struct exp_walk *w, size_t thread, size_t n_threads, exp_walk_fn call, void *ctx)
{
    struct walker x = { .w = w, .call = call, .ctx = ctx };

    assert(thread < n_threads);
    if (w->parallel < w->n_loops) {
        x.begin = w->loop[w->parallel].extent * thread / n_threads;
        x.end = w->loop[w->parallel].extent * (thread + 1) / n_threads;
    } else if (thread) {
        return;
    }
    walk(&x, 0, w->first);
}

/* ---- back-ends ---- */

static void execute_small(void *ctx, const struct conv_small_args *call)
{
    const struct conv_small *small = ctx;

    small->fn(small, call);
}

static void execute_jit(void *ctx, const struct conv_small_args *call)
{
    const struct exp_executor *e = ctx;

    e->jit((const float *)(uintptr_t)call->a, (const float *)(uintptr_t)call->b, (float *)(uintptr_t)call->c);
}

void exp_walk_execute(const struct exp_walk *w, size_t thread, size_t n_threads, const struct exp_executor *e)
{
    if (e->small)
        exp_walk(w, thread, n_threads, execute_small, (void *)e->small);
    else
        exp_walk(w, thread, n_threads, execute_jit, (void *)e);
}

struct replay {
    const struct conv_small *small;
    struct sim_sink *sink;
    bool (*stops)(void *ctx);
    void *ctx;
    bool has_stopped;
};

static void replay_call(void *ctx, const struct conv_small_args *call)
{
    struct replay *r = ctx;

    r->has_stopped = r->has_stopped || (r->stops && r->stops(r->ctx));
    if (!r->has_stopped)
        r->small->emit(r->small, call, r->sink);
}

int exp_walk_replay(const struct exp_walk *w, size_t n_threads, const struct conv_small *small, struct sim_sink *sink,
                    bool (*stops)(void *ctx), void *ctx)
{
    struct replay r = { .small = small, .sink = sink, .stops = stops, .ctx = ctx };

    exp_walk(w, 0, n_threads, replay_call, &r);
    return r.has_stopped ? -EINTR : 0;
}

/* ---- tensors in memory ---- */

enum { PAGE = 4096 };

void exp_operands_replayed(const struct exp_variant *v, uint64_t base[EXP_N_OPERANDS])
{
    uint64_t at = CONV_REPLAY_BASE;

    for (size_t i = 0; i < EXP_N_OPERANDS; i++) {
        base[i] = at;
        at += round_up(exp_tensor_bytes(&v->tensor[i]), PAGE);
    }
}
