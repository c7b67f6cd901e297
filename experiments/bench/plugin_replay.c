/* Recorded accesses of a plug-in, handed to a sink while its program runs: part of plugin.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/plugin.h"
#include "kernels/plugin/recorder.h"
#include "kernels/shape/sizes.h"
#include "sim/trace/trace_reader.h"

enum {
    WAIT_MS = 20,
    MAX_PERIOD = SIM_MAX_BURST_RUNS,
    LEAST_TIMES = 3,
    PAGE_SHIFT = 12,
    KEPT_PAGES = 64,
    LOOP_PAGES = 3,
    ENOUGH_TIMES = 32
};

_Static_assert(1 << PAGE_SHIFT == CONV_PAGE_BYTES, "pages are the project's");

/* What is no tensor lies behind all that is bound. */
#define WORKSPACE_BASE ((uint64_t)1 << 54)
#define REGION_ROOM ((uint64_t)1 << 40)

/* ---- pages of memory that has no fixed place ---- */

/* An open-addressed table: a page's number plus one (0: free), and its place. */
struct pages {
    uint64_t *page, *place;
    size_t n, room; /* room: a power of two */
    uint64_t kept_page[KEPT_PAGES], kept_place[KEPT_PAGES];
};

static size_t slot_of(const struct pages *p, uint64_t page)
{
    size_t i = (size_t)(page * 0x9e3779b97f4a7c15u >> 20) & (p->room - 1);

    while (p->page[i] && p->page[i] != page + 1)
        i = (i + 1) & (p->room - 1);
    return i;
}

static void grow(struct pages *p)
{
    const struct pages old = *p;

    p->room = old.room ? 2 * old.room : 1024;
    p->page = exp_new(p->room, sizeof *p->page);
    p->place = exp_new(p->room, sizeof *p->place);
    for (size_t i = 0; i < old.room; i++) {
        const size_t to = old.page[i] ? slot_of(p, old.page[i] - 1) : 0;

        if (old.page[i]) {
            p->page[to] = old.page[i];
            p->place[to] = old.place[i];
        }
    }
    free(old.page);
    free(old.place);
}

/* Returns the place of a page that was touched before, or 0. */
static uint64_t find_known_page(const struct pages *p, uint64_t page)
{
    const size_t kept = page % KEPT_PAGES;
    size_t i;

    if (p->kept_page[kept] == page + 1)
        return p->kept_place[kept];
    i = p->room ? slot_of(p, page) : 0;
    return p->room && p->page[i] ? p->place[i] : 0;
}

/* Finds a page's place: the next one if it is touched for the first time. */
static uint64_t find_page(struct pages *p, uint64_t page)
{
    const size_t kept = page % KEPT_PAGES;
    size_t i;

    if (p->kept_page[kept] == page + 1)
        return p->kept_place[kept];
    if (2 * p->n >= p->room)
        grow(p);
    i = slot_of(p, page);
    if (!p->page[i]) {
        p->page[i] = page + 1;
        p->place[i] = (WORKSPACE_BASE >> PAGE_SHIFT) + p->n++;
    }
    p->kept_page[kept] = page + 1;
    p->kept_place[kept] = p->place[i];
    return p->place[i];
}

/* ---- from records to the simulator's accesses ---- */

/* Memory that has a place. */
struct area {
    uint64_t at, bytes, to;
    uint8_t tag;
};

struct stream {
    struct sim_sink *sink;
    struct pages pages;
    struct area area[CONV_RECORDER_TENSORS + CONV_RECORDER_REGIONS];
    size_t n_areas, last;
    uint8_t phase;                         /* that a mark began */
    uint64_t stored_bytes[CONV_N_TENSORS]; /* to see that it did its work where it was seen */
    uint64_t seen[CONV_RECORDER_RECORDS];  /* by an emulator: records that are not handed on yet */
    size_t n_seen;
    unsigned seen_phase;                                            /* of the last of them */
    uint32_t next[CONV_RECORDER_RECORDS];                           /* where the same site comes again */
    uint32_t mark[CONV_RECORDER_RECORDS + 1];                       /* which records begin phases; the end of all */
    size_t other_at[MAX_PERIOD + 1], other_step_at[MAX_PERIOD + 1]; /* where a period is known to end */
    struct sim_run run[SIM_MAX_BURST_RUNS];
    size_t n_runs;
};

