/*
 * A question: a folder of experiments/, and in it `question_<name>.c` with a record of all that others need to know.
 * The program bench, make, `make help`, tab completion, result folders and the report's chapters are made of these
 * records: a new question is its folder, and nothing elsewhere.
 *
 * .ci/questions reads the records as text, before anything is built: texts stand there as they are, not as macros.
 */
#ifndef EXPERIMENTS_EXP_QUESTION_H
#define EXPERIMENTS_EXP_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_options.h"

struct exp_page_folder;
struct exp_page_writer;

/* Says where results lie, below <RESULTS>/<machine> (exp_results.h). */
struct exp_results_layout {
    const char *folder; /* "": the models' own folders */
    bool has_sums;      /* results may be of more than one model: they are not in a model's folder */
    const char *marker; /* a file that these results always have */
    void (*print)(const void *options, FILE *out); /* prints what names results that are of no model; NULL: nothing */
};

/* The chapter of a report about a folder of such results (experiments/page). */
struct exp_chapter {
    const char *marker; /* a file that no other question's results have; NULL: there is no chapter */
    const char *title;
    /* Writes it; NULL: as verdict, tables and figures say. Returns 0, or -errno with one line in why. */
    int (*write)(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why);
};

enum { EXP_QUESTION_N_TEXTS = 4, EXP_QUESTION_N_FIGURES = 8 };

struct exp_question {
    const char *name;    /* `bench <name>`, and make's target unless that has another name */
    const char *program; /* who speaks in messages, where that is not the name */
    const char *target;  /* make's */
    bool is_for_developers;
    const char *asks;                               /* one line of `make help` */
    const char *takes;                              /* how long, and what else a user should know before */
    const char *examples[EXP_QUESTION_N_TEXTS + 1]; /* NULL behind the last, as in the next */
    const char *needs[EXP_QUESTION_N_TEXTS + 1]; /* "LAYER|MODEL=vgg16": one of these, with an example of the first */

    /* Say what make does for it: words that .ci/questions and the Makefile know. */
    const char *libraries; /* variables of libraries, which read them from the environment: "blas dnnl" */
    const char *installs;  /* more packages: "peers" */
    const char *watches;   /* what is observed, and built before: "guest" */
    bool keeps;            /* STORE is RESULTS/store.sqlite unless it is given */

    const struct exp_option *options;       /* EXP_OPTIONS_END behind the last */
    const struct exp_results_layout *place; /* NULL: it leaves no results of its own */
    struct exp_chapter chapter;
    const char *figures[EXP_QUESTION_N_FIGURES + 1]; /* scripts of experiments/figures; NULL behind the last */

    size_t session_bytes, options_at, why_at, argv_at; /* EXP_SESSION; argv_at: 0 where it has none */
    void (*document)(FILE *out);                       /* prints what its files' columns mean; NULL: it has none */

    /*
     * The course. Each part returns 0, or -errno with one line in the session's why; NULL: there is nothing to do. Behind
     * `draw`, whose failure costs no tables, the results are put in their place: `results` of the session.
     */
    size_t results_at;
    int (*prepare)(void *session); /* finds what is wrong with the input, and opens the results */
    int (*work)(void *session);
    int (*write)(void *session);  /* tables into the results' folder */
    int (*draw)(void *session);   /* figures, from those tables */
    int (*answer)(void *session); /* says on standard output where the results are, and the answer */

    int (*query)(void *session);    /* does what an option of kind EXP_OPTION_QUERY asks for, in place of the course */
    int (*run)(void *session);      /* another course; NULL: this one */
    void (*release)(void *session); /* is called at the end, whatever happened; NULL: nothing to do */
    int (*status)(const void *session); /* exit status where all went well; NULL: 0 */
};

/*
 * A question keeps what it knows while it runs in a struct that is all zeros at first, with members `options`, a struct
 * of its own, and `why`, the one line of an error. One that has others run the same command line has `argv`, too: its
 * name and all options.
 */
#define EXP_SESSION(type)                                                                                              \
    .session_bytes = sizeof(type), .options_at = offsetof(type, options), .why_at = offsetof(type, why)
#define EXP_SESSION_WITH_ARGV(type) EXP_SESSION(type), .argv_at = offsetof(type, argv)

/* All of them, by name, NULL behind the last: the Makefile makes the list of the files. */
extern const struct exp_question *const exp_questions[];

/* Returns how many figures its record names. */
static inline size_t exp_question_n_figures(const struct exp_question *q)
{
    size_t n = 0;

    while (q->figures[n])
        n++;
    return n;
}

/* Returns who speaks in its messages. */
static inline const char *exp_question_program(const struct exp_question *q)
{
    return q->program ? q->program : q->name;
}

#endif
