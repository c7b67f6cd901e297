/* Machines as text for sim_machine_read. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/machine.h"
#include "sim/machine/machine_keys.h"
#include "sim/prefetch/prefetch.h"

/* Could the text be read back from a file? text[bytes] need not end. */
static bool is_printable(const char *text, size_t bytes)
{
    size_t length = strnlen(text, bytes);

    if (length == bytes || (length && (strchr(SIM_BLANKS, text[0]) || strchr(SIM_BLANKS, text[length - 1]))))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (sim_is_control(text[i]) || text[i] == '#')
            return false;
    }
    return true;
}

/* Could the value of a key be read back? */
static bool is_readable(const struct sim_key *key, const char *text)
{
    switch (key->kind) {
    case SIM_KEY_NAME:
        return memchr(text, '\0', key->bytes) && sim_is_machine_name(text);
    case SIM_KEY_TEXT:
        return is_printable(text, key->bytes) && (*text || key->is_optional);
    default:
        return true;
    }
}

static bool can_print_tlbs(const struct sim_machine *m)
{
    for (size_t i = 0; i < m->n_tlbs; i++) {
        if (!memchr(m->tlb[i].name, '\0', sizeof m->tlb[i].name) || !sim_is_section_name(m->tlb[i].name))
            return false;
    }
    return m->n_tlbs < 2 || strcmp(m->tlb[0].name, m->tlb[1].name);
}

static bool can_print(const struct sim_machine *m)
{
    for (const struct sim_key *key = sim_machine_keys; key->name; key++) {
        if (!is_readable(key, (const char *)m + key->offset))
            return false;
    }
    for (size_t k = 0; k < m->n_levels; k++) {
        if (!memchr(m->level[k].name, '\0', sizeof m->level[k].name) || !sim_is_section_name(m->level[k].name))
            return false;
        for (size_t i = 0; i < k; i++) {
            if (!strcmp(m->level[i].name, m->level[k].name))
                return false;
        }
    }
    return !sim_machine_validate(m, NULL, 0) && can_print_tlbs(m);
}

/* Prints a number with as few digits as restore the number, but without an exponent if 15 digits suffice. */
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

static void print_prefetch_param(FILE *out, const struct sim_prefetch_param *p, const struct sim_prefetch *f)
{
    uint8_t value = *sim_prefetch_value(p, f);

    if (value && p->word)
        fprintf(out, " %s=%s", p->name, p->word[value - 1]);
    else if (value)
        fprintf(out, " %s=%u", p->name, (unsigned)value);
}

static void print_prefetch(FILE *out, const struct sim_prefetch *list)
{
    for (size_t i = 0; i < SIM_MAX_PREFETCHERS && list[i].kind; i++) {
        fprintf(out, "%s%s", i ? ", " : "prefetch = ", sim_prefetchers[list[i].kind]->name);
        for (const struct sim_prefetch_param *p = sim_prefetch_params; p->name; p++)
            print_prefetch_param(out, p, &list[i]);
    }
    if (list[0].kind)
        fprintf(out, "\n");
}

static void print_count(FILE *out, const struct sim_key *key, const void *member)
{
    const uint64_t value =
        key->bytes == sizeof(uint64_t) ? *(const uint64_t *)member : (uint64_t) * (const uint32_t *)member;

    if (!value && key->is_optional)
        return;
    if (key->takes_suffix)
        print_bytes(out, key->name, value);
    else
        fprintf(out, "%s = %" PRIu64 "\n", key->name, value);
}

/* Prints a key that is required, or whose value is not the default. */
static void print_key(FILE *out, const struct sim_key *key, const void *from)
{
    const void *member = (const char *)from + key->offset;

    switch (key->kind) {
    case SIM_KEY_TEXT:
    case SIM_KEY_NAME:
    case SIM_KEY_POLICY:
        if (*(const char *)member)
            fprintf(out, "%s = %s\n", key->name, (const char *)member);
        break;
    case SIM_KEY_COUNT:
    case SIM_KEY_NUMBER:
        print_count(out, key, member);
        break;
    case SIM_KEY_CYCLES:
    case SIM_KEY_BANDWIDTH:
        if (*(const double *)member > 0 || !key->is_optional)
            print_cycles(out, key->name, *(const double *)member);
        break;
    case SIM_KEY_CHOICE:
        if (*(const uint8_t *)member)
            fprintf(out, "%s = %s\n", key->name, key->choice[*(const uint8_t *)member]);
        break;
    case SIM_KEY_PREFETCH:
        print_prefetch(out, member);
        break;
    }
}

struct printer {
    FILE *out;
    const struct sim_key_changes *changes; /* NULL: none */
};

static void print_keys(const struct printer *p, const struct sim_key *keys, const char *section, const void *from)
{
    for (const struct sim_key *key = keys; key->name; key++) {
        const char *value = p->changes ? p->changes->value(p->changes->ctx, keys, section, key) : NULL;

        if (!value)
            print_key(p->out, key, from);
        else if (*value)
            fprintf(p->out, "%s = %s\n", key->name, value);
    }
}

/* Prints a level with its size in place of its sets. */
static void print_level(const struct printer *p, const struct sim_level *l)
{
    struct sim_level_draft draft = { .level = *l, .size_bytes = sim_level_bytes(l) };

    draft.level.n_sets = 0;
    fprintf(p->out, "\n[cache %s]\n", l->name);
    print_keys(p, sim_cache_keys, l->name, &draft);
}

int sim_machine_print_changed(const struct sim_machine *m, const struct sim_key_changes *changes, FILE *out)
{
    const struct printer p = { out, changes };

    if (!can_print(m))
        return -EINVAL;
    fprintf(out, "[machine]\n");
    print_keys(&p, sim_machine_keys, "", m);
    for (size_t k = 0; k < m->n_levels; k++)
        print_level(&p, &m->level[k]);
    for (size_t i = 0; i < m->n_tlbs; i++) {
        fprintf(out, "\n[tlb %s]\n", m->tlb[i].name);
        print_keys(&p, sim_tlb_keys, m->tlb[i].name, &m->tlb[i]);
    }
    if (m->core.width) {
        fprintf(out, "\n[core]\n");
        print_keys(&p, sim_core_keys, "", &m->core);
    }
    return fflush(out) || ferror(out) ? -EIO : 0;
}

int sim_machine_print(const struct sim_machine *m, FILE *out)
{
    assert(m && out);
    return sim_machine_print_changed(m, NULL, out);
}
