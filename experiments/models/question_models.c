/*
 * The paper's seven networks as ONNX files. The folder paper/ has their graphs, with the convolutions of the layer
 * tables, and nodes (ConstantOfShape) in the places of the weights; seeded random weights take these places.
 */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/base/outdir.h"
#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/course/options_shared.h"

#include "onnx.pb-c.h" /* made of Debian's onnx.proto when it is built */

struct options {
    const char *model, *to;
    unsigned batch, seed;
    unsigned weights; /* LEFT_OUT: nodes make zeros (ConstantOfShape), in files of some kilobytes */
};

enum weights { RANDOM, LEFT_OUT };

/* ---- weights ---- */

/* One step of SplitMix64 (Steele, Lea and Flood, 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Returns the kind of a weight: the name's end behind the last slash. */
static const char *kind_of(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? slash + 1 : name;
}

/*
 * Tells whether a scale belongs to the last batch normalisation of a residual block: the first input of an addition.
 * The scale is small, as after training: sums do not grow from block to block.
 */
static bool ends_block(const Onnx__GraphProto *g, const char *scale)
{
    const size_t length = (size_t)(kind_of(scale) - scale);

    for (size_t i = 0; i < g->n_node; i++) {
        if (!strcmp(g->node[i]->op_type, "Add") && !strncmp(g->node[i]->input[0], scale, length) &&
            !strcmp(g->node[i]->input[0] + length, "bn"))
            return true;
    }
    return false;
}

/* Uniform random numbers from low to high. */
struct range {
    float low, high;
};

/* Returns the range of a weight. Sums of products stay as large as their inputs (He, 2015). */
static struct range range_of(const Onnx__GraphProto *g, const char *name, const int64_t *dim, size_t n_dims)
{
    const char *kind = kind_of(name);
    const float scale = !strcmp(kind, "scale") && ends_block(g, name) ? 0.25F : 1;
    size_t products = 1;
    float most;

    if (!strcmp(kind, "scale"))
        return (struct range){ 0.75F * scale, 1.25F * scale };
    if (!strcmp(kind, "variance"))
        return (struct range){ 0.5F, 1.5F };
    if (strcmp(kind, "weights") != 0)
        return (struct range){ -0.1F, 0.1F };
    for (size_t i = 1; i < n_dims; i++)
        products *= (size_t)dim[i];
    most = sqrtf(6 / (float)products);
    return (struct range){ -most, most };
}

/* Turns the shape of a weight, a tensor of whole numbers, into the weight: random numbers of its name and the seed. */
static void fill(Onnx__TensorProto *t, const Onnx__GraphProto *g, const char *name, unsigned seed)
{
    const size_t n_dims = t->raw_data.len / sizeof *t->dims;
    int64_t *dim = exp_copy_bytes(t->raw_data.data, n_dims, sizeof *dim);
    const struct range r = range_of(g, name, dim, n_dims);
    uint64_t state = exp_hash_bytes(seed, name, strlen(name));
    size_t elements = 1;
    float *data;

    for (size_t i = 0; i < n_dims; i++)
        elements *= (size_t)dim[i];
    data = exp_new(elements, sizeof *data);
    for (size_t i = 0; i < elements; i++)
        data[i] = r.low + (r.high - r.low) * (float)(next_random(&state) >> 40) * 0x1p-24F;
    free(t->raw_data.data);
    free(t->dims);
    free(t->name);
    t->raw_data = (ProtobufCBinaryData){ elements * sizeof *data, (uint8_t *)data };
    t->dims = dim;
    t->n_dims = n_dims;
    t->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    t->name = exp_copy_text(name);
}

/* Fills the graph's weights, and removes the nodes in their places. The initializers are the nodes' shapes, in order. */
static void fill_all(Onnx__GraphProto *g, unsigned seed)
{
    size_t n_filled = 0, n_left = 0;

    for (size_t i = 0; i < g->n_node; i++) {
        if (!strcmp(g->node[i]->op_type, "ConstantOfShape")) {
            assert(n_filled < g->n_initializer && !strcmp(g->initializer[n_filled]->name, g->node[i]->input[0]));
            fill(g->initializer[n_filled++], g, g->node[i]->name, seed);
        }
    }
    for (size_t i = 0; i < g->n_node; i++) {
        if (!strcmp(g->node[i]->op_type, "ConstantOfShape"))
            protobuf_c_message_free_unpacked(&g->node[i]->base, NULL);
        else
            g->node[n_left++] = g->node[i];
    }
    g->n_node = n_left;
}

static void set_batch(Onnx__ValueInfoProto *v, size_t n)
{
    v->type->tensor_type->shape->dim[0]->dim_value = (int64_t)n;
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

/* Makes a folder and its parents. */
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

/* Reads the graph of a table, to be freed; NULL with a line in why: the table is none of the seven. */
static Onnx__ModelProto *read_graph(const struct exp_model *table, struct exp_why *why)
{
    enum { MOST_BYTES = 1 << 20 };
    char *path = exp_format("%s/models/paper/%s.onnx", EXP_EXPERIMENTS_DIR, table->name);
    char *usual = exp_format("%s/models/%s.csv", EXP_EXPERIMENTS_DIR, table->name);
    uint8_t *bytes = exp_new(MOST_BYTES, 1);
    FILE *in = strcmp(usual, table->path) ? NULL : exp_file_open(path);
    Onnx__ModelProto *m = in ? onnx__model_proto__unpack(NULL, fread(bytes, 1, MOST_BYTES, in), bytes) : NULL;

    if (!m)
        exp_fail(why, -EINVAL,
                 "MODEL: '%s' is none of the paper's seven: what stands between its convolutions is not known",
                 table->name);
    if (in)
        fclose(in);
    free(bytes);
    free(usual);
    free(path);
    return m;
}

/* Where protobuf-c writes: its own struct comes first. */
struct to_file {
    ProtobufCBuffer base;
    FILE *out;
};

static void put(ProtobufCBuffer *to, size_t n, const uint8_t *bytes)
{
    fwrite(bytes, 1, n, ((struct to_file *)(void *)to)->out);
}

static int print_model(void *model, FILE *out)
{
    struct to_file to = { { put }, out };

    protobuf_c_message_pack_to_buffer(&((const Onnx__ModelProto *)model)->base, &to.base);
    return 0;
}

static int write_network(const struct session *s, const struct exp_model *table, struct exp_why *why)
{
    char *path = exp_format("%s/%s.onnx", s->options.to, table->name);
    Onnx__ModelProto *m = read_graph(table, why);
    int err = m ? 0 : -EINVAL;

    if (m) {
        set_batch(m->graph->input[0], table->layer->problem.n);
        set_batch(m->graph->output[0], table->layer->problem.n);
        if (s->options.weights == RANDOM)
            fill_all(m->graph, s->options.seed);
        err = exp_file_write(path, print_model, m, why);
        onnx__model_proto__free_unpacked(m, NULL);
    }
    if (!err)
        printf("%s\n", path);
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
    .prepares_from_files = true,
    .work = work,
};
