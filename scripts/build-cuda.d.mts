export function writeConstants(): Promise<string>;
export function buildCuda(options?: { force?: boolean; log?: (text: string) => void }): Promise<string>;
export function freshFatbin(): string | null;
