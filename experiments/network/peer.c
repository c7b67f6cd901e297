#include "experiments/network/peer.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "counters/host/ctr_timer.h"

/* ---- the interface: positions in the table of functions ---- */

enum { API_VERSION = 11 };

enum slot {
    GET_ERROR_MESSAGE = 2,
    CREATE_ENV = 3,
    CREATE_SESSION_FROM_ARRAY = 8,
    RUN = 9,
    CREATE_SESSION_OPTIONS = 10,
    ENABLE_PROFILING = 14,
    SET_OPTIMISATION = 23,
    SET_INTRA_OP_THREADS = 24,
    CREATE_TENSOR_WITH_DATA = 49,
    GET_TENSOR_DATA = 51,
    CREATE_CPU_MEMORY_INFO = 69,
    FREE_BY_ALLOCATOR = 76,
    GET_ALLOCATOR = 78,
    RELEASE_ENV = 92,
    RELEASE_STATUS = 93,
    RELEASE_MEMORY_INFO = 94,
    RELEASE_SESSION = 95,
    RELEASE_VALUE = 96,
    RELEASE_SESSION_OPTIONS = 100,
    END_PROFILING = 110,
};

enum { WARNINGS = 3, NOT_OPTIMISED = 0, ALL_OPTIMISATIONS = 99 };

struct base {
    const void *(*get_api)(uint32_t version);
    const char *(*get_version)(void);
};

typedef void (*function)(void);

struct net_peer {
    void *library;
    const function *api;
    const char *version;
    void *env, *cpu, *allocator;
};

/* Returns function `slot` of the interface, of this type. */
#define CALL(peer, slot, result, ...) ((result(*)(__VA_ARGS__))(peer)->api[slot])

/* Returns 0 for no status, otherwise -EIO with its message; the status is given back. */
static int failed(const struct net_peer *p, void *status, const char *what, struct exp_why *why)
{
    if (!status)
        return 0;
    exp_fail(why, -EIO, "ONNX Runtime: %s: %s", what, CALL(p, GET_ERROR_MESSAGE, const char *, const void *)(status));
    CALL(p, RELEASE_STATUS, void, void *)(status);
    return -EIO;
}

/* ---- finding the library ---- */

/* Opens the first library of a pattern. */
static void *open_first(const char *pattern)
{
    glob_t found;
    void *library = NULL;

    if (glob(pattern, 0, NULL, &found))
        return NULL;
    for (size_t i = 0; i < found.gl_pathc && !library; i++)
        library = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL); /* dlopen refuses a library for another CPU */
    globfree(&found);
    return library;
}

static void *open_below(const char *folder)
{
    char *pattern = exp_format("%s/node_modules/onnxruntime-node/bin/*/linux/*/libonnxruntime.so.1", folder);
    void *library = open_first(pattern);

    free(pattern);
    return library;
}

static void *open_cached(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *folder =
        cache && *cache ? exp_format("%s/convsim", cache) : exp_format("%s/.cache/convsim", home ? home : "");
    void *library = open_below(folder);

    free(folder);
    return library;
}

static void *open_library(const char *path)
{
    struct stat s;
    void *library;

    if (path && *path)
        return !stat(path, &s) && S_ISDIR(s.st_mode) ? open_below(path) : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    library = open_cached();
    return library ? library : dlopen("libonnxruntime.so.1", RTLD_NOW | RTLD_LOCAL);
}

static int begin(struct net_peer *p, struct exp_why *why)
{
    int err = failed(p, CALL(p, CREATE_ENV, void *, int, const char *, void **)(WARNINGS, "network", &p->env),
                     "environment", why);

    if (!err)
        err = failed(p, CALL(p, CREATE_CPU_MEMORY_INFO, void *, int, int, void **)(0, 0, &p->cpu), "memory", why);
    if (!err)
        err = failed(p, CALL(p, GET_ALLOCATOR, void *, void **)(&p->allocator), "allocator", why);
    return err;
}

