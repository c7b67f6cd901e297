/*
 * Tells whether this program runs in an emulator of the CPU, for example QEMU's user emulation: results and counts are
 * the CPU's, but times are the emulator's.
 */
#ifndef CTR_EMULATED_H
#define CTR_EMULATED_H

#include <stdbool.h>

/* /proc/cpuinfo describes a foreign CPU family, or the CPU's own signature names the emulator (x86: QEMU's TCG). */
bool ctr_is_emulated(void);

#endif
