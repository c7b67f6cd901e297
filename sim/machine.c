/*
 * Machine files: a line reader, tables of the keys that each kind of section takes, and the checks.
 *
 * Values are checked where they stand, so that a message names their line; what needs several values (size against
 * ways and line) is checked when the section ends.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine.h"
#include "sim/policy.h"

enum {
    MAX_KEYS = 8,
    MAX_LINE_CHARS = 511,
};

#define MAX_LATENCY_CYCLES 1e9
#define BLANKS " \t"

enum value_kind {
    TEXT,
    COUNT, /* a whole number from 1; with a KiB or MiB suffix where takes_suffix */
    CYCLES,
};

struct key {
    const char *name;
    enum value_kind kind;
    size_t offset; /* of the member in the struct that the section fills */
    size_t bytes;  /* size of that member */
    uint64_t max;  /* of a COUNT */
    bool takes_suffix;
    bool is_power; /* of two */
    bool is_optional;
};

/* What a [cache NAME] section fills. */
struct draft {
    struct sim_level level;
    uint64_t size_bytes; /* 0: sets were given */
};

#define MEMBER(type, m) .offset = offsetof(type, m), .bytes = sizeof((type *)NULL)->m

static const struct key machine_keys[] = {
    { "name", TEXT, MEMBER(struct sim_machine, name) },
    { "description", TEXT, MEMBER(struct sim_machine, description), .is_optional = true },
    { "ukr", TEXT, MEMBER(struct sim_machine, ukr), .is_optional = true },
    { "gemm_core", TEXT, MEMBER(struct sim_machine, gemm_core), .is_optional = true },
    { "memory_latency_cycles", CYCLES, MEMBER(struct sim_machine, memory_latency_cycles) },
    { .name = NULL },
};

enum { KEY_SIZE, KEY_SETS }; /* their places in cache_keys */

static const struct key cache_keys[] = {
    { "size", COUNT, MEMBER(struct draft, size_bytes), .max = UINT64_MAX, .takes_suffix = true, .is_optional = true },
    { "sets", COUNT, MEMBER(struct draft, level.n_sets), .max = SIM_MAX_LEVEL_LINES, .is_optional = true },
    { "ways", COUNT, MEMBER(struct draft, level.n_ways), .max = SIM_MAX_LEVEL_LINES },
    { "line", COUNT, MEMBER(struct draft, level.line_bytes), .max = SIM_MAX_LINE_BYTES, .takes_suffix = true,
      .is_power = true },
    { "latency_cycles", CYCLES, MEMBER(struct draft, level.latency_cycles) },
    { "policy", TEXT, MEMBER(struct draft, level.policy), .is_optional = true },
    { .name = NULL },
};

_Static_assert(sizeof machine_keys / sizeof machine_keys[0] <= MAX_KEYS + 1, "key_line[] is too short");
_Static_assert(sizeof cache_keys / sizeof cache_keys[0] <= MAX_KEYS + 1, "key_line[] is too short");

struct parser {
    const char *path;
    char *why;
    size_t why_bytes;
    unsigned long line;
    struct sim_machine machine;
    struct draft draft;
    const struct key *keys; /* of the section being read; NULL before the first */
    void *target;           /* what they fill */
    char section[32];       /* its name, for messages */
    unsigned long section_line;
    unsigned long key_line[MAX_KEYS]; /* where each of its keys stood; 0: not seen */
    bool has_machine;
};

/* "path:line: what, 'value'" */
static int report(const struct parser *p, unsigned long line, const char *what, const char *value)
{
    snprintf(p->why, p->why_bytes, "%s:%lu: %s, '%s'", p->path, line, what, value);
    return -EINVAL;
}

static int report_file(const struct parser *p, const char *what, int error)
{
    snprintf(p->why, p->why_bytes, "%s: %s, %s", p->path, what, strerror(error));
    return -error;
}

static bool is_control(char c)
{
    return ((unsigned char)c < ' ' && c != '\t') || c == 0x7f;
}