static uint8_t tag_of_region(const char *name)
{
    static const struct {
        const char *name;
        uint8_t tag;
    } known[] = { { "packed input", CONV_PACKED_INPUT }, { "packed filters", CONV_PACKED_FILTER } };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!strcmp(name, known[i].name))
            return known[i].tag;
    }
    return CONV_IM2COL;
}

static const struct area *area_of(struct stream *s, uint64_t address)
{
    if (address - s->area[s->last].at < s->area[s->last].bytes)
        return &s->area[s->last];
    for (size_t i = 0; i < s->n_areas; i++) {
        if (address - s->area[i].at < s->area[i].bytes) {
            s->last = i;
            return &s->area[i];
        }
    }
    return NULL;
}

/* Begins a phase, as the plug-in's header numbers them. */
static void begin_phase(struct stream *s, unsigned phase)
{
    static const uint8_t phases[] = { [CONV_PLUGIN_COMPUTES] = CONV_PHASE_UKR,
                                      [CONV_PLUGIN_PACKS] = CONV_PHASE_PACK,
                                      [CONV_PLUGIN_LOWERS] = CONV_PHASE_IM2COL,
                                      [CONV_PLUGIN_CLEARS] = CONV_PHASE_ZERO };

    s->phase = phases[phase % (sizeof phases / sizeof phases[0])];
}

static void flush_singles(struct stream *s)
{
    if (s->n_runs)
        sim_emit(s->sink, s->run, s->n_runs, 1);
    s->n_runs = 0;
}

/* Makes an access a run; member by member, as a copy of a struct waits for what was just written. */
static void fill_run(const struct stream *s, struct sim_run *run, uint64_t record, uint64_t address, uint32_t bytes,
                     uint8_t tag, int64_t step)
{
    run->addr = address;
    run->stride_bytes = 0;
    run->step_bytes = step;
    run->count = 1;
    run->access_bytes = bytes;
    run->kind = conv_record_is_store(record) ? SIM_STORE : SIM_LOAD;
    run->tag = tag;
    run->phase = s->phase;
}

static void add_single(struct stream *s, uint64_t record, uint64_t address, uint32_t bytes, uint8_t tag)
{
    fill_run(s, &s->run[s->n_runs++], record, address, bytes, tag, 0);
    if (s->n_runs == SIM_MAX_BURST_RUNS)
        flush_singles(s);
}

/* Adds an access to the workspace; one that goes over to a page that lies elsewhere is two. */
static void add_to_workspace(struct stream *s, uint64_t record, uint64_t address, uint32_t bytes)
{
    const uint32_t left = CONV_PAGE_BYTES - address % CONV_PAGE_BYTES;
    const uint64_t place = find_page(&s->pages, address >> PAGE_SHIFT);
    const uint64_t next = bytes > left ? find_page(&s->pages, (address >> PAGE_SHIFT) + 1) : 0;
    const bool is_split = next && next != place + 1;

    add_single(s, record, ((place + 1) << PAGE_SHIFT) - left, is_split ? left : bytes, CONV_IM2COL);
    if (is_split)
        add_single(s, record, next << PAGE_SHIFT, bytes - left, CONV_IM2COL);
}

static void add_access(struct stream *s, uint64_t record)
{
    const uint64_t address = conv_record_address(record);
    const uint32_t bytes = conv_record_bytes(record);
    const struct area *area = area_of(s, address);
    uint64_t inside;

    if (!area) {
        add_to_workspace(s, record, address, bytes);
        return;
    }
    inside = area->at + area->bytes - address; /* masked vectors may reach over its end, and touch nothing there */
    s->stored_bytes[area->tag] += conv_record_is_store(record) ? bytes : 0;
    add_single(s, record, area->to + (address - area->at), inside < bytes ? (uint32_t)inside : bytes, area->tag);
}

