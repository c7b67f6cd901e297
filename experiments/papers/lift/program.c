/* The text of a point's kernels: pad, convolve, sum, crop; and of a single output of each work-item. */
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

#include "experiments/papers/lift/lift.h"

/* What follows from layer and point, as the constraints say it. */
struct shape {
    const struct conv_problem *L;
    size_t rows, columns;                   /* of a band's padded input */
    size_t step_y, step_x;                  /* from tile to tile */
    size_t tiles_x, band, bands;            /* tiles beside each other, and below each other in a band; bands */
    size_t windows_h, windows_w, n_windows; /* of a tile */
    size_t groups, kernels, lanes;
    size_t windows, parts;   /* of a work-item; work-items of a tile */
    size_t elements, chunks; /* of a chunk; of a window */
    size_t row, pitch;       /* elements of a window's row; of the padded input's */
    size_t vector, unroll;
    bool is_coalesced, is_joined;
};

#define LIFT_CONSTRAINT(subject, relation, left, right, what)
#include "experiments/papers/lift/constraints.def"
#define V(name) ((size_t)p->value[LIFT_##name])

static struct shape shape_of(const struct conv_problem *L, const struct lift_point *p)
{
    return (struct shape){
        .L = L,
        .rows = (V(BAND) - 1) * STEP_Y + V(TILE),
        .columns = PADDED_W,
        .step_y = STEP_Y,
        .step_x = STEP_X,
        .tiles_x = TILES_X,
        .band = V(BAND),
        .bands = TILES_Y / V(BAND),
        .windows_h = (V(TILE) - L->r) / L->stride_h + 1,
        .windows_w = (V(TILE) - L->s) / L->stride_w + 1,
        .n_windows = TILE_WINDOWS,
        .groups = L->k / V(KERNELS),
        .kernels = V(KERNELS),
        .lanes = V(LANES),
        .windows = V(WINDOWS),
        .parts = PARTS,
        .elements = V(ELEMENTS),
        .chunks = CHUNKS,
        .row = ELEMENTS_OF_ROW,
        .pitch = PADDED_W * L->c,
        .vector = V(VECTOR),
        .unroll = V(UNROLL),
        .is_coalesced = V(COALESCED) && CHUNKS > 1,
        .is_joined = V(JOINED),
    };
}

/* ---- pieces of text ---- */

static void print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void print(FILE *out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(out, format, args);
    va_end(args);
}

/* Names a type of n floats. */
static const char *type(size_t n)
{
    return n == 1 ? "float" : n == 2 ? "float2" : n == 4 ? "float4" : n == 8 ? "float8" : "float16";
}

/* Prints a load of n floats; the address is a format's. */
static void print_load(FILE *out, size_t n, const char *pointer, const char *index)
{
    if (n == 1)
        print(out, "%s[%s]", pointer, index);
    else
        print(out, "vload%zu(0, %s + %s)", n, pointer, index);
}

static void print_head(FILE *out)
{
    print(out, "#ifndef GROUP\n#define GROUP(x, y) __attribute__((reqd_work_group_size(x, y, 1)))\n#endif\n"
               "#ifndef LANE\n#define LANE(v, i) v.s##i\n#endif\n"
               "#ifndef SPLAT\n#define SPLAT(t, x) ((t)(x))\n#endif\n");
}

static void print_signature(FILE *out, const struct lift_kernel *k)
{
    print(out, "\n__kernel GROUP(%zu, %zu) void %s(", k->local[0], k->local[1], k->name);
    for (size_t i = 0; i < k->n_args; i++)
        print(out, "__global %sfloat *restrict %s, ", i + 1 < k->n_args ? "const " : "", lift_roles[k->arg[i]]);
    print(out, "int band)\n{\n");
}

/* Returns the largest divisor of n that is at most `most`. */
static size_t divisor(size_t n, size_t most)
{
    size_t d = n < most ? n : most;

    while (n % d)
        d--;
    return d;
}

static struct lift_kernel *add_kernel(struct lift_program *g, struct lift_kernel k)
{
    g->kernel[g->n_kernels] = k;
    return &g->kernel[g->n_kernels++];
}

