/* Draws tiles and samples, and writes loop nests, on a layer's page. */
#include "experiments/show/page_run.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/show/report.h"
#include "kernels/shape/sizes.h"

enum { WIDTH = 720, NAME_WIDTH = 200, LEVEL_HEIGHT = 62, BAR = 22, MOST_BLOCKS = 64 };

/* An SVG in the making. */
struct drawing {
    FILE *out;
    char *text;
    size_t bytes;
};

static FILE *begin(struct drawing *d, int height, const char *label)
{
    d->out = exp_memory_open(&d->text, &d->bytes);
    fprintf(d->out, "<svg class=own role=img viewBox=\"0 0 %d %d\" width=%d height=%d aria-label=\"", WIDTH, height,
            WIDTH, height);
    exp_page_escape(label, d->out);
    fputs("\">", d->out);
    return d->out;
}

static void end(struct exp_page_writer *w, struct drawing *d, const char *title, const char *caption)
{
    fputs("</svg>", d->out);
    fclose(d->out);
    exp_page_figure(w, &(struct exp_page_figure){ .drawing = d->text, .title = title, .caption = caption });
    free(d->text);
}

static void put_text(FILE *out, double x, double y, const char *class, const char *text)
{
    fprintf(out, "<text x=%.0f y=%.0f class=%s>", x, y, class);
    exp_page_escape(text, out);
    fputs("</text>", out);
}

/* ---- tiles ---- */

/* Tiles of one kind in a level. */
struct blocks {
    const char *what, *class;
    double n, bytes; /* of each */
};

struct shelf {
    FILE *out;
    double y, capacity;
    double used; /* bytes */
    char text[320];
};

/* Puts tiles side by side. Tiles narrower than three pixels are drawn as one. */
static void put_blocks(struct shelf *s, const struct blocks *b)
{
    const double pixels = WIDTH / s->capacity;
    const bool is_seen = b->n <= MOST_BLOCKS && b->bytes * pixels >= 3;
    const size_t n = is_seen ? (size_t)b->n : 1;
    const double each = is_seen ? b->bytes : b->bytes * b->n;
    char size[48];

    fprintf(s->out, "<path class=%s d=\"", b->class);
    for (size_t i = 0; i < n && s->used < s->capacity; i++) {
        double from = s->used * pixels, to = fmin((s->used + each) * pixels, WIDTH);
        double width = fmax(to - from - (is_seen ? 0.7 : 0), 0.5);

        fprintf(s->out, "M%.1f,%.0fh%.1fv%dh-%.1fz", from, s->y, width, BAR, width);
        s->used += each;
    }
    fputs("\"/>", s->out);
    if (s->used < b->n * b->bytes)
        s->used = b->n * b->bytes;
    exp_page_print_bytes(size, sizeof size, b->n * b->bytes);
    exp_say_more(s->text, sizeof s->text, "%s%.0f %s%s %s", *s->text ? ", " : "", b->n, b->what, b->n > 1 ? "s" : "",
                 size);
}

static void put_level(FILE *out, double y, const char *name, double capacity, const struct blocks *b, size_t n)
{
    struct shelf s = { .out = out, .y = y + 18, .capacity = capacity };
    char size[48], share[32], title[160];

    fprintf(out, "<rect class=level x=0 y=%.1f width=%d height=%d />", s.y, WIDTH, BAR);
    for (size_t i = 0; i < n; i++)
        put_blocks(&s, &b[i]);
    fprintf(out, "<path class=limit d=\"M%.1f,%.1fv%d\"/>", csa_default_share * WIDTH, s.y - 3, BAR + 6);
    exp_page_print_bytes(size, sizeof size, capacity);
    exp_page_print_number(share, sizeof share, 100 * s.used / capacity, EXP_PAGE_DECIMAL);
    exp_say(title, sizeof title, "%s, %s, %s %% taken", name, size, share);
    put_text(out, 0, y + 12, "name", title);
    put_text(out, 0, y + 18 + BAR + 14, "what", s.text);
}

