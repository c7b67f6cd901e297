/*
 * Values of this computer from hwloc: sizes, ways and lines, as far as the firmware or hypervisor tells. hwloc knows no
 * latencies. The latencies are ASSUMPTIONS, typical of current server cores in cycles of the core clock, not
 * measurements: L1 5, L2 14, L3 50, an L4 100, memory 200. They serve to rank and weigh, never to predict times of this
 * machine.
 */
#include "sim/machine/machine_host.h"

#include <assert.h>
#include <errno.h>
#include <hwloc.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "sim/base/why.h"

static const double assumed_latency_cycles[SIM_HOST_MAX_CACHES] = { 5, 14, 50, 100, 100 };
static const double assumed_memory_latency_cycles = 200;

enum { GUESSED_WAYS = 8, GUESSED_LINE_BYTES = 64 };

void sim_note(struct sim_notes *n, const char *format, ...)
{
    const size_t used = strlen(n->text), room = sizeof n->text - used;
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(n->text + used, room, format, args);
    va_end(args);
    if (length < 0 || (size_t)length + 1 >= room)
        n->text[used] = '\0';
    else
        memcpy(n->text + used + length, "\n", 2);
}

static int report(struct sim_why why, const char *what, int error)
{
    return sim_fail(why, -error, "host: %s, %s", what, strerror(error));
}

/* ---- values from hwloc ---- */

/*
 * Returns the cores this process may run on; where hwloc cannot know about this process, the allowed cores. NULL: no
 * memory.
 */
static hwloc_bitmap_t cores(hwloc_topology_t topology)
{
    hwloc_bitmap_t allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology));
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();

    if (allowed && bound && !hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_THREAD) &&
        hwloc_bitmap_intersects(bound, allowed))
        hwloc_bitmap_and(allowed, allowed, bound);
    hwloc_bitmap_free(bound);
    return allowed;
}

/* Stores the CPU's name, without characters that a machine file cannot hold. */
static void name_cpu(struct sim_host_seen *seen, hwloc_topology_t topology, hwloc_obj_t pu)
{
    hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, pu);
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;

    if (!model)
        model = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "CPUModel");
    snprintf(seen->cpu, sizeof seen->cpu, "%s", model ? model + strspn(model, " \t") : "");
    for (char *c = seen->cpu; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f || *c == '#')
            *c = ' ';
    }
    for (size_t length = strlen(seen->cpu); length && seen->cpu[length - 1] == ' '; length--)
        seen->cpu[length - 1] = '\0';
}

/* Data and unified caches above a PU. */
static void see_caches(struct sim_host_cache cache[static SIM_HOST_MAX_CACHES], hwloc_obj_t pu)
{
    for (hwloc_obj_t o = pu->parent; o; o = o->parent) {
        const struct hwloc_cache_attr_s *told = hwloc_obj_type_is_dcache(o->type) ? &o->attr->cache : NULL;

        if (told)
            cache[o->type - HWLOC_OBJ_L1CACHE] =
                (struct sim_host_cache){ true, told->size, told->linesize, told->associativity };
    }
}

static bool has_other_caches(const struct sim_host_seen *seen, hwloc_obj_t pu)
{
    struct sim_host_cache other[SIM_HOST_MAX_CACHES] = { 0 };
    bool differ = false;

    see_caches(other, pu);
    for (size_t i = 0; i < SIM_HOST_MAX_CACHES; i++) {
        const struct sim_host_cache *a = &seen->cache[i], *b = &other[i];

        differ |= a->is_shown != b->is_shown || a->bytes != b->bytes || a->line_bytes != b->line_bytes ||
                  a->n_ways != b->n_ways;
    }
    return differ;
}

static void see_core(struct sim_host_seen *seen, hwloc_topology_t topology, hwloc_const_bitmap_t allowed)
{
    hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(topology, (unsigned)hwloc_bitmap_first(allowed));
    bool is_shown = false;

    if (!pu) {
        snprintf(seen->why_none, sizeof seen->why_none, "hwloc knows no core this process may use");
        return;
    }
    seen->core = pu->os_index;
    name_cpu(seen, topology, pu);
    see_caches(seen->cache, pu);
    for (size_t i = 0; i < SIM_HOST_MAX_CACHES; i++)
        is_shown |= seen->cache[i].is_shown;
    if (!is_shown)
        snprintf(seen->why_none, sizeof seen->why_none, "hwloc reports no data cache");
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, o));)
        seen->cores_differ |= hwloc_bitmap_isset(allowed, o->os_index) && has_other_caches(seen, o);
}

