/* The parameters, their constraints, and valid points. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/stats.h"
#include "experiments/papers/lift/lift.h"

const char *const lift_flags[LIFT_N_FLAGS] = { "", "-cl-mad-enable", "-cl-fast-relaxed-math" };
const struct lift_limits lift_usual_limits = { 4096, { 4096, 4096 }, (uint64_t)2 << 30, (uint64_t)8 << 30, 64 };

enum relation { DIVIDED, AT_MOST };

struct constraint {
    const char *what;
    enum relation relation;
    uint64_t (*left)(const struct conv_problem *L, const struct lift_limits *M, const struct lift_point *p);
    uint64_t (*right)(const struct conv_problem *L, const struct lift_limits *M, const struct lift_point *p);
    enum lift_parameter subject;
    const char *text; /* of both expressions, with the parameters' names */
};

#define V(name) ((size_t)p->value[LIFT_##name])
#define TEXT(...) #__VA_ARGS__
#define PASTE(a, b) a##b
#define FUNCTION(side, line) PASTE(side, line)
#define EXPRESSION(name, expression)                                                                                   \
    static uint64_t name(const struct conv_problem *L, const struct lift_limits *M, const struct lift_point *p)        \
    {                                                                                                                  \
        (void)L;                                                                                                       \
        (void)M;                                                                                                       \
        (void)p;                                                                                                       \
        return (uint64_t)(expression);                                                                                 \
    }

#define LIFT_CONSTRAINT(subject, relation, left, right, what)                                                          \
    EXPRESSION(FUNCTION(left_, __LINE__), left) EXPRESSION(FUNCTION(right_, __LINE__), right)
#include "experiments/papers/lift/constraints.def"
#undef LIFT_CONSTRAINT