void exp_page_drawing_of_tiles(struct exp_page_writer *w, const struct exp_page_plan *plan,
                               const struct exp_page_run *r)
{
    const struct csa_tiling *t = &plan->tiling;
    const double deep =
        (double)(conv_lanes(&plan->problem, t->n_c) * plan->problem.r * plan->problem.s * CONV_LANE_BYTES);
    const double k2 = (double)t->k2, k3 = (double)t->k3;
    const bool is = t->schedule == CSA_IS;
    const struct blocks input = { "input tile", "in", 1, deep * (double)t->n_win };
    const struct blocks filter = { "filter tile", "fi", 1, deep * (double)t->n_f };
    const struct blocks output = { "output tile", "ou", 1, (double)(t->n_win * t->n_f * sizeof(float)) };
    struct blocks a = is ? input : filter, b = is ? filter : input, l1[] = { a, b, output };
    struct blocks l2[] = { a, b, output }, l3[] = { a, b, output };
    const size_t n = r->machine.n_levels;
    struct csa_caches c;
    struct drawing d;
    char title[160];
    FILE *out;

    if (!plan->has_tiling || !n)
        return;
    c = csa_caches_of(&r->machine, 1.0);
    l2[1].n = l2[2].n = l3[1].n = k2;
    l3[0].n = k3;
    l3[2].n = k2 * k3;
    exp_say(title, sizeof title, "What %s keeps where", plan->algo);
    out = begin(&d, 3 * LEVEL_HEIGHT, title);
    put_level(out, 0, r->machine.level[0].name, c.l1_bytes, l1, 3);
    put_level(out, LEVEL_HEIGHT, r->machine.level[n > 1 ? 1 : 0].name, c.l2_bytes, l2, 3);
    put_level(out, 2 * LEVEL_HEIGHT, r->machine.level[n - 1].name, c.l3_bytes, l3, 3);
    end(w, &d, title,
        "To scale: each bar is a cache; blue are input tiles, orange filter tiles, green outputs. CSA fills a level up "
        "to the dashed line. L1 holds one pair of tiles, L2 what streams past the stationary tile, L3 the stationary "
        "tiles.");
}

/* ---- samples ---- */

struct scale {
    double least, most;
};

static double position(const struct scale *s, double ns)
{
    return NAME_WIDTH + (WIDTH - NAME_WIDTH - 10) * (ns - s->least) / (s->most - s->least);
}

/* Widens a scale to a page's samples; counts the samples. */
static size_t measure(const struct exp_page_run *r, size_t layer, struct scale *s)
{
    const struct exp_sample_row *row = r->samples.row;
    size_t first, n = exp_page_rows_of_layer(&r->samples, &exp_samples_table, r->layer[layer].index, &first);

    for (size_t i = first; i < first + n; i++) {
        s->least = fmin(s->least, (double)row[i].time_ns);
        s->most = fmax(s->most, (double)row[i].time_ns);
    }
    return n;
}

/* Begins the line of an algorithm; the dots follow, each a stroke without length. */
static void begin_dots(FILE *out, const char *algo, double y)
{
    const struct exp_algo *a = exp_algo_find(algo);
    char name[64];

    exp_say(name, sizeof name, "%.30s", a ? a->title : algo);
    fprintf(out, "<path class=rail d=\"M%d,%.0fH%d\"/>", NAME_WIDTH, y - 4, WIDTH);
    put_text(out, 0, y, "what", name);
    fprintf(out, "<path class=dots style=\"--k:%s\" d=\"", a ? a->colour : "#7f7f7f");
}

static double put_samples(FILE *out, const struct exp_page_run *r, size_t layer, const struct scale *s, double y)
{
    enum { LINE = 17 };
    const struct exp_sample_row *row = r->samples.row;
    size_t first, n = exp_page_rows_of_layer(&r->samples, &exp_samples_table, r->layer[layer].index, &first);
    const char *algo = "";

    for (size_t i = first; i < first + n; i++) {
        if (strcmp(row[i].algo, algo) != 0) {
            y += LINE;
            fputs(*algo ? "\"/>" : "", out);
            algo = row[i].algo;
            begin_dots(out, algo, y);
        }
        fprintf(out, "M%.1f,%.0fh0", position(s, (double)row[i].time_ns), y - 4);
    }
    fputs("\"/>", out);
    return y;
}

void exp_page_drawing_of_samples(struct exp_page_writer *w, const struct exp_page_run *r, size_t page)
{
    struct scale s = { INFINITY, 0 };
    struct drawing d;
    char least[48], most[48];
    double y = 0;
    FILE *out;

    if (!measure(r, page, &s) || s.most <= s.least)
        return;
    out = begin(&d, 34 + 17 * (int)r->layer[page].n, "every timed round");
    y = put_samples(out, r, page, &s, y);
    exp_page_print_number(least, sizeof least, s.least * 1e-6, EXP_PAGE_DECIMAL);
    exp_page_print_number(most, sizeof most, s.most * 1e-6, EXP_PAGE_DECIMAL);
    exp_say_more(least, sizeof least, " ms");
    exp_say_more(most, sizeof most, " ms");
    put_text(out, NAME_WIDTH, y + 16, "what", least);
    put_text(out, WIDTH, y + 16, "last", most);
    end(w, &d, "Every timed round",
        "A dot is one round of the layer (of the first one, where several share this page). What disturbs a run adds "
        "time: the left ends repeat, the tails do not.");
}

/* ---- loop nests ---- */

/* Lines of pseudo-code: each loop is indented one step further, remarks stand in a column. */
struct code {
    FILE *out;
    int depth;
};

enum { REMARK_COLUMN = 64, INDENT = 2 };

