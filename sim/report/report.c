/*
 * A table of counters drives all formats: a counter's offset, the places in which the counter has a meaning, and the
 * machine's features without which the counter is not counted.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "sim/report/json.h"
#include "sim/report/report.h"
#include "sim/report/report_estimate.h"
#include "sim/report/report_parts.h"
#include "sim/report/report_short.h"

enum { MAX_PLACES = 1 + SIM_MAX_LEVELS + SIM_MAX_TLBS + 1 };

enum place_kind { CORE, LEVEL, TLB, MEMORY };

enum feature {
    ALWAYS,
    TAKES_CLEAN_LINES,
    IS_INVALIDATED,
    PREFETCHES,
    CLASSIFIES,
    WALKS,
    TELLS_SCATTERED,
    GOES_THROUGH, /* a level is write-through, so single stores reach memory */
};

/* A row of the report: the core, a cache, a TLB or the memory. */
struct place {
    enum place_kind kind;
    size_t k; /* index of the level or TLB */
    char name[24];
};

struct counter {
    const char *name;
    enum place_kind place;
    enum feature feature;
    size_t offset; /* in struct sim_cell, in struct sim_level_counts, or in struct sim_tlb_counts */
};

#define CELL(m) offsetof(struct sim_cell, m)
#define AT(m) offsetof(struct sim_level_counts, m)

static const struct counter counters[] = {
    { "loads", CORE, ALWAYS, CELL(loads) },
    { "stores", CORE, ALWAYS, CELL(stores) },
    { "load_bytes", CORE, ALWAYS, CELL(load_bytes) },
    { "store_bytes", CORE, ALWAYS, CELL(store_bytes) },
    { "nt_stores", CORE, ALWAYS, CELL(nt_stores) },
    { "software_prefetches", CORE, ALWAYS, CELL(software_prefetches) },
    { "reads", LEVEL, ALWAYS, AT(reads) },
    { "read_misses", LEVEL, ALWAYS, AT(read_misses) },
    { "writes", LEVEL, ALWAYS, AT(writes) },
    { "write_misses", LEVEL, ALWAYS, AT(write_misses) },
    { "load_misses", LEVEL, ALWAYS, AT(load_misses) },
    { "write_backs", LEVEL, ALWAYS, AT(write_backs) },
    { "clean_fills", LEVEL, TAKES_CLEAN_LINES, AT(clean_fills) },
    { "back_invalidations", LEVEL, IS_INVALIDATED, AT(back_invalidations) },
    { "lines_in", LEVEL, PREFETCHES, AT(lines_in) },
    { "prefetch_fills", LEVEL, PREFETCHES, AT(prefetch_fills) },
    { "software_fills", LEVEL, PREFETCHES, AT(software_fills) },
    { "useful_prefetches", LEVEL, PREFETCHES, AT(useful_prefetches) },
    { "late_prefetches", LEVEL, PREFETCHES, AT(late_prefetches) },
    { "useless_prefetches", LEVEL, PREFETCHES, AT(useless_prefetches) },
    { "compulsory_misses", LEVEL, CLASSIFIES, AT(compulsory_misses) },
    { "capacity_misses", LEVEL, CLASSIFIES, AT(capacity_misses) },
    { "conflict_misses", LEVEL, CLASSIFIES, AT(conflict_misses) },
    { "uses", TLB, ALWAYS, offsetof(struct sim_tlb_counts, uses) },
    { "misses", TLB, ALWAYS, offsetof(struct sim_tlb_counts, misses) },
    { "walk_fills", TLB, WALKS, offsetof(struct sim_tlb_counts, walk_fills) },
    { "memory_read_lines", MEMORY, ALWAYS, CELL(memory_read_lines) },
    { "memory_scattered_lines", MEMORY, TELLS_SCATTERED, CELL(memory_scattered_lines) },
    { "memory_written_lines", MEMORY, ALWAYS, CELL(memory_written_lines) },
    { "memory_stores", MEMORY, GOES_THROUGH, CELL(memory_stores) },
    { "memory_store_bytes", MEMORY, GOES_THROUGH, CELL(memory_store_bytes) },
};