static void trim_end(char *text)
{
    size_t length = strlen(text);

    while (length && strchr(BLANKS, text[length - 1]))
        text[--length] = '\0';
}

/* ---- values ---- */

static int parse_digits(const struct parser *p, const char **text, uint64_t *value)
{
    const char *c = *text;

    if (*c == '-')
        return report(p, p->line, "negative number", *text);
    if (*c < '0' || *c > '9')
        return report(p, p->line, "not a whole number", *text);
    for (*value = 0; *c >= '0' && *c <= '9'; c++) {
        uint64_t digit = (uint64_t)(*c - '0');

        if (*value > (UINT64_MAX - digit) / 10)
            return report(p, p->line, "number too large", *text);
        *value = *value * 10 + digit;
    }
    *text = c;
    return 0;
}

/* The factor of a size suffix; 0 if it is none. */
static uint64_t suffix_factor(const char *suffix)
{
    static const struct {
        const char *name;
        uint64_t factor;
    } known[] = { { "", 1 }, { "KiB", 1 << 10 }, { "MiB", 1 << 20 } };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!strcmp(suffix, known[i].name))
            return known[i].factor;
    }
    return 0;
}

static int parse_count(const struct parser *p, const struct key *key, const char *text, uint64_t *value)
{
    const char *rest = text;
    uint64_t factor = 1;
    int err = parse_digits(p, &rest, value);

    if (err)
        return err;
    if (key->takes_suffix)
        factor = suffix_factor(rest + strspn(rest, BLANKS));
    else if (*rest)
        factor = 0;
    if (!factor)
        return report(p, p->line, key->takes_suffix ? "neither a number nor one of KiB or MiB" : "not a whole number",
                      text);
    if (*value > key->max / factor)
        return report(p, p->line, "number too large", text);
    *value *= factor;
    if (!*value)
        return report(p, p->line, "must be at least 1", text);
    if (key->is_power && (*value & (*value - 1)))
        return report(p, p->line, "not a power of two", text);
    return 0;
}

static int set_count(const struct parser *p, const struct key *key, const char *text, void *member)
{
    uint64_t value = 0;
    int err = parse_count(p, key, text, &value);

    if (err)
        return err;
    if (key->bytes == sizeof(uint64_t))
        *(uint64_t *)member = value;
    else
        *(uint32_t *)member = (uint32_t)value; /* key->max fits */
    return 0;
}

static int set_cycles(const struct parser *p, const char *text, double *member)
{
    char *end;

    if (*text == '-')
        return report(p, p->line, "negative number", text);
    if (*text < '0' || *text > '9' || strspn(text, "0123456789.eE+-") != strlen(text))
        return report(p, p->line, "not a number", text);
    *member = strtod(text, &end);
    if (*end)
        return report(p, p->line, "not a number", text);
    if (!(*member <= MAX_LATENCY_CYCLES))
        return report(p, p->line, "number too large", text);
    return 0;
}

static int set_text(const struct parser *p, const struct key *key, const char *text, char *member)
{
    size_t length = strlen(text);
    char what[48];

    if (length >= key->bytes) {
        snprintf(what, sizeof what, "longer than %zu characters", key->bytes - 1);
        return report(p, p->line, what, text);
    }
    if (!strcmp(key->name, "policy") && !sim_policy_find(text))
        return report(p, p->line, "unknown policy", text);
    memcpy(member, text, length + 1);
    return 0;
}

static int set_value(struct parser *p, const struct key *key, const char *text)
{
    void *member = (char *)p->target + key->offset;

    switch (key->kind) {
    case COUNT:
        return set_count(p, key, text, member);
    case CYCLES:
        return set_cycles(p, text, member);
    case TEXT:
        break;
    }
    return set_text(p, key, text, member);
}

/* ---- sections ---- */