/* ---- loops: what they do is simulated faster than what is told access by access ---- */

/* Tells whether two records of one kind, whose addresses differ by that, are of one instruction. */
static bool is_same_site(uint64_t step)
{
    return step + CONV_RECORD_PHASE < 2 * CONV_RECORD_PHASE;
}

/* Returns where, from record n on, an access moves by another step than before; or the end. */
static size_t end_of_steps(const uint64_t *a, size_t n, size_t end, size_t period)
{
    while (n < end && a[n] - a[n - period] == a[n - period] - a[n - 2 * period])
        n++;
    return n;
}

/*
 * Tells whether a period repeats LEAST_TIMES from record i on, each access moving by a step of its own. Where that ends
 * is remembered: what begins a little later ends there, too.
 */
static bool is_loop(struct stream *s, const uint64_t *a, size_t i, size_t end, size_t period)
{
    const size_t enough = i + LEAST_TIMES * period;
    size_t *other = &s->other_at[period], *other_step = &s->other_step_at[period], n = i + period;

    if (enough > end || (*other >= n && *other < enough) || (*other_step >= n + period && *other_step < enough))
        return false;
    for (; n < i + 2 * period; n++) {
        if (!is_same_site(a[n] - a[n - period])) {
            *other = n;
            return false;
        }
    }
    n = end_of_steps(a, n, enough, period);
    if (n < enough)
        *(is_same_site(a[n] - a[n - period]) ? other_step : other) = n;
    return n == enough;
}

/* Returns how many steps from an address on stay within [at, at + bytes), its own width included; the first does. */
static uint64_t times_within(uint64_t address, uint32_t width, int64_t step, uint64_t at, uint64_t bytes)
{
    if (address - at + width > bytes)
        return 0;
    if (!step)
        return UINT64_MAX;
    return 1 + (step > 0 ? (bytes - (address - at) - width) / (uint64_t)step : (address - at) / (uint64_t)-step);
}

static bool has_area(const struct stream *s, uint64_t page)
{
    for (size_t i = 0; i < s->n_areas; i++) {
        if (s->area[i].at >> PAGE_SHIFT <= page && (s->area[i].at + s->area[i].bytes - 1) >> PAGE_SHIFT >= page)
            return true;
    }
    return false;
}

/* Returns how many pages behind or before (way: 1 or -1) a page have places that follow upon its own; a few at most. */
static uint64_t count_neighbours(const struct stream *s, uint64_t page, uint64_t place, int64_t way)
{
    uint64_t n = 0;

    for (uint64_t next = page + (uint64_t)way; n < LOOP_PAGES && !has_area(s, next); next += (uint64_t)way, n++) {
        place += (uint64_t)way;
        if (find_known_page(&s->pages, next) != place)
            break;
    }
    return n;
}

/* Does what place_run does where there is no area. */
static uint64_t place_in_pages(struct stream *s, uint64_t record, int64_t step, struct sim_run *run)
{
    const uint64_t address = conv_record_address(record), page = address >> PAGE_SHIFT;
    const uint32_t bytes = conv_record_bytes(record);
    uint64_t place, most, neighbours;

    if (has_area(s, page))
        return 0;
    place = find_page(&s->pages, page);
    fill_run(s, run, record, (place << PAGE_SHIFT) + address % CONV_PAGE_BYTES, bytes, CONV_IM2COL, step);
    most = times_within(address, bytes, step, page << PAGE_SHIFT, CONV_PAGE_BYTES);
    if (most >= ENOUGH_TIMES)
        return most;
    neighbours = count_neighbours(s, page, place, step < 0 ? -1 : 1);
    return times_within(address, bytes, step, (page - (step < 0 ? neighbours : 0)) << PAGE_SHIFT,
                        (1 + neighbours) << PAGE_SHIFT);
}

/*
 * Places a run of a loop where all its accesses keep their steps: in one area, or in pages one behind the other that
 * have none. Returns how many times of n_times; the others are placed when it is their turn.
 */