enum { N_COUNTERS = sizeof counters / sizeof counters[0] };

/* A rate of a level: a count per another count. Tables call the rate <name>_%, CSV and JSON <name>_percent. */
struct rate {
    const char *name;
    void (*parts)(const struct sim_cell *c, size_t k, uint64_t *part, uint64_t *whole);
};

static void load_parts(const struct sim_cell *c, size_t k, uint64_t *part, uint64_t *whole)
{
    *part = c->level[k].load_misses;
    *whole = c->loads;
}

static void read_parts(const struct sim_cell *c, size_t k, uint64_t *part, uint64_t *whole)
{
    *part = c->level[k].read_misses;
    *whole = c->level[k].reads;
}

static void write_parts(const struct sim_cell *c, size_t k, uint64_t *part, uint64_t *whole)
{
    *part = c->level[k].write_misses;
    *whole = c->level[k].writes;
}

static void all_parts(const struct sim_cell *c, size_t k, uint64_t *part, uint64_t *whole)
{
    *part = c->level[k].read_misses + c->level[k].write_misses;
    *whole = c->level[k].reads + c->level[k].writes;
}

static const struct rate rates[] = {
    { "load_miss", load_parts },
    { "miss", all_parts },
    { "read_miss", read_parts },
    { "write_miss", write_parts },
};

enum { N_RATES = sizeof rates / sizeof rates[0] };

/* Stores the rate of a place in percent; false: no rate in the place, or a rate of nothing. */
static bool rate_of(const struct rate *r, const struct place *p, const struct sim_cell *cell, double *percent)
{
    uint64_t part = 0, whole = 0;

    if (p->kind == LEVEL)
        r->parts(cell, p->k, &part, &whole);
    *percent = whole ? 100.0 * (double)part / (double)whole : 0;
    return whole != 0;
}

/* TLBs get a prefix, because a TLB and a cache may have equal names. */
static size_t list_places(const struct sim_machine *m, struct place places[MAX_PLACES])
{
    size_t n = 0;

    places[n++] = (struct place){ CORE, 0, "core" };
    for (size_t k = 0; k < m->n_levels; k++, n++) {
        places[n] = (struct place){ .kind = LEVEL, .k = k };
        memcpy(places[n].name, m->level[k].name, sizeof m->level[k].name);
    }
    for (size_t k = 0; k < m->n_tlbs; k++, n++) {
        places[n] = (struct place){ .kind = TLB, .k = k };
        snprintf(places[n].name, sizeof places[n].name, "tlb:%s", m->tlb[k].name);
    }
    places[n++] = (struct place){ MEMORY, 0, "memory" };
    return n;
}

static bool has_inclusive_level_outside(const struct sim_machine *m, size_t k)
{
    for (k++; k < m->n_levels; k++) {
        if (m->level[k].inclusion == SIM_INCLUSIVE)
            return true;
    }
    return false;
}

static bool passes_stores(const struct sim_machine *m)
{
    for (size_t k = 0; k < m->n_levels; k++) {
        if (m->level[k].is_write_through || m->level[k].no_write_allocate)
            return true;
    }
    return false;
}

static bool has_feature(const struct sim_machine *m, size_t k, enum feature feature)
{
    switch (feature) {
    case TAKES_CLEAN_LINES:
        return m->level[k].inclusion == SIM_EXCLUSIVE;
    case IS_INVALIDATED:
        return has_inclusive_level_outside(m, k);
    case PREFETCHES:
        return m->level[k].prefetch[0].kind != SIM_PREFETCH_NONE || (!k && m->has_software_prefetch);
    case CLASSIFIES:
        return m->level[k].is_classified;
    case WALKS:
        return m->page_tables && k + 1 == m->n_tlbs;
    case TELLS_SCATTERED:
        return m->memory_scattered_cycles > 0;
    case GOES_THROUGH:
        return passes_stores(m);
    case ALWAYS:
        break;
    }
    return true;
}