int sim_host_see(struct sim_host_seen *seen, struct sim_why why)
{
    hwloc_topology_t topology;
    hwloc_bitmap_t allowed = NULL;

    *seen = (struct sim_host_seen){ 0 };
    errno = 0;
    if (hwloc_topology_init(&topology))
        return report(why, "hwloc cannot start", errno ? errno : ENOMEM);
    if (hwloc_topology_load(topology))
        snprintf(seen->why_none, sizeof seen->why_none, "hwloc cannot load the topology, %s",
                 strerror(errno ? errno : EIO));
    else if ((allowed = cores(topology)))
        see_core(seen, topology, allowed);
    hwloc_topology_destroy(topology);
    if (!*seen->why_none && !allowed)
        return report(why, "hwloc cannot tell the cores", ENOMEM);
    hwloc_bitmap_free(allowed);
    return 0;
}

/* ---- levels ---- */

const char *sim_host_cache_name(size_t level)
{
    static const char *const name[SIM_HOST_MAX_CACHES] = { "L1", "L2", "L3", "L4", "L5" };

    assert(level < SIM_HOST_MAX_CACHES);
    return name[level];
}

const struct sim_level *sim_level_named(const struct sim_machine *file, const char *name)
{
    assert(file && name);
    for (size_t k = 0; k < file->n_levels; k++) {
        if (!strcmp(file->level[k].name, name))
            return &file->level[k];
    }
    return NULL;
}

bool sim_host_may_be(const struct sim_host_cache *told, const struct sim_level *l)
{
    const int64_t ways = told->n_ways < 0 ? (int64_t)(sim_level_bytes(l) / l->line_bytes) : told->n_ways;

    return (!told->bytes || told->bytes == sim_level_bytes(l)) && (!told->n_ways || ways == l->n_ways) &&
           (!told->line_bytes || told->line_bytes == l->line_bytes);
}

struct maker {
    struct sim_machine *m;
    const struct sim_host_seen *seen;
    const struct sim_machine *file;
    const char *called;
    struct sim_notes *notes;
};

static bool is_line(uint32_t bytes)
{
    return bytes && bytes <= SIM_MAX_LINE_BYTES && !(bytes & (bytes - 1));
}

/*
 * Returns the level whose line size replaces a hidden one: the nearest level inside, else outside; at: no level shows
 * its line size.
 */
static size_t same_line_as(const struct sim_host_seen *seen, size_t at)
{
    for (size_t i = at; i-- > 0;) {
        if (is_line(seen->cache[i].line_bytes))
            return i;
    }
    for (size_t i = at + 1; i < SIM_HOST_MAX_CACHES; i++) {
        if (is_line(seen->cache[i].line_bytes))
            return i;
    }
    return at;
}

/* Appends to a machine's description; a text without room is left out. */
static void describe(struct sim_machine *m, const char *separator, const char *text)
{
    const size_t length = strlen(m->description), room = sizeof m->description - length;

    if (snprintf(m->description + length, room, "%s%s", separator, text) >= (int)room)
        m->description[length] = '\0';
}

/* Notes a guess; told: hwloc's value, which the guess replaces, or 0. */
static void note_guess(const struct maker *x, size_t at, const char *kind, uint32_t guess, uint32_t told,
                       const char *after)
{
    const char *name = sim_host_cache_name(at);
    char text[64];

    if (told)
        sim_note(x->notes, "%s %s guessed as %" PRIu32 "%s: hwloc tells %" PRIu32, name, kind, guess, after, told);
    else
        sim_note(x->notes, "%s %s guessed as %" PRIu32 "%s: hwloc does not tell", name, kind, guess, after);
    snprintf(text, sizeof text, "%s %s guessed as %" PRIu32, name, kind, guess);
    describe(x->m, ", ", text);
}

/* Finds the line size: hwloc's value, a neighbouring level's, the file's, or a guess. */
static uint32_t line_of(const struct maker *x, size_t at, const struct sim_level *file)
{
    const uint32_t told = x->seen->cache[at].line_bytes;
    const size_t like = same_line_as(x->seen, at);
    uint32_t line = file ? file->line_bytes : GUESSED_LINE_BYTES;
    char after[80] = "";

    if (is_line(told))
        return told;
    if (like != at) {
        line = x->seen->cache[like].line_bytes;
        snprintf(after, sizeof after, ", as in %s", sim_host_cache_name(like));
    } else if (file) {
        snprintf(after, sizeof after, ", as in %.60s", x->called);
    }
    note_guess(x, at, "line", line, told, after);
    return line;
}

