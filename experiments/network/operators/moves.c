/* Operators that copy elements, by an index for each axis. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/operators/inside.h"
#include "experiments/network/operators/records.h"

/* ---- making ---- */

struct op_moves *op_moves_new(struct op_call *call, size_t n_dims, const size_t *dim, size_t element_bytes)
{
    struct op_moves *m;
    size_t n = 0;

    assert(n_dims <= ONNX_MAX_DIMS && element_bytes);
    for (size_t d = 0; d < n_dims; d++)
        n += dim[d];
    m = op_own(call, sizeof *m + n * sizeof **m->at);
    m->at[0] = (ptrdiff_t *)(m + 1);
    m->element_bytes = element_bytes;
    for (size_t d = 0; d < n_dims; d++) {
        m->dim[d] = dim[d];
        if (d)
            m->at[d] = m->at[d - 1] + dim[d - 1];
    }
    m->n_dims = n_dims;
    return m;
}

/* Sets the indexes of axis d to 0, step, 2 * step, ... */
static void set_steps(struct op_moves *m, size_t d, size_t step)
{
    for (size_t i = 0; i < m->dim[d]; i++)
        m->at[d][i] = (ptrdiff_t)(i * step);
}

/* Tells whether an axis is dense: index i is i blocks. */
static bool is_dense(const struct op_moves *m, size_t d)
{
    for (size_t i = 0; i < m->dim[d]; i++) {
        if (m->at[d][i] != (ptrdiff_t)(i * m->block))
            return false;
    }
    return true;
}

/* Finds out whether the last axis is fills, neighbours, fills. */
static void find_run(struct op_moves *m)
{
    const size_t n = m->dim[m->n_dims - 1];
    const ptrdiff_t *at = m->at[m->n_dims - 1];
    size_t i = 0;

    while (i < n && at[i] < 0)
        i++;
    m->lead = i;
    while (i < n && at[i] >= 0 && (i == m->lead || at[i] == at[i - 1] + (ptrdiff_t)m->block))
        i++;
    m->run = i - m->lead;
    while (i < n && at[i] < 0)
        i++;
    m->has_run = i == n;
}

void op_moves_finish(struct op_moves *m)
{
    assert(m->n_dims <= ONNX_MAX_DIMS);
    m->block = 1;
    while (m->n_dims && is_dense(m, m->n_dims - 1)) {
        m->n_dims--;
        m->block *= m->dim[m->n_dims];
    }
    if (m->n_dims)
        find_run(m);
}

int op_check_moved(const struct op_call *call, size_t needed, struct exp_why *why)
{
    int err = op_check_shapes(call, needed, why);

    if (!err && !onnx_type_bytes(op_in(call, 0)->type))
        err = op_refuse(call, why, "'%s' is of type %s", op_in(call, 0)->name, onnx_type_name(op_in(call, 0)->type));
    return err;
}

/* ---- running ---- */

struct work {
    const struct op_moves *m;
    const unsigned char *in;
    unsigned char *out;
    size_t block_bytes;
};

static void fill(const struct op_moves *m, unsigned char *out, size_t n)
{
    op_note((const void *)out, n * m->element_bytes / sizeof(float), 1, SIM_STORE);
    for (size_t i = 0; i < n; i++)
        memcpy(out + i * m->element_bytes, m->fill, m->element_bytes);
}

/* Copies the last axis, float by float. */
static void move_floats(const struct op_moves *m, const ptrdiff_t *at, uint32_t *out, const uint32_t *in)
{
    uint32_t filled;

    memcpy(&filled, m->fill, sizeof filled);
    for (size_t i = 0; op_is_emitted() && i < m->dim[m->n_dims - 1]; i++) {
        if (at[i] >= 0)
            op_note((const float *)(const void *)in + at[i], 1, 1, SIM_LOAD);
        op_note((const float *)(const void *)out + i, 1, 1, SIM_STORE);
    }
    for (size_t i = 0; i < m->dim[m->n_dims - 1]; i++)
        out[i] = at[i] < 0 ? filled : in[at[i]];
}

