#include "experiments/bench/course/options.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/text.h"
#include "experiments/bench/case/algo.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/case/unsupported.h"
#include "sim/cpu.h"

/* ---- flags that every program has ---- */

struct flag {
    const char *name, *help;
    size_t offset; /* of a bool in struct exp_options_asked */
};

static const struct flag columns = { "--columns", "print what the columns of the result files mean",
                                     offsetof(struct exp_options_asked, documents) };
static const struct flag help = { "--help", "print this", offsetof(struct exp_options_asked, helps) };

/* ---- the usage ---- */

static bool is_flag(const struct exp_option *o)
{
    return o->kind == EXP_OPTION_FLAG || o->kind == EXP_OPTION_QUERY;
}

/* Prints a help text, with names in place of marks. */
static void print_help(const char *text, FILE *out)
{
    static const struct {
        const char *mark;
        void (*say)(char *text, size_t bytes);
    } marks[] = { { "@algos@", exp_algo_say_known }, { "@default_algos@", exp_algo_say_default } };

    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *at = strstr(text, marks[i].mark);
        char names[512] = "";

        if (!at)
            continue;
        marks[i].say(names, sizeof names);
        fprintf(out, "%.*s%s", (int)(at - text), text, names);
        text = at + strlen(marks[i].mark);
    }
    fprintf(out, "%s\n", text);
}

static void print_options(const struct exp_option *table, bool are_flags, FILE *out)
{
    for (const struct exp_option *o = table; o->name; o++) {
        if (is_flag(o) != are_flags)
            continue;
        fprintf(out, "  %-12s ", o->name);
        print_help(o->help, out);
    }
}

void exp_options_usage(const struct exp_options_of *of, FILE *out)
{
    fprintf(out, "usage: %s NAME=VALUE ...   (in any folder; results go to the one where it is started)\n\n",
            of->program);
    print_options(of->table, false, out);
    fprintf(out, "\n");
    if (of->has_columns)
        fprintf(out, "  %-12s %s\n", columns.name, columns.help);
    print_options(of->table, true, out);
    fprintf(out, "  %-12s %s\n", help.name, help.help);
}

/* ---- facts, for make ---- */

static void tell_option(const struct exp_option *o, const char *question, FILE *out)
{
    fprintf(out, "%s\t%s\t%s\t", is_flag(o) ? "flag" : o->is_made ? "handed" : "variable", question, o->name);
    print_help(o->help, out);
    for (size_t i = 0; i < EXP_OPTION_N_WORDS && o->words[i]; i++)
        fprintf(out, "word\t%s\t%s\t%s\n", o->name, o->words[i], question);
    if (o->kind == EXP_OPTION_NUMBER)
        fprintf(out, "range\t%s\t%s\t%u\t%u\n", question, o->name, o->least, o->most);
}

void exp_options_facts(const struct exp_options_of *of, const char *question, FILE *out)
{
    if (of->has_columns)
        fprintf(out, "flag\t%s\t%s\t%s\n", question, columns.name, columns.help);
    for (const struct exp_option *o = of->table; o->name; o++)
        tell_option(o, question, out);
    fprintf(out, "flag\t%s\t%s\t%s\n", question, help.name, help.help);
}

/* ---- values ---- */

static int read_number(const struct exp_option *o, const char *text, unsigned *value, struct exp_why *why)
{
    char *end;
    unsigned long n;

    errno = 0;
    n = strtoul(text, &end, 10);
    if (errno || end == text || *end || *text < '0' || *text > '9' || n < o->least || n > o->most)
        return exp_fail(why, -EINVAL, "%s: must be a whole number from %u to %u, not '%s'", o->name, o->least, o->most,
                        text);
    *value = (unsigned)n;
    return 0;
}

static int read_word(const struct exp_option *o, const char *text, unsigned *value, struct exp_why *why)
{
    char known[160] = "";

    for (unsigned i = 0; i < EXP_OPTION_N_WORDS && o->words[i]; i++) {
        bool is_last = i + 1 == EXP_OPTION_N_WORDS || !o->words[i + 1];

        if (!strcmp(text, o->words[i])) {
            *value = i;
            return 0;
        }
        exp_say_more(known, sizeof known, "%s%s", !i ? "" : is_last ? " or " : ", ", o->words[i]);
    }
    return exp_fail(why, -EINVAL, "%s: must be %s, not '%s'", o->name, known, text);
}

