/*
 * The observer as a plugin of QEMU's user-mode emulators:
 *
 *     qemu-x86_64 -cpu max -plugin observer.so,out=FILE,machine=FILE.cfg[,KEY=VALUE]... PROGRAM
 *
 *   out      the result (obs_result.h), written when the program closes its region
 *   machine  the simulated machine's file (sim/machine/machine.h)
 *   rule     functions that do one part of a library's work (obs_stream.h); TAG '-' where they own no memory
 *   outside  "simulated": accesses outside all buffers go through the simulated caches too; else they are only counted
 *   masked   a phase: that of masked loads, whatever the markers say, since nobody knows what of their width they load
 *   trace    every access to a buffer, in the binary trace format (sim/trace/trace_binary.h)
 *
 * While the emulator runs, FILE.watched holds its process number: how a program finds out that it is watched.
 *
 * The instructions' classes are counted per block, in generated code; accesses come one by one, through a callback.
 * Prefetch instructions access nothing here: QEMU gives none away.
 *
 * Being loaded by somebody else's program, this prints its errors itself and ends that program, as a main function
 * would. QEMU hands no context to two of its callbacks: `observer` below is the one object that they can mean.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/observe/obs_insn.h"
#include "counters/observe/obs_marker.h"
#include "counters/observe/obs_stream.h"
#include "sim/trace/qemu_plugin_api.h"
#include "sim/machine/machine.h"
#include "sim/trace/trace.h"

extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_VERSION;

struct observer {
    struct obs_stream *stream;
    obs_decode_fn decode;
    const char *out;
    char watched[4096]; /* the file that tells the program */
    FILE *trace_file;
    struct sim_trace trace;
};

static struct observer observer;

static void complain(const char *what, const char *value)
{
    fprintf(stderr, "observer: %s%s%s\n", what, *value ? ": " : "", value);
}

/* ---- translation ---- */

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *site)
{
    (void)vcpu;
    obs_stream_access(site, address, 1u << qemu_plugin_mem_size_shift(info), qemu_plugin_mem_is_store(info));
}

static void watch_accesses(struct qemu_plugin_insn *insn, const char *function, bool is_masked)
{
    struct obs_site *site = obs_stream_site(observer.stream, function);

    if (!site)
        return;
    site->is_masked = is_masked;
    qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, obs_stream_executed(observer.stream),
                                               1);
    qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, site);
}

/*
 * TCG's code leaves the upper halves of the host's vector registers in use, and QEMU's floating-point helpers are SSE
 * instructions: each waits some 80 cycles for them then (Intel). Clearing them before an instruction that is helped
 * makes the whole emulation ten times as fast, and changes nothing: TCG keeps no value there.
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

static void on_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb), n_of[OBS_N_CLASSES] = { 0 };
    uint64_t *instructions = NULL;

    (void)id;
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        const char *function = qemu_plugin_insn_symbol(insn);
        struct obs_insn what = observer.decode(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn));

        n_of[what.class]++;
        if (what.class == OBS_FMA || what.class == OBS_MMA)
            ease_arithmetic(insn);
        if (what.may_touch)
            watch_accesses(insn, function, what.is_masked);
        if (!instructions)
            instructions = obs_stream_instructions(observer.stream, function);
    }
    for (size_t c = 0; c < OBS_N_CLASSES; c++) {
        if (n_of[c])
            qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &instructions[c], n_of[c]);
    }
}

/* ---- markers ---- */

static int write_result(void)
{
    struct obs_result *r = malloc(sizeof *r);
    char why[4400] = "out of memory";
    int err = r ? obs_stream_result(observer.stream, r) : -ENOMEM;

    if (!err && observer.trace_file) {
        err = sim_trace_close(&observer.trace);
        if (fclose(observer.trace_file) && !err)
            err = -errno;
        snprintf(why, sizeof why, "cannot write the trace: %s", strerror(-err));
    }
    if (!err)
        err = obs_result_write(r, observer.out, why, sizeof why);
    if (err)
        complain(why, "");
    free(r);
    return err;
}

/* Nothing that comes after an error means anything: the program is ended. */
static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t magic, uint64_t mark, uint64_t a,
                       uint64_t b, uint64_t c, uint64_t a6, uint64_t a7, uint64_t a8)
{
    int err = 0;

    (void)id, (void)vcpu, (void)a6, (void)a7, (void)a8;
    if (number != OBS_MARK_NUMBER || magic != OBS_MARK_MAGIC)
        return;
    obs_stream_mark(observer.stream, mark, a, b, c);
    if (obs_stream_error(observer.stream)) {
        complain(obs_stream_error(observer.stream), "");
        err = -EINVAL;
    } else if (mark == OBS_MARK_END) {
        err = write_result();
        remove(observer.watched);
    }
    if (err) {
        remove(observer.watched);
        _exit(EXIT_FAILURE);
    }
}

