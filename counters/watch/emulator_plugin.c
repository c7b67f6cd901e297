/*
 * The watcher inside QEMU's user-mode emulators, as a plugin. The plugin watches a region of a program, or the whole
 * program:
 *
 *     qemu-x86_64 -cpu max -plugin tracer.so,out=FILE,machine=FILE.cfg[,KEY=VALUE]... PROGRAM
 *     qemu-x86_64 -cpu max -plugin tracer.so,fd=NUMBER[,KEY=VALUE]... PROGRAM
 *
 * A region: the program's marks (marker.h) delimit the region.
 *
 *   out       the result (watch.h), written when the program closes the region
 *   machine   the simulated machine's file (sim/machine/machine.h)
 *   rule      functions that do a part of a library's work (watch.h), as PATTERN:PHASE:TAG; TAG '-' for none
 *   masked    the phase of masked loads, whatever phase a mark began: the loaded part of the width is unknown
 *   trace     every access to a buffer, as a binary trace (sim/trace/trace_binary.h)
 *
 * While the emulator runs, FILE.watched holds the emulator's process number: the file tells the program of the watcher.
 *
 * The whole program (`cachesim run`):
 *
 *   fd        the descriptor that gets every load and store of the program, in order, as a binary trace
 *   fetches   adds each instruction before its accesses, as a load with the tag
 *   accessors adds only instructions that access memory
 *   maps      the descriptor that gets, at the end, the program's memory mappings, in the format of /proc/<pid>/maps
 *   notes     the descriptor of a file that notes the program's progress (sim/programs/cachesim_notes.h)
 *
 * The trace covers a process and a program. A forked child is silent: the child forgets the unwritten part of the
 * trace, and closes its copy of the descriptor. A program that calls exec closes the descriptor, too: then the trace
 * lacks its end, and the notes say why. The emulated program shares QEMU's descriptors, and some programs close all
 * descriptors but their own: outlet.h keeps the trace apart.
 *
 * Accesses of several threads come in the order in which the threads take a lock. Prefetch instructions access nothing
 * here: QEMU does not report prefetches. Generated code counts the classes of instructions, block by block.
 *
 * The plugin runs in a foreign program, so the plugin prints errors itself; an error in a region ends the program. QEMU
 * hands no context to some callbacks: `watcher` below is the only object for the callbacks.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counters/watch/insn.h"
#include "counters/watch/marker.h"
#include "counters/watch/outlet.h"
#include "counters/watch/ring.h"
#include "counters/watch/watch.h"
#include "sim/programs/cachesim_notes.h"
#include "sim/trace/qemu_plugin_api.h"
#include "sim/trace/trace.h"

extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* A translated instruction. */
struct instruction {
    struct watch_site *site;
    uint64_t address;
    uint32_t bytes;
};

struct watcher {
    struct watch_region region; /* of a whole program: only stream and trace */
    uint64_t *executed;         /* instructions that may access memory */
    /* of a region */
    watch_decode_fn decode;
    char watched[4096]; /* the file that tells the program of the watcher */
    struct sim_expander expander;
    struct watch_ring *ring;   /* NULL: nobody wants records */
    struct watch_block *block; /* of the ring; NULL: the next record begins a block */
    unsigned n_blocks, ring_phase;
    /* of a whole program */
    bool is_whole, has_fetches, has_accessors;
    uint8_t fetch_tag;
    pthread_mutex_t lock;
    struct watch_site *site;    /* of all instructions */
    struct watch_outlet outlet; /* closed: this process is a child of the traced process; or the trace has ended */
    uint64_t last_executed;     /* at the last access */
    int maps_fd;                /* -1: nobody asked */
    volatile int *note;         /* enum cachesim_note, in memory read by cachesim; NULL: no notes */
    int64_t exec[2];            /* the numbers of execve and execveat */
    uint64_t host_base;         /* where the program's address 0 is in the emulator's memory */
    bool knows_base;
};

static struct watcher watcher = { .lock = PTHREAD_MUTEX_INITIALIZER, .maps_fd = -1, .exec = { -1, -1 } };

enum { MOST_FDS = 1000 };

static int complain(const char *what, const char *value)
{
    fprintf(stderr, "%s: %s%s%s\n", watcher.is_whole ? "tracer" : "observer", what, *value ? ": " : "", value);
    return -EINVAL;
}

/* ---- the trace of a whole program ---- */

/* Comes after fork(), in the child; and at the end. */
static void fall_silent(void)
{
    watch_outlet_close(&watcher.outlet);
}

