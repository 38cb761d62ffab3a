/* Worlds of one scene that go on from call to call, and what the test itself says of them: energy
 * and momentum from masses, positions and velocities. */
#ifndef ABUT_TESTS_PLAY_H
#define ABUT_TESTS_PLAY_H

#include "support/check.h"
#include <abut/world.h>

typedef struct play {
  abut_precision precision;
  abut_scene scene;
  abut_scene_info info;
  size_t worlds;
  void *q, *v, *w, *mass;
  uint32_t *status;         /* or-ed since the beginning */
  uint32_t *fast_links;     /* (worlds, 2) of the last call */
  void *friction, *gravity; /* or NULL: the scene's */
  double time;              /* [s] since the beginning */
} play;

/* All worlds as the scene states it, at rest. */
void play_open(play *p, abut_context context, abut_precision precision, const char *path,
               size_t worlds);

/* Of a scene that is written for it; files that it names are looked for from where the test
 * runs. */
void play_open_text(play *p, abut_context context, abut_precision precision, const char *text,
                    size_t worlds);
void play_close(play *p);

/* Frees all but the scene, which it returns. */
abut_scene play_keep_scene(play *p);

/* A context on the device of ABUT_TEST_DEVICE, the host by default, alone, with so much scratch
 * memory; 0: the device's. */
abut_context play_context(abut_precision precision, uint64_t scratch);

/* So many steps in one call. */
void play_step(play *p, size_t steps);

/* The same for some time, but for what a whole number of steps leaves. */
void play_for(play *p, double seconds);

double play_q(const play *p, size_t world, size_t i);
double play_v(const play *p, size_t world, size_t i);
void play_set_q(play *p, size_t world, size_t i, double value);
void play_set_v(play *p, size_t world, size_t i, double value);

/* Each world's own; from then on all worlds have it. */
void play_set_gravity(play *p, size_t world, const double g[3]);
void play_set_friction(play *p, size_t world, double friction);

/* What scenes of free links alone have, in a world, once play_weigh has asked for their mass
 * matrices: `first` is a link's place among the free ones. */
typedef struct link_state {
  double mass, com[3];          /* of the link [kg]; its centre of mass in the world [m] */
  double linear[3], angular[3]; /* momentum; of rotation about the world's origin */
} link_state;

void play_weigh(play *p);
link_state play_link(const play *p, size_t world, size_t free_link);
double play_kinetic(const play *p, size_t world);

/* Of gravity, over all free links [J]. */
double play_potential(const play *p, size_t world, const double gravity[3]);

/* The largest of linear velocities of free links [m/s], and of angular ones [rad/s]. */
double play_fastest(const play *p, size_t world, bool angular);

/* By how much a free link is turned against a quaternion (w, x, y, z) [rad]. */
double play_turned(const play *p, size_t world, size_t free_link, const double from[4]);

/* A line of the table that a test prints, which is a check: value at most limit. */
bool play_line(const char *what, double value, double limit);

#endif
