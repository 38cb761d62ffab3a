/* Checks of stated features and cones, which the reader of body files holds to as well. */
#ifndef ABUT_BODY_FEATURE_CHECK_H
#define ABUT_BODY_FEATURE_CHECK_H

#include <abut/body.h>

#define FEATURE_WHY 192 /* bytes of a text that says what is wrong */

/* These say whether a row is in range. Where it is not, `why` says what is wrong. */
bool feature_vertex_fits(const double vertex[4], char why[FEATURE_WHY]);
bool cone_fits(const double cone[4], char why[FEATURE_WHY]);
bool sharp_fits(double degrees, char why[FEATURE_WHY]);

/* Does the same for an edge, of which vertices (count, 4) are in range. */
bool feature_circle_fits(const abut_feature_circle *c, char why[FEATURE_WHY]);
bool feature_edge_fits(const abut_feature_edge *edge, const double *vertices, size_t count,
                       char why[FEATURE_WHY]);

/* Gives an edge that fits as features have it: `from` below `to`, of an arc the axis of length 1
 * and the centre in its plane. */
abut_feature_edge feature_edge_settled(const abut_feature_edge *edge, const double *vertices);

/* An edge's vertices as one number (edge_code), and which edge it is. */
typedef struct coded_edge {
  uint64_t code;
  uint32_t index;
} coded_edge;

/* Sorts them by code, equal ones by index. */
void sort_coded(coded_edge *edges, size_t count);

/* Finds the first edge whose ends an earlier one has; later = count where there is none. */
abut_status find_equal_edges(const abut_feature_edge *edges, size_t count, size_t *earlier,
                             size_t *later);

/* Refuses what is out of range, naming the element. Whether cones are of edges that are there is
 * asked in the second function, when the mesh's edges (edge_count, 2) are known. */
abut_status check_features(const abut_body_def *def);
abut_status check_edge_cones(const abut_body_def *def, const uint32_t *edges, size_t edge_count);

#endif
