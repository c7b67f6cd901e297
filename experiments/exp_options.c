#include "experiments/exp_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/exp_error.h"
#include "experiments/exp_observe.h"

enum kind { TEXT, NUMBER, WORD };

/* Which programs know an option. */
enum {
    EXPERIMENT = 1 << EXP_EXPERIMENT,
    JUDGE = 1 << EXP_JUDGE,
    PEERS = 1 << EXP_PEERS,
    ALL = EXPERIMENT | JUDGE | PEERS
};

struct option {
    const char *name;
    unsigned programs;
    const char *help;
    enum kind kind;
    size_t offset;        /* of the field; TEXT: const char *, NUMBER and WORD: unsigned */
    const char *words[3]; /* WORD: the values 0, 1, 2 */
    unsigned least, most; /* NUMBER */
};

#define FIELD(field) offsetof(struct exp_options, field)
#define TEXT_TO(field) .kind = TEXT, .offset = FIELD(field)
#define NUMBER_TO(field, from, to) .kind = NUMBER, .offset = FIELD(field), .least = from, .most = to
#define WORD_TO(field, ...) .kind = WORD, .offset = FIELD(field), .words = { __VA_ARGS__ }

static const struct option options[] = {
    { "MODEL", EXPERIMENT, "a name in experiments/models, or the path of a layer table (.csv)", TEXT_TO(model) },
    { "MODEL", JUDGE | PEERS, "names or layer tables, comma-separated; all (default): the paper's seven",
      TEXT_TO(model) },
    { "MACHINE", EXPERIMENT | JUDGE, "simulated machine: host (default), a name in sim/machines, or a .cfg path",
      TEXT_TO(machine) },
    { "ALGO", EXPERIMENT,
      "of base, sconv, sconv_is, sconv_ws, sconv_openblas, sconv_tuned, goto; comma-separated (default "
      "base,sconv,sconv_openblas)",
      TEXT_TO(algos) },
    { "LAYERS", ALL, "only layers whose name matches one of the comma-separated patterns", TEXT_TO(layers) },
    { "REPS", EXPERIMENT, "timed repetitions (default 10)", NUMBER_TO(reps, 1, 1000000) },
    { "REPS", PEERS, "sweeps over each network (default 7)", NUMBER_TO(reps, 1, 1000) },
    { "HOT", PEERS, "repetitions of each layer with hot caches (default 3); 0 = none", NUMBER_TO(hot_reps, 0, 1000) },
    { "CLOCK", PEERS,
      "wall (default), or cpu: the thread's own time, without what other processes take on a busy computer",
      WORD_TO(clock, "wall", "cpu") },
    { "JOBS", EXPERIMENT, "threads for verification and replay (default: all cores); timing uses one",
      NUMBER_TO(jobs, 1, 1000000) },
    { "JOBS", JUDGE, "threads for the replay (default: all cores)", NUMBER_TO(jobs, 1, 1000000) },
    { "TIMING", EXPERIMENT, "0 = replay only", WORD_TO(timing, "0", "1") },
    { "CACHE", EXPERIMENT | JUDGE, "caches at the start of each layer: cold (default), warm, network",
      WORD_TO(cache, "cold", "warm", "network") },
    { "FILTERS", EXPERIMENT | JUDGE, "when SConv packs filters: ahead (default) or run_time",
      WORD_TO(packs_filters, "ahead", "run_time") },
    { "CLASSES", EXPERIMENT,
      "misses classified as compulsory, capacity, conflict: 3c (default), or machine: as its file says",
      WORD_TO(classes, "3c", "machine") },
    { "UKR", ALL,
      "SConv's micro-kernel, an instruction set (ref, avx2, avx512, mma), or openblas: that of CORE (default: the "
      "machine's, else the widest this CPU runs)",
      TEXT_TO(ukr) },
    { "CORE", EXPERIMENT | JUDGE, "OpenBLAS core that is replayed (default: the machine's, else the one in use)",
      TEXT_TO(core) },
    { "OBSERVE", EXPERIMENT,
      "run layers under emulation, every access observed: 0, sample (one of each shape; default for POWER10), all",
      WORD_TO(observe, "0", "sample", "all") },
    { "OBSERVER", EXPERIMENT, "path of the emulator's plugin (the Makefile knows)", TEXT_TO(observer) },
    { "GUEST", EXPERIMENT, "path of the program that is observed (the Makefile knows)", TEXT_TO(guest) },
    { "WHY_NO_GUEST", EXPERIMENT, "why these two could not be built (the Makefile knows)", TEXT_TO(why_no_guest) },
    { "RESULTS", EXPERIMENT, "folder for results (default results); this goes to RESULTS/<machine>/<model>/",
      TEXT_TO(results) },
    { "RESULTS", JUDGE,
      "folder for results (default results); this goes to RESULTS/<machine>/judgement/<model or all>/",
      TEXT_TO(results) },
    { "RESULTS", PEERS, "folder for results (default results); this goes to RESULTS/host/peers/<model or all>/",
      TEXT_TO(results) },
    { "COMMIT", ALL, "recorded in every result", TEXT_TO(commit) },
    { "REDRAW", EXPERIMENT, "draw the figures of this result folder again, from its CSV files", TEXT_TO(redraw) },
};

