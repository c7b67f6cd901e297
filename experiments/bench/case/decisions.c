#include "experiments/bench/case/decisions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "kernels/emit/plan_facts.h"
#include "sim/machine/machine_words.h"

enum { MOST_KEYS = 32 };

/* Tells whether SET may name a key: a decided key of the tiles and options. */
static bool is_settable(const struct conv_plan_key *k)
{
    return k->is_decided && (!strcmp(k->section, "tiling") || !strcmp(k->section, "options"));
}

static const struct conv_plan_key *find(const char *name)
{
    for (size_t i = 0; i < conv_plan_key_count(); i++) {
        if (is_settable(conv_plan_key_at(i)) && !strcmp(conv_plan_key_at(i)->key, name))
            return conv_plan_key_at(i);
    }
    return NULL;
}

static int refuse_name(const char *name, struct exp_why *why)
{
    const char *known[MOST_KEYS], *nearest;
    char list[256] = "";
    size_t n = 0;

    for (size_t i = 0; i < conv_plan_key_count() && n < MOST_KEYS; i++) {
        if (!is_settable(conv_plan_key_at(i)))
            continue;
        known[n++] = conv_plan_key_at(i)->key;
        exp_say_more(list, sizeof list, "%s%s", n > 1 ? ", " : "", known[n - 1]);
    }
    nearest = sim_nearest_word(name, known, n);
    if (nearest)
        return exp_fail(why, -EINVAL, "SET: unknown key '%s'; did you mean %s?", name, nearest);
    return exp_fail(why, -EINVAL, "SET: unknown key '%s'; there are %s", name, list);
}

static int read_size(size_t *to, const char *key, const char *value, struct exp_why *why)
{
    char *end;

    errno = 0;
    *to = strtoull(value, &end, 10);
    if (errno || *value < '0' || *value > '9' || *end)
        return exp_fail(why, -EINVAL, "SET: %s must be a whole number, not '%s'", key, value);
    return 0;
}

static int read_flag(bool *to, const char *key, const char *value, struct exp_why *why)
{
    *to = !strcmp(value, "true");
    if (!*to && strcmp(value, "false") != 0)
        return exp_fail(why, -EINVAL, "SET: %s must be true or false, not '%s'", key, value);
    return 0;
}

/* Takes a "key=value"; value must not move. */
static int take(struct conv_plan_facts *f, char *word, struct exp_why *why)
{
    char *equals = strchr(word, '=');
    const struct conv_plan_key *k;

    if (!equals)
        return exp_fail(why, -EINVAL, "SET: '%s' is no key=value, such as n_c=32", word);
    *equals = '\0';
    k = find(word);
    if (!k)
        return refuse_name(word, why);
    if (k->type == CONV_FACT_IS_SIZE)
        return read_size(conv_fact_at(f, k), word, equals + 1, why);
    if (k->type == CONV_FACT_IS_FLAG)
        return read_flag(conv_fact_at(f, k), word, equals + 1, why);
    *(const char **)conv_fact_at(f, k) = equals + 1;
    return 0;
}

int exp_plan_set(struct conv_layer_plan *n, const char *set, const struct conv_ukr *other, struct exp_why *why)
{
    struct conv_plan_facts f = conv_plan_facts_of(&n->plan, &n->caches, n->layer, n->machine);
    char *words = exp_copy_text(set), *rest = words, reason[300];
    int err = 0;

    while (!err && rest) {
        char *word = rest;

        rest = strchr(word, ',');
        if (rest)
            *rest++ = '\0';
        err = take(&f, word, why);
    }
    if (!err) {
        err = conv_plan_of_facts(&n->plan, &f, other, SIM_WHY(reason));
        if (err)
            exp_fail(why, err, "SET: layer '%s': %s", n->layer, reason);
    }
    free(words);
    return err;
}
