/* Networks as files: order, names, types, data beside the file, and files that are no network. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/text.h"
#include "tests/experiments/onnx_written.h"
#include "tests/fuzz_targets.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

#include "onnx.pb-c.h"

static void refuse(struct onnx_writer *w, const char *words)
{
    onnx_refused(onnx_written(w, "net.onnx"), NULL, -EINVAL, words);
}

/* ---- parts of a graph ---- */

static void a_graph_has_values_and_nodes(void)
{
    struct onnx_graph *g;
    const struct onnx_value *f;

    g = onnx_written_as(onnx_write_small(), NULL);
    f = onnx_value_named(g, "f");
    CU_ASSERT_STRING_EQUAL(g->name, "net");
    CU_ASSERT_EQUAL(g->opset, 13);
    CU_ASSERT_EQUAL(g->n_nodes, 2);
    CU_ASSERT_STRING_EQUAL(g->node[0].name, "conv");
    CU_ASSERT_STRING_EQUAL(g->node[1].name, g->value[g->node[1].out[0]].name); /* the node has no name in the file */
    CU_ASSERT_EQUAL(g->n_inputs, 1);
    CU_ASSERT_TRUE(g->value[*g->input].is_input && g->value[*g->output].is_output);
    CU_ASSERT_TRUE(onnx_has_shape(g, "c", DIMS(1, 3, 4, 4)) && onnx_has_shape(g, "y", DIMS(1, 3, 4, 4)));
    CU_ASSERT_TRUE(f && f->data && f->bytes == 54 * sizeof(float) && f->elements == 54);
    CU_ASSERT_EQUAL(onnx_element_int(f, 53), 53);
    CU_ASSERT_EQUAL(onnx_value_named(g, "y")->producer, 1);
    CU_ASSERT_TRUE(onnx_is(&g->node[0], "Conv") && !onnx_is(&g->node[0], "Relu"));
    CU_ASSERT_PTR_NULL(onnx_in(g, &g->node[0], 2));
    onnx_free(g);
}

static void nodes_stand_behind_what_they_need(void)
{
    struct onnx_writer *w;
    struct onnx_graph *g;

    w = onnx_write_begin();
    onnx_write_node(w, "Relu", "last", "b", "y");
    onnx_write_node(w, "Add", "middle", "a,x", "b");
    onnx_write_node(w, "Neg", "first", "x", "a");
    g = onnx_written_as(w, NULL);
    CU_ASSERT_STRING_EQUAL(g->node[0].name, "first");
    CU_ASSERT_STRING_EQUAL(g->node[1].name, "middle");
    CU_ASSERT_STRING_EQUAL(g->node[2].name, "last");
    CU_ASSERT_EQUAL(onnx_value_named(g, "y")->producer, 2);
    CU_ASSERT_EQUAL(g->node[0].number, 3);
    onnx_free(g);
}

static void what_makes_no_network_is_named(void)
{
    struct onnx_writer *w;

    w = onnx_write_begin();
    onnx_write_node(w, "Add", "one", "x,b", "a");
    onnx_write_node(w, "Relu", "two", "a", "b");
    onnx_write_node(w, "Relu", "three", "a", "y");
    refuse(w, "(Add) needs its own output: a cycle");
    w = onnx_write_begin();
    onnx_write_node(w, "Relu", "self", "y", "y");
    refuse(w, "node 'self' (Relu) needs its own output: a cycle");
    w = onnx_write_begin();
    onnx_write_node(w, "Relu", "lost", "nothing", "y");
    refuse(w, "node 'lost' (Relu): nothing makes its input 'nothing'");
    w = onnx_write_begin();
    onnx_write_node(w, "Relu", "one", "x", "y");
    onnx_write_node(w, "Neg", "two", "x", "y");
    refuse(w, "node 'two': its output 'y' is made by one, too");
    w = onnx_write_begin();
    onnx_write_node(w, "Relu", "one", "x", "x");
    refuse(w, "its output 'x' is made by an input, too");
    refuse(onnx_write_begin(), "nothing makes its output 'y'");
    w = onnx_write_begin();
    onnx_write_node(w, "", "idle", "x", "y");
    refuse(w, "node 1 ('idle') has no operator");
}

