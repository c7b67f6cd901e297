/*
 * A library with the parts of ONNX Runtime's interface used by experiments/network/peer.c; computes zeros.
 * FAKE_PEER=PLACE-FAULT asks for a fault. PLACE: "load", "session", "run" or "later" (a later run). FAULT: "crashes",
 * "hangs", "ends" or "fails".
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void (*function)(void);

static float zeros[1 << 20];
static int n_runs;

/* Fails at a place if FAKE_PEER asks for a fault there. Returns a status for "fails". */
static void *misbehave(const char *where)
{
    const char *what = getenv("FAKE_PEER");

    if (!what || strncmp(what, where, strlen(where)))
        return NULL;
    what += strlen(where) + 1;
    if (!strcmp(what, "crashes"))
        abort();
    if (!strcmp(what, "ends"))
        exit(7);
    while (!strcmp(what, "hangs"))
        sleep(1);
    return zeros;
}

static const char *message(const void *status)
{
    (void)status;
    return "the fake \033[31mfailed";
}

static void *fine(void *a, ...)
{
    (void)a;
    return NULL;
}

static void release(void *a)
{
    (void)a;
}

static void *create_session(const void *env, const void *data, size_t bytes, const void *options, void **session)
{
    (void)env, (void)data, (void)bytes, (void)options;
    *session = zeros;
    return misbehave("session");
}

static void *run(void *session, const void *options, const char *const *in_names, void *const *in, size_t n_in,
                 const char *const *out_names, size_t n_out, void **out)
{
    (void)session, (void)options, (void)in_names, (void)in, (void)n_in, (void)out_names;
    for (size_t i = 0; i < n_out; i++)
        out[i] = zeros;
    return n_runs++ > 8 ? misbehave("later") : misbehave("run");
}

static void *get_data(void *value, void **data)
{
    *data = value;
    return NULL;
}

static const function table[128] = {
    [2] = (function)message,  [3] = (function)fine,      [8] = (function)create_session, [9] = (function)run,
    [10] = (function)fine,    [14] = (function)fine,     [23] = (function)fine,          [24] = (function)fine,
    [49] = (function)fine,    [51] = (function)get_data, [69] = (function)fine,          [76] = (function)fine,
    [78] = (function)fine,    [92] = (function)release,  [93] = (function)release,       [94] = (function)release,
    [95] = (function)release, [96] = (function)release,  [100] = (function)release,      [110] = (function)fine,
};

static const void *get_api(uint32_t version)
{
    (void)version;
    misbehave("load");
    return table;
}

static const char *get_version(void)
{
    return "0.fake";
}

static const struct {
    const void *(*get_api)(uint32_t version);
    const char *(*get_version)(void);
} base = { get_api, get_version };

const void *OrtGetApiBase(void)
{
    return &base;
}
