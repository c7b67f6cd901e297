/* Where the text, compiled as C, puts its accesses: shared by item_watcher.c, cost.c's assembly and who reads them. */
#ifndef EXPERIMENTS_PAPERS_LIFT_RECORDER_H
#define EXPERIMENTS_PAPERS_LIFT_RECORDER_H

#include <stdint.h>

/* Records (sim/base/record.h) without a tag. full() is called when there is no more room, and makes some. */
struct lift_recorder {
    uint64_t *next, *end;
    void (*full)(struct lift_recorder *r);
    void *ctx;
};

#endif