static int open_trace(int fd)
{
    const int err = watch_outlet_open(&watcher.outlet, fd, &watcher.region.trace_file);

    return err ? err : -pthread_atfork(NULL, NULL, fall_silent);
}

/* ---- accesses ---- */

static void take(const struct instruction *i, qemu_plugin_meminfo_t info, uint64_t address)
{
    watch_stream_take(&(struct watch_access){ i->site, address, 1u << qemu_plugin_mem_size_shift(info),
                                              qemu_plugin_mem_is_store(info) ? SIM_STORE : SIM_LOAD });
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *instruction)
{
    (void)vcpu;
    take(instruction, info, address);
}

static void add_fetch(const struct instruction *i)
{
    const struct sim_run run = {
        .addr = i->address, .count = 1, .access_bytes = i->bytes, .kind = SIM_LOAD, .tag = watcher.fetch_tag
    };

    watch_stream_settle(watcher.region.stream);
    sim_emit(sim_trace_sink(&watcher.region.trace), &run, 1, 1);
}

static void on_access_of_whole(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *instruction)
{
    (void)vcpu;
    if (watcher.outlet.is_closed)
        return;
    pthread_mutex_lock(&watcher.lock);
    if (watcher.has_accessors && *watcher.executed != watcher.last_executed)
        add_fetch(instruction);
    take(instruction, info, address);
    watcher.last_executed = *watcher.executed;
    pthread_mutex_unlock(&watcher.lock);
}

static void on_fetch(unsigned vcpu, void *instruction)
{
    (void)vcpu;
    if (watcher.outlet.is_closed)
        return;
    pthread_mutex_lock(&watcher.lock);
    add_fetch(instruction);
    pthread_mutex_unlock(&watcher.lock);
}

/* ---- translation ---- */

/* QEMU keeps a translated block and the callbacks' argument as long as QEMU likes: nobody frees an instruction. */
static struct instruction *new_instruction(const struct qemu_plugin_insn *insn, struct watch_site *site)
{
    struct instruction *i = malloc(sizeof *i);

    if (i)
        *i = (struct instruction){ site, qemu_plugin_insn_vaddr(insn), (uint32_t)qemu_plugin_insn_size(insn) };
    if (!i || !site) {
        complain("out of memory", "");
        _Exit(EXIT_FAILURE);
    }
    return i;
}

static void watch_accesses(struct qemu_plugin_insn *insn, struct instruction *i)
{
    qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, watcher.executed, 1);
    qemu_plugin_register_vcpu_mem_cb(insn, watcher.is_whole ? on_access_of_whole : on_access, QEMU_PLUGIN_CB_NO_REGS,
                                     QEMU_PLUGIN_MEM_RW, i);
}

/*
 * TCG's code leaves the upper halves of the host's vector registers in use, and QEMU's floating-point helpers are SSE
 * instructions: each helper then waits some 80 cycles for the upper halves (Intel). Clearing the upper halves before an
 * instruction with a helper makes the whole emulation ten times as fast, and changes nothing: TCG keeps no value there.
 */
#if defined(__x86_64__)
__attribute__((target("avx"))) static void free_upper_halves(unsigned vcpu, void *userdata)
{
    (void)vcpu, (void)userdata;
    __builtin_ia32_vzeroupper();
}

static void ease_arithmetic(struct qemu_plugin_insn *insn)
{
    if (__builtin_cpu_supports("avx"))
        qemu_plugin_register_vcpu_insn_exec_cb(insn, free_upper_halves, QEMU_PLUGIN_CB_NO_REGS, NULL);
}
#else
static void ease_arithmetic(struct qemu_plugin_insn *insn)
{
    (void)insn;
}
#endif

static void on_block_of_region(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb), n_of[WATCH_N_CLASSES] = { 0 };
    uint64_t *instructions = NULL;

    (void)id;
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        const char *function = qemu_plugin_insn_symbol(insn);
        struct watch_insn what = watcher.decode(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn));

        n_of[what.class]++;
        if (what.class == WATCH_FMA || what.class == WATCH_MMA)
            ease_arithmetic(insn);
        if (what.may_touch) {
            struct instruction *watched = new_instruction(insn, watch_stream_site(watcher.region.stream, function));

            watched->site->is_masked = what.is_masked;
            watch_accesses(insn, watched);
        }
        if (!instructions)
            instructions = watch_stream_instructions(watcher.region.stream, function);
    }
    for (size_t c = 0; c < WATCH_N_CLASSES; c++) {
        if (n_of[c])
            qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &instructions[c], n_of[c]);
    }
}

