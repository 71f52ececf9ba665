/** The entry for programs that verify samplers, on Node, Bun and Deno. */
import { useThisProcess } from "../platform/this-process.js";

useThisProcess();
export * from "../verify/index.js";
