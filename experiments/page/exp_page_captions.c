#include "experiments/page/exp_page_captions.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_names.h"
#include "experiments/base/exp_text.h"

static const char script_suffix[] = ".gp";

static void release_caption(struct exp_page_caption *c)
{
    free(c->name);
    free(c->question);
    free(c->reading);
    *c = (struct exp_page_caption){ 0 };
}

/* Adds what stands behind the mark to the text, if the line begins with it. Returns 0 or -ENOMEM. */
static int take_words(char **text, const char *mark, const char *line)
{
    const char *words = line + strlen(mark);
    char *longer;

    if (strncmp(line, mark, strlen(mark)) != 0)
        return 0;
    longer = *text ? exp_format("%s %s", *text, words) : strdup(words);
    free(*text);
    *text = longer;
    return longer ? 0 : -ENOMEM;
}

/* Takes the comments at a script's head, which text loses. */
static int take_head(struct exp_page_caption *c, char *text)
{
    int err = 0;

    for (char *line = text, *next; !err && line && *line == '#'; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        err = take_words(&c->question, "# question ", line);
        if (!err)
            err = take_words(&c->reading, "# caption ", line);
    }
    return err;
}

static int read_script(struct exp_page_captions *all, const char *folder, const char *file, struct exp_why *why)
{
    struct exp_page_caption c = { .name = strndup(file, strlen(file) - strlen(script_suffix)) };
    char *path = exp_format("%s/%s", folder, file), *text = NULL;
    size_t bytes;
    int err = path && c.name ? exp_text_read(&text, &bytes, path, why) : -ENOMEM;

    if (!err)
        err = take_head(&c, text);
    if (err == -ENOMEM)
        exp_fail(why, err, "out of memory");
    if (!err && c.question && c.reading)
        all->caption[all->n++] = c;
    else
        release_caption(&c);
    free(text);
    free(path);
    return err;
}

static int is_script(const struct dirent *entry)
{
    return exp_name_ends_in(entry->d_name, script_suffix);
}

int exp_page_captions_read(struct exp_page_captions *c, const char *folder, struct exp_why *why)
{
    struct dirent **entry;
    int n = scandir(folder, &entry, is_script, alphasort), err = 0;

    *c = (struct exp_page_captions){ 0 };
    if (n < 0)
        return exp_fail(why, -errno, "cannot list '%s': %s", folder, strerror(errno));
    c->caption = calloc((size_t)n + 1, sizeof *c->caption);
    if (!c->caption)
        err = exp_fail(why, -ENOMEM, "out of memory");
    for (int i = 0; i < n; i++) {
        if (!err)
            err = read_script(c, folder, entry[i]->d_name, why);
        free(entry[i]);
    }
    free(entry);
    return err;
}

void exp_page_captions_release(struct exp_page_captions *c)
{
    for (size_t i = 0; i < c->n; i++)
        release_caption(&c->caption[i]);
    free(c->caption);
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
