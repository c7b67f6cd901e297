#define _GNU_SOURCE
#include "counters/ctr_hostinfo.h"

#include <errno.h>
#include <hwloc.h>
#include <stdbool.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "counters/group/ctr_cpu.h"
#include "counters/perf/ctr_perf.h"
#include "counters/host/ctr_pin.h"
#include "counters/host/ctr_emulated.h"
#include "counters/host/ctr_text.h"
#include "counters/host/ctr_timer.h"
#include "counters/perf/ctr_watch.h"

static const char cpuinfo[] = "/proc/cpuinfo";

/* Lines of /proc/cpuinfo. x86 and POWER use different words: POWER's key stands second. */
static const struct {
    const char *key, *proc_key, *other_proc_key;
} cpu_lines[] = {
    { "cpu", "model name", "cpu" },
    { "cpu_vendor", "vendor_id", "platform" },
    { "cpu_family", "cpu family", "machine" },
    { "cpu_model", "model", "revision" },
    { "cpu_stepping", "stepping", "revision" },
    { "cpu_microcode", "microcode", NULL },
    { "cpu_mhz_now", "cpu MHz", "clock" },
};

static const struct {
    const char *key, *path;
} file_lines[] = {
    { "smt_active", "/sys/devices/system/cpu/smt/active" },
    { "frequency_driver", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver" },
    { "frequency_governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor" },
    { "frequency_min_khz", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq" },
    { "frequency_max_khz", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq" },
    { "turbo_boost", "/sys/devices/system/cpu/cpufreq/boost" },
    { "turbo_disabled_intel", "/sys/devices/system/cpu/intel_pstate/no_turbo" },
    { "huge_pages", "/sys/kernel/mm/transparent_hugepage/enabled" },
    { "perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid" },
    { "nmi_watchdog", "/proc/sys/kernel/nmi_watchdog" },
};

static int read_cpu_line(size_t i, char *value, size_t bytes)
{
    int err = ctr_text_key(cpuinfo, cpu_lines[i].proc_key, value, bytes);

    return err == -ENODATA && cpu_lines[i].other_proc_key
               ? ctr_text_key(cpuinfo, cpu_lines[i].other_proc_key, value, bytes)
               : err;
}

void ctr_hostinfo_cpu(char *text, size_t bytes)
{
    struct utsname system;
    char name[256], family[64], model[64];
    bool has_model = !ctr_text_key(cpuinfo, "cpu family", family, sizeof family) &&
                     !ctr_text_key(cpuinfo, "model", model, sizeof model);

    if (read_cpu_line(0, name, sizeof name))
        snprintf(text, bytes, "unknown %s CPU", uname(&system) ? "kind of" : system.machine);
    else if (has_model)
        snprintf(text, bytes, "%s (family %s, model %s)", name, family, model);
    else
        snprintf(text, bytes, "%s", name);
}

static void print_cpu(FILE *out)
{
    char value[256];

    for (size_t i = 0; i < sizeof cpu_lines / sizeof cpu_lines[0]; i++) {
        int err = read_cpu_line(i, value, sizeof value);

        if (err == -ENODATA)
            fprintf(out, "%s: missing (no '%s' in %s)\n", cpu_lines[i].key, cpu_lines[i].proc_key, cpuinfo);
        else if (err)
            fprintf(out, "%s: missing (%s: %s)\n", cpu_lines[i].key, cpuinfo, strerror(-err));
        else
            fprintf(out, "%s: %s\n", cpu_lines[i].key, value);
    }
}

static void print_files(FILE *out)
{
    char value[256];

    for (size_t i = 0; i < sizeof file_lines / sizeof file_lines[0]; i++) {
        int err = ctr_text_first_line(file_lines[i].path, value, sizeof value);

        if (err)
            fprintf(out, "%s: missing (%s: %s)\n", file_lines[i].key, file_lines[i].path, strerror(-err));
        else
            fprintf(out, "%s: %s\n", file_lines[i].key, value);
    }
}

/* 0: neither the firmware nor the hypervisor tells the number. */
static void print_number(FILE *out, unsigned long n, const char *what)
{
    if (n)
        fprintf(out, "%lu %s", n, what);
    else
        fprintf(out, "%s unknown", what);
}

static void print_cache(FILE *out, hwloc_obj_t o)
{
    const struct hwloc_cache_attr_s *c = &o->attr->cache;
    const char *kind = c->type == HWLOC_OBJ_CACHE_DATA ? "d" : c->type == HWLOC_OBJ_CACHE_INSTRUCTION ? "i" : "";

    fprintf(out, "cache_l%u%s: ", c->depth, kind);
    print_number(out, (unsigned long)c->size, "bytes");
    fputs(", ", out);
    if (c->associativity == -1)
        fputs("fully associative", out);
    else
        print_number(out, (unsigned long)c->associativity, "ways");
    fputs(", ", out);
    print_number(out, c->linesize, "bytes per line");
    fprintf(out, ", shared by %d hardware threads\n", hwloc_bitmap_weight(o->cpuset));
}

/* Prints the caches of the first allowed hardware thread, innermost first. */
static void print_caches(FILE *out, hwloc_topology_t t)
{
    hwloc_obj_t o = hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, 0);
    unsigned n = 0;

    for (; o; o = o->parent)
        if (hwloc_obj_type_is_cache(o->type)) {
            print_cache(out, o);
            n++;
        }
    if (!n)
        fputs("caches: missing (hwloc sees none)\n", out);
}

static void print_topology(FILE *out)
{
    hwloc_topology_t t;

    if (hwloc_topology_init(&t)) {
        fputs("topology: missing (hwloc does not start)\n", out);
        return;
    }
    if (hwloc_topology_load(t)) {
        fputs("topology: missing (hwloc cannot read it)\n", out);
    } else {
        fprintf(out, "sockets: %d\ncores: %d\nhardware_threads: %d\n", hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PACKAGE),
                hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE), hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU));
        print_caches(out, t);
    }
    hwloc_topology_destroy(t);
}

