/*
 * Changes keys of a machine: prints the machine with new values, and reads the text again. So every key of a file can
 * be set, and all checks of files apply.
 */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/why.h"
#include "sim/machine/machine.h"
#include "sim/machine/machine_host.h"
#include "sim/machine/machine_keys.h"
#include "sim/machine/machine_words.h"

/* The key of a setting. */
struct target {
    const struct sim_key *keys; /* the table of its section */
    char name[16];              /* of the cache or TLB; "": [machine] or [core] */
    const struct sim_key *key;
};

struct editor {
    const struct sim_machine *machine;
    const struct sim_setting *setting;
    size_t n;
    struct target *target; /* [n] */
    struct sim_why why;
};

static int report(const struct editor *e, int err, const char *what, const char *value)
{
    return sim_fail(e->why, err, "%s: '%s'", what, value);
}

/* ---- keys ---- */

static bool has_tlb(const struct sim_machine *m, const char *name)
{
    for (size_t k = 0; k < m->n_tlbs; k++) {
        if (!strcmp(m->tlb[k].name, name))
            return true;
    }
    return false;
}

/* Returns the table of the section with a name, or NULL. */
static const struct sim_key *keys_of(const struct sim_machine *m, const char *name)
{
    if (sim_level_named(m, name))
        return sim_cache_keys;
    if (has_tlb(m, name))
        return sim_tlb_keys;
    return m->core.width && !strcmp(name, "core") ? sim_core_keys : NULL;
}

static const struct sim_key *find_key(const struct sim_key *keys, const char *name)
{
    while (keys->name && strcmp(keys->name, name) != 0)
        keys++;
    return keys->name ? keys : NULL;
}

/*
 * Reports an unknown key, and suggests the nearest known key. before: the length of the part before the key, such as
 * "L2.".
 */
static int unknown_key(const struct editor *e, const char *what, const char *text, const struct sim_key *keys)
{
    const int before = (int)(strrchr(text, '.') ? strrchr(text, '.') + 1 - text : 0);
    const char *known[SIM_MAX_SECTION_KEYS], *nearest;
    size_t n = 0;

    for (; keys->name; keys++)
        known[n++] = keys->name;
    nearest = sim_nearest_word(text + before, known, n);
    report(e, -EINVAL, what, text);
    if (!before && keys_of(e->machine, text))
        sim_why_add(e->why, ", is %s.%s meant?", text, keys_of(e->machine, text)->name);
    else if (nearest)
        sim_why_add(e->why, ", did you mean %.*s%s?", before, text, nearest);
    return -EINVAL;
}

static int find_target(const struct editor *e, const char *text, struct target *p)
{
    const char *dot = strrchr(text, '.');

    *p = (struct target){ .keys = sim_machine_keys };
    if (dot) {
        if ((size_t)(dot - text) < sizeof p->name)
            memcpy(p->name, text, (size_t)(dot - text));
        p->keys = keys_of(e->machine, p->name);
        if (!p->keys)
            return report(e, -EINVAL, "the machine has no cache, TLB or [core] of that name", text);
        if (p->keys == sim_core_keys)
            *p->name = '\0';
    }
    p->key = find_key(p->keys, dot ? dot + 1 : text);
    if (!p->key)
        return unknown_key(e,
                           p->keys == sim_core_keys ? "a core has no such key"
                           : dot                    ? "a cache or TLB has no such key"
                                                    : "a machine has no such key",
                           text, p->keys);
    return 0;
}

static int find_targets(struct editor *e)
{
    int err = 0;

    for (size_t i = 0; i < e->n && !err; i++) {
        err = find_target(e, e->setting[i].key, &e->target[i]);
        if (!err && (!*e->setting[i].value || strpbrk(e->setting[i].value, "#\n\r")))
            err = report(e, -EINVAL, "no value that a machine file could have", e->setting[i].key);
        for (size_t j = 0; j < i && !err; j++) {
            if (!strcmp(e->setting[i].key, e->setting[j].key))
                err = report(e, -EINVAL, "set twice", e->setting[i].key);
        }
    }
    return err;
}

/* ---- lines ---- */

