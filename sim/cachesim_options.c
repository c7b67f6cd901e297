#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/cachesim_options.h"

const char cachesim_help[] =
    "usage: cachesim [options] TRACE        (TRACE is a file, or - for standard input)\n"
    "\n"
    "Simulates the caches of a machine on a trace of memory accesses and prints what they counted.\n"
    "\n"
    "The trace\n"
    "  --format FORMAT     din, lackey, text or binary; else by the end of TRACE's name (.din, .lackey, .text, "
    ".binary)\n"
    "  --fetches           simulate instruction fetches as loads with tag 7; else they are left out\n"
    "  --din-bytes N       width of din accesses without a size (default 4)\n"
    "The machine\n"
    "  --machine NAME      clx4208, power10, toy, ..., the path of a .cfg file, or host: this computer (the default)\n"
    "  --l1 SIZE,WAYS,LINE[,POLICY]\n"
    "                      another geometry for level 1; --l2 to --l8 likewise; the next level is added.\n"
    "                      Without --machine there are no levels but these. SIZE takes k and m\n"
    "  --3c                classify misses: compulsory, capacity, conflict\n"
    "The run\n"
    "  --passes N          run the trace N times in a row (a file, not -)\n"
    "  --warmup N          do not count the first N accesses; 'pass': not all passes but the last\n"
    "  --flush             write dirty lines back at the end, and count that\n"
    "The output\n"
    "  --output FORMAT     table (default), csv or json\n"
    "  --tags              also by tag and phase\n"
    "Instead of simulating a machine\n"
    "  --reuse             histogram of reuse distances as CSV\n"
    "  --mrc               misses of fully associative LRU caches of every size as CSV\n"
    "  --wss N             size of the working set of the last N accesses, every N accesses, as CSV\n"
    "  --line BYTES        line size of these three (default 64)\n"
    "  --convert FORMAT FILE\n"
    "                      write the trace in another format; FILE may be -\n"
    "\n"
    "Examples\n"
    "  valgrind --tool=lackey --trace-mem=yes ./prog 2>&1 | cachesim --machine clx4208 --format lackey -\n"
    "  cachesim --l1 32k,8,64 --l2 1m,16,64 --output json gcc.din\n"
    "  zstd -dc big.binary.zst | cachesim --machine host --format binary --tags -\n"
    "  cachesim --passes 2 --warmup pass --machine toy loop.text\n"
    "  cachesim --mrc gcc.din > gcc.csv\n"
    "  cachesim --convert binary gcc.binary gcc.din\n"
    "\n"
    "Exit status: 0; 1 if the output could not be written; 2 for bad options, machines or traces.\n";

/* option and value may be NULL: there is none to name. */
static int fail(char *why, size_t why_bytes, const char *option, const char *what, const char *value)
{
    snprintf(why, why_bytes, "%s%s%s%s%s%s", option ? option : "", option ? ": " : "", what, value ? ", '" : "",
             value ? value : "", value ? "'" : "");
    return -EINVAL;
}

/* A whole number from low to high with nothing behind it but, where the caller allows it, k or m. */
static bool parse_number(const char *text, bool takes_suffix, uint64_t low, uint64_t high, uint64_t *value)
{
    char *end;
    unsigned shift = 0;

    errno = 0;
    if (*text < '0' || *text > '9')
        return false;
    *value = strtoull(text, &end, 10);
    if (takes_suffix && (*end == 'k' || *end == 'K'))
        shift = 10;
    else if (takes_suffix && (*end == 'm' || *end == 'M'))
        shift = 20;
    if (errno || end[shift ? 1 : 0] || *value > UINT64_MAX >> shift)
        return false;
    *value <<= shift;
    return *value >= low && *value <= high;
}

/* ---- options ---- */

/* How one option stores its value; returns NULL or what is wrong. */
typedef const char *(*option_fn)(struct cachesim_options *o, const char *value);

static const char *set_format(struct cachesim_options *o, const char *value)
{
    return sim_trace_format_find(value, &o->reader.format) ? "not din, lackey, text or binary" : NULL;
}

