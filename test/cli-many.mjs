/**
 * Runs command lines one after another in this one process, each with a fresh copy of the program: node cli-many.mjs PROGRAM LISTS.
 * A process of its own takes longer to start than most of what tests ask. For command lines that say something and come to their end by
 * themselves: none reads stdin, waits for a signal or ends the process. Prints how each ended, as JSON.
 */
import { pathToFileURL } from "node:url";

const [program, lists] = process.argv.slice(2);
const { write } = process.stdout;
const streams = ["stdout", "stderr"];
// Each copy of the program listens.
process.setMaxListeners(0);
for (const name of streams) process[name].setMaxListeners(0);

const ended = [];
for (const [index, args] of JSON.parse(lists).entries()) {
  const said = { stdout: "", stderr: "" };
  for (const name of streams) {
    process[name].write = (text, ...more) => {
      said[name] += text;
      if (typeof more.at(-1) === "function") more.at(-1)();
      return true;
    };
  }
  process.argv = [process.execPath, program, ...args];
  process.exitCode = 0;
  await import(`${pathToFileURL(program).href}?${index}`);
  ended.push({ code: process.exitCode, ...said });
}
process.exitCode = 0;
write.call(process.stdout, JSON.stringify(ended));
