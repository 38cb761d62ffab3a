/* Checks of stated features and cones, also used by the reader of body files. */
#ifndef ABUT_BODY_FEATURE_CHECK_H
#define ABUT_BODY_FEATURE_CHECK_H

#include <abut/body.h>

#define FEATURE_WHY 192 /* bytes of the text `why` */

/* These functions return whether a row is valid. Otherwise, `why` describes the fault. */
bool feature_vertex_fits(const double vertex[4], char why[FEATURE_WHY]);
bool cone_fits(const double cone[4], char why[FEATURE_WHY]);
bool sharp_fits(double degrees, char why[FEATURE_WHY]);

/* Does the same for a circle or an edge, whose vertices (count, 4) are valid. */
bool feature_circle_fits(const abut_feature_circle *c, char why[FEATURE_WHY]);
bool feature_edge_fits(const abut_feature_edge *edge, const double *vertices, size_t count,
                       char why[FEATURE_WHY]);

/* Converts a valid edge to the internal form: `from` below `to`; for an arc, a unit axis and the
 * centre in its plane. */
abut_feature_edge feature_edge_settled(const abut_feature_edge *edge, const double *vertices);

/* An edge's vertices as one number (edge_code), and the edge's index. */
typedef struct coded_edge {
  uint64_t code;
  uint32_t index;
} coded_edge;

/* Sorts them by code, equal ones by index. */
void sort_coded(coded_edge *edges, size_t count);

/* Finds the first edge with the same ends as an earlier one; later = count if there is none. */
abut_status find_equal_edges(const abut_feature_edge *edges, size_t count, size_t *earlier,
                             size_t *later);

/* Rejects invalid values, and names the element. The second function checks that cones belong to
 * existing edges. It needs the mesh's edges (edge_count, 2). */
abut_status check_features(const abut_body_def *def);
abut_status check_edge_cones(const abut_body_def *def, const uint32_t *edges, size_t edge_count);

#endif
