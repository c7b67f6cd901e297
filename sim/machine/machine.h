/*
 * The memory side of a machine: its cache levels from the core outwards, and what is behind them.
 *
 * A machine comes from a text file (sim_machine_read), or from the computer it runs on (sim_machine_host, through
 * hwloc). The file is a list of `key = value` lines under [machine] and one [cache NAME] section per level, ordered
 * from the core outwards; `#` starts a comment. Sizes take k, m, g or KiB, MiB, GiB. See machines/clx4208.cfg.
 *
 *   [machine]     name, memory_latency_cycles; may be left out: description, ukr, gemm_core, cpus, calibrated,
 *                 memory_bandwidth_bytes_per_cycle, page, frame, page_seed, page_tables, combining_buffers,
 *                 software_prefetch, stack, and
 *                 what the core issues per cycle, for estimates: clock_ghz, mac_rows, mac_columns,
 *                 mac_instructions_per_cycle, loads_per_cycle, stores_per_cycle (struct sim_issue)
 *   [cache NAME]  size or sets, ways, line, latency_cycles; may be left out, what they are then in parentheses:
 *                 policy              see replacement.h (lru)
 *                 seed                of policy random, any 64-bit number (0)
 *                 inclusion           noninclusive | inclusive | exclusive of the levels inside (noninclusive)
 *                 write               back | through (back)
 *                 allocate            yes | no: whether a write that misses brings the line in (yes)
 *                 store_fetch         always | partial: whether a store that covers a whole line, misses and
 *                                     allocates fetches it all the same (always)
 *                 prefetch            a list, see prefetch.h: `next_line degree=1, stream degree=2 distance=8` (none)
 *                 indexing            virtual | physical: which address chooses the set (virtual)
 *                 slices              equal parts, a power of two, chosen by a hash of the line number (1)
 *                 hash                xor-fold, the only one (xor-fold)
 *                 classify            none | 3c (none)
 *                 bandwidth_bytes_per_cycle  for estimate.h (not stated)
 *   [tlb NAME]    at most two, the one nearest the core first: entries; may be left out: ways (as many as entries)
 *
 * What these do to a simulation is in hierarchy.h.
 *
 * NAME is up to 15 letters, digits, '_' or '-', and none of core, memory, estimate, tag, phase, which reports use. Names may repeat only between caches and TLBs. The machine's name is
 * that of a folder of results too: up to 63 letters, digits, '_', '-', '.' and '+', a letter or digit first. A key or
 * section may come once; a value may not be empty.
 */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    SIM_MAX_LEVELS = 8,
    SIM_MAX_TLBS = 2,
    SIM_MAX_PREFETCHERS = 5, /* one of each kind per level */
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

/* What a prefetcher's words mean: prefetch.h. A 0 is what its kind usually has. */
struct sim_prefetch {
    uint8_t kind;     /* enum sim_prefetch_kind; SIM_PREFETCH_NONE ends a level's list */
    uint8_t degree;   /* lines asked for at once */
    uint8_t distance; /* how far ahead */
    uint8_t train;    /* how much it wants to see before it asks */
    uint8_t first;    /* lines asked for the first time, if not degree */
    uint8_t reach;    /* longest step, in lines, that a stream goes on with */
    uint8_t entries;  /* how many pages or instructions it watches */
    uint8_t late;     /* requests of the core until a line has come */
    uint8_t on;       /* enum sim_prefetch_on */
    uint8_t key;      /* enum sim_prefetch_key */
    uint8_t pages;    /* enum sim_prefetch_pages */
};

enum sim_prefetch_on { SIM_PREFETCH_ON_ALL = 1, SIM_PREFETCH_ON_MISS, SIM_PREFETCH_ON_DEMAND };
enum sim_prefetch_key { SIM_PREFETCH_BY_TAG = 1, SIM_PREFETCH_BY_RUN };
enum sim_prefetch_pages { SIM_PREFETCH_STAYS = 1, SIM_PREFETCH_CROSSES };

