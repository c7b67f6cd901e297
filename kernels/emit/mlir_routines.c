#include "kernels/emit/mlir_source.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "kernels/shape/sizes.h"

static const char *const tensor_names[CONV_N_TENSORS] = {
    "input", "packed_input", "filter", "packed_filter", "im2col", "output",
};

const char *conv_mlir_tensor(enum conv_tensor t)
{
    return tensor_names[t];
}

int conv_mlir_operands(const struct conv_routine *r)
{
    return r->kind == CONV_ROUTINE_UKR ? CONV_FOLD_OPERANDS : 2;
}

void conv_mlir_print_type(const struct conv_plan *plan, enum conv_tensor t, FILE *out)
{
    fprintf(out, "memref<%zuxf32>", max_size(plan->layout.bytes[t] / sizeof(float), 1));
}

/* A constant of a function without loops: what it is, and its value's number. */
struct known {
    int64_t is;
    size_t value;
};

enum { MOST_KNOWN = 64 };

/* A routine that is being printed: its values are numbered. */
struct printer {
    const struct conv_plan *plan;
    const struct conv_routine *r;
    enum conv_mlir_kernel kernel;
    FILE *out;
    size_t n_values;
    bool is_straight; /* it has no loops, so that constants hold to its end */
    size_t n_known[2];
    struct known known[2][MOST_KNOWN]; /* indices; masks */
};

/* Prints "%<number> = " and the operation. Returns the number. */
static size_t __attribute__((format(printf, 2, 3))) value(struct printer *p, const char *format, ...)
{
    va_list args;

    fprintf(p->out, "  %%v%zu = ", p->n_values);
    va_start(args, format);
    vfprintf(p->out, format, args);
    va_end(args);
    fprintf(p->out, "\n");
    return p->n_values++;
}

enum { INDEX, MASK };

/* Finds a constant that was printed before, or returns NULL. */
static const struct known *find_known(const struct printer *p, int kind, int64_t is)
{
    for (size_t i = 0; i < p->n_known[kind]; i++) {
        if (p->known[kind][i].is == is)
            return &p->known[kind][i];
    }
    return NULL;
}

/* Remembers a constant where that is good for something. Returns its value. */
static size_t remember(struct printer *p, int kind, int64_t is, size_t value)
{
    if (p->is_straight && p->n_known[kind] < MOST_KNOWN)
        p->known[kind][p->n_known[kind]++] = (struct known){ is, value };
    return value;
}

static size_t constant(struct printer *p, int64_t x)
{
    const struct known *k = find_known(p, INDEX, x);

    return k ? k->value : remember(p, INDEX, x, value(p, "arith.constant %" PRId64 " : index", x));
}

/* An index: the name of a value. */
struct name {
    char text[24];
};

static struct name name_of(size_t value)
{
    struct name n;

    snprintf(n.text, sizeof n.text, "%%v%zu", value);
    return n;
}

static struct name argument(int operand)
{
    struct name n;

    snprintf(n.text, sizeof n.text, "%%a%d", operand);
    return n;
}

static struct name beside(struct printer *p, struct name base, size_t by)
{
    return name_of(value(p, "arith.addi %s, %%v%zu : index", base.text, by));
}

static struct name offset_from(struct printer *p, struct name base, int64_t offset)
{
    return offset ? beside(p, base, constant(p, offset)) : base;
}

static size_t mask(struct printer *p, uint64_t bits, size_t lanes)
{
    const struct known *k = find_known(p, MASK, (int64_t)bits);

    if (k)
        return k->value;
    fprintf(p->out, "  %%v%zu = arith.constant dense<[", p->n_values);
    for (size_t i = 0; i < lanes; i++)
        fprintf(p->out, "%s%s", i ? ", " : "", bits >> i & 1 ? "true" : "false");
    fprintf(p->out, "]> : vector<%zuxi1>\n", lanes);
    return remember(p, MASK, (int64_t)bits, p->n_values++);
}

/* Prints zeros; among masks they stand for none. */
static size_t zeros(struct printer *p, size_t lanes)
{
    const struct known *k = find_known(p, MASK, 0);

    return k ? k->value : remember(p, MASK, 0, value(p, "arith.constant dense<0.0> : vector<%zuxf32>", lanes));
}

static void print_type(const struct printer *p, int operand)
{
    conv_mlir_print_type(p->plan, p->r->tensor[operand], p->out);
}

