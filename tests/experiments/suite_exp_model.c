/* Model tables: the seven networks' counts, the layer filter, and a line for each way a table can be wrong. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/emit/options_emit.h"
#include "experiments/bench/model/model.h"
#include "experiments/bench/case/published.h"
#include "experiments/bench/course/results.h"
#include "tests/kernels/shapes.h"
#include "tests/scratch.h"
#include "tests/suites.h"

#define HEADER                                                                                                         \
    "name,in_c,in_h,in_w,out_c,k_h,k_w,stride_h,stride_w,pad_top,pad_left,pad_bottom,pad_right,group,dilation_h,"      \
    "dilation_w"

/* The tests may run from another folder than the repository's top: look for the tables beside this file, too. */
static const char *experiments_dir(void)
{
    static char dir[512];
    const char *slash = strrchr(__FILE__, '/');

    if (!access("experiments/models/vgg16.csv", R_OK))
        return "experiments";
    snprintf(dir, sizeof dir, "%.*s/../experiments", slash ? (int)(slash - __FILE__) : 1, slash ? __FILE__ : ".");
    return dir;
}

#define CONVBENCH "ID,NI,CI,HI,WI,NO,DO,HO,WO,HK,WK,HPTOP,HPBOTTOM,WPLEFT,WPRIGHT,HS,WS,HD,WD,GROUP,BIAS\n"
#define HUGE_ROW "8,1,4294967296,4294967296,4294967296,1,1,4294967296,4294967296,1,1,0,0,0,0,1,1,1,1,1,1\n"
#define SMALLEST "in_c,in_h,in_w,out_c,k_h,k_w"

struct expected_model {
    const char *name;
    size_t n_layers, n_pointwise;
    double macs;
};

/*
 * Layers and pointwise layers are the paper's counts (SConv 7.1: 393 and 219 in all). The multiply-adds were computed
 * apart from this program; VGG-16's 15.35 G and ResNet-18's 1.81 G are the literature's figures.
 */
static const struct expected_model paper_models[] = {
    { "googlenet", 57, 37, 1581647872 }, { "inceptionv2", 69, 37, 2017827840 }, { "resnet18", 20, 0, 1813561344 },
    { "resnet50", 53, 30, 3855925248 },  { "resnet152", 155, 98, 11280367616 }, { "squeezenet", 26, 17, 818924576 },
    { "vgg16", 13, 0, 15346630656 },
};

static const struct expected_model other_models[] = {
    { "alt/mobilenetv2", 52, 34, 299494272 },     { "alt/squeezenet_v11", 26, 17, 349151936 },
    { "polydl/alexnet", 4, 0, 585289728 },        { "polydl/excluded", 33, 20, 6987293440 },
    { "polydl/fastrcnn", 25, 18, 17932017664 },   { "polydl/googlenetv1", 48, 30, 1389172736 },
    { "polydl/googlenetv3", 39, 16, 3289295360 }, { "polydl/maskrcnn", 34, 13, 185636225024 },
    { "polydl/mobilenet", 9, 9, 333971456 },      { "polydl/overfeat", 4, 0, 2562195456 },
    { "polydl/resnet", 19, 9, 1271660544 },       { "polydl/xception", 7, 6, 1939531776 },
    { "polydl/yolov2", 12, 5, 16986800128 },
};

static size_t count_pointwise(const struct exp_model *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_layers; i++)
        n += conv_is_pointwise(&m->layer[i].problem);
    return n;
}

static double sum_macs(const struct exp_model *m)
{
    double macs = 0.0;

    for (size_t i = 0; i < m->n_layers; i++)
        macs += conv_macs(&m->layer[i].problem);
    return macs;
}

static void check_model(const struct exp_model *m, const struct expected_model *want)
{
    test_check(m->n_layers == want->n_layers && count_pointwise(m) == want->n_pointwise && sum_macs(m) == want->macs,
               "%s: %zu layers, %zu pointwise, %.0f multiply-adds", want->name, m->n_layers, count_pointwise(m),
               sum_macs(m));
}

static void test_paper_models(void)
{
    size_t n_layers = 0, n_pointwise = 0;

    for (size_t i = 0; i < COUNT(paper_models); i++) {
        struct exp_model m;
        struct exp_why why = { "" };

        if (!test_check(!exp_model_find(&m, experiments_dir(), paper_models[i].name, &why), "%s", why.text))
            continue;
        CU_ASSERT_STRING_EQUAL(m.name, paper_models[i].name);
        check_model(&m, &paper_models[i]);
        n_layers += m.n_layers;
        n_pointwise += count_pointwise(&m);
        exp_model_release(&m);
    }
    CU_ASSERT_EQUAL(n_layers, 393);
    CU_ASSERT_EQUAL(n_pointwise, 219);
}

