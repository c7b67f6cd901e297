/* Shapes of networks out of files: open dimensions, further batches, convolutions as problems, whole networks. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/experiments/onnx_written.h"
#include "tests/kernels/shapes.h"
#include "tests/scratch.h"
#include "tests/suites.h"

#include "onnx.pb-c.h"

/* ---- open dimensions ---- */

static struct onnx_writer *begin_open(void)
{
    struct onnx_writer *w = onnx_writer_new("open", 13);
    Onnx__TensorShapeProto *shape;

    onnx_write_input(w, "x", DIMS(0, 3, 0, 0));
    onnx_write_input(w, "z", DIMS(0, 3, 0, 0));
    onnx_write_node(w, "Add", "sum", "x,z", "y");
    onnx_write_output(w, "y", DIMS(0, 3, 0, 0));
    for (size_t i = 0; i < 2; i++) {
        static const char *const names[] = { "batch", NULL, "height", "width" };

        shape = onnx_writer_model(w)->graph->input[i]->type->tensor_type->shape;
        for (size_t d = 0; d < 4; d++) {
            if (!names[d])
                continue;
            shape->dim[d]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
            shape->dim[d]->dim_param = strdup(names[d]);
        }
    }
    return w;
}

static void what_is_left_open_is_asked_for(void)
{
    struct onnx_graph *g;
    const char *path;

    g = onnx_written_as(begin_open(), &(struct onnx_ask){ .input = "3x6x7" });
    CU_ASSERT_TRUE(onnx_has_shape(g, "y", DIMS(1, 3, 6, 7)) && onnx_has_shape(g, "z", DIMS(1, 3, 6, 7)));
    onnx_free(g);
    g = onnx_written_as(begin_open(), &(struct onnx_ask){ .batch = 5, .input = "x=3x6x7" });
    CU_ASSERT_TRUE(onnx_has_shape(g, "y", DIMS(5, 3, 6, 7)));
    onnx_free(g);
    g = onnx_written_as(begin_open(), &(struct onnx_ask){ .input = "x=2x3x6x1,z=3x6x7" });
    CU_ASSERT_TRUE(onnx_has_shape(g, "x", DIMS(2, 3, 6, 1)) && onnx_has_shape(g, "y", DIMS(2, 3, 6, 7)));
    onnx_free(g);
    g = onnx_written_as(onnx_write_small(), &(struct onnx_ask){ .batch = 8, .input = "2x9x9" });
    CU_ASSERT_TRUE(onnx_has_shape(g, "y", DIMS(8, 3, 9, 9)));
    onnx_free(g);
    path = onnx_written(begin_open(), "open.onnx");
    onnx_refused(path, NULL, -EINVAL, "input 'x': its dimension 3 of 4, height is open: say it by INPUT");
    onnx_refused(path, &(struct onnx_ask){ .input = "3x6" }, -EINVAL,
                 "'3x6' is no size of input 'x', which has 4 dimensions");
    onnx_refused(path, &(struct onnx_ask){ .input = "3x6xa" }, -EINVAL, "'3x6xa' is no size");
    onnx_refused(path, &(struct onnx_ask){ .input = "3x0x7" }, -EINVAL, "'3x0x7' is no size");
    onnx_refused(path, &(struct onnx_ask){ .input = "3x6x7,q=4" }, -EINVAL,
                 "'q=4' is no size of an input of this network");
    onnx_refused(path, &(struct onnx_ask){ .input = "3x6x7,z=3x6x8" }, -EINVAL,
                 "node 'sum' (Add): shapes 1x3x6x7 and 1x3x6x8");
    onnx_refused(path, &(struct onnx_ask){ .input = "9000000000000000000x9000000000000000000x9" }, -EOVERFLOW,
                 "is too large");
}

/* A network that repeats the batch in a reshape. */
static struct onnx_writer *begin_reshape(const int64_t *to)
{
    struct onnx_writer *w = onnx_write_begin();

