/*
 * The memory side of a machine in numbers: its cache levels with their prefetchers, its TLBs, and the issue rates of
 * its core. hierarchy.h describes the effect of the numbers on a simulation; machine/machine.h reads, checks and writes
 * them.
 */
#ifndef SIM_LEVELS_H
#define SIM_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SIM_MAX_LEVELS = 8,
    SIM_MAX_TLBS = 2,
    SIM_MAX_PREFETCHERS = 5, /* a prefetcher of each kind per level */
    SIM_SOFTWARE_PREFETCHER =
        SIM_MAX_PREFETCHERS, /* prefetch instructions, counted like a further prefetcher of the first level */
    SIM_N_PREFETCHERS,
    SIM_MAX_COMBINING_BUFFERS = 64,
    SIM_MIN_PAGE_BYTES = 1 << 12,
    SIM_MAX_PAGE_BYTES = 1 << 30,
    SIM_MAX_PAGE_TABLES = 4,
    SIM_MAX_LINE_BYTES = 1 << 21,  /* a huge page, should the "cache" be a TLB */
    SIM_MAX_LEVEL_LINES = 1 << 28, /* 16 GiB of 64-byte lines; the simulator needs 8 bytes for each */
};

enum sim_inclusion { SIM_NONINCLUSIVE, SIM_INCLUSIVE, SIM_EXCLUSIVE };

/* The kinds of prefetchers: a line here and a file prefetch_<name>.h with their functions. */
#define SIM_PREFETCH_KINDS(X)                                                                                          \
    X(NEXT_LINE, next_line)                                                                                            \
    X(STREAM, stream)                                                                                                  \
    X(STRIDE, stride)                                                                                                  \
    X(PAIR, pair)                                                                                                      \
    X(REGION, region)

#define SIM_PREFETCH_ENUM(upper, lower) SIM_PREFETCH_##upper,
enum sim_prefetch_kind { SIM_PREFETCH_NONE, SIM_PREFETCH_KINDS(SIM_PREFETCH_ENUM) SIM_PREFETCH_KINDS_END };

/* A prefetcher's parameters; prefetch.h describes each. 0: the usual value of the kind. */
struct sim_prefetch {
    uint8_t kind;     /* enum sim_prefetch_kind; SIM_PREFETCH_NONE ends a level's list */
    uint8_t degree;   /* lines asked for at once */
    uint8_t distance; /* how far ahead */
    uint8_t train;    /* accesses that the prefetcher wants to see before its first request */
    uint8_t first;    /* lines asked for the first time, if not degree */
    uint8_t reach;    /* longest step, in lines, that continues a stream */
    uint8_t entries;  /* pages or instructions that the prefetcher watches */
    uint8_t late;     /* requests of the core until a line has come */
    uint8_t on;       /* enum sim_prefetch_on */
    uint8_t key;      /* enum sim_prefetch_key */
    uint8_t pages;    /* enum sim_prefetch_pages */
};

enum sim_prefetch_on { SIM_PREFETCH_ON_ALL = 1, SIM_PREFETCH_ON_MISS, SIM_PREFETCH_ON_DEMAND };
enum sim_prefetch_key { SIM_PREFETCH_BY_TAG = 1, SIM_PREFETCH_BY_RUN };
enum sim_prefetch_pages { SIM_PREFETCH_STAYS = 1, SIM_PREFETCH_CROSSES };

/* All fields after latency_cycles: 0 is the default and the plain engine's behaviour. */
struct sim_level {
    char name[16];         /* "L1", ... */
    char policy[24];       /* replacement policy; "lru" */
    uint64_t n_sets;       /* any number >= 1, not only powers of two; at most SIM_MAX_LEVEL_LINES / n_ways */
    uint32_t n_ways;       /* >= 1 */
    uint32_t line_bytes;   /* a power of two, 1..SIM_MAX_LINE_BYTES; levels may differ */
    double latency_cycles; /* load-to-use latency of a hit in this level */
    double bandwidth_bytes_per_cycle; /* towards the level inside; 0: not stated */
    uint32_t miss_buffers;            /* lines that the level can wait for at once; 0: not stated */
    uint64_t seed;
    uint32_t n_slices;          /* 0 and 1: not sliced */
    uint8_t inclusion;          /* enum sim_inclusion, with respect to the levels inside; the first level has none */
    bool is_write_through;      /* else write-back */
    bool no_write_allocate;     /* a write that misses goes past the level */
    bool no_full_store_fetch;   /* a store that covers the whole line needs no fetch */
    bool is_physically_indexed; /* the set follows from the physical address */
    bool is_classified;         /* count compulsory, capacity and conflict misses */
    struct sim_prefetch prefetch[SIM_MAX_PREFETCHERS];
};

struct sim_tlb {
    char name[16];
    uint32_t n_entries; /* a multiple of n_ways */
    uint32_t n_ways;    /* LRU within a set; set = page number mod (n_entries / n_ways) */
};

/*
 * Issue rates of the core, for estimates by the layers above; the simulator ignores the rates. A multiply-add
 * instruction updates an outer product of rows * columns: 4 * 4 for POWER10's xvf32gerpp, 1 * 16 for an AVX-512 FMA.
 */
