/*
 * Changes keys of a machine: prints the machine, replaces lines, and reads the text again. So every key of a file can
 * be set, and all checks of files apply.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/why.h"
#include "sim/machine/machine.h"
#include "sim/machine/machine_keys.h"
#include "sim/machine/machine_words.h"

static const char cache_section[] = "cache", tlb_section[] = "tlb", core_section[] = "core";

/* Says where a setting belongs. */
struct place {
    const char *kind; /* cache_section, tlb_section, core_section; NULL: [machine] */
    char name[16];    /* of the cache or TLB */
    const struct sim_key *key;
};

struct editor {
    const struct sim_machine *machine;
    const struct sim_setting *setting;
    size_t n;
    struct place *place; /* [n] */
    struct sim_why why;
};

static int report(const struct editor *e, int err, const char *what, const char *value)
{
    return sim_fail(e->why, err, "%s: '%s'", what, value);
}

/* ---- keys ---- */

static bool has_level(const struct sim_machine *m, const char *name)
{
    for (size_t k = 0; k < m->n_levels; k++) {
        if (!strcmp(m->level[k].name, name))
            return true;
    }
    return false;
}

static bool has_tlb(const struct sim_machine *m, const char *name)
{
    for (size_t k = 0; k < m->n_tlbs; k++) {
        if (!strcmp(m->tlb[k].name, name))
            return true;
    }
    return false;
}

static const char *kind_of(const struct sim_machine *m, const char *name)
{
    if (has_level(m, name))
        return cache_section;
    if (has_tlb(m, name))
        return tlb_section;
    return m->core.width && !strcmp(name, core_section) ? core_section : NULL;
}

static const struct sim_key *find_key(const struct sim_key *keys, const char *name)
{
    while (keys->name && strcmp(keys->name, name) != 0)
        keys++;
    return keys->name ? keys : NULL;
}

enum { MOST_KEYS = 32 };

/*
 * Reports an unknown key, and suggests the nearest known key. before: the length of the part before the key, such as
 * "L2.".
 */
static int unknown_key(const struct editor *e, const char *what, const char *text, const struct sim_key *keys)
{
    const int before = (int)(strrchr(text, '.') ? strrchr(text, '.') + 1 - text : 0);
    const char *known[MOST_KEYS], *nearest;
    size_t n = 0;

    for (; keys->name && n < MOST_KEYS; keys++)
        known[n++] = keys->name;
    nearest = sim_nearest_word(text + before, known, n);
    report(e, -EINVAL, what, text);
    if (nearest)
        sim_why_add(e->why, ", did you mean %.*s%s?", before, text, nearest);
    return -EINVAL;
}

static int find_place(const struct editor *e, const char *text, struct place *p)
{
    const char *dot = strrchr(text, '.');
    const struct sim_key *keys = sim_machine_keys;

    *p = (struct place){ 0 };
    if (dot) {
        if ((size_t)(dot - text) < sizeof p->name)
            memcpy(p->name, text, (size_t)(dot - text));
        p->kind = kind_of(e->machine, p->name);
        if (!p->kind)
            return report(e, -EINVAL, "the machine has no cache, TLB or [core] of that name", text);
        keys = p->kind == cache_section ? sim_cache_keys : p->kind == tlb_section ? sim_tlb_keys : sim_core_keys;
        if (p->kind == core_section)
            *p->name = '\0';
    }
    p->key = find_key(keys, dot ? dot + 1 : text);
    if (!p->key)
        return unknown_key(e,
                           p->kind == core_section ? "a core has no such key"
                           : dot                   ? "a cache or TLB has no such key"
                                                   : "a machine has no such key",
                           text, keys);
    return 0;
}

