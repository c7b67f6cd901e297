/* What the recorded text calls for its accesses: built as it is, without instrumentation, and linked with the text. */
#include "experiments/papers/lift/recorder.h"
#include "sim/base/record.h"

struct lift_recorder lift_recorder;

static void record(const void *p, size_t bytes, enum sim_kind kind)
{
    if (lift_recorder.next == lift_recorder.end)
        lift_recorder.full(&lift_recorder);
    *lift_recorder.next++ = sim_record((uintptr_t)p, (uint32_t)bytes, kind, 0, 0);
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
