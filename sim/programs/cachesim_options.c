#include "sim/programs/cachesim_options.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/programs/cachesim_plot.h"
#include "sim/programs/cachesim_source.h"
#include "sim/programs/cachesim_text.h"

const char *const cachesim_help[] = {
    "usage: cachesim [options] TRACE        (TRACE is a file or - for standard input; .gz, .zst, .xz, .bz2, ... too)\n"
    "       cachesim [options] run -- PROGRAM [ARGUMENT]...\n"
    "\n"
    "Simulates the caches of a machine on a trace of memory accesses and prints what they counted. Of a program that "
    "is\n"
    "run, the table goes to standard error, and its own output stays where it is; CSV and JSON go to standard output,\n"
    "and what the program prints there to standard error.\n"
    "\n"
    "The trace\n"
    "  --format FORMAT     din, lackey, text or binary; else by the end of TRACE's name (.din, .lackey, .text, "
    ".binary)\n"
    "  --fetches           simulate instruction fetches as loads with tag 7; else they are left out\n"
    "  --din-bytes N       width of din accesses without a size (default 4)\n"
    "  --tracer NAME       what traces a program: qemu (user-mode emulation) or valgrind; else the first that is "
    "there\n"
    "The machine\n"
    "  --machine NAME      clx4208, power10, toy, ..., the path of a .cfg file, or host: this computer (the default)\n"
    "  --l1 SIZE,WAYS,LINE[,POLICY]\n"
    "                      another geometry for level 1; --l2 to --l8 likewise; the next level is added.\n"
    "                      Without --machine there are no levels but these. SIZE: 32k, 1m, 32 KiB, ...\n"
    "  --3c                classify misses: compulsory, capacity, conflict\n"
    "  --vary GRID         one row for each machine of a grid: 'L1.size=16K,32K L2.ways=4..16*2' (CSV, or JSON)\n"
    "The run\n"
    "  --passes N          run the trace N times in a row (a file, not -)\n"
    "  --warmup N          do not count the first N accesses; 'pass': not all passes but the last\n"
    "  --sample TARGET     simulate windows alone, until 95 % intervals of lines into the first level have this half "
    "width:\n"
    "                      1%, 0.5%; of machines with prefetchers or TLBs. --seed N draws other windows (default 1)\n"
    "  --flush             write dirty lines back at the end, and count that\n"
    "The output\n"
    "  --output FORMAT     table, csv or json (default: who serves the loads, and misses in percent)\n"
    "  --more              every counter: as --output table\n"
    "  --tags              also by tag and phase\n"
    "  --ranges FILE       by named ranges of addresses in place of the trace's tags: lines of NAME BEGIN END, or "
    "+BYTES\n"
    "  --plot FILE         draw the misses by level, or --mrc's curve, with gnuplot as FILE.png or FILE.svg\n"
    "  --annotate FILE     also by source line, for cg_annotate and KCachegrind; of a traced program's own and its\n"
    "                      libraries' lines, or of those of --symbols\n"
    "  --callgrind FILE    the same for callgrind_annotate and KCachegrind\n"
    "  --heap FILE         the same by the line that allocated what was accessed, of a program that is run\n"
    "  --timeline FILE     the run over its accesses, for chrome://tracing and Perfetto (JSON)\n"
    "  --symbols FILE[@BASE]\n"
    "                      the program of a trace with instruction fetches, or one of its libraries; BASE: where in\n"
    "                      memory its address 0 was\n"
    "Instead of simulating a machine (CSV, or with --output json JSON)\n"
    "  --reuse             histogram of reuse distances\n"
    "  --mrc               misses of fully associative LRU caches of every size\n"
    "  --wss N             size of the working set of the last N accesses, every N accesses\n"
    "  --line BYTES        line size of these three (default 64)\n"
    "  --convert FORMAT FILE\n"
    "                      write the trace in another format; FILE may be -\n"
    "  --version           print the version\n"
    "  -h, --help          print this\n"
    "A value may follow its option after '=' too: --output=json.\n"
    "\n",
    "Examples\n"
    "  cachesim --machine clx4208 run -- ./prog its arguments\n"
    "  valgrind --tool=lackey --trace-mem=yes --log-fd=9 ./prog 9>&1 >/dev/null | cachesim --format lackey -\n"
    "  cachesim --l1 32k,8,64 --l2 1m,16,64 --output json gcc.din\n"
    "  cachesim --machine host --tags big.binary.zst\n"
    "  cachesim --passes 2 --warmup pass --machine toy loop.text\n"
    "  cachesim --machine zen3 --annotate lines.out run -- ./prog && cg_annotate lines.out\n"
    "  cachesim annotate -- ./prog && cg_annotate --sort=L1_load_misses annotate.out     (what misses most comes "
    "first)\n"
    "  cachesim --output json run -- ./prog > prog.json\n"
    "  cachesim record -- ./prog && cachesim --machine zen3 trace.binary\n"
    "  cachesim --mrc gcc.din > gcc.csv\n"
    "  cachesim --convert binary gcc.binary gcc.din\n"
    "\n"
    "Exit status: 0; 1 if the output could not be written; 2 for bad options, machines or traces.\n",
    NULL
};

