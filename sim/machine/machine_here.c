#include "sim/machine/machine_here.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/machine/machine_folder.h"

enum { N_COMPARED = 2 }; /* levels that a core has for itself */

/* Appends a line's next part; what does not fit is left out. */
static void say_more(char *text, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void say_more(char *text, size_t bytes, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, bytes - used, format, args);
    va_end(args);
}

int sim_here_look(struct sim_here *h, char *why, size_t why_bytes)
{
    *h = (struct sim_here){ 0 };
    sim_host_cpu_look(&h->cpu);
    return sim_machine_host(&h->caches, why, why_bytes);
}

/* ---- what it gives ---- */

static void adopt_level(struct sim_level *l, const struct sim_level *from)
{
    struct sim_level adopted = *from;

    memcpy(adopted.name, l->name, sizeof adopted.name);
    adopted.n_sets = l->n_sets;
    adopted.n_ways = l->n_ways;
    adopted.line_bytes = l->line_bytes;
    adopted.latency_cycles = l->latency_cycles;
    adopted.bandwidth_bytes_per_cycle = l->bandwidth_bytes_per_cycle;
    *l = adopted;
}

/* Gives m, whose sizes, latencies and bandwidths stay, what the file says of everything else. */
static int adopt(struct sim_machine *m, const struct sim_machine *file, char *why, size_t why_bytes)
{
    struct sim_machine adopted = *file;
    int err;

    memcpy(adopted.name, m->name, sizeof adopted.name);
    memcpy(adopted.description, m->description, sizeof adopted.description);
    memcpy(adopted.ukr, m->ukr, sizeof adopted.ukr);
    memcpy(adopted.gemm_core, m->gemm_core, sizeof adopted.gemm_core);
    memcpy(adopted.cpus, m->cpus, sizeof adopted.cpus);
    memcpy(adopted.calibrated, m->calibrated, sizeof adopted.calibrated);
    adopted.n_levels = m->n_levels;
    memcpy(adopted.level, m->level, sizeof adopted.level);
    for (size_t i = 0; i < m->n_levels && i < file->n_levels; i++)
        adopt_level(&adopted.level[i], &file->level[i]);
    adopted.memory_latency_cycles = m->memory_latency_cycles;
    adopted.memory_bandwidth_bytes_per_cycle = m->memory_bandwidth_bytes_per_cycle;
    adopted.memory_scattered_cycles = m->memory_scattered_cycles;
    adopted.issue.clock_ghz = m->issue.clock_ghz;
    err = sim_machine_validate(&adopted, why, why_bytes);
    if (!err)
        *m = adopted;
    return err;
}

/* ---- which file ---- */

static bool is_same_cache(const struct sim_level *a, const struct sim_level *b)
{
    return a->n_ways == b->n_ways && a->line_bytes == b->line_bytes && sim_level_bytes(a) == sim_level_bytes(b);
}

static bool has_same_caches(const struct sim_machine *a, const struct sim_machine *b, size_t n)
{
    bool same = a->n_levels >= n && b->n_levels >= n;

    for (size_t i = 0; same && i < n; i++)
        same = is_same_cache(&a->level[i], &b->level[i]);
    return same;
}

enum sim_here_match sim_here_match(const struct sim_here *h, const struct sim_machine *file)
{
    static const enum sim_here_match by[2][2] = { { SIM_HERE_NO_MATCH, SIM_HERE_BY_CACHES },
                                                  { SIM_HERE_BY_NAME, SIM_HERE_BY_BOTH } };

    return *file->cpus ? by[sim_host_cpu_is(&h->cpu, file->cpus)][has_same_caches(&h->caches, file, N_COMPARED)]
                       : SIM_HERE_NO_MATCH;
}

struct search {
    struct sim_here *h;
    enum sim_here_match match;
    size_t n; /* files that match so well */
};

static int compare(void *search, const char *path, const struct sim_machine *m)
{
    struct search *s = search;
    const enum sim_here_match match = sim_here_match(s->h, m);

    if (match && match == s->match)
        s->n++;
    if (match <= s->match)
        return 0;
    s->h->known = *m;
    snprintf(s->h->origin, sizeof s->h->origin, "%s", path);
    s->match = match;
    s->n = 1;
    return 0;
}

static void say_how(const struct search *s, const char *folder)
{
    struct sim_here *h = s->h;
    static const char *const start = "latencies, policies and prefetchers of ";

    if (!*h->source)
        say_more(h->source, sizeof h->source, "latencies not measured, make calibrate does; ");
    if (s->match == SIM_HERE_BY_BOTH)
        say_more(h->source, sizeof h->source, "%s%s, which is for this CPU", start, h->origin);
    else if (s->match == SIM_HERE_BY_CACHES)
        say_more(h->source, sizeof h->source, "%s%s, whose L1 and L2 are this computer's, though its CPU is called %s",
                 start, h->origin, h->cpu.name);
    else if (s->match)
        say_more(h->source, sizeof h->source, "%s%s, which is for this CPU, though this computer shows other caches",
                 start, h->origin);
    else
        say_more(h->source, sizeof h->source,
                 "latencies assumed, LRU and no prefetchers: no file in %s is for this CPU, %s", folder, h->cpu.name);
}

