/* Pictures drawn pixel by pixel: boxes, lines, ASCII text. */
#ifndef ABUT_CLI_CHART_H
#define ABUT_CLI_CHART_H

#include "core/cli.h"

typedef struct rgb {
  uint8_t r, g, b;
} rgb;

static const rgb chart_ink = {30, 30, 34}, chart_grey = {105, 105, 112},
                 chart_faint = {222, 222, 228}, chart_band = {246, 246, 249};

typedef struct chart {
  uint8_t *pixels; /* (height, width, 3) */
  int width, height;
} chart;

#define CHART_LINE 24 /* distance between lines of text */

/* Opens a white picture. Close it after a failure, too. */
exit_code chart_open(chart *c, int width, int height);
void chart_close(chart *c);
exit_code chart_write(const chart *c, const char *path);

/* Fills the part of a box that is inside the picture. */
void chart_fill(chart *c, double x0, double y0, double x1, double y1, rgb colour);
/* Draws a stroke between two points with round ends and antialiased edges. */
void chart_stroke(chart *c, const double from[2], const double to[2], double width, rgb colour);
/* Characters other than ASCII become question marks; x, y: upper left corner. */
exit_code chart_text(chart *c, double x, double y, const char *text, rgb colour);
double chart_text_width(const char *text);

/* Returns 1, 2 or 5 times a power of ten, so that five to twelve of them fit in `range` > 0. */
double chart_tick(double range);

#endif
