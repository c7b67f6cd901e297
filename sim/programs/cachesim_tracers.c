#define _GNU_SOURCE /* asprintf, memfd_create */
#include "sim/programs/cachesim_tracers.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/programs/cachesim_heap.h"
#include "sim/programs/cachesim_notes.h"
#include "sim/programs/cachesim_place.h"

enum { MAX_PATH = 4096, MAX_ARGUMENTS = 1024 };

static int fail(struct sim_why why, int err, const char *name)
{
    return sim_fail(why, err, "%s, %s", name, strerror(-err));
}

/* ---- commands ---- */

/* The emulator of a program, by the machine and byte order in its ELF header. */
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

/*
 * Opens a library in its installed folder, or in its build folder. Returns the descriptor, and in `path` a path by
 * which the dynamic linker and QEMU load the library: both programs split the real path at blanks, colons and commas.
 * -1: the library is missing.
 */
static int open_library(const char *name, char path[static CACHESIM_PLACE_BYTES])
{
    static const char *const places[] = { "%s/../lib/convsim/%s", "%s/%s" };
    char folder[MAX_PATH / 2], real[MAX_PATH];
    int fd = -1;

    cachesim_place_folder(folder, sizeof folder);
    for (size_t i = 0; i < sizeof places / sizeof places[0] && fd < 0; i++) {
        snprintf(real, sizeof real, places[i], folder, name);
        fd = open(real, O_RDONLY | O_CLOEXEC);
    }
    if (fd >= 0)
        cachesim_place_of_descriptor(fd, path);
    return fd;
}

enum { MAX_ENVIRONMENT = 24 };

struct command {
    char *argument[MAX_ARGUMENTS];
    size_t n;
    char text[MAX_PATH];                          /* of an argument made here */
    const char *environment[MAX_ENVIRONMENT + 1]; /* ended by NULL, [n_variables] */
    size_t n_variables;
    char *made[3]; /* variables of --heap, from malloc */
};

static void put(struct command *c, const char *argument)
{
    c->argument[c->n++] = (char *)argument;
}

/* QEMU's variables that change QEMU's actions or output. Variables needed by some programs are not in the list. */
static const char *const qemu_settings[] = {
    "QEMU_ARGV0",     "QEMU_CPU",          "QEMU_DFILTER",         "QEMU_GDB",      "QEMU_GUEST_BASE", "QEMU_JITDUMP",
    "QEMU_LOG",       "QEMU_LOG_FILENAME", "QEMU_ONE_INSN_PER_TB", "QEMU_PAGESIZE", "QEMU_PERFMAP",    "QEMU_PLUGIN",
    "QEMU_RAND_SEED", "QEMU_RESERVED_VA",  "QEMU_SINGLESTEP",      "QEMU_STRACE",   "QEMU_TB_SIZE",    "QEMU_TRACE",
    "QEMU_VERSION",
};

enum { N_QEMU_SETTINGS = sizeof qemu_settings / sizeof qemu_settings[0] };

_Static_assert((int)N_QEMU_SETTINGS + 3 <= (int)MAX_ENVIRONMENT, "--heap has three of its own");

/* Makes the memory for notes about the program's progress. Returns the memory's descriptor, or -errno. */
static int make_notes(struct cachesim_source *s)
{
    const int fd = memfd_create("cachesim-notes", 0);
    void *at = fd < 0 || ftruncate(fd, CACHESIM_NOTES_BYTES)
                   ? MAP_FAILED
                   : mmap(NULL, CACHESIM_NOTES_BYTES, PROT_READ, MAP_SHARED, fd, 0);

    s->note = at == MAP_FAILED ? NULL : at;
    return at == MAP_FAILED ? -errno : fd;
}

/* Puts the emulator's part of the command. Returns NULL, or why the program cannot be emulated. */
static const char *put_emulator(struct command *c, struct cachesim_source *s, const struct cachesim_options *o,
                                const char *program)
{
    const struct emulator *e = find_emulator(program);
    char plugin[CACHESIM_PLACE_BYTES], where[MAX_PATH];
    int n, notes;

    if (!e)
        return "QEMU emulates programs of x86_64, ppc64le and aarch64, which this is not";
    if (!cachesim_place_program(e->name, where, sizeof where))
        return "QEMU's emulator is not installed (package qemu-user)";
    s->library[0] = open_library("tracer.so", plugin);
    if (s->library[0] < 0)
        return "the tracer is missing, tracer.so beside this program or in ../lib/convsim";
    notes = make_notes(s);
    if (notes < 0)
        return strerror(-notes);
    s->notes_fd = notes;
    n = snprintf(c->text, sizeof c->text, "%s,fd=%d,notes=%d", plugin, s->child.out, notes);
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
    put(c, program);
    for (size_t i = 0; i < N_QEMU_SETTINGS; i++)
        c->environment[c->n_variables++] = qemu_settings[i];
    return NULL;
}

