#include "tests/counters/expected_events.h"

#include <stdio.h>
#include <string.h>

/* Intel: event | unit mask << 8, equal on all CPUs but spr and hsw. */
static const struct expected_event intel[] = {
    { "LOADS", 0x81d0 },
    { "PREFETCHES", 0xf32 },
    { "STORES", 0x82d0 },
    { "L1_HIT", 0x1d1 },
    { "L1_MISS", 0x8d1 },
    { "FB_HIT", 0x40d1 },
    { "L2_HIT", 0x2d1 },
    { "L2_MISS", 0x10d1 },
    { "L3_HIT", 0x4d1 },
    { "COMMON/L3_MISS", 0x412e },
    { "L3_MISS", 0x20d1 },
    { "SPLIT_LOADS", 0x41d0 },
    { "STLB_MISS_LOADS", 0x11d0 },
    { "L1_LINES_IN", 0x151 },
    { "L2_LINES_IN", 0x1ff1 },
    { "L2_LINES_OUT", 0x2f2 },
    { "RFO", 0xe224 },
    { "RFO_MISS", 0x2224 },
    { "L3_REFERENCES", 0x4f2e },
    { "L3_MISSES", 0x412e },
    { "BRANCHES", 0xc4 },
    { "MISPREDICTED", 0xc5 },
    { "LOAD_STLB_HIT", 0x2008 },
    { "LOAD_WALK", 0xe08 },
    { "STORE_STLB_HIT", 0x2049 },
    { "STORE_WALK", 0xe49 },
    { "INSTRUCTIONS", 0xc0 },
    { "CYCLES", 0x3c },
    { NULL, 0 },
};

static const struct expected_event spr_only[] = {
    { "PREFETCHES", 0xf40 }, { "L2_LINES_IN", 0x1f25 },    { "L2_LINES_OUT", 0x226 }, { "LOAD_STLB_HIT", 0x2012 },
    { "LOAD_WALK", 0xe12 },  { "STORE_STLB_HIT", 0x2013 }, { "STORE_WALK", 0xe13 },   { NULL, 0 },
};

static const struct expected_event hsw_only[] = {
    { "L2_LINES_IN", 0x7f1 },
    { "LOAD_STLB_HIT", 0x6008 },
    { "STORE_STLB_HIT", 0x6049 },
    { NULL, 0 },
};

/* AMD: equal on all CPUs, unless the unit masks of the sources differ. */
static const struct expected_event amd[] = {
    { "LOADS", 0x529 },
    { "PREFETCHES", 0x74b },
    { "STORES", 0x629 },
    { "CACHE/FILLS", 0xdf43 },
    { "CACHE/FILLS_BEYOND_L2", 0xde43 },
    { "CACHE/FILLS_BEYOND_L3", 0xdc43 },
    { "FILLS", 0xdf44 },
    { "FILLS_BEYOND_L2", 0xde44 },
    { "FILLS_DRAM", 0x4844 },
    { "FILLS_FROM_MEMORY", 0xdc44 },
    { "DEMAND_FILLS", 0xdf43 },
    { "PREFETCH_FILLS", 0xdf5a },
    { "HARDWARE_FILLS", 0xdf5a },
    { "SOFTWARE_FILLS", 0xdf59 },
    { "L2_DATA_MISS", 0x864 },
    { "L2_MISS", 0x864 },
    { "L2_STORE_REQUESTS", 0x4060 },
    { "L2_PREFETCH_HIT_L3", 0x1f71 },
    { "L2_PREFETCH_MISS_L3", 0x1f72 },
    { "DTLB_MISS", 0xff45 },
    { "BRANCHES", 0xc2 },
    { "MISPREDICTED", 0xc3 },
    { "INSTRUCTIONS", 0xc0 },
    { "CYCLES", 0x76 },
    { NULL, 0 },
};

static const struct expected_event zen3_only[] = {
    { "CACHE/FILLS", 0x5f43 },           { "CACHE/FILLS_BEYOND_L2", 0x5e43 },
    { "CACHE/FILLS_BEYOND_L3", 0x5c43 }, { "FILLS", 0x5f44 },
    { "FILLS_BEYOND_L2", 0x5e44 },       { "FILLS_FROM_MEMORY", 0x5c44 },
    { "DEMAND_FILLS", 0x5f43 },          { "HARDWARE_FILLS", 0x5f5a },
    { "SOFTWARE_FILLS", 0x5f59 },        { NULL, 0 },
};

