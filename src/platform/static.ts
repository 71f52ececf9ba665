/** Workers that may not compile bytes: the runtime imports the module itself, before any code runs. */
import type { Platform } from "../core-module.js";

/** Only the plain core: an import of a module the runtime does not understand would stop everything. */
export function staticPlatform(name: string, module: WebAssembly.Module): Platform {
  return { name, variants: ["core"], loadCore: async () => module };
}
