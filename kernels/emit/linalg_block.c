#include "kernels/emit/linalg_text.h"
#include "kernels/shape/sizes.h"

/* ---- copies: windows, and filters of NHWC, become rows of a matrix, a vector at a time ---- */

/* A loop of a copy: how far a step goes in each index of the matrix and of the source. */
struct linalg_loop {
    size_t extent, to[2], from[4];
};

enum { MOST_LOOPS = 4, MOST_LANES = 64 };

struct copy {
    const char *source, *made;
    struct linalg_shape shape; /* the source's */
    size_t rows, width;        /* of the matrix */
    size_t columns, taken;     /* of the matrix, copied; and used, with zeros behind the copied columns */
    size_t n, stride;          /* elements of the source's last index that are copied at once, and their distance */
    size_t n_nested;
    struct linalg_loop loop[MOST_LOOPS];
};

static size_t print_constant(struct linalg_text *t, size_t value)
{
    fprintf(t->out, "  %%v%zu = arith.constant %zu : index\n", t->n_values, value);
    return t->n_values++;
}

static size_t print_operation(struct linalg_text *t, const char *operation, size_t a, size_t b)
{
    fprintf(t->out, "  %%v%zu = arith.%s %%v%zu, %%v%zu : index\n", t->n_values, operation, a, b);
    return t->n_values++;
}

/*
 * Prints an index: a sum over the loops. factor points to the first loop's factor, a struct linalg_loop before the
 * next.
 */
static size_t print_index(struct linalg_text *t, const size_t loop[], const size_t *factor, size_t n_loops, size_t plus)
{
    size_t sum = print_constant(t, plus);

    for (size_t i = 0; i < n_loops; i++) {
        size_t f = *(const size_t *)((const char *)factor + i * sizeof(struct linalg_loop));

        if (f)
            sum = print_operation(t, "addi", sum, print_operation(t, "muli", loop[i], print_constant(t, f)));
    }
    return sum;
}

/* Takes every stride-th element of a vector. */
static size_t print_thinning(struct linalg_text *t, size_t value, size_t n, size_t stride)
{
    size_t read = (n - 1) * stride + 1;

    if (stride == 1)
        return value;
    fprintf(t->out, "  %%v%zu = vector.shuffle %%v%zu, %%v%zu [", t->n_values, value, value);
    for (size_t i = 0; i < n; i++)
        fprintf(t->out, "%s%zu", i ? ", " : "", i * stride);
    fprintf(t->out, "] : vector<%zuxf32>, vector<%zuxf32>\n", read, read);
    return t->n_values++;
}

/* Copies a piece of a row. Returns the matrix with the piece. */
static size_t print_piece(struct linalg_text *t, const struct copy *c, const size_t loop[], size_t matrix, size_t at)
{
    size_t n = min_size(MOST_LANES, c->n - at), from[4], row, column, value;

    for (size_t i = 0; i < 4; i++)
        from[i] = print_index(t, loop, &c->loop[0].from[i], c->n_nested, i == 3 ? at * c->stride : 0);
    row = print_index(t, loop, &c->loop[0].to[0], c->n_nested, 0);
    column = print_index(t, loop, &c->loop[0].to[1], c->n_nested, at);
    value = t->n_values++;
    fprintf(t->out, "  %%v%zu = vector.transfer_read %s[%%v%zu, %%v%zu, ", value, c->source, from[0], from[1]);
    fprintf(t->out, "%%v%zu, %%v%zu], %%zero {in_bounds = [true]} : ", from[2], from[3]);
    linalg_print_tensor(t, "", &c->shape, ", ");
    fprintf(t->out, "vector<%zuxf32>\n", (n - 1) * c->stride + 1);
    value = print_thinning(t, value, n, c->stride);
    fprintf(t->out, "  %%v%zu = vector.transfer_write %%v%zu, %%v%zu[%%v%zu, %%v%zu] ", t->n_values, value, matrix, row,
            column);
    fprintf(t->out, "{in_bounds = [true]} : vector<%zuxf32>, ", n);
    linalg_print_matrix(t, "", c->rows, c->width, "\n");
    return t->n_values++;
}

