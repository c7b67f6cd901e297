/* Words of machine files and of command lines: sizes, and slips in names. */
#ifndef SIM_MACHINE_WORDS_H
#define SIM_MACHINE_WORDS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the known word nearest to `word` by changes of a letter, with capitals equal to small letters: the word that
 * the user may have meant. NULL if the changes are more than half of the known word's letters. .ci/nearest has an equal
 * rule.
 */
const char *sim_nearest_word(const char *word, const char *const *known, size_t n);

/*
 * Returns the bytes of a size's unit: none, or k, m and g, alone or with B or iB, in capitals or not, all powers of
 * 1024. 0: the text is no unit.
 */
uint64_t sim_size_unit(const char *unit);
#define SIM_SIZE_RULE "sizes take k, m and g, or KiB, MiB and GiB"

#endif
