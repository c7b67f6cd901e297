#include "sim/report/report_short.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/analysis/estimate.h"
#include "sim/report/report_parts.h"

enum { COLUMNS = 100, INDENT = 4, MOST_TAGS = 6, SHOWN_LEVELS = 3 };

static double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

/* Prints a text in lines of the terminal's width, whole words where words fit. */
static void print_wrapped(const char *text, FILE *out)
{
    size_t indent = 0;

    while (*text) {
        const size_t line = strcspn(text, "\n"), most = COLUMNS - indent;
        size_t n = line;

        if (line > most) {
            for (n = most; n && text[n] != ' ';)
                n--;
            n = n ? n : line; /* a long word, such as a path, stays whole */
        }
        fprintf(out, "%*s%.*s\n", (int)indent, "", (int)n, text);
        text += n;
        indent = *text == '\n' || !*text ? 0 : INDENT;
        text += *text == '\n' || *text == ' ';
    }
}

/* ---- who serves the loads ---- */

/* Returns the loads that a level, or memory behind the levels, serves. */
static uint64_t served_by(const struct sim_machine *m, const struct sim_cell *c, size_t k)
{
    const uint64_t arrive = k ? c->level[k - 1].load_misses : c->loads;
    const uint64_t leave = k < m->n_levels ? c->level[k].load_misses : 0;

    return arrive > leave ? arrive - leave : 0;
}

static const char *name_of(const struct sim_machine *m, size_t k)
{
    return k < m->n_levels ? m->level[k].name : "memory";
}

static void say_served(const struct sim_machine *m, const struct sim_cell *c, FILE *out)
{
    if (!c->loads) {
        fprintf(out, "There are no loads; %" PRIu64 " stores write %" PRIu64 " lines to memory.\n", c->stores,
                c->memory_written_lines);
        return;
    }
    fprintf(out, "Of %" PRIu64 " loads, ", c->loads);
    for (size_t k = 0; k <= m->n_levels; k++) {
        const double percent = percent_of(served_by(m, c, k), c->loads);

        fprintf(out, "%s%s serves %.*f %%",
                !k                ? ""
                : k < m->n_levels ? ", "
                                  : " and ",
                name_of(m, k), percent > 0 && percent < 1 ? 3 : percent > 0, percent);
    }
    fprintf(out, ".\n");
}

static bool has_latencies(const struct sim_machine *m)
{
    for (size_t k = 0; k < m->n_levels; k++) {
        if (!(m->level[k].latency_cycles > 0))
            return false;
    }
    return m->memory_latency_cycles > 0;
}

/* ---- the table ---- */

static void print_level(const struct sim_report *r, const struct sim_cell *c, size_t k, const struct sim_estimate *e,
                        FILE *out)
{
    const uint64_t served = served_by(r->machine, c, k);

    fprintf(out, "%-8.8s%14" PRIu64 "%10.3f %%", name_of(r->machine, k), served, percent_of(served, c->loads));
    if (k < r->machine->n_levels) {
        const struct sim_level_counts *l = &c->level[k];

        fprintf(out, "%14" PRIu64 "%9.2f %%%14" PRIu64 "%9.2f %%", l->read_misses, percent_of(l->read_misses, l->reads),
                l->write_misses, percent_of(l->write_misses, l->writes));
    } else {
        fprintf(out, "%14s%11s%14s%11s", "-", "-", "-", "-");
    }
    if (e && k)
        fprintf(out, "%9.1f %%", e->sconv_eq6_cycles > 0 ? 100 * e->source[k].latency_cycles / e->sconv_eq6_cycles : 0);
    else if (e)
        fprintf(out, "%11s", "-");
    fputc('\n', out);
}

static void print_levels(const struct sim_report *r, const struct sim_cell *c, FILE *out)
{
    struct sim_estimate estimate;
    const bool has_estimate = has_latencies(r->machine);

    if (has_estimate)
        sim_estimate(&estimate, r->machine, c);
    fprintf(out, "\n%-8s%14s%12s%14s%11s%14s%11s%s\n", "", "loads served", "of loads", "read misses", "of reads",
            "write misses", "of writes", has_estimate ? "    waiting" : "");
    for (size_t k = 0; k <= r->machine->n_levels; k++)
        print_level(r, c, k, has_estimate ? &estimate : NULL, out);
}

/* Classes of the misses, of levels that classify. */
static void print_classes(const struct sim_report *r, const struct sim_cell *c, FILE *out)
{
    for (size_t k = 0; k < r->machine->n_levels; k++) {
        const struct sim_level_counts *l = &c->level[k];
        const uint64_t all = l->compulsory_misses + l->capacity_misses + l->conflict_misses;

        if (r->machine->level[k].is_classified)
            fprintf(out, "%.8s misses: %.1f %% compulsory, %.1f %% capacity, %.1f %% conflict\n",
                    r->machine->level[k].name, percent_of(l->compulsory_misses, all),
                    percent_of(l->capacity_misses, all), percent_of(l->conflict_misses, all));
    }
}

