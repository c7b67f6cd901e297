/* Checks and stores the values of keys. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/machine_values.h"
#include "sim/machine/machine_words.h"
#include "sim/prefetch/prefetch.h"
#include "sim/replacement/replacement.h"

int sim_place_report(const struct sim_place *at, const char *what, const char *value)
{
    return sim_fail(at->why, -EINVAL, "%s:%lu: %s, '%s%s%s'", at->path, at->line, what, at->key ? at->key : "",
                    at->key ? " = " : "", value);
}

/* ---- numbers ---- */

static int parse_digits(const struct sim_place *at, const char **text, uint64_t *value)
{
    const char *c = *text;

    if (*c == '-')
        return sim_place_report(at, "negative number", *text);
    if (*c < '0' || *c > '9')
        return sim_place_report(at, "not a whole number", *text);
    for (*value = 0; *c >= '0' && *c <= '9'; c++) {
        uint64_t digit = (uint64_t)(*c - '0');

        if (*value > (UINT64_MAX - digit) / 10)
            return sim_place_report(at, "number too large", *text);
        *value = *value * 10 + digit;
    }
    *text = c;
    return 0;
}

static int report_too_large(const struct sim_place *at, uint64_t most, const char *text)
{
    char what[64];

    snprintf(what, sizeof what, "number too large, at most %" PRIu64, most);
    return sim_place_report(at, what, text);
}

static int parse_count(const struct sim_place *at, const struct sim_key *key, const char *text, uint64_t *value)
{
    const char *rest = text;
    uint64_t factor = 1;
    char what[48];
    int err = parse_digits(at, &rest, value);

    if (err)
        return err;
    if (key->takes_suffix)
        factor = sim_size_unit(rest + strspn(rest, SIM_BLANKS));
    else if (*rest)
        factor = 0;
    if (!factor)
        return sim_place_report(at, key->takes_suffix ? SIM_SIZE_RULE : "not a whole number", text);
    if (*value > key->max / factor)
        return report_too_large(at, key->max, text);
    *value *= factor;
    if (*value < (key->min ? key->min : 1)) {
        snprintf(what, sizeof what, "must be at least %" PRIu64, key->min ? key->min : 1);
        return sim_place_report(at, what, text);
    }
    if (key->is_power && (*value & (*value - 1)))
        return sim_place_report(at, "not a power of two", text);
    return 0;
}

static int set_count(const struct sim_place *at, const struct sim_key *key, const char *text, void *member)
{
    uint64_t value = 0;
    int err = parse_count(at, key, text, &value);

    if (err)
        return err;
    if (key->bytes == sizeof(uint64_t))
        *(uint64_t *)member = value;
    else
        *(uint32_t *)member = (uint32_t)value; /* key->max fits */
    return 0;
}

static int set_number(const struct sim_place *at, const char *text, uint64_t *member)
{
    const char *rest = text;
    int err = parse_digits(at, &rest, member);

    return !err && *rest ? sim_place_report(at, "not a whole number", text) : err;
}

static int set_real(const struct sim_place *at, const char *text, double max, double *member)
{
    char *end;

    if (*text == '-')
        return sim_place_report(at, "negative number", text);
    if (*text < '0' || *text > '9' || strspn(text, "0123456789.eE+-") != strlen(text))
        return sim_place_report(at, "not a number", text);
    *member = strtod(text, &end);
    if (*end)
        return sim_place_report(at, "not a number", text);
    if (!(*member <= max))
        return report_too_large(at, (uint64_t)max, text);
    return 0;
}

static int set_bandwidth(const struct sim_place *at, const char *text, double *member)
{
    int err = set_real(at, text, SIM_MAX_BYTES_PER_CYCLE, member);

    if (err || *member >= SIM_MIN_BYTES_PER_CYCLE)
        return err;
    return sim_place_report(at, *member > 0 ? "must be at least 1e-06" : "must be more than 0", text);
}

/* ---- words ---- */

/* "expected a, b or c" */
static int report_choice(const struct sim_place *at, const char *const *choice, const char *text)
{
    char what[96] = "expected ";
    size_t n = strlen(what);

    for (size_t i = 0; choice[i]; i++)
        n += (size_t)snprintf(what + n, sizeof what - n, "%s%s", !i ? "" : choice[i + 1] ? ", " : " or ", choice[i]);
    return sim_place_report(at, what, text);
}

static int set_choice(const struct sim_place *at, const struct sim_key *key, const char *text, void *member)
{
    uint8_t place = 0;

    while (key->choice[place] && strcmp(key->choice[place], text))
        place++;
    if (!key->choice[place])
        return report_choice(at, key->choice, text);
    memcpy(member, &place, sizeof place); /* a bool's choices are two */
    return 0;
}

/* ---- lists of prefetchers ---- */

/* Returns the parameter whose name begins a word, if the prefetcher's kind has the parameter. */
static const struct sim_prefetch_param *find_param(const struct sim_prefetch *of, const char *word)
{
    size_t length = strcspn(word, "=");

    for (const struct sim_prefetch_param *p = sim_prefetch_params; p->name; p++) {
        if (word[length] && strlen(p->name) == length && !strncmp(p->name, word, length))
            return sim_prefetchers[of->kind]->takes & p->bit ? p : NULL;
    }
    return NULL;
}

