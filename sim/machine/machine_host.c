/*
 * The computer this runs on. hwloc knows sizes, ways and lines, as far as the firmware or hypervisor tells; it knows no
 * latencies. Those are ASSUMPTIONS, typical of current server cores in cycles of the core clock, not measurements:
 * L1 5, L2 14, L3 50, an L4 100, memory 200. They serve to rank and weigh, never to predict times of this machine.
 */
#include <errno.h>
#include <hwloc.h>
#include <string.h>

#include "sim/machine/machine.h"

static const double assumed_latency_cycles[] = { 5, 14, 50, 100 };
static const double assumed_memory_latency_cycles = 200;

enum {
    GUESSED_WAYS = 8,
    GUESSED_LINE_BYTES = 64,
    MAX_DEPTH = sizeof assumed_latency_cycles / sizeof assumed_latency_cycles[0],
};

static int report(char *why, size_t why_bytes, const char *what, int error)
{
    snprintf(why, why_bytes, "host: %s, %s", what, strerror(error));
    return -error;
}

/* The first core this process may run on; the first allowed one, where hwloc cannot know about this process. */
static hwloc_obj_t first_pu(hwloc_topology_t topology)
{
    hwloc_bitmap_t allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology));
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();
    hwloc_obj_t pu = NULL;

    if (allowed && bound) {
        if (!hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_THREAD) && hwloc_bitmap_intersects(bound, allowed))
            hwloc_bitmap_and(allowed, allowed, bound);
        pu = hwloc_get_pu_obj_by_os_index(topology, (unsigned)hwloc_bitmap_first(allowed));
    }
    hwloc_bitmap_free(bound);
    hwloc_bitmap_free(allowed);
    return pu;
}

/* Appends to a machine's description; what does not fit is left out. */
static void describe(struct sim_machine *m, const char *separator, const char *text)
{
    size_t length = strlen(m->description);

    snprintf(m->description + length, sizeof m->description - length, "%s%s", separator, text);
}

/* The CPU's name, with what a machine file cannot hold replaced. */
static void describe_cpu(struct sim_machine *m, hwloc_topology_t topology, hwloc_obj_t pu)
{
    hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, pu);
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    char name[96];
    size_t length;

    if (!model)
        model = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "CPUModel");
    snprintf(name, sizeof name, "%s", model ? model + strspn(model, " \t") : "");
    for (char *c = name; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f || *c == '#')
            *c = ' ';
    }
    for (length = strlen(name); length && name[length - 1] == ' '; length--)
        name[length - 1] = '\0';
    describe(m, "", *name ? name : "CPU of unknown model");
    describe(m, "; ", "caches from hwloc, latencies assumed");
}

/* Ways, or a guess where hwloc has 0 (unknown); -1 stands for fully associative. Reduced until they divide the size. */
static uint32_t ways_of(const struct hwloc_cache_attr_s *cache, uint64_t n_lines)
{
    uint64_t ways = cache->associativity ? (uint64_t)cache->associativity : GUESSED_WAYS;

    if (cache->associativity < 0 || ways > n_lines)
        ways = n_lines;
    while (n_lines % ways)
        ways--;
    return (uint32_t)ways;
}

static int add_level(struct sim_machine *m, const struct hwloc_cache_attr_s *cache, char *why, size_t why_bytes)
{
    struct sim_level *l = &m->level[m->n_levels];
    unsigned depth = cache->depth < 1 ? 1 : cache->depth > MAX_DEPTH ? MAX_DEPTH : cache->depth;
    uint32_t line_bytes = cache->linesize ? cache->linesize : GUESSED_LINE_BYTES;
    uint64_t n_lines = cache->size / line_bytes;
    char guess[64];

    if (m->n_levels == SIM_MAX_LEVELS || cache->size % line_bytes || n_lines > SIM_MAX_LEVEL_LINES) {
        snprintf(why, why_bytes, "host: L%u cannot be simulated, %llu bytes in lines of %u", cache->depth,
                 (unsigned long long)cache->size, line_bytes);
        return -EINVAL;
    }
    *l = (struct sim_level){ .policy = "lru", .line_bytes = line_bytes };
    snprintf(l->name, sizeof l->name, "L%u", cache->depth);
    l->n_ways = ways_of(cache, n_lines);
    l->n_sets = n_lines / l->n_ways;
    l->latency_cycles = assumed_latency_cycles[depth - 1];
    if (!cache->linesize) {
        snprintf(guess, sizeof guess, "%s line guessed as %u", l->name, line_bytes);
        describe(m, ", ", guess);
    }
    if (cache->associativity >= 0 && l->n_ways != (uint32_t)cache->associativity) {
        snprintf(guess, sizeof guess, "%s ways guessed as %u", l->name, l->n_ways);
        describe(m, ", ", guess);
    }
    m->n_levels++;
    return 0;
}

/* Data and unified caches above the PU, from the core outwards. */
static int add_levels(struct sim_machine *m, hwloc_obj_t pu, char *why, size_t why_bytes)
{
    for (hwloc_obj_t o = pu->parent; o; o = o->parent) {
        int err = 0;

        if (hwloc_obj_type_is_dcache(o->type) && o->attr->cache.size)
            err = add_level(m, &o->attr->cache, why, why_bytes);
        if (err)
            return err;
    }
    if (!m->n_levels)
        return report(why, why_bytes, "hwloc reports no data cache", ENOENT);
    return sim_machine_validate(m, why, why_bytes);
}

static int describe_topology(struct sim_machine *m, hwloc_topology_t topology, char *why, size_t why_bytes)
{
    hwloc_obj_t pu;

    errno = 0;
    if (hwloc_topology_load(topology))
        return report(why, why_bytes, "hwloc cannot load the topology", errno ? errno : EIO);
    pu = first_pu(topology);
    if (!pu)
        return report(why, why_bytes, "hwloc knows no core this process may use", ENOENT);
    strcpy(m->name, "host");
    m->memory_latency_cycles = assumed_memory_latency_cycles;
    describe_cpu(m, topology, pu);
    return add_levels(m, pu, why, why_bytes);
}

int sim_machine_host(struct sim_machine *m, char *why, size_t why_bytes)
{
    hwloc_topology_t topology;
    int err;

    *m = (struct sim_machine){ 0 };
    errno = 0;
    if (hwloc_topology_init(&topology))
        return report(why, why_bytes, "hwloc cannot start", errno ? errno : ENOMEM);
    err = describe_topology(m, topology, why, why_bytes);
    hwloc_topology_destroy(topology);
    if (err)
        *m = (struct sim_machine){ 0 };
    return err;
}