/* Opens a loop that changes a tensor. Returns the result; the next values are index and tensor inside the loop. */
static size_t print_loop(struct linalg_text *t, size_t extent, size_t tensor, const struct linalg_shape *s)
{
    size_t begin = print_constant(t, 0), end = print_constant(t, extent), step = print_constant(t, 1);
    size_t made = t->n_values;

    t->n_values += 3;
    fprintf(t->out, "  %%v%zu = scf.for %%v%zu = %%v%zu to %%v%zu step %%v%zu ", made, made + 1, begin, end, step);
    fprintf(t->out, "iter_args(%%v%zu = %%v%zu) -> (", made + 2, tensor);
    linalg_print_matrix(t, "", s->extent[0], s->extent[1], ") {\n");
    return made;
}

static void print_loop_end(const struct linalg_text *t, size_t tensor, const struct linalg_shape *s)
{
    fprintf(t->out, "  scf.yield %%v%zu : ", tensor);
    linalg_print_matrix(t, "", s->extent[0], s->extent[1], "\n  }\n");
}

/* Sets the columns that are used and not copied to zeros, in the row of the loops so far. */
static size_t print_zeros(struct linalg_text *t, const struct copy *c, const size_t loop[], size_t n_loops,
                          size_t matrix)
{
    size_t n = c->taken - c->columns, row = print_index(t, loop, &c->loop[0].to[0], n_loops, 0);
    size_t column = print_constant(t, c->columns);

    fprintf(t->out, "  %%v%zu = arith.constant dense<0.0> : vector<%zuxf32>\n", t->n_values, n);
    fprintf(t->out, "  %%v%zu = vector.transfer_write %%v%zu, %%v%zu[%%v%zu, %%v%zu] ", t->n_values + 1, t->n_values,
            matrix, row, column);
    fprintf(t->out, "{in_bounds = [true]} : vector<%zuxf32>, ", n);
    linalg_print_matrix(t, "", c->rows, c->width, "\n");
    t->n_values += 2;
    return t->n_values - 1;
}

/* Returns the number of outer loops that determine the row. */
static size_t loops_of_rows(const struct copy *c)
{
    size_t n = c->n_nested;

    while (n && !c->loop[n - 1].to[0])
        n--;
    return n;
}

static size_t print_nest(struct linalg_text *t, const struct copy *c, size_t depth, size_t loop[], size_t matrix)
{
    const struct linalg_shape s = { { c->rows, c->width } };
    size_t made;

    if (depth == loops_of_rows(c) && c->taken > c->columns)
        matrix = print_zeros(t, c, loop, depth, matrix);
    if (depth == c->n_nested) {
        for (size_t at = 0; at < c->n; at += MOST_LANES)
            matrix = print_piece(t, c, loop, matrix, at);
        return matrix;
    }
    made = print_loop(t, c->loop[depth].extent, matrix, &s);
    loop[depth] = made + 1;
    print_loop_end(t, print_nest(t, c, depth + 1, loop, made + 2), &s);
    return made;
}

static void print_copy(struct linalg_text *t, const struct copy *c)
{
    size_t loop[MOST_LOOPS], matrix = t->n_values++;

    fprintf(t->out, "  %%v%zu = tensor.empty() : ", matrix);
    linalg_print_matrix(t, "", c->rows, c->width, "\n");
    matrix = print_nest(t, c, 0, loop, matrix);
    fprintf(t->out, "  %s = tensor.extract_slice %%v%zu[0, 0] [%zu, %zu] [1, 1] : ", c->made, matrix, c->rows,
            c->taken);
    linalg_print_matrix(t, "", c->rows, c->width, " to ");
    linalg_print_matrix(t, "", c->rows, c->taken, "\n");
}

size_t linalg_row_width(size_t columns)
{
    enum { LINE = 16 };

    return (ceil_div(columns, LINE) | 1) * LINE;
}

static void set_matrix(struct copy *c, const char *made, size_t rows, size_t columns, size_t taken)
{
    c->made = made;
    c->rows = rows;
    c->columns = columns;
    c->taken = taken;
    c->width = linalg_row_width(taken);
}

static void set_loops(struct copy *c, const struct linalg_loop *loop, size_t n, size_t stride)
{
    for (size_t i = 0; i < c->n_nested; i++)
        c->loop[i] = loop[i];
    c->n = n;
    c->stride = stride;
}

