/** The peers (peers.py), a process that is asked by lines of JSON. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export class Peers {
  #child = spawn("python3", [fileURLToPath(new URL("peers.py", import.meta.url))], { stdio: ["pipe", "pipe", "inherit"] });
  #waiting = new Map();
  #count = 0;

  constructor() {
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      const answer = JSON.parse(line);
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
    this.#child.on("exit", (code) => {
      for (const resolve of this.#waiting.values()) resolve({ error: `peers.py ended with code ${code}` });
    });
  }

  /** An answer, or null with the reason on stderr. */
  async ask(request) {
    const id = ++this.#count;
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.#child.stdin.write(`${JSON.stringify({ id, ...request })}\n`);
    const { error, ...rest } = await answer;
    if (error === undefined) return rest;
    console.error(`${JSON.stringify(request)}: ${error}`);
    return null;
  }

  async quit() {
    await this.ask({ do: "quit" });
  }
}
