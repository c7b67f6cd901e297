#include "experiments/page/exp_page_captions.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_text.h"

static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (isspace((unsigned char)*text))
        text++;
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}

/* Takes the marks of Markdown for code out of a text. */
static void drop_marks(char *text)
{
    char *to = text;

    for (; *text; text++) {
        if (*text != '`')
            *to++ = *text;
    }
    *to = '\0';
}

/* Begins a phrase with a capital. */
static void begin_with_capital(char *text)
{
    *text = (char)toupper((unsigned char)*text);
}

/* Takes a row "| `name` | question | reading |" over; other lines are no captions. */
static void take_line(struct exp_page_captions *c, char *line)
{
    char *cell[3];

    if (strncmp(line, "| `", 3) != 0 || c->n == EXP_PAGE_CAPTIONS)
        return;
    for (size_t i = 0; i < 3; i++) {
        char *end = strchr(line + 1, '|');

        if (!end)
            return;
        *end = '\0';
        cell[i] = trim(line + 1);
        line = end;
    }
    for (size_t i = 0; i < 3; i++)
        drop_marks(cell[i]);
    begin_with_capital(cell[1]);
    begin_with_capital(cell[2]);
    /* Several figures may share a row: `a`, `b`. */
    for (char *name = cell[0], *next; name && c->n < EXP_PAGE_CAPTIONS; name = next) {
        next = strchr(name, ',');
        if (next)
            *next++ = '\0';
        c->caption[c->n++] = (struct exp_page_caption){ trim(name), cell[1], cell[2] };
    }
}

static void take_lines(struct exp_page_captions *c)
{
    for (char *line = c->text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        take_line(c, line);
    }
}

int exp_page_captions_read(struct exp_page_captions *c, const char *folder, char *why, size_t why_bytes)
{
    char *path = exp_format("%s/README.md", folder);
    size_t bytes;
    int err;

    *c = (struct exp_page_captions){ 0 };
    err = path ? exp_text_read(&c->text, &bytes, path, why, why_bytes)
               : exp_fail(why, why_bytes, -ENOMEM, "out of memory");
    if (!err)
        take_lines(c);
    free(path);
    return err;
}

void exp_page_captions_release(struct exp_page_captions *c)
{
    free(c->text);
    *c = (struct exp_page_captions){ 0 };
}

const struct exp_page_caption *exp_page_captions_find(const struct exp_page_captions *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++) {
        if (!strcmp(c->caption[i].name, name))
            return &c->caption[i];
    }
    return NULL;
}