/* ---- blocks: copies and products ---- */

static struct linalg_product product_of(const struct linalg_text *t, const struct linalg_part *part)
{
    const struct csa_tiling *tiling = &t->plan->sconv.tiling;
    size_t windows = part->extent[LINALG_ROWS] * t->p->q, filters = part->extent[LINALG_FILTERS];
    size_t taps = part->extent[LINALG_CHANNELS] * t->p->r * t->p->s;
    bool is_nhwc = t->layout == CONV_LINALG_NHWC;

    return (struct linalg_product){ .rows = is_nhwc ? windows : filters,
                                    .columns = is_nhwc ? filters : windows,
                                    .taps = taps,
                                    .tile_rows = tiling->n_f,
                                    .tile_columns = tiling->n_win };
}

/* Vectors of a length that is no multiple would be loaded in pieces. */
enum { LANES = 8 };

/* Returns the computed columns of the last tile, which may be narrow. */
static size_t edge_width(const struct linalg_product *m)
{
    return min_size(m->tile_columns, round_up(m->columns % m->tile_columns, LANES));
}

static size_t taken_columns(const struct linalg_product *m)
{
    return m->columns - m->columns % m->tile_columns + edge_width(m);
}

static struct copy windows_of(const struct linalg_text *t, const struct linalg_part *part)
{
    const struct conv_problem *p = t->p;
    const struct linalg_product m = product_of(t, part);
    size_t c = part->extent[LINALG_CHANNELS], rows = part->extent[LINALG_ROWS], taps = p->r * p->s;
    struct copy windows = { .source = "%in", .shape = linalg_input(t, part), .n_nested = 4 };

    if (t->layout == CONV_LINALG_NHWC) {
        const struct linalg_loop loop[] = { { rows, { p->q, 0 }, { 0, p->stride_h, 0, 0 } },
                                            { p->q, { 1, 0 }, { 0, 0, p->stride_w, 0 } },
                                            { p->r, { 0, p->s * c }, { 0, p->dilation_h, 0, 0 } },
                                            { p->s, { 0, c }, { 0, 0, p->dilation_w, 0 } } };

        set_matrix(&windows, "%a", m.rows, m.taps, m.taps);
        set_loops(&windows, loop, c, 1);
    } else {
        const struct linalg_loop loop[] = { { c, { taps, 0 }, { 0, 1, 0, 0 } },
                                            { p->r, { p->s, 0 }, { 0, 0, p->dilation_h, 0 } },
                                            { p->s, { 1, 0 }, { 0, 0, 0, p->dilation_w } },
                                            { rows, { 0, p->q }, { 0, 0, p->stride_h, 0 } } };

        set_matrix(&windows, "%b", m.taps, m.columns, taken_columns(&m));
        set_loops(&windows, loop, p->q, p->stride_w);
    }
    return windows;
}

/* NHWC has filters side by side: rows of filters are copied to a matrix whose rows do not share sets of L1. */
static struct copy filters_of(const struct linalg_text *t, const struct linalg_part *part)
{
    const struct conv_problem *p = t->p;
    const struct linalg_product m = product_of(t, part);
    size_t c = part->extent[LINALG_CHANNELS];
    const struct linalg_loop loop[] = { { p->r, { p->s * c, 0 }, { 1, 0, 0, 0 } },
                                        { p->s, { c, 0 }, { 0, 1, 0, 0 } },
                                        { c, { 1, 0 }, { 0, 0, 1, 0 } } };
    struct copy filters = { .source = "%w", .shape = linalg_filter(t, part), .n_nested = 3 };

    set_matrix(&filters, "%b", m.taps, m.columns, taken_columns(&m));
    set_loops(&filters, loop, m.columns, 1);
    return filters;
}

/* Tells whether a part's filters are rows of the product without a copy: of NHWC, taps packed side by side. */
static bool are_rows(const struct linalg_text *t, const struct linalg_part *part)
{
    const struct conv_problem *p = t->p;
    const struct linalg_product m = product_of(t, part);
    bool is_whole = part->extent[LINALG_CHANNELS] == p->c || p->r * p->s == 1;

    return t->layout == CONV_LINALG_NCHW || (t->is_packed && is_whole && taken_columns(&m) == m.columns);
}