static const char *put_valgrind(struct command *c, struct cachesim_source *s, const struct cachesim_options *o,
                                const char *program)
{
    const char *temporary = getenv("TMPDIR");
    char where[MAX_PATH];

    (void)o;
    if (!cachesim_place_program("valgrind", where, sizeof where))
        return "Valgrind is not installed (package valgrind)";
    snprintf(c->text, sizeof c->text, "--log-fd=%d", s->child.out);
    if (temporary && access(temporary, W_OK | X_OK)) {
        fprintf(stderr, "cachesim: TMPDIR is no folder that can be written; Valgrind takes /tmp\n");
        c->environment[c->n_variables++] = "TMPDIR";
    }
    put(c, "valgrind");
    put(c, "--command-line-only=yes"); /* neither VALGRIND_OPTS nor ~/.valgrindrc nor ./.valgrindrc */
    put(c, "--tool=lackey");
    put(c, "--trace-mem=yes");
    put(c, "--child-silent-after-fork=yes");
    put(c, c->text);
    put(c, program);
    return NULL;
}

static const struct cachesim_tracer {
    const char *name, *title;
    enum sim_trace_format format;
    const char *(*put)(struct command *c, struct cachesim_source *s, const struct cachesim_options *o,
                       const char *program);
} tracers[] = {
    { "qemu", "QEMU", SIM_TRACE_BINARY, put_emulator },
    { "valgrind", "Valgrind", SIM_TRACE_LACKEY, put_valgrind },
};

enum { N_TRACERS = sizeof tracers / sizeof tracers[0] };

/*
 * Makes the environment in which the program reports its allocations. Returns NULL, or why the environment cannot be
 * made.
 */
static const char *make_environment(struct cachesim_source *s, struct command *c, const struct cachesim_options *o,
                                    const char *program)
{
    const char *preloaded = getenv("LD_PRELOAD");
    char library[CACHESIM_PLACE_BYTES], whole[PATH_MAX];
    int n = 0;

    if (!o->heap_log)
        return NULL;
    s->library[1] = open_library("heap.so", library);
    if (s->library[1] < 0)
        return "heap.so is missing beside this program or in ../lib/convsim";
    preloaded = preloaded ? preloaded : "";
    n += asprintf(&c->made[0], "LD_PRELOAD=%s%s%s", library, *preloaded ? ":" : "", preloaded) > 0;
    n += asprintf(&c->made[1], CACHESIM_HEAP_VARIABLE "=%s", o->heap_log) > 0;
    n += asprintf(&c->made[2], CACHESIM_HEAP_PROGRAM "=%s", realpath(program, whole) ? whole : program) > 0;
    for (int i = 0; i < n; i++)
        c->environment[c->n_variables++] = c->made[i];
    return n == 3 ? NULL : strerror(ENOMEM);
}

/* Makes the command of the requested tracer, or of the first tracer that can run the program. */
static int make_command(struct cachesim_source *s, struct command *c, const struct cachesim_options *o,
                        const char *program, struct sim_why why)
{
    const char *what_else = make_environment(s, c, o, program);

    if (what_else)
        return sim_fail(why, -EINVAL, "--heap, %s", what_else);
    sim_fail(why, -EINVAL, "run, '%.200s'", program);
    for (size_t i = 0; i < N_TRACERS; i++) {
        const char *what;

        if (o->tracer && strcmp(o->tracer, tracers[i].name) != 0)
            continue;
        what = tracers[i].put(c, s, o, program);
        if (!what) {
            s->tracer = &tracers[i];
            s->reader.format = tracers[i].format;
            return 0;
        }
        sim_why_add(why, ", %s", what);
    }
    return -EINVAL;
}

void cachesim_tracers_release(struct cachesim_source *s)
{
    for (size_t i = 0; i < 2; i++) {
        if (s->library[i] >= 0)
            close(s->library[i]);
    }
    if (s->note)
        munmap((void *)(uintptr_t)s->note, CACHESIM_NOTES_BYTES);
}

