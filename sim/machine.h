/*
 * The memory side of a machine: its cache levels from the core outwards, and what is behind them.
 *
 * A machine comes from a text file (sim_machine_read), or from the computer it runs on (sim_machine_host, through
 * hwloc). The file is a list of `key = value` lines under [machine] and one [cache NAME] section per level, ordered
 * from the core outwards; `#` starts a comment. Sizes take the suffixes KiB and MiB. See machines/clx4208.cfg.
 *
 *   [machine]     name, memory_latency_cycles; may be left out: description, ukr, gemm_core
 *   [cache NAME]  size or sets, ways, line, latency_cycles; may be left out: policy (lru)
 *
 * NAME is up to 15 letters, digits, '_' or '-'. A key or section may come once; a value may not be empty.
 */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    SIM_MAX_LEVELS = 8,
    SIM_MAX_LINE_BYTES = 1 << 21,  /* a huge page, should the "cache" be a TLB */
    SIM_MAX_LEVEL_LINES = 1 << 28, /* 16 GiB of 64-byte lines; the simulator needs 8 bytes for each */
};

struct sim_level {
    char name[16];         /* "L1", ... */
    char policy[16];       /* replacement policy; "lru" */
    uint64_t n_sets;       /* any number >= 1, not only powers of two; at most SIM_MAX_LEVEL_LINES / n_ways */
    uint32_t n_ways;       /* >= 1 */
    uint32_t line_bytes;   /* a power of two, 1..SIM_MAX_LINE_BYTES; levels may differ */
    double latency_cycles; /* load-to-use latency of a hit in this level */
};

struct sim_machine {
    char name[64];
    char description[192]; /* one line, with the source of the numbers */
    char ukr[48];          /* hint for the layers above: the micro-kernel this machine would run; "" = decide there */
    char gemm_core[32];    /* hint: the OpenBLAS core this machine would run; "" = decide there */
    size_t n_levels;       /* >= 1 */
    struct sim_level level[SIM_MAX_LEVELS];
    double memory_latency_cycles;
};

/* Capacity of one level in bytes: sets * ways * line. */
static inline uint64_t sim_level_bytes(const struct sim_level *l)
{
    return l->n_sets * l->n_ways * l->line_bytes;
}

/*
 * Reads and checks a machine file. Returns 0, or -errno with one line "path:line: what, value" in why[why_bytes]
 * (-EINVAL for any malformed or contradictory content; what open or read said, as "path: what, reason", otherwise). On
 * failure *m is zeroed.
 */
int sim_machine_read(struct sim_machine *m, const char *path, char *why, size_t why_bytes);

/*
 * Describes the computer this runs on, as seen by its first allowed core: data and unified caches from hwloc.
 * hwloc knows no latencies; they are the documented assumptions of machine_host.c. Returns 0, or -errno with one
 * line in why and *m zeroed (-ENOENT if hwloc reports no cache). A level whose
 * ways or line size the firmware hides gets a stated guess, named in m->description.
 */
int sim_machine_host(struct sim_machine *m, char *why, size_t why_bytes);

/*
 * Checks what cannot be simulated: no levels, zero sizes, line not a power of two, unknown policy, more lines
 * than SIM_MAX_LEVEL_LINES, latencies that are negative or not finite. Returns 0 or -EINVAL with one line in why.
 */
int sim_machine_validate(const struct sim_machine *m, char *why, size_t why_bytes);

/*
 * Writes m in the format that sim_machine_read takes. Returns 0, -EIO, or -EINVAL, with nothing written, if m does not
 * validate or has texts that cannot be read back (an empty name, '#', control characters, blanks at the ends).
 */
int sim_machine_print(const struct sim_machine *m, FILE *out);

#endif