static void find_base(const struct qemu_plugin_insn *insn)
{
    if (!watcher.knows_base)
        watcher.host_base = (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(insn) - qemu_plugin_insn_vaddr(insn);
    watcher.knows_base = true;
}

/* Notes the program's progress; a forked child notes nothing. */
static void note(enum cachesim_note what)
{
    if (watcher.note && !watcher.outlet.is_closed)
        *watcher.note = (int)what;
}

static void on_block_of_whole(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    if (!watcher.knows_base)
        note(CACHESIM_RUNS);
    for (size_t n = 0; n < qemu_plugin_tb_n_insns(tb); n++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, n);
        struct instruction *i;

        find_base(insn);
        i = new_instruction(insn, watcher.site);
        if (watcher.has_fetches)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_fetch, QEMU_PLUGIN_CB_NO_REGS, i);
        watch_accesses(insn, i);
    }
}

/* ---- records of a region ---- */

/* Hands over the block at hand, or an empty block. A reader that wants no more ends the program. */
static void begin_block(void)
{
    if (watcher.block)
        return;
    watcher.block = watch_ring_next(watcher.ring, watcher.n_blocks++);
    if (!watcher.block)
        _exit(EXIT_FAILURE);
    watcher.block->n = 0;
}

static void put_work(struct watch_block *b)
{
    uint64_t n[SIM_MAX_PHASES][WATCH_N_CLASSES] = { 0 };

    watch_stream_take_instructions(watcher.region.stream, n);
    for (unsigned p = 0; p < WATCH_RECORD_PHASES; p++) {
        b->work[p] = (struct watch_work){ .macs = n[p][WATCH_FMA] + n[p][WATCH_MMA] };
        for (int c = 0; c < WATCH_N_CLASSES; c++)
            b->work[p].operations += c == WATCH_BRANCH ? 0 : n[p][c];
    }
}

static void end_block(void)
{
    begin_block();
    put_work(watcher.block);
    watch_ring_hand_over(watcher.block, 1);
    watcher.block = NULL;
}

static void add_record(uint64_t record)
{
    begin_block();
    watcher.block->record[watcher.block->n++] = record;
    if (watcher.block->n == WATCH_RING_RECORDS)
        end_block();
}

static void record_access(void *ctx, const struct sim_access *a)
{
    (void)ctx;
    if (a->phase != watcher.ring_phase)
        add_record(WATCH_RECORD_PHASE | a->phase);
    watcher.ring_phase = a->phase;
    for (uint32_t at = 0; at < a->bytes; at += WATCH_RECORD_MAX_BYTES) {
        const uint32_t left = a->bytes - at;

        add_record(watch_record(a->addr + at, left < WATCH_RECORD_MAX_BYTES ? left : WATCH_RECORD_MAX_BYTES,
                                a->kind == SIM_STORE));
    }
}

/* Hands over the last records, and marks the end. */
static void close_ring(void)
{
    if (watcher.block)
        end_block();
    end_block();
}

static int open_ring(const char *path)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *watcher.ring, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (at == MAP_FAILED)
        return complain(strerror(errno), path);
    close(fd);
    watcher.ring = at;
    sim_expander_init(&watcher.expander, record_access, NULL);
    if (watch_stream_new(&watcher.region.stream, NULL, NULL, 0, &watcher.expander.sink))
        return complain("out of memory", "");
    return 0;
}

/* ---- the end of a region ---- */

/* After an error nothing has a meaning: the program is ended. */
static void on_mark(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t magic, uint64_t mark, uint64_t a,
                    uint64_t b, uint64_t c, uint64_t a6, uint64_t a7, uint64_t a8)
{
    char why[4400];
    int err = 0;

    (void)id, (void)vcpu, (void)a6, (void)a7, (void)a8;
    if (number != WATCH_MARK_NUMBER || magic != WATCH_MARK_MAGIC)
        return;
    watch_stream_mark(watcher.region.stream, mark, a, b, c);
    if (watch_stream_error(watcher.region.stream))
        err = complain(watch_stream_error(watcher.region.stream), "");
    else if (mark == WATCH_MARK_END && watcher.ring)
        close_ring();
    else if (mark == WATCH_MARK_END && (err = watch_region_close(&watcher.region, true, SIM_WHY(why))))
        complain(why, "");
    if (err || mark == WATCH_MARK_END)
        remove(watcher.watched);
    if (err)
        _exit(EXIT_FAILURE);
}