static void test_other_models(void)
{
    for (size_t i = 0; i < COUNT(other_models); i++) {
        struct exp_model m;
        char path[1024];
        struct exp_why why = { "" };

        snprintf(path, sizeof path, "%s/models/%s.csv", experiments_dir(), other_models[i].name);
        if (!test_check(!exp_model_find(&m, experiments_dir(), path, &why), "%s", why.text))
            continue;
        check_model(&m, &other_models[i]);
        exp_model_release(&m);
    }
}

static void test_unknown_model(void)
{
    struct exp_model m;
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL(exp_model_find(&m, experiments_dir(), "vgg61", &why), -ENOENT);
    CU_ASSERT_STRING_EQUAL(
        why.text,
        "unknown model 'vgg61', did you mean vgg16? known: googlenet inceptionv2 resnet152 resnet18 resnet50 "
        "squeezenet vgg16 "
        "(or the path of a network, .onnx, of a layer table, .csv, of a batch file, .txt, or of a log, .log; or a "
        "descriptor)");
    CU_ASSERT_EQUAL(exp_model_find(&m, experiments_dir(), "", &why), -ENOENT);
    CU_ASSERT_EQUAL(exp_model_find(&m, experiments_dir(), "yolov2", &why), -ENOENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "unknown model 'yolov2'; there is a table called so: MODEL="));
    CU_ASSERT_EQUAL(exp_model_find(&m, experiments_dir(), "nets/own.pt", &why), -EINVAL);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(why.text, "MODEL: 'nets/own.pt': PyTorch's files are not read; export the network as .onnx"));
    CU_ASSERT_EQUAL(exp_model_find(&m, experiments_dir(), "own.json", &why), -EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "JSON files are no models; give a table"));
    CU_ASSERT_EQUAL(exp_model_find(&m, "no/such", "vgg16", &why), -ENOENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "cannot list 'no/such/models': No such file or directory"));
    CU_ASSERT_EQUAL(exp_model_find(&m, experiments_dir(), "nothing.csv", &why), -ENOENT);
    CU_ASSERT_STRING_EQUAL(why.text, "cannot open 'nothing.csv': No such file or directory");
    exp_model_release(&m);
}

static void test_model_of_a_layer(void)
{
    char *model = exp_model_with_layer(experiments_dir(), "conv3_1"),
         *none = exp_model_with_layer(experiments_dir(), "nix");

    CU_ASSERT(model && !strcmp(model, "vgg16"));
    CU_ASSERT_PTR_NULL(none);
    free(model);
    free(none);
}

/* Writes text to a temporary file and reads the file as a model; messages get the name "t.csv". */
static int read_text(struct exp_model *m, const char *text, struct exp_why *why)
{
    struct exp_why line = { "" };
    const char *path;
    int err;

    path = scratch_text("t.csv", text);
    err = exp_model_read(m, path, &line);
    scratch_clear();
    snprintf(why->text, sizeof why->text, "%s%s", *line.text ? "t.csv" : "",
             !strncmp(line.text, path, strlen(path)) ? line.text + strlen(path) : line.text);
    return err;
}

struct bad_table {
    const char *text;
    int err;
    const char *why;
};

