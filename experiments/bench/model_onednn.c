#include "experiments/bench/model_formats.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"

/* Lists what a key may say of an axis: its first letter; the second is that of the axis. */
enum quantity { IN, OUT, KERNEL, STRIDE, PAD, DILATION, N_QUANTITIES };
enum axis_number { DEPTH, HEIGHT, WIDTH, N_AXES };

static const char quantity_letters[] = "iokspd", axis_letters[] = "dhw";

struct axis {
    bool is_set[N_QUANTITIES];
    size_t value[N_QUANTITIES];
    size_t pad_behind;
};

struct sizes {
    size_t groups, images, in_c, out_c;
    struct axis axis[N_AXES];
};

enum { MOST = 1 << 30 }; /* of any number: sums and products of two do not overflow */

/* ---- reading ---- */

/* Finds what the key at *text says, and steps behind the key. Returns NULL if there is no such key. */
static size_t *find_key(struct sizes *s, const char **text, bool **is_set)
{
    const struct {
        const char *key;
        size_t *value;
    } whole[] = { { "g", &s->groups }, { "mb", &s->images }, { "ic", &s->in_c }, { "oc", &s->out_c } };
    const char *quantity = strchr(quantity_letters, **text), *letter;

    *is_set = NULL;
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        if (!strncmp(*text, whole[i].key, strlen(whole[i].key))) {
            *text += strlen(whole[i].key);
            return whole[i].value;
        }
    }
    letter = quantity && **text ? strchr(axis_letters, (*text)[1]) : NULL;
    if (!letter || !*letter)
        return NULL;
    *text += 2;
    *is_set = &s->axis[letter - axis_letters].is_set[quantity - quantity_letters];
    return &s->axis[letter - axis_letters].value[quantity - quantity_letters];
}

static int bad_number(const char *text, struct exp_why *why)
{
    return exp_fail(why, -EINVAL, "no whole number from 0 to %d at '%.40s'", MOST, text);
}

static int read_sizes(struct sizes *s, const char **text, struct exp_why *why)
{
    while (**text && **text != 'n') {
        const char *key = *text;
        unsigned long number;
        size_t *value;
        bool *is_set;
        char *end;

        if (**text == '_') {
            ++*text;
            continue;
        }
        value = find_key(s, text, &is_set);
        if (!value)
            return exp_fail(why, -EINVAL, "no size that a convolution has at '%.40s'", key);
        errno = 0;
        number = strtoul(*text, &end, 10);
        if (!isdigit((unsigned char)**text) || errno || number > MOST)
            return bad_number(key, why);
        *value = number;
        if (is_set)
            *is_set = true;
        *text = end;
    }
    return 0;
}

/* Reads n"name*6", if it is there. */
static int read_name(struct exp_descriptor *d, const char *text, struct exp_why *why)
{
    const char *end, *star;

    d->times = 1;
    d->name = text;
    d->name_length = 0;
    if (!*text)
        return 0;
    text++;
    end = text + strlen(text);
    if (*text == '"') {
        text++;
        if (end == text || end[-1] != '"')
            return exp_fail(why, -EINVAL, "a quote that is left open, '%.60s'", d->name);
        end--;
    }
    star = memchr(text, '*', (size_t)(end - text));
    if (star) {
        char *behind;
        unsigned long times = strtoul(star + 1, &behind, 10);

        if (!isdigit((unsigned char)star[1]) || behind != end || !times || times > MOST)
            return bad_number(star, why);
        d->times = times;
        end = star;
    }
    d->name = text;
    d->name_length = (size_t)(end - text);
    return 0;
}

/* ---- what follows from what ---- */

static bool is_used(const struct axis *a)
{
    for (int i = 0; i < N_QUANTITIES; i++) {
        if (a->is_set[i])
            return true;
    }
    return false;
}

/* Gives an axis of which nothing was said one element; or what was said of the axis before, as benchdnn does. */
static void complete(struct axis *a, const struct axis *before)
{
    static const struct axis one = { .value = { [IN] = 1, [OUT] = 1, [KERNEL] = 1, [STRIDE] = 1 } };

    if (!is_used(a))
        *a = before && is_used(before) ? *before : one;
    if (!a->is_set[STRIDE])
        a->value[STRIDE] = 1;
}