static const char *set_fetches(struct cachesim_options *o, const char *value)
{
    (void)value;
    o->reader.has_fetches = true;
    return NULL;
}

static const char *set_din_bytes(struct cachesim_options *o, const char *value)
{
    uint64_t n = 0;

    if (!parse_number(value, false, 1, SIM_TRACE_MAX_BYTES, &n))
        return "not a width from 1 to 1048576";
    o->reader.din_bytes = (uint32_t)n;
    return NULL;
}

static const char *set_machine(struct cachesim_options *o, const char *value)
{
    o->machine = value;
    return NULL;
}

static const char *set_3c(struct cachesim_options *o, const char *value)
{
    (void)value;
    o->is_classified = true;
    return NULL;
}

static const char *set_passes(struct cachesim_options *o, const char *value)
{
    return parse_number(value, false, 1, UINT32_MAX, &o->passes) ? NULL : "not a number from 1";
}

static const char *set_warmup(struct cachesim_options *o, const char *value)
{
    o->warms_up_passes = !strcmp(value, "pass");
    if (o->warms_up_passes || parse_number(value, false, 0, UINT64_MAX, &o->warmup))
        return NULL;
    return "neither a number of accesses nor 'pass'";
}

static const char *set_flush(struct cachesim_options *o, const char *value)
{
    (void)value;
    o->flushes = true;
    return NULL;
}

static const char *set_output(struct cachesim_options *o, const char *value)
{
    static const char *const names[] = { "table", "csv", "json" };

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!strcmp(names[i], value)) {
            o->output = (enum sim_report_format)i;
            return NULL;
        }
    }
    return "not table, csv or json";
}

static const char *set_tags(struct cachesim_options *o, const char *value)
{
    (void)value;
    o->by_tag = true;
    return NULL;
}

static const char *set_mode(struct cachesim_options *o, enum cachesim_mode mode)
{
    if (o->mode != CACHESIM_SIMULATE && o->mode != mode)
        return "only one of --reuse, --mrc, --wss and --convert at a time";
    o->mode = mode;
    return NULL;
}

static const char *set_reuse(struct cachesim_options *o, const char *value)
{
    (void)value;
    return set_mode(o, CACHESIM_REUSE);
}

static const char *set_mrc(struct cachesim_options *o, const char *value)
{
    (void)value;
    return set_mode(o, CACHESIM_MRC);
}

static const char *set_wss(struct cachesim_options *o, const char *value)
{
    if (!parse_number(value, true, 1, UINT64_MAX, &o->window))
        return "not a number of accesses from 1";
    return set_mode(o, CACHESIM_WSS);
}

static const char *set_line(struct cachesim_options *o, const char *value)
{
    uint64_t n = 0;

    if (!parse_number(value, true, 1, SIM_MAX_LINE_BYTES, &n) || (n & (n - 1)))
        return "not a power of two up to 2m";
    o->line_bytes = (uint32_t)n;
    return NULL;
}

static const char *set_convert(struct cachesim_options *o, const char *value)
{
    if (sim_trace_format_find(value, &o->convert_format))
        return "not din, lackey, text or binary";
    return set_mode(o, CACHESIM_CONVERT);
}

static const struct option {
    const char *name;
    bool has_value;
    option_fn set;
} options[] = {
    { "--format", true, set_format },   { "--fetches", false, set_fetches }, { "--din-bytes", true, set_din_bytes },
    { "--machine", true, set_machine }, { "--3c", false, set_3c },           { "--passes", true, set_passes },
    { "--warmup", true, set_warmup },   { "--flush", false, set_flush },     { "--output", true, set_output },
    { "--tags", false, set_tags },      { "--reuse", false, set_reuse },     { "--mrc", false, set_mrc },
    { "--wss", true, set_wss },         { "--line", true, set_line },        { "--convert", true, set_convert },
};

static const struct option *find_option(const char *name)
{
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (!strcmp(options[i].name, name))
            return &options[i];
    }
    return NULL;
}

