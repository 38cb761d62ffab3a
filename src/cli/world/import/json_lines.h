/* JSON as people read it: an object of an array a line. Texts grow in memory; what fails on the way
 * is told at the end. */
#ifndef ABUT_CLI_IMPORT_JSON_LINES_H
#define ABUT_CLI_IMPORT_JSON_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define JSON_DEPTH 10

/* What was begun last in an object or array: its key, or as which element. */
typedef struct json_member {
  const char *key;
  size_t count;
} json_member;

typedef struct json_lines {
  FILE *to;
  char *text; /* once it is ended; free it */
  size_t length;
  bool more; /* something stands before in the same object or array */
  bool bad;
  json_member members[JSON_DEPTH]; /* of what is open, from the outermost */
  size_t depth;
  char refused[160]; /* the first number that JSON has no word for: its place, and what it is */
} json_lines;

void json_lines_begin(json_lines *j);
/* false: there was no memory, or `refused` tells of a number that is not finite. */
bool json_lines_end(json_lines *j);
void json_lines_free(json_lines *j);

/* `key` is NULL within arrays, and stays where it is until the end. */
void json_open(json_lines *j, const char *key, char bracket);
void json_close(json_lines *j, char bracket);
/* A new line before what comes next. */
void json_line(json_lines *j, int indent);
void json_put_text(json_lines *j, const char *key, const char *text);
void json_put_flag(json_lines *j, const char *key, bool x);
void json_put_whole(json_lines *j, const char *key, long long x);
/* The fewest digits that read back as the same. */
void json_put_real(json_lines *j, const char *key, double x);
void json_put_reals(json_lines *j, const char *key, const double *x, size_t count);

#endif
