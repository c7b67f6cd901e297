#include "sim/report/report_estimate.h"

#include <inttypes.h>

/* Tells whether every source has a latency. */
static bool has_estimate(const struct sim_machine *m)
{
    bool has = m->memory_latency_cycles > 0;

    for (size_t k = 0; k < m->n_levels; k++)
        has = has && m->level[k].latency_cycles > 0;
    return has;
}

static const char *source_name(const struct sim_machine *m, size_t k)
{
    return k < m->n_levels ? m->level[k].name : "memory";
}

static bool has_any_bandwidth(const struct sim_estimate *e)
{
    for (size_t k = 0; k < e->n_sources; k++) {
        if (e->source[k].has_bandwidth)
            return true;
    }
    return false;
}

void sim_report_estimate_table(const struct sim_machine *m, const struct sim_cell *cell, FILE *out)
{
    struct sim_estimate e;

    if (!has_estimate(m))
        return;
    sim_estimate(&e, m, cell);
    fprintf(out, "estimate from the machine's latencies: for comparisons, not a prediction of time\n");
    fprintf(out, "%-8s%14s%16s%14s%16s%s\n", "", "loads_served", "latency_cycles", "lines_served", "lines_cycles",
            has_any_bandwidth(&e) ? "  transfer_cycles" : "");
    for (size_t k = 0; k < e.n_sources; k++) {
        fprintf(out, "%-8s%14" PRIu64 "%16.10g%14" PRIu64 "%16.10g", source_name(m, k), e.source[k].loads,
                e.source[k].latency_cycles, e.source[k].lines, e.source[k].lines_cycles);
        if (e.source[k].has_bandwidth)
            fprintf(out, "%17.10g", e.source[k].transfer_cycles);
        else if (has_any_bandwidth(&e))
            fprintf(out, "%17s", "-");
        fputc('\n', out);
    }
    fprintf(out, "sconv_eq6_cycles %.10g (latency_cycles without %s: loads alone)\n", e.sconv_eq6_cycles,
            source_name(m, 0));
    fprintf(out, "eq6_lines_cycles %.10g (lines_cycles without %s: with stores and prefetches)\n", e.eq6_lines_cycles,
            source_name(m, 0));
    if (e.has_transfers)
        fprintf(out, "slowest_transfer_cycles %.10g\n", e.slowest_transfer_cycles);
}

void sim_report_estimate_csv_names(FILE *out)
{
    fputs(",loads_served,latency_cycles,lines_served,lines_cycles,transfer_cycles,sconv_eq6_cycles,eq6_lines_cycles",
          out);
}

void sim_report_estimate_csv_none(FILE *out)
{
    fputs(",,,,,,,", out);
}

void sim_report_estimate_csv_core(const struct sim_machine *m, const struct sim_cell *cell, FILE *out)
{
    struct sim_estimate e;

    if (!has_estimate(m)) {
        sim_report_estimate_csv_none(out);
        return;
    }
    sim_estimate(&e, m, cell);
    fprintf(out, ",,,,,,%.17g,%.17g", e.sconv_eq6_cycles, e.eq6_lines_cycles);
}

void sim_report_estimate_csv_source(const struct sim_machine *m, const struct sim_cell *cell, size_t source, FILE *out)
{
    struct sim_estimate e;

    if (!has_estimate(m)) {
        sim_report_estimate_csv_none(out);
        return;
    }
    sim_estimate(&e, m, cell);
    fprintf(out, ",%" PRIu64 ",%.17g,%" PRIu64 ",%.17g,", e.source[source].loads, e.source[source].latency_cycles,
            e.source[source].lines, e.source[source].lines_cycles);
    if (e.source[source].has_bandwidth)
        fprintf(out, "%.17g", e.source[source].transfer_cycles);
    fputs(",,", out);
}

void sim_report_estimate_json(const struct sim_machine *m, const struct sim_cell *cell, FILE *out)
{
    struct sim_estimate e;

    if (!has_estimate(m))
        return;
    sim_estimate(&e, m, cell);
    fputs(",\n    \"estimate\": { \"sources\": {", out);
    for (size_t k = 0; k < e.n_sources; k++) {
        fprintf(out, "%s\n      \"%s\": { \"loads_served\": %" PRIu64 ", \"latency_cycles\": %.17g", k ? "," : "",
                source_name(m, k), e.source[k].loads, e.source[k].latency_cycles);
        fprintf(out, ", \"lines_served\": %" PRIu64 ", \"lines_cycles\": %.17g", e.source[k].lines,
                e.source[k].lines_cycles);
        if (e.source[k].has_bandwidth)
            fprintf(out, ", \"transfer_cycles\": %.17g", e.source[k].transfer_cycles);
        fputs(" }", out);
    }
    fprintf(out, " },\n      \"sconv_eq6_cycles\": %.17g, \"eq6_lines_cycles\": %.17g", e.sconv_eq6_cycles,
            e.eq6_lines_cycles);
    if (e.has_transfers)
        fprintf(out, ", \"slowest_transfer_cycles\": %.17g", e.slowest_transfer_cycles);
    fputs(" }", out);
}
