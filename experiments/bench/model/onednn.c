/* Logs of programs that use oneDNN: part of formats.h. */
#include "experiments/bench/model/formats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/stats.h"

/*
 * The beginnings of oneDNN's lines: onednn_verbose; in version 1 mkldnn_verbose or dnnl_verbose; in version 0
 * mkldnn_verbose; for graphs before version 3 onednn_graph_verbose.
 */
static const char *const markers[] = { "dnn_verbose,", "dnnl_verbose,", "_graph_verbose," };

/* The fields behind "exec". The descriptor is the last field behind the fixed fields, or the last but one. */
enum { ENGINE, KIND, IMPLEMENTATION, PROPAGATION, TENSORS, N_FIXED, MAX_FIELDS = 32 };

/* A line of oneDNN: an execution, another known event, or an unknown line. */
struct line {
    char *field[MAX_FIELDS];
    size_t n;
    bool is_executed, is_known, is_graph;
    bool is_of_0; /* of MKL-DNN 0: no engine and no types */
};

static bool begins(const char *text, const char *word)
{
    return !strncmp(text, word, strlen(word));
}

/* Returns the first marker of a text; NULL: none. */
static char *find_marker(char *text)
{
    char *first = NULL;

    for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++) {
        char *at = strstr(text, markers[i]);

        if (at && (!first || at < first))
            first = at;
    }
    return first;
}

bool exp_onednn_log_is(const char *text)
{
    bool is = false;

    for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++)
        is = is || strstr(text, markers[i]);
    return is;
}

/* Tells whether a field names an event that is no execution. */
static bool is_other_event(const char *field)
{
    static const char *const events[] = { "info",      "create",   "compile", "error",         "warn",
                                          "debuginfo", "dispatch", "exec:",   "exec_external", "exec_nested" };

    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (begins(field, events[i]))
            return true;
    }
    return false;
}

/* Inserts the engine as the first field, because version 0 omits the engine. */
static void add_engine(struct line *l, char *engine)
{
    l->is_of_0 = true;
    l->field[l->n++] = engine;
}

/* Splits a line at its commas, from its marker on, and finds the fields behind "exec". is_mkl: mkldnn_verbose. */
static void cut(struct line *l, char *text, bool is_mkl)
{
    static char engine[] = "cpu";

    *l = (struct line){ .is_graph = begins(text, "_graph") };
    for (char *rest = text; rest && l->n < MAX_FIELDS;) {
        char *here = rest, *comma = strchr(rest, ',');

        if (comma)
            *comma = '\0';
        rest = comma ? comma + 1 : NULL;
        if (l->is_executed && !l->n && is_mkl && !begins(here, "cpu") && !begins(here, "gpu"))
            add_engine(l, engine);
        if (l->is_executed)
            l->field[l->n++] = here;
        else if (!strcmp(here, "exec"))
            l->is_executed = true;
        else
            l->is_known = l->is_known || is_other_event(here);
        l->is_graph = l->is_graph || (!l->is_executed && !strcmp(here, "graph"));
    }
}

/* Tells whether source, weights and destination are fp32: "src_f32::blocked:...", since version 3.4 "src:f32::...". */
static bool has_f32(const char *tensors)
{
    static const char *const names[] = { "src", "wei", "dst" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *at = strstr(tensors, names[i]);

        if (!at || strncmp(at + 4, "f32:", 4) != 0)
            return false;
    }
    return true;
}

/* Tells whether the name of a version 0 implementation means integers or bf16. Logs of version 0 have no types. */
static bool is_of_other_types(const char *implementation)
{
    static const char *const names[] = { "int8", "s8", "u8", "s16", "bf16" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strstr(implementation, names[i]))
            return true;
    }
    return false;
}

/* Returns the place of the descriptor among the fields; l->n: there is none. */
static size_t place_of_descriptor(const struct line *l)
{
    for (size_t i = l->n; i-- > N_FIXED;) {
        if (exp_descriptor_begins(l->field[i]))
            return i;
    }
    return l->n;
}

