#define _GNU_SOURCE /* memfd_create */
#include "sim/programs/cachesim_symbols.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/programs/cachesim_child.h"
#include "sim/programs/cachesim_place.h"
#include "sim/programs/cachesim_text.h"

enum {
    MAX_PATH = 4096,
    MAX_SEGMENTS = 64,
    VALGRIND_BASE = 0x108000, /* base of position-independent programs: coregrind/m_ume/elf.c of Valgrind 3.19 */
};

static const char unknown[] = "???";

/* ---- mappings ---- */

static int add_mapping(struct cachesim_mappings *m, struct cachesim_mapping one, const char *path)
{
    struct cachesim_mapping *more = realloc(m->mapping, (m->n + 1) * sizeof *more);

    if (!more)
        return -ENOMEM;
    m->mapping = more;
    one.path = strdup(path);
    if (!one.path)
        return -ENOMEM;
    m->mapping[m->n++] = one;
    return 0;
}

/* Replaces "\\012" by newlines: the kernel escapes newlines, and no other character. */
static void unescape(char *path)
{
    static const char escaped[] = "\\012";
    char *to;

    while ((to = strstr(path, escaped))) {
        *to = '\n';
        memmove(to + 1, to + sizeof escaped - 1, strlen(to + sizeof escaped - 1) + 1);
        path = to + 1;
    }
}

int cachesim_mappings_read(struct cachesim_mappings *m, FILE *maps)
{
    char line[MAX_PATH + 128];
    int err = 0;

    while (!err && fgets(line, sizeof line, maps)) {
        struct cachesim_mapping one = { 0 };
        int path = 0;

        line[strcspn(line, "\n")] = '\0';
        unescape(line);
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &one.begin, &one.end, &one.offset,
                   &path) == 3 &&
            path && line[path] == '/')
            err = add_mapping(m, one, line + path);
    }
    return err;
}

/* The loaded parts of an ELF file. */
struct segments {
    Elf64_Phdr segment[MAX_SEGMENTS];
    size_t n;         /* 0: no ELF file of 64 bits */
    bool is_anywhere; /* position-independent */
};

static struct segments read_segments(const char *path)
{
    FILE *in = fopen(path, "rb");
    struct segments s = { .n = 0 };
    Elf64_Ehdr head;
    Elf64_Phdr one;

    if (!in)
        return s;
    if (fread(&head, sizeof head, 1, in) == 1 && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
        head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_phentsize == sizeof one &&
        !fseeko(in, (off_t)head.e_phoff, SEEK_SET)) {
        s.is_anywhere = head.e_type == ET_DYN;
        for (unsigned i = 0; i < head.e_phnum && s.n < MAX_SEGMENTS && fread(&one, sizeof one, 1, in) == 1; i++) {
            if (one.p_type == PT_LOAD)
                s.segment[s.n++] = one;
        }
    }
    fclose(in);
    return s;
}

static int add_segments(struct cachesim_mappings *m, const struct segments *s, uint64_t base, const char *path)
{
    int err = 0;

    for (size_t i = 0; i < s->n && !err; i++) {
        const Elf64_Phdr *p = &s->segment[i];

        err = add_mapping(
            m, (struct cachesim_mapping){ base + p->p_vaddr, base + p->p_vaddr + p->p_filesz, p->p_offset, NULL },
            path);
    }
    return err;
}

int cachesim_mappings_add_program(struct cachesim_mappings *m, const char *path)
{
    const struct segments s = read_segments(path);

    return add_segments(m, &s, s.is_anywhere ? VALGRIND_BASE : 0, path);
}

