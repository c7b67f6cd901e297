#define _XOPEN_SOURCE 700 /* realpath */
/* Constants: the tensors of a file, whatever field or file their elements are in. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/onnx/reading.h"

/* ---- shapes ---- */

enum { MOST_BYTES_OF_ELEMENT = 8 };

int onnx_count_elements(struct onnx_value *v)
{
    size_t n = 1;
    bool is_empty = false, overflows = false;

    assert(v->n_dims <= ONNX_MAX_DIMS);
    for (size_t i = 0; i < v->n_dims; i++) {
        if (v->dim[i] < 0)
            return -EINVAL;
        is_empty = is_empty || !v->dim[i];
        overflows = overflows || (v->dim[i] && __builtin_mul_overflow(n, (size_t)v->dim[i], &n));
    }
    v->elements = is_empty ? 0 : n;
    return overflows || n > PTRDIFF_MAX / MOST_BYTES_OF_ELEMENT ? -EOVERFLOW : 0;
}

void onnx_say_shape(char *text, size_t bytes, const struct onnx_value *v)
{
    exp_say(text, bytes, "%s", v->n_dims ? "" : "scalar");
    for (size_t i = 0; i < v->n_dims; i++)
        exp_say_more(text, bytes, "%s%lld", i ? "x" : "", (long long)v->dim[i]);
}

static int read_shape(const Onnx__TensorProto *t, const char *what, struct onnx_value *v, struct exp_why *why)
{
    char shape[200];
    int err;

    if (t->n_dims > ONNX_MAX_DIMS)
        return exp_fail(why, -EINVAL, "%s: %zu dimensions, and at most %d are read", what, t->n_dims, ONNX_MAX_DIMS);
    v->has_shape = true;
    v->n_dims = t->n_dims;
    for (size_t i = 0; i < t->n_dims; i++)
        v->dim[i] = t->dims[i];
    err = onnx_count_elements(v);
    onnx_say_shape(shape, sizeof shape, v);
    if (err)
        return exp_fail(why, err, "%s: its shape %s %s", what, shape,
                        err == -EINVAL ? "has a negative dimension" : "is too large");
    return 0;
}

/* ---- external data ---- */

static const char *external(const Onnx__TensorProto *t, const char *key)
{
    for (size_t i = 0; i < t->n_external_data; i++) {
        if (!strcmp(onnx_text_or_empty(t->external_data[i]->key), key))
            return onnx_text_or_empty(t->external_data[i]->value);
    }
    return NULL;
}

/* Reads a number of bytes; `otherwise` if the file has no number. Returns whether the text is a number. */
static bool external_number(const Onnx__TensorProto *t, const char *key, size_t otherwise, size_t *number)
{
    const char *text = external(t, key);
    unsigned long long value;
    char *end;

    *number = otherwise;
    if (!text)
        return true;
    errno = 0;
    value = strtoull(text, &end, 10);
    *number = (size_t)value;
    return *text >= '0' && *text <= '9' && !*end && !errno && value <= PTRDIFF_MAX;
}

static bool leads_out(const char *location)
{
    if (!*location || *location == '/')
        return true;
    for (const char *part = location; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (!strncmp(part, "..", 2) && (part[2] == '/' || !part[2]))
            return true;
    }
    return false;
}

/* Where a file of external data really lies. */
enum place { NOWHERE, IN_FOLDER, IN_CACHE, OUTSIDE };

static bool is_below(const char *path, const char *folder)
{
    const size_t n = strlen(folder);

    return !strncmp(path, folder, n) && (path[n] == '/' || n == 1);
}

/*
 * Tells whether a file is a blob of the cache around a folder. In huggingface_hub's layout, cache/blobs has the files,
 * and cache/snapshots/... has links to the files. Both paths are free of links.
 */
static bool is_in_cache(const char *path, const char *folder)
{
    static const char snapshots[] = "/snapshots/";
    const char *at = NULL;
    char *below = exp_format("%s/", folder), *blobs;
    bool is_in;

    for (const char *next = strstr(below, snapshots); next; next = strstr(next + 1, snapshots))
        at = next;
    blobs = exp_format("%.*s/blobs", at ? (int)(at - below) : 0, below);
    is_in = at && is_below(path, blobs);
    free(blobs);
    free(below);
    return is_in;
}

/* Finds where a file really lies. *path gets the resolved path, from malloc; *err says why the result is NOWHERE. */
static enum place find_place(const char *folder, const char *location, char **path, int *err)
{
    char *name = exp_format("%s/%s", folder, location), *inside = realpath(folder, NULL);
    enum place place = NOWHERE;