struct flag {
    const char *name;
    unsigned programs;
    size_t offset; /* of a bool */
    const char *help;
};

static const struct flag flags[] = {
    { "--columns", ALL, FIELD(documents), "print what the columns of the result files mean" },
    { "--guest", EXPERIMENT, FIELD(asks_guest),
      "print the CPU family of the program that would be observed; nothing if none would" },
    { "--help", ALL, FIELD(helps), "print this" },
};

static const struct {
    const char *name, *model;
    unsigned reps;
} programs[EXP_N_PROGRAMS] = { { "experiment", "", 10 }, { "judge", "all", 0 }, { "peers", "all", 7 } };

enum { N_OPTIONS = sizeof options / sizeof options[0], N_FLAGS = sizeof flags / sizeof flags[0] };

void exp_options_usage(enum exp_program program, FILE *out)
{
    fprintf(out, "usage: %s NAME=VALUE ...   (run in the project's folder)\n\n", programs[program].name);
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (options[i].programs & 1u << program)
            fprintf(out, "  %-12s %s\n", options[i].name, options[i].help);
    }
    fprintf(out, "\n");
    for (size_t i = 0; i < N_FLAGS; i++) {
        if (flags[i].programs & 1u << program)
            fprintf(out, "  %-12s %s\n", flags[i].name, flags[i].help);
    }
}

static int read_number(const struct option *opt, const char *text, unsigned *value, char *why, size_t why_bytes)
{
    char *end;
    unsigned long n;

    errno = 0;
    n = strtoul(text, &end, 10);
    if (errno || end == text || *end || *text < '0' || *text > '9' || n < opt->least || n > opt->most)
        return exp_fail(why, why_bytes, -EINVAL, "%s: must be a whole number from %u to %u, not '%s'", opt->name,
                        opt->least, opt->most, text);
    *value = (unsigned)n;
    return 0;
}

static int read_word(const struct option *opt, const char *text, unsigned *value, char *why, size_t why_bytes)
{
    for (unsigned i = 0; i < 3 && opt->words[i]; i++) {
        if (!strcmp(text, opt->words[i])) {
            *value = i;
            return 0;
        }
    }
    return exp_fail(why, why_bytes, -EINVAL, "%s: must be %s%s%s or %s, not '%s'", opt->name, opt->words[0],
                    opt->words[2] ? ", " : "", opt->words[2] ? opt->words[1] : "", opt->words[opt->words[2] ? 2 : 1],
                    text);
}

static struct exp_options defaults(enum exp_program program)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return (struct exp_options){
        .model = programs[program].model,
        .machine = "host",
        .algos = "",
        .layers = "",
        .ukr = "",
        .core = "",
        .results = "results",
        .commit = "",
        .redraw = "",
        .observer = "",
        .guest = "",
        .why_no_guest = "",
        .observe = EXP_OBSERVE_DEFAULT,
        .reps = programs[program].reps,
        .hot_reps = 3,
        .jobs = cores > 0 ? (unsigned)cores : 1,
        .timing = 1,
    };
}

static int read_value(struct exp_options *o, enum exp_program program, const struct option *opt, const char *text,
                      char *why, size_t why_bytes)
{
    const struct exp_options usual = defaults(program);
    void *field = (char *)o + opt->offset;

    if (!*text) {
        memcpy(field, (const char *)&usual + opt->offset, opt->kind == TEXT ? sizeof text : sizeof(unsigned));
        return 0;
    }
    if (opt->kind == NUMBER)
        return read_number(opt, text, field, why, why_bytes);
    if (opt->kind == WORD)
        return read_word(opt, text, field, why, why_bytes);
    memcpy(field, &text, sizeof text);
    return 0;
}

static int read_argument(struct exp_options *o, enum exp_program program, const char *arg, char *why, size_t why_bytes)
{
    size_t length = strcspn(arg, "=");

    for (size_t i = 0; i < N_FLAGS; i++) {
        if (flags[i].programs & 1u << program && !strcmp(flags[i].name, arg)) {
            *(bool *)(void *)((char *)o + flags[i].offset) = true;
            return 0;
        }
    }
    for (size_t i = 0; i < N_OPTIONS && arg[length]; i++) {
        if (options[i].programs & 1u << program && strlen(options[i].name) == length &&
            !strncmp(options[i].name, arg, length))
            return read_value(o, program, &options[i], arg + length + 1, why, why_bytes);
    }
    return exp_fail(why, why_bytes, -EINVAL, "unknown option '%s'; %s --help lists them", arg, programs[program].name);
}

int exp_options_parse(struct exp_options *o, enum exp_program program, int argc, char **argv, char *why,
                      size_t why_bytes)
{
    *o = defaults(program);
    for (int i = 1; i < argc; i++) {
        int err = read_argument(o, program, argv[i], why, why_bytes);

        if (err)
            return err;
    }
    if (!*o->model && !*o->redraw && !o->helps && !o->documents && !o->asks_guest)
        return exp_fail(why, why_bytes, -EINVAL, "MODEL is missing: for example MODEL=vgg16");
    return 0;
}
