/** What one row of a call asks for, as the kernels read it. The host sets it through setRow; nobody else knows the layout. */
import { TAU_FRACTION_BITS } from "../src/spec/constants";

@unmanaged
export class Row {
  key0: u32;
  key1: u32;
  sequence: u32;
  position: u32;
  /** Temperature, Q24. */
  tau: u32;
  firstSample: u32;
  purpose: u32;
  /** 1: a logit of the row was NaN or +inf. */
  invalid: u32;
  /** The screen's bound of a token's noise is ceiling - slope * (bits of f32(rank)): see screen.ts. */
  ceiling: f32;
  slope: f32;
}
