#include "sim/programs/cachesim_plot.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "sim/programs/cachesim_file.h"
#include "sim/programs/cachesim_place.h"
#include "sim/programs/cachesim_signal.h"

static const struct kind {
    const char *ending, *terminal;
} kinds[] = {
    { ".png", "pngcairo size 1000,600 font 'DejaVu Sans,11'" },
    { ".svg", "svg size 1000,600 font 'DejaVu Sans,11' background '#ffffff'" },
};

static const struct kind *find_kind(const char *path)
{
    const size_t length = strlen(path);

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t ending = strlen(kinds[i].ending);

        if (length > ending && !strcmp(path + length - ending, kinds[i].ending))
            return &kinds[i];
    }
    return NULL;
}

bool cachesim_plot_is_name(const char *path)
{
    return find_kind(path);
}

int cachesim_plot_check(struct cachesim_session *s)
{
    char where[1024];

    if (!s->options.plot || cachesim_place_program("gnuplot", where, sizeof where))
        return 0;
    return cachesim_fail(s, CACHESIM_BAD_INPUT, "--plot", "gnuplot is not installed (package gnuplot-nox)");
}

/* ---- a figure ---- */

struct figure {
    struct cachesim_file file;
    FILE *gnuplot;
};

/* Writes a text as gnuplot's string, in which only the quote is special. */
static void put_string(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', out);
        fputc(iscntrl((unsigned char)*text) ? ' ' : *text, out);
    }
    fputc('\'', out);
}

static int open_figure(struct cachesim_session *s, struct figure *f)
{
    const char *path = s->options.plot;
    int err = cachesim_file_open(&f->file, path);

    if (err)
        return cachesim_fail(s, CACHESIM_BAD_OUTPUT, path, strerror(-err));
    fflush(stdout);
    f->gnuplot = popen("exec gnuplot --default-settings", "w");
    if (!f->gnuplot) {
        cachesim_file_discard(&f->file);
        return cachesim_fail(s, CACHESIM_BAD_OUTPUT, "cannot run gnuplot", strerror(errno));
    }
    fprintf(f->gnuplot, "set encoding utf8\nset terminal %s\nset output ", find_kind(path)->terminal);
    put_string(f->gnuplot, f->file.temporary ? f->file.temporary : path);
    fputs("\nset border 3 lc rgb '#404040'\nset tics nomirror\nset grid ytics lt 1 lc rgb '#e0e0e0'\n"
          "set style fill solid noborder\nset key outside top horizontal noenhanced\n"
          "set linetype 1 lc rgb '#0072b2'\nset linetype 2 lc rgb '#e69f00'\nset linetype 3 lc rgb '#009e73'\n"
          "set linetype 4 lc rgb '#d55e00'\nset linetype 5 lc rgb '#56b4e9'\nset linetype 6 lc rgb '#cc79a7'\n"
          "set linetype 7 lc rgb '#f0e442'\nset linetype 8 lc rgb '#c0c0c0'\n",
          f->gnuplot);
    return 0;
}

static void put_title(struct figure *f, const char *trace, const char *what)
{
    char title[512];

    snprintf(title, sizeof title, "%.200s: %.200s", trace, what);
    fputs("set title ", f->gnuplot);
    put_string(f->gnuplot, title);
    fputs(" noenhanced\n", f->gnuplot);
}

static int close_figure(struct cachesim_session *s, struct figure *f)
{
    const int status = pclose(f->gnuplot);
    int err;

    if (status) {
        cachesim_file_discard(&f->file);
        return cachesim_fail(s, CACHESIM_BAD_OUTPUT, s->options.plot, "gnuplot could not draw it");
    }
    err = cachesim_file_commit(&f->file);
    return err ? cachesim_fail(s, CACHESIM_BAD_OUTPUT, s->options.plot, strerror(-err)) : 0;
}

/* Writes how a tag is called. */
static void put_tag(const struct cachesim_session *s, FILE *out, unsigned tag)
{
    char name[32];

    snprintf(name, sizeof name, "tag %u", tag);
    put_string(out, s->ranges.name[tag] ? s->ranges.name[tag] : name);
}

/* ---- misses by level ---- */

static bool has_accesses(const struct sim_cell *c)
{
    return c->loads || c->stores;
}

