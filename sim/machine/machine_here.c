#include "sim/machine/machine_here.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/why.h"
#include "sim/machine/machine_check.h"
#include "sim/machine/machine_folder.h"
#include "sim/machine/machine_keys.h"

enum { N_COMPARED = 2 }; /* private levels of a core */

/* Appends to a text; a part without room is left out. */
static void say_more(char *text, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void say_more(char *text, size_t bytes, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, bytes - used, format, args);
    va_end(args);
}

int sim_here_look(struct sim_here *h, struct sim_why why)
{
    assert(h);
    *h = (struct sim_here){ 0 };
    sim_host_cpu_look(&h->cpu);
    return sim_host_see(&h->seen, why);
}

/* ---- the choice of the file ---- */

static bool is_shown(const struct sim_here *h, size_t level)
{
    assert(level < SIM_HOST_MAX_CACHES);
    return h->seen.cache[level].is_shown;
}

/* Tells whether hwloc and the machine file together describe caches. */
static bool has_caches(const struct sim_here *h)
{
    struct sim_notes ignored = { "" };
    struct sim_machine m;

    sim_host_caches(&m, &h->seen, &h->known, "", &ignored);
    return m.n_levels;
}

/* Tells whether hwloc shows a level that the file lacks or contradicts. */
static bool is_other_cache(const struct sim_here *h, const struct sim_machine *file, size_t level)
{
    const struct sim_level *l = sim_level_named(file, sim_host_cache_name(level));

    return is_shown(h, level) && (!l || !sim_host_may_be(&h->seen.cache[level], l));
}

/* Tells whether hwloc shows a level with all values, and the file agrees. */
static bool is_same_cache(const struct sim_here *h, const struct sim_machine *file, size_t level)
{
    const struct sim_host_cache *told = &h->seen.cache[level];

    return told->is_shown && told->bytes && told->n_ways && told->line_bytes && !is_other_cache(h, file, level);
}

static bool has_other_caches(const struct sim_here *h, const struct sim_machine *file, size_t n)
{
    bool other = false;

    for (size_t i = 0; i < n; i++)
        other |= is_other_cache(h, file, i);
    return other;
}

static bool has_same_caches(const struct sim_here *h, const struct sim_machine *file)
{
    bool same = true;

    for (size_t i = 0; i < N_COMPARED; i++)
        same = same && is_same_cache(h, file, i);
    return same;
}

enum sim_here_match sim_here_match(const struct sim_here *h, const struct sim_machine *file)
{
    static const enum sim_here_match by[2][2] = { { SIM_HERE_NO_MATCH, SIM_HERE_BY_CACHES },
                                                  { SIM_HERE_BY_NAME, SIM_HERE_BY_BOTH } };

    return *file->cpus ? by[sim_host_cpu_is(&h->cpu, file->cpus)][has_same_caches(h, file)] : SIM_HERE_NO_MATCH;
}

struct search {
    struct sim_here *h;
    enum sim_here_match match;
    double distance; /* of the L3 */
    size_t n;        /* files with this match and distance */
};

/* Returns the logarithm of the ratio of the two L3s' sizes, without sign; infinite if a size is not known. */
static double l3_distance(const struct sim_here *h, const struct sim_machine *file)
{
    const struct sim_level *l = sim_level_named(file, sim_host_cache_name(N_COMPARED));

    if (!is_shown(h, N_COMPARED) || !h->seen.cache[N_COMPARED].bytes || !l)
        return (double)INFINITY;
    return fabs(log2((double)h->seen.cache[N_COMPARED].bytes / (double)sim_level_bytes(l)));
}

static int compare(void *search, const char *path, const struct sim_machine *m)
{
    struct search *s = search;
    const enum sim_here_match match = sim_here_match(s->h, m);
    const double distance = match == SIM_HERE_BY_CACHES ? l3_distance(s->h, m) : 0;

    if (match && match == s->match && distance == s->distance)
        s->n++;
    if (match < s->match || (match == s->match && distance >= s->distance))
        return 0;
    s->h->known = *m;
    snprintf(s->h->origin, sizeof s->h->origin, "%s", path);
    s->match = match;
    s->distance = distance;
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
        say_more(h->source, sizeof h->source, "%s%s, which is for this CPU%s", start, h->origin,
                 has_other_caches(h, &h->known, N_COMPARED) ? ", though this computer shows other caches" : "");
    else
        say_more(h->source, sizeof h->source,
                 "latencies assumed, LRU and no prefetchers: no file in %s is for this CPU, %s", folder, h->cpu.name);
}

static const char *why_none(const struct sim_here *h)
{
    return *h->seen.why_none ? h->seen.why_none : "hwloc reports no cache that can be simulated";
}

