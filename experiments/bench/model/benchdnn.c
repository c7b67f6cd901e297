/* Batch files of benchdnn: part of formats.h. */
#include "experiments/bench/model/formats.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "experiments/base/text.h"

/* ---- batch files ---- */

/* Limit the inclusion of batch files by batch files, which may include each other without end. */
enum { MAX_DEPTH = 8, MAX_FILES = 10000, MAX_BYTES = 64 << 20 };

/* Counts the files, bytes and unreadable descriptors read. */
struct amount {
    size_t n_files, n_bytes, n_odd;
};

enum { MAX_IMAGES = 32, MAX_FUSED = 8, MAX_ODD = 32 };

/* Tells whether a list has supported items, and whether it has unsupported items. */
struct asked {
    bool any, others;
};

/* Holds the options in force for the next descriptors. */
struct state {
    bool is_conv;
    struct asked forward, f32;
    size_t images[MAX_IMAGES], n_images; /* 0: each descriptor's own number */
    struct exp_fused fused[MAX_FUSED];   /* without duplicates */
    size_t n_fused;
    regex_t match;  /* for the names of requested problems */
    bool has_match; /* whether `match` is set */
};

static const struct state start = {
    .is_conv = true, .forward = { true, false }, .f32 = { true, false }, .n_images = 1
};

struct batch {
    struct exp_model *m;
    struct state *state; /* shared by all files */
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

static int skip(struct batch *b, const char *reason)
{
    return exp_model_skip(b->m, (struct exp_model_place){ b->path, b->line }, reason);
}

/* ---- options ---- */

/* Tells whether a comma-separated list has accepted items, and whether it has refused items. */
static struct asked ask(const char *list, bool (*accepts)(const char *item, size_t length))
{
    struct asked a = { false, false };

