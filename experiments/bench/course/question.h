/*
 * A question: a folder of experiments/ with a file `question_<name>.c`, and in the file a record of all facts about the
 * question. The program bench, make, `make help`, tab completion, result folders and the report's chapters are made
 * from the records: a new question is one folder, without an edit elsewhere.
 */
#ifndef EXPERIMENTS_BENCH_COURSE_QUESTION_H
#define EXPERIMENTS_BENCH_COURSE_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/progress.h"
#include "experiments/base/record.h"
#include "experiments/base/screen.h"
#include "experiments/base/tasks.h"
#include "experiments/bench/course/options.h"

struct exp_page_folder;
struct exp_page_writer;
struct exp_results;
struct exp_variables;

/* The place of results, below <RESULTS>/<machine> (results.h). */
struct exp_results_layout {
    const char *folder;                            /* "": the models' own folders */
    bool has_sums;                                 /* results may be of several models: not in a model's folder */
    const char *marker;                            /* a file that results of this question always have */
    void (*print)(const void *options, FILE *out); /* prints the name of results without a model; NULL: no name */
};

/* The chapter of a report about a folder of results (experiments/show). */
struct exp_chapter {
    const char *marker; /* a file that only this question's results have; NULL: there is no chapter */
    const char *title;
    /* Writes the chapter; NULL: from verdict, tables and figures. Returns 0, or -errno with one line in why. */
    int (*write)(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why);
    /* Says the findings in a sentence or two, "" without a finding; NULL: verdict.txt says the findings. */
    void (*found)(const char *folder, char *text, size_t bytes);
};

/*
 * Jobs of a cluster (LAUNCHER=slurm). Each job does a share (SHARE, SHARES) of the tasks without a result in the store;
 * or one job does the whole run, and this process then has no results.
 */
struct exp_question_jobs {
    const char *needs; /* resources that each job asks the cluster for: "--exclusive"; "" */
    bool has_threads;  /* JOBS is the number of threads; else the work has one thread */

    /* The course does the tasks, here or in jobs, after `work`. All are NULL where a job does the whole run. */
    const char *doing, *results;                                        /* "simulating", "simulations" */
    void (*announce)(const void *session, double seconds[EXP_N_WORKS]); /* of the share */
    int (*first)(void *session); /* work before the tasks, with the crew's store; NULL: no work */
    struct exp_tasks (*tasks)(void *session);
};

/* Who does the work of a session. The course reads SHARE, STORE and KNOWN, and releases the crew. */
struct exp_crew {
    size_t share, n_shares;        /* n_shares is 0 without SHARE; a share leaves no results */
    struct exp_store *store;       /* of a run with tasks; NULL: STORE=no */
    struct exp_progress *progress; /* while the tasks run */
    struct exp_tasks_counts counts;
};

enum { EXP_QUESTION_N_TEXTS = 6, EXP_QUESTION_N_FIGURES = 9, EXP_QUESTION_N_TABLES = 16 };

struct exp_question {
    const char *name;    /* `bench <name>`, and make's target unless `target` is set */
    const char *program; /* the speaker of messages; NULL: the name */
    const char *target;  /* make's */
    bool is_for_developers;
    const char *asks; /* one line of `make help` */
    const char
        *wants[EXP_QUESTION_N_TEXTS +
               1];     /* rows of README.md: "kernels: who wants this|types that", or "...|reads there" (.ci/readmes) */
    const char *takes; /* the time needed, and further facts to know before */
    const char *examples[EXP_QUESTION_N_TEXTS + 1]; /* NULL behind the last, also in `needs` */
    const char *needs[EXP_QUESTION_N_TEXTS + 1]; /* "LAYER|MODEL=vgg16": alternatives, with an example of the first */

    /* Needs at build time, in words that the Makefile knows. */
    const char *libraries; /* variables of libraries; the libraries read the environment: "blas dnnl" */
    const char *installs;  /* more packages: "peers" */
    const char *watches;   /* the observed programs, built before: "guest" */
    bool reads_all;        /* reads results of any question: the program bench-papers does so */
    bool keeps;            /* STORE defaults to RESULTS/store.sqlite */

    const struct exp_option *options;       /* EXP_OPTIONS_END behind the last */
    const struct exp_results_layout *place; /* NULL: the question leaves no results of its own */
    struct exp_chapter chapter;
    const char *figures[EXP_QUESTION_N_FIGURES + 1]; /* scripts of experiments/figures; NULL behind the last */