int cachesim_mappings_add(struct cachesim_mappings *m, const char *text, struct sim_why why)
{
    const char *at = strrchr(text, '@');
    char path[MAX_PATH];
    uint64_t base = 0;
    struct segments s;
    int err;

    if (at && !cachesim_address(at + 1, &base)) { /* the '@' is part of the name */
        at = NULL;
        base = 0;
    }
    snprintf(path, sizeof path, "%.*s", at ? (int)(at - text) : (int)strlen(text), text);
    s = read_segments(path);
    if (!s.n)
        return sim_fail(why, -EINVAL, "--symbols: not a program or library of 64 bits, '%.400s'", path);
    err = add_segments(m, &s, base, path);
    return err ? sim_fail(why, err, "--symbols: out of memory") : 0;
}

void cachesim_mappings_release(struct cachesim_mappings *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->mapping[i].path);
    free(m->mapping);
    *m = (struct cachesim_mappings){ 0 };
}

static const struct cachesim_mapping *find(const struct cachesim_mappings *m, uint64_t address)
{
    for (size_t i = 0; i < m->n; i++) {
        if (address >= m->mapping[i].begin && address < m->mapping[i].end)
            return &m->mapping[i];
    }
    return NULL;
}

/* Stores the address of a byte in the file's own tables. Returns whether the byte is loaded at all. */
static bool own_address(const struct segments *s, uint64_t offset, uint64_t *address)
{
    for (size_t i = 0; i < s->n; i++) {
        const Elf64_Phdr *p = &s->segment[i];

        if (offset >= p->p_offset && offset - p->p_offset < p->p_filesz) {
            *address = offset - p->p_offset + p->p_vaddr;
            return true;
        }
    }
    return false;
}

/* ---- names ---- */

struct cachesim_names {
    char **text; /* [n], each once */
    size_t n;
};

/* Keeps a text; neighbouring texts are often equal. Returns NULL when out of memory. */
static const char *keep(struct cachesim_names *names, const char *text)
{
    char **more;

    for (size_t i = names->n; i-- > 0 && names->n - i < 64;) {
        if (!strcmp(names->text[i], text))
            return names->text[i];
    }
    more = realloc(names->text, (names->n + 1) * sizeof *more);
    if (!more)
        return NULL;
    names->text = more;
    names->text[names->n] = strdup(text);
    return names->text[names->n] ? names->text[names->n++] : NULL;
}

void cachesim_names_free(struct cachesim_names *names)
{
    for (size_t i = 0; names && i < names->n; i++)
        free(names->text[i]);
    if (names)
        free(names->text);
    free(names);
}

/* A place, and its address in its file. */
struct asked {
    struct cachesim_place *place;
    const struct cachesim_mapping *mapping;
    uint64_t address;
};

static int by_path(const void *a, const void *b)
{
    const struct asked *x = a, *y = b;
    int order = strcmp(x->mapping->path, y->mapping->path);

    return order ? order : x->address < y->address ? -1 : x->address > y->address;
}

/* Takes two lines of addr2line: "function", "file:line" with more behind; "??": unknown. */
static int take_answer(struct cachesim_names *names, struct cachesim_place *p, char *function, char *where)
{
    char *colon = strrchr(where, ':');

    function[strcspn(function, "\n")] = '\0';
    if (colon) {
        *colon = '\0';
        p->line = (unsigned)strtoul(colon + 1, NULL, 10);
    }
    if (strcmp(function, "??") != 0)
        p->function = keep(names, function);
    if (strcmp(where, "??") != 0 && p->line)
        p->file = keep(names, where);
    else
        p->line = 0;
    return p->function && p->file ? 0 : -ENOMEM;
}

/*
 * Writes the addresses into a file in memory, because addr2line reads long lists from a file. Returns the descriptor,
 * or -errno.
 */
static int list_addresses(const struct asked *a, size_t n)
{
    const int fd = memfd_create("cachesim-addresses", MFD_CLOEXEC);
    FILE *out = fd < 0 ? NULL : fdopen(dup(fd), "w");
    int err = 0;

    if (!out)
        return -errno;
    for (size_t i = 0; i < n; i++)
        fprintf(out, "0x%" PRIx64 "\n", a[i].address);
    err = ferror(out) ? -EIO : 0;
    err = fclose(out) && !err ? -errno : err;
    return err ? err : fd;
}