static uint64_t all_of(size_t lanes)
{
    return ((uint64_t)1 << lanes) - 1;
}

/* Loads a vector's elements whose bits are set, at an index; the others are 0. */
static size_t load_lanes(struct printer *p, int operand, const char *name, struct name index, uint64_t bits,
                         size_t lanes)
{
    bool is_whole = bits == all_of(lanes);
    size_t is = 0, none = 0, loaded;

    if (!is_whole) {
        is = mask(p, bits, lanes);
        none = zeros(p, lanes);
    }
    loaded = p->n_values++;
    fprintf(p->out, "  %%v%zu = vector.%s %s[%s]", loaded, is_whole ? "load" : "maskedload", name, index.text);
    if (!is_whole)
        fprintf(p->out, ", %%v%zu, %%v%zu", is, none);
    fprintf(p->out, " : ");
    print_type(p, operand);
    if (!is_whole)
        fprintf(p->out, ", vector<%zuxi1>, vector<%zuxf32> into", lanes, lanes);
    fprintf(p->out, "%s vector<%zuxf32>\n", is_whole ? "," : "", lanes);
    return loaded;
}

static void store_lanes(struct printer *p, int operand, const char *name, struct name index, size_t x, size_t lanes)
{
    fprintf(p->out, "  vector.store %%v%zu, %s[%s] : ", x, name, index.text);
    print_type(p, operand);
    fprintf(p->out, ", vector<%zuxf32>\n", lanes);
}

/* ---- loops of a routine ---- */

/* Begins a loop of n iterations, `name`. */
static void begin_loop(struct printer *p, const char *name, size_t n)
{
    size_t from = constant(p, 0), to = constant(p, (int64_t)n), by = constant(p, 1);

    fprintf(p->out, "  scf.for %%%s = %%v%zu to %%v%zu step %%v%zu {\n", name, from, to, by);
}

static void end_loop(struct printer *p)
{
    fprintf(p->out, "  }\n");
}

/* The index base + iteration * step. */
static struct name moved(struct printer *p, struct name base, const char *iteration, size_t step)
{
    size_t by = constant(p, (int64_t)step), far = value(p, "arith.muli %%%s, %%v%zu : index", iteration, by);

    return beside(p, base, far);
}

/* ---- micro-kernels ---- */

enum { MOST_VECTORS = 8 };

/* Loads a step's windows. */
static void load_windows(struct printer *p, const struct conv_routine_ukr *u, size_t n_v, size_t last, size_t w[])
{
    const struct name base = moved(p, argument(0), "t", u->ld_in);

    for (size_t v = 0; v < n_v; v++) {
        size_t n = u->is_packed || v + 1 < n_v ? u->lanes : last;

        w[v] = load_lanes(p, 0, "%in", offset_from(p, base, (int64_t)(v * u->in_step)), all_of(n), u->lanes);
    }
}

static void print_sums(const struct printer *p, const char *before, size_t n_v, const char *between)
{
    for (size_t v = 0; v < n_v; v++)
        fprintf(p->out, "%s%s%zu", v ? between : "", before, v);
}

/* What is printed: filters and a vector of windows are multiplied, and added to the vector's sums, %c<v>. */
struct step {
    size_t filters, windows, v, n_f, lanes;
};

static void print_outerproduct(struct printer *p, const struct step *s)
{
    fprintf(p->out, "  %%n%zu = vector.outerproduct %%v%zu, %%v%zu, %%c%zu {kind = #vector.kind<add>} : ", s->v,
            s->filters, s->windows, s->v);
    fprintf(p->out, "vector<%zuxf32>, vector<%zuxf32>\n", s->n_f, s->lanes);
}

/* The same vector as a matrix of one row: of a tap. */
static size_t as_row(struct printer *p, size_t x, size_t n)
{
    return value(p, "vector.shape_cast %%v%zu : vector<%zuxf32> to vector<1x%zuxf32>", x, n, n);
}

