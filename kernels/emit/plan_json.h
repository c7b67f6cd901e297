/*
 * SConv plans as JSON, for other compilers to read and to write: the keys are those of plan_keys.def. A text is an
 * object:
 *
 *     { "schema": "sconv-plan/1", "plans": [ { "layer": { ... }, "machine": { ... }, ... }, ... ] }
 */
#ifndef KERNELS_EMIT_PLAN_JSON_H
#define KERNELS_EMIT_PLAN_JSON_H

#include <stddef.h>
#include <stdio.h>

#include "kernels/emit/layer_plans.h"
#include "sim/base/why.h"

#define CONV_PLAN_SCHEMA "sconv-plan/1"

/* Writes n plans, cut and terminated like snprintf's, without any library. Returns the length of the whole text. */
size_t conv_plans_write(const struct conv_layer_plan *plan, size_t n, char *text, size_t bytes);

/* Prints the text of n plans, and a line feed. Returns 0 or -ENOMEM. */
int conv_plans_print(const struct conv_layer_plan *plan, size_t n, FILE *out);

/*
 * Reads a file. Derived keys are derived anew where the file differs, and plans->derived_anew names the keys, of the
 * first plan with any. other is as in conv_plan_of_facts. Returns 0; -errno of opening the file; -EINVAL with one line
 * in why that names the file, the key and its value; -EOVERFLOW; -ENOMEM. On failure *plans is empty.
 */
int conv_plans_read(struct conv_layer_plans *plans, const char *path, const struct conv_ukr *other, struct sim_why why);

/* Prints the keys as a table: section and key, type, role, meaning. */
void conv_plan_schema_print(FILE *out);

#endif
