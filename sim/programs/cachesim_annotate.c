#define _GNU_SOURCE /* realpath */
#include "sim/programs/cachesim_annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/engine.h"
#include "sim/programs/cachesim_file.h"
#include "sim/programs/cachesim_heap.h"
#include "sim/programs/cachesim_place.h"
#include "sim/programs/cachesim_symbols.h"
#include "sim/report/json.h"

/*
 * A count of the simulation, kept for every instruction. Store misses have no count of the simulation: a store with
 * misses counts once, however many lines the store touches.
 */
struct event {
    char name[48];
    size_t at;        /* offset in struct sim_cell */
    bool is_of_store; /* counts stores that made the count grow */
};

enum { SORTS_BY = 2 }; /* the event to sort lists by: load misses of the first level */

enum { MAX_EVENTS = 4 + SIM_MAX_LEVELS * 5 + SIM_MAX_TLBS, FIRST_SLOTS = 1 << 12 };

struct instruction {
    uint64_t address, n_accesses; /* 0: the slot is free */
    uint64_t count[MAX_EVENTS];
};

/* Instructions with accesses, or with allocations. */
struct instructions {
    struct instruction *slot; /* [n_slots], found by their addresses */
    size_t n_slots, n_used;
};

struct cachesim_annotate {
    struct sim_sink sink; /* first */
    const struct cachesim_options *o;
    const struct sim_machine *machine;
    struct sim_hierarchy *h;
    struct event event[MAX_EVENTS];
    size_t n_events;
    uint64_t before[MAX_EVENTS];    /* the counts before the access */
    struct instructions own, sites; /* own: by accessing instruction; sites: by the allocating instruction, 0: none */
    struct cachesim_heap *heap;     /* NULL: nobody asks */
    uint64_t at;                    /* the address of the accessing instruction */
    uint64_t n_fetches, n_unseen;   /* n_unseen: accesses of the allocation library */
    int err;
};

/* ---- events ---- */

static void add_event(struct cachesim_annotate *a, const char *of, const char *what, size_t at, bool is_of_store)
{
    struct event *e = &a->event[a->n_events++];

    snprintf(e->name, sizeof e->name, "%.20s%s%s", of, *of ? "_" : "", what);
    e->at = at;
    e->is_of_store = is_of_store;
    for (char *c = e->name; *c; c++)
        *c = *c == ' ' ? '_' : *c;
}

#define LEVEL(k, member)                                                                                               \
    (offsetof(struct sim_cell, level) + (k) * sizeof(struct sim_level_counts) +                                        \
     offsetof(struct sim_level_counts, member))

static void choose_events(struct cachesim_annotate *a)
{
    const struct sim_machine *m = a->machine;

    add_event(a, "", "Loads", offsetof(struct sim_cell, loads), false);
    add_event(a, "", "Stores", offsetof(struct sim_cell, stores), false);
    for (size_t k = 0; k < m->n_levels; k++) {
        add_event(a, m->level[k].name, "load_misses", LEVEL(k, load_misses), false);
        add_event(a, m->level[k].name, "store_misses", k ? LEVEL(k, read_misses) : LEVEL(k, write_misses), true);
    }
    for (size_t k = 0; k < m->n_levels; k++)
        add_event(a, m->level[k].name, "write_backs", LEVEL(k, write_backs), false);
    add_event(a, "memory", "read_lines", offsetof(struct sim_cell, memory_read_lines), false);
    add_event(a, "memory", "written_lines", offsetof(struct sim_cell, memory_written_lines), false);
    for (size_t k = 0; k < m->n_levels; k++) {
        if (!m->level[k].prefetch[0].kind)
            continue;
        add_event(a, m->level[k].name, "late_prefetches", LEVEL(k, late_prefetches), false);
        add_event(a, m->level[k].name, "useless_prefetches", LEVEL(k, useless_prefetches), false);
    }
    for (size_t i = 0; i < m->n_tlbs; i++)
        add_event(a, m->tlb[i].name, "TLB_misses",
                  offsetof(struct sim_cell, tlb) + i * sizeof(struct sim_tlb_counts) +
                      offsetof(struct sim_tlb_counts, misses),
                  false);
}

/* ---- counting ---- */

static struct instruction *find(struct instruction *slot, size_t n_slots, uint64_t address)
{
    size_t i = (size_t)(address * 0x9e3779b97f4a7c15u >> 20) & (n_slots - 1);

