/* The simulator's speed, by stream, interface and engine. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cpu.h"
#include "sim/plain/lists.h"
#include "sim/programs/bench_sim.h"
#include "tests/sim/sim_naive.h"

static const char help[] =
    "usage: simbench [options]\n"
    "\n"
    "Measures how many million accesses per second the simulator takes.\n"
    "\n"
    "  --machine NAME     caches (the default), prefetch (prefetchers, TLBs, software prefetches), 3c (misses in "
    "classes);\n"
    "                     or the path of a machine file, such as sim/machines/zen3.cfg\n"
    "  --engine NAMES     plain, avx512, avx2, portable, wide, full (full-avx512, ...); the default is what a user "
    "gets here\n"
    "  --stream NAMES     gemm, im2col, random, gemm_big, im2col_big, rand_big; the default is all\n"
    "  --interface NAMES  records, bursts, calls; the default is all\n"
    "  --rounds N         so many rounds, in which all take turns (default 9)\n"
    "  --threads N        measure N threads on one stream, too\n"
    "  --peers PATHS      measure other simulators' cores, too: shared objects, see sim/programs/bench_peer.h\n"
    "  --naive            compare with the tests' naive model, once\n"
    "  --csv              print CSV instead of a table\n"
    "Names have commas between. CONV_CPU=baseline, avx2 or avx512 masks what is wider.\n";

struct options {
    struct sim_bench_choice choice;
    const char *machine;
    bool has_naive;
    bool asks_help;
};

static bool read_number(const char *option, const char *text, unsigned long most, unsigned *n)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *n = (unsigned)value;
    if (*text >= '1' && *text <= '9' && !*end && value <= most)
        return true;
    fprintf(stderr, "simbench: --%s=%s: a number from 1 to %lu is possible\n", option, text, most);
    return false;
}

static bool read_options(struct options *o, int argc, char **argv)
{
    static const struct option known[] = {
        { "machine", required_argument, NULL, 'm' },
        { "engine", required_argument, NULL, 'e' },
        { "stream", required_argument, NULL, 's' },
        { "interface", required_argument, NULL, 'i' },
        { "rounds", required_argument, NULL, 'r' },
        { "threads", required_argument, NULL, 't' },
        { "peers", required_argument, NULL, 'p' },
        { "naive", no_argument, NULL, 'n' },
        { "csv", no_argument, NULL, 'c' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    int letter;

    *o = (struct options){ .choice.n_rounds = 9, .machine = "caches" };
    while ((letter = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        switch (letter) {
        case 'm':
            o->machine = optarg;
            break;
        case 'e':
            o->choice.engines = optarg;
            break;
        case 's':
            o->choice.streams = optarg;
            break;
        case 'i':
            o->choice.interfaces = optarg;
            break;
        case 'r':
            if (!read_number("rounds", optarg, SIM_BENCH_MAX_ROUNDS, &o->choice.n_rounds))
                return false;
            break;
        case 't':
            if (!read_number("threads", optarg, SIM_MAX_SHARDS, &o->choice.n_threads))
                return false;
            break;
        case 'p':
            o->choice.peers = optarg;
            break;
        case 'n':
            o->has_naive = true;
            break;
        case 'c':
            o->choice.is_csv = true;
            break;
        case 'h':
            o->asks_help = true;
            break;
        default:
            return false;
        }
    }
    if (optind < argc)
        fprintf(stderr, "simbench: '%s' is no option; see simbench --help\n", argv[optind]);
    return optind == argc;
}

static const struct sim_stats *naive_stats(void *ctx)
{
    return sim_naive_stats(ctx);
}

static void naive_clear(void *ctx)
{
    sim_naive_clear(ctx);
}

static int run_bench(const struct options *o, const struct sim_machine *m, struct sim_why why)
{
    struct sim_naive *naive = o->has_naive ? sim_naive_new(m) : NULL;
    struct sim_bench_reference reference = { "naive", NULL, naive, naive_stats, naive_clear };
    int err = o->has_naive && !naive ? -ENOMEM : 0;

    if (naive)
        reference.sink = sim_naive_sink(naive);
    if (err)
        sim_fail(why, err, "%s", strerror(ENOMEM));
    else
        err = sim_bench(stdout, m, &o->choice, naive ? &reference : NULL, why);
    sim_naive_free(naive);
    return err;
}

static int read_machine(const char *name, struct sim_machine *m, struct sim_why why)
{
    if (strchr(name, '/'))
        return sim_machine_read(m, name, why.text, why.bytes);
    if (sim_bench_machine_called(name, m))
        return 0;
    return sim_fail(why, -EINVAL, "no machine is called '%s'; there are: caches, prefetch, 3c, and paths", name);
}

int main(int argc, char **argv)
{
    struct options o;
    struct sim_machine m;
    char why[256] = "";
    int err;

    if (!read_options(&o, argc, argv))
        return 2;
    if (o.asks_help)
        return fputs(help, stdout) == EOF || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
    err = sim_cpu_check_limit(SIM_WHY(why));
    err = err ? err : read_machine(o.machine, &m, SIM_WHY(why));
    if (!err && !o.choice.engines)
        o.choice.engines = sim_machine_is_plain(&m) ? "plain" : "full";
    if (!err)
        err = run_bench(&o, &m, SIM_WHY(why));
    if (err)
        fprintf(stderr, "simbench: %s\n", why);
    return !err ? EXIT_SUCCESS : err == -EINVAL || err == -ENOTSUP || err == -ENOENT ? 2 : EXIT_FAILURE;
}
