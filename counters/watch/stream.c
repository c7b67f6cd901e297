#include "counters/watch/watch.h"

#include <assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/watch/marker.h"
#include "sim/hierarchy.h"
#include "sim/base/record.h"
#include "sim/trace/trace_binary.h"

enum {
    NO_RULE = 0,
    N_RECORDS = 4096,
    SITES_PER_CHUNK = 1024,
    LINE_SHIFT = 6, /* of accesses outside all buffers */
    N_LINES = 1 << 14,
    LEARNED_REACH = 64 << 20, /* a learned buffer grows by steps no longer than this */
};

/* Accesses outside all buffers: [0] elsewhere, [1] on the stack. */
struct outside {
    uint64_t loads[2], stores[2];
};

/* A function of the program, and the function's accesses outside all buffers. */
struct watch_function {
    struct watch_function *next;
    char name[WATCH_NAME_BYTES];
    uint8_t rule;
    struct outside outside[SIM_MAX_PHASES];
};

/* A set of lines: a hash table with open addresses, of line number + 1; the set stops growing when nearly full. */
struct lines {
    size_t n;
    uint64_t line[N_LINES];
};

struct chunk {
    struct chunk *next;
    size_t n;
    struct watch_site site[SITES_PER_CHUNK];
};

struct watch_stream {
    uint64_t executed; /* counted by the emulator */
    bool is_on, has_ended, marks_masked;
    uint8_t phase, masked_phase;
    struct watch_access pending; /* an access that may lack pieces; bytes 0: none */
    uint64_t pending_executed;   /* `executed` at the access's first piece */
    size_t n_buffers;
    struct watch_buffer buffer[WATCH_MAX_BUFFERS];
    size_t n_records;
    uint64_t record[N_RECORDS];
    struct sim_hierarchy *h;
    struct sim_sink *trace;
    uint64_t stack, stack_bytes;
    size_t n_rules;
    struct watch_rule rule[WATCH_MAX_RULES + 1];                      /* [0]: no rule */
    uint64_t instructions[WATCH_MAX_RULES + 1][WATCH_N_CLASSES];      /* since the emulator's start */
    uint64_t instructions_from[WATCH_MAX_RULES + 1][WATCH_N_CLASSES]; /* at the start of the phase */
    uint64_t instructions_in[SIM_MAX_PHASES][WATCH_N_CLASSES];
    struct watch_function *functions;
    struct chunk *chunks;
    struct lines outside_lines[SIM_MAX_PHASES];
    uint64_t masked_loads;
    const char *error;
};

static void fail(struct watch_stream *s, const char *what)
{
    if (!s->error)
        s->error = what;
}

int watch_stream_new(struct watch_stream **stream, const struct sim_machine *m, const struct watch_rule *rule,
                     size_t n_rules, struct sim_sink *trace)
{
    struct watch_stream *s = n_rules <= WATCH_MAX_RULES ? calloc(1, sizeof *s) : NULL;
    int err;

    assert(stream && (rule || !n_rules));
    *stream = NULL;
    if (!s)
        return n_rules <= WATCH_MAX_RULES ? -ENOMEM : -EINVAL;
    err = m ? sim_hierarchy_new(&s->h, m) : 0;
    if (err) {
        watch_stream_free(s);
        return err;
    }
    s->trace = trace;
    s->n_rules = n_rules;
    s->rule[NO_RULE].learns = -1;
    for (size_t i = 0; i < n_rules; i++)
        s->rule[i + 1] = rule[i];
    *stream = s;
    return 0;
}

