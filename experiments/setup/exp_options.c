#include "experiments/setup/exp_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_text.h"
#include "experiments/setup/exp_algo.h"
#include "sim/cpu.h"

enum kind { NUMBER, WORD, TEXT, PATH, RESULTS, NAMES }; /* from TEXT on, fields are texts */

/* Which programs know an option. */
enum {
    EXPERIMENT = 1 << EXP_EXPERIMENT,
    JUDGE = 1 << EXP_JUDGE,
    PEERS = 1 << EXP_PEERS,
    VALIDATE = 1 << EXP_VALIDATE,
    CALIBRATE = 1 << EXP_CALIBRATE,
    PAPER = 1 << EXP_PAPER,
    STUDY = 1 << EXP_STUDY,
    REDRAW = 1 << EXP_REDRAW,
    REPORT = 1 << EXP_REPORT,
    COMPARE = 1 << EXP_COMPARE,
    SWEEP = 1 << EXP_SWEEP,
    POLYDL = 1 << EXP_POLYDL,
    PLAN = 1 << EXP_PLAN,
    GEN = 1 << EXP_GEN,
    STREAMS = 1 << EXP_STREAMS,
    ALL = (1 << EXP_N_PROGRAMS) - 1
};

enum { N_WORDS = 6 };

struct option {
    const char *name;
    unsigned programs;
    const char *help;
    enum kind kind;
    size_t offset;              /* of the field; NUMBER and WORD: unsigned, else const char * */
    const char *words[N_WORDS]; /* WORD: the values 0, 1, 2, ... */
    unsigned least, most;       /* NUMBER */
};

#define FIELD(field) offsetof(struct exp_options, field)
#define TEXT_TO(field) .kind = TEXT, .offset = FIELD(field)
#define PATH_TO(field) .kind = PATH, .offset = FIELD(field)
#define RESULTS_TO(field) .kind = RESULTS, .offset = FIELD(field)
#define NAMES_TO(field) .kind = NAMES, .offset = FIELD(field)
#define NUMBER_TO(field, from, to) .kind = NUMBER, .offset = FIELD(field), .least = from, .most = to
#define WORD_TO(field, ...) .kind = WORD, .offset = FIELD(field), .words = { __VA_ARGS__ }

#define VARIABLE(...) { __VA_ARGS__ },
#define FROM_MAKE(...) { __VA_ARGS__ },
#define FLAG(...)

static const struct option options[] = {
#include "experiments/setup/options.def"
};

struct flag {
    const char *name;
    unsigned programs;
    const char *help;
    size_t offset; /* of a bool */
};

#undef VARIABLE
#undef FROM_MAKE
#undef FLAG
#define VARIABLE(...)
#define FROM_MAKE(...)
#define FLAG(...) { __VA_ARGS__ },

static const struct flag flags[] = {
#include "experiments/setup/options.def"
};

static const struct {
    const char *name, *model, *machine;
    size_t least_rounds, most_rounds;
    unsigned limit, cache, timing;
} programs[EXP_N_PROGRAMS] = {
    { "experiment", "", "host", 10, 200, 30, 0, 1 },
    { "judge", "all", "host", 0, 0, 0, 0, 1 },
    { "peers", "all", "host", 5, 100, 60, 0, 1 },
    { "validate", "all", "", 0, 0, 0, 0, 1 },
    { "calibrate", "none", "host", 3, 41, 60, 0, 1 },
    { "paper", "all", "", 5, 100, 45, 2, 1 },
    { "study", "all", "host", 3, 9, 240, 0, 0 },
    { "redraw", "none", "", 0, 0, 0, 0, 0 },
    { "report", "all", "", 0, 0, 0, 0, 0 },
    { "compare", "none", "host", 0, 0, 0, 0, 0 },
    { "sweep", "", "host", 0, 0, 0, 0, 0 },
    { "polydl", "all", "host", 0, 0, 0, 0, 1 },
    { "sconv-plan", "none", "host", 0, 0, 0, 0, 0 },
    { "sconv-gen", "none", "host", 0, 0, 0, 0, 0 },
    { "sconv-streams", "experiments/emit/streams.csv", "clx4208", 0, 0, 0, 0, 0 },
};

enum { N_OPTIONS = sizeof options / sizeof options[0], N_FLAGS = sizeof flags / sizeof flags[0] };

