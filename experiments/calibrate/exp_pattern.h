/*
 * Access patterns of known addresses, as data: what a calibration walks on a computer and replays on a simulated one.
 *
 * A pattern is groups of accesses, group_bytes apart. In each group `run` accesses are made, from byte `first` of the
 * group on, step_bytes apart. Groups come in ascending, descending or shuffled order, or are drawn at random, n_groups
 * of them, and all of it n_passes times. With streams, access i of every stream is made before access i + 1 of any;
 * stream s lies s * part_bytes into the buffer. With moving groups, each of the first n_moving accesses of a pass is
 * followed by one behind the groups, and these go on from pass to pass, round and round in the rest of the buffer. The
 * last n_stored streams are stored to, the others loaded. All that a recorded row says is the name and two numbers: the
 * table in exp_pattern.c makes the rest of them.
 */
#ifndef EXPERIMENTS_EXP_PATTERN_H
#define EXPERIMENTS_EXP_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum exp_pattern_order { EXP_PATTERN_ASCENDING, EXP_PATTERN_DESCENDING, EXP_PATTERN_SHUFFLED, EXP_PATTERN_DRAWN };

struct exp_pattern {
    enum exp_pattern_order order;
    int64_t group_bytes, n_groups; /* 0 groups: as many as fit into the buffer */
    int64_t run, first_bytes, step_bytes;
    int64_t n_streams, part_bytes; /* 0 bytes: the buffer's share, in whole pages */
    int64_t n_stored;
    int64_t n_moving;
    int64_t n_passes;
    uint64_t buffer_bytes;
};

enum { EXP_PATTERN_LINE = 64, EXP_PATTERN_PAGE = 4096 };

enum { EXP_PATTERN_STORE = 1 }; /* added to the offset of a store; offsets are multiples of 4 */

/* The pattern of a name and two numbers in a buffer. Returns 0, or -ENOENT for a name that is not in the table. */
int exp_pattern_find(struct exp_pattern *p, const char *name, int64_t p1, int64_t p2, uint64_t buffer_bytes);

/*
 * Writes the first accesses of p, as byte offsets into its buffer, to *offset, to be freed by the caller: at most max.
 * Those of stores have EXP_PATTERN_STORE added.
 * The same pattern gives the same offsets everywhere. Returns 0 or -ENOMEM.
 */
int exp_pattern_offsets(const struct exp_pattern *p, size_t max, uint64_t **offset, size_t *n);

#endif