/* Printed names have no control characters and are UTF-8. Names of values stay distinct. */
static void names_can_be_printed(void)
{
    struct onnx_writer *w = onnx_write_begin();
    struct onnx_graph *g;

    onnx_write_node(w, "Relu", "a\x1b[31m\n\xc3\xa9", "x", "v\x1b");
    onnx_write_node(w, "Relu", "b\xff\xc2\x9b\xed\xa0\x80", "v\x1b", "v\x07");
    onnx_write_node(w, "Relu\x1b", "\xe2\x82\xac", "v\x07", "y");
    g = onnx_written_as(w, NULL);
    CU_ASSERT_STRING_EQUAL(g->node[0].name, "a?[31m?\xc3\xa9");
    CU_ASSERT_STRING_EQUAL(g->node[1].name, "b??"
                                            "????");
    CU_ASSERT_STRING_EQUAL(g->node[2].name, "\xe2\x82\xac");
    CU_ASSERT_STRING_EQUAL(g->node[2].op, "Relu?");
    test_check(!strncmp(onnx_out(g, &g->node[0], 0)->name, "v?_", 3) &&
                   strcmp(onnx_out(g, &g->node[0], 0)->name, onnx_out(g, &g->node[1], 0)->name),
               "'%s' and '%s'", onnx_out(g, &g->node[0], 0)->name, onnx_out(g, &g->node[1], 0)->name);
    onnx_free(g);
}

/* The message names a type that runs as a second type; scalars and folded constants are not named. */
static void types_that_run_as_others_are_said(void)
{
    static const struct {
        int32_t type;
        const char *says;
    } lines[] = { { ONNX_FLOAT, "" },
                  { ONNX_INT32, "" },
                  { ONNX_FLOAT16, "Elements of float16 in the file run as float (fp32) here." },
                  { ONNX_BFLOAT16, "Elements of bfloat16 in the file run as float (fp32) here." },
                  { ONNX_DOUBLE, "Elements of double in the file run as float (fp32) here." } };

    for (size_t i = 0; i < COUNT(lines); i++) {
        struct onnx_writer *w = onnx_write_begin();
        struct onnx_graph *g;
        char text[200];

        onnx_writer_model(w)->graph->input[0]->type->tensor_type->elem_type = lines[i].type;
        onnx_write_node(w, "Identity", "", "x", "y");
        g = onnx_written_as(w, NULL);
        onnx_say_types(g, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, lines[i].says);
        onnx_free(g);
    }
}

static void opsets_are_those_that_are_read(void)
{
    for (int64_t opset = ONNX_OLDEST_OPSET - 1; opset <= ONNX_NEWEST_OPSET + 2; opset++) {
        struct onnx_writer *w = onnx_write_small();
        char says[80];

        onnx_writer_model(w)->opset_import[0]->version = opset;
        snprintf(says, sizeof says, "opset %lld, and 1 to 24 are read; onnx.version_converter", (long long)opset);
        if (opset < 1 || opset > 24)
            refuse(w, says);
        else
            onnx_free(onnx_written_as(w, NULL));
    }
}

/* "ai.onnx" is another name of the standard operators; two opsets of the standard operators are a contradiction. */
static void one_opset_counts(void)
{
    struct onnx_writer *w = onnx_write_small();
    Onnx__ModelProto *m = onnx_writer_model(w);
    Onnx__OperatorSetIdProto *second = exp_new(1, sizeof *second);

    onnx__operator_set_id_proto__init(second);
    second->domain = exp_copy_text("ai.onnx");
    second->has_version = 1;
    second->version = 11;
    m->opset_import = exp_resize(m->opset_import, 2, sizeof *m->opset_import);
    m->opset_import[m->n_opset_import++] = second;
    refuse(w, "it says opset 13 and opset 11");
}

/* ---- constants ---- */

/* A network with one initializer, whose fields the test fills. */
static Onnx__TensorProto *begin_constant(struct onnx_writer **w, int32_t type, int64_t n)
{
    Onnx__TensorProto *t;

    *w = onnx_writer_new("constant", 13);
    onnx_write_int64s(*w, "k", 0, NULL);
    onnx_write_node(*w, "Identity", "same", "k", "y");
    onnx_write_output(*w, "y", 1, &n);
    t = onnx_writer_model(*w)->graph->initializer[0];
    t->data_type = type;
    t->dims[0] = n;
    return t;
}

