#define _GNU_SOURCE /* strsep */
#include "experiments/annotate/lines.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "experiments/base/text.h"

#define MISSES(k) REC_VALUE(struct line_row, misses[k])

static const struct rec_field fields[] = {
    { { "file", "", "source file", "" }, REC_AT(struct line_row, file) },
    { { "line", "", "number of the line", "" }, REC_AT(struct line_row, line) },
    { { "loads", "", "loads of the line's instructions", "emulator" }, REC_AT(struct line_row, loads) },
    { { "stores", "", "stores of the line's instructions", "emulator" }, REC_AT(struct line_row, stores) },
    { { "l1_load_misses", "", "loads that miss the first level", "simulation" }, MISSES(0) },
    { { "l2_load_misses", "", "loads that miss the second level, too", "simulation" }, MISSES(1) },
    { { "l3_load_misses", "", "loads that miss the third level, too", "simulation" }, MISSES(2) },
    { { "l4_load_misses", "", "loads that miss the fourth level, too", "simulation" }, MISSES(3) },
    { { "waiting_cycles", "cycles",
        "the latency of each missed load, as if no wait was hidden: an upper bound for loads; stores wait elsewhere",
        "simulation" },
      REC_AT(struct line_row, waiting) },
    { { "source", "", "text of the line", "" }, REC_AT(struct line_row, source) },
};

const struct rec_table lines_table = REC_TABLE("lines.csv", fields, struct line_row);

/* ---- reading ---- */

enum { MAX_EVENTS = 64 };

struct reader {
    struct lines *l;
    const struct sim_machine *m;
    const char *driver;
    size_t loads, stores, misses[LINES_MOST_LEVELS]; /* places of the events; MAX_EVENTS: none */
    char file[4096];
};

static size_t event_at(char *events, const char *name)
{
    char *copy = exp_copy_text(events), *rest = copy;
    size_t i = 0, found = MAX_EVENTS;

    for (char *word; (word = strsep(&rest, " \n"));) {
        if (!*word)
            continue;
        found = strcmp(word, name) ? found : i;
        i++;
    }
    free(copy);
    return found;
}

static void read_events(struct reader *r, char *events)
{
    char name[64];

    r->loads = event_at(events, "Loads");
    r->stores = event_at(events, "Stores");
    for (size_t k = 0; k < r->m->n_levels && k < LINES_MOST_LEVELS; k++) {
        exp_say(name, sizeof name, "%.20s_load_misses", r->m->level[k].name);
        r->misses[k] = event_at(events, name);
    }
}

static struct line_row *row_of(struct lines *l, const char *file, uint64_t line)
{
    struct line_row *row;

    for (size_t i = l->n; i-- > 0;) { /* equal lines are near */
        if (l->row[i].line == line && !strcmp(l->row[i].file, file))
            return &l->row[i];
    }
    row = exp_append(&l->row, &l->n, sizeof *row);
    *row = (struct line_row){ .file = exp_copy_text(file), .line = line };
    for (size_t k = 0; k < LINES_MOST_LEVELS; k++)
        row->misses[k] = value_none("no such level");
    return row;
}

static double latency_of(const struct sim_machine *m, size_t k)
{
    return k < m->n_levels ? m->level[k].latency_cycles : m->memory_latency_cycles;
}

static void add_counts(struct reader *r, uint64_t line, const double *count)
{
    const bool is_known = strcmp(r->file, "???") && strcmp(r->file, r->driver);
    struct line_row *row = is_known ? row_of(r->l, r->file, line) : NULL;
    double waiting = 0;

    for (size_t k = 0; k < r->m->n_levels && k < LINES_MOST_LEVELS; k++) {
        const double misses = r->misses[k] < MAX_EVENTS ? count[r->misses[k]] : 0;
        const double further = k + 1 < r->m->n_levels && r->misses[k + 1] < MAX_EVENTS ? count[r->misses[k + 1]] : 0;

        waiting += (misses > further ? misses - further : 0) * latency_of(r->m, k + 1);
        if (row)
            row->misses[k] = value_of((row->misses[k].why ? 0 : row->misses[k].number) + misses);
    }
    if (!row) {
        r->l->others += strcmp(r->file, "???") ? 0 : waiting;
        return;
    }
    row->loads += r->loads < MAX_EVENTS ? count[r->loads] : 0;
    row->stores += r->stores < MAX_EVENTS ? count[r->stores] : 0;
    row->waiting += waiting;
    r->l->waiting += waiting;
}

static void read_counts(struct reader *r, char *text)
{
    double count[MAX_EVENTS] = { 0 };
    char *end;
    const uint64_t line = strtoull(text, &end, 10);

    for (size_t i = 0; i < MAX_EVENTS && *end == ' '; i++)
        count[i] = strtod(end, &end);
    add_counts(r, line, count);
}

static void read_line(struct reader *r, char *text)
{
    if (!strncmp(text, "events:", 7))
        read_events(r, text + 7);
    else if (!strncmp(text, "fl=", 3))
        exp_say(r->file, sizeof r->file, "%.*s", (int)strcspn(text + 3, "\n"), text + 3);
    else if (*text >= '0' && *text <= '9')
        read_counts(r, text);
}

/* ---- the source ---- */