/*
 * Says that no cache is known, and how to name a machine. folder: the folder without a file for this CPU; NULL: no
 * folder was searched.
 */
static int refuse(const struct sim_here *h, const char *folder, struct sim_why why)
{
    sim_fail(why, -ENOENT, "host: %s", why_none(h));
    if (folder)
        sim_why_add(why, ", and no file in %s is for this CPU, %s", folder, h->cpu.name);
    sim_why_add(why, "; name a machine: MACHINE=zen4 (of cachesim: --machine zen4), or the path of a %s file",
                SIM_MACHINE_SUFFIX);
    if (folder) {
        sim_why_add(why, "; ");
        sim_machine_say_known(folder, why.text, why.bytes);
    }
    return -ENOENT;
}

/* Finds the file that serves this computer; no file if several files match equally well by caches alone. */
static int find_file(struct sim_here *h, const char *folder, struct sim_why why)
{
    struct search s = { .h = h };
    int err = sim_machines_each(folder, compare, &s, why);

    if (s.match == SIM_HERE_BY_CACHES && s.n > 1)
        s.match = SIM_HERE_NO_MATCH;
    if (!s.match) {
        h->known = (struct sim_machine){ 0 };
        *h->origin = '\0';
    }
    if (!err)
        say_how(&s, folder);
    return err || h->known.n_levels || has_caches(h) ? err : refuse(h, folder, why);
}

/* ---- calibration ---- */

/* "2026-11-22, <CPU>" */
static bool is_of_cpu(const struct sim_machine *file, const char *cpu)
{
    const char *comma = strstr(file->calibrated, ", ");

    return comma && !strcmp(comma + 2, cpu);
}

