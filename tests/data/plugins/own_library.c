/* plugin: -lopenblas
 *
 * Refuses every shape unless the library of the option gave the function: the bench has an equally named function.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "conv_plugin.h"

void cblas_sgemm(void);

static const char *why_not(const struct conv_plugin_shape *s)
{
    Dl_info info;

    (void)s;
    if (!dladdr((void *)(uintptr_t)cblas_sgemm, &info) || !strstr(info.dli_fname, "openblas"))
        return "another library's function";
    return NULL;
}

static void run(const struct conv_plugin_shape *s, void *state, const float *in, const float *filters, float *out)
{
    (void)s, (void)state, (void)in, (void)filters, (void)out;
}

const struct conv_plugin conv_plugin = { .abi = CONV_PLUGIN_ABI, .why_not = why_not, .run = run };