    onnx_write_int64s(w, "to", 2, to);
    onnx_write_node(w, "Reshape", "flat", "x,to", "y");
    return w;
}

/* The parts of INPUT are checked, whether or not a size is open, and before sizes are used. */
static void slips_in_input_are_told(void)
{
    static const struct {
        const char *input, *says;
    } lines[] = {
        { "X=2x4x4", "'X=2x4x4' is no size of an input of this network: did you mean x?; its inputs are x (1x2x4xW)" },
        { "q=2x4x4", "'q=2x4x4' is no size of an input of this network; its inputs are x (1x2x4xW)" },
        { "x=2x4x4,y=3", "'y=3' is no size of an input" },
        { "f=3x2x3x3", "'f=3x2x3x3' is no size of an input" }, /* a constant */
        { "2x4x4,x=2x4x4", "'x=2x4x4' is a second size of one input" },
        { "x=2x4x4,x=2x4x5", "'x=2x4x5' is a second size of one input" },
        { "2x4x4,2x4x5", "'2x4x5' is a second size of one input" },
        { "2x4x4,", "'' is no size of an input" },
        { "=2x4x4", "'=2x4x4' is no size of an input" },
    };

    for (size_t i = 0; i < 2 * COUNT(lines); i++) {
        struct onnx_writer *w = onnx_write_small();
        Onnx__TensorShapeProto__Dimension *d = onnx_writer_model(w)->graph->input[0]->type->tensor_type->shape->dim[3];
        const bool is_open = i % 2 == 0;

        if (is_open) {
            d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
            d->dim_param = exp_copy_text("W");
        }
        onnx_refused(onnx_written(w, "net.onnx"), &(struct onnx_ask){ .input = lines[i / 2].input }, -EINVAL,
                     i < 4 && !is_open ? "is no size of an input of this network" : lines[i / 2].says);
    }
}

static void another_batch_replaces_that_of_reshapes(void)
{
    struct onnx_graph *g;

    g = onnx_written_as(begin_reshape((int64_t[]){ 1, 32 }), &(struct onnx_ask){ .batch = 5 });
    CU_ASSERT_TRUE(onnx_has_shape(g, "y", DIMS(5, 32)));
    CU_ASSERT_EQUAL(onnx_element_int(onnx_value_named(g, "to"), 0), 5);
    CU_ASSERT_EQUAL(onnx_element_int(onnx_value_named(g, "to"), 1), 32);
    onnx_free(g);
    g = onnx_written_as(begin_reshape((int64_t[]){ 1, -1 }), &(struct onnx_ask){ .batch = 5 });
    CU_ASSERT_TRUE(onnx_has_shape(g, "y", DIMS(5, 32)));
    onnx_free(g);
    g = onnx_written_as(begin_reshape((int64_t[]){ 1, 160 }), &(struct onnx_ask){ .batch = 5 });
    CU_ASSERT_TRUE(onnx_has_shape(g, "y", DIMS(1, 160)));
    onnx_free(g);
    g = onnx_written_as(begin_reshape((int64_t[]){ 1, -1 }), NULL);
    CU_ASSERT_TRUE(onnx_has_shape(g, "y", DIMS(1, 32)));
    onnx_free(g);
}

/* A node of an unknown operator may have the shapes stated by the file, if the ask changes nothing. */
static void stated_shapes_serve_where_an_operator_is_not_known(void)
{
    struct onnx_writer *w;
    struct onnx_graph *g;

    for (unsigned batch = 0; batch < 2; batch++) {
        w = onnx_write_begin();
        onnx_write_node(w, "Mystery", "what", "x", "y");
        g = onnx_written_as(w, &(struct onnx_ask){ .batch = batch });
        CU_ASSERT_EQUAL(onnx_has_shape(g, "y", DIMS(1, 3, 4, 4)), !batch);
        CU_ASSERT_EQUAL(!g->node[0].why_no_shape, !batch);
        onnx_free(g);
    }
}