/* Returns where a counter of a place is. */
static uint64_t *member_of(const struct counter *c, const struct place *p, struct sim_cell *cell)
{
    char *base = (char *)cell;

    if (p->kind == LEVEL)
        base = (char *)&cell->level[p->k];
    else if (p->kind == TLB)
        base = (char *)&cell->tlb[p->k];
    return (uint64_t *)(void *)(base + c->offset);
}

/* Returns the value of a counter in a place; NULL: no meaning there, or not counted on this machine. */
static const uint64_t *value_of(const struct counter *c, const struct place *p, const struct sim_machine *m,
                                const struct sim_cell *cell)
{
    return c->place == p->kind && has_feature(m, p->k, c->feature) ? member_of(c, p, (struct sim_cell *)cell) : NULL;
}

static bool has_counts(const struct sim_cell *cell)
{
    static const struct sim_cell nothing;

    return memcmp(cell, &nothing, sizeof nothing) != 0;
}

/* The first cell with counts, or NULL. */
static const struct sim_cell *first_cell(const struct sim_report *r)
{
    for (unsigned i = 0; i < r->n_tags * SIM_MAX_PHASES; i++) {
        const struct sim_cell *cell = sim_stats_cell(r->stats, i / SIM_MAX_PHASES, i % SIM_MAX_PHASES);

        if (has_counts(cell))
            return cell;
    }
    return NULL;
}

/* Returns the name of a tag; NULL: no name. */
static const char *tag_name(const struct sim_report *r, unsigned tag)
{
    return r->tag_names ? r->tag_names[tag] : NULL;
}

/* Calls a function for every cell with counts; see struct sim_report. */
static void for_cells(const struct sim_report *r, FILE *out,
                      void (*print)(const struct sim_report *r, FILE *out, const struct sim_cell *cell, unsigned tag,
                                    unsigned phase))
{
    for (unsigned tag = 0; tag < r->n_tags; tag++) {
        for (unsigned phase = 0; phase < SIM_MAX_PHASES; phase++) {
            const struct sim_cell *cell = sim_stats_cell(r->stats, tag, phase);

            if (has_counts(cell))
                print(r, out, cell, tag, phase);
        }
    }
}

/* ---- table ---- */

enum { RATE_WIDTH = 14 };

static int column_width(const char *name)
{
    int length = (int)strlen(name);

    return 2 + (length > 12 ? length : 12);
}

static void print_heading(const struct sim_report *r, enum place_kind kind, FILE *out)
{
    fprintf(out, "%-8s", "");
    for (size_t i = 0; i < N_COUNTERS; i++) {
        bool is_used = false;

        for (size_t k = 0; k < (kind == LEVEL ? r->machine->n_levels : 1); k++)
            is_used |= counters[i].place == kind && has_feature(r->machine, k, counters[i].feature);
        if (is_used)
            fprintf(out, "%*s", column_width(counters[i].name), counters[i].name);
    }
    for (size_t i = 0; kind == LEVEL && i < N_RATES; i++)
        fprintf(out, "%*s_%%", RATE_WIDTH - 2, rates[i].name);
    fputc('\n', out);
}

static void print_rates(const struct place *p, const struct sim_cell *cell, FILE *out)
{
    for (size_t i = 0; i < N_RATES; i++) {
        double percent;

        if (rate_of(&rates[i], p, cell, &percent))
            fprintf(out, "%*.4f", RATE_WIDTH, percent);
        else
            fprintf(out, "%*s", RATE_WIDTH, "-");
    }
}

/* Prints a row under its heading; '-' in a column for other rows of the kind. */
static void print_row(const struct sim_report *r, const struct place *p, const struct sim_cell *cell, FILE *out)
{
    fprintf(out, "%-8s", p->name);
    for (size_t i = 0; i < N_COUNTERS; i++) {
        const uint64_t *value = value_of(&counters[i], p, r->machine, cell);
        bool is_elsewhere = false;

        for (size_t k = 0; k < r->machine->n_levels; k++)
            is_elsewhere |=
                p->kind == LEVEL && counters[i].place == LEVEL && has_feature(r->machine, k, counters[i].feature);
        if (value)
            fprintf(out, "%*" PRIu64, column_width(counters[i].name), *value);
        else if (is_elsewhere)
            fprintf(out, "%*s", column_width(counters[i].name), "-");
    }
    if (p->kind == LEVEL)
        print_rates(p, cell, out);
    fputc('\n', out);
}

