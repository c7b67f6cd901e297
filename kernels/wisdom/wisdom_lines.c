#include "kernels/wisdom/wisdom_lines.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "sconv-wisdom 1"

enum {
    KEY_WORDS = 5,
    VALUE_WORDS = 6,
    VALUE_BYTES = 128,
    LINE_BYTES = WISDOM_KEY_BYTES + VALUE_BYTES,
    PATH_BYTES = 4096
};

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

const struct wisdom_value *wisdom_lines_find(const struct wisdom_lines *l, const char *key)
{
    const struct wisdom_line *line = find(l, key);

    return line ? &line->value : NULL;
}

int wisdom_lines_put(struct wisdom_lines *l, const char *key, const struct wisdom_value *value)
{
    struct wisdom_line *line = find(l, key);

    assert(strlen(key) < sizeof line->key);
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
    line->value = *value;
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

/* Reads the words of a value: numbers are at least 1. */
static bool read_value(const char *text, struct wisdom_value *v)
{
    char windows[WISDOM_NAME_BYTES], schedule[WISDOM_NAME_BYTES];
    int end = 0;

    return sscanf(text, "%63s %63s %63s %zu %zu %zu%n", v->ukr, windows, schedule, &v->n_c, &v->k2, &v->k3, &end) ==
               VALUE_WORDS &&
           !text[end] && !strchr(text, '-') && v->n_c && v->k2 && v->k3 &&
           read_word(windows, "packed", "in_place", &v->in_place) && read_word(schedule, "is", "ws", &v->is_ws);
}

/* Returns the start of a line's value, behind the words of the key. */
static char *value_of(char *line)
{
    for (int i = 0; i < KEY_WORDS; i++)
        line = strchr(line, ' ') + 1;
    return line;
}

/* Takes a line, or returns what is wrong with it. */
static const char *take_line(struct wisdom_lines *l, char *line)
{
    struct wisdom_value value;
    char *text;

    if (count_words(line) != KEY_WORDS + VALUE_WORDS)
        return "is not eleven words with single blanks between them";
    text = value_of(line);
    text[-1] = '\0';
    if (strlen(line) >= WISDOM_KEY_BYTES || strlen(text) >= VALUE_BYTES)
        return "is too long";
    if (!read_value(text, &value))
        return "does not end in a micro-kernel, in_place or packed, is or ws, and three numbers above 0";
    return wisdom_lines_put(l, line, &value) ? "is more than memory holds" : NULL;
}

static int read_lines(struct wisdom_lines *l, FILE *in, const char *path, struct sim_why why)
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
            return sim_fail(why, -EINVAL, "%s:%zu: the line %s; delete the file, and plans are measured again", path,
                            number, wrong);
    }
    if (ferror(in))
        return sim_fail(why, -EIO, "%s: %s", path, strerror(EIO));
    if (!number)
        return sim_fail(why, -EINVAL, "%s: the file is empty; delete it, and plans are measured again", path);
    return 0;
}

int wisdom_lines_read(struct wisdom_lines *l, const char *path, struct sim_why why)
{
    FILE *in = fopen(path, "r");
    int err = in ? 0 : -errno;

    if (!in)
        return sim_fail(why, err, "%s: %s", path, strerror(-err));
    err = read_lines(l, in, path, why);
    fclose(in);
    if (err)
        wisdom_lines_release(l);
    return err;
}

static int print_lines(const struct wisdom_lines *l, FILE *out)
{
    int err = 0;

    errno = 0;
    fputs(HEAD "\n", out);
    for (size_t i = 0; i < l->n; i++) {
        const struct wisdom_value *v = &l->line[i].value;
        char text[VALUE_BYTES + 2];

        snprintf(text, sizeof text, " %s %s %s %zu %zu %zu\n", v->ukr, v->in_place ? "in_place" : "packed",
                 v->is_ws ? "ws" : "is", v->n_c, v->k2, v->k3);
        fputs(l->line[i].key, out);
        fputs(text, out);
    }
    if (fflush(out) || ferror(out))
        err = errno ? -errno : -EIO;
    return fclose(out) && !err ? -errno : err;
}

int wisdom_lines_write(const struct wisdom_lines *l, const char *path, struct sim_why why)
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
    return err ? sim_fail(why, err, "%s: cannot be written: %s", path, strerror(-err)) : 0;
}
