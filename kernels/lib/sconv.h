/*
 * libsconv: direct convolution, sliced for the caches of a machine (SConv). fp32, NCHW activations, OIHW filters.
 *
 *     struct sconv_plan *plan;
 *     int err = sconv_plan_create(&plan, &shape, NULL, weights, NULL);    analyse, pack the weights: once
 *     size_t bytes = sconv_workspace_bytes(plan);
 *     err = sconv_run(plan, src, dst, NULL, workspace, bytes);             as often as wanted
 *     sconv_plan_free(plan);
 *
 * Functions that can fail return 0 or a negative errno value and never print; a failed create leaves *plan NULL.
 * sconv_strerror explains a value; sconv_plan_check and sconv_run_check say which argument is wrong. There is no global
 * state. A plan does not change once created: any number of threads may run a plan at a time, each with a workspace and
 * a dst of its own. NaN and infinities propagate as in plain loops; but where a weight that is not finite meets
 * padding, the output may also be NaN, as in loops that multiply by zeros. See sconv(3).
 */
#ifndef SCONV_H
#define SCONV_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCONV_VERSION "@VERSION@" /* this header's; filled in at installation */

#if defined(__GNUC__)
#define SCONV_API __attribute__((visibility("default")))
#else
#define SCONV_API
#endif

/*
 * A convolution as ONNX Conv and PyTorch conv2d define it:
 *
 *   src      [batch][in_c][in_h][in_w]
 *   weights  [out_c][in_c / groups][k_h][k_w]
 *   dst      [batch][out_c][out_h][out_w]
 *
 *   out_h = (in_h + pad_top + pad_bottom - (k_h - 1) * dilation_h - 1) / stride_h + 1
 */
struct sconv_shape {
    size_t batch, in_c, in_h, in_w;
    size_t out_c, k_h, k_w;
    size_t stride_h, stride_w;
    size_t pad_top, pad_left, pad_bottom, pad_right; /* may differ from each other; the other fields may not be 0 */
    size_t dilation_h, dilation_w;                   /* 1 = none */
    size_t groups;                                   /* divides in_c and out_c */
};

enum sconv_activation {
    SCONV_NO_ACTIVATION,
    SCONV_RELU,  /* max(x, 0) */
    SCONV_RELU6, /* min(max(x, 0), 6) */
};

/*
 * The work behind the convolution, done while an output tile is in the nearest cache: activation(sum + bias +
 * residual).
 */
struct sconv_options {
    const float *bias; /* [out_c], copied; NULL = none */
    int adds_residual; /* sconv_run adds a tensor of dst's shape */
    enum sconv_activation activation;
    unsigned threads; /* of a run; 0 = 1; at most SCONV_MAX_THREADS */
};

enum { SCONV_MAX_THREADS = 64 };

/* Returns the version of the library that runs, such as "1.1.0". */
SCONV_API const char *sconv_version(void);

/* Explains a returned value in a few words: constant text, never NULL, equal in every locale and thread. */
SCONV_API const char *sconv_strerror(int err);

struct sconv_machine; /* the caches of a plan */
struct sconv_plan;
struct sconv_team; /* threads that stay between runs */

/*
 * Describes the caches: of this computer (path NULL), or from a machine file (sconv(3)). Asking the computer takes
 * milliseconds, so share a machine among plans. Returns 0; -ENOMEM; -errno of opening the file; -EINVAL for its
 * content, with one line in why (may be NULL if why_bytes is 0). On a computer with AVX-512 it times for a fifth of a
 * millisecond how many vector instructions a cycle starts. SCONV_TUNE, SCONV_WISDOM and SCONV_WINOGRAD (below) are read here. Where the
 * computer does not tell its caches, typical sizes are assumed, and sconv_plan_describe says so. libhwloc, which is
 * asked, may crash when memory runs out: a program that must survive gives a path, and the machine to every plan.
 * Nothing else of the library calls libhwloc.
 */
