/*
 * Machine files: a line reader, tables of the keys that each kind of section takes, and the checks.
 *
 * Values are checked where they stand, so that a message names their line; what needs several values (size against
 * ways and line, a level against those inside it) is checked when the section ends.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine.h"
#include "sim/replacement.h"

enum {
    MAX_KEYS = 24,
    MAX_LINE_CHARS = 511,
};

#define MAX_LATENCY_CYCLES 1e9
#define MAX_BYTES_PER_CYCLE 1e6
#define BLANKS " \t"

enum value_kind {
    TEXT,
    COUNT,  /* a whole number from 1; with a KiB or MiB suffix where takes_suffix */
    NUMBER, /* a whole number from 0, 64 bits */
    CYCLES,
    BANDWIDTH, /* more than 0 */
    CHOICE,    /* one of several words, stored as its place among them in an uint8_t or a bool */
    PREFETCH,
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
    uint64_t min;              /* of a COUNT; 0: 1 */
    const char *const *choice; /* of a CHOICE: what it may be, the default first, NULL last */
};

/* What a [cache NAME] section fills. */
struct draft {
    struct sim_level level;
    uint64_t size_bytes; /* 0: sets were given */
    uint8_t hash;
};

static const char *const inclusions[] = { "noninclusive", "inclusive", "exclusive", NULL };
static const char *const writes[] = { "back", "through", NULL };
static const char *const allocations[] = { "yes", "no", NULL };
static const char *const store_fetches[] = { "always", "partial", NULL };
static const char *const indexings[] = { "virtual", "physical", NULL };
static const char *const hashes[] = { "xor-fold", NULL };
static const char *const classes[] = { "none", "3c", NULL };
static const char *const no_yes[] = { "no", "yes", NULL };

#define MEMBER(type, m) .offset = offsetof(type, m), .bytes = sizeof((type *)NULL)->m

static const struct key machine_keys[] = {
    { "name", TEXT, MEMBER(struct sim_machine, name) },
    { "description", TEXT, MEMBER(struct sim_machine, description), .is_optional = true },
    { "ukr", TEXT, MEMBER(struct sim_machine, ukr), .is_optional = true },
    { "gemm_core", TEXT, MEMBER(struct sim_machine, gemm_core), .is_optional = true },
    { "memory_latency_cycles", CYCLES, MEMBER(struct sim_machine, memory_latency_cycles) },
    { "memory_bandwidth_bytes_per_cycle", BANDWIDTH, MEMBER(struct sim_machine, memory_bandwidth_bytes_per_cycle),
      .is_optional = true },
    { "page", COUNT, MEMBER(struct sim_machine, page_bytes), .max = SIM_MAX_PAGE_BYTES, .takes_suffix = true,
      .is_power = true, .is_optional = true, .min = SIM_MIN_PAGE_BYTES },
    { "page_seed", NUMBER, MEMBER(struct sim_machine, page_seed), .is_optional = true },
    { "combining_buffers", COUNT, MEMBER(struct sim_machine, combining_buffers), .max = SIM_MAX_COMBINING_BUFFERS,
      .is_optional = true },
    { "software_prefetch", CHOICE, MEMBER(struct sim_machine, has_software_prefetch), .is_optional = true,
      .choice = no_yes },
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
    { "seed", NUMBER, MEMBER(struct draft, level.seed), .is_optional = true },
    { "inclusion", CHOICE, MEMBER(struct draft, level.inclusion), .is_optional = true, .choice = inclusions },
    { "write", CHOICE, MEMBER(struct draft, level.is_write_through), .is_optional = true, .choice = writes },
    { "allocate", CHOICE, MEMBER(struct draft, level.no_write_allocate), .is_optional = true, .choice = allocations },
    { "store_fetch", CHOICE, MEMBER(struct draft, level.no_full_store_fetch), .is_optional = true,
      .choice = store_fetches },
    { "prefetch", PREFETCH, MEMBER(struct draft, level.prefetch), .is_optional = true },
    { "indexing", CHOICE, MEMBER(struct draft, level.is_physically_indexed), .is_optional = true, .choice = indexings },
    { "slices", COUNT, MEMBER(struct draft, level.n_slices), .max = SIM_MAX_LEVEL_LINES, .is_power = true,
      .is_optional = true },
    { "hash", CHOICE, MEMBER(struct draft, hash), .is_optional = true, .choice = hashes },
    { "classify", CHOICE, MEMBER(struct draft, level.is_classified), .is_optional = true, .choice = classes },
    { "bandwidth_bytes_per_cycle", BANDWIDTH, MEMBER(struct draft, level.bandwidth_bytes_per_cycle),
      .is_optional = true },
    { .name = NULL },
};

