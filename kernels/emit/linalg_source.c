#include "kernels/emit/linalg_source.h"

#include <assert.h>
#include <string.h>

#include "kernels/emit/c_source.h"
#include "kernels/emit/linalg_text.h"

/* From buffers to LLVM's dialect. */
#define LOWERING                                                                                                       \
    "--canonicalize", "--cse", "--canonicalize", "--buffer-loop-hoisting",                                             \
        "--promote-buffers-to-stack=max-alloc-size-in-bytes=1048576", "--buffer-deallocation-pipeline",                \
        "--convert-linalg-to-loops", "--convert-vector-to-scf=full-unroll=true", "--canonicalize", "--cse",            \
        "--expand-strided-metadata", "--lower-affine", "--convert-scf-to-cf", "--convert-vector-to-llvm",              \
        "--convert-func-to-llvm=use-bare-ptr-memref-call-conv", "--finalize-memref-to-llvm",                           \
        "--convert-arith-to-llvm", "--convert-index-to-llvm", "--convert-cf-to-llvm", "--canonicalize",                \
        "--reconcile-unrealized-casts", NULL

const char *const conv_linalg_passes[] = {
    "--transform-interpreter",
    "--inline",
    "--transform-interpreter=entry-point=vectorize",
    "--transform-interpreter=entry-point=bufferize",
    "--test-transform-dialect-erase-schedule",
    "--symbol-dce",
    LOWERING,
};

const char *const conv_linalg_sliced_passes[] = { "--one-shot-bufferize", LOWERING };

const char *conv_linalg_why_not(const struct conv_plan *plan)
{
    return plan->problem.groups > 1 ? "linalg.conv_2d_nchw_fchw has no groups" : NULL;
}

static struct linalg_text text_of(const struct conv_plan *plan, enum conv_linalg_layout layout, const char *name,
                                  FILE *out)
{
    return (struct linalg_text){ .plan = plan, .p = &plan->problem, .layout = layout, .name = name, .out = out };
}

/* ---- the convolution ---- */

static void print_convolution(const struct linalg_text *t, const char *input, const char *sums)
{
    const struct conv_problem *p = t->p;
    const struct linalg_part all = linalg_whole(p);
    const struct linalg_shape in = linalg_input(t, &all), filter = linalg_filter(t, &all), out = linalg_output(t, &all);

    fprintf(t->out, "  %%result = %s {strides = dense<[%zu, %zu]> : tensor<2xi64>, ", linalg_conv_name(t), p->stride_h,
            p->stride_w);
    fprintf(t->out, "dilations = dense<[%zu, %zu]> : tensor<2xi64>}\n    ins(%s, %%weights : ", p->dilation_h,
            p->dilation_w, input);
    linalg_print_tensor(t, "", &in, ", ");
    linalg_print_tensor(t, "", &filter, ")");
    fprintf(t->out, " outs(%s : ", sums);
    linalg_print_tensor(t, "", &out, ") -> ");
    linalg_print_tensor(t, "", &out, "\n");
}

/* ---- filters ---- */

struct linalg_matrix linalg_packed(const struct linalg_text *t)
{
    const struct conv_problem *p = t->p;
    size_t taps = p->c * p->r * p->s;

    return t->layout == CONV_LINALG_NHWC ? (struct linalg_matrix){ taps, p->k } : (struct linalg_matrix){ p->k, taps };
}

struct conv_linalg_packed conv_linalg_packed(const struct conv_plan *plan, enum conv_linalg_layout layout)
{
    const struct linalg_text t = text_of(plan, layout, "", NULL);
    const struct linalg_matrix m = linalg_packed(&t);

    assert(layout == CONV_LINALG_NCHW || layout == CONV_LINALG_NHWC);
    return (struct conv_linalg_packed){ m.rows, linalg_row_width(m.columns) };
}

void conv_linalg_pack(const struct conv_plan *plan, enum conv_linalg_layout layout, const float *filter, float *packed)
{
    const struct linalg_text t = text_of(plan, layout, "", NULL);
    const struct linalg_matrix m = linalg_packed(&t);
    size_t width = linalg_row_width(m.columns);

    assert(filter && packed);
    memset(packed, 0, m.rows * width * sizeof *packed);
    for (size_t i = 0; i < m.rows; i++)
        memcpy(packed + i * width, filter + i * m.columns, m.columns * sizeof *packed);
}

