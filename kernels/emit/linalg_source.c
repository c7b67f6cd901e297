#include "kernels/emit/linalg_source.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/emit/c_source.h"
#include "kernels/emit/program.h"
#include "kernels/shape/sizes.h"

const char *const conv_linalg_passes[] = {
    "--transform-interpreter",
    "--linalg-fuse-elementwise-ops",
    "--transform-interpreter=entry-point=bufferize",
    "--test-transform-dialect-erase-schedule",
    "--canonicalize",
    "--cse",
    "--canonicalize",
    "--buffer-loop-hoisting",
    "--buffer-deallocation-pipeline",
    "--convert-linalg-to-loops",
    "--convert-vector-to-scf=full-unroll=true",
    "--canonicalize",
    "--cse",
    "--expand-strided-metadata",
    "--lower-affine",
    "--convert-scf-to-cf",
    "--convert-vector-to-llvm",
    "--convert-func-to-llvm=use-bare-ptr-memref-call-conv",
    "--finalize-memref-to-llvm",
    "--convert-arith-to-llvm",
    "--convert-cf-to-llvm",
    "--canonicalize",
    "--reconcile-unrealized-casts",
    NULL,
};

const char *conv_linalg_why_not(const struct conv_plan *plan)
{
    if (plan->problem.groups > 1)
        return "linalg.conv_2d_nchw_fchw has no groups";
    return plan->problem.dilation_h > 1 || plan->problem.dilation_w > 1 ? "img2col of mlir-opt 19 takes no dilation"
                                                                        : NULL;
}

/* ---- the convolution ---- */

/* Prints "1x64x56x56xf32". */
static void print_shape(FILE *out, size_t a, size_t b, size_t c, size_t d)
{
    fprintf(out, "%zux%zux%zux%zuxf32", a, b, c, d);
}

static void print_filter_shape(const struct conv_problem *p, FILE *out)
{
    print_shape(out, p->k, p->c, p->r, p->s);
}

static void print_output_shape(const struct conv_problem *p, FILE *out)
{
    print_shape(out, p->n, p->k, p->p, p->q);
}

static void print_input_shape(const struct conv_problem *p, FILE *out)
{
    print_shape(out, p->n, p->c, p->h, p->w);
}

static void print_padded_shape(const struct conv_problem *p, FILE *out)
{
    print_shape(out, p->n, p->c, p->h + p->pad_top + p->pad_bottom, p->w + p->pad_left + p->pad_right);
}

/* Prints "<operation>tensor<shape>" with what may follow. */
static void print_tensor(const char *before, void (*shape)(const struct conv_problem *p, FILE *out),
                         const struct conv_problem *p, const char *after, FILE *out)
{
    fprintf(out, "%stensor<", before);
    shape(p, out);
    fprintf(out, ">%s", after);
}

static void print_to_tensor(const char *value, const char *argument,
                            void (*shape)(const struct conv_problem *p, FILE *out), const struct conv_problem *p,
                            FILE *out)
{
    fprintf(out, "  %s = bufferization.to_tensor %s restrict : memref<", value, argument);
    shape(p, out);
    fprintf(out, ">\n");
}

static bool has_padding(const struct conv_problem *p)
{
    return p->pad_top || p->pad_left || p->pad_bottom || p->pad_right;
}

static void print_padding(const struct conv_problem *p, FILE *out)
{
    fprintf(out,
            "  %%padded = tensor.pad %%image low[0, 0, %zu, %zu] high[0, 0, %zu, %zu] {\n"
            "  ^bb0(%%n: index, %%c: index, %%h: index, %%w: index):\n"
            "    tensor.yield %%zero : f32\n",
            p->pad_top, p->pad_left, p->pad_bottom, p->pad_right);
    print_tensor("  } : ", print_input_shape, p, " to ", out);
    print_tensor("", print_padded_shape, p, "\n", out);
}

/* Prints floats as the bytes that they are. */
static void print_constant(const struct conv_problem *p, const float *filter, FILE *out)
{
    const unsigned char *byte = (const unsigned char *)filter;

    fprintf(out, "  %%weights = arith.constant dense<\"0x");
    for (size_t i = 0; i < p->k * p->c * p->r * p->s * sizeof *filter; i++)
        fprintf(out, "%02X", byte[i]);
    print_tensor("\"> : ", print_filter_shape, p, "\n", out);
}