static void set_raw(Onnx__TensorProto *t, const void *data, size_t bytes)
{
    free(t->raw_data.data);
    t->has_raw_data = 1;
    t->raw_data.data = exp_copy_bytes(data, bytes, 1);
    t->raw_data.len = bytes;
}

static void check_constant(struct onnx_writer *w, enum onnx_type type, size_t n, const double *expected)
{
    struct onnx_graph *g = onnx_written_as(w, NULL);
    const struct onnx_value *v = onnx_value_named(g, "y");

    CU_ASSERT_TRUE(v->type == type && v->elements == n && v->bytes == n * onnx_type_bytes(type));
    CU_ASSERT_EQUAL((uintptr_t)v->data % 16, 0);
    for (size_t i = 0; i < n && v->elements == n; i++)
        test_check(onnx_element(v, i) == expected[i] || (isnan(expected[i]) && isnan(onnx_element(v, i))),
                   "%s: element %zu is %g, not %g", onnx_type_name(v->stored), i, onnx_element(v, i), expected[i]);
    CU_ASSERT_TRUE(g->node[0].is_folded);
    onnx_free(g);
}

/* Types with few bits have names; a constant of a small type has a shape and no elements. */
static void small_types_have_names(void)
{
    for (int32_t type = ONNX_FLOAT8E4M3FN; type <= ONNX_INT2; type++) {
        struct onnx_writer *w;
        Onnx__TensorProto *t = begin_constant(&w, type, 4);
        struct onnx_graph *g;

        set_raw(t, (const uint8_t[]){ 1, 2, 3, 4 }, 4);
        g = onnx_written_as(w, NULL);
        test_check(onnx_value_named(g, "k")->stored == (enum onnx_type)type &&
                       !onnx_is_constant(onnx_value_named(g, "k")) &&
                       strcmp(onnx_type_name((enum onnx_type)type), "unknown"),
                   "type %d", (int)type);
        onnx_free(g);
    }
}

static void raw_constants_have_all_types(void)
{
    static const struct {
        enum onnx_type stored, type;
        uint8_t raw[16];
        double expected[2];
    } cases[] = {
        { ONNX_FLOAT, ONNX_FLOAT, { 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0 }, { 1, -2 } },
        { ONNX_FLOAT16, ONNX_FLOAT, { 0, 0x3c, 1, 0x80 }, { 1, -0x1p-24 } },
        { ONNX_FLOAT16, ONNX_FLOAT, { 0xff, 0x7b, 0, 0xfc }, { 65504, -(double)INFINITY } },
        { ONNX_FLOAT16, ONNX_FLOAT, { 0, 0x7e, 0, 0x04 }, { (double)NAN, 0x1p-14 } },
        { ONNX_BFLOAT16, ONNX_FLOAT, { 0x80, 0x3f, 0, 0xc0 }, { 1, -2 } },
        { ONNX_DOUBLE, ONNX_FLOAT, { [6] = 0xf0, 0x3f, [15] = 0xc0 }, { 1, -2 } },
        { ONNX_INT8, ONNX_INT8, { 0xff, 3 }, { -1, 3 } },
        { ONNX_UINT8, ONNX_UINT8, { 0xff, 3 }, { 255, 3 } },
        { ONNX_BOOL, ONNX_BOOL, { 7, 0 }, { 1, 0 } },
        { ONNX_INT16, ONNX_INT16, { 0xff, 0xff, 3, 1 }, { -1, 259 } },
        { ONNX_UINT16, ONNX_UINT16, { 0xff, 0xff, 3, 1 }, { 65535, 259 } },
        { ONNX_INT32, ONNX_INT32, { 0xff, 0xff, 0xff, 0xff, 9 }, { -1, 9 } },
        { ONNX_UINT32, ONNX_UINT32, { 0xff, 0xff, 0xff, 0xff, 9 }, { 4294967295, 9 } },
        { ONNX_INT64, ONNX_INT64, { [1] = 1, [8] = 5 }, { 256, 5 } },
        { ONNX_UINT64, ONNX_UINT64, { [1] = 1, [8] = 5 }, { 256, 5 } },
    };
    struct onnx_writer *w;

    for (size_t i = 0; i < COUNT(cases); i++) {
        set_raw(begin_constant(&w, (int32_t)cases[i].stored, 2), cases[i].raw, 2 * onnx_type_bytes(cases[i].stored));
        check_constant(w, cases[i].type, 2, cases[i].expected);
    }
}

