#include "kernels/blas/onednn.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cpu.h"

#if defined __has_include && __has_include(<oneapi/dnnl/dnnl.h>)
#include <oneapi/dnnl/dnnl.h>
#if DNNL_VERSION_MAJOR == 2
#define HAS_HEADER 1
#endif
#endif

typedef int (*gemm_fn)(char trans_a, char trans_b, char offset_c, int64_t m, int64_t n, int64_t k, float alpha,
                       const void *a, int64_t lda, char a_zero, const void *b, int64_t ldb, int8_t b_zero, float beta,
                       int32_t *c, int64_t ldc, const int32_t *offset);

/* The functions that run a matmul primitive. */
/* clang-format off */
#define FUNCTIONS(X)                                                                                                   \
    X(engine_create) X(engine_destroy) X(stream_create) X(stream_destroy) X(stream_wait) X(memory_desc_init_by_tag)    \
    X(matmul_desc_init) X(primitive_desc_create) X(primitive_desc_destroy) X(primitive_create) X(primitive_destroy)    \
    X(memory_create) X(memory_set_data_handle) X(memory_destroy) X(primitive_execute)
/* clang-format on */

struct matmul;

struct conv_onednn {
    void *handle;
    char version[32];
    enum conv_type type;
    pthread_mutex_t lock; /* a product at a time: products share memory and primitives */
    gemm_fn gemm;         /* of bytes */
    int32_t *aside;       /* of u8s8: a product with a row for each window */
    size_t aside_elements;
#ifdef HAS_HEADER
#define POINTER(name) __typeof__(dnnl_##name) *name;
    FUNCTIONS(POINTER)
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct matmul *matmul; /* prepared, a list */
#endif
};

static void *symbol(const struct conv_onednn *d, const char *name)
{
    char full[64];

    snprintf(full, sizeof full, "dnnl_%s", name);
    return dlsym(d->handle, full);
}

/* ---- bf16 ---- */

#ifdef HAS_HEADER

enum { FILTER, MATRIX, OUT, N_MEMORIES };

struct matmul {
    struct matmul *next;
    size_t n_f, n_win, n_k;
    dnnl_primitive_t primitive;
    dnnl_memory_t memory[N_MEMORIES];
};

static void release_matmul(const struct conv_onednn *d, struct matmul *m)
{
    for (int i = 0; i < N_MEMORIES; i++) {
        if (m->memory[i])
            d->memory_destroy(m->memory[i]);
    }
    if (m->primitive)
        d->primitive_destroy(m->primitive);
    free(m);
}

static void release_matmuls(struct conv_onednn *d)
{
    while (d->matmul) {
        struct matmul *m = d->matmul;

        d->matmul = m->next;
        release_matmul(d, m);
    }
    if (d->stream)
        d->stream_destroy(d->stream);
    if (d->engine)
        d->engine_destroy(d->engine);
}

