#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/watch/watch.h"
#include "sim/trace/trace_reader.h"

enum { FIRST_ROOM = 1 << 12 };

static void append(void *list, const struct sim_access *a)
{
    struct watch_list *l = list;

    if (a->kind == SIM_PREFETCH && !l->takes_prefetches)
        return;
    if (l->n == l->room && !l->err) {
        const size_t room = l->room ? 2 * l->room : FIRST_ROOM;
        struct sim_access *access = realloc(l->access, room * sizeof *access);

        l->err = access ? 0 : -ENOMEM;
        l->access = access ? access : l->access;
        l->room = access ? room : l->room;
    }
    if (!l->err)
        l->access[l->n++] = *a;
}

void watch_list_init(struct watch_list *l, bool takes_prefetches)
{
    assert(l);
    *l = (struct watch_list){ .takes_prefetches = takes_prefetches };
    sim_expander_init(&l->expander, append, l);
}

void watch_list_release(struct watch_list *l)
{
    free(l->access);
    *l = (struct watch_list){ .n = 0 };
}

int watch_list_read(struct watch_list *l, const char *path, struct sim_why why)
{
    const struct sim_trace_options options = { .format = SIM_TRACE_BINARY };
    struct sim_run run[SIM_MAX_BURST_RUNS];
    struct sim_trace_reader *reader = NULL;
    FILE *in = fopen(path, "rb");
    size_t n = 0;
    int err = in ? sim_trace_reader_new(&reader, in, path, &options) : -errno;

    assert(l);
    if (err)
        sim_fail(why, err, "cannot open '%s': %s", path, strerror(-err));
    while (!err && !(err = sim_trace_reader_next(reader, run, SIM_MAX_BURST_RUNS, &n, why.text, why.bytes)) && n)
        sim_emit(&l->expander.sink, run, n, 1);
    if (!err && l->err) {
        err = l->err;
        sim_fail(why, err, "'%s': %s", path, strerror(-err));
    }
    sim_trace_reader_free(reader);
    if (in)
        fclose(in);
    return err;
}
