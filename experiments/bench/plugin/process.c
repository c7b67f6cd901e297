#define _GNU_SOURCE
#include "experiments/bench/plugin/process.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "counters/host/ctr_flush.h"
#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/plugin/inside.h"
#include "kernels/blas/blas.h"
#include "kernels/shape/sizes.h"
#include "sim/cpu.h"
#include "sim/machine/machine.h"

/*
 * Checks after a timed run: how many outputs are looked at, and how much CPU time further threads and processes may
 * use: OTHERS_NS plus 1/OTHERS_SHARE of the run's time.
 */
enum { LOOKED_AT = 64, OTHERS_NS = 200000, OTHERS_SHARE = 20 };

/* A signal handler has no argument for the process. */
static struct plugin_inside *this_process;

/* ---- loading ---- */

static void run_function(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters,
                         float *out)
{
    (void)state;
    this_process->function(s, in, filters, out);
}

/* Finds whether the symbol is a record or a function. */
static bool find(struct plugin_inside *p, void *library, const char *symbol)
{
    void *at = dlsym(library, symbol);
    const ElfW(Sym) *entry = NULL;
    Dl_info info;

    if (!at || !dladdr1(at, &info, (void **)&entry, RTLD_DL_SYMENT) || !entry)
        return false;
    if ((entry->st_info & 0xf) == STT_OBJECT) {
        p->record = *(const struct conv_plugin *)at;
        return true;
    }
    memcpy(&p->function, &at, sizeof at);
    p->record = (struct conv_plugin){ .abi = CONV_PLUGIN_ABI, .run = run_function };
    return true;
}

/* Tells whether an object needs libraries besides the C library, whose functions for memory are known. */
static bool calls_libraries(void *library)
{
    static const char *const known[] = { "libc.so", "libm.so", "ld-linux", "ld64.so" };
    const struct link_map *map;
    const char *names = NULL;
    size_t n_others = 0;

    if (dlinfo(library, RTLD_DI_LINKMAP, &map))
        return false;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        names = d->d_tag == DT_STRTAB ? (const char *)(uintptr_t)d->d_un.d_ptr : names;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL && names; d++) {
        bool is_known = d->d_tag != DT_NEEDED;

        for (size_t i = 0; i < sizeof known / sizeof known[0] && !is_known; i++)
            is_known = !strncmp(names + d->d_un.d_val, known[i], strlen(known[i]));
        n_others += !is_known;
    }
    return n_others > 0;
}

static void copy_name(char *to, size_t bytes, const char *from)
{
    snprintf(to, bytes, "%s", from ? from : "");
}

/* Asks the plug-in's libraries for the allowed number of threads, and for vectors no wider than this program's. */
static void set_environment(unsigned threads)
{
    const bool is_avx2 = sim_cpu_has(CPU_ISA_AVX2);
    char number[16];

    exp_say(number, sizeof number, "%u", threads);
    conv_blas_set_environment();
    setenv("OMP_NUM_THREADS", number, 1);
    if (!sim_cpu_is_limited() || sim_cpu_has(CPU_ISA_AVX512))
        return;
    setenv("DNNL_MAX_CPU_ISA", is_avx2 ? "AVX2" : "SSE41", 0);
    setenv("LIBXSMM_TARGET", is_avx2 ? "hsw" : "wsm", 0);
}

/*
 * Opens the object so that functions of the object's libraries come before this program's functions of equal name, such
 * as GSL's cblas_sgemm. A sanitizer's functions must come first.
 */
static void *open_object(const char *path)
{
#if defined(__SANITIZE_ADDRESS__) || !defined(RTLD_DEEPBIND)
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
#else
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
#endif
}

/* Finds the record's layout, if there is one. */
static void find_layout(struct plugin_inside *p, void *library)
{
    char name[PLUGIN_TEXT_BYTES];
    const struct conv_plugin_layout *layout;

    exp_say(name, sizeof name, "%s_layout", *p->symbol ? p->symbol : "conv_plugin");
    layout = dlsym(library, name);
    if (layout && layout->convert_in && layout->convert_out)
        p->layout = *layout;
}