/* ---- convolutions ---- */

static void check_problem(struct onnx_writer *w, const struct conv_problem *expected)
{
    struct onnx_graph *g = onnx_written_as(w, NULL);
    struct conv_problem p, e = *expected;
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL(conv_problem_finish(&e, SIM_WHY(why.text)), 0);
    test_check(!onnx_conv_problem(g, &g->node[0], &p, &why) && conv_problem_equal(&p, &e), "another shape; %s",
               why.text);
    onnx_free(g);
}

static struct onnx_writer *begin_conv(const char *op, size_t n_dims, const int64_t *in, const int64_t *filters)
{
    struct onnx_writer *w = onnx_writer_new("conv", 13);

    onnx_write_input(w, "x", n_dims, in);
    onnx_write_input(w, "f", n_dims, filters);
    onnx_write_node(w, op, "conv", "x,f", "y");
    onnx_write_output(w, "y", n_dims, in);
    return w;
}

static void convolutions_become_problems(void)
{
    struct onnx_writer *w;

    w = begin_conv("Conv", DIMS(2, 4, 9, 11), (int64_t[]){ 6, 2, 3, 5 });
    onnx_write_ints(w, "strides", DIMS(2, 3));
    onnx_write_ints(w, "dilations", DIMS(3, 2));
    onnx_write_ints(w, "pads", DIMS(1, 2, 3, 4));
    onnx_write_int(w, "group", 2);
    check_problem(w, &(struct conv_problem){ IMAGES(2, 4, 9, 11), FILTERS(6, 3, 5), PADDING(1, 2, 3, 4), STRIDES(2, 3),
                                             DILATIONS(3, 2), .groups = 2 });
    w = begin_conv("Conv", DIMS(1, 2, 10), (int64_t[]){ 3, 2, 3 });
    onnx_write_ints(w, "pads", DIMS(1, 2));
    check_problem(w, &(struct conv_problem){ IMAGES(1, 2, 1, 10), FILTERS(3, 1, 3), PADDING(0, 1, 0, 2), UNIT_STEPS,
                                             .groups = 1 });
    w = begin_conv("Conv", DIMS(1, 1, 6, 6), (int64_t[]){ 1, 1, 4, 4 });
    onnx_write_text(w, "auto_pad", "SAME_LOWER");
    check_problem(w, &(struct conv_problem){ IMAGES(1, 1, 6, 6), FILTERS(1, 4, 4), PADDING(2, 2, 1, 1), UNIT_STEPS,
                                             .groups = 1 });
    w = begin_conv("Conv", DIMS(1, 1, 6, 6), (int64_t[]){ 1, 1, 4, 4 });
    onnx_write_text(w, "auto_pad", "SAME_UPPER");
    onnx_write_ints(w, "strides", DIMS(2, 2));
    check_problem(w, &(struct conv_problem){ IMAGES(1, 1, 6, 6), FILTERS(1, 4, 4), PADDING(1, 1, 1, 1), STRIDES(2, 2),
                                             DILATIONS(1, 1), .groups = 1 });
}

static void no_problem(struct onnx_writer *w, const char *words)
{
    struct onnx_graph *g = onnx_written_as(w, NULL);
    struct conv_problem p;
    struct exp_why why = { "" };

    test_check(onnx_conv_problem(g, &g->node[0], &p, &why) == -EINVAL && strstr(why.text, words), "'%s', not '%s'",
               why.text, words);
    onnx_free(g);
}

static void other_convolutions_say_why_they_are_none(void)
{
    no_problem(begin_conv("ConvTranspose", DIMS(1, 2, 5, 5), (int64_t[]){ 2, 3, 3, 3 }), "ConvTranspose is no forward");
    no_problem(begin_conv("Conv", DIMS(1, 2, 5, 5, 5), (int64_t[]){ 2, 2, 3, 3, 3 }), "3 spatial dimensions");
    no_problem(begin_conv("Conv", DIMS(0, 2, 5, 5), (int64_t[]){ 2, 2, 3, 3 }), "batch");
}

