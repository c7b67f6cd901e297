/* Words of a command: for a program that is started without a shell. */
#ifndef EXPERIMENTS_BASE_TEXT_H
#define EXPERIMENTS_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "experiments/base/error.h"

struct exp_words {
    char **word; /* [n], then a NULL, as execv takes words. NULL without words */
    size_t n;
};

/* Adds a word like printf's. Starts from { 0 }. */
void exp_words_add(struct exp_words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Adds the words of a text, split as a shell splits: at blanks. Text in '...' is taken literally; in "..." and outside
 * of quotes, a backslash takes the next character literally. Nothing is replaced and nothing executed. Returns 0, or
 * -EINVAL for an open quote.
 */
int exp_words_split(struct exp_words *w, const char *text);

void exp_words_release(struct exp_words *w); /* leaves { 0 } */

/* Prints a key and a path for a QEMU option: each comma of the path is doubled. */
void exp_option_print(FILE *out, const char *key, const char *path);

/*
 * Sentences for a terminal: long lines are broken at blanks. A line that begins with EXP_LABEL starts with a label, and
 * the broken rest stands below the text, not below the label.
 */

#define EXP_LABEL "  %-12s " /* for a word of at most 12 letters */

/* Runs say(ctx, text), then prints the text, cleaned and broken into lines. Returns the result of say: 0 or -errno. */
int exp_wrap_print(int (*say)(const void *ctx, FILE *text), const void *ctx, FILE *out);

/*
 * Cleans a foreign text in place for tables, figures and terminals. A control character becomes a blank. A byte of
 * invalid UTF-8 becomes '?', and so does a character that changes the direction of text.
 */
void exp_text_clean(char *text);

/*
 * Reads the first character of a UTF-8 text. Returns its length in bytes; 1 for an invalid byte. *is_plain: the
 * character is valid and does not change the direction of text.
 */
size_t exp_text_character(const char *text, bool *is_plain);

/* Names that stand for files (models and machines), and slips in names. */

const char *exp_last_part(const char *path);                 /* behind the last slash, if any */
bool exp_name_ends_in(const char *name, const char *suffix); /* and is not the suffix alone */

struct exp_names {
    const char *what;       /* "model" */
    const char *folder;     /* the folder of the named files */
    const char *suffix;     /* appended to the name */
    const char *also;       /* a name without a file, after a blank; or "" */
    const char *else_taken; /* "the path of a .cfg file" */
};

/* Ends a clause about a wrong word: ", did you mean vgg16?", or ";" where no known word comes near. */
void exp_say_meant(struct exp_why *why, const char *word, const char *const *known, size_t n);

/* Writes one line that calls a name unknown and lists known names, as far as they fit. Returns -ENOENT. */
int exp_names_unknown(const struct exp_names *n, const char *name, struct exp_why *why);

/* Adds a name to a comma-separated list from malloc, unless the list has the name. */
void exp_names_add(char **list, const char *name);

/* Whole text files in memory. */

/*
 * Opens a regular file for reading; the caller closes the file. A pipe without a writer would block, and a device may
 * never end. Returns NULL with errno on failure: EISDIR, or EINVAL for a pipe, a device or a socket.
 */
FILE *exp_file_open(const char *path);

/* Returns the text of an errno value of exp_file_open. EINVAL: the path names no regular file. */
const char *exp_file_error(int err);

/*
 * Reads a file of at most 64 MiB into *text, from malloc, with a zero byte behind it; *bytes is its length. Returns 0;
 * -errno of opening or reading; -EFBIG; with one line in why, and *text NULL.
 */
int exp_text_read(char **text, size_t *bytes, const char *path, struct exp_why *why);

/* Texts from editors, spreadsheets and foreign systems. Every reader of a text by a user calls these functions. */

/*
 * Removes a UTF-8 byte order mark from a text with a zero byte behind it; *bytes is the text's length. Returns 0;
 * -EINVAL with one line "path:line: problem" in why for a text in UTF-16 or UTF-32, or with a NUL byte.
 */
int exp_text_check(char *text, size_t *bytes, const char *path, struct exp_why *why);

/*
 * Returns the length in bytes of the blank at `at`: 1 for a space or a tab, 2 or 3 for a Unicode blank in UTF-8, for
 * example a no-break space; 0 if there is no blank.
 */
size_t exp_text_blank(const char *at);

/* Returns the length of a text without the blanks at its end. */
size_t exp_text_trimmed(const char *text, size_t length);

/* Changes every line end (CR LF or CR) to LF, and every blank but the tab to a space. */
void exp_text_plain(char *text, size_t *bytes);

/*
 * Reads a file (exp_text_read), checks the text (exp_text_check) and makes it plain (exp_text_plain). Returns 0 or the
 * error of the first two functions; *text is from malloc, NULL on failure.
 */
int exp_text_read_plain(char **text, size_t *bytes, const char *path, struct exp_why *why);

/* Reads a file of a folder; "" if the file is missing or unreadable. From malloc. */
char *exp_text_of(const char *folder, const char *file);

/*
 * Returns the text behind a key in the first line that begins with the key; NULL without a line. The result ends at the
 * end of the whole text.
 */
const char *exp_text_after(const char *text, const char *key);

/* Hashes of bytes and files, against accidental differences. */

/* Adds bytes to a hash, which starts from 0. */
uint64_t exp_hash_bytes(uint64_t hash, const void *bytes, size_t n);

/* Adds a file's bytes to a hash; a new hash is 0. Returns 0, or -errno of exp_file_open or of reading. */
int exp_hash_file(uint64_t *hash, const char *path);

#endif