static void move_blocks(const struct work *w, const ptrdiff_t *at, unsigned char *out, const unsigned char *in)
{
    const struct op_moves *m = w->m;

    for (size_t i = 0; i < m->dim[m->n_dims - 1]; i++, out += w->block_bytes) {
        if (at[i] < 0)
            fill(m, out, m->block);
        else
            op_copy(out, in + (size_t)at[i] * m->element_bytes, w->block_bytes);
    }
}

static void move_run(const struct work *w, const ptrdiff_t *at, unsigned char *out, const unsigned char *in)
{
    const struct op_moves *m = w->m;
    const size_t n = m->dim[m->n_dims - 1], tail = n - m->lead - m->run;

    fill(m, out, m->lead * m->block);
    out += m->lead * w->block_bytes;
    if (m->run)
        op_copy(out, in + (size_t)at[m->lead] * m->element_bytes, m->run * w->block_bytes);
    fill(m, out + m->run * w->block_bytes, tail * m->block);
}

/* Copies the last axis from `base` of the input; negative: fills the axis. */
static void move_row(const struct work *w, ptrdiff_t base, unsigned char *out)
{
    const struct op_moves *m = w->m;
    const ptrdiff_t *at = m->at[m->n_dims - 1];
    const unsigned char *in = w->in + (base < 0 ? 0 : (size_t)base * m->element_bytes);

    if (base < 0)
        fill(m, out, m->dim[m->n_dims - 1] * m->block);
    else if (m->has_run)
        move_run(w, at, out, in);
    else if (w->block_bytes == sizeof(uint32_t))
        move_floats(m, at, (uint32_t *)(void *)out, (const uint32_t *)(const void *)in);
    else
        move_blocks(w, at, out, in);
}

/* Where row number i of the output begins in the input; negative: nowhere. */
static ptrdiff_t row_base(const struct op_moves *m, size_t i)
{
    ptrdiff_t base = 0;

    for (size_t d = m->n_dims - 1; d-- > 0;) {
        const ptrdiff_t at = m->at[d][i % m->dim[d]];

        if (at < 0)
            return -1;
        base += at;
        i /= m->dim[d];
    }
    return base;
}

static void move_rows(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;
    const size_t row_bytes = w->m->dim[w->m->n_dims - 1] * w->block_bytes;

    (void)share;
    for (size_t i = from; i < to; i++)
        move_row(w, row_base(w->m, i), w->out + i * row_bytes);
}

void op_moves_run(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct op_moves *m = call->own;
    struct work w = { m, t->in[0], t->out[0], m->block * m->element_bytes };
    size_t rows = 1;

    if (!op_out(call, 0)->elements)
        return;
    if (!m->n_dims) {
        op_copy(w.out, w.in, w.block_bytes);
        return;
    }
    for (size_t d = 0; d + 1 < m->n_dims; d++)
        rows *= m->dim[d];
    op_share(call, team, rows, 2 * m->dim[m->n_dims - 1] * w.block_bytes, move_rows, &w);
}

void op_moves_reference(const struct op_call *call, const struct op_tensors *t)
{
    const struct op_moves *m = call->own;
    const unsigned char *in = t->in[0];
    unsigned char *out = t->out[0];

    for (size_t i = 0; i < op_out(call, 0)->elements; i++) {
        size_t left = i / m->block, from = i % m->block;
        bool is_filled = false;

        for (size_t d = m->n_dims; d-- > 0; left /= m->dim[d]) {
            const ptrdiff_t at = m->at[d][left % m->dim[d]];

            is_filled |= at < 0;
            from += (size_t)at;
        }
        memcpy(out + i * m->element_bytes, is_filled ? m->fill : in + from * m->element_bytes, m->element_bytes);
    }
}

/* ---- operators ---- */

static struct op_moves *moves_of_output(struct op_call *call)
{
    const struct onnx_value *out = op_out(call, 0);
    size_t dim[ONNX_MAX_DIMS];