/* Turns size into sets, or checks that the given sets are not too many. */
static int settle_geometry(struct parser *p)
{
    struct sim_level *l = &p->draft.level;
    unsigned long size_line = p->key_line[KEY_SIZE];
    unsigned long sets_line = p->key_line[KEY_SETS];
    uint64_t set_bytes = (uint64_t)l->n_ways * l->line_bytes;
    char value[32];

    if (size_line && sets_line)
        return report(p, size_line > sets_line ? size_line : sets_line, "both size and sets are given", p->section);
    if (!size_line && !sets_line)
        return report(p, p->section_line, "missing key 'size' or 'sets'", p->section);
    snprintf(value, sizeof value, "%" PRIu64, size_line ? p->draft.size_bytes : l->n_sets);
    if (size_line && p->draft.size_bytes % set_bytes)
        return report(p, size_line, "size is not a multiple of ways * line", value);
    if (size_line)
        l->n_sets = p->draft.size_bytes / set_bytes;
    if (l->n_sets > SIM_MAX_LEVEL_LINES / l->n_ways)
        return report(p, size_line ? size_line : sets_line, "more lines than can be simulated", value);
    return 0;
}

/* Ends the section being read: nothing is missing, and its values agree. */
static int close_section(struct parser *p)
{
    char what[64];
    int err;

    for (size_t i = 0; p->keys && p->keys[i].name; i++) {
        if (p->key_line[i] || p->keys[i].is_optional)
            continue;
        snprintf(what, sizeof what, "missing key '%s'", p->keys[i].name);
        return report(p, p->section_line, what, p->section);
    }
    if (p->keys != cache_keys)
        return 0;
    err = settle_geometry(p);
    if (!err)
        p->machine.level[p->machine.n_levels++] = p->draft.level;
    return err;
}

static bool is_level_name(const char *name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t length = strlen(name);

    return length && length < sizeof((struct sim_level *)NULL)->name && strspn(name, allowed) == length;
}

static int open_machine(struct parser *p)
{
    if (p->has_machine)
        return report(p, p->line, "duplicate section", "[machine]");
    p->has_machine = true;
    p->keys = machine_keys;
    p->target = &p->machine;
    return 0;
}

static int open_cache(struct parser *p, const char *name, const char *header)
{
    if (!is_level_name(name))
        return report(p, p->line, "bad name of a cache", header);
    for (size_t i = 0; i < p->machine.n_levels; i++) {
        if (!strcmp(p->machine.level[i].name, name))
            return report(p, p->line, "duplicate section", header);
    }
    if (p->machine.n_levels == SIM_MAX_LEVELS)
        return report(p, p->line, "too many cache levels", header);
    p->draft = (struct draft){ .level.policy = "lru" };
    memcpy(p->draft.level.name, name, strlen(name) + 1);
    p->keys = cache_keys;
    p->target = &p->draft;
    return 0;
}

/* header: "[...]", blanks at both ends removed. */
static int open_section(struct parser *p, const char *header)
{
    static const char cache[] = "[cache";
    size_t length = strlen(header);
    char name[MAX_LINE_CHARS + 1];
    const char *start = header + sizeof cache - 1;
    int err = close_section(p);

    if (err)
        return err;
    if (header[length - 1] != ']')
        return report(p, p->line, "section header does not end with ']'", header);
    snprintf(p->section, sizeof p->section, "%s", header);
    p->section_line = p->line;
    memset(p->key_line, 0, sizeof p->key_line);
    if (!strcmp(header, "[machine]"))
        return open_machine(p);
    if (strncmp(header, cache, sizeof cache - 1) || !strchr(BLANKS "]", *start))
        return report(p, p->line, "unknown section", header);
    start += strspn(start, BLANKS);
    snprintf(name, sizeof name, "%.*s", (int)strlen(start) - 1, start);
    trim_end(name);
    return open_cache(p, name, header);
}

/* ---- lines ---- */

