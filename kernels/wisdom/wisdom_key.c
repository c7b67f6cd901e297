#include "kernels/wisdom/wisdom_lines.h"

#include <stdio.h>
#include <string.h>

#include "kernels/wisdom/wisdom.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Vendor, family and model. */
static void name_cpu(char *name, size_t bytes)
{
    unsigned a = 0, b = 0, c = 0, d = 0, family, model;
    char vendor[13] = "";

    if (__get_cpuid(0, &a, &b, &c, &d)) {
        memcpy(vendor, &b, sizeof b);
        memcpy(vendor + 4, &d, sizeof d);
        memcpy(vendor + 8, &c, sizeof c);
    }
    a = 0;
    __get_cpuid(1, &a, &b, &c, &d);
    family = (a >> 8 & 15) == 15 ? 15 + (a >> 20 & 255) : a >> 8 & 15;
    model = (a >> 4 & 15) | (a >> 12 & 0xf0);
    snprintf(name, bytes, "%s-%u-%u", vendor, family, model);
}
#else
#include <sys/auxv.h>

static void name_cpu(char *name, size_t bytes)
{
    const char *platform = (const char *)getauxval(AT_PLATFORM);

    snprintf(name, bytes, "%s", platform ? platform : "unknown");
}
#endif

static void close_blanks(char *word)
{
    for (; *word; word++) {
        if (*word == ' ' || *word == '\n')
            *word = '_';
    }
}

void wisdom_key(const struct conv_problem *p, const struct csa_caches *caches, enum cpu_isa isa, char *key,
                size_t bytes)
{
    char cpu[64];
    size_t end;

    name_cpu(cpu, sizeof cpu);
    close_blanks(cpu);
    end = (size_t)snprintf(key, bytes, "%s %s %s %.0f/%.0f/%.0f/%g/%g ", cpu, wisdom_version(), sim_cpu_isa_suffix(isa),
                           caches->l1_bytes, caches->l2_bytes, caches->l3_bytes, caches->macs_per_cycle,
                           caches->loads_per_cycle);
    for (size_t i = 0; i < CONV_N_FIELDS && end < bytes; i++)
        end += (size_t)snprintf(key + end, bytes - end, "%s%zu", i ? "," : "", conv_field(p, i));
}

const char *wisdom_version(void)
{
    return KERNELS_VERSION;
}