/* Begins a constant of two elements without raw data. */
static Onnx__TensorProto *begin_typed(struct onnx_writer **w, enum onnx_type type)
{
    Onnx__TensorProto *t = begin_constant(w, (int32_t)type, 2);

    t->has_raw_data = 0;
    return t;
}

static void constants_may_be_in_fields_of_their_types(void)
{
    static const double expected[] = { 3, 2 };
    static const enum onnx_type in_int32[] = { ONNX_INT32, ONNX_INT16, ONNX_UINT16, ONNX_INT8, ONNX_UINT8 };
    struct onnx_writer *w;
    Onnx__TensorProto *t;

    t = begin_typed(&w, ONNX_FLOAT);
    t->float_data = exp_copy_bytes((float[]){ 3, 2 }, t->n_float_data = 2, sizeof(float));
    check_constant(w, ONNX_FLOAT, 2, expected);
    t = begin_typed(&w, ONNX_DOUBLE);
    t->double_data = exp_copy_bytes((double[]){ 3, 2 }, t->n_double_data = 2, sizeof(double));
    check_constant(w, ONNX_FLOAT, 2, expected);
    t = begin_typed(&w, ONNX_INT64);
    t->int64_data = exp_copy_bytes((int64_t[]){ 3, 2 }, t->n_int64_data = 2, sizeof(int64_t));
    check_constant(w, ONNX_INT64, 2, expected);
    t = begin_typed(&w, ONNX_UINT32);
    t->uint64_data = exp_copy_bytes((uint64_t[]){ 3, 2 }, t->n_uint64_data = 2, sizeof(uint64_t));
    check_constant(w, ONNX_UINT32, 2, expected);
    for (size_t i = 0; i < COUNT(in_int32); i++) {
        t = begin_typed(&w, in_int32[i]);
        t->int32_data = exp_copy_bytes((int32_t[]){ 3, 2 }, t->n_int32_data = 2, sizeof(int32_t));
        check_constant(w, in_int32[i], 2, expected);
    }
    t = begin_typed(&w, ONNX_FLOAT16);
    t->int32_data = exp_copy_bytes((int32_t[]){ 0x4200, 0x4000 }, t->n_int32_data = 2, sizeof(int32_t));
    check_constant(w, ONNX_FLOAT, 2, expected);
}

static void constants_of_the_wrong_size_are_refused(void)
{
    struct onnx_writer *w;
    Onnx__TensorProto *t;

    set_raw(begin_constant(&w, ONNX_FLOAT, 2), "1234567", 7);
    refuse(w, "initializer 'k': shape 2 of float is 8 bytes, and its raw_data has 7");
    set_raw(begin_constant(&w, ONNX_FLOAT, INT64_C(1) << 30), "1234", 4);
    refuse(w, "shape 1073741824 of float is 4294967296 bytes, and its raw_data has 4");
    begin_typed(&w, ONNX_INT64);
    refuse(w, "shape 2 of int64 is 2 elements, and its int64_data has 0");
    set_raw(begin_constant(&w, ONNX_FLOAT, -2), "1234", 4);
    refuse(w, "its shape -2 has a negative dimension");
    set_raw(begin_constant(&w, ONNX_FLOAT, INT64_MAX), "1234", 4);
    onnx_refused(onnx_written(w, "net.onnx"), NULL, -EOVERFLOW, "its shape 9223372036854775807 is too large");
    set_raw(begin_constant(&w, 77, 1), "1234", 4);
    refuse(w, "elements of type 77 are not known");
    t = begin_constant(&w, ONNX_FLOAT, 1);
    free(t->dims);
    t->dims = exp_new(t->n_dims = ONNX_MAX_DIMS + 1, sizeof *t->dims);
    refuse(w, "9 dimensions, and at most 8 are read");
}