/* ---- pad: from [c][h][w] to a band's [rows][columns][c]; a work-item has some channels of a row ---- */

static void print_pad_columns(FILE *out, const struct shape *s, size_t channels)
{
    const struct conv_problem *L = s->L;

    print(out, "    for (int x = 0; x < %zu; x++, to += %zu) {\n", s->columns, L->c);
    print(out, "        %s v = SPLAT(%s, 0.0f);\n", type(channels), type(channels));
    print(out, "        if (y >= 0 && y < %zu && x >= %zu && x < %zu) {\n", L->h, L->pad_left, L->pad_left + L->w);
    for (size_t i = 0; i < channels; i++) {
        if (channels == 1)
            print(out, "            v = from[x];\n");
        else
            print(out, "            LANE(v, %zx) = from[%zu + x];\n", i, i * L->h * L->w);
    }
    print(out, "        }\n");
    if (channels == 1)
        print(out, "        *to = v;\n");
    else
        print(out, "        vstore%zu(v, 0, to);\n", channels);
    print(out, "    }\n}\n");
}

static void print_pad(FILE *out, struct lift_program *g, const struct shape *s)
{
    const struct conv_problem *L = s->L;
    const size_t channels = divisor(8, 8) && L->c % 8 == 0 ? 8 : L->c % 4 == 0 ? 4 : L->c % 2 == 0 ? 2 : 1;
    const size_t items = L->c / channels;
    const struct lift_kernel *k = add_kernel(
        g,
        (struct lift_kernel){ "pad", { LIFT_INPUT, LIFT_PADDED }, 2, { items, s->rows }, { divisor(items, 64), 1 } });

    print_signature(out, k);
    print(out, "    const int c = (int)get_global_id(0) * %zu, row = (int)get_global_id(1);\n", channels);
    print(out, "    const int y = band * %zu + row - %zu;\n", s->band * s->step_y, L->pad_top);
    print(out, "    __global const float *restrict from = input + ((long)c * %zu + y) * %zu - %zu;\n", L->h, L->w,
          L->pad_left);
    print(out, "    __global float *restrict to = padded + (long)row * %zu + c;\n\n", s->pitch);
    print_pad_columns(out, s, channels);
}

/* ---- convolve ---- */

/* Prints where window i of this work-item begins, relative to the tile: in `unit`s of a row and of a column. */
static void print_window(FILE *out, const struct shape *s, size_t i, size_t row_unit, size_t column_unit)
{
    const size_t w = s->windows_w, n = s->windows;

    if (w % n == 0)
        print(out, "part / %zu * %zu + (part %% %zu * %zu + %zu) * %zu", w / n, row_unit, w / n, n, i, column_unit);
    else if (n % w == 0)
        print(out, "(part * %zu + %zu) * %zu + %zu", n / w, i / w, row_unit, i % w * column_unit);
    else
        print(out, "(part * %zu + %zu) / %zu * %zu + (part * %zu + %zu) %% %zu * %zu", n, i, w, row_unit, n, i, w,
              column_unit);
}

static size_t accumulators_of_window(const struct shape *s)
{
    return s->kernels / s->lanes;
}

/* An accumulator is a vector of filters; of a single filter a number, or, for long vectors, a vector of elements. */
static size_t accumulator_floats(const struct shape *s)
{
    return s->lanes > 1 ? s->lanes : s->vector > 4 ? s->vector : 1;
}

static void print_convolve_begin(FILE *out, const struct shape *s)
{
    const char *t = type(accumulator_floats(s));

    print(out, "    const int chunk = (int)get_local_id(0), part = (int)get_local_id(1);\n");
    print(out, "    const int group = (int)get_group_id(0), tile = (int)get_group_id(1);\n");
    print(out, "    const int at = (tile / %zu * %zu + tile %% %zu * %zu) * %zu;\n", s->tiles_x, s->step_y * s->columns,
          s->tiles_x, s->step_x, s->L->c);
    print(out, "    __global const float *restrict f = filters + (long)group * %zu;\n",
          s->kernels * s->elements * s->chunks);
    for (size_t i = 0; i < s->windows; i++) {
        print(out, "    __global const float *restrict x%zu = padded + at + ", i);
        print_window(out, s, i, s->L->stride_h * s->pitch, s->L->stride_w * s->L->c);
        print(out, ";\n");
    }
    for (size_t i = 0; i < s->windows; i++) {
        for (size_t k = 0; k < accumulators_of_window(s); k++)
            print(out, "    %s a%zu_%zu = SPLAT(%s, 0.0f);\n", t, i, k, t);
    }
    print(out, "\n");
}