    for (size_t d = 0; d < out->n_dims; d++)
        dim[d] = (size_t)out->dim[d];
    return op_moves_new(call, out->n_dims, dim, onnx_type_bytes(op_in(call, 0)->type));
}

/* Elements from an index of axis d to the next. */
static size_t stride_of(const struct onnx_value *v, size_t d)
{
    return op_elements(v, d + 1, v->n_dims);
}

/* Permutes a tensor with the dimensions dim. */
static void permute(struct op_call *call, size_t n_dims, const size_t *dim, const size_t *from)
{
    size_t permuted[ONNX_MAX_DIMS] = { 0 }, stride[ONNX_MAX_DIMS];
    struct op_moves *m;

    for (size_t d = n_dims, step = 1; d-- > 0; step *= dim[d])
        stride[d] = step;
    for (size_t d = 0; d < n_dims; d++)
        permuted[d] = dim[from[d]];
    m = op_moves_new(call, n_dims, permuted, onnx_type_bytes(op_in(call, 0)->type));
    for (size_t d = 0; d < n_dims; d++)
        set_steps(m, d, stride[from[d]]);
    op_moves_finish(m);
}

static int prepare_transpose(struct op_call *call, struct exp_why *why)
{
    size_t n, from[ONNX_MAX_DIMS], dim[ONNX_MAX_DIMS];
    const int64_t *perm = onnx_ints(call->ask.node, "perm", &n);
    const struct onnx_value *in = op_in(call, 0);
    int64_t permuted[ONNX_MAX_DIMS];
    int err = op_check_moved(call, 1, why);

    if (!err && perm && n != in->n_dims)
        err = op_refuse(call, why, "perm has %zu axes, its input %zu", n, in->n_dims);
    for (size_t d = 0; !err && d < in->n_dims; d++) {
        err = perm ? op_axis(call, perm[d], n, &from[d], why) : 0;
        if (!perm)
            from[d] = in->n_dims - 1 - d;
        dim[d] = (size_t)in->dim[d];
        permuted[d] = err ? 0 : in->dim[from[d]];
    }
    if (!err)
        err = op_check_out(call, 0, in->n_dims, permuted, why);
    if (!err)
        permute(call, in->n_dims, dim, from);
    return err;
}

/* Reads the side of the blocks of depth and space, and checks shapes. Returns 0 or -ENOTSUP. */
static int read_blocks(const struct op_call *call, size_t *side, bool are_in_depth, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0);
    const int64_t b = onnx_int(call->ask.node, "blocksize", 0);
    int err = op_check_moved(call, 1, why);

    if (err)
        return err;
    if (in->n_dims != 4)
        return op_refuse(call, why, "an input of %zu dimensions", in->n_dims);
    if (b < 1 || b > 1 << 15)
        return op_refuse(call, why, "a blocksize of %lld", (long long)b);
    if (are_in_depth ? in->dim[1] % (b * b) : in->dim[2] % b || in->dim[3] % b)
        return op_refuse(call, why, "a blocksize of %lld, which does not divide its input", (long long)b);
    *side = (size_t)b;
    return op_check_out(call, 0, 4,
                        are_in_depth
                            ? (const int64_t[]){ in->dim[0], in->dim[1] / (b * b), in->dim[2] * b, in->dim[3] * b }
                            : (const int64_t[]){ in->dim[0], in->dim[1] * b * b, in->dim[2] / b, in->dim[3] / b },
                        why);
}

static int prepare_depth_to_space(struct op_call *call, struct exp_why *why)
{
    static const size_t dcr[] = { 0, 3, 4, 1, 5, 2 }, crd[] = { 0, 1, 4, 2, 5, 3 };
    const char *mode = onnx_text(call->ask.node, "mode", "DCR");
    const bool is_crd = !strcmp(mode, "CRD");
    const struct onnx_value *in = op_in(call, 0);
    size_t side = 1;
    int err = read_blocks(call, &side, true, why);

    if (!err && !is_crd && strcmp(mode, "DCR"))
        err = op_refuse(call, why, "mode '%s'", mode);
    if (!err) {
        const size_t c = (size_t)in->dim[1] / (side * side);
        const size_t dim[] = { (size_t)in->dim[0], is_crd ? c : side,  side,
                               is_crd ? side : c,  (size_t)in->dim[2], (size_t)in->dim[3] };

        permute(call, 6, dim, is_crd ? crd : dcr);
    }
    return err;
}