/* ---- data beside the file ---- */

static void add_entry(Onnx__TensorProto *t, const char *key, const char *value)
{
    Onnx__StringStringEntryProto *e = exp_new(1, sizeof *e);

    onnx__string_string_entry_proto__init(e);
    e->key = strdup(key);
    e->value = strdup(value);
    memcpy(exp_append(&t->external_data, &t->n_external_data, sizeof e), &e, sizeof e);
}

static struct onnx_writer *begin_external(const char *location, const char *offset, const char *length)
{
    struct onnx_writer *w;
    Onnx__TensorProto *t = begin_constant(&w, ONNX_FLOAT, 2);

    t->has_data_location = 1;
    t->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    if (location)
        add_entry(t, "location", location);
    if (offset)
        add_entry(t, "offset", offset);
    if (length)
        add_entry(t, "length", length);
    return w;
}

static void data_may_lie_beside_the_file(void)
{
    static const float data[] = { 9, 3, 2, 7, 5, 6 };
    char *scratch;

    scratch = strdup(scratch_path("."));
    scratch_write("data.bin", data, sizeof data);
    check_constant(begin_external("data.bin", "4", "8"), ONNX_FLOAT, 2, (double[]){ 3, 2 });
    check_constant(begin_external("./data.bin", "16", NULL), ONNX_FLOAT, 2, (double[]){ 5, 6 });
    refuse(begin_external("data.bin", "4", NULL), "is 8 bytes, and its external data has 20");
    refuse(begin_external("data.bin", "20", "8"), "offset 20 and length 8, in 24 bytes");
    refuse(begin_external("data.bin", "-4", "8"), "offset -4 and length 8");
    refuse(begin_external("data.bin", "99999999999999999999", "8"), "offset 99999999999999999999");
    refuse(begin_external(NULL, "4", "8"), "external data without a location");
    refuse(begin_external("../data.bin", NULL, NULL), "external data '../data.bin': not in the folder of the network");
    refuse(begin_external("a/../../data.bin", NULL, NULL), "not in the folder of the network");
    refuse(begin_external("/etc/passwd", NULL, NULL), "external data '/etc/passwd': not in the folder");
    CU_ASSERT_EQUAL(symlink("/etc/passwd", scratch_path("link.bin")), 0);
    refuse(begin_external("link.bin", NULL, NULL), "external data 'link.bin': not in the folder");
    onnx_refused(onnx_written(begin_external("none.bin", NULL, NULL), "net.onnx"), NULL, -ENOENT,
                 "'none.bin': No such file");
    free(scratch);
}

/*
 * Makes a cache in huggingface_hub's layout: snapshots/1/onnx has links to blobs, for the network's file and its data.
 */
static char *lay_cache(const char *data_leads_to)
{
    static const float data[] = { 9, 3 };
    char *model = exp_copy_text(onnx_written(begin_external("model.onnx_data", "0", "8"), "model"));

    CU_ASSERT_EQUAL(mkdir(scratch_path("cache"), 0700), 0);
    CU_ASSERT_EQUAL(mkdir(scratch_path("cache/blobs"), 0700), 0);
    CU_ASSERT_EQUAL(mkdir(scratch_path("cache/snapshots"), 0700), 0);
    CU_ASSERT_EQUAL(mkdir(scratch_path("cache/snapshots/1"), 0700), 0);
    CU_ASSERT_EQUAL(mkdir(scratch_path("cache/snapshots/1/onnx"), 0700), 0);
    CU_ASSERT_EQUAL(rename(model, scratch_path("cache/blobs/aaaa")), 0);
    scratch_write("cache/blobs/bbbb", data, sizeof data);
    scratch_write("cache/beside", data, sizeof data);
    scratch_write("outside", data, sizeof data);
    CU_ASSERT_EQUAL(symlink("../../../blobs/aaaa", scratch_path("cache/snapshots/1/onnx/model.onnx")), 0);
    CU_ASSERT_EQUAL(symlink(data_leads_to, scratch_path("cache/snapshots/1/onnx/model.onnx_data")), 0);
    free(model);
    return exp_copy_text(scratch_path("cache/snapshots/1/onnx/model.onnx"));
}

