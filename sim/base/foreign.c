#include "sim/base/foreign.h"

#include <string.h>
#include <strings.h>

enum { TAR_AT = 257 }; /* offset of the format's name in a tar archive, behind a file name ended by NUL */

/* A string literal that may hold NUL, and its length. */
#define BYTES(text) text, sizeof(text) - 1

const struct sim_foreign *sim_foreign_find(const void *head, size_t n)
{
    static const struct sim_foreign kinds[] = {
        { BYTES("\x1f\x8b"), "compressed by gzip (gzip -dc unpacks it)", "gzip" },
        { BYTES("\x1f\x9d"), "compressed by compress (gzip -dc unpacks it)", "gzip" },
        { BYTES("\x28\xb5\x2f\xfd"), "compressed by zstd (zstd -dc unpacks it)", "zstd" },
        { BYTES("\xfd"
                "7zXZ\0"),
          "compressed by xz (xz -dc unpacks it)", "xz" },
        { BYTES("\x5d\0\0"), "compressed by lzma (xz -dc unpacks it)", "xz" },
        { BYTES("BZh"), "compressed by bzip2 (bzip2 -dc unpacks it)", "bzip2" },
        { BYTES("\x04\x22\x4d\x18"), "compressed by lz4 (lz4 -dc unpacks it)", "lz4" },
        { BYTES("LZIP"), "compressed by lzip (lzip -dc unpacks it)", "lzip" },
        { BYTES("PK\3\4"), "a zip archive (unzip -p unpacks it)", NULL },
        { BYTES("PK\5\6"), "a zip archive with nothing in it", NULL },
        { BYTES("7z\xbc\xaf\x27\x1c"), "an archive of 7-Zip (7z x -so unpacks it)", NULL },
        { BYTES("Rar!\x1a\x07"), "an archive of RAR (unrar p -inul unpacks it)", NULL },
        { BYTES("!<arch>\n"), "an archive of ar (ar p unpacks it)", NULL },
        { BYTES("\xff\xfe\0\0"), "text in UTF-32 (iconv -f UTF-32 -t UTF-8 changes it)", NULL },
        { BYTES("\xff\xfe"), "text in UTF-16 (iconv -f UTF-16 -t UTF-8 changes it)", NULL },
        { BYTES("\xfe\xff"), "text in UTF-16 (iconv -f UTF-16 -t UTF-8 changes it)", NULL },
        { BYTES("\x7f"
                "ELF"),
          "a program or library (ELF); cachesim run -- PROGRAM traces a program", NULL },
        { BYTES("\x89PNG"), "a picture (PNG)", NULL },
        { BYTES("\xff\xd8\xff"), "a picture (JPEG)", NULL },
        { BYTES("GIF8"), "a picture (GIF)", NULL },
        { BYTES("%PDF"), "a document (PDF)", NULL },
        { BYTES("{\\rtf"), "a document (RTF)", NULL },
        { BYTES("PERFILE2"), "a recording of perf (perf script prints it)", NULL },
        { BYTES("SQLite format 3"), "a database (SQLite)", NULL },
        { BYTES("version https://git-lfs"), "a pointer of Git LFS ('git lfs pull' fetches the file)", NULL },
    };
    static const struct sim_foreign tar = { .what = "an archive of tar (tar -xO unpacks it)" },
                                    page = { .what = "a page of HTML or XML, as a server sends it in a file's place" };
    static const char *const pages[] = { "<!DOCTYPE", "<html", "<head", "<?xml" };
    const char *text = head;
    size_t blank = sim_mark_bytes(head, n);

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (n >= kinds[i].n_bytes && !memcmp(text, kinds[i].bytes, kinds[i].n_bytes))
            return &kinds[i];
    }
    if (n >= TAR_AT + 5 && !memcmp(text + TAR_AT, "ustar", 5) && memchr(text, '\0', TAR_AT))
        return &tar;
    while (blank < n && memchr(" \t\r\n", text[blank], 4))
        blank++;
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        if (n - blank >= strlen(pages[i]) && !strncasecmp(text + blank, pages[i], strlen(pages[i])))
            return &page;
    }
    return NULL;
}

static const char mark[] = "\xef\xbb\xbf";

size_t sim_mark_bytes(const void *head, size_t n)
{
    return n >= 3 && !memcmp(head, mark, 3) ? 3 : 0;
}

const char *sim_foreign_byte(const char *at, const char *end, const char **where)
{
    static const struct {
        const char *bytes;
        size_t n_bytes;
        const char *what;
    } kinds[] = {
        { BYTES("\0"), "a NUL byte in the line: is it text in UTF-16, or no text?" },
        { BYTES("\r"), "a carriage return within the line (tr '\\r' '\\n' makes ends of lines of them)" },
        { BYTES("\xc2\xa0"), "a non-breaking blank, which is no blank here" },
        { BYTES("\xe2\x80"), "a blank or a sign of Unicode, which is none here" },
        { BYTES("\xe3\x80\x80"), "a wide blank of Unicode, which is no blank here" },
        { BYTES("\xef\xbb\xbf"), "a byte order mark within the file" },
    };

    for (; at < end; at++) {
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
            if ((size_t)(end - at) < kinds[i].n_bytes || memcmp(at, kinds[i].bytes, kinds[i].n_bytes) != 0)
                continue;
            *where = at;
            return kinds[i].what;
        }
    }
    return NULL;
}
