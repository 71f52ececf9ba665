/** A progress bar on stderr: for people only, so never off a terminal, and never for loads that are over at once. */
import { SingleBar } from "cli-progress";
import type { LoadProgress } from "../head/load.js";

/** Milliseconds of loading before a bar appears. */
const PATIENCE = 1000;

export interface ProgressBar {
  readonly update: (progress: LoadProgress) => void;
  /** Clears the bar. */
  stop(): void;
}

/** what: named in front of the bar. */
export function loadProgress(what: string): ProgressBar {
  if (!process.stderr.isTTY) return { update() {}, stop() {} };
  const started = performance.now();
  let bar: SingleBar | null = null;
  return {
    update({ bytes, totalBytes }) {
      if (bar === null) {
        if (performance.now() - started < PATIENCE || bytes >= totalBytes) return;
        bar = new SingleBar({
          stream: process.stderr,
          format: `${what} [{bar}] {percentage}% of ${(totalBytes / 1e6).toFixed(0)} MB`,
          barsize: 30,
          clearOnComplete: true,
          // Its handler would swallow Ctrl-C: interruptible() has its own.
          gracefulExit: false,
        });
        bar.start(totalBytes, bytes);
      }
      bar.update(bytes);
    },
    stop: () => bar?.stop(),
  };
}
