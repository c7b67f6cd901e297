/* The plug-ins of ALGO=: the list is checked, and each plug-in is compiled, started and named. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/program.h"
#include "experiments/base/text.h"
#include "experiments/bench/plugin/program.h"
#include "sim/machine/machine_words.h"

/* Finds the end of the path in "dir/mine.c:other": the last ':' without a slash behind it. */
static size_t path_length(const char *item, size_t length)
{
    for (size_t i = length; i > 0 && item[i - 1] != '/'; i--) {
        if (item[i - 1] == ':')
            return i - 1;
    }
    return length;
}

/* Returns the default name of a plug-in: "mine" of dir/mine.c, "mine_other" of dir/mine.c:other. */
static char *name_of_file(const char *path, const char *symbol)
{
    const char *file = exp_last_part(path), *dot = strrchr(file, '.');
    char *name = exp_format("%.*s%s%s", (int)(dot && dot > file ? dot - file : (ptrdiff_t)strlen(file)), file,
                            *symbol ? "_" : "", symbol);

    for (char *c = name; *c; c++)
        *c = isalnum((unsigned char)*c) ? *c : '_';
    if (!*name)
        strcpy(name = exp_resize(name, 2, 1), "_");
    if (strlen(name) >= PLUGIN_NAME_BYTES)
        name[PLUGIN_NAME_BYTES - 1] = '\0';
    return name;
}

/* Starts the process and has the process load the object. Returns NULL, or why the plug-in does not run. */
static const char *start(struct exp_plugin *p)
{
    char text[PLUGIN_TEXT_BYTES];
    int err = plugin_channel_open(&p->channel);

    if (!err) {
        p->channel.control->threads = p->threads;
        exp_say(p->channel.control->user_plan, PLUGIN_PLAN_BYTES, "%s", p->user_plan);
        err = plugin_keeper_start(&p->channel, p->object, p->symbol);
    }
    if (!err)
        return plugin_load(p);
    exp_say(text, sizeof text, "its process cannot be started: %s", strerror(-err));
    return exp_plugin_keep(p, text);
}

/* The plug-ins of this process, as its algorithms (algo.c). */
static struct exp_plugin *first_plugin;

/* Adds the plug-in to the list of algorithms. */
static int add(struct exp_plugin *p, const char *item, unsigned *selected, struct exp_why *why)
{
    const struct exp_algo algo = plugin_algo(p), *added = exp_algo_add(&algo);

    if (!added)
        return exp_fail(why, -EINVAL, "ALGO: %s: more than %d plug-ins", item, EXP_MAX_PLUGINS);
    *selected |= exp_algo_bit(added);
    return 0;
}

static bool is_name(const char *name)
{
    return *name && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(name);
}

/* Copies a title for figures and tables, without characters special to their languages. */
static char *clean_title(const char *title)
{
    char *copy = exp_copy_text(title);

    for (char *c = copy; *c; c++)
        *c = iscntrl((unsigned char)*c) || strchr("\"'`\\$@{}<>;|%", *c) ? ' ' : *c;
    return copy;
}

static void replace(char **text, char *by)
{
    free(*text);
    *text = by;
}

static void take_names(struct exp_plugin *p)
{
    const struct plugin_control *said = p->channel.control;
    char *name = plugin_channel_text(said->name, sizeof said->name);
    char *title = plugin_channel_text(said->title, sizeof said->title);

    if (is_name(name))
        replace(&p->name, exp_copy_text(name));
    p->title = clean_title(*title ? title : p->name);
    free(name);
    free(title);
    if (p->threads > 1) {
        replace(&p->name, exp_format("%s_%u_threads", p->name, p->threads));
        replace(&p->title, exp_format("%s, %u threads", p->title, p->threads));
    }
}

static bool has_title(const char *title)
{
    for (size_t i = 0; i < exp_algo_record_count(); i++) {
        if (!strcmp(exp_algo_record(i)->title, title))
            return true;
    }
    return false;
}

/*
 * Gives a plug-in a new name or title if an algorithm already has the name or title: two versions of a file may stand
 * beside each other.
 */
static void make_unique(struct exp_plugin *p, const char *item)
{
    char *name = exp_copy_text(p->name), *title = exp_copy_text(p->title);

    for (unsigned i = 2; exp_algo_find(p->name); i++)
        replace(&p->name, exp_format("%s_%u", name, i));
    for (unsigned i = 2; has_title(p->title); i++)
        replace(&p->title, exp_format("%s (%u)", title, i));
    if (strcmp(name, p->name))
        fprintf(stderr, "plug-in %s is called %s here: there is another %s\n", item, p->name, name);
    else if (strcmp(title, p->title))
        fprintf(stderr, "plug-in %s is called '%s' in figures: there is another '%s'\n", item, p->title, title);
    free(name);
    free(title);
}