static void print_contract(struct printer *p, const struct step *s)
{
    size_t filters = as_row(p, s->filters, s->n_f), windows = as_row(p, s->windows, s->lanes);

    fprintf(p->out,
            "  %%n%zu = vector.contract {indexing_maps = [affine_map<(t, f, w) -> (t, f)>, affine_map<(t, f, w) -> (t, "
            "w)>, affine_map<(t, f, w) -> (f, w)>], ",
            s->v);
    fprintf(p->out, "iterator_types = [\"reduction\", \"parallel\", \"parallel\"]} %%v%zu, %%v%zu, %%c%zu : ", filters,
            windows, s->v);
    fprintf(p->out, "vector<1x%zuxf32>, vector<1x%zuxf32> into ", s->n_f, s->lanes);
    fprintf(p->out, "vector<%zux%zuxf32>\n", s->n_f, s->lanes);
}

/* Matrices of LLVM lie column by column: a filter's windows are one. */
static void print_matrix(struct printer *p, const struct step *s)
{
    size_t product = p->n_values++, matrix;

    fprintf(p->out, "  %%v%zu = vector.matrix_multiply %%v%zu, %%v%zu {lhs_rows = %zu : i32, ", product, s->windows,
            s->filters, s->lanes);
    fprintf(p->out, "lhs_columns = 1 : i32, rhs_columns = %zu : i32} : (vector<%zuxf32>, ", s->n_f, s->lanes);
    fprintf(p->out, "vector<%zuxf32>) -> vector<%zuxf32>\n", s->n_f, s->n_f * s->lanes);
    matrix = value(p, "vector.shape_cast %%v%zu : vector<%zuxf32> to vector<%zux%zuxf32>", product, s->n_f * s->lanes,
                   s->n_f, s->lanes);
    fprintf(p->out, "  %%n%zu = arith.addf %%c%zu, %%v%zu : vector<%zux%zuxf32>\n", s->v, s->v, matrix, s->n_f,
            s->lanes);
}

static void (*const print_step[])(struct printer *p, const struct step *s) = {
    [CONV_MLIR_OUTERPRODUCT] = print_outerproduct,
    [CONV_MLIR_CONTRACT] = print_contract,
    [CONV_MLIR_MATRIX] = print_matrix,
};

static void print_products(struct printer *p, const struct conv_routine_ukr *u, size_t n_v, size_t last)
{
    size_t filters, w[MOST_VECTORS];
    struct name at;

    load_windows(p, u, n_v, last, w);
    at = moved(p, argument(1), "t", u->n_f);
    filters = p->n_values++;
    fprintf(p->out, "  %%v%zu = vector.load %%filter[%s] : ", filters, at.text);
    print_type(p, 1);
    fprintf(p->out, ", vector<%zuxf32>\n", u->n_f);
    for (size_t v = 0; v < n_v; v++)
        print_step[p->kernel](p, &(struct step){ filters, w[v], v, u->n_f, u->lanes });
}

/* Prints the type of the outputs that a vector's sums go to: so many windows of each filter. */
static void print_view_type(const struct printer *p, const struct conv_routine_ukr *u, size_t n, const char *after)
{
    fprintf(p->out, "memref<%zux%zuxf32, strided<[%zu, 1], offset: ?>>%s", u->n_f, n, u->ld_out, after);
}

/* Writes sums to where they belong, or adds them to what is there; windows that do not exist are out of bounds. */
static void print_updates(struct printer *p, const struct conv_routine_ukr *u, size_t n_v, size_t last)
{
    size_t none = constant(p, 0), zero = value(p, "arith.constant 0.0 : f32");

    for (size_t v = 0; v < n_v; v++) {
        const struct name at = offset_from(p, argument(2), (int64_t)(v * u->lanes));
        size_t n = v + 1 < n_v ? u->lanes : last;
        const char *inside = n == u->lanes ? "true" : "false";
        size_t view = p->n_values++, sums;

        fprintf(p->out, "  %%v%zu = memref.reinterpret_cast %%out to offset: [%s], sizes: [%zu, ", view, at.text,
                u->n_f);
        fprintf(p->out, "%zu], strides: [%zu, 1] : ", n, u->ld_out);
        print_type(p, 2);
        fprintf(p->out, " to ");
        print_view_type(p, u, n, "\n");
        if (u->accumulate) {
            size_t old = p->n_values++;

            fprintf(p->out, "  %%v%zu = vector.transfer_read %%v%zu[%%v%zu, %%v%zu], %%v%zu ", old, view, none, none,
                    zero);
            fprintf(p->out, "{in_bounds = [true, %s]} : ", inside);
            print_view_type(p, u, n, "");
            fprintf(p->out, ", vector<%zux%zuxf32>\n", u->n_f, u->lanes);
            sums = value(p, "arith.addf %%sum#%zu, %%v%zu : vector<%zux%zuxf32>", v, old, u->n_f, u->lanes);
            fprintf(p->out, "  vector.transfer_write %%v%zu, ", sums);
        } else {
            fprintf(p->out, "  vector.transfer_write %%sum#%zu, ", v);
        }
        fprintf(p->out, "%%v%zu[%%v%zu, %%v%zu] {in_bounds = [true, %s]} : ", view, none, none, inside);
        fprintf(p->out, "vector<%zux%zuxf32>, ", u->n_f, u->lanes);
        print_view_type(p, u, n, "\n");
    }
}

