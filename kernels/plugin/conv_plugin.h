/*
 * A user's convolution for the bench: a C file or a shared object, named in ALGO=.
 *
 *     make experiment MODEL=vgg16 ALGO=base,sconv,mine.c
 *
 * The smallest plug-in is one function. The bench calls the function for every layer:
 *
 *     #include "conv_plugin.h"
 *
 *     void conv(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out)
 *     {
 *         ...
 *     }
 *
 * A plug-in that packs filters ahead, needs memory, or supports only some shapes defines the record `conv_plugin`
 * instead. This header needs only the C library's types and compiles as C11 and as C++.
 *
 * Tensors are dense arrays of float: in[batch][in_channels][in_h][in_w]; filters[out_channels][in_channels / groups]
 * [kernel_h][kernel_w]; out[batch][out_channels][out_h][out_w]. Group g reads the g-th part of the input channels and
 * writes the g-th part of the output channels. Windows are correlated, not mirrored, as in all frameworks:
 *
 *     out[n][k][y][x] = sum over c, r, t of filters[k][c][r][t] * in[n][first channel of the group + c]
 *                           [y * stride_h + r * dilation_h - pad_top][x * stride_w + t * dilation_w - pad_left]
 *
 * Elements outside the image are zero. Before a run, `out` may hold any values, also NaN; the sum replaces them. No two
 * runs have equal inputs: the input stays at its address and gets new values for each run. Tensors are aligned to at
 * least 64 bytes; a plug-in may read up to 64 bytes behind a tensor. A plug-in must not write to the input or the
 * filters.
 *
 * A plug-in runs in a separate process with the user's rights, on one pinned core unless more threads are allowed
 * (conv_plugin_ask).
 */
#ifndef CONV_PLUGIN_H
#define CONV_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. The bench refuses plug-ins of another version. */
#define CONV_PLUGIN_ABI 1

/* Holds a convolution; all sizes are numbers of elements. */
struct conv_plugin_shape {
    uint32_t bytes; /* sizeof this struct in the bench: a later version may have more members behind */
    int32_t batch, groups;
    int32_t in_channels, in_h, in_w;
    int32_t out_channels, out_h, out_w;
    int32_t kernel_h, kernel_w, stride_h, stride_w;
    int32_t pad_top, pad_left, pad_bottom, pad_right;
    int32_t dilation_h, dilation_w; /* 1: none */
};

/* The phases of a run. The bench reports counts and times of each phase, under the names of its own phases. */
enum conv_plugin_phase {
    CONV_PLUGIN_COMPUTES, /* "micro_kernel": also the time before the first mark */
    CONV_PLUGIN_PACKS,    /* "packing" */
    CONV_PLUGIN_LOWERS,   /* "im2col" */
    CONV_PLUGIN_CLEARS    /* "zero_output" */
};

/* The receiver of a run's marks: prepare keeps a copy (conv_plugin_marks_of), run calls conv_plugin_mark. */
struct conv_plugin_marks {
    void (*mark)(void *of, int phase); /* NULL: nobody listens */
    void *of;
};

/* The bench's further wishes. */
struct conv_plugin_ask {
    uint32_t bytes;   /* sizeof this struct in the bench: a later version may have more members behind */
    int32_t threads;  /* of run, the caller's thread included */
    const char *plan; /* of the user's, for the plug-in alone: PLUGIN_PLAN; "" */
    struct conv_plugin_marks marks;
};

/* Returns the receiver of marks; none, if the bench is older than this header. */
static inline struct conv_plugin_marks conv_plugin_marks_of(const struct conv_plugin_ask *ask)
{
    struct conv_plugin_marks none = { NULL, NULL };

    return ask->bytes >= offsetof(struct conv_plugin_ask, marks) + sizeof none ? ask->marks : none;
}

/* Marks the start of a phase. A mark without a receiver costs a branch; mark loops, not iterations. */
static inline void conv_plugin_mark(const struct conv_plugin_marks *m, enum conv_plugin_phase phase)
{
    if (m->mark)
        m->mark(m->of, (int)phase);
}

/* Names memory, so that accesses to it are reported under the name. */
struct conv_plugin_region {
    const char *name; /* such as "packed filters" */
    const void *at;
    size_t bytes;
};

struct conv_plugin {
    uint32_t abi;      /* CONV_PLUGIN_ABI */
    const char *name;  /* in tables: letters, digits and '_'; NULL: the file's */
    const char *title; /* in figures; NULL: the name */

    /* Says why the plug-in cannot do a shape; NULL: it can. May be NULL: the plug-in does all shapes. */
    const char *(*why_not)(const struct conv_plugin_shape *s);

    /*
     * Gets ready for many runs of a shape with the given filters, which do not move: packs filters, allocates. *state
     * is handed to run. Returns 0 or a negative errno value. May be NULL.
     */
    int (*prepare)(const struct conv_plugin_shape *s, const struct conv_plugin_ask *ask, const float *filters,
                   void **state);

    /* Convolves. The bench times run. */
    void (*run)(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters, float *out);

    /* Frees the state of prepare. May be NULL. */
    void (*release)(void *state);

    /* Names memory of the state: fills at most `room` regions, returns how many. May be NULL. */
    size_t (*regions)(void *state, struct conv_plugin_region *region, size_t room);
};

/*
 * Goes with a record `conv_plugin` and is called conv_plugin_layout (a record `other` has other_layout). For plug-ins
 * whose images keep a private layout from layer to layer: run finds its input in the state, and leaves its output in
 * the state. The bench times both conversions separately from the run, and reports both times. convert_in is called
 * before every run. When convert_out is called, the input `in` of the run holds new values. The tables' titles should
 * mention the layout.
 */
struct conv_plugin_layout {
    void (*convert_in)(const struct conv_plugin_shape *s, void *state, const float *in);
    void (*convert_out)(const struct conv_plugin_shape *s, void *state, float *out);
};

#ifdef __GNUC__
#define CONV_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define CONV_PLUGIN_EXPORT
#endif

/*
 * A plug-in defines the record or the function. `mine.c:other` names another function of conv's type, or another
 * record.
 */
extern CONV_PLUGIN_EXPORT const struct conv_plugin conv_plugin;
CONV_PLUGIN_EXPORT void conv(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out);

#ifdef __cplusplus
}
#endif

#endif
