/* The study's answer: whether the cost model deserves the credit, question by question, with numbers. */
#ifndef EXPERIMENTS_EXP_STUDY_ANSWER_H
#define EXPERIMENTS_EXP_STUDY_ANSWER_H

#include <stdio.h>

#include "experiments/study/exp_study_work.h"

void exp_study_answer_print(const struct exp_study_work *w, FILE *out);

#endif