/* ---- the end of a whole program ---- */

static bool is_exec(int64_t number)
{
    return number == watcher.exec[0] || number == watcher.exec[1];
}

static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)vcpu, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    if (is_exec(number))
        note(CACHESIM_EXECS);
}

/* Runs when a system call returns: exec returns only after a failure. */
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
            memcpy(watcher.exec, known[i].exec, sizeof watcher.exec);
    }
}

/*
 * Writes the emulator's own map, with the program's addresses. (Only the program's own mappings have right addresses.)
 */
static void write_maps(void)
{
    FILE *in = fopen("/proc/self/maps", "r"), *out = fdopen(watcher.maps_fd, "w");
    unsigned long long begin, end;
    char line[1 << 13];
    int rest = 0;

    while (in && out && fgets(line, sizeof line, in)) {
        if (sscanf(line, "%llx-%llx%n", &begin, &end, &rest) == 2)
            fprintf(out, "%llx-%llx%s", begin - watcher.host_base, end - watcher.host_base, line + rest);
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
    if (watcher.outlet.is_closed)
        return;
    pthread_mutex_lock(&watcher.lock);
    watch_stream_settle(watcher.region.stream);
    if (watcher.maps_fd >= 0)
        write_maps();
    err = sim_trace_close(&watcher.region.trace);
    if (watcher.outlet.err)
        err = watcher.outlet.err;
    fall_silent(); /* threads may still run */
    pthread_mutex_unlock(&watcher.lock);
    if (err == -EBADF)
        complain("the program closed all of its descriptors, the tracer's too", "");
    else if (err && err != -EPIPE)
        complain("cannot write the trace", strerror(-err));
}

/* ---- arguments ---- */

struct arguments {
    const char *out, *machine, *trace, *masked, *ring, *fd, *fetches, *accessors, *maps, *notes;
    struct watch_rule rule[WATCH_MAX_RULES];
    size_t n_rules;
};

/* Reads a number below the limit. */
static bool read_number(const char *text, unsigned limit, unsigned *n)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *n = (unsigned)value;
    return *text >= '0' && *text <= '9' && !*end && value < limit;
}

/* PATTERN:PHASE:TAG; PHASE and TAG are digits, TAG '-' for none. */
static bool read_rule(struct arguments *a, const char *text)
{
    struct watch_rule *rule = &a->rule[a->n_rules];
    const char *tail = strchr(text, ':');
    size_t length = tail ? (size_t)(tail - text) : 0;

    if (!length || length >= sizeof rule->pattern || strlen(tail) != 4 || tail[2] != ':' ||
        a->n_rules == WATCH_MAX_RULES)
        return false;
    if (tail[1] < '0' || tail[1] >= '0' + SIM_MAX_PHASES ||
        (tail[3] != '-' && (tail[3] < '0' || tail[3] >= '0' + SIM_USUAL_TAGS)))
        return false;
    memcpy(rule->pattern, text, length);
    rule->pattern[length] = '\0';
    rule->phase = (uint8_t)(tail[1] - '0');
    rule->learns = tail[3] == '-' ? -1 : tail[3] - '0';
    a->n_rules++;
    return true;
}

/* Reads an argument: a text, or for a limit other than 0 a number below the limit. */
static bool read_argument(struct arguments *a, const char *argument)
{
    const struct {
        const char *key;
        const char **value;
        unsigned limit;
    } known[] = {
        { "out=", &a->out, 0 },
        { "machine=", &a->machine, 0 },
        { "trace=", &a->trace, 0 },
        { "ring=", &a->ring, 0 },
        { "masked=", &a->masked, SIM_MAX_PHASES },
        { "fd=", &a->fd, MOST_FDS },
        { "fetches=", &a->fetches, SIM_USUAL_TAGS },
        { "accessors=", &a->accessors, SIM_USUAL_TAGS },
        { "maps=", &a->maps, MOST_FDS },
        { "notes=", &a->notes, MOST_FDS },
    };
    unsigned n;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char *value = argument + strlen(known[i].key);

        if (strncmp(argument, known[i].key, strlen(known[i].key)) != 0)
            continue;
        *known[i].value = value;
        return known[i].limit ? read_number(value, known[i].limit, &n) : *value;
    }
    return !strncmp(argument, "rule=", 5) && read_rule(a, argument + 5);
}

