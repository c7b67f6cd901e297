/*
 * Native watching of compiled functions: copies of their machine code that record every access (made by rewrite.awk at
 * build time) run in the functions' place. The copies are of some functions of a library without sources here, or of a
 * whole program: then the stack is seen, too.
 *
 * The copies write addresses into a ring of memory; a page without access rights behind the ring tells when the ring is
 * full. A function that could not be copied ends the program with the reason when called: no access goes unseen.
 */
#ifndef COUNTERS_WATCH_REWRITTEN_H
#define COUNTERS_WATCH_REWRITTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "counters/watch/watch.h"

/*
 * Loads the copies made for this very program, and puts the copies into place; accesses go to s from then on. Returns
 * 0; -ENOENT if there is no file; -EINVAL for the file of a different program; -errno; each with a line in why.
 */
int watch_copies_load(const char *path, struct watch_stream *s, char *why, size_t why_bytes);

/* Tells whether all functions are copies whose stack matters. */
bool watch_copies_are_whole(void);

/* Tells whether a place in the program is in a copy. */
bool watch_copies_holds(const void *place);

/*
 * Hands the recorded accesses to the stream: to be called before the stream gets anything else. Does nothing without
 * copies.
 */
void watch_copies_drain(void);

/* Hands the counted instructions to the stream, by function and class: of a whole program, before a marker. */
void watch_copies_take_counts(void);

#endif
