#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/plugin/plugin.h"
#include "sim/cpu.h"

#define COMPILER_VARIABLE "SCONV_CC" /* of the environment; else cc: as for generated code */
#define HEADER_DIR "kernels/plugin"
#define WATCH_DIR "counters/watch"
#define FLAGS_MARK "plugin:"

enum { WATCH_LIMIT_S = 60, COMPILER_LIMIT_S = 20 /* in addition to PLUGIN_LIMIT */ };

/* A compiler's command and its time limit. */
struct command {
    struct exp_words words;
    unsigned limit_s;
};

/* ---- the folder of objects ---- */

static int make_folder(const char *path)
{
    return mkdir(path, 0777) && errno != EEXIST ? -errno : 0;
}

/* Returns the folder of objects, from malloc: in the user's cache, or, without a home, below /tmp. */
static char *cache_folder(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (cache && *cache == '/')
        return exp_format("%s/convsim", cache);
    return home && *home == '/' ? exp_format("%s/.cache/convsim", home)
                                : exp_format("/tmp/convsim-%u", (unsigned)geteuid());
}

static int make_cache(const char *folder, struct exp_why *why)
{
    char *above = exp_format("%s", folder);
    int err;

    *strrchr(above, '/') = '\0';
    err = *above ? make_folder(above) : 0;
    err = err ? err : make_folder(folder);
    free(above);
    return err ? exp_fail(why, err, "there is no folder for what is compiled: %s: %s", folder, strerror(-err)) : 0;
}

/* ---- the command ---- */

static bool is_cxx(const char *path)
{
    return exp_name_ends_in(path, ".cc") || exp_name_ends_in(path, ".cpp") || exp_name_ends_in(path, ".cxx");
}

bool exp_plugin_is_source(const char *path)
{
    return exp_name_ends_in(path, ".c") || is_cxx(path);
}

/* Adds the flags of the file's first comment: the text behind "plugin:" in the line. */
static int add_own_flags(struct exp_words *command, const char *path, struct exp_why *why)
{
    char *text, *mark, *end;
    size_t bytes;
    int err = exp_text_read(&text, &bytes, path, why);

    if (err)
        return err;
    end = strstr(text, "*/");
    mark = strstr(text, FLAGS_MARK);
    if (mark && !strncmp(text + strspn(text, " \t\r\n"), "/*", 2) && (!end || mark < end)) {
        mark += strlen(FLAGS_MARK);
        mark[strcspn(mark, "\n")] = '\0';
        if (strstr(mark, "*/"))
            *strstr(mark, "*/") = '\0';
        err = exp_words_split(command, mark);
        if (err)
            exp_fail(why, err, "%s: the flags behind '%s' have a quote that is not closed", path, FLAGS_MARK);
    }
    free(text);
    return err;
}

/* Ends a command with the user's flags, and with the library of C++ for C++. */
static int end_command(struct exp_words *command, const char *flags, const char *path)
{
    int err = exp_words_split(command, flags);

    if (is_cxx(path))
        exp_words_split(command, "-Wl,--as-needed -lstdc++");
    return err;
}

/* Begins a command: the compiler, common flags, and the folder of the header. */
static int begin_command(struct exp_words *command, const char *compiler, const char *usual, const char *path,
                         struct exp_why *why)
{
    char here[PATH_MAX];

    if (!getcwd(here, sizeof here))
        return exp_fail(why, -errno, "this folder cannot be read: %s", strerror(errno));
    exp_words_add(command, "%s", compiler);
    exp_words_split(command, is_cxx(path) ? "-O3 -g -Wall" : "-std=gnu17 -O3 -g -Wall");
    exp_words_split(command, usual);
    exp_words_add(command, "-I%s/" HEADER_DIR, here);
    exp_words_add(command, "-I%s", here);
    return 0;
}

static const char *host_compiler(void)
{
    const char *compiler = getenv(COMPILER_VARIABLE);

    return compiler && *compiler ? compiler : "cc";
}

/* Runs the compiler; the messages are for the user. Returns 0 or -errno. */
static int run_compiler(char *const *argv, unsigned limit_s, struct exp_why *why)
{
    int status, err;

    fflush(stderr);
    err = exp_process_show((const char *const *)argv, limit_s, exp_interrupted, &status);
    if (err == -EINTR)
        return exp_fail(why, err, "interrupted while it was compiled");
    if (err == -ETIMEDOUT)
        return exp_fail(why, -EIO, "%s was ended after %u s; PLUGIN_LIMIT= grants more", argv[0], limit_s);
    if (err)
        return exp_fail(why, err, "there is no compiler '%s': %s%s", argv[0], strerror(-err),
                        strcmp(argv[0], host_compiler()) ? "" : "; " COMPILER_VARIABLE " names another");
    return status ? exp_fail(why, -EIO, "it does not compile: what %s says stands above", argv[0]) : 0;
}

