/* Parts common to both kinds of pages: meshes of bodies, and lists of contacts. */
#ifndef ABUT_VIEW_PARTS_H
#define ABUT_VIEW_PARTS_H

#include "body/body.h"
#include "view/page.h"

/* Refuses options that are out of range. */
abut_status check_page_options(const abut_page_options *o, size_t count);

/* Meshes of a page; a repeated body shares its mesh. */
typedef struct page_meshes {
  abut_body *bodies; /* (count) */
  size_t count, room;
  json_t *list; /* of JSON objects, in the page */
} page_meshes;

abut_status page_meshes_begin(page *p, page_meshes *m);
void page_meshes_free(page_meshes *m);
/* Adds a body's mesh unless it is there. *index is the mesh's index. */
abut_status page_meshes_add(page *p, page_meshes *m, abut_body of, const abut_smoothing *smoothing,
                            size_t *index);

/* The name of the file that a body was loaded from, without folders; NULL if there is none. */
const char *body_short_name(const body *b);

/* Adds contacts of all frames, frame by frame. `frame` and `pair` have list->count elements. */
abut_status page_add_contacts(page *p, size_t frames, const abut_compact *list,
                              const uint32_t *frame, const uint32_t *pair, size_t pairs,
                              size_t real_bytes);

/* Adds a curve over the frames, whose gaps are NaN. */
abut_status page_add_curve(page *p, json_t *curves, const char *name, const char *unit,
                           size_t frames, const float *values);

/* Adds a curve whose values the page requests from its server. */
abut_status page_name_curve(json_t *curves, const char *name, const char *unit);

/* Turns a page into one that requests data from its server. *smoothings: a list in the page, for
 * one text per kind of pairs. */
abut_status page_add_live(page *p, json_t **smoothings);
/* Adds coefficients as the text of their file, because numbers in the page's object are rounded. */
abut_status page_add_smoothing(json_t *smoothings, const abut_smoothing *smoothing);

/* The nine numbers of a pair's layout. */
json_t *page_layout(const abut_layout *l);

/* Adds the options that apply to all frames. */
abut_status page_add_options(page *p, const abut_page_options *o, size_t frames);

#endif
