#include "experiments/setup/exp_models.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"

#define ALL "googlenet,inceptionv2,resnet18,resnet50,resnet152,squeezenet,vgg16"

/* Checks that no two models have a name in common: rows of results are told apart by it. */
static int check_names(const struct exp_models *m, struct exp_why *why)
{
    const struct exp_model *last = &m->model[m->n - 1];

    for (const struct exp_model *other = m->model; other < last; other++) {
        if (!strcmp(other->name, last->name))
            return exp_fail(why, -EINVAL, "MODEL: two tables are called '%s', %s and %s: rename one of them",
                            last->name, other->path, last->path);
    }
    return 0;
}

static int read_one(struct exp_models *m, const char *experiments_dir, const char *name, const char *patterns,
                    struct exp_why *why)
{
    struct exp_model *model = &m->model[m->n];
    int err;

    if (m->n == EXP_MAX_MODELS)
        return exp_fail(why, -EINVAL, "MODEL: more than %d models", EXP_MAX_MODELS);
    err = exp_model_find(model, experiments_dir, name, why);
    if (err)
        return err;
    m->n++;
    err = check_names(m, why);
    if (err)
        return err;
    return *patterns ? exp_model_filter(model, patterns, why) : 0;
}

/* Returns how much of a text is left without the blanks at its end. */
static size_t length_of_name(const char *text, size_t length)
{
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    return length;
}

int exp_models_read(struct exp_models *m, const char *experiments_dir, const char *list, const char *patterns,
                    struct exp_why *why)
{
    int err = 0;

    m->n = 0;
    list = *list && strcmp(list, "all") ? list : ALL;
    while (*list && !err) {
        size_t blanks = strspn(list, " \t"), length = strcspn(list, ",");
        char *name = strndup(list + blanks, length_of_name(list + blanks, length - blanks));

        err = name ? read_one(m, experiments_dir, name, patterns, why) : exp_fail(why, -ENOMEM, "out of memory");
        free(name);
        list += length + (list[length] == ',');
    }
    if (err)
        exp_models_release(m);
    return err;
}

void exp_models_release(struct exp_models *m)
{
    for (size_t i = 0; i < m->n; i++)
        exp_model_release(&m->model[i]);
    m->n = 0;
}

double exp_models_rows(const char *experiments_dir, const char *pattern)
{
    char *tables = exp_format("%s/models/%s", experiments_dir, pattern);
    struct exp_why ignored;
    glob_t g = { 0 };
    double n = !tables || glob(tables, 0, NULL, &g) ? (double)NAN : 0;

    for (size_t i = 0; i < g.gl_pathc; i++) {
        struct exp_model m;

        if (exp_model_read(&m, g.gl_pathv[i], &ignored))
            continue;
        n += (double)m.n_layers;
        exp_model_release(&m);
    }
    globfree(&g);
    free(tables);
    return n;
}