/* Filters in registers, a window's value in a register, all products: lane l of the vector of elements, if any. */
static void print_products(FILE *out, const struct shape *s, size_t lane)
{
    const size_t n = accumulators_of_window(s);
    const size_t wide = s->lanes > 1 ? s->lanes : s->vector;
    const bool has_dot = s->lanes == 1 && (s->vector == 2 || s->vector == 4);

    print(out, "            {\n");
    for (size_t k = 0; k < n; k++) {
        char *index = exp_format("%zu", lane * s->kernels + k * wide);

        print(out, "                const %s f%zu = ", type(wide), k);
        print_load(out, wide, "g", index);
        print(out, ";\n");
        free(index);
    }
    for (size_t i = 0; i < s->windows; i++) {
        char *value = s->lanes > 1 && s->vector > 1 ? exp_format("LANE(v%zu, %zx)", i, lane) : exp_format("v%zu", i);

        for (size_t k = 0; k < n; k++)
            print(out,
                  has_dot ? "                a%zu_%zu += dot(%s, f%zu);\n" : "                a%zu_%zu += %s * f%zu;\n",
                  i, k, value, k);
        free(value);
    }
    print(out, "            }\n");
}

/* The body of the innermost loop: vector `o` elements into the window, filters at g. */
static void print_body(FILE *out, const struct shape *s)
{
    for (size_t i = 0; i < s->windows; i++) {
        char *pointer = exp_format("x%zu", i);

        print(out, "            const %s v%zu = ", type(s->vector), i);
        print_load(out, s->vector, pointer, "o");
        print(out, ";\n");
        free(pointer);
    }
    for (size_t lane = 0; lane < (s->lanes > 1 ? s->vector : 1); lane++)
        print_products(out, s, lane);
}

static void print_unroll(FILE *out, const struct shape *s)
{
    if (s->unroll > 1)
        print(out, "#pragma unroll %zu\n", s->unroll);
}

/* The loop over a chunk's vectors: as two loops where chunks are whole rows of a window, or lie in one. */
static void print_loops(FILE *out, const struct shape *s)
{
    const size_t v = s->vector, step = v * s->kernels, per_chunk = s->elements / v;
    const bool has_rows = !s->is_coalesced && s->elements % s->row == 0,
               has_row = !s->is_coalesced && s->row % s->elements == 0;

    if (has_rows || has_row) {
        const size_t rows = has_rows ? s->elements / s->row : 1, length = has_rows ? s->row : s->elements;

        print(out, "    __global const float *restrict g = f + chunk * %zu;\n", s->elements * s->kernels);
        print(out, "    for (int r = 0; r < %zu; r++) {\n", rows);
        if (has_rows)
            print(out, "        int o = (chunk * %zu + r) * %zu;\n", rows, s->pitch);
        else
            print(out, "        int o = chunk * %zu / %zu * %zu + chunk * %zu %% %zu;\n", s->elements, s->row, s->pitch,
                  s->elements, s->row);
        print_unroll(out, s);
        print(out, "        for (int i = 0; i < %zu; i++, o += %zu, g += %zu) {\n", length / v, v, step);
    } else {
        print(out, "    {\n");
        print_unroll(out, s);
        print(out, "        for (int i = 0; i < %zu; i++) {\n", per_chunk);
        if (s->is_coalesced)
            print(out, "            const int q = i * %zu + chunk, e = q * %zu;\n", s->chunks, v);
        else
            print(out, "            const int q = chunk * %zu + i, e = q * %zu;\n", per_chunk, v);
        print(out, "            const int o = e / %zu * %zu + e %% %zu;\n", s->row, s->pitch, s->row);
        print(out, "            __global const float *restrict g = f + q * %zu;\n", step);
    }
    print_body(out, s);
    print(out, "        }\n    }\n\n");
}

