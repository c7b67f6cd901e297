#include "kernels/emit/c_source.h"

#include <assert.h>
#include <inttypes.h>

struct printer {
    FILE *out;
    const char *prefix;
    size_t number;
};

/* ---- packing by vectors ---- */

static void print_tile_tables(const struct printer *p, const struct conv_routine *r)
{
    const int64_t *t = r->table;
    size_t n_spans = 0;

    fprintf(p->out, "static const struct tile tiles_%s_%zu[] = {\n", p->prefix, p->number);
    for (size_t i = 0; i < r->of.vectors.n_tiles; i++) {
        fprintf(p->out, "    { %" PRId64 ", %" PRId64 ", %" PRId64 ", %zu },\n", t[0], t[1], t[2], n_spans);
        n_spans += (size_t)t[2];
        t += CONV_TILE_VALUES + CONV_SPAN_VALUES * t[2];
    }
    fprintf(p->out, "};\n\nstatic const struct span spans_%s_%zu[] = {\n", p->prefix, p->number);
    t = r->table;
    for (size_t i = 0; i < r->of.vectors.n_tiles; i++) {
        size_t n = (size_t)t[2];

        t += CONV_TILE_VALUES;
        for (size_t s = 0; s < n; s++, t += CONV_SPAN_VALUES)
            fprintf(p->out, "    { %" PRId64 ", 0x%" PRIx64 ", 0x%" PRIx64 " },\n", t[0], (uint64_t)t[1],
                    (uint64_t)t[2]);
    }
    fprintf(p->out, "    { 0, 0, 0 },\n};\n\n");
}

/* A panel's rows of a channel, each row a shift of the loaded vectors. */
static void print_rows(const struct printer *p, const struct conv_routine_vectors *v)
{
    size_t parts = v->width / v->lanes;

    for (size_t row = 0; row < v->n_rows; row++)
        for (size_t part = 0; part < parts; part++)
            fprintf(p->out,
                    "    row = zero();\n"
                    "    for (size_t s = 0; s < n; s++)\n"
                    "        row = chosen(row, shifted(x[s][%zu], x[s][%zu], %zu, %zu), span[s].positions >> %zu & "
                    "((1u << LANES) - 1));\n"
                    "    store(panel + %zu, row);\n",
                    part * v->stride, part * v->stride + 1, row * v->dilation, v->stride, part * v->lanes,
                    row * v->width + part * v->lanes);
}

static void print_tile(const struct printer *p, const struct conv_routine_vectors *v)
{
    size_t n_pieces = (v->width / v->lanes - 1) * v->stride + 2;

    fprintf(p->out,
            "INLINE void tile_%s_%zu(const float *in, float *panel, const struct span *span, const size_t n)\n{\n"
            "    vec x[%d][%zu], row;\n\n"
            "    for (size_t s = 0; s < n; s++) {\n",
            p->prefix, p->number, CONV_MAX_WIN, n_pieces);
    for (size_t i = 0; i < n_pieces; i++)
        fprintf(p->out,
                "        x[s][%zu] = load_lanes(in + span[s].in + %zu, span[s].valid >> %zu & ((1u << LANES) - 1));\n",
                i, i * v->lanes, i * v->lanes);
    fprintf(p->out, "    }\n");
    print_rows(p, v);
    fprintf(p->out, "}\n\n");
}

static void print_copy(const struct printer *p, const struct conv_routine_vectors *v)
{
    size_t parts = v->width / v->lanes;

    for (size_t i = 0; i < parts; i++)
        fprintf(p->out, "                const vec x%zu = load(in + span->in + %zu);\n", i, i * v->lanes);
    for (size_t i = 0; i < parts; i++)
        fprintf(p->out, "                store(row + %zu, x%zu);\n", i * v->lanes, i);
}

