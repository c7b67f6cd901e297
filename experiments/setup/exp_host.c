#include "experiments/setup/exp_host.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "counters/ctr_hostinfo.h"
#include "counters/group/ctr_cpu.h"
#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_machines.h"

enum { N_COMPARED = 2 }; /* levels that a core has for itself */

int exp_host_look(struct exp_host *h, char *why, size_t why_bytes)
{
    struct ctr_cpu cpu;
    char ignored[256];
    int err;

    *h = (struct exp_host){ 0 };
    err = sim_machine_host(&h->caches, why, why_bytes);
    ctr_hostinfo_cpu(h->cpu, sizeof h->cpu);
    exp_say(h->group, sizeof h->group, "%s",
            ctr_cpu_host(&cpu, CTR_GROUPS_DIR, ignored, sizeof ignored) ? "" : cpu.uarch);
    return err;
}

/* ---- which file ---- */

static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);

    while (*list) {
        size_t n = strcspn(list, " ");

        if (n == length && n && !strncmp(list, word, n))
            return true;
        list += n + (list[n] == ' ');
    }
    return false;
}

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

enum exp_host_match exp_host_match(const struct exp_host *h, const struct sim_machine *file)
{
    static const enum exp_host_match by[2][2] = { { EXP_HOST_NO_MATCH, EXP_HOST_BY_CACHES },
                                                  { EXP_HOST_BY_NAME, EXP_HOST_BY_BOTH } };

    return *file->cpus ? by[has_word(file->cpus, h->group)][has_same_caches(&h->caches, file, N_COMPARED)]
                       : EXP_HOST_NO_MATCH;
}

struct search {
    struct exp_host *h;
    enum exp_host_match match;
    size_t n; /* files that match so well */
};

static int compare(void *search, const char *path, const struct sim_machine *m)
{
    struct search *s = search;
    const enum exp_host_match match = exp_host_match(s->h, m);

    if (match && match == s->match)
        s->n++;
    if (match <= s->match)
        return 0;
    s->h->known = *m;
    exp_say(s->h->origin, sizeof s->h->origin, "%s", path);
    s->match = match;
    s->n = 1;
    return 0;
}

static void say_how(const struct search *s, const char *folder)
{
    struct exp_host *h = s->h;
    static const char *const start = "; policies and prefetchers of ";

    if (s->match == EXP_HOST_BY_BOTH)
        exp_say_more(h->source, sizeof h->source, "%s%s, which is for this CPU", start, h->origin);
    else if (s->match == EXP_HOST_BY_CACHES)
        exp_say_more(h->source, sizeof h->source,
                     "%s%s, whose L1 and L2 are this computer's, though its CPU is called %s", start, h->origin,
                     h->cpu);
    else if (s->match)
        exp_say_more(h->source, sizeof h->source,
                     "%s%s, which is for this CPU, though this computer shows other caches", start, h->origin);
    else
        exp_say_more(h->source, sizeof h->source, "; LRU and no prefetchers: no file in %s is for this CPU, %s", folder,
                     h->cpu);
}

/* Where only caches speak for files, and for several, none is taken. */
static int find_file(struct exp_host *h, const char *folder, char *why, size_t why_bytes)
{
    struct search s = { .h = h };
    int err = exp_machines_each(folder, compare, &s, why, why_bytes);

    if (s.match == EXP_HOST_BY_CACHES && s.n > 1)
        s.match = EXP_HOST_NO_MATCH;
    if (!s.match) {
        h->known = (struct sim_machine){ 0 };
        *h->origin = '\0';
    }
    if (!err)
        say_how(&s, folder);
    return err;
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
    adopted.issue.clock_ghz = m->issue.clock_ghz;
    err = sim_machine_validate(&adopted, why, why_bytes);
    if (!err)
        *m = adopted;
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
static int find_calibration(struct exp_host *h, const char *results, char *why, size_t why_bytes)
{
    struct sim_machine file;
    int err;

    exp_say(h->origin, sizeof h->origin, "%s/host/calibration/" EXP_MACHINE_FILE, results ? results : "");
    if (!results || access(h->origin, F_OK)) {
        exp_say(h->source, sizeof h->source, "latencies assumed; make calibrate measures them");
        return 0;
    }
    err = sim_machine_read(&file, h->origin, why, why_bytes);
    if (err)
        return err;
    h->is_calibrated = is_of_cpu(&file, h->cpu) && file.n_levels == h->caches.n_levels &&
                       has_same_caches(&file, &h->caches, file.n_levels);
    if (h->is_calibrated) {
        h->known = file;
        exp_say(h->source, sizeof h->source, "latencies calibrated on %.10s; policies and prefetchers of %s",
                file.calibrated, h->origin);
    } else {
        exp_say(h->source, sizeof h->source,
                "latencies assumed: %s is of another computer, make calibrate measures this one", h->origin);
    }
    return 0;
}

int exp_host_find(struct exp_host *h, const char *results, const char *machines, char *why, size_t why_bytes)
{
    int err = find_calibration(h, results, why, why_bytes);

    return err || h->is_calibrated ? err : find_file(h, machines, why, why_bytes);
}

/* ---- the machine ---- */

static void take_latencies(struct sim_machine *m, const struct sim_machine *file)
{
    for (size_t i = 0; i < m->n_levels; i++) {
        m->level[i].latency_cycles = file->level[i].latency_cycles;
        m->level[i].bandwidth_bytes_per_cycle = file->level[i].bandwidth_bytes_per_cycle;
    }
    m->memory_latency_cycles = file->memory_latency_cycles;
    m->memory_bandwidth_bytes_per_cycle = file->memory_bandwidth_bytes_per_cycle;
    m->issue.clock_ghz = file->issue.clock_ghz;
    memcpy(m->calibrated, file->calibrated, sizeof m->calibrated);
}

/* What is printed and recorded of it: one line, short enough for figures, with the sources. */
static void describe(struct sim_machine *m, const struct exp_host *h)
{
    const char *slash = strrchr(h->origin, '/');

    if (h->is_calibrated)
        exp_say(m->description, sizeof m->description, "%s; caches from hwloc, all else calibrated on %.10s", h->cpu,
                m->calibrated);
    else if (h->known.n_levels)
        exp_say_more(m->description, sizeof m->description, ", policies and prefetchers of %s",
                     slash ? slash + 1 : h->origin);
}

int exp_host_machine(const struct exp_host *h, struct sim_machine *m, char *why, size_t why_bytes)
{
    *m = h->caches;
    if (h->is_calibrated)
        take_latencies(m, &h->known);
    describe(m, h);
    return h->known.n_levels ? adopt(m, &h->known, why, why_bytes) : 0;
}
