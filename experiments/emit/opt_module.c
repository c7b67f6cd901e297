#include "experiments/emit/opt_module.h"

#include <errno.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/RegisterEverything.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"

/* ---- texts ---- */

static void write_piece(MlirStringRef piece, void *out)
{
    fwrite(piece.data, 1, piece.length, out);
}

static char *end_text(FILE *out, char **text)
{
    fclose(out);
    return *text;
}

char *opt_name_of(MlirOperation op)
{
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));

    return exp_format("%.*s", (int)name.length, name.data);
}

char *opt_text_of_attribute(MlirAttribute a)
{
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    mlirAttributePrint(a, write_piece, out);
    return end_text(out, &text);
}

char *opt_text_of_type(MlirType t)
{
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    mlirTypePrint(t, write_piece, out);
    return end_text(out, &text);
}

/* A module that was read from memory is at loc("-":3:10). */
char *opt_place_of(const struct opt_module *m, MlirLocation l)
{
    char *text, *place;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);
    unsigned line, column;

    mlirLocationPrint(l, write_piece, out);
    end_text(out, &text);
    if (sscanf(text, "loc(\"-\":%u:%u)", &line, &column) == 2)
        place = exp_format("%s:%u:%u", m->path, line, column);
    else
        place = exp_format("%s: %s", m->path, text);
    free(text);
    return place;
}

bool opt_is_called(MlirOperation op, const char *name)
{
    MlirStringRef is = mlirIdentifierStr(mlirOperationGetName(op));

    return is.length == strlen(name) && !memcmp(is.data, name, is.length);
}

MlirAttribute opt_attribute_of(MlirOperation op, const char *name)
{
    return mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString(name));
}

void opt_module_remark(const struct opt_module *m, MlirOperation op, const char *format, ...)
{
    char *place = opt_place_of(m, mlirOperationGetLocation(op)), *what;
    va_list args;

    va_start(args, format);
    what = exp_format_list(format, args);
    va_end(args);
    fprintf(stderr, "%s: remark: %s\n", place, what);
    free(what);
    free(place);
}

/* ---- the module ---- */

/* Keeps the first error; everything else is said by us. */
static MlirLogicalResult hear(MlirDiagnostic d, void *module)
{
    struct opt_module *m = module;
    char *text, *place;
    size_t bytes;
    FILE *out;

    if (mlirDiagnosticGetSeverity(d) != MlirDiagnosticError || *m->said.text)
        return mlirLogicalResultSuccess();
    out = exp_memory_open(&text, &bytes);
    mlirDiagnosticPrint(d, write_piece, out);
    end_text(out, &text);
    place = opt_place_of(m, mlirDiagnosticGetLocation(d));
    exp_fail(&m->said, 0, "%s: %s", place, text);
    free(place);
    free(text);
    return mlirLogicalResultSuccess();
}

static void open_context(struct opt_module *m)
{
    MlirDialectRegistry all = mlirDialectRegistryCreate();

    mlirRegisterAllDialects(all);
    m->context = mlirContextCreateWithThreading(false);
    mlirContextAppendDialectRegistry(m->context, all);
    mlirDialectRegistryDestroy(all);
    mlirContextLoadAllAvailableDialects(m->context);
    mlirContextSetAllowUnregisteredDialects(m->context, true);
    mlirContextAttachDiagnosticHandler(m->context, hear, m, NULL);
    m->is_read = true;
}

MlirModule opt_module_parse(struct opt_module *m, const char *text)
{
    m->said.text[0] = '\0';
    return mlirModuleCreateParse(m->context, mlirStringRefCreateFromCString(text));
}

int opt_module_read(struct opt_module *m, const char *path, struct exp_why *why)
{
    char *text;
    size_t bytes;
    int err = exp_text_read(&text, &bytes, path, why);

    if (err)
        return err;
    m->path = path;
    open_context(m);
    m->module = opt_module_parse(m, text);
    free(text);
    if (mlirModuleIsNull(m->module))
        return exp_fail(why, -EINVAL, "%s", *m->said.text ? m->said.text : "this is no module of MLIR");
    return 0;
}

void opt_module_release(struct opt_module *m)
{
    if (!m->is_read)
        return;
    if (!mlirModuleIsNull(m->module))
        mlirModuleDestroy(m->module);
    mlirContextDestroy(m->context);
    m->is_read = false;
}

bool opt_module_verifies(struct opt_module *m)
{
    m->said.text[0] = '\0';
    return mlirOperationVerify(mlirModuleGetOperation(m->module));
}

void opt_module_print(const struct opt_module *m, FILE *out)
{
    mlirOperationPrint(mlirModuleGetOperation(m->module), write_piece, out);
}
