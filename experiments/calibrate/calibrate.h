/*
 * The parts of `make calibrate`: a computer under test, patterns of known addresses, records by counters or by time,
 * the replay on a simulated machine, and the fit of the machine's prefetchers.
 */
#ifndef EXPERIMENTS_CALIBRATE_CALIBRATE_H
#define EXPERIMENTS_CALIBRATE_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "counters/host/ctr_pages.h"
#include "counters/perf/ctr_stream.h"
#include "counters/proof/ctr_counters.h"
#include "experiments/base/error.h"
#include "experiments/base/record.h"
#include "experiments/base/stats.h"
#include "sim/machine/machine.h"

/* ---- computer ---- */

/*
 * A computer under calibration: the operations and their times. exp_native_init makes this computer; tests make
 * artificial computers.
 */

/*
 * A probe of a line. The ground from flush_first to flush_end is flushed; further pages are touched to reset
 * prefetchers; the offsets are loaded, each load dependent on the previous load and gap_ticks later; sweep_bytes of
 * further memory are read; then a load of the probed byte is timed.
 */
struct exp_look {
    const uint64_t *offset; /* [n] into the ground */
    size_t n;
    uint64_t flush_first, flush_end;
    uint64_t probed;
    uint64_t gap_ticks;
    size_t sweep_bytes;
    uint32_t seed; /* which further pages */
};

enum { EXP_GROUND_BYTES = 2 << 20 };

/*
 * Lines in random order, step_bytes apart in memory, each with the address of the next: every load waits for the
 * previous load. First all lines are loaded; then they are flushed, or sweep_bytes of further memory are read, or
 * neither; then n_loads are timed, all of different lines if n_loads is at most n_lines.
 */
struct exp_ring {
    size_t n_lines, step_bytes, sweep_bytes, n_loads;
    bool is_flushed;
    bool is_shared; /* EXP_AT_ONCE loads at once go round, from places as far apart; n_loads in all */
    bool is_stored; /* lines are stored to in the ring's order, and no store waits for another */
    bool is_loose;  /* lines are loaded in the ring's order, from small pages, and no load waits for another */
    bool is_sorted; /* the ring is in order of addresses */
};

enum { EXP_AT_ONCE = 32, EXP_LOOSE_BYTES = 160 << 20 }; /* the most memory of a loose ring */

struct exp_computer {
    void *context;

    /* The ticks of the load, without the cost of reading the clock. */
    double (*look)(void *context, const struct exp_look *l);

    /* The nanoseconds of a load of a ring, or of a store. */
    double (*chase)(void *context, const struct exp_ring *r);

    /* Bytes per nanosecond of a loop over a working set; flushed: once, all lines come from memory. */
    double (*stream)(void *context, const struct ctr_stream *s, size_t bytes, bool flushed);

    /* The core's clock now, in GHz; 0 if nothing tells. */
    double (*clock)(void *context);
};

struct exp_native {
    struct exp_computer computer;
    struct ctr_pages ground, others, set; /* walked; to forget by, and to sweep; of the chase and the streams */
    struct ctr_pages small;               /* of loose rings */
    double overhead_ticks, overhead_ns, ticks_per_ns;
};

/*
 * This computer, for working sets of up to set_bytes and sweeps of up to sweep_bytes. n must not move. Returns 0, or
 * -errno with a line in why: -ENOTSUP if this CPU family cannot flush lines or has only a coarse clock, or for an
 * emulator; -ENOMEM.
 */
int exp_native_init(struct exp_native *n, size_t set_bytes, size_t sweep_bytes, struct exp_why *why);
void exp_native_release(struct exp_native *n); /* all zeros are fine */

/* Describes the pages of the memory: "2 MiB pages". */
void exp_native_describe_pages(const struct exp_native *n, char *text, size_t bytes);

/* ---- pattern ---- */

/*
 * Access patterns of known addresses, as data: a calibration walks a pattern on a computer and replays the pattern on a
 * simulated machine.
 *
 * A pattern is groups of accesses, group_bytes apart. In each group `run` accesses are made, from byte `first` of the
 * group on, step_bytes apart. Groups come in ascending, descending or shuffled order, or are drawn at random, n_groups
 * of them, all n_passes times. With streams, access i of every stream is made before access i + 1 of any; stream s lies
 * s * part_bytes into the buffer. With moving groups, each of the first n_moving accesses of a pass is followed by an
 * access behind the groups; these accesses go on from pass to pass, in a circle through the rest of the buffer. The
 * last n_stored streams are stored to, all further streams loaded. A recorded row has only the name and two numbers;
 * the table in pattern.c has the rest.
 */

