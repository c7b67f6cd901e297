/* Layers that patterns select. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/bench/model/formats.h"

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

int exp_models_check_patterns(const struct exp_models *m, char *patterns, struct exp_why *why)
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
