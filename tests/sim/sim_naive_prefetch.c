#include "tests/sim/sim_naive_prefetch.h"

#include <string.h>

enum { BLOCK = 4096 };

static uint8_t or_usual(uint8_t given, uint8_t usual)
{
    return given ? given : usual;
}

struct sim_prefetch naive_prefetch_in_full(struct sim_prefetch p)
{
    bool is_stream = p.kind == SIM_PREFETCH_STREAM, is_stride = p.kind == SIM_PREFETCH_STRIDE;

    p.degree = or_usual(p.degree, is_stream ? 2 : p.kind == SIM_PREFETCH_REGION ? 4 : 1);
    p.distance = or_usual(p.distance, is_stream ? 8 : is_stride ? 1 : 16);
    p.train = or_usual(p.train, is_stream ? 2 : is_stride ? 3 : 1);
    p.reach = or_usual(p.reach, 64);
    p.first = or_usual(p.first, p.degree);
    p.entries = or_usual(p.entries, is_stream ? 16 : 8);
    p.on = or_usual(p.on, is_stream || is_stride ? SIM_PREFETCH_ON_ALL : SIM_PREFETCH_ON_MISS);
    p.key = or_usual(p.key, SIM_PREFETCH_BY_TAG);
    p.pages = or_usual(p.pages, SIM_PREFETCH_STAYS);
    return p;
}

/* Returns the block of a line; the line may be any 64-bit number. Lines and blocks are powers of two. */
static int64_t block_of_line(int64_t line, int64_t line_bytes)
{
    return line_bytes < BLOCK ? line / (BLOCK / line_bytes) : line;
}

static void wish(struct sim_naive *s, size_t k, const struct naive_prefetcher *f, int64_t from, int64_t line,
                 const struct naive_request *r)
{
    int64_t bytes = s->level[k].shape.line_bytes;
    int64_t n_lines = ((int64_t)1 << SIM_ADDRESS_BITS) / bytes;
    size_t place = (size_t)(f - s->level[k].prefetcher);

    if (f->p.pages == SIM_PREFETCH_CROSSES)
        line = (line % n_lines + n_lines) % n_lines;
    else if (line < 0 || block_of_line(line, bytes) != block_of_line(from, bytes))
        return;
    if (s->n_queue == NAIVE_QUEUE)
        return;
    s->stats->prefetcher[k][place].asked++;
    s->queue[s->n_queue++] = (struct naive_wish){ k, (uint64_t)line, r->tag, r->phase, f->p.late, place };
}

/* Finds or makes the entry of a key, and moves the entry to the front. */
static struct naive_watched *watched_of(struct naive_prefetcher *f, uint64_t key)
{
    struct naive_watched found = { .key = key };
    unsigned i = 0;

    while (i < f->n_watched && f->watched[i].key != key)
        i++;
    if (i < f->n_watched)
        found = f->watched[i];
    else if (f->n_watched < f->p.entries)
        f->n_watched++;
    else
        i--;
    memmove(&f->watched[1], &f->watched[0], i * sizeof found);
    f->watched[0] = found;
    return &f->watched[0];
}

/* Puts a line in front of the lines seen; false if the line is already there. */
static bool see(struct naive_watched *w, int64_t line)
{
    if (w->n_seen && w->seen[0] == line)
        return false;
    memmove(&w->seen[1], &w->seen[0], sizeof w->seen - sizeof w->seen[0]);
    w->seen[0] = line;
    w->n_seen += w->n_seen < 66;
    return true;
}

/* A stream that ran up to the line before (or down to the line behind) goes on in an unwatched block. */
static void carry_on(struct naive_prefetcher *f, uint64_t block, int64_t line)
{
    for (unsigned i = 0; i < f->n_watched; i++) {
        if (f->watched[i].key == block)
            return;
    }
    for (unsigned i = 0; i < f->n_watched; i++) {
        struct naive_watched *w = &f->watched[i];

        if (w->direction && w->seen[0] + w->direction == line) {
            w->key = block;
            return;
        }
    }
}

