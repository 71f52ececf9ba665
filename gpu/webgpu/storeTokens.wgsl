// The tokens of decisions as i32, -1 where a draw has none.

struct Storing {
  gridWidth: u32, // workgroups along x
  draws: u32,
  samples: u32, // draws of a row
  firstToken: u32, // where they go in tokens
}

@group(0) @binding(0) var<uniform> storing: Storing;
@group(0) @binding(1) var<storage, read> decisions: array<vec4u>; // [draws, 2]
@group(0) @binding(2) var<storage, read> reports: array<vec4u>; // [rows]: not 0 first where the row was refused
@group(0) @binding(3) var<storage, read_write> tokens: array<i32>;

@compute @workgroup_size(WORKGROUP)
fn storeTokens(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let draw = (workgroup.y * storing.gridWidth + workgroup.x) * WORKGROUP + thread;
  if (draw < storing.draws) {
    let decision = decisions[draw * 2u];
    let isRefused = decision.w != 0u || reports[draw / storing.samples].x != 0u;
    // A decision without a token has 2^32 - 1 there.
    tokens[storing.firstToken + draw] = select(bitcast<i32>(decision.z), -1, isRefused);
  }
}