/*
 * Stores the value of an option. Returns NULL, or the fault. which: from the option's row: the offset of a flag in
 * struct cachesim_options, a mode, or a level.
 */
typedef const char *(*option_fn)(struct cachesim_options *o, const char *value, size_t which);

static const char *set_flag(struct cachesim_options *o, const char *value, size_t which)
{
    (void)value;
    *(bool *)((char *)o + which) = true;
    return NULL;
}

static const char *set_format(struct cachesim_options *o, const char *value, size_t which)
{
    (void)which;
    return sim_trace_format_find(value, &o->reader.format) ? "not din, lackey, text or binary" : NULL;
}

static const char *set_din_bytes(struct cachesim_options *o, const char *value, size_t which)
{
    uint64_t n = 0;

    (void)which;
    if (!cachesim_number(value, false, 1, SIM_TRACE_MAX_BYTES, &n))
        return "not a width from 1 to 1048576";
    o->reader.din_bytes = (uint32_t)n;
    return NULL;
}

static const char *set_tracer(struct cachesim_options *o, const char *value, size_t which)
{
    (void)which;
    o->tracer = value;
    return strcmp(value, "qemu") && strcmp(value, "valgrind") ? "neither qemu nor valgrind" : NULL;
}

static const char *set_machine(struct cachesim_options *o, const char *value, size_t which)
{
    (void)which;
    o->machine = value;
    return NULL;
}

static const char *set_level(struct cachesim_options *o, const char *value, size_t which)
{
    o->level_text[which] = value;
    return NULL;
}

static const char *set_passes(struct cachesim_options *o, const char *value, size_t which)
{
    (void)which;
    return cachesim_number(value, false, 1, UINT32_MAX, &o->passes) ? NULL : "not a number from 1";
}

static const char *set_warmup(struct cachesim_options *o, const char *value, size_t which)
{
    (void)which;
    o->warms_up_passes = !strcmp(value, "pass");
    if (o->warms_up_passes || cachesim_number(value, false, 0, UINT64_MAX, &o->warmup))
        return NULL;
    return "neither a number of accesses nor 'pass'";
}

static const char *set_sample(struct cachesim_options *o, const char *value, size_t which)
{
    static const double least = 0.01, greatest = 50;
    char *end;

    (void)which;
    o->sample = strtod(value, &end);
    if (end == value || strcmp(end, "%") || !(o->sample >= least && o->sample <= greatest))
        return "not a percentage from 0.01% to 50%";
    o->sample /= 100;
    return NULL;
}

static const char *set_seed(struct cachesim_options *o, const char *value, size_t which)
{
    (void)which;
    return cachesim_number(value, false, 1, UINT32_MAX, &o->seed) ? NULL : "not a number from 1";
}

static const char *set_output(struct cachesim_options *o, const char *value, size_t which)
{
    static const char *const names[] = {
        [SIM_REPORT_TABLE] = "table",
        [SIM_REPORT_CSV] = "csv",
        [SIM_REPORT_JSON] = "json",
    };

    (void)which;
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!strcmp(names[i], value)) {
            o->output = (enum sim_report_format)i;
            o->has_output = true;
            return NULL;
        }
    }
    return "not table, csv or json";
}