/* Reads the value behind '=': a word of the parameter, as its index from 1, or a number. */
static int parse_prefetch_value(const struct sim_place *at, const struct sim_prefetch_param *p, const char *text,
                                uint64_t *value)
{
    const char *rest = strchr(text, '=') + 1;
    int err = 0;

    *value = 0;
    if (!p->word) {
        err = parse_digits(at, &rest, value);
        return !err && *rest ? sim_place_report(at, p->rule, text) : err;
    }
    for (uint64_t i = 0; p->word[i]; i++) {
        if (!strcmp(p->word[i], rest))
            *value = i + 1;
    }
    return 0;
}

/* Sets "name=value" of a prefetcher; text is the whole word, for messages. */
static int set_prefetch_param(const struct sim_place *at, const char *text, struct sim_prefetch *to)
{
    const struct sim_prefetch_param *p = find_param(to, text);
    uint64_t value;
    int err;

    if (!p)
        return sim_place_report(at, "not a parameter of this prefetcher", text);
    err = parse_prefetch_value(at, p, text, &value);
    if (!err && (!value || value > p->max))
        err = sim_place_report(at, p->rule, text);
    if (!err)
        *((uint8_t *)to + p->offset) = (uint8_t)value;
    return err;
}

/* "expected none, next_line, ... or region" */
static int report_prefetcher(const struct sim_place *at, const char *word)
{
    const char *choice[SIM_PREFETCH_KINDS_END + 1] = { "none" };

    for (size_t kind = 1; kind < SIM_PREFETCH_KINDS_END; kind++)
        choice[kind] = sim_prefetchers[kind]->name;
    return report_choice(at, choice, word);
}

/* Sets a prefetcher from "kind [name=value]...", which the function cuts up. */
static int set_prefetcher(const struct sim_place *at, char *text, struct sim_prefetch *list)
{
    char *state = NULL;
    const char *word = strtok_r(text, SIM_BLANKS, &state);
    size_t kind = 1, place = 0;
    int err = 0;

    while (word && kind < SIM_PREFETCH_KINDS_END && strcmp(sim_prefetchers[kind]->name, word))
        kind++;
    if (!word || kind == SIM_PREFETCH_KINDS_END)
        return report_prefetcher(at, word ? word : "");
    for (; place < SIM_MAX_PREFETCHERS && list[place].kind; place++) {
        if (list[place].kind == kind)
            return sim_place_report(at, "duplicate prefetcher", word);
    }
    list[place] = (struct sim_prefetch){ .kind = (uint8_t)kind,
                                         .degree = sim_prefetchers[kind]->usual.degree,
                                         .distance = sim_prefetchers[kind]->usual.distance };
    while (!err && (word = strtok_r(NULL, SIM_BLANKS, &state)))
        err = set_prefetch_param(at, word, &list[place]);
    return err;
}

static int set_prefetch(const struct sim_place *at, const char *text, struct sim_prefetch *list)
{
    char copy[SIM_MAX_LINE_CHARS + 1];
    char *rest = copy;
    int err = 0;

    if (!strcmp(text, "none"))
        return 0;
    snprintf(copy, sizeof copy, "%s", text);
    while (!err && rest) {
        char *comma = strchr(rest, ',');

        if (comma)
            *comma = '\0';
        err = set_prefetcher(at, rest, list);
        rest = comma ? comma + 1 : NULL;
    }
    return err;
}

/* ---- texts ---- */

static int set_text(const struct sim_place *at, const struct sim_key *key, const char *text, char *member)
{
    size_t length = strlen(text);
    char what[48];

    if (length >= key->bytes) {
        snprintf(what, sizeof what, "longer than %zu characters", key->bytes - 1);
        return sim_place_report(at, what, text);
    }
    memcpy(member, text, length + 1);
    return 0;
}

static int set_name(const struct sim_place *at, const struct sim_key *key, const char *text, char *member)
{
    if (!sim_is_machine_name(text))
        return sim_place_report(at, "a machine's name has " SIM_MACHINE_NAME_RULE, text);
    return set_text(at, key, text, member);
}

static int set_policy(const struct sim_place *at, const struct sim_key *key, const char *text, char *member)
{
    if (!sim_replacement_find(text))
        return sim_place_report(at, "unknown policy; there are " SIM_REPLACEMENT_NAMES, text);
    return set_text(at, key, text, member);
}

/* ---- by kind ---- */

int sim_value_set(const struct sim_place *at, const struct sim_key *key, const char *text, void *target)
{
    void *member = (char *)target + key->offset;

    switch (key->kind) {
    case SIM_KEY_COUNT:
        return set_count(at, key, text, member);
    case SIM_KEY_NUMBER:
        return set_number(at, text, member);
    case SIM_KEY_CYCLES:
        return set_real(at, text, SIM_MAX_LATENCY_CYCLES, member);
    case SIM_KEY_BANDWIDTH:
        return set_bandwidth(at, text, member);
    case SIM_KEY_CHOICE:
        return set_choice(at, key, text, member);
    case SIM_KEY_PREFETCH:
        return set_prefetch(at, text, member);
    case SIM_KEY_NAME:
        return set_name(at, key, text, member);
    case SIM_KEY_POLICY:
        return set_policy(at, key, text, member);
    case SIM_KEY_TEXT:
        break;
    }
    return set_text(at, key, text, member);
}
