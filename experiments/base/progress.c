#include "experiments/base/progress.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "experiments/base/error.h"

enum { LINE_BYTES = 256 };

static const uint64_t redraw_ns = 100000000;
static const uint64_t plain_line_ns = 20000000000, most_plain_ns = 600000000000;
static const double nearly_done_s = 5; /* a log needs no line for the rest */
static const uint64_t live_ns = 500000000;
static const uint64_t estimate_after_ns = 2000000000;
static const double estimate_after_share = 0.05;
static const double long_seconds = 600;
static const double guess_share = 0.02; /* the guess of a pace counts like this share of a kind's work */

/* One kind of work. Announced seconds, except for spent seconds. */
struct work {
    double announced, done;
    double spent;   /* really */
    double ends_at; /* of spent; 0: no limit */
    double least;   /* of done: the limit does not end the work before */
};

struct exp_progress {
    pthread_mutex_t lock;
    FILE *out;
    bool is_terminal;
    struct work work[EXP_N_WORKS];
    enum exp_work current; /* EXP_N_WORKS: none has begun */
    uint64_t (*now_ns)(void);
    uint64_t start_ns, counted_ns; /* counted_ns: time before is in work[].spent */
    uint64_t printed_ns;
    double percent; /* the most shown until now */
    bool is_drawn;  /* the terminal shows a progress line */
    char name[80], step[80], so_far[160];

    pthread_t thread; /* if it is live */
    pthread_cond_t stopped;
    bool is_live, stops;
};

bool exp_progress_is_terminal(FILE *out)
{
    const char *term = getenv("TERM");

    return isatty(fileno(out)) && term && *term && strcmp(term, "dumb") != 0;
}

struct exp_progress *exp_progress_new(FILE *out, bool is_terminal, const double seconds[EXP_N_WORKS],
                                      uint64_t (*now_ns)(void))
{
    struct exp_progress *p = exp_new(1, sizeof *p);
    const uint64_t now = now_ns();

    assert(out);
    *p = (struct exp_progress){ .out = out,
                                .is_terminal = is_terminal,
                                .current = EXP_N_WORKS,
                                .now_ns = now_ns,
                                .start_ns = now,
                                .counted_ns = now,
                                .printed_ns = now };
    for (int k = 0; k < EXP_N_WORKS && seconds; k++)
        p->work[k].announced = seconds[k];
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->stopped, NULL);
    return p;
}

/* Writes a duration for people: "12 s", "3 min 20 s", "2 h 5 min". */
static void progress_duration(char *text, size_t bytes, double seconds)
{
    unsigned long long s = seconds < 1e15 ? (unsigned long long)(seconds + 0.5) : 1000000000000000u;

    if (s < 60)
        snprintf(text, bytes, "%llu s", s);
    else if (s < 3600)
        snprintf(text, bytes, "%llu min %llu s", s / 60, s % 60);
    else if (s < 48 * 3600)
        snprintf(text, bytes, "%llu h %llu min", s / 3600, s % 3600 / 60);
    else
        snprintf(text, bytes, "%llu days", s / (24 * 3600));
}

/* ---- the estimate ---- */

/* Books the time since the last call to the current kind of work. */
static void count_time(struct exp_progress *p)
{
    uint64_t now = p->now_ns();

    if (p->current < EXP_N_WORKS)
        p->work[p->current].spent += (double)(now - p->counted_ns) * 1e-9;
    p->counted_ns = now;
}

static struct work sum_of(const struct exp_progress *p)
{
    struct work sum = { 0 };

    for (int k = 0; k < EXP_N_WORKS; k++) {
        sum.announced += p->work[k].announced;
        sum.done += p->work[k].done;
        sum.spent += p->work[k].spent;
    }
    return sum;
}

/* Returns the real seconds of one announced second of a kind. */
static double pace_of(const struct work *w, double guess)
{
    double as_if = guess_share * w->announced;

    return (w->spent + guess * as_if) / (w->done + as_if);
}