static const struct bad_table bad_tables[] = {
    { "name,in_c\nx,1\n", -EINVAL, "t.csv:1: column missing, 'in_h'" },
    { "in_c\n1\n", -EINVAL, "t.csv:1: column missing, 'in_h'" },
    { "name,c\nx,1\n", -EINVAL, "t.csv:1: column missing, 'in_c'" },
    { SMALLEST ",stirde\n1,8,8,1,3,3,2\n", -EINVAL,
      "t.csv:1: column 'stirde' is not known; is it meant for 'stride'? Call it otherwise if it is not" },
    { SMALLEST ",padd_top\n1,8,8,1,3,3,2\n", -EINVAL,
      "t.csv:1: column 'padd_top' is not known; is it meant for 'pad_top'? Call it otherwise if it is not" },
    { SMALLEST ",stride,stride_w\n1,8,8,1,3,3,2,1\n", -EINVAL, "t.csv:2: stride_w is 1, but stride is 2" },
    { SMALLEST ",kernel\n1,8,8,1,3,3,3\n1,8,8,1,3,3,2\n", -EINVAL, "t.csv:3: k_h is 3, but kernel is 2" },
    { SMALLEST ",pad_h,pad_bottom\n1,8,8,1,3,3,1,0\n", -EINVAL, "t.csv:2: pad_bottom is 0, but pad_h is 1" },
    { SMALLEST ",pad\n1,8,8,1,3,3,-1\n", -EINVAL, "t.csv:2: pad, '-1' is not a whole number >= 0" },
    { SMALLEST ",stride\n1,8,8,1,3,3,0\n", -EINVAL, "t.csv:2: stride, '0' must be at least 1" },
    { SMALLEST "\n4,8,8,1,9,3\n", -EINVAL, "t.csv:2: layer 'without a name', " },
    { "CI,HI,WI,DO,HO,WO,HK,WK\n1,8,8,1,7,6,3,3\n", -EINVAL,
      "t.csv:2: layer 'without a name', the output is said to be 7x6, but its sizes make 6x6" },
    { CONVBENCH "9,1,4,8,9,1,6,4,9,3,3,0,1,1,1,2,1,1,1,2,6\n7,1,4,8,9,1,6,9,8,3,3,0,1,1,1,2,1,1,1,2,6\n", -EINVAL,
      "t.csv:3: layer 't_7', the output is said to be 9x8, but its sizes make 4x9" },
    { CONVBENCH "7,1,4,8,9,2,6,4,9,3,3,0,1,1,1,2,1,1,1,2,6\n", -EINVAL, "t.csv:2: NI is 1, but NO is 2" },
    { CONVBENCH "7,1,4,8,9,1,6,4,9,3,3,0,1,1,1,2,1,1,1,3,6\n", -EINVAL, "t.csv:2: layer 't_7', " },
    { "ID,CI,HI,WI,DO,HO,WO,HK,WK\n1,1,8,8,1,6,6,3,3\n", -EINVAL, "t.csv:1: column missing, 'NI'" },
    { CONVBENCH HUGE_ROW, -EINVAL, "t.csv: no layer that memory holds" },
    { "\"in_c;in_h\"\n1\n", -EINVAL, "t.csv:1: columns are separated by commas, is ';' a separator here?" },
    { HEADER ",in_c\n", -EINVAL, "t.csv:1: column named twice, 'in_c'" },
    { HEADER "\n", -EINVAL, "t.csv: no layers, only a header" },
    { HEADER "\nx,3,8,8,4,3,3,1,1,0,0,0,0,1,1\n", -EINVAL,
      "t.csv:2: dilation_w, missing (the row has 15 fields, the header 16)" },
    { HEADER "\nx,3,,8,4,3,3,1,1,0,0,0,0,1,1,1\n", -EINVAL, "t.csv:2: in_h, '' is empty" },
    { HEADER "\n,3,8,8,4,3,3,1,1,0,0,0,0,1,1,1\n", -EINVAL, "t.csv:2: name, '' is empty" },
    { HEADER "\n\"a\nb\",3,8,8,4,3,3,1,1,0,0,0,0,1,1,1\n", -EINVAL, "t.csv:2: name, a control character after 'a'" },
    { HEADER "\nx,3,8,8,4,3,3,1,1,0,0,-1,0,1,1,1\n", -EINVAL, "t.csv:2: pad_bottom, '-1' is not a whole number >= 0" },
    { HEADER "\n#\nx,3,8,8,4,3,3,1,1.0,0,0,0,0,1,1,1\n", -EINVAL,
      "t.csv:3: stride_w, '1.0' is not a whole number >= 0" },
    { HEADER "\nx,3,8,8,4,3,3,0,1,0,0,0,0,1,1,1\n", -EINVAL, "t.csv:2: stride_h, '0' must be at least 1" },
    { HEADER "\nx,3,8,8,4,3,3,1,1,0,0,0,0,0,1,1\n", -EINVAL, "t.csv:2: group, '0' must be at least 1" },
    { HEADER ",batch\nx,3,8,8,4,3,3,1,1,0,0,0,0,1,1,1,0\n", -EINVAL, "t.csv:2: batch, '0' must be at least 1" },
    { HEADER "\nx,3,8,8,18446744073709551616,3,3,1,1,0,0,0,0,1,1,1\n", -EOVERFLOW,
      "t.csv:2: out_c, '18446744073709551616' is too large" },
    { HEADER "\nx,3,4294967296,4294967296,4,3,3,1,1,0,0,0,0,1,1,1\n", -EOVERFLOW, "t.csv:2: layer 'x', " },
    { HEADER "\nx,3,8,8,4,9,3,1,1,0,0,0,0,1,1,1\n", -EINVAL, "t.csv:2: layer 'x', " },
    { HEADER "\nx,3,8,8,4,3,3,1,1,0,0,0,0,1,1,4\n", -EINVAL, "t.csv:2: layer 'x', " },
    { HEADER "\nx,3,8,8,4,3,3,1,1,0,0,0,0,2,1,1\n", -EINVAL, "t.csv:2: layer 'x', " },
    { HEADER "\nok,3,8,8,4,3,3,1,1,0,0,0,0,1,1,1\nx,4,8,8,3,3,3,1,1,0,0,0,0,2,1,1\n", -EINVAL, "t.csv:3: layer 'x', " },
};

static void test_bad_tables(void)
{
    for (size_t i = 0; i < COUNT(bad_tables); i++) {
        const struct bad_table *b = &bad_tables[i];
        struct exp_model m;
        struct exp_why why;
        int err = read_text(&m, b->text, &why);
        size_t length = strlen(b->why);

        /* The shape check's own wording follows "layer 'x', ". */
        test_check(err == b->err && !strncmp(why.text, b->why, length) &&
                       (why.text[length] != '\0') == (b->why[length - 1] == ' '),
                   "case %zu: %d, '%s'", i, err, why.text);
        exp_model_release(&m);
    }
}

