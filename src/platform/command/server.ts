/** A command that stays: it reads a call a line, {"dir": "..."}, and answers each with a line, {} or {"error": "..."}. */
import { parseJsonObject } from "../../head/json.js";
import { shortened, startChild, type Child } from "./child.js";

/** Characters of a line: it has no end if there are more. */
const LINE_LIMIT = 1 << 20;
/** Milliseconds that it has for its end once stdin is closed. */
const FAREWELL = 2000;

interface Waiting {
  readonly folder: string;
  resolve(): void;
  reject(error: Error): void;
}

export class CommandServer {
  readonly #command: readonly string[];
  #child: Child | null = null;
  #waiting: Waiting | null = null;
  /** whether the process has answered a call */
  #hasAnswered = false;
  #isClosed = false;

  constructor(command: readonly string[]) {
    this.#command = command;
  }

  /**
   * One call at a time. A server that ended is started again; so is one that ends by itself, with exit code 0, where it has answered
   * calls before: it may have been on its way out when this one came.
   * @throws Error when it says so, or ends in another way
   */
  ask(folder: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting = { folder, resolve, reject };
      this.#tell(folder);
    });
  }

  #tell(folder: string): void {
    try {
      const child = (this.#child ??= this.#start());
      child.process.stdin!.write(`${JSON.stringify({ dir: folder })}\n`);
    } catch (error) {
      this.#answer(error as Error);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const child = this.#child;
    if (child === null) return;
    child.process.stdin!.end();
    const late = setTimeout(() => child.kill(), FAREWELL);
    await child.ended;
    clearTimeout(late);
  }

  kill(): void {
    this.#isClosed = true;
    this.#child?.kill();
  }

  #start(): Child {
    const child = startChild(this.#command, "server");
    this.#hasAnswered = false;
    // Its end tells why nobody reads.
    child.process.stdin!.on("error", () => {});
    let unfinished = "";
    child.process.stdout!.setEncoding("utf8").on("data", (text: string) => {
      const lines = (unfinished + text).split("\n");
      unfinished = lines.pop()!;
      for (const line of lines) this.#hear(line);
      if (unfinished.length <= LINE_LIMIT) return;
      this.#answer(new RangeError(`"answer" expected a line of at most ${LINE_LIMIT} characters, got more`));
      // The next call starts another one.
      this.#child = null;
      unfinished = "";
      child.kill();
    });
    void child.ended.then((outcome) => {
      if (this.#child !== child) return;
      this.#child = null;
      // One that is started anew has answered none: no call is told a third time.
      if (outcome === null && this.#hasAnswered && this.#waiting !== null && !this.#isClosed) this.#tell(this.#waiting.folder);
      else this.#answer(new Error(`"command" expected an answer, got ${outcome ?? "its end"}${child.lastWords()}`));
    });
    return child;
  }

  /** Libraries print to stdout what they like: only what begins like an answer is one. */
  #hear(line: string): void {
    if (!line.trimStart().startsWith("{")) return;
    try {
      const said = parseJsonObject(new TextEncoder().encode(line), "answer").get("error");
      this.#answer(said === undefined ? null : new Error(`"answer" expected no error, got ${shortened(JSON.stringify(said))}`));
    } catch (error) {
      this.#answer(error as Error);
    }
  }

  #answer(error: Error | null): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    this.#hasAnswered ||= waiting !== null;
    if (error === null) waiting?.resolve();
    else waiting?.reject(error);
  }
}
