/* Worlds of a scene, as given on the command line and in its files: initial states, controls,
 * parameters. */
#ifndef ABUT_CLI_WORLDS_H
#define ABUT_CLI_WORLDS_H

#include "core/inputs.h"

/* The source of the number of steps. */
typedef enum worlds_steps {
  STEPS_OF_CONTROLS, /* --steps T, else the rows of controls */
  STEPS_OR_NONE,     /* the same, and may be 0 */
  STEPS_ONE
} worlds_steps;

/* Numbers of a pair's springs, and the index of its friction. */
#define SPRING_WIDTH ((size_t)6)
#define SPRING_MU ((size_t)1)

typedef struct worlds {
  const options *o;
  worlds_steps rule;
  abut_precision precision;
  session session; /* only its context is used */
  abut_scene links;
  abut_scene_info info;
  size_t count, steps;
  bool in_blocks; /* worlds are read by ranges, `count` at a time of `all` */
  size_t all;
  uint8_t *bad; /* per world, the bits of parameter_notes; NULL without --states */
  inputs states, controls;
  const void *q, *v, *w; /* (count, ...) initial states; w may be NULL */
  const void *u;         /* (count, nu), or (steps, count, nu) with `each`; NULL: 0 */
  bool each;
  const void *mass_scale, *friction, *stiffness, *gravity; /* or NULL, */
  const void *springs;               /* likewise: (count, pairs, SPRING_WIDTH) */
  void *start_q, *start_v, *start_u; /* without --states; the last only with --start */
} worlds;

/* Checks --states, --controls, --steps, --worlds and --precision, and that files exist; opens
 * nothing. */
exit_code worlds_check(worlds *w, const options *o, worlds_steps rule);
/* Checks that the number of steps is given; controls give it after they are read. */
exit_code worlds_need_steps(const worlds *w);
/* Checks -o, which is an .npz or a folder. */
exit_code worlds_check_output(const options *o);
/* Opens device and scene, and reads the files. Close it after a failure, too. */
exit_code worlds_open(worlds *w, const options *o);
/* The same for worlds computed in blocks: reads only their number. */
exit_code worlds_open_blocks(worlds *w, const options *o);
/* Reads worlds first .. first + count - 1 in place of the previous ones. */
exit_code worlds_read_block(worlds *w, size_t first, size_t count);
/* The last part of worlds_open: reads states and controls for an open scene. */
exit_code worlds_read(worlds *w);
void worlds_close(worlds *w);
/* Describes all worlds with their parameters, in their initial states, for calls of the library;
 * without controls. */
abut_worlds worlds_describe(const worlds *w);
/* Transposes rows (a, b) of `width` reals to rows (b, a): files have steps first, calls worlds. */
void worlds_swap(const worlds *w, size_t a, size_t b, size_t width, const void *from, void *to);
/* Allocates zeros: a * b * c of the context's reals. */
exit_code worlds_reals(const worlds *w, size_t a, size_t b, size_t c, void **out);
/* Allocates the status of each world. */
exit_code worlds_status(const worlds *w, uint32_t **out);
/* Makes `count` worlds by repeating the states of --states, or the scene's initial state. Files
 * written by simulate contribute all their states. The caller frees the arrays. */
exit_code repeat_states(const session *s, const options *o, abut_scene links,
                        const abut_scene_info *info, size_t count, void **q, void **v);
/* Functions for a scene on an open device. */
/* Warns of clouds of springs that differ from their meshes. */
void warn_coarse(const char *path, const abut_scene_info *info);

/* Warns of the diagnostics of meshes in body files and bare meshes. */
void warn_diagnostics(const char *path, const abut_scene_info *info);

/* Warns if springs at rest yield by more than 1 % of the smaller body. */
exit_code warn_sinking(const char *path, abut_scene links, const abut_scene_info *info);

/* Prints the findings of abut_check_scene. */
exit_code warn_suspicions(const char *path, abut_scene links);

exit_code load_scene(const session *s, const options *o, abut_scene *links, abut_scene_info *info);
/* Refuses something that needs lists of contacts, such as an option, for a scene of springs. */
exit_code need_contacts(const char *what, const options *o, const abut_scene_info *info);

/* Whether controls move a link from its stated pose, and the first control that does. */
typedef struct moved_control {
  bool any;
  size_t step, world, control;
} moved_control;

moved_control worlds_moved(const worlds *w);

/* Fails, naming `what`, if controls move a link: `what` depends only on states, which have no
 * controls. */
exit_code need_still(const char *what, const worlds *w);

/* Fails, naming `what`, for scenes with automatic pairs, which have no slots. */
exit_code need_listed(const char *what, const options *o, const abut_scene_info *info);

/* Notes on parameters of worlds in a folder, by the bits of `bad`. */
extern const status_note parameter_notes[];
/* Notes on worlds in a folder by their status. */
const status_note *world_notes(void);

/* Prints one line per status bit that some world has. The line has the number of worlds with the
 * bit, the first of these worlds, the bit's meaning, the step in which the bit first occurred, and
 * for ABUT_WORLD_FAST the links. status_step: (count, ABUT_WORLD_STATUSES), or NULL; fast_links:
 * (count, 2), or NULL. */
void warn_worlds(const uint32_t *status, const uint32_t *status_step, const uint32_t *fast_links,
                 size_t count);

#endif