void watch_stream_free(struct watch_stream *s)
{
    if (!s)
        return;
    for (struct chunk *c = s->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    for (struct watch_function *f = s->functions, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    sim_hierarchy_free(s->h);
    free(s);
}

/* ---- the program's places ---- */

static uint8_t rule_of(const struct watch_stream *s, const char *function)
{
    for (size_t i = 1; i <= s->n_rules; i++) {
        if (!fnmatch(s->rule[i].pattern, function, 0))
            return (uint8_t)i;
    }
    return NO_RULE;
}

/* Instructions come function by function: the last function looked for is the first in the list. */
static struct watch_function *function_of(struct watch_stream *s, const char *name)
{
    struct watch_function **link = &s->functions, *f;

    name = name && *name ? name : "?";
    for (; (f = *link); link = &f->next) {
        if (!strncmp(f->name, name, sizeof f->name - 1)) {
            *link = f->next;
            f->next = s->functions;
            return s->functions = f;
        }
    }
    f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    snprintf(f->name, sizeof f->name, "%s", name);
    f->rule = rule_of(s, name);
    f->next = s->functions;
    return s->functions = f;
}

struct watch_site *watch_stream_site(struct watch_stream *s, const char *function)
{
    struct watch_function *f = function_of(s, function);
    struct watch_site *site;

    assert(s);
    if (f && (!s->chunks || s->chunks->n == SITES_PER_CHUNK)) {
        struct chunk *c = calloc(1, sizeof *c);

        if (c) {
            c->next = s->chunks;
            s->chunks = c;
        } else {
            f = NULL;
        }
    }
    if (!f) {
        fail(s, "out of memory");
        return NULL;
    }
    site = &s->chunks->site[s->chunks->n++];
    *site = (struct watch_site){ .stream = s, .function = f, .rule = f->rule };
    return site;
}

uint64_t *watch_stream_instructions(struct watch_stream *s, const char *function)
{
    const struct watch_function *f = function_of(s, function);

    assert(s);
    if (!f)
        fail(s, "out of memory");
    return s->instructions[f ? f->rule : NO_RULE];
}

uint64_t *watch_stream_executed(struct watch_stream *s)
{
    assert(s);
    return &s->executed;
}

void watch_stream_mark_masked(struct watch_stream *s, unsigned phase)
{
    assert(s && phase < SIM_MAX_PHASES);
    s->marks_masked = true;
    s->masked_phase = (uint8_t)phase;
}

/* ---- accesses ---- */

static bool holds(const struct watch_buffer *b, uint64_t address)
{
    return address - b->address < b->bytes;
}

/* Returns the buffer of an address, or n_buffers. */
static size_t find_buffer(const struct watch_stream *s, const struct watch_site *site, uint64_t address)
{
    size_t i = site->buffer;

    if (i < s->n_buffers && holds(&s->buffer[i], address))
        return i;
    for (i = 0; i < s->n_buffers && !holds(&s->buffer[i], address); i++)
        ;
    return i;
}

/* Cuts a masked load down to the overlapped buffer, if any. */
static void clip(const struct watch_stream *s, struct watch_access *p)
{
    for (size_t i = 0; i < s->n_buffers; i++) {
        const struct watch_buffer *b = &s->buffer[i];
        uint64_t first = p->address > b->address ? p->address : b->address;
        uint64_t end = p->address + p->bytes < b->address + b->bytes ? p->address + p->bytes : b->address + b->bytes;

        if (first < end) {
            p->address = first;
            p->bytes = (uint32_t)(end - first);
            return;
        }
    }
}

static void grow(struct watch_buffer *b, uint64_t first, uint64_t end)
{
    uint64_t b_end = b->address + b->bytes;

    b->address = first < b->address ? first : b->address;
    b->bytes = (end > b_end ? end : b_end) - b->address;
}

/* Returns the learned buffer of a store, made if need be; n_buffers if there is no room. */
static size_t learn(struct watch_stream *s, unsigned tag, uint64_t address, uint32_t bytes)
{
    size_t i;

    for (i = 0; i < s->n_buffers; i++) {
        struct watch_buffer *b = &s->buffer[i];

        if (b->is_learned && b->tag == tag && address + LEARNED_REACH >= b->address &&
            address < b->address + b->bytes + LEARNED_REACH) {
            grow(b, address, address + bytes);
            return i;
        }
    }
    if (i == WATCH_MAX_BUFFERS)
        fail(s, "too many buffers are learned");
    else
        s->buffer[s->n_buffers++] =
            (struct watch_buffer){ .address = address, .bytes = bytes, .tag = (uint8_t)tag, .is_learned = true };
    return i;
}

static void simulate(struct watch_stream *s)
{
    if (s->n_records)
        sim_hierarchy_records(s->h, s->record, s->n_records);
    s->n_records = 0;
}

static void take(struct watch_stream *s, const struct watch_access *p, unsigned tag, unsigned phase)
{
    if (!s->h)
        return;
    if (!sim_record_fits(p->address, p->bytes)) {
        fail(s, "an access is too wide or its address too high to be simulated");
        return;
    }
    s->record[s->n_records++] = sim_record(p->address, p->bytes, p->kind, tag, phase);
    if (s->n_records == N_RECORDS)
        simulate(s);
}

static void trace(const struct watch_stream *s, const struct watch_access *p, unsigned tag, unsigned phase)
{
    const struct sim_run run = { .addr = p->address,
                                 .count = 1,
                                 .access_bytes = p->bytes,
                                 .kind = (uint8_t)p->kind,
                                 .tag = (uint8_t)tag,
                                 .phase = (uint8_t)phase };

    if (s->trace)
        sim_emit(s->trace, &run, 1, 1);
}

static void add_line(struct lines *lines, uint64_t line)
{
    size_t i = line * 0x9e3779b97f4a7c15u >> 50;

    _Static_assert(N_LINES == 1 << (64 - 50), "the hash has as many bits");
    for (; lines->line[i] && lines->line[i] != line + 1; i = (i + 1) % N_LINES)
        ;
    if (lines->line[i] || lines->n == N_LINES - 1)
        return;
    lines->line[i] = line + 1;
    lines->n++;
}

static void count_outside(struct watch_stream *s, const struct watch_access *p, unsigned phase)
{
    bool is_stack = p->address - s->stack < s->stack_bytes;
    struct outside *o = &p->site->function->outside[phase];

    if (p->kind == SIM_STORE)
        o->stores[is_stack]++;
    else
        o->loads[is_stack]++;
    for (uint64_t line = p->address >> LINE_SHIFT; line <= (p->address + p->bytes - 1) >> LINE_SHIFT; line++)
        add_line(&s->outside_lines[phase], line);
}

/* Hands an access to a buffer to the simulator and to the trace. */
static void hand_on(struct watch_stream *s, const struct watch_access *p, unsigned tag, unsigned phase)
{
    take(s, p, tag, phase);
    trace(s, p, tag, phase);
}

static unsigned phase_of(const struct watch_site *site)
{
    const struct watch_stream *s = site->stream;

    if (site->is_masked && s->marks_masked)
        return s->masked_phase;
    return site->rule == NO_RULE ? s->phase : s->rule[site->rule].phase;
}

void watch_stream_settle(struct watch_stream *s)
{
    struct watch_access *p = &s->pending;
    struct watch_site *site = p->site;
    const struct watch_rule *rule;
    unsigned phase;
    size_t i;

    if (!p->bytes)
        return;
    if (site->is_masked) {
        clip(s, p);
        s->masked_loads++;
    }
    rule = &s->rule[site->rule];
    phase = phase_of(site);
    i = find_buffer(s, site, p->address);
    if (i == s->n_buffers && p->kind == SIM_STORE && rule->learns >= 0 && p->address - s->stack >= s->stack_bytes)
        i = learn(s, (unsigned)rule->learns, p->address, p->bytes);
    else if (i < s->n_buffers && p->kind == SIM_STORE && s->buffer[i].is_learned)
        grow(&s->buffer[i], p->address, p->address + p->bytes); /* the access may end behind the known end */
    if (i < s->n_buffers) {
        site->buffer = (uint8_t)i;
        hand_on(s, p, s->buffer[i].tag, phase);
    } else {
        count_outside(s, p, phase);
    }
    s->pending.bytes = 0;
}

/* Returns how many bytes lie between an address and a buffer. */
static uint64_t distance(const struct watch_buffer *b, uint64_t address)
{
    if (holds(b, address))
        return 0;
    return address < b->address ? b->address - address : address - (b->address + b->bytes) + 1;
}

static void take_prefetch(struct watch_stream *s, const struct watch_access *a)
{
    size_t nearest = 0;

    if (!s->n_buffers || a->address - s->stack < s->stack_bytes || !sim_record_fits(a->address, a->bytes))
        return;
    watch_stream_settle(s);
    for (size_t i = 1; i < s->n_buffers; i++)
        nearest = distance(&s->buffer[i], a->address) < distance(&s->buffer[nearest], a->address) ? i : nearest;
    hand_on(s, a, s->buffer[nearest].tag, phase_of(a->site));
}

void watch_stream_take(const struct watch_access *a)
{
    struct watch_stream *s = a->site->stream;
    struct watch_access *p = &s->pending;

    if (!s->is_on)
        return;
    if (a->kind == SIM_PREFETCH) {
        take_prefetch(s, a);
    } else if (p->bytes && s->pending_executed == s->executed && p->kind == a->kind &&
               p->address + p->bytes == a->address && p->bytes + a->bytes <= SIM_TRACE_MAX_BYTES) {
        p->bytes += a->bytes;
    } else {
        watch_stream_settle(s);
        *p = *a;
        s->pending_executed = s->executed;
    }
}

/* ---- markers ---- */

static void add_instructions(struct watch_stream *s, size_t rule, unsigned phase)
{
    for (size_t c = 0; c < WATCH_N_CLASSES; c++) {
        s->instructions_in[phase][c] += s->instructions[rule][c] - s->instructions_from[rule][c];
        s->instructions_from[rule][c] = s->instructions[rule][c];
    }
}

void watch_stream_take_instructions(struct watch_stream *s, uint64_t n[SIM_MAX_PHASES][WATCH_N_CLASSES])
{
    assert(s && !s->n_rules);
    if (s->is_on)
        add_instructions(s, NO_RULE, s->phase);
    for (size_t i = 0; i < (size_t)SIM_MAX_PHASES * WATCH_N_CLASSES; i++)
        n[i / WATCH_N_CLASSES][i % WATCH_N_CLASSES] += s->instructions_in[i / WATCH_N_CLASSES][i % WATCH_N_CLASSES];
    memset(s->instructions_in, 0, sizeof s->instructions_in);
}

static void clear_outside(struct watch_stream *s)
{
    for (struct watch_function *f = s->functions; f; f = f->next)
        memset(f->outside, 0, sizeof f->outside);
    memset(s->outside_lines, 0, sizeof s->outside_lines);
    s->masked_loads = 0;
}

static void add_buffer(struct watch_stream *s, uint64_t tag, uint64_t address, uint64_t bytes)
{
    if (tag >= SIM_USUAL_TAGS)
        fail(s, "a marker's buffer has no such tag");
    else if (s->n_buffers == WATCH_MAX_BUFFERS)
        fail(s, "markers announce too many buffers");
    else
        s->buffer[s->n_buffers++] = (struct watch_buffer){ .address = address, .bytes = bytes, .tag = (uint8_t)tag };
}

static void begin(struct watch_stream *s, uint64_t phase)
{
    if (s->is_on || s->has_ended) {
        fail(s, "markers open a second region");
        return;
    }
    s->phase = (uint8_t)phase;
    s->is_on = true;
    memcpy(s->instructions_from, s->instructions, sizeof s->instructions_from);
    clear_outside(s);
}

static void end(struct watch_stream *s)
{
    if (!s->is_on) {
        fail(s, "a marker closes a region that is not open");
        return;
    }
    watch_stream_settle(s);
    simulate(s);
    add_instructions(s, NO_RULE, s->phase);
    for (size_t i = 1; i <= s->n_rules; i++)
        add_instructions(s, i, s->rule[i].phase);
    s->is_on = false;
    s->has_ended = true;
}

static void change_phase(struct watch_stream *s, uint64_t phase)
{
    if (!s->is_on)
        return;
    watch_stream_settle(s);
    add_instructions(s, NO_RULE, s->phase);
    s->phase = (uint8_t)phase;
}

void watch_stream_mark(struct watch_stream *s, uint64_t mark, uint64_t a, uint64_t b, uint64_t c)
{
    assert(s);
    if ((mark == WATCH_MARK_BEGIN || mark == WATCH_MARK_PHASE) && a >= SIM_MAX_PHASES) {
        fail(s, "a marker names no such phase");
    } else if (mark == WATCH_MARK_BUFFER) {
        add_buffer(s, a, b, c);
    } else if (mark == WATCH_MARK_STACK) {
        s->stack = b;
        s->stack_bytes = c;
    } else if (mark == WATCH_MARK_BEGIN) {
        begin(s, a);
    } else if (mark == WATCH_MARK_PHASE) {
        change_phase(s, a);
    } else if (mark == WATCH_MARK_END) {
        end(s);
    } else {
        fail(s, "an unknown marker");
    }
}

/* ---- the result ---- */

static int add_outside(struct watch_result *r, const struct watch_function *f)
{
    for (unsigned i = 0; i < 2 * SIM_MAX_PHASES; i++) {
        const struct outside *counted = &f->outside[i / 2];
        struct watch_outside *o = &r->outside[r->n_outside];

        if (!counted->loads[i % 2] && !counted->stores[i % 2])
            continue;
        if (r->n_outside == WATCH_MAX_OUTSIDE)
            return -ENOSPC;
        snprintf(o->function, sizeof o->function, "%s", f->name);
        o->phase = (uint8_t)(i / 2);
        o->is_stack = i % 2;
        o->loads = counted->loads[i % 2];
        o->stores = counted->stores[i % 2];
        r->n_outside++;
    }
    return 0;
}

int watch_stream_result(const struct watch_stream *s, struct watch_result *r)
{
    int err = 0;

    assert(s && s->h && r);
    *r = (struct watch_result){ .stats = *sim_hierarchy_stats(s->h), .n_buffers = s->n_buffers };
    memcpy(r->buffer, s->buffer, sizeof r->buffer);
    memcpy(r->instructions, s->instructions_in, sizeof r->instructions);
    for (const struct watch_function *f = s->functions; f && !err; f = f->next)
        err = add_outside(r, f);
    for (unsigned phase = 0; phase < SIM_MAX_PHASES; phase++)
        r->outside_lines[phase] = s->outside_lines[phase].n;
    r->masked_loads = s->masked_loads;
    return err ? err : sim_hierarchy_error(s->h);
}

const char *watch_stream_error(const struct watch_stream *s)
{
    assert(s);
    return s->error;
}
