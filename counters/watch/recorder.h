/* Memory shared by the bench and the program in which a plug-in records its accesses (plugin_watcher.c). */
#ifndef COUNTERS_WATCH_RECORDER_H
#define COUNTERS_WATCH_RECORDER_H

#include "counters/watch/ring.h"
#include "kernels/plugin/conv_plugin.h"

enum {
    CONV_RECORDER_VERSION = 4,
    CONV_RECORDER_REGIONS = 16,
    CONV_RECORDER_NAME_BYTES = 40,
    CONV_RECORDER_PLAN_BYTES = 512
};

enum conv_recorder_tensor { CONV_RECORDER_INPUT, CONV_RECORDER_FILTERS, CONV_RECORDER_OUTPUT, CONV_RECORDER_TENSORS };

struct conv_recorder_memory {
    uint64_t at, bytes;
};

struct conv_recorder_region {
    struct conv_recorder_memory memory;
    char name[CONV_RECORDER_NAME_BYTES];
};

struct conv_recorder {
    struct watch_ring ring; /* first: the emulator's plugin knows nothing else */
    uint32_t version __attribute__((aligned(4096)));
    uint32_t n_regions;
    struct conv_plugin_shape shape; /* at this place in a page: plug-ins read the shape, and the reads are counted */
    struct conv_recorder_memory tensor[CONV_RECORDER_TENSORS]; /* where the program puts the tensors */
    struct conv_recorder_memory stack;
    char plan[CONV_RECORDER_PLAN_BYTES];                       /* the user's */
    struct conv_recorder_region region[CONV_RECORDER_REGIONS]; /* memory with a name from the plug-in */
    char why[256];                                             /* why the program gave up; "": success */
};

#endif
