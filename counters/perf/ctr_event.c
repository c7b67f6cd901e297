#define _GNU_SOURCE
#include "counters/perf/ctr_event.h"

#include <assert.h>
#include <errno.h>
#include <perfmon/pfmlib_perf_event.h> /* has its own copy of <linux/perf_event.h>: never include both */
#include <stdlib.h>
#include <string.h>

static const char inactive[] = "LIBPFM_ENCODE_INACTIVE";

/*
 * Lets libpfm4 encode for all CPUs: groups can be checked anywhere, and CPUs newer than the library can use the table
 * of an earlier CPU. libpfm4 reads the environment variable at its first start.
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

static int encode_name(const char *text, struct ctr_event_code *code, struct sim_why why)
{
    struct perf_event_attr attr = { .size = sizeof attr };
    pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof arg };
    int version = pfm_get_version();
    int err = start_libpfm();

    if (err == PFM_SUCCESS)
        err = pfm_get_os_event_encoding(text, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
    if (err != PFM_SUCCESS)
        return sim_fail(why, -EINVAL, "libpfm4 %d.%d: %s, '%s'", PFM_MAJ_VERSION(version), PFM_MIN_VERSION(version),
                        pfm_strerror(err), text);
    *code = (struct ctr_event_code){
        .type = attr.type,
        .config = attr.config,
        .config1 = attr.config1,
        .config2 = attr.config2,
        .counts_kernel = !attr.exclude_kernel,
    };
    return 0;
}

int ctr_event_encode(const char *text, struct ctr_event_code *code, struct sim_why why)
{
    uint64_t config = 0;

    assert(text && code);
    if (!ctr_event_is_raw(text))
        return encode_name(text, code, why);
    if (ctr_event_raw_code(text, &config))
        return sim_fail(why, -EINVAL, "raw code is not r0x and up to 16 hexadecimal digits, '%s'", text);
    *code = (struct ctr_event_code){ .type = PERF_TYPE_RAW, .config = config };
    return 0;
}

int ctr_event_host_pmu(char *name, size_t bytes)
{
    assert(name && bytes);
    if (start_libpfm() != PFM_SUCCESS)
        return -ENOENT;
    for (int i = 0; i < PFM_PMU_MAX; i++) {
        pfm_pmu_info_t info = { .size = sizeof info };

        if (pfm_get_pmu_info((pfm_pmu_t)i, &info) != PFM_SUCCESS || !info.is_present || info.type != PFM_PMU_TYPE_CORE)
            continue;
        if (!strncmp(info.name, "ix86arch", 8)) /* every Intel CPU has the PMU */
            continue;
        snprintf(name, bytes, "%s", info.name);
        return 0;
    }
    return -ENOENT;
}