static int find_places(struct editor *e)
{
    int err = 0;

    for (size_t i = 0; i < e->n && !err; i++) {
        err = find_place(e, e->setting[i].key, &e->place[i]);
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

static bool is_none(const struct editor *e, size_t i)
{
    return e->place[i].key->kind == SIM_KEY_PREFETCH && !strcmp(e->setting[i].value, "none");
}

static void print_setting(const struct editor *e, size_t i, FILE *out)
{
    if (!is_none(e, i))
        fprintf(out, "%s = %s\n", e->place[i].key->name, e->setting[i].value);
}

/* Tells whether a line "key = value" of a section gives way to a setting. */
static bool is_replaced(const struct editor *e, const struct place *section, const char *line)
{
    size_t length = strcspn(line, " =");

    for (size_t i = 0; i < e->n; i++) {
        const struct place *p = &e->place[i];
        /* A level whose sets are set has no size. */
        const char *gone = p->kind == cache_section && p->key == &sim_cache_keys[SIM_CACHE_KEY_SETS]
                               ? sim_cache_keys[SIM_CACHE_KEY_SIZE].name
                               : p->key->name;

        if (p->kind == section->kind && !strcmp(p->name, section->name) &&
            ((strlen(gone) == length && !strncmp(gone, line, length)) ||
             (strlen(p->key->name) == length && !strncmp(p->key->name, line, length))))
            return true;
    }
    return false;
}

/* Reads "[cache L1]". */
static struct place section_of(const char *line)
{
    struct place p = { 0 };
    char kind[8] = "";

    if (!strcmp(line, "[core]"))
        p.kind = core_section;
    else if (sscanf(line, "[%7s %15[^]]]", kind, p.name) == 2)
        p.kind = strcmp(kind, cache_section) ? tlb_section : cache_section;
    return p;
}

static void edit(const struct editor *e, char *text, FILE *out)
{
    struct place section = { 0 };

    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (*line != '[') {
            if (!is_replaced(e, &section, line))
                fprintf(out, "%s\n", line);
            continue;
        }
        section = section_of(line);
        fprintf(out, "%s\n", line);
        for (size_t i = 0; i < e->n; i++) {
            if (e->place[i].kind == section.kind && !strcmp(e->place[i].name, section.name))
                print_setting(e, i, out);
        }
    }
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

/* Prints the machine into a text, from malloc. Returns 0, -EINVAL or -ENOMEM; *text may be something even then. */
static int text_of(const struct sim_machine *m, char **text)
{
    FILE *out = open_text(text);

    return out ? close_text(out, sim_machine_print(m, out)) : -ENOMEM;
}

/* If a cache size has no unit, adds that sizes without a unit are bytes. */
static void add_unit(const struct editor *e, size_t i)
{
    const char *value = e->setting[i].value;
    const size_t digits = strspn(value, "0123456789");

    if (e->place[i].key == &sim_cache_keys[SIM_CACHE_KEY_SIZE] && digits && !value[digits])
        sim_why_add(e->why, "; without a unit these are bytes: is %s=%sK meant?", e->setting[i].key, value);
}

/* Writes the settings before the fault of their text. */
static void name_settings(const struct editor *e, const char *what)
{
    what = strchr(what, ' ') ? strchr(what, ' ') + 1 : what; /* without the line number of a text in memory */
    sim_fail(e->why, -EINVAL, "%s", "");
    for (size_t i = 0; i < e->n; i++)
        sim_why_add(e->why, "%s%s=%s", i ? " " : "", e->setting[i].key, e->setting[i].value);
    sim_why_add(e->why, ": %s", what);
    for (size_t i = 0; i < e->n; i++)
        add_unit(e, i);
}

static int read_edited(const struct editor *e, char *text, struct sim_machine *m)
{
    char *edited = NULL, what[256];
    FILE *file = open_text(&edited);
    int err = -ENOMEM;

    if (file) {
        edit(e, text, file);
        err = close_text(file, 0);
    }
    file = err ? NULL : fmemopen(edited, strlen(edited), "r");
    if (!file)
        err = report(e, -ENOMEM, "out of memory", "machine");
    if (!err)
        err = sim_machine_parse(m, file, "machine", what, sizeof what);
    if (err == -EINVAL)
        name_settings(e, what);
    if (file)
        fclose(file);
    free(edited);
    return err;
}

int sim_machine_set(struct sim_machine *m, const struct sim_setting *setting, size_t n, char *why, size_t why_bytes)
{
    struct editor e = { .machine = m, .setting = setting, .n = n, .why = { why, why_bytes } };
    struct sim_machine changed;
    char *text = NULL;
    int err;

    e.place = calloc(n ? n : 1, sizeof *e.place);
    err = text_of(m, &text);
    if (err == -ENOMEM || !e.place)
        err = report(&e, -ENOMEM, "out of memory", m->name);
    else
        err = err ? report(&e, -EINVAL, "this machine cannot be written as a file", m->name) : find_places(&e);
    if (!err)
        err = read_edited(&e, text, &changed);
    if (!err)
        *m = changed;
    free(e.place);
    free(text);
    return err;
}