static int prepare_space_to_depth(struct op_call *call, struct exp_why *why)
{
    static const size_t from[] = { 0, 3, 5, 1, 2, 4 };
    const struct onnx_value *in = op_in(call, 0);
    size_t side = 1;
    int err = read_blocks(call, &side, false, why);

    if (!err)
        permute(call, 6,
                (const size_t[]){ (size_t)in->dim[0], (size_t)in->dim[1], (size_t)in->dim[2] / side, side,
                                  (size_t)in->dim[3] / side, side },
                from);
    return err;
}

/* Expand and Tile: shorter axes are repeated. */
static int prepare_repeat(struct op_call *call, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0), *out = op_out(call, 0);
    int err = op_check_moved(call, 1, why);
    struct op_moves *m;

    if (!err && out->n_dims < in->n_dims)
        err = op_refuse(call, why, "an output of fewer dimensions than its input");
    for (size_t d = 0; !err && d < in->n_dims; d++) {
        const int64_t n = out->dim[out->n_dims - in->n_dims + d];

        if (n && (!in->dim[d] || n % in->dim[d]))
            err = op_refuse(call, why, "%lld elements repeated to %lld", (long long)in->dim[d], (long long)n);
    }
    if (err)
        return err;
    m = moves_of_output(call);
    for (size_t d = 0; d < in->n_dims; d++) {
        const size_t o = out->n_dims - in->n_dims + d;

        for (size_t i = 0; i < m->dim[o]; i++)
            m->at[o][i] = (ptrdiff_t)(i % (size_t)in->dim[d] * stride_of(in, d));
    }
    op_moves_finish(m);
    return 0;
}

/* ---- Slice ---- */

struct slices {
    int64_t start[ONNX_MAX_DIMS], step[ONNX_MAX_DIMS], n[ONNX_MAX_DIMS];
};

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* Sets one axis: ends may lie before the first element of a step backwards, starts may not. */
static void set_slice(struct slices *s, size_t d, int64_t n, const int64_t start_end_step[3])
{
    const int64_t step = start_end_step[2], low[2] = { 0, step < 0 ? -1 : 0 }, high = step < 0 ? n - 1 : n;
    int64_t bound[2], elements;

    for (size_t i = 0; i < 2; i++) {
        const int64_t at = start_end_step[i];

        bound[i] = clamp(at < 0 ? (at < -n ? -1 : at + n) : at, low[i], high);
    }
    elements = step < 0 ? bound[0] - bound[1] : bound[1] - bound[0];
    s->start[d] = bound[0];
    s->step[d] = step;
    s->n[d] = !n || elements <= 0 ? 0 : 1 + (elements - 1) / (step == INT64_MIN ? INT64_MAX : step < 0 ? -step : step);
}

static int read_slices(const struct op_call *call, struct slices *s, struct exp_why *why)
{
    static const char *const names[] = { "starts", "ends", "axes", "steps" };
    const struct onnx_value *in = op_in(call, 0);
    struct onnx_list list[4];
    int err = 0;

    for (size_t i = 0; i < 4; i++) {
        if (onnx_list(call->ask.graph, call->ask.node, names[i], i + 1, &list[i]))
            return op_refuse(call, why, "%s are not known before the run", names[i]);
        if (list[i].n != list[0].n && (i == 1 || list[i].is_given))
            return op_refuse(call, why, "%zu starts, and %zu %s", list[0].n, list[i].n, names[i]);
    }
    for (size_t d = 0; d < in->n_dims; d++)
        set_slice(s, d, in->dim[d], (const int64_t[]){ 0, INT64_MAX, 1 });
    for (size_t i = 0; !err && i < list[0].n; i++) {
        const int64_t step = list[3].is_given ? list[3].at[i] : 1;
        size_t d;

        err = op_axis(call, list[2].is_given ? list[2].at[i] : (int64_t)i, in->n_dims, &d, why);
        if (!err && !step)
            err = op_refuse(call, why, "a step of 0");
        if (!err)
            set_slice(s, d, in->dim[d], (const int64_t[]){ list[0].at[i], list[1].at[i], step });
    }
    return err;
}

