/*
 * Whether this program runs in an emulator of its CPU, such as QEMU's user emulation: it then computes and counts as on
 * that CPU, but its times are the emulator's.
 */
#ifndef CTR_EMULATED_H
#define CTR_EMULATED_H

#include <stdbool.h>

/* Told by /proc/cpuinfo, which describes another CPU family, or by the CPU's own signature (x86: QEMU's TCG). */
bool ctr_is_emulated(void);

#endif
