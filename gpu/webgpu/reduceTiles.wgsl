// The two best tokens of each draw, from those of its tiles: one workgroup a draw.

struct Reduction {
  firstDraw: u32, // where the first of these draws goes
  draws: u32,
  tiles: u32, // room for candidates of a draw
  gridWidth: u32, // workgroups along x
}

@group(0) @binding(0) var<uniform> reduction: Reduction;
@group(0) @binding(1) var<storage, read> candidates: array<vec4u>; // [draws, tiles, 2]
@group(0) @binding(2) var<storage, read_write> decisions: array<vec4u>; // [draws of the request, 2]
@group(0) @binding(3) var<storage, read_write> states: array<array<u32, 3>>; // [draws], see sweep.wgsl; left zero for the next sweep

var<workgroup> best: array<Best, WORKGROUP>;
var<workgroup> flags: array<u32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn reduceTiles(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let draw = workgroup.y * reduction.gridWidth + workgroup.x;
  if (draw >= reduction.draws) {
    return;
  }
  var found = NO_BEST;
  var flag = 0u;
  let count = states[draw][2];
  for (var tile = thread; tile < count; tile += AHEAD * WORKGROUP) {
    // All loads are asked for before the first is used.
    var firsts: array<vec4u, AHEAD>;
    var seconds: array<vec4u, AHEAD>;
    for (var i = 0u; i < AHEAD; i++) {
      let at = (draw * reduction.tiles + min(tile + i * WORKGROUP, count - 1u)) * 2u;
      firsts[i] = candidates[at];
      seconds[i] = candidates[at + 1u];
    }
    for (var i = 0u; i < AHEAD; i++) {
      if (tile + i * WORKGROUP < count) {
        found = argmaxCombine(found, Best(Scored(firsts[i].xy, firsts[i].z), Scored(seconds[i].xy, seconds[i].z)));
        flag |= firsts[i].w;
      }
    }
  }
  best[thread] = found;
  flags[thread] = flag;
  for (var stride = WORKGROUP / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (thread < stride) {
      best[thread] = argmaxCombine(best[thread], best[thread + stride]);
      flags[thread] |= flags[thread + stride];
    }
  }
  if (thread == 0u) {
    states[draw] = array<u32, 3>();
    let at = (reduction.firstDraw + draw) * 2u;
    decisions[at] = vec4u(best[0].first.score, best[0].first.token, flags[0]);
    decisions[at + 1u] = vec4u(best[0].second.score, best[0].second.token, 0u);
  }
}