/* ---- objects ---- */

/* Hashes the file that an argument of the compiler names, if any: another source, or a linked archive. */
static void hash_argument(const struct command *command, const char *word, uint64_t *hash)
{
    struct stat is;

    if (!stat(word, &is) && S_ISREG(is.st_mode))
        exp_hash_file(hash, word);
    for (size_t i = 0; i < command->words.n && !strncmp(word, "-l:", 3); i++) {
        const bool is_folder = !strncmp(command->words.word[i], "-L", 2);
        char *archive = exp_format("%s/%s", is_folder ? command->words.word[i] + 2 : "", word + 3);

        if (is_folder && !stat(archive, &is))
            exp_hash_file(hash, archive);
        free(archive);
    }
}

/* Runs a command with more words behind the compiler's name: files stand before the libraries that the files need. */
static int run_with(const struct command *command, const char *const *more, struct exp_why *why)
{
    struct exp_words whole = { 0 };
    int err;

    exp_words_add(&whole, "%s", command->words.word[0]);
    for (; *more; more++)
        exp_words_add(&whole, "%s", *more);
    for (size_t i = 1; i < command->words.n; i++)
        exp_words_add(&whole, "%s", command->words.word[i]);
    err = run_compiler(whole.word, command->limit_s, why);
    exp_words_release(&whole);
    return err;
}

/* Hashes a source with all included files. */
static int hash_source(const struct command *command, const char *path, const char *half, uint64_t *hash,
                       struct exp_why *why)
{
    int err = run_with(command, (const char *const[]){ "-E", "-P", "-w", path, "-o", half, NULL }, why);

    if (!err && (err = exp_hash_file(hash, half)))
        exp_fail(why, err, "%s: %s", half, strerror(-err));
    unlink(half);
    return err;
}

/* Hashes everything that makes the object: the command, the file, headers. The compiler counts by name. */
static int hash_of(const struct command *command, const char *path, const char *half, uint64_t *hash,
                   struct exp_why *why)
{
    static const char *const sources[] = {
        "ring.h", "recorder.h", "plugin_watcher.c", "record.awk", "marker.h", "x86.awk", "../../" HEADER_DIR "/drive.c"
    };
    int err;

    *hash = 0;
    for (size_t i = 0; i < command->words.n; i++) {
        *hash = exp_hash_bytes(*hash, command->words.word[i], strlen(command->words.word[i]) + 1);
        if (i)
            hash_argument(command, command->words.word[i], hash);
    }
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        char *source = exp_format(WATCH_DIR "/%s", sources[i]);

        exp_hash_file(hash, source);
        free(source);
    }
    err = exp_hash_file(hash, path);
    if (err)
        return exp_fail(why, err, "%s: %s", path, strerror(-err));
    return exp_plugin_is_source(path) ? hash_source(command, path, half, hash, why) : 0;
}

/* Finds the object of a command and a file, or has `make` make the object, under a temporary name first. */
static int find_or_make(const struct command *command, const char *path, const char *suffix,
                        int (*make)(const struct command *command, const char *path, const char *to,
                                    struct exp_why *why),
                        char **object, struct exp_why *why)
{
    char *folder = cache_folder(), *half = exp_format("%s/%ld.%s.half", folder, (long)getpid(), suffix);
    uint64_t hash = 0;
    int err = make_cache(folder, why);

    err = err ? err : hash_of(command, path, half, &hash, why);
    if (!err) {
        *object = exp_format("%s/%016lx.%s", folder, (unsigned long)hash, suffix);
        err = access(*object, R_OK) ? make(command, path, half, why) : 0;
        if (!err && !access(half, R_OK) && rename(half, *object))
            err = exp_fail(why, -errno, "%s: %s", *object, strerror(errno));
        if (err)
            unlink(half);
    }
    free(half);
    free(folder);
    return err;
}

static int make_object(const struct command *command, const char *path, const char *to, struct exp_why *why)
{
    return run_with(command, (const char *const[]){ path, "-o", to, NULL }, why);
}

