/*
 * What makes C of the OpenCL C that program.c writes, for gcc and clang: vectors, loads and stores of vectors, and the
 * ids of a work-item, which are arguments of the function that its kernel becomes. A file that build.c writes includes
 * it, defines the kernels' names as LIFT_ITEM, includes their text, and calls them in loops (LIFT_GROUP): dimension 0
 * is the innermost one, of work-groups and of work-items, which is PoCL's order.
 */
#ifndef EXPERIMENTS_PAPERS_LIFT_SHIM_H
#define EXPERIMENTS_PAPERS_LIFT_SHIM_H

#define __kernel static inline __attribute__((always_inline))
#define __global
#define GROUP(x, y)
#define LANE(v, i) ((v)[0x##i])
#define SPLAT(t, x) ((t){ 0 } + (x))

typedef __SIZE_TYPE__ size_t;
typedef unsigned int uint;

#define get_group_id(d) ((d) ? lift_group1 : lift_group0)
#define get_local_id(d) ((d) ? lift_local1 : lift_local0)
#define get_local_size(d) ((d) ? lift_size1 : lift_size0)
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))

/* The function of one work-item: the kernel `name` is LIFT_ITEM(number, args). */
#define LIFT_ITEM(number, ...)                                                                                         \
    lift_item_##number(const size_t lift_group0, const size_t lift_group1, const size_t lift_local0,                   \
                       const size_t lift_local1, const size_t lift_size0, const size_t lift_size1, __VA_ARGS__)

/*
 * Runs the work-items of struct lift_range (replay.h). The buffers b[...] are in the order of the kernel's
 * arguments.
 */
#define LIFT_GROUP(number, size0, size1, ...)                                                                          \
    void lift_run_##number(float *const *b, int band, const size_t *at);                                               \
    void lift_run_##number(float *const *b, int band, const size_t *at)                                                \
    {                                                                                                                  \
        const size_t group0 = at[0], group1 = at[1], first = at[2], end = at[4], end1 = at[5];                         \
                                                                                                                       \
        for (size_t y = at[3]; y < end1; y++)                                                                          \
            for (size_t x = first; x < end; x++)                                                                       \
                lift_item_##number(group0, group1, x, y, size0, size1, __VA_ARGS__, band);                             \
    }

/* Recorded, vectors are told of here, whole; the compiler's instrumentation tells of all else. */
#ifdef LIFT_RECORDED
void lift_record_load(const void *p, size_t bytes);
void lift_record_store(const void *p, size_t bytes);
#define LIFT_INLINE static __attribute__((noinline, unused, no_sanitize("thread")))
#else
#define lift_record_load(p, bytes)
#define lift_record_store(p, bytes)
#define LIFT_INLINE static inline __attribute__((always_inline, unused))
#endif

#define LIFT_VECTOR(n)                                                                                                 \
    typedef float float##n __attribute__((vector_size(4 * n)));                                                        \
    typedef float lift_at##n __attribute__((vector_size(4 * n), aligned(4), may_alias));                               \
    LIFT_INLINE float##n vload##n(size_t i, const float *p)                                                            \
    {                                                                                                                  \
        lift_record_load(p + i * n, 4 * n);                                                                            \
        return *(const lift_at##n *)(p + i * n);                                                                       \
    }                                                                                                                  \
    LIFT_INLINE void vstore##n(float##n v, size_t i, float *p)                                                         \
    {                                                                                                                  \
        lift_record_store(p + i * n, 4 * n);                                                                           \
        *(lift_at##n *)(p + i * n) = v;                                                                                \
    }

LIFT_VECTOR(2)
LIFT_VECTOR(4)
LIFT_VECTOR(8)
LIFT_VECTOR(16)
#undef LIFT_VECTOR

/* dot() is OpenCL's for two and four elements. */
#define dot(a, b) _Generic((a), float2 : lift_dot2, float4 : lift_dot4)(a, b)

LIFT_INLINE float lift_dot2(float2 a, float2 b)
{
    return a[0] * b[0] + a[1] * b[1];
}

LIFT_INLINE float lift_dot4(float4 a, float4 b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

#endif
