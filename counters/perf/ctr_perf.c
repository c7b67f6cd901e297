#define _GNU_SOURCE
#include "counters/perf/ctr_perf.h"

#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/host/ctr_text.h"

int ctr_perf_add(struct ctr_perf_set *set, const struct ctr_event_code *code)
{
    struct perf_event_attr attr = {
        .type = code->type,
        .size = sizeof attr,
        .config = code->config,
        .config1 = code->config1,
        .config2 = code->config2,
        .bp_type = code->bp_type,
        .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .disabled = !set->n_events, /* the leader's state is the group's */
        .exclude_kernel = !code->counts_kernel,
        .exclude_hv = 1,
    };
    long fd;

    assert(set->n_events <= CTR_MAX_SET_EVENTS);
    if (set->n_events == CTR_MAX_SET_EVENTS)
        return -E2BIG;
    fd = syscall(SYS_perf_event_open, &attr, 0, -1, set->n_events ? set->fd[0] : -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    set->fd[set->n_events++] = (int)fd;
    return 0;
}

static int read_group(const struct ctr_perf_set *set, struct ctr_counts *counts)
{
    uint64_t raw[3 + CTR_MAX_SET_EVENTS]; /* number of events, time enabled, time running, values */
    size_t bytes = (3 + set->n_events) * sizeof raw[0];
    ssize_t got;

    assert(set->n_events && set->n_events <= CTR_MAX_SET_EVENTS); /* an empty set has no leader */
    got = read(set->fd[0], raw, sizeof raw);
    if (got < 0)
        return -errno;
    if ((size_t)got != bytes || raw[0] != set->n_events)
        return -EIO;
    counts->time_enabled_ns = raw[1];
    counts->time_running_ns = raw[2];
    memcpy(counts->value, raw + 3, set->n_events * sizeof raw[0]);
    return 0;
}

static int control(const struct ctr_perf_set *set, unsigned long request)
{
    assert(set->n_events);
    return ioctl(set->fd[0], request, PERF_IOC_FLAG_GROUP) ? -errno : 0;
}

int ctr_perf_start(struct ctr_perf_set *set)
{
    int err = read_group(set, &set->base);

    return err ? err : control(set, PERF_EVENT_IOC_ENABLE);
}

int ctr_perf_stop(struct ctr_perf_set *set)
{
    return control(set, PERF_EVENT_IOC_DISABLE);
}

int ctr_perf_read(const struct ctr_perf_set *set, struct ctr_counts *counts)
{
    int err = read_group(set, counts);

    if (err)
        return err;
    counts->time_enabled_ns -= set->base.time_enabled_ns;
    counts->time_running_ns -= set->base.time_running_ns;
    for (size_t i = 0; i < set->n_events; i++)
        counts->value[i] -= set->base.value[i];
    return 0;
}

void ctr_perf_close(struct ctr_perf_set *set)
{
    while (set->n_events)
        close(set->fd[--set->n_events]);
}

/* The usual causes and the remedies, in the words of a user who has to act. */
static const struct {
    int err;
    const char *meaning, *remedy;
} meanings[] = {
    { -ENOENT, "no such event: this machine (virtual?) exposes no hardware performance counters",
      "give the virtual machine a PMU (KVM: `pmu=on` after `-cpu host`), or use a whole computer; a new CPU may "
      "need a newer kernel" },
    { -ENOSYS, "no such system call: this is an emulator, or a kernel built without perf events",
      "run on the computer itself" },
    { -EOPNOTSUPP, "not supported: the counters of this machine cannot count this event",
      "none, unless the hypervisor is told to pass more of the PMU on" },
    { -ENODEV, "no such device: this CPU does not have the feature that the event needs", "none" },
    { -EINVAL, "invalid: the kernel refuses this event code, or more events in one set than there are counters",
      "stop what else counts (`perf`, kernel.nmi_watchdog = 1), or update the kernel" },
    { -E2BIG, "too many events in one set", "none" },
    { -EMFILE, "too many open files", "raise the limit (ulimit -n) or close sessions" },
    { -ENFILE, "too many open files in the whole system", "raise fs.file-max" },
    { -ENOSPC, "no debug register left: all are in use", "close other watchpoints and debuggers" },
    { -EBUSY, "busy: somebody else has exclusive use of the counters", "stop the other profiler" },
    { -ENOMEM, "out of memory", "none" },
};

static int explain_refusal(int err, const char *event, struct sim_why why)
{
    char level[32];

    if (ctr_text_first_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof level))
        snprintf(level, sizeof level, "unreadable");
    return sim_fail(
        why, err,
        "perf_event_open: not allowed (%s, kernel.perf_event_paranoid = %s): event '%s'; remedy: run `sysctl "
        "kernel.perf_event_paranoid=1` as root, or grant CAP_PERFMON; containers also filter the call",
        err == -EPERM ? "EPERM" : "EACCES", level, event);
}

int ctr_perf_explain(int err, const char *event, struct sim_why why)
{
    const char *meaning = strerror(-err), *remedy = "none known";

    assert(err < 0 && event);
    if (err == -EACCES || err == -EPERM)
        return explain_refusal(err, event, why);
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (meanings[i].err == err) {
            meaning = meanings[i].meaning;
            remedy = meanings[i].remedy;
        }
    }
    return sim_fail(why, err, "perf_event_open: %s: event '%s'; remedy: %s", meaning, event, remedy);
}

int ctr_perf_probe(struct sim_why why)
{
    struct ctr_event_code cycles = { .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES };
    struct ctr_perf_set set = { 0 };
    int err = ctr_perf_add(&set, &cycles);

    ctr_perf_close(&set);
    return err ? ctr_perf_explain(err, "cycles", why) : 0;
}