static int compile_source(const char *path, const struct exp_plugin_limits *limits, char **object, struct exp_why *why)
{
    struct command command = { .limit_s = limits->limit_s + COMPILER_LIMIT_S };
    struct exp_words *words = &command.words;
    int err = begin_command(words, host_compiler(), "-march=native -fPIC -shared", path, why);

#ifdef __x86_64__
    if (sim_cpu_is_limited() && !sim_cpu_has(CPU_ISA_AVX512))
        exp_words_add(words, sim_cpu_has(CPU_ISA_AVX2) ? "-mno-avx512f" : "-mno-avx");
#endif

    if (!err)
        err = add_own_flags(words, path, why);
    if (!err)
        err = end_command(words, limits->flags, path);
    if (!err)
        err = find_or_make(&command, path, "so", make_object, object, why);
    exp_words_release(words);
    return err;
}

/* Returns the CPU family of a program or library, as the header numbers the family; 0: no program or library. */
static unsigned family_of(const char *path)
{
    Elf64_Ehdr head = { 0 };
    FILE *in = exp_file_open(path);
    const size_t n = in ? fread(&head, 1, sizeof head, in) : 0;

    if (in)
        fclose(in);
    return n == sizeof head && !memcmp(head.e_ident, ELFMAG, SELFMAG) ? head.e_machine : 0;
}

/* Takes a path as an object; for an object of another CPU, the dynamic linker would report a missing file. */
static int take_object(const char *path, char **object, struct exp_why *why)
{
    const unsigned family = family_of(path);

    *object = exp_format("%s%s", strchr(path, '/') ? "" : "./", path);
    if (family && family != family_of("/proc/self/exe"))
        return exp_fail(why, -ENOEXEC, "%s: is for another CPU family", path);
    return 0;
}

int exp_plugin_compile(const char *path, const struct exp_plugin_limits *limits, char **object, struct exp_why *why)
{
    FILE *in = exp_file_open(path);
    int err = 0;

    *object = NULL;
    if (!in)
        return exp_fail(why, -errno, "%s: %s", path, exp_file_error(errno));
    fclose(in);
    if (exp_plugin_is_source(path))
        err = compile_source(path, limits, object, why);
    else
        err = take_object(path, object, why);
    if (err) {
        free(*object);
        *object = NULL;
    }
    return err;
}

/* ---- programs that record accesses ---- */

/*
 * Machines whose kernels use an instruction set have plug-ins compiled for this set, if this computer can run the set.
 */
static const struct exp_recorder_kind kinds[] = {
#ifndef __powerpc64__
    { CPU_ISA_MMA, "powerpc64le-linux-gnu-gcc", "-mcpu=power10 -static", "qemu-ppc64le -cpu power10", " for POWER10" },
#endif
#ifdef __x86_64__
    { CPU_ISA_AVX2, "gcc", "-march=native -mno-avx512f", "", " without AVX-512" },
#endif
    { CPU_ISA_NONE, "gcc", "-march=native", "", "" },
};

#ifdef __x86_64__
static const struct exp_recorder_kind of_libraries = { CPU_ISA_NONE, "gcc", "-march=native -mno-avx512f",
                                                       "qemu-x86_64 -cpu max", " for the emulator" };
#endif

const struct exp_recorder_kind *exp_recorder_kind_of_libraries(void)
{
#ifdef __x86_64__
    return &of_libraries;
#else
    return NULL;
#endif
}

const struct exp_recorder_kind *exp_recorder_kind(enum cpu_isa isa)
{
    const struct exp_recorder_kind *k = kinds;

    while (k->isa != isa && k->isa != CPU_ISA_NONE)
        k++;
    return k;
}

/* Has awk put recording code into assembly. */
static int watch(const char *assembly, const char *watched, struct exp_why *why)
{
    struct exp_words command = { 0 };
    char last[256];
    int err, status;

    exp_words_split(&command, "sh -c 'awk -f " WATCH_DIR "/x86.awk -f " WATCH_DIR "/record.awk \"$0\" >\"$1\"'");
    exp_words_add(&command, "%s", assembly);
    exp_words_add(&command, "%s", watched);
    err =
        exp_process_run((const char *const *)command.word, WATCH_LIMIT_S, exp_interrupted, &status, last, sizeof last);
    exp_words_release(&command);
    if (err || status)
        return exp_fail(why, err ? err : -ENOTSUP, "%s", err ? strerror(-err) : last);
    return 0;
}

/*
 * Compiles the plug-in into assembly, puts recording code into the assembly, and links the result with
 * plugin_watcher.c, which has no recording code. If the plug-in has a function main, as a file with a test of its own,
 * plugin_watcher.c's main is taken.
 */
