/*
 * A block buffer under two loops: lines for the text formats, records for the binary format. The rest of a block, an
 * unfinished line or record, moves to the front before the next block is read behind.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/foreign.h"
#include "sim/base/why.h"
#include "sim/trace/trace_lines.h"
#include "sim/trace/trace_reader.h"

enum {
    USUAL_BLOCK_BYTES = 1 << 18,
    LEAST_BLOCK_BYTES = 64,
    VALUE_CHARS = 40, /* of an offending value that a message shows */
    SAID_CHARS = 160, /* length kept of a Valgrind line */
};

_Static_assert((int)LEAST_BLOCK_BYTES >= (int)SIM_BINARY_MAX_RECORD_BYTES, "a record must fit");

static const char cut_short[] = "cut short: the last line does not end with a newline (if it is whole, add one)";

struct sim_trace_reader {
    FILE *in;
    char *name;
    struct sim_trace_options options;
    struct sim_trace_counts counts;
    char *block; /* [block_bytes] */
    size_t block_bytes;
    size_t at;      /* bytes of the block consumed */
    size_t filled;  /* bytes of the block read */
    uint64_t base;  /* offset of block[0] in the file */
    uint64_t line;  /* number of the last line taken */
    bool is_last;   /* nothing comes after this block */
    bool is_done;   /* the binary trace's end was read, or an error met */
    bool has_begun; /* the file's first bytes were looked at */
    struct sim_binary binary;
    char said[SAID_CHARS + 1]; /* sim_trace_reader_said */
    struct sim_why why;
};

static bool are_valid(const struct sim_trace_options *o)
{
    return (unsigned)o->format < SIM_N_TRACE_FORMATS && o->fetch_tag < SIM_USUAL_TAGS &&
           o->din_bytes <= SIM_TRACE_MAX_BYTES && (!o->block_bytes || o->block_bytes >= LEAST_BLOCK_BYTES);
}

int sim_trace_reader_new(struct sim_trace_reader **out, FILE *in, const char *name, const struct sim_trace_options *o)
{
    struct sim_trace_reader *r;

    *out = NULL;
    if (!are_valid(o))
        return -EINVAL;
    r = calloc(1, sizeof *r);
    if (!r)
        return -ENOMEM;
    r->in = in;
    r->options = *o;
    r->block_bytes = o->block_bytes ? o->block_bytes : USUAL_BLOCK_BYTES;
    r->block = malloc(r->block_bytes);
    r->name = strdup(name);
    if (!r->block || !r->name) {
        sim_trace_reader_free(r);
        return -ENOMEM;
    }
    *out = r;
    return 0;
}

void sim_trace_reader_free(struct sim_trace_reader *r)
{
    if (!r)
        return;
    free(r->block);
    free(r->name);
    free(r);
}

struct sim_trace_counts sim_trace_reader_counts(const struct sim_trace_reader *r)
{
    return r->counts;
}

const char *sim_trace_reader_said(const struct sim_trace_reader *r)
{
    return r->said;
}

uint64_t sim_trace_reader_bytes(const struct sim_trace_reader *r)
{
    return r->base + r->at;
}

/* ---- messages ---- */

/* Reports "name:line: what, 'value'"; the value is the rest of the line, as far as printable. */
static int report_line(struct sim_trace_reader *r, const char *what, const char *at, const char *end)
{
    char value[VALUE_CHARS + 4];
    size_t n = 0;

    for (; at < end && n < VALUE_CHARS; at++)
        value[n++] = *at >= ' ' && *at <= '~' ? *at : '?';
    memcpy(value + n, at < end ? "..." : "", at < end ? 4 : 1);
    return sim_fail(r->why, -EINVAL, "%s:%" PRIu64 ": %s, '%s'", r->name, r->line, what, value);
}

/*
 * Reports a line or a part of a line: names a foreign byte (foreign.h) if there is one; otherwise gives the caller's
 * reason.
 */
static int report_text(struct sim_trace_reader *r, const char *what, const char *at, const char *start, const char *end)
{
    const char *foreign;

    while (end > start && end[-1] == '\r')
        end--;
    foreign = sim_foreign_byte(start, end, &at);
    return report_line(r, foreign ? foreign : what, at, end);
}