static int read_key(struct parser *p, char *text)
{
    char *equals = strchr(text, '=');
    char *value;

    if (!equals)
        return report(p, p->line, "neither a section nor 'key = value'", text);
    *equals = '\0';
    trim_end(text);
    value = equals + 1 + strspn(equals + 1, BLANKS);
    if (!p->keys)
        return report(p, p->line, "key outside any section", text);
    for (size_t i = 0; p->keys[i].name; i++) {
        if (strcmp(p->keys[i].name, text))
            continue;
        if (p->key_line[i])
            return report(p, p->line, "duplicate key", text);
        if (!*value)
            return report(p, p->line, "key without a value", text);
        p->key_line[i] = p->line;
        return set_value(p, &p->keys[i], value);
    }
    return report(p, p->line, "unknown key", text);
}

static int read_one(struct parser *p, char *text)
{
    char code[8];

    for (const char *c = text; *c; c++) {
        if (!is_control(*c))
            continue;
        snprintf(code, sizeof code, "0x%02x", (unsigned)*c & 0xff);
        return report(p, p->line, "control character", code);
    }
    text[strcspn(text, "#")] = '\0';
    trim_end(text);
    text += strspn(text, BLANKS);
    if (!*text)
        return 0;
    return *text == '[' ? open_section(p, text) : read_key(p, text);
}

/*
 * Reads the next line into text[MAX_LINE_CHARS + 1], without its end. Returns 1, 0 at the end of the file, or -errno.
 */
static int next_line(struct parser *p, FILE *in, char *text)
{
    size_t n = 0;
    int c;

    errno = 0;
    while ((c = getc(in)) != EOF && c != '\n') {
        text[n] = '\0';
        if (n == MAX_LINE_CHARS) {
            text[40] = '\0';
            return report(p, p->line + 1, "line is too long", text);
        }
        if (!c)
            return report(p, p->line + 1, "control character", "0x00");
        text[n++] = (char)c;
    }
    if (ferror(in))
        return report_file(p, "cannot read", errno ? errno : EIO);
    if (c == EOF && !n)
        return 0;
    p->line++;
    if (n && text[n - 1] == '\r')
        n--;
    text[n] = '\0';
    return 1;
}

static int parse_file(struct parser *p, FILE *in)
{
    char text[MAX_LINE_CHARS + 1];
    int err;

    while ((err = next_line(p, in, text)) > 0) {
        err = read_one(p, text);
        if (err)
            return err;
    }
    if (err)
        return err;
    if (!p->line)
        return report(p, 1, "file is empty", "");
    err = close_section(p);
    if (err)
        return err;
    if (!p->has_machine)
        return report(p, p->line, "missing section", "[machine]");
    if (!p->machine.n_levels)
        return report(p, p->line, "missing section", "[cache NAME]");
    return 0;
}

int sim_machine_read(struct sim_machine *m, const char *path, char *why, size_t why_bytes)
{
    struct parser p = { .path = path, .why = why, .why_bytes = why_bytes };
    FILE *in = fopen(path, "r");
    int err;

    *m = (struct sim_machine){ 0 };
    if (!in)
        return report_file(&p, "cannot open", errno);
    err = parse_file(&p, in);
    fclose(in);
    if (!err)
        *m = p.machine;
    return err;
}

/* ---- checks and printing ---- */

/* What is wrong with a level, or NULL. */
static const char *level_fault(const struct sim_level *l)
{
    if (!l->n_sets || !l->n_ways)
        return "no sets or no ways";
    if (l->n_ways > SIM_MAX_LEVEL_LINES || l->n_sets > SIM_MAX_LEVEL_LINES / l->n_ways)
        return "more lines than can be simulated";
    if (!l->line_bytes || l->line_bytes & (l->line_bytes - 1))
        return "line is not a power of two";
    if (l->line_bytes > SIM_MAX_LINE_BYTES)
        return "line is too large";
    if (!(l->latency_cycles >= 0 && l->latency_cycles <= MAX_LATENCY_CYCLES))
        return "latency is out of range";
    if (!memchr(l->policy, '\0', sizeof l->policy) || !sim_policy_find(l->policy))
        return "unknown policy";
    return NULL;
}

