// Vertex-SDF contacts: kept vertices and the opposing field there -> rows of the manifold.
//
// points as in field.cl, in the vertices' own frame; order: the slot of each point, where
// `ordered`; own and opposing: offsets of both bodies' world frames; field_stride: reals of `field`
// a pose, planes phi and, where normals are wanted, normal; weights: gate weights, used where
// `weighted`; slot: the first contact's; contacts: C.
KERNEL void vertex_contacts(GLOBAL const real *points, int point_stride, int padded, int count,
                            GLOBAL const int *order, int ordered,
                            GLOBAL const real *field, int field_stride,
                            GLOBAL const real *weights, int weighted,
                            GLOBAL const real *frames, int own, int opposing,
                            GLOBAL const coefficients *c, int want, int slot, int contacts,
                            GLOBAL real *p, GLOBAL real *d, GLOBAL real *n, GLOBAL real *activity)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int first = block * LANES;
  if (first >= count) {
    return;
  }
  GLOBAL const real *frame = ROW(frames, pose, FRAME_STRIDE);
  const lane poison = lane_lit(frame[FRAME_POISON]);
  GLOBAL const real *at = ROW(field, pose, field_stride);
  const lane phi = lane_load(at + first);
  if (want & WANT_P) {
    const vec3_r v = load_planes(ROW(points, pose, point_stride), padded, block);
    const vec3_r w = transform_r(frame + own, v);
    store_row3(ROW(p, pose, 3 * contacts) + 3 * slot, order, ordered, first, count,
               make_r(w.x + poison, w.y + poison, w.z + poison));
  }
  if (want & WANT_D) {
    store_row(ROW(d, pose, contacts) + slot, order, ordered, first, count, phi + poison);
  }
  if (want & WANT_N) {
    const vec3_r w = rotate_r(frame + opposing, load_planes(at + padded, padded, block));
    store_row3(ROW(n, pose, 3 * contacts) + 3 * slot, order, ordered, first, count,
               make_r(w.x + poison, w.y + poison, w.z + poison));
  }
  if (want & WANT_ACTIVITY) {
    lane a = sigmoid_r(phi * -c->penetration_inv);
    if (weighted) {
      a = a * lane_load(ROW(weights, pose, padded) + first);
    }
    store_row(ROW(activity, pose, contacts) + slot, order, ordered, first, count, a + poison);
  }
}