static int prepare_slice(struct op_call *call, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0);
    struct op_moves *m;
    struct slices s;
    int err = op_check_moved(call, 1, why);

    if (!err)
        err = read_slices(call, &s, why);
    if (!err)
        err = op_check_out(call, 0, in->n_dims, s.n, why);
    if (err)
        return err;
    m = moves_of_output(call);
    for (size_t d = 0; d < m->n_dims; d++) {
        for (size_t i = 0; i < m->dim[d]; i++)
            m->at[d][i] = (ptrdiff_t)((size_t)(s.start[d] + (int64_t)i * s.step[d]) * stride_of(in, d));
    }
    op_moves_finish(m);
    return 0;
}

/* ---- Pad ---- */

enum pad_mode { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP, N_PAD_MODES };

/* Returns the input index of padded position i, relative to the n elements of the input; -1: filled. */
static int64_t padded_from(enum pad_mode mode, int64_t i, int64_t n)
{
    if (i >= 0 && i < n)
        return i;
    if (mode == PAD_CONSTANT || !n)
        return -1;
    if (mode == PAD_WRAP)
        return i % n < 0 ? i % n + n : i % n;
    if (mode == PAD_EDGE || n == 1)
        return i < 0 ? 0 : n - 1;
    i %= 2 * (n - 1);
    i = i < 0 ? i + 2 * (n - 1) : i;
    return i < n ? i : 2 * (n - 1) - i;
}

static int read_pads(const struct op_call *call, struct onnx_list *pads, enum pad_mode *mode, struct exp_why *why)
{
    static const char *const modes[] = { "constant", "reflect", "edge", "wrap" };
    const char *text = onnx_text(call->ask.node, "mode", "constant"),
               *name = call->ask.graph->opset < 2 ? "paddings" : "pads";

    for (*mode = 0; *mode < N_PAD_MODES && strcmp(text, modes[*mode]);)
        ++*mode;
    if (*mode == N_PAD_MODES)
        return op_refuse(call, why, "mode '%s'", text);
    if (onnx_list(call->ask.graph, call->ask.node, name, 1, pads))
        return op_refuse(call, why, "pads are not known before the run");
    return 0;
}

/* Sets before[]: of the axes of the fourth input, of all if there is none. */
static int set_before(const struct op_call *call, const struct onnx_list *pads, int64_t *before, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0);
    struct onnx_list axes;
    int64_t dim[ONNX_MAX_DIMS];
    int err = 0;

    if (onnx_list(call->ask.graph, call->ask.node, "axes", 3, &axes))
        return op_refuse(call, why, "axes are not known before the run");
    if (pads->n != 2 * (axes.is_given ? axes.n : in->n_dims))
        return op_refuse(call, why, "%zu pads for %zu axes", pads->n, axes.is_given ? axes.n : in->n_dims);
    for (size_t d = 0; d < in->n_dims; d++) {
        before[d] = 0;
        dim[d] = in->dim[d];
    }
    for (size_t i = 0; !err && i < pads->n / 2; i++) {
        size_t d;

        err = op_axis(call, axes.is_given ? axes.at[i] : (int64_t)i, in->n_dims, &d, why);
        if (!err) {
            before[d] = pads->at[i];
            dim[d] += pads->at[i] + pads->at[pads->n / 2 + i];
        }
    }
    return err ? err : op_check_out(call, 0, in->n_dims, dim, why);
}