static void load(struct plugin_inside *p)
{
    void *library;
    char text[PLUGIN_TEXT_BYTES];

    set_environment(p->control->threads);
    library = open_object(p->object);
    if (!library) {
        exp_say(text, sizeof text, "cannot be loaded: %s", dlerror());
    } else if (!find(p, library, *p->symbol ? p->symbol : "conv_plugin") && (*p->symbol || !find(p, library, "conv"))) {
        exp_say(text, sizeof text, "has no %s", *p->symbol ? p->symbol : "conv_plugin, and no function conv");
    } else if (p->record.abi != CONV_PLUGIN_ABI) {
        exp_say(text, sizeof text, "was made for version %u of conv_plugin.h, this is %d", p->record.abi,
                CONV_PLUGIN_ABI);
    } else if (!p->record.run) {
        exp_say(text, sizeof text, "its record has no run");
    } else {
        find_layout(p, library);
        p->control->is_function = p->function != NULL;
        p->control->calls_libraries = calls_libraries(library);
        copy_name(p->control->name, sizeof p->control->name, p->record.name);
        copy_name(p->control->title, sizeof p->control->title, p->record.title);
        return;
    }
    plugin_say(p, text);
}

/* ---- one layer ---- */

static void say_whether_it_can(struct plugin_inside *p)
{
    p->layer = &p->checked;
    plugin_does_shape(p);
}

static void check(struct plugin_inside *p)
{
    p->layer = &p->checked;
    if (plugin_does_shape(p))
        plugin_check(p);
}

/* ---- timed runs ---- */

static float *tensor(const struct plugin_inside *p, enum conv_tensor t)
{
    return conv_out_ptr(p->layer->tensors.bind.addr[t]);
}

static size_t n_elements(const struct plugin_inside *p, enum conv_tensor t)
{
    const struct conv_problem *x = &p->layer->problem;

    return t == CONV_INPUT    ? x->n * x->c * x->h * x->w
           : t == CONV_FILTER ? x->k * conv_reduction(x)
                              : x->n * x->k * conv_windows(x);
}

/* Keeps the plug-in's first fault in a timed run. */
static void keep_wrong(struct plugin_inside *p, const char *text)
{
    if (!p->layer->wrong)
        p->layer->wrong = exp_copy_text(text);
}

/* Tells whether a tensor is unchanged after a run. */
static bool has_kept(const struct plugin_inside *p, enum conv_tensor t, const float *was)
{
    return !memcmp(tensor(p, t), was, n_elements(p, t) * sizeof *was);
}

static void make_input(const struct plugin_inside *p, float *in)
{
    exp_input_renew(in, n_elements(p, CONV_INPUT), p->layer->seed);
    if (p->layer->is_changed)
        exp_input_change(in, n_elements(p, CONV_INPUT), p->layer->seed);
}

/*
 * Checks the output of the last run. Before convert_out the input tensor gets new values, because a plug-in must not
 * convolve in convert_out.
 */
static bool is_proven(struct plugin_inside *p, char *text, size_t bytes)
{
    struct plugin_layer *l = p->layer;
    const struct plugin_images images = { l->in, l->filters, tensor(p, CONV_OUTPUT) };

    if (!has_kept(p, CONV_INPUT, l->in) || !has_kept(p, CONV_FILTER, l->filters)) {
        exp_say(text, bytes, "the plug-in wrote to its %s in a timed run",
                has_kept(p, CONV_FILTER, l->filters) ? "input" : "filters");
        return false;
    }
    if (p->layout.convert_out) {
        exp_input_renew(tensor(p, CONV_INPUT), n_elements(p, CONV_INPUT), ++p->n_seeds);
        plugin_convert_out(p, tensor(p, CONV_OUTPUT));
    }
    exp_say(text, bytes, "the plug-in computes a wrong result in a timed run: ");
    return plugin_prove(&l->problem, &images, l->seed % 2 == 0, l->seed, text + strlen(text), bytes - strlen(text));
}

/* Checks the last run once: its output, and the leftovers of the plug-in. */
static void prove_last(struct plugin_inside *p)
{
    char text[PLUGIN_TEXT_BYTES];

    if (!p->layer->is_unproven)
        return;
    p->layer->is_unproven = false;
    make_input(p, p->layer->in);
    if (plugin_find_remains(p, text, sizeof text) || !is_proven(p, text, sizeof text))
        keep_wrong(p, text);
}

static void release_layer(struct plugin_layer *l)
{
    exp_tensors_release(&l->tensors);
    free(l->in);
    free(l->filters);
    free(l->wrong);
    l->in = l->filters = NULL;
    l->wrong = NULL;
    l->is_open = false;
}