/* Prints a filter's number: lane `l` of accumulator k, of window i. */
static void print_lane(FILE *out, const struct shape *s, size_t i, size_t k, size_t l)
{
    const size_t n = accumulator_floats(s);

    if (s->lanes > 1) {
        print(out, "LANE(a%zu_%zu, %zx)", i, k, l);
    } else if (n == 1) {
        print(out, "a%zu_%zu", i, k);
    } else {
        for (size_t e = 0; e < n; e++)
            print(out, "%sLANE(a%zu_%zu, %zx)", e ? " + " : "", i, k, e);
    }
}

static void print_to_partial(FILE *out, const struct shape *s)
{
    print(out,
          "    __global float *restrict to = partial + ((((long)tile * %zu + group) * %zu + part * %zu) * %zu + chunk) "
          "* %zu;\n",
          s->groups, s->n_windows, s->windows, s->chunks, s->kernels);
    for (size_t i = 0; i < s->windows; i++) {
        for (size_t k = 0; k < accumulators_of_window(s); k++) {
            const size_t at = i * s->chunks * s->kernels + k * s->lanes;

            if (s->lanes > 1) {
                print(out, "    vstore%zu(a%zu_%zu, 0, to + %zu);\n", s->lanes, i, k, at);
            } else {
                print(out, "    to[%zu] = ", at);
                print_lane(out, s, i, k, 0);
                print(out, ";\n");
            }
        }
    }
}

/* Tells whether some windows lie outside the output: those of zeros. */
static bool has_more_windows(const struct shape *s)
{
    return s->bands * s->band * s->windows_h != s->L->p || s->tiles_x * s->windows_w != s->L->q;
}

static void print_to_output(FILE *out, const struct shape *s)
{
    const size_t plane = s->L->p * s->L->q;

    for (size_t i = 0; i < s->windows; i++) {
        print(out, "    {\n        const int place = ");
        print_window(out, s, i, 65536, 1);
        print(out, ";\n        const int y = band * %zu + tile / %zu * %zu + place / 65536;\n", s->band * s->windows_h,
              s->tiles_x, s->windows_h);
        print(out, "        const int x = tile %% %zu * %zu + place %% 65536;\n", s->tiles_x, s->windows_w);
        print(out, "        __global float *restrict to = output + (long)group * %zu + y * %zu + x;\n",
              s->kernels * plane, s->L->q);
        if (has_more_windows(s))
            print(out, "        if (y < %zu && x < %zu) {\n", s->L->p, s->L->q);
        else
            print(out, "        {\n");
        for (size_t k = 0; k < s->kernels; k++) {
            print(out, "            to[%zu] = ", k * plane);
            print_lane(out, s, i, k / s->lanes, k % s->lanes);
            print(out, ";\n");
        }
        print(out, "        }\n    }\n");
    }
}

static void print_convolve(FILE *out, struct lift_program *g, const struct shape *s)
{
    const struct lift_kernel *k =
        add_kernel(g, (struct lift_kernel){ "convolve",
                                            { LIFT_PADDED, LIFT_FILTERS, s->is_joined ? LIFT_OUTPUT : LIFT_PARTIAL },
                                            3,
                                            { s->groups * s->chunks, s->band * s->tiles_x * s->parts },
                                            { s->chunks, s->parts } });

    print_signature(out, k);
    print_convolve_begin(out, s);
    print_loops(out, s);
    if (s->is_joined)
        print_to_output(out, s);
    else
        print_to_partial(out, s);
    print(out, "}\n");
}

/* ---- sum: a work-item has a single filter of a tile; crop: a single filter and a row of the output ---- */