static unsigned default_number(const struct exp_option *o)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return o->number != EXP_ALL_CORES ? o->number : cores > 0 ? (unsigned)cores : 1;
}

/* Gives a field the option's default. */
static void set_default(void *options, const struct exp_option *o)
{
    char *field = (char *)options + o->offset;

    if (is_flag(o))
        memcpy(field, &(bool){ false }, sizeof(bool));
    else if (o->kind >= EXP_OPTION_TEXT)
        memcpy(field, &o->text, sizeof o->text);
    else
        memcpy(field, &(unsigned){ default_number(o) }, sizeof(unsigned));
}

static int read_value(void *options, const struct exp_option *o, const char *text, struct exp_why *why)
{
    void *field = (char *)options + o->offset;

    if (!*text) {
        set_default(options, o);
        return 0;
    }
    if (o->kind == EXP_OPTION_NUMBER)
        return read_number(o, text, field, why);
    if (o->kind == EXP_OPTION_WORD)
        return read_word(o, text, field, why);
    memcpy(field, &text, sizeof text);
    return 0;
}

/* ---- the command line ---- */

struct reading {
    const struct exp_options_of *of;
    void *options;
    struct exp_options_asked *asked;
    int argc;
    char **argv;
};

/* Writes an error about an unknown option, with a similar option if there is one. */
static int unknown(const struct exp_options_of *of, const char *arg, size_t name_length, struct exp_why *why)
{
    const char *known[128], *why_not;
    char *name = exp_format("%.*s", (int)name_length, arg);
    size_t n = 0;

    for (const struct exp_option *o = of->table; o->name && n < sizeof known / sizeof known[0] - 2; o++)
        known[n++] = o->name;
    if (of->has_columns)
        known[n++] = columns.name;
    known[n++] = help.name;
    why_not = exp_unsupported(EXP_UNSUPPORTED_VARIABLE, name + strspn(name, "-"));
    exp_fail(why, 0, "unknown option '%s'", arg);
    if (why_not) {
        exp_say_more(why->text, sizeof why->text, ": %s; %s --help lists all options", why_not, of->program);
    } else {
        exp_say_meant(why, name, known, n);
        exp_say_more(why->text, sizeof why->text, " %s --help lists them", of->program);
    }
    free(name);
    return -EINVAL;
}

/* Reads a flag of every program, or a flag of the table. Returns whether arg is a flag. */
static bool read_flag(const struct reading *r, const char *arg)
{
    static const struct flag *const common[] = { &help, &columns };

    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++) {
        if (strcmp(common[i]->name, arg) || (common[i] == &columns && !r->of->has_columns))
            continue;
        *(bool *)(void *)((char *)r->asked + common[i]->offset) = true;
        return true;
    }
    for (const struct exp_option *o = r->of->table; o->name; o++) {
        if (!is_flag(o) || strcmp(o->name, arg))
            continue;
        *(bool *)(void *)((char *)r->options + o->offset) = true;
        r->asked->queries = r->asked->queries || o->kind == EXP_OPTION_QUERY;
        return true;
    }
    return false;
}

/* Finds an option by name: MACHINE, or machine behind two dashes. */
static const struct exp_option *find_option(const struct exp_option *table, const char *name, size_t length,
                                            bool has_dashes)
{
    for (const struct exp_option *o = table; o->name; o++) {
        if (!is_flag(o) && strlen(o->name) == length && !(has_dashes ? strncasecmp : strncmp)(o->name, name, length))
            return o;
    }
    return NULL;
}

/* Reads the argument at *i, and the next argument if it is the value; *i becomes the last argument read. */
static int read_argument(const struct reading *r, int *i, struct exp_why *why)
{
    const char *arg = r->argv[*i];
    bool has_dashes = !strncmp(arg, "--", 2);
    const char *name = arg + (has_dashes ? 2 : 0);
    size_t length = strcspn(name, "=");
    const struct exp_option *o;

    if (read_flag(r, arg))
        return 0;
    o = find_option(r->of->table, name, length, has_dashes);
    if (o && name[length])
        return read_value(r->options, o, name + length + 1, why);
    if (!o || !has_dashes)
        return unknown(r->of, arg, strcspn(arg, "="), why);
    if (*i + 1 == r->argc)
        return exp_fail(why, -EINVAL, "%s: the value is missing", arg);
    return read_value(r->options, o, r->argv[++*i], why);
}