static double left_of(const struct work *w, double guess)
{
    double left = w->announced - w->done;
    double seconds = left > 1e-9 * w->announced ? left * pace_of(w, guess) : 0;

    return w->ends_at > 0 ? fmin(seconds, fmax(w->ends_at - w->spent, fmax(w->least - w->done, 0) * pace_of(w, guess)))
                          : seconds;
}

/* Returns the seconds left; a negative number without an estimate. */
static double estimate_left(const struct exp_progress *p)
{
    const struct work sum = sum_of(p);
    double guess = sum.done > 0 ? sum.spent / sum.done : 1, left = 0;

    if (sum.announced <= 0 || sum.done <= 0 ||
        (sum.done < estimate_after_share * sum.announced && p->counted_ns - p->start_ns < estimate_after_ns))
        return -1.0;
    for (int k = 0; k < EXP_N_WORKS; k++)
        left += left_of(&p->work[k], guess);
    return left;
}

double exp_progress_left(struct exp_progress *p)
{
    double left;

    pthread_mutex_lock(&p->lock);
    count_time(p);
    left = estimate_left(p);
    pthread_mutex_unlock(&p->lock);
    return left;
}

/* ---- printing ---- */

/* Returns the share of the time that has passed; without an estimate, the last share. */
static double percent_of(const struct exp_progress *p, double elapsed, double left)
{
    return left < 0 ? p->percent : fmax(p->percent, 100 * elapsed / fmax(elapsed + left, 1e-9));
}

/* Writes the time left; beyond two minutes, the time of day of the end. */
static void say_left(char *text, size_t bytes, double left)
{
    const time_t end = time(NULL) + (time_t)left;
    char duration[40], clock[16] = "";
    struct tm tm;

    progress_duration(duration, sizeof duration, left);
    if (left >= 120 && localtime_r(&end, &tm))
        strftime(clock, sizeof clock, ", until %H:%M", &tm);
    snprintf(text, bytes, ", about %s left%s", duration, clock);
}