static void line(struct code *c, const char *remark, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void line(struct code *c, const char *remark, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (*remark)
        fprintf(c->out, "%*s%-*s # %s\n", INDENT * c->depth, "", REMARK_COLUMN - INDENT * c->depth, text, remark);
    else
        fprintf(c->out, "%*s%s\n", INDENT * c->depth, "", text);
}

#define LOOP(c, ...) (line(c, __VA_ARGS__), (c)->depth++)

static void around(struct code *c, const struct exp_page_plan *plan)
{
    const struct conv_problem *p = &plan->problem;

    if (p->n > 1)
        LOOP(c, "", "for each of %zu images", p->n);
    if (p->groups > 1)
        LOOP(c, "", "for each of %zu groups", p->groups);
}

/* The roles of tiles in a schedule: A are stationary, B stream. */
struct roles {
    const char *a, *b, *a_unit, *b_unit;
    size_t n_a, n_b, a_size, b_size;
};

static struct roles roles_of(const struct csa_tiling *t)
{
    if (t->schedule == CSA_IS)
        return (struct roles){ "input", "filter", "windows", "filters", t->in_tiles, t->f_tiles, t->n_win, t->n_f };
    return (struct roles){ "filter", "input", "filters", "windows", t->f_tiles, t->in_tiles, t->n_f, t->n_win };
}

/* SConv's five layers, as nest_sconv.c has them. */
static void put_sconv(struct code *c, const struct exp_page_plan *plan)
{
    const struct csa_tiling *t = &plan->tiling;
    const struct roles r = roles_of(t);
    const size_t taps = plan->problem.r * plan->problem.s;

    around(c, plan);
    LOOP(c, "layer 5", "for %zu x Nc = %zu of %zu channels", t->channel_sets, t->n_c,
         conv_group_channels(&plan->problem));
    LOOP(c, "layer 4: they stay in L3", "for %zu x K3 = %zu of %zu %s tiles", ceil_div(r.n_a, t->k3), t->k3, r.n_a,
         r.a);
    LOOP(c, "layer 3: they stay in L2", "for %zu x K2 = %zu of %zu %s tiles", ceil_div(r.n_b, t->k2), t->k2, r.n_b,
         r.b);
    if (t->schedule == CSA_WS)
        line(c, "", "pack the set's input tiles: %zu windows x %zu taps each", t->n_win, t->n_c * taps);
    LOOP(c, "layer 2: it stays in L1", "for each %s tile of the set: %zu %s", r.a, r.a_size, r.a_unit);
    if (t->schedule == CSA_IS)
        line(c, "", "pack it: %zu windows x %zu taps", t->n_win, t->n_c * taps);
    LOOP(c, "layer 1: it streams", "for each %s tile of the set: %zu %s", r.b, r.b_size, r.b_unit);
    line(c, "", "micro-kernel %s: %zu x %zu outputs += %zu products each", plan->ukr, t->n_win, t->n_f, t->n_c * taps);
}

/* Base: GotoBLAS's order, as nest_gemm.c has it. */
static void put_gemm(struct code *c, const struct exp_page_plan *plan)
{
    const struct conv_problem *p = &plan->problem;
    const size_t windows = conv_windows(p), reduction = conv_reduction(p), filters = conv_group_filters(p);

    around(c, plan);
    if (conv_is_pointwise(p))
        line(c, "pointwise: the input is the matrix", "no im2col");
    else
        line(c, "", "im2col: a matrix of %zu rows x %zu windows", reduction, windows);
    LOOP(c, "", "for %zu x R = %zu of %zu filters", ceil_div(filters, plan->r), plan->r, filters);
    LOOP(c, "", "for %zu x Q = %zu of %zu rows", ceil_div(reduction, plan->q), plan->q, reduction);
    LOOP(c, "the first also packs the filters", "for %zu x P = %zu of %zu windows", ceil_div(windows, plan->p), plan->p,
         windows);
    line(c, "", "pack the block's windows");
    line(c, "", "OpenBLAS's micro-kernel on every tile of the two blocks");
}

static void put(struct exp_page_writer *w, const char *caption, const struct exp_page_plan *plan,
                void (*nest)(struct code *c, const struct exp_page_plan *plan))
{
    char *text = NULL;
    size_t bytes = 0;
    struct code c = { .out = exp_memory_open(&text, &bytes) };

    nest(&c, plan);
    fclose(c.out);
    exp_page_text(w, EXP_PAGE_NOTE, caption);
    exp_page_text(w, EXP_PAGE_CODE, text);
    free(text);
}

void exp_page_nest_write(struct exp_page_writer *w, const struct exp_page_plan *plan)
{
    char caption[128];

    if (plan->has_tiling) {
        snprintf(caption, sizeof caption, "The nest of %s", plan->algo);
        put(w, caption, plan, put_sconv);
    }
    if (plan->p && plan->q && plan->r)
        put(w, "The nest of Base", plan, put_gemm);
}
