/**
 * The decision of one draw as it stands: the best and the second-best token so far. Twin of argmaxCombine in
 * src/spec/score.ts, for tokens that arrive one by one in ascending order, so that an equal score never displaces.
 */

/** Score, score of the runner-up, token, runner-up (-1: none yet), and the runner-up's score as f32 for the screen. */
@unmanaged
export class Draw {
  score: i64;
  runnerUpScore: i64;
  token: i32;
  runnerUp: i32;
  /** What a later token must reach to matter, rounded to nearest; -inf while there is no runner-up. */
  threshold: f32;
  reserved: u32;
}

export function resetDraw(draw: Draw): void {
  draw.score = 0;
  draw.runnerUpScore = 0;
  draw.token = -1;
  draw.runnerUp = -1;
  draw.threshold = -Infinity;
}

/** Takes an unmasked token into account. */
export function argmaxCombine(draw: Draw, token: u32, score: i64): void {
  if (draw.token == -1) {
    draw.token = token;
    draw.score = score;
    return;
  }
  if (score > draw.score) {
    draw.runnerUpScore = draw.score;
    draw.runnerUp = draw.token;
    draw.score = score;
    draw.token = token;
  } else if (draw.runnerUp == -1 || score > draw.runnerUpScore) {
    draw.runnerUpScore = score;
    draw.runnerUp = token;
  } else {
    return;
  }
  draw.threshold = f32(f64(draw.runnerUpScore) * 2.3283064365386963e-10);
}
