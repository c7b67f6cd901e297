/*
 * Options of a question: NAME=VALUE on its command line, which the Makefile fills from its variables. Each question has
 * a struct of its own for them, and a table with a line for each:
 *
 *     #define OPTIONS struct options
 *     static const struct exp_option options[] = {
 *         EXP_MACHINE_OPTION,                                               a group of options_shared.h
 *         EXP_NUMBER("REPS", "rounds (default 10)", reps, 10, 1, 1000000),  name, help, field, default, range
 *         EXP_OPTIONS_END,
 *     };
 *
 * Each of these macros makes one line of the table. Make knows the names, and `make help` prints the help, by what
 * `bench --facts` says of the table. In the help, @algos@ and @default_algos@ stand for names of algos.def.
 */
#ifndef EXPERIMENTS_BENCH_COURSE_OPTIONS_H
#define EXPERIMENTS_BENCH_COURSE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/outdir.h"

enum exp_option_kind {
    EXP_OPTION_FLAG,   /* is there or not: bool */
    EXP_OPTION_QUERY,  /* the same, and what it asks for needs no other option */
    EXP_OPTION_NUMBER, /* unsigned, as the next */
    EXP_OPTION_WORD,   /* of some words, the number of the one that is given */
    EXP_OPTION_TEXT,   /* const char *, as all that follow */
    EXP_OPTION_PATH,   /* of a file or folder; EXP_NO_FILE: none */
    EXP_OPTION_FOLDER, /* the same, and its default is in the folder where the program is started, too */
    EXP_OPTION_NAMES,  /* names or paths, comma-separated */
};

enum { EXP_OPTION_N_WORDS = 8 };

struct exp_option {
    const char *name; /* NULL behind the last */
    const char *help;
    enum exp_option_kind kind;
    size_t offset;                         /* of the field */
    const char *text;                      /* default of texts */
    unsigned number;                       /* default of numbers and words */
    unsigned least, most;                  /* of numbers */
    const char *words[EXP_OPTION_N_WORDS]; /* of words */
    bool is_made;                          /* the Makefile hands the value over by itself */
};

/* A number's default: as many as this computer has cores. */
enum { EXP_ALL_CORES = 1 << 30 };

#define EXP_FIELD(name_, help_, kind_, field_)                                                                         \
    .name = name_, .help = help_, .kind = kind_, .offset = offsetof(OPTIONS, field_)
#define EXP_TEXT(name_, help_, field_, text_)                                                                          \
    {                                                                                                                  \
        EXP_FIELD(name_, help_, EXP_OPTION_TEXT, field_), .text = text_                                                \
    }
#define EXP_PATH(name_, help_, field_, text_)                                                                          \
    {                                                                                                                  \
        EXP_FIELD(name_, help_, EXP_OPTION_PATH, field_), .text = text_                                                \
    }
#define EXP_FOLDER(name_, help_, field_, text_)                                                                        \
    {                                                                                                                  \
        EXP_FIELD(name_, help_, EXP_OPTION_FOLDER, field_), .text = text_                                              \
    }
#define EXP_NAMES(name_, help_, field_, text_)                                                                         \
    {                                                                                                                  \
        EXP_FIELD(name_, help_, EXP_OPTION_NAMES, field_), .text = text_                                               \
    }
#define EXP_NUMBER(name_, help_, field_, number_, least_, most_)                                                       \
    {                                                                                                                  \
        EXP_FIELD(name_, help_, EXP_OPTION_NUMBER, field_), .number = number_, .least = least_, .most = most_          \
    }
#define EXP_WORD(name_, help_, field_, number_, ...)                                                                   \
    {                                                                                                                  \
        EXP_FIELD(name_, help_, EXP_OPTION_WORD, field_), .number = number_, .words = { __VA_ARGS__ }                  \
    }
#define EXP_FLAG(name_, help_, field_)                                                                                 \
    {                                                                                                                  \
        EXP_FIELD(name_, help_, EXP_OPTION_FLAG, field_)                                                               \
    }
#define EXP_QUERY(name_, help_, field_)                                                                                \
    {                                                                                                                  \
        EXP_FIELD(name_, help_, EXP_OPTION_QUERY, field_)                                                              \
    }

#define EXP_MADE_TEXT(name_, help_, field_)                                                                            \
    {                                                                                                                  \
        EXP_FIELD(name_, help_, EXP_OPTION_TEXT, field_), .text = "", .is_made = true                                  \
    }
#define EXP_MADE_PATH(name_, help_, field_)                                                                            \
    {                                                                                                                  \
        EXP_FIELD(name_, help_, EXP_OPTION_PATH, field_), .text = "", .is_made = true                                  \
    }

#define EXP_OPTIONS_END                                                                                                \
    {                                                                                                                  \
        .name = NULL                                                                                                   \
    }

/* Says what a command line asks for beside the work. */
struct exp_options_asked {
    bool helps;     /* --help */
    bool documents; /* --columns */
    bool queries;   /* an option of kind EXP_OPTION_QUERY */
};

/* Says who has these options. */
struct exp_options_of {
    const char *program; /* its name in messages */
    const struct exp_option *table;
    const char *const *needs; /* of struct exp_question */
    bool has_columns;         /* it knows --columns */
};

/*
 * Fills the struct of a table from argv, whose first word is not read. MACHINE=host may be written as --machine=host or
 * --machine host, too. An empty variable ("NAME=") stands for the default, the last of a name counts. Returns 0, or
 * -EINVAL with one line in why. Strings point into argv.
 */
int exp_options_parse(const struct exp_options_of *of, void *options, struct exp_options_asked *asked, int argc,
                      char **argv, struct exp_why *why);

/* Returns the value of a text, path or list of names; "" if the table has none of that name. */
const char *exp_options_text(const struct exp_option *table, const void *options, const char *name);

/* Returns the value of a number or word; 0 if the table has none of that name. */
unsigned exp_options_number(const struct exp_option *table, const void *options, const char *name);

/* A file or folder that the user named, or a list of names some of which may be paths. */
struct exp_options_path {
    const char *name, *value;
    bool are_names;
};

/*
 * Finds the next such option from number *at on, 0 at first, and folders in any case. Paths that are defaults are not
 * the user's. Returns false behind the last.
 */
bool exp_options_next_path(const struct exp_option *table, const void *options, size_t *at,
                           struct exp_options_path *path);

void exp_options_usage(const struct exp_options_of *of, FILE *out);

/* Prints a line for each option, and for each word and range of an option: the facts that .ci/facts explains. */
void exp_options_facts(const struct exp_options_of *of, const char *question, FILE *out);

#endif
