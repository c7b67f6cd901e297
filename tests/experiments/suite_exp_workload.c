/* Layers from oneDNN: descriptors, benchdnn's batch files, and logs of ONEDNN_VERBOSE=1. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/model/model.h"
#include "experiments/bench/model/formats.h"
#include "tests/kernels/shapes.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

/* ---- descriptors ---- */

struct shape {
    const char *text;
    struct conv_problem problem;
    size_t times;
    const char *name;
};

/*
 * The meaning of each text, worked out by hand from the rules in benchdnn's documentation. Members in order: images;
 * channels, height, width; filters, their height, width; strides; padding above, left, below, right; dilations; groups;
 * output; element type.
 */
static const struct shape shapes[] = {
    { "mb1ic64ih56oc64oh56kh3ph1n\"name\"",
      { 1, 64, 56, 56, 64, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 56, 56, 0 },
      1,
      "name" },
    { "mb1_ic3oc64_ih224oh224kh3sh1dh0ph1_iw224ow224kw3sw1dw0pw1",
      { 1, 3, 224, 224, 64, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 224, 224, 0 },
      1,
      "" },
    { "ic16ih8kh3oc8", { 2, 16, 8, 8, 8, 3, 3, 1, 1, 0, 0, 0, 0, 1, 1, 1, 6, 6, 0 }, 1, "" },
    { "mb1ic32ih14oc32oh14kh3ph1n\"resnet_50:res4a_branch2b*6\"",
      { 1, 32, 14, 14, 32, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 14, 14, 0 },
      6,
      "resnet_50:res4a_branch2b" },
    { "mb1ic3ih227iw227_oc96oh55ow55_kh11kw11_sh4sw4ph0pw0_nalexnet:conv1",
      { 1, 3, 227, 227, 96, 11, 11, 4, 4, 0, 0, 0, 0, 1, 1, 1, 55, 55, 0 },
      1,
      "alexnet:conv1" },
    /* The padding follows from the output: (4 - 1) * 2 + 3 - 8 = 1 in all, nothing before. */
    { "mb1ic3ih8oc4oh4kh3sh2", { 1, 3, 8, 8, 4, 3, 3, 2, 2, 0, 0, 1, 1, 1, 1, 1, 4, 4, 0 }, 1, "" },
    { "g4mb1ic16oc16_iw5ow5kw3pw1_n\"1d_conv:grouped\"",
      { 1, 16, 1, 5, 16, 1, 3, 1, 1, 0, 1, 0, 1, 1, 1, 4, 1, 5, 0 },
      1,
      "1d_conv:grouped" },
    /* A stride that leaves the last row over: no padding behind, rather than a negative padding. */
    { "mb1ic16ih8oc16oh4kh1sh2ph0", { 1, 16, 8, 8, 16, 1, 1, 2, 2, 0, 0, 0, 0, 1, 1, 1, 4, 4, 0 }, 1, "" },
    { "mb1ic2ih9iw7oc2kh3kw1dh1pw1", { 1, 2, 9, 7, 2, 3, 1, 1, 1, 0, 1, 0, 1, 2, 1, 1, 5, 9, 0 }, 1, "" },
    /*
     * A padding of 0 or a stride of 1 does not select an axis, so the text is a line; a star without a number is part
     * of a name.
     */
    { "mb1ic2iw5oc2kw3ph0sh1n\"a*b\"", { 1, 2, 1, 5, 2, 1, 3, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 3, 0 }, 1, "a*b" },
    { "mb1ic2id1kd1ih4oc2kh1", { 1, 2, 4, 4, 2, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 4, 4, 0 }, 1, "" },
};

static bool is_expected(const struct exp_descriptor *d, const struct shape *s)
{
    return conv_problem_equal(&d->problem, &s->problem) && d->problem.p == s->problem.p &&
           d->problem.q == s->problem.q && d->times == (s->times ? s->times : 1) &&
           d->name_length == strlen(s->name ? s->name : "") &&
           !strncmp(d->name, s->name ? s->name : "", d->name_length);
}

