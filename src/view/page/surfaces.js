/* Triangles of bodies for drawing: corners with normals, and whether a surface is closed. */

/* Corners of triangles with normals that are smooth except over edges of more than 35 degrees: position, normal. */
function corners(vertices, triangles) {
  const faces = triangles.length / 3, normals = new Float32Array(3 * faces), out = new Float32Array(18 * faces);
  const around = new Uint32Array(vertices.length / 3 + 1), of = new Uint32Array(triangles.length);
  const point = i => [vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]];
  for (let f = 0; f < faces; ++f) {
    const a = point(triangles[3 * f]);
    const n = cross(sub(point(triangles[3 * f + 1]), a), sub(point(triangles[3 * f + 2]), a));
    normals.set(n, 3 * f);
    for (let k = 0; k < 3; ++k) ++around[triangles[3 * f + k] + 1];
  }
  for (let i = 1; i < around.length; ++i) around[i] += around[i - 1];
  const next = around.slice();
  triangles.forEach((v, i) => { of[next[v]++] = Math.floor(i / 3); });
  for (let i = 0; i < triangles.length; ++i) {
    const v = triangles[i], f = Math.floor(i / 3), own = normals.subarray(3 * f, 3 * f + 3), size = length(own);
    let sum = [0, 0, 0];
    for (let k = around[v]; k < around[v + 1]; ++k) {
      const other = normals.subarray(3 * of[k], 3 * of[k] + 3);
      if (dot(own, other) > 0.82 * size * length(other)) sum = add(sum, other);
    }
    const l = length(sum);
    out.set(point(v), 6 * i);
    out.set(l > 0 ? scaled(sum, 1 / l) : [0, 0, 1], 6 * i + 3);
  }
  return out;
}

/* Whether a surface is closed: each edge is traversed equally often in both directions. Then back faces are behind other faces.
 * Parts that are inside out are turned for this. */
function turnOutward(vertices, triangles) {
  const count = vertices.length / 3, forth = new Float64Array(triangles.length), back = new Float64Array(triangles.length), parent = new Uint32Array(count);
  const part = v => { while (parent[v] !== v) v = parent[v] = parent[parent[v]]; return v; };
  for (let v = 0; v < count; ++v) parent[v] = v;
  for (let i = 0; i < triangles.length; ++i) {
    const a = triangles[i], b = triangles[i % 3 < 2 ? i + 1 : i - 2];
    forth[i] = a * count + b;
    back[i] = b * count + a;
    parent[part(a)] = part(b);
  }
  forth.sort();
  back.sort();
  if (forth.some((edge, i) => edge !== back[i])) return false;
  const volumes = new Float64Array(count), point = i => vertices.subarray(3 * triangles[i], 3 * triangles[i] + 3);
  for (let i = 0; i < triangles.length; i += 3) volumes[part(triangles[i])] += dot(point(i), cross(point(i + 1), point(i + 2)));
  for (let i = 0; i < triangles.length; i += 3)
    if (volumes[part(triangles[i])] < 0) [triangles[i], triangles[i + 1]] = [triangles[i + 1], triangles[i]];
  return true;
}
