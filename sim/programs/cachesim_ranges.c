#include "sim/programs/cachesim_ranges.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "sim/base/foreign.h"
#include "sim/programs/cachesim_text.h"

/* ---- tagging ---- */

/* Finds the tag of an address, and the addresses around with an equal tag. */
static uint8_t find(const struct cachesim_ranges *r, uint64_t address, uint64_t *first, uint64_t *last)
{
    size_t low = 0, high = r->n_ranges; /* low..high holds the first range that ends behind the address */

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->range[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < r->n_ranges && r->range[low].begin <= address) {
        *first = r->range[low].begin;
        *last = r->range[low].end - 1;
        return r->range[low].tag;
    }
    *first = low ? r->range[low - 1].end : 0;
    *last = low < r->n_ranges ? r->range[low].begin - 1 : UINT64_MAX;
    return 0;
}

/* Counts the accesses of a run that begin in [first, last], from the first access on. */
static uint32_t count_within(const struct sim_run *run, uint64_t first, uint64_t last)
{
    const uint64_t stride = run->stride_bytes < 0 ? -(uint64_t)run->stride_bytes : (uint64_t)run->stride_bytes;
    const uint64_t room = run->stride_bytes < 0 ? run->addr - first : last - run->addr;

    return !stride || room / stride >= run->count ? run->count : (uint32_t)(room / stride) + 1;
}

static void send(struct cachesim_ranges *r, struct sim_run run)
{
    if (r->has_fetches && run.tag == r->fetch_tag) {
        sim_emit(r->next, &run, 1, 1);
        return;
    }
    while (run.count) {
        struct sim_run head = run;
        uint64_t first, last;

        head.tag = find(r, run.addr, &first, &last);
        head.count = count_within(&run, first, last);
        sim_emit(r->next, &head, 1, 1);
        run.addr += head.count * (uint64_t)run.stride_bytes;
        run.count -= head.count;
    }
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct cachesim_ranges *r = (struct cachesim_ranges *)self;

    for (uint64_t t = 0; t < n_times; t++) {
        for (size_t i = 0; i < n_runs; i++) {
            struct sim_run one = run[i];

            one.addr += t * (uint64_t)one.step_bytes;
            send(r, one);
        }
    }
}

/* ---- reading ---- */

struct reader {
    struct cachesim_ranges *r;
    const char *path;
    unsigned line;
    struct sim_why why;
};

static int fail(const struct reader *f, const char *what, const char *value)
{
    return sim_fail(f->why, -EINVAL, "%s:%u: %s, '%.60s'", f->path, f->line, what, value);
}

static int no_memory(const struct reader *f)
{
    return sim_fail(f->why, -ENOMEM, "%s: out of memory", f->path);
}

/* Finds the tag of a name, or gives the name the next tag. */
static int find_tag(const struct reader *f, const char *name, uint8_t *tag)
{
    for (*tag = 1; *tag < SIM_MAX_TAGS; ++*tag) {
        char **known = &f->r->name[*tag];

        if (*tag == f->r->fetch_tag)
            continue;
        if (*known && !strcmp(*known, name))
            return 0;
        if (!*known) {
            f->r->n_tags = *tag < f->r->n_tags ? f->r->n_tags : *tag + 1u;
            *known = strdup(name);
            return *known ? 0 : no_memory(f);
        }
    }
    return fail(f, "more names than the simulator has tags for (62)", name);
}

static int add_range(const struct reader *f, const struct cachesim_range *range)
{
    struct cachesim_range *more = realloc(f->r->range, (f->r->n_ranges + 1) * sizeof *more);

    if (!more)
        return no_memory(f);
    f->r->range = more;
    more[f->r->n_ranges++] = *range;
    return 0;
}

