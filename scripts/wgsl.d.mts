import type { Plugin as EsbuildPlugin } from "esbuild";
import type { Plugin as VitePlugin } from "vitest/config";

export function wgslText(path: string): string;
export const wgslForEsbuild: EsbuildPlugin;
export const wgslForVite: VitePlugin;