/* All fields after latency_cycles: 0 is the default and what the plain engine does. */
struct sim_level {
    char name[16];         /* "L1", ... */
    char policy[24];       /* replacement policy; "lru" */
    uint64_t n_sets;       /* any number >= 1, not only powers of two; at most SIM_MAX_LEVEL_LINES / n_ways */
    uint32_t n_ways;       /* >= 1 */
    uint32_t line_bytes;   /* a power of two, 1..SIM_MAX_LINE_BYTES; levels may differ */
    double latency_cycles; /* load-to-use latency of a hit in this level */
    double bandwidth_bytes_per_cycle; /* towards the level inside; 0: not stated */
    uint64_t seed;
    uint32_t n_slices;          /* 0 and 1: not sliced */
    uint8_t inclusion;          /* enum sim_inclusion, with respect to the levels inside; the first level has none */
    bool is_write_through;      /* else write-back */
    bool no_write_allocate;     /* a write that misses goes past */
    bool no_full_store_fetch;   /* a store that covers the whole line does not fetch it */
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
 * What the core can issue, for estimates by the layers above; the simulator does not look at it. A multiply-add
 * instruction updates an outer product of rows * columns: 4 * 4 for POWER10's xvf32gerpp, 1 * 16 for an AVX-512 FMA.
 */
struct sim_issue {
    double clock_ghz; /* all of these: 0 is not stated */
    uint32_t mac_rows, mac_columns;
    double mac_instructions_per_cycle;
    double loads_per_cycle, stores_per_cycle; /* instructions of any width */
};

enum { SIM_MAX_MAC_EXTENT = 1024 };

/* All fields after memory_latency_cycles: 0 is the default and what the plain engine does. */
struct sim_machine {
    char name[64];
    char description[192]; /* one line, with the source of the numbers */
    char ukr[48];          /* hint for the layers above: the micro-kernel this machine would run; "" = decide there */
    char gemm_core[32];    /* hint: the OpenBLAS core this machine would run; "" = decide there */
    char cpus[64];         /* which CPUs this describes: machine_cpu.h */
    char calibrated[128];  /* the date of its latencies and the CPU that they were measured on: "2026-11-22, ..." */
    size_t n_levels;       /* >= 1 */
    struct sim_level level[SIM_MAX_LEVELS];
    double memory_latency_cycles;
    double memory_bandwidth_bytes_per_cycle; /* 0: not stated */
    uint64_t page_bytes;                     /* a power of two, SIM_MIN_PAGE_BYTES..SIM_MAX_PAGE_BYTES; 0: 4 KiB */
    uint64_t frame_bytes;       /* what stays together in memory: likewise, page_bytes or more; 0: a page */
    uint64_t page_seed;         /* which page map */
    uint32_t page_tables;       /* that a page walk reads; 0: walks are not simulated */
    uint32_t combining_buffers; /* for non-temporal stores; 0: those are ordinary stores */
    bool has_software_prefetch; /* prefetch instructions are heeded */
    bool has_stack;             /* a hint: streams are to have what compiled code does on its stack */
    size_t n_tlbs;
    struct sim_tlb tlb[SIM_MAX_TLBS];
    struct sim_issue issue;
};

/* Capacity of one level in bytes: sets * ways * line. */
static inline uint64_t sim_level_bytes(const struct sim_level *l)
{
    return l->n_sets * l->n_ways * l->line_bytes;
}

static inline uint64_t sim_machine_page_bytes(const struct sim_machine *m)
{
    return m->page_bytes ? m->page_bytes : SIM_MIN_PAGE_BYTES;
}

static inline uint64_t sim_machine_frame_bytes(const struct sim_machine *m)
{
    return m->frame_bytes ? m->frame_bytes : sim_machine_page_bytes(m);
}

/*
 * Whether all of m is the default that the plain engine simulates: LRU, non-inclusive, write-back, write-allocate,
 * virtual indexing, and no prefetch, slices, classes, TLBs or combining buffers.
 */
bool sim_machine_is_plain(const struct sim_machine *m);

/*
 * The machine with its caches alone, the paper's view: LRU caches of the same sizes, ways and lines that fetch what is
 * asked for and no more. Of levels that exclude each other nothing is left but their sizes.
 */
struct sim_machine sim_machine_caches_alone(const struct sim_machine *m);

/*
 * Takes from m what fetches lines that no load or store asked for, prefetchers and software_prefetch: the machine as
 * its caches alone would be.
 */
void sim_machine_strip_prefetch(struct sim_machine *m);

/*
 * Reads and checks a machine file. Returns 0, or -errno with one line "path:line: what, value" in why[why_bytes]
 * (-EINVAL for any malformed or contradictory content; what open or read said, as "path: what, reason", otherwise). On
 * failure *m is zeroed.
 */
int sim_machine_read(struct sim_machine *m, const char *path, char *why, size_t why_bytes);

/* Does the same from an open file; path only serves the messages. */
int sim_machine_parse(struct sim_machine *m, FILE *in, const char *path, char *why, size_t why_bytes);

/* A key of a machine file and its value: "L1.size" and "16K", "L2.prefetch", "memory_latency_cycles". */
struct sim_setting {
    const char *key;   /* of [machine]; or that of a cache or TLB after its name and a dot. A cache hides a TLB */
    const char *value; /* as in the file; K and M stand for KiB and MiB, too. "none" as a prefetch: no prefetcher */
};

/*
 * Changes keys of a machine, all at once. What does not appear stays: after a change of ways a level has the same size,
 * unless its sets are set. Returns 0; -EINVAL with one line in why that names the settings, and *m as it was: for keys
 * and values that do not exist or contradict each other, and for a machine that sim_machine_print refuses; -ENOMEM.
 */
int sim_machine_set(struct sim_machine *m, const struct sim_setting *setting, size_t n, char *why, size_t why_bytes);

/*
 * Describes the computer this runs on, as seen by its first allowed core: data and unified caches from hwloc.
 * hwloc knows no latencies; they are the documented assumptions of machine_host.c. Returns 0, or -errno with one
 * line in why and *m zeroed (-ENOENT if hwloc reports no cache). A level whose
 * ways or line size the firmware hides gets a stated guess, named in m->description.
 */
int sim_machine_host(struct sim_machine *m, char *why, size_t why_bytes);

/*
 * Checks what cannot be simulated: no levels, zero sizes, line not a power of two, unknown policy, more lines
 * than SIM_MAX_LEVEL_LINES, latencies that are negative or not finite, and what hierarchy.h says contradicts itself.
 * Returns 0 or -EINVAL with one line in why.
 */
int sim_machine_validate(const struct sim_machine *m, char *why, size_t why_bytes);

/*
 * Writes m in the format that sim_machine_read takes. Returns 0, -EIO, or -EINVAL, with nothing written, if m does not
 * validate or has texts that cannot be read back (an empty name, '#', control characters, blanks at the ends).
 */
int sim_machine_print(const struct sim_machine *m, FILE *out);

#endif