static int report_byte(struct sim_trace_reader *r, uint64_t offset, const char *what, uint64_t value)
{
    return sim_fail(r->why, -EINVAL, "%s:byte %" PRIu64 ": %s, %" PRIu64, r->name, offset, what, value);
}

/* ---- blocks ---- */

/* Moves the rest to the front and fills up behind. */
static int fill(struct sim_trace_reader *r)
{
    memmove(r->block, r->block + r->at, r->filled - r->at);
    r->base += r->at;
    r->filled -= r->at;
    r->at = 0;
    while (!r->is_last && r->filled < r->block_bytes) {
        errno = 0;
        r->filled += fread(r->block + r->filled, 1, r->block_bytes - r->filled, r->in);
        if (ferror(r->in))
            return sim_fail(r->why, errno ? -errno : -EIO, "%s: cannot read after %" PRIu64 " bytes, %s", r->name,
                            r->base + r->filled, strerror(errno ? errno : EIO));
        r->is_last = feof(r->in);
    }
    return 0;
}

/* Drops a line that is longer than a block: a comment, or a line in which Valgrind repeats the program's arguments. */
static int skip_long_line(struct sim_trace_reader *r)
{
    const struct sim_line l = { .at = r->block, .end = r->block + r->filled, .options = &r->options };
    const char *at = r->block, *newline;

    if (!sim_line_is_skipped(&l)) {
        const char *foreign = sim_foreign_byte(l.at, l.end, &at);
        char what[128];

        snprintf(what, sizeof what, "line too long%s%s", foreign ? ": " : "", foreign ? foreign : "");
        return report_line(r, what, at, l.end);
    }
    do {
        int err;

        r->at = r->filled;
        err = fill(r);
        if (err)
            return err;
        newline = memchr(r->block, '\n', r->filled);
    } while (!newline && r->filled);
    if (!newline)
        return report_line(r, cut_short, r->block, r->block);
    r->at = (size_t)(newline - r->block) + 1;
    r->counts.valgrind_lines += r->options.format == SIM_TRACE_LACKEY;
    return 0;
}

/*
 * Finds the next line: l->at to l->end; l->at is NULL at the end of the trace. Carriage returns of foreign systems
 * before the newline are overwritten by the newline.
 */
static int next_line(struct sim_trace_reader *r, struct sim_line *l)
{
    for (;;) {
        const char *start = r->block + r->at;
        char *newline = memchr(start, '\n', r->filled - r->at);
        bool is_full = r->at == 0 && r->filled == r->block_bytes;
        int err = 0;

        if (newline) {
            r->line++;
            r->at = (size_t)(newline - r->block) + 1;
            while (newline > start && newline[-1] == '\r')
                *--newline = '\n';
            l->at = start;
            l->end = newline;
            return 0;
        }
        if (is_full) {
            r->line++;
            err = skip_long_line(r);
        } else if (!r->is_last) {
            err = fill(r);
        } else if (r->at < r->filled) {
            r->line++;
            return report_text(r, cut_short, start, start, r->block + r->filled);
        } else {
            l->at = NULL;
            return 0;
        }
        if (err)
            return err;
    }
}

static bool must_tell_end(const struct sim_trace_reader *r)
{
    return r->options.is_whole_run && r->options.format == SIM_TRACE_LACKEY;
}

/* Keeps the first line of Valgrind's words behind the last access. */
static void listen(struct sim_trace_reader *r, const char *start, const struct sim_line *l)
{
    const char *words = start + 2 + strcspn(start + 2, "=-*\n") + 2;

    if (!l->is_valgrinds && start < l->end)
        *r->said = '\0';
    if (l->is_valgrinds && !*r->said && words < l->end)
        snprintf(r->said, sizeof r->said, "%.*s", (int)(l->end - words - 1), words + 1);
}

/* Reports a line that could not be scanned. In the trace of a run, the line is kept as Valgrind's words. */
static int report_scan(struct sim_trace_reader *r, const char *start, const struct sim_line *l)
{
    if (must_tell_end(r))
        snprintf(r->said, sizeof r->said, "%.*s", (int)(l->end - start), start);
    return report_text(r, l->what, l->at, start, l->end);
}

