/* Parts of the answers to the page of `abut view`: docs/dev/view.md describes the requests and the
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
/* slots, or pairs of bodies, that are computed together: some 200 MB */
#define CONTACTS_MOST ((size_t)1 << 22)

/* Index of each field among an answer's numbers. */
#define KIND(name, count) KIND_##name, KIND_##name##_last = KIND_##name + (count)-1,
enum { WIRE_KIND_WHOLES(KIND) KIND_WHOLES };
#undef KIND
#define REAL(name, count) REAL_##name, REAL_##name##_last = REAL_##name + (count)-1,
enum { WIRE_FRAME_REALS(REAL) REALS };
#undef REAL

typedef enum asked { OF_POSES, OF_FRAME, OF_CURVES } asked;

typedef struct request {
  asked what;
  size_t first, count; /* frames, unless poses are given */
  bool follows;        /* curves include those of one contact: */
  size_t contact[2];   /* a pair's number, 0 if there is only one, and a slot */
  abut_pose_kind kind;
  double pose1[PLACE], pose2[PLACE];
  double threshold;
  int reduction;    /* abut_reduction; -1: none */
  char smoothing[]; /* its text; "": that of the command */
} request;

/* The content of an answer for one frame. */
typedef struct frame_answer {
  size_t layout[WIRE_LAYOUT_NUMBERS]; /* for a world the number of kinds that follow, and zeros */
  bool has_gradient;
  double numbers[REALS];      /* values: minimum_distance, activity_sum, energy, the reduction; its
                                 gradient (6) */
  const abut_compact *list;   /* of floats */
  const uint32_t *candidates; /* (list->count) for a world; NULL */
  const float *forces;        /* (list->count, 3) for a world, on the first body of each contact's
                                 candidate; NULL: unknown */
  const float *pushes;        /* (push_count) for a world: (links, 3); NULL */
  size_t push_count;
  const uint32_t *kinds; /* (kind_count, KIND_WHOLES) for a world: kinds with another smoothing, and
                            their pairs' layouts; NULL */
  size_t kind_count;
} frame_answer;

/* Writes the numbers of a layout. */
void layout_numbers(const abut_layout *l, size_t out[WIRE_LAYOUT_NUMBERS]);
/* Converts an answer to bytes. Without memory the answer is an error. */
void answer_frame(answer *out, const frame_answer *f);
/* Converts rows of numbers (rows, count). */
void answer_curves(answer *out, size_t rows, size_t count, const float *values);
/* Makes an error answer if a call of the library has failed; otherwise returns false. */
bool answer_error(answer *out, abut_status status);

/* Compute the answer to a request for a pair, and for a world. */
void pair_compute(live *l, const request *r, answer *out);
void world_compute(live *l, const request *r, answer *out);
/* Destroy the pairs made for a request's smoothing. */
void pair_end(live *l);
void world_end(live *l);

/* Converts a number to a float as for files: finite numbers remain finite. */
float to_float(double x);

#endif
