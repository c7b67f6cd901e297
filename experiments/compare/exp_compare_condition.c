#include "experiments/compare/exp_compare_condition.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_text.h"
#include "experiments/setup/exp_algo.h"

enum { MOST_NAMES = 32 };

static int bad(const struct exp_compare_condition *c, struct exp_why *why, const char *what, const char *value)
{
    return exp_fail(why, -EINVAL, "FAIL_IF: '%s': %s '%s'", c->text, what, value);
}

static int unknown(const struct exp_compare_condition *c, const char *what, const char *name, const char *const *known,
                   size_t n, struct exp_why *why)
{
    const char *nearest = exp_names_nearest(name, known, n);
    char list[400] = "";

    for (size_t i = 0; i < n; i++)
        exp_say_more(list, sizeof list, "%s%s", i ? ", " : "", known[i]);
    return exp_fail(why, -EINVAL, "FAIL_IF: '%s': unknown %s '%s'%s%s%s known are %s", c->text, what, name,
                    nearest ? ", did you mean " : ";", nearest ? nearest : "", nearest ? "?" : "", list);
}

static int read_metric(struct exp_compare_condition *c, const char *name, struct exp_why *why)
{
    const char *known[MOST_NAMES];
    size_t n = 0;

    for (; n < exp_compare_n_metrics() && n < MOST_NAMES; n++) {
        known[n] = exp_compare_metric_at(n)->name;
        if (!strcmp(known[n], name))
            c->metric = exp_compare_metric_at(n);
    }
    return c->metric ? 0 : unknown(c, "metric", name, known, n, why);
}

static int read_scope(struct exp_compare_condition *c, const char *name, struct exp_why *why)
{
    const char *known[MOST_NAMES] = { "model", "layer" };
    size_t n = 2;

    c->is_about_layers = !strcmp(name, "layer");
    for (size_t i = 0; i < EXP_N_ALGOS && n < MOST_NAMES; i++)
        known[n++] = exp_algo_at(i)->name;
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(known[i], name)) {
            c->algo = i < 2 ? NULL : known[i];
            return 0;
        }
    }
    return unknown(c, "scope", name, known, n, why);
}

static int read_limit(struct exp_compare_condition *c, const char *number, struct exp_why *why)
{
    char *end;

    errno = 0;
    c->limit = strtod(number, &end);
    if (end == number || errno || !isfinite(c->limit))
        return bad(c, why, "a number must follow < or >, not", number);
    c->is_percent = *end == '%';
    end += c->is_percent;
    return *end ? bad(c, why, "there is something behind the number:", end) : 0;
}

/* Reads one condition, which is cut up; c->text has it already. */
static int read_condition(struct exp_compare_condition *c, char *text, struct exp_why *why)
{
    char *sign = strpbrk(text, "<>"), *dot;
    int err;

    if (!sign)
        return bad(c, why, "there must be < or > in a condition such as speedup<-3%, not", text);
    c->is_above = *sign == '>';
    *sign = '\0';
    err = read_limit(c, sign + 1, why);
    dot = strchr(text, '.');
    if (!err && dot) {
        *dot = '\0';
        err = read_scope(c, text, why);
        text = dot + 1;
    }
    return err ? err : read_metric(c, text, why);
}

/* Drops all blanks. */
static char *plain_copy(const char *text)
{
    char *copy = malloc(strlen(text) + 1), *to = copy;

    for (; copy && *text; text++) {
        if (!isspace((unsigned char)*text))
            *to++ = *text;
    }
    if (copy)
        *to = '\0';
    return copy;
}

static int add(struct exp_compare_conditions *c, char *text, struct exp_why *why)
{
    struct exp_compare_condition *next = &c->condition[c->n];

    if (c->n == EXP_COMPARE_CONDITIONS)
        return exp_fail(why, -EINVAL, "FAIL_IF: more than %d conditions", EXP_COMPARE_CONDITIONS);
    c->n++;
    exp_say(next->text, sizeof next->text, "%s", text);
    return read_condition(next, text, why);
}

int exp_compare_conditions_read(struct exp_compare_conditions *c, const char *list, struct exp_why *why)
{
    char *copy = plain_copy(list);
    int err = copy ? 0 : exp_fail(why, -ENOMEM, "out of memory");

    *c = (struct exp_compare_conditions){ .n = 0 };
    for (char *text = copy, *next; !err && text && *copy; text = next) {
        next = strchr(text, ',');
        if (next)
            *next++ = '\0';
        err = add(c, text, why);
    }
    free(copy);
    return err;
}

static bool is_about(const struct exp_compare_condition *c, const struct exp_compare_cell *x)
{
    const bool is_layer = x->index != 0;

    if (c->metric != x->metric || c->is_about_layers != is_layer)
        return false;
    return c->algo ? !strcmp(c->algo, x->algo) : strcmp(exp_algo_base()->name, x->algo) != 0;
}

static bool is_about_any(const struct exp_compare_condition *c, const struct exp_two_runs *runs)
{
    for (size_t i = 0; i < runs->n; i++) {
        if (is_about(c, &runs->cell[i]))
            return true;
    }
    return false;
}

int exp_compare_conditions_check(const struct exp_compare_conditions *c, const struct exp_two_runs *runs,
                                 struct exp_why *why)
{
    for (size_t i = 0; i < c->n; i++) {
        if (!is_about_any(&c->condition[i], runs))
            return exp_fail(why, -ENODATA,
                            "FAIL_IF: '%s': both runs must have %s (%s of layers.csv) of what it names, and do not",
                            c->condition[i].text, c->condition[i].metric->name,
                            exp_compare_field(c->condition[i].metric)->column.name);
    }
    return 0;
}

bool exp_compare_meets(const struct exp_compare_condition *c, const struct exp_compare_cell *x)
{
    const double change = c->is_percent ? x->change_percent : x->b - x->a;

    if (!is_about(c, x) || !x->is_certain || isnan(change))
        return false;
    return c->is_above ? change > c->limit : change < c->limit;
}