/* The level that "--l3" is about, from 0; SIM_MAX_LEVELS if it is something else. */
static size_t level_option(const char *name)
{
    if (strncmp(name, "--l", 3) || name[3] < '1' || name[3] > '8' || name[4])
        return SIM_MAX_LEVELS;
    return (size_t)(name[3] - '1');
}

_Static_assert(SIM_MAX_LEVELS == 8, "--l1 to --l8");

/* The arguments, one after the other. */
struct arguments {
    char **next; /* NULL at the end, as argv has it */
    char *why;
    size_t why_bytes;
};

static int take_value(struct arguments *a, const char *option, const char **value)
{
    if (!*a->next)
        return fail(a->why, a->why_bytes, option, "its value is missing", NULL);
    *value = *a->next++;
    return 0;
}

static int take_option(struct cachesim_options *o, struct arguments *a, const char *name)
{
    const struct option *option = find_option(name);
    size_t level = level_option(name);
    const char *value = "", *what;
    int err;

    if (level < SIM_MAX_LEVELS)
        return take_value(a, name, &o->level_text[level]);
    if (!option)
        return fail(a->why, a->why_bytes, NULL, "unknown option; cachesim --help lists them", name);
    err = option->has_value ? take_value(a, name, &value) : 0;
    if (err)
        return err;
    what = option->set(o, value);
    if (what)
        return fail(a->why, a->why_bytes, name, what, value);
    return option->set == set_convert ? take_value(a, name, &o->convert_to) : 0;
}

static int guess_format(struct cachesim_options *o, char *why, size_t why_bytes)
{
    const char *dot = strrchr(o->trace, '.');

    if (dot && !sim_trace_format_find(dot + 1, &o->reader.format))
        return 0;
    return fail(why, why_bytes, "--format", "is missing, and the trace's name does not tell it", o->trace);
}

/* What single options cannot know. */
static int check(struct cachesim_options *o, char *why, size_t why_bytes)
{
    bool is_stdin = o->trace && !strcmp(o->trace, "-");

    if (!o->trace)
        return fail(why, why_bytes, NULL, "no trace is given; cachesim --help says how", NULL);
    if (o->passes > 1 && is_stdin)
        return fail(why, why_bytes, "--passes", "standard input can be read only once", "-");
    if (o->mode != CACHESIM_SIMULATE && (o->warmup || o->warms_up_passes || o->flushes || o->is_classified))
        return fail(why, why_bytes, NULL, "--warmup, --flush and --3c are for simulating a machine only", o->trace);
    if (o->warms_up_passes && o->passes < 2)
        return fail(why, why_bytes, "--warmup", "needs --passes of at least 2", "pass");
    if ((unsigned)o->reader.format == SIM_N_TRACE_FORMATS)
        return guess_format(o, why, why_bytes);
    return 0;
}

int cachesim_options_parse(struct cachesim_options *o, int argc, char **argv, char *why, size_t why_bytes)
{
    struct arguments a = { argc ? argv + 1 : argv, why, why_bytes };
    int err = 0;

    *o = (struct cachesim_options){
        .reader = { .format = SIM_N_TRACE_FORMATS, .fetch_tag = SIM_MAX_TAGS - 1 },
        .passes = 1,
        .line_bytes = 64,
    };
    while (*a.next && !err) {
        const char *argument = *a.next++;

        if (!strcmp(argument, "--help")) {
            o->mode = CACHESIM_HELP;
            return 0;
        }
        if (argument[0] == '-' && argument[1])
            err = take_option(o, &a, argument);
        else if (o->trace)
            err = fail(why, why_bytes, NULL, "a second trace is given", argument);
        else
            o->trace = argument;
    }
    return err ? err : check(o, why, why_bytes);
}

/* ---- machine ---- */

/* The folder of this program; "." if the system does not tell. */
static void program_folder(char *folder, size_t bytes)
{
    ssize_t length = readlink("/proc/self/exe", folder, bytes - 1);
    char *slash;

    folder[length > 0 ? length : 0] = '\0';
    slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    else
        strcpy(folder, ".");
}

