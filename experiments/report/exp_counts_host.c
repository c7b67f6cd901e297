/* host.txt of recorded counts, read and written: exp_counts_files.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"
#include "experiments/report/exp_counts_files.h"

#define STACK "stack.csv"
#define FORMAT_KEY "counts format: "
#define COMMIT_KEY "counted at commit: "
#define REPLAY_KEY "replay with: "

static int set_text(char **field, const char *value, size_t length)
{
    free(*field);
    *field = strndup(value, length);
    return *field ? 0 : -ENOMEM;
}

/* Reads one NAME=VALUE of "replay with". */
static int read_setting(struct exp_counts *c, const char *word, size_t length, struct exp_why *why)
{
    const struct {
        const char *name;
        char **field;
    } settings[] = { { "MACHINE=", &c->machine }, { "UKR=", &c->ukr }, { "CORE=", &c->core } };

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        size_t prefix = strlen(settings[i].name);

        if (length >= prefix && !strncmp(word, settings[i].name, prefix))
            return set_text(settings[i].field, word + prefix, length - prefix);
    }
    c->packs_filters = length == strlen("FILTERS=run_time") && !strncmp(word, "FILTERS=run_time", length);
    if (c->packs_filters || (length == strlen("FILTERS=ahead") && !strncmp(word, "FILTERS=ahead", length)))
        return 0;
    return exp_fail(why, -EINVAL, "%s/" EXP_COUNTS_HOST ": replay with: unknown setting '%.*s'", c->folder, (int)length,
                    word);
}

static int read_settings(struct exp_counts *c, const char *words, struct exp_why *why)
{
    int err = 0;

    for (words += strspn(words, " "); *words && !err; words += strspn(words, " ")) {
        size_t length = strcspn(words, " ");

        err = read_setting(c, words, length, why);
        words += length;
    }
    return err;
}

/* Replaces a MACHINE that is a file of the folder by its path. */
static int place_machine(struct exp_counts *c)
{
    size_t length = strlen(c->machine), suffix = strlen(".cfg");
    char *path;

    if (length < suffix || strcmp(c->machine + length - suffix, ".cfg") != 0 || strchr(c->machine, '/'))
        return 0;
    path = exp_format("%s/%s", c->folder, c->machine);
    free(c->machine);
    c->machine = path;
    return path ? 0 : -ENOMEM;
}

/* Finds the table of stacks, if the folder has one. */
static int place_stack(struct exp_counts *c)
{
    char *path = exp_format("%s/" STACK, c->folder);

    if (!path)
        return -ENOMEM;
    if (!access(path, F_OK))
        c->stack = path;
    else
        free(path);
    return 0;
}

static int check_format(const struct exp_counts *c, const char *format, struct exp_why *why)
{
    if (atoi(format) == EXP_COUNTS_FORMAT)
        return 0;
    return exp_fail(why, -EINVAL, "%s/" EXP_COUNTS_HOST ": counts format: '%s'; this program reads %d", c->folder,
                    format, EXP_COUNTS_FORMAT);
}

static bool has_key(const char *line, const char *key, const char **value)
{
    size_t length = strlen(key);

    *value = line + length;
    return !strncmp(line, key, length);
}

static int read_host_line(struct exp_counts *c, const char *line, bool *has_format, struct exp_why *why)
{
    const char *value;

    if (has_key(line, "cpu: ", &value))
        return set_text(&c->cpu, value, strlen(value));
    if (has_key(line, COMMIT_KEY, &value))
        return set_text(&c->commit, value, strlen(value));
    if (has_key(line, REPLAY_KEY, &value))
        return read_settings(c, value, why);
    if (!has_key(line, FORMAT_KEY, &value))
        return 0;
    *has_format = true;
    return check_format(c, value, why);
}

static int read_host_lines(struct exp_counts *c, char *text, bool *has_format, struct exp_why *why)
{
    int err = 0;

    for (char *line = text, *next; line && !err; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        line[strcspn(line, "\r")] = '\0';
        err = read_host_line(c, line, has_format, why);
    }
    return err;
}

/* Reads the whole file, which may be a link to anything. */
static int read_host_text(const char *path, char **text, struct exp_why *why)
{
    struct stat s;
    size_t bytes;

    *text = NULL;
    if (stat(path, &s))
        return exp_fail(why, -errno, "COUNTS: cannot read '%s': %s", path, strerror(errno));
    if (!S_ISREG(s.st_mode))
        return exp_fail(why, -EINVAL, "COUNTS: cannot read '%s': not a regular file", path);
    return exp_text_read(text, &bytes, path, why);
}

int exp_counts_read_host(struct exp_counts *c, struct exp_why *why)
{
    char *path = exp_format("%s/" EXP_COUNTS_HOST, c->folder), *text = NULL;
    bool has_format = false;
    int err = path ? read_host_text(path, &text, why) : exp_fail(why, -ENOMEM, "out of memory");

    if (!err)
        err = read_host_lines(c, text, &has_format, why);
    if (!err && !has_format)
        err = exp_fail(why, -EINVAL,
                       "%s: no line 'counts format: %d': the folder holds no recorded counts; make experiment leaves "
                       "some on a computer with counters",
                       path, EXP_COUNTS_FORMAT);
    if (!err)
        err = place_machine(c);
    if (!err)
        err = place_stack(c);
    free(text);
    free(path);
    return err;
}

void exp_counts_print_host(const struct exp_counts_source *s, FILE *out)
{
    const struct exp_setup *u = s->e->setup;

    fprintf(out, FORMAT_KEY "%d\n", EXP_COUNTS_FORMAT);
    fprintf(out, COMMIT_KEY "%s\n", *s->commit ? s->commit : "unknown");
    fprintf(out, REPLAY_KEY "MACHINE=machine.cfg UKR=%s",
            u->is_ukr_given ? u->ukr->name : sim_cpu_isa_suffix(u->ukr->isa));
    if (u->core)
        fprintf(out, " CORE=%s", u->core->name);
    fprintf(out, " FILTERS=%s\n", u->packs_filters ? "run_time" : "ahead");
}
