/* The course of every question, and what questions do alike on it. */
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
 * Programs find layer tables, published numbers and the figures' scripts here, in the project's folder, where they go.
 */
#define EXP_EXPERIMENTS_DIR "experiments"
#define EXP_FIGURES_DIR EXP_EXPERIMENTS_DIR "/figures"

/*
 * Runs the program of a question: reads its options, goes to the project's folder, does what they ask for, and ends.
 * The first of argv is not read. Returns the exit status.
 */
int exp_main(const struct exp_question *q, int argc, char **argv);

/*
 * Follows the course of a question with a session whose options have been set: for those with a `run`. Returns 0, or
 * -errno with one line in the session's why.
 */
int exp_main_follow(const struct exp_question *q, void *session);

/*
 * Finds what is wrong with a command line of a question, before anything is built or installed for its work. The first
 * of argv is not read. Returns 0, or -errno with one line in why.
 */
int exp_check(const struct exp_question *q, int argc, char **argv, struct exp_why *why);

/* Finds wrong names in MODEL, LAYER, MACHINE, ALGO and UKR, but not in `own`, "" for none. Returns as exp_check. */
int exp_check_names(const struct exp_question *q, const void *options, const char *own, struct exp_why *why);

/* Releases what a session of its own has; that which the program began with is released at its end. */
void exp_main_release(const struct exp_question *q, void *session);

/*
 * Reads the models, or the one model, that MODEL names, as LAYERS, BATCH and INPUT ask, and prints on standard error
 * what a reader should know of their files. Returns as exp_models_read.
 */
int exp_main_models(struct exp_models *m, const char *model, const struct exp_model_ask *ask, struct exp_why *why);
int exp_main_model(struct exp_model *m, const char *model, const struct exp_model_ask *ask, struct exp_why *why);

/* Starts the progress of work that was announced (exp_progress_new), on standard error. */
struct exp_progress *exp_main_progress(const double seconds[EXP_N_WORKS]);

/*
 * Reads the plans of the file that PLAN names, "" for none; algorithm sconv_plan, which does what they say, joins
 * *algos. Returns 0, -EINVAL if *algos has that without a file, or what conv_plans_read does.
 */
int exp_main_plans(struct exp_setup *s, const char *path, unsigned *algos, struct exp_why *why);

#endif