/*
 * Links stay in the folder. Links of a cache are followed if the options ask for links, and only to the cache's blobs.
 */
static void links_of_a_cache_are_followed_if_asked(void)
{
    static const struct {
        const char *leads_to, *says, *says_if_asked; /* NULL: the network is read */
    } lines[] = {
        { "../../../blobs/bbbb", "a link leads out; LINKS=yes follows it", NULL },
        { "../../../blobs/../blobs/bbbb", "a link leads out; LINKS=yes follows it", NULL },
        { "../../../beside", "a link leads out; put a copy", "a link leads out; put a copy" },
        { "../../../../outside", "put a copy in its place (cp -L)", "put a copy in its place (cp -L)" },
        { "/etc/passwd", "put a copy", "put a copy" },
        { "/proc/self/environ", "put a copy", "put a copy" },
        { "../../../blobs/none", "No such file", "No such file" },
        { "../../../blobs", "a link leads out", "a link leads out" },
    };

    for (size_t i = 0; i < COUNT(lines); i++) {
        const struct onnx_ask ask = { .links = true };
        const int err = strstr(lines[i].says, "No such") ? -ENOENT : -EINVAL;
        struct onnx_graph *g;
        struct exp_why why;
        char *path;

        path = lay_cache(lines[i].leads_to);
        onnx_refused(path, NULL, err, lines[i].says);
        if (lines[i].says_if_asked)
            onnx_refused(path, &ask, err, lines[i].says_if_asked);
        else if (test_check(!onnx_read(&g, path, &ask, &why), "%s: %s", lines[i].leads_to, why.text))
            onnx_free(g);
        free(path);
        scratch_clear();
    }
}

/* The message is of the data's file, not of the network's. */
static void refused_with_links(const char *path, const char *says)
{
    struct onnx_graph *g;
    struct exp_why why = { "" };

    test_check(onnx_read(&g, path, &(struct onnx_ask){ .links = true }, &why) == -EINVAL && strstr(why.text, says),
               "'%s', not '%s'", why.text, says);
}

/* A blob must not be a link, a folder, a pipe or a name with "..". */
static void a_cache_is_no_way_out(void)
{
    const struct onnx_ask ask = { .links = true };
    char *path;

    path = lay_cache("../../../blobs/bbbb");
    CU_ASSERT_EQUAL(rename(scratch_path("cache/blobs"), scratch_path("elsewhere")), 0);
    CU_ASSERT_EQUAL(symlink("../elsewhere", scratch_path("cache/blobs")), 0);
    onnx_refused(path, &ask, -EINVAL, "a link leads out; put a copy");
    free(path);
    scratch_clear();
    path = lay_cache("../../../blobs/folder");
    CU_ASSERT_EQUAL(mkdir(scratch_path("cache/blobs/folder"), 0700), 0);
    refused_with_links(path, "not a file");
    CU_ASSERT_EQUAL(rmdir(scratch_path("cache/blobs/folder")), 0);
    CU_ASSERT_EQUAL(mkfifo(scratch_path("cache/blobs/folder"), 0600), 0);
    refused_with_links(path, "not a file");
    free(path);
    onnx_refused(onnx_written(begin_external("../outside", NULL, NULL), "net.onnx"), &ask, -EINVAL,
                 "'../outside': not in the folder of the network");
}

/* ---- files that are no network ---- */

static void what_is_no_network_is_refused(void)
{
    onnx_refused(scratch_text("empty.onnx", ""), NULL, -EINVAL, "the file is empty");
    onnx_refused(scratch_path("."), NULL, -EINVAL, "not a file");
    onnx_refused(scratch_path("none.onnx"), NULL, -ENOENT, "No such file");
    onnx_refused(scratch_write("ir.onnx", "\x08\x07", 2), NULL, -EINVAL, "there is no network in it");
    onnx_refused(scratch_write("twice.onnx", "\x3a\x00\x3a\x00", 4), NULL, -EINVAL, "a message that stands twice");
    onnx_refused(scratch_write("long.onnx", "\x3a\x7f", 2), NULL, -EINVAL, "a field longer than what is left");
    onnx_refused(scratch_write("wire.onnx", "\x0f", 1), NULL, -EINVAL, "a field of an unknown kind");
    onnx_refused(scratch_write("type.onnx", "\x3d\0\0\0\0", 5), NULL, -EINVAL, "a field has the type of another");
}

