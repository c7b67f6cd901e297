/*
 * Options of a question: NAME=VALUE on the command line, which the Makefile fills from its variables. Each question has
 * a struct for its options, and a table with a line for each option:
 *
 *     #define OPTIONS struct options
 *     static const struct exp_option options[] = {
 *         EXP_MACHINE_OPTION,                                               a group of options_shared.h
 *         EXP_NUMBER("REPS", "rounds (default 10)", reps, 10, 1, 1000000),  name, help, field, default, range
 *         EXP_OPTIONS_END,
 *     };
 *
 * Each macro makes one line of the table. Make knows the names, and `make help` prints the help, from `bench --facts`.
 * In the help, @algos@ and @default_algos@ stand for names of algos.def.
 */
#ifndef EXPERIMENTS_BENCH_COURSE_OPTIONS_H
#define EXPERIMENTS_BENCH_COURSE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/outdir.h"

enum exp_option_kind {
    EXP_OPTION_FLAG,   /* given or not: bool */
    EXP_OPTION_QUERY,  /* a flag whose answer needs no further option */
    EXP_OPTION_NUMBER, /* unsigned, also for a word */
    EXP_OPTION_WORD,   /* index of a word in the list of words */
    EXP_OPTION_TEXT,   /* const char *, also in the kinds below */
    EXP_OPTION_PATH,   /* of a file or folder; EXP_NO_FILE: none */
    EXP_OPTION_FOLDER, /* a path whose default is also in the folder where the program is started */
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
    bool is_made;                          /* the Makefile sets the value */
};

/* A number's default: this computer's number of cores. */
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

/* Wishes of a command line beside the work. */
struct exp_options_asked {
    bool helps;     /* --help */
    bool documents; /* --columns */
    bool queries;   /* an option of kind EXP_OPTION_QUERY */
};

/* The owner of the options. */
struct exp_options_of {
    const char *program; /* the program's name in messages */
    const struct exp_option *table;
    const char *const *needs; /* of struct exp_question */
    bool has_columns;         /* knows --columns */
};

/*
 * Fills the struct of a table from argv; argv[0] is not read. MACHINE=host may be written as --machine=host or
 * --machine host, too. An empty variable ("NAME=") stands for the default, and the last value of a name counts. Returns
 * 0, or -EINVAL with one line in why. Strings point into argv.
 */
int exp_options_parse(const struct exp_options_of *of, void *options, struct exp_options_asked *asked, int argc,
                      char **argv, struct exp_why *why);

/* Returns the value of a text, path or list of names; "" if the table lacks the name. */
const char *exp_options_text(const struct exp_option *table, const void *options, const char *name);

/* Returns the value of a number or word; 0 if the table lacks the name. */
unsigned exp_options_number(const struct exp_option *table, const void *options, const char *name);

/* A file or folder named by the user, or a list of names that may contain paths. */
struct exp_options_path {
    const char *name, *value;
    bool are_names;
};

/*
 * Finds the next path of the user from number *at on, 0 at first; also each folder. A default path is not the user's.
 * Returns false behind the last path.
 */
bool exp_options_next_path(const struct exp_option *table, const void *options, size_t *at,
                           struct exp_options_path *path);

void exp_options_usage(const struct exp_options_of *of, FILE *out);

/* Prints a line for each option, and for each word and range of an option: facts explained in .ci/facts. */
void exp_options_facts(const struct exp_options_of *of, const char *question, FILE *out);

#endif
