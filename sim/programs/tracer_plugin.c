/*
 * The tracer of `cachesim run` as a plugin of QEMU's user-mode emulators:
 *
 *     qemu-x86_64 -cpu max -plugin tracer.so,fd=NUMBER[,fetches=TAG|,accessors=TAG][,maps=NUMBER][,notes=NUMBER]
 *     PROGRAM
 *
 * fd        the descriptor that gets every load and store of the program, in order, as a binary trace (trace_binary.h)
 * fetches   adds each instruction before its accesses, as a load with the tag
 * accessors adds only instructions that access memory
 * maps      the descriptor that gets, at the end, the program's memory mappings, in the format of /proc/<pid>/maps
 * notes     the descriptor of a file that notes the program's progress (cachesim_notes.h)
 *
 * QEMU reports accesses in pieces of at most 8 bytes; the plugin joins the pieces of one execution of an instruction.
 * Accesses of several threads come in the order in which the threads take a lock. Prefetch instructions access nothing
 * here: QEMU does not report them.
 *
 * The trace covers one process and one program. A forked child is silent: it forgets what its parent has not written
 * yet, and closes its copy of the descriptor. A program that calls exec closes the descriptor, too: then the trace
 * lacks its end, and the notes say why. The emulated program shares QEMU's descriptors, and some programs close all
 * descriptors that they have not opened. So the trace moves to a descriptor above the program's limit, and before each
 * block is written, the plugin checks that the descriptor still belongs to the original file.
 *
 * The plugin runs in another program, so it prints its errors itself. QEMU hands no context to the callback that
 * translates: `tracer` below is the only object for this callback.
 */
#define _GNU_SOURCE /* fopencookie */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/programs/cachesim_notes.h"
#include "sim/trace/qemu_plugin_api.h"
#include "sim/trace/trace.h"

extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* An executed instruction, if instructions are recorded. */
struct fetch {
    uint64_t address;
    uint32_t bytes;
};

/* Says where the trace goes. */
struct outlet {
    int fd;
    struct stat is; /* the file at the start */
    int err;        /* of the first block not written, as -errno */
};

struct tracer {
    pthread_mutex_t lock;
    struct outlet outlet;
    FILE *file;
    atomic_bool is_silent; /* this process is a child of the traced process; or the trace has ended */
    struct sim_trace trace;
    struct sim_run run[SIM_MAX_BURST_RUNS]; /* not written yet; the last run may grow */
    size_t n_runs;
    uint64_t executed,
        last_executed; /* executed: instructions that may access memory; last_executed: at the last run's begin */
    bool has_fetches, has_accessors;
    uint8_t fetch_tag;
    int maps_fd;        /* -1: nobody asked */
    volatile int *note; /* enum cachesim_note, in memory that cachesim reads; NULL: no notes */
    int64_t exec[2];    /* the numbers of execve and execveat */
    uint64_t host_base; /* where the program's address 0 is in the emulator's memory */
    bool knows_base;
};

static struct tracer tracer = { .lock = PTHREAD_MUTEX_INITIALIZER, .maps_fd = -1, .exec = { -1, -1 } };

enum {
    BLOCK_BYTES = 1 << 16,
    HIGHEST_FD = 1 << 16, /* the kernel keeps a table up to the highest descriptor */
};

static void complain(const char *what, const char *value)
{
    fprintf(stderr, "tracer: %s%s%s\n", what, *value ? ": " : "", value);
}

/* ---- the outlet ---- */

/*
 * Returns a duplicate that exec closes, or -errno. Its number is above the emulated program's limit, which takes a
 * higher limit for a moment; if there is no such number, the duplicate is among the last two that the program can have.
 */
static int move_up(int fd)
{
    struct rlimit now, wide;
    int at, moved;

    if (getrlimit(RLIMIT_NOFILE, &now))
        return -errno;
    wide = (struct rlimit){ now.rlim_max, now.rlim_max };
    at = now.rlim_cur < HIGHEST_FD ? (int)now.rlim_cur : HIGHEST_FD;
    if (setrlimit(RLIMIT_NOFILE, &wide))
        wide = now;
    moved = fcntl(fd, F_DUPFD_CLOEXEC, (rlim_t)at + 1 < wide.rlim_cur ? at : at - 2);
    moved = moved < 0 ? -errno : moved;
    setrlimit(RLIMIT_NOFILE, &now);
    return moved;
}

static int open_outlet(struct outlet *o, int fd)
{
    *o = (struct outlet){ .fd = move_up(fd) };
    if (o->fd < 0)
        return o->fd;
    close(fd);
    return fstat(o->fd, &o->is) ? -errno : 0;
}

/* Tells whether the descriptor is unchanged: neither closed nor another file by now. */
static bool is_there(const struct outlet *o)
{
    struct stat now;

    return !fstat(o->fd, &now) && now.st_dev == o->is.st_dev && now.st_ino == o->is.st_ino;
}

