#define _GNU_SOURCE /* realpath */
#include "sim/programs/cachesim_source.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/programs/cachesim_heap.h"
#include "sim/programs/cachesim_place.h"
#include "sim/programs/cachesim_signal.h"

enum { MAX_PATH = 4096, MAX_ARGUMENTS = 1024 };

static int fail(char *why, size_t why_bytes, int err, const char *name)
{
    snprintf(why, why_bytes, "%s, %s", name, strerror(-err));
    return err;
}

/* ---- compressed files ---- */

static const struct packer {
    const char *ending;
    const char *program, *package; /* the program takes -dc */
    char magic[8];
    size_t magic_bytes;
} packers[] = {
    { ".gz", "gzip", "gzip", "\x1f\x8b", 2 },
    { ".zst", "zstd", "zstd", "\x28\xb5\x2f\xfd", 4 },
    { ".xz", "xz", "xz-utils",
      "\xfd"
      "7zXZ",
      6 },
};

enum { N_PACKERS = sizeof packers / sizeof packers[0] };

size_t cachesim_source_unpacked(const char *path)
{
    const size_t length = strlen(path);

    for (size_t i = 0; i < N_PACKERS; i++) {
        size_t ending = strlen(packers[i].ending);

        if (length > ending && !strcmp(path + length - ending, packers[i].ending))
            return length - ending;
    }
    return length;
}

/* Looks at the first bytes of a file, and steps back. A pipe is not looked at. */
static const struct packer *find_packer(FILE *in)
{
    char head[sizeof packers[0].magic];
    size_t n;

    if (fseeko(in, 0, SEEK_SET))
        return NULL;
    n = fread(head, 1, sizeof head, in);
    if (fseeko(in, 0, SEEK_SET))
        return NULL;
    for (size_t i = 0; i < N_PACKERS; i++) {
        if (n >= packers[i].magic_bytes && !memcmp(head, packers[i].magic, packers[i].magic_bytes))
            return &packers[i];
    }
    return NULL;
}

static int start(struct cachesim_source *s, char *const *argv, bool prints_into_pipe, char *why, size_t why_bytes)
{
    int err = cachesim_child_start(&s->child, argv, prints_into_pipe);

    if (err)
        return fail(why, why_bytes, err, argv[0]);
    s->in = s->child.in;
    s->child_name = argv[0];
    return 0;
}

static int unpack(struct cachesim_source *s, const struct packer *p, const char *path, char *why, size_t why_bytes)
{
    const char *argv[] = { p->program, "-dc", "--", path, NULL };
    char where[MAX_PATH];
    int err;

    if (!cachesim_place_program(p->program, where, sizeof where)) {
        snprintf(why, why_bytes, "%s, it is compressed and %s is not installed (package %s)", path, p->program,
                 p->package);
        return -ENOENT;
    }
    err = cachesim_child_open(&s->child);
    return err ? fail(why, why_bytes, err, path) : start(s, (char *const *)argv, true, why, why_bytes);
}

static int open_file(struct cachesim_source *s, const char *path, char *why, size_t why_bytes)
{
    const struct packer *p;

    s->in = fopen(path, "rb");
    if (!s->in)
        return fail(why, why_bytes, -errno, path);
    p = find_packer(s->in);
    if (!p)
        return 0;
    fclose(s->in);
    return unpack(s, p, path, why, why_bytes);
}

/* ---- programs ---- */

/* The emulator of a program, by its file's kind. */
static const struct emulator {
    uint16_t machine;
    unsigned char data; /* byte order */
    const char *name, *cpu;
} emulators[] = {
    { EM_X86_64, ELFDATA2LSB, "qemu-x86_64", "max" },
    { EM_PPC64, ELFDATA2LSB, "qemu-ppc64le", "power10" },
    { EM_AARCH64, ELFDATA2LSB, "qemu-aarch64", "max" },
};

static const struct emulator *find_emulator(const char *program)
{
    FILE *in = fopen(program, "rb");
    Elf64_Ehdr head = { 0 };
    size_t n = in ? fread(&head, 1, sizeof head, in) : 0;

    if (in)
        fclose(in);
    if (n < sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof emulators / sizeof emulators[0]; i++) {
        if (head.e_machine == emulators[i].machine && head.e_ident[EI_DATA] == emulators[i].data)
            return &emulators[i];
    }
    return NULL;
}