static const struct expected_event zen2_only[] = {
    { "CACHE/FILLS", 0x5b43 },           { "CACHE/FILLS_BEYOND_L2", 0x5a43 },
    { "CACHE/FILLS_BEYOND_L3", 0x4843 }, { "DEMAND_FILLS", 0x5b43 },
    { "HARDWARE_FILLS", 0x5b5a },        { "SOFTWARE_FILLS", 0x5b59 },
    { "DEMAND_FROM_MEMORY", 0x4843 },    { "HARDWARE_FROM_MEMORY", 0x485a },
    { "SOFTWARE_FROM_MEMORY", 0x4859 },  { NULL, 0 },
};

static const struct expected_event power10[] = {
    { "LOADS", 0x4003e },        { "L1_MISS", 0x300f6 },    { "L2_MISS", 0x200fe },
    { "LOAD_REFS", 0x100fc },    { "L3_MISS", 0x300fe },    { "L1_MISS_LOADS", 0x400f0 },
    { "STORES", 0x200f0 },       { "STORE_MISS", 0x300f0 }, { "FROM_MEMORY", 0x400fe },
    { "PREFETCHES", 0x1002c },   { "MMA_ISSUED", 0x1000e }, { "DTLB_MISS", 0x300fc },
    { "L1_RELOADS", 0x300f6 },   { "BRANCHES", 0x4d05e },   { "MISPREDICTED", 0x400f6 },
    { "INSTRUCTIONS", 0x500fa }, { "CYCLES", 0x600f4 },     { NULL, 0 },
};

static const struct expected_event software[] = {
    { "TASK_CLOCK", 1 },   { "PAGE_FAULTS", 2 }, { "CONTEXT_SWITCHES", 3 }, { "MIGRATIONS", 4 }, { "MINOR_FAULTS", 5 },
    { "MAJOR_FAULTS", 6 }, { NULL, 0 },
};

const struct expected_folder expected_folders[] = {
    { "hsw", "hsw", RAW_EVENT, hsw_only, intel },
    { "skl", "skl", RAW_EVENT, NULL, intel },
    { "skx", "skx", RAW_EVENT, NULL, intel },
    { "clx", "clx", RAW_EVENT, NULL, intel },
    { "icl", "icl", RAW_EVENT, NULL, intel },
    { "icx", "icx", RAW_EVENT, NULL, intel },
    { "spr", "spr", RAW_EVENT, spr_only, intel },
    { "adl", NULL, RAW_EVENT, spr_only, intel },
    { "zen2", "amd64_fam17h_zen2", RAW_EVENT, zen2_only, amd },
    { "zen3", "amd64_fam19h_zen3", RAW_EVENT, zen3_only, amd },
    { "zen4", "amd64_fam19h_zen4", RAW_EVENT, NULL, amd },
    { "zen5", NULL, RAW_EVENT, NULL, amd },
    { "power10", NULL, RAW_EVENT, NULL, power10 },
    { "software", NULL, SOFTWARE_EVENT, NULL, software },
};

const size_t n_expected_folders = sizeof expected_folders / sizeof expected_folders[0];

bool expected_is_power(const struct expected_folder *u)
{
    return u->usual == power10;
}

bool expected_is_software(const struct expected_folder *u)
{
    return u->usual == software;
}

bool expected_can_be_encoded(const struct expected_folder *u)
{
#if defined(__x86_64__)
    (void)u;
    return true;
#else
    return u->type != RAW_EVENT || expected_is_power(u);
#endif
}

/* Finds label, or group/label where groups differ. */
static const struct expected_event *find_in(const struct expected_event *e, const char *group, const char *label)
{
    char full[80];

    snprintf(full, sizeof full, "%s/%s", group, label);
    for (; e && e->label; e++)
        if (!strcmp(e->label, label) || !strcmp(e->label, full))
            return e;
    return NULL;
}

const struct expected_event *expected_find(const struct expected_folder *u, const char *group, const char *label)
{
    const struct expected_event *x = find_in(u->special, group, label);

    return x ? x : find_in(u->usual, group, label);
}
