/*
 * Tells what a file is that is not what its reader wants, and what in a line of text is no text of that line. Files come
 * from browsers, archives, editors and other systems: a reader that refuses one says by these words what to do.
 */
#ifndef SIM_FOREIGN_H
#define SIM_FOREIGN_H

#include <stddef.h>

enum { SIM_FOREIGN_HEAD_BYTES = 512 }; /* as many of a file's first bytes are looked at */

struct sim_foreign {
    const char *bytes; /* that such files begin with */
    size_t n_bytes;
    const char *what;   /* words behind "it is", and what to do with it: "a zip archive (unzip -p unpacks it)" */
    const char *packer; /* the program that unpacks it by -dc; NULL: none does */
};

/* Tells what a file is by its first n bytes. NULL: nothing is known of such bytes, they may be text. */
const struct sim_foreign *sim_foreign_find(const void *head, size_t n);

/* Returns how many bytes of a byte order mark of UTF-8 a text begins with: 3 or 0. Readers of text skip them. */
size_t sim_mark_bytes(const void *head, size_t n);

/*
 * Finds the first byte between at and end that other systems or editors put into a line and that no line of text here
 * has: NUL, a carriage return, a blank of Unicode, a byte order mark. Returns its name and stores where it is, or NULL.
 */
const char *sim_foreign_byte(const char *at, const char *end, const char **where);

#endif
