#include "experiments/bench/course/project.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/model/formats.h"

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

/* Appends the folder of the installed data, below PREFIX. Returns whether the path fits. */
static bool append_data(char folder[static PATH_MAX])
{
    size_t length = strlen(folder);
    int n = snprintf(folder + length, PATH_MAX - length, "/share/convsim");

    return n > 0 && (size_t)n < PATH_MAX - length;
}

/*
 * Stores the nearest folder above this program that is the project's or has the installed data. Returns whether there
 * is a folder.
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

/* Tells whether a name, up to `length`, is a path, as exp_model_find and exp_machine_find decide. */
static bool is_path(const char *name, size_t length)
{
    static const char *const endings[] = { ".csv", ".txt", ".log", ".onnx", ".cfg", ".c", ".so" };

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

/* Prints comma-separated names, and each path as an absolute path. In MODEL:NAME, only MODEL may be a path. */
static void print_names(const char *list, const char *folder, FILE *out)
{
    while (*list) {
        size_t between = strspn(list, " \t,"), length = exp_models_next(list + between);
        const char *name = list + between;

        fprintf(out, "%.*s", (int)between, list);
        if (is_path(name, strcspn(name, ",:")))
            print_path(name, length, folder, out);
        else
            fprintf(out, "%.*s", (int)length, name);
        list = name + length;
    }
}

/* Returns NAME=VALUE with absolute paths, from malloc. */
static char *from_root(const struct exp_options_path *path, const char *folder)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    fprintf(out, "%s=", path->name);
    if (path->are_names)
        print_names(path->value, folder, out);
    else
        print_path(path->value, strlen(path->value), folder, out);
    fclose(out);
    return text;
}

static size_t count_paths(const struct exp_option *table, const void *options)
{
    struct exp_options_path path;
    size_t at = 0, n = 0;

    while (exp_options_next_path(table, options, &at, &path))
        n++;
    return n;
}

/* Copies the command line, and appends all paths as absolute paths: the last value of a name counts. */
static void take_over(struct exp_command_line *e, const struct exp_option *table, const void *options, int argc,
                      char **argv, const char *folder)
{
    struct exp_options_path path;
    size_t at = 0;

    e->argv = exp_new((size_t)argc + count_paths(table, options) + 1, sizeof *e->argv);
    memcpy(e->argv, argv, (size_t)argc * sizeof *argv);
    e->argc = e->n_given = argc;
    while (exp_options_next_path(table, options, &at, &path))
        e->argv[e->argc++] = from_root(&path, folder);
}

/* Tells whether a word of MODEL= names a file of the user's folder, and no table of the project. */
static bool is_file_here(const char *name, const char *project)
{
    char *table = exp_format("%s/experiments/models/%s.csv", project, name);
    char *elsewhere = exp_format("%s/experiments/models/*/%s.csv", project, name);
    struct stat s;
    glob_t g = { 0 };
    bool is = *name && strcmp(name, "all") != 0 && !exp_descriptor_begins(name) && !is_path(name, strlen(name)) &&
              !stat(name, &s) && S_ISREG(s.st_mode) && access(table, F_OK) && glob(elsewhere, 0, NULL, &g);

    globfree(&g);
    free(elsewhere);
    free(table);
    return is;
}

/* Refuses words of MODEL= that name files of the user's folder, as exp_model_find does in the project's folder. */
static int refuse_files(const struct exp_option *table, const void *options, const char *project, struct exp_why *why)
{
    struct exp_options_path path;
    size_t at = 0;
    int err = 0;

    while (!err && exp_options_next_path(table, options, &at, &path)) {
        char *list = exp_copy_text(path.value), *rest = list, *name;

        while (!err && path.are_names && !strcmp(path.name, "MODEL") && (name = strtok_r(rest, ", \t", &rest))) {
            if (is_file_here(name, project))
                err = exp_fail(why, -ENOENT, "unknown model '%s'; there is a file called so: MODEL=./%s", name, name);
        }
        free(list);
    }
    return err;
}

int exp_project_enter(struct exp_command_line *e, const struct exp_option *table, const void *options, int argc,
                      char **argv, struct exp_why *why)
{
    char project[PATH_MAX], here[PATH_MAX];
    int err;

    *e = (struct exp_command_line){ 0 };
    if (is_project("."))
        return 0;
    if (!find_project(project))
        return exp_fail(why, -ENOENT,
                        "the project's files (experiments/models, sim/machines, ...) are neither in this folder nor "
                        "around the program; start it in the project's folder, or install it: make install");
    if (!getcwd(here, sizeof here))
        return exp_fail(why, -errno, "this folder has no name: %s", strerror(errno));
    err = refuse_files(table, options, project, why);
    if (err)
        return err;
    take_over(e, table, options, argc, argv, strcmp(here, "/") ? here : "");
    return chdir(project) ? exp_fail(why, -errno, "cannot go to '%s': %s", project, strerror(errno)) : 0;
}

void exp_command_line_release(struct exp_command_line *e)
{
    for (int i = e->n_given; i < e->argc; i++)
        free(e->argv[i]);
    free(e->argv);
    *e = (struct exp_command_line){ 0 };
}
