#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/watch/watch.h"

/* The head of a result's file: a name with a version, and the size of the rest. */
struct head {
    char name[8];
    uint64_t bytes;
};

static const struct head head_of_result = { "watch 4", sizeof(struct watch_result) };

int watch_result_write(const struct watch_result *r, const char *path, struct sim_why why)
{
    FILE *out = fopen(path, "wb");
    int err = out ? 0 : -errno;

    assert(r && path);
    if (out && (fwrite(&head_of_result, sizeof head_of_result, 1, out) != 1 || fwrite(r, sizeof *r, 1, out) != 1))
        err = -EIO;
    if (out && fclose(out) && !err)
        err = -errno;
    if (!err)
        return 0;
    remove(path);
    return sim_fail(why, err, "cannot write '%s': %s", path, strerror(-err));
}

/* Tells whether the counts of a result stay within the result's arrays. */
static bool is_sound(const struct watch_result *r)
{
    bool is =
        r->n_buffers <= WATCH_MAX_BUFFERS && r->n_outside <= WATCH_MAX_OUTSIDE && r->stats.n_levels <= SIM_MAX_LEVELS;

    for (size_t i = 0; is && i < r->n_buffers; i++)
        is = r->buffer[i].tag < SIM_USUAL_TAGS;
    for (size_t i = 0; is && i < r->n_outside; i++)
        is = r->outside[i].phase < SIM_MAX_PHASES && memchr(r->outside[i].function, '\0', WATCH_NAME_BYTES);
    return is;
}

int watch_result_read(struct watch_result *r, const char *path, struct sim_why why)
{
    struct head head = { .name = "" };
    FILE *in = fopen(path, "rb");
    bool is_whole;

    assert(r && path);
    if (!in)
        return sim_fail(why, -errno, "%s: cannot open, %s", path, strerror(errno));
    is_whole = fread(&head, sizeof head, 1, in) == 1 && !memcmp(&head, &head_of_result, sizeof head) &&
               fread(r, sizeof *r, 1, in) == 1 && fgetc(in) == EOF && is_sound(r);
    fclose(in);
    return is_whole ? 0 : sim_fail(why, -EINVAL, "%s: is no whole result of this version", path);
}

const struct watch_buffer *watch_result_buffer(const struct watch_result *r, unsigned tag)
{
    assert(r);
    for (size_t i = 0; i < r->n_buffers; i++) {
        if (r->buffer[i].tag == tag)
            return &r->buffer[i];
    }
    return NULL;
}

/* ---- regions ---- */

int watch_region_open(struct watch_region *r, const struct watch_files *f, const struct watch_rule *rule,
                      size_t n_rules, struct sim_why why)
{
    struct sim_machine m;
    int err = sim_machine_read(&m, f->machine, why.text, why.bytes);

    assert(r && f->out && f->trace);
    *r = (struct watch_region){ .out = f->out };
    if (err)
        return err;
    if (*f->trace) {
        r->trace_file = fopen(f->trace, "wb");
        if (!r->trace_file)
            return sim_fail(why, -EINVAL, "%s: %s", strerror(errno), f->trace);
        sim_trace_init_as(&r->trace, r->trace_file, SIM_TRACE_BINARY);
    }
    err = watch_stream_new(&r->stream, &m, rule, n_rules, r->trace_file ? sim_trace_sink(&r->trace) : NULL);
    return err ? sim_fail(why, err, "out of memory") : 0;
}

static int close_trace(struct watch_region *r)
{
    int err = sim_trace_close(&r->trace);

    return fclose(r->trace_file) && !err ? -errno : err;
}

int watch_region_close(struct watch_region *r, bool sees_outside, struct sim_why why)
{
    struct watch_result *seen = malloc(sizeof *seen);
    int err = seen ? watch_stream_result(r->stream, seen) : -ENOMEM;

    if (err)
        sim_fail(why, err, "out of memory");
    if (!err && r->trace_file && (err = close_trace(r)))
        sim_fail(why, err, "cannot write the trace: %s", strerror(-err));
    if (!err && !sees_outside)
        seen->n_outside = 0;
    if (!err)
        err = watch_result_write(seen, r->out, why);
    free(seen);
    return err;
}