static void print_sum(FILE *out, struct lift_program *g, const struct shape *s)
{
    const struct lift_kernel *k = add_kernel(g, (struct lift_kernel){ "sum",
                                                                      { LIFT_PARTIAL, LIFT_SUMS },
                                                                      2,
                                                                      { s->groups * s->kernels, s->band * s->tiles_x },
                                                                      { s->kernels, 1 } });

    print_signature(out, k);
    print(out, "    const long at = ((long)get_group_id(1) * %zu + get_group_id(0)) * %zu;\n", s->groups,
          s->n_windows * s->kernels);
    print(out, "    const int k = (int)get_local_id(0);\n\n");
    print(out, "    for (int w = 0; w < %zu; w++) {\n", s->n_windows);
    print(out, "        __global const float *restrict from = partial + at * %zu + w * %zu + k;\n", s->chunks,
          s->chunks * s->kernels);
    print(out, "        float sum = 0.0f;\n\n");
    print(out, "        for (int c = 0; c < %zu; c++)\n            sum += from[c * %zu];\n", s->chunks, s->kernels);
    print(out, "        sums[at + w * %zu + k] = sum;\n    }\n    (void)band;\n}\n", s->kernels);
}

static void print_crop(FILE *out, struct lift_program *g, const struct shape *s)
{
    const enum lift_role from = s->chunks > 1 ? LIFT_SUMS : LIFT_PARTIAL;
    const struct lift_kernel *k =
        add_kernel(g, (struct lift_kernel){
                          "crop", { from, LIFT_OUTPUT }, 2, { s->L->k, s->band * s->windows_h }, { s->kernels, 1 } });

    print_signature(out, k);
    print(out, "    const int k = (int)get_local_id(0), group = (int)get_group_id(0), row = (int)get_global_id(1);\n");
    print(out, "    const int y = band * %zu + row;\n", s->band * s->windows_h);
    print(out, "    __global float *restrict to = output + ((long)get_global_id(0) * %zu + y) * %zu;\n", s->L->p,
          s->L->q);
    print(out, "    int x = 0;\n\n    if (y >= %zu)\n        return;\n", s->L->p);
    print(out, "    for (int tile = 0; tile < %zu; tile++) {\n", s->tiles_x);
    print(out,
          "        __global const float *restrict from = %s + ((((long)row / %zu * %zu + tile) * %zu + group) * %zu + "
          "row %% %zu * %zu) * %zu + k;\n",
          lift_roles[from], s->windows_h, s->tiles_x, s->groups, s->n_windows, s->windows_h, s->windows_w, s->kernels);
    print(out, "\n        for (int w = 0; w < %zu && x < %zu; w++)\n            to[x++] = from[w * %zu];\n    }\n}\n",
          s->windows_w, s->L->q, s->kernels);
}

/* ---- programs ---- */

static void fill_bytes(struct lift_program *g, const struct conv_problem *L, const struct lift_point *p)
{
    g->bytes[LIFT_INPUT] = BYTES_OF_INPUT;
    g->bytes[LIFT_FILTERS] = BYTES_OF_FILTERS;
    g->bytes[LIFT_PADDED] = BYTES_OF_PADDED;
    g->bytes[LIFT_PARTIAL] = BYTES_OF_PARTIAL;
    g->bytes[LIFT_SUMS] = BYTES_OF_SUMS;
    g->bytes[LIFT_OUTPUT] = BYTES_OF_OUTPUT;
}

void lift_program_make(struct lift_program *g, const struct conv_problem *layer, const struct lift_point *p)
{
    const struct shape s = shape_of(layer, p);
    size_t bytes;
    FILE *out;

    assert(g && p);
    *g = (struct lift_program){ .flags = lift_flags[p->value[LIFT_FLAGS]], .n_bands = s.bands };
    out = exp_memory_open(&g->text, &bytes);
    print_head(out);
    print_pad(out, g, &s);
    print_convolve(out, g, &s);
    if (s.chunks > 1)
        print_sum(out, g, &s);
    if (!s.is_joined)
        print_crop(out, g, &s);
    fclose(out);
    fill_bytes(g, layer, p);
    g->useful_macs = conv_macs(layer);
    g->macs = (double)(s.bands * s.band * s.tiles_x * s.n_windows) * (double)layer->k * (double)(s.chunks * s.elements);
}

