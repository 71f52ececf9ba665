/** The build makes a string of an imported shader file. */
declare module "*.wgsl" {
  const text: string;
  export default text;
}