static int write_all(const struct outlet *o, const char *bytes, size_t n)
{
    while (n) {
        ssize_t done = write(o->fd, bytes, n);

        if (done < 0 && errno != EINTR)
            return -errno;
        bytes += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

/* The stream's function to write; a silent process forgets the bytes. */
static ssize_t write_block(void *cookie, const char *bytes, size_t n)
{
    struct outlet *o = cookie;

    if (tracer.is_silent)
        return (ssize_t)n;
    if (!o->err)
        o->err = is_there(o) ? write_all(o, bytes, n) : -EBADF;
    return o->err ? 0 : (ssize_t)n;
}

/* Comes after fork(), in the child; and at the end. */
static void fall_silent(void)
{
    if (is_there(&tracer.outlet))
        close(tracer.outlet.fd);
    tracer.is_silent = true;
}

/* ---- accesses ---- */

static void write_runs(void)
{
    sim_emit(sim_trace_sink(&tracer.trace), tracer.run, tracer.n_runs, 1);
    tracer.n_runs = 0;
}

static void add(const struct sim_run *r)
{
    if (tracer.n_runs == SIM_MAX_BURST_RUNS)
        write_runs();
    tracer.run[tracer.n_runs++] = *r;
}

/* Joins a piece to its access. Returns whether there is such an access. */
static bool joins(uint64_t address, uint32_t bytes, uint8_t kind)
{
    struct sim_run *last = tracer.n_runs ? &tracer.run[tracer.n_runs - 1] : NULL;

    if (!last || tracer.executed != tracer.last_executed || last->kind != kind ||
        last->addr + last->access_bytes != address || last->access_bytes + bytes > SIM_TRACE_MAX_BYTES)
        return false;
    last->access_bytes += bytes;
    return true;
}

/* Adds an instruction. */
static void add_fetch(const struct fetch *f)
{
    add(&(struct sim_run){
        .addr = f->address, .count = 1, .access_bytes = f->bytes, .kind = SIM_LOAD, .tag = tracer.fetch_tag });
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
    const uint32_t bytes = 1u << qemu_plugin_mem_size_shift(info);
    const uint8_t kind = qemu_plugin_mem_is_store(info) ? SIM_STORE : SIM_LOAD;

    (void)vcpu;
    if (tracer.is_silent)
        return;
    pthread_mutex_lock(&tracer.lock);
    if (userdata && tracer.executed != tracer.last_executed)
        add_fetch(userdata);
    if (!joins(address, bytes, kind))
        add(&(struct sim_run){ .addr = address, .count = 1, .access_bytes = bytes, .kind = kind });
    tracer.last_executed = tracer.executed;
    pthread_mutex_unlock(&tracer.lock);
}

static void on_fetch(unsigned vcpu, void *userdata)
{
    const struct fetch *f = userdata;

    (void)vcpu;
    if (tracer.is_silent)
        return;
    pthread_mutex_lock(&tracer.lock);
    add_fetch(f);
    pthread_mutex_unlock(&tracer.lock);
}

/* QEMU keeps a translated block, and the callback's argument, as long as QEMU likes: the argument is never freed. */
static struct fetch *new_fetch(const struct qemu_plugin_insn *insn)
{
    struct fetch *f = malloc(sizeof *f);

    if (!f) {
        complain("out of memory", "");
        _Exit(EXIT_FAILURE);
    }
    *f = (struct fetch){ qemu_plugin_insn_vaddr(insn), (uint32_t)qemu_plugin_insn_size(insn) };
    return f;
}

static void find_base(const struct qemu_plugin_insn *insn)
{
    if (!tracer.knows_base)
        tracer.host_base = (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(insn) - qemu_plugin_insn_vaddr(insn);
    tracer.knows_base = true;
}

/* Notes the program's progress; a forked child notes nothing. */
static void note(enum cachesim_note what)
{
    if (tracer.note && !tracer.is_silent)
        *tracer.note = (int)what;
}

static bool is_exec(int64_t number)
{
    return number == tracer.exec[0] || number == tracer.exec[1];
}

static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)vcpu, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    if (is_exec(number))
        note(CACHESIM_EXECS);
}

/* Runs when a system call returns: exec returns only if it failed. */
static void on_return(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result)
{
    (void)id, (void)vcpu, (void)result;
    if (is_exec(number))
        note(CACHESIM_RUNS);
}

/* Finds the numbers of execve and execveat. */
static void find_exec(const char *target)
{
    static const struct {
        const char *target;
        int64_t exec[2];
    } known[] = { { "x86_64", { 59, 322 } }, { "aarch64", { 221, 281 } }, { "ppc64le", { 11, 362 } } };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!strcmp(known[i].target, target))
            memcpy(tracer.exec, known[i].exec, sizeof tracer.exec);
    }
}