/* Takes the calibration of this computer, or says why there is none. */
static int find_calibration(struct sim_here *h, const char *results, struct sim_why why)
{
    struct sim_machine file;
    int err;

    snprintf(h->origin, sizeof h->origin, "%s/host/calibration/" SIM_MACHINE_FILE, results ? results : "");
    if (!results || access(h->origin, F_OK))
        return 0;
    err = sim_machine_read(&file, h->origin, why.text, why.bytes);
    if (err)
        return err;
    h->is_calibrated = is_of_cpu(&file, h->cpu.name) && !has_other_caches(h, &file, SIM_HOST_MAX_CACHES);
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

int sim_here_find(struct sim_here *h, const char *results, const char *machines, struct sim_why why)
{
    int err = find_calibration(h, results, why);

    return err || h->is_calibrated ? err : find_file(h, machines, why);
}

/* ---- the machine ---- */

/* Returns the file's name in notes. */
static const char *called(const struct sim_here *h)
{
    const char *slash = strrchr(h->origin, '/');

    return slash ? slash + 1 : h->origin;
}

/* Writes the description for output and records: a line with the sources, short enough for figures. */
static void describe(struct sim_machine *m, const struct sim_here *h)
{
    static const char latencies[] = ", latencies assumed"; /* as sim_host_caches says */
    char *assumed = strstr(m->description, latencies), guesses[sizeof m->description];

    if (!has_caches(h))
        snprintf(m->description, sizeof m->description, "%s; hwloc shows no cache, all values of %.48s", h->cpu.name,
                 called(h));
    else if (h->is_calibrated)
        snprintf(m->description, sizeof m->description, "%s; caches from hwloc, all else calibrated on %.10s",
                 h->cpu.name, m->calibrated);
    else if (h->known.n_levels && assumed) {
        snprintf(guesses, sizeof guesses, "%s", assumed + sizeof latencies - 1);
        *assumed = '\0';
        say_more(m->description, sizeof m->description, ", latencies, policies and prefetchers of %.48s", called(h));
        if (strlen(m->description) + strlen(guesses) < sizeof m->description)
            strcat(m->description, guesses);
    }
}

/* Copies all values of a level from the file, except for the level's geometry. */
static void adopt_level(struct sim_level *l, const struct sim_level *from)
{
    struct sim_level adopted = *from;

    adopted.n_sets = l->n_sets;
    adopted.n_ways = l->n_ways;
    adopted.line_bytes = l->line_bytes;
    *l = adopted;
}

/*
 * Assumes a level's latency, between the known latencies of the neighbouring levels, because known latencies may differ
 * from typical latencies. Notes the assumption.
 */
static void assume_level(struct sim_machine *m, size_t k, const struct sim_here *h, struct sim_notes *notes)
{
    struct sim_level *l = &m->level[k];
    double most = m->memory_latency_cycles;

    for (size_t i = m->n_levels - 1; i > k; i--) {
        const struct sim_level *known = sim_level_named(&h->known, m->level[i].name);

        most = known ? known->latency_cycles : most;
    }
    l->latency_cycles = l->latency_cycles < most ? l->latency_cycles : most;
    if (k && l->latency_cycles < m->level[k - 1].latency_cycles)
        l->latency_cycles = m->level[k - 1].latency_cycles;
    sim_note(notes, "%s latency assumed, %g cycles, policy LRU, no prefetcher: %s has no %s", l->name,
             l->latency_cycles, called(h), l->name);
}

/* Adopts the file's values for each level that hwloc shows. */
static void adopt_levels(struct sim_machine *m, const struct sim_here *h, struct sim_notes *notes)
{
    const struct sim_machine *file = &h->known;

    for (size_t k = 0; k < file->n_levels; k++) {
        if (!sim_level_named(m, file->level[k].name))
            sim_note(notes, "%s of %s is left out: hwloc shows no %s", file->level[k].name, called(h),
                     file->level[k].name);
    }
    for (size_t k = 0; k < m->n_levels; k++) {
        const struct sim_level *from = sim_level_named(file, m->level[k].name);

        if (from)
            adopt_level(&m->level[k], from);
        else
            assume_level(m, k, h, notes);
    }
}

/*
 * Resets a key of a level to its default. The computer's geometry stays: if a geometry key is at fault, the policy is
 * reset.
 */
static const char *forget(struct sim_level *l, const char *name)
{
    struct sim_level_draft draft = { .level = *l };

    for (const struct sim_key *key = &sim_cache_keys[SIM_CACHE_KEY_SETS + 1]; key->name; key++) {
        if (!strcmp(key->name, name) && key->is_optional && key->kind != SIM_KEY_POLICY) {
            memset((char *)&draft + key->offset, 0, key->bytes);
            *l = draft.level;
            return name;
        }
    }
    snprintf(l->policy, sizeof l->policy, "lru");
    return "policy";
}

/* Resets, key by key, the file's values that contradict the computer's levels. */
static void leave_out_misfits(struct sim_machine *m, const struct sim_here *h, struct sim_notes *notes)
{
    for (size_t k = 0; k < m->n_levels; k++) {
        struct sim_fault f;

        for (size_t n = 0; n < SIM_MAX_SECTION_KEYS && (f = sim_level_fault(m, k)).what; n++)
            sim_note(notes, "%s.%s of %s is left out: %s", m->level[k].name, forget(&m->level[k], f.key), called(h),
                     f.what);
    }
    if (sim_memory_is_too_fast(m)) {
        sim_note(notes,
                 "memory_bandwidth_bytes_per_cycle of %s, %g, is left out: with its latency more lines would be on "
                 "their way than %s, which is the last level here, has miss_buffers",
                 called(h), m->memory_bandwidth_bytes_per_cycle, m->level[m->n_levels - 1].name);
        m->memory_bandwidth_bytes_per_cycle = 0;
    }
}

/* Copies all other values from the file into m, whose levels hwloc shows. */
static void adopt(struct sim_machine *m, const struct sim_here *h, struct sim_notes *notes)
{
    struct sim_machine adopted = h->known;

    memcpy(adopted.name, m->name, sizeof adopted.name);
    memcpy(adopted.description, m->description, sizeof adopted.description);
    memcpy(adopted.ukr, m->ukr, sizeof adopted.ukr);
    memcpy(adopted.gemm_core, m->gemm_core, sizeof adopted.gemm_core);
    if (has_caches(h))
        memcpy(adopted.cpus, m->cpus, sizeof adopted.cpus);
    if (m->n_levels) {
        adopted.n_levels = m->n_levels;
        memcpy(adopted.level, m->level, sizeof adopted.level);
        adopt_levels(&adopted, h, notes);
        leave_out_misfits(&adopted, h, notes);
    } else {
        sim_note(notes, "all caches are those of %s: %s", called(h), why_none(h));
    }
    *m = adopted;
}

static void build(const struct sim_here *h, struct sim_machine *m, struct sim_notes *notes)
{
    sim_host_caches(m, &h->seen, &h->known, called(h), notes);
    if (h->known.n_levels)
        adopt(m, h, notes);
    describe(m, h);
}

int sim_here_machine(const struct sim_here *h, struct sim_machine *m, struct sim_why why)
{
    struct sim_notes ignored = { "" };

    assert(h && m);
    build(h, m, &ignored);
    return !m->n_levels ? refuse(h, NULL, why) : sim_machine_validate(m, why.text, why.bytes);
}

void sim_here_note(const struct sim_here *h, struct sim_notes *notes)
{
    struct sim_machine m;

    build(h, &m, notes);
}

void sim_here_say_source(const struct sim_here *h, char *text, size_t bytes)
{
    assert(bytes);
    *text = '\0';
    say_more(text, bytes, "%s; %s", has_caches(h) ? "caches from hwloc" : "hwloc shows no cache", h->source);
}
