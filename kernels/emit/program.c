#include "kernels/emit/program.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/emit/program_ukr.h"
#include "kernels/nest/nest.h"
#include "kernels/backend/resolve.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/element.h"
#include "kernels/ukr/pack_vbp.h"

void conv_program_adapt(struct conv_plan *plan)
{
    const struct conv_pack_windows *one_by_one = conv_pack_windows_at(0), *pack = plan->sconv.pack_windows;

    if (plan->algorithm != CONV_SCONV || pack->vector_bytes || pack == one_by_one)
        return;
    plan->sconv.pack_windows = one_by_one;
    for (size_t i = 1; i < conv_pack_windows_count(); i++) {
        pack = conv_pack_windows_at(i);
        if (pack->vector_bytes && pack->isa == plan->ukr->isa &&
            conv_pack_windows_suits(pack, &plan->view, conv_ukr_win_panel(plan->ukr)))
            plan->sconv.pack_windows = pack;
    }
}

struct emitter {
    struct conv_backend base;
    struct conv_program *program;
    int err;
};

/* ---- plans that can be written ---- */

const char *conv_program_why_not(const struct conv_plan *plan)
{
    if (plan->algorithm == CONV_WINOGRAD)
        return "it is Winograd's";
    if (plan->algorithm != CONV_SCONV)
        return "it is no SConv";
    if (!conv_emitted_lanes(plan->ukr))
        return "code is not written for its micro-kernel (kernels/emit/emitted.def)";
    return plan->sconv.options.pads_first     ? "it pads first"
           : plan->sconv.options.lowers_first ? "it lowers first"
                                              : NULL;
}

/* ---- routines ---- */

static size_t size_of(enum conv_routine_kind kind)
{
    static const size_t bytes[] = {
        [CONV_ROUTINE_UKR] = sizeof(struct conv_routine_ukr),
        [CONV_ROUTINE_VECTORS] = sizeof(struct conv_routine_vectors),
        [CONV_ROUTINE_PIECES] = sizeof(struct conv_routine_pieces),
        [CONV_ROUTINE_FILTERS] = sizeof(struct conv_routine_filters),
        [CONV_ROUTINE_FINISH] = sizeof(struct conv_routine_finish),
    };

    return bytes[kind];
}

static bool is_same(const struct conv_routine *a, const struct conv_routine *b)
{
    return a->kind == b->kind && a->n_operands == b->n_operands && !memcmp(a->tensor, b->tensor, sizeof a->tensor) &&
           a->n_table == b->n_table && !memcmp(&a->of, &b->of, size_of(a->kind)) &&
           (!a->n_table || !memcmp(a->table, b->table, a->n_table * sizeof *a->table));
}

/* Finds or keeps a routine. Takes the routine's table. */
static int number_of(struct conv_program *p, struct conv_routine *r, unsigned *number)
{
    struct conv_routine *more;

    for (size_t i = p->n_routines; i-- > 0;) {
        if (is_same(&p->routine[i], r)) {
            free(r->table);
            *number = (unsigned)i;
            return 0;
        }
    }
    more = realloc(p->routine, (p->n_routines + 1) * sizeof *more);
    if (!more) {
        free(r->table);
        return -ENOMEM;
    }
    p->routine = more;
    *number = (unsigned)p->n_routines;
    p->routine[p->n_routines++] = *r;
    return 0;
}

static void add_call(struct emitter *e, struct conv_routine_call *call)
{
    int64_t at[CONV_FOLD_MOST_OPERANDS] = { 0 };
    unsigned number = 0;

    for (size_t o = 0; o < call->routine.n_operands; o++)
        at[o] = conv_routine_floats(call->at[o]);
    if (!e->err)
        e->err = number_of(e->program, &call->routine, &number);
    else
        free(call->routine.table);
    if (!e->err)
        e->err = conv_fold_add(&e->program->fold, number, at);
}

/* Notes a call of a routine; operands are addresses of tensors that begin at 0. */
static void add(struct emitter *e, struct conv_routine *r, uint64_t a, uint64_t b)
{
    struct conv_routine_call call = { *r, { a, b } };

    add_call(e, &call);
}

static struct conv_routine routine(enum conv_routine_kind kind, enum conv_tensor a, enum conv_tensor b)
{
    return (struct conv_routine){ .kind = kind, .n_operands = 2, .tensor = { a, b } };
}

/* ---- steps ---- */

static const struct conv_binding at_zero = { { 0 } };

static void emit_ukr(struct emitter *e, const struct conv_step *s)
{
    struct conv_routine_call call;

    for (size_t f = 0; f < s->n_f && !e->err;) {
        e->err = conv_routine_of_ukr(&call, e->program->plan, s, &f);
        if (!e->err)
            add_call(e, &call);
    }
}

static int64_t *table_of(struct emitter *e, size_t n)
{
    int64_t *table = e->err ? NULL : calloc(n, sizeof *table);

    if (!table)
        e->err = -ENOMEM;
    return table;
}

