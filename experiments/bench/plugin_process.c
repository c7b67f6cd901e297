#define _GNU_SOURCE
#include "experiments/bench/plugin_process.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "counters/host/ctr_flush.h"
#include "counters/host/ctr_timer.h"
#include "kernels/plugin/conv_plugin.h"
#include "kernels/shape/sizes.h"
#include "sim/machine/machine.h"

enum { PLUGIN_IDLE, PLUGIN_BUSY };
enum { READABLE_BYTES = 64, STRAY = 0xc5, WAIT_MS = 20 };

static const enum conv_tensor tensors[3] = { CONV_INPUT, CONV_FILTER, CONV_OUTPUT };

/* ---- both sides ---- */

static void wait_while(_Atomic uint32_t *turn, uint32_t value, long ms)
{
    const struct timespec most = { ms / 1000, ms % 1000 * 1000000 };

    syscall(SYS_futex, turn, FUTEX_WAIT, value, &most, NULL, 0);
}

static void hand_over(struct plugin_control *control, uint32_t turn)
{
    atomic_store(&control->turn, turn);
    syscall(SYS_futex, &control->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

size_t plugin_places(const struct conv_layout *l, struct plugin_place place[3])
{
    size_t end = 0;

    for (int t = 0; t < 3; t++) {
        const size_t bytes = l->bytes[tensors[t]], span = round_up(bytes + READABLE_BYTES, READABLE_BYTES);

        place[t] = (struct plugin_place){ end, bytes, round_up(span, CONV_PAGE_BYTES), 0 };
        place[t].before = place[t].mapped - span;
        end += place[t].mapped;
    }
    return end;
}

/* ---- the program's side ---- */

int plugin_channel_open(struct plugin_channel *c)
{
    void *control = mmap(NULL, sizeof *c->control, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    *c = (struct plugin_channel){ .fd = memfd_create("plugin", MFD_CLOEXEC) };
    if (control == MAP_FAILED || c->fd < 0)
        return -errno;
    c->control = control;
    return 0;
}

void plugin_channel_close(struct plugin_channel *c)
{
    plugin_channel_return(c);
    if (c->control)
        munmap(c->control, sizeof *c->control);
    if (c->fd >= 0)
        close(c->fd);
    *c = (struct plugin_channel){ .fd = -1 };
}

void plugin_channel_ask(struct plugin_channel *c, enum plugin_task task)
{
    c->control->task = task;
    c->control->text[0] = '\0';
    hand_over(c->control, PLUGIN_BUSY);
}

bool plugin_channel_wait(struct plugin_channel *c)
{
    if (atomic_load(&c->control->turn) == PLUGIN_BUSY)
        wait_while(&c->control->turn, PLUGIN_BUSY, WAIT_MS);
    return atomic_load(&c->control->turn) == PLUGIN_IDLE;
}

int plugin_channel_lend(struct plugin_channel *c, const struct conv_plan *plan, const struct conv_binding *bind)
{
    struct plugin_place place[3];
    const size_t bytes = plugin_places(&plan->layout, place);
    void *lent;

    if (ftruncate(c->fd, (off_t)bytes))
        return -errno;
    lent = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
    if (lent == MAP_FAILED)
        return -errno;
    c->lent = lent;
    c->lent_bytes = bytes;
    memset(c->lent, STRAY, bytes);
    for (int t = 0; t < 2; t++)
        memcpy(c->lent + place[t].offset + place[t].before, conv_in_ptr(bind->addr[tensors[t]]), place[t].bytes);
    return 0;
}

bool plugin_channel_find_stray(const struct plugin_channel *c, const struct conv_plan *plan, char *text, size_t bytes)
{
    struct plugin_place place[3];
    const unsigned char *out;
    size_t end;

    plugin_places(&plan->layout, place);
    out = c->lent + place[2].offset;
    end = place[2].before + place[2].bytes;
    for (size_t i = 0; i < place[2].mapped; i++) {
        if ((i < place[2].before || i >= end) && out[i] != STRAY) {
            exp_say(text, bytes, "the plug-in wrote outside its output: %zu bytes %s it",
                    i < place[2].before ? place[2].before - i : i - end + 1, i < place[2].before ? "before" : "behind");
            return true;
        }
    }
    return false;
}

void plugin_channel_take(const struct plugin_channel *c, const struct conv_plan *plan, const struct conv_binding *bind)
{
    struct plugin_place place[3];

    plugin_places(&plan->layout, place);
    memcpy(conv_out_ptr(bind->addr[CONV_OUTPUT]), c->lent + place[2].offset + place[2].before, place[2].bytes);
}

void plugin_channel_return(struct plugin_channel *c)
{
    if (!c->lent)
        return;
    munmap(c->lent, c->lent_bytes);
    if (ftruncate(c->fd, 0)) {
        /* the pages are used again */
    }
    c->lent = NULL;
}

/* ---- the process's side ---- */

struct process {
    struct plugin_control *control;
    int fd;
    const char *object, *symbol;
    struct conv_plugin record; /* the plug-in's; of a function: what calls it */
    void (*function)(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out);
    /* lent tensors, for a moment */
    unsigned char *guarded; /* NULL: none are */
    size_t guarded_bytes;
    const float *at[3];
    struct plugin_place place[3];
    /* an open layer */
    bool is_open;
    struct conv_plugin_shape shape;
    struct exp_tensors tensors;
    void *state;
    unsigned char *sweep; /* where memory cannot be flushed: twice the last level */
    size_t sweep_bytes;
};

/* The signal handler has no other way to it. */
static struct process *this_process;

static void say(struct process *p, const char *text)
{
    snprintf(p->control->text, sizeof p->control->text, "%s", text);
}

/* ---- loading ---- */

static void run_function(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters,
                         float *out)
{
    (void)state;
    this_process->function(s, in, filters, out);
}

/* Finds what the symbol is: a record, or a function. */
static bool find(struct process *p, void *library, const char *symbol)
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

/* Tells whether an object needs more than the C library, whose functions for memory are known. */
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

static void load(struct process *p)
{
    void *library;
    char text[PLUGIN_TEXT_BYTES];

    setenv("OMP_NUM_THREADS", "1", 1); /* of libraries that it calls, too */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    library = dlopen(p->object, RTLD_NOW | RTLD_LOCAL);

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
        p->control->is_function = p->function != NULL;
        p->control->calls_libraries = calls_libraries(library);
        copy_name(p->control->name, sizeof p->control->name, p->record.name);
        copy_name(p->control->title, sizeof p->control->title, p->record.title);
        return;
    }
    say(p, text);
}

/* ---- one layer ---- */

/* Tells whether the plug-in does the shape; says why not. */
static bool does_shape(struct process *p)
{
    const char *why;

    p->shape = exp_plugin_shape(&p->control->plan.problem);
    why = p->record.why_not ? p->record.why_not(&p->shape) : NULL;
    if (why)
        say(p, why);
    return !why;
}

static void say_whether_it_can(struct process *p)
{
    does_shape(p);
}

static bool get_ready(struct process *p, const float *filters)
{
    const struct conv_plugin_ask ask = { .bytes = sizeof ask, .threads = 1, .plan = "" };
    char text[128];
    int err = p->record.prepare ? p->record.prepare(&p->shape, &ask, filters, &p->state) : 0;

    if (!err)
        return true;
    exp_say(text, sizeof text, "the plug-in's prepare failed: %s", strerror(err < 0 ? -err : err));
    say(p, text);
    return false;
}

static void give_back(struct process *p)
{
    if (p->record.release)
        p->record.release(p->state);
    p->state = NULL;
}

static uint64_t run(struct process *p, const float *in, const float *filters, float *out)
{
    uint64_t (*const now_ns)(void) = p->control->now_ns ? p->control->now_ns : ctr_now_ns;
    const uint64_t start = now_ns();

    p->record.run(&p->shape, p->state, in, filters, out);
    return now_ns() - start;
}

/* ---- a layer that is checked ---- */

/* Maps the lent tensors between pages that nobody may touch; input and filters may be read only. */
static bool map_lent(struct process *p)
{
    const size_t bytes = plugin_places(&p->control->plan.layout, p->place);
    size_t at = CONV_PAGE_BYTES;

    p->guarded_bytes = bytes + 6 * CONV_PAGE_BYTES;
    p->guarded = mmap(NULL, p->guarded_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p->guarded == MAP_FAILED) {
        p->guarded = NULL;
        return false;
    }
    for (int t = 0; t < 3; t++) {
        const struct plugin_place *x = &p->place[t];

        if (mmap(p->guarded + at, x->mapped, t == 2 ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED | MAP_FIXED, p->fd,
                 (off_t)x->offset) == MAP_FAILED)
            return false;
        p->at[t] = (const float *)(const void *)(p->guarded + at + x->before);
        at += x->mapped + 2 * CONV_PAGE_BYTES;
    }
    return true;
}

static void unmap_lent(struct process *p)
{
    if (p->guarded)
        munmap(p->guarded, p->guarded_bytes);
    p->guarded = NULL;
}

static size_t count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    size_t n = 0;

    while (tasks && (entry = readdir(tasks)))
        n += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return n;
}

static size_t bytes_in_use(void)
{
    const struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

enum { LEAK_RUNS = 4, LEAK_NS = 100 * 1000 * 1000 }; /* runs that are watched, if they are this short */

/* Says whether each of some runs leaves memory behind. */
static void find_leak(struct process *p, float *out)
{
    size_t least = SIZE_MAX, before = bytes_in_use();
    char text[128];

    for (int i = 0; i < LEAK_RUNS; i++) {
        const size_t now = (run(p, p->at[0], p->at[1], out), bytes_in_use());
        const size_t grown = now > before ? now - before : 0;

        least = i && grown < least ? grown : least; /* the first may fill what later ones find */
        before = now;
    }
    if (!least || least == SIZE_MAX)
        return;
    exp_say(text, sizeof text, "the plug-in leaks memory: %zu bytes with each run", least);
    say(p, text);
}

static void run_checked(struct process *p)
{
    float *out = (float *)(uintptr_t)p->at[2];
    uint64_t took_ns;

    if (!get_ready(p, p->at[1]))
        return;
    took_ns = run(p, p->at[0], p->at[1], out);
    if (took_ns < LEAK_NS)
        find_leak(p, out);
    if (count_threads() > 1)
        say(p, "the plug-in started threads, and was asked for one");
    give_back(p);
}

static void check(struct process *p)
{
    if (!does_shape(p))
        return;
    if (map_lent(p))
        run_checked(p);
    else
        say(p, "there is no memory for its tensors");
    unmap_lent(p);
}

/* ---- timed runs ---- */

static void close_layer(struct process *p)
{
    if (!p->is_open)
        return;
    give_back(p);
    exp_tensors_release(&p->tensors);
    p->is_open = false;
}

static const float *tensor(const struct process *p, enum conv_tensor t)
{
    return conv_in_ptr(p->tensors.bind.addr[t]);
}

static void open_layer(struct process *p)
{
    close_layer(p);
    if (!does_shape(p))
        return;
    if (exp_tensors_init(&p->tensors, &p->control->plan)) {
        say(p, "there is no memory for its tensors");
        return;
    }
    p->is_open = get_ready(p, tensor(p, CONV_FILTER));
    if (!p->is_open)
        exp_tensors_release(&p->tensors);
}

static void run_timed(struct process *p)
{
    p->control->took_ns =
        run(p, tensor(p, CONV_INPUT), tensor(p, CONV_FILTER), conv_out_ptr(p->tensors.bind.addr[CONV_OUTPUT]));
}

/* Flushes the pages of a mapping that are there. */
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

/* More is no memory, but a sanitizer's shadow of it. */
#define SHADOW_BYTES ((unsigned long)1 << 40)

/* Flushes all memory that is this process's own: the tensors, and whatever the plug-in has allocated. */
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

/* Writes twice as much as the last level holds. */
static void sweep(struct process *p)
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

static void touch_input(const struct process *p)
{
    volatile float *in = conv_out_ptr(p->tensors.bind.addr[CONV_INPUT]);

    for (size_t i = 0; i < p->control->plan.layout.bytes[CONV_INPUT] / sizeof(float); i++)
        in[i] = in[i];
}

/* Makes the caches what exp_cache_state asks for. */
static void prepare_caches(struct process *p)
{
    if (p->control->cache == EXP_WARM) {
        run_timed(p);
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

static void do_something(struct process *p)
{
    const struct exp_runs runs = { prepare_again, run_again, p };

    p->control->fn(p->control->data, &runs);
}

/* ---- what ends it ---- */

/* Says where an address lies that must not be touched. */
static void say_where(const struct process *p, uintptr_t addr)
{
    static const char *const names[3] = { "input", "filters", "output" };
    char *text = p->control->text;
    const size_t bytes = sizeof p->control->text;

    for (int t = 0; t < 3 && p->guarded; t++) {
        const uintptr_t begin = (uintptr_t)p->at[t], end = begin + p->place[t].bytes;
        const uintptr_t first = begin - p->place[t].before, last = first + p->place[t].mapped;

        if (addr < first - CONV_PAGE_BYTES || addr >= last + CONV_PAGE_BYTES)
            continue;
        if (addr >= begin && addr < end)
            snprintf(text, bytes, "wrote to its %s, element %zu,", names[t], (size_t)(addr - begin) / sizeof(float));
        else
            snprintf(text, bytes, "touched memory %zu bytes %s its %s,",
                     addr < begin ? (size_t)(begin - addr) : (size_t)(addr - end + 1),
                     addr < begin ? "before" : "behind", names[t]);
        return;
    }
    snprintf(text, bytes, "crashed at address %#lx", (unsigned long)addr);
}

static void crash(int signal, siginfo_t *info, void *context)
{
    (void)context;
    say_where(this_process, (uintptr_t)info->si_addr);
    _exit(128 + signal);
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

/* Keeps what the plug-in prints out of the program's own output. */
static void part_from_output(void)
{
    const int nothing = open("/dev/null", O_RDONLY);

    dup2(STDERR_FILENO, STDOUT_FILENO);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
}

static void serve(struct process *p)
{
    static void (*const tasks[])(struct process *) = {
        [PLUGIN_LOAD] = load,       [PLUGIN_CAN] = say_whether_it_can, [PLUGIN_CHECK] = check,
        [PLUGIN_OPEN] = open_layer, [PLUGIN_PREPARE] = prepare_caches, [PLUGIN_RUN] = run_timed,
        [PLUGIN_DO] = do_something, [PLUGIN_CLOSE] = close_layer,
    };

    for (;;) {
        while (atomic_load(&p->control->turn) == PLUGIN_IDLE)
            wait_while(&p->control->turn, PLUGIN_IDLE, 1000);
        tasks[p->control->task](p);
        hand_over(p->control, PLUGIN_IDLE);
    }
}

pid_t plugin_process_start(struct plugin_channel *c, const char *object, const char *symbol)
{
    struct process p = { .control = c->control, .fd = c->fd, .object = object, .symbol = symbol };
    const pid_t parent = getpid(), pid = fork();

    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    this_process = &p;
    part_from_output();
    catch_crashes();
    serve(&p);
    _exit(0);
}