    for (;; list++) {
        size_t length = strcspn(list, ",");

        *(accepts(list, length) ? &a.any : &a.others) = true;
        list += length;
        if (!*list)
            return a;
    }
}

static bool is_forward(const char *item, size_t length)
{
    return length >= 3 && !strncasecmp(item, "FWD", 3);
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

/* An option without a value gets its default again. */
static int set_direction(struct batch *b, const char *value)
{
    b->state->forward = *value ? ask(value, is_forward) : start.forward;
    return 0;
}

static int set_types(struct batch *b, const char *value)
{
    b->state->f32 = *value ? ask(value, is_f32) : start.f32;
    return 0;
}

static int set_images(struct batch *b, const char *value)
{
    struct state *s = b->state;

    s->n_images = 0;
    for (const char *at = *value ? value : "0";; at++) {
        char *end;
        unsigned long n = strtoul(at, &end, 10);

        if (!isdigit((unsigned char)*at) || n > 1 << 30 || (*end && *end != ','))
            return fail(b, "--mb takes numbers of images, separated by commas", value);
        if (s->n_images == MAX_IMAGES)
            return fail(b, "--mb takes at most 32 numbers here", value);
        s->images[s->n_images++] = n;
        at = end;
        if (!*at)
            return 0;
    }
}

/* Adds a fused convolution, without duplicates. */
static int add_fused(struct batch *b, const struct exp_fused *f)
{
    struct state *s = b->state;

    for (size_t i = 0; i < s->n_fused; i++) {
        if (s->fused[i].kernel == f->kernel && s->fused[i].stride == f->stride && s->fused[i].pad == f->pad &&
            s->fused[i].is_known == f->is_known && s->fused[i].is_f32 == f->is_f32)
            return 0;
    }
    if (s->n_fused == MAX_FUSED)
        return skip(b, "fused depthwise convolutions, more than 8 of an option");
    s->fused[s->n_fused++] = *f;
    return 0;
}

static int set_post_ops(struct batch *b, const char *value)
{
    struct exp_fused f;

    b->state->n_fused = 0;
    for (const char *at = exp_fused_find(&f, value, value); at; at = exp_fused_find(&f, at, value))
        add_fused(b, &f);
    return 0;
}

static int set_match(struct batch *b, const char *value)
{
    if (b->state->has_match)
        regfree(&b->state->match);
    b->state->has_match = false;
    if (strstr(value, "\\d") || strstr(value, "\\D"))
        return fail(b, "--match: \\d is not known here, write [0-9]", value);
    b->state->has_match = *value && !regcomp(&b->state->match, value, REG_EXTENDED | REG_NOSUB);
    return *value && !b->state->has_match ? fail(b, "--match is no regular expression", value) : 0;
}

/* Resets all options but the driver. */
static int reset(struct batch *b, const char *value)
{
    const bool is_conv = b->state->is_conv;

    (void)value;
    if (b->state->has_match)
        regfree(&b->state->match);
    *b->state = start;
    b->state->is_conv = is_conv;
    return 0;
}

static int set_conv(struct batch *b, const char *value)
{
    (void)value;
    b->state->is_conv = true;
    return 0;
}

/* Returns an error if the included files are too many or too large. */
static int check_amount(const struct batch *b, const char *value)
{
    char what[64];

    if (b->amount->n_files <= MAX_FILES && b->amount->n_bytes <= MAX_BYTES)
        return 0;
    exp_say(what, sizeof what, "batch files within batch files, more than %d, or %d MiB", MAX_FILES, MAX_BYTES >> 20);
    return fail(b, what, value);
}

/* Reads an included batch file. A relative path starts at the folder of the including file. */
static int include(struct batch *b, const char *value)
{
    const char *slash = strrchr(b->path, '/');
    int folder = *value == '/' || !slash ? 0 : (int)(slash + 1 - b->path);
    char *path = exp_format("%.*s%s", folder, b->path, value), *text = NULL;
    struct batch inner = *b;
    struct exp_why reason;
    size_t bytes = 0;
    int err;

    inner.path = path;
    inner.line = 1;
    inner.depth++;
    err = inner.depth > MAX_DEPTH ? fail(b, "batch files within batch files, too deep", value)
                                  : exp_text_read_plain(&text, &bytes, path, &reason);
    if (err && inner.depth <= MAX_DEPTH)
        exp_fail(b->why, err, "%s:%u: --batch: %s", b->path, b->line, reason.text);
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
    const char *name; /* with '=' if the option takes a value */
    int (*set)(struct batch *b, const char *value);
} options[] = {
    { "--dir=", set_direction },
    { "--cfg=", set_types },
    { "--dt=", set_types },
    { "--mb=", set_images },
    { "--attr-post-ops=", set_post_ops },
    { "--attr=", set_post_ops },
    { "--match=", set_match },
    { "--batch=", include },
    { "--reset", reset },
    { "--conv", set_conv },
};

/* Names of drivers, and of options without an effect on shapes. */
static const char *const drivers[] = {
    "binary",     "bnorm", "brgemm", "concat", "deconv",  "eltwise", "gnorm",     "graph",
    "ip",         "lnorm", "lrn",    "matmul", "pool",    "prelu",   "reduction", "reorder",
    "resampling", "rnn",   "sdpa",   "self",   "shuffle", "softmax", "sum",       "zeropad",
};
static const char *const knobs[] = {
    "alg",
    "allow-enum-tags-only",
    "bia-dt",
    "buffer-prefix",
    "canonical",
    "check-ref-impl",
    "cold-cache",
    "cpu-isa-hints",
    "ctx-exe",
    "ctx-init",
    "dtag",
    "engine",
    "execution-mode",
    "fast-ref",
    "fix-times-per-prb",
    "global-impl",
    "global-skip-impl",
    "impl",
    "max-ms-per-prb",
    "mem-check",
    "memory-kind",
    "mode",
    "mode-modifier",
    "num-streams",
    "perf-template",
    "repeats-per-prb",
    "skip-impl",
    "stag",
    "stream-kind",
    "strides",
    "summary",
    "verbose",
    "wtag",
};

static bool is_one_of(const char *const *names, size_t n, const char *name, size_t length)
{
    for (size_t i = 0; i < n; i++) {
        if (strlen(names[i]) == length && !strncmp(names[i], name, length))
            return true;
    }
    return false;
}

#define IS_ONE_OF(names, name, length) is_one_of(names, sizeof(names) / sizeof((names)[0]), name, length)

/*
 * Tells whether an option is known to change no shape; name is the option without dashes. With a single dash, only -v
 * and -v<number> are known.
 */
static bool is_known(const char *token, const char *name, size_t length)
{
    if (token + 1 == name)
        return *name == 'v' && name[1 + strspn(name + 1, "0123456789")] == '\0';
    return !strncmp(name, "attr-", 5) || IS_ONE_OF(knobs, name, length);
}

static int read_option(struct batch *b, const char *token)
{
    const char *name = token + strspn(token, "-");
    size_t length = strcspn(name, "=");
    char reason[112];

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const char *known = options[i].name;
        size_t known_length = strlen(known);

        if (known[known_length - 1] == '=' ? !strncmp(token, known, known_length) : !strcmp(token, known))
            return options[i].set(b, token + known_length);
    }
    if (token + 2 == name && !name[length] && IS_ONE_OF(drivers, name, length)) {
        b->state->is_conv = false;
        return 0;
    }
    if (is_known(token, name, length))
        exp_say(reason, sizeof reason, "option %.*s, which does not change a shape", (int)strcspn(token, "="), token);
    else
        exp_say(reason, sizeof reason, "'%.60s', which is no option that is known here", token);
    return skip(b, reason);
}

/* ---- descriptors ---- */

static const char *why_not_meant(const struct state *s, const char *token)
{
    if (!s->is_conv)
        return "of another driver than --conv";
    if (!s->forward.any)
        return EXP_NOT_FORWARD;
    if (!s->f32.any)
        return EXP_OTHER_TYPES;
    if (s->has_match && regexec(&s->match, token, 0, NULL, 0))
        return "not what --match asks for";
    return NULL;
}

/* Notes the unsupported items of the options' lists. */
static void skip_others(struct batch *b)
{
    if (b->state->forward.others)
        skip(b, "backward passes of layers whose forward pass is read");
    if (b->state->f32.others)
        skip(b, "other types than fp32 of layers that are read as fp32");
}

/* Notes an unreadable or impossible descriptor: the first MAX_ODD each, the rest together. */
static int skip_odd(struct batch *b, const char *token, const char *why)
{
    struct exp_why reason;

    if (b->amount->n_odd++ >= MAX_ODD)
        return skip(b, "more descriptors that cannot be read");
    exp_say(reason.text, sizeof reason.text, "descriptor '%.120s': %s", token, why);
    return skip(b, reason.text);
}

/* Adds a layer and its fused convolutions. */
static int add(struct batch *b, const struct exp_descriptor *d)
{
    const struct exp_model_place at = { b->path, b->line };
    int err = exp_model_add(b->m, d, at, b->why);

    for (size_t i = 0; i < b->state->n_fused && !err; i++) {
        struct exp_descriptor with;
        const char *reason = exp_descriptor_fuse(&with, d, &b->state->fused[i]);

        err = reason ? skip(b, reason) : exp_model_add(b->m, &with, at, b->why);
    }
    return err;
}

/* Adds a layer as often as its name says, each time with its fused convolutions. */
static int add_all(struct batch *b, const struct exp_descriptor *d)
{
    struct exp_descriptor once = *d;
    int err = 0;

    once.times = 1;
    for (size_t i = 0; i < d->times && !err; i++)
        err = add(b, &once);
    return err;
}

static int read_problem(struct batch *b, const char *token)
{
    const char *reason = why_not_meant(b->state, token);
    int err = 0;

    if (reason)
        return skip(b, reason);
    skip_others(b);
    for (size_t i = 0; i < b->state->n_images && !err; i++) {
        struct exp_descriptor d;
        struct exp_why line;

        if (exp_descriptor_read(&d, token, b->state->images[i], &line))
            err = skip_odd(b, token, line.text);
        else
            err = d.unsupported ? skip(b, d.unsupported) : add_all(b, &d);
    }
    return err;
}

/* ---- files ---- */

/* Skips blanks, line ends and comments. */
static char *next_token(struct batch *b, char *at)
{
    for (; *at; at++) {
        if (*at == '#')
            at += strcspn(at, "\n");
        if (*at == '\n')
            b->line++;
        else if (!*at || !strchr(" \t", *at))
            break;
    }
    return at;
}

/* Returns the end of a token. Blanks between quotes belong to the token. */
static char *token_end(char *at)
{
    for (bool quoted = false; *at && *at != '\n' && (quoted || !strchr(" \t", *at)); at++)
        quoted ^= *at == '"';
    return at;
}

/* Tells whether the word at `at` is a single backslash. */
static bool is_alone(const char *at)
{
    return *at == '\\' && (!at[1] || strchr(" \t\n", at[1]));
}

/*
 * Reads the word at *at. A backslash at its end joins the next word, whose text is moved to the end of the first.
 * Returns the word's end; *at becomes the place to read on.
 */
static char *read_token(struct batch *b, char **at)
{
    char *const word = *at, *out = word, *in = word;

    for (bool is_continued = true; is_continued && *in;) {
        char *end = token_end(in);

        memmove(out, in, (size_t)(end - in));
        out += end - in;
        in = end + strspn(end, " \t");
        is_continued = out[-1] == '\\' || is_alone(in);
        if (out[-1] == '\\')
            out--;
        else if (is_continued)
            in++;
        if (is_continued)
            in = next_token(b, in);
    }
    *at = in;
    return out;
}

static int read_word(struct batch *b, const char *word)
{
    return !*word ? 0 : *word == '-' ? read_option(b, word) : read_problem(b, word);
}

static int read_batch(struct batch *b, char *text)
{
    int err = 0;

    for (char *at = next_token(b, text); *at && !err; at = next_token(b, at)) {
        const unsigned first = b->line;
        char *const word = at, *end = read_token(b, &at), behind = *end;
        const unsigned last = b->line;

        *end = '\0';
        b->line = first;
        err = read_word(b, word);
        b->line = last;
        if (at == end)
            *end = behind;
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
