#define _GNU_SOURCE
#include "sim/programs/cachesim_heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/programs/cachesim_place.h"

struct block {
    uint64_t begin, end, site;
};

struct cachesim_heap {
    char path[CACHESIM_PLACE_BYTES];
    FILE *file;
    bool is_quiet, is_heard;
    struct block *block; /* [n] by address, disjoint; a freed block stays until another block takes its place */
    size_t n, room, last;
};

int cachesim_heap_new(struct cachesim_heap **to)
{
    struct cachesim_heap *h = calloc(1, sizeof *h);
    int fd, err;

    *to = NULL;
    if (!h)
        return -ENOMEM;
    fd = memfd_create("cachesim-heap", MFD_CLOEXEC);
    h->file = fd < 0 ? NULL : fdopen(fd, "rb");
    if (h->file) {
        cachesim_place_of_descriptor(fd, h->path);
        *to = h;
        return 0;
    }
    err = -errno;
    if (fd >= 0)
        close(fd);
    free(h);
    return err;
}

void cachesim_heap_free(struct cachesim_heap *h)
{
    if (!h)
        return;
    fclose(h->file);
    free(h->block);
    free(h);
}

bool cachesim_heap_is_heard(const struct cachesim_heap *h)
{
    return h->is_heard;
}

const char *cachesim_heap_path(const struct cachesim_heap *h)
{
    return h->path;
}

/* Finds the first block that ends behind an address. */
static size_t find(const struct cachesim_heap *h, uint64_t address)
{
    size_t low = 0, high = h->n;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (h->block[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Inserts a block in place of overlapped blocks. */
static int put(struct cachesim_heap *h, const struct block *b)
{
    const size_t first = find(h, b->begin);
    size_t last = first;

    while (last < h->n && h->block[last].begin < b->end)
        last++;
    if (h->n == h->room) {
        const size_t room = h->room ? 2 * h->room : 1024;
        struct block *more = realloc(h->block, room * sizeof *more);

        if (!more)
            return -ENOMEM;
        h->block = more;
        h->room = room;
    }
    memmove(&h->block[first + 1], &h->block[last], (h->n - last) * sizeof *h->block);
    h->block[first] = *b;
    h->n += 1 + first - last;
    return 0;
}

static int take_record(struct cachesim_heap *h)
{
    struct cachesim_heap_record r;

    clearerr(h->file); /* the file was at its end once, and is longer now */
    if (fread(&r, sizeof r, 1, h->file) != 1)
        return -ENOLINK;
    return put(h, &(struct block){ r.at, r.at + (r.bytes ? r.bytes : 1), r.site });
}

bool cachesim_heap_take(struct cachesim_heap *h, uint64_t address, uint64_t *site, int *err)
{
    const uint64_t byte = address - CACHESIM_HEAP_PAGE;

    *site = 0;
    if (byte <= CACHESIM_HEAP_HERE) {
        h->is_quiet = byte == CACHESIM_HEAP_QUIET;
        h->is_heard |= byte == CACHESIM_HEAP_HERE;
        if (byte == CACHESIM_HEAP_READY)
            *err = take_record(h);
        return false;
    }
    if (h->is_quiet)
        return false;
    if (h->last >= h->n || address < h->block[h->last].begin || address >= h->block[h->last].end)
        h->last = find(h, address);
    if (h->last < h->n && address >= h->block[h->last].begin)
        *site = h->block[h->last].site;
    return true;
}
