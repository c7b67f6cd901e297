#include "sim/machine/machine_cpu.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* ---- /proc/cpuinfo ---- */

/* The value of a line "key  : value"; NULL: the line has another key. */
static char *value_of(char *line, const char *key)
{
    const size_t length = strlen(key);
    char *at = line + length;

    if (strncmp(line, key, length) != 0)
        return NULL;
    at += strspn(at, " \t");
    if (*at != ':')
        return NULL;
    at++;
    at += strspn(at, " \t");
    for (size_t n = strlen(at); n && strchr(" \t\n", at[n - 1]);)
        at[--n] = '\0';
    return at;
}

/* Stores the first value of a key. Returns whether there is one. */
static bool find(const char *key, char *value, size_t bytes)
{
    FILE *in = fopen("/proc/cpuinfo", "r");
    char line[512], *found = NULL;

    while (in && !found && fgets(line, sizeof line, in))
        found = value_of(line, key);
    if (found)
        snprintf(value, bytes, "%s", found);
    if (in)
        fclose(in);
    return found;
}

static bool find_number(const char *key, unsigned *n)
{
    char text[32];

    *n = find(key, text, sizeof text) ? (unsigned)strtoul(text, NULL, 10) : 0;
    return *n;
}

static void name(struct sim_host_cpu *c)
{
    char text[56]; /* x86 has at most 48 letters */
    struct utsname system;

    if (!find("model name", text, sizeof text) && !find("cpu", text, sizeof text))
        snprintf(c->name, sizeof c->name, "unknown %s CPU", uname(&system) ? "kind of" : system.machine);
    else if (c->family)
        snprintf(c->name, sizeof c->name, "%s (family %u, model %u)", text, c->family, c->model);
    else
        snprintf(c->name, sizeof c->name, "%s", text);
}

void sim_host_cpu_look(struct sim_host_cpu *c)
{
    assert(c);
    *c = (struct sim_host_cpu){ 0 };
    if (find_number("cpu family", &c->family)) { /* the line `model` of POWER names the board */
        find_number("model", &c->model);
        find_number("stepping", &c->stepping);
    }
    find(c->family ? "vendor_id" : "cpu", c->vendor, sizeof c->vendor);
    name(c);
}

/* ---- lists ---- */

/* Reads "17" or "0-15". Returns whether n is in the range, and in *end the rest of the text. */
static bool is_within(const char *text, unsigned n, const char **end)
{
    char *at;
    const unsigned long first = strtoul(text, &at, 10), last = *at == '-' ? strtoul(at + 1, &at, 10) : first;

    *end = at;
    return n >= first && n <= last;
}

static bool is_model(const struct sim_host_cpu *c, const char *word)
{
    const char *end;

    return is_within(word, c->model, &end) && (*end != ':' || is_within(end + 1, c->stepping, &end));
}

bool sim_host_cpu_is(const struct sim_host_cpu *c, const char *list)
{
    const size_t vendor = strcspn(list, " ");
    const char *at = list + vendor + strspn(list + vendor, " "), *models;

    assert(c && list);
    if (!*at)
        return vendor && !strncmp(c->vendor, list, vendor);
    if (strlen(c->vendor) != vendor || strncmp(c->vendor, list, vendor) != 0 || !is_within(at, c->family, &models))
        return false;
    for (at = models + strspn(models, " "); *at; at += strspn(at, " ")) {
        if (is_model(c, at))
            return true;
        at += strcspn(at, " ");
    }
    return false;
}
