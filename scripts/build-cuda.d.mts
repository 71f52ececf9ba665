export function writeConstants(): Promise<string>;
export function buildCuda(options?: { log?: (text: string) => void }): Promise<string>;