static int read_arguments(struct arguments *a, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (!read_argument(a, argv[i]))
            return complain(
                "out=, machine=, trace=, ring=FILE, masked=PHASE, rule=PATTERN:PHASE:TAG, fd=NUMBER, fetches=TAG, "
                "accessors=TAG, maps=NUMBER or notes=NUMBER is wanted, not",
                argv[i]);
    }
    watcher.is_whole = a->fd;
    if (!a->fd && !a->out && !a->ring)
        return complain("out=FILE, ring=FILE or fd=NUMBER is missing", "");
    return a->fd || a->ring || a->machine ? 0 : complain("machine=FILE is missing", "");
}

/* ---- installation ---- */

/* Writes the file by which the process knows of the watcher. */
static int tell_program(const char *out)
{
    FILE *file;

    if (snprintf(watcher.watched, sizeof watcher.watched, "%s.watched", out) >= (int)sizeof watcher.watched)
        return complain("the name is too long", out);
    file = fopen(watcher.watched, "w");
    if (file) {
        fprintf(file, "%ld\n", (long)getpid());
        if (!fclose(file))
            return 0;
    }
    return complain(strerror(errno), watcher.watched);
}

static int open_files(const struct arguments *a)
{
    const struct watch_files files = { a->out, a->machine, a->trace ? a->trace : "" };
    char why[512];

    if (watch_region_open(&watcher.region, &files, a->rule, a->n_rules, SIM_WHY(why)))
        return complain(why, "");
    return tell_program(a->out);
}

/* QEMU keeps the arguments during the run. */
static int set_up_region(qemu_plugin_id_t id, const struct arguments *a, const char *target)
{
    watcher.decode = watch_decoder_find(target);
    if (!watcher.decode)
        return complain("only user-mode emulation of x86_64 and ppc64le is known here, not", target);
    if (a->ring ? open_ring(a->ring) : open_files(a))
        return -EINVAL;
    watcher.executed = watch_stream_executed(watcher.region.stream);
    if (a->masked)
        watch_stream_mark_masked(watcher.region.stream, (unsigned)(a->masked[0] - '0'));
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block_of_region);
    qemu_plugin_register_vcpu_syscall_cb(id, on_mark);
    return 0;
}

/* Maps the notes, and closes their descriptor. */
static void open_notes(int fd)
{
    void *at = mmap(NULL, CACHESIM_NOTES_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    watcher.note = at == MAP_FAILED ? NULL : at;
    close(fd);
    note(CACHESIM_NOT_STARTED);
}

/* All memory is one buffer, and the whole program is the region. */
static int set_up_whole(qemu_plugin_id_t id, const struct arguments *a, const char *target)
{
    const char *tag = a->fetches ? a->fetches : a->accessors;
    int err = open_trace(atoi(a->fd));

    if (err)
        return complain("cannot write the trace", strerror(-err));
    watcher.has_fetches = a->fetches;
    watcher.has_accessors = a->accessors;
    watcher.fetch_tag = tag ? (uint8_t)atoi(tag) : 0;
    watcher.maps_fd = a->maps ? watch_descriptor_move_up(atoi(a->maps)) : -1;
    if (a->notes)
        open_notes(atoi(a->notes));
    sim_trace_init_as(&watcher.region.trace, watcher.region.trace_file, SIM_TRACE_BINARY);
    if (watch_stream_new(&watcher.region.stream, NULL, NULL, 0, sim_trace_sink(&watcher.region.trace)))
        return complain("out of memory", "");
    watcher.executed = watch_stream_executed(watcher.region.stream);
    watcher.site = watch_stream_site(watcher.region.stream, NULL);
    watch_stream_mark(watcher.region.stream, WATCH_MARK_BUFFER, 0, 0, UINT64_MAX);
    watch_stream_mark(watcher.region.stream, WATCH_MARK_BEGIN, 0, 0, 0);
    find_exec(target);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block_of_whole);
    if (watcher.note) {
        qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
        qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
    }
    qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
    return 0;
}

/* Returns 0; after any other value QEMU says that the plugin could not be loaded, and ends. */
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                                               char **argv)
{
    struct arguments a = { 0 };
    int err = read_arguments(&a, argc, argv);

    if (!err && info->system_emulation)
        err = complain("only programs are watched here, no whole machines", "");
    if (!err)
        err = (a.fd ? set_up_whole : set_up_region)(id, &a, info->target_name);
    return err ? -1 : 0;
}