    while (slot[i].n_accesses && slot[i].address != address)
        i = (i + 1) & (n_slots - 1);
    slot[i].address = address;
    return &slot[i];
}

/* Makes room: half of the slots stay free. */
static int grow(struct instructions *x)
{
    const size_t n = x->n_slots ? 2 * x->n_slots : FIRST_SLOTS;
    struct instruction *slot;

    if (2 * (x->n_used + 1) <= x->n_slots)
        return 0;
    slot = calloc(n, sizeof *slot);
    if (!slot)
        return -ENOMEM;
    for (size_t i = 0; i < x->n_slots; i++) {
        if (x->slot[i].n_accesses)
            *find(slot, n, x->slot[i].address) = x->slot[i];
    }
    free(x->slot);
    x->slot = slot;
    x->n_slots = n;
    return 0;
}

/* Returns the counts of an address. There is room. */
static uint64_t *counts_of(struct instructions *x, uint64_t address)
{
    struct instruction *at = find(x->slot, x->n_slots, address);

    x->n_used += !at->n_accesses++;
    return at->count;
}

/* Simulates an access, and adds the growth of the counts to the access's instruction. */
static void make_access(struct cachesim_annotate *a, const struct sim_run *access)
{
    const struct sim_cell *cell = &sim_hierarchy_stats(a->h)->cell[0][0];
    uint64_t site = 0, *own, *sites;

    if (a->heap && !cachesim_heap_take(a->heap, access->addr, &site, &a->err)) {
        a->n_unseen++;
        return;
    }
    a->err = a->err ? a->err : grow(&a->own);
    a->err = a->err ? a->err : grow(&a->sites);
    if (a->err)
        return;
    sim_emit(sim_hierarchy_sink(a->h), access, 1, 1);
    own = counts_of(&a->own, a->at);
    sites = counts_of(&a->sites, site);
    for (size_t i = 0; i < a->n_events; i++) {
        const struct event *e = &a->event[i];
        uint64_t now = *(const uint64_t *)((const char *)cell + e->at), more = now - a->before[i];

        a->before[i] = now;
        if (e->is_of_store)
            more = more > 0 && (access->kind == SIM_STORE || access->kind == SIM_STORE_NT);
        own[i] += more;
        sites[i] += more;
    }
}

static void take_run(struct cachesim_annotate *a, struct sim_run run)
{
    const bool is_fetch = run.tag == a->o->reader.fetch_tag;
    uint32_t n = run.count;

    run.count = 1;
    run.tag = run.phase = 0;
    for (; n; n--, run.addr += (uint64_t)run.stride_bytes) {
        a->at = is_fetch ? run.addr : a->at;
        a->n_fetches += is_fetch;
        if (!is_fetch || a->o->simulates_fetches)
            make_access(a, &run);
    }
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct cachesim_annotate *a = (struct cachesim_annotate *)self;

    for (uint64_t t = 0; t < n_times; t++) {
        for (size_t i = 0; i < n_runs; i++) {
            struct sim_run one = run[i];

            one.addr += t * (uint64_t)one.step_bytes;
            take_run(a, one);
        }
    }
}

int cachesim_annotate_new(struct cachesim_annotate **a, const struct sim_machine *m, const struct cachesim_options *o)
{
    int err;

    *a = calloc(1, sizeof **a);
    if (!*a)
        return -ENOMEM;
    (*a)->sink.accept = accept;
    (*a)->o = o;
    (*a)->machine = m;
    choose_events(*a);
    err = o->heap ? cachesim_heap_new(&(*a)->heap) : 0;
    /* Only the full engine has its counts at hand after every access. */
    if (!err)
        err = sim_engine_new(&(*a)->h, &sim_engine_full, m);
    if (err) {
        cachesim_heap_free((*a)->heap);
        free(*a);
        *a = NULL;
    }
    return err;
}

void cachesim_annotate_free(struct cachesim_annotate *a)
{
    if (!a)
        return;
    sim_hierarchy_free(a->h);
    cachesim_heap_free(a->heap);
    free(a->own.slot);
    free(a->sites.slot);
    free(a);
}

struct sim_sink *cachesim_annotate_sink(struct cachesim_annotate *a)
{
    return &a->sink;
}

struct sim_hierarchy *cachesim_annotate_hierarchy(struct cachesim_annotate *a)
{
    return a->h;
}

const int *cachesim_annotate_error(const struct cachesim_annotate *a)
{
    return &a->err;
}

uint64_t cachesim_annotate_n_fetches(const struct cachesim_annotate *a)
{
    return (a->o->simulates_fetches ? 0 : a->n_fetches) + a->n_unseen;
}

