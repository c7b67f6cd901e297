/* What the recorded text calls for its accesses: built as it is, without instrumentation, and linked with the text. */
#include "counters/watch/ring.h"
#include "experiments/papers/lift/recorder.h"
#include "sim/base/access.h"

struct lift_recorder lift_recorder;

static void record(const void *p, size_t bytes, enum sim_kind kind)
{
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < WATCH_RECORD_MAX_BYTES ? bytes - at : WATCH_RECORD_MAX_BYTES;
        if (lift_recorder.next == lift_recorder.end)
            lift_recorder.full(&lift_recorder);
        *lift_recorder.next++ = watch_record((uintptr_t)p + at, (uint32_t)n, kind == SIM_STORE);
    }
}

void lift_record_load(const void *p, size_t bytes);
void lift_record_store(const void *p, size_t bytes);

void lift_record_load(const void *p, size_t bytes)
{
    record(p, bytes, SIM_LOAD);
}

void lift_record_store(const void *p, size_t bytes)
{
    record(p, bytes, SIM_STORE);
}

#define RECORD(p, bytes, kind) record(p, bytes, kind)
#include "counters/watch/hooks.def"