static const struct key tlb_keys[] = {
    { "entries", COUNT, MEMBER(struct sim_tlb, n_entries), .max = 1 << 20 },
    { "ways", COUNT, MEMBER(struct sim_tlb, n_ways), .max = 1 << 20, .is_optional = true },
    { .name = NULL },
};

struct prefetch_kind {
    const char *name;
    struct sim_prefetch usual; /* what its parameters are if not given; a distance of 0: it takes none */
};

static const struct prefetch_kind prefetch_kinds[] = {
    { "next_line", { SIM_PREFETCH_NEXT_LINE, 1, 0 } },
    { "stream", { SIM_PREFETCH_STREAM, 2, 8 } },
    { "stride", { SIM_PREFETCH_STRIDE, 1, 1 } },
};

enum { N_PREFETCH_KINDS = sizeof prefetch_kinds / sizeof prefetch_kinds[0] };

_Static_assert(sizeof machine_keys / sizeof machine_keys[0] <= MAX_KEYS + 1, "key_line[] is too short");
_Static_assert(sizeof cache_keys / sizeof cache_keys[0] <= MAX_KEYS + 1, "key_line[] is too short");

struct parser {
    const char *path;
    char *why;
    size_t why_bytes;
    unsigned long line;
    struct sim_machine machine;
    struct draft draft;
    struct sim_tlb tlb;
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
    char what[48];
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
    if (*value < (key->min ? key->min : 1)) {
        snprintf(what, sizeof what, "must be at least %" PRIu64, key->min ? key->min : 1);
        return report(p, p->line, what, text);
    }
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

static int set_number(const struct parser *p, const char *text, uint64_t *member)
{
    const char *rest = text;
    int err = parse_digits(p, &rest, member);

    return !err && *rest ? report(p, p->line, "not a whole number", text) : err;
}

static int set_real(const struct parser *p, const char *text, double max, double *member)
{
    char *end;

    if (*text == '-')
        return report(p, p->line, "negative number", text);
    if (*text < '0' || *text > '9' || strspn(text, "0123456789.eE+-") != strlen(text))
        return report(p, p->line, "not a number", text);
    *member = strtod(text, &end);
    if (*end)
        return report(p, p->line, "not a number", text);
    if (!(*member <= max))
        return report(p, p->line, "number too large", text);
    return 0;
}

static int set_bandwidth(const struct parser *p, const char *text, double *member)
{
    int err = set_real(p, text, MAX_BYTES_PER_CYCLE, member);

    return !err && !(*member > 0) ? report(p, p->line, "must be more than 0", text) : err;
}

/* "expected a, b or c" */
static int report_choice(const struct parser *p, const char *const *choice, const char *text)
{
    char what[96] = "expected ";
    size_t n = strlen(what);

    for (size_t i = 0; choice[i]; i++)
        n += (size_t)snprintf(what + n, sizeof what - n, "%s%s", !i ? "" : choice[i + 1] ? ", " : " or ", choice[i]);
    return report(p, p->line, what, text);
}

static int set_choice(const struct parser *p, const struct key *key, const char *text, void *member)
{
    uint8_t place = 0;

    while (key->choice[place] && strcmp(key->choice[place], text))
        place++;
    if (!key->choice[place])
        return report_choice(p, key->choice, text);
    memcpy(member, &place, sizeof place); /* a bool's choices are two */
    return 0;
}

/* One "name=number" of a prefetcher; text is the whole word, for messages. */
static int set_prefetch_number(const struct parser *p, const struct prefetch_kind *kind, const char *text,
                               struct sim_prefetch *to)
{
    bool is_distance = !strncmp(text, "distance=", 9);
    uint64_t value = 0, max = is_distance ? SIM_MAX_PREFETCH_DISTANCE : SIM_MAX_PREFETCH_LINES;
    const char *rest = strchr(text, '=');
    int err;

