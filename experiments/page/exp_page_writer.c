#include "experiments/base/exp_memory.h"
#include "experiments/page/exp_page_writer.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

void exp_page_release(struct exp_page_writer *w)
{
    if (w->body)
        fclose(w->body);
    if (w->contents)
        fclose(w->contents);
    free(w->text);
    free(w->contents_text);
    *w = (struct exp_page_writer){ 0 };
}

void exp_page_lacks(struct exp_page_writer *w)
{
    w->err = -ENOMEM;
}

void exp_page_say(struct exp_page_writer *w, enum exp_page_text kind, const char *format, ...)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = exp_memory_open(&text, &bytes);
    va_list args;
    bool failed;

    if (!out) {
        exp_page_lacks(w);
        return;
    }
    va_start(args, format);
    failed = vfprintf(out, format, args) < 0;
    va_end(args);
    if (fclose(out) || failed)
        exp_page_lacks(w);
    else
        w->ops->say(w, kind, text);
    free(text);
}

/* How characters of UTF-8 begin, and the smallest one of that length: longer forms of smaller ones are none. */
static const struct form {
    unsigned char mask, first;
    size_t bytes;
    unsigned long smallest;
} forms[] = { { 0x80, 0x00, 1, 0 }, { 0xe0, 0xc0, 2, 0x80 }, { 0xf0, 0xe0, 3, 0x800 }, { 0xf8, 0xf0, 4, 0x10000 } };

/* Reads the character that text begins with. Returns its bytes; 0 if it is none. */
static size_t read_character(const unsigned char *text, unsigned long *c)
{
    const struct form *f = forms;

    while (f < forms + sizeof forms / sizeof forms[0] && (*text & f->mask) != f->first)
        f++;
    if (f == forms + sizeof forms / sizeof forms[0])
        return 0;
    *c = *text & (unsigned char)~f->mask;
    for (size_t i = 1; i < f->bytes; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *c = *c << 6 | (text[i] & 0x3f);
    }
    return *c < f->smallest || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ? 0 : f->bytes;
}

/* Tells whether a character turns the direction of text: what is read is then not what stands there. */
static bool turns(unsigned long c)
{
    return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f || c == 0x61c;
}

void exp_page_put_clean(const char *text, FILE *out)
{
    while (*text) {
        unsigned long c = 0;
        size_t bytes = read_character((const unsigned char *)text, &c);

        if (bytes && !turns(c))
            fwrite(text, 1, bytes, out);
        else
            fputs("\xef\xbf\xbd", out);
        text += bytes ? bytes : 1;
    }
}

bool exp_page_is_heard(const struct exp_page_writer *w)
{
    for (size_t i = 0; i < w->depth && w->skips_details; i++) {
        if (w->open[i] == EXP_PAGE_DETAIL)
            return false;
    }
    return true;
}

void exp_page_escape(const char *text, FILE *out)
{
    static const struct {
        char c;
        const char *as;
    } special[] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" } };

    for (; *text; text++) {
        const char *as = NULL;

        for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
            as = *text == special[i].c ? special[i].as : as;
        if (as)
            fputs(as, out);
        else
            fputc(iscntrl((unsigned char)*text) && *text != '\n' ? ' ' : *text, out);
    }
}

void exp_page_put_facts(struct exp_page_writer *w, void (*put)(struct exp_page_writer *w, const char *text),
                        const struct exp_page_fact_marks *marks, const struct exp_page_fact *fact, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fputs(fact[i].is_faint ? marks->faint : marks->open, w->body);
        put(w, fact[i].name);
        fputs(marks->value, w->body);
        put(w, fact[i].value);
        if (*fact[i].note) {
            fputs(marks->note, w->body);
            put(w, fact[i].note);
            fputs(marks->note_end, w->body);
        }
        fputs(marks->close, w->body);
    }
}