static const char *set_ranges(struct cachesim_options *o, const char *value, size_t which)
{
    (void)which;
    o->ranges = value;
    o->by_tag = true;
    return NULL;
}

/* Takes a file written beside the report; which: the offset of its name. */
static const char *set_file(struct cachesim_options *o, const char *value, size_t which)
{
    memcpy((char *)o + which, &value, sizeof value);
    if (!*value)
        return "the file has no name";
    return strcmp(value, "-") ? NULL : "standard output is the report's";
}

static const char *set_symbols(struct cachesim_options *o, const char *value, size_t which)
{
    (void)which;
    if (o->n_symbols == CACHESIM_MAX_SYMBOLS)
        return "more than 16 files";
    o->symbols[o->n_symbols++] = value;
    return NULL;
}

static const char *set_plot(struct cachesim_options *o, const char *value, size_t which)
{
    (void)which;
    o->plot = value;
    return cachesim_plot_is_name(value) ? NULL : "the name ends neither in .png nor in .svg";
}

static const char *set_mode(struct cachesim_options *o, const char *value, size_t which)
{
    (void)value;
    if (o->mode != CACHESIM_SIMULATE && o->mode != (enum cachesim_mode)which)
        return "only one of --vary, --reuse, --mrc, --wss and --convert at a time";
    o->mode = (enum cachesim_mode)which;
    return NULL;
}

static const char *set_window(struct cachesim_options *o, const char *value, size_t which)
{
    if (!cachesim_number(value, true, 1, UINT64_MAX, &o->window))
        return "not a number of accesses from 1";
    return set_mode(o, value, which);
}

static const char *set_vary(struct cachesim_options *o, const char *value, size_t which)
{
    o->vary = value;
    return set_mode(o, value, which);
}

static const char *set_line(struct cachesim_options *o, const char *value, size_t which)
{
    uint64_t n = 0;

    (void)which;
    if (!cachesim_number(value, true, 1, SIM_MAX_LINE_BYTES, &n) || (n & (n - 1)))
        return "not a power of two up to 2m";
    o->line_bytes = (uint32_t)n;
    return NULL;
}

/* The file is the argument after the format. */
static const char *set_convert(struct cachesim_options *o, const char *value, size_t which)
{
    if (sim_trace_format_find(value, &o->convert_format))
        return "not din, lackey, text or binary";
    return set_mode(o, value, which);
}

/* A question about the program, whatever else is asked. */
static const char *set_question(struct cachesim_options *o, const char *value, size_t which)
{
    (void)value;
    o->mode = (enum cachesim_mode)which;
    return NULL;
}

#define FLAG(member) false, set_flag, offsetof(struct cachesim_options, member)

/* Modes in which an option has an effect; 0: all modes. */
#define MODE(mode) (1u << (mode))
#define OF_MACHINE (MODE(CACHESIM_SIMULATE) | MODE(CACHESIM_VARY))
#define OF_ANALYSIS (MODE(CACHESIM_REUSE) | MODE(CACHESIM_MRC) | MODE(CACHESIM_WSS))
#define WITH_REPORT (OF_MACHINE | OF_ANALYSIS)