static void close_layer(struct plugin_inside *p)
{
    if (!p->layer->is_open)
        return;
    prove_last(p);
    plugin_give_back(p);
    if (p->layer->wrong)
        plugin_say_wrong(p, p->layer->wrong);
    for (size_t i = 0; i < 2; i++)
        p->control->convert_ns[i] += p->layer->convert_ns[i];
    release_layer(p->layer);
}

static void close_layers(struct plugin_inside *p)
{
    p->control->convert_ns[0] = p->control->convert_ns[1] = 0;
    for (size_t i = 0; i < p->n_open; i++) {
        p->layer = &p->open[i];
        close_layer(p);
    }
}

/* Chooses an open layer. Reports an error if the layer is not open: the process that had opened the layer has ended. */
static bool choose(struct plugin_inside *p)
{
    if (p->control->layer >= p->n_open || !p->open[p->control->layer].is_open) {
        plugin_say(p, "the layer is not open");
        return false;
    }
    p->layer = &p->open[p->control->layer];
    return true;
}

static void pin(const struct plugin_inside *p)
{
    if (p->control->is_pinned)
        sched_setaffinity(0, sizeof p->control->cores, &p->control->cores);
}

static void open_layer(struct plugin_inside *p)
{
    while (p->n_open <= p->control->layer)
        exp_append(&p->open, &p->n_open, sizeof *p->open);
    p->layer = &p->open[p->control->layer];
    close_layer(p);
    *p->layer = (struct plugin_layer){ 0 };
    pin(p);
    if (!plugin_does_shape(p))
        return;
    if (exp_tensors_init(&p->layer->tensors, &p->control->plan)) {
        plugin_say(p, "there is no memory for its tensors");
        return;
    }
    p->layer->in = exp_new(n_elements(p, CONV_INPUT), sizeof(float));
    p->layer->filters = exp_copy_bytes(tensor(p, CONV_FILTER), n_elements(p, CONV_FILTER), sizeof(float));
    p->layer->is_open = plugin_get_ready(p, tensor(p, CONV_FILTER));
    if (!p->layer->is_open)
        release_layer(p->layer);
}

/* Returns the CPU time of further threads of this process, and of child processes waited for. */
static int64_t others_ns(void)
{
    const uint64_t own = ctr_thread_ns();
    struct timespec process;
    struct rusage r;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &process);
    getrusage(RUSAGE_CHILDREN, &r);
    return (int64_t)(process.tv_sec + r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000 + process.tv_nsec +
           (int64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000 - (int64_t)own;
}

/* Tells whether some outputs are written right after a run. A plug-in that returns earlier breaks the rules. */
static bool has_written_some(const struct plugin_inside *p)
{
    const size_t n = n_elements(p, CONV_OUTPUT);
    uint64_t random = p->layer->seed;
    bool has_written = true;

    for (int i = 0; i < LOOKED_AT && has_written; i++)
        has_written = !isnan(tensor(p, CONV_OUTPUT)[exp_random_next(&random) % n]);
    return has_written;
}

/* Runs the layer once, without checks. */
static void run_once(struct plugin_inside *p)
{
    p->control->took_ns = plugin_run_alone(p, tensor(p, CONV_INPUT), tensor(p, CONV_FILTER), tensor(p, CONV_OUTPUT));
}

/* Runs the layer once for a time or a count. The output is checked later. */
static void run_timed(struct plugin_inside *p)
{
    int64_t before_ns, ns;

    if (!choose(p))
        return;
    before_ns = others_ns();
    run_once(p);
    ns = others_ns() - before_ns;
    p->layer->is_unproven = true;
    if (p->control->threads == 1 && ns > OTHERS_NS + (int64_t)p->control->took_ns / OTHERS_SHARE)
        keep_wrong(p, "the plug-in has other threads or processes do its work, which its clock does not see: "
                      "PLUGIN_THREADS=1");
    else if (!p->layout.convert_out && !has_written_some(p))
        keep_wrong(p, "the plug-in comes back from a timed run before its output is there");
}

/* Runs the layer once, under a clock that the plug-in's marks read. */
static void run_steps(struct plugin_inside *p)
{
    uint64_t start;

    if (!choose(p))
        return;
    p->control->phases = (struct exp_phases){ 0 };
    p->control->has_marks = false;
    p->phase = CONV_PLUGIN_COMPUTES;
    p->since_ns = start = plugin_own_now(p);
    p->is_stepping = true;
    run_once(p);
    p->layer->is_unproven = true;
    p->is_stepping = false;
    plugin_change_phase(p, CONV_PLUGIN_COMPUTES);
    p->control->phases.total_ns = p->since_ns - start;
}

/* Flushes the present pages of a mapping. */
static void flush_mapping(unsigned char *start, size_t bytes)
{
    enum { CHUNK = 1024 };
    unsigned char there[CHUNK];

    for (size_t at = 0; at < bytes; at += (size_t)CHUNK * CONV_PAGE_BYTES) {
        const size_t n = min_size(bytes - at, (size_t)CHUNK * CONV_PAGE_BYTES);

        if (mincore(start + at, n, there))
            continue;
        for (size_t i = 0; i < n / CONV_PAGE_BYTES; i++) {
            if (there[i] & 1)
                ctr_flush(start + at + i * CONV_PAGE_BYTES, CONV_PAGE_BYTES);
        }
    }
}

/* A larger mapping is no memory, but a sanitizer's shadow memory. */
#define SHADOW_BYTES ((unsigned long)1 << 40)

/* Flushes all memory of this process: the tensors, and the plug-in's allocations. */
static void flush_own(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long start, end, inode;
    char line[512], may[8];

    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s %*x %*s %lu", &start, &end, may, &inode) == 4 && !inode && !strcmp(may, "rw-p") &&
            !strstr(line, "[stack") && end - start < SHADOW_BYTES)
            flush_mapping((unsigned char *)start, end - start);
    }
    if (maps)
        fclose(maps);
}

