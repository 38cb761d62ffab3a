/* What answers to the page of `abut view` are made of: docs/dev/view.md has the requests and the
 * answers. */
#ifndef ABUT_CLI_VIEW_LIVE_PARTS_H
#define ABUT_CLI_VIEW_LIVE_PARTS_H

#include "view/page/wire.h"
#include "world/view/live.h"

#include <stdint.h>

#define OK 200u
#define BAD 400u
#define FAILED 500u
#define PLACE 7
#define CURVE_FRAMES_MOST 4096
/* slots, or pairs of bodies, that are looked at together: some 200 MB */
#define CONTACTS_MOST ((size_t)1 << 22)

/* Where a field of an answer is among its numbers. */
#define KIND(name, count) KIND_##name, KIND_##name##_last = KIND_##name + (count)-1,
enum { WIRE_KIND_WHOLES(KIND) KIND_WHOLES };
#undef KIND
#define REAL(name, count) REAL_##name, REAL_##name##_last = REAL_##name + (count)-1,
enum { WIRE_FRAME_REALS(REAL) REALS };
#undef REAL

typedef enum asked { OF_POSES, OF_FRAME, OF_CURVES } asked;

typedef struct request {
  asked what;
  size_t first, count; /* frames, where not of poses */
  bool follows;        /* curves have those of a contact, too: */
  size_t contact[2];   /* a pair's number, 0 where there is one pair alone, and a slot */
  abut_pose_kind kind;
  double pose1[PLACE], pose2[PLACE];
  double threshold;
  int reduction;    /* abut_reduction; -1: none */
  char smoothing[]; /* its text; "": that of the command */
} request;

/* What one frame is answered. */
typedef struct frame_answer {
  size_t layout[WIRE_LAYOUT_NUMBERS]; /* of a world how many kinds follow, and zeros */
  bool has_gradient;
  double numbers[REALS];      /* minimum_distance, activity_sum, energy, the reduction; its gradient
                                 (6) */
  const abut_compact *list;   /* of floats */
  const uint32_t *candidates; /* (list->count) of a world; NULL */
  const float *forces;        /* (list->count, 3) of a world, on the first body of each
                                 contact's candidate; NULL: not known */
  const float *pushes;        /* (push_count) of a world: (links, 3); NULL */
  size_t push_count;
  const uint32_t *kinds; /* (kind_count, KIND_WHOLES) of a world: kinds of another
                            smoothing, and their pairs' layouts; NULL */
  size_t kind_count;
} frame_answer;

/* The numbers of a layout. */
void layout_numbers(const abut_layout *l, size_t out[WIRE_LAYOUT_NUMBERS]);
/* Puts an answer into bytes. Without memory it says so. */
void answer_frame(answer *out, const frame_answer *f);
/* Rows of numbers (rows, count). */
void answer_curves(answer *out, size_t rows, size_t count, const float *values);
/* Refuses what the library has refused; false: it has not. */
bool answer_error(answer *out, abut_status status);

/* Computes what is asked of a pair, and of a world. */
void pair_compute(live *l, const request *r, answer *out);
void world_compute(live *l, const request *r, answer *out);
/* Gives back the pairs that a request's smoothing made. */
void pair_end(live *l);
void world_end(live *l);

/* A number as a float, as files are read: what is finite stays so. */
float to_float(double x);

#endif
