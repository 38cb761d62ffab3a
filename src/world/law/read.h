/* What reading a scene's file asks of contact laws. */
#ifndef ABUT_WORLD_LAW_READ_H
#define ABUT_WORLD_LAW_READ_H

#include "world/scene_parts.h"

/* Sets the law of a scene: the file's, or the reader's in its place. */
abut_status law_read_word(reader *r, const json_at *root);

/* Reads what every law has of its own in a scene's file, and in one of its pairs. */
abut_status laws_read(const json_file *f, const json_at *root, scene_def *s);
abut_status laws_read_pair(const json_file *f, const json_at *element, scene_pair *p);

/* Settles the scene's own law, behind its settings. */
abut_status law_settle(const reader *r, const json_at *root);

/* Settles what it makes of a pair, behind its sides and its friction. */
abut_status law_settle_pair(const reader *r, const json_at *element, scene_pair *p);

/* The integrator of a file that names none. */
integrator law_usual_integrator(const scene_def *s);

#endif