/* Looks for a machine's file where it is installed, and in the source tree. */
static int read_named(struct sim_machine *m, const char *name, char *why, size_t why_bytes)
{
    static const char *const places[] = { "%s/../share/convsim/machines/%s.cfg", "%s/../sim/machines/%s.cfg" };
    char folder[1024], path[2048];
    int err = -ENOENT;

    program_folder(folder, sizeof folder);
    for (size_t i = 0; i < sizeof places / sizeof places[0] && err == -ENOENT; i++) {
        snprintf(path, sizeof path, places[i], folder, name);
        err = sim_machine_read(m, path, why, why_bytes);
    }
    if (err == -ENOENT) {
        snprintf(path, sizeof path, "sim/machines/%s.cfg", name);
        err = sim_machine_read(m, path, why, why_bytes);
    }
    if (err == -ENOENT)
        fail(why, why_bytes, "--machine",
             "unknown machine (host, the name of an installed one, or the path of a .cfg file)", name);
    return err;
}

static int read_machine(struct sim_machine *m, const char *which, char *why, size_t why_bytes)
{
    size_t length = strlen(which);
    bool is_path = strchr(which, '/') || (length > 4 && !strcmp(which + length - 4, ".cfg"));

    if (!strcmp(which, "host"))
        return sim_machine_host(m, why, why_bytes);
    return is_path ? sim_machine_read(m, which, why, why_bytes) : read_named(m, which, why, why_bytes);
}

/* "SIZE,WAYS,LINE[,POLICY]" into a level; returns NULL or what is wrong. */
static const char *parse_level(const char *text, struct sim_level *l)
{
    char field[4][32] = { "", "", "", "lru" };
    uint64_t size = 0, ways = 0, line = 0;
    int used = 0;
    int n = sscanf(text, "%31[^,],%31[^,],%31[^,]%n,%31[^,]%n", field[0], field[1], field[2], &used, field[3], &used);

    if (n < 3 || text[used])
        return "not SIZE,WAYS,LINE or SIZE,WAYS,LINE,POLICY";
    if (!parse_number(field[0], true, 1, UINT64_MAX, &size))
        return "bad size";
    if (!parse_number(field[1], false, 1, SIM_MAX_LEVEL_LINES, &ways))
        return "bad number of ways";
    if (!parse_number(field[2], true, 1, SIM_MAX_LINE_BYTES, &line) || (line & (line - 1)))
        return "line is not a power of two up to 2m";
    if (size % (ways * line))
        return "size is not a multiple of ways * line";
    if (strlen(field[3]) >= sizeof l->policy)
        return "unknown policy";
    l->n_sets = size / (ways * line);
    l->n_ways = (uint32_t)ways;
    l->line_bytes = (uint32_t)line;
    strcpy(l->policy, field[3]);
    return NULL;
}

static int set_levels(const struct cachesim_options *o, struct sim_machine *m, char *why, size_t why_bytes)
{
    for (size_t k = 0; k < SIM_MAX_LEVELS; k++) {
        const char *text = o->level_text[k], *what = NULL;
        char option[] = "--l?";

        option[3] = (char)('1' + k);
        if (!text)
            continue;
        if (k > m->n_levels)
            return fail(why, why_bytes, option, "there is no level before it", text);
        if (k == m->n_levels)
            snprintf(m->level[m->n_levels++].name, sizeof m->level[0].name, "L%zu", k + 1);
        what = parse_level(text, &m->level[k]);
        if (what)
            return fail(why, why_bytes, option, what, text);
    }
    return 0;
}

int cachesim_options_machine(const struct cachesim_options *o, struct sim_machine *m, char *why, size_t why_bytes)
{
    const char *which = o->machine ? o->machine : "host";
    int err = 0;

    *m = (struct sim_machine){ .name = "custom" };
    if (o->machine || !o->level_text[0])
        err = read_machine(m, which, why, why_bytes);
    if (!err)
        err = set_levels(o, m, why, why_bytes);
    for (size_t k = 0; k < m->n_levels; k++)
        m->level[k].is_classified |= o->is_classified;
    return err ? err : sim_machine_validate(m, why, why_bytes);
}
