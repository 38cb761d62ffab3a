/* Quotients of whole numbers of any length against the nearest floating-point numbers.
 *
 *   test_rational             known cases
 *   test_rational --lines     reads lines `NUMERATOR DENOMINATOR f32|f64`, and answers each by a line: the number
 *                             in hexadecimal, and `exact`, `rounded` or `large`. check_rational.py asks so */
#include "query/ccd/rational.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static digits all_of(const char *text)
{
  return (digits){text, strlen(text)};
}

static const struct {
  const char *numerator, *denominator;
  bool wide;
  rational_kind kind;
  double value;
} cases[] = {
  {"0", "7", true, RATIONAL_EXACT, 0.0},
  {"0000", "1", true, RATIONAL_EXACT, 0.0},
  {"1", "1", true, RATIONAL_EXACT, 1.0},
  {"007", "0002", true, RATIONAL_EXACT, 3.5},
  {"1", "3", true, RATIONAL_ROUNDED, 1.0 / 3.0},
  {"2", "3", true, RATIONAL_ROUNDED, 2.0 / 3.0},
  {"1", "10", true, RATIONAL_ROUNDED, 0.1},
  {"1", "10", false, RATIONAL_ROUNDED, 0x1.99999ap-4},
  {"6004799503160661", "36028797018963968", true, RATIONAL_EXACT, 0x1.5555555555555p-3},
  {"575569314603499", "81129638414606681695789005144064", true, RATIONAL_EXACT, 575569314603499.0 * 0x1p-106},
  /* Halves go to the even neighbour, and what is beyond a half up, by however little. */
  {"9007199254740993", "1", true, RATIONAL_ROUNDED, 9007199254740992.0},
  {"9007199254740995", "1", true, RATIONAL_ROUNDED, 9007199254740996.0},
  {"9007199254740993000000000000000000001", "1000000000000000000000", true, RATIONAL_ROUNDED, 9007199254740994.0},
  {"16777217", "1", false, RATIONAL_ROUNDED, 16777216.0},
  {"16777219", "1", false, RATIONAL_ROUNDED, 16777220.0},
  {"33554431", "1", false, RATIONAL_ROUNDED, 33554432.0},
  {"33554431", "33554432", false, RATIONAL_ROUNDED, 1.0},
  /* The largest numbers, half a step above them, and just below that. */
  {"340282346638528859811704183484516925440", "1", false, RATIONAL_EXACT, 0x1.fffffep127},
  {"340282356779733661637539395458142568447", "1", false, RATIONAL_ROUNDED, 0x1.fffffep127},
  {"340282356779733661637539395458142568448", "1", false, RATIONAL_TOO_LARGE, 0.0},
  /* 2^-149 is float's smallest number; its half goes to 0, three quarters of it up. */
  {"1", "713623846352979940529142984724747568191373312", false, RATIONAL_EXACT, 0x1p-149},
  {"1", "1427247692705959881058285969449495136382746624", false, RATIONAL_ROUNDED, 0.0},
  {"3", "2854495385411919762116571938898990272765493248", false, RATIONAL_ROUNDED, 0x1p-149},
};

static void test_cases(void)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    double value = 0.0;
    const rational_kind kind =
      rational_round(all_of(cases[i].numerator), all_of(cases[i].denominator),
                     cases[i].wide ? &rational_f64 : &rational_f32, &value);
    CHECK(kind == cases[i].kind);
    CHECK(value == cases[i].value);
  }
}

/* 10^4000 / 10^k: beyond the format, and far below it. */
static void test_long(void)
{
  char numerator[4002], denominator[4002];
  double value = 1.0;
  memset(numerator, '0', sizeof numerator);
  numerator[0] = '1';
  memcpy(denominator, numerator, sizeof denominator);
  CHECK(rational_round((digits){numerator, 4001}, (digits){denominator, 3999}, &rational_f64, &value)
             == RATIONAL_EXACT);
  CHECK(value == 100.0);
  CHECK(rational_round((digits){numerator, 4001}, (digits){"1", 1}, &rational_f64, &value)
             == RATIONAL_TOO_LARGE);
  CHECK(rational_round((digits){"1", 1}, (digits){denominator, 4001}, &rational_f64, &value)
             == RATIONAL_ROUNDED);
  CHECK(value == 0.0);
  CHECK(rational_round((digits){numerator, 4001}, (digits){denominator, 4002}, &rational_f32, &value)
             == RATIONAL_ROUNDED);
  CHECK(value == 0x1.99999ap-4);
}

static int answer_lines(void)
{
  static const char *const words[] = {"exact", "rounded", "large", "memory"};
  static char line[1 << 16];
  while (fgets(line, sizeof line, stdin)) {
    const char *numerator = strtok(line, " \n"), *denominator = strtok(NULL, " \n");
    const char *format = strtok(NULL, " \n");
    double value = 0.0;
    if (!format) {
      return 1;
    }
    const rational_kind kind =
      rational_round(all_of(numerator), all_of(denominator),
                     strcmp(format, "f64") == 0 ? &rational_f64 : &rational_f32, &value);
    printf("%a %s\n", value, words[kind]);
  }
  return 0;
}

int main(int argc, char **argv)
{
  if (argc > 1 && strcmp(argv[1], "--lines") == 0) {
    return answer_lines();
  }
  test_cases();
  test_long();
  return check_finish();
}