static const char *find_descriptor(const struct line *l)
{
    const size_t at = place_of_descriptor(l);

    return at < l->n ? l->field[at] : NULL;
}

/* Returns why an execution is not read; "" if the execution is no convolution; NULL if it is read. */
static const char *why_not(const struct line *l)
{
    if (strcmp(l->field[KIND], "convolution") != 0)
        return "";
    if (!begins(l->field[PROPAGATION], "forward"))
        return EXP_NOT_FORWARD;
    if (l->is_of_0 ? is_of_other_types(l->field[IMPLEMENTATION]) : !has_f32(l->field[TENSORS]))
        return EXP_OTHER_TYPES;
    return NULL;
}

/* Adds the fused convolutions from a line's attribute fields. Notes attributes that change types. */
static int add_fused(struct exp_model *m, const struct exp_descriptor *d, const struct line *l,
                     struct exp_model_place at, struct exp_why *why)
{
    int err = 0;

    for (size_t i = N_FIXED; i < l->n && !err; i++) {
        const char *text = l->field[i];
        struct exp_fused f;

        if (exp_descriptor_begins(text) || begins(text, "alg:"))
            continue;
        if (strstr(text, "fpmath"))
            exp_model_skip(m, at, "attr-fpmath, fewer bits, of layers that are read as fp32");
        for (const char *from = exp_fused_find(&f, text, text); from && !err; from = exp_fused_find(&f, from, text)) {
            struct exp_descriptor with;
            const char *reason = exp_descriptor_fuse(&with, d, &f);

            err = reason ? exp_model_skip(m, at, reason) : exp_model_add_run(m, &with, at, why);
        }
    }
    return err;
}

/* Notes an unreadable line, with a part of its text. */
static int skip_odd(struct exp_model *m, struct exp_model_place at, const char *what, const char *text)
{
    struct exp_why reason;

    exp_say(reason.text, sizeof reason.text, "%s %.80s", what, text);
    return exp_model_skip(m, at, reason.text);
}

/*
 * Returns the time behind the descriptor, in ns; 0 without a time. The log has ms; in some languages, a comma stands
 * before the decimals, and the decimals are a field.
 */
static double time_of(const struct line *l)
{
    const size_t at = place_of_descriptor(l) + 1;
    char text[64], *end;
    double ms;

    if (at >= l->n || l->n > at + 2)
        return 0;
    exp_say(text, sizeof text, "%s%s%s", l->field[at], at + 1 < l->n ? "." : "", at + 1 < l->n ? l->field[at + 1] : "");
    ms = strtod(text, &end);
    return end > text && !end[strspn(end, " \r")] && isfinite(ms) && ms > 0 ? round(1e6 * ms) : 0;
}

static int read_convolution(struct exp_model *m, const struct line *l, struct exp_model_place at, struct exp_why *why)
{
    const char *text = find_descriptor(l);
    const size_t n_before = m->n_layers;
    struct exp_descriptor d;
    struct exp_why odd, reason;
    int err;

    if (!text)
        return skip_odd(m, at, "a convolution without a descriptor,", l->field[l->n - 1]);
    if (exp_descriptor_read(&d, text, 0, &odd)) {
        exp_say(reason.text, sizeof reason.text, "descriptor '%.80s': %s", text, odd.text);
        return exp_model_skip(m, at, reason.text);
    }
    if (d.unsupported)
        return exp_model_skip(m, at, d.unsupported);
    m->n_untyped += l->is_of_0;
    err = exp_model_add_run(m, &d, at, why);
    err = err ? err : add_fused(m, &d, l, at, why);
    if (!err && m->n_layers == n_before + 1) /* the time of fused convolutions is of both together */
        m->layer[n_before].given_ns = time_of(l);
    return err;
}

