#include "sim/report/report_parts.h"

#include <inttypes.h>
#include <string.h>

#include "sim/report/json.h"

static void print_level(const struct sim_level *l, FILE *out)
{
    uint64_t bytes = sim_level_bytes(l);

    if (bytes % 1024)
        fprintf(out, "%s %" PRIu64 " B", l->name, bytes);
    else
        fprintf(out, "%s %" PRIu64 " KiB", l->name, bytes / 1024);
    fprintf(out, " %" PRIu32 "-way %" PRIu32 " B lines %s", l->n_ways, l->line_bytes, l->policy);
}

/* Prints the sources of values: each line becomes a sentence. */
static void print_source(const char *source, const char *prefix, FILE *out)
{
    for (size_t length; source && *source; source += length + (source[length] == '\n')) {
        length = strcspn(source, "\n");
        fprintf(out, "%svalues: %.*s\n", prefix, (int)length, source);
    }
}

void sim_report_machine(const struct sim_report *r, const char *prefix, FILE *out)
{
    const struct sim_machine *m = r->machine;

    fprintf(out, "%smachine %s: ", prefix, m->name);
    for (size_t k = 0; k < m->n_levels; k++) {
        fputs(k ? "; " : "", out);
        print_level(&m->level[k], out);
    }
    fputc('\n', out);
    print_source(r->machine_source, prefix, out);
}

void sim_report_trace(const struct sim_report *r, const char *prefix, FILE *out)
{
    if (!r->trace_name)
        return;
    fprintf(out, "%strace ", prefix);
    sim_line_text(r->trace_name, out);
    fprintf(out, ": %" PRIu64 " accesses", r->counts->accesses);
    if (r->counts->fetches)
        fprintf(out, ", %" PRIu64 " instruction fetches", r->counts->fetches);
    if (r->counts->valgrind_lines)
        fprintf(out, ", %" PRIu64 " lines of valgrind's own skipped", r->counts->valgrind_lines);
    if (r->is_partial)
        fputs("; interrupted: these counts are partial", out);
    fputc('\n', out);
}
