/* Text helpers of this folder: the one-line reason of a failure, and values out of /proc and /sys. */
#ifndef CTR_TEXT_H
#define CTR_TEXT_H

#include <stddef.h>

/* Writes the reason into why[why_bytes] (cut if too long; skipped if why is NULL) and returns err. */
int ctr_fail(int err, char *why, size_t why_bytes, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Reads the first line of a file without the end of line. Returns 0, -errno, or -ENODATA if the file is empty. */
int ctr_text_first_line(const char *path, char *value, size_t value_bytes);

/*
 * Reads the value of the first `key : value` line of a file, for example /proc/cpuinfo. Blanks around key and value are
 * dropped. Returns 0, -errno, or -ENODATA if no line has the key.
 */
int ctr_text_key(const char *path, const char *key, char *value, size_t value_bytes);

#endif
