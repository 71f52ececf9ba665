/** Runs a bundled worker in plain workerd, on a port that the system chooses, and asks it once. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [
    (name = "main-worker.js", esModule = embed "main-worker.js"),
    (name = "core.wasm", wasm = embed "core.wasm"),
  ],
  compatibilityDate = "2026-11-01",
);
`;

/** The text that the worker in folder answers with. */
export async function askWorker(program: string, folder: string): Promise<string> {
  writeFileSync(join(folder, "config.capnp"), CONFIG);
  const child = spawn(program, ["serve", "--control-fd=3", "config.capnp"], { cwd: folder, stdio: ["ignore", "inherit", "inherit", "pipe"] });
  try {
    const [event] = (await Promise.race([once(child.stdio[3] as Readable, "data"), once(child, "close").then(refuse)])) as [Buffer];
    const { port } = JSON.parse(String(event)) as { port: number };
    const response = await fetch(`http://127.0.0.1:${port}/`);
    if (!response.ok) throw new Error(`the worker answered ${response.status}: ${await response.text()}`);
    return await response.text();
  } finally {
    child.kill();
  }
}

function refuse([code]: unknown[]): never {
  throw new Error(`workerd ended with ${code} before it listened`);
}
