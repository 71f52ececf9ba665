/** What esbuild's file loader makes of an imported core: its address, relative to the bundle. */
declare module "flash-sampling/core.wasm" {
  const url: string;
  export default url;
}
