#include "experiments/page/exp_page_writer.h"

#include <ctype.h>
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

void exp_page_say(struct exp_page_writer *w, enum exp_page_text kind, const char *format, ...)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    va_list args;

    if (!out)
        return;
    va_start(args, format);
    vfprintf(out, format, args);
    va_end(args);
    if (!fclose(out))
        w->ops->say(w, kind, text);
    free(text);
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
        fputs(marks->open, w->body);
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