int net_peer_open(struct net_peer **peer, const char *path, struct exp_why *why)
{
    struct net_peer *p = exp_new(1, sizeof *p);
    const struct base *(*get_base)(void) = NULL;
    int err = 0;

    *peer = NULL;
    p->library = open_library(path);
    if (p->library)
        *(void **)&get_base = dlsym(p->library, "OrtGetApiBase");
    if (!p->library)
        err = exp_fail(why, -ENOENT,
                       "ONNX Runtime is not there (%s): npm install --ignore-scripts --prefix ~/.cache/convsim "
                       "onnxruntime-node",
                       path && *path ? path : "libonnxruntime.so.1");
    else if (!get_base || !(p->api = get_base()->get_api(API_VERSION)))
        err = exp_fail(why, -EINVAL, "ONNX Runtime: the library has no C interface of version %d", API_VERSION);
    else
        p->version = get_base()->get_version();
    if (!err)
        err = begin(p, why);
    if (err)
        net_peer_close(p);
    else
        *peer = p;
    return err;
}

/* The library stays: threads of its own may still be ending. */
void net_peer_close(struct net_peer *p)
{
    if (p && p->api && p->cpu)
        CALL(p, RELEASE_MEMORY_INFO, void, void *)(p->cpu);
    if (p && p->api && p->env)
        CALL(p, RELEASE_ENV, void, void *)(p->env);
    free(p);
}

const char *net_peer_version(const struct net_peer *p)
{
    return p->version;
}

/* ---- sessions ---- */

struct net_session {
    const struct net_peer *peer;
    const struct onnx_graph *g;
    void *session;
    bool profiles;
    size_t *output; /* values of the graph */
    size_t n_outputs;
    const char **in_name, **out_name;
    void **in, **out; /* the last run's */
};

/* Lists the session's outputs: the network's outputs, or every float of every node. */
static void list_outputs(struct net_session *s, bool keeps_all)
{
    for (size_t i = 0; i < s->g->n_values; i++) {
        const struct onnx_value *v = &s->g->value[i];
        bool is_made = v->producer != ONNX_NONE && !onnx_is_constant(v) && v->has_shape && v->type == ONNX_FLOAT;

        if (v->is_output || (keeps_all && is_made))
            *(size_t *)exp_append(&s->output, &s->n_outputs, sizeof *s->output) = i;
    }
    s->in_name = exp_new(s->g->n_inputs + 1, sizeof *s->in_name);
    s->in = exp_new(s->g->n_inputs + 1, sizeof *s->in);
    s->out_name = exp_new(s->n_outputs + 1, sizeof *s->out_name);
    s->out = exp_new(s->n_outputs + 1, sizeof *s->out);
    for (size_t i = 0; i < s->g->n_inputs; i++)
        s->in_name[i] = s->g->value[s->g->input[i]].name;
    for (size_t i = 0; i < s->n_outputs; i++)
        s->out_name[i] = s->g->value[s->output[i]].name;
}

static int set_options(const struct net_peer *p, void *options, const struct net_session_ask *ask, struct exp_why *why)
{
    const int level = ask->optimises ? ALL_OPTIMISATIONS : NOT_OPTIMISED;
    const int n_threads = ask->n_threads ? (int)ask->n_threads : 1;
    int err = failed(p, CALL(p, SET_INTRA_OP_THREADS, void *, void *, int)(options, n_threads), "threads", why);

    if (!err)
        err = failed(p, CALL(p, SET_OPTIMISATION, void *, void *, int)(options, level), "optimisation", why);
    if (!err && ask->profile)
        err = failed(p, CALL(p, ENABLE_PROFILING, void *, void *, const char *)(options, ask->profile), "profile", why);
    return err;
}

static int create(struct net_session *s, const struct net_session_ask *ask, const struct onnx_bytes *m,
                  struct exp_why *why)
{
    const struct net_peer *p = s->peer;
    void *options = NULL;
    int err = failed(p, CALL(p, CREATE_SESSION_OPTIONS, void *, void **)(&options), "options", why);

    if (!err)
        err = set_options(p, options, ask, why);
    if (!err)
        err = failed(p,
                     CALL(p, CREATE_SESSION_FROM_ARRAY, void *, void *, const void *, size_t, void *,
                          void **)(p->env, m->data, m->bytes, options, &s->session),
                     s->g->path, why)
                  ? -ENOTSUP
                  : 0;
    if (options)
        CALL(p, RELEASE_SESSION_OPTIONS, void, void *)(options);
    return err;
}

