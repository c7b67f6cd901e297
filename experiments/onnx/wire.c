/* Files on the wire: mapped, looked through, and read by protobuf-c. */
#define _DEFAULT_SOURCE /* madvise */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/onnx/reading.h"

/* ---- files ---- */

static int check_file(int fd, size_t *bytes, const char *path, struct exp_why *why)
{
    struct stat s;

    if (fstat(fd, &s))
        return exp_fail(why, -errno, "%s: %s", path, strerror(errno));
    if (!S_ISREG(s.st_mode))
        return exp_fail(why, -EINVAL, "%s: not a file", path);
    if (!s.st_size)
        return exp_fail(why, -EINVAL, "%s: the file is empty", path);
    if ((uintmax_t)s.st_size > PTRDIFF_MAX)
        return exp_fail(why, -EFBIG, "%s: the file is too large", path);
    *bytes = (size_t)s.st_size;
    return 0;
}

int onnx_map(struct onnx_mapping *m, const char *path, struct exp_why *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;
    void *at = MAP_FAILED;
    size_t bytes = 0;

    assert(m && path);
    *m = (struct onnx_mapping){ 0 };
    if (fd < 0)
        return exp_fail(why, -errno, "%s: %s", path, strerror(errno));
    err = check_file(fd, &bytes, path, why);
    if (!err)
        at = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (!err && at == MAP_FAILED)
        err = exp_fail(why, -errno, "%s: %s", path, strerror(errno));
    close(fd);
    if (!err)
        *m = (struct onnx_mapping){ exp_copy_text(path), at, bytes };
    return err;
}

void onnx_unmap(struct onnx_mapping *m)
{
    union {
        const uint8_t *mapped;
        void *at;
    } memory = { m->at };

    if (m->at)
        munmap(memory.at, m->bytes);
    free(m->path);
    *m = (struct onnx_mapping){ 0 };
}

/* ---- checks of a message before reading ---- */

/* protobuf-c nests calls as deep as messages nest, without a limit. */
enum { DEEPEST = 64 };

struct look {
    const uint8_t *at, *begin;
    const char *wrong;
    unsigned depth;
};

static bool look_fails(struct look *l, const char *wrong)
{
    l->wrong = wrong;
    return false;
}

static bool look_number(struct look *l, const uint8_t *end, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; l->at < end && shift < 70; shift += 7) {
        const uint8_t byte = *l->at++;

        *number |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (byte < 0x80)
            return true;
    }
    return look_fails(l, "a number that does not end");
}

static bool look_through(struct look *l, const uint8_t *end, const ProtobufCMessageDescriptor *kind);

/*
 * Checks a field with a length; if the field is a message, checks the content. A repeated message would be merged, in
 * quadratic time.
 */
static bool look_at_block(struct look *l, const uint8_t *end, const ProtobufCFieldDescriptor *field, uint64_t *once)
{
    uint64_t bytes, bit;

    if (!look_number(l, end, &bytes))
        return false;
    if (bytes > (size_t)(end - l->at))
        return look_fails(l, "a field longer than what is left");
    if (field && field->type == PROTOBUF_C_TYPE_MESSAGE) {
        bit = field->label == PROTOBUF_C_LABEL_REPEATED ? 0 : UINT64_C(1) << (field->id & 63);
        if (*once & bit)
            return look_fails(l, "the begin of a message that stands twice");
        *once |= bit;
        return look_through(l, l->at + bytes, field->descriptor);
    }
    l->at += bytes;
    return true;
}