enum exp_pattern_order { EXP_PATTERN_ASCENDING, EXP_PATTERN_DESCENDING, EXP_PATTERN_SHUFFLED, EXP_PATTERN_DRAWN };

struct exp_pattern {
    enum exp_pattern_order order;
    int64_t group_bytes, n_groups; /* 0 groups: as many as fit into the buffer */
    int64_t run, first_bytes, step_bytes;
    int64_t n_streams, part_bytes; /* 0 bytes: the buffer's share, in whole pages */
    int64_t n_stored;
    int64_t n_moving;
    int64_t n_passes;
    uint64_t buffer_bytes;
};

/* The most parameters of a list. The first parameter may be 0; a later 0 ends the list. */
enum { EXP_MOST_LISTED = 12 };

static inline bool exp_list_goes_on(const long list[EXP_MOST_LISTED], size_t i)
{
    return i < EXP_MOST_LISTED && (!i || list[i]);
}

enum { EXP_PATTERN_LINE = 64, EXP_PATTERN_PAGE = 4096 };

enum { EXP_PATTERN_STORE = 1 }; /* added to the offset of a store; offsets are multiples of 4 */

/* The pattern of a name and two numbers in a buffer. Returns 0, or -ENOENT for a name that is not in the table. */
int exp_pattern_find(struct exp_pattern *p, const char *name, int64_t p1, int64_t p2, uint64_t buffer_bytes);

/*
 * Returns the first accesses of p, at most max, as byte offsets into its buffer, to be freed; *n is their number.
 * Stores have EXP_PATTERN_STORE added. A pattern has equal offsets on every computer.
 */
uint64_t *exp_pattern_offsets(const struct exp_pattern *p, size_t max, size_t *n);

/* ---- recorded ---- */

/*
 * Recorded counts of access patterns (results/reference/zen3/patterns/README.md has the columns): the rows whose
 * pattern is in the table of pattern.c. Chased patterns were walked with dependent loads: prefetches have time to
 * finish. Further patterns were walked at full speed.
 */

/* Says where the buffer is before the walk. */
enum exp_recorded_place {
    EXP_RECORDED_L2,
    EXP_RECORDED_L3,
    EXP_RECORDED_MEMORY,
    EXP_RECORDED_CYCLE,
    EXP_RECORDED_MIXED,
    EXP_N_RECORDED_PLACES,
};

enum exp_recorded_quantity { EXP_RECORDED_L1_LINES, EXP_RECORDED_L1_DEMAND, EXP_RECORDED_L2_LINES, EXP_N_RECORDED };

struct exp_recorded_row {
    char name[48]; /* of the pattern */
    long p1, p2;
    enum exp_recorded_place place;
    char pages[8];
    uint64_t page_bytes;
    bool is_chased;
    struct exp_pattern pattern;
    double accesses;
    double counted[EXP_N_RECORDED]; /* per access; NAN: not countable on the CPU */
};

struct exp_recorded {
    struct exp_recorded_row *row;
    size_t n;
};

#define EXP_RECORDED_CHASED "_chased" /* the end of the names of chased patterns */

extern const char *const exp_recorded_names[EXP_N_RECORDED];
extern const char *const exp_recorded_quantities[EXP_N_RECORDED]; /* as ctr_quantity.h has them */
extern const char *const exp_recorded_places[];                   /* by place */

/* Reads a file of counts. Returns 0, or -errno with a line in why and *r empty. */
int exp_recorded_read(struct exp_recorded *r, const char *path, struct exp_why *why);
void exp_recorded_release(struct exp_recorded *r);

/*
 * Replays recorded patterns on a simulated machine, and computes the errors.
 *
 * The walk's own reads of its list of offsets, four bytes for each access, are replayed as a separate instruction, as
 * are the accesses that placed the buffer. With dependent loads prefetches have time to finish: `late` does not count.
 *
 * Panels are read repeatedly: recorded walks have 24 passes or more. The replay has fewer passes, and does not count
 * the first half.
 *
 * The error of a quantity is |simulated - counted| / counted. There is no error below EXP_COMPARISON_FLOOR counted
 * lines per access, the noise of counts; nor for lines into L2 of a buffer in L2: these counts are lines evicted by
 * further programs.
 */