/* Prints filters, %weights, out of the matrix %packed. */
static void print_unpacking(const struct linalg_text *t)
{
    const struct linalg_part all = linalg_whole(t->p);
    const struct linalg_shape filter = linalg_filter(t, &all);
    const struct linalg_matrix m = linalg_packed(t);

    fprintf(t->out, "  %%rows = tensor.extract_slice %%packed[0, 0] [%zu, %zu] [1, 1] : ", m.rows, m.columns);
    linalg_print_matrix(t, "", m.rows, linalg_row_width(m.columns), " to ");
    linalg_print_matrix(t, "", m.rows, m.columns, "\n");
    fprintf(t->out, "  %%weights = tensor.expand_shape %%rows %s output_shape [%zu, %zu, ",
            t->layout == CONV_LINALG_NHWC ? "[[0, 1, 2], [3]]" : "[[0], [1, 2, 3]]", filter.extent[0],
            filter.extent[1]);
    fprintf(t->out, "%zu, %zu] : ", filter.extent[2], filter.extent[3]);
    linalg_print_matrix(t, "", m.rows, m.columns, " into ");
    linalg_print_tensor(t, "", &filter, "\n");
}

static void print_packed_type(const struct linalg_text *t, const char *kind, const char *after)
{
    const struct linalg_matrix m = linalg_packed(t);

    fprintf(t->out, "%s<%zux%zuxf32>%s", kind, m.rows, linalg_row_width(m.columns), after);
}

static void print_packing(const struct linalg_text *t)
{
    const struct linalg_part all = linalg_whole(t->p);
    const struct linalg_shape filter = linalg_filter(t, &all);
    const struct linalg_matrix m = linalg_packed(t);
    size_t width = linalg_row_width(m.columns);

    fprintf(t->out, "func.func @%s_pack_filters(", t->name);
    linalg_print_type(t, "%filter: ", "memref", &filter, ", %packed: ");
    print_packed_type(t, "memref", ") {\n");
    linalg_print_type(t, "  %from = memref.collapse_shape %filter [[0], [1, 2, 3]] : ", "memref", &filter, " into ");
    fprintf(t->out, "memref<%zux%zuxf32>\n  %%to = memref.subview %%packed[0, 0] [%zu, %zu] [1, 1] : ", m.rows,
            m.columns, m.rows, m.columns);
    print_packed_type(t, "memref", " to ");
    fprintf(t->out, "memref<%zux%zuxf32, strided<[%zu, 1]>>\n", m.rows, m.columns, width);
    fprintf(t->out, "  linalg.copy ins(%%from : memref<%zux%zuxf32>) outs(%%to : ", m.rows, m.columns);
    fprintf(t->out, "memref<%zux%zuxf32, strided<[%zu, 1]>>)\n  return\n}\n\n", m.rows, m.columns, width);
}

/* Prints floats as their bytes. There are millions: printf would take longer than all compilers. */
static void print_floats(const struct linalg_text *t, const float *x, size_t n)
{
    static const char digit[] = "0123456789ABCDEF";
    const unsigned char *byte = (const unsigned char *)x;

    for (size_t i = 0; i < n * sizeof *x; i++) {
        putc(digit[byte[i] >> 4], t->out);
        putc(digit[byte[i] & 15], t->out);
    }
}

/* Prints filters as constants, packed or unpacked. */
static void print_constant(const struct linalg_text *t, const float *filter)
{
    const struct linalg_part all = linalg_whole(t->p);
    const struct linalg_shape shape = linalg_filter(t, &all);
    const struct linalg_matrix m = linalg_packed(t);
    size_t width = t->is_packed ? linalg_row_width(m.columns) : m.columns;
    static const float zero;

    fprintf(t->out, "  %%%s = arith.constant dense<\"0x", t->is_packed ? "packed" : "weights");
    for (size_t i = 0; i < m.rows; i++) {
        print_floats(t, filter + i * m.columns, m.columns);
        for (size_t j = m.columns; j < width; j++)
            print_floats(t, &zero, 1);
    }
    fprintf(t->out, "\"> : ");
    if (t->is_packed)
        print_packed_type(t, "tensor", "\n");
    else
        linalg_print_tensor(t, "", &shape, "\n");
}