static int make_recorder(const struct command *command, const char *path, const char *to, struct exp_why *why)
{
    char *assembly = exp_format("%s.s", to), *watched = exp_format("%s.watched.s", to);
    int err = run_with(
        command, (const char *const[]){ "-S", "-g0", "-w", "-mstringop-strategy=libcall", path, "-o", assembly, NULL },
        why);

    if (!err)
        err = watch(assembly, watched, why);
    if (!err)
        err =
            run_with(command,
                     (const char *const[]){
                         WATCH_DIR "/plugin_watcher.c", watched, "-o", to, "-Wl,-z,muldefs",
                         "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset",
                         "-Wl,--wrap=sigprocmask,--wrap=pthread_sigmask,--wrap=sigaction,--wrap=signal", "-lm", NULL },
                     why);
    unlink(assembly);
    unlink(watched);
    free(assembly);
    free(watched);
    return err;
}

/* Links the unchanged plug-in with plugin_watcher.c: the emulator sees the accesses. */
static int make_emulated(const struct command *command, const char *path, const char *to, struct exp_why *why)
{
    return run_with(
        command,
        (const char *const[]){ WATCH_DIR "/plugin_watcher.c", path, "-w", "-o", to, "-Wl,-z,muldefs", "-lm", NULL },
        why);
}

/* Links the plug-in with the program around a plug-in. */
static int make_driver(const struct command *command, const char *path, const char *to, struct exp_why *why)
{
    return run_with(command, (const char *const[]){ HEADER_DIR "/drive.c", path, "-w", "-o", to, "-lm", NULL }, why);
}

int exp_plugin_compile_driver(const char *path, const struct exp_plugin_limits *limits, unsigned seconds,
                              char **program, struct exp_why *why)
{
    const struct exp_recorder_kind *kind = exp_recorder_kind_of_libraries();
    struct command command = { .limit_s = limits->limit_s + COMPILER_LIMIT_S };
    struct exp_words *words = &command.words;
    int err;

    *program = NULL;
    if (!kind || !exp_plugin_is_source(path))
        return exp_fail(why, -ENOTSUP, kind ? "source lines need a C file" : "only x86 code is annotated here");
    err = begin_command(words, kind->compiler, kind->flags, path, why);
    if (!err) {
        exp_words_add(words, "-DDRIVE_RUNS=1");
        exp_words_add(words, "-DDRIVE_SECONDS=%u", seconds);
        err = add_own_flags(words, path, why);
    }
    if (!err)
        err = end_command(words, limits->flags, path);
    if (!err)
        err = find_or_make(&command, path, "drive", make_driver, program, why);
    exp_words_release(words);
    if (err) {
        free(*program);
        *program = NULL;
    }
    return err;
}

/* Adds flags that tell the loader where a shared object is. */
static void add_run_path(struct exp_words *command, const char *path)
{
    const char *slash = strrchr(path, '/');
    char here[PATH_MAX] = "";

    if (*path != '/' && !getcwd(here, sizeof here))
        here[0] = '\0';
    exp_words_add(command, "-Wl,-rpath,%s/%.*s", here, slash ? (int)(slash - path) : 0, path);
}

int exp_plugin_compile_recorder(const char *path, const struct exp_plugin_limits *limits, const char *symbol,
                                bool is_function, const struct exp_recorder_kind *kind, char **program,
                                struct exp_why *why)
{
    const bool is_emulated = *kind->emulator, is_source = exp_plugin_is_source(path);
    struct command command = { .limit_s = limits->limit_s + COMPILER_LIMIT_S };
    struct exp_words *words = &command.words;
    int err;

    *program = NULL;
    if (!is_emulated && !is_source)
        return exp_fail(why, -ENOTSUP, "what a shared object accesses is not seen here: the bench needs its source");
    err = begin_command(words, kind->compiler, kind->flags, path, why);
    if (!err) {
        exp_words_add(words, "-DCONV_RECORDED=%s", symbol);
        if (is_function)
            exp_words_add(words, "-DCONV_RECORDED_IS_FUNCTION");
        if (is_emulated)
            exp_words_split(words, "-D_GNU_SOURCE= -DCONV_RECORDED_EMULATED -include counters/watch/marker.h");
        if (is_source)
            err = add_own_flags(words, path, why);
        else
            add_run_path(words, path);
    }
    if (!err)
        err = end_command(words, limits->flags, path);
    if (!err)
        err = find_or_make(&command, path, "rec", is_emulated ? make_emulated : make_recorder, program, why);
    exp_words_release(words);
    if (!err)
        return 0;
    free(*program);
    *program = NULL;
    exp_say_more(why->text, sizeof why->text, " (compiled%s to record its accesses)", kind->what);
    return err;
}
