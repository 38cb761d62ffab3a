/* What both kinds of pages are made of: meshes of bodies, and lists of contacts. */
#ifndef ABUT_VIEW_PARTS_H
#define ABUT_VIEW_PARTS_H

#include "body/body.h"
#include "view/page.h"

/* Refuses options that are out of range. */
abut_status check_page_options(const abut_page_options *o, size_t count);

/* Meshes of a page; a body that comes again has the same. */
typedef struct page_meshes {
  abut_body *bodies; /* (count) */
  size_t count, room;
  json_t *list; /* of JSON objects, in the page */
} page_meshes;

abut_status page_meshes_begin(page *p, page_meshes *m);
void page_meshes_free(page_meshes *m);
/* Adds a body's mesh unless it is there. *index: which of the meshes it is. */
abut_status page_meshes_add(page *p, page_meshes *m, abut_body of, const abut_smoothing *smoothing,
                            size_t *index);

/* The name of the file that a body was loaded from, without folders; NULL: there is none. */
const char *body_short_name(const body *b);

/* Contacts of all frames, frame by frame. `frame` and `pair` are (list->count). */
abut_status page_add_contacts(page *p, size_t frames, const abut_compact *list,
                              const uint32_t *frame, const uint32_t *pair, size_t pairs,
                              size_t real_bytes);

/* Adds a curve over the frames, which may have gaps of NaN. */
abut_status page_add_curve(page *p, json_t *curves, const char *name, const char *unit,
                           size_t frames, const float *values);

/* The same of one whose values the page asks its server for. */
abut_status page_name_curve(json_t *curves, const char *name, const char *unit);

/* Makes a page one that asks its server. *smoothings: a list in the page, for one text of each kind
 * of pairs. */
abut_status page_add_live(page *p, json_t **smoothings);
/* Adds coefficients as the text of their file: numbers of the page's object are rounded. */
abut_status page_add_smoothing(json_t *smoothings, const abut_smoothing *smoothing);

/* The nine numbers of a pair's layout. */
json_t *page_layout(const abut_layout *l);

/* Adds what the options say of all frames. */
abut_status page_add_options(page *p, const abut_page_options *o, size_t frames);

#endif
