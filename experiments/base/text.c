#include "experiments/base/text.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/machine/machine_words.h"

void exp_words_add(struct exp_words *w, const char *format, ...)
{
    va_list args;

    assert(w && format);
    w->word = exp_resize(w->word, w->n + 2, sizeof *w->word);
    va_start(args, format);
    w->word[w->n++] = exp_format_list(format, args);
    va_end(args);
    w->word[w->n] = NULL;
}

void exp_option_print(FILE *out, const char *key, const char *path)
{
    assert(out && key && path);
    fputs(key, out);
    for (; *path; path++)
        fprintf(out, "%s%c", *path == ',' ? "," : "", *path);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Copies one word to out, and ends it. Returns what is behind it; NULL if a quote is not closed. */
static const char *copy_word(const char *at, char *out)
{
    char quote = '\0';

    for (; *at && (quote || !is_blank(*at)); at++) {
        if (*at == quote)
            quote = '\0';
        else if (!quote && (*at == '\'' || *at == '"'))
            quote = *at;
        else if (*at == '\\' && quote != '\'' && at[1])
            *out++ = *++at;
        else
            *out++ = *at;
    }
    *out = '\0';
    return quote ? NULL : at;
}

int exp_words_split(struct exp_words *w, const char *text)
{
    char *word = exp_new(strlen(text) + 1, 1);

    while (text) {
        while (is_blank(*text))
            text++;
        if (!*text)
            break;
        text = copy_word(text, word);
        if (text)
            exp_words_add(w, "%s", word);
    }
    free(word);
    return text ? 0 : -EINVAL;
}

void exp_words_release(struct exp_words *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->word[i]);
    free(w->word);
    *w = (struct exp_words){ 0 };
}

/* ---- lines for a terminal ---- */

enum { COLUMNS = 112, LABEL_WIDTH = 15, INDENT = 4 };

static void put_line(const char *line, size_t length, FILE *out)
{
    int indent = length && line[0] == ' ' ? LABEL_WIDTH : INDENT;
    size_t room = COLUMNS;

    while (length > room) {
        size_t n = room;

        while (n && line[n] != ' ')
            n--;
        if (!n)
            break;
        fprintf(out, "%.*s\n%*s", (int)n, line, indent, "");
        line += n + 1;
        length -= n + 1;
        room = COLUMNS - (size_t)indent;
    }
    fprintf(out, "%.*s\n", (int)length, line);
}

int exp_wrap_print(int (*say)(const void *ctx, FILE *text), const void *ctx, FILE *out)
{
    size_t bytes;
    char *text = NULL;
    FILE *in = exp_memory_open(&text, &bytes);
    int err = say(ctx, in);

    fclose(in);
    for (char *line = text, *next; !err && *line; line = next) {
        const size_t length = strcspn(line, "\n");

        next = line + length + (line[length] == '\n');
        line[length] = '\0';
        exp_text_clean(line);
        put_line(line, strlen(line), out);
    }
    free(text);
    return err;
}

/* ---- characters ---- */

/*
 * The first byte of a character of each length in UTF-8, and the smallest character of the length. A longer encoding of
 * a smaller character is invalid.
 */
static const struct form {
    unsigned char mask, first;
    size_t bytes;
    unsigned long smallest;
} forms[] = { { 0x80, 0x00, 1, 0 }, { 0xe0, 0xc0, 2, 0x80 }, { 0xf0, 0xe0, 3, 0x800 }, { 0xf8, 0xf0, 4, 0x10000 } };

/* Reads the first character of a text. Returns its length in bytes; 0 for invalid UTF-8. */
static size_t read_character(const unsigned char *text, unsigned long *c)
{
    const struct form *f = forms;

    while (f < forms + sizeof forms / sizeof forms[0] && (*text & f->mask) != f->first)
        f++;
    if (f == forms + sizeof forms / sizeof forms[0])
        return 0;
    *c = *text & (unsigned char)~f->mask;
    for (size_t i = 1; i < f->bytes; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *c = *c << 6 | (text[i] & 0x3f);
    }
    return *c < f->smallest || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ? 0 : f->bytes;
}

/* Tells whether a character changes the direction of text: a reader would see another order than the text has. */
static bool turns(unsigned long c)
{
    return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f || c == 0x61c;
}

size_t exp_text_character(const char *text, bool *is_plain)
{
    unsigned long c = 0;
    const size_t bytes = read_character((const unsigned char *)text, &c);

    *is_plain = bytes && !turns(c);
    return bytes ? bytes : 1;
}

/* Tells whether a text begins with a terminal control character. The controls from 0x80 on take two bytes in UTF-8. */
static bool controls(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;

    return iscntrl(*c) || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0);
}