static void test_descriptors(void)
{
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct exp_descriptor d;
        struct exp_why why = { "" };
        int err = exp_descriptor_read(&d, shapes[i].text, 0, &why);

        test_check(!err && !d.unsupported && is_expected(&d, &shapes[i]), "'%s': %d, '%s'", shapes[i].text, err,
                   why.text);
        CU_ASSERT_TRUE(exp_descriptor_begins(shapes[i].text));
    }
    CU_ASSERT_FALSE(exp_descriptor_begins("googlenet"));
    CU_ASSERT_FALSE(exp_descriptor_begins("mobilenet"));
    CU_ASSERT_FALSE(exp_descriptor_begins(""));
}

/* A depthwise convolution with a window, a stride and a padding, of an image of 16x9 pixels with 6 channels. */
static const struct fused {
    const char *attributes;
    size_t out_h, out_w, pad_bottom, pad_right;
} fused[] = {
    { "dw:k3s1p1", 16, 9, 1, 1 },
    { "attr-post-ops:sum+dw:k3s2p1+eltwise_relu", 8, 5, 0, 1 },
    { "eltwise_relu+dw:k3s2p1:f32", 8, 5, 0, 1 },
    { "'relu;dw_k3s1p1'", 16, 9, 1, 1 },
    { "DW:K5S3P2,dw:k5s3p2", 6, 3, 2, 0 },
};

static void test_fused(void)
{
    static const char text[] = "mb2ic4ih16iw9oc6kh1kw1";
    struct exp_descriptor d, with;
    struct exp_why why;
    struct exp_fused f;

    CU_ASSERT_EQUAL_FATAL(exp_descriptor_read(&d, text, 0, &why), 0);
    for (size_t i = 0; i < COUNT(fused); i++) {
        const struct conv_problem *p = &with.problem;
        const struct fused *x = &fused[i];

        if (!test_check(exp_fused_find(&f, x->attributes, x->attributes) && !exp_descriptor_fuse(&with, &d, &f),
                        "'%s' is not found", x->attributes))
            continue;
        test_check(p->n == 2 && p->c == 6 && p->k == 6 && p->groups == 6 && p->h == 16 && p->w == 9 &&
                       p->r == f.kernel && p->stride_h == f.stride && p->pad_left == f.pad && p->p == x->out_h &&
                       p->q == x->out_w && p->pad_bottom == x->pad_bottom && p->pad_right == x->pad_right,
                   "'%s': %zux%zu, behind %zu, %zu", x->attributes, p->p, p->q, p->pad_bottom, p->pad_right);
    }
    CU_ASSERT_PTR_NULL(exp_fused_find(&f, "attr-scales:attr_post_op_dw_wei:per_oc", "attr-scales:attr_post_op_dw_wei"));
    CU_ASSERT_PTR_NOT_NULL(exp_fused_find(&f, "dw:k0s1p0", "dw:k0s1p0"));
    CU_ASSERT_PTR_NOT_NULL(exp_descriptor_fuse(&with, &d, &f));
    CU_ASSERT_EQUAL_FATAL(exp_descriptor_read(&d, "mb2ic4iw9oc6kw1", 0, &why), 0);
    CU_ASSERT_PTR_NOT_NULL(exp_fused_find(&f, "dw:k3s1p1", "dw:k3s1p1"));
    CU_ASSERT_PTR_NULL(exp_descriptor_fuse(&with, &d, &f));
    CU_ASSERT(with.problem.h == 1 && with.problem.r == 1 && with.problem.s == 3 && with.problem.q == 9);
}

static const struct {
    const char *text, *why;
} bad_descriptors[] = {
    { "mb1ic64ih56oc64oh56kx3ph1", "no size that a convolution has at 'kx3ph1'" },
    { "mb1ic64ih56oc64oh56khph1", "no whole number from 0 to 1073741824 at 'khph1'" },
    { "mb1ic64ih-5oc64kh3", "no whole number from 0 to 1073741824 at 'ih-5oc64kh3'" },
    { "mb1ic64ih99999999999oc64kh3", "no whole number from 0 to 1073741824 at 'ih99999999999oc64kh3'" },
    { "mb1ic64oc64kh3", "ih, kh and sh must be at least 1 (0, 3, 1)" },
    { "mb1ic64ih5iw5oc64kh3", "iw, kw and sw must be at least 1 (5, 0, 1)" },
    { "mb1ic64ih5oc64kh9", "the filter reaches over 9, more than the padded ih" },
    { "mb1ic64ih5oc64kh3oh1", "the output is said to be 1x1, but is 3x3" },
    { "g3mb1ic64ih5oc64kh3", "group" },
    { "dtbf16mb1ic64ih5oc64kh3", "convolutions run in fp32 here, and a descriptor names no type, at 'dtbf16" },
    { "mb1ic64ih15oc64oh2kh3sh3", "padding that is negative is not supported" },
    { "mb1ic64ih5oc64kh3n\"open", "a quote that is left open, 'n\"open'" },
    { "mb1ic64ih5oc64kh3nx*0", "no whole number from 0 to 1073741824 at '*0'" },
    { "mb0ic64ih5oc64kh3", "batch" },
};

