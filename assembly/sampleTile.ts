/**
 * Decides a tile: 64 logits of one row against every draw of the row. Noise is made and used here; it is stored nowhere.
 */
import { PURPOSE_BITS } from "../src/spec/constants";
import { argmaxCombine, Draw } from "./argmaxCombine";
import { fix, MASK } from "./fix";
import { gamma26 } from "./gamma26";
import { philox4x32, WORDS } from "./philox4x32";
import { Row } from "./row";
import { score } from "./score";
import { screen } from "./screen";

/** Tokens of a tile; its first token is a multiple of it. */
export const TILE: u32 = 64;

/**
 * logits: f32 [TILE], -inf past the last token. z: i64 [TILE] where Z is not fix(logit) (int8), else 0.
 * words: room for 2 * WORDS u32. draws: [samples], the row's own.
 */
export function sampleTile(row: Row, draws: usize, samples: u32, logits: usize, z: usize, firstToken: u32, words: usize): void {
  const lowWords = words + WORDS * 4;
  for (let sample: u32 = 0; sample < samples; sample++) {
    const draw = changetype<Draw>(draws + usize(sample) * offsetof<Draw>());
    const tag = ((row.firstSample + sample) << PURPOSE_BITS) | row.purpose;
    for (let start: u32 = 0; start < TILE; start += WORDS) {
      const group = (firstToken + start) / WORDS;
      if (!isDefined(NOISE_STUB)) philox4x32(words, group, row.position, row.sequence, tag, row.key0, row.key1);
      let survivors = screen(logits + start * 4, words, row, draw);
      if (survivors == 0) continue;
      let hasLowWords = false;
      do {
        const lane = <u32>ctz(survivors);
        survivors &= survivors - 1;
        const zToken = z != 0 ? load<i64>(z + (start + lane) * 8) : fix(load<f32>(logits + (start + lane) * 4));
        if (zToken == MASK) continue;
        let gamma: u32 = 0;
        if (!isDefined(NOISE_STUB)) {
          if (!hasLowWords) philox4x32(lowWords, group, row.position, row.sequence, tag + 1, row.key0, row.key1);
          hasLowWords = true;
          gamma = gamma26(load<u32>(words + lane * 4), load<u32>(lowWords + lane * 4));
        }
        argmaxCombine(draw, firstToken + start + lane, score(zToken, gamma, row.tau));
      } while (survivors != 0);
    }
  }
}
