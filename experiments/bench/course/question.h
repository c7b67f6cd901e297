/*
 * A question: a folder of experiments/, and in it `question_<name>.c` with a record of all that others need to know.
 * The program bench, make, `make help`, tab completion, result folders and the report's chapters are made of these
 * records: a new question is its folder, and nothing elsewhere.
 */
#ifndef EXPERIMENTS_BENCH_COURSE_QUESTION_H
#define EXPERIMENTS_BENCH_COURSE_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/progress.h"
#include "experiments/base/record.h"
#include "experiments/base/tasks.h"
#include "experiments/bench/course/options.h"

struct exp_page_folder;
struct exp_page_writer;
struct exp_results;
struct exp_variables;

/* Says where results lie, below <RESULTS>/<machine> (results.h). */
struct exp_results_layout {
    const char *folder; /* "": the models' own folders */
    bool has_sums;      /* results may be of more than one model: they are not in a model's folder */
    const char *marker; /* a file that these results always have */
    void (*print)(const void *options, FILE *out); /* prints what names results that are of no model; NULL: nothing */
};

/* The chapter of a report about a folder of such results (experiments/show). */
struct exp_chapter {
    const char *marker; /* a file that no other question's results have; NULL: there is no chapter */
    const char *title;
    /* Writes it; NULL: as verdict, tables and figures say. Returns 0, or -errno with one line in why. */
    int (*write)(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why);
    /* Says what such results found, in a sentence or two, "" if nothing; NULL: verdict.txt says it. */
    void (*found)(const char *folder, char *text, size_t bytes);
};

/*
 * Jobs of a cluster (LAUNCHER=slurm), which do the tasks of a run that have no result in the store yet, a share each
 * (SHARE, SHARES); or all of a run, which then has no results of its own.
 */
struct exp_question_jobs {
    const char *needs; /* each asks the cluster for it: "--exclusive"; "" */
    bool has_threads;  /* JOBS says how many; else the work has one */

    /* The course does the tasks, here or there, behind `work`. All four are NULL where a job does all of a run. */
    const char *doing, *results;                                        /* "simulating", "simulations" */
    void (*announce)(const void *session, double seconds[EXP_N_WORKS]); /* of the share */
    struct exp_tasks (*tasks)(void *session);
};

/* What a session knows of who does its work: SHARE, STORE and KNOWN are read by the course, which ends it all. */
struct exp_crew {
    size_t share, n_shares;        /* n_shares is 0 without SHARE; with one the run leaves no results */
    struct exp_store *store;       /* of a run that has tasks; NULL: STORE=no */
    struct exp_progress *progress; /* while it does them */
    struct exp_tasks_counts counts;
};

enum { EXP_QUESTION_N_TEXTS = 6, EXP_QUESTION_N_FIGURES = 9, EXP_QUESTION_N_TABLES = 16 };

struct exp_question {
    const char *name;    /* `bench <name>`, and make's target unless that has another name */
    const char *program; /* who speaks in messages, where that is not the name */
    const char *target;  /* make's */
    bool is_for_developers;
    const char *asks; /* one line of `make help` */
    const char
        *wants[EXP_QUESTION_N_TEXTS + 1]; /* rows of README.md: "who wants this|types that", or "...|reads there" */
    const char *takes;                    /* how long, and what else a user should know before */
    const char *examples[EXP_QUESTION_N_TEXTS + 1]; /* NULL behind the last, as in the next */
    const char *needs[EXP_QUESTION_N_TEXTS + 1]; /* "LAYER|MODEL=vgg16": one of these, with an example of the first */

    /* Say what make does for it: words that the Makefile knows. */
    const char *libraries; /* variables of libraries, which read them from the environment: "blas dnnl" */
    const char *installs;  /* more packages: "peers" */
    const char *watches;   /* what is observed, and built before: "guest" */
    bool reads_all;        /* it reads results of any question: bench-papers does it */
    bool keeps;            /* STORE is RESULTS/store.sqlite unless it is given */

    const struct exp_option *options;       /* EXP_OPTIONS_END behind the last */
    const struct exp_results_layout *place; /* NULL: it leaves no results of its own */
    struct exp_chapter chapter;
    const char *figures[EXP_QUESTION_N_FIGURES + 1]; /* scripts of experiments/figures; NULL behind the last */