static void test_bad_descriptors(void)
{
    for (size_t i = 0; i < COUNT(bad_descriptors); i++) {
        struct exp_descriptor d;
        struct exp_why why = { "" };
        int err = exp_descriptor_read(&d, bad_descriptors[i].text, 0, &why);

        test_check(err == -EINVAL && strstr(why.text, bad_descriptors[i].why) != NULL, "'%s': %d, '%s'",
                   bad_descriptors[i].text, err, why.text);
    }
}

static struct conv_problem random_problem(void)
{
    for (;;) {
        struct conv_problem p = {
            .n = 1 + rng_below(4),
            .groups = 1 + rng_below(3),
            .h = 1 + rng_below(40),
            .w = 1 + rng_below(40),
            .r = 1 + rng_below(5),
            .s = 1 + rng_below(5),
            STRIDES(1 + rng_below(3), 1 + rng_below(3)),
            PADDING(rng_below(4), rng_below(4), rng_below(4), rng_below(4)),
            DILATIONS(1 + rng_below(3), 1 + rng_below(3)),
        };

        p.c = p.groups * (1 + rng_below(20));
        p.k = p.groups * (1 + rng_below(20));
        if (!conv_problem_finish(&p, SIM_NO_WHY))
            return p;
    }
}

/* A random shape, written as oneDNN prints shapes, is read back equal, except for padding that no window reaches. */
static void test_random_descriptors(void)
{
    for (unsigned i = 0; i < test_rounds(2000); i++) {
        struct conv_problem p = random_problem(), *q;
        struct exp_descriptor d;
        char text[256];
        struct exp_why why = { "" };
        int err;

        snprintf(text, sizeof text,
                 "g%zumb%zu_ic%zuoc%zu_ih%zuoh%zukh%zush%zudh%zuph%zu_iw%zuow%zukw%zusw%zudw%zupw%zu", p.groups, p.n,
                 p.c, p.k, p.h, p.p, p.r, p.stride_h, p.dilation_h - 1, p.pad_top, p.w, p.q, p.s, p.stride_w,
                 p.dilation_w - 1, p.pad_left);
        err = exp_descriptor_read(&d, text, 0, &why);
        q = &d.problem;
        if (!test_check(!err && q->pad_bottom <= p.pad_bottom && q->pad_right <= p.pad_right, "'%s': %d, '%s'", text,
                        err, why.text))
            return;
        CU_ASSERT_TRUE(q->pad_bottom == 0 || q->pad_bottom + p.stride_h > p.pad_bottom);
        p.pad_bottom = q->pad_bottom;
        p.pad_right = q->pad_right;
        test_check(conv_problem_equal(&p, q) && p.p == q->p && p.q == q->q, "'%s' is another shape", text);
    }
}

/* ---- files ---- */

/* Reads a text as a file of the name; joins names of layers, then the left-out lines, in out. Returns as the reader. */
static int read_file(const char *name, const char *text, char *out, size_t bytes)
{
    struct exp_model m;
    struct exp_why why = { "" };
    const char *path = scratch_text(name, text), *place;
    int err = exp_model_find(&m, "experiments", path, &why);

    *out = '\0';
    for (size_t i = 0; i < m.n_layers; i++)
        snprintf(out + strlen(out), bytes - strlen(out), "%s%s", i ? " " : "", m.layer[i].name);
    for (size_t i = 0; i < m.n_skipped; i++)
        snprintf(out + strlen(out), bytes - strlen(out), "; %s:%u %zu %s", strrchr(m.skipped[i].path, '/') + 1,
                 m.skipped[i].line[0], m.skipped[i].times, m.skipped[i].reason);
    if (m.repeats)
        snprintf(out + strlen(out), bytes - strlen(out), "; %zu times", m.repeats);
    if (m.n_untyped)
        snprintf(out + strlen(out), bytes - strlen(out), "; %zu untyped", m.n_untyped);
    place = strrchr(why.text, '/');
    if (err)
        snprintf(out, bytes, "%s", place && !strncmp(why.text, path, strlen(path)) ? place + 1 : why.text);
    exp_model_release(&m);
    return err;
}

