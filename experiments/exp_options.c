#include "experiments/exp_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/exp_error.h"
#include "experiments/exp_observe.h"

enum kind { TEXT, NUMBER, WORD };

struct option {
    const char *name;
    enum kind kind;
    size_t offset;        /* of the field; TEXT: const char *, NUMBER and WORD: unsigned */
    const char *words[3]; /* WORD: the values 0, 1, 2 */
    const char *help;
};

#define FIELD(name) offsetof(struct exp_options, name)

static const struct option options[] = {
    { "MODEL", TEXT, FIELD(model), { 0 }, "a name in experiments/models, or the path of a layer table (.csv)" },
    { "MACHINE",
      TEXT,
      FIELD(machine),
      { 0 },
      "simulated machine: host (default), a name in sim/machines, or a .cfg path" },
    { "ALGO",
      TEXT,
      FIELD(algos),
      { 0 },
      "of base, sconv, sconv_is, sconv_ws, sconv_tuned, goto; comma-separated (default base,sconv)" },
    { "LAYERS", TEXT, FIELD(layers), { 0 }, "only layers whose name matches one of the comma-separated patterns" },
    { "REPS", NUMBER, FIELD(reps), { 0 }, "timed repetitions (default 10)" },
    { "JOBS", NUMBER, FIELD(jobs), { 0 }, "threads for verification and replay (default: all cores); timing uses one" },
    { "TIMING", WORD, FIELD(timing), { "0", "1" }, "0 = replay only" },
    { "CACHE",
      WORD,
      FIELD(cache),
      { "cold", "warm", "network" },
      "caches at the start of each layer: cold (default), warm, network" },
    { "FILTERS",
      WORD,
      FIELD(packs_filters),
      { "ahead", "run_time" },
      "when SConv packs filters: ahead (default) or run_time" },
    { "CLASSES",
      WORD,
      FIELD(classes),
      { "3c", "machine" },
      "misses classified as compulsory, capacity, conflict: 3c (default), or machine: as its file says" },
    { "UKR",
      TEXT,
      FIELD(ukr),
      { 0 },
      "SConv's micro-kernel, or an instruction set: ref, avx2, avx512, mma (default: the machine's, else the widest "
      "that this CPU runs)" },
    { "CORE",
      TEXT,
      FIELD(core),
      { 0 },
      "OpenBLAS core that is replayed (default: the machine's, else the one in use)" },
    { "OBSERVE",
      WORD,
      FIELD(observe),
      { "0", "sample", "all" },
      "run layers under emulation, every access observed: 0, sample (one of each shape; default for POWER10), all" },
    { "OBSERVER", TEXT, FIELD(observer), { 0 }, "path of the emulator's plugin (the Makefile knows)" },
    { "GUEST", TEXT, FIELD(guest), { 0 }, "path of the program that is observed (the Makefile knows)" },
    { "WHY_NO_GUEST", TEXT, FIELD(why_no_guest), { 0 }, "why these two could not be built (the Makefile knows)" },
    { "RESULTS", TEXT, FIELD(results), { 0 }, "folder for results (default results)" },
    { "COMMIT", TEXT, FIELD(commit), { 0 }, "recorded in every result" },
    { "REDRAW", TEXT, FIELD(redraw), { 0 }, "draw the figures of this result folder again, from its CSV files" },
};

enum { N_OPTIONS = sizeof options / sizeof options[0] };

void exp_options_usage(FILE *out)
{
    fprintf(out, "usage: experiment NAME=VALUE ...   (run in the project's folder)\n\n");
    for (size_t i = 0; i < N_OPTIONS; i++)
        fprintf(out, "  %-12s %s\n", options[i].name, options[i].help);
    fprintf(out, "\n  --columns  print what the columns of the result files mean\n"
                 "  --guest    print the CPU family of the program that would be observed; nothing if none would\n");
}

static int read_number(const char *name, const char *text, unsigned *value, char *why, size_t why_bytes)
{
    char *end;
    unsigned long n;

    errno = 0;
    n = strtoul(text, &end, 10);
    if (errno || end == text || *end || *text < '0' || *text > '9' || n < 1 || n > 1000000)
        return exp_fail(why, why_bytes, -EINVAL, "%s: must be a whole number from 1 to 1000000, not '%s'", name, text);
    *value = (unsigned)n;
    return 0;
}

static int read_value(struct exp_options *o, const struct option *opt, const char *text, char *why, size_t why_bytes)
{
    void *field = (char *)o + opt->offset;

    if (opt->kind == TEXT) {
        memcpy(field, &text, sizeof text);
        return 0;
    }
    if (!*text)
        return 0; /* an empty variable is an unset one */
    if (opt->kind == NUMBER)
        return read_number(opt->name, text, field, why, why_bytes);
    for (unsigned i = 0; i < 3 && opt->words[i]; i++) {
        if (!strcmp(text, opt->words[i])) {
            *(unsigned *)field = i;
            return 0;
        }
    }
    return exp_fail(why, why_bytes, -EINVAL, "%s: must be %s%s%s or %s, not '%s'", opt->name, opt->words[0],
                    opt->words[2] ? ", " : "", opt->words[2] ? opt->words[1] : "", opt->words[opt->words[2] ? 2 : 1],
                    text);
}

static int read_argument(struct exp_options *o, const char *arg, char *why, size_t why_bytes)
{
    size_t length = strcspn(arg, "=");

    for (size_t i = 0; i < N_OPTIONS && arg[length]; i++) {
        if (strlen(options[i].name) == length && !strncmp(options[i].name, arg, length))
            return read_value(o, &options[i], arg + length + 1, why, why_bytes);
    }
    return exp_fail(why, why_bytes, -EINVAL, "unknown option '%s'; experiment --help lists them", arg);
}

int exp_options_parse(struct exp_options *o, int argc, char **argv, char *why, size_t why_bytes)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    *o = (struct exp_options){
        .model = "",
        .machine = "",
        .algos = "",
        .layers = "",
        .ukr = "",
        .core = "",
        .results = "",
        .commit = "",
        .redraw = "",
        .observer = "",
        .guest = "",
        .why_no_guest = "",
        .observe = EXP_OBSERVE_DEFAULT,
        .reps = 10,
        .jobs = cores > 0 ? (unsigned)cores : 1,
        .timing = 1,
    };
    for (int i = 1; i < argc; i++) {
        int err = 0;

        if (!strcmp(argv[i], "--help"))
            o->helps = true;
        else if (!strcmp(argv[i], "--columns"))
            o->documents = true;
        else if (!strcmp(argv[i], "--guest"))
            o->asks_guest = true;
        else
            err = read_argument(o, argv[i], why, why_bytes);
        if (err)
            return err;
    }
    o->machine = *o->machine ? o->machine : "host";
    o->results = *o->results ? o->results : "results";
    if (!*o->model && !*o->redraw && !o->helps && !o->documents && !o->asks_guest)
        return exp_fail(why, why_bytes, -EINVAL, "MODEL is missing: for example MODEL=vgg16");
    return 0;
}
