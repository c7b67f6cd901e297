/* Where the text, compiled as C, puts its accesses: shared by item_watcher.c, count.awk's assembly and the readers. */
#ifndef EXPERIMENTS_PAPERS_LIFT_RECORDER_H
#define EXPERIMENTS_PAPERS_LIFT_RECORDER_H

#include <stdint.h>

/* Records of counters/watch/ring.h. full() is called when there is no more room, and makes room. */
struct lift_recorder {
    uint64_t *next, *end;
    void (*full)(struct lift_recorder *r);
    void *ctx;
};

#endif
