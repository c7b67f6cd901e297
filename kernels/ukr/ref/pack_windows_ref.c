/* Packing of windows, element by element, for any shape. No auto-vectorisation: a source load is a machine load. */
#include "kernels/ukr/element.h"
#include "kernels/ukr/registry.h"

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

static void pack_row(const struct conv_pack_windows_args *a, const struct conv_tile *t, size_t channel, size_t tap)
{
    const struct conv_problem *p = a->p;
    const float *plane = conv_in_ptr(a->in) + channel * p->h * p->w;
    float *panel = conv_out_ptr(t->panel) + conv_panel_row(a, channel, tap / p->s) + tap % p->s * a->width;

    for (size_t g = 0; g < t->n_segments; g++) {
        struct element_clip c = element_clip(p, &t->segment[g], tap / p->s, tap % p->s);

        pack_segment(p, plane, &c, panel + t->segment[g].first);
    }
    for (size_t i = t->n_win; i < a->width; i++)
        panel[i] = 0;
}

static void pack_windows(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a)
{
    struct conv_tiles tiles;

    (void)self;
    for (size_t first = 0, n; (n = conv_tiles_at(a, first, &tiles)) > 0; first += n) {
        for (size_t channel = 0; channel < a->n_c; channel++)
            for (size_t tap = 0; tap < a->p->r * a->p->s; tap++)
                for (size_t t = 0; t < tiles.n; t++)
                    if (conv_tile_needs(&tiles.tile[t], a->p, tap / a->p->s))
                        pack_row(a, &tiles.tile[t], channel, tap);
    }
}

static void emit_segment(const struct conv_pack_windows_args *a, uint64_t plane, const struct element_clip *c,
                         uint64_t panel, struct sim_sink *sink)
{
    const struct conv_problem *p = a->p;
    struct sim_run load = element_run(SIM_LOAD, a->tag, CONV_PHASE_PACK,
                                      plane + (c->row * p->w + c->column) * sizeof(float), (int64_t)p->stride_w, 1);
    struct sim_run store = element_run(SIM_STORE, CONV_PACKED_INPUT, CONV_PHASE_PACK, panel, 1, 1);

    element_emit_stores(store, c->before, sink);
    store.addr += c->before * sizeof(float);
    element_emit_copy(load, store, c->inside, sink);
    store.addr += c->inside * sizeof(float);
    element_emit_stores(store, c->after, sink);
}

static void emit_row(const struct conv_pack_windows_args *a, const struct conv_tile *t, size_t channel, size_t tap,
                     struct sim_sink *sink)
{
    const struct conv_problem *p = a->p;
    uint64_t plane = a->in + channel * p->h * p->w * sizeof(float);
    uint64_t panel = t->panel + (conv_panel_row(a, channel, tap / p->s) + tap % p->s * a->width) * sizeof(float);

    for (size_t g = 0; g < t->n_segments; g++) {
        struct element_clip c = element_clip(p, &t->segment[g], tap / p->s, tap % p->s);

        emit_segment(a, plane, &c, panel + t->segment[g].first * sizeof(float), sink);
    }
    element_emit_stores(
        element_run(SIM_STORE, CONV_PACKED_INPUT, CONV_PHASE_PACK, panel + t->n_win * sizeof(float), 1, 1),
        a->width - t->n_win, sink);
}

static void emit_windows(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a,
                         struct sim_sink *sink)
{
    struct conv_tiles tiles;

    (void)self;
    for (size_t first = 0, n; (n = conv_tiles_at(a, first, &tiles)) > 0; first += n) {
        for (size_t channel = 0; channel < a->n_c; channel++)
            for (size_t tap = 0; tap < a->p->r * a->p->s; tap++)
                for (size_t t = 0; t < tiles.n; t++)
                    if (conv_tile_needs(&tiles.tile[t], a->p, tap / a->p->s))
                        emit_row(a, &tiles.tile[t], channel, tap, sink);
    }
}

const struct conv_pack_windows conv_pack_windows__ref = {
    .name = "pack_windows__ref",
    .isa = CPU_ISA_NONE,
    .granule = 1,
    .max_width = CONV_MAX_WIN,
    .fn = pack_windows,
    .emit = emit_windows,
};