/* Files that users may give in place of a network: the message names the kind of file, and says what to do. */
static void other_files_are_named(void)
{
#define FILE_OF(bytes, says)                                                                                           \
    {                                                                                                                  \
        bytes, sizeof bytes - 1, says                                                                                  \
    }
    static const struct {
        const char *bytes;
        size_t n;
        const char *says;
    } files[] = {
        FILE_OF("version https://git-lfs.github.com/spec/v1\noid sha256:12\n", "Git LFS: 'git lfs pull'"),
        FILE_OF("/annex/objects/SHA256E-s9--1.onnx\n", "git-annex"),
        FILE_OF("<!DOCTYPE html>", "a page of HTML"),
        FILE_OF("\xef\xbb\xbf\r\n <!doctype HTML>", "a page of HTML"),
        FILE_OF("<HTML><body>", "a page of HTML"),
        FILE_OF("<?xml version=\"1.0\"?>", "XML"),
        FILE_OF("{\"error\": 1}", "JSON"),
        FILE_OF("../../../blobs/aaaa", "the path of another file"),
        FILE_OF("name,in_c,in_h\nc,1,2\n", "it is text"),
        FILE_OF("PK\3\4\24\0\0\0", "a zip archive, as PyTorch's .pt"),
        FILE_OF("\x1f\x8b\x08\0\0\0", "compressed by gzip: unpack it"),
        FILE_OF("BZh91AY&SY", "bzip2"),
        FILE_OF("\xfd\x37zXZ\0", "xz"),
        FILE_OF("\x28\xb5\x2f\xfd\4\0", "zstd"),
        FILE_OF("\x80\2}q\0", "a pickle of Python"),
        FILE_OF("\x89HDF\r\n\x1a\n", "HDF5"),
        FILE_OF("\x1c\0\0\0TFL3\0\0", "TensorFlow Lite"),
        FILE_OF("\x1c\0\0\0ORTM\0\0", "ONNX Runtime's own format"),
        FILE_OF("\x40\0\0\0\0\0\0\0{\"w\":{}}", "safetensors"),
        FILE_OF("GGUF\3\0\0\0", "GGUF"),
        FILE_OF("\x93NUMPY\1\0", "NumPy"),
        FILE_OF("\x7f\x45LF\2\1", "a program or a library"),
        FILE_OF("\x0a\x18\x0a\x01x\x12\x0bPlaceholder\x3a\0", "a graph of TensorFlow"),
        FILE_OF("\x08\x01\x12\x0fsaved_model_abc", "there is no network in it; it looks like a graph of TensorFlow"),
    };

    for (size_t i = 0; i < COUNT(files); i++)
        onnx_refused(scratch_write("other.onnx", files[i].bytes, files[i].n), NULL, -EINVAL, files[i].says);
}

/* The weights beside a network may be a pointer as well: a clone without Git LFS has both. */
static void pointers_in_place_of_weights_are_named(void)
{
    scratch_text("data.bin", "version https://git-lfs.github.com/spec/v1\n");
    refuse(begin_external("data.bin", "4", "80"), "length 80, in 43 bytes; it is a pointer of Git LFS");
    refuse(begin_external("data.bin", "0", NULL), "has 43; it is a pointer of Git LFS");
}

static void tar_archives_are_named(void)
{
    char tar[512] = "model.onnx";

    memcpy(tar + 257, "ustar", 5);
    onnx_refused(scratch_write("other.onnx", tar, sizeof tar), NULL, -EINVAL, "it is a tar archive");
}