static void test_optional_columns(void)
{
    struct exp_model m;
    struct exp_why why;

    CU_ASSERT_EQUAL_FATAL(read_text(&m, HEADER ",note,batch\n\"a, b\",3,8,9,4,3,5,1,2,1,0,1,2,1,1,1,what,7\n", &why),
                          0);
    CU_ASSERT_STRING_EQUAL(m.layer[0].name, "a, b");
    CU_ASSERT_EQUAL(m.layer[0].line, 2);
    CU_ASSERT_EQUAL(m.layer[0].problem.n, 7);
    CU_ASSERT_EQUAL(m.layer[0].problem.w, 9);
    CU_ASSERT_EQUAL(m.layer[0].problem.pad_right, 2);
    CU_ASSERT_EQUAL(m.layer[0].problem.p, 8);
    CU_ASSERT_EQUAL(m.layer[0].problem.q, 4);
    exp_model_release(&m);
}

static void join_names(const struct exp_model *m, char *out, size_t bytes)
{
    *out = '\0';
    for (size_t i = 0; i < m->n_layers; i++) {
        size_t used = strlen(out);

        snprintf(out + used, bytes - used, "%s%s", i ? " " : "", m->layer[i].name);
    }
}

/* Tables with few columns. problem: the text of exp_problem_print, without a batch of 1 and without the last blank. */
static const struct few {
    const char *text, *name, *problem;
} few_columns[] = {
    { SMALLEST "\n3,8,9,4,3,5\n", "01_3x8x9_4_3x5",
      "in_c=3 in_h=8 in_w=9 out_c=4 k_h=3 k_w=5 stride_h=1 stride_w=1 pad_top=0 pad_left=0 pad_bottom=0 pad_right=0 "
      "group=1 "
      "dilation_h=1 dilation_w=1" },
    { "in_c,in_h,in_w,out_c,kernel,stride,pad,dilation,name\n3,20,20,4,3,2,1,2,x\n", "x",
      "in_c=3 in_h=20 in_w=20 out_c=4 k_h=3 k_w=3 stride_h=2 stride_w=2 pad_top=1 pad_left=1 pad_bottom=1 pad_right=1 "
      "group=1 dilation_h=2 dilation_w=2" },
    { SMALLEST ",stride,stride_w,stride_h,pad_h,pad_w,group\n4,8,8,4,3,5,2,2,2,1,2,4\n", "01_4x8x8_4_3x5_s2x2",
      "in_c=4 in_h=8 in_w=8 out_c=4 k_h=3 k_w=5 stride_h=2 stride_w=2 pad_top=1 pad_left=2 pad_bottom=1 pad_right=2 "
      "group=4 "
      "dilation_h=1 dilation_w=1" },
    { CONVBENCH "7,1,4,8,9,1,6,4,9,3,3,0,1,1,1,2,1,1,1,2,6\n", "t_7",
      "in_c=4 in_h=8 in_w=9 out_c=6 k_h=3 k_w=3 stride_h=2 stride_w=1 pad_top=0 pad_left=1 pad_bottom=1 pad_right=1 "
      "group=2 "
      "dilation_h=1 dilation_w=1" },
};

static void test_few_columns(void)
{
    for (size_t i = 0; i < COUNT(few_columns); i++) {
        const struct few *f = &few_columns[i];
        struct exp_model m;
        struct exp_why why;
        char *text;
        size_t bytes;
        FILE *out = exp_memory_open(&text, &bytes);

        if (test_check(!read_text(&m, f->text, &why), "case %zu: %s", i, why.text)) {
            exp_problem_print(&m.layer[0].problem, out);
            fclose(out);
            test_check(!strncmp(text, "batch=1 ", 8) && !strncmp(text + 8, f->problem, strlen(f->problem)) &&
                           !strcmp(text + 8 + strlen(f->problem), " ") && !strcmp(m.layer[0].name, f->name),
                       "case %zu: '%s', '%s'", i, m.layer[0].name, text);
        } else {
            fclose(out);
        }
        free(text);
        exp_model_release(&m);
    }
}

/* A shape of ConvBench that no memory holds is left out, and listed with its line. */
static void test_huge_row(void)
{
    struct exp_model m;
    struct exp_why why;

    CU_ASSERT_EQUAL_FATAL(read_text(&m, CONVBENCH HUGE_ROW "7,1,4,8,9,1,6,4,9,3,3,0,1,1,1,2,1,1,1,2,6\n", &why), 0);
    CU_ASSERT_EQUAL(m.n_layers, 1);
    CU_ASSERT_STRING_EQUAL(m.layer[0].name, "t_7");
    CU_ASSERT_EQUAL(m.n_skipped, 1);
    CU_ASSERT_EQUAL(m.skipped[0].line[0], 2);
    exp_model_release(&m);
}