#ifdef __x86_64__
static void print_virtualised(FILE *out)
{
    unsigned a, b, c, d;
    char name[13] = "";

    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31)) { /* bit 31 of ecx: a hypervisor is present */
        fputs("virtualised: no hypervisor announces itself\n", out);
        return;
    }
    __cpuid(0x40000000, a, b, c, d);
    memcpy(name, &b, 4);
    memcpy(name + 4, &c, 4);
    memcpy(name + 8, &d, 4);
    fprintf(out, "virtualised: yes, hypervisor '%s'\n", name);
}
#else
static void print_virtualised(FILE *out)
{
    fputs("virtualised: missing (only x86 announces its hypervisor)\n", out);
}
#endif

static void print_software(FILE *out)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    struct utsname u;

    if (uname(&u))
        fprintf(out, "kernel: missing (uname: %s)\n", strerror(errno));
    else
        fprintf(out, "kernel: %s %s %s\n", u.sysname, u.release, u.machine);
#ifdef __GLIBC__
    fprintf(out, "libc: glibc %s\n", gnu_get_libc_version());
#else
    fputs("libc: missing (not glibc)\n", out);
#endif
#ifdef __clang__
    fprintf(out, "compiler: %s\n", __VERSION__);
#else
    fprintf(out, "compiler: gcc %s\n", __VERSION__);
#endif
    if (pages > 0 && page_bytes > 0)
        fprintf(out, "memory_mib: %ld\npage_bytes: %ld\n", (long)((double)pages * (double)page_bytes / 1048576),
                page_bytes);
    else
        fputs("memory_mib: missing (sysconf does not tell)\n", out);
}

static void print_available(FILE *out, const char *key, int err, const char *why)
{
    if (err)
        fprintf(out, "%s: none (%s)\n", key, why);
    else
        fprintf(out, "%s: available\n", key);
}

static void print_counters(FILE *out)
{
    struct ctr_cpu cpu;
    char why[1024];

    if (ctr_cpu_host(&cpu, CTR_GROUPS_DIR, SIM_WHY(why)))
        fprintf(out, "event_groups: none (%s)\n", why);
    else
        fprintf(out, "event_groups: %s\n", cpu.uarch);
    print_available(out, "hardware_counters", ctr_perf_probe(SIM_WHY(why)), why);
    print_available(out, "data_breakpoints", ctr_watch_probe(SIM_WHY(why)), why);
}

static void print_timer(FILE *out)
{
    struct ctr_timer t;
    struct ctr_pin p;
    int err = ctr_timer_measure(&t);

    if (err)
        fprintf(out, "timer: missing (%s)\n", strerror(-err));
    else
        fprintf(out, "timer: CLOCK_MONOTONIC, %.1f ns per reading, smallest step %llu ns\n", t.overhead_ns,
                (unsigned long long)t.step_ns);
    err = ctr_pin_state(&p);
    if (err)
        fprintf(out, "allowed_hardware_threads: missing (%s)\n", strerror(-err));
    else
        fprintf(out, "allowed_hardware_threads: %zu, now on %d\n", p.n_allowed, p.core);
}

int ctr_hostinfo_print(FILE *out)
{
    print_cpu(out);
    print_topology(out);
    print_virtualised(out);
    fprintf(out, "emulated: %s\n",
            ctr_is_emulated() ? "yes: what is said of the CPU is the emulator's computer" : "no");
    print_software(out);
    print_files(out);
    print_timer(out);
    print_counters(out);
    return fflush(out) || ferror(out) ? -EIO : 0;
}
