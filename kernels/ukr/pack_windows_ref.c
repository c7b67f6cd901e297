/*
 * Packing of windows for any shape, element by element: the reference of the vector routines. Built without auto-vectorisation, so that a load in the source is a load in the machine.
 */
#include "kernels/ukr/element.h"
#include "kernels/ukr/ukr_table.h"

static void pack_segment(const struct conv_problem *p, const float *plane, const struct element_clip *c, float *panel)
{
    const float *in = plane + c->row * p->w + c->column;

    for (size_t i = 0; i < c->before; i++)
        *panel++ = 0;
    for (size_t i = 0; i < c->inside; i++, in += p->stride_w)
        *panel++ = *in;
    for (size_t i = 0; i < c->after; i++)
        *panel++ = 0;
}

static void conv_pack_windows__ref(const struct conv_pack_windows_args *a)
{
    const struct conv_problem *p = a->p;
    struct conv_segment segment[CONV_MAX_WIN];
    size_t n_segments = conv_segments(p, a->win0, a->n_win, segment);
    float *panel = conv_out_ptr(a->panel);

    for (size_t channel = 0; channel < a->n_c; channel++) {
        const float *plane = conv_in_ptr(a->in) + channel * p->h * p->w;

        for (size_t tap = 0; tap < p->r * p->s; tap++, panel += a->width) {
            for (size_t g = 0; g < n_segments; g++) {
                struct element_clip c = element_clip(p, &segment[g], tap / p->s, tap % p->s);

                pack_segment(p, plane, &c, panel + segment[g].first);
            }
            for (size_t i = a->n_win; i < a->width; i++)
                panel[i] = 0;
        }
    }
}

static void emit_segment(const struct conv_problem *p, uint64_t plane, const struct element_clip *c, uint64_t panel,
                         struct sim_sink *sink)
{
    struct sim_run load = element_run(SIM_LOAD, CONV_INPUT, CONV_PHASE_PACK,
                                      plane + (c->row * p->w + c->column) * sizeof(float), (int64_t)p->stride_w, 1);
    struct sim_run store = element_run(SIM_STORE, CONV_PACKED_INPUT, CONV_PHASE_PACK, panel, 1, 1);

    element_emit_stores(store, c->before, sink);
    store.addr += c->before * sizeof(float);
    element_emit_copy(load, store, c->inside, sink);
    store.addr += c->inside * sizeof(float);
    element_emit_stores(store, c->after, sink);
}

static void conv_pack_windows__ref_emit(const struct conv_pack_windows_args *a, struct sim_sink *sink)
{
    const struct conv_problem *p = a->p;
    struct conv_segment segment[CONV_MAX_WIN];
    size_t n_segments = conv_segments(p, a->win0, a->n_win, segment);
    uint64_t panel = a->panel;

    for (size_t channel = 0; channel < a->n_c; channel++) {
        uint64_t plane = a->in + channel * p->h * p->w * sizeof(float);

        for (size_t tap = 0; tap < p->r * p->s; tap++, panel += a->width * sizeof(float)) {
            for (size_t g = 0; g < n_segments; g++) {
                struct element_clip c = element_clip(p, &segment[g], tap / p->s, tap % p->s);

                emit_segment(p, plane, &c, panel + segment[g].first * sizeof(float), sink);
            }
            element_emit_stores(element_run(SIM_STORE, CONV_PACKED_INPUT, CONV_PHASE_PACK, panel + a->n_win * sizeof(float), 1, 1),
                        a->width - a->n_win, sink);
        }
    }
}

const struct conv_pack_windows conv_pack_windows_ref = {
    .name = "pack_windows__ref",
    .isa = CPU_ISA_NONE,
    .fn = conv_pack_windows__ref,
    .emit = conv_pack_windows__ref_emit,
};
