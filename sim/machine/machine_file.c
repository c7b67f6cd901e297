/*
 * Machine files: lines and sections.
 *
 * Values are checked where they stand, so that a message names their line. Conditions on several values (size against
 * ways and line, a level against the levels inside) are checked when the section ends.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/foreign.h"
#include "sim/machine/machine.h"
#include "sim/machine/machine_check.h"
#include "sim/machine/machine_keys.h"
#include "sim/machine/machine_values.h"
#include "sim/machine/machine_words.h"

/* Line numbers of a section and its keys; 0: not seen. */
struct lines {
    unsigned long section, key[SIM_MAX_SECTION_KEYS];
};

struct parser {
    struct sim_place at;
    struct sim_machine machine;
    struct sim_level_draft draft;
    struct sim_tlb tlb;
    const struct sim_key *keys; /* of the section being read; NULL before the first */
    void *target;               /* the struct that the keys fill */
    char section[32];           /* the section's name, for messages */
    struct lines lines;
    struct lines machine_lines, level_lines[SIM_MAX_LEVELS]; /* lines of ended sections */
    bool has_machine;
};

/* Reports about any line. */
static int report(const struct parser *p, unsigned long line, const char *what, const char *value)
{
    struct sim_place at = p->at;

    at.line = line;
    return sim_place_report(&at, what, value);
}

static int report_file(const struct parser *p, const char *what, int error)
{
    return sim_fail(p->at.why, -error, "%s: %s, %s", p->at.path, what, strerror(error));
}

static void trim_end(char *text)
{
    size_t length = strlen(text);

    while (length && strchr(SIM_BLANKS, text[length - 1]))
        text[--length] = '\0';
}

/* ---- sections ---- */

/* Returns a key's line, or the first line of its section. */
static unsigned long line_of(const struct lines *lines, const struct sim_key *keys, const char *key)
{
    for (size_t i = 0; keys[i].name; i++) {
        if (!strcmp(keys[i].name, key) && lines->key[i])
            return lines->key[i];
    }
    return lines->section;
}

/* Ends a [tlb NAME]. */
static int close_tlb(struct parser *p)
{
    struct sim_tlb *t = &p->tlb;

    if (!t->n_ways)
        t->n_ways = t->n_entries;
    if (!sim_tlb_is_possible(t))
        return report(p, p->lines.key[SIM_TLB_KEY_WAYS], "entries is not a multiple of ways", p->section);
    p->machine.tlb[p->machine.n_tlbs++] = *t;
    return 0;
}

/* Ends [core]. */
static int check_core(const struct parser *p)
{
    const struct sim_fault f = sim_core_fault(&p->machine);

    for (size_t i = 0; f.what && sim_core_keys[i].name; i++) {
        if (!strcmp(sim_core_keys[i].name, f.key))
            return report(p, p->lines.key[i], f.what, f.key);
    }
    return 0;
}

/* Turns a given size into sets. */
static int settle_geometry(struct parser *p)
{
    struct sim_level *l = &p->draft.level;
    unsigned long size_line = p->lines.key[SIM_CACHE_KEY_SIZE];
    unsigned long sets_line = p->lines.key[SIM_CACHE_KEY_SETS];
    uint64_t set_bytes = (uint64_t)l->n_ways * l->line_bytes;
    char value[32];

    if (size_line && sets_line)
        return report(p, size_line > sets_line ? size_line : sets_line, "both size and sets are given", p->section);
    if (!size_line && !sets_line)
        return report(p, p->lines.section, "missing key 'size' or 'sets'", p->section);
    if (size_line && p->draft.size_bytes % set_bytes) {
        snprintf(value, sizeof value, "%" PRIu64, p->draft.size_bytes);
        return report(p, size_line, "size is not a multiple of ways * line", value);
    }
    if (size_line)
        l->n_sets = p->draft.size_bytes / set_bytes;
    return 0;
}

/* Ends the current section: no key is missing, and all values agree. */
static int close_section(struct parser *p)
{
    char what[64];
    int err;

    for (size_t i = 0; p->keys && p->keys[i].name; i++) {
        if (p->lines.key[i] || p->keys[i].is_optional)
            continue;
        snprintf(what, sizeof what, "missing key '%s'", p->keys[i].name);
        return report(p, p->lines.section, what, p->section);
    }
    if (p->keys == sim_tlb_keys)
        return close_tlb(p);
    if (p->keys == sim_core_keys)
        return check_core(p);
    if (p->keys == sim_machine_keys)
        p->machine_lines = p->lines;
    if (p->keys != sim_cache_keys)
        return 0;
    err = settle_geometry(p);
    if (err)
        return err;
    p->level_lines[p->machine.n_levels] = p->lines;
    p->machine.level[p->machine.n_levels++] = p->draft.level;
    return 0;
}