struct sim_issue {
    double clock_ghz; /* 0: not stated, as for all fields here */
    uint32_t mac_rows, mac_columns;
    double mac_instructions_per_cycle;
    /* Multiply-adds of narrow elements: vdpbf16ps, vpdpbusd; 0: not known, or none. */
    double mac_bf16_instructions_per_cycle, mac_vnni_instructions_per_cycle;
    /* AMX, as half steps of a product of tiles: 8 filters by 16 windows by a lane of 4 bytes; 0: not known, or none. */
    double mac_amx_bf16_instructions_per_cycle, mac_amx_int8_instructions_per_cycle;
    double loads_per_cycle, stores_per_cycle; /* instructions of a multiply-add's width; see struct sim_core */
};

enum { SIM_MAX_MAC_EXTENT = 1024 };

/* Which lines between caches pass only while the first level serves no load. */
enum sim_transfers {
    SIM_TRANSFERS_OVERLAP, /* none */
    SIM_TRANSFERS_STOP,    /* all */
    SIM_TRANSFERS_OUTER,   /* lines into the first level; further out, lines pass beside loads */
};

/* The core between its accesses, for sim/core; the simulator of caches ignores the core. */
struct sim_core {
    uint32_t width;              /* operations that the core takes up in a cycle; 0: nothing is known of the core */
    uint32_t window;             /* operations from the oldest unfinished operation to the youngest */
    uint32_t load_buffers;       /* loads in the window */
    uint32_t store_buffers;      /* stores in the window and after it */
    uint32_t walkers;            /* page walks at once */
    uint32_t store_misses;       /* lines that stores wait for at once; 0: the first level's miss_buffers */
    uint32_t foreseen_passes;    /* the end of a loop of as many passes, or fewer, is foreseen; 0: of no loop */
    double misprediction_cycles; /* until the right path begins */
    double sustained_operations_per_cycle; /* by a loop of independent operations */
    double serial_operations_per_cycle;    /* by code of dependent operations, such as calls */
    double narrow_loads_per_cycle;         /* of loads narrower than a multiply-add's vector; 0: as of all loads */
    double narrow_stores_per_cycle;        /* likewise */
    double mac_latency_cycles; /* until a sum takes the next product; 0: not stated, no chain is waited for */
    bool never_timed;          /* no cycles were held against the time of such a machine */
    bool hides_far_stores;     /* nothing waits for a line out of order that a step only stores to, */
    bool hides_far_prefetches; /* or that a prefetcher asked for */
    uint8_t transfers;         /* enum sim_transfers */
};

enum { SIM_MAX_CORE_OPERATIONS = 1 << 16 };

/* All fields after memory_latency_cycles: 0 is the default and the plain engine's behaviour. */
struct sim_machine {
    char name[64];
    char description[192]; /* a line with the source of the numbers */
    char ukr[48];          /* hint for the layers above: the micro-kernel this machine would run; "" = decide there */
    char gemm_core[32];    /* hint: the OpenBLAS core this machine would run; "" = decide there */
    char cpus[64];         /* the CPUs that the file describes: machine_cpu.h */
    char calibrated[128];  /* the date and the CPU of the measured latencies: "2026-11-22, ..." */
    size_t n_levels;       /* >= 1 */
    struct sim_level level[SIM_MAX_LEVELS];
    double memory_latency_cycles;
    double memory_bandwidth_bytes_per_cycle;       /* 0: not stated */
    double memory_store_bandwidth_bytes_per_cycle; /* of lines for stores alone; 0: as of all lines */
    double memory_scattered_cycles;                /* additional cycles of a line far from all lines read before */
    uint32_t memory_recent_lines;                  /* see sim_machine_recent_lines */
    uint64_t page_bytes;        /* a power of two, SIM_MIN_PAGE_BYTES..SIM_MAX_PAGE_BYTES; 0: 4 KiB */
    uint64_t frame_bytes;       /* block that stays together in memory; page_bytes or more; 0: a page */
    uint64_t page_seed;         /* seed of the page map */
    uint32_t page_tables;       /* tables that a page walk reads; 0: walks are not simulated */
    uint32_t combining_buffers; /* for non-temporal stores; 0: they are ordinary stores */
    bool has_software_prefetch; /* prefetch instructions are heeded */
    bool has_stack;             /* a hint: streams should have the compiled code's accesses to its stack */
    size_t n_tlbs;
    struct sim_tlb tlb[SIM_MAX_TLBS];
    struct sim_issue issue;
    struct sim_core core;
};

/* Returns the capacity of a level in bytes: sets * ways * line. */
static inline uint64_t sim_level_bytes(const struct sim_level *l)
{
    return l->n_sets * l->n_ways * l->line_bytes;
}

static inline uint64_t sim_machine_page_bytes(const struct sim_machine *m)
{
    return m->page_bytes ? m->page_bytes : SIM_MIN_PAGE_BYTES;
}

enum { SIM_MAX_RECENT_LINES = 64 };

/* Returns how many lines lately read from memory make a line near them cheap: memory_recent_lines; 0: 16. */
static inline uint32_t sim_machine_recent_lines(const struct sim_machine *m)
{
    return m->memory_recent_lines ? m->memory_recent_lines : 16;
}

static inline uint64_t sim_machine_frame_bytes(const struct sim_machine *m)
{
    return m->frame_bytes ? m->frame_bytes : sim_machine_page_bytes(m);
}

#endif