static void print_line(struct exp_progress *p, char *line, size_t bytes)
{
    double elapsed_s = (double)(p->counted_ns - p->start_ns) * 1e-9, left = estimate_left(p);
    char elapsed[40], rest[96] = "";

    progress_duration(elapsed, sizeof elapsed, elapsed_s);
    if (left >= 0.0)
        say_left(rest, sizeof rest, left);
    p->percent = percent_of(p, elapsed_s, left);
    if (p->is_terminal && *p->so_far)
        snprintf(line, bytes, "[%3.0f %%] %s  %s%s", floor(p->percent), p->so_far, elapsed, rest);
    else
        snprintf(line, bytes, "[%3.0f %%] %s  %s  %s elapsed%s", floor(p->percent), p->name, p->step, elapsed, rest);
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

/* Rewrites the line. A line longer than the terminal would wrap and could not be rewritten, so it is cut. */
static void redraw(struct exp_progress *p)
{
    char line[LINE_BYTES];
    size_t columns = terminal_columns(p->out);

    print_line(p, line, sizeof line);
    if (strlen(line) >= columns)
        line[columns - 1] = '\0';
    fprintf(p->out, "\r\033[K%s", line);
    p->is_drawn = true;
}

static void say_plainly(struct exp_progress *p)
{
    char line[LINE_BYTES];

    print_line(p, line, sizeof line);
    fprintf(p->out, "%s\n", line);
}

/* Returns the time between two lines. Plain lines become rarer: after 20 s, 60 s, 180 s; and rare near the end. */
static uint64_t line_gap(const struct exp_progress *p)
{
    const uint64_t twice = 2 * (p->printed_ns - p->start_ns);
    const double left = estimate_left(p);

    if (p->is_terminal)
        return redraw_ns;
    if (left >= 0 && left < nearly_done_s)
        return most_plain_ns;
    return twice < plain_line_ns ? plain_line_ns : twice < most_plain_ns ? twice : most_plain_ns;
}

/* Prints the line if due, or at once. */
static void print_due(struct exp_progress *p, bool at_once)
{
    count_time(p);
    if (p->current == EXP_N_WORKS || (!at_once && p->counted_ns - p->printed_ns < line_gap(p)))
        return;
    if (p->is_terminal)
        redraw(p);
    else
        say_plainly(p);
    fflush(p->out);
    p->printed_ns = p->counted_ns;
}

/* ---- reports ---- */

void exp_progress_begin(struct exp_progress *p, enum exp_work work, const char *name, const char *step)
{
    bool is_other;

    assert(work < EXP_N_WORKS);
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    count_time(p);
    is_other = p->current == EXP_N_WORKS || (p->is_terminal && work != p->current);
    p->current = work;
    snprintf(p->name, sizeof p->name, "%s", name);
    snprintf(p->step, sizeof p->step, "%s", step);
    print_due(p, is_other);
    pthread_mutex_unlock(&p->lock);
}

void exp_progress_so_far(struct exp_progress *p, const char *text)
{
    assert(text);
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    snprintf(p->so_far, sizeof p->so_far, "%s", text);
    print_due(p, false);
    pthread_mutex_unlock(&p->lock);
}

void exp_progress_step(struct exp_progress *p, enum exp_work work, double seconds)
{
    assert(work < EXP_N_WORKS);
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->work[work].done += seconds;
    print_due(p, false);
    pthread_mutex_unlock(&p->lock);
}

void exp_progress_drop(struct exp_progress *p, enum exp_work work, double seconds)
{
    assert(work < EXP_N_WORKS);
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->work[work].announced -= seconds;
    pthread_mutex_unlock(&p->lock);
}

void exp_progress_limit(struct exp_progress *p, enum exp_work work, double seconds, double least)
{
    assert(work < EXP_N_WORKS);
    pthread_mutex_lock(&p->lock);
    count_time(p);
    p->work[work].ends_at = p->work[work].spent + seconds;
    p->work[work].least = p->work[work].done + least;
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
    count_time(p);
    if (p->is_terminal && p->current < EXP_N_WORKS)
        redraw(p);
    else
        p->printed_ns = p->counted_ns;
    fflush(p->out);
    pthread_mutex_unlock(&p->lock);
}

/* ---- living ---- */

static void *live(void *progress)
{
    struct exp_progress *p = progress;

    pthread_mutex_lock(&p->lock);
    while (!p->stops) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (long)live_ns;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&p->stopped, &p->lock, &until);
        if (!p->stops)
            print_due(p, false);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void exp_progress_live(struct exp_progress *p)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    p->is_live = !pthread_create(&p->thread, NULL, live, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void stop_living(struct exp_progress *p)
{
    if (!p->is_live)
        return;
    pthread_mutex_lock(&p->lock);
    p->stops = true;
    pthread_cond_signal(&p->stopped);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
}

void exp_progress_free(struct exp_progress *p)
{
    if (!p)
        return;
    stop_living(p);
    clear_line(p);
    fflush(p->out);
    pthread_cond_destroy(&p->stopped);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* ---- forecasts ---- */

void exp_forecast_add(struct exp_forecast *f, const char *name, const double seconds[EXP_N_WORKS])
{
    double sum = 0;

    assert(f && seconds);
    for (int k = 0; k < EXP_N_WORKS; k++)
        sum += seconds[k];
    f->seconds += sum;
    if (sum > f->most) {
        f->most = sum;
        f->name = name;
    }
}

void exp_forecast_print(const struct exp_forecast *f, FILE *out)
{
    char all[40], most[40];

    if (!(f->seconds >= long_seconds))
        return;
    progress_duration(all, sizeof all, f->seconds);
    progress_duration(most, sizeof most, f->most);
    fprintf(out,
            "This will take about %s, by a first estimate; layer '%.60s' alone %s. LAYERS= narrows, Ctrl-C ends it.\n",
            all, f->name, most);
}