static const struct row {
    const char *name; /* without its dashes */
    bool has_value;
    option_fn set;
    size_t which;
    unsigned modes;
} rows[] = {
    { "help", false, set_question, CACHESIM_HELP, 0 },
    { "version", false, set_question, CACHESIM_VERSION, 0 },
    { "format", true, set_format, 0, 0 },
    { "fetches", FLAG(reader.has_fetches), 0 },
    { "din-bytes", true, set_din_bytes, 0, 0 },
    { "tracer", true, set_tracer, 0, 0 },
    { "machine", true, set_machine, 0, OF_MACHINE },
    { "l1", true, set_level, 0, OF_MACHINE },
    { "l2", true, set_level, 1, OF_MACHINE },
    { "l3", true, set_level, 2, OF_MACHINE },
    { "l4", true, set_level, 3, OF_MACHINE },
    { "l5", true, set_level, 4, OF_MACHINE },
    { "l6", true, set_level, 5, OF_MACHINE },
    { "l7", true, set_level, 6, OF_MACHINE },
    { "l8", true, set_level, 7, OF_MACHINE },
    { "3c", FLAG(is_classified), 0 },
    { "vary", true, set_vary, CACHESIM_VARY, 0 },
    { "passes", true, set_passes, 0, 0 },
    { "warmup", true, set_warmup, 0, 0 },
    { "sample", true, set_sample, 0, 0 },
    { "seed", true, set_seed, 0, 0 },
    { "flush", FLAG(flushes), 0 },
    { "output", true, set_output, 0, WITH_REPORT },
    { "more", FLAG(shows_all), WITH_REPORT },
    { "tags", FLAG(by_tag), WITH_REPORT },
    { "ranges", true, set_ranges, 0, 0 },
    { "plot", true, set_plot, 0, 0 },
    { "annotate", true, set_file, offsetof(struct cachesim_options, annotate), 0 },
    { "callgrind", true, set_file, offsetof(struct cachesim_options, callgrind), 0 },
    { "heap", true, set_file, offsetof(struct cachesim_options, heap), 0 },
    { "timeline", true, set_file, offsetof(struct cachesim_options, timeline), 0 },
    { "symbols", true, set_symbols, 0, 0 },
    { "reuse", false, set_mode, CACHESIM_REUSE, 0 },
    { "mrc", false, set_mode, CACHESIM_MRC, 0 },
    { "wss", true, set_window, CACHESIM_WSS, 0 },
    { "line", true, set_line, 0, OF_ANALYSIS },
    { "convert", true, set_convert, CACHESIM_CONVERT, 0 },
};

_Static_assert(SIM_MAX_LEVELS == 8, "--l1 to --l8");

enum {
    N_ROWS = sizeof rows / sizeof rows[0],
    ROW_HELP = 0,
    FIRST_ROW = 256, /* getopt_long() returns FIRST_ROW + i for rows[i]; lower values are characters */
    OTHER_ARGUMENT = 1,
};

struct parser {
    struct cachesim_options *o;
    int argc;
    char **argv;
    struct sim_why why;
    bool is_given[N_ROWS];
};

static int complain(const struct parser *p, const char *option, const char *what, const char *value)
{
    return cachesim_complain(p->why, option, what, value);
}

static const char run[] = "run"; /* a word in the place of the trace: a program follows */

/* Words for a run with a written file, unless an option names a file. */
static const char by_line[] = "annotate", record[] = "record";

static bool is_word(const char *text)
{
    return !strcmp(text, run) || !strcmp(text, by_line) || !strcmp(text, record);
}

static void take_word(struct cachesim_options *o)
{
    if (!strcmp(o->trace, by_line) && !cachesim_options_by_line(o))
        o->annotate = "annotate.out";
    if (strcmp(o->trace, record) || o->mode == CACHESIM_CONVERT)
        return;
    o->mode = CACHESIM_CONVERT;
    o->convert_format = SIM_TRACE_BINARY;
    o->convert_to = "trace.binary";
}

static int take_trace(struct parser *p, const char *argument)
{
    if (p->o->trace && is_word(p->o->trace))
        return complain(p, p->o->trace, "-- is missing before the program (run -- PROGRAM)", argument);
    if (p->o->trace)
        return complain(p, NULL, "a second trace is given", argument);
    p->o->trace = argument;
    return 0;
}

static int take_option(struct parser *p, const struct row *row)
{
    const char *value = row->has_value ? optarg : "";
    const char *what = row->set(p->o, value, row->which);
    char name[32];

    p->is_given[row - rows] = true;
    snprintf(name, sizeof name, "--%s", row->name);
    if (what)
        return complain(p, name, what, value);
    if (row->set != set_convert)
        return 0;
    if (optind >= p->argc)
        return complain(p, name, "its value is missing", NULL);
    p->o->convert_to = p->argv[optind++];
    return *p->o->convert_to ? 0 : complain(p, name, "the file has no name", p->o->convert_to);
}