static void on_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    if (!tracer.knows_base)
        note(CACHESIM_RUNS);
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

        find_base(insn);
        if (tracer.has_fetches)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_fetch, QEMU_PLUGIN_CB_NO_REGS, new_fetch(insn));
        qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &tracer.executed, 1);
        qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                         tracer.has_accessors ? new_fetch(insn) : NULL);
    }
}

/* Writes the emulator's own map, with the program's addresses; memory outside of the program gets no valid address. */
static void write_maps(void)
{
    FILE *in = fopen("/proc/self/maps", "r"), *out = fdopen(tracer.maps_fd, "w");
    unsigned long long begin, end;
    char line[1 << 13];
    int rest = 0;

    while (in && out && fgets(line, sizeof line, in)) {
        if (sscanf(line, "%llx-%llx%n", &begin, &end, &rest) == 2)
            fprintf(out, "%llx-%llx%s", begin - tracer.host_base, end - tracer.host_base, line + rest);
    }
    if (in)
        fclose(in);
    if (out)
        fclose(out);
}

/* Ends the trace. A reader that went away is no error of the program. */
static void on_exit_of_program(qemu_plugin_id_t id, void *userdata)
{
    int err;

    (void)id, (void)userdata;
    if (tracer.is_silent)
        return;
    pthread_mutex_lock(&tracer.lock);
    write_runs();
    if (tracer.maps_fd >= 0)
        write_maps();
    err = sim_trace_close(&tracer.trace);
    if (tracer.outlet.err)
        err = tracer.outlet.err;
    fall_silent(); /* other threads may still run */
    pthread_mutex_unlock(&tracer.lock);
    if (err == -EBADF)
        complain("the program closed all of its descriptors, the tracer's too", "");
    else if (err && err != -EPIPE)
        complain("cannot write the trace", strerror(-err));
}

/* Reads a number below the limit, which is at most 1000. */
static bool read_number(const char *text, unsigned limit, unsigned *n)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *n = (unsigned)value;
    return *text >= '0' && *text <= '9' && !*end && value < limit;
}

/* Maps the notes, and closes their descriptor. */
static void open_notes(int fd)
{
    void *at = mmap(NULL, CACHESIM_NOTES_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    tracer.note = at == MAP_FAILED ? NULL : at;
    close(fd);
    note(CACHESIM_NOT_STARTED);
}

static bool read_arguments(unsigned *fd, int argc, char **argv)
{
    bool has_fd = false;

    for (int i = 0; i < argc; i++) {
        const char *value = strchr(argv[i], '=') ? strchr(argv[i], '=') + 1 : "";
        unsigned tag = 0, maps = 0, notes = 0;

        if (!strncmp(argv[i], "fd=", strlen("fd=")) && read_number(value, 1000, fd)) {
            has_fd = true;
        } else if (!strncmp(argv[i], "fetches=", strlen("fetches=")) && read_number(value, SIM_USUAL_TAGS, &tag)) {
            tracer.has_fetches = true;
            tracer.fetch_tag = (uint8_t)tag;
        } else if (!strncmp(argv[i], "accessors=", strlen("accessors=")) && read_number(value, SIM_USUAL_TAGS, &tag)) {
            tracer.has_accessors = true;
            tracer.fetch_tag = (uint8_t)tag;
        } else if (!strncmp(argv[i], "maps=", strlen("maps=")) && read_number(value, 1000, &maps)) {
            tracer.maps_fd = move_up((int)maps);
        } else if (!strncmp(argv[i], "notes=", strlen("notes=")) && read_number(value, 1000, &notes)) {
            open_notes((int)notes);
        } else {
            complain("fd=NUMBER, fetches=TAG, accessors=TAG, maps=NUMBER or notes=NUMBER is wanted, not", argv[i]);
            return false;
        }
    }
    if (!has_fd)
        complain("fd=NUMBER is missing", "");
    return has_fd;
}

static int open_trace(unsigned fd)
{
    const cookie_io_functions_t functions = { .write = write_block };
    int err = open_outlet(&tracer.outlet, (int)fd);

    if (err)
        return err;
    tracer.file = fopencookie(&tracer.outlet, "wb", functions);
    if (!tracer.file)
        return -ENOMEM;
    setvbuf(tracer.file, NULL, _IOFBF, BLOCK_BYTES);
    sim_trace_init_as(&tracer.trace, tracer.file, SIM_TRACE_BINARY);
    return -pthread_atfork(NULL, NULL, fall_silent);
}

/* Returns 0; otherwise QEMU says that the plugin could not be loaded, and ends. */
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                                               char **argv)
{
    unsigned fd = 0;
    int err;

    if (info->system_emulation) {
        complain("only programs are traced here, no whole machines", "");
        return -1;
    }
    if (!read_arguments(&fd, argc, argv))
        return -1;
    err = open_trace(fd);
    if (err) {
        complain("cannot write the trace", strerror(-err));
        return -1;
    }
    find_exec(info->target_name);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
    if (tracer.note) {
        qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
        qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
    }
    qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
    return 0;
}
