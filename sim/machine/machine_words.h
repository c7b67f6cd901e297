/* Words of machine files and of command lines: sizes, and slips in names. */
#ifndef SIM_MACHINE_WORDS_H
#define SIM_MACHINE_WORDS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Finds the one of n words that the fewest changes of one letter make of `word`, capitals or not: what somebody may
 * have meant. Returns NULL if that takes more changes than half of its letters. .ci/nearest has the same rule.
 */
const char *sim_nearest_word(const char *word, const char *const *known, size_t n);

/*
 * Returns how many bytes the unit of a size stands for: none, or k, m and g, alone or with B or iB, capitals or not,
 * all of them powers of 1024. Returns 0 if it is none of these.
 */
uint64_t sim_size_unit(const char *unit);
#define SIM_SIZE_RULE "sizes take k, m and g, or KiB, MiB and GiB"

#endif
