#include "kernels/ukr/pack_bands.h"

#include <assert.h>

static size_t line_halves(const struct conv_problem *p)
{
    return p->stride_w == 2 ? 2 : 1;
}

/* Lanes from the first to the last tap of a row of taps. */
static size_t tap_span(const struct conv_problem *p)
{
    return (p->s - 1) * p->dilation_w + 1;
}

/* Lanes and lines that n windows need at most, if bands share no line; no lane of the buffer has a negative number. */
static bool fits(const struct conv_problem *p, size_t n)
{
    const size_t bands = min_size(p->p, (n + p->q - 2) / p->q + 1);
    const size_t span = tap_span(p) + 2 * CONV_BAND_WIDTH, columns = n * p->stride_w;

    return p->r <= CONV_BAND_LINES / bands && span <= CONV_BAND_LANES / bands &&
           p->r <= (CONV_BAND_LANES - CONV_BAND_WIDTH) / (bands * span + columns);
}

size_t conv_bands_tiles(const struct conv_problem *p)
{
    size_t n = CONV_PACK_TILES;

    if (p->stride_w > CONV_BAND_LANES / (CONV_PACK_TILES * CONV_BAND_WIDTH))
        return 0;
    while (n && !fits(p, n * CONV_BAND_WIDTH))
        n--;
    return n;
}

/* A band: its first window's first tap, and its windows. */
struct band {
    ptrdiff_t ih0, iw0;
    size_t n;
};

/* The search for lines. */
struct finding {
    const struct conv_problem *p;
    struct conv_bands *bands;
    size_t lanes;                    /* of the buffer, in use */
    size_t line_of[CONV_BAND_LINES]; /* [band][row of taps] */
};

static size_t band_columns(const struct conv_problem *p, const struct band *b)
{
    return (b->n - 1) * p->stride_w + tap_span(p);
}

/* Returns the line of the band before with a row of taps of this band; n_lines: none. */
static size_t shared_line(const struct finding *f, const struct band *b, size_t number, size_t fh)
{
    const struct conv_problem *p = f->p;
    const size_t down = p->stride_h / p->dilation_h, none = f->bands->n_lines;
    const struct conv_line *line;
    size_t l;

    if (!number || p->stride_h % p->dilation_h || fh + down >= p->r)
        return none;
    l = f->line_of[(number - 1) * p->r + fh + down];
    line = &f->bands->line[l];
    return line->column <= b->iw0 && b->iw0 + (ptrdiff_t)band_columns(p, b) <= line->column + (ptrdiff_t)line->n ? l
                                                                                                                 : none;
}

static size_t half_lanes(const struct conv_problem *p, const struct conv_line *line)
{
    const size_t halves = line_halves(p);

    return round_up(ceil_div(line->n, halves), CONV_BAND_WIDTH);
}

size_t conv_band_line_lanes(const struct conv_problem *p, const struct conv_line *line)
{
    return line_halves(p) * half_lanes(p, line);
}

/* The columns of the image among the next 16 of a line, from lane i on. */
static uint32_t columns_inside(const struct conv_problem *p, const struct conv_line *line, ptrdiff_t i)
{
    const ptrdiff_t inside = (ptrdiff_t)p->w - line->column, n = (ptrdiff_t)line->n;
    const ptrdiff_t first = i < -line->column ? -line->column : i, most = i + CONV_BAND_WIDTH;
    const ptrdiff_t needed = n < most ? n : most, end = needed < inside ? needed : inside;

    return first < end ? ((1u << (end - first)) - 1) << (first - i) : 0;
}

static void add_loads(struct conv_bands *b, const struct conv_problem *p, const struct conv_line *line)
{
    const size_t halves = line_halves(p), half = half_lanes(p, line);

    for (size_t i = 0; i < halves * half; i += CONV_BAND_WIDTH) {
        const size_t n = i / CONV_BAND_WIDTH;

        b->load[b->n_loads++] = (struct conv_band_load){
            .first = line->row * (ptrdiff_t)p->w + line->column + (ptrdiff_t)i,
            .mask = columns_inside(p, line, (ptrdiff_t)i),
            .at = (uint32_t)(line->at + n % halves * half + n / halves * CONV_BAND_WIDTH),
        };
    }
}

static void add_line(struct finding *f, const struct band *b, size_t fh)
{
    struct conv_line *line = &f->bands->line[f->bands->n_lines++];

    *line = (struct conv_line){
        .row = b->ih0 + (ptrdiff_t)(fh * f->p->dilation_h), .column = b->iw0, .n = band_columns(f->p, b), .at = f->lanes
    };
    f->lanes += conv_band_line_lanes(f->p, line);
    assert(f->lanes <= CONV_BAND_LANES);
    if (!conv_band_is_padding(f->p, line))
        add_loads(f->bands, f->p, line);
}

static void add_band(struct finding *f, const struct band *b, size_t number)
{
    const struct conv_problem *p = f->p;

    for (size_t fh = 0; fh < p->r; fh++) {
        const size_t l = shared_line(f, b, number, fh), i = number * p->r + fh;
        const struct conv_line *line = &f->bands->line[l];

        assert(i < CONV_BAND_LINES);
        if (l == f->bands->n_lines)
            add_line(f, b, fh);
        f->line_of[i] = l;
        f->bands->row[i] =
            (struct conv_band_row){ line->at + (size_t)(b->iw0 - line->column) / line_halves(p), half_lanes(p, line) };
    }
}

void conv_bands_of(const struct conv_problem *p, const struct conv_tiles *tiles, size_t first, size_t n,
                   struct conv_bands *bands)
{
    struct finding f = { .p = p, .bands = bands, .lanes = CONV_BAND_WIDTH };
    struct conv_band_piece *piece = bands->piece;
    struct band band = { .n = 0 };
    size_t number = 0;

    bands->n_lines = bands->n_loads = 0;
    for (size_t t = 0; t < n; t++) {
        const struct conv_tile *tile = &tiles->tile[first + t];

        bands->n_pieces[t] = tile->n_segments;
        for (size_t g = 0; g < tile->n_segments; g++, piece++) {
            const struct conv_segment *s = &tile->segment[g];

            if (band.n && s->ih0 != band.ih0) {
                add_band(&f, &band, number++);
                band.n = 0;
            }
            if (!band.n)
                band = (struct band){ s->ih0, s->iw0, 0 };
            *piece = (struct conv_band_piece){ number, band.n, s->first, s->len };
            band.n += s->len;
        }
    }
    add_band(&f, &band, number);
}