/* A single output of each work-item; a kernel before pads, so no conditions are needed: [c][rows][columns]. */
static void print_naive(FILE *out, struct lift_program *g, const struct conv_problem *L)
{
    const size_t rows = L->h + L->pad_top + L->pad_bottom, columns = L->w + L->pad_left + L->pad_right;
    const struct lift_kernel *k = add_kernel(
        g, (struct lift_kernel){
               "pad", { LIFT_INPUT, LIFT_PADDED }, 2, { columns, L->c * rows }, { divisor(columns, 64), 1 } });

    print_signature(out, k);
    print(out,
          "    const int x = (int)get_global_id(0) - %zu, y = (int)get_global_id(1) %% %zu - %zu, c = "
          "(int)get_global_id(1) / %zu;\n",
          L->pad_left, rows, L->pad_top, rows);
    print(out, "    const int is_inside = x >= 0 && x < %zu && y >= 0 && y < %zu;\n\n", L->w, L->h);
    print(out,
          "    padded[get_global_id(1) * %zu + get_global_id(0)] = is_inside ? input[((long)c * %zu + y) * %zu + x] : "
          "0.0f;\n    (void)band;\n}\n",
          columns, L->h, L->w);
    k = add_kernel(
        g,
        (struct lift_kernel){
            "naive", { LIFT_PADDED, LIFT_FILTERS, LIFT_OUTPUT }, 3, { L->q, L->k * L->p }, { divisor(L->q, 64), 1 } });
    print_signature(out, k);
    print(out,
          "    const int x = (int)get_global_id(0), y = (int)get_global_id(1) %% %zu, k = (int)get_global_id(1) / "
          "%zu;\n    float sum = 0.0f;\n\n",
          L->p, L->p);
    print(out,
          "    for (int c = 0; c < %zu; c++) {\n        for (int r = 0; r < %zu; r++) {\n            for (int s = 0; s "
          "< %zu; s++)\n",
          L->c, L->r, L->s);
    print(out,
          "                sum += padded[((long)c * %zu + y * %zu + r) * %zu + x * %zu + s] * filters[((long)(k * %zu "
          "+ c) * %zu + r) * %zu + s];\n        }\n    }\n",
          rows, L->stride_h, columns, L->stride_w, L->c, L->r, L->s);
    print(out, "    output[((long)k * %zu + y) * %zu + x] = sum;\n    (void)band;\n}\n", L->p, L->q);
    g->bytes[LIFT_PADDED] = L->c * rows * columns * sizeof(float);
}

void lift_program_naive(struct lift_program *g, const struct conv_problem *L, unsigned flags)
{
    size_t bytes;
    FILE *out;

    assert(flags < LIFT_N_FLAGS);
    *g = (struct lift_program){ .flags = lift_flags[flags], .n_bands = 1 };
    out = exp_memory_open(&g->text, &bytes);
    print_head(out);
    print_naive(out, g, L);
    fclose(out);
    g->bytes[LIFT_INPUT] = BYTES_OF_INPUT;
    g->bytes[LIFT_FILTERS] = BYTES_OF_FILTERS;
    g->bytes[LIFT_OUTPUT] = BYTES_OF_OUTPUT;
    g->useful_macs = g->macs = conv_macs(L);
}

void lift_program_release(struct lift_program *g)
{
    free(g->text);
    *g = (struct lift_program){ 0 };
}

size_t lift_program_bytes(const struct lift_program *g)
{
    size_t sum = 0;

    for (size_t i = 0; i < LIFT_N_ROLES; i++)
        sum += g->bytes[i];
    return sum;
}

void lift_lay_filters(const struct conv_problem *L, const struct lift_point *p, const float *from, float *to)
{
    const size_t all = ELEMENTS_OF_WINDOW, kernels = V(KERNELS), v = V(VECTOR);

    assert(from && to && from != to);
    for (size_t k = 0; k < L->k; k++) {
        float *group = to + k / kernels * all * kernels;
        size_t e = 0;

        for (size_t r = 0; r < L->r; r++) {
            for (size_t s = 0; s < L->s; s++) {
                for (size_t c = 0; c < L->c; c++, e++) {
                    const size_t place =
                        V(LANES) > 1 ? e * kernels + k % kernels : e / v * v * kernels + k % kernels * v + e % v;

                    group[place] = from[((k * L->c + c) * L->r + r) * L->s + s];
                }
            }
        }
    }
}