static void print_block(const struct sim_report *r, const struct sim_cell *cell, FILE *out)
{
    struct place places[MAX_PLACES];
    size_t n = list_places(r->machine, places);

    for (size_t i = 0; i < n; i++) {
        if (!i || places[i].kind != places[i - 1].kind)
            print_heading(r, places[i].kind, out);
        print_row(r, &places[i], cell, out);
    }
    sim_report_estimate_table(r->machine, cell, out);
}

static void print_cell_table(const struct sim_report *r, FILE *out, const struct sim_cell *cell, unsigned tag,
                             unsigned phase)
{
    const char *name = tag_name(r, tag);

    fprintf(out, "\ntag %u%s%s, phase %u\n", tag, name ? " " : "", name ? name : "", phase);
    print_block(r, cell, out);
}

/* Prints a row of the summary: the accesses of a tag, and its misses by level. */
static void print_summary_row(const struct sim_report *r, unsigned tag, FILE *out)
{
    const struct sim_cell cell = sim_stats_tag(r->stats, tag);
    const char *name = tag_name(r, tag);
    char number[32];

    if (!has_counts(&cell))
        return;
    snprintf(number, sizeof number, "tag %u", tag);
    fprintf(out, "%-24.24s%14" PRIu64 "%14" PRIu64, name ? name : number, cell.loads, cell.stores);
    for (size_t k = 0; k < r->machine->n_levels; k++)
        fprintf(out, "%14" PRIu64, cell.level[k].read_misses + cell.level[k].write_misses);
    fprintf(out, "%14" PRIu64 "\n", cell.memory_read_lines + cell.memory_written_lines);
}

static void print_summary(const struct sim_report *r, FILE *out)
{
    char column[32];

    fprintf(out, "\nby tag: misses of each level (reads and writes), and lines of memory\n%-24s%14s%14s", "", "loads",
            "stores");
    for (size_t k = 0; k < r->machine->n_levels; k++) {
        snprintf(column, sizeof column, "%.8s misses", r->machine->level[k].name);
        fprintf(out, "%14s", column);
    }
    fprintf(out, "%14s\n", "memory lines");
    for (unsigned tag = 0; tag < r->n_tags; tag++)
        print_summary_row(r, tag, out);
}

static void print_table(const struct sim_report *r, FILE *out)
{
    struct sim_cell total = sim_stats_total_of(r->stats, r->n_tags);

    sim_report_machine(r, "", out);
    sim_report_trace(r, "", out);
    if (r->by_tag)
        for_cells(r, out, print_cell_table);
    fprintf(out, r->by_tag ? "\ntotal\n" : "\n");
    print_block(r, &total, out);
    if (r->by_tag)
        print_summary(r, out);
}

/* ---- CSV ---- */

static void print_csv_estimate(const struct sim_machine *m, const struct sim_cell *cell, const struct place *p,
                               FILE *out)
{
    if (p->kind == CORE)
        sim_report_estimate_csv_core(m, cell, out);
    else if (p->kind == TLB)
        sim_report_estimate_csv_none(out);
    else
        sim_report_estimate_csv_source(m, cell, p->kind == LEVEL ? p->k : m->n_levels, out);
}

static void print_csv_rates(const struct place *p, const struct sim_cell *cell, FILE *out)
{
    for (size_t i = 0; i < N_RATES; i++) {
        double percent;

        fputc(',', out);
        if (rate_of(&rates[i], p, cell, &percent))
            fprintf(out, "%.17g", percent);
    }
}

/*
 * Tells whether a counter has a column. Nearly all counters have a column for any machine, so that tables of machines
 * fit together.
 */
static bool is_column(const struct counter *c, const struct sim_machine *m)
{
    return c->feature != TELLS_SCATTERED || has_feature(m, 0, TELLS_SCATTERED);
}