/* Layers with equal names get distinct names, whatever names are in use, and a note names both. */
static void test_namesakes(void)
{
    static const char row[] = ",1,1,1,1,1,1\n";
    char text[512];
    struct exp_model m;
    struct exp_why why;

    snprintf(text, sizeof text, "name," SMALLEST ",comment\na%.*s,\nb%.*s,\na%.*s,\na_2%.*s,\na%.*s,\nb%.*s,\n", 12,
             row, 12, row, 12, row, 12, row, 12, row, 12, row);
    CU_ASSERT_EQUAL_FATAL(read_text(&m, text, &why), 0);
    join_names(&m, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "a b a_3 a_2 a_4 b_2");
    test_check(m.notes &&
                   !strcmp(m.notes, "columns that are not read: comment\n"
                                    "two layers are called 'a' (lines 2 and 4); the second one is called 'a_3' here, "
                                    "and so are others of the kind\n"),
               "'%s'", m.notes ? m.notes : "");
    exp_model_release(&m);
}

struct filter_case {
    const char *patterns;
    int err;
    const char *result; /* the kept names, or the error */
};

static const struct filter_case filter_cases[] = {
    { "conv1_1", 0, "conv1_1" },
    { "conv5_*,conv1_1", 0, "conv1_1 conv5_1 conv5_2 conv5_3" },
    { " conv2_? ,, ", 0, "conv2_1 conv2_2" },
    { "conv[34]_1,conv3_1", 0, "conv3_1 conv4_1" },
    { "", -EINVAL, "the list of layer patterns is empty" },
    { " , ", -EINVAL, "the list of layer patterns is empty" },
    { "conv1_1,conv9*", -ENOENT,
      "no layer of vgg16 matches 'conv9*'; it has conv1_1, conv1_2, conv2_1, conv2_2, conv3_1, conv3_2, ... (13 in "
      "all)" },
    { "conv1_1 conv1_2", -ENOENT,
      "no layer of vgg16 matches 'conv1_1 conv1_2'; it has conv1_1, conv1_2, conv2_1, conv2_2, conv3_1, conv3_2, ... "
      "(13 in all); patterns are separated by commas, not by blanks" },
};

static void test_filter(void)
{
    for (size_t i = 0; i < COUNT(filter_cases); i++) {
        const struct filter_case *f = &filter_cases[i];
        struct exp_model m;
        struct exp_why result = { "" };
        int err;

        CU_ASSERT_EQUAL_FATAL(exp_model_find(&m, experiments_dir(), "vgg16", &result), 0);
        err = exp_model_filter(&m, f->patterns, true, &result);
        CU_ASSERT(!err || m.n_layers == 13);
        if (!err)
            join_names(&m, result.text, sizeof result.text);
        test_check(err == f->err && !strcmp(result.text, f->result), "'%s': %d, '%s'", f->patterns, err, result.text);
        exp_model_release(&m);
    }
}

static void test_filter_keeps_index(void)
{
    struct exp_model m;
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL_FATAL(exp_model_find(&m, experiments_dir(), "googlenet", &why), 0);
    CU_ASSERT_EQUAL_FATAL(exp_model_filter(&m, "inception_3a*", true, &why), 0);
    CU_ASSERT_EQUAL(m.layer[0].index, 4);
    CU_ASSERT_EQUAL(m.layer[0].line, 5);
    exp_model_release(&m);
}

static void test_several(void)
{
    struct exp_models m;
    struct exp_why why = { "" };
    size_t n_layers = 0;

    CU_ASSERT_EQUAL_FATAL(exp_models_read(&m, experiments_dir(), "all", "", &why), 0);
    CU_ASSERT_EQUAL(m.n, 7);
    for (size_t i = 0; i < m.n; i++)
        n_layers += m.model[i].n_layers;
    CU_ASSERT_EQUAL(n_layers, 393);
    exp_models_release(&m);
    CU_ASSERT_EQUAL_FATAL(exp_models_read(&m, experiments_dir(), "vgg16,resnet18", "conv*", &why), 0);
    CU_ASSERT(m.n == 2 && !strcmp(m.model[1].name, "resnet18") && m.model[1].n_layers == 1);
    exp_models_release(&m);
    CU_ASSERT_EQUAL(exp_models_read(&m, experiments_dir(), "vgg16,vgg61", "", &why), -ENOENT);
    CU_ASSERT(m.n == 0 && strstr(why.text, "vgg61"));
    CU_ASSERT_EQUAL(exp_models_read(&m, experiments_dir(), "vgg16,resnet18", "conv5*,conv6*", &why), -ENOENT);
    CU_ASSERT(m.n == 0 && strstr(why.text, "conv6*"));
    CU_ASSERT_EQUAL(exp_models_read(&m, experiments_dir(), "vgg16,vgg16", "", &why), -EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "vgg16.csv twice: name the model once"));
}