/* An operator of another domain, or a quantized operator: the message is true, and says how to go on. */
static struct onnx_writer *begin_foreign(const char *domain, const char *op)
{
    struct onnx_writer *w = begin_conv(op, DIMS(1, 2, 6, 7), (int64_t[]){ 3, 2, 3, 3 });
    Onnx__NodeProto *n = onnx_writer_model(w)->graph->node[0];

    free(n->domain);
    n->domain = exp_copy_text(domain);
    return w;
}

static void operators_of_others_say_whose_they_are(void)
{
    static const struct {
        const char *domain, *op, *words;
    } lines[] = {
        { "", "ConvInteger",
          "ConvInteger is no forward convolution that is read; it is quantized: `make network` runs it" },
        { "com.microsoft", "QLinearConv",
          "QLinearConv of domain com.microsoft is no forward convolution that is read; ONNX Runtime's quantizer" },
        { "com.microsoft", "NhwcConv",
          "of domain com.microsoft is no forward convolution that is read; ONNX Runtime's optimiser" },
        { "com.microsoft.nchwc", "Conv",
          "of domain com.microsoft.nchwc is no forward convolution that is read; ONNX Runtime's" },
        { "com.ms.internal.nhwc", "Conv", "save the network before it is optimised" },
        { "org.example", "MyConv", "MyConv of domain org.example is no forward convolution that is read" },
        { "", "DeformConv", "DeformConv is no forward convolution that is read" },
    };

    for (size_t i = 0; i < COUNT(lines); i++)
        no_problem(begin_foreign(lines[i].domain, lines[i].op), lines[i].words);
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct onnx_graph *g = onnx_written_as(begin_foreign(lines[i].domain, "FusedMatMul"), NULL);
        struct exp_why why;

        test_check(!onnx_is_conv(&g->node[0]) && onnx_conv_problem(g, &g->node[0], &(struct conv_problem){ 0 }, &why) &&
                       strstr(why.text, lines[i].domain),
                   "'%s'", why.text);
        onnx_free(g);
    }
}

/* ONNX Runtime's optimiser puts an activation into a convolution: the shape is the convolution's. */
static void a_fused_convolution_is_a_layer(void)
{
    struct onnx_writer *w = begin_foreign("com.microsoft", "FusedConv");

    onnx_write_ints(w, "pads", DIMS(1, 1, 1, 1));
    onnx_write_text(w, "activation", "Relu");
    check_problem(w, &(struct conv_problem){ IMAGES(1, 2, 6, 7), FILTERS(3, 3, 3), PADDING(1, 1, 1, 1), UNIT_STEPS,
                                             .groups = 1 });
}

/* A file may define a function, even with the name of a known operator: nodes of the function are not inferred. */
static void functions_of_the_file_are_named(void)
{
    struct onnx_writer *w = begin_conv("Conv", DIMS(1, 2, 6, 7), (int64_t[]){ 3, 2, 3, 3 });
    Onnx__ModelProto *m = onnx_writer_model(w);

    m->functions = exp_new(1, sizeof *m->functions);
    m->functions[m->n_functions++] = exp_new(1, sizeof **m->functions);
    onnx__function_proto__init(m->functions[0]);
    m->functions[0]->name = exp_copy_text("Conv");
    no_problem(w, "operator Conv is a function of the file");
}

/* The file states the shape of the output, and the node stays marked as not understood. */
static void an_attribute_that_is_not_known_makes_no_layer(void)
{
    struct onnx_writer *w = begin_conv("Conv", DIMS(1, 2, 6, 7), (int64_t[]){ 3, 2, 3, 3 });

    onnx_write_ints(w, "padding", DIMS(1, 1, 1, 1));
    no_problem(w, "its attribute 'padding' is not known here");
}