/* Finds what was not said of one axis's output and padding. */
static int solve(struct axis *a, char letter, struct exp_why *why)
{
    size_t *v = a->value, reach, needed;

    if (!v[IN] || !v[KERNEL] || !v[STRIDE])
        return exp_fail(why, -EINVAL, "i%c, k%c and s%c must be at least 1 (%zu, %zu, %zu)", letter, letter, letter,
                        v[IN], v[KERNEL], v[STRIDE]);
    reach = (v[KERNEL] - 1) * (v[DILATION] + 1) + 1;
    if (!v[OUT]) {
        if (v[IN] + 2 * v[PAD] < reach)
            return exp_fail(why, -EINVAL, "the filter reaches over %zu, more than the padded i%c", reach, letter);
        v[OUT] = (v[IN] + 2 * v[PAD] - reach) / v[STRIDE] + 1;
    }
    needed = (v[OUT] - 1) * v[STRIDE] + reach;
    if (!a->is_set[PAD])
        v[PAD] = needed > v[IN] ? (needed - v[IN]) / 2 : 0;
    a->pad_behind = needed > v[IN] + v[PAD] ? needed - v[IN] - v[PAD] : 0;
    return 0;
}

static bool is_one(const struct axis *a)
{
    return a->value[IN] == 1 && a->value[KERNEL] == 1 && a->value[OUT] <= 1 && !a->value[PAD];
}

static void shape(struct conv_problem *p, const struct sizes *s)
{
    const struct axis *h = &s->axis[HEIGHT], *w = &s->axis[WIDTH];

    *p = (struct conv_problem){
        .n = s->images,
        .c = s->in_c,
        .h = h->value[IN],
        .w = w->value[IN],
        .k = s->out_c,
        .r = h->value[KERNEL],
        .s = w->value[KERNEL],
        .stride_h = h->value[STRIDE],
        .stride_w = w->value[STRIDE],
        .pad_top = h->value[PAD],
        .pad_left = w->value[PAD],
        .pad_bottom = h->pad_behind,
        .pad_right = w->pad_behind,
        .groups = s->groups,
        .dilation_h = h->value[DILATION] + 1,
        .dilation_w = w->value[DILATION] + 1,
    };
}

static int finish(struct exp_descriptor *d, struct sizes *s, struct exp_why *why)
{
    struct conv_problem *p = &d->problem;
    int err = 0;

    if (is_used(&s->axis[DEPTH]) && !is_one(&s->axis[DEPTH])) {
        d->unsupported = "a convolution of volumes, not of planes";
        return 0;
    }
    complete(&s->axis[HEIGHT], NULL);
    complete(&s->axis[WIDTH], &s->axis[HEIGHT]);
    for (int i = HEIGHT; i < N_AXES && !err; i++)
        err = solve(&s->axis[i], axis_letters[i], why);
    if (err)
        return err;
    shape(p, s);
    err = conv_problem_finish(p, why->text, sizeof why->text);
    if (!err && (p->p != s->axis[HEIGHT].value[OUT] || p->q != s->axis[WIDTH].value[OUT]))
        err = exp_fail(why, -EINVAL, "the output is said to be %zux%zu, but is %zux%zu", s->axis[HEIGHT].value[OUT],
                       s->axis[WIDTH].value[OUT], p->p, p->q);
    return err;
}

int exp_descriptor_read(struct exp_descriptor *d, const char *text, size_t images, struct exp_why *why)
{
    struct sizes s = { .groups = 1, .images = 2 };
    int err;

    *d = (struct exp_descriptor){ 0 };
    err = read_sizes(&s, &text, why);
    if (!err)
        err = read_name(d, text, why);
    if (images)
        s.images = images;
    return err ? err : finish(d, &s, why);
}

bool exp_descriptor_begins(const char *text)
{
    static const char *const first[] = { "g", "mb", "ic", "id", "ih", "iw" };

    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        size_t length = strlen(first[i]);

        if (!strncmp(text, first[i], length) && isdigit((unsigned char)text[length]))
            return true;
    }
    return false;
}

/* ---- batch files ---- */

/* Limits batch files within batch files, which may name one another any number of times. */
enum { MAX_DEPTH = 8, MAX_FILES = 1000, MAX_BYTES = 64 << 20 };

/* Counts what was read so far. */
struct amount {
    size_t n_files, n_bytes;
};

/* Holds what the options so far say of the descriptors to come. */
struct state {
    bool is_conv, is_forward, is_f32;
    size_t images;  /* 0: each descriptor's own */
    regex_t match;  /* names of problems that are meant, */
    bool has_match; /* if there is one */
};

static const struct state start = { .is_conv = true, .is_forward = true, .is_f32 = true };

struct batch {
    struct exp_model *m;
    struct state *state; /* of all files together */
    struct amount *amount;
    const char *path;
    unsigned line, depth;
    struct exp_why *why;
};

