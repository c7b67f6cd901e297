#include "experiments/setup/exp_model_build.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"

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

enum { MAX_LAYERS = 100000, SHOWN_LINES = EXP_SKIPPED_LINES };

/* Makes room for one more in an array that grows by powers of two. */
static bool grow(void *array, size_t n, size_t bytes)
{
    void **old = array, *larger;

    if (n & (n - 1))
        return true;
    larger = realloc(*old, (n ? 2 * n : 1) * bytes);
    if (!larger)
        return false;
    *old = larger;
    return true;
}

static char *shape_name(const struct exp_model *m, const struct conv_problem *p)
{
    char stride[48] = "";

    if (p->stride_h != 1 || p->stride_w != 1)
        exp_say(stride, sizeof stride, "_s%zux%zu", p->stride_h, p->stride_w);
    return exp_format("%02zu_%zux%zux%zu_%zu_%zux%zu%s", m->n_layers + 1, p->c, p->h, p->w, p->k, p->r, p->s, stride);
}

static int add_once(struct exp_model *m, const struct exp_descriptor *d, struct exp_model_place at, struct exp_why *why)
{
    struct exp_layer *l;

    if (!grow(&m->layer, m->n_layers, sizeof *m->layer))
        return exp_fail(why, -ENOMEM, "%s: out of memory", m->path);
    l = &m->layer[m->n_layers];
    *l = (struct exp_layer){ .problem = d->problem, .line = at.line, .index = (unsigned)m->n_layers + 1 };
    l->name = d->name_length ? strndup(d->name, d->name_length) : shape_name(m, &d->problem);
    if (!l->name)
        return exp_fail(why, -ENOMEM, "%s: out of memory", m->path);
    m->n_layers++;
    return 0;
}

static int check_name(const struct exp_descriptor *d, struct exp_model_place at, struct exp_why *why)
{
    for (size_t i = 0; i < d->name_length; i++) {
        if (iscntrl((unsigned char)d->name[i]))
            return exp_fail(why, -EINVAL, "%s:%u: name, a control character after '%.*s'", at.path, at.line, (int)i,
                            d->name);
    }
    return 0;
}

int exp_model_add(struct exp_model *m, const struct exp_descriptor *d, struct exp_model_place at, struct exp_why *why)
{
    int err = check_name(d, at, why);

    for (size_t i = 0; i < d->times && !err; i++)
        err = m->n_layers < MAX_LAYERS
                  ? add_once(m, d, at, why)
                  : exp_fail(why, -EINVAL, "%s:%u: more than %d layers", at.path, at.line, MAX_LAYERS);
    return err;
}

int exp_model_add_run(struct exp_model *m, const struct exp_descriptor *d, struct exp_model_place at,
                      struct exp_why *why)
{
    int err = check_name(d, at, why);

    return err ? err : add_once(m, d, at, why);
}

int exp_model_check_size(const struct exp_model *m, struct exp_why *why)
{
    if (m->n_layers <= MAX_LAYERS)
        return 0;
    return exp_fail(why, -EINVAL, "%s: %zu convolutions that do not repeat; at most %d", m->path, m->n_layers,
                    MAX_LAYERS);
}

void exp_model_shorten(struct exp_model *m, size_t n)
{
    while (m->n_layers > n)
        free(m->layer[--m->n_layers].name);
}

static struct exp_skipped *find_skipped(struct exp_model *m, const char *path, const char *reason)
{
    for (size_t i = 0; i < m->n_skipped; i++) {
        if (!strcmp(m->skipped[i].reason, reason) && !strcmp(m->skipped[i].path, path))
            return &m->skipped[i];
    }
    return NULL;
}

int exp_model_skip(struct exp_model *m, struct exp_model_place at, const char *reason, struct exp_why *why)
{
    struct exp_skipped *s = find_skipped(m, at.path, reason);

    if (!s) {
        if (!grow(&m->skipped, m->n_skipped, sizeof *m->skipped))
            return exp_fail(why, -ENOMEM, "%s: out of memory", m->path);
        s = &m->skipped[m->n_skipped];
        *s = (struct exp_skipped){ .path = strdup(at.path), .reason = strdup(reason) };
        m->n_skipped++; /* exp_model_release() frees what there is of it */
        if (!s->path || !s->reason)
            return exp_fail(why, -ENOMEM, "%s: out of memory", m->path);
    }
    if (s->times < SHOWN_LINES)
        s->line[s->times] = at.line;
    s->times++;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct exp_layer *const *l = a, *const *r = b;
    int order = strcmp((*l)->name, (*r)->name);

    return order ? order : ((*l)->line > (*r)->line) - ((*l)->line < (*r)->line);
}

/* Prints which layers of a table share a name: the first two, and how many more there are. */
static void print_namesakes(const struct exp_model *m, FILE *out)
{
    const struct exp_layer **sorted = calloc(m->n_layers, sizeof *sorted);
    size_t n = 0, first = 0;

    for (size_t i = 0; sorted && i < m->n_layers; i++)
        sorted[i] = &m->layer[i];
    if (sorted)
        qsort(sorted, m->n_layers, sizeof *sorted, by_name);
    for (size_t i = 1; sorted && i < m->n_layers; i++) {
        if (strcmp(sorted[i]->name, sorted[i - 1]->name) == 0 && !n++)
            first = i;
    }
    if (n)
        fprintf(out,
                "%s: warning: two layers are called '%s', in lines %u and %u%s: tables and LAYERS= cannot tell them "
                "apart\n",
                m->path, sorted[first]->name, sorted[first - 1]->line, sorted[first]->line,
                n > 1 ? "; there are more of the kind" : "");
    free(sorted);
}

void exp_model_print_notes(const struct exp_model *m, FILE *out)
{
    if (m->is_table)
        print_namesakes(m, out);
    if (m->repeats)
        fprintf(out, "%s: %zu convolutions, which ran %zu time%s\n", m->path, m->n_layers, m->repeats,
                m->repeats > 1 ? "s" : "");
    for (const struct exp_skipped *s = m->skipped; s < m->skipped + m->n_skipped; s++) {
        size_t shown = s->times < SHOWN_LINES ? s->times : SHOWN_LINES;

        fprintf(out, "%s: skipped %zu, %s: line%s", s->path, s->times, s->reason, s->times > 1 ? "s" : "");
        for (size_t i = 0; i < shown; i++)
            fprintf(out, "%s %u", i ? "," : "", s->line[i]);
        fprintf(out, "%s\n", s->times > shown ? ", ..." : "");
    }
}
