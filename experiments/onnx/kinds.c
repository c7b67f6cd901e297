#define _GNU_SOURCE /* memmem */
/* Recognizes files without a network by their bytes: downloads, archives and files of further formats, named .onnx. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "experiments/onnx/reading.h"

#define UNPACK(what) "; it is compressed by " what ": unpack it"

/* Bytes at a place of the file, as text and length, and the message about the file. */
#define AT(place, bytes, says)                                                                                         \
    {                                                                                                                  \
        place, bytes, sizeof bytes - 1, says                                                                           \
    }

static const struct {
    size_t at;
    const char *bytes;
    size_t n;
    const char *says;
} kinds[] = {
    AT(0, "version https://git-lfs", "; it is a pointer of Git LFS: 'git lfs pull' fetches the file"),
    AT(0, "/annex/objects", "; it is a pointer of git-annex: 'git annex get' fetches the file"),
    AT(0, "PK\3\4",
       "; it is a zip archive, as PyTorch's .pt and .pth are: unpack it, or export it by torch.onnx.export"),
    AT(0, "\x1f\x8b", UNPACK("gzip")),
    AT(0, "BZh", UNPACK("bzip2")),
    AT(0,
       "\xfd"
       "7zXZ",
       UNPACK("xz")),
    AT(0, "\x28\xb5\x2f\xfd", UNPACK("zstd")),
    AT(0, "\x04\x22\x4d\x18", UNPACK("lz4")),
    AT(0, "7z\xbc\xaf", UNPACK("7z")),
    AT(0, "Rar!", UNPACK("rar")),
    AT(257, "ustar", "; it is a tar archive: unpack it"),
    AT(0, "\x80\2", "; it is a pickle of Python, as PyTorch's older .pt is: export the network by torch.onnx.export"),
    AT(0, "\x80\4", "; it is a pickle of Python: export the network as ONNX"),
    AT(0, "\x89HDF", "; it is HDF5, as Keras' .h5 is: tf2onnx converts the network"),
    AT(4, "TFL3", "; it is TensorFlow Lite: tf2onnx converts the network"),
    AT(4, "ORTM", "; it is ONNX Runtime's own format: take the .onnx that it was made of"),
    AT(8, "{\"", "; it is a file of safetensors, which has weights and no network"),
    AT(0, "GGUF", "; it is GGUF, which has weights and no network"),
    AT(0, "\x93NUMPY", "; it is an array of NumPy"),
    AT(0,
       "\x7f"
       "ELF",
       "; it is a program or a library"),
    AT(0, "MZ", "; it is a program or a library of Windows"),
    AT(0, "\x89PNG", "; it is a picture"),
    AT(0, "\xff\xd8\xff", "; it is a picture"),
    AT(0, "%PDF", "; it is a PDF"),
    AT(0, "7767517", "; it is a network of ncnn"),
};

/* Text at the begin of a file of the kind, after a byte-order mark and blanks; case does not matter. */
static const struct {
    const char *begin, *says;
} texts[] = {
    { "<!doctype", "; it is a page of HTML: the download needs another address, or a login" },
    { "<html", "; it is a page of HTML: the download needs another address, or a login" },
    { "<?xml", "; it is XML, as OpenVINO's .xml is" },
    { "{", "; it is JSON" },
    { "[", "; it is JSON" },
    { "../", "; it holds the path of another file, as a link does where the file system has no links" },
};

enum { LOOKED_AT = 512, TENSORFLOW = 1 << 16 };

/* Tells whether the begin of a file is text. */
static bool is_text(const uint8_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (at[i] < ' ' && !strchr("\t\r\n\f", at[i] ? at[i] : 1))
            return false;
    }
    return true;
}

static const char *kind_of_text(const uint8_t *at, size_t n)
{
    if (n >= 3 && !memcmp(at, "\xef\xbb\xbf", 3)) {
        at += 3;
        n -= 3;
    }
    for (; n && isspace(*at); n--)
        at++;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const size_t length = strlen(texts[i].begin);

        if (n >= length && !strncasecmp((const char *)at, texts[i].begin, length))
            return texts[i].says;
    }
    return "; it is text";
}

const char *onnx_other_kind(const struct onnx_mapping *m)
{
    const size_t begin = m->bytes < LOOKED_AT ? m->bytes : LOOKED_AT;
    const size_t more = m->bytes < TENSORFLOW ? m->bytes : TENSORFLOW;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (m->bytes >= kinds[i].at + kinds[i].n && !memcmp(m->at + kinds[i].at, kinds[i].bytes, kinds[i].n))
            return kinds[i].says;
    }
    if (is_text(m->at, begin))
        return kind_of_text(m->at, begin);
    return memmem(m->at, more, "Placeholder", 11) || memmem(m->at, more, "saved_model", 11)
               ? "; it looks like a graph of TensorFlow: tf2onnx converts it"
               : "";
}
