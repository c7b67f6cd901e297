/* Recursive descent straight over the text: a formula is evaluated a few times per measurement, never in a loop. */
#include "counters/group/ctr_expr.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>

enum { MAX_DEPTH = 32 }; /* nested parentheses and minuses: no formula can exhaust the stack */

struct reader {
    const char *at;
    ctr_expr_lookup_fn lookup;
    void *context;
    bool is_missing;
    unsigned depth;
    int err;
    const char *error_at;
};

static double sum(struct reader *r);

/* Tells whether a character is a digit. isalpha() and strtod() depend on the locale and are not used here. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

size_t ctr_expr_name_chars(const char *text)
{
    size_t n = 0;

    if (!is_letter(text[0]))
        return 0;
    while (is_letter(text[n]) || is_digit(text[n]))
        n++;
    return n;
}

static double fail(struct reader *r, int err, const char *at)
{
    if (!r->err) {
        r->err = err;
        r->error_at = at;
    }
    return 0;
}

static char peek(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
    return *r->at;
}

static double number(struct reader *r)
{
    const char *start = r->at;
    double value = 0, scale = 1;

    for (; is_digit(*r->at); r->at++)
        value = value * 10 + (*r->at - '0');
    if (*r->at == '.') {
        for (r->at++; is_digit(*r->at); r->at++, scale *= 10)
            value = value * 10 + (*r->at - '0');
    }
    if (is_letter(*r->at) || *r->at == '.' || r->at[-1] == '.')
        return fail(r, -EINVAL, start);
    return value / scale;
}

static double name(struct reader *r)
{
    size_t n = ctr_expr_name_chars(r->at);
    const char *start = r->at;
    double value = 0;
    int err;

    if (!n)
        return fail(r, -EINVAL, start);
    r->at += n;
    err = r->lookup(r->context, start, n, &value);
    if (err == -ENODATA)
        r->is_missing = true;
    else if (err)
        fail(r, err, start);
    return err ? 0 : value;
}

static double factor(struct reader *r);

static double negated(struct reader *r)
{
    r->at++;
    return -factor(r);
}

static double in_parentheses(struct reader *r)
{
    double value;

    r->at++;
    value = sum(r);
    if (r->err)
        return 0;
    if (peek(r) != ')')
        return fail(r, -EINVAL, r->at);
    r->at++;
    return value;
}

static double factor(struct reader *r)
{
    char c = peek(r);
    double value;

    if (r->err)
        return 0;
    if (is_digit(c))
        return number(r);
    if (c != '-' && c != '(')
        return name(r);
    if (++r->depth > MAX_DEPTH)
        return fail(r, -EINVAL, r->at);
    value = c == '-' ? negated(r) : in_parentheses(r);
    r->depth--;
    return value;
}

static double product(struct reader *r)
{
    double value = factor(r);

    while (!r->err && (peek(r) == '*' || *r->at == '/')) {
        bool is_division = *r->at++ == '/';
        double right = factor(r);

        if (is_division && right == 0)
            r->is_missing = true;
        else
            value = is_division ? value / right : value * right;
    }
    return value;
}

static double sum(struct reader *r)
{
    double value = product(r);

    while (!r->err && (peek(r) == '+' || *r->at == '-')) {
        bool is_difference = *r->at++ == '-';
        double right = product(r);

        value = is_difference ? value - right : value + right;
    }
    return value;
}

int ctr_expr_eval(const char *text, ctr_expr_lookup_fn lookup, void *context, double *value, size_t *error_at)
{
    struct reader r = { .at = text, .lookup = lookup, .context = context };
    double result;

    assert(text && lookup && value);
    result = sum(&r);
    assert(r.err || !r.depth);
    if (!r.err && peek(&r))
        fail(&r, -EINVAL, r.at);
    if (r.err) {
        if (error_at)
            *error_at = (size_t)(r.error_at - text);
        return r.err;
    }
    if (r.is_missing || !isfinite(result))
        return -ENODATA;
    *value = result;
    return 0;
}