/* Finds the ways: hwloc's value, the file's for a cache of equal size, or a guess that divides the number of lines. */
static uint32_t ways_of(const struct maker *x, size_t at, const struct sim_level *file, uint64_t bytes,
                        uint32_t line_bytes)
{
    const int32_t told = x->seen->cache[at].n_ways;
    const uint64_t n_lines = bytes / line_bytes, most = n_lines < UINT32_MAX ? n_lines : UINT32_MAX;
    uint32_t ways = most < GUESSED_WAYS ? (uint32_t)most : GUESSED_WAYS;
    char after[80] = "";

    if (told > 0 && (uint64_t)told <= n_lines)
        return (uint32_t)told;
    if (told < 0)
        return (uint32_t)most;
    if (!told && file && sim_level_bytes(file) == bytes && file->line_bytes == line_bytes) {
        ways = file->n_ways;
        snprintf(after, sizeof after, ", as in %.60s", x->called);
    }
    while (!*after && n_lines % ways)
        ways--;
    note_guess(x, at, "ways", ways, (uint32_t)told, after);
    return ways;
}

/* Finds the size: hwloc's value, or the file's; 0: unknown. */
static uint64_t size_of(const struct maker *x, size_t at, const struct sim_level *file)
{
    const uint64_t told = x->seen->cache[at].bytes;
    const char *name = sim_host_cache_name(at);

    if (told || !file) {
        if (!told)
            sim_note(x->notes, "%s is left out: hwloc does not tell its size", name);
        return told;
    }
    sim_note(x->notes, "%s size taken from %s, %" PRIu64 " KiB: hwloc does not tell", name, x->called,
             sim_level_bytes(file) >> 10);
    return sim_level_bytes(file);
}

/* Adds a level that hwloc shows, if the level can be simulated. */
static void add_level(const struct maker *x, size_t at)
{
    const char *name = sim_host_cache_name(at);
    const struct sim_level *file = sim_level_named(x->file, name);
    const uint64_t bytes = size_of(x, at, file);
    struct sim_level l = { .policy = "lru", .latency_cycles = assumed_latency_cycles[at] };

    if (!bytes)
        return;
    snprintf(l.name, sizeof l.name, "%s", name);
    l.line_bytes = line_of(x, at, file);
    if (bytes < l.line_bytes || bytes / l.line_bytes > SIM_MAX_LEVEL_LINES) {
        sim_note(x->notes, "%s is left out: a cache of %" PRIu64 " bytes in lines of %" PRIu32 " cannot be simulated",
                 name, bytes, l.line_bytes);
        return;
    }
    l.n_ways = ways_of(x, at, file, bytes, l.line_bytes);
    l.n_sets = bytes / l.line_bytes / l.n_ways;
    if (sim_level_bytes(&l) != bytes)
        sim_note(x->notes,
                 "%s size taken as %" PRIu64 " bytes, whole sets of %" PRIu32 " lines of %" PRIu32
                 " bytes: hwloc tells %" PRIu64,
                 name, sim_level_bytes(&l), l.n_ways, l.line_bytes, bytes);
    x->m->level[x->m->n_levels++] = l;
}

void sim_host_caches(struct sim_machine *m, const struct sim_host_seen *seen, const struct sim_machine *file,
                     const char *called, struct sim_notes *notes)
{
    const struct maker x = { m, seen, file, called, notes };

    *m = (struct sim_machine){ .name = "host", .memory_latency_cycles = assumed_memory_latency_cycles };
    describe(m, "", *seen->cpu ? seen->cpu : "CPU of unknown model");
    describe(m, "; ", "caches from hwloc, latencies assumed");
    for (size_t i = 0; i < SIM_HOST_MAX_CACHES; i++) {
        if (seen->cache[i].is_shown)
            add_level(&x, i);
    }
    if (seen->cores_differ)
        sim_note(notes, "cores that this process may run on have different caches: these are those of core %u",
                 seen->core);
}

int sim_machine_host(struct sim_machine *m, char *why, size_t why_bytes)
{
    const struct sim_why reason = { why, why_bytes };
    const struct sim_machine none = { 0 };
    struct sim_notes ignored = { "" };
    struct sim_host_seen seen;
    int err = sim_host_see(&seen, reason);

    *m = (struct sim_machine){ 0 };
    if (err)
        return err;
    sim_host_caches(m, &seen, &none, "", &ignored);
    if (!m->n_levels)
        err = report(reason, *seen.why_none ? seen.why_none : "hwloc reports no cache that can be simulated", ENOENT);
    else
        err = sim_machine_validate(m, why, why_bytes);
    if (err)
        *m = (struct sim_machine){ 0 };
    return err;
}
