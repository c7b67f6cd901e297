/*
 * Recognizes files of a wrong kind, and bytes that do not belong into a line of text. Files come from browsers,
 * archives, editors and other systems: a reader that refuses a file tells the user, in these words, how to mend the
 * file.
 */
#ifndef SIM_FOREIGN_H
#define SIM_FOREIGN_H

#include <stddef.h>

enum { SIM_FOREIGN_HEAD_BYTES = 512 }; /* how many first bytes of a file are looked at */

struct sim_foreign {
    const char *bytes; /* the first bytes of files of the kind; NULL: foreign.c has a rule for the kind */
    size_t n_bytes;
    const char *what;   /* words behind "it is", with advice: "a zip archive (unzip -p unpacks it)" */
    const char *packer; /* the program whose option -dc unpacks the file; NULL: none */
};

/* Returns the kind of a file by its first n bytes. NULL: unknown, perhaps text. */
const struct sim_foreign *sim_foreign_find(const void *head, size_t n);

/* Returns the length of the UTF-8 byte order mark at the begin of a text: 3 or 0. Readers of text skip the mark. */
size_t sim_mark_bytes(const void *head, size_t n);

/*
 * Finds the first byte between at and end that no line of text may have here. Some systems and editors write these
 * bytes: NUL, a carriage return, a blank of Unicode, a byte order mark. Returns the byte's name and stores the byte's
 * address in *where; NULL: every byte may stand in a line.
 */
const char *sim_foreign_byte(const char *at, const char *end, const char **where);

#endif
