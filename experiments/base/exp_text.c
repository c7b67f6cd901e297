#define _GNU_SOURCE /* fopencookie */
#include "experiments/base/exp_text.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "sim/machine/machine_words.h"

/* Adds a word from malloc, and takes it over; NULL when out of memory. */
static void add(struct exp_words *w, char *word)
{
    char **grown = word && !w->err ? realloc(w->word, (w->n + 2) * sizeof *grown) : NULL;

    if (!grown) {
        w->err = -ENOMEM;
        free(word);
        return;
    }
    w->word = grown;
    grown[w->n++] = word;
    grown[w->n] = NULL;
}

void exp_words_add(struct exp_words *w, const char *format, ...)
{
    va_list args;
    char *word;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    word = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (word) {
        va_start(args, format);
        vsnprintf(word, (size_t)length + 1, format, args);
        va_end(args);
    }
    add(w, word);
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
    char *word = malloc(strlen(text) + 1);

    if (!word)
        w->err = -ENOMEM;
    while (word && text) {
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
    int err = in ? say(ctx, in) : -ENOMEM;

    if (in && fclose(in) && !err)
        err = -ENOMEM;
    for (const char *line = text; !err && *line;) {
        size_t length = strcspn(line, "\n");

        put_line(line, length, out);
        line += length + (line[length] == '\n');
    }
    free(text);
    return err;
}

/* ---- names of files, and slips ---- */

bool exp_name_ends_in(const char *name, const char *suffix)
{
    size_t length = strlen(name), end = strlen(suffix);

    return length > end && !strcmp(name + length - end, suffix);
}

int exp_names_unknown(const struct exp_names *n, const char *name, struct exp_why *why)
{
    struct dirent **entry = NULL;
    int n_entries = scandir(n->folder, &entry, NULL, alphasort);

    if (n_entries < 0)
        return exp_fail(why, -ENOENT, "unknown %s '%s': cannot list '%s': %s", n->what, name, n->folder,
                        strerror(errno));
    exp_say(why->text, sizeof why->text, "unknown %s '%.60s'; known:%s", n->what, name, n->also);
    for (int i = 0; i < n_entries; i++) {
        const char *file = entry[i]->d_name;

        if (*file != '.' && exp_name_ends_in(file, n->suffix))
            exp_say_more(why->text, sizeof why->text, " %.*s", (int)(strlen(file) - strlen(n->suffix)), file);
        free(entry[i]);
    }
    free(entry);
    exp_say_more(why->text, sizeof why->text, " (or %s)", n->else_taken);
    return -ENOENT;
}

const char *exp_names_nearest(const char *word, const char *const *known, size_t n)
{
    return sim_nearest_word(word, known, n);
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

bool exp_names_add(char **list, const char *name)
{
    char *longer;

    if (lists(*list, name))
        return true;
    longer = exp_format("%s%s%s", *list, **list ? "," : "", name);
    free(*list);
    *list = longer;
    return longer != NULL;
}

/* ---- streams into memory ---- */

struct memory {
    char **text;
    size_t *bytes;
    size_t room; /* of *text */
    bool failed;
};

/* Makes room for so many bytes more, and a '\0'. */
static bool grow(struct memory *m, size_t more)
{
    const size_t need = *m->bytes + more + 1, twice = 2 * m->room, room = need > twice ? need : twice;
    char *grown;

    if (need <= m->room)
        return true;
    grown = calloc(1, room);
    if (!grown)
        return false;
    memcpy(grown, *m->text, *m->bytes);
    free(*m->text);
    m->room = room;
    *m->text = grown;
    return true;
}

/* Returns how much was written: all or nothing. */
static ssize_t append(void *memory, const char *what, size_t n)
{
    struct memory *m = memory;

    if (m->failed || !grow(m, n)) {
        m->failed = true;
        errno = ENOMEM;
        return 0;
    }
    memcpy(*m->text + *m->bytes, what, n);
    *m->bytes += n;
    (*m->text)[*m->bytes] = '\0';
    return (ssize_t)n;
}

static int end(void *memory)
{
    struct memory *m = memory;
    const bool failed = m->failed;

    free(m);
    errno = failed ? ENOMEM : errno;
    return failed ? -1 : 0;
}

FILE *exp_memory_open(char **text, size_t *bytes)
{
    static const cookie_io_functions_t how = { .write = append, .close = end };
    struct memory *m = calloc(1, sizeof *m);
    FILE *out;

    *text = calloc(1, 1);
    *bytes = 0;
    out = m && *text ? fopencookie(m, "w", how) : NULL;
    if (out) {
        *m = (struct memory){ text, bytes, 1, false };
        return out;
    }
    free(m);
    free(*text);
    *text = NULL;
    return NULL;
}
