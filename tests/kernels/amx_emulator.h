/*
 * AMX without AMX: a handler of SIGILL that decodes tile instructions (libzydis) and does what they do, so that
 * unmodified machine code of micro-kernels runs on any x86-64; also on a CPU with tiles, as long as the process has not
 * asked Linux for tiles.
 *
 * Emulated are ldtilecfg, tilerelease, tilezero, tileloadd, tileloaddt1, tilestored, tdpbf16ps, tdpbssd, tdpbsud,
 * tdpbusd and tdpbuud, to the bit: Intel's Software Developer's Manual, volume 2, describes them. One thread's tiles.
 */
#ifndef TESTS_AMX_EMULATOR_H
#define TESTS_AMX_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>

/* Returns NULL, or why tile instructions cannot be emulated in this process. */
const char *amx_emulator_missing(void);

/* Emulates from now on, until the stop; other illegal instructions end the process. */
void amx_emulator_start(void);
void amx_emulator_stop(void);

/* Tile instructions that were emulated. */
size_t amx_emulator_count(void);

#endif