static size_t count_spans(const struct vbp_group *g)
{
    size_t n = 0;

    for (size_t t = 0; t < g->n_tiles; t++)
        n += g->tile[t].n_spans;
    return n;
}

/* The first address that a group reads; of a group of padding alone, 0. */
static uint64_t first_read(const struct vbp_group *g)
{
    for (size_t t = 0; t < g->n_tiles; t++) {
        if (g->tile[t].n_spans)
            return g->tile[t].span[0].base;
    }
    return 0;
}

static size_t fill_tiles(const struct vbp_group *g, int64_t *table)
{
    uint64_t in = first_read(g), panel = g->tile[0].panel;
    size_t n = 0;

    for (size_t t = 0; t < g->n_tiles; t++) {
        const struct vbp_tile *tile = &g->tile[t];

        table[n++] = conv_routine_floats(tile->panel - panel);
        table[n++] = tile->is_copy;
        table[n++] = (int64_t)tile->n_spans;
        for (size_t i = 0; i < tile->n_spans; i++) {
            table[n++] = conv_routine_floats(tile->span[i].base - in);
            table[n++] = tile->span[i].valid.all;
            table[n++] = tile->span[i].positions.all;
        }
    }
    return n;
}

static void emit_group(const struct conv_pack_windows *self, const struct vbp_group *g, void *emitter)
{
    struct conv_routine r = routine(CONV_ROUTINE_VECTORS, CONV_INPUT, CONV_PACKED_INPUT);
    struct emitter *e = emitter;

    if (!g->n_tiles)
        return;
    r.of.vectors = (struct conv_routine_vectors){
        .n_c = g->n_c,
        .n_rows = g->n_rows,
        .width = g->width,
        .stride = g->stride,
        .dilation = g->dilation,
        .plane = g->plane_bytes / sizeof(float),
        .channel = g->channel_bytes / sizeof(float),
        .lanes = self->vector_bytes / sizeof(float),
        .n_tiles = g->n_tiles,
    };
    r.table = table_of(e, CONV_TILE_VALUES * g->n_tiles + CONV_SPAN_VALUES * count_spans(g));
    if (e->err)
        return;
    r.n_table = fill_tiles(g, r.table);
    add(e, &r, first_read(g), g->tile[0].panel);
}

/* Pieces of a set of tiles, in the order of packing. */
struct pieces {
    const struct conv_pack_windows_args *a;
    int64_t *table;
    size_t n; /* values */
};

static void add_piece(struct pieces *p, uint64_t panel, const struct element_clip *c)
{
    const int64_t piece[CONV_PIECE_VALUES] = { conv_routine_floats(panel), (int64_t)c->before,
                                               (int64_t)(c->row * p->a->p->w + c->column), (int64_t)c->inside,
                                               (int64_t)c->after };

    if (p->table)
        memcpy(p->table + p->n, piece, sizeof piece);
    p->n += CONV_PIECE_VALUES;
}

static void add_row(struct pieces *p, const struct conv_tile *t, uint64_t first_panel, size_t tap)
{
    const struct conv_pack_windows_args *a = p->a;
    size_t fh = tap / a->p->s, fw = tap % a->p->s;
    uint64_t panel = t->panel - first_panel + (conv_panel_row(a, 0, fh) + fw * a->width) * sizeof(float);
    const struct element_clip rest = { .before = a->width - t->n_win };

    for (size_t g = 0; g < t->n_segments; g++) {
        const struct element_clip c = element_clip(a->p, &t->segment[g], fh, fw);

        add_piece(p, panel + t->segment[g].first * sizeof(float), &c);
    }
    if (rest.before)
        add_piece(p, panel + t->n_win * sizeof(float), &rest);
}

static void add_tiles(struct pieces *p, const struct conv_tiles *tiles)
{
    for (size_t tap = 0; tap < p->a->p->r * p->a->p->s; tap++) {
        for (size_t t = 0; t < tiles->n; t++) {
            if (conv_tile_needs(&tiles->tile[t], p->a->p, tap / p->a->p->s))
                add_row(p, &tiles->tile[t], tiles->tile[0].panel, tap);
        }
    }
}

static void emit_tiles(struct emitter *e, const struct conv_pack_windows_args *a, const struct conv_tiles *tiles)
{
    struct conv_routine r = routine(CONV_ROUTINE_PIECES, CONV_INPUT, CONV_PACKED_INPUT);
    struct pieces pieces = { .a = a };

    add_tiles(&pieces, tiles);
    r.n_table = pieces.n;
    r.of.pieces = (struct conv_routine_pieces){
        .n_c = a->n_c,
        .stride = a->p->stride_w,
        .plane = a->p->h * a->p->w,
        .channel = conv_panel_row(a, 1, 0) - conv_panel_row(a, 0, 0),
        .n_pieces = pieces.n / CONV_PIECE_VALUES,
    };
    r.table = pieces.table = table_of(e, pieces.n);
    if (e->err)
        return;
    pieces.n = 0;
    add_tiles(&pieces, tiles);
    add(e, &r, a->in, tiles->tile[0].panel);
}

