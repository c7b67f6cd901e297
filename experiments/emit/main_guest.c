/*
 * The program that is watched while generated code runs: it loads a shared object, lays out tensors, and calls a
 * function between markers, for the observer plugin of QEMU (counters/watch/emulator_plugin.c).
 *
 *     code-guest CODE=file.so FUNCTION=name LAYOUT=0:4096,4096:512,... OUT=file
 *
 * LAYOUT has offset and bytes of every tensor, in the order of enum conv_tensor, as the plan lays them out. FUNCTION's
 * filters are packed before by FUNCTION_pack_filters, if the object has it. OUT is the observer's: OUT tells that an
 * observer is there. The function's own allocations are observed as the tensor that no SConv has, CONV_IM2COL.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "counters/watch/marker.h"
#include "counters/watch/watch.h"
#include "kernels/plan/plan.h"

enum { EXIT_BAD_INPUT = 2, STACK_BELOW = 8 << 20, STACK_ABOVE = 1 << 16, FILTERS_SEED = 5 };

#define HEAP_BYTES ((size_t)1 << 30) /* reserved; the system provides the touched pages only */

typedef void (*code_fn)(const float *input, const float *filter, float *packed_filter, float *packed_input,
                        float *output);
typedef void (*pack_fn)(const float *filter, float *packed_filter);

/* ---- allocations of generated code ---- */

/* glibc's own, below malloc and free. */
void *__libc_malloc(size_t bytes);
void __libc_free(void *p);

static struct {
    bool is_open;
    unsigned char *start;
    size_t used, n_live;
} heap;

/* Blocks lie in a row. When no block is left, the first begins again at the start of the heap. */
void *malloc(size_t bytes)
{
    const size_t line = 64, room = (bytes + line - 1) / line * line;
    void *p;

    if (!heap.is_open)
        return __libc_malloc(bytes);
    if (room > HEAP_BYTES - heap.used)
        return NULL;
    p = heap.start + heap.used;
    heap.used += room;
    heap.n_live++;
    return p;
}

void free(void *p)
{
    if (!heap.start || (uintptr_t)p - (uintptr_t)heap.start >= HEAP_BYTES) {
        __libc_free(p);
        return;
    }
    if (!--heap.n_live)
        heap.used = 0;
}

/* ---- the command line ---- */

struct options {
    const char *code, *function, *layout, *out;
};

struct tensors {
    size_t offset[CONV_N_TENSORS], bytes[CONV_N_TENSORS], all;
    unsigned char *arena;
};

static int fail(const char *what, const char *value)
{
    fprintf(stderr, "code-guest: %s: '%s'\n", what, value);
    return -EINVAL;
}

static int read_options(struct options *o, int argc, char **argv)
{
    const struct {
        const char *name;
        const char **value;
    } known[] = {
        { "CODE=", &o->code }, { "FUNCTION=", &o->function }, { "LAYOUT=", &o->layout }, { "OUT=", &o->out }
    };
    const size_t n = sizeof known / sizeof known[0];

    for (int i = 1; i < argc; i++) {
        size_t k = 0;

        while (k < n && strncmp(argv[i], known[k].name, strlen(known[k].name)) != 0)
            k++;
        if (k == n)
            return fail("unknown option", argv[i]);
        *known[k].value = argv[i] + strlen(known[k].name);
    }
    for (size_t k = 0; k < n; k++) {
        if (!*known[k].value)
            return fail("missing", known[k].name);
    }
    return 0;
}

/* Reads a number and the character behind it. */
static bool read_number(const char **text, size_t *number, char behind)
{
    char *end;

    errno = 0;
    *number = (size_t)strtoumax(*text, &end, 10);
    if (errno || end == *text || **text == '-' || *end != behind)
        return false;
    *text = end + 1;
    return true;
}

static int read_layout(struct tensors *t, const char *text)
{
    const char *rest = text;

    for (size_t i = 0; i < CONV_N_TENSORS; i++) {
        if (!read_number(&rest, &t->offset[i], ':') ||
            !read_number(&rest, &t->bytes[i], i + 1 < CONV_N_TENSORS ? ',' : '\0') ||
            t->bytes[i] > SIZE_MAX - t->offset[i])
            return fail("LAYOUT must be offset:bytes of every tensor, not", text);
        if (t->offset[i] + t->bytes[i] > t->all)
            t->all = t->offset[i] + t->bytes[i];
    }
    return 0;
}

/* ---- tensors ---- */

static float *tensor(const struct tensors *t, enum conv_tensor which)
{
    return (float *)(void *)(t->arena + t->offset[which]);
}

static void fill(const struct tensors *t, enum conv_tensor which, unsigned seed)
{
    for (size_t i = 0; i < t->bytes[which] / sizeof(float); i++) {
        seed = seed * 1664525u + 1013904223u;
        tensor(t, which)[i] = (float)(seed >> 29) - 4;
    }
}

static int allocate(struct tensors *t)
{
    void *arena = NULL,
         *own = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (own == MAP_FAILED || posix_memalign(&arena, CONV_ARENA_ALIGN, t->all))
        return fail("out of memory for tensors and heap", "");
    heap.start = own;
    t->arena = arena;
    memset(arena, 0, t->all);
    fill(t, CONV_INPUT, 1);
    fill(t, CONV_FILTER, FILTERS_SEED);
    return 0;
}

static void mark_memory(const struct tensors *t)
{
    uint64_t here = (uintptr_t)__builtin_frame_address(0);

    for (unsigned i = 0; i < CONV_N_TENSORS; i++) {
        if (t->bytes[i])
            watch_mark_buffer(i, (uintptr_t)t->arena + t->offset[i], t->bytes[i]);
    }
    watch_mark_buffer(CONV_IM2COL, (uintptr_t)heap.start, HEAP_BYTES);
    watch_mark_stack(here - STACK_BELOW, STACK_BELOW + STACK_ABOVE);
}

/* ---- running ---- */

static int run(const struct options *o, const struct tensors *t)
{
    void *library = dlopen(o->code, RTLD_NOW | RTLD_LOCAL), *found = library ? dlsym(library, o->function) : NULL;
    char packer[256];
    code_fn code;
    pack_fn pack;

    if (!found)
        return fail("cannot be loaded", dlerror());
    memcpy(&code, &found, sizeof code);
    snprintf(packer, sizeof packer, "%s_pack_filters", o->function);
    found = dlsym(library, packer);
    memcpy(&pack, &found, sizeof pack);
    if (found)
        pack(tensor(t, CONV_FILTER), tensor(t, CONV_PACKED_FILTER));
    mark_memory(t);
    heap.is_open = true;
    watch_mark_begin(CONV_PHASE_UKR);
    code(tensor(t, CONV_INPUT), tensor(t, CONV_FILTER), tensor(t, CONV_PACKED_FILTER), tensor(t, CONV_PACKED_INPUT),
         tensor(t, CONV_OUTPUT));
    watch_mark_end();
    heap.is_open = false;
    return 0;
}

int main(int argc, char **argv)
{
    struct options o = { "", "", "", "" };
    struct tensors t = { .arena = NULL };
    char why[256] = "";
    int err = read_options(&o, argc, argv);

    if (!err)
        err = read_layout(&t, o.layout);
    if (!err && watch_find(&(struct watch_files){ .out = o.out }, SIM_WHY(why)))
        err = fail("not watched", why);
    if (!err)
        err = allocate(&t);
    if (!err)
        err = run(&o, &t);
    return err ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}