static int read_batch(struct batch *b, char *text);

static int fail(const struct batch *b, const char *what, const char *value)
{
    return exp_fail(b->why, -EINVAL, "%s:%u: %s, '%.60s'", b->path, b->line, what, value);
}

/* ---- options ---- */

/* Tells whether one item of a comma-separated list is accepted. */
static bool any_of(const char *list, bool (*accepts)(const char *item, size_t length))
{
    for (;; list++) {
        size_t length = strcspn(list, ",");

        if (accepts(list, length))
            return true;
        list += length;
        if (!*list)
            return false;
    }
}

static bool is_forward(const char *item, size_t length)
{
    return length >= 3 && !strncmp(item, "FWD", 3);
}

/* Accepts f32, f32_wino, and the types of three tensors, f32:f32:f32. */
static bool is_f32(const char *item, size_t length)
{
    static const char wino[] = "f32_wino";

    if (length == strlen(wino) && !strncmp(item, wino, length))
        return true;
    for (size_t i = 0; i < length; i += 4) {
        if (length - i < 3 || strncmp(item + i, "f32", 3) || (length - i > 3 && item[i + 3] != ':'))
            return false;
    }
    return length > 0;
}

static int set_direction(struct batch *b, const char *value)
{
    b->state->is_forward = any_of(value, is_forward);
    return 0;
}

static int set_types(struct batch *b, const char *value)
{
    b->state->is_f32 = any_of(value, is_f32);
    return 0;
}

static int set_images(struct batch *b, const char *value)
{
    char *end;
    unsigned long n = strtoul(value, &end, 10);

    if (end == value || *end || *value == '-' || n > 1 << 30)
        return fail(b, "--mb takes one whole number here", value);
    b->state->images = n;
    return 0;
}

static int set_match(struct batch *b, const char *value)
{
    if (b->state->has_match)
        regfree(&b->state->match);
    b->state->has_match = *value && !regcomp(&b->state->match, value, REG_EXTENDED | REG_NOSUB);
    return *value && !b->state->has_match ? fail(b, "--match is no regular expression", value) : 0;
}

static int reset(struct batch *b, const char *value)
{
    (void)value;
    if (b->state->has_match)
        regfree(&b->state->match);
    *b->state = start;
    return 0;
}

static int set_conv(struct batch *b, const char *value)
{
    (void)value;
    b->state->is_conv = true;
    return 0;
}

static int set_other_driver(struct batch *b, const char *value)
{
    (void)value;
    b->state->is_conv = false;
    return 0;
}

/* Says whether there was too much to read. */
static int check_amount(const struct batch *b, const char *value)
{
    char what[64];

    if (b->amount->n_files <= MAX_FILES && b->amount->n_bytes <= MAX_BYTES)
        return 0;
    exp_say(what, sizeof what, "batch files within batch files, more than %d, or %d MiB", MAX_FILES, MAX_BYTES >> 20);
    return fail(b, what, value);
}

/* Reads another file, whose path is relative to this one's. */
static int include(struct batch *b, const char *value)
{
    const char *slash = strrchr(b->path, '/');
    int folder = *value == '/' || !slash ? 0 : (int)(slash + 1 - b->path);
    char *path = exp_format("%.*s%s", folder, b->path, value), *text = NULL;
    struct batch inner = *b;
    size_t bytes = 0;
    int err;

    inner.path = path;
    inner.line = 1;
    inner.depth++;
    err = inner.depth > MAX_DEPTH ? fail(b, "batch files within batch files, too deep", value)
                                  : exp_text_read(&text, &bytes, path, b->why);
    b->amount->n_files++;
    b->amount->n_bytes += bytes;
    if (!err)
        err = check_amount(b, value);
    if (!err)
        err = read_batch(&inner, text);
    free(text);
    free(path);
    return err;
}

static const struct option {
    const char *name; /* with its '=', if it takes a value */
    int (*set)(struct batch *b, const char *value);
} options[] = {
    { "--dir=", set_direction },
    { "--cfg=", set_types },
    { "--dt=", set_types },
    { "--mb=", set_images },
    { "--match=", set_match },
    { "--batch=", include },
    { "--reset", reset },
    { "--conv", set_conv },
#define DRIVER(name)                                                                                                   \
    {                                                                                                                  \
        "--" name, set_other_driver                                                                                    \
    }
    DRIVER("binary"),
    DRIVER("bnorm"),
    DRIVER("brgemm"),
    DRIVER("concat"),
    DRIVER("deconv"),
    DRIVER("eltwise"),
    DRIVER("gnorm"),
    DRIVER("graph"),
    DRIVER("ip"),
    DRIVER("lnorm"),
    DRIVER("lrn"),
    DRIVER("matmul"),
    DRIVER("pool"),
    DRIVER("prelu"),
    DRIVER("reduction"),
    DRIVER("reorder"),
    DRIVER("resampling"),
    DRIVER("rnn"),
    DRIVER("self"),
    DRIVER("shuffle"),
    DRIVER("softmax"),
    DRIVER("sum"),
    DRIVER("zeropad"),
#undef DRIVER
};

