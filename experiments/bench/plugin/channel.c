/* The program's side of the memory that the program shares with the process of a plug-in. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "experiments/base/text.h"
#include "experiments/bench/plugin/process.h"
#include "kernels/shape/sizes.h"

enum { STRAY = 0xc5, WAIT_MS = 20 };

int plugin_channel_open(struct plugin_channel *c)
{
    void *control = mmap(NULL, sizeof *c->control, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    int pipe[2] = { -1, -1 };

    *c = (struct plugin_channel){ .fd = memfd_create("plugin", MFD_CLOEXEC), .printed = -1, .printing = -1 };
    if (control == MAP_FAILED || c->fd < 0 || pipe2(pipe, O_CLOEXEC))
        return -errno;
    c->control = control;
    c->printed = pipe[0];
    c->printing = pipe[1];
    return fcntl(c->printed, F_SETFL, O_NONBLOCK) ? -errno : 0;
}

char *plugin_channel_text(const char *text, size_t bytes)
{
    char *copy = exp_format("%.*s", (int)bytes, text);

    exp_text_clean(copy);
    return copy;
}

void plugin_channel_close(struct plugin_channel *c)
{
    plugin_keeper_end(c);
    plugin_channel_return(c);
    if (c->control)
        munmap(c->control, sizeof *c->control);
    if (c->fd >= 0)
        close(c->fd);
    if (c->printed >= 0)
        close(c->printed);
    if (c->printing >= 0)
        close(c->printing);
    *c = (struct plugin_channel){ .fd = -1, .printed = -1, .printing = -1 };
}

void plugin_channel_ask(struct plugin_channel *c, enum plugin_task task)
{
    c->control->task = task;
    c->control->text[0] = c->control->doubt[0] = '\0';
    c->control->is_wrong = false;
    plugin_hand_over(c->control, PLUGIN_BUSY);
}

/* Replaces control characters except LF and tab by blanks, because a terminal would execute control characters. */
static void calm(char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text[i] = iscntrl((unsigned char)text[i]) && text[i] != '\n' && text[i] != '\t' ? ' ' : text[i];
}

bool plugin_channel_show(struct plugin_channel *c)
{
    char text[4096];
    bool has_printed = false;
    ssize_t n;

    while (c->printed >= 0 && (n = read(c->printed, text, sizeof text)) > 0) {
        const size_t shown = min_size((size_t)n, PLUGIN_SHOWN_BYTES - c->n_shown);

        calm(text, shown);
        fwrite(text, 1, shown, stderr);
        c->n_shown += shown;
        if (shown && c->n_shown == PLUGIN_SHOWN_BYTES)
            fputs("\n(what else the plug-in prints is not shown)\n", stderr);
        has_printed = true;
    }
    return has_printed;
}

bool plugin_channel_wait(struct plugin_channel *c)
{
    const long ms = plugin_channel_show(c) ? 0 : WAIT_MS; /* a plug-in that prints much waits for the pipe */

    if (atomic_load(&c->control->turn) == PLUGIN_BUSY)
        plugin_wait_while(&c->control->turn, PLUGIN_BUSY, ms);
    return atomic_load(&c->control->turn) == PLUGIN_IDLE;
}

int plugin_channel_lend_bytes(struct plugin_channel *c, size_t bytes)
{
    void *lent;

    if (ftruncate(c->fd, (off_t)bytes))
        return -errno;
    lent = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
    if (lent == MAP_FAILED)
        return -errno;
    c->lent = lent;
    c->lent_bytes = bytes;
    return 0;
}

int plugin_channel_lend(struct plugin_channel *c, const struct conv_plan *plan, const struct conv_binding *bind)
{
    struct plugin_place place[3];
    const size_t bytes = plugin_places(&plan->layout, place);
    const int err = plugin_channel_lend_bytes(c, bytes);

    if (err)
        return err;
    memset(c->lent, STRAY, bytes);
    for (int t = 0; t < 2; t++)
        memcpy(c->lent + place[t].offset + place[t].before, conv_in_ptr(bind->addr[plugin_tensors[t]]), place[t].bytes);
    return 0;
}

bool plugin_channel_find_stray(const struct plugin_channel *c, const struct conv_plan *plan, char *text, size_t bytes)
{
    struct plugin_place place[3];
    const unsigned char *out;
    size_t end;

    plugin_places(&plan->layout, place);
    out = c->lent + place[2].offset;
    end = place[2].before + place[2].bytes;
    for (size_t i = 0; i < place[2].mapped; i++) {
        if ((i < place[2].before || i >= end) && out[i] != STRAY) {
            exp_say(text, bytes, "the plug-in wrote outside its output: %zu bytes %s it",
                    i < place[2].before ? place[2].before - i : i - end + 1, i < place[2].before ? "before" : "behind");
            return true;
        }
    }
    return false;
}

void plugin_channel_take(const struct plugin_channel *c, const struct conv_plan *plan, const struct conv_binding *bind)
{
    struct plugin_place place[3];

    plugin_places(&plan->layout, place);
    memcpy(conv_out_ptr(bind->addr[CONV_OUTPUT]), c->lent + place[2].offset + place[2].before, place[2].bytes);
}

void plugin_channel_return(struct plugin_channel *c)
{
    if (!c->lent)
        return;
    munmap(c->lent, c->lent_bytes);
    if (ftruncate(c->fd, 0)) {
        /* the pages are used again */
    }
    c->lent = NULL;
}
