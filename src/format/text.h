/* Lines, words and numbers of text files. Numbers have a decimal point in every locale. */
#ifndef ABUT_FORMAT_TEXT_H
#define ABUT_FORMAT_TEXT_H

#include <abut/status.h>
#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The C locale for the calling thread, for strtod and printf. */
typedef struct number_locale {
  locale_t made, before;
} number_locale;

abut_status number_locale_enter(number_locale *l);
void number_locale_leave(number_locale *l);

/* A place in a text. Lines end with \n, \r\n or \r. */
typedef struct scan {
  const char *name; /* of the file, for errors */
  const char *at, *end;
  size_t line;  /* of `at`, from 1 */
  char comment; /* starts a comment up to the line's end; 0 for none */
  bool joins;   /* a backslash before a line's end joins the next line */
  number_locale locale;
} scan;

typedef struct word {
  const char *start;
  size_t length;
} word;

/* Returns how many bytes a byte order mark takes at the start of a text: 3, or 0 without one. */
size_t text_mark(const char *bytes, size_t count);

/* Skips a byte order mark. Close what was opened: it holds the thread's locale. */
abut_status text_open(scan *t, const char *name, const char *bytes, size_t count);
void text_close(scan *t);

/* The next word of the line; false at the line's end. */
bool text_word(scan *t, word *w);

/* The line's fields between commas, from here on, without the blanks around them: how many there
 * are, of which the first `room` are given. */
size_t text_fields(const scan *t, word *fields, size_t room);

/* To the start of the next line. */
void text_next_line(scan *t);

/* To the next line, or the same, that has a word left; false at the text's end. */
bool text_content(scan *t);

/* The bytes from here to the text's end; 0 where all are blanks and ends of lines. */
size_t text_rest(scan *t);

/* The next word as a finite number; anything else fails, naming line and `what`. */
abut_status text_number(scan *t, const char *what, double *out);

/* The next word as a whole number in 0 .. limit. */
abut_status text_count(scan *t, const char *what, uint64_t limit, uint64_t *out);

/* The fewest digits, from 15 on, that read back as the same number. By the decimal point of the
 * locale, see number_locale_enter. */
void number_format(double value, char out[32]);

/* Decimal numbers only. An overflow gives an infinity. */
bool word_number(word w, double *out);

/* The same, and nan, inf and infinity in any case and sign. */
bool word_any_number(word w, double *out);

bool word_integer(word w, int64_t *out);
bool word_is(word w, const char *other);
bool word_is_any_case(word w, const char *other);

/* A word fit for an error text: short, and without control characters. */
typedef struct shown {
  char text[48];
} shown;

shown word_shown(word w);
shown string_shown(const char *s);

/* Whether `path` ends with `extension`, case ignored. */
bool has_extension(const char *path, const char *extension);

#endif
