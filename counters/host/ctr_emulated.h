/*
 * Tells whether this program runs in an emulator of its CPU, such as QEMU's user emulation: it then computes and counts
 * as on that CPU, but its times are the emulator's.
 */
#ifndef CTR_EMULATED_H
#define CTR_EMULATED_H

#include <stdbool.h>

/*
 * Tells whether this computer is emulated: /proc/cpuinfo describes another CPU family, or the CPU's own signature says
 * so (x86: QEMU's TCG).
 */
bool ctr_is_emulated(void);

#endif