static void print_arguments(const struct conv_problem *p, FILE *out)
{
    fprintf(out, "(%%input: memref<");
    print_input_shape(p, out);
    fprintf(out, ">, %%filter: memref<");
    print_filter_shape(p, out);
    fprintf(out, ">, %%packed_filter: memref<0xf32>, %%packed_input: memref<0xf32>, %%output: memref<");
    print_output_shape(p, out);
    fprintf(out, ">) {\n");
}

static void print_convolution(const struct conv_problem *p, FILE *out)
{
    print_tensor("  %empty = tensor.empty() : ", print_output_shape, p, "\n", out);
    print_tensor("  %sums = linalg.fill ins(%zero : f32) outs(%empty : ", print_output_shape, p, ") -> ", out);
    print_tensor("", print_output_shape, p, "\n", out);
    fprintf(
        out,
        "  %%result = linalg.conv_2d_nchw_fchw {strides = dense<[%zu, %zu]> : tensor<2xi64>, dilations = dense<1> : "
        "tensor<2xi64>}\n    ins(%%%s, %%weights : ",
        p->stride_h, p->stride_w, has_padding(p) ? "padded" : "image");
    print_tensor("", print_padded_shape, p, ", ", out);
    print_tensor("", print_filter_shape, p, ") outs(%sums : ", out);
    print_tensor("", print_output_shape, p, ") -> ", out);
    print_tensor("", print_output_shape, p, "\n", out);
    print_tensor("  bufferization.materialize_in_destination %result in restrict writable %output : (",
                 print_output_shape, p, ", memref<", out);
    print_output_shape(p, out);
    fprintf(out, ">) -> ()\n  return\n}\n\n");
}

static void print_function(const struct conv_problem *p, const char *name, const float *filter, FILE *out)
{
    fprintf(out, "func.func @%s", name);
    print_arguments(p, out);
    fprintf(out, "  %%zero = arith.constant 0.0 : f32\n");
    print_to_tensor("%image", "%input", print_input_shape, p, out);
    if (filter)
        print_constant(p, filter, out);
    else
        print_to_tensor("%weights", "%filter", print_filter_shape, p, out);
    if (has_padding(p))
        print_padding(p, out);
    print_convolution(p, out);
}

/* ---- the script ---- */

/* Names the dimensions of the packed product: images, filter tiles, input tiles, taps of channels. */
enum { IMAGES, FILTER_TILES, INPUT_TILES, TAPS, N_DIMENSIONS };

/* A loop: one dimension, cut into pieces of a size. */
struct level {
    const char *name;
    int dimension;
    size_t extent, size;
    bool holds_input; /* it lies around the packing of input tiles, or packs them itself */
};

enum { N_LEVELS = 6 };

/* Writes down the layers of SConv's Figure 5, from the outermost loop on (kernels/nest/nest_sconv.c). */
static void list_levels(const struct conv_plan *plan, struct level level[N_LEVELS])
{
    const struct csa_tiling *t = &plan->sconv.tiling;
    const struct conv_problem *p = &plan->problem;
    bool is_input_stationary = t->schedule == CSA_IS;
    int a = is_input_stationary ? INPUT_TILES : FILTER_TILES, b = is_input_stationary ? FILTER_TILES : INPUT_TILES;
    size_t n_a = is_input_stationary ? t->in_tiles : t->f_tiles, n_b = is_input_stationary ? t->f_tiles : t->in_tiles;
    const struct level levels[N_LEVELS] = {
        { "images", IMAGES, p->n, 1, true },
        { "channels", TAPS, p->c * p->r * p->s, t->n_c * p->r * p->s, true },
        { "a_sets", a, n_a, t->k3, true },
        { "b_sets", b, n_b, t->k2, true },
        { "a", a, min_size(n_a, t->k3), 1, is_input_stationary },
        { "b", b, min_size(n_b, t->k2), 1, false },
    };

    memcpy(level, levels, sizeof levels);
}

static bool loops(const struct level *l)
{
    return l->extent > l->size;
}

#define ANY "!transform.any_op"

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