/*
 * A transposed convolution of 5 elements by 3 makes 7 elements; 6 are asked for: the file says at which end one is cut
 * off.
 */
static void check_cut(const char *auto_pad, int64_t begin, int64_t end)
{
    struct onnx_writer *w = begin_conv("ConvTranspose", DIMS(1, 2, 5, 5), (int64_t[]){ 2, 3, 3, 3 });
    struct onnx_graph *g;
    struct onnx_window window;

    onnx_write_ints(w, "output_shape", DIMS(6, 6));
    if (*auto_pad)
        onnx_write_text(w, "auto_pad", auto_pad);
    g = onnx_written_as(w, NULL);
    CU_ASSERT_EQUAL_FATAL(onnx_window(g, &g->node[0], &window, NULL), 0);
    test_check(window.begin[0] == begin && window.end[1] == end && window.out[0] == 6,
               "%s: %lld before, %lld behind, %lld outputs", auto_pad, (long long)window.begin[0],
               (long long)window.end[1], (long long)window.out[0]);
    onnx_free(g);
}

static void outputs_that_are_asked_for_cut_the_others(void)
{
    check_cut("", 1, 0);
    check_cut("VALID", 1, 0);
    check_cut("SAME_LOWER", 1, 0);
    check_cut("SAME_UPPER", 0, 1);
}

static void the_zoo_has_shapes_throughout(void)
{
    static const struct {
        const char *name;
        size_t n_nodes, n_convolutions;
    } zoo[] = { { "bvlc_alexnet", 24, 5 }, { "inception_v1", 143, 57 }, { "inception_v2", 371, 69 },
                { "resnet50", 176, 53 },   { "squeezenet", 66, 26 },    { "vgg19", 46, 16 } };

    for (size_t i = 0; i < COUNT(zoo); i++) {
        char *path = exp_format("experiments/models/onnx/light_%s.onnx", zoo[i].name);
        struct exp_why why = { "" };
        struct conv_problem p;
        struct onnx_graph *g;
        size_t n = 0, left = 0;

        if (test_check(!onnx_read(&g, path, NULL, &why), "%s", why.text)) {
            for (size_t k = 0; k < g->n_nodes; k++) {
                CU_ASSERT_PTR_NULL(g->node[k].why_no_shape);
                left += !g->node[k].is_folded;
                n += !onnx_conv_problem(g, &g->node[k], &p, &why);
            }
            test_check(n == zoo[i].n_convolutions && left == zoo[i].n_nodes, "%s: %zu convolutions of %zu nodes",
                       zoo[i].name, n, left);
            CU_ASSERT_TRUE(onnx_has_shape(g, g->value[*g->output].name, DIMS(1, 1000)) ||
                           onnx_has_shape(g, g->value[*g->output].name, DIMS(1, 1000, 1, 1)));
        }
        onnx_free(g);
        free(path);
    }
}

static const struct test_case cases[] = {
    { "what is left open is asked for", what_is_left_open_is_asked_for },
    { "slips in INPUT are told", slips_in_input_are_told },
    { "another batch replaces that of reshapes", another_batch_replaces_that_of_reshapes },
    { "stated shapes serve where an operator is not known", stated_shapes_serve_where_an_operator_is_not_known },
    { "convolutions become problems", convolutions_become_problems },
    { "outputs that are asked for cut the others off, before first", outputs_that_are_asked_for_cut_the_others },
    { "other convolutions say why they are none", other_convolutions_say_why_they_are_none },
    { "operators of others say whose they are", operators_of_others_say_whose_they_are },
    { "a fused convolution is a layer", a_fused_convolution_is_a_layer },
    { "functions of the file are named", functions_of_the_file_are_named },
    { "an attribute that is not known makes no layer", an_attribute_that_is_not_known_makes_no_layer },
    { "the zoo has shapes throughout", the_zoo_has_shapes_throughout },
    { NULL, NULL },
};

const struct test_suite suite_onnx_shapes = { "onnx_shapes", cases };