/* Prints "<type>, <type>" of the sums. */
static void print_sum_types(const struct printer *p, const struct conv_routine_ukr *u, size_t n_v)
{
    for (size_t v = 0; v < n_v; v++)
        fprintf(p->out, "%svector<%zux%zuxf32>", v ? ", " : "", u->n_f, u->lanes);
}

static void print_ukr(struct printer *p)
{
    const struct conv_routine_ukr *u = &p->r->of.ukr;
    size_t n_v = ceil_div(u->n_win, u->lanes), last = (u->n_win - 1) % u->lanes + 1;
    size_t from = constant(p, 0), to = constant(p, (int64_t)u->k), by = constant(p, 1);

    fprintf(p->out, "  %%zero = arith.constant dense<0.0> : vector<%zux%zuxf32>\n", u->n_f, u->lanes);
    fprintf(p->out, "  %%sum:%zu = scf.for %%t = %%v%zu to %%v%zu step %%v%zu iter_args(", n_v, from, to, by);
    for (size_t v = 0; v < n_v; v++)
        fprintf(p->out, "%s%%c%zu = %%zero", v ? ", " : "", v);
    fprintf(p->out, ") -> (");
    print_sum_types(p, u, n_v);
    fprintf(p->out, ") {\n");
    print_products(p, u, n_v, last);
    fprintf(p->out, "  scf.yield ");
    print_sums(p, "%n", n_v, ", ");
    fprintf(p->out, " : ");
    print_sum_types(p, u, n_v);
    fprintf(p->out, "\n  }\n");
    print_updates(p, u, n_v, last);
}

/* ---- packing of windows: loads, shuffles, stores ---- */

enum { MOST_PIECES = 8 };

/* A span's vectors. */
struct pieces {
    size_t value[MOST_PIECES];
    uint64_t positions;
};

static struct pieces load_span(struct printer *p, const struct conv_routine_vectors *v, const int64_t *span,
                               struct name in)
{
    struct pieces x = { .positions = (uint64_t)span[2] };
    size_t n = (v->width / v->lanes - 1) * v->stride + 2;

    for (size_t i = 0; i < n; i++) {
        uint64_t bits = (uint64_t)span[1] >> i * v->lanes & all_of(v->lanes);

        x.value[i] =
            bits ? load_lanes(p, 0, "%in", offset_from(p, in, span[0] + (int64_t)(i * v->lanes)), bits, v->lanes)
                 : zeros(p, v->lanes);
    }
    return x;
}

/* Lane i is element first + i * stride of two neighbouring vectors: the RFC's shift. */
static size_t shuffle(struct printer *p, const struct conv_routine_vectors *v, size_t low, size_t high, size_t first)
{
    fprintf(p->out, "  %%v%zu = vector.shuffle %%v%zu, %%v%zu [", p->n_values, low, high);
    for (size_t i = 0; i < v->lanes; i++)
        fprintf(p->out, "%s%zu", i ? ", " : "", min_size(first + i * v->stride, 2 * v->lanes - 1));
    fprintf(p->out, "] : vector<%zuxf32>, vector<%zuxf32>\n", v->lanes, v->lanes);
    return p->n_values++;
}

static void store_row(struct printer *p, const struct conv_routine_vectors *v, const struct pieces *span, size_t n,
                      size_t row, size_t part, struct name index)
{
    size_t made = zeros(p, v->lanes);

    for (size_t s = 0; s < n; s++) {
        uint64_t positions = span[s].positions >> part * v->lanes & all_of(v->lanes);
        size_t x, is;

        if (!positions)
            continue;
        x = shuffle(p, v, span[s].value[part * v->stride], span[s].value[part * v->stride + 1], row * v->dilation);
        is = mask(p, positions, v->lanes);
        made = value(p, "arith.select %%v%zu, %%v%zu, %%v%zu : vector<%zuxi1>, vector<%zuxf32>", is, x, made, v->lanes,
                     v->lanes);
    }
    store_lanes(p, 1, "%panel", index, made, v->lanes);
}