/* Prints a help text, with names where it has a mark for them. */
static void print_help(const char *help, FILE *out)
{
    static const struct {
        const char *mark;
        void (*say)(char *text, size_t bytes);
    } marks[] = { { "@algos@", exp_algo_say_known }, { "@default_algos@", exp_algo_say_default } };

    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *at = strstr(help, marks[i].mark);
        char names[512] = "";

        if (!at)
            continue;
        marks[i].say(names, sizeof names);
        fprintf(out, "%.*s%s", (int)(at - help), help, names);
        help = at + strlen(marks[i].mark);
    }
    fprintf(out, "%s\n", help);
}

void exp_options_usage(enum exp_program program, FILE *out)
{
    fprintf(out, "usage: %s NAME=VALUE ...   (in any folder; results go to the one where it is started)\n\n",
            programs[program].name);
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (!(options[i].programs & 1u << program))
            continue;
        fprintf(out, "  %-12s ", options[i].name);
        print_help(options[i].help, out);
    }
    fprintf(out, "\n");
    for (size_t i = 0; i < N_FLAGS; i++) {
        if (flags[i].programs & 1u << program)
            fprintf(out, "  %-12s %s\n", flags[i].name, flags[i].help);
    }
}

static int read_number(const struct option *opt, const char *text, unsigned *value, struct exp_why *why)
{
    char *end;
    unsigned long n;

    errno = 0;
    n = strtoul(text, &end, 10);
    if (errno || end == text || *end || *text < '0' || *text > '9' || n < opt->least || n > opt->most)
        return exp_fail(why, -EINVAL, "%s: must be a whole number from %u to %u, not '%s'", opt->name, opt->least,
                        opt->most, text);
    *value = (unsigned)n;
    return 0;
}

static int read_word(const struct option *opt, const char *text, unsigned *value, struct exp_why *why)
{
    char known[80] = "";

    for (unsigned i = 0; i < N_WORDS && opt->words[i]; i++) {
        bool is_last = i + 1 == N_WORDS || !opt->words[i + 1];

        if (!strcmp(text, opt->words[i])) {
            *value = i;
            return 0;
        }
        exp_say_more(known, sizeof known, "%s%s", !i ? "" : is_last ? " or " : ", ", opt->words[i]);
    }
    return exp_fail(why, -EINVAL, "%s: must be %s, not '%s'", opt->name, known, text);
}

static struct exp_options defaults(enum exp_program program)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return (struct exp_options){
        .model = programs[program].model,
        .machine = programs[program].machine,
        .algos = "",
        .layers = "",
        .ukr = "",
        .core = "",
        .results = "results",
        .counts = "results/reference/zen3/counts",
        .patterns = "",
        .out = "",
        .layer = "",
        .plan = "",
        .set = "",
        .wisdom = "",
        .weights = "",
        .run_a = "",
        .run_b = "",
        .fail_if = "",
        .fit = EXP_FIT_AUTO,
        .commit = "",
        .vary = "",
        .variants = "",
        .threads = 2,
        .budget = 30,
        .refine = 300,
        .batch = 1,
        .store = "",
        .share = "",
        .known = "",
        .slurm = "",
        .shares = 8,
        .observer = "",
        .guest = "",
        .twin = "",
        .why_no_guest = "",
        .observe = EXP_OBSERVE_AUTO,
        .observe_limit = 60,
        .limit = programs[program].limit,
        .sample = 60,
        .ruler = 1,
        .hot_reps = 3,
        .jobs = cores > 0 ? (unsigned)cores : 1,
        .timing = programs[program].timing,
        .cache = programs[program].cache,
    };
}

static int read_value(struct exp_options *o, enum exp_program program, const struct option *opt, const char *text,
                      struct exp_why *why)
{
    const struct exp_options usual = defaults(program);
    void *field = (char *)o + opt->offset;

    if (!*text) {
        memcpy(field, (const char *)&usual + opt->offset, opt->kind >= TEXT ? sizeof text : sizeof(unsigned));
        return 0;
    }
    if (opt->kind == NUMBER)
        return read_number(opt, text, field, why);
    if (opt->kind == WORD)
        return read_word(opt, text, field, why);
    memcpy(field, &text, sizeof text);
    return 0;
}

/* Says which option was meant, if one comes near. */
static int unknown(enum exp_program program, const char *arg, size_t name_length, struct exp_why *why)
{
    const char *known[N_OPTIONS + N_FLAGS], *nearest;
    char *name = exp_format("%.*s", (int)name_length, arg);
    size_t n = 0;

    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (options[i].programs & 1u << program)
            known[n++] = options[i].name;
    }
    for (size_t i = 0; i < N_FLAGS; i++) {
        if (flags[i].programs & 1u << program)
            known[n++] = flags[i].name;
    }
    nearest = name ? exp_names_nearest(name, known, n) : NULL;
    free(name);
    return exp_fail(why, -EINVAL, "unknown option '%s'%s%s%s %s --help lists them", arg,
                    nearest ? ", did you mean " : ";", nearest ? nearest : "", nearest ? "?" : "",
                    programs[program].name);
}

