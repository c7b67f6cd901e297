/*
 * The numbers that the SConv paper prints (experiments/published/sconv.csv, see the README there). Values are text,
 * because some are ranges or words.
 */
#ifndef EXPERIMENTS_BENCH_CASE_PUBLISHED_H
#define EXPERIMENTS_BENCH_CASE_PUBLISHED_H

#include <stdbool.h>

#include "experiments/base/error.h"
#include "experiments/base/csv.h"

struct exp_published {
    struct exp_table table;
    size_t figure, model, arch, metric, value; /* columns */
};

/* Reads <experiments_dir>/published/sconv.csv. Returns as exp_table_read; -EINVAL if a column is missing. */
int exp_published_read(struct exp_published *p, const char *experiments_dir, struct exp_why *why);

void exp_published_release(struct exp_published *p);

/* Tells whether the paper's name of a model, "VGG-16", means a table's, "vgg16": without case and punctuation. */
bool exp_published_is_model(const char *published, const char *name);

/*
 * Return the paper's name for a computer, "x86" or "P10", from the name of a machine file, or from the name of a CPU.
 * "" for every further computer: the paper's numbers do not belong beside its numbers. The paper's numbers do not
 * belong beside numbers of warm caches, either: the paper ran networks, layer by layer.
 */
const char *exp_published_arch_of_machine(const char *name, bool is_warm);
const char *exp_published_arch_of_cpu(const char *cpu);

/*
 * Looks up one number: figure "Table 2", model "vgg16" or "VGG-16" (compared without case and punctuation; "all" and ""
 * stand for themselves), arch "x86" or "P10", metric "conv_speedup". Returns 0; -ENOENT if the paper lacks the number;
 * -EINVAL if the text is no number. *value is set on success only.
 */
int exp_published_double(const struct exp_published *p, const char *figure, const char *model, const char *arch,
                         const char *metric, double *value, struct exp_why *why);

#endif
