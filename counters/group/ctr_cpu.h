/*
 * Reads counters/groups/<folder>/cpu.cfg: the CPUs that a folder of event groups serves, and the counters of the CPUs.
 * A new CPU is a new folder and no code.
 *
 *     name      AMD Zen 3                             the core, for people
 *     cpu       AuthenticAMD 25 0-15 32-47            vendor, family, models as in /proc/cpuinfo; may repeat
 *     cpu       GenuineIntel 6 85:5-7                 models and steppings
 *     cpu       POWER10                               or, on POWER, the beginning of the line `cpu`
 *     pmu       amd64_fam19h_zen3                     libpfm4's name of the PMU; may repeat
 *     counters  6                                     programmable counters of a hardware thread
 *     census    r0xc2                                 branch instructions, if all counters can count them
 *     fixed     skx::INST_RETIRED:ANY_P               an event with its own fixed counter; may repeat
 *     like      skx                                   the folder of the groups missing here
 *
 * `#` starts a comment. The folder `software` has no cpu.cfg and serves every Linux.
 */
#ifndef CTR_CPU_H
#define CTR_CPU_H

#include <stddef.h>

#include "sim/base/why.h"

#define CTR_GROUPS_DIR "counters/groups"

enum { CTR_MAX_MODELS = 32, CTR_MAX_PMUS = 8, CTR_MAX_FIXED = 2 };

struct ctr_models {
    char vendor[32]; /* or the beginning of the line `cpu` on POWER, with family 0 */
    unsigned family;
    unsigned first, last;
    unsigned first_stepping, last_stepping;
};

struct ctr_cpu {
    char uarch[32]; /* the folder */
    char path[512]; /* of the file cpu.cfg */
    char name[64];
    size_t n_models;
    struct ctr_models model[CTR_MAX_MODELS];
    size_t n_pmus;
    char pmu[CTR_MAX_PMUS][32];
    unsigned n_counters;
    char census[128]; /* "" if no event goes on every counter */
    size_t n_fixed;
    char fixed[CTR_MAX_FIXED][128];
    char like[32]; /* "" if all groups are in this folder */
};

/* Reads groups_dir/<uarch>/cpu.cfg. Returns 0, or -errno with a reason of one line ("path:line: message, 'value'"). */
int ctr_cpu_read(struct ctr_cpu *cpu, const char *groups_dir, const char *uarch, struct sim_why why);

/*
 * Finds the folder of a CPU by vendor, family and model, else by libpfm4's name of the PMU (may be NULL). Returns 0,
 * -ENOENT without a reason if no folder serves the CPU, -ENOTDIR if groups_dir does not exist, or as ctr_cpu_read: a
 * broken file is an error.
 */
int ctr_cpu_find(struct ctr_cpu *cpu, const char *groups_dir, const struct ctr_models *cpu_is, const char *pmu,
                 struct sim_why why);

/* Finds the folder of this computer's CPU. Returns 0, or -ENOENT with the reason, or as ctr_cpu_read. */
int ctr_cpu_host(struct ctr_cpu *cpu, const char *groups_dir, struct sim_why why);

#endif
