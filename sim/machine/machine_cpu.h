/* The CPU of this computer, as /proc/cpuinfo names the CPU, and lists of CPUs that a machine file serves. */
#ifndef SIM_MACHINE_CPU_H
#define SIM_MACHINE_CPU_H

#include <stdbool.h>

struct sim_host_cpu {
    char name[96];                    /* for people: "Intel(R) Xeon(R) Processor (family 6, model 167)" */
    char vendor[64];                  /* "GenuineIntel"; of POWER, the processor: "POWER10 (architected), ..." */
    unsigned family, model, stepping; /* 0, where the kernel names none */
};

void sim_host_cpu_look(struct sim_host_cpu *c);

/*
 * Tells whether a CPU is in a list: a vendor, a family and models, as the kernel has them: "AuthenticAMD 25 16-31
 * 96-175". Steppings may follow a model after a colon: "GenuineIntel 6 85:0-4". A list of a single word is the begin of
 * the vendor: "POWER10".
 */
bool sim_host_cpu_is(const struct sim_host_cpu *c, const char *list);

#endif