/* The micro-kernel's tile is cut out by packing: what an operation is called then, and what becomes of its operands. */
static void print_packing(const struct conv_plan *plan, FILE *out)
{
    fprintf(out, "  %%conv = transform.structured.match ops{[\"linalg.conv_2d_nchw_fchw\"]} in %%func : (" ANY
                 ") -> " ANY "\n"
                 "  %%windows, %%last = transform.structured.convert_conv2d_to_img2col %%conv : (" ANY ") -> (" ANY
                 ", " ANY ")\n");
    fprintf(out,
            "  %%product = transform.get_producer_of_operand %%last[0] : (" ANY ") -> " ANY "\n"
            "  %%packed = transform.structured.pack %%product packed_sizes = [0, %zu, %zu, 0] : (" ANY
            ") -> !transform.op<\"linalg.generic\">\n",
            plan->ukr->n_f, plan->ukr->n_win);
    fprintf(out, "  %%by_row = transform.get_producer_of_operand %%packed[1] : (!transform.op<\"linalg.generic\">) -> "
                 "!transform.op<\"tensor.pack\">\n"
                 "  %%tiles, %%pack, %%unpack = transform.structured.pack_transpose %%by_row with_compute_op(%%packed) "
                 "outer_perm = [0, 2, 1]\n"
                 "    : (!transform.op<\"tensor.pack\">, !transform.op<\"linalg.generic\">) -> (" ANY ", " ANY ", " ANY
                 ")\n");
}

static void print_fusion(const char *what, const char *from, const struct level *l, const char *loop, const char *made,
                         FILE *out)
{
    fprintf(out,
            "  %%%s_%s, %%%s_%s = transform.structured.fuse_into_containing_op %%%s%s into %%%s_%s : (" ANY ", " ANY
            ") -> (" ANY ", " ANY ")\n",
            what, l->name, l->name, made, what, from, l->name, loop);
}

/* Says where the script has got to: suffixes of values' names. */
struct script {
    FILE *out;
    char tiles[32], packed[32];
};

static void print_tiling(struct script *s, const struct level *l)
{
    fprintf(s->out, "  %%tiles_%s, %%%s_loop = transform.structured.tile_using_for %%tiles%s tile_sizes [", l->name,
            l->name, s->tiles);
    for (int d = 0; d <= l->dimension; d++)
        fprintf(s->out, "%s%zu", d ? ", " : "", d == l->dimension ? l->size : 0);
    fprintf(s->out, "] : (" ANY ") -> (" ANY ", " ANY ")\n");
    snprintf(s->tiles, sizeof s->tiles, "_%s", l->name);
    if (!l->holds_input)
        return;
    print_fusion("pack", s->packed, l, "loop", "packs", s->out);
    print_fusion("windows", s->packed, l, "packs", "whole", s->out);
    snprintf(s->packed, sizeof s->packed, "_%s", l->name);
    PRINT_PATTERNS(s->out, "canonicalization", "scf.for_loop_canonicalization"); /* sizes become constants */
}

/* Cuts edges off the loops, so that all sizes are constants. */
static void print_peeling(const struct script *s, const struct level *l)
{
    if (!loops(l) || l->extent % l->size == 0)
        return;
    fprintf(s->out,
            "  %%%s_for = transform.cast %%%s_%s : " ANY " to !transform.op<\"scf.for\">\n"
            "  %%%s_main, %%%s_edge = transform.loop.peel %%%s_for : (!transform.op<\"scf.for\">) -> (" ANY ", " ANY
            ")\n",
            l->name, l->name, l->holds_input ? "whole" : "loop", l->name, l->name, l->name);
}

/* The innermost product becomes an outer product that is added to sums in registers. */
static void print_kernel(FILE *out)
{
    PRINT_PATTERNS(out, "canonicalization", "tensor.merge_consecutive_insert_extract_slice");
    fprintf(out, "  %%kernels = transform.structured.match attributes {micro_kernel} in %%func : (" ANY ") -> " ANY "\n"
                 "  transform.structured.vectorize %%kernels : " ANY "\n");
    PRINT_PATTERNS(out, "vector.reduction_to_contract", "vector.transfer_permutation_patterns");
    PRINT_PATTERNS(out, "vector.cast_away_vector_leading_one_dim");
    PRINT_PATTERNS(out, "vector.lower_contraction lowering_strategy = \"outerproduct\"");
    PRINT_PATTERNS(out, "canonicalization", "tensor.merge_consecutive_insert_extract_slice",
                   "vector.cast_away_vector_leading_one_dim", "linalg.tiling_canonicalization");
    fprintf(out, "  transform.apply_cse to %%func : " ANY "\n"
                 "  %%loops = transform.structured.match ops{[\"scf.for\"]} in %%func : (" ANY ") -> " ANY "\n"
                 "  transform.loop.hoist_loop_invariant_subsets %%loops : " ANY "\n");
}

