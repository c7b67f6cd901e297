/*
 * Packing of windows and filters into lanes of several channels, for any shape: each element is a load, each lane a
 * store. A head is summed up in registers and on the stack. The including file defines
 *
 *   TYPE                     the element type's number in conv_types
 *   ELEMENT, N_CHANNELS      an unsigned integer of an element's size; channels of a lane
 *   SIGNED                   the element of a filter, as a signed number (types with a head)
 *   PACK_WINDOWS             the name of the descriptor,
 *   PACK_FILTERS, PACK_FILTERS_EMIT   and of the functions
 */
#ifndef KERNELS_UKR_PACK_LANES_TMPL_H
#define KERNELS_UKR_PACK_LANES_TMPL_H

#include <assert.h>

#include "kernels/ukr/element.h"
#include "kernels/ukr/registry.h"

typedef ELEMENT __attribute__((may_alias)) lane_element;
typedef uint32_t __attribute__((may_alias)) lane_word;

enum { ELEMENT_BYTES = sizeof(ELEMENT), ELEMENT_BITS = 8 * ELEMENT_BYTES, MOST_FILTERS = 64 };

/* Elements of n channels, `apart` elements from each other. */
static inline uint32_t gather(const lane_element *in, size_t apart, size_t n)
{
    uint32_t lane = 0;

    for (size_t i = 0; i < n; i++)
        lane |= (uint32_t)in[i * apart] << i * ELEMENT_BITS;
    return lane;
}

/* Channels of the lane that starts at a channel. */
static inline size_t lane_fill(size_t channel, size_t n_c)
{
    return min_size(N_CHANNELS, n_c - channel);
}

/* A row of a panel: a tap of a lane of channels. */
struct lane_row {
    const struct conv_pack_windows_args *a;
    const struct conv_tile *tile;
    size_t channel, tap;
    uint64_t panel;
};

static struct lane_row lane_row(const struct conv_pack_windows_args *a, const struct conv_tile *tile, size_t channel,
                                size_t tap)
{
    const size_t taps = a->p->r * a->p->s;

    return (struct lane_row){
        a, tile, channel, tap, tile->panel + (channel / N_CHANNELS * taps + tap) * a->width * CONV_LANE_BYTES,
    };
}

static uint64_t lane_input(const struct lane_row *r, const struct element_clip *c)
{
    const struct conv_problem *p = r->a->p;

    return r->a->in + ((r->channel * p->h + c->row) * p->w + c->column) * ELEMENT_BYTES;
}

static inline uint32_t lane_flip(const struct lane_row *r)
{
    return r->a->flip * 0x01010101u;
}

static void pack_segment(const struct lane_row *r, const struct element_clip *c, lane_word *panel)
{
    const struct conv_problem *p = r->a->p;
    const size_t fill = lane_fill(r->channel, r->a->n_c), plane = p->h * p->w;
    const lane_element *in = (const lane_element *)(uintptr_t)lane_input(r, c);
    const uint32_t flip = lane_flip(r);

    for (size_t i = 0; i < c->before; i++)
        *panel++ = flip;
    for (size_t i = 0; i < c->inside; i++, in += p->stride_w)
        *panel++ = gather(in, plane, fill) ^ flip;
    for (size_t i = 0; i < c->after; i++)
        *panel++ = flip;
}

static void pack_row(const struct lane_row *r)
{
    const struct conv_problem *p = r->a->p;
    lane_word *panel = (lane_word *)(uintptr_t)r->panel;

    for (size_t g = 0; g < r->tile->n_segments; g++) {
        const struct element_clip c = element_clip(p, &r->tile->segment[g], r->tap / p->s, r->tap % p->s);

        pack_segment(r, &c, panel + r->tile->segment[g].first);
    }
    for (size_t i = r->tile->n_win; i < r->a->width; i++)
        panel[i] = lane_flip(r);
}

static void emit_segment(const struct lane_row *r, const struct element_clip *c, uint64_t panel, struct sim_sink *sink)
{
    const struct conv_problem *p = r->a->p;
    const size_t fill = lane_fill(r->channel, r->a->n_c);
    struct sim_run store = element_run(SIM_STORE, CONV_PACKED_INPUT, CONV_PHASE_PACK, panel, 1, 1);
    struct sim_run run[N_CHANNELS + 1];

    element_emit_stores(store, c->before, sink);
    store.addr += c->before * CONV_LANE_BYTES;
    for (size_t i = 0; i < fill; i++) {
        run[i] =
            element_run(SIM_LOAD, r->a->tag, CONV_PHASE_PACK, lane_input(r, c) + i * p->h * p->w * ELEMENT_BYTES, 0, 1);
        run[i].access_bytes = ELEMENT_BYTES;
        run[i].step_bytes = (int64_t)(p->stride_w * ELEMENT_BYTES);
    }
    run[fill] = store;
    run[fill].step_bytes = CONV_LANE_BYTES;
    if (c->inside)
        sim_emit(sink, run, fill + 1, c->inside);
    store.addr += c->inside * CONV_LANE_BYTES;
    element_emit_stores(store, c->after, sink);
}

static void emit_row(const struct lane_row *r, struct sim_sink *sink)
{
    const struct conv_problem *p = r->a->p;

    for (size_t g = 0; g < r->tile->n_segments; g++) {
        const struct element_clip c = element_clip(p, &r->tile->segment[g], r->tap / p->s, r->tap % p->s);

        emit_segment(r, &c, r->panel + r->tile->segment[g].first * CONV_LANE_BYTES, sink);
    }
    element_emit_stores(
        element_run(SIM_STORE, CONV_PACKED_INPUT, CONV_PHASE_PACK, r->panel + r->tile->n_win * CONV_LANE_BYTES, 1, 1),
        r->a->width - r->tile->n_win, sink);
}

