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

/* Says in percent how wide an interval is. */
static double percent_of(const struct sim_report_interval *i)
{
    return i->value > 0 ? 100 * i->pm / i->value : 0;
}

static void print_sample(const struct sim_report *r, const char *prefix, FILE *out)
{
    const struct sim_report_sample *s = r->sample;

    if (!s)
        return;
    if (s->simulated >= 1) {
        fprintf(out, "%ssample: the trace is too short; all accesses were simulated, and all counts are exact\n",
                prefix);
        return;
    }
    fprintf(
        out,
        "%ssample: %.3g %% of the accesses were simulated one by one; loads and stores are exact, further counts are "
        "estimates with these 95 %% intervals:\n",
        prefix, 100 * s->simulated);
    for (size_t i = 0; i < s->n; i++) {
        if (s->interval[i].value > 0)
            fprintf(out, "%s  %-28s %15.0f +- %.0f (%.3g %%)\n", prefix, s->interval[i].name, s->interval[i].value,
                    s->interval[i].pm, percent_of(&s->interval[i]));
    }
    if (percent_of(&s->interval[0]) > 100 * s->target)
        fprintf(out, "%s  %s: %.3g %% were wanted, and %.3g %% were reached\n", prefix, s->interval[0].name,
                100 * s->target, percent_of(&s->interval[0]));
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
    print_sample(r, prefix, out);
}