/*
 * Says what tensor.pack and tensor.unpack are made of. As generic operations, the transpositions are folded afterwards:
 * into constants, and into the img2col before them where no edge is padded.
 */
static void print_lowering(FILE *out)
{
    fprintf(out,
            "  %%packs = transform.structured.match ops{[\"tensor.pack\"]} in %%func : (" ANY
            ") -> !transform.op<\"tensor.pack\">\n"
            "  %%pads, %%cuts, %%moves = transform.structured.lower_pack %%packs : (!transform.op<\"tensor.pack\">)\n"
            "    -> (!transform.op<\"tensor.pad\">, !transform.op<\"tensor.expand_shape\">, "
            "!transform.op<\"linalg.transpose\">)\n"
            "  %%unpacks = transform.structured.match ops{[\"tensor.unpack\"]} in %%func : (" ANY
            ") -> !transform.op<\"tensor.unpack\">\n"
            "  transform.structured.lower_unpack %%unpacks : (!transform.op<\"tensor.unpack\">)\n"
            "    -> (!transform.op<\"tensor.empty\">, !transform.op<\"linalg.transpose\">, "
            "!transform.op<\"tensor.collapse_shape\">, !transform.op<\"tensor.extract_slice\">)\n");
    PRINT_PATTERNS(out, "canonicalization", "tensor.fold_tensor_empty");
}

static void print_script(const struct conv_plan *plan, const char *name, FILE *out)
{
    const struct level taps = { .name = "taps", .dimension = TAPS, .extent = 2, .size = 1 };
    struct script s = { .out = out };
    struct level level[N_LEVELS];

    list_levels(plan, level);
    fprintf(out, "transform.named_sequence @%s_schedule(%%func: " ANY " {transform.readonly}) {\n", name);
    print_packing(plan, out);
    for (size_t i = 0; i < N_LEVELS; i++) {
        if (loops(&level[i]))
            print_tiling(&s, &level[i]);
    }
    print_tiling(&s, &taps);
    fprintf(out, "  transform.annotate %%tiles_taps \"micro_kernel\" : " ANY "\n");
    for (size_t i = N_LEVELS; i-- > 0;)
        print_peeling(&s, &level[i]);
    print_kernel(out);
    print_lowering(out);
    fprintf(out, "  transform.yield\n}\n\n");
}

/* ---- the file ---- */

void conv_linalg_print_head(const struct conv_plan *plan, FILE *out)
{
    fprintf(out,
            "// Convolutions, and how SConv tiles them. Lower with mlir-opt of LLVM 19, mlir-translate "
            "--mlir-to-llvmir and\n"
            "// clang -O3 %s.\n// passes:",
            conv_c_flags(plan));
    for (size_t i = 0; conv_linalg_passes[i]; i++)
        fprintf(out, " %s", conv_linalg_passes[i]);
    fprintf(out, "\n\nmodule attributes {transform.with_named_sequence} {\n\n");
}

void conv_linalg_print(const struct conv_plan *plan, const char *name, const float *filter, FILE *out)
{
    print_function(&plan->problem, name, filter, out);
    print_script(plan, name, out);
}

void conv_linalg_print_tail(const struct conv_noted_plan *plan, size_t n, FILE *out)
{
    fprintf(out, "transform.named_sequence @__transform_main(%%module: " ANY " {transform.readonly}) {\n");
    for (size_t i = 0; i < n; i++) {
        char name[CONV_C_NAME_BYTES];

        conv_c_name(name, plan[i].layer, i);
        fprintf(out,
                "  %%func%zu = transform.structured.match ops{[\"func.func\"]} attributes {sym_name = \"%s\"} in "
                "%%module : "
                "(" ANY ") -> " ANY "\n"
                "  transform.include @%s_schedule failures(propagate) (%%func%zu) : (" ANY ") -> ()\n",
                i, name, name, i);
    }
    fprintf(out,
            "  transform.yield\n}\n\n"
            "transform.named_sequence @bufferize(%%module: " ANY " {transform.readonly}) {\n"
            "  %%all = transform.structured.match ops{[\"func.func\"]} in %%module : (" ANY ") -> " ANY "\n"
            "  transform.bufferization.one_shot_bufferize %%all {memcpy_op = \"linalg.copy\"} : (" ANY ") -> " ANY "\n"
            "  transform.yield\n}\n\n}\n");
}
