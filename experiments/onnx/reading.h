/* The reader's part of a graph. */
#ifndef EXPERIMENTS_ONNX_READING_H
#define EXPERIMENTS_ONNX_READING_H

#include "experiments/onnx/graph.h"

#include "onnx.pb-c.h" /* made of Debian's onnx.proto when it is built */

/* A file in memory. */
struct onnx_mapping {
    char *path;
    const uint8_t *at;
    size_t bytes;
};

/* Memory for the large fields of a message. */
struct onnx_block {
    uint8_t *at;
    size_t bytes, used;
};

struct onnx_reading {
    struct onnx_graph graph; /* first: onnx_free gets this */
    Onnx__ModelProto *model; /* names and raw data point into the message */
    struct onnx_block block;
    char *folder;       /* of the file: external data lie there */
    bool follows_links; /* of external data (struct onnx_ask) */
    const char *kind;   /* onnx_other_kind of the file */
    void **owned;
    size_t n_owned;
    struct onnx_mapping *mapping; /* of external data */
    size_t n_mappings;
    size_t may_fold;            /* how many bytes may still be made of constants */
    size_t may_visit;           /* how many elements folding may still visit */
    int64_t fixed_batch, batch; /* the file's batch, and the requested batch; 0: nothing was replaced */
};

/* Limits of a file's requests: bytes of folded constants, and elements visited or made while folding. */
enum { ONNX_MAY_FOLD = 64 << 20, ONNX_MAY_VISIT = 64 << 20 };

/* Makes the graph the owner of memory from malloc. */
void onnx_own_memory(struct onnx_reading *r, void *memory);

/* Return memory that lives as long as the graph: n elements of so many bytes, all zero; a text like printf's. */
void *onnx_own(struct onnx_reading *r, size_t n, size_t bytes);
char *onnx_own_text(struct onnx_reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns a text of the file, "" where there is none. */
static inline const char *onnx_text_or_empty(const char *text)
{
    return text ? text : "";
}

/* Sorts the functions that the file defines: onnx_is_function needs that. */
void onnx_sort_functions(struct onnx_reading *r);

/* Tells whether the file has a function for this operator. */
bool onnx_is_function(const struct onnx_reading *r, const struct onnx_node *n);

/* Returns the type of elements in a run. */
enum onnx_type onnx_run_type(enum onnx_type stored);

/* ---- read.c ---- */

/* Maps names to values. */
struct onnx_name {
    const char *name;
    size_t value;
};

struct onnx_names {
    struct onnx_name *name;
    size_t n;
};

/* Returns the value of a name; ONNX_NONE: none. */
size_t onnx_find_value(const struct onnx_names *names, const char *name);

/* Adds a value without a producer; a node may become the producer later. */
struct onnx_value *onnx_add_value(struct onnx_graph *g, const char *name);

/* ---- inputs.c ---- */

/* Takes a value's shape from the file, if the file has sizes and not only names of dimensions. */
void onnx_take_stated(struct onnx_value *v, const Onnx__ValueInfoProto *info);

/* Adds the inputs that are no initializers, of the requested sizes. Returns 0, or -errno with why. */
int onnx_add_inputs(struct onnx_reading *r, const struct onnx_names *constants, const struct onnx_ask *ask,
                    struct exp_why *why);

/* ---- wire.c ---- */

/*
 * Maps a file of at most 2 GiB; an empty file is an error. Returns 0 or -errno; the line in why begins with the path.
 */
int onnx_map(struct onnx_mapping *m, const char *path, struct exp_why *why);
void onnx_unmap(struct onnx_mapping *m);

/* Reads a message, whose large fields lie in b. Returns 0, or -EINVAL with a line in why; *message is NULL then. */
int onnx_parse(ProtobufCMessage **message, struct onnx_block *b, const ProtobufCMessageDescriptor *kind,
               const struct onnx_mapping *m, struct exp_why *why);
void onnx_parsed_free(ProtobufCMessage *message, struct onnx_block *b); /* NULL is fine */

/* ---- kinds.c ---- */

/* Names the kind of a file without a network, with advice, as "; it is ..."; "": unknown kind. */
const char *onnx_other_kind(const struct onnx_mapping *m);

/* ---- tensor.c ---- */

/*
 * Makes a constant of a tensor: type, shape and data of v. `what` names the tensor in messages. Returns 0, or -errno
 * with a line in why.
 */
int onnx_read_tensor(struct onnx_reading *r, const Onnx__TensorProto *t, const char *what, struct onnx_value *v,
                     struct exp_why *why);

/* Sets elements to the product of the dimensions. Returns 0; -EINVAL: a negative dimension; -EOVERFLOW: too many. */
int onnx_count_elements(struct onnx_value *v);

/* Writes the dimensions as 1x3x224. */
void onnx_say_shape(char *text, size_t bytes, const struct onnx_value *v);

/* ---- infer.c ---- */

/* Infers and folds node i, whose producers were. Returns 0, or -errno with a line in why. */
int onnx_infer(struct onnx_reading *r, size_t i, const Onnx__NodeProto *proto, struct exp_why *why);

#endif