static int open_machine(struct parser *p)
{
    if (p->has_machine)
        return report(p, p->at.line, "duplicate section", "[machine]");
    p->has_machine = true;
    p->keys = sim_machine_keys;
    p->target = &p->machine;
    return 0;
}

static int open_core(struct parser *p)
{
    if (p->machine.core.width)
        return report(p, p->at.line, "duplicate section", "[core]");
    p->keys = sim_core_keys;
    p->target = &p->machine.core;
    return 0;
}

static int report_limit(const struct parser *p, const char *what, int most, const char *header)
{
    char text[64];

    snprintf(text, sizeof text, "too many %s, there may be up to %d", what, most);
    return report(p, p->at.line, text, header);
}

static int open_cache(struct parser *p, const char *name, const char *header)
{
    if (!sim_is_section_name(name))
        return report(p, p->at.line, "bad name of a cache", header);
    for (size_t i = 0; i < p->machine.n_levels; i++) {
        if (!strcmp(p->machine.level[i].name, name))
            return report(p, p->at.line, "duplicate section", header);
    }
    if (p->machine.n_levels == SIM_MAX_LEVELS)
        return report_limit(p, "cache levels", SIM_MAX_LEVELS, header);
    p->draft = (struct sim_level_draft){ .level.policy = "lru" };
    memcpy(p->draft.level.name, name, strlen(name) + 1);
    p->keys = sim_cache_keys;
    p->target = &p->draft;
    return 0;
}

static int open_tlb(struct parser *p, const char *name, const char *header)
{
    if (!sim_is_section_name(name))
        return report(p, p->at.line, "bad name of a TLB", header);
    for (size_t i = 0; i < p->machine.n_tlbs; i++) {
        if (!strcmp(p->machine.tlb[i].name, name))
            return report(p, p->at.line, "duplicate section", header);
    }
    if (p->machine.n_tlbs == SIM_MAX_TLBS)
        return report_limit(p, "TLBs", SIM_MAX_TLBS, header);
    p->tlb = (struct sim_tlb){ 0 };
    memcpy(p->tlb.name, name, strlen(name) + 1);
    p->keys = sim_tlb_keys;
    p->target = &p->tlb;
    return 0;
}

/* header: "[...]", blanks at both ends removed. */
static int open_section(struct parser *p, const char *header)
{
    static const struct {
        const char *start;
        int (*open)(struct parser *p, const char *name, const char *header);
    } named[] = { { "[cache", open_cache }, { "[tlb", open_tlb } };
    size_t length = strlen(header);
    char name[SIM_MAX_LINE_CHARS + 1];
    int err = close_section(p);

    if (err)
        return err;
    if (header[length - 1] != ']')
        return report(p, p->at.line, "section header does not end with ']'", header);
    snprintf(p->section, sizeof p->section, "%s", header);
    p->lines = (struct lines){ .section = p->at.line };
    if (!strcmp(header, "[machine]"))
        return open_machine(p);
    if (!strcmp(header, "[core]"))
        return open_core(p);
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        const char *start = header + strlen(named[i].start);

        if (strncmp(header, named[i].start, strlen(named[i].start)) || !strchr(SIM_BLANKS "]", *start))
            continue;
        start += strspn(start, SIM_BLANKS);
        snprintf(name, sizeof name, "%.*s", (int)strlen(start) - 1, start);
        trim_end(name);
        return named[i].open(p, name, header);
    }
    return report(p, p->at.line, "unknown section", header);
}

/* ---- lines ---- */

/* Writes into `what` the section that has the key, or the nearest key of this section. */
static void advise(const struct parser *p, const char *text, char *what, size_t bytes)
{
    static const struct {
        const struct sim_key *keys;
        const char *section;
    } all[] = { { sim_machine_keys, "[machine]" },
                { sim_cache_keys, "[cache NAME]" },
                { sim_tlb_keys, "[tlb NAME]" },
                { sim_core_keys, "[core]" } };
    const char *known[SIM_MAX_SECTION_KEYS], *nearest;
    size_t n = 0;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (const struct sim_key *k = all[i].keys; k->name; k++) {
            if (!strcmp(k->name, text)) {
                snprintf(what, bytes, " (it is one of %s)", all[i].section);
                return;
            }
        }
    }
    for (; p->keys[n].name; n++)
        known[n] = p->keys[n].name;
    nearest = sim_nearest_word(text, known, n);
    if (nearest)
        snprintf(what, bytes, " (did you mean %s?)", nearest);
}

