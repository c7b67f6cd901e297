/*
 * The calibration of the computer that this runs on: latencies and bandwidths of its caches, what its prefetchers do
 * after patterns of known addresses, and a machine whose prefetchers are fitted to that.
 */
#ifndef EXPERIMENTS_EXP_CALIBRATION_H
#define EXPERIMENTS_EXP_CALIBRATION_H

#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_progress.h"
#include "experiments/calibrate/exp_computer.h"
#include "experiments/calibrate/exp_counting.h"
#include "experiments/calibrate/exp_evidence.h"
#include "experiments/calibrate/exp_speeds.h"
#include "experiments/calibrate/exp_timing.h"
#include "sim/machine/machine.h"
#include "sim/machine/machine_here.h"

/* FIT's default: what is measured on this computer is fitted, recorded patterns are not. */
enum { EXP_FIT_AUTO = 99 };

/* Holds what the user asked for. */
struct exp_calibrate_options {
    const char *machine, *patterns, *out, *results, *commit;
    unsigned fit, hides_rows, limit;
};

struct exp_calibration {
    struct sim_here host;
    struct sim_machine machine; /* as it is known before, then as it was found */
    struct exp_native native;
    struct exp_speeds speeds;
    struct exp_evidence evidence;    /* timed, or read back from the file of what was counted */
    struct exp_recorded counted;     /* if counters count here */
    struct exp_timing_result timing; /* else */
    char how[512];                   /* "by counters (Intel Skylake-SP)"; "by time alone: <why not by counters>" */
    char pages[128], pinned[160];
    bool is_fitted;
};

/*
 * Checks whether a calibration may replace what a folder holds. Returns 0; -EEXIST, with one line in why, if that took
 * more time, or more sweeps of the fit; -ENOMEM.
 */
int exp_calibration_check(const char *path, const struct exp_calibrate_options *o, struct exp_why *why);

/* Looks at the computer and takes the memory. Returns 0, or -errno with one line in why. */
int exp_calibration_begin(struct exp_calibration *h, struct exp_why *why);
void exp_calibration_end(struct exp_calibration *h); /* one that is all zeros is fine */

/* Announces the work for exp_progress_new. */
void exp_calibration_announce(double seconds[EXP_N_WORKS]);

/*
 * Measures; patterns by this computer's counters, if they count what tells of prefetchers, else by time alone. Returns
 * 0, or -errno with one line in why: exp_speeds_measure, exp_timing_run.
 */
int exp_calibration_measure(struct exp_calibration *h, const struct exp_calibrate_options *o, struct exp_progress *p,
                            struct exp_why *why);

/* Writes what was measured, and has the evidence from it. Returns 0, or -errno with one line in why. */
int exp_calibration_write_measured(struct exp_calibration *h, const struct exp_outdir *dir, struct exp_why *why);

/* Makes the machine of what was measured; fits its prefetchers, if wanted. Returns as exp_evidence_fit. */
int exp_calibration_fit(struct exp_calibration *h, const struct exp_calibrate_options *o, FILE *log,
                        struct exp_why *why);

void exp_calibration_print(struct exp_calibration *h, FILE *out);

/* Writes the machine and what it was measured on. Returns 0, or -errno with one line in why. */
int exp_calibration_write_machine(const struct exp_calibration *h, const struct exp_calibrate_options *o,
                                  const struct exp_outdir *dir, struct exp_why *why);

/* Writes the machine with its values' sources. An exp_outdir_write callback of a struct exp_calibration. */
int exp_calibration_print_machine(const void *here, FILE *out);

void exp_calibration_document(FILE *out); /* the files' columns */

/* Machine files in which every value says where it is from. */

/* Says where keys of a kind of section ("machine", "cache", "tlb") are from. The first note that fits a key counts. */
struct exp_note {
    const char *section;
    const char *keys;   /* blank-separated; "": all */
    const char *source; /* "measured"; "": nothing to say */
};

/*
 * Writes m as sim_machine_print does, with `# source` behind every value that has a note, after comment lines of header
 * text. Returns as sim_machine_print, or -ENOMEM.
 */
int exp_print_machine_with_sources(const struct sim_machine *m, const char *header, const struct exp_note *note,
                                   size_t n_notes, FILE *out);

#endif