/* An optional graph in an attribute of a node of a graph, and so on: each level takes five bytes at most. */
static void deep_nesting_is_refused(void)
{
    enum { LEVELS = 2000, ROOM = 64 * LEVELS };
    uint8_t *deep = malloc(ROOM), *at = deep + ROOM;
    size_t bytes = 0;

    /* From inside out: a field of a graph (7 in a model, 6 in an attribute), of an attribute (5), of a node (1). */
    for (unsigned i = 0; i < 3 * LEVELS; i++) {
        const uint8_t tag = (uint8_t)((i == 3 * LEVELS - 1 ? 7 : (const uint8_t[]){ 5, 1, 6 }[i % 3]) << 3 | 2);
        uint8_t head[6] = { tag };
        size_t n = 1;

        for (size_t left = bytes; n == 1 || left; left >>= 7)
            head[n++] = (uint8_t)((left & 0x7f) | (left >> 7 ? 0x80 : 0));
        at -= n;
        memcpy(at, head, n);
        bytes += n;
    }
    onnx_refused(scratch_write("deep.onnx", at, bytes), NULL, -EINVAL, "messages nested more than 64 deep");
    free(deep);
}

/* Reads a file written by a test. */
static uint8_t *bytes_of(const char *path, size_t *n)
{
    char *text;
    struct exp_why why;

    CU_ASSERT_EQUAL_FATAL(exp_text_read(&text, n, path, &why), 0);
    return (uint8_t *)text;
}

static void a_network_cut_anywhere_is_read_or_refused(void)
{
    uint8_t *whole;
    size_t n;

    whole = bytes_of(onnx_written(onnx_write_small(), "net.onnx"), &n);
    for (size_t i = 0; i < n; i++)
        test_check(fuzz_onnx(whole, i), "the first %zu of %zu bytes", i, n);
    free(whole);
}

static void bytes_changed_anywhere_are_read_or_refused(void)
{
    uint8_t *whole, *changed;
    size_t n;

    whole = bytes_of(onnx_written(onnx_write_small(), "net.onnx"), &n);
    for (unsigned round = 0; round < test_rounds(1000); round++) {
        changed = exp_copy_bytes(whole, n, 1);
        for (unsigned i = 0; i < 1 + rng_below(3); i++)
            changed[rng_below((unsigned)n)] = (uint8_t)rng_below(256);
        test_check(fuzz_onnx(changed, n), "round %u", round);
        free(changed);
    }
    free(whole);
}

static void the_official_tests_are_read(void)
{
    glob_t g = { 0 };
    size_t n = 0;

    if (glob("/usr/share/libonnx-testdata/data/*/*/model.onnx", 0, NULL, &g)) {
        test_skip("libonnx-testdata is not installed");
        return;
    }
    for (size_t i = 0; i < g.gl_pathc; i++) {
        size_t bytes;
        uint8_t *data = bytes_of(g.gl_pathv[i], &bytes);

        n += fuzz_onnx(data, bytes);
        free(data);
    }
    test_check(n >= 1072 && n == g.gl_pathc, "%zu of %zu", n, g.gl_pathc);
    globfree(&g);
}

static const struct test_case cases[] = {
    { "a graph has values and nodes", a_graph_has_values_and_nodes },
    { "nodes stand behind what they need", nodes_stand_behind_what_they_need },
    { "what makes no network is named", what_makes_no_network_is_named },
    { "names can be printed", names_can_be_printed },
    { "types that run as others are said", types_that_run_as_others_are_said },
    { "small types have names", small_types_have_names },
    { "opsets are those that are read", opsets_are_those_that_are_read },
    { "one opset counts", one_opset_counts },
    { "raw constants have all types", raw_constants_have_all_types },
    { "constants may be in fields of their types", constants_may_be_in_fields_of_their_types },
    { "constants of the wrong size are refused", constants_of_the_wrong_size_are_refused },
    { "data may lie beside the file", data_may_lie_beside_the_file },
    { "links of a cache are followed if asked", links_of_a_cache_are_followed_if_asked },
    { "a cache is no way out", a_cache_is_no_way_out },
    { "what is no network is refused", what_is_no_network_is_refused },
    { "other files are named", other_files_are_named },
    { "pointers in place of weights are named", pointers_in_place_of_weights_are_named },
    { "tar archives are named", tar_archives_are_named },
    { "deep nesting is refused", deep_nesting_is_refused },
    { "a network cut anywhere is read or refused", a_network_cut_anywhere_is_read_or_refused },
    { "bytes changed anywhere are read or refused", bytes_changed_anywhere_are_read_or_refused },
    { "the official tests are read", the_official_tests_are_read },
    { NULL, NULL },
};

const struct test_suite suite_onnx = { "onnx", cases };
