/** The logit of one token and one hidden row whose bound did not decide: as of a row alone, so bit for bit the rule's. */
import { hiddenAlone, partial, weights } from "./areas";
import { Bf16, F16, Panel } from "./decode";
import { dotRow } from "./dotL32";
import { blocks, firstToken } from "./head";

/** A variable, not a type: a copy for each format of all that leads here would not fit the module's size. */
let isF16: bool = false;

export function setExactLogit<T>(): void {
  isF16 = isSigned<T>();
}

/** Writes f32 to `logit`. */
export function exactLogit(token: u32, row: u32, logit: usize): void {
  const w = weights + usize(token - firstToken) * (usize(blocks) << 6);
  const x = hiddenAlone + usize(row) * (isF16 ? blocks << 7 : blocks << 6);
  if (isF16) dotRow<F16, Panel>(w, x, blocks, partial, logit);
  else dotRow<Bf16, Bf16>(w, x, blocks, partial, logit);
}
