/** Colour, only where a person looks: never off a terminal, never against NO_COLOR or TERM=dumb (hasColors knows both). */

const isColorful = process.stdout.isTTY === true && process.stdout.hasColors();

function paint(code: number): (text: string) => string {
  return (text) => (isColorful && text !== "" ? `\x1b[${code}m${text}\x1b[39m` : text);
}

export const green = paint(32);
export const red = paint(31);
export const cyan = paint(36);