#define LIFT_CONSTRAINT(subject, relation, left, right, what)                                                          \
    { what, relation, FUNCTION(left_, __LINE__), FUNCTION(right_, __LINE__), LIFT_##subject, TEXT(left right) },
static const struct constraint constraints[] = {
#include "experiments/papers/lift/constraints.def"
};
#undef LIFT_CONSTRAINT

const char *const lift_roles[LIFT_N_ROLES] = { "input", "filters", "padded", "partial", "sums", "output" };

enum { N_CONSTRAINTS = sizeof constraints / sizeof constraints[0], MOST_VALUES = 1024 };

/* ---- parameters ---- */

/* Lists the values of a parameter in a layer: from low to high; if `divides` is not 0, only divisors of `divides`. */
struct values {
    uint64_t low, high, divides;
};

static struct values tiles(const struct conv_problem *L)
{
    const size_t high = L->h + L->pad_top + L->pad_bottom, wide = L->w + L->pad_left + L->pad_right;

    return (struct values){ L->r > L->s ? L->r : L->s, 2 * (high > wide ? high : wide), 0 };
}

static struct values rows_of_zeros(const struct conv_problem *L)
{
    return (struct values){ 0, (L->h + L->pad_top + L->pad_bottom) / 8 + L->stride_h - 1, 0 };
}

static struct values columns_of_zeros(const struct conv_problem *L)
{
    return (struct values){ 0, (L->w + L->pad_left + L->pad_right) / 8 + L->stride_w - 1, 0 };
}

static struct values bands(const struct conv_problem *L)
{
    return (struct values){ 1, L->p + L->p / 4, 0 };
}

static struct values kernels(const struct conv_problem *L)
{
    return (struct values){ 1, 64, L->k };
}

static struct values windows(const struct conv_problem *L)
{
    (void)L;
    return (struct values){ 1, 64, 0 };
}

static struct values elements(const struct conv_problem *L)
{
    const size_t all = L->r * L->s * L->c;

    return (struct values){ 1, all, all };
}

/* Lane counts and vectors are OpenCL's types. */
static struct values vectors(const struct conv_problem *L)
{
    (void)L;
    return (struct values){ 1, 16, 16 };
}

static struct values yes_or_no(const struct conv_problem *L)
{
    (void)L;
    return (struct values){ 0, 1, 0 };
}

static struct values unrolled(const struct conv_problem *L)
{
    (void)L;
    return (struct values){ 1, 4, 4 };
}

static struct values flags(const struct conv_problem *L)
{
    (void)L;
    return (struct values){ 0, LIFT_N_FLAGS - 1, 0 };
}

static const struct parameter {
    const char *name;
    struct values (*values)(const struct conv_problem *L);
} parameters[LIFT_N_PARAMETERS] = {
    [LIFT_TILE] = { "tile", tiles },
    [LIFT_PAD_Y] = { "pad_y", rows_of_zeros },
    [LIFT_PAD_X] = { "pad_x", columns_of_zeros },
    [LIFT_BAND] = { "band", bands },
    [LIFT_KERNELS] = { "kernels", kernels },
    [LIFT_LANES] = { "lanes", vectors },
    [LIFT_WINDOWS] = { "windows", windows },
    [LIFT_ELEMENTS] = { "elements", elements },
    [LIFT_VECTOR] = { "vector", vectors },
    [LIFT_COALESCED] = { "coalesced", yes_or_no },
    [LIFT_UNROLL] = { "unroll", unrolled },
    [LIFT_JOINED] = { "joined", yes_or_no },
    [LIFT_FLAGS] = { "flags", flags },
};

static enum lift_parameter find_parameter(const char *name, size_t length)
{
    enum lift_parameter i = 0;

    while (i < LIFT_N_PARAMETERS && (strlen(parameters[i].name) != length || strncmp(parameters[i].name, name, length)))
        i++;
    return i;
}

void lift_point_say(const struct lift_point *p, char *text, size_t bytes)
{
    assert(text && bytes > 0);
    exp_say(text, bytes, "%s=%u", parameters[0].name, p->value[0]);
    for (size_t i = 1; i < LIFT_N_PARAMETERS; i++)
        exp_say_more(text, bytes, " %s=%u", parameters[i].name, p->value[i]);
}

/* Reads "name=number" and moves *text behind the number. Returns the parameter; LIFT_N_PARAMETERS and a line in why. */
static enum lift_parameter read_value(const char **text, uint64_t *value, struct exp_why *why)
{
    const size_t length = strcspn(*text, "=+, ");
    const enum lift_parameter which = find_parameter(*text, length);
    char *end;

    if (which == LIFT_N_PARAMETERS || (*text)[length] != '=') {
        exp_fail(why, -EINVAL, "'%.*s' is no parameter of a point with a value", (int)length, *text);
        return LIFT_N_PARAMETERS;
    }
    *value = strtoull(*text + length + 1, &end, 10);
    if (end == *text + length + 1 || *value > UINT32_MAX || (*end && !strchr("+, ", *end))) {
        exp_fail(why, -EINVAL, "%s must be a number, not '%s'", parameters[which].name, *text + length + 1);
        return LIFT_N_PARAMETERS;
    }
    *text = end;
    return which;
}

int lift_point_parse(struct lift_point *p, const char *text, struct exp_why *why)
{
    bool has[LIFT_N_PARAMETERS] = { false };

    assert(p && text);
    *p = (struct lift_point){ { 0 } };
    while (*text) {
        uint64_t value;
        const enum lift_parameter which = read_value(&text, &value, why);

        if (which == LIFT_N_PARAMETERS)
            return -EINVAL;
        p->value[which] = (uint32_t)value;
        has[which] = true;
        text += strspn(text, ", ");
    }
    for (size_t i = 0; i < LIFT_N_PARAMETERS; i++) {
        if (!has[i])
            return exp_fail(why, -EINVAL, "a point needs a value of %s", parameters[i].name);
    }
    return 0;
}

/* ---- the space ---- */

struct candidates {
    uint32_t *value;
    size_t n;
};

enum { MEMO_ENTRIES = 1 << 18 };

/* A known state: whether a point follows from the state. */
struct memo {
    uint64_t key; /* 0: nothing */
    bool completes;
};

struct lift_space {
    struct conv_problem layer;
    struct lift_limits limits;
    struct candidates candidates[LIFT_N_PARAMETERS];
    enum lift_parameter order[LIFT_N_PARAMETERS]; /* in which parameters get values */
    unsigned names[N_CONSTRAINTS];                /* the parameters of each constraint, a bit each */
    size_t at[LIFT_N_PARAMETERS][N_CONSTRAINTS];  /* the constraints whose subject is the parameter of this depth, */
    size_t n_at[LIFT_N_PARAMETERS];               /* and the number of constraints */
    unsigned later[LIFT_N_PARAMETERS + 1];        /* parameters in constraints of this depth and deeper */
    const struct constraint *without;             /* is not asked for */
    struct memo *memo;
    struct candidates first; /* viable values of the first parameter */
};

static bool holds(const struct constraint *c, const struct conv_problem *layer, const struct lift_limits *limits,
                  const struct lift_point *p)
{
    const uint64_t left = c->left(layer, limits, p), right = c->right(layer, limits, p);

    return c->relation == DIVIDED ? left % right == 0 : left <= right;
}

const char *lift_violated(const struct conv_problem *layer, const struct lift_limits *limits,
                          const struct lift_point *p)
{
    for (size_t i = 0; i < N_CONSTRAINTS; i++) {
        if (!holds(&constraints[i], layer, limits, p))
            return constraints[i].what;
    }
    return NULL;
}

/* Finds the parameters in a constraint's text. */
static unsigned named(const struct constraint *c)
{
    static const char *const names[] = { "TILE",     "PAD_Y",  "PAD_X",     "BAND",   "KERNELS", "LANES", "WINDOWS",
                                         "ELEMENTS", "VECTOR", "COALESCED", "UNROLL", "JOINED",  "FLAGS" };
    unsigned mask = 1U << c->subject;

    for (size_t i = 0; i < LIFT_N_PARAMETERS; i++) {
        char *name = exp_format("LIFT_%s]", names[i]);

        mask |= strstr(c->text, name) ? 1U << i : 0;
        free(name);
    }
    return mask;
}

/* Tells whether the parameter's constraints name only parameters with values. */
static bool is_next(const struct lift_space *s, enum lift_parameter which, unsigned valued)
{
    for (size_t i = 0; i < N_CONSTRAINTS; i++) {
        if (constraints[i].subject == which && s->names[i] & ~(valued | 1U << which))
            return false;
    }
    return !(valued & 1U << which);
}

/* Sorts the parameters topologically: each behind all parameters of its constraints. */
static int sort(struct lift_space *s, struct exp_why *why)
{
    unsigned valued = 0;

    for (size_t i = 0; i < N_CONSTRAINTS; i++)
        s->names[i] = named(&constraints[i]);
    for (size_t n = 0; n < LIFT_N_PARAMETERS; n++) {
        enum lift_parameter which = 0;

        while (which < LIFT_N_PARAMETERS && !is_next(s, which, valued))
            which++;
        if (which == LIFT_N_PARAMETERS)
            return exp_fail(why, -EINVAL, "constraints name each other's parameters in a circle");
        s->order[n] = which;
        valued |= 1U << which;
    }
    for (size_t n = LIFT_N_PARAMETERS; n--;) {
        s->later[n] = s->later[n + 1];
        for (size_t i = 0; i < N_CONSTRAINTS; i++) {
            if (constraints[i].subject != s->order[n])
                continue;
            s->at[n][s->n_at[n]++] = i;
            s->later[n] |= s->names[i];
        }
    }
    return 0;
}

/* Tells whether the constraints hold whose subject is the parameter of this depth. */
static bool fits(const struct lift_space *s, size_t depth, const struct lift_point *p)
{
    for (size_t i = 0; i < s->n_at[depth]; i++) {
        const struct constraint *c = &constraints[s->at[depth][i]];

        if (c != s->without && !holds(c, &s->layer, &s->limits, p))
            return false;
    }
    return true;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* Returns the key of a state: the values that later constraints still ask for. */
static uint64_t key_of(const struct lift_space *s, size_t depth, const struct lift_point *p)
{
    uint64_t key = depth + 1;

    for (size_t n = 0; n < depth; n++) {
        if (s->later[depth] & 1U << s->order[n])
            key = mix(key * 0x9e3779b97f4a7c15 + p->value[s->order[n]] + 1);
    }
    return key ? key : 1;
}

/* Tells whether a point follows from values of the parameters before this depth. */
static bool completes(struct lift_space *s, size_t depth, struct lift_point *p)
{
    const struct candidates *c;
    struct memo *memo;
    uint64_t key;

    if (depth == LIFT_N_PARAMETERS || !s->later[depth])
        return true;
    key = key_of(s, depth, p);
    memo = &s->memo[key % MEMO_ENTRIES];
    if (memo->key != key) {
        bool found = false;

        c = &s->candidates[s->order[depth]];
        for (size_t i = 0; i < c->n && !found; i++) {
            p->value[s->order[depth]] = c->value[i];
            found = fits(s, depth, p) && completes(s, depth + 1, p);
        }
        *memo = (struct memo){ key, found };
    }
    return memo->completes;
}

/* Lists the candidates of this depth that fit and can be completed. */
static size_t list_viable(struct lift_space *s, size_t depth, struct lift_point *p, uint32_t *viable)
{
    const struct candidates *c = &s->candidates[s->order[depth]];
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++) {
        p->value[s->order[depth]] = c->value[i];
        if (fits(s, depth, p) && completes(s, depth + 1, p))
            viable[n++] = c->value[i];
    }
    return n;
}

static bool has_value(const uint32_t *value, size_t n, uint32_t wanted)
{
    size_t i = 0;

    while (i < n && value[i] != wanted)
        i++;
    return i < n;
}

/* Draws a point; keeps values of `near`, unless NULL, but for the parameter `other`. */
static void draw(struct lift_space *s, uint64_t *state, const struct lift_point *near, enum lift_parameter other,
                 struct lift_point *p)
{
    uint32_t viable[MOST_VALUES];

    *p = (struct lift_point){ { 0 } };
    for (size_t depth = 0; depth < LIFT_N_PARAMETERS; depth++) {
        const enum lift_parameter which = s->order[depth];
        const uint32_t *value = depth ? viable : s->first.value;
        const size_t n = depth ? list_viable(s, depth, p, viable) : s->first.n;

        if (near && which != other && has_value(value, n, near->value[which]))
            p->value[which] = near->value[which];
        else
            p->value[which] = value[exp_random_next(state) % n];
    }
}

void lift_draw(struct lift_space *s, uint64_t *state, struct lift_point *p)
{
    assert(s && state && p);
    draw(s, state, NULL, LIFT_N_PARAMETERS, p);
}

void lift_draw_near(struct lift_space *s, uint64_t *state, const struct lift_point *near, struct lift_point *p)
{
    assert(s && state && near);
    draw(s, state, near, (enum lift_parameter)(exp_random_next(state) % LIFT_N_PARAMETERS), p);
}

/* ---- beginning and end ---- */

/* Larger values come first: more points follow from large values, and few chunks, groups and lanes are found sooner. */
static void list_candidates(struct candidates *c, const struct values *v)
{
    const uint64_t high = v->high < v->low + MOST_VALUES ? v->high : v->low + MOST_VALUES - 1;

    for (uint64_t x = v->divides ? v->high : high; x + 1 > v->low; x--) {
        if (!v->divides || v->divides % x == 0)
            *(uint32_t *)exp_append(&c->value, &c->n, sizeof *c->value) = (uint32_t)x;
        if (x == 0 || c->n == MOST_VALUES)
            break;
    }
}

/* Keeps the candidates in a list "6+8". *text is left behind the list. */
static int keep(struct candidates *c, enum lift_parameter which, const char **text, uint64_t value, struct exp_why *why)
{
    size_t n = 0;

    for (;;) {
        char *end;
        size_t i = 0;

        while (i < c->n && c->value[i] != value)
            i++;
        if (i < c->n && i >= n) {
            const uint32_t taken = c->value[i];

            c->value[i] = c->value[n];
            c->value[n++] = taken;
        }
        if (**text != '+')
            break;
        value = strtoull(*text + 1, &end, 10);
        if (end == *text + 1)
            return exp_fail(why, -EINVAL, "%s must be numbers, not '%s'", parameters[which].name, *text);
        *text = end;
    }
    c->n = n;
    return n ? 0 : exp_fail(why, -ENOTSUP, "%s cannot have such values in this layer", parameters[which].name);
}

static int read_only(struct lift_space *s, const char *only, struct exp_why *why)
{
    int err = 0;

    while (*only && !err) {
        uint64_t value;
        const enum lift_parameter which = read_value(&only, &value, why);

        if (which == LIFT_N_PARAMETERS)
            return -EINVAL;
        err = keep(&s->candidates[which], which, &only, value, why);
        if (!err && *only && *only != ',')
            err = exp_fail(why, -EINVAL, "'%s' stands where a comma is expected", only);
        only += *only ? 1 : 0;
    }
    return err;
}

static bool is_possible(struct lift_space *s, const struct constraint *without)
{
    struct lift_point p = { { 0 } };

    s->without = without;
    memset(s->memo, 0, MEMO_ENTRIES * sizeof *s->memo);
    return completes(s, 0, &p);
}

/* Says the constraint that leaves no point. */
static int contradiction(struct lift_space *s, struct exp_why *why)
{
    for (size_t i = 0; i < N_CONSTRAINTS; i++) {
        if (is_possible(s, &constraints[i]))
            return exp_fail(why, -ENOTSUP, "no point fulfils all constraints; without this one some would: %s",
                            constraints[i].what);
    }
    return exp_fail(why, -ENOTSUP, "no point fulfils all constraints, nor all but one");
}

static int check_layer(const struct conv_problem *L, const struct lift_limits *m, struct exp_why *why)
{
    const size_t weights = L->k * L->c * L->r * L->s;
    const uint64_t bytes[] = { L->c * L->h * L->w * sizeof(float), weights * sizeof(float),
                               L->k * L->p * L->q * sizeof(float) };

    if (L->n != 1 || L->groups != 1 || L->dilation_h != 1 || L->dilation_w != 1)
        return exp_fail(why, -ENOTSUP, "LIFT's kernels are for one image, without groups and dilation");
    for (size_t i = 0; i < 3; i++) {
        if (bytes[i] > m->buffer_bytes)
            return exp_fail(why, -ENOTSUP, "the %s needs %llu bytes; a buffer has at most %llu",
                            lift_roles[i == 2 ? LIFT_OUTPUT
                                       : i    ? LIFT_FILTERS
                                              : LIFT_INPUT],
                            (unsigned long long)bytes[i], (unsigned long long)m->buffer_bytes);
    }
    if (bytes[0] + bytes[1] + bytes[2] > m->memory_bytes)
        return exp_fail(why, -ENOTSUP, "input, filters and output need %llu bytes; the memory has %llu",
                        (unsigned long long)(bytes[0] + bytes[1] + bytes[2]), (unsigned long long)m->memory_bytes);
    return 0;
}

int lift_space_new(struct lift_space **out, const struct conv_problem *layer, const struct lift_limits *limits,
                   const char *only, struct exp_why *why)
{
    struct lift_space *s = exp_new(1, sizeof *s);
    struct lift_point p = { { 0 } };
    int err = check_layer(layer, limits, why);

    assert(out && only);
    s->layer = *layer;
    s->limits = *limits;
    s->memo = exp_new(MEMO_ENTRIES, sizeof *s->memo);
    for (size_t i = 0; i < LIFT_N_PARAMETERS; i++) {
        const struct values v = parameters[i].values(layer);

        list_candidates(&s->candidates[i], &v);
    }
    err = err ? err : sort(s, why);
    err = err ? err : read_only(s, only, why);
    if (!err && !is_possible(s, NULL))
        err = contradiction(s, why);
    if (!err) {
        s->first.value = exp_new(MOST_VALUES, sizeof *s->first.value);
        s->first.n = list_viable(s, 0, &p, s->first.value);
    }
    *out = s;
    if (err) {
        lift_space_free(s);
        *out = NULL;
    }
    return err;
}

void lift_space_free(struct lift_space *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < LIFT_N_PARAMETERS; i++)
        free(s->candidates[i].value);
    free(s->first.value);
    free(s->memo);
    free(s);
}
