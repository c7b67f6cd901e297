/* Writes strings for JSON and for lines of text. */
#ifndef SIM_JSON_H
#define SIM_JSON_H

#include <stdio.h>

/* Writes text as a JSON string, with its quotes. */
void sim_json_string(const char *text, FILE *out);

/*
 * Writes a text into a line, for people or in a comment: control characters become '?', because they would end the line
 * or control the terminal.
 */
void sim_line_text(const char *text, FILE *out);

#endif