const char *cachesim_annotate_heap(const struct cachesim_annotate *a)
{
    return a->heap ? cachesim_heap_path(a->heap) : NULL;
}

bool cachesim_annotate_is_heard(const struct cachesim_annotate *a)
{
    return !a->heap || cachesim_heap_is_heard(a->heap);
}

/* ---- the file ---- */

static int by_place(const void *x, const void *y)
{
    const struct cachesim_place *a = x, *b = y;
    int order = strcmp(a->file, b->file);

    order = order ? order : strcmp(a->function, b->function);
    return order ? order : a->line < b->line ? -1 : a->line > b->line;
}

static bool is_same_line(const struct cachesim_place *a, const struct cachesim_place *b)
{
    return a->line == b->line && !strcmp(a->file, b->file) && !strcmp(a->function, b->function);
}

static void print_counts(const struct cachesim_annotate *a, const uint64_t *count, FILE *out)
{
    for (size_t i = 0; i < a->n_events; i++)
        fprintf(out, " %" PRIu64, count[i]);
    fprintf(out, "\n");
}

static void print_word(const char *text, FILE *out)
{
    fputc(' ', out);
    sim_line_text(text, out);
}

static void print_record(const char *key, const char *value, FILE *out)
{
    fputs(key, out);
    sim_line_text(value, out);
    fputc('\n', out);
}

static void print_head(const struct cachesim_annotate *a, bool is_callgrind, FILE *out)
{
    if (is_callgrind)
        fprintf(out, "# callgrind format\nversion: 1\ncreator: cachesim\npositions: line\n");
    fprintf(out, "desc: caches of %s, simulated by cachesim\n", a->machine->name);
    fprintf(out, "cmd:");
    if (!a->o->program)
        print_word(a->o->trace, out);
    for (char *const *word = a->o->program; word && *word; word++)
        print_word(*word, out);
    fprintf(out, "\nevents:");
    for (size_t i = 0; i < a->n_events; i++)
        fprintf(out, " %s", a->event[i].name);
    fprintf(out, "\n");
}

/* Prints the lines; instructions of a line are neighbours now. */
static void print_lines(const struct cachesim_annotate *a, const struct instructions *x,
                        const struct cachesim_place *place, bool is_callgrind, FILE *out)
{
    uint64_t total[MAX_EVENTS] = { 0 };
    size_t next;

    for (size_t i = 0; i < x->n_used; i = next) {
        const bool is_file = !i || strcmp(place[i].file, place[i - 1].file) != 0;
        uint64_t sum[MAX_EVENTS] = { 0 };

        for (next = i; next < x->n_used && is_same_line(&place[i], &place[next]); next++) {
            const struct instruction *at = find(x->slot, x->n_slots, place[next].address);

            for (size_t e = 0; e < a->n_events; e++) {
                sum[e] += at->count[e];
                total[e] += at->count[e];
            }
        }
        if (is_file)
            print_record("fl=", place[i].file, out);
        if (is_file || strcmp(place[i].function, place[i - 1].function) != 0)
            print_record("fn=", place[i].function, out);
        fprintf(out, "%u", place[i].line);
        print_counts(a, sum, out);
    }
    fprintf(out, is_callgrind ? "totals:" : "summary:");
    print_counts(a, total, out);
}

/* Names the written file, and the next command to type. */
static void say_next(const struct cachesim_annotate *a, const char *path)
{
    fputs("cachesim: ", stderr);
    sim_line_text(path, stderr);
    fputs(" is written; next: ", stderr);
    if (path == a->o->callgrind)
        fputs("callgrind_annotate ", stderr);
    else
        fprintf(stderr, "cg_annotate --sort=%s ", a->event[SORTS_BY].name);
    sim_line_text(path, stderr);
    fprintf(stderr, ", or kcachegrind; it lists %s\n",
            path == a->o->heap ? "what misses by the line that allocated it" : "the lines that miss");
}

/* Tells whether instructions of a file were seen, and no source line of any is known. */
static bool is_without_lines(const struct cachesim_place *place, size_t n, const char *path)
{
    bool is_seen = false;

    for (size_t i = 0; i < n; i++) {
        const bool is_of_it = place[i].loaded && !strcmp(place[i].loaded, path);

        if (is_of_it && place[i].line)
            return false;
        is_seen |= is_of_it;
    }
    return is_seen;
}

