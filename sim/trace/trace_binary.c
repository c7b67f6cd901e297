#include <assert.h>
#include <errno.h>
#include <string.h>

#include "sim/trace/trace_binary.h"

enum {
    HEAD_KIND = 3,
    HEAD_PLACE = 4,
    HEAD_WIDTH = 8,
    HEAD_REPEAT = 16,
    HEAD_END = 0x80,
    PHASE_SHIFT = 4,
    VERSION_AT = 8,
    VERSION = 1,
};

_Static_assert(SIM_LOAD == 0 && SIM_STORE == 1 && SIM_PREFETCH == 2 && SIM_STORE_NT == 3,
               "kinds are written as they are");

static const uint8_t header[SIM_BINARY_HEADER_BYTES] = {
    0x89, 'C', 'S', 'T', '\r', '\n', 0x1a, '\n', VERSION,
};

static uint64_t zigzag(int64_t x)
{
    return (uint64_t)x << 1 ^ (x < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(uint64_t x)
{
    return (int64_t)(x >> 1 ^ (x & 1 ? UINT64_MAX : 0));
}

/* ---- writing ---- */

static uint8_t *put_varint(uint8_t *out, uint64_t x)
{
    for (; x > 0x7f; x >>= 7)
        *out++ = (uint8_t)(x | 0x80);
    *out++ = (uint8_t)x;
    return out;
}

size_t sim_binary_put_header(uint8_t out[SIM_BINARY_HEADER_BYTES])
{
    memcpy(out, header, sizeof header);
    return sizeof header;
}

/* Updates the memory of decoder and encoder after a record. */
static void remember(struct sim_binary *b, const struct sim_run *r)
{
    b->tag = r->tag;
    b->phase = r->phase;
    b->bytes[r->tag] = r->access_bytes;
    b->addr[r->tag] = r->addr + (r->count - 1) * (uint64_t)r->stride_bytes;
    b->n_accesses += r->count;
}

size_t sim_binary_put(struct sim_binary *b, const struct sim_run *r, uint8_t out[SIM_BINARY_MAX_RECORD_BYTES])
{
    uint8_t *end = out;
    unsigned head = r->kind;

    assert(r->count && r->access_bytes);
    head |= r->tag != b->tag || r->phase != b->phase ? HEAD_PLACE : 0;
    head |= r->access_bytes != b->bytes[r->tag] ? HEAD_WIDTH : 0;
    head |= r->count > 1 ? HEAD_REPEAT : 0;
    *end++ = (uint8_t)head;
    if (head & HEAD_PLACE)
        *end++ = (uint8_t)(r->tag | r->phase << PHASE_SHIFT);
    if (head & HEAD_WIDTH)
        end = put_varint(end, r->access_bytes);
    end = put_varint(end, zigzag((int64_t)(r->addr - b->addr[r->tag])));
    if (head & HEAD_REPEAT) {
        end = put_varint(end, r->count - 1);
        end = put_varint(end, zigzag(r->stride_bytes));
    }
    remember(b, r);
    return (size_t)(end - out);
}

size_t sim_binary_put_end(const struct sim_binary *b, uint8_t out[SIM_BINARY_MAX_RECORD_BYTES])
{
    out[0] = HEAD_END;
    return (size_t)(put_varint(out + 1, b->n_accesses) - out);
}

/* ---- reading ---- */

struct cursor {
    const uint8_t *at;
    const uint8_t *end;
    struct sim_binary_error *e;
};

static int fail(const struct cursor *c, const char *what, uint64_t value)
{
    *c->e = (struct sim_binary_error){ what, value };
    return -EINVAL;
}

static int get_byte(struct cursor *c, unsigned *x)
{
    if (c->at == c->end)
        return fail(c, "cut short within a record; bytes left", 0);
    *x = *c->at++;
    return 0;
}

static int get_varint(struct cursor *c, uint64_t *x)
{
    unsigned byte = 0x80;

    *x = 0;
    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        int err = get_byte(c, &byte);

        if (err)
            return err;
        if (shift > 63 || (shift == 63 && byte > 1))
            return fail(c, "number of more than 64 bits; its last byte", byte);
        *x |= (uint64_t)(byte & 0x7f) << shift;
    }
    return 0;
}

static int get_place(struct cursor *c, struct sim_run *r)
{
    unsigned place = 0;
    int err = get_byte(c, &place);

    if (err)
        return err;
    r->tag = (uint8_t)(place & ((1 << PHASE_SHIFT) - 1));
    r->phase = (uint8_t)(place >> PHASE_SHIFT);
    if (r->tag >= SIM_USUAL_TAGS)
        return fail(c, "tag too large", r->tag);
    if (r->phase >= SIM_MAX_PHASES)
        return fail(c, "phase too large", r->phase);
    return 0;
}

static int get_width(struct cursor *c, unsigned head, struct sim_run *r)
{
    uint64_t bytes = r->access_bytes;
    int err = head & HEAD_WIDTH ? get_varint(c, &bytes) : 0;

    if (err)
        return err;
    if (!bytes)
        return fail(c, "access of no bytes", bytes);
    if (bytes > SIM_TRACE_MAX_BYTES)
        return fail(c, "access too wide, bytes", bytes);
    r->access_bytes = (uint32_t)bytes;
    return 0;
}

static int get_repetition(struct cursor *c, struct sim_run *r)
{
    uint64_t more = 0, stride = 0;
    int err = get_varint(c, &more);

    if (!err)
        err = get_varint(c, &stride);
    if (err)
        return err;
    if (!more || more >= UINT32_MAX)
        return fail(c, "bad number of repetitions", more);
    r->count += (uint32_t)more;
    r->stride_bytes = unzigzag(stride);
    return 0;
}

static int get_end(struct cursor *c, const struct sim_binary *b)
{
    uint64_t total = 0;
    int err = get_varint(c, &total);

    if (err)
        return err;
    if (total != b->n_accesses)
        return fail(c, "accesses announced at the end are not those before it", total);
    if (c->at != c->end)
        return fail(c, "something follows the end; its first byte", *c->at);
    return 0;
}

static int get_record(struct cursor *c, struct sim_binary *b, unsigned head, struct sim_run *r)
{
    uint64_t delta = 0;
    int err;

    if (head & ~(unsigned)(HEAD_KIND | HEAD_PLACE | HEAD_WIDTH | HEAD_REPEAT))
        return fail(c, "wrong label", head);
    *r = (struct sim_run){ .kind = (uint8_t)(head & HEAD_KIND), .tag = b->tag, .phase = b->phase, .count = 1 };
    err = head & HEAD_PLACE ? get_place(c, r) : 0;
    if (err)
        return err;
    r->access_bytes = b->bytes[r->tag];
    err = get_width(c, head, r);
    if (!err)
        err = get_varint(c, &delta);
    if (!err && head & HEAD_REPEAT)
        err = get_repetition(c, r);
    if (err)
        return err;
    r->addr = b->addr[r->tag] + (uint64_t)unzigzag(delta);
    remember(b, r);
    return 0;
}

int sim_binary_get_header(const uint8_t in[SIM_BINARY_HEADER_BYTES], struct sim_binary_error *e)
{
    const struct cursor c = { .e = e };

    for (size_t i = 0; i < SIM_BINARY_HEADER_BYTES; i++) {
        if (in[i] == header[i])
            continue;
        if (i == VERSION_AT)
            return fail(&c, "unknown version of the format", in[i]);
        return fail(&c, i < VERSION_AT ? "not a binary trace; unexpected byte" : "reserved byte is not 0", in[i]);
    }
    return 0;
}

int sim_binary_get(struct sim_binary *b, const uint8_t *in, size_t n, struct sim_run *r, size_t *used,
                   struct sim_binary_error *e)
{
    struct cursor c = { in, in + n, e };
    unsigned head;
    int err;

    if (!n)
        return fail(&c, "cut short: the end is missing; accesses so far", b->n_accesses);
    head = *c.at++;
    if (head == HEAD_END) {
        *r = (struct sim_run){ 0 };
        err = get_end(&c, b);
    } else {
        err = get_record(&c, b, head, r);
    }
    *used = (size_t)(c.at - in);
    return err;
}

/*
 * Every record ends with a byte whose bit 7 is clear, and so does the end: bytes between with bit 7 set belong to the
 * end. The number behind the end's label ends with the last byte.
 */
uint64_t sim_binary_total(const uint8_t *tail, size_t n)
{
    struct sim_binary_error e;
    struct cursor c = { .end = tail + n, .e = &e };
    size_t head = n ? n - 1 : 0;
    uint64_t total = 0;

    while (head && tail[head - 1] & 0x80)
        head--;
    c.at = tail + head + 1;
    return n && tail[head] == HEAD_END && !get_varint(&c, &total) ? total : 0;
}
