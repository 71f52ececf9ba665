/**
 * Decides a tile: 64 logits of one row against every draw of the row. Noise is made and used here; it is stored nowhere.
 */
import { PURPOSE_BITS } from "../src/spec/constants";
import { rowAt, words } from "./areas";
import { argmaxCombine, Draw } from "./argmaxCombine";
import { exactLogit } from "./exactLogit";
import { fix, MASK } from "./fix";
import { gamma26 } from "./gamma26";
import { philox4x32, WORDS } from "./philox4x32";
import { score } from "./score";
import { screen } from "./screen";

/** Tokens of a tile; its first token is a multiple of it. */
export const TILE: u32 = 64;

/**
 * logits: f32 [TILE], -inf past the last token; the first `bounded` of them are upper bounds, in whose place the logits come
 * that are needed. z: i64 [TILE] where Z is not fix(logit) (int8), else 0. draws: [samples], the row's own. first: a token.
 * Returns how many bounds were not enough.
 */
export function sampleTile(index: u32, draws: usize, samples: u32, logits: usize, z: usize, first: u32, bounded: u32): u32 {
  const row = rowAt(index);
  const lowWords = words + WORDS * 4;
  // Bit t: whether only a bound is known of token t.
  const all: u64 = bounded == 0 ? 0 : u64.MAX_VALUE >>> u64(TILE - bounded);
  let bounds = all;
  for (let sample: u32 = 0; sample < samples; sample++) {
    const draw = changetype<Draw>(draws + usize(sample) * offsetof<Draw>());
    const tag = ((row.firstSample + sample) << PURPOSE_BITS) | row.purpose;
    for (let start: u32 = 0; start < TILE; start += WORDS) {
      const group = (first + start) / WORDS;
      if (!isDefined(NOISE_STUB)) philox4x32(words, group, row.position, row.sequence, tag, row.key0, row.key1);
      let survivors = screen(logits + start * 4, words, row, draw);
      if (survivors == 0) continue;
      let hasLowWords = false;
      do {
        const lane = <u32>ctz(survivors);
        survivors &= survivors - 1;
        const token = start + lane;
        if ((bounds >>> u64(token)) & 1) {
          exactLogit(first + token, index, logits + token * 4);
          bounds ^= (<u64>1) << u64(token);
        }
        const zToken = z != 0 ? load<i64>(z + token * 8) : fix(load<f32>(logits + token * 4));
        if (zToken == MASK) continue;
        let gamma: u32 = 0;
        if (!isDefined(NOISE_STUB)) {
          if (!hasLowWords) philox4x32(lowWords, group, row.position, row.sequence, tag + 1, row.key0, row.key1);
          hasLowWords = true;
          gamma = gamma26(load<u32>(words + lane * 4), load<u32>(lowWords + lane * 4));
        }
        argmaxCombine(draw, first + token, score(zToken, gamma, row.tau));
      } while (survivors != 0);
    }
  }
  return u32(popcnt(bounds ^ all));
}