static void print_csv_rows(const struct sim_report *r, const char *key, const struct sim_cell *cell, FILE *out)
{
    struct place places[MAX_PLACES];
    size_t n = list_places(r->machine, places);

    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%s,%s", key, places[i].name);
        for (size_t c = 0; c < N_COUNTERS; c++) {
            const uint64_t *value = value_of(&counters[c], &places[i], r->machine, cell);

            if (!is_column(&counters[c], r->machine))
                continue;
            if (value)
                fprintf(out, ",%" PRIu64, *value);
            else
                fputc(',', out);
        }
        print_csv_rates(&places[i], cell, out);
        print_csv_estimate(r->machine, cell, &places[i], out);
        fputc('\n', out);
    }
}

static void print_cell_csv(const struct sim_report *r, FILE *out, const struct sim_cell *cell, unsigned tag,
                           unsigned phase)
{
    char key[32];

    snprintf(key, sizeof key, "%u,%u", tag, phase);
    print_csv_rows(r, key, cell, out);
}

static void print_csv_names(const struct sim_report *r, FILE *out)
{
    for (unsigned tag = 0; tag < r->n_tags; tag++) {
        if (tag_name(r, tag))
            fprintf(out, "# tag %u: %s\n", tag, tag_name(r, tag));
    }
}

static void print_csv(const struct sim_report *r, FILE *out)
{
    struct sim_cell total = sim_stats_total_of(r->stats, r->n_tags);

    sim_report_machine(r, "# ", out);
    sim_report_trace(r, "# ", out);
    print_csv_names(r, out);
    fputs("tag,phase,place", out);
    for (size_t c = 0; c < N_COUNTERS; c++) {
        if (is_column(&counters[c], r->machine))
            fprintf(out, ",%s", counters[c].name);
    }
    for (size_t i = 0; i < N_RATES; i++)
        fprintf(out, ",%s_percent", rates[i].name);
    sim_report_estimate_csv_names(out);
    fputc('\n', out);
    if (r->by_tag)
        for_cells(r, out, print_cell_csv);
    print_csv_rows(r, "all,all", &total, out);
}

/* ---- JSON ---- */

static void print_json_machine(const struct sim_report *r, FILE *out)
{
    const struct sim_machine *m = r->machine;

    fputs("{\n  \"machine\": { \"name\": ", out);
    sim_json_string(m->name, out);
    if (r->machine_source && *r->machine_source) {
        fputs(", \"source\": ", out);
        sim_json_string(r->machine_source, out);
    }
    fputs(", \"levels\": [", out);
    for (size_t k = 0; k < m->n_levels; k++) {
        const struct sim_level *l = &m->level[k];

        fprintf(out,
                "%s\n    { \"name\": \"%s\", \"size_bytes\": %" PRIu64 ", \"ways\": %" PRIu32
                ", \"line_bytes\": %" PRIu32 ", \"policy\": \"%s\" }",
                k ? "," : "", l->name, sim_level_bytes(l), l->n_ways, l->line_bytes, l->policy);
    }
    fputs("\n  ] },\n", out);
}

static void print_json_trace(const struct sim_report *r, FILE *out)
{
    if (!r->trace_name)
        return;
    fputs("  \"trace\": { \"name\": ", out);
    sim_json_string(r->trace_name, out);
    fprintf(out, ", \"accesses\": %" PRIu64 ", \"fetches\": %" PRIu64 ", \"valgrind_lines\": %" PRIu64 "%s },\n",
            r->counts->accesses, r->counts->fetches, r->counts->valgrind_lines,
            r->is_partial ? ", \"partial\": true" : "");
}

static void print_json_sample(const struct sim_report_sample *s, FILE *out)
{
    if (!s)
        return;
    fprintf(out, "  \"sample\": { \"simulated_percent\": %.17g, \"intervals\": [", 100 * s->simulated);
    for (size_t i = 0; i < s->n; i++) {
        fprintf(out, "%s\n    { \"name\": ", i ? "," : "");
        sim_json_string(s->interval[i].name, out);
        fprintf(out, ", \"value\": %.17g, \"pm\": %.17g }", s->interval[i].value, s->interval[i].pm);
    }
    fputs("\n  ] },\n", out);
}