/* Packs the rows in order, or, with a sink, emits the accesses. */
static inline void for_each_row(const struct conv_pack_windows_args *a, struct sim_sink *sink)
{
    struct conv_tiles tiles;

    assert(!a->live_win && a->p->type == TYPE);
    for (size_t first = 0, n; (n = conv_tiles_at(a, first, &tiles)) > 0; first += n) {
        for (size_t channel = 0; channel < a->n_c; channel += N_CHANNELS) {
            for (size_t tap = 0; tap < a->p->r * a->p->s; tap++) {
                for (size_t t = 0; t < tiles.n; t++) {
                    const struct lane_row row = lane_row(a, &tiles.tile[t], channel, tap);

                    if (sink)
                        emit_row(&row, sink);
                    else
                        pack_row(&row);
                }
            }
        }
    }
}

static void pack_windows(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a)
{
    (void)self;
    for_each_row(a, NULL);
}

static void emit_windows(const struct conv_pack_windows *self, const struct conv_pack_windows_args *a,
                         struct sim_sink *sink)
{
    (void)self;
    for_each_row(a, sink);
}

const struct conv_pack_windows PACK_WINDOWS = {
    .name = "pack_windows__ref",
    .isa = CPU_ISA_NONE,
    .granule = 1,
    .max_width = CONV_MAX_WIN,
    .fn = pack_windows,
    .emit = emit_windows,
};

/* ---- filters ---- */

/* The sum of a lane's elements. */
static inline int32_t add_up(uint32_t lane)
{
    int32_t sum = 0;

#ifdef SIGNED
    for (size_t i = 0; i < N_CHANNELS; i++)
        sum += (SIGNED)(lane >> i * ELEMENT_BITS);
#else
    (void)lane;
#endif
    return sum;
}

static void check_filters(const struct conv_pack_filters_args *a)
{
    assert(a->n_f <= a->ukr->f_panel && a->n_f <= MOST_FILTERS && a->taps && a->n_k % a->taps == 0);
    assert(!a->by_rows && !a->copy && a->ukr->type == TYPE);
}

/* The lane of the first filter of a panel at a tap of the channels' lane; *next: lanes to the next filter's. */
static size_t filter_lane(const struct conv_pack_filters_args *a, size_t channel, size_t tap, size_t *next)
{
    const size_t k = (a->n_k / a->taps + N_CHANNELS - 1) / N_CHANNELS * a->taps;
    const size_t t = channel / N_CHANNELS * a->taps + tap, first = conv_ukr_filter_lane(a->ukr, a->n_f, k, t, 0);

    *next = conv_ukr_filter_lane(a->ukr, a->n_f, k, t, 1) - first;
    return first;
}

void PACK_FILTERS(const struct conv_pack_filters_args *a)
{
    const size_t n_c = a->n_k / a->taps, head = conv_ukr_head(a->ukr) * a->n_f;
    const lane_element *filter = (const lane_element *)(uintptr_t)a->filter;
    lane_word *first = (lane_word *)(uintptr_t)a->panels;
    int32_t sum[MOST_FILTERS] = { 0 };

    check_filters(a);
    for (size_t channel = 0; channel < n_c; channel += N_CHANNELS) {
        for (size_t tap = 0; tap < a->taps; tap++) {
            size_t next;
            lane_word *panel = first + head + filter_lane(a, channel, tap, &next);

            for (size_t f = 0; f < a->n_f; f++, panel += next) {
                const lane_element *at = filter + f * a->ld + channel * a->taps + tap;
                const uint32_t lane = gather(at, a->taps, lane_fill(channel, n_c));

                *panel = lane;
                sum[f] += add_up(lane);
            }
        }
    }
    for (size_t f = 0; f < head; f++)
        first[f] = (uint32_t)(-128 * sum[f]);
}

static void emit_filters_step(const struct conv_pack_filters_args *a, size_t channel, size_t tap, uint64_t steps,
                              struct sim_sink *sink)
{
    const size_t fill = lane_fill(channel, a->n_k / a->taps);
    struct sim_run run[N_CHANNELS + 1];
    size_t next;
    const uint64_t panel = steps + filter_lane(a, channel, tap, &next) * CONV_LANE_BYTES;

    for (size_t i = 0; i < fill; i++) {
        run[i] = element_run(SIM_LOAD, CONV_FILTER, CONV_PHASE_PACK,
                             a->filter + ((channel + i) * a->taps + tap) * ELEMENT_BYTES, 0, 1);
        run[i].access_bytes = ELEMENT_BYTES;
        run[i].step_bytes = (int64_t)(a->ld * ELEMENT_BYTES);
    }
    run[fill] = element_run(SIM_STORE, CONV_PACKED_FILTER, CONV_PHASE_PACK, panel, 0, 1);
    run[fill].step_bytes = (int64_t)(next * CONV_LANE_BYTES);
    sim_emit(sink, run, fill + 1, a->n_f);
}

void PACK_FILTERS_EMIT(const struct conv_pack_filters_args *a, struct sim_sink *sink)
{
    const size_t n_c = a->n_k / a->taps, head = conv_ukr_head(a->ukr) * a->n_f;
    const uint64_t steps = a->panels + head * CONV_LANE_BYTES;

    check_filters(a);
    for (size_t channel = 0; channel < n_c; channel += N_CHANNELS) {
        for (size_t tap = 0; tap < a->taps; tap++)
            emit_filters_step(a, channel, tap, steps, sink);
    }
    element_emit_stores(element_run(SIM_STORE, CONV_PACKED_FILTER, CONV_PHASE_PACK, a->panels, 1, 1), head, sink);
}

#endif
