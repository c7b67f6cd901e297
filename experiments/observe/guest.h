/*
 * The guest program (main_guest.c) and the ways to run the program with every access observed: under an emulator of its
 * CPU family, or as an instrumented twin.
 */
#ifndef EXPERIMENTS_OBSERVE_GUEST_H
#define EXPERIMENTS_OBSERVE_GUEST_H

#include <stdbool.h>

#include "counters/watch/watch.h"
#include "experiments/base/error.h"
#include "experiments/base/program.h"
#include "experiments/base/workdir.h"
#include "kernels/plan/plan_part.h"
#include "kernels/ukr/ukr.h"
#include "sim/cpu.h"
#include "sim/machine/machine.h"

/* Writes a machine into a file. Returns 0, or -errno with one line in why. */
int exp_workdir_write_machine(const char *path, const struct sim_machine *m, struct exp_why *why);

/* A way to observe programs of a CPU family. */
struct exp_emulator {
    const char *arch;    /* of the guest program */
    const char *program; /* the emulator, and its CPU model; NULL: the program observes itself */
    const char *cpu;
    enum cpu_isa isa;     /* the widest that runs */
    const char *ukr;      /* observed kernel if the machine's own needs more, or is of another family */
    const char *core;     /* OpenBLAS's kernels on that CPU model */
    const char *coretype; /* OPENBLAS_CORETYPE for this core; NULL: not set */
    const char *source;   /* the source of a number, for people */
    double ns_per_mac;    /* on a usual computer, without the start */
    double start_s;
};

/* The observed programs, built by make. Starts as { 0 }. */
struct exp_guest_made {
    char *guest, *twin; /* paths; "" for a missing one */
    struct exp_why why; /* why there is none; "": both were built */
};

/*
 * Has make build the guest of a CPU family and its twin (.ci/guest), with make's output in the file log. A failure of
 * make is a reason, and no error. Returns 0, or -EINTR with one line in why.
 */
int exp_guest_make(struct exp_guest_made *made, const char *arch, const char *log, struct exp_why *why);
void exp_guest_made_release(struct exp_guest_made *made);

/* Returns the emulator for a machine's micro-kernel. */
const struct exp_emulator *exp_emulator_for(const struct conv_ukr *ukr);

/* Returns the way without an emulator: for kernels of the project that only this computer runs. */
const struct exp_emulator *exp_emulator_twin(void);

/*
 * Returns the way for the library's kernels with their stack: copies of the machine code, which record. NULL for an
 * instruction set without copies.
 */
const struct exp_emulator *exp_emulator_copied(enum cpu_isa isa);

/* Returns the path of OpenBLAS's machine code for the twin at a path; the twin watches this code (twin_watcher.c). */
char *exp_guest_rewritten_path(const char *guest);

/* Tells whether experiments observe an OpenBLAS core by rewritten code: a core that no emulator runs. */
bool exp_guest_is_rewritten(const struct conv_gemm_core *core);

/* One run of the guest program under observation. */
struct exp_guest_run {
    const struct exp_emulator *emulator;
    const char *observer, *guest; /* paths; a twin needs no observer */
    const char *machine_path;     /* file of the simulated machine */
    const char *out;              /* gets the result (result.h) */
    const char *trace;            /* gets every access to a tensor, as a binary trace; NULL: no trace */
    const char *const *arguments; /* of a foreign program, beside OUT, ended by NULL. NULL: the program is main_guest.c,
                                     and takes the next members */
    unsigned masked_phase;        /* of masked loads, for an emulator; 0: no phase of their own */
    const struct conv_problem *problem;
    const struct conv_part *part; /* NULL: the whole */
    const char *algo, *ukr;
    const char *core; /* OpenBLAS's, of a twin; an emulator has its own core */
    bool packs_filters;
    bool verifies; /* the guest checks its output against plain loops: slow */
    unsigned limit_s;
};

/*
 * Runs the guest, and reads the result. Returns 0, or with one line in why -ENOENT for a missing emulator, -ETIMEDOUT,
 * -EIO for a failed run, or as watch_result_read; -EINTR.
 */
int exp_guest_run(const struct exp_guest_run *run, struct watch_result *seen, struct exp_why *why);

/* Tells whether OpenBLAS gave the product to the small-matrix kernels, which pack nothing and are not replayed. */
bool exp_guest_used_small_kernels(const struct watch_result *seen);

/* Return shape and part as arguments of the guest's command line, from malloc. */
char *exp_guest_shape_text(const struct conv_problem *p);
char *exp_guest_part_text(const struct conv_part *part);

#endif