static int skip(struct batch *b, const char *reason)
{
    return exp_model_skip(b->m, (struct exp_model_place){ b->path, b->line }, reason);
}

static int read_option(struct batch *b, const char *token)
{
    char reason[96];

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const char *name = options[i].name;
        size_t length = strlen(name);

        if (name[length - 1] == '=' ? !strncmp(token, name, length) : !strcmp(token, name))
            return options[i].set(b, token + length);
    }
    exp_say(reason, sizeof reason, "option %.*s, which does not change a shape", (int)strcspn(token, "="), token);
    return skip(b, reason);
}

/* ---- descriptors ---- */

static const char *why_not_meant(const struct state *s, const char *token)
{
    if (!s->is_conv)
        return "of another driver than --conv";
    if (!s->is_forward)
        return "no forward pass";
    if (!s->is_f32)
        return "other types than fp32";
    if (s->has_match && regexec(&s->match, token, 0, NULL, 0))
        return "not what --match asks for";
    return NULL;
}

static int read_problem(struct batch *b, const char *token)
{
    const char *reason = why_not_meant(b->state, token);
    struct exp_descriptor d;
    struct exp_why line;
    int err;

    if (reason)
        return skip(b, reason);
    err = exp_descriptor_read(&d, token, b->state->images, &line);
    if (err)
        return exp_fail(b->why, err, "%s:%u: descriptor '%.60s': %s", b->path, b->line, token, line.text);
    return d.unsupported ? skip(b, d.unsupported)
                         : exp_model_add(b->m, &d, (struct exp_model_place){ b->path, b->line }, b->why);
}

/* ---- files ---- */

/* Steps over blanks, line ends and comments. */
static char *next_token(struct batch *b, char *at)
{
    for (; *at; at++) {
        if (*at == '#')
            at += strcspn(at, "\n");
        if (*at == '\n')
            b->line++;
        else if (!*at || !strchr(" \t\r", *at))
            break;
    }
    return at;
}

/* Returns where the token ends, which may have blanks between quotes. */
static char *token_end(char *at)
{
    for (bool quoted = false; *at && *at != '\n' && (quoted || !strchr(" \t\r", *at)); at++)
        quoted ^= *at == '"';
    return at;
}

static int read_batch(struct batch *b, char *text)
{
    int err = 0;

    for (char *at = next_token(b, text); *at && !err; at = next_token(b, at)) {
        char *end = token_end(at), behind = *end;

        *end = '\0';
        err = !strncmp(at, "--", 2) ? read_option(b, at) : read_problem(b, at);
        *end = behind;
        at = end;
    }
    return err;
}

int exp_benchdnn_read(struct exp_model *m, char *text, struct exp_why *why)
{
    struct state state = start;
    struct amount amount = { 0 };
    struct batch b = { .m = m, .state = &state, .amount = &amount, .path = m->path, .line = 1, .why = why };
    int err = read_batch(&b, text);

    if (state.has_match)
        regfree(&state.match);
    return err;
}

/* ---- logs ---- */

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
        return exp_model_skip(m, at, reason.text);
    }
    if (strncmp(field[PROPAGATION], "forward", 7) != 0)
        return exp_model_skip(m, at, "no forward pass");
    if (!has_f32(field[TENSORS]))
        return exp_model_skip(m, at, "other types than fp32");
    if (!text)
        return exp_fail(why, -EINVAL, "%s:%u: a convolution without a descriptor, '%.60s'", m->path, line,
                        field[n - 1]);
    err = exp_descriptor_read(&d, text, 0, &reason);
    if (err)
        return exp_fail(why, err, "%s:%u: descriptor '%.60s': %s", m->path, line, text, reason.text);
    return d.unsupported ? exp_model_skip(m, at, d.unsupported) : exp_model_add_run(m, &d, at, why);
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
        return exp_model_skip(m, (struct exp_model_place){ m->path, line }, "a line that the log's end cut short");
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
