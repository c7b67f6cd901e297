#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/plugin.h"

#define COMPILER_VARIABLE "SCONV_CC" /* of the environment; else cc: as for generated code */
#define HEADER_DIR "kernels/plugin"
#define FLAGS_MARK "plugin:"

extern char **environ;

/* ---- where objects are kept ---- */

static int make_folder(const char *path)
{
    return mkdir(path, 0777) && errno != EEXIST ? -errno : 0;
}

/* Returns the folder of objects, from malloc: in the user's cache, or, without a home, a folder of the machine's. */
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

/* Adds the flags of the first comment: what follows "plugin:" in its line. */
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

static int make_command(struct exp_words *command, const char *path, const char *flags, struct exp_why *why)
{
    static const char *const usual[] = { "-std=gnu17", "-O3", "-march=native", "-g", "-fPIC", "-shared", "-Wall" };
    const char *compiler = getenv(COMPILER_VARIABLE);
    char here[PATH_MAX];
    int err;

    if (!getcwd(here, sizeof here))
        return exp_fail(why, -errno, "this folder cannot be read: %s", strerror(errno));
    exp_words_add(command, "%s", compiler && *compiler ? compiler : "cc");
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        exp_words_add(command, "%s", usual[i]);
    exp_words_add(command, "-I%s/" HEADER_DIR, here);
    exp_words_add(command, "%s", path);
    err = add_own_flags(command, path, why);
    return err ? err : exp_words_split(command, flags);
}

/* Runs the compiler; what it says is the user's to read. Returns 0 or -errno. */
static int run_compiler(char *const *argv, struct exp_why *why)
{
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid;
    int err, status;

    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    err = -posix_spawnp(&pid, argv[0], NULL, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    if (err)
        return exp_fail(why, err, "there is no compiler '%s': %s; " COMPILER_VARIABLE " names another", argv[0],
                        strerror(-err));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status ? exp_fail(why, -EIO, "it does not compile: what %s says stands above", argv[0]) : 0;
}

/* ---- objects ---- */

/* Returns a hash of all that makes the object: the command, the file, the header. The compiler counts by its name. */
static int hash_of(const struct exp_words *command, const char *path, uint64_t *hash)
{
    *hash = 0;
    for (size_t i = 0; i < command->n; i++)
        *hash = exp_hash_bytes(*hash, command->word[i], strlen(command->word[i]) + 1);
    exp_hash_file(hash, HEADER_DIR "/conv_plugin.h");
    return exp_hash_file(hash, path);
}

/* Compiles into another name first: another program may look for the same object. */
static int compile(struct exp_words *command, const char *object, struct exp_why *why)
{
    char *half = exp_format("%s.%ld", object, (long)getpid());
    int err;

    exp_words_add(command, "-o");
    exp_words_add(command, "%s", half);
    err = run_compiler(command->word, why);
    if (!err && rename(half, object))
        err = exp_fail(why, -errno, "%s: %s", object, strerror(errno));
    if (err)
        unlink(half);
    free(half);
    return err;
}

static int compile_source(const char *path, const char *flags, char **object, struct exp_why *why)
{
    struct exp_words command = { 0 };
    char *folder = cache_folder();
    uint64_t hash = 0;
    int err = make_cache(folder, why);

    if (!err)
        err = make_command(&command, path, flags, why);
    if (!err && (err = hash_of(&command, path, &hash)))
        exp_fail(why, err, "%s: %s", path, strerror(-err));
    if (!err) {
        *object = exp_format("%s/%016lx.so", folder, (unsigned long)hash);
        err = access(*object, R_OK) ? compile(&command, *object, why) : 0;
    }
    exp_words_release(&command);
    free(folder);
    return err;
}

int exp_plugin_compile(const char *path, const char *flags, char **object, struct exp_why *why)
{
    int err = 0;

    *object = NULL;
    if (access(path, R_OK))
        return exp_fail(why, -errno, "%s: %s", path, strerror(errno));
    if (exp_name_ends_in(path, ".c"))
        err = compile_source(path, flags, object, why);
    else
        *object = exp_format("%s%s", strchr(path, '/') ? "" : "./", path);
    if (err) {
        free(*object);
        *object = NULL;
    }
    return err;
}