struct file_case {
    const char *name, *text;
    int err;
    const char *result; /* the output of read_file(), or the beginning of the error */
};

static void check_files(const struct file_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char out[1024];
        int err = read_file(cases[i].name, cases[i].text, out, sizeof out);

        test_check(err == cases[i].err &&
                       (err ? !strncmp(out, cases[i].result, strlen(cases[i].result)) : !strcmp(out, cases[i].result)),
                   "case %zu: %d, '%s'", i, err, out);
    }
}

#define A "mb1ic4ih8oc4kh1"
#define B "mb1ic4ih8oc4kh3"

#define NO_FORWARD "no forward pass, which alone is supported"
#define NO_FP32 "other types than fp32, which alone is supported"

static const struct file_case batches[] = {
    { "set", "# comment\n" A "n\"a\" " B "nb # " A "nc\n", 0, "a b" },
    { "set.txt", A "\n" B "n\"b*2\"\n", 0, "01_4x8x8_4_1x1 b b_2" },
    { "set", "--reset --cfg=f32\n--dir=FWD_B,BWD_D\n" A "na\n--dir=BWD_W " A "nx\n--dir=FWD_I " A "nb\n", 0,
      "a b; set:3 1 backward passes of layers whose forward pass is read; set:4 1 " NO_FORWARD },
    { "set", "--cfg=u8s8u8 " A "nx --cfg=u8s8u8,f32 " A "na --dt=f32:f32:f32 " A "nb --dt=bf16:bf16:f32 " A "ny", 0,
      "a b; set:1 2 " NO_FP32 "; set:1 1 other types than fp32 of layers that are read as fp32" },
    { "set", "--conv " A "na\n--matmul 3x4:4x5\n--conv " A "nb", 0, "a b; set:2 1 of another driver than --conv" },
    { "set", "--match=.*kh3.* " A "nx " B "na --match= " A "nb", 0, "a b; set:1 1 not what --match asks for" },
    { "set", "--mode=P --stag=nhwc " A "na", 0,
      "a; set:1 1 option --mode, which does not change a shape; set:1 1 option --stag, which does not change a shape" },
    { "set", A "na mb1ic4id8oc4kd3nx", 0, "a; set:1 1 a convolution of volumes, not of planes" },
    { "set", "--batch=inner\n" A "na", 0, "i a; inner:2 1 " NO_FORWARD },
    { "set", A "na\n--batch=missing", -ENOENT, "missing': No such file" },
    { "set", A "na\n\n--batch=set", -EINVAL, "set:3: batch files within batch files, too deep, 'set'" },
    { "set", "--mb=1,16 " A "na --mb= " B "nb", 0, "a a_2 b" },
    { "set", "--mb=1,x " A, -EINVAL, "set:1: --mb takes numbers of images, separated by commas, '1,x'" },
    { "set", "--match=( " A, -EINVAL, "set:1: --match is no regular expression, '('" },
    { "set", A "\n" B "\nkh3\n", 0,
      "01_4x8x8_4_1x1 02_4x8x8_4_3x3; set:3 1 descriptor 'kh3': ih, kh and sh must be at least 1 (0, 3, 1)" },
    { "set", A "na mb1ic4ih15oc4oh2kh3sh3nx mb1ic4ih4294967311oc4kh1ny " B "nb*x\n", 0,
      "a b*x; set:1 1 descriptor 'mb1ic4ih15oc4oh2kh3sh3nx': the output is said to be 2x2, but is 5x5; padding that is "
      "negative is not supported; set:1 1 descriptor 'mb1ic4ih4294967311oc4kh1ny': no whole number from 0 to "
      "1073741824 at "
      "'ih4294967311oc4kh1ny'" },
    { "set", "-v1 --mode=P\n--sdpa 1x1:1x1\n--conv --frobnicate=3 " A "na --new 2x3", 0,
      "a; set:1 1 option -v1, which does not change a shape; set:1 1 option --mode, which does not change a shape; "
      "set:2 1 "
      "of another driver than --conv; set:3 1 '--frobnicate=3', which is no option that is known here; set:3 1 "
      "'--new', "
      "which is no option that is known here; set:3 1 descriptor '2x3': no size that a convolution has at '2x3'" },
    { "set", "--deconv --reset " A "nx --conv --dir= --dt= " A "na", 0, "a; set:1 1 of another driver than --conv" },
    { "set", "--attr-post-ops=relu+dw:k3s2p1 " A "na*2 --attr-post-ops= " B "nb", 0, "a a_dw a_2 a_dw_2 b" },
    { "set", "--attr-post-ops=relu,relu+dw:k3s1p1:s8, \\\n  sum+dw:k5s1p2+relu, \\\n\n\\\n dw:x " A "na", 0,
      "a a_dw; set:5 1 a fused depthwise convolution of other types than fp32; set:5 1 a fused depthwise convolution "
      "whose "
      "size is not understood" },
    { "set", "--dir=\\\nBWD_D " A "nx --reset " A "na", 0, "a; set:2 1 " NO_FORWARD },
    { "set", "--attr=\"oscale=common:0.5;post_ops='relu;dw_k3s1p1'\" " A "na", 0, "a a_dw" },
    { "set", "\xef\xbb\xbf" A "na\r" A "nb\r\n\xc2\xa0" A "nc", 0, "a b c" },
    { "set", "\xff\xfe" A "na", -EINVAL, "set:1: the text is in UTF-16, save it as UTF-8" },
    { "set", A "n\"a\x01\"\n", -EINVAL, "set:1: name, a control character after 'a'" },
    { "set", A "n\"a*100001\"\n", -EINVAL, "set:1: more than 100000 layers" },
    { "set", "--dir=BWD_D " A, -EINVAL,
      "set: no forward convolution of fp32 planes; skipped 1, no forward pass, which alone is supported, ..." },
    { "set", "# nothing\n", -EINVAL, "set: no forward convolution of fp32 planes" },
    { "set", "nothing known\n", -EINVAL, "set:1: column missing, 'in_c'" },
};