int sim_machine_validate(const struct sim_machine *m, char *why, size_t why_bytes)
{
    if (!m->n_levels || m->n_levels > SIM_MAX_LEVELS) {
        snprintf(why, why_bytes, "number of cache levels must be 1..%d, '%zu'", SIM_MAX_LEVELS, m->n_levels);
        return -EINVAL;
    }
    for (size_t k = 0; k < m->n_levels; k++) {
        const struct sim_level *l = &m->level[k];
        const char *fault = level_fault(l);

        if (!fault)
            continue;
        snprintf(why, why_bytes,
                 "cache level %zu: %s, 'sets %" PRIu64 ", ways %" PRIu32 ", line %" PRIu32 ", latency %g, policy %.*s'",
                 k + 1, fault, l->n_sets, l->n_ways, l->line_bytes, l->latency_cycles, (int)sizeof l->policy,
                 l->policy);
        return -EINVAL;
    }
    if (!(m->memory_latency_cycles >= 0 && m->memory_latency_cycles <= MAX_LATENCY_CYCLES)) {
        snprintf(why, why_bytes, "memory latency is out of range, '%g'", m->memory_latency_cycles);
        return -EINVAL;
    }
    return 0;
}

/* Could the text be read back from a file? text[bytes] need not end. */
static bool is_printable(const char *text, size_t bytes)
{
    size_t length = strnlen(text, bytes);

    if (length == bytes || (length && (strchr(BLANKS, text[0]) || strchr(BLANKS, text[length - 1]))))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (is_control(text[i]) || text[i] == '#')
            return false;
    }
    return true;
}

static bool can_print(const struct sim_machine *m)
{
    for (const struct key *key = machine_keys; key->name; key++) {
        const char *text = (const char *)m + key->offset;

        if (key->kind == TEXT && (!is_printable(text, key->bytes) || (!*text && !key->is_optional)))
            return false;
    }
    for (size_t k = 0; k < m->n_levels; k++) {
        if (!memchr(m->level[k].name, '\0', sizeof m->level[k].name) || !is_level_name(m->level[k].name))
            return false;
        for (size_t i = 0; i < k; i++) {
            if (!strcmp(m->level[i].name, m->level[k].name))
                return false;
        }
    }
    return !sim_machine_validate(m, NULL, 0);
}

/* In as few digits as bring the same number back, but without an exponent where 15 will do. */
static void print_cycles(FILE *out, const char *name, double cycles)
{
    char text[32];
    int digits = 15;

    do
        snprintf(text, sizeof text, "%.*g", digits, cycles);
    while (strtod(text, NULL) != cycles && ++digits <= 17);
    fprintf(out, "%s = %s\n", name, text);
}

static void print_bytes(FILE *out, const char *name, uint64_t bytes)
{
    if (bytes % (1 << 20) == 0)
        fprintf(out, "%s = %" PRIu64 " MiB\n", name, bytes >> 20);
    else if (bytes % (1 << 10) == 0)
        fprintf(out, "%s = %" PRIu64 " KiB\n", name, bytes >> 10);
    else
        fprintf(out, "%s = %" PRIu64 "\n", name, bytes);
}

static void print_level(FILE *out, const struct sim_level *l)
{
    fprintf(out, "\n[cache %s]\n", l->name);
    print_bytes(out, "size", sim_level_bytes(l));
    fprintf(out, "ways = %" PRIu32 "\n", l->n_ways);
    print_bytes(out, "line", l->line_bytes);
    print_cycles(out, "latency_cycles", l->latency_cycles);
    fprintf(out, "policy = %s\n", l->policy);
}

int sim_machine_print(const struct sim_machine *m, FILE *out)
{
    if (!can_print(m))
        return -EINVAL;
    fprintf(out, "[machine]\n");
    for (const struct key *key = machine_keys; key->name; key++) {
        const char *text = (const char *)m + key->offset;

        if (key->kind == TEXT && *text)
            fprintf(out, "%s = %s\n", key->name, text);
    }
    print_cycles(out, "memory_latency_cycles", m->memory_latency_cycles);
    for (size_t k = 0; k < m->n_levels; k++)
        print_level(out, &m->level[k]);
    return fflush(out) || ferror(out) ? -EIO : 0;
}