/* Finds the text of each line of a file. */
static void add_source(struct lines *l, const char *file)
{
    FILE *in = exp_file_open(file);
    char *text = NULL;
    size_t room = 0;
    ssize_t length;

    for (uint64_t n = 1; in && (length = getline(&text, &room, in)) >= 0; n++) {
        for (size_t i = 0; i < l->n; i++) {
            if (l->row[i].line == n && !l->row[i].source && !strcmp(l->row[i].file, file)) {
                text[strcspn(text, "\n")] = '\0';
                l->row[i].source = exp_copy_text(text + strspn(text, " \t"));
            }
        }
    }
    free(text);
    if (in)
        fclose(in);
}

/* Removes the lines of unreadable files, such as the C library's. */
static void keep_readable(struct lines *l)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->n; i++) {
        if (!l->row[i].source)
            add_source(l, l->row[i].file);
    }
    for (size_t i = 0; i < l->n; i++) {
        if (l->row[i].source) {
            l->row[kept++] = l->row[i];
            continue;
        }
        l->waiting -= l->row[i].waiting;
        l->others += l->row[i].waiting;
        free((char *)(uintptr_t)l->row[i].file);
    }
    l->n = kept;
}

static int by_cost(const void *a, const void *b)
{
    const struct line_row *x = a, *y = b;
    const double own = x->misses[0].number, other = y->misses[0].number;

    if (x->waiting != y->waiting)
        return x->waiting < y->waiting ? 1 : -1;
    if (own != other)
        return own < other ? 1 : -1;
    return x->loads + x->stores != y->loads + y->stores ? (x->loads + x->stores < y->loads + y->stores ? 1 : -1)
                                                        : (x->line > y->line) - (x->line < y->line);
}

int lines_read(struct lines *l, const char *path, const char *own, const char *driver, const struct sim_machine *m,
               struct exp_why *why)
{
    struct reader r = { .l = l, .m = m, .loads = MAX_EVENTS, .stores = MAX_EVENTS };
    FILE *in = exp_file_open(path);
    char *text = NULL, *resolved = realpath(driver, NULL);
    size_t room = 0;

    assert(l && own && driver && m);
    if (!in) {
        free(resolved);
        return exp_fail(why, -errno, "%s: %s", path, exp_file_error(errno));
    }
    r.driver = resolved ? resolved : driver;
    for (size_t k = 0; k < LINES_MOST_LEVELS; k++)
        r.misses[k] = MAX_EVENTS;
    *l = (struct lines){ .own = realpath(own, NULL) };
    while (getline(&text, &room, in) >= 0)
        read_line(&r, text);
    free(text);
    fclose(in);
    free(resolved);
    keep_readable(l);
    if (l->n)
        qsort(l->row, l->n, sizeof *l->row, by_cost);
    return l->n ? 0 : exp_fail(why, -ENODATA, "no access has a source line");
}

void lines_release(struct lines *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free((char *)(uintptr_t)l->row[i].file);
        free((char *)(uintptr_t)l->row[i].source);
    }
    free(l->row);
    free(l->own);
    *l = (struct lines){ 0 };
}

/* ---- the page ---- */

static void print_escaped(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            fputc(*text, out);
    }
}

static void print_row(const struct lines *l, const char *text, uint64_t number, size_t n_levels, FILE *out)
{
    const struct line_row *row = NULL;
    double share;

    for (size_t i = 0; i < l->n && !row; i++)
        row = l->row[i].line == number && l->own && !strcmp(l->row[i].file, l->own) ? &l->row[i] : NULL;
    share = row && l->waiting > 0 ? row->waiting / l->waiting : 0;
    fprintf(out, "<tr style=\"--s:%.2f\"><td>%llu", share, (unsigned long long)number);
    if (row) {
        fprintf(out, "<td>%.0f<td>%.0f", row->loads, row->stores);
        for (size_t k = 0; k < n_levels; k++)
            fprintf(out, "<td>%.0f", row->misses[k].number);
        fprintf(out, "<td>%.1f %%", 100 * share);
    } else {
        fprintf(out, "<td colspan=%zu>", 3 + n_levels);
    }
    fputs("<td><code>", out);
    print_escaped(text, out);
    fputs("</code>\n", out);
}

int lines_print_page(const struct lines *l, const char *title, size_t n_levels, FILE *out)
{
    FILE *in = l->own ? exp_file_open(l->own) : NULL;
    char *text = NULL;
    size_t room = 0;

    fprintf(out, "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">"
                 "<title>");
    print_escaped(title, out);
    fputs("</title><style>:root{color-scheme:light dark}body{font:14px sans-serif;overflow-x:auto}"
          "td,th{text-align:right;padding:0 .6em;white-space:pre}td:last-child{text-align:left;"
          "background:color-mix(in srgb,#d33 calc(var(--s)*70%),transparent)}"
          "th{position:sticky;top:0;background:Canvas}</style><h1>",
          out);
    print_escaped(title, out);
    fputs("</h1><table><tr><th>line<th>loads<th>stores", out);
    for (size_t k = 0; k < n_levels; k++)
        fprintf(out, "<th>L%zu load misses", k + 1);
    fputs("<th>of waiting<th>\n", out);
    for (uint64_t n = 1; in && getline(&text, &room, in) >= 0; n++) {
        text[strcspn(text, "\n")] = '\0';
        print_row(l, text, n, n_levels, out);
    }
    fputs("</table></html>\n", out);
    free(text);
    if (in)
        fclose(in);
    return 0;
}
