#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/papers/vyasa/compile/code.h"

/* Schedules the body so that an iteration has no more stages than the loop has iterations; most: stages. */
static int schedule(struct vyasa_code *c, unsigned most, struct exp_why *why)
{
    const unsigned n = c->shape.count[c->schedule.inner];
    unsigned least = 0;
    int err;

    most = n < most ? n : most;
    do {
        err = vyasa_body_schedule(&c->body, least, why);
        least = c->body.interval + 1 + c->body.interval / 16;
    } while (!err && c->body.n_stages > most);
    return err;
}

/*
 * Tries the fastest form first: without seams, then with a prologue and an epilogue for each row, then an iteration at
 * a time, for the least program memory.
 */
static int emit(struct vyasa_code *c, struct exp_why *why)
{
    const bool is_seamless = c->schedule.is_seamless;
    int err = schedule(c, 64, why);

    err = err ? err : vyasa_emit(c, why);
    if (err == -E2BIG && is_seamless) {
        c->schedule.is_seamless = false;
        err = vyasa_emit(c, why);
        c->schedule.is_seamless = true;
    }
    if (err == -E2BIG && c->body.n_stages > 1) {
        err = schedule(c, 1, why);
        err = err ? err : vyasa_emit(c, why);
    }
    return err;
}

int vyasa_compile(struct vyasa_code *code, const struct vyasa_problem *p, const struct vyasa_schedule *s,
                  const struct aie_params *params, struct exp_why *why)
{
    int err;

    assert(code && p && s);
    *code = (struct vyasa_code){ .problem = *p, .schedule = *s, .params = *params };
    err = vyasa_shape(&code->shape, &code->problem, &code->schedule, 0, params->memory_bytes, why);
    err = err ? err : vyasa_body_fuse(&code->body, &code->shape, &code->params, why);
    if (!err && s->in_use_order)
        err = vyasa_shape(&code->shape, &code->problem, &code->schedule, (unsigned)code->body.n_macs,
                          params->memory_bytes, why);
    err = err ? err : vyasa_body_load(&code->body, why);
    err = err ? err : vyasa_body_allocate(&code->body, why);
    err = err ? err : emit(code, why);
    if (err)
        vyasa_code_release(code);
    return err;
}

void vyasa_code_release(struct vyasa_code *code)
{
    vyasa_body_release(&code->body);
    free(code->program.bundle);
    *code = (struct vyasa_code){ 0 };
}

/* ---- tensors in memory ---- */

static void put(const struct vyasa_shape *t, uint8_t *memory, enum vyasa_tensor tensor, unsigned part, size_t element,
                int32_t value)
{
    uint8_t *at = memory + t->base[tensor][part] + element * t->bytes;
    const int16_t half = (int16_t)value;

    if (t->bytes == 2)
        memcpy(at, &half, sizeof half);
    else
        memcpy(at, &value, sizeof value);
}

static void pack_input(const struct vyasa_shape *t, const struct vyasa_tensors *from, uint8_t *memory)
{
    const struct vyasa_problem *p = t->p;
    const bool by_k = t->s->vector == VYASA_K;
    const unsigned width = p->x + p->r - 1, group = t->s->fusion == VYASA_CHANNELS && !by_k ? 2 : 1;

    for (unsigned c = 0; c < t->in_planes; c++) {
        for (unsigned y = 0; y < t->in_height; y++) {
            for (unsigned x = 0; x < width; x++) {
                const size_t row = by_k ? (size_t)y * width + x : (size_t)(c / group) * t->in_height + y;
                const size_t at = row * t->in_pitch + (by_k ? c : x * group + c % group);

                put(t, memory, by_k ? VYASA_OF_Z : VYASA_OF_X, 0, at, from->in[vyasa_in_at(p, c, y, x)]);
            }
        }
    }
}

/* Puts the filters of an operation in an iteration of loop k to the place where the operation reads them. */
static void pack_operation(const struct vyasa_code *code, const struct vyasa_mac *m, unsigned iteration,
                           const struct vyasa_tensors *from, uint8_t *memory)
{
    const struct vyasa_shape *t = &code->shape;
    const bool by_k = t->s->vector == VYASA_K;
    const enum vyasa_tensor tensor = by_k ? VYASA_OF_X : VYASA_OF_Z;
    const long row = vyasa_step(t, tensor, VYASA_K) / (long)t->bytes * (long)iteration;

    for (unsigned c = 0; c < m->n_taps; c++) {
        for (unsigned l = 0; l < (by_k ? t->lanes : 1); l++) {
            const long at = row + (by_k ? m->x[c] + (long)(l * m->lane_stride) : m->z + (long)c);
            const unsigned k = vyasa_k_of(t, iteration, m->k, l);

            put(t, memory, tensor, by_k ? m->part : 0, (size_t)at, from->filter[vyasa_filter_at(t->p, k, &m->tap[c])]);
        }
    }
}

void vyasa_pack(const struct vyasa_code *code, const struct vyasa_tensors *t, uint8_t *memory)
{
    assert(memory);
    memset(memory, 0, code->params.memory_bytes);
    pack_input(&code->shape, t, memory);
    for (unsigned k = 0; k < code->shape.count[VYASA_K]; k++) {
        for (size_t i = 0; i < code->body.n_macs; i++)
            pack_operation(code, &code->body.mac[i], k, t, memory);
    }
}

void vyasa_unpack(const struct vyasa_code *code, const uint8_t *memory, struct vyasa_tensors *t)
{
    const struct vyasa_shape *s = &code->shape;
    const struct vyasa_problem *p = &code->problem;

    assert(memory);
    for (unsigned k = 0; k < p->k; k++) {
        for (unsigned y = 0; y < p->y; y++) {
            for (unsigned x = 0; x < p->x; x++) {
                const long at = (long)x * s->stride[VYASA_OUT][VYASA_X] + (long)y * s->stride[VYASA_OUT][VYASA_Y] +
                                (long)k * s->stride[VYASA_OUT][VYASA_K];
                const uint8_t *from = memory + s->base[VYASA_OUT][0] + (size_t)at * s->bytes;
                int32_t word = 0;
                int16_t half = 0;

                memcpy(s->bytes == 2 ? (void *)&half : (void *)&word, from, s->bytes);
                t->out[((size_t)k * p->y + y) * p->x + x] = s->bytes == 2 ? half : word;
            }
        }
    }
}

int vyasa_simulate(const struct vyasa_code *code, struct vyasa_tensors *t, struct aie_counts *counts,
                   struct exp_why *why)
{
    struct aie_core *core;
    struct aie_stop stop;
    int err = aie_core_new(&core, &code->params, &code->program, &stop);

    assert(counts);
    *counts = (struct aie_counts){ 0 };
    if (err)
        return exp_fail(why, err, "%s", err == -ENOMEM ? "not enough memory" : stop.text);
    vyasa_pack(code, t, aie_core_memory(core));
    err = aie_core_run(core, 4 * code->cycles + 1000, counts, &stop);
    if (!err)
        vyasa_unpack(code, aie_core_memory(core), t);
    aie_core_free(core);
    return err ? exp_fail(why, err, "%s", stop.text) : 0;
}
