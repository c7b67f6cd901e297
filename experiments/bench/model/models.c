/* Several models at once, and the layers that patterns select. */
#include <assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/base/text.h"
#include "experiments/bench/model/formats.h"

/* ---- layers that patterns select ---- */

static int no_match(const struct exp_model *m, const char *pattern, struct exp_why *why)
{
    exp_say(why->text, sizeof why->text, "no layer of %s matches '%.60s'; it has", m->name, pattern);
    for (size_t i = 0; i < m->n_layers && i < 6; i++)
        exp_say_more(why->text, sizeof why->text, "%s %.40s", i ? "," : "", m->layer[i].name);
    exp_say_more(why->text, sizeof why->text, "%s (%zu in all)", m->n_layers > 6 ? ", ..." : "", m->n_layers);
    if (strpbrk(pattern, " \t"))
        exp_say_more(why->text, sizeof why->text, "; patterns are separated by commas, not by blanks");
    return -ENOENT;
}

static bool mark_matches(const struct exp_model *m, const char *pattern, bool *keep)
{
    bool any = false;

    for (size_t i = 0; i < m->n_layers; i++) {
        if (!fnmatch(pattern, m->layer[i].name, 0))
            any = keep[i] = true;
    }
    return any;
}

/*
 * Cuts the next pattern off a list, without surrounding blanks; an empty item gives "". Returns NULL after the last
 * item.
 */
static char *next_pattern(char **list)
{
    char *pattern = *list, *end;

    if (!pattern)
        return NULL;
    pattern += strspn(pattern, " \t");
    end = strchr(pattern, ',');
    *list = end ? end + 1 : NULL;
    pattern[exp_text_trimmed(pattern, end ? (size_t)(end - pattern) : strlen(pattern))] = '\0';
    return pattern;
}

/*
 * Marks the layers that match a pattern of the list; cuts the list up. Returns -ENOENT if a pattern has no match and
 * all_must is set; -EINVAL for an empty list.
 */
static int mark_all(const struct exp_model *m, char *patterns, bool *keep, bool all_must, struct exp_why *why)
{
    size_t n_patterns = 0;

    for (char *pattern; (pattern = next_pattern(&patterns));) {
        if (!*pattern)
            continue;
        n_patterns++;
        if (!mark_matches(m, pattern, keep) && all_must)
            return no_match(m, pattern, why);
    }
    return n_patterns ? 0 : exp_fail(why, -EINVAL, "the list of layer patterns is empty");
}

static void keep_marked(struct exp_model *m, const bool *keep)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_layers; i++) {
        if (keep[i])
            m->layer[n++] = m->layer[i];
        else
            free(m->layer[i].name);
    }
    m->n_layers = n;
}

int exp_model_filter(struct exp_model *m, const char *patterns, bool all_must, struct exp_why *why)
{
    char *copy = exp_copy_text(patterns);
    bool *keep = exp_new(m->n_layers, sizeof *keep);
    int err = mark_all(m, copy, keep, all_must, why);

    if (!err)
        keep_marked(m, keep);
    free(keep);
    free(copy);
    return err;
}

/* ---- lists of models ---- */

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

/* Checks that each pattern matches a layer of at least one model; cuts the list up. */
static int check_patterns(const struct exp_models *m, char *patterns, struct exp_why *why)
{
    for (char *pattern; (pattern = next_pattern(&patterns));) {
        bool any = !*pattern;

        for (size_t i = 0; i < m->n && !any; i++) {
            bool *keep = exp_new(m->model[i].n_layers, sizeof *keep);

            any = mark_matches(&m->model[i], pattern, keep);
            free(keep);
        }
        if (any)
            continue;
        no_match(&m->model[0], pattern, why);
        exp_say_more(why->text, sizeof why->text, "; nor does one of the %zu other models", m->n - 1);
        return -ENOENT;
    }
    return 0;
}

/* Keeps the layers of several models that match a pattern; leaves out models without a match. */
static int filter_several(struct exp_models *m, const char *patterns, struct exp_why *why)
{
    char *copy = exp_copy_text(patterns);
    size_t n = 0;
    int err = check_patterns(m, copy, why);

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
