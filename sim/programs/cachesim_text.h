/* Numbers in options, and messages about options. */
#ifndef SIM_CACHESIM_TEXT_H
#define SIM_CACHESIM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/why.h"

/*
 * Puts "option: what, 'value'" into why; option and value may be NULL: there is none to name. Returns -EINVAL.
 */
int cachesim_complain(struct sim_why why, const char *option, const char *what, const char *value);

/*
 * Reads a whole number from low to high, perhaps followed by the unit of a size (sim_size_unit), and nothing else.
 * Returns whether the text is one.
 */
bool cachesim_number(const char *text, bool takes_suffix, uint64_t low, uint64_t high, uint64_t *value);

/*
 * Reads an address: decimal, or hexadecimal behind 0x. Digits behind a leading zero are refused, because some readers
 * take them for octal and others for hexadecimal. Returns whether the text is an address.
 */
bool cachesim_address(const char *text, uint64_t *value);

#endif