/* Reads a line, which the function cuts up. */
static int read_line(const struct reader *f, char *line)
{
    static const char blanks[] = " \t";
    struct cachesim_range range = { .line = f->line };
    char *rest = NULL, *name = strtok_r(line, blanks, &rest), *begin, *end, *more;
    bool is_size;
    int err;

    if (!name || *name == '#')
        return 0;
    begin = strtok_r(NULL, blanks, &rest);
    end = begin ? strtok_r(NULL, blanks, &rest) : NULL;
    more = end ? strtok_r(NULL, blanks, &rest) : NULL;
    if (!end || (more && *more != '#'))
        return fail(f, "not a name, where it begins, and where it ends", more ? more : name);
    for (const char *c = name; *c; c++) {
        if (iscntrl((unsigned char)*c))
            return fail(f, "a name has a control character", name);
    }
    is_size = *end == '+';
    if (!cachesim_address(begin, &range.begin))
        return fail(f, "not an address (decimal, or hexadecimal behind 0x)", begin);
    if (!cachesim_address(end + is_size, &range.end))
        return fail(f, "neither an address (decimal, or hexadecimal behind 0x) nor +bytes", end);
    if (is_size)
        range.end += range.begin;
    if (range.end <= range.begin)
        return fail(f, "the range ends before it begins", end);
    err = find_tag(f, name, &range.tag);
    return err ? err : add_range(f, &range);
}

/* Reads a line, without the newline and without bytes added by foreign systems and editors. */
static int take_line(const struct reader *f, char *line, size_t n)
{
    const struct sim_foreign *kind = f->line > 1 ? NULL : sim_foreign_find(line, n);
    const size_t mark = f->line > 1 ? 0 : sim_mark_bytes(line, n);
    const char *comment, *at, *foreign;

    while (n && (line[n - 1] == '\r' || line[n - 1] == '\n'))
        n--;
    line[n] = '\0';
    if (kind)
        return fail(f, "no ranges: the file is", kind->what);
    comment = memchr(line, '#', n);
    foreign = sim_foreign_byte(line + mark, comment ? comment : line + n, &at);
    return foreign ? fail(f, foreign, at) : read_line(f, line + mark);
}

static int by_address(const void *a, const void *b)
{
    const struct cachesim_range *x = a, *y = b;

    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int sort(struct reader *f)
{
    struct cachesim_ranges *r = f->r;

    if (!r->n_ranges)
        return fail(f, "there is no range in it", "");
    qsort(r->range, r->n_ranges, sizeof *r->range, by_address);
    for (size_t i = 1; i < r->n_ranges; i++) {
        if (r->range[i].begin < r->range[i - 1].end) {
            f->line = r->range[i].line;
            return fail(f, "the range overlaps another one", r->name[r->range[i].tag]);
        }
    }
    r->name[0] = strdup("elsewhere");
    r->name[r->fetch_tag] = r->has_fetches ? strdup("instructions") : NULL;
    return r->name[0] && (r->name[r->fetch_tag] || !r->has_fetches) ? 0 : no_memory(f);
}

_Static_assert(CACHESIM_MAX_NAMES == 62, "a message names the limit");

static int read_all(struct reader *f, FILE *in)
{
    char *line = NULL;
    size_t bytes = 0;
    ssize_t n;
    int err = 0;

    while (!err && (n = getline(&line, &bytes, in)) >= 0) {
        f->line++;
        err = take_line(f, line, (size_t)n);
    }
    free(line);
    if (!err && ferror(in))
        err = sim_fail(f->why, -EIO, "%s, cannot read it", f->path);
    return err ? err : sort(f);
}

int cachesim_ranges_read(struct cachesim_ranges *r, const char *path, bool has_fetches, uint8_t fetch_tag,
                         struct sim_why why)
{
    struct reader f = { .r = r, .path = path, .why = why };
    FILE *in = fopen(path, "r");
    int err;

    *r = (struct cachesim_ranges){
        .sink.accept = accept, .has_fetches = has_fetches, .fetch_tag = fetch_tag, .n_tags = SIM_USUAL_TAGS
    };
    if (!in) {
        err = -errno;
        return sim_fail(why, err, "--ranges: %s, '%s'", strerror(-err), path);
    }
    err = read_all(&f, in);
    fclose(in);
    if (err)
        cachesim_ranges_release(r);
    return err;
}

void cachesim_ranges_release(struct cachesim_ranges *r)
{
    for (size_t i = 0; i < SIM_MAX_TAGS; i++)
        free(r->name[i]);
    free(r->range);
    *r = (struct cachesim_ranges){ 0 };
}