    const struct rec_table *tables[EXP_QUESTION_N_TABLES + 1]; /* explained by `--columns`; NULL behind the last */
    const char *about_tables;                                  /* text before the tables; NULL */

    /* Offsets of the session's members that the course needs; 0 without the member. */
    size_t session_bytes, options_at, why_at, argv_at; /* EXP_SESSION */
    size_t results_at, what_at;                        /* EXP_RESULTS */
    size_t models_at, model_at;                        /* struct exp_models, or one exp_model: of the results */
    size_t machine_at;                                 /* struct sim_machine: the simulated machine */
    const struct exp_question_jobs *jobs;              /* NULL: no LAUNCHER */
    size_t crew_at;                                    /* struct exp_crew, with jobs */

    /*
     * The course. Each part returns 0, or -errno with one line in the session's why; NULL: nothing to do. The course
     * ends after `work` if a question has no place for results, or if `results.leaves_none` is set.
     */
    int (*prepare)(void *session); /* checks the input */
    bool prepares_from_files;      /* prepare takes moments, and only reads files: make asks it before any build */
    /* The course opens the results in the folder of MODEL, LAYERS, MACHINE and RESULTS. */
    int (*work)(void *session);
    int (*write)(void *session);                    /* tables into the results' folder */
    int (*verdict)(const void *session, FILE *out); /* prints verdict.txt, and the end of the output; returns -errno */
    /* Sets variables of the figures. Returns whether this run has figures; NULL: the variables of variables.h */
    bool (*variables)(const void *session, struct exp_variables *v);
    int (*draw)(void *session); /* draws the figures another way; NULL: by `figures`, and `what` of the session */
    int (*page)(void *session); /* makes the page about the results; NULL: add_page, if not NULL */
    int (*add_page)(const struct exp_results *r, const char *program); /* exp_page_add of the room show */
    /* The results go to their place, even after an error of figures or page, so that no table is lost. */
    /* Says which results came from the store, after naming the results' folder; of a share, the only output. */
    void (*say_kept)(const void *session, FILE *out);
    int (*answer)(void *session); /* says where the results are, and the answer; NULL: `what`, folder and verdict */

    /*
     * Fills the screen of the answer: the user's output, unless MORE=1 asks for the whole output (EXP_MORE_OPTION). NULL:
     * the whole output is the user's.
     */
    void (*screen)(const void *session, struct exp_screen *s);

    /* Finds wrong names before any build for the question; NULL: exp_check_names (course.h). */
    int (*check)(const struct exp_question *q, const void *options, struct exp_why *why);
    int (*query)(void *session);        /* answers an option of kind EXP_OPTION_QUERY, in place of the course */
    int (*run)(void *session);          /* another course; NULL: the course above */
    void (*release)(void *session);     /* called at the end, also after an error; NULL: nothing to do */
    int (*status)(const void *session); /* exit status after success; NULL: 0 */
};

/*
 * A question keeps its state in a struct, zeroed at first, with members `options` (a struct of the question) and `why`
 * (the one line of an error). A question whose command line is run again by jobs has `argv`, too: name and all options.
 * A question with results has `results`, and `what`, an array: one line about the results. The course releases results
 * and models.
 */
#define EXP_SESSION(type)                                                                                              \
    .session_bytes = sizeof(type), .options_at = offsetof(type, options), .why_at = offsetof(type, why)
#define EXP_SESSION_WITH_ARGV(type) EXP_SESSION(type), .argv_at = offsetof(type, argv)
#define EXP_RESULTS(type) .results_at = offsetof(type, results), .what_at = offsetof(type, what)

/*
 * The questions of this program, by name, and the names of the questions of the program bench-papers, which knows all
 * questions. NULL stands behind the last. The Makefile makes both lists from the files' names.
 */
extern const struct exp_question *const exp_questions[];
extern const char *const exp_elsewhere[];

/* Returns the number of figures in the record. */
static inline size_t exp_question_n_figures(const struct exp_question *q)
{
    size_t n = 0;

    while (q->figures[n])
        n++;
    return n;
}

/* Tells whether a question explains the columns of tables; prints the explanation. */
static inline bool exp_question_has_tables(const struct exp_question *q)
{
    return *q->tables;
}

void exp_question_document(const struct exp_question *q, FILE *out);

static inline const char *exp_question_target(const struct exp_question *q)
{
    return q->target ? q->target : q->name;
}

/* Returns the speaker of the question's messages. */
static inline const char *exp_question_program(const struct exp_question *q)
{
    return q->program ? q->program : q->name;
}

#endif
