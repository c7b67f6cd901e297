/* Memory in large pages, if the system has any, so that translations do not disturb a timing. */
#ifndef CTR_PAGES_H
#define CTR_PAGES_H

#include <stddef.h>

enum { CTR_LARGE_PAGE = 2 << 20 };

struct ctr_pages {
    unsigned char *memory; /* begins a large page; NULL: released */
    size_t bytes;
    size_t large_bytes; /* bytes in large pages */
    void *mapping;      /* internal */
    size_t mapping_bytes;
};

/* Allocates at least `bytes` of zeroed memory. Returns 0 or -ENOMEM. Small: in pages of the usual size. */
int ctr_pages_init(struct ctr_pages *p, size_t bytes);
int ctr_pages_init_small(struct ctr_pages *p, size_t bytes);
void ctr_pages_release(struct ctr_pages *p); /* a zeroed struct is fine */

#endif