static size_t place_run(struct stream *s, uint64_t record, int64_t step, size_t n_times, struct sim_run *run)
{
    const uint64_t address = conv_record_address(record);
    const uint32_t bytes = conv_record_bytes(record);
    const struct area *area = area_of(s, address);
    uint64_t most;

    if (area) {
        fill_run(s, run, record, area->to + (address - area->at), bytes, area->tag, step);
        most = times_within(address, bytes, step, area->at, area->bytes);
    } else {
        most = place_in_pages(s, record, step, run);
    }
    return most < n_times ? (size_t)most : n_times;
}

static void emit_loop(struct stream *s, struct sim_run *run, size_t period, size_t n_times)
{
    for (size_t k = 0; k < period; k++)
        s->stored_bytes[run[k].tag] += run[k].kind == SIM_STORE ? n_times * run[k].access_bytes : 0;
    if (period == 1) {
        run[0].stride_bytes = run[0].step_bytes;
        run[0].step_bytes = 0;
        run[0].count = (uint32_t)n_times;
        n_times = 1;
    }
    flush_singles(s);
    sim_emit(s->sink, run, period, n_times);
}

/* Returns how many records from i on are a loop, which is emitted; 0: they are none. */
static size_t take_loop(struct stream *s, const uint64_t *record, size_t i, size_t end)
{
    const size_t period = s->next[i] - i;
    struct sim_run run[MAX_PERIOD];
    size_t n_times = (end - i) / period;

    if (period > MAX_PERIOD || !is_loop(s, record, i, end, period))
        return 0;
    for (size_t k = 0; k < period; k++) {
        const int64_t step = (int64_t)(record[i + k + period] - record[i + k]);
        const size_t placed = place_run(s, record[i + k], step, n_times, &run[k]);

        if (placed < LEAST_TIMES) {
            s->other_at[period] = i + placed * period + k;
            return 0;
        }
        n_times = placed;
    }
    n_times = (end_of_steps(record, i + LEAST_TIMES * period, i + n_times * period, period) - i) / period;
    emit_loop(s, run, period, n_times);
    return period * n_times;
}

/* Finds where each site comes again, and what begins phases. Returns how many do. */
static size_t find_next(struct stream *s, const uint64_t *record, size_t n)
{
    uint32_t last[CONV_RECORD_SITES];
    size_t n_marks = 0;

    memset(last, 0xff, sizeof last);
    for (size_t i = n; i-- > 0;) {
        uint32_t *same = &last[conv_record_site(record[i])];

        s->next[i] = *same;
        *same = (uint32_t)i;
        if (record[i] & CONV_RECORD_PHASE)
            s->mark[n_marks++] = (uint32_t)i;
    }
    memset(s->other_at, 0, sizeof s->other_at);
    memset(s->other_step_at, 0, sizeof s->other_step_at);
    return n_marks;
}

/* Hands on records, which have their order. */
static void emit_records(struct stream *s, const uint64_t *record, size_t n)
{
    size_t n_marks = find_next(s, record, n), i = 0;

    for (;;) {
        const size_t end = n_marks ? s->mark[--n_marks] : n;

        for (size_t taken; i < end; i += taken) {
            taken = take_loop(s, record, i, end);
            if (taken)
                continue;
            taken = 1;
            add_access(s, record[i]);
        }
        if (i == n)
            break;
        begin_phase(s, (unsigned)record[i++] % 4);
    }
    flush_singles(s);
}

/* ---- the program ---- */

struct program {
    const struct exp_recording *r;
    struct conv_recorder *shared;
    char path[64];                       /* of the shared memory */
    char folder[64], trace[80], out[80]; /* of an emulator's plugin: what it sees, through a pipe that has a name */
    int pipe;
    pthread_t thread;
    atomic_bool has_ended;
    int err, status;
    char last[256];
};

/*
 * Adds the emulator and its plugin, which wants to simulate a machine: a small one. Libraries have one thread, and the
 * C library clears and copies memory by vectors, not byte by byte.
 */