static int load_matmul(struct conv_onednn *d)
{
#define FIND(name)                                                                                                     \
    *(void **)&d->name = symbol(d, #name);                                                                             \
    if (!d->name)                                                                                                      \
        return -ENOTSUP;
    FUNCTIONS(FIND)
    if (d->engine_create(&d->engine, dnnl_cpu, 0) || d->stream_create(&d->stream, d->engine, dnnl_stream_default_flags))
        return -ENOTSUP;
    return 0;
}

static int prepare_matmul(const struct conv_onednn *d, struct matmul *m)
{
    const dnnl_dims_t dims[N_MEMORIES] = { { (dnnl_dim_t)m->n_f, (dnnl_dim_t)m->n_k },
                                           { (dnnl_dim_t)m->n_k, (dnnl_dim_t)m->n_win },
                                           { (dnnl_dim_t)m->n_f, (dnnl_dim_t)m->n_win } };
    dnnl_memory_desc_t md[N_MEMORIES];
    dnnl_matmul_desc_t desc;
    dnnl_primitive_desc_t pd;
    int failed = 0;

    for (int i = 0; i < N_MEMORIES && !failed; i++)
        failed = d->memory_desc_init_by_tag(&md[i], 2, dims[i], i == OUT ? dnnl_f32 : dnnl_bf16, dnnl_ab) ||
                 d->memory_create(&m->memory[i], &md[i], d->engine, DNNL_MEMORY_NONE);
    if (failed || d->matmul_desc_init(&desc, &md[FILTER], &md[MATRIX], NULL, &md[OUT]) ||
        d->primitive_desc_create(&pd, &desc, NULL, d->engine, NULL))
        return -ENOTSUP;
    failed = d->primitive_create(&m->primitive, pd);
    d->primitive_desc_destroy(pd);
    return failed ? -ENOTSUP : 0;
}

/* Returns the prepared primitive of a shape; NULL: it cannot be prepared. */
static const struct matmul *find_matmul(struct conv_onednn *d, const struct conv_onednn_product *p)
{
    struct matmul *m = d->matmul;

    while (m && (m->n_f != p->n_f || m->n_win != p->n_win || m->n_k != p->n_k))
        m = m->next;
    if (m)
        return m;
    m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->n_f = p->n_f;
    m->n_win = p->n_win;
    m->n_k = p->n_k;
    if (prepare_matmul(d, m)) {
        release_matmul(d, m);
        return NULL;
    }
    m->next = d->matmul;
    return d->matmul = m;
}

static int multiply_bf16(struct conv_onednn *d, const struct conv_onednn_product *p)
{
    const struct matmul *m = find_matmul(d, p);

    if (!m || d->memory_set_data_handle(m->memory[FILTER], (void *)(uintptr_t)p->filter) ||
        d->memory_set_data_handle(m->memory[MATRIX], (void *)(uintptr_t)p->matrix) ||
        d->memory_set_data_handle(m->memory[OUT], p->out) ||
        d->primitive_execute(m->primitive, d->stream, N_MEMORIES,
                             (const dnnl_exec_arg_t[]){ { DNNL_ARG_SRC, m->memory[FILTER] },
                                                        { DNNL_ARG_WEIGHTS, m->memory[MATRIX] },
                                                        { DNNL_ARG_DST, m->memory[OUT] } }))
        return -ENOTSUP;
    return d->stream_wait(d->stream) ? -ENOTSUP : 0;
}

#else

static void release_matmuls(struct conv_onednn *d)
{
    (void)d;
}

static int load_matmul(struct conv_onednn *d)
{
    (void)d;
    return -ENOTSUP;
}

static int multiply_bf16(struct conv_onednn *d, const struct conv_onednn_product *p)
{
    (void)d, (void)p;
    return -ENOTSUP;
}

#endif

/* ---- bytes ---- */

/* out[n_f][n_win] = transposed in[n_win][n_f], by squares that stay in the first cache. */
static void transpose(int32_t *out, const int32_t *in, size_t n_f, size_t n_win)
{
    enum { SIDE = 16 };

    for (size_t f = 0; f < n_f; f += SIDE) {
        for (size_t w = 0; w < n_win; w += SIDE) {
            const size_t end_f = f + SIDE < n_f ? f + SIDE : n_f, end_w = w + SIDE < n_win ? w + SIDE : n_win;

            for (size_t i = f; i < end_f; i++) {
                for (size_t k = w; k < end_w; k++)
                    out[i * n_win + k] = in[k * n_f + i];
            }
        }
    }
}

static int multiply_u8s8(struct conv_onednn *d, const struct conv_onednn_product *p)
{
    const int32_t zero = 0;
    const int64_t n_f = (int64_t)p->n_f, n_win = (int64_t)p->n_win, n_k = (int64_t)p->n_k;

    if (d->aside_elements < p->n_f * p->n_win) {
        free(d->aside);
        d->aside_elements = p->n_f * p->n_win;
        d->aside = malloc(d->aside_elements * sizeof *d->aside);
    }
    if (!d->aside) {
        d->aside_elements = 0;
        return -ENOMEM;
    }
    if (d->gemm('T', 'T', 'F', n_win, n_f, n_k, 1, p->matrix, n_win, 0, p->filter, n_k, 0, 0, d->aside, n_f, &zero))
        return -ENOTSUP;
    transpose(p->out, d->aside, p->n_f, p->n_win);
    return 0;
}

static int multiply_s8s8(const struct conv_onednn *d, const struct conv_onednn_product *p)
{
    const int32_t zero = 0;
    const int64_t n_f = (int64_t)p->n_f, n_win = (int64_t)p->n_win, n_k = (int64_t)p->n_k;

    return d->gemm('N', 'N', 'F', n_f, n_win, n_k, 1, p->filter, n_k, 0, p->matrix, n_win, 0, 0, p->out, n_win, &zero)
               ? -ENOTSUP
               : 0;
}

/* ---- the library ---- */

static int find_functions(struct conv_onednn *d)
{
    const int *(*version)(void); /* the struct begins with three numbers */

    *(void **)&version = symbol(d, "version");
    if (!version || version()[0] != 2)
        return -ENOTSUP;
    snprintf(d->version, sizeof d->version, "%d.%d.%d", version()[0], version()[1], version()[2]);
    if (d->type == CONV_BF16)
        return load_matmul(d);
    *(void **)&d->gemm = symbol(d, d->type == CONV_U8S8 ? "gemm_u8s8s32" : "gemm_s8s8s32");
    return d->gemm ? 0 : -ENOTSUP;
}

/* Says why oneDNN's products of a type are wrong or missing on this CPU; NULL: they are right. */
static const char *why_no_product(enum conv_type type)
{
    if (type == CONV_BF16)
        return sim_cpu_has(CPU_ISA_AVX512) ? NULL : "oneDNN multiplies bf16 with AVX-512 only";
    return sim_cpu_extends(CPU_EXT_VNNI) ? NULL
                                         : "oneDNN's sums of bytes saturate at 16 bits without VNNI: wrong results";
}

int conv_onednn_load(struct conv_onednn **d, enum conv_type type, struct sim_why why)
{
    const char *isa = sim_cpu_has(CPU_ISA_AVX512) ? "AVX512_CORE_VNNI" : sim_cpu_has(CPU_ISA_AVX2) ? "AVX2" : "SSE41";
    struct conv_onednn *x = calloc(1, sizeof *x);
    int err = x ? 0 : -ENOMEM;

    assert(type != CONV_F32);
    *d = NULL;
    if (why_no_product(type)) {
        free(x);
        return sim_fail(why, -ENOTSUP, "%s", why_no_product(type));
    }
    if (!err && (setenv("OMP_NUM_THREADS", "1", 1) || (sim_cpu_is_limited() && setenv("DNNL_MAX_CPU_ISA", isa, 0))))
        err = -ENOMEM;
    if (err) {
        free(x);
        return sim_fail(why, err, "no memory for oneDNN");
    }
    x->type = type;
    pthread_mutex_init(&x->lock, NULL);
    x->handle = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!x->handle)
        err = sim_fail(why, -ENOENT, "oneDNN cannot be loaded: %s", dlerror());
    else if (find_functions(x))
        err = sim_fail(why, -ENOTSUP, "oneDNN %s has no product of %s for this program%s", x->version,
                       conv_types[type].name,
                       type == CONV_BF16 ? " (bf16 needs libdnnl-dev 2 when the program is built)" : "");
    if (err)
        conv_onednn_unload(x);
    else
        *d = x;
    return err;
}

void conv_onednn_unload(struct conv_onednn *d)
{
    if (!d)
        return;
    release_matmuls(d);
    if (d->handle)
        dlclose(d->handle);
    pthread_mutex_destroy(&d->lock);
    free(d->aside);
    free(d);
}

const char *conv_onednn_version(const struct conv_onednn *d)
{
    return d->version;
}

int conv_onednn_multiply(struct conv_onednn *d, const struct conv_onednn_product *p)
{
    int err;

    assert(p->n_f && p->n_win && p->n_k);
    pthread_mutex_lock(&d->lock);
    err = d->type == CONV_BF16 ? multiply_bf16(d, p) : d->type == CONV_U8S8 ? multiply_u8s8(d, p) : multiply_s8s8(d, p);
    pthread_mutex_unlock(&d->lock);
    return err;
}
