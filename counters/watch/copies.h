/*
 * Functions observed natively, as the compiler made them: copies of their machine code that record every access
 * (rewrite.awk makes them when the program is built) run in their place. Of a library without sources of ours some, or
 * of a whole program: its stack is seen then, too.
 *
 * The copies write addresses into a ring of memory; a page behind it that must not be touched says when it is full. The
 * functions that could not be copied end the program with the reason when they are called: nothing goes unseen.
 */
#ifndef COUNTERS_WATCH_REWRITTEN_H
#define COUNTERS_WATCH_REWRITTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "counters/watch/watch.h"

/*
 * Loads the copies that were made for this very program, and puts them into place; accesses go to s from then on.
 * Returns 0; -ENOENT if there is no such file; -EINVAL for a file of another program; -errno; each with one line in
 * why.
 */
int watch_copies_load(const char *path, struct watch_stream *s, char *why, size_t why_bytes);

/* Tells whether all functions are copies whose stack matters. */
bool watch_copies_are_whole(void);

/* Tells whether a place in the program is one of the copies. */
bool watch_copies_holds(const void *place);

/* Hands the stream what has been recorded: before anything else is. Nothing to do if nothing is loaded. */
void watch_copies_drain(void);

/* Hands the stream the instructions that were counted, by function and class: of a whole program, before a marker. */
void watch_copies_take_counts(void);

#endif
