#include "tests/counters/watching.h"

#include <errno.h>

int watch_until(struct ctr_watch *w, void (*work)(void *ctx), void *ctx,
                bool (*agrees)(const void *want, const uint64_t *n), const void *want, uint64_t *n)
{
    int err = -ENODATA;

    for (unsigned i = 0; i < 8; i++) {
        err = ctr_watch_start(w);
        if (!err)
            work(ctx);
        err = err ? err : ctr_watch_stop(w);
        err = err ? err : ctr_watch_read(w, n);
        if ((err && err != -ENODATA) || (!err && agrees(want, n)))
            break;
    }
    return err;
}