/* Prints both factors, called %a and %b. Filters are copied only if they are not rows of the product. */
static void print_factors(struct linalg_text *t, const struct linalg_part *part)
{
    const struct copy windows = windows_of(t, part), filters = filters_of(t, part);
    const struct linalg_product m = product_of(t, part);
    bool is_nhwc = t->layout == CONV_LINALG_NHWC;

    print_copy(t, &windows);
    if (!are_rows(t, part)) {
        print_copy(t, &filters);
        return;
    }
    fprintf(t->out, "  %s = tensor.collapse_shape %%w %s : ", is_nhwc ? "%b" : "%a",
            is_nhwc ? "[[0, 1, 2], [3]]" : "[[0], [1, 2, 3]]");
    linalg_print_tensor(t, "", &filters.shape, " into ");
    linalg_print_matrix(t, "", is_nhwc ? m.taps : m.rows, is_nhwc ? m.columns : m.taps, "\n");
}

/* ---- products: of full tiles and of edges, so that all sizes are constants ---- */

struct range {
    size_t first, n, set;
};

enum { MOST_RANGES = 3 };

/* Cuts an extent into sets of tiles (0: no sets), full tiles behind, and an edge. Returns the number of ranges. */
static size_t cut(size_t extent, size_t set, size_t tile, struct range range[MOST_RANGES])
{
    size_t sets = set && extent > set ? extent - extent % set : 0, tiles = (extent - sets) - (extent - sets) % tile;
    const struct range all[] = { { 0, sets, set }, { sets, tiles, 0 }, { sets + tiles, extent - sets - tiles, 0 } };
    size_t n = 0;

    for (size_t i = 0; i < MOST_RANGES; i++) {
        if (all[i].n)
            range[n++] = all[i];
    }
    return n;
}

/* Prints "%made = tensor.extract_slice %from[...]" with its types. */
static void print_cutout(const struct linalg_text *t, const char *made, const char *from, const size_t first[2],
                         const size_t n[2], const size_t whole[2])
{
    fprintf(t->out, "  %s = tensor.extract_slice %s[%zu, %zu] ", made, from, first[0], first[1]);
    fprintf(t->out, "[%zu, %zu] [1, 1] : ", n[0], n[1]);
    linalg_print_matrix(t, "", whole[0], whole[1], " to ");
    linalg_print_matrix(t, "", n[0], n[1], "\n");
}

/* Prints the product of a stretch of rows and of columns, added to zeros or to sums. Returns the product's number. */
static size_t print_product(struct linalg_text *t, const struct linalg_product *m, const char *sums, bool is_zeroed)
{
    size_t number = t->n_products++;

    t->product[number] = *m;
    if (is_zeroed) {
        fprintf(t->out, "  %%zeros%zu = linalg.fill {%s_zeros} ins(%%zero : f32) outs(%s%zu : ", number, t->name, sums,
                number);
        linalg_print_matrix(t, "", m->rows, m->columns, ") -> ");
        linalg_print_matrix(t, "", m->rows, m->columns, "\n");
    }
    fprintf(t->out, "  %%product%zu = linalg.matmul {%s_product%zu} ins(%%a%zu, %%b%zu : ", number, t->name, number,
            number, number);
    linalg_print_matrix(t, "", m->rows, m->taps, ", ");
    linalg_print_matrix(t, "", m->taps, m->columns, ") outs(");
    fprintf(t->out, "%s%zu : ", is_zeroed ? "%zeros" : sums, number);
    linalg_print_matrix(t, "", m->rows, m->columns, ") -> ");
    linalg_print_matrix(t, "", m->rows, m->columns, "\n");
    return number;
}

