/* The text of each error. */
#include "kernels/lib/sconv_inside.h"

#include <errno.h>

const char *sconv_strerror(int err)
{
    static const struct {
        int err;
        const char *text;
    } known[] = {
        { 0, "success" },
        { -EINVAL,
          "an argument, a file's content, or the environment (CONV_CPU, SCONV_TUNE, SCONV_WINOGRAD) is invalid" },
        { -EOVERFLOW, "the convolution exceeds the address space" },
        { -ENOBUFS, "the workspace, or the room for a text, is too small" },
        { -ENOTSUP, "a direct convolution has no tiles" },
        { -ENOMEM, "out of memory" },
        { -ENOENT, "no such machine file" },
        { -EACCES, "the machine file may not be read" },
        { -EISDIR, "the machine file is a folder" },
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].err == err)
            return known[i].text;
    }
    return "an error of the operating system: a negative errno value";
}
