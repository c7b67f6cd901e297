/*
 * Formulas of event groups: names, decimal numbers, + - * /, a leading minus, parentheses. The usual precedence, from
 * left to right, in double.
 *
 * A result is missing (never zero) if a count in the formula is missing, if a divisor is zero, or if the result is not
 * finite.
 */
#ifndef CTR_EXPR_H
#define CTR_EXPR_H

#include <stddef.h>

/*
 * Finds the value of a name (not terminated; name_chars long). Returns 0 with *value set, -ENODATA if the value is
 * missing, -ENOENT if the name is unknown.
 */
typedef int (*ctr_expr_lookup_fn)(void *context, const char *name, size_t name_chars, double *value);

/*
 * Evaluates text. Returns 0; -ENODATA if the value is missing; -EINVAL for bad syntax and -ENOENT for an unknown name,
 * both with the offset of the culprit in *error_at (may be NULL). The formula is always read to the end, so a missing
 * value never hides an error. *value is set only on success.
 */
int ctr_expr_eval(const char *text, ctr_expr_lookup_fn lookup, void *context, double *value, size_t *error_at);

/*
 * Returns the length of the name at the start of text (letter or underscore, then letters, digits, underscores), or 0.
 */
size_t ctr_expr_name_chars(const char *text);

#endif