/* ---- tiles of windows: those that are alike but for where they are share a function ---- */

static const int64_t *next_tile(const int64_t *tile)
{
    return tile + CONV_TILE_VALUES + CONV_SPAN_VALUES * tile[2];
}

/* Returns where a tile's input begins: addresses in its function are relative to that. */
static int64_t begin_of(const int64_t *tile)
{
    return tile[2] ? tile[CONV_TILE_VALUES] : 0;
}

static bool are_alike(const struct conv_routine *a, const int64_t *x, const struct conv_routine *b, const int64_t *y)
{
    const struct conv_routine_vectors *v = &a->of.vectors, *w = &b->of.vectors;
    bool alike = v->n_rows == w->n_rows && v->width == w->width && v->stride == w->stride && x[2] == y[2] &&
                 v->dilation == w->dilation && v->lanes == w->lanes && a->tensor[0] == b->tensor[0] &&
                 a->tensor[1] == b->tensor[1];

    for (int64_t s = 0; s < x[2] && alike; s++) {
        const int64_t *i = x + CONV_TILE_VALUES + s * CONV_SPAN_VALUES, *j = y + (i - x);

        alike = i[0] - begin_of(x) == j[0] - begin_of(y) && i[1] == j[1] && i[2] == j[2];
    }
    return alike;
}

/* A tile of a program: of routine number `routine`, the tile-th. */
struct place {
    size_t routine, tile;
};

/* Finds the first tile that is like one. */
static struct place first_like(const struct conv_program *program, const struct conv_routine *of, const int64_t *tile)
{
    struct place at = { 0, 0 };

    for (; at.routine < program->n_routines; at.routine++) {
        const struct conv_routine *r = &program->routine[at.routine];
        const int64_t *other = r->table;

        for (at.tile = 0; r->kind == CONV_ROUTINE_VECTORS && at.tile < r->of.vectors.n_tiles; at.tile++) {
            if (are_alike(of, tile, r, other))
                return at;
            other = next_tile(other);
        }
    }
    return at;
}

static void print_tile(struct printer *p, const int64_t *tile)
{
    const struct conv_routine_vectors *v = &p->r->of.vectors;
    size_t n = (size_t)tile[2];
    struct pieces span[CONV_MAX_WIN];

    for (size_t s = 0; s < n; s++) {
        int64_t moved_span[CONV_SPAN_VALUES];

        memcpy(moved_span, tile + CONV_TILE_VALUES + s * CONV_SPAN_VALUES, sizeof moved_span);
        moved_span[0] -= begin_of(tile);
        span[s] = load_span(p, v, moved_span, argument(0));
    }
    for (size_t row = 0; row < v->n_rows; row++) {
        for (size_t part = 0; part < v->width / v->lanes; part++)
            store_row(p, v, span, n, row, part,
                      offset_from(p, argument(1), (int64_t)(row * v->width + part * v->lanes)));
    }
}

static void print_pack_arguments(const struct printer *p)
{
    fprintf(p->out, "(%%in: ");
    print_type(p, 0);
    fprintf(p->out, ", %%a0: index, %%panel: ");
    print_type(p, 1);
    fprintf(p->out, ", %%a1: index) {\n");
}

/* Prints the functions of a routine's tiles that no tile before is like, and the table of all: function, from, to. */
static void print_tiles(const struct conv_program *program, struct printer *p, size_t number, const char *prefix)
{
    const struct conv_routine_vectors *v = &p->r->of.vectors;
    const int64_t *tile = p->r->table;

    for (size_t t = 0; t < v->n_tiles; t++, tile = next_tile(tile)) {
        const struct place first = first_like(program, p->r, tile);
        struct printer own = { .plan = p->plan, .r = p->r, .out = p->out, .is_straight = true };

        if (first.routine != number || first.tile != t)
            continue;
        fprintf(p->out, "func.func private @%s_tile_%zu_%zu", prefix, number, t);
        print_pack_arguments(&own);
        print_tile(&own, tile);
        fprintf(p->out, "  return\n}\n\n");
    }
    if (v->n_tiles == 1)
        return;
    fprintf(p->out, "memref.global \"private\" constant @%s_%zu_tiles : memref<%zux3xindex> = dense<[", prefix, number,
            v->n_tiles);
    tile = p->r->table;
    for (size_t t = 0; t < v->n_tiles; t++, tile = next_tile(tile)) {
        const struct place first = first_like(program, p->r, tile);

        fprintf(p->out, "%s[%zu, %" PRId64 ", %" PRId64 "]", t ? ", " : "", first.routine << 16 | first.tile,
                begin_of(tile), tile[0]);
    }
    fprintf(p->out, "]>\n\n");
}