    if ((!is_distance && strncmp(text, "degree=", 7)) || (is_distance && !kind->usual.distance))
        return report(p, p->line, "not a parameter of this prefetcher", text);
    rest++;
    err = parse_digits(p, &rest, &value);
    if (err)
        return err;
    if (*rest || !value || value > max)
        return report(p, p->line, is_distance ? "distance must be 1..64" : "degree must be 1..16", text);
    *(is_distance ? &to->distance : &to->degree) = (uint8_t)value;
    return 0;
}

/* One "kind [degree=N] [distance=N]", which is taken apart. */
static int set_prefetcher(const struct parser *p, char *text, struct sim_prefetch *list)
{
    char *state = NULL;
    const char *word = strtok_r(text, BLANKS, &state);
    size_t kind = 0, place = 0;
    int err = 0;

    while (word && kind < N_PREFETCH_KINDS && strcmp(prefetch_kinds[kind].name, word))
        kind++;
    if (!word || kind == N_PREFETCH_KINDS)
        return report(p, p->line, "expected none, next_line, stream or stride", word ? word : "");
    for (; place < SIM_MAX_PREFETCHERS && list[place].kind; place++) {
        if (list[place].kind == prefetch_kinds[kind].usual.kind)
            return report(p, p->line, "duplicate prefetcher", word);
    }
    list[place] = prefetch_kinds[kind].usual;
    while (!err && (word = strtok_r(NULL, BLANKS, &state)))
        err = set_prefetch_number(p, &prefetch_kinds[kind], word, &list[place]);
    return err;
}

static int set_prefetch(const struct parser *p, const char *text, struct sim_prefetch *list)
{
    char copy[MAX_LINE_CHARS + 1];
    char *rest = copy;
    int err = 0;

    if (!strcmp(text, "none"))
        return 0;
    snprintf(copy, sizeof copy, "%s", text);
    while (!err && rest) {
        char *comma = strchr(rest, ',');

        if (comma)
            *comma = '\0';
        err = set_prefetcher(p, rest, list);
        rest = comma ? comma + 1 : NULL;
    }
    return err;
}

static int set_text(const struct parser *p, const struct key *key, const char *text, char *member)
{
    size_t length = strlen(text);
    char what[48];

    if (length >= key->bytes) {
        snprintf(what, sizeof what, "longer than %zu characters", key->bytes - 1);
        return report(p, p->line, what, text);
    }
    if (!strcmp(key->name, "policy") && !sim_replacement_find(text))
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
    case NUMBER:
        return set_number(p, text, member);
    case CYCLES:
        return set_real(p, text, MAX_LATENCY_CYCLES, member);
    case BANDWIDTH:
        return set_bandwidth(p, text, member);
    case CHOICE:
        return set_choice(p, key, text, member);
    case PREFETCH:
        return set_prefetch(p, text, member);
    case TEXT:
        break;
    }
    return set_text(p, key, text, member);
}

/* ---- sections ---- */

/* What is wrong with a level, and at which key of its section. */
struct fault {
    const char *what; /* NULL: nothing */
    const char *key;
};

#define FAULT(what, key) ((struct fault){ what, key })

/* What level k cannot be because of itself and the page size. */
static struct fault own_fault(const struct sim_machine *m, size_t k)
{
    const struct sim_level *l = &m->level[k];
    uint32_t slices = l->n_slices ? l->n_slices : 1;
    const struct sim_replacement *policy = sim_replacement_find(l->policy);

    if (policy->needs_power_of_two_ways && (l->n_ways & (l->n_ways - 1)))
        return FAULT("tree-plru needs a power of two ways", "ways");
    if (slices & (slices - 1) || l->n_sets % slices)
        return FAULT("the sets cannot be divided into that many slices", "slices");
    if (l->is_physically_indexed && l->line_bytes > sim_machine_page_bytes(m))
        return FAULT("a physically indexed line is larger than a page", "indexing");
    if (l->inclusion && !k)
        return FAULT("the first level has none inside to include or exclude", "inclusion");
    if (l->inclusion == SIM_EXCLUSIVE && l->no_write_allocate)
        return FAULT("an exclusive level takes every eviction, it cannot be without allocation", "allocate");
    if (l->inclusion == SIM_EXCLUSIVE && l->prefetch[0].kind)
        return FAULT("an exclusive level is filled by evictions only, it cannot prefetch", "prefetch");
    return FAULT(NULL, NULL);
}