static void add_emulator(struct exp_words *command, const struct program *p)
{
    exp_words_split(command, p->r->kind->emulator);
    exp_words_split(command, "-E OMP_NUM_THREADS=1 -E OPENBLAS_NUM_THREADS=1 "
                             "-E OPENBLAS_CORETYPE=Haswell -E DNNL_MAX_CPU_ISA=AVX2 -E "
                             "GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=1000000000:"
                             "glibc.cpu.x86_rep_movsb_threshold=1000000000 -plugin");
    exp_words_add(command, "%s,out=%s,trace=%s,machine=sim/machines/toy.cfg", p->r->observer, p->out, p->trace);
}

static void *run_program(void *arg)
{
    struct program *p = arg;
    struct exp_words command = { 0 };

    if (*p->trace)
        add_emulator(&command, p);
    exp_words_add(&command, "%s", p->r->program);
    exp_words_add(&command, "%s", p->path);
    p->err = exp_process_run((const char *const *)command.word, p->r->limit_s, exp_interrupted, &p->status, p->last,
                             sizeof p->last);
    exp_words_release(&command);
    atomic_store(&p->has_ended, true);
    return NULL;
}

/* Waits for the next block. Returns NULL if the program ended without it, or nobody wants more. */
static struct conv_recorder_block *next_block(const struct program *p, unsigned number)
{
    const struct timespec most = { 0, WAIT_MS * 1000000L };
    struct conv_recorder_block *b = &p->shared->block[number % CONV_RECORDER_BLOCKS];

    while (!atomic_load(&b->is_full)) {
        if (atomic_load(&p->has_ended) && !atomic_load(&b->is_full))
            return NULL;
        syscall(SYS_futex, &b->is_full, FUTEX_WAIT, 0, &most, NULL, 0);
    }
    return b;
}

