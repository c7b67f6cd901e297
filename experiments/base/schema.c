#include "experiments/base/schema.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/outdir.h"
#include "experiments/base/text.h"

/* ---- the columns ---- */

static const struct exp_csv_column why_column = { EXP_CSV_WHY, "",
                                                  "why cells are empty: columns joined by +, a colon, the reason; a "
                                                  "bar divides reasons; x_* stands for names with x_",
                                                  "" };

static struct exp_csv_kind kind_at(const struct exp_csv_file *file, size_t i)
{
    return file->kind && i < file->n_columns ? file->kind(exp_csv_column_at(file, i))
                                             : (struct exp_csv_kind){ "string", false };
}

size_t exp_csv_n_columns(const struct exp_csv_file *file)
{
    size_t i = 0;

    while (i < file->n_columns && !kind_at(file, i).may_be_missing)
        i++;
    return file->n_columns + (i < file->n_columns);
}

const struct exp_csv_column *exp_csv_column_at(const struct exp_csv_file *file, size_t i)
{
    return i < file->n_columns ? (const void *)((const char *)file->column + i * file->stride_bytes) : &why_column;
}

/* ---- columns.json ---- */

/* Returns a text, which is cleaned first: JSON is UTF-8. */
static json_t *text_of(const char *text)
{
    char *clean = exp_copy_text(text);
    json_t *value;

    exp_text_clean(clean);
    value = json_string(clean);
    free(clean);
    return value;
}

static void set(json_t *object, const char *key, const char *text)
{
    if (*text)
        json_object_set_new(object, key, text_of(text));
}

static json_t *field_of(const struct exp_csv_file *file, size_t i)
{
    const struct exp_csv_column *c = exp_csv_column_at(file, i);
    const char *type = kind_at(file, i).type;
    json_t *field = json_object();

    set(field, "name", c->name);
    set(field, "type", type);
    if (!strcmp(type, "boolean")) {
        json_object_set_new(field, "trueValues", json_pack("[s]", "1"));
        json_object_set_new(field, "falseValues", json_pack("[s]", "0"));
    }
    set(field, "unit", c->unit);
    set(field, "description", c->description);
    set(field, "source", c->source);
    return field;
}

static json_t *resource_of(const struct exp_csv_file *file)
{
    json_t *fields = json_array();
    char *name = exp_format("%.*s", (int)strcspn(file->name, "."), file->name);
    json_t *resource;

    for (size_t i = 0; i < exp_csv_n_columns(file); i++)
        json_array_append_new(fields, field_of(file, i));
    resource = json_pack("{s:s, s:s, s:s, s:s, s:{s:s}, s:{s:o, s:[s]}}", "name", name, "path", file->name, "profile",
                         "tabular-data-resource", "encoding", "utf-8", "dialect", "commentChar", "#", "schema",
                         "fields", fields, "missingValues", "");
    free(name);
    return resource;
}

/* Puts a resource into the package, in place of one of the same path. */
static void put_resource(json_t *package, json_t *resource, const char *path)
{
    json_t *all = json_object_get(package, "resources");
    size_t i = 0;

    while (i < json_array_size(all)) {
        const char *has = json_string_value(json_object_get(json_array_get(all, i), "path"));

        if (has && !strcmp(has, path))
            break;
        i++;
    }
    if (i < json_array_size(all))
        json_array_set_new(all, i, resource);
    else
        json_array_append_new(all, resource);
}

static int print(const void *ctx, FILE *out)
{
    if (json_dumpf(ctx, out, JSON_INDENT(1) | JSON_ENSURE_ASCII))
        return -EIO;
    fputc('\n', out);
    return 0;
}

int exp_schema_add(const char *folder, const struct exp_csv_file *file, struct exp_why *why)
{
    const struct exp_outdir dir = { .path = (char *)(uintptr_t)folder };
    char *path = exp_outdir_file(&dir, EXP_CSV_SCHEMA);
    json_t *package = json_load_file(path, 0, NULL);
    int err;

    if (!json_is_array(json_object_get(package, "resources"))) {
        json_decref(package);
        package = json_pack("{s:s, s:[]}", "profile", "tabular-data-package", "resources");
    }
    put_resource(package, resource_of(file), file->name);
    err = exp_outdir_write(&dir, EXP_CSV_SCHEMA, print, package, why);
    json_decref(package);
    free(path);
    return err;
}
