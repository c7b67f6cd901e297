/*
 * What `make calibrate` is made of: a computer that is walked and timed, patterns of known addresses, what was recorded
 * of them by counters or by time, the simulated machine that does the same, and the fit of its prefetchers.
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
 * A computer as a calibration sees it: what it can be made to do, and how long that takes. exp_native_init makes the
 * one that this runs on; tests make others up.
 */

/*
 * One look for one line. The ground from flush_first to flush_end is flushed, other pages are touched so that
 * prefetchers forget, the offsets are loaded, each load waiting for the one before and gap_ticks more, sweep_bytes of
 * other memory are read, and one load of the probed byte is timed.
 */
struct exp_look {
    const uint64_t *offset; /* [n] into the ground */
    size_t n;
    uint64_t flush_first, flush_end;
    uint64_t probed;
    uint64_t gap_ticks;
    size_t sweep_bytes;
    uint32_t seed; /* which other pages */
};

enum { EXP_GROUND_BYTES = 2 << 20 };

/*
 * Lines in random order, step_bytes apart as they lie, each holding the address of the next: every load waits for the
 * one before. First all are loaded; then they are flushed, or sweep_bytes of other memory are read, or neither; then
 * n_loads are timed, each of another line if n_loads is not more than n_lines.
 */
struct exp_ring {
    size_t n_lines, step_bytes, sweep_bytes, n_loads;
    bool is_flushed;
    bool is_shared; /* EXP_AT_ONCE loads at once go round, from places as far apart; n_loads in all */
    bool is_stored; /* lines are stored to in the ring's order, and no store waits for another */
    bool is_loose;  /* lines are loaded in the ring's order, from small pages, and no load waits for another */
    bool is_sorted; /* the ring is in order of addresses */
};

enum { EXP_AT_ONCE = 32, EXP_LOOSE_BYTES = 160 << 20 }; /* the most that a loose ring takes */

struct exp_computer {
    void *context;

    /* The ticks that the load took; what reading the clock costs is taken off. */
    double (*look)(void *context, const struct exp_look *l);

    /* The nanoseconds of a load of a ring, or of a store. */
    double (*chase)(void *context, const struct exp_ring *r);

    /* Bytes per nanosecond of a loop over a working set; flushed: once, its lines come from memory. */
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
 * -errno with a line in why: -ENOTSUP if this CPU family cannot flush lines or has no clock that is fine enough, or
 * this is an emulator; -ENOMEM.
 */
int exp_native_init(struct exp_native *n, size_t set_bytes, size_t sweep_bytes, struct exp_why *why);
void exp_native_release(struct exp_native *n); /* one that is all zeros is fine */

/* Says in words what its memory is made of: "2 MiB pages". */
void exp_native_describe_pages(const struct exp_native *n, char *text, size_t bytes);

/* ---- pattern ---- */

/*
 * Access patterns of known addresses, as data: what a calibration walks on a computer and replays on a simulated one.
 *
 * A pattern is groups of accesses, group_bytes apart. In each group `run` accesses are made, from byte `first` of the
 * group on, step_bytes apart. Groups come in ascending, descending or shuffled order, or are drawn at random, n_groups
 * of them, and all of it n_passes times. With streams, access i of every stream is made before access i + 1 of any;
 * stream s lies s * part_bytes into the buffer. With moving groups, each of the first n_moving accesses of a pass is
 * followed by one behind the groups, and these go on from pass to pass, round and round in the rest of the buffer. The
 * last n_stored streams are stored to, the others loaded. All that a recorded row says is the name and two numbers: the
 * table in pattern.c makes the rest of them.
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

/* Parameters of patterns stand in lists of at most so many: the first one may be 0, another 0 ends the list. */
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
 * Returns the first accesses of p, at most max, as byte offsets into its buffer, to be freed; *n is how many there are.
 * Those of stores have EXP_PATTERN_STORE added. The same pattern gives the same offsets everywhere.
 */
uint64_t *exp_pattern_offsets(const struct exp_pattern *p, size_t max, size_t *n);

/* ---- recorded ---- */

/*
 * Recorded counts of access patterns (results/reference/zen3/patterns/README.md has the columns): the rows whose
 * pattern is in the table of pattern.c. Chased ones were walked with dependent loads, which leave prefetches all
 * the time they need; the others as fast as the core could.
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
    double counted[EXP_N_RECORDED]; /* per access; NAN: the CPU could not count it */
};