    const struct rec_table *tables[EXP_QUESTION_N_TABLES + 1]; /* what `--columns` explains; NULL behind the last */
    const char *about_tables;                                  /* stands before them; NULL */

    /* Say where a session has what the course needs: offsets, 0 where there is no such thing. */
    size_t session_bytes, options_at, why_at, argv_at; /* EXP_SESSION */
    size_t results_at, what_at;                        /* EXP_RESULTS */
    size_t models_at, model_at;                        /* struct exp_models, or a single exp_model: results are of it */
    size_t machine_at;                                 /* struct sim_machine: the simulated one */
    const struct exp_question_jobs *jobs;              /* NULL: it has no LAUNCHER */
    size_t crew_at;                                    /* struct exp_crew, with jobs */

    /*
     * The course. Each part returns 0, or -errno with one line in the session's why; NULL: there is nothing to do. It
     * ends behind `work` where a question has no place for results, or `results.leaves_none` was set until then.
     */
    int (*prepare)(void *session); /* finds what is wrong with the input */
    /* The results are opened, in the folder that MODEL, LAYERS, MACHINE and RESULTS say. */
    int (*work)(void *session);
    int (*write)(void *session);                    /* tables into the results' folder */
    int (*verdict)(const void *session, FILE *out); /* prints verdict.txt, and the end of the output; returns -errno */
    /* Sets variables of the figures. Returns whether there are any in this run; NULL: those of variables.h */
    bool (*variables)(const void *session, struct exp_variables *v);
    int (*draw)(void *session); /* draws them in another way; NULL: as `figures` and `what` of the session say */
    int (*page)(void *session); /* makes the page that shows them; NULL: this one does, if it is not NULL */
    int (*add_page)(const struct exp_results *r, const char *program); /* exp_page_add of the room show */
    /* The results are put in their place, even if figures or the page failed: that costs no tables. */
    /* Says what the store had, behind the results' folder; of a share, that is all that the run says. */
    void (*say_kept)(const void *session, FILE *out);
    int (*answer)(void *session); /* says where the results are, and the answer; NULL: `what`, folder and verdict */

    /* Finds wrong names before anything is built for the question; NULL: exp_check_names (course.h). */
    int (*check)(const struct exp_question *q, const void *options, struct exp_why *why);
    int (*query)(void *session);    /* does what an option of kind EXP_OPTION_QUERY asks for, in place of the course */
    int (*run)(void *session);      /* another course; NULL: this one */
    void (*release)(void *session); /* is called at the end, whatever happened; NULL: nothing to do */
    int (*status)(const void *session); /* exit status where all went well; NULL: 0 */
};

/*
 * A question keeps what it knows while it runs in a struct that is all zeros at first, with members `options`, a struct
 * of its own, and `why`, the one line of an error. One that has others run the same command line has `argv`, too: its
 * name and all options. One that leaves results has `results`, and `what`, an array: one line that says what they are.
 * The course releases results and models.
 */
#define EXP_SESSION(type)                                                                                              \
    .session_bytes = sizeof(type), .options_at = offsetof(type, options), .why_at = offsetof(type, why)
#define EXP_SESSION_WITH_ARGV(type) EXP_SESSION(type), .argv_at = offsetof(type, argv)
#define EXP_RESULTS(type) .results_at = offsetof(type, results), .what_at = offsetof(type, what)

/*
 * The questions of this program, by name, and the names of those of the program bench-papers, which knows all of them. NULL
 * stands behind the last. The Makefile makes both lists of the files' names.
 */
extern const struct exp_question *const exp_questions[];
extern const char *const exp_elsewhere[];

/* Returns how many figures its record names. */
static inline size_t exp_question_n_figures(const struct exp_question *q)
{
    size_t n = 0;

    while (q->figures[n])
        n++;
    return n;
}

/* Tells whether it explains the columns of tables, and does so. */
static inline bool exp_question_has_tables(const struct exp_question *q)
{
    return *q->tables;
}

void exp_question_document(const struct exp_question *q, FILE *out);

static inline const char *exp_question_target(const struct exp_question *q)
{
    return q->target ? q->target : q->name;
}

/* Returns who speaks in its messages. */
static inline const char *exp_question_program(const struct exp_question *q)
{
    return q->program ? q->program : q->name;
}

#endif
