/** `vitest run`: all tests. `vitest run --mode slow`: the long ones only. */
import { defineConfig } from "vitest/config";
import { wgslForVite } from "./scripts/wgsl.mjs";
import { inlineSpec } from "./test/inline-spec.js";
import { LongestFirst } from "./test/longest-first.js";
import { driverVariables } from "./test/swiftshader.js";

// Node 20 has relaxed SIMD behind a flag. The tests of the packed package run without it as well.
const execArgv = process.versions.node.startsWith("20.") ? ["--experimental-wasm-relaxed-simd"] : [];

export default defineConfig(({ mode }) => ({
  plugins: [wgslForVite, inlineSpec],
  test: {
    include: mode === "slow" ? ["test/slow/**/*.test.ts"] : ["{test,examples}/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...(mode === "slow" ? [] : ["test/slow/**"])],
    reporters: ["default", "./test/reporter.ts"],
    execArgv,
    // The Vulkan loader reads its variables when Dawn is loaded.
    env: driverVariables(),
    // Vitest would leave one core idle; no test measures time.
    maxWorkers: "100%",
    sequence: { sequencer: LongestFirst },
    setupFiles: ["./test/source-platform.ts"],
    testTimeout: mode === "slow" ? 3_600_000 : 60_000,
  },
}));
