#include "experiments/setup/exp_models.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"

#define ALL "googlenet,inceptionv2,resnet18,resnet50,resnet152,squeezenet,vgg16"

/* Checks that no two models have a name in common: rows of results are told apart by it. */
static int check_names(const struct exp_models *m, char *why, size_t why_bytes)
{
    const struct exp_model *last = &m->model[m->n - 1];

    for (const struct exp_model *other = m->model; other < last; other++) {
        if (!strcmp(other->name, last->name))
            return exp_fail(why, why_bytes, -EINVAL, "MODEL: two tables are called '%s', %s and %s: rename one of them",
                            last->name, other->path, last->path);
    }
    return 0;
}

static int read_one(struct exp_models *m, const char *experiments_dir, const char *name, const char *patterns,
                    char *why, size_t why_bytes)
{
    struct exp_model *model = &m->model[m->n];
    int err;

    if (m->n == EXP_MAX_MODELS)
        return exp_fail(why, why_bytes, -EINVAL, "MODEL: more than %d models", EXP_MAX_MODELS);
    err = exp_model_find(model, experiments_dir, name, why, why_bytes);
    if (err)
        return err;
    m->n++;
    err = check_names(m, why, why_bytes);
    if (err)
        return err;
    return *patterns ? exp_model_filter(model, patterns, why, why_bytes) : 0;
}

int exp_models_read(struct exp_models *m, const char *experiments_dir, const char *list, const char *patterns,
                    char *why, size_t why_bytes)
{
    int err = 0;

    m->n = 0;
    list = *list && strcmp(list, "all") ? list : ALL;
    while (*list && !err) {
        size_t length = strcspn(list, ",");
        char *name = strndup(list, length);

        err = name ? read_one(m, experiments_dir, name, patterns, why, why_bytes)
                   : exp_fail(why, why_bytes, -ENOMEM, "out of memory");
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
