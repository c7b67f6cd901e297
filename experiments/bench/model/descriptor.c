/* Problem descriptors of oneDNN and their fused convolutions: part of formats.h. */
#include "experiments/bench/model/formats.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Lists the sizes of an axis. A key has two letters: of the size (quantity_letters) and of the axis (axis_letters). */
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

enum { MOST = 1 << 30 }; /* largest number: sums and products of two numbers do not overflow */

/* ---- reading ---- */

/* Finds the size that the key at *text names, and moves *text behind the key. Returns NULL for an unknown key. */
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

static int unknown_key(const char *key, struct exp_why *why)
{
    if (!strncmp(key, "dt", 2))
        return exp_fail(why, -EINVAL, "convolutions run in fp32 here, and a descriptor names no type, at '%.40s'", key);
    return exp_fail(why, -EINVAL, "no size that a convolution has at '%.40s'", key);
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
            return unknown_key(key, why);
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

/* Returns the last star of a name if only a number follows the star; else NULL, and the star is a part of the name. */
static const char *find_times(const char *name, const char *end)
{
    const char *digits = end;

    while (digits > name && isdigit((unsigned char)digits[-1]))
        digits--;
    return digits > name && digits < end && digits[-1] == '*' ? digits - 1 : NULL;
}

/* Reads n"name*6", if the text has a name. */
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
    star = find_times(text, end);
    if (star) {
        unsigned long times = strtoul(star + 1, NULL, 10);

        if (!times || times > MOST)
            return bad_number(star, why);
        d->times = times;
        end = star;
    }
    d->name = text;
    d->name_length = (size_t)(end - text);
    return 0;
}

/* ---- derived sizes ---- */

/*
 * Tells whether a descriptor says anything of an axis. As in benchdnn, a stride of 1 and a padding of 0 do not count.
 */
static bool is_used(const struct axis *a)
{
    const size_t *v = a->value;

    return v[IN] || v[KERNEL] || v[OUT] || v[DILATION] || v[PAD] || (a->is_set[STRIDE] && v[STRIDE] != 1);
}

/* Completes an axis. An unused axis becomes a copy of the axis before, as in benchdnn, or gets a single element. */
static void complete(struct axis *a, const struct axis *before)
{
    static const struct axis one = { .value = { [IN] = 1, [OUT] = 1, [KERNEL] = 1, [STRIDE] = 1 } };

    if (!is_used(a))
        *a = before && is_used(before) ? *before : one;
    if (!a->is_set[STRIDE])
        a->value[STRIDE] = 1;
}

/* Computes the missing output size and padding of an axis. */
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
    d->is_line = !is_used(&s->axis[HEIGHT]) && is_used(&s->axis[WIDTH]);
    complete(&s->axis[HEIGHT], NULL);
    complete(&s->axis[WIDTH], &s->axis[HEIGHT]);
    for (int i = HEIGHT; i < N_AXES && !err; i++)
        err = solve(&s->axis[i], axis_letters[i], why);
    if (err)
        return err;
    shape(p, s);
    err = conv_problem_finish(p, SIM_WHY(why->text));
    if (!err && (p->p != s->axis[HEIGHT].value[OUT] || p->q != s->axis[WIDTH].value[OUT]))
        err = exp_fail(why, -EINVAL,
                       "the output is said to be %zux%zu, but is %zux%zu; padding that is negative is not supported",
                       s->axis[HEIGHT].value[OUT], s->axis[WIDTH].value[OUT], p->p, p->q);
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

/* ---- fused convolutions ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Finds "dw" as a whole word, or "dw_k", the notation of older versions: dw_k3s1p1. */
static const char *find_word(const char *from, const char *text)
{
    for (const char *at = strstr(from, "dw"); at; at = strstr(at + 2, "dw")) {
        if ((at == text || !is_word(at[-1])) && (!is_word(at[2]) || !strncmp(at + 2, "_k", 2)))
            return at;
    }
    return NULL;
}

/* Reads a letter and its number. Returns false, and reads nothing, if the text has neither. */
static bool read_letter(const char **text, char letter, size_t *value)
{
    char *end;
    unsigned long number;

    if (tolower((unsigned char)**text) != letter || !isdigit((unsigned char)(*text)[1]))
        return false;
    number = strtoul(*text + 1, &end, 10);
    *value = number > MOST ? MOST : number;
    *text = end;
    return true;
}

/* Tells whether the type behind a fused convolution is fp32. A missing type counts as fp32. */
static bool is_fused_f32(const char *text)
{
    return *text != ':' || !isalpha((unsigned char)text[1]) || (!strncmp(text + 1, "f32", 3) && !is_word(text[4]));
}

const char *exp_fused_find(struct exp_fused *f, const char *from, const char *text)
{
    const char *at = find_word(from, text);

    *f = (struct exp_fused){ 0 };
    if (!at)
        return NULL;
    at += 2;
    at += *at == ':' || *at == '_';
    f->is_known = read_letter(&at, 'k', &f->kernel) && read_letter(&at, 's', &f->stride) &&
                  (read_letter(&at, 'p', &f->pad) || !is_word(*at));
    f->is_f32 = is_fused_f32(at);
    return at;
}

const char *exp_descriptor_fuse(struct exp_descriptor *with, const struct exp_descriptor *d, const struct exp_fused *f)
{
    const struct conv_problem *first = &d->problem;
    struct sizes s = { .groups = first->k, .images = first->n, .in_c = first->k, .out_c = first->k };
    struct exp_why ignored;

    if (!f->is_known || !f->kernel || !f->stride)
        return "a fused depthwise convolution whose size is not understood";
    if (!f->is_f32)
        return "a fused depthwise convolution of other types than fp32";
    for (int i = HEIGHT + d->is_line; i < N_AXES; i++) {
        const size_t size = i == HEIGHT ? first->p : first->q;

        s.axis[i] = (struct axis){
            .is_set = { [STRIDE] = true, [PAD] = true },
            .value = { [IN] = size,
                       [OUT] = (size + f->stride - 1) / f->stride,
                       [KERNEL] = f->kernel,
                       [STRIDE] = f->stride,
                       [PAD] = f->pad },
        };
    }
    *with = *d;
    with->suffix = "_dw";
    if (finish(with, &s, &ignored))
        return "a fused depthwise convolution whose size is not possible";
    return NULL;
}
