/* The files that an experiment leaves in its folder: tables, host.txt and figures. */
#ifndef EXPERIMENTS_RUN_FILES_H
#define EXPERIMENTS_RUN_FILES_H

#include "experiments/run/session.h"

/*
 * Write all tables and host.txt, and print the tables for people; draw a question's figures from the new tables. Return
 * 0, or -errno with a line in the session's why.
 */
int exp_run_write(struct exp_run_session *s);
int exp_run_draw(struct exp_run_session *s, const struct exp_question *question);

/* Prints the path of each table. */
void exp_run_list_tables(const struct exp_run_session *s);

#endif
