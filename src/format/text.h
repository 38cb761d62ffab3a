/* Lines, words and numbers of text files. The decimal separator is a point in every locale. */
#ifndef ABUT_FORMAT_TEXT_H
#define ABUT_FORMAT_TEXT_H

#include <abut/status.h>
#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets the C locale for the calling thread, for strtod and printf. */
typedef struct number_locale {
  locale_t made, before;
} number_locale;

abut_status number_locale_enter(number_locale *l);
void number_locale_leave(number_locale *l);

/* A position in a text. Lines end with \n, \r\n or \r. */
typedef struct scan {
  const char *name; /* of the file, for errors */
  const char *at, *end;
  size_t line;  /* of `at`, from 1 */
  char comment; /* starts a comment until the end of the line; 0: none */
  bool joins;   /* a backslash at the end of a line continues it on the next one */
  number_locale locale;
} scan;

typedef struct word {
  const char *start;
  size_t length;
} word;

/* Returns the length of a byte order mark at the start of a text: 3, or 0 without one. */
size_t text_mark(const char *bytes, size_t count);

/* Skips a byte order mark. Must be closed, because it changes the thread's locale. */
abut_status text_open(scan *t, const char *name, const char *bytes, size_t count);
void text_close(scan *t);

/* Reads the next word of the line; returns false at the end of the line. */
bool text_word(scan *t, word *w);

/* Splits the rest of the line at commas, and trims the fields. Returns their number; the first
 * `room` are stored. */
size_t text_fields(const scan *t, word *fields, size_t room);

/* Moves to the start of the next line. */
void text_next_line(scan *t);

/* Moves to the next line with a word, which may be the present one; returns false at the end of the
 * text. */
bool text_content(scan *t);

/* The number of bytes to the end of the text; 0 if these are all blanks and line ends. */
size_t text_rest(scan *t);

/* Reads the next word as a finite number. Anything else fails, with the line and `what` in the
 * error. */
abut_status text_number(scan *t, const char *what, double *out);

/* Reads the next word as an integer in 0 .. limit. */
abut_status text_count(scan *t, const char *what, uint64_t limit, uint64_t *out);

/* Writes the number with the fewest digits, at least 15, that read back as the same number. Uses
 * the locale's decimal separator, see number_locale_enter. */
void number_format(double value, char out[32]);

/* Reads decimal numbers only. An overflow gives infinity. */
bool word_number(word w, double *out);

/* Does the same, and also accepts nan, inf and infinity in any case and with any sign. */
bool word_any_number(word w, double *out);

bool word_integer(word w, int64_t *out);
bool word_is(word w, const char *other);
bool word_is_any_case(word w, const char *other);

/* A word shortened for an error text, without control characters. */
typedef struct shown {
  char text[48];
} shown;

shown word_shown(word w);
shown string_shown(const char *s);

/* Whether `path` ends with `extension`, ignoring case. */
bool has_extension(const char *path, const char *extension);

#endif
