/*
 * Memory that the bench shares with a program in which a plug-in records its accesses (recorder.c). The program writes
 * records into one of two blocks while the bench reads the other block.
 */
#ifndef KERNELS_PLUGIN_RECORDER_H
#define KERNELS_PLUGIN_RECORDER_H

#include <stdatomic.h>

#include "conv_plugin.h"

enum {
    CONV_RECORDER_VERSION = 2,
    CONV_RECORDER_BLOCKS = 2,
    CONV_RECORDER_RECORDS = 1 << 14, /* of a block: both fit a second level */
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

struct conv_recorder_block {
    _Atomic uint32_t is_full; /* a futex: the program waits while is_full is 1, the bench while is_full is 0 */
    uint32_t n;               /* 0: there are no more */
    uint64_t record[CONV_RECORDER_RECORDS];
};

struct conv_recorder {
    uint32_t version;
    _Atomic uint32_t is_stopped; /* by the bench, which wants no more records */
    struct conv_plugin_shape shape;
    struct conv_recorder_memory tensor[CONV_RECORDER_TENSORS]; /* where the program puts the tensors */
    char plan[CONV_RECORDER_PLAN_BYTES];                       /* the user's */
    uint32_t n_regions;
    struct conv_recorder_region region[CONV_RECORDER_REGIONS]; /* memory that the plug-in named */
    char why[256];                                             /* why the program gave up; "": no reason */
    struct conv_recorder_block block[CONV_RECORDER_BLOCKS];
};

/*
 * A record holds an access: its address, below 2^48, then 1 if the access is a store, its width less 1, and a number of
 * the instruction, which many instructions share: records of a loop are equal again and again (record.awk). An address
 * that no program has marks the start of a phase, in its lowest bits.
 */
#define CONV_RECORD_PHASE ((uint64_t)1 << 47)

enum { CONV_RECORD_ADDRESS_BITS = 48, CONV_RECORD_MAX_BYTES = 64, CONV_RECORD_SITES = 512 };

/* Returns the record of an access by an instruction whose number is not known. */
static inline uint64_t conv_record(uint64_t address, uint32_t bytes, int is_store)
{
    return address % CONV_RECORD_PHASE | (uint64_t)(bytes - 1) << 49 | (uint64_t)(is_store != 0) << 48;
}

static inline uint64_t conv_record_address(uint64_t record)
{
    return record & (((uint64_t)1 << CONV_RECORD_ADDRESS_BITS) - 1);
}

static inline int conv_record_is_store(uint64_t record)
{
    return (int)(record >> 48 & 1);
}

static inline uint32_t conv_record_bytes(uint64_t record)
{
    return (uint32_t)(record >> 49 & 63) + 1;
}

static inline uint32_t conv_record_site(uint64_t record)
{
    return (uint32_t)(record >> 55);
}

#endif