/* ---- the file ---- */

static void print_script(struct linalg_text *t)
{
    linalg_print_slice(t);
    linalg_print_blocks(t);
    linalg_print_vectorize(t);
}

size_t conv_linalg_padded_bytes(const struct conv_plan *plan)
{
    const struct conv_problem *p = &plan->problem;
    size_t rows = p->h + p->pad_top + p->pad_bottom, width = p->w + p->pad_left + p->pad_right;

    return conv_has_padding(p) ? p->n * p->c * rows * width * sizeof(float) : 0;
}

struct frame {
    size_t row, column, rows, columns;
};

static void print_frame(const struct linalg_text *t, const struct frame *f, const struct linalg_shape *padded)
{
    fprintf(t->out, "[0, 0, %zu, %zu] [%zu, %zu, ", f->row, f->column, padded->extent[0], padded->extent[1]);
    fprintf(t->out, "%zu, %zu] [1, 1, 1, 1] : ", f->rows, f->columns);
}

/* Sets a part to zeros. Returns the number of the padded image. */
static size_t print_zero_frame(const struct linalg_text *t, const struct frame *f, const struct linalg_shape *padded,
                               size_t number)
{
    const struct linalg_shape part = { { padded->extent[0], padded->extent[1], f->rows, f->columns } };

    if (!f->rows || !f->columns)
        return number;
    fprintf(t->out, "  %%part%zu = tensor.extract_slice %%padded%zu", number, number);
    print_frame(t, f, padded);
    linalg_print_tensor(t, "", padded, " to ");
    linalg_print_tensor(t, "", &part, "\n");
    fprintf(t->out, "  %%zeros%zu = linalg.fill ins(%%zero : f32) outs(%%part%zu : ", number, number);
    linalg_print_tensor(t, "", &part, ") -> ");
    linalg_print_tensor(t, "", &part, "\n");
    fprintf(t->out, "  %%padded%zu = tensor.insert_slice %%zeros%zu into %%padded%zu", number + 1, number, number);
    print_frame(t, f, padded);
    linalg_print_tensor(t, "", &part, " into ");
    linalg_print_tensor(t, "", padded, "\n");
    return number + 1;
}

/* Puts the image into a frame of zeros, in the caller's memory. */
static void print_padding(const struct linalg_text *t)
{
    const struct conv_problem *p = t->p;
    const struct linalg_part all = linalg_whole(p);
    const struct linalg_shape padded = linalg_input(t, &all), image = { { p->n, p->c, p->h, p->w } };
    size_t width = padded.extent[3], number = 0;
    const struct frame inside = { p->pad_top, p->pad_left, p->h, p->w };
    const struct frame frames[] = { { 0, 0, p->pad_top, width },
                                    { p->pad_top + p->h, 0, p->pad_bottom, width },
                                    { p->pad_top, 0, p->h, p->pad_left },
                                    { p->pad_top, p->pad_left + p->w, p->h, p->pad_right } };

    fprintf(t->out, "  %%padded0 = bufferization.to_tensor %%packed_input restrict writable : ");
    linalg_print_type(t, "", "memref", &padded, "\n");
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++)
        number = print_zero_frame(t, &frames[i], &padded, number);
    fprintf(t->out, "  %%inside = tensor.extract_slice %%padded%zu", number);
    print_frame(t, &inside, &padded);
    linalg_print_tensor(t, "", &padded, " to ");
    linalg_print_tensor(t, "", &image, "\n  %copied = linalg.copy ins(%image : ");
    linalg_print_tensor(t, "", &image, ") outs(%inside : ");
    linalg_print_tensor(t, "", &image, ") -> ");
    linalg_print_tensor(t, "", &image, "\n");
    fprintf(t->out, "  %%padded = tensor.insert_slice %%copied into %%padded%zu", number);
    print_frame(t, &inside, &padded);
    linalg_print_tensor(t, "", &image, " into ");
    linalg_print_tensor(t, "", &padded, "\n");
}

