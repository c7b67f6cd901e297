#define _GNU_SOURCE
#include "counters/ctr_event.h"

#include <errno.h>
#include <perfmon/pfmlib_perf_event.h> /* brings its own copy of <linux/perf_event.h>: never include both */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/ctr_text.h"

static const char inactive[] = "LIBPFM_ENCODE_INACTIVE";

/*
 * Lets libpfm4 encode for CPUs other than this one, which takes an environment variable at its first start: so that
 * groups can be checked anywhere, and so that CPUs newer than the library can use their predecessor's table.
 */
static int start_libpfm(void)
{
    bool was_set = getenv(inactive) != NULL;
    int err;

    if (!was_set)
        setenv(inactive, "1", 0);
    err = pfm_initialize(); /* does nothing the second time */
    if (!was_set)
        unsetenv(inactive);
    return err;
}

bool ctr_event_is_raw(const char *text)
{
    return !strncmp(text, "r0x", 3);
}

int ctr_event_raw_code(const char *text, uint64_t *config)
{
    const char *digits = text + 3;
    size_t n;

    if (!ctr_event_is_raw(text))
        return -EINVAL;
    n = strspn(digits, "0123456789abcdefABCDEF");
    if (n < 1 || n > 16 || digits[n])
        return -EINVAL;
    *config = strtoull(digits, NULL, 16);
    return 0;
}

static int encode_name(const char *text, struct ctr_event_code *code, char *why, size_t why_bytes)
{
    struct perf_event_attr attr = { .size = sizeof attr };
    pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof arg };
    int version = pfm_get_version();
    int err = start_libpfm();

    if (err == PFM_SUCCESS)
        err = pfm_get_os_event_encoding(text, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
    if (err != PFM_SUCCESS)
        return ctr_fail(-EINVAL, why, why_bytes, "libpfm4 %d.%d: %s, '%s'", PFM_MAJ_VERSION(version),
                        PFM_MIN_VERSION(version), pfm_strerror(err), text);
    *code = (struct ctr_event_code){
        .type = attr.type,
        .config = attr.config,
        .config1 = attr.config1,
        .config2 = attr.config2,
        .counts_kernel = !attr.exclude_kernel,
    };
    return 0;
}

int ctr_event_encode(const char *text, struct ctr_event_code *code, char *why, size_t why_bytes)
{
    uint64_t config = 0;

    if (!ctr_event_is_raw(text))
        return encode_name(text, code, why, why_bytes);
    if (ctr_event_raw_code(text, &config))
        return ctr_fail(-EINVAL, why, why_bytes, "raw code is not r0x and up to 16 hexadecimal digits, '%s'", text);
    *code = (struct ctr_event_code){ .type = PERF_TYPE_RAW, .config = config };
    return 0;
}

static const struct {
    const char *pmu, *uarch;
} folders[] = {
    { "skx", "skx" },         { "clx", "clx" }, { "icx", "icx" }, { "spr", "spr" }, { "amd64_fam19h_zen4", "zen4" },
    { "power10", "power10" },
};

/* Emerald Rapids has the core of Sapphire Rapids. */
static const struct {
    const char *vendor;
    unsigned family, model;
    const char *uarch;
} newer_cpus[] = {
    { "GenuineIntel", 6, 207, "spr" },
};

const char *ctr_uarch_of_pmu(const char *pmu)
{
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (!strcmp(folders[i].pmu, pmu))
            return folders[i].uarch;
    return NULL;
}

const char *ctr_uarch_of_cpu(const char *vendor, unsigned family, unsigned model)
{
    for (size_t i = 0; i < sizeof newer_cpus / sizeof newer_cpus[0]; i++)
        if (newer_cpus[i].family == family && newer_cpus[i].model == model && !strcmp(newer_cpus[i].vendor, vendor))
            return newer_cpus[i].uarch;
    return NULL;
}

static unsigned cpuinfo_number(const char *key)
{
    char text[64];

    return ctr_text_key("/proc/cpuinfo", key, text, sizeof text) ? 0 : (unsigned)strtoul(text, NULL, 10);
}

static int uarch_by_cpuinfo(const char **uarch, const char *pmus, char *why, size_t why_bytes)
{
    unsigned family = cpuinfo_number("cpu family"), model = cpuinfo_number("model");
    char vendor[64] = "unknown vendor";

    ctr_text_key("/proc/cpuinfo", "vendor_id", vendor, sizeof vendor);
    *uarch = ctr_uarch_of_cpu(vendor, family, model);
    if (*uarch)
        return 0;
    return ctr_fail(-ENOENT, why, why_bytes,
                    "no event groups for this CPU (%s family %u model %u; libpfm4 recognises: %s)", vendor, family,
                    model, *pmus ? pmus : "no core PMU");
}

int ctr_uarch_host(const char **uarch, char *why, size_t why_bytes)
{
    char pmus[128] = "";

    if (start_libpfm() != PFM_SUCCESS)
        return ctr_fail(-ENOENT, why, why_bytes, "libpfm4 does not start on this machine");
    for (int i = 0; i < PFM_PMU_MAX; i++) {
        pfm_pmu_info_t info = { .size = sizeof info };

        if (pfm_get_pmu_info((pfm_pmu_t)i, &info) != PFM_SUCCESS || !info.is_present || info.type != PFM_PMU_TYPE_CORE)
            continue;
        *uarch = ctr_uarch_of_pmu(info.name);
        if (*uarch)
            return 0;
        snprintf(pmus + strlen(pmus), sizeof pmus - strlen(pmus), "%s%s", *pmus ? ", " : "", info.name);
    }
    return uarch_by_cpuinfo(uarch, pmus, why, why_bytes);
}