/* The change of a key by the settings, see struct sim_key_changes. A level whose sets are set has no size. */
static const char *changed_value(const void *ctx, const struct sim_key *keys, const char *section,
                                 const struct sim_key *key)
{
    const struct editor *e = ctx;
    bool has_sets = false;

    for (size_t i = 0; i < e->n; i++) {
        const struct target *p = &e->target[i];
        const char *value = e->setting[i].value;

        if (p->keys != keys || strcmp(p->name, section) != 0)
            continue;
        if (p->key == key)
            return key->kind == SIM_KEY_PREFETCH && !strcmp(value, "none") ? "" : value;
        has_sets |= p->key == &sim_cache_keys[SIM_CACHE_KEY_SETS];
    }
    return has_sets && key == &sim_cache_keys[SIM_CACHE_KEY_SIZE] ? "" : NULL;
}

/*
 * A text in memory of fixed size, larger than any machine's text: a growing stream loses text without memory, and does
 * not always report the loss.
 */
enum { TEXT_BYTES = 1 << 17 };

static FILE *open_text(char **text)
{
    *text = calloc(1, TEXT_BYTES);
    return *text ? fmemopen(*text, TEXT_BYTES, "w") : NULL;
}

/* Ends writing a text. err: an earlier error. */
static int close_text(FILE *out, int err)
{
    bool lost = ferror(out);

    lost |= fclose(out) != 0;
    return err ? err : lost ? -ENOMEM : 0;
}

/* Prints the changed machine into a text, from malloc. Returns 0, -EINVAL or -ENOMEM; *text may be set even then. */
static int text_of(const struct editor *e, char **text)
{
    const struct sim_key_changes changes = { e, changed_value };
    FILE *out = open_text(text);

    return out ? close_text(out, sim_machine_print_changed(e->machine, &changes, out)) : -ENOMEM;
}

/* If a cache size has no unit, adds that sizes without a unit are bytes. */
static void add_unit(const struct editor *e, size_t i)
{
    const char *value = e->setting[i].value;
    const size_t digits = strspn(value, "0123456789");

    if (e->target[i].key == &sim_cache_keys[SIM_CACHE_KEY_SIZE] && digits && !value[digits])
        sim_why_add(e->why, "; without a unit these are bytes: is %s=%sK meant?", e->setting[i].key, value);
}

/* Writes the settings before the fault of their text. */
static void name_settings(const struct editor *e, const char *what)
{
    assert(strchr(what, ' '));
    what = strchr(what, ' ') + 1; /* without the line number of a text in memory */
    sim_fail(e->why, -EINVAL, "%s", "");
    for (size_t i = 0; i < e->n; i++)
        sim_why_add(e->why, "%s%s=%s", i ? " " : "", e->setting[i].key, e->setting[i].value);
    sim_why_add(e->why, ": %s", what);
    for (size_t i = 0; i < e->n; i++)
        add_unit(e, i);
}

static int read_text(const struct editor *e, const char *text, struct sim_machine *m)
{
    FILE *in = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
    char what[256];
    int err;

    if (!in)
        return report(e, -ENOMEM, "out of memory", "machine");
    err = sim_machine_parse(m, in, "machine", what, sizeof what);
    if (err == -EINVAL)
        name_settings(e, what);
    fclose(in);
    return err;
}

int sim_machine_set(struct sim_machine *m, const struct sim_setting *setting, size_t n, char *why, size_t why_bytes)
{
    struct editor e = { .machine = m, .setting = setting, .n = n, .why = { why, why_bytes } };
    struct sim_machine changed;
    char *text = NULL;
    int err;

    assert(m && (setting || !n));
    e.target = calloc(n ? n : 1, sizeof *e.target);
    err = e.target ? find_targets(&e) : report(&e, -ENOMEM, "out of memory", m->name);
    if (!err) {
        err = text_of(&e, &text);
        if (err)
            err = err == -ENOMEM ? report(&e, err, "out of memory", m->name)
                                 : report(&e, -EINVAL, "this machine cannot be written as a file", m->name);
    }
    if (!err)
        err = read_text(&e, text, &changed);
    if (!err)
        *m = changed;
    free(e.target);
    free(text);
    return err;
}