/* Reports an argument that getopt_long() did not understand. */
static int report_option(struct parser *p)
{
    char letter[] = { '-', (char)optopt, '\0' };

    if (optopt >= FIRST_ROW)
        return complain(p, NULL, "the option takes no value", p->argv[optind - 1]);
    return complain(p, NULL, "unknown option; cachesim --help lists them", optopt ? letter : p->argv[optind - 1]);
}

static int take_argument(struct parser *p, int c)
{
    switch (c) {
    case OTHER_ARGUMENT:
        return take_trace(p, optarg);
    case ':':
        return complain(p, p->argv[optind - 1], "its value is missing", NULL);
    case '?':
        return report_option(p);
    case 'h':
        return take_option(p, &rows[ROW_HELP]);
    default:
        return take_option(p, &rows[c - FIRST_ROW]);
    }
}

static bool is_question(const struct cachesim_options *o)
{
    return o->mode == CACHESIM_HELP || o->mode == CACHESIM_VERSION;
}

/* Tells whether such a word stands in the trace's place, with "--" behind. */
static bool is_run(const struct parser *p)
{
    return p->o->trace && is_word(p->o->trace) && !strcmp(p->argv[optind - 1], "--");
}

static int take_program(struct parser *p)
{
    if (optind >= p->argc)
        return complain(p, NULL, "no program is given behind --", run);
    take_word(p->o);
    p->o->program = p->argv + optind;
    p->o->trace = p->o->program[0];
    return 0;
}

/* Takes the arguments in their order ('-'), so that the file of --convert stands behind the format. */
static int take_all(struct parser *p)
{
    struct option known[N_ROWS + 1] = { 0 };
    int c, err = 0;

    for (int i = 0; i < N_ROWS; i++)
        known[i] = (struct option){ rows[i].name, rows[i].has_value, NULL, FIRST_ROW + i };
    optind = 0; /* a new start, to GNU and musl */
    opterr = 0;
    while (!err && !is_question(p->o) && (c = getopt_long(p->argc, p->argv, "-:h", known, NULL)) != -1)
        err = take_argument(p, c);
    if (!err && !is_question(p->o) && is_run(p))
        return take_program(p);
    while (!err && !is_question(p->o) && optind < p->argc)
        err = take_trace(p, p->argv[optind++]);
    return err;
}

static int guess_format(struct cachesim_options *o, struct sim_why why)
{
    const char *end = o->trace + cachesim_source_unpacked(o->trace), *dot = end;
    char ending[16];
    struct stat s;

    while (dot > o->trace && dot[-1] != '.')
        dot--;
    snprintf(ending, sizeof ending, "%.*s", dot > o->trace ? (int)(end - dot) : 0, dot);
    if (!sim_trace_format_find(ending, &o->reader.format))
        return 0;
    if (!stat(o->trace, &s) && S_ISREG(s.st_mode) && s.st_mode & S_IXUSR)
        return cachesim_complain(why, NULL, "a program is no trace: cachesim run -- PROGRAM traces a program",
                                 o->trace);
    return cachesim_complain(why, "--format", "is missing, and the trace's name does not tell it", o->trace);
}

/* A sample leaves accesses out. */
static int check_sample(const struct cachesim_options *o, struct sim_why why)
{
    if (o->seed && !o->sample)
        return cachesim_complain(why, "--seed", "draws the windows of --sample, which is missing", NULL);
    if (o->sample > 0 && (o->mode != CACHESIM_SIMULATE || o->is_classified || o->flushes || o->warmup ||
                          o->warms_up_passes || o->passes > 1 || o->timeline || cachesim_options_by_line(o)))
        return cachesim_complain(why, "--sample",
                                 "leaves accesses out: not with --3c, --vary, --flush, --warmup, --passes, --timeline, "
                                 "counts by line, and analyses",
                                 o->trace);
    return 0;
}