/* ---- installation ---- */

struct arguments {
    const char *out, *machine, *trace, *outside, *masked;
    struct obs_rule rule[OBS_MAX_RULES];
    size_t n_rules;
};

/* PATTERN:PHASE:TAG, both one digit, TAG '-' for none. */
static bool read_rule(struct arguments *a, const char *text)
{
    struct obs_rule *rule = &a->rule[a->n_rules];
    const char *tail = strchr(text, ':');
    size_t length = tail ? (size_t)(tail - text) : 0;

    if (!length || length >= sizeof rule->pattern || strlen(tail) != 4 || tail[2] != ':' || a->n_rules == OBS_MAX_RULES)
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

static bool read_argument(struct arguments *a, const char *argument)
{
    const struct {
        const char *key;
        const char **value;
    } texts[] = {
        { "out=", &a->out },         { "machine=", &a->machine }, { "trace=", &a->trace },
        { "outside=", &a->outside }, { "masked=", &a->masked },
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!strncmp(argument, texts[i].key, strlen(texts[i].key))) {
            *texts[i].value = argument + strlen(texts[i].key);
            return **texts[i].value;
        }
    }
    return !strncmp(argument, "rule=", 5) && read_rule(a, argument + 5);
}

static bool read_arguments(struct arguments *a, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (!read_argument(a, argv[i])) {
            complain(
                "out=, machine=, trace=FILE, outside=simulated, masked=PHASE or rule=PATTERN:PHASE:TAG is wanted, not",
                argv[i]);
            return false;
        }
    }
    if (!a->out || !a->machine)
        complain(a->out ? "machine=FILE is missing" : "out=FILE is missing", "");
    if (a->outside && strcmp(a->outside, "simulated") != 0) {
        complain("outside=simulated is wanted, not", a->outside);
        return false;
    }
    if (a->masked && (a->masked[1] || a->masked[0] < '0' || a->masked[0] >= '0' + SIM_MAX_PHASES)) {
        complain("masked=PHASE is wanted, not", a->masked);
        return false;
    }
    return a->out && a->machine;
}

static int open_trace(const char *path)
{
    observer.trace_file = fopen(path, "wb");
    if (!observer.trace_file) {
        complain(strerror(errno), path);
        return -EINVAL;
    }
    sim_trace_init_as(&observer.trace, observer.trace_file, SIM_TRACE_BINARY);
    return 0;
}

static int tell_program(void)
{
    FILE *file;

    if (snprintf(observer.watched, sizeof observer.watched, "%s.watched", observer.out) >=
        (int)sizeof observer.watched) {
        complain("the name is too long", observer.out);
        return -EINVAL;
    }
    file = fopen(observer.watched, "w");
    if (file) {
        fprintf(file, "%ld\n", (long)getpid());
        if (!fclose(file))
            return 0;
    }
    complain(strerror(errno), observer.watched);
    return -EINVAL;
}

static int set_up(const struct arguments *a)
{
    struct sim_machine machine;
    char why[512];
    int err = sim_machine_read(&machine, a->machine, why, sizeof why);

    observer.out = a->out;
    if (err)
        complain(why, "");
    if (!err && a->trace)
        err = open_trace(a->trace);
    if (!err) {
        err = obs_stream_new(&observer.stream, &machine, a->rule, a->n_rules,
                             a->trace ? sim_trace_sink(&observer.trace) : NULL);
        if (err)
            complain("out of memory", "");
    }
    if (!err && a->outside)
        obs_stream_simulate_outside(observer.stream);
    if (!err && a->masked)
        obs_stream_mark_masked(observer.stream, (unsigned)(a->masked[0] - '0'));
    return err ? err : tell_program();
}

/* QEMU keeps argv as long as it runs. Returns 0, or else QEMU says that the plugin could not be loaded, and ends. */
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                                               char **argv)
{
    struct arguments a = { 0 };

    observer.decode = obs_decoder_find(info->target_name);
    if (!observer.decode || info->system_emulation) {
        complain("only user-mode emulation of x86_64 and ppc64le is known here, not", info->target_name);
        return -1;
    }
    if (!read_arguments(&a, argc, argv) || set_up(&a))
        return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    return 0;
}
