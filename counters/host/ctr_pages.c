#define _GNU_SOURCE
#include "counters/host/ctr_pages.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Adds up the large pages of the mappings within [first, end), as the kernel reports them. */
static size_t count_large(uintptr_t first, uintptr_t end)
{
    FILE *in = fopen("/proc/self/smaps", "r");
    char line[512];
    unsigned long from, to, kib;
    size_t bytes = 0;
    int is_ours = 0;

    while (in && fgets(line, sizeof line, in)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            is_ours = from < end && to > first;
        else if (is_ours && sscanf(line, "AnonHugePages: %lu kB", &kib) == 1)
            bytes += (size_t)kib << 10;
    }
    if (in)
        fclose(in);
    return bytes;
}

static int init(struct ctr_pages *p, size_t bytes, int advice)
{
    const size_t rounded = (bytes + CTR_LARGE_PAGE - 1) / CTR_LARGE_PAGE * CTR_LARGE_PAGE;
    uintptr_t first;

    assert(p && rounded >= bytes);
    *p = (struct ctr_pages){ .bytes = rounded, .mapping_bytes = rounded + CTR_LARGE_PAGE };
    p->mapping = mmap(NULL, p->mapping_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p->mapping == MAP_FAILED) {
        *p = (struct ctr_pages){ 0 };
        return -ENOMEM;
    }
    first = ((uintptr_t)p->mapping + CTR_LARGE_PAGE - 1) / CTR_LARGE_PAGE * CTR_LARGE_PAGE;
    p->memory = (unsigned char *)first;
    madvise(p->memory, rounded, advice); /* a refusal shows in large_bytes */
    memset(p->memory, 0, rounded);
    assert(first + rounded <= (uintptr_t)p->mapping + p->mapping_bytes);
    p->large_bytes = count_large(first, first + rounded);
    if (p->large_bytes > rounded)
        p->large_bytes = rounded;
    return 0;
}

int ctr_pages_init(struct ctr_pages *p, size_t bytes)
{
    return init(p, bytes, MADV_HUGEPAGE);
}

int ctr_pages_init_small(struct ctr_pages *p, size_t bytes)
{
    return init(p, bytes, MADV_NOHUGEPAGE);
}

void ctr_pages_release(struct ctr_pages *p)
{
    if (p->mapping)
        munmap(p->mapping, p->mapping_bytes);
    *p = (struct ctr_pages){ 0 };
}