/* A pattern must match a layer of one model; a model without a matching layer is left out and named. */
static void test_left_out(void)
{
    const struct exp_model_ask ask = { .layers = "conv1_1,conv0", .is_of_several = true };
    struct exp_models m;
    struct exp_model one;
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL_FATAL(exp_models_read(&m, experiments_dir(), "resnet18,vgg16,squeezenet", "conv0, conv5_?", &why),
                          0);
    CU_ASSERT(m.n == 2 && m.model[0].n_layers == 1 && m.model[1].n_layers == 3);
    CU_ASSERT_STRING_EQUAL(m.left_out, "squeezenet");
    exp_models_release(&m);
    CU_ASSERT_EQUAL_FATAL(exp_models_read(&m, experiments_dir(), "resnet18,vgg16,googlenet", "conv1_1", &why), 0);
    CU_ASSERT(m.n == 1 && !strcmp(m.model[0].name, "vgg16") && !strcmp(m.left_out, "resnet18, googlenet"));
    exp_models_release(&m);
    CU_ASSERT_EQUAL_FATAL(exp_model_find_as(&one, experiments_dir(), "vgg16", &ask, &why), 0);
    CU_ASSERT_EQUAL(one.n_layers, 1);
    exp_model_release(&one);
}

/* A comma may be a part of a path, if the file exists. */
static void test_commas(void)
{
    char list[1024], path[512];
    struct exp_models m;
    struct exp_why why = { "" };

    snprintf(path, sizeof path, "%s", scratch_text("a,b.csv", SMALLEST "\n1,1,1,1,1,1\n"));
    snprintf(list, sizeof list, " %s , vgg16,%s", path, scratch_text("c.csv", SMALLEST "\n1,1,1,1,1,1\n"));
    if (test_check(!exp_models_read(&m, experiments_dir(), list, "", &why), "%s", why.text)) {
        CU_ASSERT(m.n == 3 && !strcmp(m.model[0].name, "a,b") && !strcmp(m.model[2].name, "c"));
        exp_models_release(&m);
    }
    CU_ASSERT_EQUAL(exp_models_next("vgg16 ,resnet18"), 6);
    CU_ASSERT_EQUAL(exp_models_next("no/such,file"), 7);
}

extern const struct exp_question question_experiment, question_judge, question_peers, question_calibrate,
    question_streams, question_gen;

static void check_path(const struct exp_results_layout *layout, const char *option, const char *name, size_t n,
                       const char *wanted)
{
    const struct exp_results_place place = { .layout = layout, .results = "r", .model = option, .layers = "" };
    char *path, *copy = strdup(name);
    struct exp_why why = { "" };
    const struct exp_model model[7] = { { .name = copy, .path = copy }, { .name = copy, .path = copy } };

    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    CU_ASSERT_EQUAL(exp_results_path(&path, &place, "m", model, n, &why), wanted ? 0 : -EINVAL);
    test_check(wanted ? path && !strcmp(path, wanted) : !path && strstr(why.text, name) != NULL,
               "%s, %zu models: %s %s", option, n, path ? path : "", why.text);
    free(path);
    free(copy);
}

/* Judge and peers name their folders alike; a model with the name of a reserved folder is refused. */
static void test_result_paths(void)
{
    check_path(question_experiment.place, "vgg16", "vgg16", 1, "r/m/vgg16");
    check_path(question_judge.place, "vgg16", "vgg16", 1, "r/m/judgement/vgg16");
    check_path(question_peers.place, "vgg16", "vgg16", 1, "r/m/peers/vgg16");
    check_path(question_judge.place, "all", "vgg16", 7, "r/m/judgement/all");
    check_path(question_peers.place, "all", "vgg16", 7, "r/m/peers/all");
    check_path(question_judge.place, "vgg16,resnet18", "vgg16", 2, "r/m/judgement/vgg16+vgg16");
    check_path(question_peers.place, "vgg16,resnet18", "vgg16", 2, "r/m/peers/vgg16+vgg16");
    check_path(question_judge.place, "parts.csv", "parts", 1, NULL);
    check_path(question_peers.place, "all.csv", "all", 1, NULL);
    check_path(question_experiment.place, "all.csv", "all", 1, "r/m/all");
    check_path(question_experiment.place, "peers.csv", "peers", 1, NULL);
}

/* Checks the name of the folder for the layers of some models. */
static void check_name(const char *option, const char *layers, const char *name, size_t n, const char *wanted)
{
    char *copy = strdup(name), *made;
    const struct exp_model model[2] = { { .name = copy }, { .name = copy } };

    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    made = exp_results_name(option, layers, model, n);
    test_check(made && !strcmp(made, wanted), "LAYERS=%s of %s: '%s', not '%s'", layers, option, made ? made : "",
               wanted);
    free(made);
    free(copy);
}