static void test_batches(void)
{
    scratch_text("inner", A "ni\n--dir=BWD_D " A "nx --dir=FWD_D");
    check_files(batches, COUNT(batches));
}

static void test_images(void)
{
    struct exp_model m;
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL_FATAL(exp_model_find(&m, "", scratch_text("set", A " --mb=7 " A " --mb=0 " A), &why), 0);
    CU_ASSERT_EQUAL_FATAL(m.n_layers, 3);
    CU_ASSERT_EQUAL(m.layer[0].problem.n, 1);
    CU_ASSERT_EQUAL(m.layer[1].problem.n, 7);
    CU_ASSERT_EQUAL(m.layer[2].problem.n, 1);
    exp_model_release(&m);
}

/* Lines as oneDNN 2.6, 3.5 and 1.0 print them; each is an execution of a convolution. */
#define LINE_2(prop, types, text)                                                                                      \
    "onednn_verbose,exec,cpu,convolution,jit:avx2," prop ",src_" types "::blocked:aBcd8b:f0 wei_" types                \
    "::blocked:ABcd8b8a:f0 bia_undef::undef::f0 dst_" types "::blocked:aBcd8b:f0,attr-post-ops:eltwise_relu,"          \
    "alg:convolution_direct," text ",0.25\n"
#define LINE_3(text) LINE_3_WITH("attr-scratchpad:user", text)
#define LINE_3_WITH(attributes, text)                                                                                  \
    "onednn_verbose,v1,primitive,exec,cpu,convolution,brgconv:avx512_core,forward_inference,src:f32::blocked:acdb::"   \
    "f0 "                                                                                                              \
    "wei:f32:ap:blocked:Acdb64a::f0 bia:undef::undef::: dst:f32::blocked:acdb::f0," attributes                         \
    ",alg:convolution_direct," text ",0.25\n"
#define LINE_1(text)                                                                                                   \
    "dnnl_verbose,exec,cpu,convolution,jit:avx2,forward_training,src_f32::blocked:abcd:f0 wei_f32::blocked:abcd:f0 "   \
    "bia_f32::blocked:a:f0 dst_f32::blocked:abcd:f0,,alg:convolution_direct," text ",0.25\n"