/* What level k cannot be because of the levels inside it. */
static struct fault inclusion_fault(const struct sim_machine *m, size_t k)
{
    const struct sim_level *l = &m->level[k];

    if (l->inclusion == SIM_EXCLUSIVE && l->line_bytes != m->level[k - 1].line_bytes)
        return FAULT("an exclusive level needs the line size of the level inside", "inclusion");
    for (size_t j = 0; l->inclusion == SIM_INCLUSIVE && j < k; j++) {
        if (m->level[j].line_bytes > l->line_bytes)
            return FAULT("an inclusive level's lines are smaller than those of a level inside", "inclusion");
        if (m->level[j].no_full_store_fetch)
            return FAULT("an inclusive level outside one with store_fetch = partial, which fills behind its back",
                         "inclusion");
    }
    return FAULT(NULL, NULL);
}

static struct fault level_fault(const struct sim_machine *m, size_t k)
{
    struct fault f = own_fault(m, k);

    return f.what ? f : inclusion_fault(m, k);
}

/* Reports what is wrong with the level just read, at the line of the key to blame. */
static int check_level(const struct parser *p)
{
    struct fault f = level_fault(&p->machine, p->machine.n_levels - 1);

    if (!f.what)
        return 0;
    for (size_t i = 0; cache_keys[i].name; i++) {
        if (!strcmp(cache_keys[i].name, f.key) && p->key_line[i])
            return report(p, p->key_line[i], f.what, p->section);
    }
    return report(p, p->section_line, f.what, p->section);
}

/* Ends a [tlb NAME]. */
static int close_tlb(struct parser *p)
{
    struct sim_tlb *t = &p->tlb;

    if (!t->n_ways)
        t->n_ways = t->n_entries;
    if (t->n_entries % t->n_ways)
        return report(p, p->key_line[1], "entries is not a multiple of ways", p->section);
    p->machine.tlb[p->machine.n_tlbs++] = *t;
    return 0;
}

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
    if (p->keys == tlb_keys)
        return close_tlb(p);
    if (p->keys != cache_keys)
        return 0;
    err = settle_geometry(p);
    if (err)
        return err;
    p->machine.level[p->machine.n_levels++] = p->draft.level;
    return check_level(p);
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

static int open_tlb(struct parser *p, const char *name, const char *header)
{
    if (!is_level_name(name))
        return report(p, p->line, "bad name of a TLB", header);
    for (size_t i = 0; i < p->machine.n_tlbs; i++) {
        if (!strcmp(p->machine.tlb[i].name, name))
            return report(p, p->line, "duplicate section", header);
    }
    if (p->machine.n_tlbs == SIM_MAX_TLBS)
        return report(p, p->line, "too many TLBs", header);
    p->tlb = (struct sim_tlb){ 0 };
    memcpy(p->tlb.name, name, strlen(name) + 1);
    p->keys = tlb_keys;
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
    char name[MAX_LINE_CHARS + 1];
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
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        const char *start = header + strlen(named[i].start);

        if (strncmp(header, named[i].start, strlen(named[i].start)) || !strchr(BLANKS "]", *start))
            continue;
        start += strspn(start, BLANKS);
        snprintf(name, sizeof name, "%.*s", (int)strlen(start) - 1, start);
        trim_end(name);
        return named[i].open(p, name, header);
    }
    return report(p, p->line, "unknown section", header);
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

/* What is wrong with the numbers that every level has, or NULL. */
static const char *geometry_fault(const struct sim_level *l)
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
    if (!(l->bandwidth_bytes_per_cycle >= 0 && l->bandwidth_bytes_per_cycle <= MAX_BYTES_PER_CYCLE))
        return "bandwidth is out of range";
    if (!memchr(l->policy, '\0', sizeof l->policy) || !sim_replacement_find(l->policy))
        return "unknown policy";
    if (l->inclusion > SIM_EXCLUSIVE)
        return "unknown inclusion";
    return NULL;
}