static void print_to_tensor(const struct linalg_text *t, const char *value, const char *argument, const char *how,
                            const struct linalg_shape *s)
{
    fprintf(t->out, "  %s = bufferization.to_tensor %s restrict%s : ", value, argument, how);
    linalg_print_type(t, "", "memref", s, "\n");
}

static void print_function(const struct linalg_text *t, const float *filter)
{
    const struct conv_problem *p = t->p;
    const struct linalg_part all = linalg_whole(p);
    const struct linalg_shape image = { { p->n, p->c, p->h, p->w } }, weights = linalg_filter(t, &all);
    const struct linalg_shape out = linalg_output(t, &all), padded = linalg_input(t, &all);

    fprintf(t->out, "func.func @%s(", t->name);
    linalg_print_type(t, "%input: ", "memref", &image, ", ");
    linalg_print_type(t, "%filter: ", "memref", &weights, ", ");
    fprintf(t->out, "%%packed_filter: ");
    print_packed_type(t, "memref", ", %packed_input: ");
    if (conv_has_padding(p))
        linalg_print_type(t, "", "memref", &padded, ", ");
    else
        fprintf(t->out, "memref<0xf32>, ");
    linalg_print_type(t, "%output: ", "memref", &out, ") {\n  %zero = arith.constant 0.0 : f32\n");
    print_to_tensor(t, "%image", "%input", "", &image);
    print_to_tensor(t, "%before", "%output", " writable", &out);
    if (filter) {
        print_constant(t, filter);
    } else if (t->is_packed) {
        fprintf(t->out, "  %%packed = bufferization.to_tensor %%packed_filter restrict : ");
        print_packed_type(t, "memref", "\n");
    } else {
        print_to_tensor(t, "%weights", "%filter", "", &weights);
    }
    if (t->is_packed)
        print_unpacking(t);
    if (conv_has_padding(p))
        print_padding(t);
    fprintf(t->out, "  %%sums = linalg.fill {%s_sums} ins(%%zero : f32) outs(%%before : ", t->name);
    linalg_print_tensor(t, "", &out, ") -> ");
    linalg_print_tensor(t, "", &out, "\n");
    print_convolution(t, conv_has_padding(p) ? "%padded" : "%image", "%sums");
    linalg_print_tensor(t, "  bufferization.materialize_in_destination %result in restrict writable %output : (", &out,
                        ", ");
    linalg_print_type(t, "", "memref", &out, ") -> ()\n  return\n}\n\n");
}

static void print_keep(const struct linalg_text *t)
{
    const struct linalg_part all = linalg_whole(t->p);
    const struct linalg_shape out = linalg_output(t, &all);

    fprintf(t->out, "func.func private @%s_keep(", t->name);
    linalg_print_tensor(t, "%sums: ", &out, ") -> ");
    linalg_print_tensor(t, "", &out, " {\n");
    linalg_print_tensor(t, "  return %sums : ", &out, "\n}\n\n");
}

static void print_head(const struct conv_plan *plan, const char *what, const char *const passes[], FILE *out)
{
    fprintf(out, "// Convolutions%s. Lower with mlir-opt of LLVM 19, mlir-translate --mlir-to-llvmir and\n", what);
    fprintf(out, "// clang -O3 %s.\n// passes:", conv_c_flags(plan));
    for (size_t i = 0; passes[i]; i++)
        fprintf(out, " %s", passes[i]);
}

void conv_linalg_print_head(const struct conv_plan *plan, FILE *out)
{
    print_head(plan, ", and how SConv slices them", conv_linalg_passes, out);
    fprintf(out, "\n\nmodule attributes {transform.with_named_sequence} {\n\n");
}

void conv_linalg_print_plain_head(const struct conv_plan *plan, FILE *out)
{
    print_head(plan, ", which sconv-opt slices", conv_linalg_sliced_passes, out);
    fprintf(out, "\n\nmodule {\n\n");
}

void conv_linalg_print_plain(const struct conv_plan *plan, const char *name, const float *filter, FILE *out)
{
    struct linalg_text t = text_of(plan, CONV_LINALG_NCHW, name, out);

    assert(!conv_linalg_why_not(plan));
    print_function(&t, filter);
}

