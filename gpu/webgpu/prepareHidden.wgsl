// Hidden states as src/hidden.ts makes them of values in memory: rounded once to the head's operand format, canonical, and
// zero where a row has a problem, in the order of layout.ts. One workgroup a row.

const FORMAT_F16 = 1u;
const FORMAT_BF16 = 2u;

struct Preparation {
  gridWidth: u32, // workgroups along x
  rows: u32,
  columns: u32,
  paddedColumns: u32, // of a prepared row
  batch: u32, // rows side by side
  firstValue: u32, // of the first row, in source
  exponentLimit: u32, // largest biased exponent of a row's largest magnitude that the range rule allows
}

@group(0) @binding(0) var<uniform> preparation: Preparation;
@group(0) @binding(2) var<storage, read_write> hidden: array<u32>; // f32 bits [blocks of rows, paddedColumns, batch]
@group(0) @binding(3) var<storage, read_write> reports: array<vec4u>; // [rows]: problem, its column, the f32 bits there, 0

const NO_PROBLEM = 0u;
const PROBLEM_NOT_FINITE = 1u; // as given or rounded
const PROBLEM_RANGE = 2u;

struct Row {
  badColumn: u32,
  largest: u32, // magnitude bits, rounded
  largestColumn: u32, // the first that has it
}

var<workgroup> found: array<Row, WORKGROUP>;

fn givenBits(index: u32) -> u32 {
  let bits = sourceBits(index);
  if (SOURCE_FORMAT == FORMAT_BF16) {
    return bits << 16u;
  }
  if (SOURCE_FORMAT == FORMAT_F16) {
    return f32OfF16(bits);
  }
  return bits;
}

fn f32OfF16(bits: u32) -> u32 {
  let magnitude = bits & 0x7fffu;
  var widened = (magnitude << 13u) + 0x38000000u;
  if (magnitude < 0x400u) {
    widened = multipleOfSmallest(magnitude);
  } else if (magnitude >= 0x7c00u) {
    widened = (magnitude << 13u) | 0x7f800000u;
  }
  return widened | ((bits & 0x8000u) << 16u);
}

/// count * 2^-24, the smallest f16; count <= 1024. Both steps are exact and the result is a normal f32 or 0.
fn multipleOfSmallest(count: u32) -> u32 {
  return bitcast<u32>(f32(count) * 0x1p-24f);
}

/// Drops the lowest bits, 1 <= shift <= 24: nearest, ties to even, in units of what is left.
fn roundShift(value: u32, shift: u32) -> u32 {
  return (value + (1u << (shift - 1u)) - 1u + ((value >> shift) & 1u)) >> shift;
}

fn roundToBf16(bits: u32) -> u32 {
  let rounded = ((bits & 0x80000000u) | (roundShift(bits & 0x7fffffffu, 16u) << 16u));
  return select(rounded, 0u, ((rounded >> 23u) & 255u) < CANON_EXPONENT_BF16);
}

fn roundToF16(bits: u32) -> u32 {
  let magnitude = bits & 0x7fffffffu;
  let exponent = magnitude >> 23u;
  var rounded = 0u;
  if (magnitude >= 0x477ff000u) { // 65520, the middle of the largest and what would follow
    rounded = 0x7f800000u;
  } else if (exponent >= 113u) {
    rounded = roundShift(magnitude, 13u) << 13u;
  } else if (exponent >= 102u) {
    rounded = multipleOfSmallest(roundShift((magnitude & 0x7fffffu) | 0x800000u, 126u - exponent));
  }
  return rounded | (bits & 0x80000000u);
}

fn canonicalF32(bits: u32) -> u32 {
  return select(bits, 0u, ((bits >> 23u) & 255u) < CANON_EXPONENT_F32);
}

fn roundOperand(bits: u32) -> u32 {
  if (!isFinite(bits)) {
    return bits;
  }
  if (OPERAND_FORMAT == FORMAT_BF16) {
    return roundToBf16(bits);
  }
  if (OPERAND_FORMAT == FORMAT_F16) {
    return roundToF16(bits);
  }
  return canonicalF32(bits);
}

fn combine(a: Row, b: Row) -> Row {
  let takesA = a.largest > b.largest || (a.largest == b.largest && a.largestColumn < b.largestColumn);
  return Row(min(a.badColumn, b.badColumn), max(a.largest, b.largest), select(b.largestColumn, a.largestColumn, takesA));
}

@compute @workgroup_size(WORKGROUP)
fn prepareHidden(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let row = workgroup.y * preparation.gridWidth + workgroup.x;
  if (row >= preparation.rows) {
    return;
  }
  let first = preparation.firstValue + row * preparation.columns;
  let firstPrepared = (row - row % preparation.batch) * preparation.paddedColumns + row % preparation.batch;
  var mine = Row(NONE, 0u, NONE);
  for (var column = thread; column < preparation.paddedColumns; column += WORKGROUP) {
    var rounded = 0u;
    if (column < preparation.columns) {
      rounded = roundOperand(givenBits(first + column));
      mine = combine(mine, Row(select(column, NONE, isFinite(rounded)), rounded & 0x7fffffffu, column));
    }
    hidden[firstPrepared + column * preparation.batch] = rounded;
  }
  found[thread] = mine;
  for (var stride = WORKGROUP / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread < stride) {
      found[thread] = combine(found[thread], found[thread + stride]);
    }
  }
  workgroupBarrier();
  let whole = found[0];
  var report = vec4u(NO_PROBLEM, 0u, 0u, 0u);
  if (whole.badColumn != NONE) {
    report = vec4u(PROBLEM_NOT_FINITE, whole.badColumn, 0u, 0u);
  } else if ((whole.largest >> 23u) > preparation.exponentLimit) {
    report = vec4u(PROBLEM_RANGE, whole.largestColumn, 0u, 0u);
  }
  if (report.x != NO_PROBLEM) {
    for (var column = thread; column < preparation.columns; column += WORKGROUP) {
      hidden[firstPrepared + column * preparation.batch] = 0u;
    }
    report.z = givenBits(first + report.y);
  }
  if (thread == 0u) {
    reports[row] = report;
  }
}
