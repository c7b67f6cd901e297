/*
 * A stream into memory, as open_memstream makes one. glibc's does not tell when it cannot grow: what is written then is
 * lost, and neither ferror nor fclose says so. This one says so in both.
 */
#ifndef EXPERIMENTS_EXP_MEMORY_H
#define EXPERIMENTS_EXP_MEMORY_H

#include <stddef.h>
#include <stdio.h>

/*
 * Opens a stream whose text lies in *text, of *bytes before its '\0', whenever it is flushed, and after it is closed: even
 * if that fails. *text is to be freed afterwards. Returns NULL when out of memory, with *text NULL.
 */
FILE *exp_memory_open(char **text, size_t *bytes);

#endif