static int read_executed(struct exp_model *m, const struct line *l, struct exp_model_place at, struct exp_why *why)
{
    const char *reason;

    if (l->is_graph)
        return exp_model_skip(m, at, "partitions of oneDNN's graphs, whose operators a log does not name");
    if (l->n <= N_FIXED)
        return skip_odd(m, at, "a line that is cut short, behind 'exec' stands", l->n ? l->field[0] : "");
    reason = why_not(l);
    if (!reason)
        return read_convolution(m, l, at, why);
    return *reason ? exp_model_skip(m, at, reason) : skip_odd(m, at, "no convolution but", l->field[KIND]);
}

/* Finds the shortest begin of the layers that they repeat to their end. */
static size_t find_period(const struct exp_model *m)
{
    for (size_t period = 1; period < m->n_layers; period++) {
        size_t i = period;

        if (m->n_layers % period)
            continue;
        while (i < m->n_layers && conv_problem_equal(&m->layer[i].problem, &m->layer[i - period].problem))
            i++;
        if (i == m->n_layers)
            return period;
    }
    return m->n_layers;
}

/* Gives each layer the median of the times of its repetitions. */
static void fold_times(struct exp_model *m, size_t period)
{
    double *ns = exp_new(m->n_layers / period, sizeof *ns);

    for (size_t i = 0; i < period; i++) {
        size_t n = 0;

        for (size_t k = i; k < m->n_layers; k += period) {
            if (m->layer[k].given_ns > 0)
                ns[n++] = m->layer[k].given_ns;
        }
        m->layer[i].given_ns = n ? exp_spread_of(ns, n).median : 0;
    }
    free(ns);
}

/* Tells whether a line that has no end was cut: a convolution's has a descriptor, and something behind that. */
static bool is_cut(const struct line *l)
{
    if (l->n <= N_FIXED)
        return true;
    return !strcmp(l->field[KIND], "convolution") && (exp_descriptor_begins(l->field[l->n - 1]) || !find_descriptor(l));
}

/* Reasons for a truncated line: the log ended, for example by a crash, or another line follows. */
#define BY_END "a line that the log's end cut short"
#define BY_LINE "a line that another line cut short"

/* Reads a line from its marker on. cut_by: the reason to note if the line is truncated; NULL: the line is complete. */
static int read_line(struct exp_model *m, struct line *l, struct exp_model_place at, const char *cut_by,
                     struct exp_why *why)
{
    if (cut_by && l->is_executed && is_cut(l))
        return exp_model_skip(m, at, cut_by);
    if (l->is_executed)
        return read_executed(m, l, at, why);
    return l->is_known ? 0 : exp_model_skip(m, at, "a line of oneDNN that is not understood");
}

/* Reads a line of a file. The line may hold several lines of oneDNN, written by several threads. */
static int read_whole_line(struct exp_model *m, char *text, struct exp_model_place at, bool is_last,
                           struct exp_why *why)
{
    const char *begin = text;
    int err = 0;

    for (char *here = find_marker(text), *next; here && !err; here = next) {
        const bool is_mkl = begins(here, "dnn_") && here > begin && here[-1] == 'l';
        struct line l;

        begin = here;
        next = find_marker(here + 1);
        if (next)
            next[-1] = '\0';
        cut(&l, here, is_mkl);
        err = read_line(m, &l, at, next ? BY_LINE : is_last ? BY_END : NULL, why);
    }
    return err;
}

int exp_onednn_log_read(struct exp_model *m, char *text, struct exp_why *why)
{
    struct exp_model_place place = { m->path, 1 };
    size_t period;
    int err = 0;

    for (char *at = text; at && !err; place.line++) {
        char *end = strchr(at, '\n');

        if (end)
            *end = '\0';
        err = read_whole_line(m, at, place, !end, why);
        at = end ? end + 1 : NULL;
    }
    if (err || !m->n_layers)
        return err;
    period = find_period(m);
    m->repeats = m->n_layers / period;
    fold_times(m, period);
    exp_model_shorten(m, period);
    return exp_model_check_size(m, why);
}
