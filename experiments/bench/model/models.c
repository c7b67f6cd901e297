/* Several models at once. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/base/text.h"
#include "experiments/bench/model/formats.h"

#define ALL "googlenet,inceptionv2,resnet18,resnet50,resnet152,squeezenet,vgg16"

/* Checks that the models' names differ, because the names identify rows of results. */
static int check_names(const struct exp_models *m, struct exp_why *why)
{
    const struct exp_model *last = &m->model[m->n - 1];

    for (const struct exp_model *other = m->model; other < last; other++) {
        if (!strcmp(other->path, last->path))
            return exp_fail(why, -EINVAL, "MODEL: two tables are called '%s', it is %s twice: name the model once",
                            last->name, last->path);
        if (!strcmp(other->name, last->name))
            return exp_fail(
                why, -EINVAL,
                "MODEL: two tables are called '%s', %s and %s: rename one of them, or copy the file under another name",
                last->name, other->path, last->path);
    }
    return 0;
}

static int read_one(struct exp_models *m, const char *experiments_dir, const char *name,
                    const struct exp_model_ask *ask, struct exp_why *why)
{
    struct exp_model *model = &m->model[m->n];
    int err;

    if (m->n == EXP_MAX_MODELS)
        return exp_fail(why, -EINVAL, "MODEL: more than %d models", EXP_MAX_MODELS);
    err = exp_model_find_as(model, experiments_dir, name, ask, why);
    if (err)
        return err;
    m->n++;
    return check_names(m, why);
}

static bool is_file(const char *list, size_t length)
{
    char *path = exp_format("%.*s", (int)length, list);
    struct stat status;
    const bool is = exp_model_is_path(path) && !stat(path, &status) && S_ISREG(status.st_mode);

    free(path);
    return is;
}

size_t exp_models_next(const char *list)
{
    const size_t blanks = strspn(list, " \t"), first = strcspn(list, ",");

    assert(list);
    if (first > blanks && is_file(list + blanks, exp_text_trimmed(list + blanks, first - blanks)))
        return first;
    for (size_t length = first; list[length];) {
        length += 1 + strcspn(list + length + 1, ",");
        if (length > blanks && is_file(list + blanks, exp_text_trimmed(list + blanks, length - blanks)))
            return length;
    }
    return first;
}

/* Keeps the layers of several models that match a pattern; leaves out models without a match. */
static int filter_several(struct exp_models *m, const char *patterns, struct exp_why *why)
{
    char *copy = exp_copy_text(patterns);
    size_t n = 0;
    int err = exp_models_check_patterns(m, copy, why);

    free(copy);
    for (size_t i = 0; i < m->n && !err; i++)
        err = exp_model_filter(&m->model[i], patterns, false, why);
    for (size_t i = 0; i < m->n && !err; i++) {
        struct exp_model model = m->model[i];
        char *before = m->left_out;

        m->model[i] = (struct exp_model){ 0 };
        if (model.n_layers) {
            m->model[n++] = model;
            continue;
        }
        m->left_out = exp_format("%s%s%s", before ? before : "", before ? ", " : "", model.name);
        free(before);
        exp_model_release(&model);
    }
    m->n = err ? m->n : n;
    return err;
}

void exp_models_print_left_out(const struct exp_models *m, FILE *out)
{
    if (m->left_out)
        fprintf(out, "left out, without a layer that LAYERS asks for: %s\n", m->left_out);
}

void exp_models_print_notes(const struct exp_models *m, FILE *out)
{
    for (size_t i = 0; i < m->n; i++)
        exp_model_print_notes(&m->model[i], out);
    exp_models_print_left_out(m, out);
}

/* Reads the models of a list, with all layers. */
static int read_list(struct exp_models *m, const char *experiments_dir, const char *list,
                     const struct exp_model_ask *ask, struct exp_why *why)
{
    int err = 0;

    while (*list && !err) {
        const size_t length = exp_models_next(list), blanks = strspn(list, " \t");
        const size_t begin = blanks < length ? blanks : length;
        char *name = exp_format("%.*s", (int)exp_text_trimmed(list + begin, length - begin), list + begin);

        err = read_one(m, experiments_dir, name, ask, why);
        free(name);
        list += length + (list[length] == ',');
    }
    return err;
}

int exp_models_read_as(struct exp_models *m, const char *experiments_dir, const char *list,
                       const struct exp_model_ask *ask, struct exp_why *why)
{
    struct exp_model_ask all = *ask;
    int err;

    m->n = 0;
    m->left_out = NULL;
    all.layers = NULL;
    err = read_list(m, experiments_dir, *list && strcmp(list, "all") ? list : ALL, &all, why);
    if (!err && ask->layers && *ask->layers)
        err = m->n == 1 ? exp_model_filter(&m->model[0], ask->layers, true, why) : filter_several(m, ask->layers, why);
    if (err)
        exp_models_release(m);
    return err;
}

int exp_models_read(struct exp_models *m, const char *experiments_dir, const char *list, const char *patterns,
                    struct exp_why *why)
{
    return exp_models_read_as(m, experiments_dir, list, &(struct exp_model_ask){ .layers = patterns }, why);
}

void exp_models_release(struct exp_models *m)
{
    for (size_t i = 0; i < m->n; i++)
        exp_model_release(&m->model[i]);
    m->n = 0;
    free(m->left_out);
    m->left_out = NULL;
}
