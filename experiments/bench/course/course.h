/* The course of every question, and common work of questions. */
#ifndef EXPERIMENTS_BENCH_COURSE_COURSE_H
#define EXPERIMENTS_BENCH_COURSE_COURSE_H

#include "experiments/base/error.h"
#include "experiments/base/plot.h"
#include "experiments/base/progress.h"
#include "experiments/bench/case/algo.h"
#include "experiments/bench/model/model.h"
#include "experiments/bench/course/question.h"
#include "experiments/bench/course/results.h"
#include "experiments/bench/course/variables.h"
#include "experiments/base/store.h"

/*
 * The folder of layer tables, published numbers and figures' scripts, in the project's folder, where programs change
 * to.
 */
#define EXP_EXPERIMENTS_DIR "experiments"
#define EXP_FIGURES_DIR EXP_EXPERIMENTS_DIR "/figures"

/*
 * Runs the program of a question: reads options, changes to the project's folder, works, and ends. argv[0] is not read.
 * Returns the exit status.
 */
int exp_main(const struct exp_question *q, int argc, char **argv);

/*
 * Follows the course of a question with a session whose options are set, for a question with a `run`. Returns 0, or
 * -errno with one line in the session's why.
 */
int exp_main_follow(const struct exp_question *q, void *session);

/*
 * Checks the command line of a question, before anything is built or installed for the question. argv[0] is not read;
 * variables without an option are removed from argv: make hands over all variables. Returns 0, or -errno with one line
 * in why.
 */
int exp_check(const struct exp_question *q, int argc, char **argv, struct exp_why *why);

/*
 * Finds wrong names in MODEL, LAYER, MACHINE, ALGO and UKR, except in the variable `own` ("": none). Returns as
 * exp_check.
 */
int exp_check_names(const struct exp_question *q, const void *options, const char *own, struct exp_why *why);

/*
 * Reads the models of MODEL as LAYERS, BATCH, INPUT and LINKS ask, as exp_check does for questions without a check of
 * their own. Returns as exp_check.
 */
int exp_check_models(const struct exp_question *q, const void *options, struct exp_why *why);

/* Releases a session made by the question; the program's first session is released at the program's end. */
void exp_main_release(const struct exp_question *q, void *session);

/*
 * Reads the models, or the one model, of MODEL, with LAYERS, BATCH and INPUT, and prints notes on the files to standard
 * error. Returns as exp_models_read.
 */
int exp_main_models(struct exp_models *m, const char *model, const struct exp_model_ask *ask, struct exp_why *why);
int exp_main_model(struct exp_model *m, const char *model, const struct exp_model_ask *ask, struct exp_why *why);

/* Starts the progress of announced work (exp_progress_new), on standard error. */
struct exp_progress *exp_main_progress(const double seconds[EXP_N_WORKS]);

/*
 * Reads the plans of the file that PLAN names, "" for no file; algorithm sconv_plan, which follows the plans, joins
 * *algos. Returns 0, -EINVAL if *algos has sconv_plan without a file, or as conv_plans_read.
 */
int exp_main_plans(struct exp_setup *s, const char *path, unsigned *algos, struct exp_why *why);

#endif
