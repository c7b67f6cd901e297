#include "experiments/page/exp_page_palette.h"

#include <string.h>

static const struct {
    unsigned rgb;
    const char *variable;
} neutral[] = {
    { 0x000000, "ink" },  { 0x404040, "axis" }, { 0x505050, "axis" },
    { 0x606060, "axis" }, { 0xffffff, "card" }, { 0xe0e0e0, "grid" },
};

bool exp_page_palette_read(const char *value, unsigned *rgb)
{
    unsigned r, g, b;
    char end;

    if (!strcmp(value, "black") || !strcmp(value, "white")) {
        *rgb = *value == 'b' ? 0 : 0xffffff;
        return true;
    }
    if (strlen(value) == 7 && sscanf(value, "#%6x%c", rgb, &end) == 1)
        return true;
    if (sscanf(value, "rgb(%3u ,%3u ,%3u %c", &r, &g, &b, &end) != 4 || end != ')' || r > 255 || g > 255 || b > 255)
        return false;
    *rgb = r << 16 | g << 8 | b;
    return true;
}

/* Returns a colour's number; of one too many, the last one's. */
static size_t number_colour(struct exp_page_palette *p, unsigned rgb)
{
    size_t i = 0;

    while (i < p->n && p->rgb[i] != rgb)
        i++;
    if (i == p->n && p->n < EXP_PAGE_COLOURS)
        p->rgb[p->n++] = rgb;
    return i < p->n ? i : p->n - 1;
}

void exp_page_palette_put(struct exp_page_palette *p, unsigned rgb, FILE *out)
{
    for (size_t i = 0; i < sizeof neutral / sizeof neutral[0]; i++) {
        if (neutral[i].rgb == rgb) {
            fprintf(out, "var(--%s)", neutral[i].variable);
            return;
        }
    }
    fprintf(out, "var(--k%zu)", number_colour(p, rgb));
}

/* On a dark page every colour goes three tenths of the way to white: their order, from light to dark, stays. */
static unsigned lighter(unsigned rgb)
{
    unsigned light = 0;

    for (int shift = 16; shift >= 0; shift -= 8) {
        unsigned part = rgb >> shift & 255;

        light |= (part + (255 - part) * 3 / 10) << shift;
    }
    return light;
}

void exp_page_palette_print(const struct exp_page_palette *p, int is_dark, FILE *out)
{
    for (size_t i = 0; i < p->n; i++)
        fprintf(out, "--k%zu:#%06x;", i, is_dark ? lighter(p->rgb[i]) : p->rgb[i]);
}
