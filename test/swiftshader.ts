/**
 * SwiftShader, the Vulkan driver in software that comes with Chromium: with it the tests of WebGPU run where no GPU is, and
 * the same way everywhere. A driver that the environment names comes first.
 */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FOLDERS = ["/usr/lib/chromium", "/usr/lib/chromium-browser", "/usr/lib64/chromium-browser", "/opt/google/chrome", "/opt/chromium.org/chromium"];
const DRIVER = "vk_swiftshader_icd.json";

/** The variables of the Vulkan loader that name a driver, for processes whose environment does not: none where there is no SwiftShader. */
export function driverVariables(): Record<string, string> {
  const named = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []));
  // Mesa's layer, where it is installed, complains about a missing one in every process.
  const quiet = { XDG_RUNTIME_DIR: process.env["XDG_RUNTIME_DIR"] ?? tmpdir() };
  if (named.length > 0) return { ...(Object.fromEntries(named) as Record<string, string>), ...quiet };
  const driver = FOLDERS.map((folder) => join(folder, DRIVER)).find((path) => existsSync(path));
  return driver === undefined ? {} : { VK_ICD_FILENAMES: driver, ...quiet };
}

/** The variables of a machine without any driver. */
export const NO_DRIVER: Readonly<Record<string, string>> = { VK_ICD_FILENAMES: "/nonexistent", VK_DRIVER_FILES: "/nonexistent" };