/* Tells whether an option of "LAYER|MODEL=example" differs from its default. */
static bool is_given(const struct exp_option *table, const void *options, const char *names)
{
    for (const char *at = names;; at++) {
        size_t length = strcspn(at, "|=");
        const struct exp_option *o = find_option(table, at, length, false);
        const char *value;

        if (o) {
            memcpy(&value, (const char *)options + o->offset, sizeof value);
            if (strcmp(value, o->text) != 0)
                return true;
        }
        at += length;
        if (*at != '|')
            return false;
    }
}

/* Names a required option that is missing. */
static int check_needs(const struct reading *r, struct exp_why *why)
{
    if (!r->of->needs || r->asked->helps || r->asked->documents || r->asked->queries)
        return 0;
    for (const char *const *need = r->of->needs; *need; need++) {
        int length = (int)strcspn(*need, "|=");

        if (!is_given(r->of->table, r->options, *need))
            return exp_fail(why, -EINVAL, "%.*s is missing: for example %.*s%s", length, *need, length, *need,
                            strchr(*need, '='));
    }
    return 0;
}

int exp_options_parse(const struct exp_options_of *of, void *options, struct exp_options_asked *asked, int argc,
                      char **argv, struct exp_why *why)
{
    const struct reading r = { of, options, asked, argc, argv };

    *asked = (struct exp_options_asked){ 0 };
    for (const struct exp_option *o = of->table; o->name; o++)
        set_default(options, o);
    for (int i = 1; i < argc; i++) {
        int err = read_argument(&r, &i, why);

        if (err)
            return err;
    }
    if (sim_cpu_check_limit(SIM_WHY(why->text)))
        return -EINVAL;
    return check_needs(&r, why);
}

/* ---- values, by name ---- */

const char *exp_options_text(const struct exp_option *table, const void *options, const char *name)
{
    const struct exp_option *o = find_option(table, name, strlen(name), false);
    const char *value = "";

    assert(table && name);
    if (o && o->kind >= EXP_OPTION_TEXT)
        memcpy(&value, (const char *)options + o->offset, sizeof value);
    return value;
}

unsigned exp_options_number(const struct exp_option *table, const void *options, const char *name)
{
    const struct exp_option *o = find_option(table, name, strlen(name), false);
    unsigned value = 0;

    assert(table && name);
    if (o && (o->kind == EXP_OPTION_NUMBER || o->kind == EXP_OPTION_WORD))
        memcpy(&value, (const char *)options + o->offset, sizeof value);
    return value;
}

/* Tells whether an option's value names files in the folder where the program was started. */
static bool is_here(const struct exp_option *o, const void *options, const char **value)
{
    if (o->kind < EXP_OPTION_PATH)
        return false;
    memcpy(value, (const char *)options + o->offset, sizeof *value);
    if (o->kind == EXP_OPTION_PATH && !strcmp(*value, EXP_NO_FILE))
        return false;
    return **value && (o->kind == EXP_OPTION_FOLDER || *value != o->text);
}

bool exp_options_next_path(const struct exp_option *table, const void *options, size_t *at,
                           struct exp_options_path *path)
{
    for (; table[*at].name; ++*at) {
        const struct exp_option *o = &table[*at];

        if (is_here(o, options, &path->value)) {
            path->name = o->name;
            path->are_names = o->kind == EXP_OPTION_NAMES;
            ++*at;
            return true;
        }
    }
    return false;
}

static const uint64_t second_ns = 1000000000;

uint64_t (*exp_clock_of(unsigned clock))(void)
{
    assert(clock <= EXP_CLOCK_WALL);
    return clock == EXP_CLOCK_CPU ? ctr_thread_ns : ctr_now_ns;
}

const char *exp_clock_name(unsigned clock)
{
    assert(clock <= EXP_CLOCK_WALL);
    return clock == EXP_CLOCK_CPU ? "CLOCK_THREAD_CPUTIME_ID" : "CLOCK_MONOTONIC";
}

uint64_t exp_ruler_limit_ns(unsigned ruler, unsigned limit)
{
    return ruler ? limit * second_ns : 0;
}

struct exp_rounds exp_rounds_of(unsigned reps, size_t least, size_t most, unsigned limit)
{
    assert(reps || least <= most);
    return reps ? (struct exp_rounds){ reps, reps, 0 } : (struct exp_rounds){ least, most, limit * second_ns };
}
