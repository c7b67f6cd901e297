/* Memory in large pages, if the system gives any, so that translations do not disturb what is timed. */
#ifndef CTR_PAGES_H
#define CTR_PAGES_H

#include <stddef.h>

enum { CTR_LARGE_PAGE = 2 << 20 };

struct ctr_pages {
    unsigned char *memory; /* begins a large page; NULL: released */
    size_t bytes;
    size_t large_bytes; /* how much of it is in large pages */
    void *mapping;      /* internal */
    size_t mapping_bytes;
};

/* Allocates zeroed memory of at least so many bytes. Returns 0 or -ENOMEM. Small: in pages of the usual size. */
int ctr_pages_init(struct ctr_pages *p, size_t bytes);
int ctr_pages_init_small(struct ctr_pages *p, size_t bytes);
void ctr_pages_release(struct ctr_pages *p); /* one that is all zeros is fine */

#endif
