// Weights from a row-major buffer into the order of layout.ts, canonical, and measured. One workgroup a row.

struct Arrangement {
  gridWidth: u32, // workgroups along x
  rows: u32,
  columns: u32,
  firstValue: u32, // of the first row, in source
  firstRow: u32, // where these rows go
  rowWords: u32, // of an arranged row
}

@group(0) @binding(0) var<uniform> arrangement: Arrangement;
@group(0) @binding(2) var<storage, read_write> weights: array<u32>; // [rows of the piece, rowWords]
@group(0) @binding(3) var<storage, read_write> reports: array<vec4u>; // [rows]: column that is not finite or NONE, its bits, largest magnitude, 0

var<workgroup> badColumn: array<u32, WORKGROUP>;
var<workgroup> largest: array<u32, WORKGROUP>;

fn magnitudeOf(bits: u32) -> u32 {
  if (IS_INT8) {
    return u32(abs(bitcast<i32>(bits << 24u) >> 24u));
  }
  return bits & (VALUE_MASK >> 1u);
}

/// The column of the first of a word's values: a lane's blocks lie side by side. The next value's column is DOT_LANES further on.
fn columnOf(word: u32) -> u32 {
  let value = word * VALUES_A_WORD;
  let unit = value / (UNIT_BLOCKS * DOT_LANES);
  let lane = value / UNIT_BLOCKS % DOT_LANES;
  return (unit * UNIT_BLOCKS + value % UNIT_BLOCKS) * DOT_LANES + lane;
}

@compute @workgroup_size(WORKGROUP)
fn arrangeHead(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let row = workgroup.y * arrangement.gridWidth + workgroup.x;
  if (row >= arrangement.rows) {
    return;
  }
  let first = arrangement.firstValue + row * arrangement.columns;
  badColumn[thread] = NONE;
  largest[thread] = 0u;
  for (var word = thread; word < arrangement.rowWords; word += WORKGROUP) {
    let firstColumn = columnOf(word);
    var packed = 0u;
    for (var i = 0u; i < VALUES_A_WORD; i++) {
      let column = firstColumn + i * DOT_LANES;
      if (column < arrangement.columns) {
        let bits = sourceBits(first + column);
        let magnitude = magnitudeOf(bits);
        if (magnitude >= NOT_FINITE) {
          badColumn[thread] = min(badColumn[thread], column);
        } else if (magnitude >= CANON_BELOW) {
          largest[thread] = max(largest[thread], magnitude);
          packed |= bits << (i * VALUE_BITS);
        }
      }
    }
    weights[(arrangement.firstRow + row) * arrangement.rowWords + word] = packed;
  }
  for (var stride = WORKGROUP / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread < stride) {
      badColumn[thread] = min(badColumn[thread], badColumn[thread + stride]);
      largest[thread] = max(largest[thread], largest[thread + stride]);
    }
  }
  if (thread == 0u) {
    var bits = 0u;
    if (badColumn[0] != NONE) {
      bits = sourceBits(first + badColumn[0]);
    }
    reports[row] = vec4u(badColumn[0], bits, largest[0], 0u);
  }
}