void exp_text_clean(char *text)
{
    char *to = text;

    assert(text);
    while (*text) {
        bool is_plain;
        const size_t bytes = exp_text_character(text, &is_plain);
        const bool is_kept = is_plain && !controls(text);

        if (is_kept)
            memmove(to, text, bytes);
        else
            *to = is_plain ? ' ' : '?';
        to += is_kept ? bytes : 1;
        text += bytes;
    }
    *to = '\0';
}

/* ---- names of files, and slips ---- */

const char *exp_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    assert(path);
    return slash ? slash + 1 : path;
}

bool exp_name_ends_in(const char *name, const char *suffix)
{
    size_t length = strlen(name), end = strlen(suffix);

    return length > end && !strcmp(name + length - end, suffix);
}

void exp_say_meant(struct exp_why *why, const char *word, const char *const *known, size_t n)
{
    const char *nearest = sim_nearest_word(word, known, n);

    assert(why && (known || !n));
    exp_say_more(why->text, sizeof why->text, "%s%s%s", nearest ? ", did you mean " : ";", nearest ? nearest : "",
                 nearest ? "?" : "");
}

int exp_names_unknown(const struct exp_names *n, const char *name, struct exp_why *why)
{
    struct dirent **entry = NULL;
    int n_entries = scandir(n->folder, &entry, NULL, alphasort);
    const char **known;
    size_t n_known = 0;

    if (n_entries < 0)
        return exp_fail(why, -ENOENT, "unknown %s '%s': cannot list '%s': %s", n->what, name, n->folder,
                        strerror(errno));
    known = exp_new((size_t)n_entries, sizeof *known);
    for (int i = 0; i < n_entries; i++) {
        char *file = entry[i]->d_name;

        if (*file != '.' && exp_name_ends_in(file, n->suffix)) {
            file[strlen(file) - strlen(n->suffix)] = '\0';
            known[n_known++] = file;
        }
    }
    exp_say(why->text, sizeof why->text, "unknown %s '%.60s'", n->what, name);
    exp_say_meant(why, name, known, n_known);
    exp_say_more(why->text, sizeof why->text, " known:%s", n->also);
    for (size_t i = 0; i < n_known; i++)
        exp_say_more(why->text, sizeof why->text, " %s", known[i]);
    for (int i = 0; i < n_entries; i++)
        free(entry[i]);
    free(entry);
    free(known);
    exp_say_more(why->text, sizeof why->text, " (or %s)", n->else_taken);
    return -ENOENT;
}

static bool lists(const char *list, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = list; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] != '\0')) {
        if (strcspn(at, ",") == length && !strncmp(at, name, length))
            return true;
    }
    return false;
}

void exp_names_add(char **list, const char *name)
{
    char *longer;

    assert(list && *list && name);
    if (lists(*list, name))
        return;
    longer = exp_format("%s%s%s", *list, **list ? "," : "", name);
    free(*list);
    *list = longer;
}

/* ---- whole texts ---- */

enum { MAX_FILE_BYTES = 64 << 20 };

FILE *exp_file_open(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    FILE *in = NULL;
    struct stat s;
    int err;

    if (fd < 0) {
        errno = errno == ENXIO ? EINVAL : errno; /* a socket */
        return NULL;
    }
    if (fstat(fd, &s))
        err = errno;
    else
        err = S_ISREG(s.st_mode) ? 0 : S_ISDIR(s.st_mode) ? EISDIR : EINVAL;
    if (!err && !(in = fdopen(fd, "rb")))
        err = errno;
    if (err)
        close(fd);
    errno = err;
    return in;
}

const char *exp_file_error(int err)
{
    return err == EINVAL ? "it is no file, but a pipe, a device or a socket" : strerror(err);
}

static int read_all(char **text, size_t *bytes, FILE *in, const char *path, struct exp_why *why)
{
    for (size_t max = 1 << 16;; max *= 2) {
        *text = exp_resize(*text, max + 1, 1);
        errno = 0;
        *bytes += fread(*text + *bytes, 1, max - *bytes, in);
        if (ferror(in)) {
            int err = errno ? -errno : -EIO;

            return exp_fail(why, err, "cannot read '%s': %s", path, strerror(-err));
        }
        if (*bytes < max)
            break;
        if (max >= MAX_FILE_BYTES)
            return exp_fail(why, -EFBIG, "%s: larger than %d MiB", path, MAX_FILE_BYTES >> 20);
    }
    (*text)[*bytes] = '\0';
    return 0;
}

int exp_text_read(char **text, size_t *bytes, const char *path, struct exp_why *why)
{
    FILE *in = exp_file_open(path);
    int err;

    *text = NULL;
    *bytes = 0;
    if (!in) {
        err = -errno;
        return exp_fail(why, err, "cannot %s '%s': %s", err == -EISDIR ? "read" : "open", path, exp_file_error(-err));
    }
    err = read_all(text, bytes, in, path, why);
    fclose(in);
    if (err) {
        free(*text);
        *text = NULL;
    }
    return err;
}

