/* A model that MuJoCo has read, on its way to a scene. */
#ifndef ABUT_CLI_IMPORT_IMPORT_H
#define ABUT_CLI_IMPORT_IMPORT_H

#include "core/cli.h"
#include "world/import/json_lines.h"
#include "world/import/mujoco_model.h"

typedef struct import {
  const options *o;
  const mjModel *m;
  json_lines json;
  char *stem;      /* the scene's path without its ending */
  int *first_link; /* (nbody) of a body's links, one a joint, the first */
  int *last_link;  /* (nbody) the one with its mass and geoms */
  int *weld;       /* (nbody) the body above without joints between that has some, or the world */
  int *place;      /* (ngeom) among the link's bodies; -1: the geom is left out */
  bool *mesh_used; /* (nmesh) by a geom that is not left out */
  bool *mesh_new;  /* (nmesh) its file was written, and was not there before */
  int link_count, body_count, actuator_count;
  int pair_count, automatic_count; /* pairs that collide, and how many of them the scene finds by itself */
  size_t warnings;
} import;

/* ---- import.c ---- */

exit_code import_begin(import *im, const options *o, const mjModel *m);
void import_end(import *im);
/* The whole text of the scene, which belongs to im->json. */
exit_code import_scene(import *im);

/* Warns of what is left out or changed: `kind` and the name or number of an element of `type`. */
__attribute__((format(printf, 5, 6))) void left_out(import *im, const char *kind, int type, int id,
                                                    const char *format, ...);
/* The same of the whole model. */
__attribute__((format(printf, 2, 3))) void left_out_of_all(import *im, const char *format, ...);

/* Whether an option of MuJoCo takes constraints of a kind away, by its bit of mjtDisableBit. */
bool is_off(const import *im, int bit);
/* solref as scenes take it: of one sign. */
void check_solref(import *im, const char *kind, int type, int id, double solref[2]);
/* A range as scenes take it: an end that is infinite becomes one that nothing reaches. False where both ends
 * are, which is no range. */
bool finite_range(double range[2]);
/* Whether any of two lists' numbers differ; -0 is 0. */
bool differ(const double *a, const double *b, size_t count);
/* Writes both where they are not the defaults. */
void write_softness(import *im, const char *solref_key, const char *solimp_key,
                    const double solref[2], const double solimp[5]);

/* ---- links.c ---- */

void write_links(import *im);

/* ---- geoms.c ---- */

/* Fills im->place and im->mesh_used. */
void place_geoms(import *im);
/* The list of a body's geoms, where it has any. */
void write_bodies(import *im, int body);
/* The mesh files of the scene: whether they may be written, writes them, each whole or not at all,
 * and removes those that were not there before. */
exit_code check_meshes(import *im);
exit_code write_meshes(import *im);
void remove_meshes(import *im);

/* ---- pairs.c ---- */

/* Fills im->automatic_count. */
void plan_pairs(import *im);
/* What a body states of itself for automatic pairs. */
void write_own_contact(import *im, int geom);
/* The pairs that are listed, and what the automatic ones have in common. */
void write_pairs(import *im);

/* ---- actuators.c ---- */

void write_actuators(import *im);

/* ---- rest.c ---- */

/* Warns of what scenes have no word for. */
void tell_rest(import *im);

#endif