/* Tells whether a file is a compiler's header: an intrinsic is a part of the line with the call. */
static bool is_compilers(const char *file)
{
    return strstr(file, "/lib/gcc/") || strstr(file, "/lib/clang/");
}

/*
 * Takes answers of addr2line -a -i: after each address, the place, and the callers around inlined code. Keeps the first
 * place outside of the compiler's headers.
 */
static int take_answers(struct cachesim_names *names, const struct asked *a, size_t n, FILE *in)
{
    char function[MAX_PATH], where[MAX_PATH];
    size_t i = 0; /* places begun */
    bool is_first = false;
    int err = 0;

    while (!err && fgets(function, sizeof function, in)) {
        if (!strncmp(function, "0x", 2)) {
            i++;
            is_first = true;
            continue;
        }
        if (!fgets(where, sizeof where, in) || !i || i > n)
            break;
        if (is_first || is_compilers(a[i - 1].place->file))
            err = take_answer(names, a[i - 1].place, function, where);
        is_first = false;
    }
    return err;
}

/* Asks about places of a file. Places without an answer stay unknown. */
static int ask(struct cachesim_names *names, const struct asked *a, size_t n)
{
    char list[1 + CACHESIM_PLACE_BYTES] = "@";
    const char *argv[] = { "addr2line", "-a", "-i", "-f", "-C", "-e", a->mapping->path, list, NULL };
    struct cachesim_child child;
    const int fd = list_addresses(a, n);
    int err = fd < 0 ? fd : cachesim_child_open(&child);

    if (fd >= 0)
        cachesim_place_of_descriptor(fd, list + 1);
    if (!err)
        err =
            cachesim_child_start(&child, &(struct cachesim_start){ (char *const *)argv, CACHESIM_INTO_PIPE, -1, NULL });
    if (!err) {
        err = take_answers(names, a, n, child.in);
        cachesim_child_end(&child, false);
    }
    if (fd >= 0)
        close(fd);
    return err;
}

/* Stores the places that a file has, with the file's addresses. Returns their number. */
static size_t locate(const struct cachesim_mappings *m, struct cachesim_place *place, size_t n, struct asked *asked)
{
    struct segments segments = { .n = 0 };
    const char *path = NULL;
    size_t n_asked = 0;

    for (size_t i = 0; i < n; i++) {
        const struct cachesim_mapping *at = find(m, place[i].address);
        struct asked one = { &place[i], at, 0 };

        place[i].file = place[i].function = unknown;
        place[i].line = 0;
        place[i].loaded = at ? at->path : NULL;
        if (!at)
            continue;
        if (!path || strcmp(path, at->path) != 0)
            segments = read_segments(at->path);
        path = at->path;
        if (own_address(&segments, place[i].address - at->begin + at->offset, &one.address))
            asked[n_asked++] = one;
    }
    qsort(asked, n_asked, sizeof *asked, by_path);
    return n_asked;
}

int cachesim_symbols_find(const struct cachesim_mappings *m, struct cachesim_place *place, size_t n,
                          struct cachesim_names **names)
{
    struct asked *asked = calloc(n + 1, sizeof *asked);
    char where[MAX_PATH];
    size_t n_asked = 0, next;
    int err = 0;

    *names = calloc(1, sizeof **names);
    if (asked && *names)
        n_asked = locate(m, place, n, asked);
    else
        err = -ENOMEM;
    if (n_asked && !cachesim_place_program("addr2line", where, sizeof where)) {
        fprintf(stderr, "cachesim: lines are not named: addr2line is not installed (package binutils)\n");
        n_asked = 0;
    }
    for (size_t i = 0; i < n_asked && !err; i = next) {
        next = i + 1;
        while (next < n_asked && !strcmp(asked[next].mapping->path, asked[i].mapping->path))
            next++;
        err = ask(*names, asked + i, next - i);
    }
    free(asked);
    if (err) {
        cachesim_names_free(*names);
        *names = NULL;
    }
    return err;
}