/* Compiles the plug-in and starts its process. Returns NULL, or why the plug-in does not run. */
static const char *make(struct exp_plugin *p)
{
    const struct exp_plugin_limits limits = { p->limit_s, p->flags };
    struct exp_why why;

    if (exp_plugin_compile(p->path, &limits, &p->object, &why))
        return exp_plugin_keep(p, why.text);
    exp_hash_file(&p->hash, p->object);
    p->hash = exp_hash_bytes(p->hash, p->user_plan, strlen(p->user_plan));
    return start(p);
}

/* The lock is recursive: a thread that holds the lock may call exp_plugin_keep. */
static void init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

/* Loads an item of ALGO=: "dir/mine.c", "./mine.so", "mine.c:other". */
static int load_item(const char *item, const struct exp_plugin_options *o, unsigned *selected, struct exp_why *why)
{
    struct exp_plugin *p = exp_new(1, sizeof *p);
    const size_t length = path_length(item, strlen(item));
    const char *symbol = item[length] ? item + length + 1 : "", *reason;

    *p = (struct exp_plugin){ .next = first_plugin,
                              .limit_s = o->limit_s,
                              .threads = o->threads,
                              .channel.fd = -1,
                              .path = exp_format("%s%.*s", strchr("-@", *item) ? "./" : "", (int)length, item),
                              .symbol = exp_copy_text(symbol),
                              .observer = o->observer,
                              .flags = exp_copy_text(o->flags),
                              .user_plan = exp_copy_text(o->plan) };
    first_plugin = p;
    init_lock(&p->lock);
    p->calls_libraries = !exp_plugin_is_source(p->path);
    p->name = name_of_file(p->path, symbol);
    reason = make(p);
    if (reason && !o->may_fail) {
        exp_fail(why, 0, "ALGO: plug-in %s: %s", item, reason);
        exp_text_clean(why->text);
        return exp_interrupted() ? -EINTR : -EINVAL;
    }
    if (reason)
        fprintf(stderr, "plug-in %s does not run: %s\n", item, plugin_bury(p, reason));
    if (p->channel.control) {
        p->calls_libraries |= p->channel.control->calls_libraries;
        take_names(p);
    } else {
        p->title = exp_copy_text(p->name);
    }
    make_unique(p, item);
    return add(p, item, selected, why);
}

static bool is_plugin(const char *item)
{
    return strpbrk(item, "./") != NULL;
}

/* Counts the plug-ins before any plug-in runs. */
static int check_number(const char *list, struct exp_why *why)
{
    char *items = exp_copy_text(list), *rest = items, *item;
    size_t n = 0;
    int err = 0;

    while ((item = strsep(&rest, ","))) {
        n += is_plugin(item);
        if (n > EXP_MAX_PLUGINS && !err)
            err = exp_fail(why, -EINVAL, "ALGO: %s: more than %d plug-ins", item, EXP_MAX_PLUGINS);
    }
    free(items);
    return err;
}

static unsigned count_cores(void)
{
    cpu_set_t cores;

    return sched_getaffinity(0, sizeof cores, &cores) ? 1 : (unsigned)CPU_COUNT(&cores);
}

/* Refuses the name of an unknown algorithm if a file has the name: "mine" of mine.c. */
static int check_name(const char *name, struct exp_why *why)
{
    static const char *const folders[] = { "", "kernels/plugin/" }, *const endings[] = { ".c", ".cpp", ".cc", ".so" };
    enum { N_FOLDERS = sizeof folders / sizeof folders[0], N_ENDINGS = sizeof endings / sizeof endings[0] };
    int err = 0;

    for (size_t i = 0; i < N_FOLDERS * N_ENDINGS && !err && *name && !exp_algo_find(name); i++) {
        const char *before = i / N_ENDINGS || strcmp(endings[i % N_ENDINGS], ".so") ? "" : "./";
        char *path = exp_format("%s%s%s%s", before, folders[i / N_ENDINGS], name, endings[i % N_ENDINGS]);

        if (!access(path, R_OK))
            err = exp_fail(why, -EINVAL, "ALGO: unknown algorithm '%s'; there is a plug-in: ALGO=%s", name, path);
        free(path);
    }
    return err;
}

/* Copies the items that name built-in algorithms into `own`; *has_plugins: the list names plug-ins. */
static int take_own(const char *list, char *own, bool *has_plugins, struct exp_why *why)
{
    char *items = exp_copy_text(list), *rest = items, *item;
    int err = 0;

    while (!err && (item = strsep(&rest, ","))) {
        *has_plugins |= is_plugin(item);
        if (is_plugin(item))
            continue;
        err = check_name(item, why);
        strcat(strcat(own, *own ? "," : ""), item);
    }
    free(items);
    return err;
}

