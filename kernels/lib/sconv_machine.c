/* Machines of libsconv: caches from a file or the host's, the ports of the core, and wisdom. */
#include "kernels/lib/sconv_inside.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/ukr/ports.h"
#include "kernels/wisdom/wisdom.h"

/* Caches that most cores of the last years have at least, for computers that hide theirs. */
static const struct sim_machine typical = {
    .name = "typical",
    .n_levels = 3,
    .level = {
        { .name = "L1", .policy = "lru", .n_sets = 64, .n_ways = 8, .line_bytes = 64, .latency_cycles = 4 },
        { .name = "L2", .policy = "lru", .n_sets = 1024, .n_ways = 8, .line_bytes = 64, .latency_cycles = 14 },
        { .name = "L3", .policy = "lru", .n_sets = 8192, .n_ways = 16, .line_bytes = 64, .latency_cycles = 50 },
    },
    .memory_latency_cycles = 200,
};

static void add_ports(struct sim_issue *issue)
{
    struct conv_ports ports;

    if (!conv_ports_measure(&ports))
        return;
    issue->mac_instructions_per_cycle = ports.macs_per_cycle;
    issue->loads_per_cycle = ports.loads_per_cycle;
}

static int describe_machine(struct sconv_machine *m, const char *path, struct sim_why why)
{
    char ignored[160];

    if (path)
        return sim_machine_read(&m->m, path, why.bytes ? why.text : ignored, why.bytes ? why.bytes : sizeof ignored);
    m->is_assumed = sim_machine_host(&m->m, ignored, sizeof ignored) != 0;
    if (m->is_assumed)
        m->m = typical;
    add_ports(&m->m.issue);
    return 0;
}

/* Returns the bound of a word error<=bound, or 0 if the word is none. */
static double read_error(const char *word)
{
    static const char prefix[] = "error<=";
    const char *number = word + sizeof prefix - 1;
    char *end;
    double bound;

    if (strncmp(word, prefix, sizeof prefix - 1) || !*number)
        return 0;
    bound = strtod(number, &end);
    return !*end && isfinite(bound) && bound > 0 ? bound : 0;
}

/* Winograd rounds more often than plain loops: only the user can allow the errors. */
static int read_winograd(struct sconv_machine *m, struct sim_why why)
{
    const char *word = getenv("SCONV_WINOGRAD");

    if (!word || !*word || !strcmp(word, "no"))
        return 0;
    m->winograd_error = read_error(word);
    m->allows_winograd = m->winograd_error > 0 || !strcmp(word, "yes");
    if (m->allows_winograd)
        return 0;
    return sim_fail(why, -EINVAL, "SCONV_WINOGRAD is '%s', must be yes, no, or error<= and a positive number", word);
}

int sconv_machine_create(struct sconv_machine **machine, const char *path, char *why, size_t why_bytes)
{
    const struct sim_why reason = { why, why_bytes };
    struct sconv_machine *m;
    int err;

    if (!machine || (why_bytes && !why))
        return -EINVAL;
    *machine = NULL;
    m = calloc(1, sizeof *m);
    if (!m)
        return -ENOMEM;
    err = describe_machine(m, path, reason);
    if (!err)
        err = read_winograd(m, reason);
    if (!err)
        err = conv_wisdom_start(&m->wisdom, NULL, NULL, &m->measures, reason);
    if (err)
        free(m);
    else
        *machine = m;
    return err;
}

void sconv_machine_free(struct sconv_machine *machine)
{
    if (machine)
        conv_wisdom_release(machine->wisdom);
    free(machine);
}

static int check_wisdom_call(const struct sconv_machine *machine, const char *path, struct sim_why why)
{
    if (why.bytes && !why.text)
        return -EINVAL;
    if (!machine)
        return sim_fail(why, -EINVAL, "machine is NULL");
    return path ? 0 : sim_fail(why, -EINVAL, "path is NULL");
}

int sconv_wisdom_import(struct sconv_machine *machine, const char *path, char *why, size_t why_bytes)
{
    const struct sim_why reason = { why, why_bytes };
    int err = check_wisdom_call(machine, path, reason);

    return err ? err : conv_wisdom_import(machine->wisdom, path, reason);
}

int sconv_wisdom_export(const struct sconv_machine *machine, const char *path, char *why, size_t why_bytes)
{
    const struct sim_why reason = { why, why_bytes };
    int err = check_wisdom_call(machine, path, reason);

    return err ? err : conv_wisdom_export(machine->wisdom, path, reason);
}

void sconv_wisdom_forget(struct sconv_machine *machine)
{
    if (machine)
        conv_wisdom_forget(machine->wisdom);
}