    *err = inside ? 0 : -errno;
    *path = realpath(name, NULL);
    *err = *path ? *err : -errno;
    if (*path && inside)
        place = is_below(*path, inside) ? IN_FOLDER : is_in_cache(*path, inside) ? IN_CACHE : OUTSIDE;
    free(name);
    free(inside);
    return place;
}

/* Finds a tensor's file of external data. *path gets the file's path, from malloc. */
static int find_data(const struct onnx_reading *r, const char *location, const char *what, char **path,
                     struct exp_why *why)
{
    static const char *const ways[] = {
        [IN_CACHE] = "LINKS=yes follows it, as it stays in this cache of Hugging Face",
        [OUTSIDE] = "put a copy in its place (cp -L)",
    };
    enum place place;
    int err;

    if (leads_out(location))
        return exp_fail(why, -EINVAL, "%s: external data '%.200s': not in the folder of the network", what, location);
    place = find_place(r->folder, location, path, &err);
    if (place == IN_FOLDER || (place == IN_CACHE && r->follows_links))
        return 0;
    free(*path);
    *path = NULL;
    if (place == NOWHERE)
        return exp_fail(why, err, "%s: external data '%.200s': %s", what, location, strerror(-err));
    return exp_fail(why, -EINVAL, "%s: external data '%.200s': not in the folder of the network: a link leads out; %s",
                    what, location, ways[place]);
}

/* Maps a file of external data, or finds the mapped file. */
static int map_external(struct onnx_reading *r, const char *location, const char *what, const struct onnx_mapping **m,
                        struct exp_why *why)
{
    struct onnx_mapping mapped;
    char *path = NULL;
    int err = find_data(r, location, what, &path, why);

    if (err)
        return err;
    for (size_t i = 0; i < r->n_mappings; i++) {
        if (!strcmp(r->mapping[i].path, path)) {
            *m = &r->mapping[i];
            free(path);
            return 0;
        }
    }
    err = onnx_map(&mapped, path, why);
    free(path);
    if (err)
        return err;
    *m = exp_append(&r->mapping, &r->n_mappings, sizeof mapped);
    r->mapping[r->n_mappings - 1] = mapped;
    return 0;
}

/* ---- where the elements are ---- */

/* Elements in the file. */
struct source {
    const void *at;
    size_t n;                 /* of the field, or bytes of raw data */
    size_t bytes;             /* of an element of the field; 1: raw data */
    const char *field, *kind; /* kind: the kind of an external file without data */
};

static int find_external(struct onnx_reading *r, const Onnx__TensorProto *t, const char *what, struct source *s,
                         struct exp_why *why)
{
    const char *location = external(t, "location");
    const struct onnx_mapping *m = NULL;
    size_t offset, length;
    int err;

    if (!location)
        return exp_fail(why, -EINVAL, "%s: external data without a location", what);
    err = map_external(r, location, what, &m, why);
    if (err)
        return err;
    if (!external_number(t, "offset", 0, &offset) || offset > m->bytes ||
        !external_number(t, "length", m->bytes - offset, &length) || length > m->bytes - offset)
        return exp_fail(why, -EINVAL, "%s: external data '%.200s': offset %.20s and length %.20s, in %zu bytes%s", what,
                        location, external(t, "offset") ? external(t, "offset") : "0",
                        external(t, "length") ? external(t, "length") : "of the rest", m->bytes, onnx_other_kind(m));
    *s = (struct source){ m->at + offset, length, 1, "external data", onnx_other_kind(m) };
    return 0;
}

/* Finds the format's field for elements of a type. */
static struct source find_field(const Onnx__TensorProto *t, enum onnx_type type)
{
    switch (type) {
    case ONNX_FLOAT:
        return (struct source){ t->float_data, t->n_float_data, sizeof(float), "float_data", "" };
    case ONNX_DOUBLE:
        return (struct source){ t->double_data, t->n_double_data, sizeof(double), "double_data", "" };
    case ONNX_INT64:
        return (struct source){ t->int64_data, t->n_int64_data, sizeof(int64_t), "int64_data", "" };
    case ONNX_UINT32:
    case ONNX_UINT64:
        return (struct source){ t->uint64_data, t->n_uint64_data, sizeof(uint64_t), "uint64_data", "" };
    default:
        return (struct source){ t->int32_data, t->n_int32_data, sizeof(int32_t), "int32_data", "" };
    }
}

static int find_source(struct onnx_reading *r, const Onnx__TensorProto *t, const char *what, const struct onnx_value *v,
                       struct source *s, struct exp_why *why)
{
    const size_t bytes = onnx_type_bytes(v->stored);
    char shape[200];
    int err = 0;