#define LINE_0(implementation, text)                                                                                   \
    "mkldnn_verbose,exec,convolution," implementation ",forward_training,fsrc:nChw8c fwei:OIhw8i8o fbia:undef "        \
    "fdst:nChw8c,alg:convolution_direct," text ",9,4747\n"
#define INFO "onednn_verbose,info,cpu,runtime:OpenMP,nthr:1\n"
#define REORDER                                                                                                        \
    "onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd:f0 dst_f32::blocked:acdb:f0,,,1x3x4x4,0.2\n"
#define FORWARD(text) LINE_2("forward_inference", "f32", text)

/* A line up to the descriptor; the skipped part of a log whose last line was cut. */
#define CONVOLUTION                                                                                                    \
    "onednn_verbose,exec,cpu,convolution,jit:avx2,forward_inference,src_f32::blocked:acdb:f0 "                         \
    "wei_f32::blocked:Acdb16a:f0 dst_f32::blocked:acdb:f0,,alg:convolution_direct"
#define CUT(line) "; run.log:" #line " 1 a line that the log's end cut short; 1 times"

static const struct file_case logs[] = {
    { "run.log", "what the program prints\n" INFO FORWARD(A) REORDER FORWARD(B), 0,
      "01_4x8x8_4_1x1 02_4x8x8_4_3x3; run.log:4 1 no convolution but reorder; 1 times" },
    { "run", LINE_1(A) LINE_3(B) LINE_3(A) LINE_2("forward_training", "f32", B), 0,
      "01_4x8x8_4_1x1 02_4x8x8_4_3x3; 2 times" },
    { "run.log", FORWARD(A) FORWARD(B) FORWARD(A), 0, "01_4x8x8_4_1x1 02_4x8x8_4_3x3 03_4x8x8_4_1x1; 1 times" },
    { "run.log", FORWARD(A) FORWARD(A) FORWARD(B) FORWARD(A) FORWARD(A) FORWARD(B), 0,
      "01_4x8x8_4_1x1 02_4x8x8_4_1x1 03_4x8x8_4_3x3; 2 times" },
    { "run.log", FORWARD(A) LINE_2("backward_data", "f32", A) LINE_2("forward_inference", "s8", A), 0,
      "01_4x8x8_4_1x1; run.log:2 1 " NO_FORWARD "; run.log:3 1 " NO_FP32 "; 1 times" },
    { "run.log", REORDER, -EINVAL,
      "run.log: no forward convolution of fp32 planes; skipped 1, no convolution but reorder" },
    { "run.log", FORWARD(A) "onednn_verbose,exec,cpu,conv\n", 0,
      "01_4x8x8_4_1x1; run.log:2 1 a line that is cut short, behind 'exec' stands cpu; 1 times" },
    { "run.log", FORWARD(A) "onednn_verbose,exec,cpu,conv" FORWARD(B), 0,
      "01_4x8x8_4_1x1 02_4x8x8_4_3x3; run.log:2 1 a line that another line cut short; 1 times" },
    { "run.log", FORWARD(A) "onednn_verbose,v9,primitive,run,cpu,convolution\nonednn_verbose,v1,graph,exec,cpu,7,x\n",
      0,
      "01_4x8x8_4_1x1; run.log:2 1 a line of oneDNN that is not understood; run.log:3 1 partitions of oneDNN's graphs, "
      "whose "
      "operators a log does not name; 1 times" },
    { "run.log", LINE_3_WITH("attr-scratchpad:user attr-post-ops:eltwise_relu+dw:k3s2p1", A), 0,
      "01_4x8x8_4_1x1 02_4x8x8_4_3x3_s2x2; 1 times" },
    { "run.log", LINE_3_WITH("attr-post-ops:dw:k3s2p1:u8", A) LINE_3_WITH("attr-post-ops:dw:what", B), 0,
      "01_4x8x8_4_1x1 02_4x8x8_4_3x3; run.log:1 1 a fused depthwise convolution of other types than fp32; run.log:2 1 "
      "a "
      "fused depthwise convolution whose size is not understood; 1 times" },
    { "run.log", LINE_3_WITH("attr-fpmath:bf16", A), 0,
      "01_4x8x8_4_1x1; run.log:1 1 attr-fpmath, fewer bits, of layers that are read as fp32; 1 times" },
    { "run.log", LINE_0("jit:avx2", A) LINE_0("jit_int8:avx2", A) LINE_0("gemm:blas", B), 0,
      "01_4x8x8_4_1x1 02_4x8x8_4_3x3; run.log:2 1 " NO_FP32 "; 1 times; 2 untyped" },
    { "run.log", "\xef\xbb\xbf" LINE_1(A) "\r" LINE_1(B) "\r\n", 0, "01_4x8x8_4_1x1 02_4x8x8_4_3x3; 1 times" },
    { "run.log", "\xff\xfeo", -EINVAL, "run.log:1: the text is in UTF-16, save it as UTF-8" },
    { "run.log", "no line of oneDNN\n", -EINVAL, "run.log: no line of a log of ONEDNN_VERBOSE=1" },
    { "run.log", FORWARD(A) "onednn_verbose,exec,cpu,conv", 0, "01_4x8x8_4_1x1" CUT(2) },
    { "run.log", FORWARD(A) CONVOLUTION, 0, "01_4x8x8_4_1x1" CUT(2) },
    { "run.log", FORWARD(A) CONVOLUTION ",mb1ic4ih8oc4kh", 0, "01_4x8x8_4_1x1" CUT(2) },
    { "run.log", FORWARD(A) CONVOLUTION "," B, 0, "01_4x8x8_4_1x1" CUT(2) },
    { "run.log", FORWARD(A) CONVOLUTION "," B ",0", 0, "01_4x8x8_4_1x1 02_4x8x8_4_3x3; 1 times" },
    { "run.log", CONVOLUTION "," B ",0", 0, "01_4x8x8_4_3x3; 1 times" },
    { "run.log", CONVOLUTION "," B, -EINVAL,
      "run.log: no forward convolution of fp32 planes; skipped 1, a line that the log's end cut short" },
    { "run.log", FORWARD(A) FORWARD("3x4"), 0,
      "01_4x8x8_4_1x1; run.log:2 1 a convolution without a descriptor, 0.25; 1 times" },
    { "run.log", FORWARD("mb1ic4ih8oc4kh9"), -EINVAL,
      "run.log: no forward convolution of fp32 planes; skipped 1, descriptor 'mb1ic4ih8oc4kh9': the filter reaches" },
};