static const char *prefetch_fault(const struct sim_prefetch *list)
{
    for (size_t i = 0; i < SIM_MAX_PREFETCHERS && list[i].kind; i++) {
        const struct sim_prefetch *f = &list[i];

        if (f->kind > N_PREFETCH_KINDS)
            return "unknown prefetcher";
        if (!f->degree || f->degree > SIM_MAX_PREFETCH_LINES)
            return "degree of a prefetcher is out of range";
        if (!f->distance != !prefetch_kinds[f->kind - 1].usual.distance || f->distance > SIM_MAX_PREFETCH_DISTANCE)
            return "distance of a prefetcher is out of range";
        for (size_t j = 0; j < i; j++) {
            if (list[j].kind == f->kind)
                return "duplicate prefetcher";
        }
    }
    return NULL;
}

/* The first fault of any level; *k is which. */
static const char *find_level_fault(const struct sim_machine *m, size_t *k)
{
    for (*k = 0; *k < m->n_levels; ++*k) {
        const char *what = geometry_fault(&m->level[*k]);

        if (!what)
            what = prefetch_fault(m->level[*k].prefetch);
        if (!what)
            what = level_fault(m, *k).what;
        if (what)
            return what;
    }
    return NULL;
}

/* What is wrong beside the levels, or NULL. */
static const char *machine_fault(const struct sim_machine *m)
{
    uint64_t page = sim_machine_page_bytes(m);

    if (!(m->memory_latency_cycles >= 0 && m->memory_latency_cycles <= MAX_LATENCY_CYCLES))
        return "memory latency is out of range";
    if (!(m->memory_bandwidth_bytes_per_cycle >= 0 && m->memory_bandwidth_bytes_per_cycle <= MAX_BYTES_PER_CYCLE))
        return "memory bandwidth is out of range";
    if (page < SIM_MIN_PAGE_BYTES || page > SIM_MAX_PAGE_BYTES || page & (page - 1))
        return "page is not a power of two from 4 KiB to 1 GiB";
    if (m->combining_buffers > SIM_MAX_COMBINING_BUFFERS)
        return "too many combining buffers";
    if (m->n_tlbs > SIM_MAX_TLBS)
        return "too many TLBs";
    for (size_t i = 0; i < m->n_tlbs; i++) {
        if (!m->tlb[i].n_ways || !m->tlb[i].n_entries || m->tlb[i].n_entries % m->tlb[i].n_ways ||
            m->tlb[i].n_entries > 1 << 20)
            return "entries of a TLB are not a multiple of its ways in 1..1048576";
    }
    return NULL;
}

int sim_machine_validate(const struct sim_machine *m, char *why, size_t why_bytes)
{
    const char *fault = machine_fault(m);
    size_t k;

    if (!m->n_levels || m->n_levels > SIM_MAX_LEVELS) {
        snprintf(why, why_bytes, "number of cache levels must be 1..%d, '%zu'", SIM_MAX_LEVELS, m->n_levels);
        return -EINVAL;
    }
    if (fault) {
        snprintf(why, why_bytes, "%s, 'latency %g, bandwidth %g, page %" PRIu64 ", combining buffers %" PRIu32 "'",
                 fault, m->memory_latency_cycles, m->memory_bandwidth_bytes_per_cycle, m->page_bytes,
                 m->combining_buffers);
        return -EINVAL;
    }
    fault = find_level_fault(m, &k);
    if (fault) {
        const struct sim_level *l = &m->level[k];

        snprintf(why, why_bytes,
                 "cache level %zu: %s, 'sets %" PRIu64 ", ways %" PRIu32 ", line %" PRIu32 ", latency %g, policy %.*s'",
                 k + 1, fault, l->n_sets, l->n_ways, l->line_bytes, l->latency_cycles, (int)sizeof l->policy,
                 l->policy);
        return -EINVAL;
    }
    return 0;
}

