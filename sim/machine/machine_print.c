/* Machines as text that sim_machine_read takes. */
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

/* A key with a choice, unless it has its default. */
static void print_choice(FILE *out, const struct sim_key *key, const void *from)
{
    uint8_t place;

    memcpy(&place, (const char *)from + key->offset, sizeof place);
    if (place)
        fprintf(out, "%s = %s\n", key->name, key->choice[place]);
}

static void print_choices(FILE *out, const struct sim_key *keys, const void *from)
{
    for (const struct sim_key *key = keys; key->name; key++) {
        if (key->kind == SIM_KEY_CHOICE)
            print_choice(out, key, from);
    }
}

static void print_level(FILE *out, const struct sim_level *l)
{
    const struct sim_level_draft draft = { .level = *l };

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
    if (l->miss_buffers)
        fprintf(out, "miss_buffers = %" PRIu32 "\n", l->miss_buffers);
    print_choices(out, sim_cache_keys, &draft);
    print_prefetch(out, l->prefetch);
}

static void print_issue(FILE *out, const struct sim_issue *i)
{
    if (i->clock_ghz > 0)
        print_cycles(out, "clock_ghz", i->clock_ghz);
    if (i->mac_rows)
        fprintf(out, "mac_rows = %" PRIu32 "\n", i->mac_rows);
    if (i->mac_columns)
        fprintf(out, "mac_columns = %" PRIu32 "\n", i->mac_columns);
    if (i->mac_instructions_per_cycle > 0)
        print_cycles(out, "mac_instructions_per_cycle", i->mac_instructions_per_cycle);
    if (i->loads_per_cycle > 0)
        print_cycles(out, "loads_per_cycle", i->loads_per_cycle);
    if (i->stores_per_cycle > 0)
        print_cycles(out, "stores_per_cycle", i->stores_per_cycle);
}

/* Prints what [machine] has beyond texts and the latency. */
static void print_options(FILE *out, const struct sim_machine *m)
{
    if (m->memory_bandwidth_bytes_per_cycle > 0)
        print_cycles(out, "memory_bandwidth_bytes_per_cycle", m->memory_bandwidth_bytes_per_cycle);
    if (m->memory_scattered_cycles > 0)
        print_cycles(out, "memory_scattered_cycles", m->memory_scattered_cycles);
    if (m->page_bytes)
        print_bytes(out, "page", m->page_bytes);
    if (m->frame_bytes)
        print_bytes(out, "frame", m->frame_bytes);
    if (m->page_tables)
        fprintf(out, "page_tables = %" PRIu32 "\n", m->page_tables);
    if (m->page_seed)
        fprintf(out, "page_seed = %" PRIu64 "\n", m->page_seed);
    if (m->combining_buffers)
        fprintf(out, "combining_buffers = %" PRIu32 "\n", m->combining_buffers);
    print_choices(out, sim_machine_keys, m);
    print_issue(out, &m->issue);
}

/* Its keys are counts of 32 bits and numbers. */
static void print_core(FILE *out, const struct sim_core *c)
{
    fprintf(out, "\n[core]\n");
    for (const struct sim_key *key = sim_core_keys; key->name; key++) {
        const char *from = (const char *)c + key->offset;
        uint32_t count;
        double number;

        if (key->kind == SIM_KEY_COUNT) {
            memcpy(&count, from, sizeof count);
            if (count || !key->is_optional)
                fprintf(out, "%s = %" PRIu32 "\n", key->name, count);
        } else {
            memcpy(&number, from, sizeof number);
            print_cycles(out, key->name, number);
        }
    }
}

int sim_machine_print(const struct sim_machine *m, FILE *out)
{
    if (!can_print(m))
        return -EINVAL;
    fprintf(out, "[machine]\n");
    for (const struct sim_key *key = sim_machine_keys; key->name; key++) {
        const char *text = (const char *)m + key->offset;

        if ((key->kind == SIM_KEY_TEXT || key->kind == SIM_KEY_NAME) && *text)
            fprintf(out, "%s = %s\n", key->name, text);
    }
    print_cycles(out, "memory_latency_cycles", m->memory_latency_cycles);
    print_options(out, m);
    for (size_t k = 0; k < m->n_levels; k++)
        print_level(out, &m->level[k]);
    for (size_t i = 0; i < m->n_tlbs; i++)
        fprintf(out, "\n[tlb %s]\nentries = %" PRIu32 "\nways = %" PRIu32 "\n", m->tlb[i].name, m->tlb[i].n_entries,
                m->tlb[i].n_ways);
    if (m->core.width)
        print_core(out, &m->core);
    return fflush(out) || ferror(out) ? -EIO : 0;
}
