/*
 * The paper's seven networks as ONNX files: their convolutions are the rows of the layer tables, and between them stand
 * pooling, batch norm, ReLU, LRN, additions, concatenations and the classifier as the real networks have them.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/base/outdir.h"
#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/onnx/builder.h"

struct options {
    const char *model, *to;
    unsigned batch, seed;
    unsigned weights; /* LEFT_OUT: nodes make zeros (ConstantOfShape), in files of some kilobytes */
};

enum weights { RANDOM, LEFT_OUT };

enum { OPSET = 13, CLASSES = 1000 };

/* A network while it is made. A value has the name of the node that makes it. */
struct net {
    struct onnx_writer *w;
    const struct exp_model *table;
    const struct options *options;
    bool normalizes; /* batch norm behind each convolution, in place of a bias */
    char **name;     /* of the nodes */
    size_t n_names;
    size_t channels; /* of the last convolution or concatenation */
    float scale;     /* of a batch norm, about */
};

static const char *name_of(struct net *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

static const char *name_of(struct net *n, const char *format, ...)
{
    va_list args;
    char **name = exp_append(&n->name, &n->n_names, sizeof *name);

    va_start(args, format);
    *name = exp_format_list(format, args);
    va_end(args);
    return *name;
}

/* ---- weights ---- */

/* One step of SplitMix64 (Steele, Lea and Flood, 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Adds a node that makes a constant of zeros. Returns its name. */
static const char *add_zeros(struct net *n, const char *name, size_t n_dims, const int64_t *dim)
{
    const char *shape = name_of(n, "%s/shape", name);

    onnx_write_int64s(n->w, shape, n_dims, dim);
    onnx_write_node(n->w, "ConstantOfShape", name, shape, name);
    return name;
}

/* Adds an initializer of uniform random numbers; they follow from the seed and its name. Returns its name. */
static const char *add_weights(struct net *n, const char *name, size_t n_dims, const int64_t *dim, float low,
                               float high)
{
    uint64_t state = exp_hash_bytes(n->options->seed, name, strlen(name));
    size_t elements = 1;
    float *data;

    if (n->options->weights == LEFT_OUT)
        return add_zeros(n, name, n_dims, dim);
    for (size_t i = 0; i < n_dims; i++)
        elements *= (size_t)dim[i];
    data = exp_new(elements, sizeof *data);
    for (size_t i = 0; i < elements; i++)
        data[i] = low + (high - low) * (float)(next_random(&state) >> 40) * 0x1p-24F;
    onnx_write_floats(n->w, name, n_dims, dim, data);
    return name;
}

/* How large weights may be so that sums of so many products stay as large as what goes in (He, 2015). */
static float bound(size_t products)
{
    return sqrtf(6 / (float)products);
}

/* ---- nodes ---- */

static const char *add_unary(struct net *n, const char *op, const char *in, const char *suffix)
{
    const char *out = name_of(n, "%s/%s", in, suffix);

    onnx_write_node(n->w, op, out, in, out);
    return out;
}

static const char *add_relu(struct net *n, const char *in)
{
    return add_unary(n, "Relu", in, "relu");
}

static const char *add_norm(struct net *n, const char *in)
{
    const int64_t dim[] = { (int64_t)n->channels };
    const char *out = name_of(n, "%s/bn", in);
    const char *inputs = name_of(n, "%s,%s,%s,%s,%s", in,
                                 add_weights(n, name_of(n, "%s/scale", in), 1, dim, 0.75F * n->scale, 1.25F * n->scale),
                                 add_weights(n, name_of(n, "%s/shift", in), 1, dim, -0.1F, 0.1F),
                                 add_weights(n, name_of(n, "%s/mean", in), 1, dim, -0.1F, 0.1F),
                                 add_weights(n, name_of(n, "%s/variance", in), 1, dim, 0.5F, 1.5F));

    onnx_write_node(n->w, "BatchNormalization", out, inputs, out);
    return out;
}

static const char *add_conv(struct net *n, const struct exp_layer *l, const char *in)
{
    const struct conv_problem *p = &l->problem;
    const int64_t filters[] = { (int64_t)p->k, (int64_t)conv_group_channels(p), (int64_t)p->r, (int64_t)p->s };
    const float most = bound(conv_reduction(p));
    const char *weights = add_weights(n, name_of(n, "%s/weights", l->name), 4, filters, -most, most);
    const char *bias = n->normalizes ? "" : add_weights(n, name_of(n, "%s/bias", l->name), 1, filters, -0.1F, 0.1F);

    onnx_write_node(n->w, "Conv", l->name, name_of(n, "%s,%s%s%s", in, weights, *bias ? "," : "", bias), l->name);
    onnx_write_ints(n->w, "kernel_shape", 2, filters + 2);
    onnx_write_ints(n->w, "strides", 2, (int64_t[]){ (int64_t)p->stride_h, (int64_t)p->stride_w });
    onnx_write_ints(
        n->w, "pads", 4,
        (int64_t[]){ (int64_t)p->pad_top, (int64_t)p->pad_left, (int64_t)p->pad_bottom, (int64_t)p->pad_right });
    onnx_write_ints(n->w, "dilations", 2, (int64_t[]){ (int64_t)p->dilation_h, (int64_t)p->dilation_w });
    onnx_write_int(n->w, "group", (int64_t)p->groups);
    n->channels = p->k;
    return n->normalizes ? add_norm(n, l->name) : l->name;
}

static const char *add_conv_relu(struct net *n, const struct exp_layer *l, const char *in)
{
    return add_relu(n, add_conv(n, l, in));
}

/* Adds a pooling with square windows; those of 3 at stride 2 round up, as Caffe's do, unless they are padded. */
static const char *add_pool(struct net *n, const char *op, const char *in, int64_t kernel, int64_t stride, int64_t pad)
{
    const char *out = add_unary(n, op, in, "pool");

    onnx_write_ints(n->w, "kernel_shape", 2, (int64_t[]){ kernel, kernel });
    onnx_write_ints(n->w, "strides", 2, (int64_t[]){ stride, stride });
    onnx_write_ints(n->w, "pads", 4, (int64_t[]){ pad, pad, pad, pad });
    if (kernel == 3 && stride == 2 && !pad)
        onnx_write_int(n->w, "ceil_mode", 1);
    if (!strcmp(op, "AveragePool") && pad)
        onnx_write_int(n->w, "count_include_pad", 1);
    return out;
}

static const char *add_lrn(struct net *n, const char *in)
{
    const char *out = add_unary(n, "LRN", in, "norm");

    onnx_write_int(n->w, "size", 5);
    onnx_write_float(n->w, "alpha", 1e-4F);
    onnx_write_float(n->w, "beta", 0.75F);
    onnx_write_float(n->w, "bias", 1);
    return out;
}

static const char *add_full(struct net *n, const char *name, const char *in, size_t inputs, size_t outputs)
{
    const int64_t dim[] = { (int64_t)outputs, (int64_t)inputs };
    const float most = bound(inputs);
    const char *weights = add_weights(n, name_of(n, "%s/weights", name), 2, dim, -most, most);
    const char *bias = add_weights(n, name_of(n, "%s/bias", name), 1, dim, -0.1F, 0.1F);

    onnx_write_node(n->w, "Gemm", name, name_of(n, "%s,%s,%s", in, weights, bias), name);
    onnx_write_int(n->w, "transB", 1);
    return name;
}

static void end_with_softmax(struct net *n, const char *in)
{
    onnx_write_node(n->w, "Softmax", "prob", in, "prob");
    onnx_write_int(n->w, "axis", 1);
    onnx_write_output(n->w, "prob", 2, (int64_t[]){ (int64_t)n->table->layer->problem.n, CLASSES });
}

/* Ends a network whose planes are averaged, and then classified. */
static void end_with_classes(struct net *n, const char *pooled)
{
    end_with_softmax(n, add_full(n, "fc", add_unary(n, "Flatten", pooled, "flat"), n->channels, CLASSES));
}

/* ---- the networks ---- */

/* Tells whether the planes get smaller before layer i, though the convolution before it does not make them so. */
static bool is_pooled_before(const struct exp_model *m, size_t i)
{
    return i == m->n_layers || m->layer[i].problem.h < m->layer[i - 1].problem.p;
}

static void make_vgg(struct net *n)
{
    const struct exp_model *m = n->table;
    const char *x = "data";

    for (size_t i = 0; i < m->n_layers; i++) {
        x = add_conv_relu(n, &m->layer[i], x);
        if (is_pooled_before(m, i + 1))
            x = add_pool(n, "MaxPool", x, 2, 2, 0);
    }
    x = add_unary(n, "Flatten", x, "flat");
    x = add_unary(n, "Dropout", add_relu(n, add_full(n, "fc6", x, 7 * 7 * n->channels, 4096)), "dropout");
    x = add_unary(n, "Dropout", add_relu(n, add_full(n, "fc7", x, 4096, 4096)), "dropout");
    end_with_softmax(n, add_full(n, "fc8", x, 4096, CLASSES));
}

/* Returns how many letters of a name are those of its block: up to `end`. */
static size_t block_length(const char *name, char end)
{
    const char *at = strrchr(name, end);

    return at ? (size_t)(at - name) + 1 : strlen(name);
}

/* Returns the end of the block that begins with layer i: layers whose names begin alike. */
static size_t block_end(const struct exp_model *m, size_t i, char end)
{
    const char *name = m->layer[i].name;
    const size_t length = block_length(name, end);

    while (i < m->n_layers && !strncmp(m->layer[i].name, name, length) && block_length(m->layer[i].name, end) == length)
        i++;
    return i;
}

/*
 * Adds the convolutions of a residual block, and what goes past them. What the block adds is scaled down, as training
 * does: sums do not grow from block to block.
 */
static const char *add_residual(struct net *n, size_t begin, size_t end, const char *in)
{
    const struct exp_layer *l = n->table->layer;
    const bool has_down = exp_name_ends_in(l[end - 1].name, "_down");
    const size_t last = has_down ? end - 2 : end - 1;
    const char *x = in, *past = in, *sum = name_of(n, "%.*s", (int)block_length(l[begin].name, '_') - 1, l[begin].name);

    for (size_t i = begin; i < last; i++)
        x = add_conv_relu(n, &l[i], x);
    n->scale = 0.25F;
    x = add_conv(n, &l[last], x);
    n->scale = 1;
    if (has_down)
        past = add_conv(n, &l[end - 1], in);
    onnx_write_node(n->w, "Add", sum, name_of(n, "%s,%s", x, past), sum);
    return add_relu(n, sum);
}

static void make_resnet(struct net *n)
{
    const struct exp_model *m = n->table;
    const char *x;

    n->normalizes = true;
    x = add_pool(n, "MaxPool", add_conv_relu(n, m->layer, "data"), 3, 2, 1);
    for (size_t i = 1, end; i < m->n_layers; i = end) {
        end = block_end(m, i, '_');
        x = add_residual(n, i, end, x);
    }
    end_with_classes(n, add_unary(n, "GlobalAveragePool", x, "pool"));
}

static const char *add_concat(struct net *n, const char *name, const char *inputs)
{
    onnx_write_node(n->w, "Concat", name, inputs, name);
    onnx_write_int(n->w, "axis", 1);
    return name;
}

static const char *add_fire(struct net *n, const struct exp_layer *l, const char *in)
{
    const char *x = add_conv_relu(n, &l[0], in), *one = add_conv_relu(n, &l[1], x), *three = add_conv_relu(n, &l[2], x);

    return add_concat(n, name_of(n, "%.*s/concat", (int)strcspn(l->name, "/"), l->name),
                      name_of(n, "%s,%s", one, three));
}

static void make_squeezenet(struct net *n)
{
    const struct exp_model *m = n->table;
    const char *x = add_pool(n, "MaxPool", add_conv_relu(n, m->layer, "data"), 3, 2, 0);
    size_t i;

    for (i = 1; i + 3 < m->n_layers; i += 3) {
        x = add_fire(n, &m->layer[i], x);
        if (is_pooled_before(m, i + 3))
            x = add_pool(n, "MaxPool", x, 3, 2, 0);
    }
    x = add_conv_relu(n, &m->layer[i], add_unary(n, "Dropout", x, "dropout"));
    x = add_unary(n, "Flatten", add_unary(n, "GlobalAveragePool", x, "pool"), "flat");
    end_with_softmax(n, x);
}

/* ---- Inception ---- */

/* Returns the pooling of a module: BN-Inception averages, but in its last module. */
static const char *pooling_of(const struct net *n, const char *module)
{
    return n->normalizes && strncmp(module, "inception_5b", 12) != 0 ? "AveragePool" : "MaxPool";
}

/* Joins two texts by a comma. */
static const char *join(struct net *n, const char *list, const char *name)
{
    return *list ? name_of(n, "%s,%s", list, name) : name;
}

/* Adds a module: a branch begins at "1x1", at each "reduce" and at "pool_proj"; without that, planes are pooled. */
static const char *add_inception(struct net *n, size_t begin, size_t end, const char *in)
{
    const struct exp_layer *l = n->table->layer;
    const char *branches = "", *x = in;
    size_t channels = 0, i;

    for (i = begin; i < end; i++) {
        const bool ends = i + 1 == end || exp_name_ends_in(l[i + 1].name, "/1x1") ||
                          exp_name_ends_in(l[i + 1].name, "_reduce") || exp_name_ends_in(l[i + 1].name, "/pool_proj");

        if (exp_name_ends_in(l[i].name, "/pool_proj"))
            x = add_pool(n, pooling_of(n, l[i].name), in, 3, 1, 1);
        x = add_conv_relu(n, &l[i], x);
        if (!ends)
            continue;
        branches = join(n, branches, x);
        channels += l[i].problem.k;
        x = in;
    }
    if (!exp_name_ends_in(l[end - 1].name, "/pool_proj")) {
        branches = join(n, branches, add_pool(n, "MaxPool", in, 3, 2, 0));
        channels += l[begin].problem.c;
    }
    n->channels = channels;
    return add_concat(n, name_of(n, "%.*s/output", (int)strcspn(l[begin].name, "/"), l[begin].name), branches);
}

/* Adds the first three convolutions, with LRN where there is no batch norm. */
static const char *add_inception_stem(struct net *n)
{
    const struct exp_layer *l = n->table->layer;
    const char *x = add_pool(n, "MaxPool", add_conv_relu(n, &l[0], "data"), 3, 2, 0);

    if (!n->normalizes)
        x = add_lrn(n, x);
    x = add_conv_relu(n, &l[2], add_conv_relu(n, &l[1], x));
    if (!n->normalizes)
        x = add_lrn(n, x);
    return add_pool(n, "MaxPool", x, 3, 2, 0);
}

static void make_inception(struct net *n)
{
    const struct exp_model *m = n->table;
    const char *x = add_inception_stem(n);

    for (size_t i = 3, end; i < m->n_layers; i = end) {
        const bool pools = !exp_name_ends_in(m->layer[block_end(m, i, '/') - 1].name, "/pool_proj");

        end = block_end(m, i, '/');
        x = add_inception(n, i, end, x);
        if (end < m->n_layers && !pools && m->layer[end].problem.h < m->layer[i].problem.h)
            x = add_pool(n, "MaxPool", x, 3, 2, 0);
    }
    x = add_pool(n, "AveragePool", x, 7, 1, 0);
    end_with_classes(n, n->normalizes ? x : add_unary(n, "Dropout", x, "dropout"));
}

static void make_inception_v2(struct net *n)
{
    n->normalizes = true;
    make_inception(n);
}

/* ---- by name ---- */

static const struct {
    const char *name;
    void (*make)(struct net *n);
} networks[] = {
    { "googlenet", make_inception }, { "inceptionv2", make_inception_v2 }, { "resnet152", make_resnet },
    { "resnet18", make_resnet },     { "resnet50", make_resnet },          { "squeezenet", make_squeezenet },
    { "vgg16", make_vgg },
};

static void release(struct net *n)
{
    for (size_t i = 0; i < n->n_names; i++)
        free(n->name[i]);
    free(n->name);
}

/* Makes the network of a table; *w is to be released by onnx_writer_free. -EINVAL: it is none of the seven. */
static int make_network(struct onnx_writer **w, const struct exp_model *table, const struct options *options,
                        struct exp_why *why)
{
    const struct conv_problem *first = &table->layer->problem;
    struct net n = { .table = table, .options = options, .scale = 1 };
    size_t i = 0;

    *w = NULL;
    while (i < sizeof networks / sizeof networks[0] && strcmp(networks[i].name, table->name) != 0)
        i++;
    if (i == sizeof networks / sizeof networks[0])
        return exp_fail(why, -EINVAL,
                        "MODEL: '%s' is none of the paper's seven: what stands between its convolutions is not known",
                        table->name);
    n.w = *w = onnx_writer_new(table->name, OPSET);
    onnx_write_input(n.w, "data", 4,
                     (int64_t[]){ (int64_t)first->n, (int64_t)first->c, (int64_t)first->h, (int64_t)first->w });
    networks[i].make(&n);
    release(&n);
    return 0;
}

/* ---- the question ---- */

struct session {
    struct options options;
    struct exp_models models;
    struct exp_why why;
};

static int prepare(void *session)
{
    struct session *s = session;

    return exp_main_models(&s->models, s->options.model, &(struct exp_model_ask){ .batch = s->options.batch }, &s->why);
}

/* Makes a folder, and those that it lies in. */
static int make_folders(const char *path, struct exp_why *why)
{
    char *folder = exp_copy_text(path);
    int err = 0;

    for (char *slash = folder; slash && !err;) {
        slash = strchr(slash + 1, '/');
        if (slash)
            *slash = '\0';
        if (mkdir(folder, 0777) && errno != EEXIST)
            err = exp_fail(why, -errno, "%s: %s", folder, strerror(errno));
        if (slash)
            *slash = '/';
    }
    free(folder);
    return err;
}

static int write_network(const struct session *s, const struct exp_model *table, struct exp_why *why)
{
    char *path = exp_format("%s/%s.onnx", s->options.to, table->name);
    struct onnx_writer *w;
    int err = make_network(&w, table, &s->options, why);

    if (!err)
        err = exp_file_write(path, onnx_writer_print, w, why);
    if (!err)
        printf("%s\n", path);
    onnx_writer_free(w);
    free(path);
    return err;
}

static int work(void *session)
{
    struct session *s = session;
    int err = make_folders(s->options.to, &s->why);

    for (size_t i = 0; i < s->models.n && !err; i++)
        err = exp_interrupted() ? -EINTR : write_network(s, &s->models.model[i], &s->why);
    return err;
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_NAMES("MODEL", "names, comma-separated; all (default): the paper's seven", model, "all"),
    EXP_NUMBER("BATCH", "images at once (default 1)", batch, 0, 1, 1000000),
    EXP_NUMBER("SEED", "what the random weights follow from (default 1)", seed, 1, 1, 1000000000),
    EXP_WORD("WEIGHTS", "random (default); or none: nodes make zeros, as in the zoo's graphs, in some kilobytes",
             weights, RANDOM, "random", "none"),
    EXP_FOLDER("TO", "folder of the files (default results/onnx)", to, "results/onnx"),
    EXP_OPTIONS_END,
};

const struct exp_question question_models = {
    .name = "models",
    .asks = "Write the paper's seven networks as ONNX files, with seeded weights",
    .takes = "10 seconds, and 1 GB of disk for all seven; the same seed makes the same files.",
    .examples = { "make models", "make models MODEL=squeezenet SEED=7" },
    .options = options,
    EXP_SESSION(struct session),
    .models_at = offsetof(struct session, models),
    .prepare = prepare,
    .work = work,
};
