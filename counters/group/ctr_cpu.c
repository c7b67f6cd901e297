#define _GNU_SOURCE
#include "counters/group/ctr_cpu.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/perf/ctr_event.h"
#include "counters/host/ctr_text.h"

static const char blanks[] = " \t\r\n";

struct reader {
    struct ctr_cpu *cpu;
    unsigned line;
    struct sim_why why;
};

static int bad(const struct reader *r, const char *what, const char *value)
{
    return sim_fail(r->why, -EINVAL, "%s:%u: %s, '%s'", r->cpu->path, r->line, what, value);
}

static int copy(const struct reader *r, char *field, size_t field_bytes, const char *text)
{
    size_t n = strlen(text);

    if (n >= field_bytes)
        return bad(r, "value too long", text);
    memcpy(field, text, n + 1);
    return 0;
}

static int read_name(struct reader *r, char *value)
{
    return copy(r, r->cpu->name, sizeof r->cpu->name, value);
}

static int read_pmu(struct reader *r, char *value)
{
    if (r->cpu->n_pmus == CTR_MAX_PMUS)
        return bad(r, "too many lines 'pmu'", value);
    return copy(r, r->cpu->pmu[r->cpu->n_pmus++], sizeof r->cpu->pmu[0], value);
}

static int read_counters(struct reader *r, char *value)
{
    char *end;
    unsigned long n = strtoul(value, &end, 10);

    if (end == value || *end || !n || n > CTR_MAX_SET_EVENTS)
        return bad(r, "number of counters is not 1 to 8", value);
    r->cpu->n_counters = (unsigned)n;
    return 0;
}

static int read_census(struct reader *r, char *value)
{
    return copy(r, r->cpu->census, sizeof r->cpu->census, value);
}

static int read_fixed(struct reader *r, char *value)
{
    if (r->cpu->n_fixed == CTR_MAX_FIXED)
        return bad(r, "too many lines 'fixed'", value);
    return copy(r, r->cpu->fixed[r->cpu->n_fixed++], sizeof r->cpu->fixed[0], value);
}