/*
 * Tells whether every second byte at the beginning of a text is zero, as in ASCII in UTF-16 without a byte order mark.
 */
static bool is_wide(const char *text, size_t bytes)
{
    size_t zeros[2] = { 0, 0 }, n = bytes < 64 ? bytes & ~(size_t)1 : 64;

    for (size_t i = 0; i < n; i++)
        zeros[i % 2] += !text[i];
    return n >= 4 && zeros[0] + zeros[1] == n / 2 && (!zeros[0] || !zeros[1]);
}

int exp_text_check(char *text, size_t *bytes, const char *path, struct exp_why *why)
{
    static const char mark[] = { '\xef', '\xbb', '\xbf' }, wide[2][2] = { { '\xff', '\xfe' }, { '\xfe', '\xff' } };
    const char *nul = memchr(text, '\0', *bytes);
    unsigned line = 1;

    if (*bytes >= 2 && (!memcmp(text, wide[0], 2) || !memcmp(text, wide[1], 2) || is_wide(text, *bytes)))
        return exp_fail(why, -EINVAL, "%s:1: the text is in UTF-16, save it as UTF-8: iconv -f UTF-16 -t UTF-8", path);
    for (const char *c = text; nul && c < nul; c++)
        line += *c == '\n';
    if (nul)
        return exp_fail(why, -EINVAL, "%s:%u: a NUL byte, this is no text file", path, line);
    while (*bytes >= sizeof mark && !memcmp(text, mark, sizeof mark)) {
        *bytes -= sizeof mark;
        memmove(text, text + sizeof mark, *bytes + 1);
    }
    return 0;
}

size_t exp_text_blank(const char *at)
{
    /*
     * Unicode blanks: no-break space, spaces of fixed width, zero-width space, narrow no-break space, ideographic
     * space, and a byte order mark inside a text.
     */
    static const char *const wide[] = { "\u00a0", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007",
                                        "\u2008", "\u2009", "\u200a", "\u200b", "\u202f", "\u3000", "\ufeff" };

    if (*at == ' ' || *at == '\t')
        return 1;
    for (size_t i = 0; i < sizeof wide / sizeof wide[0] && (*at & 0x80); i++) {
        if (!strncmp(at, wide[i], strlen(wide[i])))
            return strlen(wide[i]);
    }
    return 0;
}

size_t exp_text_trimmed(const char *text, size_t length)
{
    assert(text || !length);
    for (size_t n = 1; n <= 3 && n <= length; n++) {
        if (exp_text_blank(text + length - n) != n)
            continue;
        length -= n;
        n = 0;
    }
    return length;
}

void exp_text_plain(char *text, size_t *bytes)
{
    char *out = text;

    for (const char *in = text; *in;) {
        const size_t blank = *in == '\t' ? 0 : exp_text_blank(in);

        *out++ = blank ? ' ' : *in == '\r' ? '\n' : *in;
        in += *in == '\r' && in[1] == '\n' ? 2 : blank ? blank : 1;
    }
    *out = '\0';
    *bytes = (size_t)(out - text);
}

int exp_text_read_plain(char **text, size_t *bytes, const char *path, struct exp_why *why)
{
    int err = exp_text_read(text, bytes, path, why);

    if (err)
        return err;
    err = exp_text_check(*text, bytes, path, why);
    if (err) {
        free(*text);
        *text = NULL;
        return err;
    }
    exp_text_plain(*text, bytes);
    return 0;
}

char *exp_text_of(const char *folder, const char *file)
{
    char *path = exp_format("%s/%s", folder, file), *text = NULL;
    size_t bytes;
    int err = exp_text_read(&text, &bytes, path, NULL);

    free(path);
    return err ? exp_copy_text("") : text;
}

const char *exp_text_after(const char *text, const char *key)
{
    const size_t length = strlen(key);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, key, length))
            return line + length;
    }
    return NULL;
}

/* ---- hashes ---- */

/* FNV-1a, 64 bits: tells apart, and protects against nobody. */
uint64_t exp_hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;

    assert(bytes || !n);
    hash = hash ? hash : 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ b[i]) * 0x100000001b3u;
    return hash;
}

int exp_hash_file(uint64_t *hash, const char *path)
{
    char block[1 << 16];
    FILE *in = exp_file_open(path);
    size_t n;
    int err;

    if (!in)
        return -errno;
    *hash = exp_hash_bytes(*hash, "", 0);
    while ((n = fread(block, 1, sizeof block, in)))
        *hash = exp_hash_bytes(*hash, block, n);
    err = ferror(in) ? -EIO : 0;
    fclose(in);
    return err;
}