static bool is_plain_level(const struct sim_level *l)
{
    return !strcmp(l->policy, "lru") && l->n_slices <= 1 && !l->inclusion && !l->is_write_through &&
           !l->no_write_allocate && !l->no_full_store_fetch && !l->is_physically_indexed && !l->is_classified &&
           !l->prefetch[0].kind;
}

bool sim_machine_is_plain(const struct sim_machine *m)
{
    for (size_t k = 0; k < m->n_levels; k++) {
        if (!is_plain_level(&m->level[k]))
            return false;
    }
    return !m->combining_buffers && !m->has_software_prefetch && !m->n_tlbs;
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

static bool can_print_tlbs(const struct sim_machine *m)
{
    for (size_t i = 0; i < m->n_tlbs; i++) {
        if (!memchr(m->tlb[i].name, '\0', sizeof m->tlb[i].name) || !is_level_name(m->tlb[i].name))
            return false;
    }
    return m->n_tlbs < 2 || strcmp(m->tlb[0].name, m->tlb[1].name);
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
    return !sim_machine_validate(m, NULL, 0) && can_print_tlbs(m);
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

static void print_prefetch(FILE *out, const struct sim_prefetch *list)
{
    for (size_t i = 0; i < SIM_MAX_PREFETCHERS && list[i].kind; i++) {
        fprintf(out, "%s%s degree=%u", i ? ", " : "prefetch = ", prefetch_kinds[list[i].kind - 1].name,
                (unsigned)list[i].degree);
        if (list[i].distance)
            fprintf(out, " distance=%u", (unsigned)list[i].distance);
    }
    if (list[0].kind)
        fprintf(out, "\n");
}

/* A key with a choice, unless it has its default. */
static void print_choice(FILE *out, const struct key *key, const void *from)
{
    uint8_t place;

    memcpy(&place, (const char *)from + key->offset, sizeof place);
    if (place)
        fprintf(out, "%s = %s\n", key->name, key->choice[place]);
}

static void print_choices(FILE *out, const struct key *keys, const void *from)
{
    for (const struct key *key = keys; key->name; key++) {
        if (key->kind == CHOICE)
            print_choice(out, key, from);
    }
}

static void print_level(FILE *out, const struct sim_level *l)
{
    const struct draft draft = { .level = *l };

    fprintf(out, "\n[cache %s]\n", l->name);
    print_bytes(out, "size", sim_level_bytes(l));
    fprintf(out, "ways = %" PRIu32 "\n", l->n_ways);
    print_bytes(out, "line", l->line_bytes);
    print_cycles(out, "latency_cycles", l->latency_cycles);
    fprintf(out, "policy = %s\n", l->policy);
    if (l->seed)
        fprintf(out, "seed = %" PRIu64 "\n", l->seed);
    if (l->n_slices)
        fprintf(out, "slices = %" PRIu32 "\n", l->n_slices);
    if (l->bandwidth_bytes_per_cycle > 0)
        print_cycles(out, "bandwidth_bytes_per_cycle", l->bandwidth_bytes_per_cycle);
    print_choices(out, cache_keys, &draft);
    print_prefetch(out, l->prefetch);
}

/* What [machine] has beyond texts and the latency. */
static void print_options(FILE *out, const struct sim_machine *m)
{
    if (m->memory_bandwidth_bytes_per_cycle > 0)
        print_cycles(out, "memory_bandwidth_bytes_per_cycle", m->memory_bandwidth_bytes_per_cycle);
    if (m->page_bytes)
        print_bytes(out, "page", m->page_bytes);
    if (m->page_seed)
        fprintf(out, "page_seed = %" PRIu64 "\n", m->page_seed);
    if (m->combining_buffers)
        fprintf(out, "combining_buffers = %" PRIu32 "\n", m->combining_buffers);
    print_choices(out, machine_keys, m);
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
    print_options(out, m);
    for (size_t k = 0; k < m->n_levels; k++)
        print_level(out, &m->level[k]);
    for (size_t i = 0; i < m->n_tlbs; i++)
        fprintf(out, "\n[tlb %s]\nentries = %" PRIu32 "\nways = %" PRIu32 "\n", m->tlb[i].name, m->tlb[i].n_entries,
                m->tlb[i].n_ways);
    return fflush(out) || ferror(out) ? -EIO : 0;
}