void conv_linalg_print(const struct conv_plan *plan, const char *name, const float *filter, FILE *out)
{
    struct linalg_text t = text_of(plan, CONV_LINALG_NCHW, name, out);

    assert(!conv_linalg_why_not(plan));
    t.is_zeroed = t.fills = t.is_packed = true;
    if (!filter)
        print_packing(&t);
    print_function(&t, filter);
    print_keep(&t);
    print_script(&t);
}

static void print_entry(const char *entry, const char *suffix, const struct conv_layer_plan *plan, size_t n, FILE *out)
{
    fprintf(out, "transform.named_sequence @%s(%%module: " LINALG_ANY " {transform.readonly}) {\n", entry);
    for (size_t i = 0; i < n; i++) {
        char name[CONV_C_NAME_BYTES];

        conv_c_name(name, plan[i].layer, i);
        fprintf(out,
                "  %%func%zu = transform.structured.match ops{[\"func.func\"]} attributes {sym_name = \"%s\"} in "
                "%%module : (" LINALG_ANY ") -> " LINALG_ANY "\n",
                i, name);
        if (*suffix)
            fprintf(out, "  transform.include @%s%s failures(propagate) (%%func%zu) : (" LINALG_ANY ") -> ()\n", name,
                    suffix, i);
        else
            fprintf(
                out,
                "  transform.bufferization.one_shot_bufferize %%func%zu {memcpy_op = \"linalg.copy\"} : (" LINALG_ANY
                ") -> " LINALG_ANY "\n",
                i);
    }
    fprintf(out, "  transform.yield\n}\n\n");
}

/* Prints the operations around the convolution, for tensors or buffers. */
static void print_bare_function(const struct linalg_text *t, const char *const type[3], bool is_buffers)
{
    const struct linalg_part all = linalg_whole(t->p);
    const struct linalg_shape sums = linalg_output(t, &all);
    static const char *const argument[] = { "%input", "%filter", "%output" };
    const char *const value[] = { "%image", t->is_packed ? "%packed" : "%weights", "%sums" };

    fprintf(t->out, "func.func @%s(", t->name);
    for (int i = 0; i < 3; i++)
        fprintf(t->out, "%s%s: %s", i ? ", " : "", (is_buffers ? argument : value)[i], type[i]);
    fprintf(t->out, ")%s%s {\n", is_buffers ? "" : " -> ", is_buffers ? "" : type[2]);
    for (int i = 0; is_buffers && i < 3; i++)
        fprintf(t->out, "  %s = bufferization.to_tensor %s restrict%s : %s\n", value[i], argument[i],
                i == 2 ? " writable" : "", type[i]);
    if (t->is_packed)
        print_unpacking(t);
    print_convolution(t, "%image", "%sums");
    if (is_buffers) {
        linalg_print_tensor(t, "  bufferization.materialize_in_destination %result in restrict writable %output : (",
                            &sums, ", ");
        fprintf(t->out, "%s) -> ()\n  return\n}\n\n", type[2]);
    } else
        fprintf(t->out, "  return %%result : %s\n}\n\n", type[2]);
}

void conv_linalg_print_tail(const struct conv_layer_plan *plan, size_t n, FILE *out)
{
    print_entry("__transform_main", "_slice", plan, n, out);
    print_entry("vectorize", "_vectorize", plan, n, out);
    print_entry("bufferize", "", plan, n, out);
    fprintf(out, "}\n");
}

void conv_linalg_print_bare(const struct conv_plan *plan, enum conv_linalg_layout layout, const char *const type[3],
                            struct conv_linalg_operands operands, FILE *out)
{
    const struct conv_layer_plan layer = { .layer = "", .machine = "", .plan = *plan };
    char name[CONV_C_NAME_BYTES];
    struct linalg_text t;

    assert(!conv_linalg_why_not(plan));
    conv_c_name(name, layer.layer, 0);
    t = text_of(plan, layout, name, out);
    t.is_zeroed = operands.sums_are_zeros;
    t.is_packed = operands.filters_are_packed;
    fprintf(out, "module attributes {transform.with_named_sequence} {\n\n");
    print_bare_function(&t, type, operands.are_buffers);
    print_script(&t);
    conv_linalg_print_tail(&layer, 1, out);
}