static int has_ending(const struct dirent *entry)
{
    return exp_plugin_is_source(entry->d_name) || exp_name_ends_in(entry->d_name, ".so");
}

/* Says that a file is missing, and which file of the folder has nearly the name. */
static void say_missing(const char *path, int err, struct exp_why *why)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? exp_format("%.*s/", (int)(slash - path), path) : exp_copy_text("./");
    struct dirent **entry = NULL;
    const int n = scandir(folder, &entry, has_ending, alphasort);
    const char **known = exp_new((size_t)(n > 0 ? n : 0) + 1, sizeof *known), *nearest;

    for (int i = 0; i < n; i++)
        known[i] = entry[i]->d_name;
    nearest = sim_nearest_word(exp_last_part(path), known, (size_t)(n > 0 ? n : 0));
    exp_fail(why, err, "ALGO: there is no file '%s'%s%s%s%s", path, nearest ? ", did you mean " : "",
             nearest && slash ? folder : "", nearest ? nearest : "", nearest ? "?" : "");
    for (int i = 0; i < n; i++)
        free(entry[i]);
    free(entry);
    free(known);
    free(folder);
}

/* Finds a plug-in whose file is missing; a function or record of the file may be named behind a colon. */
static int check_file(const char *item, struct exp_why *why)
{
    char *path = exp_format("%.*s", (int)path_length(item, strlen(item)), item);
    int err = !access(item, F_OK) || !access(path, F_OK) ? 0 : -ENOENT;

    if (err)
        say_missing(path, err, why);
    free(path);
    return err;
}

int exp_plugins_check(const char *list, struct exp_why *why)
{
    char *items = exp_copy_text(list), *rest = items, *own = exp_new(strlen(list) + 1, 1), *item;
    bool has_plugins = false;
    unsigned selected;
    int err = take_own(list, own, &has_plugins, why);

    err = err ? err : exp_algo_select(own, &selected, why);
    while (!err && (item = strsep(&rest, ",")))
        err = is_plugin(item) ? check_file(item, why) : 0;
    free(own);
    free(items);
    return err;
}

static int check_options(const struct exp_plugin_options *o, struct exp_why *why)
{
    struct exp_words words = { 0 };
    int err = exp_words_split(&words, o->flags);

    exp_words_release(&words);
    if (o->threads > count_cores())
        return exp_fail(why, -EINVAL, "PLUGIN_THREADS=%u: this program may use %u cores", o->threads, count_cores());
    if (strlen(o->plan) >= PLUGIN_PLAN_BYTES)
        return exp_fail(why, -EINVAL, "PLUGIN_PLAN has more than %d bytes", PLUGIN_PLAN_BYTES - 1);
    return err ? exp_fail(why, err, "PLUGIN_CFLAGS has a quote that is not closed: %s", o->flags) : 0;
}

int exp_plugins_select(const char *list, const struct exp_plugin_options *o, unsigned *selected, struct exp_why *why)
{
    char *items = exp_copy_text(list), *rest = items, *own = exp_new(strlen(list) + 1, 1), *item;
    bool has_plugins = false;
    int err = check_options(o, why);

    *selected = 0;
    err = err ? err : check_number(list, why);
    err = err ? err : take_own(list, own, &has_plugins, why);
    if (!err && (*own || !has_plugins)) /* find a misspelt name before any compilation */
        err = exp_algo_select(own, selected, why);
    while (!err && (item = strsep(&rest, ","))) {
        if (is_plugin(item))
            err = load_item(item, o, selected, why);
    }
    free(own);
    free(items);
    return err;
}

/* ---- the end ---- */

/* Waits a moment for the process to end by itself, so that coverage data are written. */
static void leave(struct exp_plugin *p)
{
    enum { MOST_WAITS = 50 };
    int status;

    if (!p->channel.is_up)
        return;
    plugin_channel_ask(&p->channel, PLUGIN_LEAVE);
    for (int i = 0; i < MOST_WAITS && !plugin_keeper_saw_end(&p->channel, &status); i++)
        plugin_channel_wait(&p->channel);
}

void exp_plugins_release(void)
{
    for (struct exp_plugin *p = first_plugin, *next; p; p = next) {
        next = p->next;
        leave(p);
        plugin_channel_close(&p->channel);
        p->why_dead = "its process has been ended";
        for (size_t i = 0; i < p->n_kept; i++)
            free(p->kept[i]);
        free(p->kept);
        p->kept = NULL;
        p->n_kept = 0;
    }
}