/* Adds a product that is wider than the sums to the sums, row by row. Returns the sums. */
static size_t print_narrow_sum(struct linalg_text *t, const struct linalg_product *m, size_t number, size_t sums,
                               const struct range *rows, const struct range *columns, const struct linalg_shape *all,
                               bool is_first)
{
    size_t made = print_loop(t, rows->n, sums, all), i = made + 1, tensor = made + 2, value;
    size_t left = print_constant(t, 0), row = print_operation(t, "addi", i, print_constant(t, rows->first));
    size_t column = print_constant(t, columns->first);

    value = t->n_values++;
    fprintf(t->out, "  %%v%zu = vector.transfer_read %%product%zu[%%v%zu, %%v%zu], %%zero ", value, number, i, left);
    linalg_print_matrix(t, "{in_bounds = [true]} : ", m->rows, m->columns, ", ");
    fprintf(t->out, "vector<%zuxf32>\n", columns->n);
    if (!is_first) {
        size_t old = t->n_values++;

        fprintf(t->out, "  %%v%zu = vector.transfer_read %%v%zu[%%v%zu, %%v%zu], %%zero ", old, tensor, row, column);
        linalg_print_matrix(t, "{in_bounds = [true]} : ", all->extent[0], all->extent[1], ", ");
        fprintf(t->out, "vector<%zuxf32>\n", columns->n);
        fprintf(t->out, "  %%v%zu = arith.addf %%v%zu, %%v%zu : vector<%zuxf32>\n", t->n_values, old, value,
                columns->n);
        value = t->n_values++;
    }
    fprintf(t->out, "  %%v%zu = vector.transfer_write %%v%zu, %%v%zu[%%v%zu, %%v%zu] ", t->n_values, value, tensor, row,
            column);
    fprintf(t->out, "{in_bounds = [true]} : vector<%zuxf32>, ", columns->n);
    linalg_print_matrix(t, "", all->extent[0], all->extent[1], "\n");
    print_loop_end(t, t->n_values++, all);
    return made;
}

/* Prints the addition of a stretch of rows and a stretch of columns to the sums. Returns the sums. */
static size_t print_piece_of_product(struct linalg_text *t, const struct linalg_product *whole, size_t sums,
                                     const struct range *rows, const struct range *columns, bool is_first)
{
    const struct linalg_shape all = { { whole->rows, whole->columns } };
    struct linalg_product m = *whole;
    bool is_narrow;
    char name[3][32], from[32];
    size_t number = t->n_products;

    m.rows = rows->n;
    m.columns = columns->n < m.tile_columns ? edge_width(whole) : columns->n;
    m.set = max_size(rows->set, columns->set);
    is_narrow = m.columns > columns->n;
    snprintf(name[0], sizeof name[0], "%%a%zu", number);
    snprintf(name[1], sizeof name[1], "%%b%zu", number);
    snprintf(name[2], sizeof name[2], "%%sums%zu", number);
    snprintf(from, sizeof from, "%%v%zu", sums);
    print_cutout(t, name[0], "%a", (size_t[]){ rows->first, 0 }, (size_t[]){ m.rows, m.taps },
                 (size_t[]){ whole->rows, m.taps });
    print_cutout(t, name[1], "%b", (size_t[]){ 0, columns->first }, (size_t[]){ m.taps, m.columns },
                 (size_t[]){ m.taps, taken_columns(whole) });
    if (is_narrow) {
        fprintf(t->out, "  %s = tensor.empty() : ", name[2]);
        linalg_print_matrix(t, "", m.rows, m.columns, "\n");
        print_product(t, &m, "%sums", true);
        return print_narrow_sum(t, &m, number, sums, rows, columns, &all, is_first);
    }
    print_cutout(t, name[2], from, (size_t[]){ rows->first, columns->first }, (size_t[]){ m.rows, m.columns },
                 all.extent);
    print_product(t, &m, "%sums", is_first);
    fprintf(t->out, "  %%v%zu = tensor.insert_slice %%product%zu into %s[%zu, %zu] ", t->n_values, number, from,
            rows->first, columns->first);
    fprintf(t->out, "[%zu, %zu] [1, 1] : ", m.rows, m.columns);
    linalg_print_matrix(t, "", m.rows, m.columns, " into ");
    linalg_print_matrix(t, "", whole->rows, whole->columns, "\n");
    return t->n_values++;
}

