/** A progress bar on stderr: for people only, so never off a terminal, and never for loads that are over at once. */
import { SingleBar } from "cli-progress";
import type { LoadProgress } from "../head/load.js";
import { atSignal } from "./exit.js";

/** Milliseconds of loading before a bar appears. */
const PATIENCE = 1000;

export interface ProgressBar {
  readonly update: (progress: LoadProgress) => void;
  /** Clears the bar. */
  stop(): void;
}

/** Columns of the bar itself, where there is room. */
const WIDEST_BAR = 30;
/** A terminal with fewer columns gets numbers alone. */
const ROOM_FOR_BAR = 40;

/** The line, no wider than columns: a wider one would wrap, a line more at each update. */
export function barLine(what: string, totalBytes: number, columns: number): { format: string; barsize: number } {
  const size = `of ${(totalBytes / 1e6).toFixed(0)} MB`;
  const barsize = Math.min(WIDEST_BAR, columns - `${what} [] 100% ${size}`.length);
  if (columns >= ROOM_FOR_BAR && barsize > 0) return { format: `${what} [{bar}] {percentage}% ${size}`, barsize };
  return { format: columns < `${what} 100%`.length ? "{percentage}%" : `${what} {percentage}%`, barsize: 0 };
}

/** what: named in front of the bar. */
export function loadProgress(what: string): ProgressBar {
  if (!process.stderr.isTTY) return { update() {}, stop() {} };
  const started = performance.now();
  let line: ProgressLine | null = null;
  return {
    update({ bytes, totalBytes }) {
      if (line === null) {
        if (performance.now() - started < PATIENCE || bytes >= totalBytes) return;
        // Some terminals say 0 where they do not know.
        line = progressLine(barLine(what, totalBytes, process.stderr.columns || 80), totalBytes, {});
      }
      line.update(bytes, {});
    },
    stop: () => line?.stop(),
  };
}

export interface ProgressLine {
  update(value: number, payload: object): void;
  /** Clears the line. */
  stop(): void;
}

/** A line on stderr, which must be a terminal. A signal that ends the process clears it first. payload: what the format names */
export function progressLine(look: { readonly format: string; readonly barsize?: number }, total: number, payload: object): ProgressLine {
  // Its own handler would swallow Ctrl-C.
  const bar = new SingleBar({ stream: process.stderr, ...look, clearOnComplete: true, gracefulExit: false });
  const stop = () => bar.stop();
  const release = atSignal(stop);
  bar.start(total, 0, payload);
  return {
    update: (value, more) => bar.update(value, more),
    stop() {
      release();
      stop();
    },
  };
}