static void test_logs(void)
{
    check_files(logs, COUNT(logs));
}

/* The times of a log, in ns: of several runs the median; none of fused convolutions together. */
static const struct {
    const char *text;
    double ns[2];
} timed_logs[] = {
    { LINE_3(A) LINE_2("forward_inference", "f32", B), { 250000, 250000 } },
    { LINE_1(A) LINE_0("jit:avx2", B), { 250000, 9474700 } },
    { CONVOLUTION "," A ",3\n" CONVOLUTION "," B ",1e-3\n" CONVOLUTION "," A ",5\n" CONVOLUTION "," B
                  ",2e-3\n" CONVOLUTION "," A ",4\n" CONVOLUTION "," B ",3e-3\r\n",
      { 4e6, 2000 } },
    { CONVOLUTION "," A ",none\n" CONVOLUTION "," B ",0\n", { 0, 0 } },
    { LINE_3_WITH("attr-post-ops:dw:k3s2p1", A), { 0, 0 } },
};

static void test_timed_logs(void)
{
    for (size_t i = 0; i < COUNT(timed_logs); i++) {
        struct exp_model m;
        struct exp_why why;

        CU_ASSERT_EQUAL_FATAL(exp_model_read(&m, scratch_text("run.log", timed_logs[i].text), &why), 0);
        CU_ASSERT_EQUAL_FATAL(m.n_layers, 2);
        for (size_t k = 0; k < 2; k++)
            test_check(fabs(m.layer[k].given_ns - timed_logs[i].ns[k]) < 0.01, "log %zu, layer %zu: %g ns, not %g", i,
                       k, m.layer[k].given_ns, timed_logs[i].ns[k]);
        exp_model_release(&m);
        scratch_clear();
    }
}

