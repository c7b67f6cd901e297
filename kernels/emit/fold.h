/*
 * From a stream of calls to the loops that make the stream: calls that repeat with addresses that move on evenly become
 * a loop, and loops become loops of loops. Calls that do not repeat stay calls, so the edges of a nest stand beside its
 * loops, peeled. Expanded, the items are the stream again: folding loses nothing and knows nothing of nests.
 *
 * Method: nested-loop recognition (Ketterlin and Clauss, CGO 2008), for whole streams.
 */
#ifndef KERNELS_EMIT_FOLD_H
#define KERNELS_EMIT_FOLD_H

#include <stddef.h>
#include <stdint.h>

/* Operands of most calls, and the most of any call: prefetched tensors are operands, too. */
enum { CONV_FOLD_OPERANDS = 3, CONV_FOLD_MOST_OPERANDS = 8, CONV_FOLD_DEPTH = 10 };

/* A call of a routine, or a loop. Operand o of a call in loops 0 (the innermost) ... depth - 1, in their iterations i:
 * at[o] + the sum of i[l] * step[l][o]. */
struct conv_item {
    size_t times; /* of a loop; 0: a call */
    size_t n_body;
    struct conv_item *body; /* owned */
    unsigned routine;
    unsigned depth;
    int64_t at[CONV_FOLD_MOST_OPERANDS];
    int64_t step[CONV_FOLD_DEPTH][CONV_FOLD_MOST_OPERANDS];
};

struct conv_fold {
    size_t n, room;
    struct conv_item *item;
};

/* Appends a call. Returns 0 or -ENOMEM. */
int conv_fold_add(struct conv_fold *f, unsigned routine, const int64_t at[CONV_FOLD_MOST_OPERANDS]);
void conv_fold_release(struct conv_fold *f); /* an empty one is fine */

#endif
