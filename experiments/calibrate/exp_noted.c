#define _GNU_SOURCE
#include "experiments/base/exp_memory.h"
#include "experiments/calibrate/exp_noted.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_COLUMN = 30 };

static bool has_word(const char *list, const char *word, size_t length)
{
    for (const char *at = list; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        if (strcspn(at, " ") == length && !strncmp(at, word, length))
            return true;
    }
    return false;
}

static const char *find(const struct exp_note *note, size_t n, const char *section, const char *key, size_t length)
{
    for (size_t i = 0; i < n; i++) {
        if (!strncmp(section, note[i].section, strlen(note[i].section)) &&
            (!*note[i].keys || has_word(note[i].keys, key, length)))
            return note[i].source;
    }
    return "";
}

static void print_lines(char *text, const struct exp_note *note, size_t n, FILE *out)
{
    const char *section = "";

    for (char *line = text, *next; *line; line = next) {
        const char *source = "";
        char *end = strchr(line, '\n');

        next = end + 1;
        *end = '\0';
        if (*line == '[')
            section = line + 1;
        else if (*line)
            source = find(note, n, section, line, strcspn(line, " "));
        if (*source)
            fprintf(out, "%-*s # %s\n", NOTE_COLUMN, line, source);
        else
            fprintf(out, "%s\n", line);
    }
}

int exp_noted_print(const struct sim_machine *m, const char *header, const struct exp_note *note, size_t n_notes,
                    FILE *out)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = exp_memory_open(&text, &bytes);
    int err = memory ? sim_machine_print(m, memory) : -ENOMEM;

    if (memory && fclose(memory) && !err)
        err = -ENOMEM;
    if (!err) {
        fprintf(out, "# %s\n", header);
        print_lines(text, note, n_notes, out);
        err = fflush(out) || ferror(out) ? -EIO : 0;
    }
    free(text);
    return err;
}
