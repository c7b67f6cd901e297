/*
 * Options that several questions have, in groups, and the meaning of their values. A question names a group in its
 * table (options.h) and has the group's fields in its struct.
 */
#ifndef EXPERIMENTS_BENCH_COURSE_OPTIONS_SHARED_H
#define EXPERIMENTS_BENCH_COURSE_OPTIONS_SHARED_H

#include <stdint.h>

#include "experiments/base/stats.h"
#include "experiments/bench/course/options.h"
#include "experiments/bench/course/output.h"

/* ---- the subject ---- */

#define EXP_PLAN_OPTION                                                                                                \
    EXP_PATH("PLAN", "a file of plans as JSON (sconv-plan --json writes one): algorithm sconv_plan does what it says", \
             plan, "")
#define EXP_LAYERS_OPTION                                                                                              \
    EXP_TEXT("LAYERS", "only layers whose name matches one of the comma-separated patterns: LAYERS='conv1_*,conv5_3'", \
             layers, "")

#define EXP_LINKS_OPTION                                                                                               \
    EXP_WORD("LINKS",                                                                                                  \
             "no (default): a network's external data lie in its folder; yes: they may also be links into the cache "  \
             "of Hugging Face that the network is in (blobs beside snapshots)",                                        \
             links, 0, "no", "yes")

/* Needs the fields layers, batch, input and links (EXP_MODEL_ASK). */
#define EXP_ASK_OPTIONS                                                                                                \
    EXP_LAYERS_OPTION,                                                                                                 \
        EXP_NUMBER("BATCH", "images at once (default: what the network or the table says, else 1)", batch, 0, 1,       \
                   1000000),                                                                                           \
        EXP_TEXT("INPUT",                                                                                              \
                 "of a network (.onnx) that leaves it open: size of the input behind the batch, such as 3x224x224; "   \
                 "of several inputs x=3x224x224,y=10",                                                                 \
                 input, ""),                                                                                           \
        EXP_LINKS_OPTION

#define EXP_MODELS_OPTIONS                                                                                             \
    EXP_NAMES("MODEL",                                                                                                 \
              "names, networks (.onnx), layer tables, or what else experiment takes (experiments/models/README.md), "  \
              "comma-separated; all (default): the paper's seven",                                                     \
              model, "all"),                                                                                           \
        EXP_ASK_OPTIONS

#define EXP_MACHINE_OPTION                                                                                             \
    EXP_NAMES("MACHINE", "simulated machine: host (default), a name in sim/machines, or the path of a .cfg file",      \
              machine, "host")

/* ---- kernels ---- */

#define EXP_FILTERS_OPTION                                                                                             \
    EXP_WORD("FILTERS", "when SConv packs filters: ahead (default), not counted; or run_time, by SConv itself",        \
             packs_filters, 0, "ahead", "run_time")

#define EXP_UKR_OPTION                                                                                                 \
    EXP_TEXT("UKR",                                                                                                    \
             "SConv's micro-kernel, such as f32_16x24__avx512; or an instruction set (ref, avx2, avx512, mma): the "   \
             "paper's of that set, and sconv_tuned takes its best for each layer; or openblas: that of CORE "          \
             "(default: the machine's, else the widest this CPU runs)",                                                \
             ukr, "")

#define EXP_CORE_OPTION                                                                                                \
    EXP_TEXT("CORE",                                                                                                   \
             "OpenBLAS core that is replayed: SkylakeX, Cooperlake, Haswell, Zen, POWER10 (default: the machine's, "   \
             "else the one in use)",                                                                                   \
             core, "")

#define EXP_KERNEL_OPTIONS EXP_FILTERS_OPTION, EXP_UKR_OPTION, EXP_CORE_OPTION