/* Prints all products of a block. Input stationary has sets of filter tiles below the block. Returns the sums. */
static size_t print_products(struct linalg_text *t, const struct linalg_part *part, size_t sums)
{
    const struct csa_tiling *tiling = &t->plan->sconv.tiling;
    const struct linalg_product m = product_of(t, part);
    bool is_nhwc = t->layout == CONV_LINALG_NHWC;
    size_t filters = is_nhwc ? tiling->n_win : tiling->n_f;
    size_t set = tiling->schedule == CSA_IS ? round_up(tiling->k2 * tiling->n_f, filters) : 0;
    struct range rows[MOST_RANGES], columns[MOST_RANGES];
    size_t n_rows = cut(m.rows, is_nhwc ? 0 : set, m.tile_rows, rows);
    size_t n_columns = cut(m.columns, is_nhwc ? set : 0, m.tile_columns, columns);

    for (size_t i = 0; i < n_rows; i++) {
        for (size_t j = 0; j < n_columns; j++)
            sums = print_piece_of_product(t, &m, sums, &rows[i], &columns[j], part->is_first);
    }
    return sums;
}

/* Prints the type of a block's outputs without their image, as three extents. */
static void print_plane(const struct linalg_text *t, const struct linalg_shape *s, const char *after)
{
    fprintf(t->out, "tensor<%zux%zux%zuxf32>%s", s->extent[1], s->extent[2], s->extent[3], after);
}

/* Prints "[0, 0, 0, 0] [extents] [1, 1, 1, 1] : ". */
static void print_whole_slice(const struct linalg_text *t, const struct linalg_shape *s)
{
    fprintf(t->out, "[0, 0, 0, 0] [%zu, %zu, ", s->extent[0], s->extent[1]);
    fprintf(t->out, "%zu, %zu] [1, 1, 1, 1] : ", s->extent[2], s->extent[3]);
}

static const char *grouping(const struct linalg_text *t)
{
    return t->layout == CONV_LINALG_NHWC ? "[[0, 1], [2]]" : "[[0], [1, 2]]";
}

static size_t print_sums(struct linalg_text *t, const struct linalg_shape *s, const struct linalg_product *m)
{
    fprintf(t->out, "  %%plane = tensor.extract_slice %%out");
    print_whole_slice(t, s);
    linalg_print_tensor(t, "", s, " to ");
    print_plane(t, s, "\n");
    fprintf(t->out, "  %%v%zu = tensor.collapse_shape %%plane %s : ", t->n_values, grouping(t));
    print_plane(t, s, " into ");
    linalg_print_matrix(t, "", m->rows, m->columns, "\n");
    return t->n_values++;
}

static void print_result(const struct linalg_text *t, size_t sums, const struct linalg_shape *s,
                         const struct linalg_product *m)
{
    fprintf(t->out, "  %%rows = tensor.expand_shape %%v%zu %s output_shape [%zu, ", sums, grouping(t), s->extent[1]);
    fprintf(t->out, "%zu, %zu] : ", s->extent[2], s->extent[3]);
    linalg_print_matrix(t, "", m->rows, m->columns, " into ");
    print_plane(t, s, "\n");
    fprintf(t->out, "  %%made = tensor.insert_slice %%rows into %%out");
    print_whole_slice(t, s);
    print_plane(t, s, " into ");
    linalg_print_tensor(t, "", s, "\n");
    linalg_print_tensor(t, "  return %made : ", s, "\n}\n\n");
}

static void print_block(struct linalg_text *t, size_t number)
{
    const struct linalg_part *part = &t->block[number];
    const struct linalg_shape in = linalg_input(t, part), filter = linalg_filter(t, part), out = linalg_output(t, part);
    const struct linalg_product m = product_of(t, part);

    t->n_values = 0;
    fprintf(t->out, "func.func private @%s_block%zu(", t->name, number);
    linalg_print_tensor(t, "%in: ", &in, ", ");
    linalg_print_tensor(t, "%w: ", &filter, ", ");
    linalg_print_tensor(t, "%out: ", &out, ") -> ");
    linalg_print_tensor(t, "", &out, " {\n  %zero = arith.constant 0.0 : f32\n");
    print_factors(t, part);
    print_result(t, print_products(t, part, print_sums(t, &out, &m)), &out, &m);
}

void linalg_print_blocks(struct linalg_text *t)
{
    for (size_t i = 0; i < t->n_blocks; i++)
        print_block(t, i);
}
