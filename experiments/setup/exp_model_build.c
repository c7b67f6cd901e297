#include "experiments/setup/exp_model_build.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"

enum { MAX_LAYERS = 100000, SHOWN_LINES = EXP_SKIPPED_LINES };

/* Makes room for one more in an array that grows by powers of two. */
static bool grow(void *array, size_t n, size_t bytes)
{
    void **old = array, *larger;

    if (n & (n - 1))
        return true;
    larger = realloc(*old, (n ? 2 * n : 1) * bytes);
    if (!larger)
        return false;
    *old = larger;
    return true;
}

static char *shape_name(const struct exp_model *m, const struct conv_problem *p)
{
    char stride[48] = "";

    if (p->stride_h != 1 || p->stride_w != 1)
        exp_say(stride, sizeof stride, "_s%zux%zu", p->stride_h, p->stride_w);
    return exp_format("%02zu_%zux%zux%zu_%zu_%zux%zu%s", m->n_layers + 1, p->c, p->h, p->w, p->k, p->r, p->s, stride);
}

static int add_once(struct exp_model *m, const struct exp_descriptor *d, struct exp_model_place at, struct exp_why *why)
{
    struct exp_layer *l;

    if (!grow(&m->layer, m->n_layers, sizeof *m->layer))
        return exp_fail(why, -ENOMEM, "%s: out of memory", m->path);
    l = &m->layer[m->n_layers];
    *l = (struct exp_layer){ .problem = d->problem, .line = at.line, .index = (unsigned)m->n_layers + 1 };
    l->name = d->name_length ? strndup(d->name, d->name_length) : shape_name(m, &d->problem);
    if (!l->name)
        return exp_fail(why, -ENOMEM, "%s: out of memory", m->path);
    m->n_layers++;
    return 0;
}

static int check_name(const struct exp_descriptor *d, struct exp_model_place at, struct exp_why *why)
{
    for (size_t i = 0; i < d->name_length; i++) {
        if (iscntrl((unsigned char)d->name[i]))
            return exp_fail(why, -EINVAL, "%s:%u: name, a control character after '%.*s'", at.path, at.line, (int)i,
                            d->name);
    }
    return 0;
}

int exp_model_add(struct exp_model *m, const struct exp_descriptor *d, struct exp_model_place at, struct exp_why *why)
{
    int err = check_name(d, at, why);

    for (size_t i = 0; i < d->times && !err; i++)
        err = m->n_layers < MAX_LAYERS
                  ? add_once(m, d, at, why)
                  : exp_fail(why, -EINVAL, "%s:%u: more than %d layers", at.path, at.line, MAX_LAYERS);
    return err;
}

int exp_model_add_run(struct exp_model *m, const struct exp_descriptor *d, struct exp_model_place at,
                      struct exp_why *why)
{
    int err = check_name(d, at, why);

    return err ? err : add_once(m, d, at, why);
}

int exp_model_check_size(const struct exp_model *m, struct exp_why *why)
{
    if (m->n_layers <= MAX_LAYERS)
        return 0;
    return exp_fail(why, -EINVAL, "%s: %zu convolutions that do not repeat; at most %d", m->path, m->n_layers,
                    MAX_LAYERS);
}

void exp_model_shorten(struct exp_model *m, size_t n)
{
    while (m->n_layers > n)
        free(m->layer[--m->n_layers].name);
}

static struct exp_skipped *find_skipped(struct exp_model *m, const char *path, const char *reason)
{
    for (size_t i = 0; i < m->n_skipped; i++) {
        if (!strcmp(m->skipped[i].reason, reason) && !strcmp(m->skipped[i].path, path))
            return &m->skipped[i];
    }
    return NULL;
}

int exp_model_skip(struct exp_model *m, struct exp_model_place at, const char *reason, struct exp_why *why)
{
    struct exp_skipped *s = find_skipped(m, at.path, reason);

    if (!s) {
        if (!grow(&m->skipped, m->n_skipped, sizeof *m->skipped))
            return exp_fail(why, -ENOMEM, "%s: out of memory", m->path);
        s = &m->skipped[m->n_skipped];
        *s = (struct exp_skipped){ .path = strdup(at.path), .reason = strdup(reason) };
        m->n_skipped++; /* exp_model_release() frees what there is of it */
        if (!s->path || !s->reason)
            return exp_fail(why, -ENOMEM, "%s: out of memory", m->path);
    }
    if (s->times < SHOWN_LINES)
        s->line[s->times] = at.line;
    s->times++;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct exp_layer *const *l = a, *const *r = b;
    int order = strcmp((*l)->name, (*r)->name);

    return order ? order : ((*l)->line > (*r)->line) - ((*l)->line < (*r)->line);
}

/* Prints which layers of a table share a name: the first two, and how many more there are. */
static void print_namesakes(const struct exp_model *m, FILE *out)
{
    const struct exp_layer **sorted = calloc(m->n_layers, sizeof *sorted);
    size_t n = 0, first = 0;

    for (size_t i = 0; sorted && i < m->n_layers; i++)
        sorted[i] = &m->layer[i];
    if (sorted)
        qsort(sorted, m->n_layers, sizeof *sorted, by_name);
    for (size_t i = 1; sorted && i < m->n_layers; i++) {
        if (strcmp(sorted[i]->name, sorted[i - 1]->name) == 0 && !n++)
            first = i;
    }
    if (n)
        fprintf(out,
                "%s: warning: two layers are called '%s', in lines %u and %u%s: tables and LAYERS= cannot tell them "
                "apart\n",
                m->path, sorted[first]->name, sorted[first - 1]->line, sorted[first]->line,
                n > 1 ? "; there are more of the kind" : "");
    free(sorted);
}

void exp_model_print_notes(const struct exp_model *m, FILE *out)
{
    if (m->is_table)
        print_namesakes(m, out);
    if (m->repeats)
        fprintf(out, "%s: %zu convolutions, which ran %zu time%s\n", m->path, m->n_layers, m->repeats,
                m->repeats > 1 ? "s" : "");
    for (const struct exp_skipped *s = m->skipped; s < m->skipped + m->n_skipped; s++) {
        size_t shown = s->times < SHOWN_LINES ? s->times : SHOWN_LINES;

        fprintf(out, "%s: skipped %zu, %s: line%s", s->path, s->times, s->reason, s->times > 1 ? "s" : "");
        for (size_t i = 0; i < shown; i++)
            fprintf(out, "%s %u", i ? "," : "", s->line[i]);
        fprintf(out, "%s\n", s->times > shown ? ", ..." : "");
    }
}