SCONV_API int sconv_machine_create(struct sconv_machine **machine, const char *path, char *why, size_t why_bytes);
SCONV_API void
sconv_machine_free(struct sconv_machine *machine); /* NULL is fine; plans do not need the machine any more */

/*
 * Wisdom: plans found by timing. With SCONV_TUNE=measure in the environment, sconv_plan_create times every plan that
 * may be good (some 0.1 to 2 seconds), once for each shape of a machine, and takes the fastest; with model, or nothing,
 * it asks a model, which takes microseconds. Measured plans are remembered by the machine, and in the file that
 * SCONV_WISDOM names. The file is read when a machine is created, and written after each measurement: several processes
 * may share the file. Remembered plans are used whatever SCONV_TUNE says. Lines are text, and belong to a CPU, a
 * version of the library, caches and a shape; lines of another CPU, version or cache are kept and not used.
 *
 * import adds a file's plans; export writes all plans of the machine, and keeps the file's lines of other shapes;
 * export renames a finished file into place. Both return 0; -EINVAL for a NULL, or a file that is no wisdom or damaged;
 * -ENOMEM; -errno of opening, reading or writing; with one line in why that names file and line (may be NULL if
 * why_bytes is 0). forget forgets. Any number of threads may use a machine.
 */
SCONV_API int sconv_wisdom_import(struct sconv_machine *machine, const char *path, char *why, size_t why_bytes);
SCONV_API int sconv_wisdom_export(const struct sconv_machine *machine, const char *path, char *why, size_t why_bytes);
SCONV_API void sconv_wisdom_forget(struct sconv_machine *machine); /* NULL is fine */

/*
 * Winograd: with SCONV_WINOGRAD=yes in the environment, plans of 3x3 convolutions without strides, dilation and groups
 * compute F(4x4, 3x3) or F(2x2, 3x3) where a model finds Winograd faster. Outputs of F(4x4) then have larger errors,
 * measured: 3 to 6 times the mean error of SConv, 5 to 16 times the largest error. A NaN or an infinity of src spreads to all outputs of a tile of 4x4 or 2x2
 * whose 6x6 or 4x4 elements hold the value, and infinities become NaN. Weights that are not finite, and numbers near
 * the largest float, do likewise. SCONV_WINOGRAD=error<=X, such as error<=0.01, takes Winograd only where outputs provably
 * differ from the exact values by X at most, if no element of src and weights is larger than 1 in magnitude (sconv(3)).
 * Without the word, or with no, Winograd is never taken. Wisdom does not know Winograd.
 *
 * Plans and packs. machine NULL: this computer; options NULL: none, one thread. weights and options may go away
 * afterwards. Returns 0, or
 *   -EINVAL     a NULL plan, shape or weights; weights or bias not aligned to a float; a size, stride, dilation or
 *               groups of 0; groups that do not divide; a filter larger than the padded input; an unknown activation;
 *               too many threads; CONV_CPU in the environment names no CPU that this CPU can behave as
 *   -EOVERFLOW  a tensor, the padded input with one stride and dilation more, or the workspace exceeds the address
 *               space (as a negative size, converted, does)
 *   -ENOMEM
 */
SCONV_API int sconv_plan_create(struct sconv_plan **plan, const struct sconv_shape *shape,
                                const struct sconv_machine *machine, const float *weights,
                                const struct sconv_options *options);
SCONV_API void sconv_plan_free(struct sconv_plan *plan); /* NULL is fine */

/*
 * Says whether sconv_plan_create takes these arguments, without packing or keeping anything. Returns as
 * sconv_plan_create would, with the reason in why: one line that names the field and its value (why may be NULL if
 * why_bytes is 0).
 */
SCONV_API int sconv_plan_check(const struct sconv_shape *shape, const struct sconv_machine *machine,
                               const float *weights, const struct sconv_options *options, char *why, size_t why_bytes);

/* Returns how many bytes sconv_run needs, for any alignment of the workspace; never 0, but for a NULL plan. */
SCONV_API size_t sconv_workspace_bytes(const struct sconv_plan *plan);