static bool look_at_field(struct look *l, const uint8_t *end, const ProtobufCMessageDescriptor *kind, uint64_t *once)
{
    size_t fixed;
    uint64_t tag, number;

    if (!look_number(l, end, &tag))
        return false;
    if (!(tag >> 3) || tag > UINT32_MAX)
        return look_fails(l, "a field that has no number");
    switch (tag & 7) {
    case PROTOBUF_C_WIRE_TYPE_VARINT:
        return look_number(l, end, &number);
    case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
        return look_at_block(l, end, protobuf_c_message_descriptor_get_field(kind, (unsigned)(tag >> 3)), once);
    case PROTOBUF_C_WIRE_TYPE_64BIT:
    case PROTOBUF_C_WIRE_TYPE_32BIT:
        fixed = (tag & 7) == PROTOBUF_C_WIRE_TYPE_64BIT ? 8 : 4;
        if (fixed > (size_t)(end - l->at))
            return look_fails(l, "a field longer than what is left");
        l->at += fixed;
        return true;
    default:
        return look_fails(l, "a field of an unknown kind");
    }
}

static bool look_through(struct look *l, const uint8_t *end, const ProtobufCMessageDescriptor *kind)
{
    uint64_t once = 0;

    if (++l->depth > DEEPEST)
        return look_fails(l, "messages nested more than 64 deep");
    while (l->at < end) {
        if (!look_at_field(l, end, kind, &once))
            return false;
    }
    l->depth--;
    return true;
}

/* ---- reading ---- */

/*
 * Weights are most of a file. They go into a block as large as the file, in huge pages if possible, because faults of
 * small pages took most of the time.
 */
enum { LARGE = 1 << 16, HUGE_PAGE = 2 << 20, ALIGNMENT = 16 };

static void *allocate(void *data, size_t bytes)
{
    struct onnx_block *b = data;
    const size_t used = bytes >= LARGE ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : 0;

    if (!used || used > b->bytes - b->used)
        return exp_resize(NULL, bytes, 1);
    b->used += used;
    return b->at + (b->used - used);
}

static void release(void *data, void *memory)
{
    const struct onnx_block *b = data;

    if ((uintptr_t)memory - (uintptr_t)b->at >= b->bytes)
        free(memory);
}

/* Lack of memory is no error of the file: the program ends. */
static ProtobufCAllocator allocator(struct onnx_block *b)
{
    return (ProtobufCAllocator){ allocate, release, b };
}

static void begin_block(struct onnx_block *b, size_t bytes)
{
    void *at = NULL;

    *b = (struct onnx_block){ 0 };
    if (bytes < HUGE_PAGE || posix_memalign(&at, HUGE_PAGE, bytes))
        return;
    madvise(at, bytes, MADV_HUGEPAGE);
    *b = (struct onnx_block){ .at = at, .bytes = bytes };
}

int onnx_parse(ProtobufCMessage **message, struct onnx_block *b, const ProtobufCMessageDescriptor *kind,
               const struct onnx_mapping *m, struct exp_why *why)
{
    ProtobufCAllocator how = allocator(b);
    struct look l = { m->at, m->at, NULL, 0 };

    assert(message && kind);
    *message = NULL;
    *b = (struct onnx_block){ 0 };
    if (m->bytes > INT32_MAX)
        return exp_fail(why, -EFBIG, "%s: %zu bytes, and the format ends at 2 GiB; weights may be external data",
                        m->path, m->bytes);
    if (!look_through(&l, m->at + m->bytes, kind))
        return exp_fail(why, -EINVAL, "%s: no ONNX file: byte %zu ends %s%s", m->path, (size_t)(l.at - l.begin),
                        l.wrong, onnx_other_kind(m));
    begin_block(b, m->bytes);
    *message = protobuf_c_message_unpack(kind, &how, m->bytes, m->at);
    return *message ? 0
                    : exp_fail(why, -EINVAL, "%s: no ONNX file: a field has the type of another%s", m->path,
                               onnx_other_kind(m));
}

void onnx_parsed_free(ProtobufCMessage *message, struct onnx_block *b)
{
    ProtobufCAllocator how = allocator(b);

    protobuf_c_message_free_unpacked(message, &how);
    free(b->at);
    *b = (struct onnx_block){ 0 };
}
