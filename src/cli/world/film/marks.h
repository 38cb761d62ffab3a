/* What films show besides their bodies: the time, and which way is down. */
#ifndef ABUT_CLI_FILM_MARKS_H
#define ABUT_CLI_FILM_MARKS_H

#include "core/cli.h"

/* Writes "t = 0.125 s" into the upper left corner of a picture, rgb (height, width, 3), as large as
 * suits a view of it. `decimals`: of the number. Small views have no mark. */
void mark_time(uint8_t *rgb, size_t width, const abut_view *view, double seconds, int decimals);

/* Returns the number of decimals, at least 3, that distinguish the times of a run of so many
 * seconds. */
int decimals_of(double seconds);

/* Draws gravity [m/s^2] as an arrow with the letter g in the lower left corner of a view. An arrow
 * that points from or to the camera is a circle with a cross or a dot. No gravity has no mark. */
void mark_gravity(uint8_t *rgb, const abut_view *view, const double gravity[3]);

#endif
