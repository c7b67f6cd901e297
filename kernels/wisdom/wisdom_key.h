/* Names what a plan that was timed depends on, as words. Internal to kernels/wisdom. */
#ifndef KERNELS_WISDOM_KEY_H
#define KERNELS_WISDOM_KEY_H

#include "kernels/csa/csa.h"
#include "sim/cpu.h"

/* Writes CPU, version of the kernels, instruction set, caches and shape. */
void wisdom_key(const struct conv_problem *p, const struct csa_caches *caches, enum cpu_isa isa, char *key,
                size_t bytes);

#endif