static void emit_pack_windows(struct emitter *e, const struct conv_step *s)
{
    const struct conv_pack_windows_args a = conv_resolve_pack_windows(e->program->plan, &at_zero, s);
    const struct conv_pack_windows *pack = conv_resolve_packer(e->program->plan, &a);
    struct conv_tiles tiles;

    if (pack->vector_bytes) {
        vbp_for_each_group(pack, &a, e, emit_group);
        return;
    }
    for (size_t first = 0, n; (n = conv_tiles_at(&a, first, &tiles)) > 0; first += n)
        emit_tiles(e, &a, &tiles);
}

static void emit_filter_panel(struct emitter *e, const struct conv_pack_filters_args *a, size_t f, size_t n_f)
{
    const struct conv_problem *p = &e->program->plan->problem;
    struct conv_routine r = routine(CONV_ROUTINE_FILTERS, CONV_FILTER, CONV_PACKED_FILTER);

    r.of.filters = (struct conv_routine_filters){
        .n_f = n_f,
        .n_c = a->n_k / (p->r * p->s),
        .r = p->r,
        .s = p->s,
        .ld = a->ld,
        .by_rows = a->by_rows != 0,
    };
    add(e, &r, a->filter + f * a->ld * sizeof(float), a->panels + f * a->n_k * sizeof(float));
}

static void emit_pack_filters(struct emitter *e, const struct conv_step *s)
{
    const struct conv_pack_filters_args a = conv_resolve_pack_filters(e->program->plan, &at_zero, s);
    const size_t most = a.ukr->f_panel;

    for (size_t f = 0; f < a.n_f; f += most)
        emit_filter_panel(e, &a, f, a.n_f - f < most ? a.n_f - f : most);
}

static int emit_step(struct conv_backend *self, const struct conv_step *s)
{
    struct emitter *e = (struct emitter *)self;

    switch (s->kind) {
    case CONV_STEP_PACK_WINDOWS:
        emit_pack_windows(e, s);
        return e->err;
    case CONV_STEP_PACK_FILTERS:
        emit_pack_filters(e, s);
        return e->err;
    case CONV_STEP_UKR:
        emit_ukr(e, s);
        return e->err;
    default:
        return -EINVAL; /* conv_program_why_not */
    }
}

/* ---- programs ---- */

/* Notes the fused work on tiles of outputs. Address 0 means none, so this back-end's tensors begin at FIRST. */
struct finisher {
    struct conv_fused fused;
    struct emitter *emitter;
};

static const uint64_t FIRST = (uint64_t)1 << 62;

static void emit_finish(struct conv_fused *self, const struct conv_epilogue_args *a)
{
    struct emitter *e = ((struct finisher *)self)->emitter;
    struct conv_routine_call call = {
        .routine = { .kind = CONV_ROUTINE_FINISH,
                     .n_operands = a->bias ? 2 : 1,
                     .tensor = { CONV_OUTPUT, a->bias ? CONV_OPERAND_BIAS : 0 },
                     .of.finish = { a->n_f, a->n_win, a->ld_out, a->activation } },
        .at = { a->out - FIRST, a->bias ? a->bias - FIRST : 0 },
    };

    add_call(e, &call);
}

static int write_down(struct conv_program *p, const struct conv_plan *plan,
                      int (*nest)(const struct conv_plan *plan, struct conv_backend *backend),
                      const struct conv_fusion *after)
{
    const struct conv_after fused = {
        .out = FIRST,
        .bias = after->adds_bias ? FIRST : 0,
        .activation = after->activation,
    };
    struct emitter e = { .base.step = emit_step, .program = p };
    struct finisher f = { .emitter = &e };
    int err;

    *p = (struct conv_program){ .plan = plan };
    conv_fused_init(&f.fused, &e.base, plan, &fused, NULL);
    f.fused.finish = emit_finish;
    err = nest(plan, after->adds_bias || after->activation ? &f.fused.base : &e.base);
    if (!err)
        err = e.err;
    if (err)
        conv_program_release(p);
    return err;
}

int conv_program_of_fused(struct conv_program *p, const struct conv_plan *plan, const struct conv_fusion *after)
{
    assert(!conv_program_why_not(plan));
    return write_down(p, plan, conv_nest_run, after);
}

int conv_program_of_filters(struct conv_program *p, const struct conv_plan *plan)
{
    const struct conv_fusion nothing = { .adds_bias = false };

    assert(!conv_program_why_not(plan));
    return write_down(p, plan, conv_nest_pack_filters, &nothing);
}

void conv_program_release(struct conv_program *p)
{
    for (size_t i = 0; i < p->n_routines; i++)
        free(p->routine[i].table);
    free(p->routine);
    conv_fold_release(&p->fold);
    *p = (struct conv_program){ 0 };
}