/* A layer that ran more often than the model has layers is folded first. */
static void test_long_logs(void)
{
    enum { N = 100002 };
    static const char *const lines[] = { FORWARD(A), FORWARD(B) };
    char *text = malloc(N * sizeof FORWARD(A) + 1), *at = text, out[1024];

    CU_ASSERT_FATAL(text != NULL);
    for (size_t i = 0; i < N; i++)
        at = stpcpy(at, lines[i % 2]);
    CU_ASSERT_EQUAL(read_file("run.log", text, out, sizeof out), 0);
    CU_ASSERT_STRING_EQUAL(out, "01_4x8x8_4_1x1 02_4x8x8_4_3x3; 50001 times");
    strcpy(at, FORWARD(A)); /* now the line does not repeat */
    CU_ASSERT_EQUAL(read_file("run.log", text, out, sizeof out), -EINVAL);
    test_check(!strcmp(out, "run.log: 100003 convolutions that do not repeat; at most 100000"), "'%s'", out);
    free(text);
}

/* Files that name files that name files ...: the depth of reading has an end. */
static void test_many_batches(void)
{
    enum { N_LINES = 40, DEPTH = 7 };
    char text[N_LINES * 16], name[8], out[1024];

    for (int level = 1; level <= DEPTH; level++) {
        snprintf(name, sizeof name, "f%d", level);
        for (int i = 0; i < N_LINES; i++)
            snprintf(text + (size_t)i * 11, sizeof text - (size_t)i * 11, "--batch=f%d\n", level + 1);
        scratch_text(name, level < DEPTH ? text : "# nothing\n");
    }
    CU_ASSERT_EQUAL(read_file("f1", "", out, sizeof out), -EINVAL); /* an empty file */
    for (int i = 0; i < N_LINES; i++)
        snprintf(text + (size_t)i * 11, sizeof text - (size_t)i * 11, "--batch=f2\n");
    CU_ASSERT_EQUAL(read_file("f1", text, out, sizeof out), -EINVAL);
    test_check(strstr(out, "batch files within batch files, more than 10000, or 64 MiB, 'f7'") != NULL, "'%s'", out);
}

/* A descriptor is a model of its own, named by the whole descriptor without the descriptor's own name. */
static void test_model_of_one(void)
{
    struct exp_model m;
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL_FATAL(exp_model_find(&m, "", B "n\"x/y\"", &why), 0);
    CU_ASSERT_EQUAL(m.n_layers, 1);
    CU_ASSERT_STRING_EQUAL(m.name, B);
    CU_ASSERT_STRING_EQUAL(m.layer[0].name, "x/y");
    exp_model_release(&m);
    CU_ASSERT_EQUAL(exp_model_find(&m, "", "mb1ic4ih8oc4", &why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why.text, "MODEL: descriptor 'mb1ic4ih8oc4': ih, kh and sh must be at least 1 (8, 0, 1)");
    CU_ASSERT_EQUAL(exp_model_find(&m, "", "mb1ic4id8oc4kd3", &why), -EINVAL);
}

static void test_notes(void)
{
    struct exp_model m = { 0 };
    char text[512] = "";
    FILE *out = fmemopen(text, sizeof text, "w");

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    for (unsigned i = 1; i <= EXP_SKIPPED_LINES + 1; i++)
        CU_ASSERT_EQUAL(exp_model_skip(&m, (struct exp_model_place){ "a", i }, "one"), 0);
    CU_ASSERT_EQUAL(exp_model_skip(&m, (struct exp_model_place){ "b", 7 }, "one"), 0);
    exp_model_print_notes(&m, out);
    fclose(out);
    CU_ASSERT_STRING_EQUAL(text, "a: skipped 9, one: lines 1, 2, 3, 4, 5, 6, 7, 8, ...\nb: skipped 1, one: line 7\n");
    exp_model_release(&m);
}

static const struct test_case cases[] = {
    { "descriptors mean what benchdnn says that they mean", test_descriptors },
    { "what is wrong with a descriptor is said", test_bad_descriptors },
    { "what is fused is a convolution of its own", test_fused },
    { "random shapes survive being written as descriptors", test_random_descriptors },
    { "batch files: options, other files, what is left out", test_batches },
    { "batch files: the number of images", test_images },
    { "logs: what ran, in which order, how often", test_logs },
    { "logs: what repeats is folded before it is too much", test_long_logs },
    { "logs: the times", test_timed_logs },
    { "batch files: as many as can be read", test_many_batches },
    { "a descriptor is a model", test_model_of_one },
    { "what was left out is told by reason", test_notes },
    { NULL, NULL },
};

const struct test_suite suite_exp_workload = { "exp_workload", cases };