#define EXP_COMPARISON_FLOOR 0.05

struct exp_comparison {
    double simulated[EXP_N_RECORDED]; /* per access */
    double error[EXP_N_RECORDED];     /* NAN: none */
};

/*
 * Replays all rows, each cut to max_accesses (panels: to eight times as many), on m with at least two levels, into
 * c[r->n]. Returns 0 or -ENOMEM.
 */
int exp_compare(struct exp_comparison *c, const struct exp_recorded *r, const struct sim_machine *m,
                size_t max_accesses, size_t n_threads);

/* Selects errors: of a quantity, of dependent or independent loads. */
struct exp_comparison_choice {
    const struct exp_recorded *r;
    const struct exp_comparison *c; /* [r->n] */
    enum exp_recorded_quantity q;
    bool is_chased;
};

/* Returns the quantiles of the errors, over rows with an error. */
struct exp_spread exp_comparison_errors(const struct exp_comparison_choice *of);

/*
 * Returns the objective of a fit: the mean error over rows and the selected quantities (bits by enum
 * exp_recorded_quantity), each at most 1. The error of lines by demand is relative to all lines into L1, because few
 * lines by demand make large relative errors.
 */
double exp_comparison_score(const struct exp_comparison *c, const struct exp_recorded *r, unsigned quantities);

/* ---- timed ---- */

/*
 * Holds the lines found near by the clock after short patterns (results/reference/spr/prefetch/README.md has the
 * columns), and the lines near on a simulated machine: each probe follows a walk of its own, in untouched memory. A
 * line is near if its load hits in a level; on the computer, if half of the rounds say near (column near_share) or, in
 * files without the column, if the load took less than EXP_TIMED_NEAR cycles.
 */

#define EXP_TIMED_NEAR 130

struct exp_timed_row {
    char name[32];
    uint64_t start_line, accesses, gap_ticks;
    double probed_line;
    bool was_accessed, was_near, is_near; /* near: recorded, simulated */
    double ticks, near_share;             /* recorded here: the median, and the share of rounds with a near line */
    struct exp_pattern pattern;
};

struct exp_timed {
    struct exp_timed_row *row;
    size_t n;
};

/* Reads a file of times. Returns 0, or -errno with a line in why and *t empty. */
int exp_timed_read(struct exp_timed *t, const char *path, struct exp_why *why);
void exp_timed_release(struct exp_timed *t);

/*
 * Finds the row's pattern by its name. The pattern's numbers are the numbers in the name, then the number of accesses.
 * Returns 0 or -ENOENT.
 */
int exp_timed_find_pattern(struct exp_timed_row *row);

/* Returns the probed byte after a walk with the first access at `first`. */
uint64_t exp_timed_probed(const struct exp_timed_row *row, uint64_t first);

/* Tells whether two rows probe lines after equal walks. */
bool exp_timed_is_same_walk(const struct exp_timed_row *a, const struct exp_timed_row *b);

/* Simulates every probe on m: fills is_near. Returns 0 or -ENOMEM. */
int exp_timed_simulate(struct exp_timed *t, const struct sim_machine *m);

/* The share of mistakes of m, over the lines not loaded by the patterns. Returns 0 or -ENOMEM. */
int exp_timed_score(struct exp_timed *t, const struct sim_machine *m, double *score);

/* Counts, over the lines not loaded by the patterns, probed lines and lines that agree with the record. */
void exp_timed_count(const struct exp_timed_row *row, size_t n, size_t *n_probed, size_t *n_right);

/* ---- timing ---- */

/*
 * Finds near lines after patterns by time alone, in rounds over all probes: a disturbance hits every probe in a few
 * rounds only. A round also times lines placed near and far on purpose; the threshold of near comes from these lines,
 * and the test whether times tell near from far.
 */

/* Lines put at known places: loaded last; L1 swept since; L2 swept since; flushed. */
enum exp_place { EXP_PLACE_L1, EXP_PLACE_L2, EXP_PLACE_BEYOND, EXP_PLACE_MEMORY, EXP_N_PLACES };