    if (t->has_data_location && t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
        err = find_external(r, t, what, s, why);
    else if (t->has_raw_data)
        *s = (struct source){ t->raw_data.data, t->raw_data.len, 1, "raw_data", "" };
    else
        *s = find_field(t, v->stored);
    if (err)
        return err;
    onnx_say_shape(shape, sizeof shape, v);
    if (s->bytes == 1 ? s->n != v->elements * bytes : s->n != v->elements)
        return exp_fail(why, -EINVAL, "%s: shape %s of %s is %zu %s, and its %s has %zu%s", what, shape,
                        onnx_type_name(v->stored), s->bytes == 1 ? v->elements * bytes : v->elements,
                        s->bytes == 1 ? "bytes" : "elements", s->field, s->n, s->kind);
    return 0;
}

/* ---- elements in memory ---- */

static float float_of_bits(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

static float half_to_float(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 0x3ff;
    const float tiny = (float)fraction * 0x1p-24F;

    if (!exponent)
        return sign ? -tiny : tiny;
    return float_of_bits(sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13);
}

static uint64_t load(const uint8_t *at, size_t bytes)
{
    uint64_t bits = 0;

    memcpy(&bits, at, bytes); /* little-endian, as the format is */
    return bits;
}

static float load_float(const uint8_t *at, enum onnx_type stored)
{
    double d;

    switch (stored) {
    case ONNX_FLOAT16:
        return half_to_float((uint16_t)load(at, 2));
    case ONNX_BFLOAT16:
        return float_of_bits((uint32_t)load(at, 2) << 16);
    default:
        memcpy(&d, at, sizeof d);
        return (float)d;
    }
}

enum { ALIGNMENT = 16 };

static bool is_usable(const struct source *s, const struct onnx_value *v)
{
    return v->type == v->stored && (s->bytes == 1 || s->bytes == onnx_type_bytes(v->stored)) &&
           !((uintptr_t)s->at % ALIGNMENT);
}

/* Copies elements: narrows elements of a wider field, and converts short floats and doubles to floats. */
static void *convert(struct onnx_reading *r, const struct source *s, const struct onnx_value *v)
{
    const size_t to = onnx_type_bytes(v->type), kept = onnx_type_bytes(v->stored),
                 from = s->bytes == 1 ? kept : s->bytes;
    const uint8_t *in = s->at;
    uint8_t *data = onnx_own(r, v->elements, to);

    if (v->type == v->stored && from == to && v->elements)
        return memcpy(data, in, v->elements * to);
    for (size_t i = 0; i < v->elements; i++, in += from) {
        const float f = v->type == v->stored ? 0 : load_float(in, v->stored);

        memcpy(data + i * to, v->type == v->stored ? (const void *)in : &f, to);
    }
    return data;
}

/* Makes every element of a bool 0 or 1. */
static void make_bools(struct onnx_reading *r, struct onnx_value *v)
{
    uint8_t *data = onnx_own(r, v->elements, 1);

    for (size_t i = 0; i < v->elements; i++)
        data[i] = ((const uint8_t *)v->data)[i] != 0;
    v->data = data;
}

enum onnx_type onnx_run_type(enum onnx_type stored)
{
    return stored == ONNX_FLOAT16 || stored == ONNX_BFLOAT16 || stored == ONNX_DOUBLE ? ONNX_FLOAT : stored;
}

int onnx_read_tensor(struct onnx_reading *r, const Onnx__TensorProto *t, const char *what, struct onnx_value *v,
                     struct exp_why *why)
{
    struct source s = { 0 };
    int err = read_shape(t, what, v, why);

    assert(t && what && v);
    if (err)
        return err;
    if (t->data_type < 1 || t->data_type >= ONNX_N_TYPES)
        return exp_fail(why, -EINVAL, "%s: elements of type %d are not known", what, t->data_type);
    v->stored = (enum onnx_type)t->data_type;
    v->type = onnx_run_type(v->stored);
    if (t->segment)
        return exp_fail(why, -EINVAL, "%s: tensors in segments are not read", what);
    if (!onnx_type_bytes(v->type))
        return 0; /* texts and complex numbers have no data here; their readers refuse */
    err = find_source(r, t, what, v, &s, why);
    if (err)
        return err;
    v->data = is_usable(&s, v) && v->elements ? s.at : convert(r, &s, v);
    v->bytes = v->elements * onnx_type_bytes(v->type);
    if (v->type == ONNX_BOOL)
        make_bools(r, v);
    return 0;
}

float *onnx_make_data(struct onnx_graph *g, size_t value)
{
    struct onnx_value *v = &g->value[value];
    float *data;

    assert(v->is_filled);
    data = onnx_own((struct onnx_reading *)g, v->elements + !v->elements, sizeof *data);
    for (size_t i = 0; i < v->elements; i++)
        data[i] = v->fill;
    v->data = data;
    v->bytes = v->elements * sizeof *data;
    v->is_filled = false;
    return data;
}
