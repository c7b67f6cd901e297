/*
 * This computer as a simulated machine. hwloc tells the sizes, ways and lines of its caches; of the rest:
 *
 *   latencies, bandwidths, clock,  what `make calibrate` left in <RESULTS>/host/calibration/machine.cfg, if that is of
 *   policies, inclusion, issue,    this computer; else the file in sim/machines that serves the CPU, whose latencies
 *   prefetchers, core              may be another part's; else assumed ones, LRU, and nothing is prefetched
 *
 * A machine file serves the CPUs that its key `cpus` lists (machine_cpu.h). Hypervisors hide or change the CPU's name,
 * so that the sizes and ways of L1 and L2 decide as well: a file that both name and caches speak for, else the only one
 * that the caches speak for, else the one of the name.
 *
 * Levels that hwloc does not show are no levels of the machine, though the file may have them; of a file, what does not
 * go with the levels that there are is left out, key by key. Where hwloc shows no cache at all, the caches are those of
 * the file. The notes tell of all that was left out, guessed or assumed.
 */
#ifndef EXPERIMENTS_SIM_HERE_H
#define EXPERIMENTS_SIM_HERE_H

#include <stdbool.h>

#include "sim/machine/machine.h"
#include "sim/machine/machine_cpu.h"
#include "sim/machine/machine_host.h"

#define SIM_MACHINE_FILE "machine.cfg" /* in every folder of results */

struct sim_here {
    struct sim_host_seen seen; /* what hwloc tells */
    struct sim_host_cpu cpu;
    struct sim_machine known; /* the calibration, or the file that serves the CPU; without levels: neither */
    bool is_calibrated;
    char origin[512];  /* the file of `known` */
    char source[1024]; /* where latencies, policies and prefetchers come from, in words */
};

/* Says how a machine file serves a computer, the best last. */
enum sim_here_match { SIM_HERE_NO_MATCH, SIM_HERE_BY_NAME, SIM_HERE_BY_CACHES, SIM_HERE_BY_BOTH };

/* Looks at this computer, and no file. Returns 0, even if hwloc shows no cache; -ENOMEM with one line in why. */
int sim_here_look(struct sim_here *h, char *why, size_t why_bytes);

/*
 * Finds what else is known of it: the calibration below a folder of results (NULL: not that), else the file in
 * `machines` that serves it. Returns 0; -errno with one line in why if a file is broken; -ENOENT if hwloc shows no cache
 * and no file serves the computer: the line names the machines that there are.
 */
int sim_here_find(struct sim_here *h, const char *results, const char *machines, char *why, size_t why_bytes);

enum sim_here_match sim_here_match(const struct sim_here *h, const struct sim_machine *file);

/*
 * The machine as it is, as far as that is known. Returns 0, or -EINVAL with one line in why if it cannot be simulated.
 */
int sim_here_machine(const struct sim_here *h, struct sim_machine *m, char *why, size_t why_bytes);

/* Says in one line where the machine's values come from; appends what was left out, guessed and assumed, line by line. */
void sim_here_say_source(const struct sim_here *h, char *text, size_t bytes);
void sim_here_note(const struct sim_here *h, struct sim_notes *notes);

#endif