#define EXP_PLUGIN_OPTIONS                                                                                             \
    EXP_TEXT("PLUGIN_CFLAGS",                                                                                          \
             "flags for the compiler of plug-ins in ALGO: C files (mine.c), shared objects (./mine.so) or something "  \
             "in them (mine.c:other), which run with your rights (kernels/plugin/README.md); behind those of their "   \
             "first comment (/* plugin: -ldnnl */)",                                                                   \
             plugin_flags, ""),                                                                                        \
        EXP_TEXT("PLUGIN_PLAN", "text that plug-ins get when they prepare, such as tiles: what it means is theirs",    \
                 plugin_plan, ""),                                                                                     \
        EXP_NUMBER("PLUGIN_LIMIT",                                                                                     \
                   "seconds that a plug-in may take for anything, and 20 ns more for each multiply-add (default 10)",  \
                   plugin_limit, 10, 1, 100000)

#define EXP_TUNE_OPTIONS                                                                                               \
    EXP_WORD("SCONV_TUNE",                                                                                             \
             "how sconv_tuned finds its plans: model (default); or measure: all that may be good are timed, once for " \
             "each shape (up to two seconds), and nothing is observed",                                                \
             measures, 0, "model", "measure"),                                                                         \
        EXP_PATH("SCONV_WISDOM",                                                                                       \
                 "file that remembers what SCONV_TUNE=measure found (default: none); what it knows is used, whatever " \
                 "SCONV_TUNE says",                                                                                    \
                 wisdom, "")

/* ---- the run ---- */

#define EXP_CACHE_OPTION                                                                                               \
    EXP_WORD("CACHE",                                                                                                  \
             "caches at the start of each layer: cold (default); warm: after a run of the same algorithm; network: "   \
             "with what the layer before left, its output as input",                                                   \
             cache, 0, "cold", "warm", "network")

#define EXP_SAMPLE_OPTION                                                                                              \
    EXP_TEXT("SAMPLE",                                                                                                 \
             "replay of all accesses: exact; or of a sample, with 95 % intervals: 1%, the wanted half width of "       \
             "cycles; or auto (default): a sample where a machine with prefetchers or TLBs would need more than 20 s " \
             "of CPU time",                                                                                            \
             sample, "auto")

#define EXP_TIMING_OPTION EXP_WORD("TIMING", "0 = replay only, nothing is run", timing, 1, "0", "1")

#define EXP_CLOCK_OPTION                                                                                               \
    EXP_WORD("CLOCK",                                                                                                  \
             "cpu (default): the thread's own time, without what other processes take on a busy computer; or wall",    \
             clock, EXP_CLOCK_CPU, "cpu", "wall")

#define EXP_RULER_OPTION                                                                                               \
    EXP_WORD("RULER",                                                                                                  \
             "1 (default): short loops beside each timing show whether a neighbour disturbs the core, and disturbed "  \
             "timings are taken again; 0: none, timings are kept as they come",                                        \
             ruler, 1, "0", "1")

#define EXP_REPLAY_JOBS_OPTION                                                                                         \
    EXP_NUMBER("JOBS", "threads for the replay (default: all cores)", jobs, EXP_ALL_CORES, 1, 1000000)

#define EXP_RUN_JOBS_OPTION                                                                                            \
    EXP_NUMBER("JOBS", "threads for verification and replay (default: all cores); timing uses one", jobs,              \
               EXP_ALL_CORES, 1, 1000000)

/* ---- the store and the workers ---- */

#define EXP_STORE_OPTION                                                                                               \
    EXP_PATH("STORE",                                                                                                  \
             "file that keeps what was simulated or observed, so that it is not done again; make uses "                \
             "RESULTS/store.sqlite; no: nothing is kept. Simulations of plain caches whose misses are not classified " \
             "are not worth it",                                                                                       \
             store, "")