/* Loads a column of the table as an index. */
static size_t print_entry(struct printer *p, size_t table, size_t n_tiles, size_t column)
{
    size_t at = constant(p, (int64_t)column);

    return value(p, "memref.load %%v%zu[%%t, %%v%zu] : memref<%zux3xindex>", table, at, n_tiles);
}

static void print_tile_call(const struct printer *p, const char *prefix, struct place f, struct name from,
                            struct name to)
{
    fprintf(p->out, "  func.call @%s_tile_%zu_%zu(%%in, %s, ", prefix, f.routine, f.tile, from.text);
    fprintf(p->out, "%%panel, %s) : (", to.text);
    print_type(p, 0);
    fprintf(p->out, ", index, ");
    print_type(p, 1);
    fprintf(p->out, ", index) -> ()\n");
}

/* Tells whether a tile of the routine before this one has the same function. */
static bool is_told(const struct conv_program *program, const struct conv_routine *r, size_t t, struct place first)
{
    const int64_t *tile = r->table;

    for (size_t i = 0; i < t; i++, tile = next_tile(tile)) {
        const struct place other = first_like(program, r, tile);

        if (other.routine == first.routine && other.tile == first.tile)
            return true;
    }
    return false;
}

/* Packs the only tile of all channels. */
static void print_one_tile(const struct conv_program *program, struct printer *p, const char *prefix)
{
    const struct conv_routine_vectors *v = &p->r->of.vectors;
    const int64_t *tile = p->r->table;
    struct name from, to;

    begin_loop(p, "c", v->n_c);
    from = offset_from(p, moved(p, argument(0), "c", v->plane), begin_of(tile));
    to = offset_from(p, moved(p, argument(1), "c", v->channel), tile[0]);
    print_tile_call(p, prefix, first_like(program, p->r, tile), from, to);
    end_loop(p);
}

/* For each channel and each tile: which function it is that packs it, and where. */
static void print_vectors(const struct conv_program *program, struct printer *p, size_t number, const char *prefix)
{
    const struct conv_routine_vectors *v = &p->r->of.vectors;
    const int64_t *tile = p->r->table;
    size_t table = value(p, "memref.get_global @%s_%zu_tiles : memref<%zux3xindex>", prefix, number, v->n_tiles);
    struct name in, panel, from, to;
    size_t which;

    begin_loop(p, "c", v->n_c);
    in = moved(p, argument(0), "c", v->plane);
    panel = moved(p, argument(1), "c", v->channel);
    begin_loop(p, "t", v->n_tiles);
    which = print_entry(p, table, v->n_tiles, 0);
    from = beside(p, in, print_entry(p, table, v->n_tiles, 1));
    to = beside(p, panel, print_entry(p, table, v->n_tiles, 2));
    fprintf(p->out, "  scf.index_switch %%v%zu\n", which);
    for (size_t t = 0; t < v->n_tiles; t++, tile = next_tile(tile)) {
        const struct place first = first_like(program, p->r, tile);

        if (is_told(program, p->r, t, first))
            continue;
        fprintf(p->out, "  case %zu {\n", first.routine << 16 | first.tile);
        print_tile_call(p, prefix, first, from, to);
        fprintf(p->out, "  scf.yield\n  }\n");
    }
    fprintf(p->out, "  default {\n  }\n");
    end_loop(p);
    end_loop(p);
}

/* ---- packing of filters ---- */

