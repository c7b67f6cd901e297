/*
 * Values of features that newer opsets add to operators: the input counts 1, 2, 3, ..., and expected outputs follow
 * ONNX's description, computed independently (with numpy).
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/operator.h"
#include "tests/experiments/onnx_line.h"
#include "tests/experiments/onnx_written.h"
#include "tests/scratch.h"
#include "tests/suites.h"

enum { MOST = 64 };

struct result {
    const char *says; /* expected values, with commas between */
    float got[2][MOST];
    size_t n;
};

/* Runs the node of a graph by the node's fast path, and by the node's plain loops. */
static int run(const struct onnx_graph *g, struct result *r, struct exp_why *why)
{
    const struct onnx_node *n = &g->node[0];
    float count[MOST];
    const void *in[MOST] = { NULL };
    void *out[1];
    struct op_call call;
    int err = op_prepare(&call, &(struct op_ask){ .graph = g, .node = n }, why);

    if (err)
        return err;
    for (size_t i = 0; i < MOST; i++)
        count[i] = (float)(i + 1);
    for (size_t i = 0; i < n->n_in; i++)
        in[i] = !onnx_in(g, n, i) ? NULL : onnx_in(g, n, i)->data ? onnx_in(g, n, i)->data : count;
    r->n = onnx_out(g, n, 0)->elements;
    CU_ASSERT_FATAL(r->n <= MOST && onnx_in(g, n, 0)->elements <= MOST);
    out[0] = r->got[0];
    op_run(&call, &(struct op_tensors){ in, out }, NULL);
    out[0] = r->got[1];
    op_reference(&call, &(struct op_tensors){ in, out });
    op_release(&call);
    return 0;
}

static void compare(const struct onnx_line *l, const struct result *r)
{
    const char *at = r->says;
    size_t i = 0;

    for (char *end; *at; at = end + (*end == ','), i++) {
        const float want = strtof(at, &end);

        for (size_t way = 0; way < 2 && i < r->n; way++) {
            const float got = r->got[way][i];

            test_check(fabsf(got - want) <= 2e-6F * fmaxf(1, fabsf(want)),
                       "%s-%d %s: element %zu, way %zu, is %.8g, not %.8g", l->op, (int)l->opset, l->attributes, i, way,
                       (double)got, (double)want);
        }
    }
    test_check(i == r->n, "%s-%d %s: %zu elements, not %zu", l->op, (int)l->opset, l->attributes, r->n, i);
}

static void try_line(const struct onnx_line *l)
{
    struct onnx_graph *g;
    struct exp_why why = { "" };
    struct result r = { .says = l->out };

    if (!test_check(!onnx_written_read(onnx_line_write(l), NULL, &g, &why), "%s: %s", l->op, why.text))
        return;
    if (test_check(!run(g, &r, &why), "%s", why.text))
        compare(l, &r);
    onnx_free(g);
}

/* clang-format off */
static void newer_opsets_have_their_values(void)
{
    static const struct onnx_line lines[] = {
        { 19, "AveragePool", "1x1x4x4", "kernel_shape=[2,2] dilations=[2,2]", "6,7,10,11" },
        { 19, "AveragePool", "1x1x4", "kernel_shape=[3] strides=[2] pads=[1,0] ceil_mode=1 count_include_pad=1", "1,3" },
        { 22, "AveragePool", "1x1x5", "kernel_shape=[2] strides=[2] ceil_mode=1", "1.5,3.5,5" },
        { 22, "MaxPool", "1x1x4x4", "kernel_shape=[2,2] dilations=[2,2]", "11,12,15,16" },
        { 19, "Pad", "2x3 [0,2,0,4]", "mode='wrap'", "2,3,1,2,3,1,2,3,1,5,6,4,5,6,4,5,6,4" },
        { 19, "Pad", "2x3 [2,1] _ [-1]", "mode='wrap'", "2,3,1,2,3,1,5,6,4,5,6,4" },
        { 18, "Pad", "2x3 [0,1] (7) [0]", "", "1,2,3,4,5,6,7,7,7" },
        { 19, "Resize", "1x1x5x1 _ (1,1,0.7,1)", "mode='linear' coordinate_transformation_mode='half_pixel_symmetric'", "1.571429,3,4.428571" },
        { 13, "Resize", "1x1x5x1 _ (1,1,0.7,1)", "mode='linear'", "1.214286,2.642857,4.071429" },
        { 18, "Resize", "1x1x5x4 _ (0.8,0.6)", "mode='linear' axes=[3,2] coordinate_transformation_mode='asymmetric'",
          "1,2.25,3.5,7.666667,8.916667,10.16667,14.33333,15.58333,16.83333" },
        { 18, "Resize", "1x1x2x3 _ _ [4,4]", "mode='linear' axes=[2,3] keep_aspect_ratio_policy='not_larger'",
          "1,1.625,2.375,3,2.875,3.5,4.25,4.875,4,4.625,5.375,6" },
        { 18, "Resize", "1x1x3x2 _ _ [4,4]", "mode='linear' axes=[2,3] keep_aspect_ratio_policy='not_smaller'",
          "1,1.25,1.75,2,1.5,1.75,2.25,2.5,2.5,2.75,3.25,3.5,3.5,3.75,4.25,4.5,4.5,4.75,5.25,5.5,5,5.25,5.75,6" },
        { 20, "Gelu", "4", "", "0.8413447,1.9545,2.99595,3.999873" },
        { 20, "Gelu", "4", "approximate='none'", "0.8413447,1.9545,2.99595,3.999873" },
        { 20, "Gelu", "4", "approximate='tanh'", "0.841192,1.954598,2.996363,3.99993" },
        { 24, "Swish", "4", "", "0.7310586,1.761594,2.857722,3.928055" },
        { 24, "Swish", "4", "alpha=0.5", "0.6224593,1.462117,2.452723,3.523188" },
        { 22, "Mish", "4", "", "0.8650984,1.943959,2.986535,3.997413" },
        { 18, "ReduceSumSquare", "4 _", "noop_with_empty_axes=1", "1,4,9,16" },
        { 18, "ReduceL2", "2x2 [0]", "", "3.162278,4.472136" },
        { 17, "ReduceL2", "2x2", "axes=[0]", "3.162278,4.472136" },
    };

    for (size_t i = 0; i < COUNT(lines); i++)
        try_line(&lines[i]);
}
/* clang-format on */

static const struct test_case cases[] = {
    { "newer opsets have their values", newer_opsets_have_their_values },
    { NULL, NULL },
};

const struct test_suite suite_op_opsets = { "op_opsets", cases };