struct exp_recorded {
    struct exp_recorded_row *row;
    size_t n;
};

#define EXP_RECORDED_CHASED "_chased" /* ends the names of patterns that were walked with dependent loads */

extern const char *const exp_recorded_names[EXP_N_RECORDED];
extern const char *const exp_recorded_quantities[EXP_N_RECORDED]; /* as ctr_quantity.h has them */
extern const char *const exp_recorded_places[];                   /* by place */

/* Reads a file of counts. Returns 0, or -errno with a line in why and *r empty. */
int exp_recorded_read(struct exp_recorded *r, const char *path, struct exp_why *why);
void exp_recorded_release(struct exp_recorded *r);

/*
 * Replays recorded patterns on a simulated machine, and says how far apart the two are.
 *
 * The walk's own reads of its list of offsets, four bytes for each access, are replayed as another instruction; so is
 * what brought the buffer to its place. Dependent loads leave prefetches all the time they need: `late` does not count
 * for them.
 *
 * Panels, which are read again and again, were walked 24 times or more. The replay walks them fewer times, and does not
 * count the first half of these.
 *
 * The error of a quantity is |simulated - counted| / counted. Where less than EXP_COMPARISON_FLOOR lines an access were
 * counted, which is what the counts wander by, there is none; nor for lines into L2 of a buffer that was in L2: what
 * was counted there is what other programs had thrown out.
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

/* Chooses errors: those of a quantity, of dependent loads or of the others. */
struct exp_comparison_choice {
    const struct exp_recorded *r;
    const struct exp_comparison *c; /* [r->n] */
    enum exp_recorded_quantity q;
    bool is_chased;
};

/* Returns the quantiles of the errors of those rows that have one. */
struct exp_spread exp_comparison_errors(const struct exp_comparison_choice *of);

/*
 * Returns what a fit makes small: the mean over the rows of the errors of some quantities (bits by enum
 * exp_recorded_quantity), each at most 1. Here lines by demand that are too many or too few are a share of all lines
 * into L1: where few come by demand, twice as many are still few.
 */
double exp_comparison_score(const struct exp_comparison *c, const struct exp_recorded *r, unsigned quantities);

/* ---- timed ---- */

/*
 * Holds what was found near by the clock after short patterns (results/reference/spr/prefetch/README.md has the
 * columns), and what a simulated machine has near after the same: each probe after a walk of its own, in memory that
 * nothing has touched. A line is near if its load misses not all levels; on the computer, if it was in half of the
 * rounds (column near_share), or took less than EXP_TIMED_NEAR cycles where a file does not say that.
 */

#define EXP_TIMED_NEAR 130