static void print_filters(struct printer *p)
{
    const struct conv_routine_filters *f = &p->r->of.filters;
    const char *outer = f->by_rows ? "fh" : "c", *inner = f->by_rows ? "c" : "fh";
    size_t n_inner = f->by_rows ? f->n_c : f->r;

    begin_loop(p, "c", f->n_c);
    begin_loop(p, "fh", f->r);
    begin_loop(p, "fw", f->s);
    begin_loop(p, "f", f->n_f);
    fprintf(p->out,
            "  %%from = affine.apply affine_map<(d0, d1, d2, d3, d4) -> (d0 * %zu + d1 * %zu + d2 + d3 * %zu + d4)>",
            f->r * f->s, f->s, f->ld);
    fprintf(p->out, "(%%c, %%fh, %%fw, %%f, %%a0)\n");
    fprintf(p->out,
            "  %%to = affine.apply affine_map<(d0, d1, d2, d3, d4) -> (d0 * %zu + d1 * %zu + d2 * %zu + d3 + d4)>",
            n_inner * f->s * f->n_f, f->s * f->n_f, f->n_f);
    fprintf(p->out, "(%%%s, %%%s, %%fw, %%f, %%a1)\n", outer, inner);
    fprintf(p->out, "  %%x = memref.load %%in[%%from] : ");
    print_type(p, 0);
    fprintf(p->out, "\n  memref.store %%x, %%panel[%%to] : ");
    print_type(p, 1);
    fprintf(p->out, "\n");
    for (int i = 0; i < 4; i++)
        end_loop(p);
}

static void print_head(const struct printer *p, const char *prefix, size_t number, bool is_declared)
{
    static const char *const names[2][CONV_FOLD_OPERANDS] = { { "in", "panel" }, { "in", "filter", "out" } };
    const char *const *name = names[p->r->kind == CONV_ROUTINE_UKR];

    fprintf(p->out, "func.func private @%s_%zu(", prefix, number);
    for (int o = 0; o < conv_mlir_operands(p->r); o++) {
        fprintf(p->out, is_declared ? "%s" : "%s%%%s: ", o ? ", " : "", name[o]);
        print_type(p, o);
        if (is_declared)
            fprintf(p->out, ", index");
        else
            fprintf(p->out, ", %%a%d: index", o);
    }
    fprintf(p->out, ")%s\n", is_declared ? "\n" : " {");
}

void conv_mlir_print_choice(const struct conv_program *program, const char *prefix, FILE *out)
{
    struct printer p = { .plan = program->plan, .out = out };

    for (size_t i = 0; i < program->n_routines; i++) {
        if (program->routine[i].kind != CONV_ROUTINE_VECTORS)
            continue;
        if (!p.r) {
            p.r = &program->routine[i];
            fprintf(out, "func.func private @%s_windows(%%which: index, %%in: ", prefix);
            print_type(&p, 0);
            fprintf(out, ", %%a0: index, %%panel: ");
            print_type(&p, 1);
            fprintf(out, ", %%a1: index) {\n  scf.index_switch %%which\n");
        }
        fprintf(out, "  case %zu {\n  func.call @%s_%zu(%%in, %%a0, %%panel, %%a1) : (", i, prefix, i);
        print_type(&p, 0);
        fprintf(out, ", index, ");
        print_type(&p, 1);
        fprintf(out, ", index) -> ()\n  scf.yield\n  }\n");
    }
    if (p.r)
        fprintf(out, "  default {\n  }\n  return\n}\n\n");
}

void conv_mlir_print_routine(const struct conv_program *program, size_t number, const char *prefix,
                             enum conv_mlir_kernel kernel, FILE *out)
{
    struct printer p = { .plan = program->plan, .r = &program->routine[number], .kernel = kernel, .out = out };
    bool is_declared = kernel == CONV_MLIR_CALL && p.r->kind == CONV_ROUTINE_UKR;

    if (p.r->kind == CONV_ROUTINE_VECTORS)
        print_tiles(program, &p, number, prefix);
    print_head(&p, prefix, number, is_declared);
    if (is_declared)
        return;
    if (p.r->kind == CONV_ROUTINE_VECTORS && p.r->of.vectors.n_tiles == 1)
        print_one_tile(program, &p, prefix);
    else if (p.r->kind == CONV_ROUTINE_VECTORS)
        print_vectors(program, &p, number, prefix);
    else if (p.r->kind == CONV_ROUTINE_UKR)
        print_ukr(&p);
    else
        print_filters(&p);
    fprintf(out, "  return\n}\n\n");
}
