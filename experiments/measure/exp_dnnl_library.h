/* oneDNN's functions, by their names, and what the wrappers of its primitives share. Internal to exp_dnnl*.c. */
#ifndef EXPERIMENTS_EXP_DNNL_LIBRARY_H
#define EXPERIMENTS_EXP_DNNL_LIBRARY_H

#if __has_include(<oneapi/dnnl/dnnl.h>)
#include <oneapi/dnnl/dnnl.h>
#endif

#if defined(DNNL_VERSION_MAJOR) && DNNL_VERSION_MAJOR == 2
#define EXP_HAS_DNNL 1

/* The functions in use, with the types of the header. */
/* clang-format off */
#define EXP_DNNL_FUNCTIONS(X)                                                                                                   \
    X(dnnl_version) X(dnnl_engine_create) X(dnnl_engine_destroy)                                                       \
    X(dnnl_stream_create) X(dnnl_stream_destroy) X(dnnl_stream_wait)                                                   \
    X(dnnl_memory_desc_init_by_tag) X(dnnl_memory_desc_equal) X(dnnl_memory_create)                                    \
    X(dnnl_memory_destroy) X(dnnl_dilated_convolution_forward_desc_init) X(dnnl_primitive_desc_create)                 \
    X(dnnl_primitive_desc_destroy) X(dnnl_primitive_desc_query_md) X(dnnl_primitive_desc_query)                        \
    X(dnnl_reorder_primitive_desc_create) X(dnnl_primitive_create) X(dnnl_primitive_execute)                           \
    X(dnnl_primitive_destroy) X(dnnl_batch_normalization_forward_desc_init)                                            \
    X(dnnl_primitive_attr_create) X(dnnl_primitive_attr_destroy) X(dnnl_primitive_attr_set_post_ops)                   \
    X(dnnl_post_ops_create) X(dnnl_post_ops_destroy) X(dnnl_post_ops_append_eltwise)
/* clang-format on */

#define EXP_DNNL_POINTER(name) __typeof__(&name) name##_;

struct exp_dnnl {
    void *handle;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    char version[64];
    EXP_DNNL_FUNCTIONS(EXP_DNNL_POINTER)
};

enum { EXP_DNNL_MAX_ARGS = 6 };

/* One primitive on its arguments. */
struct exp_dnnl_stage {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t arg[EXP_DNNL_MAX_ARGS];
    int n_args;
};

/* Starts a stage. Returns 0 or -EIO. */
int exp_dnnl_start(const struct exp_dnnl *d, const struct exp_dnnl_stage *s);

/* Waits for what was started. Returns 0 or -EIO. */
int exp_dnnl_wait(const struct exp_dnnl *d);

#else
#define EXP_HAS_DNNL 0
#endif

#endif
