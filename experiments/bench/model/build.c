/* Builds a model, layer by layer, and notes left-out entries. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/bench/model/formats.h"
#include "experiments/bench/model/model.h"

enum { MAX_LAYERS = 100000, SHOWN_LINES = EXP_SKIPPED_LINES, MOST_REASONS = 250 };

char *exp_shape_name(size_t number, const struct conv_problem *p)
{
    char stride[48] = "";

    assert(p);
    if (p->stride_h != 1 || p->stride_w != 1)
        exp_say(stride, sizeof stride, "_s%zux%zu", p->stride_h, p->stride_w);
    return exp_format("%02zu_%zux%zux%zu_%zu_%zux%zu%s", number, p->c, p->h, p->w, p->k, p->r, p->s, stride);
}

static void add_once(struct exp_model *m, const struct exp_descriptor *d, struct exp_model_place at)
{
    const char *suffix = d->suffix ? d->suffix : "";
    char *name = d->name_length ? exp_format("%.*s%s", (int)d->name_length, d->name, suffix)
                                : exp_shape_name(m->n_layers + 1, &d->problem);
    struct exp_layer *l = exp_append(&m->layer, &m->n_layers, sizeof *l);

    *l = (struct exp_layer){ .name = name, .problem = d->problem, .line = at.line, .index = (unsigned)m->n_layers };
}

static int check_own_name(const struct exp_descriptor *d, struct exp_model_place at, struct exp_why *why)
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
    int err = check_own_name(d, at, why);

    for (size_t i = 0; i < d->times && !err; i++) {
        if (m->n_layers == MAX_LAYERS)
            return exp_fail(why, -EINVAL, "%s:%u: more than %d layers", at.path, at.line, MAX_LAYERS);
        add_once(m, d, at);
    }
    return err;
}

int exp_model_add_run(struct exp_model *m, const struct exp_descriptor *d, struct exp_model_place at,
                      struct exp_why *why)
{
    int err = check_own_name(d, at, why);

    if (!err)
        add_once(m, d, at);
    return err;
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

void exp_model_note(struct exp_model *m, const char *format, ...)
{
    va_list args;
    char *line, *all;

    va_start(args, format);
    line = exp_format_list(format, args);
    va_end(args);
    all = exp_format("%s%s\n", m->notes ? m->notes : "", line);
    free(line);
    free(m->notes);
    m->notes = all;
}

static struct exp_skipped *find_skipped(struct exp_model *m, const char *path, const char *reason)
{
    for (size_t i = 0; i < m->n_skipped; i++) {
        if (!strcmp(m->skipped[i].reason, reason) && !strcmp(m->skipped[i].path, path))
            return &m->skipped[i];
    }
    return NULL;
}

int exp_model_skip(struct exp_model *m, struct exp_model_place at, const char *reason)
{
    struct exp_skipped *s = find_skipped(m, at.path, reason);

    if (!s && m->n_skipped >= MOST_REASONS) {
        reason = "what is left out for other reasons";
        s = find_skipped(m, at.path, reason);
    }
    if (!s) {
        s = exp_append(&m->skipped, &m->n_skipped, sizeof *s);
        s->path = exp_copy_text(at.path);
        s->reason = exp_copy_text(reason);
    }
    if (s->times < SHOWN_LINES)
        s->line[s->times] = at.line;
    s->times++;
    return 0;
}