struct exp_timing {
    const struct exp_computer *computer;
    size_t l1_bytes, l2_bytes; /* memory to sweep, twice */
    size_t least, most;        /* rounds; most at least 1 */
    uint64_t limit_ns;         /* after `least` rounds, no round begins later than the limit */
    uint64_t (*now_ns)(void);
    bool (*interrupted)(void);                 /* may be NULL */
    void (*progress)(void *ctx, double share); /* of the most rounds; may be NULL */
    void *ctx;
};

struct exp_timing_result {
    size_t n_rounds;
    double place_ticks[EXP_N_PLACES]; /* medians */
    double threshold;
    size_t n_undecided; /* probes near in a quarter to three quarters of the rounds */
};

/*
 * Fills ticks, near_share and was_near of all rows. Returns 0; -EINTR; -ENOMEM; -ENODATA if times do not tell lines in
 * L2 or behind L2 from lines in memory; with a line in why.
 */
int exp_timing_run(const struct exp_timing *how, struct exp_timed *t, struct exp_timing_result *r, struct exp_why *why);

/* The file of times: rows of struct exp_timed_row, read by exp_timed_read. */
extern const struct rec_table exp_timing_table;

/* The threshold of far lines, from times of lines placed near and far on purpose. */

/*
 * Finds the ticks between near[n] and far[n] times: half way between the upper quartile of the near times and the lower
 * quartile of the far times, against disturbed rounds. Sorts both. Returns 0, or -ENODATA if the distance of the
 * quartiles is less than a quarter of the near quartile or than a tick: times do not tell near from far.
 */
int exp_threshold_find(double *near, double *far, size_t n, double *threshold);

/* Lists the probed lines of all patterns: the table in timing.c, as rows of a file of times. */

/* The rows have no times yet. exp_timed_release frees them. */
void exp_probes_list(struct exp_timed *t);

/* ---- counting ---- */

/*
 * Patterns of known addresses walked on this computer under hardware counters: rows as exp_recorded reads from files,
 * with the quantities that this CPU counts.
 */

struct exp_counting {
    struct ctr_counters *counters;             /* open, of group COMMON */
    const struct sim_machine *machine;         /* the sizes of L1, L2 and the level behind */
    size_t n_passes;                           /* >= 1; the medians are kept */
    bool (*interrupted)(void);                 /* may be NULL */
    void (*progress)(void *ctx, double share); /* may be NULL */
    void *ctx;
};

/*
 * Opens group COMMON on a source (NULL: this computer's), for exp_counting. Returns 0; -ENODATA if the counts say
 * nothing about prefetchers; as ctr_counters_open; with the reason in why. Then *c is closed.
 */
int exp_counting_open(struct ctr_counters *c, const struct ctr_source *source, const char *groups_dir,
                      const char *uarch, struct exp_why *why);

/*
 * Walks all patterns with dependent loads, in large pages if possible. Quantities without a count are NAN. Returns 0
 * with *r, to be released; -EINTR, -ENOMEM or -errno of a counter, with a line in why.
 */
int exp_counting_run(const struct exp_counting *how, struct exp_recorded *r, struct exp_why *why);

/* The file of counts, read by exp_recorded_read. */
extern const struct rec_table exp_counting_table;
void exp_counting_put(const struct exp_recorded *r, struct exp_csv *csv);

/* ---- speeds ---- */

/*
 * Latency and bandwidth of every level of a computer's caches and of its memory.
 *
 * Latency: a ring of dependent loads. The ring gets into the level by reading further memory of twice the size of the
 * level inside or, for memory, by flushing. The lines lie too far apart for prefetchers, in few enough pages for the
 * TLBs.
 *
 * Bandwidth: loops of loads and of stores, of every width, in a working set that fits the level and not the level
 * inside; for memory over flushed lines.
 *
 * All measurements take turns in rounds; the fastest round counts, because disturbances only slow down.
 */

enum { EXP_MAX_STREAMS = 12 };

struct exp_level_speed {
    char name[16];                        /* of the level, or "memory" */
    struct exp_ring ring;                 /* for the latency */
    size_t set_bytes;                     /* for bandwidths */
    double latency_ns, latency_median_ns; /* the fastest round, and the median */
    double bytes_per_ns[EXP_MAX_STREAMS]; /* as ctr_streams; 0: the CPU has no loop of the width */
};