/* Writes a row for each level: its name, and the misses of each tag, or of all tags. */
static void put_misses(const struct cachesim_session *s, FILE *out, const struct sim_machine *m,
                       const struct sim_stats *stats)
{
    for (size_t k = 0; k < m->n_levels; k++) {
        fprintf(out, "\"%s\"", m->level[k].name);
        for (unsigned tag = 0; tag < s->n_tags; tag++) {
            const struct sim_cell cell =
                s->options.by_tag ? sim_stats_tag(stats, tag) : sim_stats_total_of(stats, s->n_tags);

            if (s->options.by_tag ? has_accesses(&cell) : !tag)
                fprintf(out, " %" PRIu64, cell.level[k].read_misses + cell.level[k].write_misses);
        }
        fputc('\n', out);
    }
}

int cachesim_plot_misses(struct cachesim_session *s, const struct sim_machine *m, const struct sim_stats *stats)
{
    struct figure f;
    unsigned column = 2;
    char what[128];
    int err;

    if (!s->options.plot || cachesim_signal_is_over())
        return 0;
    err = open_figure(s, &f);
    if (err)
        return err;
    fputs("$data << END\n", f.gnuplot);
    put_misses(s, f.gnuplot, m, stats);
    snprintf(what, sizeof what, "lines that missed, simulated on %s", m->name);
    fputs("END\n", f.gnuplot);
    put_title(&f, s->options.trace, what);
    fputs("set ylabel 'misses, reads and writes'\nset yrange [0:*]\nset format y '%.1s %c'\nset style data histograms\n"
          "set style histogram rowstacked\nset boxwidth 0.6\nset xlabel 'level'\nplot ",
          f.gnuplot);
    for (unsigned tag = 0; tag < s->n_tags; tag++) {
        const struct sim_cell cell = sim_stats_tag(stats, tag);

        if (!s->options.by_tag || !has_accesses(&cell))
            continue;
        fprintf(f.gnuplot, "%s$data using %u:xtic(1) title ", column > 2 ? ", " : "", column);
        put_tag(s, f.gnuplot, tag);
        column++;
    }
    fputs(column > 2 ? "\n" : "$data using 2:xtic(1) notitle\n", f.gnuplot);
    return close_figure(s, &f);
}

/* ---- miss-ratio curve ---- */

static void put_curve(FILE *out, const struct sim_reuse *r, uint32_t line_bytes, unsigned tag)
{
    const double uses = (double)sim_reuse_uses(r, SIM_ALL_TAGS);
    struct sim_mrc_point p;

    fprintf(out, "$tag%u << END\n", tag);
    for (sim_mrc_start(r, &p); sim_mrc_next(r, &p);) {
        if (p.n_lines)
            fprintf(out, "%" PRIu64 " %.6f\n", p.n_lines * line_bytes, 100 * (double)p.misses[tag] / uses);
    }
    fputs("END\n", out);
}

/* Every fourth power of two in units as everywhere else: gnuplot writes kiB. */
static void put_sizes(FILE *out)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB" };

    fputs("set xtics (", out);
    for (unsigned log2 = 0; log2 < 40; log2 += 2)
        fprintf(out, "%s'%u %s' %" PRIu64, log2 ? ", " : "", 1u << log2 % 10, units[log2 / 10], (uint64_t)1 << log2);
    fputs(")\n", out);
}

int cachesim_plot_curve(struct cachesim_session *s, const struct sim_reuse *r)
{
    const struct cachesim_options *o = &s->options;
    struct figure f;
    char what[128];
    int err;

    if (!o->plot || cachesim_signal_is_over())
        return 0;
    err = open_figure(s, &f);
    if (err)
        return err;
    put_curve(f.gnuplot, r, o->line_bytes, SIM_ALL_TAGS);
    for (unsigned tag = 0; o->by_tag && tag < SIM_MAX_TAGS; tag++) {
        if (sim_reuse_uses(r, tag))
            put_curve(f.gnuplot, r, o->line_bytes, tag);
    }
    snprintf(what, sizeof what, "misses of fully associative LRU caches, lines of %" PRIu32 " bytes", o->line_bytes);
    put_title(&f, o->trace, what);
    put_sizes(f.gnuplot);
    fprintf(f.gnuplot,
            "set logscale x 2\nset xlabel 'size of the cache'\n"
            "set ylabel 'misses, %% of all uses of lines'\nset yrange [0:*]\n"
            "plot $tag%u with steps lw 2 title 'all'",
            (unsigned)SIM_ALL_TAGS);
    for (unsigned tag = 0; o->by_tag && tag < SIM_MAX_TAGS; tag++) {
        if (!sim_reuse_uses(r, tag))
            continue;
        fprintf(f.gnuplot, ", $tag%u with steps lw 2 title ", tag);
        put_tag(s, f.gnuplot, tag);
    }
    fputc('\n', f.gnuplot);
    return close_figure(s, &f);
}