/* Tells the output's height and width. Returns 0, or -EINVAL for NULL. */
SCONV_API int sconv_output_size(const struct sconv_plan *plan, size_t *out_h, size_t *out_w);

/* Writes the plan as a line of text, cut and terminated like snprintf's. Returns the length of the whole line. */
SCONV_API size_t sconv_plan_describe(const struct sconv_plan *plan, char *text, size_t text_bytes);

/*
 * CSA as a call, for compilers: tells how a convolution is cut for a machine's caches, as JSON, and computes nothing.
 * The keys are those of sconv(3): shape, machine, micro-kernel, tiling, options, layouts of packed tensors, costs.
 * machine NULL: this computer. text is terminated, and *length (may be NULL) its length. If text_bytes is too small,
 * the result is -ENOBUFS, an empty text, and the needed *length: text may be NULL if text_bytes is 0. Also returns as
 * sconv_plan_create does, and -ENOTSUP for SCONV_TUNED if tuned SConv takes a direct kernel or Winograd, which have no such tiles.
 */
enum sconv_planner {
    SCONV_PAPER, /* the paper's micro-kernel, of the widest vectors of this CPU, and its equations */
    SCONV_TUNED, /* the decisions of sconv_plan_create */
};

SCONV_API int sconv_plan_json(const struct sconv_shape *shape, const struct sconv_machine *machine,
                              enum sconv_planner planner, char *text, size_t text_bytes, size_t *length);

/*
 * Convolves. src, dst and residual need a float's alignment, no more; workspace needs none. residual is NULL unless the
 * plan adds a residual. Returns 0, or before anything is written
 *   -EINVAL   a NULL or misaligned pointer; a residual missing or too many; src, dst, residual and workspace overlap
 *             (only src and residual may)
 *   -ENOBUFS  workspace_bytes < sconv_workspace_bytes(plan)
 */
SCONV_API int sconv_run(const struct sconv_plan *plan, const float *src, float *dst, const float *residual,
                        void *workspace, size_t workspace_bytes);

/* Says whether sconv_run takes these arguments, and the reason if not, as sconv_plan_check does. */
SCONV_API int sconv_run_check(const struct sconv_plan *plan, const float *src, const float *dst, const float *residual,
                              const void *workspace, size_t workspace_bytes, char *why, size_t why_bytes);

/*
 * Teams: threads that stay between runs, so that a run need not start and join threads. A team serves any plans, one
 * run after the other. Between runs its threads wait for the next run for a tenth of a millisecond at most, and then
 * sleep.
 *
 * create starts threads - 1 threads, because the caller of a run is the first thread; 0 means 1. Threads that cannot be
 * started are missing: missing threads cost time, not the result. Threads run where create's caller may, but leave the
 * core of a run's caller to the caller if there is a core for each; threads take no signals. Returns 0; -EINVAL for
 * NULL or more than SCONV_MAX_THREADS; -ENOMEM. sconv_team_threads returns the number of threads, with the caller. free
 * waits for the threads to end; no run may use the team then.
 */
SCONV_API int sconv_team_create(struct sconv_team **team, unsigned threads);
SCONV_API unsigned sconv_team_threads(const struct sconv_team *team); /* 0 for NULL */
SCONV_API void sconv_team_free(struct sconv_team *team);              /* NULL is fine */

/*
 * As sconv_run, on the threads of a team: the arguments are sconv_run's, checked by sconv_run_check, and so are the
 * results. A run has as many parts as its plan has threads; the team may have more or fewer. While another run uses the
 * team, and in a child process after fork, whose copy of the team has no threads, the caller does all parts alone. team
 * NULL: as sconv_run, which starts and joins threads of its own. Results are always equal, bit for bit.
 */
SCONV_API int sconv_team_run(struct sconv_team *team, const struct sconv_plan *plan, const float *src, float *dst,
                             const float *residual, void *workspace, size_t workspace_bytes);

#ifdef __cplusplus
}
#endif

#endif
