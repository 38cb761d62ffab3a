/* Worlds of a scene, as the command line and its files tell them: where they begin, what drives
 * them, their parameters. */
#ifndef ABUT_CLI_WORLDS_H
#define ABUT_CLI_WORLDS_H

#include "core/inputs.h"

/* How many steps there are. */
typedef enum worlds_steps {
  STEPS_OF_CONTROLS, /* --steps T, or else rows of controls */
  STEPS_OR_NONE,     /* the same, of which there may be 0 */
  STEPS_ONE
} worlds_steps;

/* Numbers of a pair's springs, and which of them is its friction. */
#define SPRING_WIDTH ((size_t)6)
#define SPRING_MU ((size_t)1)

typedef struct worlds {
  const options *o;
  worlds_steps rule;
  abut_precision precision;
  session session; /* its context alone */
  abut_scene links;
  abut_scene_info info;
  size_t count, steps;
  bool in_blocks; /* of worlds that are read by ranges, `count` at a time of `all` */
  size_t all;
  uint8_t *bad; /* of each, what parameter_notes tell of; NULL without --states */
  inputs states, controls;
  const void *q, *v, *w; /* (count, ...) where they begin; w may be NULL */
  const void *u;         /* (count, nu), or (steps, count, nu) with `each`; NULL: 0 */
  bool each;
  const void *mass_scale, *friction, *stiffness, *gravity; /* or NULL, */
  const void *springs;                                     /* too: (count, pairs, SPRING_WIDTH) */
  void *start_q, *start_v, *start_u; /* without --states; the last with --start alone */
} worlds;

/* --states, --controls, --steps, --worlds and --precision, and that files are there; nothing is
 * opened. */
exit_code worlds_check(worlds *w, const options *o, worlds_steps rule);
/* That something tells how many steps there are; controls do once they are read. */
exit_code worlds_need_steps(const worlds *w);
/* -o of an .npz or a folder. */
exit_code worlds_check_output(const options *o);
/* Opens device and scene, and reads the files. Close it after a failure, too. */
exit_code worlds_open(worlds *w, const options *o);
/* The same of worlds that are computed in blocks: no more is read than how many there are. */
exit_code worlds_open_blocks(worlds *w, const options *o);
/* Worlds first .. first + count - 1 in place of those before. */
exit_code worlds_read_block(worlds *w, size_t first, size_t count);
/* The last of worlds_open: states and controls, of a scene that is there. */
exit_code worlds_read(worlds *w);
void worlds_close(worlds *w);
/* All of them with their parameters, at the start: for calls of the library; without controls. */
abut_worlds worlds_describe(const worlds *w);
/* Rows (a, b) of `width` reals become rows (b, a): files have steps first, the library worlds. */
void worlds_swap(const worlds *w, size_t a, size_t b, size_t width, const void *from, void *to);
/* Zeros: a * b * c of the context's reals. */
exit_code worlds_reals(const worlds *w, size_t a, size_t b, size_t c, void **out);
/* Room for the status of each. */
exit_code worlds_status(const worlds *w, uint32_t **out);
/* The states of --states, or the scene's start, over and over: `count` worlds of reals. What
 * simulate wrote counts with all its states. To be freed. */
exit_code repeat_states(const session *s, const options *o, abut_scene links,
                        const abut_scene_info *info, size_t count, void **q, void **v);
/* A scene on a device that is open. */
/* Clouds of springs that are none of their meshes. */
void warn_coarse(const char *path, const abut_scene_info *info);

/* Meshes of body files and bare meshes that are not what they seem. */
void warn_diagnostics(const char *path, const abut_scene_info *info);

/* Where springs at rest give way by more than 1 % of the smaller body. */
exit_code warn_sinking(const char *path, abut_scene links, const abut_scene_info *info);

/* Tells what abut_check_scene finds. */
exit_code warn_suspicions(const char *path, abut_scene links);

exit_code load_scene(const session *s, const options *o, abut_scene *links, abut_scene_info *info);
/* What is of lists of contacts, such as an option, is not of a scene of springs. */
exit_code need_contacts(const char *what, const options *o, const abut_scene_info *info);

/* Whether controls move a link from its stated pose, and the first that do. */
typedef struct moved_control {
  bool any;
  size_t step, world, control;
} moved_control;

moved_control worlds_moved(const worlds *w);

/* Fails, naming `what`, where controls move a link: it is of states, which have no controls. */
exit_code need_still(const char *what, const worlds *w);

/* Fails, naming `what`, for scenes with automatic pairs, of which there are no slots. */
exit_code need_listed(const char *what, const options *o, const abut_scene_info *info);

/* What is said of worlds of a folder by their parameters, of which `bad` has the bits. */
extern const status_note parameter_notes[];
/* What is said of worlds of a folder by their status. */
const status_note *world_notes(void);

/* One line a bit: how many worlds have it, the first of them, what it means, in which step it first
 * came, and whose ABUT_WORLD_FAST is. status_step: (count, ABUT_WORLD_STATUSES), or NULL;
 * fast_links: (count, 2), or NULL. */
void warn_worlds(const uint32_t *status, const uint32_t *status_step, const uint32_t *fast_links,
                 size_t count);

#endif
