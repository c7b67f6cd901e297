/*
 * The guest program (main_guest.c) and the ways to run it with every access observed: under an emulator of its CPU
 * family, or as its own instrumented twin. And the folders for what such programs read and write.
 */
#ifndef EXPERIMENTS_OBSERVE_GUEST_H
#define EXPERIMENTS_OBSERVE_GUEST_H

#include <stdbool.h>

#include "counters/watch/watch.h"
#include "experiments/base/error.h"
#include "experiments/base/program.h"
#include "kernels/plan/plan_part.h"
#include "kernels/ukr/ukr.h"
#include "sim/cpu.h"
#include "sim/machine/machine.h"

/* A folder of files that programs hand to each other. It goes with all that is in it, however this program ends. */
struct exp_workdir {
    char *path; /* NULL: it is not open */
    struct exp_guard guard;
};

/*
 * Makes a folder of that path, from malloc, which is taken over; one that ends in XXXXXX gets a name of its own. It
 * must stay where it is in memory. Returns 0, or -errno with one line in why; to be closed in any case.
 */
int exp_workdir_open(struct exp_workdir *w, char *path, struct exp_why *why);
void exp_workdir_close(struct exp_workdir *w); /* one that is all zeros is fine */

/* Returns the path of a new folder for files of no worth, for exp_workdir_open. */
char *exp_workdir_temporary(void);

void exp_workdir_remove(const char *path); /* the folder and the files in it */

/* Writes a machine into a file. Returns 0, or -errno with one line in why. */
int exp_workdir_write_machine(const char *path, const struct sim_machine *m, struct exp_why *why);

/* A way to observe programs of a CPU family. */
struct exp_emulator {
    const char *arch;    /* of the guest program */
    const char *program; /* the emulator, and its CPU model; NULL: the program observes itself */
    const char *cpu;
    enum cpu_isa isa;     /* the widest that it runs */
    const char *ukr;      /* what is observed if the machine's own micro-kernel needs more, or is another family's */
    const char *core;     /* OpenBLAS's kernels on that CPU model */
    const char *coretype; /* what OPENBLAS_CORETYPE must be for that; NULL: nothing */
    const char *source;   /* what a number of it comes from, for people */
    double ns_per_mac;    /* on a usual computer; its start comes on top */
    double start_s;
};

/* The emulator for a machine's micro-kernel. */
const struct exp_emulator *exp_emulator_for(const struct conv_ukr *ukr);

/* The way that needs no emulator: for kernels of the project that this computer runs and no emulator does. */
const struct exp_emulator *exp_emulator_twin(void);

/*
 * The same for kernels as the library has them, with their stack: copies of their machine code, which record. NULL for
 * instructions of which there are none.
 */
const struct exp_emulator *exp_emulator_copied(enum cpu_isa isa);

/* Returns where the machine code of OpenBLAS is for a twin at that path, which the twin watches (twin_watcher.c). */
char *exp_guest_rewritten_path(const char *guest);

/* Tells whether experiments observe an OpenBLAS core so: those that no emulator runs. */
bool exp_guest_is_rewritten(const struct conv_gemm_core *core);

/* One run of the guest program under observation. */
struct exp_guest_run {
    const struct exp_emulator *emulator;
    const char *observer, *guest; /* paths; a twin needs no observer */
    const char *machine_path;     /* file of the simulated machine */
    const char *out;              /* gets the result (result.h) */
    const char *trace;            /* gets every access to a tensor, as a binary trace; NULL: none */
    const char *const *arguments; /* of another program than main_guest.c, beside OUT, ended by NULL; NULL: it is that
                                     one, which is told what follows */
    unsigned masked_phase;        /* of masked loads, for an emulator; 0: none of their own */
    const struct conv_problem *problem;
    const struct conv_part *part; /* NULL: the whole */
    const char *algo, *ukr;
    const char *core; /* OpenBLAS's, of a twin; emulated ones have their emulator's */
    bool packs_filters;
    bool verifies; /* the guest checks its output against plain loops: slow */
    unsigned limit_s;
};

/*
 * Runs it, and reads what was seen. Returns 0, or with one line in why -ENOENT for a missing emulator, -ETIMEDOUT, -EIO
 * for a failed run, or as watch_result_read; -EINTR.
 */
int exp_guest_run(const struct exp_guest_run *run, struct watch_result *seen, struct exp_why *why);

/* Tells whether OpenBLAS gave the product to its small-matrix kernels, which pack nothing and are not replayed. */
bool exp_guest_used_small_kernels(const struct watch_result *seen);

/* The same arguments as the guest's command line has them, from malloc. */
char *exp_guest_shape_text(const struct conv_problem *p);
char *exp_guest_part_text(const struct conv_part *part);

#endif