/* Writes twice the size of the last level. */
static void sweep(struct plugin_inside *p)
{
    struct sim_machine host;
    char why[200];

    if (!p->sweep) {
        p->sweep_bytes = (size_t)64 << 20;
        if (!sim_machine_host(&host, why, sizeof why))
            p->sweep_bytes = 2 * (size_t)sim_level_bytes(&host.level[host.n_levels - 1]);
        p->sweep = exp_new(p->sweep_bytes, 1);
    }
    memset(p->sweep, ++p->sweep[0], p->sweep_bytes);
}

static void touch_input(const struct plugin_inside *p)
{
    volatile float *in = tensor(p, CONV_INPUT);

    for (size_t i = 0; i < n_elements(p, CONV_INPUT); i++)
        in[i] = in[i];
}

/* Gives the next run an input that no earlier run had, and sets the output to NaN. */
static void renew(struct plugin_inside *p)
{
    p->layer->seed = ++p->n_seeds;
    p->layer->is_changed = false;
    make_input(p, tensor(p, CONV_INPUT));
    exp_output_spoil(tensor(p, CONV_OUTPUT), n_elements(p, CONV_OUTPUT));
    plugin_convert_in(p, tensor(p, CONV_INPUT));
}

/* Changes only some lines of input and output, because the caches are warm. */
static void change_some(struct plugin_inside *p)
{
    p->layer->is_changed = true;
    exp_input_change(tensor(p, CONV_INPUT), n_elements(p, CONV_INPUT), p->layer->seed);
    exp_output_spoil_some(tensor(p, CONV_OUTPUT), n_elements(p, CONV_OUTPUT), p->layer->seed);
    plugin_convert_in(p, tensor(p, CONV_INPUT));
}

/* Brings the caches into the state of exp_cache_state, and gives the run a new input. */
static void prepare_caches(struct plugin_inside *p)
{
    if (!choose(p))
        return;
    prove_last(p);
    renew(p);
    if (p->control->cache == EXP_WARM) {
        run_once(p);
        change_some(p);
        return;
    }
    if (ctr_flush_name())
        flush_own();
    else
        sweep(p);
    if (p->control->cache == EXP_NETWORK)
        touch_input(p);
}

static int prepare_again(void *process)
{
    prepare_caches(process);
    return 0;
}

static int run_again(void *process)
{
    run_timed(process);
    return 0;
}

static void do_something(struct plugin_inside *p)
{
    const struct exp_runs runs = { prepare_again, run_again, p };

    if (!choose(p))
        return;
    p->control->fn(p->control->data, &runs);
    prove_last(p);
}

/* ---- layers of a network, with tensors in memory lent by the program ---- */

