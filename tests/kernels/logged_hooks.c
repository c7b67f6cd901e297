#include "tests/kernels/logged_hooks.h"

#include <stdbool.h>
#include <string.h>

#include "sim/base/access.h"

static struct { /* test program only, one thread */
    bool is_on;
    struct logged_buffer buffer[LOGGED_MAX_BUFFERS];
    size_t n_buffers;
    struct sim_access access[LOGGED_MAX];
    size_t n;
} rec;

void logged_start(const struct logged_buffer *buffer, size_t n_buffers)
{
    memcpy(rec.buffer, buffer, n_buffers * sizeof *buffer);
    rec.n_buffers = n_buffers;
    rec.n = 0;
    rec.is_on = true;
}

size_t logged_stop(const struct sim_access **access)
{
    rec.is_on = false;
    *access = rec.access;
    return rec.n;
}

static void record(const void *p, size_t bytes, enum sim_kind kind)
{
    uint64_t addr = (uintptr_t)p;

    for (size_t i = 0; rec.is_on && i < rec.n_buffers; i++) {
        if (addr - rec.buffer[i].addr < rec.buffer[i].bytes && rec.n < LOGGED_MAX)
            rec.access[rec.n++] = (struct sim_access){ .addr = addr, .bytes = (uint32_t)bytes, .kind = (uint8_t)kind };
    }
}

#define RECORD(p, bytes, kind) record(p, bytes, kind)
#include "counters/watch/hooks.def"
