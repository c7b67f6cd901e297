/* Writes what JSON needs beyond printf(). */
#ifndef SIM_JSON_H
#define SIM_JSON_H

#include <stdio.h>

/* Writes text as a JSON string, with its quotes. */
void sim_json_string(const char *text, FILE *out);

/*
 * Writes a text that stands in a line, for people or in a comment: control characters, which would end the line or act on
 * the terminal, become '?'.
 */
void sim_line_text(const char *text, FILE *out);

#endif
