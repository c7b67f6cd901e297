/* Values out of text files, above all of /proc and /sys. */
#ifndef CTR_TEXT_H
#define CTR_TEXT_H

#include <stddef.h>

/* Reads the first line of a file without the end of line. Returns 0, -errno, or -ENODATA if the file is empty. */
int ctr_text_first_line(const char *path, char *value, size_t value_bytes);

/*
 * Reads the value of the first `key : value` line of a file, for example /proc/cpuinfo. Blanks around key and value are
 * dropped. Returns 0, -errno, or -ENODATA if no line has the key.
 */
int ctr_text_key(const char *path, const char *key, char *value, size_t value_bytes);

#endif
