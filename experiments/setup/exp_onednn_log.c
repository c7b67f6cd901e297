#include "experiments/setup/exp_onednn_log.h"

#include <errno.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_model_build.h"

/* Lines begin with onednn_verbose, in version 1 with mkldnn_verbose or dnnl_verbose. */
static const char marker[] = "dnn_verbose,", marker_of_1[] = "dnnl_verbose,";

/* The fields behind "exec"; what follows them holds the descriptor, next to last or last. */
enum { ENGINE, KIND, IMPLEMENTATION, PROPAGATION, TENSORS, N_FIXED, MAX_FIELDS = 32 };

static const char *find_marker(const char *line)
{
    const char *at = strstr(line, marker);

    return at ? at : strstr(line, marker_of_1);
}

bool exp_onednn_log_is(const char *text)
{
    return find_marker(text) != NULL;
}

/* Cuts a line at its commas and finds the fields behind "exec". Returns how many there are; 0: nothing was executed. */
static size_t cut(char *line, char *field[MAX_FIELDS])
{
    bool is_behind = false;
    size_t n = 0;

    for (char *rest = line; rest && n < MAX_FIELDS;) {
        char *here = rest, *comma = strchr(rest, ',');

        if (comma)
            *comma = '\0';
        rest = comma ? comma + 1 : NULL;
        if (is_behind)
            field[n++] = here;
        is_behind |= !strcmp(here, "exec");
    }
    return n;
}

/* Tells whether source, weights and destination are fp32: "src_f32::blocked:...", since version 3.4 "src:f32::...". */
static bool is_f32(const char *tensors)
{
    static const char *const names[] = { "src", "wei", "dst" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *at = strstr(tensors, names[i]);

        if (!at || strncmp(at + 4, "f32:", 4) != 0)
            return false;
    }
    return true;
}

static const char *find_descriptor(char *const *field, size_t n)
{
    for (size_t i = n; i-- > N_FIXED;) {
        if (exp_descriptor_begins(field[i]))
            return field[i];
    }
    return NULL;
}

static int read_executed(struct exp_model *m, char *const *field, size_t n, unsigned line, struct exp_why *why)
{
    const struct exp_model_place at = { m->path, line };
    const char *text = find_descriptor(field, n);
    struct exp_descriptor d;
    struct exp_why reason;
    int err;

    if (n <= N_FIXED)
        return exp_fail(why, -EINVAL, "%s:%u: a line that is cut short, '%.60s'", m->path, line, field[0]);
    if (strcmp(field[KIND], "convolution") != 0) {
        exp_say(reason.text, sizeof reason.text, "no convolution but %.60s", field[KIND]);
        return exp_model_skip(m, at, reason.text, why);
    }
    if (strncmp(field[PROPAGATION], "forward", 7) != 0)
        return exp_model_skip(m, at, "no forward pass", why);
    if (!is_f32(field[TENSORS]))
        return exp_model_skip(m, at, "other types than fp32", why);
    if (!text)
        return exp_fail(why, -EINVAL, "%s:%u: a convolution without a descriptor, '%.60s'", m->path, line,
                        field[n - 1]);
    err = exp_descriptor_read(&d, text, 0, &reason);
    if (err)
        return exp_fail(why, err, "%s:%u: descriptor '%.60s': %s", m->path, line, text, reason.text);
    return d.unsupported ? exp_model_skip(m, at, d.unsupported, why) : exp_model_add_run(m, &d, at, why);
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

/* Tells whether a line that has no end was cut: a convolution's has a descriptor, and something behind that. */
static bool is_cut(char *const *field, size_t n)
{
    if (n <= N_FIXED)
        return true;
    return !strcmp(field[KIND], "convolution") && (exp_descriptor_begins(field[n - 1]) || !find_descriptor(field, n));
}

/* Reads the line whose fields these are. is_last: it has no end, as when the program crashed while it wrote. */
static int read_line(struct exp_model *m, char *const *field, size_t n, unsigned line, bool is_last,
                     struct exp_why *why)
{
    if (is_last && is_cut(field, n))
        return exp_model_skip(m, (struct exp_model_place){ m->path, line }, "a line that the log's end cut short", why);
    return read_executed(m, field, n, line, why);
}

int exp_onednn_log_read(struct exp_model *m, char *text, struct exp_why *why)
{
    unsigned line = 1;
    size_t period;
    int err = 0;

    for (char *at = text; at && !err; line++) {
        char *end = strchr(at, '\n'), *field[MAX_FIELDS];
        size_t n = 0;

        if (end)
            *end = '\0';
        at[strcspn(at, "\r")] = '\0';
        if (find_marker(at))
            n = cut(at, field);
        if (n)
            err = read_line(m, field, n, line, !end, why);
        at = end ? end + 1 : NULL;
    }
    if (err || !m->n_layers)
        return err;
    period = find_period(m);
    m->repeats = m->n_layers / period;
    exp_model_shorten(m, period);
    return exp_model_check_size(m, why);
}
