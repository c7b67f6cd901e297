/* Plans as JSON text, without any library: what writing needs of kernels/emit/plan_json.h. */
#ifndef KERNELS_EMIT_PLAN_WRITE_H
#define KERNELS_EMIT_PLAN_WRITE_H

#include <stddef.h>

#include "kernels/emit/noted_plans.h"

#define CONV_PLAN_SCHEMA "sconv-plan/1"

/* Writes n plans of SConv, cut and terminated like snprintf's. Returns the length of the whole text. */
size_t conv_plans_write(const struct conv_noted_plan *plan, size_t n, char *text, size_t bytes);

#endif
