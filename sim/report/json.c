#include "sim/report/json.h"

#include <assert.h>
#include <ctype.h>
#include <stddef.h>

/* Returns the length in bytes of a UTF-8 character; 0: the bytes are no UTF-8, as may happen in file names. */
static size_t character_bytes(const unsigned char *c)
{
    static const struct {
        unsigned char first, last, low, high; /* of the first byte, and of the second */
        size_t n;
    } kinds[] = {
        { 0x00, 0x7f, 0x00, 0xff, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
        { 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
        { 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t n = 2;

        if (*c < kinds[i].first || *c > kinds[i].last)
            continue;
        if (kinds[i].n > 1 && (c[1] < kinds[i].low || c[1] > kinds[i].high))
            return 0;
        while (n < kinds[i].n && c[n] >= 0x80 && c[n] <= 0xbf)
            n++;
        return n < kinds[i].n ? 0 : kinds[i].n;
    }
    return 0;
}

void sim_json_string(const char *text, FILE *out)
{
    size_t n;

    assert(text && out);
    fputc('"', out);
    for (; *text; text += n ? n : 1) {
        n = character_bytes((const unsigned char *)text);
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (!n)
            fputs("\\ufffd", out);
        else if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fwrite(text, 1, n, out);
    }
    fputc('"', out);
}

void sim_line_text(const char *text, FILE *out)
{
    assert(text && out);
    for (; *text; text++)
        fputc(iscntrl((unsigned char)*text) ? '?' : *text, out);
}
