#include "kernels/wisdom/wisdom_lines.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "sconv-wisdom 1"

enum { LINE_BYTES = WISDOM_KEY_BYTES + WISDOM_VALUE_BYTES, PATH_BYTES = 4096, WORD_BYTES = 64 };

void wisdom_lines_release(struct wisdom_lines *l)
{
    free(l->line);
    *l = (struct wisdom_lines){ 0 };
}

static struct wisdom_line *find(const struct wisdom_lines *l, const char *key)
{
    for (size_t i = 0; i < l->n; i++) {
        if (!strcmp(l->line[i].key, key))
            return &l->line[i];
    }
    return NULL;
}

const char *wisdom_lines_find(const struct wisdom_lines *l, const char *key)
{
    const struct wisdom_line *line = find(l, key);

    return line ? line->value : NULL;
}

int wisdom_lines_put(struct wisdom_lines *l, const char *key, const char *value, bool replaces)
{
    struct wisdom_line *line = find(l, key);

    assert(strlen(key) < sizeof line->key && strlen(value) < sizeof line->value);
    if (line && !replaces)
        return 0;
    if (!line && l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 16;
        struct wisdom_line *more = realloc(l->line, room * sizeof *more);

        if (!more)
            return -ENOMEM;
        l->line = more;
        l->room = room;
    }
    line = line ? line : &l->line[l->n++];
    snprintf(line->key, sizeof line->key, "%s", key);
    snprintf(line->value, sizeof line->value, "%s", value);
    return 0;
}

/* Counts words that single blanks part; 0: the text has another kind of blank. */
static size_t count_words(const char *text)
{
    size_t n = 0;

    while (*text) {
        size_t length = strcspn(text, " \t\r");

        if (!length || text[length] == '\t' || text[length] == '\r')
            return 0;
        n++;
        text += length;
        if (*text && !*++text)
            return 0;
    }
    return n;
}

static bool read_word(const char *word, const char *no, const char *yes, bool *is_yes)
{
    *is_yes = !strcmp(word, yes);
    return *is_yes || !strcmp(word, no);
}

bool wisdom_value_read(const char *value, char *ukr, size_t ukr_bytes, bool *in_place, bool *is_ws, size_t number[3])
{
    char name[WORD_BYTES], windows[WORD_BYTES], schedule[WORD_BYTES];
    int end = 0;

    if (sscanf(value, "%63s %63s %63s %zu %zu %zu%n", name, windows, schedule, &number[0], &number[1], &number[2],
               &end) != WISDOM_VALUE_WORDS ||
        value[end] || strchr(value, '-') || !number[0] || !number[1] || !number[2])
        return false;
    snprintf(ukr, ukr_bytes, "%s", name);
    return read_word(windows, "packed", "in_place", in_place) && read_word(schedule, "is", "ws", is_ws);
}

/* Returns the start of a line's value, behind the words of the key. */
static char *value_of(char *line)
{
    for (int i = 0; i < WISDOM_KEY_WORDS; i++)
        line = strchr(line, ' ') + 1;
    return line;
}

/* Takes a line, or returns what is wrong with it. */
static const char *take_line(struct wisdom_lines *l, char *line)
{
    char ukr[WORD_BYTES], *value;
    size_t number[3];
    bool in_place, is_ws;

    if (count_words(line) != WISDOM_KEY_WORDS + WISDOM_VALUE_WORDS)
        return "is not eleven words with single blanks between them";
    value = value_of(line);
    value[-1] = '\0';
    if (strlen(line) >= WISDOM_KEY_BYTES || strlen(value) >= WISDOM_VALUE_BYTES)
        return "is too long";
    if (!wisdom_value_read(value, ukr, sizeof ukr, &in_place, &is_ws, number))
        return "does not end in a micro-kernel, in_place or packed, is or ws, and three numbers above 0";
    return wisdom_lines_put(l, line, value, true) ? "is more than memory holds" : NULL;
}

static int read_lines(struct wisdom_lines *l, FILE *in, const char *path, struct conv_reason why)
{
    char line[LINE_BYTES + 2];
    size_t number = 0;

    while (fgets(line, sizeof line, in)) {
        size_t length = strlen(line);
        const char *wrong = length && line[length - 1] == '\n' ? NULL : "is too long, or is cut";

        number++;
        if (!wrong)
            line[length - 1] = '\0';
        if (!wrong && number == 1)
            wrong = strcmp(line, HEAD) ? "is not '" HEAD "': no file of wisdom, or of another version" : NULL;
        else if (!wrong)
            wrong = take_line(l, line);
        if (wrong)
            return conv_refuse(-EINVAL, why, "%s:%zu: the line %s; delete the file, and plans are measured again", path,
                               number, wrong);
    }
    if (ferror(in))
        return conv_refuse(-EIO, why, "%s: %s", path, strerror(EIO));
    if (!number)
        return conv_refuse(-EINVAL, why, "%s: the file is empty; delete it, and plans are measured again", path);
    return 0;
}

int wisdom_lines_read(struct wisdom_lines *l, const char *path, struct conv_reason why)
{
    FILE *in = fopen(path, "r");
    int err = in ? 0 : -errno;

    if (!in)
        return conv_refuse(err, why, "%s: %s", path, strerror(-err));
    err = read_lines(l, in, path, why);
    fclose(in);
    if (err)
        wisdom_lines_release(l);
    return err;
}

static void put_words(const char *words, const char *end, FILE *out)
{
    fputs(words, out);
    fputs(end, out);
}

static int print_lines(const struct wisdom_lines *l, FILE *out)
{
    int err = 0;

    errno = 0;
    put_words(HEAD, "\n", out);
    for (size_t i = 0; i < l->n; i++) {
        put_words(l->line[i].key, " ", out);
        put_words(l->line[i].value, "\n", out);
    }
    if (fflush(out) || ferror(out))
        err = errno ? -errno : -EIO;
    return fclose(out) && !err ? -errno : err;
}

int wisdom_lines_write(const struct wisdom_lines *l, const char *path, struct conv_reason why)
{
    char partial[PATH_BYTES];
    FILE *out;
    int err = 0;

    if (snprintf(partial, sizeof partial, "%s.%ld", path, (long)getpid()) >= (int)sizeof partial)
        err = -ENAMETOOLONG;
    out = err ? NULL : fopen(partial, "w");
    if (!err && !out)
        err = -errno;
    if (!err)
        err = print_lines(l, out);
    if (!err && rename(partial, path))
        err = -errno;
    if (err && out)
        unlink(partial);
    return err ? conv_refuse(err, why, "%s: cannot be written: %s", path, strerror(-err)) : 0;
}