/*
 * The number of lines from memory in flight: the latency over the time of a line, for many lines of different pages.
 * And the time of independent lines: in random order, of different pages, and in sequence.
 */
enum exp_misses { EXP_LOADS_AT_ONCE, EXP_STORES_AT_ONCE, EXP_SCATTERED, EXP_IN_SEQUENCE, EXP_N_MISSES };

struct exp_speeds {
    double clock_ghz; /* the fastest seen */
    struct exp_ring missing[EXP_N_MISSES];
    double missing_ns[EXP_N_MISSES]; /* a line, in the fastest round */
    size_t n;
    struct exp_level_speed level[SIM_MAX_LEVELS + 1]; /* memory last */
};

/* The working sets for machine m, nothing measured yet. */
void exp_speeds_plan(struct exp_speeds *s, const struct sim_machine *m);

/* The most memory of a measurement, and of a sweep. */
size_t exp_speeds_set_bytes(const struct exp_speeds *s);
size_t exp_speeds_sweep_bytes(const struct exp_speeds *s);

/*
 * Measures, as many rounds as exp_rounds_end says. Returns 0; -EINTR; -ENODATA if nothing tells the core's clock, or a
 * level is not slower than the level inside, with a line in why; -ENOMEM.
 */
int exp_speeds_measure(struct exp_speeds *s, const struct exp_computer *c, const struct exp_rounds *rounds,
                       bool (*interrupted)(void), struct exp_why *why);

/*
 * Puts latencies, bandwidths, the clock, store_misses of a core and memory_scattered_cycles into m, the machine of the
 * plan. A level with fewer miss_buffers than lines in flight gets the number of lines.
 */
void exp_speeds_apply(const struct exp_speeds *s, struct sim_machine *m);

void exp_speeds_print(const struct exp_speeds *s, FILE *out);

extern const struct rec_table exp_speeds_table;
void exp_speeds_put(const struct exp_speeds *s, struct exp_csv *csv);

/* ---- evidence ---- */

/*
 * Evidence of a machine's prefetchers is counts of patterns or times of lines. Evidence is read from a file, compared
 * with a simulated machine, and fitted.
 */

struct exp_evidence {
    bool is_timed;
    struct exp_recorded counts;
    struct exp_timed times;
    struct exp_comparison *comparison; /* [counts.n] */
};

/* Reads a file of either kind. Returns 0, or -errno with a line in why and *e empty. */
int exp_evidence_read(struct exp_evidence *e, const char *path, struct exp_why *why);

void exp_evidence_release(struct exp_evidence *e); /* all zeros are fine */

/*
 * Fits m's prefetchers: begins with the nearest prefetchers of m and of the machine files in a folder (NULL: of m
 * alone), and improves these by max_sweeps sweeps. Writes a line for every step to log. Returns 0, -EINTR if
 * interrupted (may be NULL) returns true, else -errno, with a line in why.
 */
int exp_evidence_fit(struct exp_evidence *e, struct sim_machine *m, const char *machines, unsigned max_sweeps,
                     bool (*interrupted)(void), FILE *log, struct exp_why *why);

/*
 * Simulates m and prints the errors: a row for every pattern if shows_rows, then a summary with the targets and the
 * results. Returns 0 or -ENOMEM.
 */
int exp_evidence_print(struct exp_evidence *e, const struct sim_machine *m, bool shows_rows, FILE *out);

/* Says after exp_evidence_print, in a sentence, how well the simulated prefetchers fit. */
void exp_evidence_say(const struct exp_evidence *e, char *text, size_t bytes);

/* ---- machine files ---- */

/* Machine files with the source of every value. */

/* The source of keys in a kind of section ("machine", "cache", "tlb"). The first fitting note counts. */
struct exp_note {
    const char *section;
    const char *keys;   /* blank-separated; "": all */
    const char *source; /* "measured"; "": nothing to say */
};

/*
 * Writes m as sim_machine_print does, with `# source` behind every value with a note, after comment lines of header
 * text. Returns as sim_machine_print.
 */
int exp_print_machine_with_sources(const struct sim_machine *m, const char *header, const struct exp_note *note,
                                   size_t n_notes, FILE *out);

#endif
