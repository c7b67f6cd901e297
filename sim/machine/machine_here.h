/*
 * This computer as a simulated machine. hwloc tells the sizes, ways and lines of the caches. Further values:
 *
 *   latencies, bandwidths, clock,  from `make calibrate`, in <RESULTS>/host/calibration/machine.cfg, if the file is of
 *   policies, inclusion, issue,    this computer; else from the file in sim/machines that serves the CPU, though its
 *   prefetchers, core              latencies may be another part's; else assumed: typical latencies, LRU, no prefetcher
 *
 * A machine file serves the CPUs in its key `cpus` (machine_cpu.h). Hypervisors hide or change the CPU's name, so the
 * sizes and ways of L1 and L2 decide, too. The choice is a file that matches both name and caches, else the file that
 * matches the caches (of several files the one whose L3 is nearest in size), else the file that matches the name.
 *
 * The machine has only levels that hwloc shows, even if the file has more. Values of the file that contradict these
 * levels are left out, key by key. Where hwloc shows no cache at all, the caches are the file's. The notes name every
 * value that is left out, guessed or assumed.
 */
#ifndef EXPERIMENTS_SIM_HERE_H
#define EXPERIMENTS_SIM_HERE_H

#include <stdbool.h>

#include "sim/base/why.h"
#include "sim/machine/machine.h"
#include "sim/machine/machine_cpu.h"
#include "sim/machine/machine_host.h"

#define SIM_MACHINE_FILE "machine.cfg" /* in every folder of results */

struct sim_here {
    struct sim_host_seen seen; /* values from hwloc */
    struct sim_host_cpu cpu;
    struct sim_machine known; /* the calibration, or the file that serves the CPU; without levels: neither */
    bool is_calibrated;
    char origin[512];  /* the file of `known` */
    char source[1024]; /* where latencies, policies and prefetchers come from, in words */
};

/* Says how a machine file serves a computer, the best last. */
enum sim_here_match { SIM_HERE_NO_MATCH, SIM_HERE_BY_NAME, SIM_HERE_BY_CACHES, SIM_HERE_BY_BOTH };

/*
 * Asks hwloc about this computer, and reads no file. Returns 0, even if hwloc shows no cache; -ENOMEM with one line in
 * why.
 */
int sim_here_look(struct sim_here *h, struct sim_why why);

/*
 * Finds a file for the missing values: the calibration below a folder of results (NULL: not looked for), else the file
 * in `machines` that serves the computer. Returns 0; -errno with a line in why if a file is broken; -ENOENT if hwloc
 * shows no cache and no file serves the computer: the line in why names the known machines.
 */
int sim_here_find(struct sim_here *h, const char *results, const char *machines, struct sim_why why);

enum sim_here_match sim_here_match(const struct sim_here *h, const struct sim_machine *file);

/*
 * Makes the machine from all known values. Returns 0, or -EINVAL with a line in why if the machine cannot be
 * simulated.
 */
int sim_here_machine(const struct sim_here *h, struct sim_machine *m, struct sim_why why);

/*
 * Writes one line about the sources of the machine's values; appends a line for each value that is left out, guessed or
 * assumed.
 */
void sim_here_say_source(const struct sim_here *h, char *text, size_t bytes);
void sim_here_note(const struct sim_here *h, struct sim_notes *notes);

#endif
