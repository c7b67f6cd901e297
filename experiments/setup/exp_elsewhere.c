#include "experiments/setup/exp_elsewhere.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_text.h"
#include "experiments/setup/exp_descriptor.h"

/* Tells whether a folder is the project's. */
static bool is_project(const char *folder)
{
    static const char *const rooms[] = { "experiments/models", "experiments/figures", "sim/machines" };

    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        char path[PATH_MAX + 32];
        struct stat s;

        snprintf(path, sizeof path, "%s/%s", folder, rooms[i]);
        if (stat(path, &s) || !S_ISDIR(s.st_mode))
            return false;
    }
    return true;
}

/* Appends what `make install` puts the project's data into, below PREFIX. Returns whether it fits. */
static bool append_data(char folder[static PATH_MAX])
{
    size_t length = strlen(folder);
    int n = snprintf(folder + length, PATH_MAX - length, "/share/convsim");

    return n > 0 && (size_t)n < PATH_MAX - length;
}

/*
 * Stores the nearest folder around this program that is the project's, or has its installed data. Returns whether there
 * is one.
 */
static bool find_project(char folder[static PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    char *slash;

    folder[length > 0 ? length : 0] = '\0';
    while ((slash = strrchr(folder, '/')) && slash > folder) {
        *slash = '\0';
        if (is_project(folder) || (append_data(folder) && is_project(folder)))
            return true;
        *slash = '\0';
    }
    return false;
}

/* Tells whether a name, up to its length, is a path: as exp_model_find and exp_machine_find do. */
static bool is_path(const char *name, size_t length)
{
    static const char *const endings[] = { ".csv", ".txt", ".log", ".cfg" };

    if (exp_descriptor_begins(name))
        return false;
    if (memchr(name, '/', length))
        return true;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (length > strlen(endings[i]) && !strncmp(name + length - strlen(endings[i]), endings[i], strlen(endings[i])))
            return true;
    }
    return false;
}

static void print_path(const char *path, size_t length, const char *folder, FILE *out)
{
    fprintf(out, "%s%s%.*s", *path == '/' ? "" : folder, *path == '/' ? "" : "/", (int)length, path);
}

/* Prints comma-separated names, those that are paths from the root on. Of MODEL:NAME, only MODEL may be one. */
static void print_names(const char *list, const char *folder, FILE *out)
{
    while (*list) {
        size_t between = strspn(list, " \t,"), length = strcspn(list + between, ",");
        const char *name = list + between;

        fprintf(out, "%.*s", (int)between, list);
        if (is_path(name, strcspn(name, ",:")))
            print_path(name, length, folder, out);
        else
            fprintf(out, "%.*s", (int)length, name);
        list = name + length;
    }
}

/* Returns NAME=VALUE with paths from the root on, from malloc; NULL when out of memory. */
static char *from_root(const struct exp_options_path *path, const char *folder)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);
    bool is_whole;

    if (!out)
        return NULL;
    fprintf(out, "%s=", path->name);
    if (path->are_names)
        print_names(path->value, folder, out);
    else
        print_path(path->value, strlen(path->value), folder, out);
    is_whole = !ferror(out);
    if (!fclose(out) && is_whole)
        return text;
    free(text);
    return NULL;
}

static size_t count_paths(const struct exp_option *table, const void *options)
{
    struct exp_options_path path;
    size_t at = 0, n = 0;

    while (exp_options_next_path(table, options, &at, &path))
        n++;
    return n;
}

/* Appends all paths, from the root on, to the command line: the last of a name counts. */
static int append_paths(struct exp_elsewhere *e, const struct exp_option *table, const void *options,
                        const char *folder)
{
    struct exp_options_path path;
    size_t at = 0;

    while (exp_options_next_path(table, options, &at, &path)) {
        e->argv[e->argc] = from_root(&path, folder);
        if (!e->argv[e->argc])
            return -ENOMEM;
        e->argc++;
    }
    return 0;
}

static int take_over(struct exp_elsewhere *e, const struct exp_option *table, const void *options, int argc,
                     char **argv, const char *folder)
{
    e->argv = calloc((size_t)argc + count_paths(table, options) + 1, sizeof *e->argv);
    if (!e->argv)
        return -ENOMEM;
    memcpy(e->argv, argv, (size_t)argc * sizeof *argv);
    e->argc = e->n_given = argc;
    return append_paths(e, table, options, folder);
}

int exp_elsewhere_enter(struct exp_elsewhere *e, const struct exp_option *table, const void *options, int argc,
                        char **argv, struct exp_why *why)
{
    char project[PATH_MAX], here[PATH_MAX];

    *e = (struct exp_elsewhere){ 0 };
    if (is_project("."))
        return 0;
    if (!find_project(project))
        return exp_fail(why, -ENOENT,
                        "the project's files (experiments/models, sim/machines, ...) are neither in this folder nor "
                        "around the program; start it in the project's folder, or install it: make install");
    if (!getcwd(here, sizeof here))
        return exp_fail(why, -errno, "this folder has no name: %s", strerror(errno));
    if (take_over(e, table, options, argc, argv, strcmp(here, "/") ? here : ""))
        return exp_fail(why, -ENOMEM, "out of memory");
    return chdir(project) ? exp_fail(why, -errno, "cannot go to '%s': %s", project, strerror(errno)) : 0;
}

void exp_elsewhere_release(struct exp_elsewhere *e)
{
    for (int i = e->n_given; i < e->argc; i++)
        free(e->argv[i]);
    free(e->argv);
    *e = (struct exp_elsewhere){ 0 };
}