/* Names the programs without known source lines: the program that was run, or the files of --symbols. */
static void say_without_lines(const struct cachesim_annotate *a, const struct cachesim_mappings *m,
                              const struct cachesim_place *place, size_t n)
{
    char program[4096], whole[PATH_MAX];
    const char *last = "";

    if (!a->o->program || !cachesim_place_program(a->o->program[0], program, sizeof program))
        *program = '\0';
    if (!*program || !realpath(program, whole))
        *whole = '\0';
    if (!m->n)
        fprintf(stderr, "cachesim: no source line is known: --symbols FILE names the program of the trace\n");
    for (size_t i = 0; i < m->n; i++) {
        const char *path = m->mapping[i].path;
        const bool is_asked = !*program || !strcmp(path, program) || !strcmp(path, whole);

        if (!is_asked || !strcmp(path, last) || !is_without_lines(place, n, path))
            continue;
        last = path;
        fputs("cachesim: no source line is known of ", stderr);
        sim_line_text(path, stderr);
        fputs(": it is stripped, or was built without debugging information (cc -g)\n", stderr);
    }
}

static int write_file(const struct cachesim_annotate *a, const struct instructions *x,
                      const struct cachesim_place *place, const char *path, struct sim_why why)
{
    const bool is_callgrind = path == a->o->callgrind;
    struct cachesim_file file;
    int err = path ? cachesim_file_open(&file, path) : 0;

    if (path && !err) {
        print_head(a, is_callgrind, file.out);
        print_lines(a, x, place, is_callgrind, file.out);
        err = cachesim_file_commit(&file);
    }
    if (err)
        sim_fail(why, err, "%.400s, %s", path, strerror(-err));
    else if (path)
        say_next(a, path);
    return err;
}

/* Finds the mappings of the program's files: as noted during the run, or as the user says. */
static int find_mappings(struct cachesim_mappings *m, const struct cachesim_options *o, FILE *maps, struct sim_why why)
{
    char program[4096];
    int err = maps ? cachesim_mappings_read(m, maps) : 0;

    if (!err && !m->n && o->program && cachesim_place_program(o->program[0], program, sizeof program))
        err = cachesim_mappings_add_program(m, program);
    if (err)
        sim_fail(why, err, "--annotate: out of memory");
    for (size_t i = 0; i < o->n_symbols && !err; i++)
        err = cachesim_mappings_add(m, o->symbols[i], why);
    return err;
}

/* Names instructions, and orders the instructions by their names. Returns 0 or -errno, and places from malloc. */
static int find_places(const struct cachesim_mappings *m, const struct instructions *x, struct cachesim_place **places,
                       struct cachesim_names **names)
{
    struct cachesim_place *place = calloc(x->n_used + 1, sizeof *place);
    size_t n = 0;
    int err;

    *places = place;
    if (!place)
        return -ENOMEM;
    for (size_t i = 0; i < x->n_slots; i++) {
        if (x->slot[i].n_accesses)
            place[n++].address = x->slot[i].address;
    }
    err = cachesim_symbols_find(m, place, n, names);
    if (!err)
        qsort(place, n, sizeof *place, by_place);
    return err;
}

/* Writes the files of some instructions: in cachegrind's format, and in callgrind's; NULL: not. */
static int write_files(const struct cachesim_annotate *a, const struct instructions *x,
                       const struct cachesim_mappings *m, const char *const path[2], struct sim_why why)
{
    struct cachesim_place *place = NULL;
    struct cachesim_names *names = NULL;
    int err = find_places(m, x, &place, &names);

    if (err)
        sim_fail(why, err, "--annotate: %s", strerror(-err));
    if (!err && x == &a->own)
        say_without_lines(a, m, place, x->n_used);
    for (int i = 0; i < 2 && !err; i++)
        err = write_file(a, x, place, path[i], why);
    cachesim_names_free(names);
    free(place);
    return err;
}

int cachesim_annotate_write(struct cachesim_annotate *a, FILE *maps, struct sim_why why)
{
    const char *const by_line[] = { a->o->annotate, a->o->callgrind }, *const by_site[] = { a->o->heap, NULL };
    struct cachesim_mappings mappings = { 0 };
    int err = find_mappings(&mappings, a->o, maps, why);

    if (!err && (by_line[0] || by_line[1]))
        err = write_files(a, &a->own, &mappings, by_line, why);
    if (!err && by_site[0])
        err = write_files(a, &a->sites, &mappings, by_site, why);
    cachesim_mappings_release(&mappings);
    return err;
}
