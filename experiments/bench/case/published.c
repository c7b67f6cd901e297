#include "experiments/bench/case/published.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int find_columns(struct exp_published *p, struct exp_why *why)
{
    const struct {
        const char *name;
        size_t *column;
    } wanted[] = {
        { "figure_or_table", &p->figure }, { "model", &p->model }, { "arch", &p->arch },
        { "metric", &p->metric },          { "value", &p->value },
    };

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (exp_table_column(&p->table, wanted[i].name, wanted[i].column, why))
            return -EINVAL;
    }
    return 0;
}

int exp_published_read(struct exp_published *p, const char *experiments_dir, struct exp_why *why)
{
    char *path = exp_format("%s/published/sconv.csv", experiments_dir);
    int err;

    *p = (struct exp_published){ 0 };
    err = exp_table_read(&p->table, path, why);
    free(path);
    if (!err)
        err = find_columns(p, why);
    if (err)
        exp_published_release(p);
    return err;
}

void exp_published_release(struct exp_published *p)
{
    exp_table_release(&p->table);
    *p = (struct exp_published){ 0 };
}

static const char *skip_punctuation(const char *text)
{
    while (*text && !isalnum((unsigned char)*text))
        text++;
    return text;
}

bool exp_published_is_model(const char *a, const char *b)
{
    for (;; a++, b++) {
        a = skip_punctuation(a);
        b = skip_punctuation(b);
        if (!*a || !*b)
            return *a == *b;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
    }
}

/* The computers of the paper's Table 1: as printed there, and what is known of the real parts. */
static const struct {
    const char *machine, *cpu, *arch;
} computers[] = {
    { "clx4208", "Silver 4208", "x86" },
    { "clx4208-real", "Silver 4208", "x86" },
    { "power10", "POWER10", "P10" },
    { "power10-victim", "POWER10", "P10" },
};

const char *exp_published_arch_of_machine(const char *name, bool is_warm)
{
    for (size_t i = 0; i < sizeof computers / sizeof computers[0]; i++) {
        if (!is_warm && !strcmp(computers[i].machine, name))
            return computers[i].arch;
    }
    return "";
}

const char *exp_published_arch_of_cpu(const char *cpu)
{
    for (size_t i = 0; i < sizeof computers / sizeof computers[0]; i++) {
        if (strstr(cpu, computers[i].cpu))
            return computers[i].arch;
    }
    return "";
}

/* Returns the row of a number; n_rows if there is none. */
static size_t find_row(const struct exp_published *p, const char *figure, const char *model, const char *arch,
                       const char *metric)
{
    const struct exp_table *t = &p->table;
    size_t row;

    for (row = 0; row < t->n_rows; row++) {
        if (!strcmp(exp_table_string(t, row, p->figure), figure) && !strcmp(exp_table_string(t, row, p->arch), arch) &&
            !strcmp(exp_table_string(t, row, p->metric), metric) &&
            exp_published_is_model(exp_table_string(t, row, p->model), model))
            break;
    }
    return row;
}

int exp_published_double(const struct exp_published *p, const char *figure, const char *model, const char *arch,
                         const char *metric, double *value, struct exp_why *why)
{
    size_t row = find_row(p, figure, model, arch, metric);

    if (row == p->table.n_rows)
        return exp_fail(why, -ENOENT, "the paper prints no %s for '%s' on '%s' in its %s", metric, model, arch, figure);
    return exp_table_double(&p->table, row, p->value, value, why);
}
