/* Layers with equal names get names of their own. */
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/bench/model/formats.h"

static int by_name(const void *a, const void *b)
{
    const struct exp_layer *const *l = a, *const *r = b;
    int order = strcmp((*l)->name, (*r)->name);

    return order ? order : ((*l)->line > (*r)->line) - ((*l)->line < (*r)->line);
}

/* Tells whether a layer in a list sorted by name has this name. */
static bool is_taken(struct exp_layer *const *sorted, size_t n, const char *name)
{
    const struct exp_layer key = { .name = (char *)name }, *wanted = &key;

    for (size_t first = 0, end = n; first < end;) {
        const size_t middle = first + (end - first) / 2;
        const int order = strcmp(wanted->name, sorted[middle]->name);

        if (!order)
            return true;
        if (order < 0)
            end = middle;
        else
            first = middle + 1;
    }
    return false;
}

/* Returns an unused name, for example "conv_2" for "conv", from malloc; *number is the last number tried. */
static char *other_name(struct exp_layer *const *sorted, size_t n, const char *name, size_t *number)
{
    for (;;) {
        char *other = exp_format("%s_%zu", name, ++*number);

        if (!is_taken(sorted, n, other))
            return other;
        free(other);
    }
}

/*
 * Finds new names for layers with equal names: the second conv becomes conv_2. The list keeps the old names until all
 * new names are found. Returns the number of new names.
 */
static size_t rename_all(struct exp_layer *const *sorted, size_t n, char **other)
{
    size_t n_other = 0, number = 1;

    for (size_t i = 1; i < n; i++) {
        const bool is_same = !strcmp(sorted[i]->name, sorted[i - 1]->name);

        number = is_same ? number : 1;
        if (is_same)
            other[i] = other_name(sorted, n, sorted[i]->name, &number);
        n_other += is_same;
    }
    return n_other;
}

void exp_model_tell_apart(struct exp_model *m)
{
    struct exp_layer **sorted = exp_new(m->n_layers + 1, sizeof *sorted);
    char **other = exp_new(m->n_layers + 1, sizeof *other);
    const bool is_network = exp_name_ends_in(m->path, ".onnx");
    size_t n, first = 0;

    for (size_t i = 0; i < m->n_layers; i++)
        sorted[i] = &m->layer[i];
    qsort(sorted, m->n_layers, sizeof *sorted, by_name);
    n = rename_all(sorted, m->n_layers, other);
    for (size_t i = m->n_layers; n && i-- > 0;)
        first = other[i] ? i : first;
    if (n)
        exp_model_note(m, "two layers are called '%s' (%s %u and %u); the second one is called '%s' here%s",
                       sorted[first]->name, is_network ? "nodes" : "lines", sorted[first - 1]->line,
                       sorted[first]->line, other[first], n > 1 ? ", and so are others of the kind" : "");
    for (size_t i = 0; i < m->n_layers; i++) {
        if (!other[i])
            continue;
        free(sorted[i]->name);
        sorted[i]->name = other[i];
    }
    free(other);
    free(sorted);
}
