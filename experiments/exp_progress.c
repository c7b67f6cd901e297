#include "experiments/exp_progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { LINE_BYTES = 256 };

static const uint64_t redraw_ns = 100000000;
static const uint64_t estimate_after_ns = 2000000000;
static const double estimate_after_share = 0.05;

struct exp_progress {
    pthread_mutex_t lock;
    FILE *out;
    bool is_terminal;
    size_t n_layers;
    double total_weight, done_weight;
    uint64_t (*now_ns)(void);
    uint64_t start_ns, drawn_ns;
    bool is_drawn;  /* the terminal shows a progress line */
    bool *has_line; /* [n_layers + 1] which layers got their plain line: with threads they mix */
    size_t layer;
    char name[80], step[80];
};

bool exp_progress_is_terminal(FILE *out)
{
    const char *term = getenv("TERM");

    return isatty(fileno(out)) && term && *term && strcmp(term, "dumb") != 0;
}

int exp_progress_new(struct exp_progress **p, FILE *out, bool is_terminal, size_t n_layers, double total_weight,
                     uint64_t (*now_ns)(void))
{
    *p = calloc(1, sizeof **p);
    if (!*p)
        return -ENOMEM;
    **p = (struct exp_progress){ .out = out,
                                 .is_terminal = is_terminal,
                                 .n_layers = n_layers,
                                 .total_weight = total_weight,
                                 .now_ns = now_ns,
                                 .start_ns = now_ns() };
    (*p)->has_line = calloc(n_layers + 1, sizeof *(*p)->has_line);
    if (!(*p)->has_line) {
        free(*p);
        *p = NULL;
        return -ENOMEM;
    }
    pthread_mutex_init(&(*p)->lock, NULL);
    return 0;
}

/* "12 s", "3 min 20 s", "2 h 5 min". */
static void print_duration(char *text, size_t bytes, double seconds)
{
    unsigned long s = (unsigned long)(seconds + 0.5);

    if (s < 60)
        snprintf(text, bytes, "%lu s", s);
    else if (s < 3600)
        snprintf(text, bytes, "%lu min %lu s", s / 60, s % 60);
    else
        snprintf(text, bytes, "%lu h %lu min", s / 3600, s % 3600 / 60);
}

static int count_digits(size_t n)
{
    return snprintf(NULL, 0, "%zu", n);
}

/* Seconds left by rule of three; negative if there is nothing to go by. */
static double estimate_left(const struct exp_progress *p, uint64_t elapsed_ns)
{
    double share = p->total_weight > 0.0 ? p->done_weight / p->total_weight : 0.0;

    if (share <= 0.0 || (share < estimate_after_share && elapsed_ns < estimate_after_ns))
        return -1.0;
    return share < 1.0 ? (double)elapsed_ns * 1e-9 * (1.0 - share) / share : 0.0;
}

static void print_line(const struct exp_progress *p, char *line, size_t bytes)
{
    uint64_t elapsed_ns = p->now_ns() - p->start_ns;
    double left = estimate_left(p, elapsed_ns);
    char elapsed[40], rest[64] = "", duration[40];

    print_duration(elapsed, sizeof elapsed, (double)elapsed_ns * 1e-9);
    if (left >= 0.0) {
        print_duration(duration, sizeof duration, left);
        snprintf(rest, sizeof rest, ", about %s left", duration);
    }
    snprintf(line, bytes, "[%*zu/%zu] %s  %s  %s elapsed%s", count_digits(p->n_layers), p->layer, p->n_layers, p->name,
             p->step, elapsed, rest);
}

static size_t terminal_columns(FILE *out)
{
    struct winsize size;

    return ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;
}

static void clear_line(struct exp_progress *p)
{
    if (p->is_drawn)
        fputs("\r\033[K", p->out);
    p->is_drawn = false;
}

/* A line longer than the terminal would wrap and could not be rewritten: it is cut. */
static void redraw(struct exp_progress *p, bool is_forced)
{
    uint64_t now = p->now_ns();
    char line[LINE_BYTES];
    size_t columns;

    if (!p->is_terminal || !p->layer || (!is_forced && now - p->drawn_ns < redraw_ns))
        return;
    print_line(p, line, sizeof line);
    columns = terminal_columns(p->out);
    if (strlen(line) >= columns)
        line[columns - 1] = '\0';
    fprintf(p->out, "\r\033[K%s", line);
    fflush(p->out);
    p->is_drawn = true;
    p->drawn_ns = now;
}

static void say_plainly(struct exp_progress *p)
{
    char line[LINE_BYTES];

    if (p->layer > p->n_layers || p->has_line[p->layer])
        return;
    print_line(p, line, sizeof line);
    fprintf(p->out, "%s\n", line);
    fflush(p->out);
    p->has_line[p->layer] = true;
}

void exp_progress_begin(struct exp_progress *p, size_t layer, const char *name, const char *step)
{
    pthread_mutex_lock(&p->lock);
    p->layer = layer;
    snprintf(p->name, sizeof p->name, "%s", name);
    snprintf(p->step, sizeof p->step, "%s", step);
    if (p->is_terminal)
        redraw(p, false);
    else
        say_plainly(p);
    pthread_mutex_unlock(&p->lock);
}

void exp_progress_step(struct exp_progress *p, double weight)
{
    pthread_mutex_lock(&p->lock);
    p->done_weight += weight;
    redraw(p, false);
    pthread_mutex_unlock(&p->lock);
}

void exp_progress_note(struct exp_progress *p, const char *format, ...)
{
    va_list args;

    pthread_mutex_lock(&p->lock);
    clear_line(p);
    va_start(args, format);
    vfprintf(p->out, format, args);
    va_end(args);
    fputc('\n', p->out);
    redraw(p, true);
    fflush(p->out);
    pthread_mutex_unlock(&p->lock);
}

void exp_progress_free(struct exp_progress *p)
{
    if (!p)
        return;
    clear_line(p);
    fflush(p->out);
    pthread_mutex_destroy(&p->lock);
    free(p->has_line);
    free(p);
}