static void print_vectors(const struct printer *p, const struct conv_routine *r)
{
    const struct conv_routine_vectors *v = &r->of.vectors;

    print_tile_tables(p, r);
    print_tile(p, v);
    fprintf(p->out,
            "/* Packs %zu tiles of %zu channels. */\n"
            "static __attribute__((noinline)) void %s_%zu(const float *in, float *panel)\n{\n"
            "    for (size_t c = 0; c < %zu; c++, in += %zu, panel += %zu)\n"
            "        for (size_t t = 0; t < %zu; t++) {\n"
            "            const struct tile *tile = &tiles_%s_%zu[t];\n"
            "            const struct span *span = &spans_%s_%zu[tile->first_span];\n"
            "            float *row = panel + tile->panel;\n\n"
            "            if (tile->is_copy) {\n",
            v->n_tiles, v->width, p->prefix, p->number, v->n_c, v->plane, v->channel, v->n_tiles, p->prefix, p->number,
            p->prefix, p->number);
    print_copy(p, v);
    fprintf(p->out, "            } else");
    for (int n = 1; n <= 4; n++)
        fprintf(p->out, " if (tile->n_spans == %d)\n                tile_%s_%zu(in, row, span, %d);\n            else",
                n, p->prefix, p->number, n);
    fprintf(p->out, "\n                tile_%s_%zu(in, row, span, tile->n_spans);\n        }\n}\n\n", p->prefix,
            p->number);
}

/* ---- packing element by element ---- */

static void print_pieces(const struct printer *p, const struct conv_routine *r)
{
    const struct conv_routine_pieces *q = &r->of.pieces;
    const int64_t *t = r->table;

    fprintf(p->out, "static const struct piece pieces_%s_%zu[] = {\n", p->prefix, p->number);
    for (size_t i = 0; i < q->n_pieces; i++, t += CONV_PIECE_VALUES)
        fprintf(p->out, "    { %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 " },\n", t[0], t[1], t[2],
                t[3], t[4]);
    fprintf(p->out,
            "};\n\n/* Packs %zu channels. */\n"
            "static __attribute__((noinline)) void %s_%zu(const float *in, float *panel)\n{\n"
            "    for (size_t c = 0; c < %zu; c++, in += %zu, panel += %zu)\n"
            "        for (size_t i = 0; i < %zu; i++)\n"
            "            pack_piece(in, panel, &pieces_%s_%zu[i], %zu);\n}\n\n",
            q->n_c, p->prefix, p->number, q->n_c, q->plane, q->channel, q->n_pieces, p->prefix, p->number, q->stride);
}

/* ---- packing of filters ---- */

static void print_filters(const struct printer *p, const struct conv_routine *r)
{
    const struct conv_routine_filters *f = &r->of.filters;

    fprintf(p->out,
            "/* Packs %zu filters. */\n"
            "static __attribute__((noinline)) void %s_%zu(const float *filter, float *panel)\n{\n",
            f->n_f, p->prefix, p->number);
    fprintf(p->out,
            "    for (size_t c = 0; c < %zu; c++)\n"
            "        for (size_t fh = 0; fh < %zu; fh++)\n"
            "            for (size_t fw = 0; fw < %zu; fw++, filter++) {\n"
            "                float *step = panel + ((%s * %zu + %s) * %zu + fw) * %zu;\n\n"
            "                for (size_t f = 0; f < %zu; f++)\n"
            "                    put(step + f, get(filter + f * %zu));\n"
            "            }\n}\n\n",
            f->n_c, f->r, f->s, f->by_rows ? "fh" : "c", f->by_rows ? f->n_c : f->r, f->by_rows ? "c" : "fh", f->s,
            f->n_f, f->n_f, f->ld);
}

/* ---- fused work behind the convolution ---- */

static void print_finish(const struct printer *p, const struct conv_routine *r)
{
    const struct conv_routine_finish *f = &r->of.finish;
    bool adds_bias = r->n_operands > 1;

    fprintf(p->out,
            "/* What follows the convolution, on %zu windows of %zu filters. */\n"
            "static __attribute__((noinline)) void %s_%zu(float *out%s)\n{\n"
            "    finish(out, %s, %zu, %zu, %zu, %zu);\n}\n\n",
            f->n_win, f->n_f, p->prefix, p->number, adds_bias ? ", const float *bias" : "", adds_bias ? "bias" : "NULL",
            f->n_f, f->n_win, f->ld_out, f->activation);
}

void conv_c_print_routine(const struct conv_program *program, size_t number, const char *prefix, FILE *out)
{
    static void (*const print[])(const struct printer *, const struct conv_routine *) = {
        [CONV_ROUTINE_VECTORS] = print_vectors,
        [CONV_ROUTINE_PIECES] = print_pieces,
        [CONV_ROUTINE_FILTERS] = print_filters,
        [CONV_ROUTINE_FINISH] = print_finish,
    };
    const struct conv_routine *r = &program->routine[number];
    const struct printer p = { out, prefix, number };

    assert(number < program->n_routines);
    if (r->kind == CONV_ROUTINE_UKR)
        conv_c_print_ukr(program, number, prefix, out);
    else
        print[r->kind](&p, r);
}