/* Sets the fill: a number for floats, bytes for further types. */
static int set_fill(const struct op_call *call, struct op_moves *m, struct exp_why *why)
{
    const struct onnx_value *v = op_in(call, 2);
    double value;
    float narrow;

    if (onnx_number(call->ask.graph, call->ask.node, "value", 2, 0, &value))
        return op_refuse(call, why, "the value is not known before the run");
    narrow = (float)value;
    if (op_in(call, 0)->type == ONNX_FLOAT)
        memcpy(m->fill, &narrow, sizeof narrow);
    else if (v && v->data && v->elements && v->type == op_in(call, 0)->type)
        memcpy(m->fill, v->data, m->element_bytes);
    return 0;
}

static int prepare_pad(struct op_call *call, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0);
    int64_t before[ONNX_MAX_DIMS];
    enum pad_mode mode = PAD_CONSTANT;
    struct onnx_list pads;
    struct op_moves *m;
    int err = op_check_moved(call, 1, why);

    if (!err)
        err = read_pads(call, &pads, &mode, why);
    if (!err)
        err = set_before(call, &pads, before, why);
    if (err)
        return err;
    m = moves_of_output(call);
    for (size_t d = 0; d < m->n_dims; d++) {
        for (size_t i = 0; i < m->dim[d]; i++) {
            const int64_t from = padded_from(mode, (int64_t)i - before[d], in->dim[d]);

            m->at[d][i] = from < 0 ? -1 : (ptrdiff_t)((size_t)from * stride_of(in, d));
        }
    }
    op_moves_finish(m);
    return set_fill(call, m, why);
}

/* ---- Gather ---- */

static int check_gather(const struct op_call *call, size_t *axis, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0), *indices = op_in(call, 1);
    int64_t dim[2 * ONNX_MAX_DIMS];
    size_t n = 0;
    int err = op_check_moved(call, 2, why);

    if (!err && indices->type != ONNX_INT64 && indices->type != ONNX_INT32)
        err = op_refuse(call, why, "indices of type %s", onnx_type_name(indices->type));
    if (!err && !indices->data && indices->elements)
        err = op_refuse(call, why, "indices are not known before the run");
    if (!err)
        err = op_axis(call, onnx_int(call->ask.node, "axis", 0), in->n_dims, axis, why);
    if (err)
        return err;
    for (size_t d = 0; d < in->n_dims; d++) {
        if (d != *axis)
            dim[n++] = in->dim[d];
        for (size_t i = 0; d == *axis && i < indices->n_dims; i++)
            dim[n++] = indices->dim[i];
    }
    return op_check_out(call, 0, n, dim, why);
}

static int prepare_gather(struct op_call *call, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0), *indices = op_in(call, 1);
    struct op_moves *m;
    size_t axis, stride;
    int err = check_gather(call, &axis, why);

    if (err)
        return err;
    stride = stride_of(in, axis);
    m = op_moves_new(call, 3, (const size_t[]){ op_elements(in, 0, axis), indices->elements, stride },
                     onnx_type_bytes(in->type));
    set_steps(m, 0, (size_t)in->dim[axis] * stride);
    set_steps(m, 2, 1);
    for (size_t i = 0; i < indices->elements; i++) {
        const int64_t n = in->dim[axis], is = onnx_element_int(indices, i), at = is < 0 ? is + n : is;

        m->at[1][i] = at < 0 || at >= n ? -1 : (ptrdiff_t)((size_t)at * stride);
    }
    op_moves_finish(m);
    return 0;
}

#define RECORD(name_, prepare_)                                                                                        \
    const struct op op_##name_ = {                                                                                     \
        .name = #name_, .prepare = prepare_, .run = op_moves_run, .reference = op_moves_reference                      \
    };

RECORD(Transpose, prepare_transpose)
RECORD(DepthToSpace, prepare_depth_to_space)
RECORD(SpaceToDepth, prepare_space_to_depth)
RECORD(Expand, prepare_repeat)
RECORD(Tile, prepare_repeat)
RECORD(Slice, prepare_slice)
RECORD(Pad, prepare_pad)
RECORD(Gather, prepare_gather)
