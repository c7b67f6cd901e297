#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "sim/trace/trace.h"
#include "sim/trace/trace_lines.h"

static const char *const format_names[SIM_N_TRACE_FORMATS] = {
    [SIM_TRACE_TEXT] = "text",
    [SIM_TRACE_DIN] = "din",
    [SIM_TRACE_LACKEY] = "lackey",
    [SIM_TRACE_BINARY] = "binary",
};

int sim_trace_format_find(const char *name, enum sim_trace_format *format)
{
    assert(name && format);
    for (unsigned f = 0; f < SIM_N_TRACE_FORMATS; f++) {
        if (!strcmp(format_names[f], name)) {
            *format = (enum sim_trace_format)f;
            return 0;
        }
    }
    return -EINVAL;
}

const char *sim_trace_format_name(enum sim_trace_format format)
{
    assert(format < SIM_N_TRACE_FORMATS);
    return format_names[format];
}

static void expand_run(struct sim_expander *x, const struct sim_run *r, uint64_t t)
{
    struct sim_access a = {
        .addr = r->addr + t * (uint64_t)r->step_bytes,
        .bytes = r->access_bytes,
        .kind = r->kind,
        .tag = r->tag,
        .phase = r->phase,
    };

    for (uint32_t i = 0; i < r->count; i++) {
        x->access(x->ctx, &a);
        a.addr += (uint64_t)r->stride_bytes;
    }
}

static void expand(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct sim_expander *x = (struct sim_expander *)self;

    for (uint64_t t = 0; t < n_times; t++) {
        for (size_t r = 0; r < n_runs; r++)
            expand_run(x, &run[r], t);
    }
}

void sim_expander_init(struct sim_expander *x, void (*access)(void *ctx, const struct sim_access *a), void *ctx)
{
    *x = (struct sim_expander){ .sink.accept = expand, .access = access, .ctx = ctx };
}

/* ---- writing ---- */

static void write_line(struct sim_trace *t, const struct sim_access *a)
{
    static const char letters[SIM_N_KINDS] = {
        [SIM_LOAD] = 'L',
        [SIM_STORE] = 'S',
        [SIM_PREFETCH] = 'P',
        [SIM_STORE_NT] = 'N',
    };
    bool is_store = a->kind == SIM_STORE || a->kind == SIM_STORE_NT;
    int result = 0;

    if (t->format == SIM_TRACE_TEXT)
        result = fprintf(t->out, "%c %" PRIx64 " %" PRIu32 " %u %u\n", letters[a->kind], a->addr, a->bytes,
                         (unsigned)a->tag, (unsigned)a->phase);
    else if (a->kind == SIM_PREFETCH)
        return;
    else if (t->format == SIM_TRACE_DIN)
        result = fprintf(t->out, "%d %" PRIx64 " %" PRIx32 "\n", is_store, a->addr, a->bytes);
    else
        result = fprintf(t->out, " %c %08" PRIx64 ",%" PRIu32 "\n", is_store ? 'S' : 'L', a->addr, a->bytes);
    if (result < 0)
        t->err = errno ? -errno : -EIO;
}

static void write_bytes(struct sim_trace *t, const uint8_t *bytes, size_t n)
{
    if (!t->err && fwrite(bytes, 1, n, t->out) != n)
        t->err = errno ? -errno : -EIO;
}

static void write_pending(struct sim_trace *t)
{
    uint8_t record[SIM_BINARY_MAX_RECORD_BYTES];

    if (t->pending.count)
        write_bytes(t, record, sim_binary_put(&t->binary, &t->pending, record));
    t->pending.count = 0;
}

/*
 * Tells whether an access continues the pending record; the second access sets its stride. A record must not leave its
 * half of the address space, or it could not be read back.
 */
static bool continues(struct sim_run *p, const struct sim_access *a)
{
    struct sim_run grown = *p;

    if (!p->count || p->count == UINT32_MAX || p->kind != a->kind || p->access_bytes != a->bytes || p->tag != a->tag ||
        p->phase != a->phase)
        return false;
    if (p->count == 1)
        grown.stride_bytes = (int64_t)(a->addr - p->addr);
    if (p->addr + p->count * (uint64_t)grown.stride_bytes != a->addr)
        return false;
    grown.count++;
    if (!sim_run_fits(&grown))
        return false;
    *p = grown;
    return true;
}

static void write_record(struct sim_trace *t, const struct sim_access *a)
{
    if (continues(&t->pending, a))
        return;
    write_pending(t);
    t->pending = (struct sim_run){
        .addr = a->addr,
        .count = 1,
        .access_bytes = a->bytes,
        .kind = a->kind,
        .tag = a->tag,
        .phase = a->phase,
    };
}

static void write_access(void *ctx, const struct sim_access *a)
{
    struct sim_trace *t = ctx;

    if (t->err)
        return;
    errno = 0;
    if (t->format == SIM_TRACE_BINARY)
        write_record(t, a);
    else
        write_line(t, a);
}

void sim_trace_init_as(struct sim_trace *t, FILE *out, enum sim_trace_format format)
{
    uint8_t header[SIM_BINARY_HEADER_BYTES];

    assert(t && out);
    *t = (struct sim_trace){ .out = out, .format = format };
    sim_expander_init(&t->expander, write_access, t);
    errno = 0;
    if (format == SIM_TRACE_BINARY)
        write_bytes(t, header, sim_binary_put_header(header));
}

void sim_trace_init(struct sim_trace *t, FILE *out)
{
    sim_trace_init_as(t, out, SIM_TRACE_TEXT);
}

struct sim_sink *sim_trace_sink(struct sim_trace *t)
{
    return &t->expander.sink;
}

int sim_trace_close(struct sim_trace *t)
{
    uint8_t end[SIM_BINARY_MAX_RECORD_BYTES];

    errno = 0;
    if (t->format == SIM_TRACE_BINARY) {
        write_pending(t);
        write_bytes(t, end, sim_binary_put_end(&t->binary, end));
    }
    if (fflush(t->out) && !t->err)
        t->err = errno ? -errno : -EIO;
    return t->err;
}