/* Some layers never take the place of the whole model, nor of different layers. */
static void test_names_of_some_layers(void)
{
    char many[400], two[400], *a, *b;
    const struct exp_model model = { .name = many };

    check_name("vgg16", "", "vgg16", 1, "vgg16");
    check_name("vgg16", "conv5_1", "vgg16", 1, "vgg16,conv5_1");
    check_name("vgg16", "conv1_*,conv5_?", "vgg16", 1, "vgg16,conv1_~,conv5_~");
    check_name("all", "fire[29]/*", "x", 2, "all,fire~29~~~");
    check_name("a,b", "c d", "x", 2, "x+x,c~d");
    memset(many, 'x', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    memcpy(two, many, sizeof two);
    two[sizeof two - 2] = 'y';
    a = exp_results_name("m", many, &model, 1);
    b = exp_results_name("m", two, &model, 1);
    test_check(a && b && strlen(a) == strlen(b) && strlen(a) <= 200, "names of any length: '%s', '%s'", a ? a : "",
               b ? b : "");
    test_check(a && b && strcmp(a, b) != 0, "two names are one: '%s'", a ? a : "");
    free(a);
    free(b);
}

/* Checks the path of results without a model. */
static void check_asked(const struct exp_results_layout *layout, const void *options, const char *wanted)
{
    const struct exp_results_place place = { .layout = layout, .options = options, .results = "r", .layers = "" };
    char *path;
    struct exp_why why = { "" };

    CU_ASSERT_EQUAL(exp_results_path(&path, &place, "m", NULL, 0, &why), 0);
    test_check(path && !strcmp(path, wanted), "'%s', not '%s'", path ? path : why.text, wanted);
    free(path);
}

/* A different pair of compared runs has a different folder, and so have different layers whose code is timed. */
static void test_names_of_no_model(void)
{
    struct exp_emit_options o = { .model = "", .layers = "", .layer = "", .plan = "" };

    check_asked(question_calibrate.place, &o, "r/m/calibration");
    check_asked(question_streams.place, &o, "r/m/streams/default");
    o.model = "vgg16";
    check_asked(question_gen.place, &o, "r/m/emit/vgg16");
    o.layers = "conv1_*";
    check_asked(question_gen.place, &o, "r/m/emit/vgg16,conv1_~");
    o.layer = "vgg16:conv1_1";
    check_asked(question_gen.place, &o, "r/m/emit/vgg16~conv1_1");
    o.layer = "";
    o.plan = "my plan.json";
    check_asked(question_gen.place, &o, "r/m/emit/my~plan.json");
}

static void test_published(void)
{
    struct exp_published p;
    struct exp_why why = { "" };
    double value = 0.0;

    CU_ASSERT_EQUAL_FATAL(exp_published_read(&p, experiments_dir(), &why), 0);
    CU_ASSERT_EQUAL(exp_published_double(&p, "Table 2", "vgg16", "x86", "conv_speedup", &value, &why), 0);
    CU_ASSERT_EQUAL(value, 1.27);
    CU_ASSERT_EQUAL(exp_published_double(&p, "Table 2", "resnet152", "P10", "conv_speedup", &value, &why), 0);
    CU_ASSERT_EQUAL(value, 1.28);
    CU_ASSERT_EQUAL(exp_published_double(&p, "Figure 11a", "all", "x86", "base_l1_hit_percent_of_loads", &value, &why),
                    0);
    CU_ASSERT_EQUAL(value, 83.0);
    CU_ASSERT_STRING_EQUAL(exp_published_arch_of_machine("clx4208", false), "x86");
    CU_ASSERT_STRING_EQUAL(exp_published_arch_of_machine("power10-victim", false), "P10");
    CU_ASSERT_STRING_EQUAL(exp_published_arch_of_machine("zen4", false), "");
    CU_ASSERT_STRING_EQUAL(exp_published_arch_of_machine("clx4208", true), "");
    CU_ASSERT_STRING_EQUAL(exp_published_arch_of_cpu("Intel(R) Xeon(R) Silver 4208 CPU @ 2.10GHz"), "x86");
    CU_ASSERT_STRING_EQUAL(exp_published_arch_of_cpu("POWER10 (architected), altivec supported"), "P10");
    CU_ASSERT_STRING_EQUAL(exp_published_arch_of_cpu("Intel(R) Xeon(R) Processor (family 6, model 143)"), "");
    CU_ASSERT_EQUAL(exp_published_double(&p, "Table 2", "resnet15", "x86", "conv_speedup", &value, &why), -ENOENT);
    CU_ASSERT_EQUAL(exp_published_double(&p, "Table 2", "yolov2", "x86", "conv_speedup", &value, &why), -ENOENT);
    CU_ASSERT_EQUAL(exp_published_double(&p, "Table 1", "", "x86", "machine", &value, &why), -EINVAL);
    CU_ASSERT_EQUAL(value, 83.0);
    exp_published_release(&p);
}

/* Returns a layer of VGG-16, cut to at most `most` million multiply-adds; the whole layer for 0. */
static struct conv_problem vgg16_layer(unsigned index, double most)
{
    struct conv_problem problem = { 0 };
    struct exp_model m;
    struct exp_why why;

    CU_ASSERT_EQUAL_FATAL(exp_model_find(&m, experiments_dir(), "vgg16", &why), 0);
    if (most > 0)
        exp_model_limit(&m, 1e6 * most);
    problem = m.layer[index].problem;
    exp_model_release(&m);
    return problem;
}

/* A cut layer is a valid layer: the output's size follows from the image's size, and nothing else has changed. */
static void test_smaller_layers(void)
{
    static const double most[] = { 1000, 200, 40, 1 };

    for (size_t i = 0; i < COUNT(most); i++) {
        for (unsigned l = 0; l < 13; l++) {
            const struct conv_problem whole = vgg16_layer(l, 0), small = vgg16_layer(l, most[i]);
            struct conv_problem finished = small;
            char why[200];

            CU_ASSERT_EQUAL(conv_problem_finish(&finished, SIM_WHY(why)), 0);
            CU_ASSERT_EQUAL(finished.p, small.p);
            CU_ASSERT_EQUAL(finished.q, whole.q);
            CU_ASSERT(most[i] < 40 || conv_macs(&small) <= 1e6 * most[i]);
            CU_ASSERT(conv_macs(&whole) > 1e6 * most[i] || conv_problem_equal(&whole, &small));
            CU_ASSERT(conv_macs(&small) > 1e6 * most[i] / 2.5 || conv_problem_equal(&whole, &small));
            CU_ASSERT(small.p >= 4 && small.k >= 32);
            finished.h = whole.h;
            finished.k = whole.k;
            finished.p = whole.p;
            CU_ASSERT(conv_problem_equal(&finished, &whole));
        }
    }
}

/* The larger dimension is halved, group by group; a stride takes its rows along. */
static void test_what_is_halved(void)
{
    const struct conv_problem large = vgg16_layer(1, 500), deep = vgg16_layer(12, 240);
    struct conv_problem strided = { IMAGES(3, 8, 57, 57), FILTERS(64, 3, 3), STRIDES(2, 2), DILATIONS(1, 1),
                                    .groups = 4 };
    struct exp_layer layer = { .name = (char[]){ "strided" } };
    struct exp_model m = { .name = strdup("own"), .n_layers = 1, .layer = &layer };
    char text[400];

    CU_ASSERT_EQUAL(large.p, 56); /* 224 rows of 224 windows, 64 filters */
    CU_ASSERT_EQUAL(large.k, 64);
    CU_ASSERT_EQUAL(deep.p, 14); /* 14 of 14, 512 filters */
    CU_ASSERT_EQUAL(deep.k, 256);
    CU_ASSERT_EQUAL_FATAL(conv_problem_finish(&strided, SIM_WHY(text)), 0);
    layer.problem = strided;
    layer.given_ns = 5;
    exp_model_limit(&m, conv_macs(&strided));
    CU_ASSERT_EQUAL(layer.given_ns, 5);
    exp_model_say_smaller(&m, text, sizeof text);
    CU_ASSERT(conv_problem_equal(&layer.problem, &strided));
    CU_ASSERT_STRING_EQUAL(text, "");
    CU_ASSERT_STRING_EQUAL(m.name, "own");
    exp_model_limit(&m, conv_macs(&strided) / 6);
    CU_ASSERT_EQUAL(layer.given_ns, 0); /* a log's time is not that of a smaller layer */
    CU_ASSERT_EQUAL(layer.problem.n, 1);
    CU_ASSERT_EQUAL(layer.problem.p, 14);
    CU_ASSERT_EQUAL(layer.problem.h, 29);
    CU_ASSERT_EQUAL(layer.problem.k, 64);
    exp_model_say_smaller(&m, text, sizeof text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "1 of 1 layers are smaller ones of the same kind"));
    CU_ASSERT_PTR_NOT_NULL(strstr(m.name, "own_to_"));
    free(m.name);
}

