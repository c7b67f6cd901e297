/* Words of a command: for a program that is started without a shell. */
#ifndef EXPERIMENTS_BASE_TEXT_H
#define EXPERIMENTS_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "experiments/base/error.h"

struct exp_words {
    char **word; /* [n], and a NULL behind them: as execv takes them. NULL as long as there are none */
    size_t n;
};

/* Adds a word like printf's. Starts from { 0 }. */
void exp_words_add(struct exp_words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Adds the words of a text, split as a shell does: at blanks; what stands in '...' is as it is; in "..." and outside,
 * a backslash takes the next character as it is. Nothing is replaced and nothing executed. Returns 0, or -EINVAL if a
 * quote is not closed.
 */
int exp_words_split(struct exp_words *w, const char *text);

void exp_words_release(struct exp_words *w); /* leaves { 0 } */

/* Writes a key and a path behind it as QEMU's options want them: commas of the path twice. */
void exp_option_print(FILE *out, const char *key, const char *path);

/*
 * Sentences for a terminal: lines are broken at blanks where they are too long. A line that begins with EXP_LABEL has a
 * word in front, and its rest stands below its own words.
 */

#define EXP_LABEL "  %-12s " /* for a word of at most 12 letters */

/* Runs say(ctx, text), which returns 0 or -errno, and prints what it wrote, cleaned (exp_text_clean). Returns that. */
int exp_wrap_print(int (*say)(const void *ctx, FILE *text), const void *ctx, FILE *out);

/*
 * Makes a text that somebody else wrote one that tables, figures and terminals can have: control characters become
 * blanks; '?' stands for bytes that are no UTF-8, and for characters that turn the direction of what follows.
 */
void exp_text_clean(char *text);

/*
 * Reads the character of UTF-8 that a text begins with. Returns its bytes, 1 if it is none. *is_plain: it is one, and
 * does not turn the direction of what follows.
 */
size_t exp_text_character(const char *text, bool *is_plain);

/* Names that stand for files (models and machines), and slips in names. */

const char *exp_last_part(const char *path);                 /* behind the last slash, if there is one */
bool exp_name_ends_in(const char *name, const char *suffix); /* and is not the suffix alone */

struct exp_names {
    const char *what;       /* "model" */
    const char *folder;     /* whose files the names stand for, */
    const char *suffix;     /* with this appended */
    const char *also;       /* a name without a file, after a blank; or "" */
    const char *else_taken; /* "the path of a .cfg file" */
};

/* Writes one line that says that a name is unknown and lists the known ones, as far as they fit. Returns -ENOENT. */
int exp_names_unknown(const struct exp_names *n, const char *name, struct exp_why *why);

/* Adds a name to a comma-separated list from malloc, unless it is there. */
void exp_names_add(char **list, const char *name);

/* Whole text files in memory. */

/*
 * Opens a file for reading that is one: waiting for a pipe's other end, or reading what has none, would take for ever.
 * Returns NULL with errno: EISDIR, or EINVAL for a pipe, a device or a socket.
 */
FILE *exp_file_open(const char *path);

/* Says what that errno means: of EINVAL, that it is no file. */
const char *exp_file_error(int err);

/*
 * Reads a file of at most 64 MiB into *text, from malloc, with a zero byte behind it; *bytes is its length. Returns 0;
 * -errno of opening or reading; -EFBIG; with one line in why, and *text NULL.
 */
int exp_text_read(char **text, size_t *bytes, const char *path, struct exp_why *why);

/*
 * Texts as editors, spreadsheets and other systems leave them. Whatever reads a text that a user may have written goes
 * through these functions.
 */

/*
 * Takes a UTF-8 byte order mark away from a text with a zero byte behind it. Returns 0; -EINVAL with one line
 * "path:line: what" in why for a text in UTF-16 or UTF-32, or with a NUL byte.
 */
int exp_text_check(char *text, size_t *bytes, const char *path, struct exp_why *why);

/*
 * Returns how many bytes the blank at `at` has: 1 of a space or a tab, 2 or 3 of another one in UTF-8, such as a
 * non-breaking one; 0: there is none.
 */
size_t exp_text_blank(const char *at);

/* Returns how many of `length` bytes are left without the blanks at their end. */
size_t exp_text_trimmed(const char *text, size_t length);

/* Makes each line end a LF, whether it was CR LF or a CR alone, and each blank, but a tab, a space. */
void exp_text_plain(char *text, size_t *bytes);

/* Reads a file as exp_text_read does, checks it, and makes it plain. Returns as the first two of these. */
int exp_text_read_plain(char **text, size_t *bytes, const char *path, struct exp_why *why);

/* Reads a file of a folder; "" if it is not there or cannot be read. From malloc. */
char *exp_text_of(const char *folder, const char *file);

/* Returns what follows a key in the first line that begins with it; NULL if none does. The line ends as lines do. */
const char *exp_text_after(const char *text, const char *key);

/* Hashes of bytes and files: to tell apart what differs by accident. */

/* Adds bytes to a hash, which starts from 0. */
uint64_t exp_hash_bytes(uint64_t hash, const void *bytes, size_t n);

/* Adds a file to a hash, which starts from 0. Returns 0 or -errno of exp_file_open or of reading it. */
int exp_hash_file(uint64_t *hash, const char *path);

#endif