static bool map_network(struct plugin_inside *p)
{
    void *at;

    if (p->network)
        return true;
    at = mmap(NULL, p->control->lent_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
    p->network = at == MAP_FAILED ? NULL : at;
    return p->network;
}

static void open_lent(struct plugin_inside *p)
{
    while (p->n_lent <= p->control->layer)
        exp_append(&p->lent, &p->n_lent, sizeof *p->lent);
    p->layer = &p->lent[p->control->layer];
    pin(p);
    if (!plugin_does_shape(p))
        return;
    if (!map_network(p)) {
        plugin_say(p, "there is no memory for its tensors");
        return;
    }
    for (int t = 0; t < 3; t++)
        p->layer->tensors.bind.addr[plugin_tensors[t]] = (uintptr_t)p->network + p->control->lent_at[t];
    p->layer->is_open = plugin_get_ready(p, tensor(p, CONV_FILTER));
}

/* Runs a layer of a network. The time includes image conversions, because the neighbouring layers use plain layouts. */
static void run_lent(struct plugin_inside *p)
{
    uint64_t start;

    if (p->control->layer >= p->n_lent || !p->lent[p->control->layer].is_open) {
        plugin_say(p, "the plug-in's process is a new one, which knows no layer");
        return;
    }
    p->layer = &p->lent[p->control->layer];
    start = p->control->now_ns();
    plugin_run(p, tensor(p, CONV_INPUT), tensor(p, CONV_FILTER), tensor(p, CONV_OUTPUT));
    p->control->took_ns = p->control->now_ns() - start;
}

static void close_lent(struct plugin_inside *p)
{
    for (size_t i = 0; i < p->n_lent; i++) {
        p->layer = &p->lent[i];
        if (p->layer->is_open)
            plugin_give_back(p);
        p->layer->is_open = false;
    }
    if (p->network)
        munmap(p->network, p->control->lent_bytes);
    p->network = NULL;
}

/* ---- the end of the process ---- */

/* Names the access of a fault. Only x86-64 tells writes from reads. */
static const char *kind_of_access(const void *context)
{
#ifdef __x86_64__
    enum { IS_WRITE = 2 };
    const ucontext_t *c = context;

    return c->uc_mcontext.gregs[REG_ERR] & IS_WRITE ? "write to" : "read from";
#else
    (void)context;
    return "access to";
#endif
}

static void crash(int signal, siginfo_t *info, void *context)
{
    plugin_say_where(this_process, (uintptr_t)info->si_addr, kind_of_access(context));
    plugin_leave(128 + signal);
}

static void catch_crashes(void)
{
    static const int signals[] = { SIGSEGV, SIGBUS };
    const stack_t stack = { .ss_sp = exp_new(1, (size_t)64 << 10), .ss_size = (size_t)64 << 10 };
    struct sigaction caught = { .sa_sigaction = crash, .sa_flags = SA_SIGINFO | SA_ONSTACK };

    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &caught, NULL);
}

/*
 * Separates the process from its keeper: the process gets a group, adopts its orphans, and prints into the program's
 * pipe.
 */
static void part(int printing)
{
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    dup2(printing, STDOUT_FILENO);
    dup2(printing, STDERR_FILENO);
    close(printing);
}

static void leave(struct plugin_inside *p)
{
    (void)p;
    plugin_leave(0);
}

static void serve(struct plugin_inside *p)
{
    static void (*const tasks[])(struct plugin_inside *) = {
        [PLUGIN_LOAD] = load,           [PLUGIN_CAN] = say_whether_it_can, [PLUGIN_CHECK] = check,
        [PLUGIN_OPEN] = open_layer,     [PLUGIN_PREPARE] = prepare_caches, [PLUGIN_RUN] = run_timed,
        [PLUGIN_STEPS] = run_steps,     [PLUGIN_DO] = do_something,        [PLUGIN_CLOSE] = close_layers,
        [PLUGIN_OPEN_LENT] = open_lent, [PLUGIN_RUN_LENT] = run_lent,      [PLUGIN_CLOSE_LENT] = close_lent,
        [PLUGIN_LEAVE] = leave,
    };

    for (;;) {
        while (atomic_load(&p->control->turn) == PLUGIN_IDLE)
            plugin_wait_while(&p->control->turn, PLUGIN_IDLE, 1000);
        tasks[p->control->task](p);
        plugin_hand_over(p->control, PLUGIN_IDLE);
    }
}

void plugin_process_serve(struct plugin_control *control, const char *object, const char *symbol, int fd, int printing)
{
    struct plugin_inside p = { .control = control, .fd = fd, .object = object, .symbol = symbol, .pid = getpid() };

    this_process = &p;
    part(printing);
    catch_crashes();
    plugin_look(&p.had);
    serve(&p);
    plugin_leave(0);
}