/* Checks combinations of options. */
static int check(struct cachesim_options *o, struct sim_why why)
{
    bool is_stdin = o->trace && !strcmp(o->trace, "-");
    bool simulates = o->mode == CACHESIM_SIMULATE || o->mode == CACHESIM_VARY;

    if (!o->trace)
        return cachesim_complain(why, NULL, "no trace is given; cachesim --help says how", NULL);
    if (!o->program && is_word(o->trace) && access(o->trace, F_OK))
        return cachesim_complain(why, NULL, "no program is given: cachesim [options] run -- PROGRAM [ARGUMENT]...",
                                 o->trace);
    if (o->program && o->passes > 1)
        return cachesim_complain(why, "--passes", "a program is run once; write its trace with --convert",
                                 o->program[0]);
    if (o->tracer && !o->program)
        return cachesim_complain(why, "--tracer", "there is no program to trace (run -- PROGRAM)", o->tracer);
    if (o->passes > 1 && is_stdin)
        return cachesim_complain(why, "--passes", "standard input can be read only once", "-");
    if (!simulates && (o->warmup || o->warms_up_passes || o->flushes || o->is_classified))
        return cachesim_complain(why, NULL, "--warmup, --flush and --3c are for simulating a machine only", o->trace);
    if (check_sample(o, why))
        return -EINVAL;
    if (o->mode != CACHESIM_SIMULATE && o->has_output && o->output == SIM_REPORT_TABLE)
        return cachesim_complain(why, "--output", "the analyses and --vary print csv or json", "table");
    if (o->mode == CACHESIM_VARY && (o->by_tag || o->plot))
        return cachesim_complain(why, "--vary", "counts all tags together, and draws nothing", o->vary);
    if (o->plot && !simulates && o->mode != CACHESIM_MRC)
        return cachesim_complain(why, "--plot", "there are figures of simulations and of --mrc", o->plot);
    if (cachesim_options_by_line(o) && (o->mode != CACHESIM_SIMULATE || o->by_tag || o->warmup || o->warms_up_passes))
        return cachesim_complain(why,
                                 o->annotate    ? "--annotate"
                                 : o->callgrind ? "--callgrind"
                                                : "--heap",
                                 "counts by line all accesses of all tags of one machine",
                                 o->annotate    ? o->annotate
                                 : o->callgrind ? o->callgrind
                                                : o->heap);
    if (o->heap && !o->program)
        return cachesim_complain(why, "--heap", "there is no program to trace (run -- PROGRAM)", o->heap);
    if (o->timeline && (o->mode != CACHESIM_SIMULATE || o->warmup || o->warms_up_passes))
        return cachesim_complain(why, "--timeline", "shows all accesses to one machine", o->timeline);
    if (o->n_symbols && !cachesim_options_by_line(o))
        return cachesim_complain(why, "--symbols", "names lines of --annotate, which is missing", o->symbols[0]);
    if (o->warms_up_passes && o->passes < 2)
        return cachesim_complain(why, "--warmup", "needs --passes of at least 2", "pass");
    if (!o->program && (unsigned)o->reader.format == SIM_N_TRACE_FORMATS)
        return guess_format(o, why);
    return 0;
}

/* Warns about options without effect, because the user expects an effect. */
static void say_unused(const struct parser *p)
{
    const struct cachesim_options *o = p->o;

    for (int i = 0; i < N_ROWS; i++) {
        const bool is_of_trace = rows[i].set == set_format || rows[i].set == set_din_bytes;
        const bool is_of_din = rows[i].set == set_din_bytes && o->reader.format != SIM_TRACE_DIN;

        if (p->is_given[i] &&
            ((rows[i].modes && !(rows[i].modes & MODE(o->mode))) || (is_of_trace && o->program) || is_of_din))
            fprintf(stderr, "cachesim: --%s does nothing here\n", rows[i].name);
    }
}

int cachesim_options_parse(struct cachesim_options *o, int argc, char **argv, struct sim_why why)
{
    struct parser p = { .o = o, .argc = argc, .argv = argv, .why = why };
    int err;

    *o = (struct cachesim_options){
        .reader = { .format = SIM_N_TRACE_FORMATS, .fetch_tag = SIM_USUAL_TAGS - 1 },
        .passes = 1,
        .line_bytes = 64,
    };
    err = take_all(&p);
    if (err || is_question(o))
        return err;
    o->simulates_fetches = o->reader.has_fetches;
    o->reader.has_fetches |= cachesim_options_by_line(o);
    err = check(o, why);
    if (!err)
        say_unused(&p);
    return err;
}