static void watch_stream(struct sim_naive *s, size_t k, struct naive_prefetcher *f, int64_t line,
                         const struct naive_request *r)
{
    uint64_t line_bytes = s->level[k].shape.line_bytes;
    uint64_t block = line_bytes < BLOCK ? (uint64_t)line / (BLOCK / line_bytes) : (uint64_t)line;
    struct naive_watched *w;
    int direction;
    bool is_jump;

    if (f->p.pages == SIM_PREFETCH_CROSSES)
        carry_on(f, block, line);
    w = watched_of(f, block);
    if (!see(w, line) || w->n_seen == 1)
        return;
    direction = line > w->seen[1] ? 1 : -1;
    is_jump = (direction > 0 ? line - w->seen[1] : w->seen[1] - line) > f->p.reach;
    if (direction != w->direction || is_jump) {
        w->n_steps = 0;
        w->has_asked = false;
        w->next_to_ask = line + direction;
    }
    w->direction = direction;
    w->n_steps += !is_jump;
    if (direction > 0 ? w->next_to_ask <= line : w->next_to_ask >= line)
        w->next_to_ask = line + direction;
    if (w->n_steps < f->p.train)
        return;
    for (unsigned i = 0; i < (w->has_asked ? f->p.degree : f->p.first); i++) {
        int64_t ahead = direction > 0 ? w->next_to_ask - line : line - w->next_to_ask;

        if (ahead > f->p.distance)
            break;
        wish(s, k, f, line, w->next_to_ask, r);
        w->next_to_ask += direction;
    }
    w->has_asked = true;
}

/* Returns the tag alone, or a number of tag, phase and place. */
static uint64_t instruction(const struct naive_prefetcher *f, const struct naive_request *r)
{
    return f->p.key == SIM_PREFETCH_BY_TAG ? r->tag : (r->tag * 100 + r->phase) * 100 + r->place;
}

static void watch_stride(struct sim_naive *s, size_t k, struct naive_prefetcher *f, int64_t line,
                         const struct naive_request *r)
{
    struct naive_watched *w = watched_of(f, instruction(f, r));

    if (!see(w, line) || w->n_seen < f->p.train + 1u)
        return;
    for (unsigned i = 1; i < f->p.train; i++) {
        if (w->seen[i] - w->seen[i + 1] != line - w->seen[1])
            return;
    }
    for (int i = 0; i < f->p.degree; i++)
        wish(s, k, f, line, (int64_t)((uint64_t)line + (uint64_t)(line - w->seen[1]) * (uint64_t)(f->p.distance + i)),
             r);
}

static void watch_region(struct sim_naive *s, size_t k, struct naive_prefetcher *f, int64_t line,
                         const struct naive_request *r)
{
    struct naive_watched *w = watched_of(f, instruction(f, r));
    unsigned n_lines = 0;

    if (w->n_seen && line - w->seen[0] <= f->p.distance && w->seen[0] - line <= f->p.distance) {
        w->footprint[32 + line - w->seen[0]] = line != w->seen[0];
        return;
    }
    w->n_same = memcmp(w->footprint, w->before, sizeof w->before) ? 0 : w->n_same + (w->n_seen > 0);
    see(w, line);
    memcpy(w->before, w->footprint, sizeof w->before);
    memset(w->footprint, 0, sizeof w->footprint);
    for (int i = 0; i < 64; i++)
        n_lines += w->before[i];
    for (int i = 0; i < 64 && w->n_same >= f->p.train && n_lines <= f->p.degree; i++) {
        if (w->before[i])
            wish(s, k, f, line, line + i - 32, r);
    }
}

static void watch_next_line(struct sim_naive *s, size_t k, struct naive_prefetcher *f, int64_t line,
                            const struct naive_request *r)
{
    for (int d = 1; d <= f->p.degree; d++)
        wish(s, k, f, line, line + d, r);
}

static void watch_pair(struct sim_naive *s, size_t k, struct naive_prefetcher *f, int64_t line,
                       const struct naive_request *r)
{
    wish(s, k, f, line, line % 2 ? line - 1 : line + 1, r);
}

void naive_watch(struct sim_naive *s, size_t k, uint64_t line, const struct naive_way *found,
                 const struct naive_request *r)
{
    static void (*const by_kind[])(struct sim_naive *, size_t, struct naive_prefetcher *, int64_t,
                                   const struct naive_request *) = {
        [SIM_PREFETCH_NEXT_LINE] = watch_next_line, [SIM_PREFETCH_STREAM] = watch_stream,
        [SIM_PREFETCH_STRIDE] = watch_stride,       [SIM_PREFETCH_PAIR] = watch_pair,
        [SIM_PREFETCH_REGION] = watch_region,
    };

    for (size_t i = 0; i < SIM_MAX_PREFETCHERS && s->level[k].shape.prefetch[i].kind; i++) {
        struct naive_prefetcher *f = &s->level[k].prefetcher[i];

        if (r->is_walk && k == 0)
            continue;
        if (f->p.on == SIM_PREFETCH_ON_MISS && found && !found->is_unused_prefetch)
            continue;
        if (f->p.on == SIM_PREFETCH_ON_DEMAND && (found || r->is_prefetch))
            continue;
        by_kind[f->p.kind](s, k, f, (int64_t)line, r);
    }
}