/* Finds a library where it is installed, and where it was built. */
static bool find_library(const char *name, char *path, size_t bytes)
{
    static const char *const places[] = { "%s/../lib/convsim/%s", "%s/%s" };
    char folder[MAX_PATH / 2];

    cachesim_place_folder(folder, sizeof folder);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, bytes, places[i], folder, name);
        if (!access(path, R_OK))
            return true;
    }
    return false;
}

struct command {
    char *argument[MAX_ARGUMENTS];
    size_t n;
    char text[MAX_PATH + 64];                                                 /* of an argument that is made here */
    char preload[MAX_PATH + 16], log[MAX_PATH + 16], listened[MAX_PATH + 32]; /* of the environment, with --heap */
};

static void put(struct command *c, const char *argument)
{
    c->argument[c->n++] = (char *)argument;
}

/* Puts the emulator's part of the command. Returns NULL, or why the program cannot be emulated. */
static const char *put_emulator(struct command *c, const struct cachesim_source *s, const struct cachesim_options *o,
                                const char *program)
{
    const struct emulator *e = find_emulator(program);
    char plugin[MAX_PATH], where[MAX_PATH];
    int n;

    if (!e)
        return "QEMU emulates programs of x86_64, ppc64le and aarch64, which this is not";
    if (!cachesim_place_program(e->name, where, sizeof where))
        return "QEMU's emulator is not installed (package qemu-user)";
    if (!find_library("tracer.so", plugin, sizeof plugin))
        return "the tracer is missing, tracer.so beside this program or in ../lib/convsim";
    n = snprintf(c->text, sizeof c->text, "%s,fd=%d", plugin, s->child.out);
    if (o->reader.has_fetches)
        n += snprintf(c->text + n, sizeof c->text - (size_t)n, ",%s=%u", o->simulates_fetches ? "fetches" : "accessors",
                      o->reader.fetch_tag);
    if (s->maps)
        snprintf(c->text + n, sizeof c->text - (size_t)n, ",maps=%d", fileno(s->maps));
    put(c, e->name);
    put(c, "-cpu");
    put(c, e->cpu);
    put(c, "-plugin");
    put(c, c->text);
    if (o->heap_log) {
        put(c, "-E");
        put(c, c->preload);
        put(c, "-E");
        put(c, c->log);
        put(c, "-E");
        put(c, c->listened);
    }
    put(c, program);
    return NULL;
}

static const char *put_valgrind(struct command *c, const struct cachesim_source *s, const struct cachesim_options *o,
                                const char *program)
{
    char where[MAX_PATH];

    if (!cachesim_place_program("valgrind", where, sizeof where))
        return "Valgrind is not installed (package valgrind)";
    snprintf(c->text, sizeof c->text, "--log-fd=%d", s->child.out);
    if (o->heap_log) {
        put(c, "env");
        put(c, c->preload);
        put(c, c->log);
        put(c, c->listened);
    }
    put(c, "valgrind");
    put(c, "--tool=lackey");
    put(c, "--trace-mem=yes");
    put(c, "--child-silent-after-fork=yes");
    put(c, c->text);
    put(c, program);
    return NULL;
}

static const struct tracer {
    const char *name;
    enum sim_trace_format format;
    const char *(*put)(struct command *c, const struct cachesim_source *s, const struct cachesim_options *o,
                       const char *program);
} tracers[] = {
    { "qemu", SIM_TRACE_BINARY, put_emulator },
    { "valgrind", SIM_TRACE_LACKEY, put_valgrind },
};

enum { N_TRACERS = sizeof tracers / sizeof tracers[0] };

/* Makes the environment in which the program tells of its allocations. Returns NULL, or why it cannot. */
static const char *make_environment(struct command *c, const struct cachesim_options *o, const char *program)
{
    char library[MAX_PATH], whole[PATH_MAX];

    if (!o->heap_log)
        return NULL;
    if (!find_library("heap.so", library, sizeof library))
        return "heap.so is missing beside this program or in ../lib/convsim";
    snprintf(c->preload, sizeof c->preload, "LD_PRELOAD=%s", library);
    snprintf(c->log, sizeof c->log, CACHESIM_HEAP_VARIABLE "=%s", o->heap_log);
    snprintf(c->listened, sizeof c->listened, CACHESIM_HEAP_PROGRAM "=%s", realpath(program, whole) ? whole : program);
    return NULL;
}