static int report_key(const struct parser *p, const char *text)
{
    char what[80] = "unknown key";

    advise(p, text, what + strlen(what), sizeof what - strlen(what));
    return report(p, p->at.line, what, text);
}

static int read_value(struct parser *p, const struct sim_key *key, const char *value)
{
    struct sim_place at = p->at;

    at.key = key->name;
    return sim_value_set(&at, key, value, p->target);
}

static int read_key(struct parser *p, char *text)
{
    char *sign = strchr(text, '=');
    char *value;

    if (!sign)
        return report(p, p->at.line, "neither a section nor 'key = value'", text);
    *sign = '\0';
    trim_end(text);
    value = sign + 1 + strspn(sign + 1, SIM_BLANKS);
    if (!p->keys)
        return report(p, p->at.line, "key outside any section", text);
    for (size_t i = 0; p->keys[i].name; i++) {
        if (strcmp(p->keys[i].name, text))
            continue;
        if (p->lines.key[i])
            return report(p, p->at.line, "duplicate key", text);
        if (!*value)
            return report(p, p->at.line, "key without a value", text);
        p->lines.key[i] = p->at.line;
        return read_value(p, &p->keys[i], value);
    }
    return report_key(p, text);
}

static int read_section_or_key(struct parser *p, char *text)
{
    text[strcspn(text, "#")] = '\0';
    trim_end(text);
    text += strspn(text, SIM_BLANKS);
    if (!*text)
        return 0;
    return *text == '[' ? open_section(p, text) : read_key(p, text);
}

/*
 * Reports a wrong line. If there are bytes of other systems or editors before the comment, these bytes are named as the
 * cause.
 */
static int read_one(struct parser *p, char *text)
{
    const char *at, *foreign = sim_foreign_byte(text, text + strcspn(text, "#"), &at);
    char code[8];
    int err;

    for (const char *c = text; *c; c++) {
        if (!sim_is_control(*c))
            continue;
        snprintf(code, sizeof code, "0x%02x", (unsigned)*c & 0xff);
        return report(p, p->at.line, foreign ? foreign : "control character", code);
    }
    if (foreign)
        snprintf(code, sizeof code, "0x%02x", (unsigned)*at & 0xff);
    err = read_section_or_key(p, text);
    return err && foreign ? report(p, p->at.line, foreign, code) : err;
}

/* Checks the n first bytes of the file: skips a byte order mark of an editor, and refuses foreign files. */
static int begin(const struct parser *p, char *text, size_t *n)
{
    const struct sim_foreign *kind = sim_foreign_find(text, *n);
    const size_t mark = sim_mark_bytes(text, *n);

    if (kind)
        return report(p, 1, "no machine file: it is", kind->what);
    *n -= mark;
    memmove(text, text + mark, *n);
    return 0;
}

/* Tells whether a character ends a line: line ends of Unix, Windows (two characters) and old Macs. */
static bool ends_line(int c, FILE *in)
{
    if (c == '\r') {
        c = getc(in);
        if (c != '\n')
            ungetc(c, in);
        return true;
    }
    return c == '\n';
}

/* Reads the next line into text[SIM_MAX_LINE_CHARS + 1], without its end. Returns 1, 0 at the file's end, or -errno. */
static int next_line(struct parser *p, FILE *in, char *text)
{
    size_t n = 0;
    int c, err = 0;

    errno = 0;
    while ((c = getc(in)) > 0 && !ends_line(c, in) && n < SIM_MAX_LINE_CHARS)
        text[n++] = (char)c;
    text[n] = '\0';
    if (ferror(in))
        return report_file(p, "cannot read", errno ? errno : EIO);
    if (!p->at.line && n)
        err = begin(p, text, &n);
    if (err)
        return err;
    if (!c)
        return report(p, p->at.line + 1, "control character", "0x00");
    if (c != EOF && c != '\n' && c != '\r') {
        const char *at, *foreign = sim_foreign_byte(text, text + n, &at);

        text[40] = '\0';
        return report(p, p->at.line + 1, foreign ? foreign : "line is too long", foreign ? "" : text);
    }
    if (c == EOF && !n)
        return 0;
    p->at.line++;
    text[n] = '\0';
    return 1;
}