#define EXP_CLUSTER_OPTIONS                                                                                            \
    EXP_PATH("KNOWN", "another store, whose results are taken over first (default: none)", known, ""),                 \
        EXP_WORD("LAUNCHER",                                                                                           \
                 "who does the work: here (default), or slurm: jobs of a Slurm cluster (one for an experiment); "      \
                 "those that time have a node each for themselves (--exclusive)",                                      \
                 launcher, EXP_LAUNCH_HERE, "here", "slurm"),                                                          \
        EXP_TEXT("SLURM",                                                                                              \
                 "more words for sbatch, split as a shell does, nothing in them replaced: SLURM='--partition=long "    \
                 "--time=60'",                                                                                         \
                 slurm, "")

#define EXP_SHARES_OPTIONS                                                                                             \
    EXP_TEXT("SHARE",                                                                                                  \
             "2/8: only the third of eight shares of the work, kept in STORE; no tables (default: everything)", share, \
             ""),                                                                                                      \
        EXP_NUMBER("SHARES", "jobs of the cluster (default 8)", shares, 8, 1, 1000)

#define EXP_MORE_OPTION                                                                                                \
    EXP_WORD("MORE",                                                                                                   \
             "1: print everything at once, as " EXP_OUTPUT_FILE " has it (default 0: the answer on one screen)", more, \
             0, "0", "1")

/* ---- values set by the Makefile ---- */

#define EXP_GUEST_OPTIONS                                                                                              \
    EXP_MADE_PATH("OBSERVER", "path of the emulator's plugin (the Makefile knows)", observer),                         \
        EXP_MADE_PATH("GUEST", "path of the program that is observed (the Makefile knows)", guest)

#define EXP_TWIN_OPTIONS                                                                                               \
    EXP_MADE_PATH("TWIN", "path of the same program with instrumented kernels (the Makefile knows)", twin),            \
        EXP_MADE_TEXT("WHY_NO_GUEST", "why these two could not be built (the Makefile knows)", why_no_guest),          \
        EXP_QUERY("--guest", "print the CPU family of the program that would be observed; nothing if none would",      \
                  asks_guest)

#define EXP_COMMIT_OPTION EXP_MADE_TEXT("COMMIT", "recorded in every result", commit)

/* The place of results of models: the folder below RESULTS. */
#define EXP_RESULTS_OPTIONS(place)                                                                                     \
    EXP_FOLDER("RESULTS",                                                                                              \
               "folder for results (default results); this goes to RESULTS/" place "/<models>/ (a name, names joined " \
               "by +, or all; then ,<LAYERS>)",                                                                        \
               results, "results"),                                                                                    \
        EXP_COMMIT_OPTION

/* ---- meanings ---- */

/* The reason for missing times with TIMING=0. */
#define EXP_UNTIMED "TIMING=0 was asked for"

enum exp_clock { EXP_CLOCK_CPU, EXP_CLOCK_WALL }; /* the thread's own time, or wall time */

/* Where a question's tasks run: in this program, or in jobs of a cluster. */
enum exp_launcher { EXP_LAUNCH_HERE, EXP_LAUNCH_SLURM };

/* The layers that run under emulation (observe/observe.h). */
enum exp_observe_mode {
    EXP_OBSERVE_NONE,
    EXP_OBSERVE_SAMPLE, /* layers of equal shape share one observation */
    EXP_OBSERVE_ALL,
    EXP_OBSERVE_AUTO, /* as EXP_OBSERVE_SAMPLE, if no counters count the machine, and within a limit of time */
};

/* Return the function that reads the clock (enum exp_clock), and the clock's name. */
uint64_t (*exp_clock_of(unsigned clock))(void);
const char *exp_clock_name(unsigned clock);

/* Returns how long disturbed timings may be repeated: LIMIT in seconds, whatever REPS says; 0 with RULER=0. */
uint64_t exp_ruler_limit_ns(unsigned ruler, unsigned limit);

/* Returns REPS rounds; for REPS=0, from `least` to `most` rounds within LIMIT, in seconds. */
struct exp_rounds exp_rounds_of(unsigned reps, size_t least, size_t most, unsigned limit);

#endif