struct exp_timed_row {
    char name[32];
    uint64_t start_line, accesses, gap_ticks;
    double probed_line;
    bool was_accessed, was_near, is_near; /* near: recorded, simulated */
    double ticks, near_share;             /* recorded here: the median, and how many rounds found it near */
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
 * Finds the row's pattern by its name. Its numbers are those in the name, then how many accesses it makes. Returns 0 or
 * -ENOENT.
 */
int exp_timed_find_pattern(struct exp_timed_row *row);

/* Returns the byte that is looked for after a walk whose first access is at another one. */
uint64_t exp_timed_probed(const struct exp_timed_row *row, uint64_t first);

/* Tells whether two rows look for lines after the same walk. */
bool exp_timed_is_same_walk(const struct exp_timed_row *a, const struct exp_timed_row *b);

/* Simulates every probe on m: fills is_near. Returns 0 or -ENOMEM. */
int exp_timed_simulate(struct exp_timed *t, const struct sim_machine *m);

/* The share of the lines that the patterns did not load which m has not as recorded. Returns 0 or -ENOMEM. */
int exp_timed_score(struct exp_timed *t, const struct sim_machine *m, double *score);

/* Counts, of the lines that the patterns did not load, how many were probed, and how many are as recorded. */
void exp_timed_count(const struct exp_timed_row *row, size_t n, size_t *n_probed, size_t *n_right);

/* ---- timing ---- */

/*
 * Finds by time alone which lines are near after which patterns: in rounds over all probes, so that whatever disturbs
 * the computer for a while hits every probe in a few rounds only. A round times lines that were put near and far on
 * purpose as well; from these comes what counts as near, and whether times tell that at all.
 */

/* Lines put at known places: loaded last; L1 swept since; L2 swept since; flushed. */
enum exp_place { EXP_PLACE_L1, EXP_PLACE_L2, EXP_PLACE_BEYOND, EXP_PLACE_MEMORY, EXP_N_PLACES };

struct exp_timing {
    const struct exp_computer *computer;
    size_t l1_bytes, l2_bytes; /* what is swept twice over */
    size_t least, most;        /* rounds; most at least 1 */
    uint64_t limit_ns;         /* after `least` rounds none begins once so much time has gone */
    uint64_t (*now_ns)(void);
    bool (*interrupted)(void);                 /* may be NULL */
    void (*progress)(void *ctx, double share); /* of the most rounds; may be NULL */
    void *ctx;
};

struct exp_timing_result {
    size_t n_rounds;
    double place_ticks[EXP_N_PLACES]; /* medians */
    double threshold;
    size_t n_undecided; /* probes that a quarter to three quarters of the rounds found near */
};

/*
 * Fills ticks, near_share and was_near of all rows. Returns 0; -EINTR; -ENOMEM; -ENODATA if times do not tell lines
 * that L2 or what is behind it holds from lines in memory; with a line in why.
 */
int exp_timing_run(const struct exp_timing *how, struct exp_timed *t, struct exp_timing_result *r, struct exp_why *why);

/* The file of these times, whose rows are struct exp_timed_row and which exp_timed_read reads. */
extern const struct rec_table exp_timing_table;

/* From which time on a line counts as far, found from times of lines that were put near and far on purpose. */

/*
 * Finds the ticks between near[n] and far[n] times: half way between the upper quartile of the near ones and the lower
 * quartile of the far ones, so that disturbed rounds do not move it. Sorts both. Returns 0, or -ENODATA if the
 * quartiles are not apart by a quarter of the near one's time or a tick: these times do not tell near from far.
 */
int exp_threshold_find(double *near, double *far, size_t n, double *threshold);

/*
 * Lists which lines are looked for on a computer after which patterns: the table in timing.c, written out as the
 * rows that a file of times has.
 */

/* The rows have no times yet. exp_timed_release frees them. */
void exp_probes_list(struct exp_timed *t);

/* ---- counting ---- */

/*
 * Patterns of known addresses walked on this computer under its hardware counters: the rows that exp_recorded reads
 * from files, with what this CPU can count of each.
 */

struct exp_counting {
    struct ctr_counters *counters;             /* open, of group COMMON */
    const struct sim_machine *machine;         /* the sizes of L1, L2 and what is behind */
    size_t n_passes;                           /* >= 1; medians of them are kept */
    bool (*interrupted)(void);                 /* may be NULL */
    void (*progress)(void *ctx, double share); /* may be NULL */
    void *ctx;
};

/*
 * Opens group COMMON on a source (NULL: this computer's), for exp_counting. Returns 0; -ENODATA if what is counted says
 * nothing about prefetchers; as ctr_counters_open; with the reason in why. Then *c is closed.
 */
int exp_counting_open(struct ctr_counters *c, const struct ctr_source *source, const char *groups_dir,
                      const char *uarch, struct exp_why *why);

/*
 * Walks all patterns, with loads that wait for each other, in memory with large pages if there are any. Quantities that
 * could not be counted are NAN. Returns 0 with *r, to be released; -EINTR, -ENOMEM or -errno of a counter, with one
 * line in why.
 */
int exp_counting_run(const struct exp_counting *how, struct exp_recorded *r, struct exp_why *why);

/* The file of these counts, which exp_recorded_read reads. */
extern const struct rec_table exp_counting_table;
void exp_counting_put(const struct exp_recorded *r, struct exp_csv *csv);

/* ---- speeds ---- */

/*
 * Latency and bandwidth of every level of a computer's caches and of its memory.
 *
 * Latency: a ring of loads that wait for each other. It is brought into the level by reading twice as much other memory
 * as the level inside holds, or, for memory, by flushing. Its lines lie so far apart that prefetchers do not follow,
 * and in so few pages that the TLBs hold them.
 *
 * Bandwidth: loops of loads and of stores, of every width, in a working set that fits the level and is larger than the
 * one inside; for memory over lines that have been flushed.
 *
 * All take turns in rounds; the fastest round of each counts, since disturbances only slow it down.
 */

enum { EXP_MAX_STREAMS = 12 };

struct exp_level_speed {
    char name[16];                        /* of the level, or "memory" */
    struct exp_ring ring;                 /* for the latency */
    size_t set_bytes;                     /* for bandwidths */
    double latency_ns, latency_median_ns; /* the fastest round, and the median one */
    double bytes_per_ns[EXP_MAX_STREAMS]; /* as ctr_streams; 0: this CPU has none so wide */
};

/*
 * How many lines from memory a core waits for at once: the latency over what a line takes, of many of a page each. And
 * what lines take that nothing waits for, in random order, each of another page, and in sequence.
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

/* The most memory that one takes, and that is swept. */
size_t exp_speeds_set_bytes(const struct exp_speeds *s);
size_t exp_speeds_sweep_bytes(const struct exp_speeds *s);

/*
 * Measures, as many rounds as exp_rounds_end says. Returns 0; -EINTR; -ENODATA if nothing tells the core's clock, or a
 * level is not slower than the one inside, with a line in why; -ENOMEM.
 */
int exp_speeds_measure(struct exp_speeds *s, const struct exp_computer *c, const struct exp_rounds *rounds,
                       bool (*interrupted)(void), struct exp_why *why);

/*
 * Puts latencies, bandwidths and the clock into m, which they were planned for; and store_misses of a core, and the
 * memory_scattered_cycles that its clock looks at. A level that states fewer miss_buffers than lines were on their way
 * gets as many.
 */
void exp_speeds_apply(const struct exp_speeds *s, struct sim_machine *m);

void exp_speeds_print(const struct exp_speeds *s, FILE *out);

extern const struct rec_table exp_speeds_table;
void exp_speeds_put(const struct exp_speeds *s, struct exp_csv *csv);

/* ---- evidence ---- */

/*
 * Evidence of a machine's prefetchers is counts of patterns or times of lines. It is read from a file, compared with
 * what a simulated machine does, and fitted.
 */

struct exp_evidence {
    bool is_timed;
    struct exp_recorded counts;
    struct exp_timed times;
    struct exp_comparison *comparison; /* [counts.n] */
};

/* Reads a file of either kind. Returns 0, or -errno with a line in why and *e empty. */
int exp_evidence_read(struct exp_evidence *e, const char *path, struct exp_why *why);

void exp_evidence_release(struct exp_evidence *e); /* one that is all zeros is fine */

/*
 * Fits m's prefetchers: begins with those, of m and of every machine file in a folder (NULL: of m alone), that are the
 * nearest as they are, and goes on from there by max_sweeps sweeps. Writes a line for every step to log. Returns 0,
 * -EINTR if interrupted (may be NULL) says so, else -errno, with a line in why.
 */
int exp_evidence_fit(struct exp_evidence *e, struct sim_machine *m, const char *machines, unsigned max_sweeps,
                     bool (*interrupted)(void), FILE *log, struct exp_why *why);

/*
 * Simulates m and prints how near that is: with a row for every pattern if shows_rows, then a summary with the targets
 * and whether they are reached. Returns 0 or -ENOMEM.
 */
int exp_evidence_print(struct exp_evidence *e, const struct sim_machine *m, bool shows_rows, FILE *out);

/* ---- machine files ---- */

/* Machine files in which every value says where it is from. */

/* Says where keys of a kind of section ("machine", "cache", "tlb") are from. The first note that fits a key counts. */
struct exp_note {
    const char *section;
    const char *keys;   /* blank-separated; "": all */
    const char *source; /* "measured"; "": nothing to say */
};

/*
 * Writes m as sim_machine_print does, with `# source` behind every value that has a note, after comment lines of header
 * text. Returns as sim_machine_print.
 */
int exp_print_machine_with_sources(const struct sim_machine *m, const char *header, const struct exp_note *note,
                                   size_t n_notes, FILE *out);

#endif