/* ---- checks across sections ---- */

/* Blames a level's key `size` or `sets`, whichever the file has. */
static int report_sets(const struct parser *p, size_t k, const char *what)
{
    const unsigned long size_line = p->level_lines[k].key[SIM_CACHE_KEY_SIZE];
    const struct sim_level *l = &p->machine.level[k];
    char value[32];

    snprintf(value, sizeof value, "%" PRIu64, size_line ? sim_level_bytes(l) : l->n_sets);
    return report(p, size_line ? size_line : p->level_lines[k].key[SIM_CACHE_KEY_SETS], what, value);
}

/* Reports a level's fault, at the line of the wrong key. */
static int check_level(const struct parser *p, size_t k)
{
    const struct sim_fault f = sim_level_fault(&p->machine, k);
    char section[32];

    if (!f.what)
        return 0;
    if (!strcmp(f.key, sim_cache_keys[SIM_CACHE_KEY_SETS].name))
        return report_sets(p, k, f.what);
    snprintf(section, sizeof section, "[cache %s]", p->machine.level[k].name);
    return report(p, line_of(&p->level_lines[k], sim_cache_keys, f.key), f.what, section);
}

static unsigned long latency_line(const struct parser *p, size_t k)
{
    return k < p->machine.n_levels ? line_of(&p->level_lines[k], sim_cache_keys, "latency_cycles")
                                   : line_of(&p->machine_lines, sim_machine_keys, "memory_latency_cycles");
}

/* Checks that latencies and bandwidths are consistent. */
static int check_times(const struct parser *p)
{
    const struct sim_machine *m = &p->machine;
    const size_t k = sim_impatient_level(m);

    if (sim_memory_is_too_fast(m))
        return report(p, latency_line(p, m->n_levels),
                      "memory_bandwidth_bytes_per_cycle: with memory_latency_cycles more lines are on their way than "
                      "the last level has miss_buffers",
                      m->level[m->n_levels - 1].name);
    if (m->memory_scattered_cycles > m->memory_latency_cycles)
        return report(p, latency_line(p, m->n_levels), "less than memory_scattered_cycles", "memory_latency_cycles");
    if (k)
        return report(p, latency_line(p, k), "less than the level inside takes",
                      k < m->n_levels ? "latency_cycles" : "memory_latency_cycles");
    return 0;
}

/* Makes all checks of sim_machine_validate, so that every machine read is valid. */
static int check_machine(const struct parser *p)
{
    struct sim_fault f;
    int err = 0;

    for (size_t k = 0; k < p->machine.n_levels && !err; k++)
        err = check_level(p, k);
    if (!err)
        err = check_times(p);
    f = sim_machine_fault(&p->machine);
    return err || !f.what ? err : report(p, line_of(&p->machine_lines, sim_machine_keys, f.key), f.what, f.key);
}

static int parse_file(struct parser *p, FILE *in)
{
    char text[SIM_MAX_LINE_CHARS + 1];
    int err;

    while ((err = next_line(p, in, text)) > 0) {
        err = read_one(p, text);
        if (err)
            return err;
    }
    if (err)
        return err;
    if (!p->at.line)
        return report(p, 1, "file is empty", "");
    err = close_section(p);
    if (err)
        return err;
    if (!p->has_machine)
        return report(p, p->at.line, "missing section", "[machine]");
    if (!p->machine.n_levels)
        return report(p, p->at.line, "missing section", "[cache NAME]");
    return check_machine(p);
}

int sim_machine_parse(struct sim_machine *m, FILE *in, const char *path, char *why, size_t why_bytes)
{
    struct parser p = { .at = { .path = path, .why = { why, why_bytes } } };
    int err = parse_file(&p, in);

    *m = err ? (struct sim_machine){ 0 } : p.machine;
    return err;
}

int sim_machine_read(struct sim_machine *m, const char *path, char *why, size_t why_bytes)
{
    const struct parser p = { .at = { .path = path, .why = { why, why_bytes } } };
    FILE *in = fopen(path, "r");
    int err;

    if (!in) {
        *m = (struct sim_machine){ 0 };
        return report_file(&p, "cannot open", errno);
    }
    err = sim_machine_parse(m, in, path, why, why_bytes);
    fclose(in);
    return err;
}