static void give_back(struct conv_recorder_block *b)
{
    atomic_store(&b->is_full, 0);
    syscall(SYS_futex, &b->is_full, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void place_areas(struct stream *s, const struct conv_recorder *shared)
{
    static const uint8_t tags[] = { CONV_INPUT, CONV_FILTER, CONV_OUTPUT };

    for (size_t t = 0; t < CONV_RECORDER_TENSORS; t++)
        s->area[s->n_areas++] =
            (struct area){ shared->tensor[t].at, shared->tensor[t].bytes, shared->tensor[t].at, tags[t] };
    for (size_t i = 0; i < shared->n_regions && i < CONV_RECORDER_REGIONS; i++) {
        const struct conv_recorder_region *g = &shared->region[i];

        s->area[s->n_areas++] = (struct area){ g->memory.at, g->memory.bytes,
                                               WORKSPACE_BASE + (i + 1) * REGION_ROOM + g->memory.at % CONV_PAGE_BYTES,
                                               tag_of_region(g->name) };
    }
}

static bool is_stopped(const struct exp_recording *r)
{
    return exp_interrupted() || (r->is_stopped && r->is_stopped(r->ctx));
}

/* Hands on all blocks. Returns whether the last one came. */
static bool read_blocks(struct stream *s, const struct program *p)
{
    struct conv_recorder_block *b;

    for (unsigned number = 0; (b = next_block(p, number)); number++) {
        const size_t n = b->n < CONV_RECORDER_RECORDS ? b->n : CONV_RECORDER_RECORDS;

        if (!number)
            place_areas(s, p->shared);
        if (is_stopped(p->r)) {
            atomic_store(&p->shared->is_stopped, 1);
            give_back(b);
            return false;
        }
        emit_records(s, b->record, n);
        give_back(b);
        if (!n)
            return true;
    }
    return false;
}

/* Waits until there is something in the pipe. Returns whether there is. */
static bool wait_for_trace(const struct program *p, int fd)
{
    struct pollfd pipe = { .fd = fd, .events = POLLIN };

    while (poll(&pipe, 1, WAIT_MS) <= 0 || !(pipe.revents & POLLIN)) {
        if (atomic_load(&p->has_ended) || is_stopped(p->r))
            return false;
        if (pipe.revents & POLLHUP)
            usleep(1000 * WAIT_MS);
    }
    return true;
}

static void emit_seen(struct stream *s)
{
    emit_records(s, s->seen, s->n_seen);
    s->n_seen = 0;
}

static void add_seen(struct stream *s, uint64_t record)
{
    s->seen[s->n_seen++] = record;
    if (s->n_seen == CONV_RECORDER_RECORDS)
        emit_seen(s);
}

/* Adds what a run of a trace says; accesses of more than a vector are several. */
static void add_run(struct stream *s, const struct sim_run *run)
{
    if (run->phase != s->seen_phase)
        add_seen(s, CONV_RECORD_PHASE | run->phase);
    s->seen_phase = run->phase;
    for (uint32_t k = 0; k < run->count; k++) {
        const uint64_t address = run->addr + (uint64_t)(k * run->stride_bytes);

        for (uint32_t at = 0; at < run->access_bytes; at += CONV_RECORD_MAX_BYTES) {
            const uint32_t left = run->access_bytes - at;

            add_seen(s, conv_record(address + at, left < CONV_RECORD_MAX_BYTES ? left : CONV_RECORD_MAX_BYTES,
                                    run->kind == SIM_STORE));
        }
    }
}

/* Hands on what an emulator's plugin writes. Returns whether its end came. */
static bool read_trace(struct stream *s, const struct program *p, FILE *in)
{
    const struct sim_trace_options options = { .format = SIM_TRACE_BINARY };
    struct sim_trace_reader *reader;
    struct sim_run run[SIM_MAX_BURST_RUNS];
    char why[256];
    size_t n;
    int err = sim_trace_reader_new(&reader, in, p->trace, &options);

    if (err)
        return false;
    place_areas(s, p->shared); /* the program has named its memory before it began */
    while (!(err = sim_trace_reader_next(reader, run, SIM_MAX_BURST_RUNS, &n, why, sizeof why)) && n &&
           !is_stopped(p->r)) {
        for (size_t i = 0; i < n; i++)
            add_run(s, &run[i]);
    }
    emit_seen(s);
    sim_trace_reader_free(reader);
    return !err && !is_stopped(p->r);
}

static bool read_emulated(struct stream *s, const struct program *p)
{
    FILE *in = wait_for_trace(p, p->pipe) && !fcntl(p->pipe, F_SETFL, 0) ? fdopen(p->pipe, "rb") : NULL;
    bool is_whole = false;

    if (in) {
        is_whole = read_trace(s, p, in);
        fclose(in);
    } else {
        close(p->pipe);
    }
    return is_whole;
}

/* Makes the pipe, in a folder of its own. */
static int make_pipe(struct program *p, struct exp_why *why)
{
    if (!*p->r->observer)
        return exp_fail(
            why, -ENOTSUP,
            "nobody sees what libraries access: make experiment has QEMU's plugin for that, unless OBSERVE=0");
    exp_say(p->folder, sizeof p->folder, "/tmp/convsim-XXXXXX");
    if (!mkdtemp(p->folder))
        return exp_fail(why, -ENOTSUP, "there is no folder %s: %s", p->folder, strerror(errno));
    exp_say(p->trace, sizeof p->trace, "%s/trace", p->folder);
    exp_say(p->out, sizeof p->out, "%s/seen", p->folder);
    /* It is open before there is a writer, who would wait for ever for a reader that has gone. */
    if (mkfifo(p->trace, 0600) || (p->pipe = open(p->trace, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) < 0)
        return exp_fail(why, -ENOTSUP, "%s: %s", p->trace, strerror(errno));
    return 0;
}

static void remove_pipe(const struct program *p)
{
    char watched[96];

    exp_say(watched, sizeof watched, "%s.watched", p->out);
    unlink(watched);
    unlink(p->trace);
    unlink(p->out);
    if (*p->folder)
        rmdir(p->folder);
}

/* Says why the accesses are not whole, or returns 0. */
static int judge(const struct program *p, const struct stream *s, bool is_whole, struct exp_why *why)
{
    const struct exp_recording *r = p->r;

    if (is_stopped(r))
        return exp_interrupted() ? -EINTR : -ECANCELED;
    if (p->err == -EINTR)
        return -EINTR;
    if (p->err == -ETIMEDOUT)
        return exp_fail(why, -ENOTSUP,
                        "the plug-in's accesses are too many: its run was ended after %u s; PLUGIN_LIMIT= grants more",
                        r->limit_s);
    if (p->err)
        return exp_fail(why, -ENOTSUP, "the program that records accesses cannot be run: %s%s%s",
                        *r->kind->emulator ? r->kind->emulator : r->program, ": ", strerror(-p->err));
    if (*p->shared->why)
        return exp_fail(why, -ENOTSUP, "%s", p->shared->why);
    if (!is_whole && WIFSIGNALED(p->status))
        return exp_fail(why, -ENOTSUP, "the plug-in crashed while its accesses were recorded%s%s: %s",
                        *r->kind->emulator ? " by " : "", r->kind->emulator, strsignal(WTERMSIG(p->status)));
    if (!is_whole)
        return exp_fail(why, -ENOTSUP, "the plug-in ended while its accesses were recorded%s%s", *p->last ? ": " : "",
                        p->last);
    if (s->stored_bytes[CONV_OUTPUT] < r->plan->layout.bytes[CONV_OUTPUT])
        return exp_fail(why, -ENODATA,
                        "a part of the plug-in's code runs unseen: it stored %llu bytes of %zu to its output",
                        (unsigned long long)s->stored_bytes[CONV_OUTPUT], r->plan->layout.bytes[CONV_OUTPUT]);
    return 0;
}

static void prepare(struct conv_recorder *shared, const struct exp_recording *r)
{
    static const enum conv_tensor tensors[] = { CONV_INPUT, CONV_FILTER, CONV_OUTPUT };

    shared->version = CONV_RECORDER_VERSION;
    exp_say(shared->plan, sizeof shared->plan, "%s", r->user_plan);
    shared->shape = exp_plugin_shape(&r->plan->problem);
    for (size_t t = 0; t < CONV_RECORDER_TENSORS; t++)
        shared->tensor[t] =
            (struct conv_recorder_memory){ r->bind->addr[tensors[t]], r->plan->layout.bytes[tensors[t]] };
}

static int record(struct program *p, struct sim_sink *sink, struct exp_why *why)
{
    struct stream *s = exp_new(1, sizeof *s);
    bool is_whole;
    int err;

    s->sink = sink;
    begin_phase(s, CONV_PLUGIN_COMPUTES);
    prepare(p->shared, p->r);
    err = *p->r->kind->emulator ? make_pipe(p, why) : 0;
    if (!err)
        err = -pthread_create(&p->thread, NULL, run_program, p);
    if (!err) {
        is_whole = *p->trace ? read_emulated(s, p) : read_blocks(s, p);
        pthread_join(p->thread, NULL);
        err = judge(p, s, is_whole, why);
    }
    remove_pipe(p);
    free(s->pages.page);
    free(s->pages.place);
    free(s);
    return err;
}

int exp_plugin_record(const struct exp_recording *r, struct sim_sink *sink, struct exp_why *why)
{
    struct program p = { .r = r };
    const int fd = memfd_create("recorder", MFD_CLOEXEC);
    void *shared = MAP_FAILED;
    int err;

    if (fd >= 0 && !ftruncate(fd, sizeof *p.shared))
        shared = mmap(NULL, sizeof *p.shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared != MAP_FAILED) {
        p.shared = shared;
        exp_say(p.path, sizeof p.path, "/proc/%ld/fd/%d", (long)getpid(), fd);
        err = record(&p, sink, why);
        munmap(shared, sizeof *p.shared);
    } else {
        err = -ENOMEM;
    }
    if (fd >= 0)
        close(fd);
    return err;
}
