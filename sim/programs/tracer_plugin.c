/*
 * The tracer of `cachesim run` as a plugin of QEMU's user-mode emulators:
 *
 *     qemu-x86_64 -cpu max -plugin tracer.so,out=FILE[,fetches=TAG] PROGRAM
 *
 * Writes every load and store of the program, in their order, as a binary trace (trace_binary.h); with fetches, each
 * instruction before them, as a load with that tag. QEMU tells of accesses in pieces of at most 8 bytes: pieces of one
 * execution of an instruction are put together again. Accesses of several threads come in the order in which they take
 * a lock. Prefetch instructions access nothing here: QEMU gives none away.
 *
 * Being loaded by somebody else's program, this prints its errors itself. QEMU hands no context to the callback that
 * translates: `tracer` below is the one object that it can mean.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/trace/qemu_plugin_api.h"
#include "sim/trace/trace.h"

extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* An instruction that is executed, when instructions are asked for. */
struct fetch {
    uint64_t address;
    uint32_t bytes;
};

struct tracer {
    pthread_mutex_t lock;
    FILE *file;
    struct sim_trace trace;
    struct sim_run run[SIM_MAX_BURST_RUNS]; /* not written yet; pieces may be added to the last one */
    size_t n_runs;
    uint64_t executed, last_executed; /* instructions that may access memory; when the last run was begun */
    bool has_fetches;
    uint8_t fetch_tag;
};

static struct tracer tracer = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void complain(const char *what, const char *value)
{
    fprintf(stderr, "tracer: %s%s%s\n", what, *value ? ": " : "", value);
}

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

/* Adds a piece to the access that it belongs to. Returns whether there is one. */
static bool joins(uint64_t address, uint32_t bytes, uint8_t kind)
{
    struct sim_run *last = tracer.n_runs ? &tracer.run[tracer.n_runs - 1] : NULL;

    if (!last || tracer.executed != tracer.last_executed || last->kind != kind ||
        last->addr + last->access_bytes != address || last->access_bytes + bytes > SIM_TRACE_MAX_BYTES)
        return false;
    last->access_bytes += bytes;
    return true;
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
    const uint32_t bytes = 1u << qemu_plugin_mem_size_shift(info);
    const uint8_t kind = qemu_plugin_mem_is_store(info) ? SIM_STORE : SIM_LOAD;

    (void)vcpu, (void)userdata;
    pthread_mutex_lock(&tracer.lock);
    if (!joins(address, bytes, kind))
        add(&(struct sim_run){ .addr = address, .count = 1, .access_bytes = bytes, .kind = kind });
    tracer.last_executed = tracer.executed;
    pthread_mutex_unlock(&tracer.lock);
}

static void on_fetch(unsigned vcpu, void *userdata)
{
    const struct fetch *f = userdata;

    (void)vcpu;
    pthread_mutex_lock(&tracer.lock);
    add(&(struct sim_run){
        .addr = f->address, .count = 1, .access_bytes = f->bytes, .kind = SIM_LOAD, .tag = tracer.fetch_tag });
    pthread_mutex_unlock(&tracer.lock);
}

/* QEMU keeps a translated block as long as it likes, and what the callback gets as well: it is never freed. */
static void watch_fetches(struct qemu_plugin_insn *insn)
{
    struct fetch *f = malloc(sizeof *f);

    if (!f) {
        complain("out of memory", "");
        _Exit(EXIT_FAILURE);
    }
    *f = (struct fetch){ qemu_plugin_insn_vaddr(insn), (uint32_t)qemu_plugin_insn_size(insn) };
    qemu_plugin_register_vcpu_insn_exec_cb(insn, on_fetch, QEMU_PLUGIN_CB_NO_REGS, f);
}

static void on_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

        if (tracer.has_fetches)
            watch_fetches(insn);
        qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &tracer.executed, 1);
        qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
    }
}

/* Ends the trace. A reader that went away is none of the program's business. */
static void on_exit_of_program(qemu_plugin_id_t id, void *userdata)
{
    int err;

    (void)id, (void)userdata;
    pthread_mutex_lock(&tracer.lock);
    write_runs();
    err = sim_trace_close(&tracer.trace);
    if (fclose(tracer.file) && !err)
        err = -errno;
    pthread_mutex_unlock(&tracer.lock);
    if (err && err != -EPIPE)
        complain("cannot write the trace", strerror(-err));
}

static bool read_arguments(const char **out, int argc, char **argv)
{
    *out = NULL;
    for (int i = 0; i < argc; i++) {
        const char *tag = argv[i] + strlen("fetches=");

        if (!strncmp(argv[i], "out=", 4)) {
            *out = argv[i] + 4;
        } else if (!strncmp(argv[i], "fetches=", strlen("fetches=")) && *tag >= '0' && *tag < '0' + SIM_USUAL_TAGS &&
                   !tag[1]) {
            tracer.has_fetches = true;
            tracer.fetch_tag = (uint8_t)(*tag - '0');
        } else {
            complain("out=FILE or fetches=TAG is wanted, not", argv[i]);
            return false;
        }
    }
    if (!*out)
        complain("out=FILE is missing", "");
    return *out;
}

/* Returns 0, or else QEMU says that the plugin could not be loaded, and ends. */
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                                               char **argv)
{
    const char *out;

    if (info->system_emulation) {
        complain("only programs are traced here, no whole machines", "");
        return -1;
    }
    if (!read_arguments(&out, argc, argv))
        return -1;
    tracer.file = fopen(out, "wb");
    if (!tracer.file) {
        complain(strerror(errno), out);
        return -1;
    }
    sim_trace_init_as(&tracer.trace, tracer.file, SIM_TRACE_BINARY);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
    qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
    return 0;
}