/* Prints a place's counters and rates. */
static void print_json_place(const struct sim_report *r, const struct place *p, const struct sim_cell *cell, FILE *out)
{
    const char *separator = "";

    fprintf(out, "\n    \"%s\": { ", p->name);
    for (size_t c = 0; c < N_COUNTERS; c++) {
        const uint64_t *value = value_of(&counters[c], p, r->machine, cell);

        if (!value)
            continue;
        fprintf(out, "%s\"%s\": %" PRIu64, separator, counters[c].name, *value);
        separator = ", ";
    }
    for (size_t i = 0; i < N_RATES; i++) {
        double percent;

        if (rate_of(&rates[i], p, cell, &percent))
            fprintf(out, ", \"%s_percent\": %.17g", rates[i].name, percent);
    }
    fputs(" }", out);
}

/* The counters of a cell, by place. */
static void print_json_counts(const struct sim_report *r, const struct sim_cell *cell, FILE *out)
{
    struct place places[MAX_PLACES];
    size_t n = list_places(r->machine, places);

    for (size_t i = 0; i < n; i++) {
        fputs(i ? "," : "", out);
        print_json_place(r, &places[i], cell, out);
    }
    sim_report_estimate_json(r->machine, cell, out);
}

static void print_cell_json(const struct sim_report *r, FILE *out, const struct sim_cell *cell, unsigned tag,
                            unsigned phase)
{
    bool is_first = cell == first_cell(r);

    fprintf(out, "%s\n  { \"tag\": %u,", is_first ? "" : ",", tag);
    if (tag_name(r, tag)) {
        fputs(" \"name\": ", out);
        sim_json_string(tag_name(r, tag), out);
        fputc(',', out);
    }
    fprintf(out, " \"phase\": %u,", phase);
    print_json_counts(r, cell, out);
    fputs("\n  }", out);
}

static void print_json(const struct sim_report *r, FILE *out)
{
    struct sim_cell total = sim_stats_total_of(r->stats, r->n_tags);

    print_json_machine(r, out);
    print_json_trace(r, out);
    print_json_sample(r->sample, out);
    if (r->by_tag) {
        fputs("  \"cells\": [", out);
        for_cells(r, out, print_cell_json);
        fputs(" ],\n", out);
    }
    fputs("  \"total\": {", out);
    print_json_counts(r, &total, out);
    fputs("\n  }\n}\n", out);
}

int sim_report_print(const struct sim_report *r, enum sim_report_format format, FILE *out)
{
    static void (*const printers[])(const struct sim_report *, FILE *) = {
        [SIM_REPORT_TABLE] = print_table,
        [SIM_REPORT_SHORT] = sim_report_short,
        [SIM_REPORT_CSV] = print_csv,
        [SIM_REPORT_JSON] = print_json,
    };

    assert(r->machine && r->stats && out);
    errno = 0;
    printers[format](r, out);
    if (fflush(out) || ferror(out))
        return errno ? -errno : -EIO;
    return 0;
}

/* ---- single counters ---- */

/* Writes the place's name and the counter's; counters of the core and the memory need no place. */
static void name_counter(const struct counter *c, const struct place *p, char *name, size_t bytes)
{
    if (p->kind == CORE || p->kind == MEMORY)
        snprintf(name, bytes, "%s", c->name);
    else
        snprintf(name, bytes, "%s.%s", p->name, c->name);
}

void sim_counts_each(const struct sim_machine *m, struct sim_cell *cell,
                     void (*visit)(void *ctx, const char *name, uint64_t *value), void *ctx)
{
    struct place places[MAX_PLACES];
    size_t n = list_places(m, places);

    for (size_t p = 0; p < n; p++) {
        for (size_t i = 0; i < N_COUNTERS; i++) {
            char name[64];

            if (counters[i].place != places[p].kind)
                continue;
            name_counter(&counters[i], &places[p], name, sizeof name);
            visit(ctx, name, member_of(&counters[i], &places[p], cell));
        }
    }
}
