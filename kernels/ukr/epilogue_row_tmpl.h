/*
 * One row of outputs in vectors of one length, the compiler's own: a piece in the source is one in the machine. Included
 * once for each length; the including file defines
 *
 *   ROW_LANES     floats of a vector
 *   ROW(name)     name, told apart from that of the other lengths
 */

typedef float ROW(vector) __attribute__((vector_size(ROW_LANES * sizeof(float)), aligned(4), may_alias));
typedef int ROW(mask) __attribute__((vector_size(ROW_LANES * sizeof(int))));

/* Keeps NaN: a comparison with NaN is false. */
static inline ROW(vector) ROW(activate)(ROW(vector) x, enum conv_activation a)
{
    const ROW(vector) zero = { 0 }, six = zero + 6;
    ROW(mask) above;

    if (a == CONV_ACTIVATION_NONE)
        return x;
    x = (ROW(vector))((ROW(mask))x & ~(ROW(mask))(x < zero));
    if (a == CONV_ACTIVATION_RELU)
        return x;
    above = (ROW(mask))(x > six);
    return (ROW(vector))(((ROW(mask))x & ~above) | ((ROW(mask))six & above));
}

/* Finishes windows from the i-th on, while there are enough for a vector. Returns the first one that is left. */
static inline size_t ROW(finish)(const struct epilogue_row *r, size_t i)
{
    const ROW(vector) zero = { 0 }, scale = zero + r->scale, bias = zero + r->bias;

    for (; i + ROW_LANES <= r->n_win; i += ROW_LANES) {
        ROW(vector) x = *(const ROW(vector) *)(r->in + i);

        if (r->scales)
            x *= scale;
        if (r->adds_bias)
            x += bias;
        if (r->residual)
            x += *(const ROW(vector) *)(r->residual + i);
        *(ROW(vector) *)(r->out + i) = ROW(activate)(x, r->activation);
    }
    return i;
}

#undef ROW
#undef ROW_LANES
