/*
 * Facts of the bench that stand beside what the paper says of its own, and numbers of a machine file. For claims.def.
 */
#ifndef EXPERIMENTS_EXP_PAPER_FACTS_H
#define EXPERIMENTS_EXP_PAPER_FACTS_H

#include <stddef.h>

#include "sim/machine/machine.h"

double exp_paper_level_bytes(const struct sim_machine *m, int level);
double exp_paper_clock_ghz(const struct sim_machine *m, int arg);
double exp_paper_peak_gflops(const struct sim_machine *m, int arg);

void exp_paper_machine_text(const struct sim_machine *m, char *text, size_t bytes);
void exp_paper_kernel_text(const struct sim_machine *m, char *text, size_t bytes);
void exp_paper_units_text(const struct sim_machine *m, char *text, size_t bytes);
void exp_paper_cache_share_text(const struct sim_machine *m, char *text, size_t bytes);
void exp_paper_threads_text(const struct sim_machine *m, char *text, size_t bytes);
void exp_paper_dtype_text(const struct sim_machine *m, char *text, size_t bytes);
void exp_paper_compiler_text(const struct sim_machine *m, char *text, size_t bytes);
void exp_paper_counter_text(const struct sim_machine *m, char *text, size_t bytes);
void exp_paper_baseline_text(const struct sim_machine *m, char *text, size_t bytes);
void exp_paper_definition_text(const struct sim_machine *m, char *text, size_t bytes);

#endif