int net_session_open(struct net_session **session, const struct net_peer *p, const struct onnx_graph *g,
                     const struct net_session_ask *ask, struct exp_why *why)
{
    struct net_session *s = exp_new(1, sizeof *s);
    struct onnx_bytes m = { 0 };
    int err;

    assert(session && p && g);
    *session = NULL;
    s->peer = p;
    s->g = g;
    s->profiles = ask->profile != NULL;
    list_outputs(s, ask->keeps_all);
    err = onnx_write(&m, g, &(struct onnx_outputs){ s->output, s->n_outputs }, why);
    if (!err)
        err = create(s, ask, &m, why);
    free(m.data);
    if (err)
        net_session_close(s, NULL);
    else
        *session = s;
    return err;
}

static void release_values(const struct net_peer *p, void **value, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (value[i])
            CALL(p, RELEASE_VALUE, void, void *)(value[i]);
        value[i] = NULL;
    }
}

static char *end_profile(const struct net_session *s)
{
    const struct net_peer *p = s->peer;
    char *path = NULL, *copy = NULL;
    void *status = CALL(p, END_PROFILING, void *, void *, void *, char **)(s->session, p->allocator, &path);

    if (!failed(p, status, "profile", NULL) && path) {
        copy = exp_copy_text(path);
        failed(p, CALL(p, FREE_BY_ALLOCATOR, void *, void *, void *)(p->allocator, path), "memory", NULL);
    }
    return copy;
}

void net_session_close(struct net_session *s, char **profile)
{
    if (profile)
        *profile = s && s->session && s->profiles ? end_profile(s) : NULL;
    if (!s)
        return;
    release_values(s->peer, s->in, s->g->n_inputs);
    release_values(s->peer, s->out, s->n_outputs);
    if (s->session)
        CALL(s->peer, RELEASE_SESSION, void, void *)(s->session);
    free(s->output);
    free(s->in_name);
    free(s->out_name);
    free(s->in);
    free(s->out);
    free(s);
}

/* ---- runs ---- */

static int bind(struct net_session *s, size_t i, const void *data, struct exp_why *why)
{
    const struct onnx_value *v = &s->g->value[s->g->input[i]];
    void *status = CALL(s->peer, CREATE_TENSOR_WITH_DATA, void *, const void *, void *, size_t, const int64_t *, size_t,
                        int, void **)(s->peer->cpu, (void *)(uintptr_t)data, v->elements * onnx_type_bytes(v->type),
                                      v->dim, v->n_dims, (int)v->type, &s->in[i]);

    return failed(s->peer, status, v->name, why);
}

int net_session_run(struct net_session *s, const void *const *in, uint64_t *ns, struct exp_why *why)
{
    uint64_t start;
    void *status;
    int err = 0;

    assert(in || !s->g->n_inputs);
    release_values(s->peer, s->in, s->g->n_inputs);
    release_values(s->peer, s->out, s->n_outputs);
    for (size_t i = 0; i < s->g->n_inputs && !err; i++)
        err = bind(s, i, in[i], why);
    if (err)
        return err;
    start = ctr_now_ns();
    status = CALL(s->peer, RUN, void *, void *, const void *, const char *const *, void *const *, size_t,
                  const char *const *, size_t,
                  void **)(s->session, NULL, s->in_name, s->in, s->g->n_inputs, s->out_name, s->n_outputs, s->out);
    if (ns)
        *ns = ctr_now_ns() - start;
    return failed(s->peer, status, s->g->path, why);
}

/* Returns the last run's result for a value of the graph; NULL: not an output. */
static const void *value_of(const struct net_session *s, size_t value)
{
    for (size_t i = 0; i < s->n_outputs; i++) {
        void *data = NULL;

        if (s->output[i] != value || !s->out[i])
            continue;
        if (failed(s->peer, CALL(s->peer, GET_TENSOR_DATA, void *, void *, void **)(s->out[i], &data), "data", NULL))
            return NULL;
        return data;
    }
    return NULL;
}

struct net_distance net_session_compare(const struct net_session *s, const struct net *net)
{
    struct net_distance d = { .worst_value = ONNX_NONE };

    for (size_t i = 0; i < s->n_outputs; i++) {
        const size_t value = s->output[i];
        const void *ours = net_at(net, value), *theirs = value_of(s, value);

        if (ours && theirs)
            net_distance_add(&d, s->g, value, ours, theirs);
    }
    return d;
}