/* Makes the command of the tracer that was asked for, or of the first that can do it. */
static int make_command(struct cachesim_source *s, struct command *c, const struct cachesim_options *o,
                        const char *program, char *why, size_t why_bytes)
{
    size_t used = (size_t)snprintf(why, why_bytes, "run, '%.200s'", program);
    const char *what_else = make_environment(c, o, program);

    if (what_else) {
        snprintf(why, why_bytes, "--heap, %s", what_else);
        return -EINVAL;
    }
    for (size_t i = 0; i < N_TRACERS; i++) {
        const char *what;

        if (o->tracer && strcmp(o->tracer, tracers[i].name) != 0)
            continue;
        what = tracers[i].put(c, s, o, program);
        if (!what) {
            s->reader.format = tracers[i].format;
            return 0;
        }
        if (used < why_bytes)
            used += (size_t)snprintf(why + used, why_bytes - used, ", %s", what);
    }
    return -EINVAL;
}

static int run(struct cachesim_source *s, const struct cachesim_options *o, char *why, size_t why_bytes)
{
    struct command c = { 0 };
    char program[MAX_PATH];
    int err;

    if (!cachesim_place_program(o->program[0], program, sizeof program)) {
        snprintf(why, why_bytes, "run, '%.200s', no program is called so", o->program[0]);
        return -ENOENT;
    }
    err = cachesim_child_open(&s->child);
    if (err)
        return fail(why, why_bytes, err, program);
    s->maps = cachesim_options_by_line(o) ? tmpfile() : NULL;
    err = cachesim_options_by_line(o) && !s->maps ? fail(why, why_bytes, -errno, program)
                                                  : make_command(s, &c, o, program, why, why_bytes);
    for (char *const *a = o->program + 1; !err && *a; a++) {
        if (c.n + 1 == MAX_ARGUMENTS) {
            snprintf(why, why_bytes, "run, '%.200s', more than 1000 arguments", program);
            err = -EINVAL;
        } else {
            put(&c, *a);
        }
    }
    if (err) {
        close(s->child.out);
        fclose(s->child.in);
        if (s->maps)
            fclose(s->maps);
        s->maps = NULL;
        return err;
    }
    s->is_program = true;
    s->reader.is_whole_run = true;
    return start(s, c.argument, false, why, why_bytes);
}

/* ---- all of them ---- */

int cachesim_source_open(struct cachesim_source *s, const struct cachesim_options *o, char *why, size_t why_bytes)
{
    *s = (struct cachesim_source){ .name = o->trace, .reader = o->reader };
    if (o->program)
        return run(s, o, why, why_bytes);
    if (strcmp(o->trace, "-") != 0)
        return open_file(s, o->trace, why, why_bytes);
    s->in = stdin;
    s->name = "stdin";
    return 0;
}

/* Says how a traced program ended, if that was no ordinary end. */
static int judge_program(const struct cachesim_source *s, int status, int err, char *why, size_t why_bytes)
{
    char read[200];

    if (WIFSIGNALED(status) && (err || WTERMSIG(status) != SIGPIPE)) {
        snprintf(why, why_bytes, "run, '%.200s', was ended by signal %d (%s); its trace is cut short", s->name,
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
        return -EINVAL;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status))
        fprintf(stderr, "cachesim: %s ended with status %d\n", s->name, WEXITSTATUS(status));
    if (err) {
        snprintf(read, sizeof read, "%s", why);
        snprintf(
            why, why_bytes,
            "run, '%.200s', the trace ends before the program does: the program became another one (exec), which has "
            "to be run instead, or closed the tracer's descriptor (%s)",
            s->name, read);
    }
    return err;
}

int cachesim_source_close(struct cachesim_source *s, int err, char *why, size_t why_bytes)
{
    int status;

    if (!s->child_name) {
        if (s->in != stdin)
            fclose(s->in);
        return err;
    }
    status = cachesim_child_end(&s->child, cachesim_signal_is_over());
    if (cachesim_signal_is_over())
        return err;
    if (s->is_program)
        return judge_program(s, status, err, why, why_bytes);
    if (WIFEXITED(status) && WEXITSTATUS(status)) {
        snprintf(why, why_bytes, "%s, %s cannot unpack it: it is damaged or cut short", s->name, s->child_name);
        return -EINVAL;
    }
    return err;
}
