#include <assert.h>

#include "kernels/emit/linalg_text.h"
#include "kernels/shape/sizes.h"

#define ANY LINALG_ANY
#define VALUE "!transform.any_value"

static void print_patterns(FILE *out, const char *const pattern[], size_t n)
{
    fprintf(out, "  transform.apply_patterns to %%func {\n");
    for (size_t i = 0; i < n; i++)
        fprintf(out, "    transform.apply_patterns.%s\n", pattern[i]);
    fprintf(out, "  } : " ANY "\n");
}

#define PRINT_PATTERNS(out, ...)                                                                                       \
    print_patterns(out, (const char *const[]){ __VA_ARGS__ },                                                          \
                   sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

/* ---- slicing: a convolution is cut into loops ---- */

/* A loop: an axis is cut into pieces of a size. The edge is another operation, so all sizes are constants. */
struct level {
    int axis;
    size_t size; /* 0: there are no more levels */
};

enum { MOST_LEVELS = 5 };

/* Returns the number of the axis's loop in the operation. */
static int dimension(const struct linalg_text *t, int axis)
{
    static const int dimensions[][LINALG_N_AXES] = {
        [CONV_LINALG_NCHW] = { [LINALG_IMAGES] = 0, [LINALG_FILTERS] = 1, [LINALG_ROWS] = 2, [LINALG_CHANNELS] = 4 },
        [CONV_LINALG_NHWC] = { [LINALG_IMAGES] = 0, [LINALG_FILTERS] = 3, [LINALG_ROWS] = 1, [LINALG_CHANNELS] = 6 },
    };

    return dimensions[t->layout][axis];
}

static size_t print_tile(struct linalg_text *t, size_t from, int at, size_t size)
{
    size_t to = t->n_values++;

    fprintf(t->out, "  %%v%zu, %%v%zu_loop = transform.structured.tile_using_for %%v%zu tile_sizes [", to, to, from);
    for (int d = 0; d <= at; d++)
        fprintf(t->out, "%s%zu", d ? ", " : "", d == at ? size : 0);
    fprintf(t->out, "] : (" ANY ") -> (" ANY ", " ANY ")\n");
    return to;
}

/* Splits an operation in two. The returned value is the first operation, and the next value the second. */
static size_t print_split(struct linalg_text *t, size_t from, int at, size_t after)
{
    size_t to = t->n_values;

    t->n_values += 2;
    fprintf(t->out, "  %%v%zu, %%v%zu = transform.structured.split %%v%zu after %zu {dimension = %d} : " ANY "\n", to,
            to + 1, from, after, at);
    return to;
}

/* Remembers a block. The block's function is called once the sizes of the slices are constants. */
static void finish(struct linalg_text *t, size_t value, const struct linalg_part *part)
{
    assert(t->n_blocks < LINALG_MOST_BLOCKS);
    fprintf(t->out, "  %%block%zu = transform.merge_handles %%v%zu : " ANY "\n", t->n_blocks, value);
    t->block[t->n_blocks++] = *part;
}

static void slice(struct linalg_text *t, const struct level *level, size_t value, struct linalg_part part)
{
    size_t extent, size, edge;
    int at;

    while (level->size && part.extent[level->axis] <= level->size)
        level++;
    if (!level->size) {
        finish(t, value, &part);
        return;
    }
    extent = part.extent[level->axis];
    size = level->size;
    edge = extent % size;
    at = dimension(t, level->axis);
    part.is_cut = true;
    if (edge) {
        struct linalg_part rest = part;

        value = print_split(t, value, at, extent - edge);
        rest.extent[level->axis] = edge;
        slice(t, level + 1, value + 1, rest);
    }
    if (extent - edge > size)
        value = print_tile(t, value, at, size);
    part.extent[level->axis] = size;
    slice(t, level + 1, value, part);
}

/* Cuts off the first channel set, whose outputs are zeros before, and slices both parts. */
static void slice_all(struct linalg_text *t, const struct level *level, size_t n_c)
{
    struct linalg_part all = linalg_whole(t->p), first = all;
    size_t value = 0;

    first.is_first = t->is_zeroed;
    if (t->is_zeroed && t->p->c > n_c) {
        value = print_split(t, 0, dimension(t, LINALG_CHANNELS), n_c);
        all.is_cut = first.is_cut = true;
        all.extent[LINALG_CHANNELS] -= n_c;
        first.extent[LINALG_CHANNELS] = n_c;
        slice(t, level, value + 1, all);
    }
    slice(t, level, value, first);
}

/* A set of windows is a matrix; longer rows of the matrix would each lie in a page of their own. */
enum { MOST_WINDOWS = 256 };

static size_t tiles_of(size_t rows, const struct conv_problem *p, size_t tile)
{
    return ceil_div(rows * p->q, tile);
}

/* Returns the rows of outputs whose windows are a set of input tiles: the rows that leave the fewest tiles. */
static size_t rows_of_block(const struct linalg_text *t)
{
    const struct csa_tiling *tiling = &t->plan->sconv.tiling;
    const struct conv_problem *p = t->p;
    size_t set = (tiling->schedule == CSA_IS ? tiling->k3 : tiling->k2) * tiling->n_win;
    size_t most = max_size(min_size(set, MOST_WINDOWS) / p->q, 1), best = 1, fewest = (size_t)-1;
    size_t tile = t->layout == CONV_LINALG_NHWC ? tiling->n_f : tiling->n_win;

    for (size_t rows = 1; rows <= min_size(most, p->p); rows++) {
        size_t tiles = p->p / rows * tiles_of(rows, p, tile) + tiles_of(p->p % rows, p, tile);

        if (tiles <= fewest) {
            fewest = tiles;
            best = rows;
        }
    }
    return best;
}

/* Replaces an operation of the script by a call; the pass behind inlines the call. */
static void print_operands(const struct linalg_text *t, size_t number)
{
    for (int i = 0; i < 3; i++)
        fprintf(t->out, "  %%operand%zu_%d = transform.get_operand %%block%zu[%d] : (" ANY ") -> " VALUE "\n", number,
                i, number, i);
    fprintf(t->out,
            "  %%operands%zu = transform.merge_handles %%operand%zu_0, %%operand%zu_1, %%operand%zu_2 : " VALUE "\n",
            number, number, number, number);
    fprintf(t->out, "  %%result%zu = transform.get_result %%block%zu[0] : (" ANY ") -> " VALUE "\n", number, number);
}

static void print_call(const struct linalg_text *t, size_t number)
{
    print_operands(t, number);
    fprintf(t->out,
            "  transform.func.cast_and_call @%s_block%zu(%%operands%zu) -> %%result%zu after %%block%zu : (" ANY,
            t->name, number, number, number, number);
    fprintf(t->out, ", " VALUE ", " VALUE ") -> " ANY "\n");
}

/* Removes the zeros in the outputs of the first blocks, which do not read them. */
static void print_no_zeros(const struct linalg_text *t)
{
    fprintf(t->out,
            "  %%fill = transform.structured.match attributes {%s_sums} in %%func : (" ANY ") -> " ANY "\n"
            "  %%before = transform.get_operand %%fill[1] : (" ANY ") -> " VALUE "\n"
            "  %%zeros = transform.get_result %%fill[0] : (" ANY ") -> " VALUE "\n",
            t->name);
    fprintf(t->out,
            "  transform.func.cast_and_call @%s_keep(%%before) -> %%zeros after %%fill : (" ANY ", " VALUE ", " VALUE
            ") -> " ANY "\n",
            t->name);
}

/* Layers 5 to 3 of SConv's Figure 5: channel sets, sets of stationary tiles, sets of streaming tiles. */
void linalg_print_slice(struct linalg_text *t)
{
    const struct csa_tiling *tiling = &t->plan->sconv.tiling;
    size_t filters = tiling->schedule == CSA_WS ? tiling->k3 * tiling->n_f : t->p->k;
    const struct level levels[MOST_LEVELS] = {
        { LINALG_IMAGES, 1 },
        { LINALG_CHANNELS, tiling->n_c },
        { LINALG_FILTERS, filters },
        { LINALG_ROWS, rows_of_block(t) },
    };

    t->n_values = 1;
    fprintf(t->out, "transform.named_sequence @%s_slice(%%func: " ANY " {transform.readonly}) {\n", t->name);
    fprintf(t->out, "  %%v0 = transform.structured.match ops{[\"%s\"]} in %%func : (" ANY ") -> " ANY "\n",
            linalg_conv_name(t));
    slice_all(t, levels, tiling->n_c);
    PRINT_PATTERNS(t->out, "canonicalization");
    for (size_t i = 0; i < t->n_blocks; i++)
        print_call(t, i);
    if (t->fills)
        print_no_zeros(t);
    PRINT_PATTERNS(t->out, "canonicalization");
    fprintf(t->out, "  transform.yield\n}\n\n");
}

/* ---- products: tiles and micro-kernels ---- */

/* Cuts a product, and the fill that it is added to, into tiles of the given sizes. Returns the tile. */
static size_t print_fuse(struct linalg_text *t, size_t from, size_t rows, size_t columns, bool by_columns)
{
    size_t to = t->n_values++;

    fprintf(t->out, "  %%v%zu, %%v%zu_loops", to, to);
    fprintf(t->out, "%s = transform.structured.fuse %%v%zu {tile_sizes = [%zu, %zu, 0]", rows && columns ? ":2" : "",
            from, rows, columns);
    if (rows && columns && by_columns)
        fprintf(t->out, ", tile_interchange = [1, 0, 2]");
    fprintf(t->out, "} : (" ANY ") -> (" ANY ", " ANY "%s)\n", rows && columns ? ", " ANY : "");
    return to;
}

/* Layers 3 to 1: with inputs stationary sets of filter tiles, then tiles of both; a micro-kernel steps by taps. */
static void print_tiles(struct linalg_text *t, size_t number)
{
    const struct linalg_product *m = &t->product[number];
    bool is_nhwc = t->layout == CONV_LINALG_NHWC, is_input_stationary = t->plan->sconv.tiling.schedule == CSA_IS;
    size_t value = t->n_values++;

    fprintf(t->out,
            "  %%v%zu = transform.structured.match attributes {%s_product%zu} in %%func : (" ANY ") -> " ANY "\n",
            value, t->name, number);
    if (m->set)
        value = print_fuse(t, value, is_nhwc ? 0 : m->set, is_nhwc ? m->set : 0, false);
    value = print_fuse(t, value, min_size(m->rows, m->tile_rows), min_size(m->columns, m->tile_columns),
                       is_nhwc != is_input_stationary);
    if (m->taps > 1) {
        value = print_tile(t, value, 2, 1);
        fprintf(t->out, "  transform.annotate %%v%zu_loop \"taps\" : " ANY "\n", value);
    }
    fprintf(t->out, "  transform.annotate %%v%zu \"micro_kernel\" : " ANY "\n", value);
}

/*
 * The innermost product becomes outer products that are added to sums in registers: the sums of a loop over taps. A
 * loop over channel sets must not hand outputs on in pieces, or bufferization would copy the pieces.
 */
static void print_kernels(const struct linalg_text *t)
{
    FILE *out = t->out;

    PRINT_PATTERNS(out, "canonicalization");
    fprintf(out, "  %%kernels = transform.structured.match attributes {micro_kernel} in %%func : (" ANY ") -> " ANY "\n"
                 "  transform.structured.vectorize %%kernels : " ANY "\n");
    fprintf(out,
            "  %%zeros = transform.structured.match attributes {%s_zeros} in %%func : (" ANY ") -> " ANY "\n"
            "  transform.structured.vectorize %%zeros : " ANY "\n",
            t->name);
    PRINT_PATTERNS(out, "vector.reduction_to_contract", "vector.transfer_permutation_patterns");
    PRINT_PATTERNS(out, "vector.cast_away_vector_leading_one_dim");
    PRINT_PATTERNS(out, "vector.lower_contraction lowering_strategy = \"outerproduct\"");
    PRINT_PATTERNS(out, "canonicalization", "vector.cast_away_vector_leading_one_dim",
                   "linalg.tiling_canonicalization");
    fprintf(out, "  transform.apply_cse to %%func : " ANY "\n"
                 "  %%loops = transform.structured.match attributes {taps} in %%func : (" ANY ") -> " ANY "\n"
                 "  transform.loop.hoist_loop_invariant_subsets %%loops : " ANY "\n");
    PRINT_PATTERNS(out, "canonicalization");
}

void linalg_print_vectorize(struct linalg_text *t)
{
    t->n_values = 0;
    fprintf(t->out, "transform.named_sequence @%s_vectorize(%%func: " ANY " {transform.readonly}) {\n", t->name);
    for (size_t i = 0; i < t->n_products; i++)
        print_tiles(t, i);
    print_kernels(t);
    fprintf(t->out, "  transform.yield\n}\n\n");
}