static bool read_flag(struct exp_options *o, enum exp_program program, const char *arg)
{
    for (size_t i = 0; i < N_FLAGS; i++) {
        if (flags[i].programs & 1u << program && !strcmp(flags[i].name, arg)) {
            *(bool *)(void *)((char *)o + flags[i].offset) = true;
            return true;
        }
    }
    return false;
}

/* Finds the option that is called so: MACHINE, or machine behind two dashes. */
static const struct option *find_option(enum exp_program program, const char *name, size_t length, bool has_dashes)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (options[i].programs & 1u << program && strlen(options[i].name) == length &&
            !(has_dashes ? strncasecmp : strncmp)(options[i].name, name, length))
            return &options[i];
    }
    return NULL;
}

/* Reads the argument at *i, and the one behind it if that is its value; *i becomes the last one that was read. */
static int read_argument(struct exp_options *o, enum exp_program program, int argc, char **argv, int *i,
                         struct exp_why *why)
{
    const char *arg = argv[*i];
    bool has_dashes = !strncmp(arg, "--", 2);
    const char *name = arg + (has_dashes ? 2 : 0);
    size_t length = strcspn(name, "=");
    const struct option *opt;

    if (read_flag(o, program, arg))
        return 0;
    opt = find_option(program, name, length, has_dashes);
    if (opt && name[length])
        return read_value(o, program, opt, name + length + 1, why);
    if (!opt || !has_dashes)
        return unknown(program, arg, strcspn(arg, "="), why);
    if (*i + 1 == argc)
        return exp_fail(why, -EINVAL, "%s: the value is missing", arg);
    return read_value(o, program, opt, argv[++*i], why);
}

int exp_options_parse(struct exp_options *o, enum exp_program program, int argc, char **argv, struct exp_why *why)
{
    *o = defaults(program);
    o->argv = argv;
    for (int i = 1; i < argc; i++) {
        int err = read_argument(o, program, argc, argv, &i, why);

        if (err)
            return err;
    }
    if (sim_cpu_check_limit(why->text, sizeof why->text))
        return -EINVAL;
    if (!*o->model && !o->helps && !o->documents && !o->asks_guest)
        return exp_fail(why, -EINVAL, "MODEL is missing: for example MODEL=vgg16");
    return 0;
}

/* Tells whether an option's value names files in the folder where the program was started. */
static bool is_here(const struct exp_options *o, const struct exp_options *usual, const struct option *opt,
                    const char **value)
{
    const char *by_default;

    if (opt->kind < PATH)
        return false;
    memcpy(value, (const char *)o + opt->offset, sizeof *value);
    memcpy(&by_default, (const char *)usual + opt->offset, sizeof by_default);
    if (opt->offset == FIELD(store) && !strcmp(*value, EXP_STORE_NONE))
        return false;
    return **value && (opt->kind == RESULTS || *value != by_default);
}

bool exp_options_next_path(const struct exp_options *o, enum exp_program program, size_t *at,
                           struct exp_options_path *path)
{
    const struct exp_options usual = defaults(program);

    for (; *at < N_OPTIONS; ++*at) {
        const struct option *opt = &options[*at];

        if (opt->programs & 1u << program && is_here(o, &usual, opt, &path->value)) {
            path->name = opt->name;
            path->are_names = opt->kind == NAMES;
            ++*at;
            return true;
        }
    }
    return false;
}

uint64_t exp_options_ruler_ns(const struct exp_options *o)
{
    return o->ruler ? (uint64_t)o->limit * 1000000000u : 0;
}

struct exp_rounds exp_options_rounds(const struct exp_options *o, enum exp_program program)
{
    if (o->reps)
        return (struct exp_rounds){ o->reps, o->reps, 0 };
    return (struct exp_rounds){ programs[program].least_rounds, programs[program].most_rounds,
                                (uint64_t)o->limit * 1000000000u };
}

uint64_t (*exp_options_clock(const struct exp_options *o))(void)
{
    return o->clock == EXP_CLOCK_CPU ? ctr_thread_ns : ctr_now_ns;
}

const char *exp_options_clock_name(const struct exp_options *o)
{
    return o->clock == EXP_CLOCK_CPU ? "CLOCK_THREAD_CPUTIME_ID" : "CLOCK_MONOTONIC";
}

const char *exp_options_program(enum exp_program program)
{
    return programs[program].name;
}