static int begin_lines(struct sim_trace_reader *r)
{
    static const char binary[] = "\x89"
                                 "CST";
    const int err = fill(r);
    const size_t n = r->filled < SIM_FOREIGN_HEAD_BYTES ? r->filled : SIM_FOREIGN_HEAD_BYTES;
    const struct sim_foreign *f = sim_foreign_find(r->block, n);
    const char *kind = f ? f->what : NULL;

    r->has_begun = true;
    if (n >= sizeof binary - 1 && !memcmp(r->block, binary, sizeof binary - 1))
        kind = "a binary trace (--format binary)";
    r->at = sim_mark_bytes(r->block, n);
    return err || !kind ? err
                        : sim_fail(r->why, -EINVAL, "%s:1: no trace of format %s: it is %s", r->name,
                                   sim_trace_format_name(r->options.format), kind);
}

static int next_lines(struct sim_trace_reader *r, struct sim_run *run, size_t max, size_t *n)
{
    struct sim_line l = { .options = &r->options, .counts = &r->counts };
    int err = r->has_begun ? 0 : begin_lines(r);

    while (!err && *n + SIM_MAX_LINE_RUNS <= max && !r->is_done) {
        const char *start;

        err = next_line(r, &l);
        start = l.at;
        if (err)
            break;
        if (!start && must_tell_end(r) && !*n)
            return sim_fail(r->why, -EINVAL, "%s:%" PRIu64 ": cut short: the program's end is missing", r->name,
                            r->line);
        if (!start)
            break;
        if (sim_line_scan(&l))
            return report_scan(r, start, &l);
        if (must_tell_end(r))
            listen(r, start, &l);
        for (size_t i = 0; i < l.n_runs; i++)
            run[(*n)++] = l.run[i];
        r->is_done = l.is_end && must_tell_end(r);
    }
    r->counts.accesses += *n;
    return err;
}

static int take_header(struct sim_trace_reader *r)
{
    struct sim_binary_error e;
    int err = fill(r);
    const struct sim_foreign *kind = sim_foreign_find(r->block, r->filled);

    if (err)
        return err;
    if (kind)
        return sim_fail(r->why, -EINVAL, "%s:byte 0: not a binary trace: it is %s", r->name, kind->what);
    if (r->filled < SIM_BINARY_HEADER_BYTES)
        return report_byte(r, r->filled, "cut short within the header; bytes there", r->filled);
    if (sim_binary_get_header((const uint8_t *)r->block, &e))
        return report_byte(r, 0, e.what, e.value);
    r->at = SIM_BINARY_HEADER_BYTES;
    r->has_begun = true;
    return 0;
}

static int next_record(struct sim_trace_reader *r, struct sim_run *run)
{
    struct sim_binary_error e;
    size_t used = 0;
    int err = 0;

    if (r->filled - r->at < SIM_BINARY_MAX_RECORD_BYTES && !r->is_last)
        err = fill(r);
    if (err)
        return err;
    err = sim_binary_get(&r->binary, (const uint8_t *)r->block + r->at, r->filled - r->at, run, &used, &e);
    if (err)
        return report_byte(r, r->base + r->at, e.what, e.value);
    if (run->count && !sim_run_fits(run))
        return report_byte(r, r->base + r->at, "address overflow: more than 57 bits, starting at", run->addr);
    r->at += used;
    r->is_done = !run->count;
    return 0;
}

static int next_records(struct sim_trace_reader *r, struct sim_run *run, size_t max, size_t *n)
{
    int err = r->has_begun ? 0 : take_header(r);

    while (!err && *n < max && !r->is_done) {
        err = next_record(r, &run[*n]);
        if (!err && !r->is_done)
            r->counts.accesses += run[(*n)++].count;
    }
    return err;
}

int sim_trace_reader_next(struct sim_trace_reader *r, struct sim_run *run, size_t max, size_t *n, char *why,
                          size_t why_bytes)
{
    int err;

    assert(run && max && n);
    *n = 0;
    if (r->is_done)
        return 0;
    r->why = (struct sim_why){ why, why_bytes };
    if (r->options.format == SIM_TRACE_BINARY)
        err = next_records(r, run, max, n);
    else
        err = next_lines(r, run, max, n);
    if (err) {
        *n = 0;
        r->is_done = true;
    }
    return err;
}