static int read_like(struct reader *r, char *value)
{
    return copy(r, r->cpu->like, sizeof r->cpu->like, value);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads "17" or "0-15" and moves *text behind the range. */
static bool is_range(char **text, unsigned *first, unsigned *last)
{
    if (!is_digit(**text))
        return false;
    *first = *last = (unsigned)strtoul(*text, text, 10);
    if (**text == '-' && is_digit((*text)[1]))
        *last = (unsigned)strtoul(*text + 1, text, 10);
    return *first <= *last;
}

static int add_models(struct reader *r, struct ctr_models m, char *range)
{
    struct ctr_cpu *cpu = r->cpu;
    char *end = range;
    bool is_good;

    if (cpu->n_models == CTR_MAX_MODELS)
        return bad(r, "too many models", range);
    is_good = is_range(&end, &m.first, &m.last);
    if (is_good && *end == ':') {
        end++;
        is_good = is_range(&end, &m.first_stepping, &m.last_stepping);
    }
    if (!is_good || *end)
        return bad(r, "models are not a number or two with a hyphen, nor these, a colon and steppings", range);
    cpu->model[cpu->n_models++] = m;
    return 0;
}

static int read_models(struct reader *r, char *value)
{
    char *save, *vendor = strtok_r(value, blanks, &save), *family = strtok_r(NULL, blanks, &save);
    struct ctr_models m = { .last_stepping = UINT_MAX };
    char *end = family;
    unsigned last;
    int err = copy(r, m.vendor, sizeof m.vendor, vendor);

    if (err)
        return err;
    if (!family) {
        r->cpu->model[0] = m;
        r->cpu->n_models = 1;
        return 0;
    }
    if (!is_range(&end, &m.family, &last) || m.family != last || *end)
        return bad(r, "family is not a number", family);
    value = strtok_r(NULL, blanks, &save);
    if (!value)
        return bad(r, "vendor and family without a model", vendor);
    for (; value && !err; value = strtok_r(NULL, blanks, &save))
        err = add_models(r, m, value);
    return err;
}

static const struct {
    const char *key;
    int (*read)(struct reader *r, char *value);
    bool may_repeat, has_to_be;
} keys[] = {
    { "name", read_name, false, true },      { "cpu", read_models, true, true },
    { "pmu", read_pmu, true, false },        { "counters", read_counters, false, true },
    { "census", read_census, false, false }, { "fixed", read_fixed, true, false },
    { "like", read_like, false, false },
};

enum { N_KEYS = sizeof keys / sizeof keys[0] };

static int read_line(struct reader *r, char *text, bool *seen)
{
    char *key, *value;
    size_t k = 0, n;

    text[strcspn(text, "#\r\n")] = '\0';
    key = text + strspn(text, blanks);
    if (!*key)
        return 0;
    n = strcspn(key, blanks);
    value = key + n + strspn(key + n, blanks);
    key[n] = '\0';
    for (n = strlen(value); n && strchr(blanks, value[n - 1]);)
        value[--n] = '\0';
    while (k < N_KEYS && strcmp(keys[k].key, key))
        k++;
    if (k == N_KEYS)
        return bad(r, "unknown key", key);
    if (!n)
        return bad(r, "key without a value", key);
    if (seen[k] && !keys[k].may_repeat)
        return bad(r, "key appears twice", key);
    seen[k] = true;
    return keys[k].read(r, value);
}

static int read_lines(struct reader *r, FILE *in)
{
    bool seen[N_KEYS] = { false };
    char line[512];
    int err = 0;

    while (!err && fgets(line, sizeof line, in)) {
        r->line++;
        err = strchr(line, '\n') || feof(in) ? read_line(r, line, seen) : bad(r, "line too long", line);
    }
    for (size_t k = 0; k < N_KEYS && !err; k++)
        if (keys[k].has_to_be && !seen[k])
            err = bad(r, "file ends without a key", keys[k].key);
    return err;
}

int ctr_cpu_read(struct ctr_cpu *cpu, const char *groups_dir, const char *uarch, struct sim_why why)
{
    struct reader r = { .cpu = cpu, .why = why };
    FILE *in;
    int err;

    assert(groups_dir && uarch);
    *cpu = (struct ctr_cpu){ .n_models = 0 };
    if (strlen(uarch) >= sizeof cpu->uarch ||
        (size_t)snprintf(cpu->path, sizeof cpu->path, "%s/%s/cpu.cfg", groups_dir, uarch) >= sizeof cpu->path)
        return sim_fail(why, -ENAMETOOLONG, "path too long, '%s/%s/cpu.cfg'", groups_dir, uarch);
    strcpy(cpu->uarch, uarch);
    in = fopen(cpu->path, "r");
    if (!in)
        return sim_fail(why, -errno, "cannot open '%s': %s", cpu->path, strerror(errno));
    err = read_lines(&r, in);
    fclose(in);
    return err;
}

static bool serves_model(const struct ctr_cpu *cpu, const struct ctr_models *is)
{
    for (size_t i = 0; i < cpu->n_models; i++) {
        const struct ctr_models *m = &cpu->model[i];

        if (m->family == is->family && is->first >= m->first && is->first <= m->last &&
            is->first_stepping >= m->first_stepping && is->first_stepping <= m->last_stepping &&
            (m->family ? !strcmp(m->vendor, is->vendor) : !strncmp(m->vendor, is->vendor, strlen(m->vendor))))
            return true;
    }
    return false;
}

static bool serves_pmu(const struct ctr_cpu *cpu, const char *pmu)
{
    for (size_t i = 0; i < cpu->n_pmus; i++)
        if (!strcmp(cpu->pmu[i], pmu))
            return true;
    return false;
}

/* Searches by model before by PMU: libpfm4 may take a new CPU for an older CPU. */
static int search(struct ctr_cpu *cpu, const char *groups_dir, struct dirent **entry, size_t n,
                  const struct ctr_models *is, const char *pmu, struct sim_why why)
{
    for (size_t i = 0; i < n; i++) {
        int err = ctr_cpu_read(cpu, groups_dir, entry[i]->d_name, why);

        if (err == -ENOENT || err == -ENOTDIR) /* serves no CPU */
            continue;
        if (err || (pmu ? serves_pmu(cpu, pmu) : serves_model(cpu, is)))
            return err;
    }
    return -ENOENT;
}

static int is_folder(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int ctr_cpu_find(struct ctr_cpu *cpu, const char *groups_dir, const struct ctr_models *cpu_is, const char *pmu,
                 struct sim_why why)
{
    struct dirent **entry;
    int n = scandir(groups_dir, &entry, is_folder, alphasort);
    int err;

    if (n < 0)
        return sim_fail(why, -ENOTDIR, "cannot open the folder '%s': %s", groups_dir, strerror(errno));
    err = search(cpu, groups_dir, entry, (size_t)n, cpu_is, NULL, why);
    if (err == -ENOENT && pmu)
        err = search(cpu, groups_dir, entry, (size_t)n, cpu_is, pmu, why);
    while (n > 0)
        free(entry[--n]);
    free(entry);
    return err;
}

static unsigned cpuinfo_number(const char *key)
{
    char text[64];

    return ctr_text_key("/proc/cpuinfo", key, text, sizeof text) ? 0 : (unsigned)strtoul(text, NULL, 10);
}

static struct ctr_models host_model(void)
{
    struct ctr_models m = { .family = cpuinfo_number("cpu family"), .first = cpuinfo_number("model") };

    if (ctr_text_key("/proc/cpuinfo", m.family ? "vendor_id" : "cpu", m.vendor, sizeof m.vendor))
        strcpy(m.vendor, "unknown vendor");
    if (m.family)
        m.first_stepping = cpuinfo_number("stepping");
    else
        m.first = 0; /* the line `model` of POWER names the board */
    return m;
}

int ctr_cpu_host(struct ctr_cpu *cpu, const char *groups_dir, struct sim_why why)
{
    const struct ctr_models is = host_model();
    char pmu[64];
    bool has_pmu = !ctr_event_host_pmu(pmu, sizeof pmu);
    int err = ctr_cpu_find(cpu, groups_dir, &is, has_pmu ? pmu : NULL, why);

    if (err != -ENOENT)
        return err;
    return sim_fail(why, err,
                    "no event groups for this CPU (%s family %u model %u; libpfm4 recognises: %s): add a folder to %s",
                    is.vendor, is.family, is.first, has_pmu ? pmu : "no core PMU", groups_dir);
}