static void print_rest(const struct sim_report *r, const struct sim_cell *c, FILE *out)
{
    fprintf(out, "memory: %" PRIu64 " lines read, %" PRIu64 " written", c->memory_read_lines, c->memory_written_lines);
    for (size_t k = 0; k < r->machine->n_tlbs; k++)
        fprintf(out, "; TLB %s: %.2f %% of %" PRIu64 " uses miss", r->machine->tlb[k].name,
                percent_of(c->tlb[k].misses, c->tlb[k].uses), c->tlb[k].uses);
    fputc('\n', out);
}

/* ---- tags ---- */

struct tag {
    unsigned number;
    uint64_t misses; /* of the first level */
    struct sim_cell cell;
};

static int by_misses(const void *a, const void *b)
{
    const struct tag *x = a, *y = b;

    return x->misses == y->misses ? (x->number > y->number) - (x->number < y->number)
                                  : (x->misses < y->misses) - (x->misses > y->misses);
}

/* Returns the tags with counts, the most misses first, from malloc; NULL: no memory. */
static struct tag *list_tags(const struct sim_report *r, size_t *n)
{
    static const struct sim_cell nothing;
    struct tag *tag = calloc(r->n_tags ? r->n_tags : 1, sizeof *tag);

    *n = 0;
    for (unsigned t = 0; tag && t < r->n_tags; t++) {
        const struct sim_cell cell = sim_stats_tag(r->stats, t);

        if (memcmp(&cell, &nothing, sizeof nothing) != 0)
            tag[(*n)++] = (struct tag){ t, cell.level[0].read_misses + cell.level[0].write_misses, cell };
    }
    if (tag)
        qsort(tag, *n, sizeof *tag, by_misses);
    return tag;
}

static void print_tags(const struct sim_report *r, FILE *out)
{
    const size_t n_levels = r->machine->n_levels < SHOWN_LEVELS ? r->machine->n_levels : SHOWN_LEVELS;
    size_t n;
    struct tag *tag = list_tags(r, &n);

    fprintf(out, "\n%-24s%14s", "", "accesses");
    for (size_t k = 0; k < n_levels; k++)
        fprintf(out, "%7.6s misses", r->machine->level[k].name);
    fprintf(out, "%14s\n", "memory lines");
    for (size_t i = 0; tag && i < n && i < MOST_TAGS; i++) {
        const char *name = r->tag_names ? r->tag_names[tag[i].number] : NULL;
        char number[32];

        snprintf(number, sizeof number, "tag %u", tag[i].number);
        fprintf(out, "%-24.24s%14" PRIu64, name ? name : number, tag[i].cell.loads + tag[i].cell.stores);
        for (size_t k = 0; k < n_levels; k++)
            fprintf(out, "%14" PRIu64, tag[i].cell.level[k].read_misses + tag[i].cell.level[k].write_misses);
        fprintf(out, "%14" PRIu64 "\n", tag[i].cell.memory_read_lines + tag[i].cell.memory_written_lines);
    }
    if (n > MOST_TAGS)
        fprintf(out, "... and %zu more (--more)\n", n - MOST_TAGS);
    free(tag);
}

/* ---- the whole ---- */

static void print_about(const struct sim_report *r, FILE *out)
{
    sim_report_machine(r, "", out);
    sim_report_trace(r, "", out);
}

/* Prints a part of the report in lines of the terminal's width. */
static void wrap(void (*print)(const struct sim_report *r, const struct sim_cell *c, FILE *out),
                 const struct sim_report *r, const struct sim_cell *c, FILE *out)
{
    char *text = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&text, &bytes);

    if (!memory) {
        print(r, c, out);
        return;
    }
    print(r, c, memory);
    fclose(memory);
    if (text)
        print_wrapped(text, out);
    free(text);
}

static void say_answer(const struct sim_report *r, const struct sim_cell *c, FILE *out)
{
    if (r->is_partial)
        fprintf(out, "The simulation was interrupted, and the counts are partial. ");
    say_served(r->machine, c, out);
}

static void say_about(const struct sim_report *r, const struct sim_cell *c, FILE *out)
{
    print_rest(r, c, out);
    print_classes(r, c, out);
    print_about(r, out);
}

void sim_report_short(const struct sim_report *r, FILE *out)
{
    const struct sim_cell total = sim_stats_total_of(r->stats, r->n_tags);

    wrap(say_answer, r, &total, out);
    print_levels(r, &total, out);
    if (r->by_tag)
        print_tags(r, out);
    fputc('\n', out);
    wrap(say_about, r, &total, out);
    if (has_latencies(r->machine))
        fprintf(out, "waiting: of loads that miss %s, an estimate by latencies, not a time\n",
                r->machine->level[0].name);
    fprintf(out, "--more prints every counter, --output csv and json have the same\n");
}