/* Forgets a file whose policies do not go with the caches that this computer shows. */
static void drop_misfit(struct sim_here *h)
{
    struct sim_machine m = h->caches;
    char reason[256];

    if (!h->known.n_levels || !adopt(&m, &h->known, reason, sizeof reason))
        return;
    say_more(h->source, sizeof h->source,
             ". They do not go with these caches (%s): latencies assumed, LRU and no prefetchers", reason);
    h->known = (struct sim_machine){ 0 };
    *h->origin = '\0';
}

/* Finds the file that serves. Where only caches speak for files, and for several, it takes none. */
static int find_file(struct sim_here *h, const char *folder, char *why, size_t why_bytes)
{
    struct search s = { .h = h };
    int err = sim_machines_each(folder, compare, &s, why, why_bytes);

    if (s.match == SIM_HERE_BY_CACHES && s.n > 1)
        s.match = SIM_HERE_NO_MATCH;
    if (!s.match) {
        h->known = (struct sim_machine){ 0 };
        *h->origin = '\0';
    }
    if (!err)
        say_how(&s, folder);
    if (!err)
        drop_misfit(h);
    return err;
}

/* ---- its calibration ---- */

/* "2026-11-22, <CPU>" */
static bool is_of_cpu(const struct sim_machine *file, const char *cpu)
{
    const char *comma = strstr(file->calibrated, ", ");

    return comma && !strcmp(comma + 2, cpu);
}

/* Takes the calibration, if there is one of this computer; else says why there is none. */
static int find_calibration(struct sim_here *h, const char *results, char *why, size_t why_bytes)
{
    struct sim_machine file;
    int err;

    snprintf(h->origin, sizeof h->origin, "%s/host/calibration/" SIM_MACHINE_FILE, results ? results : "");
    if (!results || access(h->origin, F_OK)) {
        return 0;
    }
    err = sim_machine_read(&file, h->origin, why, why_bytes);
    if (err)
        return err;
    h->is_calibrated = is_of_cpu(&file, h->cpu.name) && file.n_levels == h->caches.n_levels &&
                       has_same_caches(&file, &h->caches, file.n_levels);
    if (h->is_calibrated) {
        h->known = file;
        snprintf(h->source, sizeof h->source, "latencies calibrated on %.10s; policies and prefetchers of %s",
                 file.calibrated, h->origin);
    } else {
        snprintf(h->source, sizeof h->source, "%s is of another computer, make calibrate measures this one; ",
                 h->origin);
    }
    return 0;
}

int sim_here_find(struct sim_here *h, const char *results, const char *machines, char *why, size_t why_bytes)
{
    int err = find_calibration(h, results, why, why_bytes);

    return err || h->is_calibrated ? err : find_file(h, machines, why, why_bytes);
}

/* ---- the machine ---- */

static void take_latencies(struct sim_machine *m, const struct sim_machine *file)
{
    for (size_t i = 0; i < m->n_levels && i < file->n_levels; i++) {
        m->level[i].latency_cycles = file->level[i].latency_cycles;
        m->level[i].bandwidth_bytes_per_cycle = file->level[i].bandwidth_bytes_per_cycle;
    }
    m->memory_latency_cycles = file->memory_latency_cycles;
    m->memory_bandwidth_bytes_per_cycle = file->memory_bandwidth_bytes_per_cycle;
    m->memory_scattered_cycles = file->memory_scattered_cycles;
    m->issue.clock_ghz = file->issue.clock_ghz;
    memcpy(m->calibrated, file->calibrated, sizeof m->calibrated);
}

/* Writes what is printed and recorded of it: one line, short enough for figures, with the sources. */
static void describe(struct sim_machine *m, const struct sim_here *h)
{
    static const char latencies[] = ", latencies assumed"; /* as sim_machine_host says */
    const char *slash = strrchr(h->origin, '/');
    char *assumed = strstr(m->description, latencies);

    if (h->is_calibrated)
        snprintf(m->description, sizeof m->description, "%s; caches from hwloc, all else calibrated on %.10s",
                 h->cpu.name, m->calibrated);
    else if (h->known.n_levels) {
        if (assumed)
            memmove(assumed, assumed + sizeof latencies - 1, strlen(assumed + sizeof latencies - 1) + 1);
        say_more(m->description, sizeof m->description, ", latencies, policies and prefetchers of %s",
                 slash ? slash + 1 : h->origin);
    }
}

int sim_here_machine(const struct sim_here *h, struct sim_machine *m, char *why, size_t why_bytes)
{
    *m = h->caches;
    if (h->known.n_levels)
        take_latencies(m, &h->known);
    describe(m, h);
    return h->known.n_levels ? adopt(m, &h->known, why, why_bytes) : 0;
}