static int start_program(struct cachesim_source *s, struct command *c, const struct cachesim_options *o,
                         const char *program, struct sim_why why)
{
    const bool has_stdout = cachesim_options_leave_stdout(o);
    const int maps = cachesim_options_by_line(o) ? memfd_create("cachesim-maps", 0) : -1;
    int err;

    s->maps = maps < 0 ? NULL : fdopen(maps, "w+");
    if (cachesim_options_by_line(o) && !s->maps)
        return fail(why, -errno, program);
    err = make_command(s, c, o, program, why);
    for (char *const *a = o->program + 1; !err && *a; a++) {
        if (c->n + 1 == MAX_ARGUMENTS)
            return sim_fail(why, -EINVAL, "run, '%.200s', more than 1000 arguments", program);
        put(c, *a);
    }
    if (err)
        return err;
    s->reader.is_whole_run = true;
    err = cachesim_child_start(
        &s->child, &(struct cachesim_start){ c->argument, has_stdout ? CACHESIM_TO_STDOUT : CACHESIM_TO_STDERR, -1,
                                             c->environment });
    if (err)
        return fail(why, err, c->argument[0]);
    s->in = s->child.in;
    s->child_name = c->argument[0];
    return 0;
}

/* Says why no program has a name. */
static const char *why_no_program(const char *name)
{
    struct stat s;

    if (stat(name, &s))
        return "no program is called so";
    if (S_ISDIR(s.st_mode))
        return "it is a folder";
    return strchr(name, '/') ? "it may not be executed (chmod +x)" : "it is not in PATH; is ./ missing before it?";
}

int cachesim_tracers_run(struct cachesim_source *s, const struct cachesim_options *o, struct sim_why why)
{
    struct command c = { 0 };
    char program[MAX_PATH];
    int err;

    if (!cachesim_place_program(o->program[0], program, sizeof program))
        return sim_fail(why, -ENOENT, "run, '%.200s', %s", o->program[0], why_no_program(o->program[0]));
    err = cachesim_child_open(&s->child);
    if (err)
        return fail(why, err, program);
    err = start_program(s, &c, o, program, why);
    for (size_t i = 0; i < sizeof c.made / sizeof c.made[0]; i++)
        free(c.made[i]);
    if (s->notes_fd >= 0)
        close(s->notes_fd);
    if (!err)
        return 0;
    if (s->child.out >= 0) { /* the child was not started */
        close(s->child.out);
        fclose(s->child.in);
    }
    if (s->maps)
        fclose(s->maps);
    s->maps = NULL;
    cachesim_tracers_release(s);
    return err;
}

/* ---- ends ---- */

/* Returns the possible reason behind Valgrind's message; "": unknown. */
static const char *explain(const char *said)
{
    static const char unknown[] = "; it does not know this instruction, as all of AVX-512: build the program without";
    static const struct {
        const char *words, *reason;
    } known[] = {
        { "unhandled instruction", unknown },
        { "Unrecognised instruction", unknown },
        { "out of memory", "; it needs more memory than it got" },
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strstr(said, known[i].words))
            return known[i].reason;
    }
    return "";
}

/* Says why a trace ends before its program, as far as the tracer told. read: the reader's message. */
static void explain_end(const struct cachesim_source *s, const struct cachesim_end *e, int status, const char *read,
                        struct sim_why why)
{
    const bool has_begun = s->note ? *s->note >= CACHESIM_RUNS : e->has_accesses;
    const bool becomes = s->note ? *s->note == CACHESIM_EXECS : has_begun;
    const char *title = s->tracer->title;

    if (*e->said && (has_begun || s->note))
        sim_fail(why, e->err, "run, '%.200s', Valgrind says: '%.200s'%s", s->name, e->said, explain(e->said));
    else if (!has_begun)
        sim_fail(why, e->err,
                 "run, '%.200s', %s did not get it to run (it ended with status %d); what %s says stands above",
                 s->name, title, WIFEXITED(status) ? WEXITSTATUS(status) : 0, title);
    else if (becomes)
        sim_fail(why, e->err,
                 "run, '%.200s', the trace ends before the program does: the program became another one (exec), which "
                 "has to be run instead (%.200s)",
                 s->name, read);
    else
        sim_fail(why, e->err,
                 "run, '%.200s', the trace ends before the program does: it wrote over or closed the tracer's "
                 "descriptor, or %s ended it and says why above (%.200s)",
                 s->name, title, read);
}

int cachesim_tracers_judge(const struct cachesim_source *s, int status, const struct cachesim_end *e,
                           struct sim_why why)
{
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    char read[256];

    if (number && (e->err || number != SIGPIPE) && (number != SIGPIPE || !*e->said))
        return sim_fail(why, -EINVAL, "run, '%.200s', was ended by signal %d (%s); its trace is cut short%s", s->name,
                        number, strsignal(number),
                        number == SIGILL ? ". QEMU and Valgrind do not know all instructions, none of AVX-512" : "");
    if (e->err) {
        snprintf(read, sizeof read, "%s", why.text);
        explain_end(s, e, status, read, why);
    } else if (WIFEXITED(status) && WEXITSTATUS(status)) {
        fprintf(stderr, "cachesim: %s ended with status %d\n", s->name, WEXITSTATUS(status));
    }
    return e->err;
}