static const struct test_case cases[] = {
    { "the seven models have the paper's 393 convolutions, 219 pointwise", test_paper_models },
    { "the other tables hold their counts", test_other_models },
    { "an unknown model lists the known ones", test_unknown_model },
    { "a model that has a layer is found", test_model_of_a_layer },
    { "each wrong table is refused with file, line, column and value", test_bad_tables },
    { "batch is optional and other columns are ignored", test_optional_columns },
    { "a few columns are enough, and some stand for both directions", test_few_columns },
    { "a shape of ConvBench that no memory holds is left out", test_huge_row },
    { "layers of one name are told apart", test_namesakes },
    { "layers are chosen by shell patterns", test_filter },
    { "chosen layers keep their place in the model", test_filter_keeps_index },
    { "several models are read at once, or none", test_several },
    { "models without a layer that is asked for are left out", test_left_out },
    { "paths may hold commas", test_commas },
    { "results lie in a folder per model, and per list of models", test_result_paths },
    { "results of some layers have folders of their own", test_names_of_some_layers },
    { "so have those of no model, by what was asked for", test_names_of_no_model },
    { "layers are made smaller ones of the same kind", test_smaller_layers },
    { "... where there is most of them", test_what_is_halved },
    { "published numbers are found by figure, model, machine and metric", test_published },
    { NULL, NULL },
};

const struct test_suite suite_exp_model = { "exp_model", cases };
